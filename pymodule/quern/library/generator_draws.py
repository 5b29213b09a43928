"""One number of each distribution, bit by bit as NumPy's Generator draws it since NumPy 2.4. `g` is the bit generator."""

import numpy as np

from .distributions import chisquare, gauss, many_binomial, normal, poisson, unit_exponential, unit_gamma
from .generator_words import gauss_32, next_float, unit_exponential_32
from .primitives import convert, next_double

# -- normal and exponential -----------------------------------------------------------------------------------


def lognormal(g, mean, sigma):
    return np.exp(normal(g, mean, sigma))


# -- gamma and what is made of it -----------------------------------------------------------------------------


def small_gamma_32(g, shape):
    one = np.float32(1)
    while True:
        u = next_float(g)
        v = unit_exponential_32(g)
        if u <= one - shape:
            x = np.power(u, one / shape)
            if x <= v:
                return x
        else:
            y = -np.log((one - u) / shape)
            x = np.power(one - shape + shape * y, one / shape)
            if x <= v + y:
                return x


def large_gamma_32(g, shape):
    one = np.float32(1)
    half = np.float32(0.5)
    b = shape - one / np.float32(3)
    c = one / np.sqrt(np.float32(9) * b)
    while True:
        x = gauss_32(g)
        v = one + c * x
        while v <= np.float32(0):
            x = gauss_32(g)
            v = one + c * x
        v = v * v * v
        u = next_float(g)
        if u < one - np.float32(0.0331) * (x * x) * (x * x):
            return b * v
        if np.log(u) < half * x * x + b * (one - v + np.log(v)):
            return b * v


def unit_gamma_32(g, shape):
    if shape == np.float32(1):
        return unit_exponential_32(g)
    if shape == np.float32(0):
        return np.float32(0)
    return small_gamma_32(g, shape) if shape < np.float32(1) else large_gamma_32(g, shape)


def beta(g, a, b):
    if not (a <= 1.0 and b <= 1.0):
        first = unit_gamma(g, a)
        return np.divide(first, first + unit_gamma(g, b))
    if a < 3e-103 and b < 3e-103:
        return 1.0 if (a + b) * next_double(g) < a else 0.0
    while True:
        u = next_double(g)
        x = np.power(u, 1.0 / a)  # not beside the other: two at once are less exact
        v = next_double(g)
        y = np.power(v, 1.0 / b)
        both = x + y
        if both <= 1.0 and u + v > 0.0:
            if x > 0 and y > 0:
                return x / both
            return share_of_logarithms(np.log(u) / a - np.log(v) / b)


def share_of_logarithms(difference):
    """x / (x + y) of numbers that are too small for floats: of log(x) - log(y)."""
    if difference > 0:
        return np.exp(-np.log1p(np.exp(-difference)))
    return np.exp(difference - np.log1p(np.exp(difference)))


def noncentral_chisquare(g, df, nonc):
    if np.isnan(nonc):
        return nonc
    if nonc == 0:
        return chisquare(g, df)
    if 1 < df:
        squares = chisquare(g, df - 1)
        x = gauss(g) + np.sqrt(nonc)
        return squares + x * x
    return chisquare(g, df + 2.0 * poisson(g, nonc / 2.0))


def f(g, dfnum, dfden):
    above = chisquare(g, dfnum) * dfden
    return np.divide(above, chisquare(g, dfden) * dfnum)


def noncentral_f(g, dfnum, dfden, nonc):
    above = noncentral_chisquare(g, dfnum, nonc) * dfden
    return np.divide(above, chisquare(g, dfden) * dfnum)


def standard_t(g, df):
    x = gauss(g)
    size = unit_gamma(g, df / 2)
    return np.divide(np.sqrt(df / 2) * x, np.sqrt(size))


# -- by inversion ---------------------------------------------------------------------------------------------


def cauchy(g):
    x = gauss(g)
    return np.divide(x, gauss(g))


def pareto(g, a):
    return np.expm1(unit_exponential(g) / a)


def power(g, a):
    return np.power(-np.expm1(-unit_exponential(g)), 1.0 / a)


def rayleigh(g, scale):
    return scale * np.sqrt(2.0 * unit_exponential(g))


def triangular(g, left, mode, right):
    base = right - left
    below = mode - left
    u = next_double(g)
    if u <= np.divide(below, base):
        return left + np.sqrt(u * (below * base))
    return right - np.sqrt((1.0 - u) * ((right - mode) * base))


def wald(g, mean, scale):
    y = gauss(g)
    y = mean * y * y
    x = mean * (1.0 - 2.0 / (1.0 + np.sqrt(1.0 + np.divide(4.0 * scale, y))))
    u = next_double(g)
    return x if u <= np.divide(mean, mean + x) else np.divide(mean * mean, x)


def near_mode(g, mu, kappa):
    """Of so narrow ones: a normal distribution that is wound round the circle."""
    x = mu + np.sqrt(1.0 / kappa) * gauss(g)
    if x < -np.pi:
        x += 2 * np.pi
    if x > np.pi:
        x -= 2 * np.pi
    return x


def width_of_circle(kappa):
    if kappa < 1e-5:
        return 1.0 / kappa + kappa
    r = 1 + np.sqrt(1 + 4 * kappa * kappa)
    rho = (r - np.sqrt(2 * r)) / (2 * kappa)
    return (1 + rho * rho) / (2 * rho)


def vonmises(g, mu, kappa):
    if np.isnan(kappa):
        return kappa
    if kappa < 1e-8:
        return np.pi * (2 * next_double(g) - 1)
    if kappa > 1e6:
        return near_mode(g, mu, kappa)
    s = width_of_circle(kappa)
    while True:
        z = np.cos(np.pi * next_double(g))
        w = np.divide(1 + s * z, s + z)
        y = kappa * (s - w)
        v = next_double(g)
        if y * (2 - y) - v >= 0 or np.log(np.divide(y, v)) + 1 - y >= 0:
            break
    angle = np.arccos(w)
    if next_double(g) < 0.5:
        angle = -angle
    angle += mu
    size = np.fmod(abs(angle) + np.pi, 2 * np.pi) - np.pi
    return -size if angle < 0 else size


# -- ints -----------------------------------------------------------------------------------------------------


def few_binomial(g, n, p):
    q = 1.0 - p
    none = np.exp(n * np.log1p(-p))
    mean = n * p
    bound = int(min(float(n), mean + 10.0 * np.sqrt(mean * q + 1)))
    x = 0
    px = none
    u = next_double(g)
    while u > px:
        x += 1
        if x > bound:
            x = 0
            px = none
            u = next_double(g)
        else:
            u -= px
            px = ((n - x + 1) * p * px) / (x * q)
    return x


def binomial(g, n, p):
    if n == 0 or p == 0.0:
        return 0
    r = p if p <= 0.5 else 1.0 - p
    y = few_binomial(g, n, r) if r * n <= 30.0 else many_binomial(g, n, r)
    return y if p <= 0.5 else n - y


def geometric(g, p):
    if p < 0.333333333333333333333333:
        z = np.ceil(np.divide(-unit_exponential(g), np.log1p(-p)))
        return 9223372036854775807 if z >= 9.223372036854776e+18 else int(z)
    x = 1
    total = p
    term = p
    u = next_double(g)
    while u > total:
        term *= 1.0 - p
        total += term
        x += 1
    return x


def zipf(g, a):
    if a >= 1025:
        return 1
    b = np.power(2.0, a - 1.0)
    least = np.power(9223372036854775807.0, -(a - 1.0))
    while True:
        start = next_double(g)
        u = start * least + (1 - start)
        v = next_double(g)
        x = np.floor(np.power(u, -1.0 / (a - 1.0)))
        if x > 9223372036854775807.0 or x < 1.0:
            continue
        t = np.power(1.0 + 1.0 / x, a - 1.0)
        if np.divide(v * x * (t - 1.0), b - 1.0) <= t / b:
            return convert(x, np.int64)


def logseries(g, p):
    r = np.log1p(-p)
    while True:
        v = next_double(g)
        if v >= p:
            return 1
        q = -np.expm1(r * next_double(g))
        if v <= q * q:
            x = np.floor(1 + np.divide(np.log(v), np.log(q)))
            if x < 1 or v == 0.0:
                continue
            return int(x)
        return 1 if v >= q else 2
