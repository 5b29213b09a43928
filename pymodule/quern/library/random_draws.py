"""One number of each distribution, bit by bit as NumPy's RandomState draws it: the methods that were fixed when that was frozen. `g` is
the generator, as codegen/random.h numbers them."""

import math

import numpy as np

from .distributions import chisquare, gauss, many_binomial, normal, poisson, unit_exponential, unit_gamma
from .primitives import random_double

# -- normal and exponential -----------------------------------------------------------------------------------


def lognormal(g, mean, sigma):
    return np.exp(mean + sigma * gauss(g))


# -- gamma and what is made of it -----------------------------------------------------------------------------


def beta(g, a, b):
    if a > 1.0 or b > 1.0:
        first = unit_gamma(g, a)
        return first / (first + unit_gamma(g, b))
    while True:
        u = random_double(g)
        x = np.power(u, 1.0 / a)  # not beside the other: two at once are less exact
        v = random_double(g)
        y = np.power(v, 1.0 / b)
        both = x + y
        if both <= 1.0 and u + v > 0.0:
            if both > 0:
                return x / both
            return beta_of_logarithms(np.log(u) / a, np.log(v) / b)


def beta_of_logarithms(x, y):
    """exp(x) / (exp(x) + exp(y)), where both are too small for floats."""
    if x > y:
        return np.exp(-np.log(1.0 + np.exp(y - x)))
    return np.exp(x - y - np.log(np.exp(x - y) + 1.0))


def noncentral_chisquare(g, df, nonc):
    if nonc == 0:
        return chisquare(g, df)
    if df > 1:
        squares = chisquare(g, df - 1)
        x = gauss(g) + np.sqrt(nonc)
        return squares + x * x
    i = poisson(g, nonc / 2.0)
    return chisquare(g, df + 2 * i)


def f(g, dfnum, dfden):
    return chisquare(g, dfnum) * dfden / (chisquare(g, dfden) * dfnum)


def noncentral_f(g, dfnum, dfden, nonc):
    above = noncentral_chisquare(g, dfnum, nonc) * dfden
    return above / (chisquare(g, dfden) * dfnum)


def standard_t(g, df):
    x = gauss(g)
    size = unit_gamma(g, df / 2)
    return np.sqrt(df / 2) * x / np.sqrt(size)


# -- by inversion ---------------------------------------------------------------------------------------------


def cauchy(g):
    x = gauss(g)
    return x / gauss(g)


def pareto(g, a):
    return np.exp(unit_exponential(g) / a) - 1


def power(g, a):
    return np.power(1 - np.exp(-unit_exponential(g)), 1.0 / a)


def rayleigh(g, scale):
    return scale * np.sqrt(-2.0 * np.log1p(-random_double(g)))


def triangular(g, left, mode, right):
    base = right - left
    below = mode - left
    u = random_double(g)
    if u <= below / base:
        return left + np.sqrt(u * (below * base))
    return right - np.sqrt((1.0 - u) * ((right - mode) * base))


def wald(g, mean, scale):
    ratio = mean / (2 * scale)
    y = gauss(g)
    y = mean * y * y
    x = mean + ratio * (y - np.sqrt(4 * scale * y + y * y))
    return x if random_double(g) <= mean / (mean + x) else mean * mean / x


def vonmises(g, mu, kappa):
    if kappa < 1e-8:
        return np.pi * (2 * random_double(g) - 1)
    r = 1 + np.sqrt(1 + 4 * kappa * kappa)
    rho = (r - np.sqrt(2 * r)) / (2 * kappa)
    s = (1 + rho * rho) / (2 * rho)
    while True:
        z = np.cos(np.pi * random_double(g))
        w = (1 + s * z) / (s + z)
        y = kappa * (s - w)
        v = random_double(g)
        if y * (2 - y) - v >= 0 or np.log(y / v) + 1 - y >= 0:
            break
    angle = np.arccos(w)
    if random_double(g) < 0.5:
        angle = -angle
    angle += mu
    size = np.fmod(abs(angle) + np.pi, 2 * np.pi) - np.pi
    return -size if angle < 0 else size


# -- ints -----------------------------------------------------------------------------------------------------


def few_binomial(g, n, p):
    q = 1.0 - p
    none = np.exp(n * np.log(q))
    mean = n * p
    bound = int(min(float(n), mean + 10.0 * np.sqrt(mean * q + 1)))
    x = 0
    px = none
    u = random_double(g)
    while u > px:
        x += 1
        if x > bound:
            x = 0
            px = none
            u = random_double(g)
        else:
            u -= px
            px = ((n - x + 1) * p * px) / (x * q)
    return x


def binomial(g, n, p):
    r = p if p <= 0.5 else 1.0 - p
    y = few_binomial(g, n, r) if r * n <= 30.0 else many_binomial(g, n, r)
    return y if p <= 0.5 else n - y


def geometric(g, p):
    if p < 0.333333333333333333333333:
        return int(np.ceil(np.log1p(-random_double(g)) / np.log(1 - p)))
    x = 1
    total = p
    term = p
    u = random_double(g)
    while u > total:
        term *= 1 - p
        total += term
        x += 1
    return x


def few_hypergeometric(g, good, bad, sample):
    least = min(bad, good)
    y = float(least)
    k = sample
    while y > 0.0:
        u = random_double(g)
        y -= int(np.floor(u + y / (bad + good - sample + k)))
        k -= 1
        if k == 0:
            break
    z = int(least - y)
    return sample - z if good > bad else z


def log_ways(z, least, most, m):
    return math.lgamma(z + 1.0) + math.lgamma(least - z + 1.0) + math.lgamma(m - z + 1.0) + math.lgamma(most - m + z + 1.0)


def many_hypergeometric(g, good, bad, sample):
    """Stadlober's ratio of uniforms."""
    least = min(good, bad)
    most = max(good, bad)
    population = good + bad
    m = min(sample, population - sample)
    part = least / population
    mean = m * part + 0.5
    spread = np.sqrt((population - m) * sample * part * (1.0 - part) / (population - 1) + 0.5)
    width = 1.7155277699214135 * spread + 0.8989161620588988
    peak = log_ways(np.floor((m + 1.0) * (least + 1) / (population + 2)), least, most, m)
    limit = min(min(m, least) + 1.0, np.floor(mean + 16 * spread))
    while True:
        x = random_double(g)
        y = random_double(g)
        w = mean + width * (y - 0.5) / x
        if w < 0.0 or w >= limit:
            continue
        z = int(np.floor(w))
        t = peak - log_ways(float(z), least, most, m)
        if x * (4.0 - x) - 3.0 <= t:
            break
        if x * (x - t) >= 1:
            continue
        if 2.0 * np.log(x) <= t:
            break
    if good > bad:
        z = m - z
    return good - z if m < sample else z


def hypergeometric(g, good, bad, sample):
    if sample > 10:
        return many_hypergeometric(g, good, bad, sample)
    return few_hypergeometric(g, good, bad, sample) if sample > 0 else 0


def zipf(g, a):
    b = np.power(2.0, a - 1.0)
    while True:
        u = 1.0 - random_double(g)
        v = random_double(g)
        x = np.floor(np.power(u, -1.0 / (a - 1.0)))
        if x > 9223372036854775807.0 or x < 1.0:
            continue
        t = np.power(1.0 + 1.0 / x, a - 1.0)
        if v * x * (t - 1.0) / (b - 1.0) <= t / b:
            return int(x)


def logseries(g, p):
    r = np.log1p(-p)
    while True:
        v = random_double(g)
        if v >= p:
            return 1
        q = -np.expm1(r * random_double(g))
        if v <= q * q:
            x = np.floor(1 + np.log(v) / np.log(q))
            if x < 1 or v == 0.0:
                continue
            return int(x)
        return 1 if v >= q else 2
