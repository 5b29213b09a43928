"""Random programs of iterators beside CPython: nested, shared, left early, gone on with."""
import random

import numpy as np
import pytest

from quern import njit

ARRAYS = {"a": np.array([3.0, 0.0, 1.5, -2.0, 0.0, 4.0, 7.0]), "b": np.arange(5), "e": np.empty(0)}
NUMBER = "number"


def wraps(x):
    return x * 2 - 1


def positive(x):
    return x > 0


def added(x, y):
    return x + y


def first_of(p):
    return p[0] * 3


def by_first(p):
    return p[0] > 0


class Program:
    """`shape` of an item: NUMBER, or the tuple of those of its parts."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = 0

    def sequence(self):
        return self.r.choice(["a", "b", "e", "range(n)", "range(n, -2, -3)", "(4, 0, 2)"])

    def expression(self, depth):
        """Text and shape of an item."""
        kind = self.r.choice(["kept", "kept", "sequence", "iter", "reversed"] if depth == 0 else
                             ["zip", "zip", "enumerate", "map", "map2", "filter", "none", "strict", "kept", "iter"])
        if kind == "kept":
            return self.r.choice(["it", "jt"]), NUMBER
        if kind in ("sequence", "iter", "reversed"):
            text = self.sequence()
            return {"sequence": text, "iter": f"iter({text})", "reversed": f"reversed({text})"}[kind], NUMBER
        x, shape = self.expression(depth - 1)
        if kind == "enumerate":
            return f"enumerate({x}, {self.r.randrange(-2, 3)})", (NUMBER, shape)
        if kind in ("zip", "strict"):
            y, other = self.expression(depth - 1)
            return f"zip({x}, {y}{', strict=True' if kind == 'strict' else ''})", (shape, other)
        if kind == "map2" and shape == NUMBER:
            y, other = self.expression(0)
            return f"map(added, {x}, {y})", NUMBER
        if kind in ("filter", "none"):
            if shape == NUMBER:
                return f"filter({'None' if kind == 'none' else 'positive'}, {x})", NUMBER
            return (f"filter(by_first, {x})", shape) if shape[0] == NUMBER else (x, shape)
        if shape == NUMBER:
            return f"map(wraps, {x})", NUMBER
        return (f"map(first_of, {x})", NUMBER) if shape[0] == NUMBER else (x, shape)

    def target(self, shape):
        if shape == NUMBER:
            self.names += 1
            return f"x{self.names}", [f"x{self.names}"]
        parts = [self.target(s) for s in shape]
        return "(" + ", ".join(p[0] for p in parts) + ")", [n for p in parts for n in p[1]]

    def loop(self):
        text, shape = self.expression(self.r.randrange(4))
        target, names = self.target(shape)
        lines = [f"for {target} in {text}:"]
        lines += [f"    s = s * 0.5 + {name}" for name in names]
        if self.r.random() < 0.5:
            lines += [f"    if s > {self.r.randrange(1, 6)}:", "        break"]
        if self.r.random() < 0.2:
            lines += ["    s += next(it, 0.25)"]
        return lines

    def text(self):
        lines = ["it = iter(a)", f"jt = {self.r.choice(['iter(range(n))', 'map(wraps, b)', 'filter(positive, b)', 'reversed(b)'])}", "s = 0.0"]
        for _ in range(self.r.randrange(1, 4)):
            lines += self.loop()
        if self.r.random() < 0.3:
            lines = [*lines[:3], "for k in range(2):", *["    " + line for line in lines[3:]]]
        return "def f(a, b, e, n):\n" + "".join(f"    {line}\n" for line in lines) + "    return s, next(it, -1.0), next(jt, -1)\n"


def outcome(f, args):
    try:
        return f(*args)
    except Exception as e:
        return type(e), str(e)


@pytest.mark.parametrize("seed", range(0, 240, 8))
def test_random_programs(seed):
    for k in range(seed, seed + 8):
        text = Program(k).text()
        names = dict(wraps=wraps, positive=positive, added=added, first_of=first_of, by_first=by_first)
        exec(text, names)
        f = names["f"]
        compiled = njit(f)
        for n in (0, 3, 8):
            args = (*ARRAYS.values(), n)
            assert outcome(compiled, args) == outcome(f, args), f"seed {k}, n = {n}\n{text}"
