"""Builtins of Python that are written in the compiled subset."""

import math

import numpy as np

try:
    from math import fma
except ImportError:  # before Python 3.13; only kernels need it
    from quern.cuda import fma


def abs_(a):
    """Of an array; of numbers there are rows."""
    return np.absolute(a)


def divmod_(a, b):
    return a // b, a % b


def pow_(base, exponent):
    return base**exponent


def _times_modulo(a, b, modulus):
    """a * b % modulus for 0 <= a, b < modulus, without a product that could wrap."""
    product = 0
    while b > 0:
        if b & 1:
            product = product - (modulus - a) if product >= modulus - a else product + a
        a = a - (modulus - a) if a >= modulus - a else a + a
        b >>= 1
    return product


def _inverse_modulo(a, modulus):
    """x with a * x % modulus == 1, for 0 <= a < modulus: Euclid's steps, with factors in 0 .. modulus - 1."""
    rest = modulus
    last = a - a
    factor = last + 1
    while a > 0:
        step = _times_modulo(rest // a % modulus, factor, modulus)
        last, factor = factor, (last - step if last >= step else last + (modulus - step))
        rest, a = a, rest % a
    if rest != 1:
        raise ValueError("base is not invertible for the given modulus")
    return last


def _pow_mod_smallest(base, exponent, modulus):
    """The modulus is -2 ** 63: wrapped products are right in the bits that count."""
    if exponent < 0:
        if base & 1 == 0:
            raise ValueError("base is not invertible for the given modulus")
        exponent %= 2**61  # the power that is 1 for each odd base
    result = base - base + 1
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    result &= ~modulus
    return result + modulus if result != 0 else result


def pow_mod(base, exponent, modulus):
    if modulus == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    size = abs(modulus)
    if size < 0:
        return _pow_mod_smallest(base, exponent, modulus)
    result = 1 % size
    base = base % size
    if exponent < 0:
        base = _inverse_modulo(base, size)
        result = base
        exponent = -(exponent + 1)
    while exponent > 0:
        if exponent & 1:
            result = _times_modulo(result, base, size)
        base = _times_modulo(base, base, size)
        exponent >>= 1
    if modulus < 0 and result != 0:
        return result + modulus
    return result


def sum_(items, start=0):
    total = start
    for item in items:
        total = total + item
    return total


def any_(items):
    for item in items:
        if item:
            return True
    return False


def all_(items):
    for item in items:
        if not item:
            return False
    return True


def in_range(items, x):
    """What is equal to an int of the range; the compiler answers for int64 itself."""
    if isinstance(x, np.uint64):
        return x <= np.uint64(9223372036854775807) and np.int64(x) in items
    if isinstance(x, (float, np.float16, np.float32)):
        return -9223372036854775808.0 <= x < 9223372036854775808.0 and x == math.floor(x) and math.floor(x) in items
    if isinstance(x, (complex, np.complex64)):
        return x.imag == 0 and in_range(items, x.real)
    return isinstance(x, (bool, np.bool_)) and int(x) in items


def contains(items, x):
    """x in a range or in an array of any number of axes."""
    if isinstance(items, range):
        return in_range(items, x)
    if items.ndim == 0:
        return items[()] == x
    for item in items:
        if items.ndim == 1:
            if item == x:
                return True
        elif contains(item, x):
            return True
    return False


def given(items, x):
    """x in what an iterator still gives, which is used up to there."""
    for item in items:
        if item == x:
            return True
    return False


def unpack(iterable, count):
    """The items in a list: one more than asked for is one too many."""
    items = []
    for item in iterable:
        if len(items) == count:
            raise ValueError("too many values to unpack (expected " + str(count) + ")")
        items.append(item)
    return items


def _items_at(items, first, count):
    if count == 0:
        return ()
    return (items[first],) + _items_at(items, first + 1, count - 1)


def _between(items, first, end):
    if first == end:  # the first item says what such lists hold
        made = [items[0]]
        made.clear()
        return made
    return list(items[first:end])


def unpack_starred(items, before, behind):
    """A list of what is over between the first items and the last ones."""
    if isinstance(items, tuple):
        n = len(items)
        return items[:before] + (_between(items, before, n - behind),) + items[n - behind:]
    listed = list(items)
    n = len(listed)
    if n < before + behind:
        raise ValueError(f"not enough values to unpack (expected at least {before + behind}, got {n})")
    return _items_at(listed, 0, before) + (listed[before:n - behind],) + _items_at(listed, n - behind, behind)


def extended(items, more):
    """[*items, *more]"""
    if isinstance(items, tuple) and len(items) == 0:
        return list(more)
    made = list(items)
    made.extend(more)
    return made


def _absent():
    """Stands for an argument that is left out."""


def _first_of(items, default, error):
    if default is _absent:
        raise ValueError(error)
    return default


def max_by(items, key, default):
    empty = True
    for item in items:
        here = item if key is None else key(item)
        if empty:
            best, most, empty = item, here, False
        elif here > most:
            best, most = item, here
    if empty:
        return _first_of(items, default, "max() iterable argument is empty")
    return best


def max_(*items, key=None, default=_absent):
    if len(items) > 1:
        return max_by(items, key, default)
    if key is not None or not isinstance(items[0], (tuple, range, np.ndarray)):
        return max_by(items[0], key, default)
    if len(items[0]) == 0:
        return _first_of(items, default, "max() iterable argument is empty")
    best = items[0][0]
    for item in items[0]:
        if item > best:
            best = item
    return best


def min_by(items, key, default):
    empty = True
    for item in items:
        here = item if key is None else key(item)
        if empty:
            best, least, empty = item, here, False
        elif here < least:
            best, least = item, here
    if empty:
        return _first_of(items, default, "min() iterable argument is empty")
    return best


def min_(*items, key=None, default=_absent):
    if len(items) > 1:
        return min_by(items, key, default)
    if key is not None or not isinstance(items[0], (tuple, range, np.ndarray)):
        return min_by(items[0], key, default)
    if len(items[0]) == 0:
        return _first_of(items, default, "min() iterable argument is empty")
    best = items[0][0]
    for item in items[0]:
        if item < best:
            best = item
    return best


def reduce(function, sequence, initial=_absent, /):
    if initial is _absent:
        empty = True
        for item in sequence:
            if empty:
                value, empty = item, False
            else:
                value = function(value, item)
        if empty:
            raise TypeError("reduce() of empty iterable with no initial value")
        return value
    value = initial
    for item in sequence:
        value = function(value, item)
    return value


def round_int(x, digits):
    """To a multiple of 10 ** -digits, ties to even; 10 ** 19 does not fit."""
    if digits >= 0:
        return +x
    if digits < -18:
        return x - x
    step = 1
    for _ in range(-digits):
        step *= 10
    quotient = x // step
    rest = x % step
    if rest > step - rest or (rest == step - rest and quotient & 1 == 1):
        quotient += 1
    return quotient * step


def _power_of_ten(digits):
    """10 ** digits as a sum of two floats; exact up to 44."""
    high = 1.0
    low = 0.0
    while digits > 0:
        high, low = _times_ten(high, low, digits)
        digits -= 22
    return high, low


def _times_ten(high, low, digits):
    """(high + low) * 10 ** min(digits, 22), the last power of ten that a float holds. The products go through fma,
    so that no compiler fuses them with what follows."""
    ten = 1.0
    for _ in range(min(digits, 22)):
        ten *= 10.0
    product = fma(high, ten, 0.0)
    rest = fma(high, ten, -product) + low * ten
    total = product + rest  # the nearest float, again
    return total, rest - (total - product)


def _round_fraction(x, digits):
    high, low = x, 0.0
    left = digits
    while left > 0:
        high, low = _times_ten(high, low, left)
        left -= 22
    if not abs(high) < 2.0**54:
        return x  # its neighbours are further away than the next multiple
    whole = np.rint(high)
    part = high - whole
    if part == 0.5 and low > 0.0:  # rint saw a tie that is none
        whole += 1.0
    elif part == -0.5 and low < 0.0:
        whole -= 1.0
    rest = np.rint(low) if abs(high) >= 2.0**52 else 0.0
    while digits > 308:
        whole /= 10.0
        digits -= 1
    high, low = _power_of_ten(digits)
    quotient = whole / high
    return quotient + ((fma(-quotient, high, whole) - quotient * low) + rest) / high


def _round_whole(x, digits):
    high, low = _power_of_ten(digits)
    quotient = x / high
    if not abs(quotient) < 2.0**53:
        return x
    whole = np.rint(quotient)
    rest = fma(-whole, high, x) - whole * low
    odd = np.rint(whole * 0.5) != whole * 0.5
    if rest > high * 0.5 or (odd and rest == high * 0.5):
        whole += 1.0
    elif rest < high * -0.5 or (odd and rest == high * -0.5):
        whole -= 1.0
    product = fma(whole, high, 0.0)
    if math.isinf(product):
        return product
    return product + (fma(whole, high, -product) + whole * low)


def round_float(x, digits):
    """Correctly rounded, as CPython does it, for up to 44 digits; beyond that one unit in the last place may be off.
    For targets without the run-time support of the CPU."""
    number = np.float64(x)
    if not math.isfinite(number) or digits > 323:
        return number
    if digits < -308:
        return math.copysign(0.0, number)
    if digits >= 0:
        return math.copysign(_round_fraction(number, int(digits)), number)
    return math.copysign(_round_whole(number, -int(digits)), number)


FUNCTIONS = {
    "builtins.abs": abs_,
    "builtins.all": all_,
    "builtins.any": any_,
    "builtins.divmod": divmod_,
    "builtins.max": max_,
    "builtins.min": min_,
    "builtins.pow": pow_,
    "builtins.pow_mod": pow_mod,
    "builtins.round_float": round_float,
    "builtins.round_int": round_int,
    "builtins.sum": sum_,
    "functools.reduce": reduce,
    "operator.contains": contains,
    "operator.given": given,
    "operator.extended": extended,
    "operator.unpack": unpack,
    "operator.unpack_starred": unpack_starred,
}
