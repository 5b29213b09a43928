"""What programs iterate over, as a length and a function of the position."""

import numpy as np

from .creation import each_array
from .joining import broadcast_all, shapes_of
from .primitives import guard, iterate, layout, read_only, reshape
from .shapes import product


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


def order_of(arrays, found="C"):
    """F where all with two axes and more are in that order, as NumPy goes through memory then; else C."""
    if len(arrays) == 0:
        return found
    if arrays[0].ndim < 2:
        return order_of(arrays[1:], found)
    return order_of(arrays[1:], "F") if layout(arrays[0]) == "F" else "C"


def place(lengths, i, order):
    if order == "F":
        return position(lengths[::-1], i)[::-1]
    return position(lengths, i)


def cell(a, i, order):
    """An array without axes over one element."""
    if layout(a) == order:
        return read_only(np.ravel(a, order)[i, ...])
    return read_only(a[place(a.shape, i, order) + (Ellipsis,)])


def cells(arrays, i, order):
    if len(arrays) == 0:
        return ()
    return (cell(arrays[0], i, order),) + cells(arrays[1:], i, order)


def one_cell(a, i):
    return cell(a, i, order_of((a,)))


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


def nditer(op):
    arrays = each_array(op if isinstance(op, tuple) else (op,))
    shape = common_shape(shapes_of(arrays))
    n = product(shape)
    if n == 0:
        raise ValueError("Iteration of zero-sized operands is not enabled")
    if not isinstance(op, tuple):
        return iterate(n, one_cell, arrays[0])
    if order_of(arrays) == "F":
        return iterate(n, cells_in_f, broadcast_all(arrays, shape))
    return iterate(n, cells_in_c, broadcast_all(arrays, shape))


FUNCTIONS = {
    "flatiter.setitem": put_element,
    "ndarray.flat": flat,
    "numpy.ndenumerate": ndenumerate,
    "numpy.ndindex": ndindex,
    "numpy.nditer": nditer,
}
