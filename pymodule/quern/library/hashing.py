"""hash() as CPython computes it. What a key of dicts and sets may be is decided here, and in is_key of typeinfer/infer_container.c."""

import enum
import math

import numpy as np

from .primitives import field, fields, load, member_number, refuse_code
from .strings import hash_ as of_text

MODULUS = 2**61 - 1
POSITIVE = 2**63 - 1
PRIME_1 = np.uint64(11400714785074694791)
PRIME_2 = np.uint64(14029467366897019727)
PRIME_5 = np.uint64(2870177450012600261)
LAST = np.uint64(2**64 - 1)


def _of_int(x):
    if x >= MODULUS:
        return np.int64(x % MODULUS)
    if x <= -MODULUS:
        h = -np.int64(-(x + MODULUS) % MODULUS)
    else:
        h = np.int64(x)
    return np.int64(-2) if h == -1 else h


def _of_float(x):
    if x != x:
        return np.int64(0)  # CPython asks where the object lies: a NaN is found by nothing
    if abs(x) < 2.0**53 and x == math.floor(x):
        return _of_int(int(x))
    if math.isinf(x):
        return np.int64(314159) if x > 0 else np.int64(-314159)
    m, e = math.frexp(abs(x))
    h = np.int64(0)
    while m != 0:
        h = ((h << 28) & MODULUS) | (h >> 33)
        m *= 268435456.0
        e -= 28
        y = int(m)
        m -= y
        h += y
        if h >= MODULUS:
            h -= MODULUS
    e = e % 61
    h = ((h << e) & MODULUS) | (h >> (61 - e))
    if x < 0:
        h = -h
    return np.int64(-2) if h == -1 else h


def _of_complex(x):
    h = _of_float(float(x.real)) + np.int64(1000003) * _of_float(float(x.imag))
    return np.int64(-2) if h == -1 else h


def _of_items(h, items):
    if len(items) == 0:
        return h
    h = h + np.uint64(hash_(items[0])) * PRIME_2
    h = (h << np.uint64(31)) | (h >> np.uint64(33))
    return _of_items(h * PRIME_1, items[1:])


def _of_tuple(items):
    h = _of_items(PRIME_5, items) + (np.uint64(len(items)) ^ (PRIME_5 ^ np.uint64(3527539)))
    return np.int64(1546275796) if h == LAST else np.int64(h)


def _of_frozenset(elements):
    """In whatever order they are."""
    h = np.uint64(0)
    for x in elements:
        one = np.uint64(hash_(x))
        h = h ^ ((one ^ np.uint64(89869747)) ^ (one << np.uint64(16))) * np.uint64(3644798167)
    h = h ^ np.uint64(len(elements) + 1) * np.uint64(1927868237)
    h = h ^ ((h >> np.uint64(11)) ^ (h >> np.uint64(25)))
    h = h * np.uint64(69069) + np.uint64(907133923)
    return np.int64(590923713) if h == LAST else np.int64(h)


def hash_(obj):
    """Never -1."""
    if isinstance(obj, (str, bytes)):
        return np.int64(of_text(obj))
    if isinstance(obj, bytearray):
        return refuse_code("unhashable type: 'bytearray'")
    if isinstance(obj, list):
        return refuse_code("unhashable type: 'list'")
    if isinstance(obj, dict):
        return refuse_code("unhashable type: 'dict'")
    if isinstance(obj, frozenset):
        return _of_frozenset(obj)
    if isinstance(obj, set):
        return refuse_code("unhashable type: 'set'")
    if isinstance(obj, np.ndarray):
        return refuse_code("unhashable type: 'numpy.ndarray'")
    if isinstance(obj, tuple):
        return _of_tuple(obj)
    if isinstance(obj, (np.datetime64, np.timedelta64)):
        return _of_int(np.int64(obj))
    if isinstance(obj, enum.Enum) and not isinstance(obj, int):
        return _of_int(member_number(obj))
    if isinstance(obj, complex):
        return _of_complex(obj)
    if isinstance(obj, int):
        return _of_int(obj)
    if len(fields(obj)) > 0:
        return _of_value(np.int64(hash(obj)))  # by its own __hash__, if it has one
    return _of_float(float(obj))


def _of_value(h):
    return np.int64(-2) if h == -1 else h


def _number_among_ints(x):
    """Of a number that is looked for among ints: that of the int to which it is equal; what others get is no matter."""
    if isinstance(x, int):
        return np.int64(x) & POSITIVE
    if isinstance(x, complex):
        return _number_among_ints(float(x.real)) if x.imag == 0 else np.int64(0)
    if abs(x) < 2.0**63:
        return np.int64(int(x)) & POSITIVE
    return np.int64(np.uint64(x)) & POSITIVE if 0 < x < 2.0**64 else np.int64(0)


def place_hash(self, key):
    """By which a dict or set finds a key. Never -1: with that it marks what is gone. An int among ints is its own, without the sign: that is
    what CPython's is up to 2**61, for less (pymodule/tables.c has the same). Others have CPython's."""
    if isinstance(key, (int, float, complex)) and isinstance(load(field(self, "keys"), 0), int):
        return _number_among_ints(key)
    return hash_(key)


def hash_of(obj):
    items = fields(obj)
    return int(_of_tuple(items) if len(items) > 0 else hash_(obj))


FUNCTIONS = {"builtins.hash": hash_of}
