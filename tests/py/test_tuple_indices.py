"""Tuples with items of one type under indices that are known at run time only: few and many items, constant and not; against CPython."""
import time

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import cuda, njit

SIZES = [2, 16, 17, 32, 33, 257, 1500]
MAKERS = {
    "ints": lambda k: k * 3 - 7, "floats": lambda k: k / 7, "bools": lambda k: k % 3 == 0, "complex": lambda k: complex(k, -k), "text": lambda k: f"n{k}",
    "pairs": lambda k: (k, k / 3), "same pairs": lambda k: (k, -k), "float32": lambda k: np.float32(k), "uint8": lambda k: np.uint8(k % 256),
    "arrays": lambda k: np.arange(k % 5 + 1.0), "text and numbers": lambda k: (f"n{k}", k), "mixed": lambda k: k if k % 3 else k / 2,
    "None or not": lambda k: None if k % 4 == 1 else k}


def at(t, i):
    return t[i]


def walked(t):
    last = t[0]
    n = 0
    for x in t:
        last = x
        n += 1
    return n, last


def same(a, b):
    if isinstance(a, np.ndarray):
        return (a == b).all()
    return a == b and type(a) is type(b)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", MAKERS)
def test_items_of_arguments(kind, n):
    n = min(n, 300) if kind in ("text", "arrays", "text and numbers") else n
    t = tuple(map(MAKERS[kind], range(n)))
    compiled, walk = njit(at), njit(walked)
    for i in (0, 1, n // 2, n - 1, -1, -n):
        a, b = compiled(t, i), t[i]
        if kind == "mixed":
            b = float(b)  # the items have one type
        assert same(a, b) or kind in ("float32", "uint8") and a == b
    for i in (n, -n - 1, 10 ** 12):
        with pytest.raises(IndexError, match="tuple index out of range"):
            compiled(t, i)
    count, last = walk(t)
    assert count == n and (same(last, t[-1]) or last == t[-1])


def test_arrays_in_a_tuple_are_written():
    @njit
    def fill(t, n):
        for k in range(n):
            t[k % len(t)][0] += k
    t = tuple(np.zeros(2) for _ in range(40))
    fill(t, 100)
    u = tuple(np.zeros(2) for _ in range(40))
    fill.py_func(u, 100)
    assert all((a == b).all() for a, b in zip(t, u))


TABLE = tuple(range(300))
HALVES = tuple(k / 7 if k % 2 else k for k in range(300))
NARROW = tuple(np.int16(k) for k in range(300))
FLAGS = tuple(k % 5 == 0 for k in range(300))
TURNS = tuple(complex(k, 2 * k) for k in range(300))


def constants(i):
    return TABLE[i], HALVES[i], NARROW[i], FLAGS[i], TURNS[i], TABLE[i - 3]


def made(a, i, n):
    s = 0
    for k in range(n):
        t = (a, a + k, a * 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, k)
        s += t[i] + t[(i + k) % 19]
    return s


def chosen(t, u, c, i):
    v = t if c else u
    s = 0
    for k in range(3):
        s += v[i + k]
        if k == 1:
            v = u
    return s


def through_functions(t, i):
    def inner(k):
        return t[k] * 2

    def deep(u, k):
        return u[0] if k == 0 else u[k] + deep(u, k - 1)
    return inner(i) + deep(t, i)


def caught(t, i):
    try:
        return t[i]
    except IndexError:
        return -1.0


@pytest.mark.parametrize("i", [0, 5, 17, -1, -19])
def test_tuples_that_are_made_chosen_and_passed_on(i):
    many, others = tuple(range(50)), tuple(range(100, 150))
    assert njit(constants)(i) == constants(i)
    assert njit(made)(5, i, 30) == made(5, i, 30)
    for c in (True, False):
        assert njit(chosen)(many, others, c, abs(i)) == chosen(many, others, c, abs(i))
    assert njit(through_functions)(many, abs(i)) == through_functions(many, abs(i))
    floats = tuple(map(float, range(20)))
    assert njit(caught)(floats, i + 10) == caught(floats, i + 10)


def test_in_kernels(device):
    @cuda.jit
    def kernel(t, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = t[i] + HALVES[i] + TABLE[(i * 7) % 300]

    t, out = tuple(float(3 * k) for k in range(100)), np.zeros(100)
    kernel[4, 32](t, out)
    assert (out == [t[i] + HALVES[i] + TABLE[(i * 7) % 300] for i in range(100)]).all()


def test_ten_thousand_take_ten_times_as_long_as_a_thousand():
    def first_call(n):
        best = 1e9
        for _ in range(3):
            t = tuple(map(float, range(n)))
            compiled = njit(lambda t, i: t[i] + t[i - 1])
            start = time.process_time()
            assert compiled(t, n - 5) == 2 * n - 11
            best = min(best, time.process_time() - start)
        return best
    few, many = first_call(1000), first_call(10000)
    assert many < 30 * few + 0.1
