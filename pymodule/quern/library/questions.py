"""What arrays, numbers and dtypes are: shape, limits, layout, real or complex."""

from collections import namedtuple

import numpy as np

from .creation import as_array
from .primitives import convert, disjoint, layout, result_type
from .shapes import is_c_order, refuse

Flags = namedtuple("Flags", "c_contiguous f_contiguous contiguous fnc forc")
Ctypes = namedtuple("Ctypes", "data")
FloatLimits = namedtuple(
    "FloatLimits",
    "bits eps epsneg iexp machep max maxexp min minexp negep nexp nmant precision resolution smallest_normal smallest_subnormal tiny")
IntLimits = namedtuple("IntLimits", "bits max min")


# -- arrays -----------------------------------------------------------------------------------------------------------------


def shape(a):
    return as_array(a).shape


def size(a, axis=None):
    x = as_array(a)
    return x.size if axis is None else x.shape[axis]


def ndim(a):
    return as_array(a).ndim


def truth(a):
    if a.size == 0:
        raise ValueError("The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.")
    if a.size > 1:
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
    return bool(a.item())


def flags(a):
    c = layout(a) == "C" or a.size == 0 or is_c_order(a.shape, a.strides, a.itemsize)
    f = layout(a) == "F" or a.size == 0 or is_c_order(a.shape[::-1], a.strides[::-1], a.itemsize)
    return Flags(c, f, c, f and not c, c or f)


def isfortran(a):
    return flags(a).fnc


def address_of(a):
    return Ctypes(a.address)


def may_share_memory(a, b, max_work=None):
    return a.size > 0 and b.size > 0 and not disjoint(a, b)


# -- numbers ----------------------------------------------------------------------------------------------------------------


def is_complex_kind(x):
    return result_type(x).kind == "c"


def isscalar(element):
    return not isinstance(element, (np.ndarray, tuple)) and element is not None


def iscomplexobj(x):
    return False if isinstance(x, str) or x is None else is_complex_kind(as_array(x))


def isrealobj(x):
    return not iscomplexobj(x)


def iscomplex(x):
    return x.imag != 0 if is_complex_kind(x) else np.not_equal(x, x) & False


def isreal(x):
    return x.imag == 0 if is_complex_kind(x) else np.equal(x, x) | True


# -- limits -----------------------------------------------------------------------------------------------------------------


def limits(kind, bits, exponent, digits, decimal):
    """Of floats with so many bits of an exponent and of a mantissa."""
    high = 2 ** (exponent - 1)
    eps = convert(2.0**-digits, kind)
    normal = convert(2.0 ** (2 - high), kind)
    return FloatLimits(
        bits, eps, convert(2.0 ** (-digits - 1), kind), exponent, -digits, convert((2.0 - 2.0**-digits) * 2.0 ** (high - 1), kind), high,
        convert(-(2.0 - 2.0**-digits) * 2.0 ** (high - 1), kind), 2 - high, -digits - 1, exponent, digits, decimal, convert(10.0**-decimal, kind),
        normal, convert(2.0 ** (2 - high) * 2.0**-digits, kind), normal)


def finfo(dtype):
    kind = result_type(dtype)
    if kind == np.float16:
        return limits(np.float16, 16, 5, 10, 3)
    if kind == np.float32 or kind == np.complex64:
        return limits(np.float32, 32, 8, 23, 6)
    if kind.kind != "f" and kind.kind != "c":
        refuse("data type not inexact")
    return limits(np.float64, 64, 11, 52, 15)


def iinfo(type):
    kind = result_type(type)
    if kind.kind != "i" and kind.kind != "u":
        refuse("Invalid integer data type")
        return IntLimits(64, 0, 0)
    if kind == np.uint64:
        return IntLimits(64, np.uint64(18446744073709551615), 0)
    bits = 8 * kind.itemsize
    if kind.kind == "u":
        return IntLimits(bits, 2**bits - 1, 0)
    if bits == 64:
        return IntLimits(64, 9223372036854775807, -9223372036854775807 - 1)
    return IntLimits(bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)))


FUNCTIONS = {
    "builtins.truth_of_array": truth,
    "ndarray.ctypes": address_of,
    "ndarray.flags": flags,
    "numpy.finfo": finfo,
    "numpy.iinfo": iinfo,
    "numpy.iscomplex": iscomplex,
    "numpy.iscomplexobj": iscomplexobj,
    "numpy.isfortran": isfortran,
    "numpy.isreal": isreal,
    "numpy.isrealobj": isrealobj,
    "numpy.isscalar": isscalar,
    "numpy.may_share_memory": may_share_memory,
    "numpy.ndim": ndim,
    "numpy.shape": shape,
    "numpy.size": size,
}
