"""TRAPS section A: the meaning of integers. Operands are run-time values: literals fold away and hide lowering bugs."""
import math

import numpy as np
import pytest

from quern import errors, njit

SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
MIN64, MAX64 = -2**63, 2**63 - 1


def wrap(value, bits=64):
    """`value` as a signed integer of `bits` bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


@njit
def floordiv(a, b):
    return a // b


@njit
def mod(a, b):
    return a % b


@njit
def truediv(a, b):
    return a / b


@njit
def both(a, b):
    return divmod(a, b)


@njit
def add(a, b):
    return a + b


@njit
def sub(a, b):
    return a - b


@njit
def mul(a, b):
    return a * b


@njit
def power(a, b):
    return a**b


@njit
def shl(a, b):
    return a << b


@njit
def shr(a, b):
    return a >> b


@njit
def less(a, b):
    return a < b


@njit
def equal(a, b):
    return a == b


def test_INT_01_remainder_of_int16():
    assert mod(np.int16(-3584), np.int16(-512)) == 0


@pytest.mark.parametrize("kind", SIGNED + [int])
def test_INT_02_floor_division(kind):
    top = 127 if kind is np.int8 else 1000
    values = [-top, -7, -2, -1, 1, 2, 7, top]
    for a in values + [0]:
        for b in values:
            assert floordiv(kind(a), kind(b)) == a // b, (a, b)
            assert mod(kind(a), kind(b)) == a % b, (a, b)
            assert both(kind(a), kind(b)) == (a // b, a % b), (a, b)


@pytest.mark.parametrize("kind", UNSIGNED)
def test_INT_02_floor_division_unsigned(kind):
    top = int(np.iinfo(kind).max)
    for a in (0, 1, 7, top - 1, top):
        for b in (1, 2, 7, top):
            assert floordiv(kind(a), kind(b)) == a // b
            assert mod(kind(a), kind(b)) == a % b


@pytest.mark.parametrize("kind", [*SIGNED, *UNSIGNED])
def test_INT_02_multiples(kind):
    def equal(a, b):
        return a % b == 0

    def unequal(a, b):
        return 0 != a % b

    def truth(a, b):
        return 1 if a % b else 0

    def counted(a, by, m, out):
        n = 0
        for i in range(len(a)):
            if a[i] % 3 == 0:
                n += 1
            if a[i] % 3 == 2:
                n += 10**9
            if a[i] % m != 0:
                n += 100
            for k in range(len(by)):
                if by[k] != 0 and a[i] % by[k] == 0:
                    n += 10000
                    out[i, k] = a[i] % by[k] + 1  # zero, and asked for
                r = a[i] % (by[k] * by[k] + 1)
                if r == 0:
                    out[i, k] += r + 2
        return n

    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    numbers = [low, low + 1, -12, -7, -3, -2, -1, 0, 1, 2, 3, 5, 6, 7, 8, 12, high - 1, high]
    values = np.array([v for v in numbers if low <= v <= high], kind)
    for f in (equal, unequal, truth):
        compiled = njit(f)
        for a in values:
            for b in values:
                if b != 0:
                    assert compiled(a, b) == f(int(a), int(b)), (f, a, b)
        with pytest.raises(ZeroDivisionError):
            compiled(values[0], kind(0))
    by = np.array([v for v in values if abs(int(v)) < 1000], kind)
    out, want = np.zeros((2, len(values), len(by)), np.int64)
    m = kind(-5 if low else 5)
    n = njit(counted)(values[1:-1].astype(kind), by, m, out)
    assert n == counted([int(v) for v in values[1:-1]], [int(v) for v in by], int(m), want)
    assert (out == want).all()


def test_INT_03_minimum_by_minus_one_wraps():
    assert floordiv(MIN64, -1) == MIN64
    assert floordiv(np.int64(MIN64), np.int64(-1)) == MIN64
    assert floordiv(np.int32(-2**31), np.int32(-1)) == 2**31  # widened to int64
    assert floordiv(np.int8(-128), np.int8(-1)) == 128


def test_INT_04_remainder_of_minimum_by_minus_one():
    assert mod(MIN64, -1) == 0
    assert mod(np.int32(-2**31), np.int32(-1)) == 0


@pytest.mark.parametrize("function, a, b", [(floordiv, 5, 0), (mod, 5, 0), (truediv, 5, 0), (truediv, 5.0, 0.0),
                                            (floordiv, 5.0, 0.0), (mod, 5.0, 0.0), (both, 5, 0),
                                            (floordiv, np.uint8(5), np.uint8(0))])
def test_INT_05_division_by_zero(function, a, b):
    with pytest.raises(ZeroDivisionError):
        function(a, b)
    with pytest.raises(ZeroDivisionError):  # and again: nothing is left behind
        function(a, b)


def test_INT_05_division_by_zero_numpy_model():
    quiet = njit(error_model="numpy")(lambda a, b: a / b)
    assert quiet(1.0, 0.0) == math.inf and math.isnan(quiet(0.0, 0.0))
    assert njit(error_model="numpy")(lambda a, b: a // b)(5, 0) == 0


def test_INT_07_overflow_wraps():
    negate, absolute = njit(lambda a: -a), njit(abs_of)
    cube = njit(lambda a: a * a * a)
    assert absolute(MIN64) == MIN64
    assert negate(MIN64) == MIN64
    assert add(MAX64, 1) == MIN64
    assert cube(3_000_000_000) == wrap(3_000_000_000**3)
    assert sub(MIN64, 1) == MAX64


def abs_of(a):
    return abs(a)


def test_INT_08_negative_power():
    assert njit(lambda a: a**-2)(2) == 0.25
    with pytest.raises(ValueError):
        power(2, -1)
    assert power(2.0, -1) == 0.5


def test_INT_09_power_never_through_float():
    assert power(94906267, 2) == 9007199515875289
    assert njit(lambda a: a**2)(94906267) == 9007199515875289
    assert power(3, 39) == 3**39


def test_INT_10_power_edges():
    assert power(0, 0) == 1
    assert power(10, 19) == wrap(10**19)
    assert njit(lambda a, b: pow(a, b))(10, 19) == wrap(10**19)
    assert njit(lambda a: a**19)(10) == wrap(10**19)


@pytest.mark.parametrize("kind", SIGNED + UNSIGNED + [int])
def test_INT_11_shifts(kind):
    unsigned = kind in UNSIGNED
    wraps = (lambda v: v % 2**64) if kind is np.uint64 else wrap
    low = 0 if unsigned else (MIN64 if kind is int else int(np.iinfo(kind).min))
    high = MAX64 if kind is int else int(np.iinfo(kind).max)
    for value in (0, 1, 3, low, high, 5 if unsigned else -5):
        for count in (0, 1, 7, 8, 31, 32, 62, 63, 64, 65, 2**31):
            left = value << count if count < 64 else 0
            assert shl(kind(value), count) == wraps(left), (value, count)
            assert shr(kind(value), count) == value >> count, (value, count)
    for shift in (shl, shr):
        with pytest.raises(ValueError):
            shift(kind(1), -1)


def test_INT_12_logical_right_shift():
    assert shr(np.uint64(2**63), 1) == 2**62
    assert shr(np.uint64(2**63), np.int64(1)) == 2**62


def test_INT_13_uint64_with_weak_int():
    assert add(np.uint64(2**63), 1) == 2**63 + 1
    assert njit(lambda a: a + 1)(np.uint64(2**63)) == 2**63 + 1
    with pytest.raises(errors.TypingError, match="negative"):  # NumPy 2 refuses it too
        njit(lambda a: a & ~(1 << 1))(np.uint64(2**64 - 1))
    assert njit(lambda a: a & ~np.uint64(1 << 1))(np.uint64(2**64 - 1)) == 2**64 - 3


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_TYP_13_a_python_int_that_meets_a_narrow_int_keeps_its_value(dtype):
    @njit
    def largest(a, start):
        m = start
        for v in a:
            if v > m:
                m = v
        return m

    @njit
    def below_zero(a):
        m = -1
        for v in a:
            if v > m:
                m = v
        return m

    @njit
    def chosen(a, n, first):
        return a[0] if first else n

    a = np.array([1, 7, 3], dtype)
    for start in (-5, 0, 5, 9, 70000, 2**40, -(2**63)):
        assert largest(a, start) == max(7, start)
        assert chosen(a, start, False) == start and chosen(a, start, True) == 1
    assert below_zero(a) == 7 and below_zero(a[:0]) == -1


def test_INT_13_uint64_with_int64_is_float():
    result = add(np.uint64(2**63), np.int64(1))
    assert isinstance(result, float) and result == 2.0**63


def test_INT_14_loop_keeps_uint64():
    @njit
    def modular_sum(x, y, p):
        z = x + y
        if z >= p:
            z = z - p
        return z

    p = 2**63 + 11
    assert modular_sum(np.uint64(2**63), np.uint64(20), np.uint64(p)) == 9


def test_INT_15_comparisons_are_exact():
    assert not less(np.uint64(2**63 + 1), np.int64(-1))
    assert less(np.int64(-1), np.uint64(2**63 + 1))
    assert not equal(np.int64(-1), np.uint64(2**64 - 1))
    assert less(np.int8(-1), np.uint8(1)) and not equal(np.int32(-1), np.uint32(2**32 - 1))
    assert not equal(2**53 + 1, float(2**53)) and less(float(2**53), 2**53 + 1)
    assert less(MAX64, 2.0**63) and not less(2.0**63, MAX64)


def test_INT_16_narrow_ints_widen():
    assert add(np.int8(100), np.int8(100)) == 200
    assert sub(np.uint8(3), np.uint8(5)) == -2
    a = np.array([200, 100], np.uint8)
    assert njit(lambda a: a[0] + a[1])(a) == 300


def test_INT_16_store_truncates():
    @njit
    def store(a):
        a[0] = a[0] + a[1]

    a = np.array([200, 100], np.uint8)
    store(a)
    assert a[0] == 300 % 256


@pytest.mark.parametrize("kind", SIGNED + UNSIGNED)
def test_INT_17_argument_width(kind):
    """A NumPy scalar is seen with its own width: a store into its kind of array keeps it, its type says so."""
    function = njit(lambda a: a)
    function(kind(7))
    assert str(function.nopython_signatures[0].args[0]) == kind.__name__


def test_INT_18_range_of_large_uint64():
    @njit
    def first_and_count(n):
        count = 0
        for i in range(n - np.uint64(3), n):
            count += 1
        return count, i

    assert first_and_count(np.uint64(2**33)) == (3, 2**33 - 1)


def test_INT_19_booleans_are_one():
    source = np.array([True, False])
    target = np.zeros(2, np.int64)

    @njit
    def use(source, target, i):
        target[1] = source[i]
        target[0] = int(source[i]) + source[i] + np.int64(source[i])
        return float(source[i])

    assert use(source, target, 0) == 1.0 and list(target) == [3, 1]


def test_INT_20_boolean_operators():
    t, f = True, False
    for function, expected in ((lambda a, b: a == b, False), (lambda a, b: a > b, True), (lambda a, b: a & b, False),
                               (lambda a, b: a | b, True), (lambda a, b: a ^ b, True), (lambda a, b: a + b, 1),
                               (lambda a, b: a * 5 + b, 5)):
        assert njit(function)(t, f) == expected
        assert njit(function)(np.bool_(t), np.bool_(f)) == expected
    assert njit(lambda a, b: a & b)(True, 3) == 1


def test_INT_21_invert_of_bool_is_logical():
    assert njit(lambda a: ~a)(True) is False
    assert njit(lambda a: ~a)(5) == -6


@pytest.mark.parametrize("kind", SIGNED + UNSIGNED)
def test_INT_26_indices_of_any_kind(kind):
    a = np.arange(200.0)
    get = njit(lambda a, i: a[i])
    assert get(a, kind(100)) == 100
    if kind in SIGNED:
        assert get(a, kind(-1)) == 199
        assert get(a, kind(-100)) == 100


def test_INT_27_truth_of_large_ints():
    truth = njit(lambda x: 1 if x else 0)
    assert truth(2**32) == 1 and truth(MIN64) == 1 and truth(0) == 0
    assert truth(np.uint64(2**63)) == 1
    assert njit(lambda x: bool(x))(2**32) is True


@pytest.mark.parametrize("opt", [0, 3])
def test_INT_28_wide_and_narrow_agree(opt):
    """Every width through every operator against arithmetic of unbounded integers."""
    rng = np.random.default_rng(5)
    functions = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "&": lambda a, b: a & b,
                 "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "//": lambda a, b: a // b, "%": lambda a, b: a % b}
    for symbol, function in functions.items():
        compiled = njit(_opt_level=opt)(function) if opt != 3 else njit(function)
        for kind in SIGNED + UNSIGNED:
            info = np.iinfo(kind)
            values = [int(v) for v in rng.integers(info.min, info.max, 6, dtype=kind, endpoint=True)]
            values += [int(info.min), int(info.max), 1]
            for a in values:
                for b in values:
                    if symbol in ("//", "%") and b == 0:
                        continue
                    exact = function(a, b)
                    expected = exact % 2**64 if kind is np.uint64 else wrap(exact)
                    assert compiled(kind(a), kind(b)) == expected, (symbol, kind, a, b)


def test_TYP_13_big_ints_are_refused():
    identity = njit(lambda x: x)
    for value in (2**64, -2**63 - 1):
        with pytest.raises((OverflowError, TypeError)):
            identity(value)
    assert identity(MAX64) == MAX64 and identity(MIN64) == MIN64
    with pytest.raises(errors.TypingError):
        njit(lambda x: x + 123456789012345678901234567890)(1)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"])
def test_INT_15_min_and_max_compare_python_ints_as_they_are(kind):
    """A Python int does not become a narrow integer before it is compared with one."""
    by_argument = njit(lambda a, b: (min(a, b), max(a, b), min(b, a, b), max(b, a, b)))
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    for x in (low, low + 1, 0, 7, high):
        for k in (-1, -129, 0, 5, 255, 300, 70000, -2**40, 2**40, low, high):
            assert by_argument(np.dtype(kind).type(x), k) == (min(x, k), max(x, k)) * 2, (x, k)
    constants = njit(lambda a: (min(a, -1), max(a, -1), min(a, 300), max(a, 300), min(a, 5), max(a, 5), max(a, 2**40)))
    for x in (low, 0, 7, high):
        assert constants(np.dtype(kind).type(x)) == constants.py_func(x)
    largest = njit(lambda a: largest_from(a, -1))
    assert largest(np.array([3, 7, 1], kind)) == 7 and largest(np.zeros(0, kind)) == -1


def largest_from(a, best):
    for x in a:
        best = max(best, x)
    return best


def test_INT_13_min_of_uint64_and_a_negative_constant_is_refused():
    with pytest.raises(errors.TypingError, match=r"min cannot be called with the arguments \(uint64, int\)"):
        njit(lambda a: min(a, -1))(np.uint64(3))
    assert njit(lambda a: (min(a, 1), max(a, 1)))(np.uint64(3)) == (1, 3)
