"""What NumPy's RandomState makes every number of: bounded ints, and the normal and exponential distributions that were fixed when
it was frozen. `g` is the generator, as codegen/random.h numbers them."""

import math

import numpy as np

from .primitives import convert, random_double, random_keep, random_kept, random_word


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


def unit_exponential(g):
    return -np.log(1.0 - random_double(g))


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
