"""Kernels and devices. The names are numba.cuda's; without an NVIDIA driver kernels run on the cpu device."""
from .. import _device_libs, _gpu
from ..errors import CudaSupportError  # noqa: F401
from .._names import Intrinsic as _Intrinsic, Namespace as _Namespace

# -- names for kernels -------------------------------------------------------------------------------------

for _name in ("threadIdx", "blockIdx", "blockDim", "gridDim"):
    globals()[_name] = _Namespace("cuda." + _name, "xyz")
shared = _Namespace("cuda.shared", ["array"], "Memory of a block.")
local = _Namespace("cuda.local", ["array"], "Memory of a thread.")
const = _Namespace("cuda.const", ["array_like"], "Constant memory.")
atomic = _Namespace("cuda.atomic", "add sub and_ or_ xor inc dec exch max min nanmax nanmin compare_and_swap cas".split(),
                    "Atomic operations on array elements.")
for _name in ("grid gridsize laneid warpsize syncthreads syncthreads_and syncthreads_or syncthreads_count syncwarp "
              "threadfence threadfence_block threadfence_system shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync "
              "all_sync any_sync eq_sync ballot_sync match_any_sync match_all_sync activemask lanemask_lt popc brev "
              "clz ffs fma cbrt selp nanosleep clock clock64").split():
    globals()[_name] = _Intrinsic("cuda." + _name)
del _name

_device_libs.tell()

# -- devices, arrays, streams, the decorator: see _gpu.py -------------------------------------------------------

_gpu.of("cuda").fill(globals())
_compile_options = _gpu.compile_options


_COMPILE = "compile compile_all compile_for_current_device compile_ptx compile_ptx_for_current_device".split()


def __getattr__(name):
    if name in _COMPILE:
        from . import _compile
        return globals().setdefault(name, getattr(_compile, name))
    if name in ("random", "devicearray", "vector_types", "kernels", "cudadrv", "launchconfig", "libdevicefuncs"):
        import importlib
        return importlib.import_module("quern.cuda." + name)
    return _gpu.of("cuda").more(name, globals())
