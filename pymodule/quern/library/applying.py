"""Functions of the program applied along an axis, in pieces, and over the indices of a shape."""

import numpy as np

from .creation import as_array
from .indexing import indices
from .primitives import known, result_type
from .shapes import axis_of, moveaxis, on_axis, product, refuse, reshape

PIECES = "there must be as many functions as conditions, or one more"


def along(a, axis, f, args):
    """f of each line along the axis: its results stand where the line stood."""
    at = axis_of(axis, a.ndim)
    around = a.shape[:at] + a.shape[at + 1:]
    count = product(around)
    if count == 0:
        refuse("Cannot apply_along_axis when any iteration dimensions are 0")
    lines = reshape(moveaxis(a, at, a.ndim - 1), (count, a.shape[at]))
    first = f(lines[0], *args)
    if not isinstance(first, (np.ndarray, tuple, list)):
        result = np.empty(count, result_type(first))
        for i in range(count):
            result[i] = first if i == 0 else f(lines[i], *args)
        return reshape(result, around)
    inner = as_array(first)
    result = np.empty((count,) + inner.shape, result_type(inner))
    for i in range(count):
        result[i] = inner if i == 0 else as_array(f(lines[i], *args))
    return placed(reshape(result, around + inner.shape), at, a.ndim - 1, inner.ndim)


def placed(a, at, around, inner):
    """The last axes, as many as `inner`, become the axes from `at` on."""
    return np.transpose(a, order(at, around, inner, 0))


def order(at, around, inner, k):
    if k == around + inner:
        return ()
    return (k if k < at else around + k - at if k < at + inner else k - inner,) + order(at, around, inner, k + 1)


def apply_along_axis(func1d, axis, arr, *args):
    if not known(axis):
        return on_axis(along, as_array(arr), axis, (func1d, args))
    return along(as_array(arr), axis, func1d, args)


def put_piece(y, x, where, f, args):
    if isinstance(f, (int, float, complex)):
        y[where] = f
    else:
        y[where] = f(x[where], *args)


def each_piece(y, x, conditions, functions, args):
    if len(conditions) > 0:
        put_piece(y, x, as_array(conditions[0]), functions[0], args)
        each_piece(y, x, conditions[1:], functions[1:], args)


def none_of(conditions):
    if len(conditions) == 1:
        return np.logical_not(as_array(conditions[0]))
    return np.logical_and(np.logical_not(as_array(conditions[0])), none_of(conditions[1:]))


def piecewise(x, condlist, funclist, *args):
    values = as_array(x)
    y = np.zeros(values.shape, result_type(values))
    many = len(funclist)
    if isinstance(condlist, tuple):
        fill_pieces(y, values, condlist, funclist, args)
    elif as_array(condlist).ndim < 2:
        fill_pieces(y, values, (condlist,), funclist, args)
    elif len(condlist) == many:
        fill_pieces(y, values, split(condlist, many), funclist, args)
    elif len(condlist) == many - 1:
        fill_pieces(y, values, split(condlist, many - 1), funclist, args)
    else:
        refuse(PIECES)
    return y


def fill_pieces(y, x, conditions, functions, args):
    if len(functions) == len(conditions) + 1:
        put_piece(y, x, none_of(conditions), functions[-1], args)
        each_piece(y, x, conditions, functions[:-1], args)
    elif len(functions) == len(conditions):
        each_piece(y, x, conditions, functions, args)
    else:
        refuse(PIECES)


def split(a, k):
    """a[0], a[1] ... of the k there are"""
    if k == 0:
        return ()
    return split(a, k - 1) + (a[k - 1],)


def fromfunction(function, shape, *, dtype=float):
    return function(*split(indices(shape, dtype), len(shape)))


FUNCTIONS = {
    "numpy.apply_along_axis": apply_along_axis,
    "numpy.fromfunction": fromfunction,
    "numpy.piecewise": piecewise,
}
