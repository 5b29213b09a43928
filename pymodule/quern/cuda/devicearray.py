"""Device arrays by the name that numba.cuda has for their module."""
import numpy as np

from .._device_records import DeviceRecord  # noqa: F401
from .._ipc import IpcArrayHandle  # noqa: F401
from .._managed import ManagedNDArray  # noqa: F401
from .._quern import DeviceNDArray  # noqa: F401
from . import is_cuda_array, to_device

errmsg_contiguous_buffer = "Array contains non-contiguous buffer and cannot be transferred as a single memory region."


def is_cuda_ndarray(obj):
    return isinstance(obj, DeviceNDArray)


def check_array_core(ary):
    """ValueError for a host array that is no single region of memory."""
    if not ary.flags["C_CONTIGUOUS"] and not ary.flags["F_CONTIGUOUS"]:
        raise ValueError(errmsg_contiguous_buffer)


def auto_device(obj, stream=0, copy=True, user_explicit=False):
    """(device array, whether it was made here): of a host array or a number, a copy unless `copy` is false."""
    if is_cuda_ndarray(obj) or is_cuda_array(obj):
        return to_device(obj), False
    host = np.asarray(obj)
    check_array_core(host)
    return to_device(host, stream=stream, copy=copy), True
