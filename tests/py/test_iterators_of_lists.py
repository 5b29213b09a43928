"""Iteration over lists that change meanwhile, beside CPython."""
import pytest

from quern import njit


def is_odd(x):
    return x % 2 == 1


def grows_while_walked():
    l = [1, 2, 3]
    for k in range(3):
        l.append(k)
    s = 0
    for x in l:
        s = s * 3 + x
        if len(l) < 20:
            l.append(x + 1)
    return (s, len(l))


def grows_behind_an_iterator():
    l = [1, 2, 3]
    it = iter(l)
    s = next(it)
    l.append(9)
    for x in it:
        s = s * 10 + x
    return s


def enumerated_filter():
    l = [1, 2, 3, 4, 5]
    s = 0
    for i, x in enumerate(filter(is_odd, l)):
        s = s * 10 + x * i
    return s


def made_of_iterators():
    l = [1, 2, 3, 4, 5]
    return (list(map(is_odd, l)), list(zip(l, range(3))), list(iter(l)), list(reversed(l)))


def zipped_with_itself():
    l = [1, 2, 3, 4, 5]
    s = 0
    for x, y in zip(l, l):
        s = s * 10 + x + y
    for i, x in enumerate(l):
        if i < 3:
            l.append(x)
        s += x
    for x in reversed(l):
        s = s * 3 + x
    return s


def pairs():
    l = [1, 2, 3, 4, 5]
    s = 0
    for x in map(is_odd, l):
        s = s * 2 + x
    it = iter(l)
    for x, y in zip(it, it):
        s = s * 10 + x * y
    return (s, next(it, -1))


def emptied():
    l = [1, 2, 3, 4, 5]
    it = iter(l)
    l.clear()
    return (next(it, -1), sum(l), max([3, 4]), sum(map(is_odd, [1, 2])))


def stays_at_its_end():
    l = [1]
    s = 0
    for x in l:
        l.pop()
        s += x
    it = iter(l)
    for x in it:
        s += x
    l.append(5)
    for x in it:
        s += x
    return s


def floats():
    l = []
    for x in range(4):
        l.append(float(x))
    s = 0.0
    for r in reversed(l):
        s = s * 2 + r
    for t in zip(l, l):
        s += t[0]
    return s


def backwards_and_growing():
    l = [1, 2, 3]
    s = 0
    for x in reversed(l):
        l.append(x)
        s = s * 10 + x
    return (s, len(l))


def backwards_and_popped():
    l = [1, 2, 3, 4, 5]
    s = 0
    for x in reversed(l):
        l.pop()
        s = s * 10 + x
    return s


def backwards_and_popped_twice():
    l = [1, 2, 3, 4, 5]
    s = 0
    for i, x in enumerate(reversed(l)):
        l.pop()
        l.pop()
        s = s * 10 + x + i
    return s


def backwards_by_next():
    l = [1, 2, 3, 4, 5]
    r = reversed(l)
    s = next(r)
    l.append(7)
    for x in r:
        s = s * 10 + x
    l.append(7)
    return (s, next(r, -1))


def map_stays_at_its_end():
    l = [1, 2]
    it = iter(l)
    m = map(is_odd, it)
    s = 0
    for x in m:
        s += x
    l.append(3)
    for x in m:
        s += 10
    for x in it:
        s += 10
    return s


@pytest.mark.parametrize("f", [grows_while_walked, grows_behind_an_iterator, enumerated_filter, made_of_iterators, zipped_with_itself, pairs, emptied, stays_at_its_end, floats, backwards_and_growing, backwards_and_popped, backwards_and_popped_twice, backwards_by_next, map_stays_at_its_end])
def test_lists_are_walked_over_as_in_cpython(f):
    assert njit(f)() == f()
