"""Elements that iterations of a loop over prange change: by atomic operations where the index is not the loop's own."""
import numpy as np
import pytest

from quern import njit, prange

INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def test_PAR_02_elements_that_several_iterations_change(capsys):
    """Counts by an index out of an array lose nothing, whatever the threads do."""
    def f(bins, w, up, down, bits, small):
        for i in prange(len(bins)):
            k = bins[i]
            up[k] += w[i]
            down[k % 2, k // 2] -= w[i]
            small[i // 8 - 1] += 1
            if k > 3:
                bits[k - 20] ^= k + i

    n, rng = 40000, np.random.default_rng(3)
    bins = rng.integers(0, 16, n)
    for w in (rng.integers(-9, 9, n).astype(float), rng.integers(0, 100, n).astype(np.float32), rng.integers(-9, 9, n)):
        for dtype in INTS:
            start = np.ones(16, w.dtype), np.ones((2, 8), w.dtype), np.ones(16, dtype), np.ones(n // 8, dtype)
            x, y = [a.copy() for a in start], [a.copy() for a in start]
            function = njit(parallel=True)(f)
            function(bins, w, *x)
            njit(f)(bins, w, *y)
            assert all((p == q).all() for p, q in zip(x, y)), (w.dtype, dtype)
    function.parallel_diagnostics()
    assert "are changed by atomic operations" in capsys.readouterr().out
    with pytest.raises(IndexError):
        function(bins - 100, w, *start)


def test_PAR_02_elements_of_an_iterations_own_are_changed_without_atomics(capsys):
    @njit(parallel=True)
    def f(a, b, n):
        for i in prange(1, len(a)):
            a[i] += 1
            a[len(a) - i] -= i
            for j in range(n):
                b[(i - 1) * n + j] += j

    f(np.zeros(9), np.zeros(40), 5)
    f.parallel_diagnostics()
    text = capsys.readouterr().out
    assert "runs on several threads" in text and "atomic" not in text


def test_PAR_02_what_only_looks_like_an_update():
    """What is cut to fewer bits, and what something else writes in between, is as it is written."""
    def narrowed(h, k):
        for i in prange(1):
            h[k[i]] = np.int8(h[k[i]] + 100)
            j = k[i + 1]
            h[j] = np.int8(h[j]) + 1
            h[j] = np.uint8(h[j] - 3)

    def written_between(h, k, other):
        for i in prange(1):
            j = k[i]
            old = h[j]
            other[j] = 1000
            h[j] = old + 1

    k = np.array([3, 5, 6])
    for f, args in ((narrowed, lambda: (np.full(8, 400), k)), (written_between, lambda: (h := np.arange(8), k, h))):
        x, y = args(), args()
        njit(parallel=True)(f)(*x)
        f(*y)
        assert (x[0] == y[0]).all(), f
