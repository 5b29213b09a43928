"""Lists, deques and dicts of values that may be None, against CPython."""
from collections import deque

import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected, outcomes  # noqa: F401

from quern import errors, njit


def none_first(n):
    xs = []
    xs.append(None)
    xs.append(n)
    return xs, [x is None for x in xs]


def display(n):
    xs = [n, None]
    xs.append(None)
    xs.append(5)
    xs[0] = None
    return xs


def value_at_run_time(n):
    xs = [1]
    for i in range(n):
        y = i if i % 2 else None
        xs.append(y)
        xs[0] = y
    return xs


def places(n):
    xs = [None] * n
    for i in range(0, n, 2):
        xs[i] = i
    s = 0
    for x in xs:
        if x is not None:
            s += x
    return xs, s


def nothing_but_none(n):
    return [None] * n, len([None, None])


def comprehension(n):
    return [i if i % 2 else None for i in range(n)], {i: (i * 0.5 if i % 2 else None) for i in range(n)}


def texts(n):
    xs = []
    for i in range(n):
        xs.append(str(i) if i % 2 else None)
    return xs


def tuples(n):
    xs = [None]
    for i in range(n):
        xs.append((i, 1.5))
    return xs


def lists(n):
    xs = [None]
    for i in range(n):
        xs.append([i] * i)
    return xs


def values_of_a_dict(n):
    d = {}
    for i in range(n):
        d[i] = None
    for i in range(0, n, 3):
        d[i] = i
    d.setdefault(n, None)
    d.setdefault(n + 1, 4)
    return d, d[0] is None


def value_of_a_dict_at_run_time(n):
    d = {0: 1}
    y = n if n % 2 else None
    d[1] = y
    return d


def methods(n):
    xs = [n, None]
    xs.insert(0, None)
    xs.extend([None, 2])
    ys = xs.copy()
    ys.reverse()
    ys.pop()
    return xs, ys, xs[1:], xs.count(None), None in xs


def queue(n):
    q = deque()
    for i in range(n):
        q.append(i if i % 2 else None)
        q.appendleft(None)
    q.popleft()
    return list(q)


@pytest.mark.parametrize("f", [none_first, display, value_at_run_time, places, nothing_but_none, comprehension, texts, tuples, lists, values_of_a_dict,
                               value_of_a_dict_at_run_time, methods, queue])
@pytest.mark.parametrize("n", [2, 5])
def test_beside_cpython(f, n):
    (got, _), (want, _) = outcomes(njit(f), n)
    assert got == want and repr(got) == repr(want)


def test_arrays_that_may_be_absent():
    def f(n):
        xs = [np.ones(n), None]
        xs.append(np.arange(3.0))
        s = 0.0
        for x in xs:
            if x is not None:
                s += x.sum()
        return s

    assert njit(f)(4) == f(4)


def test_a_list_of_numbers_that_python_holds_takes_no_none():
    @njit
    def f(xs):
        xs.append(None)

    with pytest.raises(errors.TypingError, match="cannot put into a list of int: none"):
        f([1])
