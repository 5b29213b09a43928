"""The module itertools and operator.itemgetter in compiled code, against CPython."""
import itertools
import operator

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit


def same(function, *calls):
    compiled = njit(function)
    for args in calls:
        def outcome(f):
            try:
                return f(*args)
            except Exception as e:  # noqa: BLE001
                return type(e)
        want, got = outcome(function), outcome(compiled)
        assert got == want and repr(got) == repr(want), (function.__name__, args)


def products(n, x):
    out = [a * b + c for a, b, c in itertools.product(range(n), [1, 2], (x, 2.5))]
    return out, list(itertools.product(range(n), repeat=2)), [t for t in itertools.product([n], "ab")]


def combinations(n, x):
    xs = [x + i for i in range(n)]
    return list(itertools.combinations(xs, 2)), [a * b * c for a, b, c in itertools.combinations(range(n), 3)]


def combinations_again(n, x):
    return list(itertools.combinations_with_replacement(range(n), 2)), list(itertools.combinations_with_replacement([x], 3))


def permutations(n, x):
    return list(itertools.permutations(range(n), 2)), list(itertools.permutations((n, 2, 3))), list(itertools.permutations([x, 1.0], 1))


def accumulated(n, x):
    return (list(itertools.accumulate(range(n))), list(itertools.accumulate([x, 2.0, n], lambda a, b: a * b)),
            list(itertools.accumulate([1, 2, n], initial=100)), list(itertools.accumulate(range(1, n), max)),
            [float(v) for v in itertools.accumulate(np.arange(n) * x)], list(itertools.accumulate(range(n), lambda a, b: a - b, initial=5)))


def chained(n, x):
    a = [i for i in itertools.chain([1, 2], range(n), (7, n))]
    b = sum(itertools.chain([x], [2.0]))
    return a, b, list(itertools.chain([n])), list(itertools.chain.from_iterable([[1, n], [3]]))


def sliced(n, x):
    return (list(itertools.islice(range(100), n)), list(itertools.islice([x, 2.0, 3.0], 1, None)), list(itertools.islice(range(50), 2, 20, n + 1)),
            list(itertools.islice(range(10), None, 5, None)))


def sliced_of_a_generator(n, x):
    def numbers():
        k = 0
        while True:
            yield k * x
            k += 1
    g = numbers()
    return list(itertools.islice(g, n)), list(itertools.islice(g, 1, 3)), next(g)


def without_end(n, x):
    s = 0
    for i in itertools.count(n):
        if i * i > 50:
            break
        s += i
    c = []
    for y in itertools.cycle([1, 2, n]):
        c.append(y)
        if len(c) > 7:
            break
    z = [a * b for a, b in zip(itertools.count(1, 2), [x, x, 3.0])]
    return s, c, z, sum(itertools.repeat(x, n + 1)), [a for a, b in zip(itertools.repeat(n), range(3))]


def by_predicates(n, x):
    return (list(itertools.takewhile(lambda v: v < n, range(10))), list(itertools.dropwhile(lambda v: v < n, [0, 5, 1, 9])),
            list(itertools.filterfalse(lambda v: v % 2, range(n))), list(itertools.filterfalse(None, [0, n, 0])),
            list(itertools.compress([1, n, 3], [True, False, n > 1])))


def side_by_side(n, x):
    return ([a + b for a, b in itertools.zip_longest([1, 2, 3], range(n), fillvalue=10)], [b - a for a, b in itertools.pairwise([1, n, 9, 16])],
            list(itertools.pairwise(range(n))), list(itertools.starmap(lambda a, b: a * b + x, [(1, 2), (n, 3)])))


def items(n, x):
    pairs = [(n, 2.5), (3, x), (2, 0.5)]
    pairs.sort(key=operator.itemgetter(1))
    return pairs, max(pairs, key=operator.itemgetter(0)), operator.itemgetter(n % 3)([7, 8, 9])


@pytest.mark.parametrize("f", [products, combinations, combinations_again, permutations, accumulated, chained, sliced, sliced_of_a_generator,
                               without_end, by_predicates, side_by_side, items], ids=lambda f: f.__name__)
def test_itertools(f):
    same(f, *((n, x) for n in (0, 1, 2, 3, 5) for x in (1.5, -2.0)))


def test_wrong_arguments():
    def slices(a, b, c):
        return list(itertools.islice(range(10), a, b, c))
    same(slices, (-1, 2, 1), (1, -2, 1), (1, 5, 0), (1, 5, 2))


def test_slices_that_end_before_they_begin_consume_up_to_the_beginning():
    def f(start, stop, step):
        it = iter(range(20))
        g = itertools.count(1)
        return list(itertools.islice(it, start, stop, step)), next(it), list(itertools.islice(g, start, stop)), next(g)
    same(f, *itertools.product((0, 1, 5), (0, 1, 3, 5, 9), (1, 2, 4)), (5, None, 3))


def test_islice_has_up_to_four_arguments():
    def five(n):
        return list(itertools.islice(range(n), 1, 2, 1, 7))

    def one(n):
        return list(itertools.islice(range(n)))
    same(five, (3,))
    same(one, (3,))


def test_no_iterables():
    def f(n):
        return len(list(itertools.chain())), len(list(itertools.zip_longest())), [x for x in itertools.chain([n], [2])]
    same(f, (3,))


def test_products_of_no_and_of_fewer_times():
    def none(n):
        return [len(t) for t in itertools.product(range(n), repeat=0)], [len(t) for t in itertools.product()]

    def fewer(n):
        return len(list(itertools.product(range(n), repeat=-1)))
    same(none, (0,), (3,))
    same(fewer, (0,), (3,))
    with pytest.raises(ValueError, match="repeat argument cannot be negative"):
        njit(fewer)(3)


def test_lengths_of_tuples_are_constants():
    def f(n):
        return len(list(itertools.combinations(range(5), n)))
    with pytest.raises(TypeError, match="constant"):
        njit(f)(2)


def test_recursive_generators_that_call_themselves_before_they_yield():
    @njit
    def tree(k):
        if k > 0:
            yield from tree(k - 1)
            yield k
            for x in tree(k - 1):
                yield x * 1

    def walk(n):
        return list(tree(n))
    assert njit(walk)(4) == [1, 2, 1, 3, 1, 2, 1, 4, 1, 2, 1, 3, 1, 2, 1]

    @njit
    def permuted(xs, k):
        if k == len(xs):
            yield xs.copy()
        else:
            for i in range(k, len(xs)):
                xs[k], xs[i] = xs[i], xs[k]
                for p in permuted(xs, k + 1):
                    yield p
                xs[k], xs[i] = xs[i], xs[k]
    assert sorted(njit(lambda n: [p for p in permuted(list(range(n)), 0)])(3)) == sorted(map(list, itertools.permutations(range(3))))


def test_a_dict_or_something_else_in_one_expression():
    def f(c, n):
        d = None if c else {1: n}
        e = {n: 2.5} if c else {3: 4.5, 5: 6.5}
        g = {k: k * 2 for k in range(n)} if c else {}
        return d is None, len(e), len(g), 0 if d is None else d[1]
    same(f, (True, 3), (False, 3))
