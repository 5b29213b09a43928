"""match statements: patterns that are numbers, texts, None, tuples and lists, classes and dicts, with names, stars and guards."""
import copy
import enum
from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import errors, njit
from quern.experimental import jitclass


def kind(p):
    match p:
        case ():
            return "nothing"
        case (0, y):
            return f"on the axis at {y}"
        case (x, 0):
            return f"at {x}"
        case (x, y) if x == y:
            return f"diagonal {x}"
        case (x, y):
            return f"{x}, {y}"
        case (x, *rest):
            return f"{x} and {len(rest)} more"
        case _:
            return "no sequence"


@pytest.mark.parametrize("p", [(), (0, 3), (2, 0), (4, 4), (1, 2), (0.5, 1), (1, 2, 3), (7,), (1, 2, 3, 4), 5, 2.5, "ab", None])
def test_sequences(p):
    assert njit(kind)(p) == kind(p)


@pytest.mark.parametrize("p", [[], [0, 3], [2, 0], [4, 4], [1, 2], [1, 2, 3], [7], {1: 2}])
def test_lists_and_what_is_no_sequence(p):
    if isinstance(p, list):
        assert njit(lists)(p) == lists(p)
    else:
        assert njit(kind)(p) == kind(p) == "no sequence"


def lists(p):
    match p:
        case []:
            return 0
        case [0, y]:
            return 10 + y
        case [x, 0]:
            return 20 + x
        case [first, *middle, last] if first == last:
            return 30 + len(middle)
        case [first, *middle, last]:
            return 40 + len(middle) + last
        case [only]:
            return only
    return -1


def test_shapes_and_alternatives():
    @njit
    def area(shape):
        match shape:
            case ("square", a):
                return a * a
            case ("rectangle" | "box", a, b):
                return a * b
            case (kind, *_):
                return -len(kind)

    for shape in (("square", 3), ("rectangle", 2, 5), ("box", 2, 4), ("circle", 9), ("disk",)):
        assert area(shape) == area.py_func(shape)


def test_nested():
    @njit
    def f(line):
        match line:
            case ((x0, y0), (x1, y1)) as whole:
                return abs(x1 - x0) + abs(y1 - y0) + len(whole)
            case (x, y):
                return x + y

    assert f(((1, 2), (4, 6))) == 9 and f((3, 4)) == 7


def test_in_a_loop_over_tuples():
    @njit
    def run(program):
        stack = [0]
        for step in program:
            match step:
                case (0, n):
                    stack.append(n)
                case (1, _):
                    stack.append(stack.pop() + stack.pop())
                case (2, n) if n > 0:
                    stack.append(stack.pop() * n)
        return stack[-1]

    program = [(0, 3), (0, 4), (1, 0), (2, 5), (2, -1)]
    assert run(program) == run.py_func(program) == 35


def test_none_and_constants():
    @njit
    def f(x):
        match x:
            case None:
                return "none"
            case True:
                return "true"
            case -1 | 1.5:
                return "number"
            case "a" | "b":
                return "text"
            case _:
                return "other"

    for x in (None, True, -1, 1.5, "a", "c", 7):
        assert f(x) == f.py_func(x)


def test_a_name_that_no_pattern_bound():
    @njit
    def f(p):
        match p:
            case (x, 1):
                pass
        return x

    assert f((5, 1)) == 5
    with pytest.raises(UnboundLocalError):
        f((5, 2))


@dataclass(frozen=True)
class Point:
    x: int
    y: float = 0.5

    @property
    def double(self):
        return self.x * 2


@dataclass(frozen=True)
class Segment:
    start: Point
    end: Point


class Pair(NamedTuple):
    a: int
    b: str


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@jitclass
class Counter:
    n: int

    __match_args__ = ("n",)

    def __init__(self, n):
        self.n = n


def what(x):
    match x:
        case Point(0, y):
            return f"on the axis at {y}"
        case Point(x=1 | 2 as x, double=d) if d > 2:
            return f"near {x} {d}"
        case Point(x, y=y):
            return f"point {x} {y}"
        case Segment(Point(a, _), Point(x=b)) if a == b:
            return f"upright {a}"
        case Segment(start=s):
            return f"from {s.x}"
        case Pair(a, "x"):
            return f"pair {a}"
        case Pair(b=b):
            return "pair of " + b
        case Colour.RED:
            return "red"
        case Colour():
            return "another colour"
        case bool():
            return "bool"
        case int(n) if n > 100:
            return f"large {n}"
        case int() | float():
            return "number"
        case str(s):
            return s + "!"
        case bytes() | bytearray():
            return "octets"
        case complex(real=r, imag=0):
            return f"real {r}"
        case complex(imag=i):
            return f"imaginary {i}"
        case tuple((first, _)):
            return "tuple"
        case list():
            return "list"
        case set() | frozenset():
            return "set"
        case {}:
            return "dict"
        case None:
            return "none"
        case _:
            return "other"


VALUES = [Point(0, 1.5), Point(1, 2.5), Point(2, 1.0), Point(3), Segment(Point(1), Point(1)), Segment(Point(1), Point(2)), Pair(1, "x"), Pair(1, "y"),
          Colour.RED, Colour.BLUE, True, 5, 500, 2.5, "text", b"b", bytearray(b"a"), 2 + 0j, 2 + 3j, (1, 2), (1, 2, 3), [1], {1}, frozenset([1]), {1: 2}, None]


@pytest.mark.parametrize("x", VALUES, ids=repr)
def test_classes(x):
    assert njit(what)(x) == what(x)


def test_instances():
    @njit
    def f(x):
        match x:
            case Counter(0):
                return -1
            case Counter(n):
                return n
            case Counter(m=m):
                return m
        return -2

    assert f(Counter(0)) == -1 and f(Counter(5)) == 5 and f(7) == -2


def first(ps, x):
    best = None
    for p in ps:
        if p.x > x:
            best = p
    match best:
        case Point(x=7):
            return "seven"
        case Point(x, y) if y > 1.0:
            return f"{x} {y}"
        case Point():
            return "a point"
        case None:
            return "none"


@pytest.mark.parametrize("x", [0, 2, 6, 9])
def test_what_may_be_none(x):
    ps = [Point(1, 0.5), Point(3, 2.5), Point(7)][: 2 + (x > 2)]
    assert njit(first)(ps, x) == first(ps, x)


def test_too_many_and_no_such_attribute():
    @njit
    def f(p):
        match p:
            case Point(z=z):
                return z
            case Point(x, y):
                return x + y

    assert f(Point(1, 2.5)) == 3.5

    @njit
    def g(p):
        match p:
            case Point(x, y, z):
                return x

    with pytest.raises(errors.UnsupportedError, match="it takes 2"):
        g(Point(1))

    @njit
    def h(n):
        match n:
            case int(a, b):
                return a

    with pytest.raises(errors.UnsupportedError, match="it takes 1"):
        h(1)


def keys(d):
    match d:
        case {"op": "add", "a": a, "b": b}:
            return f"{a} + {b}"
        case {"op": "neg", "a": a}:
            return f"-{a}"
        case {"op": op, **rest} if len(rest) > 1:
            return f"{op} of {len(rest)}: " + ", ".join(sorted(rest))
        case {"op": op}:
            return "unknown " + op
        case {}:
            return "no operation"


@pytest.mark.parametrize("d", [{"op": "add", "a": "1", "b": "2"}, {"op": "neg", "a": "1"}, {"op": "mul", "x": "1", "y": "2"}, {"op": "nop"},
                               {"x": "1"}, {}, OrderedDict(op="neg", a="3"), defaultdict(str, {"op": "add"})])
def test_mappings(d):
    before = copy.deepcopy(d)
    if d:
        assert njit(keys)(d) == keys(d)
        assert d == before


def test_mappings_of_numbers_and_of_several_types():
    @njit
    def f(d):
        match d:
            case {1: x, 2: y}:
                return x + y
            case {1: x} | {3: x}:
                return x
        return -1.0

    for d in ({1: 2.5, 2: 1.5}, {1: 2.5}, {3: 5.5}, {7: 1.0}):
        assert f(d) == f.py_func(d)

    def g(n):
        d = {"kind": "point", "x": n, "tags": [n, n]}
        match d:
            case {"kind": "circle", "r": r}:
                return 0
            case {"kind": "point", "x": x, "tags": [first, *_]}:
                return x + first
        return -1

    assert njit(g)(3) == g(3) == 6

    def h(ds):
        total = 0
        for d in ds:
            match d:
                case {"a": [x, y], "b": [*_]}:
                    total += x * y
                case {"a": [x, *rest]}:
                    total += x + len(rest)
                case _:
                    total += 1000
        return total

    ds = [{"a": [2, 3], "b": [1]}, {"a": [2, 3]}, {"b": [1]}, {"a": [9, 1, 1], "b": [0]}]
    assert njit(h)(ds) == h(ds)


@dataclass(frozen=True)
class Turned:
    __match_args__ = ("y", "x")
    x: int
    y: int


@dataclass(frozen=True)
class Higher(Turned):
    z: int = 3


class Pair(NamedTuple):
    a: int
    b: int


@pytest.mark.parametrize("value", [Turned(1, 2), Higher(1, 2), Pair(5, 6)])
def test_names_by_position_and_derived_classes(value):
    def f(v):
        match v:
            case Turned(a, b):
                return a, b, isinstance(v, Turned), isinstance(v, Higher)
            case Pair(a):
                return a, 0, isinstance(v, Turned), isinstance(v, Pair)
        return 0, 0, False, False

    assert njit(f)(value) == f(value)


def test_an_attribute_with_two_patterns_is_refused():
    @dataclass(frozen=True)
    class P:
        x: float
        y: float

    def f(p):
        match p:
            case P(1.0, x=2.0):
                return 1
            case _:
                return 2

    with pytest.raises(TypeError, match="multiple sub-patterns for attribute 'x'"):
        f(P(1.0, 2.0))
    with pytest.raises(errors.UnsupportedError, match="two sub-patterns for the attribute 'x'"):
        njit(f)(P(1.0, 2.0))
