"""The variants of a kernel: the fast one, for arrays apart from each other, small spans and small ints, the same for arrays of several
shapes, and the general one.
Each launch says which it takes (QUERN_DUMP=launch); both must give NumPy's results, on every GPU. The cpu device has the general one only."""
import re

import numpy as np
import pytest

from quern import cuda, float64


@pytest.fixture
def fast(device):
    return "general" if device == "cpu" else "fast"


@pytest.fixture
def launched(monkeypatch, capsys):
    """launched(kernel, grid, *args): the variant that ran, "fast" or "general"."""
    monkeypatch.setenv("QUERN_DUMP", "launch")

    def run(kernel, grid, *args):
        capsys.readouterr()
        kernel[grid](*args)
        cuda.synchronize()
        said = capsys.readouterr().err
        assert ("fast" in said) != ("general" in said), said
        return "general" if "general" in said else "fast"

    return run


def window(out, a, first, last):
    i = cuda.grid(1)
    if i < out.shape[0]:
        total = out[i] * 0
        for k in range(first, last):
            total += a[(i + k) % a.shape[0]]
        out[i] = total


def expected_window(n, a, first, last):
    return np.array([sum(a[(i + k) % len(a)] for k in range(first, last)) for i in range(n)], a.dtype)


def between(n, m, dtype):
    """Two arrays that have every other element of one: no element is in both, but their spans overlap."""
    both = np.zeros(2 * max(n, m), dtype)
    return both[::2][:n], both[1::2][:m]


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "i8", "u8", "f4", "f8"])
def test_arrays_that_lie_between_each_other_take_the_general_variant(fast, launched, dtype):
    n, m = 37, 29
    values = (np.arange(m) * 7 % 11).astype(dtype)
    expected = expected_window(n, values, -3, 5)
    kernel = cuda.jit(window)
    out = np.zeros(n, dtype)
    assert launched(kernel, (2, 24), out, values, -3, 5) == fast and (out == expected).all()
    out, a = between(n, m, dtype)
    a[:] = values
    assert launched(kernel, (2, 24), out, a, -3, 5) == "general" and (out == expected).all() and (a == values).all()
    both = cuda.to_device(np.zeros(2 * n, dtype))  # where arrays stay on the device
    out, a = both[::2][:n], both[1::2][:m]
    a[:] = values
    assert launched(kernel, (2, 24), out, a, -3, 5) == "general"
    assert (out.copy_to_host() == expected).all() and (a.copy_to_host() == values).all()


@pytest.mark.parametrize("apart", [True, False])
def test_both_variants_write_two_dimensional_arrays_with_any_strides(fast, launched, apart):
    @cuda.jit
    def outer(out, a, b):
        i, j = cuda.grid(2)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, -1 - j] = a[i] * 100 + b[j, i % 2]

    rows, columns = 9, 7
    whole = np.full((2 * rows, columns, 3), -1, np.int32)
    out = whole[::-2, :, 0]
    a = np.arange(rows, dtype=np.int32) if apart else whole[::2, 3, 1]
    b = np.arange(2 * columns, dtype=np.int32).reshape(columns, 2) if apart else whole[:columns, ::2, 2][:, :2]
    a[:], b[:] = np.arange(rows) * 3, np.arange(2 * columns).reshape(columns, 2)
    keeps = whole.copy()
    expected = a[:, None] * 100 + b[:, np.arange(rows) % 2].T
    assert launched(outer, ((2, 2), (8, 4)), out, a, b) == (fast if apart else "general")
    assert (out[:, ::-1] == expected).all()
    keeps[::-2, :, 0] = out
    assert (whole == keeps).all()


@pytest.mark.parametrize("big", [2**31 + 5, -2**33, 2**62])
def test_ints_beyond_32_bits_take_the_general_variant(fast, launched, big):
    @cuda.jit
    def shifted(out, offset):
        i = cuda.grid(1)
        k = i + offset
        if i < out.shape[0]:
            out[k - offset] = k % 1000

    kernel = shifted
    out = np.zeros(20, np.int64)
    assert launched(kernel, (1, 32), out, 3) == fast and out.tolist() == [(i + 3) % 1000 for i in range(20)]
    launched(kernel, (1, 32), out, big)
    assert out.tolist() == [(i + big) % 1000 for i in range(20)]


def test_parameters_that_are_indices_count_from_the_end_in_the_general_variant(fast, launched):
    @cuda.jit
    def relaxed(a, out, k, past):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a[k, i] + 10 * a[k + 1, i] + 100 * a[k - past, i]

    a = np.arange(12.0).reshape(4, 3) + np.arange(3) / 8
    out = np.zeros(3)
    for k, past in ((0, 0), (1, 1), (2, 3), (0, 2), (-2, 0), (-3, 1), (-4, 0), (-1, 0)):
        assert launched(relaxed, (1, 32), a, out, k, past) == (fast if k >= 0 else "general")
        assert out.tolist() == (a[k] + 10 * a[k + 1] + 100 * a[k - past]).tolist(), (k, past)


def test_shared_memory_and_atomics_in_both_variants(fast, launched):
    @cuda.jit
    def sums(out, counts, a):
        tile = cuda.shared.array(32, float64)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        tile[t] = a[i] if i < a.shape[0] else 0.0
        cuda.syncthreads()
        step = 16
        while step:
            if t < step:
                tile[t] += tile[t + step]
            cuda.syncthreads()
            step //= 2
        if t == 0:
            out[cuda.blockIdx.x] = tile[0]
        if i < a.shape[0]:
            cuda.atomic.add(counts, int(a[i]) % counts.shape[0], 1)

    for general in (False, True):
        out, a = between(4, 100, float) if general else (np.zeros(4), np.zeros(100))
        counts = np.zeros(5, np.int32)
        a[:] = np.arange(100) * 3 % 17
        assert launched(sums, (4, 32), out, counts, a) == ("general" if general else fast)
        assert out.tolist() == [a[k:k + 32].sum() for k in range(0, 100, 32)]
        assert counts.tolist() == np.bincount(a.astype(int) % 5, minlength=5).tolist()


# -- arrays seen as one grid ----------------------------------------------------------------------------------------

@cuda.jit
def differences(out, a, b, w):
    y, x = cuda.grid(2)
    if y < min(out.shape[0], a.shape[0], b.shape[0]) and x < min(out.shape[1], a.shape[1], b.shape[1]):
        out[y, x] = w * a[y, x] - b[y, x]
        if 0 < y < a.shape[0] - 1 and 0 < x < a.shape[1] - 1:
            out[y, x] += a[y - 1, x + 1] + a[y + 1, x - 1] - a[y - 1, x - 1] * a[-1, -1]


def expected_differences(out, a, b, w):
    rows, columns = (min(s) for s in zip(out.shape, a.shape, b.shape, strict=True))
    for y in range(rows):
        for x in range(columns):
            out[y, x] = w * a[y, x] - b[y, x]
            if 0 < y < a.shape[0] - 1 and 0 < x < a.shape[1] - 1:
                out[y, x] += a[y - 1, x + 1] + a[y + 1, x - 1] - a[y - 1, x - 1] * a[-1, -1]


SHAPES = [((5, 7), (5, 7), (5, 7)), ((5, 7), (5, 8), (5, 7)), ((5, 7), (5, 7), (5, 3)), ((4, 7), (5, 7), (6, 7)), ((7, 5), (5, 7), (5, 7)),
          ((1, 1), (1, 1), (1, 1)), ((0, 3), (0, 3), (0, 3)), ((6, 9), (6, 9), (6, 9))]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("where", ["host", "device"])
def test_arrays_seen_as_one_grid_may_have_several_shapes(device, order, where):
    """One after the other, so that each launch takes the variant that its shapes want."""
    rng = np.random.default_rng(3)
    for shapes in SHAPES:
        out, a, b = (np.asarray(rng.integers(-50, 50, s), np.int32, order) for s in shapes)
        expected = out.copy()
        expected_differences(expected, a, b, 3)
        if where == "host":
            differences[(2, 2), (4, 8)](out, a, b, 3)
        else:
            there = cuda.to_device(out)
            differences[(2, 2), (4, 8)](there, cuda.to_device(a), cuda.to_device(b), 3)
            out = there.copy_to_host()
        assert (out == expected).all(), shapes


def test_each_variant_is_compiled_once(device, monkeypatch, capsys):
    if device != "cuda":
        pytest.skip("counts variants by the PTX that QUERN_DUMP prints: on other devices there is none")
    monkeypatch.setenv("QUERN_DUMP", "ptx")

    @cuda.jit
    def add(out, a, b):
        y, x = cuda.grid(2)
        if y < out.shape[0] and x < out.shape[1]:
            out[y, x] = a[y, x] + b[y, x]

    def params(*shapes):
        capsys.readouterr()
        out, a, b = (np.ones(s, np.float32) for s in shapes)
        add[(1, 1), (8, 8)](out, a, b)
        assert (out == 2).all()
        return re.findall(r"\.param \.(\w+)", capsys.readouterr().err)

    square, wide = (4, 5), (4, 6)
    assert sorted(params(square, square, square)) == ["u32", "u32", "u64", "u64", "u64"]  # one shape
    assert params(wide, wide, wide) == []
    assert sorted(params(square, wide, square)) == ["u32"] * 4 + ["u64"] * 3  # lengths of rows of their own
    assert params(square, square, wide) == [] and params(square, square, square) == []


def test_what_is_no_grid_is_not_asked(device, monkeypatch, capsys):
    """The arrays of a product, a table of rows, a kernel of weights: other shapes are no other variant."""
    monkeypatch.setenv("QUERN_DUMP", "ptx")

    @cuda.jit
    def product(a, b, c, weights, rows, table):
        y, x = cuda.grid(2)
        if y < c.shape[0] and x < c.shape[1]:
            total = 0
            for k in range(a.shape[1]):
                total += a[y, k] * b[k, x]
            for i in range(2):
                total += weights[i, 0] + table[rows[y], x]
            c[y, x] = total

    rng = np.random.default_rng(1)
    for n, k, m in ((4, 4, 4), (3, 5, 2), (1, 2, 6)):
        a, b, w, t = (rng.integers(0, 9, s) for s in ((n, k), (k, m), (2, 2), (3, m)))
        rows, c = rng.integers(0, 3, n), np.zeros((n, m), np.int64)
        capsys.readouterr()
        product[(1, 1), (8, 8)](a, b, c, w, rows, t)
        assert (c == a @ b + w[:, 0].sum() + 2 * t[rows]).all()
        assert ("ptx" in capsys.readouterr().err) == (device != "cpu" and n == 4)


def test_code_that_is_compiled_by_itself_takes_arrays_of_any_shape():
    def add(out, a):
        y, x = cuda.grid(2)
        out[y, x] = a[y, x]
    ptx, _ = cuda.compile_ptx(add, "void(float32[:,::1], float32[:,::1])")
    assert len(re.findall(r"\.param \.", ptx)) >= 4
