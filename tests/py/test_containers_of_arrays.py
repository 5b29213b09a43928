"""Arrays in lists, dicts and tuples of these: put in, taken out, changed, passed and returned, against CPython.

An array is held by the container, whoever made it; after each test nothing of it is left."""
import gc
import sys

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, live, same  # noqa: F401
from quern import errors, njit


# -- made and kept in compiled code --------------------------------------------------------------------------

@njit
def rows(n):
    out = []
    for i in range(n):
        out.append(np.full(i, i * 0.5))
    return out


@njit
def total_of_rows(n):
    out = []
    for i in range(n):
        row = np.arange(i) * 1.0
        out.append(row)
        row += 1
    total = 0.0
    for row in out:
        total += row.sum()
    last = out.pop()
    return total, len(out), last, out[0].size, out[-1].shape


@njit
def arguments_kept(a, b):
    xs = [a]
    xs.append(b)
    xs.append(a[1:])
    xs[0][0] = 7
    xs[2][0] = 8
    return xs


@njit
def one_of_two(a, b, first):
    xs = [a, b]
    xs.append(a + b)
    del xs[2]
    return xs[0] if first else xs[1]


@njit
def by_name(a, n):
    d = {"first": a}
    for i in range(n):
        d[str(i)] = np.zeros(i) + i
    d["first"] += 1
    return d, d["first"], d.get("1", a), d.pop("0", a).size


@njit
def of_dicts_and_lists(n):
    levels = {}
    for i in range(n):
        if i % 3 not in levels:
            levels[i % 3] = [np.zeros(1)]
        levels[i % 3].append(np.ones(i))
    out = []
    for k in levels:
        out.append(levels[k][-1])
    return levels, out


@njit
def pairs(a, n):
    xs = [(0, a)]
    for i in range(n):
        xs.append((i, a * i))
    best = 0.0
    for i, row in xs:
        best = max(best, row[0] + i)
    return xs, best


@njit
def swapped(xs):
    xs[0], xs[-1] = xs[-1], xs[0]
    xs.reverse()
    return xs[0]


@njit
def comprehended(a, n):
    return [a[i:] for i in range(n)], {i: a[:i] for i in range(n)}


@njit
def of_layouts(a, n):
    xs = [a]
    for i in range(n):
        xs.append(a[:, i])
    return len(xs), xs[0].sum()


@njit
def replaced_in_a_loop(a, n):
    xs = [a, a]
    for i in range(n):
        xs[i % 2] = xs[(i + 1) % 2] * 2
    return xs[0], xs[1]


def test_programs():
    a, b = np.arange(5.0), np.ones(5)
    for n in (0, 1, 4):
        same(rows, n)
        same(of_dicts_and_lists, n)
        same(by_name, a, n)
        same(pairs, a, n)
        same(comprehended, a, n)
        same(replaced_in_a_loop, a, n)
    same(total_of_rows, 5)
    same(arguments_kept, a, b)
    for first in (True, False):
        same(one_of_two, a, b, first)
    assert one_of_two(a, b, True) is a and one_of_two(a, b, False) is b
    same(swapped, [a, b, a + b])


def test_what_comes_back_is_the_array_that_went_in():
    a, b = np.arange(5.0), np.ones(5)
    xs = arguments_kept(a, b)
    assert xs[0] is a and xs[1] is b and xs[2].base is a and a.tolist() == [7, 8, 2, 3, 4]
    d = by_name(a, 2)[0]
    assert d["first"] is a and d["1"].base is not a


# -- NumPy's functions of lists of arrays ---------------------------------------------------------------------

@njit
def joined(xs):
    return np.concatenate(xs), np.hstack(xs), np.concatenate(xs, axis=None)


@njit
def stacked(xs):
    return np.stack(xs), np.stack(xs, axis=1), np.vstack(xs), np.column_stack(xs), np.array(xs), np.stack(xs).sum(axis=0)


@njit
def joined_rows(xs):
    return np.concatenate(xs, axis=1), np.concatenate(xs, 0), np.vstack(xs), np.hstack(xs), np.dstack(xs)


@njit
def chunks(n):
    parts = []
    for i in range(n):
        parts.append(np.arange(i))
    return np.concatenate(parts)


def test_numpy_joins_lists_of_arrays():
    a, b = np.arange(4.0), np.ones(4)
    for xs in ([a], [a, b, a + b], [a[::2], b[1::2]]):
        same(joined, xs)
        same(stacked, xs)
    same(joined, [a, b[:2]])
    assert same(stacked, [a, b[:2]])[0] is ValueError
    same(joined_rows, [a.reshape(2, 2), b.reshape(2, 2)])
    for n in (1, 2, 5):
        same(chunks, n)
    assert same(chunks, 0) == (ValueError, ("need at least one array to concatenate",))


# -- arguments ------------------------------------------------------------------------------------------------------

@njit
def through(xs):
    return xs


@njit
def sums(xs):
    total = 0.0
    for x in xs:
        total += x.sum()
        x[0] = -1
    return total


@njit
def changed(xs, a):
    xs.append(a)
    xs[0] = a[::-1].copy()
    xs.append(xs[1])
    return xs


@njit
def nested(d, a):
    for k in d:
        d[k].append(a)
        d[k][0][0] += k
    d[100] = [a, a]
    return d


@njit
def in_tuples(xs):
    total = 0.0
    for n, (a, name) in xs:
        total += n * a[0] + len(name)
    xs.append((5, (xs[0][1][0], "last")))
    return total


def test_arguments():
    a, b = np.arange(5.0), np.ones(3)
    for xs in ([a], [a, b], [a[::2], b[::2]], [np.zeros((2, 3)), np.ones((1, 1))], [np.array([1, 2]), np.array([3])]):
        same(through, xs)
        same(sums, xs)
        assert through(xs) is xs
    same(through, {1: a, 2: b})
    same(through, [[a], [], [b, b]])
    same(through, {"a": [a], "b": []})
    same(changed, [a, b], a)
    same(nested, {1: [a], 2: [b]}, b)
    same(in_tuples, [(1, (a, "x")), (2, (b, "yz"))])


def test_elements_that_do_not_change_stay_the_objects_they_are():
    a, b, c = np.arange(3.0), np.ones(2), np.zeros(4)
    xs = [a, b]
    got = changed(xs, c)
    assert got is xs and xs[1] is b and xs[2] is c and xs[3] is b and xs[0] is not a
    d = {1: [a], 2: [b]}
    nested(d, c)
    assert d[1][0] is a and d[1][1] is c and d[100][0] is c and d[100][1] is c


def test_MEM_07_reference_counts_of_arrays_stay():
    a, b = np.arange(3.0), np.ones(2)
    xs = [a, b]
    gc.collect()
    before = sys.getrefcount(a), sys.getrefcount(b)
    for _ in range(10):
        sums(xs)
        through(xs)
        one_of_two(a, a, False)
        changed([a, b], b)
    assert (sys.getrefcount(a), sys.getrefcount(b)) == before


def test_MEM_03_an_array_outlives_the_container_that_held_it():
    @njit
    def lonely(n):
        xs = []
        for i in range(n):
            xs.append(np.full(3, i))
        x = xs[n // 2]
        xs.clear()
        y = x[1:]
        return x, y

    x, y = lonely(5)
    assert x.tolist() == [2, 2, 2] and y.tolist() == [2, 2]
    del x
    gc.collect()
    assert y.tolist() == [2, 2]


@njit
def raises(xs, a, i):
    xs.append(a)
    ys = [a, a + 1]
    ys.append(xs[0])
    return ys[i][0]


def test_EXC_01_what_was_done_before_an_exception_is_done():
    a = np.arange(3.0)
    same(raises, [a], a, 1)
    assert same(raises, [a], a, 5)[0] is IndexError


# -- memory -----------------------------------------------------------------------------------------------------------

@njit
def program(xs, a, n):
    d = {}
    for i in range(n):
        d[i] = [a, a * i]
        xs.append(d[i][1])
    return d, xs[-1]


def test_MEM_02_each_allocation_fails_in_turn():
    a = np.arange(3.0)
    want = program([a], a, 4)[1]
    count = sys.getrefcount(a)
    assert each_allocation_fails(program, lambda: ([a], a, 4), 200)[1].tolist() == want.tolist()
    gc.collect()
    assert sys.getrefcount(a) == count


def test_nogil_and_threads():
    import threading

    @njit(nogil=True)
    def held(a, n):
        xs = [a]
        for i in range(n):
            xs.append(a)
            if i % 3 == 0:
                xs.pop()
        return len(xs)

    a = np.arange(3.0)
    held(a, 3)
    count = sys.getrefcount(a)
    threads = [threading.Thread(target=held, args=(a, 20000)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    held(a, 1)
    assert sys.getrefcount(a) == count


# -- refused -------------------------------------------------------------------------------------------------------------

@njit
def array_as_key(a):
    return {a: 1}


@njit
def two_types(a):
    xs = [a]
    xs.append(1.5)
    return xs


def test_refused():
    a = np.arange(3.0)
    with pytest.raises(errors.UnsupportedError, match="a dict with keys of"):
        array_as_key(a)
    with pytest.raises(errors.TypingError, match="a list of float64"):
        two_types(a)
    with pytest.raises(errors.TypingError, match="elements of a list are of different types"):
        through([a, 1.5])
    with pytest.raises(errors.TypingError, match="elements of a list are of different types"):
        through([a, np.arange(3)])
