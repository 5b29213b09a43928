"""collections.defaultdict, Counter, OrderedDict and frozenset in compiled code, as arguments and as results, against CPython."""
import collections
import enum
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, same, same_values  # noqa: F401
from quern import errors, njit, typed


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Place:
    row: int
    column: int


# -- defaultdict ---------------------------------------------------------------------------------------------------------


def of_ints(words):
    d = defaultdict(int)
    for w in words:
        d[w] += 1
    missing = d["nothing"]
    return d, missing, len(d), "nothing" in d, d.get("other"), sorted(d), str(d), list(d.items())


def of_lists(words):
    d = defaultdict(list)
    for i, w in enumerate(words):
        d[len(w)].append((i, w))
    return d, {k: len(v) for k, v in d.items()}, d[100], repr(d)


def of_sets(words):
    d = collections.defaultdict(set)
    for w in words:
        d[w[:1]].add(len(w))
    return {k: sorted(v) for k, v in d.items()}


def of_floats(words):
    d = defaultdict(float)
    for w in words:
        d[w] += 0.5
        d[w] *= 3
    return d, d["zz"]


def of_others(words):
    a, b, c, e = defaultdict(str), defaultdict(bool), defaultdict(complex), defaultdict(dict)
    f, g = defaultdict(deque), defaultdict(Counter)
    for w in words:
        a[len(w)] += w
        b[w] = not b[w]
        c[w] += 1j
        e[len(w)][w] = 2 * len(w)
        f[len(w)].appendleft(w)
        g[len(w)][w] += 1
    return a, b, c, e, {k: list(v) for k, v in f.items()}, g


def by_functions(words):
    a = defaultdict(lambda: 7)
    b = defaultdict(lambda: [0, 0])
    c = defaultdict(lambda: 1000)
    e = defaultdict(lambda: (0, "x"))
    for w in words:
        a[w] += 1
        b[w][len(w) % 2] += len(w)
        c[w] = min(c[w], len(w))
        n, s = e[len(w)]
        e[len(w)] = n + 1, s + w
    return dict(a), dict(b), dict(c), dict(e), a["nothing"]


def nested(words):
    d = defaultdict(lambda: defaultdict(int))
    e = defaultdict(lambda: defaultdict(list))
    f = defaultdict(lambda: {})
    for w in words:
        d[len(w)][w] += 1
        e[w][len(w)].append(1.5)
        f[len(w)][w] = w
    return {k: dict(v) for k, v in d.items()}, {k: dict(v) for k, v in e.items()}, dict(f), d[100]["x"]


def five():
    return 5


def by_names(words):
    d = defaultdict(five)
    e = defaultdict(Place.__new__ if False else five, {"a": 1})
    for w in words:
        d[w] -= 1
        e[w] += 1
    return dict(d), dict(e)


def filled(words):
    d = defaultdict(int, {"a": 5})
    e = defaultdict(list, [("x", [1]), ("y", [])])
    e["z"].append(len(words))
    d.update({"b": 2})
    c = d.copy()
    c["new"] += 1
    return d, e, c, d == {"a": 5, "b": 2}, d | {"c": 3}, d.pop("a"), d.setdefault("q", 4), list(reversed(d))


def without(words):
    d = defaultdict(None, {"a": 1})
    return d["a"] if len(words) else d["b"]


WORDS = ["a", "bb", "a", "ccc", "dd", "bb", "a"]


@pytest.mark.parametrize("f", [of_ints, of_lists, of_sets, of_floats, of_others, by_functions, nested, by_names, filled, without])
@pytest.mark.parametrize("words", [WORDS, ["x"]])
def test_default(f, words):
    same(njit(f), words)


def test_nothing_makes_a_value():
    same(njit(without), [])


def test_results_are_of_their_class():
    found = njit(of_ints)(WORDS)[0]
    assert type(found) is defaultdict and found.default_factory is int
    made = njit(lambda n: [defaultdict(five, {n: 1}), defaultdict(five)])(3)
    assert made[0].default_factory is five and made[1][0] == 5 and made[0] == {3: 1}
    made = njit(lambda n: defaultdict(lambda: 2.5, {n: 1.5}))(3)
    assert made[0] == 2.5 and made[3] == 1.5


def changed(d, n):
    d[n] += 1
    e = d
    e[n + 1] += d[n]
    return d, len(d)


@pytest.mark.parametrize("d", [defaultdict(int, {1: 5}), defaultdict(int), defaultdict(float, {2: 0.5}), defaultdict(five, {7: 8})])
def test_default_arguments(d):
    f = njit(changed)
    found = same(f, d, 1)
    assert type(found[0]) is defaultdict
    mine = d.copy()
    out = f(mine, 3)
    assert out[0] is mine and mine.default_factory is d.default_factory


def test_lists_in_arguments():
    d = defaultdict(list, {"a": [1.5]})
    same(njit(lambda d: (d["a"].append(2.5), d["b"].append(1.0), d)[2]), d)
    with pytest.raises(errors.TypingError, match="makes its values"):
        njit(changed)(defaultdict(Place, {}), 1)


def test_who_takes_something_along():
    def f(n):
        d = defaultdict(lambda: n)
        return d[1]
    with pytest.raises(errors.TypingError, match="setdefault"):
        njit(f)(3)

    def g(n):
        d = defaultdict(lambda: None)
        return d[n]
    with pytest.raises(errors.TypingError, match="no None"):
        njit(g)(3)

    def h(c):
        d = {1: 2} if c else defaultdict(int)
        return d[1]
    with pytest.raises(errors.QuernError, match="a dict and a defaultdict|a defaultdict and a dict"):
        njit(h)(True)


# -- Counter ---------------------------------------------------------------------------------------------------------------


@njit
def counters(a, b):
    c, d = Counter(a), Counter(b)
    return (c, d, c + d, c - d, c | d, c & d, c == d, c != d, c <= d, c < d, c >= d, c > d, c["nothing"], len(c), sorted(c.items()), c.most_common(),
            c.most_common(2), c.most_common(0), c.total(), list(c.elements()), repr(c), str(d))


texts = strategies.text("abcd", max_size=12)


@settings(deadline=None)
@given(texts, texts)
def test_counters(a, b):
    same(counters, a, b)


@settings(deadline=None)
@given(strategies.lists(strategies.integers(0, 4)), strategies.lists(strategies.integers(0, 4)))
def test_counters_of_numbers(a, b):
    same(counters, a, b)


@njit
def counted(xs, d):
    c = Counter()
    for x in xs:
        c[x] += 1
    c.update(xs)
    c.update(d)
    c.subtract(xs[:2])
    c.subtract({7: 3})
    del c[7]
    del c[12345]
    e = c.copy()
    e[1] = -5
    f = e + Counter()
    e += c
    g = c.copy()
    g -= f
    h = c.copy()
    h |= f
    h &= c
    return c, e, f, g, h, c == d, 99 in c, c.get(99), c.pop(xs[0]), dict(c), max(c, key=c.get), sum(c.values())


def test_counter_methods():
    same(counted, [1, 2, 1, 3, 1], {3: 4, 9: 1})
    assert type(counted([1, 2, 1], {1: 2})[1]) is Counter


def test_counter_arguments():
    def f(c, d):
        c["x"] += 2
        c["a"] -= 1
        d.update("zz")
        return c, c["missing"], c.most_common(1), d
    same(njit(f), Counter("aab"), Counter("zq"))
    c = Counter("aab")
    assert njit(f)(c, Counter("q"))[0] is c
    assert njit(lambda cs: [c.most_common(1) for c in cs])([Counter("aab"), Counter("b")]) == [[("a", 2)], [("b", 1)]]
    same(njit(lambda c, p: (c[p], c[Place(9, 9)])), Counter([Place(1, 2), Place(1, 2)]), Place(1, 2))


def test_weights():
    def f(xs):
        c = Counter()
        for x in xs:
            c[x] += 0.5
        return c, c.total()
    assert njit(f)(["a", "b", "a"]) == (Counter({"a": 1.0, "b": 0.5}), 1.5)


# -- OrderedDict -----------------------------------------------------------------------------------------------------------


@njit
def ordered(d, key):
    o = OrderedDict(d)
    o.move_to_end(key)
    p = OrderedDict([(1, 2), (3, 4)])
    q = OrderedDict()
    for k in d:
        q[k] = d[k]
        q.move_to_end(k, last=False)
    first = q.popitem(last=False)
    last = q.popitem()
    r = o.copy()
    return (o, p, q, first, last, list(o), list(o.values()), o == q, o == d, p == OrderedDict([(3, 4), (1, 2)]), p == {3: 4, 1: 2}, repr(o), repr(q), r,
            p | {9: 9}, next(reversed(o)))


def test_ordered():
    same(ordered, {1: 10, 2: 20, 3: 30, 4: 40}, 2)
    found = ordered({1: 10, 2: 20}, 1)[0]
    assert type(found) is OrderedDict and list(found) == [2, 1]
    same(ordered, {1: 10, 2: 20}, 5)


def lru(keys, size):
    cache = OrderedDict()
    hits = 0
    for k in keys:
        if k in cache:
            cache.move_to_end(k)
            hits += 1
        else:
            cache[k] = k * k
            if len(cache) > size:
                cache.popitem(last=False)
    return hits, cache


@pytest.mark.parametrize("size", [1, 3, 40])
def test_lru(size):
    rng = np.random.default_rng(5)
    keys = [int(k) for k in rng.zipf(1.3, 3000) % 100]
    found = same(njit(lru), keys, size)
    assert list(found[1]) == list(lru(keys, size)[1])


def test_ordered_arguments():
    def f(o):
        o.move_to_end(1)
        o[7] = 8
        del o[2]
        return o
    f = njit(f)
    for way in (True, False):
        a, b = OrderedDict([(1, 2), (2, 3), (3, 4)]), OrderedDict([(1, 2), (2, 3), (3, 4)])
        a.move_to_end(3, last=way), b.move_to_end(3, last=way)
        assert f(a) is a and f.py_func(b) == a and list(a.items()) == list(b.items())
        a.move_to_end(1, last=False)
        assert list(a) == [1] + [k for k in b if k != 1]
    a = OrderedDict([(1, 2)])
    njit(lambda o: o.update({1: 5}))(a)
    assert a == OrderedDict([(1, 5)])
    with pytest.raises(KeyError, match="dictionary is empty"):
        njit(lambda: OrderedDict({1: 2}).clear() or OrderedDict({}).popitem())()


# -- frozenset -------------------------------------------------------------------------------------------------------------


@njit
def frozen(a, b):
    f, g = frozenset(a), frozenset(b)
    s = set(b)
    h = f
    h |= g
    return (f, g, f | g, f & g, f - g, f ^ g, f | s, s | f, f == g, f == s, f != g, f <= h, f < h, h >= g, h > g, len(f), hash(f), hash(f) == hash(h),
            f.union(b), f.intersection(b), f.difference(b), f.symmetric_difference(b), f.isdisjoint(g), f.issubset(s), f.issuperset(g), f.copy(),
            sorted(f), sum(f), frozenset(f) == f, frozenset() == f, isinstance(f, frozenset), isinstance(f, set), isinstance(s, frozenset))


@settings(deadline=None)
@given(strategies.lists(strategies.integers(-3, 8), min_size=1), strategies.lists(strategies.integers(-3, 8), min_size=1))
def test_frozen(a, b):
    found = same_values(frozen, a, b)
    assert [type(x) for x in found] == [type(x) for x in frozen.py_func(a, b)]


elements = [[1, 2, 3], ["a", "bb", ""], [1.5, -2.5, float("inf")], [(1, "a"), (2, "b")], [Place(1, 2), Place(2, 1)], [b"a", b"b"], [2**62, -1, 0]]


@pytest.mark.parametrize("xs", elements)
def test_hashes(xs):
    for k in range(1, len(xs) + 1):
        assert njit(lambda xs: hash(frozenset(xs)))(xs[:k]) == hash(frozenset(xs[:k]))


def test_keys():
    @njit
    def f(groups):
        d = {}
        for g in groups:
            k = frozenset(g)
            d[k] = d.get(k, 0) + 1
        seen = {frozenset(g) for g in groups}
        return d, len(seen), frozenset([2, 1]) in seen, d[frozenset(groups[0])], {frozenset([frozenset(groups[0])])}
    same_values(f, [[1, 2], [2, 1], [3], [], [1, 1, 2]])
    with pytest.raises(KeyError, match="a frozenset"):
        njit(lambda xs: {frozenset(xs): 1}[frozenset([9])])([1])

    @njit
    def g(d, s, k):
        d[k] += 1
        d[frozenset(["new"])] = 5
        s.add(k)
        return d[frozenset(["b", "a"])], k in s, len(s), [x for x in k if x > "a"], k
    same_values(g, {frozenset("ab"): 1}, {frozenset("x")}, frozenset("ab"))
    k = frozenset("ab")
    assert g({k: 1}, {k}, k)[4] is k


def test_a_frozenset_does_not_change():
    for f in (lambda f: f.add(1), lambda f: f.clear(), lambda f: f.update([1]), lambda f: f.pop()):
        with pytest.raises(errors.TypingError, match="frozenset.*has no attribute"):
            njit(f)(frozenset([1]))
    with pytest.raises(TypeError, match="unhashable"):
        njit(lambda xs: hash(set(xs)))([1])
    with pytest.raises(errors.QuernError):
        njit(lambda s: hash(s))(frozenset([Colour.RED])) and njit(lambda d, k: d[k])({frozenset([Colour.RED]): 1}, frozenset([Colour.RED]))


# -- all -------------------------------------------------------------------------------------------------------------------


def test_types_and_shared_containers():
    @njit
    def f(n):
        c, d, o = Counter([n]), defaultdict(int, {n: 1}), OrderedDict({n: 1})
        return (isinstance(c, dict), isinstance(c, Counter), isinstance(d, Counter), isinstance(o, (list, OrderedDict)), type(c) is Counter, type(d) is dict,
                [c, Counter([n, n])], {1: d}, [frozenset([n]), frozenset([2])], c == d)
    same(f, 3)
    with pytest.raises(errors.QuernError, match="Counter"):
        njit(lambda xs: typed.List([Counter(xs)]))([1])


def test_from_function_to_function():
    def add(d, k):
        d[k].append(len(d))

    def f(n):
        d = defaultdict(list)
        for i in range(n):
            add(d, i % 3)
        return d

    def total(c):
        return sum(c.values()), c["q"]
    same(njit(f), 7)
    same(njit(lambda s: total(Counter(s))), "aqbq")


def test_methods_of_objects_as_arguments():
    def f(d, xs, s):
        return max(d, key=d.get), sorted(xs, key=d.get), list(map(d.get, xs)), list(map(s.count, ["a", "b"])), list(map("".join, [["a"], ["b", "c"]]))
    same(njit(f), {1: 5, 2: 7, 3: 1}, [1, 2, 3], "abca")


@njit
def many(words, c, d):
    e = defaultdict(list)
    for w in words:
        e[Place(len(w), len(w))].append(w)
        c[w] += 1
        d[len(w)].append(w)
    f = {frozenset([w]): 1 for w in words}
    o = OrderedDict()
    for w in words:
        o[w] = str(Place(1, len(w)))
        o.move_to_end(w, last=False)
    return e, c.most_common(), f, o


def test_MEM_03_each_allocation_fails():
    def given():
        return ["a", "bb", "a"], Counter("ab"), defaultdict(list, {1: ["z"]})
    assert each_allocation_fails(many, given, most=2000) == many.py_func(*given())


def test_functions_whose_containers_are_not_empty():
    def f():
        def texts():
            return {str()}

        a = defaultdict(lambda: [int()])
        a[1].append(5)
        b = defaultdict(lambda: {int(): float()})
        b[1][4] = 2.5
        c = defaultdict(lambda: defaultdict(lambda: [int(), int()]))
        c[1][4][1] += 2
        d = defaultdict(texts)
        d[1].add("x")
        e = defaultdict(lambda: [])
        e[2].append(7)
        return a[1], b[1], c[1][4], sorted(d[1]), e[2]

    assert njit(f)() == f() == ([0, 5], {0: 0.0, 4: 2.5}, [0, 2], ["", "x"], [7])


def test_a_function_that_has_the_name_of_a_class():
    space = {"defaultdict": defaultdict}
    exec("def list(): return [1, 2]\ndef f():\n    d = defaultdict(lambda: list())\n    d[1].append(5)\n    return d[1]", space)
    assert njit(space["f"])() == [1, 2, 5]


def signs(words):
    c = Counter(words)
    c["b"] = -4
    c["c"] = 0
    p, n = +c, -c
    return list(p.items()), list(n.items()), len(c), p["missing"]


def test_signs_of_a_counter():
    for words in (["a", "a", "b", "x"], ["c"]):
        assert njit(signs)(words) == signs(words)


def joined_dicts(k):
    d = defaultdict(int)
    d[k] += 1
    e = {k + 1: 2, k: 7}
    o = OrderedDict([(5, 1)])
    x, y, z = e | d, d | e, e | o
    x[100] += 1
    return list(x.items()), list(y.items()), list(z.items()), list((e | Counter([k])).items())


def test_a_dict_joined_with_a_derived_one_is_of_its_class():
    got, want = njit(joined_dicts)(3), joined_dicts(3)
    assert got == want

    @njit
    def classes(k):
        e = {k: 1}
        d = defaultdict(int)
        d[k] = 2
        o = OrderedDict([(k, 3)])
        return e | d, e | o, e | Counter([k])

    assert [type(x) for x in classes(1)] == [defaultdict, OrderedDict, dict]


def test_a_maker_that_always_raises_is_refused():
    def never():
        raise ValueError("no")

    @njit
    def f(k):
        d = defaultdict(never)
        d[1] = 2.0
        return d[k]

    with pytest.raises(errors.TypingError, match="what makes the values gives one each time"):
        f(1)
