"""One number of each distribution, bit by bit as NumPy's Generator draws it since NumPy 2.4. `g` is the bit generator."""

import numpy as np

from . import ziggurat
from .primitives import convert, load, next_double, next_uint32, next_uint64
from .random_draws import mask_of

_CORRECTED = tuple(int(part) for part in np.__version__.split(".")[:2]) >= (2, 5)  # the test of binomial() at the tails
NORMAL_TAIL = 3.6541528853610088
NORMAL_TAIL_INVERSE = 0.27366123732975828
EXPONENTIAL_TAIL = 7.6971174701310497

# -- words ----------------------------------------------------------------------------------------------------


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


# -- normal and exponential -----------------------------------------------------------------------------------


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


def normal(g, loc, scale):
    return loc + scale * gauss(g)


def lognormal(g, mean, sigma):
    return np.exp(normal(g, mean, sigma))


def exponential(g, scale):
    return scale * unit_exponential(g)


# -- gamma and what is made of it -----------------------------------------------------------------------------


def small_gamma(g, shape):
    while True:
        u = next_double(g)
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
        u = next_double(g)
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


def gamma(g, shape, scale):
    return scale * unit_gamma(g, shape)


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


def chisquare(g, df):
    return 2.0 * unit_gamma(g, df / 2.0)


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


def uniform(g, low, width):
    return low + width * next_double(g)


def pareto(g, a):
    return np.expm1(unit_exponential(g) / a)


def weibull(g, a):
    return 0.0 if a == 0.0 else np.power(unit_exponential(g), 1.0 / a)


def power(g, a):
    return np.power(-np.expm1(-unit_exponential(g)), 1.0 / a)


def rayleigh(g, scale):
    return scale * np.sqrt(2.0 * unit_exponential(g))


def laplace(g, loc, scale):
    u = next_double(g)
    while u <= 0.0:
        u = next_double(g)
    return loc - scale * np.log(2.0 - u - u) if u >= 0.5 else loc + scale * np.log(u + u)


def gumbel(g, loc, scale):
    u = 1.0 - next_double(g)
    while u >= 1.0:
        u = 1.0 - next_double(g)
    return loc - scale * np.log(-np.log(u))


def logistic(g, loc, scale):
    u = next_double(g)
    while u <= 0.0:
        u = next_double(g)
    return loc + scale * np.log(u / (1.0 - u))


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
    product = next_double(g)
    while product > limit:
        count += 1
        product *= next_double(g)
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
        u = next_double(g) - 0.5
        v = next_double(g)
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
        u = next_double(g) * p4
        v = next_double(g)
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
    if n == 0 or p == 0.0:
        return 0
    r = p if p <= 0.5 else 1.0 - p
    y = few_binomial(g, n, r) if r * n <= 30.0 else many_binomial(g, n, r)
    return y if p <= 0.5 else n - y


def negative_binomial(g, n, p):
    return poisson(g, gamma(g, n, (1 - p) / p))


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
