"""Loops over arrays of points and pixels (codegen/opt/bounds_rows.c): rows as long as the program's indices say, longer and shorter ones, against CPython."""
import itertools
import os
import random

import numpy as np
import pytest

from quern import njit


def grey(image, out):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            out[y, x] = (77 * int(image[y, x, 0]) + 150 * int(image[y, x, 1]) + 29 * int(image[y, x, 2])) >> 8


def lengths(points, out):
    for i in range(points.shape[0]):
        out[i] = points[i, 0] * points[i, 0] + points[i, 1] * points[i, 1]


def turned(points, matrix, out):
    for i in range(points.shape[0]):
        for a in range(3):
            s = 0.0
            for b in range(3):
                s += matrix[a, b] * points[i, b]
            out[i, a] = s


def swapped(image):
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            image[y, x, 0], image[y, x, 2] = image[y, x, 2], image[y, x, 0]
            image[y, x, 1] = 255 - image[y, x, 1]


def outcome(function, arrays):
    try:
        return function(*arrays)
    except IndexError:
        return IndexError


def laid(values, how):
    """The same elements one after the other, along the other axis, or with others between."""
    if how == "F":
        return np.asfortranarray(values)
    if how == "A":
        room = np.zeros((*values.shape[:-1], values.shape[-1] * 2), values.dtype)
        room[..., ::2] = values
        return room[..., ::2]
    return values.copy()


@pytest.mark.parametrize("checked", [None, False])
@pytest.mark.parametrize("how", ["C", "F", "A"])
def test_IDX_rows_of_every_length(checked, how):
    numbers = np.random.default_rng(1)
    compiled = {f: njit(boundscheck=checked)(f) for f in (grey, lengths, turned, swapped)}
    least = {grey: 3, lengths: 2, turned: 3, swapped: 3}
    for n, row in itertools.product((0, 1, 7, 40), (1, 2, 3, 4, 5)):
        image = numbers.integers(0, 256, (n, 9, row)).astype(np.uint8)
        points = numbers.integers(-9, 9, (n, row)).astype(float)
        for f, arrays in ((grey, (image, np.zeros((n, 9), np.uint8))), (lengths, (points, np.zeros(n))),
                          (turned, (points, numbers.random((3, row)), np.zeros((n, row)))), (swapped, (image,))):
            if row < least[f] and checked is False:
                continue
            mine, theirs = [laid(a, how) for a in arrays], [laid(a, how) for a in arrays]
            assert outcome(compiled[f], mine) is outcome(f, theirs), (f, n, row)
            for a, b in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(a, b, str((f, n, row)))


def test_IDX_rows_that_share_memory():
    memory = np.arange(400.0)
    for by in (0, 1, 2, 3, 5):
        mine, theirs = memory.copy(), memory.copy()
        for f, of in ((njit(turned), mine), (turned, theirs)):
            f(of[:90].reshape(30, 3), of[200:209].reshape(3, 3), of[by:90 + by].reshape(30, 3))
        np.testing.assert_array_equal(mine, theirs)


class Rows:
    """f(p, q, out, n, k): an array of two axes, one of three, one of two, a length, an index."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def element(self, row):
        r = self.random
        last = r.choice([str(r.randrange(row))] * 6 + ["c", "c", "k", "-1"])
        return r.choice([f"p[i, {last}]", f"p[i, {last}]", f"p[n - 1 - i, {last}]", f"q[i, j, {last}]", f"q[i, j, {last}]", f"q[j, i, {last}]", f"q[i, 0, {last}]", f"out[i, {last}]"])

    def source(self):
        r = self.random
        row = r.choice([2, 3, 3, 3, 4])
        lines = ["def f(p, q, out, n, k):", "    c = j = 0", "    total = 0.0", "    for i in range(n):"]
        body = "        "
        if r.random() < 0.5:
            lines.append(f"{body}for j in range(n):")
            body += "    "
        if r.random() < 0.3:
            lines.append(f"{body}for c in range({r.choice([row, row, row - 1])}):")
            body += "    "
        for element in range(row):
            value = " + ".join(self.element(row) for _ in range(r.randrange(1, 4)))
            lines.append(r.choice([f"{body}out[i, {element}] = {value}", f"{body}total += {value}", f"{body}total += p[i, {element}] * 2.0", f"{body}q[i, j, {element}] = {value}"]))
        return "\n".join([*lines, "    return total"]) + "\n"


@pytest.mark.parametrize("seed", [int(os.environ.get("QUERN_SEED", "0")) + i for i in range(int(os.environ.get("QUERN_PROGRAMS", "160")) // 8)])
def test_IDX_random_loops_over_rows(seed):
    source, names = Rows(seed).source(), {}
    exec(source, names)
    f, numbers = names["f"], np.random.default_rng(seed)
    made = njit(f), njit(boundscheck=False)(f)
    for n, row, how in itertools.product((0, 1, 3, 20), (2, 3, 4, 5), "CCA"):
        k = int(numbers.integers(0, row))
        arrays = [laid(numbers.integers(-3, 4, shape).astype(kind), how) for shape, kind in (((n, row), float), ((n, n, row), np.float32), ((n, row), np.int32))]
        theirs = [a.copy() for a in arrays]
        want = outcome(f, (*theirs, n, k))
        for function in made[:1] if want is IndexError else made:
            mine = [laid(a, how) for a in arrays]
            got = outcome(function, (*mine, n, k))
            assert got is want or got == want, (source, n, row, how)
            for a, b in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(a, b, str((source, n, row, how)))
