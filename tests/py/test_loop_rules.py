"""What the passes make of loops must mean what Python means: each rule at its edges, with run-time operands, against CPython."""
import functools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from quern import njit


@functools.lru_cache(None)
def compiled(function, unchecked):
    return njit(boundscheck=not unchecked)(function)


def same(function, *args, catches=False):
    """The function gives, stores and raises what it does in CPython, checked, and unchecked where no index is out of bounds."""
    def outcome(call):
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        try:
            return call(*copies), copies
        except (IndexError, OverflowError, ZeroDivisionError) as error:  # NumPy's word for indices that no int64 holds
            return IndexError if isinstance(error, OverflowError) else type(error), copies

    expected, left = outcome(function)
    for unchecked in (False, True):
        if unchecked and (catches or isinstance(expected, type)):
            continue
        found, stored = outcome(compiled(function, unchecked))
        assert found == expected, (args, found, expected)
        for a, b in zip(left, stored):
            if isinstance(a, np.ndarray):
                assert np.array_equal(a, b), (args, a, b)


# -- powers ----------------------------------------------------------------------------------------------


def power(x, n):
    return x ** n


def error_of(found, x, n):
    """Relative, of a result that is a normal number."""
    exact = Fraction(x) ** n
    return abs(Fraction(found) - exact) / abs(exact)


def test_powers_by_squaring_keep_their_bound():
    f, r = njit(power), random.Random(5)
    for _ in range(3000):
        n = r.choice([r.randrange(-12, 13), r.randrange(-1024, 1025)])
        x = r.choice([1.0, -1.0]) * math.exp(r.uniform(-1.0, 1.0) * min(600.0 / (abs(n) + 1), 30.0))
        bound = Fraction(abs(n) * (1 if n > 0 else 2), 2 ** 53)
        assert error_of(f(x, n), x, n) <= bound, (x, n)


def test_powers_at_the_edges():
    f = njit(power)
    for x, n in [(0.0, 0), (math.nan, 0), (math.inf, 0), (0.0, 3), (-0.0, 3), (-0.0, 2), (math.inf, -1), (-math.inf, -3), (-math.inf, 3),
                 (5e-324, 1), (5e-324, 2), (2.0, 1023), (2.0, -1022), (2.0, -1074), (0.5, 1024), (1.5, -1)]:
        assert math.copysign(1.0, f(x, n)) == math.copysign(1.0, math.pow(x, n)), (x, n)
        assert f(x, n) == math.pow(x, n) or math.isnan(x) and n, (x, n)
    assert math.isnan(f(math.nan, 2))
    with pytest.raises(ZeroDivisionError):
        f(0.0, -1)
    assert f(1.5, 2**63 - 1) == math.inf and f(1.5, -2**63) == 0.0
    for n in (1025, -1025, 10**6 + 1):  # C's pow
        assert f(1.0000001, n) == math.pow(1.0000001, n)
    assert f(np.float32(1.1), 7) == np.float32(float(np.float32(1.1)) ** 7)
    assert f(1.25, np.uint64(3)) == 1.25 ** 3
    assert abs(f(1.25, np.int8(-3)) - 0.512) < 1e-15 and f(1.25, True) == 1.25


def test_powers_of_whole_arrays_are_those_of_numpy():
    a = np.linspace(0.5, 2.0, 64)
    np.testing.assert_array_max_ulp(njit(power)(a, 37), a ** 37, 4)



def annuity(rate, values, start):
    v = 0.0
    for t in range(values.shape[0]):
        v += values[t] * (1.0 + rate) ** (t + start)
    return v


def above_zero(rate, values, start):
    v = 0.0
    for t in range(values.shape[0]):
        v += values[t] * (1.0 + rate) ** (t + 1)
    for t in range(values.shape[0] - 1, -1, -1):
        v -= (1.0 + rate) ** t * values[t]
    return v


def counted_down(rate, values, start):
    v, k = 0.0, values.shape[0]
    while k > 0:
        k -= 1
        v = v * 0.5 + (1.0 + rate) ** k
    return v + (1.0 + rate) ** (k - 1)


def while_tested(rate, values, start):
    if start >= 0:
        return (1.0 + rate) ** start + (1.0 + rate) ** (start - 1)
    return (1.0 + rate) ** -start


@pytest.mark.parametrize("function", [annuity, above_zero, counted_down, while_tested])
def test_powers_whose_exponents_are_not_negative(function):
    f = njit(function)
    for rate in (0.1, -1.0, -2.5, 0.0):
        for n in (0, 1, 2, 40, 1100):
            for start in (0, 1, 2, -1, -3, 1030):
                values = np.linspace(1.0, 2.0, n)

                def outcome(call):
                    try:
                        return call(rate, values, start)
                    except (ZeroDivisionError, OverflowError) as error:
                        return math.inf if isinstance(error, OverflowError) else ZeroDivisionError
                expected, found = outcome(function), outcome(f)
                if expected is ZeroDivisionError or found is ZeroDivisionError:
                    assert expected is found, (rate, n, start)
                elif math.isfinite(expected):
                    assert found == pytest.approx(expected, rel=1e-9), (rate, n, start)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "i4", "i8"])
def test_powers_by_exponents_from_arrays(dtype):
    def product(x, n):
        v = 0.0
        for k in range(n.shape[0]):
            v += x ** n[k]
        return v

    low = -3 if dtype[0] == "i" else 0
    n = np.array([0, 1, 5, 7, low, 100], dtype)
    f = njit(product)
    assert f(1.5, n) == pytest.approx(product(1.5, n), rel=1e-12)
    assert f(0.0, np.abs(n)) == product(0.0, np.abs(n))
    if low:
        with pytest.raises(ZeroDivisionError):
            f(0.0, n)

# -- rings -------------------------------------------------------------------------------------------------


def ring(a, out, n):
    for i in range(n):
        out[i] = a[(i - 1) % n] * 3 + a[(i + 1) % n] * 5 + a[(i + 2) % n] * 7 + a[(i - 2) % n]


def ring_of_array(a, out):
    n = len(a)
    for i in range(n):
        out[i] = a[(i + n - 1) % n] * 3 + a[(i + 1) % n] * 5 + a[i % n] + (2 * i) % n


def around(n, m):
    s = 0
    for i in range(n):
        for d in range(-1, 2):
            s = s * 3 + (i + d) % m
    return s


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 9])
def test_remainders_on_a_ring(n):
    a = np.arange(n) + 10
    same(ring, a, np.zeros(n, np.int64), n)
    same(ring_of_array, a, np.zeros(n, np.int64))
    for m in (-3, -1, 1, 2, n, n + 1):
        if m:
            same(around, n, m)


# -- sums of variables that depend on each other -----------------------------------------------------------


def chain(cost, n):
    s = 0
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            for k in range(i, j):
                s += cost[i, k] * 3 + cost[k + 1, j]
            cost[i, j] = s % 1000
    return s


def triangle(a, n):
    s = 0
    for i in range(n):
        for j in range(i + 1):
            s = s * 3 + a[i - j] + a[i - j + 1] * 2
    return s % 1000003


def down(a, n, m):
    s = 0
    for i in range(n, m, -1):
        for j in range(i, m, -1):
            s += a[i - j + m] * 2 - a[j - m]
    return s


def along(a, out, n, start):
    k = start
    for i in range(n):
        out[k] = a[i]
        k += 2
    return k


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
@pytest.mark.parametrize("size", [0, 1, 5, 6, 8, 9])
def test_sums_of_dependent_variables(n, size):
    same(chain, np.arange(size * size).reshape(size, size), n)
    same(triangle, np.arange(size) + 1, n)
    for m in (-2, -1, 0, 1):
        same(down, np.arange(size) + 1, n, m)
    for start in (-3, 0, 1, 4, 2**62, -2**63):
        same(along, np.arange(size) + 1, np.zeros(12, np.int64), n, start)


def ends(a, first, last, by):
    s = 0
    for i in range(first, last):
        s = s * 3 + a[i + 2] + a[i]
    for i in range(last, first, -1):
        s = s * 3 + a[i - 1]
    return s % 1000003 + by


LARGE = 2**63 - 1


@pytest.mark.parametrize("first, last", [(0, 4), (-2, 3), (-1, 5), (0, 7), (3, 3), (5, -5), (LARGE - 1, LARGE), (-LARGE - 1, -LARGE), (-7, -4),
                                         (LARGE, -LARGE - 1), (4, 6)])
def test_ends_of_ranges_that_are_large(first, last):
    same(ends, np.arange(7) + 1, first, last, 1)


# -- rows of matrices ---------------------------------------------------------------------------------------


def rows(A, n, m):
    s = 0.0
    for i in range(n):
        for j in range(m):
            s += A[i][j] * (i + 2 * j) + A[:, j][i] + A[i][-1 - j]
            A[i][j] = s
    return s


def slices(A, i, j):
    return A[1:][i][j] + A[::-1][i, j] + A.T[j][i] + A[:, 1:][i][j - 1] + A[np.newaxis][0][i][j]


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("n, m", [(0, 3), (3, 4), (3, 5), (4, 4), (2, 2)])
def test_elements_of_rows(order, n, m):
    A = np.array(np.arange(12.0).reshape(3, 4), order=order)
    same(rows, A, n, m)
    same(rows, A[:, ::-1], n, m)
    for i in range(-3, 3):
        for j in range(-4, 5):
            same(slices, A, i, j)


# -- first rounds -------------------------------------------------------------------------------------------


def first_rounds(a, out):
    n = len(a)
    s = 0
    for i in range(n):
        v = a[i - 1] * 3 + a[(i - 1) % n]
        if i > 0:
            v += out[i - 1]
        if i == 1:
            v += 7
        if 2 <= i:
            v -= a[i - 2]
        out[i] = v
        if v > 10**6:
            return i
        s += v
    return s


def first_of_inner(a, b, table):
    for i in range(len(a)):
        for j in range(len(b)):
            v = a[i] * b[j]
            if i > 0 and j > 0:
                v += table[i - 1, j - 1]
            if 1 > j:
                v += 100
            if j != 0:
                v = max(v, table[i, j - 1])
            table[i, j] = v % 1009
    return table[-1, -1]


def from_one(a):
    s = 0
    k = 5
    for i in range(1, len(a)):
        if i - 1 > 0:
            s = s * 2 + a[i - 1] - a[i - 2]
        if i == 1:
            k += a[-i]
        if i < 2:
            continue
        s += k
        if s > 10**9:
            break
    return s + k


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 17, 70000])
def test_first_rounds_that_differ(n):
    a = np.random.default_rng(n).integers(0, 50, n)
    same(first_rounds, a, np.zeros(n, np.int64))
    same(first_rounds, a, np.zeros(max(n - 1, 0), np.int64))
    same(from_one, a[:1000])
    if n < 100:
        for m in (1, 2, 3, 20):
            same(first_of_inner, a, np.arange(m), np.zeros((max(n, 1), m), np.int64))
            same(first_of_inner, a, np.arange(m), np.zeros((max(n, 1), max(m - 1, 1)), np.int64))


# -- what users are told ------------------------------------------------------------------------------------


def told(a, index, out, n):
    s = 0.0
    for i in range(n):
        out[i] = a[i] * 2.0
    for i in range(n):
        out[index[i]] += 1.0
    for i in range(n):
        for j in range(n):
            s += out[j]
    while n > 0:
        n -= out.shape[0] // n
    return s


@pytest.mark.optimised
def test_inspect_loops_says_what_stays():
    f = njit(told)
    f(np.ones(3), np.arange(3), np.ones(3), 3)
    text = f.inspect_loops(f.signatures[0])
    assert f.inspect_loops() == {tuple(f.signatures[0]): text}
    said = {}
    for loop, words in zip(text.splitlines()[::2], text.splitlines()[1::2]):
        said[int(loop.split(":")[1]) - told.__code__.co_firstlineno] = words.strip()
    assert said[2] == "a copy with all checks stands behind it; several rounds at a time, if LLVM finds a way"
    assert said[4].startswith("1 index check; 1 index from either end;") and "one round at a time: an index check" in said[4]
    assert "asks for interruption in each round" in said[6] and "one round" not in said[6]
    assert said[7].endswith("one round at a time: floats that are summed or kept in Python's order")
    assert "1 test that may raise" not in said[9] and "asks for interruption" in said[9]
    assert njit(lambda x: x + 1).inspect_loops() == {}
    g = njit(lambda x: x + 1)
    g(1)
    assert g.inspect_loops(g.signatures[0]) == "no loops\n"


def divided(a):
    for i in range(len(a)):
        a[i] = a[i] // 8 + i % 2
    for i in range(len(a)):
        a[i] = a[i] // 7


@pytest.mark.optimised
def test_inspect_loops_knows_shifts_and_masks():
    f = njit(divided)
    f(np.arange(9))
    first, second = f.inspect_loops(f.signatures[0]).splitlines()[1::2]
    assert first.endswith("several rounds at a time, if LLVM finds a way")
    assert second.endswith("one round at a time: division of ints, which processors do one by one")


# -- loops in try -------------------------------------------------------------------------------------------


def in_try(a, b, out, n):
    s = 0
    i = -1
    done = 0
    try:
        for i in range(n):
            out[i] = a[i] * 2
            s += b[i]
            done = i + 1
        for i in range(1, n):
            s = s * 3 + out[i] * out[i - 1] + b[-i]
        done += 100
    except IndexError:
        return -s * 1000 - i * 10 - done
    return s + done


def try_in_loop(a, m, n):
    s = 0
    last = -5
    for i in range(n):
        try:
            for j in range(m):
                s += a[i, j]
                last = j
            s *= 3
        except IndexError:
            s += 1000 + last
            continue
        finally:
            s -= 1
    return s % 1000003


@pytest.mark.parametrize("n", [0, 1, 3, 5, 6, 7, 40])
def test_loops_in_try(n):
    for sizes in [(n, n, n), (n, max(n - 1, 0), n), (max(n - 2, 0), n, n), (n, n, max(n - 1, 0)), (5, 6, 7)]:
        a, b, out = (np.arange(k) % 7 + 1 for k in sizes)
        same(in_try, a, b, out, n, catches=True)
        same(try_in_loop, np.arange(12).reshape(3, 4), n, 4, catches=True)


def handled_sum(a, n):
    s = 0.0
    k = 0
    try:
        for i in range(n):
            s += a[i]
            k = i
    except IndexError:
        return s, k
    return s, -k


def test_long_loops_in_try_end_where_they_should():
    a = np.ones(200_000)
    for n in (65_535, 65_536, 65_537, 131_072, 131_073, 199_999, 200_000, 200_001, 10**9):
        expected = (float(min(n, 200_000)), -(n - 1) if n <= 200_000 else 199_999)
        assert njit(handled_sum)(a, n) == expected, n


# -- indices that are read twice --------------------------------------------------------------------------


def relax(source, target, dist):
    for e in range(source.shape[0]):
        d = dist[source[e]] + 1
        if d < dist[target[e]]:
            dist[target[e]] = d
        if dist[target[e - 1]] > 40:
            dist[target[e - 1]] -= target[e - 1]


def written_between(index, a, n):
    s = 0
    for i in range(n):
        a[index[i]] += 1
        index[i] = index[i] * 3 % 17 - 8
        s += a[index[i]]
        if i % 3 == 0:
            index[index[i]] = i % 5
        s += a[index[i]] + index[index[i]]
    return s


def through_a_view(index, a, n):
    same_memory = index[1:]
    s = 0
    for i in range(n):
        s += a[index[i + 1]]
        same_memory[i] = (s + i) % 7 - 3
        s += a[index[i + 1]] * 3
    return s


def read_in_branches(index, a, n):
    s = 0
    for i in range(n):
        if a[index[i]] > 2:
            s += a[index[i]]
        else:
            index[n - 1 - i] = i % 4
        s += a[index[i]]
        while a[index[i]] > 5:
            a[index[i]] -= 2
    return s


def shifted(a, bits, n):
    s = 0
    for i in range(n):
        for k in range(0, 24, 8):
            s += (a[i] >> (k + 2 * (i % 3))) & 255
        s ^= a[i] >> (i - bits)
    return s


@pytest.mark.parametrize("dtype", ["i8", "i4", "u1"])
def test_indices_that_are_read_twice(dtype):
    r = random.Random(11)
    for n in (0, 1, 2, 7, 12):
        for low, high in [(0, 12), (-12, 12), (-13, 12), (0, 13)]:
            low = max(low, 0) if dtype == "u1" else low
            index, other = (np.array([r.randrange(low, high) for _ in range(n)], dtype) for _ in range(2))
            a = np.array([r.randrange(0, 60) for _ in range(12)])
            same(relax, index, other, a)
            same(read_in_branches, index, a, n)
            same(read_in_branches, index, a % 9, n + 1)
            if dtype == "i8":
                same(written_between, index, a, n)
                same(through_a_view, np.concatenate([index, index[:1]]), a, n)


@pytest.mark.parametrize("bits", [0, 1, -3])
def test_shifts_that_may_be_negative(bits):
    def outcome(f, *args):
        try:
            return f(*args)
        except ValueError as error:
            return str(error)

    a = [r * 12345 for r in range(12)]
    for n in (0, 1, 4, 12):
        assert outcome(njit(shifted), np.array(a), bits, n) == outcome(shifted, a, bits, n)


def a_little_before(a, out, n, back):
    s = 0.0
    for t in range(2):
        for i in range(n):
            out[i] = a[i - 1] + a[i]
            s += out[i - 2]
    for i in range(n):
        s = s * 0.5 + out[i - back]
    return s


def before_in_rows(A, n, m):
    s = 0.0
    for i in range(n):
        for j in range(m):
            s = s * 0.75 + A[i - 1, j - 2] - A[i, j]
    return s


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7])
def test_indices_that_begin_below_zero(size):
    for n in (0, 1, 2, 3, 6, 7, 8, 9):
        for back in (0, 1, 2, 3, 5):
            same(a_little_before, np.arange(7.0), np.arange(size) * 0.5, n, back)
            same(a_little_before, np.arange(size) * 0.5, np.arange(9.0), n, back)
        for m in (0, 1, 2, 3, 4):
            same(before_in_rows, np.arange(size * 3.0).reshape(size, 3), n, m)
            same(before_in_rows, np.arange(size * 3.0).reshape(3, size), n, m)


def last_rounds(a, out):
    n = a.shape[0]
    for i in range(n):
        out[i] = a[(i + 1) % n] - a[i]
    last = -1
    for i in range(n):
        right = a[i + 1] if i + 1 < n else a[0]
        left = a[i - 1]
        if i == n - 1:
            last = i
        out[i] = out[i] * 0.5 + right - left * 0.25
    return last


def last_of_inner(a, b, n):
    s, x, y = 0.0, 1.0, 2.0
    for k in range(3):
        for i in range(n):
            if i < n - 1:
                s = s * 0.5 + a[i] * b[i + 1]
            elif n - 2 < i:
                s -= b[i]
            x, y = y, x + (1.0 if i <= n - 2 else k)
        for i in range(1, n):
            if i + 1 == n:
                y = y * 0.25 + a[i - 1]
                break
            if n - 1 <= i:
                y += 1000.0
    return s + x * 3 + y


def left_early(a, n, limit):
    for i in range(n):
        if a[(i + 1) % n] > limit:
            return i
        if i != n - 1 and a[i] < -limit:
            break
    else:
        return -2
    return i + 100


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 17, 70000])
def test_last_rounds_that_differ(n):
    values = (np.arange(n) * 7 % 13) * 0.125
    same(last_rounds, values, np.zeros(n))
    if n < 100:
        same(last_rounds, values, np.zeros(n + 1))
        for k in (n - 1, n, n + 1, -1):
            same(last_of_inner, values, values[::-1].copy(), k)
        for limit in (-1.0, 0.0, 0.5, 1.0, 9.0):
            same(left_early, values, n, limit)
            for at in range(min(n, 4)):
                changed = np.zeros(n)
                changed[-1 - at] = limit * 2
                same(left_early, changed, n, abs(limit))
                same(left_early, -changed, n, abs(limit))


# -- inner loops without strips --------------------------------------------------------------------------------


def add_rows(a, out, n, m):
    for i in range(n):
        for j in range(m):
            out[j] += a[j] * (i + 1)
    return m


def both_ways(step):
    def add_both_ways(a, out, n):
        last = 0
        for i in range(2):
            for j in range(i, n, step):
                out[j] = a[j] - i
                last = j
            for j in range(n - 1, i, -step):
                out[j] += a[j - 1]
        return last

    return njit(add_both_ways)


def add_ranges(first, last, a, out):
    s = 0
    for i in range(first.size):
        for j in range(first[i], last[i]):
            out[j] += i + 1
            s += a[j]
    return s


def add_powers(a, out, n, m):
    for i in range(n):
        for j in range(m):
            out[j] = (out[j] + a[j] ** i) % 1000.0
    return m


SHORT = 1 << 20  # rounds that a loop of a few instructions may have without strips


@pytest.mark.parametrize("m", [0, 1, 1000, SHORT - 1, SHORT, SHORT + 1, 3 * SHORT + 5])
def test_short_and_long_rows(m):
    a = np.arange(m) % 1001
    out = np.zeros(m, np.int64)
    assert njit(add_rows)(a, out, 3, m) == m and np.array_equal(out, 6 * a)
    assert njit(boundscheck=False)(add_rows)(a, out, 2, m) == m and np.array_equal(out, 9 * a)
    with pytest.raises(IndexError):
        njit(add_rows)(a, out, 1, m + 1)
    assert np.array_equal(out, 10 * a)  # as far as it went


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("n", [1, 2, 50, SHORT + 1, 2 * SHORT + 7])
def test_short_and_long_rows_both_ways(n, step):
    a = np.arange(n) * 7 % 1009
    out, expected = np.zeros(n, np.int64), np.zeros(n, np.int64)
    last = 0
    for i in range(2):
        expected[i:n:step] = a[i:n:step] - i
        last = max(range(i, n, step), default=last)
        down = np.arange(n - 1, i, -step)
        expected[down] += a[down - 1]
    assert both_ways(step)(a, out, n) == last and np.array_equal(out, expected)


@pytest.mark.parametrize("length", [0, 3, SHORT, SHORT + 1])
def test_short_and_long_ranges_from_arrays(length):
    f = njit(add_ranges)
    first = np.array([0, 5, 5, 2, 0])
    last = np.array([length, 9, 3, length, 1])
    a = np.arange(max(length, 20)) % 997
    out, expected = np.zeros(a.size, np.int64), np.zeros(a.size, np.int64)
    for i, (b, e) in enumerate(zip(first, last)):
        expected[b:max(b, e)] += i + 1
    assert f(first, last, a, out) == sum(a[b:max(b, e)].sum() for b, e in zip(first, last))
    assert np.array_equal(out, expected)
    last[3] = a.size + 1
    with pytest.raises(IndexError):
        f(first, last, a, out)


@pytest.mark.parametrize("m", [5, SHORT // 4 + 1])
def test_rows_of_dear_rounds(m):
    a, out = np.arange(m) % 11 * 1.0, np.zeros(m)
    assert njit(add_powers)(a, out, 4, m) == m
    assert np.array_equal(out, (1 + a + a ** 2 + a ** 3) % 1000)


def add_between(first, last, a):
    s = 0
    for i in range(first.size):
        for j in range(first[i], last[i]):
            s = s * 3 + a[j] - j
    return s % 1000003


@pytest.mark.parametrize("ends", [(0, 7), (3, 3), (4, 2), (-3, 2), (-7, -1), (-8, 2), (0, 8), (2**63 - 1, -2**63), (2**63 - 1, 2**63 - 1), (6, -2**63),
                                  (-2**63, -2**63), (-2**63, -2**63 + 2), (2**63 - 3, 2**63 - 1)])
def test_ranges_from_where_the_program_says(ends):
    first, last = (np.array([1, end, 2]) for end in ends)
    same(add_between, first, last + np.array([2, 0, 1]), np.arange(7) * 5)


def xor_pairs(n, m):
    s = 0
    for i in range(n):
        for j in range(m):
            s ^= j * (i + 3)
    return s


@pytest.mark.parametrize("m", [-1, 0, 1, 1000, SHORT, SHORT + 1, 3 * SHORT + 5])
def test_short_and_long_loops_without_indices(m):
    expected = np.bitwise_xor.reduce(np.outer(np.arange(max(m, 0)), [3, 4, 5]).ravel()) if m > 0 else 0
    assert compiled(xor_pairs, False)(3, m) == compiled(xor_pairs, True)(3, m) == expected


def add_around(a, r):
    s = 0
    for i in range(a.size):
        for d in range(-r, r + 1):
            if 0 <= i + d < a.size:
                s = s * 3 + a[i + d]
    return s % 1000003


@pytest.mark.parametrize("r", [-2**62, -1, 0, 1, 2, 9])
def test_ranges_to_both_sides(r):
    same(add_around, np.arange(7) * 5, r)


# -- rings and remainders ----------------------------------------------------------------------------------


def around_ring(n, m):
    s = 0
    for i in range(n):
        for d in range(-2, 3):
            s = (s * 5 + (i + d) % m) % 1000003
    return s


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 40])
@pytest.mark.parametrize("more", [0, 1, 3, -1])
def test_rings_to_both_sides(n, more):
    same(around_ring, n, n + more)


def squares(x, m, rounds):
    r = x % m
    q = 1
    for _ in range(rounds):
        r = r * r % m
        q = (q * r + 7) % m
    return r + q


@pytest.mark.parametrize("m", [1, 2, 7, 10007, 2**31 - 1, 2**31, 2**31 + 11, 2**32 - 5, 2**61 - 1, 2**63 - 1])
@pytest.mark.parametrize("x", [0, 1, -1, 3, 123456789123, -2**63, 2**63 - 1])
def test_remainders_of_products_that_leave_int64(m, x):
    def wrapped(v):
        return (v + 2**63) % 2**64 - 2**63

    r, q = x % m, 1
    for _ in range(9):
        r = wrapped(r * r) % m
        q = wrapped(wrapped(q * r) + 7) % m
    assert compiled(squares, False)(x, m, 9) == compiled(squares, True)(x, m, 9) == wrapped(r + q)


def both_parts(a, b, quotients, remainders):
    for i in range(a.size):
        q = a[i] // b[i]
        quotients[i] = q
        remainders[i] = a[i] - q * b[i]


def test_quotients_beside_their_remainders():
    a = np.array([7, -7, 7, -7, 0, 2**63 - 1, -2**63, -2**63 + 1, 5])
    b = np.array([2, 2, -2, -2, 3, -1, 3, -1, 2**63 - 1])
    with np.errstate(over="ignore"):
        same(both_parts, a, b, np.zeros_like(a), np.zeros_like(a))
    b[4] = 0
    with pytest.raises(ZeroDivisionError):
        compiled(both_parts, False)(a, b, a.copy(), a.copy())


# -- elements that are read and written, narrow ones, columns ------------------------------------------------


def update_twice(h, index, second):
    for i in range(index.size):
        h[index[i]] += i
        if second[i] > 0:
            h[index[i]] = h[index[i]] * 2 + h[second[i]]


def test_updates_where_indices_count_from_the_end():
    for index, second in [([0, -1, 3, -4, 1], [0, -1, 2, 3, -4]), ([-4, -4, -1, 0, 0], [1, 2, 3, 1, 2])]:
        same(update_twice, np.arange(4) + 10, np.array(index), np.array(second))
    same(update_twice, np.arange(4), np.array([0, -5]), np.array([1, 1]))
    same(update_twice, np.arange(4), np.array([0, 1]), np.array([1, 4]))


def blend(a, b, out, f):
    for i in range(a.size):
        out[i] = (a[i] * 77 - b[i] * 179 + f) >> 3


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "i4"])
@pytest.mark.parametrize("n", [3, 200])
def test_arithmetic_of_narrow_elements(dtype, n):
    r, limits = np.random.default_rng(5), np.iinfo(dtype)
    a, b = (r.integers(limits.min, limits.max, n, endpoint=True).astype(dtype) for _ in range(2))
    for f in (0, 2**40 - 3, -2**62):
        expected = ((a.astype("i8") * 77 - b.astype("i8") * 179 + f) >> 3).astype(dtype)
        for unchecked in (False, True):
            out = np.zeros_like(a)
            compiled(blend, unchecked)(a, b, out, f)
            assert np.array_equal(out, expected)


def columns(a, out):
    for i in range(a.shape[1]):
        for j in range(a.shape[0]):
            out[j, i] = a[j, i] * 3 - a[j, 0]


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 5), (33, 2)])
@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_columns(shape, order):
    a = np.arange(2 * shape[0] * shape[1]).reshape(2 * shape[0], shape[1])[::2]
    a = a if order == "A" else np.array(a, order=order)
    same(columns, a, np.zeros_like(a))


# -- Euclid's remainders ---------------------------------------------------------------------------


def divisors_in_common(x, y):
    while y:
        x, y = y, x % y
    return x


def steps_of_euclid(x, y):
    steps = 0
    while y != 0:
        steps += 1
        rest = x % y
        x = y
        y = rest
    return steps


def remainders_by_another(x, y, z, n):
    """Not Euclid's: the dividend does not come round."""
    steps = 0
    while y and steps < n:
        steps += 1
        x, y = z + steps, x % y
    return x * 3 + y


def divisors_of_all(a, b, out):
    for i in range(len(a)):
        x, y = a[i], b[i]
        while y:
            x, y = y, x % y
        out[i] = x


EDGES = [0, 1, -1, 2, -2, 3, 7, -7, 12, -18, 10**9 + 7, -(10**9) - 9, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63) + 1, -(2**63)]
FIBONACCI = [1, 1]
while FIBONACCI[-1] + FIBONACCI[-2] < 2**63:
    FIBONACCI.append(FIBONACCI[-1] + FIBONACCI[-2])


@pytest.mark.parametrize("function", [divisors_in_common, steps_of_euclid])
def test_remainders_of_euclid(function):
    rng = random.Random(5)
    pairs = [(x, y) for x in EDGES for y in EDGES] + [(rng.randrange(-2**63, 2**63), rng.randrange(-2**40, 2**40)) for _ in range(200)]
    pairs += [(s * x, t * y) for x, y in zip(FIBONACCI[1:], FIBONACCI[:-1], strict=True) for s in (1, -1) for t in (1, -1)]
    f = compiled(function, False)
    for x, y in pairs:
        assert f(x, y) == function(x, y), (x, y)


def test_remainders_that_are_not_euclids():
    f = compiled(remainders_by_another, False)
    for x in EDGES:
        for y in EDGES:
            for z in (0, -5, 11, 10**12):
                want = remainders_by_another(x, y, z, 20)
                assert f(x, y, z, 20) == (want + 2**63) % 2**64 - 2**63, (x, y, z)


def test_remainders_of_euclid_in_loops():
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-1000, 1000, 3000) for _ in "ab")
    a[:5], b[:5] = -(2**63), [-1, 0, 1, -(2**63), 2**63 - 1]
    out = np.zeros(3000, int)
    compiled(divisors_of_all, False)(a, b, out)
    assert out.tolist() == [divisors_in_common(int(x), int(y)) for x, y in zip(a, b, strict=True)]


# -- lengths of complex numbers on which a loop ends -------------------------------------------------


def within(z, out):
    for i in range(len(z)):
        k = 0
        while k < 1 and abs(z[i]) < 2.0:
            k += 1
        out[i] = k


def not_beyond(z, out):
    for i in range(len(z)):
        k = 0
        while k < 1 and abs(z[i]) <= 3:
            k += 1
        out[i] = k


def beyond(z, out):
    for i in range(len(z)):
        out[i] = 0
        for _ in range(3):
            if abs(z[i]) > 1e-7:
                break
            out[i] += 1


def at_least(z, out):
    for i in range(len(z)):
        k = 0
        while True:
            if 1e15 <= abs(z[i]) or k > 1:
                break
            k += 1
        out[i] = k


@pytest.mark.parametrize("function, limit", [(within, 2.0), (not_beyond, 3.0), (beyond, 1e-7), (at_least, 1e15)])
def test_lengths_that_are_compared(function, limit):
    """Near the limit the length decides, which is what abs() gives where it is not compared."""
    rng = np.random.default_rng(8)
    angle = rng.random(4000) * 6.3
    length = limit * (1 + np.concatenate([rng.integers(-6, 7, 2000) * 2.0**-53, rng.normal(0, 1e-13, 1000), rng.normal(0, 1, 1000)]))
    special = [0.0, -0.0, 5e-324, 1e-200, 1e200, 1.7e308, math.inf, -math.inf, math.nan, limit, -limit, limit * 0.6, limit * 0.8]
    z = np.concatenate([length * np.exp(1j * angle), [complex(x, y) for x in special for y in special]])
    out, lengths = np.zeros(len(z), int), njit(lambda a: np.abs(a))(z)
    compiled(function, False)(z, out)
    expected = np.zeros(len(z), int)
    for i, r in enumerate(lengths):
        expected[i] = {within: r < limit, not_beyond: r <= limit, beyond: 3 * (not r > limit), at_least: 2 * (not limit <= r)}[function]
    assert out.tolist() == expected.tolist()
