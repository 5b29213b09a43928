"""Loops of kernels that are left at their start and at their end (codegen/target/nvptx_rotate.c), and whose addresses are not counted up
(gpu_walk.c): every way out has its own values, also of a loop that never starts."""
import random

import numpy as np
import pytest

from quern import cuda


def first(a, n, x, out):
    r = -1
    for k in range(n):
        if a[k] == x:
            r = k
            break
    out[0] = r


def place_by_while(a, n, x, out):
    k = 0
    while k < n:
        if a[k] == x:
            break
        k += 1
    out[0] = k


def sum_until(a, n, x, out):
    s = 0
    last = 7
    for k in range(n):
        s += a[k]
        if s > x:
            break
        last = k
    out[0], out[1] = s, last


def swapped(a, n, x, out):  # each variable is next what the other was
    p, q, r = 1, 2, 3
    for k in range(n):
        p, q, r = q, r, p
        if a[k] + p == x:
            break
    out[0], out[1], out[2] = p, q, r


def down(a, n, x, out):
    r = n
    for k in range(n - 1, -1, -2):
        if a[k] < x:
            r = k
            break
    else:
        out[1] = 5
    out[0] = r


def nested(a, n, x, out):
    r, s = -1, 0
    for i in range(n):
        j = i
        while j < n:
            s += 1
            if a[j] == x + i:
                r = j
                break
            j += 2
        if r > 3:
            break
    out[0], out[1], out[2] = r, s, j if n else -2


def inner_of_outer(a, n, x, out):  # the inner loop is left to the start of the outer
    i = s = 0
    while i < n:
        for j in range(i, n):
            s += j
            if a[j] == x:
                break
        i += 2
    out[0], out[1] = s, i


def two_tests(a, n, x, out):
    r = 0
    for k in range(n):
        if a[k] > x:
            if a[k] % 3 == 0:
                r = k + 100
                break
            r += 1
        if a[k] == x:
            break
    out[0] = r


def probing(a, n, x, out):
    k = x % 8
    while a[k] != x:
        k = (k + 1) % 8
        if k == x % 8:
            k = -1
            break
    out[0] = k


FUNCTIONS = [first, place_by_while, sum_until, swapped, down, nested, inner_of_outer, two_tests, probing]


def check(function):
    device_function = cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(a, n, x, out):
        i = cuda.grid(1)
        if i < a.shape[0]:
            device_function(a[i], n[i], x[i], out[i])

    chance = np.random.default_rng(3)
    a = chance.integers(0, 8, (128, 9), np.int32)
    n, x = chance.integers(0, 9, (2, 128), np.int32)
    found, expected = np.zeros((2, 128, 3), np.int64)
    kernel[4, 32](a, n, x, found)
    for i in range(128):
        function(a[i], int(n[i]), int(x[i]), expected[i])
    assert np.array_equal(found, expected), getattr(function, "source", function.__name__)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_searches(device, function):
    check(function)


def random_search(chance):
    """A loop over variables that change places and are added up, with ways out before and behind that. LLVM turns a loop itself where it sees
    that variables of it are wanted behind it: some of these want what is set on the way out alone."""
    value = lambda: chance.choice(["p", "q", "k", "a[k]", "1", "x"])  # noqa: E731
    test = lambda: f"{value()} {chance.choice(['==', '<', '>', '!='])} {value()}"  # noqa: E731
    step = lambda: ("p, q = q, p" if chance.random() < 0.3 else  # noqa: E731
                    f"{chance.choice('pq')} = ({value()} + {value()}) % 11")
    out = lambda: f"if {test()}:\n            r = {chance.choice(['k', '4', 'p', 'k + 2', 'a[k]'])}\n            break"  # noqa: E731
    body = [step() for _ in range(chance.randrange(3))] + [out()]
    if chance.random() < 0.4:
        body.insert(chance.randrange(len(body) + 1), out())
    if chance.random() < 0.3:
        body.append(step())
    ranges = ["range(n)", "range(1, n)", "range(n - 1, -1, -1)", "range(0, n, 3)", "range(x, n)"]
    lines = "".join(f"        {line}\n" for line in body)
    results = chance.choice(["out[0] = r", "out[0] = r", "out[0], out[1], out[2] = p, q, r"])
    source = (f"def search(a, n, x, out):\n    p, q, r = 0, x, {chance.choice(['-1', 'x', 'n'])}\n    for k in {chance.choice(ranges)}:\n"
              f"{lines}    {results}\n")
    space = {}
    exec(source, space)
    space["search"].source = source
    return space["search"]


@pytest.mark.parametrize("seed", range(24))
def test_random_searches(device, seed):
    check(random_search(random.Random(seed)))
