"""Text with places for values in compiled code, "..." % values and "...".format(values), against CPython."""
import pytest

from objects import MEM_01_nothing_is_left, collected, outcomes  # noqa: F401

from quern import njit

INTS = [0, 1, -1, 42, -255, 2**40, True]
REALS = [0.0, -0.0, 1.0, 3.14159, -2.5e-7, 1e22, 123456.789, float("inf"), float("-inf"), float("nan"), 99.95]
WORDS = ["", "a", "text", "日本", "q'uote"]


def same(function, *args):
    fast, slow = outcomes(function, *args)
    assert repr(fast) == repr(slow), args


@njit
def percent(s, x):
    return s % x


@njit
def percents(s, x, y):
    return s % (x, y)


@njit
def formatted(s, x):
    return s.format(x)


@njit
def formatted_two(s, x, y):
    return s.format(x, y)


FLAGS = ["", "-", "0", "+", " ", "#", "-0", "+05", "8", "-8", "08", "08.3", ".0", ".3", "#.0", "12.5", "+ 8", "l", "ll"]


@pytest.mark.parametrize("letter", "diuoxXeEfFgGcsra")
def test_conversions(letter):
    for flags in FLAGS:
        s = f"<%{flags}{letter}>"
        for x in INTS + REALS:
            if not (letter == "c" and isinstance(x, float)):
                same(percent, s, x) if not (letter in "diu" and isinstance(x, float) and abs(x) >= 2.0**62) else None
        for x in WORDS:
            same(percent, s, x)


def test_of_what_has_no_such_form():
    for s in ["%c", "%d", "%x", "%e"]:
        for x in [1.5, "ab", -1, 0x110000, None, [1]]:
            fast, slow = outcomes(percent, s, x)
            assert isinstance(fast[0], tuple) == isinstance(slow[0], tuple) and (not isinstance(fast[0], tuple) or fast[0][0] is slow[0][0]), (s, x)


def test_several_values():
    for s in ["%d and %s", "%s%%%s", "%s", "%s %s %s", "none", "%", "%s %y", "%5", "%(a)s %s", "日 %s = %-4s|"]:
        for x, y in [(1, "b"), (2, "日")]:
            same(percents, s, x, y)
    same(njit(lambda p: "%d %s" % p), (1, "x"))
    same(njit(lambda: "%%" % ()))
    same(njit(lambda n, x: "n = %d, x = %.3f, %s" % (n, x, [n, n])), 3, 2.5)
    same(njit(lambda n: "%s" % None + "%r" % "it's" + "%a" % n), "é")


@pytest.mark.parametrize("s", ["{}", "{0}", "{:5}", "{0:<8}|", "{!r}", "{!s:>9}", "{!a}", "{{}}", "{{{}}}", "}", "{", "{}}", "{:", "{!x}", "{!", "{1}", "{}{}", "{0}{0}",
                               "{}{0}", "{0}{}", "", "plain", "日{}日", "{:,}", "{:08.3f}", "{!r:s", "{name}", "{!r }"])
def test_format(s):
    for x in [1, -12345, 2.5, "ab", "日", True]:
        fast, slow = outcomes(formatted, s, x)
        if isinstance(slow[0], tuple):
            assert fast[0][0] is slow[0][0], (fast, slow)
        else:
            assert fast == slow, (s, x)


def test_format_of_several():
    for s in ["{} {}", "{1} {0}", "{1}", "{:>4}{!r:>6}", "{2}", "{} {} {}"]:
        same(formatted_two, s, 1, "x")
        same(formatted_two, s, "x", 2.5)
    same(njit(lambda a: "a = {}, {:.2f}".format(a, a / 3)), 1)
    same(njit(lambda a: "{}".format("x") + "{}".format(None) + "{}".format(list((a, a)))), 1)
    same(njit(lambda: "{{}}".format()))


@njit
def formatted_by_name(s, x, y):
    return s.format(x, name=y, other=x)


NAMED = ["{name}", "{0}{name}{0}", "{} {name} {other:>4}|", "{name!r:>8}{}", "{name:>3}{name:<3}", "no", "{{name}}{name}"]
NOT_NAMED = ["{nam}", "{names}", "{1}", "{} {}", "{2}", "{}{0}", "{name}{", "{name", "{name!x}", "{Name}"]


@pytest.mark.parametrize("s", NAMED + NOT_NAMED)
def test_format_by_name(s):
    for x, y in ((1, "text"), (2.5, "q'uote"), ("日本", "b")):
        same(formatted_by_name, s, x, y)


def test_format_of_names_alone():
    same(njit(lambda a: "{a}{b}{a}".format(a=a, b=a + 1)), 3)
    same(njit(lambda a: ("{x:.2f} {y}".format(y=[a], x=a / 3), "{k}".format(k="z", unused=None))), 2)
    same(njit(lambda a: "{a}".format(b=a)), 2)


def test_lists_are_shown_as_lists():
    same(njit(lambda a: ("{}".format([a]), "{x}{0}".format([a, 1], x=[[a]]), "%s" % [a], "{!r}".format([]))), 2)


def test_what_is_refused():
    with pytest.raises(ValueError, match="no parts of values"):
        njit(lambda a: "{a[0]}".format(a=a))((1,))
    with pytest.raises(ValueError, match="nested"):
        formatted("{:{}}", 1)
    with pytest.raises(ValueError, match=r"\*"):
        percent("%*d", 1)
