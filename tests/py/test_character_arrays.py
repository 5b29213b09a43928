"""Arrays of characters (dtypes U and S): elements are text or bytes, in arrays, records and globals (issue 8, FEATURES T03)."""
import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import errors, njit, prange, types, typeof

WORDS = np.array(["ab", "cde", "", "\xe9t\xe9", "\u65e5\u672c", "\U0001d11ex", "ab\0c"], "U4")
OCTETS = np.array([b"ab", b"cde", b"", b"\xff\x00z"], "S4")
NAMED = np.dtype([("flag", "i1"), ("name", "U5"), ("x", "f8"), ("code", "S3"), ("pair", "U2", (2,))])


def same(f, *args):
    """As Python has it, result and arguments."""
    mine, theirs = [[a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2)]
    got, want = njit(f)(*mine), f(*theirs)
    equal(got, want)
    for a, b in zip(mine, theirs):
        equal(a, b)


def equal(a, b):
    if isinstance(b, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    elif isinstance(b, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            equal(x, y)
    else:
        assert a == b and (not isinstance(b, (str, bytes)) or isinstance(b, type(a)))


# -- reading ------------------------------------------------------------------------------------------------------

def elements(a):
    out = []
    for i in range(-len(a), len(a)):
        out.append(a[i])
    for x in a:
        out.append(x + x)
    return out


def parts(a):
    return a[1:3], a[::-2], a[np.array([2, 0])], a[a == a[1]], a.reshape(1, -1)[0, 2], a.copy()[1], a.T[0], list(a.flat)[3]


def facts(a):
    return a.shape, a.size, a.itemsize, a.nbytes, len(a[1]), hash(a[0]) == hash(a[0] + a[2]), a[0] in a, bool(a[2]), max(a)


@pytest.mark.parametrize("function", [elements, parts, facts])
@pytest.mark.parametrize("a", [WORDS, OCTETS, np.repeat(WORDS, 2)[::2], OCTETS[::-1]])
def test_elements_are_text_and_bytes(function, a):
    same(function, a)


def test_methods_of_text():
    same(lambda a: [x.upper() + str(len(x)) for x in a], WORDS)
    same(lambda a: (a[0] < a[1], a[1] == "cde", "b" in a[0], f"{a[1]:>6}|", a[1][::-1], int(a[0]) + 1), np.array(["12", "cde"]))
    same(lambda a: (a[0].decode(), a[1][0], a[0] == b"ab"), OCTETS)
    same(lambda a: [i for i, x in enumerate(a) if x == "ab"], WORDS)
    same(lambda a: sorted(a), WORDS)
    same(lambda a: a.item(1), WORDS)


def counted(a):
    found = {}
    for x in a:
        found[x] = found.get(x, 0) + 1
    return found


def test_they_are_keys():
    same(counted, np.array(["b", "a", "b", ""]))
    same(counted, np.array([b"b", b"a", b"b"]))
    same(lambda a: set(a), WORDS)


def test_comparison_of_arrays():
    for other in (WORDS, WORDS[::-1], WORDS.astype("U2"), WORDS.astype("U9"), WORDS[:1]):
        same(lambda a, b: (a == b, a != b), WORDS, other)
    same(lambda a: (a == "ab", "cde" != a, a == "", a == "longer than that"), WORDS)
    same(lambda a: (a == b"ab", a != b"", a == b"\xff\x00z"), OCTETS)
    same(lambda a, s: (a == s, (a == s).sum(), np.where(a == s, 1, 0)), WORDS, "cde")


GLOBAL = WORDS[:3]


def test_globals_and_arrays_without_axes():
    same(lambda i: GLOBAL[i] + "!", 1)
    same(lambda a: (a[()], a == "abc"), np.array("abc"))
    assert njit(lambda a: a)(np.array("abc")) == "abc"
    same(lambda a: a.tobytes(), WORDS)


def test_scalars_of_numpy_are_text():
    same(lambda x: x + "!", np.str_("abc"))
    same(lambda x: len(x), np.bytes_(b"abc"))
    same(lambda xs: [x + "!" for x in xs], list(WORDS))
    same(lambda d: d["cde"], {x: i for i, x in enumerate(WORDS)})


def test_in_parallel_loops():
    @njit(parallel=True)
    def lengths(a):
        n = np.zeros(len(a), np.int64)
        for i in prange(len(a)):
            n[i] = len(a[i])
        return n

    assert lengths(WORDS).tolist() == [len(x) for x in WORDS]


# -- writing ---------------------------------------------------------------------------------------------------------

def written(a):
    a[0] = "longer than that"
    a[1] = ""
    a[2] = a[3]
    a[-1] = a[3] + "x"
    a[4:6] = "q"
    return a


def filled(a, b):
    a[:] = b
    a[1:] = a[:-1].copy()
    c = np.empty_like(a)
    c[::-1] = a
    d = np.full(3, "z", a.dtype)
    a.fill("k")
    return c, d, np.concatenate((c, d))


def test_writing():
    same(written, WORDS)
    for other in (WORDS[:2], WORDS.astype("U2"), WORDS.astype("U9")):
        same(filled, np.zeros(len(other), "U4"), other)
    def octets(a):
        a[0] = b"longer"
        a[1] = a[3]
        a[2:] = b"\x00y"
        return a
    same(octets, OCTETS)


# -- in records -----------------------------------------------------------------------------------------------------------

def records():
    a = np.zeros(3, NAMED)
    a["name"], a["code"], a["x"] = ["ann", "bob", "clara"], [b"x", b"yz", b""], [1, 2, 3]
    return a


def fields(a):
    a[0].name = "longer"
    a[1]["code"] = b"q"
    a.pair[:, 1] = "pq"
    a[2] = (1, "new", 4.5, b"c", "rs")
    out = []
    for r in a:
        out.append((r.name, r["code"], r.x, r.pair[1]))
    return out, a.name[1], a["code"], a.name == "bob"


def test_fields_of_records():
    same(fields, records().view(np.recarray))
    same(lambda r: r["name"] + "!", records()[1])


# -- types -----------------------------------------------------------------------------------------------------------------

def test_types():
    t = types.UnicodeCharSeq(4)
    assert typeof(WORDS) == types.Array(t, 1, "C") and typeof(OCTETS) == types.CharSeq(4)[::1]
    assert njit(types.intp(t[:]))(lambda a: len(a[1]))(WORDS) == 3
    assert njit("intp(CharSeq(4)[:])")(lambda a: len(a[1]))(OCTETS) == 3
    f = njit(lambda a: len(a))
    f(WORDS), f(WORDS.astype("U5")), f(OCTETS), f(WORDS.copy())
    assert [s[0] for s in f.signatures] == [t[::1], types.UnicodeCharSeq(5)[::1], types.CharSeq(4)[::1]]


# -- what is refused -------------------------------------------------------------------------------------------------------

def assign(value):
    def f(a):
        a[0] = value
    return f


@pytest.mark.parametrize("function, a, error, words", [
    (lambda a: a[0], WORDS.astype(">U4"), TypeError, "newbyteorder"),
    (lambda a: a + 1, WORDS, errors.TypingError, "UnicodeCharSeq"),
    (lambda a: a == b"x", WORDS, errors.TypingError, "compare"),
    (lambda a: a == 3, WORDS, errors.TypingError, "UnicodeCharSeq"),
    (assign(3), WORDS, errors.TypingError, "cannot assign int to an element of UnicodeCharSeq"),
    (assign(b"x"), WORDS, errors.TypingError, "cannot assign bytes"),
    (assign("x"), OCTETS, errors.TypingError, "cannot assign str"),
    (lambda a: len(a), np.array("abc"), errors.TypingError, "len"),
    (lambda a: a.name, WORDS, errors.TypingError, "no attribute 'name'"),
    (lambda a: a["name"], WORDS, errors.TypingError, "indexed"),
    (lambda a: a[0], np.array([0x110000, 1], np.uint32).view("U2"), ValueError, "no text"),
    (lambda a: a[100], WORDS, IndexError, "out of bounds"),
])
def test_what_is_refused(function, a, error, words):
    with pytest.raises(error, match=words):
        njit(function)(a)


def test_read_only_ones():
    a = WORDS.copy()
    a.flags.writeable = False
    same(lambda a: a[1], a)
    with pytest.raises(errors.TypingError, match="read-only"):
        njit(assign("x"))(a)


def test_kernels_have_no_text():
    from quern import cuda

    @cuda.jit
    def kernel(a):
        a[0] = a[1]

    with pytest.raises(errors.TypingError, match="text is not available in a kernel"):
        kernel[1, 1](WORDS.copy())
