"""The two variants of a kernel: the fast one, for arrays apart from each other, small spans and small ints, and the general one.
Each launch says which it takes (QUERN_DUMP=launch); both must give NumPy's results, on every GPU. The cpu device has the general one only."""
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
