"""Shapes: views and copies of arrays, tuples of lengths. Tuples are walked over by recursion, so that each step knows
its constants. What constants say is wrong is raised when the function runs: what is behind it is compiled with something
that fits."""

import numpy as np

from .primitives import guard, known, layout, promise, read_only, refuse_code, reshape as reshape_c, restride


# -- tuples -------------------------------------------------------------------------------------------------


def product(lengths):
    if len(lengths) == 0:
        return 1
    return lengths[0] * product(lengths[1:])


def refuse(text):
    raise ValueError(text)


def refuse_axis(axis, ndim):
    raise np.exceptions.AxisError(axis, ndim)


def axis_of(axis, ndim):
    """A constant axis as 0 .. ndim - 1."""
    if not isinstance(axis, int):
        refuse_code("axis must be an integer")
    if axis < -ndim or axis >= ndim:
        refuse_axis(axis, ndim)
        return 0
    return axis + ndim if axis < 0 else axis


def axes_of(axis, ndim):
    """None, an int or a tuple as a tuple of axes."""
    if axis is None:
        return tuple_to(ndim)
    if isinstance(axis, tuple):
        axes = each_axis(axis, ndim)
        if has_repeated(axes):
            refuse("duplicate value in 'axis'")
            return without_repeated(axes)
        return axes
    if ndim == 0 and -1 <= axis <= 0:  # as NumPy: an array without axes is reduced along none
        return ()
    return (axis_of(axis, ndim),)


def each_axis(axes, ndim):
    if len(axes) == 0:
        return ()
    return (axis_of(axes[0], ndim),) + each_axis(axes[1:], ndim)


def on_axes(f, a, axes, chosen, rest):
    """Axes are chosen one after the other."""
    if len(axes) == 0:
        return f(a, chosen, *rest)
    if axes[0] < -a.ndim or axes[0] >= a.ndim:
        raise np.exceptions.AxisError(axes[0], a.ndim)
    return from_axes(f, a, axes, chosen, axes[0] + a.ndim if axes[0] < 0 else axes[0], 0, rest)


def from_axes(f, a, axes, chosen, axis, at, rest):
    if at in chosen:
        return from_axes(f, a, axes, chosen, axis, at + 1, rest)
    if at == a.ndim:
        raise ValueError("duplicate value in 'axis'")
    if axis == at or is_last_free(at, chosen, a.ndim):
        if axis != at:
            raise ValueError("duplicate value in 'axis'")
        return on_axes(f, a, axes[1:], chosen + (at,), rest)
    return from_axes(f, a, axes, chosen, axis, at + 1, rest)


def is_last_free(at, chosen, ndim):
    return at == ndim - 1 or (at + 1 in chosen and is_last_free(at + 1, chosen, ndim))


def on_axis(f, a, axis, rest):
    """f(a, axis, *rest) where the axis is known only when the function runs: one call for each axis there is. What is returned must
    have one type."""
    if isinstance(axis, tuple):
        return on_axes(f, a, axis, (), rest)
    if a.ndim == 0:
        refuse_axis(axis, 0)
        return f(a, None, *rest)
    if axis < -a.ndim or axis >= a.ndim:
        raise np.exceptions.AxisError(axis, a.ndim)
    return from_axis(f, a, axis + a.ndim if axis < 0 else axis, 0, a.ndim, rest)


def from_axis(f, a, axis, at, count, rest):
    if at == count - 1:
        return f(a, at, *rest)
    if axis == at:
        return f(a, at, *rest)
    return from_axis(f, a, axis, at + 1, count, rest)


def has_repeated(axes):
    if len(axes) < 2:
        return False
    return axes[0] in axes[1:] or has_repeated(axes[1:])


def without_repeated(axes):
    if len(axes) < 2:
        return axes
    return without_repeated(axes[1:]) if axes[0] in axes[1:] else axes[:1] + without_repeated(axes[1:])


def tuple_to(n):
    """(0, 1, ... n - 1)"""
    if n == 0:
        return ()
    return tuple_to(n - 1) + (n - 1,)


def without(items, axes, at=0):
    """The items whose position is not one of the axes."""
    if at == len(items):
        return ()
    if at in axes:
        return without(items, axes, at + 1)
    return (items[at],) + without(items, axes, at + 1)


def with_ones(lengths, axes, at=0):
    """Lengths, with 1 at the axes."""
    if at == len(lengths):
        return ()
    return (1 if at in axes else lengths[at],) + with_ones(lengths, axes, at + 1)


def picked(items, axes):
    """items[axes[0]], items[axes[1]] ..."""
    if len(axes) == 0:
        return ()
    return (items[axes[0]],) + picked(items, axes[1:])


def as_tuple(shape):
    return shape if isinstance(shape, tuple) else (shape,)


# -- memory ---------------------------------------------------------------------------------------------------


def is_c_order(shape, strides, size):
    """Do elements of that many bytes follow each other, the last axis first?"""
    if len(shape) == 0:
        return True
    here = shape[-1] == 1 or strides[-1] == size
    return here and is_c_order(shape[:-1], strides[:-1], size * shape[-1])


def copy(a, order="C"):
    if order == "F" or (layout(a) == "F" and (order == "A" or order == "K")):
        result = np.empty(a.shape, a.dtype, "F")
    else:
        result = np.empty(a.shape, a.dtype)
    result[...] = a
    return result


def function_copy(a, order="K"):
    return copy(a, order)


def method_copy(a, order="C"):
    return copy(a, order)


def ascontiguousarray(a, dtype=None):
    if a.ndim == 0:
        return ascontiguousarray(reshape_c(a, (1,)), dtype)
    return contiguous(a, dtype)


def contiguous(a, dtype=None):
    """With as many axes as it has."""
    if dtype is not None and dtype != a.dtype:
        return a.astype(dtype)
    if layout(a) == "C":
        return a
    if a.size == 0 or is_c_order(a.shape, a.strides, a.itemsize):
        return promise(a, "C")
    return copy(a)


def asfortranarray(a, dtype=None):
    if a.ndim == 0:
        return asfortranarray(reshape_c(a, (1,)), dtype)
    return contiguous(a.T, dtype).T


# -- shapes -----------------------------------------------------------------------------------------------------


def count_negative(lengths):
    if len(lengths) == 0:
        return 0
    return (1 if lengths[0] < 0 else 0) + count_negative(lengths[1:])


def known_product(lengths):
    if len(lengths) == 0:
        return 1
    return (lengths[0] if lengths[0] >= 0 else 1) * known_product(lengths[1:])


def replaced(lengths, unknown):
    if len(lengths) == 0:
        return ()
    return (lengths[0] if lengths[0] >= 0 else unknown,) + replaced(lengths[1:], unknown)


def sizes(shape, size):
    """The shape with -1 replaced by what is left of the size."""
    unknown = count_negative(shape)
    known = known_product(shape)
    if unknown == 0:
        guard("reshape_size", known != size, size, known)
        return replaced(shape, 0)
    if unknown > 1:
        refuse("can only specify one unknown dimension")
    guard("reshape_multiple", known == 0 or size % known != 0, size, known)
    return replaced(shape, size // known)


def reshape(a, shape, order="C"):
    lengths = as_tuple(shape)
    if order == "F" or (order == "A" and layout(a) == "F"):
        return reshape(a.T, lengths[::-1]).T
    check_order(order, "K")
    return reshape_c(contiguous(a), sizes(lengths, a.size))


def method_reshape(a, *shape, order="C"):
    if len(shape) == 1:
        return reshape(a, shape[0], order)
    return reshape(a, shape, order)


def check_order(order, but=""):
    if (order != "C" and order != "F" and order != "A" and order != "K") or order == but:
        refuse("order is one of 'C', 'F', 'A' and 'K', which reshape does not take")


def by_columns(a, order):
    return order == "F" or ((order == "A" or order == "K") and layout(a) == "F")


def ravel(a, order="C"):
    if by_columns(a, order):
        return ravel(a.T)
    check_order(order)
    return reshape_c(contiguous(a), (a.size,))


def flatten(a, order="C"):
    if by_columns(a, order):
        return flatten(a.T)
    check_order(order)
    return reshape_c(copy(a), (a.size,))


def transpose(a, axes=None):
    if axes is None:
        return a.T
    order = each_axis(as_tuple(axes), a.ndim)
    if len(order) != a.ndim:
        refuse("axes don't match array")
        return a
    if has_repeated(order):
        refuse("repeated axis in transpose")
    return restride(a, picked(a.shape, order), picked(a.strides, order))


def method_transpose(a, *axes):
    if len(axes) == 0:
        return a.T
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], tuple)):
        return transpose(a, axes[0])
    return transpose(a, axes)


def swapped(n, i, j, at=0):
    if at == n:
        return ()
    return (j if at == i else i if at == j else at,) + swapped(n, i, j, at + 1)


def swapaxes(a, axis1, axis2):
    if not known(axis1):
        return on_axis(swapaxes, a, axis1, (axis2,))
    if not known(axis2):
        return on_axis(swapaxes, a, axis2, (axis1,))
    return transpose(a, swapped(a.ndim, axis_of(axis1, a.ndim), axis_of(axis2, a.ndim)))


def inserted(order, sources, destinations, at, n):
    """`order` with each source at its destination."""
    if at == n:
        return ()
    if at in destinations:
        return (picked(sources, (index(destinations, at),))[0],) + inserted(order, sources, destinations, at + 1, n)
    return (order[0],) + inserted(order[1:], sources, destinations, at + 1, n)


def index(items, x, at=0):
    """The position of a constant in a tuple of constants that has it."""
    return at if items[at] == x else index(items, x, at + 1)


def moved_to(a, destination, source):
    return moveaxis(a, source, destination)


def place_of(x, items):
    """Where x stands among ints that are known only when the function runs, or -1."""
    for i in range(len(items)):
        if items[i] == x:
            return i
    return -1


def axis_at(position, sources, destinations):
    """The axis of `a` that comes to a position: a moved one, or the next of the others."""
    moved = place_of(position, destinations)
    if moved >= 0:
        return sources[moved]
    left = position
    for d in destinations:
        left -= d < position
    axis = 0
    while True:
        if place_of(axis, sources) < 0:
            if left == 0:
                return axis
            left -= 1
        axis += 1


def axes_at(position, ndim, sources, destinations):
    if position == ndim:
        return ()
    return (axis_at(position, sources, destinations),) + axes_at(position + 1, ndim, sources, destinations)


def axes_within(axes, ndim):
    """Of a tuple that is known only when the function runs."""
    if len(axes) == 0:
        return ()
    if axes[0] < -ndim or axes[0] >= ndim:
        raise np.exceptions.AxisError(axes[0], ndim)
    return (axes[0] + ndim if axes[0] < 0 else axes[0],) + axes_within(axes[1:], ndim)


def repeats(axes):
    for i in range(len(axes)):
        if place_of(axes[i], axes) != i:
            return True
    return False


def moveaxis_later(a, source, destination):
    sources = axes_within(source, a.ndim)
    destinations = axes_within(destination, a.ndim)
    if repeats(sources):
        raise ValueError("repeated axis in `source` argument")
    if repeats(destinations):
        raise ValueError("repeated axis in `destination` argument")
    return transpose(a, axes_at(0, a.ndim, sources, destinations))


def moveaxis(a, source, destination):
    if isinstance(source, tuple) and isinstance(destination, tuple) and len(source) == len(destination) and not (known(source) and known(destination)):
        return moveaxis_later(a, source, destination)
    if not known(source):
        return on_axis(moveaxis, a, source, (destination,))
    if not known(destination):
        return on_axis(moved_to, a, destination, (source,))
    sources = axes_of(source, a.ndim)
    destinations = axes_of(destination, a.ndim)
    if len(sources) != len(destinations):
        refuse("`source` and `destination` arguments must have the same number of elements")
        return a
    rest = without(tuple_to(a.ndim), sources)
    return transpose(a, inserted(rest, sources, destinations, 0, a.ndim))


def rollaxis(a, axis, start=0):
    at = axis_of(axis, a.ndim)
    to = axis_of(start, a.ndim + 1)
    return moveaxis(a, at, to - 1 if at < to else to)


def squeeze(a, axis=None):
    """Without an axis the number of axes would depend on the lengths: it is an error if there is one to drop."""
    if axis is None:
        for length in a.shape:
            if length == 1:
                raise ValueError("squeeze needs to know which axes have length 1, since the number of axes may not depend on lengths: "
                                 "say squeeze(a, axis)")
        return a
    axes = axes_of(axis, a.ndim)
    for k in axes:
        if a.shape[k] != 1:
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return restride(a, without(a.shape, axes), without(a.strides, axes))


def expanded(items, axes, filler, at, n):
    if at == n:
        return ()
    if at in axes:
        return (filler,) + expanded(items, axes, filler, at + 1, n)
    return (items[0],) + expanded(items[1:], axes, filler, at + 1, n)


def expanded_somewhere(a, axis):
    """Of an axis that is known only when the function runs."""
    if axis < -a.ndim - 1 or axis > a.ndim:
        raise np.exceptions.AxisError(axis, a.ndim + 1)
    return from_axis(expand_dims, a, axis + a.ndim + 1 if axis < 0 else axis, 0, a.ndim + 1, ())


def expand_dims(a, axis):
    if not isinstance(a, np.ndarray):
        return expand_dims(np.array(a), axis)
    if not known(axis):
        return expanded_somewhere(a, axis)
    n = a.ndim + len(as_tuple(axis))
    axes = axes_of(axis, n)
    if len(axes) < n - a.ndim:
        return a
    if layout(a) == "C":
        return reshape_c(a, expanded(a.shape, axes, 1, 0, n))
    return restride(a, expanded(a.shape, axes, 1, 0, n), expanded(a.strides, axes, 0, 0, n))


def stretched(strides, lengths, shape):
    """Strides of a broadcast to `shape`, which has as many axes."""
    if len(shape) == 0:
        return ()
    if lengths[0] != shape[0] and lengths[0] != 1:
        raise ValueError("operands could not be broadcast together with remapped shapes")
    return (strides[0] if lengths[0] == shape[0] else 0,) + stretched(strides[1:], lengths[1:], shape[1:])


def broadcast_to(array, shape):
    if not isinstance(array, np.ndarray):
        return broadcast_to(np.array(array), shape)
    lengths = as_tuple(shape)
    more = len(lengths) - array.ndim
    if more < 0:
        refuse("input operand has more dimensions than allowed by the axis remapping")
        return array
    strides = (0,) * more + stretched(array.strides, array.shape, lengths[more:])
    return read_only(restride(array, lengths, strides))


def broadcast_lengths(a, b):
    if len(a) < len(b):
        return broadcast_lengths(b, a)
    more = len(a) - len(b)
    return a[:more] + common_lengths(a[more:], b)


def common_lengths(a, b):
    if len(a) == 0:
        return ()
    if a[0] != b[0] and a[0] != 1 and b[0] != 1:
        refuse("shape mismatch: objects cannot be broadcast to a single shape")
    return (b[0] if a[0] == 1 else a[0],) + common_lengths(a[1:], b[1:])


def no_negative(lengths):
    for n in lengths:
        if n < 0:
            refuse("negative dimensions are not allowed")
    return lengths


def broadcast_shapes(*shapes):
    if len(shapes) == 0:
        return ()
    first = no_negative(as_tuple(shapes[0]))
    return first if len(shapes) == 1 else broadcast_lengths(first, broadcast_shapes(*shapes[1:]))


def flip(m, axis=None):
    if not known(axis):
        return on_axis(flip, m, axis, ())
    axes = axes_of(axis, m.ndim)
    return m[flipped_index(m.ndim, axes)]


def flipped_index(ndim, axes, at=0):
    if at == ndim:
        return ()
    return (slice(None, None, -1) if at in axes else slice(None),) + flipped_index(ndim, axes, at + 1)


def fliplr(m):
    return flip(m, 1)


def flipud(m):
    return flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    turns = k % 4
    first = axis_of(axes[0], m.ndim)
    second = axis_of(axes[1], m.ndim)
    if turns == 0:
        return transpose(m, tuple_to(m.ndim))
    if turns == 1:
        return swapaxes(flip(m, second), first, second)
    if turns == 2:
        return flip(flip(m, first), second)
    return flip(swapaxes(m, first, second), second)


FUNCTIONS = {
    "ndarray.copy": method_copy,
    "ndarray.flatten": flatten,
    "ndarray.ravel": ravel,
    "ndarray.reshape": method_reshape,
    "ndarray.squeeze": squeeze,
    "ndarray.swapaxes": swapaxes,
    "ndarray.transpose": method_transpose,
    "numpy.ascontiguousarray": ascontiguousarray,
    "numpy.asfortranarray": asfortranarray,
    "numpy.broadcast_shapes": broadcast_shapes,
    "numpy.broadcast_to": broadcast_to,
    "numpy.copy": function_copy,
    "numpy.expand_dims": expand_dims,
    "numpy.flip": flip,
    "numpy.fliplr": fliplr,
    "numpy.flipud": flipud,
    "numpy.moveaxis": moveaxis,
    "numpy.ravel": ravel,
    "numpy.reshape": reshape,
    "numpy.rollaxis": rollaxis,
    "numpy.rot90": rot90,
    "numpy.squeeze": squeeze,
    "numpy.swapaxes": swapaxes,
    "numpy.transpose": transpose,
}
