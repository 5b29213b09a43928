"""guvectorize on the CPU: real generalised ufuncs. NumPy's rules about core axes are the oracle."""
import gc
import os
import pickle
import signal
import threading
import time
import weakref

import numpy as np
import pytest

from quern import _quern, errors, float64, guvectorize, int32, int64, njit

BOTH = pytest.mark.parametrize("target", ["cpu", "parallel"])


def product(a, b, c):
    """The product of two matrices."""
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def running(a, out):
    total = a[0] - a[0]
    for i in range(a.shape[0]):
        total += a[i]
        out[i] = total


product_of = njit(product)


@guvectorize(["void(float32[:, :], float32[:, :], float32[:, :])", "void(float64[:, :], float64[:, :], float64[:, :])"],
             "(m,n),(n,p)->(m,p)")
def matmul(a, b, c):
    """The product."""
    product_of(a, b, c)


cumsum = guvectorize(["float64[:], float64[:]"], "(n)->(n)")(running)


@guvectorize([(float64[:], float64[:])], "(n)->()")
def norm(a, out):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * a[i]
    out[0] = s ** 0.5


def test_is_a_generalised_ufunc():
    assert isinstance(matmul, np.ufunc) and (matmul.nin, matmul.nout, matmul.nargs) == (2, 1, 3)
    assert matmul.signature == "(m,n),(n,p)->(m,p)" and matmul.types == ["ff->f", "dd->d"] and matmul.ntypes == 2
    assert matmul.__name__ == "matmul" and matmul.__doc__ == "The product." and matmul.__module__ == __name__
    assert not matmul.is_dynamic and matmul.py_func.__name__ == "matmul" and pickle.loads(pickle.dumps(matmul)) is matmul


@BOTH
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_loop_axes_broadcast(target, kind):
    f = guvectorize(["f4[:,:],f4[:,:],f4[:,:]", "f8[:,:],f8[:,:],f8[:,:]"], "(m,n),(n,p)->(m,p)", target=target)(product)
    a = np.arange(2 * 1001 * 6).reshape(2, 1001, 2, 3).astype(kind) % 7
    b = np.arange(1001 * 12).reshape(1001, 3, 4).astype(kind) % 5
    result = f(a, b)
    assert result.dtype == kind and np.array_equal(result, np.matmul(a, b))
    assert np.array_equal(f(a[0, ::-3], b[5]), np.matmul(a[0, ::-3], b[5]))
    assert np.array_equal(f(a, b.swapaxes(1, 2).copy().swapaxes(1, 2)), np.matmul(a, b))
    assert f(a[:, :0], b[:0]).shape == (2, 0, 2, 4)
    assert np.array_equal(f(np.zeros((3, 2, 0), kind), np.zeros((0, 4), kind)), np.zeros((3, 2, 4)))


def test_inputs_are_cast_safely_to_the_first_loop_that_fits():
    a = np.arange(6, dtype="i2").reshape(2, 3)
    assert matmul(a, a.T).dtype == np.float32 and matmul(a.astype("i4"), a.T).dtype == np.float64
    assert np.array_equal(matmul(a, a.T), a @ a.T) and np.array_equal(matmul(a.astype(">f8"), a.T), a @ a.T)
    assert matmul(a, a.T, dtype="f8").dtype == np.float64 and matmul(a, a.T, signature="dd->d").dtype == np.float64
    assert matmul([[1, 2]], [[3], [4]]).tolist() == [[11]]
    with pytest.raises(TypeError, match=r"'matmul' has no loop for arguments of types \(complex128, int16\)"):
        matmul(a.astype(complex), a.T)
    with pytest.raises(TypeError, match="[Cc]annot cast"):
        matmul(a, a.T, out=np.zeros((2, 2), int))
    unaligned = np.zeros(8 * 6 + 1, "u1")[1:].view("f8").reshape(2, 3)
    unaligned[:] = a
    assert np.array_equal(matmul(unaligned, unaligned.T), a @ a.T)


def test_axis_axes_keepdims_and_out():
    x = np.arange(24.0).reshape(2, 3, 4)
    for axis in (0, 1, -1):
        assert np.array_equal(cumsum(x, axis=axis), np.cumsum(x, axis=axis))
        assert np.allclose(norm(x, axis=axis), np.sqrt((x * x).sum(axis)))
    assert norm(x, keepdims=True).shape == (2, 3, 1) and norm(x, axis=1, keepdims=True).shape == (2, 1, 4)
    assert np.array_equal(cumsum(x, axes=[0, 1]), np.moveaxis(np.cumsum(x, axis=0), 0, 1))
    y = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(matmul(y, y, axes=[(0, 1), (1, 0), (1, 0)]), (y @ y.T).T)
    out = np.zeros((4, 3, 2))
    assert cumsum(x, out=out.T).base is out and np.array_equal(out.T, np.cumsum(x, axis=-1))
    assert np.array_equal(cumsum(x, axis=0, out=np.zeros(x.shape, "f4")), np.cumsum(x, axis=0))
    cumsum(x, x)  # NumPy copies what would be overwritten
    assert np.array_equal(x, np.cumsum(np.arange(24.0).reshape(2, 3, 4), axis=-1))


def test_scalars_come_out():
    assert type(norm([3.0, 4.0])) is np.float64 and norm([3.0, 4.0]) == 5.0 and norm(np.zeros((2, 0))).tolist() == [0, 0]


@BOTH
def test_several_outputs(target):
    @guvectorize([(float64[:], float64[:], float64[:], int64[:])], "(n)->(),(),(n)", target=target)
    def extremes(a, low, high, rank):
        low[0] = high[0] = a[0]
        for i in range(a.shape[0]):
            low[0] = min(low[0], a[i])
            high[0] = max(high[0], a[i])
            rank[i] = 0
            for j in range(a.shape[0]):
                rank[i] += a[j] < a[i]
    a = np.random.default_rng(1).random((2000, 5))
    low, high, rank = extremes(a)
    assert np.array_equal(low, a.min(1)) and np.array_equal(high, a.max(1)) and rank.dtype == np.int64
    assert np.array_equal(rank, np.argsort(np.argsort(a, axis=1), axis=1))
    out = np.zeros(2000)
    assert extremes(a, out=(None, out, None))[1] is out and np.array_equal(out, high)
    assert [r.shape for r in extremes(a.T, axis=0)] == [(2000,), (2000,), (5, 2000)]


@BOTH
def test_inputs_without_core_axes(target):
    """A number, or an array of one element, as the signature says."""
    def scaled(a, k, out):
        for i in range(a.shape[0]):
            out[i] = a[i] * k

    def scaled_by_item(a, k, out):
        for i in range(a.shape[0]):
            out[i] = a[i] * k[0]
    number = guvectorize([(int32[:], int32, int32[:])], "(n),()->(n)", target=target)(scaled)
    item = guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)", target=target)(scaled_by_item)
    a = np.arange(6000, dtype="i4").reshape(1000, 6)
    for f in (number, item):
        assert np.array_equal(f(a, 2), a * 2) and f(a, 2).dtype == np.int32
        k = np.arange(1000, dtype="i4")
        assert np.array_equal(f(a, k), a * k[:, None]) and np.array_equal(f(a[::-1, ::2], k[::-1]), (a * k[:, None])[::-1, ::2])


def test_no_core_axes_at_all_is_an_ordinary_ufunc():
    @guvectorize("(),()->()")
    def add(x, y, out):
        out[0] = x + y
    a, out = np.arange(1, 5), np.zeros(4, int)
    assert add.signature is None
    with pytest.raises(TypeError, match="call it once before"):
        add.outer(a, a)
    add(a, a, out)
    assert out.tolist() == [2, 4, 6, 8] and add.reduce(a) == 10 and add.accumulate(a).tolist() == [1, 3, 6, 10]
    assert add.outer([0, 1], [1, 2], out=np.zeros((2, 2), int)).tolist() == [[1, 2], [2, 3]]
    assert add.reduceat(a, [0, 2]).tolist() == [3, 7]
    assert add.outer([0, 1], [1, 2]).tolist() == [[1, 2], [2, 3]]
    add.at(a, [0, 1], np.array([1, 2]))
    assert a.tolist() == [2, 4, 3, 4]
    with pytest.raises(RuntimeError, match="Reduction not defined"):
        cumsum.reduce(np.ones(3))


@BOTH
def test_dynamic_loops_are_made_for_the_types_of_inputs_and_outputs(target):
    f = guvectorize("(n)->(n)", target=target)(lambda a, out: scale_into(a, out))
    ints, floats = np.zeros(4, int), np.zeros(4)
    f(np.arange(4), ints)
    f(np.arange(4), floats)
    f(np.arange(4, dtype="f4"), out=floats[::-1])
    assert ints.tolist() == [0, 1, 3, 4] and floats.tolist() == [4.5, 3, 1.5, 0] and f.types == ["l->l", "l->d", "f->d"]
    f(np.arange(4), out=(floats,))
    assert floats.tolist() == [0, 1.5, 3, 4.5] and f.is_dynamic and f.ntypes == 3
    assert f(np.arange(4), signature="l->d").tolist() == [0, 1.5, 3, 4.5]
    for call in (lambda: f(ints), lambda: f(ints, out=None)):
        with pytest.raises(TypeError, match="Too few arguments for function '<lambda>'"):
            call()
    with pytest.raises(TypeError, match="positional arguments but 3 were given"):
        f(ints, ints, ints)
    with pytest.raises(TypeError, match="cannot be compiled for arguments of dtype <U1"):
        f(np.array(["a"]), floats)


@njit
def scale_into(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i] * 1.5


def test_dynamic_python_numbers_are_weak():
    @guvectorize("(n),()->(n)")
    def power(a, k, out):
        for i in range(a.shape[0]):
            out[i] = a[i] * k
    a, out = np.ones(3, "f4"), np.zeros(3, "f4")
    power(a, 2.5, out)
    assert power.types == ["ff->f"] and out.tolist() == [2.5] * 3
    power(a, np.int64(2), out)
    assert power.types == ["ff->f", "fl->f"]


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="older versions have fewer layouts")
def test_lengths_and_optional_axes_in_the_layout():
    @guvectorize(["f8[:], f8[:], f8[:]"], " ( 3 ), (3) -> (3), ")
    def cross(a, b, c):
        c[0] = a[1] * b[2] - a[2] * b[1]
        c[1] = a[2] * b[0] - a[0] * b[2]
        c[2] = a[0] * b[1] - a[1] * b[0]
    assert cross.signature == "(3),(3)->(3)" and guvectorize("(n) -> (n)")(running).signature == "(n) -> (n)"
    a, b = np.random.default_rng(2).random((2, 5, 3))
    assert np.allclose(cross(a, b), np.cross(a, b))
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        cross(a[:, :2], b[:, :2])
    f = guvectorize(["f8[:,:], f8[:,:], f8[:,:]"], "(m?,n),(n,p?)->(m?,p?)")(product)
    for x, y in ((a, b.T), (a[0], b.T), (a, b[0]), (a[0], b[0])):
        assert np.allclose(f(x, y), x @ y)


@BOTH
def test_writable_args(target):
    def swap(a, b, out):
        for i in range(a.shape[0]):
            a[i], b[i] = b[i], a[i]
        out[0] = a[0]
    f = guvectorize([(float64[:], float64[:], float64[:])], "(n),(n)->()", writable_args=("a", 1), target=target)(swap)
    a, b = np.arange(6000.0).reshape(1000, 6), np.ones((1000, 6))
    assert f(a, b).tolist() == [1] * 1000 and (a == 1).all() and np.array_equal(b, np.arange(6000.0).reshape(1000, 6))
    with pytest.raises(ValueError, match="read-only|not writeable"):
        f(np.broadcast_to(1.0, (3, 6)), b[:3])
    for wrong, error in (("c", RuntimeError), (2, IndexError), (-1, IndexError), ("out", IndexError)):
        with pytest.raises(error):
            guvectorize([(float64[:], float64[:], float64[:])], "(n),(n)->()", writable_args=(wrong,))(swap)


@BOTH
def test_layouts_without_outputs(target):
    """As Numba's: the function writes into its inputs; what was converted comes back only where writable_args names it."""
    def fill_even(x, y):
        for t in range(0, x.shape[0], 2):
            x[t] = y[0]
    for named, narrow in (((), 0.0), ((0,), 2.0), (("x",), 2.0)):
        f = guvectorize(["void(f8[:], f8[:])"], "(t),()", writable_args=named, target=target)(fill_even)
        assert (f.nin, f.nout, f.signature) == (2, 0, "(t),()")
        for dtype, want in (("f8", 2.0), ("f4", narrow)):
            x = np.zeros((4, 5), dtype)
            assert f(x, 2) == () and np.array_equal(x, np.tile([want, 0, want, 0, want], (4, 1)))
    called = njit(lambda x: f(x, 3.0))
    x = np.zeros(5)
    called(x)
    assert x.tolist() == [3, 0, 3, 0, 3]
    on_device = guvectorize(["void(f8[:], f8[:])"], "(t),()", target="cuda")(fill_even)
    x = np.zeros((4, 5))
    assert on_device(x, 2.0) == () and (x[:, ::2] == 2).all()


def test_inputs_that_are_written_without_being_named():
    """As in Numba: in place where NumPy does not convert. But never into read-only memory."""
    @guvectorize([(float64[:], float64[:])], "()->()")
    def fill(a, out):
        a[0] = 6.5
        out[0] = 4.2
    a, b, constant = np.zeros((2, 3)), np.zeros((2, 3), "f4"), np.zeros((2, 3))
    constant.flags.writeable = False
    assert (fill(a) == 4.2).all() and (a == 6.5).all() and (fill(b) == 4.2).all() and (b == 0).all() and fill(1.0) == 4.2
    for wrong in (constant, np.broadcast_to(1.0, 3), memoryview(constant)):
        with pytest.raises(ValueError, match="input 1 of 'fill' is written to by the function, and is read-only"):
            fill(wrong)
    assert (constant == 0).all()
    with pytest.raises(TypeError, match="'<lambda>' writes to its input 1: a gufunc with the layout .* has reductions"):
        guvectorize(["f8[:], f8, f8[:]"], "(),()->()")(lambda a, b, out: fill_first(a))


@njit
def fill_first(a):
    a[0] = 1.0


@pytest.mark.parametrize("layout, error, words", [
    ("(n)->(n", ValueError, "not closed"), ("(n->(n)", ValueError, "bad token in signature \"->\""), ("n->n", ValueError, "bad token in signature \"n\""), ("(n)->(n)->(n)", ValueError, "invalid signature"),
    ("(n)->(n)->(n)", ValueError, "invalid signature"), ("(n)->(m)", NameError, "undefined output symbols: m"),
    ("(n+1)->(n)", ValueError, "bad token in signature \"[+]\""), ("->(3)", ValueError, "no inputs"), (3, ValueError, "invalid signature"),
    ("(n),(n)->(n)", TypeError, "is for 3 arguments, 'running' takes 2"), ("(n)->", TypeError, "is for 1 argument")])
def test_wrong_layouts(layout, error, words):
    with pytest.raises(error, match=words):
        guvectorize(["f8[:], f8[:]"], layout)(running)


def nothing(a, b, c):
    pass


def three(a, b, c):
    return 3


@pytest.mark.parametrize("signature, layout, words", [
    ("int32[:], int32, int32[:]", "(n),(n)->(n)", "scalar type int32 given for non scalar argument #2"),
    ("int32[:], int32[:], int32[:]", "(m,n),()->(n)", "type and shape signature mismatch for arg #1"),
    ("int32[:], int32[:,:], int32[:]", "(n),()->(n)", "type and shape signature mismatch for arg #2"),
    ("int32[:], int32, int32", "(n),()->()", "argument #3 is an output, which is an array in the signature, not int32"),
    ("int32[:], int32[:]", "(n),()->(n)", "has 2 parameters, 'nothing' has 3"),
    ("int64(int32[:], int32, int32[:])", "(n),()->(n)", "returns nothing, not int64"),
    ("UniTuple(int32, 2), int32[:], int32[:]", "(),(n)->(n)", r"takes numbers and arrays of numbers, not \(int32, int32\)")])
def test_signatures_that_do_not_fit_the_layout(signature, layout, words):
    with pytest.raises(TypeError, match=words):
        guvectorize([signature], layout)(three if signature.startswith("int64(") else nothing)


def test_what_the_function_returns_is_refused_with_its_place():
    with pytest.raises(errors.TypingError, match="writes its results into its last parameters and returns nothing, not int64") as e:
        guvectorize([(int64[:], int64[:])], "(n)->()")(lambda a, out: 3)
    assert "test_gufunc.py" in str(e.value)


def test_wrong_options_and_targets():
    with pytest.raises(TypeError, match="guvectorize\\(\\) has no option 'nopyton'; did you mean nopython"):
        guvectorize(["f8[:],f8[:]"], "(n)->(n)", nopyton=True)
    with pytest.raises(ValueError, match="no target 'tpu'"):
        guvectorize(["f8[:],f8[:]"], "(n)->(n)", target="tpu")
    with pytest.raises(errors.UnsupportedError, match="axes that may be missing"):
        guvectorize(["f8[:],f8[:]"], "(n?)->(n?)", target="cuda")(running)
    with pytest.raises(ValueError, match="identity"):
        guvectorize(["f8[:],f8[:]"], "(n)->(n)", identity=7)


def test_wrong_calls_are_numpys_errors():
    x = np.ones((3, 4))
    for call, error, words in (
            (lambda: matmul(x, x), ValueError, r"Input operand 1 has a mismatch in its core dimension 0"),
            (lambda: matmul(np.ones(3), x), ValueError, "does not have enough dimensions"),
            (lambda: matmul(np.ones((2, 3, 4)), np.ones((3, 4, 5))), ValueError, "could not be broadcast"),
            (lambda: matmul(x), TypeError, "from 2 to 3 positional arguments but 1"),
            (lambda: norm(x, axis=2), np.exceptions.AxisError if hasattr(np, "exceptions") else Exception, "out of bounds"),
            (lambda: norm(x, out=np.zeros(4)), ValueError, "broadcast"),
            (lambda: norm(x, out=np.broadcast_to(0.0, 3)), ValueError, "read-only")):
        with pytest.raises(error, match=words):
            call()


class Other:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, method, sorted(kwargs)


def test_array_ufunc_of_others_decides():
    dynamic = guvectorize("(n)->(n)")(running)
    assert matmul(Other(), 1) == ("matmul", "__call__", []) and norm(Other(), keepdims=True) == ("norm", "__call__", ["keepdims"])
    assert dynamic(Other()) == ("running", "__call__", []) and dynamic(np.ones(3), Other())[1] == "__call__"


def test_frames_of_pandas_are_operands():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    sums = cumsum(frame)  # pandas hands over its columns as rows, to any gufunc
    assert isinstance(sums, pandas.DataFrame) and list(sums) == ["a", "b"] and sums.to_numpy().tolist() == [[1, 3], [3, 7]]
    sums = cumsum(pandas.Series([1.0, 2.0, 3.0], name="c", index=[5, 6, 7]))
    assert isinstance(sums, pandas.Series) and sums.name == "c" and sums.to_dict() == {5: 1, 6: 3, 7: 6}


def test_loops_can_be_added_one_by_one():
    from quern.np.ufunc import GUVectorize
    builder = GUVectorize(product, "(m,n),(n,p)->(m,p)")
    builder.add((float64[:, :], float64[:, :], float64[:, :]))
    built = builder.build_ufunc()
    built.add("void(int64[:, :], int64[:, :], int64[:, :])")
    assert built.types == ["dd->d", "ll->l"] and built(np.ones((2, 2)), np.ones((2, 2))).tolist() == [[2, 2], [2, 2]]
    assert njit(lambda a: built(a, a))(np.ones((2, 2), "i8")).dtype == np.float64  # the first loop that is reached by safe casts
    dynamic = GUVectorize(running, "(n)->(n)", is_dynamic=True)
    dynamic(np.ones(3), out := np.zeros(3))
    dynamic.disable_compile()
    assert out.tolist() == [1, 2, 3] and not dynamic.is_dynamic and dynamic.build_ufunc() is dynamic
    assert dynamic(np.ones(3, "f4")).tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="no loop for arguments"):
        dynamic(np.ones(3, complex), out)


# -- failures in the function ---------------------------------------------------------------------------------------------


@BOTH
def test_exceptions_have_their_line_and_nothing_leaks(target):
    @guvectorize(["f8[:], f8[:]"], "(n)->()", target=target)
    def checked(a, out):
        scratch = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            if a[i] < 0:
                raise ValueError("negative", i)
            scratch[i] = a[i]
        out[0] = scratch[a.shape[0] - 1]
    x = np.ones((5000, 7))
    assert (checked(x) == 1).all()
    x[4321, 5] = -1
    for _ in range(3):
        with pytest.raises(ValueError) as e:
            checked(x)
        assert e.value.args == ("negative", 5) and "raise ValueError" in str(e.traceback[-1].statement)
    before = _quern.live_owned_arrays() if hasattr(_quern, "live_owned_arrays") else None
    for _ in range(200):
        with pytest.raises(ValueError):
            checked(x[4000:4400])
    if before is not None:
        assert _quern.live_owned_arrays() == before
    x[4321, 5] = 1
    assert (checked(x) == 1).all()


def test_index_errors_and_zero_divisors():
    @guvectorize(["f8[:], f8[:]"], "(n)->()")
    def beyond(a, out):
        out[0] = a[a.shape[0]]
    with pytest.raises(IndexError):
        beyond(np.ones((3, 4)))

    @guvectorize(["f8[:], f8[:]"], "(n)->()")
    def inverse(a, out):
        out[0] = 1.0 / a[0]
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert inverse(np.zeros(3)) == np.inf
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        inverse(np.zeros(3))


def test_ufuncs_and_their_loops_die():
    made = guvectorize(["f8[:], f8[:]"], "(n)->(n)")(lambda a, out: running_of(a, out))
    assert made(np.ones(3)).tolist() == [1, 2, 3]
    gone = weakref.ref(made.py_func)
    del made
    gc.collect()
    assert gone() is None


running_of = njit(running)


def test_objects_do_not_pile_up():
    x, wrong = np.ones((4, 3)), np.ones((4, 5))
    dynamic = guvectorize("(n)->(n)")(running)
    out = np.zeros((4, 3))

    def round_():
        dynamic(x, out)
        dynamic(x, out=(out,))
        cumsum(x, axis=0)
        for call in (lambda: matmul(x, wrong), lambda: dynamic(x), lambda: matmul(x.astype(complex), x), lambda: norm(x, axis=7)):
            with pytest.raises((TypeError, ValueError)):
                call()
    for _ in range(3):
        round_()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(50):
        round_()
    gc.collect()
    assert len(gc.get_objects()) - before < 20


@BOTH
@pytest.mark.parametrize("rows, rounds", [(1, 10 ** 9), (200000, 10 ** 5)])
def test_ctrl_c_ends_a_long_call(target, rows, rounds):
    @guvectorize([(float64[:], int64, float64[:])], "(n),()->()", target=target)
    def long(a, n, out):
        s = 0.0
        for k in range(n):
            for i in range(a.shape[0]):
                s += np.sin(a[i] + s)
        out[0] = s
    x = np.zeros((rows, 8))
    long(x, 0)
    at = []

    def interrupt():
        at.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        long(x, rounds)
    assert time.perf_counter() - at[0] < 0.5  # 100 ms and what a busy machine adds
    timer.join()


def test_threads_call_and_compile_at_once():
    dynamic = guvectorize("(n)->(n)")(running)
    kinds = ["f4", "f8", "i4", "i8", "c8", "c16"]
    failures = []

    def work(kind):
        x, out = np.ones((100, 5), kind), np.zeros((100, 5), kind)
        for _ in range(20):
            dynamic(x, out)
            if not np.array_equal(out, np.cumsum(x, axis=1)):
                failures.append(kind)
    threads = [threading.Thread(target=work, args=(k,)) for k in kinds * 2]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures and dynamic.ntypes == len(kinds)


# -- in compiled code -----------------------------------------------------------------------------------------------------


@guvectorize(["f4[:], f4, f4[:], f4[:]", "f8[:], f8, f8[:], f8[:]"], "(n),()->(n),()")
def scaled(a, k, out, total):
    total[0] = 0
    for i in range(a.shape[0]):
        out[i] = a[i] * k
        total[0] += out[i]


dynamic_sum = guvectorize("(n)->(n)")(running)


@njit
def call_matmul(a, b):
    return matmul(a, b)


@njit
def call_matmul_into(a, b, c):
    matmul(a, b, c)


@njit
def call_matmul_out(a, b, c):
    return matmul(a, b, out=c)


@njit
def call_scaled(a, k):
    return scaled(a, k)


@njit
def call_dynamic(a, out):
    dynamic_sum(a, out)


def test_compiled_calls_broadcast_and_convert():
    a, b = np.random.default_rng(3).random((3, 1, 2, 4)), np.random.default_rng(4).random((5, 4, 3))
    assert np.array_equal(call_matmul(a, b), matmul(a, b)) and call_matmul(a, b).shape == (3, 5, 2, 3)
    assert np.array_equal(call_matmul(a[0, 0], b[1]), matmul(a[0, 0], b[1]))
    assert np.array_equal(call_matmul(a[::-1, :, ::-1], b.swapaxes(0, 1)[:, ::2].swapaxes(0, 1)), matmul(a[::-1, :, ::-1], b[::2]))
    for kinds in (("f4", "f4"), ("f4", "f8"), ("i2", "f4"), ("i4", "i2"), ("?", "?")):
        x, y = (np.ones((2, 2), k) for k in kinds)
        assert call_matmul(x, y).dtype == matmul(x, y).dtype and np.array_equal(call_matmul(x, y), matmul(x, y))
    for out in (np.zeros((3, 5, 2, 3)), np.zeros((3, 5, 2, 3), "f4"), np.zeros((3, 2, 3, 5)).transpose(0, 3, 1, 2)):
        call_matmul_into(a, b, out)
        assert np.allclose(out, a @ b, rtol=1e-6)
        out[...] = 0
        assert call_matmul_out(a, b, out) is out and np.allclose(out, a @ b, rtol=1e-6)
    more = np.zeros((2, 3, 5, 2, 3))
    call_matmul_into(a, b, more)
    assert np.array_equal(more, matmul(a, b, np.zeros((2, 3, 5, 2, 3)))) and np.allclose(more[1], a @ b)
    assert call_matmul(np.zeros((0, 2, 3)), np.zeros((3, 4))).shape == (0, 2, 4)


def test_compiled_calls_with_numbers_and_several_outputs():
    a = np.arange(6.0).reshape(2, 3)
    for k in (2, 2.5, True, np.float32(1.5), np.arange(2), np.arange(8.0).reshape(4, 2)):
        for result, expected in zip(call_scaled(a, k), scaled(a, k)):
            assert np.array_equal(result, expected) and result.dtype == expected.dtype
    out, total = call_scaled(a[0], 2)
    assert out.tolist() == [0, 2, 4] and total == 6.0 and not isinstance(total, np.ndarray)
    assert call_scaled(a.astype("f4"), 2.5)[0].dtype == np.float32


def test_compiled_calls_of_dynamic_ones():
    for kind in ("f4", "f8", "i8"):
        out = np.zeros((2, 3), kind)
        call_dynamic(np.ones((2, 3)), out)
        assert out.tolist() == [[1, 2, 3]] * 2
    x = np.ones(6)
    call_dynamic(x[:-1], x[1:])  # as if everything were read before anything is written
    assert x.tolist() == [1, 1, 2, 3, 4, 5]
    with pytest.raises(TypeError, match="Too few arguments for function 'running'"):
        njit(lambda a: dynamic_sum(a))(x)


def test_compiled_calls_that_are_wrong():
    a, b = np.ones((3, 2, 4)), np.ones((4, 3))
    with pytest.raises(ValueError, match="operand 1 of a gufunc has a mismatch in its core dimension 0: size 3 is different from 4"):
        call_matmul(a, b[:3])
    with pytest.raises(ValueError, match="operand 2 of a gufunc has a mismatch in its core dimension 1: size 2 is different from 3"):
        call_matmul_into(a, b, np.zeros((3, 2, 2)))
    with pytest.raises(ValueError, match="cannot be broadcast"):
        call_matmul(a, np.ones((2, 4, 3)))
    for out in (np.zeros((2, 3)), np.zeros((1, 2, 3))):
        with pytest.raises(ValueError, match="Loop and array shapes are incompatible: matmul: an output does not have the shape"):
            call_matmul_into(a, b, out)
    with pytest.raises(ValueError, match="matmul: an operand does not have enough dimensions"):
        call_matmul(a, np.ones(4))
    with pytest.raises(TypeError, match="ufunc 'matmul' has no loop for arguments of these types"):
        call_matmul(a.astype(complex), b)
    with pytest.raises(TypeError, match=r"matmul\(\) takes 2 positional arguments, or 3 with its outputs"):
        njit(lambda x: matmul(x))(a)
    constant = np.zeros((3, 2, 3))
    constant.flags.writeable = False
    with pytest.raises((TypeError, ValueError), match="read-?only"):
        call_matmul_into(a, b, constant)
    optional = guvectorize(["f8[:,:], f8[:,:], f8[:,:]"], "(m?,n),(n,p?)->(m?,p?)")(product)
    with pytest.raises(errors.UnsupportedError, match="guvectorize is not supported: axes that may be missing"):
        njit(lambda x: optional(x, x))(b)


def test_compiled_calls_fail_in_the_function_with_its_line_and_divide_as_numpy():
    @guvectorize(["f8[:], f8[:]"], "(n)->()")
    def checked(a, out):
        if a[0] < 0:
            raise ValueError("negative", 7)
        out[0] = 1.0 / a[0]

    @njit
    def use(a):
        return checked(a)
    with pytest.raises(ValueError) as e:
        use(np.array([[1.0], [-1.0]]))
    assert e.value.args == ("negative", 7) and "raise ValueError" in str(e.traceback[-1].statement)
    assert use(np.zeros((2, 1))).tolist() == [np.inf, np.inf]


def test_compiled_calls_write_to_writable_args():
    @guvectorize([(float64[:], float64[:])], "(n)->()", writable_args=("a",))
    def take(a, out):
        out[0] = a[0]
        a[0] = -1.0

    @njit
    def use(a):
        return take(a)
    a = np.arange(6.0).reshape(2, 3)
    assert use(a).tolist() == [0, 3] and a.tolist() == [[-1, 1, 2], [-1, 4, 5]]


def test_lengths_of_the_layout_hold_in_compiled_code():
    @guvectorize(["f8[:], f8[:]"], "(3)->(3)")
    def turned(a, out):
        for i in range(3):
            out[i] = a[2 - i]
    use = njit(lambda a: turned(a))
    assert use(np.arange(6.0).reshape(2, 3)).tolist() == [[2, 1, 0], [5, 4, 3]]
    with pytest.raises(ValueError, match="size 4 is different from 3"):
        use(np.zeros(4))


# -- on devices ------------------------------------------------------------------------------------------------------------


def test_U06_on_the_device(device):
    """One kernel for all axes that broadcast; the core axes are arrays of the function."""
    f = guvectorize(["void(float32[:, :], float32[:, :], float32[:, :])", "void(float64[:, :], float64[:, :], float64[:, :])"], "(m,n),(n,p)->(m,p)", target="cuda")(product)
    rng = np.random.default_rng(1)
    assert f.signature == "(m,n),(n,p)->(m,p)" and (f.nin, f.nout) == (2, 1) and f.types == ["ff->f", "dd->d"]
    for left, right in (((3, 4), (4, 2)), ((5, 3, 4), (4, 2)), ((3, 4), (5, 4, 2)), ((2, 1, 3, 4), (5, 4, 2)), ((0, 3, 4), (4, 2)), ((300, 2, 3), (1, 3, 2))):
        for dtype in (np.float32, np.float64, np.int16):
            a, b = rng.integers(-9, 9, left).astype(dtype), rng.integers(-9, 9, right).astype(dtype)
            got, want = f(a, b), a.astype(np.promote_types(dtype, np.float32)) @ b
            assert np.array_equal(got, want) and got.dtype == want.dtype
    out = np.zeros((5, 3, 2))
    assert f(np.ones((5, 3, 4)), np.ones((4, 2)), out) is out and (out == 4).all()
    assert f(np.ones((5, 3, 4)), np.ones((4, 2)), out=out) is out


def test_U06_scalars_and_several_outputs_on_the_device(device):
    def moments(a, shift, mean, both):
        total = 0.0
        for i in range(a.shape[0]):
            total += a[i]
        mean[0] = total / a.shape[0] + shift
        both[0], both[1] = a[0], a[a.shape[0] - 1]
    f = guvectorize(["f8[:], f8, f8[:], f8[:]"], "(n),()->(),(2)", target="cuda")(moments)
    a = np.arange(12.0).reshape(3, 4)
    mean, ends = f(a, 1)
    assert mean.tolist() == [2.5, 6.5, 10.5] and ends.tolist() == [[0, 3], [4, 7], [8, 11]]
    mean, ends = f(a[0], np.array([1.0, 2.0]))
    assert mean.tolist() == [2.5, 3.5] and ends.shape == (2, 2)
    one, both = f(a[0], 1.0)
    assert one == 2.5 and both.tolist() == [0, 3]
    given = guvectorize("(n)->(n)", target="cuda")(running)
    out = np.zeros((3, 4))
    given(a, out)
    assert np.array_equal(out, np.cumsum(a, axis=1))
    with pytest.raises(TypeError, match="its outputs must be given"):
        given(a)


def test_U06_device_arrays(device):
    from quern import cuda
    f = guvectorize(["f8[:], f8[:]"], "(n)->(n)", target="cuda")(running)
    a = np.random.default_rng(2).random((7, 5))
    result = f(cuda.to_device(a))
    assert not isinstance(result, np.ndarray) and np.allclose(result.copy_to_host(), np.cumsum(a, axis=1))


def test_U06_wrong_calls_on_the_device(device):
    f = guvectorize(["f8[:, :], f8[:, :], f8[:, :]"], "(m,n),(n,p)->(m,p)", target="cuda")(product)
    for args, words in (((np.ones((2, 3)), np.ones((4, 2))), "mismatch in its core dimension 0"), ((np.ones(3), np.ones((3, 2))), "does not have enough dimensions"),
                        ((np.ones((2, 2, 3)), np.ones((3, 3, 2))), "broadcast")):
        with pytest.raises(ValueError, match=words):
            f(*args)
    with pytest.raises(ValueError, match="the output has shape"):
        f(np.ones((2, 3)), np.ones((3, 2)), np.ones((3, 3)))
    with pytest.raises(TypeError, match="no signature for"):
        f(np.ones((2, 3), complex), np.ones((3, 2)))
    with pytest.raises(TypeError, match="cannot cast the result"):
        f(np.ones((2, 3)), np.ones((3, 2)), np.ones((2, 2), int))
    with pytest.raises(TypeError, match="positional arguments"):
        f(np.ones((2, 3)))
    with pytest.raises(TypeError, match="no writable_args"):
        guvectorize(["f8[:], f8[:]"], "(n)->(n)", target="cuda", writable_args=(0,))
    with pytest.raises(TypeError, match="does not fit the layout"):
        guvectorize(["f8[:, :], f8[:]"], "(n)->(n)", target="cuda")(running)
    with pytest.raises(TypeError, match="parameters"):
        guvectorize(["(f8[:],)"], "(n)->(n)", target="cuda")(running)


# -- Python numbers in calls without declared signatures ------------------------------------------------------------

@guvectorize("(n),()->()")
def picked(pool, position, out):
    out[0] = pool[position]


@pytest.mark.parametrize("pool", [np.arange(400.0), np.arange(400, dtype=np.float32), (np.arange(400) % 256).astype(np.uint8), np.arange(400) * 1j],
                         ids=lambda a: str(a.dtype))
def test_a_Python_int_is_a_position_whatever_the_arrays_hold(pool):
    for position in (3, 300, -1, np.int8(3)):
        out = np.zeros((), pool.dtype)
        picked(pool, position, out)
        assert out[()] == pool[int(position)]


def test_a_Python_int_is_a_length():
    @guvectorize("(n),()->()")
    def first(x, count, out):
        out[0] = 0
        for i in range(count):
            out[0] += x[i]
    out = np.zeros(())
    first(np.arange(5.0), 3, out)
    assert out[()] == 3.0


@pytest.mark.parametrize("T", [np.complex64, np.complex128])
def test_a_Python_float_stays_real_beside_complex_arrays(T):
    @guvectorize("(n),()->(n)")
    def spread(x, step, out):
        for i in range(x.shape[0]):
            out[i] = x[i] * int(step * 4)
    x = np.arange(3).astype(T) * 1j
    out = np.zeros_like(x)
    spread(x, 1.5, out)
    assert out.tolist() == (x * 6).tolist()
