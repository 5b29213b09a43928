"""NumPy functions of scalars, compiled: NumPy itself is the oracle, for values and for types of results."""
import itertools
import math

import numpy as np
import pytest

from quern import njit

PARTS = (0.0, -0.0, 0.3, -1.5, 40.0, 1e-12)
COMPLEX = ("arccos arccosh arcsin arcsinh arctan arctanh cos cosh exp exp2 expm1 log log10 log1p log2 sin sinh sqrt tan "
           "tanh").split()


def of_one(name):
    return njit(eval(f"lambda x: np.{name}(x)", {"np": np}))


def of_two(name):
    return njit(eval(f"lambda x, y: np.{name}(x, y)", {"np": np}))


def result_type(f):
    return str(f.nopython_signatures[-1]).split("-> ")[1]


@pytest.mark.parametrize("dtype, digits", [(np.complex64, 2e-5), (np.complex128, 1e-12)])
@pytest.mark.parametrize("name", COMPLEX)
def test_N15_complex_functions(name, dtype, digits):
    f, oracle = of_one(name), getattr(np, name)
    for z in (dtype(complex(a, b)) for a, b in itertools.product(PARTS, repeat=2)):
        with np.errstate(all="ignore"):
            ours, theirs = f(z), oracle(z)
        if np.isfinite(theirs):
            assert abs(ours - theirs) <= digits * max(abs(theirs), abs(z) if abs(z) < 1e-3 else 1e-3), (z, ours, theirs)
            assert theirs.imag == 0 or math.copysign(1, ours.imag) == math.copysign(1, theirs.imag), (z, ours, theirs)
        else:
            assert not np.isfinite(ours), (z, ours, theirs)
    assert result_type(f) == np.dtype(dtype).name


def test_N15_a_wave():
    @njit
    def transform(x):
        out = np.zeros(len(x), np.complex128)
        for k in range(len(x)):
            for n in range(len(x)):
                out[k] += x[n] * np.exp(-2j * np.pi * k * n / len(x))
        return out

    x = np.random.default_rng(3).normal(size=16)
    assert np.allclose(transform(x), np.fft.fft(x), atol=1e-12)


def test_N15_complex_powers_do_not_raise():
    f = of_two("power")
    for a, b in itertools.product((0j, 1 + 2j, -2 + 0j), (0j, 2 + 0j, -1 + 0j, 1j, -2j, 1.5 - 3j)):
        with np.errstate(all="ignore"):
            ours, theirs = f(a, b), np.power(np.complex128(a), b)
        assert ours == theirs or abs(ours - theirs) <= 1e-14 * abs(theirs) or np.isnan(theirs) and np.isnan(ours), (a, b)


@pytest.mark.parametrize("kind", ["int8", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2", "heaviside", "arctan2", "hypot", "copysign", "fmax"])
def test_N15_integers_become_floats_first(name, kind):
    f, numbers, dtype = of_two(name), (0, 1, 2, 5, 7, 100), np.dtype(kind).type
    for a, b in itertools.product(numbers + ((-1, -100) if kind[0] == "i" else ()), repeat=2):
        theirs = getattr(np, name)(np.float64(a), np.float64(b))
        assert math.isclose(f(dtype(a), dtype(b)), theirs, rel_tol=1e-14, abs_tol=1e-300), (a, b)
    assert result_type(f) == (kind if name == "fmax" else "float64")


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_N15_results_keep_narrow_types(name, kind):
    f, oracle, dtype, limits = of_two(name), getattr(np, name), np.dtype(kind).type, np.iinfo(kind)
    numbers = sorted({0, 1, 2, 6, 9, 100, limits.max, limits.max - 1, limits.min, limits.min + 1})
    for a, b in itertools.product(map(dtype, numbers), repeat=2):
        ours = f(a, b)
        if name == "gcd" or abs(int(a) * int(b)) <= limits.max:
            assert ours == oracle(a, b), (a, b)
        else:  # wraps, as the product of the mathematical values would
            assert (ours - math.lcm(int(a), int(b))) % 2**(8 * a.itemsize) == 0, (a, b)
    assert result_type(f) == kind
