"""Tuples and what is taken apart into names: methods, unpacking, membership in ranges, Ellipsis, text; against CPython."""
from collections import namedtuple

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import errors, njit, typed

Point = namedtuple("Point", "x y")
Single = namedtuple("Single", "name")


def outcome(f, args):
    try:
        return f(*args)
    except Exception as e:
        return type(e), str(e).split(", got 3)")[0].rstrip(")")  # CPython 3.14 says how many there were too many


def plain(x):
    """NumPy's scalars come back as Python's."""
    if isinstance(x, tuple):
        return tuple(map(plain, x))
    return x.item() if isinstance(x, np.generic) else x


def check(f, cases):
    compiled = njit(f)
    for args in cases:
        expected, got = outcome(f, args), outcome(compiled, args)
        assert repr(plain(got)) == repr(plain(expected)), args


# -- methods --------------------------------------------------------------------------------------------------------------


def test_index_and_count():
    check(lambda t, x: (t.index(x), t.count(x)), [((1, 2, 3, 2), 2), ((1, 2.5, True), 1), (("a", "b", "b"), "b"), ((1, 2), 9), ((), 1), (Point(7, 8), 8),
                                                  ((np.float32(0.5), 1), 0.5), (((1, 2), (3, 4)), (3, 4))])
    check(lambda t, a: t.index(1, a), [((1, 2, 1), 1), ((1, 2, 1), -1), ((1, 2, 1), 3), ((1, 2, 1), -9)])
    check(lambda t, a, b: t.index(2, a, b), [((1, 2, 1), 0, 2), ((1, 2, 1), 0, 1), ((1, 2, 1), -2, -1), ((1, 2, 1), -1, 5)])


# -- unpacking ------------------------------------------------------------------------------------------------------------


def pair(x):
    a, b = x
    return b, a


def test_unpacking_of_what_has_positions():
    check(pair, [([1, 2],), ([1],), ([1, 2, 3],), ([np.ones(2), np.zeros(1)],), (["a", "bc"],), (np.arange(2),), (np.arange(3),), (np.ones((2, 3)),)])
    check(lambda n: pair(range(n)), [(2,), (1,), (3,), (0,)])
    check(lambda n: pair(range(n, 0, -3)), [(4,), (3,), (9,)])


def test_unpacking_of_what_is_gone_over():
    check(pair, [("ab",), ("a",), ("aéc",), (b"xy",), ({5: 1, 6: 2},), ({5: 1},)])
    check(lambda s: pair(s.split(",")), [("x,y",), ("x",), ("x,y,z",)])
    check(lambda d: pair(d.items()), [({1: 2.5, 3: 4.5},), ({1: 2.5},)])
    check(lambda n: pair(i * i for i in range(n)), [(2,), (1,), (5,)])
    check(lambda n: pair(enumerate((n, n))), [(2,)])
    check(lambda n: pair(map(float, (n, 3))), [(2,)])
    check(lambda n: pair(zip(range(n), "ab")), [(2,), (1,)])
    assert sorted(njit(pair)({8, 9})) == [8, 9]
    assert njit(pair)(typed.List([4, 5])) == (5, 4)


def test_no_more_is_asked_for_than_tells_that_there_are_too_many():
    def naturals():
        n = 0
        while True:
            yield n
            n += 1

    counting = njit(naturals)

    def first():
        a, b = counting()
        return a, b

    with pytest.raises(ValueError, match="too many values to unpack"):
        njit(first)()


def test_what_has_no_items_is_refused():
    with pytest.raises(errors.TypingError, match="cannot unpack int into 2 values"):
        njit(pair)(3)


# -- membership in ranges, Ellipsis -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [3, 3.0, 3.5, -1.0, np.float32(3), np.float16(2.5), float("nan"), float("inf"), 1e300, np.uint64(3), np.uint64(2**64 - 1), 3 + 0j, 3 + 1j,
                               True, np.bool_(False), "3", None, (3,), np.int8(-1)])
def test_anything_may_be_looked_for_in_a_range(x):
    check(lambda x, n: (x in range(n), x not in range(n), x in range(n, -n, -3), x in range(-1, n, 2)), [(x, 5), (x, 0)])


def test_there_is_one_ellipsis():
    check(lambda a: (a is ..., a is not ..., a == ..., a != ...), [(...,), (3,), (None,), ("x",)])
    check(lambda a, b: a is b, [(..., ...), (..., None)])


@pytest.mark.parametrize("last", [(...,), (None, ...), (max,), (np.sin, ...), ((1, np.cos),)], ids=str)
def test_MEM_objects_at_the_end_of_a_tuple_have_no_room_in_the_frame(last):
    """What is known by its type alone was written behind the tuple: over the owner of the array that stood there."""
    x = np.arange(6.0)

    def mix(items, a, more, b):
        kept = [items[0], a, b]
        return kept[0][1:], a[::2], b, kept[2] + 1, len(more)

    items = (x,) + last
    compiled = njit(mix)
    for _ in range(3):
        got = compiled(items, x + 1, last, x + 2)
        for one, other in zip(got, mix(items, x + 1, last, x + 2)):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("index", [(1, ...), (..., 1), (None, ...), (..., None), (slice(1, 2), ...)], ids=str)
def test_MEM_indices_that_end_in_an_ellipsis(index):
    a = np.arange(120).reshape(4, 5, 6)
    at = (np.array([1, 2, 1]),) + index
    np.testing.assert_array_equal(njit(lambda a, at: a[at])(a, at), a[at])


# -- text -------------------------------------------------------------------------------------------------------------------


def test_text_of_tuples_dicts_and_sets():
    text = [((1, 2.5),), ((),), ((1,),), (("it's", (True, None)),), (([1, 2], (3,)),), ({1: 2.5, 3: 1e300},), ({"a": (1, "b")},), ({4},), ([(1, 2)],),
            (Point(1, 2.5),), (Single("é"),), ((Point(1, 2), 3),), ({1: [2, 3]},)]
    check(lambda a: (str(a), repr(a), f"{a} {a!r:>40}"), text)
    check(lambda a: str(a - a), [({1},)])
    check(lambda a, b: "%s and %r" % (str(a), a), [((1, 2), 3)])


def test_printing_of_tuples(capsys):
    def show(t, d):
        print(t, d, (t, 1), sep="|")

    show((1, "a"), {2: 3.5})
    njit(show)((1, "a"), {2: 3.5})
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


# -- empty containers in tuples that meet ---------------------------------------------------------------------


def returned(n):
    if n < 3:
        return n, ["a", str(n)]
    return n, []


def in_dicts(n):
    return (n, {"a": n}) if n < 3 else (n, {})


def two_deep(n):
    t = 1, (n, [[2.5]])
    if n > 3:
        t = 2, (n + 1, [])
    if n > 6:
        t = 3, (n + 2, [[]])
    return t


def filled_later(n):
    t = 0, [], {0}
    for i in range(n):
        xs = []
        if i % 2:
            xs.append(i + 0.5)
            t = i, xs, {i}
        else:
            t = i, [], {i}
    return t


def of_conditions(n):
    return "x", [str(k) for k in range(n)] if n < 3 else [], n


def from_elsewhere(n):
    if n < 3:
        return n, (list(str(n)), 1)
    return n, ([], 2)


def not_in_a_tuple(n):
    if n > 3:
        return []
    return list(str(n) * n)


def in_a_variable(n):
    if n < 3:
        x = 1, list("abc")
    else:
        x = 1, []
    return x


@pytest.mark.parametrize("function", [returned, in_dicts, two_deep, filled_later, of_conditions, from_elsewhere, not_in_a_tuple, in_a_variable])
def test_empty_containers_in_tuples_are_what_the_others_are(function):
    compiled = njit(function)
    for n in (0, 1, 2, 4, 7, 8):
        assert compiled(n) == function(n)


def test_containers_in_tuples_that_meet_are_of_one_type():
    @njit
    def f(n):
        if n:
            return 1, [n]
        return 1, ["a"]
    with pytest.raises(errors.TypingError, match="cannot put into a list of int: str"):
        f(2)


# -- empty tuples in containers --------------------------------------------------------------------------------------

def test_TYP_empty_tuples_in_tuples_are_elements_and_keys():
    def f(n):
        d = {((), n): 2}
        d[((), n + 1)] = 3
        return [((), n)], d[((), n)], ((), n + 2) in d, {((), n)}, [(n, ((), "a"))]
    assert njit(f)(3) == f(3)


@pytest.mark.parametrize("f", [lambda: [()], lambda: {(): 1}, lambda: {1: ()}, lambda: {()}, lambda: {((), ()): 1}, lambda: [((), ())]])
def test_TYP_empty_tuples_alone_are_refused_in_containers(f):
    with pytest.raises(errors.UnsupportedError, match=r"a (list|dict|set) (of|with (keys|values) of) \(") as e:
        njit(f)()
    assert "internal" not in str(e.value)


@pytest.mark.parametrize("n", [3, 50])
def test_without_checks_an_index_outside_a_tuple_reads_no_other_memory(n):
    f, t = njit(boundscheck=False)(lambda t, i: t[i]), tuple(range(100, 100 + n))
    assert [f(t, i) for i in (0, n - 1, -1, -n)] == [100, 99 + n, 99 + n, 100]
    assert all(f(t, i) in t for i in (n, -n - 1, 10**12, -2**63, 2**63 - 1))
