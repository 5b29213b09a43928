"""Counting and statistics: histograms, quantiles, covariance."""

import math

import numpy as np

from .primitives import convert, result_type
from .reductions import array_of, finished, is_inexact, mean, mean_type
from .shapes import axes_of, copy, picked, product, ravel, refuse, reshape, transpose, tuple_to, without
from .sorting import is_complex, least_behind, numbers_first, searchsorted, select, sort


# -- counting ---------------------------------------------------------------------------------------------------


def is_int(dtype):
    return not is_inexact(dtype)


def refuse_type(text):
    raise TypeError(text)


def bincount(x, weights=None, minlength=0):
    if x.ndim != 1:
        refuse("object too deep for desired array")
        return np.zeros(0, np.int64)
    if not is_int(x.dtype) or x.dtype == np.uint64:
        refuse_type("Cannot cast array data to dtype('int64') according to the rule 'safe'")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    greatest = -1
    for n in x:
        if n < 0:
            raise ValueError("'list' argument must have no negative elements")
        greatest = max(greatest, int(n))
    size = max(greatest + 1, minlength)
    if weights is None:
        counts = np.zeros(size, np.int64)
        for n in x:
            counts[int(n)] += 1
        return counts
    return weighted_counts(x, weights, size)


def weighted_counts(x, weights, size):
    if len(weights) != len(x):
        raise ValueError("The weights and list don't have the same length.")
    sums = np.zeros(size, np.float64)
    for i in range(len(x)):
        sums[int(x[i])] += weights[i]
    return sums


def linear_edges(first, last, n, kind):
    """As np.linspace: computed in the type of the limits."""
    edges = np.empty(n + 1, kind)
    step = np.divide(np.subtract(last, first), convert(n, result_type(first)))
    for i in range(n + 1):
        edges[i] = np.add(np.multiply(convert(i, result_type(first)), step), first)
    edges[n] = last
    return edges


def limits(low, high):
    """Of a histogram."""
    if low > high:
        raise ValueError("max must be larger than min in range parameter.")
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("range is not finite")
    half = convert(0.5, result_type(low))
    if low == high:
        return low - half, high + half
    return low, high


def equal_bins(line, n, range):
    if n < 1:
        raise ValueError("`bins` must be positive, when an integer")
    kind = mean_type(line.dtype)
    if range is not None:
        return counted_in(line, n, limits(np.float64(range[0]), np.float64(range[1])), kind)
    if len(line) == 0:
        return counted_in(line, n, (0.0, 1.0), kind)
    return counted_in(line, n, limits(convert(line.min(), kind), convert(line.max(), kind)), kind)


def counted_in(line, n, ends, kind):
    edges = linear_edges(ends[0], ends[1], n, kind)
    first = convert(ends[0], kind)
    last = convert(ends[1], kind)
    counts = np.zeros(n, np.int64)
    width = last - first
    for element in line:
        x = convert(element, kind)
        if x >= first and x <= last:
            at = min(int(np.multiply(np.divide(np.subtract(x, first), width), convert(n, kind))), n - 1)
            if x < edges[at]:
                at -= 1
            elif at < n - 1 and x >= edges[at + 1]:
                at += 1
            counts[at] += 1
    return counts, edges


def given_bins(line, edges):
    for i in range(1, len(edges)):
        if edges[i - 1] > edges[i]:
            raise ValueError("`bins` must increase monotonically, when an array")
    ordered = sort(line)
    counts = np.zeros(max(len(edges) - 1, 0), np.int64)
    for i in range(len(counts)):
        counts[i] = searchsorted(ordered, edges[i + 1], "left") - searchsorted(ordered, edges[i], "left")
    if len(counts) > 0:
        last = edges[len(counts)]
        counts[len(counts) - 1] += searchsorted(ordered, last, "right") - searchsorted(ordered, last, "left")
    return counts, edges


def histogram(a, bins=10, range=None, density=None, weights=None):
    if density is not None or weights is not None:
        refuse("a histogram has no density and no weights in compiled code")
    line = ravel(array_of(a))
    if isinstance(bins, np.ndarray):
        return given_bins(line, bins)
    if isinstance(bins, tuple):
        return given_bins(line, np.array(bins))
    return equal_bins(line, bins, range)


def digitize(x, bins, right=False):
    rising = True
    falling = True
    for i in range(1, len(bins)):
        if bins[i] < bins[i - 1]:
            rising = False
        if bins[i] > bins[i - 1]:
            falling = False
    if not rising and not falling:
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if not isinstance(x, np.ndarray):
        if rising:
            return searchsorted(bins, x, side)
        return len(bins) - searchsorted(bins[::-1], x, side)
    result = searchsorted(bins if rising else bins[::-1], x, side)
    if not rising:
        result[...] = len(bins) - result
    return result


# -- quantiles -----------------------------------------------------------------------------------------------------------


def rows_along(a, axes):
    """The elements along the axes as rows of a new array."""
    rest = without(tuple_to(a.ndim), axes)
    rows = copy(transpose(a, rest + axes))
    return reshape(rows, (product(picked(a.shape, rest)), product(picked(a.shape, axes))))


def numbers_of(line, skip):
    """How many numbers are in front, once nan is behind; one nan is enough to have none, unless it is skipped."""
    n = numbers_first(line)
    return n if skip or n == len(line) else 0


def middle_of(line, n, kind):
    if n == 0:
        return convert(np.nan, kind)
    below = (n - 1) // 2
    select(line, below, n)
    low = convert(line[below], kind)
    if n % 2 == 1:
        return low
    high = convert(least_behind(line, below, n), kind)
    return np.divide(np.add(low, high), convert(2, kind)) if low != high else high


def medians(a, axis, out, keepdims, skip):
    axes = axes_of(axis, a.ndim)
    kind = mean_type(a.dtype)
    if a.ndim == 0:
        return finished(convert(a[()], kind), (), (), out, keepdims)
    rows = rows_along(a, axes)
    result = np.empty(rows.shape[0], kind)
    for i in range(rows.shape[0]):
        result[i] = middle_of(rows[i], numbers_of(rows[i], skip), kind)
    if len(axes) == a.ndim:
        return finished(result[0], a.shape, axes, out, keepdims)
    return finished(reshape(result, without(a.shape, axes)), a.shape, axes, out, keepdims)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return medians(array_of(a), axis, out, keepdims, False)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return medians(array_of(a), axis, out, keepdims, True)


def has_position(method):
    """Is it one whose result is always an element?"""
    return method == "lower" or method == "higher" or method == "nearest"


def continuous_position(q, n, alpha, beta):
    return n * q + (alpha + q * (1.0 - alpha - beta)) - 1.0


def position(q, n, method):
    """Where the quantile lies among n sorted numbers."""
    if method == "linear":
        return (n - 1) * q
    if method == "lower":
        return np.floor((n - 1) * q)
    if method == "higher":
        return np.ceil((n - 1) * q)
    if method == "nearest":
        return np.rint((n - 1) * q)
    if method == "midpoint":
        return 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q))
    if method == "weibull":
        return continuous_position(q, n, 0.0, 0.0)
    if method == "hazen":
        return continuous_position(q, n, 0.5, 0.5)
    if method == "median_unbiased":
        return continuous_position(q, n, 1.0 / 3.0, 1.0 / 3.0)
    if method == "normal_unbiased":
        return continuous_position(q, n, 3.0 / 8.0, 3.0 / 8.0)
    refuse("no such method of quantiles in compiled code")
    return 0.0


def between(low, high, part):
    """NumPy's: from the nearer end."""
    away = np.subtract(high, low)
    return high - away * (1 - part) if part >= 0.5 else low + away * part


def quantile_of(line, n, q, method, kind):
    if n == 0:
        return convert(np.nan, kind)
    at = min(max(position(q, n, method), 0.0), n - 1.0)
    below = int(np.floor(at))
    select(line, below, n)
    low = convert(line[below], kind)
    if has_position(method) or (at == below and line.dtype.kind != "f"):
        return low
    high = convert(least_behind(line, below, n), kind) if below + 1 < n else low
    return convert(between(low, high, at - below), kind)  # nan beside infinities, also at their places


def quantile_kind(dtype, q, method):
    if has_position(method):
        return dtype
    if isinstance(q, np.ndarray):
        return result_type(mean_type(dtype), q)
    return mean_type(dtype)


def check_quantile(q):
    if not (q >= 0.0 and q <= 1.0):
        raise ValueError("Quantiles must be in the range [0, 1]")
    return q


def quantiles(a, q, scale, axis, out, method, keepdims, skip):
    axes = axes_of(axis, a.ndim)
    kind = quantile_kind(a.dtype, q, method)
    rows = rows_along(a, axes)
    if isinstance(q, tuple):
        return quantiles(a, np.array(q), scale, axis, out, method, keepdims, skip)
    if isinstance(q, np.ndarray):
        wanted = ravel(q)
        result = np.empty((len(wanted), rows.shape[0]), kind)
        for k in range(len(wanted)):
            fill_quantiles(rows, check_quantile(wanted[k] / scale), method, kind, result[k], skip)
        if keepdims:
            return reshape(result, q.shape + kept(a.shape, axes))
        return reshape(result, q.shape + without(a.shape, axes))
    line = np.empty(rows.shape[0], kind)
    fill_quantiles(rows, check_quantile(q / scale), method, kind, line, skip)
    if len(axes) == a.ndim:
        return finished(line[0], a.shape, axes, out, keepdims)
    return finished(reshape(line, without(a.shape, axes)), a.shape, axes, out, keepdims)


def kept(lengths, axes, at=0):
    if at == len(lengths):
        return ()
    return (1 if at in axes else lengths[at],) + kept(lengths, axes, at + 1)


def fill_quantiles(rows, q, method, kind, to, skip):
    for i in range(rows.shape[0]):
        to[i] = quantile_of(rows[i], numbers_of(rows[i], skip), q, method, kind)


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return quantiles(array_of(a), q, 1.0, axis, out, method, keepdims, False)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return quantiles(array_of(a), q, 100.0, axis, out, method, keepdims, False)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return quantiles(array_of(a), q, 1.0, axis, out, method, keepdims, True)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    return quantiles(array_of(a), q, 100.0, axis, out, method, keepdims, True)


# -- covariance ------------------------------------------------------------------------------------------------------------


def as_rows(m, rowvar):
    if m.ndim < 2:
        return reshape(m, (1, m.size))
    return m if rowvar else m.T


def stacked(a, b):
    if a.shape[1] != b.shape[1]:
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    result = np.empty((a.shape[0] + b.shape[0], a.shape[1]), result_type(a, b))
    result[: a.shape[0]] = a
    result[a.shape[0] :] = b
    return result


def products_of_rows(rows, factor):
    """rows @ conjugate of its transpose, times the factor."""
    n = rows.shape[0]
    result = np.empty((n, n), rows.dtype)
    for i in range(n):
        for j in range(n):
            result[i, j] = np.sum(rows[i] * np.conj(rows[j])) * factor
    return result


def covariance(m, y, rowvar, bias, ddof):
    if m.ndim > 2:
        refuse("m has more than 2 dimensions")
    rows = as_rows(m, rowvar)
    if y is not None:
        return covariance(stacked(rows, as_rows(y, rowvar)), None, True, bias, ddof)
    kind = result_type(rows, np.float64)
    away = rows - mean(rows, 1, kind, None, True)
    taken_off = (0 if bias else 1) if ddof is None else ddof
    return products_of_rows(away, 1.0 / max(rows.shape[1] - taken_off, 0) if rows.shape[1] > taken_off else np.inf)


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    result = covariance(array_of(m), y, rowvar, bias, ddof)
    if y is None and m.ndim < 2:
        return reshape(result, ())
    return result


def corrcoef(x, y=None, rowvar=True):
    result = covariance(array_of(x), y, rowvar, False, None)
    if y is None and x.ndim < 2:
        return result[0, 0] / result[0, 0]
    n = result.shape[0]
    sizes = np.empty(n, np.float64)
    for i in range(n):
        sizes[i] = math.sqrt(result[i, i].real)
    for i in range(n):
        for j in range(n):
            result[i, j] = held(result[i, j] / sizes[i] / sizes[j])
    return result


def held(x):
    """Parts between -1 and 1."""
    if is_complex(result_type(x)):
        return complex(np.clip(x.real, -1.0, 1.0), np.clip(x.imag, -1.0, 1.0))
    return np.clip(x, -1.0, 1.0)


FUNCTIONS = {
    "numpy.bincount": bincount,
    "numpy.corrcoef": corrcoef,
    "numpy.cov": cov,
    "numpy.digitize": digitize,
    "numpy.histogram": histogram,
    "numpy.median": median,
    "numpy.nanmedian": nanmedian,
    "numpy.nanpercentile": nanpercentile,
    "numpy.nanquantile": nanquantile,
    "numpy.percentile": percentile,
    "numpy.quantile": quantile,
}
