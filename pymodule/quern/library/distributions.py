"""Distributions that NumPy's RandomState and Generator draw by the same steps. `g` is either: a number of random_words.py, or a bit
generator of generator_words.py, which is known when this is compiled."""

import numpy as np

from . import generator_words, random_words
from .primitives import convert, next_double, random_double

# -- where the two differ -------------------------------------------------------------------------------------


def double(g):
    """A number in [0, 1)."""
    return random_double(g) if isinstance(g, int) else next_double(g)


def gauss(g):
    return random_words.gauss(g) if isinstance(g, int) else generator_words.gauss(g)


def unit_exponential(g):
    return random_words.unit_exponential(g) if isinstance(g, int) else generator_words.unit_exponential(g)


def is_binomial(g, n, m, y, r, q, xm, v):
    """Is the place v below the probability of y?"""
    if isinstance(g, int):
        return random_words.is_binomial(n, m, y, r, q, xm, v)
    return generator_words.is_binomial(n, m, y, r, q, xm, v)


# -- normal, exponential and gamma ----------------------------------------------------------------------------


def normal(g, loc, scale):
    return loc + scale * gauss(g)


def exponential(g, scale):
    return scale * unit_exponential(g)


def small_gamma(g, shape):
    while True:
        u = double(g)
        v = unit_exponential(g)
        if u <= 1.0 - shape:
            x = np.power(u, 1.0 / shape)
            if x <= v:
                return x
        else:
            y = -np.log((1 - u) / shape)
            x = np.power(1.0 - shape + shape * y, 1.0 / shape)
            if x <= v + y:
                return x


def large_gamma(g, shape):
    b = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9 * b)
    while True:
        x = gauss(g)
        v = 1.0 + c * x
        while v <= 0.0:
            x = gauss(g)
            v = 1.0 + c * x
        v = v * v * v
        u = double(g)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if np.log(u) < 0.5 * x * x + b * (1.0 - v + np.log(v)):
            return b * v


def unit_gamma(g, shape):
    if shape == 1.0:
        return unit_exponential(g)
    if shape == 0.0:
        return 0.0
    return small_gamma(g, shape) if shape < 1.0 else large_gamma(g, shape)


def gamma(g, shape, scale):
    return scale * unit_gamma(g, shape)


def chisquare(g, df):
    return 2.0 * unit_gamma(g, df / 2.0)


# -- by inversion ---------------------------------------------------------------------------------------------


def uniform(g, low, width):
    return low + width * double(g)


def weibull(g, a):
    return 0.0 if a == 0.0 else np.power(unit_exponential(g), 1.0 / a)


def laplace(g, loc, scale):
    u = double(g)
    while u <= 0.0:
        u = double(g)
    return loc - scale * np.log(2.0 - u - u) if u >= 0.5 else loc + scale * np.log(u + u)


def gumbel(g, loc, scale):
    u = 1.0 - double(g)
    while u >= 1.0:
        u = 1.0 - double(g)
    return loc - scale * np.log(-np.log(u))


def logistic(g, loc, scale):
    u = double(g)
    while u <= 0.0:
        u = double(g)
    return loc + scale * np.log(u / (1.0 - u))


# -- ints -----------------------------------------------------------------------------------------------------


def log_gamma(x):
    """Stirling's series, from 7 on."""
    if x == 1.0 or x == 2.0:
        return 0.0
    steps = int(7 - x) if x < 7.0 else 0
    x0 = x + steps
    square = (1.0 / x0) * (1.0 / x0)
    total = -1.39243221690590e+00
    for coefficient in (1.796443723688307e-01, -2.955065359477124e-02, 6.410256410256410e-03, -1.917526917526918e-03, 8.417508417508418e-04,
                        -5.952380952380952e-04, 7.936507936507937e-04, -2.777777777777778e-03, 8.333333333333333e-02):
        total = total * square + coefficient
    result = total / x0 + 0.5 * 1.8378770664093453 + (x0 - 0.5) * np.log(x0) - x0
    for _ in range(steps):
        result -= np.log(x0 - 1.0)
        x0 -= 1.0
    return result


def few_poisson(g, lam):
    limit = np.exp(-lam)
    count = 0
    product = double(g)
    while product > limit:
        count += 1
        product *= double(g)
    return count


def many_poisson(g, lam):
    """Hoermann's transformed rejection."""
    root = np.sqrt(lam)
    log_lam = np.log(lam)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    accepted = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = double(g) - 0.5
        v = double(g)
        us = 0.5 - abs(u)
        k = np.floor((np.divide(2 * a, us) + b) * u + lam + 0.43)
        if us >= 0.07 and v <= accepted:
            return convert(k, np.int64)
        if k < 0 or (us < 0.013 and v > us):
            continue
        if np.log(v) + np.log(inverse) - np.log(np.divide(a, us * us) + b) <= -lam + k * log_lam - log_gamma(k + 1):
            return convert(k, np.int64)


def poisson(g, lam):
    if lam >= 10:
        return many_poisson(g, lam)
    return 0 if lam == 0 else few_poisson(g, lam)


def many_binomial(g, n, r):
    """Kachitvichyanukul and Schmeiser's BTPE: a triangle, two parallelograms and two exponential tails."""
    q = 1.0 - r
    fm = n * r + r
    m = int(np.floor(fm))
    p1 = np.floor(2.195 * np.sqrt(n * r * q) - 4.6 * q) + 0.5
    xm = m + 0.5
    xl = xm - p1
    xr = xm + p1
    c = 0.134 + 20.5 / (15.3 + m)
    a = (fm - xl) / (fm - xl * r)
    left = a * (1.0 + a / 2.0)
    a = (xr - fm) / (xr * q)
    right = a * (1.0 + a / 2.0)
    p2 = p1 * (1.0 + 2.0 * c)
    p3 = p2 + c / left
    p4 = p3 + c / right
    while True:
        u = double(g) * p4
        v = double(g)
        if u <= p1:
            return int(np.floor(xm - p1 * v + u))
        if u <= p2:
            x = xl + (u - p1) / c
            v = v * c + 1.0 - abs(m - x + 0.5) / p1
            if v > 1.0:
                continue
            y = int(np.floor(x))
        elif u <= p3:
            x = np.floor(xl + np.log(v) / left)
            if x < 0 or v == 0.0:
                continue
            y = int(x)
            v = v * (u - p2) * left
        else:
            x = np.floor(xr - np.log(v) / right)
            if x > n or v == 0.0:
                continue
            y = int(x)
            v = v * (u - p3) * right
        if is_binomial(g, n, m, y, r, q, xm, v):
            return y


def negative_binomial(g, n, p):
    return poisson(g, gamma(g, n, (1 - p) / p))
