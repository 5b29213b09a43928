"""What tests on the way to a place say there: of indices that walk over a board, of differences that divide; against CPython."""
import numpy as np
import pytest
from test_loop_rules import compiled, same


# -- what walks over a board, compared on both sides -------------------------------------------------


def run_of(board, y, x, dy, dx, height, width):
    n = 0
    y += dy
    x += dx
    while y >= 0 and y < height and x >= 0 and x < width and board[y, x] == 1:
        n += 1
        y += dy
        x += dx
    return n


def runs(board, out, height, width):
    for y in range(height):
        for x in range(width):
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if dy != 0 or dx != 0:
                        out[y, x] += run_of(board, y, x, dy, dx, height, width)


def above(board, y, dy, height):
    n = 0
    while y < height and n < 20:
        n += board[y, 0]
        y += dy
    return n


@pytest.mark.parametrize("height, width", [(6, 7), (1, 7), (6, 0), (7, 7), (6, 8), (8, 8)])
def test_walks_over_boards(height, width):
    """Into all directions; boards that are smaller than the program says raise where Python does."""
    rng = np.random.default_rng(height)
    for dense in (0.5, 1.0):
        board = (rng.random((6, 7)) < dense).astype(np.int8)
        same(runs, board, np.zeros((8, 8), int), height, width)


@pytest.mark.parametrize("step", [1, -1, 2, -2, 5, 2**62, -(2**62)])
@pytest.mark.parametrize("start", [0, 2, 5])
def test_walks_that_are_compared_on_one_side(start, step):
    """Below zero they count from the end, and raise beyond it."""
    same(above, np.arange(6, dtype=np.int8).reshape(6, 1), start, step, 6)
    same(above, np.arange(6, dtype=np.int8).reshape(6, 1), start, step, 4)


# -- differences of floats that were told apart ------------------------------------------------------


def crossings(a, out, level):
    for i in range(len(a) - 1):
        if (a[i] > level) != (a[i + 1] > level):
            out[i] = (level - a[i]) / (a[i + 1] - a[i])


def slopes(a, out, level):
    for i in range(len(a) - 1):
        if a[i] < a[i + 1]:
            out[i] = level / (a[i] - a[i + 1])
        elif not a[i] <= a[i + 1]:
            out[i] = level / (a[i + 1] - a[i])
        elif level == 7:
            out[i] = 1 / (a[i] - a[i + 1])


def written_between(a, out, level):
    for i in range(len(a) - 1):
        if a[i] != a[i + 1]:
            out[0] = level
            out[i] = 1.0 / (a[i] - a[i + 1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_differences_that_are_not_zero(dtype):
    """Also of what is too small for full precision, infinite or no number; where they are equal, or were made equal, it raises."""
    tiny = np.finfo(dtype).smallest_subnormal
    special = np.array([0.0, -0.0, tiny, -tiny, 2 * tiny, np.finfo(dtype).tiny, 1.0, np.nextafter(dtype(1), dtype(2)), np.inf, -np.inf, np.nan], dtype)
    a = np.array([x for y in special for z in special for x in (y, z)], dtype)
    with np.errstate(all="ignore"):
        for function in (crossings, slopes):
            for level in (0.0, -1.0, float(tiny), 1.0):
                out, expected = np.zeros(len(a)), np.zeros(len(a))
                compiled(function, False)(a, out, level)
                function(a, expected, level)
                assert np.array_equal(out, expected, equal_nan=True)
    for unchecked in (False, True):
        with pytest.raises(ZeroDivisionError):
            compiled(slopes, unchecked)(np.zeros(3, dtype), np.zeros(3), 7.0)
        both = np.array([3.0, 1.0, 2.0], dtype)
        with pytest.raises(ZeroDivisionError):
            compiled(written_between, unchecked)(both, both, 1.0)
