"""Operators of frozen dataclasses and named tuples that their classes define, in functions and kernels (issue 8, part 4)."""
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, same  # noqa: F401
from quern import cuda, errors, njit


@dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __rmul__(self, k):
        return self * k

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.hypot(self.x, self.y)

    def __lt__(self, other):
        return abs(self) < abs(other)

    def __len__(self):
        return 2


class Complex(NamedTuple):
    re: float
    im: float

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __mul__(self, other):
        return Complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)


@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: float


@dataclass(frozen=True)
class Plain:
    x: float


def of_vectors(a, b):
    c = a + b
    c += a
    c *= 2.0
    return a + b, c, 2 * a, a * 3.0, -a, abs(b), a < b, b < a, a > b, a @ b, len(a), a == b, a != b, a == a, sorted([b, a])


def of_complex(a, b):
    return a + b, a * b, a == b, a < b, len(a), a[0], (1.0,) + (2.0,)


def of_versions(a, b):
    return a < b, a <= b, a > b, a >= b, a == b, max(a, b), min(a, b), sorted([b, a, b])


@pytest.mark.parametrize("function,args", [
    (of_vectors, (Vector(3.0, 4.0), Vector(1.0, 1.0))),
    (of_vectors, (Vector(0.0, -1.0), Vector(1.0, 1.0))),
    (of_complex, (Complex(3.0, 4.0), Complex(1.0, -1.0))),
    (of_versions, (Version(1, 2.0), Version(1, 3.0))),
    (of_versions, (Version(2, 0.0), Version(1, 3.0))),
])
def test_as_CPython(function, args):
    found, expected = njit(function)(*args), function(*args)
    assert found == expected and [type(x) for x in found] == [type(x) for x in expected]


def test_what_is_not_defined():
    for function in (lambda a: a + a, lambda a: a < a, lambda a: -a):
        with pytest.raises(errors.TypingError):
            njit(function)(Plain(1.0))


def test_kernels(device):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < out.size:
            b = 0.5 * (a * float(i) + a)
            out[i] = abs(b) + (a @ b)

    out = np.zeros(4)
    kernel[1, 8](Vector(3.0, 4.0), out)
    assert np.allclose(out, [(2.5 + 12.5) * (i + 1) for i in range(4)])
