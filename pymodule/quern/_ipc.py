"""Device memory that another process opens: DeviceNDArray.get_ipc_handle, open_ipc_array.

On a GPU both processes use the same memory. Memory of the cpu device is its process's own: what another one opens is a copy, and what
it changes there is written back when it closes it."""
import ctypes
import os
import struct

import numpy as np

from . import _quern

_BYTES = 64
_CPU = struct.Struct("8sqQQ")  # of a handle: process, address, bytes
_MAGIC = b"quern\0\0\0"


# -- memory of processes: the cpu device --------------------------------------------------------------------------


class _Range(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def _move(name, process, here, there, size):
    """process_vm_readv or process_vm_writev: all bytes, or OSError."""
    done = 0
    call = getattr(ctypes.CDLL(None, use_errno=True), name)
    call.restype = ctypes.c_ssize_t
    call.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
    while done < size:
        ours, theirs = _Range(here + done, size - done), _Range(there + done, size - done)
        moved = call(process, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
        if moved <= 0:
            number = ctypes.get_errno()
            raise OSError(number, f"the memory of process {process} cannot be opened: {os.strerror(number)}")
        done += moved


def _let_others_in():
    """Where only a parent may look at its children, this process says that others may look at it."""
    set_tracer, anybody = 0x59616d61, ctypes.c_ulong(-1)
    ctypes.CDLL(None).prctl(ctypes.c_int(set_tracer), anybody, ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))


class _Copied:
    """A copy of memory of another process."""

    def __init__(self, gpu, handle):
        magic, self.process, self.there, self.size = _CPU.unpack(handle[:_CPU.size])
        if magic != _MAGIC:
            raise ValueError("this is no handle of memory of the cpu device")
        if self.process == os.getpid():
            raise ValueError("a process opens memory of other processes: this is its own")
        self.before = np.empty(self.size, np.uint8)
        _move("process_vm_readv", self.process, self.before.ctypes.data, self.there, self.size)
        self.array = gpu.to_device(self.before)
        self.address = self.array.device_pointer

    def close(self):
        array, self.array = self.array, None
        if array is None:
            return
        now = array.copy_to_host()
        edges = np.flatnonzero(np.diff(now != self.before, prepend=False, append=False))
        for first, last in edges.reshape(-1, 2).tolist():
            _move("process_vm_writev", self.process, now.ctypes.data + first, self.there + first, last - first)


class _Opened:
    """Memory of another process, through the driver."""

    def __init__(self, device, handle):
        self.device, self.address = device, None
        self.address = _quern.ipc_open(device, handle)

    def close(self):
        address, self.address = self.address, None
        if address is not None:
            _quern.ipc_close(self.device, address)

    def __del__(self):
        try:
            self.close()
        except Exception:  # the driver has gone
            pass


# -- handles ---------------------------------------------------------------------------------------------------------


class MemoryHandle:
    """The driver's name of some memory: `reserved`, 64 bytes."""

    def __init__(self, reserved):
        self.reserved = bytes(reserved)

    def __bytes__(self):
        return self.reserved

    def __eq__(self, other):
        return isinstance(other, MemoryHandle) and self.reserved == other.reserved

    def __hash__(self):
        return hash(self.reserved)


class OpenedMemory:
    """Memory of another process: where it begins here, and its bytes."""

    def __init__(self, handle, array):
        self.handle = handle  # which keeps it open
        self.array = array
        self.device_pointer = array.device_pointer
        self.device_ctypes_pointer = array.device_ctypes_pointer
        self.size = handle.size

    def __int__(self):
        return self.device_pointer


class IpcHandle:
    """Some device memory, for another process: it travels by pickle, and the other process opens it. The memory must live until
    that one has closed it; `base` keeps it as long as this handle lives here."""

    def __init__(self, base, handle, size, source_info=None, offset=0):
        self.base = base
        self.handle = handle if isinstance(handle, MemoryHandle) else MemoryHandle(handle)
        if len(self.handle.reserved) != _BYTES:
            raise ValueError(f"a handle of memory has {_BYTES} bytes, not {len(self.handle.reserved)}")
        self.size = size
        self.source_info = source_info or {"kind": None, "device": None}
        self.offset = offset
        self._memory = None

    def _gpu(self):
        from ._gpu import of
        return of("hip" if self.source_info["kind"] == "hip" else "cuda")

    def _open(self, device):
        if self._memory is not None:
            raise ValueError("IpcHandle is already opened")
        kind = self.source_info["kind"]
        if kind not in (None, device.kind):
            raise ValueError(f"the memory lies on a {kind} device, and kernels of this process run on the {device.kind} device")
        self._memory = _Copied(self._gpu(), self.handle.reserved) if device.kind == "cpu" else _Opened(device, self.handle.reserved)

    def _view(self, shape, dtype, strides=None):
        dtype = np.dtype(dtype)
        description = {"shape": (shape,) if isinstance(shape, int) else tuple(shape), "strides": strides, "version": 3,
                       "typestr": dtype if dtype.names else dtype.str,  # a text does not say what fields a record has
                       "data": (self._memory.address + self.offset, False), "stream": None}
        return self._gpu().from_cuda_array_interface(description, self._memory, False)

    def open(self, context=None):
        """The memory, opened for the current device. ValueError: it is open already."""
        self._open(self._gpu().get_current_device())
        return OpenedMemory(self, self._view(self.size, np.uint8))

    open_direct = open

    def open_staged(self, context=None):
        """A copy of the memory on the current device, whichever device it lies on."""
        gpu = self._gpu()
        device = gpu.get_current_device()
        source = self.source_info["device"]
        if source in (None, device.id):
            return self.open()
        gpu.select_device(source)
        try:
            self._open(gpu.get_current_device())
            host = self._view(self.size, np.uint8).copy_to_host()
        finally:
            gpu.select_device(device.id)
        return OpenedMemory(self, gpu.to_device(host))

    def open_array(self, context=None, shape=None, dtype="float64", strides=None):
        """A device array of the memory. shape: one axis of all of it when left out."""
        if shape is None:
            shape = self.size // np.dtype(dtype).itemsize
        self._open(self._gpu().get_current_device())
        return self._view(shape, dtype, strides)

    def close(self):
        """The end of what open() and its kin gave: arrays of it may not be used any more."""
        if self._memory is None:
            raise ValueError("IpcHandle is not opened")
        memory, self._memory = self._memory, None
        memory.close()

    def __reduce__(self):
        return IpcHandle, (None, self.handle.reserved, self.size, self.source_info, self.offset)


class IpcArrayHandle:
    """A device array, for another process: `with handle as array:` there."""

    def __init__(self, ipc_handle, array_desc):
        self._ipc_handle = ipc_handle
        self._array_desc = array_desc

    def open(self):
        """The array. ValueError: it is open already."""
        return self._ipc_handle.open_array(**self._array_desc)

    def close(self):
        self._ipc_handle.close()

    def __enter__(self):
        return self.open()

    def __exit__(self, *exception):
        self.close()

    def __reduce__(self):
        return IpcArrayHandle, (self._ipc_handle, self._array_desc)


def size_of(shape, dtype):
    return int(np.prod(shape)) * np.dtype(dtype).itemsize


def handle_of(gpu, array):
    """The IpcHandle of a device array's memory, from its first element on."""
    address = array.device_pointer
    if any(s < 0 for s in array.strides):
        raise ValueError("an array that runs backwards through memory cannot be opened by other processes")
    if array.size == 0:
        raise ValueError("an array without elements has no memory that could be opened")
    size = sum((n - 1) * s for n, s in zip(array.shape, array.strides)) + array.dtype.itemsize
    device = gpu.get_current_device()
    if device.kind == "cpu":
        _let_others_in()
        handle, offset = _CPU.pack(_MAGIC, os.getpid(), address, size).ljust(_BYTES, b"\0"), 0
    else:
        handle, offset = _quern.ipc_export(device, address)
    return IpcHandle(array, handle, size, {"kind": device.kind, "device": device.id}, offset)


def array_handle_of(gpu, array, manager=None):
    handle = handle_of(gpu, array) if manager is None else manager.get_ipc_handle(array.gpu_data)
    return IpcArrayHandle(handle, {"shape": array.shape, "dtype": array.dtype, "strides": array.strides})
