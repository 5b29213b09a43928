"""Functions of the bits of numbers, for what is written by @intrinsic (quern/_intrinsic.py)."""

import numpy as np

from .primitives import bits, popcount


def same_bits(x):
    """float32 and int32, float64 and int64."""
    return bits(x)


def ones(n):
    return popcount(n)


def leading_zeros(n, width):
    m = np.uint64(n)
    for shift in (1, 2, 4, 8, 16, 32):
        m = m | m >> np.uint64(shift)
    return width - popcount(m)


def trailing_zeros(n, width):
    m = np.uint64(n)
    if m == np.uint64(0):
        return width
    return popcount((m & (~m + np.uint64(1))) - np.uint64(1))


def swapped(n, width):
    """The bytes in reverse order."""
    m = np.uint64(n)
    out = np.uint64(0)
    for _ in range(width // 8):
        out = out << np.uint64(8) | m & np.uint64(255)
        m = m >> np.uint64(8)
    return out


def reversed(n, width):
    m = np.uint64(n)
    out = np.uint64(0)
    for _ in range(width):
        out = out << np.uint64(1) | m & np.uint64(1)
        m = m >> np.uint64(1)
    return out


def divided(a, b):
    """Rounded towards zero."""
    q = a // b
    return q + 1 if q < 0 and q * b != a else q


def remainder(a, b):
    """With the sign of a."""
    return a - divided(a, b) * b


def rounded(x):
    """Halves away from zero."""
    whole = np.trunc(x)
    return whole + np.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole
