"""Unions of 64 bits across ifs and loops, of values of which half is all ones or nearly: TRAPS JIT-11, what LLVM 19 loses on AMD GPUs
(codegen/target/amdgpu_ones.c). Random kernels beside CPython, whose numbers are NumPy's here."""
import os
import random

import numpy as np
import pytest

from quern import cuda

SEED, PROGRAMS = int(os.environ.get("QUERN_SEED", "0")), int(os.environ.get("QUERN_PROGRAMS", "40")) // 4
NUMBERS = [255, -256, -2**32, 2**32 - 1, 1000, -1000, 0, -1]


def number(r, *of):
    return f"np.int64({r.choice(of or NUMBERS)})"


def limited(r):
    """A value whose bits LLVM knows in part, by more than their operations; often just an element."""
    v = r.choice(["x[i]", "y[i]", "np.int64(z[i])", "np.int64(h[i])"])
    kinds = [
        lambda: f"max(min({v}, {number(r, 7, 1000, 2**31, 2**33)}), {number(r, 0, -1, -1000, -2**32)})",
        lambda: f"min({v}, {number(r)})",
        lambda: f"max({v}, {number(r)})",
        lambda: f"(np.int64(h[i]) * np.int64(h[{r.choice(['i', '31 - i'])}]))",
        lambda: "(np.int64(h[i]) + np.int64(h[31 - i]))",
        lambda: f"(({v} & {number(r, 2**62 - 1)}) % {number(r, 7, 1000, 2**32, 2**33)})",
        lambda: f"(np.int64(z[i]) >> (y[i] & {r.choice([7, 31])}))",
        lambda: f"({number(r, -1, 1, 255)} << ({r.choice([0, 32, 33])} + ({v} & 15)))",
        lambda: f"(({v} & {number(r, 2**63 - 1)}) >> ({r.choice([0, 31, 32])} + (y[i] & 31)))",
        lambda: f"np.int64(np.int32({v} & 255))",
        lambda: f"np.int64({v} > {r.randrange(9)})",
        lambda: f"(np.int64(h[i]) - {number(r, 0, 2**16, 2**32, 2**33)})",
        lambda: number(r),
    ]
    return r.choice(kinds)() if r.random() < 0.8 else v


def bits(r, depth, names):
    if depth == 0 or r.random() < 0.12:
        return r.choice(names) if names and r.random() < 0.5 else limited(r)
    kind, a = r.randrange(12), bits(r, depth - 1, names)
    if kind < 7:
        return f"({a} {'||||&^^'[kind]} {bits(r, depth - 1, names)})"
    if kind < 10:
        return f"(~{a})"
    if kind == 10:
        return f"({a} {r.choice(['<<', '>>'])} {r.choice([1, 31, 32, 33, 40, 63])})"
    return f"({a} if {r.choice('xy')}[i] > {r.randrange(9)} else {bits(r, depth - 1, names)})"


def statement(r, lines, names, inside, depth):
    kind, margin = r.randrange(8), "    " * (2 + inside)
    if kind < 3 or depth == 0:
        if inside and not names:
            lines.append(f"{margin}out[i, 6] += 1")
            return
        name = r.choice(names) if names and (inside or r.random() < 0.4) else f"t{len(names)}"
        lines.append(f"{margin}{name} = {bits(r, 3, names)}")
        if name not in names:
            names.append(name)
    elif kind < 5:
        lines.append(f"{margin}if {r.choice('xy')}[i] > {r.randrange(-2, 9)}:")
        for _ in range(r.randrange(1, 3)):
            statement(r, lines, names, inside + 1, depth - 1)
        lines.append(f"{margin}    cuda.atomic.add(out, (i, 7), 1)")
        if r.random() < 0.5:
            lines.append(f"{margin}else:")
            statement(r, lines, names, inside + 1, depth - 1)
    elif kind < 7:
        lines.append(f"{margin}for {'klm'[inside]} in range(y[i] & {r.choice([1, 3])}):")
        for _ in range(r.randrange(1, 3)):
            statement(r, lines, names, inside + 1, depth - 1)
        lines.append(f"{margin}    out[i, 6] += x[{'klm'[inside]}]")
    else:
        lines.append(f"{margin}out[i, {r.randrange(4)}] = {bits(r, 3, names)}")


def program(r):
    lines, names = ["def kernel(x, y, z, h, out):", "    i = cuda.grid(1)", "    if i < 32:"], []
    for _ in range(r.randrange(4, 9)):
        statement(r, lines, names, 0, 2)
    lines += [f"        out[i, {k}] = {bits(r, 2, names)}" for k in (4, 5)]
    lines += [f"        out[i, {k}] |= {bits(r, 1, names)}" for k in range(4)]
    return "\n".join(lines) + "\n"


class OneThread:
    """Answers what a kernel asks of `cuda`, in CPython."""

    def __init__(self, i):
        self.i, self.atomic = i, self

    def grid(self, _):
        return self.i

    @staticmethod
    def add(array, index, value):
        array[index] += value


def compare(text, r):
    x, y = (np.array([r.getrandbits(64) - 2**63 if r.random() < 0.5 else r.randrange(-3, 12) for _ in range(32)]) for _ in range(2))
    z = np.array([r.getrandbits(32) for _ in range(32)], np.uint32)
    h = np.array([r.getrandbits(16) for _ in range(32)], np.uint16)
    out, expected = np.zeros((32, 8), np.int64), np.zeros((32, 8), np.int64)
    names = {"cuda": cuda, "np": np}
    exec(text, names)
    cuda.jit(names["kernel"])[1, 32](x, y, z, h, out)
    with np.errstate(all="ignore"):
        for i in range(32):
            names["cuda"] = OneThread(i)
            names["kernel"](x, y, z, h, expected)
    assert out.tolist() == expected.tolist(), text


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_JIT_11_unions_across_blocks(device, seed):
    r = random.Random(seed)
    compare(program(r), r)


@pytest.mark.parametrize("value", [
    "~max(min(x[i], np.int64(1000)), np.int64(0))",
    "max(min(x[i], np.int64(1000)), np.int64(0)) - np.int64(4294967296)",
    "~min(np.int64(z[i]) * np.int64(5), np.int64(1000))",
    "~(np.int64(z[i]) >> (x[i] & 31))",
    "~((y[i] & np.int64(2**62 - 1)) % np.int64(1000))",
    "~(np.int64(h[i]) + np.int64(h[31 - i]))",
    "~(np.int64(-1) << (32 + (y[i] & 15)))",
    "~((np.int64(h[i]) * np.int64(h[31 - i])) << 32)",
])
@pytest.mark.parametrize("between", ["if x[i] > 2:", "for k in range(y[i] & 3):"])
def test_JIT_11_halves_from_other_blocks(device, value, between):
    """Selection finds that half of t is all ones, and leaves the constant to the block of the union."""
    lines = ["def kernel(x, y, z, h, out):", "    i = cuda.grid(1)", "    if i < 32:", f"        t = {value}", f"        {between}",
             "            cuda.atomic.add(out, (i, 7), 1)", "            out[i, 1] = t", "        out[i, 0] = t | x[i]"]
    compare("\n".join(lines) + "\n", random.Random(1))


def test_JIT_11_signs_of_masked_bits(device):
    """LLVM 19 took the field that is left of the bits for one without a sign, on NVIDIA GPUs: it learns late that max() is one number."""
    compare("""def kernel(x, y, z, h, out):
    i = cuda.grid(1)
    if i < 32:
        t = ~(max(np.int64(z[i]), np.int64(4294967295)) | y[i])
        if x[i] > 7:
            out[i, 0] = t >> 32
        out[i, 1] = x[i] | t
""", random.Random(1))
