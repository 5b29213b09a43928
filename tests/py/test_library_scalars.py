"""The scalar functions of quern/library, run by CPython: they must agree with math, cmath and NumPy before they are
compiled. Needs no compiled code."""

import cmath
import fractions
import importlib
import importlib.util
import itertools
import math
import pathlib
import re
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "pymodule/quern/library"


def load(name):
    """A module of the folder in a package of its own: quern itself needs the extension."""
    if "plain_library" not in sys.modules:
        spec = importlib.util.spec_from_loader("plain_library", None, is_package=True)
        package = importlib.util.module_from_spec(spec)
        package.__path__ = [str(FOLDER)]
        sys.modules["plain_library"] = package
    return importlib.import_module(f"plain_library.{name}")


def exact_fma(x, y, z):
    """x * y + z, rounded once, for finite results."""
    return float(fractions.Fraction(float(x)) * fractions.Fraction(float(y)) + fractions.Fraction(float(z)))


if not hasattr(math, "fma"):  # before Python 3.13 it is compiled code only that has it
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(math, "fma", exact_fma, raising=False)
        load("builtins_")
MODULES = {name: load(name) for name in ("builtins_", "math_", "cmath_", "ufuncs")}
FLOATS = [pytest.param(np.float32, marks=pytest.mark.skipif((np.float32(1) * 2.0).dtype != np.float32, reason=
                       "before NumPy 2 a Python number widens a NumPy scalar: as plain Python these functions mean something else")),
          np.float64]
FUNCTIONS = {name: f for m in MODULES.values() for name, f in m.FUNCTIONS.items()}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-300, 5e-324, 1e300, math.pi, 1 + 2**-52, math.inf, -math.inf, math.nan]
FINITE = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-5, -3e5, math.pi, 1 + 1e-9, 1e-200, -1e200]


def close(a, b, digits=1e-13):
    if a != a or b != b:
        return a != a and b != b
    if math.isinf(a) or math.isinf(b) or a == b:
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return abs(a - b) <= digits * max(abs(a), abs(b))


def test_every_function_that_a_table_names_is_there():
    named = set()
    for table in (ROOT / "typeinfer/tables").glob("*.def"):
        named.update(re.findall(r'PY\("([\w.]+)"\)', table.read_text()))
    there = {name for file in FOLDER.glob("*.py") if file.stem != "__init__" for name in getattr(load(file.stem), "FUNCTIONS", ())}
    assert named and named <= there, sorted(named - there)
    # what no row names is found by the name that users call it by
    homes = ("builtins.", "math.", "cmath.", "numpy.", "ndarray.", "flatiter.", "list.", "dict.", "set.", "str.", "bytes.", "bytearray.", "deque.", "cuda.", "number.", "operator.", "ufunc.", "characters.",
             "exception.", "Generator.", "Counter.", "OrderedDict.", "defaultdict.", "frozenset.", "random.", "time.", "tuple.")
    assert all(name.startswith(homes) for name in there - named), sorted(there - named)


@pytest.mark.parametrize("name", ["degrees", "radians", "ulp"])
def test_math_of_floats(name):
    for x in SPECIAL:
        assert close(FUNCTIONS[f"math.{name}"](x), getattr(math, name)(x), 1e-15), x


def test_math_modf():
    for x in SPECIAL:
        ours, theirs = FUNCTIONS["math.modf"](x), math.modf(x)
        assert all(close(a, float(b), 0) for a, b in zip(map(float, ours), theirs)), x


def test_math_of_integers():
    numbers = [0, 1, 2, 6, 35, 64, 97, 10**9 + 7, 2**40, 2**62 - 1, 2**63 - 1]
    for a, b in itertools.product(numbers + [-n for n in numbers], repeat=2):
        assert FUNCTIONS["math.gcd"](a, b) == math.gcd(a, b)
        assert FUNCTIONS["math.lcm"](a, b) == math.lcm(a, b)
    for n in numbers + [k * k + d for k in (3, 1000, 3037000499, 2**31) for d in (-1, 0, 1)]:
        assert FUNCTIONS["math.isqrt"](n) == math.isqrt(n), n
    for n in range(12):
        assert FUNCTIONS["math.factorial"](n) == math.factorial(n)
        for k in range(14):
            assert FUNCTIONS["math.comb"](n, k) == math.comb(n, k)
            assert FUNCTIONS["math.perm"](n, k) == math.perm(n, k)
    for bad in (lambda: FUNCTIONS["math.factorial"](-1), lambda: FUNCTIONS["math.isqrt"](-1), lambda: FUNCTIONS["math.comb"](1, -1)):
        with pytest.raises(ValueError):
            bad()
    assert FUNCTIONS["math.prod"]((2, 3.5, 2)) == 14.0


def test_math_isclose():
    for a, b in itertools.product(SPECIAL + [1.0 + 1e-10], repeat=2):
        assert FUNCTIONS["math.isclose"](a, b) == math.isclose(a, b)
        assert FUNCTIONS["math.isclose"](a, b, 0.0, 0.6) == math.isclose(a, b, rel_tol=0.0, abs_tol=0.6)


def test_FLT_06_rounding():
    for x, n in itertools.product([15, 25, -15, -25, 14, 16, 0, 2**62, -(2**62) - 5, 5 * 10**17], [2, 0, -1, -2, -18]):
        assert FUNCTIONS["builtins.round_int"](x, n) == round(x, n), (x, n)
        assert FUNCTIONS["numpy.round_int"](np.int64(x), n) == round(x, n), (x, n)
    for x, n in itertools.product(FINITE + [123.456, 1e15], [0, 1, 2, -1, 5]):
        assert close(FUNCTIONS["builtins.round_float"](x, n), round(x, n), 1e-15), (x, n)
        if abs(x) < 1e100:
            assert FUNCTIONS["numpy.round_float"](x, n) == np.round(x, n), (x, n)


def test_builtins_of_sequences():
    for items in ((3, 1, 2), (1.0, math.nan, 0.5), (math.nan, 1.0), (-0.0, 0.0), (2,)):
        assert repr(FUNCTIONS["builtins.max"](items)) == repr(max(items))
        assert repr(FUNCTIONS["builtins.min"](items)) == repr(min(items))
        assert repr(FUNCTIONS["builtins.sum"](items[:1])) == repr(sum(items[:1]))
    for name in ("max", "min"):
        with pytest.raises(ValueError, match="empty"):
            FUNCTIONS[f"builtins.{name}"](())


def test_pow_of_three():
    for base, exponent, modulus in itertools.product([0, 1, -3, 7, 2**62 + 1, -(2**63)], [0, 1, 2, 65, 2**40 + 1], [1, 2, -5, 7, 2**63 - 1, -(2**62)]):
        assert FUNCTIONS["builtins.pow_mod"](base, exponent, modulus) == pow(base, exponent, modulus)
        if exponent and math.gcd(base, modulus) == 1:
            assert FUNCTIONS["builtins.pow_mod"](base, -exponent, modulus) == pow(base, -exponent, modulus)
    with pytest.raises(ValueError):
        FUNCTIONS["builtins.pow_mod"](2, 2, 0)
    with pytest.raises(ValueError, match="not invertible"):
        FUNCTIONS["builtins.pow_mod"](2, -1, 4)


# The constants near a branch cut, on it from both sides, and large and small arguments.
POINTS = [complex(a, b) for a, b in itertools.product(FINITE, repeat=2) if abs(a) < 1e100 and abs(b) < 1e100]
CMATH = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh phase polar".split()


@pytest.mark.parametrize("name", CMATH)
def test_FLT_11_cmath(name):
    for z in POINTS:
        try:
            theirs = getattr(cmath, name)(z)
        except (ValueError, OverflowError):
            continue  # a pole, or too large: compiled code gives inf or nan
        ours = FUNCTIONS[f"cmath.{name}"](z)
        pairs = zip(theirs, ours) if isinstance(theirs, tuple) else [(theirs, ours)]
        for a, b in pairs:
            scale = 1e-15 + 1e-11 * abs(a)
            assert abs(a - b) <= scale or close(abs(a), abs(b)), (z, a, b)
            for part in ("real", "imag"):  # the side of a branch cut is in the signs
                x, y = getattr(a, part), getattr(b, part)
                assert math.copysign(1, x) == math.copysign(1, y) or abs(x - y) < 1e-15, (z, a, b)


@pytest.mark.parametrize("name", CMATH)
def test_FLT_11_cmath_at_infinity(name):
    parts = (0.0, -0.0, 1.5, -2.0, math.inf, -math.inf)
    for z in (complex(a, b) for a, b in itertools.product(parts, repeat=2) if math.isinf(a) or math.isinf(b)):
        try:
            theirs = getattr(cmath, name)(z)
        except (ValueError, OverflowError):
            continue
        ours = FUNCTIONS[f"cmath.{name}"](z)
        pairs = zip(theirs, ours) if isinstance(theirs, tuple) else [(theirs, ours)]
        if name in ("cosh", "sinh", "tanh", "cos", "sin", "tan", "exp") and math.isinf(z.real) and math.isinf(z.imag):
            continue  # a sign that is not specified
        for a, b in pairs:
            assert close(a.real, b.real) and close(a.imag, b.imag), (z, theirs, ours)
            assert all(x != x or math.copysign(1, x) == math.copysign(1, y) for x, y in ((a.real, b.real), (a.imag, b.imag)))


def test_complex_power():
    for a, b in itertools.product(POINTS[::3], [0j, 1 + 0j, 2 + 0j, -3 + 0j, 0.5 + 0j, 1 + 1j, -0.25 + 2j]):
        try:
            theirs = a**b
        except (ZeroDivisionError, OverflowError) as error:
            if isinstance(error, ZeroDivisionError):
                with pytest.raises(ZeroDivisionError):
                    FUNCTIONS["operator.pow_complex"](a, b)
            continue
        ours = FUNCTIONS["operator.pow_complex"](a, b)
        assert abs(ours - theirs) <= 1e-11 * abs(theirs) + 1e-300, (a, b, ours, theirs)


@pytest.mark.parametrize("dtype", FLOATS)
def test_N15_ufuncs_of_one_float(dtype):
    names = "deg2rad rad2deg isneginf isposinf logical_not reciprocal sinc spacing square".split()
    with np.errstate(all="ignore"):
        for name, x in itertools.product(names, SPECIAL):
            ours, theirs = FUNCTIONS[f"numpy.{name}"](dtype(x)), getattr(np, name)(dtype(x))
            assert np.asarray(ours).dtype == np.asarray(theirs).dtype, name
            assert close(float(ours), float(theirs), 1e-6 if dtype is np.float32 else 1e-13), (name, x, ours, theirs)


@pytest.mark.parametrize("dtype", FLOATS)
def test_N15_ufuncs_of_two_floats(dtype):
    names = "heaviside logaddexp logaddexp2 logical_and logical_or logical_xor".split()
    with np.errstate(all="ignore"):
        for name, x, y in itertools.product(names, SPECIAL, SPECIAL):
            ours, theirs = FUNCTIONS[f"numpy.{name}"](dtype(x), dtype(y)), getattr(np, name)(dtype(x), dtype(y))
            assert np.asarray(ours).dtype == np.asarray(theirs).dtype, name
            assert close(float(ours), float(theirs), 1e-5 if dtype is np.float32 else 1e-13), (name, x, y, ours, theirs)


def test_N15_ufuncs_of_integers():
    for dtype in (np.int8, np.int64, np.uint64):
        for x in (dtype(1), dtype(2), dtype(5), dtype(100)):
            assert FUNCTIONS["numpy.reciprocal_int"](x) == np.reciprocal(x)
            assert FUNCTIONS["numpy.square"](dtype(9)).dtype == dtype
    for a, b in ((7, 2), (-7, 2), (7, -2)):
        assert FUNCTIONS["numpy.divmod"](a, b) == np.divmod(a, b)
    assert FUNCTIONS["numpy.clip"](5, 1, 3) == 3 and FUNCTIONS["numpy.clip"](-5, 1, 3) == 1
    assert FUNCTIONS["number.is_integer"](2.0) and not FUNCTIONS["number.is_integer"](math.inf)
    for z in (1 + 1j, -1 + 0j, -1 - 0j):
        assert FUNCTIONS["numpy.angle"](z) == np.angle(z)
