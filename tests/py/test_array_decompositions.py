"""Singular values, eigenvalues, QR, least squares, ranks and norms by them, beside NumPy; and what happens without LAPACK."""
import os
import subprocess
import sys

import numpy as np
import pytest

import quern
from quern import njit

DTYPES = ["float32", "float64", "complex64", "complex128", "int16"]
FEW = ["float64", "complex64", "int16"]
SHAPES = [(1, 1), (3, 3), (5, 2), (2, 5), (20, 20), (2, 4, 3), (0, 3), (3, 0), (2, 0, 3), (0, 2, 2)]
LinAlgError = np.linalg.LinAlgError


def matrix(dtype, shape, seed=1):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape) * 3
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def hermitian(dtype, shape):
    a = matrix(dtype, shape)
    return a + np.swapaxes(a, -1, -2).conj()


def same(got, want):
    if isinstance(want, tuple):
        assert type(got) is type(want) and len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
        return
    assert np.shape(got) == np.shape(want)
    if isinstance(want, np.ndarray):
        assert isinstance(got, np.ndarray) and got.dtype == want.dtype
    tolerance = 2e-3 if np.asarray(want).dtype in (np.float32, np.complex64) else 1e-9
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def forms(a):
    """The same values in several layouts."""
    if a.dtype != np.float64:
        return [a]
    wide = np.zeros(a.shape[:-1] + (2 * a.shape[-1],), a.dtype)
    wide[..., ::2] = a
    return [a, np.asfortranarray(a), wide[..., ::2]]


def compiled(source, arguments="a"):
    space = {"np": np}
    exec(f"def f({arguments}): return {source}", space)
    return space["f"], njit(space["f"])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("source", ["np.linalg.svd(a)", "np.linalg.svd(a, full_matrices=False)", "np.linalg.svd(a, True, False)"])
def test_svd(source, dtype):
    plain, f = compiled(source)
    for shape in SHAPES:
        a = matrix(dtype, shape)
        want = plain(a)
        for x in forms(a):
            before = x.copy()
            got = f(x)
            assert np.array_equal(x, before)
            if not isinstance(want, tuple):
                same(got, want)
                continue
            assert type(got) is type(want)
            for g, w in zip(got, want):
                assert g.shape == w.shape and g.dtype == w.dtype
            u, s, vh = got
            same(s, want.S)
            k = s.shape[-1]
            same((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a.astype(u.dtype) if a.size else (want.U[..., :k] * want.S[..., None, :]) @ want.Vh[..., :k, :])
            same(np.swapaxes(u, -1, -2).conj() @ u, np.broadcast_to(np.eye(u.shape[-1], dtype=u.dtype), u.shape[:-2] + (u.shape[-1],) * 2))


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_svd_of_hermitian_ones(dtype):
    plain, f = compiled("np.linalg.svd(a, hermitian=True)")
    values = compiled("np.linalg.svd(a, compute_uv=False, hermitian=True)")[1]
    for shape in ((4, 4), (2, 3, 3)):
        a = hermitian(dtype, shape)
        got, want = f(a), plain(a)
        same(got.S, want.S)
        same(values(a), want.S)
        same((got.U * got.S[..., None, :]) @ got.Vh, a)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_eig_of_complex_numbers(dtype):
    f, values = compiled("np.linalg.eig(a)")[1], compiled("np.linalg.eigvals(a)")[1]
    for shape in ((1, 1), (3, 3), (20, 20), (2, 3, 3), (0, 0), (2, 0, 0)):
        a = matrix(dtype, shape)
        for x in forms(a):
            w, v = f(x)
            assert type(f(x)) is type(np.linalg.eig(x)) and w.dtype == v.dtype == a.dtype
            same(np.sort(w), np.sort(np.linalg.eigvals(a)))
            same(np.sort(values(x)), np.sort(np.linalg.eigvals(a)))
            same(a @ v, v * w[..., None, :])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_eig_of_real_numbers(dtype):
    f, values = compiled("np.linalg.eig(a)")[1], compiled("np.linalg.eigvals(a)")[1]
    for shape in ((1, 1), (3, 3), (20, 20), (2, 3, 3), (0, 0)):
        a = hermitian(dtype, shape)
        a[..., :1, -1:] *= 2  # eigenvalues stay real: the product of opposite elements is positive
        want = np.linalg.eigvals(a)
        if want.dtype.kind == "c":  # from NumPy 2.5 on always
            assert not want.imag.any()
            want = want.real
        w, v = f(a)
        assert w.dtype == v.dtype == want.dtype
        same(np.sort(w), np.sort(want))
        same(np.sort(values(a)), np.sort(want))
        same(a.astype(v.dtype) @ v, v * w[..., None, :])


def test_the_dtype_of_eigenvalues_does_not_depend_on_values():
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    for name in ("eig", "eigvals"):
        f = compiled(f"np.linalg.{name}(a)")[1]
        for a in (turn, turn.astype(np.float32), np.stack([np.eye(2), turn])):
            with pytest.raises(ValueError, match=name + r"\(\) argument must not cause a domain change"):
                f(a)
        w = f(turn + 0j)[0] if name == "eig" else f(turn + 0j)
        same(w[np.argsort(w.imag)], np.array([-1j, 1j]))


@pytest.mark.parametrize("dtype", FEW)
def test_eigh(dtype):
    for part in ("", ", UPLO='U'", ", 'l'"):
        plain, f = compiled(f"np.linalg.eigh(a{part})")
        values = compiled(f"np.linalg.eigvalsh(a{part})")[1]
        for shape in ((1, 1), (3, 3), (20, 20), (2, 3, 3), (0, 0)):
            a = hermitian(dtype, shape)
            read = a.copy()
            read[..., np.tril(np.ones(shape[-2:], bool), -1) if "U" in part else np.triu(np.ones(shape[-2:], bool), 1)] = 1  # is not read
            for x in forms(read):
                w, v = f(x)
                want = plain(read)
                assert type(f(x)) is type(want) and v.dtype == want[1].dtype and w.dtype == want[0].dtype
                same(w, want[0])
                same(values(x), want[0])
                same(a.astype(v.dtype) @ v, v * w[..., None, :])
    with pytest.raises(ValueError, match="UPLO argument must be 'L' or 'U'"):
        compiled("np.linalg.eigh(a, 'x')")[1](np.eye(2))


@pytest.mark.parametrize("dtype", FEW)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r", "raw"])
def test_qr(mode, dtype):
    plain, f = compiled(f"np.linalg.qr(a, mode={mode!r})")
    for shape in SHAPES:
        a = matrix(dtype, shape)
        for x in forms(a):
            same(f(x), plain(x))
    with pytest.raises(ValueError, match="Unrecognized mode"):
        compiled("np.linalg.qr(a, 'other')")[1](np.eye(2))


@pytest.mark.parametrize("dtype", FEW)
def test_lstsq(dtype):
    for more in ("", ", rcond=None", ", rcond=0.4"):
        plain, f = compiled(f"np.linalg.lstsq(a, b{more})", "a, b")
        for shape in ((3, 3), (5, 2), (2, 5), (0, 3), (3, 0), (0, 0)):
            a = matrix(dtype, shape)
            for width in (None, 1, 3, 0):
                b = matrix(dtype, shape[:1] + (() if width is None else (width,)), 2)
                want = plain(a, b)
                x, residuals, rank, s = f(a, b)
                assert rank == want[2]
                for got, w in ((x, want[0]), (residuals, want[1]), (s, want[3])):
                    if width != 0 or w is not want[3]:
                        same(got, w)
    singular = np.ones((4, 3))
    same(f(singular, np.arange(4.0))[0], plain(singular, np.arange(4.0))[0])
    with pytest.raises(LinAlgError, match="Incompatible dimensions"):
        f(np.ones((2, 2)), np.ones(3))
    for wrong in ((np.ones(2), np.ones(2)), (np.ones((2, 2)), np.ones((2, 2, 2)))):
        with pytest.raises(LinAlgError, match="two-dimensional"):
            f(*wrong)


@pytest.mark.parametrize("dtype", FEW)
def test_slogdet(dtype):
    plain, f = compiled("np.linalg.slogdet(a)")
    for shape in ((1, 1), (3, 3), (20, 20), (2, 3, 3), (0, 0), (2, 0, 0), (0, 2, 2)):
        a = matrix(dtype, shape)
        with np.errstate(all="ignore"):
            same(f(a), plain(a))
    for a in (np.zeros((3, 3)), np.ones((2, 12, 12)), np.full((2, 2), np.nan)):
        with np.errstate(all="ignore"):
            got, want = f(a), plain(a)
        assert np.array_equal(got.sign, want.sign) and np.array_equal(got.logabsdet, want.logabsdet, equal_nan=True)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_rank_and_pseudoinverse(dtype):
    for name in ("matrix_rank", "pinv"):
        for more in ("", ", 0.3", ", hermitian=True", ", rtol=0.2", ", rtol=None"):
            plain, f = compiled(f"np.linalg.{name}(a{more})")
            for shape in SHAPES:
                if "hermitian" in more and shape[-1] != shape[-2]:
                    continue
                a = hermitian(dtype, shape) if "hermitian" in more else matrix(dtype, shape)
                if 0 in shape[:-2] and name == "matrix_rank":
                    continue
                same(f(a), plain(a))
    rank = compiled("np.linalg.matrix_rank(a)")[1]
    assert rank(np.ones(3)) == 1 and rank(np.zeros(3)) == 0 and rank(np.ones((5, 4))) == 1
    each = compiled("np.linalg.matrix_rank(a, tol=b)", "a, b")[1]
    assert np.array_equal(each(np.stack([np.eye(2), 2 * np.eye(2)]), np.array([1.5, 1.5])), [0, 2])


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_norms_and_condition(dtype):
    for ord in ("None", "2", "-2", "1", "-1", "np.inf", "-np.inf", "'fro'", "'nuc'"):
        for name, shapes in (("cond", ((3, 3), (2, 3, 3))), ("norm", ((3, 3), (5, 2)))):
            plain, f = compiled(f"np.linalg.{name}(a, {ord})")
            for shape in shapes:
                same(f(matrix(dtype, shape)), plain(matrix(dtype, shape)))
        if ord in ("2", "-2", "'nuc'"):
            for more in ("axis=(0, 1)", "axis=(-1, 0)", "axis=(1, 2), keepdims=True"):
                plain, f = compiled(f"np.linalg.norm(a, {ord}, {more})")
                same(f(matrix(dtype, (2, 3, 4))), plain(matrix(dtype, (2, 3, 4))))


def test_condition_of_singular_matrices():
    zeros, one_nan = np.zeros((2, 2)), np.array([[1.0, np.nan], [0.0, 1.0]])
    for ord in ("2", "-2", "1", "np.inf", "'fro'"):
        f = compiled(f"np.linalg.cond(a, {ord})")[1]
        assert f(zeros) == np.inf
        if ord in ("1", "np.inf", "'fro'"):
            assert np.isnan(f(one_nan))
            assert np.array_equal(f(np.stack([zeros, np.eye(2)])), np.linalg.cond(np.stack([zeros, np.eye(2)]), eval(ord)))
            with pytest.raises(LinAlgError, match="must be square"):
                f(np.ones((2, 3)))
    with pytest.raises(LinAlgError, match="empty arrays"):
        f(np.ones((0, 3)))
    with pytest.raises(ValueError, match="Invalid norm order for matrices"):
        compiled("np.linalg.cond(a, 3)")[1](np.eye(2))


SQUARE = ["eig", "eigvals", "eigh", "eigvalsh", "slogdet"]
ALL = SQUARE + ["svd", "qr", "pinv", "cond", "svdvals"]


@pytest.mark.parametrize("name", ALL)
def test_what_has_no_decomposition(name):
    f = compiled(f"np.linalg.{name}(a)")[1]
    with pytest.raises(LinAlgError, match="at least two-dimensional"):
        f(np.ones(3))
    with pytest.raises(TypeError, match="float16 is unsupported in linalg"):
        f(np.eye(2, dtype=np.float16))
    if name in SQUARE:
        with pytest.raises(LinAlgError, match="must be square"):
            f(np.ones((2, 3)))
    nan = np.full((4, 4), np.nan)
    if name in ("eig", "eigvals"):
        for a in (nan, np.full((2, 2), np.inf)):
            with pytest.raises(LinAlgError, match="must not contain infs or NaNs"):
                f(a)
    elif name in ("svd", "svdvals", "pinv", "cond"):
        with pytest.raises(LinAlgError, match="SVD did not converge"):
            f(nan)


def test_kernels_refuse_them():
    @quern.cuda.jit
    def kernel(a, c):
        c[0] = np.linalg.svd(a)[1][0]

    with pytest.raises((quern.TypingError, quern.UnsupportedError), match="kernel|GPU"):
        kernel[1, 1](np.eye(3), np.ones(1))


def test_nothing_leaks():
    a, nan = hermitian("float64", (6, 6)), np.full((3, 3), np.nan)
    calls = [compiled(f"np.linalg.{name}(a)")[1] for name in ALL] + [compiled("np.linalg.lstsq(a, a)")[1]]
    for round in range(2):
        before = quern._quern.live_allocations()
        for f in calls:
            f(a)
            try:
                f(nan)
            except LinAlgError:
                pass
        assert round == 0 or quern._quern.live_allocations() == before


WITHOUT = """
import numpy as np, quern
for name in ("svd", "eig", "eigvals", "eigh", "eigvalsh", "qr", "pinv", "cond", "matrix_rank"):
    space = {"np": np}
    exec(f"def f(a): return np.linalg.{name}(a)", space)
    try:
        quern.njit(space["f"])(np.eye(3))
    except RuntimeError as error:
        assert "this needs LAPACK" in str(error) and "QUERN_BLAS" in str(error), error
    else:
        raise SystemExit(name)
assert quern.njit(lambda a: np.linalg.slogdet(a))(np.eye(3) * 2).sign == 1
assert quern.njit(lambda a: np.linalg.norm(a))(np.eye(4)) == 2
"""


def test_without_lapack_they_say_so():
    done = subprocess.run([sys.executable, "-c", WITHOUT], env=dict(os.environ, QUERN_BLAS="none", PYTHONPATH=os.pathsep.join(sys.path)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
