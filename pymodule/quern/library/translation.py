"""str.translate and str.maketrans: dicts by code points, whose values are code points, text or None."""

import numpy as np

from .primitives import buffer, field, new, present
from .strings import _at, _copy, _kind_of, _put


def _key(key):
    if isinstance(key, str):
        if field(key, "length") != 1:
            raise ValueError("string keys in translate table must be of length 1")
        return _at(key, 0)
    return int(key)


def _by_points(entries):
    table = {}
    for key, value in entries.items():
        table[_key(key)] = value
    return table


def _by_characters(x, y):
    if field(x, "length") != field(y, "length"):
        raise ValueError("the first two maketrans arguments must have equal length")
    table = {}
    for i in range(field(x, "length")):
        table[_at(x, i)] = _at(y, i)
    return table


def _without(x, y, z):
    table = {0: None if field(z, "length") > 0 else 0}  # the values are ints and None
    table.clear()
    for key, value in _by_characters(x, y).items():
        table[key] = value
    for i in range(field(z, "length")):
        table[_at(z, i)] = None
    return table


def maketrans(x, y=None, z=None):
    if y is None:
        return _by_points(x)
    if z is None:
        return _by_characters(x, y)
    return _without(x, y, z)


def _length(value):
    return field(value, "length") if isinstance(value, str) else 1


def _kind(value):
    if isinstance(value, str):
        return field(value, "kind")
    if not 0 <= value < 0x110000:
        raise ValueError("character mapping must be in range(0x110000)")
    return _kind_of(int(value))


def _put_value(data, kind, at, value):
    if isinstance(value, str):
        _copy(data, kind, at, value, 0, field(value, "length"))
    else:
        _put(data, kind, at, int(value))


def translate(self, table):
    n = field(self, "length")
    length = 0
    kind = 1
    for i in range(n):
        c = _at(self, i)
        if c not in table:
            length += 1
            kind = max(kind, _kind_of(c))
        else:
            value = table[c]
            if value is not None:
                length += _length(present(value))
                kind = max(kind, _kind(present(value)))
    data = buffer(np.uint8, length * kind)
    at = 0
    for i in range(n):
        c = _at(self, i)
        if c not in table:
            _put(data, kind, at, c)
            at += 1
        else:
            value = table[c]
            if value is not None:
                _put_value(data, kind, at, present(value))
                at += _length(present(value))
    return new("str", length, kind, -1, data)


FUNCTIONS = {
    "str.maketrans": maketrans,
    "str.translate": translate,
}
