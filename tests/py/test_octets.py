"""bytes and bytearrays in compiled code, against CPython: every method, operators, arguments that are written back, keys.

Every test ends with as many objects of compiled code as it began with."""
import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from objects import MEM_01_nothing_is_left, collected, each_allocation_fails, live, outcomes  # noqa: F401

from quern import cuda, errors, njit
from quern.typed import Dict, List

OCTETS = [b"", b"a", b"abc", b"hello world", b"Hello World", b"  two  words ", b"a,b,,c", b"x" * 40, b"ababab", bytes(range(256)), b"\xa0\x85\x1cx\x1f",
          b"line\nnext\r\nlast\r", b"\n\n", b"tab\tsep\t\tend", b"0123", b"-42", b"+7", b"_n1", b"aA1 bB2", b"'q\"u\\o\te", b"it's", b"\xff\x00", b"ABC", b"1a A1"]
SMALL = [b"", b"a", b"b", b"ab", b" ", b",", b"\xff", b"\n", b"l", b"o w"]
KINDS = [bytes, bytearray]


def same(function, *args):
    fast, slow = outcomes(function, *args)
    assert repr(fast) == repr(slow), args
    return fast[0]


def expression(source, arguments):
    scope = {}
    exec(f"def f({arguments}): return {source}", scope)
    return njit(scope["f"])


def method(name, n):
    names = ", ".join(f"a{i}" for i in range(n))
    return expression(f"s.{name}({names})", ", ".join(["s"] + ([names] if n else [])))


PLAIN = ["capitalize", "decode", "expandtabs", "hex", "isalnum", "isalpha", "isascii", "isdigit", "islower", "isspace", "istitle", "isupper", "lower",
         "lstrip", "rsplit", "rstrip", "split", "splitlines", "strip", "swapcase", "title", "upper"]
ONE = ["count", "endswith", "find", "index", "lstrip", "partition", "removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "rsplit", "rstrip",
       "split", "startswith", "strip"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [n for n in PLAIN if n != "decode"])
def test_method_without_arguments(name, kind):
    f = method(name, 0)
    for s in OCTETS:
        same(f, kind(s))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ONE)
def test_method_of_others(name, kind):
    f = method(name, 1)
    for s in OCTETS:
        for a in SMALL:
            same(f, kind(s), a)
            if name not in ("partition", "rpartition"):  # what separates is of the class of the others
                same(f, kind(s), bytearray(a))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["count", "find", "index", "rfind", "rindex"])
def test_numbers_are_looked_for(name, kind):
    f, g = method(name, 1), method(name, 3)
    for s in OCTETS:
        for c in [-1, 0, 10, 97, 255, 256]:
            same(f, kind(s), c)
            same(g, kind(s), c, 1, -1)


@pytest.mark.parametrize("name", ["count", "endswith", "find", "index", "rfind", "rindex", "startswith"])
def test_method_with_bounds(name):
    f = method(name, 3)
    for s in OCTETS[:12]:
        for a in [b"", b"a", b"b"]:
            for start in [-100, -3, 0, 1, 50]:
                for stop in [-2, 0, 3, 100]:
                    same(f, s, a, start, stop)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["center", "ljust", "rjust", "zfill", "expandtabs"])
def test_method_with_width(name, kind):
    f = method(name, 1)
    for s in OCTETS:
        for n in [-3, 0, 1, 4, 5, 8, 41]:
            same(f, kind(s), n)


@pytest.mark.parametrize("kind", KINDS)
def test_replace_translate_fill_and_join(kind):
    replace, some, center = method("replace", 2), method("replace", 3), method("center", 2)
    for s in OCTETS:
        for old in SMALL:
            same(replace, kind(s), old, b"xy")
            same(some, kind(s), old, b"", 2)
        same(center, kind(s), 9, b"*")
    table = bytes(255 - i for i in range(256))
    translate, delete = method("translate", 1), method("translate", 2)
    for s in OCTETS:
        same(translate, kind(s), table)
        same(translate, kind(s), b"short")
        same(delete, kind(s), table, b"ab\xff")
        same(delete, kind(s), None, b"ab\xff")
    join = method("join", 1)
    for items in [[b"a"], [b"a", b"", b"xyz"], [b""] * 3]:
        same(join, kind(b", "), items)
        same(join, kind(b""), items)
        same(join, kind(b", "), [bytearray(x) for x in items])
    same(expression("s.join(())", "s"), kind(b", "))
    hexed = method("hex", 2)
    for s in OCTETS:
        for n in [-3, -2, 0, 1, 2, 5]:
            same(hexed, s, ":", n)
    same(hexed, b"abc", "", 1)
    same(expression("s.hex(b'-')", "s"), kind(b"abc"))


@pytest.mark.parametrize("kind", KINDS)
def test_operators(kind):
    sources = ["a + b", "a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b", "b in a", "b not in a", "not a", "len(a)"]
    compiled = [expression(s, "a, b") for s in sources]
    for other in KINDS:
        for x in OCTETS[:9] + OCTETS[-3:]:
            for y in SMALL:
                for f in compiled:
                    same(f, kind(x), other(y))
    times = expression("(a * n, n * a)", "a, n")
    for n in [-1, 0, 1, 3]:
        same(times, kind(b"ab"), n)
    inside = expression("n in a", "a, n")
    for n in [-1, 0, 97, 255, 256]:
        same(inside, kind(b"abc\xff"), n)
    assert njit(lambda a: (a == "abc", a != "abc"))(kind(b"abc")) == (False, True)
    one = njit(lambda a, b: (a is a, a is not a, a is b, a is not b))
    assert [one(kind(b"abc"), other(b"abc")) for other in KINDS] == [(True, False, False, True)] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_items_and_slices(kind):
    item, part, stepped = expression("a[i]", "a, i"), expression("a[i:j]", "a, i, j"), expression("a[i:j:k]", "a, i, j, k")
    for s in [b"", b"x", bytes(range(250, 256)), b"abcdefgh"]:
        for i in [-9, -8, -1, 0, 1, 5, 8]:
            same(item, kind(s), i)
            same(item, kind(s), np.uint64(abs(i)))
            for j in [-100, -2, 0, 3, 100]:
                same(part, kind(s), i, j)
                for k in [-3, -1, 0, 1, 2]:
                    same(stepped, kind(s), i, j, k)
    for source in ["list(a)", "sorted(a)", "[(i, x) for i, x in enumerate(a)]", "[x for x in reversed(a)]", "sum(a)", "[p for p in zip(a, a[1:])]", "set(a)"]:
        same(expression(source, "a"), kind(b"hello"))
    same(expression("max(a) + min(a)", "a"), kind(b"hello"))


def test_items_are_ints_that_do_not_wrap():
    assert njit(lambda a: a[0] + a[1] * a[2])(b"\xff\xff\xff") == 255 + 255 * 255
    assert njit(lambda a: a[0] - a[1])(bytearray(b"\x00\x01")) == -1


def test_text_of_them():
    for source in ["repr(a)", "str(a)", "f'{a}'", "[a, a].__class__ is list"][:3]:
        f = expression(source, "a")
        for s in OCTETS:
            same(f, s)
            if b"'" not in s:  # the escapes differ between interpreters
                same(f, bytearray(s))
    number, real = expression("int(a)", "a"), expression("float(a)", "a")
    for s in [b"12", b" -7\n", b"+1_000", b"", b"x", b"1\xa0", b"\xb2", b"1.5"]:
        for kind in KINDS:
            same(number, kind(s))
        assert (outcomes(real, s)[0][0]) == (outcomes(real, s)[1][0])


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "ascii", "latin-1", "iso_8859-1"])
def test_encode_and_decode(encoding):
    decode, lenient = method("decode", 1), method("decode", 2)
    encode, lossy = method("encode", 1), method("encode", 2)

    def agree(f, *args):
        fast, slow = outcomes(f, *args)
        if isinstance(slow[0], tuple):  # UnicodeError with the text of its subclasses
            assert fast[0][0] is UnicodeError and issubclass(slow[0][0], UnicodeError)
            with pytest.raises(UnicodeError) as got:
                f(*args)
            with pytest.raises(UnicodeError) as want:
                f.py_func(*args)
            assert str(got.value) == str(want.value).replace("'iso_8859-1' codec", "'latin-1' codec").replace("'iso8859-1' codec", "'latin-1' codec")
        else:
            assert fast == slow, args

    texts = ["", "abc", "été", "日本", "a😀b", "\ud800", "x\udfff\ud800y", "\x7f\x80\xff\u0100"]
    for s in texts:
        agree(encode, s, encoding)
        for how in ["strict", "ignore", "replace"]:
            agree(lossy, s, encoding, how)
    broken = [b"\x80", b"\xc3", b"\xc3(", b"\xe2\x82", b"\xe2(\xa1", b"\xf0\x9f\x98", b"\xf0\x28\x8c\xbc", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80",
              b"\xf4\x90\x80\x80", b"a\xffb\xfec", b"\xe0\x80\x80", b"ok \xe2\x82\xac \xf0\x9f\x98\x80", b"\xf0\x9f\x98x", b"\xef\xbf\xbd\xff"]
    for b in OCTETS + broken + [s.encode("utf-8", "ignore") for s in texts]:
        for kind in KINDS:
            agree(decode, kind(b), encoding)
            for how in ["ignore", "replace"]:
                agree(lenient, kind(b), encoding, how)


@pytest.mark.parametrize("how", ["strict", "ignore", "replace"])
def test_any_bytes_decode_as_in_python(how):
    from hypothesis import given
    f = method("decode", 2)

    @settings(deadline=None)
    @given(st.binary(max_size=12))
    def each(b):
        try:
            want = b.decode("utf-8", how)
        except UnicodeError as e:
            want = str(e)
        try:
            got = f(b, "utf-8", how)
        except UnicodeError as e:
            got = str(e)
        assert got == want

    each()


def test_making_them():
    for kind in KINDS:
        name = kind.__name__
        same(expression(f"{name}()", "a"), 1)
        made = expression(f"{name}(a)", "a")
        for given in [0, 5, -1, [1, 2, 255], [256], [-1], (7, 8), b"abc", bytearray(b"abc"), {5}]:
            same(made, given)
        same(made, np.arange(3, dtype=np.uint8))
        same(made, np.arange(3, dtype=np.int32)[::-1])
        same(expression(f"{name}('héé', 'utf-8')", "a"), 1)
        same(expression(f"{name}('héé', 'ascii', 'replace')", "a"), 1)
        same(expression(f"{name}(range(a))", "a"), 4)
        same(expression(f"{name}(x * x for x in range(a))", "a"), 17)
    same(expression("a.tobytes()", "a"), np.arange(6.0).reshape(2, 3).T)


def test_partition_gives_one_class():
    assert njit(lambda a, b: a.partition(b))(b"a,b", bytearray(b",")) == (b"a", b",", b"b")


def test_hashes_and_keys():
    f = njit(lambda a: hash(a))
    for s in OCTETS:
        assert f(s) == hash(s)
        assert njit(lambda a, b: hash(a + b))(s, b"1") == hash(s + b"1")

    @njit
    def words(text):
        out = {}
        seen = set()
        for w in text.split():
            out[w] = out.get(w, 0) + 1
            seen.add(w)
        return out, seen

    same(words, b"a b a c b a")

    @njit
    def add(d, k):
        d[k] = len(k)
        return d[(b"abc")] if b"abc" in d else 0

    same(add, {b"abc": 1}, b"xyz")
    with pytest.raises(errors.UnsupportedError):
        njit(lambda a: {a: 1})(bytearray(b"x"))
    with pytest.raises(errors.TypingError):
        njit(lambda a: hash(a))(bytearray(b"x"))


def test_typed_containers_hold_bytes():
    d = Dict()
    d[b"one"] = 1
    d[b"two"] = 2

    @njit
    def more(d, k):
        d[k] = 3
        return d[b"one"]

    assert more(d, b"three") == 1 and dict(d) == {b"one": 1, b"two": 2, b"three": 3}
    xs = List()
    xs.append(b"x")
    njit(lambda xs: xs.append(b"y" + xs[0]))(xs)
    assert list(xs) == [b"x", b"yx"]
    with pytest.raises((errors.TypingError, TypeError)):
        List().append(bytearray(b"x"))


def test_bytearrays_are_written_back():
    @njit
    def change(a, b):
        a[0] = 65
        a.append(66)
        b += b"!"
        return a, len(b)

    same(change, bytearray(b"xyz"), bytearray(b""))
    one = bytearray(b"x")
    got, n = change(one, one)  # one object in two places
    assert got is one and one == b"AB!" and n == 3

    @njit
    def fails(a, i):
        a.append(1)
        return a[i]

    same(fails, bytearray(b"x"), 5)
    inner = bytearray(b"q")
    xs = [inner, bytearray(b"r"), inner]

    @njit
    def in_list(xs):
        xs[0].append(49)
        xs.append(bytearray(b"new"))
        return xs[2]

    assert in_list(xs) is inner and inner == b"q1" and xs == [b"q1", b"r", b"q1", b"new"] and xs[0] is inner
    d = {"a": bytearray(b"1")}
    njit(lambda d: d["a"].extend(b"23"))(d)
    assert d == {"a": b"123"}
    viewed = bytearray(b"abc")
    with memoryview(viewed):
        njit(lambda a: a.reverse())(viewed)
        assert viewed == b"cba"
        with pytest.raises(BufferError):
            njit(lambda a: a.append(1))(viewed)
    assert viewed == b"cba"


@pytest.mark.parametrize("value", [b"", b"xy", bytearray(b"12345"), [1, 2], [300]])
def test_slices_are_assigned_and_deleted(value):
    @njit
    def assign(a, i, j, k, value):
        a[i:j:k] = value
        return len(a)

    @njit
    def delete(a, i, j, k):
        del a[i:j:k]
        return len(a)

    for i in [-7, 0, 2, 9]:
        for j in [-1, 1, 4, 99]:
            for k in [-2, -1, 1, 2, 3]:
                same(assign, bytearray(b"abcdefg"), i, j, k, value)
                same(delete, bytearray(b"abcdefg"), i, j, k)


@njit
def _set(a, i, x):
    a[i] = x


@njit
def _delete(a, i):
    del a[i]


@njit
def _append(a, x):
    a.append(x)


@njit
def _insert(a, i, x):
    a.insert(i, x)


@njit
def _extend(a, b):
    a.extend(b)


@njit
def _self(a):
    a.extend(a)


@njit
def _pop(a, i):
    return a.pop(i)


@njit
def _remove(a, x):
    a.remove(x)


@njit
def _reverse(a):
    a.reverse()


@njit
def _times(a, n):
    a *= n
    return a


class Bytearrays(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.ours, self.python = bytearray(b"start"), bytearray(b"start")

    def both(self, f, *args):
        def run(g, a):
            try:
                return g(a, *args)
            except (IndexError, ValueError) as e:
                return type(e), str(e)
        assert run(f, self.ours) == run(f.py_func, self.python)
        assert self.ours == self.python

    @rule(i=st.integers(-9, 9), x=st.integers(-2, 257))
    def set(self, i, x):
        self.both(_set, i, x)

    @rule(i=st.integers(-9, 9))
    def delete(self, i):
        self.both(_delete, i)

    @rule(x=st.integers(-2, 257))
    def append(self, x):
        self.both(_append, x)

    @rule(i=st.integers(-9, 9), x=st.integers(-2, 257))
    def insert(self, i, x):
        self.both(_insert, i, x)

    @rule(b=st.binary(max_size=20))
    def extend(self, b):
        self.both(_extend, b)

    @rule()
    def itself(self):
        if len(self.python) < 200:
            self.both(_self)

    @rule(i=st.integers(-9, 9))
    def pop(self, i):
        self.both(_pop, i)

    @rule(x=st.integers(-2, 257))
    def remove(self, x):
        self.both(_remove, x)

    @rule()
    def reverse(self):
        self.both(_reverse)

    @rule(n=st.integers(-1, 3))
    def times(self, n):
        if len(self.python) < 200:
            self.both(_times, n)


Bytearrays.TestCase.settings = settings(deadline=None, max_examples=30, stateful_step_count=30)
test_bytearrays_as_pythons = Bytearrays.TestCase


def test_constants_and_globals():
    @njit
    def f(n):
        table = (b"zero", b"one\xff", b"")
        b = b"none" if n > 2 else table[n]
        return b + WORD

    for n in range(4):
        same(f, n)
    assert njit(lambda: b"\x00\xff")() == b"\x00\xff"
    assert njit(lambda a=b"xy": a + a)() == b"xyxy"
    assert njit("bytes(bytes)")(lambda a: a + b"1")(b"2") == b"21"


WORD = b"-word"


def test_iteration_sees_what_is_appended():
    @njit
    def f(a):
        n = 0
        for x in a:
            if n < 5:
                a.append(x + 1)
            n += 1
        return n

    same(f, bytearray(b"ab"))

    @njit
    def g(a):
        for x in a:
            yield x

    assert list(g(b"abc")) == [97, 98, 99] and list(g(bytearray(b"abc"))) == [97, 98, 99]


def test_MEM_out_of_memory():
    @njit
    def f(a, b):
        out = bytearray(a)
        for x in b:
            out.append(x)
        parts = bytes(out).split(b",")
        return b"-".join(parts).decode(), out[::-1]

    each_allocation_fails(f, lambda: (b"a,b", bytearray(b"c,d")))


def test_what_is_refused():
    for source in ["a.find('x')", "a + 'x'", "a < 'x'", "'x' in a", "'x'.join([a])", "a.append(1)", "'x'.find(a)", "a.join(['x'])", "a.split('x')"]:
        with pytest.raises(errors.TypingError):
            expression(source, "a")(b"abc")

    class Own(bytes):
        pass

    with pytest.raises(errors.TypingError, match=r"pass bytes\(x\)"):
        njit(lambda a: a)(Own(b"x"))

    @cuda.jit
    def kernel(a, out):
        out[0] = a[0]

    with pytest.raises((errors.TypingError, TypeError), match="frombuffer"):
        kernel[1, 1](b"abc", np.zeros(1))


def test_arrays_of_bytes():
    f = njit(lambda a, dtype: np.frombuffer(a, np.int16, -1, 2))
    got = f(b"\x01\x00\x02\x00\x03\x01", 0)
    assert got.tolist() == [2, 259] and got.dtype == np.int16 and not got.flags.writeable
    same(njit(lambda a: int(np.frombuffer(a, np.uint8).sum())), bytes(range(20)))
    same(njit(lambda a: np.frombuffer(a, np.int32)), b"xyz")
    got = njit(lambda a: np.frombuffer(a, np.uint8))(bytearray(b"x"))
    assert got.tolist() == [120] and not got.flags.writeable  # Python's bytearray would not see what is written
