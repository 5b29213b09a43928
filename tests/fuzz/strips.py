"""Random loops that the compiler looks a strip ahead of (codegen/opt/divisors.c): divisions of floats, int(x), math.floor(x), math.ceil(x) and round(x), with zeros, NaN,
infinities and floats beyond int64 among the elements, and with stores that may change what follows, against CPython. Exceptions come in the round in which
CPython raises them: all that was stored is compared. Ints of floats saturate, and what is stored wraps, as in compiled code."""
import builtins
import functools
import math
import random
import types

import numpy as np
from guarded import Region, same_elements
from quern import njit
from searches import Text

STRIP = 1024  # rounds that are tested at once
RAISED = (ZeroDivisionError, ValueError, OverflowError)
ODD = [math.nan, math.inf, -math.inf, 2.0**63, -2.0**63, 2.0**63 - 1024, 1e300, -1e300, 0.0, -0.0]


def rounding(how):
    def made(v):
        whole = how(v) if isinstance(v, builtins.int) or math.isfinite(v) else builtins.int(v)  # which raises
        return builtins.max(builtins.min(whole, 2**63 - 1), -2**63)
    return made


SPOKEN = {"int": rounding(builtins.int), "round": rounding(builtins.round),
          "math": types.SimpleNamespace(floor=rounding(math.floor), ceil=rounding(math.ceil), sqrt=lambda x: math.sqrt(x) if x >= 0 else math.nan)}


class Cells:
    """An array whose elements are Python numbers; what is stored is cut to its bits."""

    def __init__(self, array):
        self.array = array
        self.shape = array.shape

    def __getitem__(self, index):
        return self.array[index].item()

    def __setitem__(self, index, value):
        if self.array.dtype.kind == "i":
            value = (builtins.int(value) + 2**63) % 2**64 - 2**63
        self.array[index] = value


class Loops:
    """f(a, b, out, d, s, n): floats, floats, ints, floats that are only written, a float, an int."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []

    def element(self):
        return self.random.choice(["a[i]", "a[i]", "b[i]", "b[i]", "a[i + 1]", "b[n - 1 - i]", "a[n - 1 - i]", "b[i // 2]"])

    def floating(self, depth=0):
        r = self.random
        if depth > 1 or r.random() < 0.4:
            return r.choice([self.element(), self.element(), self.element(), "s", "0.5", "float(i)", "2.0"])
        x, y = self.floating(depth + 1), self.floating(depth + 1)
        return r.choice([f"({x} * {y})", f"({x} + {y})", f"({x} - {y})", f"abs({x})", f"(-{x})", f"({x} / {self.divisor()})", f"({x} if {self.test()} else {y})"])

    def divisor(self):
        r = self.random
        x = self.element()
        return r.choice([x, x, f"abs({x})", f"({x} * {self.element()})", f"({x} - s)", f"math.sqrt(abs({x}))", "4.0", "s", f"({x} * {x} + {self.element()})", "d[i]"])

    def whole(self):
        r = self.random
        return r.choice(["int", "int", "math.floor", "math.ceil", "round"]) + f"({r.choice([self.element(), self.floating()])})"

    def test(self):
        r = self.random
        return r.choice([f"{self.element()} > 0.5", "i % 3 == 0", "s < 1.0", f"{self.element()} != {self.element()}", "i < n // 2"])

    def statement(self, indent, depth):
        r = self.random
        kind = r.randrange(11)
        add = self.lines.append
        if kind < 3:
            add(f"{indent}out[{r.choice(['i', 'i', 'i', 'n - 1 - i', 'i // 2'])}] = {self.whole()}{r.choice(['', ' + i', ' + 1'])}")
        elif kind == 3:
            add(f"{indent}k = {self.whole()}")
            add(f"{indent}if k > {r.choice(['9', 'i', '0'])}:")
            add(f"{indent}    k = 9")
            if r.random() < 0.5:
                add(f"{indent}if k < 0:")
                add(f"{indent}    k = {r.choice(['0', 'i'])}")
            add(f"{indent}out[i] = k")
        elif kind < 6:
            add(f"{indent}{r.choice(['d', 'd', 'b', 'a'])}[{r.choice(['i', 'i', 'i', 'i + 1', 'n - 1 - i'])}] = {self.floating()} / {self.divisor()}")
        elif kind == 6:
            add(f"{indent}d[i] = {self.floating()}")
        elif kind == 7 and depth < 2:
            add(f"{indent}if {self.test()}:")
            self.statement(indent + "    ", depth + 1)
        elif kind == 8:
            add(f"{indent}total += {self.whole()} % 7")
        elif kind == 9:
            add(f"{indent}out[{self.whole()} % {r.choice(['3', '5'])}] += 1")
        else:
            add(f"{indent}x = {self.element()} / {self.divisor()}")
            add(f"{indent}out[i] = {r.choice(['int(x)', 'int(x * s)', 'math.floor(x)'])}")

    def source(self):
        r = self.random
        body = "    "
        self.lines += ["def f(a, b, out, d, s, n):", "    total = 0"]
        if r.random() < 0.15:
            self.lines.append("    for r in range(2):")
            body += "    "
        self.lines.append(body + r.choice(["for i in range(n):"] * 3 + ["for i in range(a.shape[0] - 1):", "for i in range(n - 1, -1, -1):", "for i in range(1, n):", "for i in range(0, n, 2):"]))
        for _ in range(r.randrange(1, 4)):
            self.statement(body + "    ", 0)
        self.lines.append("    return total")
        return "\n".join(self.lines) + "\n"


def program(seed):
    return Text(Loops(seed).source())


@functools.cache
def regions():
    return [Region(6) for _ in range(8)]


def arguments(numbers):
    """(values of the four arrays, how `out` lies in the memory of another, at which end of their pages they lie, s, n)."""
    n = numbers.choice([0, 1, 2, 7, 15, 16, 17, 33, 40, 60, 100] + [STRIP - 1, STRIP + 1, STRIP + 40] * (numbers.random() < 0.1))
    length = n + numbers.choice([1, 1, 1, 1, 2, 0])
    floats = [np.array([numbers.choice([1, -1, 2.5, 3.75, 0.25, -6.5, 8, 11.5]) for _ in range(length)], float) for _ in range(3)]
    for values in floats:
        for _ in range(numbers.choice([0, 0, 0, 0, 1, 1, 2]) if length else 0):
            values[numbers.randrange(length)] = numbers.choice(ODD)
    moved = numbers.choice([None] * 5 + [(k, by) for k in (0, 1) for by in (0, 1, -1, 8)])
    return (*floats[:2], np.zeros(max(length, 5), np.int64), floats[2]), moved, numbers.random() < 0.5, numbers.choice([2.0, 0.5, 1.0, 0.0]), n


def placed(where, values, moved, at_end):
    """The arrays between guard pages; `out` may be the memory of `a` or `b`, from another element on."""
    arrays = [r.place(v, at_end=at_end) for r, v in zip(where, values, strict=True)]
    if moved is not None:
        k, by = moved
        arrays[2] = arrays[k][max(by, 0):].view(np.int64)
        arrays[k] = arrays[k][max(-by, 0):]
    return arrays


def outcome(function, arguments):
    try:
        return function(*arguments)
    except (*RAISED, IndexError) as error:
        return type(error)


def differences(program, seed, _devices=()):
    """What does not agree with CPython, as (sort, words), or None; without checks only where CPython's indices are inside."""
    names = {"math": math}
    exec(program.source, names)
    spoken = types.FunctionType(names["f"].__code__, {**vars(builtins), **SPOKEN})
    made = [(word, njit(boundscheck=check)(names["f"])) for word, check in (("checked", None), ("unchecked", False))]
    numbers = random.Random(seed)
    for _ in range(16):
        values, moved, at_end, s, n = arguments(numbers)
        where = regions()[:4], regions()[4:]
        theirs = placed(where[0], values, moved, at_end)
        want = outcome(spoken, (*map(Cells, theirs), s, n))
        kept = [r.bytes.view(np.float64).copy() for r in where[0]]
        for name, compiled in made:
            if want is IndexError and name == "unchecked":
                continue
            ours = placed(where[1], values, moved, at_end)
            try:
                got = outcome(compiled, (*ours, s, n))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not what the function raises
                return "refused", f"{name}: {type(error).__name__}: {error}\n{program.source}"
            same = all(same_elements(x, r.bytes.view(np.float64)) for x, r in zip(kept, where[1], strict=True))
            same &= moved is not None or (theirs[2] == ours[2]).all()  # as floats, NaNs are alike: nobody tells their bits apart
            if got != want or not same:
                return "different", (f"{name}: CPython gives {want}, compiled code {got}\n{program.source}  s = {s}, n = {n}, out in {moved}\n" + "".join(
                    f"  {k}: {v.tolist()}, in CPython {x.tolist()}, compiled code leaves {y.tolist()}\n" for k, v, x, y in zip(
                        ("a", "b", "out", "d"), values, theirs, ours, strict=True) if n < 40 or not same_elements(x, y)))
    return None
