"""Random bodies of kernels whose ints are made of floats (codegen/opt/saturate.c), against CPython with ints that saturate and sums that wrap: ints that are
cut, compared, chosen, added to, kept, used as indices where they are ones. `wrong_ints` compares one body at the edges of all that is narrow."""
import builtins
import math
import random
import re
import types

import numpy as np
from compare import choose
from quern import cuda
from searches import Text

N = 13
EDGES = [0.0, -0.0, 0.4, 0.5, 0.99, 1.5, 2.0, 3.5, 4.0, 11.5, 11.99, 12.0, 12.5, 13.0, 126.6, 127.0, 127.5, 128.5, 900.0, 1e6, 2.0**30 - 1024, 2.0**31 - 129, 2.0**31 - 3, 2.0**31 - 2,
         2.0**31 - 1, 2.0**31, 2.0**31 + 1, 2.0**31 + 256, 2.0**32, 2.0**32 + 5, 2.0**32 - 1, 2.0**40 + 2.0**17, 1e18, 2.0**63 - 2.0**39, 2.0**63, 2.0**63 + 2.0**40, 1e19, 1e30, math.inf]
EDGES += [-v for v in EDGES] + [math.nan]


def saturated(v):
    return np.int64(0 if math.isnan(v) else -2**63 if v <= -2**63 else 2**63 - 1 if v >= 2**63 else builtins.int(v))


def spoken(body):
    """The body as CPython runs it, with ints of floats as they are in kernels: they saturate, and their sums wrap."""
    def rounding(how):
        return lambda v: saturated(how(float(v)) if math.isfinite(v) else v)
    names = {"int": rounding(math.trunc), "round": rounding(round), "np": np,
             "math": types.SimpleNamespace(floor=rounding(math.floor), ceil=rounding(math.ceil))}
    return types.FunctionType(body.__code__, {**vars(builtins), **names})


KERNEL = """def kernel(xs, ys, n, t, out):
    at = cuda.grid(1)
    if at < out.shape[0]:
        x, y = xs[at], ys[at]
"""


def wrong_ints(source, kind):
    """(x, y, what the kernel gives, what CPython gives) where they differ. The body is the kernel's own: what the launch promises of n counts."""
    names = {"math": math, "np": np, "cuda": cuda}
    exec(source, names)
    head, *lines = source.rstrip().splitlines()
    exec(KERNEL + "\n".join("    " + re.sub(r"return (.*)", r"out[at] = \1; return", line) for line in lines), names)
    body, kernel = names[re.match(r"def (\w+)", head).group(1)], cuda.jit(names["kernel"])
    with np.errstate(over="ignore"):
        x = np.array(EDGES, kind)
    y = np.array([3.0, 11.0, 2.0**33, -math.inf, math.nan, 12.0, -2.0**31, 2.0**31 - 1], kind)
    x, y = np.repeat(x, y.size), np.tile(y, x.size)
    t = np.arange(N) * 7 % 31 - 4
    out = np.zeros(x.size, np.int64)
    kernel[(x.size + 63) // 64, 64](x, y, N, t, out)
    with np.errstate(all="ignore"):
        want = [spoken(body)(a, b, N, t) for a, b in zip(x, y, strict=True)]
    return [(a, b, got, w) for a, b, got, w in zip(x, y, out.tolist(), want, strict=True) if got != w]


class Bodies:
    """Random bodies: ints of floats that are cut, compared, chosen, added to, kept, used as indices where they are ones."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = ["n", "n - 1", "5", "-3", "127"]
        self.lines = []

    def name(self):
        return self.random.choice(self.names)

    def value(self):
        r = self.random
        k, m = self.name(), self.name()
        return r.choice([f"int({r.choice('xy')})", f"math.floor({r.choice('xy')} * {r.choice(['2.0', '0.25', 'x'])})", f"round({r.choice('xy')})",
                         f"min({k}, {m})", f"max({k}, {m})", f"min(max({k}, {m}), {self.name()})", f"{k} + {m}", f"{k} - {m}", f"{k} * {m}",
                         f"{k} if {self.test()} else {m}", f"t[{k}] if 0 <= {k} < n else {m}", f"t[{k}] if -n <= {k} and {k} < n else {k}"])

    def test(self):
        r = self.random
        limit = r.choice([self.name(), "2147483647", "-2147483648", "2147483646", "-2147483647", "0", "n * 2147483000"])
        return f"{self.name()} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {limit}"

    def statement(self, indent, depth):
        r = self.random
        kind = r.randrange(8) if depth < 2 else 7
        if kind == 0:
            self.lines.append(f"{indent}if {self.test()}{r.choice(['', f' and {self.test()}', f' or {self.test()}'])}:")
            known = list(self.names)
            self.statement(indent + "    ", depth + 1)
            self.names = known
        elif kind == 1:
            self.lines.append(f"{indent}for i in range({r.randrange(1, 4)}):")
            known = list(self.names)
            self.statement(indent + "    ", depth + 1)
            self.names = known
        else:
            new = [k for k in "abcdef" if k in self.names] if depth else list("abcdef")
            if not new:
                self.lines.append(f"{indent}pass")
                return
            target = r.choice(new)
            self.lines.append(f"{indent}{target} = {self.value()}")
            self.names.append(target)

    def source(self):
        for _ in range(self.random.randrange(3, 9)):
            self.statement("    ", 0)
        results = [f"({self.test()}) * {2**i}" for i in range(4)]
        kept = self.random.choice(["0", "0", self.name(), f"min(max({self.name()}, -9), 99)", f"np.int64(np.int32({self.name()}))"])
        return "def body(x, y, n, t):\n" + "\n".join(self.lines) + f"\n    return {' + '.join(results)} + {kept}\n"


def program(seed):
    return Text(Bodies(seed).source())


def differences(program, seed, devices):
    """What does not agree, as (sort, words), or None."""
    for device in devices:
        choose(device)
        try:
            wrong = wrong_ints(program.source, np.float32 if seed % 3 else np.float64)
        except Exception as error:  # noqa: BLE001 - these bodies raise nothing
            return "refused", f"{device}: {type(error).__name__}: {error}\n{program.source}"
        if wrong:
            return "different", f"{device}: x, y, the kernel's, CPython's: {wrong[:8]}\n{program.source}"
    return None
