"""Loops of kernels: indices from data that may count from the end, ranges between ints from data, rounds side by side, addresses that are
counted up (codegen/opt/bounds.c, ranges.c, codegen/llvm/cg_inst.c, codegen/target/gpu_walk.c): the same elements as in CPython, whatever
the number of rounds, and code without what is not needed."""
import re

import numpy as np
import pytest

from quern import _gpu, _quern, cuda, float32, hip

LENGTHS = list(range(0, 10)) + [15, 16, 17, 31, 35]


@cuda.jit
def rows(indptr, indices, data, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        total = float32(0)
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * x[indices[k]]
        y[row] = total


def row_by_row(indptr, indices, data, x):
    return [float(sum(data[k] * x[indices[k]] for k in range(indptr[r], indptr[r + 1]))) for r in range(len(indptr) - 1)]


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("bounds", [
    [0, *np.cumsum(LENGTHS)],
    [5, 5, 3, 9, 0],  # empty, backwards
    [-4, 3, -1, 2, -len(LENGTHS), 40],  # from the end over the start
    [-9, -5, -5, -1, -1]])
def test_rows_between_ints_from_data(device, kind, bounds):
    n = sum(LENGTHS)
    rng = np.random.default_rng(5)
    indices = rng.integers(-30, 30, n).astype(kind)
    indices[:4] = -30, 29, 0, -1
    data, x = rng.integers(-9, 9, n).astype(np.float32), np.arange(30, dtype=np.float32)
    y = np.full(len(bounds) - 1, -1, np.float32)
    rows[2, 16](np.array(bounds, kind), indices, data, x, y)
    assert y.tolist() == row_by_row(bounds, indices, data, x)


@cuda.jit
def walks(a, b, out, n, first):
    x = cuda.grid(1)
    down = along = strided = back = both = float32(0)
    for i in range(n):
        down += a[i, x] * (i + 1)
    for i in range(first, n):
        along += b[i + x] * b[n - 1 - i]
    i = x
    while i < n:
        strided = strided * 3 + b[i]
        i += 3
    k = n - 1
    while k >= 0:
        back = back * 2 + b[k]
        k -= 1
    for i in range(n):
        if b[i] > 3:
            both += a[i, x] - b[i + 1]
    out[x, 0], out[x, 1], out[x, 2], out[x, 3], out[x, 4] = down, along, strided, back, both


@pytest.mark.parametrize("n", LENGTHS)
def test_rounds_side_by_side(device, n):
    a = (np.arange(40 * 4, dtype=np.float32) % 7).reshape(40, 4)
    b = (np.arange(50, dtype=np.float32) * 5 % 11) - 3
    for first in (0, -3, 2, n, n + 1):
        out = np.zeros((4, 5), np.float32)
        walks[2, 2](a, b, out, n, first)
        for x in range(4):
            strided = back = np.float32(0)
            for i in range(x, n, 3):
                strided = np.float32(strided * 3 + b[i])
            for i in range(n - 1, -1, -1):
                back = np.float32(back * 2 + b[i])
            assert out[x].tolist() == [sum(a[i, x] * (i + 1) for i in range(n)), sum(b[i + x] * b[n - 1 - i] for i in range(first, n)),
                                       strided, back, sum(a[i, x] - b[i + 1] for i in range(n) if b[i] > 3)]


@cuda.jit
def clamped(image, out, radius):
    x, y = cuda.grid(2)
    h, w = image.shape
    if x < w and y < h:
        total = 0
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                total += image[min(max(y + dy, 0), h - 1), max(0, min(x + dx, w - 1, 100))] * (3 * dy + dx)
        out[y, x] = total


@pytest.mark.parametrize("radius", [-1, 0, 1, 2, 5])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (6, 1), (5, 4)])
def test_clamped_indices(device, shape, radius):
    image = (np.arange(shape[0] * shape[1]) * 7 % 13).reshape(shape)
    out = np.full(shape, -7)
    clamped[(2, 2), (4, 4)](image, out, radius)
    h, w = shape
    assert out.tolist() == [[sum(int(image[min(max(y + dy, 0), h - 1), max(0, min(x + dx, w - 1))]) * (3 * dy + dx)
                                 for dy in range(-radius, radius + 1) for dx in range(-radius, radius + 1))
                             for x in range(w)] for y in range(h)]


@cuda.jit
def between(ends, out, low, high, least):
    i = cuda.grid(1)
    count = total = 0
    for k in range(ends[i, 0], ends[i, 1]):
        count += 1
        total ^= k * 3
    for k in range(low, high):
        count += 1000
        total ^= -k
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = count, total, min(-low, high, i), max(least, -high)


@pytest.mark.parametrize("low, high", [(2**63 - 5, 2**63 - 1), (-2**63, -2**63 + 3), (2**31 - 2, 2**31 + 3), (-2**31 - 2, -2**31 + 1),
                                       (5, -5), (2**63 - 1, -2**63), (-3, 4)])
def test_ranges_at_the_ends_of_ints(device, low, high):
    ends = np.array([[low, high], [0, 0], [-2, 3], [2**63 - 1, 2**63 - 1]])
    out = np.zeros((4, 4), np.int64)
    between[1, 4](ends, out, low, high, -2**31 - 1)

    def wrapped(v):
        return (v + 2**63) % 2**64 - 2**63

    for i, (first, last) in enumerate(ends.tolist()):
        count = total = 0
        for k in range(first, last):
            count, total = count + 1, wrapped(total ^ (k * 3))
        for k in range(low, high):
            count, total = count + 1000, wrapped(total ^ -k)
        assert out[i].tolist() == [count, total, min(wrapped(-low), high, i), max(-2**31 - 1, wrapped(-high))]


@cuda.jit
def search(keys, table, found):
    i = cuda.grid(1)
    if i < keys.size:
        low, high = 0, table.size
        while low < high:
            middle = (low + high) // 2
            if table[middle] < keys[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 100])
def test_a_search_by_halves(device, n):
    table, keys = np.arange(n, dtype=np.float32) * 2, np.arange(-1, 40, dtype=np.float32)
    found = np.full(keys.size, -1)
    search[2, 32](keys, table, found)
    assert found.tolist() == np.searchsorted(table, keys).tolist()


@cuda.jit
def meeting(a, out, n):
    """Two variables that go towards each other, past each other, and one that leaves int32."""
    i = cuda.grid(1)
    low, high, wide = -3, n, 1
    while low < high:
        low += 2
        high -= i
        wide = wide * 3 + (low + high) // 2
    out[i, 0], out[i, 1], out[i, 2] = low, high, wide


@pytest.mark.parametrize("n", [-5, 0, 1, 60])
def test_variables_that_meet(device, n):
    out = np.zeros((4, 3), np.int64)
    meeting[1, 4](out, out, n)
    for i in range(4):
        low, high, wide = -3, n, 1
        while low < high:
            low, high = low + 2, high - i
            wide = wide * 3 + (low + high) // 2
        assert out[i].tolist() == [low, high, (wide + 2**63) % 2**64 - 2**63]


@cuda.jit
def flat(a, out, width, shift, period):
    i = cuda.grid(1)
    if i < out.shape[0]:
        x, y = i % width, i // width
        out[i, 0], out[i, 1], out[i, 2] = x, y, a[x] + 10 * a[i % width - 1]
        out[i, 3], out[i, 4] = (i + shift) % period, (i + shift) // period


@pytest.mark.parametrize("width", [1, 3, 7, -4, 2**30 - 1024, 2**30, 2**62, -2**63])
@pytest.mark.parametrize("shift, period", [(0, 1), (-9, 4), (5, -3), (-2**40, 7), (2**62, 2**61), (-1, -2**63)])
def test_divisors_of_every_sign_and_size(device, width, shift, period):
    a, out = np.arange(20), np.full((12, 5), -1)
    flat[2, 8](a, out, width, shift, period)
    for i in range(12):
        x = i % width
        expected = [x, i // width, int(a[x] + 10 * a[x - 1]) if -20 < x < 20 else None, (i + shift) % period, (i + shift) // period]
        assert [e for e in zip(out[i].tolist(), expected) if e[1] is not None and e[0] != e[1]] == []


@cuda.jit
def together(a, starts, out):
    """The rows of some threads begin in front of the start: all threads meet in one loop nevertheless."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(starts[t], starts[t] + 5):
        s[t] = a[k]
        cuda.syncthreads()
        total += s[cuda.blockDim.x - 1 - t] + cuda.shfl_xor_sync(0xFFFFFFFF, a[k], 1)
        cuda.syncthreads()
    out[t] = total


def test_where_threads_meet_there_is_one_loop(device):
    a, starts = np.arange(50, dtype=np.float32), np.array([-3, 4, -20, 0] * 16)
    out = np.zeros(64, np.float32)
    together[1, 64](a, starts, out)
    sums = [[a[k] for k in range(first, first + 5)] for first in starts]
    assert out.tolist() == [float(sum(sums[63 - t]) + sum(sums[t ^ 1])) for t in range(64)]


def loops_of(kernel, signature):
    """The text of each innermost loop."""
    ptx, _ = cuda.compile_ptx(kernel, signature, cc=(9, 0))
    found, open_at = [], {}
    lines = ptx.splitlines()
    for i, line in enumerate(lines):
        if label := re.match(r"(\$L\w+):", line):
            open_at[label.group(1)] = i
        elif (back := re.search(r"bra(?:\.uni)?\s+(\$L\w+);", line)) and back.group(1) in open_at:
            found.append((open_at[back.group(1)], i))
    return ["\n".join(lines[s:e + 1]) for s, e in found if not any(s <= a and b <= e and (a, b) != (s, e) for a, b in found)]


LINE, PLANE = "float32[::1]", "float32[:,::1]"


@pytest.mark.optimised
def test_one_index_of_a_row_may_count_from_the_end():
    loops = loops_of(rows.py_func, f"void(int32[::1], int32[::1], {LINE}, {LINE}, {LINE})")
    main = max(loops, key=lambda loop: loop.count("fma"))
    assert main.count("fma.rn.f32") == 4
    assert main.count("min.u32") == 4  # of x[indices[k]], not of data[k] and indices[k]
    assert "nounroll" not in main, "ptxas may go on"
    assert len(re.findall(r"add\.s64\s+(%rd\d+), \1,", main)) == 2, "a pointer into each array"


def column(a, out):
    x = cuda.grid(1)
    if x < a.shape[1]:
        total = float32(0)
        for i in range(a.shape[0]):
            total += a[i, x]
        out[x] = total


@pytest.mark.optimised
def test_a_column_is_walked_along():
    main = max(loops_of(column, f"void({PLANE}, {LINE})"), key=lambda loop: loop.count("add.rn.f32"))
    assert main.count("add.rn.f32") == 4
    assert "mul" not in main and "nounroll" not in main


def grid_stride(x, y):
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        y[i] = x[i]


@pytest.mark.optimised
def test_a_step_of_the_launch_has_no_pointers():
    loop, = loops_of(grid_stride, f"void({LINE}, {LINE})")
    assert loop.count("ld.global") == 1 and loop.count("mul.wide.u32") == 1


@pytest.mark.optimised
def test_clamped_indices_do_not_count_from_the_end():
    ptx, _ = cuda.compile_ptx(clamped.py_func, "void(int32[:,::1], int32[:,::1], int64)", cc=(9, 0))
    assert "min.u32" not in ptx and not re.search(r"(min|max|setp\.\w+)\.s64", ptx)


@pytest.mark.optimised
def test_one_copy_of_loops_where_threads_meet():
    ptx, _ = cuda.compile_ptx(together.py_func, f"void({LINE}, int64[::1], {LINE})", cc=(9, 0))
    assert ptx.count("bar.sync") <= 2 * 5 and "setp.lt.s64" not in ptx.split("bar.sync")[0]
    assert len(re.findall(r"ld\.shared", ptx)) == ptx.count("shfl.sync"), "one copy, whatever was unrolled"


@pytest.mark.optimised
def test_a_divisor_is_asked_to_be_above_zero():
    options = {**_gpu.compile_options({}), "target": 1}
    ptx = _quern.compile_kernel(flat.py_func, "void(int32[::1], int32[:,::1], int64, int64, int64)", options, "sm_90", False)["code"].decode()
    assert not re.search(r"(div|rem|selp|setp\.\w+)\.[sbu]64", ptx), ptx
    assert ptx.count("rem.u32") + ptx.count("div.u32") == 1, "of what is not negative"


@cuda.jit
def remainders(out, w):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = i % w


@pytest.mark.optimised
def test_code_by_itself_asks_nothing_of_divisors():
    """Nobody tests them there."""
    signature = "void(int64[::1], int64)"
    for ptx in (cuda.compile_ptx(remainders.py_func, signature, cc=(9, 0))[0], remainders.compile_to_ptx(signature, "sm_90")):
        assert re.findall(r"rem\.\w+", ptx) == ["rem.s32"] and "setp.eq" in ptx
    asm = hip.compile(remainders.py_func, signature, arch="gfx942").asm
    assert "v_ashrrev_i32" in asm, "signs are looked at"


# -- elements beside a place -----------------------------------------------------------------------------------------

@cuda.jit
def neighbours(a, cube, out):
    tile = cuda.shared.array((6, 10), np.float64)
    x, y = cuda.grid(2)
    ty, tx = cuda.threadIdx.y + 1, cuda.threadIdx.x + 1
    h, w = a.shape
    if y < h and x < w:
        tile[ty, tx] = a[y, x]
        if ty == 1:
            tile[ty - 1, tx] = a[(y - 1) % h, x]
        if ty == 4:
            tile[ty + 1, tx] = a[(y + 1) % h, x]
    cuda.syncthreads()
    if y < h and x < w:
        out[y, x] = tile[ty - 1, tx] * 3 - tile[ty + 1, tx] + tile[ty, tx]
        if 2 <= y and 1 <= x < w - 1:
            out[y, x] += a[y - 2, x + 1] * 100 + a[y - 2, x - 1]
        if x >= 3:
            out[y, x] -= a[-1, x - 3]
        if 1 <= y < cube.shape[0] - 1 and x < cube.shape[1] - 2:
            for z in range(1, cube.shape[2] - 1):
                out[y, x] += cube[y - 1, x + 2, z + 1] - 7 * cube[y + 1, x + 1, z - 1] + cube[y, x, z]
        if y < 2 and x < w - 1:
            for dy in range(2):
                out[y, x] += a[y + dy + 1, x + 1 - dy]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["i1", "i4", "f8"])
def test_elements_beside_a_place(device, order, kind):
    rng = np.random.default_rng(5)
    h, w = 4, 8
    a, cube = (np.asarray(rng.integers(-9, 9, s), kind, order) for s in ((h, w), (4, 7, 5)))
    b, c = a.astype(np.int64), cube.astype(np.int64)
    out, expected = np.zeros((h, w), np.int64, order), np.zeros((h, w), np.int64)
    for y in range(h):
        for x in range(w):
            expected[y, x] = b[y - 1, x] * 3 - b[(y + 1) % h, x] + b[y, x]
    for y in range(h):
        for x in range(w):
            if 2 <= y and 1 <= x < w - 1:
                expected[y, x] += b[y - 2, x + 1] * 100 + b[y - 2, x - 1]
            if x >= 3:
                expected[y, x] -= b[-1, x - 3]
            if 1 <= y < 3 and x < 5:
                for z in range(1, 4):
                    expected[y, x] += c[y - 1, x + 2, z + 1] - 7 * c[y + 1, x + 1, z - 1] + c[y, x, z]
            if y < 2 and x < w - 1:
                expected[y, x] += b[y + 1, x + 1] + b[y + 2, x]
    neighbours[(1, 1), (8, 4)](a, cube, out)
    assert (out == expected).all()


def sums_so_far(a, starts, out):
    s = cuda.grid(1)
    if s < starts.shape[0] - 1:
        total = float32(0)
        for i in range(starts[s], starts[s + 1]):
            out[i] = total
            total += a[i]


@pytest.mark.optimised
def test_loops_that_share_an_exit_branch_back():
    """Three loops end where the kernel ends; one stands in front of it. ptxas unrolls those that end with a branch back alone."""
    ptx, _ = cuda.compile_ptx(sums_so_far, f"void({LINE}, int32[::1], {LINE})", cc=(9, 0))
    lines = [line.strip() for line in ptx.splitlines()]
    starts = {line[:-1]: k for k, line in enumerate(lines) if line.endswith(":")}
    back = [line for k, line in enumerate(lines) if "bra" in line and starts[line.rstrip(";").split()[-1]] < k]
    assert len(back) >= 3 and not any("bra.uni" in line for line in back), back


@cuda.jit
def halvings(x, limit, most, flags, out):
    """Loops that begin in several places and end in one, by comparisons of floats that may be nan, of ints, and by flags."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        count, v, go = 0, x[i], True
        if i % 3 == 0:
            while v > limit:
                v /= 2
                count += 1
        elif i % 3 == 1:
            while True:
                v /= 2
                out[i] += v > 1
                count += 1
                if count > most:
                    break
                out[i] += v > 2
                if v < limit:
                    break
        else:
            while go:
                go = flags[count] != 0 and count != i
                count += 1
        out[i] += count


@pytest.mark.parametrize("limit", [1.0, float("nan"), float("inf")])
def test_loops_that_share_an_exit(device, limit):
    x = np.array([9.0, 9.0, 1.0, float("nan"), float("nan"), 3.0, 1e9, 1e9, -4.0, float("inf") if limit > 1 else 5.0, 0.5, 2.0])
    flags, out, expected = np.ones(20, np.uint8), np.zeros(len(x), np.int64), []
    flags[7] = 0
    halvings[1, 32](x, limit, 9, flags, out)
    for i, v in enumerate(x):
        count = seen = 0
        if i % 3 == 0:
            while v > limit:
                v, count = v / 2, count + 1
        elif i % 3 == 1:
            while count <= 9:
                v, count = v / 2, count + 1
                seen += int(v > 1) + (count <= 9 and v > 2)
                if v < limit:
                    break
        else:
            count = min(7, i) + 1
        expected.append(count + seen)
    assert out.tolist() == expected
