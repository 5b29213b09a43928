"""Device functions that are written in other languages: cuda.declare_device, and the files and sources that have them.

On a GPU they are PTX, which the kernel's PTX is joined with: text, or CUDA C that NVRTC makes it of. On the cpu device CUDA C is
compiled by the C++ compiler of the machine."""
import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

from . import errors, types
from .types import others


class LinkableCode:
    """Code that kernels are linked with. name: for messages."""
    kind = "unknown"

    def __init__(self, data, name=None, setup_callback=None, teardown_callback=None):
        if setup_callback is not None or teardown_callback is not None:
            raise errors.UnsupportedError("callbacks of linked code are not supported")
        self.data = data
        self.name = name or f"<unnamed-{self.kind}>"

    def __repr__(self):
        return f"<{type(self).__name__} {self.name}>"


class CUSource(LinkableCode):
    """CUDA C."""
    kind = "cu"


class PTXSource(LinkableCode):
    """PTX text."""
    kind = "ptx"


class _Binary(LinkableCode):
    """Machine code, which only NVIDIA's linker takes."""

    def __init__(self, *args, **kwargs):
        raise errors.UnsupportedError(f"linking {type(self).__name__} is not supported: PTX and CUDA C are (PTXSource, CUSource)")


class Cubin(_Binary):
    pass


class Fatbin(_Binary):
    pass


class Archive(_Binary):
    pass


class Object(_Binary):
    pass


class LTOIR(_Binary):
    pass


_SUFFIXES = {".cu": CUSource, ".ptx": PTXSource, ".cubin": Cubin, ".fatbin": Fatbin, ".a": Archive, ".o": Object, ".ltoir": LTOIR}


def as_code(item):
    """Of a path, or what is such code already."""
    if isinstance(item, LinkableCode):
        return item
    try:
        path = os.fspath(item)
    except TypeError:
        raise TypeError(f"the option link takes paths, CUSource and PTXSource, not {item!r}") from None
    kind = _SUFFIXES.get(os.path.splitext(path)[1])
    if kind is None:
        raise ValueError(f"{path!r} cannot be linked: the name of such a file ends in .cu or .ptx")
    with open(path, "rb") as f:
        return kind(f.read(), name=path)


def as_list(link):
    if link is None:
        return []
    return [as_code(item) for item in link] if isinstance(link, (list, tuple, set, frozenset)) else [as_code(link)]


def _search_paths(code):
    """Of #include: beside the file, and what CUDA_NVRTC_EXTRA_SEARCH_PATHS says."""
    from . import config
    beside = [os.path.dirname(os.path.abspath(code.name))] if os.path.isfile(code.name) else []
    return beside + [p for p in str(config.CUDA_NVRTC_EXTRA_SEARCH_PATHS or "").split(os.pathsep) if p]


def _text(code):
    return code.data.decode() if isinstance(code.data, bytes) else code.data


def _different(codes):
    """Each once: two functions may be declared with one file."""
    return tuple({(c.kind, _text(c)): c for c in codes}.values())


# -- what is declared --------------------------------------------------------------------------------------------


class DeclaredFunction:
    """What declare_device returns: kernels and device functions call it."""
    _quern_declared = True

    def __init__(self, name, sig, link, use_cooperative, abi):
        self.name = self.__name__ = name
        self.sig = sig
        self.link = link
        self.use_cooperative = use_cooperative
        self.abi = abi

    def __call__(self, *args):
        raise errors.LaunchError(f"the declared function '{self.name}' can only be called in a kernel or a device function")

    def __repr__(self):
        return f"<declared function {self.name}{self.sig}>"


def declare(name, sig, link=None, use_cooperative=False, abi="numba"):
    from ._foreign import read_signature
    if abi not in ("numba", "c"):
        raise NotImplementedError(f"Unsupported ABI: {abi}")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_$][A-Za-z0-9_$]*", name):
        raise ValueError(f"the name of a declared function is an identifier, not {name!r}")
    found = read_signature(sig)
    if found.return_type is None:
        raise TypeError("Return type must be provided for device declarations")
    return DeclaredFunction(name, found, as_list(link), bool(use_cooperative), abi)


def _word(t):
    if isinstance(t, others.CPointer) or t == others.voidptr:
        return "pointer"
    if t == types.none:
        return "none"
    number = types.unliteral(t).name
    if number == "bool" or re.fullmatch(r"u?int(8|16|32|64)|float(32|64)", number):
        return number
    return None


def describe(function, links, on_gpu):
    """(address, words of result and parameters, is its result behind a pointer?, does it wait for the grid?), the address 0 on a
    GPU; a text: it cannot be called."""
    words = [_word(t) for t in (function.sig.return_type, *function.sig.args)]
    if None in words:
        return f"the declared function {function.name} with other types than numbers, and pointers as parameters,"
    try:
        address = 0 if on_gpu else address_of(function.name, _different((*function.link, *links)))
    except errors.UnsupportedError as reason:
        return f"the declared function {function.name} on the cpu device ({reason})"
    return address, words, function.abi == "numba", function.use_cooperative


# -- the cpu device ----------------------------------------------------------------------------------------------

_HOST_HEAD = """
#include <cstdint>
#include <cmath>
#include <cstring>
#define __device__
#define __host__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
"""
_libraries = {}


def _compiler():
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        found = name and shutil.which(name)
        if found:
            return found
    raise errors.UnsupportedError("CUDA C needs a C++ compiler there: set CXX, or install g++ or clang++")


def _host_library(codes):
    """The shared library of these sources, which see each other's functions."""
    for code in codes:
        if code.kind != "cu":
            raise errors.UnsupportedError(f"{code.name} is no source that it could be compiled from")
    folders = [f"-I{p}" for code in codes for p in _search_paths(code)]
    key = hashlib.sha256("\0".join([*folders, *map(_text, codes)]).encode()).hexdigest()
    if key not in _libraries:
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for k, code in enumerate(codes):
                paths.append(os.path.join(folder, f"{k}.cpp"))
                with open(paths[-1], "w") as f:
                    f.write(f'{_HOST_HEAD}#line 1 "{code.name}"\n{_text(code)}')
            out = os.path.join(folder, "linked.so")
            done = subprocess.run([_compiler(), "-x", "c++", "-O2", "-fPIC", "-shared", "-w", *folders, *paths, "-o", out], capture_output=True, text=True)
            if done.returncode:
                raise errors.LinkerError(f"CUDA C for the cpu device does not compile:\n{done.stderr.strip()}")
            _libraries[key] = ctypes.CDLL(out)
    return _libraries[key]


def address_of(name, codes):
    if not codes:
        raise errors.LinkerError(f"the declared function '{name}' is in no linked code: declare_device and cuda.jit have the option link")
    try:
        function = getattr(_host_library(codes), name)
    except AttributeError:
        raise errors.LinkerError(f"the linked code has no function '{name}' with extern \"C\"") from None
    return ctypes.cast(function, ctypes.c_void_p).value


# -- GPUs ---------------------------------------------------------------------------------------------------------


def _includes():
    found = [os.path.join(os.environ[v], "include") for v in ("CUDA_HOME", "CUDA_PATH") if v in os.environ]
    try:
        import nvidia.cuda_runtime as wheel
        found += [os.path.join(p, "include") for p in wheel.__path__]
    except ImportError:
        pass
    return [p for p in (*found, "/usr/local/cuda/include") if os.path.isdir(p)]


@functools.lru_cache(64)
def _compiled(name, text, arch, folders):
    """PTX that NVRTC makes of CUDA C."""
    options = [f"--gpu-architecture={arch.replace('sm_', 'compute_')}", "--relocatable-device-code=true",
               *(f"--include-path={p}" for p in (*folders, *_includes()))]
    script = os.path.join(os.path.dirname(__file__), "_nvrtc.py")
    command = [sys.executable, "-I", script, name, *options]
    done = subprocess.run(command, input=text.encode(), capture_output=True)
    if done.returncode < 0:  # it looks for the driver, and a library of that name may not be one
        outside = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
        done = subprocess.run(command, input=text.encode(), capture_output=True, env=outside)
    if done.returncode == 3:
        raise errors.LinkerError("CUDA C needs NVRTC, which is not here: install the CUDA toolkit or nvidia-cuda-nvrtc, or name the library "
                                 "in QUERN_NVRTC_LIBRARY; PTX needs nothing (PTXSource)")
    if done.returncode:
        raise errors.LinkerError(f"NVRTC says of {name}:\n{done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode()


_HEAD = re.compile(r"^\s*\.(version|target|address_size)\b[^\n]*\n?", re.M)
_NEEDS = re.compile(r"^\s*\.extern\s+\.func\b[^;]*?([\w$]+)\s*(?:\([^)]*\))?\s*;[^\n]*\n?", re.M | re.S)
_HAS = re.compile(r"^\s*\.visible\s+\.func\b(?:\s*\([^)]*\))?\s*([\w$]+)", re.M)


def _version(ptx):
    found = re.search(r"^\s*\.version\s+(\d+)\.(\d+)", ptx, re.M)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def join(ptx, links, arch):
    """The kernel's PTX with that of the linked code before it: one module, whose functions see each other."""
    codes = _different(links)
    pieces = [_compiled(c.name, _text(c), arch, tuple(_search_paths(c))) if c.kind == "cu" else _text(c).rstrip("\0") for c in codes]
    has = {name for piece in pieces for name in _HAS.findall(piece)}
    needs = set(_NEEDS.findall(ptx)) | {name for piece in pieces for name in _NEEDS.findall(piece)}
    missing = needs - has - {"vprintf", "malloc", "free", "__assertfail"}
    if missing:
        raise errors.LinkerError(f"the linked code has no function '{min(missing)}' (extern \"C\" __device__, .visible .func)")
    if not pieces:
        return ptx
    newest = max(map(_version, [ptx, *pieces]))
    head = re.sub(r"(\.version\s+)\d+\.\d+", f"\\g<1>{newest[0]}.{newest[1]}", "".join(m[0] for m in _HEAD.finditer(ptx)))
    bodies = [_HEAD.sub("", text) for text in (*pieces, ptx)]
    declared, kept = set(), []
    for body in bodies:  # a declaration stands before the first use of a function, once
        for found in _NEEDS.finditer(body):
            name = found[1]
            body = body.replace(found[0], "" if name in declared else found[0] + "\n", 1)
            declared.add(name)
        kept.append(body)
        declared |= set(_HAS.findall(body))
    return head + "\n".join(kept)
