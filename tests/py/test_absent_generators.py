"""Generators in variables that may be None (issue 8, part 7): asked, walked over, closed, passed on."""
import gc

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401
from quern import errors, njit


def doubled(n):
    for i in range(n):
        yield i * 2


def guarded(c):
    g = None
    if c:
        g = doubled(4)
    if g is None:
        return -1
    return next(g) + next(g)


def walked(c):
    g = doubled(4) if c else None
    s = 0
    if g is not None:
        for x in g:
            s += x
    return s, g == None, g != None  # noqa: E711


def begun_later(c):
    g = None
    s = 0
    for i in range(7):
        if i == 2 and c:
            g = doubled(3)
        if g is not None:
            x = next(g, -1)
            if x < 0:
                g = None
            else:
                s += x
    return s


def closed(c):
    g = doubled(3) if c else None
    if g:
        next(g)
        g.close()
        return next(g, 77)
    return 0


def by_default(c):
    g = doubled(3) if c else None
    if g is None:
        g = doubled(2)
    return sum(g), bool(g)


def across_yields(c):
    def inner():
        g = None
        for i in range(4):
            if c and i == 1:
                g = doubled(9)
            yield 0 if g is None else next(g)
    return list(inner())


def in_a_tuple(c):
    pair = (doubled(3) if c else None, 1)
    return next(pair[0]) if pair[0] is not None else pair[1]


def made_elsewhere(c):
    def make(c):
        if c:
            return doubled(4)
        return None

    def use(g):
        return -1 if g is None else sum(g)
    return use(make(c))


def many(c):
    s = 0.0
    for i in range(60):
        a = np.ones(i)
        h = (x + a.sum() for x in range(3)) if c and i % 2 else None
        if h is not None:
            s += next(h)
    return s


@pytest.mark.parametrize("function", [guarded, walked, begun_later, closed, by_default, across_yields, in_a_tuple, made_elsewhere, many])
def test_as_in_Python(function):
    f = njit(function)
    for c in (True, False):
        assert f(c) == function(c)


def test_None_gives_no_items():
    @njit
    def f(n):
        g = None
        for _ in range(n):
            g = doubled(3)
        return next(g)
    assert f(1) == 0
    with pytest.raises(TypeError):
        f(0)


def test_what_may_be_None_is_no_result():
    def f(c):
        if c:
            return doubled(4)
        return None
    with pytest.raises(errors.TypingError, match="cannot return"):
        njit(f)(True)


def test_views_are_no_generators():
    with pytest.raises(errors.TypingError, match="truth"):
        njit(lambda n: bool({n: 1}.keys()))(1)


def test_nothing_is_left_when_one_raises():
    @njit
    def failing(n):
        for i in range(n):
            yield np.ones(3)
            if i == 1:
                raise ValueError("one")

    @njit
    def f(c):
        g = failing(3) if c else None
        s = 0.0
        while g is not None:
            s += next(g).sum()
        return s
    assert f(False) == 0.0
    gc.collect()
    before = live()
    with pytest.raises(ValueError, match="one"):
        f(True)
    assert live() == before
