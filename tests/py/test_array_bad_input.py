"""Whole arrays that are wrong: NumPy's class of exception, a sentence, the place; nothing leaks, and no target is half-written."""
import os
import traceback

import numpy as np
import pytest

import quern
from beside import compiled

HERE = os.path.basename(__file__)
A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)


def refused(source, *args):
    """Compiled code raises what NumPy does, and changes nothing."""
    names = "abcd"[:len(args)]
    plain, f = compiled(source, ", ".join(names))
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    expected = outcome_class(plain, copies)
    assert expected is not None, (source, "NumPy raises nothing")
    for round in range(2):  # the first call compiles
        before = quern._quern.live_allocations()
        mine = [a.copy(order="K") if isinstance(a, np.ndarray) and a.flags.writeable and a.base is None else a for a in args]
        kept = [a.copy() if isinstance(a, np.ndarray) else a for a in mine]
        with pytest.raises(expected if not issubclass(expected, TypeError) else (expected, quern.TypingError)) as caught:
            f(*mine)
        assert str(caught.value), source
        if not isinstance(caught.value, quern.TypingError):
            assert any(frame.filename == "<string>" for frame in traceback.extract_tb(caught.tb)), (source, "no place")
        for a, b in zip(mine, kept):
            assert not isinstance(a, np.ndarray) or np.array_equal(a, b), (source, "was written to")
        caught = None
        assert quern._quern.live_allocations() == before, (source, "leaks")


def outcome_class(plain, args):
    with np.errstate(all="ignore"):
        try:
            plain(*args)
        except Exception as error:
            return type(error)
    return None


@pytest.mark.parametrize("source, args", [
    ("a + b", (A, B)), ("np.add(a, b)", (A, B)), ("np.where(a > 1, a, b)", (A, B)), ("np.broadcast_to(a, (4, 3))", (A,)), ("np.concatenate((a, b))", (A, B)), ("np.stack((a, b))", (A, B)),
    ("a @ b[1:]", (A, B)), ("np.dot(a, a)", (A,)), ("np.inner(a, b)", (A, B)), ("np.tensordot(a, b[:2])", (A, B)), ("np.einsum('ij,jk', a, b[1:])", (A, B)), ("np.linalg.solve(b[:, 1:], a)", (A, B)),
    ("np.linalg.lstsq(a, b)", (A, B)), ("np.linalg.inv(a)", (A,)), ("np.linalg.det(a)", (A,)), ("np.linalg.eigh(a)", (A,)), ("np.linalg.cholesky(a)", (A,)), ("np.linalg.matrix_power(a, 2)", (A,)),
    ("np.interp(a, b[0], b[0, 1:])", (A, B)), ("np.average(a, weights=b)", (A, B)), ("np.copyto(a, b)", (A, B)), ("np.cov(a, b)", (A, B)), ("np.cross(a, b)", (A, B)), ("np.vstack((a, b))", (A, B)),
    ("np.select((a > 1, b > 1), (a, b))", (A, B)), ("np.clip(a, b, 3)", (A, B)), ("a.reshape(4, 2)", (A,)), ("a.view(np.complex128)", (A,)), ("np.convolve(a, a)", (A,)), ("np.append(a, b, axis=0)", (A, B)),
    ("np.take_along_axis(a, np.array([[[0]]]), 0)", (A,)), ("np.split(a, 2, axis=1)", (A,)), ("np.diag(np.zeros((2, 2, 2)) + a[0, 0])", (A,)), ("np.allclose(a, b)", (A, B)),
])
def test_shapes_that_do_not_fit(source, args):
    refused(source, *args)


FUNCTIONS_WITH_AXES = """sum prod min max ptp any all mean var std argmin argmax count_nonzero cumsum cumprod nansum nanmin nanmax nanmean nanvar median sort argsort flip
diff squeeze expand_dims moveaxis swapaxes roll repeat concatenate stack take delete quantile average gradient trapezoid partition""".split()
MORE = {"expand_dims": "np.expand_dims(a, 7)", "moveaxis": "np.moveaxis(a, 7, 0)", "swapaxes": "np.swapaxes(a, 0, 7)", "roll": "np.roll(a, 1, axis=7)", "repeat": "np.repeat(a, 2, axis=7)",
        "concatenate": "np.concatenate((a, a), axis=7)", "stack": "np.stack((a, a), axis=7)", "take": "np.take(a, 0, axis=7)", "delete": "np.delete(a, 0, axis=7)",
        "quantile": "np.quantile(a, 0.5, axis=7)", "partition": "np.partition(a, 1, axis=7)"}


@pytest.mark.parametrize("name", FUNCTIONS_WITH_AXES)
def test_axes_that_are_not_there(name):
    source = MORE.get(name, f"np.{name}(a, axis=7)")
    refused(source, A)
    refused(source.replace("7", "-7"), A)


@pytest.mark.parametrize("source", ["np.min(a)", "np.max(a, axis=0)", "a.max()", "np.argmin(a)", "np.argmax(a, axis=0)", "np.ptp(a)", "np.nanmin(a)", "np.nanargmax(a)", "np.minimum.reduce(a)",
                                    "np.interp(1.0, a, a)", "np.fmax.reduce(a)"])
def test_reductions_of_nothing(source):
    refused(source, np.ones(0))
    if "interp" not in source:
        refused(source, np.ones((0, 3)))


@pytest.mark.parametrize("source, args", [
    ("np.add(a, b, out=c)", (A, A, np.zeros((2, 3), np.int64))), ("np.copyto(a, b)", (np.zeros((2, 3), np.int64), A)), ("np.sqrt(a, out=b)", (A, np.zeros((2, 3), np.int32))),
    ("a.astype(np.int32, casting='safe')", (A,)), ("np.dot(a, b, out=c)", (A, B, np.zeros((2, 4), np.int64))), ("np.bitwise_and(a, a)", (A,)), ("np.left_shift(a, a)", (A,)), ("np.linalg.inv(a)", (np.eye(2, dtype=np.float16),)),
    ("np.add(a, b, a)", (np.zeros((2, 3), np.int8), A)), ("np.einsum('ij,ij->ij', a, b, out=c)", (A, A, np.zeros((2, 3), np.int32))),
])
def test_dtypes_that_do_not_cast(source, args):
    refused(source, *args)


def locked(a):
    a = a.copy()
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("source", ["np.add(a, a, out=a)", "a.sort()", "a.fill(1)", "np.copyto(a, 1.0)", "np.put(a, np.array([0]), np.array([1.0]))", "np.place(a, a > 1, np.array([1.0]))", "np.fill_diagonal(a, 1)", "a.partition(1)",
                                    "np.put_along_axis(a, np.array([[0], [0]]), 1.0, 1)", "np.cumsum(a, axis=0, out=a)", "np.clip(a, 0, 1, out=a)"])
def test_read_only_targets(source):
    for a in (locked(A), np.broadcast_to(A[:1], (2, 3))):
        f = compiled(source)[1]
        kept = a.copy()
        with pytest.raises((quern.TypingError, ValueError)) as caught:
            f(a)
        assert "read-only" in str(caught.value) or "readonly" in str(caught.value), caught.value
        assert np.array_equal(a, kept)


@pytest.mark.parametrize("source", ["np.add(a[1:], a[:-1], out=a[1:])", "np.multiply(a[::-1], 2, out=a)", "np.cumsum(a[::-1], out=a)", "np.matmul(a.reshape(2, 3), b, out=a.reshape(2, 3))", "np.sqrt(a[::2], out=a[:3])",
                                    "np.copyto(a[1:], a[:-1])", "np.clip(a[::-1], 1, 3, out=a)", "np.take(a, np.array([5, 4, 3, 2, 1, 0]), out=a)", "np.einsum('i,i->i', a[::-1], a, out=a)", "np.maximum(a[1:], a[:-1], out=a[:-1])"])
def test_overlapping_targets_are_read_first(source):
    plain, f = compiled(source, "a, b")
    mine, theirs, b = np.arange(6.0), np.arange(6.0), np.arange(9.0).reshape(3, 3)
    plain(theirs, b), f(mine, b)
    assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("source", ["a[b]", "np.compress(b, a, axis=0)", "np.place(a, b, np.array([1.0]))", "np.add(a, 1, where=b)", "np.sum(a, where=b)", "np.copyto(a, 1.0, where=b)"])
def test_masks_of_the_wrong_length(source):
    mask = np.array([True] * 7)
    if "compress" in source:
        refused(source, A, mask)
    else:
        refused(source, A.ravel().copy() if "place" not in source else A, mask)


HUGE = 1 << 40


@pytest.mark.parametrize("source", ["np.zeros((n, n))", "np.empty((n, n, n))", "np.full((n, n), 1.0)", "np.eye(n)", "np.tri(n)", "np.repeat(a, n * 1048576)", "np.tile(a, (n, n))", "np.zeros((n, 0, n, n)) + 1",
                                    "a.reshape(n, n)", "np.resize(a, (n, n))", "np.identity(n)", "np.indices((n, n))", "np.ones((n, n), np.int8)", "np.zeros((n, n), order='F')"])
def test_sizes_that_no_array_has(source):
    plain, f = compiled(source, "a, n")
    for round in range(2):
        before = quern._quern.live_allocations()
        with pytest.raises((ValueError, MemoryError, OverflowError)) as caught:
            f(A, HUGE)
        assert str(caught.value)
        caught = None
        assert quern._quern.live_allocations() == before


@pytest.mark.parametrize("source", ["np.zeros(n)", "np.arange(n)", "np.linspace(0, 1, n)", "np.repeat(a, n)", "np.tile(a, n)", "np.ones((n, 4)) @ np.ones((4, 4))", "np.eye(1 << 24)", "np.bincount(np.array([n]))", "np.vander(a[0], n)",
                                    "np.pad(a[0], n)", "np.concatenate((a[0], np.empty(n)))", "np.hanning(n)"])
def test_huge_allocations(source):
    """2**46 elements are more than any machine has."""
    f = compiled(source, "a, n")[1]
    for round in range(2):
        before = quern._quern.live_allocations()
        with pytest.raises(MemoryError) as caught:
            f(A, 1 << 46)
        assert "allocate" in str(caught.value) or "memory" in str(caught.value)
        assert any(frame.filename == "<string>" for frame in traceback.extract_tb(caught.tb))
        caught = None
        assert quern._quern.live_allocations() == before


@pytest.mark.parametrize("source", ["np.linspace(0, 1, b)", "np.zeros(b)", "np.eye(b)", "np.repeat(a, b)", "np.ones((2, b))", "np.split(a, 0)", "np.empty((b, b))", "np.partition(a, 9)", "np.diff(a, b)",
                                    "np.bincount(a[0].astype(np.int64) + b)", "np.linalg.matrix_power(a, 2)", "np.percentile(a, 101)", "np.arange(0, 5, 0)"])
def test_numbers_that_make_no_sense(source):
    refused(source, A, -3)


def test_the_place_is_the_line_of_the_program():
    def f(a, b):
        c = a + 1
        return np.linalg.solve(c,
                               b)

    with pytest.raises(np.linalg.LinAlgError) as caught:
        quern.njit(f)(A, A)
    lines = [(os.path.basename(frame.filename), frame.lineno) for frame in traceback.extract_tb(caught.tb)]
    assert (HERE, f.__code__.co_firstlineno + 2) in lines
