"""Variables that keep what they were given, as indices (codegen/opt/inductive.c: by_choice, bounds_interval.c: of_chosen): `best = 0; for i in range(1, n):
if a[i] < a[best]: best = i`. Results, exceptions and what was stored before them are CPython's, whatever the lengths."""
import os
import pathlib
import sys

import numpy as np
import pytest
from quern import njit

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
import searches  # noqa: E402


def argmin(a):
    best = 0
    for i in range(1, len(a)):
        if a[i] < a[best]:
            best = i
    return best


def argmin_of_some(a, n):
    best = 0
    for i in range(1, n):
        if a[i] < a[best]:
            best = i
    return a[best]


def argmax_of_rows(a):
    bi, bj = 0, 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > a[bi, bj]:
                bi, bj = i, j
    return bi * 1000 + bj


def selection(a, n):
    for i in range(n - 1):
        m = i
        for j in range(i + 1, n):
            if a[j] < a[m]:
                m = j
        t = a[i]
        a[i] = a[m]
        a[m] = t


def runs(a, out):
    start = 0
    for i in range(1, len(a)):
        if a[i] != a[i - 1]:
            start = i
        out[i] = a[i] - a[start]


def farthest(a, n):
    k = 0
    for _ in range(5):
        m = 0
        for i in range(n):
            if abs(a[i] - a[k]) > abs(a[m] - a[k]):
                m = i
        k = m
    return k


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 100])
def test_known_searches(n):
    a = np.random.default_rng(n).integers(-9, 9, 8).astype(float)
    for length in (0, 1, 8):
        short = a[:length].copy()
        assert njit(argmin)(short) == argmin(short)
        for function in (argmin_of_some, selection, farthest):
            same(function, function, lambda function=function: (short.copy(), n))
        same(runs, runs, lambda: (short.copy(), np.zeros(min(n, 8))))
    grid = np.random.default_rng(n).integers(0, 99, (n % 5, 3))
    assert njit(argmax_of_rows)(grid) == argmax_of_rows(grid)


def outcome(function, arguments):
    try:
        return function(*arguments), arguments
    except IndexError:
        return IndexError, arguments


def same(function, compiled, make):
    want, before = outcome(function, make())
    got, after = outcome(njit(compiled) if compiled is function else compiled, make())
    assert got == want, (got, want)
    for x, y in zip(before, after, strict=True):
        assert np.array_equal(x, y)  # None and numbers, too


def what_stays(function, *arguments):
    compiled = njit(function)
    compiled(*arguments)
    return "\n".join(compiled.inspect_loops().values())


def test_nothing_is_checked_in_such_loops():
    a, grid = np.ones(5), np.ones((3, 4))
    for function, arguments in ((argmin, (a,)), (argmin_of_some, (a, 5)), (selection, (a, 5)), (farthest, (a, 5)), (argmax_of_rows, (grid,)), (runs, (a, a.copy())), (argmin_while, (a,))):
        assert "index check" not in what_stays(function, *arguments), function.__name__


def argmin_while(a):
    best, i = 1, 2
    while i < len(a):
        if a[i] < a[best]:
            best = i
        i += 1
    return best


def grows(a, n):
    best = 0
    for i in range(n):
        if a[i % len(a)] > 0:
            best = best + i
        a[best] = i
    return best


def of_an_outer_round(a, n):
    k = 0
    for r in range(n):
        e = r * 3 - 2
        for i in range(2):
            a[k] += i
            if a[r % len(a)] > 1:
                k = e
    return k


def test_what_grows_is_checked():
    for function in (grows, of_an_outer_round):
        assert "index check" in what_stays(function, np.ones(50), 3), function.__name__


BEGINS = """def f(a, b, c, n, m, s):
    p, x = {number}, 0
    for i in range({start}, len(a)):
        x += a[p]
        if a[i] > 3:
            p = i
    return x
"""


WHILE = """def f(a, b, c, n, m, s):
    p, x = {number}, 0
    i = {start}
    while i < len(a):
        x += a[p]
        if a[i] > 3:
            p = i
        i += 1
    return x
"""


@pytest.mark.parametrize("number", [0, 1, 2, 3, -1, -2])
@pytest.mark.parametrize("start", ["0", "1", "2", "s"])
@pytest.mark.parametrize("loop", [BEGINS, WHILE], ids=["for", "while"])
def test_what_it_starts_with_is_in_the_array(loop, number, start):
    names = {}
    exec(loop.format(number=number, start=start), names)
    compiled = njit(names["f"])
    for length in range(5):
        for s in range(-1, 4):
            same(names["f"], compiled, lambda: (np.arange(length) * 2, None, None, 0, 0, s))


OLD = """def f(a, b, c, n, m, s):
    k, x = 0, 0
    for r in range(n):
        e = r + {more}
        for i in range(m):
            if e < len(a):
                x += a[k]
            if c[i] > 2:
                k = e
    return x
"""


@pytest.mark.parametrize("more", [0, 1, 2])
def test_what_it_was_given_in_an_outer_round(more):
    """The test at the use speaks of what e is in this round."""
    names = {}
    exec(OLD.format(more=more), names)
    compiled = njit(names["f"])
    for length in range(5):
        for n in range(6):
            same(names["f"], compiled, lambda: (np.arange(length) * 2, None, np.arange(16) * 5 % 8, n, 3, 0))


BEFORE = """def f(a, b, c, n, m, s):
    p, x = 0, 0
    for r in range(n):
        e = {given}
        if 0 <= e < len(a):
            x += a[p]
        p = e
    return x
"""


@pytest.mark.parametrize("given", ["n - r", "r - 1", "m - r * 2", "c[r] - s"])
def test_what_it_was_given_in_the_round_before(given):
    """Likewise, where it is given that in every round: the e of the test is not the one that p is."""
    names = {}
    exec(BEFORE.format(given=given), names)
    compiled = njit(names["f"])
    for length in range(5):
        for n in range(8):
            for m in range(-1, 6):
                same(names["f"], compiled, lambda: (np.arange(length) * 2, None, np.arange(16) * 5 % 8, n, m, 1))


PROGRAMS = int(os.environ.get("QUERN_PROGRAMS", "160")) // 4


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(PROGRAMS)])
def test_random_programs(seed):
    assert searches.differences(searches.program(seed), seed) is None
