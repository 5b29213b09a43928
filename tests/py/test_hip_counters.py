"""Loops that count nothing twice on AMD GPUs (codegen/target/amdgpu_counters.c): the same as in CPython where the rounds are known at run
time alone, none or one, begin below zero, step by more than one, or go on where the counter is asked for behind them; and that the
counter is gone where nobody asks."""
import re

import numpy as np
import pytest

from quern import cuda, float32, float64, hip, int32, types, void
from test_hip_offsets import run_in_cpython
from test_hip_walks import loops


def rows(a, b, starts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(starts[i], starts[i + 1]):
            out[i] += a[k] * b[k]


def until(a, b, starts, out):
    """At least one round, whatever the limit is."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        k = starts[i]
        while True:
            out[i] += a[k] * b[k]
            k += 1
            if k >= starts[i + 1]:
                break
        out[i] += 1000 * k


def one_at_least(a, b, starts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        k, end, total = i, starts[i + 1] & 31, 0.0
        while True:
            total += a[k] * b[k]
            k += 1
            if k >= end:
                break
        out[i] = total


def by_two(a, b, starts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(starts[i], starts[i + 1], 2):
            out[i] += a[k] - b[k]


def from_below(a, b, starts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(starts[i] - 3, starts[i + 1] - 3):
            out[i] += a[k + 3] + 2 * b[k + 3]
        for k in range(-3, starts[i] - 3):
            out[i] += a[k + 3]


def down(a, b, starts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(starts[i + 1] - 1, starts[i] - 1, -1):
            out[i] = out[i] * 0.5 + a[k] * b[k]


def asked_for(a, b, starts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        k = starts[i]
        while k < starts[i + 1] and a[k] < 90:
            out[i] += b[k] * k
            k += 1
        out[i] += k


def nested(a, b, starts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        for j in range(i + 1):
            for k in range(starts[j], starts[j + 1]):
                out[i] += a[k] * b[j]


def from_zero(a, b, starts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        total = 0.0
        for k in range(starts[i]):
            total += a[k] - b[k] * 2
        out[i] = total
        for k in range(len(starts)):
            out[i] += starts[k]


KERNELS = [rows, until, one_at_least, by_two, from_below, down, asked_for, nested, from_zero]


@pytest.mark.parametrize("kinds", ["f4f4", "f8f4", "u1i2", "i8i8"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_rounds_are_those_of_cpython(device, kernel, kinds):
    compiled = cuda.jit(kernel)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        starts = np.sort(rng.integers(0, 60, 21)).astype(np.int32)
        starts[4:7] = starts[4]  # empty rows
        if kernel is not nested and seed == 2:
            starts[9], starts[10] = starts[10], starts[9]  # fewer than none
        a, b = (rng.integers(0, 100, 61).astype(kind) for kind in (kinds[:2], kinds[2:]))
        wanted, out = np.zeros(20), np.zeros(20)
        for t in range(20):
            run_in_cpython(kernel, t, (a.tolist(), b.tolist(), starts, wanted))
        compiled[1, 32](a, b, starts, out)
        np.testing.assert_array_equal(out, wanted, err_msg=f"{kernel.__name__}, {seed}")


def both(a, b, starts, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        total = float32(0)
        for k in range(abs(starts[i]), starts[i + 1]):
            total += float32(a[k]) * float32(b[k])
        out[i] = total


@pytest.mark.optimised
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("other, sums", [(float32, 1), (float64, 2)])
def test_one_sum_is_left(arch, other, sums):
    line = lambda kind: types.Array(kind, 1, "C")
    asm = hip.compile(both, void(line(float32), line(other), line(int32), line(float32)), arch=arch).asm
    counted = [len(re.findall(r"v_(?:dual_)?add_(?:nc_)?u32", " ".join(loop))) for loop in loops(asm)]
    assert min(counted) == sums, asm
