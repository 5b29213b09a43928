"""int(x) of floats whose magnitude is known before they are computed (codegen/opt/magnitude.c), against CPython: by types and numbers alone, by what
stands still in a loop, and by elements that are looked at a strip ahead."""
import builtins
import math
import os
import random
import re
import types

import numpy as np
import pytest

from quern import njit

EDGES = [0.0, -0.0, 0.5, 1.0, -1.0, 3.75, 1e-3, 255.0, -1024.0, 2.0**30, 2.0**31, -2.0**31, math.nextafter(2.0**31, 0), 2.0**46, 2.0**54, -2.0**55, 2.0**61, 2.0**62, math.nextafter(2.0**62, 0),
         2.0**63, -2.0**63, 1e100, -1e300, 5e-324, 1e-300, math.inf, -math.inf, math.nan]
WHOLE = [0, 1, -1, 7, 255, 2**31, -2**31, 2**31 - 1, 2**53 + 1, 2**62, -2**62, 2**63 - 1, -2**63]
RAISED = (ZeroDivisionError, ValueError, OverflowError)


def cut(value):
    return (builtins.int(value) + 2**63) % 2**64 - 2**63


def saturated(how):
    def made(x):
        if not math.isfinite(x):
            return builtins.int(float(x))  # which raises
        return min(max(how(x), -2**63), 2**63 - 1)
    return made


SPOKEN = {**vars(builtins), "W": cut, "int": saturated(builtins.int), "round": saturated(builtins.round), "float": lambda x: builtins.float(x),
          "math": types.SimpleNamespace(floor=saturated(math.floor))}


class Cells:
    """An array whose elements are Python numbers, but for float32; what is stored is cut to its bits."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        return self.array[index] if self.array.dtype == np.float32 else self.array[index].item()

    def __setitem__(self, index, value):
        self.array[index] = cut(value)


class Loops:
    """f(p, q, h, a, g, out, s, k, n): rows of three bytes, int64, float32, float64, three floats that stand still, ints, a float, an int."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def whole(self, depth=0):
        r = self.random
        if depth > 1 or r.random() < 0.5:
            return r.choice(["p[i, 0]", "p[i, 1]", "p[i, 2]", "p[n - 1 - i, 1]", "i", "i + 1", "k", "q[i]", "7", "(i & 3)", "(q[i] % 100)", "(q[i] >> 40)", "(k // 3)"])
        return f"W({self.whole(depth + 1)} {r.choice('+-*')} {self.whole(depth + 1)})"

    def floating(self, depth=0):
        r = self.random
        if depth > 2 or r.random() < 0.3:
            return r.choice([f"float({self.whole()})"] * 4 + ["a[i]", "a[i]", "s", "g[0]", "g[1]", "0.5", "255.0", "1024.0", "1e30", "1e-30"])
        x, y = self.floating(depth + 1), self.floating(depth + 1)
        return r.choice([f"({x} * {y})", f"({x} + {y})", f"({x} - {y})", f"(-{x})", f"abs({x})", f"({x} / {r.choice(['s', 'g[0]', '255.0', '3.0', '1e-9', 'float(k)'])})", f"({x} * {r.choice(['s', 'g[1]', '0.25'])})",
                         f"({x} if {self.test()} else {y})", f"float(math.floor({x}))"])

    def short(self, depth=0):
        r = self.random
        if depth > 2 or r.random() < 0.3:
            return r.choice(["h[i]", "h[i]", "h[n - 1 - i]", "np.float32(p[i, 0])", "np.float32(p[i, 2])", "np.float32(k)", "np.float32(1e30)", "np.float32(1e-30)"])
        x, y = self.short(depth + 1), self.short(depth + 1)
        return r.choice([f"({x} * {y})", f"({x} + {y})", f"({x} - {y})", f"(-{x})"])

    def test(self):
        return self.random.choice(["i % 2 == 0", "p[i, 0] > 100", "k > 3", "(i + k) & 1 == 1", "s > 1.0"])

    def source(self):
        r = self.random
        lines = ["def f(p, q, h, a, g, out, s, k, n):", "    total = 0", "    " + r.choice(["for i in range(n):", "for i in range(n):", "for i in range(1, n):", "for i in range(n - 1, -1, -1):"])]
        for column in range(r.randrange(1, 4)):
            made = r.choice([self.floating, self.floating, self.floating, self.short])
            how = r.choice(["int", "int", "math.floor", "round"])
            if r.random() < 0.4:
                lines += [f"        if {self.test()}:", f"            x = {made()}", "        else:", f"            x = {made()}"]
            else:
                lines.append(f"        x = {made()}")
            lines.append(r.choice([f"        out[i, {column}] = {how}(x)", f"        out[i, {column}] = {how}(x) % 256", f"        total += {how}(x) & 15"]))
        return "\n".join([*lines, "    return total"]) + "\n"


def arguments(numbers):
    n = numbers.choice([0, 1, 2, 15, 16, 17, 40, 70])
    usual = [0.5, 2.0, 3.75, -1.5, 100.0]

    def floats(kind, size):
        values = np.array([numbers.choice(usual) for _ in range(size)], kind)
        for _ in range(numbers.choice([0, 0, 0, 1, 2]) if size else 0):
            values[numbers.randrange(size)] = numbers.choice(EDGES)
        return values
    with np.errstate(all="ignore"):
        p = np.array([[numbers.randrange(256) for _ in range(3)] for _ in range(n)], np.uint8).reshape(n, 3)
        q = np.array([numbers.choice(WHOLE + [1, 2, 3] * 9) for _ in range(n)], np.int64)
        h, a, g = floats(np.float32, n), floats(float, n), floats(float, 3)
    s = numbers.choice([*usual, numbers.choice(EDGES)])
    return p, q, h, a, g, s, numbers.choice([0, 1, 5, -3, numbers.choice(WHOLE)]), n, numbers.choice([None, None, None, "a", "g"])


def placed(values):
    """The arrays with `out`, which may be the memory of one of them, or lie half in it."""
    p, q, h, a, g, s, k, n, shared = values
    memory = np.zeros(max(3 * n, 3) + 8)
    out = memory[:3 * n].view(np.int64).reshape(n, 3)
    if shared == "a":
        memory[4:4 + n] = a
        a = memory[4:4 + n]
    elif shared == "g":
        memory[1:4] = g
        g = memory[1:4]
    return [p, q, h, a, g, out], (s, k, n), memory


def outcome(function, arrays, numbers):
    try:
        with np.errstate(all="ignore"):
            return function(*arrays, *numbers)
    except RAISED as error:
        return type(error)


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(int(os.environ.get("QUERN_PROGRAMS", "160")) // 4)])
def test_FLT_07_ints_of_what_is_small_by_its_making(seed):
    source = Loops(seed).source()
    mine, theirs = {"math": math, "np": np}, {**SPOKEN, "np": np}
    exec(re.sub(r"\bW\(", "(", source), mine)
    exec(source, theirs)
    made = [njit(mine["f"]), njit(boundscheck=False)(mine["f"])]
    numbers = random.Random(seed)
    for _ in range(24):
        values = arguments(numbers)
        arrays, rest, memory = placed(values)
        want = outcome(theirs["f"], list(map(Cells, arrays)), rest)
        for function in made:
            again, rest, other = placed(values)
            got = outcome(function, again, rest)
            if want is not got and want != got or memory.tobytes() != other.tobytes():
                pytest.fail(f"{source}\n{rest} {[x.tolist() for x in arrays[1:5]]} shared {values[-1]}: {got} for {want}")


def test_sums_of_many_terms_that_two_ints_share():
    """What the first int of a float has looked at, the test of the second one makes anew: none of it is taken for small unasked."""
    c, y = [f"c{k}" for k in range(20)], [f"y{k}" for k in range(13)]
    source = (f"def f(out, n, {', '.join(c + y)}):\n    for i in range(n):\n        e = float(i) * {' + '.join(c)}\n"
              f"        a = int(e / (float(i) + 1e305))\n        b = int(e + {' + '.join(y)})\n        out[i] = a + b\n")
    space = {}
    exec(source, space)
    f = njit(space["f"])
    for large in 0, 1, 25:
        out = np.zeros(64, np.int64)
        rest = [0.0] * 20 + [1.0] * 13
        rest[large] = 1e300
        f(out, 64, *rest)
        assert (out[1:] == 2**63 - 1).all() and out[0] in (13, 2**63 - 1)
