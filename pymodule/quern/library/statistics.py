"""Counting and statistics: histograms, quantiles, covariance."""

import math

import numpy as np

from .primitives import convert, known, result_type
from .reductions import array_of, finished, is_inexact, mean_of, mean_type
from .shapes import axes_of, copy, on_axis, picked, product, ravel, refuse, reshape, transpose, tuple_to, without
from .sorting import argsort, is_complex, least_behind, numbers_first, searchsorted, select, sort


# -- counting ---------------------------------------------------------------------------------------------------


def is_int(dtype):
    return not is_inexact(dtype)


def refuse_type(text):
    raise TypeError(text)


def bincount(x, weights=None, minlength=0):
    if isinstance(x, tuple):
        return bincount(np.array(x), weights, minlength)
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
    if isinstance(weights, tuple):
        return weighted_counts(x, np.array(weights), size)
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


def limits_of(line, range):
    if range is not None:
        return limits(np.float64(range[0]), np.float64(range[1]))
    if len(line) == 0:
        return limits(np.float64(0.0), np.float64(1.0))
    kind = mean_type(line.dtype)
    return limits(np.float64(convert(line.min(), kind)), np.float64(convert(line.max(), kind)))


def equal_edges(line, n, range):
    if n < 1:
        refuse("`bins` must be positive, when an integer")
    ends = limits_of(line, range)
    if range is None and line.dtype == np.float32 and len(line) > 0:
        return linear_edges(convert(ends[0], np.float32), convert(ends[1], np.float32), n, np.float32)
    return linear_edges(ends[0], ends[1], n, mean_type(line.dtype))


def edges_of(line, bins, range):
    if isinstance(bins, tuple):
        return edges_of(line, np.array(bins), range)
    if not isinstance(bins, np.ndarray):
        return equal_edges(line, bins, range)
    if bins.ndim != 1:
        refuse("`bins` must be 1d, when an array")
    check_rising(bins)
    return bins


def check_rising(edges):
    for i in range(1, len(edges)):
        if edges[i - 1] > edges[i]:
            raise ValueError("`bins` must increase monotonically, when an array")


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    return edges_of(ravel(array_of(a)), bins, range)


def bin_of(x, edges, width):
    """The number of the equal bin that x lies in, or -1."""
    n = len(edges) - 1
    first = edges[0]
    last = edges[n]
    if not (x >= first and x <= last):
        return -1
    at = min(int(np.multiply(np.divide(np.subtract(x, first), width), convert(n, edges.dtype))), n - 1)
    if x < edges[at]:
        return at - 1
    if at < n - 1 and x >= edges[at + 1]:
        return at + 1
    return at


def counted_in(line, edges, weights):
    kind = edges.dtype
    width = edges[len(edges) - 1] - edges[0]
    counts = np.zeros(len(edges) - 1, np.int64 if weights is None else weights.dtype)
    for i in range(len(line)):
        at = bin_of(convert(line[i], kind), edges, width)
        if at >= 0:
            counts[at] += 1 if weights is None else weights[i]
    return counts


def below(ordered, sums, x, included):
    """How many lie below x, with x or without; or what they weigh."""
    at = searchsorted(ordered, x, "right") if included else searchsorted(ordered, x, "left")
    return at if sums is None else sums[at]


def sums_before(weights):
    """What lies before each, and all."""
    sums = np.zeros(len(weights) + 1, weights.dtype)
    for i in range(len(weights)):
        sums[i + 1] = sums[i] + weights[i]
    return sums


def counted_between(line, edges, weights):
    if weights is None:
        return counted_between_sorted(sort(line), edges, None)
    order = argsort(line)
    return counted_between_sorted(line[order], edges, sums_before(weights[order]))


def counted_between_sorted(ordered, edges, sums):
    counts = np.zeros(max(len(edges) - 1, 0), np.int64 if sums is None else sums.dtype)
    for i in range(len(counts)):
        counts[i] = below(ordered, sums, edges[i + 1], i == len(counts) - 1) - below(ordered, sums, edges[i], False)
    return counts


def histogram(a, bins=10, range=None, density=None, weights=None):
    line = ravel(array_of(a))
    edges = edges_of(line, bins, range)
    if weights is not None and array_of(weights).shape != array_of(a).shape:
        raise ValueError("weights should have the same shape as a.")
    heavy = None if weights is None else ravel(array_of(weights))
    if isinstance(bins, (tuple, np.ndarray)):
        counts = counted_between(line, edges, heavy)
    else:
        counts = counted_in(line, edges, heavy)
    if density is not None and density:
        return counts / convert(np.diff(edges), np.float64) / counts.sum(), edges
    return counts, edges


def direction(bins):
    """1: rising, -1: falling, 0: neither. The first two that differ say which; nan is compared as it is, as NumPy does."""
    n = len(bins)
    at = 1
    while at < n and bins[at] == bins[0]:
        at += 1
    if at >= n:
        return 1
    rising = bins[0] < bins[at]
    for i in range(at + 1, n):
        if bins[i - 1] > bins[i] if rising else bins[i - 1] < bins[i]:
            return 0
    return 1 if rising else -1


def digitize(x, bins, right=False):
    if isinstance(x, tuple):
        return digitize(np.array(x), bins, right)
    if is_complex(result_type(x)):
        raise TypeError("x may not be complex")
    edges = array_of(bins)
    way = direction(edges)
    if way == 0:
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if not isinstance(x, np.ndarray):
        return searchsorted(edges, x, side) if way > 0 else len(edges) - searchsorted(edges[::-1], x, side)
    result = searchsorted(edges if way > 0 else edges[::-1], x, side)
    if way < 0:
        result[...] = len(edges) - result
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


def nothing_of(kind):
    """nan, or NaT."""
    return convert(-9223372036854775807 - 1, kind) if kind.kind == "m" else convert(np.nan, kind)


def middle_of(line, n, kind):
    if n == 0:
        return nothing_of(kind)
    below = (n - 1) // 2
    select(line, below, n)
    low = convert(line[below], kind)
    if n % 2 == 1:
        return low
    high = convert(least_behind(line, below, n), kind)
    if low == high:
        return high
    return np.divide(np.add(low, high), 2 if kind.kind == "m" else convert(2, kind))


def medians(a, axis, out, keepdims, skip):
    if not known(axis):
        return on_axis(medians, a, axis, (out, keepdims, skip))
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
    if method == "inverted_cdf" or method == "closest_observation":
        return True
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
    if method == "inverted_cdf":
        return np.ceil(n * q - 1.0)
    if method == "averaged_inverted_cdf":
        at = n * q - 1.0
        return at + 0.5 if at == np.floor(at) else np.ceil(at)
    if method == "closest_observation":
        at = n * q - 1.5
        even = at == np.floor(at) and np.floor(at) % 2 == 1
        return at if even else np.floor(at) + 1.0
    if method == "interpolated_inverted_cdf":
        return continuous_position(q, n, 0.0, 1.0)
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


def quantiles_along(a, axis, q, scale, out, method, keepdims, skip):
    return quantiles(a, q, scale, axis, out, method, keepdims, skip)


def quantiles(a, q, scale, axis, out, method, keepdims, skip):
    if not known(axis):
        return on_axis(quantiles_along, a, axis, (q, scale, out, method, keepdims, skip))
    if is_complex(a.dtype):
        refuse_type("a must be an array of real numbers")
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
        if q.ndim == 0 and len(axes) == a.ndim:
            return result[0, 0]  # NumPy gives a number, too
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
    away = rows - mean_of(rows, 1, kind, None, True)
    taken_off = (0 if bias else 1) if ddof is None else ddof
    return products_of_rows(away, 1.0 / max(rows.shape[1] - taken_off, 0) if rows.shape[1] > taken_off else np.inf)


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    line = array_of(m)
    result = covariance(line, None if y is None else array_of(y), rowvar, bias, ddof)
    if y is None and line.ndim < 2:
        return reshape(result, ())
    return result


def corrcoef(x, y=None, rowvar=True):
    line = array_of(x)
    result = covariance(line, None if y is None else array_of(y), rowvar, False, None)
    if y is None and line.ndim < 2:
        return np.divide(result[0, 0], result[0, 0])
    n = result.shape[0]
    sizes = np.empty(n, np.float64)
    for i in range(n):
        sizes[i] = math.sqrt(result[i, i].real)
    for i in range(n):
        for j in range(n):
            result[i, j] = held(np.divide(np.divide(result[i, j], sizes[i]), sizes[j]))
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
    "numpy.histogram_bin_edges": histogram_bin_edges,
    "numpy.median": median,
    "numpy.nanmedian": nanmedian,
    "numpy.nanpercentile": nanpercentile,
    "numpy.nanquantile": nanquantile,
    "numpy.percentile": percentile,
    "numpy.quantile": quantile,
}
