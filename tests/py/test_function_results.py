"""Functions that compiled code makes, as results (issue 8, part 6; FEATURES L16): Python gets one of the same code, compiled when it is called."""
import functools
import gc
import sys

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, each_allocation_fails  # noqa: F401
from quern import errors, njit


@njit
def add(a, b, c=0):
    return a + b + c


@njit
def scaled(k):
    def inner(x):
        return x * k

    return inner


@njit
def with_defaults(n, a):
    def inner(x, m=n * 2, *, o=n + 1):
        return x + m + o + a.sum()

    return inner


@njit
def products(one):
    def inner(n):
        return one if n <= 1 else n * inner(n - 1)

    return inner


@njit
def added(k):
    return functools.partial(add, k, c=10)


@njit
def several(n):
    return [lambda x, i=i: x + i for i in range(n)], {"less": lambda x: x - n}, (lambda: n, n)


@njit
def one_of(n, text):
    if n == 0:
        return lambda x: x + 1
    if n == 1:
        return add.py_func if False else double
    return lambda x: x + len(text)


@njit
def double(x):
    return 2 * x


@njit
def perhaps(k):
    if k > 0:
        return lambda x: x + k
    return None


@njit
def composed(f, g):
    return lambda x: f(g(x))


@njit
def applied(f, x):
    return f(x)


def test_variables_and_defaults():
    f = scaled(3)
    assert f(4) == 12 and f.__name__ == "inner" and f.__qualname__ == "scaled.<locals>.inner"
    assert scaled(2.5)(4) == 10.0 and type(scaled(3)(4)) is int and scaled("ab")(2) == "abab"
    assert f.signatures, "it is compiled"
    for n in (3, 2.5):
        a = np.arange(3.0)
        g, h = with_defaults(n, a), with_defaults.py_func(n, a)
        assert (g(1), g(1, 2), g(1, 2, o=5), g(x=1, o=2)) == (h(1), h(1, 2), h(1, 2, o=5), h(x=1, o=2))


def test_the_array_is_the_one_that_was_taken_along():
    a = np.zeros(2)
    f = with_defaults(0, a)
    a[:] = 5.0
    assert with_defaults.py_func(0, a)(0) == 11.0 and f.py_func(0) == 11.0
    del a
    gc.collect()
    assert f.py_func(0) == 11.0


def test_itself_by_its_name():
    assert products(1)(5) == 120 and products(1.0)(3) == 6.0


def test_partial():
    p = added(3)
    assert isinstance(p, functools.partial) and p.func is add and p.args == (3,) and p.keywords == {"c": 10}
    assert p(4) == 17 and p(4, c=1) == 8


def test_in_containers():
    fs, named, (f, n) = several(3)
    assert [f(10) for f in fs] == [10, 11, 12] and named["less"](5) == 2 and (f(), n) == (3, 3)


def test_one_of_several():
    assert [one_of(n, "abc")(10) for n in range(3)] == [11, 20, 13]
    assert one_of(1, "") is double
    assert perhaps(1)(2) == 3 and perhaps(0) is None


def test_back_into_compiled_code():
    h = composed(scaled(3), perhaps(1))
    assert h(5) == 18 and applied(h, 5) == 18 and applied(scaled(3), 2.5) == 7.5 and applied(double, 2) == 4
    assert applied(added(1), 2) == 13


def test_what_Python_cannot_make_of_it():
    @njit
    def counter():
        n = 0

        def inc():
            nonlocal n
            n += 1
            return n

        return inc

    @njit
    def of_others(n):
        def one():
            return n

        def two():
            return one() + 1

        return two

    for function, args in ((counter, ()), (of_others, (1,))):
        with pytest.raises(errors.TypingError, match="cannot return function"):
            function(*args)


def test_MEM_01_functions_go():
    a = np.arange(3.0)

    def all_of_them():
        scaled(2), added(1), with_defaults(2, a), several(4), one_of(2, "xy" * 3), perhaps(1)

    for _ in range(10):
        all_of_them()
    gc.collect()
    before, references = sys.getallocatedblocks(), sys.getrefcount(a)
    for _ in range(300):
        all_of_them()
    gc.collect()
    assert sys.getallocatedblocks() - before < 900  # a function that stayed would be several thousand
    assert sys.getrefcount(a) == references


def test_MEM_01_each_allocation_fails():
    fs, named, (f, n) = each_allocation_fails(several, lambda: (3,))
    assert [f(1) for f in fs] == [1, 2, 3] and named["less"](5) == 2 and f() == n


def test_the_cache_says_why_not(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("QUERN_CACHE_DIR", str(tmp_path))

    @njit(cache=True)
    def made(k):
        return lambda x: x * k

    assert made(3)(4) == 12 and not list(tmp_path.rglob("*.0"))
