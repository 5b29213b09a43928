"""PTX of kernels and device functions for any NVIDIA GPU, on any machine: what cuda.compile and its kind do."""
import os
import re
import shutil
import subprocess
import tempfile

from .. import _gpu, _idle, _quern, _surface, decorators, errors, types

_TARGET = 1  # TargetKind of codegen/artifact.h
_OLDEST = (5, 0)  # of what LLVM 19 and CUDA 12 know


def _arch(cc):
    if cc is None:
        return "sm_75"
    if isinstance(cc, (tuple, list)) and len(cc) == 3 and cc[2] in ("", "a", "f"):
        cc = cc[:2]  # what one architecture alone has is not used
    if not isinstance(cc, (tuple, list)) or len(cc) != 2:
        raise ValueError(f"cc is a compute capability such as (8, 0), not {cc!r}")
    if tuple(cc) < _OLDEST:
        raise ValueError(f"GPUs with compute capability {cc[0]}.{cc[1]} are not supported; the oldest are those with 5.0")
    return f"sm_{cc[0]}{cc[1]}"


def _arch_named(arch):
    """The same for "sm_80"."""
    if not isinstance(arch, str):
        return _arch(arch)
    known = re.fullmatch(r"(?:sm|compute)_(\d+)(\d)[af]?", arch)
    if not known:
        raise ValueError(f"arch is a GPU as NVIDIA names it, such as 'sm_80', or its compute capability, not {arch!r}")
    return _arch((int(known[1]), int(known[2])))


def _name(pyfunc, abi, abi_info):
    """The name of the function in the code; None: one is made of the function's."""
    name = (abi_info or {}).get("abi_name")
    if name is None and abi == "c":
        name = re.sub(r"[^A-Za-z0-9_$]", "_", pyfunc.__name__)
        name = name if re.match("[A-Za-z_]", name) else f"_{name}"
    if name is not None and not re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name):
        raise ValueError(f"abi_name is an identifier, not {name!r}")
    return name


def _assembler(arch, debug, lineinfo):
    """Machine code of PTX, made by ptxas, which has to be in PATH or below CUDA_HOME: a function, and a text that says which."""
    tool = shutil.which("ptxas", path=os.pathsep.join(
        [os.path.join(os.environ[v], "bin") for v in ("CUDA_HOME", "CUDA_PATH") if v in os.environ] + [os.environ.get("PATH", "")]))
    if not tool:
        raise RuntimeError("output='cubin' needs ptxas of the CUDA toolkit, in PATH or below CUDA_HOME")
    flags = ["-g"] * bool(debug) + ["-lineinfo"] * bool(lineinfo and not debug)
    file = os.stat(tool)

    def assemble(ptx):
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, "code.ptx"), os.path.join(folder, "code.cubin")
            with open(source, "wb") as f:
                f.write(ptx.rstrip(b"\0"))
            done = subprocess.run([tool, f"-arch={arch}", *flags, source, "-o", out, "-c"], capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"ptxas: {done.stderr.strip()}")
            with open(out, "rb") as f:
                return f.read()

    return assemble, f"{tool} {file.st_size} {file.st_mtime_ns} {flags}"


def compile(pyfunc, sig, debug=None, lineinfo=False, device=True, fastmath=False, cc=None, opt=None, abi="c", abi_info=None,
            output="ptx", forceinline=False, launch_bounds=None, *, max_registers=None, fma=True, boundscheck=None,
            weak_numbers=None, locals=None, cache=None):
    """Compile a device function, or with device=False a kernel, for NVIDIA GPUs.

    pyfunc: a Python function, or what cuda.jit made of one. sig: its signature: types, or text; without a result the inferred one
    is taken. cc: the compute capability, (7, 5) when left out. abi: "c": result f(args ...), of device functions alone;
    "numba": int f(result *, args ...), which returns 0. abi_info: {"abi_name": "f"} names the function in the code: its own name
    for "c". output: "ptx" text, or "cubin" (bytes), which needs ptxas. The other options are those of cuda.jit.

    An argument is passed as it is, a complex number and a tuple as their parts, an array as a pointer to its first element, its
    lengths, and unless its type says that it is C- or F-contiguous its strides in bytes; a pointer (types.CPointer, voidptr), which is an
    array of one axis without an end in the function, as it is. A result of several parts is a struct.

    cache: whether the code is kept in the disk cache and found there again; of a kernel or device function that has the option, and counts
    it in its `stats`, that is the default.

    A kernel is made for launches in which no array that is written shares memory with another, and no axis, index of the grid or int
    argument is beyond 2**30 - 1024: who launches the code sees to that. With a pointer among its parameters nothing is assumed.

    Returns (code, type of the result). Raises TypingError where the function has no types, UnsupportedError for
    output="ltoir", which needs NVIDIA's compiler, ValueError for a GPU too old; NotImplementedError, as in
    numba-cuda, for another output, an unknown abi and for a kernel with abi="c", which has no result to give back."""
    cache, log = _surface.compiled_log(pyfunc, cache)
    pyfunc = decorators._plain(getattr(pyfunc, "py_func", pyfunc), "cuda.compile")
    _idle.check("cuda.compile", {"forceinline": forceinline})
    if abi not in ("c", "numba"):
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    if abi == "c" and not device:
        raise NotImplementedError("The C ABI is not supported for kernels")
    if output == "ltoir":
        raise errors.UnsupportedError("output='ltoir' of cuda.compile is not supported: it needs NVIDIA's compiler")
    if output not in ("ptx", "cubin"):
        raise NotImplementedError(f"Unsupported output type: {output}")
    options = _gpu.compile_options({
        "debug": debug, "opt": opt, "lineinfo": lineinfo, "fastmath": fastmath, "fma": fma, "launch_bounds": launch_bounds,
        "max_registers": max_registers, "boundscheck": boundscheck, "weak_numbers": weak_numbers, "locals": locals, "cache": cache},
        "cuda.compile")
    options.update(target=_TARGET, all_params=True, status_result=abi == "numba")
    arch = _arch(cc)
    text = _surface.compiled_signature(sig, options, "cuda.compile")
    assemble = _assembler(arch, debug, lineinfo) if output == "cubin" else (None, None)
    made = _quern.compile_kernel(pyfunc, text, options, arch, False, bool(device), _name(pyfunc, abi, abi_info), log, *assemble)
    result = types.of_answer(made["signature"][1])
    return (made["code"] if output == "cubin" else made["code"].rstrip(b"\0").decode()), result


_OF_JIT = "debug", "fastmath", "weak_numbers", "locals", "cache"  # what means the same to a device function


def _options_of(function, **more):
    """The options that the compiler has of what cuda.jit or jit made, for code by itself."""
    if hasattr(function, "is_device_function"):
        options = {k: v for k, v in function.targetoptions.items() if k != "extensions"}
    else:
        options = _gpu.compile_options({k: v for k, v in function.targetoptions.items() if k in _OF_JIT}, "jit")
    return {**options, "target": _TARGET, "all_params": True, "no_fma": options["no_fma"] or options["opt_level"] == 0, **more}


def to_ptx(function, sig, arch):
    """_surface.compile_to_ptx."""
    device = getattr(function, "is_device_function", True)
    options = _options_of(function, status_result=not device)
    text = _surface.compiled_signature(sig, options, "compile_to_ptx")
    pyfunc = decorators._plain(function.py_func, "compile_to_ptx")
    made = _quern.compile_kernel(pyfunc, text, options, _arch_named(arch), False, device,
                                 _name(pyfunc, "c" if device else "numba", None), _surface.compiled_log(function, None)[1])
    return made["code"].rstrip(b"\0").decode()


def by_itself(kernel, signature):
    """A device function as PTX for the device that is at hand: _surface.DeviceCode."""
    from .._surface import DeviceCode
    pyfunc = kernel.py_func
    made = _quern.compile_kernel(pyfunc, signature.text, _options_of(kernel, status_result=False), _arch(_current()), True, True,
                                 _name(pyfunc, "c", None), _surface.compiled_log(kernel, None)[1])
    return DeviceCode(made["name"], made["llvm"], made["code"].rstrip(b"\0").decode(), signature)


def _current():
    """The compute capability of the selected GPU; None where kernels run on the cpu device."""
    device = _quern.current_device("cuda")
    return tuple(device.compute_capability) if device.kind == "cuda" else None


def compile_for_current_device(pyfunc, sig, **options):
    """compile() for the GPU that is selected; where there is none, as without cc."""
    return compile(pyfunc, sig, cc=_current(), **options)


def compile_ptx(pyfunc, sig, debug=None, lineinfo=False, device=False, fastmath=False, cc=None, opt=None, abi="numba",
                abi_info=None, **options):
    """compile() to PTX, of a kernel unless device=True, and with Numba's convention."""
    return compile(pyfunc, sig, debug=debug, lineinfo=lineinfo, device=device, fastmath=fastmath, cc=cc, opt=opt, abi=abi,
                   abi_info=abi_info, output="ptx", **options)


def compile_ptx_for_current_device(pyfunc, sig, **options):
    """compile_ptx() for the GPU that is selected; where there is none, as without cc."""
    return compile_ptx(pyfunc, sig, cc=_current(), **options)


def compile_all(pyfunc, sig, **options):
    """([code], type of the result): compile(), as a list since other compilers make several pieces."""
    code, result = compile(pyfunc, sig, **options)
    return [code], result
