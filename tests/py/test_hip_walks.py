"""Addresses that loops walk along, counted up on AMD GPUs (codegen/target/gpu_walk.c): the same elements as in CPython, whatever
the step, the start, the nesting and the number of arrays, in both variants of a kernel; and that the loops have no products left."""
import re

import numpy as np
import pytest

from quern import cuda, float32, float64, hip, int64, types, void


def one_of_each(a, b, c, out, n):
    for i in range(n):
        out[i] = a[i] * 2 + b[i] - c[i]


def by_columns(a, b, c, out, n):
    for j in range(a.shape[0] // 3):
        for i in range(n // 4):
            out[i] += a[3 * j] * c[i * 3 + j % 2] - b[i + j]


def down(a, b, c, out, n):
    for i in range(n - 1, 2, -1):
        out[i] = a[i - 1] + a[i - 2] + a[i] + b[n - 1 - i]


def both_sides(a, b, c, out, n):
    for i in range(1, n - 1):
        out[i - 1] += a[i - 1] - a[i + 1]
        if c[i] > 0:
            out[i + 1] += b[i]


def in_steps(a, b, c, out, n):
    t = cuda.threadIdx.x
    for i in range(t, n, cuda.blockDim.x):
        out[i] = a[i] + b[n - 1 - i]


def tiles(a, b, c, out, n):
    t = cuda.threadIdx.x
    for i in range(n // 8):
        if t < 8:
            out[t + i * 8] = a[t + i * 8] + b[i]


def while_half(a, b, c, out, n):
    i, k = n - 1, 0
    while i > 0:
        out[k] = a[i] + b[k]
        i //= 2
        k += 2


def left_early(a, b, c, out, n):
    total = 0.0
    for i in range(n):
        if c[i] > 0.9:
            break
        total += a[i] * b[i]
    out[0] = total


def wide(a, b, c, out, n):
    for i in range(np.int64(n)):
        out[i] = a[np.uint64(i)] + b[i & 7]


KERNELS = [one_of_each, by_columns, down, both_sides, in_steps, tiles, while_half, left_early, wide]


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_elements_are_those_of_cpython(device, kernel, overlapping):
    compiled = cuda.jit(kernel)
    for n in (1, 2, 7, 32, 61):
        a, b, c = np.random.default_rng(n).uniform(-1, 1, (3, 128))
        wanted, out = np.zeros(200), np.zeros(200)
        # arrays that lie in each other are for the general variant
        x, y = (a[:n], b[:n]) if not overlapping else (a[:n], a[5:5 + n])
        if n * 3 > 128 and kernel is by_columns:
            continue
        threads = 8 if kernel in (in_steps, tiles) else 1
        for t in range(threads):
            run_in_cpython(kernel, t, threads, (x, y, c, wanted, n))
        compiled[1, threads](x, y, c, out, n)
        np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-12, err_msg=f"{kernel.__name__}, {n}")


def run_in_cpython(kernel, thread, threads, args):
    class Point:
        def __init__(self, x):
            self.x = x

    class cuda:
        threadIdx, blockDim = Point(thread), Point(threads)

    type(kernel)(kernel.__code__, {"cuda": cuda, "np": np})(*args)


def loops(asm):
    """The lines of each innermost loop."""
    found, labels, lines = [], {}, []
    for line in asm.splitlines():
        line = line.split(";")[0].rstrip()
        if label := re.match(r"(\.LBB\w+):", line):
            labels[label.group(1)] = len(lines)
        elif re.match(r"\t[a-z]\w+", line):
            lines.append(line)
            branch = re.match(r"\ts_c?branch\w*\s+(\.LBB\w+)", line)
            if branch and branch.group(1) in labels:
                found.append(lines[labels[branch.group(1)]:])
    return found


def column_sum(a, out):
    x = cuda.grid(1)
    if x < a.shape[1]:
        total = float32(0)
        for k in range(a.shape[0]):
            total += a[k, x]
        out[x] = total


@pytest.mark.optimised
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_loops_have_no_products_left(arch):
    sums, = loops(hip.compile(column_sum, void(types.Array(float32, 2, "C"), types.Array(float32, 1, "C")), arch=arch).asm)
    assert not any("mul" in line or "mad" in line or "ashrrev" in line for line in sums), sums
    assert len(sums) <= 9
    line = types.Array(float64, 1, "C")
    each, = loops(hip.compile(one_of_each, void(line, line, line, line, int64), arch=arch).asm)
    assert not any("lshl" in line and "add" not in line for line in each), each
