"""Axes that are known when the function runs, windows, phases, what arrays and dtypes are, polynomials: beside NumPy."""
import numpy as np
import pytest

import quern
from beside import check, compiled
from quern import njit

B = np.random.default_rng(1).integers(0, 9, (3, 4, 2)).astype(float)


# -- an axis as an argument -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "min", "max", "any", "all", "argmin", "argmax", "cumsum", "std", "ptp", "count_nonzero", "nansum", "nanmax", "sort", "argsort", "flip"])
def test_axes_of_reductions(name):
    check(f"np.{name}(a, axis=k)", [(B, k) for k in (0, -1, 1, -4)] + [(B[:, 0, 0], 0), (B[:, 0, 0], 1), (B.T, 2)], exact=False, arguments="a, k")


def test_axes_with_other_arguments():
    for source in ("a.sum(k)", "a.mean(axis=k, keepdims=True)", "np.sum(a, k, dtype=np.float32)", "np.max(a, k, initial=7)"):
        check(source, [(B, 1), (B, -3), (B, 3)], exact=False, arguments="a, k")


def test_axes_of_functions_that_join_and_move():
    for source in ("np.concatenate((a, a), k)", "np.repeat(a, 2, k)", "np.moveaxis(a, k, 0)", "np.moveaxis(a, 0, k)", "np.swapaxes(a, 0, k)"):
        check(source, [(B, 0), (B, 2), (B, -2), (B, 3)], arguments="a, k")
    check("np.expand_dims(a, k)", [(B, 0), (B, -1), (B, 3), (B, 4), (B, -5)], arguments="a, k")


# -- layouts ----------------------------------------------------------------------------------------------------------------


def test_results_lie_in_memory_as_numpys():
    f_order = np.asfortranarray(B[:, :, 0])
    for source in ("np.argwhere(a)", "np.concatenate((a, a))", "np.concatenate((a, a), axis=1)", "np.copy(a)", "a.copy()", "np.where(a > 3, a, 0)", "a + 1", "np.ascontiguousarray(a)", "np.asfortranarray(a)",
                   "np.hstack((a, a))", "np.sort(a)", "np.take(a, np.array([1, 0]), axis=0)", "np.cumsum(a, axis=0)", "np.roll(a, 1)", "np.zeros_like(a)", "np.round(a)"):
        plain, f = compiled(source)
        for a in (f_order, B[:, :, 0].copy()):
            got, want = f(a), plain(a)
            assert np.array_equal(got, want) and (got.flags.c_contiguous, got.flags.f_contiguous) == (want.flags.c_contiguous, want.flags.f_contiguous), source


def test_arrays_without_axes_get_one():
    check("np.ascontiguousarray(a)", [(np.array(3),)])
    check("np.asfortranarray(a)", [(np.array(3.5),)])
    check("np.zeros_like(a).shape", [(3.5,), (B,)])
    check("np.tri(a)", [(-1,), (0,), (3,)])


# -- dtypes of loops ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint64", "float32", "float64"])
def test_frexp_modf_ldexp(dtype):
    a = (np.arange(-3, 5) * (0.75 if dtype.startswith("float") else 1)).astype(dtype)
    for source in ("np.frexp(a)", "np.modf(a)", "np.ldexp(a, b)", "np.ldexp(a, 2)"):
        check(source, [(a, np.arange(8)), (a[::-1], np.arange(8)[::-1])], arguments="a, b")


def test_means_of_half_precision():
    a = np.arange(6, dtype=np.float16).reshape(2, 3)
    for name in ("mean", "var", "std"):
        for more in ("", ", axis=0", ", axis=1, keepdims=True"):
            plain, f = compiled(f"np.{name}(a{more})")
            got, want = f(a), plain(a)
            assert np.asarray(got).shape == want.shape and (not want.shape or got.dtype == want.dtype)
            np.testing.assert_allclose(np.asarray(got, float), np.asarray(want, float), rtol=2e-3)
    assert compiled("np.mean(a)")[1](np.ones(5000, np.float16)) == 1


def test_float_power_of_complex_numbers():
    z = B[0, :, 0] * (1 - 2j)
    check("np.float_power(a, b)", [(z, z), (z.astype(np.complex64), 2), (np.arange(4, dtype=np.int8), 2), (B[0], 1j)], exact=False, arguments="a, b")


def test_signs_of_zero():
    for source in ("np.round(a)", "np.around(a, 0)", "np.round(a, 1)", "np.rint(a)"):
        plain, f = compiled(source)
        for a in (np.array([-0.4, -0.0, 0.4, -0.04]), np.array([-0.4 - 0.4j, 0.3 - 0.01j]), -0.4):
            got, want = np.asarray(f(a)), np.asarray(plain(a))
            assert np.array_equal(np.signbit(got.real), np.signbit(want.real)) and np.array_equal(np.signbit(got.imag), np.signbit(want.imag)), (source, a)


# -- windows and phases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows(name):
    plain, f = compiled(f"np.{name}(n)", "n")
    for n in (-1, 0, 1, 2, 5, 12):
        np.testing.assert_allclose(f(n), plain(n), atol=1e-15)
        assert f(n).dtype == plain(n).dtype


def test_bessel_and_kaiser():
    plain, f = compiled("np.i0(a)")
    a = np.array([0, 1.0, -3, 8, 50, 700, np.nan])
    np.testing.assert_allclose(f(a), plain(a), rtol=1e-13)
    plain, f = compiled("np.kaiser(n, b)", "n, b")
    for n in (0, 1, 2, 7, 50):
        for beta in (0.0, 5, 14.0):
            np.testing.assert_allclose(f(n, beta), plain(n, beta), rtol=1e-13)


def test_unwrap():
    phases = np.cumsum(np.random.default_rng(1).uniform(-4, 4, 20))
    check("np.unwrap(a)", [(phases,), (phases.reshape(4, 5),), (phases.astype(np.float32),), (phases[:0],), (phases[:1],)], exact=False)
    check("np.unwrap(a, axis=0)", [(phases.reshape(4, 5),)], exact=False)
    check("np.unwrap(a, discont=4.0)", [(phases,)], exact=False)
    for period in (6, 7):
        check(f"np.unwrap(a, period={period})", [((phases * 3).astype(int),), (np.array([0, 3, 6, 3, 0, -3, -6]),), (phases,)], exact=False)


# -- what they are ----------------------------------------------------------------------------------------------------------------


def test_shapes_and_flags():
    for a in (B, B.T, B[::2], B[..., ::2], B[0, 0], np.array(2.0), B[:0]):
        check("(np.shape(a), np.size(a), np.ndim(a), a.flags.c_contiguous, a.flags.f_contiguous, a.flags.forc, np.isfortran(a))", [(a,)])
    check("np.size(a, 1)", [(B,)])
    check("(np.shape(a), np.ndim(a))", [(3.0,)])
    assert compiled("a.ctypes.data")[1](B) == B.ctypes.data
    check("np.may_share_memory(a, b)", [(B, B[1:]), (B, B + 1), (B[:0], B)], arguments="a, b")


def test_real_or_complex():
    for source in ("np.iscomplex(a)", "np.isreal(a)", "np.iscomplexobj(a)", "np.isrealobj(a)", "np.isscalar(a)"):
        for a in (B, B + 0j, B * 1j, np.arange(3), True, 2, 2.5, 1j):
            f, jitted = compiled(source)
            assert np.array_equal(jitted(a), f(a)), (source, a)


@pytest.mark.parametrize("name", ["np.float16", "np.float32", "np.float64", "np.complex64", "float"])
def test_limits_of_floats(name):
    fields = "bits eps epsneg iexp machep max maxexp min minexp negep nexp nmant precision resolution smallest_normal smallest_subnormal tiny".split()
    for field in fields:
        f, jitted = compiled(f"np.finfo({name}).{field}", "")
        assert jitted() == f(), field
    with pytest.raises(ValueError, match="not inexact"):
        compiled("np.finfo(np.int8).eps", "")[1]()


@pytest.mark.parametrize("name", ["np.int8", "np.uint8", "np.int32", "np.uint32", "np.int64", "np.uint64", "int"])
def test_limits_of_ints(name):
    for field in ("bits", "max", "min"):
        f, jitted = compiled(f"np.iinfo({name}).{field}", "")
        assert jitted() == f()
    with pytest.raises(ValueError, match="Invalid integer data type"):
        compiled("np.iinfo(np.float32).max", "")[1]()


# -- polynomials --------------------------------------------------------------------------------------------------------------------


def test_polynomials_lowest_power_first():
    cases = [(np.array([1.0, 2.0, 3.0]), np.array([2.0, -1.0])), (np.array([1, 2]), np.array([3, 0, 1, 0])), (np.array([1j, 2.0]), np.array([1.0])), (np.array([1.0, 2.0]), np.array([1.0, -2.0])), (np.ones(0), np.ones(2))]
    for name in ("polyadd", "polysub", "polymul", "polydiv"):
        check(f"np.polynomial.polynomial.{name}(a, b)", cases, exact=False, arguments="a, b")
    check("np.polynomial.polynomial.polydiv(a, b)", [(np.ones(3), np.zeros(1))], arguments="a, b")
    for m in (1, 2, 3):
        check(f"np.polynomial.polynomial.polyint(a, {m})", [(np.array([1.0, 2.0, 3.0]),), (np.array([5, 4]),), (np.array([1j, 2.0]),)], exact=False)
    check("np.polynomial.polynomial.polyval(x, c)", [(2.0, np.array([1.0, 2.0, 3.0])), (B, np.array([1, 2, 3])), (B[0], np.array([1j]))], exact=False, arguments="x, c")
    check("(np.polynomial.polynomial.polyval(x, c), np.polynomial.polynomial.polyval(x, c, tensor=False))",
          [(np.array([1.0, 2.0]), np.arange(6.0).reshape(3, 2)), (np.array([1, 2]), np.arange(6).reshape(3, 2)), (2.0, np.arange(12.0).reshape(2, 3, 2))], exact=False, arguments="x, c")
    check("np.polynomial.polynomial.polyint(c, m)", [(np.array([0]), 2), (np.zeros(2), 2), (np.zeros(1), 0)], arguments="c, m")
    check("np.polynomial.polyutils.trimseq(a)", [(np.array([1.0, 0.0, 0.0]),), (np.zeros(3),), (np.array([0.0, 2.0]),)])


def test_polynomials_highest_power_first():
    cases = [(np.array([1.0, 2.0, 3.0]), np.array([2.0, -1.0])), (np.array([1, 2]), np.array([3, 0, 1, 0])), (np.array([1j, 2.0]), np.array([1.0]))]
    for name in ("polyadd", "polysub", "polymul"):
        check(f"np.{name}(a, b)", cases, exact=False, arguments="a, b")
    check("np.polyval(a, x)", [(np.array([1.0, 2.0, 3.0]), 2.0), (np.array([1, 2, 3]), B), (np.array([1, 2]), np.arange(3))], exact=False, arguments="a, x")
    for m in (1, 2):
        check(f"np.polyder(a, {m})", [(np.array([1.0, 2.0, 3.0]),), (np.array([4, 3, 2, 1]),), (np.array([1.0]),)], exact=False)


def test_roots():
    f = compiled("np.roots(a)")[1]
    for a in (np.poly([1.0, 2.0, 3.0]), np.array([0, 0, 1.0, -3.0, 2.0, 0, 0]), np.array([2.0]), np.zeros(3), np.poly([1 + 1j, 2.0]), np.array([1, -3, 2])):
        want = np.roots(a)
        got = f(a)
        np.testing.assert_allclose(np.sort_complex(got), np.sort_complex(want), atol=1e-9)
    with pytest.raises(ValueError, match="domain change"):
        f(np.array([1.0, 0.0, 1.0]))


def test_polyfit():
    x = np.linspace(-1, 2, 30)
    for y in (x**2 - 3 * x, np.stack([x, x**3]).T):
        plain, f = compiled("np.polyfit(x, y, 3)", "x, y")
        np.testing.assert_allclose(f(x, y), plain(x, y), atol=1e-10)
    for wrong in ((x, x[1:]), (x[:0], x[:0]), (B, B)):
        check("np.polyfit(x, y, 1)", [wrong], arguments="x, y")


def test_nothing_is_kept():
    f = njit(lambda a, k: np.concatenate((a, a), k).sum(k))
    f(B, 1)
    before = quern._quern.live_allocations()
    for k in (0, 1, 2, 7):
        try:
            f(B, k)
        except np.exceptions.AxisError:
            pass
    assert quern._quern.live_allocations() == before
