"""Lists: a length, and a buffer of which the first places hold the elements. The other places are empty."""

import math

import numpy as np

from .joining import stack
from .primitives import buffer_like, check_index, field, grow, guard, load, move, new_like, restride, result_type, set_field, sort_words, store, take
from .shared import List


LIST, LIST_ASSIGNMENT = 100, 101  # instead of an axis: which sentence an IndexError has (CHECK_LIST of frontend/ir/ir.h)


def _grow(self, n):
    """Twice as much: memory that nobody has touched yet costs nothing, copies do."""
    grow(self, "items", n, 2 * n + 4)


def _empty_like(self, n):
    """A list of no elements with room for n."""
    return new_like(self, 0, buffer_like(field(self, "items"), n))


def append(self, object):
    n = field(self, "length")
    if n == len(field(self, "items")):
        _grow(self, n)
    store(field(self, "items"), n, object)
    set_field(self, "length", n + 1)


def extend(self, iterable):
    if isinstance(iterable, list):
        for i in range(field(iterable, "length")):  # it may be the list itself
            append(self, load(field(iterable, "items"), i))
    else:
        for item in iterable:
            append(self, item)


def getitem(self, index):
    return load(field(self, "items"), check_index(index, field(self, "length"), LIST))


def setitem(self, index, value):
    store(field(self, "items"), check_index(index, field(self, "length"), LIST_ASSIGNMENT), value)


def delitem(self, index):
    n = field(self, "length")
    if index < 0:
        index += n
    guard("list_assignment_index", (index < 0) | (index >= n))
    _cut(self, index, 1)


def _cut(self, first, count):
    n = field(self, "length")
    set_field(self, "length", n - count)
    items = field(self, "items")
    for i in range(first, first + count):
        take(items, i)
    move(items, first, items, first + count, n - first - count)


def _open(self, first, count):
    """Empty places in front of the element at `first`, which are elements from here on: each is stored into."""
    n = field(self, "length")
    if n + count > len(field(self, "items")):
        grow(self, "items", n, 2 * n + count + 4)
    items = field(self, "items")
    move(items, first + count, items, first, n - first)
    set_field(self, "length", n + count)


def pop(self, index=-1):
    n = field(self, "length")
    guard("list_pop_empty", n == 0)
    if index < 0:
        index += n
    guard("list_pop_index", (index < 0) | (index >= n))
    items = field(self, "items")
    set_field(self, "length", n - 1)
    item = take(items, index)
    move(items, index, items, index + 1, n - 1 - index)
    return item


def insert(self, index, object):
    n = field(self, "length")
    if index < 0:
        index += n
    if index < 0:
        index = 0
    elif index > n:
        index = n
    if n == len(field(self, "items")):
        _grow(self, n)
    items = field(self, "items")
    move(items, index + 1, items, index, n - index)
    store(items, index, object)
    set_field(self, "length", n + 1)


def _find(self, value, first, last):
    for i in range(first, last):
        if load(field(self, "items"), i) == value:
            return i
    return -1


def remove(self, value):
    at = _find(self, value, 0, field(self, "length"))
    if at < 0:
        raise ValueError("list.remove(x): x not in list")
    _cut(self, at, 1)


def index(self, value, start=0, stop=9223372036854775807):
    n = field(self, "length")
    if start < 0:
        start = max(start + n, 0)
    if stop < 0:
        stop += n
    at = _find(self, value, start, min(stop, n))
    if at < 0:
        raise ValueError("list.index(x): x not in list")
    return at


def count(self, value):
    found = 0
    for i in range(field(self, "length")):
        if load(field(self, "items"), i) == value:
            found += 1
    return found


def contains(self, value):
    return _find(self, value, 0, field(self, "length")) >= 0


def clear(self):
    set_field(self, "length", 0)
    set_field(self, "items", buffer_like(field(self, "items"), 0))


def copy(self):
    n = field(self, "length")
    out = _empty_like(self, n)
    for i in range(n):
        append(out, load(field(self, "items"), i))
    return out


def reverse(self):
    items = field(self, "items")
    last = field(self, "length") - 1
    for i in range((last + 1) // 2):
        item = take(items, i)
        move(items, i, items, last - i, 1)
        store(items, last - i, item)


def _merge(items, spare, first, middle, last, keys, spare_keys):
    """Two runs that stand in order, side by side, become one: equal elements keep their order."""
    a, b, at = first, middle, first
    while a < middle and b < last:
        if load(keys, b) < load(keys, a):
            move(spare, at, items, b, 1)
            if keys is not items:
                move(spare_keys, at, keys, b, 1)
            b += 1
        else:
            move(spare, at, items, a, 1)
            if keys is not items:
                move(spare_keys, at, keys, a, 1)
            a += 1
        at += 1
    move(spare, at, items, a, middle - a)
    move(spare, at + middle - a, items, b, last - b)
    move(items, first, spare, first, last - first)
    if keys is not items:
        move(spare_keys, at, keys, a, middle - a)
        move(spare_keys, at + middle - a, keys, b, last - b)
        move(keys, first, spare_keys, first, last - first)


FEW = 32
I64, F64 = 1, 3  # SortKind of codegen/sort.h


def _equal_is_same(items, n):
    """No nan, whose place depends on what it is compared with, and no zero below zero, which stays before or behind the other ones."""
    same = True
    for i in range(n):
        x = load(items, i)
        same &= x == x and (x != 0.0 or math.copysign(1.0, x) > 0.0)
    return same


def _sort_numbers(items, n):
    """By vector instructions. False: not done, or not to the end."""
    if n < FEW:
        return False
    line = restride(items, (n,), items.strides)
    if result_type(load(items, 0)) == np.int64:
        return sort_words(I64, line) != 0
    if result_type(load(items, 0)) == np.float64:
        return _equal_is_same(items, n) and sort_words(F64, line) != 0
    return False


def _sort(items, keys, n):
    if keys is items and isinstance(load(items, 0), (int, float, np.int64, np.float64)) and _sort_numbers(items, n):
        return
    spare = buffer_like(items, n)
    spare_keys = buffer_like(keys, n if keys is not items else 0)
    width = 1
    while width < n:
        first = 0
        while first + width < n:
            _merge(items, spare, first, first + width, min(first + 2 * width, n), keys, spare_keys)
            first += 2 * width
        width *= 2


def sort(self, key=None, reverse=False):
    if reverse:
        _reverse(self)
    n = field(self, "length")
    items = field(self, "items")
    if key is None:
        _sort(items, items, n)
    else:
        keys = []
        for item in self:
            keys.append(key(item))
        _sort(items, field(keys, "items"), n)
    if reverse:
        _reverse(self)


_reverse = reverse


def add(self, other):
    if isinstance(self, List):
        out = copy(self)
        extend(out, other)
        return out
    out = []
    out.extend(self)
    out.extend(other)
    return out


def iadd(self, other):
    extend(self, other)
    return self


def _repeat(self, out, times):
    n = field(self, "length")
    for _ in range(times):
        for i in range(n):
            append(out, load(field(self, "items"), i))


def _check_product(n, times):
    """No list has that many elements; the product may not even be an int."""
    guard("memory", n > 0 and times > 1152921504606846975 // n, times)


def mul(self, times):
    n = field(self, "length")
    _check_product(n, times)
    if times < 0:
        times = 0
    out = _empty_like(self, n * times)
    source, items = field(self, "items"), field(out, "items")
    if n == 1:
        for i in range(times):
            store(items, i, load(source, 0))
    else:
        for k in range(times):
            for i in range(n):
                store(items, k * n + i, load(source, i))
    set_field(out, "length", n * times)
    return out


def imul(self, times):
    _check_product(field(self, "length"), times)
    if times <= 0:
        clear(self)
    else:
        _repeat(self, self, times - 1)
    return self


def _first_difference(self, other):
    n = min(field(self, "length"), field(other, "length"))
    for i in range(n):
        if load(field(self, "items"), i) != load(field(other, "items"), i):
            return i
    return n


def eq(self, other):
    if not isinstance(other, list):
        return False
    n = field(self, "length")
    return n == field(other, "length") and _first_difference(self, other) == n


def ne(self, other):
    return not eq(self, other)


def lt(self, other):
    i = _first_difference(self, other)
    if i == field(self, "length") or i == field(other, "length"):
        return field(self, "length") < field(other, "length")
    return load(field(self, "items"), i) < load(field(other, "items"), i)


def le(self, other):
    i = _first_difference(self, other)
    if i == field(self, "length") or i == field(other, "length"):
        return field(self, "length") <= field(other, "length")
    return load(field(self, "items"), i) <= load(field(other, "items"), i)


def gt(self, other):
    return lt(other, self)


def ge(self, other):
    return le(other, self)


def _end(bound, n, step):
    """Where a bound of a slice lies among n elements."""
    if bound < 0:
        bound += n
        if bound < 0:
            return 0 if step > 0 else -1
        return bound
    last = n if step > 0 else n - 1
    return min(bound, last)


def _range(n, start, stop, step):
    """First position, number of positions, step."""
    if step is None:
        step = 1
    if step == 0:
        raise ValueError("slice step cannot be zero")
    first = (0 if step > 0 else n - 1) if start is None else _end(start, n, step)
    end = (n if step > 0 else -1) if stop is None else _end(stop, n, step)
    return first, len(range(first, end, step)), step


def indices(self, length):
    """Of a slice."""
    if length < 0:
        raise ValueError("length should not be negative")
    step = 1 if self.step is None else self.step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    start = (0 if step > 0 else length - 1) if self.start is None else _end(self.start, length, step)
    stop = (length if step > 0 else -1) if self.stop is None else _end(self.stop, length, step)
    return start, stop, step


def getslice(self, start, stop, step):
    first, n, step = _range(field(self, "length"), start, stop, step)
    out = _empty_like(self, n)
    for k in range(n):
        append(out, load(field(self, "items"), first + k * step))
    return out


def delslice(self, start, stop, step):
    first, n, step = _range(field(self, "length"), start, stop, step)
    if step == 1:
        _cut(self, first, n)
        return
    if step < 0:
        first += (n - 1) * step
        step = -step
    for k in range(n):
        _cut(self, first + k * (step - 1), 1)


def setslice(self, start, stop, step, value):
    if isinstance(value, list):
        _assign(self, start, stop, step, copy(value))
    elif isinstance(value, tuple) and len(value) == 0:
        _assign(self, start, stop, step, _empty_like(self, 0))
    else:
        items = []
        items.extend(value)
        _assign(self, start, stop, step, items)


def _assign(self, start, stop, step, value):
    first, n, step = _range(field(self, "length"), start, stop, step)
    m = field(value, "length")
    if step == 1:
        _cut(self, first, n)
        _open(self, first, m)
    else:
        guard("list_extended_slice", m != n, m, n)
    for k in range(m):
        store(field(self, "items"), first + k * step, load(field(value, "items"), k))


def list_(iterable):
    out = []
    out.extend(iterable)
    return out


def sorted_(iterable, key=None, reverse=False):
    out = list_(iterable)
    sort(out, key, reverse)
    return out


def array(self, dtype):
    """A new array of one axis, or of two where the elements are lists."""
    n = field(self, "length")
    if isinstance(load(field(self, "items"), 0), list):  # what it is, is known without it
        m = field(self[0], "length") if n > 0 else 0
        out = np.empty((n, m), _dtype(load(field(load(field(self, "items"), 0), "items"), 0), dtype))
        for i in range(n):
            row = self[i]
            if len(row) != m:
                raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape.")
            for k in range(m):
                out[i, k] = row[k]
        return out
    if isinstance(load(field(self, "items"), 0), tuple):
        rows = np.empty((n, len(load(field(self, "items"), 0))), _dtype(load(field(self, "items"), 0)[0], dtype))
        for i in range(n):
            rows[i] = np.array(load(field(self, "items"), i))
        return rows
    if isinstance(load(field(self, "items"), 0), np.ndarray):
        return stack(self, 0, None, dtype)
    out = np.empty(n, _dtype(load(field(self, "items"), 0), dtype))
    for i in range(n):
        out[i] = load(field(self, "items"), i)
    return out


def _dtype(element, dtype):
    return result_type(element) if dtype is None else dtype


FUNCTIONS = {
    "builtins.list": list_,
    "builtins.sorted": sorted_,
    "list.__add__": add,
    "list.__array__": array,
    "list.__contains__": contains,
    "list.__delitem__": delitem,
    "list.__delslice__": delslice,
    "list.__eq__": eq,
    "list.__ge__": ge,
    "list.__getitem__": getitem,
    "list.__getslice__": getslice,
    "list.__gt__": gt,
    "list.__iadd__": iadd,
    "list.__imul__": imul,
    "list.__le__": le,
    "list.__lt__": lt,
    "list.__mul__": mul,
    "list.__ne__": ne,
    "list.__setitem__": setitem,
    "list.__setslice__": setslice,
    "list.append": append,
    "list.clear": clear,
    "list.copy": copy,
    "list.count": count,
    "list.extend": extend,
    "list.index": index,
    "list.insert": insert,
    "list.pop": pop,
    "list.remove": remove,
    "list.reverse": reverse,
    "list.sort": sort,
    "slice.indices": indices,
}
