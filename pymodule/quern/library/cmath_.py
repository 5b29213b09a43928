"""The module cmath and complex powers, over the parts of the numbers. Branch cuts and the signs of zeros follow
W. Kahan, "Branch cuts for complex elementary functions" (1987); infinities and NaN follow annex G of the C standard, and
where that leaves a sign open, CPython."""

import math

import numpy as np

from .primitives import convert, result_type


def phase(z):
    z = complex(z)
    return math.atan2(z.imag, z.real)


def polar(z):
    z = complex(z)
    return math.hypot(z.real, z.imag), math.atan2(z.imag, z.real)


def rect(r, angle):
    if angle == 0.0:
        if math.isnan(r):
            return complex(r, 0.0)
        return complex(r, math.copysign(0.0, r) * math.copysign(1.0, angle))
    if not math.isfinite(angle):
        if r == 0.0:
            return complex(0.0, 0.0)
        return complex(math.inf if math.isinf(r) else math.nan, math.nan)
    return complex(r * math.cos(angle), r * math.sin(angle))


def exp(z):
    z = complex(z)
    length = math.exp(z.real)
    if z.imag == 0.0:
        return complex(length, z.imag)
    if math.isinf(z.real) and not math.isfinite(z.imag):
        return complex(length, z.imag - z.imag if z.real > 0.0 else 0.0)
    if math.isinf(length) and math.isfinite(z.real):  # the parts may be finite where the length is not
        root = math.exp(z.real * 0.5)
        return complex(root * math.cos(z.imag) * root, root * math.sin(z.imag) * root)
    return complex(length * math.cos(z.imag), length * math.sin(z.imag))


def _infinite(z):
    return math.isinf(z.real) or math.isinf(z.imag)


def _log_of_length(z):
    if _infinite(z):
        return math.inf
    big = max(abs(z.real), abs(z.imag))
    small = min(abs(z.real), abs(z.imag))
    if 0.5 <= big <= 2.0:  # near 1, log would lose digits; in single precision so would the sum
        x, y = np.float64(big), np.float64(small)
        beyond = (x - 1.0) * (x + 1.0) + y * y
        return math.log1p(np.float32(beyond) if isinstance(big, np.float32) else beyond) * 0.5
    if big > 1e30 or big < 1e-30:
        if big == 0.0:
            return math.log(big)
        ratio = small / big
        return math.log(big) + math.log1p(ratio * ratio) * 0.5
    return math.log(math.hypot(big, small))


def _is_nan(z):
    """Is a part not a number, and none infinite?"""
    return math.isnan(z.real + z.imag) and not _infinite(z)


def log(z):
    z = complex(z)
    if _is_nan(z):
        return complex(math.nan, math.nan)
    return complex(_log_of_length(z), math.atan2(z.imag, z.real))


def _in_double(function, z):
    """Where the steps of single precision would lose digits."""
    return np.complex64(function(np.complex128(z)))


def log10(z):
    if isinstance(z, np.complex64):
        return _in_double(log10, z)
    w = log(z)
    return complex(w.real * (1.0 / math.log(10.0)), w.imag * (1.0 / math.log(10.0)))


def log_base(z, base):
    kind = result_type(z, base)
    if kind == np.complex64:  # logarithms beside 0 and the quotient would lose digits
        return convert(log(convert(z, np.complex128)) / log(convert(base, np.complex128)), kind)
    return log(z) / log(base)


def sqrt(z):
    z = complex(z)
    x = abs(z.real)
    y = abs(z.imag)
    if x == 0.0 and y == 0.0:
        return complex(0.0 * x, z.imag)
    if math.isinf(y):
        return complex(y, z.imag)
    if max(x, y) < 1e-30:  # away from the subnormals
        s = math.sqrt(x * 1e30 + math.hypot(x * 1e30, y * 1e30)) * math.sqrt(0.5e-30)
    else:  # away from overflow
        s = 2.0 * math.sqrt(x * 0.125 + math.hypot(x * 0.125, y * 0.125))
    d = y / (2.0 * s)
    if z.real >= 0.0:
        return complex(s, math.copysign(d, z.imag))
    return complex(d, math.copysign(s, z.imag))


def sinh(z):
    z = complex(z)
    if z.imag == 0.0:
        return complex(math.sinh(z.real), z.imag)
    if not math.isfinite(z.imag):
        if math.isinf(z.real):
            return complex(math.inf, math.nan)
        return complex(0.0 if z.real == 0.0 else math.nan, math.nan)
    if math.isinf(math.cosh(z.real)) and math.isfinite(z.real):  # as in exp
        root = math.exp(abs(z.real) * 0.5)
        return complex(math.copysign(root, z.real) * math.cos(z.imag) * 0.5 * root, root * math.sin(z.imag) * 0.5 * root)
    return complex(math.cos(z.imag) * math.sinh(z.real), math.sin(z.imag) * math.cosh(z.real))


def cosh(z):
    z = complex(z)
    if z.imag == 0.0:
        if math.isnan(z.real):
            return complex(z.real, 0.0)
        return complex(math.cosh(z.real), z.imag * math.copysign(1.0, z.real) if z.real != 0.0 else z.real * z.imag)
    if not math.isfinite(z.imag):
        if math.isinf(z.real):
            return complex(math.inf, math.nan)
        return complex(math.nan, 0.0 if z.real == 0.0 else math.nan)
    if math.isinf(math.cosh(z.real)) and math.isfinite(z.real):  # as in exp
        root = math.exp(abs(z.real) * 0.5)
        return complex(root * math.cos(z.imag) * 0.5 * root, math.copysign(root, z.real) * math.sin(z.imag) * 0.5 * root)
    return complex(math.cos(z.imag) * math.cosh(z.real), math.sin(z.imag) * math.sinh(z.real))


def tanh(z):
    if isinstance(z, np.complex64):
        return _in_double(tanh, z)
    z = complex(z)
    if z.imag == 0.0:
        return complex(math.tanh(z.real), z.imag)
    if not math.isfinite(z.imag):
        if math.isinf(z.real):
            return complex(math.copysign(1.0, z.real), 0.0)
        return complex(math.nan, math.nan)
    if abs(z.real) > 20.0:
        decay = 4.0 * math.exp(-2.0 * abs(z.real))
        return complex(math.copysign(1.0, z.real), math.sin(z.imag) * math.cos(z.imag) * decay)
    tx = math.tanh(z.real)
    ty = math.tan(z.imag)
    cx = 1.0 / math.cosh(z.real)
    both = tx * ty
    below = 1.0 + both * both
    return complex(tx * (1.0 + ty * ty) / below, ty / below * cx * cx)


def sin(z):
    z = complex(z)
    w = sinh(complex(-z.imag, z.real))
    return complex(w.imag, -w.real)


def cos(z):
    z = complex(z)
    return cosh(complex(-z.imag, z.real))


def tan(z):
    z = complex(z)
    w = tanh(complex(-z.imag, z.real))
    return complex(w.imag, -w.real)


def acos(z):
    z = complex(z)
    if _infinite(z):
        height = math.inf if math.isnan(z.imag) else -math.copysign(math.inf, z.imag)
        return complex(math.atan2(abs(z.imag), z.real), height)
    if _is_nan(z):
        return complex(0.5 * math.pi if z.real == 0.0 else math.nan, math.nan)
    s = sqrt(complex(1.0 - z.real, -z.imag))
    t = sqrt(complex(1.0 + z.real, z.imag))
    return complex(2.0 * math.atan2(s.real, t.real), math.asinh(t.real * s.imag - t.imag * s.real))


def acosh(z):
    z = complex(z)
    if _infinite(z):
        return complex(math.inf, math.atan2(z.imag, z.real))
    s = sqrt(complex(z.real - 1.0, z.imag))
    t = sqrt(complex(z.real + 1.0, z.imag))
    return complex(math.asinh(s.real * t.real + s.imag * t.imag), 2.0 * math.atan2(s.imag, t.real))


def asinh(z):
    z = complex(z)
    if _infinite(z):
        width = math.inf if math.isnan(z.real) else math.copysign(math.inf, z.real)
        return complex(width, math.atan2(z.imag, abs(z.real)))
    if _is_nan(z):
        return complex(math.nan, z.imag if z.imag == 0.0 else math.nan)
    s = sqrt(complex(1.0 + z.imag, -z.real))
    t = sqrt(complex(1.0 - z.imag, z.real))
    return complex(math.asinh(s.real * t.imag - t.real * s.imag),
                   math.atan2(z.imag, s.real * t.real - s.imag * t.imag))


def asin(z):
    z = complex(z)
    w = asinh(complex(-z.imag, z.real))
    return complex(w.imag, -w.real)


def atanh(z):
    z = complex(z)
    if _infinite(z):
        turn = z.imag if math.isnan(z.imag) else math.copysign(0.5 * math.pi, z.imag)
        return complex(0.0 if math.isnan(z.real) else math.copysign(0.0, z.real), turn)
    if _is_nan(z):
        return complex(z.real if z.real == 0.0 else math.nan, math.nan)
    sign = math.copysign(1.0, z.real)
    x = abs(z.real)
    y = z.imag * sign
    if x > 1e15 or abs(y) > 1e15:  # 1 does not matter any more
        length = math.hypot(x, y)
        return complex(sign * (x / length / length), sign * math.copysign(0.5 * math.pi, y))
    if x == 1.0 and y == 0.0:
        return complex(sign * math.inf, sign * y)
    if x == 1.0 and abs(y) < 1e-150:  # the square of y is 0
        return complex(sign * 0.5 * (math.log(2.0) - math.log(abs(y))), sign * math.copysign(0.25 * math.pi, y))
    square = (1.0 - x) * (1.0 - x) + y * y
    return complex(sign * 0.25 * math.log1p(4.0 * x / square),
                   sign * -0.5 * math.atan2(-2.0 * y, (1.0 - x) * (1.0 + x) - y * y))


def atan(z):
    z = complex(z)
    w = atanh(complex(-z.imag, z.real))
    return complex(w.imag, -w.real)


def _pow_whole(a, n):
    """By squaring, as CPython does for small whole exponents."""
    power = complex(a.real - a.real + 1.0, 0.0) if math.isfinite(a.real) else complex(1.0, 0.0)
    square = a
    bit = 1
    while bit <= n:
        if n & bit:
            power = power * square
        bit <<= 1
        if bit <= n:
            square = square * square
    return power


def pow_complex(a, b):
    a = complex(a)
    b = complex(b)
    if b.real == 0.0 and b.imag == 0.0:
        return complex(a.real - a.real + 1.0, 0.0) if math.isfinite(a.real) else complex(1.0, 0.0)
    if a.real == 0.0 and a.imag == 0.0:
        if b.imag != 0.0 or b.real < 0.0:
            raise ZeroDivisionError("zero to a negative or complex power")
        return complex(0.0 * abs(a.real), 0.0)
    if b.imag == 0.0 and abs(b.real) <= 100.0 and b.real == math.floor(b.real):
        n = int(b.real)
        if n > 0:
            return _pow_whole(a, n)
        return 1.0 / _pow_whole(a, -n)
    length = math.hypot(a.real, a.imag)
    angle = math.atan2(a.imag, a.real)
    size = math.pow(length, b.real)
    turn = angle * b.real
    if b.imag != 0.0:
        size = size * math.exp(-angle * b.imag)
        turn = turn + b.imag * math.log(length)
    return complex(size * math.cos(turn), size * math.sin(turn))


FUNCTIONS = {
    "cmath.acos": acos,
    "cmath.acosh": acosh,
    "cmath.asin": asin,
    "cmath.asinh": asinh,
    "cmath.atan": atan,
    "cmath.atanh": atanh,
    "cmath.cos": cos,
    "cmath.cosh": cosh,
    "cmath.exp": exp,
    "cmath.log": log,
    "cmath.log10": log10,
    "cmath.log_base": log_base,
    "cmath.phase": phase,
    "cmath.polar": polar,
    "cmath.rect": rect,
    "cmath.sin": sin,
    "cmath.sinh": sinh,
    "cmath.sqrt": sqrt,
    "cmath.tan": tan,
    "cmath.tanh": tanh,
    "operator.pow_complex": pow_complex,
}
