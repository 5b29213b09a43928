"""Variables that keep what they were given, as indices (codegen/opt/inductive.c: by_choice, bounds_interval.c: of_chosen): `best = 0; for i in range(1, n):
if a[i] < a[best]: best = i`. Results, exceptions and what was stored before them are CPython's, whatever the lengths."""
import os
import random

import numpy as np
import pytest
from quern import njit


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


class Programs:
    """Random loops whose variables are given numbers, counters, each other, and rarely sums."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.counters = []

    def given(self):
        r = self.random
        plain = ["0", "1", "-1", "2", "s", "n - 1", "len(a) - 1", "p", "q", "u"] + self.counters * 6
        return r.choice(plain) + r.choice([""] * 12 + [" + 1", " - 1", " * 2", " // 2"])

    def index(self):
        return self.random.choice(["p", "q", "u", "p", "q", "u", "p + 1", "q - 1", *self.counters])

    def condition(self):
        r = self.random
        c = self.counters[-1]
        return r.choice([f"c[({c} * 7 + {r.randrange(9)}) % 16] > {r.randrange(2, 6)}", f"a[{self.index()}] < a[{self.index()}]",
                         f"{self.index()} < {self.given()}", f"{r.choice('pqu')} >= 0 and a[{r.choice('pqu')}] > 2", f"{r.choice('pqu')} < 0 or a[{r.choice('pqu')}] > 4",
                         f"{r.choice('pqu')} == -1 or b[{r.choice('pqu')}] < a[{c}]"])

    def statement(self, indent, depth):
        r = self.random
        kind = r.randrange(10)
        if kind < 3:
            self.lines.append(f"{indent}{r.choice('pqu')} = {self.given()}")
        elif kind < 4:
            x, y = r.sample("pqu", 2)
            self.lines.append(f"{indent}{x}, {y} = {y}, {self.given()}")
        elif kind < 7 and depth < 4:
            self.lines.append(f"{indent}if {self.condition()}:")
            self.statement(indent + "    ", depth + 1)
            if r.random() < 0.3:
                self.lines.append(f"{indent}else:")
                self.statement(indent + "    ", depth + 1)
        elif kind == 7 and len(self.counters) < 3:
            self.loop(indent, depth)
        else:
            self.lines.append(f"{indent}" + r.choice([f"x += a[{self.index()}]", f"x += b[{self.index()}] * 2", f"b[{self.index()}] = x", f"a[{self.index()}] = a[{self.index()}]"]))

    def loop(self, indent, depth):
        r = self.random
        name = "ijk"[len(self.counters)]
        stop = r.choice(["n", "m", "len(a)", "len(b)", "n - 1", "3", *self.counters])
        start = r.choice(["0", "0", "1", "s", *[f"{c} + 1" for c in self.counters]])
        steps = r.choice([f"{start}, {stop}", f"{start}, {stop}", f"{stop} - 1, {start} - 1, -1", f"{start}, {stop}, 2"])
        self.lines.append(f"{indent}for {name} in range({steps}):")
        self.counters.append(name)
        for _ in range(r.randrange(2, 5)):
            self.statement(indent + "    ", depth + 1)
        self.counters.pop()

    def source(self):
        r = self.random
        first = [r.choice(["0", "0", "-1", "s", "1", "n - 1"]) for _ in range(3)]
        self.lines.append(f"    p, q, u, x = {', '.join(first)}, 0")
        self.loop("    ", 0)
        self.counters = ["n"]
        self.statement("    ", 4)
        return "def f(a, b, c, n, m, s):\n" + "\n".join(self.lines) + "\n    return x * 1000 + p * 100 + q * 10 + u\n"


PROGRAMS = int(os.environ.get("QUERN_PROGRAMS", "160")) // 4


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(PROGRAMS)])
def test_random_programs(seed):
    source = Programs(seed).source()
    names = {}
    exec(source, names)
    compiled = njit(names["f"])
    numbers = random.Random(seed)
    for _ in range(40):
        lengths = numbers.choice([(4, 4), (6, 3), (1, 2), (0, 3), (2, 0), (7, 7), (5, 6)])
        n, m, s = numbers.randrange(-1, 9), numbers.randrange(-1, 8), numbers.randrange(-2, 4)
        a, b = (np.array([numbers.randrange(9) for _ in range(k)], np.int64) for k in lengths)
        c = np.arange(16) * 5 % 8
        with np.errstate(over="ignore"):
            same(names["f"], compiled, lambda: (a.copy(), b.copy(), c.copy(), n, m, s))
