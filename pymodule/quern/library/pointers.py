"""Arrays over memory that a pointer points to: carray, farray. A pointer is an array of one axis, as long as memory is."""

from .primitives import promise, reinterpret, restride
from .shapes import as_tuple


def _steps_c(shape, size):
    """Strides in bytes of axes in C order."""
    if len(shape) == 0:
        return ()
    rest = _steps_c(shape[1:], size)
    if len(shape) == 1:
        return (size,)
    return (rest[0] * shape[1],) + rest


def _steps_f(shape, size):
    if len(shape) == 0:
        return ()
    return (size,) + _steps_f(shape[1:], size * shape[0])


def carray(ptr, shape, dtype=None):
    a = ptr if dtype is None else reinterpret(ptr, dtype, 0)
    lengths = as_tuple(shape)
    return promise(restride(a, lengths, _steps_c(lengths, a.itemsize)), "C")


def farray(ptr, shape, dtype=None):
    a = ptr if dtype is None else reinterpret(ptr, dtype, 0)
    lengths = as_tuple(shape)
    return promise(restride(a, lengths, _steps_f(lengths, a.itemsize)), "F")


def from_buffer(cdecl):
    """cffi's: the array itself, which functions of C take for a pointer."""
    return cdecl


FUNCTIONS = {"cuda.ffi.from_buffer": from_buffer, "quern.carray": carray, "quern.farray": farray}
