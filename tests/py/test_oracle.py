"""The oracle itself: against NumPy where the rules agree, against the decisions of the design where they do not, and
against promote.def (is it current?). Needs no compiled code."""

import itertools
import math
import operator
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle as o

STRONG = [k for k in o.TYPES if o.TYPES[k][3] == k]
WEAK = {"wint": 3, "wflt": 1.5, "wcpx": 2.5 - 1j}
INTS = [k for k in STRONG if o.TYPES[k][2] in ("SINT", "UINT")]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def dtype(kind):
    return np.dtype(o.TYPES[kind][0])


def test_oracle_is_current():
    subprocess.run([sys.executable, str(ROOT / "tests/tools/gen_oracle.py"), "--check"], check=True)


@pytest.mark.parametrize("a", STRONG)
@pytest.mark.parametrize("b", STRONG)
def test_INT_13_promotion_is_numpy_s(a, b):
    assert dtype(o.promote(a, b, wide=False)) == np.result_type(dtype(a), dtype(b))


@pytest.mark.parametrize("weak", WEAK)
@pytest.mark.parametrize("strong", STRONG)
def test_FLT_14_weak_numbers_as_in_nep_50(weak, strong):
    """DESIGN 4: the strong type where its kind is at least as high, else float64, complex128 (complex64 of float32).
    But ints below 64 bits and Python ints are int64."""
    if strong == "bool":
        assert o.promote(weak, strong, wide=False) == weak
        return
    if weak == "wint" and o.TYPES[strong][1] < 64 and strong in INTS:
        assert o.promote(weak, strong) == o.promote(weak, strong, wide=False) == "i64"
        return
    ours = dtype(o.promote(weak, strong, wide=False))
    theirs = np.result_type(dtype(strong), WEAK[weak])
    if strong == "f16" and weak == "wcpx":
        assert ours == np.complex64
    else:
        assert ours == theirs


def test_N04_where_paths_meet():
    def meet(*kinds, kernel=False):
        whole = o.Meet(kinds[0])
        for k in kinds[1:]:
            whole |= o.Meet(k)
        return whole.kind(kernel)

    for k in INTS:
        assert meet("wint", k) == meet("wint", k, kernel=True) == ("u64" if k == "u64" else "i64")
        assert meet("wflt", k) == meet("wflt", k, kernel=True) == "f64"
    for weak, cpu in (("wint", "f64"), ("wflt", "f64"), ("wcpx", "c128")):
        assert meet(weak, "f32") == cpu and meet(weak, "c64") == "c128"
        assert meet(weak, "c64", kernel=True) == "c64"
        assert meet(weak, "f32", kernel=True) == ("c64" if weak == "wcpx" else "f32")
    for order in itertools.permutations(["wint", "u8", "u64"]):
        assert meet(*order) == "u64"
    assert meet("wint", "i8", "u64") == meet("u64", "i8", "wint") == "f64"
    with pytest.raises(o.Undecided):
        (o.Meet("wint", -1) | o.Meet("u64")).kind()
    assert (o.Meet("wint", -1) | o.Meet("u64") | o.Meet("f32")).kind() == "f64"


def test_N04_merged_programs():
    source = """
def f(a, b, n):
    s = 0.0
    x = 0
    for i in range(n):
        s += b
        if i == 1:
            x = a
            continue
        x = x - 1
    return s, x, (a if n > 1 else 7)
"""
    def result(a, b, n, kernel=False):
        return [(v.kind, v.v) for v in o.merged(source, [o.kind(a), o.kind(b), "wint"], kernel)(a, b, n)]

    tenth = float(np.float32(0.1))
    assert result(np.uint8(3), np.float32(0.1), 3) == [("f64", tenth + tenth + tenth), ("i64", 2), ("i64", 3)]
    assert result(np.uint64(3), np.float32(0.1), 1) == [("f64", tenth), ("u64", 2**64 - 1), ("u64", 7)]
    assert result(np.uint8(3), np.float32(0.1), 3, True)[0] == ("f32", float(np.float32(tenth) * np.float32(3)))


EDGES = [0, 1, -1, 2, -2, 7, -7, 63, 64, 65, 127, -128, 255, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1]
integers = st.one_of(st.sampled_from(EDGES), st.integers(-(2**63), 2**64 - 1))
SAME = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv,
        "mod": operator.mod, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
        "lshift": operator.lshift, "rshift": operator.rshift}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("kind", ["i64", "u64"])
def test_INT_02_64_bit_integers_are_numpy_s(name, kind):
    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(integers, integers)
    def check(x, y):
        a, b = o.make(kind, x), o.make(kind, y)
        if name in ("floordiv", "mod") and b.v == 0:
            with pytest.raises(ZeroDivisionError):
                SAME[name](a, b)
            return
        if name.endswith("shift") and b.v < 0:
            with pytest.raises(ValueError):
                SAME[name](a, b)
            return
        ours = SAME[name](a, b)
        with np.errstate(all="ignore"):
            theirs = SAME[name](dtype(kind).type(a.v), dtype(kind).type(b.v))
        assert (ours.kind, ours.v) == (kind, theirs.item())

    check()


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_FLT_10_floats_are_numpy_s(name, kind):
    function = getattr(operator, name)
    floats = st.one_of(st.sampled_from([0.0, -0.0, 1.0, -1.5, 0.1, 7.5, -7.5, math.inf, -math.inf, math.nan]),
                       st.floats(width=32 if kind == "f32" else 64))

    @settings(max_examples=200, deadline=None, derandomize=True, database=None)
    @given(floats, floats)
    def check(x, y):
        a, b = o.make(kind, x), o.make(kind, y)
        if b.v == 0 and name in ("truediv", "floordiv", "mod"):
            with pytest.raises(ZeroDivisionError):
                function(a, b)
            return
        ours = function(a, b)
        if name in ("floordiv", "mod"):  # NumPy has other results at infinity; CPython is the rule
            if kind == "f32" or not (math.isfinite(a.v) and math.isfinite(b.v)):
                return
            theirs = function(a.v, b.v)
        else:
            with np.errstate(all="ignore"):
                theirs = function(dtype(kind).type(a.v), dtype(kind).type(b.v)).item()
        assert ours.kind == kind
        assert ours.v == theirs and math.copysign(1, ours.v) == math.copysign(1, theirs) or ours.v != ours.v and theirs != theirs

    check()


@pytest.mark.parametrize("a", INTS)
@pytest.mark.parametrize("b", INTS)
def test_INT_15_comparisons_are_exact(a, b):
    for x in EDGES:
        for y in EDGES:
            left, right = o.make(a, x), o.make(b, y)
            assert bool(left < right) == (left.v < right.v)
            assert bool(left == right) == (left.v == right.v)
    assert o.kind(o.make(a, 1) < o.make(b, 2)) == "bool"


def test_INT_16_narrow_integers_widen():
    assert (o.int8(100) + o.int8(100)).v == 200 and o.kind(o.int8(1) + o.int8(1)) == "i64"
    assert (o.uint8(3) - o.uint8(5)).v == -2 and (o.uint8(3) - 5).v == -2
    assert o.kind(o.uint32(1) + o.uint8(1)) == "i64" and o.kind(o.uint64(1) + o.uint8(1)) == "u64"
    assert o.kind(o.uint8(1) + o.int8(1)) == "i64"
    assert (-o.uint8(4)).v == 252 and (~o.uint8(4)).v == 251 and (~o.int8(5)).v == -6
    assert o.kind(-o.uint8(4)) == "u8" and o.kind(~o.uint16(4)) == "u16" and o.kind(-o.int8(4)) == "i64"
    assert abs(o.int8(-128)).v == 128 and abs(o.int64(-(2**63))).v == -(2**63)


def test_INT_03_the_smallest_integer():
    low = o.int64(-(2**63))
    assert (low // -1).v == -(2**63) and (low % -1).v == 0 and (-low).v == -(2**63)


def test_INT_08_powers():
    assert o.kind(o.int64(2) ** -2) == "f64" and (o.int64(2) ** -2).v == 0.25
    assert o.kind(o.wint(2) ** -2) == "wflt"
    with pytest.raises(ValueError):
        o.int64(2) ** o.int64(-2)
    assert (o.int64(94906267) ** 2).v == 9007199515875289
    assert (o.int64(0) ** 0).v == 1 and (o.int64(10) ** 19).v == 10**19 - 2**64
    with pytest.raises(ZeroDivisionError):
        o.float64(0) ** -1.0
    assert math.isnan((o.float64(-8) ** (1 / 3)).v)


def test_INT_11_shifts():
    assert (o.wint(1) << o.int64(64)).v == 0 and (o.int64(-8) >> 65).v == -1
    assert (o.int64(1) << 63).v == -(2**63) and (o.uint64(2**63) >> 1).v == 2**62
    assert o.kind(1 << o.uint8(3)) == "i64" and o.kind(o.uint8(1) << o.int64(3)) == "i64"
    assert o.kind(1 << o.uint64(3)) == "u64"
    with pytest.raises(ValueError):
        o.int64(1) << -1


def test_INT_20_bools():
    true = o.bool_(True)
    assert o.kind(true + true) == "wint" and (true + true).v == 2
    assert o.kind(true & true) == "bool" and o.kind(true & o.int8(1)) == "i64"
    assert (~true).v is False and o.kind(~true) == "bool"
    assert o.kind(true * o.float32(2)) == "f32"


def test_INT_13_unsigned_with_signed():
    assert o.kind(o.uint64(1) + o.int64(1)) == "f64"
    assert o.kind(o.uint64(1) + 1) == "u64" and o.kind(o.uint64(1) & o.int64(1)) == "i64"
    with pytest.raises(o.Undecided):
        o.uint64(1) + -1


def test_FLT_07_float_to_int():
    assert o.int8(300.7).v == 127 and o.int64(1e300).v == 2**63 - 1 and o.int32(math.nan).v == 0
    assert o.uint8(-5.0).v == 0 and o.int8(300).v == 44
    run = lambda x: o.run(lambda y: int(y), x)  # noqa: E731
    assert o.kind(run(np.float32(2.5))) == o.kind(run(2.5)) == o.kind(run(np.uint8(2))) == "wint"
    assert o.kind(run(np.uint64(2**63))) == "u64"
    with pytest.raises(ValueError):
        run(math.nan)
    with pytest.raises(OverflowError):
        run(math.inf)


def test_int_to_float_rounds_once():
    for x in (2**24 + 1, 2**53 + 1, 2**60 + 2**36 + 1, -(2**60) - 2**36 - 1, 2**63 - 1, 2**64 - 1):
        assert o.float32(x).v == float(np.float32(np.uint64(x) if x > 2**63 else np.int64(x)))
        assert o.float64(x).v == float(x)


def test_FLT_02_min_and_max_keep_types():
    lowest = lambda x, y: o.run(lambda a, b: min(a, b), x, y)  # noqa: E731
    assert math.isnan(lowest(math.nan, 1.0).v) and lowest(1.0, math.nan).v == 1.0
    assert o.kind(lowest(np.float32(2), 1)) == "f32" and lowest(np.float32(2), 1).v == 1
    assert o.kind(lowest(np.int8(2), np.int8(1))) == "i8"


def test_math_keeps_types():
    f = lambda x: o.run(lambda y: math.sin(y), x)  # noqa: E731
    assert o.kind(f(np.float32(1))) == "f32" and o.kind(f(1)) == "wflt" and o.kind(f(np.int8(1))) == "f64"
    assert o.run(lambda y: math.log(y), 0.0).v == -math.inf and math.isnan(o.run(lambda y: math.sqrt(y), -1.0).v)


def test_complex():
    assert o.kind(o.float32(1) * 2j) == "c64" and o.kind(o.int8(1) * 2j) == "c128"
    assert o.kind(abs(o.complex64(3 + 4j))) == "f32" and abs(o.complex64(3 + 4j)).v == 5
    with pytest.raises(TypeError):
        o.complex64(1) < o.complex64(2)
    with pytest.raises(ZeroDivisionError):
        o.complex128(1) / 0


def test_arrays_store_by_wrapping():
    a = np.zeros(3, dtype="i1")

    def fill(x):
        total = 0.0
        for i in range(len(x)):
            x[i] = x[i] + 300
            total += x[i]
        return total

    assert o.run(fill, a).v == 132 and a.tolist() == [44] * 3
