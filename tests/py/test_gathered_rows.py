"""Elements that data index, without checks: rounds of short rows are done one at a time, of one long sum or of all elements several."""
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


def counts_of_rows(indptr, indices, kind, count):
    for u in range(indptr.shape[0] - 1):
        for k in range(indptr[u], indptr[u + 1]):
            count[kind[indices[k]]] += 3


def counts_of_all(indptr, indices, kind, count):
    for u in range(indptr.shape[0] - 1):
        for k in range(indices.shape[0]):
            count[kind[indices[k]]] += 3


@pytest.mark.parametrize("function, rolled", [(counts_of_rows, True), (counts_of_all, False)])
def test_rows_that_begin_where_data_say_are_not_unrolled(function, rolled):
    f = njit(boundscheck=False)(function)
    r = np.random.default_rng(4)
    for most in (1, 2, 5, 40):
        indptr = np.concatenate([[0], np.cumsum(r.integers(0, most, 9))])
        indices, kind = r.integers(-11, 11, indptr[-1]), r.integers(-4, 4, 11)
        count, expected = np.zeros(4, np.int64), np.zeros(4, np.int64)
        function(indptr, indices, kind, expected)
        f(indptr, indices, kind, count)
        assert np.array_equal(count, expected), most
    updates = len(re.findall(r"\badd (?:nsw )?i64 %\d+, 3$", f.inspect_llvm(f.signatures[0]), re.M))
    assert (updates <= 2) == rolled, updates  # the copy for rows that are long has one of its own
