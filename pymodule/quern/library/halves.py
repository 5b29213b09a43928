"""Functions of cuda.fp16: on float16, each rounded once to float16, but for those that say otherwise."""

import numpy as np

from quern import cuda


def hadd(a, b):
    return np.float16(a) + np.float16(b)


def hsub(a, b):
    return np.float16(a) - np.float16(b)


def hmul(a, b):
    return np.float16(a) * np.float16(b)


def hdiv(a, b):
    return np.float16(a) / np.float16(b)


def hfma(a, b, c):
    return cuda.fma(np.float16(a), np.float16(b), np.float16(c))


def hneg(a):
    return -np.float16(a)


def habs(a):
    return abs(np.float16(a))


def heq(a, b):
    return np.float16(a) == np.float16(b)


def hne(a, b):
    return np.float16(a) != np.float16(b)


def hgt(a, b):
    return np.float16(a) > np.float16(b)


def hge(a, b):
    return np.float16(a) >= np.float16(b)


def hlt(a, b):
    return np.float16(a) < np.float16(b)


def hle(a, b):
    return np.float16(a) <= np.float16(b)


def hmax(a, b):
    """The larger one; nan loses."""
    return np.fmax(np.float16(a), np.float16(b))


def hmin(a, b):
    """The smaller one; nan loses."""
    return np.fmin(np.float16(a), np.float16(b))


# -- of one number: computed in float32, then rounded --------------------------------------------------------


def hsin(a):
    return np.float16(np.sin(np.float32(a)))


def hcos(a):
    return np.float16(np.cos(np.float32(a)))


def htanh(a):
    return np.float16(np.tanh(np.float32(a)))


def hlog(a):
    return np.float16(np.log(np.float32(a)))


def hlog2(a):
    return np.float16(np.log2(np.float32(a)))


def hlog10(a):
    return np.float16(np.log10(np.float32(a)))


def hexp(a):
    return np.float16(np.exp(np.float32(a)))


def hexp2(a):
    return np.float16(np.exp2(np.float32(a)))


def hexp10(a):
    return np.float16(np.power(np.float32(10.0), np.float32(a)))


def hsqrt(a):
    return np.float16(np.sqrt(np.float32(a)))


def hrsqrt(a):
    return np.float16(np.divide(np.float32(1.0), np.sqrt(np.float32(a))))


def hrcp(a):
    return np.float16(np.divide(np.float32(1.0), np.float32(a)))


def hceil(a):
    return np.ceil(np.float16(a))


def hfloor(a):
    return np.floor(np.float16(a))


def htrunc(a):
    return np.trunc(np.float16(a))


def hrint(a):
    """The nearest whole number, ties to even."""
    return np.rint(np.float16(a))


FUNCTIONS = {f"cuda.fp16.{function.__name__}": function for function in (
    habs, hadd, hceil, hcos, hdiv, heq, hexp, hexp10, hexp2, hfloor, hfma, hge, hgt, hle, hlog, hlog10, hlog2, hlt, hmax,
    hmin, hmul, hne, hneg, hrcp, hrint, hrsqrt, hsin, hsqrt, hsub, htanh, htrunc)}
