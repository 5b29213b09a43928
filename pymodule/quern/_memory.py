"""Memory managers of others: cuda.set_memory_manager() and the classes that one is made of, as in Numba's interface, version 1.

With one, the memory of device_array, device_array_like and to_device comes from its memalloc(). Pinned and managed memory, and what
launches need for arrays of the host, stay with the runtime."""
import abc
import contextlib
import ctypes
import importlib
import sys
import weakref

import numpy as np

from . import config
from ._ipc import IpcHandle, handle_of  # noqa: F401

VERSION = 1


# -- memory ------------------------------------------------------------------------------------------------------------


class MemoryPointer:
    """Some memory. pointer: its address, an int or a ctypes.c_void_p. finalizer() is called when nobody holds the pointer any more."""

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        self.context = context
        self.device_pointer = pointer
        self.size = size
        self._owner = owner  # none: itself, and no cycle, so that it goes at once
        self._finalizer = None if finalizer is None else weakref.finalize(self, finalizer)

    @property
    def owner(self):
        return self if self._owner is None else self._owner

    @property
    def device_pointer_value(self):
        return (self.device_pointer.value or 0) if isinstance(self.device_pointer, ctypes.c_void_p) else int(self.device_pointer)

    @property
    def device_ctypes_pointer(self):
        return ctypes.c_void_p(self.device_pointer_value)

    def __int__(self):
        return self.device_pointer_value

    def own(self):
        return self

    def free(self):
        """Gives the memory back now. RuntimeError: that has happened."""
        if self._finalizer is not None:
            if not self._finalizer.alive:
                raise RuntimeError("Freeing dead memory")
            self._finalizer()

    def view(self, start, stop=None):
        """The bytes from start to stop; it keeps this one."""
        stop = self.size if stop is None else stop
        if not 0 <= start <= stop <= self.size:
            raise RuntimeError(f"bytes {start} to {stop} do not lie in {self.size} bytes")
        part = type(self).__new__(type(self))
        MemoryPointer.__init__(part, self.context, self.device_pointer_value + start, stop - start, self.owner)
        part._whole = self
        return part


class _HostMemory(MemoryPointer):
    """The same for the host: np.asarray of it has its bytes."""

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        super().__init__(context, pointer, size, owner, finalizer)
        self.host_pointer = pointer

    @property
    def __array_interface__(self):
        return {"shape": (self.size,), "typestr": "|u1", "data": (self.device_pointer_value, False), "version": 3}


class MappedMemory(_HostMemory):
    """Memory of the host that the device reaches."""


class PinnedMemory(_HostMemory):
    """Memory of the host that does not move."""


# -- managers ------------------------------------------------------------------------------------------------------------


class BaseCUDAMemoryManager(abc.ABC):
    """Where device memory comes from. One is made for each device, with context=, and then initialize() is called."""

    def __init__(self, *args, **kwargs):
        if "context" not in kwargs:
            raise RuntimeError("Memory manager requires a context")
        self.context = kwargs.pop("context")

    @abc.abstractmethod
    def memalloc(self, size):
        """A MemoryPointer of so many bytes on the device."""

    @abc.abstractmethod
    def memhostalloc(self, size, mapped, portable, wc):
        """A MappedMemory or PinnedMemory of so many bytes."""

    @abc.abstractmethod
    def mempin(self, owner, pointer, size, mapped):
        """The same for memory of the host that is there."""

    @abc.abstractmethod
    def initialize(self):
        """Called once, before all else."""

    @abc.abstractmethod
    def get_ipc_handle(self, memory):
        """An IpcHandle of the memory."""

    @abc.abstractmethod
    def get_memory_info(self):
        """MemoryInfo(free, total), in bytes."""

    @abc.abstractmethod
    def reset(self):
        """Give back what nobody uses."""

    @abc.abstractmethod
    def defer_cleanup(self):
        """A context manager: while it is entered nothing is freed."""

    @property
    @abc.abstractmethod
    def interface_version(self):
        """1"""


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """What concerns memory of the host is done: a manager of device memory is derived from this class."""

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        from ._gpu import of
        array = of("cuda").api.pinned_array(size, "u1", None, "C", mapped)
        made = (MappedMemory if mapped else PinnedMemory)(self.context, array.ctypes.data, size)
        made._array = array
        return made

    def mempin(self, owner, pointer, size, mapped=False):
        return (MappedMemory if mapped else PinnedMemory)(self.context, pointer, size, owner)

    def reset(self):
        pass

    @contextlib.contextmanager
    def defer_cleanup(self):
        yield


class GetIpcHandleMixin:
    """get_ipc_handle() for managers whose memory is the driver's."""

    def get_ipc_handle(self, memory):
        from ._gpu import of
        return handle_of(of("cuda"), memory.owner)


# -- whose turn it is ------------------------------------------------------------------------------------------------------

_chosen = []  # the class, as the last item
_made = {}  # (kind, number) of a device: its manager


def set_memory_manager(mm_plugin):
    """From now on device memory comes from managers of this class. Call it before device arrays are made, and before names such as
    to_device are taken out of quern.cuda. RuntimeError: it is of another version of the interface than 1."""
    version = mm_plugin(context=None).interface_version
    if version != VERSION:
        raise RuntimeError(f"EMM Plugin interface has version {version} - version {VERSION} required")
    _chosen.append(mm_plugin)
    _made.clear()
    install()


def of_environment():
    """QUERN_CUDA_MEMORY_MANAGER names a module, whose _numba_memory_manager is the class."""
    module = importlib.import_module(config.CUDA_MEMORY_MANAGER)
    if not hasattr(module, "_numba_memory_manager"):
        raise ValueError(f"the module {config.CUDA_MEMORY_MANAGER}, which CUDA_MEMORY_MANAGER names, has no _numba_memory_manager")
    return module._numba_memory_manager


def manager_of(context):
    """The manager of its device; None: the runtime itself."""
    if not _made and not _chosen and not _from_environment():
        return None
    key = (context.device.kind, context.device.id)
    if key not in _made:
        cls = _chosen[-1] if _chosen else of_environment() if _from_environment() else None
        if cls is None:
            return None
        _made[key] = cls(context=context)
        _made[key].initialize()
    return _made[key]


def put(context, manager):
    """The manager of its device from now on; None: the runtime itself."""
    key = (context.device.kind, context.device.id)
    if manager is None:
        _made.pop(key, None)
        return
    if not getattr(manager, "_quern_initialized", False):
        manager.initialize()
        manager._quern_initialized = True
    _made[key] = manager
    install()


def _from_environment():
    return config.CUDA_MEMORY_MANAGER not in ("", "default")


def _extent(shape, strides, item):
    """(bytes before the first element, bytes in all)"""
    if 0 in shape:
        return 0, 0
    reach = [(n - 1) * s for n, s in zip(shape, strides)]
    below = -sum(r for r in reach if r < 0)
    return below, below + sum(r for r in reach if r > 0) + item


def _allocate(gpu, shape, dtype="float64", strides=None, order="C", stream=0):
    manager = manager_of(gpu.current_context())
    if manager is None or order not in ("C", "F"):
        return gpu.api.device_array(shape, dtype, strides, order, stream)
    dtype = np.dtype(dtype)
    shape = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    if strides is None:
        strides, step = [0] * len(shape), dtype.itemsize
        for k in (range(len(shape)) if order == "F" else reversed(range(len(shape)))):
            strides[k], step = step, step * shape[k]
    else:
        strides = (strides,) if np.ndim(strides) == 0 else tuple(strides)
        if len(strides) != len(shape):
            raise ValueError("shape and strides differ in length")
    if any(n < 0 for n in shape):
        raise ValueError("the shape of a device array is negative or too large")
    below, size = _extent(shape, strides, dtype.itemsize)
    if size == 0:
        return gpu.api.device_array(shape, dtype, tuple(strides), order, stream)
    memory = manager.memalloc(size)
    value = getattr(memory, "device_pointer_value", None)
    address = memory.device_ctypes_pointer.value if value is None else value
    array = gpu.api.from_interface({
        "shape": tuple(int(n) for n in shape), "strides": tuple(strides), "typestr": dtype if dtype.names else dtype.str, "version": 3,
        "data": (address + below, False)}, memory, False)
    return array if stream in (0, None) else array.bind(stream)


def _to_device(gpu, obj, stream=0, copy=True, to=None):
    from ._quern import DeviceNDArray
    if to is not None or isinstance(obj, DeviceNDArray) or hasattr(obj, "__cuda_array_interface__"):
        return gpu.api.to_device(obj, stream, copy, to)
    from ._gpu import _like
    host = np.asarray(obj)
    made = _like(gpu.allocate, host, stream=stream)
    made.copy_to_device(host, stream)
    return made


_installed = []


def install(gpu=None, module=None):
    """device_array and its kin ask for a manager from now on."""
    if _installed:
        return
    if gpu is None:
        from ._gpu import of
        gpu, module = of("cuda"), vars(sys.modules["quern.cuda"])

    def to_device(obj, stream=0, copy=True, to=None):
        """A copy of a host array on the device; `to`: into that device array."""
        return _to_device(gpu, obj, stream, copy, to)

    gpu.allocate = lambda *args, **options: _allocate(gpu, *args, **options)
    gpu.to_device = to_device
    module["to_device"] = to_device
    _installed.append(True)
