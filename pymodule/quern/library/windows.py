"""Windows for signals, the Bessel function of one of them, phases without jumps."""

import math

import numpy as np

from .creation import as_array
from .primitives import convert, known, map, result_type
from .shapes import axis_of, on_axis


def points(M):
    """1 - M, 3 - M ... M - 1"""
    return np.arange(1 - M, M, 2, np.float64)


def cosine(n, M, first, second, third):
    x = math.pi * n / (M - 1)
    return first + second * math.cos(x) + third * math.cos(2 * x)


def cosines(M, first, second, third):
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    return map(cosine, points(M), M, first, second, third)


def bartlett_at(n, M):
    return 1 + n / (M - 1) if n <= 0 else 1 - n / (M - 1)


def bartlett(M):
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    return map(bartlett_at, points(M), M)


def blackman(M):
    return cosines(M, 0.42, 0.5, 0.08)


def hamming(M):
    return cosines(M, 0.54, 0.46, 0.0)


def hanning(M):
    return cosines(M, 0.5, 0.5, 0.0)


def bessel(x):
    """The modified Bessel function of order 0: the sum of (x / 2) ** 2k / k! ** 2, in which all terms are positive."""
    if x != x:
        return x
    quarter = x * x * 0.25
    total = 1.0
    term = 1.0
    k = 1.0
    while term > total * 1e-17 and total < math.inf:
        term *= quarter / (k * k)
        total += term
        k += 1.0
    return total


def i0(x):
    return map(bessel, convert(as_array(x), np.float64))


def kaiser_at(n, M, beta):
    middle = (M - 1) / 2.0
    x = (n - middle) / middle
    return bessel(beta * math.sqrt(max(1 - x * x, 0.0))) / bessel(beta)


def kaiser(M, beta):
    if M < 1:
        return np.zeros(0)
    if M == 1:
        return np.ones(1)
    return map(kaiser_at, np.arange(0, M, 1, np.float64), M, convert(beta, np.float64))


# -- phases -----------------------------------------------------------------------------------------------------------------


def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    if not known(axis):
        return on_axis(unwrap_along, as_array(p), axis, (discont, period))
    return unwrap_along(as_array(p), axis, discont, period)


def unwrap_along(a, axis, discont, period):
    at = axis_of(axis, a.ndim)
    kind = result_type(a, period)
    whole = kind.kind == "i" or kind.kind == "u"
    jump = period / 2 if discont is None else discont
    differences = np.diff(convert(a, kind), axis=at)
    result = np.empty(a.shape, kind)
    result[...] = a
    if a.shape[at] > 1:
        rest = (slice(None),) * at + (slice(1, None),)
        if whole:
            result[rest] += np.cumsum(map(corrected_int, differences, period, jump), axis=at)
        else:
            result[rest] += np.cumsum(map(corrected_float, differences, period, jump), axis=at)
    return result


def corrected_int(difference, period, jump):
    """Half of an odd period is between two ints: then no difference is ambiguous."""
    half = period // 2
    wrapped = (difference + half) % period - half
    if period % 2 == 0 and wrapped == -half and difference > 0:
        wrapped = half
    return wrapped - difference if abs(difference) >= jump else 0


def corrected_float(difference, period, jump):
    half = convert(period, result_type(difference)) / 2
    wrapped = np.subtract(np.remainder(np.add(difference, half), convert(period, result_type(difference))), half)
    if wrapped == -half and difference > 0:
        wrapped = half
    return np.subtract(wrapped, difference) if np.abs(difference) >= jump else np.subtract(difference, difference)


FUNCTIONS = {
    "numpy.bartlett": bartlett,
    "numpy.blackman": blackman,
    "numpy.hamming": hamming,
    "numpy.hanning": hanning,
    "numpy.i0": i0,
    "numpy.kaiser": kaiser,
    "numpy.unwrap": unwrap,
}
