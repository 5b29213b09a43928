"""Floats that are no int64, which the compiler looks for a strip ahead of int(x), math.floor(x) and the like (codegen/opt/divisors.c): the
exception must come in the round in which CPython raises it, with all stores before it done and none after it."""
import math
import os
import pathlib
import sys

import numpy as np
import pytest
from quern import njit
from test_divisors import SIZES, STRIP, check, positions

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
import strips  # noqa: E402


def kept(a, s, out):
    for i in range(a.shape[0]):
        out[i] = int(a[i] * s)


def floored(a, s, out):
    for i in range(a.shape[0]):
        out[i] = math.floor(a[i] + s)


def raised(a, s, out):
    for i in range(a.shape[0] - 1, -1, -1):
        out[i] = math.ceil(a[i] - s)


def rounded(a, s, out):
    for i in range(a.shape[0]):
        out[i] = round(a[i] / 2.0) + i


def summed(a, s, out):
    total = 0
    for i in range(a.shape[0]):
        total += int(-a[i] * s)
        out[i] = total
    return total


def cut(a, s, out):
    for i in range(a.shape[0]):
        k = int(abs(a[i]) * s)
        if k > 9:
            k = 9
        out[i] = k


def divided(a, s, out):
    for i in range(a.shape[0]):
        out[i] = int(s / a[i])


def twice(a, s, out):
    for i in range(a.shape[0]):
        out[i] = int(a[i]) - int(a[a.shape[0] - 1 - i] * s)


def by_rows(a, s, out):
    for k in range(2):
        for i in range(a.shape[0]):
            out[i] += int(a[i] * s) * (k + 1)


def sometimes(a, s, out):
    for i in range(a.shape[0]):
        if i % 3:
            out[i] = int(a[i] * s)


def scattered(a, s, out):
    for i in range(a.shape[0]):
        out[int(abs(a[i])) % 7] += 1


FUNCTIONS = [kept, floored, raised, rounded, summed, cut, divided, twice, by_rows, sometimes, scattered]


def separate(n, odd, value, dtype):
    def make():
        a = ((np.arange(n) % 23 - 11) * 1.37 + 0.25).astype(dtype)
        out = np.zeros(max(n, 7), np.int64)
        a[list(odd)] = value
        return (a, out), (a, 2.0, out)
    return make


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e17])
def test_where_the_odd_float_stands(function, value):
    for n in SIZES:
        for odd in positions(n):
            for dtype in (np.float64, np.float32):
                check(function, separate(n, odd, value, dtype))


def test_which_exception_comes_first():
    for first, second in ((math.nan, math.inf), (math.inf, math.nan)):
        for places in ((5, 900), (900, 5), (STRIP + 3, STRIP + 2)):
            def make(first=first, second=second, places=places):
                a, out = np.ones(2 * STRIP), np.zeros(2 * STRIP, np.int64)
                a[places[0]], a[places[1]] = first, second
                return (a, out), (a, 2.0, out)
            found = check(kept, make)
            assert (found is ValueError) == math.isnan(first if places[0] < places[1] else second)


@pytest.mark.parametrize("unchecked", [None, False])
@pytest.mark.parametrize("n", [40, STRIP + 5])
def test_what_is_more_than_an_int64_saturates(n, unchecked):
    for value in (2.0**63, -2.0**63, 2.0**64, -1e300, 1e300):
        for place in (0, 17, n - 1):
            a, out = np.arange(n) / 3, np.zeros(n, np.int64)
            a[place] = value
            njit(boundscheck=unchecked)(kept)(a, 1.0, out)
            want = (np.arange(n) / 3).astype(np.int64)
            want[place] = min(max(int(value), -2**63), 2**63 - 1)
            assert (out == want).all()


@pytest.mark.parametrize("shift", [0, 1, -1, 8])
@pytest.mark.parametrize("unchecked", [None, False])
def test_stores_into_the_floats_that_follow(shift, unchecked):
    """`out` is the memory of `a`, moved: an int that is stored may be the next float."""
    n = 100
    for bits in (0x7FF8000000000000, 0x7FF0000000000000, 3):
        memory = np.arange(n + 16, dtype=np.float64)
        want = memory.copy()
        memory.view(np.int64)[20] = want.view(np.int64)[20] = bits
        views = memory[8:n], memory.view(np.int64)[8 + shift:n + shift]
        expected = want[8:n], want.view(np.int64)[8 + shift:n + shift]
        error = None
        try:
            for i in range(n - 8):
                expected[1][i] = int(float(expected[0][i]) * 1.0)
        except (ValueError, OverflowError) as e:
            error = type(e)
        try:
            njit(boundscheck=unchecked)(kept)(views[0], 1.0, views[1])
            assert error is None
        except (ValueError, OverflowError) as e:
            assert error is type(e)
        assert (memory.view(np.int64) == want.view(np.int64)).all()


def quiet(a, out):
    done = 0
    try:
        for i in range(a.shape[0]):
            out[i] = int(a[i])
            done += 1
    except ValueError:
        return -done
    except OverflowError:
        return 1000000 + done
    return done


def test_EXC_in_try():
    for value in (math.nan, math.inf, 7.5):
        for place in (0, 900, STRIP + 3):
            a = np.ones(2 * STRIP)
            a[place] = value
            out, want = np.zeros(a.size, np.int64), np.zeros(a.size, np.int64)
            assert njit(quiet)(a, out) == quiet(a, want) and (out == want).all()


PROGRAMS = int(os.environ.get("QUERN_PROGRAMS", "160")) // 4


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(PROGRAMS)])
def test_random_loops(seed):
    assert strips.differences(strips.program(seed), seed) is None
