"""NumPy functions of scalars that are written in the compiled subset, and what is left of those of arrays: keywords,
several results. They compute with NumPy's own primitives (np.add, np.multiply), which keep narrow types and give strong
results."""

import math

import numpy as np

from .cmath_ import exp as exp_of_complex
from .cmath_ import log as log_of_complex
from .cmath_ import pow_complex
from .math_ import gcd as gcd_of_ints
from .math_ import lcm as lcm_of_ints
from .creation import can_cast
from .primitives import convert, map, map_into, reinterpret, result_type
from .shapes import ascontiguousarray, asfortranarray


def angle(z, deg=False):
    turned = np.arctan2(z.imag, z.real)
    if deg:
        return np.multiply(turned, 180.0 / math.pi)
    return turned


def same(x):
    return x


def chosen(condition, x, old):
    return x if condition else old


def each_converted(args, dtype):
    if len(args) == 0:
        return ()
    return (convert(args[0], dtype),) + each_converted(args[1:], dtype)


def are_castable(args, dtype, casting):
    """Python numbers are weak: they are checked where they are converted."""
    if len(args) == 0:
        return True
    if isinstance(args[0], (np.ndarray, np.generic)) and not can_cast(args[0].dtype, dtype, casting):
        return False
    return are_castable(args[1:], dtype, casting)


def common_dtype(args):
    """The dtype of the arrays among the arguments; None: there is none."""
    if len(args) == 0:
        return None
    rest = common_dtype(args[1:])
    if not isinstance(args[0], (np.ndarray, np.generic)):
        return rest
    return args[0].dtype if rest is None else result_type(args[0], rest)


def check_casting(casting):
    if casting != "no" and casting != "equiv" and casting != "safe" and casting != "same_kind" and casting != "unsafe":
        raise ValueError("casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe'")


def call(f, out, where, dtype, casting, order, subok, *args):
    """A ufunc with its keywords. Without `out` the elements that `where` leaves out have any value: the result's."""
    rule = "same_kind" if casting is None else casting
    check_casting(rule)
    if dtype is not None:
        if not are_castable(args, dtype, rule):
            raise TypeError("cannot cast an input of a ufunc to the dtype that is asked for with this casting rule")
        return stored(f(*each_converted(args, dtype)), out, where, rule, order)
    if rule == "no" or rule == "equiv":
        common = common_dtype(args)
        if common is not None and not are_castable(args, common, rule):
            raise TypeError("cannot cast an input of a ufunc with this casting rule")
    return stored(f(*args), out, where, rule, order)


def stored(result, out, where, casting, order):
    if isinstance(out, tuple):
        return stored(result, out[0], where, casting, order)
    if out is None:
        if where is not None:
            return ordered(map(chosen, where, result, result), order)
        return ordered(result, order)
    if casting == "unsafe":
        map_into(out, chosen, True if where is None else where, convert(result, out.dtype), out)
        return out
    if casting != "same_kind" and not can_cast(result_type(result), out.dtype, casting):
        raise TypeError("cannot cast the result of a ufunc to the dtype of its output with this casting rule")
    if where is None:
        map_into(out, same, result)
    else:
        map_into(out, chosen, where, result, out)
    return out


def ordered(result, order):
    if order is None or order == "K" or order == "A" or not isinstance(result, np.ndarray):
        return result
    if order == "F":
        return asfortranarray(result)
    if order != "C":
        raise ValueError("order must be one of 'C', 'F', 'A', or 'K'")
    return ascontiguousarray(result)


def lowest(dtype):
    if dtype == np.int8:
        return -128
    if dtype == np.int16:
        return -32768
    if dtype == np.int32:
        return -2147483648
    return -9223372036854775807 - 1 if dtype == np.int64 else 0


def highest(dtype):
    if dtype == np.int8 or dtype == np.uint8:
        return 127 if dtype == np.int8 else 255
    if dtype == np.int16 or dtype == np.uint16:
        return 32767 if dtype == np.int16 else 65535
    return 2147483647 if dtype == np.int32 else 4294967295


def has_limits(a, x):
    """Is it a Python int beside an array of ints, which may be one that no element has?"""
    return isinstance(a, np.ndarray) and (a.dtype.kind == "i" or a.dtype.kind == "u") and isinstance(x, int)


def bound_below(a, x):
    """As NumPy, a Python int below all numbers of the dtype bounds nothing."""
    if has_limits(a, x):
        return x if x > lowest(a.dtype) else lowest(a.dtype)
    return x


def bound_above(a, x):
    if has_limits(a, x) and a.itemsize < 8:
        return x if x < highest(a.dtype) else highest(a.dtype)
    return x


def clip(a, a_min=None, a_max=None, out=None, min=None, max=None):
    low = bound_below(a, min if a_min is None else a_min)
    high = bound_above(a, max if a_max is None else a_max)
    if out is not None:
        map_into(out, same, clip(a, low, high))
        return out
    if low is None:
        return np.positive(a) if high is None else np.minimum(a, high)
    return np.maximum(a, low) if high is None else np.minimum(np.maximum(a, low), high)


def method_clip(a, min=None, max=None, out=None):
    return clip(a, min, max, out)


def round_(a, decimals=0, out=None):
    if out is not None:
        map_into(out, same, round_(a, decimals))
        return out
    return map(round_number, a, decimals)


def round_number(x, decimals):
    if isinstance(x, (np.complex64, np.complex128, complex)):
        return convert(complex(round_number(x.real, decimals), round_number(x.imag, decimals)), result_type(x))
    if isinstance(x, (bool, np.bool_)):
        return convert(x, np.float16)
    return np.round(x, decimals)


def real(a):
    """Of an array, a view."""
    if a.dtype == np.complex64:
        return reinterpret(a, np.float32, 0)
    if a.dtype == np.complex128:
        return reinterpret(a, np.float64, 0)
    return a


def imag(a):
    if a.dtype == np.complex64:
        return reinterpret(a, np.float32, 4)
    if a.dtype == np.complex128:
        return reinterpret(a, np.float64, 8)
    return np.zeros(a.shape, a.dtype)


def conj(a):
    return np.conjugate(a)


def mantissa(x):
    return np.frexp(x)[0]


def exponent(x):
    return np.frexp(x)[1]


def float_for(kind):
    """The smallest float that holds all of that type: the loop that NumPy takes."""
    if kind == np.bool_ or kind == np.int8 or kind == np.uint8 or kind == np.float16:
        return np.float16
    if kind == np.int16 or kind == np.uint16 or kind == np.float32:
        return np.float32
    return np.float64


def as_float(x):
    """An array of floats as NumPy's loops take it, but for float16, which is computed with in float32."""
    return x if x.dtype == np.float64 or x.dtype == np.float32 else convert(x, np.float64 if float_for(x.dtype) == np.float64 else np.float32)


def frexp(x):
    """Of an array; of numbers there are rows."""
    y = as_float(x)
    return convert(map(mantissa, y), float_for(x.dtype)), map(exponent, y)


def deg2rad(x):
    return np.multiply(x, math.pi / 180.0)


def rad2deg(x):
    return np.multiply(x, 180.0 / math.pi)


def stored_pair(results, outs):
    """Two results in the arrays given for them, if any are."""
    if outs[0] is not None and outs[1] is not None:
        outs[0][...] = results[0]
        outs[1][...] = results[1]
        return outs
    return results


def outs_of(out1, out2, out):
    return (out1, out2) if out is None else out


def divmod_(a, b, out1=None, out2=None, out=None):
    return stored_pair((np.floor_divide(a, b), np.remainder(a, b)), outs_of(out1, out2, out))


def exp2_complex(z):
    return exp_of_complex(complex(z.real * math.log(2.0), z.imag * math.log(2.0)))


def expm1_complex(z):
    """exp(z) - 1; near 0 the real part is the sum of two small numbers."""
    half = math.sin(z.imag * 0.5)
    return complex(math.expm1(z.real) * math.cos(z.imag) - 2.0 * half * half, math.exp(z.real) * math.sin(z.imag))


def log1p_complex(z):
    return log_of_complex(complex(z.real + 1.0, z.imag))


def log2_complex(z):
    w = log_of_complex(z)
    return complex(w.real * (1.0 / math.log(2.0)), w.imag * (1.0 / math.log(2.0)))


def power_complex(a, b):
    """No exception, as all of NumPy's: 0 to a power without a size is nan."""
    if a == 0 and b != 0:
        return complex(0.0, 0.0) if b.real > 0 else complex(math.nan, math.nan)
    return pow_complex(a, b)


def gcd(a, b):
    return gcd_of_ints(a, b)


def lcm(a, b):
    return lcm_of_ints(a, b)


def heaviside(x, at_zero):
    if np.isnan(x):
        return np.multiply(x, 1.0)
    if x == 0:
        return np.multiply(at_zero, 1.0)
    return np.multiply(np.sign(x) + 1.0, 0.5)


def isneginf(x, out=None):
    return call(is_minus_infinity, out, None, None, None, None, None, x)


def is_minus_infinity(x):
    return x == -math.inf


def isposinf(x, out=None):
    return call(is_plus_infinity, out, None, None, None, None, None, x)


def is_plus_infinity(x):
    return x == math.inf


def logaddexp(a, b):
    if a == b:
        return np.add(a, math.log(2.0))
    if a > b:
        return np.add(a, np.log1p(np.exp(np.subtract(b, a))))
    return np.add(b, np.log1p(np.exp(np.subtract(a, b))))


def logaddexp2(a, b):
    if a == b:
        return np.add(a, 1.0)
    if a > b:
        return np.add(a, np.log1p(np.exp2(np.subtract(b, a))) * (1.0 / math.log(2.0)))
    return np.add(b, np.log1p(np.exp2(np.subtract(a, b))) * (1.0 / math.log(2.0)))


def logical_and(a, b):
    return (a != 0) & (b != 0)


def logical_or(a, b):
    return (a != 0) | (b != 0)


def logical_xor(a, b):
    return (a != 0) ^ (b != 0)


def logical_not(a):
    return a == 0


def fraction(x):
    return np.modf(x)[0]


def whole_part(x):
    return np.modf(x)[1]


def modf(x):
    if isinstance(x, np.ndarray):
        y = as_float(x)
        return convert(map(fraction, y), float_for(x.dtype)), convert(map(whole_part, y), float_for(x.dtype))
    whole = np.trunc(np.multiply(x, 1.0))
    if np.isinf(x):
        return np.copysign(0.0, x), whole
    return np.copysign(np.subtract(x, whole), x), whole


def reciprocal(x):
    return np.divide(1, x)


def reciprocal_int(x):
    """1 / x without its fraction: not 0 for 1 and -1 only."""
    return np.multiply(x, (x == 1) | (x == -1))


def round_int(x, digits=0):
    if digits >= 0:
        return np.positive(x)
    if digits < -18:
        return np.subtract(x, x)
    step = 1
    for _ in range(-digits):
        step *= 10
    quotient = x // step
    rest = x % step
    if rest > step - rest or (rest == step - rest and quotient & 1 == 1):
        quotient += 1
    return quotient * step


def round_float(x, digits):
    """NumPy's: by scaling, which may be one unit in the last place off."""
    scale = 1.0
    for _ in range(min(abs(digits), 330)):
        scale *= 10.0
    if digits >= 0:
        return np.divide(np.rint(np.multiply(x, scale)), scale)
    return np.multiply(np.rint(np.divide(x, scale)), scale)


def sinc(x):
    y = np.multiply(x, math.pi)
    if x == 0:
        return np.add(y, 1.0)
    return np.divide(np.sin(y), y)


def spacing(x):
    if x < 0:
        return np.subtract(np.nextafter(x, -math.inf), x)
    return np.subtract(np.nextafter(x, math.inf), x)


def square(x):
    return np.multiply(x, x)


def is_integer(x):
    return np.isfinite(x) & (np.floor(x) == x)


# -- complex numbers in NumPy's order: by real parts, then by imaginary parts; false beside a nan that counts ---------------


def less_complex(x, y):
    no_nan = not (np.isnan(x.imag) or np.isnan(y.imag))
    return (x.real < y.real and no_nan) or (x.real == y.real and x.imag < y.imag)


def less_equal_complex(x, y):
    no_nan = not (np.isnan(x.imag) or np.isnan(y.imag))
    return (x.real < y.real and no_nan) or (x.real == y.real and x.imag <= y.imag)


def greater_complex(x, y):
    return less_complex(y, x)


def greater_equal_complex(x, y):
    return less_equal_complex(y, x)


def maximum_complex(x, y):
    return x if np.isnan(x) or less_equal_complex(y, x) else y


def minimum_complex(x, y):
    return x if np.isnan(x) or less_equal_complex(x, y) else y


def fmax_complex(x, y):
    return x if np.isnan(y) or less_equal_complex(y, x) else y


def fmin_complex(x, y):
    return x if np.isnan(y) or less_equal_complex(x, y) else y


def sign_complex(z):
    length = np.abs(z)
    return z if length == 0 else np.divide(z, length)


def rint_complex(z):
    return convert(complex(np.rint(z.real), np.rint(z.imag)), result_type(z))


FUNCTIONS = {
    "ndarray.clip": method_clip,
    "ndarray.conj": conj,
    "ndarray.conjugate": conj,
    "ndarray.imag": imag,
    "ndarray.real": real,
    "ndarray.round": round_,
    "number.is_integer": is_integer,
    "numpy.angle": angle,
    "numpy.clip": clip,
    "numpy.deg2rad": deg2rad,
    "numpy.divmod": divmod_,
    "numpy.exp2_complex": exp2_complex,
    "numpy.expm1_complex": expm1_complex,
    "numpy.fmax_complex": fmax_complex,
    "numpy.fmin_complex": fmin_complex,
    "numpy.frexp": frexp,
    "numpy.gcd": gcd,
    "numpy.greater_complex": greater_complex,
    "numpy.greater_equal_complex": greater_equal_complex,
    "numpy.heaviside": heaviside,
    "numpy.isneginf": isneginf,
    "numpy.isposinf": isposinf,
    "numpy.lcm": lcm,
    "numpy.less_complex": less_complex,
    "numpy.less_equal_complex": less_equal_complex,
    "numpy.log1p_complex": log1p_complex,
    "numpy.log2_complex": log2_complex,
    "numpy.logaddexp": logaddexp,
    "numpy.logaddexp2": logaddexp2,
    "numpy.logical_and": logical_and,
    "numpy.logical_not": logical_not,
    "numpy.logical_or": logical_or,
    "numpy.logical_xor": logical_xor,
    "numpy.maximum_complex": maximum_complex,
    "numpy.minimum_complex": minimum_complex,
    "numpy.modf": modf,
    "numpy.power_complex": power_complex,
    "numpy.rad2deg": rad2deg,
    "numpy.reciprocal": reciprocal,
    "numpy.reciprocal_int": reciprocal_int,
    "numpy.rint_complex": rint_complex,
    "numpy.around": round_,
    "numpy.round": round_,
    "numpy.round_float": round_float,
    "numpy.round_int": round_int,
    "numpy.sign_complex": sign_complex,
    "numpy.sinc": sinc,
    "numpy.spacing": spacing,
    "numpy.square": square,
    "ufunc.call": call,
}
