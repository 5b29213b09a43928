"""Counting, quantiles, covariance, differences and products beside NumPy."""
import numpy as np
import pytest
from beside import arrays, check, values

REAL = ["bool", "int8", "int32", "uint64", "float32", "float64"]


# -- counting ---------------------------------------------------------------------------------------------------


def test_bincount():
    n = np.array([1, 3, 3, 0, 7])
    check("np.bincount(a)", [(n,), (n.astype(np.uint8),), (n[::-1].astype(np.int16),), (n[:0],), (n > 2,)])
    check("np.bincount(a, minlength=m)", [(n, 10), (n, 2), (n[:0], 3), (n, -1)], arguments="a, m")
    check("np.bincount(a, weights=w)", [(n, np.arange(5) * 0.3), (n, np.arange(5)), (n, np.ones(4))], arguments="a, w")
    check("np.bincount(a)", [(np.array([1, -1]),), (np.ones(2),), (n.reshape(1, 5),)])


@pytest.mark.parametrize("dtype", ["int32", "float64", "float32", "bool"])
def test_histogram(dtype):
    rng = np.random.default_rng(2)
    a = values(rng, dtype, (20, 5))
    b = (rng.standard_normal(1000) * 3).astype(dtype)
    check("np.histogram(a)", [(a,), (b,), (a[:0],), (a[:1, :1],)] if dtype != "bool" else [])
    if dtype != "bool":
        check("np.histogram(a, bins=n)", [(a, 3), (b, 17), (b, 0), (b, 1)], arguments="a, n")
    if dtype != "float32":
        check("np.histogram(a, 5, (-1.5, 2))", [(a,), (b,)] if dtype != "bool" else [])
    check("np.histogram(a, bins=e)", [] if dtype == "bool" else [(b, np.array([-3.0, -1, 0, 0, 2.5])), (b, np.array([0, 1, 2])), (b, np.array([2.0, 1.0]))], arguments="a, e")


def test_histogram_of_what_is_not_finite():
    check("np.histogram(a)", [(np.array([1.0, np.inf]),), (np.array([1.0, np.nan]),)])
    check("np.histogram(a, 4, (0, 4))", [(np.array([1.0, np.nan, np.inf, 4.0, 0.0]),)])
    check("np.histogram(a, 4, (3, 1))", [(np.ones(3),)])


def test_digitize_with_nan_and_equal_edges():
    x = np.array([np.nan, 1.0, np.inf, -np.inf, 3.0])
    bins = [np.array([1.5, np.nan]), np.array([np.nan, 1.5]), np.array([np.nan, 1.5, 2.3, np.nan]), np.array([2.0, 2.0, 1.0]), np.array([3.0, 3.0]), np.array([1.0, 3, 8, np.inf, np.nan, np.nan]),
            np.array([1.0, 3, 8, np.inf, np.nan, np.nan])[::-1], np.ones(0), np.array([1.0, 2.0, 1.0])]
    check("(np.digitize(a, b), np.digitize(a, b, True), np.digitize(a[1], b))", [(x, b) for b in bins], arguments="a, b")
    check("np.digitize(a, b)", [(np.ones(2) * 1j, bins[0])], arguments="a, b")


def test_digitize():
    x = np.array([0.5, 1.0, 2.5, 9.0, np.nan, -1.0])
    bins = np.array([0.0, 1.0, 2.0, 4.0])
    check("np.digitize(x, b)", [(x, bins), (x, bins[::-1]), (x.reshape(2, 3), bins), (np.arange(5), np.array([1, 3])), (x, np.array([1.0, 3.0, 2.0]))], arguments="x, b")
    check("np.digitize(x, b, right=True)", [(x, bins), (x, bins[::-1].copy())], arguments="x, b")
    check("np.digitize(x, b)", [(1.5, bins)], arguments="x, b")


# -- quantiles -----------------------------------------------------------------------------------------------------


def data(seed, dtypes=REAL, shapes=((7,), (3, 4), (2, 3, 4))):
    return arrays(seed, list(shapes), [d for d in dtypes if d != "bool"], n=4)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_median(name):
    check(f"np.{name}(a)", data(1), False)
    check(f"np.{name}(a, axis=0)", data(2), False)
    check(f"np.{name}(a, axis=-1, keepdims=True)", data(3), False)
    check(f"np.{name}(a, axis=(0, -1))", data(4, shapes=[(3, 4), (2, 3, 4)]), False)
    a = np.array([[1.0, np.nan, 3.0, 2.0], [4.0, 0.0, 8.0, 1.0]])
    check(f"np.{name}(a), np.{name}(a, axis=0), np.{name}(a, axis=1)", [(a,), (np.arange(100.0).reshape(2, 50)[::-1],)], False)
    check(f"np.{name}(a, 0, b)", [(a, np.zeros(4))], False, "a, b")
    check(f"np.{name}(a, axis=2)", [(a,)])


def test_medians_of_many():
    rng = np.random.default_rng(9)
    for n in (33, 34, 101, 1000):
        lines = [rng.standard_normal(n), np.arange(n) * 1.0, -np.arange(n) * 1.0, np.ones(n), rng.integers(0, 4, n) * 1.0, np.abs(np.arange(n) - n / 2)]
        check("np.median(a), np.percentile(a, 90), np.percentile(a, 1.5)", [(a,) for a in lines], False)
        holes = lines[0].copy()
        holes[::7] = np.nan
        check("np.nanmedian(a), np.nanpercentile(a, 20), np.median(a)", [(holes,)], False)


METHODS = ["linear", "lower", "higher", "nearest", "midpoint", "weibull", "hazen", "median_unbiased", "normal_unbiased",
           "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf"]


@pytest.mark.parametrize("method", METHODS)
def test_methods_of_quantiles(method):
    rng = np.random.default_rng(3)
    check(f"np.quantile(a, q, method='{method}')", [(rng.standard_normal(n), q) for n in (1, 6, 11) for q in (0.0, 0.1, 0.25, 0.5, 0.77, 1.0)], False, "a, q")
    check(f"np.percentile(a, q, axis=0, method='{method}')", [(rng.integers(0, 9, (5, 3)), 30)], False, "a, q")


def test_percentiles_beside_infinities():
    inf = np.inf
    lines = [np.array(line) for line in ([-inf, 1, 2, inf], [inf, inf, inf], [1, inf], [-inf, inf], [-inf, -inf, 1], [1.0, 2, 3])]
    with np.errstate(invalid="ignore"):
        check("np.percentile(a, 50), np.percentile(a, 25), np.percentile(a, 0), np.percentile(a, 100)", [(a,) for a in lines], False)


def test_percentiles():
    rng = np.random.default_rng(4)
    a = rng.standard_normal((6, 7))
    check("np.percentile(a, 30)", [(a,), (a.astype(np.float32),), (a.T,), ((a * 9).astype(np.int16),)], False)
    check("np.percentile(a, q)", [(a, np.array([10.0, 50, 99])), (a, 100), (a, 101), (a, -1.0)], False, "a, q")
    check("np.percentile(a, (25, 75), axis=1)", [(a,)], False)
    check("np.quantile(a, q, axis=(0, 1), keepdims=True)", [(a, 0.5), (a, np.array([0.1, 0.2]))], False, "a, q")
    check("np.quantile(a, 0.3, axis=0, out=b)", [(a, np.zeros(7))], False, "a, b")
    a[2, 3] = np.nan
    for name in ("percentile", "nanpercentile"):
        check(f"np.{name}(a, 40), np.{name}(a, 40, axis=0), np.{name}(a, 40.0, 1)", [(a,)], False)
    check("np.nanquantile(a, 0.4, axis=1)", [(a,)], False)


# -- covariance ------------------------------------------------------------------------------------------------------


def test_covariance():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((3, 8)), rng.standard_normal((2, 8))
    for name in ("cov", "corrcoef"):
        check(f"np.{name}(a)", [(a,), (a.T,), (a[0],), (a.astype(np.float32),), (rng.integers(0, 9, (3, 5)),)], False)
        check(f"np.{name}(a, b)", [(a, b), (a[0], b[0])], False, "a, b")
        check(f"np.{name}(a, rowvar=False)", [(a,)], False)
    check("np.cov(a, bias=True)", [(a,), (a + 1j * a[::-1],)], False)
    check("np.cov(a, ddof=0)", [(a,)], False)


# -- differences -------------------------------------------------------------------------------------------------------


def test_diff():
    check("np.diff(a)", arrays(5, [(5,), (3, 4), (2, 3, 2), (1,), (0,)], n=7))
    check("np.diff(a, axis=0)", arrays(6, [(5,), (3, 4), (2, 3, 2)], n=4))
    check("np.diff(a, n, 0)", [(np.arange(5.0) ** 3, n) for n in (0, 1, 2, 3, 7, -1)], arguments="a, n")
    check("np.diff(a, n=2, axis=-1)", arrays(7, [(5,), (3, 4)], n=3))
    check("np.diff(a, axis=2)", [(np.ones((2, 3)),)])


def test_ediff1d():
    check("np.ediff1d(a)", arrays(7, [(5,), (3, 4), (0,), (1,)], REAL[1:], n=5))
    check("np.ediff1d(a, to_begin=0, to_end=b)", [(np.arange(5) ** 2, np.array([8, 9]))], arguments="a, b")


def test_gradient_of_several_axes():
    b, x4, x5 = np.random.default_rng(1).random((4, 5)), np.array([0, 1, 3, 4.5]), np.array([0, 1, 3, 4.5, 5])
    for more in ("", ", axis=0", ", 2.0, axis=-1", ", edge_order=2", ", 1.0, 2.0", ", axis=(1, 0)", ", 1.0, 2.0, 3.0", ", axis=2", ", edge_order=3"):
        check(f"np.gradient(a{more})", [(b,), (b.T,)], exact=False)
    check("np.gradient(a, x, axis=0)", [(b, x4), (b, x5)], exact=False, arguments="a, x")
    check("np.gradient(a, x, axis=1, edge_order=2)", [(b, x5)], exact=False, arguments="a, x")
    check("np.gradient(a, x, edge_order=2)", [(x4**2, x4), (x4[:2], x4[:2])], exact=False, arguments="a, x")


def test_gradient_and_trapezoid():
    y, x = np.arange(6.0) ** 2.5, np.arange(6.0) ** 1.5
    check("np.gradient(a)", [(y,), (y.astype(np.float32),), (np.arange(5) ** 2,), (y[:2],), (y[:1],)], False)
    check("np.gradient(a, h)", [(y, 0.5), (y, 2), (y, x), (y, x[:3])], False, "a, h")
    check("np.trapezoid(a)", [(y,), (y.reshape(2, 3),), (np.arange(5),)], False)
    check("np.trapezoid(a, x)", [(y, x), (y.reshape(2, 3), x[:3])], False, "a, x")
    check("np.trapezoid(a, dx=h, axis=0)", [(y.reshape(2, 3), 0.25)], False, "a, h")


def test_interp():
    xp, fp = np.array([0.0, 1.0, 2.5, 4.0]), np.array([3.0, -1.0, 2.0, 2.0])
    x = np.array([[-1.0, 0.0, 0.3], [2.5, 3.0, 5.0], [np.nan, np.inf, 4.0]])
    check("np.interp(x, xp, fp)", [(x, xp, fp), (x[0], xp, fp), (1.7, xp, fp), (3, xp, fp), (np.arange(5), np.arange(5), np.arange(5) ** 2), (x, xp[:1], fp[:1]), (x, xp, fp[:2]),
                                    (x, xp[:0], fp[:0])], True, "x, xp, fp")
    check("np.interp(x, xp, fp, left=-5, right=n)", [(x, xp, fp, 9.5)], True, "x, xp, fp, n")


# -- products ---------------------------------------------------------------------------------------------------------------


def test_trace():
    check("np.trace(a)", arrays(3, [(3, 3), (2, 4), (4, 2), (2, 3, 2), (0, 3)], n=6), False)
    check("a.trace(offset=k)", [(np.arange(12).reshape(3, 4), k) for k in (-4, -2, -1, 0, 1, 3, 5)], True, "a, k")
    check("np.trace(a, 0, 1, 2)", [(np.arange(24).reshape(2, 3, 4),)])
    check("np.trace(a, axis1=-1, axis2=0, dtype=np.float32)", [(np.arange(24).reshape(2, 3, 4),)])
    check("np.trace(a)", [(np.arange(3),)])


def test_cross_and_kron():
    rng = np.random.default_rng(6)
    a, b = rng.integers(-5, 5, (4, 3)), rng.integers(-5, 5, (4, 3))
    check("np.cross(a, b)", [(a, b), (a[0], b[0]), (a * 0.5, b), (a[0], b), (a.astype(np.int8), b.astype(np.int8)), (a[:, :1], b)], True, "a, b")
    check("np.cross(a, b, axis=0)", [(a.T, b.T)], True, "a, b")
    check("np.kron(a, b)", [(a, b), (a[0], b), (a, b[0]), (a.T, b * 0.5), (a[0], b[0])], True, "a, b")


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_sliding_products(name):
    rng = np.random.default_rng(7)
    for x, y in [("float64", "float64"), ("int32", "int8"), ("complex128", "float64"), ("float32", "complex64")]:
        a, b = values(rng, x, 9), values(rng, y, 4)
        pairs = [(a, b), (b, a), (a, b[:3]), (a[:1], b), (a[:4], b)]
        check(f"np.{name}(a, b)", pairs[:3], False, "a, b")
        if x == "float64":
            for mode in ("full", "same", "valid"):
                check(f"np.{name}(a, b, '{mode}')", pairs, False, "a, b")
                check(f"np.{name}(a, b, mode='{mode}')", [(a, b[:0])], False, "a, b")
