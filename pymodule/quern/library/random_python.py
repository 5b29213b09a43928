"""Random numbers of the module `random`: in compiled code each thread has a generator of its own.

random.seed() of compiled code seeds it; for one seed the numbers are those of CPython."""

import math

import numpy as np

from .primitives import convert, random_double, random_keep, random_kept, random_seed, random_word

OURS = 1  # as codegen/random.h numbers them
FULL_TURN = 2.0 * math.pi
KINDERMAN_MONAHAN = 4 * math.exp(-0.5) / math.sqrt(2.0)
LOG_4 = math.log(4.0)
CHENG = 1.0 + math.log(4.5)


def seed(a=None):
    words = np.zeros(2, np.uint32)
    if a is None:
        random_seed(OURS, words, -1)
    else:
        size = convert(a if a >= 0 else -a, np.uint64)
        words[0] = convert(size & np.uint64(0xFFFFFFFF), np.uint32)
        words[1] = convert(size >> np.uint64(32), np.uint32)
        random_seed(OURS, words, 1 if words[1] == 0 else 2)


def random():
    return random_double(OURS)


# -- ints ------------------------------------------------------------------------------------------------------


def bits(k):
    """0 .. 2 ** k - 1, a uint64; 1 <= k <= 64."""
    if k <= 32:
        return convert(random_word(OURS) >> (32 - k), np.uint64)
    low = convert(random_word(OURS), np.uint64)
    return low | convert(random_word(OURS) >> (64 - k), np.uint64) << np.uint64(32)


def getrandbits(k):
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    if k > 64:
        raise OverflowError("more than 64 bits do not fit")
    return np.uint64(0) if k == 0 else bits(k)


def width_of(n):
    k = 0
    while n > 0:
        n >>= 1
        k += 1
    return k


def below(n):
    """0 .. n - 1"""
    k = width_of(n)
    x = bits(k)
    while x >= convert(n, np.uint64):
        x = bits(k)
    return convert(x, np.int64)


def randrange(start, stop=None, step=1):
    first = 0 if stop is None else start
    last = start if stop is None else stop
    if step == 0:
        raise ValueError("zero step for randrange()")
    n = (last - first + step - 1) // step if step > 0 else (last - first + step + 1) // step
    if n <= 0:
        raise ValueError("empty range for randrange()")
    return first + step * below(n)


def randint(a, b):
    if b < a:
        raise ValueError("empty range for randint()")
    return a + below(b - a + 1)


def choice(seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[below(len(seq))]


def shuffle(x):
    for i in range(len(x) - 1, 0, -1):
        j = below(i + 1)
        item = x[i]
        x[i] = x[j]
        x[j] = item


# -- real numbers ----------------------------------------------------------------------------------------------


def uniform(a, b):
    return a + (b - a) * random()


def triangular(low=0.0, high=1.0, mode=None):
    u = random()
    if high == low:
        return float(low)
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        return high + (low - high) * math.sqrt((1.0 - u) * (1.0 - c))
    return low + (high - low) * math.sqrt(u * c)


def normalvariate(mu=0.0, sigma=1.0):
    while True:
        u = random()
        v = 1.0 - random()
        z = KINDERMAN_MONAHAN * (u - 0.5) / v
        if z * z / 4.0 <= -math.log(v):
            return mu + z * sigma


def gauss(mu=0.0, sigma=1.0):
    """Two at once: the second is kept."""
    z = random_kept(OURS)
    if z != z:
        turn = random() * FULL_TURN
        radius = math.sqrt(-2.0 * math.log(1.0 - random()))
        z = math.cos(turn) * radius
        random_keep(OURS, math.sin(turn) * radius)
    return mu + z * sigma


def lognormvariate(mu, sigma):
    return math.exp(normalvariate(mu, sigma))


def expovariate(lambd=1.0):
    return -math.log(1.0 - random()) / lambd


def vonmisesvariate(mu, kappa):
    if kappa <= 1e-6:
        return FULL_TURN * random()
    s = 0.5 / kappa
    r = s + math.sqrt(1.0 + s * s)
    while True:
        z = math.cos(math.pi * random())
        d = z / (r + z)
        u = random()
        if u < 1.0 - d * d or u <= (1.0 - d) * math.exp(d):
            break
    q = 1.0 / r
    angle = math.acos((q + z) / (1.0 + q * z))
    return (mu + angle) % FULL_TURN if random() > 0.5 else (mu - angle) % FULL_TURN


def many_gamma(alpha):
    root = math.sqrt(2.0 * alpha - 1.0)
    b = alpha - LOG_4
    c = alpha + root
    while True:
        u = random()
        if not 1e-7 < u < 0.9999999:
            continue
        w = 1.0 - random()
        v = math.log(u / (1.0 - u)) / root
        x = alpha * math.exp(v)
        z = u * u * w
        r = b + c * v - x
        if r + CHENG - 4.5 * z >= 0.0 or r >= math.log(z):
            return x


def few_gamma(alpha):
    b = (math.e + alpha) / math.e
    while True:
        p = b * random()
        x = math.pow(p, 1.0 / alpha) if p <= 1.0 else -math.log((b - p) / alpha)
        u = random()
        if p > 1.0:
            if u <= math.pow(x, alpha - 1.0):
                return x
        elif u <= math.exp(-x):
            return x


def gammavariate(alpha, beta):
    if alpha <= 0.0 or beta <= 0.0:
        raise ValueError("gammavariate: alpha and beta must be > 0.0")
    if alpha == 1.0:
        return -math.log(1.0 - random()) * beta
    return (many_gamma(alpha) if alpha > 1.0 else few_gamma(alpha)) * beta


def betavariate(alpha, beta):
    y = gammavariate(alpha, 1.0)
    return y / (y + gammavariate(beta, 1.0)) if y else 0.0


def paretovariate(alpha):
    return math.pow(1.0 - random(), -1.0 / alpha)


def weibullvariate(alpha, beta):
    return alpha * math.pow(-math.log(1.0 - random()), 1.0 / beta)


FUNCTIONS = {f"random.{function.__name__}": function for function in (
    betavariate, choice, expovariate, gammavariate, gauss, getrandbits, lognormvariate, normalvariate, paretovariate, randint, random,
    randrange, seed, shuffle, triangular, uniform, vonmisesvariate, weibullvariate)}
