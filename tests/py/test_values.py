"""Frozen dataclasses and named tuples of numbers, arrays and each other: values in functions and kernels, without a declaration."""
import functools
import gc
import math
import sys
import typing
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, same  # noqa: F401
from quern import cuda, errors, njit


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 2.5

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def moved(self, dx, dy=0.0):
        return Point(self.x + dx, self.y + dy)

    @property
    def swapped(self):
        return Point(self.y, self.x)


@dataclass(frozen=True)
class Body:
    at: Point
    mass: np.ndarray
    n: int = 3

    def total(self):
        return self.mass.sum() * self.at.norm()


@dataclass(frozen=True, slots=True)
class Slotted:
    i: int
    a: np.ndarray


@dataclass(frozen=True)
class Heavier(Point):
    weight: float = 1.0

    def norm(self):
        return self.weight * self.x


class Pair(NamedTuple):
    a: int
    b: float = 1.5

    def product(self):
        return self.a * self.b

    @property
    def flipped(self):
        return Pair(int(self.b), float(self.a))


GLOBAL = Body(Point(1.0, 4.0), np.arange(3.0))


# -- functions -----------------------------------------------------------------------------------------------

@njit
def read(p):
    return p.x + p.y


@njit
def made(x):
    return Point(x), Point(x, x * 2), Point(y=1.0, x=x), Point(x=x)


@njit
def nested(b):
    return b.at.x + b.mass.sum() + b.n, Body(Point(b.at.y), b.mass, b.n + 1)


@njit
def of_global(i):
    return GLOBAL.at.y + GLOBAL.mass[i] + GLOBAL.n


@njit
def compared(p, q):
    return p == q, p != q, p == 3, p != (1.0, 2.5), p is None


@njit
def methods(p, d):
    q = p.moved(d)
    return p.norm(), q, q.norm() + p.swapped.x, p.moved(dy=d, dx=1.0), p.swapped.swapped == p


@njit
def of_bodies(b):
    return b.total(), b.at.moved(1.0).swapped.norm()


@njit
def in_containers(ps):
    out = []
    by_number = {}
    for i, p in enumerate(ps):
        if p.x > 1:
            out.append(p.moved(1.0))
        by_number[i] = p
    best = ps[0]
    for p in ps:
        if p.norm() > best.norm():
            best = p
    return out, by_number, best, [p.swapped for p in ps]


@njit
def chosen(n):
    p = Point(1.0)
    if n > 1:
        p = Point(float(n))
    return p if n else None


@njit
def pairs(t):
    return t.product(), t.flipped, t.a, t[1], len(t), Pair(4), t == (1, 1.5)


def test_functions():
    p = Point(1.5)
    same(read, p)
    same(made, 2.5)
    same(nested, Body(p, np.arange(3.0)))
    for i in range(3):
        same(of_global, i)
    same(compared, p, Point(1.5))
    same(compared, p, Point(1.0, 2.0))
    same(methods, Point(3.0, 4.0), 0.5)
    same(of_bodies, Body(Point(3.0, 4.0), np.ones(2)))
    same(in_containers, [Point(1.0), Point(2.0, 7.0), Point(5.0)])
    for n in (0, 1, 3):
        same(chosen, n)
    same(pairs, Pair(1))
    same(read, Heavier(1.0, 2.0, 3.0))
    assert njit(lambda p: p.norm())(Heavier(2.0, 1.0, 3.0)) == 6.0
    assert njit(lambda s: s.a[s.i])(Slotted(1, np.arange(3.0))) == 1.0
    assert njit(lambda p: (isinstance(p, Point), isinstance(p, Body), isinstance(p, tuple), bool(p)))(p) == (True, False, False, True)


def test_an_array_that_comes_back_is_the_one_that_went_in():
    b = Body(Point(1.0), np.ones(3))
    assert njit(lambda b: b.mass)(b) is b.mass
    c = njit(lambda b: Body(b.at, b.mass))(b)
    assert c.mass is b.mass and type(c) is Body and type(c.at) is Point
    gc.collect()
    count = sys.getrefcount(b.mass)
    for _ in range(10):
        nested(b)
    after = sys.getrefcount(b.mass)
    assert after == count


@dataclass(frozen=True)
class Checked:
    x: float

    def __post_init__(self):
        if self.x < 0:
            raise ValueError("below zero")


@dataclass(frozen=True, order=True)
class Interval(Checked):
    high: float = 1.0
    name: str = "i"

    def __post_init__(self):
        if not self.name:
            raise KeyError("a name")
        if self.x > self.high:
            raise ValueError(f"{self.name}: {self.x} > {self.high}")
        print("made", self.name, self.x)

    def width(self):
        return self.high - self.x


@dataclass(frozen=True)
class WithArgument:
    x: float
    y: InitVar = 1.0

    def __post_init__(self, y):
        pass


@dataclass(frozen=True)
class Wrapped:
    x: float
    __post_init__ = staticmethod(len)


@dataclass(frozen=True)
class Sets:
    x: float

    def __post_init__(self):
        object.__setattr__(self, "x", 2.0)


@njit
def made_and_looked_at(xs, name):
    good, bad = [], []
    for x, y in zip(xs, xs[1:]):
        try:
            good.append(Interval(x, name=name, high=y))
        except ValueError as e:
            bad.append(str(e))
    best = max(good)
    return [g.width() for g in good], bad, best, replace(best, x=0.5)


@njit
def replaced_and_looked_at(i, x):
    return replace(i, x=x), i.width()


def test_what_post_init_says(capsys):
    texts = []
    for f in (made_and_looked_at, made_and_looked_at.py_func):
        assert f([1.0, 2.0, 1.5, 3.0], "n" * 3)[1] == ["nnn: 2.0 > 1.5"]
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] and texts[0].count("made nnn") == 3
    same(made_and_looked_at, [1.0, 2.0, 1.5, 3.0], "n")
    same(made_and_looked_at, [1.0, 2.0], "")
    given = Interval(0.25)
    same(replaced_and_looked_at, given, 0.5)
    same(replaced_and_looked_at, given, 1.5)
    same(njit(lambda x: Checked(x)), 1.0)
    same(njit(lambda x: Checked(x)), -1.0)
    assert njit(lambda c: c.x)(Checked(1.0)) == 1.0
    with pytest.raises(errors.QuernError, match="__setattr__"):
        njit(lambda x: Sets(x).x)(1.0)


@dataclass(frozen=True)
class Listed:
    x: list = field(default_factory=list)


@dataclass
class Mutable:
    x: float


@dataclass(frozen=True)
class Lazy:
    x: float

    @functools.cached_property
    def square(self):
        return self.x * self.x


def test_refused():
    for text, f in (("indexed", lambda p: p[0]), ("len", lambda p: len(p)), ("iterate", lambda p: [q for q in p]), ("add", lambda p: p + p),
                    ("compare", lambda p: p < p), ("look for", lambda p: 1.0 in p), ("has no attribute 'w'", lambda p: p.w)):
        with pytest.raises(errors.TypingError, match=text):
            njit(f)(Point(1.0))
    with pytest.raises(errors.UnsupportedError, match="a dict with keys of dataclass"):
        njit(lambda p: {p: 1})(Body(Point(1.0), np.ones(2)))
    with pytest.raises(errors.TypingError, match=r"'Mutable' cannot .*@dataclass\(frozen=True\)"):
        njit(lambda m: m.x)(Mutable(1.0))
    for cls, why in ((WithArgument, "InitVar"), (Wrapped, "__post_init__ is no plain function")):
        with pytest.raises(errors.TypingError, match=why):
            njit(lambda x: cls(x))(1.0)
    with pytest.raises(errors.TypingError, match="Listed"):
        njit(lambda x: Listed([x]))(1.0)
    with pytest.raises(errors.TypingError, match="square"):
        njit(lambda p: p.square)(Lazy(2.0))
    with pytest.raises(errors.TypingError, match="the dataclass of x, y"):
        njit(lambda x: Point(x, z=1))(1.0)

    @njit
    def assigned(p):
        p.x = 1.0

    with pytest.raises(errors.QuernError, match="assignment to an attribute"):
        assigned(Point(1.0))


# -- kernels -----------------------------------------------------------------------------------------------------

@cuda.jit
def kernel(b, out):
    i = cuda.grid(1)
    if i < out.size:
        p = b.at.moved(i)
        out[i] = p.norm() * b.mass[i] + b.n
        b.mass[i] += 1


@cuda.jit
def pair_kernel(t, out):
    out[cuda.threadIdx.x] = t.product() + t.flipped.b


def test_kernels(device):
    mass, out = np.arange(5.0), np.zeros(5)
    b = Body(Point(3.0, 4.0), mass)
    want = [Point(3.0 + i, 4.0).norm() * i + 3 for i in range(5)]
    kernel[1, 8](b, out)
    assert np.allclose(out, want, rtol=1e-6) and mass.tolist() == [1, 2, 3, 4, 5]
    pair_kernel[1, 2](Pair(2, 4.5), out)
    assert out[:2].tolist() == [11.0, 11.0]


class Constants:
    G = 6.5
    NAMES = ("a", "bc")
    limits = np.array([1.0, 4.0])

    class Failure(Exception):
        pass

    @staticmethod
    def twice(x):
        return 2 * x


def of_a_namespace(x):
    if x < 0:
        raise Constants.Failure("below", x)
    return Constants.twice(x) + Constants.G, Constants.NAMES[1], Constants.limits[1]


def test_a_class_that_holds_constants_and_classes():
    compiled = njit(of_a_namespace)
    assert compiled(2.0) == of_a_namespace(2.0)
    with pytest.raises(Constants.Failure) as raised:
        compiled(-1.0)
    assert raised.value.args == ("below", -1.0)

    @njit
    def caught(x):
        try:
            return of_a_namespace(x)[0]
        except Constants.Failure as e:
            return e.args[1]

    assert caught(-3.0) == -3.0
    with pytest.raises(errors.TypingError, match="class Constants is not callable"):
        njit(lambda: Constants())()


@dataclass(frozen=True)
class Scaled:
    UNIT: "ClassVar[float]" = 2.5
    SIDES: "typing.ClassVar[tuple]" = (1, 2)
    x: "float"

    def length(self):
        return self.x * self.UNIT


def test_constants_of_the_class_of_a_dataclass():
    def f(p):
        return p.x * p.UNIT + p.SIDES[1] + Scaled.UNIT + p.length()

    assert njit(f)(Scaled(2.0)) == f(Scaled(2.0)) == 14.5


@dataclass(frozen=True)
class Kept:
    x: float
    y: float = field(default=2.0, init=False)


def test_replace_where_the_instance_is_made_anew():
    from dataclasses import replace

    for change in (lambda p: replace(p, y=3.0), lambda p: replace(p, x=3.0)):
        with pytest.raises(errors.TypingError, match="whose field y has init=False, which Python makes anew"):
            njit(change)(Kept(1.0))

    @dataclass(frozen=True)
    class Checked:
        x: float

        def __init__(self, x):
            object.__setattr__(self, "x", abs(x))

    with pytest.raises(errors.TypingError, match="with an __init__ of its own, which Python makes anew"):
        njit(lambda p: replace(p, x=-1.0))(Checked(1.0))


def test_why_a_dataclass_is_no_value():
    def made(**options):
        return dataclass(**options)(type("Made", (), {"__annotations__": {"x": float}, "x": options.pop("default", 1.0)}))

    def message(cls):
        with pytest.raises(errors.TypingError) as raised:
            njit(lambda: cls(2.0).x)()
        return str(raised.value)

    assert "class Made, a dataclass that is not frozen" in message(made(slots=True))
    assert "class Made, a dataclass with eq=False" in message(made(frozen=True, eq=False))
    with_list = dataclass(frozen=True)(type("Made", (), {"__annotations__": {"x": float}, "x": field(default_factory=float)}))
    assert "a dataclass whose field x has a default_factory" in message(with_list)
    partly = dataclass(frozen=True)(type("Made", (), {"__annotations__": {"x": float}, "x": field(default=1.0, compare=False)}))
    assert "a dataclass whose field x has compare=False" in message(partly)


@dataclass(frozen=True, kw_only=True)
class Settings:
    rate: float
    steps: int = 2


@dataclass(frozen=True)
class Behind:
    a: int
    _: KW_ONLY
    b: float = 1.5
    c: int


@dataclass(frozen=True)
class Between:
    a: int = field(kw_only=True)
    b: int
    c: int = field(default=7, kw_only=True)
    d: int = 4


@dataclass(frozen=True)
class Further(Settings):
    z: int


def settings(n):
    s = Settings(rate=n * 0.5)
    return s, Settings(steps=n, rate=1.0), s.rate * s.steps, repr(s), replace(s, steps=n + 9)


def behind(n):
    return Behind(n, c=3), Behind(a=n, c=4, b=2.0), Behind(c=n, a=1)


def between(n):
    return Between(n, a=2), Between(n, 5, a=3, c=n), Between(b=1, a=n)


def further(n):
    return Further(n, rate=2.0), Further(z=n, steps=3, rate=0.5), Further(3, rate=1.0, steps=n).steps


@pytest.mark.parametrize("f", [settings, behind, between, further], ids=lambda f: f.__name__)
def test_fields_that_are_given_by_name_alone(f):
    for n in (3, -1):
        assert repr(njit(f)(n)) == repr(f(n))


def test_such_fields_are_not_given_by_place():
    for wrong in (lambda n: Settings(n * 1.0), lambda n: Behind(n, 2.0, 3), lambda n: Behind(n), lambda n: Between(n, 1, 2, a=3)):
        with pytest.raises(TypeError):
            wrong(3)
        with pytest.raises(errors.TypingError, match="cannot be called with the arguments"):
            njit(wrong)(3)


@dataclass(frozen=True)
class Place:
    x: float
    y: float

    @classmethod
    def of(cls, pair, k=1.0):
        return cls(pair[0] * k, pair[1] * k)

    @classmethod
    def unit(cls):
        return cls.of((1.0, 0.0))

    def turned(self):
        return self.of((self.y, -self.x))

    @classmethod
    def title(cls):
        return cls.__name__


@dataclass(frozen=True)
class Higher(Place):
    z: float = 0.5


class Two(NamedTuple):
    a: int
    b: int

    @classmethod
    def same(cls, n):
        return cls(n, n)


def by_class_methods(n):
    make, u = Place.of, Place.unit()
    return make((n * 1.0, 2.0)), u, u.turned(), Place.of((1.0, 2.0), k=3.0), Higher.unit(), Higher.unit().turned(), Two.same(n), Two.same(n=2), Place.title() + Higher.title()


def class_methods_as_values(n):
    return list(map(Place.of, [(1.0, 2.0), (n * 0.5, 0.0)])), [make((1.0, n * 0.5)) for make in (Place.of, Place.of)]


@pytest.mark.parametrize("f", [by_class_methods, class_methods_as_values], ids=lambda f: f.__name__)
def test_class_methods_make_instances(f):
    assert repr(njit(f)(2)) == repr(f(2))


def test_class_methods_of_an_argument():
    def f(p):
        return p.turned(), p.of((0.0, 1.0)), p.unit()

    for p in (Place(1.0, 2.0), Higher(1.0, 2.0)):
        assert repr(njit(f)(p)) == repr(f(p))


def test_a_class_method_that_changes_is_another_one():
    def f():
        return Changing.of(2)

    class Changing(NamedTuple):
        a: int

        @classmethod
        def of(cls, n):
            return cls(n)

    assert njit(f)() == (2,)
    Changing.of = classmethod(lambda cls, n: cls(n + 1))
    assert njit(f)() == (3,)
