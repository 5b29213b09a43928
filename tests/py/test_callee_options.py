"""Options of the decorator of a function that compiled code calls: they are its own, whoever calls it, and one function may be decorated
several times with different ones."""
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from quern import njit, types, vectorize


def divide(a, b):
    return a / b


def total(x):
    s = 0
    for _ in range(3):
        s += x
    return s


def element(a, i):
    return a[i]


def two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def dot(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s


njit_checked = njit(boundscheck=True)(element)
NUMBERS = np.random.default_rng(0).standard_normal(10_000) * 10.0 ** np.random.default_rng(1).integers(-10, 10, 10_000)


@pytest.mark.parametrize("first", [0, 1])
def test_one_function_with_two_error_models(first):
    functions = [njit(divide), njit(error_model="numpy")(divide)]  # the first takes the entry's, which is Python's
    one, other = functions[first], functions[1 - first]

    @njit
    def both(a, b):
        try:
            x = one(a, b)
        except ZeroDivisionError:
            x = -1.0
        try:
            y = other(a, b)
        except ZeroDivisionError:
            y = -1.0
        return x, y
    assert both(1.0, 0.0) == ((-1.0, math.inf) if first == 0 else (math.inf, -1.0))


@pytest.mark.parametrize("first", [0, 1])
def test_one_function_with_and_without_locals(first):
    functions = [njit(total), njit(locals={"s": types.float32})(total)]
    one, other = functions[first], functions[1 - first]
    results = njit(lambda x: (one(x), other(x)))(0.1)
    assert results == (one(0.1), other(0.1)) and results[0] != results[1]


def test_a_plain_function_is_not_what_a_decorator_made_of_it():
    quiet = njit(error_model="numpy")(divide)

    @njit
    def both(a, b):
        x = quiet(a, b)
        return x + divide(a, b)
    with pytest.raises(ZeroDivisionError):
        both(1.0, 0.0)


def test_callees_of_an_entry_that_divides_as_numpy():
    loud = njit(error_model="python")(divide)
    quiet_entry = njit(error_model="numpy")(lambda a, b: loud(a, b))
    with pytest.raises(ZeroDivisionError):
        quiet_entry(1.0, 0.0)
    for silent in divide, njit(divide):  # which do not say what they want: as the entry
        assert njit(error_model="numpy")(lambda a, b: silent(a, b))(1.0, 0.0) == math.inf
    ufunc = vectorize(["float64(float64, float64)"])(divide)
    assert njit(lambda a, b: ufunc(a, b))(1.0, 0.0) == math.inf
    with pytest.raises(ZeroDivisionError):
        njit(lambda a, b: ufunc(a, b) + divide(a, b))(1.0, 0.0)


def test_the_entry_calls_itself_decorated_otherwise():
    def countdown(a, n):
        if n == 0:
            return a / 0.0
        return other(a, n - 1) + 1.0
    other = njit(error_model="numpy")(countdown)
    with pytest.raises(ZeroDivisionError):
        njit(countdown)(1.0, 0)
    assert njit(countdown)(1.0, 2) == math.inf


def test_an_unchecked_callee_of_a_checked_function():
    free, checked = njit(boundscheck=False)(element), njit(element)
    a = np.arange(3)
    apart = njit(lambda a, i, k: (free(a, i), checked(a, k)))
    assert apart(a, 1, 2) == (1, 2)
    with pytest.raises(IndexError):
        apart(a, 1, 3)
    with pytest.raises(IndexError):
        njit(boundscheck=False)(lambda a, i: njit_checked(a, i))(a, 3)
    base = np.arange(10)
    assert njit(lambda a, i: free(a, i))(base[:3], 3) == 3  # the next element of the array that it is a part of


def environment(**more):
    return {**os.environ, **more}


def test_FLT_compensation_outlives_a_fast_caller():
    exact = njit(fastmath=False)(two_sum)

    @njit(fastmath=True)
    def compensated(x):
        s = rest = 0.0
        for v in x:
            s, e = exact(s, v)
            rest += e
        return s + rest
    assert compensated(NUMBERS) == math.fsum(NUMBERS)

    @njit(fastmath=False)
    def arrays(a, b):
        s = a + b
        t = s - a
        return (a - (s - t)) + (b - t)
    a, b = NUMBERS[:5000], NUMBERS[5000:]
    assert np.array_equal(njit(fastmath=True)(lambda a, b: arrays(a, b))(a, b), arrays.py_func(a, b))
    assert arrays.py_func(a, b).any()


def test_a_fast_callee_of_an_exact_function():
    fast, exact = njit(fastmath=True)(dot), njit(dot)
    a, b = NUMBERS[:4096], NUMBERS[4096:8192]
    called = njit(lambda a, b: (fast(a, b), exact(a, b)))(a, b)
    assert called == (fast(a, b), exact(a, b)) and called[1] == dot(a, b)
    assert called[0] != called[1]  # several sums at once
    flags = njit(fastmath={"contract"})(dot)
    assert njit(lambda a, b: flags(a, b))(a, b) == flags(a, b)


PROGRAM = """
import numpy as np
from quern import njit

def divide(a, b):
    return a / b

one, other = njit(divide), njit(error_model={model!r}, fastmath={fastmath})(divide)

@njit(cache=True)
def both(a, b):
    try:
        x = one(a, b)
    except ZeroDivisionError:
        x = -1.0
    try:
        y = other(a, b)
    except ZeroDivisionError:
        y = -1.0
    return x, y

print(both(1.0, 0.0), sum(both.stats.cache_hits.values()))
"""


def test_the_disk_cache_knows_the_options_of_callees(tmp_path):
    def run(model, fastmath=False):
        (tmp_path / "program.py").write_text(PROGRAM.format(model=model, fastmath=fastmath))
        done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True,
                              env=environment(QUERN_CACHE_DIR=str(tmp_path / "cache")))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()
    assert run("numpy") == "(-1.0, inf) 0"
    assert run("numpy") == "(-1.0, inf) 1"
    assert run("python") == "(-1.0, -1.0) 0"
    assert run("numpy", True) == "(-1.0, inf) 0"
    assert run("numpy") in ("(-1.0, inf) 0", "(-1.0, inf) 1")


# -- what a callee makes -----------------------------------------------------------------------------------------

def by_a_comprehension(a, b):
    return [a / b for _ in range(2)][1]


def by_a_lambda(a, b):
    return (lambda x: x / b)(a)


def by_a_generator(a, b):
    return sum(a / b for _ in range(2))


def by_functions_inside(a, b):
    def outer(x):
        def inner():
            return [x / b for _ in range(1)]
        return inner()[0]
    return outer(a)


@pytest.mark.parametrize("f", [by_a_comprehension, by_a_lambda, by_a_generator, by_functions_inside])
def test_functions_that_a_callee_makes_have_its_options(f):
    numpy, python = njit(error_model="numpy")(f), njit(error_model="python")(f)

    def both(a, b):
        x = numpy(a, b)
        try:
            x += python(a, b)
        except ZeroDivisionError:
            return x, numpy(a, b)
        return 0.0, x

    assert njit(both)(1.0, 0.0) == njit(error_model="numpy")(both)(1.0, 0.0) == (math.inf, math.inf)
    assert njit(lambda a, b: numpy(a, b))(1.0, 0.0) == math.inf
    with pytest.raises(ZeroDivisionError):
        njit(error_model="numpy")(lambda a, b: python(a, b))(1.0, 0.0)


def test_a_checked_callee_checks_what_its_comprehension_reads():
    checked = njit(boundscheck=True)(lambda a, n: [a[i] for i in range(n)])
    with pytest.raises(IndexError):
        njit(boundscheck=False)(lambda a, n: checked(a, n))(np.arange(3.0), 5)
