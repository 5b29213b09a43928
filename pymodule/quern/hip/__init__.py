"""Kernels for AMD GPUs. The dialect is that of quern.cuda: the same functions, from the same source.

What differs is the chip: a wave (CUDA's warp) has 32 or 64 lanes, and the masks of votes, ballots and shuffles have as many
bits. `wavesize` is another name of `warpsize`, `lds` of `shared`.

Without an AMD driver kernels run on the cpu device. They are compiled for any chip on any machine (`compile`)."""
from .. import _device_libs, _gpu, _quern
from .. import cuda as _cuda
from .._names import Intrinsic as _Intrinsic, Namespace as _Namespace, at_home as _at_home
from ..errors import CudaSupportError  # noqa: F401
from ._code_object import CodeObject

globals().update({_name: _at_home(_thing, "hip") for _name, _thing in vars(_cuda).items()
                  if not _name.startswith("_") and type(_thing) in (_Intrinsic, _Namespace)})
wavesize = globals()["warpsize"]
lds = globals()["shared"]

_device_libs.tell()
_gpu.of("hip").fill(globals())
hip_error = _gpu.of("hip").cuda_error

_TARGET = 2  # TargetKind of codegen/artifact.h


def compile(pyfunc, sig, *, arch, debug=None, opt=None, fastmath=False, fma=True, launch_bounds=None, max_registers=None,
            boundscheck=None, weak_numbers=None, locals=None, keep_text=True, cache=None):
    """Compile a kernel for an AMD GPU.

    pyfunc: a Python function, or a kernel of hip.jit or cuda.jit. sig: its signature, "void(float32[:], int64)" or types.
    arch: the chip as HIP names it, with its options where they matter: "gfx1100", "gfx90a:xnack-". launch_bounds: the most
    threads of a block. A pointer (types.CPointer, voidptr) is an array of one axis without an end, of which the address alone is
    passed. max_registers: the most vector registers of a lane. fma: whether a * b + c may be rounded once.
    locals: {"x": float32} gives variables their types. keep_text: keep LLVM IR and assembly, too. cache: whether all that is kept in
    the disk cache and found there again; of a kernel that has the option, and counts it in its `stats`, that is the default.

    The code is made for launches in which no array that is written shares memory with another, none spans 2**31 bytes or more, and no
    axis, index of the grid or int argument is beyond 2**30 - 1024: who launches it sees to that, and passes lengths as int32 (`metadata`
    has the sizes of all parameters). With a pointer among the parameters nothing is assumed.

    Returns a CodeObject: an ELF file as hipModuleLoadData takes it. Raises TypingError where the function has no types,
    LoweringError for a chip that is not known."""
    from .. import _surface, decorators
    function = getattr(pyfunc, "py_func", pyfunc)
    cache, log = _surface.compiled_log(pyfunc, cache)
    options = _gpu.compile_options({
        "debug": debug, "opt": opt, "fastmath": fastmath, "fma": fma, "launch_bounds": launch_bounds,
        "max_registers": max_registers, "boundscheck": boundscheck, "weak_numbers": weak_numbers, "locals": locals, "cache": cache},
        "hip.compile")
    options["target"] = _TARGET
    if not isinstance(arch, str):
        raise TypeError(f"arch is the name of a chip as text, not {arch!r}")
    text = _surface.compiled_signature(sig, options, "hip.compile")
    made = _quern.compile_kernel(decorators._plain(function, "hip.compile"), text, options, arch, keep_text, False, None, log)
    del made["signature"]
    return CodeObject(arch, **made)


def __getattr__(name):
    return _gpu.of("hip").more(name, globals())
