"""collections.Counter, a dict of counts in which what is not there counts 0, and defaultdict, which makes the values of missing keys."""

from collections import Counter

from . import dicts
from .dicts import setitem
from .hashing import place_hash
from .primitives import field, load, missing, present
from .tables import empty_like, find


def count(self, key):
    at = find(self, key, place_hash(self, key))
    return load(field(self, "values"), at) if at >= 0 else 0


def delitem(self, key):
    if find(self, key, place_hash(self, key)) >= 0:
        dicts.delitem(self, key)


def _add(self, key, n):
    setitem(self, key, count(self, key) + n)


def update(self, iterable):
    if isinstance(iterable, dict):
        for key, n in iterable.items():
            _add(self, key, n)
    else:
        for key in iterable:
            _add(self, key, 1)


def subtract(self, iterable):
    if isinstance(iterable, dict):
        for key, n in iterable.items():
            _add(self, key, -n)
    else:
        for key in iterable:
            _add(self, key, -1)


def most_common(self, n=None):
    items = sorted(list(self.items()), key=lambda item: item[1], reverse=True)
    return items if n is None else items[: max(n, 0)]


def elements(self):
    for key, n in self.items():
        for _ in range(n):
            yield key


def total(self):
    return sum(self.values())


# -- operators: what counts nothing or less is left out


def _keep(out, key, n):
    if n > 0:
        setitem(out, key, n)


def add(self, other):
    out = empty_like(self)
    for key, n in self.items():
        _keep(out, key, n + count(other, key))
    for key, n in other.items():
        if key not in self:
            _keep(out, key, n)
    return out


def sub(self, other):
    out = empty_like(self)
    for key, n in self.items():
        _keep(out, key, n - count(other, key))
    for key, n in other.items():
        if key not in self:
            _keep(out, key, -n)
    return out


def or_(self, other):
    out = empty_like(self)
    for key, n in self.items():
        _keep(out, key, max(n, count(other, key)))
    for key, n in other.items():
        if key not in self:
            _keep(out, key, n)
    return out


def and_(self, other):
    out = empty_like(self)
    for key, n in self.items():
        _keep(out, key, min(n, count(other, key)))
    return out


def pos(self):
    out = empty_like(self)
    for key, n in self.items():
        _keep(out, key, n)
    return out


def neg(self):
    out = empty_like(self)
    for key, n in self.items():
        _keep(out, key, -n)
    return out


def _become(self, other):
    """What it is now; keys that stay keep their places."""
    for key in list(self):
        if key not in other:
            dicts.delitem(self, key)
    for key, n in other.items():
        setitem(self, key, n)
    return self


def iadd(self, other):
    return _become(self, add(self, other))


def isub(self, other):
    return _become(self, sub(self, other))


def ior(self, other):
    return _become(self, or_(self, other))


def iand(self, other):
    return _become(self, and_(self, other))


def _all(self, other, holds):
    for key, n in self.items():
        if not holds(n, count(other, key)):
            return False
    for key, n in other.items():
        if not holds(count(self, key), n):
            return False
    return True


def eq(self, other):
    if not isinstance(other, Counter):
        return dicts.eq(self, other)
    return _all(self, other, lambda a, b: a == b)


def ne(self, other):
    return not eq(self, other)


def le(self, other):
    return _all(self, other, lambda a, b: a <= b)


def lt(self, other):
    return le(self, other) and not eq(self, other)


def ge(self, other):
    return le(other, self)


def gt(self, other):
    return lt(other, self)


# -- defaultdict


def made(self, key):
    at = find(self, key, place_hash(self, key))
    if at >= 0:
        return load(field(self, "values"), at)
    value = missing(self)
    if value is None:
        dicts._missing(present(key))
    setitem(self, key, value)
    return value


def or_like(self, other):
    out = dicts.copy(self)
    dicts.update(out, other)
    return out


def ror_like(self, other):
    out = empty_like(self)
    dicts.update(out, other)
    dicts.update(out, self)
    return out


FUNCTIONS = {
    "Counter.__add__": add,
    "Counter.__and__": and_,
    "Counter.__delitem__": delitem,
    "Counter.__eq__": eq,
    "Counter.__ge__": ge,
    "Counter.__getitem__": count,
    "Counter.__gt__": gt,
    "Counter.__iadd__": iadd,
    "Counter.__iand__": iand,
    "Counter.__ior__": ior,
    "Counter.__isub__": isub,
    "Counter.__le__": le,
    "Counter.__lt__": lt,
    "Counter.__ne__": ne,
    "Counter.__neg__": neg,
    "Counter.__or__": or_,
    "Counter.__pos__": pos,
    "Counter.__sub__": sub,
    "Counter.elements": elements,
    "Counter.most_common": most_common,
    "Counter.subtract": subtract,
    "Counter.total": total,
    "Counter.update": update,
    "OrderedDict.__or__": or_like,
    "OrderedDict.__ror__": ror_like,
    "defaultdict.__getitem__": made,
    "defaultdict.__or__": or_like,
    "defaultdict.__ror__": ror_like,
}
