"""Frames of generators on the stack of who goes over them: what they hold lives across yields, and is given back on every way out."""
import functools

import numpy as np
import pytest

from quern import njit
from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, same  # noqa: F401

A = np.array([1.0, 0.5, 2.0, 0.25])
B = np.array([3.0, 4.0, 5.0, 6.0])


@njit
def values(a):
    for i in range(len(a)):
        yield float(a[i])


@njit
def numbered(a):
    for i, x in enumerate(values(a)):
        yield i * x


@njit
def zipped(a, b):
    for x, y in zip(values(a), values(b)):
        yield x + y


@njit
def some(a, k):
    for j in range(k):
        for x in values(a):
            if x > 1.5:
                break
            yield x + j
        for x in numbered(a):
            yield x


@njit
def words(xs):
    for w in xs:
        yield w + "!"


@njit
def letters(xs):
    for w in words(xs):
        for c in w:
            yield c


def test_one_that_reads_an_array():
    @njit
    def f(a, r):
        s = 0.0
        for _ in range(r):
            for x in values(a):
                s += x
        return s
    same(f, A, 3)
    same(f, np.zeros(0), 3)


def test_one_in_another_that_counts_them():
    @njit
    def f(a, b, k):
        r = [0.0]
        for x in numbered(a):
            r.append(x)
        for x in zipped(a, b):
            r.append(x)
        for x in some(b, k):
            r.append(x)
        for x in some(a, k):
            r.append(x)
        return r
    same(f, A, B, 3)


def test_two_that_are_asked_by_turns():
    @njit
    def turns(a, b):
        g = values(a)
        h = values(b)
        yield next(g)
        yield next(h)
        yield next(g)
        for x in h:
            yield x
        for x in g:
            yield x

    @njit
    def f(a, b):
        return [x for x in turns(a, b)]
    same(f, A, B)


def test_one_of_text_in_another():
    @njit
    def f(n):
        xs = [str(i) * 3 for i in range(n)]
        r = ""
        for c in letters(xs):
            r += c
        return r
    same(f, 12)


def test_rows_and_their_elements():
    @njit
    def rows(m):
        for i in range(m.shape[0]):
            yield m[i]

    @njit
    def cells(m):
        for r in rows(m):
            for x in values(r):
                yield x

    @njit
    def f(m):
        s = 0.0
        for x in cells(m):
            s = s * 0.9 + x
        return s
    same(f, np.arange(12.0).reshape(3, 4))
    same(f, np.arange(12.0).reshape(3, 4)[:, ::-2])


def test_one_that_is_left_early_again_and_again():
    @njit
    def f(a, k):
        s = 0.0
        for j in range(k):
            for x in some(a, 3):
                s += x
                if s > 10 * j:
                    break
        return s
    same(f, A, 7)


def test_what_only_the_frame_holds():
    @njit
    def f(a, k):
        s = 0.0
        for x in values(a + 1.0):
            for y in values(a * x):
                s = s * 0.5 + y
                if s > k:
                    break
        return s
    same(f, A, 3)
    same(f, A, 30)


@pytest.mark.parametrize("bad", [2.0, 0.25, 100.0])
def test_EXC_what_raises_while_they_are_open(bad):
    @njit
    def f(a, k, bad):
        s = 0.0
        try:
            for x in values(a * 1.0):
                for y in some(a, k):
                    s += x / (y - bad)
        except ZeroDivisionError:
            return -s
        return s

    @njit
    def quotients(a, bad):
        for x in values(a + 0.0):
            yield 1.0 / (x - bad)

    @njit
    def g(a, bad):
        s = 0.0
        for x in quotients(a, bad):
            s += x
        return s
    same(f, A, 3, bad)
    same(g, A, bad)


def test_one_that_is_made_in_a_loop_and_used_behind_it():
    @njit
    def f(a, n):
        k = 0
        while True:
            g = values(a + float(k))
            k += 1
            if k > n:
                break
        s = 0.0
        for x in g:
            s += x
        return s
    same(f, A, 2)


def test_one_that_is_made_anew_where_it_was_left_early():
    @njit
    def firsts(a, n):
        for k in range(n):
            for x in values(a + float(k)):
                if x > 2.0:
                    yield x
                    break

    @njit
    def f(a, n):
        return [x for x in firsts(a, n)]
    same(f, A, 5)


def test_MEM_each_allocation_fails():
    @njit
    def pieces(n):
        for w in letters([str(i) for i in range(n)]):
            yield w * 2

    @njit
    def f(n):
        r = ""
        for w in pieces(n):
            r += w
        return r
    assert each_allocation_fails(f, lambda: (5,)) == f.py_func(5)


def test_one_that_another_one_is_given():
    @njit
    def f(xs, n):
        s = 0
        for x in (q + '?' for q in words(xs)):
            if n < 2:
                raise ValueError(s)
            s += len(x)
        return s

    @njit
    def lengths(xs):
        for n in (len(w) for w in words(xs)):
            yield n

    @njit
    def g(xs):
        return [n for n in lengths(xs)]

    def same_one(it):
        return it

    @njit
    def h(a, n):
        s = 0.0
        for x in same_one(values(a + 1.0)):
            if n < 1:
                raise ValueError(s)
            s += x
        return s
    for n in 0, 1, 3:
        same(f, ['a', 'bc'], n)
    same(g, ["ab", "c", ""])
    for n in 0, 1:
        same(h, A, n)


@pytest.mark.parametrize("of", ["numbers", "array"])
def test_MEM_one_that_a_function_keeps_outlives_its_maker(of):
    @njit
    def numbers(n):
        for i in range(n):
            yield float(i)
    made, given = (numbers, 5) if of == "numbers" else (values, np.arange(5.0))

    def captured(g):
        def step():
            return next(g)
        return step

    def partly(g):
        return functools.partial(next, g)
    for keep in captured, partly:
        def maker(n):
            return keep(made(n))

        @njit
        def f(n):
            step = maker(n)
            s = np.ones(50).sum()
            for i in range(4):
                s = s * 2 + step()
            return s
        same(f, given)
