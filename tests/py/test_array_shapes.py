"""Shapes: views, copies and what is wrong with them, beside NumPy."""
import numpy as np
import pytest
from beside import arrays, check, compiled, laid_out

import quern
from quern import njit

SHAPES = [(4,), (2, 6), (2, 3, 2), (0,), (3, 0, 2), (1, 5)]

ANY_SHAPE = [
    "np.copy(a)", "a.copy()", "a.copy('F')", "a.copy(order='A')", "np.ascontiguousarray(a)", "np.asfortranarray(a)",
    "np.ravel(a)", "a.ravel()", "a.ravel('F')", "np.ravel(a, order='F')", "a.flatten()", "a.flatten('F')",
    "np.reshape(a, (-1,))", "a.reshape(-1)", "a.reshape((a.size,))", "np.reshape(a, a.shape)", "a.reshape(a.shape[::-1])",
    "np.reshape(a, a.shape[::-1], order='F')", "a.T", "np.transpose(a)", "a.transpose()", "a.transpose(None)", "np.flip(a)",
    "np.flip(a, 0)", "np.flip(a, axis=-1)", "np.flip(a, (0, -1))", "np.flipud(a)", "np.moveaxis(a, 0, -1)", "np.moveaxis(a, -1, 0)", "np.rollaxis(a, a.ndim - 1)",
    "np.swapaxes(a, 0, -1)", "a.swapaxes(-1, 0)", "np.expand_dims(a, 0)", "np.expand_dims(a, -1)", "np.expand_dims(a, (0, 2))",
    "np.broadcast_to(a, (3,) + a.shape)", "np.broadcast_to(a, shape=(2, 1) + a.shape)",
]


@pytest.mark.parametrize("source", ANY_SHAPE)
def test_of_arrays_with_axes(source):
    check(source, arrays(sum(source.encode()), SHAPES, n=4))


NO_AXES = ["np.copy(a)", "np.ravel(a)", "a.flatten()", "a.reshape(1, 1)", "np.reshape(a, ())", "np.transpose(a)", "np.expand_dims(a, 0)", "np.broadcast_to(a, (2, 2))", "np.flip(a)"]


@pytest.mark.parametrize("source", NO_AXES)
def test_of_arrays_without_axes(source):
    check(source, [(np.array(3.5),), (np.array(True),)])


THREE = ["np.transpose(a, (2, 0, 1))", "a.transpose(1, 2, 0)", "a.transpose((0, 2, 1))", "np.transpose(a, (-1, 0, 1))", "np.moveaxis(a, (0, 1), (-1, 0))",
         "np.rollaxis(a, 2)", "np.rollaxis(a, 2, 1)", "np.rollaxis(a, 0, 3)", "np.flip(a, (0, 2))", "np.fliplr(a)", "np.rot90(a)", "np.rot90(a, 2)", "np.rot90(a, -1)",
         "np.rot90(a, 5, (0, 2))", "np.rot90(a, k=0)", "a.reshape(2, -1)", "a.reshape((2, -1, 1))", "a.reshape(3, 4)", "np.expand_dims(a, (1, -1))",
         "a.reshape(-1, 2)[1:]", "a[::-1].reshape(4, 3)", "a[:, 1].ravel()"]


@pytest.mark.parametrize("source", THREE)
def test_of_arrays_with_three_axes(source):
    check(source, arrays(len(source), [(2, 3, 2)], n=3))


def test_squeeze():
    cases = arrays(3, [(1, 4), (1, 3), (1, 1)], n=5)
    check("np.squeeze(a, 0)", cases)
    check("a.squeeze(axis=0)", cases)
    check("np.squeeze(a, axis=(0, -1))", arrays(3, [(1, 4, 1)], n=3))
    check("np.squeeze(a)", arrays(4, [(3, 4)], n=3))
    with pytest.raises(ValueError, match="say squeeze"):
        njit(lambda a: a.squeeze())(np.ones((1, 4)))


WRONG = ["a.reshape(5)", "a.reshape(-1, -1)", "a.reshape(-1, 5)", "a.transpose(0, 0)", "a.transpose(0)", "np.transpose(a, (0, 2))", "np.flip(a, 2)", "np.flip(a, (0, 0))",
         "np.moveaxis(a, 2, 0)", "np.moveaxis(a, (0, 1), (0,))", "np.swapaxes(a, 0, 2)", "np.expand_dims(a, 4)", "np.expand_dims(a, (0, 0))", "np.squeeze(a, 1)",
         "np.squeeze(a, 3)", "np.broadcast_to(a, (2, 2))", "np.broadcast_to(a, (6,))", "np.rollaxis(a, 2)", "np.rollaxis(a, 0, 4)"]


@pytest.mark.parametrize("source", WRONG)
def test_what_is_wrong_has_the_class_of_numpy(source):
    check(source, arrays(1, [(2, 6)], n=2))


def test_run_time_lengths():
    check("a.reshape(n, -1)", [(np.arange(12.0), n) for n in (1, 3, 4, 5, -1)], arguments="a, n")
    check("np.reshape(a, (n, m))", [(np.arange(12), 3, 4), (np.arange(12), 4, 4), (np.arange(12), -1, 2), (np.arange(0), 0, -1)], arguments="a, n, m")
    check("np.broadcast_to(a, (n, 3))", [(np.arange(3.0), 4), (np.arange(3.0), 0), (np.arange(2.0), 2)], arguments="a, n")


def test_broadcast_shapes():
    cases = [(np.empty(s), np.empty(t)) for s, t in [((3,), (3,)), ((1,), (4,)), ((0,), (1,)), ((2,), (3,))]]
    check("np.broadcast_shapes(a.shape, b.shape, (1, 1))", cases, arguments="a, b")
    check("np.broadcast_shapes(3, (2, 1), ())", [(1,)])


VIEWS = ["a.reshape(-1)", "np.ravel(a)", "a.T", "np.flip(a)", "np.moveaxis(a, 0, -1)", "np.expand_dims(a, 0)", "np.ascontiguousarray(a)", "np.rot90(a)"]


@pytest.mark.parametrize("source", VIEWS)
def test_views_share_memory(source):
    f, jitted = compiled(source)
    a = np.arange(12.0).reshape(3, 4)
    assert np.shares_memory(f(a), a) and np.shares_memory(jitted(a), a)
    assert jitted(a).strides == f(a).strides


@pytest.mark.parametrize("source", ["a.copy()", "a.flatten()", "np.copy(a)"])
def test_copies_do_not(source):
    a = np.arange(12.0).reshape(3, 4)
    assert not np.shares_memory(compiled(source)[1](a), a)


def test_writing_through_a_view():
    @njit
    def f(a):
        np.flip(a, 0)[0] = 7
        a.T[1] += 1
        a.reshape(-1)[2] = 9

    a, b = np.zeros((2, 3)), np.zeros((2, 3))
    f(a)
    f.py_func(b)
    assert np.array_equal(a, b)


def test_a_broadcast_is_not_written_to():
    @njit
    def f(a):
        np.broadcast_to(a, (2, 3))[0] = 1

    with pytest.raises((quern.TypingError, ValueError)):
        f(np.zeros(3))


# -- parts of complex numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["a.real", "a.imag", "np.real(a)", "np.imag(a)", "a.conj()", "np.conj(a)", "a.conjugate()", "np.angle(a)", "a.real + a.imag", "np.abs(a)"])
def test_parts(source):
    dtypes = ["complex64", "complex128", "float64", "int32"]
    check(source, arrays(2, [(4,), (2, 3), (2, 2, 2), (0,)], dtypes if "angle" not in source else dtypes[:3], n=8), "angle" not in source and "abs" not in source)


def test_parts_are_views():
    @njit
    def f(a):
        a.real[1:] = 5
        imag = a.imag
        imag += 2.0
        return a.real, a.imag

    for dtype in (np.complex64, np.complex128):
        a, b = np.arange(4).astype(dtype), np.arange(4).astype(dtype)
        real, imag = f(a)
        f.py_func(b)
        assert np.array_equal(a, b) and np.shares_memory(real, a) and np.shares_memory(imag, a)


def test_layouts_do_not_matter_to_reshape():
    a = np.arange(24).reshape(2, 3, 4)
    for layout in ("C", "F", "strided", "reversed"):
        check("a.reshape(4, 6) + a.reshape((6, 4)).T", [(laid_out(a, layout),)])
