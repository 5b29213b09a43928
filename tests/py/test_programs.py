"""Whole small programs, of the kind that tutorials and first hours are made of, against CPython and NumPy.

Each is run by the interpreter on copies of its arguments; results (with their types) and what happened to the
arrays must agree. The ids in the names are rows of the table of features."""
import collections
import enum
import itertools
import math
import operator
import typing

import numpy as np
import pytest

from quern import complex128, errors, float64, int32, int64, njit, types

PROGRAMS = []
CUBE = np.arange(24.0).reshape(2, 3, 4)
SQUARE = np.arange(16).reshape(4, 4)


def program(*calls):
    """The decorated function is compiled and called with each tuple of arguments."""
    def add(function):
        for k, args in enumerate(calls):
            PROGRAMS.append(pytest.param(function, args, id=f"{function.__name__}-{k}"))
        return function
    return add


def same(a, b):
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if a is None or b is None:
        return a is b
    kinds = [(bool, np.bool_), (int, np.integer), (float, np.floating), (complex, np.complexfloating)]
    kind = [next(k for k, classes in enumerate(kinds) if isinstance(v, classes)) for v in (a, b)]
    if kind[0] != kind[1]:
        return False
    return a == b or (a != a and b != b) or (kind[0] >= 2 and abs(a - b) <= 1e-12 * abs(a)) or \
        (isinstance(a, np.float32) and np.float32(b) == a)


def outcome(function, args):
    args = tuple(a.copy(order="K") if isinstance(a, np.ndarray) else a for a in args)
    try:
        with np.errstate(all="ignore"):
            return function(*args), None, args
    except Exception as error:  # noqa: BLE001
        return None, (type(error), error.args), args


@pytest.mark.parametrize("function, args", PROGRAMS)
def test_program(function, args):
    expected, raised, left = outcome(function, args)
    got, error, after = outcome(njit(function), args)
    assert error == raised
    assert same(expected, got), (expected, got)
    assert all(same(a, b) for a, b in zip(left, after) if isinstance(a, np.ndarray)), (left, after)


def test_the_comparison_can_fail():
    assert not same(1, 1.0) and not same((1, 2), (1, 3)) and not same(True, 1) and not same(1.0, 1.0000001)
    assert not same(np.zeros(2), np.zeros(2, np.float32)) and not same((1,), Point(1, 2)[:1] + (2,))
    assert same(np.nan, float("nan")) and same(np.float32(0.1), float(np.float32(0.1)))


# -- L01 to L04: control flow and arithmetic ------------------------------------------------------


@program((10,), (0,), (-4,))
def L03_while_else(n):
    s = 0
    while True:
        n -= 1
        if n < 0:
            break
        if n % 2:
            continue
        s += n
    else:
        s = 100
    return s


@program((12,), (1,))
def L03_for_else_nested(n):
    c = 0
    for i in range(n):
        for j in range(i, n, 2):
            if (i + j) % 5 == 4:
                break
            c += j
        else:
            c += 1000
            continue
        c -= 1
    return c


@program((27,), (1,), (97,))
def L01_collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@program((5,), (0,))
def L01_variable_after_loop(n):
    for i in range(n):
        i += 10
    return i


@program((1, 2, 3), (3, 2, 1), (2, 2, 2), (1.5, 2, 2.5))
def L02_chained_comparisons(a, b, c):
    return a < b < c, a <= b <= c, a == b == c, a != b != c, a < b > c, not a < b < c


@program((3, 4), (0, 5), (0, 0))
def L02_values_of_and_or(a, b):
    return a and b, a or b, a and 0, 0 or b, (a > 2 and b < 3) or a == 3


@program((0,), (2,), (9,))
def L25_match_of_values(n):
    match n:
        case 0:
            return 10
        case 1 | 2 | 3:
            return 20
        case k if k > 8:
            return k
        case _:
            return 30


@program((6,))
def L25_walrus(n):
    s = 0
    while (m := n - 1) > 0:
        s += m
        n -= 1
    return s


@program((3,), (1000,))
def L04_augmented_assignment(x):
    x += 1
    x -= 2
    x *= 5
    x //= 2
    x **= 2
    x %= 7919
    x <<= 2
    x >>= 1
    x |= 1
    x &= 1023
    x ^= 2
    return x


@program((3.7,), (-3.7,), (0.5,))
def L04_floor_of_floats(x):
    return x // 1, -x // 1, x % 1, -x % 1, divmod(-x, 0.5), round(x), int(-x), x / 2


@program((7, 2), (-7, 2), (7, -2), (7.5, 2.0), (-7.5, 2.0))
def B01_divmod(a, b):
    return divmod(a, b), a // b, a % b


@program((1 + 2j, 2.5), (0j, 1.0))
def L04_complex(z, x):
    return z + x, z * x, z / x, z ** 2, abs(z), z.real, z.imag, z == z, z != x, bool(z), -z, complex(x, x)


@program((True,), (False,))
def L04_bools_are_ints(b):
    return b + 1, b * 2.5, -b, not b, b & True, b | False, int(b), float(b), b == 1


# -- L07, L26, L29: tuples and named tuples ---------------------------------------------------------

Point = collections.namedtuple("Point", "x y", defaults=[7])
Line = collections.namedtuple("Line", "p q")
ORIGIN = Point(3, 4.5)


class Sample(typing.NamedTuple):
    when: int
    value: float = 2.5


class Doubling(Point):
    def __new__(cls, x):
        return super().__new__(cls, x, 2 * x)


@program(((1, 2.5, 3),), ((0, 1.5, -3),))
def L07_tuples(t):
    a, b, c = t
    return c, b, a, t[-1], t[1:], t[::-1], t + (4,), t * 2, len(t), 2.5 in t, t == (1, 2.5, 3), t < (1, 3, 0)


@program((3,))
def L07_swap_and_nest(x):
    a, b = x, x + 1
    a, b = b, a
    (c, d), e = (a, b), 5
    return a, (b, (c, d)), e


@program(((1, (2, (3.5, 4))),))
def L07_nested_items(t):
    return t[1][1][0] + t[0]


@program((Point(1, 2.5),), (Point(np.float32(2), True),))
def L29_fields(p):
    x, y = p
    return p.x + p.y, p[0], x, y, len(p), p


@program((1,), (2.5,))
def L29_built_inside(x):
    return Point(x), Point(x, 2), Point(y=x, x=1), Sample(3), Sample(value=x, when=1)


@program((1,), (2.5,))
def L29_nested_named(x):
    line = Line(Point(x, 2), Point(3, x))
    return line, line.p.x + line.q.y, line[0][1], line.q


@program((4,))
def L29_loop_carried(n):
    p = Point(0, 0)
    for i in range(n):
        p = Point(p.x + i, p.y + 1)
    return p


@program((4,), (-4,))
def L29_of_two_paths(x):
    return Point(x, 1) if x > 0 else Point(0, x)


@program((1,))
def L29_is_a_tuple(x):
    return Point(x, 1) == (x, 1), Point(x, 1)[:1], Point(x, 1) + (3,), max(Point(x, 1)), isinstance(Point(x, 1), Point)


@program((2,))
def L30_named_constant(x):
    return ORIGIN.x + x + ORIGIN.y, ORIGIN, ORIGIN[1]


@program((np.arange(3.0),))
def L29_with_an_array(a):
    p = Point(a[1], a)
    return p.y[2] + p.x


def test_L29_named_tuples_that_cannot_be_made():
    for make in (lambda x: Doubling(x), lambda x: Line(x), lambda x: Point(x, 1, 2), lambda x: Point(x, z=1),
                 lambda x: Point(x, x=1)):
        with pytest.raises(errors.TypingError, match="cannot be"):
            njit(make)(1)


# -- L07, L08, L17: functions -------------------------------------------------------------------------

K = 7
TABLE = (1, 2.5, 3)
WEIGHTS = np.arange(5.0)


def helper(x, y=2, *, z=3):
    return x * 100 + y * 10 + z


@program((1,), (2.5,))
def L08_keywords_and_defaults(a):
    return helper(a) + helper(a, z=5) + helper(y=1, x=2) + helper(a, 4, z=a)


@program((), (1,), (1, 2.5, 3))
def L07_star_arguments(*args):
    s = 0.0
    for a in args:
        s += a
    return s


@program((1,), (1, 2, 3), (1.5, 2))
def L07_index_into_star_arguments(first, *rest):
    s = first
    for i in range(len(rest)):
        s += rest[i]
    return s


@program((1,), (1, 2.5, (3, 4)))
def L07_star_arguments_returned(first, *rest):
    return first, rest, len(rest)


@program((3,))
def L07_starred_calls(x):
    t = (x, 2)
    return max(*t), helper(*t), max(*t, *t), helper(1, *(x,))


@program((3,))
def L30_globals(i):
    return WEIGHTS[i] + TABLE[0] + TABLE[1] + K


@njit
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@njit
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


@njit
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@njit
def halves(n, x):  # int, then float
    if n == 0:
        return x
    return halves(n - 1, x * 0.5)


@njit
def total(t):  # another type of tuple at each level
    if len(t) == 0:
        return 0
    return t[0] + total(t[1:])


@njit
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def test_L08_recursion():
    assert fibonacci(20) == 6765 and is_even(10) is True and is_odd(10) is False
    assert halves(3, 8) == 1.0 and halves(2, 1j) == 0.25j
    assert total((1, 2.5, 3)) == 6.5 and ackermann(2, 3) == 9


def test_L17_functions_as_arguments():
    @njit
    def apply(f, g, x):
        return f(g(x))

    assert apply(lambda v: v + 1, lambda v: v * 2, 3) == 7
    assert apply(njit(lambda v: v + 0.5), fibonacci, 10) == 55.5
    assert apply(helper, helper, 1) == helper(helper(1))


def test_L15_closures_are_frozen():
    def make(n, inner):
        @njit
        def f(x):
            return inner(x) + n
        return f

    add = make(5, helper)
    assert add(1) == helper(1) + 5 and make(2.5, add)(1) == add(1) + 2.5


# -- T08: None ----------------------------------------------------------------------------------------


@program((2,), (2, None), (2, 3), (2, 2.5))
def T08_default_none(a, b=None):
    if b is None:
        b = 10
    return a * b


@program((0,), (2,), (5,))
def T08_found_or_none(n):
    best = None
    for i in range(n):
        if best is None or i * 2 > best:
            best = i * 2
    return best


@program((1,), (-1,))
def T08_falls_off_the_end(x):
    if x > 0:
        return x


@program((7,), (1,))
def T08_local_optional(x):
    y = x if x > 3 else None
    if y is not None:
        return y + 1
    return 0


# -- L18: raise and assert ------------------------------------------------------------------------------


@program((5,), (-1,), (-2,), (-3,))
def L18_raise(x):
    if x == -1:
        raise ValueError("negative", x)
    if x == -2:
        raise KeyError(x, 2.5)
    if x == -3:
        error = IndexError("kept in a variable")
        raise error
    return x


@program((2.0,), (4.0,))
def L18_newton(x, tol=1e-12, limit=5):
    guess = x
    for k in range(limit):
        new = 0.5 * (guess + x / guess)
        if abs(new - guess) < tol:
            return new, k
        guess = new
    raise RuntimeError("no convergence")


# -- B01, B02, N15: builtins and functions of numbers ------------------------------------------------------


@program((3, 4.5), (-1.0, -1.0), (2.5, 2.5))
def B01_min_max(a, b):
    return min(a, b) * 1.0, max(a, b) * 1.0, abs(a), max((a, b, 1.0)), min([a * 1.0, b])


@program((2.5,), (3.5,), (-2.5,), (1e300,))
def B01_conversions(x):
    return round(x, 1), float(x), bool(x), complex(x), complex(x, 1), int(2.9), int(-2.9), bool(0.0)


def B01_words(x):
    return float("inf"), float("-inf"), float("nan"), float("Infinity") + x, float("+INF")


PROGRAMS.append(pytest.param(B01_words, (1.0,), id="B01_words"))


@program((2, 10), (3, 0))
def B01_pow(a, b):
    return pow(a, b), a ** b, pow(a, 2), pow(2.0, b)


INT_MIN, INT_MAX = -2**63, 2**63 - 1


@program((1, INT_MIN), (INT_MIN, 6), (-7, INT_MIN), (INT_MAX, INT_MIN), (0, 5), (INT_MIN, -1))
def B02_gcd_of_the_smallest_int(a, b):
    return math.gcd(a, b), math.gcd(b, a)


@program((62, 31), (66, 33), (66, 2), (2**62, 1), (2**62, 2**62), (5, 7), (10**9, 2), (-1, 1), (1, -1))
def B02_comb_goes_through_no_larger_product(n, k):
    return math.comb(n, k)


@program((INT_MIN, INT_MAX), (2**62, -2**62), (2**62, 2**62 + 1), (1, 1), (7, 7.0000000001), (math.inf, 1))
def B02_isclose_of_large_ints(a, b):
    return math.isclose(a, b), math.isclose(a, b, abs_tol=2.0)


@program(*itertools.product((-1, 2, 3, INT_MIN, INT_MAX), (0, 5, -1, -2, INT_MIN, INT_MAX), (1, -7, 10, INT_MIN, INT_MAX)))
def B01_pow_of_three(a, b, m):
    return pow(a, b, m)


@program(*itertools.product((0.0, -0.0, 2.0), (-math.inf, math.inf, 0.0, -0.0, math.nan)))
def L04_powers_of_zero(x, y):
    return x ** y, x ** -math.inf


@program(((1, 2, 3),), ((1.5, 2),), ((),))
def B01_sum_of_tuple(t):
    return sum(t), len(t), sum(range(5))


@program((0.3,))
def B02_math(x):
    return (math.sin(x), math.cosh(x), math.atan2(x, 1), math.hypot(x, 1), math.copysign(1, -x), math.floor(x),
            math.ceil(x), math.trunc(-x), math.erf(x), math.gamma(x), math.lgamma(x), math.frexp(x), math.modf(x),
            math.ldexp(x, 2), math.gcd(12, 18), math.log(x, 3), math.degrees(x), math.isnan(x), math.isfinite(x),
            math.pi, math.inf, math.fmod(x, 0.2))


@program((0.3,), (-2.5,))
def N15_numpy_scalars(x):
    return (np.abs(x), np.floor(x), np.sign(x), np.maximum(x, 1.0), np.arctan2(x, 2.0), np.isnan(x), np.exp(x),
            np.hypot(x, 1.0), np.float32(x) * 2, np.int64(x), np.pi, np.deg2rad(x), np.square(x))


# -- B04: functions of the module operator ------------------------------------------------------------------------


@program((7, 3), (-7, 2), (2.5, 2.0))
def B04_arithmetic(a, b):
    return (operator.add(a, b), operator.sub(a, b), operator.mul(a, b), operator.truediv(a, b), operator.floordiv(a, b),
            operator.mod(a, b), operator.pow(a, 2), operator.pow(2, -1), operator.neg(a), operator.pos(a),
            operator.iadd(a, b), operator.imul(a, b), operator.ipow(a, 2))


@program((7, 3), (True, False), (True, 5))
def B04_bits(a, b):
    return (operator.and_(a, b), operator.or_(a, b), operator.xor(a, b), operator.iand(a, b), operator.ior(a, b),
            operator.ixor(a, b), operator.lshift(a + 0, 2), operator.irshift(a + 0, 1), operator.invert(b + 0))


@program((7, 3), (2.5, 2.5), ((1, 2), (1, 3)))
def B04_comparisons(a, b):
    return (operator.lt(a, b), operator.le(a, b), operator.eq(a, b), operator.ne(a, b), operator.gt(a, b),
            operator.ge(a, b), operator.is_(a, None), operator.is_not(b, None), operator.not_(a == b))


@program(((1, 2.5, 3), np.arange(4.0)))
def B04_containers(t, a):
    return (operator.getitem(t, 1), operator.contains(t, 3), operator.add(t, t), operator.getitem(a, -1),
            operator.contains(a, 2.0), operator.contains(a, 2.5))


def test_B04_refusals():
    with pytest.raises(errors.TypingError, match="operator.add cannot be called with the arguments"):
        njit(lambda x: operator.add(x))(1)
    with pytest.raises(errors.TypingError, match="the function operator.concat is not supported"):
        njit(lambda x: operator.concat((x,), (x,)))(1)


@program((CUBE, 3.0), (CUBE, 3.5), (CUBE.T, 23), (CUBE[:, ::2, ::-1], 4), (np.array(3.0), 3), (np.array(3.0), 4),
         (np.zeros((0, 3)), 0), (np.zeros((3, 0)), 0), (np.array([np.nan]), np.nan), (np.arange(3, dtype=np.uint8), -1),
         (np.array([1 + 1j]), 1 + 1j), (np.array([True]), 1))
def L04_in_an_array(a, x):
    return x in a, x not in a


def test_L02_identity_of_arrays():
    f = njit(lambda a, b: (a is b, a is not b))
    a = np.zeros(3)
    assert f(a, a) == (True, False)
    for other in (a.copy(), a[:2], a[1:], a[::-1], np.zeros(3, np.float32)):
        assert f(a, other) == (False, True)
    assert f(np.zeros(0), np.zeros(0)) == (False, True)


# -- L27: iteration -------------------------------------------------------------------------------------------


@program((np.arange(5),), (np.arange(5.0)[::-1],), (np.zeros(0, np.int64),))
def L27_iterators(a):
    s = 0 * K
    for i, v in enumerate(reversed(a)):
        s += i * v
    for i in reversed(range(len(a))):
        s = s * 2 + a[i]
    for x, y in zip(a[1:], a[:-1]):
        s += x * y
    for i, (x, y) in enumerate(zip(a, reversed(a)), 3):
        s += i * x * y
    for (i, x), y, t in zip(enumerate(a, start=2), a, (1, 2, 3)):
        s += i * x + y * t
    return s


@program((np.arange(6.0).reshape(2, 3),), (np.arange(6.0).reshape(2, 3).T,))
def L27_rows(a):
    s = 0.0
    for i, row in enumerate(a):
        for j, v in enumerate(row):
            row[j] = v * i
            s += v
    return s


@program((3,))
def L11_lists_to_walk_over(x):
    s = 0.0
    for v in [x, 2.5, 3]:
        s += v
    return s, x in [1, 2, 3], [1, 2, 3][1], len([x, x]), sum([1, 2, x]), max([x, 5])


# -- L05, N16, N19, N20, N21: arrays ------------------------------------------------------------------------------

@program((CUBE, 1, 2, 3), (CUBE.T, -1, -2, 1), (np.asfortranarray(CUBE), 0, 0, 0), (CUBE[:, ::2, ::-1], 1, 1, 2),
         (CUBE, 1, 3, 0), (CUBE, -3, 0, 0), (CUBE, 0, 0, -5))
def L05_indexing(a, i, j, k):
    return (a[i], a[i, j], a[i, j, k], a[i][j][k], a[(i, j)], a[:, j], a[..., k], a[i, :, k], a[:, :, k], a[::-1],
            a[:, ::2], a[-1], a[i, ..., k], a[None], a[:, None, j], a[np.newaxis, ..., k], a[-10:10], a[5:2],
            a[i:, :j], a[slice(0, i)], a.T[k], a[...])


@program((CUBE,), (CUBE.T,), (CUBE[::-1, 1:],), (np.zeros((2, 1, 3)),))
def N16_attributes(a):
    n = a.shape
    return (n, a.size, a.ndim, a.strides, len(a), a.itemsize, a.nbytes, a.T, n[-1], n[0:2], n[::-1], n + (1,),
            a.dtype == np.float64, a.dtype == np.float32, a.dtype == "float64", a.dtype != np.int8, a.size > 0)


@program((np.zeros((4, 4)), np.arange(4.0)), (np.zeros((4, 4)).T, np.arange(4.0)[::-1]),
         (np.zeros((4, 4)), np.arange(1.0)))
def N19_assignment(a, b):
    a[:] = b
    a[1, :] = 7
    a[:, 2] = b
    a[2] = a[1]
    a[::2, 1:3] = 3
    a[..., 0] = 2.5
    a[-1, -1] = -1
    a[3, 1:] = (4, 5, 6)
    a[0][1] = 9
    a[1:][0, 0] += 4


@program((np.zeros(3), np.zeros(2)), (np.zeros(3), np.zeros(0)), (np.zeros(0), np.zeros(3)), (np.zeros(3), np.ones(1)))
def ARR_05_shapes_that_do_not_fit(a, b):
    a[:] = b


def test_ARR_05_an_axis_that_does_not_fit():
    assign = njit(lambda a, b: lambda_assign(a, b))
    for a, b in ((np.zeros((3, 3)), np.ones((3, 2))), (np.zeros((2, 3)), np.ones(2)), (np.zeros((2, 3)), np.ones((3, 3)))):
        with pytest.raises(ValueError, match=r"could not broadcast input array from shape \(\d(,\d|,)\) into shape \(\d,\d\)"):
            assign(a, b)
        assert not a.any()


def lambda_assign(a, b):
    a[...] = b


@program((3,), (0,))
def MEM_03_results_nobody_uses(n):
    return np.zeros(n), np.empty((n, 2)).shape, np.ones(n), np.zeros(2).size


@program((np.arange(10.0),), (np.arange(10, dtype=np.int8),))
def N19_overlap(a):
    a[1:] = a[:-1]
    a[:-2] = a[2:]
    a[::-1][:3] = a[:3]


@program((np.zeros(5), np.int8(-1)), (np.zeros(5), np.uint8(4)), (np.zeros(5), np.uint64(4)), (np.zeros(5), 4),
         (np.zeros(5), -6), (np.zeros(5), np.int16(5)))
def L05_index_types(a, i):
    a[i] = 4
    a[i] **= 2


@pytest.mark.parametrize("dtype", "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
                                  "complex128".split())
def test_T03_every_dtype(dtype):
    @njit
    def copy(a):
        b = np.empty(a.shape, a.dtype)
        for i in range(len(a)):
            b[i] = a[i]
        b[:2] = 1
        b[2:] = b[:-2]
        c = np.zeros_like(b)
        c[...] = b
        return c[::-1]

    a = np.array([0, 1, 2, 3, 1], dtype=dtype)
    for x in (a, a[::-1], a[::2], np.arange(10).astype(dtype)[1::2]):
        b = copy.py_func(x)
        assert same(copy(x), b)


def test_T02_float16_is_stored_and_converted():
    @njit
    def f(a, x):
        for i in range(a.size):
            a[i] = a[i] * 2.0 + i
        return a[0] + np.float16(x)

    a = np.array([1.5, 2], np.float16)
    assert f(a, 2.50001) == 5.5 and a.tolist() == [3.0, 5.0]


MAKERS = [
    lambda a: np.zeros((2, 3)), lambda a: np.zeros((2, 3), dtype=np.int32), lambda a: np.zeros((2, 3), np.float32),
    lambda a: np.zeros(a.shape), lambda a: np.zeros(a.shape, a.dtype), lambda a: np.zeros(len(a), dtype=np.complex128),
    lambda a: np.zeros(3, dtype=np.bool_), lambda a: np.zeros(3, dtype=bool), lambda a: np.zeros(3, dtype=int),
    lambda a: np.zeros(shape=(3,), dtype=complex), lambda a: np.zeros((3, 1, 2), dtype="int8"),
    lambda a: np.zeros(0), lambda a: np.zeros(()), lambda a: np.zeros((len(a), a.shape[1]), dtype=np.uint8),
    lambda a: np.zeros(-1 * len(a)), lambda a: np.zeros([2, 3]), lambda a: np.zeros(a.shape[:1] + (2,)),
    lambda a: np.empty((4, 0, 2), np.int16), lambda a: np.ones((2, 2), np.float32), lambda a: np.full(3, 2.5),
    lambda a: np.array([1, 2, 3]), lambda a: np.array([[1, 2.5], [3, len(a)]]), lambda a: np.array((1, 2), np.float32),
    lambda a: np.zeros_like(a), lambda a: np.full_like(a, 3),
    lambda a: np.array(a), lambda a: np.array(a, np.float32), lambda a: np.array(a[:, ::-1].T), lambda a: np.array(a.T),
    lambda a: np.array(a, dtype=np.complex64), lambda a: np.array(a[::2], a.dtype), lambda a: np.asarray(a, np.bool_),
    lambda a: np.asarray([[1.5], [len(a)]]), lambda a: np.asarray(a[0], dtype=np.uint8), lambda a: np.asarray(a=a),
    lambda a: np.zeros_like(a=a), lambda a: np.ones_like(a=a, dtype=np.int8), lambda a: np.full(fill_value=1.5, shape=2),
    lambda a: np.array(a[:0]), lambda a: np.array(object=a, dtype=None), lambda a: np.array(np.asarray(a.T)),
]


@pytest.mark.parametrize("k", range(len(MAKERS)))
def test_N01_makers(k):
    a = np.arange(6).reshape(2, 3)
    expected, got = outcome(MAKERS[k], (a,)), outcome(njit(MAKERS[k]), (a,))
    assert got[1] == expected[1] and same(expected[0], got[0])


def test_N01_array_copies_and_asarray_does_not():
    @njit
    def both(a):
        copy, itself, other = np.array(a), np.asarray(a, np.float64), np.asarray(a, np.float32)
        copy[0] = other[0] = 9
        return copy, itself, other

    for a in (np.arange(4.0), np.arange(8.0)[::-2], np.broadcast_to(1.5, 3)):
        kept = a.copy()
        copy, itself, other = both(a)
        assert itself is a and np.array_equal(a, kept)
        assert not np.shares_memory(copy, a) and copy.flags.writeable and copy.dtype == np.float64
        assert other.dtype == np.float32 and other.tolist() == copy.tolist() == [9, *kept[1:]]
    with pytest.raises(errors.TypingError, match="complex128"):
        both(np.ones(2, complex))


@pytest.mark.parametrize("name", ["i4", "<f8", "=f8", "|i1", "?", "b1", "bool", "int", "float", "complex", "byte", "ubyte", "short",
                                  "intc", "intp", "uint", "half", "single", "double", "e", "f", "d", "F", "D", "b", "B", "h",
                                  "H", "i", "I", "l", "L", "q", "Q", "c8", "c16", "f2", "u8", "complex64", "float16"])
def test_N01_names_of_dtypes_are_numpy_s(name):
    make = eval(f"lambda n: np.zeros(n, '{name}')", {"np": np})
    kind = np.dtype(name)
    assert njit(make)(2).dtype == make(2).dtype and njit(lambda n: np.empty(n, dtype=kind))(2).dtype == kind


# -- algorithms -----------------------------------------------------------------------------------------------------


@program((50,), (2,))
def sieve(n):
    prime = np.ones(n + 1, dtype=np.bool_)
    prime[0] = prime[1] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            prime[i * i::i] = False
        i += 1
    count = 0
    for p in prime:
        if p:
            count += 1
    return count, prime


@program((np.array([3, 1, 2, 5, 4]),), (np.array([2.5, -1.0]),))
def bubble_sort(a):
    n = len(a)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


@program((np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)), (SQUARE, SQUARE.T))
def matrix_product(a, b):
    out = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


@program((np.array([1, 5, 9, 12]), 9), (np.array([1, 5, 9, 12]), 4), (np.zeros(0), 1.5))
def binary_search(a, x):
    low, high = 0, len(a) - 1
    while low <= high:
        middle = (low + high) // 2
        if a[middle] == x:
            return middle
        elif a[middle] < x:
            low = middle + 1
        else:
            high = middle - 1
    return -1


@program((np.arange(10.0), 3), (np.arange(3.0), 3))
def moving_average(a, width):
    out = np.empty(a.size - width + 1)
    s = 0.0
    for i in range(width):
        s += a[i]
    out[0] = s / width
    for i in range(width, a.size):
        s += a[i] - a[i - width]
        out[i - width + 1] = s / width
    return out


@program((np.array([1.0, 2, 3]), np.array([2.0, 4, 6.5])), (np.ones(3), np.ones(3)))
def line_fit(x, y):
    n = len(x)
    sx = sy = sxx = sxy = 0.0
    for a, b in zip(x, y):
        sx += a
        sy += b
        sxx += a * a
        sxy += a * b
    d = n * sxx - sx * sx
    if d == 0:
        raise ZeroDivisionError("degenerate")
    slope = (n * sxy - sx * sy) / d
    return slope, (sy - slope * sx) / n


@program((np.array([0, 1, 1, 3, 2, 9, -1]), 4))
def histogram(a, n):
    counts = np.zeros(n, np.int64)
    for v in a:
        if 0 <= v < n:
            counts[v] += 1
    return counts


@program((np.array([1.0, np.nan, 3]),), (np.array([np.nan]),))
def mean_without_nan(a):
    s = 0.0
    n = 0
    for v in a:
        if not np.isnan(v):
            s += v
            n += 1
    return s / n if n else np.nan


@program((6,))
def pascal(n):
    t = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        t[i, 0] = 1
        for j in range(1, i + 1):
            t[i, j] = t[i - 1, j - 1] + (t[i - 1, j] if j < i else 0)
    return t


@program((12, 18), (0, 5), (2**40, 2**38 * 6))
def greatest_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@program((0.5, 20))
def logistic_map(x, n):
    for _ in range(n):
        x = 3.7 * x * (1 - x)
    return x


@program((np.arange(12.0).reshape(3, 4), 2))
def stencil(a, steps):
    b = np.empty_like(a)
    b[:] = a
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        a, b = b, a
    return a


# -- D01 to D03, T14: decorators --------------------------------------------------------------------------------------


@pytest.mark.parametrize("signature", [
    int64(int64), "int64(int64)", (int64,), "(int64,)", [int64(int64)], ["float64(float64)", int64(int64)],
    "i8(i8)", [(complex128,), (int64,)],
])
def test_D03_forms_of_signatures(signature):
    f = njit(signature)(lambda x: x + x)
    assert f(3) == 6 and f(np.int32(2)) == 4 and (int64,) in f.signatures


def test_D03_types_of_results():
    assert njit("Tuple((int64, float64))(int64)")(lambda x: (x, x))(3) == (3, 3.0)
    assert njit(types.UniTuple(float64, 2)(int32))(lambda x: (x, x))(3) == (3.0, 3.0)
    assert njit("void(int64)")(lambda x: None)(3) is None
    assert same(njit("float64[::1](int64)")(lambda n: np.zeros(n))(2), np.zeros(2))


def test_D02_after_disable_compile_arguments_convert():
    f = njit(lambda x: x * 2)
    f(1), f(2.5)
    f.disable_compile()
    assert f(np.int32(3)) == 6 and f(np.float32(1.5)) == 3.0
    with pytest.raises(TypeError, match=r"signatures: \(int\), \(float\)$"):
        f(1j)


class Colour(enum.IntEnum):
    RED = 4
    BLUE = 5


@program((4,), (5,))
def T14_int_enum(x):
    return x == Colour.RED, Colour.BLUE + x
