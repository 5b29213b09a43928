"""Starred names and items: a, *b = xs and [*a, b], against CPython."""
import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected, outcomes  # noqa: F401

import quern
from quern import njit


def agrees(f, *args):
    (got, mine), (want, theirs) = outcomes(njit(f), *args)
    assert got == want and repr(got) == repr(want)
    assert repr(mine) == repr(theirs)


def first_and_rest(xs):
    a, *b = xs
    return a, b


def rest_and_last(xs):
    *a, b = xs
    return a, b


def both_ends(xs):
    a, *b, c = xs
    return a, b, c


def five(xs):
    a, b, *c, d, e = xs
    return a, b, c, d, e


@pytest.mark.parametrize("f", [first_and_rest, rest_and_last, both_ends, five])
@pytest.mark.parametrize("xs", [[1, 2, 3], [1, 2], [1, 2, 3, 4, 5, 6], [1.5], (1, 2, 3, 4), (1, 2), "héllo", "a", b"abcd", {1: 2, 3: 4}, {5},
                                [[1], [2, 3], []], [(1, "a"), (2, "b")], ["x", "yz"], [1 + 2j, 3j]], ids=repr)
def test_names_with_a_star(f, xs):
    if isinstance(xs, tuple) and len(xs) < (4 if f is five else 2):
        with pytest.raises(quern.TypingError, match="cannot unpack"):
            njit(f)(xs)
    else:
        agrees(f, xs)


def many(n):
    try:
        a, b = [n, 0, n + 1]
        return a + b
    except ValueError as e:
        return str(e)


def few(n):
    xs = [n, 0]
    r = 0
    for k in range(4):
        try:
            r += 1
            if k == n:
                a, b, c = xs
                r += a + b + c
        except ValueError:
            r += 10
    return r


def least(n):
    xs = [n, 0]
    a, *b, c, d = xs
    return a, b, c, d


def nested(n):
    return [a + b for a, b in [[n, 1], [n, 2, 3]]]


def one(n):
    a, = [n, n]
    return a


@pytest.mark.parametrize("f", [many, few, least, nested, one])
def test_a_display_of_another_length(f):
    """Which is found out when the program comes there, as of any list."""
    for n in range(3):
        agrees(f, n)


def test_too_few_items_of_something_empty():
    agrees(first_and_rest, [1][:0])
    agrees(both_ends, "")


def test_arrays_are_unpacked_along_their_first_axis():
    a, b = njit(first_and_rest)(np.arange(4.0))
    assert (a, b) == (0.0, [1.0, 2.0, 3.0]) and type(b) is list
    a, b = njit(rest_and_last)(np.arange(6).reshape(3, 2))
    assert [list(x) for x in a] == [[0, 1], [2, 3]] and list(b) == [4, 5]


def of_a_range(n):
    a, *b, c = range(n)
    return a, b, c


def of_a_generator(n):
    *a, b = (i * i for i in range(n))
    return a, b


def of_a_mixed_tuple(x, s):
    a, *b, c = (x, 2 * x, s)
    return a, b, c


def of_a_display(x, s):
    a, *b, c = s, x, 2 * x, x > 1
    d, *e = [x, 5]
    return a, b, c, d, e


def nested(n):
    a, (b, *c), *d = n, (2, n, 4), 5, 6
    return a, b, c, d


def in_a_loop(rows):
    s = 0
    for a, *b in rows:
        b.append(a)
        s += len(b) * a
    return s


def the_list_is_its_own(xs):
    a, *b = xs
    b.append(7)
    b[0] = -1
    return b, len(xs)


@pytest.mark.parametrize("f, args", [
    (of_a_range, (5,)), (of_a_range, (1,)), (of_a_generator, (5,)), (of_a_generator, (0,)), (of_a_mixed_tuple, (3, "x")), (of_a_display, (2.5, "t")),
    (nested, (1,)), (in_a_loop, ([(1, 2, 3), (4, 5, 6)],)), (the_list_is_its_own, ([1, 2, 3],))])
def test_where_the_items_come_from(f, args):
    agrees(f, *args)


def around(xs):
    return [*xs, 4, *xs]


def copied(xs):
    ys = [*xs]
    ys.append(1)
    return ys, xs


def many_kinds(xs, d, s):
    return [0, *xs, *range(3), *d, *(x * x for x in xs), *(7, 8)], [*s, "!"]


def sums(xs, n):
    return [*xs, *[i for i in range(n)], n if n > 2 else -n]


def floats(n):
    return [n, *(0.5, 1)]


def long_display(n):
    return [n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9, n + 10, n + 11, n + 12, n + 13, n + 14, n + 15, n + 16, n + 17, n + 18,
            n + 19, n + 20, n + 21, n + 22, n + 23, n + 24, n + 25, n + 26, n + 27, n + 28, n + 29, n + 30, n + 31, n + 32, n + 33]


def as_arguments(xs):
    return max([*xs, 3]) + sum([*xs, *xs]), [*xs, 0][1], len([*xs])


@pytest.mark.parametrize("f, args", [
    (around, ([1, 2],)), (around, ((1, 2),)), (around, ({1: 2},)), (copied, ([1, 2],)), (many_kinds, ([1, 2], {7: 8}, "ab")), (sums, ([1, 2], 3)),
    (sums, ([1, 2], 2)), (long_display, (3,)), (as_arguments, ([5, 6],))])
def test_displays_with_starred_items(f, args):
    agrees(f, *args)


def test_items_of_one_type():
    assert njit(floats)(2) == [2, 0.5, 1]


def test_nothing_to_begin_with():
    agrees(around, [1][:0])


def test_rows_by_a_star_stay_the_lists_that_they_are():
    @njit
    def f(n):
        rows = [[1, 2], [3, n]]
        kept = [*rows, [5]]
        kept[0].append(7)

        def taken(*lists):
            return lists
        return rows, kept, [*[[1], [2, n]]], (*[[n], [3]],), taken(*[[n, n], [4]]), [*[(1, 2), (3, n)]]
    for n in (0, 3):
        assert repr(f(n)) == repr(f.py_func(n))


def test_EXC_what_a_star_unpacks_may_raise_and_is_not_left_out():
    @njit
    def f(a):
        log = []

        def steps():
            log.append(1)
            yield a
            if a > 1:
                raise ValueError(a)
            log.append(2)
        try:
            ignored = [*steps(), 5]  # noqa: F841
            log.append(len([*steps()]))
        except ValueError as error:
            log.append(error.args[0] + 10)
        try:
            ignored = [*map(lambda q: 10 // q, [a, 0])]  # noqa: F841
        except ZeroDivisionError:
            log.append(3)
        return log
    for a in (1, 2):
        assert f(a) == f.py_func(a)


# -- keywords of a display -----------------------------------------------------------------------------------


def keyed(p, q=2, *, r=5):
    return p * 100 + q * 10 + r


def of_display(x):
    return keyed(**{"p": x}), keyed(x, **{"q": 7, "r": x}), keyed(q=1, **{"p": x}), keyed(x, **{}), keyed(*(x, 1), **{"r": 3})


def of_two(x):
    return keyed(**{"p": x}, **{"q": 3, "r": x + 1}), keyed(**{"p": 1}, q=x)


def of_ways(x):
    return keyed(x if x > 3 else 1, **{"q": 7 if x > 3 else 1, "r": x or 9}), keyed(**{"p": x and 2}, r=x if x else 4)


def of_calls(x):
    order = [0]

    def next_one():
        order.append(len(order))
        return len(order)
    return keyed(next_one(), **{"q": next_one()}, r=next_one()), order


def of_local(x):
    def inner(a, b=1):
        return a - b
    return inner(**{"b": x, "a": 2}), "{a} {b:>3}".format(**{"a": x, "b": x + 1})


def displays(x):
    return {**{"a": x, "b": 2}, "c": 3}, {**{"a": x}, **{"a": 5}}, {**{"a": x if x > 3 else 0}, "d": x or 1}, {**{}, **{"a": x}}


@pytest.mark.parametrize("f", [of_display, of_two, of_ways, of_calls, of_local, displays])
def test_keywords_of_a_display(f):
    for x in (0, 4):
        agrees(f, x)


def test_keywords_that_are_not_known():
    def twice(x):
        return keyed(p=1, **{"p": x})

    def variable(x):
        d = {"p": x}
        return keyed(**d)
    for f in (twice, variable):
        with pytest.raises(quern.UnsupportedError, match="by \\*\\*"):
            njit(f)(4)
