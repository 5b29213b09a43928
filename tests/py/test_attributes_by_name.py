"""getattr, hasattr, type and operator.truth; equality of values of different kinds."""
import itertools
import operator
from collections import namedtuple

import numpy as np
import pytest

from quern import errors, njit, typed

Point = namedtuple("Point", "x y")
VALUES = (1, 2.5, True, 1j, "ABC", b"ab", (5, 6, 7), [1, 2], {1: 2}, {1, 2}, Point(1, 2.5))


def same(function, *args):
    """Compiled code gives what Python gives."""
    want, got = function(*args), njit(function)(*args)
    assert got == want and type(got) is type(want), (args, got, want)


def test_attribute_of_a_value():
    def shape_of(a):
        return getattr(a, "shape"), getattr(a, "ndim", -1)

    def part(p):
        return getattr(p, "x"), getattr(p, "y", 1), getattr(p, "z", "none")

    def of_module():
        return getattr(np, "pi")
    same(shape_of, np.zeros((2, 3)))
    same(part, Point(3, 4.5))
    same(of_module)


def test_method_by_name():
    def total(a, axis):
        return getattr(a, "sum")(axis)[0] + getattr(a, "mean")()

    def upper(s):
        method = getattr(s, "upper")
        return method() + getattr(s, "replace")("a", "b")

    def grown(x):
        out = []
        add = getattr(out, "append")
        add(x)
        getattr(out, "append")(x + 1)
        return out
    assert njit(total)(np.arange(6.0).reshape(2, 3), 0) == total(np.arange(6.0).reshape(2, 3), 0)
    same(upper, "abca")
    same(grown, 3)


def test_default_where_there_is_no_attribute():
    def default(x, d):
        return getattr(x, "nothing_of_that_name", d)
    for x, d in itertools.product(VALUES, (None, 20, "text", (1, 2.5))):
        same(default, x, d)

    def function(x, f):
        return getattr(x, "nothing_of_that_name", f)(x)
    assert njit(function)(5, njit(lambda x: x + 1)) == 6


def test_hasattr():
    def has(x):
        return (hasattr(x, "__hash__"), hasattr(x, "nothing_of_that_name"), hasattr(x, "__len__"), hasattr(x, "upper"),
                hasattr(x, "imag"), hasattr(x, "append"), hasattr(x, "keys"), hasattr(x, "x"))
    for x in VALUES:
        same(has, x)

    def array(a):
        return hasattr(a, "__len__"), hasattr(a, "__iter__"), hasattr(a, "shape"), hasattr(a, "nothing_of_that_name")
    same(array, np.zeros(3))

    @njit
    def decided(x):
        if hasattr(x, "shape"):
            return x.shape[0]  # would not compile for a number
        return x
    assert decided(np.zeros(7)) == 7 and decided(4) == 4


def test_what_python_knows_and_compiled_code_does_not_has_no_default():
    @njit
    def f(x):
        return getattr(x, "as_integer_ratio", 0)
    with pytest.raises(errors.TypingError, match="no attribute 'as_integer_ratio'"):
        f(3)


def test_names_that_are_not_constant():
    @njit
    def f(x, name):
        return getattr(x, name)
    with pytest.raises(errors.TypingError, match="the name of the attribute must be known"):
        f(1, "real")

    @njit
    def g(x):
        return getattr(x, "nothing_of_that_name")
    with pytest.raises(errors.TypingError, match="has no attribute 'nothing_of_that_name'"):
        g(1.5)


def test_type_is_called_and_compared():
    def convert(a, b):
        return type(a)(b)
    for a, b in ((1.5, 2), (1, 2.5), (1.5j, 2), (True, 2), ("a", 7)):
        same(convert, a, b)
    got = njit(convert)(np.float32(1), 2)
    assert got == 2.0 and isinstance(got, float)

    def compared(a):
        return (type(a) == int, type(a) is float, type(a) == str, type(a) is tuple, type(a) != int, type(a) is not list,
                type(a) == dict)
    for a in (1, 2.5, True, "a", (1, 2), [1], {1: 2}):
        same(compared, a)

    @njit
    def of_arrays(a):
        return type(a)
    with pytest.raises(errors.TypingError, match="type cannot be called"):
        of_arrays(np.zeros(2))


def test_truth():
    def truth(x):
        return operator.truth(x)
    for x in (*VALUES, 0, 0.0, "", (), [], None):
        same(truth, x)


def test_values_of_different_kinds_are_not_equal():
    def equal(a, b):
        return a == b, a != b
    for a, b in itertools.product((1, 0, True, 1.0, 1j, None, "", "1", b"1", [1], (1,), {1: 2}, {1}), repeat=2):
        same(equal, a, b)

    def optional(a, flag):
        x = a if flag else None
        return x == "text", x != "text"
    same(optional, 1, True)
    same(optional, 1, False)


def test_a_number_among_text():
    def among(x):
        return x in (1, "a", 2.5), x not in ["a", "b"]
    for x in ("a", 2.5, 7):
        same(among, x)

    @njit
    def mode(x):
        if x == "fast":
            return 1
        if x == 3:
            return 2
        return 3
    assert (mode("fast"), mode(3), mode("slow")) == (1, 2, 3)


def test_typed_containers_have_their_attributes():
    @njit
    def f(xs):
        return hasattr(xs, "append"), getattr(xs, "nothing_of_that_name", 5)
    assert f(typed.List([1, 2])) == (True, 5)
