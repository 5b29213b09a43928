"""References to arrays that compiled code made: each is freed when its last view is gone, none earlier, none later."""
import gc

import numpy as np
import pytest

from quern import _quern, njit


def counted(n):
    a = np.empty(n)
    for i in range(n):
        a[i] = i
    return a


def row_of_transpose(n):
    a = np.zeros((n, n + 1))
    a[2, 1] = 5
    return a.T[1]


def view_round_a_loop(n):
    a = counted(300)
    for i in range(n):
        a = a[1:]
    return a


def two_views(n):
    a = counted(300)
    if n > 3:
        b, c = a[1:], a[2:]
    else:
        b, c = a[3:], a[3:]
    return (b, c)


def one_of_two(n):
    a, b = two_views(n)
    return b


def kept_behind_the_view(n):
    a = counted(300)
    b = a[5:]
    total = 0.0
    for i in range(n):
        total += a[i]
        b = b[:-1] if i % 2 else b[1:]
    return b, total


def new_and_argument(n, x):
    return np.full(n, 2.0), (x, x[1:])


def twice(n):
    a = counted(300)
    return a, a


def raises_between(n):
    a = counted(300)
    b = a[1:]
    a[n * 60] = 1
    return b


def read(result):
    return [read(r) for r in result] if isinstance(result, tuple) else np.asarray(result).tolist()


@pytest.mark.parametrize("function", [row_of_transpose, view_round_a_loop, two_views, one_of_two, kept_behind_the_view,
                                      new_and_argument, twice, raises_between], ids=lambda f: f.__name__)
def test_references_are_given_back(function):
    compiled = njit(function)
    x = np.arange(3.0)
    extra = (x,) if function is new_and_argument else ()
    gc.collect()
    before = _quern.live_allocations()
    for n in (2, 3, 4, 5, 9):
        try:
            expected = read(function(n, *extra))
        except IndexError:
            with pytest.raises(IndexError):
                compiled(n, *extra)
            continue
        results = [compiled(n, *extra) for _ in range(3)]
        others = [np.full(k, 7.0) for k in range(280, 330)]  # memory freed too early would be used again
        assert all(read(r) == expected for r in results) and len(others) == 50
        del results
        gc.collect()
        assert _quern.live_allocations() == before
    assert _quern.live_allocations() == before
