"""heapq and bisect in compiled code, against CPython: the same heaps, element by element."""
import bisect
import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from objects import MEM_01_nothing_is_left, collected, same, shown  # noqa: F401
from quern import errors, njit


@njit
def event_queue(n):
    queue = []
    heapq.heappush(queue, (0.0, 0, "start"))
    log = []
    k = 0
    while queue and len(log) < 3 * n:
        t, number, name = heapq.heappop(queue)
        log.append((name, t))
        if name == "start":
            for _ in range(n):
                k += 1
                heapq.heappush(queue, (t + (k * 7 % 5) * 0.5, k, "job"))
        elif number % 2:
            k += 1
            heapq.heappush(queue, (t + 1.0, k, "more"))
    return log, len(queue)


@njit
def shortest_paths(edges, start):
    around = {}
    for a, b, w in edges:
        around.setdefault(a, []).append((b, w))
        around.setdefault(b, []).append((a, w))
    distance = {start: 0.0}
    heap = [(0.0, start)]
    while heap:
        d, here = heapq.heappop(heap)
        if d > distance[here]:
            continue
        for there, w in around[here]:
            if there not in distance or d + w < distance[there]:
                distance[there] = d + w
                heapq.heappush(heap, (d + w, there))
    return distance


@njit
def heapified(xs):
    heapq.heapify(xs)
    return xs


@njit
def pushed(xs, x):
    heapq.heapify(xs)
    heapq.heappush(xs, x)
    y = heapq.heappushpop(xs, x)
    z = heapq.heapreplace(xs, y)
    return xs, y, z, heapq.heappop(xs)


@njit
def popped(xs):
    return heapq.heappop(xs)


@njit
def replaced(xs, x):
    return heapq.heapreplace(xs, x)


@njit
def push_and_pop(xs, x):
    return heapq.heappushpop(xs, x), xs


@njit
def largest(xs, n):
    return heapq.nlargest(n, xs), heapq.nsmallest(n, xs), heapq.nlargest(2, xs, key=lambda x: -x)


def test_programs():
    for n in (0, 1, 7):
        same(event_queue, n)
    for start in (0, 3):
        same(shortest_paths, [(0, 1, 2.0), (1, 2, 2.5), (0, 2, 5.0), (2, 3, 1.0)], start)
    same(popped, [])
    same(replaced, [], 1)
    same(push_and_pop, [], 1)
    for xs in ([], [3], [3, 1, 2], [2.5, 0.5], ["b", "a"]):
        same(heapified, xs)


@given(st.lists(st.integers(-20, 20), max_size=60), st.integers(-25, 25), st.integers(-2, 9))
@settings(max_examples=150, deadline=None)
def test_heaps_are_those_of_cpython(xs, x, n):
    same(heapified, list(xs))
    same(pushed, list(xs), x)
    same(largest, list(xs), n)


@njit
def places(a, x):
    return bisect.bisect_left(a, x), bisect.bisect_right(a, x), bisect.bisect(a, x), bisect.bisect_left(a, x, 1), bisect.bisect(a, x, 1, len(a) - 1)


@njit
def by_key(a, x):
    return bisect.bisect_left(a, x, key=lambda v: -v), bisect.bisect(a, x, key=lambda v: -v)


@njit
def sorted_in(xs):
    out = []
    last = []
    for x in xs:
        bisect.insort(out, x)
        bisect.insort_left(last, (x % 3, x))
    return out, last


@njit
def below(a):
    return bisect.bisect(a, 1, -1)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=40), st.integers(-10, 10))
@settings(max_examples=100, deadline=None)
def test_bisect(xs, x):
    a = sorted(xs)
    same(places, a, x)
    assert places(np.array(a), x) == places.py_func(a, x)
    same(by_key, a[::-1], -x)
    same(sorted_in, xs)
    same(below, a)


def test_refused():
    with pytest.raises(errors.TypingError):
        njit(lambda a: heapq.heappush(a, 1))(np.arange(3))
    with pytest.raises(errors.TypingError, match="list of int"):
        njit(lambda a: heapq.heappush(a, (1, 2)))([1])


def merged(n):
    a, b = sorted([n, 1, 7]), [2, 3, 10, 12]
    return (list(heapq.merge(a, b)), list(heapq.merge(a)), list(heapq.merge(a, [], b, range(n), np.arange(n) * 1)),
            list(heapq.merge([9, 4], [12, 4, n], reverse=True)), list(heapq.merge(["a", "c"], ["b", "d"], ["bb"])))


def merged_by_key(n):
    """Of equal items those of the earlier one come first."""
    a, b, c = [(1, 2), (4, 0), (4, 1)], [(1, 7), (3, 1), (4, n)], [(4, -1)]
    return (list(heapq.merge(a, b, c, key=lambda t: t[0])), list(heapq.merge(a[::-1], b[::-1], key=lambda t: t[0] * 2, reverse=True)))


def merged_lazily(n):
    out, asked = [], []

    def squares():
        try:
            for i in range(n):
                asked.append(i)
                yield i * i
        finally:
            asked.append(-1)
    for x in heapq.merge([1, 5, 30], squares()):
        out.append(x)
        if x > 5:
            break
    return out, asked


@pytest.mark.parametrize("f", [merged, merged_by_key, merged_lazily], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 3, 6])
def test_merge(f, n):
    assert shown(njit(f)(n)) == shown(f(n))
