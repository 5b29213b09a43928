"""Dicts in compiled code, against CPython: as locals, arguments, results and elements of each other."""
import collections
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, same  # noqa: F401
from quern import cuda, errors, njit


# -- programs ---------------------------------------------------------------------------------------

@njit
def word_lengths(xs):
    counts = {}
    for x in xs:
        counts[x] = counts.get(x, 0) + 1
    best = 0
    for x, n in counts.items():
        if n > best:
            best = n
    return best, counts


@njit
def stored_or_added(xs):
    counts = {}
    for x in xs:
        if x in counts:
            counts[x] += 1
        else:
            counts[x] = 1
    return counts


@njit
def memo(n):
    known = {0: 0, 1: 1}
    for i in range(2, n):
        if i in known:
            continue
        known[i] = known[i - 1] + known[i - 2]
    return known


@njit
def graph(n):
    around = {}
    for i in range(n):
        around.setdefault(i % 4, []).append(i)
    for i in range(n):
        if i % 3 not in around:
            around[i % 3] = []
        around[i % 3].append(-i)
    total = 0
    for at, nodes in around.items():
        for x in nodes:
            total += at * x
    return total, around


@njit
def breadth_first(n, width):
    distance = {(0, 0): 0}
    todo = [(0, 0)]
    for place in todo:
        x, y = place
        for step in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            there = (x + step[0], y + step[1])
            if 0 <= there[0] < width and 0 <= there[1] < width and there not in distance:
                distance[there] = distance[place] + 1
                todo.append(there)
        if len(todo) > n:
            break
    return distance, max(distance.values())


@njit
def displays(n, x):
    a = {1: 2, n: 3, n + 1: n}
    b = {}
    c = {0.5: [n], x: []}
    c[x].append(n + 1)
    d = {i: i * x for i in range(n) if i != 2}
    e = {(i, k): {k: i} for i in range(3) for k in range(n)}
    f = dict(d)
    g = dict([(n, 1.5), (n, 2.5), (0, 1.0)])
    h = dict()
    h[True] = n
    i = 5
    keys = [i for i in d]
    return a, b, c, d, e, f, g, h, i, keys


def test_programs():
    for xs in ([], [3], [1, 2, 1, 3, 1, 2], [0.5, -0.0, 0.0, 0.5], [(1, 2), (2, 1), (1, 2)], [True, False, True]):
        same(word_lengths, xs)
        same(stored_or_added, xs)
    for n in (2, 3, 10, 60):
        same(memo, n)
        same(graph, n)
        same(displays, n, 0.5)
    same(breadth_first, 200, 30)


# -- methods ----------------------------------------------------------------------------------------

@njit
def asked(d, k):
    return d.get(k), d.get(k, 7), k in d, k not in d, len(d), bool(d), not d


@njit
def indexed(d, k):
    return d[k]


@njit
def stored(d, k, v):
    d[k] = v
    d[k] += 1
    return d


@njit
def deleted(d, k):
    del d[k]


@njit
def popped(d, k):
    return d.pop(k), len(d)


@njit
def popped_or(d, k, v):
    return d.pop(k, v), len(d)


@njit
def last_popped(d):
    return d.popitem(), len(d)


@njit
def by_default(d, k, v):
    return d.setdefault(k, v), d


@njit
def cleared(d):
    d.clear()
    d[5] = 6
    return len(d), 5 in d


@njit
def copied(d):
    e = d.copy()
    e[77] = 8
    f = dict(d)
    f[78] = 9
    return e, f, e == d, d == d.copy(), e != f


@njit
def merged(d, e):
    f = d | e
    g = d.copy()
    g.update(e)
    d |= e
    return f, g, f == g, d


@njit
def updated_by_pairs(d, n):
    d.update([(i, i * i) for i in range(n)])
    d.update(enumerate(range(3)))
    d.update(d)


@njit
def walked(d):
    keys = [k for k in d]
    pairs = [(k, v) for k, v in d.items()]
    back = [k for k in reversed(d)]
    total = 0
    for i, k in enumerate(d):
        total = (total + i * (k % 1000)) % 1000003
    for k, v in zip(d.keys(), d.values()):
        total = (total + k % 1000 * v) % 1000003
    views = d.keys()
    d[1000] = 1
    return keys, pairs, back, total, list(d.keys()), list(d.values()), sorted(d), len(views), 1000 in views, sum(d.values())


DICTS = [{}, {1: 2}, {3: 1, 1: 3, 2: 2}, {i * 8: i for i in range(40)}, {-1: 1, -2: 2, 2**61 - 1: 3, -2**63: 4, 2**63 - 1: 5}]


@pytest.mark.parametrize("d", DICTS, ids=lambda d: str(len(d)))
def test_methods(d):
    for f in (last_popped, cleared, copied, walked):
        same(f, d)
    for k in (1, 3, 7, 8, -1, -2, 2**61 - 1, 0):
        for f in (asked, indexed, deleted, popped):
            same(f, d, k)
        for f in (stored, popped_or, by_default):
            same(f, d, k, 11)
    for e in DICTS:
        same(merged, d, e)
    for n in (0, 3, 50):
        same(updated_by_pairs, d, n)


@njit
def float_key_of_ints(d, x):
    return x in d, d.get(x, -1)


def test_keys_of_other_types_are_equal_as_in_python():
    for x in (1.0, 1.5, 2.0**53, float("nan"), float("inf"), True, np.float32(3), np.uint64(2**63), np.int8(-2)):
        same(float_key_of_ints, {1: 2, 3: 4, 2**53: 5, -2: 6}, x)
        same(float_key_of_ints, {1.0: 2, 1.5: 4, 2.0**53: 5, float("inf"): 6}, x)


# -- hashes -----------------------------------------------------------------------------------------

@njit
def hashed(x):
    return hash(x)


@given(st.one_of(st.integers(-2**63, 2**63 - 1), st.floats(allow_nan=False), st.booleans(),
                 st.complex_numbers(allow_nan=False),
                 st.tuples(st.integers(-2**63, 2**63 - 1), st.floats(allow_nan=False)), st.tuples(st.booleans()),
                 st.tuples(st.tuples(st.integers(-5, 5), st.floats(-5, 5)), st.integers(-3, 3))))
@settings(max_examples=300, deadline=None)
def test_hashes_are_those_of_python(x):
    assert hashed(x) == hash(x)


WIDE = [0, 1, -1, -2, 5, 2**31, -2**31, 2**53, 2**61 - 2, 2**61 - 1, 2**61, -2**61, 1 - 2**61, 2**62, 2**63 - 1, -2**63, 1 - 2**63]
LOOKED_FOR = WIDE + [True, False, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0**53, 2.0**61, 2.0**62, -2.0**62, 2.0**63, -2.0**63, 2.0**64, 1e300, math.nan, math.inf, -math.inf,
                     0j, 1 + 0j, 1j, 2.0**61 + 0j, np.int8(-1), np.uint8(5), np.uint64(2**63), np.uint64(2**64 - 1), np.uint64(2**61), np.float32(1.0)]


@njit
def is_in(d, k):
    return k in d


@njit
def is_in_own(keys, k):
    d = {keys[0]: 0}
    for i in range(len(keys)):
        d[keys[i]] = i
    return k in d, len(d)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint64", "float64", "bool"])
def test_a_number_is_found_among_numbers_of_another_kind(dtype):
    """Made by Python and by compiled code: both must put a key where the other looks for it."""
    fitting = [k for k in WIDE + [2**63, 2**64 - 1] if dtype in ("float64", "bool") or np.iinfo(dtype).min <= k <= np.iinfo(dtype).max]
    keys = np.array(fitting).astype(dtype) if dtype != "uint64" else np.array(fitting, np.uint64)
    for python_keys in (keys.tolist(), list(keys)):
        if dtype == "uint64" and type(python_keys[0]) is int:
            continue  # Python ints that no type holds together
        d = dict.fromkeys(python_keys, 1)
        for k in LOOKED_FOR:
            plain = k.item() if isinstance(k, np.generic) else k
            found = any(plain == x for x in keys.tolist())
            wide = dtype == "float64" and isinstance(k, (int, np.integer)) and abs(int(k)) > 2**53
            if not wide or type(python_keys[0]) is float:
                assert is_in(d, k) == found, (dtype, k)
            if wide:
                continue  # NumPy's doubles and ints are compared as doubles
            assert is_in_own(keys, k) == (found, len(set(keys.tolist()))), (dtype, k)


def test_hashes_of_particular_numbers():
    for x in (0, -1, 2**61 - 1, 2**61, -2**61, 1 - 2**61, 2**63 - 1, -2**63, 0.0, -0.0, -1.0, 0.1, 1e308, 5e-324, -1e-300,
              float("inf"), float("-inf"), 2.0**61, 1.5, 2.0**53, -2.0**60, -1j, complex(-1, -1), (), (-1, -1), (0.5, (1, 2))):
        assert hashed(x) == hash(x), x
    assert hashed(np.uint64(2**64 - 1)) == hash(2**64 - 1) and hashed(np.float32(0.1)) == hash(np.float32(0.1))


# -- changes while it is gone over --------------------------------------------------------------------

@njit
def grows(d):
    for k in d:
        d[k + 100] = 1


@njit
def shrinks(d):
    for k, v in d.items():
        del d[k]


@njit
def renewed(d):
    seen = 0
    for v in d.values():
        seen += v
        k, w = d.popitem()
        d[k + 1] = w
    return seen


@njit
def put_again(d):
    for k in d:
        v = d.pop(k)
        d[k] = v


@njit
def values_change(d):
    for k in d:
        d[k] += 1
    return d


@njit
def changed_and_left(d):
    for k in d:
        del d[k]
        break
    return len(d)


@njit
def caught(d):
    try:
        for k in d:
            d[-k - 1] = k
    except RuntimeError:
        return len(d)
    return -1


def test_a_dict_that_changes_while_it_is_gone_over():
    for d in ({}, {1: 2}, {1: 2, 5: 6, 7: 8}):
        for f in (grows, shrinks, renewed, values_change, changed_and_left, caught):
            same(f, d)
    assert same(grows, {1: 2}) == (RuntimeError, ("dictionary changed size during iteration",))
    assert same(put_again, {1: 2}) == (RuntimeError, ("dictionary keys changed during iteration",))


# -- missing keys ---------------------------------------------------------------------------------------

Place = collections.namedtuple("Place", "x y")


def test_a_missing_key_is_in_the_exception():
    assert same(indexed, {1: 2}, 5) == (KeyError, (5,))
    assert same(deleted, {1.5: 2}, 0.25) == (KeyError, (0.25,))
    assert same(popped, {1: 2}, -1) == (KeyError, (-1,))
    assert same(last_popped, {}) == (KeyError, ("popitem(): dictionary is empty",))
    for there, key in (((1, 2), (2, 1)), ((2, ("a", 1.5)), (2, ("b", 1.5))), ((b"a", True, 2j), (b"a", False, 2j)), ((0, 1, (2, 3), 4, "z", 5, 6), (0, 1, (2, 3), 4, "", 5, 6))):
        for f in (indexed, deleted, popped):
            assert same(f, {there: 1}, key) == (KeyError, (key,))
    with pytest.raises(KeyError, match="a tuple"):
        indexed({(0, 1, 2, 3, 4, 5, 6, 7, 8): 3}, (0, 1, 2, 3, 4, 5, 6, 7, 9))
    with pytest.raises(KeyError, match="a tuple"):
        indexed({Place(1, 2): 3}, Place(2, 1))


@njit
def from_keys(keys, value):
    d = dict.fromkeys(keys, value)
    for key in d:
        d[key] += value
    return d, list(dict.fromkeys(keys)), dict.fromkeys(["a", "b", "a"], "c"), {"x": 1.5}.fromkeys(range(len(keys)), (1, "q"))


def test_a_dict_from_keys_alone():
    for keys in ([3, 1, 3, 2], [0.5], [(1, "a"), (2, "b"), (1, "a")], "hello"):
        same(from_keys, keys, 2)
        same(from_keys, keys, [1])


# -- arguments and results --------------------------------------------------------------------------------

@njit
def through(d):
    return d


@njit
def both(d, e):
    d[1] = 10
    return e[1], d is e


@njit
def inner_changed(d, k):
    d[k].append(k)
    d[k + 100] = d[k]
    return d[k]


@njit
def in_tuples_and_lists(pair, ds):
    pair[0][1] += 1
    ds[0][2] = 3
    ds.append({5: 6})
    return ds[0], pair[1]


@njit
def of_dicts(n):
    out = {}
    for i in range(n):
        out[i] = {i: [i]}
        out[i][i].append(n)
    first = out[0]
    first[7] = out[n - 1][n - 1]
    return out, first


def test_arguments_and_results():
    for d in ({}, {1: 2}, {0.5: 1}, {(1, 0.5): True}, {True: 1.5}, {1: [1, 2]}, {1: (2, 3)}, {1: {2: {3: 4.5}}}):
        same(through, d)
        assert through(d) is d
    d = {1: 2}
    assert both(d, d) == (10, True) and d == {1: 10}
    for n in (1, 2, 5):
        same(of_dicts, n)
    out, first = of_dicts(3)
    assert out[0] is first and out[2][2] is first[7]
    same(inner_changed, {3: [1], 4: []}, 3)
    same(in_tuples_and_lists, ({1: 2}, 5), [{1: 1}])


def test_what_does_not_change_stays_the_object_it_is():
    key, value, inner = 10**12, 10**13, [1]
    d = {key: value, 1: 2}
    stored(d, 1, 5)
    assert next(iter(d)) is key and d[key] is value and d == {key: value, 1: 6}
    lists = {3: inner, 4: [2]}
    got = inner_changed(lists, 3)
    assert got is inner and lists[3] is inner and lists[103] is inner and inner == [1, 3]


@njit
def deleted_and_raised(d, k):
    d[k] = 1
    return d[k + 1]


def test_EXC_01_what_was_done_before_an_exception_is_done():
    same(deleted_and_raised, {}, 5)


# -- refused ------------------------------------------------------------------------------------------------

@njit
def two_types_of_values(n):
    d = {1: n}
    d[2] = (n, n)
    return d


@njit
def two_types_of_keys(n):
    d = {1: n}
    d[(1, 2)] = n
    return d


@njit
def list_as_key(n):
    d = {}
    d[[n]] = 1
    return d


def test_refused():
    with pytest.raises(errors.TypingError, match="dict with values of int"):
        two_types_of_values(1)
    with pytest.raises(errors.TypingError, match="dict with keys of int"):
        two_types_of_keys(1)
    with pytest.raises(errors.UnsupportedError, match="dict with keys of"):
        list_as_key(1)
    with pytest.raises(errors.TypingError, match="the keys of a dict are of different types"):
        through({1: 2, 2.5: 3})
    with pytest.raises(errors.TypingError, match="the values of a dict are of different types"):
        through({1: 2, 2: 3.5})
    with pytest.raises(errors.TypingError, match="keys of dicts"):
        through({None: 2})
    with pytest.raises(errors.TypingError, match="beside None a dict has values"):
        through({1: None})


def test_kernels_have_no_dicts(device):
    @cuda.jit
    def kernel(out):
        d = {1: 2}
        out[0] = d[1]

    with pytest.raises(errors.QuernError, match="dict"):
        kernel[1, 1](np.zeros(1))


# -- memory -------------------------------------------------------------------------------------------------

@njit
def program(d, n):
    e = {}
    for i in range(n):
        e[i * 3] = [i]
        if i % 3 == 0:
            e.pop(i, [n])
    d[n] = [7]
    f = {k: v for k, v in e.items() if k % 2}
    f |= d
    return f, {len(v) for v in f.values()}


def test_MEM_02_each_allocation_fails_in_turn():
    program({1: [2]}, 40)
    want = program.py_func({1: [2]}, 40)
    assert each_allocation_fails(program, lambda: ({1: [2]}, 40)) == want


# -- any order of operations ------------------------------------------------------------------------------

@njit
def apply(d, op, k, v):
    if op == 0:
        d[k] = v
    elif op == 1:
        del d[k]
    elif op == 2:
        return d.pop(k, v)
    elif op == 3:
        return d.popitem()[1]
    elif op == 4:
        return d.setdefault(k, v)
    elif op == 5:
        d.update([(k, v), (k + 1, v)])
    elif op == 6:
        for i in range(20):
            d[k + i * 16] = v
    elif op == 7:
        for i in range(int(k), int(k) + 20):
            if i in d:
                del d[i]
    elif op == 8 and k == 3:
        d.clear()
    elif op == 9:
        return d.get(k, v)
    return d[k]


class Machine(RuleBasedStateMachine):
    make_key, make_value = int, int

    def __init__(self):
        super().__init__()
        self.fast, self.slow = {}, {}

    def outcome(self, f, d, op, k, v):
        if not d:  # an empty one is of ints
            d[self.make_key(0)] = self.make_value(0)
        try:
            return f(d, op, type(self).make_key(k), type(self).make_value(v))
        except KeyError as e:
            return e.args

    @rule(op=st.integers(0, 10), k=st.integers(-3, 60), v=st.integers(0, 5))
    def step(self, op, k, v):
        fast = self.outcome(apply, self.fast, op, k, v)
        assert repr(fast) == repr(self.outcome(apply.py_func, self.slow, op, k, v))

    @invariant()
    def equal(self):
        assert repr(self.fast) == repr(self.slow)


class FloatMachine(Machine):
    make_key, make_value = float, float


@pytest.mark.parametrize("machine", [Machine, FloatMachine])
def test_any_order_of_operations(machine):
    from hypothesis.stateful import run_state_machine_as_test
    run_state_machine_as_test(machine, settings=settings(max_examples=25, stateful_step_count=40, deadline=None,
                                                        suppress_health_check=list(HealthCheck)))


@njit
def replay(ops, ks, vs):
    """The same inside of one call: the table grows and is cleared of what is gone."""
    d = {}
    total = 0
    for op, k, v in zip(ops, ks, vs):
        if op == 0:
            d[k] = v
        elif op == 1:
            d.pop(k, 0)
        elif op == 2:
            total += d.get(k, -1)
        elif op == 3 and d:
            total += d.popitem()[0]
        elif op == 4:
            for x in d:
                total = (total * 31 + x) % 1000003
    return d, total


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-20, 20), st.integers(0, 99)), max_size=300))
@settings(max_examples=100, deadline=None)
def test_random_programs(steps):
    columns = [np.array([s[k] for s in steps], np.int64) for k in range(3)]
    assert repr(replay(*columns)) == repr((lambda r: (r[0], r[1]))(replay.py_func(*[c.tolist() for c in columns])))


def test_defaults_of_the_type_of_the_values():
    @njit
    def f(d, k):
        n = 0
        for x in d.get(k, []):
            n += len(x)
        return n, len(d.pop(k, [])), len(d)
    same(f, {"a": ["x", "yz"], "b": ["q"]}, "a")
    same(f, {"a": ["x", "yz"], "b": ["q"]}, "c")


@njit
def displays_on_paths(n):
    a = {**{"a": n}, "b": 0} if n > 2 else {"c": 1}
    b = {"c": 1} if n > 5 else {**{"a": n}, **{"b": 2}}
    c = None if n > 3 else {**{"a": 9}, "b": 0}
    d = {**{1: n}, (2 if n > 2 and n < 5 else 3): 4, 5: (n or 6)}
    e = {**{"a": 9}, "b": 0} or {"d": n}
    rows = []
    for k in range(n):
        rows.append({**{"a": k}, "b": 0} if k > 1 else {"c": 1})
    while True:
        g = {**{"a": 9}, "b": 0}
        if n:
            break
        n += 1
    return a, b, c, d, e, g, rows


@njit
def large_displays_on_paths(n):
    return {1: n, 2: n, 3: n, 4: n, 5: n, 6: n, 7: n, 8: n, 9: n, 10: n, 11: n, 12: n, 13: n, 14: n, 15: n, 16: n, 17: n,
            (18 if n > 2 else 19): n if n > 3 else -n, 20: (n or 4)} if n > 1 else {1: 2}


@njit
def display_in_a_handler(n):
    try:
        d = {**{"a": 9}, "b": 10 // (n - 3)} if n > 1 else {"u": 1}
    except ZeroDivisionError:
        d = {**{"r": 9}, "s": 10} if n > 1 else {"u": 1}
    return d


def test_displays_that_end_where_paths_meet():
    for f in (displays_on_paths, large_displays_on_paths, display_in_a_handler):
        for n in range(7):
            same(f, n)


def test_display_of_a_branch_that_nobody_takes():
    @njit
    def f(q):
        v = [None]
        v[0] = {**{"a": 9}, "b": q} if bool else 0
        return v
    same(f, 3)


def test_a_comprehension_in_a_display_of_a_dict_is_no_empty_display():
    """Since CPython 3.12 its dict is made in the function itself, in front of the loop that fills it."""
    @njit
    def first(n):
        return {**{k: 8 for k in range(n)}, 9: 2}

    @njit
    def alone(n):
        return {**{str(k): 8 for k in range(n)}}, {**{**{k: 1 for k in range(n) if k}}, 7: 7}

    @njit
    def two(n):
        return {**{k: 8 for k in range(n)}, **{k + 1: 7 for k in range(n)}}

    @njit
    def behind(n):
        return {7: 1, **{k: 8 for k in range(n)}, 9: 2, **{5: 5 for _ in range(n)}}

    @njit
    def grown(a, n):
        a |= {**{"x": 8 for _ in range(n)}, "y": 2}
        return a
    for n in 0, 1, 4:
        for f in first, alone, two, behind:
            same(f, n)
        same(grown, {"x": 1}, n)
