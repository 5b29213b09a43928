"""What Python numbers and NumPy numbers mean together: the points N1 to N4 and N14, on both devices where it differs. Operands
are run-time values."""
import itertools
import math

import numpy as np
import pytest

from quern import cuda, errors, njit, vectorize

NARROW = [np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32]
INTS = NARROW + [np.int64, np.uint64]


# -- N1, N2: narrow ints ---------------------------------------------------------------------------------------------


def test_N01_elements_minus_a_python_int():
    below = njit(lambda a, i: a[i] - 5)
    apart = njit(lambda a, i: a[i] - a[i + 1] - a[i + 2])
    for kind in NARROW:
        a = np.array([3, 5, 7], kind)
        assert below(a, 0) == -2 and apart(a, 0) == -9
    assert njit(lambda a: a[0] - 1)(np.zeros(1, np.uint8)) == -1


@pytest.mark.parametrize("a, b", list(itertools.product(NARROW, NARROW)), ids=lambda k: k.__name__)
def test_N01_two_narrow_ints_are_int64(a, b):
    operations = njit(lambda x, y: (x + y, x - y, x * y, x // y, x % y, x & y, x | y, x ^ y, x << y, x >> y, abs(x)))
    results = operations(a(3), b(5))
    assert results == (8, -2, 15, 0, 3, 1, 7, 6, 96, 0, 3)
    assert njit(lambda x, y: x - y)(a(0), b(np.iinfo(b).max)) == -int(np.iinfo(b).max)


def test_N01_uint64_only_with_a_uint64():
    subtract = njit(lambda x, y: x - y)
    assert subtract(np.uint64(1), np.uint8(2)) == subtract(np.uint8(1), np.uint64(2)) == 2**64 - 1
    assert subtract(np.uint32(1), np.uint32(2)) == -1 and subtract(np.uint32(1), 2) == -1 and subtract(1, np.uint32(2)) == -1
    assert njit(lambda x: x + -1)(np.uint8(0)) == -1


def test_N01_kernels_too(device):
    @cuda.jit
    def differences(a, b, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] - b[i] - 1

    a, b, out = np.array([1, 2, 250], np.uint8), np.array([3, 2, 1], np.uint8), np.zeros(3, np.int64)
    differences[1, 32](a, b, out)
    assert out.tolist() == [-3, -1, 248]


@pytest.mark.parametrize("kind", INTS, ids=lambda k: k.__name__)
def test_N02_invert_and_minus_keep_unsigned_types(kind):
    """As NumPy computes them; those of signed ints are int64."""
    invert, minus = njit(lambda x: ~x), njit(lambda x: -x)
    assert invert(kind(4)) == int(~kind(4))
    with np.errstate(over="ignore"):
        assert minus(kind(4)) == int(-kind(4))
    low = np.iinfo(kind).min
    if low < 0:
        assert minus(kind(low)) == (-int(low) if low > -2**63 else low)
    store = njit(lambda x: (~x) - 5)
    assert store(kind(4)) == (int(~kind(4)) - 5 if kind != np.uint64 else 2**64 - 10)


# -- N3: Python ints made from numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", NARROW, ids=lambda k: k.__name__)
def test_N03_ranges_over_any_integer_count_down(kind):
    @njit
    def down(n):
        seen = 0
        for i in range(n - 1, -1, -1):
            seen = seen * 10 + i
        return seen

    @njit
    def item(n, x):
        for i in range(n):
            x = x * i
        return x

    assert down(kind(4)) == 3210 and down(kind(0)) == 0
    assert item(kind(2), np.float32(1)) == 0
    assert njit(scaled)(kind(3), np.float32(0.1)) == float(np.float32(0.1) * np.float32(2))


def scaled(n, x):
    """The last item is a Python int: beside float32 it is float32."""
    y = x
    for i in range(n):
        y = x * i
    return y


def test_N03_ranges_over_uint64():
    @njit
    def count(a, b, c):
        n = 0
        for i in range(a, b, c):
            n += 1
        return n

    assert count(np.uint64(3), -1, -1) == 4
    assert count(np.uint64(2**63 - 3), np.uint64(2**63 - 1), 1) == 2
    assert count(0, np.uint64(10), np.uint64(2**64 - 1)) == 1
    for ends in ((np.uint64(2**63), -1, -1), (0, np.uint64(2**64 - 1), 1)):
        with pytest.raises(OverflowError, match="range"):
            count(*ends)


def test_N03_ranges_in_kernels(device):
    @cuda.jit
    def down(n, out):
        for i in range(n[0] - 1, -1, -1):
            out[i] = i - 2

    for kind in (np.uint8, np.uint32, np.uint64):
        out = np.zeros(4, np.int64)
        down[1, 1](np.array([4], kind), out)
        assert out.tolist() == [-2, -1, 0, 1]


@pytest.mark.parametrize("f", [int, round, math.floor, math.ceil, math.trunc], ids=lambda f: f.__name__)
def test_N03_python_ints_of_numbers(f):
    minus = njit(lambda x: f(x) - 5)
    for kind in NARROW + [np.float32, np.float64]:
        assert minus(kind(4)) == -1
    assert minus(np.uint64(4)) == 2**64 - 1  # its values need not fit int64
    assert njit(lambda x: f(x))(np.uint64(2**64 - 1)) == 2**64 - 1
    # beside a float32 a Python int is float32
    third = njit(lambda x, y: f(x) * y)(np.float32(3), np.float32(1 / 3))
    assert third == float(np.float32(3) * np.float32(1 / 3)) and third != 3 * float(np.float32(1 / 3))


# -- N4: where paths meet ----------------------------------------------------------------------------------------------


def test_N04_sums_over_float32_are_done_in_double():
    @njit
    def total(a):
        s = 0.0
        for i in range(a.size):
            s += a[i]
        return s

    @njit
    def count(a):
        s = 0
        for x in a:
            s += x
        return s

    a = np.ones(20_000_000, np.float32)
    assert total(a) == count(a) == 20_000_000
    a = np.full(1000, 0.1, np.float32)
    assert total(a) == sum(float(x) for x in a)


def test_N04_a_sum_that_asks_for_float32_gets_it():
    @njit
    def total(a):
        s = np.float32(0)
        for i in range(a.size):
            s += a[i]
        return s

    assert total(np.ones(20_000_000, np.float32)) == 16_777_216


@pytest.mark.parametrize("kind", NARROW, ids=lambda k: k.__name__)
def test_N04_a_variable_that_starts_as_an_int_is_int64(kind):
    @njit
    def apart(a):
        m = 0
        for x in a:
            m = x
        return m - 10, m

    assert apart(np.array([3], kind)) == (-7, 3)


def test_N04_complex_numbers_meet_as_complex128():
    @njit
    def total(a):
        s = 0j
        for x in a:
            s += x
        return s

    a = np.full(100, 0.1 + 0.2j, np.complex64)
    assert total(a) == sum(complex(x) for x in a)


def test_N04_kernels_stay_in_float32(device):
    """A double accumulator costs a GPU a factor of 32; np.float64(0) asks for one."""
    @cuda.jit
    def sums(a, z, out, zout):
        s, t, k, c = 0.0, np.float64(0), 0, 0
        for i in range(a.size):
            s += a[i]
            t += a[i]
            k += a[i]
            c += z[i]
        out[0], out[1], out[2], zout[0] = s, t, k, c

    a = np.full(1000, 0.1, np.float32)
    z = a.astype(np.complex64)
    out, zout = np.zeros(3), np.zeros(1, np.complex128)
    sums[1, 1](a, z, out, zout)
    single = np.float32(0)
    for x in a:
        single += x
    assert out.tolist() == [float(single), sum(float(x) for x in a), float(single)] and zout[0] == float(single)


def test_N04_kernels_narrow_ints_are_int64(device):
    @cuda.jit
    def last(a, out):
        m = 0
        for i in range(a.size):
            m = a[i]
        out[0] = m - 10

    out = np.zeros(1, np.int64)
    last[1, 1](np.array([3], np.uint8), out)
    assert out[0] == -7


def test_N04_a_ufunc_has_one_dtype_on_every_target(device):
    """The CPU's rule, whatever the target is."""
    def polynomial(x):
        s = 0.0
        for k in range(3):
            s += x
        return s

    results = [vectorize(polynomial), vectorize(["float64(float32)"], target="cuda")(polynomial)]
    a = np.full(4, 0.1, np.float32)
    tenth = float(np.float32(0.1))
    for f in results:
        assert f(a).dtype == np.float64 and f(a)[0] == tenth + tenth + tenth


def test_N04_uint64_stays_uint64_in_any_order():
    @njit
    def pick(a, b, which):
        m = 0
        if which == 1:
            m = a
        elif which == 2:
            m = b
        return m

    @njit
    def nested(a, b, which):
        m = 0
        if which > 0:
            if which > 1:
                m = b
        else:
            m = a
        return m

    for f in (pick, nested):
        for x, y in ((np.uint8(3), np.uint64(2**63)), (np.uint64(2**63), np.uint8(3))):
            for which in (0, 1, 2):
                assert type(f(x, y, which)) is int
    assert pick(np.uint8(3), np.uint64(2**63), 2) == nested(np.uint8(3), np.uint64(2**63), 2) == 2**63
    assert isinstance(pick(np.int8(3), np.uint64(1), 1), float)


def test_N04_a_negative_constant_that_meets_uint64_is_refused():
    @njit
    def find(a, x):
        at = -1
        for i in range(a.size):
            if a[i] == x:
                at = a[i]
        return at

    @njit
    def chosen(a, c, d):
        m = -1 if d else 1
        if c:
            m = a[0]
        return m

    a = np.arange(3, dtype=np.uint64)
    with pytest.raises(errors.TypingError, match="int and uint64") as info:
        find(a, 2)
    assert str(info.value).count("assigned here") == 2 and "-1" in str(info.value)
    with pytest.raises(errors.TypingError, match="negative int"):
        chosen(a, True, False)
    assert find(np.arange(3, dtype=np.uint32), 2) == 2

    @njit
    def passing(a, n):  # -1 is a constant only while types are not known yet
        x = 0
        for i in range(n):
            if i == 1:
                x = a[2]
                continue
            x = x - 1
        return x

    assert passing(a, 2) == 2 and passing(a, 3) == 1 and passing(a, 1) == 2**64 - 1

    @njit
    def healed(a, c):  # a float holds both
        m = -1
        if c == 1:
            m = a[0]
        elif c == 2:
            m = 0.5
        return m

    assert [healed(a, c) for c in range(3)] == [-1.0, 0.0, 0.5]


# -- N14: NumPy's functions of scalars beside Python ints --------------------------------------------------------------

UFUNCS = "add subtract multiply maximum minimum floor_divide bitwise_and left_shift fmod gcd".split()


@pytest.mark.parametrize("name", UFUNCS)
def test_N14_a_python_int_takes_the_type_or_raises(name):
    function = getattr(np, name)
    compiled = njit(lambda x, n: function(x, n))
    swapped = njit(lambda n, x: function(n, x))
    for kind in INTS:
        info = np.iinfo(kind)
        for n in (1, 3, int(info.max), int(info.min), int(info.max) + 1, int(info.min) - 1, 2**40, -1):
            if not -2**63 <= n < 2**63 or (name == "left_shift" and not 0 <= n < 100):
                continue
            x = kind(7)
            try:
                with np.errstate(all="ignore"):
                    expected = function(x, n)
            except OverflowError as error:
                with pytest.raises(OverflowError) as info_:
                    compiled(x, n)
                assert str(info_.value) == str(error)
                with pytest.raises(OverflowError):
                    swapped(n, x)
                continue
            assert compiled(x, n) == expected, (kind, n)


def test_N14_literals_are_refused_when_compiling():
    with pytest.raises(errors.TypingError, match="Python integer 300 out of bounds for uint8"):
        njit(lambda x: np.add(x, 300))(np.uint8(1))
    with pytest.raises(errors.TypingError, match="Python integer -1 out of bounds for uint64"):
        njit(lambda x: np.maximum(-1, x))(np.uint64(1))
    with pytest.raises(errors.TypingError, match="Python integer 300 out of bounds for uint8"):
        njit(lambda x: np.clip(x, 0, 300))(np.uint8(1))
    assert njit(lambda x: np.less(x, 300))(np.uint8(1)) is True  # comparisons are exact
    assert njit(lambda x: np.add(x, 200))(np.uint8(100)) == 44


# -- floats have no identity -----------------------------------------------------------------------------------------


def test_NaN_in_containers_is_asked_by_equality_alone():
    """CPython's containers find an object that is the very same: as of NaN that are not one object, which `apart` makes."""
    def asked(x, y):
        return (x in [y], [x] == [y], (x,) == (y,), x in (y, 1.0), [y].count(x), [1.0, x] == [1.0, y], {1: x} == {1: y}, x in {y}, len({x, y}))

    def apart():
        return float("nan")

    assert njit(asked)(apart(), apart()) == asked(apart(), apart())
    one = math.nan
    assert njit(lambda x: (x in [x], len({x, x}), x is x))(one) == (False, 2, True)
    assert njit(asked)(0.0, -0.0) == asked(0.0, -0.0)
    for f in (lambda x: [x].index(x), lambda x: [x].remove(x)):
        with pytest.raises(ValueError):
            njit(f)(one)
