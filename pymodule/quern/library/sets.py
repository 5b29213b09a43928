"""Sets: tables (tables.py) of keys alone. They are gone over in the order in which their elements came."""

import enum

import numpy as np

from .hashing import place_hash
from .primitives import field, fields, load
from .shared import Set
from .tables import clear, contains, each_key, empty_like, enter, find, is_live, is_told, last, leave, leave_last


def add(self, element):
    h = place_hash(self, element)
    if find(self, element, h) < 0:
        enter(self, element, h)


def discard(self, element):
    at = find(self, element, place_hash(self, element))
    if at >= 0:
        leave(self, at)


def remove(self, element):
    at = find(self, element, place_hash(self, element))
    if at < 0:
        if isinstance(element, tuple):
            if is_told(element):
                raise KeyError(element)
            raise KeyError("the element, a tuple")
        if isinstance(element, (np.datetime64, np.timedelta64)):
            raise KeyError("the element, a time")
        if isinstance(element, enum.Enum):
            raise KeyError("the element, a member of an enumeration")
        if isinstance(element, frozenset):
            raise KeyError("the element, a frozenset")
        if len(fields(element)) > 0:
            raise KeyError("the element, a dataclass")
        raise KeyError(element)
    leave(self, at)


def pop(self):
    if field(self, "length") == 0:
        raise KeyError("pop from an empty set")
    at = last(self)
    element = load(field(self, "keys"), at)
    leave_last(self, at)
    return element


def update(self, *others):
    if len(others) > 0:
        _update(self, others[0])
        update(self, *others[1:])


def _update(self, other):
    if isinstance(other, set):
        for e in range(field(other, "used")):  # it may be the set itself
            if is_live(other, e):
                add(self, load(field(other, "keys"), e))
    else:
        for element in other:
            add(self, element)


def set_(iterable):
    out = set()
    out.update(iterable)
    return out


def _as_set(other):
    return other if isinstance(other, set) else set_(other)


def copy(self):
    out = empty_like(self)
    _update(out, self)
    return out


def _union(self, other):
    # a set() of its own: what is put in may be of another type than the elements of this one, unless the program has said what these are
    out = empty_like(self) if isinstance(self, Set) else frozenset() if isinstance(self, frozenset) else set()
    out.update(self)
    out.update(other)
    return out


def _join_all(self, others):
    return self if len(others) == 0 else _join_all(_union(self, others[0]), others[1:])


def union(self, *others):
    return copy(self) if len(others) == 0 else _join_all(_union(self, others[0]), others[1:])


def _part(self, other, inside):
    """The elements that are in the other set, or those that are not."""
    out = empty_like(self)
    for e in range(field(self, "used")):
        if is_live(self, e):
            element = load(field(self, "keys"), e)
            if contains(other, element) == inside:
                add(out, element)
    return out


def _intersection(self, other):
    return _part(self, _as_set(other), True)


def _difference(self, other):
    return _part(self, _as_set(other), False)


def intersection(self, *others):
    if len(others) == 0:
        return copy(self)
    rest = _intersection(self, others[0])
    intersection_update(rest, *others[1:])
    return rest


def difference(self, *others):
    if len(others) == 0:
        return copy(self)
    rest = _difference(self, others[0])
    difference_update(rest, *others[1:])
    return rest


def symmetric_difference(self, other):
    others = _as_set(other)
    out = empty_like(self) if isinstance(self, Set) else frozenset() if isinstance(self, frozenset) else set()
    out.update(_part(self, others, False))
    out.update(_part(others, self, False))
    return out


def _keep(self, other, inside):
    for e in range(field(self, "used")):
        if is_live(self, e) and contains(other, load(field(self, "keys"), e)) != inside:
            leave(self, e)


def intersection_update(self, *others):
    if len(others) > 0:
        _keep(self, _as_set(others[0]), True)
        intersection_update(self, *others[1:])


def difference_update(self, *others):
    if len(others) > 0:
        _leave_all(self, others[0])
        difference_update(self, *others[1:])


def _leave_all(self, other):
    if isinstance(other, set):
        _keep(self, copy(other), False)  # it may be the set itself
    else:
        for element in other:
            discard(self, element)


def symmetric_difference_update(self, other):
    others = set_(other)
    for e in range(field(others, "used")):
        element = load(field(others, "keys"), e)
        at = find(self, element, place_hash(self, element))
        if at < 0:
            add(self, element)
        else:
            leave(self, at)


def issubset(self, other):
    others = _as_set(other)
    for e in range(field(self, "used")):
        if is_live(self, e) and not contains(others, load(field(self, "keys"), e)):
            return False
    return True


def issuperset(self, other):
    return issubset(_as_set(other), self)


def isdisjoint(self, other):
    others = _as_set(other)
    for e in range(field(self, "used")):
        if is_live(self, e) and contains(others, load(field(self, "keys"), e)):
            return False
    return True


def eq(self, other):
    if not isinstance(other, set):
        return False
    return field(self, "length") == field(other, "length") and issubset(self, other)


def ne(self, other):
    return not eq(self, other)


def le(self, other):
    return issubset(self, other)


def lt(self, other):
    return field(self, "length") < field(other, "length") and issubset(self, other)


def ge(self, other):
    return issubset(other, self)


def gt(self, other):
    return lt(other, self)


def ior(self, other):
    _update(self, other)
    return self


def iand(self, other):
    _keep(self, _as_set(other), True)
    return self


def isub(self, other):
    _leave_all(self, other)
    return self


def ixor(self, other):
    symmetric_difference_update(self, other)
    return self


FUNCTIONS = {
    "builtins.set": set_,
    "set.__and__": _intersection,
    "set.__contains__": contains,
    "set.__eq__": eq,
    "set.__ge__": ge,
    "set.__gt__": gt,
    "set.__iand__": iand,
    "set.__ior__": ior,
    "set.__isub__": isub,
    "set.__iter__": each_key,
    "set.__ixor__": ixor,
    "set.__le__": le,
    "set.__lt__": lt,
    "set.__ne__": ne,
    "set.__or__": _union,
    "set.__sub__": _difference,
    "set.__xor__": symmetric_difference,
    "set.add": add,
    "set.clear": clear,
    "set.copy": copy,
    "set.difference": difference,
    "set.difference_update": difference_update,
    "set.discard": discard,
    "set.intersection": intersection,
    "set.intersection_update": intersection_update,
    "set.isdisjoint": isdisjoint,
    "set.issubset": issubset,
    "set.issuperset": issuperset,
    "set.pop": pop,
    "set.remove": remove,
    "set.symmetric_difference": symmetric_difference,
    "set.symmetric_difference_update": symmetric_difference_update,
    "set.union": union,
    "set.update": update,
}
