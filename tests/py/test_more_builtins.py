"""sum() of lists, math.dist and math.hypot, ints as bytes, itertools.groupby, against CPython."""
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from objects import MEM_01_nothing_is_left, collected, same  # noqa: F401
from quern import njit


@njit
def joined(xs, ys):
    return sum(xs, []), sum([[y] for y in ys], []), sum([(1, 2), (3,)], ()), sum([[1]], [0, 5]), sum(ys, 0.5)


def test_sum_of_lists():
    same(joined, [[1, 2], [], [3]], ["a", "b"][:0] or [1.5, 2.5])
    same(joined, [["x"], ["y", "z"]], [2, 3])
    a = [[1.5]]
    assert njit(lambda xs: sum(xs, []))(a) == [1.5] and a == [[1.5]]


@njit
def distances(p, q):
    return math.dist(p, q), math.dist((p[0], 1), (2, q[0])), math.dist(p[:1], q[:1])


coordinates = strategies.floats(allow_nan=True, allow_infinity=True)


@settings(deadline=None)
@given(strategies.lists(strategies.tuples(coordinates, coordinates), min_size=1, max_size=5))
def test_dist_is_CPythons(pairs):
    p, q = [a for a, b in pairs], [b for a, b in pairs]
    same(distances, p, q)


@njit
def lengths(x, y, z):
    return math.hypot(x, y, z), math.hypot(x, y, z, x, y), math.hypot(x), math.hypot()


@settings(deadline=None)
@given(coordinates, coordinates, coordinates)
def test_hypot_is_CPythons(x, y, z):
    same(lengths, x, y, z)


def test_points_of_unlike_lengths():
    same(njit(lambda p, q: math.dist(p, q)), [1.0, 2.0], [1.0])
    same(njit(lambda p, q: math.dist(p, q)), (1.0, 2.0), (1.0,))
    a = np.array([1.0, 2.0, 3.0])
    assert njit(lambda p, q: math.dist(p, q))(a, 2 * a) == math.dist(a, 2 * a)
    same(njit(lambda p, q: math.dist(p, q)), (), ())


@njit
def to_bytes(n, length, big, signed):
    if big:
        return n.to_bytes(length, "big", signed=signed)
    return n.to_bytes(length, "little", signed=signed)


@njit
def from_bytes(b, big, signed):
    if big:
        return int.from_bytes(b, "big", signed=signed)
    return int.from_bytes(b, byteorder="little", signed=signed)


numbers = strategies.one_of(strategies.integers(-2**63, 2**63 - 1), strategies.integers(-300, 300), strategies.sampled_from(
    [s * 2**k + d for k in range(0, 63) for d in (-1, 0, 1) for s in (1, -1)]))


@settings(deadline=None)
@given(numbers, strategies.integers(-1, 12), strategies.booleans(), strategies.booleans())
def test_bytes_of_ints(n, length, big, signed):
    same(to_bytes, n, length, big, signed)


@settings(deadline=None)
@given(strategies.binary(max_size=8), strategies.booleans(), strategies.booleans())
def test_ints_of_bytes(b, big, signed):
    expected = int.from_bytes(b, "big" if big else "little", signed=signed)
    if -2**63 <= expected < 2**63:
        assert from_bytes(b, big, signed) == expected
    else:
        with pytest.raises(OverflowError):
            from_bytes(b, big, signed)


def test_ints_of_other_things():
    same(njit(lambda xs: int.from_bytes(xs, "big")), [1, 2, 3])
    same(njit(lambda xs: int.from_bytes(xs, "little")), bytearray(b"\x01\x02"))
    same(njit(lambda xs: int.from_bytes(xs, "middle")), b"\x01\x02")
    same(njit(lambda n: n.to_bytes(2, "middle")), 5)
    assert njit(lambda n: (n.to_bytes(), int.from_bytes(bytes([n]))))(200) == (b"\xc8", 200)
    assert njit(lambda a: a[0].to_bytes(8, "little"))(np.array([2**64 - 1], np.uint64)) == b"\xff" * 8
    assert njit(lambda b: int.from_bytes(b, "big"))(b"\0" * 20 + b"\x05") == 5


@njit
def groups(xs, odd):
    out = [(k, list(g)) for k, g in itertools.groupby(xs)]
    by_key = [(k, sum(g)) for k, g in itertools.groupby(xs, lambda x: x % odd)]
    firsts = [next(g) for k, g in itertools.groupby(xs)]
    skipped = [k for k, g in itertools.groupby(xs, key=lambda x: x // odd)]
    return out, by_key, firsts, skipped


@settings(deadline=None)
@given(strategies.lists(strategies.integers(0, 5), max_size=20), strategies.integers(1, 3))
def test_groups(xs, odd):
    same(groups, xs, odd)


@njit
def words(text):
    return {k: [w for w in g] for k, g in itertools.groupby(sorted(text.split()), key=len)}, [k * len(list(g)) for k, g in itertools.groupby(text)]


def test_groups_of_text():
    same(words, "a bb aaa b ccc cc  dd")


@njit
def lazily(n):
    seen = []

    def items():
        for i in range(n):
            seen.append(i)
            yield i // 3

    out = []
    later = []
    groups = itertools.groupby(items())
    for k, g in groups:
        out.append(len(seen))
        if k % 2 == 0:
            out.append(next(g))
            out.append(len(seen))
        later.append(len(seen))
        if k == 2:
            break
    k, g = next(groups)
    k2, g2 = next(groups)
    return out, later, k, k2, list(g), list(g2)


def test_groups_are_read_as_they_are_asked_for():
    same(lazily, 20)


def test_groups_of_keys_that_are_not_equal_to_themselves():
    def lengths(a):
        return [len(list(group)) for _, group in itertools.groupby(a)], len([k for k, _ in itertools.groupby(a)])

    a = np.array([1.0, np.nan, np.nan, 2.0, 2.0])
    assert njit(lengths)(a) == lengths(a) == ([1, 1, 1, 2], 4)


def test_groups_whose_key_raises():
    def f(a):
        def key(x):
            if x < 0:
                raise ValueError("below")
            return x // 10

        found = []
        for _, group in itertools.groupby(a, key):
            try:
                for x in group:
                    found.append(x)
            except ValueError:
                found.append(-9)
        return found

    for a in ([1, 2, -1, 3], [1, -1, 12, 13, -2]):
        assert njit(f)(a) == f(a)
