"""TRAPS section B: floats and complex numbers."""
import cmath
import itertools
import math
import struct
import sys

import numpy as np
import pytest

from quern import cuda, njit

NAN, INF = math.nan, math.inf


def bits(x):
    return struct.pack("d", x)


def same(a, b):
    """Equal, with signed zeros and NaNs told apart."""
    return (math.isnan(a) and math.isnan(b)) or bits(a) == bits(b)


def test_FLT_01_truth_of_nan():
    assert njit(lambda x: bool(x))(NAN) is True
    assert njit(lambda x: 1 if x else 0)(NAN) == 1
    assert njit(lambda x: 1 if x else 0)(-0.0) == 0


def test_FLT_02_minimum_with_nan():
    low, high = njit(lambda a, b: min(a, b)), njit(lambda a, b: max(a, b))
    for a, b in ((NAN, 1.0), (1.0, NAN), (NAN, NAN), (2.0, 1.0), (1.0, 2.0)):
        assert same(low(a, b), min(a, b)), (a, b)
        assert same(high(a, b), max(a, b)), (a, b)


def test_FLT_03_minimum_of_zeros():
    low, high = njit(lambda a, b: min(a, b)), njit(lambda a, b: max(a, b))
    for a, b in ((-0.0, 0.0), (0.0, -0.0)):
        assert same(low(a, b), a) and same(high(a, b), a)


def choices_beside_zero():
    """Every way to choose between x and a zero by an order of the two, once in a loop and once in a kernel."""
    chosen = [f"min({zero}, x)" for zero in ("0", "0.0", "-0.0")] + [f"max(x, {zero})" for zero in ("0", "0.0", "-0.0")]
    chosen += [f"max({zero}, x)" for zero in ("0", "0.0", "-0.0")] + [f"min(x, {zero})" for zero in ("0", "0.0", "-0.0")]
    for zero, order in itertools.product(("0.0", "-0.0"), ("<", "<=", ">", ">=")):
        for test in (f"x {order} {zero}", f"{zero} {order} x", f"not x {order} {zero}"):
            chosen += [f"x if {test} else {zero}", f"{zero} if {test} else x"]
    body = "".join(f"        out[{n}, i] = {choice}\n" for n, choice in enumerate(chosen))
    source = (
        f"def loop(a, out):\n    for i in range(a.size):\n        x = a[i]\n{body}"
        f"def kernel(a, out):\n    i = cuda.grid(1)\n    if i < a.size:\n        x = a[i]\n{body}"
    )
    names = {"cuda": cuda}
    exec(source, names)
    return chosen, names["loop"], names["kernel"]


@pytest.mark.parametrize("opt", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_FLT_03_choices_beside_zero(device, dtype, opt):
    chosen, loop, kernel = choices_beside_zero()
    a = np.array([0.0, -0.0, 1.0, -1.0, NAN, 5e-324, -5e-324], dtype)
    expected, found = np.zeros((2, len(chosen), a.size), dtype)
    loop(a, expected)
    cuda.jit(kernel, opt=opt)[1, 32](a, found)
    if device == "cpu" and opt:
        looped = np.zeros_like(found)
        njit(loop)(a, looped)
        assert looped.tobytes() == found.tobytes()
    for n, choice in enumerate(chosen):
        for x, e, f in zip(a, expected[n], found[n]):
            assert same(e, f), (choice, x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_FLT_03_choices_of_casts(dtype):
    """Compared in one width, chosen in another: the order of the comparison stays."""
    zeros = ("0.0", "-0.0", "np.float32(0.0)", "np.float64(-0.0)")
    chosen = []
    for zero, order, value in itertools.product(zeros, "<>", ("x", "np.float32(x)", "np.float64(x)", "np.float64(np.float32(x))")):
        for test in (f"x {order} 0.0", f"not x {order} {zero}", f"np.float64(x) {order} {zero}"):
            chosen += [f"{value} if {test} else {zero}", f"{zero} if {test} else {value}"]
    for start in range(0, len(chosen), 48):
        part = chosen[start : start + 48]
        names = {"np": np}
        exec("def choose(x):\n    return (" + ", ".join(part) + ")", names)
        compiled = njit(names["choose"])
        for x in (0.0, -0.0, 1.0, -1.0, NAN):
            for choice, e, f in zip(part, names["choose"](dtype(x)), compiled(dtype(x))):
                assert same(e, f), (choice, x)


def test_FLT_03_choices_of_returns():
    @njit
    def one(x):
        if x < 0.0:
            return 0.0
        return x

    @njit
    def two(x, n):
        if x > 0.0:
            return 0.0, n
        if n > 3:
            return x, n + 1
        return -0.0, 7

    @njit
    def in_loop(a):
        for v in a:
            if not v > 0.0:
                return v
        return 0.0

    for x in (0.0, -0.0, 1.0, -1.0):
        x = np.float32(x)
        assert same(one(x), one.py_func(x)) and same(in_loop(np.array([2.0, x], x.dtype)), in_loop.py_func(np.array([2.0, x], x.dtype)))
        for n in (1, 5):
            (a, k), (b, m) = two(x, n), two.py_func(x, n)
            assert same(a, b) and k == m


def test_FLT_05_isnan_under_fastmath():
    function = njit(fastmath=True)(lambda x: (math.isnan(x), math.isinf(x), math.isfinite(x)))
    assert function(NAN) == (True, False, False)
    assert function(INF) == (False, True, False)
    assert function(1.0) == (False, False, True)


def test_FLT_06_round():
    nearest = njit(lambda x: round(x))
    for x in (0.5, 1.5, 2.5, -0.5, 2.4, -2.6, 1e15 + 0.5):
        result = nearest(x)
        assert result == round(x) and isinstance(result, int)
    digits = njit(lambda x, n: round(x, n))
    for x, n in ((2.675, 2), (1e300, 2), (1.25, 1), (1234.5, -2), (-2.675, 2), (5e-324, 400)):
        assert same(digits(x, n), round(x, n)), (x, n)
    assert digits(15, -1) == 20 and digits(25, -1) == 20
    with pytest.raises(ValueError):
        nearest(NAN)
    with pytest.raises(OverflowError):
        nearest(INF)


def test_FLT_07_float_to_int():
    to_int, floor = njit(lambda x: int(x)), njit(lambda x: math.floor(x))
    ceil, nearest = njit(lambda x: math.ceil(x)), njit(lambda x: round(x))
    for x in (1.9, -1.9, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 5e-324, -5e-324, 2.0**52 - 0.5, 0.5 - 2.0**52, 2.0**62, 2.0**63 - 1024, -2.0**63):
        assert to_int(x) == int(x) and floor(x) == math.floor(x) and ceil(x) == math.ceil(x) and nearest(x) == round(x)
        short = np.float32(x)
        assert ceil(short) == min(math.ceil(float(short)), 2**63 - 1) and floor(short) == min(math.floor(float(short)), 2**63 - 1)
    for function in (to_int, floor, ceil, nearest, njit(lambda x: math.trunc(x))):
        for number in (float, np.float32):
            with pytest.raises(ValueError):
                function(number(NAN))
            with pytest.raises(OverflowError):
                function(number(INF))
            with pytest.raises(OverflowError):
                function(number(-INF))
        assert function(1e300) == 2**63 - 1 and function(-1e300) == -2**63
    assert to_int(1e300) == 2**63 - 1 and to_int(-1e300) == -2**63  # saturates


def test_FLT_07_store_saturates():
    @njit
    def store(a, x):
        a[0] = x

    a = np.zeros(1, np.int64)
    for x, expected in ((1e300, 2**63 - 1), (-1e300, -2**63), (NAN, 0), (2.9, 2)):
        store(a, x)
        assert a[0] == expected


def test_FLT_08_domain_errors_are_nan():
    assert math.isnan(njit(lambda x: math.sqrt(x))(-1.0))
    assert njit(lambda x: math.log(x))(0.0) == -INF
    assert njit(lambda x: math.exp(x))(1000.0) == INF


def test_FLT_10_floor_division():
    div, rem, both = njit(lambda a, b: a // b), njit(lambda a, b: a % b), njit(lambda a, b: divmod(a, b))
    values = [-7.5, 7.5, -0.0, 0.0, 0.1, 0.01, 1e308, -3.0, 2.0, INF, -INF, -1.0, 1.0, NAN, 5e-324]
    for a in values:
        for b in values:
            if b == 0:
                continue
            assert same(div(a, b), a // b), (a, b)
            assert same(rem(a, b), a % b), (a, b)
            assert same(both(a, b)[1], divmod(a, b)[1]), (a, b)


def plain_complex(name, a, b):
    """Products and quotients as in C without Annex G, in NumPy and in CPython before 3.14, which gives infinities where
    these give nan+nanj."""
    if name == "*":
        return complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)
    if abs(b.real) >= abs(b.imag):
        ratio = b.imag / b.real
        scale = b.real + b.imag * ratio
        return complex((a.real + a.imag * ratio) / scale, (a.imag - a.real * ratio) / scale)
    ratio = b.real / b.imag
    scale = b.real * ratio + b.imag
    return complex((a.real * ratio + a.imag) / scale, (a.imag * ratio - a.real) / scale)


def test_FLT_11_complex_arithmetic():
    values = [1 + 2j, -3.5 + 0.25j, 1e308 * (1 + 1j), 1e-308 + 1e-300j, complex(INF, 1), complex(-0.0, 0.0), 2j, 3 + 0j]
    for name, function in (("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b),
                           ("/", lambda a, b: a / b)):
        compiled = njit(function)
        for a in values:
            for b in values:
                if name == "/" and b == 0:
                    continue
                try:
                    expected = function(a, b)
                except OverflowError:
                    continue
                if sys.version_info >= (3, 14) and name in "*/" and not (cmath.isfinite(a) and cmath.isfinite(b)):
                    expected = plain_complex(name, a, b)
                result = compiled(a, b)
                for x, y in ((result.real, expected.real), (result.imag, expected.imag)):
                    assert same(x, y) or math.isclose(x, y, rel_tol=1e-15), (name, a, b, result, expected)
    with pytest.raises(ZeroDivisionError):
        njit(lambda a, b: a / b)(1 + 1j, 0j)


def test_FLT_11_a_real_operand_gets_a_zero_imaginary_part():
    """As in NumPy and in CPython before 3.14, which keeps it real: there the results are 2-0j and inf+2j."""
    assert same(njit(lambda x, z: x + z)(1.0, complex(1, -0.0)).imag, 0.0)
    product = njit(lambda z, x: z * x)(complex(INF, 1), 2.0)
    assert product.real == INF and math.isnan(product.imag)


def test_FLT_11_complex_parts():
    function = njit(lambda z: (z.real, z.imag, abs(z), z.conjugate(), -z, z == z, z != 1))
    assert function(3 - 4j) == (3.0, -4.0, 5.0, 3 + 4j, -3 + 4j, True, True)
    power = njit(lambda z, n: z**n)
    assert cmath.isclose(power(1 + 2j, 3), (1 + 2j) ** 3, rel_tol=1e-14)


def test_FLT_13_hypot():
    assert njit(lambda a, b: math.hypot(a, b))(INF, NAN) == INF


def test_FLT_14_float32_stays():
    a = np.array([0.1, 0.7], np.float32)
    out = np.zeros(1, np.float32)

    @njit
    def scaled(a, out):
        x = a[0] * 2.5 + 1
        out[0] = x
        return x

    expected = np.float32(a[0]) * np.float32(2.5) + np.float32(1)
    assert scaled(a, out) == float(expected) and out[0] == expected
    assert njit(lambda x: x + 0.2)(np.float32(0.1)) == float(np.float32(0.1) + np.float32(0.2))
    double = njit(weak_numbers=False)(lambda x: x + 0.2)
    assert double(np.float32(0.1)) == float(np.float32(0.1)) + 0.2


def test_FLT_14_weak_accumulator():
    @njit
    def total(a):
        s = 0.0
        for x in a:
            s += x
        return s

    a = np.full(1000, 0.1, np.float32)
    expected = 0.0
    for x in a:
        expected += float(x)
    assert total(a) == expected


def test_FLT_15_denormals():
    half = njit(lambda x: x * 0.5)
    assert half(5e-324) == 0.0 and njit(lambda x: x + 0)(1e-310) == 1e-310
    njit(fastmath=True)(lambda x: x * 0.5)(1.0)
    assert 1e-310 * 1.0 == 1e-310  # the thread's mode did not change


def test_FLT_16_no_contraction_on_the_cpu():
    function = njit(lambda a, b: a * b - a * b)
    rng = np.random.default_rng(2)
    for a, b in rng.random((100, 2)):
        assert function(a, b) == 0.0
    split = njit(lambda a, b, c: a * b + c)
    for a, b, c in rng.random((100, 3)):
        assert split(a, b, c) == a * b + c


ONE = ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh", "exp", "expm1", "log1p",
       "sqrt", "erf", "erfc", "gamma", "lgamma", "fabs", "degrees", "radians", "exp2", "cbrt", "log", "log2", "log10", "acosh"]


@pytest.mark.parametrize("name", [n for n in ONE if hasattr(math, n)])
def test_FLT_17_math_functions(name):
    """At most 4 ULP from the C library on scalars (we call the same functions)."""
    function = getattr(math, name)
    namespace = {"math": math}
    exec(f"def f(x): return math.{name}(x)", namespace)
    compiled = njit(namespace["f"])
    rng = np.random.default_rng(11)
    for x in np.concatenate([rng.uniform(-1, 1, 200), rng.uniform(0.001, 30, 200), [0.0, 0.5, 1.0]]):
        try:
            expected = function(x)
        except (ValueError, OverflowError):
            continue
        result = compiled(x)
        if name in ("gamma", "lgamma"):  # CPython computes these itself, the C library otherwise: both to about 1e-15,
            # relative for gamma, absolute for lgamma near its zeros at 1 and 2
            assert math.isclose(result, expected, rel_tol=4e-15, abs_tol=4e-15 if name == "lgamma" else 0), (x, result, expected)
            continue
        assert same(result, expected) or abs(result - expected) <= 4 * math.ulp(expected), (x, result, expected)


def test_FLT_17_math_of_two():
    checks = [("atan2", lambda a, b: math.atan2(a, b)), ("pow", lambda a, b: math.pow(a, b)),
              ("fmod", lambda a, b: math.fmod(a, b)), ("copysign", lambda a, b: math.copysign(a, b)),
              ("hypot", lambda a, b: math.hypot(a, b)), ("remainder", lambda a, b: math.remainder(a, b))]
    rng = np.random.default_rng(12)
    for name, function in checks:
        compiled = njit(function)
        for a, b in rng.uniform(0.1, 9, (100, 2)):
            assert math.isclose(compiled(a, b), function(a, b), rel_tol=1e-15), name
    assert njit(lambda a, b: math.gcd(a, b))(12, -18) == 6
    assert njit(lambda x: math.frexp(x))(6.5) == math.frexp(6.5)
    assert njit(lambda x: math.modf(x))(-6.25) == math.modf(-6.25)
    assert njit(lambda x, e: math.ldexp(x, e))(0.75, 5) == 24.0
    assert njit(lambda: math.pi + math.e + math.tau)() == math.pi + math.e + math.tau


def test_FLT_11_complex_powers_in_kernels(device):
    """In polar form on a GPU: a base of zero gives zero, one that is not a number does not."""
    @cuda.jit
    def power(base, exponent, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = base[i] ** exponent[i]

    bases = [complex(NAN, 1), complex(1, NAN), 0j, 0j, 1 + 2j, -3 + 0j, 2j, 0.5 - 1j]
    exponents = [2.5 + 1j, 3 + 0.5j, 2 + 0j, 0j, 2.5 + 0j, 1.5 - 1j, 0j, -2 + 0.25j]
    expected = []
    for b, e in zip(bases, exponents):
        expected.append(complex(NAN, NAN) if b != b else b ** e)
    out = np.zeros(len(bases), np.complex128)
    power[1, 8](np.array(bases), np.array(exponents), out)
    for got, want in zip(out, expected):
        assert (np.isnan(got.real) and np.isnan(want.real)) or abs(got - want) <= 1e-13 * max(abs(want), 1), (out, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lengths_neither_overflow_nor_lose_bits(dtype):
    """hypot and the absolute values of complex numbers, which are no calls on the host: against the C library's."""
    rng = np.random.default_rng(1)
    hypot, absolute = njit(lambda x, y: np.hypot(x, y)), njit(lambda z: np.abs(z))
    complex_type = np.result_type(dtype, np.complex64)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, 3, 4, np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max], dtype)
    pairs = [np.array([(a, b) for a in special for b in special]).T]
    for scale in ((0, -60, 60, -126) if dtype == "float32" else (0, 300, -300, -1000, -540, 500, 509, 510, 511)):
        for spread in (0, 3, 30, 60):
            pairs.append(rng.standard_normal((2, 3000)) * 2.0 ** np.array([[scale], [scale - spread]]))
    with np.errstate(all="ignore"):
        for x, y in pairs:
            x, y = x.astype(dtype), y.astype(dtype)
            want, z = np.hypot(x, y), np.empty(len(x), complex_type)
            z.real, z.imag = x, y
            for got in (hypot(x, y), absolute(z)):
                near = (got == want) | (np.isnan(got) & np.isnan(want)) | (abs(got - want) <= np.spacing(want))
                assert got.dtype == want.dtype and near.all(), (x[~near][:3], y[~near][:3])
                assert np.isinf(got).tolist() == np.isinf(want).tolist()
                assert (got != want).sum() <= len(x) // 100 + np.isnan(want).sum()
