"""Zero divisors that the compiler looks for a strip ahead of the division: the exception must come in the round in which
CPython raises it, with all stores before it done and none after it, whatever the stores do to the divisors. Every function
runs in CPython and compiled on views of one buffer, and all of the buffer is compared."""
import functools
import math
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from quern import njit

STRIP = 1024
SIZES = (0, 1, 2, 15, 16, 17, STRIP - 1, STRIP, STRIP + 1, 2 * STRIP, 2 * STRIP + 17)


class Cells:
    """An array whose elements are Python numbers: with NumPy's own, a division by zero is no exception."""

    def __init__(self, array):
        self.array = array
        self.shape = array.shape

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        return self.array[index].item()

    def __setitem__(self, index, value):
        self.array[index] = value


@functools.lru_cache(None)
def compiled(function, **options):
    return njit(**options)(function)


def outcome(function, wrap, make):
    """Result or exception of function(*views), and the memory behind them."""
    memory, views = make()
    try:
        result = function(*(wrap(v) if isinstance(v, np.ndarray) else v for v in views))
    except (ZeroDivisionError, ValueError, OverflowError) as error:
        result = type(error)
    return result, memory


def check(function, make, **options):
    expected, before = outcome(function, Cells, make)
    for unchecked in (None, False):
        found, after = outcome(compiled(function, boundscheck=unchecked, **options), lambda a: a, make)
        assert expected == found, (expected, found, unchecked)
        for x, y in zip(before, after):
            assert np.array_equal(x, y, equal_nan=x.dtype.kind == "f"), unchecked
    return expected


def numbers(n, dtype=float):
    """Not zero, of both signs, and not all alike."""
    values = np.arange(n) % 7 + 1
    return (values * np.where(np.arange(n) % 3, 1, -1)).astype(dtype)


def positions(n):
    """Where zeros may stand: nowhere, in one place, in two."""
    places = {p for p in (0, n // 2, n - 1, STRIP - 1, STRIP, STRIP + 1, 2 * STRIP - 1) if 0 <= p < n}
    return [()] + [(p,) for p in sorted(places)] + ([(n - 1, n // 3)] if n > 1 else [])


def separate(n, zeros, dtype=float, out=None):
    def make():
        a, b, c = numbers(n, dtype)[::-1].copy(), numbers(n, dtype), np.zeros(n, out or dtype)
        b[list(zeros)] = 0
        return (a, b, c), (a, b, c)
    return make


def quotient(a, b, out):
    for i in range(len(out)):
        out[i] = a[i] / b[i]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, np.uint16])
def test_where_the_zero_stands(n, dtype):
    out = np.float32 if dtype is np.float32 else np.float64
    for zeros in positions(n):
        result = check(quotient, separate(n, zeros, dtype, out))
        assert (result is None) == (not zeros)


def floor_quotient(a, b, out):
    for i in range(len(out)):
        out[i] = a[i] // b[i]


def remainder(a, b, out):
    for i in range(len(out)):
        out[i] = a[i] % b[i]


@pytest.mark.parametrize("function", [floor_quotient, remainder])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int32])
def test_floor_division_and_remainder(function, dtype):
    for n in (0, 1, 17, STRIP + 1):
        for zeros in positions(n):
            check(function, separate(n, zeros, dtype))


def test_smallest_int_by_minus_one():
    def make():
        a, b = np.full(40, -2**63), np.full(40, -1)
        return (), (a, b, np.zeros(40, np.int64))
    for function, answer in ((floor_quotient, -2**63), (remainder, 0)):
        _, views = make()
        compiled(function)(*views)
        assert (views[2] == answer).all()
    assert check(quotient, separate(40, ())) is None


def test_divisors_that_are_no_numbers_or_nearly_zero():
    for special in (math.nan, math.inf, -math.inf, 5e-324, -5e-324):
        def make():
            memory, views = separate(100, ())()
            views[1][40:60] = special
            return memory, views
        assert check(quotient, make) is None
    def negative_zero():
        memory, views = separate(100, ())()
        views[1][50] = -0.0
        return memory, views
    assert check(quotient, negative_zero) is ZeroDivisionError


# -- arrays that overlap --------------------------------------------------------------------------------


def one_buffer(n, a, b, out, zeros_of_a=(), zeros_of_b=(), total=None):
    """Three windows of a buffer, given as slices; a is separate where None."""
    def make():
        memory = numbers(total or 3 * n + 8)
        alone = numbers(n)[::-1].copy()
        views = [alone if a is None else memory[a], memory[b], memory[out]]
        views[1][list(zeros_of_b)] = 0
        views[0][list(zeros_of_a)] = 0
        return (memory, alone), tuple(views)
    return make


@pytest.mark.parametrize("n", [17, 40, STRIP + 5])
def test_stores_that_become_divisors(n):
    for shift in (1, 2, 7, 16):
        ahead, behind = slice(shift, shift + n), slice(0, n)
        for zeros in ((), (0,), (n // 2,), (n - 1,), (5,)):
            check(quotient, one_buffer(n, None, behind, ahead, zeros_of_a=zeros))  # a zero stored now is divided by later
            check(quotient, one_buffer(n, None, behind, ahead, zeros_of_b=zeros))
            check(quotient, one_buffer(n, None, ahead, behind, zeros_of_a=zeros))
            check(quotient, one_buffer(n, None, ahead, behind, zeros_of_b=zeros))  # a zero may be written over in time
    # found and not found: the zero of a is stored, and divided by one round later
    assert check(quotient, one_buffer(n, None, slice(0, n), slice(1, n + 1), zeros_of_a=(3,))) is ZeroDivisionError
    assert check(quotient, one_buffer(n, None, slice(0, n), slice(1, n + 1), zeros_of_b=(3,))) is None


@pytest.mark.parametrize("n", [17, 40, STRIP + 5])
def test_stores_with_steps_and_backwards(n):
    forth, total = slice(0, n), 4 * n + 8
    for out in (slice(n - 1, None, -1), slice(0, 2 * n, 2), slice(2 * n, 0, -2), slice(n, 2 * n), slice(n - 1, 2 * n - 1)):
        for zeros in ((), (0,), (n // 2,), (n - 1,)):
            check(quotient, one_buffer(n, None, forth, out, zeros_of_a=zeros, total=total))
            check(quotient, one_buffer(n, None, forth, out, zeros_of_b=zeros, total=total))


@pytest.mark.parametrize("n", [17, STRIP + 5])
def test_one_array_for_several(n):
    everything = slice(0, n)
    for zeros in positions(n):
        check(quotient, one_buffer(n, None, everything, everything, zeros_of_b=zeros))  # out is b
        check(quotient, one_buffer(n, everything, everything, everything, zeros_of_b=zeros))
        check(quotient, one_buffer(n, everything, slice(n, 2 * n), everything, zeros_of_b=zeros))  # out is a


def reciprocal(b):
    for i in range(len(b)):
        b[i] = 1.0 / b[i]


def reciprocal_of_next(b):
    for i in range(len(b) - 1):
        b[i] = 1.0 / b[i + 1]


def reciprocal_of_last(b):
    for i in range(1, len(b)):
        b[i] = 1.0 / b[i - 1] - 1.0


def stored_first(a, b, out):
    for i in range(len(b)):
        b[i] = a[i]
        out[i] = 1.0 / b[i]


def one_element(b, k):
    for i in range(len(b)):
        b[k] = 1.0 / b[k] - 1.0


def one_divisor(a, b, k):
    for i in range(len(a)):
        a[i] = a[i] / b[k] - 1.0


def differences(b, out):
    for i in range(1, len(b)):
        out[i] = 1.0 / b[i] - 1.0 / b[i - 1]


def test_a_loop_that_stores_into_its_divisors():
    for n in (17, STRIP + 5):
        for zeros in positions(n):
            def make():
                b = numbers(n)
                b[list(zeros)] = 0
                return (b,), (b,)
            check(reciprocal, make)
            check(reciprocal_of_next, make)
            check(reciprocal_of_last, make)
            check(stored_first, separate(n, zeros))
            check(stored_first, lambda: tuple((v[1], v[0], v[2]) for v in separate(n, zeros)()))
        ones = np.ones(n) / 2  # 1 / 0.5 - 1 == 1, then 0
        assert check(one_element, lambda: ((c := ones.copy(),), (c, 3))) is ZeroDivisionError
        assert check(reciprocal_of_last, lambda: ((c := ones.copy(),), (c,))) is ZeroDivisionError
        assert check(differences, lambda: ((c := ones.copy(),), (c, c))) is ZeroDivisionError
        twos = np.full(n, 2.0)
        for k in (0, 5, n - 1):  # the divisor is one of the elements that the loop changes, to 1 / 2 - 1 or 2 / 2 - 1
            check(one_divisor, lambda: ((c := twos.copy(),), (c, c, k)))
        assert check(one_divisor, lambda: ((c := twos.copy(),), (c, c, 5))) is ZeroDivisionError


# -- when a guard is reached ------------------------------------------------------------------------------


def sometimes(a, b, out):
    for i in range(len(out)):
        if i % 2:
            out[i] = a[i] / b[i]


def until(a, b, out):
    for i in range(len(out)):
        if b[i] == 0.0:
            break
        out[i] = a[i] / b[i]


def two_stores(a, b, out):
    for i in range(len(out)):
        a[i] = 5.0
        out[i] = a[i] / b[i]


def two_divisors(a, b, out):
    for i in range(len(out)):
        out[i] = 1.0 / a[i] + 2.0 / b[i] + a[i] / 3.0


def nested(a, b, out):
    for i in range(len(out)):
        out[i] = 1.0 / (1.0 / a[i] - 1.0 / b[i])


def counts(a, b, out):
    k = 0
    for i in range(len(out)):
        k += a[i] / b[i] > 1.0
    return k


def sums(a, b, out):
    s = 0.0
    for i in range(len(out)):
        s += a[i] / b[i]
    return s


def last(a, b, out):
    x = 0.0
    i = -1
    for i in range(len(out)):
        x = a[i] / b[i]
    return x, i


def roots(a, b, out):
    for i in range(len(out)):
        out[i] = a[i] / math.sqrt(abs(b[i]))


def products(a, b, out):
    for i in range(len(out)):
        out[i] = 1.0 / (a[i] * b[i])


def ranges(a, b, out):
    for i in range(3, len(out) - 2):
        out[i + 1] = a[i - 1] / b[i + 2]


def backwards(a, b, out):
    for i in range(len(out) - 1, -1, -1):
        out[i] = a[i] / b[i]


def by_counter(a, b, out):
    for i in range(len(out)):
        out[i] = a[i] / (i - 20)


def by_argument(a, b, out):
    x = b[len(b) - 1]
    for i in range(len(out)):
        out[i] = a[i] / x


def constant_count(a, b, out):
    for i in range(40):
        out[i] = a[i] / b[i]


@pytest.mark.parametrize("function", [sometimes, until, two_stores, two_divisors, nested, counts, last, roots,
                                      products, ranges, backwards, by_counter, sums])
def test_which_round_raises(function):
    for n in (1, 5, 16, 40, STRIP, 2 * STRIP + 1):
        for zeros in positions(n):
            check(function, separate(n, zeros))
    for n in (40, STRIP):
        for zeros in ((), (0,), (n - 1,)):
            check(by_argument, separate(n, zeros))
            check(constant_count, separate(n, zeros))


def test_products_that_become_zero():
    for tiny, answer in ((1e-200, ZeroDivisionError), (1e-100, None)):
        def make():
            memory, views = separate(50, ())()
            views[0][30] = views[1][30] = tiny
            return memory, views
        result = check(products, make)
        assert result is answer
    def make():
        memory, views = separate(50, ())()
        views[1][30] = 5e-324
        return memory, views
    assert check(roots, make) is None


def rows(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[i, j] / b[i, j]


def columns(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[j, i] / b[i, 0]


def rows_in_place(b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] = 1.0 / b[i, j]


@pytest.mark.parametrize("order", "CF")
def test_nests(order):
    for n in (0, 1, 3, 33):
        for at in (None, (0, 0), (n // 2, n // 2), (n - 1, n - 1), (n - 1, 0)):
            def make():
                a, b = (np.array(numbers(n * n).reshape(n, n), order=order) for _ in range(2))
                if at and n:
                    b[at] = 0
                return (a, b), (a, b, np.zeros_like(a))
            for function in (rows, columns):
                check(function, make)
            check(rows_in_place, lambda: ((c := make()[0][1],), (c,)))
            def shifted():
                memory = numbers((n + 1) * n)
                upper, lower = memory[:n * n].reshape(n, n), memory[n:].reshape(n, n)
                a = numbers(n * n).reshape(n, n)
                if at and n:
                    a[at] = 0
                return (memory, a), (a, upper, lower)
            check(rows, shifted)


def fresh(a, b):
    out = np.empty(len(a))
    for i in range(len(a)):
        out[i] = a[i] / b[i]
    return out


def fresh_divisors(a, out):
    b = np.empty(len(a))
    for i in range(len(a)):
        b[i] = a[i]
    for i in range(len(a)):
        out[i] = 1.0 / b[i]


def test_arrays_made_in_the_function():
    for n in (17, STRIP + 1):
        a, b = numbers(n), numbers(n)[::-1].copy()
        assert np.array_equal(compiled(fresh)(a, b), a / b)
        out = np.zeros(n)
        compiled(fresh_divisors)(a, out)
        assert np.array_equal(out, 1.0 / a)
        a[n - 1] = 0
        with pytest.raises(ZeroDivisionError):
            compiled(fresh)(b, a)
        with pytest.raises(ZeroDivisionError):
            compiled(fresh_divisors)(a, a)
        assert np.array_equal(a[:n - 1], out[:n - 1]) and a[n - 1] == 0


def test_the_error_model_of_numpy_and_fastmath():
    for n in (17, STRIP + 1):
        a, b, out = numbers(n), numbers(n), np.zeros(n)
        b[n - 2], a[n - 1], b[n - 1] = 0, 0, 0
        compiled(quotient, error_model="numpy")(a, b, out)
        with np.errstate(all="ignore"):
            assert np.array_equal(out, a / b, equal_nan=True)
        with pytest.raises(ZeroDivisionError):
            compiled(quotient, fastmath=True)(a, b, out)
        with pytest.raises(ZeroDivisionError):
            compiled(sums, fastmath=True)(a, b, out)


def test_what_lies_behind_a_zero_is_not_read_unchecked():
    """Without checks a zero may be what ends a loop: the page behind it must not be touched."""
    program = textwrap.dedent("""
        import ctypes, mmap
        import numpy as np
        from quern import njit

        @njit(boundscheck=False)
        def until_zero(b, out, n):
            for i in range(n):
                out[i] = 1.0 / b[i]

        @njit(boundscheck=False)
        def down_to_zero(b, out, n):
            for i in range(n):
                out[i] = 1.0 / b[n - 1 - i - 3000]

        @njit(boundscheck=False)
        def from_behind(a, b, out, n):
            for i in range(n):
                out[i] = 1.0 / a[i] + 1.0 / b[n + 5 - i]

        page = mmap.PAGESIZE
        memory = mmap.mmap(-1, 3 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        for k in (0, 2):
            assert libc.mprotect(start + k * page, page, 0) == 0
        b = np.frombuffer((ctypes.c_double * (page // 8)).from_address(start + page))
        for length in (20, 300):
            part, out = b[-length:], np.zeros(4000)
            part[:] = 2
            part[-1] = 0
            try:
                until_zero(part, out, 3000)
            except ZeroDivisionError:
                assert (out[:length - 1] == 0.5).all() and not out[length - 1:].any()
                print("raised", length)
            part, out = b[:length], np.zeros(4000)
            part[:] = 2
            part[0] = 0
            try:
                down_to_zero(part, out, 3000 + length)
            except ZeroDivisionError:
                assert (out[:length - 1] == 0.5).all() and not out[length - 1:].any()
                print("raised", length)
            try:
                from_behind(np.zeros(length), b[-length:], out, length)
            except ZeroDivisionError:
                print("raised", length)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["raised", "20"] * 3 + ["raised", "300"] * 3
