"""Random nests over tables (codegen/opt: meet.c, ranges.c, bounds_rounds.c, by_rounds in inductive.c), against CPython, with arrays between guard pages: ways that
store into the same element, or nearly; rows that are carried on; what loops of constant length count, as index and divisor."""
import functools
import random

import numpy as np
from guarded import Region
from quern import njit
from searches import Text

RAISED = (IndexError, ZeroDivisionError)


class Tables:
    """f(t, u, n, m): two tables of ints, two ints. CPython's ints are Python's own: what is stored is cut to 16 bits, and read as such."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.counters = []

    def index(self):
        r = self.random
        i = r.choice(self.counters)
        return r.choice([i, i, i, f"{i} + 1", f"{i} - 1", f"{i} + 2", "k", "0"])

    def element(self):
        return f"int({self.random.choice('ttu')}[{self.index()}, {self.index()}])"

    def value(self):
        r = self.random
        x, y = r.choice([self.element(), "k", "n", "1", r.choice(self.counters)]), r.choice([self.element(), "k", "2"])
        return r.choice([x, f"{x} + {y}", f"{x} - {y}", f"max({x}, {y})", f"{x} // k", f"{x} % (k + 1)", f"{x} * 3"])

    def condition(self):
        r = self.random
        i = r.choice(self.counters)
        return r.choice([f"{self.element()} > {self.value()}", f"{self.element()} % 2 == 0", f"0 <= {i} - 1 and {i} + 1 < m", f"{i} < n", f"0 <= {self.index()} < t.shape[1]"])

    def store(self, indent, at):
        self.lines.append(f"{indent}{at} = ({self.value()}) & 32767")

    def ways(self, indent):
        """Each stores into one element; into another, or behind a load, where the dice say so."""
        r = self.random
        at = f"{r.choice('ttu')}[{self.index()}, {self.index()}]"
        also = f"{r.choice('ttu')}[{self.index()}, {self.index()}]" if r.random() < 0.4 else ""
        for head in [f"if {self.condition()}:"] + [f"elif {self.condition()}:"] * r.randrange(2) + ["else:"]:
            self.lines.append(indent + head)
            if r.random() < 0.2:
                self.lines.append(f"{indent}    k += {r.randrange(3)}")
            self.store(indent + "    ", at if r.random() < 0.85 else f"t[{self.index()}, {self.index()}]")
            if also and r.random() < 0.9:
                self.lines.append(f"{indent}    {also} = ({r.choice([self.value(), f'int({at}) + 1', f'k - int({at})'])}) & 32767")

    def count(self, indent, depth):
        r = self.random
        name = "dxy"[depth]
        self.lines.append(f"{indent}for {name} in range({r.choice(['3', '2', '-1, 2', '1, 4', '0'] + self.counters)}):")
        self.counters.append(name)
        if depth < 1 and r.random() < 0.5:
            self.count(indent + "    ", depth + 1)
        if r.random() < 0.6:
            self.lines.append(f"{indent}    if {self.condition()}:")
            self.lines.append(f"{indent}        {r.choice(['k += 1', 'k += 1', 'k += 2', 'k -= 1', 'break'])}")
        else:
            self.lines.append(f"{indent}    k += {r.choice(['1', '1', '3', '-1'])}")
        self.counters.pop()

    def source(self):
        r = self.random
        self.lines += ["def f(t, u, n, m):", "    k = 0", "    h, w = t.shape"]
        ends = ["w", "w - 1", "1, w - 1", "1, w", "n", "m - 1", "2, w - 3", "w - 2, 0, -1"]
        self.lines.append(f"    for i in range({r.choice(['h', 'h - 1', '1, h', '1, h - 1', 'n'])}):")
        self.lines.append(f"        for j in range({r.choice(ends)}):")
        self.counters = ["i", "j"]
        if r.random() < 0.6:
            self.lines.append(f"            k = {r.choice(['0', '0', '1', '-2', 'n'])}")
            self.count("            ", 0)
        for _ in range(r.randrange(1, 4)):
            if r.random() < 0.6:
                self.ways("            ")
            else:
                self.store("            ", f"t[{self.index()}, {self.index()}]")
        self.lines.append("    return k")
        return "\n".join(self.lines) + "\n"


def program(seed):
    return Text(Tables(seed).source())


@functools.cache
def regions():
    return [Region(1) for _ in range(4)]


def outcome(function, arguments):
    try:
        return function(*arguments)
    except RAISED as error:
        return type(error)


SHAPES = [(3, 4), (4, 6), (1, 5), (2, 2), (0, 3), (5, 1), (3, 7)]


def differences(program, seed, _devices=(), shapes=SHAPES):
    """What does not agree with CPython, as (sort, words), or None; without checks only where its indices are inside."""
    names = {"np": np}
    exec(program.source, names)
    made = [(word, njit(boundscheck=check)(names["f"])) for word, check in (("checked", None), ("unchecked", False))]
    numbers = random.Random(seed)
    for _ in range(30):
        shape = numbers.choice(shapes)
        other = shape if numbers.random() < 0.7 else (shape[0] + numbers.choice([0, 1]), shape[1] + numbers.choice([-1, 1, 2]))
        scalars = numbers.choice([shape[0], shape[1], 0, 2, -1]), numbers.choice([shape[1], shape[1] - 1, 3])
        values = [np.array([numbers.randrange(9) for _ in range(h * max(w, 0))], np.int64).reshape(h, max(w, 0)) for h, w in (shape, other)]
        at_end, shared = numbers.random() < 0.5, numbers.random() < 0.15
        sets = [[r.place(v, at_end=at_end) for r, v in zip(some, values, strict=True)] for some in (regions()[:2], regions()[2:])]
        theirs, ours = ([x, x[:, ::-1].T if shared else y] for x, y in sets)
        want = outcome(names["f"], (*theirs, *scalars))
        for name, compiled in made:
            if want is IndexError and name == "unchecked":
                continue
            for x, v in zip(sets[1], values, strict=True):
                x[...] = v
            try:
                got = outcome(compiled, (*ours, *scalars))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not what the function raises
                return "refused", f"{name}: {type(error).__name__}: {error}\n{program.source}"
            if got != want or any((x.bytes != y.bytes).any() for x, y in zip(regions()[:2], regions()[2:], strict=True)):
                return "different", (f"{name}: CPython gives {want}, compiled code {got}\n{program.source}  scalars {scalars}, values {[v.tolist() for v in values]}\n"
                                     f"  in CPython {[v.tolist() for v in theirs]}, compiled code leaves {[v.tolist() for v in ours]}")
    return None
