"""Dicts: tables (tables.py) with values."""

import enum

import numpy as np

from .hashing import place_hash
from .primitives import field, fields, load, present, store, take
from .shared import Dict
from .tables import clear, contains, each_item, each_key, each_value, empty_like, enter, find, is_live, is_told, last, leave, leave_last


def _missing(key):
    if isinstance(key, tuple):
        if is_told(key):
            raise KeyError(key)
        raise KeyError("the key, a tuple")
    if isinstance(key, (np.datetime64, np.timedelta64)):
        raise KeyError("the key, a time")
    if isinstance(key, enum.Enum):
        raise KeyError("the key, a member of an enumeration")
    if isinstance(key, frozenset):
        raise KeyError("the key, a frozenset")
    if len(fields(key)) > 0:
        raise KeyError("the key, a dataclass")
    raise KeyError(key)


def getitem(self, key):
    if key is None:
        raise KeyError("the key, None")
    at = find(self, key, place_hash(self, key))
    if at < 0:
        _missing(present(key))
    return load(field(self, "values"), at)


def setitem(self, key, value):
    h = place_hash(self, key)
    at = find(self, key, h)
    if at < 0:
        at = enter(self, key, h)
    store(field(self, "values"), at, value)


def delitem(self, key):
    at = find(self, key, place_hash(self, key))
    if at < 0:
        _missing(key)
    take(field(self, "values"), at)
    leave(self, at)


def get(self, key, default=None):
    if key is None:
        return default
    at = find(self, key, place_hash(self, key))
    if at < 0:
        return default
    return load(field(self, "values"), at)


def setdefault(self, key, default):
    h = place_hash(self, key)
    at = find(self, key, h)
    if at < 0:
        at = enter(self, key, h)
        store(field(self, "values"), at, default)
    return load(field(self, "values"), at)


def _pop_entry(self, at):
    value = take(field(self, "values"), at)
    leave(self, at)
    return value


def pop(self, key):
    at = find(self, key, place_hash(self, key))
    if at < 0:
        _missing(key)
    return _pop_entry(self, at)


def pop_or(self, key, default):
    at = find(self, key, place_hash(self, key))
    if at < 0:
        return default
    return _pop_entry(self, at)


def popitem(self):
    if field(self, "length") == 0:
        raise KeyError("popitem(): dictionary is empty")
    at = last(self)
    key = load(field(self, "keys"), at)
    value = take(field(self, "values"), at)
    leave_last(self, at)
    return key, value


def update(self, other):
    if isinstance(other, dict):
        for e in range(field(other, "used")):
            if is_live(other, e):
                setitem(self, load(field(other, "keys"), e), load(field(other, "values"), e))
    else:
        for key, value in other:
            setitem(self, key, value)


def copy(self):
    out = empty_like(self)
    update(out, self)
    return out


def fromkeys(iterable, value=None, /):
    out = {}
    for key in iterable:
        out[key] = value
    return out


def eq(self, other):
    if not isinstance(other, dict):
        return False
    if field(self, "length") != field(other, "length"):
        return False
    for e in range(field(self, "used")):
        if is_live(self, e):
            key = load(field(self, "keys"), e)
            at = find(other, key, place_hash(other, key))
            if at < 0 or load(field(self, "values"), e) != load(field(other, "values"), at):
                return False
    return True


def ne(self, other):
    return not eq(self, other)


def or_(self, other):
    if isinstance(self, Dict):
        out = copy(self)
        update(out, other)
        return out
    out = {}
    out.update(self)
    out.update(other)
    return out


def ior(self, other):
    update(self, other)
    return self


def _has_all(subject, keys):
    return True if len(keys) == 0 else keys[0] in subject and _has_all(subject, keys[1:])


def _values_of(subject, keys):
    return () if len(keys) == 0 else (subject[keys[0]],) + _values_of(subject, keys[1:])


def match_keys(subject, keys):
    if subject is None or not _has_all(present(subject), keys):
        return None
    return _values_of(present(subject), keys)


def dict_(iterable):
    out = {}
    out.update(iterable)
    return out


FUNCTIONS = {
    "builtins.dict": dict_,
    "dict.__contains__": contains,
    "dict.__delitem__": delitem,
    "dict.__eq__": eq,
    "dict.__getitem__": getitem,
    "dict.__ior__": ior,
    "dict.__items__": each_item,
    "dict.__iter__": each_key,
    "dict.__ne__": ne,
    "dict.__or__": or_,
    "dict.__setitem__": setitem,
    "dict.__values__": each_value,
    "dict.clear": clear,
    "dict.copy": copy,
    "dict.fromkeys": fromkeys,
    "dict.get": get,
    "dict.pop": pop,
    "dict.pop_or": pop_or,
    "dict.popitem": popitem,
    "dict.setdefault": setdefault,
    "dict.update": update,
    "primitive.match_keys": match_keys,
}
