"""collections.OrderedDict: a dict whose entries may be moved to either end, and are compared in their order."""

from collections import OrderedDict

from . import dicts
from .dicts import _missing, _pop_entry
from .hashing import place_hash
from .primitives import field, load, store
from .tables import enter, find, is_live, renew


def _first(self):
    """The number of the first entry, of which there is one. Where many are gone in front of it, they are done away with."""
    n = field(self, "length")
    e = 0
    while not is_live(self, e):
        e += 1
        if e > 16 and 4 * e > n:
            renew(self)
            return 0
    return e


def _to_end(self, at):
    key = load(field(self, "keys"), at)
    h = load(field(self, "hashes"), at)
    value = _pop_entry(self, at)
    at = enter(self, key, h)
    store(field(self, "values"), at, value)


def move_to_end(self, key, last=True):
    at = find(self, key, place_hash(self, key))
    if at < 0:
        _missing(key)
    if last:
        _to_end(self, at)
        return
    _to_end(self, at)
    for _ in range(field(self, "length") - 1):  # the others behind it
        _to_end(self, _first(self))


def popitem(self, last=True):
    if field(self, "length") == 0:
        raise KeyError("dictionary is empty")
    if last:
        return dicts.popitem(self)
    at = _first(self)
    key = load(field(self, "keys"), at)
    return key, _pop_entry(self, at)


def eq(self, other):
    if not dicts.eq(self, other):
        return False
    if not isinstance(other, OrderedDict):
        return True
    mine = list(self)
    i = 0
    for key in other:
        if key != mine[i]:
            return False
        i += 1
    return True


def ne(self, other):
    return not eq(self, other)


FUNCTIONS = {
    "OrderedDict.__eq__": eq,
    "OrderedDict.__ne__": ne,
    "OrderedDict.move_to_end": move_to_end,
    "OrderedDict.popitem": popitem,
}
