"""@jitclass: instances shared by Python and compiled code, against the classes as Python runs them."""
import collections
import copy
import gc
import math
import pickle
import subprocess
import sys
import threading
import weakref
from typing import Dict as DictOf
from typing import List as ListOf
from typing import Optional

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quern
from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401
from quern import errors, njit, types
from quern.experimental import jitclass
from quern.typed import Dict, List


class PlainVector:
    """A vector."""
    DIMENSIONS = 2

    def __init__(self, x, y=2.0, *, scale=1.0):
        self.x = x * scale
        self.y = y * scale
        self.n = 0

    def norm(self, power=2):
        self.n += 1
        return (abs(self.x) ** power + abs(self.y) ** power) ** (1 / power)

    def moved(self, dx, dy):
        return Vector(self.x + dx, self.y + dy)

    def move(self, dx):
        self.x += dx
        return self

    @property
    def angle(self):
        return math.atan2(self.y, self.x)

    @angle.setter
    def angle(self, a):
        r = self.norm()
        self.x, self.y = r * math.cos(a), r * math.sin(a)

    @property
    def total(self):
        return self.x + self.y

    @staticmethod
    def dot(a, b):
        return a.x * b.x + a.y * b.y


Vector = jitclass([("x", types.float64), ("y", types.float64), ("n", types.int64)])(PlainVector)


def seen(v):
    return v.x, v.y, v.n, v.total


def test_what_python_does():
    a, b = Vector(3.0, 4.0), PlainVector(3.0, 4.0)
    assert seen(a) == seen(b) and a.norm() == b.norm() == 5.0 and a.norm(power=1) == b.norm(power=1) == 7.0 and seen(a) == seen(b)
    a.x = 10
    b.x = 10
    a.angle, b.angle = 0.5, 0.5
    assert seen(a) == seen(b) and a.angle == b.angle and isinstance(a.x, float)
    assert seen(Vector(1)) == seen(PlainVector(1.0)) and seen(Vector(1, scale=3.0)) == seen(PlainVector(1.0, scale=3.0))
    assert a.move(1.0) is a and isinstance(a, Vector) and type(a.moved(1, 2)) is Vector and Vector.dot(a, a) == a.dot(a, a)
    assert (Vector.__name__, Vector.__doc__, Vector.DIMENSIONS, a.DIMENSIONS) == ("PlainVector", "A vector.", 2, 2)
    assert not isinstance(b, Vector)


def test_attributes_are_those_of_the_class_as_it_is_now():
    """What was looked up is kept for the next time: as long as nobody changes the class."""
    def make(x):
        @jitclass([("x", types.float64), ("n", types.int64), ("s", types.unicode_type)])
        class Changing:
            k = 7

            def __init__(self, x):
                self.x, self.n, self.s = x, 3, "text"

            @property
            def twice(self):
                return 2 * self.x

            def plus(self, y):
                return self.x + y

            @staticmethod
            def more(a):
                return a + 1
        return Changing(x)

    p, q = make(1.5), make(2.5)
    for _ in range(3):
        assert [(v.x, v.n, v.s, v.k, v.twice, v.plus(1.0), v.more(2)) for v in (p, q, p)] == [
            (1.5, 3, "text", 7, 3.0, 2.5, 3), (2.5, 3, "text", 7, 5.0, 3.5, 3), (1.5, 3, "text", 7, 3.0, 2.5, 3)]
        p.x, p.n = 1.5, 3
    cls = type(p)
    name = "".join(["twi", "ce"])  # not interned
    assert getattr(p, name) == 3.0 and getattr(p, "x" + str(int(p.x))[1:]) == 1.5
    cls.k, cls.twice, cls.plus = 8, property(lambda self: "other"), lambda self, y: "plain"
    assert (p.k, p.twice, p.plus(1)) == (8, "other", "plain") and (q.k, q.twice) == (7, 5.0)
    del cls.twice
    for _ in range(3):
        with pytest.raises(AttributeError, match="twice"):
            p.twice  # noqa: B018
    cls.x = 5
    assert p.x == 5 and q.x == 2.5
    made = cls.__new__(cls)  # without a value
    for _ in range(3):
        with pytest.raises(TypeError, match="instance"):
            made.n  # noqa: B018


def test_MEM_the_getter_that_goes_while_it_runs():
    @jitclass([("x", types.float64)])
    class Going:
        def __init__(self, x):
            self.x = x

    class Getter:
        def __get__(self, instance, cls):
            if vars(cls).get("gone") is self:
                del cls.gone
                gc.collect()
            return instance.x, self.word

        def __set__(self, instance, value):
            raise AttributeError

    v, other = Going(2.0), Going(3.0)
    for _ in range(3):
        Going.gone = Getter()
        vars(Going)["gone"].word = ["kept"]
        assert v.gone == (2.0, ["kept"])
    Going.gone = property(lambda self: self.x)
    assert [v.gone, other.gone, v.gone] == [2.0, 3.0, 2.0]


def test_methods_of_plain_classes_need_no_bound_method():
    class Plain:
        k = 2.0

        @njit
        def times(self, x):
            return self * x
    assert type(Plain.__dict__["times"]).__flags__ & 1 << 17 and Plain.times(2.0, 3.0) == 6.0
    assert type(Plain().times).__name__ == "method"


@njit
def compiled(v, k):
    v.x = k
    v.y -= 1
    w = v.moved(0.5, k)
    w.angle = w.angle + 0.1
    return w, w.norm(), v.total, v.dot(v, w), Vector.dot(w, w), v.n, w.DIMENSIONS


def test_what_compiled_code_does():
    a, b = Vector(3.0, 4.0), Vector(3.0, 4.0)
    fast, slow = compiled(a, 2.0), compiled.py_func(b, 2.0)
    assert fast[1:] == pytest.approx(slow[1:]) and seen(a) == seen(b) and seen(fast[0]) == pytest.approx(seen(slow[0]))


@njit
def itself(v):
    return v, (v, 1.5), [v], {1: v}


def test_one_object():
    v = Vector(1.0)
    a, (b, n), c, d = itself(v)
    assert a is v and b is v and n == 1.5 and c[0] is v and d[1] is v
    dead = weakref.ref(v)
    del a, b, c, d, v
    assert dead() is None


@given(st.floats(-1e6, 1e6), st.integers(-2**62, 2**62))
@settings(deadline=None, max_examples=50)
def test_fields_hold_what_was_stored(x, n):
    v = Vector(0.0)
    v.x, v.n = x, n
    assert (v.x, v.n) == (x, n)


# -- fields of every kind ---------------------------------------------------------------------------------------------------


@jitclass
class Everything:
    a: types.float64[:]
    b: types.Array(types.int32, 2, "C")
    text: str
    names: ListOf[str]
    counts: DictOf[str, int]
    pair: types.Tuple([types.int64, types.float32])
    small: types.uint8
    flag: bool
    z: complex
    other: Optional[float]

    def __init__(self, n):
        self.a = np.arange(n) * 0.5
        self.b = np.zeros((2, n), np.int32)
        self.text = "n" + str(n)
        self.names = List()
        self.counts = {}
        self.pair = (n, 0.5)
        self.small = 250
        self.flag = n > 2
        self.z = n * 1j
        self.other = None

    def name(self, s):
        self.names.append(s)
        self.counts[s] = len(self.names)


@njit
def use(e):
    e.name("x")
    e.name(e.text)
    e.a[0] = e.counts["x"]
    e.b[1, 1] = 7
    e.pair = (e.pair[0] + 1, 2.5)
    e.small += 10
    if e.other is None:
        e.other = 1.5
    return e.a, e.names, len(e.text), e.z


def test_fields_of_every_kind():
    e = Everything(3)
    assert (e.text, list(e.names), dict(e.counts), e.pair, e.small, e.flag, e.z, e.other) == ("n3", [], {}, (3, 0.5), 250, True, 3j, None)
    a, names, n, z = use(e)
    assert a is not None and a.tolist() == e.a.tolist() == [1.0, 0.5, 1.0] and names is e.names and (n, z) == (2, 3j)
    assert (list(e.names), dict(e.counts), e.pair, e.small, e.other) == (["x", "n3"], {"x": 1, "n3": 2}, (4, 2.5), 4, 1.5)
    assert e.b.tolist() == [[0, 0, 0], [0, 7, 0]]
    e.names.append("from Python")
    e.text, e.pair, e.other, e.z, e.small, e.flag = "ü\U0001f600", (1, 2), None, 2, 255, False
    assert (e.text, e.pair, e.other, e.z, e.small, e.flag, e.names[2]) == ("ü\U0001f600", (1, 2.0), None, 2 + 0j, 255, False, "from Python")
    e.other = 3
    fresh = np.arange(8.0)[::2]
    e.a, e.counts, e.names = fresh, Dict({"k": 5}), List(["z"])
    assert e.a is fresh and e.a.base is not None and e.other == 3.0 and e.counts["k"] == 5 and use(e)[1] == ["z", "x", "ü\U0001f600"]
    assert fresh[0] == 2.0


@pytest.mark.parametrize("name, value, error", [
    ("a", 1.5, TypeError), ("a", np.zeros((2, 2)), TypeError), ("a", np.zeros(2, np.int8), TypeError), ("text", 1, TypeError),
    ("names", [1], TypeError), ("pair", (1,), TypeError), ("pair", 1, TypeError), ("small", 256, OverflowError), ("small", "a", TypeError),
    ("small", -1, OverflowError), ("z", None, TypeError), ("small", 2**70, (OverflowError, TypeError)), ("other", "x", TypeError),
    ("small", float("nan"), ValueError), ("nothing", 1, AttributeError),
])
def test_what_a_field_does_not_take(name, value, error):
    e = Everything(2)
    before = repr((e.a, e.text, list(e.names), e.pair, e.small, e.z, e.other))
    with pytest.raises(error):
        setattr(e, name, value)
    assert repr((e.a, e.text, list(e.names), e.pair, e.small, e.z, e.other)) == before
    with pytest.raises(AttributeError):
        del e.small


def test_what_compiled_code_may_not_assign():
    def text_for_number(v):
        v.x = "a"

    def unknown(v):
        v.nothing = 1

    def read_unknown(v):
        return v.nothing
    for f, words in ((text_for_number, "cannot convert str to the field 'x' of float64"), (unknown, "has no attribute 'nothing'"),
                     (read_unknown, "has no attribute 'nothing'")):
        with pytest.raises(errors.TypingError, match=words) as refusal:
            njit(f)(Vector(1.0))
        assert "a list" not in str(refusal.value)


@jitclass
class Late:
    xs: ListOf[int]
    text: str
    inner: Vector
    pair: types.Tuple([types.int64, types.unicode_type])
    number: int
    array: types.float64[:]

    def __init__(self):
        pass


@njit
def read(late, which):
    if which == 0:
        return len(late.xs)
    if which == 1:
        return len(late.text)
    if which == 2:
        return late.inner.n
    if which == 3:
        return len(late.pair[1])
    return late.number + len(late.array)


def test_what_was_never_assigned():
    late = Late()
    for which in range(4):
        with pytest.raises(AttributeError, match="no value yet"):
            read(late, which)
    assert read(late, 4) == 0 and late.number == 0 and late.array.size == 0
    for name in ("xs", "text", "inner", "pair"):
        with pytest.raises(AttributeError):
            getattr(late, name)
    late.inner, late.xs = Vector(1.0), List([1])
    assert read(late, 2) == 0 and read(late, 0) == 1


# -- in each other -------------------------------------------------------------------------------------------------------------


node_type = types.deferred_type()


@jitclass(collections.OrderedDict([("value", types.int64), ("next", types.optional(node_type))]))
class Node:
    def __init__(self, value, next):
        self.value = value
        self.next = next


node_type.define(Node.class_type.instance_type)


@jitclass([("head", types.optional(Node.class_type.instance_type)), ("size", types.int64)])
class Stack:
    def __init__(self):
        self.head = None
        self.size = 0

    def push(self, value):
        self.head = Node(value, self.head)
        self.size += 1

    def pop(self):
        if self.head is None:
            raise IndexError("pop from an empty stack")
        top = self.head
        self.head = top.next
        self.size -= 1
        return top.value

    def __len__(self):
        return self.size


@njit
def pushed(n):
    s = Stack()
    for i in range(n):
        s.push(i)
    return s


@njit
def total(s):
    out = 0
    at = s.head
    while at is not None:
        out += at.value
        at = at.next
    return out


def test_a_linked_list_of_a_million_nodes():
    s = pushed(1_000_000)
    assert len(s) == 1_000_000 and total(s) == 999_999 * 500_000 and s.pop() == 999_999 and s.head.next.value == 999_997
    before = live()[0]
    del s
    assert live()[0] <= before - 999_999


def test_a_stack_from_python():
    s = Stack()
    for i in range(5):
        s.push(i * i)
    assert [s.pop() for _ in range(5)] == [16, 9, 4, 1, 0] and s.head is None and not s and len(s) == 0
    with pytest.raises(IndexError, match="pop from an empty stack"):
        s.pop()
    n = Node(1, None)
    m = Node(2, n)
    assert m.next is n and n.next is None
    m.next = None
    assert m.next is None and total(s) == 0


@njit
def cut(n):
    n.next = None


def test_a_cycle_stays_until_it_is_cut():
    gc.collect()
    n, before = Node(1, None), live()
    keep = Node(2, n)
    n.next = keep
    del n
    gc.collect()
    assert live() > before  # counted, and not collected
    cut(keep)
    gc.collect()
    assert keep.next is None


@jitclass([("items", types.ListType(Vector.class_type.instance_type)), ("by", types.DictType(types.unicode_type, Vector.class_type.instance_type))])
class Cloud:
    def __init__(self):
        self.items = List()
        self.by = Dict()

    def add(self, name, v):
        self.items.append(v)
        self.by[name] = v


@njit
def center(c):
    x = 0.0
    for v in c.items:
        x += v.x
    for name, v in c.by.items():
        v.n += len(name)
    return x / len(c.items)


def test_instances_in_containers():
    c, v = Cloud(), Vector(4.0)
    c.add("one", Vector(2.0)), c.add("two", v)
    assert center(c) == 3.0 and c.items[1] is v and c.by["two"] is v and v.n == 3
    pairs = List([(1, v), (2, Vector(9.0))])
    assert pairs[0][1] is v and pairs[1][1].x == 9.0
    assert copy.copy(c.items)[1] is v
    xs = List([v])
    assert str(quern.typeof(xs)) and xs[0] is v and center(c) == 3.0


# -- operators ---------------------------------------------------------------------------------------------------------------------


class PlainNumber:
    def __init__(self, v):
        self.v = v

    def __add__(self, o):
        return Number(self.v + o.v)

    def __radd__(self, o):
        return Number(o + self.v)

    def __iadd__(self, o):
        self.v += o.v
        return self

    def __sub__(self, o):
        return Number(self.v - o.v)

    def __mul__(self, o):
        return Number(self.v * o)

    def __rmul__(self, o):
        return Number(o * self.v)

    def __truediv__(self, o):
        return self.v / o.v

    def __floordiv__(self, o):
        return self.v // o.v

    def __mod__(self, o):
        return self.v % o.v

    def __pow__(self, k):
        return self.v ** k

    def __matmul__(self, o):
        return self.v * o.v + 1

    def __lshift__(self, k):
        return self.v << k

    def __and__(self, o):
        return self.v & o.v

    def __neg__(self):
        return Number(-self.v)

    def __pos__(self):
        return self

    def __invert__(self):
        return ~self.v

    def __abs__(self):
        return Number(abs(self.v))

    def __eq__(self, o):
        return self.v == o.v

    def __lt__(self, o):
        return self.v < o.v

    def __ge__(self, o):
        return self.v >= o.v

    def __bool__(self):
        return self.v > 2

    def __hash__(self):
        return self.v % 7

    def __int__(self):
        return self.v

    def __float__(self):
        return self.v + 0.5

    def __len__(self):
        return 11

    def __getitem__(self, i):
        return self.v + i

    def __setitem__(self, i, x):
        self.v = i + x

    def __contains__(self, x):
        return x == self.v

    def __call__(self, a, b):
        return a * b + self.v


Number = jitclass([("v", types.int64)])(PlainNumber)


def operators(a, b):
    a[1] = 2
    c = a + b
    c += b
    d = 3 * a
    e = (5 + a).v
    out = (c.v, (a - b).v, (a * 3).v, d.v, e, a / b, a // b, a % b, a ** 2, a @ b, a << 2, a & b, (-a).v, (+a).v, ~a, abs(a - b).v)
    if a:
        out = out[:15] + (100,)
    return out, (a == b, a != b, a < b, a > b, a >= b, a <= b, not a, hash(a), int(a), float(a), len(a), a[5], 7 in a, a(2, 3), bool(b))


def test_operators(monkeypatch):
    fast = njit(operators)
    for x, y in ((3, 5), (5, 5), (-2, 7), (1, 2)):
        results = []
        for f, cls in ((fast, Number), (operators, Number), (operators, PlainNumber)):
            with monkeypatch.context() as patch:
                patch.setattr(f"{__name__}.Number", cls)  # what the methods of the plain class make
                a, b = cls(x), cls(y)
                results.append((f(a, b), a.v, b.v))
        assert results[0] == results[1]
        assert repr(results[0]) == repr(results[2])


@njit
def identity(a, b):
    return a == b, a != b, a is b, a is not b


def test_without_methods_instances_are_equal_when_they_are_one():
    a, b = Vector(1.0), Vector(1.0)
    assert identity(a, a) == identity.py_func(a, a) == (True, False, True, False)
    assert identity(a, b) == identity.py_func(a, b) == (False, True, False, True)
    assert hash(a) == hash(a)


@njit
def told_apart(x):
    if isinstance(x, Vector):
        return 1
    if isinstance(x, Number):
        return 2
    return 3


def test_isinstance():
    assert [told_apart(x) for x in (Vector(1.0), Number(1), 5)] == [1, 2, 3]


# -- declarations --------------------------------------------------------------------------------------------------------------------


def test_types():
    v = Vector(1.0)
    assert quern.typeof(v) == Vector.class_type.instance_type and isinstance(Vector.class_type, types.ClassType)
    assert Vector.class_type.struct == {"x": types.float64, "y": types.float64, "n": types.int64}

    @njit(types.float64(Vector.class_type.instance_type))
    def f(v):
        return v.x
    assert f(v) == 1.0
    with pytest.raises(TypeError):
        f(Number(1))


class Base:
    def twice(self):
        return self.x * 2

    def other(self):
        return 1


def test_methods_of_plain_bases_are_methods():
    @jitclass([("x", types.int64)])
    class Derived(Base):
        def __init__(self, x):
            self.x = x

        def other(self):
            return 2
    d = Derived(4)
    assert (d.twice(), d.other()) == (8, 2)


class Shelf:
    def __init__(self, n, *more, unit=2):
        self.n = n * unit + len(more)

    @classmethod
    def empty(cls, n=0, *, unit=1):
        return cls(n, unit=unit)

    def like(self):
        return self.empty(self.n)


def test_class_methods():
    Made = jitclass([("n", types.int64)])(Shelf)
    assert Made.empty().n == 0 and Made.empty(3).n == 3 and Made.empty(3, unit=5).n == 15 and Made(1, 2, 3).like().n == 4
    assert njit(lambda: (Made.empty(4, unit=2).n, Made(2).empty(7).n))() == (8, 7)
    with pytest.raises(TypeError):
        Made.empty(1, 2)


class Box:
    def __init__(self, v):
        self.v = v


def test_types_of_instances_in_types():
    """Inside of containers and tuples, in compiled code, for overloads."""
    from quern.extending import overload
    Made = jitclass([("v", types.float64)])(Box)
    t = Made.class_type.instance_type

    @njit
    def filled():
        boxes = List.empty_list(Made.class_type.instance_type)
        boxes.append(Made(2.5))
        return boxes

    assert quern.typeof(filled()) == types.ListType(t) and quern.typeof((filled()[0], 1)) == types.Tuple((t, types.int64))
    asked = []

    def kind(x):
        raise NotImplementedError

    @overload(kind)
    def implement(x):
        asked.append(x)
        return lambda x: 1

    f = njit(lambda x: kind(x))
    assert f(Made(1.0)) == 1 and f((Made(1.0), 2)) == 1 and f(filled()) == 1
    assert asked == [t, types.Tuple((t, types.int64)), types.ListType(t)] and [s[0] for s in f.signatures] == asked
    assert List(filled())._dtype == t


class Both:
    def __init__(self):
        self.numbers = List.empty_list(types.int64)
        self.seen = {1}

    def see(self, n):
        self.numbers.append(n)
        self.seen.add(n)
        return len(self.seen)


def test_reflected_containers_as_fields_are_typed_ones():
    both = jitclass([("numbers", types.List(types.int64)), ("seen", types.Set(types.int64))])(Both)()
    assert both.see(3) == 2 and both.see(1) == 2 and list(both.numbers) == [3, 1] and set(both.seen) == {1, 3}


def test_private_names():
    @jitclass([("__x", types.int64)])
    class Private:
        def __init__(self):
            self.__x = 5

        def __get(self):
            return self.__x

        def get(self):
            return self.__get()
    assert Private().get() == 5


@pytest.mark.parametrize("make, error, words", [
    (lambda: jitclass([("x", 1)])(Base), TypeError, "spec values should be Numba type instances"),
    (lambda: jitclass([(1, types.int64)])(Base), TypeError, "spec keys should be strings, got 1"),
    (lambda: jitclass([("x", types.int64)])(Base), TypeError, "needs an __init__"),
    (lambda: jitclass([("norm", types.int64)])(PlainVector), NameError, "name shadowing"),
    (lambda: type("Sub", (Vector,), {}), TypeError, "cannot subclass from a jitclass"),
    (lambda: jitclass([])(type("C", (), {"__init__": lambda self: None, "__getattr__": lambda self, n: 1})), TypeError, "__getattr__"),
    (lambda: pickle.dumps(Vector(1.0)), TypeError, "cannot pickle"),
    (lambda: Vector(), (TypeError, errors.TypingError), None),
    (lambda: Vector(1, 2, 3, 4), (TypeError, errors.TypingError), None),
    (lambda: Vector("a"), (TypeError, errors.TypingError), None),
])
def test_bad_declarations_and_uses(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_an_instance_that_init_has_not_made():
    v = Vector.__new__(Vector)
    assert Vector(1.0).x == 1.0  # fields are known
    for use in (lambda: v.x, lambda: setattr(v, "x", 1.0), lambda: v.norm(), lambda: itself(v)):
        with pytest.raises(TypeError, match="its __init__ has not run"):
            use()
    with pytest.raises(TypeError):
        v._become("ListType[int64]", [1])


def test_init_gives_nothing():
    @jitclass([])
    class Wrong:
        def __init__(self):
            return 7
    with pytest.raises(errors.TypingError, match=r"__init__\(\) should return None"):
        Wrong()


def test_a_class_goes_with_its_specialisations():
    @njit
    def f(x):
        return x.v

    def once():
        @jitclass([("v", types.int64)])
        class Short:
            def __init__(self):
                self.v = 3
        assert f(Short()) == 3
        return weakref.ref(Short)
    dead = once()
    gc.collect()
    assert dead() is None or f.signatures  # code of f may hold what it was compiled for until f goes


# -- failures -------------------------------------------------------------------------------------------------------------------------


@jitclass([("xs", types.ListType(types.int64))])
class Fails:
    def __init__(self, n):
        self.xs = List([1, 2, 3])
        if n < 0:
            raise ValueError("below zero")

    def fail(self, i):
        self.xs.append(i)
        return self.xs[i]


def test_exceptions():
    with pytest.raises(ValueError, match="below zero"):
        Fails(-1)
    f = Fails(1)
    with pytest.raises(IndexError):
        f.fail(100)
    assert list(f.xs) == [1, 2, 3, 100]


def test_MEM_every_allocation_may_fail():
    def program():
        s, c = pushed(5), Cloud()
        c.add("a name", Vector(1.0))
        return total(s), center(c)
    assert program() == (10, 1.0)
    n, failed = 1, True
    while failed:
        before = live()
        quern._quern.test_fail_allocation(n)
        try:
            program()
            failed = False
        except MemoryError:
            pass
        finally:
            quern._quern.test_fail_allocation(0)
        gc.collect()
        assert live() == before
        n += 1
    assert n > 12


@njit(nogil=True)
def bump(v, n):
    for i in range(n):
        v.n += 1


def test_CNT_threads_wait_for_each_other():
    v = Vector(1.0)
    workers = [threading.Thread(target=bump, args=(v, 300_000)) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert v.n == 1_200_000


@jitclass
class Forest:
    parent: list[int]
    sizes: dict[int, int]
    roots: set[int]

    def __init__(self, n):
        self.parent = list(range(n))
        self.sizes = {i: 1 for i in range(n)}
        self.roots = set(range(n))

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a != b:
            self.parent[a] = b
            self.sizes[b] += self.sizes.pop(a)
            self.roots.discard(a)
        return len(self.roots)

    def forget(self):
        self.parent = [x * 0 for x in self.parent]
        kept = [7]
        kept.append(len(self.parent))
        self.parent = kept


def test_lists_dicts_and_sets_that_are_made_for_fields():
    f = Forest(5)
    assert [f.union(0, 1), f.union(2, 3), f.union(0, 3), f.union(1, 2)] == [4, 3, 2, 2]
    assert list(f.parent) == [1, 3, 3, 3, 4] and dict(f.sizes) == {3: 4, 4: 1} and set(f.roots) == {3, 4}
    f.forget()
    assert list(f.parent) == [7, 5]

    @njit
    def other(n):
        g = Forest(n)
        xs = sorted([n, 2, 1])
        g.parent = xs
        return g.parent[0] + len(xs)
    with pytest.raises(errors.TypingError, match="typed.List"):
        other(3)


def test_fields_of_shared_classes_without_an_import_of_typed():
    source = """
from quern.experimental import jitclass
@jitclass
class C:
    xs: list[int]
    def __init__(self, n):
        self.xs = [n]
assert list(C(3).xs) == [3]
"""
    subprocess.run([sys.executable, "-c", source], check=True)
