"""bin, hex, oct, callable, str.translate, ndarray.tolist, print with file and flush, and text of what may be None (issue 8, parts 2 and 3)."""
import enum
import sys
import threading

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, same  # noqa: F401
from quern import errors, njit
from quern.experimental import jitclass
from quern import types


# -- ints in other bases -------------------------------------------------------------------------------------------

class Level(enum.IntEnum):
    LOW = 3


@njit
def based(n):
    return bin(n), oct(n), hex(n), bin(Level.LOW), hex(n // 3)


@pytest.mark.parametrize("n", [0, 1, -1, 255, -4096, 2**63 - 1, -2**63, True])
def test_bin_oct_hex(n):
    same(based, n)


def test_bin_oct_hex_of_numpys_numbers():
    f = njit(lambda a: [bin(x) + oct(x) + hex(x) for x in a])
    for a in (np.array([200, 7], np.uint8), np.array([-128, 127], np.int8), np.array([2**64 - 1], np.uint64)):
        same(f, a)


def test_bin_of_a_float_is_refused():
    with pytest.raises(errors.TypingError, match="are of ints"):
        njit(lambda x: bin(x))(1.5)


# -- callable ------------------------------------------------------------------------------------------------------

@jitclass([("x", types.int64)])
class Adder:
    def __init__(self, x):
        self.x = x

    def __call__(self, y):
        return self.x + y


@jitclass([("x", types.int64)])
class Plain:
    def __init__(self, x):
        self.x = x


@njit
def which(n, f):
    g = None
    if n > 0:
        g = f
    return (callable(len), callable(n), callable(f), callable("len"), callable(lambda x: x), callable(Adder(n)), callable(Plain(n)), callable(int),
            callable(np.sin), callable(None), callable(g), callable(Adder), callable((f, 1)))


@njit
def identity(x):
    return x


def test_callable():
    for n in (0, 1):
        assert which(n, identity) == which.py_func(n, identity)


# -- translate -----------------------------------------------------------------------------------------------------

@njit
def translated(s, x, y, z):
    by_two = str.maketrans(x, y)
    by_three = str.maketrans(x, y, z)
    of_dict = str.maketrans({"a": "<a>", "\xe4": "", "z": "\U0001d11e"})
    of_points = str.maketrans({97: 98, 98: 0x1f600})
    return (s.translate(by_two), s.translate(by_three), s.translate(of_dict), s.translate(of_points), s.translate({97: None, 98: None}),
            s.translate({98: "bb"}), by_two, by_three, "".translate(by_two), "aa".maketrans("a", "b"))


@pytest.mark.parametrize("s", ["", "abc", "zzzz", "\xe4ab\u65e5", "\U0001d11ea"])
@pytest.mark.parametrize("x, y, z", [("ab", "xy", ""), ("abc", "\u65e5\xe4a", "z"), ("", "", "ab"), ("a", "b", "a")])
def test_translate(s, x, y, z):
    same(translated, s, x, y, z)


def test_translate_of_the_wrong_thing():
    same(njit(lambda s: s.translate(str.maketrans("ab", "c"))), "a")
    same(njit(lambda s: s.translate(str.maketrans({s: "c"}))), "ab")
    same(njit(lambda s, n: s.translate({97: n})), "ab", -1)
    same(njit(lambda s, n: s.translate({97: n})), "ab", 0x110000)


def test_bytes_maketrans():
    f = njit(lambda s, x, y: (s.translate(bytes.maketrans(x, y)), bytes.maketrans(x, y), s.translate(bytearray.maketrans(x, y), b"c")))
    same(f, b"abcabc", b"ab", b"\x00\xff")
    same(f, b"abcabc", b"ab", b"x")


# -- tolist --------------------------------------------------------------------------------------------------------

ARRAYS = [np.arange(3), np.zeros((2, 0)), np.zeros((0, 2)), np.ones((2, 3, 2))[:, ::-1], np.array([[1.5, 0.1]], np.float32), np.array([1 + 2j], np.complex64),
          np.array([True, False]), np.array([200], np.uint8), np.array([2**64 - 1], np.uint64), np.array(7), np.array(["a", "bc"]), np.array([b"xy"])]


@pytest.mark.parametrize("a", ARRAYS, ids=lambda a: f"{a.dtype.str}{a.shape}")
def test_tolist(a):
    got, want = njit(lambda a: a.tolist())(a), a.tolist()
    assert repr(got) == repr(want)


def test_tolist_of_numbers_and_expressions():
    same(njit(lambda a: ((a * 2).tolist(), a[0].tolist(), np.float32(0.5).tolist(), sorted(a.tolist()), len(a.tolist()))), np.array([2.5, 1.5]))


def test_tolist_of_times_is_refused():
    with pytest.raises(errors.TypingError, match="Python's dates are no values"):
        njit(lambda a: a.tolist())(np.array(["2020-01-01"], "M8[D]"))


# -- print -----------------------------------------------------------------------------------------------------------

@njit
def printing(n):
    print("out", n)
    print("err", n, file=sys.stderr)
    print("a", n, sep="-", end="!", file=sys.stdout, flush=True)
    print(n, flush=n > 100, file=None)
    print(end="last\n", file=sys.stderr)


def test_print_to_a_stream(capsys):
    printing(3)
    compiled = capsys.readouterr()
    printing.py_func(3)
    assert compiled == capsys.readouterr()
    assert compiled.err == "err 3\nlast\n"


class Noted:
    def __init__(self):
        self.done = []

    def write(self, text):
        self.done.append(text)

    def flush(self):
        self.done.append("flush")


def test_print_looks_for_the_stream_when_it_writes_and_flushes(monkeypatch):
    printing(3)
    out, err = Noted(), Noted()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    printing(200)
    assert "".join(out.done) == "out 200\na-200!flush200\nflush" and "".join(err.done) == "err 200\nlast\n"


def test_what_flush_raises_comes_through(monkeypatch):
    class Broken(Noted):
        def flush(self):
            raise OSError("no space left")
    printing(3)
    monkeypatch.setattr(sys, "stdout", Broken())
    with pytest.raises(OSError, match="no space left"):
        printing(1)


def test_print_to_a_file_is_refused():
    file = open("/dev/null", "w")
    with file, pytest.raises(errors.TypingError, match="sys.stdout and sys.stderr|'file' has the type"):
        njit(lambda n: print(n, file=file))(1)
    with pytest.raises(errors.TypingError, match="compiled code prints to sys.stdout and sys.stderr"):
        njit(lambda n: print(n, file=n))(1)


# -- text of what may be None ------------------------------------------------------------------------------------------

def texts(absent, value):
    x = None if absent else value
    return str(x), repr(x), f"{x}", f"{x!r:>9}", "%s" % (x,), "{}".format(x), str([x, None]), str((x, 1)), ascii(x), isinstance(x, int), isinstance(x, (str, float))


@pytest.mark.parametrize("value", [3, 2.5, 1j, True, "text\xe4", b"bytes", (1, "a"), [1, 2], {1: 2.5}], ids=repr)
def test_text_of_what_may_be_None(value):
    f = njit(texts)
    for absent in (True, False):
        same(f, absent, value)


def test_a_specification_of_None():
    f = njit(lambda absent, value: f"{None if absent else value:>5}")
    same(f, True, 3)
    same(f, False, 3)
    same(f, True, "a")
    same(njit(lambda: f"{None:>5}"))


def test_printed(capsys):
    njit(lambda absent: print(None if absent else 3, None))(True)
    assert capsys.readouterr().out == "None None\n"


# -- in -----------------------------------------------------------------------------------------------------------------

@njit
def is_in(absent, x, items):
    y = None if absent else x
    return y in items, y not in items, None in items


CONTAINERS = [[1, 2], [3], {1: "a"}, {2.5: 1}, {1, 2}, (1, 2), (1, None)]


@pytest.mark.parametrize("items", CONTAINERS, ids=repr)
def test_in_with_what_may_be_None(items):
    for absent in (True, False):
        for x in (1, 2.5):
            same(is_in, absent, x, items)


def test_in_ranges():
    f = njit(lambda absent, x, n: ((None if absent else x) in range(n), (None if absent else x) not in range(n, 0, -2), None in range(n)))
    for absent in (True, False):
        for x in (0, 1, 2, 1.0, 2.5):
            same(f, absent, x, 3)


def test_in_of_text_arrays_and_lists_of_optionals():
    for absent in (True, False):
        same(is_in, absent, "a", ["a", "b"])
        same(is_in, absent, "a", {"a": 1})
        same(njit(lambda absent, n: ((None if absent else n) in [1, None, n], None in [n, None], {n: 1}.get(None if absent else n, -1))), absent, 5)
        f = njit(lambda absent, a: ((None if absent else 1) in a, (None if absent else 7) not in a))
        assert f(absent, np.array([1, 2])) == (not absent, True)


def test_keys_that_are_None_are_missing():
    f = njit(lambda absent: {1: 2}[None if absent else 1])
    with pytest.raises(KeyError):
        f(True)
    same(f, False)


def test_in_text_None_is_a_TypeError():
    with pytest.raises(TypeError):
        njit(lambda absent: (None if absent else "a") in "abc")(True)


def test_print_in_another_thread():
    """Threads other than the main one print through sys.stdout, too."""
    done = Noted()
    before, sys.stdout = sys.stdout, done
    try:
        worker = threading.Thread(target=printing, args=(1,))
        worker.start()
        worker.join()
    finally:
        sys.stdout = before
    assert "a-1!" in "".join(done.done)
