"""Iteration over the elements and the indices of arrays."""
import numpy as np
import pytest

from quern import njit


@njit
def indices(a):
    out = np.zeros(a.shape, np.int64)
    k = 0
    for i, j in np.ndindex(a.shape):
        out[i, j] = 10 * i + j + k
        k += 100
    return out


@njit
def indices_of_lengths(n, m):
    total = 0
    for i, j in np.ndindex(n, m):
        total = total * 3 + 5 * i + j
    return total


@njit
def over_flat(a):
    s = 0.0
    for x in a.flat:
        s = s * 0.5 + x
    return s


@njit
def over_pairs(a, b):
    s = 0.0
    for x, y in zip(a.flat, b.flat):
        s += x * y
    return s


@njit
def numbered(a):
    s = 0.0
    for (i, j), x in np.ndenumerate(a):
        s += x * (i + 2 * j)
    return s


@njit
def by_number(a, k):
    return a.flat[k]


ARRAYS = [np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(4, 3).T, np.arange(24.0).reshape(4, 6)[::2, ::-2], np.zeros((0, 3)), np.zeros((2, 0))]


@pytest.mark.parametrize("a", ARRAYS)
def test_indices_and_elements(a):
    assert np.array_equal(indices(a), indices.py_func(a))
    assert over_flat(a) == over_flat.py_func(a)
    assert numbered(a) == numbered.py_func(a)
    assert over_pairs(a, a[::-1]) == over_pairs.py_func(a, a[::-1])


def test_indices_of_lengths():
    for n, m in ((3, 4), (0, 2), (1, 1)):
        assert indices_of_lengths(n, m) == indices_of_lengths.py_func(n, m)
    with pytest.raises(ValueError):
        indices_of_lengths(-1, 2)


@pytest.mark.parametrize("a", ARRAYS[:3])
def test_elements_by_number(a):
    for k in (0, 5, a.size - 1, -1, -a.size):
        assert by_number(a, k) == a.flat[k]
    for k in (a.size, -a.size - 1):
        with pytest.raises(IndexError):
            by_number(a, k)
