"""Members of enumerations: globals, arguments of functions and kernels, results, items of tuples. At run time one is a number, its
int or its position in the class; it comes back as itself. One that is an int counts as that where a number is wanted."""
import enum
import gc
import math
import re
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
           "Mode.FAST + 1", "Mode.EXACT == 4", "Mode.FAST < Mode.EXACT", "Color['GREEN']", "Color['CRIMSON'] is x", "Mode['EXACT'] + 1",
           "x == Shape['RED']"]


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


@pytest.mark.parametrize("source, error", [("x + 1", "cannot add Color"), ("x < Color.BLUE", "cannot compare"), ("np.zeros(3)[x]", "index"),
                                           ("Permission.READ | Permission.WRITE", "cannot or"), ("Color.MAUVE", "MAUVE"),
                                           ("(1, 2)[x]", "index"), ("float(x)", "float"), ("math.sin(x)", "sin")])
def test_N11_refusals(source, error):
    space = dict(Color=Color, Permission=Permission, np=np, math=math)
    exec(f"def f(x): return {source}", space)
    with pytest.raises(errors.TypingError, match=error):
        njit(space["f"])(Color.RED)


class Level(enum.Enum):
    LOW = 1
    MIDDLE = 2.5
    HIGH = 4


class Flags(enum.IntFlag):
    A = 1
    B = 4
    ALL = 5


class Wide(enum.IntEnum):
    SMALL = 1
    HUGE = 2**70


INTS = ["x", "x is Mode.FAST", "x == Mode.FAST", "x != 4", "x == 3.0", "x + 1", "-x", "~x", "x << 2", "x / 2", "x < Mode.EXACT", "3 <= x",
        "x.value", "x.value + 0.5", "isinstance(x, Mode)", "isinstance(x, int)", "isinstance(x, enum.IntEnum)", "isinstance(x, Color)",
        "Mode.FAST", "Mode.EXACT.name == 'EXACT'", "Mode.FAST.value", "(x, 1)", "(x, (x, Mode.FAST))", "x in (Mode.FAST, 7)",
        "x in (Color.RED, 3)", "bool(x)", "10 if x else 20", "not x", "int(x)", "float(x)", "math.sqrt(x)", "max(x, 3)", "min(Mode.FAST, x)",
        "np.zeros(x).shape", "np.zeros((x, Mode.FAST)).shape", "np.ones(10)[x]", "(5, 6, 7, 8, 9)[x]",
        "len(range(x))", "x if x > 3 else Mode.FAST", "x if x > 3 else 1", "x if x > 3 else 0.5", "Mode.FAST if x is Mode.EXACT else Mode.EXACT",
        "sum((x, Mode.FAST))", "x == None", "x is None", "x is not Mode.EXACT", "x == Color.RED", "(x, 2) == (Mode.FAST, 2)", "abs(x)",
        "max((Mode.FAST, x))", "np.ones((5, 6))[x, Mode.FAST]", "np.ones((5, 6))[x:, :Mode.FAST].shape", "pow(x, 2)", "x ** x",
        "Flags.A", "Flags.A | Flags.B", "Flags.ALL + x", "Wide.SMALL", "divmod(x, 2)", "round(x)", "complex(x)", "Mode.FAST == Flags.B"]


JOINED = ["x if x > 3 else 1", "x if x > 3 else 0.5"]  # beside a number one counts as its int


@pytest.mark.parametrize("source", INTS)
def test_N11_ints_that_are_members(source):
    space = dict(enum=enum, math=math, np=np, Color=Color, Mode=Mode, Flags=Flags, Wide=Wide)
    exec(f"def f(x): return {source}", space)
    compiled = njit(space["f"])
    for member in (Mode.FAST, Mode.EXACT, Mode.FAST):
        got, want = compiled(member), space["f"](member)
        if isinstance(want, Flags) and "|" in source or isinstance(want, Wide) or source in ("-x", "~x"):
            want = int(want)  # CPython makes a new member, or the numbers are too wide
        if source in ("sum((x, Mode.FAST))", "max(x, 3)", "min(Mode.FAST, x)"):
            want = int(want)
        same_type = type(got) is type(want) or source in JOINED or isinstance(want, np.float64)
        assert got == want and same_type, (got, want)
        if isinstance(want, tuple):
            assert [type(g) for g in got] == [type(w) for w in want]
    assert len(compiled.signatures) == 1  # one for the class


MEETINGS = ["x if c else Color.RED", "Color.RED if c else Color.GREEN", "(Color.RED if c else Color.BLUE) is Color.BLUE",
            "(Color.RED if c else Color.BLUE) == x", "(Color.RED if c else x) != Color.CRIMSON", "((x, c) if c else (Color.GREEN, 1))[0]",
            "(x, Color.GREEN, 2)", "(Level.LOW if c else Level.HIGH).value", "(Level.LOW if c else Level.HIGH)",
            "(Level.MIDDLE if c else Level.HIGH).value * 2", "x if c else None", "None if c else x", "(x if c else None) is None",
            "isinstance(Color.RED if c else Color.BLUE, Color)", "isinstance(Color.RED if c else Color.BLUE, Shape)",
            "3 if (Color.RED if c else Color.BLUE) else 4", "(Color.RED if c else Color.GREEN) == (Shape.RED if c else Shape.RED)",
            "(Color.RED if c else Color.GREEN) in (Color.GREEN, Color.BLUE)", "(Color.BLUE, Color.GREEN)[c]",
            "(x, 1) == (Color.RED, 1)", "((Color.RED if c else Color.GREEN), c) == (Color.RED, True)", "(Color.RED if c else Color.GREEN) == 1"]


@pytest.mark.parametrize("source", MEETINGS)
def test_N11_members_meet(source):
    space = dict(Color=Color, Shape=Shape, Level=Level)
    exec(f"def f(x, c): return {source}", space)
    compiled = njit(space["f"])
    for member in (Color.RED, Color.GREEN, Color.BLUE):
        for c in (True, False):
            got, want = compiled(member, c), space["f"](member, c)
            assert got == want and (type(got) is type(want) or source.endswith((".value", "* 2")))
            if isinstance(want, enum.Enum):
                assert got is want


def test_N11_members_in_loops_and_callees():
    @njit
    def other(color):
        if color is Color.RED:
            return Color.GREEN
        if color is Color.GREEN:
            return Color.BLUE
        return Color.RED

    @njit
    def after(color, n):
        seen = 0
        for _ in range(n):
            color = other(color)
            seen += color is Color.BLUE
        return color, seen

    for start in Color:
        for n in range(5):
            assert after(start, n) == after.py_func(start, n)
    assert after(Color.RED, 1)[0] is Color.GREEN


def test_N11_members_in_tuples_are_arguments(device):
    @njit
    def f(pair):
        color, mode = pair[0]
        return pair[1], mode + 1, color, mode, color is Color.RED

    for color in Color:
        for mode in Mode:
            got = f(((color, mode), 7))
            assert got == (7, mode + 1, color, mode, color is Color.RED)
            assert got[2] is color and got[3] is mode and type(got[1]) is int
    assert len(f.signatures) == 1

    @cuda.jit
    def kernel(pair, mode, out):
        i = cuda.grid(1)
        if pair[0] is Color.BLUE:
            out[i] = mode
        elif pair[0] == Color.GREEN:
            out[i] = pair[1] * 10 + mode.value
        else:
            out[i] = -1

    for color, want in ((Color.RED, -1), (Color.GREEN, 43), (Color.BLUE, 3)):
        out = np.zeros(4)
        kernel[1, 4]((color, Mode.EXACT), Mode.FAST, out)
        assert (out == want).all()


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


def test_N11_a_name_is_known_where_the_member_is():
    assert njit(lambda x: x.name == "RED")(Color.RED) and njit(lambda: Mode.FAST.name == "FAST")()
    # what follows the join is long enough that no CPython copies it into both branches
    for c in (True, False):
        assert njit(lambda c: ((Color.RED if c else Color.BLUE).name == "RED") + c * c - c)(c) == c
        assert njit(lambda c, n: ((Color.RED if c else Color.BLUE).name, n * n - n))(c, 3) == ("RED" if c else "BLUE", 6)
    with pytest.raises(errors.TypingError, match="known only at run time"):
        njit(lambda c: (Mixed.ONE if c else Mixed.TWO).value + c * c - c)(True)


@pytest.mark.parametrize("source", ["Color.RED if c else 1", "Color.RED if c else Shape.RED", "Color.RED if c else 'RED'"])
def test_N11_what_members_do_not_meet(source):
    space = dict(Color=Color, Shape=Shape)
    exec(f"def f(c, n):\n x = {source}\n while n > 0: n -= 1  # no CPython copies this into both branches\n return x", space)
    with pytest.raises(errors.TypingError, match="Color"):
        njit(space["f"])(True, 2)


def test_N11_declared_signatures_take_int_members():
    f = njit(["float64(float64)", "int32(int32)"])(lambda m: m + m)
    assert f(Mode.FAST) == 6 and f(Mode.EXACT) == 8 and f(2) == 4
    doubled = cuda.jit("int64(int64)", device=True)(lambda m: m * 2)

    @cuda.jit
    def kernel(out, mode):
        out[0] = doubled(Mode.EXACT) + doubled(mode)

    out = np.zeros(1)
    kernel[1, 1](out, Mode.FAST)
    assert out[0] == 14


def test_N11_classes_are_not_kept_for_ever():
    same, first, count = njit(lambda m: m), njit(lambda pair: pair[0]), njit(lambda m: m + 1)

    def use():
        Plain = enum.Enum("Plain", "A B")
        Ints = enum.IntEnum("Ints", "A B")
        assert same(Plain.A) is Plain.A and first((Plain.B, 1)) is Plain.B and first(((Plain.B, 1), 2))[0] is Plain.B
        assert count(Ints.B) == 3 and same(Ints.A) is Ints.A and first((Ints.B, Ints.A)) is Ints.B
        return weakref.ref(Plain), weakref.ref(Ints)

    gone = use()
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
    assert not same.signatures and not first.signatures and not count.signatures


def test_N11_members_are_not_kept_for_ever():
    f = njit(lambda member: 1)

    def use():
        Local = enum.Enum("Local", "A B")
        assert f(Local.A) == 1 and f(Local.B) == 1
        return weakref.ref(Local)

    gone = use()
    gc.collect()
    assert gone() is None


# -- as keys -------------------------------------------------------------------------------------------------------

class Suit(enum.Enum):
    CLUBS = 1
    HEARTS = "red"
    SPADES = 3


def counted(n):
    found = {Suit.CLUBS: 0}
    for i in range(n):
        suit = Suit.CLUBS if i % 3 == 0 else Suit.HEARTS if i % 3 == 1 else Suit.SPADES
        found[suit] = found.get(suit, 0) + i
    del found[Suit.CLUBS]
    return found, Suit.CLUBS in found, found[Suit.SPADES], {Suit.HEARTS, Suit.HEARTS}, {(Suit.CLUBS, 1): 2}[(Suit.CLUBS, 1)]


def looked_up(prices, suits, pairs):
    prices[Suit.SPADES] = 7.5
    suits.discard(Suit.CLUBS)
    total = 0.0
    for suit, price in prices.items():
        if suit is Suit.HEARTS or suit in suits:
            total += price
    return total, pairs[(Suit.HEARTS, 2)], list(prices.keys())


def test_members_are_keys():
    assert njit(counted)(10) == counted(10)
    mine, theirs = [({Suit.CLUBS: 1.5, Suit.HEARTS: 2.5}, {Suit.CLUBS, Suit.SPADES}, {(Suit.HEARTS, 2): 3}) for _ in range(2)]
    assert njit(looked_up)(*mine) == looked_up(*theirs) and mine == theirs
    with pytest.raises(KeyError, match="a member of an enumeration"):
        njit(lambda d: d[Suit.CLUBS])({Suit.SPADES: 1})
    with pytest.raises(KeyError, match="a member of an enumeration"):
        njit(lambda s: s.remove(Suit.CLUBS))({Suit.SPADES})


def test_keys_of_two_enumerations_do_not_meet():
    class Other(enum.Enum):
        A = 1

    with pytest.raises(errors.TypingError, match="keys of Suit"):
        njit(lambda: {Suit.CLUBS: 1, Other.A: 2})()
    with pytest.raises(KeyError):
        njit(lambda d: d[Other.A])({Suit.CLUBS: 1})


# -- classes as collections of their members ---------------------------------------------------------------------------------


class Repeated(enum.Enum):
    FIRST = 1
    SECOND = 2
    AGAIN = 1


class Access(enum.Flag):
    NONE = 0
    READ = 1
    WRITE = 2
    BOTH = 3


def position_of(wanted):
    for i, member in enumerate(Repeated):
        if member == wanted:
            return i
    return -1


def with_value(k):
    for member in Repeated:
        if member.value == k:
            return member
    raise ValueError(k)


@pytest.mark.parametrize("f", [
    lambda: list(Repeated), lambda: tuple(Repeated), lambda: [m.name for m in Repeated], lambda: {m.name: m.value for m in Repeated},
    lambda: len(Repeated), lambda: list(enumerate(Repeated)), lambda: list(zip(Repeated, (1.5, 2.5))), lambda: list(reversed(Repeated)),
    lambda: {m: i for i, m in enumerate(Repeated)}[Repeated.AGAIN], lambda: set(Repeated), lambda: Repeated.SECOND in Repeated,
    lambda: list(Mode), lambda: sorted(Mode), lambda: max(Mode), lambda: sum([m.value for m in Mode]), lambda: Mode.FAST in Mode,
    lambda: [m for m in Access], lambda: len(Access), lambda: Access.READ in Access, lambda: sorted((Mode.EXACT, Mode.FAST))])
def test_classes_are_gone_over(f):
    assert njit(f)() == f()


def test_members_are_found_by_going_over_the_class():
    for member in Repeated:
        assert njit(position_of)(member) == position_of(member)
        assert njit(with_value)(member.value) is member
    with pytest.raises(ValueError):
        njit(with_value)(3)


class Number(enum.Enum):
    ONE = 1
    FIVE = 5
    SIX = 6



BY_VALUE = {cls.__name__: cls for cls in (Color, Number, Mode, Shape)}


@pytest.mark.parametrize("name", BY_VALUE)
@pytest.mark.parametrize("value", [1, 2.5, "b", 3, 5, -1, "x", True], ids=repr)
def test_a_member_by_its_value(name, value):
    cls = BY_VALUE[name]

    def f(x):
        return cls(x)

    def text(x):
        try:
            return cls(x).name
        except ValueError as error:
            return str(error)
    got, want = njit(f), None
    try:
        want = f(value)
    except ValueError as error:
        with pytest.raises(ValueError, match=f"^{re.escape(str(error))}$"):
            got(value)
    else:
        assert got(value) is want
    if cls in (Number, Mode):  # of others which it is, is not known before it runs
        assert njit(text)(value) == text(value)


class Grade(enum.IntEnum):
    LOW = 1
    HIGH = 5
    NEVER = -2
    TOP = 5  # another name of HIGH

    @property
    def label(self):
        return "grade " + self.name


def of_two(n):
    grade = Grade.LOW if n > 2 else Grade.TOP
    return grade.name, grade.value, grade, grade.label


def of_all(n):
    return [(grade.name, grade.label) for grade in Grade if grade > n]


def of_a_list(n):
    return [grade.name for grade in [Grade.NEVER, Grade.HIGH, Grade(n)]]


@pytest.mark.parametrize("f", [of_two, of_all, of_a_list, lambda n: Grade(n).name, lambda n: Grade(n).label], ids=lambda f: f.__name__)
def test_the_name_of_a_member_that_is_an_int(f):
    for n in (1, 5, -2):
        assert njit(f)(n) == f(n)


def test_flags_have_no_names_at_run_time():
    """What `|` makes of them is no member that the class names."""
    bits = enum.IntFlag("Bits", {"A": 1, "B": 2})

    def name(n):
        x = bits.A
        for _ in range(n):
            x = bits.B
        return x.name

    with pytest.raises(errors.TypingError, match="known only at run time"):
        njit(name)(1)
    assert njit(lambda grade: grade.name)(Grade.TOP) == "HIGH"


def test_a_member_of_many_by_its_value():
    words = enum.Enum("Words", {f"W{k}": f"w{k}" for k in range(60)})

    def f(x):
        return words(x), words(words.W3)
    assert njit(f)("w59") == (words.W59, words.W3)
    with pytest.raises(ValueError, match="'w60' is not a valid Words"):
        njit(f)("w60")


def test_flags_by_their_values_are_refused():
    with pytest.raises(errors.TypingError, match="name the members"):
        njit(lambda x: Permission(x))(3)


class Shifted(enum.EnumMeta):
    def __call__(cls, value, *args, **kwargs):
        return super().__call__(value - 1, *args, **kwargs)


class Off(enum.Enum, metaclass=Shifted):
    A = 1
    B = 2


def test_a_class_whose_calls_the_program_makes_is_not_looked_up_by_value():
    with pytest.raises(errors.QuernError):
        njit(lambda x: Off(x))(2)
