"""Reductions beside NumPy: dtypes, layouts, axes, keywords, nan, what is empty."""
import numpy as np
import pytest
from beside import DTYPES, arrays, check, compiled, laid_out, same, values

from quern import njit

REAL = [d for d in DTYPES if not d.startswith("complex")]
SHAPES = [(5,), (3, 4), (2, 3, 2), (1, 4)]
MEANS = ("mean", "std", "var")


def kinds(name):
    return REAL if name in ("min", "max", "amin", "amax", "argmin", "argmax", "ptp", "nanmin", "nanmax", "nanargmin", "nanargmax") else DTYPES


FUNCTIONS = ["sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "argmin", "argmax", "ptp", "count_nonzero", "nansum", "nanprod", "nanmin", "nanmax", "nanmean",
             "nanstd", "nanvar", "nanargmin", "nanargmax"]
METHODS = ["sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "argmin", "argmax"]


def cases(name, n=6, shapes=SHAPES):
    # NumPy has no difference of bools
    dtypes = [d for d in kinds(name) if not (d == "bool" and name in ("ptp", "std", "var", "nanstd", "nanvar"))]
    return arrays(sum(name.encode()), shapes, dtypes, n=n)


def is_exact(name):
    return not any(m in name for m in MEANS) and name not in ("sum", "prod", "nansum", "nanprod")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_all_elements_and_along_axes(name):
    exact = is_exact(name)
    check(f"np.{name}(a)", cases(name, 4), exact)
    check(f"np.{name}(a, axis=0)", cases(name, 3), exact)
    check(f"np.{name}(a, -1)", cases(name, 2), exact)
    check(f"np.{name}(a, axis=-1, keepdims=True)", cases(name, 2), exact)
    check(f"np.{name}(a, axis=None, keepdims=True)", cases(name, 1), exact)


@pytest.mark.parametrize("name", [f for f in FUNCTIONS if "arg" not in f])
def test_tuples_of_axes(name):
    check(f"np.{name}(a, axis=(0, -1))", cases(name, 2, [(3, 4), (2, 3, 2)]), is_exact(name))
    check(f"np.{name}(a, (2, 0), keepdims=True)", cases(name, 1, [(2, 3, 2)]), is_exact(name))
    check(f"np.{name}(a, axis=())", cases(name, 1, [(2, 3)]), is_exact(name))


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    exact = is_exact(name)
    check(f"a.{name}()", cases(name, 2), exact)
    check(f"a.{name}(0)", cases(name, 2), exact)
    check(f"a.{name}(axis=-1, keepdims=True)", cases(name, 1), exact)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_without_axes_and_empty(name):
    exact = is_exact(name)
    check(f"np.{name}(a)", [(np.array(2.5),), (np.zeros(0),), (np.zeros((0, 3)),)], exact)
    check(f"np.{name}(a, axis=0)", [(np.zeros((0, 3)),), (np.zeros((3, 0)),), (np.zeros((0, 3), np.int32),)], exact)
    check(f"np.{name}(a, axis=1)", [(np.zeros((0, 3)),), (np.zeros((2, 0)),)], exact)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_axes_that_are_not_there(name):
    check(f"np.{name}(a, axis=2)", [(np.ones((2, 3)),)])
    check(f"np.{name}(a, axis=-3)", [(np.ones((2, 3)),)])
    if "arg" not in name:
        check(f"np.{name}(a, axis=(0, 0))", [(np.ones((2, 3)),)])


def test_places_of_complex_numbers():
    """By real parts, then by imaginary parts; the first nan before all."""
    rng = np.random.default_rng(4)
    a = rng.integers(0, 3, (4, 5)) + 1j * rng.integers(0, 3, (4, 5))
    b = a.copy()
    b[2, 3] = complex(1, np.nan)
    for name in ("argmin", "argmax"):
        for more in ("", ", axis=0", ", axis=1"):
            check(f"np.{name}(a{more})", [(a,), (b,), (a.T,), (a.astype(np.complex64),), (-a,)])
        check(f"np.{name}(a)", [(a > 1,), (a.real,), (b.imag,), (a.real.astype(np.uint8),)])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nan(name):
    a = np.array([[1.0, np.nan, 3.0], [4.0, 2.0, 6.0]])
    check(f"np.{name}(a)", [(a,), (a.astype(np.float32),), (a.T,)], is_exact(name))
    check(f"np.{name}(a, axis=0)", [(a,)], is_exact(name))
    check(f"np.{name}(a, axis=1)", [(a,), (-a,)], is_exact(name))


def test_lines_of_nan_alone():
    a = np.array([[np.nan, np.nan], [1.0, np.nan]])
    for name in ("nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanstd", "nanvar"):
        with pytest.warns(RuntimeWarning) if name not in ("nansum", "nanprod") else np.errstate():
            want = getattr(np, name)(a, axis=1)
        same(compiled(f"np.{name}(a, axis=1)")[1](a), want, False)
    check("np.nanargmin(a, axis=1)", [(a,)])
    check("np.nanargmax(a)", [(a[:1],)])


def test_dtype():
    for dtype in ("np.float32", "np.int64", "np.complex128", "np.int8"):
        check(f"np.sum(a, dtype={dtype})", [c for c in cases("ptp") if "complex" in dtype or c[0].dtype.kind != "f" or "float" in dtype], False)
        check(f"a.prod(0, {dtype})", [(np.arange(1, 5, dtype=np.int16),), (np.ones((2, 3), bool),)], False)
    check("np.mean(a, dtype=np.float32)", [(np.arange(5),), (np.arange(6.0).reshape(2, 3),)], False)
    check("np.mean(a, axis=0, dtype=np.complex64)", [(np.arange(6.0).reshape(2, 3),)], False)
    check("np.std(a, dtype=np.float64)", [(np.arange(5, dtype=np.float32),)], False)
    check("np.cumsum(a, dtype=np.float32)", [(np.arange(5),)])
    check("np.var(a, axis=1, dtype=np.float32)", [(np.arange(6.0).reshape(2, 3),)], False)


def test_out():
    a = np.arange(12.0).reshape(3, 4)
    for name in ("sum", "prod", "mean", "std", "var", "min", "max", "ptp", "nansum", "nanmax", "nanmean"):
        check(f"np.{name}(a, axis=0, out=b)", [(a, np.zeros(4)), (a, np.zeros(4, np.complex128))], False, "a, b")
        check(f"np.{name}(a, 1, out=b, keepdims=True)", [(a, np.zeros((3, 1)))], False, "a, b")
    for name in ("any", "all"):
        check(f"np.{name}(a, axis=0, out=b)", [(a, np.zeros(4, bool))], True, "a, b")
    for name in ("argmin", "argmax"):
        check(f"np.{name}(a, axis=0, out=b)", [(a, np.zeros(4, np.int64))], True, "a, b")
    check("a.sum(0, None, b)", [(a, np.zeros(4))], True, "a, b")
    check("np.cumsum(a, 0, out=b)", [(a, np.zeros((3, 4)))], True, "a, b")
    f, jitted = compiled("np.sum(a, axis=0, out=b)", "a, b")
    b = np.zeros(4)
    assert jitted(a, b) is b
    with pytest.raises(ValueError):
        jitted(a, np.zeros(3))


def test_initial():
    for dtype in ("float64", "int32", "uint8"):
        a = np.array([[3, 1, 2], [4, 9, 5]], dtype)
        check("np.sum(a, initial=10)", [(a,)])
        check("np.prod(a, axis=1, initial=2)", [(a,)])
        check("np.max(a, initial=4, axis=0)", [(a,)])
        check("np.min(a, axis=1, initial=4)", [(a,)])
        check("a.min(initial=2)", [(a,), (a[:0],)])
        check("a.sum(axis=0, initial=n)", [(a, 3)], True, "a, n")


def test_where():
    a, m = np.arange(12.0).reshape(3, 4), np.arange(12).reshape(3, 4) % 3 > 0
    for data in (a, a.astype(np.int16), a.T.copy().T):
        for call in ("sum(a, where=m)", "sum(a, axis=0, where=m)", "prod(a, axis=1, where=m[0])", "max(a, initial=2, where=m)", "min(a, axis=0, initial=99, where=m)",
                     "any(a, axis=1, where=m)", "all(a, where=m)", "mean(a, where=m)", "mean(a, axis=0, where=m, keepdims=True)"):
            check(f"np.{call}", [(data, m)], False, "a, m")
    check("a.sum(where=m)", [(a, m), (a, ~m)], False, "a, m")
    check("np.max(a, where=m)", [(a, m)], False, "a, m")


def test_degrees_of_freedom():
    a = np.arange(12.0).reshape(3, 4) ** 1.5
    check("np.std(a, ddof=1)", [(a,)], False)
    check("np.var(a, axis=0, ddof=2)", [(a,)], False)
    check("a.var(1, ddof=n)", [(a, 0), (a, 1), (a, 4), (a, 5)], False, "a, n")
    check("np.nanstd(a, axis=1, ddof=1)", [(a,)], False)


# -- running ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
def test_running_sums_and_products(name):
    data = arrays(5, SHAPES + [(0,), (2, 0)], n=8)
    check(f"np.{name}(a)", data)
    check(f"np.{name}(a, axis=0)", data[:5])
    check(f"np.{name}(a, -1)", data[:5])
    if not name.startswith("nan"):
        check(f"a.{name}()", data[:3])
        check(f"a.{name}(axis=-1)", data[:3])
    check(f"np.{name}(a)", [(np.array([1.0, np.nan, 2.0]),)])
    check(f"np.{name}(a, axis=2)", [(np.ones((2, 3)),)])


# -- average, comparisons ---------------------------------------------------------------------------------------------------


def test_average():
    a, w = np.arange(12.0).reshape(3, 4), np.array([1.0, 2, 0, 4])
    check("np.average(a)", cases("mean"), False)
    check("np.average(a, axis=0)", cases("mean"), False)
    check("np.average(a, axis=1, weights=w)", [(a, w), (a.astype(np.float32), w.astype(np.float32)), (a.astype(int), w.astype(int)), (a, np.ones(3))], False, "a, w")
    check("np.average(a, weights=w)", [(w, w + 1), (a, a + 1), (w, np.zeros(4))], False, "a, w")
    check("np.average(a, 0, w, True)", [(w, w + 1)], False, "a, w")
    check("np.average(a, 0, returned=True, keepdims=True)", [(a,)], False)


def test_closeness():
    a = np.array([1.0, 1.0 + 1e-9, np.inf, -np.inf, np.nan, 0.0, 2.0])
    b = np.array([1.0, 1.0, np.inf, np.inf, np.nan, 1e-9, 2.1])
    pairs = [(a, b), (a.astype(np.float32), b), (a, 1.0), (np.arange(3), np.arange(3)), (np.arange(6).reshape(2, 3), np.arange(3)), (np.zeros(0), np.zeros(0)), (a[:2] * 1j, b[:2] * 1j)]
    for name in ("isclose", "allclose"):
        check(f"np.{name}(a, b)", pairs, True, "a, b")
        check(f"np.{name}(a, b, 0.1, 1e-3, True)", pairs, True, "a, b")
        check(f"np.{name}(a, b, rtol=0, atol=0.5)", pairs, True, "a, b")
    check("np.isclose(a, b)", [(1.0, 1.0 + 1e-9), (1.0, 2.0)], True, "a, b")


def test_equality():
    a, b = np.arange(6).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    pairs = [(a, b), (a, a[0]), (a, a + 1), (np.zeros(0), np.zeros(0)), (a[0], b[0]), (a[0], b[0, :2]), (np.array([1, np.nan]), np.array([1, np.nan]))]
    check("np.array_equal(a, b)", pairs, True, "a, b")
    check("np.array_equiv(a, b)", pairs, True, "a, b")
    check("np.array_equal(a, b, equal_nan=True)", [(p, q) for p, q in pairs if p.dtype == float] + [(a, b)], True, "a, b")


# -- methods of NumPy's functions ------------------------------------------------------------------------------------------------


def test_reduce_and_accumulate_of_functions():
    a = np.arange(1, 13).reshape(3, 4)
    for name in ("add", "multiply", "minimum", "maximum", "logical_and", "logical_or", "bitwise_and", "bitwise_or", "bitwise_xor"):
        check(f"np.{name}.reduce(a)", [(a,), (a[0],)])
        check(f"np.{name}.reduce(a, axis=1)", [(a,)])
        check(f"np.{name}.reduce(a, axis=None, keepdims=True)", [(a,)])
    for name in ("add", "multiply", "minimum", "maximum", "bitwise_or"):
        check(f"np.{name}.accumulate(a)", [(a,), (a[0],)])
        check(f"np.{name}.accumulate(a, axis=-1)", [(a,)])
    check("np.add.reduce(a, dtype=np.float32, initial=3)", [(a,)])
    check("np.minimum.reduce(a)", [(np.zeros((0, 2)),)])


# -- keywords of functions of elements -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i4", "u4", "i8"])
def test_clip_with_bounds_that_no_element_has(dtype):
    info = np.iinfo(dtype)
    a = np.array([info.min, 1, 5, info.max], dtype)
    low, high = max(info.min - 1, -2 ** 63), min(info.max + 1, 2 ** 63 - 1)
    check(f"np.clip(a, {low}, 4), np.clip(a, 2, {high}), np.clip(a, {low}, {high}), a.clip({low}, 3)", [(a,), (a[::2],)])


def test_clip():
    a = np.arange(-3, 9).reshape(3, 4)
    for data in (a, a.astype(np.float32), a[:, ::2], np.array([1.0, np.nan, 7.0])):
        check("np.clip(a, 0, 4)", [(data,)])
        check("np.clip(a, None, 4)", [(data,)])
        check("np.clip(a, 0, 4, dtype=np.float64)", [(data,)])
        check("np.clip(a, n, None)", [(data, 2)], True, "a, n")
        check("a.clip(1)", [(data,)])
        check("a.clip(max=3)", [(data,)])
        check("a.clip(0, 5, b)", [(data, np.empty_like(data))], True, "a, b")
        check("np.clip(a, 0, 5, out=b)", [(data, np.empty_like(data))], True, "a, b")
    check("np.clip(a, b, b + 2)", [(a, np.arange(4))], True, "a, b")
    check("np.clip(x, 0, 4)", [(7,), (2.5,), (np.int8(-3),)], True, "x")


def test_round():
    rng = np.random.default_rng(1)
    a = rng.standard_normal((3, 4)) * 100
    for data in (a, a.astype(np.float32), a.T, a.astype(np.int32), a + 1j * a):
        for digits in ("", "2", "-1", "decimals=1"):
            check(f"np.round(a, {digits})", [(data,)])
            check(f"a.round({digits})", [(data,)])
        check("np.round(a, n)", [(data, 3), (data, 0), (data, -2)], True, "a, n")
    check("np.round(a, 1, out=b)", [(a, np.zeros((3, 4)))], True, "a, b")


def test_out_where_and_dtype():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3) + 1
    check("np.add(a, b, out=c)", [(a, b, np.zeros((2, 3))), (a, b, np.zeros((2, 3), np.complex64)), (a, b, np.zeros((2, 3), int)), (a, b, np.zeros((4, 3)))], True, "a, b, c")
    check("np.add(a, b, c)", [(a, b, np.zeros((2, 3)))], True, "a, b, c")
    check("np.add(a, b, out=(c,))", [(a, b, np.zeros((2, 3)))], True, "a, b, c")
    check("np.sqrt(a, out=a)", [(a.copy(),)], True)
    check("np.divide(a, b, out=c, where=b > 3)", [(a, b, np.full((2, 3), 9.0))], True, "a, b, c")
    check("np.divide(a, b, c, where=b > 3)", [(a, b, np.full((2, 3), 9.0))], True, "a, b, c")
    check("np.exp(a, where=m, out=c)", [(a, np.array([True, False, True]), np.zeros((2, 3)))], False, "a, m, c")
    check("np.add(a, b, dtype=np.float32)", [(a, b), (a.astype(int), b.astype(int))], True, "a, b")
    check("np.multiply(a, 2, dtype=np.complex128)", [(a,)])
    check("np.less(a, b, out=c)", [(a, b, np.zeros((2, 3), bool))], True, "a, b, c")
    f, jitted = compiled("np.log(a, where=a > 0)")
    assert np.allclose(jitted(b), np.log(b), rtol=1e-15, atol=0)  # NumPy's last bit depends on the processor
    c = np.zeros((2, 3))
    assert compiled("np.add(a, b, out=c)", "a, b, c")[1](a, b, c) is c


def test_several_results():
    a = np.array([[1.5, -2.25, 0.0], [np.inf, 7.0, -0.5]])
    for data in (a, a.astype(np.float32), a.T, a[:, ::-1]):
        check("np.modf(a)", [(data,)])
        check("np.frexp(a)", [(data,)])
        check("np.divmod(a, 2)", [(data,)])
        check("divmod(a, 0.75)", [(data,)])
    check("np.divmod(a, b)", [(np.arange(6), np.array([4])), (np.arange(6), np.arange(6) + 1)], True, "a, b")


def test_early_out():
    a = np.zeros(3, bool)
    for k in range(4):
        b = a.copy()
        b[k:] = True
        check("np.any(a), np.all(a), a.any(), a.all()", [(b,), (~b,)])


def test_fill_diagonal():
    for shape in [(3, 3), (2, 4), (5, 2), (3, 3, 3)]:
        for layout in ("C", "F", "strided"):
            check("np.fill_diagonal(a, 7)", [(laid_out(np.zeros(shape), layout),)])
    check("np.fill_diagonal(a, 7, wrap=True)", [(np.zeros((7, 3)),), (np.zeros((3, 3)),)])
    check("np.fill_diagonal(a, b)", [(np.zeros((4, 4)), np.array([1.0, 2.0])), (np.zeros((3, 3), int), np.arange(3))], True, "a, b")
    check("np.fill_diagonal(a, 1)", [(np.zeros(3),), (np.zeros((2, 3, 2)),)])


def test_of_numbers():
    check("np.sum(x), np.max(x), np.mean(x), np.any(x)", [(3.5,), (2,), (True,)], True, "x")
    check("np.sum((x, 2, 3)), np.max((x, 1))", [(3.5,), (2,)], True, "x")


def test_an_axis_and_another_argument_that_are_known_when_the_function_runs():
    a = np.arange(24.0).reshape(2, 3, 4)
    for call in ("np.sum(a, axis=x, initial=y)", "np.max(a, axis=x, initial=y)", "np.sum(a, axis=x, initial=y, keepdims=True)", "np.std(a, axis=x, ddof=y)", "np.quantile(a, y / 4, axis=x)"):
        check(call, [(a, 0, 1.0), (a, -1, 2.0), (a[0], 1, 0.5)], exact=False, arguments="a, x, y")
    check("np.sum(a, axis=x, where=w)", [(a, 1, a > 3), (a, -3, a % 2 == 0)], arguments="a, x, w")
