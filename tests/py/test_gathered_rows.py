"""Sums of elements that data index, without checks: rounds of short rows are done one at a time, of one long sum several."""
import re

import numpy as np
import pytest

from quern import njit


def rows(a, b, index, out):
    for i in range(index.shape[0]):
        s = 0.0
        for k in range(index.shape[1]):
            j = index[i, k]
            s += a[j] * b[j]
        out[i] = s


def rows_of_one_array(a, b, index, out):
    for i in range(index.shape[0]):
        s = 0.0
        for k in range(index.shape[1]):
            s += a[index[i, k]] * b[k]
        out[i] = s


def one_sum(a, b, index, out):
    s = 0.0
    for k in range(index.shape[1]):
        j = index[0, k]
        s += a[j] * b[j]
    out[0] = s


def arguments(width):
    r = np.random.default_rng(width)
    return r.random(40), r.random(50), r.integers(-40, 40, (7, width)), np.zeros(7)


@pytest.mark.parametrize("function, rolled", [(rows, True), (rows_of_one_array, False), (one_sum, False)])
def test_gathered_rows_are_not_unrolled(function, rolled):
    f = njit(boundscheck=False)(function)
    for width in (0, 1, 2, 7, 8, 9, 16, 31):
        a, b, index, out = arguments(width)
        expected = out.copy()
        function(a, b, index, expected)
        f(a, b, index, out)
        assert np.array_equal(out, expected), width
    products = len(re.findall(r"\bfmul\b", f.inspect_llvm(f.signatures[0])))
    assert (products <= 2) == rolled, products  # the copy for rows that are long has one of its own
