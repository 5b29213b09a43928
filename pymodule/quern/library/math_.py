"""Functions of the module math that are written in the compiled subset."""

import math

import numpy as np

from quern._names import Intrinsic

from .primitives import popcount

fma = Intrinsic("math.fma")  # Python has it since 3.13


def degrees(x):
    return x * (180.0 / math.pi)


def radians(x):
    return x * (math.pi / 180.0)


def log_base(x, base):
    return math.log(x) / math.log(base)


def modf(x):
    x = x * 1.0
    if math.isinf(x):
        return math.copysign(0.0, x), x
    whole = np.trunc(x)
    return math.copysign(x - whole, x), whole


def bit_count(x):
    return popcount(abs(x))


def bit_length(x):
    m = np.uint64(x)
    if x < 0:
        m = ~m + np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        m = m | m >> np.uint64(shift)
    return popcount(m)


def _sum_exactly(high, low, x):
    """One more number to a sum, and what was lost on the way."""
    total = high + x
    return total, low + (x - (total - high))


def _scaled_norm(values, first, scale):
    """CPython's: the squares and what their rounding loses are summed beside each other, then the root is mended once."""
    high, lost_squares, lost_sums = 1.0, 0.0, 0.0
    for value in values:
        x = value * first * scale
        square = x * x
        lost_squares += fma(x, x, -square)
        high, lost_sums = _sum_exactly(high, lost_sums, square)
    h = math.sqrt(high - 1.0 + (lost_squares + lost_sums))
    square = -h * h
    lost_squares += fma(-h, h, -square)
    high, lost_sums = _sum_exactly(high, lost_sums, square)
    return (h + (high - 1.0 + (lost_squares + lost_sums)) / (2.0 * h)) / scale / first


def _norm(values):
    """Of numbers that are not negative, one at least."""
    largest = 0.0
    any_nan = False
    for x in values:
        any_nan = any_nan or math.isnan(x)
        largest = max(largest, x)
    if math.isinf(largest):
        return largest
    if any_nan:
        return math.nan
    if largest == 0.0 or len(values) == 1:
        return largest
    first = 1.0
    exponent = math.frexp(largest)[1]
    if exponent < -1023:  # 2 ** -exponent is no float
        first = 2.0**1022
        exponent += 1022
    return _scaled_norm(values, first, math.ldexp(1.0, -exponent))


def _magnitudes(coordinates):
    return () if len(coordinates) == 0 else (abs(float(coordinates[0])),) + _magnitudes(coordinates[1:])


def hypot(*coordinates):
    return _norm(_magnitudes(coordinates)) if len(coordinates) > 0 else 0.0


def _distances(p, q):
    return () if len(p) == 0 else (abs(float(p[0]) - float(q[0])),) + _distances(p[1:], q[1:])


def _unlike():
    raise ValueError("both points must have the same number of dimensions")


def dist(p, q):
    if len(p) != len(q):
        _unlike()
    if len(p) == 0:
        return 0.0
    if isinstance(p, tuple) and isinstance(q, tuple):
        return _norm(_distances(tuple(p), tuple(q))) if len(p) == len(q) else 0.0
    differences = []
    for i in range(len(p)):
        differences.append(abs(float(p[i]) - float(q[i])))
    return _norm(differences)


def _add_exactly(partials, x):
    """`partials` are floats whose sum is exact, none overlapping another, the smallest first: x is added to them."""
    kept = 0
    for j in range(len(partials)):
        y = partials[j]
        if abs(x) < abs(y):
            x, y = y, x
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            partials[kept] = low
            kept += 1
        x = high
    del partials[kept:]
    if x != 0.0:
        partials.append(x)


def _rounded_sum(partials):
    n = len(partials)
    if n == 0:
        return 0.0
    n -= 1
    high, low = partials[n], 0.0
    while n > 0 and low == 0.0:
        x = high
        n -= 1
        y = partials[n]
        high = x + y
        low = y - (high - x)
    if n > 0 and ((low < 0.0 and partials[n - 1] < 0.0) or (low > 0.0 and partials[n - 1] > 0.0)):
        y = low * 2.0  # half of the last digit, and a little more in the same direction
        x = high + y
        if y == x - high:
            high = x
    return high


def fsum(items):
    partials = [0.0]
    special, infinite = 0.0, 0.0
    for item in items:
        x = item * 1.0
        if math.isfinite(x):
            _add_exactly(partials, x)
            if len(partials) > 0 and not math.isfinite(partials[-1]):
                raise OverflowError("intermediate overflow in fsum")
        else:
            special += x
            if math.isinf(x):
                infinite += x
    if special != 0.0:
        if math.isnan(infinite):
            raise ValueError("-inf + inf in fsum")
        return special
    return _rounded_sum(partials)


def ulp(x):
    x = abs(x * 1.0)
    if math.isnan(x) or math.isinf(x):
        return x
    above = math.nextafter(x, math.inf)
    if math.isinf(above):
        return x - math.nextafter(x, 0.0)
    return above - x


def isclose(a, b, rel_tol=1e-09, abs_tol=0.0):
    if rel_tol < 0.0 or abs_tol < 0.0:
        raise ValueError("tolerances must be non-negative")
    a *= 1.0  # the difference of two ints could wrap
    b *= 1.0
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    distance = math.fabs(b - a)
    return distance <= math.fabs(rel_tol * b) or distance <= math.fabs(rel_tol * a) or distance <= abs_tol


def _same_type(a, b):
    """a in the integer type that both have together: bits of a signed and an unsigned int meet in int64."""
    return a | (b & 0)


def gcd(a, b):
    x = _same_type(a, b)
    y = _same_type(b, a)
    while y != 0:
        x, y = y, x % y
    return abs(x)  # last: the smallest int has no absolute value


def lcm(a, b):
    x = abs(_same_type(a, b))
    y = abs(_same_type(b, a))
    divisor = gcd(x, y)
    if divisor == 0:
        return divisor
    return x // divisor * y


def isqrt(n):
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    if n == 0:
        return +n
    rest = +n
    root = 1
    while rest > 0:  # a power of two that is not below the root
        rest >>= 2
        root <<= 1
    while True:
        better = (root + n // root) // 2
        if better >= root:
            return root + (n - n)
        root = better


def factorial(n):
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    if n > 20:
        raise OverflowError("the factorial does not fit into 64 bits: above 20, use math.gamma(n + 1.0)")
    product = 1
    for i in range(2, n + 1):
        product *= i
    return product


def _refuse_negative(n, k):
    if n < 0:
        raise ValueError("n must be a non-negative integer")
    if k < 0:
        raise ValueError("k must be a non-negative integer")


def _largest(zero):
    """The largest number of the type of an int, which is one of 64 bits."""
    ones = ~zero
    if ones < 0:
        return ones & 0x7FFFFFFFFFFFFFFF
    return ones


def perm(n, k=None):
    if k is None:
        return factorial(n)
    _refuse_negative(n, k)
    i = n - n  # counts in the type of n, wide
    product = i + 1
    if k > n:
        return i
    while i < k:
        if product > _largest(n - n) // (n - i):
            raise OverflowError("the number of permutations does not fit into 64 bits")
        product *= n - i
        i += 1
    return product


def comb(n, k):
    """n * (n - 1) / 2 * (n - 2) / 3 ...: each step is a number of combinations, none above the result."""
    _refuse_negative(n, k)
    i = n - n
    product = i + 1
    if k > n:
        return i
    while i < k and k < n - i:  # the smaller one of k and n - k
        factor = n - i
        below = i + 1
        common = gcd(product, below)
        product //= common
        factor //= below // common
        if product > _largest(n - n) // factor:
            raise OverflowError("the number of combinations does not fit into 64 bits")
        product *= factor
        i += 1
    return product


def prod(items, start=1):
    product = start
    for item in items:
        product = product * item
    return product


FUNCTIONS = {
    "number.bit_length": bit_length,
    "number.bit_count": bit_count,
    "math.comb": comb,
    "math.degrees": degrees,
    "math.dist": dist,
    "math.factorial": factorial,
    "math.fsum": fsum,
    "math.gcd": gcd,
    "math.hypot": hypot,
    "math.isclose": isclose,
    "math.isqrt": isqrt,
    "math.lcm": lcm,
    "math.log_base": log_base,
    "math.modf": modf,
    "math.perm": perm,
    "math.prod": prod,
    "math.radians": radians,
    "math.ulp": ulp,
}
