"""One number of each distribution, bit by bit as NumPy's RandomState draws it: the methods that were fixed when that was frozen. `g` is
the generator, as codegen/random.h numbers them."""

import math

import numpy as np

from .primitives import convert, random_double, random_keep, random_kept, random_word

# -- words ----------------------------------------------------------------------------------------------------


def mask_of(limit):
    """The least 2 ** k - 1 that is not below the limit, a uint64."""
    mask = limit | limit >> np.uint64(1)
    mask |= mask >> np.uint64(2)
    mask |= mask >> np.uint64(4)
    mask |= mask >> np.uint64(8)
    mask |= mask >> np.uint64(16)
    return mask | mask >> np.uint64(32)


def long_word(g):
    high = convert(random_word(g), np.uint64)
    return high << np.uint64(32) | convert(random_word(g), np.uint64)


def up_to(g, limit):
    """0 .. limit, a uint64: words without their high bits, until one fits."""
    if limit == 0:
        return limit
    mask = mask_of(limit)
    short = limit <= np.uint64(0xFFFFFFFF)
    while True:
        word = (convert(random_word(g), np.uint64) if short else long_word(g)) & mask
        if word <= limit:
            return word


def between(g, low, high):
    """low .. high - 1"""
    return low + convert(up_to(g, convert(high - 1, np.uint64) - convert(low, np.uint64)), np.int64)


# -- normal and exponential -----------------------------------------------------------------------------------


def gauss(g):
    """Two by the polar method: the second is kept."""
    kept = random_kept(g)
    if kept == kept:
        return kept
    while True:
        x = 2.0 * random_double(g) - 1.0
        y = 2.0 * random_double(g) - 1.0
        size = x * x + y * y
        if 0.0 < size < 1.0:
            break
    factor = math.sqrt(-2.0 * math.log(size) / size)
    random_keep(g, factor * x)
    return factor * y


def normal(g, loc, scale):
    return loc + scale * gauss(g)


def lognormal(g, mean, sigma):
    return np.exp(mean + sigma * gauss(g))


def unit_exponential(g):
    return -np.log(1.0 - random_double(g))


def exponential(g, scale):
    return scale * unit_exponential(g)


# -- gamma and what is made of it -----------------------------------------------------------------------------


def small_gamma(g, shape):
    while True:
        u = random_double(g)
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
        u = random_double(g)
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


def chisquare(g, df):
    return 2.0 * unit_gamma(g, df / 2.0)


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


def uniform(g, low, width):
    return low + width * random_double(g)


def pareto(g, a):
    return np.exp(unit_exponential(g) / a) - 1


def weibull(g, a):
    return 0.0 if a == 0.0 else np.power(unit_exponential(g), 1.0 / a)


def power(g, a):
    return np.power(1 - np.exp(-unit_exponential(g)), 1.0 / a)


def rayleigh(g, scale):
    return scale * np.sqrt(-2.0 * np.log1p(-random_double(g)))


def laplace(g, loc, scale):
    u = random_double(g)
    while u <= 0.0:
        u = random_double(g)
    return loc - scale * np.log(2.0 - u - u) if u >= 0.5 else loc + scale * np.log(u + u)


def gumbel(g, loc, scale):
    u = 1.0 - random_double(g)
    while u >= 1.0:
        u = 1.0 - random_double(g)
    return loc - scale * np.log(-np.log(u))


def logistic(g, loc, scale):
    u = random_double(g)
    while u <= 0.0:
        u = random_double(g)
    return loc + scale * np.log(u / (1.0 - u))


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


def few_poisson(g, lam):
    limit = np.exp(-lam)
    count = 0
    product = random_double(g)
    while product > limit:
        count += 1
        product *= random_double(g)
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
        u = random_double(g) - 0.5
        v = random_double(g)
        us = 0.5 - abs(u)
        k = np.floor((2 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= accepted:
            return int(k)
        if k < 0 or (us < 0.013 and v > us):
            continue
        if np.log(v) + np.log(inverse) - np.log(a / (us * us) + b) <= -lam + k * log_lam - math.lgamma(k + 1):
            return int(k)


def poisson(g, lam):
    if lam >= 10:
        return many_poisson(g, lam)
    return 0 if lam == 0 else few_poisson(g, lam)


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


def tail(x):
    """What Stirling's formula leaves out."""
    square = x * x
    return (13680.0 - (462.0 - (132.0 - (99.0 - 140.0 / square) / square) / square) / square) / x / 166320.0


def is_binomial(n, m, y, r, q, xm, v):
    """Is the place v below the probability of y?"""
    s = r / q
    k = abs(y - m)
    spread = n * r * q
    if k <= 20 or k >= spread / 2.0 - 1:
        a = s * (n + 1)
        ratio = 1.0
        for i in range(m + 1, y + 1):
            ratio *= a / i - s
        for i in range(y + 1, m + 1):
            ratio /= a / i - s
        return v <= ratio
    rho = (k / spread) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / spread + 0.5)
    t = -k * k / (2 * spread)
    log_v = np.log(v)
    if log_v < t - rho:
        return True
    if log_v > t + rho:
        return False
    x1 = y + 1.0
    f1 = m + 1.0
    z = n + 1.0 - m
    w = n - y + 1.0
    stirling = tail(f1) + tail(z) + tail(x1) + tail(w)
    return log_v <= xm * np.log(f1 / x1) + (n - m + 0.5) * np.log(z / w) + (y - m) * np.log(w * r / (x1 * q)) + stirling


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
        u = random_double(g) * p4
        v = random_double(g)
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
        if is_binomial(n, m, y, r, q, xm, v):
            return y


def binomial(g, n, p):
    r = p if p <= 0.5 else 1.0 - p
    y = few_binomial(g, n, r) if r * n <= 30.0 else many_binomial(g, n, r)
    return y if p <= 0.5 else n - y


def negative_binomial(g, n, p):
    return poisson(g, gamma(g, n, (1 - p) / p))


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
