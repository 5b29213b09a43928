"""Values that may be None: compared with == and != as in Python, lists and other containers of which methods are called, displays that
meet None or a display of another length."""
import dataclasses
import copy

import numpy as np
import pytest

from quern import errors, njit, types


def same(function, *args):
    want, got = function(*copy.deepcopy(args)), njit(function)(*copy.deepcopy(args))
    assert got == want and repr(got) == repr(want), (got, want)


# -- comparisons --------------------------------------------------------------------------------------------------

VALUES = [3, 2.5, 1j, True, "text", b"bytes", (1, 2.5), (1, ("a", 2)), [1, 2], ["a", "b"], {1: 2.5}, {"a": [1]}, {1, 2}]


def one_side(absent, x, y):
    a = None if absent else x
    return a == y, a != y, y == a, y != a


def both_sides(first, second, x, y):
    a = None if first else x
    b = None if second else y
    return a == b, a != b


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_TYP_optional_values_are_equal_to_what_is_equal(value):
    other = copy.deepcopy(value)
    for absent in (False, True):
        same(one_side, absent, value, other)
        for second in (False, True):
            same(both_sides, absent, second, value, other)


@pytest.mark.parametrize("x, y", [(3, 4), (3, 3.0), ("a", "b"), ("a", 3), ((1, 2), (1, 3)), ((1, 2), (1, 2, 3)), ([1], [2]), ([1], (1,)),
                                  ({1: 2}, {1: 3}), ({1}, {2}), (b"a", "a"), (True, 1)], ids=repr)
def test_TYP_optional_values_and_others(x, y):
    for absent in (False, True):
        same(one_side, absent, x, y)
        for second in (False, True):
            same(both_sides, absent, second, x, y)


def test_TYP_equality_in_tuples_and_conditions():
    def f(absent, n):
        a = None if absent else n
        found = 0
        if (a, 1) == (n, 1):
            found += 1
        if a in (7, 8, n):
            found += 2
        while a != n and found < 10:
            found += 5
        return found

    for absent in (False, True):
        same(f, absent, 3)


def test_TYP_order_needs_values():
    def f(absent, n):
        a = None if absent else n
        return a < n + 1

    same(f, False, 3)
    with pytest.raises(TypeError, match="None is used where a value is needed"):
        njit(f)(True, 3)


# -- methods ------------------------------------------------------------------------------------------------------


def of_argument(absent, xs):
    ys = None if absent else xs
    if ys is None:
        return 0
    ys.append(3)
    return ys.pop(0) + len(ys) + ys.count(3)


def of_display(absent, n):
    xs = None if absent else [n, 2]
    if xs is None:
        return None
    xs.extend([4.5])
    xs.insert(0, 7.5)
    xs.sort()
    return xs[0], xs[-1], len(xs)


def of_display_before_none(present, n):
    xs = [n] if present else None
    if xs is not None:
        xs.append(n + 1)
        return xs
    return [0]


def of_set(absent, n):
    xs = None if absent else {n, 2}
    if xs is None:
        return 0
    xs.add(5)
    return len(xs)


def of_dict(present, n):
    d = None
    if present:
        d = {n: 2}
    if d is not None:
        d.update({3: 4})
        d[5] = 6
        return d.get(n, 0) + d.pop(3) + len(d)
    return 0


@pytest.mark.parametrize("flag", [False, True])
def test_TYP_methods_of_what_may_be_none(flag):
    same(of_argument, flag, [1, 2])
    same(of_display, flag, 1.5)
    same(of_display_before_none, flag, 1)
    same(of_set, flag, 1)
    same(of_dict, flag, 1)


def test_TYP_a_method_of_none_is_an_error_with_its_line():
    def f(absent, xs):
        ys = None if absent else xs
        ys.append(3)
        return len(ys)

    same(f, False, [1])
    with pytest.raises(TypeError, match="None is used where a value is needed") as caught:
        njit(f)(True, [1])
    assert caught.traceback[-1].lineno == f.__code__.co_firstlineno + 1


# -- displays -----------------------------------------------------------------------------------------------------


def test_displays_of_other_lengths():
    def measured(c):
        return len([1, 2] if c else [1, 2, 3])

    def added(c, n):
        return sum([n, 2] if c else [n, 2, 3])

    def walked(c, n):
        total = 0
        for x in [n, 2] if c else [1]:
            total += x
        return total

    def compared(absent, n):
        xs = None if absent else [n, 2, 3, 4]
        return xs == [1, 2, 3, 4]

    def of_one_length(c, n):  # a tuple, as before
        xs = [n, 2.5] if c else [1.5, n]
        return float(xs[0] + xs[1])

    for flag in (False, True):
        same(measured, flag)
        same(compared, flag, 1)
        for function in (added, walked, of_one_length):
            same(function, flag, 5)


def test_arrays_made_of_either():
    def f(c, n):
        return np.array([n, 2] if c else [1, 2, 3]).sum()

    for flag in (False, True):
        assert f(flag, 4) == njit(f)(flag, 4)


def test_a_list_beside_a_tuple_of_another_length_is_refused():
    def f(c):
        x = (1, 2) if c else [1, 2, 3]
        return len(x)

    with pytest.raises(errors.TypingError):
        njit(f)(True)


# -- arrays -----------------------------------------------------------------------------------------------------------

EXPRESSIONS = ["np.sum(a)", "np.mean(a)", "np.dot(a, a)", "np.sqrt(a)[1]", "np.concatenate((a, a))", "np.where(a > 0, a, 0.0)", "np.sort(a)", "np.zeros_like(a)",
               "np.maximum(a, 0.5)", "np.average(a, weights=a)", "np.vstack((a, a))", "np.linalg.norm(a)", "max(a)", "min(a)", "a @ a", "sum(a)", "np.add(a, a)",
               "np.array((a, a))", "np.stack([a, a])"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_TYP_arrays_that_may_be_None_in_functions_of_arrays(expression):
    names = {"np": np}
    exec(f"def f(n):\n    a = None\n    for _ in range(n):\n        a = np.arange(1.0, 5.0)\n    return {expression}\n", names)
    f = njit(names["f"])
    assert np.array_equal(f(1), names["f"](1))
    with pytest.raises(TypeError):
        f(0)
    exec(f"def g(n):\n    a = None\n    for _ in range(n):\n        a = np.arange(1.0, 5.0)\n    if a is None:\n        return None\n    return {expression}\n", names)
    g = njit(names["g"])
    assert np.array_equal(g(1), names["g"](1)) and g(0) is None


# -- truth ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("value", ["abc", "", b"a", b"", [1], [0, 2], {1: 2}, {3}, (1, 2), 3, 0, 2.5, 0.0, 1j], ids=repr)
def test_the_truth_of_what_may_be_none_is_asked_of_what_is_there(value):
    """Where there is nothing, there is no text and no list whose length could be read."""
    def f(x, n):
        v = x if n > 5 else None
        count = 0
        if v:
            count += 1
        while not v and count < 3:
            count += 2
        return bool(v), not v, count, [k for k in range(2) if v], n > 100 or not v, v or x

    for n in (2, 7):
        same(f, value, n)


def test_the_truth_of_an_array_that_may_be_none():
    @njit
    def f(a, n):
        v = a if n > 5 else None
        return bool(v), not v, 1 if v else 0
    for a in (np.array([3]), np.array([0])):
        for n in (2, 7):
            assert f(a, n) == f.py_func(a, n)


# -- identity, membership, classes -------------------------------------------------------------------------------------

def test_the_identity_of_what_may_be_none():
    def f(xs, c, d):
        v = xs if c else None
        w = v if d else None
        other = [1, 2] if d else None
        return v is w, v is not w, v is other, w is other, xs is v, v is None

    def text(s, c, d):
        v = s if c else None
        w = s if d else None
        return v is w, w is not v
    for c in (False, True):
        for d in (False, True):
            same(f, [1, 2], c, d)
            same(text, "abc", c, d)


def none_before_lists(n):
    xs, ys, zs = [None, [1, n]], [None, None, [[0.5]], None], {1: None, 2: [n], 3: None}
    total = 0
    for x in xs:
        if x is not None:
            total += len(x) + x[1]
    xs[1] = None
    return [x is None for x in xs], [y is None for y in ys], [z is None for z in zs.values()], total


def test_none_in_front_of_lists_in_a_display():
    assert njit(none_before_lists)(3) == none_before_lists(3)
    assert njit(lambda n: [None, [1, n]])(4) == [None, [1, 4]]


def test_membership_in_what_may_be_none():
    def f(x, c):
        d = {x: 1} if c else None
        xs = [x, 3] if c else None
        s = {x} if c else None
        return (x in d, x + 1 not in xs, x in (s or {x + 1})) if c else (x in (d or {7: 1}), x in (xs or [x]), x in (s or {0}))

    for c in (False, True):
        same(f, 5, c)

    @njit
    def g(x, c):
        d = {x: 1} if c else None
        return x in d
    assert g(1, True)
    with pytest.raises(TypeError):
        g(1, False)


@dataclasses.dataclass(frozen=True)
class Cell:
    name: str
    count: int


def test_dataclasses_that_may_be_none_are_compared():
    def f(c, d, n):
        cell = Cell("x", 1) if c else None
        other = Cell("x", n) if d else None
        return cell == other, cell != other, bool(cell), (cell or Cell("y", 2)).name, [cell, other].count(None), cell == Cell("x", 1)
    for c in (False, True):
        for d in (False, True):
            for n in (1, 2):
                same(f, c, d, n)


# -- identity of values -------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: float


def itself(there, x):
    p = None
    if there:
        p = x
    q = p
    return p is p, p is q, p is not q, x is x, p is None, p is x


@pytest.mark.parametrize("x", [3, 2.5, float("nan"), 1j, True, "text", b"bytes", (1, 2.5), (1, (float("nan"), "a")), Point(1, 2.5)], ids=repr)
def test_TYP_a_value_is_itself(x):
    for there in (False, True):
        assert njit(itself)(there, x) == itself(there, x)


def test_TYP_an_int_is_no_float():
    def optional(there, k):
        p = None
        if there:
            p = k
        q = None
        if there:
            q = k + 0.0
        return p is q, k is k + 0.0, (k, 1) is (k + 0.0, 1)

    for there in (False, True):
        assert njit(optional)(there, 1) == (not there, False, False)


def test_TYP_what_is_found_in_a_dict_is_itself():
    def found(k):
        d = {1: (1, 2)}
        p = d.get(k)
        return p is p, p is d.get(k), p is not d.get(k)

    for k in (0, 1):
        assert njit(found)(k) == found(k)


def test_TYP_values_with_other_contents_are_others():
    def others(k):
        p, q = (None if k > 5 else Point(k, 1.0)), (None if k > 6 else Point(k + 1, 1.0))
        return p is q, (k, 1) is (k, 2), p is not q

    for k in (1, 6, 7):
        assert njit(others)(k) == others(k)


# -- where a type without None is declared ---------------------------------------------------------------------------


def test_what_may_be_none_is_asked_where_a_type_is_declared():
    result = njit("int64(optional(int64))")(lambda x: -1 if x is None else x)
    assert result(None) == -1 and result(3) == 3
    itself = njit("int64(optional(int64))")(lambda x: x)
    assert itself(3) == 3
    with pytest.raises(TypeError, match="None"):
        itself(None)

    half = njit("float64(int64)")(lambda x: x / 2)
    text = njit("unicode_type(unicode_type)")(lambda s: s + "!")

    @njit
    def passed(x, s, there):
        y = t = None
        if there:
            y, t = x, s
        return half(y), text(t)
    assert passed(3, "a", True) == (1.5, "a!")
    with pytest.raises(TypeError, match="None"):
        passed(3, "a", False)

    @njit(locals={"y": types.float32})
    def variable(x, there):
        z = None
        if there:
            z = x
        y = z
        return y
    assert variable(0.1, True) == float(np.float32(0.1))
    with pytest.raises(TypeError, match="None"):
        variable(0.1, False)
