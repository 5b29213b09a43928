"""Index checks and wraparounds that the compiler proves needless, or asks once in front of a loop nest: a wrong proof is
a read or a write outside an array. Every function here runs in CPython and compiled, with operands known only at run
time, on arrays that lie inside larger ones, whose margins must stay as they were."""
import functools
import random

import numpy as np
import pytest
from quern import njit

MARGIN, MARK = 64, -77.0
HUGE = 2**63 - 1


def inside(values, step=1):
    """A copy of `values` with margins round it: (view, everything)."""
    shape = values.shape
    whole = np.full([2 * MARGIN + n * abs(step) for n in shape[:1]] + [n + 2 * MARGIN for n in shape[1:]], MARK)
    window = whole[MARGIN:MARGIN + shape[0] * abs(step):abs(step)]
    for axis in range(1, values.ndim):
        window = window[(slice(None),) * axis + (slice(MARGIN, MARGIN + shape[axis]),)]
    if step < 0:
        window = window[::-1]
    window[...] = values
    return window, whole


def outcome(call, args, step):
    pairs = [inside(a, step) if isinstance(a, np.ndarray) and step else (a.copy() if isinstance(a, np.ndarray) else a, None)
             for a in args]
    try:
        result = call(*(p[0] for p in pairs))
    except (IndexError, ZeroDivisionError) as error:
        result = type(error)
    return result, [p[0].copy() for p in pairs if isinstance(p[0], np.ndarray)], [p[1] for p in pairs if p[1] is not None]


def agree(expected, found):
    assert expected[0] == found[0] or expected[0] != expected[0], (expected[0], found[0])
    for a, b in zip(expected[1] + expected[2], found[1] + found[2]):
        assert np.array_equal(a, b)


@functools.lru_cache(None)
def compiled(function, opt, unchecked):
    return njit(opt=opt, boundscheck=False if unchecked else None)(function)


def check(function, *args, opts=(0, 3), steps=(0, 1, 2, -1)):
    """CPython and compiled code do the same: checked, and (where no index is wrong) unchecked. Step 0: contiguous."""
    for opt in opts:
        checked, unchecked = (compiled(function, opt, off) for off in (False, True))
        for step in steps:
            expected = outcome(function, args, step)
            agree(expected, outcome(checked, args, step))
            if expected[0] is not IndexError:
                agree(expected, outcome(unchecked, args, step))
    return expected[0]


def compiled_raises(function, *args):
    """Where int64 wraps, CPython is no oracle: a negative index far outside is an IndexError, and nothing is touched."""
    for opt in (0, 3):
        found = outcome(compiled(function, opt, False), args, 1)
        assert found[0] is IndexError
        for whole in found[2]:
            whole[MARGIN:-MARGIN] = MARK
            assert (whole == MARK).all()


A = np.arange(1.0, 9.0)


def walk(a, start, limit, step):
    j = start
    while j < limit:
        a[j] += 1.0
        j += step
    return j


@pytest.mark.parametrize("start", [0, 1, 7, 8, -1, -8, -9, 2**62, -2**62])
@pytest.mark.parametrize("limit", [0, 8, 9, 3, -1, -HUGE])
@pytest.mark.parametrize("step", [1, 3, 2**57, 2**62])
def test_BND_while(start, limit, step):
    if -100 < start or limit < start:
        check(walk, A, start, limit, step, opts=(3,), steps=(1,))


def test_BND_while_at_both_levels():
    for start, limit, step in [(0, 8, 1), (0, 9, 1), (-1, 8, 2), (5, 5, 1), (7, 8, 2**62), (0, HUGE, 1), (2, 8, HUGE)]:
        if start + step <= HUGE:
            check(walk, A, start, limit, step)
    check(walk, np.zeros(0), 0, 0, 1)
    check(walk, np.zeros(0), 0, 1, 1)


@pytest.mark.parametrize("start,limit,step", [(1, 8, HUGE), (7, 8, 2**63 - 4), (0, HUGE, 2**62), (4, HUGE, HUGE - 3)])
def test_BND_counters_that_wrap(start, limit, step):
    """The sum wraps to far below zero, which is below the limit: the next round is out of bounds."""
    compiled_raises(walk, A, start, limit, step)


def walk_back(a, start, limit, step):
    j = start
    while j >= limit:
        a[j] += 1.0
        j -= step
    return j


@pytest.mark.parametrize("start", [7, 8, 0, -1, -3, 2**62])
@pytest.mark.parametrize("limit", [0, 1, -1, -2, -9, 9])
@pytest.mark.parametrize("step", [1, 3, 2**57])
def test_BND_while_downwards(start, limit, step):
    check(walk_back, A, start, limit, step, opts=(3,), steps=(1,))


def test_BND_downwards_that_wraps():
    compiled_raises(walk_back, A, 4, -HUGE, HUGE)


def own_length(a):
    i = 0
    s = 0.0
    while i < a.shape[0]:
        s += a[i]
        a[i] = s
        i += 1
    return s


def neighbours(a):
    s = 0.0
    for i in range(1, a.shape[0] - 1):
        s += a[i - 1] * a[i + 1] - a[i]
        a[i] = s
    return s


def one_too_far(a):
    s = 0.0
    for i in range(1, a.shape[0]):
        s += a[i - 1] * a[i + 1]
    return s


def around(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i - 1] * i
        a[i - 1] = s
    return s


def around_too_far(a):
    s = 0.0
    for i in range(a.shape[0] - 1):
        s += a[i - 2] * i
        a[i - 3] = s
    return s


def triangle(a):
    s = 0.0
    n = a.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            s += a[i] * a[j]
            a[j] += 1.0
    return s


def backwards(a):
    s = 0.0
    for i in range(a.shape[0] - 1, -1, -1):
        s = s * 0.5 + a[i]
        a[i] = s
    return s


def every_second(a):
    s = 0.0
    for i in range(0, a.shape[0], 2):
        s += a[i]
        a[i] = s
    for i in range(1, a.shape[0], 3):
        s += a[i - 1]
    return s


def insertion(a):
    for i in range(1, a.shape[0]):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


def binary(a, key=5.5):
    low, high = 0, a.shape[0]
    while low < high:
        middle = (low + high) // 2
        if a[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


def sieve(a):
    n = a.shape[0]
    i = 2
    while i * i < n:
        if a[i] != 0.0:
            j = i * i
            while j < n:
                a[j] = 0.0
                j += i
        i += 1
    return n


def limit_moves(a):
    """The limit grows and shrinks inside the loop."""
    n = a.shape[0]
    i = 0
    while i < n:
        a[i] += n
        if a[i] > 9.0:
            n -= 1
        i += 1
    n = 3
    i = 0
    while i < n:
        if n < a.shape[0]:
            n += 2
        a[i] += n
        i += 1
    return n


def another_array(a):
    s = 0.0
    for k in range(3):
        i = 0
        while i < a.shape[0]:
            s += a[i]
            i += 1
        if k == 1 and a.shape[0] > 2:
            a = a[2:]
    return s


def on_the_way(a):
    s = 0.0
    for i in range(20):
        if i > 1 and i < a.shape[0]:
            s += a[i] + a[i - 2]
        if not (i >= a.shape[0] or i == 0):
            s += a[i - 1]
        if i + 2 < a.shape[0]:
            s -= a[i + 2]
    return s


def reset(a):
    j = 0
    for _ in range(20):
        if j >= a.shape[0]:
            j = 0
        if a.shape[0] > 0:
            a[j] += 1.0
        j += 1
    return j


def made_here(a):
    n = a.shape[0]
    b = np.zeros(n + 1)
    for i in range(n):
        b[i + 1] = b[i] + a[i]
    return b[n]


def strong_bits(a):
    for i in range(20):
        if (i > 0) & (i < a.shape[0]):
            a[i - 1] += a[i]


def leaves(a, n=9):
    """Two ways out, and nothing that is carried."""
    for i in range(n):
        a[i] += 1.0
        if a[i] > 9.0:
            break
    else:
        a[0] = 7.0


@pytest.mark.parametrize("function", [own_length, neighbours, one_too_far, around, around_too_far, triangle, backwards,
                                      every_second, insertion, binary, sieve, limit_moves, another_array,
                                      on_the_way, reset, made_here, strong_bits, leaves])
def test_BND_own_axis(function):
    for n in (0, 1, 2, 3, 8, 17):
        check(function, np.arange(1.0, n + 1.0) * 1.5)


def stencil(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


def grid_while(a, out):
    i = 0
    while i < a.shape[0]:
        j = 1
        while j < a.shape[1]:
            out[i, j] = a[i, j - 1] + j
            j += 2
        i += 1


@pytest.mark.parametrize("function", [stencil, grid_while])
def test_BND_two_axes(function):
    for shape in [(0, 0), (0, 3), (1, 1), (2, 5), (5, 2), (4, 6)]:
        for other in [shape, (shape[0] + 1, shape[1]), (shape[0], max(shape[1] - 2, 0)), (max(shape[0] - 2, 0), shape[1])]:
            a = np.arange(float(shape[0] * shape[1])).reshape(shape)
            check(function, a, np.zeros(other), opts=(3,), steps=(0, 1, -1))


def shifted(a, b, first, last, shift, step):
    for i in range(first, last, step):
        a[i] = b[i + shift] + i
        b[i * 2 - i] += 1.0


@pytest.mark.parametrize("step", [1, 2, -1, -3])
@pytest.mark.parametrize("shift", [0, 1, -1, -9, 2**60])
def test_BND_runtime_ranges(step, shift):
    for first, last in [(0, 8), (1, 9), (7, -1), (8, 0), (-3, 3), (0, 0), (-9, 0), (5, 2**62)]:
        check(shifted, A, A[::-1].copy(), first, last, shift, step, opts=(3,), steps=(1,))


def flat(a, rows, columns):
    s = 0.0
    for i in range(rows):
        for j in range(columns):
            s += a[i * columns + j]
    return s


@pytest.mark.parametrize("rows,columns", [(2, 4), (0, 5), (3, 3), (1, 9), (4, -1), (-2, 3), (1, 2**62)])
def test_BND_products(rows, columns):
    check(flat, A, rows, columns, opts=(3,), steps=(1,))


def flat_of_axes(a, b, c):
    """rows * 3 wraps to a negative number, which a sum of lengths never seems to be."""
    wide = b.shape[0] * 3
    s = 0.0
    for i in range(c.shape[0]):
        s += a[wide * i]
    return s


def test_BND_lengths_that_wrap():
    endless = np.broadcast_to(np.int8(1), (2**62,))
    call = compiled(flat_of_axes, 3, False)
    whole = np.full(4096, MARK)
    assert call(whole[2048:2056], endless[:1], np.zeros(2)) == MARK + MARK
    with pytest.raises(IndexError):
        call(whole[2048:2056], endless, np.zeros(2))


def jumps(a, limit, step, rounds):
    j = 0
    for _ in range(rounds):
        if j < limit:
            a[j] += 1.0
        j += step


def test_BND_a_variable_that_is_tested_too_late():
    """Where the sum is formed, nothing bounds it: it comes round after 128 rounds."""
    check(jumps, A, 8, 3, 9)
    check(jumps, A, 9, 2, 9)
    compiled_raises(jumps, A, 8, 2**56, 200)


@pytest.mark.parametrize("start,limit,step", [(5, 8, -3), (0, 8, -1), (7, 8, -8)])
def test_BND_steps_down_to_the_end(start, limit, step):
    assert check(walk, A, start, limit, step) is IndexError


def product_of_axes(a, b, c):
    k = b.shape[0] * c.shape[0]
    if k < a.shape[0]:
        a[k] = 1.0


def three_times_an_axis(a, b, c):
    k = b.shape[0] * 3
    if k < a.shape[0]:
        a[k] = 1.0


@pytest.mark.parametrize("function", [product_of_axes, three_times_an_axis])
def test_BND_products_of_lengths_that_wrap(function):
    endless = np.broadcast_to(np.int8(1), (2**62,))
    for opt in (0, 3):
        compiled(function, opt, False)(np.zeros(8), endless[:2], np.zeros(3))
        a = np.zeros(8)
        with pytest.raises(IndexError):
            compiled(function, opt, False)(a, endless, np.zeros(3))
        assert not a.any()


def remainder(a, i, k):
    if k >= 0 and k <= a.shape[0]:
        a[i % k] += 1.0


def test_BND_remainder_of_zero():
    """With NumPy's rules i % 0 is 0, which no array of length 0 has."""
    for opt in (0, 3):
        call = njit(error_model="numpy", opt=opt)(remainder)
        whole = np.full(9, MARK)
        call(whole[2:7], 8, 5)
        assert whole[5] == MARK + 1.0
        with pytest.raises(IndexError):
            call(whole[4:4], 8, 0)
        assert (whole[4], whole[5]) == (MARK, MARK + 1.0)


# -- programs made at random ---------------------------------------------------------------------------------------


class Maker:
    """Nests of loops over a (8 items), b (m items), c (two axes) that end after a few rounds."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.names = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def bound(self, scope):
        return self.pick("a.shape[0]", "b.shape[0]", "c.shape[0]", "c.shape[1]", "n", "m", "n - 1", "a.shape[0] - 1", "b.shape[0] - 2",
                         "a.shape[0] + k", "3", *[f"{v} + 2" for v in scope[-1:]], *scope[-1:])

    def start(self, scope):
        return self.pick("0", "0", "1", "2", "k", "-1", "n - 3", *[f"{v} + 1" for v in scope[-1:]], *scope[-1:])

    def index(self, scope):
        v, w = self.random.choice(scope), self.random.choice(scope)
        return self.pick(v, v, v, f"{v} - 1", f"{v} + 1", f"{v} - 2", f"{v} + k", f"{v} + {w}", f"{v} - {w}", f"{v} * 2", f"{v} // 2",
                         f"n - 1 - {v}", f"a.shape[0] - 1 - {v}", f"({v} + 1) % b.shape[0]", f"{v} & 3", f"{v} >> 1",
                         f"({v} if {v} > {w} else {w})", f"min({v}, {w})", f"max({v}, 0)", f"{v} * {w}", f"{v} % 4", "-1", "0", "k")

    def access(self, depth, scope):
        pad = "    " * depth
        one, two = self.index(scope), self.index(scope)
        target = self.pick(f"a[{one}]", f"a[{one}]", f"b[{one}]", f"c[{one}, {two}]", f"c[{two}, {one}]")
        test = self.pick("", "", "", f"if {self.index(scope)} < {self.bound(scope)}:", f"if {self.index(scope)} >= 0:")
        if test:
            self.lines.append(pad + test)
            pad += "    "
        self.lines.append(pad + self.pick(f"{target} += {depth}.5", f"s += {target}", f"{target} = s"))

    def body(self, depth, scope):
        for _ in range(self.random.randint(1, 2)):
            if depth < 4 and self.random.random() < 0.4:
                self.loop(depth, scope)
            else:
                self.access(depth, scope)

    def loop(self, depth, scope):
        pad, v = "    " * depth, f"v{self.names}"
        self.names += 1
        kind = self.random.random()
        if kind < 0.5:
            step = self.pick("", "", "", ", 2", ", -1", ", st")
            start, stop = self.start(scope), self.bound(scope)
            if step == ", -1":
                start, stop = self.bound(scope), self.pick("-1", "0", "k", start)
            self.lines.append(f"{pad}for {v} in range({start}, {stop}{step}):")
            self.body(depth + 1, scope + [v])
            return
        up = kind < 0.85
        step = self.pick("1", "1", "2", "st", *scope[-1:])
        start = self.start(scope) if up else self.bound(scope)
        t = "t" + v
        self.lines += [f"{pad}{v} = {start}", f"{pad}{t} = 0"]
        test = f"{v} < {self.bound(scope)}" if up else f"{v} >= {self.pick('0', '1', 'k')}"
        limit = self.pick("", f" and {t} < 9") if step in "12" else f" and {t} < 9"
        self.lines.append(f"{pad}while {test}{limit}:")
        early = self.random.random() < 0.2
        change = [f"{pad}    {v} {'+' if up else '-'}= {step}", f"{pad}    {t} += 1"]
        if early:
            self.lines += change
        self.body(depth + 1, scope + [v])
        if not early:
            self.lines += change

    def function(self):
        self.lines = ["def f(a, b, c, n, m, k, st):", "    s = 0.0"]
        self.loop(1, [])
        if self.random.random() < 0.3:
            self.loop(1, [])
        self.lines.append("    return s")
        namespace = {}
        exec("\n".join(self.lines), namespace)
        return namespace["f"]


def try_program(seed):
    maker = Maker(seed)
    function = maker.function()
    checked, unchecked = njit(function), njit(boundscheck=False)(function)
    rng = maker.random
    for _ in range(8):
        la, lb, shape = rng.choice([0, 1, 5, 8]), rng.choice([0, 2, 8, 9]), rng.choice([(3, 4), (8, 8), (0, 2), (9, 1)])
        args = (np.arange(float(la)), np.arange(float(lb)), np.ones(shape), rng.choice([0, 1, 3, 8, 9]), rng.choice([0, 5, 8, -1]),
                rng.choice([0, 1, -1, 2, -3]), rng.choice([1, 2, 3, -1]))
        step = rng.choice([0, 1, -1])
        expected = outcome(function, args, step)
        try:
            agree(expected, outcome(checked, args, step))
            if expected[0] is not IndexError:
                agree(expected, outcome(unchecked, args, step))
        except AssertionError as error:
            raise AssertionError("\n".join([*maker.lines, repr(args), str(step)])) from error


@pytest.mark.parametrize("seed", range(60))
def test_BND_random_programs(seed):
    try_program(seed)


# -- strips of while loops -----------------------------------------------------------------------------------------


def rounds(start, limit, step):
    j, n = start, 0
    if j < limit:
        while True:
            j += step
            n += j & 3
            if not j < limit:
                break
    return n


def rounds_to(start, limit, step):
    j, n = start, 0
    while j <= limit:
        j += step
        n += j & 3
    return n


def wrapping(test, start, limit, step):
    j, n = start, 0
    while test(j, limit):
        j = (j + step + 2**63) % 2**64 - 2**63
        n += j & 3
    return n


@pytest.mark.parametrize("start,limit,step", [
    (0, 10, 1), (0, 65536, 1), (0, 65537, 1), (0, 200_000, 1), (0, 200_000, 3), (5, 5, 1), (6, 5, 1), (-200_000, -1, 1), (-9, 9, 2**40),
    (0, 65536 * 7, 7), (-HUGE - 1, -HUGE + 100_000, 1), (HUGE - 100_000, HUGE - 1, 1), (0, HUGE - 2**58, 2**46), (0, 5, -2**47 - 1),
    (0, 5, -2**60), (0, 2, -2**46), (0, -HUGE, HUGE), (-HUGE, HUGE - 5, HUGE), (0, HUGE - 2**58, 2**45 + 2**57 + 3),
    (0, HUGE - 2**50, 2**50 + 12345), (5, HUGE - 2**56, 7 * 2**55 + 1)])
def test_BND_strips_run_every_round(start, limit, step):
    for function, test in (rounds, int.__lt__), (rounds_to, int.__le__):
        expected = wrapping(test, start, limit, step)
        for opt in (0, 1, 3):
            assert compiled(function, opt, False)(start, limit, step) == expected


def leap(a, limit):
    j = 0
    while j < limit:
        if j < a.shape[0]:
            a[j] += 1.0
        j += 4611686018427387904


def leap_back(a, limit):
    j = 4
    while j >= limit:
        if j >= 0:
            a[j] += 1.0
        j -= 4611686018427387904


def leap_twice(a, limit):
    for i in range(limit):
        if i + HALF < a.shape[0]:
            a[i + HALF] += 1.0


def runs_off(a, rounds):
    if 0 < a.shape[0]:
        j = 0
        for _ in range(rounds):
            a[j] += 1.0
            j += 1


@pytest.mark.parametrize("n", [0, 1, 8, 9, 20])
def test_BND_growth_is_no_hypothesis(n):
    check(runs_off, A, n)


def kept(a, out, start, first):
    """Counts no faster than the loop: `k` stays below the rounds, which `out` may be too short for."""
    k = 0
    for i in range(first, len(a)):
        if a[i] > start:
            out[k] = a[i]
            k += 1
    return k


def kept_in_both_ways(a, out, start, first):
    k = -1
    for i in range(first, len(a)):
        if a[i] > start:
            if i > 3:
                continue
            k += 1
        if a[i] < 4.0:
            out[k] += a[i]
    return k


def kept_too_fast(a, out, start, first):
    """By two in some rounds, from above the first one, and once more behind the loop."""
    k, j = 0, 1
    for i in range(first, len(a)):
        if a[i] > start:
            out[k] += a[i]
            out[j] += 1.0
            k += 1
            if i != 5:
                k += 1
            j += 1
    out[j] += 1.0
    return k


def kept_in_rows(a, out, start, first):
    k = 0
    for i in range(first, len(a)):
        for j in range(i):
            if a[i] > start:
                out[k] += a[j]
                k += 1
    return k


@pytest.mark.parametrize("function", [kept, kept_in_both_ways, kept_too_fast, kept_in_rows])
@pytest.mark.parametrize("start", [-1.0, 2.5, 9.0])
def test_BND_counts_of_what_is_kept(function, start):
    results = {check(function, A, np.zeros(size), start, first) for size in (0, 1, 3, 5, 8, 9, 17, 40) for first in (0, 1, 7, 9)}
    assert IndexError in results or start == 9.0
    assert len(results) > 1 or start == 9.0


def shrinking(a):
    """What is below the axis of one round's array is not below that of the next."""
    j = -1
    for _ in range(4):
        if j >= 0:
            a[j] += 1.0
        j = a.shape[0] - 1
        if a.shape[0] > 1:
            a = a[:a.shape[0] // 2]
    return j


def test_BND_array_that_changes():
    assert check(shrinking, A) is IndexError
    assert check(shrinking, A[:1]) == 0


def weak_lt(a):
    for i in range(20):
        if i < a.shape[0]:
            a[i + 1] += 1.0


def weak_le(a):
    for i in range(20):
        if i <= a.shape[0]:
            a[i] += 1.0


def weak_not_gt(a):
    for i in range(20):
        if not i > a.shape[0]:
            a[i] += 1.0


def weak_not_ge(a):
    for i in range(20):
        if not i >= a.shape[0]:
            a[i + 1] += 1.0


def weak_or(a):
    for i in range(20):
        if i < 3 or i < a.shape[0]:
            a[i] += 1.0


def weak_and(a):
    for i in range(20):
        if not (i >= a.shape[0] and i > 9):
            a[i] += 1.0


def weak_bits(a):
    for i in range(20):
        if (i < 3) | (i < a.shape[0]):
            a[i] += 1.0


def weak_arms(a):
    n = a.shape[0]
    for i in range(20):
        j = i if i > n - 1 else n - 1
        a[j] += 1.0


def weak_minus(a):
    for i in range(a.shape[0]):
        for j in range(-3, 3):
            if j <= i:
                a[i - j] += 1.0


@pytest.mark.parametrize("function", [weak_lt, weak_le, weak_not_gt, weak_not_ge, weak_or, weak_and, weak_bits, weak_arms, weak_minus])
def test_BND_tests_that_are_too_weak(function):
    for n in (0, 1, 2, 8):
        raised = check(function, np.arange(float(n)), steps=(1, -1))
        assert raised is IndexError or n not in (1, 2)


def low_gt(a, b):
    for i in range(-4, 4):
        if i > -2:
            a[i] += 1.0 + i


def low_ge(a, b):
    for i in range(-4, 4):
        if i >= -1:
            a[i] += 1.0 + i


def low_not_lt(a, b):
    for i in range(-4, 4):
        if not i < -1:
            a[i] += 1.0 + i


def low_not_le(a, b):
    for i in range(-4, 4):
        if not i <= -2:
            a[i] += 1.0 + i


def low_differences(a, b):
    for i in range(4):
        for j in range(4):
            if j <= i + 1:
                a[i - j] += 1.0 + i


def low_steps(a, b):
    for i in range(4):
        for j in range(-3, 3):
            a[i - j] += 1.0 + i
            a[i + j] += 1.0 + j


def low_products(a, b):
    for i in range(-2, 3):
        for j in range(3):
            a[i * j] += 1.0 + i
            a[i // 2] += 0.5
            a[i % 5] += 0.25
            a[i % -3] += 0.25
            a[i & 3] += 0.125
            a[i & -2] += 0.125
            a[i >> 1] += 0.125


def low_remainders(a, b):
    for i in range(1, 20):
        a[i % (b.shape[0] + 1)] += 1.0
        a[(i * 7) % a.shape[0]] += 1.0


@pytest.mark.parametrize("function", [low_gt, low_ge, low_not_lt, low_not_le, low_differences, low_steps, low_products, low_remainders])
def test_BND_indices_below_zero(function):
    for n in (7, 8, 9):
        check(function, np.arange(float(n)), np.zeros(n - 1))


HALF = HUGE - 1


def test_BND_sums_that_wrap():
    compiled_raises(leap, A, HUGE)
    compiled_raises(leap_back, A, -HUGE)
    compiled_raises(leap_twice, A, 4)


def squares(a, n, m):
    for i in range(n):
        a[i * m * m] += 1.0


def thousands(a, n, m):
    for i in range(n):
        a[i * 512 * 512 * 512] += 1.0


def thousand_rows(a, n, m):
    for i in range(n):
        a[i * 1023 * m] += 1.0


@pytest.mark.parametrize("function,n,m", [(squares, 2**16 + 1, 2**24), (thousands, 2**40 + 1, 0), (thousand_rows, 2**27 - 1, 2**27 - 1)])
def test_BND_products_of_products_that_wrap(function, n, m):
    """The last index wraps into the array, or below zero; the second one is far outside."""
    compiled_raises(function, A, n, m)
    check(function, A, 1, m)
    check(function, A, 8 if function is squares else 1, 1)


def stacked(a, b):
    for i in range(2):
        for j in range(3):
            for k in range(b):
                a[(i * 3 + j) * b + k] += i + 10.0 * j + 100.0 * k


def test_BND_products_of_products():
    for n in (8, 5, 4, 0):
        check(stacked, np.arange(24.0), n)
    check(stacked, np.arange(24.0), 4)


def sawtooth(a, after, c):
    back = after
    if c > 0:
        a[0] = 2.0
        back = after + 1
    j = 0
    n = 0
    while j < a.shape[0]:
        a[j] += 1.0
        n += 1
        if n == 3:
            j = back
        else:
            j += 1
    return n


def test_BND_a_variable_set_to_a_value_from_before_the_loop():
    for after in (0, 3, 7, 8, -1, -9):
        for c in (0, 1):
            check(sawtooth, A, after, c)


def shifted_by_product(a, b):
    return 1 << (a.shape[0] * b.shape[0])


def test_BND_a_product_that_wraps_is_a_negative_shift_count():
    rows, columns = np.broadcast_to(np.int8(1), (2**32,)), np.broadcast_to(np.int8(1), (2**31,))
    for opt in (0, 3):
        assert njit(opt=opt)(shifted_by_product)(rows[:2], columns[:3]) == 64
        with pytest.raises(ValueError, match="negative shift count"):
            njit(opt=opt)(shifted_by_product)(rows, columns)


def constant_length(a, n):
    t = (1.0, 2.0, 3.0, 4.0)
    s = 0.0
    for i in range(5):
        a[i] += 1.0
        s += t[i] * a[i]
    return s


def constant_length_that_fits(a, n):
    t = (1.0, 2.0, 3.0, 4.0)
    s = 0.0
    for i in range(4):
        a[i] += 1.0
        s += t[i] * a[i]
    return s


def test_BND_axes_of_constant_length():
    """The last index is the length: no test in front of the nest lets it pass."""
    for n in (8, 5, 4, 3):
        assert check(constant_length, np.arange(float(n)), n) is IndexError
        assert (check(constant_length_that_fits, np.arange(float(n)), n) is IndexError) == (n == 3)


def from_the_end(a, out, n, k):
    for i in range(n):
        out[i] = a[-1 - i]
        out[i] += a[-k - 2 * i]
    return a.shape[0]


@pytest.mark.parametrize("n", [0, 1, 4, 5, 8, 9])
@pytest.mark.parametrize("k", [1, 2, 8, 9, 0, -3])
def test_BND_indices_that_are_always_negative(n, k):
    check(from_the_end, A, np.zeros(8), n, k, opts=(3,), steps=(0, 1, -1))
    check(from_the_end, A, np.zeros(8), n, k, opts=(0,), steps=(1,))


def rows(pointers, columns, values, x, y):
    """Ends of rows and columns are read from arrays."""
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(int(pointers[i]), int(pointers[i + 1])):
            s += values[k] * x[int(columns[k])]
        y[i] = s
    return 0


@pytest.mark.parametrize("pointers", [[0, 2, 5, 8], [0, 0, 8, 8], [0, 3, 1, 9], [-2, 3, 5, 8], [5, -3, 4, 8], [0, 8, 2**62, 3], [-9, 0, 1, 2],
                                      [2, 5, -2**62, 4], [2**62, 0, 2**62, 2**62]], ids=str)
def test_BND_rows_whose_ends_are_read(pointers):
    if max(b - a for a, b in zip(pointers, pointers[1:], strict=False)) > 100:
        pointers = [min(p, 40) for p in pointers]
    for columns in ([0, 1, 2, 3, 4, 5, 6, 7], [-1, 7, -8, 0, 3, 3, 2, 1], [0, 1, 8, 3, 4, 5, 6, 7], [0, 1, -9, 3, 4, 5, 6, 7]):
        check(rows, np.array(pointers, float), np.array(columns, float), A, A * 3, np.zeros(3), opts=(3,), steps=(0, 1))


def downwards_to_what_is_read(best, weights, values):
    top = best.shape[0] - 1
    for i in range(weights.shape[0]):
        for w in range(top, int(weights[i]) - 1, -1):
            best[w] = max(best[w], best[w - int(weights[i])] + values[i])
    return best[top]


@pytest.mark.parametrize("weights", [[1, 2, 3], [8, 9, 7], [0, 1, 2], [3, -1, 2], [2, -8, 1], [2, -9, 1], [2**60, 2**62, 1]], ids=str)
def test_BND_ranges_that_end_at_what_is_read(weights):
    check(downwards_to_what_is_read, np.arange(8.0) % 3, np.array(weights, float), np.array([2.0, 5.0, 3.0]), opts=(3,), steps=(0, 1))
