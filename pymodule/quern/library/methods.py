"""Methods of ufuncs, NumPy's and the user's: reduce, accumulate, reduceat, outer and at. The ufunc is their first argument, a
constant; what it starts with is its attribute `identity`; `in_any_order` (several axes may be reduced at once) and `in_64_bits`
(np.add and np.multiply) are known in this package only."""

import numpy as np

from .indexing import as_part, is_array
from .primitives import check_index, convert, fitting, known, map_into, result_type
from .reductions import accumulate_with, array_of, check_not_empty, finished, on_axis, only, reduced, sum_type
from .shapes import axes_of, axis_of, broadcast_to, contiguous, moveaxis, picked, product, ravel, refuse, reshape, transpose, tuple_to, without


def loop_type(f, a):
    """The dtype that the ufunc gives for two elements of the array. Sums and products of ints have 64 bits."""
    if f.in_64_bits:
        return sum_type(a.dtype)
    nothing = np.empty(0, a.dtype)
    return result_type(f(nothing, nothing))


# -- reduce ---------------------------------------------------------------------------------------------------------


def reduce(f, array, axis=0, dtype=None, out=None, keepdims=False, initial=(), where=None):
    if f.nin != 2:
        raise ValueError("reduce only supported for binary functions")
    a = array_of(array)
    kind = loop_type(f, a) if dtype is None else dtype
    if not known(axis):
        return on_axis(reduce_as, a, axis, (f, kind, out, keepdims, initial, where))
    return reduce_as(a, axis, f, kind, out, keepdims, initial, where)


def reduce_as(a, axis, f, kind, out, keepdims, initial, where):
    axes = axes_of(axis, a.ndim)
    if len(axes) > 1 and not f.in_any_order:
        raise ValueError("reduction operation is not reorderable, so at most one axis may be specified")
    first = f.identity if isinstance(initial, tuple) else initial
    if first is None:
        if where is not None:
            raise ValueError("reduction operation does not have an identity, so to use a where mask one has to specify 'initial'")
        check_not_empty(a, axes)
        return finished(reduced(f, None, axes, convert(a, kind)), a.shape, axes, out, keepdims)
    start = fitting(first, kind)
    if where is None:
        return finished(reduced(f, start, axes, convert(a, kind)), a.shape, axes, out, keepdims)
    if f.identity is not None:
        return finished(reduced(f, start, axes, only(convert(a, kind), where, f.identity)), a.shape, axes, out, keepdims)
    mask = where if is_array(where) else np.full((), where)
    return finished(reduce_some(f, start, convert(a, kind), axes, mask), a.shape, axes, out, keepdims)


def in_lines(a, axes):
    """The axes that are reduced as one, the last."""
    kept = without(tuple_to(a.ndim), axes)
    return reshape(contiguous(transpose(a, kept + axes)), picked(a.shape, kept) + (product(picked(a.shape, axes)),))


def reduce_some(f, start, a, axes, where):
    lines = in_lines(a, axes)
    masks = in_lines(broadcast_to(where, a.shape), axes)
    if lines.ndim == 1:
        return fold(f, start, lines, masks)
    result = np.empty(lines.shape[:-1], a.dtype)
    fold_each(f, start, lines, masks, result)
    return result


def fold(f, start, line, mask):
    for i in range(len(line)):
        if mask[i]:
            start = convert(f(start, line[i]), line.dtype)
    return start


def fold_each(f, start, lines, masks, out):
    for i in range(len(out)):
        if out.ndim == 1:
            out[i] = fold(f, start, lines[i], masks[i])
        else:
            fold_each(f, start, lines[i], masks[i], out[i])


# -- accumulate and reduceat --------------------------------------------------------------------------------------------


def accumulate(f, array, axis=0, dtype=None, out=None):
    if f.nin != 2:
        raise ValueError("accumulate only supported for binary functions")
    a = array_of(array)
    return accumulate_with(f, loop_type(f, a), a, axis, dtype, out)


def reduceat(f, array, indices, axis=0, dtype=None, out=None):
    if f.nin != 2:
        raise ValueError("reduceat only supported for binary functions")
    a = array_of(array)
    positions = array_of(indices)
    if positions.ndim > 1:
        refuse("the indices of reduceat have one axis")
    if not known(axis):
        return on_axis(reduceat_along, a, axis, (f, positions, dtype, out))
    return reduceat_along(a, axis, f, positions, dtype, out)


def reduceat_along(a, axis, f, positions, dtype, out):
    at = axis_of(axis, a.ndim)
    for j in range(len(positions)):
        if positions[j] < 0 or positions[j] >= a.shape[at]:
            raise IndexError("an index is out of bounds in reduceat")
    result = np.empty(a.shape[:at] + (len(positions),) + a.shape[at + 1:], loop_type(f, a) if dtype is None else dtype)
    reduce_parts(f, moveaxis(a, at, 0), moveaxis(result, at, 0), positions)
    return finished(result, result.shape, (), out, False)


def reduce_parts(f, a, out, positions):
    for j in range(len(positions)):
        i = positions[j]
        end = positions[j + 1] if j + 1 < len(positions) else len(a)
        if a.ndim == 1:
            last = convert(a[i], out.dtype)
            for k in range(i + 1, end):
                last = convert(f(last, convert(a[k], out.dtype)), out.dtype)
            out[j] = last
        else:
            row = out[j]
            row[...] = a[i]
            for k in range(i + 1, end):
                map_into(row, f, row, convert(a[k], out.dtype))


# -- outer and at -------------------------------------------------------------------------------------------------------


def outer(f, A, B, out=None, where=None, dtype=None):
    if f.nin != 2:
        raise ValueError("outer product only supported for binary functions")
    a = array_of(A)
    b = array_of(B)
    if a.ndim == 0 or b.ndim == 0:
        return f(a[()] if a.ndim == 0 else a, b[()] if b.ndim == 0 else b, out=out, where=where, dtype=dtype)
    return f(a[(slice(None),) * a.ndim + (None,) * b.ndim], b, out=out, where=where, dtype=dtype)


def at(f, a, indices, b=()):
    """Each position is computed in its turn, those that are named again, too. Results are cast, whatever they are, as NumPy's."""
    if a.ndim == 1 and is_array(indices) and (indices.dtype.kind == "i" or indices.dtype.kind == "u"):
        at_positions(f, a, ravel(indices), values_at(b, indices.shape), len(a))
    else:
        positions = reshape(np.arange(a.size), a.shape)[indices]
        if is_array(positions):
            at_positions(f, a.flat, ravel(positions), values_at(b, positions.shape), a.size)
        else:
            at_positions(f, a.flat, np.full(1, positions), values_at(b, (1,)), a.size)


def values_at(b, shape):
    if isinstance(b, tuple):
        return None if len(b) == 0 else values_at(np.array(b), shape)
    if not is_array(b):
        return b
    return ravel(broadcast_to(b, shape))


def at_positions(f, a, positions, values, n):
    for k in range(len(positions)):
        i = check_index(positions[k], n, 0)
        a[i] = result_at(f, a[i], values, k)


def result_at(f, x, values, k):
    result = f(x) if values is None else f(x, values[k]) if is_array(values) else f(x, values)
    return convert(result, result_type(x))


FUNCTIONS = {
    "ufunc.accumulate": accumulate,
    "ufunc.at": at,
    "ufunc.outer": outer,
    "ufunc.reduce": reduce,
    "ufunc.reduceat": reduceat,
}
