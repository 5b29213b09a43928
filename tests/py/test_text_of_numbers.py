"""str(), repr(), format() and f-strings, int() and float() of text, upper and lower case, in compiled code, against CPython."""
import math
import random
import struct

import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401
from test_strings import TEXTS, same

from quern import errors, njit

# -- questions and cases, over all of Unicode -----------------------------------------------------------

QUESTIONS = ["isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isprintable", "isspace", "istitle",
             "isupper"]
CASES = ["capitalize", "casefold", "lower", "swapcase", "title", "upper"]


def method(name):
    scope = {}
    exec(f"def f(s): return s.{name}()", scope)
    return njit(scope["f"])


@pytest.mark.parametrize("name", QUESTIONS)
def test_question(name):
    f = method(name)
    for s in TEXTS + ["Hello world", "Hello World", "hELLO", "A1", "1a", "_", "x y", "Aǅ", "ǅa", "ΑΣ", "İ", "²½", "a\u0301"]:
        same(f, s)
    scope = {}
    exec(f"def count(first, last, out):\n    for i in range(first, last):\n        out[i] = chr(i).{name}()\n", scope)
    out = np.zeros(0x110000, bool)
    njit(scope["count"])(0, 0x110000, out)
    want = np.fromiter(map(getattr(str, name), map(chr, range(0x110000))), bool, 0x110000)
    assert np.flatnonzero(out != want).tolist() == []


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    f = method(name)
    for s in TEXTS + ["Hello world", "they're bill's", "ΑΣ", "ΑΣ.", "ΑΣ Α", "Σ", "ΑΣΑ", "ΑΣ\u0301", "Α\u0301Σ", "1Σ", "ßß ﬁ İI", "ǆ Ǆ ǅ", "ŉ'"]:
        same(f, s)
    for first in list(range(0, 0x20000, 0x100)) + [0x10FF00, 0xE0000]:
        s = " ".join(map(chr, range(first, first + 0x100)))
        assert f(s) == getattr(s, name)()
        s = "".join(map(chr, range(first, first + 0x100)))
        assert f(s) == getattr(s, name)()


def test_repr_and_ascii_of_text():
    f = njit(lambda s: (repr(s), ascii(s), f"{s!r}", f"{s!a}", f"{s!s}"))
    for s in TEXTS + ["'", '"', "'\"", "\\", "\x00\x1f\x7f\x80\xad", "\u200b", "\ue000", "\U000e0001"]:
        same(f, s)
    for first in range(0, 0x11000, 0x100):
        s = "".join(map(chr, range(first, first + 0x100)))
        assert f(s)[:2] == (repr(s), ascii(s))


# -- numbers ----------------------------------------------------------------------------------------------

FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e16, 9999999999999998.0, 1e17, 123456789012345680.0, 1e-4, 0.00012345, 1e-5, 5e-324, 2.2250738585072014e-308,
          1.7976931348623157e308, math.inf, -math.inf, math.nan, 2.0**-44, 2.0**60, 9007199254740993.0, 1 / 3, 100.0, 1e22, 1e23, 0.5, 2.5,
          1.005, 999.9995, 12345.678, 0.000099999]
INTS = [0, 1, -1, 7, 10, 99, 100, -1000, 12345, 10**6, 2**31, 2**63 - 1, -(2**63), 255, 65]


@njit
def text(x):
    return str(x), repr(x), f"{x}", format(x), ascii(x)


def some_floats(seed, n):
    r = random.Random(seed)
    for _ in range(n):
        x = struct.unpack("<d", r.randbytes(8))[0]
        yield x
        yield round(r.uniform(-1000, 1000), r.randrange(8))
        yield r.random() * 10.0 ** r.randrange(-10, 20)
        yield math.ldexp(1.0, r.randrange(-1074, 1024))


def test_shortest_floats():
    for x in FLOATS:
        same(text, x)
    shown = njit(lambda x: repr(x))
    for x in some_floats(1, 4000):
        assert shown(x) == repr(x)
    for e in range(-1074, 1024):
        assert shown(2.0**e) == repr(2.0**e)


def digits(text):
    return text.split("e")[0].replace(".", "").strip("-0")


def test_shortest_float32():
    """Its digits are NumPy's; where an exponent is written, versions of NumPy differ: here as of Python's floats."""
    shown = njit(lambda x: str(x))
    r = random.Random(2)
    for _ in range(3000):
        x = np.frombuffer(r.randbytes(4), np.float32)[0]
        assert digits(shown(x)) == digits(str(x)) and (np.float32(shown(x)) == x or x != x)
    a = np.array([0.1, 1e10, 3e-5, 16777216.0], np.float32)
    assert njit(lambda a, i: str(a[i]) + f"{a[i]}")(a, 0) == "0.1" + f"{a[0]}"


def test_ints_bools_and_none():
    for n in INTS:
        same(text, n)
    same(text, True)
    same(text, False)
    same(text, None)
    for x in [1 + 2j, -0.0j, 0j, complex(-0.0, 1), 1e20j, complex(1.5, -math.inf), complex(math.nan, -0.0), 3 + 0j]:
        same(text, x)
    assert njit(lambda x: str(x))(np.uint64(2**64 - 1)) == str(2**64 - 1) and njit(lambda x: str(x))(np.int8(-128)) == "-128"


def test_lists():
    f = njit(lambda xs: (str(xs), repr(xs), f"{xs}"))
    for xs in [[1, 2], [1.5], ["a", "b'c"], [[1], [2, 3]], [True]]:
        same(f, xs)


# -- specifications ---------------------------------------------------------------------------------------------

@njit
def shown(x, spec):
    return format(x, spec)


SPECS = ["", "5", "<5", ">8", "^9", "=8", "*^12", "é>10", "😀<9", "+", " ", "-", "+8", "08", "020", ",", "_", "012,", "016_", "<015", "^+12"]
INT_SPECS = SPECS + ["d", "x", "X", "o", "b", "#x", "#X", "#o", "#b", "#010x", "_x", "_b", "#_b", "030_b", ",d", "+d", "n", "c", "e", ".2f", "g", "%", ".1%"]
FLOAT_SPECS = SPECS + ["f", "F", "e", "E", "g", "G", "%", ".0f", ".1f", ".2f", ".10f", ".0e", ".3e", ".20e", ".3g", ".0g", ".17g", ".3", ".0", ".10",
                       "10.2f", "<10.2f|"[:-1], "^+12.3e", "012.4f", ",.2f", "_.3f", "018,.2f", "#.0f", "#.3g", "#g", "#.0e", ".1%", "z.1f", "z", "n",
                       ".400f", "+.1f", " .1f"]
BAD_SPECS = ["y", "5y", "dd", "=", ".", ".x", ",_", "_,", "s", ",x", ".3d", "+c", "#c", ",c", "zd", " s", "+s", "#s", "=5s", ",s", "z"]


@pytest.mark.parametrize("specs, values", [(INT_SPECS, [n for n in INTS if n < 0x110000 or n > 10**6]), (FLOAT_SPECS, FLOATS), (SPECS, [True, False])],
                         ids=["int", "float", "bool"])
def test_format(specs, values):
    for spec in specs:
        for x in values:
            if spec != "c" or 0 <= x < 0x110000:
                same(shown, x, spec)


def test_format_of_text():
    for spec in ["", "s", "5", "<5", ">8s", "^9", "*^12", "é>10", ".2", "10.3s", "05", "<", "😀^7.1"]:
        for s in ["", "a", "hello", "日本語", "😀é"]:
            same(shown, s, spec)


def test_random_formats():
    r = random.Random(3)
    for _ in range(3000):
        spec = r.choice(["", "*", "0"]) and r.choice(["*", "x"]) + r.choice("<>=^")
        spec += r.choice(["", "+", " ", "-"]) + r.choice(["", "#"]) + r.choice(["", "0"]) + r.choice(["", str(r.randrange(30))]) + r.choice(["", ",", "_"])
        if r.random() < 0.5:
            same(shown, r.choice(INTS), spec + r.choice(["", "d", "x", "b", "o", "X"]))
        else:
            same(shown, next(some_floats(r.random(), 1)), spec + r.choice(["", f".{r.randrange(20)}"]) + r.choice(["", "f", "e", "g", "%", "G"]))


def test_wrong_formats():
    """The exception; its words where these are those of all CPythons."""
    for spec in BAD_SPECS:
        for x in [5, 1.5, "abc"]:
            try:
                want = format(x, spec)
            except (ValueError, OverflowError) as e:
                with pytest.raises(type(e)):
                    shown(x, spec)
            else:
                assert shown(x, spec) == want


@njit
def report(name, x, n, w):
    return f"{name:>{w}}: {x:.2f} ({n:,} of them, {n / 7:.1%}, {x!r}){name}"


def test_f_strings():
    same(report, "total", 2.345, 12345, 9)
    same(report, "日本", -0.001, -7, 3)
    same(njit(lambda x: f"{x}"), 5)
    same(njit(lambda x: f""), 5)  # noqa: F541
    same(njit(lambda x: f"{{{x}}}"), 5)
    same(njit(lambda x: f"{x:{x}}"), 5)
    same(njit(lambda a: f"{a[0]:.3f} {len(a)}"), np.arange(3.0) + 0.5)


# -- numbers of text ---------------------------------------------------------------------------------------------

@njit
def to_int(s):
    return int(s)


@njit
def to_int_base(s, base):
    return int(s, base)


@njit
def to_float(s):
    return float(s)


NUMBERS = ["0", "1", "-1", "+5", "  42 ", "\t7\n", "1_000", "_1", "1_", "1__0", "", " ", "-", "+", "--1", "1 2", "٣٤", "１２", "0x10", "0b1", "abc", "é", "1é",
           "9223372036854775807", "-9223372036854775808", "00012", "0_0", "1.0", "²", "\ud800", "12\x00"]


def test_int_of_text():
    for s in NUMBERS:
        same(to_int, s)
    for s in ["10", "ff", "FF", "0xff", "0XfF", "0b101", "0o17", "z", "Zz", "010", "0", "00", "0x", "0x_1", "0_x1", "1_f", "0b2", "", "-0x1F", "+ 1", "٣"]:
        for base in [0, 2, 8, 10, 16, 36, 1, 37, -1]:
            same(to_int_base, s, base)
    same(njit(lambda: int("12") + int("ff", 16)))
    for s in ["9223372036854775808", "-9223372036854775809", "1" * 40]:
        with pytest.raises(OverflowError, match="64 bits"):
            to_int(s)


def test_float_of_text():
    for s in NUMBERS + ["1.5", ".5", "5.", ".", "1e5", "1E-5", "1e", "e5", "1e+", "1.5e3_0", "1_0.5", "1_.5", "1._5", "1e_5", "nan", "-NaN", "inf", "-Infinity",
                        "+INF", "infinit", "1e400", "-1e400", "1e-400", "1e99999999999999999999", "0x1p3", "1,5", "1.2.3", "٣.٤", " 1.5\xa0", "1e5 x",
                        "0." + "0" * 400 + "1e401", "123456789" * 50 + "e-449"]:
        same(to_float, s)
    for x in some_floats(4, 1000):
        if x == x:
            assert to_float(repr(x)) == x and to_float(f"{x:.25e}") == x


# -- exceptions with text --------------------------------------------------------------------------------------------

@njit
def checked(x, name):
    if x > 3:
        raise ValueError(f"bad {name}: {x}")
    if x < 0:
        raise KeyError(name, x, "constant", name + "!")
    return x


@njit
def caught(n):
    bad = 0
    for i in range(n):
        try:
            checked(i, str(i))
        except ValueError:
            bad += 1
    return bad


def test_exceptions_with_text():
    for x in [5, 1, -1]:
        same(checked, x, "é")
    assert caught(20) == 16
    with pytest.raises(ValueError, match="^bad x: 9$") as info:
        njit(lambda: checked(9, "x"))()
    assert info.value.args == ("bad x: 9",)

    @njit
    def again(x):
        try:
            return checked(x, "first")
        except ValueError as e:
            raise TypeError("second " + str(x)) from e

    with pytest.raises(TypeError, match="second 7") as info:
        again(7)
    assert str(info.value.__cause__) == "bad first: 7"


def test_exceptions_with_text_from_parallel_loops():
    from quern import prange

    @njit(parallel=True)
    def f(n):
        total = 0
        for i in prange(n):
            if i >= 5:
                raise ValueError(f"item {i}")
            total += i
        return total

    for _ in range(5):
        with pytest.raises(ValueError, match="item "):
            f(10000)


def test_kernels_refuse_f_strings():
    from quern import cuda

    @cuda.jit
    def kernel(a):
        a[0] = len(f"{a[0]}")

    with pytest.raises(errors.NumbaError, match="in a kernel"):
        kernel[1, 1](np.zeros(1))


def test_hash_is_pythons():
    from quern.library import strings

    hashed = njit(strings.hash_)
    for s in TEXTS:
        assert hashed(s + "") == hash(s)
        assert njit(lambda s: strings.hash_(s[:-1]))(s + "😀") == hash(s)
