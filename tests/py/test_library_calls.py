"""Functions of the library in compiled code, against CPython: what is passed to run-time functions, results that do not
fit, special values, on both devices. Operands are run-time values."""
import cmath
import itertools
import math
import operator
import random

import numpy as np
import pytest

from quern import cuda, errors, njit

INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@njit
def rounded(x, n):
    return round(x, n)


@njit
def scaled(x, n):
    return math.ldexp(x, n)


def answer(f, *args):
    """Of `f`, or the class of its exception; what does not fit into 64 bits is an OverflowError."""
    try:
        return f(*args)
    except (ValueError, OverflowError) as error:
        return type(error)


# -- ints of every width reach run-time functions as what they are --------------------------------------------------


@pytest.mark.parametrize("dtype", INTS)
def test_N05_digits_of_every_int_type(dtype):
    for n in (0, 2, 100) + (() if np.iinfo(dtype).min == 0 else (-1, -2, -100)):
        for x in (12345.678, -0.05, 95.0, 12345, -15):
            assert repr(rounded(x, dtype(n))) == repr(round(x, n)), (x, n)
        assert rounded(np.float32(12345.678), dtype(n)) == float(np.float32(round(float(np.float32(12345.678)), n)))


def test_N05_digits_beyond_int64():
    assert rounded(0.1, np.uint64(2**64 - 1)) == 0.1
    assert rounded(0.1, True) == 0.1 and rounded(15.25, False) == 15.0


@pytest.mark.parametrize("dtype", INTS)
def test_N05_ldexp_of_every_int_type(dtype):
    for n in (0, 3, 100) + (() if np.iinfo(dtype).min == 0 else (-1, -128)):
        assert scaled(3.0, dtype(n)) == math.ldexp(3.0, n)


@cuda.jit
def round_all(x, n, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = round(x[i], n[i])


def near_ties(dtype, count, digits):
    """Numbers whose rounding is hard, and how many digits to keep."""
    source = random.Random(12)
    for _ in range(count):
        n, way = source.randrange(-digits, digits + 10), source.randrange(4)
        if way == 0:
            size = np.dtype(dtype).itemsize
            x = np.frombuffer(source.getrandbits(8 * size).to_bytes(size, "little"), dtype)[0]
        elif way == 1:
            x, n = source.randrange(-(10**6), 10**6) * 10.0 ** -source.randrange(8), source.randrange(-7, 9)
        elif way == 2:
            x = (source.randrange(-2000, 2000) + 0.5) * 10.0**-n
        else:
            x, n = source.randrange(-(2**20), 2**20) / 2 ** source.randrange(25), source.randrange(-7, 26)
        yield x, n


@pytest.mark.parametrize("dtype, digits", [(np.float32, 36), (np.float64, 60)])
def test_N12_round_of_floats_is_that_of_cpython_on_every_device(device, dtype, digits):
    def exactly(x, n):
        if not np.isfinite(x):
            return x
        try:
            return dtype(round(float(x), int(n)))
        except OverflowError:
            return dtype(math.copysign(math.inf, x))

    with np.errstate(all="ignore"):
        rows = list(near_ties(dtype, 4000, digits))
        x, n = np.array([r[0] for r in rows], dtype), np.array([r[1] for r in rows], np.int16)
        want = np.array([exactly(a, b) for a, b in zip(x, n)], dtype)
    out = np.zeros_like(x)
    round_all[len(x) // 64 + 1, 64](x, n, out)
    same = (out == want) & (np.signbit(out) == np.signbit(want)) | np.isnan(out) & np.isnan(want)
    assert same.all(), [(x[i], n[i], out[i], want[i]) for i in np.flatnonzero(~same)[:5]]


# -- cmath at infinities, NaN and signed zeros -------------------------------------------------------------------------

PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.3, 1e-300, -1e300, 5e-324, 709.9, -710.2, math.inf, -math.inf, math.nan]
POINTS = [complex(a, b) for a in PARTS for b in PARTS]
CMATH = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split()


def same_part(a, b, digits):
    """Equal up to rounding, signs of zeros and infinities included."""
    if a != a or b != b:
        return a != a and b != b
    if a == b:
        return math.copysign(1, a) == math.copysign(1, b)
    return not math.isinf(a) and not math.isinf(b) and abs(a - b) <= digits * max(abs(a), abs(b)) + 1e-300


def same_complex(a, b, digits=1e-11):
    return same_part(a.real, b.real, digits) and same_part(a.imag, b.imag, digits)


def compiled(source, *names):
    space = {"cmath": cmath}
    exec(f"def f({', '.join(names)}): return {source}", space)
    return space["f"], njit(space["f"])


@pytest.mark.parametrize("name", CMATH + ["phase", "polar", "isfinite", "isinf", "isnan"])
def test_N12_cmath_of_special_values(name):
    python, f = compiled(f"cmath.{name}(z)", "z")
    for z in POINTS:
        want = answer(python, z)
        if want not in (ValueError, OverflowError):  # there compiled code gives nan or inf
            got = f(z)
            pairs = zip(got, want) if isinstance(want, tuple) else [(got, want)]
            assert all(same_complex(a, b) for a, b in pairs), (z, got, want)


@pytest.mark.parametrize("source, numbers", [("cmath.rect(a, b)", PARTS), ("cmath.log(a, b)", POINTS[::7])])
def test_N12_cmath_of_two_special_values(source, numbers):
    python, f = compiled(source, "a", "b")
    for a, b in itertools.product(numbers, repeat=2):
        try:
            want = python(a, b)
        except (ValueError, OverflowError, ZeroDivisionError):
            continue
        assert same_complex(f(a, b), want), (a, b, f(a, b), want)


@pytest.mark.parametrize("name", CMATH)
def test_N12_cmath_in_kernels(device, name):
    python, function = compiled(f"cmath.{name}(z)", "z")

    @cuda.jit
    def kernel(z, out):
        i = cuda.grid(1)
        if i < z.shape[0]:
            out[i] = function(z[i])

    z = np.array(POINTS)
    out = np.zeros_like(z)
    try:
        kernel[len(z) // 64 + 1, 64](z, out)
    except Exception as error:
        if device == "cuda" and "libdevice.10.bc" in str(error):
            pytest.skip("libdevice is not installed on this machine")
        raise
    for point, got in zip(POINTS, out.tolist()):
        want = answer(python, point)
        assert want in (ValueError, OverflowError) or same_complex(got, want), (point, got, want)


# -- numbers of ways: exact, or an OverflowError ----------------------------------------------------------------------


@njit
def factorial(n):
    return math.factorial(n)


@njit
def comb(n, k):
    return math.comb(n, k)


@njit
def perm(n, k):
    return math.perm(n, k)


@njit
def perm_of_all(n):
    return math.perm(n)


def fitting(f, *args, limit=2**63 - 1):
    result = answer(f, *[int(a) for a in args])
    return OverflowError if isinstance(result, int) and result > limit else result


@pytest.mark.parametrize("n", [-1, 0, 1, 5, 19, 20, 21, 22, 66, 2**40, 2**63 - 1])
def test_N10_factorials_that_do_not_fit(n):
    want = ValueError if n < 0 else math.factorial(n) if n <= 20 else OverflowError
    assert answer(factorial, n) == want and answer(perm_of_all, n) == want


def test_N10_combinations_and_permutations_that_do_not_fit():
    for n in (0, 1, 20, 21, 30, 61, 62, 66, 67, 68, 10**6, 2**62, 2**63 - 1, -1):
        for k in [*range(-1, 40), n, n - 1, n - 2, n // 2]:
            if k < 100 or n - k < 100:
                assert answer(comb, n, k) == fitting(math.comb, n, min(k, n - k) if 0 <= k <= n else k), (n, k)
            if k < 100:
                assert answer(perm, n, k) == fitting(math.perm, n, k), (n, k)


@pytest.mark.parametrize("dtype", INTS)
def test_N10_numbers_of_ways_of_every_int_type(dtype):
    limit = 2**64 - 1 if dtype == np.uint64 else 2**63 - 1
    for n in (3, 20, 62, 67, 68, 120):
        for k in (0, 1, 2, 10, 16, 31, 33, 34, 60):
            for f, g in ((comb, math.comb), (perm, math.perm)):
                got, want = answer(f, dtype(n), dtype(k)), fitting(g, n, k, limit=limit)
                assert got == want or got == fitting(g, n, k, limit=2**64 - 1), (f, n, k)


# -- what stands in the reference is there ----------------------------------------------------------------------------


def test_R09_matrix_products_of_numbers_are_refused_with_their_place():
    def by_operator(a, b):
        return a @ b

    def by_name(a, b):
        return operator.matmul(a, b)

    for f in (by_operator, by_name):
        assert np.array_equal(njit(f)(np.ones((2, 2)), np.ones((2, 2))), np.full((2, 2), 2.0))
        with pytest.raises(errors.TypingError, match="matrix-multiply|operator.matmul"):
            njit(f)(np.ones((2, 2)), 2.0)


def test_in_range_is_true_up_to_its_ends():
    inside = njit(lambda x, a, b, c: x in range(a, b, c))
    for start, stop, step in ((0, 5, 1), (2, 11, 3), (5, 0, -1), (9, -2, -4), (3, 3, 1)):
        for x in range(-4, 14):
            assert inside(x, start, stop, step) == (x in range(start, stop, step)), (x, start, stop, step)
    steps_of_one = njit(lambda x, a, b: x in range(a, b))
    assert [steps_of_one(x, 2, 5) for x in (1, 2, 4, 5)] == [False, True, True, False]


def test_kinds_of_dtypes_are_numpys_letters():
    is_u, is_i = njit(lambda a: a.dtype.kind == "u"), njit(lambda a: a.dtype.kind == "i")
    is_f, is_c, is_b = njit(lambda a: a.dtype.kind == "f"), njit(lambda a: a.dtype.kind == "c"), njit(lambda a: a.dtype.kind == "b")
    for dtype in ("bool", "int8", "int64", "uint8", "uint64", "float32", "float64", "complex64"):
        a = np.zeros(1, dtype)
        assert [f(a) for f in (is_b, is_i, is_u, is_f, is_c)] == [a.dtype.kind == letter for letter in "biufc"], dtype


def test_functions_of_the_module_operator_in_place():
    assert njit(lambda a, b: operator.iadd(a, b))(3, 4) == 7
    assert njit(lambda a, b: operator.isub(a, b))(3, 4) == -1
    assert (njit(lambda a, b: operator.imul(a, b))(np.arange(3.0), 2.0) == [0.0, 2.0, 4.0]).all()


def test_a_shape_is_of_ints():
    with pytest.raises(errors.TypingError):
        njit(lambda n: np.empty((2, n)))(2.5)


@pytest.mark.parametrize("name,units", [("log", 4), ("log10", 1), ("tan", 1), ("tanh", 1)])
def test_logarithms_and_tangents_of_complex64_keep_their_digits(device, name, units):
    """Beside |z| == 1 the logarithm is small: its digits are those of |z| - 1."""
    function = getattr(cmath, name)

    @cuda.jit
    def kernel(out, a):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = function(a[i])

    rng = np.random.default_rng(1)
    around = np.exp(1j * rng.uniform(-3, 3, 500)) * (1 + rng.uniform(-1e-3, 1e-3, 500))
    z = np.concatenate([rng.uniform(-3, 3, 500) + 1j * rng.uniform(-3, 3, 500), around, 100 * around]).astype(np.complex64)
    if name in ("tan", "tanh"):
        z = z[:1000]
    out, want = np.zeros_like(z), np.array([function(complex(x)) for x in z])
    kernel[(z.size + 63) // 64, 64](out, z)
    for got, exact in ((out.real, want.real), (out.imag, want.imag)):
        assert (np.abs(got - exact) <= units * np.spacing(np.abs(exact).astype(np.float32))).all()


def test_N11_fsum():
    f = njit(lambda xs: math.fsum(xs))
    rng = random.Random(5)
    for t in range(400):
        xs = [rng.choice([1, -1]) * rng.random() * 10.0 ** rng.randint(-300, 300 if t % 2 else 20) for _ in range(rng.randint(1, 40))]
        if t % 3 == 0:
            xs += [-x for x in xs]
            rng.shuffle(xs)
        assert f(xs) == math.fsum(xs), xs
    for xs in ([0.1] * 10, [1e308, 1.0, -1e308], (1, 2.5), np.arange(4), [math.inf, 1.0], [1e16, 1.0, 1e-16], [2.0**53, 1.0, 2.0**-60]):
        assert f(xs) == math.fsum(xs)
    assert math.isnan(f([math.nan, 1.0])) and f(np.zeros(0)) == 0.0
    with pytest.raises(OverflowError, match="intermediate overflow"):
        f([1e308, 1e308])
    with pytest.raises(ValueError, match="-inf"):
        f([math.inf, -math.inf])
