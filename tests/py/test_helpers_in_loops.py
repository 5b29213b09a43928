"""Helpers that loops call (codegen/opt/inline.c): those that cannot raise are written into the loop, and mean the same there."""
import traceback

import numpy as np
import pytest

from quern import njit


@njit
def spread(v):
    v = (v | v << 8) & 0x00FF00FF
    return (v | v << 4) & 0x0F0F0F0F


@njit
def clipped(v, low=0, high=200):
    if v < low:
        return low
    if v > high:
        return high
    return v


@njit
def both(v):
    return spread(clipped(v)) | spread(clipped(-v, -3)) << 1


@njit
def swapped(pair):
    x, y = pair
    return y, x + 1


@njit(fastmath=True)
def rounded(x):
    return (x + 1e16) - 1e16


@njit
def ratio(x, y):
    return x / y


def codes(a):
    s = 0
    for i in range(len(a)):
        s = (s * 3 + both(a[i])) & 0xFFFFFFFF
    return s


def pairs(a):
    p = (0, 1)
    for i in range(len(a)):
        p = swapped(p) if a[i] > 3 else swapped(swapped(p))
    return p


def indices(a):
    s = 0
    for i in range(len(a)):
        s += a[clipped(a[i], 0, len(a) - 1)]
        a[clipped(i - 2)] = s & 7
    return s


def caught(a):
    s = 0
    for i in range(len(a)):
        try:
            s += clipped(a[i]) // (i - 1)
        except ZeroDivisionError:
            s += spread(7)
    return s


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("function", [codes, pairs, indices, caught])
def test_helpers_mean_the_same_in_loops(function, check):
    a = np.random.default_rng(2).integers(-20, 300, 40)
    ours, theirs = a % 37, (a % 37).tolist()
    assert njit(boundscheck=check)(function)(ours) == function(theirs)
    assert ours.tolist() == theirs


def test_helpers_compute_as_they_were_told():
    def total(x):
        s = 0.0
        for i in range(len(x)):
            s += rounded(x[i])
        return s

    x = np.full(5, 0.3)
    assert njit(total)(x) in (total(x), 5 * 0.3)  # what LLVM makes of its sum is its own affair
    assert njit(lambda x: rounded(x))(0.3) in (0.0, 0.3)


def test_what_raises_has_its_place():
    @njit
    def total(x):
        s = 0.0
        for i in range(len(x)):
            s += ratio(1.0, x[i])
        return s

    with pytest.raises(ZeroDivisionError) as caught:
        total(np.array([1.0, 0.0]))
    assert [f.name for f in traceback.extract_tb(caught.value.__traceback__)][-2:] == ["total", "ratio"]


@njit
def turn(p, a, b, c):
    return (p[b, 0] - p[a, 0]) * (p[c, 1] - p[a, 1]) - (p[b, 1] - p[a, 1]) * (p[c, 0] - p[a, 0])


def hull(p, at):
    k = 0
    for i in range(len(p)):
        while k >= 2 and turn(p, at[k - 2], at[k - 1], i) <= 0.0:
            k -= 1
        at[k] = i
        k += 1
    low = k + 1
    for i in range(len(p) - 2, -1, -1):
        while k >= low and turn(p, at[k - 2], at[k - 1], i) <= 0.0:
            k -= 1
        at[k] = i
        k += 1
    return k - 1


def chosen(p, at):
    total = 0.0
    for i in range(len(at)):
        total += turn(p, at[i], 0, 1)
        try:
            total -= turn(p, 1, at[i] - 3, 2)
        except IndexError:
            total += 100
    return total


def steps(function, arrays):
    """What comes out, or where it was raised: functions and lines."""
    try:
        return function(*arrays)
    except IndexError as error:
        return [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)][1:]


@pytest.mark.parametrize("check", [True, False])
def test_helpers_with_indices_that_loops_call(check):
    points = np.random.default_rng(5).integers(0, 50, (60, 2)).astype(float)
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    at, other = np.zeros(130, np.int64), np.zeros(130, np.int64)
    assert njit(boundscheck=check)(hull)(points, at) == plain(hull)(points, other)
    assert at.tolist() == other.tolist()


def plain(function):
    names = {**globals(), "turn": turn.py_func}
    return type(function)(function.__code__, names)


@pytest.mark.parametrize("at", [[], [0, 1, 2], [0, 9, -9], [3, 10], [3, -11], [2, 13], [2, 12], [-8, -7, -6]])
def test_helpers_with_indices_raise_in_their_own_lines(at):
    points, at = np.arange(20.0).reshape(10, 2) ** 2, np.array(at, np.int64)
    for wide in (points, points[:, :1], np.hstack((points, points))):
        assert steps(njit(chosen), (wide, at)) == steps(plain(chosen), (wide, at))
