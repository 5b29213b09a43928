"""Random loops whose variables keep what they were given, as indices (codegen/opt/inductive.c: by_choice, bounds_interval.c: of_chosen), against CPython:
`best = 0; for i in range(1, n): if a[i] < a[best]: best = i`. Arrays lie between guard pages, whose access kills the process."""
import functools
import random
from dataclasses import dataclass

import numpy as np
from guarded import Region
from quern import njit


@dataclass
class Text:
    """A program of which nothing but its source is random; its arguments follow from the seed."""
    source: str


class Searches:
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


def program(seed):
    return Text(Searches(seed).source())


@functools.cache
def regions():
    return [Region(1) for _ in range(6)]


def outcome(function, arguments):
    try:
        return function(*arguments)
    except IndexError:
        return IndexError


def differences(program, seed, _devices=()):
    """What does not agree with CPython, as (sort, words), or None; without checks only where CPython raises nothing."""
    names = {}
    exec(program.source, names)
    plain, numbers = names["f"], random.Random(seed)
    made = [("checked", njit(plain))] + [("unchecked", njit(boundscheck=False)(plain))] * (seed % 3 == 0)
    for _ in range(40):
        lengths = numbers.choice([(4, 4), (6, 3), (1, 2), (0, 3), (2, 0), (7, 7), (5, 6)])
        scalars = numbers.randrange(-1, 9), numbers.randrange(-1, 8), numbers.randrange(-2, 4)
        values = [np.array([numbers.randrange(9) for _ in range(k)], np.int64) for k in lengths] + [np.arange(16) * 5 % 8]
        at_end = numbers.random() < 0.5
        theirs, ours = ([r.place(v, at_end=at_end) for r, v in zip(some, values, strict=True)] for some in (regions()[:3], regions()[3:]))
        with np.errstate(over="ignore"):
            want = outcome(plain, (*theirs, *scalars))
        for name, compiled in made:
            if want is IndexError and name == "unchecked":
                continue
            for array, v in zip(ours, values, strict=True):
                array[...] = v
            try:
                got = outcome(compiled, (*ours, *scalars))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not what the function raises
                return "refused", f"{name}: {type(error).__name__}: {error}\n{program.source}"
            if got != want or any((x.bytes != y.bytes).any() for x, y in zip(regions()[:3], regions()[3:], strict=True)):
                return "different", (f"{name}: CPython gives {want}, compiled code {got}\n{program.source}  scalars {scalars}, values "
                                     f"{[v.tolist() for v in values]}\n  in CPython {[v.tolist() for v in theirs]}, compiled code leaves {[v.tolist() for v in ours]}")
    return None
