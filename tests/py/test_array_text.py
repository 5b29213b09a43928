"""str(), repr(), print() and format() of arrays and dtypes in compiled code: NumPy's text, with the options that are set."""
import io
from contextlib import redirect_stdout

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit, prange

RECORDS = np.zeros(3, dtype=[("a", "i4"), ("b", "f8", (2,)), ("text", "U3"), ('é"', "M8[s]")])
RECORDS["text"] = "xé"
ARRAYS = [
    np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T, np.arange(10)[::-3], np.array(5), np.array(2.5), np.zeros((0, 3)),
    np.array([True, False]), np.array([1 + 2j]), np.arange(3, dtype="f4"), np.arange(2000), np.array(["ab", "c"]), np.array([b"ab", b"c"]),
    RECORDS, RECORDS[0], RECORDS[::2], RECORDS["a"], RECORDS["b"], np.array(["2020-01-01", "NaT"], "M8[D]"), np.array([3], "m8[25s]"),
    np.arange(3, dtype="u1"), np.array([1e-30, 1.5, np.nan, -np.inf]), np.zeros(2, dtype=[("p", [("x", "i2"), ("y", "u1")])]),
    np.zeros((2, 2, 2), dtype=np.int8), np.zeros(2, dtype={"names": ["a", "b"], "formats": ["i1", "f8"], "offsets": [3, 8], "itemsize": 20}),
    np.zeros(1, dtype=[("it's", "?"), ("back\\slash'\"", "S3"), ("m", "c16", (2, 3)), ("raw", "V5"), ("\t", [("x", "u1", 4)])]),
    np.zeros(1, dtype={"names": ["b", "a"], "formats": [("u2", (2,)), "?"], "offsets": [1, 0], "itemsize": 5}),
]


@pytest.mark.parametrize("a", ARRAYS, ids=lambda a: f"{a.dtype.kind}{a.shape}")
@pytest.mark.parametrize("text", [lambda a: str(a), lambda a: f"<{a}>", lambda a: format(a), lambda a: repr(a)], ids=["str", "f", "format", "repr"])
def test_text_is_numpys(a, text):
    assert njit(text)(a) == text(a)


def test_the_options_of_the_program_count():
    f = njit(lambda a: str(a))
    a = np.arange(20) / 7
    for options in ({"precision": 2}, {"threshold": 5}, {"suppress": True, "linewidth": 30}, {"formatter": {"float": lambda x: f"<{x:.1f}>"}}):
        with np.printoptions(**options):
            assert f(a) == str(a)
    assert f(a) == str(a)


def test_inside_of_other_values():
    a = np.arange(3, dtype=np.float32)
    for f in (lambda a: str([a, a]), lambda a: str((a, 1)), lambda a: repr({1: a})):
        assert njit(f)(a) == f(a)


def test_dtypes():
    for a in ARRAYS:
        f = lambda a: (a.dtype.name, a.dtype.str, a.dtype.kind)  # noqa: E731
        assert njit(f)(a) == f(a), a.dtype
        g = lambda a: str(a.dtype) + repr(a.dtype) + f"{a.dtype}"  # noqa: E731
        assert njit(g)(a) == g(a)


def test_print():
    def show(a):
        print("x", a, a.dtype, a.shape, a[0], sep=" | ", end="!\n")
        print(a)

    for a in (np.arange(3.0), np.array([[1, 2], [3, 4]])):
        got, want = io.StringIO(), io.StringIO()
        with redirect_stdout(got):
            njit(show)(a)
        with redirect_stdout(want):
            show(a)
        assert got.getvalue() == want.getvalue()


def test_an_exception_of_numpys_options_is_raised_where_the_text_is_made():
    def failing(x):
        raise KeyError("mine")

    def f(a):
        try:
            return str(a)
        except KeyError:
            return "caught"

    with np.printoptions(formatter={"float": failing}):
        with pytest.raises(KeyError, match="mine"):
            njit(lambda a: str(a))(np.arange(2.0))
        assert njit(f)(np.arange(2.0)) == "caught"


def test_other_callers():
    a = np.arange(3.0)
    assert njit(nogil=True)(lambda a: str(a))(a) == str(a)

    @njit(parallel=True)
    def parallel(a):
        n = 0
        for i in prange(len(a)):
            n += len(str(a[i:i + 1]))
        return n

    with pytest.raises(RuntimeError, match="text of an array"):
        parallel(np.arange(100000.0))


def test_classes_of_numpys_scalars():
    def f(x):
        return (isinstance(x, np.integer), isinstance(x, np.floating), isinstance(x, np.number), isinstance(x, np.inexact),
                isinstance(x, np.signedinteger), isinstance(x, np.unsignedinteger), isinstance(x, np.complexfloating), isinstance(x, (int, np.integer)))

    for x in (np.int8(1), np.uint32(1), np.float32(1), np.complex64(1), 1, True, np.bool_(True), 1j):
        want, got = f(x), njit(f)(x)
        assert got[:7] == want[:7], x


def test_MEM_what_writes_the_text_may_keep_the_array():
    kept = []

    @njit
    def f(n):
        return repr(np.full(n, 7))

    with np.printoptions(override_repr=lambda a: kept.append(a) or "R"):
        for n in range(900, 1000):
            assert f(n) == "R"
    assert all((a == 7).all() for a in kept)

