"""collections.deque: a ring of places, whose number is a power of two. `first` is where the elements begin, `limit` the most that there may
be (-1: any number), `changes` counts what a loop must not meet."""

from collections import deque

from .lists import _check_product
from .primitives import buffer_like, field, iterate, load, move, new_like, set_field, store, take


def _place(self, i):
    return (field(self, "first") + i) & (len(field(self, "items")) - 1)


def _at(self, i):
    return load(field(self, "items"), _place(self, i))


def _changed(self, length):
    set_field(self, "length", length)
    set_field(self, "changes", field(self, "changes") + 1)


def _grow(self):
    items = field(self, "items")
    n = len(items)
    more = buffer_like(items, 2 * n)
    first = field(self, "first")
    move(more, 0, items, first, n - first)
    move(more, n - first, items, 0, first)
    set_field(self, "first", 0)
    set_field(self, "items", more)


def limit(self, maxlen):
    if maxlen < 0:
        raise ValueError("maxlen must be non-negative")
    set_field(self, "limit", maxlen)


def maxlen(self):
    most = field(self, "limit")
    return None if most < 0 else most


def append(self, object):
    n = field(self, "length")
    if n == len(field(self, "items")):
        _grow(self)
    store(field(self, "items"), _place(self, n), object)
    _changed(self, n + 1)
    if n == field(self, "limit"):
        _drop_first(self)


def appendleft(self, object):
    n = field(self, "length")
    if n == len(field(self, "items")):
        _grow(self)
    first = _place(self, -1)
    store(field(self, "items"), first, object)
    set_field(self, "first", first)
    _changed(self, n + 1)
    if n == field(self, "limit"):
        _drop_last(self)


def _drop_first(self):
    first = field(self, "first")
    set_field(self, "first", _place(self, 1))
    _changed(self, field(self, "length") - 1)
    return take(field(self, "items"), first)


def _drop_last(self):
    n = field(self, "length") - 1
    _changed(self, n)
    return take(field(self, "items"), _place(self, n))


def pop(self):
    if field(self, "length") == 0:
        raise IndexError("pop from an empty deque")
    return _drop_last(self)


def popleft(self):
    if field(self, "length") == 0:
        raise IndexError("pop from an empty deque")
    return _drop_first(self)


def extend(self, iterable):
    if isinstance(iterable, deque):
        other = copy(iterable)  # it may be the deque itself
        for i in range(field(other, "length")):
            append(self, _at(other, i))
    else:
        for item in iterable:
            append(self, item)


def extendleft(self, iterable):
    if isinstance(iterable, deque):
        other = copy(iterable)
        for i in range(field(other, "length")):
            appendleft(self, _at(other, i))
    else:
        for item in iterable:
            appendleft(self, item)


def copy(self):
    out = new_like(self, 0, 0, field(self, "limit"), 0, buffer_like(field(self, "items"), len(field(self, "items"))))
    for i in range(field(self, "length")):
        append(out, _at(self, i))
    return out


def clear(self):
    set_field(self, "items", buffer_like(field(self, "items"), 8))
    set_field(self, "first", 0)
    _changed(self, 0)


def _index(self, index):
    n = field(self, "length")
    if index < 0:
        index += n
    if index < 0 or index >= n:
        raise IndexError("deque index out of range")
    return index


def getitem(self, index):
    return _at(self, _index(self, index))


def setitem(self, index, value):
    store(field(self, "items"), _place(self, _index(self, index)), value)


def _turn(self, n):
    """By n places to the right, one by one: at most half of the length."""
    items = field(self, "items")
    count = field(self, "length")
    for _ in range(n):
        last = _place(self, count - 1)
        first = _place(self, -1)
        move(items, first, items, last, 1)
        set_field(self, "first", first)
    for _ in range(-n):
        first = field(self, "first")
        move(items, _place(self, count), items, first, 1)
        set_field(self, "first", _place(self, 1))


def rotate(self, n=1):
    count = field(self, "length")
    if count <= 1:
        return
    n %= count
    if n > count >> 1:
        n -= count
    _turn(self, n)
    _changed(self, count)


def delitem(self, index):
    i = _index(self, index)
    rotate(self, -i)
    _drop_first(self)
    rotate(self, i)


def insert(self, index, object):
    n = field(self, "length")
    if n == field(self, "limit"):
        raise IndexError("deque already at its maximum size")
    if index >= n:
        append(self, object)
    elif index <= -n or index == 0:
        appendleft(self, object)
    else:
        rotate(self, -index)
        if index < 0:
            append(self, object)
        else:
            appendleft(self, object)
        rotate(self, index)


def _find(self, value, first, last):
    for i in range(first, last):
        if _at(self, i) == value:
            return i
    return -1


def remove(self, value):
    at = _find(self, value, 0, field(self, "length"))
    if at < 0:
        raise ValueError(repr(value) + " is not in deque")
    delitem(self, at)


def index(self, value, start=0, stop=9223372036854775807):
    n = field(self, "length")
    if start < 0:
        start = max(start + n, 0)
    if stop < 0:
        stop += n
    at = _find(self, value, start, min(stop, n))
    if at < 0:
        raise ValueError(repr(value) + " is not in deque")
    return at


def count(self, value):
    found = 0
    for i in range(field(self, "length")):
        if _at(self, i) == value:
            found += 1
    return found


def contains(self, value):
    return _find(self, value, 0, field(self, "length")) >= 0


def reverse(self):
    items = field(self, "items")
    last = field(self, "length") - 1
    for i in range((last + 1) // 2):
        a = _place(self, i)
        b = _place(self, last - i)
        item = take(items, a)
        move(items, a, items, b, 1)
        store(items, b, item)


# -- operators


def add(self, other):
    if not isinstance(other, deque):
        raise TypeError("can only concatenate deque to deque")
    out = copy(self)
    extend(out, other)
    return out


def iadd(self, other):
    extend(self, other)
    return self


def imul(self, times):
    n = field(self, "length")
    _check_product(n, times)
    if times <= 0:
        clear(self)
    other = copy(self)
    for _ in range(times - 1):
        for i in range(n):
            append(self, _at(other, i))
    return self


def mul(self, times):
    return imul(copy(self), times)


def _first_difference(self, other):
    n = min(field(self, "length"), field(other, "length"))
    for i in range(n):
        if _at(self, i) != _at(other, i):
            return i
    return n


def eq(self, other):
    if not isinstance(other, deque):
        return False
    n = field(self, "length")
    return n == field(other, "length") and _first_difference(self, other) == n


def ne(self, other):
    return not eq(self, other)


def lt(self, other):
    i = _first_difference(self, other)
    if i == field(self, "length") or i == field(other, "length"):
        return field(self, "length") < field(other, "length")
    return _at(self, i) < _at(other, i)


def le(self, other):
    i = _first_difference(self, other)
    if i == field(self, "length") or i == field(other, "length"):
        return field(self, "length") <= field(other, "length")
    return _at(self, i) <= _at(other, i)


def gt(self, other):
    return lt(other, self)


def ge(self, other):
    return le(other, self)


# -- iteration: from here on nothing may come or go


def _left(state):
    self, changes = state
    if field(self, "changes") != changes:
        raise RuntimeError("deque mutated during iteration")
    return field(self, "length")


def _item(state, i):
    self, changes = state
    return _at(self, i)


def each(self):
    return iterate(_left, _item, (self, field(self, "changes")))


FUNCTIONS = {
    "deque.__add__": add,
    "deque.__contains__": contains,
    "deque.__delitem__": delitem,
    "deque.__eq__": eq,
    "deque.__ge__": ge,
    "deque.__getitem__": getitem,
    "deque.__gt__": gt,
    "deque.__iadd__": iadd,
    "deque.__imul__": imul,
    "deque.__iter__": each,
    "deque.__le__": le,
    "deque.__limit__": limit,
    "deque.__lt__": lt,
    "deque.__mul__": mul,
    "deque.__ne__": ne,
    "deque.__setitem__": setitem,
    "deque.append": append,
    "deque.appendleft": appendleft,
    "deque.clear": clear,
    "deque.copy": copy,
    "deque.count": count,
    "deque.extend": extend,
    "deque.extendleft": extendleft,
    "deque.index": index,
    "deque.insert": insert,
    "deque.maxlen": maxlen,
    "deque.pop": pop,
    "deque.popleft": popleft,
    "deque.remove": remove,
    "deque.reverse": reverse,
    "deque.rotate": rotate,
}
