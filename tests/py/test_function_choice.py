"""Functions that are chosen when the program runs: f = g if c else h, tuples and lists of functions (issue 8, FEATURES L17, T15)."""
import math

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import cuda, errors, njit


@njit
def double(x):
    return x * 2


@njit
def square(x):
    return x * x


def negate(x):
    return -x


def same(function, *calls):
    compiled = njit(function)
    for args in calls:
        assert compiled(*args) == function(*args), args


def test_one_of_two():
    def f(c, x):
        g = double if c else square
        return g(x) + g(x + 1)
    same(f, (True, 5), (False, 5), (True, 2.5), (False, 2.5))


def test_one_of_many_in_a_loop():
    def f(n):
        g = double
        s = 0
        for i in range(n):
            s += g(i)
            if i % 3 == 0:
                g = square
            elif i % 3 == 1:
                g = negate
            else:
                g = double
        return s
    same(f, (0,), (1,), (2,), (50,))


def test_functions_of_the_library_and_lambdas():
    def f(kind, x):
        g = math.sin if kind == 0 else math.cos if kind == 1 else abs if kind == 2 else (lambda v: v + 0.5)
        return g(x)
    same(f, (0, 0.25), (1, 0.25), (2, -0.25), (3, 0.25))


def test_results_are_of_the_type_that_all_have_together():
    def whole(x):
        return 3

    def part(x):
        return x / 2

    def none(x):
        return None

    def f(c, x):
        g = whole if c else part
        return g(x)
    same(f, (True, 5.0), (False, 5.0))

    def h(c, x):
        g = whole if c else none
        y = g(x)
        return y is None
    same(h, (True, 1), (False, 1))

    def texts(c, n):
        g = str if c else repr
        return g("a" * n)
    same(texts, (True, 2), (False, 2))


def test_tuples_and_lists_of_functions():
    def f(k, x):
        fs = (double, square, negate)
        return fs[k](x)
    same(f, (0, 5), (1, 5), (2, 5), (-1, 2.5))
    with pytest.raises(IndexError):
        njit(f)(3, 1)

    def g(n, x):
        fs = [double, square, negate]
        s = 0
        for i in range(n):
            s += fs[i % 3](x + i)
        return s
    same(g, (7, 3), (7, 0.5))

    def over(x):
        s = 0
        for f in (double, square, negate):
            s += f(x)
        return s
    same(over, (4,), (0.5,))


def test_a_choice_is_passed_and_returned_and_kept():
    def pick(k):
        if k == 0:
            return double
        if k == 1:
            return square
        return negate

    def apply(g, x):
        return g(x)

    def f(n, x):
        s = 0
        for k in range(n):
            g = pick(k % 3)
            s += apply(g, x)
            pair = (g, k)
            s += pair[0](x + 1)
        return s
    same(f, (5, 3), (4, 2.5))

    def wider(c, d, x):
        g = double if c else square
        h = g if d else negate
        return h(x)
    same(wider, *((c, d, 3) for c in (True, False) for d in (True, False)))


def test_arrays_and_exceptions_go_through():
    @njit
    def doubled(a):
        return a * 2

    @njit
    def first(a):
        if len(a) == 0:
            raise ValueError("empty", 0)
        return a[:1]

    @njit
    def f(c, a):
        g = doubled if c else first
        try:
            return g(a).sum()
        except ValueError as e:
            return float(e.args[1]) - 1
    assert f(True, np.arange(4.0)) == 12.0 and f(False, np.arange(1.0, 4.0)) == 1.0 and f(False, np.zeros(0)) == -1.0


def test_functions_that_are_arguments():
    @njit
    def f(c, g, h, x):
        k = g if c else h
        return k(x)
    assert f(True, double, square, 5) == 10 and f(False, double, square, 5) == 25 and f(False, double, negate, 5) == -5


def test_map_reduce_and_keys():
    import functools

    def f(c, n):
        g = double if c else square
        return sum(map(g, range(n))), max(range(n), key=g)
    same(f, (True, 5), (False, 5))

    def total(a, b):
        return a + b

    def product(a, b):
        return a * b

    def r(c, n):
        return functools.reduce(total if c else product, range(1, n))
    same(r, (True, 6), (False, 6))


def test_in_kernels(device):
    def bump(x):
        return x + 1

    def halve(x):
        return x // 2

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            f = bump if a[i] % 2 else halve
            a[i] = f(a[i])
    a = np.arange(8)
    kernel[1, 8](a)
    assert a.tolist() == [i + 1 if i % 2 else i // 2 for i in range(8)]


def test_what_has_no_common_type_is_refused():
    def text(x):
        return "text"

    def f(c, x):
        g = double if c else text
        return g(x)
    with pytest.raises(errors.TypingError, match="different types"):
        njit(f)(True, 1)

    def number(c):
        g = double if c else 3
        return g(1)
    with pytest.raises(errors.TypingError):
        njit(number)(True)
