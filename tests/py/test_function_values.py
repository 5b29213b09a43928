"""Functions with what they have taken along where one of several is meant: variables, lists, dicts (issue 8, part 6; FEATURES L16)."""
import functools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, live, same  # noqa: F401
from quern import cuda, errors, njit, prange


@njit
def inc(x):
    return x + 1


@njit
def double(x):
    return x * 2


def minus(x):
    return x - 1


# -- one of several that have values of their own -----------------------------------------------------------


@njit
def of_numbers(n):
    a, b = n + 1.0, n * 2.5
    f = (lambda: a) if n > 2 else (lambda: b)
    return f()


@njit
def of_arrays_lists_and_text(n):
    a = np.arange(n + 3) * 1.0
    xs = [1, 2, n]
    t = "ab" * n
    f = (lambda i: a[i] + 1) if n % 3 == 0 else (lambda i: xs[i] * 2.0) if n % 3 == 1 else (lambda i: len(t) + i * 1.0)
    return f(1)


@njit
def of_one_def_with_other_values(n):
    f = None
    for k in range(n):
        def g(x, k=k):
            return x + k
        if f is None or k % 2:
            f = g
    return f(10) if f is not None else -1


@njit
def made_by_a_function(n):
    def make(c, k):
        if c:
            return lambda x: x + k
        return lambda x: x * k
    return make(n > 2, n)(5), make(n < 2, 1.5)(n)


@njit
def of_partials(n):
    f = functools.partial(operator.add, 3) if n > 2 else functools.partial(operator.mul, n)
    return f(n), list(map(f, [1, n]))


@njit
def assigned_a_round_later(n):
    f = lambda: -1  # noqa: E731
    g = f
    out = 0
    for i in range(n):
        out = out * 10 + g() + f()
        x = i * 2
        if i % 2:
            f = lambda: i + x  # noqa: E731
        else:
            g = lambda: x  # noqa: E731
    return out


@njit
def with_cells(n):
    k = 0

    def up(d):
        nonlocal k
        k += d
        return k

    def down(d):
        nonlocal k
        k -= d
        return k
    fs = [up, down, up]
    by_name = {"u": up, "d": down}
    s = 0
    for i in range(n):
        s += fs[i % 3](i) + by_name["u" if i % 2 else "d"](2)
    return s, k


@njit
def absent(n):
    f = None
    a = np.ones(4)
    if n > 1:
        f = lambda x: a.sum() + x  # noqa: E731
    if n > 3:
        f = lambda x: x - 1.0  # noqa: E731
    return -1.0 if f is None else f(2)


@njit
def true(n):
    f = None
    if n > 2:
        f = inc
    return (f(n) if f else 0), not inc


@pytest.mark.parametrize("f", [of_numbers, of_arrays_lists_and_text, of_one_def_with_other_values, made_by_a_function, of_partials,
                               assigned_a_round_later, with_cells, absent, true], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_L16_one_of_several(f, n):
    same(f, n)


# -- in lists, dicts and tuples --------------------------------------------------------------------------------


@njit
def appended(n):
    fs = []
    fs.append(inc)
    fs.append(double)
    fs.append(minus)
    fs.append(lambda x: x * n)
    s = 0
    for f in fs:
        s = s * 10 + f(n)
    return s, [f(g(n)) for f in fs for g in reversed(fs)], len(fs)


@njit
def in_a_dict(n):
    ops = {"inc": inc, "double": double}
    ops["n"] = lambda x: x + n
    ops.setdefault("minus", minus)
    return [ops[k](n) for k in ops], [k for k, f in ops.items() if f(n) > n], ops.get("none", inc)(n), ops.pop("double")(n), len(ops)


@njit
def in_tuples_in_a_list(n):
    table = [("a", inc), ("b", double), ("c", minus)]
    return [(k, f(n)) for k, f in table], sorted([(f(n), k) for k, f in table])


@njit
def nested(n):
    d = {"a": [inc, double], "b": [minus]}
    d["b"].append(inc)
    return [f(n) for k in d for f in d[k]]


@njit
def moved(n):
    fs = [inc, double]
    fs.insert(0, minus)
    f = fs.pop()
    fs[0] = f
    fs += [minus]
    return [g(n) for g in fs + [f] * 2], [g(n) for g in fs[1:]]


@njit
def kept_arrays(n):
    fs = []
    for i in range(n):
        a = np.ones(i + 1)
        if i % 2:
            fs.append(lambda x, a=a: a.sum() * x)
        else:
            fs.append(lambda x, t="q" * i: len(t) + x * 1.0)
    fs.append(lambda x: x + n * 0.5)
    return [f(2.0) for f in fs]


@njit
def of_later_values(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
        if i % 2:
            fs.append(lambda: i + 100)
    return [f() for f in fs]


@njit
def compared(n):
    fs = [inc, double, minus]
    f = fs[n % 3]
    return f == double, f != double, double in fs, fs.index(minus), f is fs[1], fs.count(inc), f is not inc


@njit
def yielded(n):
    def each():
        for f in [inc, double]:
            yield f
    return [f(n) for f in each()]


@njit
def called_back(n):
    keys = {"up": lambda x: x, "down": lambda x: -x, "near": lambda x: abs(x - n)}
    return [sorted([3, n, -1, 8], key=keys[k]) for k in keys], functools.reduce(lambda v, f: f(v), [inc, double, minus], n)


@pytest.mark.parametrize("f", [appended, in_a_dict, in_tuples_in_a_list, nested, moved, kept_arrays, of_later_values, compared, yielded,
                               called_back], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 4])
def test_L16_in_containers(f, n):
    same(f, n)


def test_MEM_01_an_exception_drops_what_they_hold():
    @njit
    def f(n):
        a = np.zeros(n)
        fs = [lambda i: a[i], lambda i: 1.0]
        try:
            return fs[n % 2](100)
        except IndexError:
            return fs[1](0) - 2

    @njit
    def uncaught(n):
        a = np.zeros(n)
        fs = {"a": lambda i: a[i], "b": lambda i: i * 0.5}
        return fs["a" if n % 2 else "b"](100)
    same(f, 2)
    same(f, 3)
    before = live()
    with pytest.raises(IndexError):
        uncaught(3)
    assert uncaught(2) == 50.0 and live() == before


def test_MEM_02_each_allocation_fails():
    assert each_allocation_fails(kept_arrays, lambda: (3,)) == kept_arrays.py_func(3)
    assert each_allocation_fails(in_a_dict, lambda: (3,)) == in_a_dict.py_func(3)


def test_in_parallel_loops():
    @njit(parallel=True)
    def f(n, c):
        a = np.ones(n)
        g = (lambda i: a[i] + i) if c else (lambda i: i * 2.0)
        out = np.zeros(n)
        for i in prange(n):
            out[i] = g(i)
        return out
    assert np.array_equal(f(100, True), np.arange(100) + 1.0)
    assert np.array_equal(f(100, False), np.arange(100) * 2.0)


def test_in_kernels(device):
    @cuda.jit
    def kernel(a, k):
        i = cuda.grid(1)
        if i < a.shape[0]:
            f = (lambda x: x + k) if a[i] % 2 else (lambda x: x * 3)
            a[i] = f(a[i])
    a = np.arange(8)
    kernel[1, 8](a, 5)
    assert a.tolist() == [i + 5 if i % 2 else i * 3 for i in range(8)]


# -- from Python and back -----------------------------------------------------------------------------------------


@njit
def of_a_list(fs, x):
    s = 0
    for f in fs:
        s = s * 10 + f(x)
    return s, fs[-1](x), len(fs)


@njit
def of_a_dict(d, x):
    return [d[k](x) for k in d], [k for k, f in d.items() if f(x) > 3]


@njit
def looked_up(d, k, x):
    return d[k](x) if k in d else -1


@njit
def of_a_table(table, x):
    return [(k, f(x)) for k, f in table]


@njit
def changes_a_list(fs, x):
    fs.append(fs[0])
    fs[0], fs[1] = fs[1], fs[0]
    return fs[0](x)


@njit
def changes_a_dict(d, x):
    d["z"] = d["a"]
    del d["b"]
    return d["z"](x)


@pytest.mark.parametrize("f, args", [
    (of_a_list, ([inc, double], 4)), (of_a_list, ([inc, minus, double, abs], -3)), (of_a_list, ([minus], 2.5)), (of_a_list, ((inc, minus), 2)),
    (of_a_dict, ({"a": inc, "b": double}, 4)), (looked_up, ({"a": inc, "b": double}, "b", 4)),
    (looked_up, ({1: inc, 2: minus}, 3, 4)), (of_a_table, ([("a", inc), ("b", double), ("c", minus)], 3)),
    (changes_a_list, ([inc, double], 4)), (changes_a_dict, ({"a": inc, "b": double}, 4))])
def test_L17_containers_of_functions_are_arguments(f, args):
    same(f, *args)


def test_L17_the_same_functions_in_another_order_are_the_same_type():
    @njit
    def f(fs, x):
        return fs[0](x)
    assert f([inc, double], 5) == 6 and f([double, inc], 5) == 10 and f([double, inc, inc], 5) == 10
    assert len(f.signatures) == 1
    assert f([minus], 5) == 4 and len(f.signatures) == 2


def test_MEM_04_functions_that_are_gone_leave_no_specialisation_of_lists():
    def adder(k):
        return lambda x: x + k

    @njit
    def f(fs, x):
        return fs[0](x) + fs[1](x)
    for k in range(5):
        assert f([adder(k), inc], 1) == k + 3
        assert f({0: adder(k), 1: inc}, 1) == k + 3
    assert len(f.signatures) == 0


@njit
def returned(n):
    return inc if n else minus


@njit
def returned_alone():
    return inc


@njit
def given_back(f):
    return f


@njit
def returned_in_containers(n):
    fs = [inc, double, minus, abs]
    fs.append(operator.neg)
    return fs, {"a": inc, "b": minus}, (inc, n, minus), [("x", inc)]


@njit
def returned_or_none(n):
    return inc if n > 0 else None


def test_functions_are_results():
    assert returned(1) is inc and returned(0) is minus and returned_alone() is inc
    assert given_back(inc) is inc and given_back(minus) is minus
    fs = [inc, minus]
    assert given_back(fs) is fs
    assert returned_in_containers(3) == returned_in_containers.py_func(3)
    assert returned_or_none(1) is inc and returned_or_none(0) is None

    @njit
    def each(n):
        for f in [inc, minus]:
            yield f
    assert list(each(1)) == [inc, minus]
    assert returned(1)(5) == 6 and of_a_list([returned(1), returned(0)], 5) == of_a_list.py_func([inc, minus], 5)


def test_containers_of_functions_that_are_refused():
    @njit
    def appends(fs):
        fs.append(minus)
        return fs[-1](3)
    assert appends([minus, inc]) == 2
    with pytest.raises(errors.TypingError, match="all elements of a list are of one type"):
        appends([inc, double])
    with pytest.raises(errors.TypingError, match="different types"):
        of_a_list([inc, 3], 1)
    with pytest.raises(errors.TypingError, match="lists hold"):
        of_a_list([functools.partial(operator.add, 3)], 1)
    with pytest.raises(errors.TypingError, match="different types"):  # at most sixteen
        of_a_list([lambda x, k=k: x + k for k in range(17)], 3)
    assert of_a_list([lambda x, k=k: x + k for k in range(16)], 0)[1] == 15


# -- programs of chance ------------------------------------------------------------------------------------


@njit
def run(codes, n):
    s = 1
    fs = [inc]
    d = {0: minus}
    for c in codes:
        if c % 5 == 0:
            fs.append(lambda x: x + s)
        elif c % 5 == 1:
            fs.append(lambda x, c=c: x * c % 1000)
        elif c % 5 == 2:
            d[c] = fs[c % len(fs)]
        elif c % 5 == 3:
            if c in d:
                fs[c % len(fs)] = d[c]
        else:
            fs.insert(c % len(fs), double)
        s = (s + fs[c % len(fs)](c)) % 1000
    return s, [f(n) % 1000 for f in fs], [(k, f(n) % 1000) for k, f in d.items()]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 40), max_size=25), st.integers(-5, 5))
def test_L16_programs(codes, n):
    assert run([0] + codes, n) == run.py_func([0] + codes, n)


# -- what is refused ------------------------------------------------------------------------------------------


def test_refused():
    @njit
    def same_ones(n):
        f = (lambda: n) if n else (lambda: n + 1)
        g = lambda: n  # noqa: E731
        return f is g
    with pytest.raises(errors.TypingError, match="cannot compare"):
        same_ones(1)

    @njit
    def grows(n):
        f = inc
        for _ in range(n):
            f = lambda x, g=f: g(x) + 1  # noqa: E731
        return f(3)
    with pytest.raises(errors.UnsupportedError, match="too large"):
        grows(2)

    @njit
    def number(c):
        fs = [inc, double]
        fs.append(3)
        return fs[0](1)
    with pytest.raises(errors.TypingError, match="all elements of a list are of one type"):
        number(1)
