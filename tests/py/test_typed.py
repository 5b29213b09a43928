"""typed.List, typed.Dict and typed.Set: shared by Python and compiled code. Against Python's own containers, from both sides."""
import copy
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import quern
from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401
from quern import cuda, errors, njit, types
from quern.typed import Dict, List, Set


# -- what is shared -------------------------------------------------------------------------------------------------------


@njit
def grow(xs, x):
    xs.append(x)
    return xs


@njit
def length_of(xs):
    return len(xs)


@njit
def numbers(n):
    out = List()
    for i in range(n):
        out.append(i * 0.5)
    return out


@njit
def put(d, k, v):
    d[k] = v
    return d


def test_nothing_is_copied():
    xs = List([1, 2, 3])
    assert grow(xs, 4) is xs and list(xs) == [1, 2, 3, 4]
    xs.append(5)
    assert length_of(xs) == 5
    d = Dict.empty(types.unicode_type, types.float64)
    assert put(d, "a", 1) is d and d["a"] == 1.0 and isinstance(d["a"], float)
    assert not hasattr(xs, "anything") and isinstance(xs, List) and not isinstance(xs, list)


def test_results_are_shared_from_then_on():
    xs = numbers(4)
    assert type(xs) is List and list(xs) == [0.0, 0.5, 1.0, 1.5]
    grow(xs, 7)
    assert xs[-1] == 7.0 and repr(xs) == "ListType[float64]([0.0, 0.5, 1.0, 1.5, 7.0])"


@njit
def inner_of(xss):
    return xss[0]


@njit
def two(xs):
    return xs, [len(xs)], (xs, 1.5)


def test_one_object_for_each():
    xss = List([[1, 2], [3]])
    assert str(quern.typeof(xss)) == "ListType[ListType[int64]]"
    a = xss[0]
    assert inner_of(xss) is a is xss[0] and type(a) is List
    a.append(7)
    assert [list(x) for x in xss] == [[1, 2, 7], [3]]
    b = xss.pop(0)
    assert b is a and len(xss) == 1
    del xss
    assert list(a) == [1, 2, 7]
    x, n, (y, z) = two(a)
    assert x is a and y is a and n == [3] and type(n) is list and z == 1.5


def test_a_list_lives_as_long_as_anything_holds_it():
    xss, inner = List([[1]]), List([5, 6])
    xss.append(inner)
    dead = weakref.ref(inner)
    del inner
    assert dead() is None and list(xss[1]) == [5, 6]


@njit
def made_inside(n):
    outer = List()
    for i in range(n):
        outer.append([i, i + 1])
    by = Dict()
    by["x"] = outer
    return by


def test_what_is_inside_is_typed_too():
    d = made_inside(3)
    assert type(d["x"]) is List and type(d["x"][1]) is List and [list(x) for x in d["x"]] == [[0, 1], [1, 2], [2, 3]]
    d["x"][0].append(9)
    assert list(d["x"][0]) == [0, 1, 9]


@njit
def from_iterables(n, a):
    return List(range(n)), List((1.5, 2.5)), Dict([(1, 2), (3, n)]), Set(a), List("ab"), Dict({n: a})


def test_made_of_iterables_in_compiled_code():
    a, b, c, d, e, f = from_iterables(3, np.array([2, 2, 5]))
    assert (list(a), list(b), dict(c), set(d), list(e)) == ([0, 1, 2], [1.5, 2.5], {1: 2, 3: 3}, {2, 5}, ["a", "b"])
    assert f[3].tolist() == [2, 2, 5]


@njit
def declared(x):
    xs = List.empty_list(types.float32)
    xs.append(x)
    d = Dict.empty(key_type=types.int32, value_type=types.float64) if x > 5 else Dict.empty(types.int32, types.float64)
    d[3] = 2
    s = Set.empty(types.int64)
    s.add(4)
    return xs, d, s


def test_declared_types_hold():
    xs, d, s = declared(1.1)
    assert str(quern.typeof(xs)) == "ListType[float32]" and xs[0] == float(np.float32(1.1))
    assert str(quern.typeof(d)) == "DictType[int32,float64]<iv=None>" and d[3] == 2.0 and list(s) == [4]
    xs.append(2), xs.append(np.float64(0.5)), xs.append(True)
    assert list(xs)[1:] == [2.0, 0.5, 1.0]
    with pytest.raises(errors.TypingError, match="cannot put into a list of float32: str"):
        xs.append("a")
    whole = List.empty_list(types.int64)
    with pytest.raises(errors.TypingError, match="cannot put into a list of int64: float"):
        whole.append(1.5)
    assert list(whole) == []


# -- elements of every kind ---------------------------------------------------------------------------------------------------


@njit
def first_and_store(xs, x):
    y = xs[0]
    xs[0] = x
    xs.append(y)
    return y


ELEMENTS = [
    (1, 2), (1.5, -0.0), (True, False), (1j, 2.5j), (np.float32(0.5), np.float32(2)), (np.uint8(3), np.uint8(255)),
    ("text", "\U0001f600 ü"), ((1, 2.5), (3, 4.5)), (("a", (1, "b")), ("c", (2, "d"))), (np.arange(3.0), np.ones(5)),
    ((np.zeros(2), 1), (np.ones(1), 2)),
]


@pytest.mark.parametrize("a, b", ELEMENTS)
def test_elements(a, b):
    xs = List([a, a])
    got = first_and_store(xs, b)
    for value, expected in ((got, a), (xs[0], b), (xs[1], a), (xs[2], a)):
        assert np.array_equal(value, expected) if isinstance(a, np.ndarray) else repr(value) == repr(expected) or \
            type(a).__module__ == "numpy" and value == expected or isinstance(a, tuple) and isinstance(a[0], np.ndarray)
    xs.clear()
    assert len(xs) == 0


@njit
def drop(xs):
    xs.clear()


def test_arrays_live_as_long_as_the_list():
    a = np.arange(4.0)
    xs = List([a])
    assert xs[0] is a
    dead = weakref.ref(a)
    del a
    gc.collect()
    assert dead() is not None
    xs[0][1] = 7
    drop(xs)
    assert dead() is None


@njit
def keep_text(xs, s):
    xs.append(s)
    xs.append(s + "!")


def test_text_outlives_the_string_that_came():
    xs = List.empty_list(types.unicode_type)
    for i in range(50):
        keep_text(xs, f"a string {i}" * 3)
    gc.collect()
    assert list(xs)[:2] == ["a string 0" * 3, "a string 0" * 3 + "!"] and xs[98] == "a string 49" * 3


@njit
def keys_into(names, d):
    for i, name in enumerate(names):
        d[name] = i
    return d


def test_text_of_a_plain_list_outlives_it():
    d = Dict.empty(types.unicode_type, types.int64)
    keys_into([f"name {i}" for i in range(20)], d)
    gc.collect()
    assert list(d) == [f"name {i}" for i in range(20)]


# -- state machines -------------------------------------------------------------------------------------------------------------


@njit
def compiled_list(xs, what, i, x):
    if what == 0:
        xs.append(x)
    elif what == 1:
        xs[i] = x
    elif what == 2:
        xs.insert(i, x)
    elif what == 3:
        xs.pop(i)
    elif what == 4:
        xs.reverse()
    elif what == 5:
        xs.sort()
    elif what == 6:
        xs += xs[i:]
    elif what == 7:
        xs[i:i + 2] = [x, x]
    else:
        del xs[i]


def both(f, *pairs):
    """The same on both: results, or the class of the exception."""
    outs = []
    for args in pairs:
        try:
            outs.append(f(*args))
        except (IndexError, ValueError, KeyError, TypeError) as e:
            outs.append(type(e))
    return outs


class Lists(RuleBasedStateMachine):
    """One typed list changed by Python and by compiled code, beside a list."""

    def __init__(self):
        super().__init__()
        self.typed, self.plain = List.empty_list(types.int64), []

    @rule(what=st.integers(0, 8), i=st.integers(-5, 5), x=st.integers(-9, 9))
    def compiled(self, what, i, x):
        a, b = both(lambda f, xs: f(xs, what, i, x), (compiled_list, self.typed), (compiled_list.py_func, self.plain))
        assert a == b

    @rule(name=st.sampled_from("append remove count index".split()), x=st.integers(-9, 9))
    def method(self, name, x):
        a, b = both(lambda xs: getattr(xs, name)(x), (self.typed,), (self.plain,))
        assert a == b

    @rule(i=st.integers(-5, 5), x=st.integers(-9, 9))
    def item(self, i, x):
        def change(xs):
            y = xs[i]
            xs[i] = x
            return y, x in xs, len(xs)
        a, b = both(change, (self.typed,), (self.plain,))
        assert a == b

    @rule(a=st.integers(-6, 6), b=st.integers(-6, 6), c=st.sampled_from([None, 1, 2, -1]), xs=st.lists(st.integers(-9, 9), max_size=4))
    def slices(self, a, b, c, xs):
        assert list(self.typed[a:b:c]) == self.plain[a:b:c]
        if c is None:
            self.typed[a:b] = xs
            self.plain[a:b] = xs
        else:
            del self.typed[a:b:c]
            del self.plain[a:b:c]

    @rule(xs=st.lists(st.integers(-9, 9), max_size=9))
    def extended(self, xs):
        self.typed.extend(xs)
        self.plain.extend(xs)
        assert (self.typed == xs) is (self.plain == xs) and (self.typed < xs) is (self.plain < xs)

    @rule(i=st.integers(-5, 5))
    def popped(self, i):
        a, b = both(lambda xs: xs.pop(i), (self.typed,), (self.plain,))
        assert a == b

    @rule()
    def copied(self):
        other = self.typed.copy()
        other.append(1)
        assert len(self.typed) == len(other) - 1 and copy.deepcopy(self.typed) == self.typed

    @invariant()
    def same(self):
        assert list(self.typed) == self.plain and len(self.typed) == len(self.plain) and self.typed == self.plain
        assert list(reversed(self.typed)) == self.plain[::-1]


@njit
def compiled_dict(d, what, k, v):
    if what == 0:
        d[k] = v
    elif what == 1:
        d.pop(k)
    elif what == 2:
        d.setdefault(k, v)
    elif what == 3:
        d.update({k: v, k + "x": v})
    elif what == 4:
        d[k] += v
    else:
        d.pop(k, v)


keys = st.text("abc", max_size=2)


class Dicts(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.typed, self.plain = Dict.empty(types.unicode_type, types.float64), {}

    @rule(what=st.integers(0, 5), k=keys, v=st.floats(allow_nan=False))
    def compiled(self, what, k, v):
        a, b = both(lambda f, d: f(d, what, k, v), (compiled_dict, self.typed), (compiled_dict.py_func, self.plain))
        assert a == b

    @rule(k=keys, v=st.floats(allow_nan=False))
    def stored(self, k, v):
        self.typed[k] = self.plain[k] = v

    @rule(k=keys)
    def taken(self, k):
        for f in (lambda d: d.pop(k), lambda d: d.pop(k, 2.0), lambda d: d[k], lambda d: d.get(k, 3.0), lambda d: d.get(k),
                  lambda d: k in d, lambda d: d.__delitem__(k)):
            a, b = both(f, (self.typed,), (self.plain,))
            assert a == b

    @rule()
    def last(self):
        a, b = both(lambda d: d.popitem(), (self.typed,), (self.plain,))
        assert a == b

    @rule(others=st.dictionaries(keys, st.floats(allow_nan=False), max_size=3))
    def updated(self, others):
        self.typed.update(others)
        self.plain |= others
        assert (self.typed | {"a": 1.0}) == (self.plain | {"a": 1.0})

    @invariant()
    def same(self):
        assert dict(self.typed) == self.plain and list(self.typed.items()) == list(self.plain.items())
        assert list(self.typed.values()) == list(self.plain.values()) and self.typed == self.plain and len(self.typed) == len(self.plain)
        assert copy.copy(self.typed) == self.plain


@njit
def compiled_set(s, what, x):
    if what == 0:
        s.add(x)
    elif what == 1:
        s.discard(x)
    elif what == 2:
        s.remove(x)
    else:
        s |= {x, x + 1}


class Sets(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.typed, self.plain = Set.empty(types.int64), set()

    @rule(what=st.integers(0, 3), x=st.integers(-9, 9))
    def compiled(self, what, x):
        a, b = both(lambda f, s: f(s, what, x), (compiled_set, self.typed), (compiled_set.py_func, self.plain))
        assert a == b

    @rule(name=st.sampled_from("add discard remove __contains__".split()), x=st.integers(-9, 9))
    def method(self, name, x):
        a, b = both(lambda s: getattr(s, name)(x), (self.typed,), (self.plain,))
        assert a == b

    @rule(others=st.sets(st.integers(-9, 9), max_size=5))
    def algebra(self, others):
        t, p = self.typed, self.plain
        assert (set(t | others), set(t & others), set(t - others), set(t ^ others)) == (p | others, p & others, p - others, p ^ others)
        assert (t <= others, t < others, t >= others, t > others, t.isdisjoint(others), t == others) == (
            p <= others, p < others, p >= others, p > others, p.isdisjoint(others), p == others)
        t -= others
        p -= others

    @invariant()
    def same(self):
        assert set(self.typed) == self.plain and len(self.typed) == len(self.plain)


@pytest.mark.parametrize("machine", [Lists, Dicts, Sets])
def test_machine(machine):
    run_state_machine_as_test(machine, settings=settings(max_examples=40, stateful_step_count=25, deadline=None,
                                                         suppress_health_check=list(HealthCheck)))
    gc.collect()


# -- of nobody knows what -----------------------------------------------------------------------------------------------------------


def test_the_first_item_says_what_it_is():
    xs, d, s = List(), Dict(), Set()
    assert (len(xs), list(xs), repr(xs), xs._typed) == (0, [], "ListType[Undefined]([])", False)
    assert (len(d), list(d.items()), repr(d), d.get(1, 5)) == (0, [], "DictType[Undefined,Undefined]({})", 5)
    assert (len(s), 3 in s, 3 in xs, 3 in d) == (0, False, False, False)
    for call in (lambda: xs[0], lambda: xs.pop(), lambda: xs.__setitem__(0, 1)):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(KeyError):
        d[1]
    with pytest.raises(TypeError, match="nobody knows what it will hold"):
        length_of(xs)
    assert xs == [] and xs.copy() == []
    xs.append(1.5), d.__setitem__("k", [1, 2]), s.add("x")
    assert (repr(xs), repr(s)) == ("ListType[float64]([1.5])", "SetType[unicode_type]<iv=None>({x})")
    assert type(d["k"]) is List and length_of(xs) == 1 and type(xs) is List and type(d) is Dict and type(s) is Set
    ys = List()
    ys.extend([]), ys.extend([3])
    assert ys == [3] and List([]) == [] and List((1, 2)) == [1, 2] and List("ab") == ["a", "b"]
    assert Dict({1: 2}) == {1: 2} and Dict([(1, "a")]) == {1: "a"} and Set([1, 1]) == {1}


def test_numbers_that_do_not_fit():
    with pytest.raises(TypeError):
        List([1, 2.5])
    assert list(List([1.5, 2, True])) == [1.5, 2.0, 1.0]
    xs = List.empty_list(types.int8)
    xs.append(5)
    with pytest.raises(TypeError):
        List([1, "a"])
    with pytest.raises((OverflowError, TypeError)):
        List([np.int8(1), 1000])


@pytest.mark.parametrize("item", [None, object(), [1, "a"], {1: object()}, bytearray(b"bytes"), print])
def test_what_cannot_be_in_it(item):
    with pytest.raises(TypeError):
        List([item])
    with pytest.raises(TypeError):
        Dict()[1] = item


def test_keys_are_hashed():
    with pytest.raises(TypeError):
        Dict()[np.zeros(2)] = 1
    with pytest.raises(TypeError):
        Dict.empty(types.float64[:], types.int64)
    with pytest.raises(TypeError):
        List.empty_list(types.none)
    with pytest.raises(TypeError):
        Set()[0]
    with pytest.raises(TypeError, match="unhashable"):
        hash(List())


# -- types -------------------------------------------------------------------------------------------------------------------------


def test_types():
    xs, d, s = List([1]), Dict({"a": (1, 2.5)}), Set([1.5])
    assert quern.typeof(xs) == types.ListType(types.int64) == xs._numba_type_ and xs._dtype == types.int64
    assert quern.typeof(d) == types.DictType(types.unicode_type, types.Tuple([types.int64, types.float64]))
    assert quern.typeof(s) == types.SetType(types.float64)
    assert List(lsttype=types.ListType(types.int32))._dtype == types.int32
    assert list(Dict(dcttype=types.DictType(types.int32, types.ListType(types.float64)))) == []
    assert List[int] is List and Dict[str, int] is Dict
    with pytest.raises(TypeError):
        List(lsttype=types.int64)


@njit(types.int64(types.ListType(types.int64), types.int64))
def with_signature(xs, i):
    return xs[i]


@njit("void(DictType[unicode_type, float64], unicode_type)")
def with_text(d, k):
    d[k] = 1.5


def test_signatures():
    assert with_signature(List([1, 2]), 1) == 2
    d = Dict.empty(types.unicode_type, types.float64)
    with_text(d, "a")
    assert d == {"a": 1.5}
    with pytest.raises(TypeError):
        with_signature(List([1.5]), 0)


@njit
def told_apart(xs):
    return isinstance(xs, List), isinstance(xs, Dict)


def test_isinstance():
    assert told_apart(List([1])) == (True, False) and told_apart(Dict({1: 1})) == (False, True) and told_apart([1]) == (False, False)


def test_copies_and_pickles():
    xs, d, s = List([[1, 2], [3]]), Dict({"a": 1.5}), Set([1, 2])
    for c, same in ((xs, lambda a, b: [list(x) for x in a] == [list(x) for x in b]), (d, lambda a, b: a == b), (s, lambda a, b: a == b)):
        for other in (copy.copy(c), copy.deepcopy(c), pickle.loads(pickle.dumps(c)), c.copy()):
            assert other is not c and type(other) is type(c) and same(other, c) and quern.typeof(other) == quern.typeof(c)
    assert copy.copy(xs)[0] is xs[0] and copy.deepcopy(xs)[0] is not xs[0]
    assert pickle.loads(pickle.dumps(List()))._typed is False and pickle.loads(pickle.dumps(List.empty_list)) is List.empty_list


# -- beside plain containers ------------------------------------------------------------------------------------------------------------


@njit
def plain_and_typed(plain, typed):
    for x in plain:
        typed.append(x)
    for x in typed:
        plain.append(x)
    return typed == plain, plain < typed, list(typed), typed + typed


def test_plain_lists_beside():
    a, b = [1, 2], List([7])
    assert plain_and_typed(a, b) == (False, True, [7, 1, 2], b + b) and a == [1, 2, 7, 1, 2] and b == [7, 1, 2]
    assert type(plain_and_typed([1], List([1]))[2]) is list and type(plain_and_typed([1], List([1]))[3]) is List


@njit
def holds_plain(typed, plain):
    typed.append(plain)


def test_a_plain_list_cannot_lie_in_a_shared_one():
    with pytest.raises(errors.TypingError):
        holds_plain(List([[1, 2]]), [3])


@njit
def of_tuple(pair):
    pair[0].append(pair[1])
    return pair[0]


def test_in_tuples_and_lists():
    xs = List([1])
    assert of_tuple((xs, 2)) is xs and xs == [1, 2]
    assert length_of([xs, List([5])]) == 2 and inner_of([xs, List([5])]) is xs


@njit
def two_kinds(n):
    out = [1] if n else List([2])
    return out


@njit
def two_returns(n):
    if n:
        return [1]
    return List([2])


def test_a_plain_display_beside_a_typed_one_is_typed():
    assert type(two_returns(0)) is List and type(two_returns(1)) is List
    assert type(two_kinds(0)) is List and list(two_kinds(1)) == [1]


def test_kernels_have_none():
    @cuda.jit
    def kernel(xs):
        pass
    with pytest.raises(TypeError, match="kernels have no objects"):
        kernel[1, 1](List([1]))


@njit
def walk_and_change(d):
    for k in d:
        d[k + 1] = k


def test_changed_while_it_is_walked():
    with pytest.raises(RuntimeError):
        walk_and_change(Dict({1: 1}))
    d, s = Dict({1: 1, 2: 2}), Set([1, 2])
    with pytest.raises(RuntimeError, match="dict changed size"):
        for k in d:
            d[k + 10] = 1
    with pytest.raises(RuntimeError, match="set changed size"):
        for k in s:
            s.discard(k)


class _Kind:
    """What a walk is tried with: how a key and a value are made of a number."""

    def __init__(self, key, value):
        self.key, self.value = key, value


WALKED = [_Kind(int, float), _Kind(str, lambda k: (k, str(k))), _Kind(lambda k: (k, str(k)), bool), _Kind(lambda k: str(k).encode(), lambda k: k * 1j),
          _Kind(np.int32, lambda k: List([k])), _Kind(float, lambda k: np.arange(k)), _Kind(lambda k: ((k, k), k), str)]


@pytest.mark.parametrize("kind", WALKED)
def test_walks_are_as_those_of_dict(kind):
    """Entries come in their order, those that are gone do not, and each is what look-up gives."""
    d, plain = Dict(), {}
    for k in range(40):
        for x in d, plain:
            x[kind.key(k)] = kind.value(k)
    for k in range(0, 40, 3):
        for x in d, plain:
            del x[kind.key(k)]
    for x in d, plain:
        x[kind.key(0)] = kind.value(0)
    assert list(d) == list(plain) == list(d.keys()) and repr(list(d.values())) == repr(list(plain.values()))
    shown = [(k.item() if isinstance(k, np.generic) else k, v) for k, v in plain.items()]
    assert repr(list(d.items())) == repr(shown) and [type(k) for k in d] == [type(plain_k) if kind.key is not np.int32 else int for plain_k in plain]
    assert all(a is b if isinstance(b, List) else repr(a) == repr(b) for a, b in zip(d.values(), (d[k] for k in d)))
    items = Set([kind.key(k) for k in range(20)])
    items.discard(kind.key(4))
    assert sorted(items) == sorted(kind.key(k) for k in range(20) if k != 4)


def test_a_walk_looks_at_what_there_is_then():
    """As CPython's: an entry that goes while another comes, a walk at its end, and one that has found a change."""
    d, plain = Dict({k: k for k in range(4)}), {k: k for k in range(4)}
    seen = []
    for x in d, plain:
        walk = iter(x)
        seen.append([next(walk)])
        del x[1]
        x[9] = 9
        seen[-1] += list(walk) + [next(walk, None), list(x)]
        x[10] = 10
        seen[-1].append(next(walk, None))
    assert seen[0] == seen[1] == [0, 2, 3, 9, None, [0, 2, 3, 9], None]
    for x in d, plain:
        walk = iter(x)
        next(walk)
        x.clear()
        for _ in range(2):
            with pytest.raises(RuntimeError, match="changed size"):
                next(walk)
        x[1] = 1
        with pytest.raises(RuntimeError, match="changed size"):
            next(walk)
    assert list(Dict.empty(types.int64, types.int64)) == list(Dict.empty(types.int64, types.int64).items()) == []


def test_walks_over_ints():
    """Those that Python has one of each of, and others; a walk that is over stays so when its dict is gone."""
    numbers = [-7, -1, 0, 1, 255, 256, 257, 300, 2**40, -2**63, 2**63 - 1]
    d, s = Dict({k: -k if k > -2**63 else k for k in numbers}), Set(numbers)
    for _ in range(3):
        assert list(d) == numbers and list(d.values()) == [-k if k > -2**63 else k for k in numbers] and list(s) == numbers
    assert all(type(k) is int for k in d)
    walk = iter(d)
    assert len(list(walk)) == len(numbers)
    del d
    gc.collect()
    assert next(walk, None) is None and list(walk) == []
    walk = iter(s)
    loop = [next(walk), walk]
    loop.append(loop)
    del s, walk, loop
    gc.collect()


def test_MEM_a_walk_keeps_what_it_goes_over():
    d = Dict({str(k): k for k in range(1000)})
    walk = iter(d.items())
    del d
    gc.collect()
    assert list(walk) == [(str(k), k) for k in range(1000)]
    del walk
    with pytest.raises(TypeError):
        type(iter(Dict({1: 1})))()


# -- threads, memory, failures -----------------------------------------------------------------------------------------------------------


@njit(nogil=True)
def many(xs, n):
    for i in range(n):
        xs.append(i)


def test_CNT_threads_wait_for_each_other():
    xs = List.empty_list(types.int64)
    workers = [threading.Thread(target=many, args=(xs, 200_000)) for _ in range(4)]
    for w in workers:
        w.start()
    for _ in range(200):
        xs.append(-1)
    for w in workers:
        w.join()
    assert len(xs) == 800_200


class _Printed:
    def __init__(self, xs):
        self.xs, self.refused = xs, 0

    def write(self, text):
        try:
            self.xs.append(1)
        except RuntimeError:
            self.refused += 1


@njit
def prints(xs):
    for x in xs:
        print(x)


def test_what_print_runs_cannot_change_it(monkeypatch):
    xs = List([1, 2, 3])
    out = _Printed(xs)
    monkeypatch.setattr("sys.stdout", out)
    prints(xs)
    monkeypatch.undo()
    assert out.refused > 0 and xs == [1, 2, 3]
    xs.append(4)


@njit
def raises_in_the_midst(xs):
    xs.append(1)
    xs.append(2)
    raise ValueError("no")


def test_what_was_done_before_an_exception_stays():
    xs = List.empty_list(types.int64)
    with pytest.raises(ValueError):
        raises_in_the_midst(xs)
    assert xs == [1, 2]
    with pytest.raises(IndexError):
        xs[2]
    many(xs, 1)
    assert len(xs) == 3


@njit
def fill(xs, d, n):
    for i in range(n):
        xs.append([i])
        d["k" + str(i)] = xs
    return d


def fails_at(n, program):
    """Does it, when allocation number n fails? Nothing is left either way."""
    before = live()
    quern._quern.test_fail_allocation(n)
    try:
        program()
    except MemoryError:
        failed = True
    else:
        failed = False
    finally:
        quern._quern.test_fail_allocation(0)
    gc.collect()
    assert live() == before
    return failed


def test_MEM_every_allocation_may_fail():
    xs, d = List([[0]]), Dict.empty(types.unicode_type, types.ListType(types.ListType(types.int64)))
    fill(xs, d, 1)
    n = 1
    while fails_at(n, lambda: fill(List([[0]]), d.copy(), 6)):
        n += 1
    assert n > 20


def test_MEM_made_by_python_without_memory():
    n = 1
    while fails_at(n, lambda: List([(1, "a"), (2, "b")])):
        n += 1
    assert n > 4


@njit
def deep(n):
    xs = List()
    xs.append((n, "text"))
    for i in range(n):
        xs.append((i, str(i)))
    return xs


def test_a_million_elements_go_at_once():
    xs = deep(200_000)
    assert len(xs) == 200_001 and xs[-1] == (199_999, "199999")


def test_MEM_a_set_has_no_values_to_go_over():
    items = Set([1, 2])
    for over in (1, 2):
        with pytest.raises(TypeError, match="no values"):
            items._walk(over, list)
