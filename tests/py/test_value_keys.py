"""Frozen dataclasses and named tuples as a whole: equal, hashed, keys of dicts and elements of sets, text, and another one of their fields."""
import dataclasses
import enum
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, same, same_values  # noqa: F401
from quern import cuda, errors, njit


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Place:
    row: int
    column: int

    def beside(self):
        return Place(self.row, self.column + 1)


@dataclass(frozen=True)
class Named:
    name: str
    at: Place
    weight: float = 1.0


@dataclass(frozen=True)
class Painted:
    colour: Colour
    n: int


@dataclass(frozen=True)
class Caseless:
    """With methods of its own."""
    text: str
    n: int

    def __eq__(self, other):
        return self.text.lower() == other.text.lower()

    def __hash__(self):
        return hash(self.text.lower())

    def __repr__(self):
        return "<" + self.text + ">"

    def __str__(self):
        return self.text + "!"


@dataclass(frozen=True)
class ByName:
    name: str
    note: str = field(compare=False)


@dataclass(frozen=True)
class Checked:
    x: float

    def __post_init__(self):
        if self.x < 0.0:
            raise ValueError("negative")


Pair = namedtuple("Pair", "a b")


class Named2(NamedTuple):
    name: str
    n: int


@njit
def hashed(p, q):
    return hash(p), hash(q), hash((p, 1)) == hash((q, 1)), p == q, p != q


@pytest.mark.parametrize("p,q", [(Place(1, 2), Place(1, 2)), (Place(1, 2), Place(2, 1)), (Place(-1, 0), Place(2**61, 5)),
                                 (Named("a", Place(1, 2)), Named("a", Place(1, 2), 2.5)), (Pair(1, 2.5), Pair(1, 2.5)),
                                 (Caseless("Ab", 1), Caseless("aB", 2)), (Caseless("Ab", 1), Caseless("b", 1))])
def test_equal_and_hashed(p, q):
    same(hashed, p, q)


@njit
def steps(n, start):
    seen = {start: 0}
    queue = [start]
    for p in queue:
        for row, column in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            q = Place(p.row + row, p.column + column)
            if 0 <= q.row < n and 0 <= q.column < n and q not in seen:
                seen[q] = seen[p] + 1
                queue.append(q)
    return seen, len(queue), max(seen.values()), seen.get(Place(n, n)), seen[start.beside()]


def test_keys():
    same(steps, 6, Place(1, 2))
    assert isinstance(next(iter(steps(3, Place(0, 0))[0])), Place)


@njit
def changed(d, s, p):
    d[p] = d.get(p, 0) + 1
    s.add(p)
    s.discard(Place(0, 0))
    del d[Place(0, 0)]
    return p in d, p in s, len(s)


def test_arguments():
    same_values(changed, {Place(0, 0): 5, Place(0, 1): 6}, {Place(0, 0), Place(3, 3)}, Place(0, 1))
    same_values(changed, {Place(0, 0): 5}, {Place(0, 0)}, Place(7, 7))
    with pytest.raises(KeyError, match="a dataclass"):
        changed({Place(0, 1): 5}, {Place(0, 0)}, Place(7, 7))
    with pytest.raises(KeyError, match="a dataclass"):
        njit(lambda s: s.remove(Place(1, 1)))({Place(0, 0)})


@njit
def counted(ps):
    d = {}
    for p in ps:
        d[p] = d.get(p, 0) + 1
    return d, {p for p in ps}


@pytest.mark.parametrize("ps", [[Named("a", Place(1, 2)), Named("b", Place(1, 2)), Named("a", Place(1, 2))], [Caseless("a", 1), Caseless("A", 2)],
                                [Painted(Colour.RED, 1), Painted(Colour.BLUE, 1), Painted(Colour.RED, 1)], [Named2("x", 1), Named2("x", 1)]])
def test_kinds_of_keys(ps):
    found, expected = counted(ps), counted.py_func(ps)
    assert found == expected and repr(found[0]) == repr(expected[0])


@njit
def looked_up(d, p):
    return d[p], p in d


@pytest.mark.parametrize("p", [Painted(Colour.BLUE, 1), Caseless("A", 3), Named("b", Place(0, 0)), (Painted(Colour.BLUE, 1), 2)])
def test_what_Python_has_hashed(p):
    same(looked_up, {p: 3}, p)


@njit
def texts(p):
    return str(p), repr(p), f"{p}|{p!r}", "%s %r" % (p, p), str([p]), str({p: p}), f"{p:>40}" if False else ""


@pytest.mark.parametrize("p", [Place(1, -2), Named("it's", Place(0, 0), 1e300), Pair(1, (2.5, "x")), Caseless("Ab", 3), Checked(2.0)])
def test_text(p):
    same(texts, p)


@njit
def replaced(p, q, n):
    a = p._replace(a=n)
    b = p._replace(b=p.a, a=p.b)
    c = dataclasses.replace(q, column=n)
    d = dataclasses.replace(q)
    return a, b, c, d, p._replace(), p._fields, dataclasses.astuple(q)


def test_replaced():
    same(replaced, Pair(1, 2.5), Place(3, 4), 7)


@njit
def as_dicts(p, q, r):
    d = p._asdict()
    e = dataclasses.asdict(q)
    e["row"] += 10
    return d, e, r._asdict(), d["a"], sum(e.values())


def test_as_dicts():
    same(as_dicts, Pair(1, 2), Place(3, 4), Named2("x", 5))


def test_replaced_and_looked_at():
    for x in (2.0, -1.0):
        same(njit(lambda c, x: dataclasses.replace(c, x=x)), Checked(1.0), x)


def test_refused():
    for f, text in ((lambda p: p._replace(c=1), "no field 'c'"), (lambda p: dataclasses.replace(p, a=1), "dataclasses.replace")):
        with pytest.raises(errors.TypingError, match=text):
            njit(f)(Pair(1, 2))
    with pytest.raises(errors.TypingError, match="copies what the fields hold"):
        njit(lambda c: dataclasses.asdict(c))(Named("a", Place(1, 2)))
    with pytest.raises(errors.TypingError, match="ByName"):
        njit(lambda a, b: a == b)(ByName("a", "b"), ByName("a", "c"))


def test_kernels(device):
    @cuda.jit
    def kernel(p, out):
        q = dataclasses.replace(p, row=7)
        out[0] = q.row * 100 + q.column + (q == p) + hash(q) * 0

    out = np.zeros(1, np.int64)
    kernel[1, 1](Place(7, 5), out)
    assert out[0] == 706
