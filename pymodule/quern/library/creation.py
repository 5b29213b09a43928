"""Arrays made from numbers: ranges, grids, diagonals."""

import numpy as np

from .primitives import convert, result_type
from .shapes import as_tuple


# -- ranges -----------------------------------------------------------------------------------------------------------


def whole_quotient(a, b):
    """ceil(a / b) of ints, at least 0"""
    return max(-((-a) // b), 0)


def is_whole(x):
    kind = result_type(x).kind
    return kind == "i" or kind == "u" or kind == "b"


def count_steps(start, stop, step):
    if is_whole(start) and is_whole(stop) and is_whole(step):
        return whole_quotient(stop - start, step)
    n = np.ceil((stop - start) / step)
    if not np.isfinite(n):
        raise ValueError("arange: cannot compute length")
    return max(int(n), 0)


def arange(start, stop=None, step=1, dtype=None):
    if stop is None:
        return arange(0, start, step, dtype)
    if step is None:
        return arange(start, stop, 1, dtype)
    if dtype is None:
        return arange(start, stop, step, result_type(start, stop, step, np.int64))
    if step == 0:
        raise ZeroDivisionError("division by zero")
    n = count_steps(start, stop, step)
    result = np.empty(n, dtype)
    first = convert(start, dtype)
    step_of = np.subtract(convert(start + step, dtype), first)
    for i in range(n):
        result[i] = np.add(first, np.multiply(convert(i, dtype), step_of))
    return result


def tri(N, M=None, k=0, dtype=float):
    columns = N if M is None else M
    result = np.zeros((N, columns), dtype)
    for i in range(N):
        for j in range(min(max(i + k + 1, 0), columns)):
            result[i, j] = 1
    return result


FUNCTIONS = {
    "numpy.arange": arange,
    "numpy.tri": tri,
}
