"""Loops over prange whose iterations meet in a minimum or maximum that a test keeps; chunks that compiled code sets."""
import contextlib
import io

import numpy as np
import pytest

import quern
from quern import njit, prange


def least(a, m):
    for i in prange(len(a)):
        x = a[i]
        if x < m:
            m = x
    return m


def least_read_twice(a, m):
    for i in prange(len(a)):
        if a[i] < m:
            m = a[i]
    return m


def least_and_greatest(a, m):
    hi = lo = m
    for i in prange(len(a)):
        x = a[i]
        if x > hi:
            hi = x
        if lo > x:
            lo = x
    return lo, hi


def first_place(a, m):
    k = -1
    for i in prange(len(a)):
        if a[i] < m:
            m = a[i]
            k = i
    return m, k


def greatest_with_two(a, m):
    k = -1
    half = 0.0
    for i in prange(len(a)):
        if i % 3 != 0 and a[i] > m:
            m = a[i]
            k = i
            half = i * 0.5
    return m, k, half


def of_a_sum(a, m):
    for i in prange(len(a)):
        if a[i] * 0.5 < m:
            m = a[i] * 0.5
    return m


def by_expression(a, m):
    for i in prange(len(a)):
        m = a[i] if a[i] > m else m
    return m


def by_continue(a, m):
    for i in prange(len(a)):
        if not a[i] < m:
            continue
        m = a[i]
    return m


def twice_in_one_round(a, m):
    for i in prange(len(a)):
        if a[i] < m:
            m = a[i]
        if -a[i] < m:
            m = -a[i]
    return m


def by_less_or_equal(a, m):
    for i in prange(len(a)):
        if a[i] <= m:
            m = a[i]
    return m


RANDOM = np.random.default_rng(11)
VALUES = [RANDOM.random(5003), RANDOM.random(5003).astype(np.float32), RANDOM.integers(-900, 900, 5003), RANDOM.integers(3, 200, 5003).astype(np.uint8),
          np.where(RANDOM.random(5003) < 0.3, np.nan, RANDOM.random(5003)), np.zeros(0), np.array([-0.0, 0.0] * 3000)]


@pytest.mark.parametrize("f", [least, least_read_twice, least_and_greatest, first_place, greatest_with_two, of_a_sum, by_expression, by_continue, twice_in_one_round,
                               by_less_or_equal])
@pytest.mark.parametrize("k", range(len(VALUES)))
def test_a_test_keeps_the_least_or_greatest_value(f, k):
    a = VALUES[k]
    compiled = njit(parallel=True)(f)
    if f is by_less_or_equal and a.dtype.kind == "f":  # of 0.0 and -0.0 the last one would count
        with pytest.raises(Exception, match="E0701"):
            compiled(a, 1.0)
        return
    for start in (0, 1000) if a.dtype.kind != "f" else (0.0, 1000.0, float("nan"), -0.0):
        got, expected = compiled(a, start), f(a, start)
        assert np.array_equal(got, expected, equal_nan=True)
        assert np.array_equal(np.signbit(got), np.signbit(expected))
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        compiled.parallel_diagnostics(level=4)
    assert "runs on several threads" in told.getvalue()


def counted_beside(a, m):
    c = 0
    for i in prange(len(a)):
        if a[i] < m:
            m = a[i]
            c += 1
    return m, c


def stored_beside(a, m):
    for i in prange(len(a)):
        if a[i] < m:
            m = a[i]
            a[i] = 0
    return m


def seen_later(a, m):
    for i in prange(len(a)):
        t = 0
        if a[i] < m:
            m = a[i]
            t = 1
        a[i] = t
    return m


def last_place(a, m):
    k = -1
    for i in prange(len(a)):
        if a[i] <= m:
            m = a[i]
            k = i
    return m, k


def place_assigned_elsewhere(a, m):
    k = -1
    for i in prange(len(a)):
        if a[i] < m:
            m = a[i]
            k = i
        if a[i] == 3:
            k = 0
    return m, k


def otherwise(a, m):
    hi = 0
    for i in prange(len(a)):
        if a[i] < m:
            m = a[i]
        elif a[i] > hi:
            hi = a[i]
    return m, hi


def another_value(a, m):
    for i in prange(len(a)):
        if a[i] < m:
            m = 2 * a[i]
    return m


def changed_below_an_operator(a, m):
    for i in prange(len(a)):
        x = a[i] + 1
        a[i] = -x
        if x < m:
            m = a[i] + 1
    return m


def changed_in_between(a, m):
    for i in prange(len(a)):
        x = a[i]
        a[i] = -x
        if x < m:
            m = a[i]
    return m


@pytest.mark.parametrize("f", [counted_beside, stored_beside, seen_later, last_place, place_assigned_elsewhere, otherwise, another_value, changed_in_between,
                               changed_below_an_operator])
def test_what_else_depends_on_the_test_is_refused(f):
    with pytest.raises(Exception, match="E0701"):
        njit(parallel=True)(f)(VALUES[2].copy(), 1000)


def chunked(n, size):
    with quern.parallel_chunksize(size):
        total = 0
        for i in prange(n):
            total += i
        if n == 7:
            raise ValueError("seven")
        if n == 8:
            return quern.get_parallel_chunksize()
        for k in range(3):
            with quern.parallel_chunksize(k + 1):
                total += quern.get_parallel_chunksize()
                if k == 1:
                    continue
        total += 100 * quern.get_parallel_chunksize()
    return total


def test_chunks_are_set_for_a_block_of_compiled_code():
    compiled = njit(parallel=True)(chunked)
    before = quern.set_parallel_chunksize(2)
    try:
        for n, size in ((10, 3), (8, 5), (0, 0)):
            assert compiled(n, size) == chunked(n, size)
            assert quern.get_parallel_chunksize() == 2
        with pytest.raises(ValueError, match="seven"):
            compiled(7, 4)
        assert quern.get_parallel_chunksize() == 2
        with pytest.raises(ValueError, match="chunksize must be greater than or equal to zero"):
            compiled(9, -1)
        assert quern.get_parallel_chunksize() == 2
    finally:
        quern.set_parallel_chunksize(before)
