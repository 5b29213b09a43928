"""Loops over enumerate(), zip() and reversed() of tuples whose items have no common type: each round has its types, as in CPython."""
import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected, outcomes  # noqa: F401

from quern import literal_unroll, njit


def numbered(a, s):
    text = ""
    for i, x in enumerate((a, 2.5, s)):
        text += str(i) + "=" + str(x) + ";"
    return text


def numbered_from(a, s):
    text = ""
    for i, x in enumerate((a, s, (a, s)), a):
        text += str(i) + str(x)
    return text


def numbered_by_keyword(a, s):
    t = (s, a, 1.5)
    text = ""
    for i, x in enumerate(t, start=10):
        if i == 11:
            continue
        text += str(i) + str(x)
    return text


def unrolled(a, s):
    text = ""
    for i, x in enumerate(literal_unroll((a, s, None))):
        text += str(i) + str(x)
    return text


def side_by_side(a, s):
    text = ""
    for x, y in zip((a, 2.5, s), (s, a, True)):
        text += str(x) + str(y)
    return text


def the_shortest_ends(a, s):
    n = 0
    for x, y, z in zip((a, s, 1.5), (a, a), (s, 2, 3, 4)):
        n += len(str(x) + str(y) + str(z))
    return n


def backwards(a, s):
    text = ""
    for x in reversed((a, 2.5, s)):
        text += str(x)
    return text


def within_each_other(a, s):
    text = ""
    for i, (x, y) in enumerate(zip((a, s), (1.5, a))):
        text += str(i) + str(x) + str(y)
    return text


def left_early(a, s):
    for i, x in enumerate((s, a, 2.5)):
        if i == a:
            break
    else:
        return "none", -1
    return str(x), i


def in_a_comprehension(a, s):
    return [str(i) + str(x) for i, x in enumerate((a, s))]


def lists_inside(a, s):
    n = 0
    for i, x in enumerate(([a, a], s, {a: s})):
        n += (i + 1) * len(x)
    return n


@pytest.mark.parametrize("f", [numbered, numbered_from, numbered_by_keyword, unrolled, side_by_side, the_shortest_ends, backwards, within_each_other, left_early,
                               in_a_comprehension, lists_inside])
@pytest.mark.parametrize("args", [(1, "x"), (7, "")])
def test_beside_cpython(f, args):
    got, want = outcomes(njit(f), *args)
    assert got == want


def test_arrays_of_several_dimensions():
    def f(t):
        s = 0.0
        for i, x in enumerate(t):
            s += (i + 1) * x.sum()
        for x, y in zip(t, (t[1], 2.0)):
            s += (x * y).sum()
        return s

    t = (np.ones(2), np.ones((3, 2)))
    assert njit(f)(t) == f(t)


def test_one_that_is_mixed_beside_something_else_is_refused():
    @njit
    def f(xs, t):
        for x, y in zip(xs, t):
            print(x, y)

    with pytest.raises(Exception, match="no common type"):
        f([1, 2], (1, "x"))
