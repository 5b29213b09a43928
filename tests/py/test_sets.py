"""Sets in compiled code, against CPython: as locals, arguments, results and elements of lists and dicts.

A set has no order in Python, so results are compared as sets. Every test ends with as many objects of compiled code as it began with."""
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from objects import MEM_01_nothing_is_left, collected, same_values as same  # noqa: F401
from quern import cuda, errors, njit


@njit
def displays(n, xs):
    a = {1, 2, 3}
    b = {n, n + 1, n}
    c = set()
    for x in xs:
        c.add(x)
    d = {x * 2 for x in xs if x != 1}
    e = set(xs)
    f = {(i, k) for i in range(3) for k in range(i)}
    g = {*b, *xs}
    x = 5
    h = [x for x in a]
    return a, b, c, d, e, f, g, x, sum(h), len(h), n in {1, 5, n}, 7 in {1, 7}


@njit
def reached(n):
    seen = {(0, 0)}
    todo = [(0, 0)]
    for x, y in todo:
        for dx, dy in ((1, 0), (0, 1)):
            there = (x + dx, y + dy)
            if there not in seen and there[0] < n and there[1] < n:
                seen.add(there)
                todo.append(there)
    return seen, todo


@njit
def distinct(xs):
    seen = set()
    out = []
    for x in xs:
        if x in seen:
            continue
        seen.add(x)
        out.append(x)
    return out, seen


@njit
def by_rest(n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 3, set()).add(i)
    return groups, [groups[0], groups[0] | {n}]


def test_programs():
    for xs in ([], [1], [3, 1, 2, 3, 1], list(range(50))):
        same(displays, 4, xs)
        same(distinct, xs)
    same(distinct, [(1, 0.5), (0, 0.5), (1, 0.5)])
    same(distinct, [0.5, 1.5, 0.5])
    for n in (1, 3, 20):
        same(reached, n)
        same(by_rest, n)


@njit
def changed(s, x):
    t = s.copy()
    s.add(x)
    s.discard(x + 1)
    t.remove(x)
    return t, x in s, x not in t, len(s), bool(t), not s


@njit
def removed(s, x):
    s.remove(x)


@njit
def popped(s):
    s = s.copy()  # which one it is Python leaves open
    n = len(s)
    x = s.pop()
    return x in s, n - len(s)


@njit
def combined(s, t):
    return s | t, s & t, s - t, s ^ t, s.union(t), s.intersection(t), s.difference(t), s.symmetric_difference(t)


@njit
def combined_with_lists(s, xs):
    return (s.union(xs), s.intersection(xs), s.difference(xs), s.symmetric_difference(xs), s.issubset(xs),
            s.issuperset(xs), s.isdisjoint(xs))


@njit
def combined_in_place(s, t):
    a, b, c, d = s.copy(), s.copy(), s.copy(), s.copy()
    a |= t
    b &= t
    c -= t
    d ^= t
    return a, b, c, d


@njit
def updated(s, t, xs):
    a, b, c, d = s.copy(), s.copy(), s.copy(), s.copy()
    a.update(t)
    a.update(xs)
    b.intersection_update(t)
    c.difference_update(xs)
    d.symmetric_difference_update(xs)
    return a, b, c, d


@njit
def with_itself(s):
    a, b, c, d = s.copy(), s.copy(), s.copy(), s.copy()
    a |= a
    b &= b
    c -= c
    d ^= d
    return a, b, c, d, a == s, a <= s, a < s


@njit
def compared(s, t):
    return s == t, s != t, s <= t, s < t, s >= t, s > t, s.issubset(t), s.issuperset(t), s.isdisjoint(t)


@njit
def cleared(s):
    s.clear()
    s.add(5)
    return s, sorted(s), sum(s)


SETS = [set(), {1}, {1, 2, 3}, {2, 4, 6, 8, 10, 12}, set(range(0, 400, 8)), {-1, -2, 2**61 - 1, -2**63}]


@pytest.mark.parametrize("s", SETS, ids=lambda s: str(len(s)))
def test_methods(s):
    for f in (popped, with_itself, cleared):
        same(f, s)
    for x in (1, 2, 8, 77, -2):
        same(changed, s, x)
    for t in SETS:
        for f in (combined, combined_in_place, compared):
            same(f, s, t)
        for xs in ([], [1, 2, 1], [8, 16, 3]):
            same(updated, s, t, xs)
            same(combined_with_lists, s, xs)


@njit
def grows(s):
    for x in s:
        s.add(x + 100)


@njit
def walked(s):
    total = 0
    for x in s:
        total += x
    for i, x in enumerate(s):
        total += i - i + x
    return total


@njit
def through(s):
    return s


@njit
def both(s, t):
    s.add(9)
    return 9 in t, s is t


@njit
def inner_changed(ss, d):
    ss[0].add(7)
    d[1].discard(2)
    d[5] = ss[0]


def test_iteration_arguments_and_results():
    for s in SETS[:5]:
        same(walked, s)
        if s:
            assert same(grows, s) == (RuntimeError, ("Set changed size during iteration",))
    for s in (set(), {1}, {0.5}, {(1, 2)}, {True}):
        assert through(s) is s
    s = {1}
    assert both(s, s) == (True, True) and s == {1, 9}
    same(inner_changed, [{1}], {1: {2, 3}})
    a = {1}
    d = {1: {2}}
    inner_changed([a], d)
    assert d[5] is a and a == {1, 7} and d[1] == set()


def test_a_missing_element_is_in_the_exception():
    assert same(changed, {1}, 5) == (KeyError, (5,))
    assert same(removed, {(1, "a")}, (2, "a")) == (KeyError, ((2, "a"),))
    assert same(popped, set()) == (KeyError, ("pop from an empty set",))


@njit
def list_as_element(n):
    s = set()
    s.add([n])
    return len(s)


@njit
def two_types(n):
    s = {1}
    s.add((n, n))
    return len(s)


def test_refused(device):
    with pytest.raises(errors.UnsupportedError, match="a set of"):
        list_as_element(1)
    with pytest.raises(errors.TypingError, match="a set of int"):
        two_types(1)
    with pytest.raises(errors.TypingError, match="elements of a set are of different types"):
        through({1, 2.5})

    @cuda.jit
    def kernel(out):
        s = {1, out.size}
        out[0] = len(s)

    with pytest.raises(errors.QuernError, match="set"):
        kernel[1, 1](np.zeros(1))


@njit
def apply(s, op, x):
    if op == 0:
        s.add(x)
    elif op == 1:
        s.remove(x)
    elif op == 2:
        s.discard(x)
    elif op == 3:
        s |= {x, x + 1, x + 40}
    elif op == 4:
        s -= {x, x + 1}
    elif op == 5:
        s ^= {x, x + 2}
    elif op == 6:
        s &= {k for k in range(x, x + 50)}
    elif op == 7:
        for i in range(20):
            s.add(x + i * 16)
    elif op == 8 and x == 3:
        s.clear()
    return x in s, len(s)


class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.fast, self.slow = set(), set()

    @rule(op=st.integers(0, 8), x=st.integers(-3, 60))
    def step(self, op, x):
        def outcome(f, s):
            try:
                return f(s, op, x)
            except KeyError as e:
                return e.args
        assert outcome(apply, self.fast) == outcome(apply.py_func, self.slow)

    @invariant()
    def equal(self):
        assert self.fast == self.slow


def test_any_order_of_operations():
    run_state_machine_as_test(Machine, settings=settings(max_examples=25, stateful_step_count=40, deadline=None,
                                                        suppress_health_check=list(HealthCheck)))


@njit
def replay(ops, xs):
    s = set()
    total = 0
    for op, x in zip(ops, xs):
        if op == 0:
            s.add(x)
        elif op == 1:
            s.discard(x)
        elif op == 2:
            total += x in s
        elif op == 3:
            for y in s:
                total += y
    return s, total


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-20, 20)), max_size=300))
@settings(max_examples=100, deadline=None)
def test_random_programs(steps):
    columns = [np.array([s[k] for s in steps], np.int64) for k in range(2)]
    assert replay(*columns) == replay.py_func(*columns)


@pytest.mark.parametrize("a, b", [({1.5, 2.0}, {2.0, 3.0}), ({"a", "b"}, {"b", "c"}), ({(1, 2), (2, 3)}, {(2, 3)}), ({1, 2}, {2, 3})])
def test_new_sets_of_elements_of_every_type(a, b):
    @njit
    def together(a, b):
        return a | b, a ^ b, a.union(b), a.symmetric_difference(b), a.union([x for x in b]), a & b, a - b

    assert together(a, b) == together.py_func(a, b)


def test_operators_take_sets_alone():
    other = (2, 3)
    for operator in ("|", "&", "-", "^", "<", "<=", ">", ">="):
        f = eval(f"lambda a, b: a {operator} b")
        with pytest.raises(TypeError):
            f({1, 2}, other)
        with pytest.raises(errors.TypingError, match="both sides of an operator of sets are sets"):
            njit(f)({1, 2}, other)
    assert njit(lambda a, b: (a.union(b), a == b, a != b))({1, 2}, other) == ({1, 2, 3}, False, True)
    assert njit(lambda a, d: a | set(d.keys()))({1, 2}, {5: 1}) == {1, 2, 5}


def of_several(a, b, c):
    s = a.copy()
    s.update(b, c, [9])
    t = s.copy()
    t.intersection_update([1, 3, 9, 4], c | {1})
    u = s.copy()
    u.difference_update(b, (9,))
    u.update()
    return (a.union(b, c), a.union(), a.intersection(b, [2, 3], a), a.intersection(), a.difference(b, c), a.difference(), s, t, u,
            frozenset(a).union(b, c), frozenset(a).difference(c, [2]), set.union(a, b), frozenset.intersection(frozenset(a), b, (2, 5)))


def test_methods_of_several_sets():
    for sets in ((({1, 2, 3}), {2, 3}, {3, 4}), ({5}, {6}, {5}), ({1}, {1}, {1})):
        assert njit(of_several)(*sets) == of_several(*sets)


def test_what_no_argument_gives_is_another_set():
    def f(a):
        b = a.union()
        c = a.intersection()
        d = a.difference()
        b.add(7)
        c.add(8)
        d.add(9)
        return sorted(a), sorted(b), sorted(c), sorted(d)

    assert njit(f)({1}) == f({1})
