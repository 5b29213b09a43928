"""Properties of jitclasses whose getters are compiled, from the interpreter."""
import gc

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit, types
from quern.experimental import jitclass


def test_a_property_may_get_another_getter():
    @jitclass([("x", types.float64)])
    class Turning:
        def __init__(self, x):
            self.x = x

        @property
        def value(self):
            return self.x * 2.0

        @property
        def wrong(self):
            raise ValueError(self.x)

    v, other = Turning(2.0), Turning(5.0)
    for _ in range(3):
        assert (v.value, other.value) == (4.0, 10.0)
        with pytest.raises(ValueError, match="5.0"):
            other.wrong  # noqa: B018
    held = vars(Turning)["value"]
    for getter, wanted in ((njit(lambda self: self.x - 1.0), 1.0), (lambda self: "plain", "plain"), (njit(lambda self: (self.x, 1)), (2.0, 1))):
        held.__init__(getter)
        gc.collect()
        assert [v.value, v.value] == [wanted, wanted]
    held.__init__(None)
    with pytest.raises(AttributeError):
        v.value  # noqa: B018
    Turning.value = property(njit(lambda self: self.x + 1.0))
    assert [v.value, other.value, v.value] == [3.0, 6.0, 3.0]


def test_two_classes_with_one_getter():
    """What a getter was compiled for last is looked at: the fields of the other class lie elsewhere, and one changes its instance."""
    twice = njit(lambda self: self.x * 2.0)

    @njit
    def counted(self):
        self.x += 1.0
        return self.x

    @jitclass([("x", types.float64)])
    class Small:
        def __init__(self, x):
            self.x = x

    @jitclass([("a", types.int64), ("b", types.complex128), ("x", types.float64)])
    class Large:
        def __init__(self, x):
            self.a = 7
            self.b = 3j
            self.x = x

    for cls in (Small, Large):
        cls.value, cls.next = property(twice), property(counted)
    small, large = Small(1.5), Large(4.0)
    for k in range(1, 4):
        assert [small.value, small.value, large.value, large.value] == [2 * small.x, 2 * small.x, 2 * large.x, 2 * large.x]
        assert (small.next, large.next) == (1.5 + k, 4.0 + k)


def test_properties_of_every_kind():
    """What needs nothing of its caller, and what does, beside the same class of the interpreter."""
    class Plain:
        def __init__(self, x, n, a):
            self.x = x
            self.n = n
            self.a = a

        big = property(lambda self: self.x > 1.0)
        nothing = property(lambda self: None)
        pair = property(lambda self: (self.n, self.x))
        nested = property(lambda self: ((self.n, self.x), self.n))
        many = property(lambda self: (self.n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, self.x))
        size = property(lambda self: len(self.a))
        first = property(lambda self: self.a[0])
        word = property(lambda self: str(self.n))
        inverse = property(lambda self: 1 // self.n)
        turn = property(lambda self: self.x * 1j)

        @property
        def bumped(self):
            self.n += 1
            return self.n

        @property
        def swapped(self):
            self.a = self.a[::-1]
            return self.x

    made = jitclass([("x", types.float64), ("n", types.int64), ("a", types.float64[:])])(Plain)
    fast, slow = (cls(2.5, 1, np.arange(3.0)) for cls in (made, Plain))

    def asked(v, name):
        try:
            return getattr(v, name)
        except ZeroDivisionError as e:
            return type(e)
    names = [name for name, value in vars(Plain).items() if isinstance(value, property)]
    for _ in range(3):
        for name in names:
            got, wanted = asked(fast, name), asked(slow, name)
            assert got == wanted and type(got) in (type(wanted), float) and fast.n == slow.n and (fast.a == slow.a).all(), name
    fast.n = slow.n = 0
    assert asked(fast, "inverse") is asked(slow, "inverse") is ZeroDivisionError and fast.pair == (0, 2.5)
