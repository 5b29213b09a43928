"""Reductions of arrays in kernels: nothing is stored between two steps."""
import numpy as np
import pytest

from quern import cuda
from quern.errors import TypingError

FUNCTIONS = [np.sum, np.prod, np.mean, np.var, np.std, np.min, np.max, np.all, np.any, np.argmin, np.argmax, np.count_nonzero,
             np.nansum, np.nanprod, np.nanmean, np.nanmin, np.nanmax]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_against_numpy(device, function):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            out[i] = function(a[i])

    rng = np.random.default_rng(5)
    for a in (rng.normal(size=(3, 7)), rng.integers(-4, 5, (3, 6)), rng.normal(size=(2, 3, 4)).astype(np.float32), rng.random((2, 5)) < 0.5):
        if a.dtype == np.bool_ and function in (np.nanmin, np.nanmax):
            continue
        with np.errstate(all="ignore"):
            expected = np.array([function(row) for row in a])
        out = np.zeros(len(a), expected.dtype)
        kernel[1, 8](a, out)
        np.testing.assert_allclose(out, expected, rtol=1e-5 if a.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("function", [np.nansum, np.nanprod, np.nanmean, np.nanmin, np.nanmax, np.var, np.sum])
def test_nan_and_infinity(device, function):
    @cuda.jit
    def kernel(a, out):
        out[0] = function(a)

    for items in ([np.nan, -1.5, 2.5, np.nan, 3], [1, np.inf, np.nan], [np.nan, 2.0], [-0.0, 0.0]):
        a, out = np.array(items), np.zeros(1)
        kernel[1, 1](a, out)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(out[0], function(a), rtol=1e-12)


def test_methods_and_degrees_of_freedom(device):
    @cuda.jit
    def kernel(a, out):
        out[0] = a.var(ddof=1)
        out[1] = a.std()
        out[2] = a.sum() + a.mean() * a.max()
        out[3] = np.var(a[:, 1], None, None, None, 2)

    a, out = np.arange(12.0).reshape(4, 3) ** 1.5, np.zeros(4)
    kernel[1, 1](a, out)
    np.testing.assert_allclose(out, [a.var(ddof=1), a.std(), a.sum() + a.mean() * a.max(), a[:, 1].var(ddof=2)], rtol=1e-12)


def test_complex_variance(device):
    @cuda.jit
    def kernel(a, out):
        out[0] = np.var(a)

    a, out = np.array([1 + 2j, -3j, 0.5, 4 - 1j]), np.zeros(1)
    kernel[1, 1](a, out)
    np.testing.assert_allclose(out[0], a.var(), rtol=1e-12)


def test_axes_are_refused_with_the_reason():
    @cuda.jit
    def kernel(a, out):
        out[0] = np.sum(a, axis=0)[0]

    with pytest.raises(TypingError, match="in a kernel"):
        kernel[1, 1](np.zeros((2, 2)), np.zeros(1))
