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


def one_operand(a):
    s = 0.0
    for u in np.nditer(a):
        s = s * 0.5 + u.item()
    return s


def two_operands(a, b):
    s = 0.0
    for u, v in np.nditer((a, b)):
        s = s * 0.5 + u.item() * 2 + v[()]
    return s


def three_operands(a, b, c):
    it = np.nditer((a, b, c))
    s = 0.0
    for u, v, w in it:
        s = s * 0.5 + u.item() * 2 + v[()] - w.item()
        break
    for u, v, w in it:
        s = s * 0.5 + u.item() * 2 + v[()] - w.item()
    return s


GRID = np.arange(12.0).reshape(3, 4)
OPERANDS = [GRID, np.asfortranarray(GRID), GRID[0], np.float32(7), np.array(3.0), np.arange(8)[::2], np.arange(24).reshape(6, 4)[::2]]


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return type(e)


@pytest.mark.parametrize("a", [*OPERANDS, GRID[:0], GRID[0, :3]])
def test_nditer_is_that_of_numpy(a):
    assert outcome(njit(one_operand), a) == outcome(one_operand, a)
    two, three = njit(two_operands), njit(three_operands)
    for b in [*OPERANDS, GRID[0, :3], GRID[0, :1]]:
        assert outcome(two, a, b) == outcome(two_operands, a, b)
        if getattr(a, "ndim", 0) and a.size:
            assert outcome(three, b, a, b) == outcome(three_operands, b, a, b)


def test_cells_of_nditer_cannot_be_written_to():
    @njit
    def f(a):
        for u in np.nditer(a):
            u[...] = 1

    with pytest.raises(Exception, match="cannot write to the read-only array"):
        f(GRID)


def set_by_number(a, k, v):
    a.flat[k] = v
    f = a.flat
    f[k - 1] = 2 * v
    return len(a.flat), f[k], next(f), a.copy()


@pytest.mark.parametrize("a", [GRID, GRID.T, np.arange(24.0).reshape(4, 6)[::2, ::-2]])
@pytest.mark.parametrize("k", [1, 5, -1, -4])
def test_flat_is_written_by_number(a, k):
    for got, expected in zip(njit(set_by_number)(a.copy("K"), k, 7.5), set_by_number(a.copy("K"), k, 7.5)):
        assert np.array_equal(got, expected)


@pytest.mark.parametrize("k", [12, -13, 1 << 40])
def test_flat_out_of_bounds(k):
    @njit
    def get(a, k):
        return a.flat[k]

    @njit
    def put(a, k):
        a.flat[k] = 1.0

    for f in (get, put):
        with pytest.raises(IndexError, match=f"index {k} is out of bounds for array with size 12"):
            f(GRID.copy(), k)
