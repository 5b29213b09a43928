"""Loops keep their meaning under the rules that make them fast: constant lengths, one way back, polls, indices that may be negative. Operands
are run-time values, results are CPython's."""
import random

import numpy as np
import pytest
from quern import njit

MAX, MIN = 2**63 - 1, -2**63
ENDS = [(5,), (0,), (-3,), (2, 7), (7, 2), (-1, 2), (MIN, MIN + 3), (MAX - 3, MAX), (0, 10, 3), (0, 9, 3), (10, 0, -3), (9, 0, -3),
        (0, 10, -1), (3, -4, -1), (MIN, MAX, MAX), (MAX, MIN, MIN), (MAX, MIN, -MAX), (0, MAX, 2**62), (-5, -5, 7), (1, 2, MAX)]


@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_constant_ranges_have_the_length_and_the_items_of_python(ends):
    scope = {}
    text = ", ".join(f"({e})" for e in ends)
    exec(f"def f(a):\n    n = 0\n    for i in range({text}):\n        a[n] = i\n        n += 1\n    return n, len(range({text}))", scope)
    out = np.zeros(16, np.int64)
    n, length = njit(scope["f"])(out)
    assert n == length == len(range(*ends))
    assert out[:n].tolist() == list(range(*ends))


def small_window(a, out):
    n = a.shape[0]
    for i in range(n):
        s = 0.0
        for k in range(-2, 3):
            for m in range(2):
                if 0 <= i + k < n:
                    s += a[i + k] * (m + 1)
        out[i] = s


def continues(a, out):
    """Five ways back, two of them with other values."""
    total, odd = 0, 0
    for i in range(a.shape[0]):
        x = a[i]
        if x == 3:
            continue
        if x < 0:
            odd += 1
            continue
        if x > 7:
            if x > 8:
                total += x
            else:
                total -= 1
                continue
        else:
            out[i] = x
    return total, odd


def nested_continues(a, out):
    n = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            if a[j] == a[i]:
                continue
            if a[j] > 100:
                break
            n += 1
        else:
            out[i] = n
            continue
        out[i] = -n
    return n, 0


def while_continues(a, out):
    i = n = 0
    while i < a.shape[0]:
        i += 1
        if a[i - 1] == 2:
            continue
        n += 1
        if a[i - 1] % 2:
            out[i - 1] = n
            continue
        out[i - 1] = -n
    return n, i


@pytest.mark.parametrize("f", [continues, nested_continues, while_continues], ids=lambda f: f.__name__)
def test_several_ways_back_are_one(f):
    rng, fast = random.Random(5), njit(f)
    for n in (0, 1, 2, 7, 40):
        a = np.array([rng.randint(-3, 101) if rng.random() < 0.1 else rng.randint(-3, 10) for _ in range(n)], np.int64)
        slow_out, fast_out = np.zeros(n, np.int64), np.zeros(n, np.int64)
        assert f(a, slow_out) == fast(a, fast_out)
        assert slow_out.tolist() == fast_out.tolist()


def test_short_loops_inside_of_long_ones():
    fast = njit(small_window)
    for n in (0, 1, 2, 5, 100):
        a, expected, found = np.random.default_rng(n).random(n), np.zeros(n), np.zeros(n)
        small_window(a, expected)
        fast(a, found)
        assert np.array_equal(expected, found)


def wears(a, b, c):
    """Loops that wear numbers out, in a loop and alone, some of which wear nothing out."""
    total = 0
    for i in range(a):
        n = b + i
        while n > 0:
            total = (total * 3 + n % 10) % 1000003
            n //= 10
        v = i
        while v:
            v &= v - 1
            total += 1
        f = i + 5
        while f > 0:
            total ^= f
            f -= f & -f
        e = c
        while e >= 4:
            total += e & 1
            e >>= 2
        up = i
        while up < 40:
            up = up // 2 + 30
            total += 1
            if total % 7 == 3:
                break
    k = c
    while k != 0:
        total += k % 1000
        k //= 7
    return total


def test_loops_that_wear_a_number_out():
    fast = njit(wears)
    for a, b, c in ((0, 0, 0), (3, 5, 9), (50, -20, 12345), (40, 10**15, 2**62), (7, -(2**62), MAX)):
        assert fast(a, b, c) == wears(a, b, c)


def lengths(n, m, out):
    """Inner loops shorter and longer than a strip."""
    k = 0
    for i in range(n):
        for j in range(m):
            k += j & 3
        for j in range(5, m, 3):
            k -= j & 1
        j = 0
        while j < m:
            k += 1
            j += 7
        out[i] = k
    return k


@pytest.mark.parametrize("m", [0, 1, 65535, 65536, 65537, 200001])
def test_lengths_round_the_length_of_a_strip(m):
    expected, found = np.zeros(2, np.int64), np.zeros(2, np.int64)
    assert njit(lengths)(2, m, found) == lengths(2, m, expected)
    assert expected.tolist() == found.tolist()


def divisions(a, m, h, out):
    """Divisors that stand still, that a loop proves, and that change."""
    n = a.shape[0]
    for i in range(n):
        out[i] = a[i] % n + (a[i] - 5) // n
        out[i] += a[i] % m // 100 + (i - 3) // m
        out[i] += int(a[i] / h)
        x, y = i + 40, n
        while y:
            x, y = y, x % y
        out[i] -= x
    for i in range(1, n):
        out[i - 1] += a[i] // i - (0 - a[i]) % i
    return n


@pytest.mark.parametrize("m", [1, 2, 7, -1, -3, 0, MAX, MIN])
@pytest.mark.parametrize("h", [2.5, -0.5, 0.0, -0.0])
def test_divisors_that_stand_still_or_are_proven(m, h):
    fast = njit(divisions)
    for n in (0, 1, 6):
        a = np.array([3, -4, 0, 17, -100, 8][:n], np.int64)
        outs = []
        for call in (divisions, fast):
            out = np.zeros(n, np.int64)
            try:
                call(a if call is fast else Ints(a), m, h, out)
                outs.append(("done", out.tolist()))
            except ZeroDivisionError:
                outs.append(("zero", out.tolist()))
        assert outs[0] == outs[1]


class Ints:
    """An array whose elements are Python's ints, for CPython's arithmetic."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __getitem__(self, index):
        return int(self.array[index])


def twice(h, idx, out):
    for k in range(idx.shape[0]):
        h[idx[k]] += 1
        h[idx[k]] -= out[idx[k]]
        out[idx[k]] = h[idx[k]]
    return 0


def test_an_index_that_is_used_twice():
    fast, rng = njit(twice), random.Random(8)
    for case in range(40):
        n, m = rng.randint(0, 6), rng.randint(0, 6)
        idx = np.array([rng.randint(-n - 1, n) if rng.random() < 0.2 else rng.randint(-n, max(n - 1, -n)) for _ in range(12)])
        results = []
        for call in (twice, fast):
            h, out = np.arange(n), np.arange(m) * 3
            try:
                call(h, idx, out)
                results.append(("done", h.tolist(), out.tolist()))
            except IndexError:
                results.append(("index", h.tolist(), out.tolist()))
        assert results[0] == results[1]
