"""Displays of lists stay tuples where nobody can tell: a slice of one is a list, and an index that is not there an IndexError."""
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit


@pytest.mark.parametrize("source", ["[1, 2, n][::-1]", "[1, 2, 3][1:]", "[1, 2, n][:n]", "[[1, n], [2, 3]][1:]", "(1, [n, 2][:1])", "[n, 4][::-1] + [5]", "sum([1, n, 3][1:])", "['a', 'b'][::-1]"])
def test_a_slice_is_a_list(source):
    f = njit(eval(f"lambda n: {source}"))
    assert f(2) == f.py_func(2) and type(f(2)) is type(f.py_func(2))


def test_a_slice_in_a_loop():
    @njit
    def f(n):
        total = 0
        for x in [n, 2, 5][::-1]:
            total = total * 10 + x
        return total

    assert f(7) == 527


def test_a_constant_index_that_is_not_there():
    @njit
    def f(n):
        try:
            return [1, n][5]
        except IndexError:
            return -1

    assert f(3) == -1
    for source in ("[1, n][2]", "[1, n][-3]", "[[1], [n]][1][1]"):
        with pytest.raises(IndexError, match="list index out of range"):
            njit(eval(f"lambda n: {source}"))(4)


def test_a_display_as_an_argument_of_a_function_of_the_same_scope():
    def permutations(xs):
        out = []

        def go(rest, taken):
            if not rest:
                out.append(taken)
            for i in range(len(rest)):
                go(rest[:i] + rest[i + 1:], taken + [rest[i]])
        go(xs, [])
        return out
    assert njit(permutations)([3, 1, 2]) == permutations([3, 1, 2])
