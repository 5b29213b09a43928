"""Ints that kernels make of floats are int32 where nobody sees the difference (codegen/opt/saturate.c): whatever the float, what comes out is
that of an int64 that saturates."""
import builtins
import inspect
import math
import os
import random
import re
import types

import numpy as np
import pytest

from quern import cuda, hip


def cut(x, y, n, t):
    return min(max(int(x), 0), n)


def cut_by_tests(x, y, n, t):
    k = math.floor(x)
    if k > 127:
        k = 127
    if k < -128:
        k = -128
    return k


def guarded(x, y, n, t):
    k = int(x)
    if 0 <= k < n:
        return t[k] * 10 + k * k
    return -1


def guarded_twice(x, y, n, t):
    i, j = math.floor(x), math.ceil(y)
    if i >= 0 and j >= 0 and i < n and j < n:
        return t[i] * n + t[j] + i - j
    return 7 if i == n else 8 if j != n else 9


def at_the_ends(x, y, n, t):
    k, m = int(x), int(y)
    return (k < 2147483647) + 2 * (k <= 2147483646) + 4 * (k > -2147483648) + 8 * (m >= -2147483647) + 16 * (m == 2147483647) + 32 * (m < -2147483648)


def inside_the_ends(x, y, n, t):
    k = int(x)
    return (k < 2147483646) + 2 * (k <= 2147483645) + 4 * (k > -2147483647) + 8 * (k >= -2147483646) + 16 * (k == 2147483646) + 32 * (-2147483647 > k)


def beside_a_wide_one(x, y, n, t):
    k = int(x) if y > 0 else n * 5000000000
    return 1 if k > n else 2 if k == n else 3 if k > -n else 4


def sums_as_indices(x, y, n, t):
    if 0 <= x and x < n - 1:
        return t[int(x) + 1] * 3 - t[int(x) - 1] + t[int(x)]
    return -5


def sums_compared(x, y, n, t):
    k = int(x) + 1
    m = int(y) - n
    return (k < n) + 2 * (m > 5)


def from_the_end(x, y, n, t):
    if -n <= x and x < n:
        return t[round(x)] if abs(x) < n - 1 else t[int(x)]
    return -5


def beside_each_other(x, y, n, t):
    a, b = int(x), int(y)
    return (a < b) + 2 * (a == b) + 4 * (min(a, b) == a) + 8 * (max(a, 5) < min(b, 900))


def told(x, y, n, t):
    k = int(x)
    return k % 1000003 if k > n else k // 3


def counted(x, y, n, t):
    total = 0
    for i in range(min(int(x), n)):
        total += t[i] + i
    return total


def in_a_loop(x, y, n, t):
    k, rounds = int(x), 0
    while k > 3 and rounds < 9:
        k = min(int(y) - rounds, k - 1)
        rounds += 1
    return rounds * 16 + max(min(k, 9), -3)


def float_again(x, y, n, t):
    k = int(x)
    return (float(k) < y) + 2 * (k < y) + 4 * (min(k, n) < y)


BODIES = [cut, cut_by_tests, guarded, guarded_twice, at_the_ends, inside_the_ends, beside_a_wide_one, sums_as_indices, sums_compared, from_the_end, beside_each_other, told, counted,
          in_a_loop, float_again]

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


def check(source, kind):
    """The body is the kernel's own: what the launch promises of n counts."""
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
    wrong = [(a, b, got, w) for a, b, got, w in zip(x, y, out.tolist(), want, strict=True) if got != w]
    assert not wrong


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_FLT_07_ints_of_floats_in_kernels(device, body, kind):
    check(inspect.getsource(body), kind)


@pytest.mark.parametrize("to", [np.int8, np.uint16, np.int32, np.uint32])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_low_bits_of_ints_of_floats(device, kind, to):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i, 0], out[i, 1], out[i, 2] = int(x[i]), math.floor(x[i]), int(x[i] * x[i])

    with np.errstate(over="ignore"):
        x = np.array(EDGES, kind)
    out = np.zeros((x.size, 3), to)
    kernel[2, 64](x, out)
    for v, got in zip(x, out, strict=True):
        with np.errstate(all="ignore"):
            want = [saturated(float(w)) for w in (v, np.floor(v), v * v)]
        assert got.tolist() == np.array(want).astype(to).tolist(), v


SIGNATURE = "void(float32[::1], float32[::1], int64, float32[::1], float32[::1])"


def looked_up(x, y, n, t, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        k, m = int(x[i] * 5), math.floor(y[i])
        w = int(x[i] * 3)
        if w < 0 or w >= t.shape[0]:
            w = 1
        if k >= 0 and k < t.shape[0]:
            out[i] = w % 7 + t[k] + t[min(max(m, 0), 3)] + t[int(y[i] + x[i])]


def kept(x, y, n, t, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        k = int(x[i])
        if k < t.shape[0]:
            out[i] = k * 2


def test_nothing_of_these_is_computed_in_64_bits():
    ptx, _ = cuda.compile_ptx(looked_up, SIGNATURE)
    assert len(re.findall(r"cvt\.r[zm]i\.s32\.f32", ptx)) == 4 and ".s64.f32" not in ptx and not re.search(r"(setp|min|max)\.\w+\.?s64", ptx)
    asm = hip.compile(looked_up, SIGNATURE, arch="gfx1100", keep_text=True).asm
    assert len(re.findall(r"v_cvt_i32_f32", asm)) == 4 and not re.search(r"v_cmp\w*_i64|v_cvt_u32_f32", asm)


def test_an_int_of_which_more_is_seen_stays_as_wide_as_it_is():
    ptx, _ = cuda.compile_ptx(kept, SIGNATURE)
    assert "cvt.rzi.s64.f32" in ptx


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


ROUNDS = int(os.environ.get("QUERN_PROGRAMS", "240")) // 8


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(ROUNDS)])
def test_random_bodies(device, seed):
    check(Bodies(seed).source(), np.float32 if seed % 3 else np.float64)
