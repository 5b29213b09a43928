"""Sorting, searching and sets beside NumPy."""
import numpy as np
import pytest
from beside import DTYPES, arrays, check, compiled, laid_out, values

from quern import njit
from quern.library import sorting

SHAPES = [(5,), (3, 4), (2, 3, 2), (0,), (1, 50)]


@pytest.mark.parametrize("source", ["np.sort(a)", "np.sort(a, axis=0)", "np.sort(a, axis=None)", "np.sort(a, -1, 'stable')", "np.argsort(a, kind='stable')",
                                    "a.argsort(axis=0, kind='stable')", "np.argsort(a, axis=None, kind='stable')", "a.sort()", "a.sort(axis=0)", "a.sort(kind='heapsort')"])
def test_sort_and_argsort(source):
    check(source, [c for c in arrays(sum(source.encode()), SHAPES, n=5) if c[0].flags.writeable or "a.sort" not in source])


def test_sort_of_an_array_without_axes():
    a = np.array(3.0)
    assert njit(lambda a: np.argsort(a))(a).tolist() == [0] and njit(lambda a: np.sort(a, axis=None))(a).tolist() == [3]
    with pytest.raises(np.exceptions.AxisError):
        njit(lambda a: np.sort(a))(a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_lines(dtype):
    rng = np.random.default_rng(7)
    info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
    for n in (31, 33, 1000):
        a = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True) if info else values(rng, dtype, n)
        if a.dtype.kind == "f":
            a = (rng.standard_normal(n) * 10.0 ** rng.integers(-30, 30, n)).astype(dtype)
        check("np.sort(a), np.argsort(a, kind='stable')", [(a,), (np.sort(a),), (np.repeat(a[:3], 40),)])


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64"])
def test_lines_of_some_elements(dtype):
    """Where vector instructions sort in registers."""
    f, rng = njit(lambda a: np.sort(a)), np.random.default_rng(3)
    for n in (32, 33, 64, 100, 127, 128, 129):
        for most in (1, 3, 1000):
            a = rng.integers(0, most, n).astype(dtype)
            if dtype.startswith("float"):
                a[rng.integers(0, n, 5)] = [np.nan, -np.inf, np.inf, -0.0, 0.0]
                a -= rng.integers(0, 2, n).astype(dtype) * 7
            assert np.array_equal(f(a), np.sort(a), equal_nan=dtype.startswith("float"))
    a = np.array([0.0, -0.0] * 30)
    assert np.signbit(f(a)).sum() == 30


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_digits_sort_what_vector_instructions_refuse(dtype):
    """Processors without AVX2, and orders for which pivots are bad, take the way of numbers of 8 and 16 bits."""
    rng = np.random.default_rng(11)
    sort, argsort = njit(lambda a: sorting.sort_by_digits(a)), njit(lambda a, places: sorting.argsort_by_digits(a, places))
    for n in (33, 700):
        a = (rng.standard_normal(n) * 1e6).astype(dtype) if dtype.startswith("float") else rng.integers(0, 1 << 31, n).astype(dtype)
        a[5:30] = a[3]
        ours, places = a.copy(), np.empty(n, np.int64)
        sort(ours), argsort(a, places)
        assert ours.tolist() == np.sort(a).tolist() and places.tolist() == np.argsort(a, kind="stable").tolist()


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64", "datetime64[s]", "timedelta64[ns]"])
@pytest.mark.parametrize("kind", ["any", "few", "up", "down", "pipe", "equal"])
def test_many_elements_in_orders_that_are_hard(dtype, kind):
    rng, n = np.random.default_rng(5), 5003
    any_ints = rng.integers(-(1 << 31), 1 << 31, n)
    ints = dict(any=any_ints, few=any_ints % 3, up=np.arange(n), down=-np.arange(n), pipe=abs(np.arange(n) - n // 2), equal=any_ints * 0)[kind]
    a = ints.astype("int64").view(dtype) if dtype[0] in "dt" else ints.astype(dtype)
    if dtype[0] == "f":
        a[::100] = np.nan
    if dtype[0] in "dt":
        a[::100] = "NaT"
    ours, places = njit(lambda a: (np.sort(a), np.argsort(a, kind='stable')))(a)
    assert np.array_equal(ours.view("u1"), np.sort(a).view("u1")) and np.array_equal(places, np.argsort(a, kind="stable"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_nan_is_last(dtype):
    special = np.array([1, np.nan, -np.inf, np.inf, -0.0, 0.0, -1, np.nan, 3e-45, -3e-45], dtype)
    special[7] = -special[7]
    if special.dtype.kind == "c":
        special[2:5] = [complex(np.nan, 1), complex(1, np.nan), complex(np.nan, -1)]
    for repeat in (1, 10):
        a = np.tile(special, repeat)
        check("np.sort(a), np.argsort(a, kind='stable')", [(a,), (a[::-1],)])
        if a.dtype.kind == "f":
            check("np.searchsorted(np.sort(a), a)", [(a,)])


def test_zeros_keep_their_signs():
    a = np.tile([0.0, -0.0, 1.0], 20)
    assert np.signbit(compiled("np.sort(a)")[1](a)).sum() == 20


def test_what_is_wrong():
    check("np.sort(a, axis=2)", [(np.ones((2, 3)),)])
    check("np.argsort(a, axis=-3)", [(np.ones((2, 3)),)])
    check("np.sort(a, kind='bubble')", [(np.ones(3),)])
    check("np.partition(a, 5)", [(np.ones(3),)])
    a = np.ones(3)
    a.flags.writeable = False
    with pytest.raises((TypeError, ValueError)):
        compiled("a.sort()")[1](a)


def test_lexsort():
    rng = np.random.default_rng(3)
    keys = rng.integers(0, 3, (3, 60))
    check("np.lexsort((a, b))", [(keys[0], keys[1]), (keys[0].astype(float), keys[1, ::-1])], arguments="a, b")
    check("np.lexsort(a)", [(keys,), (keys[:1],)])
    check("np.lexsort((a, b, c))", [(keys[0], keys[1].astype(np.int8), keys[2] * 0.5)], arguments="a, b, c")


def test_partition():
    rng = np.random.default_rng(3)
    a = rng.permutation(60).reshape(3, 20).astype(float)
    jitted = compiled("np.partition(a, k), np.argpartition(a, k)", "a, k")[1]
    for k in (0, 7, -1):
        parts, places = jitted(a, k)
        for got in (parts, np.take_along_axis(a, places, -1)):
            assert np.array_equal(got[:, k], np.sort(a)[:, k])
            assert np.array_equal(np.sort(got), np.sort(a))
    b = a[0].copy()
    compiled("a.partition((3, 4))")[1](b)
    assert b[3] == np.sort(a[0])[3] and b[4] == np.sort(a[0])[4]


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float64", "float32"])
def test_searchsorted(dtype):
    rng = np.random.default_rng(5)
    a = np.sort(values(rng, dtype, 30))
    v = values(rng, dtype, (3, 4))
    check("np.searchsorted(a, v)", [(a, v), (a, v.T), (a[::2], v[0]), (a[:0], v), (a, v.astype(np.float64)), (a, v.astype(np.int64))], arguments="a, v")
    check("a.searchsorted(v, side='right')", [(a, v), (a, v[0, 0])], arguments="a, v")
    check("np.searchsorted(a, v, 'right')", [(a, 3), (a, 2.5)], arguments="a, v")
    check("np.searchsorted(a, v, sorter=s)", [(a[::-1], v, np.arange(30)[::-1].copy())], arguments="a, v, s")
    check("np.searchsorted(a, 1, side='middle')", [(a,)])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float64", "float32", "complex128"])
def test_unique(dtype):
    rng = np.random.default_rng(6)
    data = [values(rng, dtype, s) for s in [(7,), (60,), (3, 4), (0,)]]
    data.append(laid_out(data[2], "F"))
    if np.dtype(dtype).kind == "f":
        data.append(np.array([np.nan, 1, np.nan, 0], dtype))
    check("np.unique(a)", [(a,) for a in data])
    check("np.unique(a, return_index=True, return_inverse=True, return_counts=True)", [(a,) for a in data])
    check("np.unique(a, return_counts=True)", [(a,) for a in data[:2]])
    check("np.unique(a, False, True)", [(a,) for a in data[:3]])


@pytest.mark.parametrize("dtype", ["?", "i8", "f4"])
def test_unique_along_an_axis(dtype):
    rng = np.random.default_rng(7)
    planes = [rng.integers(0, 2, shape).astype(dtype) for shape in ((9, 3), (40, 2), (1, 4), (7, 1), (0, 3), (5, 0))]
    every = "return_index=True, return_inverse=True, return_counts=True"
    check(f"np.unique(a, axis=0, {every})", [(a,) for a in planes + [planes[0][::-2]] if len(a)])
    check("np.unique(a, axis=0)", [(a,) for a in planes[4:]])
    check("np.unique(a, axis=-1)", [(a,) for a in planes if a.shape[1]])
    check("np.unique(a, axis=1, return_counts=True)", [(rng.integers(0, 2, (2, 12, 2)).astype(dtype),)])


def test_unique_along_an_axis_with_nan_and_without_that_axis():
    a = np.array([[1, np.nan], [0.0, 2], [1, np.nan], [-0.0, 2]])
    check("np.unique(a, axis=0, return_inverse=True)", [(a,)])
    with pytest.raises(np.exceptions.AxisError):
        njit(lambda a: np.unique(a, axis=2))(a)



def test_sets():
    rng = np.random.default_rng(8)
    pairs = [(values(rng, x, s), values(rng, y, t)) for x, y, s, t in [("int64", "int64", (9,), (5,)), ("int32", "float64", (3, 4), (40,)), ("uint8", "int16", (4,), (0,)),
                                                                       ("float32", "float32", (50,), (3,)), ("bool", "bool", (3,), (1,))]]
    pairs.append((np.array([np.nan, 1.0, 2]), np.array([np.nan, 2.0])))
    for source in ("np.isin(a, b)", "np.isin(a, b, invert=True)", "np.intersect1d(a, b)", "np.union1d(a, b)", "np.setdiff1d(a, b)", "np.setxor1d(a, b)"):
        check(source, pairs, arguments="a, b")
    jitted = compiled("np.isin(x, b)", "x, b")[1]
    assert jitted(2, np.arange(3)) and not jitted(5, np.arange(3))  # an array without axes in NumPy
    check("np.intersect1d(a, b, assume_unique=True)", [(np.array([3, 1, 2]), np.array([2, 3, 5]))], arguments="a, b")
