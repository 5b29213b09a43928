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
