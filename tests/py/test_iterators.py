"""iter(), next() and what goes over iterators, beside CPython: order, laziness, ends."""
import numpy as np
import pytest

from quern import cuda, njit, prange

A = np.arange(6.0)
B = np.array([3, 0, 4, 0, 0, 5, 7])
EMPTY = np.empty(0)


def double(x):
    return x * 2


def is_odd(x):
    return x % 2 == 1


def add(x, y):
    return x * 10 + y


def next_twice(a):
    it = iter(a)
    return next(it), next(it)


def next_of_range(n):
    it = iter(range(3, n, 2))
    s = 0
    while True:
        x = next(it, -1)
        if x < 0:
            return s
        s = s * 10 + x


def shared(a):
    it = iter(a)
    other = it
    return next(it), next(other), next(it)


def pairs(a):
    it = iter(a)
    s = 0.0
    for x, y in zip(it, it):
        s = s * 3 + x * y
    return s, next(it, -1.0)


def triples(n):
    it = iter(range(n))
    s = 0
    for x, y, z in zip(it, it, it):
        s = s * 7 + x - y + 3 * z
    return s


def break_and_go_on(a, k):
    it = iter(a)
    s = 0.0
    for x in it:
        if x == k:
            break
        s += x
    t = 1.0
    for x in it:
        t = t * 2 + x
    return s, t


def enumerate_twice(a):
    e = enumerate(a, 5)
    s = 0
    for i, x in e:
        s += i
        if i == 7:
            break
    for i, x in e:
        s = s * 10 + i
    for i, x in e:
        s = -1
    return s


def zip_in_a_loop(a, n):
    z = zip(a, range(100))
    s = 0.0
    for k in range(n):
        for x, i in z:
            s += x * i + k
            if i % 2:
                break
    return s


def header_and_rest(a):
    it = iter(a)
    first = next(it)
    m = first
    for x in it:
        m = max(m, x)
    return first, m


def reversed_next(a):
    r = reversed(a)
    s = next(r)
    for x in r:
        s = s * 2 + x
    return s


def rows(a):
    it = iter(a)
    first = next(it)
    s = first.sum()
    for row in it:
        s = s * 2 + row[0]
    return s


def tuple_next(t):
    it = iter(t)
    s = next(it)
    for x in it:
        s = s * 10 + x
    return s, next(it, 77)


def mapped(a):
    s = 0.0
    for x in map(double, a):
        s = s * 3 + x
    return s


def mapped_two(a, n):
    s = 0.0
    for x in map(add, a, range(n)):
        s = s + x
    return s


def mapped_next(a):
    m = map(double, a)
    first = next(m)
    s = 0.0
    for x in m:
        s = s * 3 + x
    return first, s, next(m, -5.0)


def filtered(n):
    s = 0
    for x in filter(is_odd, range(n)):
        s = s * 10 + x
    return s


def filtered_none(b):
    s = 0
    for x in filter(None, b):
        s = s * 10 + x
    return s


def filter_of_map(n):
    s = 0
    for x in filter(is_odd, map(add, range(n), reversed(range(n)))):
        s = s * 3 + x
    return s


def enumerate_filter(b):
    s = 0
    for i, x in enumerate(filter(None, b), 2):
        s = s * 10 + i * x
    return s


def zip_filter(b, n):
    s = 0
    it = iter(range(n))
    for x, y in zip(filter(None, b), it):
        s = s * 10 + x + y
    return s, next(it, -1)


def zip_of_equals(a, n):
    s = 0
    for x, y in zip(a, range(n), strict=True):
        s = s * 2 + x * y
    return s


def zip_three(a, n, m):
    s = 0
    for x, y, z in zip(a, range(n), range(m), strict=True):
        s = s * 2 + x * y + z
    return s


def zip_not_strict(a, n):
    s = 0
    for x, y in zip(a, range(n), strict=False):
        s = s * 2 + x * y
    return s


def nothing():
    s = 0
    for _ in zip():
        s += 1
    for _ in zip(strict=True):
        s += 1
    it = zip()
    for _ in it:
        s += 1
    return s


def nested(a):
    it = iter(a)
    s = 0.0
    for x in it:
        for y in it:
            s = s * 2 + x * y
            if y > 2:
                break
    return s


def through_function(a):
    it = iter(a)
    s = take_two(it)
    return s, take_two(it), next(it, -1.0)


def take_two(it):
    s = next(it)
    return s * 10 + next(it)


def returned(a, n):
    it = skip(a, n)
    return next(it), next(it, -1.0)


def skip(a, n):
    it = iter(a)
    for k in range(n):
        next(it)
    return it


def either(a, b, c):
    it = iter(a)
    if c:
        it = iter(b)
    return next(it) + next(it)


def made_each_round(a, n):
    s = 0.0
    before = iter(a)
    for k in range(n):
        it = iter(a)
        s = s * 2 + next(it) + next(it) + next(before)
        before = it
    return s


def in_a_tuple(a):
    pair = (iter(a), iter(a))
    s = next(pair[0]) + next(pair[0])
    return s * 10 + next(pair[1])


def itself(a):
    it = iter(iter(a))
    s = 0.0
    for x in iter(it):
        s = s * 2 + x
        break
    return s, next(it)


def ndindex_next():
    it = np.ndindex(2, 3)
    first = next(it)
    s = first[0]
    for i, j in it:
        s = s * 10 + i + j
    return s


def enumerated_elements(a):
    it = np.ndenumerate(a)
    next(it)
    s = 0.0
    for (i, j), x in it:
        s = s * 2 + i * j * x
    return s


def flat_next(a):
    f = a.flat
    first = next(f)
    return first, f[0], f[2], next(f), next(f)


def builtins_of_iterators(a):
    it = iter(a)
    next(it)
    return sum(map(double, a)), max(filter(None, a)), sum(it), sum(it)


GRID = np.arange(12.0).reshape(3, 4)
CASES = [
    (next_twice, A), (next_twice, EMPTY), (next_twice, A[:1]), (next_of_range, 8), (next_of_range, 0), (shared, A), (shared, A[:2]),
    (pairs, A), (pairs, A[:5]), (pairs, EMPTY), (triples, 10), (triples, 11), (triples, 2), (break_and_go_on, A, 2.0),
    (break_and_go_on, A, 9.0), (break_and_go_on, EMPTY, 1.0), (enumerate_twice, A), (enumerate_twice, A[:2]), (zip_in_a_loop, A, 2),
    (zip_in_a_loop, A, 9), (header_and_rest, A), (header_and_rest, EMPTY), (reversed_next, A), (reversed_next, EMPTY), (rows, GRID),
    (rows, GRID[:0]), (rows, np.asfortranarray(GRID)), (tuple_next, (3, 1, 4)), (tuple_next, (3,)), (mapped, A), (mapped, EMPTY),
    (mapped_two, A, 4), (mapped_two, A, 9), (mapped_next, A), (mapped_next, EMPTY), (filtered, 12), (filtered, 1), (filtered_none, B),
    (filter_of_map, 7), (enumerate_filter, B), (enumerate_filter, B[:0]), (zip_filter, B, 3), (zip_filter, B, 9), (zip_filter, B, 4),
    (zip_of_equals, A, 6), (zip_of_equals, A, 5), (zip_of_equals, A, 7), (zip_of_equals, EMPTY, 0), (zip_three, A, 6, 6),
    (zip_three, A, 6, 5), (zip_three, A, 6, 7), (zip_three, A, 5, 6), (zip_three, A, 7, 6), (zip_not_strict, A, 4), (nested, A),
    (through_function, A), (through_function, A[:3]), (returned, A, 2), (returned, A, 5), (returned, A, 6), (either, A, A[2:], True),
    (either, A, A[2:], False), (made_each_round, A, 5), (in_a_tuple, A), (itself, A), (itself, EMPTY), (ndindex_next,),
    (enumerated_elements, GRID), (flat_next, A), (flat_next, GRID.T), (builtins_of_iterators, A), (nothing,),
]  # fmt: skip


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return type(e), str(e)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].__name__}-{'-'.join(str(np.size(x)) for x in c[1:])}")
def test_iterators_are_those_of_cpython(case):
    f, *args = case
    assert outcome(njit(f), *args) == outcome(f, *args)


def test_StopIteration_has_the_place_of_next():
    def f(a):
        it = iter(a)
        while True:
            next(it)

    try:
        njit(f)(A)
    except StopIteration as e:
        frames = []
        while e.__traceback__ and (tb := e.__traceback__):
            frames.append((tb.tb_frame.f_code.co_name, tb.tb_lineno - f.__code__.co_firstlineno))
            e.__traceback__ = tb.tb_next
        assert frames[-1] == ("f", 3)
    else:
        raise AssertionError("no StopIteration")


def log_call(row, x):
    row[x] += 1
    return x


def called_first(rows, n):
    s = 0
    for x, y in zip(map(log_call, rows, range(n)), range(3)):
        s += x * y
    return s


def called_last(rows, n):
    s = 0
    for y, x in zip(range(3), map(log_call, rows, range(n))):
        s += x * y
    return s


def called_by_filter(rows, n):
    s = 0
    for x in filter(None, map(log_call, rows, range(n))):
        s = s * 2 + x
        if x == 4:
            break
    return s


@pytest.mark.parametrize("f", [called_first, called_last, called_by_filter])
def test_functions_are_called_as_often_as_in_cpython(f):
    ours, theirs = np.zeros((1, 10), np.int64), np.zeros((1, 10), np.int64)
    rows = [np.lib.stride_tricks.as_strided(log, (9, 10), (0, 8)) for log in (ours, theirs)]
    assert njit(f)(rows[0], 9) == f(rows[1], 9)
    assert ours.tolist() == theirs.tolist()
    assert theirs.sum() in (3, 4, 5)


@pytest.mark.parametrize("place", ["kernel", "parallel"])
def test_filter_in_kernels_and_in_parallel_loops(place):
    def odd(x):
        return x % 2 == 1

    if place == "kernel":

        @cuda.jit
        def f(out):
            s = 0
            for x in filter(odd, range(10)):
                s += x
            out[cuda.grid(1)] = s

        out = np.zeros(4, np.int64)
        f[2, 2](out)
        assert out.tolist() == [25] * 4
    else:

        @njit(parallel=True)
        def f(a, out):
            for i in prange(len(out)):
                it = iter(a)
                for x, y in zip(it, it):
                    out[i] += x * y * i

        out = np.zeros(1000)
        f(A, out)
        assert out.tolist() == [26.0 * i for i in range(1000)]


@pytest.mark.parametrize("program, words", [
    (lambda a: next(a), "iter() makes one"),
    (lambda a: next(range(3)), "iter() makes one"),
    (lambda a: next(iter(a), (1, 2)), "no common type"),
])
def test_refusals_say_what_to_do(program, words):
    with pytest.raises(Exception, match="next cannot be called") as e:
        njit(program)(A)
    assert words in str(e.value)


SCALE = 3


def mapped_lambda(a):
    s = 0.0
    for x in map(lambda x, y: x * SCALE + y, a, range(10)):
        s = s * 0.5 + x
    return s


def filtered_lambda(n):
    s = 0
    for x in filter(lambda x: x % 3 == 0, range(n)):
        s = s * 10 + x
    return s


def lambdas_by_name(n):
    up = lambda x: x + 1  # noqa: E731
    twice = lambda x: x * 2  # noqa: E731

    def square(x):
        y = x * x
        return y

    return up(twice(n)), sum(map(up, range(n))), square(n) + square(0.5)


@pytest.mark.parametrize("case", [(mapped_lambda, A), (filtered_lambda, 14), (lambdas_by_name, 5)], ids=lambda c: c[0].__name__)
def test_functions_without_closures_are_constants(case):
    f, *args = case
    assert njit(f)(*args) == f(*args)


def test_what_is_wrong_in_a_lambda_is_told_once():
    def f(a):
        unused = lambda q: undefined_name  # noqa: E731, F821, F841
        return sum(map(lambda x: x + missing, a))  # noqa: F821

    told = [d.message for d in njit(f).explain(A).diagnostics]
    assert sorted(m.split("'")[1] for m in told) == ["missing", "undefined_name"]
