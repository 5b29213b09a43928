"""Containers of which nobody can follow back who made them, through any call, generator or comprehension: what is put in says what they hold."""
import heapq
from collections import defaultdict, deque
from functools import reduce

import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected, same  # noqa: F401
from quern import njit



def default_of_get(n):
    d = {}
    d[1] = []
    x = d.get(1, [])
    x.append(n > 1)
    return d, x


def defaults_kept(n):
    d = {1: []}
    for k in range(n):
        x = d.get(k, [])
        x.append(k > 1)
        d[k] = x
    return d


def chosen_or_new(n):
    m = [[]]
    c = n > 2
    x = m[0] if c else []
    x.append(c)
    return m, x


def chosen_by_truth(n):
    m = [[]]
    x = m[0] if m else []
    x.append(n > 2)
    return m


def chosen_in_tuple(n):
    m = [([], 1)]
    x = m[0][0] if n > 2 else []
    x.append(n > 2)
    return m


def rest(n):
    c = [[], []]
    x, *r = c
    r[0].append(n > 1)
    return c, x, r


def before_rest(n):
    c = [[], []]
    x, *r = c
    x.append(n > 1)
    return c, x, r


def rest_of_tuple(n):
    c = ([], [], [])
    x, *r = c
    r[0].append(n > 1)
    return c, x, r


def rest_walked(n):
    x, *r = [[], [], []]
    for q in r:
        q.append(n > 1)
    return x, r


def of_pairs(n):
    c = [([], k) for k in range(n)]
    b = [p[0] for p in c]
    b[0].append(n > 1)
    return c, b


def of_pairs_unpacked(n):
    c = [([], k) for k in range(n)]
    b = [p for p, k in c]
    b[0].append(n > 1)
    return c, b


def pairs_walked(n):
    c = [([], k) for k in range(n)]
    for p, k in c:
        p.append(k > 1)
    return c


def pairs_turned(n):
    c = [(k, []) for k in range(n)]
    b = [(q, p) for p, q in c if p]
    for x, y in b:
        x.append(y > 1)
    return c, b


def dict_of_pairs(n):
    c = [(k, []) for k in range(n)]
    d = dict(c)
    d[0].append(n > 1)
    return c, d


def dict_of_new_pairs(n):
    d = dict([(k, []) for k in range(n)])
    d[0].append(n > 1)
    return d


def dict_of_generated(n):
    d = dict(((k, []) for k in range(n)))
    d[0].append(n > 1)
    return d


def dict_of_zip(n):
    v = [[] for _ in range(n)]
    d = dict(zip(range(n), v))
    d[0].append(n > 1)
    return v, d


def dict_of_dict(n):
    a = {0: []}
    d = dict(a)
    d[0].append(n > 1)
    return a, d


def longest(n):
    rows = [[], []]
    x = max(rows, key=len)
    x.append(n > 1)
    return rows, x


def shortest(n):
    rows = [[] for _ in range(n)]
    x = min(rows, key=lambda q: len(q))
    x.append(n > 1)
    return rows, x


def filtered(n):
    rows = [[], []]
    for x in filter(lambda q: len(q) == 0, rows):
        x.append(n > 1)
    return rows


def filtered_kept(n):
    rows = [[], []]
    x = list(filter(lambda q: len(q) == 0, rows))
    x[0].append(n > 1)
    return rows, x


def generated(n):
    rows = [[], []]
    for row in (r for r in rows):
        row.append(n > 1)
    return rows


def generated_some(n):
    rows = [[], []]
    for row in (r for r in rows if len(r) < 3):
        row.append(n > 1)
    return rows


def first_generated(n):
    rows = [[], []]
    x = next((r for r in rows))
    x.append(n > 1)
    return rows


def listed(n):
    rows = [[], []]
    x = list((r for r in rows))
    x[0].append(n > 1)
    return rows


def of_a_generator(n):
    rows = [[], []]
    def g():
        for r in rows:
            yield r

    for x in g():
        x.append(n > 1)
    return rows


def numbered_then_comprehended(n):
    c = [[], []]
    for i, x in enumerate(c):
        x.append(n > 2)
    [q for q in c][0].append(n > 1)
    return c


def numbered_constant(n):
    c = [[], []]
    for i, x in enumerate(c):
        x.append(True)
    [q for q in c][0].append(n > 1)
    return c


def comprehended(n):
    c = [[], []]
    d = [q for q in c]
    d[0].append(n > 1)
    return c, d


def comprehended_walked(n):
    c = [[], []]
    for q in [q for q in c]:
        q.append(n > 1)
    return c


def mapped(n):
    c = [[], []]
    for q in map(lambda r: r, c):
        q.append(n > 1)
    return c


def ordered(n):
    c = [[], []]
    d = sorted(c, key=len)
    d[0].append(n > 1)
    return c, d


def sliced(n):
    c = [[], []]
    d = c[:1]
    d[0].append(n > 1)
    return c, d


def added(n):
    c = [[], []]
    d = c + []
    d[0].append(n > 1)
    return c, d


def added_both(n):
    a = [[]]
    b = [[]]
    d = a + b
    d[0].append(n > 1)
    return a, b, d


def repeated(n):
    a = [[]]
    d = a * 2
    d[0].append(n > 1)
    return a, d


def or_new(n):
    m = [[]]
    x = m[0] or [n > 1]
    x.append(n > 1)
    return m, x


def or_empty(n):
    a = []
    x = a or []
    x.append(n > 1)
    return a, x


def or_itself(n):
    m = [[]]
    x = m[0] or m[0]
    x.append(n > 1)
    return m


def set_default(n):
    d = {}
    d.setdefault(n, []).append(n > 1)
    return d


def spread(n):
    c = [[], []]
    d = [*c, []]
    d[0].append(n > 1)
    return c, d


def spread_tuple(n):
    a = ([], [])
    d = [*a]
    d[0].append(n > 1)
    return a, d


def spread_dict(n):
    a = {1: []}
    d = {**a}
    d[1].append(n > 1)
    return a, d


def dict_comprehended(n):
    a = {1: []}
    d = {k: v for k, v in a.items()}
    d[1].append(n > 1)
    return a, d


def dict_comprehended_numbered(n):
    a = [[], []]
    d = {k: v for k, v in enumerate(a)}
    d[1].append(n > 1)
    return a, d


def dicts_joined(n):
    a = {1: []}
    d = a | {}
    d[1].append(n > 1)
    return a, d


def updated(n):
    a = {1: []}
    d = {}
    d.update(a)
    d[1].append(n > 1)
    return a, d


def extended(n):
    a = [[], []]
    d = []
    d.extend(a)
    d[1].append(n > 1)
    return a, d


def extended_in_place(n):
    a = [[], []]
    d = []
    d += a
    d[1].append(n > 1)
    return a, d


def appended(n):
    a = []
    d = []
    d.append(a)
    d[0].append(n > 1)
    return a, d


def deque_of(n):
    a = [[], []]
    d = deque(a)
    d[0].append(n > 1)
    return a, d


def list_of(n):
    a = [[], []]
    d = list(a)
    d[0].append(n > 1)
    return a, d


def branches(n):
    m = [[]]
    if n > 2:
        x = m[0]
    else:
        x = []
    x.append(n > 1)
    return m


def smallest_kept(n):
    m = [[], []]
    x = m[0]
    for r in m:
        if len(r) <= len(x):
            x = r
    x.append(n > 1)
    return m


def in_a_while(n):
    m = [[], []]
    x = m[0]
    while len(x) < 2:
        x.append(n > 1)
        x = m[-1]
    return m


def stacked(n):
    s = [([], 0)]
    while s:
        x, k = s.pop()
        x.append(k > 1)
        if k < n:
            s.append((x, k + 1))
    return x


def of_text(n):
    rows = [[] for _ in range(n)]
    for r in (q for q in rows):
        r.append("a" * n)
    return rows


def read_before(n):
    rows = [[] for _ in range(n)]
    total = ""
    for k in range(3):
        for r in (q for q in rows):
            for t in r:
                total += t
            r.append("a" * k)
    return rows, total


def none_first(n):
    rows = [[] for _ in range(n)]
    for r in (q for q in rows):
        r.append(None)
    for r in (q for q in rows):
        r.append(n > 1)
    return rows


def none_only(n):
    rows = [[] for _ in range(n)]
    for r in (q for q in rows):
        r.append(None)
    return rows


def two_that_meet(n):
    a = [[] for _ in range(n)]
    b = [[] for _ in range(n)]
    x = max(a, key=len)
    y = max(b, key=len)
    z = x if n > 2 else y
    z.append(n > 1)
    return a, b


def two_apart(n):
    a = [[] for _ in range(n)]
    b = [[] for _ in range(n)]
    max(a, key=len).append("t")
    max(b, key=len).append(0.5)
    return a, b


def of_sets(n):
    rows = [set() for _ in range(n)]
    for r in (q for q in rows):
        r.add((n, "a"))
    return rows


def of_dicts(n):
    rows = [{} for _ in range(n)]
    for r in (q for q in rows):
        r["a"] = n > 1
    return rows


def of_dicts_of_lists(n):
    rows = [{} for _ in range(n)]
    for r in (q for q in rows):
        r.setdefault("a", []).append(n > 2)
    return rows


def of_dicts_assigned(n):
    rows = [{} for _ in range(n)]
    for r in (q for q in rows):
        r["a"] = []
        r["a"].append(n > 2)
    return rows


def by_a_closure(n):
    rows = [[] for _ in range(n)]
    def put(r, v):
        r.append(v)

    for r in (q for q in rows):
        put(r, n > 1)
    return rows


def closed_over(n):
    x = max([[] for _ in range(n)], key=len)
    def put(v):
        x.append(v)

    put(n > 1)
    return x


def in_a_cell(n):
    x = max([[] for _ in range(n)], key=len)
    def put(v):
        nonlocal x
        x.append(v)
        x = x[:]

    put(n > 1)
    put(n > 3)
    return x


def recursive(n):
    def walk(rows, k):
        if k == 0:
            return 0
        min(rows, key=len).append(k > 1)
        return 1 + walk(rows, k - 1)

    rows = [[] for _ in range(n)]
    c = walk(rows, 5)
    return rows, c


def queued(n):
    q = deque([[] for _ in range(n)])
    for r in (x for x in q):
        r.append(n > 1)
    return q


def reduced(n):
    rows = [[] for _ in range(n)]
    r = reduce(lambda a, b: a if len(a) <= len(b) else b, rows)
    r.append(n > 1)
    return rows


def from_a_heap(n):
    h = []
    heapq.heappush(h, (3, []))
    k, r = heapq.heappop(h)
    r.append(k > 1)
    return r


def deep(n):
    g = [[[] for _ in range(2)] for _ in range(n)]
    for row in (r for r in g):
        for cell in (c for c in row):
            cell.append(n > 1)
    return g


def walked_empty(n):
    rows = [[] for _ in range(n)]
    s = 0
    for r in (q for q in rows):
        for x in r:
            s += x
    return rows, s


def stays_empty(n):
    xs = []
    return xs, sum(xs), max(xs, default=3), sorted(xs), [x + 1 for x in xs], set(xs), {x: 1 for x in xs}


def put_in_by_both(n):
    rows = [[] for _ in range(n)]
    def each(rows):
        for r in rows:
            yield r
            r.append(n > 2)

    for r in each(rows):
        r.append(n > 1)
    return rows


def passed_on(n):
    rows = [[] for _ in range(n)]
    def each(rows):
        yield from rows


    def every(rows):
        yield from each(rows)
    for r in every(rows):
        r.append("x")
    return rows


def of_a_defaultdict(n):
    d = defaultdict(list)
    for k in range(n):
        max([d[k], d[k + 1]], key=len).append(k > 1)
    return dict(d)


def tuples_generated(n):
    ps = [([], {}) for _ in range(n)]
    for a, b in (p for p in ps):
        a.append(n > 1)
        b["x"] = "y"
    return ps


def chosen_outer(n):
    a, b = ([[]], [[]])
    x = (a if n > 2 else b)[0]
    x.append(n > 1)
    return a, b


def ints_then_floats(n):
    rows = [[] for _ in range(n)]
    for r in (q for q in rows):
        r.append(n)
    for r in (q for q in rows):
        r.append(n + 0.5)
    return [[float(x) for x in r] for r in rows]


def of_arrays(n):
    rows = [[] for _ in range(n)]
    for r in (q for q in rows):
        r.append(np.arange(n) * 0.5)
    return [[float(x.sum()) for x in r] for r in rows]


def rest_generated(n):
    rows = [[] for _ in range(n)]
    a, *b = (r for r in rows)
    b[0].append(n > 1)
    return rows


def by_map(n):
    rows = [[] for _ in range(n)]
    list(map(lambda r: r.append(n > 1), rows))
    return rows


def three_ways(n):
    rows = [[] for _ in range(n)]
    d = {k: r for k, r in enumerate(rows)}
    d2 = dict(d)
    d2.get(1, []).append("q")
    return d, d2


def swapped(n):
    a, b = ([], [])
    if n > 2:
        a, b = (b, a)
    a.append(n > 1)
    return a, b


def or_handled(n):
    rows = [[] for _ in range(n)]
    try:
        x = max(rows, key=len)
    except ValueError:
        x = []
    x.append(n > 1)
    return rows


def through_a_function(n):
    def fill(rs):
        out = []
        for r in rs:
            out.append(r)
        return out

    rows = [[] for _ in range(n)]
    z = fill(rows)
    z[0].append(n > 1)
    return rows, z


def made_twice(n):
    def make():
        return [[], []]

    a = make()
    b = make()
    max(a, key=len).append(n > 1)
    max(b, key=len).append("t")
    return a, b


def removed(n):
    todo = [([], [])]
    while todo:
        a, b = min(todo, key=lambda p: len(p[0]))
        todo.remove((a, b))
        a.append(n > 1)
        b.append("s")
    return a, b


def slice_assigned(n):
    rows = [[] for _ in range(n)]
    rows[1:] = (r for r in rows[:1])
    rows[1].append(n > 1)
    return rows


def inserted(n):
    rows = []
    rows.insert(0, max([[]], key=len))
    rows[0].append(n > 1)
    return rows


def compared(n):
    rows = [[] for _ in range(n)]
    c = rows == [[True]]
    max(rows, key=len).append(n > 1)
    return rows, c


@njit
def nothing(n):
    if n <= 0:
        return []
    return nothing(n - 1)


@njit
def pair(n):
    return [], n


@njit
def nothings(n):
    for i in range(n):
        yield []


def shared_apart(n):
    return [0.5] + nothing(n), [n + 2**60 + 1] + nothing(n)


def shared_index(n):
    b = [n] + nothing(n)
    a = [0.5] + nothing(n)
    return "abc"[b[0] % 3], a


def shared_renamed(n):
    xs = nothing(n)
    xs = xs + [0.5]
    ys = nothing(n)
    ys = ys + [n]
    return ys


def shared_in_tuples(n):
    a, _ = pair(n)
    b, _ = pair(n)
    return [0.5] + a, [n] + b


def shared_generated(n):
    return [[0.5] + r for r in nothings(n)], [[n] + r for r in nothings(n)]


ALL = [shared_apart, shared_index, shared_renamed, shared_in_tuples, shared_generated, default_of_get, defaults_kept, chosen_or_new, chosen_by_truth, chosen_in_tuple, rest, before_rest, rest_of_tuple, rest_walked, of_pairs,
       of_pairs_unpacked, pairs_walked, pairs_turned, dict_of_pairs, dict_of_new_pairs, dict_of_generated, dict_of_zip, dict_of_dict, longest, shortest,
       filtered, filtered_kept, generated, generated_some, first_generated, listed, of_a_generator, numbered_then_comprehended, numbered_constant,
       comprehended, comprehended_walked, mapped, ordered, sliced, added, added_both, repeated, or_new, or_empty, or_itself, set_default, spread,
       spread_tuple, spread_dict, dict_comprehended, dict_comprehended_numbered, dicts_joined, updated, extended, extended_in_place, appended, deque_of,
       list_of, branches, smallest_kept, in_a_while, stacked, of_text, read_before, none_first, none_only, two_that_meet, two_apart, of_sets, of_dicts,
       of_dicts_of_lists, of_dicts_assigned, by_a_closure, closed_over, in_a_cell, recursive, queued, reduced, from_a_heap, deep, walked_empty,
       stays_empty, put_in_by_both, passed_on, of_a_defaultdict, tuples_generated, chosen_outer, ints_then_floats, of_arrays, rest_generated, by_map,
       three_ways, swapped, or_handled, through_a_function, made_twice, removed, slice_assigned, inserted, compared]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_what_is_put_in_is_what_they_hold(f):
    compiled = njit(f)
    for n in (3, 1, 2, 5):
        same(compiled, n)
