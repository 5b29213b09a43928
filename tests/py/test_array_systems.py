"""Square matrices beside NumPy: solve, inv, det, cholesky, powers; over LAPACK and without it."""
import os
import subprocess
import sys

import numpy as np
import pytest

import quern
from quern import njit

DTYPES = ["float32", "float64", "complex64", "complex128", "int32"]
SIZES = [1, 2, 8, 9, 30]  # up to 8 rows are ours, more LAPACK's


def matrix(rng, dtype, shape):
    """Far from singular."""
    a = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return np.round(a + 2 * shape[-1] * np.eye(shape[-1]), 3).astype(dtype)


def same(got, want):
    assert np.shape(got) == np.shape(want)
    if isinstance(want, np.ndarray):
        assert isinstance(got, np.ndarray) and got.dtype == want.dtype
    tolerance = 1e-3 if np.finfo(want.dtype).bits == 32 else 1e-10
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@njit
def solve(a, b):
    return np.linalg.solve(a, b)


@njit
def inv(a):
    return np.linalg.inv(a)


@njit
def det(a):
    return np.linalg.det(a)


@njit
def cholesky(a):
    return np.linalg.cholesky(a)


@njit
def upper_cholesky(a):
    return np.linalg.cholesky(a, upper=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_solve_and_inv(dtype, n):
    rng = np.random.default_rng(1)
    a, b = matrix(rng, dtype, (n, n)), rng.integers(1, 9, (n, 3)).astype(dtype)
    before = a.copy(), b.copy()
    same(solve(a, b), np.linalg.solve(a, b))
    same(solve(a, b[:, 0]), np.linalg.solve(a, b[:, 0]))
    same(solve(a.T, b[::-1]), np.linalg.solve(a.T, b[::-1]))
    same(inv(a), np.linalg.inv(a))
    assert np.array_equal(a, before[0]) and np.array_equal(b, before[1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_det(dtype, n):
    rng = np.random.default_rng(2)
    a = matrix(rng, dtype, (n, n)) // 4 if dtype == "int32" else matrix(rng, dtype, (n, n)) / (2 * n)
    same(det(a), np.linalg.det(a)) if dtype != "int32" else np.testing.assert_allclose(det(a), np.linalg.det(a), rtol=1e-9)
    swapped = np.ascontiguousarray(a[::-1])  # rows change places: the sign
    np.testing.assert_allclose(det(swapped), np.linalg.det(swapped), rtol=1e-3 if np.dtype(dtype).itemsize == 4 or dtype == "complex64" else 1e-9)


def test_det_is_zero_of_singular_ones():
    for n in (3, 20):
        assert det(np.zeros((n, n))) == 0
    assert det(np.zeros((0, 0))) == 1


@pytest.mark.parametrize("dtype", DTYPES[:4])
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(dtype, n):
    a = matrix(np.random.default_rng(3), dtype, (n, n))
    a = a @ a.conj().T
    want = np.linalg.cholesky(a)
    same(cholesky(a), want)
    lower = a.copy()
    lower[np.triu_indices(n, 1)] = 7  # is not read
    same(cholesky(lower), want)
    same(upper_cholesky(np.ascontiguousarray(lower.conj().T)), np.ascontiguousarray(want.conj().T))


@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32", "complex128"])
def test_matrix_power(dtype):
    f = njit(lambda a, n: np.linalg.matrix_power(a, n))
    rng = np.random.default_rng(13)
    a = rng.integers(-3, 4, (3, 3)).astype(dtype)
    stack = rng.integers(-3, 4, (2, 3, 3)).astype(dtype)
    for n in range(6):
        for x in (a, a.T, stack):
            got, want = f(x, n), np.linalg.matrix_power(x, n)
            assert got.dtype == want.dtype and np.array_equal(got, want)
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        f(a[:2], 2)
    with pytest.raises(np.linalg.LinAlgError, match="at least two-dimensional"):
        f(a[0], 2)
    regular = matrix(rng, dtype, (3, 3))
    if dtype in DTYPES[:4]:
        same(f(regular, -3), np.linalg.matrix_power(regular, -3))
    else:
        with pytest.raises(ValueError, match="negative power"):
            f(regular, -3)


def test_stacks():
    rng = np.random.default_rng(4)
    a = matrix(rng, "float64", (2, 3, 4, 4))
    for b in (rng.random((4, 2)), rng.random(4), rng.random((2, 3, 4, 5)), rng.random((2, 1, 4, 5))):
        same(solve(a, b), np.linalg.solve(a, b))
    same(solve(a[0, 0], rng.random((3, 4, 2)) * 0 + 1), np.linalg.solve(a[0, 0], np.ones((3, 4, 2))))
    same(inv(a), np.linalg.inv(a))
    same(det(a), np.linalg.det(a))
    same(cholesky(a @ np.swapaxes(a, -1, -2)), np.linalg.cholesky(a @ np.swapaxes(a, -1, -2)))
    same(inv(a[:0]), np.linalg.inv(a[:0]))


@pytest.mark.parametrize("n", [3, 12])
def test_singular_matrices(n):
    for f in (inv, lambda a: solve(a, a)):
        for a in (np.zeros((n, n)), np.ones((2, n, n)), np.zeros((n, n), np.complex64)):
            with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
                f(a)
    for f in (cholesky, upper_cholesky):
        for a in (-np.eye(n), np.diag([1.0] * (n - 1) + [0.0]), np.full((n, n), -1.0)):
            with pytest.raises(np.linalg.LinAlgError, match="Matrix is not positive definite"):
                f(a)


def test_nan_is_no_error():
    for n in (2, 12):
        a = np.full((n, n), np.nan)
        assert np.isnan(cholesky(a)).sum() == np.isnan(np.linalg.cholesky(a)).sum()
        assert np.isnan(inv(a)).all() and np.isnan(det(a))


def test_what_is_no_system():
    for f in (inv, det, cholesky, lambda a: solve(a, a)):
        with pytest.raises(np.linalg.LinAlgError, match="must be square"):
            f(np.ones((2, 3)))
        with pytest.raises(np.linalg.LinAlgError, match="at least two-dimensional"):
            f(np.ones(3))
        with pytest.raises(TypeError, match="float16 is unsupported in linalg"):
            f(np.ones((2, 2), np.float16))
    with pytest.raises(ValueError, match="mismatch in its core dimension 0"):
        solve(np.eye(3), np.ones(4))


def test_kernels_refuse_them():
    @quern.cuda.jit
    def kernel(a, c):
        c[0] = np.linalg.det(a)

    with pytest.raises((quern.TypingError, quern.UnsupportedError), match="kernel|GPU"):
        kernel[1, 1](np.eye(3), np.ones(1))


def test_nothing_leaks():
    a = np.eye(10) * 2
    for f in (inv, det, cholesky):
        f(a)
    before = quern._quern.live_allocations()
    for f in (inv, det, cholesky):
        f(a)
        if f is not det:
            with pytest.raises(np.linalg.LinAlgError):
                f(-a * 0)
    assert quern._quern.live_allocations() == before


def test_the_same_without_lapack():
    if os.environ.get("QUERN_BLAS"):
        pytest.skip("QUERN_BLAS is set: this is the run that the test starts")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__, "-k", "solve_and or cholesky or det or singular"], env=dict(os.environ, QUERN_BLAS="none"), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
