"""What a library does with Quern: it implements a function for compiled code by the types of its arguments (overload), has C sort with a
compiled comparison (cfunc), calls C's mathematics (ctypes), solves an equation by a method chosen at run time, and hands primes to
Python one by one (a generator)."""
import ctypes
import ctypes.util
import itertools
import math

import numpy as np

from quern import cfunc, njit, types
from quern.extending import overload


# -- one name, an implementation for each kind of argument ------------------------------------------

def size_of(x):
    """Elements of an array, letters of a text, 1 of a number."""
    return getattr(x, "size", len(x) if isinstance(x, str) else 1)


@overload(size_of)
def size_of_compiled(x):
    if isinstance(x, types.Array):
        return lambda x: x.size
    if isinstance(x, types.UnicodeType):
        return lambda x: len(x)
    if isinstance(x, types.Number):
        return lambda x: 1


@njit
def sizes(a, text, number):
    return size_of(a), size_of(text), size_of(number)


# -- C calls compiled code, and is called by it ------------------------------------------------------

@cfunc("intc(CPointer(float64), CPointer(float64))")
def by_distance_from_one(a, b):
    x, y = abs(a[0] - 1), abs(b[0] - 1)
    return -1 if x < y else 1 if x > y else 0


gamma = ctypes.CDLL(ctypes.util.find_library("m")).tgamma
gamma.argtypes, gamma.restype = (ctypes.c_double,), ctypes.c_double


@njit
def factorials(n):
    out = np.empty(n)
    for i in range(n):
        out[i] = gamma(i + 1)
    return out


# -- a method that is chosen when the program runs ---------------------------------------------------

def euler(f, t, y, h):
    return y + h * f(t, y)


def runge_kutta(f, t, y, h):
    a = f(t, y)
    b = f(t + h / 2, y + h / 2 * a)
    c = f(t + h / 2, y + h / 2 * b)
    d = f(t + h, y + h * c)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


@njit
def solve(f, y, end, steps, exact):
    if steps < 1:
        raise ValueError("too few steps", steps)
    step = runge_kutta if exact else euler
    h = end / steps
    for i in range(steps):
        y = step(f, i * h, y, h)
    return y


@njit
def solve_or_say(f, steps):
    try:
        return str(solve(f, 1.0, 1.0, steps, True))
    except ValueError as e:
        return f"{e.args[0]}: {e.args[1]}"


@njit
def growth(t, y):
    return y


# -- an iterator for Python ---------------------------------------------------------------------------

@njit
def primes(n):
    composite = np.zeros(n, np.bool_)
    for p in range(2, n):
        if not composite[p]:
            composite[p * p::p] = True
            yield p


def main():
    print("sizes:", sizes(np.zeros((3, 4)), "words", 2.5))
    values = np.array([3.0, 0.5, 1.25, -2.0, 1.0])
    ctypes.CDLL(None).qsort(ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.size), ctypes.c_size_t(8),
                            by_distance_from_one.ctypes)
    print("by distance from 1:", values)
    print("factorials:", factorials(6))
    print("e by Euler:       ", abs(solve(growth, 1.0, 1.0, 100, False) - math.e))
    print("e by Runge, Kutta:", abs(solve(growth, 1.0, 1.0, 100, True) - math.e))
    print("without steps:", solve_or_say(growth, 0))
    print("primes:", list(itertools.islice(primes(10**6), 10)))


if __name__ == "__main__":
    main()
