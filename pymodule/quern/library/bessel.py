"""Bessel functions of cuda.libdevice: of whole order by recurrences from those of order 0 and 1, modified ones by their series.
Where a function has no value they follow CUDA: nan for a negative order, -inf for y(n, 0), nan for y of a negative number."""
import math

import numpy as np

from .primitives import bessel_j0, bessel_j1, bessel_y0, bessel_y1


def j1(x):
    return bessel_j1(x) if x != 0.0 else x  # ocml forgets the sign of -0.0


def _small(n, x):
    """J of an order above the argument: Miller's recurrence from an order where it is nothing, down to 0, scaled by
    J0 + 2 (J2 + J4 + ...) = 1."""
    order = np.float64(n)
    k = 2.0 * np.floor((order + 20.0 + 5.0 * math.sqrt(order)) * 0.5)
    above = 0.0
    here = 1e-290
    total = 0.0
    found = 0.0
    even = False
    while k > 0.0:
        below = k * (2.0 / x) * here - above
        above = here
        here = below
        k -= 1.0
        if abs(here) > 1e200:
            here *= 1e-200
            above *= 1e-200
            found *= 1e-200
            total *= 1e-200
        if even:
            total += here
        even = not even
        if k == order:
            found = here
    return found / (2.0 * total - here)


def jn(n, x):
    x = np.float64(x)
    if n < 0 or math.isnan(x):
        return math.nan
    if n == 0:
        return bessel_j0(x)
    if n == 1:
        return j1(x)
    if x == 0.0 or math.isinf(x):
        return 0.0
    size = abs(x)
    if size > np.float64(n):
        before = bessel_j0(size)
        here = bessel_j1(size)
        for k in range(1, n):
            before, here = here, k * 2.0 / size * here - before
    elif size < 1e-8:  # all but the first term of the series are nothing
        here = 1.0
        for k in range(1, n + 1):
            here *= size / (2.0 * k)
            if here == 0.0:
                break
    else:
        here = np.float64(_small(n, size))
    return -here if x < 0.0 and n & 1 else here


def yn(n, x):
    x = np.float64(x)
    if n < 0 or math.isnan(x) or x < 0.0:
        return math.nan
    if x == 0.0:
        return -math.inf
    if math.isinf(x):
        return 0.0
    if n == 0:
        return bessel_y0(x)
    before = bessel_y0(x)
    here = bessel_y1(x)
    for k in range(1, n):
        before, here = here, k * 2.0 / x * here - before
        if here == -math.inf:
            break
    return here


_LARGE = 32.0  # from here on the asymptotic series is exact before its terms grow again


def _asymptotic(x, squared):
    """e ** x / sqrt(2 pi x) times a sum; squared: 4 times the order's square."""
    total = 1.0
    term = 1.0
    for k in range(1, 60):
        odd = 2.0 * k - 1.0
        term *= (odd * odd - squared) / (8.0 * x * k)
        total += term
        if abs(term) < 1e-18:
            break
    half = math.exp(0.5 * x)
    return half * (total / math.sqrt(6.283185307179586 * x)) * half


def _series(quarter, order):
    """The sum of quarter ** k / (k! (k + order)!), in which all terms are positive."""
    total = 1.0
    term = 1.0
    for k in range(1, 400):
        term *= quarter / (k * (k + order))
        total += term
        if term <= total * 1e-18:
            break
    return total


def i0(x):
    size = abs(np.float64(x))
    if not size < math.inf:
        return size
    return _asymptotic(size, 0.0) if size > _LARGE else _series(0.25 * size * size, 0.0)


def i1(x):
    x = np.float64(x)
    size = abs(x)
    if not size < math.inf:
        return x
    result = _asymptotic(size, 4.0) if size > _LARGE else 0.5 * size * _series(0.25 * size * size, 1.0)
    return math.copysign(result, x)
