"""Reductions over all elements, or along axes given by constants."""

import numpy as np

from quern import get_num_threads, prange
from .primitives import convert, fitting, has_memory, known, map, parallel, reduce, reshape as reshape_c, restride, result_type
from .shapes import contiguous, axes_of, axis_of, moveaxis, on_axis, picked, product, ravel, refuse, with_ones


MANY = 1 << 15  # so many elements are worth a thread of their own

# -- what all share -----------------------------------------------------------------------------------------------


def sum_type(dtype):
    """Ints are added in 64 bits."""
    if dtype == np.bool_ or dtype == np.int8 or dtype == np.int16 or dtype == np.int32:
        return np.int64
    if dtype == np.uint8 or dtype == np.uint16 or dtype == np.uint32:
        return np.uint64
    return dtype


def mean_type(dtype):
    """Ints and bools have a mean in double precision."""
    if dtype == np.float32 or dtype == np.float64 or dtype == np.complex64 or dtype == np.complex128:
        return dtype
    return dtype if dtype.kind == "m" else np.float64


def array_of(a):
    """Numbers and tuples are arrays too."""
    if isinstance(a, np.ndarray):
        return a
    if isinstance(a, tuple):
        return np.array(a)
    return np.full((), a)


def reduced(f, start, axes, a):
    """Without axes each element is reduced alone."""
    if len(axes) > 0:
        return reduce(f, start, axes, a)
    return map(same, a) if start is None else map(f, start, a)


def same(x):
    return x


def only(a, where, filler):
    """The elements, with the filler where the mask leaves one out."""
    return a if where is None else map(element_or, where, a, convert(filler, a.dtype))


def element_or(condition, x, filler):
    return x if condition else filler


def finished(result, shape, axes, out, keepdims):
    """What the caller asked for, of an array of what remains of `shape`, or of one number."""
    if out is not None:
        out[...] = with_axes(result, shape, axes, keepdims)
        return out
    return with_axes(result, shape, axes, keepdims)


def with_axes(result, shape, axes, keepdims):
    if keepdims:
        lengths = with_ones(shape, axes)
        if isinstance(result, np.ndarray):
            return reshape_c(contiguous(result), lengths)
        return np.full(lengths, result)
    return result


def check_not_empty(a, axes, text="zero-size array to reduction operation which has no identity"):
    if product(picked(a.shape, axes)) == 0:
        raise ValueError(text)


# -- sums -----------------------------------------------------------------------------------------------------------


def sum_(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=None):
    if not known(axis):
        return on_axis(sum_, array_of(a), axis, (dtype, out, keepdims, initial, where,))
    a = only(array_of(a), where, 0)
    axes = axes_of(axis, a.ndim)
    if dtype is None:
        return finished(reduced(np.add, fitting(initial, sum_type(a.dtype)), axes, a), a.shape, axes, out, keepdims)
    return finished(reduced(np.add, fitting(initial, dtype), axes, a), a.shape, axes, out, keepdims)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=None):
    if not known(axis):
        return on_axis(prod, array_of(a), axis, (dtype, out, keepdims, initial, where,))
    a = only(array_of(a), where, 1)
    axes = axes_of(axis, a.ndim)
    if dtype is None:
        return finished(reduced(np.multiply, fitting(initial, sum_type(a.dtype)), axes, a), a.shape, axes, out, keepdims)
    return finished(reduced(np.multiply, fitting(initial, dtype), axes, a), a.shape, axes, out, keepdims)


def mean_of(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    if not known(axis):
        return on_axis(mean_of, array_of(a), axis, (dtype, out, keepdims, where,))
    a = array_of(a)
    axes = axes_of(axis, a.ndim)
    if dtype is None and a.dtype == np.float16:
        return finished(convert(mean_of(a, axis, np.float32, None, False, where), np.float16), a.shape, axes, out, keepdims)
    if where is not None:
        return mean_where(a, axis, dtype, out, keepdims, where)
    kind = mean_type(a.dtype) if dtype is None else dtype
    total = reduced(np.add, convert(0, kind), axes, a)
    return finished(of_type(dtype, np.true_divide(total, product(picked(a.shape, axes)))), a.shape, axes, out, keepdims)


def of_type(dtype, quotient):
    """A mean that is asked for in ints is cut to them."""
    if dtype is None or not isinstance(convert(0, dtype), (int, np.integer)):
        return quotient
    return convert(quotient, dtype)


def counted_where(n, condition, x):
    return n + (1 if condition else 0)


def mean_where(a, axis, dtype, out, keepdims, where):
    axes = axes_of(axis, a.ndim)
    kind = mean_type(a.dtype) if dtype is None else dtype
    total = reduced(np.add, convert(0, kind), axes, only(a, where, 0))
    count = reduce(counted_where, np.int64(0), axes, where, a)
    return finished(of_type(dtype, map(mean_of_numbers, total, count)), a.shape, axes, out, keepdims)


def squared_size(x):
    """|x| ** 2"""
    return np.add(np.multiply(x.real, x.real), np.multiply(x.imag, x.imag))


def degrees_taken(ddof, correction):
    """`correction` is the other name of `ddof`."""
    if correction is None:
        return ddof
    if not known(ddof) or ddof != 0:
        refuse("ddof and correction can't be provided simultaneously.")
    return correction


# In kernels nothing is stored between two steps: all elements are reduced in loops, one after the other.


def in_a_loop(axis, dtype, out, keepdims, where):
    return not has_memory() and axis is None and dtype is None and out is None and not keepdims and where is None


def var_in_a_loop(a, ddof, middle):
    total = convert(0, result_type((middle - middle).real))
    for x in a.flat:
        away = x - middle
        total += squared_size(away) if a.dtype.kind == "c" else away * away
    return np.true_divide(total, max(a.size - ddof, 0))


def sum_in_a_loop(a, initial):
    total = fitting(initial, sum_type(a.dtype))
    for x in a.flat:
        if x == x:
            total += x
    return total


def prod_in_a_loop(a, initial):
    total = fitting(initial, sum_type(a.dtype))
    for x in a.flat:
        if x == x:
            total *= x
    return total


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    if not known(axis):
        return on_axis(var, array_of(a), axis, (dtype, out, ddof, keepdims, where, mean, correction))
    a = array_of(a)
    if correction is not None:
        return var(a, axis, dtype, out, degrees_taken(ddof, correction), keepdims, where, mean)
    if a.ndim == 0:
        return finished(var(reshape_c(a, (1,)), 0, dtype, None, ddof, False, where, mean), (), axes_of(axis, 0), out, keepdims)
    if in_a_loop(axis, dtype, out, keepdims, where):
        return var_in_a_loop(a, ddof, mean_of(a) if mean is None else mean)
    axes = axes_of(axis, a.ndim)
    if dtype is None and a.dtype == np.float16:
        return finished(convert(var(a, axis, np.float32, None, ddof, False, where, mean), np.float16), a.shape, axes, out, keepdims)
    away = a - (mean_of(a, axis, dtype, None, True, where) if mean is None else mean)
    squares = sum_of_squares(away, axis, dtype, where)
    if where is None:
        return finished(np.true_divide(squares, max(product(picked(a.shape, axes)) - ddof, 0)), a.shape, axes, out, keepdims)
    count = reduce(counted_where, np.int64(0), axes, where, a)
    return finished(map(quotient_of_degrees, squares, np.maximum(count - ddof, 0)), a.shape, axes, out, keepdims)


def sum_of_squares(away, axis, dtype, where):
    if away.dtype == np.complex64 or away.dtype == np.complex128:
        return sum_(map(squared_size, away), axis, dtype, None, False, 0, where)
    return sum_(np.square(away), axis, dtype, None, False, 0, where)


def quotient_of_degrees(squares, count):
    return np.true_divide(squares, convert(count, result_type(squares)))


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    if not known(axis):
        return on_axis(std, array_of(a), axis, (dtype, out, ddof, keepdims, where, mean, correction))
    a = array_of(a)
    axes = axes_of(axis, a.ndim)
    if in_a_loop(axis, dtype, out, keepdims, where):
        return np.sqrt(var(a, None, None, None, ddof, False, None, mean, correction))
    return finished(np.sqrt(var(a, axis, dtype, None, ddof, False, where, mean, correction)), a.shape, axes, out, keepdims)


# -- extremes ---------------------------------------------------------------------------------------------------------


def amin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    if not known(axis):
        return on_axis(amin, array_of(a), axis, (out, keepdims, initial, where,))
    if where is not None and initial is None:
        refuse("reduction operation does not have an identity, so to use a where mask one has to specify 'initial'")
        return amin(a, axis, out, keepdims)
    a = only(array_of(a), where, initial)
    axes = axes_of(axis, a.ndim)
    if initial is None:
        check_not_empty(a, axes, "zero-size array to reduction operation minimum which has no identity")
        return finished(reduced(np.minimum, None, axes, a), a.shape, axes, out, keepdims)
    return finished(reduced(np.minimum, fitting(initial, a.dtype), axes, a), a.shape, axes, out, keepdims)


def amax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    if not known(axis):
        return on_axis(amax, array_of(a), axis, (out, keepdims, initial, where,))
    if where is not None and initial is None:
        refuse("reduction operation does not have an identity, so to use a where mask one has to specify 'initial'")
        return amax(a, axis, out, keepdims)
    a = only(array_of(a), where, initial)
    axes = axes_of(axis, a.ndim)
    if initial is None:
        check_not_empty(a, axes, "zero-size array to reduction operation maximum which has no identity")
        return finished(reduced(np.maximum, None, axes, a), a.shape, axes, out, keepdims)
    return finished(reduced(np.maximum, fitting(initial, a.dtype), axes, a), a.shape, axes, out, keepdims)


def ptp(a, axis=None, out=None, keepdims=False):
    if not known(axis):
        return on_axis(ptp, array_of(a), axis, (out, keepdims,))
    a = array_of(a)
    if a.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported: astype(np.int8) makes numbers of bools")
    axes = axes_of(axis, a.ndim)
    return finished(np.subtract(amax(a, axis), amin(a, axis)), a.shape, axes, out, keepdims)


BLOCK = 512


def place_in(line, x):
    """The first place of a number that the line has, or of its first nan."""
    if x != x:
        for i in range(len(line)):
            if line[i] != line[i]:
                return i
        return 0
    for i in range(len(line)):
        if line[i] == x:
            return i
    return 0


def first_extreme(f, better, a):
    """Block after block with loops that LLVM vectorises; only the block that has it is looked at one by one. The first nan wins."""
    start = 0
    best = reduce(f, None, (0,), a[:BLOCK])
    for at in range(BLOCK, len(a), BLOCK):
        if best != best:
            break
        x = reduce(f, None, (0,), a[at : at + BLOCK])
        if better(x, best) or x != x:
            best = x
            start = at
    return start + place_in(a[start : start + BLOCK], best)


def is_complex_line(a):
    return a.dtype == np.complex64 or a.dtype == np.complex128


def first_greatest(a):
    """Position of the greatest element of a line; the first nan wins."""
    if not is_complex_line(a):
        return first_extreme(np.maximum, np.greater, a)
    best = 0
    for i in range(len(a)):
        if np.greater(a[i], a[best]) or a[i] != a[i]:
            best = i
            if a[i] != a[i]:
                break
    return best


def first_least(a):
    if not is_complex_line(a):
        return first_extreme(np.minimum, np.less, a)
    best = 0
    for i in range(len(a)):
        if np.less(a[i], a[best]) or a[i] != a[i]:
            best = i
            if a[i] != a[i]:
                break
    return best


def parts_of(n):
    """How many parts of a line are looked at at once: one where the program is not parallel, and of short lines."""
    return min(get_num_threads(), n // MANY) if parallel() else 1


def best_of_parts(best, a):
    """Of equals the first: the parts keep their order."""
    n = len(a)
    count = parts_of(n)
    if count < 2:
        return best(a)
    places = np.empty(count, np.int64)
    for k in prange(count):
        low = n * k // count
        places[k] = low + best(a[low:n * (k + 1) // count])
    return places[best(a[places])]


def of_many_lines(best, a, out):
    """Lines of one array on several threads."""
    if parallel() and a.size >= 2 * MANY:
        for i in prange(len(a)):
            if out.ndim == 1:
                out[i] = best(a[i])
            else:
                of_each_line(best, a[i], out[i])
    else:
        of_each_line(best, a, out)


def of_each_line(best, a, out):
    if out.ndim == 1:
        for i in range(len(a)):
            out[i] = best(a[i])
    else:
        for i in range(len(a)):
            of_each_line(best, a[i], out[i])


WIDE = 8


def places_in_columns(better, a):
    """Row after row with the best of each column so far, so that LLVM makes vectors of columns. The first nan wins."""
    best = np.empty(a.shape[1], a.dtype)
    best[...] = a[0]
    places = np.zeros(a.shape[1], np.int64)
    for i in range(1, len(a)):
        for j in range(len(best)):
            x = a[i, j]
            y = best[j]
            wins = better(x, y) or (x != x and y == y)
            best[j] = x if wins else y
            places[j] = i if wins else places[j]
    return places


def place_of(best, a, axis, out, keepdims, empty):
    a = array_of(a)
    axes = axes_of(axis, a.ndim)
    if product(picked(a.shape, axes)) == 0:
        raise ValueError(empty)
    if axis is None or a.ndim < 2:
        return finished(best_of_parts(best, ravel(a)), a.shape, axes, out, keepdims)
    if a.ndim == 2 and axes[0] == 0 and not is_complex_line(a) and a.dtype != np.bool_ and not parallel():
        if a.shape[1] >= WIDE:
            better = np.greater if best is first_greatest else np.less
            return finished(places_in_columns(better, a), a.shape, axes, out, keepdims)
    lines = moveaxis(a, axes[0], -1)
    result = np.empty(lines.shape[:-1], np.int64)
    of_many_lines(best, lines, result)
    return finished(result, a.shape, axes, out, keepdims)


def argmax(a, axis=None, out=None, keepdims=False):
    if not known(axis):
        return on_axis(argmax, array_of(a), axis, (out, keepdims,))
    return place_of(first_greatest, a, axis, out, keepdims, "attempt to get argmax of an empty sequence")


def argmin(a, axis=None, out=None, keepdims=False):
    if not known(axis):
        return on_axis(argmin, array_of(a), axis, (out, keepdims,))
    return place_of(first_least, a, axis, out, keepdims, "attempt to get argmin of an empty sequence")


# -- truth --------------------------------------------------------------------------------------------------------------


def has_true(a):
    """Block after block, without a branch inside."""
    for start in range(0, len(a), BLOCK):
        some = False
        for i in range(start, min(start + BLOCK, len(a))):
            some |= bool(a[i])
        if some:
            return True
    return False


def has_false(a):
    for start in range(0, len(a), BLOCK):
        some = False
        for i in range(start, min(start + BLOCK, len(a))):
            some |= not a[i]
        if some:
            return True
    return False


def found(has, a):
    """Does a line have such an element?"""
    n = len(a)
    count = parts_of(n)
    if count < 2:
        return has(a)
    answers = np.zeros(count, np.bool_)
    for k in prange(count):
        answers[k] = has(a[n * k // count:n * (k + 1) // count])
    return has_true(answers)


def any_(a, axis=None, out=None, keepdims=False, where=None):
    if not known(axis):
        return on_axis(any_, array_of(a), axis, (out, keepdims, where,))
    a = only(array_of(a), where, False)
    axes = axes_of(axis, a.ndim)
    if a.ndim == 0:
        return finished(bool(a[()]), a.shape, axes, out, keepdims)
    if a.ndim == 1 and len(axes) == 1:
        return finished(found(has_true, a), a.shape, axes, out, keepdims)
    return finished(reduced(np.logical_or, np.bool_(False), axes, a), a.shape, axes, out, keepdims)


def all_(a, axis=None, out=None, keepdims=False, where=None):
    if not known(axis):
        return on_axis(all_, array_of(a), axis, (out, keepdims, where,))
    a = only(array_of(a), where, True)
    axes = axes_of(axis, a.ndim)
    if a.ndim == 0:
        return finished(bool(a[()]), a.shape, axes, out, keepdims)
    if a.ndim == 1 and len(axes) == 1:
        return finished(not found(has_false, a), a.shape, axes, out, keepdims)
    return finished(reduced(np.logical_and, np.bool_(True), axes, a), a.shape, axes, out, keepdims)


def counted(n, x):
    return n + (1 if bool(x) else 0)


def count_nonzero(a, axis=None, keepdims=False):
    if not known(axis):
        return on_axis(count_nonzero, array_of(a), axis, (keepdims,))
    a = array_of(a)
    axes = axes_of(axis, a.ndim)
    return finished(reduced(counted, np.int64(0), axes, a), a.shape, axes, None, keepdims)


# -- running ------------------------------------------------------------------------------------------------------------


def run_along(f, a, out):
    if a.ndim == 1:
        if len(a) > 0:
            last = convert(a[0], out.dtype)
            out[0] = last
            for i in range(1, len(a)):
                last = convert(f(last, convert(a[i], out.dtype)), out.dtype)
                out[i] = last
    else:
        for i in range(len(a)):
            run_along(f, a[i], out[i])


def accumulate_with(f, kind, array, axis, dtype, out):
    at = axis_of(axis, array.ndim)
    result = np.empty_like(array, kind if dtype is None else dtype)
    run_along(f, moveaxis(array, at, -1), moveaxis(result, at, -1))
    return finished(result, result.shape, (), out, False)


def running_with(f, kind, a, axis, dtype, out):
    if axis is None:
        return accumulate_with(f, kind, ravel(a), 0, dtype, out)
    return accumulate_with(f, kind, a, axis, dtype, out)


def cumsum(a, axis=None, dtype=None, out=None):
    if not known(axis):
        return on_axis(cumsum, array_of(a), axis, (dtype, out,))
    a = array_of(a)
    return running_with(np.add, sum_type(a.dtype), a, axis, dtype, out)


def cumprod(a, axis=None, dtype=None, out=None):
    if not known(axis):
        return on_axis(cumprod, array_of(a), axis, (dtype, out,))
    a = array_of(a)
    return running_with(np.multiply, sum_type(a.dtype), a, axis, dtype, out)


# -- without nan ----------------------------------------------------------------------------------------------------------


def zero_for_nan(x):
    return x if x == x else convert(0, result_type(x))


def one_for_nan(x):
    return x if x == x else convert(1, result_type(x))


def counted_number(n, x):
    return n + (1 if x == x else 0)


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=None):
    if not known(axis):
        return on_axis(nansum, array_of(a), axis, (dtype, out, keepdims, initial, where))
    if in_a_loop(axis, dtype, out, keepdims, where):
        return sum_in_a_loop(array_of(a), initial)
    return sum_(map(zero_for_nan, array_of(a)), axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=None):
    if not known(axis):
        return on_axis(nanprod, array_of(a), axis, (dtype, out, keepdims, initial, where))
    if in_a_loop(axis, dtype, out, keepdims, where):
        return prod_in_a_loop(array_of(a), initial)
    return prod(map(one_for_nan, array_of(a)), axis, dtype, out, keepdims, initial, where)


def greatest_number(a, axes):
    """As a maximum, which LLVM makes vectors of; one by one where there may be nothing but nan."""
    best = reduced(np.maximum, None, axes, map(least_for_nan, a))
    return best if best > -np.inf else reduced(np.fmax, None, axes, a)


def least_number(a, axes):
    best = reduced(np.minimum, None, axes, map(greatest_for_nan, a))
    return best if best < np.inf else reduced(np.fmin, None, axes, a)


def nan_extreme_of(f, a, axes):
    is_float = a.dtype == np.float64 or a.dtype == np.float32
    if is_float and len(axes) == a.ndim and has_memory():  # kernels have no map
        return greatest_number(a, axes) if f is np.fmax else least_number(a, axes)
    return reduced(f, None, axes, a)


def nan_extreme(f, a, axis, out, keepdims, initial, where):
    if where is not None and initial is None:
        refuse("reduction operation does not have an identity, so to use a where mask one has to specify 'initial'")
        return nan_extreme(f, a, axis, out, keepdims, None, None)
    a = only(array_of(a), where, initial)
    axes = axes_of(axis, a.ndim)
    if initial is None:
        check_not_empty(a, axes)
        return finished(nan_extreme_of(f, a, axes), a.shape, axes, out, keepdims)
    return finished(reduced(f, fitting(initial, a.dtype), axes, a), a.shape, axes, out, keepdims)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    if not known(axis):
        return on_axis(nanmin, array_of(a), axis, (out, keepdims, initial, where))
    return nan_extreme(np.fmin, a, axis, out, keepdims, initial, where)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    if not known(axis):
        return on_axis(nanmax, array_of(a), axis, (out, keepdims, initial, where))
    return nan_extreme(np.fmax, a, axis, out, keepdims, initial, where)


def numbers_where(a, axes, where):
    """How many are no nan, and not left out."""
    if where is None:
        return reduced(counted_number, np.int64(0), axes, a)
    return reduce(counted_number_where, np.int64(0), axes, where, a)


def counted_number_where(n, condition, x):
    return n + (1 if condition and x == x else 0)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, where=None):
    if not known(axis):
        return on_axis(nanmean, array_of(a), axis, (dtype, out, keepdims, where))
    a = array_of(a)
    axes = axes_of(axis, a.ndim)
    kind = mean_type(a.dtype) if dtype is None else dtype
    if in_a_loop(axis, dtype, out, keepdims, where):
        return mean_of_numbers(convert(sum_in_a_loop(a, 0), kind), numbers_where(a, axes, None))
    total = sum_(map(zero_for_nan, a), axis, kind, None, False, 0, where)
    return finished(map(mean_of_numbers, total, numbers_where(a, axes, where)), a.shape, axes, out, keepdims)


def mean_of_numbers(total, count):
    return np.true_divide(total, convert(count, result_type(total)))


def nancumsum(a, axis=None, dtype=None, out=None):
    if not known(axis):
        return on_axis(nancumsum, array_of(a), axis, (dtype, out,))
    return cumsum(map(zero_for_nan, array_of(a)), axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    if not known(axis):
        return on_axis(nancumprod, array_of(a), axis, (dtype, out,))
    return cumprod(map(one_for_nan, array_of(a)), axis, dtype, out)


def squared_or_zero(x, away):
    """|away| ** 2, and 0 where x is nan."""
    return squared_size(away) if x == x else convert(0, result_type(away.real))


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    if not known(axis):
        return on_axis(nanvar, array_of(a), axis, (dtype, out, ddof, keepdims, where, mean, correction))
    a = array_of(a)
    if correction is not None:
        return nanvar(a, axis, dtype, out, degrees_taken(ddof, correction), keepdims, where, mean)
    axes = axes_of(axis, a.ndim)
    away = a - (nanmean(a, axis, dtype, None, True, where) if mean is None else mean)
    squares = sum_(map(squared_or_zero, a, away), axis, dtype, None, False, 0, where)
    numbers = numbers_where(a, axes, where)
    return finished(map(quotient_or_nan, squares, numbers - ddof), a.shape, axes, out, keepdims)


def quotient_or_nan(squares, count):
    return quotient_of_degrees(squares, count) if count > 0 else convert(np.nan, result_type(squares))


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=None, mean=None, correction=None):
    if not known(axis):
        return on_axis(nanstd, array_of(a), axis, (dtype, out, ddof, keepdims, where, mean, correction))
    a = array_of(a)
    squares = nanvar(a, axis, dtype, None, ddof, False, where, mean, correction)
    return finished(np.sqrt(squares), a.shape, axes_of(axis, a.ndim), out, keepdims)


def least_for_nan(x):
    return x if x == x else convert(-np.inf, result_type(x))


def greatest_for_nan(x):
    return x if x == x else convert(np.inf, result_type(x))


def check_has_numbers(a, axis):
    if any_(reduced(counted_number, np.int64(0), axes_of(axis, a.ndim), a) == 0):
        raise ValueError("All-NaN slice encountered")


def is_inexact(dtype):
    return dtype == np.float32 or dtype == np.float64 or dtype == np.complex64 or dtype == np.complex128


def nanargmax(a, axis=None, out=None, keepdims=False):
    if not known(axis):
        return on_axis(nanargmax, array_of(a), axis, (out, keepdims,))
    a = array_of(a)
    if not is_inexact(a.dtype):
        return argmax(a, axis, out, keepdims)
    if product(picked(a.shape, axes_of(axis, a.ndim))) > 0:
        check_has_numbers(a, axis)
    return argmax(map(least_for_nan, a), axis, out, keepdims)


def nanargmin(a, axis=None, out=None, keepdims=False):
    if not known(axis):
        return on_axis(nanargmin, array_of(a), axis, (out, keepdims,))
    a = array_of(a)
    if not is_inexact(a.dtype):
        return argmin(a, axis, out, keepdims)
    if product(picked(a.shape, axes_of(axis, a.ndim))) > 0:
        check_has_numbers(a, axis)
    return argmin(map(greatest_for_nan, a), axis, out, keepdims)


# -- averages -----------------------------------------------------------------------------------------------------------


def along(weights, ndim, axis):
    """Weights of one axis, for arrays of that many."""
    return restride(weights, with_length(ndim, axis, weights.shape[0]), with_length(ndim, axis, weights.strides[0]))


def with_length(ndim, axis, length, at=0):
    if at == ndim:
        return ()
    return (length if at == axis else 1,) + with_length(ndim, axis, length, at + 1)


def average(a, axis=None, weights=None, returned=False, keepdims=False):
    a = array_of(a)
    axes = axes_of(axis, a.ndim)
    if weights is None:
        result = mean_of(a, axis, None, None, keepdims)
        if returned:
            return result, result * 0 + product(picked(a.shape, axes))
        return result
    return weighted(a, axis, axes, weights, returned, keepdims)


def weighted(a, axis, axes, weights, returned, keepdims):
    if weights.ndim == a.ndim and axis is None and weights.shape != a.shape:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if weights.ndim != a.ndim:
        if axis is None or weights.ndim != 1:
            refuse_type("Axis must be specified when shapes of a and weights differ.")
        if weights.shape[0] != a.shape[axes[0]]:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        return weighted(a, axis, axes, along(weights, a.ndim, axes[0]), returned, keepdims)
    kind = mean_type(result_type(a, weights))
    scale = sum_(np.multiply(map(same, weights), np.ones(a.shape, weights.dtype)), axis, kind, None, keepdims)
    if any_(scale == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    result = sum_(np.multiply(convert(a, kind), convert(weights, kind)), axis, None, None, keepdims) / scale
    if returned:
        return result, scale
    return result


def refuse_type(text):
    raise TypeError(text)


# -- comparisons ----------------------------------------------------------------------------------------------------------


def close_numbers(x, y, rtol, atol):
    if np.isfinite(x) and np.isfinite(y):
        return np.absolute(x - y) <= atol + rtol * np.absolute(y)
    return x == y


def close_or_nan(x, y, rtol, atol):
    if x != x and y != y:
        return np.bool_(True)
    return close_numbers(x, y, rtol, atol)


def inexact(a):
    """Elements of which differences do not wrap."""
    return convert(a, mean_type(result_type(a)))


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    if equal_nan:
        return map(close_or_nan, inexact(a), inexact(b), rtol, atol)
    return map(close_numbers, inexact(a), inexact(b), rtol, atol)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return all_(isclose(a, b, rtol, atol, equal_nan))


def equal_or_nan(x, y):
    return x == y or (x != x and y != y)


def array_equal(a1, a2, equal_nan=False):
    a = array_of(a1)
    b = array_of(a2)
    if a.ndim != b.ndim:
        return False
    if a.shape != b.shape:
        return False
    return all_(map(equal_or_nan, a, b)) if equal_nan else all_(np.equal(a, b))


def can_broadcast(a, b):
    if len(a) == 0 or len(b) == 0:
        return True
    return (a[-1] == b[-1] or a[-1] == 1 or b[-1] == 1) and can_broadcast(a[:-1], b[:-1])


def array_equiv(a1, a2):
    a = array_of(a1)
    b = array_of(a2)
    if not can_broadcast(a.shape, b.shape):
        return False
    return all_(np.equal(a, b))


# -- diagonals ---------------------------------------------------------------------------------------------------------------


def fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        refuse("array must be at least 2-d")
    elif a.ndim == 2:
        fill_matrix(a, val, wrap)
    else:
        if min(a.shape) != max(a.shape):
            raise ValueError("All dimensions of input must be of equal length")
        fill_line(restride(a, (a.shape[0],), (sum_of(a.strides),)), val, 0)


def sum_of(items):
    return 0 if len(items) == 0 else items[0] + sum_of(items[1:])


def fill_line(line, val, start):
    """The line's elements are val, or those of an array again and again, from its element `start` on."""
    if isinstance(val, np.ndarray) and val.ndim > 0:
        cycle = ravel(val)
        for i in range(len(line)):
            line[i] = cycle[(start + i) % len(cycle)]
    else:
        line[...] = val


def fill_matrix(a, val, wrap):
    rows, columns = a.shape
    step = (a.strides[0] + a.strides[1],)
    fill_line(restride(a, (min(rows, columns),), step), val, 0)
    if wrap:
        done = columns
        for first in range(columns + 1, rows, columns + 1):
            part = a[first:]
            fill_line(restride(part, (min(part.shape[0], columns),), step), val, done)
            done += columns


FUNCTIONS = {
    "ndarray.all": all_,
    "ndarray.any": any_,
    "ndarray.argmax": argmax,
    "ndarray.argmin": argmin,
    "ndarray.cumprod": cumprod,
    "ndarray.cumsum": cumsum,
    "ndarray.max": amax,
    "ndarray.mean": mean_of,
    "ndarray.min": amin,
    "ndarray.prod": prod,
    "ndarray.std": std,
    "ndarray.sum": sum_,
    "ndarray.var": var,
    "numpy.all": all_,
    "numpy.allclose": allclose,
    "numpy.amax": amax,
    "numpy.amin": amin,
    "numpy.any": any_,
    "numpy.argmax": argmax,
    "numpy.argmin": argmin,
    "numpy.array_equal": array_equal,
    "numpy.array_equiv": array_equiv,
    "numpy.average": average,
    "numpy.count_nonzero": count_nonzero,
    "numpy.cumprod": cumprod,
    "numpy.cumsum": cumsum,
    "numpy.fill_diagonal": fill_diagonal,
    "numpy.isclose": isclose,
    "numpy.max": amax,
    "numpy.mean": mean_of,
    "numpy.min": amin,
    "numpy.nanargmax": nanargmax,
    "numpy.nanargmin": nanargmin,
    "numpy.nancumprod": nancumprod,
    "numpy.nancumsum": nancumsum,
    "numpy.nanmax": nanmax,
    "numpy.nanmean": nanmean,
    "numpy.nanmin": nanmin,
    "numpy.nanprod": nanprod,
    "numpy.nanstd": nanstd,
    "numpy.nansum": nansum,
    "numpy.nanvar": nanvar,
    "numpy.prod": prod,
    "numpy.ptp": ptp,
    "numpy.std": std,
    "numpy.sum": sum_,
    "numpy.var": var,
}
