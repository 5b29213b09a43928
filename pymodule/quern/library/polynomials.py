"""Polynomials as arrays of their coefficients: numpy.poly* have the highest power first, numpy.polynomial.polynomial.* the lowest."""

import numpy as np

from .creation import as_array
from .decompositions import eigvals, lstsq
from .primitives import convert, result_type
from .shapes import refuse, reshape
from .systems import system_type


def line(c):
    """Coefficients along one axis; one number is a constant polynomial."""
    a = as_array(c)
    return a.reshape(1) if a.ndim == 0 else a


def check_line(c):
    if c.ndim != 1:
        raise ValueError("Coefficient array is not 1-d")
    if len(c) == 0:
        raise ValueError("Coefficient array is empty")


def double_of(kind):
    """Ints are computed in double precision."""
    return kind if kind.kind == "f" or kind.kind == "c" else np.float64


# -- the lowest power first -----------------------------------------------------------------------------------------------------


def trimseq(seq):
    """Without the zeros at the end, but for the first coefficient."""
    n = len(seq)
    while n > 1 and seq[n - 1] == 0:
        n -= 1
    return seq[:n]


def series(c):
    a = line(c)
    check_line(a)
    return trimseq(a)


def lengthened_sum(a, b, kind, sign):
    result = np.zeros(max(len(a), len(b)), kind)
    result[:len(a)] = a
    if sign > 0:
        result[:len(b)] += b
    else:
        result[:len(b)] -= b
    return trimseq(result)


def polyadd(c1, c2):
    a, b = series(c1), series(c2)
    return lengthened_sum(a, b, double_of(result_type(a, b)), 1)


def polysub(c1, c2):
    a, b = series(c1), series(c2)
    return lengthened_sum(a, b, double_of(result_type(a, b)), -1)


def polymul(c1, c2):
    a, b = series(c1), series(c2)
    kind = double_of(result_type(a, b))
    return trimseq(np.convolve(convert(a, kind), convert(b, kind)))


def polydiv(c1, c2):
    a, b = series(c1), series(c2)
    kind = double_of(result_type(a, b))
    if b[len(b) - 1] == 0:
        raise ZeroDivisionError("the divisor is the zero polynomial")
    rest = np.empty(len(a), kind)
    rest[:] = a
    if len(a) < len(b):
        return np.zeros(1, kind), rest
    quotient = np.empty(len(a) - len(b) + 1, kind)
    last = convert(b[len(b) - 1], kind)
    for i in range(len(quotient) - 1, -1, -1):
        factor = np.true_divide(rest[i + len(b) - 1], last)
        quotient[i] = factor
        for j in range(len(b)):
            rest[i + j] -= factor * convert(b[j], kind)
    return quotient, trimseq(rest[:max(len(b) - 1, 1)] if len(b) > 1 else np.zeros(1, kind))


def polyint(c, m=1):
    a = line(c)
    check_line(a)
    kind = double_of(result_type(a))
    if m < 0:
        raise ValueError("The order of integration must be non-negative")
    if len(a) == 1 and a[0] == 0:
        m = 0  # the polynomial 0 stays it
    result = np.zeros(len(a) + m, kind)
    result[:len(a)] = a
    for step in range(m):
        for i in range(len(a) + step, 0, -1):
            result[i] = np.true_divide(result[i - 1], convert(i, kind))
        result[0] = 0
    return result


def columns_at(x, c, tensor):
    """Polynomials of which the further axes of the coefficients say how many there are: each at each point, or (without tensor) by broadcasting."""
    kind = double_of(result_type(c))
    places = x.ndim if tensor and isinstance(x, np.ndarray) else 0
    a = reshape(convert(c, kind), c.shape + (1,) * places)
    total = a[len(a) - 1] + x * 0
    for i in range(len(a) - 2, -1, -1):
        total = a[i] + total * x
    return total


def polyval(x, c, tensor=True):
    if isinstance(x, tuple):
        return polyval(np.array(x), c, tensor)
    a = line(c)
    if a.ndim > 1:
        return columns_at(x, a, tensor)
    check_line(a)
    kind = double_of(result_type(a))
    total = convert(a[len(a) - 1], kind) + x * 0
    for i in range(len(a) - 2, -1, -1):
        total = convert(a[i], kind) + total * x
    return total


# -- the highest power first ------------------------------------------------------------------------------------------------------


def trimmed_front(a):
    first = 0
    while first < len(a) and a[first] == 0:
        first += 1
    return a[first:]


def add_at_end(a1, a2, sign):
    a, b = line(a1), line(a2)
    result = np.zeros(max(len(a), len(b)), result_type(a, b))
    result[len(result) - len(a):] = a
    if sign > 0:
        result[len(result) - len(b):] += b
    else:
        result[len(result) - len(b):] -= b
    return result


def poly1d_add(a1, a2):
    return add_at_end(a1, a2, 1)


def poly1d_sub(a1, a2):
    return add_at_end(a1, a2, -1)


def poly1d_mul(a1, a2):
    return np.convolve(line(a1), line(a2))


def poly1d_val(p, x):
    a = line(p)
    total = np.multiply(x, convert(0, result_type(a)))
    for i in range(len(a)):
        total = np.add(np.multiply(total, x), a[i])
    return total


def poly1d_der(p, m=1):
    a = line(p)
    if m < 0:
        refuse("Order of derivative must be positive (see polyint)")
    result = np.empty(max(len(a) - m, 0), result_type(a, np.int64))
    for i in range(len(result)):
        value = convert(a[i], result.dtype)
        for k in range(m):
            value = np.multiply(value, convert(len(a) - 1 - i - k, result.dtype))
        result[i] = value
    return result


def roots(p):
    """Of real coefficients the roots are real, or there is a ValueError: which of the two is not known when types are."""
    a = line(p)
    if a.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    kind = system_type(a.dtype)
    some = trimmed_front(a)
    zeros = len(some) - len(trimseq(some))
    if len(some) < 2:
        return np.zeros(0, kind)
    if zeros == len(some):
        zeros = len(some) - 1
    n = len(some) - zeros - 1
    companion = np.zeros((n, n), kind)
    for i in range(n):
        companion[0, i] = -np.true_divide(convert(some[i + 1], kind), convert(some[0], kind))
        if i > 0:
            companion[i, i - 1] = 1
    result = np.zeros(n + zeros, kind)
    if n > 0:
        result[:n] = eigvals(companion)
    return result


def polyfit(x, y, deg):
    """Least squares, by columns of one size."""
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    kind = double_of(result_type(x))
    left = np.vander(convert(x, kind), deg + 1)
    scale = np.sqrt((left * left).sum(axis=0))
    c = lstsq(left / scale, y, len(x) * 2.0**-52)[0]
    return (c.T / scale).T


FUNCTIONS = {
    "numpy.polyadd": poly1d_add,
    "numpy.polyder": poly1d_der,
    "numpy.polyfit": polyfit,
    "numpy.polymul": poly1d_mul,
    "numpy.polynomial.polynomial.polyadd": polyadd,
    "numpy.polynomial.polynomial.polydiv": polydiv,
    "numpy.polynomial.polynomial.polyint": polyint,
    "numpy.polynomial.polynomial.polymul": polymul,
    "numpy.polynomial.polynomial.polysub": polysub,
    "numpy.polynomial.polynomial.polyval": polyval,
    "numpy.polynomial.polyutils.trimseq": trimseq,
    "numpy.polysub": poly1d_sub,
    "numpy.polyval": poly1d_val,
    "numpy.roots": roots,
}
