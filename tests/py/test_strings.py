"""Strings in compiled code, against CPython: every method over strings of all widths, as locals, arguments and results.

Every test ends with as many objects of compiled code as it began with."""
import random

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401

from quern import _quern, cuda, errors, njit


def outcome(function, args):
    import copy
    given = copy.deepcopy(args)
    try:
        return function(*given), given
    except Exception as e:  # noqa: BLE001
        return type(e), str(e), given


def same(function, *args):
    """Compiled and interpreted: results, arguments afterwards, and exceptions."""
    fast, slow = outcome(function, args), outcome(function.py_func, args)
    assert repr(fast) == repr(slow), args
    return fast[0]


# Of one byte, of two and of four, lone surrogates, white space and line ends of all kinds, letters whose case mappings are special.
TEXTS = ["", "a", "abc", "hello world", "Hello World", "  two  words ", "a,b,,c", "x" * 40, "ababab", "été", "naïve café", "\xa0\x85\x1cx\x1f",
         "αβγ", "ΑΣ ΟΔΟΣ Σ", "日本語 テキスト", "€12", "𝔸𝔹 😀😀", "😀", "\ud800", "a\udc80b", "\udfff\ud800", "line\nnext\r\nlast\r", "\n\n",
         "\u2028x\u2029y\x0bz\x0c", "tab\tsep\t\tend", "ǅ ǆ Ǆ", "ß ŉ ﬁ ﬃ İ ı", "0123", "-42", "+7", "٣٤", "½²③", "_name1", "\x00\x7f\x80", "ÿĀ\U00010000",
         "abc😀abcéabc", "aA1 bB2", "'q\"u\\o\te", "ab" * 30 + "é", "日" * 33]
SMALL = ["", "a", "b", "ab", " ", ",", "é", "日", "😀", "\ud800", "\n", "l", "o w"]


# -- each method ------------------------------------------------------------------------------------

def method(name, n, **keywords):
    """lambda s, ...: s.name(...), compiled."""
    names = [f"a{i}" for i in range(n)]
    given = names + [f"{k}={v!r}" for k, v in keywords.items()]
    scope = {}
    exec(f"def f({', '.join(['s'] + names)}): return s.{name}({', '.join(given)})", scope)
    return njit(scope["f"])


PLAIN = ["lstrip", "rstrip", "split", "splitlines", "strip", "rsplit", "expandtabs"]
ONE_TEXT = ["count", "endswith", "find", "index", "join", "lstrip", "partition", "removeprefix", "removesuffix", "rfind", "rindex",
            "rpartition", "rsplit", "rstrip", "split", "startswith", "strip"]
BOUNDS = ["count", "endswith", "find", "index", "rfind", "rindex", "startswith"]
WIDTHS = ["center", "ljust", "rjust", "zfill", "expandtabs"]


@pytest.mark.parametrize("name", PLAIN)
def test_method_without_arguments(name):
    f = method(name, 0)
    for s in TEXTS:
        same(f, s)


@pytest.mark.parametrize("name", ONE_TEXT)
def test_method_of_one_text(name):
    f = method(name, 1)
    for s in TEXTS:
        for a in SMALL:
            same(f, s, a)


@pytest.mark.parametrize("name", BOUNDS)
def test_method_with_bounds(name):
    f, g = method(name, 2), method(name, 3)
    for s in TEXTS[:12] + TEXTS[16:18]:
        for a in ["", "a", "b", "😀"]:
            for start in [-100, -3, 0, 1, 2, 50]:
                same(f, s, a, start)
                for stop in [-2, 0, 3, 100]:
                    same(g, s, a, start, stop)


@pytest.mark.parametrize("name", WIDTHS)
def test_method_with_width(name):
    f = method(name, 1)
    for s in TEXTS:
        for n in [-3, 0, 1, 4, 5, 8, 41]:
            same(f, s, n)


@pytest.mark.parametrize("name", ["center", "ljust", "rjust"])
def test_method_with_fill(name):
    f = method(name, 2)
    for s in TEXTS:
        for c in ["*", "é", "日", "😀", "", "ab"]:
            if len(c) == 1 or len(s) < 9:
                same(f, s, 9, c)


@pytest.mark.parametrize("name", ["split", "rsplit"])
def test_split_with_limit(name):
    f, g = method(name, 2), method(name, 0, maxsplit=1)
    for s in TEXTS:
        same(g, s)
        for sep in [",", " ", "ab", "日", ""]:
            for n in [-1, 0, 1, 2, 9]:
                same(f, s, sep, n)


def test_splitlines_with_ends():
    f = method("splitlines", 1)
    for s in TEXTS:
        same(f, s, True)


def test_replace():
    f, g = method("replace", 2), method("replace", 3)
    for s in TEXTS:
        for old in SMALL:
            for new in ["", "x", "日", "longer"]:
                same(f, s, old, new)
        for n in [-1, 0, 1, 2]:
            same(g, s, "a", "é", n)
            same(g, s, "", "-", n)


@njit
def one_of(s):
    return s.startswith(("he", "日", "a")), s.endswith(("c", "d", "\ud800")), s.startswith(()), s.startswith(("l", "e"), 1), s.endswith(("e", "l"), 0, -1)


def test_startswith_tuples():
    for s in TEXTS:
        same(one_of, s)


# -- operators and builtins ---------------------------------------------------------------------------

@njit
def sizes(s):
    return len(s), bool(s), not s


@njit
def at(s, i):
    return s[i]


@njit
def cut(s, i, k, step):
    return s[i:k], s[i:k:step], s[:k], s[i:], s[::step]


@njit
def compared(s, t):
    return s == t, s != t, s < t, s <= t, s > t, s >= t


@njit
def joined(s, t, n):
    return s + t, s * n, n * s, s in t, s not in t


@njit
def characters(s):
    n = 0
    out = ""
    for c in s:
        n = (n * 31 + ord(c)) % 1000003
        out = c + out
    return n, out, list(s), list(reversed(s))


@njit
def numbered(s):
    n = 0
    for i, c in enumerate(s):
        n += i * ord(c)
    for a, b in zip(s, s[1:]):
        n += a < b
    return n


def test_sizes_and_items():
    for s in TEXTS:
        same(sizes, s)
        for i in [-100, -len(s) - 1, -len(s), -2, -1, 0, 1, len(s) - 1, len(s), 100]:
            same(at, s, i)
        same(characters, s)
        same(numbered, s)


def test_slices():
    for s in TEXTS:
        for i in [-100, -2, 0, 1, 3, 100]:
            for k in [-3, 0, 2, 50]:
                for step in [-3, -1, 1, 2]:
                    same(cut, s, i, k, step)
        same(cut, s, 0, 1, 0)


def test_comparisons():
    for s in TEXTS:
        for t in TEXTS:
            same(compared, s, t)
            same(joined, s, t, 2)
        same(joined, s, "", -1)
        same(joined, s, s[:1], 0)


def test_comparison_of_widths():
    """A string may be held in wider code points than it needs: what is left of a wide one."""
    @njit
    def f(s, t):
        u = s[:-1]
        return u == t, t == u, u < t, u in t, t in u, u.find(t), t + u
    for s in ["abc", "", "été", "日本", "ab" * 9]:
        for last in ["x", "日", "😀"]:
            for t in [s, s[:-1], s + "x", "abc", "日本"]:
                same(f, s + last, t)


@njit
def code(c):
    return ord(c)


@njit
def character(i):
    return chr(i)


@njit
def codes(n):
    return ord("é") + n, ord("日"), ord("😀"), ord("\ud800"), ord("\0"), ord("a") == 97


@njit
def code_of_two():
    return ord("ab")


@njit
def code_of_none():
    return ord("")


@njit
def sum_of_numbers(text):
    total, i = 0, 0
    while i < len(text):
        number = 0
        while i < len(text) and ord("0") <= text[i] <= ord("9"):
            number = number * 10 + (np.int64(text[i]) - ord("0"))
            i += 1
        total += number
        i += 1
    return int(total)


def test_ord_of_what_is_written_down():
    same(codes, 3)
    same(code_of_two)
    same(code_of_none)
    same(sum_of_numbers, np.frombuffer(b"12,3:/4,,;0099,7", np.uint8))
    assert "a call" not in "".join(sum_of_numbers.inspect_loops().values())


def test_ord_and_chr():
    for c in TEXTS:
        same(code, c)
    for i in [-1, 0, 65, 255, 256, 0xD800, 0xFFFF, 0x10000, 0x10FFFF, 0x110000]:
        same(character, i)


# -- constants ----------------------------------------------------------------------------------------

GREETING = "hällo"


@njit
def constants(i):
    name = "one" if i == 1 else "zwei😀" if i == 2 else GREETING
    return name, len(name), name == "one", ("x", i), "abc"[i], "x,y".split(","), ",".join(["a", "b"]), "é" in name, len("日本")


@njit
def mode(s, kind="plain"):
    if kind == "plain":
        return s
    return s + kind


@njit
def nothing(s, flag):
    t = None if flag else s
    if t is None:
        return "none"
    return t + "!"


@njit
def vowels(s):
    n = 0
    for c in s:
        if c in "aeiou":
            n += 1
    for w in ["a", "bb", "ccc"]:
        n += len(w)
    for c in "xyz":
        n += ord(c)
    return n


@njit
def surrogate():
    return "\ud800", len("\udfff")


def test_constants():
    for i in range(3):
        same(constants, i)
    same(mode, "a")
    same(mode, "a", "b")
    same(nothing, "é", True)
    same(nothing, "é", False)
    for s in TEXTS:
        same(vowels, s)
    same(surrogate)


@njit
def folded(n):
    if "fast" == "fast":
        return n
    return n.this_is_never_looked_at


def test_constants_are_compared_when_compiling():
    assert folded(3) == 3


# -- in lists and tuples ------------------------------------------------------------------------------

@njit
def grown(words):
    words.append("new")
    words[0] = words[0] + "?"
    words.sort()
    return words, len(words), words[-1], "new" in words, words.count("new"), words.index("new")


@njit
def pairs(words):
    out = []
    for w in words:
        out.append((w, len(w)))
    return out


@njit
def nested(words):
    rows = [[w, w[::-1]] for w in words]
    rows.append(["last"])
    return rows, max([len(r) for r in rows])


@njit
def swapped(pair):
    a, b = pair
    return b, a, a + b, (b, (a,))


def test_lists_of_strings():
    for words in [["b", "a"], ["été", "日本", "😀", ""], ["\ud800"]]:
        same(grown, words)
        same(pairs, words)
        same(nested, words)
    same(swapped, ("x", "日"))


def test_what_was_not_changed_is_the_same_object():
    words = ["some words", "日本語"]
    held = list(words)
    out = njit(lambda w: (w, w[0], w.append("x")))(words)
    assert out[0] is words and out[1] is held[0] and words[0] is held[0] and words[1] is held[1]
    assert njit(lambda s: s)(held[0]) is held[0]


def test_subclasses_and_other_text_are_refused():
    class Name(str):
        pass

    f = njit(lambda s: s)
    class Octets(bytearray):
        pass

    for x in [Name("a"), Octets(b"a")]:
        with pytest.raises(errors.TypingError, match="text|bytes"):
            f(x)


# -- random programs --------------------------------------------------------------------------------------

@njit
def step(s, t, op, i, k):
    if op == 0:
        return s + t
    if op == 1:
        return s[i:k]
    if op == 2:
        return s.replace(t[:2], "é")
    if op == 3:
        return t.join([s, s[:i], t])
    if op == 4:
        return s.strip() + str_of(s.find(t))
    if op == 5:
        return s[::-1].ljust(i + 5, "日")
    if op == 6:
        return max(s.split("a"))
    if op == 7:
        return s * (k % 3) + t.rpartition("b")[2]
    return s.removeprefix(t) if s > t else t.removesuffix(s)


@njit
def str_of(n):
    return chr(65 + n % 26)


@pytest.mark.parametrize("seed", range(8))
def test_random_operations(seed):
    r = random.Random(seed)
    s, t = "start", "ab"
    for _ in range(400):
        args = s, t, r.randrange(9), r.randrange(-5, 20), r.randrange(-5, 20)
        made = same(step, *args)
        if r.random() < 0.3:
            made += r.choice(TEXTS)
        s, t = made[:60], r.choice([s[:7], r.choice(TEXTS)[:9], "a"])


# -- failures -------------------------------------------------------------------------------------------------

@njit
def much(s):
    out = ["x"]
    for part in s.split(","):
        out.append(part * 3 + "日" + part[::-1])
    return " ".join(out).replace("a", "bcd"), out


def test_MEM_02_every_allocation_fails_in_turn():
    much("a,b,c")
    for n in range(1, 200):
        _quern.test_fail_allocation(n)
        try:
            much("a,b,c")
        except MemoryError:
            continue
        finally:
            _quern.test_fail_allocation(0)
        break
    assert 10 < n < 199


def test_exceptions_leave_nothing():
    f = njit(lambda s, i: (s + s).split("a")[i])
    for _ in range(3):
        with pytest.raises(IndexError):
            f("banana" * 5, 1000)


def test_strings_that_no_memory_holds():
    f = njit(lambda s, n: s * n)
    with pytest.raises(MemoryError):
        f("ab", 2**62)


# -- kernels have no strings ---------------------------------------------------------------------------------------

def test_kernels_refuse_strings():
    @cuda.jit
    def kernel(s):
        pass

    with pytest.raises(errors.TypingError, match="text"):
        kernel[1, 1]("abc")

    @cuda.jit
    def makes(a):
        for c in "ab":
            a[0] += 1

    with pytest.raises(errors.NumbaError, match="text"):
        makes[1, 1](np.zeros(1))


@pytest.mark.parametrize("value, what", [("s[0] = 'x'", "str"), ("s.nothing()", "nothing"), ("s + 1", "add"), ("s - s", "subtract"), ("s < 1", "compare|order")])
def test_what_strings_cannot_do(value, what):
    scope = {}
    exec(f"def f(s):\n    {value}\n    return s", scope)
    with pytest.raises(errors.NumbaError, match=what):
        njit(scope["f"])("abc")


def test_methods_of_classes_by_themselves():
    def f(words, xs, d):
        list.append(xs, 3)
        return (list(map(str.upper, words)), sorted(words, key=str.lower), str.split(words[0], ","), "".join(filter(str.isalpha, "a1b2")), xs,
                dict.get(d, 7, 5), str.join("-", words))

    compiled = njit(f)(["b,c", "A"], [1], {1: 2})
    assert compiled == f(["b,c", "A"], [1], {1: 2})


def test_text_times_a_bool():
    def f(n):
        return ["-" * (n < i) + "+" * True + "z" * False + (n > 1) * "ab" for i in range(4)], b"a" * (n == 2), "Fizz" * (n % 3 == 0) + "Buzz" * (n % 5 == 0) or str(n)

    for n in (1, 2, 3, 5, 15):
        assert njit(f)(n) == f(n)
