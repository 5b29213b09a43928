"""Indexing by arrays: masks, arrays of positions, several of them with ints and slices between them; and the functions
that find, take and put elements by their positions.

An index becomes a tuple of parts, one for each axis of a view: None (a new axis), a slice, an int, or an array of ints;
a mask becomes the positions of its true elements. The axes of ints and arrays move to the front of the view; what they
select together is walked over, what remains behind them is copied as a whole."""

import numpy as np

from .primitives import check_index, convert, disjoint, fitting, guard, known, result_type
from .shapes import as_tuple, axis_of, broadcast_shapes, broadcast_to, copy, on_axis, picked, product, ravel, reshape, transpose, tuple_to, without


# -- parts ----------------------------------------------------------------------------------------------------------


def is_array(x):
    return isinstance(x, np.ndarray)


def is_mask(x):
    return isinstance(x, np.ndarray) and x.dtype.kind == "b"


def is_advanced(x):
    return x is not None and not isinstance(x, slice)


def as_part(x):
    """Sequences as arrays, arrays without axes as numbers."""
    if isinstance(x, tuple):
        return np.empty(0, np.int64) if len(x) == 0 else np.array(x)
    if is_array(x) and x.ndim == 0:
        return x[()]
    return x


def as_parts(items):
    if len(items) == 0:
        return ()
    return (as_part(items[0]),) + as_parts(items[1:])


def axes_taken(items):
    """How many axes of the array the items stand for."""
    if len(items) == 0:
        return 0
    if items[0] is None or items[0] is Ellipsis:
        return axes_taken(items[1:])
    return (items[0].ndim if is_mask(items[0]) else 1) + axes_taken(items[1:])


def parts_of(shape, items, axis=0, seen=False):
    """One part for each axis; Ellipsis stays, in front of the slices that it stands for."""
    if len(items) == 0:
        return (slice(None),) * (len(shape) - axis)
    part = items[0]
    rest = items[1:]
    if part is None:
        return (None,) + parts_of(shape, rest, axis, seen)
    if part is Ellipsis:
        if seen:
            raise IndexError("an index can only have a single ellipsis ('...')")
        more = len(shape) - axis - axes_taken(rest)
        return (Ellipsis,) + (slice(None),) * more + parts_of(shape, rest, axis + more, True)
    if is_mask(part):
        check_mask(shape, part.shape, axis)
        return nonzero(part) + parts_of(shape, rest, axis + part.ndim, seen)
    if is_array(part) and part.dtype.kind != "i" and part.dtype.kind != "u":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    return (part,) + parts_of(shape, rest, axis + 1, seen)


def check_mask(shape, lengths, axis, at=0):
    if at < len(lengths):
        guard("mask_length", shape[axis + at] != lengths[at], axis + at, shape[axis + at], lengths[at])
        check_mask(shape, lengths, axis, at + 1)


def without_ellipsis(parts):
    if len(parts) == 0:
        return ()
    if parts[0] is Ellipsis:
        return without_ellipsis(parts[1:])
    return (parts[0],) + without_ellipsis(parts[1:])


def basic_index(parts):
    """What makes the view: full axes for ints and arrays."""
    if len(parts) == 0:
        return ()
    return (slice(None) if is_advanced(parts[0]) else parts[0],) + basic_index(parts[1:])


def advanced_axes(parts, at=0):
    if at == len(parts):
        return ()
    return ((at,) if is_advanced(parts[at]) else ()) + advanced_axes(parts, at + 1)


def axis_numbers(parts, axis=0):
    """Of each int or array: the axis of the array that is indexed."""
    if len(parts) == 0:
        return ()
    if parts[0] is None:
        return axis_numbers(parts[1:], axis)
    return ((axis,) if is_advanced(parts[0]) else ()) + axis_numbers(parts[1:], axis + 1)


def runs(parts, inside=False):
    """How many groups of neighbouring ints and arrays there are: an ellipsis parts them even where it stands for nothing."""
    if len(parts) == 0:
        return 0
    here = parts[0] is not Ellipsis and is_advanced(parts[0])
    return (1 if here and not inside else 0) + runs(parts[1:], here)


def shapes_of(parts):
    if len(parts) == 0:
        return ()
    return ((parts[0].shape,) if is_array(parts[0]) else ()) + shapes_of(parts[1:])


def common_shape(parts):
    return common_of(shapes_of(parts))


def common_of(shapes):
    if len(shapes) == 1:
        return shapes[0]
    rest = common_of(shapes[1:])
    n = len(rest) if len(rest) < len(shapes[0]) else len(shapes[0])
    if not agree(rest[len(rest) - n:], shapes[0][len(shapes[0]) - n:]):
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together")
    return broadcast_shapes(rest, shapes[0])


def agree(a, b):
    if len(a) == 0:
        return True
    return (a[0] == b[0] or a[0] == 1 or b[0] == 1) and agree(a[1:], b[1:])


def stretched_parts(parts, shape):
    if len(parts) == 0:
        return ()
    return (broadcast_to(parts[0], shape) if is_array(parts[0]) else parts[0],) + stretched_parts(parts[1:], shape)


def unshared(parts, a):
    """Arrays of positions that lie in the array that is written to are read before."""
    if len(parts) == 0:
        return ()
    return (apart(parts[0], a) if is_array(parts[0]) else parts[0],) + unshared(parts[1:], a)


def apart(x, a):
    if disjoint(x, a):
        return x
    return copy(x)


def rows(parts, j):
    if len(parts) == 0:
        return ()
    return (parts[0][j] if is_array(parts[0]) else parts[0],) + rows(parts[1:], j)


def checked(positions, lengths, axes):
    if len(positions) == 0:
        return ()
    return (check_index(positions[0], lengths[0], axes[0]),) + checked(positions[1:], lengths[1:], axes[1:])


def gather(out, a, parts, axes, depth):
    """out[j...] = a[parts[j...]], `depth` axes deep."""
    if depth == 1:
        for j in range(len(out)):
            out[j] = a[checked(rows(parts, j), a.shape, axes)]
    else:
        for j in range(len(out)):
            gather(out[j], a, rows(parts, j), axes, depth - 1)


def check_all(lengths, parts, axes, shape):
    if len(shape) == 0:
        checked(parts, lengths, axes)
    else:
        for j in range(shape[0]):
            check_all(lengths, rows(parts, j), axes, shape[1:])


def scatter(a, parts, value, shape):
    if len(shape) == 0:
        a[parts] = value
    elif is_array(value):
        for j in range(shape[0]):
            scatter(a, rows(parts, j), value[j], shape[1:])
    else:
        for j in range(shape[0]):
            scatter(a, rows(parts, j), value, shape[1:])


# -- reading and writing ----------------------------------------------------------------------------------------------


def getitem(a, index):
    items = as_parts(as_tuple(index))
    guard("too_many_indices", axes_taken(items) > a.ndim, a.ndim, axes_taken(items))
    if len(items) == 1 and is_mask(items[0]):
        return selected(a, items[0])
    parts = parts_of(a.shape, items)
    axes = without_ellipsis(parts)
    front = advanced_axes(axes)
    view = moved_to_front(a[basic_index(axes)], front)
    positions = picked(axes, front)
    shape = common_shape(positions)
    at = front[0] if runs(parts) == 1 else 0
    rest = view.shape[len(front):]
    result = np.empty(rest[:at] + shape + rest[at:], a.dtype)
    target = moved_to_front(result, range_tuple(at, len(shape)))
    gather(target, view, stretched_parts(positions, shape), axis_numbers(axes), len(shape))
    return result


def moved_to_front(a, axes):
    if axes == tuple_to(len(axes)):
        return a
    return transpose(a, axes + without(tuple_to(a.ndim), axes))


def range_tuple(start, n):
    if n == 0:
        return ()
    return (start,) + range_tuple(start + 1, n - 1)


def as_value(value, kind):
    """What is assigned: Python ints fit the elements."""
    part = np.array(value, kind) if isinstance(value, tuple) else as_part(value)
    return part if is_array(part) else fitting(part, kind)


def setitem(a, index, value):
    items = as_parts(as_tuple(index))
    guard("too_many_indices", axes_taken(items) > a.ndim, a.ndim, axes_taken(items))
    if len(items) == 1 and is_mask(items[0]):
        assign_selected(a, apart(items[0], a), as_value(value, a.dtype))
    else:
        assign(a, unshared(parts_of(a.shape, items), a), as_value(value, a.dtype))


def assign(a, parts, value):
    axes = without_ellipsis(parts)
    front = advanced_axes(axes)
    view = moved_to_front(a[basic_index(axes)], front)
    positions = picked(axes, front)
    shape = common_shape(positions)
    at = front[0] if runs(parts) == 1 else 0
    rest = view.shape[len(front):]
    where = stretched_parts(positions, shape)
    numbers = axis_numbers(axes)
    if is_array(value):
        values = fitted(apart(value, a), rest[:at] + shape + rest[at:])
        check_all(view.shape, where, numbers, shape)
        scatter(view, where, moved_to_front(values, range_tuple(at, len(shape))), shape)
    else:
        check_all(view.shape, where, numbers, shape)
        scatter(view, where, value, shape)


def fitted(value, shape):
    """A value in the shape of what it is assigned to."""
    if value.ndim > len(shape):
        if value.shape[0] != 1:
            raise ValueError("shape mismatch: value array could not be broadcast to indexing result")
        return fitted(value[0], shape)
    if not stretches(value.shape, shape[len(shape) - value.ndim:]):
        raise ValueError("shape mismatch: value array could not be broadcast to indexing result")
    return broadcast_to(value, shape)


def stretches(lengths, shape):
    if len(lengths) == 0:
        return True
    return (lengths[0] == shape[0] or lengths[0] == 1) and stretches(lengths[1:], shape[1:])


# -- masks --------------------------------------------------------------------------------------------------------------


def selected(a, mask):
    check_mask(a.shape, mask.shape, 0)
    result = np.empty((np.count_nonzero(mask),) + a.shape[mask.ndim:], a.dtype)
    gather_selected(result, 0, a, mask)
    return result


def gather_selected(out, at, a, mask):
    if mask.ndim == 1:
        for i in range(len(mask)):
            if mask[i]:
                out[at] = a[i]
                at += 1
    else:
        for i in range(len(mask)):
            at = gather_selected(out, at, a[i], mask[i])
    return at


def assign_selected(a, mask, value):
    check_mask(a.shape, mask.shape, 0)
    if is_array(value):
        count = np.count_nonzero(mask)
        if value.ndim == 1 and mask.ndim == a.ndim:
            guard("mask_values", len(value) != count and len(value) != 1, len(value), count)
        scatter_selected(a, mask, fitted(apart(value, a), (count,) + a.shape[mask.ndim:]), 0)
    else:
        fill_selected(a, mask, value)


def scatter_selected(a, mask, values, at):
    if mask.ndim == 1:
        for i in range(len(mask)):
            if mask[i]:
                a[i] = values[at]
                at += 1
    else:
        for i in range(len(mask)):
            at = scatter_selected(a[i], mask[i], values, at)
    return at


def fill_selected(a, mask, value):
    if mask.ndim == 1:
        for i in range(len(mask)):
            if mask[i]:
                a[i] = value
    else:
        for i in range(len(mask)):
            fill_selected(a[i], mask[i], value)


def nonzero(a):
    count = np.count_nonzero(a)
    result = empty_lists(count, a.ndim)
    store_positions(result, 0, count, a, ())
    return result


def empty_lists(n, count):
    if count == 0:
        return ()
    return (np.empty(n, np.int64),) + empty_lists(n, count - 1)


def store_positions(out, at, count, a, position):
    """Each position is stored, and the next over it if its element is zero: that is no branch to mispredict. There are `count`."""
    for i in range(len(a)):
        if at == count:
            break
        if a.ndim == 1:
            store_each(out, at, position + (i,))
            at += 1 if bool(a[i]) else 0
        else:
            at = store_positions(out, at, count, a[i], position + (i,))
    return at


def store_each(out, at, position):
    if len(out) > 0:
        out[0][at] = position[0]
        store_each(out[1:], at, position[1:])


def where(condition):
    return nonzero(condition)


def flatnonzero(a):
    return nonzero(ravel(np.asarray(a)))[0]


def argwhere(a):
    if not isinstance(a, np.ndarray):
        return argwhere(np.asarray(a))
    if a.ndim == 0:
        return np.empty((1 if a[()] else 0, 0), np.int64)
    lists = nonzero(a)
    result = np.empty((a.ndim, np.count_nonzero(a)), np.int64)
    store_rows(result, lists, 0)
    return result.T


def store_rows(result, lists, at):
    if at < len(lists):
        result[at] = lists[at]
        store_rows(result, lists, at + 1)


def extract(condition, arr):
    return compress(ravel(np.asarray(condition)), ravel(np.asarray(arr)))


def compress(condition, a, axis=None, out=None):
    if condition.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    positions = nonzero(condition)[0]
    return take(a, positions, axis, out)


def method_compress(a, condition, axis=None, out=None):
    return compress(condition, a, axis, out)


def place(arr, mask, vals):
    if arr.size != mask.size:
        raise ValueError("place: mask and data must be the same size")
    values = line_for(arr, vals)
    if len(values) == 0 and np.any(mask):
        raise ValueError("Cannot insert from an empty array!")
    place_each(arr, reshape(mask, arr.shape), apart(values, arr), 0)


def putmask(a, mask, values):
    """Element number i becomes number i of the values, which are repeated."""
    if a.size != mask.size:
        raise ValueError("putmask: mask and data must be the same size")
    line = apart(line_for(a, values), a)
    if len(line) > 0:
        put_each(a, reshape(mask, a.shape), line, 0)


def put_each(a, mask, values, at):
    if mask.ndim == 1:
        for i in range(len(mask)):
            if mask[i]:
                a[i] = values[(at + i) % len(values)]
        return at + len(mask)
    for i in range(len(mask)):
        at = put_each(a[i], mask[i], values, at)
    return at


def place_each(a, mask, values, at):
    if mask.ndim == 1:
        for i in range(len(mask)):
            if mask[i]:
                a[i] = values[at % len(values)]
                at += 1
    else:
        for i in range(len(mask)):
            at = place_each(a[i], mask[i], values, at)
    return at


def line_for(a, x):
    """The same of what is put into an array: Python ints fit its elements."""
    if isinstance(x, tuple):
        return ravel(np.array(x, a.dtype))
    return ravel(x) if is_array(x) else np.full(1, fitting(x, a.dtype))


def line_of(x):
    """A number, sequence or array as an array of one axis."""
    if isinstance(x, tuple):
        return line_of(as_part(x))
    if is_array(x):
        return ravel(x)
    return np.full(1, x)


# -- positions ----------------------------------------------------------------------------------------------------------


def brought_inside(i, n, mode):
    """A position by the rule of numpy.take; "raise" is for those who index."""
    if mode == "wrap":
        return i % n
    if mode == "clip":
        return np.clip(i, 0, n - 1)
    return i


def taken_along(a, axis, indices, out, mode):
    return take(a, indices, axis, out, mode)


def take(a, indices, axis=None, out=None, mode="raise"):
    if axis is None:
        return take(ravel(a), indices, 0, out, mode)
    if not known(axis):
        return on_axis(taken_along, a, axis, (indices, out, mode))
    at = axis_of(axis, a.ndim)
    positions = as_part(indices)
    if mode != "raise" and a.shape[at] == 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    result = a[(slice(None),) * at + (brought_inside(positions, a.shape[at], mode),)]
    if out is not None:
        out[...] = result
        return out
    if is_array(positions) or a.ndim == 1:
        return result
    return copy(result)


def put(a, ind, v, mode="raise"):
    positions = line_of(ind)
    values = line_for(a, v)
    if len(values) > 0:
        for j in range(len(positions)):
            i = positions[j]
            if mode == "raise":
                guard("flat_index", i < -a.size or i >= a.size, i, a.size)
        for j in range(len(positions)):
            i = brought_inside(positions[j], a.size, mode)
            a[unraveled(i + a.size if i < 0 else i, a.shape)] = values[j % len(values)]


def unraveled(i, shape):
    """The indices of element number i, in C order."""
    if len(shape) == 0:
        return ()
    return unraveled(i // max(shape[-1], 1), shape[:-1]) + (i % max(shape[-1], 1),)


def along(a, indices, axis):
    """Parts of the index that takes along an axis: ranges for the others."""
    return along_parts(a.shape, indices, axis, 0)


def along_parts(shape, indices, axis, at):
    if at == len(shape):
        return ()
    if at == axis:
        return (indices,) + along_parts(shape, indices, axis, at + 1)
    ones = (1,) * at + (shape[at],) + (1,) * (len(shape) - at - 1)
    return (reshape(np.arange(shape[at]), ones),) + along_parts(shape, indices, axis, at + 1)


def take_along_axis(arr, indices, axis=-1):
    if axis is None:
        return take_along_axis(ravel(arr), indices, 0)
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return arr[along(arr, indices, axis_of(axis, arr.ndim))]


def put_along_axis(arr, indices, values, axis):
    if axis is None:
        put(arr, indices, values)
    else:
        if arr.ndim != indices.ndim:
            raise ValueError("`indices` and `arr` must have the same number of dimensions")
        arr[along(arr, indices, axis_of(axis, arr.ndim))] = values


def chosen(i, *choices):
    if len(choices) == 1:
        return choices[0]
    return np.where(i == 0, choices[0], chosen(i - 1, *choices[1:]))


def choose_rows(a, rows, mode):
    """Of an array the rows are the choices."""
    n = rows.shape[0]
    if mode == "raise" and (np.any(a < 0) or np.any(a >= n)):
        raise ValueError("invalid entry in choice array")
    shape = broadcast_shapes(a.shape, rows.shape[1:])
    aligned = reshape(rows, (n,) + (1,) * (len(shape) + 1 - rows.ndim) + rows.shape[1:])
    row = broadcast_to(brought_inside(a, n, mode), shape)
    return take_along_axis(broadcast_to(aligned, (n,) + shape), reshape(row, (1,) + shape), 0)[0]


def choose(a, choices, out=None, mode="raise"):
    if isinstance(choices, np.ndarray):
        result = choose_rows(a, choices, mode)
        if out is not None:
            out[...] = result
            return out
        return result
    if isinstance(a, (list, tuple)):
        return choose(np.array(a), choices, out, mode)
    if mode == "raise" and (np.any(a < 0) or np.any(a >= len(choices))):
        raise ValueError("invalid entry in choice array")
    result = chosen(brought_inside(a, len(choices), mode), *choices)
    if out is not None:
        out[...] = result
        return out
    return result


def method_choose(a, choices, out=None, mode="raise"):
    return choose(a, choices, out, mode)


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    if isinstance(condlist, list):
        return select_of_lists(condlist, choicelist, default)
    return chosen_from(condlist, choicelist, default)


def chosen_from(conditions, choices, default):
    if len(conditions) == 0:
        return default
    return np.where(conditions[0], choices[0], chosen_from(conditions[1:], choices[1:], default))


def select_of_lists(condlist, choicelist, default):
    """The first condition that holds is written last."""
    shape = broadcast_shapes(condlist[0].shape, choicelist[0].shape)
    for k in range(1, len(condlist)):
        shape = broadcast_shapes(shape, broadcast_shapes(condlist[k].shape, choicelist[k].shape))
    result = np.full(shape, default, result_type(choicelist[0], default))
    for k in range(len(condlist) - 1, -1, -1):
        result[...] = np.where(condlist[k], choicelist[k], result)
    return result


# -- grids of positions ------------------------------------------------------------------------------------------------


def ix_(*args):
    return open_grid(args, 0)


def open_grid(lines, at):
    if at == len(lines):
        return ()
    line = as_part(lines[at])
    if line.ndim != 1:
        raise ValueError("Cross index must be 1 dimensional")
    positions = nonzero(line)[0] if is_mask(line) else line
    ones = (1,) * at + (len(positions),) + (1,) * (len(lines) - at - 1)
    return (reshape(positions, ones),) + open_grid(lines, at + 1)


def indices(dimensions, dtype=np.int64, sparse=False):
    lengths = as_tuple(dimensions)
    if sparse:
        return sparse_indices(lengths, dtype, 0)
    result = np.empty((len(lengths),) + lengths, dtype)
    store_indices(result, sparse_indices(lengths, dtype, 0), 0)
    return result


def sparse_indices(lengths, dtype, at):
    if at == len(lengths):
        return ()
    ones = (1,) * at + (lengths[at],) + (1,) * (len(lengths) - at - 1)
    return (reshape(np.arange(lengths[at], dtype=dtype), ones),) + sparse_indices(lengths, dtype, at + 1)


def store_indices(result, lines, at):
    if at < len(lines):
        result[at] = lines[at]
        store_indices(result, lines, at + 1)


def unravel_index(indices, shape, order="C"):
    lengths = as_tuple(shape)
    positions = as_part(indices)
    check_flat(positions, product(lengths))
    if order == "F":
        return unravel_index(positions, lengths[::-1])[::-1]
    return unraveled_all(positions, lengths)


def check_flat(positions, size):
    if is_array(positions):
        for i in ravel(positions):
            guard("flat_position", i < 0 or i >= size, i, size)
    else:
        guard("flat_position", positions < 0 or positions >= size, positions, size)


def unraveled_all(i, shape):
    if len(shape) == 0:
        return ()
    n = max(shape[-1], 1)
    return unraveled_all(convert(i // n, np.int64), shape[:-1]) + (convert(i % n, np.int64),)


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    lengths = as_tuple(dims)
    if len(multi_index) != len(lengths):
        raise ValueError("parameter multi_index must be a sequence of the length of dims")
    if order == "F":
        return raveled(multi_index[::-1], lengths[::-1], mode)
    return raveled(multi_index, lengths, mode)


def raveled(positions, lengths, mode):
    if len(positions) == 0:
        return 0
    last = as_part(positions[-1])
    if mode == "raise" and (np.any(last < 0) or np.any(last >= lengths[-1])):
        raise ValueError("invalid entry in coordinates array")
    here = convert(brought_inside(last, lengths[-1], mode), np.int64)
    if len(positions) == 1:
        return here
    return raveled(positions[:-1], lengths[:-1], mode) * lengths[-1] + here


def repeated(x, n):
    if n == 0:
        return ()
    return (x,) + repeated(x, n - 1)


def diag_indices(n, ndim=2):
    return repeated(np.arange(n), ndim)


def diag_indices_from(arr):
    return diag_indices(len(arr), arr.ndim)


def tril_indices(n, k=0, m=None):
    return nonzero(np.tri(n, n if m is None else m, k, np.bool_))


def tril_indices_from(arr, k=0):
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices(n, k=0, m=None):
    return nonzero(np.logical_not(np.tri(n, n if m is None else m, k - 1, np.bool_)))


def triu_indices_from(arr, k=0):
    return triu_indices(arr.shape[0], k, arr.shape[1])


FUNCTIONS = {
    "ndarray.choose": method_choose,
    "ndarray.compress": method_compress,
    "ndarray.nonzero": nonzero,
    "ndarray.put": put,
    "ndarray.take": take,
    "numpy.argwhere": argwhere,
    "numpy.choose": choose,
    "numpy.compress": compress,
    "numpy.diag_indices": diag_indices,
    "numpy.diag_indices_from": diag_indices_from,
    "numpy.extract": extract,
    "numpy.flatnonzero": flatnonzero,
    "numpy.indices": indices,
    "numpy.ix_": ix_,
    "numpy.nonzero": nonzero,
    "numpy.place": place,
    "numpy.put": put,
    "numpy.putmask": putmask,
    "numpy.put_along_axis": put_along_axis,
    "numpy.ravel_multi_index": ravel_multi_index,
    "numpy.select": select,
    "numpy.take": take,
    "numpy.take_along_axis": take_along_axis,
    "numpy.tril_indices": tril_indices,
    "numpy.tril_indices_from": tril_indices_from,
    "numpy.triu_indices": triu_indices,
    "numpy.triu_indices_from": triu_indices_from,
    "numpy.unravel_index": unravel_index,
    "numpy.where": where,
    "operator.getitem": getitem,
    "operator.setitem": setitem,
}
