"""int(x), math.floor(x) and round(x) of floats: one test tells int64 from the rest, which saturates or raises."""
import math

import numpy as np
import pytest

from quern import njit


def whole(x):
    return int(x)


def floored(x):
    return math.floor(x)


def rounded(x):
    return round(x)


@pytest.mark.parametrize("function", [whole, floored, rounded])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_FLT_07_ints_of_floats_at_the_ends_of_int64(function, kind):
    compiled_function = njit(function)
    ends = [kind(2.0**63), kind(-2.0**63), kind(2.0**62), kind(-2.0**62)]
    beside = [np.nextafter(x, kind(to)) for x in ends for to in (-np.inf, np.inf)]
    others = [kind(x) for x in (0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e30, -1e30, 5e-324, np.finfo(kind).max, np.finfo(kind).min)]
    for x in ends + beside + others:
        assert compiled_function(x) == min(max(function(float(x)), -2**63), 2**63 - 1), x
    for x, error in ((math.nan, ValueError), (math.inf, OverflowError), (-math.inf, OverflowError)):
        with pytest.raises(error, match="to integer"):
            compiled_function(kind(x))


def caught(a, x):
    total = 0
    try:
        for i in range(len(a)):
            total += int(a[i])
        total += int(x)
    except ValueError:
        total -= 1
    except OverflowError:
        total -= 2
    return total


def never_caught(x):
    try:
        whole = int(x)
    except ZeroDivisionError:
        whole = -1
    return whole


def test_EXC_int_of_a_float_in_try():
    compiled = njit(caught)
    for x in (2.5, -2.0**62, math.nan, math.inf):
        for end in (1.5, math.nan, -math.inf):
            a = np.array([3.5, -7.25, end])
            assert compiled(a, x) == caught(a, x)
    assert njit(never_caught)(-2.5) == -2


def again(a, out, unit):
    for i in range(len(a)):
        out[i, 0] = a[i] - unit * round(a[i] / unit)
        out[i, 1] = float(int(a[i]))
        out[i, 2] = math.floor(a[i]) * unit
        k = math.ceil(a[i])
        out[i, 3] = np.float32(k) + k * 0.5


def again_and_int(a, out, unit):
    for i in range(len(a)):
        k = int(a[i])
        out[i, 0] = a[i] - k
        out[i, 1] = float(k & 7)


@pytest.mark.parametrize("function", [again, again_and_int])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_FLT_floats_that_become_ints_and_floats_again(function, kind):
    ends = [s * x for x in (0.0, 0.25, 0.5, 0.75, 1.5, 2.5, 3.0, 1e9 + 0.5, 2.0**24 + 1, 2.0**53, 2.0**62) for s in (1, -1)]
    draws = np.random.default_rng(5).normal(size=200) * 10.0 ** np.arange(-4, 16).repeat(10)
    a = np.array(ends + list(draws), kind)
    out, expected = np.full((2, len(a), 4), 7.0)
    function(a, expected, 1.0)
    compiled = njit(function)
    compiled(a, out, 1.0)
    assert np.array_equal(out, expected)
    assert np.array_equal(np.signbit(out), np.signbit(expected))
    for x, error in ((math.nan, ValueError), (math.inf, OverflowError)):
        a[3] = x
        with pytest.raises(error, match="to integer"):
            compiled(a, out, 1.0)


def test_FLT_the_float_of_an_int_that_saturates():
    f = njit(lambda x: float(int(x)) + 0.0 * round(x))
    for x in (2.0**63, -2.0**63, 1e30, -1e30, np.nextafter(2.0**63, 0), np.nextafter(-2.0**63, 0)):
        assert f(x) == min(max(x, -2.0**63), 2.0**63)
