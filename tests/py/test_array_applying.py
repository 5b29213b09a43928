"""Functions of the program applied along an axis, in pieces, over indices; arrays of iterators; choices that are rows. Beside NumPy."""
import numpy as np
import pytest

from beside import check
from quern import njit

A = np.random.default_rng(3).normal(size=(3, 4, 5))


def norm(x):
    return np.sqrt((x * x).sum())


def outer(x, k):
    return np.outer(x[:2], x) + k


@pytest.mark.parametrize("f", ["norm(v)", "np.sort(v)", "outer(v, 2.0)", "(v.min(), v.max())", "len(v)", "v[0] > 0"])
def test_along_an_axis(f):
    for axis in (0, 1, -1):
        g = njit(eval(f"lambda a: np.apply_along_axis(lambda v: {f}, {axis}, a)", {"np": np, "norm": njit(norm), "outer": njit(outer)}))
        for a in (A, A[::-1, ::2], A[:, :, 0]):
            want = g.py_func(a)
            got = g(a)
            assert got.shape == want.shape and got.dtype == want.dtype and np.allclose(got, want)


def test_along_an_axis_that_is_an_argument():
    @njit
    def f(a, axis, k):
        return np.apply_along_axis(outer_of, axis, a, k)

    outer_of = njit(outer)
    for axis in (0, 1, 2, -2):
        assert np.allclose(f(A, axis, 3.0), f.py_func(A, axis, 3.0))
    with pytest.raises(np.exceptions.AxisError):
        f(A, 3, 1.0)


def test_there_must_be_a_line():
    f = njit(lambda a: np.apply_along_axis(np.sum, 0, a))
    with pytest.raises(ValueError, match="iteration dimensions are 0"):
        f(np.zeros((3, 0)))


def test_in_pieces():
    for source in ("np.piecewise(a, [a < 0, a >= 0], [-1.0, 1.0])", "np.piecewise(a, [a < 0, a > 1], [lambda v: -v, 5.0, lambda v: v * v])",
                   "np.piecewise(a, (a < -1,), (0,))", "np.piecewise(a, [a < 0], [lambda v, k: v * k], 3.0)"):
        check(source, [(A,), (A[0, 0],), (np.arange(-3, 4),)])
    check("np.piecewise(a, a < 0, [lambda v: v * 2, 7])", [(A[0, 0],), (A[0],), (np.arange(-3, 4),)])
    check("np.piecewise(a, np.stack((a < 0, a > 1)), [-1, 1])", [(A[0],)])
    with pytest.raises(ValueError, match="as many functions"):
        njit(lambda a: np.piecewise(a, [a < 0, a > 1], [1.0]))(A)


def test_over_indices():
    for source in ("np.fromfunction(lambda i, j: i * 10 + j, (n, 3))", "np.fromfunction(lambda i: i % 2 == 0, (n,), dtype=np.int64)", "np.fromfunction(lambda i, j, k: i + j * k, (2, n, 2), dtype=np.int32)"):
        check(source, [(4,), (0,)], arguments="n")


def test_arrays_of_iterators():
    def squares(n):
        for i in range(n):
            yield i * i

    g = {"np": np, "squares": njit(squares)}
    for source in ("np.fromiter(squares(n), np.float64)", "np.fromiter((x + 1 for x in range(n)), np.int32)", "np.fromiter(squares(100), np.int64, n)", "np.fromiter(zip_(n), np.float64)"):
        if "zip_" in source:
            g["zip_"] = njit(lambda n: (a * b for a, b in zip(range(n), range(1, n + 1))))
        f = njit(eval(f"lambda n: {source}", g))
        for n in (0, 1, 7):
            plain = eval(f"lambda n: {source}", {"np": np, "squares": squares, "zip_": lambda n: (a * b for a, b in zip(range(n), range(1, n + 1)))})
            assert np.array_equal(f(n), plain(n)) and f(n).dtype == plain(n).dtype
    with pytest.raises(ValueError, match="iterator too short"):
        njit(eval("lambda n: np.fromiter(squares(n), np.int64, n + 1)", g))(3)


def test_choices_that_are_rows():
    i = np.array([[0, 2, 1, 0, 2]])
    check("np.choose(i, a)", [(i, A), (i[0], A[:, :, :]), (i, A[:, 0])], arguments="i, a")
    check("np.choose(i * 4 - 3, a, mode='wrap'), np.choose(i * 4 - 3, a, mode='clip')", [(i, A)], arguments="i, a")
    check("np.choose([0, 1, 0], (x, y))", [(np.arange(3), np.arange(3) * 2.0)], arguments="x, y")
    with pytest.raises(ValueError, match="invalid entry in choice array"):
        njit(lambda i, a: np.choose(i, a))(i + 1, A)
