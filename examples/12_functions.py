"""Functions as values, and generators: an ODE solver that is given its equation, functions that make functions, and primes without end."""
import math

import numpy as np
import show

from quern import njit

# -- an equation is an argument: each is compiled into a solver of its own --------------------------------------------------------


def solve(f, y, t, end, steps):
    """Runge and Kutta's method of order four."""
    h = (end - t) / steps
    for _ in range(steps):
        a = f(t, y)
        b = f(t + h / 2, y + h / 2 * a)
        c = f(t + h / 2, y + h / 2 * b)
        d = f(t + h, y + h * c)
        y = y + h / 6 * (a + 2 * b + 2 * c + d)
        t = t + h
    return y


compiled = njit(solve)
decay = lambda t, y: -0.5 * y  # noqa: E731
result = show.report("decay, 1e5 steps", lambda: compiled(decay, 1.0, 0.0, 2.0, 100_000), lambda: solve(decay, 1.0, 0.0, 2.0, 100_000), "Python", 2)
assert abs(result - math.exp(-1)) < 1e-9
assert abs(compiled(lambda t, y: math.cos(t), 0.0, 0.0, 1.0, 1000) - math.sin(1)) < 1e-9


# -- functions that make functions ------------------------------------------------------------------------------------------------


@njit
def roots(coefficients, guesses):
    """Of a polynomial, from several guesses by Newton's method."""
    def polynomial(c):
        def value(x):
            s = 0.0
            for a in c:
                s = s * x + a
            return s
        return value

    def newton(f, x):
        for _ in range(50):
            slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
            x -= f(x) / slope
        return x
    f = polynomial(coefficients)
    return sorted([newton(f, x) for x in guesses], key=lambda x: abs(x))


found = roots(np.array([1.0, -6.0, 11.0, -6.0]), [0.0, 2.1, 9.0])
print("roots of x^3 - 6x^2 + 11x - 6:", [round(x, 9) for x in found])
assert np.allclose(found, [1, 2, 3])


# -- a generator: primes without end, each asked for when it is needed --------------------------------------------------------------


def primes():
    yield 2
    known = [3]
    n = 3
    while True:
        yield n
        n += 2
        k = 0
        while known[k] * known[k] <= n:
            if n % known[k] == 0:
                n += 2
                k = -1
            k += 1
        known.append(n)


def gap(least):
    """The first two neighbours so far apart."""
    before = 2
    for p in primes():
        if p - before >= least:
            return before, p
        before = p
    return 0, 0


compiled_gap = njit(gap)
wide = show.report("primes until a gap of 70", lambda: compiled_gap(70), lambda: gap(70), "Python", 2)
assert wide == (31397, 31469)
print("the first primes 70 apart:", wide)
