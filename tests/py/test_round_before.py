"""Variables that keep a value of the round before, where a test is of this round's (codegen/llvm/starts.c): LLVM 19 took the one for the
other, so that an index from the end was read in front of the array."""
import numpy as np
import pytest

from quern import cuda, njit

HOW = [{}, {"boundscheck": False}, {"opt": 1}, {"opt": 1, "boundscheck": False}, {"opt": 2}]


def two_rounds(a, b, n, m):
    p, q, x = -1, 0, 0
    for i in range(n):
        if p >= 0:
            x += a[q]
        for _ in range(m):
            b[0] = x
        q, p = p, i
    return x


def counted(a, b, n, m):
    q = x = 0
    i = -m
    while i < n:
        if i >= 0:
            x += a[q]
        for _ in range(m):
            b[0] = x
        q = i
        i += 1
    return x


def in_a_range(a, b, n, m):
    q = x = 0
    for i in range(-m, n):
        if i >= 0:
            x += a[q]
        for _ in range(m):
            b[0] = x
        q = i
    return x


def down(a, b, n, m):
    q, x = n, 0
    for i in range(n, -m - 1, -1):
        if i < n - 2:
            x += a[q - n]
        for _ in range(m):
            b[0] = x
        q = i
    return x


def on_two_ways(a, b, n, m):
    q = x = 0
    for i in range(-m, n):
        if i >= 0:
            x += a[q]
        for _ in range(m):
            b[0] = x
        q = i + 1 if i > n else i
    return x


def in_two_loops(a, b, n, m):
    x = 0
    for _ in range(2):
        q = 0
        for i in range(-m, n):
            if i >= 0:
                x += a[q]
            for _ in range(m):
                b[0] = x
            q = i
    return x


def in_a_tuple(a, b, n, m):
    last, x = (0, 0), 0
    for i in range(-m, n):
        if i >= 0:
            x += a[last[0]]
        for _ in range(m):
            b[0] = x
        last = i, x
    return x


def of_32_bits(a, b, n, m):
    q, x = np.int32(0), 0
    for i in range(np.int32(-m), np.int32(n)):
        if i >= 0:
            x += a[q]
        for _ in range(m):
            b[0] = x
        q = i
    return x


def from_an_array(a, b, n, m):
    q, x = b[1], 0
    for i in range(-m, n):
        if i >= 0:
            x += a[q]
        for _ in range(m):
            b[0] = x
        q = i
    return x


@njit
def item(a, k):
    return a[k]


@njit
def same(k):
    return k


def read_by_a_function(a, b, n, m):
    x = last = 0
    for i in range(-m, n):
        for _ in range(m):
            b[0] = x
        if i >= 0:
            x += item(a, last)
        last = i
    return x


def given_by_a_function(a, b, n, m):
    x = last = 0
    for i in range(-m, n):
        for _ in range(m):
            b[0] = x
        if i >= 0:
            x += a[last]
        last = same(i)
    return x


LOOPS = [two_rounds, counted, in_a_range, down, on_two_ways, in_two_loops, in_a_tuple, of_32_bits, from_an_array,
         read_by_a_function, given_by_a_function]


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_indices_from_the_round_before(f):
    for options in HOW:
        g = njit(**options)(f)
        for n, m in ((6, 3), (1, 1), (0, 2), (9, 1), (16, 4)):
            a, b = np.arange(1, 33) ** 2, np.zeros(4, np.int64)
            assert g(a, b, n, m) == f(a, b.copy(), n, m), (options, n, m)


@pytest.mark.parametrize("f", LOOPS, ids=lambda f: f.__name__)
def test_indices_from_the_round_before_in_kernels(f, device):
    inner = cuda.jit(device=True)(f)

    @cuda.jit
    def kernel(a, b, out, n, m):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = inner(a, b[i], n + i, m)

    a, b, out = np.arange(1, 33) ** 2, np.zeros((8, 4), np.int64), np.zeros(8, np.int64)
    kernel[2, 4](a, b, out, 3, 3)
    cuda.synchronize()
    assert out.tolist() == [f(a, np.zeros(4, np.int64), 3 + i, 3) for i in range(8)]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_two_that_go_on(kind):
    """Fibonacci's numbers, and greatest divisors: what begins the loop is of any type."""
    @njit
    def numbers(a, b, n):
        for _ in range(n):
            a, b = b, a + b
        return a

    @njit
    def divisor(a, b):
        while b:
            a, b = b, a % b
        return a

    one = kind(1)
    assert numbers(kind(0), one, 10) == 55 and numbers(kind(0), one, 0) == 0
    assert divisor(kind(96), kind(36)) == 12 and divisor(kind(7), kind(0)) == 7
