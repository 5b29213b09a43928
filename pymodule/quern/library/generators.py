"""Methods of numpy.random.Generator, whose objects are arguments: their state goes on.

The numbers, and how many words are drawn for them, are NumPy's."""

import numpy as np

from . import distributions
from . import generator_draws as draws
from . import generator_words as words
from .primitives import convert, layout, load, next_double, reshape, store
from .random_numpy import check, counted, has_array, lines_of, shape_of, some, sums_of
from .shapes import as_tuple, copy, refuse

_MOST_POISSON = 9.223372006484771e18

# -- how many --------------------------------------------------------------------------------------------------


def number_at(line, i, kind):
    return convert(load(line, i) if isinstance(line, np.ndarray) else line, kind)


def numbers_at(lines, i, kinds):
    if len(lines) == 0:
        return ()
    return (number_at(lines[0], i, kinds[0]),) + numbers_at(lines[1:], i, kinds[1:])


def fill(g, result, draw, lines, kinds):
    line = reshape(result, (result.size,))
    for i in range(len(line)):
        store(line, i, draw(g, *numbers_at(lines, i, kinds)))
    return result


def fitting_shape(size, args):
    """Of a result with that size= for arrays among the arguments."""
    shape = as_tuple(size)
    if has_array(args):
        both = shape_of((np.empty(shape, np.bool_),) + args)
        check(len(both) != len(shape) or both != shape, "Output size is not compatible with broadcast dimensions of inputs")
    return shape


def drawn(rng, draw, kind, size, args, kinds):
    """One number, or as many as there are in `size` or in the arrays among the arguments."""
    g = rng._bits
    if size is None:
        if has_array(args):
            shape = shape_of(args)
            return fill(g, np.empty(shape, kind), draw, lines_of(args, shape), kinds)
        return draw(g, *numbers_at(args, 0, kinds))
    shape = fitting_shape(size, args)
    return fill(g, np.empty(shape, kind), draw, lines_of(args, shape), kinds)


def doubles(args):
    return () if len(args) == 0 else (np.float64,) + doubles(args[1:])


def reals(rng, draw, size, *args):
    return drawn(rng, draw, np.float64, size, args, doubles(args))


def ints(rng, draw, size, *args):
    return drawn(rng, draw, np.int64, size, args, doubles(args))


def either(rng, draw, draw_32, dtype, size):
    if dtype == np.float64:
        return drawn(rng, draw, np.float64, size, (), ())
    if dtype == np.float32:
        return drawn(rng, draw_32, np.float32, size, (), ())
    raise TypeError("Unsupported dtype: numbers are drawn as float64 or float32")


# -- what is refused -------------------------------------------------------------------------------------------


def check_not_negative(x, text):
    """-0.0 is refused, too, and nan is not."""
    check(np.logical_and(np.signbit(np.float64(x) if not isinstance(x, np.ndarray) else x), np.logical_not(np.isnan(x))), text)


def check_positive(x, text):
    check(x <= 0, text)


def check_part(p, text_one, text_many):
    """0 to 1, and no nan."""
    check_all(np.logical_and(p >= 0, p <= 1), p, text_one, text_many)


def check_all(right, x, text_one, text_many):
    if isinstance(x, np.ndarray):
        check(np.logical_not(right), text_many)
    else:
        check(not right, text_one)


# -- evenly ----------------------------------------------------------------------------------------------------


def random(rng, size=None, dtype=np.float64):
    return either(rng, next_double, words.next_float, dtype, size)


def uniform(rng, low=0.0, high=1.0, size=None):
    if has_array((low, high)):
        width = np.subtract(np.asarray(high, np.float64), np.asarray(low, np.float64))
        if not np.isfinite(width).all():
            raise OverflowError("Range exceeds valid bounds")
        check_not_negative(width, "high - low < 0")
        return reals(rng, distributions.uniform, size, low, width)
    return evenly(rng, np.float64(low), np.float64(high) - np.float64(low), size)


def evenly(rng, low, width, size):
    if not np.isfinite(width):
        raise OverflowError("high - low range exceeds valid bounds")
    check_not_negative(width, "high - low < 0")
    return reals(rng, distributions.uniform, size, low, width)


# -- ints ------------------------------------------------------------------------------------------------------


def bits_of(dtype):
    """0: a dtype of which there are no such numbers."""
    if dtype == np.bool_:
        return 1
    if dtype == np.int8 or dtype == np.uint8:
        return 8
    if dtype == np.int16 or dtype == np.uint16:
        return 16
    if dtype == np.int32 or dtype == np.uint32:
        return 32
    return 64 if dtype == np.int64 or dtype == np.uint64 else 0


def is_unsigned(dtype):
    return dtype == np.bool_ or dtype == np.uint8 or dtype == np.uint16 or dtype == np.uint32 or dtype == np.uint64


def least_of(dtype):
    bits = bits_of(dtype)
    return 0 if is_unsigned(dtype) else -9223372036854775808 if bits == 64 else -(1 << bits - 1)


def most_of(dtype):
    """The largest int64 for uint64."""
    bits = bits_of(dtype)
    return 9223372036854775807 if bits == 64 else (1 << bits) - 1 if is_unsigned(dtype) else (1 << bits - 1) - 1


def is_wide(x):
    """A uint64, or an array of them."""
    return x.dtype == np.uint64 if isinstance(x, np.ndarray) else isinstance(x, np.uint64)


def whole(x):
    return x if is_wide(x) else convert(x, np.int64)


def wrong_order(low, endpoint):
    """NumPy's words."""
    if endpoint:
        check(low == 0, "high < 0")
        raise ValueError("low > high")
    check(low == 0, "high <= 0")
    raise ValueError("low >= high")


def low_end(low, dtype, text):
    """In 64 bits."""
    if is_wide(low):
        return convert(low, np.int64)
    check(low < least_of(dtype), text)
    return low


def is_none_below(high, endpoint):
    """Is there no int of 64 bits in front of it?"""
    least = np.uint64(0) if is_wide(high) else -9223372036854775808
    return high == least and not endpoint


def high_end(high, dtype, endpoint, text):
    """The last number that may be drawn, in 64 bits."""
    if is_wide(high):
        last = high if endpoint else high - np.uint64(1)
        if dtype != np.uint64:
            check(last > np.uint64(most_of(dtype)), text)
        return convert(last, np.int64)
    last = high if endpoint else high - 1
    if dtype != np.uint64:
        check(last > most_of(dtype), text)
    return last


def is_unordered(low, last, first, high, dtype):
    """`first` and `last` are `low` and the end in 64 bits."""
    if not is_wide(high) and is_unsigned(dtype) and last < 0:
        return True
    if dtype == np.uint64:
        return convert(first, np.uint64) > convert(last, np.uint64)
    return first > last or (is_wide(low) and first < 0)


def ends(low, high, dtype, endpoint, low_text, high_text):
    """The first and the last number, in 64 bits: bits of a uint64 for that dtype."""
    first = low_end(low, dtype, low_text)
    if is_none_below(high, endpoint):
        wrong_order(first, endpoint)
    last = high_end(high, dtype, endpoint, high_text)
    if is_unordered(low, last, first, high, dtype):
        wrong_order(first, endpoint)
    return first, last


def as_dtype(number, dtype):
    return number != np.uint64(0) if dtype == np.bool_ else convert(number, dtype)


def one_int(g, low, last, dtype):
    first = convert(low, np.uint64)
    width = convert(last, np.uint64) - first
    bits = bits_of(dtype)
    if bits < 32:
        return as_dtype(first + words.short_up_to(g, bits, width, np.uint64(0), 0)[0], dtype)
    return as_dtype(first + words.up_to(g, width), dtype)


def fill_ints(g, result, low, last, dtype):
    line = reshape(result, (result.size,))
    bits = bits_of(dtype)
    first = convert(low, np.uint64)
    width = convert(last, np.uint64) - first
    if bits < 32:
        word = np.uint64(0)
        left = 0
        for i in range(len(line)):
            number, word, left = words.short_up_to(g, bits, width, word, left)
            store(line, i, as_dtype(first + number, dtype))
    elif width == np.uint64(0):
        for i in range(len(line)):
            store(line, i, as_dtype(first, dtype))
    elif width < np.uint64(0xFFFFFFFF):
        for i in range(len(line)):
            store(line, i, as_dtype(first + words.below_2_32(g, width), dtype))
    else:
        for i in range(len(line)):
            store(line, i, as_dtype(first + words.up_to(g, width), dtype))
    return result


def fill_between(g, result, lines, dtype, endpoint, low_text, high_text):
    """Of arrays of ends. All are looked at before anything is drawn."""
    line = reshape(result, (result.size,))
    bits = bits_of(dtype)
    word = np.uint64(0)
    left = 0
    for i in range(len(line)):
        ends(whole_at(lines[0], i), whole_at(lines[1], i), dtype, endpoint, low_text, high_text)
    for i in range(len(line)):
        low, last = ends(whole_at(lines[0], i), whole_at(lines[1], i), dtype, endpoint, low_text, high_text)
        first = convert(low, np.uint64)
        width = convert(last, np.uint64) - first
        if bits < 32:
            number, word, left = words.short_up_to(g, bits, width, word, left)
            store(line, i, as_dtype(first + number, dtype))
        else:
            store(line, i, as_dtype(first + words.up_to(g, width), dtype))
    return result


def whole_at(line, i):
    return whole(load(line, i) if isinstance(line, np.ndarray) else line)


def texts_of(dtype):
    if dtype == np.bool_:
        return "low is out of bounds for bool", "high is out of bounds for bool"
    if dtype == np.int8:
        return "low is out of bounds for int8", "high is out of bounds for int8"
    if dtype == np.uint8:
        return "low is out of bounds for uint8", "high is out of bounds for uint8"
    if dtype == np.int16:
        return "low is out of bounds for int16", "high is out of bounds for int16"
    if dtype == np.uint16:
        return "low is out of bounds for uint16", "high is out of bounds for uint16"
    if dtype == np.int32:
        return "low is out of bounds for int32", "high is out of bounds for int32"
    if dtype == np.uint32:
        return "low is out of bounds for uint32", "high is out of bounds for uint32"
    if dtype == np.uint64:
        return "low is out of bounds for uint64", "high is out of bounds for uint64"
    return "low is out of bounds for int64", "high is out of bounds for int64"


def integers(rng, low, high=None, size=None, dtype=np.int64, endpoint=False):
    if bits_of(dtype) == 0:
        raise TypeError("Unsupported dtype for integers: bool and ints of 8 to 64 bits are")
    if high is None:
        return integers_between(rng, 0, low, size, dtype, endpoint)
    return integers_between(rng, low, high, size, dtype, endpoint)


def integers_between(rng, low, high, size, dtype, endpoint):
    g = rng._bits
    low_text, high_text = texts_of(dtype)
    if has_array((low, high)):
        shape = shape_of((low, high)) if size is None else fitting_shape(size, (low, high))
        return fill_between(g, np.empty(shape, dtype), lines_of((low, high), shape), dtype, endpoint, low_text, high_text)
    if size is not None and counted(as_tuple(size)) == 0:
        return np.empty(as_tuple(size), dtype)
    first, last = ends(whole(low), whole(high), dtype, endpoint, low_text, high_text)
    if size is None:
        return one_int(g, first, last, dtype)
    return fill_ints(g, np.empty(as_tuple(size), dtype), first, last, dtype)


# -- real numbers ----------------------------------------------------------------------------------------------


def standard_normal(rng, size=None, dtype=np.float64):
    return either(rng, distributions.gauss, words.gauss_32, dtype, size)


def normal(rng, loc=0.0, scale=1.0, size=None):
    check_not_negative(scale, "scale < 0")
    return reals(rng, distributions.normal, size, loc, scale)


def lognormal(rng, mean=0.0, sigma=1.0, size=None):
    check_not_negative(sigma, "sigma < 0")
    return reals(rng, draws.lognormal, size, mean, sigma)


def standard_exponential(rng, size=None, dtype=np.float64, method="zig"):
    if method == "zig":
        return either(rng, distributions.unit_exponential, words.unit_exponential_32, dtype, size)
    return either(rng, words.inverse_exponential, words.inverse_exponential_32, dtype, size)


def exponential(rng, scale=1.0, size=None):
    check_not_negative(scale, "scale < 0")
    return reals(rng, distributions.exponential, size, scale)


def standard_gamma(rng, shape, size=None, dtype=np.float64):
    check_not_negative(shape, "shape < 0")
    if dtype == np.float64:
        return reals(rng, distributions.unit_gamma, size, shape)
    if dtype == np.float32:
        return drawn(rng, draws.unit_gamma_32, np.float32, size, (shape,), (np.float32,))
    raise TypeError("Unsupported dtype: numbers are drawn as float64 or float32")


def gamma(rng, shape, scale=1.0, size=None):
    check_not_negative(shape, "shape < 0")
    check_not_negative(scale, "scale < 0")
    return reals(rng, distributions.gamma, size, shape, scale)


def beta(rng, a, b, size=None):
    check_positive(a, "a <= 0")
    check_positive(b, "b <= 0")
    return reals(rng, draws.beta, size, a, b)


def chisquare(rng, df, size=None):
    check_positive(df, "df <= 0")
    return reals(rng, distributions.chisquare, size, df)


def noncentral_chisquare(rng, df, nonc, size=None):
    check_positive(df, "df <= 0")
    check_not_negative(nonc, "nonc < 0")
    return reals(rng, draws.noncentral_chisquare, size, df, nonc)


def f(rng, dfnum, dfden, size=None):
    check_positive(dfnum, "dfnum <= 0")
    check_positive(dfden, "dfden <= 0")
    return reals(rng, draws.f, size, dfnum, dfden)


def noncentral_f(rng, dfnum, dfden, nonc, size=None):
    check_positive(dfnum, "dfnum <= 0")
    check_positive(dfden, "dfden <= 0")
    check_not_negative(nonc, "nonc < 0")
    return reals(rng, draws.noncentral_f, size, dfnum, dfden, nonc)


def standard_t(rng, df, size=None):
    check_positive(df, "df <= 0")
    return reals(rng, draws.standard_t, size, df)


def standard_cauchy(rng, size=None):
    return reals(rng, draws.cauchy, size)


def pareto(rng, a, size=None):
    check_positive(a, "a <= 0")
    return reals(rng, draws.pareto, size, a)


def weibull(rng, a, size=None):
    check_not_negative(a, "a < 0")
    return reals(rng, distributions.weibull, size, a)


def power(rng, a, size=None):
    check_positive(a, "a <= 0")
    return reals(rng, draws.power, size, a)


def rayleigh(rng, scale=1.0, size=None):
    check_not_negative(scale, "scale < 0")
    return reals(rng, draws.rayleigh, size, scale)


def laplace(rng, loc=0.0, scale=1.0, size=None):
    check_not_negative(scale, "scale < 0")
    return reals(rng, distributions.laplace, size, loc, scale)


def gumbel(rng, loc=0.0, scale=1.0, size=None):
    check_not_negative(scale, "scale < 0")
    return reals(rng, distributions.gumbel, size, loc, scale)


def logistic(rng, loc=0.0, scale=1.0, size=None):
    check_not_negative(scale, "scale < 0")
    return reals(rng, distributions.logistic, size, loc, scale)


def triangular(rng, left, mode, right, size=None):
    check(left > mode, "left > mode")
    check(mode > right, "mode > right")
    check(left == right, "left == right")
    return reals(rng, draws.triangular, size, left, mode, right)


def wald(rng, mean, scale, size=None):
    check_positive(mean, "mean <= 0")
    check_positive(scale, "scale <= 0")
    return reals(rng, draws.wald, size, mean, scale)


def vonmises(rng, mu, kappa, size=None):
    check_not_negative(kappa, "kappa < 0")
    return reals(rng, draws.vonmises, size, mu, kappa)


# -- counts ----------------------------------------------------------------------------------------------------


def poisson(rng, lam=1.0, size=None):
    if isinstance(lam, np.ndarray):
        check(np.logical_not(lam <= _MOST_POISSON), "lam value too large")
        check(np.logical_not(lam >= 0), "lam < 0 or lam contains NaNs")
    else:
        check(not lam >= 0, "lam < 0 or lam is NaN")
        check(lam > _MOST_POISSON, "lam value too large")
    return ints(rng, distributions.poisson, size, lam)


def binomial(rng, n, p, size=None):
    if has_array((n, p)):
        check(np.logical_not(np.logical_and(np.asarray(p) >= 0, np.asarray(p) <= 1)), "p < 0, p > 1 or p contains NaNs")
    else:
        check(not (p >= 0 and p <= 1), "p < 0, p > 1 or p is NaN")
    check(n < 0, "n < 0")
    return drawn(rng, draws.binomial, np.int64, size, (n, p), (np.int64, np.float64))


def negative_binomial(rng, n, p, size=None):
    check(np.isnan(n), "n must not be NaN")
    check_positive(n, "n <= 0")
    check_share(p)
    check((1 - p) / p * (n + 10 * np.sqrt(n)) > _MOST_POISSON, "n too large or p too small, see Generator.negative_binomial Notes")
    return ints(rng, distributions.negative_binomial, size, n, p)


def check_share(p):
    text = "p <= 0, p > 1 or p contains NaNs"
    check_all(np.logical_and(p > 0, p <= 1), p, text, text)


def geometric(rng, p, size=None):
    check_share(p)
    return ints(rng, draws.geometric, size, p)


def zipf(rng, a, size=None):
    check_all(a > 1, a, "a <= 1 or a is NaN", "a <= 1 or a contains NaNs")
    return ints(rng, draws.zipf, size, a)


def logseries(rng, p, size=None):
    check_all(np.logical_and(p >= 0, p < 1), p, "p < 0, p >= 1 or p is NaN", "p < 0, p >= 1 or p contains NaNs")
    return ints(rng, draws.logseries, size, p)


# -- order -----------------------------------------------------------------------------------------------------


def place(g, n):
    return convert(words.masked(g, convert(n, np.uint64)), np.int64)


def mix_line(g, x, first):
    """Of an array of one axis or a list."""
    for i in range(len(x) - 1, first - 1, -1):
        j = place(g, i)
        item = x[i]
        x[i] = x[j]
        x[j] = item


def mix_rows(g, x):
    if x.size == 0:
        return
    for i in range(len(x) - 1, 0, -1):
        j = place(g, i)
        if i != j:
            row = x[i].copy()
            x[i] = x[j]
            x[j] = row


def check_axis(axis, ndim):
    if axis < -ndim or axis >= ndim:
        raise ValueError("axis is out of bounds for the array")


def shuffle(rng, x, axis=0):
    if isinstance(x, np.ndarray):
        check_axis(axis, x.ndim)
        if x.ndim == 1:
            mix_line(rng._bits, x, 1)
        else:
            mix_rows(rng._bits, np.swapaxes(x, 0, axis))
    else:
        mix_line(rng._bits, x, 1)


def permutation(rng, x, axis=0):
    if isinstance(x, (int, np.integer)):
        result = np.arange(x)
        mix_line(rng._bits, result, 1)
        return result
    rows = np.asarray(x)
    check_axis(axis, rows.ndim)
    if rows.ndim == 1:
        result = copy(rows)
        mix_line(rng._bits, result, 1)
        return result
    order = np.arange(rows.shape[axis])
    mix_line(rng._bits, order, 1)
    return np.take(rows, order, axis)


def permuted(rng, x, axis=None):
    a = np.asarray(x)
    if axis is None:
        return permuted_elements(rng, a)
    check_axis(axis, a.ndim)
    lines = np.ascontiguousarray(np.moveaxis(a, axis, -1)).copy()
    rows = reshape(lines, (lines.size // max(lines.shape[-1], 1), lines.shape[-1]))
    for i in range(len(rows)):
        mix_line(rng._bits, rows[i], 1)
    return np.ascontiguousarray(np.moveaxis(lines, -1, axis))


def permuted_elements(rng, a):
    """In the order in which they lie in memory."""
    if a.ndim > 1 and layout(a) == "F":
        return permuted_elements(rng, a.T).T
    if a.ndim > 1 and layout(a) == "A":
        refuse("permuted() without an axis gets a contiguous array: np.ascontiguousarray(x)")
    result = a.copy()
    mix_line(rng._bits, reshape(result, (result.size,)), 1)
    return result


# -- choice ----------------------------------------------------------------------------------------------------


def sum_of(p):
    """Kahan's: what small ones add is not lost."""
    total = 0.0
    lost = 0.0
    for i in range(len(p)):
        part = p[i] - lost
        both = total + part
        lost = (both - total) - part
        total = both
    return total


def tolerance_of(p):
    """How far from 1 a sum may be: the square root of its dtype's precision."""
    if isinstance(p, np.ndarray):
        if p.dtype == np.float32:
            return 0.00034526698
    return 1.4901161193847656e-08


def checked_parts(p, n):
    parts = np.asarray(p, np.float64)
    check(len(parts) != n, "a and p must have same size")
    total = sum_of(parts)
    check(np.isnan(total), "Probabilities contain NaN")
    check(np.any(parts < 0), "Probabilities are not non-negative")
    check(abs(total - 1.0) > tolerance_of(p), "Probabilities do not sum to 1. See Notes section of docstring for more information.")
    return parts


def is_some(size):
    return size is None or counted(as_tuple(size)) != 0


def mix_places(g, x, first):
    """By Lemire's multiplication, which shuffle() has not."""
    for i in range(len(x) - 1, first - 1, -1):
        j = convert(words.up_to(g, convert(i, np.uint64)), np.int64)
        item = x[i]
        x[i] = x[j]
        x[j] = item


def enter(table, mask, number):
    """Into a table of numbers by their low bits. Is it new?"""
    at = number & mask
    while table[at] != -1 and table[at] != number:
        at = (at + 1) & mask
    new = table[at] == -1
    table[at] = number
    return new


def few_places(g, n, count, shuffled):
    """Floyd's: one more number each round, or the round's own where it was there."""
    found = np.empty(count, np.int64)
    mask = convert(words.mask_of(convert(int(1.2 * count), np.uint64)), np.int64)
    table = np.full(mask + 1, -1, np.int64)
    for j in range(n - count, n):
        number = convert(words.up_to(g, convert(j, np.uint64)), np.int64)
        if not enter(table, mask, number):
            number = j
            enter(table, mask, number)
        found[j - n + count] = number
    if shuffled:
        mix_places(g, found, 1)
    return found


def distinct(g, n, count, shuffled):
    if n > 10000 and count > n // (50 if shuffled else 20):
        order = np.arange(n)
        mix_places(g, order, max(n - count, 1))
        return order[n - count:].copy()
    return few_places(g, n, count, shuffled)


def distinct_by_parts(rng, parts, count):
    """Those that were found get none, until there are enough."""
    check(np.count_nonzero(parts > 0) < count, "Fewer non-zero entries in p than size")
    left = parts.copy()
    found = np.zeros(count, np.int64)
    filled = 0
    while filled < count:
        x = random(rng, count - filled)
        if filled > 0:
            left[found[:filled]] = 0
        new = np.searchsorted(sums_of(left), x, side="right")
        first = np.sort(np.unique(new, return_index=True)[1])
        found[filled:filled + len(first)] = new[first]
        filled += len(first)
    return found


def places(rng, n, size, replace, p, shuffled):
    parts = None if p is None else checked_parts(p, n)
    if replace:
        if parts is None:
            return integers(rng, 0, n, size)
        return np.searchsorted(sums_of(parts), random(rng, size), side="right")
    count = 1 if size is None else counted(as_tuple(size))
    check(count > n, "Cannot take a larger sample than population when replace is False")
    check(count < 0, "negative dimensions are not allowed")
    found = distinct(rng._bits, n, count, shuffled) if parts is None else distinct_by_parts(rng, parts, count)
    return found[0] if size is None else reshape(found, as_tuple(size))


def choice(rng, a, size=None, replace=True, p=None, axis=0, shuffle=True):
    if isinstance(a, (int, np.integer)):
        check(a <= 0 and is_some(size), "a must be a positive integer unless no samples are taken")
        return places(rng, a, size, replace, p, shuffle)
    pool = np.asarray(a)
    check_axis(axis, pool.ndim)
    n = pool.shape[axis]
    check(n == 0 and is_some(size), "a cannot be empty unless no samples are taken")
    return np.take(pool, places(rng, n, size, replace, p, shuffle), axis)


FUNCTIONS = {f"Generator.{function.__name__}": function for function in (
    beta, binomial, chisquare, choice, exponential, f, gamma, geometric, gumbel, integers, laplace, logistic, lognormal, logseries,
    negative_binomial, noncentral_chisquare, noncentral_f, normal, pareto, permutation, permuted, poisson, power, random, rayleigh, shuffle,
    standard_cauchy, standard_exponential, standard_gamma, standard_normal, standard_t, triangular, uniform, vonmises, wald, weibull, zipf)}
