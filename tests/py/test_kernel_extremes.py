"""The minimum and the maximum of float32 numbers in kernels, by min, max and tests (codegen/target/nvptx_extremes.c): zeros of both signs and
NaN come out as Python has them, whatever the hardware makes of them."""
import itertools
import math
import random
import re

import numpy as np
import pytest

from quern import cuda

NUMBERS = np.array([0.0, -0.0, 1.0, -1.0, 255.0, 254.5, math.nan, math.inf, -math.inf, 1e-40, -1e-40, 3e38], np.float32)
OPERANDS = ("x", "y", "x * x", "x * y", "x + y", "x * x + y * y", "abs(y)", "np.float32(k)", "np.float32(k * k)", "np.float32(0.0)", "np.float32(-0.0)",
            "np.float32(255.0)", "np.float32(-1.0)", "max(np.float32(0.0), x)", "min(x, np.float32(1.0))")
FORMS = ("min({a}, {b})", "max({a}, {b})", "{a} if {a} < {b} else {b}", "{b} if {a} < {b} else {a}", "{a} if {a} <= {b} else {b}",
         "{b} if {a} >= {b} else {a}", "{a} if not {a} < {b} else {b}", "{b} if not {a} > {b} else {a}", "{a} if not {b} <= {a} else {b}")


def same(a, b):
    return np.all((np.isnan(a) & np.isnan(b)) | (a.view(np.uint32) == b.view(np.uint32)))


def compiled(body, *names):
    space = {"cuda": cuda, "np": np}
    exec(body, space)
    return [space[name] for name in names]


@pytest.mark.parametrize("seed", range(6))
def test_FLT_03_extremes_of_two(device, seed):
    chance = random.Random(seed)
    pairs = [(a, b) for a, b in itertools.product(OPERANDS, OPERANDS) if a != b]
    choices = [chance.choice(FORMS).format(a=a, b=b) for a, b in chance.sample(pairs, 30)]
    body = "".join(f"    out[{n}, i] = {choice}\n" for n, choice in enumerate(choices))
    kernel, function = compiled(f"def kernel(p, q, n, out):\n    i = cuda.grid(1)\n    x, y, k = p[i], q[i], n[i]\n{body}"
                                f"def function(x, y, k, out, i):\n{body}", "kernel", "function")
    p, q = (np.ascontiguousarray(v) for v in np.array(list(itertools.product(NUMBERS, NUMBERS)), np.float32).T)
    n = np.arange(p.size, dtype=np.int32) % 5 - 2
    found, expected = np.zeros((2, len(choices), p.size), np.float32)
    cuda.jit(kernel)[1, p.size](p, q, n, found)
    with np.errstate(all="ignore"):
        for i in range(p.size):
            function(p[i], q[i], n[i], expected, i)
    for choice, e, f in zip(choices, expected, found, strict=True):
        assert same(e, f), choice


def least_square(a, y, out):
    best = np.float32(1e30)
    for k in range(a.shape[1]):
        best = min(best, (a[y, k] - np.float32(1)) * (a[y, k] - np.float32(1)))
    out[y, 0] = best


def least(a, y, out):  # of zeros the first
    best = np.float32(1e30)
    for k in range(a.shape[1]):
        if a[y, k] < best:
            best = a[y, k]
    out[y, 0] = best


def least_from_the_first(a, y, out):  # which may be NaN
    best = a[y, 0]
    for k in range(1, a.shape[1]):
        best = min(best, a[y, k] * a[y, k])
    out[y, 0] = best


def most_of_two(a, y, out):
    one, other = np.float32(0), np.float32(-3)
    for k in range(a.shape[1]):
        if k % 3 == 0:
            one, other = other, one
        one = max(one, abs(a[y, k]))
        other = other if other >= a[y, k] else a[y, k]
    out[y, 0], out[y, 1] = one, other


def most_or_nothing(a, y, out):
    best = np.float32(0)
    for k in range(a.shape[1]):
        best = max(best, a[y, k])
        if best > 250:
            best = a[y, k] - a[y, k]
    out[y, 0] = best


@pytest.mark.parametrize("function", [least_square, least, least_from_the_first, most_of_two, most_or_nothing])
def test_FLT_03_extremes_of_loops(device, function):
    chance = np.random.default_rng(5)
    a = NUMBERS[chance.integers(0, NUMBERS.size, (96, 7))]
    device_function = cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(a, out):
        y = cuda.grid(1)
        if y < a.shape[0]:
            device_function(a, y, out)

    found, expected = np.zeros((2, a.shape[0], 2), np.float32)
    kernel[3, 32](a, found)
    with np.errstate(all="ignore"):
        for y in range(a.shape[0]):
            function(a, y, expected)
    assert same(expected, found)


def text_of(kernel, chip="sm_90"):
    return cuda.compile_ptx(kernel, "void(float32[::1], float32[::1])", cc=(int(chip[3:]) // 10, int(chip[3:]) % 10))[0]


def kernel_of(choice):
    kernel, = compiled(f"def kernel(x, out):\n    i = cuda.grid(1)\n    out[i] = {choice}\n", "kernel")
    return kernel


@pytest.mark.parametrize("choice, instruction", [
    ("max(np.float32(0), x[i])", r"max\.f32"), ("min(np.float32(1), x[i])", r"min\.f32"), ("min(x[i], np.float32(255))", r"min\.NaN\.f32"),
    ("min(np.float32(9), x[i] * x[i])", r"min\.f32"), ("min(x[i], np.float32(0))", r"min\.NaN\.f32"),
    ("max(x[i], np.float32(0))", None), ("min(np.float32(0), x[i])", None), ("max(x[i], x[i + 1])", None)])
def test_extremes_are_one_instruction_where_they_are_the_same(choice, instruction):
    text = text_of(kernel_of(choice))
    assert bool(instruction) == bool(re.search(instruction or r"m(in|ax)\.", text)) and bool(instruction) != ("setp" in text)


def test_extremes_with_NaN_need_sm_80():
    assert "setp" in text_of(kernel_of("min(x[i], np.float32(255))"), "sm_75")
    assert "max.f32" in text_of(kernel_of("max(np.float32(0), x[i])"), "sm_75")
