"""quern.experimental.structref: types of the user's with fields, shared by compiled code and Python, and what overloads make of them
(FEATURES T13)."""
import operator

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from test_extending import registry_as_before  # noqa: F401
from test_as_numba import run_as_numba
from quern import errors, float64, int64, njit, typed, typeof, types
from quern.experimental import structref
from quern.extending import overload, overload_attribute, overload_method


@structref.register
class ParticleType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(t)) for name, t in fields)


class Particle(structref.StructRefProxy):
    def __new__(cls, name, place):
        return structref.StructRefProxy.__new__(cls, name, place)

    @property
    def name(self):
        return name_of(self)

    @property
    def place(self):
        return place_of(self)

    @place.setter
    def place(self, place):
        move(self, place)


structref.define_proxy(Particle, ParticleType, ["name", "place"])


@njit
def name_of(self):
    return self.name


@njit
def place_of(self):
    return self.place


@njit
def move(self, place):
    self.place = place


def declared(*fields, attributes=()):
    """A type of its own with a proxy."""
    type_class = structref.register(type("PairType", (types.StructRef,), {}))
    proxy = type("Pair", (structref.StructRefProxy,), dict(attributes))
    structref.define_proxy(proxy, type_class, fields)
    return type_class, proxy


# -- from both sides -------------------------------------------------------------------------------------------------

def test_python_makes_and_reads_one():
    p = Particle("ada", np.arange(3.0))
    assert isinstance(p, Particle) and type(p).__name__ == "Particle"
    assert p.name == "ada" and p.place.tolist() == [0, 1, 2]
    p.place = np.ones(2)
    assert p.place.tolist() == [1, 1]
    t = typeof(p)
    assert isinstance(t, ParticleType) and t.field_dict == {"name": types.unicode_type, "place": float64[::1]}
    assert typeof((p, 1)) == types.Tuple((t, int64)) and typeof(typed.List([p])) == types.ListType(t)


def test_compiled_code_makes_reads_and_writes_one():
    @njit
    def made(n):
        p = Particle("nobody", np.zeros(n))
        p.name = "bob"
        p.place += 2.5
        return p

    assert made(2).name == "bob" and made(2).place.tolist() == [2.5, 2.5]


def test_it_is_one_object_on_both_sides():
    _, Pair = declared("x", "y")

    @njit
    def same(a, b):
        b.x = 7
        return structref.structref_is(a, b), a is b

    p, q = Pair(1, 2.5), Pair(1, 2.5)
    assert same(p, p) == (True, True) and same(p, q) == (False, False)
    assert p.x == q.x == 7 and njit(lambda a: a)(p) is p
    assert structref.structref_is(p, p) and not structref.structref_is(p, q)


def test_the_types_of_the_fields_are_those_of_the_arguments():
    PairType, Pair = declared("x", "y")
    f = njit(lambda p: p.x + p.y)
    assert f(Pair(1, 2)) == 3 and f(Pair(1, 0.5)) == 1.5 and f(Pair("a", "b")) == "ab"
    assert typeof(Pair(1, 2)) == PairType([("x", int64), ("y", int64)]) != typeof(Pair(1, 2.0))
    assert len(f.signatures) == 3


def test_fields_of_every_kind():
    BagType, Bag = declared("array", "numbers", "table", "pair", "text")
    t = BagType([("array", float64[:]), ("numbers", types.ListType(int64)), ("table", types.DictType(int64, float64)),
                 ("pair", types.UniTuple(int64, 2)), ("text", types.unicode_type)])

    @njit
    def made():
        bag = structref.new(t)
        bag.array, bag.pair, bag.text = np.ones(4)[::2], (1, 2), "x"
        bag.numbers = typed.List.empty_list(int64)
        bag.numbers.append(3)
        bag.table = typed.Dict.empty(int64, float64)
        bag.table[1] = 2.5
        return bag

    read = njit(lambda b: (b.numbers[0], b.table[1], b.pair[1], b.text, b.array.sum()))
    bag = made()
    assert typeof(bag) == t and read(bag) == (3, 2.5, 2, "x", 2.0)
    bag.numbers.append(4)  # what Python reads is the container itself
    assert len(bag.numbers) == 2 and njit(lambda b: b.numbers[1])(bag) == 4
    assert njit("int64(%s)" % t._quern_name)(lambda b: len(b.numbers))(bag) == 2
    with pytest.raises(AttributeError, match="no value yet"):
        read(njit(lambda: structref.new(t))())


def test_in_containers_and_in_each_other():
    _, Pair = declared("x", "y")
    inner = Pair(1, 2.0)
    outer = Pair(inner, 5)
    assert njit(lambda p: p.x.y)(outer) == 2.0 and outer.x is inner
    pairs = typed.List([Pair(i, i * 0.5) for i in range(5)])
    assert njit(lambda ps: sum([p.x + p.y for p in ps]))(pairs) == 15 and pairs[3].y == 1.5
    table = typed.Dict.empty(types.unicode_type, typeof(inner))
    table["a"] = inner
    assert table["a"] is inner and njit(lambda t: t["a"].x)(table) == 1

    @njit
    def several(n):
        return [Pair(i, "t") for i in range(n)]

    assert [p.x for p in several(3)] == [0, 1, 2]


def test_a_list_of_nodes():
    NodeType, Node = declared("data", "next")
    later = types.deferred_type()
    t = NodeType([("data", int64), ("next", types.Optional(later))])
    later.define(t)

    @njit
    def total(n):
        head = structref.new(t)
        for i in range(1, n):
            node = structref.new(t)
            node.data, node.next = i, head
            head = node
        s = 0
        while head is not None:
            s += head.data
            head = head.next
        return s

    assert total(1000) == 499500


def test_a_type_whose_fields_name_it():
    class NodeType(types.StructRef):
        def preprocess_fields(self, fields):
            return (("value", types.Optional(int64)), ("parent", types.Optional(self)))

    structref.register(NodeType)
    Node = type("Node", (structref.StructRefProxy,), {})
    structref.define_proxy(Node, NodeType, ["value", "parent"])

    @njit
    def grown(x):
        a, b = Node(None, None), Node(None, None)
        a.value, b.parent = x, a
        return b

    node = grown(3)
    assert node.value is None and node.parent.value == 3 and node.parent.parent is None
    assert typeof(node).field_dict["parent"].type == typeof(node) == typeof(node.parent)
    assert NodeType([("value", int64)]) != typeof(node)


# -- what overloads make of them ------------------------------------------------------------------------------------------

def test_methods_and_attributes():
    @overload_method(ParticleType, "distance")
    def distance(self, other):
        return lambda self, other: np.sqrt(((self.place - other.place) ** 2).sum())

    @overload_attribute(ParticleType, "size")
    def size(self):
        return lambda self: len(self.place)

    @njit
    def f(a, b):
        return a.distance(b), a.size

    assert f(Particle("a", np.zeros(4)), Particle("b", np.ones(4))) == (2.0, 4)


def test_operators():
    PairType, Pair = declared("x", "y")

    def of_pairs(function, implementation):
        @overload(function)
        def implement(*args):
            return implementation if isinstance(args[0], PairType) else None

    def strict(function, implementation):
        overload(function, strict=False)(lambda *args: implementation if isinstance(args[0], PairType) else None)

    strict(operator.add, lambda a, b: Pair(a.x + b.x, a.y + b.y))
    strict(operator.eq, lambda a, b: a.x == b.x and a.y == b.y)
    strict(operator.contains, lambda a, v: v == a.x or v == a.y)
    strict(operator.getitem, lambda a, i: a.x if i == 0 else a.y)
    strict(len, lambda a: 2)
    strict(hash, lambda a: hash((a.x, a.y)))

    @njit
    def f(a, b):
        c = a + b
        return c.x, a == b, a == Pair(1, 2), 4 in c, 5 in c, c[1], len(c), hash(a) == hash((1, 2))

    assert f(Pair(1, 2), Pair(3, 4)) == (4, False, True, True, False, 6, 2, True)


def test_a_constructor_of_the_users():
    """An overload of the proxy, without define_constructor."""
    type_class = structref.register(type("CountType", (types.StructRef,), {}))
    Count = type("Count", (structref.StructRefProxy,), {})
    structref.define_attributes(type_class)
    structref.define_boxing(type_class, Count)
    t = type_class([("n", int64)])

    @overload(Count)
    def make(n):
        def implementation(n):
            count = structref.new(t)
            count.n = n * 2
            return count
        return implementation

    assert Count(4).n == 8 and njit(lambda: Count(1).n)() == 2


def test_what_python_defines_is_pythons():
    """Members of the proxy are not compiled; a field that the proxy has no name for is an attribute."""
    _, Pair = declared("x", "y", attributes={"x": property(lambda self: "mine"), "twice": lambda self: 2 * self.y})
    p = Pair(1, 2)
    assert p.x == "mine" and p.y == 2 and p.twice() == 4 and njit(lambda p: p.x)(p) == 1
    p.y = 5
    assert p.twice() == 10
    with pytest.raises(errors.TypingError, match="no attribute 'twice'"):
        njit(lambda p: p.twice())(p)


# -- what is refused ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("call, error, words", [
    (lambda: structref.register(types.StructRef), ValueError, "cannot register"),
    (lambda: structref.register(int), TypeError, "subclass of types.StructRef"),
    (lambda: structref.define_boxing(ParticleType, int), TypeError, "subclass of StructRefProxy"),
    (lambda: structref.define_constructor(Particle, ParticleType, ["a b"]), ValueError, "fields are names"),
    (lambda: structref.StructRefProxy(1), TypeError, "define_proxy"),
    (lambda: structref.new(ParticleType), TypeError, "compiled code"),
    (lambda: njit(lambda: structref.new(3))(), errors.TypingError, "structref.new"),
    (lambda: Particle("a"), TypeError, "place"),
    (lambda: Particle("a", object()), TypeError, "object"),
    (lambda: njit(lambda p: p.mass)(Particle("a", np.zeros(1))), errors.TypingError, "no attribute 'mass'"),
    (lambda: ParticleType([("a", 3)]), ValueError, "Numba Type"),
])
def test_bad_uses(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_field_keeps_its_type():
    _, Pair = declared("x", "y")

    @njit
    def assign(p, value):
        p.x = value

    p = Pair(1, 2)
    assign(p, 3.0 > 2.0)
    assert p.x == 1
    with pytest.raises(errors.TypingError, match="the field 'x'"):
        assign(p, "text")
    with pytest.raises(TypeError, match="the field 'y'"):
        p.y = "text"


def test_it_cannot_be_pickled():
    import pickle
    with pytest.raises(TypeError, match="structref"):
        pickle.dumps(Particle("a", np.zeros(1)))


PROGRAM = """
import numpy as np
from numba import njit, types
from numba.experimental import structref
from numba.extending import overload_method

@structref.register
class BoxType(types.StructRef):
    def preprocess_fields(self, fields):
        return tuple((name, types.unliteral(t)) for name, t in fields)

class Box(structref.StructRefProxy):
    @property
    def width(self):
        return width(self)

@njit
def width(self):
    return self.width

structref.define_proxy(Box, BoxType, ["width", "height"])

@overload_method(BoxType, "area")
def area(self):
    def implementation(self):
        return self.width * self.height
    return implementation

print(Box(3, 4.5).width, njit(lambda b: b.area())(Box(3, 4.5)))
"""


def test_a_numba_program(tmp_path):
    assert run_as_numba(tmp_path, PROGRAM).split() == ["3", "13.5"]
