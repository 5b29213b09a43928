"""What functions of the library take and refuse: scalars as arrays, axes that are known at run time, wrong types; constants in literal_unroll."""
import heapq

import numpy as np
import pytest

import quern
from quern import errors, literal_unroll, literally, njit, types
from quern.experimental import jitclass
from quern.extending import overload


def same(function, *args):
    want, got = function(*args), njit(function)(*args)
    assert np.array_equal(want, got) and np.shape(want) == np.shape(got)
    assert np.asarray(want).dtype == np.asarray(got).dtype
    assert isinstance(want, np.ndarray) == isinstance(got, np.ndarray)


def same_error(function, *args, message=None):
    with pytest.raises(Exception) as python:
        function(*args)
    with pytest.raises(type(python.value), match=message):
        njit(function)(*args)


# -- arrays --------------------------------------------------------------------------------------------------------

def test_numbers_and_sequences_are_arrays():
    def flat(a):
        return np.flatnonzero(a)

    def where(a):
        return np.argwhere(a)
    for value in (5.0, 0.0, True, 2j, (0, 1, 2), [1, 0], np.array(3.0), np.array([[0, 1], [2, 0]])):
        same(flat, value)
        same(where, value)


def test_take_along_an_axis_of_run_time():
    def take(a, indices, axis):
        return np.take(a, indices, axis=axis)

    def method(a, i, axis):
        return a.take(i, axis)
    a = np.arange(24).reshape(2, 3, 4)
    for axis in (0, 1, 2, -1, -3):
        same(take, a, np.array([0, 1]), axis)
        same(method, a, 1, axis)
    same_error(take, a, np.array([0, 1]), 3)
    same_error(take, a, np.array([7]), 0)


def test_quantiles_of_an_array_without_axes():
    def percentile(a, q):
        return np.percentile(a, q)
    for q in (np.array(50.0), 50.0, np.array([50.0])):
        same(percentile, np.arange(5.0), q)


def test_errors_are_those_of_numpy():
    def ptp(a):
        return np.ptp(a)

    def largest(a):
        return a.max()

    def smallest(a):
        return np.min(a, axis=0)

    def shapes(a, b):
        return np.broadcast_shapes(a, b)
    same_error(ptp, np.array([True, False]), message="numpy boolean subtract")
    same_error(largest, np.array([]), message="reduction operation maximum which has no identity")
    same_error(smallest, np.zeros((0, 3)), message="reduction operation minimum which has no identity")
    same_error(shapes, (2, -1), (2, 1), message="negative dimensions are not allowed")
    same_error(shapes, -2, (1,))
    same(ptp, np.array([3, 1, 7]))
    same(shapes, (2, 1), 5)


def test_buffers():
    def pairs(b):
        return np.frombuffer(b, np.uint16)
    for b in (b"abcd", bytearray(b"abcdef")):
        assert np.array_equal(njit(pairs)(b), np.frombuffer(b, np.uint16))
    same_error(pairs, bytearray(b"abc"))

    @njit
    def write(b):
        a = np.frombuffer(b, np.uint8)
        a[0] = 1
    with pytest.raises(errors.TypingError, match="read-only"):  # Python's bytearray would not see it
        write(bytearray(b"abc"))


def test_the_item_of_a_number():
    @njit
    def item(x):
        return x.item()
    for x in (np.float32(1.5), np.bool_(True), np.int64(3), np.complex128(2j), np.array([7]), np.array(2.5)):
        assert item(x) == x.item()

    @njit
    def far(x):
        return x.item(1)
    assert far(np.array([1, 2])) == 2
    with pytest.raises(IndexError):
        far(np.float64(1))


# -- wrong types ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("call, arguments, message", [
    (lambda h: heapq.heapify(h), ((1, 2),), "heap argument must be a list"),
    (lambda h: heapq.heappop(h), ((1, 2),), "heap argument must be a list"),
    (lambda h: heapq.heappush(h, 1), ((1, 2),), "heap argument must be a list"),
    (lambda h: heapq.heappushpop(h, 1), (np.zeros(2),), "heap argument must be a list"),
    (lambda h: heapq.heapreplace(h, 1), (3,), "heap argument must be a list"),
    (lambda n, x: heapq.nlargest(n, x), (2.5, [1, 2]), "'n' must be an integer"),
    (lambda n, x: heapq.nsmallest(n, x), (2.5, [1, 2]), "'n' must be an integer"),
    (lambda x: hash(x), ([1],), "unhashable type: 'list'"),
    (lambda x: hash(x), ({1: 2},), "unhashable type: 'dict'"),
    (lambda x: hash((x, 1)), ({1},), "unhashable type: 'set'"),
    (lambda x: hash(x), (np.zeros(2),), "unhashable type: 'numpy.ndarray'"),
    (lambda a, axis: np.argmax(a, axis), (np.zeros((2, 2)), "x"), "axis must be an integer"),
    (lambda a: np.transpose(a, (1.0, 0.5)), (np.zeros((2, 2)),), "axis must be an integer"),
])
def test_types_that_are_refused_with_a_reason(call, arguments, message):
    with pytest.raises(errors.TypingError, match=message):
        njit(call)(*arguments)


def test_numbers_of_instances():
    @jitclass([("x", types.float64)])
    class Real:
        def __init__(self, x):
            self.x = x

        def __float__(self):
            return self.x

    @jitclass([("n", types.int64)])
    class Whole:
        def __init__(self, n):
            self.n = n

        def __index__(self):
            return self.n

    @njit
    def numbers(x):
        return complex(x), float(x)

    @njit
    def whole(x):
        return int(x), float(x), complex(x)
    assert numbers(Real(2.5)) == (2.5 + 0j, 2.5)
    assert whole(Whole(7)) == (7, 7.0, 7 + 0j)

    @njit
    def wrong(x):
        return int(x)
    with pytest.raises(errors.TypingError, match="int cannot be called"):
        wrong(Real(2.5))


# -- constants -----------------------------------------------------------------------------------------------------

def length(x):
    raise NotImplementedError


@overload(length)
def length_of_literal(x):
    if isinstance(x, types.StringLiteral):
        n = len(x.literal_value)
        return lambda x: n
    if isinstance(x, types.IntegerLiteral):
        n = x.literal_value
        return lambda x: n


def test_literal_unroll_keeps_constants():
    @njit
    def mixed():
        total = 0
        for x in literal_unroll(("apple", "orange", 33)):
            total += length(x)
        return total

    @njit
    def sliced():
        xs = (1000, 2000, 3000)
        total = 0
        for x in literal_unroll(xs[:2]):
            total += length(x)
        return total

    @njit
    def named():
        return length(literally(12))
    assert (mixed(), sliced(), named()) == (44, 3000, 12)


def test_an_overload_that_asks_for_the_value_gets_it_or_says_so():
    def power(x, n):
        raise NotImplementedError

    @overload(power)
    def power_of_a_constant(x, n):
        if isinstance(n, types.Literal):
            k = n.literal_value
            return lambda x, n: x ** k
        return (lambda x, n: literally(n)) if x == types.float64 else (lambda x, n: quern.literally(n))

    @njit
    def cubed(x):
        return power(x, 3)

    @njit
    def squared(x):
        n = 2
        return power(x, n=n)

    @njit
    def any_power(x, n):
        return power(x, n)

    assert (cubed(2.0), squared(2.5), cubed(3), squared(np.float32(1.5))) == (8.0, 6.25, 27, 2.25)
    for x in (2.0, 2):
        with pytest.raises(errors.TypingError, match="'power_of_a_constant' asks for the value of 'n' .* not known"):
            any_power(x, 3)

    def longer(x, n):
        raise NotImplementedError

    @overload(longer)
    def longer_by_a_constant(x, n):
        return lambda x, n: len(x) + literally(n)  # whatever the types are: a constant comes back as itself
    assert njit(lambda x: longer(x, 4))((1, 2, 3)) == 7


def test_literal_unroll_of_a_mixed_list():
    @njit
    def f(n):
        total = 0
        for x in literal_unroll([np.ones(n), np.ones((n, n)), "text", (1, 2, 3)]):
            total += len(x)
        return total

    @njit
    def g():
        xs = ["a", 8]
        total = 0
        for x in literal_unroll(xs):
            total += length(x)
        return total
    assert f(5) == 17 and g() == 9
