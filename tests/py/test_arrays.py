"""TRAPS section F: arrays, indexing, slices, layouts. NumPy on the undecorated function is the oracle."""
import array
import itertools

import numpy as np
import pytest

from quern import errors, float32, int64, njit


@njit
def get1(a, i):
    return a[i]


@njit
def get2(a, i, j):
    return a[i, j]


@njit
def set1(a, i, v):
    a[i] = v


@njit
def set2(a, i, j, v):
    a[i, j] = v


def layouts(a):
    """The same values in every kind of memory."""
    wide = np.zeros((a.shape[0], a.shape[1] * 2), a.dtype)
    wide[:, ::2] = a
    back = np.ascontiguousarray(a[::-1, ::-1])
    frozen = a.copy()
    frozen.flags.writeable = False
    return {"C": np.ascontiguousarray(a), "F": np.asfortranarray(a), "A": wide[:, ::2], "reversed": back[::-1, ::-1],
            "transposed": np.ascontiguousarray(a.T).T, "readonly": frozen}


def test_ARR_01_out_of_bounds_read():
    a = np.arange(5.0)
    for i in (5, 7, -6, 2**62, -2**62):
        with pytest.raises(IndexError, match=rf"index {i} is out of bounds for axis 0 with size 5"):
            get1(a, i)
    b = np.zeros((2, 3))
    for i, j, axis in ((2, 0, 0), (-3, 0, 0), (0, 3, 1), (0, -4, 1)):
        with pytest.raises(IndexError, match=f"axis {axis} with size {b.shape[axis]}"):
            get2(b, i, j)


def test_ARR_01_out_of_bounds_write():
    a = np.zeros(5)
    for i in (5, -6):
        with pytest.raises(IndexError):
            set1(a, i, 1.0)
    with pytest.raises(IndexError):
        set2(np.zeros((2, 3)), 0, 3, 1.0)
    assert not a.any()


def test_ARR_01_loop_that_runs_over():
    """The fast copy of a versioned loop is not taken; what was written before the error stays, as in Python."""
    @njit
    def fill(a, n):
        for i in range(n):
            a[i] = i

    a = np.full(10, -1.0)
    fill(a, 10)
    assert (a == np.arange(10)).all()
    a[:] = -1
    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
        fill(a, 11)
    assert (a == np.arange(10)).all()


def test_ARR_01_loop_with_offset():
    @njit
    def shifted(a, out, k):
        for i in range(a.shape[0]):
            out[i] = a[i + k]
        return out

    a = np.arange(8.0)
    assert (shifted(a, np.zeros(8), 0) == a).all()
    assert shifted(a, np.zeros(8), -1)[0] == 7.0  # wraps like Python
    with pytest.raises(IndexError, match="index 8"):
        shifted(a, np.zeros(8), 1)


def test_ARR_03_negative_indices():
    a = np.arange(6.0).reshape(2, 3)
    for i, j in itertools.product((-2, -1, 0, 1), (-3, -2, -1, 0, 1, 2)):
        assert get2(a, i, j) == a[i, j]
        assert get2(a, np.int8(i), np.int16(j)) == a[i, j]
    last = njit(lambda a: a[-1])
    assert last(np.arange(4)) == 3
    with pytest.raises(IndexError):
        get1(np.arange(4), np.uint64(2**64 - 1))


@pytest.mark.parametrize("n", range(6))
def test_ARR_04_slices(n):
    """Every start, stop and step around the ends, against list slicing."""
    a = np.arange(n, dtype=np.int64)
    expected = list(range(n))
    full = njit(lambda a, i, j, k: a[i:j:k])
    ends = [None] + list(range(-n - 2, n + 3))
    forms = {(True, True): full, (False, True): njit(lambda a, j, k: a[:j:k]), (True, False): njit(lambda a, i, k: a[i::k]),
             (False, False): njit(lambda a, k: a[::k])}
    for start, stop in itertools.product(ends, ends):
        for step in (-3, -2, -1, 1, 2, 3):
            function = forms[start is not None, stop is not None]
            arguments = [x for x in (start, stop) if x is not None] + [step]
            result = function(a, *arguments)
            assert result.tolist() == expected[start:stop:step], (start, stop, step)
    with pytest.raises(ValueError):
        full(a, 0, n, 0)


def test_ARR_04_slices_two_dimensions():
    a = np.arange(20).reshape(4, 5)
    cases = [lambda a: a[1:3], lambda a: a[:, 1:4], lambda a: a[::-1, ::2], lambda a: a[1], lambda a: a[..., 1],
             lambda a: a[1:, 2], lambda a: a[None, 1], lambda a: a[:, None, 3], lambda a: a[-1, ...], lambda a: a[...],
             lambda a: a[1:3, 1:3].T, lambda a: a.T[1:3], lambda a: a[1][2:], lambda a: a[0:0], lambda a: a[5:, 9:]]
    for array in layouts(a).values():
        for function in cases:
            result, expected = njit(function)(array), function(array)
            assert result.shape == expected.shape and result.dtype == expected.dtype
            assert (result == expected).all()


def test_ARR_04_slices_are_views():
    a = np.arange(10.0)
    view = njit(lambda a: a[2:8:2])(a)
    view[0] = 99
    assert a[2] == 99 and view.base is not None

    @njit
    def write_through(a):
        b = a[::2]
        b[1] = -5.0
        c = b[1:]
        c[0] = c[0] * 2

    write_through(a)
    assert a[2] == -10.0


def test_ARR_05_assign_scalar_and_array_to_slice():
    @njit
    def assign(a, b):
        a[1:4] = 7
        a[5:8] = b
        a[::-1][0:2] = b[:2]

    a, b = np.zeros(10), np.arange(3.0)
    expected = a.copy()
    assign.py_func(expected, b)
    assign(a, b)
    assert (a == expected).all()
    with pytest.raises(ValueError):
        njit(lambda_assign)(np.zeros(4), np.zeros(3))


def lambda_assign(a, b):
    a[:] = b


def test_ALS_01_overlapping_assignment():
    @njit
    def shift(x):
        x[1, 3:6] = x[1, 2:5]
        x[0, 0:4] = x[0, 1:5]

    x = np.arange(20).reshape(2, 10)
    expected = x.copy()
    shift.py_func(expected)
    shift(x)
    assert (x == expected).all()


def test_ALS_04_reverse_onto_itself():
    @njit
    def reverse(x):
        x[:] = x[::-1]

    x = np.arange(7)
    reverse(x)
    assert x.tolist() == [6, 5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_ARR_06_zero_size(shape):
    @njit
    def count(a):
        n = 0
        for row in a:
            n += 1
        return n, a.size, a.shape[0], len(a)

    a = np.zeros(shape)
    assert count(a) == (shape[0], 0, shape[0], shape[0])
    with pytest.raises(IndexError):
        njit(lambda a: a[0])(np.zeros((0,)))


def test_ARR_07_zero_dimensions():
    a = np.array(3.5)
    assert njit(lambda a: a[()])(a) == 3.5

    @njit
    def write(a):
        a[()] = 4.0
        return a.ndim, a.size

    assert write(a) == (0, 1) and a == 4.0


def test_ARR_08_layouts():
    a = np.arange(12.0).reshape(3, 4)

    @njit
    def weighted(a):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s = s * 1.5 + a[i, j]
        return s

    expected = weighted.py_func(a)
    for name, array in layouts(a).items():
        assert weighted(array) == expected, name
        assert njit(lambda a: a.strides)(array) == array.strides or name in ("C", "F", "transposed", "readonly")
    broadcast = np.broadcast_to(np.arange(4.0), (3, 4))
    assert weighted(broadcast) == weighted.py_func(broadcast)
    odd = np.lib.stride_tricks.as_strided(np.arange(4.0), (4, 1), (8, 12345))
    assert weighted(odd) == weighted.py_func(odd)


def test_ARR_09_unaligned():
    raw = np.zeros(8 * 5 + 1, np.uint8)
    a = raw[1:].view(np.float64)
    a[:] = np.arange(5)
    total = njit(sum_loop)
    assert total(a) == 10.0
    set1(a, 2, 50.0)
    assert a[2] == 50.0


def sum_loop(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def test_ARR_10_big_endian_is_refused():
    with pytest.raises(TypeError):
        get1(np.zeros(3, ">i4"), 0)


def test_ARR_11_read_only():
    a = np.arange(4.0)
    a.flags.writeable = False
    assert get1(a, 2) == 2.0
    for function in (set1,):
        with pytest.raises((ValueError, TypeError, errors.TypingError)):
            function(a, 0, 1.0)

    @njit
    def through_view(a):
        b = a[1:]
        b[0] = 1.0

    with pytest.raises((ValueError, TypeError, errors.TypingError)):
        through_view(a)
    assert a.tolist() == [0, 1, 2, 3]


def test_ARR_12_views_of_read_only_stay_so():
    a = np.arange(4.0)
    a.flags.writeable = False
    view = njit(lambda a: a[1:])(a)
    assert not view.flags.writeable


def test_ARR_16_huge_sizes():
    make = njit(lambda n, m: np.empty((n, m)))
    for n, m in ((2**32, 2**32), (2**62, 1)):
        with pytest.raises((ValueError, MemoryError)):
            make(n, m)
    with pytest.raises(ValueError):
        make(-1, 3)


@pytest.mark.parametrize("value", [np.zeros(2, object), np.zeros(2, ">U3"), np.zeros(2, np.longdouble)])
def test_ARR_17_unsupported_dtypes(value):
    with pytest.raises(TypeError):
        get1(value, 0)


def test_N01_empty_and_zeros():
    @njit
    def make(n):
        a = np.zeros(n)
        b = np.empty((n, 2), np.int32)
        for i in range(n):
            a[i] = i
            b[i, 0] = i
            b[i, 1] = -i
        return a, b

    a, b = make(4)
    assert a.tolist() == [0, 1, 2, 3] and a.dtype == np.float64
    assert b.tolist() == [[0, 0], [1, -1], [2, -2], [3, -3]] and b.dtype == np.int32
    assert a.flags.owndata or a.base is not None
    assert njit(lambda: np.zeros(3, dtype=np.int64))().tolist() == [0, 0, 0]
    assert njit(lambda: np.zeros((2, 3), float32))().dtype == np.float32
    assert njit(lambda: np.zeros(2, int64))().dtype == np.int64
    assert njit(lambda: np.zeros(2, np.bool_))().dtype == np.bool_


def test_N01_array_attributes():
    function = njit(lambda a: (a.shape, a.size, a.ndim, a.strides, len(a), a.T.shape))
    a = np.zeros((3, 4), np.float32)
    assert function(a) == ((3, 4), 12, 2, (16, 4), 3, (4, 3))


def test_MEM_07_returned_argument_is_the_same_object():
    import sys

    a = np.arange(3)
    identity = njit(lambda a: a)
    before = sys.getrefcount(a)
    assert identity(a) is a
    assert sys.getrefcount(a) == before
    with pytest.raises(IndexError):
        get1(a, 10)
    assert sys.getrefcount(a) == before


def test_TYP_14_types_are_told_apart():
    kind = njit(lambda x: x)
    assert kind(1) == 1 and kind(True) is True and kind(1.0) == 1.0 and isinstance(kind(1.0), float)
    assert kind(np.bool_(True)) is True
    assert kind("text") == "text" and kind(["text"]) == ["text"]
    assert kind(b"bytes") == b"bytes" and kind({1: b"bytes"}) == {1: b"bytes"}
    for value in ([memoryview(b"bytes")], {1: memoryview(b"bytes")}, object()):
        with pytest.raises(TypeError):
            kind(value)
    with pytest.raises(TypeError):
        kind(np.ma.masked_array([1, 2]))


def test_N20_buffers_are_arrays():
    """memoryview and array.array: their memory, as NumPy sees it."""
    total = njit(lambda a: (a.sum(), len(a), a[-1]))
    numbers = array.array("d", [1, 2, 3])
    assert total(numbers) == (6, 3, 3) and total(memoryview(numbers)[::2]) == (4, 2, 3) and total(memoryview(b"abc")) == (294, 3, 99)

    @njit
    def double(a, times=1):
        a *= 2
        return a[1:]

    part = double(numbers)
    assert numbers.tolist() == [2, 4, 6] and part.tolist() == [4, 6]
    with pytest.raises(BufferError):
        numbers.append(1)  # `part` looks at it
    assert double(a=memoryview(numbers), times=3).tolist() == [8, 12]
    del part
    numbers.append(1)
    grid = memoryview(np.arange(6.0)).cast("B").cast("d", (2, 3))
    assert njit(lambda g: (g.shape, g[1, 2]))(grid) == ((2, 3), 5.0)
    assert njit(lambda b: np.frombuffer(b, np.int16))(memoryview(b"abcd")).tolist() == [25185, 25699]
    with pytest.raises(errors.TypingError, match="read-only"):
        double(memoryview(b"abc"))
    gone = memoryview(bytearray(4))
    gone.release()
    with pytest.raises(ValueError):
        total(gone)
    with pytest.raises(TypeError):
        total(array.array("u", "abc"))


def test_TYP_12_tuple_arguments():
    total = njit(lambda t: t[0] + t[1])
    assert total((1, 2)) == 3 and total((1, 2.5)) == 3.5
    at = njit(lambda t, i: t[i])
    assert at((5, 6, 7), -1) == 7 and at((5, 6, 7), 1) == 6
    with pytest.raises(IndexError):
        at((5, 6, 7), 3)
    with pytest.raises(errors.TypingError):
        njit(lambda t: t[2])((1, 2))
