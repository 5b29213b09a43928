"""What programs iterate over, as a length and a function of the position."""

import numpy as np

from .creation import each_array
from .joining import shapes_of
from .primitives import guard, iterate, layout, read_only, reshape, restride
from .shapes import product, refuse


def position(lengths, i):
    """The indices of element number i, the last axis first to run through."""
    if len(lengths) == 0:
        return ()
    if len(lengths) == 1:
        return (i,)
    return position(lengths[:-1], i // lengths[-1]) + (i % lengths[-1],)


def ndindex(*shape):
    if len(shape) == 1 and isinstance(shape[0], tuple):
        return ndindex(*shape[0])
    for n in shape:
        if n < 0:
            raise ValueError("negative dimensions are not allowed")
    return iterate(product(shape), position, shape)


def element(a, i):
    if layout(a) == "C":
        return reshape(a, (a.size,))[i]
    return a[position(a.shape, i)]


def put_element(a, i, value):
    """a.flat[i] = value"""
    guard("flat_index", i < -a.size or i >= a.size, i, a.size)
    k = i + a.size if i < 0 else i
    if layout(a) == "C":
        reshape(a, (a.size,))[k] = value
    else:
        a[position(a.shape, k)] = value


def flat(a):
    return iterate(a.size, element, a)


def numbered_element(a, i):
    return position(a.shape, i), element(a, i)


def ndenumerate(arr):
    return iterate(arr.size, numbered_element, arr)


def positions(a, index):
    """The numbers of the elements that a slice, a mask or ints mean."""
    return np.arange(a.size)[index]


def flat_part(a, index):
    """a.flat[1:3], a.flat[mask], a.flat[ints]: a new array."""
    places = positions(a, index)
    result = np.empty(places.shape, a.dtype)
    to = np.ravel(result)
    wanted = np.ravel(places)
    for i in range(len(wanted)):
        to[i] = element(a, wanted[i])
    return result


def put_part(a, index, value):
    """a.flat[1:3] = value: of an array its elements, again and again."""
    wanted = np.ravel(positions(a, index))
    if isinstance(value, (tuple, np.ndarray)):
        cycle = np.copy(np.ravel(np.asarray(value)))
        for i in range(len(wanted) if len(cycle) > 0 else 0):
            put_element(a, wanted[i], cycle[i % len(cycle)])
    else:
        for i in range(len(wanted)):
            put_element(a, wanted[i], value)


def put_all(a, value):
    """a.flat = value"""
    put_part(a, slice(None), value)


# -- nditer -------------------------------------------------------------------------------------------------------------------


def order_of(arrays, found="C"):
    """C or F where all with two axes and more are in that order, else K: what lies together in memory comes together."""
    if len(arrays) == 0:
        return found
    if arrays[0].ndim < 2:
        return order_of(arrays[1:], found) if layout(arrays[0]) == "C" else "K"
    if layout(arrays[0]) == "A":
        return "K"
    return next_order(arrays, found)


def next_order(arrays, found):
    here = layout(arrays[0])
    return order_of(arrays[1:], here) if found == "" or found == here else "K"


def place(lengths, i, order):
    if order == "F":
        return position(lengths[::-1], i)[::-1]
    return position(lengths, i)


def cell(a, i, order):
    """An array without axes over one element."""
    if layout(a) == order:
        return np.ravel(a, order)[i, ...]
    return a[place(a.shape, i, order) + (Ellipsis,)]


def cells(arrays, i, order):
    if len(arrays) == 0:
        return ()
    return (cell(arrays[0], i, order),) + cells(arrays[1:], i, order)


def one_cell_in_c(a, i):
    return cell(a, i, "C")


def one_cell_in_f(a, i):
    return cell(a, i, "F")


def cells_in_c(arrays, i):
    return cells(arrays, i, "C")


def cells_in_f(arrays, i):
    return cells(arrays, i, "F")


def common_shape(shapes):
    """That of operands that broadcast."""
    if len(shapes) == 1:
        return shapes[0]
    return common(shapes[0], common_shape(shapes[1:]))


def common(a, b):
    if len(a) < len(b):
        return common(b, a)
    if len(b) == 0:
        return a
    guard("broadcast_lengths", a[-1] != b[-1] and a[-1] != 1 and b[-1] != 1, a[-1], b[-1])
    return common(a[:-1], b[:-1]) + (b[-1] if a[-1] == 1 else a[-1],)


def fill_table(arrays, shape, strides, at):
    """Bytes from one element to the next along each axis of the common shape: 0 where an operand is repeated."""
    if at < len(arrays):
        a = arrays[at]
        more = len(shape) - a.ndim
        for k in range(len(shape)):
            strides[at, k] = 0
        fill_strides(a.shape, a.strides, strides[at], more)
        fill_table(arrays, shape, strides, at + 1)


def fill_strides(lengths, strides, row, at):
    if len(lengths) > 0:
        row[at] = 0 if lengths[0] == 1 else strides[0]
        fill_strides(lengths[1:], strides[1:], row, at + 1)


def goes_first(strides, slow, fast):
    """1: the second axis should be the outer one; 0: not; -1: nothing says so. Where operands disagree, it is not."""
    answer = -1
    for k in range(len(strides)):
        x = abs(strides[k, slow])
        y = abs(strides[k, fast])
        if x != 0 and y != 0:
            if y <= x:
                answer = 0
            elif answer == -1:
                answer = 1
    return answer


def sort_axes(strides, order):
    """Axes by their steps in memory, the longest first, by insertion as NumPy does: the last axis is looked at first."""
    n = len(order)
    for i in range(1, n):
        axis = order[n - 1 - i]
        to = i
        for j in range(i - 1, -1, -1):
            answer = goes_first(strides, axis, order[n - 1 - j])
            if answer == 0:
                break
            if answer == 1:
                to = j
        for j in range(i, to, -1):
            order[n - 1 - j] = order[n - j]
        order[n - 1 - to] = axis


def is_backward(strides, axis):
    """No operand goes forward along the axis, and one goes backward."""
    found = False
    for k in range(len(strides)):
        if strides[k, axis] > 0:
            return False
        found = found or strides[k, axis] < 0
    return found


def sorted_items(items, order, n):
    if n == 0:
        return ()
    return sorted_items(items, order, n - 1) + (items[order[n - 1]],)


def first_byte(shape, strides, signs, at=0):
    """Where the first element lies once the axes that go backward go forward."""
    if at == len(shape):
        return 0
    return (strides[at] * (shape[at] - 1) if signs[at] < 0 else 0) + first_byte(shape, strides, signs, at + 1)


def in_memory_order(arrays, shape, strides, order, signs, at):
    if at == len(arrays):
        return ()
    rest = in_memory_order(arrays, shape, strides, order, signs, at + 1)
    steps = np.take(strides[at] * signs, order)
    start = first_byte(shape, strides[at], signs)
    lengths = np.array(shape + (0,))
    return (restride(arrays[at], sorted_items(lengths, order, len(shape)), tuple_of(steps, len(shape)), start),) + rest


def tuple_of(items, n):
    if n == 0:
        return ()
    return tuple_of(items, n - 1) + (items[n - 1],)


def by_memory(arrays, shape):
    """The operands with axes in the order of memory: C order is K order then."""
    strides = np.empty((len(arrays), len(shape)), np.int64)
    fill_table(arrays, shape, strides, 0)
    order = np.arange(len(shape))
    sort_axes(strides, order)
    signs = np.ones(len(shape), np.int64)
    for k in range(len(shape)):
        if is_backward(strides, k):
            signs[k] = -1
    return in_memory_order(arrays, shape, strides, order, signs, 0)


def widened(a, shape):
    """broadcast_to, which keeps what can be written."""
    if layout(a) != "A" and a.ndim == len(shape):
        return same_shape(a, shape)
    more = len(shape) - a.ndim
    return restride(a, shape, (0,) * more + repeated(a.strides, a.shape))


def same_shape(a, shape):
    if a.shape == shape:
        return a
    return restride(a, shape, repeated(a.strides, a.shape))


def repeated(strides, lengths):
    if len(lengths) == 0:
        return ()
    return (0 if lengths[0] == 1 else strides[0],) + repeated(strides[1:], lengths[1:])


def is_written(flags):
    """Of one operand: ['readwrite']."""
    if flags is None or len(flags) == 0:
        return False
    if flags[0] == "readwrite" or flags[0] == "writeonly":
        return True
    if flags[0] != "readonly":
        refuse("nditer in compiled code knows the op_flags 'readonly', 'readwrite' and 'writeonly'")
    return is_written(flags[1:])


def protected(arrays, flags, shape):
    """Arrays that the loop may not write into are read-only."""
    if len(arrays) == 0:
        return ()
    mine = None if flags is None else flags[0]
    rest = protected(arrays[1:], None if flags is None else flags[1:], shape)
    if not is_written(mine):
        return (read_only(arrays[0]),) + rest
    if arrays[0].ndim != len(shape):
        refuse("non-broadcastable output operand does not match the broadcast shape")
    elif arrays[0].shape != shape:
        raise ValueError("non-broadcastable output operand does not match the broadcast shape")
    return (arrays[0],) + rest


def allows_empty(flags):
    if flags is None or len(flags) == 0:
        return False
    if flags[0] != "zerosize_ok" and flags[0] != "refs_ok":
        refuse("nditer in compiled code knows the flags 'zerosize_ok' and 'refs_ok'")
    return flags[0] == "zerosize_ok" or allows_empty(flags[1:])


def nditer(op, flags=None, op_flags=None, order="K"):
    if not isinstance(op, tuple):
        return nditer_of((op,), flags, None if op_flags is None else (op_flags,), order, False)
    return nditer_of(op, flags, op_flags, order, True)


def all_widened(arrays, shape):
    if len(arrays) == 0:
        return ()
    return (widened(arrays[0], shape),) + all_widened(arrays[1:], shape)


def wanted_order(arrays, order):
    if order != "C" and order != "F" and order != "A" and order != "K":
        refuse("order must be one of 'C', 'F', 'A', or 'K'")
    if order == "K":
        return order_of(arrays, "")
    if order == "A":
        return "F" if order_of(arrays, "") == "F" else "C"
    return order


def nditer_of(op, flags, op_flags, order, many):
    given = each_array(op)
    shape = common_shape(shapes_of(given))
    n = product(shape)
    if n == 0 and not allows_empty(flags):
        raise ValueError("Iteration of zero-sized operands is not enabled")
    allows_empty(flags)
    arrays = protected(given, op_flags, shape)
    chosen = wanted_order(arrays, order)
    if chosen == "F":
        parts = all_widened(arrays, shape)
        return iterate(n, cells_in_f, parts) if many else iterate(n, one_cell_in_f, parts[0])
    if chosen == "K" and len(shape) > 0:
        parts = by_memory(arrays, shape)
        return iterate(n, cells_in_c, parts) if many else iterate(n, one_cell_in_c, parts[0])
    parts = all_widened(arrays, shape)
    return iterate(n, cells_in_c, parts) if many else iterate(n, one_cell_in_c, parts[0])


FUNCTIONS = {
    "flatiter.getitem": flat_part,
    "flatiter.setitem": put_element,
    "flatiter.setpart": put_part,
    "ndarray.flat.set": put_all,
    "ndarray.flat": flat,
    "numpy.ndenumerate": ndenumerate,
    "numpy.ndindex": ndindex,
    "numpy.nditer": nditer,
}
