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
