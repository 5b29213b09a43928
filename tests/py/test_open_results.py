"""Empty lists, dicts and sets whose maker does not say what they hold: what calls and comprehensions give is what their callers put in,
and an empty list that is added to another holds what that does; so is what recursion begins with."""
import pytest
from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, same  # noqa: F401

from quern import errors, njit


@njit
def slice_of_an_empty_list(n):
    xs = []
    try:
        ys = xs[n:]
    except LookupError:
        pass
    for _ in range(n):
        try:
            if len(ys) < 12:
                n += 1
        except ValueError:
            n += 2
    return n, ys


@njit
def set_that_meets_an_empty_one(n):
    some, other, errors_ = {"a"}, set(), []
    for k in range(3):
        if n > 5:
            other.add("b")
    for k in range(2):
        try:
            if n > 2:
                some = other
            if k < 1:
                raise KeyError("q")
        except LookupError as e:
            errors_.append(e)
    some.symmetric_difference_update({"a", "c"})
    return sorted(some), sorted(other), len(errors_)


def empty():
    return []


def grid(n, m):
    return [[[] for _ in range(m)] for _ in range(n)]


@njit
def texts_and_numbers(n):
    xs = empty()
    ys = empty()
    xs.append("a" * n)
    ys.append(n * 0.5)
    return xs, ys, empty()


@njit
def cube_of_texts(n):
    g = grid(n, 2)
    g[0][1].append("q")
    g[-1][0].append("z")
    return g


@njit
def neighbours_of(edges):
    adj = {u: [] for e in edges for u in e[:2]}
    for u, v, w in edges:
        adj[u].append((v, w))
        adj[v].append((u, w))
    return {k: sorted(v) for k, v in adj.items()}


@njit
def made_or_displayed(n):
    xs = empty() if n else ["q"]
    return xs


@njit
def gone_over_empty(n):
    xs = empty()
    for x in xs:
        n += 1
    return n, len(xs)


@njit
def in_buckets(n):
    buckets = [[] for _ in range(3)]
    for w in ["a", "bb", "ccc", "dd"]:
        buckets[len(w) % 3].append(w)
    total = 0
    for i, bucket in enumerate(buckets):
        for w in bucket:
            total += len(w) * i
    return total, buckets, [",".join(b) for b in buckets]


@njit
def sets_of_floats(n):
    seen = {k: set() for k in "abc"}
    for i in range(n):
        seen["abc"[i % 3]].add(i * 0.5)
    return [sorted(s) for s in seen.values()]


@njit
def filled_by_a_closure(n):
    rows = [[] for _ in range(n)]
    def put(i, x):
        rows[i].append(x)
    put(0, "x")
    put(1, "y")
    return rows


def made(n):
    out = {}
    out2 = out
    return out2


@njit
def two_dicts(n):
    d = made(n)
    d["a"] = [1.5]
    d["b"] = []
    e = made(n + 1)
    e[n] = "t"
    return d, e


def chain(n):
    return made(n)


@njit
def through_two_calls(n):
    d = chain(n)
    d[n] = (n, "q")
    return d


def fill(xs, n):
    xs.append(str(n))


@njit
def filled_by_a_callee(n):
    xs = empty()
    fill(xs, n)
    return xs


def build(n):
    if n == 0:
        return []
    xs = build(n - 1)
    xs.append(str(n))
    return xs


@njit
def built_by_recursion(n):
    return build(n), [x for x in build(n)]


@njit
def sums_of_lists(n):
    a, b = [], []
    c = a + ["x"]
    a.append("y")
    for i in range(n):
        b = b + [(i, "t")]
    return a, b, c


@njit
def perhaps_nothing(n):
    if n > 1:
        return []
    if n > 0:
        return ["a"]
    return None


@njit
def dicts_in_a_list(n):
    table = [{} for _ in range(n)]
    table[0]["a"] = 1
    table[1]["b"] = 2
    try:
        return table[0]["b"]
    except KeyError as err:
        return -1


@njit
def memo_in_a_closure(n):
    memo = {}
    def fib(k):
        if k < 2:
            return k
        if k not in memo:
            memo[k] = fib(k - 1) + fib(k - 2)
        return memo[k]
    return fib(n), len(memo)


@njit
def paths_by_recursion(n):
    def collect(node, path, out):
        if node > n:
            out.append(path)
            return
        collect(node + 1, path + [node], out)
        collect(node + 1, path, out)
    out = []
    collect(1, [], out)
    return out


@njit
def replaced_by_sums(n):
    ws = [[] for _ in range(n)]
    for i in range(n):
        ws[i] = ws[i] + ["a"]
    return ws


@njit
def with_one_more(n):
    ws = [[] for _ in range(n)]
    ws.append(["a"])
    return ws


def perms(items):
    if len(items) <= 1:
        return [items]
    out = []
    for i in range(len(items)):
        for p in perms(items[:i] + items[i + 1:]):
            out.append([items[i]] + p)
    return out


def flatten(rows):
    out = []
    for r in rows:
        out = out + r
    return out


@njit
def sorted_and_ordered(n):
    return perms([1, 2, 3]), quick([2.5, 0.5, 1.5]), flatten([["a"], ["b"]]), flatten([[0.5], [1.0]])


@njit
def mixed_makers(n):
    xs = empty()
    xs.append(n)
    ys = xs + [0.5]
    xs.append(n)
    return xs, ys


PROGRAMS = [(neighbours_of, [("a", "b", 1.5), ("b", "c", 2.0)]), *((f, n) for f in (
    slice_of_an_empty_list, set_that_meets_an_empty_one, texts_and_numbers, cube_of_texts, made_or_displayed, gone_over_empty, in_buckets, sets_of_floats, filled_by_a_closure, two_dicts, through_two_calls,
    filled_by_a_callee, built_by_recursion, sums_of_lists, perhaps_nothing, dicts_in_a_list, memo_in_a_closure, paths_by_recursion, replaced_by_sums,
    with_one_more, sorted_and_ordered) for n in (2, 5))]


@pytest.mark.parametrize("f, argument", PROGRAMS, ids=lambda x: getattr(x, "__name__", str(x)))
def test_beside_cpython(f, argument):
    same(f, argument)


def test_zero_and_one():
    for f in (made_or_displayed, gone_over_empty, sets_of_floats, built_by_recursion, perhaps_nothing, memo_in_a_closure, paths_by_recursion, replaced_by_sums,
              with_one_more):
        for n in (0, 1):
            same(f, n)


def test_numbers_are_joined():
    assert mixed_makers(2) == mixed_makers.py_func(2) and type(mixed_makers(2)[0][0]) is int


def test_each_allocation_fails():
    assert each_allocation_fails(neighbours_of, lambda: ([("a", "b", 1.5), ("b", "c", 2.0)],)) == {
        "a": [("b", 1.5)], "b": [("a", 1.5), ("c", 2.0)], "c": [("b", 2.0)]}


def quick(xs):
    if not xs:
        return []
    p, *rest = xs
    return quick([x for x in rest if x < p]) + [p] + quick([x for x in rest if x >= p])


def digits(n):
    if n == 0:
        return []
    return digits(n // 10) + [str(n % 10)]


def pairs(n):
    if n < 1:
        return []
    out = pairs(n - 1)
    out.append((n, "x" * n))
    return out


def table(n):
    if n == 0:
        return {}
    d = table(n - 1)
    d[str(n)] = n * 0.5
    return d


def tree(depth, name):
    if depth == 0:
        return []
    found = [name]
    for side in "lr":
        found += tree(depth - 1, name + side)
    return found


def floats(n):
    if n == 0:
        return []
    return [n * 0.5] + floats(n - 1)


def nothing(n):
    if n == 0:
        return []
    return nothing(n - 1)


def permutations(word):
    if len(word) <= 1:
        return [word]
    out = []
    for i, c in enumerate(word):
        for rest in permutations(word[:i] + word[i + 1:]):
            out.append(c + rest)
    return out


def hanoi(n, a, b, c):
    if n == 0:
        return []
    return hanoi(n - 1, a, c, b) + [(a, c)] + hanoi(n - 1, b, a, c)


def merge(a, b):
    if not a:
        return b
    if not b:
        return a
    if a[0] <= b[0]:
        return [a[0]] + merge(a[1:], b)
    return [b[0]] + merge(a, b[1:])


def msort(xs):
    if len(xs) < 2:
        return xs
    h = len(xs) // 2
    return merge(msort(xs[:h]), msort(xs[h:]))


def flat(n):
    out = []
    def go(k):
        if k == 0:
            return []
        return go(k - 1) + ["q"]
    out.extend(go(n))
    return out


RECURSIONS = [(quick, ["b", "a", "c"]), (quick, [2.5, 0.5]), (quick, [1]), (digits, 120), (digits, 0), (pairs, 3), (table, 3), (tree, 3, "t"), (floats, 3), (nothing, 3),
              (permutations, "abc"), (hanoi, 3, "a", "b", "c"), (msort, ["q", "a", "m"]), (flat, 3), (flat, 0)]


@pytest.mark.parametrize("program", RECURSIONS, ids=lambda program: program[0].__name__)
def test_recursion_that_begins_with_nothing(program):
    f, *args = program
    assert repr(njit(f)(*args)) == repr(f(*args))


def test_each_allocation_of_a_recursion_fails():
    assert each_allocation_fails(njit(hanoi), lambda: (2, "a", "b", "c")) == hanoi(2, "a", "b", "c")


@njit
def of_two_sorts(n):
    xs = empty()
    xs.append("a")
    xs.append(n)
    return xs


def test_a_list_of_two_sorts_is_refused():
    with pytest.raises(errors.TypingError, match="cannot put into a list of str: int"):
        of_two_sorts(2)


@njit
def kept_in_a_tuple(n):
    items, kept = [], {}
    for k in range(n):
        kept[k] = (n, items)
    for item in items[1:]:
        n += 1
    return n, kept, len(items)


def test_an_empty_list_in_a_tuple():
    same(kept_in_a_tuple, 3)
