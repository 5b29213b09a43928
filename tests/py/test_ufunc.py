"""vectorize on the CPU: a real numpy.ufunc. NumPy's own ufuncs are the oracle."""
import pickle
import threading
import warnings

import numpy as np
import pytest

from quern import errors, float32, float64, int32, int64, njit, vectorize


@vectorize
def add(x, y):
    """The sum."""
    return x + y


@vectorize(["int64(int64, int64)", "float32(float32, float32)", "float64(float64, float64)"], identity=0)
def plus(x, y):
    return x + y


def test_U01_is_a_ufunc():
    assert isinstance(add, np.ufunc) and (add.nin, add.nout, add.nargs) == (2, 1, 3)
    assert add.__name__ == "add" and add.__doc__ == "The sum." and add.py_func(1, 2) == 3
    assert plus.types == ["ll->l", "ff->f", "dd->d"] and plus.ntypes == 3 and plus.identity == 0


@pytest.mark.parametrize("kind", "int64 float32 float64".split())
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8191, 8192, 8193])
def test_UFN_04_sizes(kind, n):
    a, b = np.arange(n).astype(kind), (3 * np.arange(n)).astype(kind)
    result = plus(a, b)
    assert result.dtype == kind and (result == np.add(a, b)).all()


def test_UFN_04_scalars_and_broadcasting():
    assert plus(1, 2) == 3 and type(plus(1.0, 2.0)) is np.float64 and type(plus(np.float32(1), np.float32(2))) is np.float32
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    assert (plus(a, b) == a + b).all() and (plus(a.T, b[:2]) == a.T + b[:2]).all()
    assert (plus(a[:, ::-1], a[::-1]) == a[:, ::-1] + a[::-1]).all()
    assert plus(np.array(2.0), 3.0) == 5.0
    with pytest.raises(ValueError, match="broadcast"):
        plus(np.zeros(3), np.zeros(4))


def test_UFN_04_buffered_inputs():
    a = np.arange(9000.0)
    assert (plus(a.astype(">f8"), a) == 2 * a).all()
    unaligned = np.zeros(8 * 9000 + 1, "u1")[1:].view("f8")
    unaligned[:] = a
    assert (plus(unaligned, a) == 2 * a).all()


def test_UFN_03_casting():
    a = np.arange(4, dtype="i1")
    assert plus(a, a).dtype == np.int64
    assert plus(a, np.float32(1)).dtype == np.float32
    assert plus(np.arange(3, dtype="i4"), np.arange(3, dtype="f4")).dtype == np.float64
    with pytest.raises(TypeError, match="no loop"):
        plus(np.zeros(2, complex), 1)
    assert plus(1.5, 2.5, dtype=np.float32).dtype == np.float32
    assert plus(a, a, signature="dd->d").dtype == np.float64
    with pytest.raises(TypeError):
        plus(a, a, out=np.zeros(4, bool))
    assert plus(a, a, out=np.zeros(4, "i2"), casting="unsafe").tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
@pytest.mark.parametrize("signature, function, words", [
    ("UniTuple(int64, 2)(int64)", lambda x: (x, x), r"returns one number, not \(int64, int64\)"),
    ("void(float64)", lambda x: None, "returns one number, not none"),
    ("float64(float64[:])", lambda x: x[0], r"takes numbers, not float64\[:\]"),
    ("float64(UniTuple(float64, 2))", lambda x: x[0], r"takes numbers, not \(float64, float64\)")])
def test_UFN_06_only_numbers_travel(target, signature, function, words):
    with pytest.raises(errors.TypingError, match="a function of vectorize\\(\\) " + words):
        vectorize([signature], target=target)(function)


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="NumPy 1 does not tell Python numbers apart")
@pytest.mark.parametrize("target", ["cpu", "parallel", "cuda"])
def test_UFN_03_python_numbers_choose_as_in_numpy(target):
    """A Python number of a higher kind than the arrays, or alone, is an int64, float64 or complex128."""
    f = vectorize(["f4(f4,f4)", "f8(f8,f8)", "c8(c8,c8)", "c16(c16,c16)"], target=target)(lambda x, y: x + y)
    i1, i2, i4, f4, b1 = (np.ones(2, d) for d in ("i1", "i2", "i4", "f4", "?"))
    for x, y, kind in ((0.1, 0.2, "f8"), (1, 2, "f8"), (True, 0.1, "f8"), (True, 1, "f8"), (i2, 0.1, "f8"),
                       (b1, 0.1, "f8"), (b1, 2, "f8"), (i1, 2, "f4"), (i4, 0.1, "f8"), (f4, 0.1, "f4"), (f4, 2, "f4"),
                       (f4, 1j, "c8"), (i2, 1j, "c16"), (1j, 2, "c16"), (np.float32(0.1), 0.2, "f4"),
                       (np.int8(1), 0.1, "f8"), (f4, np.float64(0.1), "f8")):
        result = f(x, y)
        assert result.dtype == kind, (x, y, result)
        assert np.allclose(result, np.add(x, y), rtol=1e-15 if kind in ("f8", "c16") else 1e-7), (x, y, result)
    ints = vectorize(["i4(i4,i4)", "i8(i8,i8)"], target=target)(lambda x, y: x + y)
    assert ints(1, 2).dtype == np.int64 and ints(i2, 2).dtype == np.int32
    with pytest.raises(TypeError, match="safe casts"):
        ints(1, 2.5)


def test_UFN_03_where_and_out():
    a, out = np.arange(5.0), np.full(5, -1.0)
    result = plus(a, a, out=out, where=a > 2)
    assert result is out and out.tolist() == [-1, -1, -1, 6, 8]
    plus(a[:-1], a[1:], out=a[1:])  # overlap: NumPy copies first
    assert a.tolist() == [0, 1, 3, 5, 7]


def test_U03_methods():
    a = np.arange(1.0, 7.0).reshape(2, 3)
    assert plus.reduce(a.ravel()) == 21 and (plus.reduce(a, axis=0) == a.sum(0)).all()
    assert (plus.reduce(a, axis=1, keepdims=True) == a.sum(1, keepdims=True)).all()
    assert plus.reduce(np.zeros(0)) == 0 and plus.reduce(a.ravel(), initial=100.0) == 121
    assert (plus.accumulate(a, axis=1) == np.add.accumulate(a, axis=1)).all()
    assert (plus.outer(a[0], a[1]) == np.add.outer(a[0], a[1])).all()
    assert (plus.reduceat(a.ravel(), [0, 2, 4]) == np.add.reduceat(a.ravel(), [0, 2, 4])).all()
    b = np.zeros(3)
    plus.at(b, [0, 0, 2], 1.0)
    assert b.tolist() == [2, 0, 1]


def test_U03_identity():
    assert vectorize(["f8(f8, f8)"], identity=1)(lambda x, y: x * y).reduce(np.zeros(0)) == 1
    product = vectorize(["f8(f8, f8)"])(lambda x, y: x * y)
    assert product.identity is None
    with pytest.raises(ValueError):
        product.reduce(np.zeros(0))
    ordered = vectorize(["f8(f8, f8)"], identity="reorderable")(lambda x, y: max(x, y))
    assert ordered.reduce(np.arange(12.0).reshape(3, 4), axis=(0, 1)) == 11


def test_U02_loops_are_compiled_when_needed():
    f = vectorize(lambda x: x * 2)
    assert f.ntypes == 0 and f.types == []
    a = np.arange(5)
    for k, kind in enumerate("int8 int32 float32 float64 complex64 uint16".split()):
        result = f(a.astype(kind))
        assert (result == a * 2).all()
        assert f.ntypes == k + 1
    assert f(np.arange(3, dtype="f4")).dtype == np.float32 and f.ntypes == 6
    assert "f->f" in f.types


def test_U02_results_do_not_depend_on_history():
    f, g = vectorize(lambda x, y: x + y), vectorize(lambda x, y: x + y)
    wide, narrow = np.zeros(2), np.zeros(2, "f4")
    f(wide, wide)
    assert f(narrow, narrow).dtype == g(narrow, narrow).dtype == np.float32


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="NumPy 1 does not tell Python numbers apart")
def test_weak_numbers():
    f = vectorize(lambda x, y: x * y)
    single = np.arange(3, dtype="f4")
    assert f(single, 2.0).dtype == np.float32 and f(single, 2).dtype == np.float32
    assert f(np.arange(3, dtype="i4"), 2.5).dtype == np.float64
    assert f(single, np.float64(2)).dtype == np.float64


def test_UFN_05_errors_in_loops():
    @vectorize(["int64(int64, int64)"])
    def shifted(x, y):
        return x << y

    a = np.arange(1, 10_000)
    assert (shifted(a, 3) == a << 3).all()
    b = a % 8
    b[7777] = -1
    for _ in range(3):
        with pytest.raises(ValueError, match="negative shift count"):
            shifted(a, b)
    assert shifted(7, 2) == 28

    @vectorize(["float64(float64)"])
    def positive(x):
        if x < 0:
            raise ValueError("negative", x)
        return x

    with pytest.raises(ValueError) as caught:
        positive(np.array([1.0, -2.0, -3.0]))
    assert caught.value.args == ("negative", -2.0)


def test_U09_bool_and_complex():
    logical = vectorize(["bool(bool, bool)"])(lambda a, b: a and not b)
    assert logical(np.array([True, True]), np.array([False, True])).tolist() == [True, False]
    square = vectorize(["c16(c16)"])(lambda z: z * z)
    z = np.array([1 + 2j, -3j])
    assert (square(z) == z * z).all()


def test_many_arguments():
    f = vectorize(["f8(f8, f8, f8, f8, f8)"])(lambda a, b, c, d, e: a + 2 * b + 3 * c + 4 * d + 5 * e)
    a = np.arange(4.0)
    assert (f(a, a, a, a, a) == 15 * a).all()


def test_refusals():
    with pytest.raises(errors.NumbaError):
        vectorize(["f8(f8)"])(lambda x: [x])
    with pytest.raises(TypeError, match="positional"):
        vectorize(lambda: 1)
    with pytest.raises((TypeError, errors.LoweringError)):
        vectorize(["f8(f8[:])"])(lambda x: x[0])
    with pytest.raises(ValueError, match="no target"):
        vectorize(target="tpu")
    with pytest.raises(TypeError, match="did you mean"):
        vectorize(identty=0)
    with pytest.raises(TypeError):
        add(np.array(["a"]), 1)
    with pytest.raises(TypeError, match="longdouble|long double|float128"):
        add(np.longdouble(1), np.longdouble(2))
    with pytest.raises(errors.TypingError):
        vectorize(lambda x: x & 1)(1.5)


def test_FLT_16_fastmath_option():
    assert vectorize(["f8(f8)"], fastmath=True)(lambda x: x + 1)(1.0) == 2


def test_U05_called_from_jit():
    f = njit(lambda a, b: plus(a, b) * 2)
    assert f(3, 4) == 14


@pytest.mark.parametrize("n", [3, 5000, 100_000, 1_000_003])
def test_U04_parallel(n):
    f = vectorize(["f8(f8, f8)"], target="parallel")(lambda x, y: x * y + 1)
    a, b = np.arange(n) * 0.5, np.arange(n) + 1.0
    assert (f(a, b) == a * b + 1).all()
    assert (f(a[::-1], b[:1]) == a[::-1] + 1).all()


def test_UFN_01_parallel_reductions_are_not_split():
    f = vectorize(["i8(i8, i8)"], target="parallel", identity=0)(lambda x, y: x + y)
    a = np.arange(100_000)
    assert all(f.reduce(a) == a.sum() for _ in range(5))
    assert (f.accumulate(a) == np.add.accumulate(a)).all()
    two = a.reshape(10, -1)
    assert (f.reduce(two, axis=0) == two.sum(0)).all()


def test_U04_parallel_errors():
    f = vectorize(["i8(i8, i8)"], target="parallel")(lambda x, y: x << y)
    a = np.ones(200_000, int)
    b = a.copy()
    b[150_000] = -1
    with pytest.raises(ValueError, match="negative shift count"):
        f(a, b)
    assert (f(a, a) == 2).all()


def test_UFN_07_pickling_and_threads():
    assert pickle.loads(pickle.dumps(plus)) is plus
    f = vectorize(lambda x: x + 1)
    barrier, results = threading.Barrier(6), []

    def call(kind):
        barrier.wait()
        results.append((f(np.arange(100, dtype=kind)) == np.arange(1, 101)).all())

    threads = [threading.Thread(target=call, args=(k,)) for k in ["i2", "i4", "f4", "f8", "f8", "i2"]]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 6 and f.ntypes == 4


class Recorder:
    """An array of others: NumPy hands over to it, and so do ufuncs of ours."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [x.values if isinstance(x, Recorder) else x for x in inputs]
        return Recorder(getattr(ufunc, method)(*plain, **kwargs))


def test_U07_arrays_of_others_decide():
    add = vectorize(["float64(float64, float64)"])(lambda x, y: x + y)
    r = Recorder([1.0, 2.0, 4.0])
    for got, want in ((add(r, 1), [2, 3, 5]), (add(1, r), [2, 3, 5]), (add.reduce(r), 7), (add.accumulate(r), [1, 3, 7]), (add.outer(r, r), np.add.outer(r.values, r.values)), (add.reduceat(r, [0, 1]), [1, 6])):
        assert isinstance(got, Recorder) and np.array_equal(got.values, want)


def test_U07_frames_of_pandas():
    pandas = pytest.importorskip("pandas")
    add = vectorize(["float64(float64, float64)"])(lambda x, y: x + y)
    frame, row = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}), pandas.Series([1.0, 2.0], index=["x", "y"], name="s")
    both = add(frame, 1)
    assert isinstance(both, pandas.DataFrame) and both.to_numpy().tolist() == [[2, 4], [3, 5]] and list(both) == ["a", "b"]
    total = add(row, row)
    assert isinstance(total, pandas.Series) and total.to_dict() == {"x": 2, "y": 4} and total.name == "s"


def test_U07_arrays_of_dask():
    dask = pytest.importorskip("dask.array")
    add = vectorize(["float64(float64, float64)"])(lambda x, y: x + y)
    lazy = add(dask.from_array(np.arange(6.0), chunks=2), 1)
    assert isinstance(lazy, dask.Array) and lazy.compute().tolist() == [1, 2, 3, 4, 5, 6]


def test_U07_arrays_of_xarray():
    xarray = pytest.importorskip("xarray")
    add = vectorize(["float64(float64, float64)"])(lambda x, y: x + y)
    named = add(xarray.DataArray(np.arange(3.0), dims="t"), 1)
    assert isinstance(named, xarray.DataArray) and named.dims == ("t",) and named.values.tolist() == [1, 2, 3]


def test_more_types_through_add():
    f = vectorize(lambda x: x + 1)
    f._add("float64(float64)")
    assert f.types == ["d->d"] and f(1.5) == 2.5


def test_D03_type_objects():
    f = vectorize([int64(int64), float64(float64)])(lambda x: x * x)
    assert f.types == ["l->l", "d->d"] and f(np.arange(3)).dtype == np.int64
    assert vectorize(float32(float32))(lambda x: x).types == ["f->f"]
    assert vectorize([int32(int32)])(lambda x: x).types == ["i->i"]


def test_no_spurious_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plus(np.arange(100.0), 1.0)[5] == 6


# -- more of NumPy's protocol, lazily and eagerly, in one thread and in many ---------------------------------------------

NUMPY_2 = int(np.__version__.split(".")[0]) >= 2


def make_sum(kind):
    """x + y three ways: loops declared, made when needed, and run by the thread pool."""
    if kind == "lazy":
        return vectorize(lambda x, y: x + y)
    target = "parallel" if kind == "parallel" else "cpu"
    return vectorize(["i8(i8, i8)", "f4(f4, f4)", "f8(f8, f8)"], identity=0, target=target)(lambda x, y: x + y)


KINDS = ["declared", "lazy", "parallel"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, 8191, 8192, 8193, 40_000])
def test_UFN_04_every_layout_and_size(kind, n):
    f = make_sum(kind)
    base = np.arange(2.0 * n + 2)
    unaligned = np.zeros(8 * n + 1, "u1")[1:].view("f8")
    unaligned[:] = base[:n]
    for a in (base[:n], base[: 2 * n: 2], base[n - 1:: -1] if n else base[:0], base[:n].astype(">f8"), unaligned,
              np.broadcast_to(base[1], n)):
        for b in (base[1: n + 1], base[: 2 * n: 2]):
            result = f(a, b)
            assert result.shape == (n,) and result.dtype == np.float64 and (result == np.add(a, b)).all()
    out = np.full(2 * n, -1.0)
    f(base[:n], base[:n], out=out[::2])
    assert (out[::2] == 2 * base[:n]).all() and (out[1::2] == -1).all()
    big = np.zeros(n, ">f8")
    assert f(base[:n], 1.0, out=big) is big and (big == base[:n] + 1).all()


@pytest.mark.parametrize("kind", "i1 u2 i4 i8 f4 f8 c8 c16".split())
def test_UFN_04_numbers_beside_arrays(kind):
    """They are repeated in memory, for pieces of the arrays; where the result may be one of them, they are not."""
    f = vectorize(lambda x, y, z: x * y + z)
    for n in (1, 31, 32, 33, 511, 512, 513, 1024, 1025, 8192, 8193, 70_000):
        a, one, other = (np.arange(n) % 5 + 1).astype(kind), np.array(3, kind), np.array(2, kind)
        b = a[::-1].copy()
        for x, y, z in ((a, one, b), (one, a, b), (a, b, one), (a, one, other), (one, a, other), (one, other, a),
                        (np.broadcast_to(one, n), np.broadcast_to(one, n), np.broadcast_to(other, n)),
                        (a[::-1], one, b), (a, a[:1], b), (a, np.broadcast_to(a[-1], n), b)):
            result = f(x, y, z)
            wide = result.dtype
            expected = np.asarray(x, wide) * np.asarray(y, wide) + np.asarray(z, wide)
            assert result.shape == (n,) and (result == expected).all(), (kind, n)
    two = np.arange(120.0).reshape(3, 40)
    column = np.array([[1.0], [2.0], [3.0]])
    assert (f(two, column, 1.5) == two * column + 1.5).all()


@pytest.mark.parametrize("kind", KINDS)
def test_UFN_04_results_over_the_number(kind):
    f = make_sum(kind)
    for n in (40, 1000, 20_000):
        for at in (0, n // 2, n - 1):
            a, b = np.arange(1.0, n + 1), np.arange(1.0, n + 1)
            assert (f(a, a[at], out=a) == b + b[at]).all()
            a = b.copy()
            assert (f(a[at:at + 1], a, out=a) == b + b[at]).all()
            a = b.copy()
            assert (f(np.broadcast_to(a[at:at + 1], n), a, out=a) == b + b[at]).all()
        ones = np.broadcast_to(np.float64(1), n)
        assert f.reduce(ones) == n and (f.accumulate(ones) == np.arange(1.0, n + 1)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_UFN_04_results_over_operands(kind):
    """The vector loop is for operands that are the result or lie apart from it; others, of which NumPy makes copies, and the element
    before, which accumulations read, go in order."""
    f = make_sum(kind)
    for n in (1, 7, 40, 1000, 70_000):
        for shift in (0, 1, 3, 8, 33):
            room, other = np.arange(1.0, 2 * n + shift + 1), np.arange(n) % 7.0
            for at in (slice(shift, n + shift), slice(n, 2 * n)):
                for x, y in ((room[:n], other), (other, room[:n]), (room[:n], room[at]), (room[:n], 2.5)):
                    want = x + y
                    memory = room.copy()
                    assert (f(x, y, out=room[at]) == want).all()
                    room[:] = memory
        narrow = np.arange(2 * n).astype("f4")  # elements of other sizes in the same memory
        want = narrow[:n] + 1.0
        assert (f(narrow[:n], 1.0, out=narrow.view("f8")) == want).all()
        one = np.ones(n)
        f.accumulate(one, out=one)
        assert (one == np.arange(1, n + 1)).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", "i8 f4 f8".split())
@pytest.mark.parametrize("n", [1, 5, 8193, 100_000])
def test_UFN_01_reductions_agree_with_numpy(kind, dtype, n):
    f = make_sum(kind)
    a = (np.arange(n) % 17).astype(dtype)
    assert f.reduce(a) == a.sum(dtype=dtype) and f.reduce(a).dtype == dtype
    assert f.reduce(a[::-1]) == f.reduce(a) and f.reduce(a, initial=5) == a.sum() + 5
    assert (f.accumulate(a) == np.add.accumulate(a, dtype=dtype)).all()
    assert f.accumulate(a[::-2]).tolist() == np.add.accumulate(a[::-2], dtype=dtype).tolist()
    at = np.unique(np.array([0, n // 3, n // 2]))
    assert (f.reduceat(a, at) == np.add.reduceat(a, at, dtype=dtype)).all()
    two = np.stack([a, 2 * a])
    for axis in (0, 1, -1):
        assert (f.reduce(two, axis=axis) == two.sum(axis=axis, dtype=dtype)).all()
        assert (f.accumulate(two, axis=axis) == np.add.accumulate(two, axis=axis, dtype=dtype)).all()
    out = np.zeros((), dtype)
    assert f.reduce(a, out=out) is out and out == a.sum()
    assert f.reduce(a, where=a > 3, initial=0) == a[a > 3].sum()


@pytest.mark.parametrize("kind", ["declared", "lazy"])
@pytest.mark.parametrize("dtype", "i1 u1 i2 i4".split())
def test_UFN_01_reductions_of_narrow_integers(kind, dtype):
    """Arithmetic widens, so every step but the first has a wide operand."""
    f = make_sum(kind)
    a = np.full(100, 100, dtype)
    wide = np.int64
    assert f.reduce(a) == 10_000 and f.reduce(a).dtype == wide
    assert f.accumulate(a).dtype == wide and f.accumulate(a)[-1] == 10_000
    assert f.reduceat(a, [0, 50]).tolist() == [5000, 5000]
    assert f.outer(a[:2], a[:3]).tolist() == [[200] * 3] * 2
    assert f.reduce(a, dtype="f8") == 10_000 and f.reduce(a, dtype="f8").dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
def test_UFN_03_at(kind):
    f = make_sum(kind)
    a = np.zeros(10)
    f.at(a, [1, 1, 1, -1], 2.0)
    assert a.tolist() == [0, 6, 0, 0, 0, 0, 0, 0, 0, 2]
    f.at(a, slice(2, 4), [5.0, 6.0])
    assert a[2:4].tolist() == [5, 6]
    with pytest.raises(IndexError):
        f.at(a, [10], 1.0)
    negate = vectorize(["f8(f8)"])(lambda x: -x)
    negate.at(a, [9])
    assert a[9] == -2


@pytest.mark.parametrize("kind", ["declared", "lazy"])
def test_UFN_03_dtype_signature_casting(kind):
    f = make_sum(kind)
    a = np.arange(3.0)
    assert f(a, a, dtype="f4").dtype == np.float32 and f(a, a, signature="ff->f").dtype == np.float32
    assert f(a.astype("i4"), 1, dtype="f8").dtype == np.float64
    for wrong in (dict(dtype="i8"), dict(dtype="f4", casting="safe"), dict(signature="ll->l"),
                  dict(signature="ff->f", casting="safe"), dict(out=np.zeros(3, "i8"))):
        with pytest.raises(TypeError, match="[Cc]annot cast|no loop"):
            f(a, a, **wrong)
        assert (f(a, a) == 2 * a).all()
    assert f(a, a, out=np.zeros(3, "i8"), casting="unsafe").tolist() == [0, 2, 4]
    with pytest.raises(TypeError):
        f(a, a, dtype="U3")
    with pytest.raises(ValueError):
        f(a, a, casting="sometimes")


def test_UFN_03_a_result_type_that_cannot_be_had():
    f = vectorize(lambda x, y: x + y)
    a = np.arange(3, dtype="i2")
    with pytest.raises(TypeError, match="returns no int16"):
        f(a, a, dtype="i2")
    above = vectorize(lambda x, y: x > y)
    assert above(a, a, dtype=bool).dtype == bool
    with pytest.raises(TypeError, match="returns no float64"):
        above(a, a, dtype="f8")


def test_UFN_03_where_out_order_subok():
    f = make_sum("lazy")
    a = np.arange(6.0).reshape(2, 3)
    out = np.full((2, 3), -1.0)
    assert f(a, a, where=[True, False, True], out=out) is out and (out[:, 1] == -1).all() and (out[:, 2] == 2 * a[:, 2]).all()
    assert f(a, a, out=(out,)) is out and f(a, a, out) is out
    assert f(a, a, order="F").flags.f_contiguous
    for wrong, part in ((np.zeros(3), "broadcast"), (np.frombuffer(b"0" * 48).reshape(2, 3), "read-only")):
        with pytest.raises(ValueError, match=part):
            f(a, a, out=wrong)
    with pytest.raises(TypeError):
        f(a, a, out=[1, 2])

    class Sub(np.ndarray):
        pass

    assert type(f(a.view(Sub), 1)) is Sub and type(f(a.view(Sub), 1, subok=False)) is np.ndarray
    masked = f(np.ma.masked_array([1.0, 2.0], [0, 1]), 1)
    assert masked.mask.tolist() == [False, True] and masked[0] == 2

    class Override:
        def __array_ufunc__(self, ufunc, method, *args, **kwargs):
            return ufunc is f, method

    assert f(Override(), 1) == (True, "__call__") and f.reduce(Override()) == (True, "reduce")


def test_UFN_04_scalars_in_scalar_out():
    f = make_sum("lazy")
    for x, y, kind in ((1, 2, np.int64), (1.5, 2, np.float64), (1j, 2, np.complex128), (np.float32(1), np.float32(2), np.float32),
                       (np.array(1.0), np.array(2.0), np.float64), (np.int8(1), np.int8(2), np.int64),
                       (np.uint8(1), np.uint8(2), np.int64), (np.complex64(1), np.float32(2), np.complex64)):
        assert type(f(x, y)) is kind and f(x, y) == x + y
    compare = vectorize(lambda x, y: x < y)
    assert type(compare(1, 2)) is np.bool_ and compare(np.arange(3), 1).dtype == bool
    assert f(np.array([5]), 1).shape == (1,) and f([1, 2], [3.5, 4]).tolist() == [4.5, 6]


@pytest.mark.parametrize("value", [2, 2.5, 1j], ids=str)
@pytest.mark.parametrize("dtype", "i4 i8 u8 f4 f8 c8 c16".split())
def test_weak_numbers_follow_numpy(dtype, value):
    """Beside an array, on NumPy 1 (by value) and on NumPy 2 (by type); narrow integers widen."""
    f = vectorize(lambda x, y: x + y)
    a = np.arange(3).astype(dtype)
    for result, expected in ((f(a, value), np.add(a, value)), (f(value, a), np.add(value, a))):
        if dtype == "i4" and type(value) is int:
            assert result.dtype == np.int64
        elif not NUMPY_2 and type(value) is complex:
            assert result.dtype in (np.complex64, np.complex128)
        else:
            assert result.dtype == expected.dtype
        assert (result == expected).all()


def test_values_that_do_not_fit_are_not_bent():
    f = make_sum("lazy")
    try:
        assert f(np.ones(2, "i1"), 300).tolist() == [301, 301]
    except OverflowError as error:  # NumPy 2 says no, as it does for np.add
        assert NUMPY_2 and "300" in str(error)
    with np.errstate(over="ignore"):
        assert f(np.ones(2, "f4"), 1e300)[0] == (np.inf if NUMPY_2 else 1e300)
    for huge in (2**70, -(2**70)):
        with pytest.raises((OverflowError, TypeError)):
            f(huge, 1)
    assert f(1, 2) == 3


def test_UFN_05_errors_from_every_way_to_call():
    class Wrong(Exception):
        pass

    def check(x, y):
        if x > 1e6:
            raise Wrong("too large", x)
        return x + y

    a = np.arange(20_000.0)
    bad = a.copy()
    bad[15_000] = 1e7
    for options in (dict(), dict(target="parallel")):
        f = vectorize(["f8(f8, f8)"], **options)(check)
        for call in (lambda: f(bad, 1.0), lambda: f.accumulate(bad), lambda: f.reduce(bad), lambda: f.outer(bad, [1.0]),
                     lambda: f.at(bad, [15_000], 1.0), lambda: f(1e7, 1), lambda: f(bad[::-1].astype(">f8"), 1.0),
                     lambda: f.reduceat(bad, [0, 14_000])):
            with pytest.raises(Wrong, match="too large") as caught:
                call()
            assert caught.value.args[1] >= 1e6
            assert (f(a, a) == 2 * a).all()


def test_UFN_05_errstate():
    f = vectorize(["f8(f8, f8)"])(lambda x, y: x * y)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        f(np.array([1e300]), 1e300)
    with np.errstate(over="ignore"):
        assert f(1e300, 1e300) == np.inf


def told(f, *args):
    """The result, and which floating-point errors NumPy warned of."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
        warnings.simplefilter("always")
        result = np.asarray(f(*args))
    return result.dtype, repr(result.tolist()), sorted(str(w.message).split(" encountered")[0] for w in caught)


DIVISIONS = {"/": (lambda x, y: x / y, np.true_divide), "//": (lambda x, y: x // y, np.floor_divide),
             "%": (lambda x, y: x % y, np.remainder)}


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("op", DIVISIONS)
@pytest.mark.parametrize("target", ["cpu", "parallel"])
def test_N06_zero_divisors_are_numpys(op, dtype, target):
    code, text = np.dtype(dtype).char, DIVISIONS[op][0]
    result = "d" if op == "/" and code not in "fd" else code
    types = {"i": "i4", "l": "i8", "L": "u8", "f": "f4", "d": "f8"}
    f = vectorize([f"{types[result]}({types[code]}, {types[code]})"], target=target)(text)
    a, b = np.array([1, 0, 5, 7], dtype), np.array([0, 0, 0, 2], dtype)
    for n in (1, 2000):  # also long enough for the threads
        for x, y in ((a, b), (a[:1], b[:1]), (a[1:2], b[1:2]), (a[3:], b[3:])):
            x, y = np.repeat(x, n), np.repeat(y, n)
            assert told(f, x, y) == told(DIVISIONS[op][1], x, y)


def test_N06_errstate_decides():
    f = vectorize(lambda x, y: x // y)
    g = vectorize(["f8(f8, f8)"], target="parallel")(lambda x, y: x / y)
    a, b = np.ones(100_000, int), np.arange(100_000) % 50_000
    for u in (f, g):
        with np.errstate(divide="ignore"):
            assert told(lambda: None)[2] == [] and u(a, b).shape == a.shape
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
            u(a, b)
        assert told(u, a[1:50_000], b[1:50_000])[2] == []


def test_N06_domain_errors():
    import math
    x = np.array([0.0, -1.0, 2.0, 1e4])
    for f, g in ((math.log, np.log), (math.sqrt, np.sqrt), (math.acos, np.arccos), (math.exp, np.exp)):
        assert told(vectorize(lambda v: f(v)), x)[1:] == told(g, x)[1:]
    assert told(vectorize(lambda v, w: v ** w), np.array([0.0, 2.0]), np.array([-1.0, 3.0]))[1:] == \
        ("[inf, 8.0]", ["divide by zero"])


def test_N06_callees_and_exceptions_of_the_user():
    @njit
    def ratio(x, y):
        return x / y

    @vectorize(["f8(f8, f8)"])
    def f(x, y):
        if x < 0:
            raise ValueError("negative")
        return ratio(x, y) + 1

    assert told(f, np.array([1.0, 2.0]), np.array([0.0, 2.0]))[1:] == ("[inf, 2.0]", ["divide by zero"])
    with pytest.raises(ValueError, match="negative"):
        f(np.array([-1.0]), 0.0)
    with pytest.raises(ZeroDivisionError):
        ratio(1.0, 0.0)


@pytest.mark.parametrize("debug", [False, True])
def test_N06_on_the_device(device, debug):
    options = dict(debug=True, opt=False) if debug else {}
    f = vectorize(["i8(i8, i8)"], target="cuda", **options)(lambda x, y: x // y)
    g = vectorize(["f8(f8, f8)"], target="cuda", **options)(lambda x, y: x / y)
    assert f(np.array([5, 7]), np.array([0, 2])).tolist() == [0, 3]
    assert repr(g(np.array([5.0, 0, 7]), np.array([0.0, 0, 2])).tolist()) == "[inf, nan, 3.5]"


def test_UFN_06_what_cannot_be_a_ufunc():
    for two in (lambda: vectorize(lambda x: (x, x + 1))(1.0), lambda: vectorize(["f8(f8)"])(lambda x: (x, x + 1)),
                lambda: vectorize(lambda x: None)(1.0)):
        with pytest.raises((errors.TypingError, errors.LoweringError), match="one number|cannot convert"):
            two()
    for function in (lambda *a: 1, lambda x, *, y: 1):
        with pytest.raises(TypeError, match="positional arguments"):
            vectorize(function)
    with pytest.raises(TypeError):
        vectorize(["f8(f8, f8)"])(lambda x: x)
    with pytest.raises(ValueError, match="identity"):
        vectorize(["f8(f8, f8)"], identity="zero")(lambda x, y: x)
    one, three = vectorize(["f8(f8)"])(lambda x: x), vectorize(["f8(f8, f8, f8)"])(lambda x, y, z: x)
    for f in (one, three):
        with pytest.raises(ValueError, match="binary"):
            f.reduce(np.zeros(3))


@pytest.mark.parametrize("bad", [np.array(["a", "b"]), np.array([1, None]), np.array(["2020"], "M8[Y]"),
                                 np.zeros(2, [("a", "i4")]), "text", None, object(), np.longdouble(1), {}],
                         ids=lambda bad: "object" if type(bad) is object else repr(bad))
def test_refused_dtypes(bad):
    f = make_sum("lazy")
    with pytest.raises(TypeError, match="cannot be compiled|loop"):
        f(bad, 1)
    with pytest.raises(TypeError, match="no loop|not contain a loop|longdouble|cannot be compiled|Cannot cast"):
        plus(np.array(["a"]) if isinstance(bad, np.longdouble) else bad, 1)
    assert f(1, 2) == 3


def test_UFN_07_pickle_across_processes(tmp_path):
    import subprocess
    import sys
    (tmp_path / "my_ufuncs.py").write_text("from quern import vectorize\n@vectorize\ndef twice(x):\n    return 2 * x\n")
    program = "import pickle, sys, my_ufuncs\nf = pickle.loads(pickle.dumps(my_ufuncs.twice))\n" \
              "assert f is my_ufuncs.twice and f(4) == 8\nimport copy\nassert copy.deepcopy(f) is f\n"
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and result.stderr == "", result.stderr


def test_UFN_07_threads_add_loops_while_others_run():
    kinds = "i1 u1 i2 u2 i4 u4 i8 u8 f4 f8 c8 c16".split()
    f = vectorize(lambda x: x * 3)
    barrier, failures = threading.Barrier(8), []

    def work(k):
        try:
            barrier.wait()
            for kind in kinds[k:] + kinds[:k]:
                a = (np.arange(9000) % 40).astype(kind)
                assert (f(a) == a.astype(complex) * 3).all(), kind
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures
    assert f.ntypes == len(kinds) == len(set(f.types))


def test_U04_parallel_agrees_with_cpu():
    for body in (lambda x, y: x * y + 1, lambda x, y: x if x > y else y):
        for dtype in ("i4", "f4", "f8"):
            cpu, parallel = vectorize(body), vectorize(target="parallel")(body)
            a = (np.arange(50_001) % 1013).astype(dtype)
            b = a[::-1]
            assert (cpu(a, b) == parallel(a, b)).all() and cpu(a, b).dtype == parallel(a, b).dtype
            two = a[:50_000].reshape(500, 100)
            assert (cpu(two, two[0]) == parallel(two, two[0])).all() and (cpu(two.T, 2) == parallel(two.T, 2)).all()
    largest = vectorize(["f8(f8, f8)"], target="parallel", identity="reorderable")(body)
    a = np.random.default_rng(0).random((300, 400))
    assert largest.reduce(a, axis=None) == a.max() and (largest.accumulate(a) == np.maximum.accumulate(a)).all()
    c = a.copy()
    largest(c, a[::-1], out=c)
    assert (c == np.maximum(a, a[::-1])).all()
    assert (largest(c[1:], c[:-1], out=c[1:]) == np.maximum(np.maximum(a, a[::-1])[1:], np.maximum(a, a[::-1])[:-1])).all()


# -- declared loops in compiled code ------------------------------------------------------------------------------------


@vectorize(["float32(float32)", "float64(float64)", "complex128(complex128)"])
def inverse(x):
    return 1 / x


@njit
def inverse_of(x):
    return inverse(x)


@pytest.mark.parametrize("kind", "? i1 i2 i4 i8 u1 u4 u8 f4 f8 c8 c16".split())
def test_UFN_03_declared_loops_are_chosen_in_compiled_code_as_by_numpy(kind):
    a = np.ones(3, kind)
    assert inverse_of(a).dtype == inverse(a).dtype, kind
    assert inverse_of(np.ones((2, 3), kind)[:, ::2]).tolist() == [[1, 1], [1, 1]] and inverse_of(a[0]) == 1
    assert inverse_of(2) == 0.5 and inverse_of(2.0) == 0.5


def test_UFN_05_zero_divisors_in_compiled_code_are_numpys():
    assert inverse_of(np.zeros(2)).tolist() == [np.inf, np.inf] and inverse_of(np.float32(0)) == np.inf
    lazy = vectorize(lambda x: 1 // x)
    assert njit(lambda x: lazy(x))(np.zeros(2, int)).tolist() == [0, 0]
    with pytest.raises(ZeroDivisionError):
        njit(lambda x: 1 // x[0])(np.zeros(2, int))


def test_UFN_03_no_declared_loop_fits_in_compiled_code():
    ints = vectorize(["int32(int32)"])(lambda x: x + 1)
    assert njit(lambda x: ints(x))(np.ones(2, "i2")).dtype == np.int32
    for wrong in (np.ones(2, "i8"), np.ones(2), np.ones(2, complex)):
        with pytest.raises(errors.TypingError, match="declared: \\(int32\\)"):
            njit(lambda x: ints(x))(wrong)


def test_loops_by_the_names_that_numba_has_for_them():
    from quern import types

    f = vectorize(lambda a, b: a + b)
    f._compile_for_argtys((types.uint32, types.uint32))
    assert len(f.types) == 1 and f.types[0].startswith("II->") and not f._frozen
    f._frozen = True
    assert f._frozen and f(np.uint32(2), np.uint32(3)) == 5
    with pytest.raises(TypeError):
        f(1.5, 2.5)
