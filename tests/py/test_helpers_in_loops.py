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
