"""Arrays that touch memory which nobody may touch.

A `Region` is a few pages between two pages without any right: the last byte of an array placed at its end, or the first
of one placed at its start, is the neighbour of a byte whose access kills the process. The rest of the region is filled
with a mark, so that what lies around and between the elements can be compared too."""
import ctypes
import mmap

import numpy as np

PAGE = mmap.PAGESIZE
MARK = 0xA5
PROT_NONE = 0


class Region:
    def __init__(self, pages=8):
        self._memory = mmap.mmap(-1, (pages + 2) * PAGE)
        whole = np.frombuffer(self._memory, np.uint8)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for page in (0, pages + 1):
            if libc.mprotect(whole.ctypes.data + page * PAGE, PAGE, PROT_NONE):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.bytes = whole[PAGE:-PAGE]

    def place(self, values, steps=None, order="C", at_end=True):
        """An array with the elements of `values` whose outermost byte touches a guard page. `steps` has a factor for
        each axis: 2 leaves every other element out, -1 runs backwards, 0 repeats the first."""
        steps = steps or (1,) * values.ndim
        size = values.itemsize
        strides, low, high = [0] * values.ndim, 0, size
        axes = range(values.ndim) if order == "F" else reversed(range(values.ndim))
        for axis in axes:
            strides[axis] = size * steps[axis]
            size *= max(values.shape[axis], 1) * max(abs(steps[axis]), 1)
        for n, stride in zip(values.shape, strides):
            low, high = low + min((n - 1) * stride, 0), high + max((n - 1) * stride, 0)
        if 0 in values.shape:
            low, high = 0, 0
        if high - low > self.bytes.size:
            raise ValueError("the array is larger than the region")
        self.bytes[:] = MARK
        offset = (self.bytes.size - high) if at_end else -low
        array = np.ndarray(values.shape, values.dtype, self.bytes, offset, strides)
        array[...] = values
        return array


def same_elements(a, b):
    """Bit for bit, where every NaN counts as one. NaNs of different sign or payload are told apart by nobody."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "c":
        return same_elements(a.real, b.real) and same_elements(a.imag, b.imag)
    if a.dtype.kind != "f":
        return bool((a == b).all())
    return bool((((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))).all())

