"""Keywords and forms of functions that a user of NumPy tries next: beside NumPy."""
import numpy as np
import pytest

import quern
from beside import check, compiled, same
from quern import errors, njit

A = np.random.default_rng(5).normal(size=(3, 4))
T = np.random.default_rng(6).normal(size=(2, 3, 4))
M = A > 0


def program(source):
    space = {"np": np}
    exec(source, space)
    return space["f"]


def both(source, *args):
    """Results, and what is in the arguments afterwards, as NumPy's."""
    f = program(source)
    mine, theirs = [a.copy() for a in args], [a.copy() for a in args]
    same(njit(f)(*mine), f(*theirs), False, source)
    same(tuple(mine), tuple(theirs), False, source)


# -- reductions ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_variances_have_where_mean_and_correction(name):
    a = A.copy()
    a[1, 2] = np.nan
    for x in (A, a):
        check(f"np.{name}(a, where=b)", [(x, M), (x, np.array([True, False, True, True]))], False, "a, b")
        check(f"np.{name}(a, axis=1, where=b, ddof=1, keepdims=True)", [(x, M)], False, "a, b")
        check(f"np.{name}(a, axis=0, correction=1)", [(x,)], False)
        check(f"np.{name}(a, ddof=1, correction=1)", [(x,)])
        check(f"np.{name}(a, 1, mean=np.mean(a, axis=1, keepdims=True))", [(x,)], False)
        check(f"np.{name}(a, axis=0, dtype=np.complex128)", [(x,)], False)
        check(f"np.{name}(a, 0, np.float32)", [(x,)], False)


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanmin", "nanmax"])
def test_reductions_without_nan_have_where_and_initial(name):
    a = A.copy()
    a[0, 1] = a[2, 2] = np.nan
    initial = ", initial=0.25" if name in ("nanmin", "nanmax") else ""
    check(f"np.{name}(a, where=b{initial})", [(a, M), (a, ~M)], False, "a, b")
    check(f"np.{name}(a, axis=0, where=b{initial}, keepdims=True)", [(a, M)], False, "a, b")
    if initial:
        check(f"np.{name}(a, initial=0.25)", [(a,), (np.zeros(0),)], False)
        check(f"np.{name}(a, where=b)", [(a, M)], False, "a, b")


@pytest.mark.parametrize("source", ["np.median(a, axis=k)", "np.percentile(a, 30, axis=k)", "np.quantile(a, (0.1, 0.5), axis=k)", "np.nanmedian(a, axis=k, keepdims=True)"])
def test_quantiles_along_an_axis_of_the_run(source):
    check(source, [(T, k) for k in (0, 2, -2, 3)], False, "a, k")


def test_complex_numbers_have_no_quantiles():
    check("np.quantile(a, 0.5)", [(A * 1j,)])
    check("np.percentile(a, 50, axis=0)", [(A * 1j,)])


def test_any_and_all_of_python():
    check("any(a)", [(M[0],), (np.zeros(3),), (np.zeros(0),)])
    check("all(a)", [(M[0],), (np.ones(3),), (np.zeros(0),)])
    check("any(a.flat), all((a[0, 0], 1)), any(range(1)), any(map(np.isnan, a[0])), all([a[0, 0] > 9, True])", [(A,), (A * np.nan,)])


# -- creation, shapes -----------------------------------------------------------------------------------------------------------


def test_linspace_between_arrays():
    a, b = A[0], A[1]
    for more in ("5", "5, axis=1", "5, axis=-1", "1", "0", "4, endpoint=False", "4, retstep=True", "3, dtype=np.int64"):
        check(f"np.linspace(a, b, {more})", [(a, b), (a, a), (a, 3)], False, "a, b")
    check("np.linspace(0, a, 3)", [(A,)], False)
    check("np.linspace(a, 1, -1)", [(A,)])


def test_arrays_of_ranges():
    check("np.array(range(a)), np.array(range(0), np.int16), np.asarray(range(2, a, 3)), np.array(range(a, 0, -1), np.float32)", [(7,), (12,)])


def test_orders_of_reshape_ravel_and_flatten():
    f = np.asfortranarray(A)
    for source in ("a.reshape(2, 6, order='F')", "a.reshape((2, 6), order='A')", "a.reshape(-1, order='F')", "np.reshape(a, (6, 2), order='A')", "a.flatten('K')", "a.ravel('A')", "a.flatten('A')"):
        check(source, [(A,), (f,)])
    check("a.reshape((2, 6), order='K')", [(A,)])
    check("a.ravel('X')", [(A,)])


def test_numbers_as_arrays():
    check("np.expand_dims(a, 0), np.broadcast_to(a, (2, 3))", [(2.5,)])
    check("np.broadcast_shapes((3, 2), (4,))", [()], arguments="")


def test_joining_obeys_casting():
    i = np.arange(3)
    check("np.concatenate((a, b), dtype=np.int64)", [(A[0], i)], arguments="a, b")
    check("np.concatenate((a, b), dtype=np.int64, casting='unsafe')", [(A[0], i)], arguments="a, b")
    check("np.stack((a, b), dtype=np.int64)", [(A[0], A[1])], arguments="a, b")
    check("np.concatenate((a, b), casting='no')", [(A[0], i), (i, i)], arguments="a, b")


def test_sizes_that_overflow():
    for source in ("np.repeat(a, 2 ** 62)", "np.tile(a, 2 ** 62)", "np.tile(a, (2 ** 40, 2 ** 40))"):
        with pytest.raises((ValueError, MemoryError)):
            compiled(source)[1](np.ones(4))
    assert compiled("np.repeat(a, 2 ** 62)")[1](np.ones(0)).shape == (0,)


# -- counting, searching, between points ----------------------------------------------------------------------------------------


def test_histograms_with_weights_and_density():
    a, w = A.ravel(), np.abs(T.ravel()[:12])
    for bins in ("4", "4, (-1, 1)", "np.array([-2.0, 0.0, 0.5, 2.0])", "(-1, 0, 1)"):
        check(f"np.histogram(a, {bins})", [(a, w)], False, "a, b")
        check(f"np.histogram(a, {bins}, weights=b)", [(a, w), (a, np.arange(12)), (a, w[:3])], False, "a, b")
        check(f"np.histogram(a, {bins}, density=True, weights=b)", [(a, w)], False, "a, b")
        check(f"np.histogram(a, {bins}, density=True)", [(a, w)], False, "a, b")
        check(f"np.histogram_bin_edges(a, {bins})", [(a, w), (a.astype(np.float32), w)], False, "a, b")
    check("np.histogram(a, 0)", [(a,)])


def test_sequences_where_arrays_are_meant():
    check("np.bincount([1, 2, 2], [0.5, 1.5, 2.5])", [()], arguments="")
    check("np.searchsorted(np.sort(a), (0.1, 0.2))", [(A[0],)])
    check("np.interp([0.1, 0.2], a, b)", [(np.arange(3.0), np.arange(3.0) ** 2)], False, "a, b")


def test_differences_with_what_stands_at_the_ends():
    for more in ("prepend=0", "append=b", "prepend=b, append=1.5", "n=2, axis=0, prepend=a[:1]", "n=0, prepend=b"):
        check(f"np.diff(a, {more})", [(A, A[:, :2])], False, "a, b")
    check("np.diff(a, prepend=b)", [(A, A[:2])], arguments="a, b")
    check("np.diff(a, -1, prepend=0)", [(A,)])


def test_interpolation_rounds_as_numpy_does_where_heights_are_complex():
    f = njit(lambda x, xp, fp: np.interp(x, xp, fp))
    rng = np.random.default_rng(4)
    heights = np.array([0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 3.25, 1e300, 0.1])
    wanted = np.array([-4.0, -3, -2.5, 0, 0.3, 1, 2.7, 3, 5, np.inf, -np.inf, np.nan])
    for _ in range(300):
        n = rng.integers(1, 6)
        xp, fp = np.sort(rng.integers(-3, 4, n).astype(float)), np.empty(n, complex)
        fp.real, fp.imag = rng.choice(heights, n), rng.choice(heights, n)
        for h in fp, fp.real.copy():
            with np.errstate(all="ignore"):
                want, got = np.interp(wanted, xp, h), f(wanted, xp, h)
            assert np.array_equal(want.real, got.real, equal_nan=True) and np.array_equal(want.imag, got.imag, equal_nan=True), (xp, h)


def test_interpolation_of_what_repeats_and_of_complex_numbers():
    x, y = np.array([1.0, 2.0, 4.5, 3.0]), np.array([1.0, 5.0, 2.0, 7.0])
    check("np.interp(a, b, c, period=5.5)", [(A * 9, x, y), (7.25, x, y)], False, "a, b, c")
    check("np.interp(a, b, c, period=0)", [(A, x, y)], arguments="a, b, c")
    check("np.interp(a, b, c)", [(A * 3, np.sort(x), y * (1 - 2j)), (2.5, np.sort(x), y * 1j)], False, "a, b, c")
    check("np.interp(a, b, c, left=-1j, right=2.0)", [(A * 9, np.sort(x), y * (1 - 2j))], False, "a, b, c")


def test_places_of_what_two_arrays_have():
    a, b = np.array([3, 1, 1, 7]), np.array([1, 9, 3, 3])
    check("np.intersect1d(a, b, return_indices=True)", [(a, b), (A.ravel(), A.ravel()[::2])], arguments="a, b")


# -- flat, parts of complex numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["1:3", "::-2", "np.array([0, 5, 2])", "a.ravel() > 0", "np.array([[1], [2]])"])
def test_parts_of_flat(index):
    for a in (A, A.T, A[:, ::-1]):
        check(f"a.flat[{index}]", [(a,)])
        both(f"def f(a):\n    a.flat[{index}] = 7\n    return a", a)
        both(f"def f(a, b):\n    a.flat[{index}] = b\n    return a", a, np.arange(2.0))


def test_attributes_that_are_assigned():
    for value in ("3", "b", "b[0]", "b.T"):
        both(f"def f(a, b):\n    a.flat = {value}\n    return a", A, T[0])
    for part in ("real", "imag"):
        both(f"def f(a, b):\n    a.{part} = b\n    a.{part} = a.{part} + 1\n    return a", A * 1j, T[0])
    both("def f(a):\n    a.real = 2\n    return a", A)
    for name in ("shape", "imag", "x"):
        with pytest.raises(quern.UnsupportedError):
            njit(program(f"def f(a):\n    a.{name} = 1"))(A.copy())


# -- nditer ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("a", [A, A.T, A[::-1], A[:, ::-2], A[:, ::-1].T, T.transpose(1, 0, 2), T[:, ::2].transpose(2, 0, 1), T[::-1, :, ::-2].swapaxes(0, 1), T[:, :1], A[0, ::-1]])
def test_nditer_goes_in_the_order_of_memory(a):
    for order in ("", ", order='K'", ", order='C'", ", order='F'", ", order='A'"):
        check(f"[x.item() for x in np.nditer(a{order})]", [(a,)])
    check("[x.item() - 2 * y.item() for x, y in np.nditer((a, b))]", [(a, a), (a, np.ascontiguousarray(a)), (a, np.asfortranarray(a)), (np.ascontiguousarray(a), a), (a, a[..., ::-1])], arguments="a, b")
    check("[x.item() - 2 * y.item() for x, y in np.nditer((a, b))]", [(a, a[..., :1]), (a, np.ones(a.shape[-1])[::-1])], arguments="a, b")


def test_nditer_writes_where_it_is_told_to():
    both("def f(a):\n    for x in np.nditer(a, op_flags=['readwrite']):\n        x[...] = 2 * x\n    return a", T[::-1, :, 1:])
    both("def f(a, b):\n    for x, y in np.nditer([a, b], op_flags=[['readonly'], ['writeonly']]):\n        y[...] = 2 * x\n    return b", A, np.asfortranarray(A))
    for call in ("np.nditer([a, b], op_flags=[['readonly'], ['readwrite']])", "np.nditer(b[:0])", "np.nditer(a, order='X')"):
        with pytest.raises(ValueError):
            njit(program(f"def f(a, b):\n    for x in {call}:\n        pass"))(A.copy(), A[0].copy())
    for call in ("np.nditer(a, flags=['external_loop'])", "np.nditer(a, op_flags=['nbo'])"):
        with pytest.raises(ValueError, match="compiled code knows"):
            njit(program(f"def f(a):\n    for x in {call}:\n        pass"))(A.copy())


# -- dtypes ---------------------------------------------------------------------------------------------------------------------------


def test_arrays_without_axes_stay_arrays():
    check("a.astype(np.int64), a.astype(np.complex128), a.astype(a.dtype)", [(np.array(2.5),), (np.array(True),)])


@pytest.mark.parametrize("source", ["a[...] = {}", "a[1:] = {}", "a[a > 1] = {}", "a[np.array([0, 1])] = {}", "a.fill({})", "a[:2] = (1, {})"])
@pytest.mark.parametrize("dtype, good, bad", [(np.uint16, 65535, -1), (np.int8, -128, 128), (np.uint64, 7, -7), (np.int32, 2**31 - 1, -2**31 - 1)])
def test_INT_14_python_ints_that_no_element_holds(source, dtype, good, bad):
    a = np.arange(4).astype(dtype)
    both(f"def f(a):\n    {source.format(good)}\n    return a", a)
    with pytest.raises(quern.TypingError, match=f"Python integer {bad} out of bounds"):
        njit(program(f"def f(a):\n    {source.format(bad)}"))(a.copy())
    f = njit(program(f"def f(a, k):\n    {source.format('k')}\n    return a"))
    mine = a.copy()
    with pytest.raises(OverflowError, match=f"Python integer {bad} out of bounds"):
        f(mine, bad)
    assert np.array_equal(mine[a > 1], a[a > 1]) and f(mine, good) is mine


def test_ints_that_no_reduction_starts_from():
    a = np.arange(4, dtype=np.uint16)
    for name in ("sum", "max"):
        f = njit(program(f"def f(a, k): return np.{name}(a, initial=k)"))
        assert f(a, 2) == getattr(np, name)(a, initial=2)
        with pytest.raises(OverflowError):
            f(a, -1)


@pytest.mark.parametrize("source", ["a | b", "b ^ a", "a & b", "np.bitwise_xor(a, b)", "np.left_shift(a, b)", "np.gcd(b, a)"])
def test_bits_of_uint64_and_of_signed_ints(source):
    a = np.arange(3, dtype=np.uint64)
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        with pytest.raises(TypeError):
            compiled(source, "a, b")[1](a, np.arange(3).astype(dtype))
    check(source, [(a, np.arange(3).astype(d)) for d in (np.uint8, np.uint64, np.bool_)], arguments="a, b")


def test_floats_of_bools_beside_python_ints():
    for source in ("np.arctan2(a, k)", "np.hypot(a, 2)", "np.logaddexp(a, k)", "np.arctan2(a, a)", "np.arctan2(a, True)", "np.hypot(a, 0.5)"):
        check(source, [(M, 3)], False, "a, k")


# -- loops that are written for speed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool"])
def test_places_of_extremes_in_lines_of_many_blocks(name, dtype):
    rng = np.random.default_rng(3)
    plain, f = compiled(f"np.{name}(a)")
    for n in (1, 511, 512, 513, 1025, 3000):
        for a in (rng.integers(0, 2, n).astype(dtype), rng.integers(0, 50, 2 * n).astype(dtype)[::-2], np.sort(rng.integers(0, 99, n)).astype(dtype), np.zeros(n, dtype)):
            assert f(a) == plain(a), (n, a.strides)
        if dtype.startswith("float"):
            for places in ((n - 1,), (n // 2, n - 1), (0,)):
                a = rng.random(n).astype(dtype)
                a[list(places)] = np.nan
                assert f(a) == plain(a) == places[0]


@pytest.mark.parametrize("dtype, digits", [("float64", 2.3e-16), ("float32", 1.2e-7)])
def test_cubes_and_fourth_powers_are_products(dtype, digits):
    a = (np.random.default_rng(1).normal(size=1000) * 10).astype(dtype)
    a[:6] = 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-60 if dtype == "float64" else 1e-20
    for source in ("a ** 3", "a ** 4", "np.power(a, 3.0)"):
        plain, f = compiled(source)
        got, want = f(a), plain(a)
        assert got.dtype == dtype and np.array_equal(np.signbit(got[:4]), np.signbit(want[:4]))
        np.testing.assert_allclose(got, want, rtol=2 * digits)
        assert "pow" not in "".join(line for line in f.inspect_llvm(f.signatures[0]).splitlines() if "call" in line)
    for source in ("a ** 5", "a ** 2.5"):
        assert "pow" in "".join(line for line in (lambda f: f(a[6:]) is None or f.inspect_llvm(f.signatures[0]))(compiled(source)[1]).splitlines() if "call" in line)


@pytest.mark.parametrize("target", ["a[a > 1]", "a[...]", "a[1:3]", "a[np.array([0, 1])]"])
def test_a_complex_number_is_no_element_of_ints(target):
    space = {"np": np}
    exec(f"def f(a, x): {target} = x", space)
    with pytest.raises(errors.TypingError, match="cannot assign complex to an element of uint32"):
        njit(space["f"])(np.arange(5, dtype=np.uint32), 3 + 1j)


ONE = [np.array([0]), np.array([[2.0]]), np.array(3), np.array(["a"]), np.array([b""]), np.array([0j]), np.array([True]),
       np.array([np.datetime64(1, "s")]), np.arange(7.0)[3::9]]


@pytest.mark.parametrize("a", ONE, ids=[f"{a.dtype}{a.shape}" for a in ONE])
def test_the_truth_of_one_element(a):
    def ask(x):
        return bool(x), not x, 1 if x else 2, all([x]), any((x, x))

    assert njit(ask)(a) == ask(a)


def test_a_loop_over_arrays_of_one_element():
    def count(a, b):
        n = 0
        while a < b:
            a = a + 1
            n += 1
        return n

    assert njit(count)(np.array([1]), np.array([4])) == 3


@pytest.mark.parametrize("n", [0, 2, 5])
def test_the_truth_of_other_arrays_is_an_error(n):
    def ask(x):
        if x:
            return 1
        return 0

    with pytest.raises(ValueError) as of_numpy:
        ask(np.ones(n))
    with pytest.raises(ValueError) as compiled:
        njit(ask)(np.ones(n))
    assert str(compiled.value) == str(of_numpy.value)
