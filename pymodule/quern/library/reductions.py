"""Reductions over all elements, or along axes given by constants."""

import numpy as np

from .primitives import convert, layout, map, reduce, reshape as reshape_c, result_type
from .shapes import ascontiguousarray, axes_of, axis_of, copy, moveaxis, picked, product, ravel, with_ones


# -- what all share -----------------------------------------------------------------------------------------------


def sum_type(dtype):
    """Ints are added in 64 bits."""
    if dtype == np.bool_ or dtype == np.int8 or dtype == np.int16 or dtype == np.int32:
        return np.int64
    if dtype == np.uint8 or dtype == np.uint16 or dtype == np.uint32:
        return np.uint64
    return dtype


def mean_type(dtype):
    """Ints and bools have a mean in double precision."""
    if dtype == np.float32 or dtype == np.float64 or dtype == np.complex64 or dtype == np.complex128:
        return dtype
    return np.float64


def finished(result, shape, axes, out, keepdims):
    """What the caller asked for, of an array of what remains of `shape`, or of one number."""
    if out is not None:
        out[...] = with_axes(result, shape, axes, keepdims)
        return out
    return with_axes(result, shape, axes, keepdims)


def with_axes(result, shape, axes, keepdims):
    if keepdims:
        lengths = with_ones(shape, axes)
        if isinstance(result, np.ndarray):
            return reshape_c(ascontiguousarray(result), lengths)
        return np.full(lengths, result)
    return result


def check_not_empty(a, axes):
    if product(picked(a.shape, axes)) == 0:
        raise ValueError("zero-size array to reduction operation which has no identity")


# -- sums -----------------------------------------------------------------------------------------------------------


def sum_(a, axis=None, dtype=None, out=None, keepdims=False, initial=0):
    axes = axes_of(axis, a.ndim)
    if dtype is None:
        return finished(reduce(np.add, convert(initial, sum_type(a.dtype)), axes, a), a.shape, axes, out, keepdims)
    return finished(reduce(np.add, convert(initial, dtype), axes, a), a.shape, axes, out, keepdims)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1):
    axes = axes_of(axis, a.ndim)
    if dtype is None:
        return finished(reduce(np.multiply, convert(initial, sum_type(a.dtype)), axes, a), a.shape, axes, out, keepdims)
    return finished(reduce(np.multiply, convert(initial, dtype), axes, a), a.shape, axes, out, keepdims)


def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    kind = mean_type(a.dtype) if dtype is None else dtype
    total = reduce(np.add, convert(0, kind), axes, a)
    return finished(np.true_divide(total, product(picked(a.shape, axes))), a.shape, axes, out, keepdims)


def squared_size(x):
    """|x| ** 2"""
    return np.add(np.multiply(x.real, x.real), np.multiply(x.imag, x.imag))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    axes = axes_of(axis, a.ndim)
    count = product(picked(a.shape, axes))
    middle = mean(a, axis, dtype, None, True)
    away = a - middle
    if away.dtype == np.complex64 or away.dtype == np.complex128:
        squares = sum_(map(squared_size, away), axis)
    else:
        squares = sum_(np.square(away), axis)
    return finished(np.true_divide(squares, max(count - ddof, 0)), a.shape, axes, out, keepdims)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    axes = axes_of(axis, a.ndim)
    return finished(np.sqrt(var(a, axis, dtype, None, ddof)), a.shape, axes, out, keepdims)


# -- extremes ---------------------------------------------------------------------------------------------------------


def amin(a, axis=None, out=None, keepdims=False, initial=None):
    axes = axes_of(axis, a.ndim)
    if initial is None:
        check_not_empty(a, axes)
        return finished(reduce(np.minimum, None, axes, a), a.shape, axes, out, keepdims)
    return finished(reduce(np.minimum, convert(initial, a.dtype), axes, a), a.shape, axes, out, keepdims)


def amax(a, axis=None, out=None, keepdims=False, initial=None):
    axes = axes_of(axis, a.ndim)
    if initial is None:
        check_not_empty(a, axes)
        return finished(reduce(np.maximum, None, axes, a), a.shape, axes, out, keepdims)
    return finished(reduce(np.maximum, convert(initial, a.dtype), axes, a), a.shape, axes, out, keepdims)


def ptp(a, axis=None, out=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    return finished(np.subtract(amax(a, axis), amin(a, axis)), a.shape, axes, out, keepdims)


def first_greatest(a):
    """Position of the greatest element of a line; the first nan wins."""
    best = 0
    for i in range(len(a)):
        if a[i] > a[best] or a[i] != a[i]:
            best = i
            if a[i] != a[i]:
                break
    return best


def first_least(a):
    best = 0
    for i in range(len(a)):
        if a[i] < a[best] or a[i] != a[i]:
            best = i
            if a[i] != a[i]:
                break
    return best


def greatest_of_lines(a, out):
    if out.ndim == 1:
        for i in range(len(a)):
            out[i] = first_greatest(a[i])
    else:
        for i in range(len(a)):
            greatest_of_lines(a[i], out[i])


def least_of_lines(a, out):
    if out.ndim == 1:
        for i in range(len(a)):
            out[i] = first_least(a[i])
    else:
        for i in range(len(a)):
            least_of_lines(a[i], out[i])


def argmax(a, axis=None, out=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    if a.size == 0:
        raise ValueError("attempt to get argmax of an empty sequence")
    if axis is None or a.ndim == 1:
        return finished(first_greatest(ravel(a)), a.shape, axes, out, keepdims)
    lines = moveaxis(a, axes[0], -1)
    result = np.empty(lines.shape[:-1], np.int64)
    greatest_of_lines(lines, result)
    return finished(result, a.shape, axes, out, keepdims)


def argmin(a, axis=None, out=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    if a.size == 0:
        raise ValueError("attempt to get argmin of an empty sequence")
    if axis is None or a.ndim == 1:
        return finished(first_least(ravel(a)), a.shape, axes, out, keepdims)
    lines = moveaxis(a, axes[0], -1)
    result = np.empty(lines.shape[:-1], np.int64)
    least_of_lines(lines, result)
    return finished(result, a.shape, axes, out, keepdims)


# -- truth --------------------------------------------------------------------------------------------------------------


def any_(a, axis=None, out=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    return finished(reduce(np.logical_or, np.bool_(False), axes, a), a.shape, axes, out, keepdims)


def all_(a, axis=None, out=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    return finished(reduce(np.logical_and, np.bool_(True), axes, a), a.shape, axes, out, keepdims)


def counted(n, x):
    return n + (1 if x != 0 else 0)


def count_nonzero(a, axis=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    return finished(reduce(counted, np.int64(0), axes, a), a.shape, axes, None, keepdims)


# -- running ------------------------------------------------------------------------------------------------------------


def add_along(a, out):
    if a.ndim == 1:
        total = convert(0, out.dtype)
        for i in range(len(a)):
            total = np.add(total, convert(a[i], out.dtype))
            out[i] = total
    else:
        for i in range(len(a)):
            add_along(a[i], out[i])


def multiply_along(a, out):
    if a.ndim == 1:
        total = convert(1, out.dtype)
        for i in range(len(a)):
            total = np.multiply(total, convert(a[i], out.dtype))
            out[i] = total
    else:
        for i in range(len(a)):
            multiply_along(a[i], out[i])


def cumsum(a, axis=None, dtype=None, out=None):
    kind = sum_type(a.dtype) if dtype is None else dtype
    if axis is None:
        line = ravel(a)
        result = np.empty(line.shape, kind)
        add_along(line, result)
    else:
        at = axis_of(axis, a.ndim)
        result = np.empty(a.shape, kind)
        add_along(moveaxis(a, at, -1), moveaxis(result, at, -1))
    return finished(result, result.shape, (), out, False)


def cumprod(a, axis=None, dtype=None, out=None):
    kind = sum_type(a.dtype) if dtype is None else dtype
    if axis is None:
        line = ravel(a)
        result = np.empty(line.shape, kind)
        multiply_along(line, result)
    else:
        at = axis_of(axis, a.ndim)
        result = np.empty(a.shape, kind)
        multiply_along(moveaxis(a, at, -1), moveaxis(result, at, -1))
    return finished(result, result.shape, (), out, False)


# -- without nan ----------------------------------------------------------------------------------------------------------


def zero_for_nan(x):
    return x if x == x else convert(0, result_type(x))


def one_for_nan(x):
    return x if x == x else convert(1, result_type(x))


def counted_number(n, x):
    return n + (1 if x == x else 0)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0):
    return sum_(map(zero_for_nan, a), axis, dtype, out, keepdims, initial)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1):
    return prod(map(one_for_nan, a), axis, dtype, out, keepdims, initial)


def nanmin(a, axis=None, out=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    check_not_empty(a, axes)
    return finished(reduce(np.fmin, None, axes, a), a.shape, axes, out, keepdims)


def nanmax(a, axis=None, out=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    check_not_empty(a, axes)
    return finished(reduce(np.fmax, None, axes, a), a.shape, axes, out, keepdims)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False):
    axes = axes_of(axis, a.ndim)
    kind = mean_type(a.dtype) if dtype is None else dtype
    total = reduce(np.add, convert(0, kind), axes, map(zero_for_nan, a))
    numbers = reduce(counted_number, np.int64(0), axes, a)
    return finished(np.true_divide(total, numbers), a.shape, axes, out, keepdims)


FUNCTIONS = {
    "ndarray.all": all_,
    "ndarray.any": any_,
    "ndarray.argmax": argmax,
    "ndarray.argmin": argmin,
    "ndarray.cumprod": cumprod,
    "ndarray.cumsum": cumsum,
    "ndarray.max": amax,
    "ndarray.mean": mean,
    "ndarray.min": amin,
    "ndarray.prod": prod,
    "ndarray.std": std,
    "ndarray.sum": sum_,
    "ndarray.var": var,
    "numpy.all": all_,
    "numpy.amax": amax,
    "numpy.amin": amin,
    "numpy.any": any_,
    "numpy.argmax": argmax,
    "numpy.argmin": argmin,
    "numpy.count_nonzero": count_nonzero,
    "numpy.cumprod": cumprod,
    "numpy.cumsum": cumsum,
    "numpy.max": amax,
    "numpy.mean": mean,
    "numpy.min": amin,
    "numpy.nanmax": nanmax,
    "numpy.nanmean": nanmean,
    "numpy.nanmin": nanmin,
    "numpy.nanprod": nanprod,
    "numpy.nansum": nansum,
    "numpy.prod": prod,
    "numpy.ptp": ptp,
    "numpy.std": std,
    "numpy.sum": sum_,
    "numpy.var": var,
}
