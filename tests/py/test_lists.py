"""Lists in compiled code, against CPython: as locals, arguments, results and elements of each other.

Every test ends with as many objects of compiled code as it began with."""
import signal
import sys
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401

from quern import _quern, errors, njit, prange


def same(function, *args):
    """Compiled and interpreted: results, arguments afterwards, and exceptions."""
    def run(f):
        import copy
        given = copy.deepcopy(args)
        try:
            out = f(*given)
        except Exception as e:  # noqa: BLE001
            out = type(e), str(e) if not isinstance(e, ValueError) else ""
        return out, given
    fast, slow = run(function), run(function.py_func)
    assert repr(fast) == repr(slow)
    return fast[0]


# -- local lists ------------------------------------------------------------------------------------

@njit
def squares(n):
    out = []
    for i in range(n):
        out.append(i * i)
    return out


@njit
def halves(n):
    out = [0.5]
    while len(out) < n:
        out.append(out[-1] / 2)
    return out


@njit
def sieve(n):
    composite = [False] * n
    primes = []
    for i in range(2, n):
        if not composite[i]:
            primes.append(i)
            for k in range(i * i, n, i):
                composite[k] = True
    return primes


@njit
def worklist(n):
    todo = [n]
    seen = 0
    while todo:
        x = todo.pop()
        seen += 1
        if x > 1:
            todo.append(x // 2)
            todo.append(x // 3)
    return seen


@njit
def grows_while_walked(n):
    xs = [1, 2]
    total = 0
    for x in xs:
        total += x
        if len(xs) < n:
            xs.append(x + 1)
    return total, xs


@njit
def shrinks_while_walked(xs):
    seen = 0
    for x in xs:
        seen = seen * 10 + x
        xs.pop()
    return seen


@njit
def widens(n):
    xs = []
    xs.append(n)
    xs.append(n + 0.5)
    return xs[0] / 2, xs[1]


@njit
def two_sites(n):
    if n > 2:
        xs = []
    else:
        xs = [1.5]
    xs.append(n)
    return xs[-1] + len(xs)


@njit
def adds_in_place(n):
    xs = [1]
    ys = [2.0]
    xs += ys
    ys += xs
    zs = []
    zs.extend(range(n))
    zs.extend(zs[:-1])
    zs.extend((5, 42))
    zs += [0.5]
    return xs, ys, zs


@njit
def changes_a_slice(n):
    xs = list(range(n))
    part = xs[1:n:2]
    for i in range(len(part)):
        part[i] += 100
    part.append(n)
    part.pop()
    xs[1:n:2] = part
    return xs


def test_what_a_list_is_taught_reaches_the_lists_that_it_becomes():
    for n in range(6):
        assert adds_in_place(n) == adds_in_place.py_func(n)
        assert changes_a_slice(n) == changes_a_slice.py_func(n)


@pytest.mark.parametrize("function", [squares, halves, sieve, worklist, grows_while_walked, two_sites])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 50])
def test_local_lists(function, n):
    fast, slow = function(n), function.py_func(n)
    assert fast == slow


def test_a_list_that_shrinks_while_it_is_walked():
    assert same(shrinks_while_walked, [1, 2, 3, 4, 5]) == 123


def test_an_int_in_a_list_of_floats_is_a_float():
    assert widens(3) == (1.5, 3.5)


# -- nested lists -----------------------------------------------------------------------------------

@njit
def triangle(n):
    rows = []
    for i in range(n):
        row = [1]
        for k in range(1, i):
            row.append(rows[i - 1][k - 1] + rows[i - 1][k])
        if i:
            row.append(1)
        rows.append(row)
    return rows


@njit
def breadth_first(n, start):
    around = [[start]]
    around.clear()
    for i in range(n):
        around.append([])
    for i in range(n):
        around[i].append((i * 7 + 1) % n)
        around[(i * 5 + 2) % n].append(i)
    distance = [-1] * n
    distance[start] = 0
    todo = [start]
    for x in todo:
        for y in around[x]:
            if distance[y] < 0:
                distance[y] = distance[x] + 1
                todo.append(y)
    return distance, around


def test_nested_lists():
    assert triangle(8) == triangle.py_func(8)
    assert breadth_first(20, 3) == breadth_first.py_func(20, 3)


@njit
def shared(n):
    inner = [n]
    outer = [inner, inner]
    outer[0].append(n + 1)
    return outer, inner is outer[1], outer[0] is outer[1]


def test_a_list_in_two_places_is_one_list():
    outer, first, second = shared(4)
    assert outer == [[4, 5], [4, 5]] and first and second
    assert outer[0] is outer[1]


@njit
def replaced(xs, n):
    kept = xs[0]
    xs[0] = [n]
    xs[1] = kept
    xs.append(kept)
    return kept[0] + xs[0][0] + len(xs)


def test_MEM_03_an_element_outlives_its_place():
    for _ in range(50):
        same(replaced, [[1, 2], [3]], 4)


# -- comprehensions ---------------------------------------------------------------------------------

SCALE = 3


@njit
def comprehensions(n, y, xs):
    squares = [i * i for i in range(n)]
    some = [x * y + SCALE for x in xs if x % 2 == 0]
    triangle = [[i * j for j in range(i)] for i in range(n)]
    crossed = [(x, i) for x in xs for i in range(x) if i != 1]
    zeros = [[0] * n for _ in range(n)]
    if n > 1:
        zeros[1][0] = 5
    around = [[] for _ in range(n)]
    for i in range(n):
        around[i].append(i)
        around[0].append(n)
    i = 77
    total = sum([i for i in squares])
    return squares, some, triangle, crossed, zeros, around, i, total, [y for _ in xs]


@njit
def comprehension_that_raises(xs, i):
    return [xs[i + k] for k in range(3)]


def test_comprehensions():
    for n in range(5):
        same(comprehensions, n, 0.5, [4, 1, 2, 0])
    assert same(comprehension_that_raises, [1, 2, 3, 4], 1) == [2, 3, 4]
    assert same(comprehension_that_raises, [1, 2, 3, 4], 2)[0] is IndexError


@njit
def shadowed(xs, i):
    inner = [[i * k for i in range(k)] for k in xs if k != i]
    try:
        i = [xs[i + k] // k for k in xs][0]
    except ZeroDivisionError:
        i += 100
    except IndexError:
        i -= 100
    try:
        again = [10 // (x - i) for i in xs for x in xs]
    except ZeroDivisionError:
        again = [i]
    finally:
        i += 1000
    return inner, again, i


@njit
def name_that_only_some_paths_bind(xs):
    if len(xs) > 2:
        k = len(xs)
    ys = [k * k for k in xs]
    return ys, k


@njit
def one_of_two(xs, n):
    ys = xs if n > 2 else [1]
    zs = [] if n > 3 else xs
    return ys, zs, [x for x in xs] if n else []


@njit
def widened_in_a_loop(n):
    xs = [1]
    for i in range(n):
        xs += [i, i + 0.5]
    return xs


@njit
def deleted_name(xs):
    k = 1
    del k
    ys = [k + 1 for k in xs]
    return ys, k


@njit
def targets(a, xs, n):
    points = [(x, i) for i, x in enumerate(xs)]
    i = 5
    sums = [x + y * n for x, y in zip(a, xs)]
    swapped = [(b, a) for a, b in points if a]
    deep = [a + b + i for (a, b), i in zip(swapped, range(n))]
    last = [float(v) for v in reversed(a) if v > 0 if v < 3]
    return points, [float(v) for v in sums], swapped, deep, last, i


@njit
def in_a_loop(n):
    rows = []
    for i in range(n):
        row = [i + j for j in range(i)]
        while len(row) < n:
            row += [j for j in (5, 6)]
        if i == 3:
            continue
        rows.append([x for x in row])
    return rows, i


def test_comprehensions_keep_the_names_around_them():
    for xs in ([], [1], [2, 1], [1, 0, 2], [3, 5, 7, 1]):
        same(shadowed, xs, 1)
        for n in range(5):
            same(one_of_two, xs, n)
        same(name_that_only_some_paths_bind, xs)
        same(targets, np.array([1.0, 2.0, 0.0, 5.0]), xs, 3)
        with pytest.raises(UnboundLocalError):
            deleted_name([*xs, 1])
    for n in range(1, 6):
        same(in_a_loop, n)
        assert widened_in_a_loop(n) == widened_in_a_loop.py_func(n)


# -- methods and operators ----------------------------------------------------------------------------

@njit
def insert(xs, i, x):
    xs.insert(i, x)


@njit
def pop(xs):
    return xs.pop()


@njit
def pop_at(xs, i):
    return xs.pop(i)


@njit
def remove(xs, x):
    xs.remove(x)


@njit
def index(xs, x):
    return xs.index(x)


@njit
def index_between(xs, x, i, k):
    return xs.index(x, i, k)


@njit
def count(xs, x):
    return xs.count(x)


@njit
def reverse(xs):
    xs.reverse()


@njit
def sort(xs):
    xs.sort()


@njit
def sort_down(xs):
    xs.sort(reverse=True)


@njit
def copied(xs):
    ys = xs.copy()
    ys.append(xs[0])
    return ys


@njit
def clear(xs):
    xs.clear()
    return len(xs)


@njit
def extend(xs, ys):
    xs.extend(ys)


@njit
def extend_by_itself(xs):
    xs.extend(xs)
    xs += xs


@njit
def get(xs, i):
    return xs[i]


@njit
def put(xs, i, x):
    xs[i] = x


@njit
def delete(xs, i):
    del xs[i]


@njit
def contains(xs, x):
    return x in xs, x not in xs


@njit
def plus(xs, ys):
    return xs + ys, [0] + xs


@njit
def times(xs, n):
    return xs * n, n * xs


@njit
def times_in_place(xs, n):
    xs *= n
    return xs


@njit
def compared(xs, ys):
    return xs == ys, xs != ys, xs < ys, xs <= ys, xs > ys, xs >= ys


@njit
def truth(xs):
    return (1 if xs else 0), not xs, bool(xs), len(xs)


ROWS = [[], [1], [3, 1, 2], [1, 2, 1, 1, 5], list(range(20))]


@pytest.mark.parametrize("xs", ROWS, ids=str)
def test_methods(xs):
    for f in (pop, reverse, sort, sort_down, copied, clear, extend_by_itself, truth):
        same(f, xs)
    for i in (-30, -3, -2, -1, 0, 1, 2, 5, 30):
        same(insert, xs, i, 9)
        for f in (pop_at, get, delete):
            same(f, xs, i)
        same(put, xs, i, 8)
        same(times, xs, min(i, 4))
        same(times_in_place, xs, min(i, 4))
    for x in (1, 2, 7):
        for f in (remove, index, count, contains):
            same(f, xs, x)
        same(index_between, xs, x, -3, 4)
    for ys in ROWS:
        for f in (extend, plus, compared):
            same(f, xs, ys)


@njit
def sliced(xs, a, b):
    return xs[a:b], xs[a:], xs[:b], xs[:], xs[::-1], xs[b:a:-1]


@njit
def stepped(xs, a, b, c):
    return xs[a:b:c]


@njit
def slice_deleted(xs, a, b):
    del xs[a:b]


@njit
def steps_deleted(xs, a, b, c):
    del xs[a:b:c]


@njit
def slice_assigned(xs, a, b, ys):
    xs[a:b] = ys


@njit
def steps_assigned(xs, a, b, c, ys):
    xs[a:b:c] = ys


def test_ARR_04_slices():
    for n in range(5):
        xs = list(range(n))
        ends = range(-n - 2, n + 3)
        for a in ends:
            for b in ends:
                same(sliced, xs, a, b)
                same(slice_deleted, xs, a, b)
                same(slice_assigned, xs, a, b, [7, 8])
                for c in (-3, -2, -1, 1, 2, 3):
                    same(stepped, xs, a, b, c)
                    same(steps_deleted, xs, a, b, c)
    same(stepped, [1, 2], 0, 2, 0)
    same(steps_assigned, [1, 2, 3, 4], 0, 4, 2, [7, 8])
    same(steps_assigned, [1, 2, 3, 4], 0, 4, 2, [7])
    with pytest.raises(ValueError, match="attempt to assign sequence of size 1 to extended slice of size 2"):
        steps_assigned([1, 2, 3, 4], 0, 4, 2, [7])


@njit
def pairs(n):
    xs = [(n, 0.5)]
    for i in range(n):
        xs.append(((i * 7) % n, i * 0.25))
    xs.sort()
    total = 0.0
    for a, b in xs:
        total += a * b
    return xs, total, xs.index((1, 0.25 * 3)) if n == 10 else 0


def test_lists_of_tuples():
    assert pairs(10)[0] == pairs.py_func(10)[0] and pairs(10)[1] == pairs.py_func(10)[1]


@njit
def together(xs, ys):
    total = 0.0
    for i, x in enumerate(xs):
        total += i * x
    for x, y in zip(xs, ys):
        total += x * y
    for y in reversed(ys):
        total = total * 0.5 + y
    return total, sum(xs), max(ys), min(ys), sorted(ys), list(range(3)), list(xs) == xs


def test_functions_over_lists():
    same(together, [1.5, 2.5, 3.0], [4.0, 2.0])


@njit
def to_arrays(xs, n):
    ys = [0.5]
    for i in range(n):
        ys.append(i * 0.5)
    return np.array(xs), np.asarray(ys), np.array(ys, dtype=np.float32), np.array(ys).sum()


@njit
def to_grid(rows):
    return np.array(rows)


def test_arrays_of_lists():
    for xs in ([1, 2, 3], [1.5], [True, False], [1j, 2j]):
        for got, want in zip(to_arrays(xs, 3), to_arrays.py_func(xs, 3)):
            np.testing.assert_array_equal(got, want)
            assert got.dtype == want.dtype if hasattr(got, "dtype") else True
    np.testing.assert_array_equal(to_grid([[1, 2], [3, 4], [5, 6]]), [[1, 2], [3, 4], [5, 6]])
    assert to_grid([[1.5]]).dtype == np.float64
    with pytest.raises(ValueError, match="inhomogeneous shape"):
        to_grid([[1], [2, 3]])


# -- arguments and results -----------------------------------------------------------------------------

@njit
def total(xs):
    s = 0.0
    for x in xs:
        s += x
    return s


def test_arguments_of_many_types():
    assert total([1, 2, 3]) == 6.0 and total([0.5, 1.5]) == 2.0 and total([]) == 0.0
    assert total([True, False]) == 1.0 and total([np.float32(0.5)]) == 0.5
    assert total([np.int8(3), np.int8(4)]) == 7.0
    for xs in ([1, 2.5], [None], ["a"], [1, True], [[1], 2]):
        with pytest.raises(TypeError):
            total(xs)


@njit
def same_list(xs, ys):
    xs.append(1)
    return xs, ys, len(ys)


@njit
def both(pair):
    pair[0].append(2)
    return pair


def test_a_list_that_comes_back_is_the_one_that_went_in():
    xs, ys = [5], [6]
    a, b, n = same_list(xs, ys)
    assert a is xs and b is ys and xs == [5, 1] and ys == [6] and n == 1
    pair = ([1], [0.5])
    out = both(pair)
    assert out[0] is pair[0] and pair == ([1, 2], [0.5])


@njit
def inner_changed(xss):
    xss[0].append(9)
    xss.append(xss[0])
    return xss[1]


@njit
def first_of_both(xss, xs):
    xss[0].append(1)
    xs.append(2)
    return xss[0] is xss[1], xss[1] is xs


def test_ALS_06_one_list_in_several_places_of_the_arguments():
    xs = [5]
    assert first_of_both([xs, xs], xs) == (True, True) and xs == [5, 1, 2]
    assert first_of_both([xs, [6]], [7]) == (False, False) and xs == [5, 1, 2, 1]


def test_inner_lists_keep_their_identity():
    xss = [[1], [2, 3]]
    first, second = xss
    assert inner_changed(xss) is second
    assert xss == [[1, 9], [2, 3], [1, 9]] and xss[0] is first and xss[2] is first


def test_elements_that_do_not_change_stay_the_objects_they_are():
    big = [10**15 + i for i in range(4)]
    before = list(big)
    insert(big, 2, 5)
    assert [x is y for x, y in zip(big, before[:2])] == [True] * 2 and big[3:] == before[2:]


@njit
def change_then_raise(xs, i):
    xs.append(7)
    return xs[i]


def test_EXC_01_what_was_done_before_an_exception_is_done():
    xs = [1]
    with pytest.raises(IndexError, match="list index out of range"):
        change_then_raise(xs, 99)
    assert xs == [1, 7]


def test_MEM_07_reference_counts_of_arguments_stay():
    xs, marker = [1.5], 10**9 + 7
    ys = [marker]
    count, inner = sys.getrefcount(xs), sys.getrefcount(marker)
    for _ in range(20):
        total(xs), total(ys), get(ys, 0), index(ys, marker)
    assert sys.getrefcount(xs) == count and sys.getrefcount(marker) <= inner + 2


@njit
def through(xs):
    other = helper(xs, 3)
    other.append(2)
    return other is xs, helper([1.5], 1)


@njit
def helper(xs, n):
    for _ in range(n):
        xs.append(xs[0])
    return xs


def test_lists_between_compiled_functions():
    same(through, [4])


@njit
def appends_until_stopped(xs):
    while True:
        xs.append(1)
        if len(xs) > 1000:
            xs.clear()


def test_EXC_03_interrupted():
    xs = [0]
    threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        appends_until_stopped(xs)
    assert set(xs) <= {0, 1}


@njit
def too_large(n):
    return len([1.0] * n)


def test_MEM_02_a_list_that_is_too_large():
    for n in (2**40, 2**58, 2**60, 2**62, 2**63 - 1):
        with pytest.raises(MemoryError):
            too_large(n)


@njit
def program(xss, n):
    rows = []
    for i in range(n):
        row = [i]
        for k in range(i * 3):
            row.insert(k, i - k)
        rows.append(row + xss[0])
        xss.append(row[1:])
    rows.sort()
    rows.extend(xss)
    del rows[1::2]
    rows.reverse()
    return rows, sorted(xss[-1]), (rows * 2)[3], [rows[0], rows[-1]]


def test_MEM_02_each_allocation_fails_in_turn():
    want = program([[1, 2], [3]], 4)
    assert want == program.py_func([[1, 2], [3]], 4)
    before = live()
    failed = 0
    for k in range(1, 1000):
        xss = [[1, 2], [3]]
        _quern.test_fail_allocation(k)
        try:
            out = program(xss, 4)
            break
        except MemoryError:
            failed += 1
        finally:
            _quern.test_fail_allocation(0)
        assert live() == before and xss[:2] == [[1, 2], [3]]
        for more in xss[2:]:
            assert isinstance(more, list)
    assert out == want and failed > 40


@njit(parallel=True)
def read_in_parallel(xs, rows):
    total = 0.0
    for i in prange(len(xs)):
        total += xs[i] * rows[i % 2][0]
    return total


@njit(parallel=True)
def made_in_parallel(n, out):
    for i in prange(n):
        own = [1.0]
        for k in range(i % 7):
            own.append(k + own[-1])
        own = own + own[1:]
        own.reverse()
        out[i] = sum(own) + len(own)


@njit(parallel=True)
def put_in_parallel(xs):
    for i in prange(len(xs)):
        xs[i - 1] = i


@njit(parallel=True)
def inner_put_in_parallel(rows):
    for i in prange(len(rows)):
        rows[i].append(i)


@njit(parallel=True)
def put_by_another(xs):
    for i in prange(3):
        helper(xs, i)


def test_PAR_lists_in_parallel_loops():
    xs, rows = [float(i) for i in range(1000)], [[2.0], [3.0]]
    assert read_in_parallel(xs, rows) == read_in_parallel.py_func(xs, rows)
    fast, slow = np.zeros(1000), np.zeros(1000)
    made_in_parallel(1000, fast), made_in_parallel.py_func(1000, slow)
    assert (fast == slow).all()
    for function, argument in ((put_in_parallel, [1, 2]), (inner_put_in_parallel, [[1]]), (put_by_another, [1])):
        with pytest.raises(errors.TypingError, match="changes a list that others may use"):
            function(argument)


@njit
def wrong_type(xs):
    xs.append(0.5)


@njit
def no_such(xs):
    return xs.shape


def test_refused():
    with pytest.raises(errors.TypingError, match="cannot put into a list of int: float"):
        wrong_type([1])
    with pytest.raises(errors.TypingError, match="convert it with np.array"):
        no_such([1])
    for pair in ((None, 1), (1, None)):
        with pytest.raises(errors.TypingError, match="lists hold numbers"):
            no_such([pair])


# -- against CPython, in any order -----------------------------------------------------------------------

@njit
def apply(xs, op, i, x):
    if op == 0:
        xs.append(x)
    elif op == 1:
        xs.insert(i, x)
    elif op == 2:
        x = xs.pop(i)
    elif op == 3:
        xs.remove(x)
    elif op == 4:
        xs.reverse()
    elif op == 5:
        xs.sort()
    elif op == 6:
        xs[i] = x
    elif op == 7:
        del xs[i]
    elif op == 8:
        xs.extend(xs[i:])
    elif op == 9:
        xs.insert(xs.index(x), x)
    elif op == 10:
        xs[i:i + 2] = [x, x, x]
    elif op == 11:
        del xs[i::2]
    elif op == 12:
        xs *= 2
    elif op == 13:
        xs[0] = xs[xs.count(x)]
    return x


class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.fast, self.slow = [0], [0]

    @rule(op=st.integers(0, 13), i=st.integers(-12, 12), x=st.integers(-3, 3))
    def step(self, op, i, x):
        if op in (8, 12) and len(self.slow) > 200:
            return
        results = []
        for f, xs in ((apply, self.fast), (apply.py_func, self.slow)):
            try:
                results.append(f(xs, op, i, x))
            except (IndexError, ValueError) as e:
                results.append(type(e))
        assert results[0] == results[1]

    @invariant()
    def equal(self):
        assert self.fast == self.slow


class NestedMachine(RuleBasedStateMachine):
    """The same, with lists as elements."""

    def __init__(self):
        super().__init__()
        self.fast, self.slow = [[0]], [[0]]

    @rule(op=st.integers(0, 13), i=st.integers(-6, 6), x=st.lists(st.integers(-2, 2), max_size=2))
    def step(self, op, i, x):
        if op in (8, 12) and len(self.slow) > 100:
            return
        results = []
        for f, xs in ((apply, self.fast), (apply.py_func, self.slow)):
            try:
                results.append(f(xs, op, i, list(x)))
            except (IndexError, ValueError) as e:
                results.append(type(e))
        assert results[0] == results[1]

    @invariant()
    def equal(self):
        assert self.fast == self.slow


@pytest.mark.parametrize("machine", [Machine, NestedMachine])
def test_any_order_of_operations(machine):
    machine.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None,
                                         suppress_health_check=list(HealthCheck))
    case = machine.TestCase()
    case.runTest()


@njit
def halves_of(xs):
    xs[0] = xs[0] / 2
    xs.append(xs[0])
    return xs[0], xs


@pytest.mark.parametrize("xs", [[np.float64(3), 1.5], [1.5, np.float64(3)], [1, np.int64(4)], [np.int64(4), 1], [1j, np.complex128(2)]])
def test_numbers_of_numpy_and_of_python_are_one_type(xs):
    assert walk_all(xs) == walk_all.py_func(xs)
    n = len(walk_all.signatures)
    plain = [x.item() if isinstance(x, np.generic) else x for x in xs]  # another type, whatever ran last
    assert walk_all(plain) == walk_all.py_func(xs) and len(walk_all.signatures) >= n


@njit
def walk_all(xs):
    out = []
    for x in xs:
        out.append(x + x)
    return out


def test_numbers_of_several_kinds_are_still_refused():
    for xs in ([1, np.float64(2)], [1.5, np.float32(1)], [True, np.int64(1)], [1.5, np.int64(1)]):
        with pytest.raises(errors.TypingError, match="different types"):
            walk_all(xs)
    assert halves_of([np.float64(3), 1.5])[1] == [1.5, 1.5, 1.5]
    with pytest.raises(errors.TypingError, match="different types"):  # what was compiled last does not change that
        halves_of([np.float64(3), 1])


def test_slices_are_replaced_in_one_go():
    """Room is made once, and not for each item."""
    def f(n):
        l = [[i] for i in range(n)]
        t = [str(i) for i in range(n)]
        l[1:3] = [[7, 8], [9], [1]]
        l[0:0] = l
        l[2:] = ([5] for i in range(2))
        t[2:4] = ()
        t.extend(())
        t[1:1] = t
        t[::2] = [x + "!" for x in t[::2]]
        m = []
        m[0:0] = (n, 2)
        m[1:1] = [3, 4]
        m[-1:] = range(n)
        return l, t, m, len(t)
    for n in (4, 5, 9):
        assert njit(f)(n) == f(n)

    def many(n):
        l = list(range(n))
        l[n // 2:n // 2] = l
        return len(l), l[0], l[n // 2], l[n // 2 - 1], l[n + n // 2], l[-1]
    assert njit(many)(200_000) == many(200_000)
