"""Members of enumerations: globals and arguments of functions and kernels. One that is no number is a type of its own, compared
when the function is compiled, and comes back as itself; one that is an int counts as its value."""
import enum
import gc
import weakref

import pytest

import numpy as np

from quern import cuda, errors, njit


class Color(enum.Enum):
    RED = 1
    GREEN = 2.5
    BLUE = "b"
    CRIMSON = 1  # another name of RED


class Shape(enum.Enum):
    RED = 1


class Mode(enum.IntEnum):
    FAST = 3
    EXACT = 4


class Permission(enum.Flag):
    READ = 1
    WRITE = 2


SOURCES = ["x is Color.RED", "x == Color.RED", "x != Color.RED", "x == Shape.RED", "x is not Color.GREEN", "x in (Color.RED, Color.BLUE)",
           "x not in (Color.GREEN, Shape.RED)", "x", "Color.GREEN", "Color.CRIMSON", "Permission.READ", "Permission.READ is Permission.WRITE",
           "10 if x else 20", "x is None", "x == None", "x == 1", "1 != x", "isinstance(x, Color)", "isinstance(x, Shape)",
           "isinstance(x, enum.Enum)", "Color.RED.value", "Color.GREEN.value * 2", "Shape.RED.value + 1", "x.name == 'RED'",
           "Mode.FAST + 1", "Mode.EXACT == 4", "Mode.FAST < Mode.EXACT"]


@pytest.mark.parametrize("source", SOURCES)
def test_N11_members_are_what_they_are_in_python(source):
    space = dict(enum=enum, Color=Color, Shape=Shape, Mode=Mode, Permission=Permission)
    exec(f"def f(x): return {source}", space)
    compiled = njit(space["f"])
    for member in Color:
        for _ in range(2):  # a new specialisation, and a known one
            got, want = compiled(member), space["f"](member)
            assert got == want and type(got) is type(want) and (not isinstance(want, enum.Enum) or got is want)


def test_N11_members_go_from_function_to_function():
    @njit
    def weight(color, scale=2):
        if color is Color.RED:
            return 10 * scale
        if color == Color.GREEN:
            return 20 * scale
        return 30 * scale

    @njit
    def both(color):
        return weight(color) + weight(Color.BLUE, 1)

    assert [weight(c) for c in Color] == [20, 40, 60] and [both(c) for c in Color] == [50, 70, 90]
    assert [str(s[0]) for s in both.signatures] == ["Color.RED", "Color.GREEN", "Color.BLUE"]


def test_N11_kernels_take_members(device):
    @cuda.jit
    def kernel(color, mode, out):
        i = cuda.grid(1)
        if color is Color.RED:
            out[i] = mode * 2
        else:
            out[i] = -mode

    for color, want in ((Color.RED, 8), (Color.GREEN, -4), (Color.RED, 8)):
        out = np.zeros(4)
        kernel[1, 4](color, Mode.EXACT, out)
        assert (out == want).all()


def test_N11_int_members_count():
    add = njit(lambda m, k: m + k)
    assert add(Mode.FAST, 1) == 4 and add(1, Mode.EXACT) == 5 and add(np.int8(1), Mode.FAST) == 4
    assert njit("int32(int32)")(lambda m: m)(Mode.FAST) == 3


@pytest.mark.parametrize("source, error", [("x + 1", "cannot add Color.RED"), ("x < Color.BLUE", "cannot compare"), ("(x, 1)", "return"),
                                           ("Permission.READ | Permission.WRITE", "cannot or"), ("Color.MAUVE", "MAUVE")])
def test_N11_refusals(source, error):
    space = dict(Color=Color, Permission=Permission)
    exec(f"def f(x): return {source}", space)
    with pytest.raises(errors.TypingError, match=error):
        njit(space["f"])(Color.RED)


def test_N11_members_in_tuples_are_refused():
    with pytest.raises(errors.TypingError, match="argument of its own"):
        njit(lambda pair: 1)((Color.RED, 1))


def test_N11_members_are_not_kept_for_ever():
    f = njit(lambda member: 1)

    def use():
        Local = enum.Enum("Local", "A B")
        assert f(Local.A) == 1 and f(Local.B) == 1
        return weakref.ref(Local)

    gone = use()
    gc.collect()
    assert gone() is None
