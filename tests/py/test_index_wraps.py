"""Sums that wrap as indices: what was proven of one side of them says nothing of the number that they stand for (codegen/opt/bounds.c)."""
import numpy as np
import pytest
from quern import njit


def behind_one_that_wrapped(b, n, s):
    for i in range(0, n - 1):
        p = n - 1
        for j in range(s):
            b[0] = 7
            b[p - 1] = 7
        if i > 5:
            break


def above_the_greatest(b, n, s):
    for i in range(s):
        if n + 3 < len(b):
            b[0] = 7
            b[n + 3] = 8


def below_the_least(b, n, s):
    for i in range(s):
        if n - 3 >= 0:
            b[0] = 7
            b[n - 3] = 8


def outcome_of(function, b, n):
    try:
        return function(b, n, 3)
    except IndexError:
        return IndexError


@pytest.mark.parametrize("function", [behind_one_that_wrapped, above_the_greatest, below_the_least], ids=lambda f: f.__name__)
def test_INT_01_sums_that_wrapped_where_one_side_is_proven(function):
    """In Python they do not wrap, and the index is outside; the memory round the array must stay what it was."""
    compiled = njit(function)
    for n in [e + k for e in (-2**63, 2**63 - 1) for k in range(-5, 6) if -2**63 <= e + k < 2**63] + list(range(-5, 9)):
        memory, want = np.zeros(36, np.int64), np.zeros(36, np.int64)
        raised = outcome_of(compiled, memory[16:20], n)
        if abs(n) < 100:
            assert raised == outcome_of(function, want[16:20], n)
            assert (memory == want).all()
        assert not memory[:16].any() and not memory[20:].any(), n
