"""collections.deque in compiled code, against CPython's (issue 8, part 2)."""
import collections
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, live, same, shown  # noqa: F401
from quern import errors, njit


@njit
def breadth_first(n):
    adjacent = [[(i * 2 + 1) % n, (i * 3 + 2) % n] for i in range(n)]
    distance = [-1] * n
    queue = deque()
    queue.append(0)
    distance[0] = 0
    while queue:
        v = queue.popleft()
        for w in adjacent[v]:
            if distance[w] < 0:
                distance[w] = distance[v] + 1
                queue.append(w)
    return distance


@njit
def moving_sums(n):
    window = collections.deque(maxlen=3)
    out = []
    for i in range(n):
        window.append(i * 0.5)
        out.append(sum(window))
    return out, len(window), window.maxlen, list(window), repr(window), str(window)


@njit
def methods(n):
    q = deque([1, 2, 3, n])
    q.appendleft(7)
    q.rotate(2)
    a = list(q)
    q.rotate(-1)
    q.rotate()
    q.extendleft([8, 9])
    q.extend(q)
    q.extendleft(q)
    b = list(q)
    q.remove(2)
    q.reverse()
    q.insert(2, 55)
    q[1] = 44
    del q[0]
    c = q.copy()
    c.clear()
    return a, b, list(q), q[0], q[-1], q.count(1), q.index(55), q.index(1, 3), q.index(1, -4, 100), 44 in q, len(q), len(c), q.maxlen


@njit
def operators(n):
    q = deque([1, 2])
    r = deque([1, 3, n])
    s = deque([1, 2], 5)
    s += [n]
    s *= 2
    return (q < r, q <= r, q > r, q >= r, q == deque([1, 2]), q != deque([1, 2]), q == s, list(q + r), list(q * 3), list(n * q), list(q * -1),
            (q + r).maxlen, (s * 2).maxlen, list(s), bool(q), not deque([n], 0))


@njit
def gone_over(n):
    q = deque(range(n))
    q.rotate(1)
    return ([x for x in q], [x for x in reversed(q)], list(enumerate(q)), list(zip(q, range(10))), sorted(q, key=lambda x: -x), sum(q), max(q), min(q),
            list(map(lambda x: x * n, q)), any([x > 2 for x in q]), list(iter(q)), isinstance(q, deque), isinstance(q, list))


@njit
def from_everything(n):
    return (list(deque("abc")), list(deque((1, 2))), list(deque({n: 1, 2: 3})), list(deque(x * x for x in range(n))), list(deque(np.arange(n))),
            list(deque(deque([n]))), list(deque(range(n), 2)), list(deque(maxlen=n, iterable=[1.5, 2.5, n * 1.0])), len(deque([], 3)), list(deque([n], None)))


@njit
def of_text(n):
    q = deque(["a", "bb"])
    q.append("c" * n)
    q.appendleft("")
    return list(q), q.popleft(), q.pop(), "-".join(q), repr(q), "a" in q


@njit
def of_tuples_with_arrays(n):
    q = deque()
    for i in range(n):
        q.append((i, np.ones(i)))
    s = 0.0
    while q:
        i, a = q.popleft()
        s += a.sum() * i
        if i == n - 2:
            break
    q.rotate(1)
    return s, len(q)


@njit
def of_containers(n):
    q = deque([[1], [2]])
    q[0].append(n)
    q.append([])
    q[-1].append(5)
    q.popleft().append(6)
    d = {}
    d["k"] = deque([1.5])
    d["k"].append(n * 1.0)
    rows = [deque([i]) for i in range(n)]
    rows[0].extend([7, 8])
    return list(q), list(d["k"]), [list(r) for r in rows]


@njit
def of_functions(n):
    q = deque([lambda x: x + n, abs])
    q.append(lambda x: x * 2)
    return [f(-3) for f in q]


@njit
def passed(n):
    def fill(q, n):
        for i in range(n):
            q.append(i)
        return q
    q = fill(deque(), n)
    r = q
    r.append(100)

    def last():
        return q.pop()
    return last(), list(q), q is r


@pytest.mark.parametrize("f", [breadth_first, moving_sums, methods, operators, gone_over, from_everything, of_text, of_tuples_with_arrays,
                               of_containers, of_functions, passed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [3, 6])
def test_programs(f, n):
    same(f, n)


@njit
def popped(n):
    q = deque([1] * n)
    for _ in range(2):
        q.popleft()
    return q.pop()


@njit
def at(n):
    return deque([1, 2])[n]


@njit
def stored(n):
    q = deque([1, 2])
    q[n] = 5
    return list(q)


@njit
def deleted(n):
    q = deque([1, 2])
    del q[n]
    return list(q)


@njit
def found(n):
    return deque([1, 2]).index(n)


@njit
def removed(n):
    q = deque([1, 2])
    q.remove(n)
    return list(q)


@njit
def inserted(n):
    q = deque([1, 2], 3)
    q.insert(n, 7)
    q.insert(1, 8)
    return list(q)


@njit
def limited(n):
    q = deque(range(5), n)
    q.append(9)
    q.appendleft(8)
    q.extend([1, 2])
    return list(q), q.maxlen


@njit
def changed_in_a_loop(n):
    q = deque([1, 2, 3])
    s = 0
    for x in q:
        s += x
        q[0] = 9
        if x == n:
            q.append(1)
    return s


@njit
def turned_in_a_loop(n):
    q = deque([1, 2, 3])
    s = 0
    for x in q:
        s += x
        if x == n:
            q.rotate(1)
    return s


@pytest.mark.parametrize("f", [popped, at, stored, deleted, found, removed, inserted, limited, changed_in_a_loop, turned_in_a_loop],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [-3, -2, -1, 0, 1, 2, 3, 5])
def test_EXC_01_errors(f, n):
    same(f, n)


OPERATIONS = 16


@njit
def run(codes, items, most):
    q = deque(items, most)
    out = []
    for code, x in codes:
        if code == 0:
            q.append(x)
        elif code == 1:
            q.appendleft(x)
        elif code == 2:
            if q:
                out.append(q.pop())
        elif code == 3:
            if len(q) > 0:
                out.append(q.popleft())
        elif code == 4:
            q.rotate(x)
        elif code == 5:
            q.extend([x, x + 1, x + 2])
        elif code == 6:
            q.extendleft((x, x + 1))
        elif code == 7:
            q.reverse()
        elif code == 8:
            if x in q:
                q.remove(x)
        elif code == 9:
            if most is None or len(q) < most:
                q.insert(x, 100 + x)
        elif code == 10:
            if -len(q) <= x < len(q):
                q[x] = x
        elif code == 11:
            if -len(q) <= x < len(q):
                del q[x]
        elif code == 12:
            out.append(q.count(x))
        elif code == 13:
            if x > 12:
                q.clear()
        elif code == 14:
            q += q.copy()
            while len(q) > 20:
                q.popleft()
        else:
            q = q * (x % 3)
    return out, list(q), [v for v in reversed(q)], q.maxlen


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, OPERATIONS - 1), st.integers(-15, 15)), max_size=40), st.lists(st.integers(-5, 5), min_size=1, max_size=20),
       st.one_of(st.none(), st.integers(0, 8)))
def test_any_operations(codes, items, most):
    codes = [(0, 1)] + codes
    assert run(codes, items, most) == run.py_func(codes, items, most)


@njit
def results(n):
    q = deque([1, n], 5)
    q.rotate(1)
    q.appendleft(7)
    empty = deque([n])
    empty.clear()
    return q, [q, deque([3], 1)], {"a": deque(["x" * n, "y"])}, deque([(n, [1.5])]), deque([np.arange(n)])[0].sum(), empty


def test_results():
    got, wanted = results(3), results.py_func(3)
    assert got == wanted and shown(got) == shown(wanted)
    assert got[0] is got[1][0] and got[0].maxlen == 5 and got[1][1].maxlen == 1 and got[3].maxlen is None
    got[0].append(1.5)
    with pytest.raises(errors.TypingError, match="deque"):
        njit(lambda q: len(q))(got[0])

    @njit
    def arrays(n):
        q = deque([np.ones(n)])
        q.append(q[0])
        for _ in range(20):
            q.append(np.zeros(n))
            q.popleft()
        return q
    assert [a.tolist() for a in arrays(2)] == [[0, 0]] * 2


def test_MEM_02_each_allocation_fails():
    assert each_allocation_fails(of_text, lambda: (3,)) == of_text.py_func(3)
    assert each_allocation_fails(of_containers, lambda: (2,)) == of_containers.py_func(2)


def test_MEM_01_an_exception_drops_it():
    @njit
    def f(n):
        q = deque([np.ones(3)])
        q.append(np.zeros(n))
        return q[n][0]
    before = live()
    with pytest.raises(IndexError, match="deque index out of range"):
        f(5)
    assert live() == before


def test_refused():
    @njit
    def length(q):
        return len(q)
    with pytest.raises(errors.TypingError, match="deque"):
        length(deque([[1]]))

    @njit
    def mixed(n):
        q = deque([1])
        q.append("a")
        return len(q)
    with pytest.raises(errors.TypingError, match="all elements of a deque are of one type"):
        mixed(1)

    @njit
    def sliced(n):
        return deque([1, 2, n])[1:]
    with pytest.raises(errors.TypingError, match="index"):
        sliced(1)


# -- arguments ----------------------------------------------------------------------------------------------------------

@njit
def used(d, x):
    d.append(x)
    d.appendleft(x)
    d.rotate(1)
    first = d.popleft()
    return first, len(d), d[0], d[-1], d.maxlen, x in d, list(d), d


@pytest.mark.parametrize("d, x", [(deque([1, 2, 3]), 4), (deque([1, 2], maxlen=2), 4), (deque(range(40)), 7), (deque([1.5]), 2.5), (deque(), 3),
                                  (deque(["a", "\u65e5"], 3), "b"), (deque([(1, "a")]), (2, "b")), (deque([1, None]), 2), (deque([True], 9), False)], ids=repr)
def test_arguments_are_written_back(d, x):
    same(used, d, x)


def test_an_argument_that_comes_back_is_the_same():
    d, word = deque(["word" * 3, "b"]), "c" * 9
    f = njit(lambda d, x: (d, d.append(x), d))
    before = list(d)
    first, _, second = f(d, word)
    assert first is d and second is d and d[0] is before[0] and d[2] == word
    one = njit(lambda a, b: (a.append(1), b.append(2), len(a), a is b))
    both = deque([0])
    assert one(both, both)[2:] == (3, True) and both == deque([0, 1, 2])


def test_a_deque_that_only_is_read_may_be_walked_over_meanwhile():
    d = deque([1, 2, 3])
    f = njit(lambda d: sum(d))
    assert [f(d) for _ in d] == [6, 6, 6]


def test_arrays_in_arguments():
    a = np.ones(3)
    f = njit(lambda d, a: (d[0].sum(), d.append(a), d[0]))
    d = deque([a])
    total, _, first = f(d, a)
    assert total == 3.0 and first is a and d[0] is a and d[1] is a


def test_arguments_in_lists_and_tuples():
    f = njit(lambda xs, pair: (xs[1].append(9), pair[0].popleft(), len(xs[0])))
    xs, pair = [deque([1]), deque([2])], (deque([3, 4]), 1)
    assert f(xs, pair)[1:] == (3, 1) and xs == [deque([1]), deque([2, 9])] and pair[0] == deque([4])


def test_arguments_that_are_refused():
    class Derived(deque):
        pass
    f = njit(lambda d: len(d))
    before = live()
    for d, words in ((deque([[1]]), "holds no lists"), (deque([1, "a"]), "different types"), (Derived([1]), "Derived"), (deque([1, [2]]), "different types")):
        with pytest.raises(errors.TypingError, match=words):
            f(d)
    assert live() == before


def test_each_allocation_fails_with_an_argument():
    f = njit(lambda d: [x + "!" for x in d])
    f(deque(["a"]))
    assert each_allocation_fails(f, lambda: (deque(["a", "b"]),)) == ["a!", "b!"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-5, 5), max_size=12), st.one_of(st.none(), st.integers(0, 6)), st.lists(st.integers(0, 5), max_size=12))
def test_random_arguments(items, most, steps):
    same(stepped, deque(items, most), steps)


@njit
def stepped(d, steps):
    for s in steps:
        if s == 0:
            d.append(s)
        elif s == 1:
            d.appendleft(s)
        elif len(d) > 0 and s == 2:
            d.pop()
        elif len(d) > 0 and s == 3:
            d.popleft()
        elif s == 4:
            d.rotate(len(steps))
        else:
            d.extend(steps)
    return len(d)
