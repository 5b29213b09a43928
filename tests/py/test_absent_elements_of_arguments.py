"""None among the elements of lists and the values of dicts that are arguments (issue 8, part 2)."""
import copy

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, live, same  # noqa: F401
from quern import errors, njit


@njit
def total(xs):
    s = 0
    for x in xs:
        if x is not None:
            s += x
    return s, len(xs), None in xs, 3 in xs, xs.count(None), [x is None for x in xs]


@pytest.mark.parametrize("xs", [[1, None, 3], [None, 1], [None, 2.5], [1j, None], [None, True, False], [np.float32(1.5), None], [np.uint8(200), None]], ids=repr)
def test_numbers(xs):
    assert total(xs) == total.py_func(xs)


def test_many_and_none_at_all():
    assert total([1, 2, 3]) == total.py_func([1, 2, 3])
    assert total([None, 1] * 500) == total.py_func([None, 1] * 500)
    assert total([1, 2, 3]) == total.py_func([1, 2, 3])
    assert total([1.5, 2.5]) == total.py_func([1.5, 2.5])


@njit
def joined(words):
    return [w + "!" if w is not None else "-" for w in words], words


def test_text():
    same(joined, ["a", None, "\u65e5"])
    same(joined, [None, ""])
    same(njit(lambda xs: [x is None or len(x) > 1 for x in xs]), [b"ab", None, b""])
    words = ["a", None]
    assert joined(words)[1] is words and words == ["a", None]


def test_arrays():
    @njit
    def f(arrays):
        s = 0.0
        for a in arrays:
            if a is not None:
                s += a.sum()
                a[0] = 7.0
        return s, arrays[0]
    a, b = np.ones(3), np.arange(3.0)
    s, first = f([a, None, b])
    assert s == 6.0 and first is a and a[0] == 7.0 and b[0] == 7.0
    assert f([None, np.ones(2)])[1] is None


def test_times():
    f = njit(lambda xs: [x is None or x > np.datetime64("2020-01-02") for x in xs])
    assert f([np.datetime64("2020-01-01"), None, np.datetime64("2021-01-01")]) == [False, True, True]


@njit
def changed(xs, n):
    xs.append(None)
    xs.append(n)
    xs[0] = None
    xs[1] = n
    if len(xs) > 5:
        xs.pop()
        xs.reverse()
    return xs


@pytest.mark.parametrize("xs, n", [([1, None, 3], 5), ([1, None], 5), ([2.5, 1.5, None, 0.5], 4.0), (["a", "b", None], "c"), ([3, None, 1000, 4, None, 6], 1000)],
                         ids=repr)
def test_written_back(xs, n):
    same(changed, xs, n)


def test_elements_that_stay_are_the_same_objects():
    class Text(str):
        pass
    big, word, a = 10**6, "word" * 3, np.ones(2)
    for value in (big, word, a):
        xs = [value, None, value]
        njit(lambda xs, x: xs.append(x))(xs, value)
        assert len(xs) == 4 and xs[0] is value and xs[1] is None and xs[2] is value


@njit
def values(d):
    s = 0
    missing = []
    for k, v in d.items():
        if v is None:
            missing.append(k)
        else:
            s += v
    d["new"] = None
    d["one"] = 1
    return s, missing, d.get("a"), d.get("nope"), d


@pytest.mark.parametrize("d", [{"a": 1, "b": None}, {"b": None, "a": 3}, {"a": None, "b": 2, "c": None}], ids=repr)
def test_dicts(d):
    same(values, d)


def test_dict_of_arrays_and_text():
    f = njit(lambda d: [k for k in d if d[k] is None])
    assert f({"a": np.ones(2), "b": None}) == ["b"] and f({1: None, 2: "x"}) == [1]


def test_in_tuples_and_lists():
    f = njit(lambda pair, lists: (pair[0][1] is None, lists[1][0], [[x is None for x in xs] for xs in lists]))
    args = ([1, None], 2), [[1, None], [None, 4]]
    assert f(*copy.deepcopy(args)) == f.py_func(*args)


@pytest.mark.parametrize("xs, words", [([None, None], "at least one of them"), ([1, "a", None], "different types"), ([None, [1]], "numbers of one type"),
                                       ([None, (1, 2)], "numbers of one type"), ([1, None, np.int64(2)], ""), ({1: None}, "at least one of them"),
                                       ({1: None, 2: {1: 2}}, "numbers of one type"), ({None: 1}, "keys of dicts")], ids=repr)
def test_refused(xs, words):
    f = njit(lambda xs: len(xs))
    if not words:
        assert f(xs) == len(xs)
        return
    before = live()
    with pytest.raises(errors.TypingError, match=words):
        f(xs)
    assert live() == before


def test_each_allocation_fails():
    f = njit(lambda xs: [x for x in xs if x is not None])
    f(["a", None])
    assert each_allocation_fails(f, lambda: (["a", None, "b"],)) == ["a", "b"]


def test_times_that_may_be_None_are_asked_for():
    def f(c):
        x = None
        if c:
            x = np.datetime64("2020-01-01")
        return x is None or x > np.datetime64("2020-01-02"), x is not None, x == None, [x].count(None)  # noqa: E711
    for c in (True, False):
        assert njit(f)(c) == f(c)
