"""Functions of cuda.libdevice: CUDA's names for mathematics, conversions and operations on bits, which mean the same on every
device. Arguments are converted to the types of the C function; what it returns by pointers comes behind its result, in a tuple."""
import math

import numpy as np

from quern import cuda
from . import bessel
from .primitives import bessel_j0, bessel_y0, bessel_y1

# -- bits ----------------------------------------------------------------------------------------------------


def _int_of_float(x):
    a = cuda.local.array(1, np.float32)
    a[0] = np.float32(x)
    return a.view(np.int32)[0]


def _float_of_int(x):
    a = cuda.local.array(1, np.int32)
    a[0] = np.int32(x)
    return a.view(np.float32)[0]


def _int_of_double(x):
    a = cuda.local.array(1, np.float64)
    a[0] = np.float64(x)
    return a.view(np.int64)[0]


def _double_of_int(x):
    a = cuda.local.array(1, np.int64)
    a[0] = np.int64(x)
    return a.view(np.float64)[0]


def _half_bits(x):
    a = cuda.local.array(1, np.float16)
    a[0] = np.float16(np.float32(x))
    return a.view(np.int16)[0]


def _float_of_half(x):
    a = cuda.local.array(1, np.int16)
    a[0] = np.int16(x)
    return np.float32(a.view(np.float16)[0])


def _byte_perm(a, b, s):
    """Four of the eight bytes of b and a, by the lower three bits of each half byte of s."""
    both = np.uint64(np.uint32(b)) << np.uint64(32) | np.uint64(np.uint32(a))
    result = np.uint32(0)
    for k in range(4):
        at = (np.uint32(s) >> np.uint32(4 * k)) & np.uint32(7)
        byte = np.uint32((both >> np.uint64(8 * at)) & np.uint64(255))
        result |= byte << np.uint32(8 * k)
    return np.int32(result)


def _high_of_product(a, b):
    """The upper half of a product of two uint64."""
    a0, a1, b0, b1 = a & np.uint64(0xffffffff), a >> np.uint64(32), b & np.uint64(0xffffffff), b >> np.uint64(32)
    middle = a1 * b0 + (a0 * b0 >> np.uint64(32))
    other = a0 * b1 + (middle & np.uint64(0xffffffff))
    return a1 * b1 + (middle >> np.uint64(32)) + (other >> np.uint64(32))


def _mul64hi(x, y):
    x, y = np.int64(x), np.int64(y)
    high = np.int64(_high_of_product(np.uint64(x), np.uint64(y)))
    if x < 0:
        high -= y
    if y < 0:
        high -= x
    return high


def _mul24(x, y):
    """Of the lower 24 bits, signed."""
    a = np.int32(np.int32(x) << np.int32(8)) >> np.int32(8)
    b = np.int32(np.int32(y) << np.int32(8)) >> np.int32(8)
    return np.int32(np.int64(a) * np.int64(b))


# -- rounded towards a side: `error` has the sign of what the nearest float lacks -----------------------------


def _down(nearest, error):
    return math.nextafter(nearest, -math.inf) if error < 0 else nearest


def _up(nearest, error):
    return math.nextafter(nearest, math.inf) if error > 0 else nearest


def _to_zero(nearest, error):
    away = error < 0 if nearest > 0 else error > 0
    return math.nextafter(nearest, 0.0) if away and nearest != 0 else nearest


def _sum(a, b, rounded):
    nearest = a + b
    if math.isinf(nearest) and not (math.isinf(a) or math.isinf(b)):
        return rounded(nearest, -nearest)
    more = nearest - a
    return rounded(nearest, (a - (nearest - more)) + (b - more))


def _product(a, b, rounded):
    nearest = a * b
    if math.isinf(nearest) and not (math.isinf(a) or math.isinf(b)):
        return rounded(nearest, -nearest)
    return rounded(nearest, cuda.fma(a, b, -nearest))


def _quotient(a, b, rounded):
    nearest = np.divide(a, b)
    if b == 0 or math.isinf(a) or math.isinf(b):
        return nearest
    if math.isinf(nearest):
        return rounded(nearest, -nearest)
    return rounded(nearest, cuda.fma(-nearest, b, a) * np.copysign(b / b, b))


def _root(a, rounded):
    nearest = np.sqrt(a)
    return nearest if math.isinf(nearest) or a == 0 else rounded(nearest, cuda.fma(-nearest, nearest, a))


def _fma(a, b, c, rounded):
    nearest = cuda.fma(a, b, c)
    if math.isinf(nearest):
        return nearest if math.isinf(a) or math.isinf(b) or math.isinf(c) else rounded(nearest, -nearest)
    product = cuda.fma(a, b, c - c)  # a sum with a * b might be computed as one operation
    total = product + c
    more = total - product
    lost = (product - (total - more)) + (c - more)
    return rounded(nearest, (total - nearest) + (lost + cuda.fma(a, b, -product)))


def _float_of_double(x, rounded):
    nearest = np.float32(np.float64(x))
    if math.isinf(nearest):
        return nearest if math.isinf(np.float64(x)) else rounded(nearest, -nearest)
    return rounded(nearest, np.float32(np.copysign(1.0, x - nearest)) if x != nearest else np.float32(0.0))


def _of_int(x, nearest, rounded):
    """`nearest` is the float nearest to an int64."""
    error = 0
    if nearest >= 9223372036854775808.0:
        error = -1
    elif np.int64(nearest) != x:
        error = 1 if np.int64(nearest) < x else -1
    return rounded(nearest, error)


def _of_unsigned(x, nearest, rounded):
    error = 0
    if nearest >= 18446744073709551616.0:
        error = -1
    elif np.uint64(nearest) != x:
        error = 1 if np.uint64(nearest) < x else -1
    return rounded(nearest, error)


# -- mathematics --------------------------------------------------------------------------------------------------


def _half_away(x):
    """The nearest whole number; halves go away from zero."""
    whole = np.trunc(x)
    return whole + np.copysign(np.trunc(2 * (x - whole)), x) if math.isfinite(x) else x


def _ilogb(x):
    if x == 0:
        return np.int32(-2147483647 - 1)
    if math.isnan(x):
        return np.int32(-2147483647 - 1)
    return np.int32(2147483647) if math.isinf(x) else np.int32(math.frexp(x)[1] - 1)


def _logb(x):
    if x == 0:
        return x - math.inf
    if math.isnan(x) or math.isinf(x):
        return abs(x)
    return 0 * x + (math.frexp(x)[1] - 1)


def _fdim(x, y, zero):
    if math.isnan(x) or math.isnan(y):
        return x + y
    return x - y if x > y else zero


def _frexp(x):
    fraction, exponent = math.frexp(x)
    return fraction, np.int32(exponent)


def _remquo(x, y):
    """The remainder of the nearest quotient, and the quotient's sign and last three bits."""
    rest = math.remainder(x, y)
    if math.isnan(rest) or math.isinf(y):
        return rest, np.int32(0)
    eighth = math.fmod(abs(x), 8 * abs(y)) if not math.isinf(8 * y) else abs(x)
    count = np.int32(np.rint((eighth - np.copysign(rest, rest * x)) / abs(y))) & np.int32(7)
    return rest, -count if (x < 0) != (y < 0) else count


def _powi(x, n):
    return math.pow(x, 0 * x + np.int32(n)) if math.isfinite(x) else math.pow(x, np.float64(np.int32(n)))


def _sin_of_pi(x):
    if not math.isfinite(x):
        return x - x
    rest = math.remainder(x, 2 + 0 * x)
    if rest == np.trunc(rest):
        return np.copysign(0 * x, x)
    if abs(rest) > 0.5:
        rest = np.copysign(1 - abs(rest), rest)
    return math.sin(np.float64(rest) * math.pi)


def _cos_of_pi(x):
    if not math.isfinite(x):
        return x - x
    rest = abs(math.remainder(x, 2 + 0 * x))
    if rest == 0.5:
        return 0 * x
    if rest > 0.5:
        return -math.sin(np.float64(0.5 - (1 - rest)) * math.pi) if rest < 0.75 else -math.cos(np.float64(1 - rest) * math.pi)
    return math.cos(np.float64(rest) * math.pi)


def _inverse(p, of_tail, sign):
    """The argument of erf (or of erfc, of_tail) whose value is p, from a start that Newton's steps make exact."""
    tail = p if of_tail else 1 - p
    if tail <= 0:
        return math.inf * sign if tail == 0 else math.nan
    w = math.log(tail * (2 - tail))
    first = 2 / (math.pi * 0.147) + w / 2
    x = math.sqrt(max(math.sqrt(first * first - w / 0.147) - first, 0.0))
    for _ in range(4):
        error = math.erfc(x) - tail if of_tail or tail < 0.5 else p - math.erf(x)
        slope = 2 / math.sqrt(math.pi) * math.exp(-x * x)
        if slope == 0:
            break
        step = error / slope
        x += step / (1 - x * step)
    return x * sign


def _erfinv(x):
    x = np.float64(x)
    return x if math.isnan(x) or x == 0 else _inverse(abs(x), False, np.copysign(1.0, x))


def _erfcinv(x):
    x = np.float64(x)
    if math.isnan(x) or x < 0 or x > 2:
        return math.nan
    return _inverse(x, True, 1.0) if x <= 1 else _inverse(2 - x, True, -1.0)


def _erfcx(x):
    """exp(x * x) * erfc(x), by a continued fraction where erfc is small."""
    x = np.float64(x)
    if x < 10:
        square = x * x
        return math.exp(square) * math.exp(cuda.fma(x, x, -square)) * math.erfc(x) if square < 709 else math.exp(square) * 2
    if x > 1e8:
        return 0.5641895835477563 / x
    rest = 0.0
    for k in range(40, 0, -1):
        rest = 0.5 * k / (x + rest)
    return 0.5641895835477563 / (x + rest)


def _saturate(x):
    return min(max(x, np.float32(0)), np.float32(1)) if x == x else np.float32(0)


_ROWS = {
    "abs": lambda x: np.int32(abs(np.int64(np.int32(x)))),
    "acos": lambda x: math.acos(np.float64(x)),
    "acosf": lambda x: math.acos(np.float32(x)),
    "acosh": lambda x: math.acosh(np.float64(x)),
    "acoshf": lambda x: math.acosh(np.float32(x)),
    "asin": lambda x: math.asin(np.float64(x)),
    "asinf": lambda x: math.asin(np.float32(x)),
    "asinh": lambda x: math.asinh(np.float64(x)),
    "asinhf": lambda x: math.asinh(np.float32(x)),
    "atan": lambda x: math.atan(np.float64(x)),
    "atan2": lambda x, y: math.atan2(np.float64(x), np.float64(y)),
    "atan2f": lambda x, y: math.atan2(np.float32(x), np.float32(y)),
    "atanf": lambda x: math.atan(np.float32(x)),
    "atanh": lambda x: math.atanh(np.float64(x)),
    "atanhf": lambda x: math.atanh(np.float32(x)),
    "brev": lambda x: np.int32(cuda.brev(np.int32(x))),
    "brevll": lambda x: cuda.brev(np.int64(x)),
    "byte_perm": lambda a, b, s: _byte_perm(np.int32(a), np.int32(b), np.int32(s)),
    "cbrt": lambda x: cuda.cbrt(np.float64(x)),
    "cbrtf": lambda x: cuda.cbrt(np.float32(x)),
    "ceil": lambda x: np.ceil(np.float64(x)),
    "ceilf": lambda x: np.ceil(np.float32(x)),
    "clz": lambda x: np.int32(cuda.clz(np.int32(x))),
    "clzll": lambda x: np.int32(cuda.clz(np.int64(x))),
    "copysign": lambda x, y: np.copysign(np.float64(x), np.float64(y)),
    "copysignf": lambda x, y: np.copysign(np.float32(x), np.float32(y)),
    "cos": lambda x: math.cos(np.float64(x)),
    "cosf": lambda x: math.cos(np.float32(x)),
    "cosh": lambda x: math.cosh(np.float64(x)),
    "coshf": lambda x: math.cosh(np.float32(x)),
    "cospi": lambda x: np.float64(_cos_of_pi(np.float64(x))),
    "cospif": lambda x: np.float32(_cos_of_pi(np.float32(x))),
    "cyl_bessel_i0": lambda x: bessel.i0(np.float64(x)),
    "cyl_bessel_i0f": lambda x: np.float32(bessel.i0(np.float32(x))),
    "cyl_bessel_i1": lambda x: bessel.i1(np.float64(x)),
    "cyl_bessel_i1f": lambda x: np.float32(bessel.i1(np.float32(x))),
    "dadd_rd": lambda x, y: _sum(np.float64(x), np.float64(y), _down),
    "dadd_rn": lambda x, y: np.float64(x) + np.float64(y),
    "dadd_ru": lambda x, y: _sum(np.float64(x), np.float64(y), _up),
    "dadd_rz": lambda x, y: _sum(np.float64(x), np.float64(y), _to_zero),
    "ddiv_rd": lambda x, y: _quotient(np.float64(x), np.float64(y), _down),
    "ddiv_rn": lambda x, y: np.divide(np.float64(x), np.float64(y)),
    "ddiv_ru": lambda x, y: _quotient(np.float64(x), np.float64(y), _up),
    "ddiv_rz": lambda x, y: _quotient(np.float64(x), np.float64(y), _to_zero),
    "dmul_rd": lambda x, y: _product(np.float64(x), np.float64(y), _down),
    "dmul_rn": lambda x, y: np.float64(x) * np.float64(y),
    "dmul_ru": lambda x, y: _product(np.float64(x), np.float64(y), _up),
    "dmul_rz": lambda x, y: _product(np.float64(x), np.float64(y), _to_zero),
    "double2float_rd": lambda x: _float_of_double(np.float64(x), _down),
    "double2float_rn": lambda x: np.float32(np.float64(x)),
    "double2float_ru": lambda x: _float_of_double(np.float64(x), _up),
    "double2float_rz": lambda x: _float_of_double(np.float64(x), _to_zero),
    "double2hiint": lambda x: np.int32(_int_of_double(x) >> 32),
    "double2int_rd": lambda x: np.int32(np.floor(np.float64(x))),
    "double2int_rn": lambda x: np.int32(np.rint(np.float64(x))),
    "double2int_ru": lambda x: np.int32(np.ceil(np.float64(x))),
    "double2int_rz": lambda x: np.int32(np.trunc(np.float64(x))),
    "double2ll_rd": lambda x: np.int64(np.floor(np.float64(x))),
    "double2ll_rn": lambda x: np.int64(np.rint(np.float64(x))),
    "double2ll_ru": lambda x: np.int64(np.ceil(np.float64(x))),
    "double2ll_rz": lambda x: np.int64(np.trunc(np.float64(x))),
    "double2loint": lambda x: np.int32(_int_of_double(x)),
    "double2uint_rd": lambda x: np.uint32(np.floor(np.float64(x))),
    "double2uint_rn": lambda x: np.uint32(np.rint(np.float64(x))),
    "double2uint_ru": lambda x: np.uint32(np.ceil(np.float64(x))),
    "double2uint_rz": lambda x: np.uint32(np.trunc(np.float64(x))),
    "double2ull_rd": lambda x: np.uint64(np.floor(np.float64(x))),
    "double2ull_rn": lambda x: np.uint64(np.rint(np.float64(x))),
    "double2ull_ru": lambda x: np.uint64(np.ceil(np.float64(x))),
    "double2ull_rz": lambda x: np.uint64(np.trunc(np.float64(x))),
    "double_as_longlong": lambda x: _int_of_double(x),
    "drcp_rd": lambda x: _quotient(np.float64(1), np.float64(x), _down),
    "drcp_rn": lambda x: np.divide(np.float64(1), np.float64(x)),
    "drcp_ru": lambda x: _quotient(np.float64(1), np.float64(x), _up),
    "drcp_rz": lambda x: _quotient(np.float64(1), np.float64(x), _to_zero),
    "dsqrt_rd": lambda x: _root(np.float64(x), _down),
    "dsqrt_rn": lambda x: np.sqrt(np.float64(x)),
    "dsqrt_ru": lambda x: _root(np.float64(x), _up),
    "dsqrt_rz": lambda x: _root(np.float64(x), _to_zero),
    "erf": lambda x: math.erf(np.float64(x)),
    "erfc": lambda x: math.erfc(np.float64(x)),
    "erfcf": lambda x: math.erfc(np.float32(x)),
    "erfcinv": lambda x: np.float64(_erfcinv(np.float64(x))),
    "erfcinvf": lambda x: np.float32(_erfcinv(np.float32(x))),
    "erfcx": lambda x: np.float64(_erfcx(np.float64(x))),
    "erfcxf": lambda x: np.float32(_erfcx(np.float32(x))),
    "erff": lambda x: math.erf(np.float32(x)),
    "erfinv": lambda x: np.float64(_erfinv(np.float64(x))),
    "erfinvf": lambda x: np.float32(_erfinv(np.float32(x))),
    "exp": lambda x: math.exp(np.float64(x)),
    "exp10": lambda x: math.pow(np.float64(10), np.float64(x)),
    "exp10f": lambda x: math.pow(np.float32(10), np.float32(x)),
    "exp2": lambda x: np.exp2(np.float64(x)),
    "exp2f": lambda x: np.exp2(np.float32(x)),
    "expf": lambda x: math.exp(np.float32(x)),
    "expm1": lambda x: math.expm1(np.float64(x)),
    "expm1f": lambda x: math.expm1(np.float32(x)),
    "fabs": lambda x: abs(np.float64(x)),
    "fabsf": lambda x: abs(np.float32(x)),
    "fadd_rd": lambda x, y: _sum(np.float32(x), np.float32(y), _down),
    "fadd_rn": lambda x, y: np.float32(x) + np.float32(y),
    "fadd_ru": lambda x, y: _sum(np.float32(x), np.float32(y), _up),
    "fadd_rz": lambda x, y: _sum(np.float32(x), np.float32(y), _to_zero),
    "fast_cosf": lambda x: math.cos(np.float32(x)),
    "fast_exp10f": lambda x: math.pow(np.float32(10), np.float32(x)),
    "fast_expf": lambda x: math.exp(np.float32(x)),
    "fast_fdividef": lambda x, y: np.divide(np.float32(x), np.float32(y)),
    "fast_log10f": lambda x: math.log10(np.float32(x)),
    "fast_log2f": lambda x: math.log2(np.float32(x)),
    "fast_logf": lambda x: math.log(np.float32(x)),
    "fast_powf": lambda x, y: math.pow(np.float32(x), np.float32(y)),
    "fast_sincosf": lambda x: (math.sin(np.float32(x)), math.cos(np.float32(x))),
    "fast_sinf": lambda x: math.sin(np.float32(x)),
    "fast_tanf": lambda x: math.tan(np.float32(x)),
    "fdim": lambda x, y: _fdim(np.float64(x), np.float64(y), np.float64(0)),
    "fdimf": lambda x, y: _fdim(np.float32(x), np.float32(y), np.float32(0)),
    "fdiv_rd": lambda x, y: _quotient(np.float32(x), np.float32(y), _down),
    "fdiv_rn": lambda x, y: np.divide(np.float32(x), np.float32(y)),
    "fdiv_ru": lambda x, y: _quotient(np.float32(x), np.float32(y), _up),
    "fdiv_rz": lambda x, y: _quotient(np.float32(x), np.float32(y), _to_zero),
    "ffs": lambda x: np.int32(cuda.ffs(np.int32(x))),
    "ffsll": lambda x: np.int32(cuda.ffs(np.int64(x))),
    "finitef": lambda x: np.int32(math.isfinite(np.float32(x))),
    "float2half_rn": lambda x: _half_bits(x),
    "float2int_rd": lambda x: np.int32(np.floor(np.float32(x))),
    "float2int_rn": lambda x: np.int32(np.rint(np.float32(x))),
    "float2int_ru": lambda x: np.int32(np.ceil(np.float32(x))),
    "float2int_rz": lambda x: np.int32(np.trunc(np.float32(x))),
    "float2ll_rd": lambda x: np.int64(np.floor(np.float32(x))),
    "float2ll_rn": lambda x: np.int64(np.rint(np.float32(x))),
    "float2ll_ru": lambda x: np.int64(np.ceil(np.float32(x))),
    "float2ll_rz": lambda x: np.int64(np.trunc(np.float32(x))),
    "float2uint_rd": lambda x: np.uint32(np.floor(np.float32(x))),
    "float2uint_rn": lambda x: np.uint32(np.rint(np.float32(x))),
    "float2uint_ru": lambda x: np.uint32(np.ceil(np.float32(x))),
    "float2uint_rz": lambda x: np.uint32(np.trunc(np.float32(x))),
    "float2ull_rd": lambda x: np.uint64(np.floor(np.float32(x))),
    "float2ull_rn": lambda x: np.uint64(np.rint(np.float32(x))),
    "float2ull_ru": lambda x: np.uint64(np.ceil(np.float32(x))),
    "float2ull_rz": lambda x: np.uint64(np.trunc(np.float32(x))),
    "float_as_int": lambda x: _int_of_float(x),
    "floor": lambda x: np.floor(np.float64(x)),
    "floorf": lambda x: np.floor(np.float32(x)),
    "fma": lambda x, y, z: cuda.fma(np.float64(x), np.float64(y), np.float64(z)),
    "fma_rd": lambda x, y, z: _fma(np.float64(x), np.float64(y), np.float64(z), _down),
    "fma_rn": lambda x, y, z: cuda.fma(np.float64(x), np.float64(y), np.float64(z)),
    "fma_ru": lambda x, y, z: _fma(np.float64(x), np.float64(y), np.float64(z), _up),
    "fma_rz": lambda x, y, z: _fma(np.float64(x), np.float64(y), np.float64(z), _to_zero),
    "fmaf": lambda x, y, z: cuda.fma(np.float32(x), np.float32(y), np.float32(z)),
    "fmaf_rd": lambda x, y, z: _fma(np.float32(x), np.float32(y), np.float32(z), _down),
    "fmaf_rn": lambda x, y, z: cuda.fma(np.float32(x), np.float32(y), np.float32(z)),
    "fmaf_ru": lambda x, y, z: _fma(np.float32(x), np.float32(y), np.float32(z), _up),
    "fmaf_rz": lambda x, y, z: _fma(np.float32(x), np.float32(y), np.float32(z), _to_zero),
    "fmax": lambda x, y: np.fmax(np.float64(x), np.float64(y)),
    "fmaxf": lambda x, y: np.fmax(np.float32(x), np.float32(y)),
    "fmin": lambda x, y: np.fmin(np.float64(x), np.float64(y)),
    "fminf": lambda x, y: np.fmin(np.float32(x), np.float32(y)),
    "fmod": lambda x, y: np.fmod(np.float64(x), np.float64(y)),
    "fmodf": lambda x, y: np.fmod(np.float32(x), np.float32(y)),
    "fmul_rd": lambda x, y: _product(np.float32(x), np.float32(y), _down),
    "fmul_rn": lambda x, y: np.float32(x) * np.float32(y),
    "fmul_ru": lambda x, y: _product(np.float32(x), np.float32(y), _up),
    "fmul_rz": lambda x, y: _product(np.float32(x), np.float32(y), _to_zero),
    "frcp_rd": lambda x: _quotient(np.float32(1), np.float32(x), _down),
    "frcp_rn": lambda x: np.divide(np.float32(1), np.float32(x)),
    "frcp_ru": lambda x: _quotient(np.float32(1), np.float32(x), _up),
    "frcp_rz": lambda x: _quotient(np.float32(1), np.float32(x), _to_zero),
    "frexp": lambda x: _frexp(np.float64(x)),
    "frexpf": lambda x: _frexp(np.float32(x)),
    "frsqrt_rn": lambda x: np.float32(np.divide(1.0, np.sqrt(np.float64(np.float32(x))))),
    "fsqrt_rd": lambda x: _root(np.float32(x), _down),
    "fsqrt_rn": lambda x: np.sqrt(np.float32(x)),
    "fsqrt_ru": lambda x: _root(np.float32(x), _up),
    "fsqrt_rz": lambda x: _root(np.float32(x), _to_zero),
    "fsub_rd": lambda x, y: _sum(np.float32(x), -np.float32(y), _down),
    "fsub_rn": lambda x, y: np.float32(x) - np.float32(y),
    "fsub_ru": lambda x, y: _sum(np.float32(x), -np.float32(y), _up),
    "fsub_rz": lambda x, y: _sum(np.float32(x), -np.float32(y), _to_zero),
    "hadd": lambda x, y: np.int32(np.int64(np.int32(x)) + np.int64(np.int32(y)) >> 1),
    "half2float": lambda x: _float_of_half(x),
    "hiloint2double": lambda hi, lo: _double_of_int(np.int64(np.int32(hi)) << 32 | np.int64(np.uint32(np.int32(lo)))),
    "hypot": lambda x, y: math.hypot(np.float64(x), np.float64(y)),
    "hypotf": lambda x, y: math.hypot(np.float32(x), np.float32(y)),
    "ilogb": lambda x: _ilogb(np.float64(x)),
    "ilogbf": lambda x: _ilogb(np.float32(x)),
    "int2double_rn": lambda x: np.float64(np.int32(x)),
    "int2float_rd": lambda x: _of_int(np.int64(np.int32(x)), np.float32(np.int32(x)), _down),
    "int2float_rn": lambda x: np.float32(np.int32(x)),
    "int2float_ru": lambda x: _of_int(np.int64(np.int32(x)), np.float32(np.int32(x)), _up),
    "int2float_rz": lambda x: _of_int(np.int64(np.int32(x)), np.float32(np.int32(x)), _to_zero),
    "int_as_float": lambda x: _float_of_int(x),
    "isfinited": lambda x: np.int32(math.isfinite(np.float64(x))),
    "isinfd": lambda x: np.int32(math.isinf(np.float64(x))),
    "isinff": lambda x: np.int32(math.isinf(np.float32(x))),
    "isnand": lambda x: np.int32(math.isnan(np.float64(x))),
    "isnanf": lambda x: np.int32(math.isnan(np.float32(x))),
    "j0": lambda x: bessel_j0(np.float64(x)),
    "j0f": lambda x: bessel_j0(np.float32(x)),
    "j1": lambda x: bessel.j1(np.float64(x)),
    "j1f": lambda x: bessel.j1(np.float32(x)),
    "jn": lambda n, x: np.float64(bessel.jn(np.int32(n), np.float64(x))),
    "jnf": lambda n, x: np.float32(bessel.jn(np.int32(n), np.float32(x))),
    "ldexp": lambda x, n: math.ldexp(np.float64(x), np.int32(n)),
    "ldexpf": lambda x, n: math.ldexp(np.float32(x), np.int32(n)),
    "lgamma": lambda x: math.lgamma(np.float64(x)),
    "lgammaf": lambda x: math.lgamma(np.float32(x)),
    "ll2double_rd": lambda x: _of_int(np.int64(np.int64(x)), np.float64(np.int64(x)), _down),
    "ll2double_rn": lambda x: np.float64(np.int64(x)),
    "ll2double_ru": lambda x: _of_int(np.int64(np.int64(x)), np.float64(np.int64(x)), _up),
    "ll2double_rz": lambda x: _of_int(np.int64(np.int64(x)), np.float64(np.int64(x)), _to_zero),
    "ll2float_rd": lambda x: _of_int(np.int64(np.int64(x)), np.float32(np.int64(x)), _down),
    "ll2float_rn": lambda x: np.float32(np.int64(x)),
    "ll2float_ru": lambda x: _of_int(np.int64(np.int64(x)), np.float32(np.int64(x)), _up),
    "ll2float_rz": lambda x: _of_int(np.int64(np.int64(x)), np.float32(np.int64(x)), _to_zero),
    "llabs": lambda x: abs(np.int64(x)),
    "llmax": lambda x, y: max(np.int64(x), np.int64(y)),
    "llmin": lambda x, y: min(np.int64(x), np.int64(y)),
    "llrint": lambda x: np.int64(np.rint(np.float64(x))),
    "llrintf": lambda x: np.int64(np.rint(np.float32(x))),
    "llround": lambda x: np.int64(_half_away(np.float64(x))),
    "llroundf": lambda x: np.int64(_half_away(np.float32(x))),
    "log": lambda x: math.log(np.float64(x)),
    "log10": lambda x: math.log10(np.float64(x)),
    "log10f": lambda x: math.log10(np.float32(x)),
    "log1p": lambda x: math.log1p(np.float64(x)),
    "log1pf": lambda x: math.log1p(np.float32(x)),
    "log2": lambda x: math.log2(np.float64(x)),
    "log2f": lambda x: math.log2(np.float32(x)),
    "logb": lambda x: _logb(np.float64(x)),
    "logbf": lambda x: _logb(np.float32(x)),
    "logf": lambda x: math.log(np.float32(x)),
    "longlong_as_double": lambda x: _double_of_int(x),
    "max": lambda x, y: max(np.int32(x), np.int32(y)),
    "min": lambda x, y: min(np.int32(x), np.int32(y)),
    "modf": lambda x: math.modf(np.float64(x)),
    "modff": lambda x: math.modf(np.float32(x)),
    "mul24": lambda x, y: _mul24(x, y),
    "mul64hi": lambda x, y: _mul64hi(x, y),
    "mulhi": lambda x, y: np.int32(np.int64(np.int32(x)) * np.int64(np.int32(y)) >> 32),
    "nearbyint": lambda x: np.rint(np.float64(x)),
    "nearbyintf": lambda x: np.rint(np.float32(x)),
    "nextafter": lambda x, y: math.nextafter(np.float64(x), np.float64(y)),
    "nextafterf": lambda x, y: math.nextafter(np.float32(x), np.float32(y)),
    "normcdf": lambda x: np.float64(0.5 * math.erfc(np.float64(-np.float64(x)) * 0.7071067811865476)),
    "normcdff": lambda x: np.float32(0.5 * math.erfc(np.float64(-np.float32(x)) * 0.7071067811865476)),
    "normcdfinv": lambda x: np.float64(-1.4142135623730951 * _erfcinv(2 * np.float64(np.float64(x)))),
    "normcdfinvf": lambda x: np.float32(-1.4142135623730951 * _erfcinv(2 * np.float64(np.float32(x)))),
    "popc": lambda x: np.int32(cuda.popc(np.int32(x))),
    "popcll": lambda x: np.int32(cuda.popc(np.int64(x))),
    "pow": lambda x, y: math.pow(np.float64(x), np.float64(y)),
    "powf": lambda x, y: math.pow(np.float32(x), np.float32(y)),
    "powi": lambda x, n: np.float64(_powi(np.float64(x), n)),
    "powif": lambda x, n: np.float32(_powi(np.float32(x), n)),
    "rcbrt": lambda x: np.divide(np.float64(1), cuda.cbrt(np.float64(x))),
    "rcbrtf": lambda x: np.divide(np.float32(1), cuda.cbrt(np.float32(x))),
    "remainder": lambda x, y: math.remainder(np.float64(x), np.float64(y)),
    "remainderf": lambda x, y: math.remainder(np.float32(x), np.float32(y)),
    "remquo": lambda x, y: _remquo(np.float64(x), np.float64(y)),
    "remquof": lambda x, y: _remquo(np.float32(x), np.float32(y)),
    "rhadd": lambda x, y: np.int32(np.int64(np.int32(x)) + np.int64(np.int32(y)) + 1 >> 1),
    "rint": lambda x: np.rint(np.float64(x)),
    "rintf": lambda x: np.rint(np.float32(x)),
    "round": lambda x: _half_away(np.float64(x)),
    "roundf": lambda x: _half_away(np.float32(x)),
    "rsqrt": lambda x: np.divide(np.float64(1), np.sqrt(np.float64(x))),
    "rsqrtf": lambda x: np.divide(np.float32(1), np.sqrt(np.float32(x))),
    "sad": lambda x, y, z: np.int32(abs(np.int64(np.int32(x)) - np.int64(np.int32(y))) + np.int32(z)),
    "saturatef": lambda x: _saturate(np.float32(x)),
    "scalbn": lambda x, n: math.ldexp(np.float64(x), np.int32(n)),
    "scalbnf": lambda x, n: math.ldexp(np.float32(x), np.int32(n)),
    "signbitd": lambda x: np.int32(np.signbit(np.float64(x))),
    "signbitf": lambda x: np.int32(np.signbit(np.float32(x))),
    "sin": lambda x: math.sin(np.float64(x)),
    "sincos": lambda x: (math.sin(np.float64(x)), math.cos(np.float64(x))),
    "sincosf": lambda x: (math.sin(np.float32(x)), math.cos(np.float32(x))),
    "sincospi": lambda x: (np.float64(_sin_of_pi(np.float64(x))), np.float64(_cos_of_pi(np.float64(x)))),
    "sincospif": lambda x: (np.float32(_sin_of_pi(np.float32(x))), np.float32(_cos_of_pi(np.float32(x)))),
    "sinf": lambda x: math.sin(np.float32(x)),
    "sinh": lambda x: math.sinh(np.float64(x)),
    "sinhf": lambda x: math.sinh(np.float32(x)),
    "sinpi": lambda x: np.float64(_sin_of_pi(np.float64(x))),
    "sinpif": lambda x: np.float32(_sin_of_pi(np.float32(x))),
    "sqrt": lambda x: math.sqrt(np.float64(x)),
    "sqrtf": lambda x: math.sqrt(np.float32(x)),
    "tan": lambda x: math.tan(np.float64(x)),
    "tanf": lambda x: math.tan(np.float32(x)),
    "tanh": lambda x: math.tanh(np.float64(x)),
    "tanhf": lambda x: math.tanh(np.float32(x)),
    "tgamma": lambda x: math.gamma(np.float64(x)),
    "tgammaf": lambda x: math.gamma(np.float32(x)),
    "trunc": lambda x: np.trunc(np.float64(x)),
    "truncf": lambda x: np.trunc(np.float32(x)),
    "uhadd": lambda x, y: np.uint32(np.int64(np.uint32(x)) + np.int64(np.uint32(y)) >> 1),
    "uint2double_rn": lambda x: np.float64(np.uint32(x)),
    "uint2float_rd": lambda x: _of_unsigned(np.uint64(np.uint32(x)), np.float32(np.uint32(x)), _down),
    "uint2float_rn": lambda x: np.float32(np.uint32(x)),
    "uint2float_ru": lambda x: _of_unsigned(np.uint64(np.uint32(x)), np.float32(np.uint32(x)), _up),
    "uint2float_rz": lambda x: _of_unsigned(np.uint64(np.uint32(x)), np.float32(np.uint32(x)), _to_zero),
    "ull2double_rd": lambda x: _of_unsigned(np.uint64(np.uint64(x)), np.float64(np.uint64(x)), _down),
    "ull2double_rn": lambda x: np.float64(np.uint64(x)),
    "ull2double_ru": lambda x: _of_unsigned(np.uint64(np.uint64(x)), np.float64(np.uint64(x)), _up),
    "ull2double_rz": lambda x: _of_unsigned(np.uint64(np.uint64(x)), np.float64(np.uint64(x)), _to_zero),
    "ull2float_rd": lambda x: _of_unsigned(np.uint64(np.uint64(x)), np.float32(np.uint64(x)), _down),
    "ull2float_rn": lambda x: np.float32(np.uint64(x)),
    "ull2float_ru": lambda x: _of_unsigned(np.uint64(np.uint64(x)), np.float32(np.uint64(x)), _up),
    "ull2float_rz": lambda x: _of_unsigned(np.uint64(np.uint64(x)), np.float32(np.uint64(x)), _to_zero),
    "ullmax": lambda x, y: max(np.uint64(x), np.uint64(y)),
    "ullmin": lambda x, y: min(np.uint64(x), np.uint64(y)),
    "umax": lambda x, y: max(np.uint32(x), np.uint32(y)),
    "umin": lambda x, y: min(np.uint32(x), np.uint32(y)),
    "umul24": lambda x, y: np.uint32((np.uint64(np.uint32(x)) & np.uint64(0xffffff)) * (np.uint64(np.uint32(y)) & np.uint64(0xffffff))),
    "umul64hi": lambda x, y: _high_of_product(np.uint64(x), np.uint64(y)),
    "umulhi": lambda x, y: np.uint32(np.uint64(np.uint32(x)) * np.uint64(np.uint32(y)) >> np.uint64(32)),
    "urhadd": lambda x, y: np.uint32(np.int64(np.uint32(x)) + np.int64(np.uint32(y)) + 1 >> 1),
    "usad": lambda x, y, z: np.uint32(abs(np.int64(np.uint32(x)) - np.int64(np.uint32(y))) + np.int64(np.uint32(z))),
    "y0": lambda x: bessel_y0(np.float64(x)),
    "y0f": lambda x: bessel_y0(np.float32(x)),
    "y1": lambda x: bessel_y1(np.float64(x)),
    "y1f": lambda x: bessel_y1(np.float32(x)),
    "yn": lambda n, x: np.float64(bessel.yn(np.int32(n), np.float64(x))),
    "ynf": lambda n, x: np.float32(bessel.yn(np.int32(n), np.float32(x))),
}

FUNCTIONS = {f"cuda.libdevice.{name}": function for name, function in _ROWS.items()}
