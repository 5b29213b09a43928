"""Ints of kernels that become int32 and uint32 where the launch limits sizes (codegen/opt/gpu_ints.c, narrow.c, words.c): values at the
edges of these are what CPython computes."""
import math
import re

import numpy as np
import pytest

from quern import cuda, hip

MASK = 0xFFFFFFFF



@cuda.jit
def strided(a, x, y):
    i = cuda.grid(1)
    while i < x.shape[0]:
        y[i] = a * x[i] + y[i]
        i += cuda.gridsize(1)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_grid_stride_while(device, n):
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    strided[2, 32](2.0, x, y)
    assert (y == 2 * np.arange(n) + 1).all()


@cuda.jit
def generator(seed, states, shifted, below, draws):
    i = cuda.grid(1)
    state = (seed + i * 2654435761) & 0xFFFFFFFF
    count = 0
    for _ in range(draws):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        state ^= (state << 13) & 0xFFFFFFFF
        state ^= state >> 17
        if state < 0x90000000:
            count += 1
    states[i] = state
    shifted[i] = (state >> 3) - (state // 10) + (state % 7)
    below[i] = count


@pytest.mark.parametrize("seed", [0, 1, -1, 2**31, 2**32 - 1, 2**40 + 3, -2**63])
@pytest.mark.parametrize("kind", [np.int64, np.uint32])
def test_words_wrap_as_they_do_in_python(device, seed, kind):
    states, shifted, below = np.zeros(8, kind), np.zeros(8, np.int64), np.zeros(8, np.int32)
    generator[2, 4](seed, states, shifted, below, 20)
    for i in range(8):
        state, count = (seed + i * 2654435761) & MASK, 0
        for _ in range(20):
            state = (state * 1664525 + 1013904223) & MASK
            state ^= (state << 13) & MASK
            state ^= state >> 17
            count += state < 0x90000000
        assert (states[i], shifted[i], below[i]) == (state, (state >> 3) - state // 10 + state % 7, count)


@cuda.jit
def wide(a, out):
    i = cuda.grid(1)
    product = (a[i] & 0xFFFFFFFF) * 3
    out[i, 0] = product >> 1              # more than 32 bits
    out[i, 1] = product & 0x1FFFFFFFF
    out[i, 2] = (product & 0xFFFFFFFF) >> 1
    out[i, 3] = -(product & 0xFFFFFFFF)


def test_what_needs_more_bits_has_them(device):
    a = np.array([0, 1, 2**31, 2**32 - 1, -1, 2**62 + 5], np.int64)
    out = np.zeros((6, 4), np.int64)
    wide[1, 6](a, out)
    for x, row in zip(a.tolist(), out.tolist(), strict=True):
        product = (x & MASK) * 3
        assert row == [product >> 1, product & 0x1FFFFFFFF, (product & MASK) >> 1, -(product & MASK)]


@cuda.jit
def from_the_end(a, index, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[index[i]]


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
def test_indices_from_data_count_from_the_end(device, kind):
    a, index = np.arange(100.0), np.array([0, 99, -1, -100, 5, -95], kind)
    out = np.zeros(6)
    from_the_end[1, 8](a, index, out)
    assert (out == a[index]).all()


@cuda.jit
def ring(now, after):
    x, y = cuda.grid(2)
    h, w = now.shape
    if y < h and x < w:
        total = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                total += now[(y + dy + h) % h, (x + dx + w) % w] * (3 * dy + dx + 5)
        after[y, x] = total


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 3), (7, 6)])
def test_neighbours_on_a_ring(device, shape):
    now = np.arange(shape[0] * shape[1], dtype=np.uint8).reshape(shape)
    after = np.zeros(shape, np.int64)
    ring[(2, 2), (4, 4)](now, after)
    expected = sum(np.roll(now.astype(np.int64), (-dy, -dx), (0, 1)) * (3 * dy + dx + 5) for dy in (-1, 0, 1) for dx in (-1, 0, 1))
    assert (after == expected).all()


@cuda.jit
def sums(a, counts, limit):
    i = cuda.grid(1)
    up = down = both = 0
    for k in range(a.shape[0]):
        if a[k] > limit:
            up += 3
            for j in range(k):
                both += j - 2
        else:
            down -= a[k]
    counts[i, 0], counts[i, 1], counts[i, 2] = up, down, both


def test_sums_over_rounds(device):
    a, counts = np.arange(-4, 40), np.zeros((2, 3), np.int64)
    sums[1, 2](a, counts, 7)
    up, both = sum(3 for v in a if v > 7), sum(j - 2 for k, v in enumerate(a) if v > 7 for j in range(k))
    assert counts.tolist() == [[up, -sum(v for v in a.tolist() if v <= 7), both]] * 2


@pytest.mark.optimised
@pytest.mark.parametrize("kernel, signature", [
    (strided, "void(float32, float32[::1], float32[::1])"),
    (generator, "void(uint32, uint32[::1], uint32[::1], int32[::1], int64)"),
    (ring, "void(uint8[:,::1], int32[:,::1])")])
def test_nothing_of_these_is_computed_in_64_bits(kernel, signature):
    ptx, _ = cuda.compile_ptx(kernel.py_func, signature, cc=(9, 0))
    assert not re.search(r"\t(mul\.lo|and|or|xor|setp\.\w+|selp|div|rem)\.[sub]64", ptx), ptx


@cuda.jit
def searched(keys, table, left, right, steps):
    i = cuda.grid(1)
    if i < keys.size:
        low, high = 0, table.size
        while low < high:
            middle = (low + high) // 2
            if table[middle] < keys[i]:
                low = middle + 1
            else:
                high = middle
        left[i] = low
        low, high, n = -1, table.size, 0
        while high - low > 1:
            middle = (low + high) // 2
            if table[middle] <= keys[i]:
                low = middle
            else:
                high = middle
            n += 1
        right[i], steps[i] = high, n


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 100])
def test_two_variables_that_bound_each_other(device, n):
    rng = np.random.default_rng(n)
    table, keys = np.sort(rng.integers(0, 40, n)), np.arange(-1, 42)
    left, right, steps = (np.full(keys.size, -5) for _ in range(3))
    searched[2, 32](keys, table, left, right, steps)
    assert (left == np.searchsorted(table, keys)).all() and (right == np.searchsorted(table, keys, "right")).all()
    assert steps.max(initial=0) <= n.bit_length() + 1


def test_a_search_is_done_in_int32():
    ptx, _ = cuda.compile_ptx(searched.py_func, "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
    assert "shr.u32" in ptx or "shr.s32" in ptx
    assert not re.search(r"shr\.[us]64", ptx)


@cuda.jit
def quotients(x, y, out):
    i = cuda.threadIdx.x
    a, b = i - 3, -2 * i - 1
    out[i, 0], out[i, 1], out[i, 2] = a // 2, b // 2, (a + b) // (i + 1)
    out[i, 3] = x[(b // 4) % y.size] + y[(a // 7) % x.size]


def test_quotients_of_what_is_below_zero(device):
    x, y, out = np.arange(9), np.arange(9) * 10, np.zeros((32, 4), np.int64)
    quotients[1, 32](x, y, out)
    for i in range(32):
        a, b = i - 3, -2 * i - 1
        assert out[i].tolist() == [a // 2, b // 2, (a + b) // (i + 1), x[b // 4 % 9] + y[a // 7 % 9]]


def wrapped(v):
    return (v + 2**63) % 2**64 - 2**63


@cuda.jit
def growing(a, out):
    """Variables that bound each other no more: they leave int32."""
    low, high, n = 0, a.size, 0
    while low < high and n < 70:
        if a[n % a.size] > 0:
            low, high = low - high, high + high
        else:
            low += high // 3
        n += 1
    out[0], out[1], out[2] = low, high, n


@pytest.mark.parametrize("pattern", [[1], [1, 0], [0, 0, 1], [0]])
def test_two_variables_that_leave_each_other(device, pattern):
    a, out = np.array(pattern * 3), np.zeros(3, np.int64)
    growing[1, 1](a, out)
    low, high, n = 0, a.size, 0
    while low < high and n < 70:
        if a[n % a.size] > 0:
            low, high = wrapped(low - high), wrapped(2 * high)
        else:
            low = wrapped(low + high // 3)
        n += 1
    assert out.tolist() == [low, high, n]


@cuda.jit
def converted(x, ints, words, halves, short):
    i = cuda.grid(1)
    if i < x.size:
        ints[i, 0], ints[i, 1], ints[i, 2], ints[i, 3] = int(x[i]), math.floor(x[i]), math.ceil(x[i]), round(x[i])
        words[i, 0], words[i, 1] = np.uint64(x[i]), np.uint64(np.floor(x[i]))
        halves[i, 0], halves[i, 1] = np.int32(x[i]), np.int32(np.floor(x[i]))
        short[i, 0], short[i, 1] = np.uint32(x[i]), np.uint32(np.ceil(x[i]))


def saturated(v, bits, signed):
    if np.isnan(v):
        return 0
    low, high = (-2**(bits - 1), 2**(bits - 1) - 1) if signed else (0, 2**bits - 1)
    return low if v <= low else high if v >= high else int(v)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_become_ints_that_saturate(device, kind):
    edges = [0, -0.0, 0.4, 0.5, 1.5, 2.5, 1e-30, 2**24 + 1, 2**31, 2**31 - 129, 2**32, 2**32 - 257, 2**63, 2**63 - 2**40, 2**64, 1e19, 1e38, np.inf]
    x = np.array(edges + [-v for v in edges] + [np.nan], kind)
    ints, words = np.zeros((x.size, 4), np.int64), np.zeros((x.size, 2), np.uint64)
    halves, short = np.zeros((x.size, 2), np.int32), np.zeros((x.size, 2), np.uint32)
    converted[1, 64](x, ints, words, halves, short)
    for i, v in enumerate(x):
        down, up = np.floor(v), np.ceil(v)
        assert ints[i].tolist() == [saturated(r, 64, True) for r in (v, down, up, np.rint(v))], v
        assert halves[i].tolist() == [saturated(r, 32, True) for r in (v, down)], v
        assert short[i].tolist() == [saturated(r, 32, False) for r in (v, up)], v
        if v >= 0:
            assert words[i].tolist() == [saturated(r, 64, False) for r in (v, down)], v


@pytest.mark.parametrize("to", [np.int8, np.int16, np.uint8, np.uint16])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_become_short_ints_that_saturate(device, kind, to):
    @cuda.jit
    def shortened(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0], out[i, 1], out[i, 2] = to(x[i]), to(np.floor(x[i])), to(np.rint(x[i]))

    edges = [0, 0.5, 0.99, 1.5, 126.5, 127, 127.5, 128, 128.5, 129, 200, 254.5, 255, 255.5, 256, 32766.5, 32767.5, 32768.5, 65534.5, 65535.5, 65536,
             2**31 - 0.5, 2**31, 2**32, 2**32 + 5, 2**63, 1e30, np.inf]
    x = np.array(edges + [-v for v in edges] + [np.nan, -np.nan], kind)
    out = np.zeros((x.size, 3), to)
    shortened[1, 64](x, out)
    bits, signed = np.iinfo(to).bits, np.iinfo(to).min < 0
    assert out.tolist() == [[saturated(r, bits, signed) for r in (v, np.floor(v), np.rint(v))] for v in x]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32])
def test_float16_becomes_ints_that_saturate(device, kind):
    @cuda.jit
    def halves(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = kind(x[i])

    edges = [0, 0.5, 1.5, 100, 127, 128, 200, 255, 256, 32752, 32768, 40000, 65504, np.inf]
    x = np.array(edges + [-v for v in edges] + [np.nan, -np.nan], np.float16)
    out = np.zeros(x.size, kind)
    halves[1, 64](x, out)
    bits, signed = np.iinfo(kind).bits, np.iinfo(kind).min < 0
    assert out.tolist() == [saturated(v, bits, signed) for v in x.tolist()]


def test_an_index_made_of_a_limited_float_is_an_int32_in_kernels_with_checks(device):
    @cuda.jit(debug=True, opt=True)
    def marked(out, m, x):
        out[int(m - 0.5)] = 1
        out[int(min(max(x, 0.0), float(out.shape[0] - 1)))] = 2

    out = np.zeros(6, np.int64)
    marked[1, 1](out, 3, 4.5)
    assert out.tolist() == [0, 0, 1, 0, 2, 0]


@cuda.jit
def sampled(field, at, out):
    i = cuda.grid(1)
    n = field.shape[0]
    if i < at.size and n > 0:
        f = min(max(at[i], np.float32(0)), np.float32(n - 1))
        k = int(f)
        out[i, 0], out[i, 1] = k, field[k]
        k = int(max(min(np.float32(n - 1), at[i]), np.float32(-1)))
        out[i, 6] = field[k]
        k -= 1
        out[i, 2], out[i, 3] = k, field[k % n]
        out[i, 4] = int(min(at[i] * at[i], at[i] - 3)) + 1
        out[i, 5] = int(max(min(at[i], np.float32(5)), np.float32(2)) * min(np.float32(n), np.float32(3)))


def chosen(v):
    return saturated(v, 64, True)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_floats_between_limits(device, n):
    """Where what is compared is no number, the choice is the first or the second: either is right for a kernel, and so is the int."""
    field = np.arange(n, dtype=np.int64) * 5 + 2
    at = np.array([0, 0.5, 1, 5.9, 6, 1e9, 3e38, -0.5, -1, -3e38, np.inf, -np.inf, np.nan], np.float32)
    out = np.zeros((at.size, 7), np.int64)
    sampled[1, 32](field, at, out)
    one = np.float32
    for i, v in enumerate(at):
        k = out[i, 0]
        assert out[i, 6] == field[out[i, 2] + 1]
        with np.errstate(all="ignore"):
            if np.isnan(v):
                assert 0 <= k < n and out[i, 1] == field[k] and -2 <= out[i, 2] < n and out[i, 3] == field[out[i, 2] % n]
                continue
            assert k == chosen(min(max(v, one(0)), one(n - 1))) and out[i, 1] == field[k]
            assert out[i, 2] == chosen(max(min(one(n - 1), v), one(-1))) - 1 and out[i, 3] == field[out[i, 2] % n]
            assert out[i, 4] == wrapped(chosen(min(v * v, v - one(3))) + 1)
            assert out[i, 5] == chosen(max(min(v, one(5)), one(2)) * one(min(n, 3)))


def test_conversions_are_one_instruction():
    @cuda.jit
    def convert(x, a, b):
        i = cuda.grid(1)
        if i < x.size:
            a[i] = np.int32(x[i])
            b[i] = math.floor(x[i])
    ptx, _ = cuda.compile_ptx(convert.py_func, "void(float32[::1], int32[::1], int64[::1])")
    assert "cvt.rzi.s32.f32" in ptx and "cvt.rmi.s64.f32" in ptx and re.findall(r"setp\.(\w+)\.f32", ptx) == ["nan"]


def test_an_int_of_a_float_between_limits_is_an_int32():
    ptx, _ = cuda.compile_ptx(sampled.py_func, "void(int64[::1], float32[::1], int64[:,::1])")
    assert len(re.findall(r"cvt.rzi.s32.f32", ptx)) == 3 and len(re.findall(r"cvt.rzi.s64.f32", ptx)) == 1


def bits(a, b, x, out):
    """Bits of ints on either side of zero; x is an int of a float on the way to an index."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        low, high = a[i], b[i]
        out[i, 0] = low ^ high
        out[i, 1] = low | high
        out[i, 2] = low & high
        out[i, 3] = (i - 3) ^ (high & 7)
        out[i, 4] = (i - 3) | -len(a)
        out[i, 5] = (i - 3) & -len(a)
        out[i, 6] = a[(i % 8 - 3) ^ 5]
        out[i, 7] = a[-4 | i % 8] + a[(i % 8 - 6) & -2]
        out[i, 8] = ((i - 5) ^ 2) // 3


def test_bits_of_what_is_below_zero(device):
    ends = np.array([-2**31, -2**31 + 1, -2**30 - 1, -2**30, -9, -8, -1, 0, 1, 7, 8, 2**30, 2**31 - 1], np.int32)
    a, b = (x.ravel() for x in np.meshgrid(ends, ends))
    out = np.zeros((len(a), 9), np.int64)
    cuda.jit(bits)[3, 64](a, b, 0.0, out)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        wanted = [x ^ y, x | y, x & y, (i - 3) ^ (y & 7), (i - 3) | -len(a), (i - 3) & -len(a),
                  a[(i % 8 - 3) ^ 5], int(a[-4 | i % 8]) + int(a[(i % 8 - 6) & -2]), ((i - 5) ^ 2) // 3]
        assert out[i].tolist() == wanted, (x, y)


def cut(x, y, out, few):
    i = cuda.grid(1)
    if i < x.shape[0]:
        k, wide = x[i], y[i]
        out[i, 0] = min(k + 1, few.shape[0] - 1)
        out[i, 1] = max(k - 1, -few.shape[0])
        out[i, 2] = min(few.shape[0], 2147483647 + k)
        out[i, 3] = max(k - 2147483647, few.shape[0])
        out[i, 4] = max(min(k + 3, few.shape[0] - 1), 0)
        out[i, 5] = min(max(k - 3, 0), few.shape[0] - 1)
        out[i, 6] = min(wide + 1, few.shape[0])
        out[i, 7] = min(k - 1, few.shape[0]) + (k - 1)
        out[i, 8] = min(k + 1, k - 2)
        out[i, 9] = min(k + 5, -2147483648 + few.shape[0])


def test_sums_that_leave_int32_and_are_cut_back(device):
    x = np.array([-2**31, -2**31 + 1, -2**31 + 2, -2**31 + 3, -5, -1, 0, 1, 2, 4, 5, 2**31 - 6, 2**31 - 4, 2**31 - 2, 2**31 - 1], np.int32)
    y = np.array([*x[:-4].astype(np.int64) * 2**20, -2**63, -2**63 + 1, 2**63 - 2, 2**63 - 1])
    out, few, limit = np.zeros((len(x), 10), np.int64), np.zeros(5), 5
    cuda.jit(cut)[1, 32](x, y, out, few)
    for i, (k, wide) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        wanted = [min(k + 1, 4), max(k - 1, -5), min(5, 2147483647 + k), max(k - 2147483647, 5), max(min(k + 3, 4), 0),
                  min(max(k - 3, 0), 4), min((wide + 1 + 2**63) % 2**64 - 2**63, limit), min(k - 1, 5) + (k - 1), min(k + 1, k - 2), min(k + 5, -2147483648 + 5)]
        assert out[i].tolist() == wanted, k


def floats(n, a, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i, 0] = n / 3
        for k in range(n):
            out[i, 1] += a[k % 4] * np.float32(n)
        out[i, 2] = a.shape[0] / 7 + (i - 2) * 0.5


@pytest.mark.parametrize("n", [-2**40, -7, 0, 5])
def test_small_ints_become_floats(device, n):
    a, out = np.arange(4, dtype=np.float32), np.zeros((8, 3))
    cuda.jit("void(int64, float32[::1], float64[:, ::1])")(floats)[1, 8](n, a, out)
    for i in range(8):
        total = 0.0
        for k in range(n):
            total += float(a[k % 4]) * n
        assert out[i].tolist() == [n / 3, total, 4 / 7 + (i - 2) * 0.5]


def test_none_of_these_is_computed_in_64_bits():
    def kernel(x, n, out, few):
        i = cuda.grid(1)
        if i < n and (i ^ n) > 3:
            out[min(x[i] + 1, few.shape[0] - 1)] = n
    line = "float32[::1]"
    text = hip.compile(kernel, f"void(int32[::1], int64, {line}, {line})", arch="gfx942", launch_bounds=1024).llvm
    assert not re.search(r"icmp \w+ i64|@llvm.[su]m(in|ax).i64|sitofp i64|add [a-z ]*i64", text), text


@cuda.jit
def smallest_divisors(first, step, out):
    i = cuda.grid(1)
    if i < out.size:
        n = first + i
        d = 2
        while d * d <= n:
            if n % d == 0:
                break
            d += step
        out[i] = d if d * d <= n else n


@pytest.mark.parametrize("first", [-40, 0, 2**30 - 1100, 2**30 - 1000, 2**31 - 70, 3 * 10**9])
def test_trial_division(device, first):
    def divisor(n, step):
        d = 2
        while d * d <= n and n % d:
            d += step
        return d if d * d <= n else n

    for step in (1, 3, 2**31, 3 * 10**9):
        out = np.zeros(40, np.int64)
        smallest_divisors[2, 32](first, step, out)
        assert out.tolist() == [divisor(first + i, step) for i in range(40)], step


@cuda.jit
def exclusive_sums(x, out):
    tile = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    tile[2 * t], tile[2 * t + 1] = x[2 * t], x[2 * t + 1]
    offset = 1
    d = 32
    while d > 0:
        cuda.syncthreads()
        if t < d:
            tile[offset * (2 * t + 2) - 1] += tile[offset * (2 * t + 1) - 1]
        offset *= 2
        d //= 2
    if t == 0:
        tile[63] = 0
    d = 1
    while d < 64:
        offset >>= 1
        cuda.syncthreads()
        if t < d:
            left, right = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            tile[left], tile[right] = tile[right], tile[left] + tile[right]
        d <<= 1
    cuda.syncthreads()
    out[2 * t], out[2 * t + 1] = tile[2 * t], tile[2 * t + 1]


def test_strides_that_double_and_halve(device):
    x, out = np.arange(3, 67) ** 2, np.zeros(64, np.int64)
    exclusive_sums[1, 32](x, out)
    assert out.tolist() == [0, *np.cumsum(x)[:-1].tolist()]


@cuda.jit
def powers(rounds, factor, out):
    n, m, k = rounds, 1, 1
    while n > 0:
        m *= 3
        k *= factor
        n >>= 1
    j = 1
    while j < rounds:
        j *= 4
        m += j
    out[0], out[1], out[2] = m, k, j


@pytest.mark.parametrize("rounds", [0, 1, 5, 1000, 2**30 - 1024, 2**30, 2**62])
def test_products_of_limited_rounds(device, rounds):
    for factor in (2, -3, 2**15):
        out = np.zeros(3, np.int64)
        powers[1, 1](rounds, factor, out)
        n, m, k, j = rounds, 1, 1, 1
        while n > 0:
            n, m, k = n >> 1, m * 3, k * factor
        while j < rounds:
            j *= 4
            m += j
        assert out.tolist() == [(v + 2**63) % 2**64 - 2**63 for v in (m, k, j)]


@cuda.jit
def hashed(data, table, out):
    i = cuda.grid(1)
    if i < out.size:
        crc, short, total = np.uint32(0xFFFFFFFF), np.uint16(7), 0
        for k in range(data.shape[1]):
            crc = (crc >> np.uint32(8)) ^ table[(crc ^ data[i, k]) & np.uint32(0xFF)]
            short = np.uint16(short * np.uint16(31) + data[i, k])
            total += table[np.uint8(crc + data[i, k])] + np.uint16(crc - short)
        out[i] = total + short


def test_parts_of_words_are_cut_after_they_were_computed(device):
    rng = np.random.default_rng(5)
    data, table = rng.integers(0, 256, (40, 9)).astype(np.uint8), rng.integers(0, 2**32, 256).astype(np.uint32)
    out = np.zeros(40, np.int64)
    hashed[2, 32](data, table, out)
    for row, found in zip(data.tolist(), out.tolist()):
        crc, short, total = 0xFFFFFFFF, 7, 0
        for byte in row:
            crc = crc >> 8 ^ int(table[(crc ^ byte) & 255])
            short = (short * 31 + byte) & 0xFFFF
            total += int(table[(crc + byte) & 255]) + (crc - short & 0xFFFF)
        assert found == total + short


@cuda.jit
def escapes(real, limit, counts):
    i = cuda.grid(1)
    if i < real.size:
        a = np.float32(0)
        count = 0
        while count < limit and a * a < 4:
            a = a * a + real[i]
            count += 1
        counts[i] = count


@pytest.mark.parametrize("limit", [-3, 0, 1, 2, 7, 8, 2**31, 2**40])
def test_a_counter_behind_its_loop(device, limit):
    real = np.array([3, 1, 0.5, 0.3, 2, 0.26, 4], np.float32)
    counts = np.zeros(real.size, np.int32)
    escapes[1, 32](real, limit, counts)
    for r, found in zip(real, counts.tolist()):
        a, count = np.float32(0), 0
        while count < limit and a * a < 4:
            a, count = a * a + r, count + 1
        assert found == count


@cuda.jit
def signed_bits(a, b, low, single, double, whole):
    """An int that is 0 or -1, which LLVM converts as one bit."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        single[i] = -1 + ((a[i] < b[i]) | (a[i] == 0))
        double[i] = -1 + ((a[i] != b[i]) ^ (b[i] > 1))
        whole[i] = float(-((a[i] > b[i]) & (a[i] > 0))) + low


@cuda.jit
def signed_bits_of_two(a, b, out):
    i = 2 * cuda.grid(1)
    if i + 1 < out.shape[0]:
        out[i] = -1 + ((a[i] < b[i]) | (a[i] == 0))
        out[i + 1] = -1 + ((a[i + 1] < b[i + 1]) | (a[i + 1] == 0))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_two_bits_with_signs_side_by_side(device, dtype):
    a, b = np.array([1, 2, 3, 3, -1, 0], np.int32), np.array([2, 1, 3, 4, -1, -1], np.int32)
    out = np.full(6, 9, dtype)
    signed_bits_of_two[1, 32](a, b, out)
    assert out.tolist() == [-1.0 + bool((x < y) | (x == 0)) for x, y in zip(a, b, strict=True)]


def test_one_bit_with_a_sign(device):
    a, b = np.array([1, 2, 3, 3, -1, 0]), np.array([2, 1, 3, 4, -1, -1])
    single, double, whole = np.full(6, 9, np.float32), np.full(6, 9.0), np.full(6, 9.0)
    signed_bits[1, 32](a, b, 0.5, single, double, whole)
    pairs = [(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert single.tolist() == [-1.0 + ((x < y) | (x == 0)) for x, y in pairs]
    assert double.tolist() == [-1.0 + ((x != y) ^ (y > 1)) for x, y in pairs]
    assert whole.tolist() == [0.5 - ((x > y) & (x > 0)) for x, y in pairs]


@cuda.jit
def are_digits(text, out):
    i = cuda.grid(1)
    if i < text.size:
        out[i] = ord("0") <= text[i] <= ord("9")


def test_ord_of_what_is_written_down(device):
    text, out = np.frombuffer(b"/09:a", np.uint8), np.zeros(5, np.bool_)
    are_digits[1, 8](text, out)
    assert out.tolist() == [False, True, True, False, False]
