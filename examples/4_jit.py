"""@jit: compiled for the types it is called with; eager signatures; refusals and the fallback."""
import time
import warnings

import numpy as np

from quern import errors, int32, jit, njit


@jit
def f(x, y):
    return x + y


for arguments in ((1, 2), (1.5, 2), (1 + 2j, 3), (np.float32(1), np.float32(2))):
    print(f"f{arguments} = {f(*arguments)!r}")
print("compiled for:", f.signatures)


@jit(int32(int32, int32))  # compiled now; calls convert to int32
def g(x, y):
    return x + y


print("g(2**31 - 1, 1) =", g(2**31 - 1, 1), "(int32 wraps, declared so)")


def describe(x):
    return {"value": x}  # a dict: not supported in compiled code


try:
    jit(nopython=True)(describe)(3)
except errors.TypingError as error:
    print("\nnopython=True refuses at once:\n", error, sep="")
except errors.UnsupportedError as error:
    print("\nnopython=True refuses at once:\n", error, sep="")

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    slow = jit(describe)
    print("\nplain @jit still answers:", slow(3), slow(4))
    print("and warned", len(caught), "time")


def square(x):  # no decorator: compiled because compiled code calls it
    return x * x


@njit
def sum_of_squares(n):
    total = 0
    for i in range(n):
        total += square(i)
    return total


start = time.perf_counter()
print("\nsum_of_squares(10**6) =", sum_of_squares(10**6), f"in {(time.perf_counter() - start) * 1e3:.1f} ms with the compilation")
