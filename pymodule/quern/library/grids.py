"""Arrays that are written as indices: np.mgrid, np.ogrid, np.r_ and np.c_."""

import numpy as np

from .creation import arange, as_array
from .primitives import result_type
from .shapes import as_tuple, ravel


def line(part):
    """The numbers of start:stop:step, ints."""
    start = 0 if part.start is None else part.start
    if part.step is None:
        return arange(start, part.stop)
    return arange(start, part.stop, part.step)


def lines(parts):
    if len(parts) == 0:
        return ()
    return (line(parts[0]),) + lines(parts[1:])


def lengths(items):
    if len(items) == 0:
        return ()
    return (len(items[0]),) + lengths(items[1:])


def along(items, axis, kind):
    """Each line along an axis of its own."""
    if axis == len(items):
        return ()
    spread = items[axis].astype(kind)[(None,) * axis + (slice(None),) + (None,) * (len(items) - 1 - axis)]
    return (spread,) + along(items, axis + 1, kind)


def store_each(result, items, at):
    if at < len(items):
        result[at] = items[at]
        store_each(result, items, at + 1)


def mgrid(index):
    if not isinstance(index, tuple):
        return line(index)
    items = lines(index)
    result = np.empty((len(items),) + lengths(items), result_type(*items))
    store_each(result, along(items, 0, result.dtype), 0)
    return result


def ogrid(index):
    if not isinstance(index, tuple):
        return line(index)
    items = lines(index)
    return along(items, 0, result_type(*items))


def pieces(parts):
    """Slices, numbers and arrays as lines."""
    if len(parts) == 0:
        return ()
    first = line(parts[0]) if isinstance(parts[0], slice) else as_array(parts[0])
    return (np.atleast_1d(first),) + pieces(parts[1:])


def rows(index):
    return np.concatenate(pieces(as_tuple(index)))


def columns(index):
    return np.column_stack(pieces(as_tuple(index)))


FUNCTIONS = {
    "numpy.c_.getitem": columns,
    "numpy.mgrid.getitem": mgrid,
    "numpy.ogrid.getitem": ogrid,
    "numpy.r_.getitem": rows,
}
