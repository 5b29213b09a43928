"""Roots of many equations by Newton's method, where some have none: the solver raises, and the loop around it goes on with bisection.

Exceptions are those of Python: by class, with arguments, `else`, `finally`, `raise ... from`, and with the tracebacks of
compiled frames. Where nothing is raised, a `try` costs nothing."""
import math
import time
import traceback

import numpy as np
from quern import njit


class NoConvergence(ArithmeticError):
    """A method came to no end; its arguments: a message, the last x, the number of steps."""


@njit
def newton(a, x, steps):
    """A root of x**3 - 2*x + a, from x on."""
    for k in range(steps):
        change = (x * x * x - 2.0 * x + a) / (3.0 * x * x - 2.0)
        x -= change
        if abs(change) < 1e-14 * max(1.0, abs(x)):
            return x
    raise NoConvergence("Newton's method did not converge", x, steps)


@njit
def bisect(a, low, high):
    while high - low > 1e-14 * max(1.0, abs(low)):
        middle = (low + high) / 2.0
        if middle == low or middle == high:
            break
        if middle ** 3 - 2.0 * middle + a > 0.0:
            high = middle
        else:
            low = middle
    return low


@njit
def roots(a, start, steps):
    """Of each equation a root, and how often Newton's method did without help."""
    found, out = 0, np.empty(len(a))
    for i in range(len(a)):
        try:
            out[i] = newton(a[i], start, steps)
        except (NoConvergence, ZeroDivisionError):
            out[i] = bisect(a[i], -3.0, 3.0)
        else:
            found += 1
    return out, found


@njit
def strict(a, start, steps):
    try:
        return newton(a, start, steps)
    except NoConvergence as e:
        raise ValueError("no root from here", start) from e


a = np.linspace(-6.0, 6.0, 200_001)
roots(a[:2], 0.5, 40)
begin = time.perf_counter()
x, found = roots(a, 0.5, 40)
seconds = time.perf_counter() - begin
residual = np.abs(x ** 3 - 2 * x + a).max()
print(f"{len(a)} equations in {seconds * 1e3:.0f} ms: {found} by Newton's method, {len(a) - found} by bisection")
print(f"largest residual {residual:.1e}")
assert residual < 1e-10 and 0 < found < len(a)

zero = math.sqrt(2.0 / 3.0)  # the derivative is almost zero here
try:
    strict(0.0, zero, 3)
except ValueError as e:
    frames = [frame.name for frame in traceback.extract_tb(e.__cause__.__traceback__)]
    print(f"{type(e).__name__}{e.args}, from {type(e.__cause__).__name__}: {e.__cause__.args[0]} (in {' > '.join(frames)})")
    assert isinstance(e.__cause__, NoConvergence) and frames[-1] == "newton"
