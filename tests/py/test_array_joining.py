"""Arrays put together and taken apart, beside NumPy: values, dtypes, shapes, errors."""
import numpy as np
import pytest

import quern
from quern import njit
from beside import check
from test_array_indexing import DTYPES, LAYOUTS, agree, array, refused


@pytest.mark.parametrize("layout", LAYOUTS)
def test_joining_of_layouts(layout):
    a, b = array((2, 3), "float64", layout), array((4, 3), "float64", layout)
    agree("return np.concatenate((a, b)), np.concatenate([a, a], axis=1), np.concatenate((a, b, a), -2), np.concatenate((a, b), axis=None), np.concatenate((a,))", "a, b", (a, b), (a, b[:0]))
    agree("return np.stack((a, a)), np.stack([a, a + 1], 1), np.stack((a, a), axis=-1)", "a", (a,), (a[:, :0],))


@pytest.mark.parametrize("x", DTYPES)
@pytest.mark.parametrize("y", ["int8", "uint64", "float32"])
def test_joining_of_dtypes(x, y):
    agree("return np.concatenate((a, b)), np.concatenate((b, [1, k]), dtype=np.float64)", "a, b, k", (array((2,), x), array((3,), y), 2))


def test_joining_into():
    a = array((2, 3))
    agree("return np.concatenate((a, a), out=out), out", "a, out", (a, np.zeros((4, 3), "float32")))
    refused("return np.concatenate((a, a), out=out)", "a, out", (a, np.zeros((3, 3))), text="Output array is the wrong shape")


@pytest.mark.skipif(not hasattr(np, "row_stack"), reason="NumPy 2.5 has no row_stack any more")
@pytest.mark.filterwarnings("ignore:.*row_stack")
def test_row_stack():
    agree("return np.row_stack((a, b))", "a, b", (array((3,)), array((3,), "int32")))


def test_stacks():
    a, b = array((3,)), array((3,), "int32")
    m = array((2, 3), "float64", "F")
    agree("return np.hstack((a, b)), np.vstack((a, b)), np.dstack((a, b)), np.column_stack((a, b)), np.hstack((a, 2.5)), np.vstack([a, [k, 2, 3]])", "a, b, k", (a, b, 1), (a, b, 5))
    agree("return np.hstack((m, m)), np.vstack((m, a)), np.dstack((m, m)), np.column_stack((m, a[:2]))", "m, a", (m, a))
    agree("return np.block([[np.eye(n), np.zeros((n, 3))], [np.ones((1, n)), np.full((1, 3), 2.0)]]), np.block([a, a])", "n, a", (2, a))
    agree("return np.append(a, k), np.append(m, m), np.append(m, [a], 0), np.append(m, m, axis=1)", "a, m, k", (a, m, 7))


def test_what_does_not_fit_together():
    a = array((2, 3))
    fit = "must match exactly"
    refused("return np.concatenate((a, b))", "a, b", (a, np.ones((2, 4))), text=fit)
    refused("return np.concatenate((a, b), axis=1)", "a, b", (a, np.ones((3, 3))), text=fit)
    refused("return np.stack((a, b))", "a, b", (a, np.ones((3, 3))))
    refused("return np.vstack((a, b))", "a, b", (a, np.ones(2)), text=fit)
    for f in (lambda a: np.concatenate((a, a[0])), lambda a: np.concatenate((a, a), 2), lambda a: np.concatenate(())):
        with pytest.raises((quern.TypingError, ValueError)):
            njit(f)(a)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_insertion(layout):
    a, v = array((3, 4), "float64", layout), array((4,), "float64", layout)
    agree("return np.insert(v, k, 9), np.insert(v, [1, k], [7, 8]), np.insert(v, k, v[:2])", "v, k", (v, 2), (v, 0), (v, -1), (v, 4))
    agree("return np.insert(a, k, 5, axis=0), np.insert(a, k, v, 0), np.insert(a, k, v[:3], axis=1), np.insert(a, 1, 2)", "a, v, k", (a, v, 1), (a, v, -2))
    agree("return np.delete(v, k), np.delete(v, [0, k]), np.delete(v, slice(k, None)), np.delete(a, k, 0), np.delete(a, (0, k), axis=1), np.delete(a, k)", "a, v, k", (a, v, 1), (a, v, -1))
    agree("return np.delete(v, m), np.delete(a, m, 1)", "a, v, m", (a, v, np.array([True, False, False, True])))
    refused("return np.delete(v, k)", "v, k", (v, 4), (v, -5))
    refused("return np.insert(v, k, 1)", "v, k", (v, 5), (v, -6))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_splitting(layout):
    a, v = array((4, 6, 2), "int32", layout), array((7,), "float64", layout)
    agree("return np.split(a, 2), np.split(a, 3, axis=1), np.array_split(v, 3), np.array_split(v, 9), np.array_split(a, 4, -1)", "a, v", (a, v))
    agree("return np.split(v, [2, k]), np.split(a, (k,), 1), np.array_split(v, [3, k, 9]), np.hsplit(a, 3), np.vsplit(a, [1]), np.dsplit(a, 2), np.hsplit(v, [k])", "a, v, k", (a, v, 5), (a, v, 1))
    refused("return np.split(v, 2)", "v", (v,))
    refused("return np.vsplit(v, 1)", "v", (v,))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rolling(layout):
    a, v = array((3, 4), "float64", layout), array((5,), "int32", layout)
    for k in (0, 1, -2, 17):
        agree("return np.roll(v, k), np.roll(a, k), np.roll(a, k, axis=0), np.roll(a, k, -1), np.roll(a, (k, 1), axis=(0, 1)), np.roll(a, k, (1, 0))", "a, v, k", (a, v, k), (a[:0], v[:0], k))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_repeating(layout):
    a, v = array((2, 3), "float64", layout), array((3,), "int32", layout)
    agree("return np.repeat(v, n), np.repeat(a, n), np.repeat(a, n, axis=0), np.repeat(a, n, -1), v.repeat(n), np.repeat(5, n)", "a, v, n", (a, v, 2), (a, v, 0), (a, v, 1))
    agree("return np.repeat(v, c), np.repeat(a, c, axis=1), np.repeat(v, [1, 0, 2]), np.repeat(a, c[:1], 0)", "a, v, c", (a, v, np.array([2, 0, 3])), (a, v, np.array([0, 0, 0])))
    agree("return np.tile(v, n), np.tile(a, (n, 2)), np.tile(v, (2, n)), np.tile(a, n), np.tile(a, (n, 1, 2))", "a, v, n", (a, v, 2), (a, v, 0))
    agree("return np.resize(v, n), np.resize(a, (2, n)), np.resize(v[:0], n)", "a, v, n", (a, v, 5), (a, v, 2), (a, v, 0))
    refused("return np.repeat(v, n)", "v, n", (v, -1), (v, np.array([1, -1, 1])), text="repeats may not contain negative values.")
    refused("return np.repeat(v, n)", "v, n", (v, np.array([1, 2])), text="could not be broadcast together")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_padding(layout):
    a, v = array((2, 3), "float64", layout) + 1, array((4,), "int32", layout)
    agree("return np.pad(v, n), np.pad(a, n), np.pad(a, ((1, n), (0, 2))), np.pad(v, (n, 1), constant_values=7), np.pad(a, (n, 2), 'constant', constant_values=((1, 2), (3, 4)))", "a, v, n", (a, v, 2), (a, v, 0))
    for mode in ("edge", "reflect", "symmetric", "wrap"):
        agree(f"return np.pad(v, n, '{mode}'), np.pad(a, ((n, 0), (1, n)), mode='{mode}')", "a, v, n", (a, v, 1), (a, v, 0), (a, v, 9))
    with pytest.raises(ValueError):
        njit(lambda v, n: np.pad(v, n))(v, -1)


def test_axes_at_least():
    agree("return np.atleast_1d(a), np.atleast_2d(a), np.atleast_3d(a), np.atleast_1d(k), np.atleast_2d(k, a), np.atleast_3d(k)", "a, k", (array((3,)), 2), (array((0,)), 2.5))
    agree("return np.atleast_1d(a), np.atleast_2d(a), np.atleast_3d(a)", "a", (array((2, 3), "int8", "F"),), (array((2, 3, 2)),))
    agree("return np.broadcast_arrays(a, b), np.broadcast_arrays(a, b, 1.5)", "a, b", (array((3,)), array((2, 1), "int32")))
    agree("return np.trim_zeros(a), np.trim_zeros(a, 'f'), np.trim_zeros(a, trim='b')", "a", (np.array([0, 0, 1, 0, 2, 0]),), (np.zeros(3),), (np.zeros(0),))
    refused("return np.broadcast_arrays(a, b)", "a, b", (array((3,)), array((2,))), text="shape mismatch")


def test_insert_where_a_mask_says():
    a, mask = np.arange(5.0), np.array([True, False, True, False, False])
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # older ones take the mask for positions, and warn
        check("np.insert(a, m, v)", [(a, mask, 9), (a, mask, np.array([7.0, 8.0])), (a, mask[:2], 1), (a, ~mask & mask, 1)], arguments="a, m, v")
