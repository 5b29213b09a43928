"""What quern.cuda and quern.hip have in common: devices, arrays, streams and the decorator of one kind of device.

A kind's functions are the methods of its `Gpu`; `fill` makes them names of the module."""
import contextlib as _contextlib
import functools as _functools
import os as _os
import sys as _sys

from . import _idle, _quern, config, decorators as _decorators, errors

# -- options of the decorator ----------------------------------------------------------------------------------

_JIT_OPTIONS = {
    "device": False, "inline": "never", "forceinline": False, "debug": None, "opt": None, "fastmath": False,
    "max_registers": None, "launch_bounds": None, "boundscheck": None, "error_model": "numpy", "weak_numbers": None,
    "fma": True, "lineinfo": False, "cache": False, "link": None, "lto": False, "shared_memory_carveout": None,
    "extensions": None, "nopython": True, "locals": None, "argtypes": None, "restype": None, "bind": None,
    "_ufunc": False,
}


_SANITIZE = {"race": 1, "uninit": 2, "barrier": 4}  # SanitizeBits


def _check_carveout(value):
    """The share of a multiprocessor's fast memory that is shared memory: a name, or percent."""
    if value is None or isinstance(value, str) and value.lower() in ("default", "maxshared", "maxl1"):
        return
    if isinstance(value, str) or not isinstance(value, int):
        raise ValueError(f"Invalid carveout value: {value!r}; 'default', 'maxshared', 'maxl1' or percent are expected")
    if not -1 <= value <= 100:
        raise ValueError(f"the carveout must be between -1 and 100, not {value}")


def _check_debug(options):
    """Warns of options that take away from each other. What is not given counts where a program has Numba's meaning."""
    debug, opt = options.get("debug"), options.get("opt")
    if debug is None:
        debug = config.CUDA_DEBUGINFO_DEFAULT
    if not debug or options.get("_ufunc"):
        return
    default = (config.AS_NUMBA or config.CUDA_DEBUGINFO_DEFAULT) and config.OPT
    if opt or opt is None and default:
        _idle.warn("debug=True with opt=True is not supported by CUDA's debuggers: optimised variables and lines cannot be followed; "
                   "set debug=False or opt=False", errors.NumbaInvalidConfigWarning)
    if options.get("lineinfo"):
        _idle.warn("debug and lineinfo are mutually exclusive: set one of them",
                   errors.NumbaInvalidConfigWarning)


def compile_options(options, name="cuda.jit"):
    _check_debug(options)
    result = _decorators._with_locals({"error_model": "numpy", **options})
    _check_carveout(options.get("shared_memory_carveout"))
    if options.get("extensions"):
        result["extensions"] = list(options["extensions"])
    if options.get("link"):
        if not name.startswith("cuda"):
            raise errors.UnsupportedError(f"the option 'link' of {name} is not supported: code of others is linked by cuda.jit")
        from ._link import as_list
        result["link"] = as_list(options["link"])
    result["error_numpy"] = not result["debug"] or options.get("_ufunc", False)
    result["fast_division"] = bool(result["fastmath"])
    result["lineinfo"] = bool(options.get("lineinfo"))
    sanitized = config.SANITIZE
    for word in sanitized:
        if word != "bounds" and word not in _SANITIZE:
            raise ValueError(f"QUERN_SANITIZE knows no {word!r}: it is a list of bounds, race, uninit, barrier")
    result["no_boundscheck"] = not (options.get("boundscheck") or result["debug"] or "bounds" in sanitized)
    result["no_fma"] = not options.get("fma", True)
    result["sanitize"] = sum(_SANITIZE.get(word, 0) for word in sanitized)
    result["max_registers"] = _decorators._whole("max_registers", options.get("max_registers") or 0, 0, 255)
    bounds = options.get("launch_bounds")
    if isinstance(bounds, (tuple, list)):
        if len(bounds) > 3:
            raise ValueError(f"Got {len(bounds)} launch bounds: {bounds!r}; there are three at most: threads of a block, blocks of a "
                             "multiprocessor, blocks of a cluster")
        bounds = bounds[0] if bounds else None
    result["max_threads"] = _decorators._whole("launch_bounds", bounds or 0, 0, 1024)
    return result


# -- devices ---------------------------------------------------------------------------------------------------


class Devices:
    """cuda.gpus: a list of devices; `with cuda.gpus[1]:` selects one for a while."""

    def __init__(self, gpu):
        self._gpu = gpu

    def __len__(self):
        current = self._gpu.get_current_device()
        count, why = _quern.device_count(current.kind)
        if why:
            raise errors.CudaSupportError(why)
        return max(1, count)

    def __getitem__(self, index):
        if not 0 <= index < len(self):
            raise IndexError(f"there is no device {index}")
        return Selectable(self._gpu, _quern.device(self._gpu.kind, index))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    @property
    def lst(self):
        return list(self)

    @property
    def current(self):
        return self._gpu.get_current_device()


class Selectable:
    """A device that can be entered."""

    def __init__(self, gpu, device):
        self._gpu = gpu
        self._device = device
        self._before = []

    def __getattr__(self, name):
        return getattr(self._device, name)

    def __enter__(self):
        self._before.append(self._gpu.get_current_device().id)
        self._gpu.select_device(self._device.id)
        return self

    def __exit__(self, *exception):
        self._gpu.select_device(self._before.pop())

    def __eq__(self, other):
        return self._device == getattr(other, "_device", other)

    def __hash__(self):
        return hash(self._device)

    def __repr__(self):
        return repr(self._device)


class MemoryInfo(tuple):
    """(free, total) in bytes."""
    free = property(lambda self: self[0])
    total = property(lambda self: self[1])


class Deallocations:
    """numba.cuda's list of memory to be freed later: here memory goes back to a pool at once, and from there to the next array."""

    def __init__(self, device):
        self._device = device

    def __len__(self):
        return 0

    def clear(self):
        """Gives what is kept for new arrays back to the driver."""
        self._device.trim()

    @_contextlib.contextmanager
    def disable(self):
        yield

    @property
    def is_disabled(self):
        return False


class Context:
    """What programs ask of numba.cuda's context. The driver's contexts are its primary ones, which belong to the whole process."""

    def __init__(self, device):
        self.device = device

    def __eq__(self, other):
        return isinstance(other, Context) and self.device == other.device

    def __hash__(self):
        return hash(self.device)

    @property
    def deallocations(self):
        return Deallocations(self.device)

    def push(self):
        """Selects the device in this thread, until pop()."""
        self.device.__enter__()

    def pop(self):
        """Selects the device that was selected before push()."""
        from ._surface import pushed
        if not pushed():
            raise RuntimeError("Context.pop(): nothing was pushed in this thread")
        self.device.__exit__()

    @property
    def memory_manager(self):
        """Where device memory comes from: what set_memory_manager() was given, or None."""
        from . import _memory
        return _memory.manager_of(self)

    @memory_manager.setter
    def memory_manager(self, manager):
        from . import _memory
        _memory.put(self, manager)

    def _manager(self):
        return self.memory_manager if "quern._memory" in _sys.modules else None

    def get_memory_info(self):
        manager = self._manager()
        if manager is not None:
            return manager.get_memory_info()
        info = self.device.memory_info()
        return MemoryInfo((info["free"], info["total"]))

    def get_ipc_handle(self, memory):
        """What another process opens this memory by: the `gpu_data` of a device array."""
        manager = self._manager()
        if manager is not None:
            return manager.get_ipc_handle(memory)
        from ._ipc import handle_of
        from ._surface import _gpu_of
        return handle_of(_gpu_of(memory.owner), memory.owner)

    def synchronize(self):
        self.device.synchronize()

    def reset(self):
        manager = self._manager()
        if manager is not None:
            manager.reset()
        self.device.trim()


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


@_contextlib.contextmanager
def _auto_synchronize(self):
    try:
        yield self
    finally:
        self.synchronize()


def _async_done(self, loop=None):
    """An asyncio future that is done when all work so far on the stream is; its result is the stream. loop: of the future;
    the running one when left out."""
    import asyncio
    loop = loop or asyncio.get_running_loop()
    future = loop.create_future()

    def resolve():
        if not future.done():  # it may have been cancelled
            future.set_result(self)

    self.add_callback(lambda stream, status, arg: loop.call_soon_threadsafe(resolve))
    return future


_quern.Stream.auto_synchronize = _auto_synchronize
_quern.Stream.async_done = _async_done


class Gpu:
    """The functions of one kind of device."""

    DeviceNDArray = _quern.DeviceNDArray
    Event = _quern.Event
    Stream = _quern.Stream
    MemoryInfo = MemoryInfo
    Context = Context

    def __init__(self, kind):
        self.kind = kind
        self._title = kind.upper()
        self.api = api = getattr(_quern, kind)
        self.gpus = Devices(self)
        self.allocate = api.device_array  # _memory.install puts managers of others before it
        for name in ("to_device", "pinned_array", "stream", "default_stream", "external_stream", "event"):
            setattr(self, name, getattr(api, name))

    def fill(self, module):
        """Makes names of the module of these functions."""
        for name in dir(self):
            if not name.startswith("_") and name not in _INNER:
                module[name] = getattr(self, name)
        if config.ENABLE_CUDASIM:
            from . import _simulator
            _simulator.enable()
            module["jit"] = _simulator.decorator(self)
        if self.kind == "cuda" and config.CUDA_MEMORY_MANAGER not in ("", "default"):
            from . import _memory
            _memory.install(self, module)

    def more(self, name, module):
        """Names of the module that are made when first asked for."""
        if name in ("reduce", "Reduce"):
            from ._gpu_reduce import reduce_of
            module["reduce"] = module["Reduce"] = reduce_of(self.kind)
            return module[name]
        if name in _LINKED:
            from . import _link
            return module.setdefault(name, _link.declare if name == "declare_device" else getattr(_link, name))
        if name in _MEMORY and self.kind == "cuda":
            from . import _memory
            return module.setdefault(name, getattr(_memory, name))
        if not name.startswith("_"):
            from . import _dialect
            from ._names import at_home
            if name in _dialect.VECTORS:  # float3 is float32x3 itself
                proper = _dialect.VECTORS[name]
                return module.setdefault(name, module.get(proper) or self.more(proper, module))
            found = _dialect.find(name)
            if found is not None:
                return module.setdefault(name, at_home(found, self.kind))
        raise AttributeError(f"module 'quern.{self.kind}' has no attribute '{name}'")

    def __reduce__(self):
        return of, (self.kind,)

    def jit(self, func_or_sig=None, **options):
        """Compile a kernel (launched as kernel[grid, block](...)), or with device=True a function for kernels.

        debug=True: exceptions, of indices and zero divisors too. fastmath=True: float operations may be reordered and
        approximated; then `/` of floats by zero gives inf or nan with debug=True, too."""
        name = f"{self.kind}.jit"
        _decorators._check(name, options, _JIT_OPTIONS)
        if isinstance(func_or_sig, tuple) or type(func_or_sig).__name__ == "Signature":
            from . import _surface
            func_or_sig, pointers = _surface.without_pointers(func_or_sig)
            if pointers:
                options["extensions"] = [*(options.get("extensions") or ()), _surface.Pointers(pointers)]
        if options.get("debug") is None and config.CUDA_DEBUGINFO_DEFAULT:
            options["debug"] = True
        numbers = compile_options(options, name)

        def make(function, signatures):
            device = bool(options.get("device"))
            kernel = _quern.Kernel(_decorators._plain(function, name), numbers, device=device, kind=self.kind)

            def declare():
                kernel._declare(signatures)
                return kernel

            if not signatures:
                return kernel
            declared = _decorators.declared_later(declare, function, name, signatures)
            return kernel if device else declared  # kernels that call it say why it cannot be compiled

        if func_or_sig is None or _decorators.is_signature(func_or_sig) or isinstance(func_or_sig, (list, set, frozenset)):
            signatures = _decorators.signature_texts(func_or_sig)
            return lambda function: make(function, signatures)
        return make(func_or_sig, [])

    def _count(self):
        """(number of devices, why there are none), as far as they are GPUs: of AMD's for cuda.jit where that is wished."""
        count, why = _quern.device_count(self.kind)
        if count <= 0 and self.kind == "cuda" and _os.environ.get("QUERN_CUDA_ON_HIP", "0") not in ("", "0"):
            count = max(count, _quern.device_count("hip")[0])
        return count, why

    def is_available(self):
        """Is there a driver with a device of this kind? Kernels run without one, too: on the cpu device."""
        return self._count()[0] > 0

    def cuda_error(self):
        """Why is_available() is false; None when it is true."""
        count, why = self._count()
        return None if count > 0 else why or "the driver reports no device"

    def is_supported_version(self):
        return self.is_available()

    def is_float16_supported(self):
        """Can the current device compute with float16?"""
        return self.get_current_device().supports_float16

    def is_bfloat16_supported(self):
        """Does the current device compute with bfloat16? Kernels with it compile for older ones, too."""
        return self.get_current_device().supports_bfloat16

    def is_fp8_supported(self):
        """Compiled code has no floats of 8 bits."""
        return False

    def require_context(self, function):
        """A decorator for functions of the host that need a device: where there is none, the call says so."""
        @_functools.wraps(function)
        def with_context(*args, **kwargs):
            self.current_context()
            return function(*args, **kwargs)
        return with_context

    def get_current_device(self):
        return _quern.current_device(self.kind)

    def select_device(self, device_id):
        """Use this device in this thread."""
        return _quern.select_device(self.kind, device_id)

    def list_devices(self):
        return [self.gpus[i] for i in range(len(self.gpus))]

    def current_context(self, devnum=None):
        return Context(self.get_current_device() if devnum is None else _quern.device(self.kind, devnum))

    def synchronize(self):
        """Wait for everything on the current device."""
        self.get_current_device().synchronize()

    def detect(self):
        """Print the devices; True when there is one of this kind."""
        count, why = self._count()
        if count <= 0:
            print(f"No {self._title} devices: " + (why or "the driver reports none"))
            return False
        print(f"Found {count} {self._title} devices")
        for i in range(count):
            device = _quern.device(self.kind, i)
            major, minor = device.compute_capability
            print(f"id {i}    {device.name}    compute capability {major}.{minor}    {device.uuid}")
        return True

    def close(self):
        """Give cached memory back. Contexts are the driver's primary ones and stay."""
        self.get_current_device().trim()

    def device_array(self, shape, dtype="float64", strides=None, order="C", stream=0):
        """An uninitialised array on the device."""
        return self.allocate(shape, dtype, strides, order, stream)

    def device_array_like(self, ary, stream=0):
        """An uninitialised array on the device, of the shape, dtype and order of axes in memory of `ary`, packed."""
        return _like(self.allocate, ary, stream=stream)

    def managed_array(self, shape, dtype="float64", strides=None, order="C", stream=0, attach_global=True):
        """Memory that both sides reach: a NumPy array that is a device array as well. Kernels take it without a copy; what one
        writes is there when its stream has been synchronised. attach_global=False: devices may not touch it at first."""
        from ._managed import managed_array
        return managed_array(self.api.device_array(shape, dtype, strides, order, stream, 2 if attach_global else 3), self)

    def pinned_array_like(self, ary):
        return _like(self.api.pinned_array, ary)

    def mapped_array(self, shape, dtype="float64", strides=None, order="C", stream=0, portable=False, wc=False):
        return self.api.pinned_array(shape, dtype, strides, order, True)

    def mapped_array_like(self, ary, stream=0, portable=False, wc=False):
        return _like(self.api.pinned_array, ary, mapped=True)

    def graph(self, stream=None):
        """Launches that are captured once and replayed: `with graph:` and `graph.launch()`. stream: where they are captured and run;
        a new one when left out."""
        from ._graph import Graph
        if config.ENABLE_CUDASIM:
            raise NotImplementedError("the simulator runs each kernel when it is launched, so that nothing can be captured: unset QUERN_ENABLE_CUDASIM to use graphs")
        return Graph(self.stream() if stream is None else stream)

    @_contextlib.contextmanager
    def pinned(self, *arrays):
        """Copies are staged through pinned memory anyway: nothing needs to be done."""
        yield arrays if len(arrays) != 1 else arrays[0]

    @_contextlib.contextmanager
    def mapped(self, *arrays, stream=0):
        """Device arrays with the contents of `arrays`, which get what was written to them when the block ends: one array, or
        a list of several."""
        devices = [self.to_device(array, stream=stream) for array in arrays]
        try:
            yield devices[0] if len(devices) == 1 else devices
        finally:
            for array, device in zip(arrays, devices):
                device.copy_to_host(array, stream=stream)

    @_contextlib.contextmanager
    def open_ipc_array(self, handle, shape, dtype, strides=None, offset=0):
        """`with` a device array of memory of another process. handle: the bytes of its handle (IpcHandle.handle.reserved)."""
        from ._ipc import IpcHandle, size_of
        opened = IpcHandle(None, bytes(handle), size_of(shape, dtype), {"kind": self.get_current_device().kind, "device": None}, offset)
        try:
            yield opened.open_array(shape=shape, dtype=dtype, strides=strides)
        finally:
            if opened._memory is not None:
                opened.close()

    @_contextlib.contextmanager
    def defer_cleanup(self):
        manager = self.current_context()._manager() if "quern._memory" in _sys.modules else None
        with manager.defer_cleanup() if manager is not None else _contextlib.nullcontext():
            yield

    def is_cuda_array(self, obj):
        return hasattr(obj, "__cuda_array_interface__")

    def as_cuda_array(self, obj, sync=True):
        """A view of another library's device array. `sync`: waits for the stream that its interface names."""
        return self.api.as_device_array(obj, sync)

    def from_cuda_array_interface(self, desc, owner=None, sync=True):
        return self.api.from_interface(desc, owner, sync)

    def legacy_default_stream(self):
        return self.external_stream(1) if self.kind == "cuda" else self.default_stream()

    def per_thread_default_stream(self):
        return self.external_stream(2)

    def event_elapsed_time(self, start, end):
        """Milliseconds between two recorded events."""
        return start.elapsed_time(end)

    def profile_start(self):
        """The range begins that profilers look at (nsys --capture-range=cudaProfilerApi)."""
        self.get_current_device().profile(True)

    def profile_stop(self):
        self.get_current_device().profile(False)

    @_contextlib.contextmanager
    def profiling(self):
        self.profile_start()
        try:
            yield
        finally:
            self.profile_stop()

    def vectorize(self, ftylist_or_function=(), target=None, **options):
        """quern.vectorize() for this kind of device."""
        return _decorators.vectorize(ftylist_or_function, target=target or self.kind, **options)

    def guvectorize(self, ftylist, signature=None, target=None, **options):
        """quern.guvectorize() for this kind of device."""
        from ._guvectorize import guvectorize
        return guvectorize(ftylist, signature, target=target or self.kind, **options)

    # In, Out and InOut say which way an argument travels. Only written arrays are copied back anyway, so two of them
    # give back the array itself.

    def In(self, ary):
        """To the device and not back: what the kernel writes into it is lost."""
        return self.to_device(ary)

    def Out(self, ary):
        return ary

    def InOut(self, ary):
        return ary


def reset():
    """Gives cached memory of all devices of quern.cuda back."""
    for device in of("cuda").gpus:
        device.reset()


config.tell_launches()
_LINKED = frozenset("declare_device LinkableCode CUSource PTXSource Cubin Fatbin Archive Object LTOIR".split())
_MEMORY = frozenset("set_memory_manager BaseCUDAMemoryManager HostOnlyCUDAMemoryManager GetIpcHandleMixin MemoryPointer MappedMemory "
                    "PinnedMemory IpcHandle".split())
_INNER = frozenset("kind api fill more allocate".split())
_made = {}


def of(kind):
    """The functions of a kind of device, by its name or that of a target of vectorize."""
    kind = "hip" if kind == "roc" else kind
    if kind not in _made:
        _made[kind] = Gpu(kind)
    return _made[kind]
