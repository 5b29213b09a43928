"""Functions that make arrays, beside NumPy: values, dtypes, shapes, errors."""
import numpy as np
import pytest

import quern
from quern import njit
from test_array_indexing import DTYPES, LAYOUTS, agree, array, refused

NUMBERS = ["int8", "int32", "int64", "uint8", "uint64", "float32", "float64"]


# -- ranges ----------------------------------------------------------------------------------------------------------


def test_ranges_of_ints():
    agree("return np.arange(n), np.arange(2, n), np.arange(n, -2, -1), np.arange(0, n, 3), np.arange(n, step=2), np.arange(n, dtype=np.float32)",
          "n", (7,), (0,), (-3,), (np.int8(5),))
    agree("return np.arange(a, b, s), np.arange(a, b, s, np.int16), np.arange(a, b, s, 'f8')", "a, b, s",
          (0, 10, 3), (10, 0, -3), (0, 10, -1), (5, 5, 1), (-7, 8, 5))


def test_ranges_of_floats():
    agree("return np.arange(x), np.arange(0, x, 0.1), np.arange(x, 0, -0.25), np.arange(x, dtype=np.float32)", "x", (2.5,), (0.0,), (1.0,), (-1.5,), (np.float32(2.5),))
    agree("return np.arange(x, x + 1, 0.3), np.arange(0, x, 0.5, dtype=np.int64)", "x", (0.1,), (3.0,))


def test_ranges_that_have_no_length():
    with pytest.raises(ZeroDivisionError):
        njit(lambda n, s: np.arange(0, n, s))(3, 0)
    with pytest.raises(ValueError):
        njit(lambda x: np.arange(x))(np.inf)
    with pytest.raises(ValueError):
        njit(lambda x: np.arange(x))(np.nan)


def test_spaced_numbers():
    agree("return np.linspace(a, b), np.linspace(a, b, n), np.linspace(a, b, n, endpoint=False), np.linspace(a, b, num=n, dtype=np.float32)", "a, b, n",
          (0, 1, 7), (2.5, -1.0, 4), (3, 3, 3), (0, 1, 1), (0, 1, 0), (np.float32(0.1), np.float32(7.0), 5))
    agree("return np.linspace(a, b, 6, dtype=np.int64), np.linspace(a, b, n, retstep=True)", "a, b, n", (-3, 4, 5), (0.5, 9.9, 3))
    with pytest.raises(ValueError):
        njit(lambda n: np.linspace(0.0, 1.0, n))(-1)


def test_powers_between():
    f = lambda a, b, n: (np.logspace(a, b, n), np.logspace(a, b, n, False, 2.0), np.geomspace(a + 1, b + 1, n), np.geomspace(-a - 1.0, -b - 1.0, n, endpoint=False))  # noqa: E731
    for case in ((0, 3, 5), (1.5, 0.5, 4), (2, 2, 1), (0, 1, 0)):
        for got, want in zip(njit(f)(*case), f(*case)):
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-13)
    with pytest.raises(ValueError, match="Geometric sequence cannot include zero"):
        njit(lambda a: np.geomspace(a, 1.0))(0.0)


# -- all of one value ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["np.bool_", "np.int8", "'f4'", "float", "int", "complex", "np.dtype('uint16')", "a.dtype"])
def test_every_form_of_dtype_and_shape(dtype):
    agree(f"return np.zeros(n, {dtype}), np.ones((n, 2), dtype={dtype}), np.full([2, n], 1, {dtype}), np.empty((0, n), {dtype}), np.zeros((), {dtype})",
          "n, a", (3, np.ones(1, "int32")), (0, np.ones(1, "int32")))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_like_another(layout):
    a = array((2, 3), "int32", layout)
    agree("return np.zeros_like(a), np.ones_like(a), np.full_like(a, 2.5), np.full_like(a, 2.5, np.float64)", "a", (a,))
    agree("return np.zeros_like(a, np.float32), np.ones_like(a, dtype=bool, order='F'), np.zeros_like(a, shape=(n, 2)), np.full_like(a, 7, shape=n)", "a, n", (a, 3))
    order = njit(lambda a: np.ones_like(a, order="F"))(a)
    assert order.flags.f_contiguous


def test_sizes_that_are_refused():
    for f in (lambda n: np.zeros(n), lambda n: np.full((2, n), 1.0), lambda n: np.eye(n)):
        with pytest.raises(ValueError, match="negative dimensions"):
            njit(f)(-1)
    with pytest.raises((ValueError, MemoryError)):
        njit(lambda n: np.zeros((n, n, n)))(2**31)


# -- of what is given ------------------------------------------------------------------------------------------------


def test_arrays_of_sequences():
    a = array((2, 3))
    agree("return np.array([k, 2.5]), np.array([[1, k], [3, 4]]), np.array([[[1, 2], [k, 4]], [[5, 6], [7, 8]]]), np.array((k, 1), np.int8)", "k", (3,), (-1,))
    agree("return np.array([a, a + 1]), np.array([a[0], [7, 8, k]]), np.array([a[0], a[1]], dtype=np.float32), np.array([(k, 1), (2, 3)], dtype='i2')", "a, k", (a, 3))
    agree("return np.array(k), np.array(2.5, np.float32), np.asarray(k), np.array([k, 1], ndmin=2), np.array(a, ndmin=4), np.array(a, dtype=np.int64)", "a, k", (a, 3))
    agree("return np.asarray(a), np.asarray(a, np.float32), np.asarray((k, 2)), np.asanyarray([a, a]), np.asanyarray(a, dtype=np.int8)", "a, k", (a, 3))
    refused("return np.array([a[0], a[0, :k]])", "a, k", (a, 2), text="inhomogeneous shape")


def test_copies_and_the_same():
    a = array((2, 3))
    assert njit(lambda a: np.asarray(a))(a) is a and njit(lambda a: np.asanyarray(a))(a) is a
    for f in (lambda a: np.array(a), lambda a: a.astype(np.float64), lambda a: np.array(a, ndmin=3), lambda a: a.copy()):
        assert not np.shares_memory(njit(f)(a), a)
    assert np.shares_memory(njit(lambda a: a.astype(np.float64, copy=False))(a), a)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64"])
def test_conversions(dtype, layout):
    agree("return a.astype(np.int16), a.astype(np.float64), a.astype(bool), a.astype('c16'), a.astype(np.uint8, order='F')", "a", (array((2, 3), dtype, layout),))


def test_casting_rules():
    a = array((3,))
    with pytest.raises(TypeError):
        njit(lambda a: a.astype(np.int64, casting="safe"))(a)
    agree("return a.astype(np.float32, casting='same_kind'), np.can_cast(np.int8, np.int64), np.can_cast(np.float64, np.float32), np.can_cast(a.dtype, 'f4', 'same_kind')", "a", (a,))
    agree("return np.zeros(n, np.result_type(np.int8, np.float32)), np.zeros(n, np.promote_types(np.int8, np.uint8)), np.zeros(n, np.result_type(a, 2.5))", "n, a", (2, array((2,), "float32")))


@pytest.mark.parametrize("dtype", DTYPES)
def test_filling(dtype):
    agree("a.fill(k)", "a, k", (array((2, 3), dtype), 1), (array((4, 2), dtype, "strided"), 0))
    agree("np.copyto(a, b)\nreturn a", "a, b", (array((2, 3), dtype), array((3,), dtype)[::-1].copy()))
    agree("np.copyto(a, b, where=m)", "a, b, m", (array((2, 3), dtype), array((3,), dtype)[::-1].copy(), np.array([[True, False, True]])))


def test_single_elements():
    a = array((2, 3), "int32", "F")
    agree("return a.item(3), a.item(-1), a.item(1, 2), a.item((0, k)), a[:1, :1].item()", "a, k", (a, 2))
    refused("return a.item()", "a", (a,))
    refused("return a.item(k)", "a, k", (a, 6), (a, -7), text="is out of bounds for axis 0 with size 6")
    assert njit(lambda a: a.tolist())(a) == a.tolist()


def test_from_what_is_walked_over():
    agree("return np.fromiter(range(n), np.float32), np.fromiter((n, 2, 3), int), np.fromiter(a, np.int8, 1)", "n, a", (4, array((2,))))
    with pytest.raises(ValueError, match="iterator too short"):
        njit(lambda n: np.fromiter(range(n), int, 5))(3)


def test_numbers_for_nan():
    a = np.array([1.0, np.nan, np.inf, -np.inf, -2.0])
    agree("return np.nan_to_num(a), np.nan_to_num(a, nan=7.0, posinf=1.0, neginf=-1.0), np.nan_to_num(i)", "a, i", (a, np.arange(3)), (a.astype("float32"), np.arange(3)))
    agree("return np.nan_to_num(a), np.nan_to_num(a, False), a", "a", (a * 1j,))


# -- grids and diagonals ------------------------------------------------------------------------------------------------


def test_unit_matrices():
    agree("return np.eye(n), np.eye(n, 4), np.eye(3, n, k), np.eye(n, k=k, dtype=np.int8), np.identity(n), np.identity(n, bool)", "n, k", (3, 1), (0, 0), (2, -1), (5, 9), (2, -7))
    agree("return np.tri(n), np.tri(n, 4, k), np.tri(n, k=k, dtype=int)", "n, k", (3, 1), (0, 0), (4, -2), (2, 9))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3,), (3, 4), (2, 3, 3)])
def test_triangles(dtype, shape):
    agree("return np.tril(a), np.triu(a), np.tril(a, k), np.triu(a, k=k)", "a, k", (array(shape, dtype), 1), (array(shape, dtype), -2))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_diagonals(layout):
    a, line = array((3, 4), "int32", layout), array((3,), "float32", layout)
    agree("return np.diag(a), np.diag(a, k), np.diagonal(a, k), a.diagonal(k), np.diag(v), np.diag(v, k), np.diagflat(a, k), np.diag([1, k])", "a, v, k",
          *[(a, line, k) for k in (0, 1, -2, 4, -3, 9, -9)])
    agree("return np.diagonal(a), np.diagonal(a, k, 1, 2), np.diagonal(a, axis1=-1, axis2=0)", "a, k", (array((2, 3, 4), "float64", layout), 1))
    refused("return np.diagonal(a)", "a", (line,))


def test_meshes():
    x, y, z = array((3,)), array((2,), "int32"), array((4,), "float32", "strided")
    agree("return np.meshgrid(x, y), np.meshgrid(x, y, indexing='ij'), np.meshgrid(x, y, z), np.meshgrid(x, y, z, sparse=True), np.meshgrid(x)", "x, y, z", (x, y, z), (x[:0], y, z))
    agree("return np.vander(x), np.vander(x, n), np.vander(y, increasing=True)", "x, y, n", (x, y, 2), (x, y, 0))
