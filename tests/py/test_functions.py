"""Functions as values: def and lambda in compiled code, closures that are called, passed, returned and stored, against CPython."""
import functools
import math
import operator

import numpy as np
import pytest
from spoken import same
from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401

from quern import errors, njit, prange

# -- closures that are called -----------------------------------------------------------------------


@njit
def closure(n):
    k = n * 2

    def add(x):
        return x + k
    return add(3) + add(4)


@njit
def lambda_with_default(n):
    f = lambda x, y=2: x * n + y  # noqa: E731
    return f(3) + f(1, 5) + f(y=1, x=2)


@njit
def keyword_only(n):
    def f(x, *, s=2, t):
        return x * s + t * n
    return f(1, t=3) + f(2, s=5, t=1)


@njit
def rest_of_arguments(n):
    def f(*a):
        return len(a) * n + a[0]
    return f(1, 2, 3)


@njit
def computed_default(n):
    def f(x, y=n * 3):
        return x + y
    return f(1) + f(1, 0)


@njit
def annotated(n):
    def f(x: int, y: float = 1.5) -> float:
        return x * y + n
    return f(2)


@njit
def curried(n):
    def a(x):
        def b(y):
            def c(z):
                return x + y * 10 + z * 100 + n * 1000
            return c
        return b
    return a(1)(2)(3)


@njit
def in_comprehensions(n):
    def square(x):
        return x * x + n
    return [square(i) for i in range(4)], sum([square(j) for j in range(3)]), {square(i): i for i in range(2)}


@pytest.mark.parametrize("f", [closure, lambda_with_default, keyword_only, rest_of_arguments, computed_default, annotated, curried,
                               in_comprehensions], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 3, -2.5])
def test_L15_closures_are_called(f, n):
    same(f, n)


# -- GLB: what a closure variable is ----------------------------------------------------------------


@njit
def in_each_round(n):
    s = 0
    for i in range(n):
        s += (lambda x: x * i)(2)

        def g(y):
            return y + i
        s += g(i)
    return s


@njit
def one_of_two(n):
    if n > 2:
        k = 1
        f = lambda x: x + k  # noqa: E731
        return f(n)
    k = 2
    return (lambda x: x - k)(n)


@njit
def shadowed(x):
    def f(x):
        def g(y):
            return x * y
        return g(2)
    return f(x + 1) + x


def test_GLB_04_default_of_float():
    """A name of a type in a mangled name once made the default another number."""
    @njit
    def f(x):
        def g(a, y=1.1):
            return a + y
        return g(x)
    assert f(4) == 5.1


def test_GLB_09_factories_do_not_share_code():
    def make(k):
        @njit
        def f(x):
            return (lambda y: y * k)(x)
        return f
    three, five = make(3), make(5)
    assert (three(2), five(2), three(4)) == (6, 10, 12)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_GLB_variables_of_loops_and_branches(n):
    same(in_each_round, n)
    same(one_of_two, n)
    same(shadowed, n)


@njit
def assigned_later(n):
    k = 1

    def f():
        return k
    k = n
    return f()


@njit
def kept_in_loop(n):
    out = []
    for i in range(n):
        out.append(lambda: i)
    return out[0]()


@njit
def returned_from_loop(n):
    for i in range(n):
        f = lambda: i  # noqa: E731
        if i == 2:
            return f
    return f


@njit
def calls_returned(n):
    return returned_from_loop(n)()


@njit
def used_a_round_later(n):
    f = lambda: -1  # noqa: E731
    s = 0
    for i in range(n):
        s += f()
        f = lambda: i  # noqa: E731
    return s


@pytest.mark.parametrize("f", [assigned_later, kept_in_loop], ids=lambda f: f.__name__)
def test_GLB_the_last_value_of_a_cell(f):
    """More of them: test_cells.py."""
    same(f, 3)


def test_GLB_a_function_that_a_loop_returns():
    assert calls_returned(3) == 2


@pytest.mark.parametrize("n", [0, 1, 4])
def test_GLB_functions_of_several_kinds(n):
    same(used_a_round_later, n)


def test_GLB_05_nonlocal():
    @njit
    def f():
        x = 0

        def g():
            nonlocal x
            x = 1
            x = 2
        g()
        return x
    assert f() == 2


# -- recursion of inner functions ---------------------------------------------------------------------


@njit
def factorial(n):
    def go(k):
        return 1 if k < 2 else k * go(k - 1)
    return go(n)


@njit
def factorial_with_default(n):
    def go(k, product=1):
        if k < 2:
            return product
        return go(k - 1, product * k)
    return go(n)


@njit
def default_of_outer(n):
    def go(k, step=n // 2 + 1):
        return k if k < 0 else go(k - step) + step
    return go(n)


@njit
def even_or_odd(n):
    m = n % 5

    def even(k):
        return m if k == 0 else odd(k - 1)

    def odd(k):
        return -m if k == 0 else even(k - 1)
    return even(n), odd(n)


@njit
def visits(n):
    seen = [0] * (n + 1)

    def visit(k):
        if k < 0 or seen[k]:
            return
        seen[k] = 1
        visit(k - 2)
        visit(k // 2)
    visit(n)
    return seen


@njit
def recursion_as_argument(n):
    def twice(f, x):
        return f(x) + f(x)

    def fib(k):
        return k if k < 2 else fib(k - 1) + fib(k - 2)
    return twice(fib, n)


@pytest.mark.parametrize("f", [factorial, factorial_with_default, default_of_outer, even_or_odd, visits, recursion_as_argument],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 9])
def test_EXC_05_inner_functions_call_themselves(f, n):
    same(f, n)


# -- values -------------------------------------------------------------------------------------------


def apply(f, x):
    return f(x)


def adder(k):
    def add(x):
        return x + k
    return add


@njit
def passed(n):
    return apply(lambda x: x + n, 3) + apply(lambda x: x * n, 2.5)


@njit
def returned(n):
    f, g = adder(n), adder(n * 0.5)
    return f(1) + g(2)


@njit
def in_tuples(n):
    fs = (lambda x: x + n, lambda x: x * n, abs)
    pair = fs, 3
    return fs[0](3) + fs[1](4) + fs[2](-2) + pair[0][-1](-1)


@njit
def in_a_list(n):
    fs = [adder(i) for i in range(n)]
    s = 0
    for f in fs:
        s = s * 10 + f(1)
    return s + fs[-1](100), len(fs)


@njit
def in_a_dict(n):
    fs = {i: adder(i * i) for i in range(n)}
    return fs[n - 1](1), fs[0](2)


@njit
def composed(n):
    def compose(f, g):
        return lambda x: f(g(x))
    h = compose(lambda x: x + n, lambda x: x * 2)
    return h(5), compose(h, h)(1)


@njit
def captured_array(n):
    a = np.arange(n + 1.0)

    def read(i):
        return a[i] * 2

    def write(i, v):
        a[i] = v
    write(0, 7.0)
    return read(0) + read(n), a


@njit
def captured_list(n):
    xs = [1, 2, 3]

    def push(v):
        xs.append(v)
    push(n)
    push(4)
    return xs


@njit
def captured_text(n):
    word = "ab" * n

    def f(s):
        return word + s
    return f("x"), apply(f, "y")


@njit
def returned_with_array(n):
    def maker():
        big = np.ones(n + 1) * n
        return lambda i: big[i]
    f = maker()
    return f(0) + f(n)


@pytest.mark.parametrize("f", [passed, returned, in_tuples, in_a_list, in_a_dict, composed, captured_array, captured_list, captured_text,
                               returned_with_array], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 4])
def test_L16_functions_are_values(f, n):
    same(f, n)


def test_MEM_01_captured_objects_die_with_an_exception():
    @njit
    def f(n):
        a = np.zeros(n)
        xs = [[1], [2]]

        def g(i):
            return a[i] + xs[0][0]
        h = lambda i: g(i) + a[0]  # noqa: E731
        return h(n)
    before = live()
    for _ in range(20):
        with pytest.raises(IndexError):
            f(3)
    assert live() == before


def test_L16_of_different_functions_one_is_chosen_by_if():
    """More of them: test_function_choice.py."""
    @njit
    def f(n):
        g = (lambda x: x + 1) if n > 2 else (lambda x: x + 2)
        return g(1)
    assert f(3) == 2 and f(1) == 3

    @njit
    def taken(n, k):
        g = (lambda x: x + k) if n > 2 else (lambda x: x * k)
        return g(1)
    assert taken(3, 2) == 3 and taken(1, 7) == 7


def test_functions_in_parallel_loops():
    @njit(parallel=True)
    def f(a, k):
        def g(x):
            return x * k
        s = 0.0
        for i in prange(len(a)):
            s += g(a[i])
        return s
    a = np.arange(10000.0)
    assert f(a, 2.0) == a.sum() * 2


# -- functions as arguments -----------------------------------------------------------------------------


@njit
def called(f, x):
    return f(x) + 1


def doubled(x):
    return x * 2


def test_L17_functions_are_arguments():
    for f in doubled, njit(doubled), lambda x: x - 0.5, abs, math.sqrt, np.sin, adder(3), functools.partial(operator.mul, 3):
        assert called(f, 4.0) == f(4.0) + 1
        assert called(f, 2.0) == f(2.0) + 1
    assert len(called.signatures) == 5  # those that live on


def test_L17_functions_in_tuples_are_arguments():
    @njit
    def both(fs, x):
        return fs[0](x), fs[1][0](x)
    assert both((doubled, (abs, 1)), -3) == (-6, 3)
    assert both((abs, (doubled, 1)), -3) == (3, -6)
    assert "doubled" in str(both.signatures)


def test_MEM_04_functions_that_are_gone_leave_no_specialisation():
    for k in range(5):
        assert called(adder(k), 1) == k + 2
        assert len(called.signatures) <= 9


# -- functools, and functions of the library that call back -------------------------------------------------

scaled = functools.partial(lambda a, b, c=1: a * 100 + b * 10 + c, 1, c=5)


@njit
def partials(n):
    f = functools.partial(pow, 2)
    g = functools.partial(apply, lambda x: x + n)
    h = functools.partial(scaled, 7)
    return f(n), g(3), scaled(3), scaled(3, c=n), h(), functools.partial(h, c=2)()


@njit
def reductions(n):
    return (functools.reduce(lambda a, b: a * b, range(1, n + 1)), functools.reduce(operator.add, [1, 2, n], 10),
            functools.reduce(lambda a, b: a + b, np.array([1.5, 2.5]), 0.0))


@njit
def reduce_of_nothing(n):
    return functools.reduce(lambda a, b: a + b, range(n))


@njit
def by_key(n):
    xs = [5, -3, n, 8]
    pairs = [(3, 1.0), (1, 2.0), (2, 0.5)]
    return (sorted(xs, key=lambda x: abs(x - n)), min(xs, key=lambda x: x * x), max(xs, key=lambda x: -abs(x)),
            sorted(pairs, key=lambda p: p[1]), min(3, -n, 1, key=abs), max((n, -7), key=lambda t: t * t), min(pairs), max((1, 2), (n, 0)))


@njit
def with_default(xs):
    return min(xs, default=-1), max([x for x in xs if x > 100], default=7), max(xs, key=lambda x: -x, default=3)


@njit
def mapped(n):
    return sum(map(lambda x: x * n, [1, 2, 3])), [x for x in filter(lambda x: x % 2 == n % 2, range(10))]


@pytest.mark.parametrize("f", [partials, reductions, by_key, mapped, reduce_of_nothing], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 4])
def test_B07_functions_that_take_functions(f, n):
    same(f, n)


def test_B07_of_nothing():
    same(reduce_of_nothing, 0)
    same(with_default, [3, 1, 2])

    @njit
    def smallest(n):
        return min([x for x in range(n)], key=lambda x: -x)
    with pytest.raises(ValueError, match="min"):
        smallest(0)
    assert smallest(3) == 2


def test_partial_errors():
    @njit
    def f(x):
        return functools.partial(apply, abs)(x, 3)
    with pytest.raises(errors.TypingError, match="argument"):
        f(1)

    @njit
    def g(x):
        return functools.partial(x)
    with pytest.raises(errors.TypingError, match="functools.partial"):
        g(1)
