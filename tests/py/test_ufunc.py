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
    def quotient(x, y):
        return x // y

    a = np.arange(1, 10_000)
    assert (quotient(a, 3) == a // 3).all()
    b = a.copy()
    b[7777] = 0
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            quotient(a, b)
    assert quotient(7, 2) == 3

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
    f = vectorize(["i8(i8, i8)"], target="parallel")(lambda x, y: x // y)
    a = np.ones(200_000, int)
    b = a.copy()
    b[150_000] = 0
    with pytest.raises(ZeroDivisionError):
        f(a, b)
    assert (f(a, a) == 1).all()


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
