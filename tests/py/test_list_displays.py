"""Displays of lists stay tuples where nobody can tell: a slice of one is a list, and an index that is not there an IndexError."""
import functools
import heapq
import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, same  # noqa: F401
from quern import njit


@pytest.mark.parametrize("source", ["[1, 2, n][::-1]", "[1, 2, 3][1:]", "[1, 2, n][:n]", "[[1, n], [2, 3]][1:]", "(1, [n, 2][:1])", "[n, 4][::-1] + [5]", "sum([1, n, 3][1:])", "['a', 'b'][::-1]"])
def test_a_slice_is_a_list(source):
    f = njit(eval(f"lambda n: {source}"))
    assert f(2) == f.py_func(2) and type(f(2)) is type(f.py_func(2))


def test_a_slice_in_a_loop():
    @njit
    def f(n):
        total = 0
        for x in [n, 2, 5][::-1]:
            total = total * 10 + x
        return total

    assert f(7) == 527


def test_a_constant_index_that_is_not_there():
    @njit
    def f(n):
        try:
            return [1, n][5]
        except IndexError:
            return -1

    assert f(3) == -1
    for source in ("[1, n][2]", "[1, n][-3]", "[[1], [n]][1][1]"):
        with pytest.raises(IndexError, match="list index out of range"):
            njit(eval(f"lambda n: {source}"))(4)


def test_a_display_as_an_argument_of_a_function_of_the_same_scope():
    def permutations(xs):
        out = []

        def go(rest, taken):
            if not rest:
                out.append(taken)
            for i in range(len(rest)):
                go(rest[:i] + rest[i + 1:], taken + [rest[i]])
        go(xs, [])
        return out
    assert njit(permutations)([3, 1, 2]) == permutations([3, 1, 2])


@njit
def with_nothing(n):
    texts, pairs, nested, later = ["a"], [(1, "b")], [[1.5]], []
    for i in range(n):
        texts += []
        texts.extend([])
        texts[1:] = []
        texts.append("c")
        pairs += []
        pairs[:0] = []
        nested += []
        nested.extend([[]])
        nested[0] += []
        texts += later
        later.append(texts[-1] + "d")
    begun = []
    begun += []
    begun.append("e")
    nobody_fills = []
    texts += nobody_fills
    names = {"f"}
    names.update([])
    return texts, pairs, nested, later, begun, nobody_fills, names


def test_nothing_is_put_into_lists_of_everything():
    for n in (0, 1, 3):
        assert with_nothing(n) == with_nothing.py_func(n)


@njit
def filled_by_comprehensions(n):
    numbers, texts, started, seen = [], [], [0], {}
    [numbers.append(i * 0.5) for i in range(n)]
    lengths = [texts.append("t") or len(texts) for i in range(n) for k in range(i)]
    kept = {started.append(i) or i for i in range(n)}
    firsts = [i for i in range(n) if seen.setdefault(i % 2, i) == i]
    mixed = [1, 2.5]
    read = [mixed[1] + i for i in range(n)]
    return numbers, texts, started, len(lengths), kept, firsts, read


def test_lists_that_comprehensions_alone_fill():
    for n in (0, 1, 4):
        got, wanted = filled_by_comprehensions(n), filled_by_comprehensions.py_func(n)
        assert got == wanted and [type(x) for x in got[0] + got[2]] == [type(x) for x in wanted[0] + wanted[2]]


def test_lists_of_pythons_and_of_numpys_numbers_meet():
    """They are the same objects; what is in them are numbers of either."""
    @njit
    def f(xs, n):
        array = np.arange(3)
        mine = [array[0], array[1]]
        some = xs if n > 3 else mine
        some.append(n)
        pairs = [(array[2], "x")] if n > 3 else [(n, "y")]
        table = {1: array * 0.5} if n > 4 else {n: np.ones(1)}
        halves = {1: float(array[1])} if n > 3 else {n: 0.5}
        return mine, pairs, [v.sum() for v in table.values()], halves, some is xs

    for n in (2, 5):
        got, wanted = [4, 5], [4, 5]
        assert f(got, n) == f.py_func(wanted, n) and got == wanted


KEPT = {
    "max": "max([1, 2], [1, n])", "max_of_lengths": "max([1], [1, n], [0])", "min_by_a_key": "min([5, 2], [n, 3], key=lambda q: q[1])",
    "default_of_max": "max([[1]][n:], default=[])", "default_of_next": "next(iter([[1]][n:]), [])", "default_of_getattr": "getattr(n, 'none', [1])",
    "reduced": "functools.reduce(lambda a, b: a + [b], [1, n], [])", "repeated": "list(itertools.repeat([1, n], 2))",
    "bound": "functools.partial(lambda a, b: a, [1, n])(3)", "filled": "list(itertools.zip_longest([[1]], [[2], [n]], fillvalue=[]))",
    "accumulated": "list(itertools.accumulate([1, n], lambda a, b: a + [b], initial=[0]))", "by_name": "dict(a=[1], b=[n])",
    "paths": "[[[9]], [[0], [6, 0], [12, -2, 11]] if n > 2 else [[1, -2, 4], [4, 4], [9, 9, 5]]]",
    "paths_in_a_tuple": "([[0], [6, 0]] if n > 2 else [[1, -2], [4]], n)",
}


@pytest.mark.parametrize("source", KEPT.values(), ids=KEPT)
def test_what_comes_out_again_is_a_list(source):
    f = njit(eval(f"lambda n: {source}", {"functools": functools, "itertools": itertools}))
    for n in (0, 2, 3):
        same(f, n)


def test_the_longest_of_two_is_the_list_itself():
    @njit
    def f(n):
        a, b = [1], [2, 3]
        x = max(a, b)
        x.append(n)
        c, d = [], []
        y = max(c, d, key=len)
        y.append(n > 1)
        return a, b, c, d, x is b, y is c

    same(f, 4)


def test_displays_that_become_lists_in_a_loop():
    """The loop has met them as tuples before, on two ways that tell each other what they are."""
    @njit
    def f(n):
        v = heapq.nlargest(2, [[4, 0], [12], [8]])
        for _, k in enumerate(v):
            if n > 2:
                v = (([[5]] if not k else [[-2]]) * 2)[:6]
        return v

    same(f, 1)
    same(f, 4)


@dataclass(frozen=True)
class Cell:
    name: str
    count: int


class Point(NamedTuple):
    x: int
    y: float


def test_containers_of_pythons_and_of_numpys_numbers_in_values():
    @njit
    def f(n):
        def weak():
            return [Cell("a", n)], {Point(n, 0.5): [Point(n, 0.25)]}

        def strong():
            a = np.arange(n)
            return [Cell("b", a[0])], {Point(a[0], 0.5): [Point(a[1], 0.25)]}

        if n > 4:
            cells, points = weak()
        else:
            cells, points = strong()
        return [(c.name, int(c.count)) for c in cells], [(int(p.x), [int(q.x) for q in row]) for p, row in points.items()]

    same(f, 3)
    same(f, 5)


@pytest.mark.parametrize("m", [0, 2, 3, -4])
def test_where_paths_meet_it_raises_as_a_list(m):
    @njit
    def caught(m, b):
        try:
            v = [m, 3, b // 1]
        except LookupError:
            pass
        return v[m]

    @njit
    def either(m, b):
        if b > 5:
            v = [m, 3, b]
        else:
            v = [b, 1, m]
        return v[m]

    @njit
    def tuples(m, b):
        if b > 5:
            v = (m, 3, b)
        else:
            v = (b, 1, m)
        return v[m]
    for f in caught, either, tuples:
        for b in 3, 9:
            same(f, m, b)


@pytest.mark.parametrize("read", ["sorted(m)[0]", "list(m)[1]", "np.array(m)[1]", "np.asarray(m)[2] if n > 3 else m[0]", "max(sorted(m))", "dict(enumerate(m))[3]",
                                  "sorted(m).pop()", "next(iter(sorted(m)))", "heapq.nlargest(2, m)[0]", "[x for x in list(m)][0]", "np.sort(np.array(m))[-1]"])
@pytest.mark.parametrize("item", ["i", "i > 2", "i * 0.5", "i * 2**53 + 1"])
def test_what_fills_a_list_says_what_is_read_of_it(read, item):
    """Code behind the loop may be looked at before what the loop does."""
    source = f"def f(n):\n    m = []\n    for i in range(n):\n        m.append({item})\n    return {read}\n"
    space = {"np": np, "heapq": heapq}
    exec(source, space)
    want, got = space["f"](7), njit(space["f"])(7)
    want = want.item() if isinstance(want, np.generic) else want
    assert (type(got), got) == (type(want), want)


def test_what_fills_a_list_elsewhere_says_it_too():
    def fill(m, i):
        m.append(i > 2)

    @njit
    def called(n):
        m = []
        for i in range(n):
            fill(m, i)
        return sorted(m)[0], bool(np.array(m)[3])

    @njit
    def alone(n):
        m = []
        for i in range(n):
            fill(m, i)
        return list(m)[0]

    @njit
    def kept(n):
        d = {0: 0}
        best = -1
        for k in range(3):
            m = []
            for i in range(n):
                m.append(i * k)
            v = np.array(m).max()
            d[k] = np.array(m)[1]
            if v > best:
                best = v
        return best, d[2]

    @njit
    def given(n):
        m = []
        for i in range(n):
            m.append(i)
        a = np.array(m)
        for k in range(2):
            yield a[k]

    @njit
    def asked(n):
        return [x for x in given(n)]
    for f in called, alone, kept, asked:
        same(f, 4)


def test_what_reads_a_list_before_it_is_filled_knows_what_fills_it():
    @njit
    def before(n):
        a = []
        r = [x.upper() for x in a]
        w = "".join(a)
        for i in range(n):
            a.append("s")
        return r, a, w

    @njit
    def again(n):
        a = []
        r = [x + "q" for x in a]
        for i in range(n):
            if i == 1:
                r = [x + "q" for x in a]
                a = []
            a.append("s")
        return r, a

    @njit
    def longest(n):
        a = []
        r = max([len(x) for x in a], default=0)
        while n > 0:
            a.append("s" * n)
            n -= 1
        return r, a

    @njit
    def wrapped(text, width):
        lines, line = [], []
        for w in text.split():
            if sum([len(x) for x in line]) + len(w) > width:
                lines.append(" ".join(line))
                line = []
            line.append(w)
        lines.append(" ".join(line))
        return lines

    for f in before, again, longest:
        same(f, 4)
        same(f, 0)
    same(wrapped, "the quick brown fox jumps over the lazy dog", 11)


def test_the_number_of_a_round_that_is_known_is_that_number():
    """The first rounds over a display are apart until it is found to be a list; their numbers are values."""
    class Bad(Exception):
        pass

    @njit
    def numbered(n):
        v = [[10], [0, n]]
        t = []
        try:
            for k, q in enumerate(v):
                t.append(k)
        except Bad:
            pass
        return t

    @njit
    def from_five(n):
        v = [[1], [2], [n]]
        t = []
        for k, q in enumerate(v, 5):
            t.append((k, len(v[k - 5])))
        return t

    @njit
    def backwards(n):
        v = [[], [n]]
        t = []
        for k, q in enumerate(v[::-1]):
            t.append((k, len(q)))
        return t

    @njit
    def in_pairs(n):
        v = [[10], [0, n]]
        t = []
        for k, (q, i) in enumerate(zip(v, range(3))):
            t.append((k, q[0], i))
        v.append([n])
        return t
    for f in numbered, from_five, backwards, in_pairs:
        same(f, 4)
