"""What NumPy's Generator makes every number of: bounded ints, and the normal and exponential distributions by ziggurats. `g` is the
bit generator."""

import numpy as np

from . import ziggurat
from .primitives import convert, load, next_double, next_uint32, next_uint64
from .random_words import mask_of

_CORRECTED = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (2, 5)  # the test of binomial() at the tails
NORMAL_TAIL = 3.6541528853610088
NORMAL_TAIL_INVERSE = 0.27366123732975828
EXPONENTIAL_TAIL = 7.6971174701310497


def next_float(g):
    return convert(next_uint32(g) >> 8, np.float32) * np.float32(1.0 / 16777216.0)


def below_2_32(g, last):
    """0 .. last, a uint64, by Lemire's multiplication; `last` is a uint64 below 2 ** 32 - 1."""
    count = last + np.uint64(1)
    product = convert(next_uint32(g), np.uint64) * count
    rest = product & np.uint64(0xFFFFFFFF)
    if rest < count:
        threshold = (np.uint64(0xFFFFFFFF) - last) % count
        while rest < threshold:
            product = convert(next_uint32(g), np.uint64) * count
            rest = product & np.uint64(0xFFFFFFFF)
    return product >> np.uint64(32)


def high_half(a, b):
    """The upper 64 bits of the product of two uint64."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    a0 = a & low
    a1 = a >> half
    b0 = b & low
    b1 = b >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    return a1 * b1 + (middle >> half) + ((middle & low) + a0 * b1 >> half)


def below_2_64(g, last):
    """The same; `last` is below 2 ** 64 - 1."""
    count = last + np.uint64(1)
    word = next_uint64(g)
    rest = word * count
    if rest < count:
        threshold = (np.uint64(0xFFFFFFFFFFFFFFFF) - last) % count
        while rest < threshold:
            word = next_uint64(g)
            rest = word * count
    return high_half(word, count)


def up_to(g, last):
    """0 .. last, a uint64."""
    if last == np.uint64(0):
        return last
    if last < np.uint64(0xFFFFFFFF):
        return below_2_32(g, last)
    if last == np.uint64(0xFFFFFFFF):
        return convert(next_uint32(g), np.uint64)
    if last == np.uint64(0xFFFFFFFFFFFFFFFF):
        return next_uint64(g)
    return below_2_64(g, last)


def masked(g, last):
    """0 .. last, a uint64: words without their high bits, until one fits. What shuffles."""
    if last == np.uint64(0):
        return last
    mask = mask_of(last)
    while True:
        word = (convert(next_uint32(g), np.uint64) if last <= np.uint64(0xFFFFFFFF) else next_uint64(g)) & mask
        if word <= last:
            return word


def short_word(g, bits, word, left):
    """Several short ints are cut from one word: the word, which has the next one at its end, and how many are left in it."""
    if left == 0:
        return convert(next_uint32(g), np.uint64), 32 // bits - 1
    return word >> np.uint64(bits), left - 1


def short_up_to(g, bits, last, word, left):
    """0 .. last, a uint64, of 1, 8 or 16 bits; and what is left of the word."""
    if last == np.uint64(0):
        return last, word, left
    most = np.uint64((1 << bits) - 1)
    word, left = short_word(g, bits, word, left)
    if last == most:
        return word & most, word, left
    count = last + np.uint64(1)
    product = (word & most) * count
    if product & most < count:
        threshold = (most - last) % count
        while product & most < threshold:
            word, left = short_word(g, bits, word, left)
            product = (word & most) * count
    return product >> np.uint64(bits), word, left


def normal_tail(g, negative):
    while True:
        x = -NORMAL_TAIL_INVERSE * np.log1p(-next_double(g))
        y = -np.log1p(-next_double(g))
        if y + y > x * x:
            return -(NORMAL_TAIL + x) if negative else NORMAL_TAIL + x


def gauss(g):
    while True:
        word = next_uint64(g)
        layer = convert(word & np.uint64(0xFF), np.int64)
        size = word >> np.uint64(9) & np.uint64(0xFFFFFFFFFFFFF)
        x = convert(convert(size, np.int64), np.float64) * load(ziggurat.NORMAL_WIDTH, layer)
        if word & np.uint64(0x100) != np.uint64(0):
            x = -x
        if size < load(ziggurat.NORMAL_INNER, layer):
            return x
        if layer == 0:
            return normal_tail(g, size & np.uint64(0x100) != np.uint64(0))
        below = load(ziggurat.NORMAL_HEIGHT, layer)
        if (load(ziggurat.NORMAL_HEIGHT, layer - 1) - below) * next_double(g) + below < np.exp(-0.5 * x * x):
            return x


def normal_tail_32(g, negative):
    tail = np.float32(NORMAL_TAIL)
    while True:
        x = -np.float32(NORMAL_TAIL_INVERSE) * np.log1p(-next_float(g))
        y = -np.log1p(-next_float(g))
        if y + y > x * x:
            return -(tail + x) if negative else tail + x


def gauss_32(g):
    while True:
        word = convert(next_uint32(g), np.int64)
        layer = word & 0xFF
        size = word >> 9
        x = convert(size, np.float32) * load(ziggurat.NORMAL_WIDTH_32, layer)
        if word & 0x100:
            x = -x
        if size < convert(load(ziggurat.NORMAL_INNER_32, layer), np.int64):
            return x
        if layer == 0:
            return normal_tail_32(g, size & 0x100 != 0)
        below = load(ziggurat.NORMAL_HEIGHT_32, layer)
        height = (load(ziggurat.NORMAL_HEIGHT_32, layer - 1) - below) * next_float(g) + below
        wide = np.float64(x)
        if np.float64(height) < np.exp(-0.5 * wide * wide):
            return x


def unit_exponential(g):
    while True:
        word = next_uint64(g) >> np.uint64(3)
        layer = convert(word & np.uint64(0xFF), np.int64)
        word >>= np.uint64(8)
        x = convert(convert(word, np.int64), np.float64) * load(ziggurat.EXPONENTIAL_WIDTH, layer)
        if word < load(ziggurat.EXPONENTIAL_INNER, layer):
            return x
        if layer == 0:
            return EXPONENTIAL_TAIL - np.log1p(-next_double(g))
        below = load(ziggurat.EXPONENTIAL_HEIGHT, layer)
        if (load(ziggurat.EXPONENTIAL_HEIGHT, layer - 1) - below) * next_double(g) + below < np.exp(-x):
            return x


def unit_exponential_32(g):
    while True:
        word = convert(next_uint32(g), np.int64) >> 1
        layer = word & 0xFF
        word >>= 8
        x = convert(word, np.float32) * load(ziggurat.EXPONENTIAL_WIDTH_32, layer)
        if word < convert(load(ziggurat.EXPONENTIAL_INNER_32, layer), np.int64):
            return x
        if layer == 0:
            return np.float32(EXPONENTIAL_TAIL) - np.log1p(-next_float(g))
        below = load(ziggurat.EXPONENTIAL_HEIGHT_32, layer)
        if (load(ziggurat.EXPONENTIAL_HEIGHT_32, layer - 1) - below) * next_float(g) + below < np.exp(-x):
            return x


def inverse_exponential(g):
    return -np.log1p(-next_double(g))


def inverse_exponential_32(g):
    return convert(-np.log1p(-np.float64(next_float(g))), np.float32)


def tail(x):
    """What Stirling's formula leaves out."""
    square = x * x
    first = 13860.0 if _CORRECTED else 13680.0
    return (first - (462.0 - (132.0 - (99.0 - 140.0 / square) / square) / square) / square) / x / 166320.0


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
    x1 = float(y) + 1
    f1 = float(m) + 1
    z = float(n) + 1 - float(m)
    w = float(n) - float(y) + 1
    total = xm * np.log(f1 / x1) + (n - m + 0.5) * np.log(z / w) + (y - m) * np.log(w * r / (x1 * q)) + tail(f1) + tail(z)
    return log_v <= (total - tail(x1) - tail(w) if _CORRECTED else total + tail(x1) + tail(w))
