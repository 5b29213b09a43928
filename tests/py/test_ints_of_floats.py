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
