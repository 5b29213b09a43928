"""Loops over lists: what stands still is read in front of them, and room for appends is made once. Each program changes, or seems to
change, what the loop goes over: results are CPython's."""

import pytest

import quern
from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit, prange


def summed(xs):
    s = 0
    for i in range(len(xs)):
        s += xs[i] * i
    return s


def walked(xs):
    s = 0
    for x in xs:
        s += x
    return s


def recurrence(n):
    xs = [i for i in range(n)]
    for i in range(1, n):
        xs[i] = xs[i - 1] + i
    return xs


def grows_as_it_is_walked(n):
    xs, out = [1, 2, 3], [0]
    for x in xs:
        out.append(x)
        if len(xs) < n:
            xs.append(x + 1)
    return out, xs


def shrinks_as_it_is_walked(n):
    xs, seen = list(range(n)), 0
    for x in xs:
        seen += x
        xs.pop()
    return seen, xs


def cleared(n):
    xs = [1, 2]
    for i in range(n):
        xs.append(i)
        if i % 7 == 6:
            xs.clear()
    return xs


def replaced(n):
    xs = [1] * 4
    total = 0
    for i in range(n):
        total += xs[i % len(xs)]
        if i % 5 == 4:
            xs = [i] * (i % 3 + 1)
    return total


def of_itself(n):
    xs = [1]
    for i in range(n):
        xs.append(xs[i] * 3 % 1000)
    return xs


def sometimes(n):
    xs = [1]
    for i in range(n):
        if i % 3 == 0:
            xs.append(i)
    return xs


def several(n):
    xs, ys = [1], [2.5]
    for i in range(n):
        for j in range(3):
            xs.append(j + i)
            ys.append(j * 0.5)
            xs.append(-j)
    return xs, ys


def append_and_pop(n):
    xs = [1, 2]
    for i in range(n):
        xs.append(i)
        if i % 2:
            xs.pop()
    return xs


def with_insert(n):
    xs = [1, 2]
    for i in range(n):
        xs.append(i)
        xs.insert(1, -i)
    return xs


def nested(n):
    rows = [[float(j * i) for j in range(i)] for i in range(n)]
    s = 0.0
    for i in range(n):
        for j in range(len(rows[i])):
            s += rows[i][j]
    return s, rows


def of_texts(n):
    xs = [""]
    for i in range(n):
        xs.append(str(i))
    return xs


def raises_midway(n):
    xs, ys = [0.0], [1, 2, 3]
    try:
        for i in range(n):
            xs.append(ys[i] * 1.0)
    except IndexError:
        xs.append(-1.0)
    return xs


def continues(n):
    xs = [0]
    for i in range(n):
        if i % 4 == 1:
            continue
        xs.append(i)
    return xs


def breaks(n):
    xs = [0]
    for i in range(n):
        xs.append(i)
        if i == 20:
            break
    return xs


PROGRAMS = [recurrence, grows_as_it_is_walked, shrinks_as_it_is_walked, cleared, replaced, of_itself, sometimes, several,
            append_and_pop, with_insert, nested, of_texts, raises_midway, continues, breaks]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_results_are_those_of_Python(f):
    compiled = njit(f)
    for n in (0, 1, 2, 3, 21, 300):
        assert compiled(n) == f(n), n


@pytest.mark.parametrize("f", [recurrence, of_itself, sometimes, continues], ids=lambda f: f.__name__)
def test_over_several_strips(f):
    assert njit(f)(140000) == f(140000)


@pytest.mark.parametrize("f", [summed, walked], ids=lambda f: f.__name__)
def test_lists_as_arguments(f):
    compiled = njit(f)
    for xs in ([5], list(range(1000)), [0.5] * 70000):
        assert compiled(xs) == f(xs)


def test_two_names_of_one_list():
    def both(xs, ys, n):
        for i in range(n):
            xs.append(i)
            ys.append(-i)
        return len(xs), len(ys)

    def one_grows(xs, ys):
        s = 0
        for i in range(len(xs)):
            ys.append(i)
            if i < 200:
                s += len(xs) + xs[-1]
        return s

    for n in (0, 1, 100, 70000):
        a, b, expected = [1], [2], [1]
        assert njit(both)(a, a, n) == both(expected, expected, n) and a == expected
        assert njit(both)([1], b, n) == (n + 1, n + 1) and b == [2] + [-i for i in range(n)]
    a, expected = [1, 2, 3], [1, 2, 3]
    assert njit(one_grows)(a, a) == one_grows(expected, expected) and a == expected


def test_what_is_called_may_change_it():
    @njit
    def longer(xs, v):
        if v % 3 == 0:
            xs.append(v)

    @njit
    def made(n):
        own = [0]
        for i in range(n):
            own.append(i)
        return own

    def calls(n, longer, made):
        xs, s = [1], 0
        for i in range(n):
            xs.append(i)
            longer(xs, -i)
            s += xs[-1] + len(xs)
        for i in range(n):
            s += xs[i] + len(made(i % 5))
        return xs, s

    @njit
    def compiled(n):
        xs, s = [1], 0
        for i in range(n):
            xs.append(i)
            longer(xs, -i)
            s += xs[-1] + len(xs)
        for i in range(n):
            s += xs[i] + len(made(i % 5))
        return xs, s

    for n in (0, 1, 50, 2000):
        assert compiled(n) == calls(n, longer.py_func, made.py_func)


def test_a_handler_of_a_generator_may_change_it():
    @njit
    def appending(xs):
        try:
            yield 1
            yield 2
        finally:
            xs.append(7)

    def walk(n, appending):
        xs, s = [1], 0
        for i in range(n):
            for x in appending(xs):
                s += x + xs[-1]
                break
            xs.append(i)
            s += len(xs)
        return xs, s

    @njit
    def compiled(n):
        xs, s = [1], 0
        for i in range(n):
            for x in appending(xs):
                s += x + xs[-1]
                break
            xs.append(i)
            s += len(xs)
        return xs, s

    for n in (0, 1, 10, 200):
        assert compiled(n) == walk(n, appending.py_func)


def test_a_list_of_an_instance_is_read_anew():
    @quern.experimental.jitclass([("xs", quern.types.List(quern.int64)), ("n", quern.int64)])
    class Bag:
        def __init__(self):
            self.xs = [1]
            self.n = 0

        def put(self, v):
            self.xs.append(v)
            self.n += 1

    @njit
    def f(bag, n):
        s = 0
        for i in range(n):
            bag.put(i)
            s += bag.xs[-1] + len(bag.xs) + bag.n
            if i % 10 == 9:
                bag.xs = [i]
        return s

    def expected(n):
        s, xs = 0, [1]
        for i in range(n):
            xs.append(i)
            s += xs[-1] + len(xs) + i + 1
            if i % 10 == 9:
                xs = [i]
        return s

    for n in (0, 1, 25, 1000):
        assert f(Bag(), n) == expected(n)


def test_attributes_that_stand_still_and_those_that_do_not():
    @quern.experimental.jitclass([("scale", quern.float64), ("total", quern.float64)])
    class Sum:
        def __init__(self, scale):
            self.scale = scale
            self.total = 0.0

        def add(self, x):
            self.total += x * self.scale
            if self.total > 1000.0:
                self.scale *= 0.5

    @njit
    def run(a, b, n):
        s = 0.0
        for i in range(n):
            a.add(i)
            s += b.scale + a.total
        for i in range(n):
            s += a.scale * i
            if i % 3:
                b.scale = b.scale * 0.5 + i
        return s

    def twin(n, same):
        a = [2.0, 0.0]
        b = a if same else [3.0, 0.0]
        s = 0.0
        for i in range(n):
            a[1] += i * a[0]
            if a[1] > 1000.0:
                a[0] *= 0.5
            s += b[0] + a[1]
        for i in range(n):
            s += a[0] * i
            if i % 3:
                b[0] = b[0] * 0.5 + i
        return s

    for n in (0, 1, 100, 3000):
        a = Sum(2.0)
        assert run(a, a, n) == twin(n, True)
        assert run(Sum(2.0), Sum(3.0), n) == twin(n, False)


def test_an_absent_list_is_not_looked_at():
    def f(n):
        rows, s = [[1, 2, 3], None, [4, 5, 6]], 0
        for i in range(len(rows)):
            row = rows[i]
            for j in range(n):
                if row is not None:
                    s += row[j] + len(row)
        return s

    assert njit(f)(3) == f(3) and njit(f)(0) == 0

    def unassigned(n, have):
        if have:
            xs = [1, 2, 3]
        s = 0
        for i in range(n):
            s += xs[i]
        return s

    compiled = njit(unassigned)
    assert compiled(3, True) == 6 and compiled(0, False) == 0
    with pytest.raises(UnboundLocalError):
        compiled(1, False)


def test_in_parallel_loops():
    @njit(parallel=True)
    def f(n):
        out = [0] * n
        for i in prange(n):
            own = [i]
            for j in range(i % 50):
                own.append(j)
            out[i] = sum(own) + len(own)
        return out

    assert f(500) == [i + sum(range(i % 50)) + i % 50 + 1 for i in range(500)]


@pytest.mark.optimised
def test_what_is_left_in_the_loops():
    @njit
    def f(n):
        xs = [1.5]
        for i in range(n):
            xs.append(i * 0.5)
        s = 0
        for i in range(n):
            s += 1 if xs[i] > 2.0 else 0
        return s

    assert f(10) == 4
    (text,) = f.inspect_loops().values()
    assert text.count("several rounds at a time, if LLVM") == 2 and "index check" not in text, text


@pytest.mark.optimised
def test_a_list_that_is_made_for_a_few_has_no_room_for_all():
    @njit
    def f(n, k):
        xs = [0]
        for i in range(n):
            if i < k:
                xs.append(i)
        return xs

    @njit
    def many(n, k):
        rows = [f(n, k) for _ in range(2000)]
        return len(rows)

    import resource
    many(10, 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert many(60000, 2) == 2000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KB; with room for all 940,000
