"""Arrays made from numbers, sequences and other arrays: ranges, grids, diagonals, conversions."""

import math

import numpy as np

from .primitives import convert, fitting, guard, map, map_into, refuse_code, result_type
from .shapes import (
    ascontiguousarray, as_tuple, axis_of, copy, moveaxis, product, ravel, reshape, restride, transpose, tuple_to, without,
)


# -- ranges -----------------------------------------------------------------------------------------------------------


def is_whole(dtype):
    return dtype.kind == "i" or dtype.kind == "u" or dtype.kind == "b"


def count_steps(start, stop, step):
    if is_whole(result_type(start, stop, step)):
        n = -((start - stop) // step)
        return n if n > 0 else 0  # of constants a constant, which kernels need
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
    result = np.empty(count_steps(start, stop, step), dtype)
    first = fitting(start, result.dtype)
    step_of = np.subtract(fitting(start + step, result.dtype), first)
    for i in range(len(result)):
        result[i] = np.add(first, np.multiply(convert(i, result.dtype), step_of))
    return result


def check_samples(num):
    guard("samples", num < 0, num)


def spaced(start, stop, num, endpoint, kind):
    check_samples(num)
    first = convert(start, kind)
    delta = np.subtract(convert(stop, kind), first)
    parts = num - 1 if endpoint else num
    result = np.empty(num, kind)
    step = np.true_divide(delta, max(parts, 1))
    if parts <= 0:
        for i in range(num):
            result[i] = np.add(np.multiply(convert(i, kind), delta), first)
    elif step == 0:
        for i in range(num):
            result[i] = np.add(np.multiply(np.true_divide(convert(i, kind), parts), delta), first)
    else:
        for i in range(num):
            result[i] = np.add(np.multiply(convert(i, kind), step), first)
    if endpoint and num > 1:
        result[num - 1] = convert(stop, kind)
    return result


def step_between(start, stop, num, endpoint, kind):
    parts = num - 1 if endpoint else num
    if parts <= 0:
        return convert(math.nan, kind)
    return np.true_divide(np.subtract(convert(stop, kind), convert(start, kind)), parts)


def has_axes(x):
    return isinstance(x, tuple) or (isinstance(x, np.ndarray) and x.ndim > 0)


def lines_between(start, stop, num, endpoint, retstep, dtype, axis):
    """Between the elements of arrays, along a new axis."""
    kind = result_type(start, stop, 1.0)
    check_samples(num)
    delta = np.subtract(convert(stop, kind), convert(start, kind))
    parts = num - 1 if endpoint else num
    numbers = convert(reshape(np.arange(num), (num,) + (1,) * delta.ndim), kind)
    step = np.true_divide(delta, parts if parts > 0 else math.nan)
    if parts <= 0:
        values = numbers * delta + start
    elif np.any(step == 0):
        values = np.true_divide(numbers, parts) * delta + start
    else:
        values = numbers * step + start
    if endpoint and num > 1:
        values[num - 1] = stop
    result = moveaxis(values, 0, axis)
    if dtype is not None and dtype != kind:
        whole = convert(np.floor(result), dtype) if is_whole(result_type(dtype)) else convert(result, dtype)
        return (whole, step) if retstep else whole
    return (result, step) if retstep else result


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    if has_axes(start) or has_axes(stop):
        return lines_between(as_array(start), as_array(stop), num, endpoint, retstep, dtype, axis)
    kind = result_type(start, stop, 1.0)
    if retstep:
        return linspace(start, stop, num, endpoint, False, dtype), step_between(start, stop, num, endpoint, kind)
    if dtype is None or dtype == kind:
        return spaced(start, stop, num, endpoint, kind)
    values = spaced(start, stop, num, endpoint, kind)
    if is_whole(result_type(dtype)):
        return convert(np.floor(values), dtype)
    return convert(values, dtype)


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    values = np.power(base, linspace(start, stop, num, endpoint))
    return values if dtype is None else convert(values, dtype)


def geomspace_complex(start, stop, num, endpoint, kind):
    """On a spiral: the turn of the first value is taken out of all."""
    turned = start / abs(start)
    low = start / turned
    high = stop / turned
    values = np.power(convert(10.0, kind), spaced(np.log10(low), np.log10(high), num, endpoint, kind))
    if num > 0:
        values[0] = low
        if endpoint and num > 1:
            values[num - 1] = high
    return values * turned


def geomspace(start, stop, num=50, endpoint=True, dtype=None):
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    kind = result_type(start, stop, 1.0)
    if kind.kind == "c":
        values = geomspace_complex(convert(start, kind), convert(stop, kind), num, endpoint, kind)
        return values if dtype is None else convert(values, dtype)
    sign = -1.0 if start < 0 else 1.0
    low = np.multiply(convert(start, kind), convert(sign, kind))
    high = np.multiply(convert(stop, kind), convert(sign, kind))
    values = np.multiply(np.power(10.0, spaced(np.log10(low), np.log10(high), num, endpoint, kind)), sign)
    if num > 0:
        values[0] = start
        if endpoint and num > 1:
            values[num - 1] = stop
    return values if dtype is None else convert(values, dtype)


# -- grids ------------------------------------------------------------------------------------------------------------


def grid_lines(lines, at, n, swap):
    if at == n:
        return ()
    line = ravel(as_array(lines[at]))
    place = 1 - at if swap and at < 2 else at
    return (reshape(line, (1,) * place + (len(line),) + (1,) * (n - place - 1)),) + grid_lines(lines, at + 1, n, swap)


def shape_of_grid(lines):
    if len(lines) == 0:
        return ()
    return shape_of_grid(lines[:-1]) + (lines[-1].size,)


def swapped_front(lengths, swap):
    return (lengths[1], lengths[0]) + lengths[2:] if swap and len(lengths) > 1 else lengths


def filled_grids(lines, shape):
    if len(lines) == 0:
        return ()
    grid = np.empty(shape, lines[0].dtype)
    grid[...] = lines[0]
    return (grid,) + filled_grids(lines[1:], shape)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    swap = indexing == "xy" and len(xi) > 1
    lines = grid_lines(xi, 0, len(xi), swap)
    if sparse:
        return lines
    return filled_grids(lines, swapped_front(shape_of_grid(lines), swap))


def vander(x, N=None, increasing=False):
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = len(x) if N is None else N
    result = np.empty((len(x), columns), result_type(x, np.int64))
    for i in range(len(x)):
        power = convert(1, result.dtype)
        for j in range(columns):
            result[i, j if increasing else columns - 1 - j] = power
            power = np.multiply(power, convert(x[i], result.dtype))
    return result


# -- diagonals ----------------------------------------------------------------------------------------------------------


def eye(N, M=None, k=0, dtype=float, order="C"):
    columns = N if M is None else M
    result = np.zeros((N, columns), dtype, order)
    for i in range(max(0, -k), min(N, columns - k)):
        result[i, i + k] = 1
    return result


def identity(n, dtype=None):
    return eye(n, n, 0, dtype)


def tri(N, M=None, k=0, dtype=float):
    columns = max(N if M is None else M, 0)
    result = np.zeros((max(N, 0), columns), dtype)
    for i in range(N):
        for j in range(min(max(i + k + 1, 0), columns)):
            result[i, j] = 1
    return result


def rows_and_columns(m):
    return m.shape[m.ndim - 2:] if m.ndim > 1 else (m.shape[0], m.shape[0])


def tril(m, k=0):
    lengths = rows_and_columns(m)
    return np.where(tri(lengths[0], lengths[1], k, np.bool_), m, np.zeros(1, m.dtype))


def triu(m, k=0):
    lengths = rows_and_columns(m)
    return np.where(tri(lengths[0], lengths[1], k - 1, np.bool_), np.zeros(1, m.dtype), m)


def diagonal(a, offset=0, axis1=0, axis2=1):
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    i = axis_of(axis1, a.ndim)
    j = axis_of(axis2, a.ndim)
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    rest = without(tuple_to(a.ndim), (i, j))
    square = transpose(a, rest + (i, j))
    rows = square.shape[-2]
    columns = square.shape[-1]
    count = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    corner = square[..., min(max(0, -offset), rows):, min(max(0, offset), columns):]
    return restride(corner, corner.shape[:-2] + (count,), corner.strides[:-2] + (corner.strides[-2] + corner.strides[-1],))


def diag(v, k=0):
    values = as_array(v)
    if values.ndim == 2:
        return diagonal(values, k)
    if values.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    return on_diagonal(values, k)


def on_diagonal(values, k):
    n = len(values) + abs(k)
    result = np.zeros((n, n), values.dtype)
    for i in range(len(values)):
        result[i + max(0, -k), i + max(0, k)] = values[i]
    return result


def diagflat(v, k=0):
    return on_diagonal(ravel(as_array(v)), k)


# -- arrays of what is given ----------------------------------------------------------------------------------------------


def as_array(x):
    """Sequences and numbers as arrays."""
    return x if isinstance(x, np.ndarray) else array(x)


def each_array(items):
    if len(items) == 0:
        return ()
    return (as_array(items[0]),) + each_array(items[1:])


def is_flat(items):
    """Numbers only?"""
    if len(items) == 0:
        return True
    return not isinstance(items[0], (tuple, list, np.ndarray)) and is_flat(items[1:])


def store_rows(result, rows, at):
    if at < len(rows):
        if rows[at].shape != result.shape[1:]:
            raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape.")
        result[at] = rows[at]
        store_rows(result, rows, at + 1)


def with_axes_in_front(a, ndim):
    more = ndim - a.ndim
    if more <= 0:
        return a
    return reshape(a, (1,) * more + a.shape)


def array(object, dtype=None, copy=True, order="K", subok=False, ndmin=0):
    """What typeinfer does not make at once: arrays in sequences, deep sequences, numbers, ndmin."""
    return with_axes_in_front(array_of(object, dtype, copy, order), ndmin)


def array_of(x, dtype, copied, order):
    if isinstance(x, np.ndarray):
        if not copied and (dtype is None or dtype == x.dtype):
            return x
        return astype(x, x.dtype if dtype is None else dtype, order)
    if isinstance(x, tuple):
        if is_flat(x):
            return np.array(x) if dtype is None else np.array(x, dtype)
        rows = each_array(x)
        result = np.empty((len(rows),) + rows[0].shape, result_type(*rows) if dtype is None else dtype)
        store_rows(result, rows, 0)
        return result
    if isinstance(x, range):
        return array_of_range(x, dtype)
    if isinstance(x, list):
        return np.array(x) if dtype is None else np.array(x, dtype)
    return np.full((), x, result_type(x) if dtype is None else dtype)


def array_of_range(x, dtype):
    result = np.empty(len(x), np.int64 if dtype is None else dtype)
    for i in range(len(x)):
        result[i] = x[i]
    return result


def asarray(a, dtype=None, order="K", copy=False):
    return array_of(a, dtype, copy is True, order)


def asanyarray(a, dtype=None, order="K"):
    return array_of(a, dtype, False, order)


def number_astype(x, dtype):
    return convert(x, dtype)


def astype(a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    kind = result_type(dtype)
    if not can_cast(a.dtype, kind, casting):
        raise TypeError("Cannot cast array data according to the rule given by casting")
    if kind == a.dtype:
        if copy:
            return copied_in(a, order)
        return a
    if a.ndim == 0:
        return np.full((), convert(a, kind), kind)
    result = convert(a, kind)
    return np.asfortranarray(result) if order == "F" else result


def copied_in(a, order):
    return copy(a, order)


def fill(a, value):
    a[...] = value


def from_any(iter, dtype, count):
    """Of what has no length, no item more than are asked for is taken."""
    if count < 0:
        return fromiter(list(iter), dtype)
    result = np.empty(count, dtype)
    n = 0
    if count > 0:
        for x in iter:
            result[n] = x
            n += 1
            if n == count:
                break
    guard("short_iterator", n < count, count, n)
    return result


def fromiter(iter, dtype, count=-1):
    if not isinstance(iter, (list, tuple, np.ndarray, range)):
        return from_any(iter, dtype, count)
    n = len(iter) if count < 0 else count
    guard("short_iterator", n > len(iter), n, len(iter))
    result = np.empty(n, dtype)
    for i in range(n):
        result[i] = iter[i]
    return result


def number_item(a, *args):
    if len(args) > 1 or (len(args) == 1 and not (args[0] == 0 or args[0] == -1 or args[0] == ())):
        raise IndexError("a number has one item alone")
    return a


def item(a, *args):
    if len(args) == 0:
        if a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return reshape(a, (1,))[0]
    if len(args) == 1:
        index = args[0]
        if isinstance(index, tuple):
            return a[index]
        return np.take(a, index)
    return a[args]


def number_tolist(a):
    return float(a) if isinstance(a, np.float32) else complex(a) if isinstance(a, np.complex64) else int(a) if isinstance(a, np.integer) else a


def tolist(a):
    if a.dtype.kind == "M" or a.dtype.kind == "m":
        refuse_code("tolist() of times: Python's dates are no values in compiled code; list(a) holds NumPy's")
    if a.dtype.kind == "V":
        refuse_code("tolist() of records: list(a) holds NumPy's records")
    if a.ndim == 0:
        return number_tolist(a[()])
    if a.ndim == 1:
        return [number_tolist(a[i]) for i in range(len(a))]
    return [tolist(a[i]) for i in range(len(a))]


# -- copies with conditions -------------------------------------------------------------------------------------------------


def the_same(x):
    return x


def the_first_where(condition, x, y):
    return np.where(condition, x, y)


def copyto(dst, src, casting="same_kind", where=True):
    values = as_array(src) if isinstance(src, tuple) else fitting(src, dst.dtype) if isinstance(src, int) else src
    if isinstance(where, np.ndarray):
        map_into(dst, the_first_where, where, values, dst)
    elif casting == "unsafe":
        dst[...] = values
    elif where:
        map_into(dst, the_same, values)


def largest(dtype):
    if dtype == np.float32 or dtype == np.complex64:
        return 3.4028234663852886e38
    return 1.7976931348623157e308


def without_nan(x, nan, high, low):
    if x != x:
        return convert(nan, result_type(x))
    if x == math.inf:
        return convert(high, result_type(x))
    if x == -math.inf:
        return convert(low, result_type(x))
    return x


def without_nan_complex(z, nan, high, low):
    return convert(complex(without_nan(z.real, nan, high, low), without_nan(z.imag, nan, high, low)), result_type(z))


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    kind = result_type(x)
    if is_whole(kind):
        return numbers_copied(x, copy)
    high = largest(kind) if posinf is None else posinf
    low = -largest(kind) if neginf is None else neginf
    if kind.kind == "c":
        return finished(map(without_nan_complex, x, nan, high, low), x, copy)
    return finished(map(without_nan, x, nan, high, low), x, copy)


def numbers_copied(x, copy):
    if isinstance(x, np.ndarray) and copy:
        return copied_in(x, "K")
    return x


def finished(result, x, copy):
    if isinstance(x, np.ndarray) and not copy:
        x[...] = result
        return x
    return result


# -- dtypes -----------------------------------------------------------------------------------------------------------------


def common_type(*arrays_and_dtypes):
    return result_type(*arrays_and_dtypes)


def dtype_of(dtype):
    return result_type(dtype)


def promote_types(type1, type2):
    return result_type(type1, type2)


def rank(kind):
    return 0 if kind == "b" else 1 if kind == "u" else 2 if kind == "i" else 3 if kind == "f" else 4


def can_cast(from_, to, casting="safe"):
    source = result_type(from_)
    target = result_type(to)
    if casting == "unsafe":
        return True
    if casting == "no" or casting == "equiv":
        return source == target
    if casting == "same_kind":
        return rank(source.kind) <= rank(target.kind)
    return result_type(source, target) == target


def ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None):
    """The class, called: numbers of any value."""
    if buffer is not None or offset != 0 or strides is not None:
        raise ValueError("in compiled code np.ndarray() makes new memory only: np.frombuffer() and np.lib.stride_tricks take views")
    return np.empty(shape, dtype, "C" if order is None else order)


FUNCTIONS = {
    "ndarray.astype": astype,
    "number.astype": number_astype,
    "number.item": number_item,
    "number.tolist": number_tolist,
    "ndarray.diagonal": diagonal,
    "ndarray.fill": fill,
    "ndarray.item": item,
    "ndarray.tolist": tolist,
    "numpy.arange": arange,
    "numpy.array": array,
    "numpy.asanyarray": asanyarray,
    "numpy.asarray": asarray,
    "numpy.can_cast": can_cast,
    "numpy.copyto": copyto,
    "numpy.diag": diag,
    "numpy.diagflat": diagflat,
    "numpy.diagonal": diagonal,
    "numpy.dtype": dtype_of,
    "numpy.eye": eye,
    "numpy.fromiter": fromiter,
    "numpy.geomspace": geomspace,
    "numpy.identity": identity,
    "numpy.linspace": linspace,
    "numpy.logspace": logspace,
    "numpy.meshgrid": meshgrid,
    "numpy.ndarray": ndarray,
    "numpy.nan_to_num": nan_to_num,
    "numpy.promote_types": promote_types,
    "numpy.result_type": common_type,
    "numpy.tri": tri,
    "numpy.tril": tril,
    "numpy.triu": triu,
    "numpy.vander": vander,
}
