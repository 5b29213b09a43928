"""The same memory as other elements or other shapes: view, frombuffer, as_strided, sliding windows.

What may lie at any address has a type that says so, and is read byte by byte where the machine
needs that."""

import numpy as np

from quern import cuda

from .primitives import bits, convert, field, has_memory, layout, promise, read_only, refuse_code, reinterpret, restride, result_type
from .shapes import as_tuple, each_axis, is_c_order, ravel, refuse, tuple_to


# -- elements of another type -----------------------------------------------------------------------------------------------


def view(a, dtype=None):
    if dtype is None:
        return a
    kind = result_type(dtype)
    if kind == a.dtype:
        return a
    if kind.itemsize == a.itemsize:
        return laid_out(reinterpret(a, kind, 0), layout(a))
    if a.ndim == 0:
        refuse("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
        return np.empty((), kind)
    return resized(a, kind)


def laid_out(a, order):
    return a if order == "A" else promise(a, order)


def resized(a, kind):
    """The last axis has more or fewer elements."""
    if a.size != 0 and a.shape[-1] != 1 and a.strides[-1] != a.itemsize:
        raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
    size = a.shape[-1] * a.itemsize
    if size % kind.itemsize != 0:
        raise ValueError("When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.")
    result = restride(reinterpret(a, kind, 0), a.shape[:-1] + (size // kind.itemsize,), a.strides[:-1] + (kind.itemsize,))
    return promise(result, "C") if layout(a) == "C" else result


def view_of_number(x, dtype):
    kind = result_type(dtype)
    if kind.itemsize != result_type(x).itemsize:
        if not has_memory():  # nor exceptions
            refuse_code("Changing the dtype of a number is only supported if the itemsize is unchanged")
        refuse("Changing the dtype of a 0d array is only supported if the itemsize is unchanged")
        return convert(x, kind)
    if _is_word(result_type(x)) and _is_word(kind):  # no memory
        return _of_bits(_as_int(x), kind)
    if has_memory():
        return reinterpret(np.full(1, x, result_type(x)), kind, 0)[0]
    place = cuda.local.array(1, result_type(x))
    place[0] = x
    return reinterpret(place, kind, 0)[0]


def _is_word(kind):
    """Of 32 or 64 bits, and real."""
    return (kind == np.int32 or kind == np.uint32 or kind == np.float32 or kind == np.int64 or kind == np.uint64 or kind == np.float64)


def _as_int(x):
    if isinstance(x, (np.float32, np.float64)):
        return bits(x)
    return np.int32(x) if result_type(x).itemsize == 4 else np.int64(x)


def _of_bits(n, kind):
    if kind == np.float32 or kind == np.float64:
        return bits(n)
    return convert(n, kind)


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    if isinstance(buffer, (bytes, bytearray)):  # what is written into a bytearray goes back to Python's: not through an array
        return read_only(_from_array(restride(field(buffer, "data"), (field(buffer, "length"),), (1,)), dtype, count, offset))
    return _from_array(buffer, dtype, count, offset)


def _from_array(buffer, dtype, count, offset):
    kind = result_type(dtype)
    if not is_c_order(buffer.shape, buffer.strides, buffer.itemsize):
        raise ValueError("ndarray is not C-contiguous")
    if offset < 0 or offset > buffer.nbytes:
        raise ValueError("offset must be non-negative and no greater than buffer length")
    room = buffer.nbytes - offset
    if count < 0 and room % kind.itemsize != 0:
        raise ValueError("buffer size must be a multiple of element size")
    n = room // kind.itemsize if count < 0 else count
    if n > room // kind.itemsize:
        raise ValueError("buffer is smaller than requested size")
    return promise(restride(reinterpret(ravel(buffer), kind, offset), (n,), (kind.itemsize,)), "C")


# -- other shapes ---------------------------------------------------------------------------------------------------------------


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """Nothing is tested: as in NumPy, strides may lead out of the array."""
    lengths = x.shape if shape is None else as_tuple(shape)
    steps = x.strides if strides is None else as_tuple(strides)
    if len(lengths) != len(steps):
        raise ValueError("mismatch in length of strides and shape")
    result = restride(x, lengths, steps)
    return result if writeable else read_only(result)


def shortened(lengths, axes, windows, at):
    """The number of windows along each axis."""
    if at == len(lengths):
        return ()
    less = taken(axes, windows, at)
    if at in axes and lengths[at] - less < 1:
        raise ValueError("window shape cannot be larger than input array shape")
    return (lengths[at] - less,) + shortened(lengths, axes, windows, at + 1)


def taken(axes, windows, at):
    if len(axes) == 0:
        return 0
    return (windows[0] - 1 if axes[0] == at else 0) + taken(axes[1:], windows[1:], at)


def along(items, axes):
    if len(axes) == 0:
        return ()
    return (items[axes[0]],) + along(items, axes[1:])


def check_windows(windows):
    if len(windows) > 0:
        if windows[0] < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        check_windows(windows[1:])


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    windows = as_tuple(window_shape)
    check_windows(windows)
    axes = tuple_to(x.ndim) if axis is None else each_axis(as_tuple(axis), x.ndim)
    if len(windows) != len(axes):
        raise ValueError("Must provide matching length window_shape and axis, or a window for each axis")
    result = restride(x, shortened(x.shape, axes, windows, 0) + windows, x.strides + along(x.strides, axes))
    return result if writeable else read_only(result)


FUNCTIONS = {
    "ndarray.view": view,
    "number.view": view_of_number,
    "numpy.frombuffer": frombuffer,
    "numpy.lib.stride_tricks.as_strided": as_strided,
    "numpy.lib.stride_tricks.sliding_window_view": sliding_window_view,
}
