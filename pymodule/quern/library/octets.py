"""bytes and bytearrays: strings of bytes, whose items are ints. What strings do as well is in strings.py.

A bytearray can change: its buffer may have room behind its length, and whoever grows it looks for the buffer again."""

import numpy as np

from . import formatting, strings
from .lists import _range
from .primitives import buffer, buffer_like, field, grow, guard, load, move, new, new_like, reinterpret, restride, set_field, store
from .strings import _at, _copy, _kind_of, _put

# -- items ------------------------------------------------------------------------------------------


def _position(self, index):
    n = field(self, "length")
    if index < 0:
        index += n
    outside = (index < 0) | (index >= n)
    if isinstance(self, bytes):
        guard("bytes_index", outside)
    else:
        guard("bytearray_index", outside)
    return index


def item(self, i):
    """At a position that is inside."""
    return int(load(field(self, "data"), i))


def getitem(self, index):
    return int(load(field(self, "data"), _position(self, index)))


def setitem(self, index, value):
    guard("byte_range", (value < 0) | (value > 255))
    store(field(self, "data"), _position(self, index), value)


def delitem(self, index):
    _cut(self, _position(self, index), 1)


# -- making them ----------------------------------------------------------------------------------


def _filled(n):
    """So many zeros."""
    guard("memory", n > 4611686018427387903, n)
    data = buffer(np.uint8, n)
    for i in range(n):
        store(data, i, 0)
    return new("bytes", n, 1, -1, data)


def _of_items(iterable, changes):
    out = new("bytearray", 0, 1, -1, buffer(np.uint8, 16))
    for x in iterable:
        if changes:
            guard("byte_range", (x < 0) | (x > 255))
        else:
            guard("bytes_range", (x < 0) | (x > 255))
        _append(out, x)
    return new("bytes", field(out, "length"), 1, -1, field(out, "data"))


def of_array(a):
    """The bytes of its elements, in C order."""
    data = np.ascontiguousarray(a).ravel()
    n = data.size * data.itemsize
    source = restride(reinterpret(data, np.uint8, 0), (n,), (1,))
    out = buffer(np.uint8, n)
    for i in range(n):
        store(out, i, source[i])
    return new("bytes", n, 1, -1, out)


def _of(source, encoding, errors, changes):
    if isinstance(source, str):
        return encode(source, encoding, errors)
    if isinstance(source, (bytes, bytearray)):
        n = field(source, "length")
        data = buffer(np.uint8, n)
        move(data, 0, field(source, "data"), 0, n)
        return new("bytes", n, 1, -1, data)
    if isinstance(source, np.ndarray):
        return of_array(source)
    if isinstance(source, int):
        if source < 0:
            raise ValueError("negative count")
        return _filled(source)
    return _of_items(source, changes)


def bytes_(source=b"", encoding=None, errors="strict"):
    if isinstance(source, bytes):
        return source
    if isinstance(source, str):
        guard_encoding(encoding)
    return _of(source, encoding, errors, False)


def _is_big(byteorder):
    if byteorder == "little":
        return False
    if byteorder != "big":
        raise ValueError("byteorder must be either 'little' or 'big'")
    return True


def to_bytes(self, length=1, byteorder="big", *, signed=False):
    big = _is_big(byteorder)
    if length < 0:
        raise ValueError("length argument must be non-negative")
    if self < 0 and not signed:
        raise OverflowError("can't convert negative int to unsigned")
    if length < 8:
        top = self >> (8 * length - 1 if signed and length > 0 else 8 * length)
        if top != 0 and (top != -1 or length == 0):
            raise OverflowError("int too big to convert")
    elif signed and length == 8 and self != np.int64(self):
        raise OverflowError("int too big to convert")
    data = buffer(np.uint8, length)
    rest = self
    for i in range(length):
        store(data, length - 1 - i if big else i, rest & 255)
        rest >>= 8
    return new("bytes", length, 1, -1, data)


def from_bytes(bytes, byteorder="big", *, signed=False):
    big = _is_big(byteorder)
    given = _of(bytes, None, "strict", False)
    n = field(given, "length")
    out = 0
    for i in range(n):
        c = int(_at(given, i if big else n - 1 - i))
        if i == 0 and signed and c > 127:
            c -= 256
        if out > 36028797018963967 or out < -36028797018963968:
            raise OverflowError("int.from_bytes: the number does not fit into 64 bits")
        out = out * 256 + c
    return out


def guard_encoding(encoding):
    if encoding is None:
        raise TypeError("string argument without an encoding")


def bytearray_(source=b"", encoding=None, errors="strict"):
    if isinstance(source, str):
        guard_encoding(encoding)
    made = _of(source, encoding, errors, True)
    return new("bytearray", field(made, "length"), 1, -1, field(made, "data"))


# -- what changes a bytearray -----------------------------------------------------------------------


def _room(self, n):
    """Room for n bytes altogether."""
    if n > len(field(self, "data")):
        grow(self, "data", field(self, "length"), n + (n >> 1) + 16)


def _append(self, x):
    n = field(self, "length")
    _room(self, n + 1)
    store(field(self, "data"), n, x)
    set_field(self, "length", n + 1)


def append(self, item):
    guard("byte_range", (item < 0) | (item > 255))
    _append(self, item)


def extend(self, iterable):
    if isinstance(iterable, int):
        field(iterable, "length")  # it has none: refused
    # all of it is read before anything changes, as CPython does
    more = iterable if isinstance(iterable, (bytes, bytearray)) else bytearray_(iterable)
    n = field(self, "length")
    m = field(more, "length")
    _room(self, n + m)
    move(field(self, "data"), n, field(more, "data"), 0, m)
    set_field(self, "length", n + m)


def iadd(self, other):
    field(other, "data")  # of bytes alone
    extend(self, other)
    return self


def imul(self, times):
    n = field(self, "length")
    if times <= 0:
        clear(self)
        return self
    guard("memory", n > 0 and times > 1152921504606846975 // max(n, 1), times)
    _room(self, n * times)
    for k in range(1, times):
        move(field(self, "data"), k * n, field(self, "data"), 0, n)
    set_field(self, "length", n * times)
    return self


def insert(self, index, item):
    guard("byte_range", (item < 0) | (item > 255))
    n = field(self, "length")
    if index < 0:
        index = max(index + n, 0)
    index = min(index, n)
    _room(self, n + 1)
    data = field(self, "data")
    move(data, index + 1, data, index, n - index)
    store(field(self, "data"), index, item)
    set_field(self, "length", n + 1)


def _cut(self, first, count):
    n = field(self, "length")
    data = field(self, "data")
    move(data, first, data, first + count, n - first - count)
    set_field(self, "length", n - count)


def pop(self, index=-1):
    n = field(self, "length")
    guard("bytearray_pop_empty", n == 0)
    if index < 0:
        index += n
    guard("list_pop_index", (index < 0) | (index >= n))
    x = int(load(field(self, "data"), index))
    _cut(self, index, 1)
    return x


def remove(self, value):
    at = strings.find(self, value)
    if at < 0:
        raise ValueError("value not found in bytearray")
    _cut(self, at, 1)


def reverse(self):
    data = field(self, "data")
    last = field(self, "length") - 1
    for i in range((last + 1) // 2):
        x = load(data, i)
        store(field(self, "data"), i, load(data, last - i))
        store(field(self, "data"), last - i, x)


def clear(self):
    set_field(self, "length", 0)
    set_field(self, "data", buffer(np.uint8, 0))


def copy(self):
    return strings._part(self, 0, field(self, "length"))


def _slice_value(value):
    if isinstance(value, (bytes, bytearray)):
        return copy(value)
    if isinstance(value, int):
        field(value, "length")  # it has none: refused
    return bytearray_(value)


def setslice(self, start, stop, step, value):
    more = _slice_value(value)
    first, n, by = _range(field(self, "length"), start, stop, step)
    m = field(more, "length")
    if by != 1:
        if m == 0:
            delslice(self, start, stop, step)
            return
        guard("bytes_extended_slice", m != n, m, n)
        for k in range(n):
            store(field(self, "data"), first + k * by, load(field(more, "data"), k))
        return
    size = field(self, "length")
    _room(self, size + m - n)
    data = field(self, "data")
    move(data, first + m, data, first + n, size - first - n)
    move(field(self, "data"), first, field(more, "data"), 0, m)
    set_field(self, "length", size + m - n)


def delslice(self, start, stop, step):
    first, n, by = _range(field(self, "length"), start, stop, step)
    if n == 0:
        return
    if by < 0:
        first += (n - 1) * by
        by = -by
    if by == 1:
        _cut(self, first, n)
        return
    size = field(self, "length")
    at = first
    for i in range(first, size):
        if i % by != first % by or i >= first + n * by:
            store(field(self, "data"), at, load(field(self, "data"), i))
            at += 1
    set_field(self, "length", at)


# -- text -------------------------------------------------------------------------------------------


def _escape_length(c, quote):
    if c == quote or c == 92 or c == 9 or c == 10 or c == 13:
        return 2
    return 1 if 32 <= c < 127 else 4


def quoted(s):
    """repr() of bytes, without what stands around it for a bytearray."""
    n = field(s, "length")
    quote = 34 if strings._find_code(s, 39) >= 0 and strings._find_code(s, 34) < 0 else 39
    length = 3
    for i in range(n):
        length += _escape_length(_at(s, i), 39 if isinstance(s, bytearray) else quote)
    data = buffer(np.uint8, length)
    store(data, 0, 98)
    store(data, 1, quote)
    at = 2
    for i in range(n):
        c = _at(s, i)
        more = _escape_length(c, 39 if isinstance(s, bytearray) else quote)
        if more > 1:
            store(data, at, 92)
        if more == 4:
            store(data, at + 1, 120)
            formatting._hex(data, 1, at + 2, c, 2)
        else:
            store(data, at + more - 1, 116 if c == 9 else 110 if c == 10 else 114 if c == 13 else c)
        at += more
    store(data, at, quote)
    return new("str", length, 1, -1, data)


def _encoding(name):
    """1: UTF-8, 2: ASCII, 3: Latin-1."""
    if name is None:
        return 1
    plain = name.lower().replace("_", "-").replace(" ", "-")
    if plain == "utf-8" or plain == "utf8" or plain == "u8" or plain == "utf":
        return 1
    if plain == "ascii" or plain == "us-ascii" or plain == "646":
        return 2
    if (plain == "latin-1" or plain == "latin1" or plain == "iso-8859-1" or plain == "iso8859-1"
            or plain == "l1" or plain == "8859" or plain == "cp819" or plain == "latin"):
        return 3
    raise LookupError("compiled code has the encodings utf-8, ascii and latin-1, not " + name)


def _handling(errors):
    """0: strict, 1: ignore, 2: replace."""
    if errors == "strict":
        return 0
    if errors == "ignore":
        return 1
    if errors == "replace":
        return 2
    raise LookupError("unknown error handler name '" + errors + "'")


def _two_digits(c):
    data = buffer(np.uint8, 2)
    formatting._hex(data, 1, 0, c, 2)
    return new("str", 2, 1, -1, data)


def _undecodable(name, c, first, last, reason):
    where = "byte 0x" + _two_digits(c) + " in position " + formatting._int_text(first)
    if last > first + 1:
        where = "bytes in position " + formatting._int_text(first) + "-" + formatting._int_text(last - 1)
    raise UnicodeError("'" + name + "' codec can't decode " + where + ": " + reason)


def _follows(s, i):
    return i < field(s, "length") and (_at(s, i) & 0xC0) == 0x80


def _utf8_at(s, i):
    """The code point and the bytes that it takes; -1, and the bytes that are wrong; -2: they end too early."""
    c = _at(s, i)
    n = field(s, "length")
    if c < 0x80:
        return c, 1
    if c < 0xC2 or c > 0xF4:
        return -1, 1
    more = 1 if c < 0xE0 else 2 if c < 0xF0 else 3
    value = c & (0x3F >> more)
    for k in range(1, more + 1):
        if i + k >= n:
            return -2, k
        if not _follows(s, i + k):
            return -3, k
        d = _at(s, i + k)
        if k == 1 and ((c == 0xE0 and d < 0xA0) or (c == 0xED and d > 0x9F) or (c == 0xF0 and d < 0x90) or (c == 0xF4 and d > 0x8F)):
            return -3, 1
        value = value << 6 | (d & 0x3F)
    return value, more + 1


def _decoded_utf8(s, how):
    n = field(s, "length")
    kind = 1
    length = 0
    i = 0
    while i < n:
        c, m = _utf8_at(s, i)
        if c < 0:
            if how == 0:
                _undecodable("utf-8", _at(s, i), i, i + m, "invalid start byte" if c == -1
                             else "unexpected end of data" if c == -2 else "invalid continuation byte")
            c = 0xFFFD
        if not (c == 0xFFFD and how == 1 and _utf8_at(s, i)[0] < 0):
            kind = max(kind, _kind_of(c))
            length += 1
        i += m
    data = buffer(np.uint8, length * kind)
    at = 0
    i = 0
    while i < n:
        c, m = _utf8_at(s, i)
        if c >= 0 or how == 2:
            _put(data, kind, at, c if c >= 0 else 0xFFFD)
            at += 1
        i += m
    return new("str", length, kind, -1, data)


def _decoded_ascii(s, how):
    n = field(s, "length")
    wrong = 0
    for i in range(n):
        if _at(s, i) > 127:
            if how == 0:
                _undecodable("ascii", _at(s, i), i, i + 1, "ordinal not in range(128)")
            wrong += 1
    kind = 2 if wrong > 0 and how == 2 else 1
    length = n - wrong if how == 1 else n
    data = buffer(np.uint8, length * kind)
    at = 0
    for i in range(n):
        c = _at(s, i)
        if c < 128 or how == 2:
            _put(data, kind, at, c if c < 128 else 0xFFFD)
            at += 1
    return new("str", length, kind, -1, data)


def decode(self, encoding="utf-8", errors="strict"):
    which = _encoding(encoding)
    how = _handling(errors)
    if which == 1:
        return _decoded_utf8(self, how)
    if which == 2:
        return _decoded_ascii(self, how)
    n = field(self, "length")
    data = buffer(np.uint8, n)
    _copy(data, 1, 0, self, 0, n)
    return new("str", n, 1, -1, data)


def _escape(c):
    digits = 2 if c < 256 else 4 if c < 65536 else 8
    data = buffer(np.uint8, digits)
    formatting._hex(data, 1, 0, c, digits)
    return ("\\x" if digits == 2 else "\\u" if digits == 4 else "\\U") + new("str", digits, 1, -1, data)


def _is_encodable(c, which):
    return not 0xD800 <= c <= 0xDFFF if which == 1 else c < (128 if which == 2 else 256)


def _unencodable(s, i, which):
    n = field(s, "length")
    last = i + 1
    while last < n and not _is_encodable(_at(s, last), which):
        last += 1
    reason = "surrogates not allowed" if which == 1 else "ordinal not in range(128)" if which == 2 else "ordinal not in range(256)"
    name = "utf-8" if which == 1 else "ascii" if which == 2 else "latin-1"
    where = "character '" + _escape(_at(s, i)) + "' in position " + formatting._int_text(i)
    if last > i + 1:
        where = "characters in position " + formatting._int_text(i) + "-" + formatting._int_text(last - 1)
    raise UnicodeError("'" + name + "' codec can't encode " + where + ": " + reason)


def _encoded_length(c, which):
    return 1 if which != 1 or c < 0x80 else 2 if c < 0x800 else 3 if c < 0x10000 else 4


def _put_encoded(data, at, c, m):
    if m == 1:
        store(data, at, c)
        return
    for k in range(1, m):
        store(data, at + k, 0x80 | (c >> 6 * (m - 1 - k) & 0x3F))
    store(data, at, (0xF00 >> m & 0xFF) | c >> 6 * (m - 1))


def encode(self, encoding="utf-8", errors="strict"):
    which = _encoding(encoding)
    how = _handling(errors)
    n = field(self, "length")
    length = 0
    for i in range(n):
        c = _at(self, i)
        if _is_encodable(c, which):
            length += _encoded_length(c, which)
        elif how == 0:
            _unencodable(self, i, which)
        else:
            length += how - 1
    data = buffer(np.uint8, length)
    at = 0
    for i in range(n):
        c = _at(self, i)
        if not _is_encodable(c, which):
            if how == 1:
                continue
            c = 63
        m = _encoded_length(c, which)
        _put_encoded(data, at, c, m)
        at += m
    return new("bytes", length, 1, -1, data)


def _separator_of(sep):
    guard("hex_separator", field(sep, "length") != 1)
    c = _at(sep, 0)
    if c > 127:
        raise ValueError("sep must be ASCII.")
    return c


def hex_(self, sep=None, bytes_per_sep=1):
    n = field(self, "length")
    group = abs(bytes_per_sep)
    between = 0
    c = 0
    if sep is not None:
        c = _separator_of(sep)
        if group > 0 and n > 0:
            between = (n - 1) // group
    data = buffer(np.uint8, 2 * n + between)
    at = 0
    for i in range(n):
        if between > 0 and i > 0 and (n - i if bytes_per_sep > 0 else i) % group == 0:
            store(data, at, c)
            at += 1
        formatting._hex(data, 1, at, _at(self, i), 2)
        at += 2
    return new("str", 2 * n + between, 1, -1, data)


# -- letters of ASCII ---------------------------------------------------------------------------------


def _is_lower(c):
    return 97 <= c <= 122


def _is_upper(c):
    return 65 <= c <= 90


def _is_letter(c):
    return _is_lower(c | 32)


def _is_digit(c):
    return 48 <= c <= 57


def _lower(c):
    return c | 32 if _is_upper(c) else c


def _upper(c):
    return c & 0xDF if _is_lower(c) else c


def _mapped(self, function):
    """A function of each byte and of the one in front of it, 0 at first."""
    n = field(self, "length")
    data = buffer(np.uint8, n)
    before = 0
    for i in range(n):
        c = _at(self, i)
        store(data, i, function(c, before, i))
        before = c
    return new_like(self, n, 1, -1, data)


def lower(self):
    return _mapped(self, lambda c, before, i: _lower(c))


def upper(self):
    return _mapped(self, lambda c, before, i: _upper(c))


def swapcase(self):
    return _mapped(self, lambda c, before, i: c ^ 32 if _is_letter(c) else c)


def capitalize(self):
    return _mapped(self, lambda c, before, i: _upper(c) if i == 0 else _lower(c))


def title(self):
    return _mapped(self, lambda c, before, i: _lower(c) if _is_letter(before) else _upper(c))


def _all(self, test):
    n = field(self, "length")
    for i in range(n):
        if not test(_at(self, i)):
            return False
    return n > 0


def isalnum(self):
    return _all(self, lambda c: _is_letter(c) or _is_digit(c))


def isalpha(self):
    return _all(self, _is_letter)


def isascii(self):
    return field(self, "length") == 0 or _all(self, lambda c: c < 128)


def isdigit(self):
    return _all(self, _is_digit)


def isspace(self):
    return _all(self, lambda c: c == 32 or 9 <= c <= 13)


def islower(self):
    found = False
    for i in range(field(self, "length")):
        c = _at(self, i)
        if _is_upper(c):
            return False
        found = found or _is_lower(c)
    return found


def isupper(self):
    found = False
    for i in range(field(self, "length")):
        c = _at(self, i)
        if _is_lower(c):
            return False
        found = found or _is_upper(c)
    return found


def istitle(self):
    found = False
    before = 0
    for i in range(field(self, "length")):
        c = _at(self, i)
        if _is_letter(c):
            if _is_letter(before) != _is_lower(c):
                return False
            found = True
        before = c
    return found


def translate(self, table, delete=b""):
    if table is not None and field(table, "length") != 256:
        raise ValueError("translation table must be 256 characters long")
    n = field(self, "length")
    data = buffer(np.uint8, n)
    at = 0
    for i in range(n):
        c = _at(self, i)
        if strings._find_code(delete, c) < 0:
            store(data, at, c if table is None else _at(table, c))
            at += 1
    return new_like(self, at, 1, -1, data)


def maketrans(frm, to, /):
    if field(frm, "length") != field(to, "length"):
        raise ValueError("maketrans arguments must have same length")
    data = buffer(np.uint8, 256)
    for c in range(256):
        store(data, c, c)
    for i in range(field(frm, "length")):
        store(data, _at(frm, i), _at(to, i))
    return new("bytes", 256, 1, -1, data)


def _both(*names):
    """Of strings: the same functions are those of bytes and bytearrays."""
    return _own(**{name: strings.FUNCTIONS["str." + name] for name in names})


def _own(**functions):
    return {key: f for name, f in functions.items() for key in (f"bytes.{name}", f"bytearray.{name}")}


FUNCTIONS = {
    "builtins.bytearray": bytearray_,
    "builtins.bytes": bytes_,
    "bytes.maketrans": maketrans,
    "bytearray.__delitem__": delitem,
    "bytearray.__delslice__": delslice,
    "bytearray.__iadd__": iadd,
    "bytearray.__imul__": imul,
    "bytearray.__setitem__": setitem,
    "bytearray.__setslice__": setslice,
    "bytearray.append": append,
    "bytearray.clear": clear,
    "bytearray.copy": copy,
    "bytearray.extend": extend,
    "bytearray.insert": insert,
    "bytearray.pop": pop,
    "bytearray.remove": remove,
    "bytearray.reverse": reverse,
    "int.from_bytes": from_bytes,
    "ndarray.tobytes": of_array,
    "number.to_bytes": to_bytes,
    "str.encode": encode,
    **_both("__add__", "__contains__", "__eq__", "__ge__", "__getslice__", "__gt__", "__le__", "__lt__", "__mul__", "__ne__", "center", "count",
            "endswith", "expandtabs", "find", "index", "join", "ljust", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind",
            "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "zfill"),
    **_own(__getitem__=getitem, __item__=item, capitalize=capitalize, decode=decode, hex=hex_, isalnum=isalnum, isalpha=isalpha, isascii=isascii,
           isdigit=isdigit, islower=islower, isspace=isspace, istitle=istitle, isupper=isupper, lower=lower, swapcase=swapcase, title=title,
           translate=translate, upper=upper),
}
