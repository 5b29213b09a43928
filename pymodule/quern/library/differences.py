"""Differences, sums of products and what is between given points: along one axis."""

import numpy as np

from .primitives import convert, guard, restride, result_type
from .reductions import array_of, mean_type, sum_
from .shapes import axes_of, axis_of, broadcast_to, copy, moveaxis, ravel, refuse, reshape


# -- differences ------------------------------------------------------------------------------------------------


def part(ndim, axis, piece, at=0):
    """An index that takes a slice of one axis."""
    if at == ndim:
        return ()
    return (piece if at == axis else slice(None),) + part(ndim, axis, piece, at + 1)


def difference(a, axis):
    after = a[part(a.ndim, axis, slice(1, None))]
    before = a[part(a.ndim, axis, slice(None, -1))]
    if a.dtype == np.bool_:
        return np.not_equal(after, before)
    return np.subtract(after, before)


def widened(x, x_shape, axis):
    """A number stands for one element along the axis."""
    if isinstance(x, np.ndarray) and x.ndim > 0:
        return x
    return broadcast_to(array_of(x), x_shape[:axis] + (1,) + x_shape[axis + 1 :])


def with_ends(x, prepend, append, axis):
    if prepend is not None and append is not None:
        return np.concatenate((widened(prepend, x.shape, axis), x, widened(append, x.shape, axis)), axis)
    if prepend is not None:
        return np.concatenate((widened(prepend, x.shape, axis), x), axis)
    return np.concatenate((x, widened(append, x.shape, axis)), axis)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    if prepend is not None or append is not None:
        whole = array_of(a)
        guard("negative_order", n < 0, n)
        return diff(with_ends(whole, prepend, append, axis_of(axis, whole.ndim)), n, axis) if n > 0 else copy(whole)
    x = array_of(a)
    if x.ndim == 0:
        refuse("diff requires input that is at least one dimensional")
        return x
    guard("negative_order", n < 0, n)
    at = axis_of(axis, x.ndim)
    if n == 1:  # of points in time: spans
        return difference(x, at)
    result = copy(x)
    for _ in range(n):
        result = copy(difference(result, at))
    return result


def ends_of(x, kind):
    if x is None:
        return np.empty(0, kind)
    if isinstance(x, np.ndarray):
        return ravel(x)
    if isinstance(x, tuple):
        return np.array(x)
    return np.full(1, x)


def ediff1d(ary, to_end=None, to_begin=None):
    line = ravel(array_of(ary))
    first = ends_of(to_begin, line.dtype)
    last = ends_of(to_end, line.dtype)
    n = max(len(line) - 1, 0)
    result = np.empty(len(first) + n + len(last), line.dtype)
    result[: len(first)] = first
    result[len(first) : len(first) + n] = np.subtract(line[1:], line[:n])
    result[len(first) + n :] = last
    return result


def gradient(f, *varargs, axis=None, edge_order=1):
    axes = axes_of(axis, f.ndim)
    if edge_order != 1 and edge_order != 2:
        refuse("'edge_order' greater than 2 not supported")
    if len(varargs) > 1 and len(varargs) != len(axes):
        raise TypeError("invalid number of arguments")
    if len(axes) == 1:
        return slope(f, axes[0], varargs[0] if len(varargs) > 0 else 1.0, edge_order)
    return slopes(f, axes, varargs, edge_order)


def slopes(f, axes, steps, edge_order):
    if len(axes) == 0:
        return ()
    step = steps[0] if len(steps) > 0 else 1.0
    return (slope(f, axes[0], step, edge_order),) + slopes(f, axes[1:], steps[1:] if len(steps) > 1 else steps, edge_order)


def slope(f, axis, step, edge_order):
    """Along one axis, which comes to the front."""
    kind = mean_type(f.dtype)
    result = np.empty(f.shape, kind)
    y = moveaxis(convert(f, kind), axis, 0)
    target = moveaxis(result, axis, 0)
    if len(y) < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
    if isinstance(step, np.ndarray) and step.ndim > 0:
        uneven_slope(target, y, step, edge_order, kind)
    else:
        even_slope(target, y, convert(step, kind), edge_order)
    return result


def even_slope(target, y, h, edge_order):
    n = len(y)
    target[1 : n - 1] = np.true_divide(y[2:] - y[: n - 2], h + h)
    if edge_order == 1:
        target[0] = np.true_divide(y[1] - y[0], h)
        target[n - 1] = np.true_divide(y[n - 1] - y[n - 2], h)
    else:
        target[0] = np.true_divide(4 * y[1] - 3 * y[0] - y[2], h + h)
        target[n - 1] = np.true_divide(y[n - 3] - 4 * y[n - 2] + 3 * y[n - 1], h + h)


def uneven_slope(target, y, x, edge_order, kind):
    n = len(y)
    if x.ndim != 1:
        refuse("distances must be either scalars or 1d")
    if len(x) != n:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    steps = np.diff(convert(x, kind))
    first = reshape(steps[: n - 2], (n - 2,) + (1,) * (y.ndim - 1))
    second = reshape(steps[1:], (n - 2,) + (1,) * (y.ndim - 1))
    both = first + second
    target[1 : n - 1] = y[: n - 2] * -np.true_divide(second, first * both) + y[1 : n - 1] * np.true_divide(second - first, first * second) + y[2:] * np.true_divide(first, second * both)
    if edge_order == 1:
        target[0] = np.true_divide(y[1] - y[0], steps[0])
        target[n - 1] = np.true_divide(y[n - 1] - y[n - 2], steps[n - 2])
    else:
        edge(target, 0, y[0], y[1], y[2], steps[0], steps[1])
        edge(target, n - 1, y[n - 1], y[n - 2], y[n - 3], -steps[n - 2], -steps[n - 3])


def edge(target, at, y0, y1, y2, h1, h2):
    """The slope in the first of three points."""
    target[at] = y0 * -np.true_divide(2 * h1 + h2, h1 * (h1 + h2)) + y1 * np.true_divide(h1 + h2, h1 * h2) - y2 * np.true_divide(h1, h2 * (h1 + h2))


def trapezoid(y, x=None, dx=1.0, axis=-1):
    at = axis_of(axis, y.ndim)
    pairs = y[part(y.ndim, at, slice(1, None))] + y[part(y.ndim, at, slice(None, -1))]
    if x is None:
        return sum_(dx * pairs / 2.0, at)
    if x.ndim == 1:
        steps = difference(x, 0)
        return sum_(moveaxis(steps * moveaxis(pairs, at, -1) / 2.0, -1, at), at)
    return sum_(difference(x, at) * pairs / 2.0, at)


# -- between points ---------------------------------------------------------------------------------------------------


NEAR = 8  # places before and behind the last one that are looked at first


def place_from(x, xp, guess):
    """The last place whose point is not greater than x: -1 before all points, len(xp) behind them. The search begins at the place
    of the value before, and looks at the same points as NumPy's, so that points out of order give what they give there."""
    n = len(xp)
    if x > xp[n - 1]:
        return n
    if x < xp[0]:
        return -1
    if n <= 4:
        at = 1
        while at < n and x >= xp[at]:
            at += 1
        return at - 1
    near = max(1, min(guess, n - 3))
    low = 0
    high = n
    if x < xp[near]:
        if not x < xp[near - 1]:  # nan among the points
            return near - 1
        high = near - 1
        if near > NEAR and x >= xp[near - NEAR]:
            low = near - NEAR
    elif x < xp[near + 1]:
        return near
    elif x < xp[near + 2]:
        return near + 1
    else:
        low = near + 2
        if near < n - NEAR - 1 and x < xp[near + NEAR]:
            high = near + NEAR
    while low < high:
        middle = (low + high) >> 1
        if x >= xp[middle]:
            low = middle + 1
        else:
            high = middle
    return low - 1


def value_at(x, at, xp, fp, left, right, part):
    """Of x, whose place is `at`. `part`: None, or of complex heights 0 the real parts, 1 the imaginary ones, which NumPy rounds otherwise."""
    n = len(xp)
    if n > 1 and x != x:
        return 0.0 if part == 1 else x
    if at == n:
        return right
    if at < 0:
        return left
    if at >= n - 1:
        return fp[n - 1]
    if xp[at] == x:
        return fp[at]
    rise, run = fp[at + 1] - fp[at], xp[at + 1] - xp[at]
    slope = rise / run if part is None else rise * (1.0 / run)
    result = slope * (x - xp[at]) + fp[at]
    if result != result:
        result = slope * (x - xp[at + 1]) + fp[at + 1]
        if result != result and fp[at] == fp[at + 1]:
            return fp[at]
    return result


def interp_periodic(wanted, points, heights, period, x, part):
    """The points in one period, in order, and one on each side."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    if len(points) != len(heights):
        raise ValueError("fp and xp are not of the same length.")
    within = points % period
    order = np.argsort(within)
    line = within[order]
    values = heights[order]
    n = len(line)
    if n == 0:
        raise ValueError("array of sample points is empty")
    xs = np.concatenate((line[n - 1 :] - period, line, line[:1] + period))
    ys = np.concatenate((values[n - 1 :], values, values[:1]))
    return interp_part(wanted % period if isinstance(x, (np.ndarray, tuple)) else np.float64(x) % period, xs, ys, None, None, None, part)


def real_of(x):
    return None if x is None else x.real


def imag_of(x):
    return None if x is None else x.imag


def interp_complex(x, xp, fp, left, right, period, many):
    """Part by part."""
    real = interp_part(x, xp, fp.real, real_of(left), real_of(right), period, 0)
    imag = interp_part(x, xp, fp.imag, imag_of(left), imag_of(right), period, 1)
    if not many:
        return complex(real, imag)
    result = np.empty(x.shape, np.complex128)
    result.real[...] = real
    result.imag[...] = imag
    return result


def interp(x, xp, fp, left=None, right=None, period=None):
    return interp_part(x, xp, fp, left, right, period, None)


def interp_part(x, xp, fp, left, right, period, part):
    points = convert(array_of(xp), np.float64)
    if result_type(array_of(fp)).kind == "c":
        return interp_complex(array_of(x), points, array_of(fp), left, right, period, isinstance(x, (np.ndarray, tuple)))
    heights = convert(array_of(fp), np.float64)
    if period is not None:
        return interp_periodic(array_of(x), points, heights, abs(np.float64(period)), x, part)
    if isinstance(x, tuple):
        return interp_part(array_of(x), points, heights, left, right, None, part)
    if len(points) == 0:
        raise ValueError("array of sample points is empty")
    if len(points) != len(heights):
        raise ValueError("fp and xp are not of the same length.")
    below = heights[0] if left is None else np.float64(left)
    above = heights[len(heights) - 1] if right is None else np.float64(right)
    if not isinstance(x, np.ndarray) or x.ndim == 0:
        alone = convert(x, np.float64)
        return value_at(alone, place_from(alone, points, 0), points, heights, below, above, part)
    wanted = ravel(x)
    result = np.empty(x.shape, np.float64)
    values = ravel(result)
    at = 0
    for i in range(len(wanted)):
        here = np.float64(wanted[i])
        if here == here:  # the search goes on behind a nan from where it was
            at = place_from(here, points, at)
        values[i] = value_at(here, at, points, heights, below, above, part)
    return result


# -- products -------------------------------------------------------------------------------------------------------------


def diagonal_view(a, offset, axis1, axis2):
    """With the diagonal as the last axis."""
    first = axis_of(axis1, a.ndim)
    second = axis_of(axis2, a.ndim)
    if first == second:
        refuse("axis1 and axis2 cannot be the same")
        return a
    part = moveaxis(a, (first, second), (-2, -1))
    rows = part.shape[-2]
    columns = part.shape[-1]
    below = max(-offset, 0)
    beside = max(offset, 0)
    n = max(min(rows - below, columns - beside), 0)
    step = part.strides[-2] + part.strides[-1]
    start = part[..., min(below, rows) :, min(beside, columns) :]
    return restride(start, start.shape[:-2] + (n,), start.strides[:-2] + (step,))


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    if a.ndim < 2:
        refuse("diag requires an array of at least two dimensions")
        return 0
    return sum_(diagonal_view(a, offset, axis1, axis2), -1, dtype, out)


def last_item(a, k):
    return a[..., k]


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        return cross(a, b, axis, axis, axis)
    x = moveaxis(a, axis_of(axisa, a.ndim), -1)
    y = moveaxis(b, axis_of(axisb, b.ndim), -1)
    guard("cross_vectors", x.shape[-1] != 3 or y.shape[-1] != 3, x.shape[-1], y.shape[-1])
    if x.ndim == 1 and y.ndim == 1:
        return np.array((x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]), result_type(x, y))
    first = np.subtract(last_item(x, 1) * last_item(y, 2), last_item(x, 2) * last_item(y, 1))
    result = np.empty(first.shape + (3,), first.dtype)
    result[..., 0] = first
    result[..., 1] = np.subtract(last_item(x, 2) * last_item(y, 0), last_item(x, 0) * last_item(y, 2))
    result[..., 2] = np.subtract(last_item(x, 0) * last_item(y, 1), last_item(x, 1) * last_item(y, 0))
    return copy(moveaxis(result, -1, axis_of(axisc, result.ndim)))


def filled(items, n, filler):
    return items if len(items) >= n else filled((filler,) + items, n, filler)


def interleaved(a, b):
    return () if len(a) == 0 else (a[0], b[0]) + interleaved(a[1:], b[1:])


def products(a, b):
    return () if len(a) == 0 else (a[0] * b[0],) + products(a[1:], b[1:])


def kron(a, b):
    x = array_of(a)
    y = array_of(b)
    n = x.ndim if x.ndim > y.ndim else y.ndim
    if n == 0:
        return np.multiply(a, b)
    long = filled(x.shape, n, 1)
    short = filled(y.shape, n, 1)
    ones = filled((), n, 1)
    zeros = filled((), n, 0)
    each = restride(x, interleaved(long, ones), interleaved(filled(x.strides, n, 0), zeros))
    inner = restride(y, interleaved(ones, short), interleaved(zeros, filled(y.strides, n, 0)))
    return reshape(np.multiply(each, inner), products(long, short))


def correlated(a, v, start, n):
    """sum(a[start + i + j] * conj(v[j])) for i below n, where a is zero outside."""
    kind = result_type(a, v)
    result = np.zeros(n, kind)
    for i in range(n):
        low = max(0, -(start + i))
        high = min(len(v), len(a) - (start + i))
        total = convert(0, kind)
        for j in range(low, high):
            total = np.add(total, np.multiply(convert(a[start + i + j], kind), convert(np.conjugate(v[j]), kind)))
        result[i] = total
    return result


def along_each_other(a, v, mode):
    if mode == "valid":
        return correlated(a, v, 0, len(a) - len(v) + 1)
    if mode == "same":
        return correlated(a, v, -(len(v) // 2), len(a))
    if mode != "full":
        refuse("mode must be one of 'valid', 'same', or 'full'")
    return correlated(a, v, -(len(v) - 1), len(a) + len(v) - 1)


def correlate(a, v, mode="valid"):
    if isinstance(a, tuple) or isinstance(v, tuple):
        return correlate(np.asarray(a), np.asarray(v), mode)
    if a.ndim != 1 or v.ndim != 1:
        refuse("object of too small or too great depth for desired array")
        return np.zeros(0, result_type(a, v))
    if len(a) == 0:
        raise ValueError("first array argument cannot be empty")
    if len(v) == 0:
        raise ValueError("second array argument cannot be empty")
    if len(a) >= len(v):
        return along_each_other(a, v, mode)
    return np.conjugate(along_each_other(v, a, mode)[::-1])


def convolve(a, v, mode="full"):
    if isinstance(a, tuple) or isinstance(v, tuple):
        return convolve(np.asarray(a), np.asarray(v), mode)
    if a.ndim != 1 or v.ndim != 1:
        refuse("object of too small or too great depth for desired array")
        return np.zeros(0, result_type(a, v))
    if len(a) == 0:
        raise ValueError("a cannot be empty")
    if len(v) == 0:
        raise ValueError("v cannot be empty")
    if len(a) >= len(v):
        return along_each_other(a, np.conjugate(v[::-1]), mode)
    return along_each_other(v, np.conjugate(a[::-1]), mode)


FUNCTIONS = {
    "ndarray.trace": trace,
    "numpy.convolve": convolve,
    "numpy.correlate": correlate,
    "numpy.cross": cross,
    "numpy.diff": diff,
    "numpy.ediff1d": ediff1d,
    "numpy.gradient": gradient,
    "numpy.interp": interp,
    "numpy.kron": kron,
    "numpy.trace": trace,
    "numpy.trapezoid": trapezoid,
    "numpy.trapz": trapezoid,
}
