"""Sorting: ints and floats of 32 and 64 bits by vector instructions where the processor has them (codegen/sort.h), others by their digits (radix
sort) where there are many, by insertion where there are few; complex numbers, and several keys at once, by merging. All are stable, and nan
is last, as in NumPy."""

import numpy as np

from .primitives import (
    convert,
    guard,
    known,
    layout,
    load,
    promise,
    reinterpret,
    result_type,
    sort_pairs,
    sort_words,
    store,
)
from .reductions import array_of
from .shapes import axis_of, contiguous, copy, moveaxis, on_axis, product, ravel, refuse, refuse_axis, reshape

# -- order ------------------------------------------------------------------------------------------------------


def part_order(x):
    """Which numbers come behind which: those with nan as imaginary part, as real part, as both."""
    return (2 if x.real != x.real else 0) + (1 if x.imag != x.imag else 0)


def is_complex(dtype):
    return dtype == np.complex64 or dtype == np.complex128


def is_float(dtype):
    return dtype == np.float32 or dtype == np.float64


def is_text(dtype):
    return dtype.kind == "U" or dtype.kind == "S"


def has_no_keys(dtype):
    """Is compared, not sorted by digits."""
    return is_complex(dtype) or is_text(dtype)


def is_time(dtype):
    return dtype.kind == "M" or dtype.kind == "m"


def less(x, y):
    if is_complex(result_type(x)):
        if part_order(x) != part_order(y):
            return part_order(x) < part_order(y)
        if x.real != y.real and x.real == x.real:
            return x.real < y.real
        return x.imag < y.imag
    if is_float(result_type(x)) or is_time(result_type(x)):
        return x < y or (y != y and x == x)
    return x < y


# -- keys: unsigned ints in the same order ---------------------------------------------------------------------------


def key_type(dtype):
    if dtype == np.bool_ or dtype == np.int8 or dtype == np.uint8:
        return np.uint8
    if dtype == np.int16 or dtype == np.uint16:
        return np.uint16
    if dtype == np.int32 or dtype == np.uint32 or dtype == np.float32:
        return np.uint32
    return np.uint64


def is_unsigned(dtype):
    return dtype == np.bool_ or dtype == np.uint8 or dtype == np.uint16 or dtype == np.uint32 or dtype == np.uint64


def infinity_bits(kind):
    if kind == np.uint32:
        return np.uint32(0x7F800000)
    return np.uint64(0x7FF0000000000000)


def highest_bit(kind):
    return np.left_shift(convert(1, kind), convert(8 * kind.itemsize - 1, kind))


def key_of(bits, dtype):
    """Of the bits of an element: nan has the key of all ones."""
    if is_unsigned(dtype):
        return bits
    kind = result_type(bits)
    sign = highest_bit(kind)
    if is_time(dtype):  # NaT is the smallest int
        return np.subtract(np.bitwise_xor(bits, sign), convert(1, kind))
    if not is_float(dtype):
        return np.bitwise_xor(bits, sign)
    if np.bitwise_and(bits, np.invert(sign)) > infinity_bits(kind):
        return np.invert(convert(0, kind))
    return np.invert(bits) if bits >= sign else np.bitwise_or(bits, sign)


def bits_of(key, dtype):
    """The bits of the element with that key."""
    if is_unsigned(dtype):
        return key
    sign = highest_bit(result_type(key))
    if is_time(dtype):
        return np.bitwise_xor(np.add(key, convert(1, result_type(key))), sign)
    if not is_float(dtype):
        return np.bitwise_xor(key, sign)
    return np.bitwise_xor(key, sign) if key >= sign else np.invert(key)


def stable_key_of(bits, dtype):
    """The key of -0.0 is that of 0.0."""
    if is_float(dtype) and bits == highest_bit(result_type(bits)):
        return bits
    return key_of(bits, dtype)


def seen_as_keys(line):
    return promise(reinterpret(line, key_type(line.dtype), 0), "C")


# -- by digits ---------------------------------------------------------------------------------------------------------

DIGIT = 8
BUCKETS = 256


def digit_of(key, shift):
    kind = result_type(key)
    return convert(np.bitwise_and(np.right_shift(key, convert(shift, kind)), convert(BUCKETS - 1, kind)), np.int64)


def count_digits(key, counts, n):
    for k in range(n):
        digit = digit_of(key, DIGIT * k)
        store(counts, k, digit, load(counts, k, digit) + 1)


def begin_buckets(counts, n):
    """Counts become positions; false: all n elements are in one bucket, and nothing is to be done."""
    total = 0
    for digit in range(BUCKETS):
        count = load(counts, digit)
        if count == n:
            return False
        store(counts, digit, total)
        total += count
    return True


def scatter(keys, to, starts, shift):
    for i in range(len(keys)):
        key = load(keys, i)
        digit = digit_of(key, shift)
        at = load(starts, digit)
        store(starts, digit, at + 1)
        store(to, at, key)


def scatter_both(keys, places, to_keys, to_places, starts, shift):
    for i in range(len(keys)):
        key = load(keys, i)
        digit = digit_of(key, shift)
        at = load(starts, digit)
        store(starts, digit, at + 1)
        store(to_keys, at, key)
        store(to_places, at, load(places, i))


def sort_by_digits(line):
    source = seen_as_keys(line)
    elements = source
    n = len(source)
    target = np.empty(n, source.dtype)
    digits = source.itemsize
    counts = np.zeros((source.itemsize, BUCKETS), np.int64)
    for i in range(n):
        key = key_of(load(source, i), line.dtype)
        store(source, i, key)
        count_digits(key, counts, digits)
    for k in range(digits):
        if begin_buckets(counts[k], n):
            scatter(source, target, counts[k], DIGIT * k)
            source, target = target, source
    for i in range(n):
        store(elements, i, bits_of(load(source, i), line.dtype))


# -- by vector instructions -----------------------------------------------------------------------------------------------

I32 = 0  # SortKind of codegen/sort.h
I64 = 1
F32 = 2
F64 = 3


def sort_numbers(line, kind):
    """False: this processor cannot, or did not come to an end in time; the numbers are in some order."""
    return sort_words(kind, line) != 0


def change_signs(line):
    """Unsigned ints become signed ones of the same order, and such become unsigned ones."""
    words = seen_as_keys(line)
    sign = highest_bit(words.dtype)
    for i in range(len(words)):
        store(words, i, np.bitwise_xor(load(words, i), sign))


def seen_as_ints(line, kind):
    return promise(reinterpret(line, kind, 0), "C")


def sort_unsigned(line):
    change_signs(line)
    done = sort_numbers(line, I64 if line.itemsize == 8 else I32)
    change_signs(line)
    return done


def add_to_times(line, step):
    ticks = seen_as_ints(line, np.int64)
    for i in range(len(ticks)):
        store(ticks, i, load(ticks, i) + step)


def sort_times(line):
    """NaT, the smallest int, is the greatest one in between."""
    add_to_times(line, -1)
    done = sort_numbers(line, I64)
    add_to_times(line, 1)
    return done


def has_nan(line):
    found = False
    for i in range(len(line)):
        x = load(line, i)
        found |= x != x
    return found


def sort_floats(line):
    n = numbers_first(line) if has_nan(line) else len(line)
    return sort_numbers(line[:n], F64 if line.itemsize == 8 else F32)


def sort_by_vectors(line):
    if line.itemsize < 4:
        return False
    if is_float(line.dtype):
        return sort_floats(line)
    if is_time(line.dtype):
        return sort_times(line)
    if is_unsigned(line.dtype):
        return sort_unsigned(line)
    return sort_numbers(line, I64 if line.itemsize == 8 else I32)


def signed_key(key):
    """An int64 in the order of the keys of 64 bits."""
    return convert(np.bitwise_xor(key, highest_bit(np.uint64)), np.int64)


def argsort_words(bits, dtype, places):
    """Of 32 bits: each with its place is one int of 64."""
    n = len(bits)
    words = np.empty(n, np.int64)
    for i in range(n):
        key = convert(stable_key_of(load(bits, i), dtype), np.int64)
        store(words, i, ((key - (1 << 31)) << 32) | i)
    if not sort_numbers(words, I64):
        return False
    for i in range(n):
        store(places, i, load(words, i) & 0xFFFFFFFF)
    return True


def argsort_pairs(bits, dtype, places):
    n = len(bits)
    keys = np.empty(n, np.int64)
    for i in range(n):
        store(keys, i, signed_key(stable_key_of(load(bits, i), dtype)))
        store(places, i, i)
    return sort_pairs(keys, places) != 0


def argsort_by_vectors(line, places):
    if line.itemsize == 8:
        return argsort_pairs(seen_as_keys(line), line.dtype, places)
    if line.itemsize == 4 and len(line) < 1 << 31:
        return argsort_words(seen_as_keys(line), line.dtype, places)
    return False


def argsort_by_digits(line, places):
    bits = seen_as_keys(line)
    n = len(bits)
    source = np.empty(n, bits.dtype)
    target = np.empty(n, bits.dtype)
    source_places = places
    target_places = np.empty(n, np.int64)
    digits = bits.itemsize
    counts = np.zeros((digits, BUCKETS), np.int64)
    for i in range(n):
        key = stable_key_of(load(bits, i), line.dtype)
        store(source, i, key)
        store(places, i, i)
        count_digits(key, counts, digits)
    passes = 0
    for k in range(digits):
        if begin_buckets(counts[k], n):
            scatter_both(source, source_places, target, target_places, counts[k], DIGIT * k)
            source, target = target, source
            source_places, target_places = target_places, source_places
            passes += 1
    if passes % 2 == 1:
        for i in range(n):
            store(places, i, load(source_places, i))


# -- by insertion, by merging -------------------------------------------------------------------------------------------

FEW = 16


def insert_all(line):
    for i in range(1, len(line)):
        x = load(line, i)
        j = i
        while j > 0 and less(x, load(line, j - 1)):
            store(line, j, load(line, j - 1))
            j -= 1
        store(line, j, x)


def insert_places(line, places, start, stop):
    for i in range(start + 1, stop):
        place = load(places, i)
        x = load(line, place)
        j = i
        while j > start and less(x, load(line, load(places, j - 1))):
            store(places, j, load(places, j - 1))
            j -= 1
        store(places, j, place)


def merge(line, places, to, start, middle, stop):
    left = start
    right = middle
    for i in range(start, stop):
        if left < middle and not (right < stop and less(load(line, load(places, right)), load(line, load(places, left)))):
            store(to, i, load(places, left))
            left += 1
        else:
            store(to, i, load(places, right))
            right += 1


def argsort_by_merging(line, places):
    n = len(line)
    for i in range(n):
        store(places, i, i)
    for start in range(0, n, FEW):
        insert_places(line, places, start, min(start + FEW, n))
    source = places
    target = np.empty(n, np.int64)
    width = FEW
    passes = 0
    while width < n:
        for start in range(0, n, 2 * width):
            merge(line, source, target, start, min(start + width, n), min(start + 2 * width, n))
        source, target = target, source
        width *= 2
        passes += 1
    if passes % 2 == 1:
        for i in range(n):
            store(places, i, load(source, i))


# -- lines ------------------------------------------------------------------------------------------------------------------


def argsort_line(line, places):
    if has_no_keys(line.dtype) or len(line) <= FEW:
        argsort_by_merging(line, places)
    elif not argsort_by_vectors(line, places):
        argsort_by_digits(line, places)


def sort_line(line):
    if has_no_keys(line.dtype):
        line[...] = taken(copy(line), argsort_of(line))
    elif len(line) <= FEW:
        insert_all(line)
    elif not sort_by_vectors(line):
        sort_by_digits(line)


def argsort_of(line):
    places = np.empty(len(line), np.int64)
    argsort_line(line, places)
    return places


def taken(line, places):
    result = np.empty(len(places), line.dtype)
    for i in range(len(places)):
        store(result, i, load(line, load(places, i)))
    return result


def sort_lines(lines):
    if lines.ndim > 1:
        for i in range(len(lines)):
            sort_lines(lines[i])
    elif layout(lines) == "C":
        sort_line(lines)
    else:
        line = copy(lines)
        sort_line(line)
        lines[...] = line


def argsort_lines(lines, places):
    if lines.ndim > 1:
        for i in range(len(lines)):
            argsort_lines(lines[i], places[i])
    elif layout(places) == "C":
        argsort_line(contiguous(lines), places)
    else:
        places[...] = argsort_of(contiguous(lines))


def check_kind(kind):
    if kind is not None:
        if kind != "quicksort" and kind != "heapsort" and kind != "mergesort" and kind != "stable":
            refuse("sort kind must be one of 'quick', 'heap', or 'stable'")


def lines_along(a, axis):
    return a if axis == a.ndim - 1 else moveaxis(a, axis, -1)


def sort_in_place(a, axis=-1, kind=None, order=None, stable=None):
    check_kind(kind)
    sort_lines(lines_along(a, axis_of(axis, a.ndim)))


def sort(a, axis=-1, kind=None, order=None, stable=None):
    if not known(axis):
        return on_axis(sort, array_of(a), axis, (kind, order, stable))
    if axis is not None and array_of(a).ndim == 0:
        refuse_axis(axis, 0)
        return copy(array_of(a))
    result = copy(ravel(array_of(a)) if axis is None else array_of(a), "K")
    sort_in_place(result, -1 if axis is None else axis, kind)
    return result


def argsort(a, axis=-1, kind=None, order=None, stable=None):
    check_kind(kind)
    if not known(axis):
        return on_axis(argsort, array_of(a), axis, (kind, order, stable))
    if axis is None:
        return argsort_of(ravel(array_of(a)))
    if array_of(a).ndim == 0:
        return np.zeros(1, np.int64)
    return argsort_along(array_of(a), axis)


def argsort_along(a, axis):
    at = axis_of(axis, a.ndim)
    places = np.empty(a.shape, np.int64)
    argsort_lines(lines_along(a, at), lines_along(places, at))
    return places


def lexsort(keys, axis=-1):
    """By the last key, then by the one before it: sorted stably by one after the other. Keys have one axis."""
    places = argsort_of(contiguous(keys[0]))
    if isinstance(keys, tuple):
        return lexsort_of(keys[1:], places)
    for k in range(1, len(keys)):
        places = reordered(places, keys[k])
    return places


def lexsort_of(keys, places):
    if len(keys) == 0:
        return places
    return lexsort_of(keys[1:], reordered(places, keys[0]))


def reordered(places, key):
    return taken(places, argsort_of(taken(contiguous(key), places)))


# -- selection ------------------------------------------------------------------------------------------------------------------


def exchange(line, i, j):
    x = load(line, i)
    store(line, i, load(line, j))
    store(line, j, x)


def numbers_first(line):
    """Moves nan to the end; how many numbers there are."""
    n = len(line)
    i = 0
    while i < n:
        x = load(line, i)
        if x != x:
            n -= 1
            exchange(line, i, n)
        else:
            i += 1
    return n


def middle_of_three(x, y, z):
    if less(y, x):
        x, y = y, x
    if less(z, y):
        y = x if less(z, x) else z
    return y


MANY_ROUNDS = 64


def select(line, k, n):
    """Puts the number k of the sorted order into its place among the first n, none of them nan: those before are not
    greater, those behind not less."""
    low = 0
    high = n - 1
    rounds = 0
    while high - low > FEW and rounds < MANY_ROUNDS:
        pivot = middle_of_three(load(line, low), load(line, (low + high) >> 1), load(line, high))
        i = low
        j = high
        while i <= j:
            while less(load(line, i), pivot):
                i += 1
            while less(pivot, load(line, j)):
                j -= 1
            if i <= j:
                exchange(line, i, j)
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            return
        rounds += 1
    sort_line(line[low : high + 1])


def least_behind(line, k, n):
    """Of those behind k, which was selected."""
    least = load(line, k + 1)
    for i in range(k + 2, n):
        x = load(line, i)
        if less(x, least):
            least = x
    return least


# -- parts --------------------------------------------------------------------------------------------------------------------


def check_places(kth, n):
    """One or several: whatever is sorted is partitioned, wherever that may be."""
    if isinstance(kth, tuple):
        if len(kth) > 0:
            check_places(kth[0], n)
            check_places(kth[1:], n)
    elif isinstance(kth, np.ndarray):
        for k in kth:
            check_places(k, n)
    else:
        guard("kth", kth < -n or kth >= n, kth, n)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    result = sort(a, axis)
    if result.size > 0:
        check_places(kth, result.shape[-1 if axis is None else axis_of(axis, result.ndim)])
    return result


def partition_in_place(a, kth, axis=-1, kind="introselect", order=None):
    at = axis_of(axis, a.ndim)
    if a.size > 0:
        check_places(kth, a.shape[at])
    sort_in_place(a, at)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    places = argsort(a, axis)
    if places.size > 0:
        check_places(kth, places.shape[-1 if axis is None else axis_of(axis, places.ndim)])
    return places


# -- searching ------------------------------------------------------------------------------------------------------------------


def left_place(a, x):
    """How many elements of the sorted line are less."""
    low = 0
    high = len(a)
    while low < high:
        middle = (low + high) >> 1
        if less(convert(a[middle], result_type(x)), x):
            low = middle + 1
        else:
            high = middle
    return low


def right_place(a, x):
    """How many are not greater."""
    low = 0
    high = len(a)
    while low < high:
        middle = (low + high) >> 1
        if less(x, convert(a[middle], result_type(x))):
            high = middle
        else:
            low = middle + 1
    return low


def place_of_text(line, x, before):
    """Among sorted elements, each of which is read as text: before those that are the same, or behind."""
    low = 0
    high = len(line)
    while low < high:
        middle = (low + high) >> 1
        if line[middle] < x or (not before and line[middle] == x):
            low = middle + 1
        else:
            high = middle
    return low


def places_of_text(line, v, before):
    if not isinstance(v, np.ndarray):
        return np.int64(place_of_text(line, v, before))
    wanted = ravel(v)
    result = np.empty(v.shape, np.int64)
    places = ravel(result)
    for i in range(len(wanted)):
        places[i] = place_of_text(line, wanted[i], before)
    return result


def place(a, x, side):
    return left_place(a, x) if side == "left" else right_place(a, x)


def searchsorted(a, v, side="left", sorter=None):
    line = array_of(a)
    if isinstance(v, tuple):
        return searchsorted(line, np.array(v), side, sorter)
    if side != "left" and side != "right":
        refuse("side must be 'left' or 'right'")
    if sorter is not None:
        line = taken(contiguous(line), sorter)
    if is_text(line.dtype):
        return places_of_text(line, v, side == "left")
    kind = result_type(line, v)
    if not isinstance(v, np.ndarray) or v.ndim == 0:
        return np.int64(place(line, convert(v, kind), side))
    wanted = ravel(v)
    result = np.empty(v.shape, np.int64)
    places = ravel(result)
    for i in range(len(wanted)):
        places[i] = place(line, convert(wanted[i], kind), side)
    return result


# -- sets -----------------------------------------------------------------------------------------------------------------------


def is_new(line, i):
    """Does the sorted line have another number before? All nan are one."""
    x = load(line, i)
    y = load(line, i - 1)
    return x != y and (x == x or y == y)


def distinct(line):
    count = 1 if len(line) > 0 else 0
    for i in range(1, len(line)):
        count += is_new(line, i)
    result = np.empty(count, line.dtype)
    at = 0
    for i in range(len(line)):
        if i == 0 or is_new(line, i):
            store(result, at, load(line, i))
            at += 1
    return result


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, equal_nan=True):
    a = array_of(ar)
    if axis is not None:
        return unique_along(a, axis_of(axis, a.ndim), return_index, return_inverse, return_counts)
    if not return_index and not return_inverse and not return_counts:
        return distinct(sort(a, None))
    return unique_with(a, return_index, return_inverse, return_counts)


def is_new_row(rows, i, j):
    for k in range(rows.shape[1]):
        if rows[i, k] != rows[j, k]:
            return True
    return False


def unique_along(a, axis, return_index, return_inverse, return_counts):
    """What is different along an axis: its items are rows, sorted by their last column, then by the one before it."""
    front = copy(moveaxis(a, axis, 0))
    rows = reshape(front, (len(front), product(front.shape[1:])))
    places = np.arange(len(rows))
    for k in range(rows.shape[1] - 1, -1, -1):
        places = reordered(places, rows[:, k])
    index = np.empty(len(rows), np.int64)
    counts = np.zeros(len(rows), np.int64)
    inverse = np.empty(len(rows), np.int64)
    at = -1
    for i in range(len(places)):
        if i == 0 or is_new_row(rows, places[i - 1], places[i]):
            at += 1
            index[at] = places[i]
        counts[at] += 1
        inverse[places[i]] = at
    result = moveaxis(front[index[:at + 1]], 0, axis)
    return (result if not return_index and not return_inverse and not return_counts else
            (result,) + ((index[:at + 1],) if return_index else ()) + ((inverse,) if return_inverse else ()) +
            ((counts[:at + 1],) if return_counts else ()))


def unique_with(a, return_index, return_inverse, return_counts):
    line = contiguous(ravel(a))
    places = argsort_of(line)
    ordered = taken(line, places)
    result = distinct(ordered)
    index = np.empty(len(result), np.int64)
    counts = np.zeros(len(result), np.int64)
    inverse = np.empty(a.shape, np.int64)
    numbers = ravel(inverse)
    at = -1
    for i in range(len(ordered)):
        if i == 0 or is_new(ordered, i):
            at += 1
            index[at] = places[i]
        counts[at] += 1
        numbers[places[i]] = at
    return (result,) + ((index,) if return_index else ()) + ((inverse,) if return_inverse else ()) + ((counts,) if return_counts else ())


def joined(a, b):
    x = ravel(array_of(a))
    y = ravel(array_of(b))
    result = np.empty(len(x) + len(y), result_type(x, y))
    result[: len(x)] = x
    result[len(x) :] = y
    return result


def sorted_and_distinct(a, assume_unique):
    return sort(a, None) if assume_unique else unique(a)


def holds(line, x):
    """Is x in the sorted line?"""
    at = left_place(line, x)
    return at < len(line) and convert(line[at], result_type(x)) == x


def holds_text(line, x):
    at = place_of_text(line, x, True)
    return at < len(line) and line[at] == x


def texts_in(element, line, invert):
    if not isinstance(element, np.ndarray):
        return holds_text(line, element) != invert
    wanted = ravel(element)
    result = np.empty(element.shape, np.bool_)
    found = ravel(result)
    for i in range(len(wanted)):
        found[i] = holds_text(line, wanted[i]) != invert
    return result


def isin(element, test_elements, assume_unique=False, invert=False, kind=None):
    line = sort(test_elements, None)
    if is_text(line.dtype):
        return texts_in(element, line, invert)
    if not isinstance(element, np.ndarray) or element.ndim == 0:
        return holds(line, convert(element, result_type(line, element))) != invert
    common = result_type(line, element)
    wanted = ravel(element)
    result = np.empty(element.shape, np.bool_)
    found = ravel(result)
    for i in range(len(wanted)):
        found[i] = holds(line, convert(wanted[i], common)) != invert
    return result


def in1d(ar1, ar2, assume_unique=False, invert=False, kind=None):
    return isin(ravel(array_of(ar1)), ar2, assume_unique, invert)


def selected(line, condition):
    count = 0
    for c in condition:
        count += c
    result = np.empty(count, line.dtype)
    at = 0
    for i in range(len(line)):
        if condition[i]:
            result[at] = line[i]
            at += 1
    return result


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if return_indices:
        return intersect_with_places(ravel(array_of(ar1)), ravel(array_of(ar2)))
    common = result_type(array_of(ar1), array_of(ar2))
    a = convert(sorted_and_distinct(ar1, assume_unique), common)
    return selected(a, isin(a, ar2))


def intersect_with_places(a, b):
    """What both have, and where each has it first."""
    x, x_places = unique(a, True)
    y, y_places = unique(b, True)
    common = result_type(a, b)
    mine = isin(x, y)
    return convert(selected(x, mine), common), selected(x_places, mine), selected(y_places, isin(y, x))


def union1d(ar1, ar2):
    return unique(joined(ar1, ar2))


def setdiff1d(ar1, ar2, assume_unique=False):
    a = ravel(array_of(ar1)) if assume_unique else unique(ar1)
    return selected(a, isin(a, ar2, False, True))


def setxor1d(ar1, ar2, assume_unique=False):
    a = joined(sorted_and_distinct(ar1, assume_unique), sorted_and_distinct(ar2, assume_unique))
    sort_in_place(a)
    alone = np.empty(len(a), np.bool_)
    for i in range(len(a)):
        alone[i] = (i == 0 or a[i] != a[i - 1]) and (i == len(a) - 1 or a[i] != a[i + 1])
    return selected(a, alone)


FUNCTIONS = {
    "ndarray.argpartition": argpartition,
    "ndarray.argsort": argsort,
    "ndarray.partition": partition_in_place,
    "ndarray.searchsorted": searchsorted,
    "ndarray.sort": sort_in_place,
    "numpy.argpartition": argpartition,
    "numpy.argsort": argsort,
    "numpy.in1d": in1d,
    "numpy.intersect1d": intersect1d,
    "numpy.isin": isin,
    "numpy.lexsort": lexsort,
    "numpy.partition": partition,
    "numpy.searchsorted": searchsorted,
    "numpy.setdiff1d": setdiff1d,
    "numpy.setxor1d": setxor1d,
    "numpy.sort": sort,
    "numpy.union1d": union1d,
    "numpy.unique": unique,
}
