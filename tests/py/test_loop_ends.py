"""Loops that end at several places, and indices that data or assignments bound: what the passes make of them means what Python means."""
import os
import pathlib
import random
import signal
import sys

import numpy as np
import pytest
from test_loop_rules import same

from quern import njit

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
import guards  # noqa: E402
import steps  # noqa: E402
import tiles  # noqa: E402
import windows  # noqa: E402


# -- loops that end at several places ------------------------------------------------------------------


def until_up(starts, stop, step, values, x, out):
    for k in range(len(starts)):
        i = starts[k]
        while i < stop and values[i % len(values)] != x:
            out[k] += i
            i += step
        out[k] = 3 * out[k] + i


def until_down(starts, stop, step, values, x, out):
    for k in range(len(starts)):
        i = starts[k]
        while i >= stop and values[i % len(values)] != x:
            out[k] += i
            i -= step
        out[k] = 3 * out[k] + i


def until_in_the_middle(starts, stop, step, values, x, out):
    for k in range(len(starts)):
        i = starts[k]
        while True:
            out[k] += values[i % len(values)]
            if not i <= stop:
                break
            i = step + i
            if values[i % len(values)] == x:
                break
        out[k] = 3 * out[k] + i


def until_the_length(starts, stop, step, values, x, out):
    for k in range(len(starts)):
        i = starts[k]
        while i < len(values) and values[i] != x:
            values[i] += 1
            out[k] += values[i]
            i += 1
        out[k] = 3 * out[k] + i + stop


@pytest.mark.parametrize("function", [until_up, until_down, until_in_the_middle, until_the_length])
@pytest.mark.parametrize("steps", [(1, 2, 3, 7), (127, 128, 129)])
def test_polls_in_the_test_of_a_variable(function, steps):
    """Loops of up to some hundreds of rounds: the test that polls lies at every 128th."""
    r = random.Random(7)
    for _ in range(60):
        step = r.choice(steps)
        span = step * r.choice([0, 1, 127, 128, 129, 255, 256, 257, 400])
        starts = np.array([r.randrange(-5, 6) + r.choice([0, span]) for _ in range(4)])
        stop = r.choice([0, span, span - 1, span + 1, -span])
        values = np.array([r.randrange(0, 50) for _ in range(r.choice([1, 600]))])
        if function is until_the_length:
            starts = np.maximum(starts, 0)
        if function is until_in_the_middle and stop < 0:
            stop = 0
        same(function, starts, stop, step, values, r.choice([7, 99]), np.zeros(4, int))


def test_polls_in_tests_near_the_ends_of_int64():
    high, one, none = 2**63 - 1, np.array([1]), np.zeros(3, int)
    for stop in (high, high - 1, high - 200):
        starts = np.array([high - 300, high - 128, high - 1])
        found = [none.copy() for _ in "ab"]
        njit(until_up)(starts, stop, 1, one, 2, found[0])
        with np.errstate(over="ignore"):
            until_up(starts, stop, 1, one, 2, found[1])
        assert found[0].tolist() == found[1].tolist()
    starts = np.array([-high + 300, -high + 127, -high])
    found = [none.copy() for _ in "ab"]
    njit(until_down)(starts, -high, 1, one, 2, found[0])
    with np.errstate(over="ignore"):
        until_down(starts, -high, 1, one, 2, found[1])
    assert found[0].tolist() == found[1].tolist()


def shift_up(a, out):
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    k = 0
    while a[k] < 50 and out[k] == 0:
        out[k] = a[k] + a[k + 1]
        k += 1


def test_tests_that_load_what_the_body_wants():
    for n in (2, 3, 60, 300):
        a = np.random.default_rng(n).integers(0, 49, n)
        a[-1] = 60
        same(shift_up, a, np.zeros(n, int))
    same(shift_up, np.arange(5), np.zeros(5, int))  # leaves `a`


# -- indices that data bound, and variables that are only set --------------------------------------------


def count_bytes(data, counts):
    for i in range(len(data)):
        counts[data[i]] += 1


def look_up(data, table, out):
    for i in range(len(data)):
        out[i] = table[data[i] & 63] + table[(data[i] >> 3) & 7]


def clamped(a, out, d):
    n = len(a)
    for i in range(len(out)):
        out[i] = a[min(max(i + d, 0), n - 1)] + a[max(min(i - d, n - 1), 0)]


def smallest(a, b, out, first):
    for k in range(len(out)):
        best = first
        for i in range(k, len(a)):
            if best < 0 or a[i] < a[best]:
                best = i
        out[k] = b[best]


def farthest(a, b, out, first):
    for k in range(len(out)):
        row = first
        column = first
        for i in range(len(a)):
            for j in range(len(b)):
                if abs(a[i] - b[j]) > abs(a[row] - b[column]):
                    row = i
                    column = j
        out[k] += a[row] + 2 * b[column] + b[row]


@pytest.mark.parametrize("length", [256, 255, 128, 7, 1, 0])
@pytest.mark.parametrize("most", [255, 7, 6, 0])
def test_bytes_are_indices(length, most):
    data = np.random.default_rng(1).integers(0, most + 1, 300).astype("u1")
    same(count_bytes, data, np.zeros(length, int))
    same(count_bytes, data[:0], np.zeros(length, int))
    same(count_bytes, data.astype("i1"), np.zeros(length, int))


@pytest.mark.parametrize("length", [64, 63, 8, 0])
def test_masks_bound_indices(length):
    table = np.arange(length) * 10
    for low, high in [(-2000, 2000), (0, 8), (-8, 0)]:
        same(look_up, np.random.default_rng(2).integers(low, high, 300), table, np.zeros(300, int))


def test_indices_that_are_held_inside():
    for n in (0, 1, 2, 40):
        for d in (-50, -3, 0, 1, 50):
            same(clamped, np.arange(n) * 3, np.zeros(30, int), d)
            same(clamped, np.arange(n) * 3, np.zeros(0, int), d)


def test_variables_that_are_only_set():
    for n, m in [(0, 0), (0, 3), (1, 1), (5, 5), (5, 4), (5, 9)]:
        a, b = (np.random.default_rng(n + m).integers(0, 9, k) for k in (n, m))
        for first in (-1, 0, 1, 4, 5, -6):
            same(smallest, a, b, np.zeros(n + 1, int), first)
            same(farthest, a, b, np.zeros(2, int), first)


# -- rows that are carried on: what such a loop compares its counter with is the difference of stop and start (ranges.c) -------------


def diffused(a, n):
    h, w = a.shape
    for y in range(h - 1):
        for x in range(1, w - 1):
            a[y, x + 1] += a[y, x] * 3
            a[y + 1, x - 1] += a[y, x]


def shortened(a, n):
    h, w = a.shape
    for y in range(h - 1):
        for x in range(2, w - 5):
            a[y, x + 1] += a[y, x]
            a[y + 1, x] += a[y, x + 1]
        a[y, 0] += 7


def counted_down(a, n):
    h, w = a.shape
    for y in range(h):
        for x in range(w - 3, 0, -1):
            a[y, x - 1] += a[y, x] + x


def to_any_stop(a, n):
    rounds = 0
    for x in range(3, n):
        a[0, x - 2] += a[0, x - 3]
        rounds += 1
    a[0, 0] = rounds


def of_rows_and_back(a, n):
    h, w = a.shape
    last = -1
    for y in range(1, h):
        for x in range(w - 2):
            a[y, x + 1] = a[y, x] + a[y - 1, x + 2]
            last = x
    return last


@pytest.mark.parametrize("function", [diffused, shortened, counted_down, to_any_stop, of_rows_and_back])
@pytest.mark.parametrize("checked", [None, False])
def test_rows_that_are_carried_on(function, checked):
    compiled = njit(boundscheck=checked)(function)
    for h in range(1, 5):
        for w in range(1, 13):
            for n in (-2**63, -2**63 + 2, -5, 0, 3, w):
                a = np.arange(h * w).reshape(h, w) * 5 % 17
                b = a.copy()
                assert function(a, n) == compiled(b, n)
                assert np.array_equal(a, b), (h, w, n)
    for h in (0, 3):
        for w in (0, 2):
            if h * w == 0 and function in (diffused, counted_down, of_rows_and_back):
                assert function(np.zeros((h, w), int), 0) == compiled(np.zeros((h, w), int), 0)


# -- ways that store into the same element (meet.c) ---------------------------------------------------------------------------------


def common(a, b, n):
    for i in range(a.shape[0] - 1):
        for j in range(a.shape[1] - 1):
            if b[i, j] % 3 == b[j % b.shape[0], i % b.shape[1]] % 3:
                a[i + 1, j + 1] = a[i, j] + 1
            else:
                a[i + 1, j + 1] = max(a[i, j + 1], a[i + 1, j])


def three_ways(a, b, n):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            if b[i, j] > 9:
                a[i, j - 1] = b[i, j] * n
            elif b[i, j] > 4:
                a[i, j - 1] = a[i, j] - 1
            else:
                a[i, j - 1] = n


def two_stores(a, b, n):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > b[i, j]:
                a[i, j] = n
                b[i, j] = a[i, j] + 1
            else:
                a[i, j] = b[i, j]
                b[i, j] = n * 2


def into_others(a, b, n):
    for i in range(a.shape[0]):
        for j in range(a.shape[1] - 2):
            if b[i, j] > 5:
                a[i, j + 1] = n
            else:
                a[i, j + 2] = n


def read_again(a, b, n):
    total = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if b[i, j] > 5:
                a[i, j] = n
                total += b[i, j]
            else:
                a[i, j] = j
                total -= a[i, j]
    return total


def may_leave(a, b, n):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if b[i, j] > 5:
                a[i, j] = b[i, j + n // 4]
            else:
                a[i, j] = b[i, j + 1]


@pytest.mark.parametrize("function", [common, three_ways, two_stores, into_others, read_again, may_leave])
def test_ways_that_store_into_the_same_element(function):
    r = np.random.default_rng(5)
    for h, w in ((1, 1), (1, 4), (2, 2), (3, 5), (6, 9)):
        for n in (0, 1, 7):
            for kind in (np.int64, np.int8, np.float32):
                same(function, r.integers(0, 12, (h, w)).astype(kind), r.integers(0, 12, (h, w)), n)


@pytest.mark.parametrize("function", [three_ways, two_stores])
def test_ways_that_store_where_the_other_array_lies(function):
    for shift in (0, 1, 3):
        memory = np.arange(40) * 7 % 13
        want = memory.copy()
        function(want[:30].reshape(5, 6), want[shift:30 + shift].reshape(5, 6), 4)
        njit(function)(memory[:30].reshape(5, 6), memory[shift:30 + shift].reshape(5, 6), 4)
        assert np.array_equal(memory, want)


# -- what is counted in loops whose rounds are numbers (by_rounds in inductive.c), which have none that ask inside (bounds_rounds.c) ------


def means(a, b, n):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            s = 0
            k = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if 0 <= y + dy < h and 0 <= x + dx < w:
                        s += b[y + dy, x + dx] - n
                        k += 1
            a[y, x] = s // k + s % k


def from_below(a, b, n):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            k = -3
            for i in range(2):
                k += 1
                for j in range(3):
                    if b[y, x] > j + n:
                        break
                    k += 2
                else:
                    k += 1
            a[y, x] = 100 // k * 1000 + 100 % k


def as_indices(a, b, n):
    for x in range(a.shape[1]):
        k = 0
        for i in range(4):
            for j in range(i):
                if b[0, x] > j + n:
                    k += 1
        a[0, x] = b[0, k]


def down_again(a, b, n):
    for x in range(a.shape[1]):
        k = 2
        for i in range(3):
            for j in range(2):
                k += 1
            if b[0, x] > n:
                k -= 4
        a[0, x] = b[0, k] + 50 // (k + 20)


@pytest.mark.parametrize("function", [means, from_below, as_indices, down_again])
def test_what_is_counted_in_windows(function):
    r = np.random.default_rng(6)
    for h, w in ((1, 1), (1, 4), (2, 2), (3, 7), (6, 9)):
        for n in (0, 3, 9):
            same(function, np.zeros((h, w), np.int64), r.integers(0, 12, (h, w)), n)


PROGRAMS = int(os.environ.get("QUERN_PROGRAMS", "160")) // 8


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(PROGRAMS)])
def test_random_tables(seed):
    assert windows.differences(windows.program(seed), seed) is None


# -- blocks: ranges by more than one ---------------------------------------------------------------------------------------------------


def sums_of_blocks(a, out):
    h, w = a.shape
    for y in range(0, h, 8):
        for x in range(0, w, 4):
            s = 0.0
            for i in range(8):
                for j in range(4):
                    s += a[y + i, x + j]
            out[y // 8, x // 4] = s


def blocks_from_the_end(a, out):
    n = out.size
    for y in range(n - 1, -1, -8):
        for i in range(8):
            out[y - i] = a[0, 0] + i


@pytest.mark.parametrize("shape", [(16, 8), (8, 4), (24, 12), (0, 4), (16, 0)])
def test_blocks_that_fill_an_array_are_tested_in_front_of_their_loops(shape):
    """Every index lies inside where the blocks fit: the copy of the loop with checks, which starts elsewhere, is not what runs."""
    a, out, want = np.random.default_rng(3).random(shape), np.zeros((4, 4)), np.zeros((4, 4))
    f = njit(sums_of_blocks)
    f(a, out)
    sums_of_blocks(a, want)
    np.testing.assert_array_equal(out, want)
    row, wanted = np.zeros(shape[0] * shape[1]), np.zeros(shape[0] * shape[1])
    if row.size:
        njit(blocks_from_the_end)(a, row)
        blocks_from_the_end(a, wanted)
        np.testing.assert_array_equal(row, wanted)


def test_blocks_that_reach_beyond_an_array():
    with pytest.raises(IndexError):
        njit(sums_of_blocks)(np.ones((17, 8)), np.zeros((4, 4)))
    with pytest.raises(IndexError):
        njit(sums_of_blocks)(np.ones((16, 9)), np.zeros((4, 4)))
    out, want = np.zeros(12), np.zeros(12)
    njit(blocks_from_the_end)(np.ones((1, 1)), out)  # the last block begins at 3: what lies before 0 counts from the end
    blocks_from_the_end(np.ones((1, 1)), want)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(PROGRAMS)])
def test_random_tiles(seed):
    assert tiles.differences(tiles.program(seed), seed) is None


# -- indices that are compared on the way ----------------------------------------------------------------------------------------------


def with_neighbours(a, cost):
    h, w = a.shape
    for y in range(1, h):
        for x in range(w):
            best = cost[y - 1, x]
            if x > 0 and cost[y - 1, x - 1] < best:
                best = cost[y - 1, x - 1]
            if x < w - 1 and cost[y - 1, x + 1] < best:
                best = cost[y - 1, x + 1]
            cost[y, x] = best + a[y, x]


def votes_inside(q, votes, n):
    for i in range(q.size):
        place = q[i] * 2 - n
        if 0 <= place < n:
            votes[place] += 1


def longest(a, b):
    best = 0
    for i in range(a.size):
        for j in range(b.size):
            k = 0
            while i + k < a.size and j + k < b.size and a[i + k] == b[j + k]:
                k += 1
            best = max(best, k)
    return best


def triples(a, out):
    at = made = 0
    n = a.size
    while at + 3 <= n:
        if a[at] == 0 and a[at + 2] == 1:
            while at + 3 <= n:
                x = a[at] + 2 * a[at + 1] + 4 * a[at + 2]
                at += 3
                if x == 0:
                    break
                out[made] = x
                made += 1
        else:
            at += 1
    return made


@pytest.mark.parametrize("check", [True, False])
def test_indices_compared_on_the_way(check):
    r = np.random.default_rng(8)
    for n in (0, 1, 2, 5, 40):
        a, cost = r.random((7, n)), r.random((7, n))
        want = cost.copy()
        with_neighbours(a, want)
        njit(boundscheck=check)(with_neighbours)(a, cost)
        np.testing.assert_array_equal(cost, want)
        q, votes = r.integers(0, 60, 50), np.zeros(n, np.int64)
        want = votes.copy()
        votes_inside(q, want, n)
        njit(boundscheck=check)(votes_inside)(q, votes, n)
        np.testing.assert_array_equal(votes, want)
        x, y, out = r.integers(0, 2, n), r.integers(0, 2, 12), np.zeros(n + 1, np.int64)
        assert njit(boundscheck=check)(longest)(x, y) == longest(x, y)
        want = out.copy()
        assert njit(boundscheck=check)(triples)(x, out) == triples(x, want)
        np.testing.assert_array_equal(out, want)


def test_comparisons_with_more_than_there_is():
    with pytest.raises(IndexError):
        njit(votes_inside)(np.array([5, 10]), np.zeros(9, np.int64), 11)
    votes = np.zeros(9, np.int64)
    njit(votes_inside)(np.array([5, 40, -3, 7]), votes, 10)  # 0 and 4: the array is long enough for these
    assert votes.tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 0]
    with pytest.raises(IndexError):
        njit(with_neighbours)(np.ones((3, 4)), np.ones((3, 3)))


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(PROGRAMS)])
def test_random_guards(seed):
    assert guards.differences(guards.program(seed), seed) is None


# -- ends that are read again in each round ----------------------------------------------------------------


def common(indptr, indices, pairs, out):
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        a = indptr[i]
        b = indptr[j]
        while a < indptr[i + 1] and b < indptr[j + 1]:
            if indices[a] == indices[b]:
                out[k] += 1
                a += 1
                b += 1
            elif indices[a] < indices[b]:
                a += 1
            else:
                b += 1


def nearest(ends, row, x, values):
    p = row
    while p < ends[row + 1] and values[p] < x:
        p += 1
    return p


def moving_end(ends, i):
    p = 0
    while p < ends[i]:
        ends[i] -= 1
        p += 1
    return p


@pytest.mark.parametrize("check", [None, False])
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_ends_that_are_read_again(kind, check):
    r = np.random.default_rng(8)
    rows = [np.unique(r.integers(0, 30, r.integers(0, 12))) for _ in range(12)]
    indptr = np.cumsum([0] + [len(x) for x in rows]).astype(kind)
    indices = np.concatenate(rows).astype(np.int32)
    pairs = np.array([(i, j) for i in range(12) for j in range(12)])
    out, want = np.zeros((2, len(pairs)), np.int64)
    compiled = njit(boundscheck=check)(common)
    compiled(indptr, indices, pairs, out)
    common(indptr, indices, pairs, want)
    np.testing.assert_array_equal(out, want)
    ends = np.array([9, 7, 3], kind)
    assert njit(boundscheck=check)(moving_end)(ends, 0) == 5 and ends[0] == 4
    values = np.arange(20.0)
    for row in (0, 1, -2):
        assert njit(boundscheck=check)(nearest)(ends, row, 4.5, values) == nearest(ends, row, 4.5, values)


def test_ends_that_are_read_again_and_leave_the_array():
    compiled = njit(common)
    indptr, indices = np.array([0, 3, 9]), np.arange(6, dtype=np.int32)
    for pairs in ([[0, 1]], [[1, 1]], [[1, 2]], [[2, 0]]):
        got = []
        for f in (compiled, common):
            out = np.zeros(1, np.int64)
            try:
                f(indptr, indices, np.array(pairs), out)
            except IndexError:
                out[0] += 100
            got.append(out[0])
        assert got[0] == got[1], pairs


def test_flags_that_a_handler_sets_are_read_again():
    def wait(flag):
        n = 0
        while flag[0] < 1:
            n += 1
        return n

    def wait_or_count(flag, n):
        i = 0
        while i < n and flag[0] < flag[1]:
            i += 1
        return i

    flag = np.array([0, 1])
    old = signal.signal(signal.SIGALRM, lambda *_: flag.__setitem__(0, 1))
    try:
        for f, more in ((wait, ()), (wait_or_count, (2**62,))):
            compiled = njit(f)
            flag[0] = 1
            compiled(flag, *more)
            flag[0] = 0
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            assert compiled(flag, *more) > 0
    finally:
        signal.signal(signal.SIGALRM, old)


# -- variables in step with one that is tested, and indices of bits -------------------------------------


def in_fours(data, table, out):
    i = 0
    k = 0
    while i + 2 < len(data):
        v = int(data[i]) << 16 | int(data[i + 1]) << 8 | int(data[i + 2])
        out[k] = table[v >> 18]
        out[k + 1] = table[v >> 12 & 63]
        out[k + 2] = table[v >> 6 & 63]
        out[k + 3] = table[v & 63]
        i += 3
        k += 4
    return k


def from_both_ends(a, out, first, step):
    i = len(a) - 1
    k = first
    while i >= 0:
        out[k] = a[i]
        if a[i] > 7:
            k += 1
        else:
            k += step
        i -= 1
    return k


def squares(a, out, n):
    i = k = s = 0
    while i < n:
        s += a[k * i]
        out[i] = s
        i += 1
        k += 16
    return s


@pytest.mark.parametrize("check", [None, False])
def test_variables_in_step(check):
    data = np.random.default_rng(3).integers(0, 256, 40).astype(np.uint8)
    table = np.arange(64, dtype=np.uint8)
    f = njit(boundscheck=check)(in_fours)
    for n in range(40):
        out, want = np.zeros((2, n // 3 * 4), np.uint8)
        assert f(data[:n], table, out) == in_fours(data[:n], table, want)
        np.testing.assert_array_equal(out, want)
    a = np.arange(12.0)
    for first, step in ((0, 1), (-1, 1), (-12, 1), (3, 1), (0, 2), (-24, 2), (0, 0)):
        out, want = np.zeros((2, 24))
        assert njit(boundscheck=check)(from_both_ends)(a, out, first, step) == from_both_ends(a, want, first, step)
        np.testing.assert_array_equal(out, want)
    out, want = np.zeros((2, 7), np.int64)
    assert njit(boundscheck=check)(squares)(np.arange(600), out, 7) == squares(np.arange(600), want, 7)
    np.testing.assert_array_equal(out, want)


def test_variables_in_step_that_leave_the_array():
    data, table = np.full(30, 255, np.uint8), np.arange(64, dtype=np.uint8)
    for short in range(1, 9):
        out, want = np.zeros((2, 40 - short), np.uint8)
        with pytest.raises(IndexError):
            njit(in_fours)(data, table, out)
        with pytest.raises(IndexError):
            in_fours(data, table, want)
        np.testing.assert_array_equal(out, want)
    with pytest.raises(IndexError):  # what is cut from bits, and a table that is shorter
        njit(in_fours)(data, table[:63], np.zeros(40, np.uint8))
    with pytest.raises(IndexError):
        njit(from_both_ends)(np.arange(12.0), np.zeros(12), 1, 1)


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(PROGRAMS)])
def test_random_steps(seed):
    assert steps.differences(steps.program(seed), seed) is None


def ring(end, n):
    head = 0
    while head < end[0]:
        head += 1
        if head == n:
            head = 0
    return head


def pauses(end, n):
    pause = 1
    while pause < end[0]:
        pause *= 2
        if pause > n:
            pause = 1
    return pause


def to_and_fro(end, n):
    i, d = 0, 1
    while i < end[0]:
        i += d
        if i == n:
            d = -1
        if i == 0:
            d = 1
    return i


def backwards(end, n):
    i = n
    while end[0] < i + 100:
        i = i - 1 if i > 0 else n
    return i


@pytest.mark.parametrize("f, first, then", [(ring, 5000, 0), (pauses, 5000, 0), (to_and_fro, 5000, 0), (backwards, 0, 5000)])
def test_ends_that_a_handler_moves_are_read_again_where_the_loop_does_not_end_by_itself(f, first, then):
    end, calls = np.array([then]), []

    def handler(*_):
        calls.append(1)
        if len(calls) > 1:
            raise TimeoutError("the loop goes on")
        end[0] = then

    compiled = njit(f)
    compiled(end, 99)
    end[0] = first
    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2, 3)
        compiled(end, 99)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert calls == [1]
