"""Ints that kernels make of floats are int32 where nobody sees the difference (codegen/opt/saturate.c): whatever the float, what comes out is
that of an int64 that saturates."""
import inspect
import math
import os
import pathlib
import re
import sys

import numpy as np
import pytest

from quern import cuda, hip

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
import float_ints  # noqa: E402
from float_ints import EDGES, saturated, wrong_ints  # noqa: E402


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

@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_FLT_07_ints_of_floats_in_kernels(device, body, kind):
    assert not wrong_ints(inspect.getsource(body), kind)


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


ROUNDS = int(os.environ.get("QUERN_PROGRAMS", "240")) // 8


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(ROUNDS)])
def test_random_bodies(device, seed):
    assert not wrong_ints(float_ints.program(seed).source, np.float32 if seed % 3 else np.float64)


def between_pixels(device):
    """The loads at k say that k is a number of an element, so that k + 1 is an int32, too; where k is tested first it may be any."""
    @cuda.jit
    def sample(x, image, out):
        i = cuda.grid(1)
        k = int(x[i])
        m = min(k + 1, image.shape[0] - 1)
        out[i, 0] = image[k] * (1 - (x[i] - k)) + image[m] * (x[i] - k)
        n = int(x[i] * 3)
        o = min(n + 1, image.shape[0] - 1)
        if 0 <= n < image.shape[0]:
            out[i, 1] = image[n]
        out[i, 2] = o

    return sample


def test_neighbours_of_an_index(device):
    sample = between_pixels(device)
    image = np.array([3.0, 5, 8, 13], np.float32)
    x = np.array([0, 0.5, 1.25, 2.75, 3.5, -0.5, -1.5, -3.25], np.float32)
    out, want = np.zeros((8, 3), np.float32), np.zeros((8, 3), np.float32)
    sample[2, 4](x, image, out)
    for i, v in enumerate(x.tolist()):
        k, n = int(v), int(v * 3)
        m = min(k + 1, 3)
        want[i, 0] = image[k] * (1 - (v - k)) + image[m] * (v - k)
        want[i, 1] = image[n] if 0 <= n < 4 else 0
        want[i, 2] = min(n + 1, 3)
    assert out.tolist() == want.tolist()


def test_an_index_behind_a_test_may_be_any_int(device):
    @cuda.jit
    def k(x, t, out):
        i = cuda.grid(1)
        k = int(x[i])
        m = min(k + 1, t.shape[0])
        if 0 <= k < t.shape[0]:
            out[i, 0] = t[k]
        out[i, 1] = m

    x = np.array([0, 3e9, 1e30, -3e9, -1e30, np.inf, -np.inf, np.nan], np.float32)
    t, out = np.ones(3, np.float32), np.zeros((8, 2))
    k[2, 4](x, t, out)
    assert out[:, 1].tolist() == [min(saturated(float(v)) + 1, 3) if saturated(float(v)) < 2 ** 63 - 1 else -2.0 ** 63 for v in x]
