"""Loops of kernels with a round that a test takes apart (codegen/opt/apart.c): rounds stay in order, and there are as many, whether the value
is among those of the counter, in front of them, behind them or no int32."""
import random

import numpy as np
import pytest

from quern import cuda

ROWS = 48
LAUNCHES = [(0, 9, 4), (0, 9, 0), (0, 9, 8), (0, 9, 9), (0, 0, 0), (3, 9, 20), (3, 9, 2), (-2, 9, 0), (-2, 9, -1), (9, 3, 5), (0, 64, 63), (1, 65, 40),
            (0, 9, -1), (0, 9, 2**31 + 4), (0, 9, 4 - 2**40)]


def compiled(value, rounds, body, results="s, c, r"):
    lines = "".join(f"            {line}\n" for line in body)
    source = (f"def kernel(a, low, n, k, x, out):\n    i = cuda.grid(1)\n    if i < out.shape[0]:\n        s, c, r = 0, 1, -1\n"
              f"        v = {value}\n        for j in {rounds}:\n{lines}"
              f"        out[i, 0], out[i, 1], out[i, 2] = {results}\n")
    return source


class Thread:
    """What `cuda` is to a kernel that CPython runs."""

    def __init__(self, i):
        self.grid = lambda axes: i


def check(source):
    space = {"cuda": cuda}
    exec(source, space)
    kernel = cuda.jit(space["kernel"])
    a = np.random.default_rng(5).integers(0, 50, 70)
    for low, n, k in LAUNCHES:
        found, expected = np.zeros((2, ROWS, 3), np.int64)
        kernel[2, 32](a, low, n, k, int(a[7]), found)
        for i in range(ROWS):
            space["cuda"] = Thread(i)
            space["kernel"](a, low, n, k, int(a[7]), expected)
        space["cuda"] = cuda
        assert np.array_equal(found, expected), (source, low, n, k)


@pytest.mark.parametrize("rounds", ["range(n)", "range(low, n)", "range(low + 1, n - 1)"])
@pytest.mark.parametrize("value", ["i", "k", "i + k % 5", "i - 3", "8 - i"])
def test_apart_but_one(device, value, rounds):
    check(compiled(value, rounds, ["if j != v:", "    s = (s * 31 + a[j]) % 10007"]))


@pytest.mark.parametrize("body", [
    ["if j == v:", "    c += s", "else:", "    s = (s * 31 + a[j]) % 10007"],
    ["if v == j:", "    continue", "s = (s * 31 + a[j]) % 10007", "if s > 9000:", "    break"],
    ["if j != v and a[j] == x:", "    r = j", "    break", "s, c = c, s + a[j]"],
    ["if j == v:", "    r = s", "    break", "s += a[j]"],
    ["s, c, r = c, r, s + (a[j] if j == v else 3)"],
    ["out[i, 0] = s", "s = out[i, 0] + (1 if j != v else 100)"],
    ["if j != v and j != k:", "    s += a[j]", "elif j == k:", "    c = s"],
    ["if j != i:", "    for t in range(3):", "        s = (s * 7 + a[j - t]) % 10007"]])
def test_apart_bodies(device, body):
    check(compiled("i", "range(low, n)", body))


def test_apart_in_a_loop_over_rows(device):
    @cuda.jit
    def kernel(a, out):
        for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
            s = 0
            for j in range(a.shape[1]):
                if j != i:
                    s = (s * 31 + a[i, j]) % 10007
            out[i] = s

    for rows, columns in (70, 70), (70, 33), (9, 80), (0, 4), (5, 0):
        a = np.random.default_rng(6).integers(0, 50, (rows, columns))
        found = np.full(rows, -1)
        kernel[2, 16](a, found)
        for i in range(rows):
            s = 0
            for j in range(columns):
                if j != i:
                    s = (s * 31 + a[i, j]) % 10007
            assert s == found[i], (rows, columns, i)
        kernel[2, 16](a[::-1, ::-1], found)  # compiled for other strides
        for i in range(rows):
            s = 0
            for j in range(columns):
                if j != i:
                    s = (s * 31 + a[rows - 1 - i, columns - 1 - j]) % 10007
            assert s == found[i], (rows, columns, i)


def test_apart_not_where_work_items_meet(device):
    @cuda.jit
    def kernel(out):
        shared = cuda.shared.array(32, np.int64)
        i = cuda.threadIdx.x
        s = 0
        for j in range(out.shape[0]):
            shared[i] = j * 100 + i
            cuda.syncthreads()
            if j != i:
                s += shared[(i + 1) % 32]
            cuda.syncthreads()
        out[i] = s

    found = np.zeros(32, np.int64)
    kernel[1, 32](found)
    assert found.tolist() == [sum(j * 100 + (i + 1) % 32 for j in range(32) if j != i) for i in range(32)]


def random_loop(chance):
    value = lambda: chance.choice(["s", "c", "r", "j", "a[j]", "1", "x", "k % 7"])  # noqa: E731
    step = lambda: (f"{chance.choice('scr')} = ({value()} * {value()} + {value()}) % 1009"  # noqa: E731
                    if chance.random() < 0.7 else "s, c, r = r, s, c")
    test = lambda: chance.choice(["j != v", "v == j", "j == v", "v != j", "j != i", "j == k"])  # noqa: E731
    body = []
    for _ in range(chance.randrange(1, 4)):
        if chance.random() < 0.3:
            body.append(step())
        body += [f"if {test()}:", f"    {step()}"]
        if chance.random() < 0.2:
            body.append(chance.choice(["    continue", "    break"]))
        elif chance.random() < 0.4:
            body += ["else:", f"    {step()}"]
    body.append(step())
    if chance.random() < 0.3:
        body += [f"if {value()} == {value()} + 3:", "    break"]
    return compiled(chance.choice(["i", "k", "i + 2", "i - k % 4", "n - 1", "n", "low", "low - 1 + i"]),
                    chance.choice(["range(n)", "range(low, n)", "range(i, n)", "range(n - 1, low - 1, -1)", "range(low, n, 2)"]), body)


@pytest.mark.parametrize("seed", range(40))
def test_random_apart(device, seed):
    check(random_loop(random.Random(seed)))
