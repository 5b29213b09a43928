"""Strings: code points of one width in a buffer of bytes. They never change, so that every function makes a new one.

Inside of this module `data` and `kind` are a buffer and the bytes of each of its code points, `c` is a code point. Most functions are
those of bytes and bytearrays, too (octets.py), whose code points have one byte; what comes out is of the class of `self`.
Only of a bytearray the buffer may be longer than it."""

import numpy as np

from .lists import _range, list_
from .primitives import buffer, character, field, guard, load, move, new, new_like, reinterpret, set_field, store, text_hash

# -- code points ----------------------------------------------------------------------------------


def _get(data, kind, i):
    if kind == 1:
        return int(load(data, i))
    if kind == 2:
        return int(load(reinterpret(data, np.uint16, 0), 2 * i))
    return int(load(reinterpret(data, np.uint32, 0), 4 * i))


def _put(data, kind, i, c):
    if kind == 1:
        store(data, i, c)
    elif kind == 2:
        store(reinterpret(data, np.uint16, 0), 2 * i, c)
    else:
        store(reinterpret(data, np.uint32, 0), 4 * i, c)


def _is_octets(self):
    return isinstance(self, (bytes, bytearray))


def _own(self):
    """What a function gives that finds nothing to do."""
    return _part(self, 0, field(self, "length")) if isinstance(self, bytearray) else self


def _at(self, i):
    return _get(field(self, "data"), field(self, "kind"), i)


def _kind_of(c):
    return 1 if c < 256 else 2 if c < 65536 else 4


def _check_length(n):
    guard("memory", n > 1152921504606846975, n)


def _copy(data, kind, at, other, first, n):
    """The code points of `other` from number `first` on, n of them, go to `data` from `at` on."""
    source = field(other, "data")
    width = field(other, "kind")
    if kind == width:
        move(data, at * kind, source, first * kind, n * kind)
    else:
        for i in range(n):
            _put(data, kind, at + i, _get(source, width, first + i))


def _part(self, first, n):
    kind = field(self, "kind")
    data = buffer(np.uint8, n * kind)
    _copy(data, kind, 0, self, first, n)
    return new_like(self, n, kind, -1, data)


def _between(self, first, last):
    return _part(self, first, last - first)


def _char(c):
    if c < 256:
        return character(c)
    kind = _kind_of(c)
    data = buffer(np.uint8, kind)
    _put(data, kind, 0, c)
    return new("str", 1, kind, -1, data)


def chr_(i):
    if i < 0 or i > 0x10FFFF:
        raise ValueError("chr() arg not in range(0x110000)")
    return _char(i)


def ord_(c):
    n = field(c, "length")
    guard("ord_length", n != 1, n)
    return _at(c, 0)


# -- sequences ------------------------------------------------------------------------------------


def item(self, i):
    """At a position that is inside."""
    return _char(_at(self, i))


def getitem(self, index):
    n = field(self, "length")
    if index < 0:
        index += n
    guard("str_index", (index < 0) | (index >= n))
    return _char(_at(self, index))


def getslice(self, start, stop, step):
    first, n, by = _range(field(self, "length"), start, stop, step)
    if by == 1:
        return _part(self, first, n)
    kind = field(self, "kind")
    source = field(self, "data")
    data = buffer(np.uint8, n * kind)
    for k in range(n):
        _put(data, kind, k, _get(source, kind, first + k * by))
    return new_like(self, n, kind, -1, data)


def add(self, other):
    n = field(self, "length")
    m = field(other, "length")
    kind = max(field(self, "kind"), field(other, "kind"))
    data = buffer(np.uint8, (n + m) * kind)
    _copy(data, kind, 0, self, 0, n)
    _copy(data, kind, n, other, 0, m)
    return new_like(self, n + m, kind, -1, data)


def mul(self, times):
    n = field(self, "length")
    kind = field(self, "kind")
    if times < 0:
        times = 0
    guard("memory", n > 0 and times > 1152921504606846975 // n, times)
    data = buffer(np.uint8, n * times * kind)
    if n > 0 and times > 0:
        _copy(data, kind, 0, self, 0, n)
    filled, size = n * kind, n * times * kind
    while 0 < filled < size:  # twice as much each time
        more = min(filled, size - filled)
        move(data, filled, data, 0, more)
        filled += more
    return new_like(self, n * times, kind, -1, data)


def join(self, iterable):
    if isinstance(iterable, tuple) and len(iterable) == 0:  # it does not say of what
        return _nothing(self)
    items = list_(iterable)
    n = len(items)
    m = field(self, "length")
    length = m * (n - 1) if n > 0 else 0
    kind = field(self, "kind") if n > 1 else 1
    for i in range(n):
        one = load(field(items, "items"), i)
        length += field(one, "length")
        kind = max(kind, field(one, "kind"))
    _check_length(length)
    data = buffer(np.uint8, length * kind)
    at = 0
    for i in range(n):
        if i > 0:
            _copy(data, kind, at, self, 0, m)
            at += m
        one = load(field(items, "items"), i)
        _copy(data, kind, at, one, 0, field(one, "length"))
        at += field(one, "length")
    return new_like(self, length, kind, -1, data)


# -- comparison -----------------------------------------------------------------------------------


def _same_bytes(a, b, n):
    x = reinterpret(a, np.uint64, 0)
    y = reinterpret(b, np.uint64, 0)
    i = 0
    while i + 8 <= n:
        if load(x, i) != load(y, i):
            return False
        i += 8
    while i < n:
        if load(a, i) != load(b, i):
            return False
        i += 1
    return True


def _same(self, at, other, n):
    """Are n code points from `at` on those that `other` begins with?"""
    for i in range(n):
        if _at(self, at + i) != _at(other, i):
            return False
    return True


def eq(self, other):
    if not (_is_octets(other) if _is_octets(self) else isinstance(other, str)):
        return False
    if self is other:
        return True
    n = field(self, "length")
    if n != field(other, "length"):
        return False
    kind = field(self, "kind")
    if kind == field(other, "kind"):
        return _same_bytes(field(self, "data"), field(other, "data"), n * kind)
    return _same(self, 0, other, n)


def ne(self, other):
    return not eq(self, other)


def hash_(self):
    """As CPython's in the same process."""
    h = field(self, "hash")
    if h == -1:
        n = field(self, "length")
        widest = 0
        if isinstance(self, str):
            for i in range(n):
                widest = max(widest, _at(self, i))
        kind = _kind_of(widest)
        data = field(self, "data")
        if kind != field(self, "kind"):
            data = buffer(np.uint8, n * kind)
            _copy(data, kind, 0, self, 0, n)
        h = text_hash(data, n * kind)
        set_field(self, "hash", h)
    return h


def _order(self, other):
    """Below 0, 0 or above it, as self is less than other, equal, or greater."""
    n = field(self, "length")
    m = field(other, "length")
    for i in range(min(n, m)):
        a = _at(self, i)
        b = _at(other, i)
        if a != b:
            return a - b
    return n - m


def lt(self, other):
    return _order(self, other) < 0


def le(self, other):
    return _order(self, other) <= 0


def gt(self, other):
    return _order(self, other) > 0


def ge(self, other):
    return _order(self, other) >= 0


# -- searching ------------------------------------------------------------------------------------


def _search(self, sub, first, last):
    """The first position of `sub` that lies between the two altogether, or -1."""
    m = field(sub, "length")
    if m == 0:
        return first if first <= last else -1
    c = _at(sub, 0)
    for i in range(first, last - m + 1):
        if _at(self, i) == c and _same(self, i, sub, m):
            return i
    return -1


def _search_back(self, sub, first, last):
    m = field(sub, "length")
    for i in range(last - m, first - 1, -1):
        if _same(self, i, sub, m):
            return i
    return -1


def _start(n, start):
    if start is None:
        return 0
    if start < 0:
        return max(start + n, 0)
    return start


def _stop(n, stop):
    if stop is None:
        return n
    if stop < 0:
        return max(stop + n, 0)
    return min(stop, n)


def _find_code(self, c):
    for i in range(field(self, "length")):
        if _at(self, i) == c:
            return i
    return -1


def _wanted(self, sub):
    """In bytes numbers are looked for, too."""
    if _is_octets(self) and isinstance(sub, int):
        guard("byte_range", (sub < 0) | (sub > 255))
        data = buffer(np.uint8, 1)
        store(data, 0, sub)
        return new("bytes", 1, 1, -1, data)
    return sub


def _not_found(self):
    raise ValueError("subsection not found" if _is_octets(self) else "substring not found")


def contains(self, sub):
    sub = _wanted(self, sub)
    return _search(self, sub, 0, field(self, "length")) >= 0


def find(self, sub, start=None, end=None):
    sub = _wanted(self, sub)
    n = field(self, "length")
    return _search(self, sub, _start(n, start), _stop(n, end))


def rfind(self, sub, start=None, end=None):
    sub = _wanted(self, sub)
    n = field(self, "length")
    return _search_back(self, sub, _start(n, start), _stop(n, end))


def index(self, sub, start=None, end=None):
    at = find(self, sub, start, end)
    if at < 0:
        _not_found(self)
    return at


def rindex(self, sub, start=None, end=None):
    at = rfind(self, sub, start, end)
    if at < 0:
        _not_found(self)
    return at


def count(self, sub, start=None, end=None):
    sub = _wanted(self, sub)
    n = field(self, "length")
    m = field(sub, "length")
    at = _start(n, start)
    last = _stop(n, end)
    if m == 0:
        return max(last - at + 1, 0)
    found = 0
    while True:
        at = _search(self, sub, at, last)
        if at < 0:
            return found
        found += 1
        at += m


def _begins(self, prefix, first, last):
    m = field(prefix, "length")
    return last - m >= first and _same(self, first, prefix, m)


def _ends(self, suffix, first, last):
    m = field(suffix, "length")
    return last - m >= first and _same(self, last - m, suffix, m)


def startswith(self, prefix, start=None, end=None):
    n = field(self, "length")
    first = _start(n, start)
    last = _stop(n, end)
    if isinstance(prefix, tuple):
        for one in prefix:
            if _begins(self, one, first, last):
                return True
        return False
    return _begins(self, prefix, first, last)


def endswith(self, suffix, start=None, end=None):
    n = field(self, "length")
    first = _start(n, start)
    last = _stop(n, end)
    if isinstance(suffix, tuple):
        for one in suffix:
            if _ends(self, one, first, last):
                return True
        return False
    return _ends(self, suffix, first, last)


def removeprefix(self, prefix):
    n = field(self, "length")
    m = field(prefix, "length")
    return _between(self, m, n) if _begins(self, prefix, 0, n) else _own(self)


def removesuffix(self, suffix):
    n = field(self, "length")
    m = field(suffix, "length")
    return _part(self, 0, n - m) if _ends(self, suffix, 0, n) else _own(self)


# -- white space and lines ------------------------------------------------------------------------


def _is_space(c):
    if c < 0x80:
        return c == 32 or (9 <= c <= 13) or (28 <= c <= 31)
    return (
        c == 0x85 or c == 0xA0 or c == 0x1680 or (0x2000 <= c <= 0x200A)
        or c == 0x2028 or c == 0x2029 or c == 0x202F or c == 0x205F or c == 0x3000
    )


def _is_break(c):
    return (10 <= c <= 13) or (28 <= c <= 30) or c == 0x85 or c == 0x2028 or c == 0x2029


def _is_blank(self, c):
    if _is_octets(self):
        return c == 32 or (9 <= c <= 13)
    return _is_space(c)


def _ends_line(self, c):
    if _is_octets(self):
        return c == 10 or c == 13
    return _is_break(c)


def _is_stripped(self, c, chars):
    if chars is None:
        return _is_blank(self, c)
    return _find_code(chars, c) >= 0


def _first_kept(self, chars):
    n = field(self, "length")
    at = 0
    while at < n and _is_stripped(self, _at(self, at), chars):
        at += 1
    return at


def _last_kept(self, chars, first):
    """Behind it."""
    at = field(self, "length")
    while at > first and _is_stripped(self, _at(self, at - 1), chars):
        at -= 1
    return at


def strip(self, chars=None):
    first = _first_kept(self, chars)
    return _between(self, first, _last_kept(self, chars, first))


def lstrip(self, chars=None):
    return _between(self, _first_kept(self, chars), field(self, "length"))


def rstrip(self, chars=None):
    return _part(self, 0, _last_kept(self, chars, 0))


def _split_space(self, maxsplit):
    out = [self]
    out.clear()
    n = field(self, "length")
    at = 0
    while True:
        while at < n and _is_blank(self, _at(self, at)):
            at += 1
        if at == n:
            return out
        if maxsplit >= 0 and len(out) >= maxsplit:
            out.append(_between(self, at, n))
            return out
        first = at
        while at < n and not _is_blank(self, _at(self, at)):
            at += 1
        out.append(_between(self, first, at))


def split(self, sep=None, maxsplit=-1):
    if sep is None:
        return _split_space(self, maxsplit)
    m = field(sep, "length")
    if m == 0:
        raise ValueError("empty separator")
    out = [self]
    out.clear()
    n = field(self, "length")
    at = 0
    while maxsplit < 0 or len(out) < maxsplit:
        end = _search(self, sep, at, n)
        if end < 0:
            break
        out.append(_between(self, at, end))
        at = end + m
    out.append(_between(self, at, n))
    return out


def _rsplit_space(self, maxsplit):
    out = [self]
    out.clear()
    at = field(self, "length")
    while True:
        while at > 0 and _is_blank(self, _at(self, at - 1)):
            at -= 1
        if at == 0:
            break
        if maxsplit >= 0 and len(out) >= maxsplit:
            out.append(_part(self, 0, at))
            break
        last = at
        while at > 0 and not _is_blank(self, _at(self, at - 1)):
            at -= 1
        out.append(_between(self, at, last))
    out.reverse()
    return out


def rsplit(self, sep=None, maxsplit=-1):
    if sep is None:
        return _rsplit_space(self, maxsplit)
    m = field(sep, "length")
    if m == 0:
        raise ValueError("empty separator")
    out = [self]
    out.clear()
    last = field(self, "length")
    while maxsplit < 0 or len(out) < maxsplit:
        at = _search_back(self, sep, 0, last)
        if at < 0:
            break
        out.append(_between(self, at + m, last))
        last = at
    out.append(_part(self, 0, last))
    out.reverse()
    return out


def splitlines(self, keepends=False):
    out = [self]
    out.clear()
    n = field(self, "length")
    at = 0
    while at < n:
        first = at
        while at < n and not _ends_line(self, _at(self, at)):
            at += 1
        last = at
        if at < n:
            at += 2 if _at(self, at) == 13 and at + 1 < n and _at(self, at + 1) == 10 else 1
        out.append(_between(self, first, at if keepends else last))
    return out


def _nothing(self):
    return new_like(self, 0, 1, -1, buffer(np.uint8, 0))


def _separator(self, sep):
    """Of bytes only bytes are kept: what comes out is of one class."""
    if isinstance(self, str) or (isinstance(self, bytes) and isinstance(sep, bytes)):
        return sep
    m = field(sep, "length")
    data = buffer(np.uint8, m)
    _copy(data, 1, 0, sep, 0, m)
    return new_like(self, m, 1, -1, data)


def partition(self, sep):
    m = field(sep, "length")
    if m == 0:
        raise ValueError("empty separator")
    n = field(self, "length")
    at = _search(self, sep, 0, n)
    if at < 0:
        return _own(self), _nothing(self), _nothing(self)
    return _part(self, 0, at), _separator(self, sep), _between(self, at + m, n)


def rpartition(self, sep):
    m = field(sep, "length")
    if m == 0:
        raise ValueError("empty separator")
    n = field(self, "length")
    at = _search_back(self, sep, 0, n)
    if at < 0:
        return _nothing(self), _nothing(self), _own(self)
    return _part(self, 0, at), _separator(self, sep), _between(self, at + m, n)


# -- making others --------------------------------------------------------------------------------


def _replace_none(self, other, times):
    """In front of each code point, and at the end."""
    n = field(self, "length")
    m = field(other, "length")
    times = min(times, n + 1)
    kind = max(field(self, "kind"), field(other, "kind"))
    _check_length(n + (m * times if m < 1073741824 else m))
    data = buffer(np.uint8, (n + m * times) * kind)
    at = 0
    for i in range(n + 1):
        if i < times:
            _copy(data, kind, at, other, 0, m)
            at += m
        if i < n:
            _put(data, kind, at, _at(self, i))
            at += 1
    return new_like(self, n + m * times, kind, -1, data)


def replace(self, old, new_, count_=-1):
    n = field(self, "length")
    k = field(old, "length")
    m = field(new_, "length")
    times = 9223372036854775807 if count_ < 0 else count_
    if k == 0:
        return _replace_none(self, new_, times)
    times = min(times, count(self, old))
    if times == 0:
        return _own(self)
    length = n + (m - k) * times
    _check_length(length)
    kind = max(field(self, "kind"), field(new_, "kind"))
    data = buffer(np.uint8, length * kind)
    first = 0
    at = 0
    for _ in range(times):
        end = _search(self, old, first, n)
        _copy(data, kind, at, self, first, end - first)
        at += end - first
        _copy(data, kind, at, new_, 0, m)
        at += m
        first = end + k
    _copy(data, kind, at, self, first, n - first)
    return new_like(self, length, kind, -1, data)


def _padded(self, left, right, fillchar):
    if left <= 0 and right <= 0:
        return _own(self)
    guard("fill_length", field(fillchar, "length") != 1)
    n = field(self, "length")
    c = _at(fillchar, 0)
    kind = max(field(self, "kind"), field(fillchar, "kind"))
    length = left + n + right
    _check_length(length)
    data = buffer(np.uint8, length * kind)
    for i in range(left):
        _put(data, kind, i, c)
    _copy(data, kind, left, self, 0, n)
    for i in range(left + n, length):
        _put(data, kind, i, c)
    return new_like(self, length, kind, -1, data)


def center(self, width, fillchar=" "):
    room = max(width - field(self, "length"), 0)
    left = room // 2 + (room & width & 1)
    return _padded(self, left, room - left, fillchar)


def ljust(self, width, fillchar=" "):
    return _padded(self, 0, max(width - field(self, "length"), 0), fillchar)


def rjust(self, width, fillchar=" "):
    return _padded(self, max(width - field(self, "length"), 0), 0, fillchar)


def zfill(self, width):
    n = field(self, "length")
    room = width - n
    if room <= 0:
        return _own(self)
    c = _at(self, 0) if n > 0 else 0
    sign = 1 if c == 43 or c == 45 else 0
    kind = field(self, "kind")
    _check_length(width)
    data = buffer(np.uint8, width * kind)
    if sign:
        _put(data, kind, 0, c)
    for i in range(sign, sign + room):
        _put(data, kind, i, 48)
    _copy(data, kind, sign + room, self, sign, n - sign)
    return new_like(self, width, kind, -1, data)


def expandtabs(self, tabsize=8):
    n = field(self, "length")
    length = 0
    column = 0
    for i in range(n):
        c = _at(self, i)
        if c == 9:
            more = tabsize - column % tabsize if tabsize > 0 else 0
            length += more
            column += more
        else:
            length += 1
            column = 0 if c == 10 or c == 13 else column + 1
        _check_length(length)
    kind = field(self, "kind")
    data = buffer(np.uint8, length * kind)
    at = 0
    column = 0
    for i in range(n):
        c = _at(self, i)
        if c == 9:
            more = tabsize - column % tabsize if tabsize > 0 else 0
            for _ in range(more):
                _put(data, kind, at, 32)
                at += 1
            column += more
        else:
            _put(data, kind, at, c)
            at += 1
            column = 0 if c == 10 or c == 13 else column + 1
    return new_like(self, length, kind, -1, data)


FUNCTIONS = {
    "builtins.chr": chr_,
    "builtins.ord": ord_,
    "str.__add__": add,
    "str.__contains__": contains,
    "str.__eq__": eq,
    "str.__ge__": ge,
    "str.__getitem__": getitem,
    "str.__getslice__": getslice,
    "str.__gt__": gt,
    "str.__hash__": hash_,
    "str.__item__": item,
    "str.__le__": le,
    "str.__lt__": lt,
    "str.__mul__": mul,
    "str.__ne__": ne,
    "str.center": center,
    "str.count": count,
    "str.endswith": endswith,
    "str.expandtabs": expandtabs,
    "str.find": find,
    "str.index": index,
    "str.join": join,
    "str.ljust": ljust,
    "str.lstrip": lstrip,
    "str.partition": partition,
    "str.removeprefix": removeprefix,
    "str.removesuffix": removesuffix,
    "str.replace": replace,
    "str.rfind": rfind,
    "str.rindex": rindex,
    "str.rjust": rjust,
    "str.rpartition": rpartition,
    "str.rsplit": rsplit,
    "str.rstrip": rstrip,
    "str.split": split,
    "str.splitlines": splitlines,
    "str.startswith": startswith,
    "str.strip": strip,
    "str.zfill": zfill,
}
