"""Functions that call themselves with lists and return lists (issue 8, parts 2 and 6)."""
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit


@njit
def sorted_by_parts(xs):
    if len(xs) <= 1:
        return xs
    first = xs[0]
    return sorted_by_parts([x for x in xs[1:] if x < first]) + [first] + sorted_by_parts([x for x in xs[1:] if x >= first])


@njit
def merged(xs):
    if len(xs) < 2:
        return xs[:]
    a, b, out = merged(xs[: len(xs) // 2]), merged(xs[len(xs) // 2 :]), []
    while a and b:
        out.append((a if a[0] <= b[0] else b).pop(0))
    return out + a + b


@njit
def subsets(xs):
    if not xs:
        return [xs[:0]]
    rest = subsets(xs[1:])
    return rest + [[xs[0]] + s for s in rest]


@njit
def even_first(xs):
    return odd_next(xs[1:]) + [xs[0]] if xs else [0]


@njit
def odd_next(xs):
    return even_first(xs[1:]) + [-xs[0]] if xs else [1]


@pytest.mark.parametrize("function", [sorted_by_parts, merged, subsets, even_first])
def test_lists_from_calls_of_the_function_itself(function):
    for xs in ([5, 3, 8, 1, 9, 2], [4], [2, 1, 2]):
        assert function(list(xs)) == function.py_func(list(xs))


def test_recursion_through_generator_expressions():
    def chain(dims):
        memo = {}

        def cost(i, j):
            if i == j:
                return 0
            if (i, j) not in memo:
                memo[i, j] = min(cost(i, k) + cost(k + 1, j) + dims[i] * dims[k + 1] * dims[j + 1] for k in range(i, j))
            return memo[i, j]
        return cost(0, len(dims) - 2), memo

    def count(n):
        def below(i):
            return 1 if i == 0 else sum(below(k) + 1 for k in range(i))
        return below(n), max(below(k) for k in range(n))

    assert njit(chain)([10, 30, 5, 60, 20]) == chain([10, 30, 5, 60, 20])
    assert njit(count)(5) == count(5)
