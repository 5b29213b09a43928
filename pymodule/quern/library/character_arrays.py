"""Arrays of characters (dtypes U and S): an element is so many code points, of which the zeros at the end do not count.

`points` are the code points of an array, along an axis more: uint32 of text, uint8 of bytes."""

import numpy as np

from .primitives import buffer, field, new, store
from .strings import _at, _kind_of, _put


def _length(points):
    n = len(points)
    while n > 0 and points[n - 1] == 0:
        n -= 1
    return n


def text(points):
    """Of one element, as str or bytes."""
    n = _length(points)
    if points.itemsize == 1:
        data = buffer(np.uint8, n)
        for i in range(n):
            store(data, i, points[i])
        return new("bytes", n, 1, -1, data)
    top = 0
    for i in range(n):
        top = max(top, int(points[i]))
    if top > 0x10FFFF:
        raise ValueError("an element holds no text: a character beyond 0x10ffff")
    kind = _kind_of(top)
    data = buffer(np.uint8, n * kind)
    for i in range(n):
        _put(data, kind, i, int(points[i]))
    return new("str", n, kind, -1, data)


def points(text):
    """The code points of text or bytes."""
    n = field(text, "length")
    out = np.empty(n, np.uint32)
    for i in range(n):
        out[i] = _at(text, i)
    return out


def put(points, text):
    """Into all elements; what is too long is cut."""
    width = points.shape[-1]
    n = min(width, field(text, "length"))
    for i in range(n):
        points[..., i] = _at(text, i)
    points[..., n:] = 0


def put_array(points, other):
    """Elements of another width."""
    n = min(points.shape[-1], other.shape[-1])
    points[..., :n] = other[..., :n]
    points[..., n:] = 0


def eq(a, b):
    n = min(a.shape[-1], b.shape[-1])
    same = (a[..., :n] == b[..., :n]).all(-1)
    return same & (a[..., n:] == 0).all(-1) & (b[..., n:] == 0).all(-1)


def ne(a, b):
    return ~eq(a, b)


def lt(a, b):
    """Where one is longer, it is the greater one if nothing else differs."""
    n = min(a.shape[-1], b.shape[-1])
    less = (b[..., n:] != 0).any(-1) & ~(a[..., n:] != 0).any(-1)
    for i in range(n - 1, -1, -1):
        x, y = a[..., i], b[..., i]
        less = (x < y) | ((x == y) & less)
    return less


def gt(a, b):
    return lt(b, a)


def le(a, b):
    return ~lt(b, a)


def ge(a, b):
    return ~lt(a, b)


def order(a, b):
    """Of two elements: below 0, 0 or above 0."""
    n, m = len(a), len(b)
    for i in range(max(n, m)):
        x = np.int64(a[i]) if i < n else 0
        y = np.int64(b[i]) if i < m else 0
        if x != y:
            return x - y
    return 0


def truth(points):
    return _length(points) > 0


FUNCTIONS = {
    "characters.eq": eq,
    "characters.ge": ge,
    "characters.gt": gt,
    "characters.le": le,
    "characters.lt": lt,
    "characters.ne": ne,
    "characters.order": order,
    "characters.points": points,
    "characters.put": put,
    "characters.put_array": put_array,
    "characters.text": text,
    "characters.truth": truth,
}
