"""Managed arrays: memory that the host and a device reach at one address, as a NumPy array that is a device array as well."""
import numpy as np


class _Memory:
    """The memory of a device array to NumPy, which keeps it as long as an array looks at it."""

    def __init__(self, device_array, gpu):
        self.gpu = gpu
        self.device_array = device_array
        self.__array_interface__ = {
            "shape": device_array.shape, "strides": device_array.strides, "descr": device_array.dtype.descr, "typestr": device_array.dtype.str,
            "data": (device_array.device_ctypes_pointer.value or 64, False), "version": 3}  # what has no elements has no address


class ManagedNDArray(np.ndarray):
    """What NumPy does with it happens on the host. Kernels, and the methods of device arrays that NumPy's do not have, use the
    same memory: views, too."""

    @property
    def _device_array(self):
        """The device array of the same memory. Launches ask for it."""
        memory = _memory_of(self)
        if memory is None:  # NumPy made this one, of a copy
            raise AttributeError("this array does not lie in managed memory")
        made = memory.gpu.from_cuda_array_interface({**self.__array_interface__, "version": 3, "stream": None}, self)
        stream = memory.device_array.stream
        return made if stream == 0 else made.bind(stream)

    @property
    def __cuda_array_interface__(self):
        return self._device_array.__cuda_array_interface__

    def __array_wrap__(self, array, context=None, return_scalar=False):
        """What NumPy computes lies in memory of the host, and is an array like any other."""
        if isinstance(array, ManagedNDArray):
            return array
        return array[()] if return_scalar else array

    def __getattr__(self, name):
        memory = None if name.startswith("__") else _memory_of(self)
        if memory is None or not hasattr(type(memory.device_array), name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(self._device_array, name)


def _memory_of(array):
    """The managed memory that it lies in, or None."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array if isinstance(array, _Memory) else None


def managed_array(device_array, gpu):
    return np.asarray(_Memory(device_array, gpu)).view(ManagedNDArray)
