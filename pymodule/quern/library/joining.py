"""Arrays put together and taken apart: joined, split, repeated, rolled, padded."""

import numpy as np

from .creation import as_array, can_cast, each_array
from .primitives import convert, fitting, guard, known, layout, result_type
from .shapes import as_tuple, axes_of, axis_of, broadcast_shapes, broadcast_to, copy, expand_dims, moveaxis, moveaxis_later, on_axis, product, ravel, reshape, without


MOST = 2 ** 63 - 1

# -- what all share -----------------------------------------------------------------------------------------------------


def full_slices(n):
    return (slice(None),) * n


def along(axis, start, stop):
    """The index of a part of one axis."""
    return full_slices(axis) + (slice(start, stop),)


def replaced(lengths, axis, n):
    return lengths[:axis] + (n,) + lengths[axis + 1:]


# -- joining --------------------------------------------------------------------------------------------------------------


def raveled_all(arrays):
    if len(arrays) == 0:
        return ()
    return (ravel(arrays[0]),) + raveled_all(arrays[1:])


def total_length(arrays, axis):
    if len(arrays) == 0:
        return 0
    return arrays[0].shape[axis] + total_length(arrays[1:], axis)


def check_joined(first, arrays, axis):
    if len(arrays) > 0:
        if arrays[0].ndim != first.ndim:
            raise ValueError("all the input arrays must have same number of dimensions")
        if without(arrays[0].shape, (axis,)) != without(first.shape, (axis,)):
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        check_joined(first, arrays[1:], axis)


def check_cast(arrays, kind, casting):
    if len(arrays) > 0:
        if not can_cast(arrays[0].dtype, kind, casting):
            refuse_type("Cannot cast array data according to the rule given by casting")
        check_cast(arrays[1:], kind, casting)


def refuse_type(text):
    raise TypeError(text)


def store_joined(result, arrays, axis, start):
    if len(arrays) > 0:
        end = start + arrays[0].shape[axis]
        result[along(axis, start, end)] = arrays[0]
        store_joined(result, arrays[1:], axis, end)


def concatenate(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    if isinstance(arrays, np.ndarray):
        return joined_rows(arrays, axis)
    if isinstance(arrays, list):
        return joined_list(arrays, axis, out, dtype)
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    parts = each_array(arrays)
    check_cast(parts, result_type(*parts) if dtype is None and out is None else out.dtype if dtype is None else dtype, casting)
    if axis is None:
        return joined(raveled_all(parts), 0, out, dtype)
    if not known(axis):
        return on_axis(joined_on, parts[0], axis, (parts, out, dtype))
    if parts[0].ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return joined(parts, axis_of(axis, parts[0].ndim), out, dtype)


def all_f(arrays):
    """Is every array stored column by column? Then so is what they make together."""
    if len(arrays) == 0:
        return True
    return layout(arrays[0]) == "F" and all_f(arrays[1:])


def joined(parts, axis, out, dtype):
    check_joined(parts[0], parts[1:], axis)
    shape = replaced(parts[0].shape, axis, total_length(parts, axis))
    if out is not None:
        if out.shape != shape:
            raise ValueError("Output array is the wrong shape")
        store_joined(out, parts, axis, 0)
        return out
    result = np.empty(shape, result_type(*parts) if dtype is None else dtype, "F" if all_f(parts) else "C")
    store_joined(result, parts, axis, 0)
    return result


def joined_on(first, axis, parts, out, dtype):
    return concatenate(parts, axis, out, dtype)


def joined_rows(a, axis):
    """The rows of one array joined along an axis of the rows."""
    if axis is None:
        return copy(ravel(a))
    at = axis_of(axis, a.ndim - 1)
    rows = copy(moveaxis(a, 0, at))
    return reshape(rows, rows.shape[:at] + (rows.shape[at] * rows.shape[at + 1],) + rows.shape[at + 2:])


# -- joining what a list holds: arrays of one type, as many as there are at run time


def joined_list(arrays, axis, out, dtype):
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        return joined_list(each_in(ravel, arrays), 0, out, dtype)
    first = as_array(arrays[0])
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    at = axis_of(axis, first.ndim)
    n = 0
    for a in arrays:
        check_joined(first, (as_array(a),), at)
        n += as_array(a).shape[at]
    result = list_result(first, replaced(first.shape, at, n), out, dtype)
    n = 0
    for a in arrays:
        end = n + as_array(a).shape[at]
        result[along(at, n, end)] = a
        n = end
    return result


def list_result(first, shape, out, dtype):
    if out is not None:
        if out.shape != shape:
            raise ValueError("Output array is the wrong shape")
        return out
    return np.empty(shape, first.dtype if dtype is None else dtype)


def stacked_list(arrays, axis, out, dtype):
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    shape = as_array(arrays[0]).shape
    at = axis_of(axis, len(shape) + 1)
    for a in arrays:
        if as_array(a).shape != shape:
            raise ValueError("all input arrays must have the same shape")
    result = list_result(as_array(arrays[0]), shape[:at] + (len(arrays),) + shape[at:], out, dtype)
    for i in range(len(arrays)):
        result[full_slices(at) + (i,)] = arrays[i]
    return result


def stacked_parts(arrays, shape, axis):
    if len(arrays) == 0:
        return ()
    if arrays[0].shape != shape:
        raise ValueError("all input arrays must have the same shape")
    return (expand_dims(arrays[0], axis),) + stacked_parts(arrays[1:], shape, axis)


def stack(arrays, axis=0, out=None, dtype=None, casting="same_kind"):
    if isinstance(arrays, np.ndarray):
        return copy(moveaxis(arrays, 0, axis))
    if isinstance(arrays, list):
        return stacked_list(arrays, axis, out, dtype)
    if len(arrays) == 0:
        raise ValueError("need at least one array to stack")
    parts = each_array(arrays)
    check_cast(parts, result_type(*parts) if dtype is None and out is None else out.dtype if dtype is None else dtype, casting)
    at = axis_of(axis, parts[0].ndim + 1)
    return joined(stacked_parts(parts, parts[0].shape, at), at, out, dtype)


def in_1d(x):
    a = as_array(x)
    return reshape(a, (1,)) if a.ndim == 0 else a


def in_2d(x):
    a = in_1d(x)
    return a[None, :] if a.ndim == 1 else a


def in_3d(x):
    a = in_2d(x) if as_array(x).ndim < 2 else as_array(x)
    return a[:, :, None] if a.ndim == 2 else a


def each_in(convert, items):
    if isinstance(items, list):
        return [convert(item) for item in items]
    if len(items) == 0:
        return ()
    return (convert(items[0]),) + each_in(convert, items[1:])


def rows_of(a, n):
    """An array that stands for the sequence of its rows cannot be taken apart: their number is not constant."""
    return a


def atleast_1d(*arys):
    return in_1d(arys[0]) if len(arys) == 1 else each_in(in_1d, arys)


def atleast_2d(*arys):
    return in_2d(arys[0]) if len(arys) == 1 else each_in(in_2d, arys)


def atleast_3d(*arys):
    return in_3d(arys[0]) if len(arys) == 1 else each_in(in_3d, arys)


def hstack(tup, dtype=None, casting="same_kind"):
    if len(tup) == 0:
        raise ValueError("need at least one array to concatenate")
    parts = each_in(in_1d, tup)
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, None, dtype)


def vstack(tup, dtype=None, casting="same_kind"):
    return concatenate(each_in(in_2d, tup), 0, None, dtype)


def dstack(tup):
    return concatenate(each_in(in_3d, tup), 2)


def as_column(x):
    a = in_1d(x)
    return a[:, None] if a.ndim == 1 else a


def column_stack(tup):
    return concatenate(each_in(as_column, tup), 1)


def append(arr, values, axis=None):
    if axis is None:
        return concatenate((ravel(as_array(arr)), ravel(as_array(values))))
    return concatenate((arr, values), axis)


def depth_of(arrays):
    return 1 + depth_of(arrays[0]) if isinstance(arrays, tuple) else 0


def most_axes(arrays):
    """The greatest number of axes among the arrays in nested sequences."""
    if isinstance(arrays, tuple):
        if len(arrays) == 1:
            return most_axes(arrays[0])
        rest = most_axes(arrays[1:])
        here = most_axes(arrays[0])
        return here if here > rest else rest
    return as_array(arrays).ndim


def block(arrays):
    depth = depth_of(arrays)
    axes = most_axes(arrays)
    return block_of(arrays, depth, depth if depth > axes else axes)


def block_of(arrays, depth, ndim):
    if not isinstance(arrays, tuple):
        a = as_array(arrays)
        return reshape(a, (1,) * (ndim - a.ndim) + a.shape)
    return concatenate(blocks_of(arrays, depth - 1, ndim), -depth)


def blocks_of(arrays, depth, ndim):
    if len(arrays) == 0:
        return ()
    return (block_of(arrays[0], depth, ndim),) + blocks_of(arrays[1:], depth, ndim)


# -- insertion ------------------------------------------------------------------------------------------------------------


def delete(arr, obj, axis=None):
    if axis is None:
        return delete(ravel(arr), obj, 0)
    at = axis_of(axis, arr.ndim)
    keep = np.ones(arr.shape[at], np.bool_)
    if isinstance(obj, tuple):
        keep[as_array(obj)] = False
    else:
        keep[obj] = False
    return arr[full_slices(at) + (keep,)]


def insert(arr, obj, values, axis=None):
    if axis is None:
        return insert(ravel(arr), obj, values, 0)
    at = axis_of(axis, arr.ndim)
    if isinstance(obj, tuple):
        return insert(arr, as_array(obj), values, axis)
    if isinstance(obj, np.ndarray):
        if obj.dtype == np.bool_:
            if obj.ndim != 1:
                raise ValueError("boolean array argument obj to insert must be one dimensional")
            return insert(arr, np.flatnonzero(obj), values, axis)
        return insert_many(arr, obj, values_for(arr, values), at)
    return insert_here(arr, obj, values_for(arr, values), at)


def values_for(arr, values):
    """Python ints fit the elements."""
    if isinstance(values, tuple):
        return np.array(values, arr.dtype)
    return values if isinstance(values, np.ndarray) else np.full((), fitting(values, arr.dtype))


def insert_here(arr, index, values, axis):
    n = arr.shape[axis]
    guard("index_error", index < -n or index > n, index, axis, n)
    i = index + n if index < 0 else index
    new = new_values(values, arr.ndim, axis)
    count = new.shape[axis]
    result = np.empty(replaced(arr.shape, axis, n + count), arr.dtype)
    result[along(axis, 0, i)] = arr[along(axis, 0, i)]
    result[along(axis, i, i + count)] = new
    result[along(axis, i + count, n + count)] = arr[along(axis, i, n)]
    return result


def new_values(values, ndim, axis):
    """The axis that is inserted is the first of the values."""
    if values.ndim < ndim:
        return new_values(values[None], ndim, axis)
    return moveaxis(values, 0, axis)


def insert_many(arr, positions, values, axis):
    n = arr.shape[axis]
    count = len(positions)
    places = np.empty(count, np.int64)
    for j in range(count):
        i = positions[j]
        guard("index_error", i < -n or i > n, i, axis, n)
        places[j] = i + n if i < 0 else i
    old = np.ones(n + count, np.bool_)
    slots = np.empty(count, np.int64)
    for j in range(count):
        before = 0
        for k in range(count):
            before += 1 if places[k] < places[j] or (places[k] == places[j] and k < j) else 0
        slots[j] = places[j] + before
        old[slots[j]] = False
    result = np.empty(replaced(arr.shape, axis, n + count), arr.dtype)
    result[full_slices(axis) + (old,)] = arr
    result[full_slices(axis) + (slots,)] = values
    return result


# -- splitting --------------------------------------------------------------------------------------------------------------


def sections(a, axis, count, at, start):
    """Part number `at` of `count` and those behind it: the first ones are longer by one."""
    if at == count:
        return ()
    n = a.shape[axis]
    end = start + n // count + (1 if at < n % count else 0)
    return (a[along(axis, start, end)],) + sections(a, axis, count, at + 1, end)


def cut(a, axis, ends, start):
    if len(ends) == 0:
        return (a[full_slices(axis) + (slice(start, None),)],)
    return (a[along(axis, start, ends[0])],) + cut(a, axis, ends[1:], ends[0])


def listed_sections(a, axis, count):
    """As many as is said only when the function runs."""
    n = a.shape[axis]
    parts = []
    end = 0
    for k in range(count):
        start = end
        end = start + n // count + (1 if k < n % count else 0)
        parts.append(a[along(axis, start, end)])
    return parts


def listed_cuts(a, axis, ends):
    parts = []
    start = 0
    for k in range(len(ends)):
        parts.append(a[along(axis, start, ends[k])])
        start = ends[k]
    parts.append(a[along(axis, start, a.shape[axis])])
    return parts


def array_split(ary, indices_or_sections, axis=0):
    """A tuple where the number of parts is known at compile time, otherwise a list."""
    line = as_array(ary)
    if known(axis):
        return split_along(line, axis, indices_or_sections)
    if line.ndim <= 1:
        return on_axis(split_along, line, axis, (indices_or_sections,))
    return moved_back(split_along(moveaxis_later(line, (axis,), (0,)), 0, indices_or_sections), axis)


def moved_back(parts, axis):
    """The first axis of each part becomes that axis."""
    if isinstance(parts, list):
        return [moveaxis_later(part, (0,), (axis,)) for part in parts]
    if len(parts) == 0:
        return ()
    return (moveaxis_later(parts[0], (0,), (axis,)),) + moved_back(parts[1:], axis)


def split_along(ary, axis, indices_or_sections):
    at = axis_of(axis, ary.ndim)
    if isinstance(indices_or_sections, tuple):
        return cut(ary, at, indices_or_sections, 0)
    if isinstance(indices_or_sections, np.ndarray):
        return listed_cuts(ary, at, indices_or_sections)
    if indices_or_sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    if not known(indices_or_sections):
        return listed_sections(ary, at, indices_or_sections)
    return sections(ary, at, indices_or_sections, 0, 0)


def split(ary, indices_or_sections, axis=0):
    line = as_array(ary)
    if not isinstance(indices_or_sections, (tuple, np.ndarray)) and line.shape[axis] % indices_or_sections != 0:
        raise ValueError("array split does not result in an equal division")
    return array_split(line, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


def vsplit(ary, indices_or_sections):
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


# -- moving and repeating -----------------------------------------------------------------------------------------------------


def roll(a, shift, axis=None):
    if not isinstance(a, np.ndarray):
        return roll(as_array(a), shift, axis)
    if axis is None:
        return reshape(roll_along(ravel(a), total(shift), 0), a.shape)
    if isinstance(axis, tuple):
        return roll_each(a, shift, axis)
    return roll_along(a, total(shift), axis_of(axis, a.ndim))


def total(shift):
    if not isinstance(shift, tuple):
        return shift
    return 0 if len(shift) == 0 else shift[0] + total(shift[1:])


def roll_each(a, shift, axes):
    if isinstance(shift, tuple) and len(shift) != len(axes) and len(shift) != 1:
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    if len(axes) == 0:
        return copy(a)
    here = shift[0] if isinstance(shift, tuple) else shift
    rest = shift[1:] if isinstance(shift, tuple) and len(shift) > 1 else shift
    rolled = roll_along(a, here, axis_of(axes[0], a.ndim))
    return rolled if len(axes) == 1 else roll_each(rolled, rest, axes[1:])


def roll_along(a, shift, axis):
    result = np.empty_like(a)
    n = a.shape[axis]
    if n > 0:
        by = shift % n
        result[along(axis, by, n)] = a[along(axis, 0, n - by)]
        result[along(axis, 0, by)] = a[along(axis, n - by, n)]
    return result


def repeat(a, repeats, axis=None):
    values = as_array(a)
    if axis is None:
        return repeat_along(ravel(values), repeats, 0)
    if not known(axis):
        return on_axis(repeat_on, values, axis, (repeats,))
    return repeat_along(values, repeats, axis_of(axis, values.ndim))


def repeat_on(a, axis, repeats):
    return repeat(a, repeats, axis)


def method_repeat(a, repeats, axis=None):
    return repeat(a, repeats, axis)


def repeat_along(a, repeats, axis):
    n = a.shape[axis]
    if isinstance(repeats, tuple):
        return repeat_along(a, as_array(repeats), axis)
    if isinstance(repeats, np.ndarray):
        counts = broadcast_counts(ravel(repeats), n)
        positions = np.empty(count_all(counts), np.int64)
        at = 0
        for i in range(n):
            for _ in range(counts[i]):
                positions[at] = i
                at += 1
        return a[full_slices(axis) + (positions,)]
    if repeats < 0:
        raise ValueError("repeats may not contain negative values.")
    result = np.empty(replaced(a.shape, axis, multiple(n, repeats)), a.dtype)
    for k in range(repeats if result.size > 0 else 0):
        result[full_slices(axis) + (slice(k, None, repeats),)] = a
    return result


def multiple(n, times):
    """n * times, of lengths."""
    if n > 0 and times > MOST // n:
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.")
    return n * times


def broadcast_counts(counts, n):
    guard("broadcast_lengths", len(counts) != n and len(counts) != 1, n, len(counts))
    return broadcast_to(counts, (n,))


def count_all(counts):
    result = 0
    for n in counts:
        if n < 0:
            raise ValueError("repeats may not contain negative values.")
        result += n
    return result


def doubled(shape, reps):
    """(r0, n0, r1, n1, ...)"""
    if len(shape) == 0:
        return ()
    return (reps[0], shape[0]) + doubled(shape[1:], reps[1:])


def spread(shape):
    """(1, n0, 1, n1, ...)"""
    if len(shape) == 0:
        return ()
    return (1, shape[0]) + spread(shape[1:])


def multiplied(a, b):
    if len(a) == 0:
        return ()
    return (a[0] * b[0],) + multiplied(a[1:], b[1:])


def tile(A, reps):
    a = as_array(A)
    times = as_tuple(reps)
    ndim = a.ndim if a.ndim > len(times) else len(times)
    shape = (1,) * (ndim - a.ndim) + a.shape
    counts = (1,) * (ndim - len(times)) + times
    result = np.empty(doubled(shape, counts), a.dtype)
    result[...] = reshape(a, spread(shape))
    return reshape(result, multiplied(shape, counts))


def resize(a, new_shape):
    values = ravel(as_array(a))
    result = np.zeros(product(as_tuple(new_shape)), values.dtype)
    if len(values) > 0:
        for start in range(0, len(result), len(values)):
            part = result[start:start + len(values)]
            part[:] = values[:len(part)]
    return reshape(result, new_shape)


# -- padding ------------------------------------------------------------------------------------------------------------------


def pair_of(width, axis):
    """(before, after) of an axis: of one number, of a pair for all, of a pair for each."""
    if not isinstance(width, tuple):
        return (width, width)
    if len(width) == 1:
        return pair_of(width[0], axis)
    if isinstance(width[0], tuple):
        return pair_of(width[axis], axis)
    return (width[0], width[1])


def padded_position(i, n, mode):
    """Which element stands at position i, inside or outside of 0 .. n - 1."""
    if mode == "edge":
        return min(max(i, 0), n - 1)
    if mode == "wrap":
        return i % n
    if mode == "symmetric":
        at = i % (2 * n)
        return at if at < n else 2 * n - 1 - at
    if n == 1:
        return 0
    at = i % (2 * n - 2)
    return at if at < n else 2 * n - 2 - at


def pad_axis(a, axis, before, after, mode, values):
    if before < 0 or after < 0:
        raise ValueError("index can't contain negative values")
    n = a.shape[axis]
    if mode == "constant":
        ends = pair_of(values, axis)
        result = np.empty(replaced(a.shape, axis, before + n + after), a.dtype)
        result[along(axis, 0, before)] = convert(ends[0], a.dtype)
        result[along(axis, before, before + n)] = a
        result[along(axis, before + n, before + n + after)] = convert(ends[1], a.dtype)
        return result
    guard("pad_empty", n == 0 and before + after > 0, axis)
    positions = np.empty(before + n + after, np.int64)
    for i in range(len(positions)):
        positions[i] = padded_position(i - before, n, mode)
    return a[full_slices(axis) + (positions,)]


def pad_each(a, widths, mode, values, axis):
    if axis == a.ndim:
        return a
    width = pair_of(widths, axis)
    return pad_each(pad_axis(a, axis, width[0], width[1], mode, values), widths, mode, values, axis + 1)


def pad(array, pad_width, mode="constant", constant_values=0):
    if mode != "constant" and mode != "edge" and mode != "wrap" and mode != "symmetric" and mode != "reflect":
        raise ValueError("mode is not supported: constant, edge, wrap, symmetric and reflect are")
    return pad_each(array, pad_width, mode, constant_values, 0)


def trim_zeros(filt, trim="fb"):
    first = 0
    last = len(filt)
    if trim != "b" and trim != "B":
        while first < last and filt[first] == 0:
            first += 1
    if trim != "f" and trim != "F":
        while last > first and filt[last - 1] == 0:
            last -= 1
    return filt[first:last]


def broadcast_all(arrays, shape):
    if len(arrays) == 0:
        return ()
    return (broadcast_to(arrays[0], shape),) + broadcast_all(arrays[1:], shape)


def shapes_of(arrays):
    if len(arrays) == 0:
        return ()
    return (arrays[0].shape,) + shapes_of(arrays[1:])


def broadcast_arrays(*args):
    arrays = each_array(args)
    return broadcast_all(arrays, broadcast_shapes(*shapes_of(arrays)))


FUNCTIONS = {
    "ndarray.repeat": method_repeat,
    "numpy.append": append,
    "numpy.array_split": array_split,
    "numpy.atleast_1d": atleast_1d,
    "numpy.atleast_2d": atleast_2d,
    "numpy.atleast_3d": atleast_3d,
    "numpy.block": block,
    "numpy.broadcast_arrays": broadcast_arrays,
    "numpy.column_stack": column_stack,
    "numpy.concatenate": concatenate,
    "numpy.delete": delete,
    "numpy.dsplit": dsplit,
    "numpy.dstack": dstack,
    "numpy.hsplit": hsplit,
    "numpy.hstack": hstack,
    "numpy.insert": insert,
    "numpy.pad": pad,
    "numpy.repeat": repeat,
    "numpy.resize": resize,
    "numpy.roll": roll,
    "numpy.split": split,
    "numpy.stack": stack,
    "numpy.tile": tile,
    "numpy.trim_zeros": trim_zeros,
    "numpy.vsplit": vsplit,
    "numpy.row_stack": vstack,
    "numpy.vstack": vstack,
}
