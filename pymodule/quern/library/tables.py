"""What dicts and sets have in common: entries in the order in which they came, and an open hash table of their numbers.

Entry number e is keys[e], in a dict with values[e], and hashes[e], which is -1 where the entry is gone. The table has a power of two of
places, each 0 (empty), e + 1, or -1 (its entry is gone); it is probed as CPython's. `used` is the number of entries, gone ones
included, `length` that of the others, and `free` how many may still come: the table is never more than half full but for the first, so
that what is not there is missed soon: its places are the smallest part of the memory."""

import numpy as np

from .hashing import POSITIVE, place_hash
from .primitives import buffer_like, field, guard, iterate, load, move, new_like, set_field, store, take

FIRST_TABLE, FIRST_ROOM = 8, 5  # as in typeinfer/infer_container.c


def _is_key(self, entry, key, h):
    if isinstance(key, (tuple, str, frozenset)):
        return load(field(self, "hashes"), entry) == h and load(field(self, "keys"), entry) == key
    return load(field(self, "keys"), entry) == key


def find(self, key, h):
    """The number of the entry, or -1."""
    table = field(self, "table")
    mask = len(table) - 1
    rest = h & POSITIVE
    i = h & mask
    while True:
        entry = int(load(table, i))
        if entry == 0:
            return -1
        if entry > 0 and _is_key(self, entry - 1, key, h):
            return entry - 1
        rest >>= 5
        i = (i * 5 + rest + 1) & mask


def _enter_number(table, h, entry):
    mask = len(table) - 1
    rest = h & POSITIVE
    i = rest & mask
    while load(table, i) > 0:
        rest >>= 5
        i = (i * 5 + rest + 1) & mask
    store(table, i, entry + 1)


def enter(self, key, h):
    """A key that is not there gets an entry; the caller stores its value."""
    if field(self, "free") == 0:
        renew(self)
    n = field(self, "used")
    _enter_number(field(self, "table"), h, n)
    store(field(self, "hashes"), n, h)
    store(field(self, "keys"), n, key)
    set_field(self, "used", n + 1)
    set_field(self, "length", field(self, "length") + 1)
    set_field(self, "free", field(self, "free") - 1)
    return n


def _size(n):
    """Of a table with room for half as many entries again."""
    size = FIRST_TABLE
    while size // 2 <= n + (n >> 1):
        size *= 2
    guard("memory", size > 2**31, size * 4)
    return size


def renew(self):
    """A new table with more room, without the entries that are gone."""
    n = field(self, "length")
    used = field(self, "used")
    size = _size(n)
    room = size // 2
    table = np.zeros(size, np.int32)
    hashes = buffer_like(field(self, "hashes"), room)
    keys = buffer_like(field(self, "keys"), room)
    if isinstance(self, dict):
        values = buffer_like(field(self, "values"), room)
        _move_entries(self, values, field(self, "values"), n, used)
        set_field(self, "values", values)
    _move_entries(self, keys, field(self, "keys"), n, used)
    _move_entries(self, hashes, field(self, "hashes"), n, used)
    for e in range(n):
        _enter_number(table, load(hashes, e), e)
    set_field(self, "keys", keys)
    set_field(self, "hashes", hashes)
    set_field(self, "table", table)
    set_field(self, "used", n)
    set_field(self, "free", room - n)


def _move_entries(self, to, from_, n, used):
    if n == used:
        move(to, 0, from_, 0, n)
        return
    k = 0
    for e in range(used):
        if load(field(self, "hashes"), e) != -1:
            move(to, k, from_, e, 1)
            k += 1


def _place_of(self, entry):
    """Where the table has its number."""
    table = field(self, "table")
    mask = len(table) - 1
    rest = load(field(self, "hashes"), entry) & POSITIVE
    i = rest & mask
    while load(table, i) != entry + 1:
        rest >>= 5
        i = (i * 5 + rest + 1) & mask
    return i


def leave(self, entry):
    """The entry is gone; a dict's value has been taken out before."""
    store(field(self, "table"), _place_of(self, entry), -1)
    store(field(self, "hashes"), entry, -1)
    set_field(self, "length", field(self, "length") - 1)
    take(field(self, "keys"), entry)


def last(self):
    """The number of the last entry, of which there is one."""
    e = field(self, "used") - 1
    while load(field(self, "hashes"), e) == -1:
        e -= 1
    return e


def leave_last(self, entry):
    leave(self, entry)
    set_field(self, "used", entry)


def empty_like(self):
    table = np.zeros(FIRST_TABLE, np.int32)
    hashes = buffer_like(field(self, "hashes"), FIRST_ROOM)
    keys = buffer_like(field(self, "keys"), FIRST_ROOM)
    if isinstance(self, dict):
        return new_like(self, 0, 0, FIRST_ROOM, table, hashes, keys, buffer_like(field(self, "values"), FIRST_ROOM))
    return new_like(self, 0, 0, FIRST_ROOM, table, hashes, keys)


def clear(self):
    empty = empty_like(self)
    set_field(self, "length", 0)
    set_field(self, "used", 0)
    set_field(self, "free", FIRST_ROOM)
    set_field(self, "table", field(empty, "table"))
    set_field(self, "hashes", field(empty, "hashes"))
    set_field(self, "keys", field(empty, "keys"))
    if isinstance(self, dict):
        set_field(self, "values", field(empty, "values"))


def is_live(self, entry):
    return load(field(self, "hashes"), entry) != -1


def contains(self, key):
    return find(self, key, place_hash(self, key)) >= 0


# -- iteration: from here on nothing may come or go


def _left(state):
    self, n = state
    if isinstance(self, dict):
        guard("dict_size_changed", field(self, "length") != n)
        guard("dict_keys_changed", field(self, "used") != n)
    else:
        guard("set_size_changed", (field(self, "length") != n) | (field(self, "used") != n))
    return n


def _key(state, i):
    self, n = state
    return load(field(self, "keys"), i)


def _value(state, i):
    self, n = state
    return load(field(self, "values"), i)


def _item(state, i):
    self, n = state
    return load(field(self, "keys"), i), load(field(self, "values"), i)


def _begin(self):
    if field(self, "used") != field(self, "length"):
        renew(self)
    return self, field(self, "length")


def each_key(self):
    return iterate(_left, _key, _begin(self))


def each_value(self):
    return iterate(_left, _value, _begin(self))


def each_item(self):
    return iterate(_left, _item, _begin(self))


def _numbers(items):
    """How many numbers and strings are in a tuple that an exception can carry; 9: one too many, as are named tuples and what else it has no room for."""
    if len(items._fields) > 0:
        return 9
    if len(items) == 0:
        return 0
    x = items[0]
    if isinstance(x, tuple):
        return _numbers(x) + _numbers(items[1:])
    if isinstance(x, complex):
        return 2 + _numbers(items[1:])
    return (1 if isinstance(x, (bool, int, float, str, bytes)) else 9) + _numbers(items[1:])


def is_told(key):
    """Can a KeyError carry the key, a tuple?"""
    return _numbers(key) <= 8
