"""Kernels and devices. The names are numba.cuda's; without an NVIDIA driver kernels run on the cpu device."""
import contextlib as _contextlib

from .. import _device_libs, _quern, config, errors
from .._names import Intrinsic as _Intrinsic, Namespace as _Namespace
from .._quern import (DeviceNDArray, Event, Stream, default_stream, event, external_stream, pinned_array, stream,
                      to_device)
from .. import decorators as _decorators

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
              "clz ffs fma cbrt selp nanosleep").split():
    globals()[_name] = _Intrinsic("cuda." + _name)
del _name


_device_libs.tell()

# -- the decorator ---------------------------------------------------------------------------------------------

_JIT_OPTIONS = {
    "device": False, "inline": "never", "forceinline": False, "debug": None, "opt": None, "fastmath": False,
    "max_registers": None, "launch_bounds": None, "boundscheck": None, "error_model": "numpy", "weak_numbers": None,
    "fma": True, "lineinfo": False, "cache": False, "link": None, "lto": False, "shared_memory_carveout": None,
    "extensions": None, "nopython": True, "locals": None, "argtypes": None, "restype": None, "bind": None,
    "_ufunc": False,
}


def _compile_options(options):
    if options.get("link"):
        raise errors.UnsupportedError("the option 'link' of cuda.jit is not supported")
    result = _decorators._with_locals({"error_model": "numpy", **options})
    result["error_numpy"] = not result["debug"] or options.get("_ufunc", False)
    result["fast_division"] = bool(result["fastmath"])
    result["no_boundscheck"] = not (options.get("boundscheck") or result["debug"])
    result["no_fma"] = not options.get("fma", True)
    result["max_registers"] = _decorators._whole("max_registers", options.get("max_registers") or 0, 0, 255)
    bounds = options.get("launch_bounds")
    if isinstance(bounds, (tuple, list)):
        bounds = bounds[0] if bounds else None
    result["max_threads"] = _decorators._whole("launch_bounds", bounds or 0, 0, 1024)
    return result


def jit(func_or_sig=None, **options):
    """Compile a kernel (launched as kernel[grid, block](...)), or with device=True a function for kernels.

    debug=True: exceptions, of indices and zero divisors too. fastmath=True: float operations may be reordered and
    approximated; then `/` of floats by zero gives inf or nan with debug=True, too."""
    _decorators._check("cuda.jit", options, _JIT_OPTIONS)
    compile_options = _compile_options(options)

    def make(function, signatures):
        device = bool(options.get("device"))
        kernel = _quern.Kernel(_decorators._plain(function, "cuda.jit"), compile_options, device=device)

        def declare():
            kernel._declare(signatures)
            return kernel

        if not signatures:
            return kernel
        declared = _decorators.declared_later(declare, function, "cuda.jit", signatures)
        return kernel if device else declared  # kernels that call it say why it cannot be compiled

    if func_or_sig is None or _decorators.is_signature(func_or_sig) or isinstance(func_or_sig, (list, set, frozenset)):
        signatures = _decorators.signature_texts(func_or_sig)
        return lambda function: make(function, signatures)
    return make(func_or_sig, [])


# -- devices -----------------------------------------------------------------------------------------------------


def is_available():
    """Is there an NVIDIA driver with a device? Kernels run without one, too: on the cpu device."""
    return _quern.device_count("cuda")[0] > 0


def cuda_error():
    """Why is_available() is false; None when it is true."""
    count, why = _quern.device_count("cuda")
    return None if count > 0 else why or "the driver reports no device"


def is_supported_version():
    return is_available()


def get_current_device():
    return _quern.current_device("cuda")


def select_device(device_id):
    """Use this device in this thread."""
    return _quern.select_device("cuda", device_id)


def list_devices():
    return [gpus[i] for i in range(len(gpus))]


class _Devices:
    """cuda.gpus: a list of devices; `with cuda.gpus[1]:` selects one for a while."""

    def __len__(self):
        current = get_current_device()
        return max(1, _quern.device_count(current.kind)[0])

    def __getitem__(self, index):
        if not 0 <= index < len(self):
            raise IndexError(f"there is no device {index}")
        return _Selectable(_quern.device("cuda", index))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    @property
    def lst(self):
        return list(self)

    @property
    def current(self):
        return get_current_device()


class _Selectable:
    """A device that can be entered."""

    def __init__(self, device):
        self._device = device
        self._before = []

    def __getattr__(self, name):
        return getattr(self._device, name)

    def __enter__(self):
        self._before.append(get_current_device().id)
        select_device(self._device.id)
        return self

    def __exit__(self, *exception):
        select_device(self._before.pop())

    def __eq__(self, other):
        return self._device == getattr(other, "_device", other)

    def __hash__(self):
        return hash(self._device)

    def __repr__(self):
        return repr(self._device)


gpus = _Devices()


class MemoryInfo(tuple):
    """(free, total) in bytes."""
    free = property(lambda self: self[0])
    total = property(lambda self: self[1])


class Context:
    """What programs ask of numba.cuda's context."""

    def __init__(self, device):
        self.device = device

    def get_memory_info(self):
        info = self.device.memory_info()
        return MemoryInfo((info["free"], info["total"]))

    def synchronize(self):
        self.device.synchronize()

    def reset(self):
        self.device.trim()


def current_context(devnum=None):
    return Context(get_current_device() if devnum is None else _quern.device("cuda", devnum))


def synchronize():
    """Wait for everything on the current device."""
    get_current_device().synchronize()


def detect():
    """Print the devices; True when there is an NVIDIA device."""
    count, why = _quern.device_count("cuda")
    if count <= 0:
        print("No CUDA devices: " + (why or "the driver reports none"))
        return False
    print(f"Found {count} CUDA devices")
    for i in range(count):
        device = _quern.device("cuda", i)
        major, minor = device.compute_capability
        print(f"id {i}    {device.name}    compute capability {major}.{minor}    {device.uuid}")
    return True


def close():
    """Give cached memory back. Contexts are the driver's primary ones and stay."""
    get_current_device().trim()


# -- memory ----------------------------------------------------------------------------------------------------------


def device_array(shape, dtype="float64", strides=None, order="C", stream=0):
    """An uninitialised array on the device."""
    return _quern.device_array(shape, dtype, strides, order, stream)


def _like(make, ary, **options):
    """A packed array of the shape, dtype and order of axes in memory of `ary`: numpy.empty_like with order="K"."""
    if not hasattr(ary, "flags"):
        raise TypeError(f"an array is expected, not an object of type '{type(ary).__name__}'")
    if ary.flags["C_CONTIGUOUS"] or ary.flags["F_CONTIGUOUS"]:
        order = "C" if ary.flags["C_CONTIGUOUS"] else "F"
        return make(shape=ary.shape, dtype=ary.dtype, order=order, **options)
    axes = sorted(range(ary.ndim), key=lambda k: -abs(ary.strides[k]))
    made = make(shape=tuple(ary.shape[k] for k in axes), dtype=ary.dtype, **options)
    return made.transpose([axes.index(k) for k in range(ary.ndim)])


def device_array_like(ary, stream=0):
    """An uninitialised array on the device, of the shape, dtype and order of axes in memory of `ary`, packed."""
    return _like(_quern.device_array, ary, stream=stream)


def managed_array(shape, dtype="float64", strides=None, order="C", stream=0, attach_global=True):
    """Memory that both sides reach, as a device array."""
    return _quern.device_array(shape, dtype, strides, order, stream, 2)


def pinned_array_like(ary):
    return _like(_quern.pinned_array, ary)


def mapped_array(shape, dtype="float64", strides=None, order="C", stream=0, portable=False, wc=False):
    return _quern.pinned_array(shape, dtype, order)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    return _like(_quern.pinned_array, ary)


@_contextlib.contextmanager
def pinned(*arrays):
    """Copies are staged through pinned memory anyway: nothing needs to be done."""
    yield arrays if len(arrays) != 1 else arrays[0]


@_contextlib.contextmanager
def defer_cleanup():
    yield


def is_cuda_array(obj):
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj, sync=True):
    """A view of another library's device array. `sync`: waits for the stream that its interface names."""
    return _quern.as_device_array(obj, sync)


def from_cuda_array_interface(desc, owner=None, sync=True):
    return _quern.from_interface(desc, owner, sync)


# -- streams and events ---------------------------------------------------------------------------------------------------


def legacy_default_stream():
    return external_stream(1)


def per_thread_default_stream():
    return external_stream(2)


def event_elapsed_time(start, end):
    """Milliseconds between two recorded events."""
    return start.elapsed_time(end)


@_contextlib.contextmanager
def _auto_synchronize(self):
    try:
        yield self
    finally:
        self.synchronize()


Stream.auto_synchronize = _auto_synchronize


def profile_start():
    pass


def profile_stop():
    pass


@_contextlib.contextmanager
def profiling():
    yield


# -- arguments that say which way they travel -------------------------------------------------------------------------------
# Only written arrays are copied back anyway, so two of them give back the array itself.


def In(ary):
    """To the device and not back: what the kernel writes into it is lost."""
    return to_device(ary)


def Out(ary):
    return ary


def InOut(ary):
    return ary


def __getattr__(name):
    if name in ("reduce", "Reduce"):
        from ._reduce import Reduce
        globals()["reduce"] = globals()["Reduce"] = Reduce
        return Reduce
    raise AttributeError(f"module 'quern.cuda' has no attribute '{name}'")
