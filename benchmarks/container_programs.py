"""Twenty further programs with containers, generators and classes: Quern beside the newest Numba, in one process, by turns.

    PYTHONPATH=build/test-3.12/python PYTHON_WITH_NUMBA benchmarks/container_programs.py [WORD ...]

They are a check that nothing was made for those of containers.py alone. Results are held against CPython's. One line a program:
microseconds of Quern, of Numba (none: it does not compile the program), the ratio."""
import sys
import warnings

import numba
import numba.experimental
import numba.typed
import quern
import quern.experimental
import quern.typed
from containers import best

warnings.simplefilter("ignore")


def sieve(n):
    flags = [True for _ in range(n)]
    primes = [2]
    primes.pop()
    for i in range(2, n):
        if flags[i]:
            primes.append(i)
            for j in range(i * i, n, i):
                flags[j] = False
    return len(primes)


def squares(n):
    xs = [i * i for i in range(n)]
    s = 0
    for x in xs:
        s += x & 255
    return s


def prefix_sums(n):
    xs = [i % 7 for i in range(n)]
    sums = [0]
    for x in xs:
        sums.append(sums[-1] + x)
    return sums[n]


def smooth(n):
    a = [i * 0.25 for i in range(n)]
    b = [0.0 for _ in range(n)]
    for _ in range(5):
        for i in range(1, n - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        a, b = b, a
    return a[n // 2]


def stack(n):
    xs = [0]
    s = 0
    for i in range(n):
        xs.append(i)
        if i % 3 == 2:
            s += xs.pop()
            s += xs.pop()
    return s + len(xs)


def bubble(n):
    n = n // 40
    xs = [(i * 7919) % n for i in range(n)]
    for i in range(n):
        for j in range(n - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs[n // 3]


def sorted_list(n):
    xs = [(i * 7919) % n for i in range(n)]
    xs.sort()
    return xs[n // 2]


def zipped(n):
    xs = [i * 0.5 for i in range(n)]
    ys = [i * 0.25 for i in range(n)]
    s = 0.0
    for x, y in zip(xs, ys):
        s += x * y
    return s


def enumerated(n):
    xs = [i % 10 for i in range(n)]
    s = 0
    for i, x in enumerate(xs):
        s += i * x
    return s


def table(n):
    m = 100
    rows = [[i * j for j in range(m)] for i in range(n // m)]
    s = 0
    for row in rows:
        for x in row:
            s += x
    return s


def product(n):
    m = 40
    a = [[float(i + j) for j in range(m)] for i in range(m)]
    b = [[float(i - j) for j in range(m)] for i in range(m)]
    s = 0.0
    for i in range(m):
        for j in range(m):
            t = 0.0
            for k in range(m):
                t += a[i][k] * b[k][j]
            s += t
    return s


def filtered(n):
    xs = [i for i in range(n) if i % 3 == 0]
    return len(xs) + xs[-1]


def reversed_copy(n):
    xs = [i for i in range(n)]
    ys = xs[::-1]
    s = 0
    for i in range(n):
        s += xs[i] * ys[i]
    return s


def histogram(n):
    counts = [0] * 64
    x = 1
    for _ in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        counts[x % 64] += 1
    return max(counts)


def pairs(n):
    seen = {(0, 0): 1}
    for i in range(n):
        seen[(i % 50, i % 30)] = i
    return len(seen)


def distinct(n):
    seen = set([1])
    for i in range(n):
        seen.add(i * i % 1000)
    return len(seen)


def words(n):
    longest = ""
    for i in range(n // 10):
        w = "a" * (i % 30)
        if len(w) > len(longest):
            longest = w
    return len(longest)


PLAIN = [sieve, squares, prefix_sums, smooth, stack, bubble, sorted_list, zipped, enumerated, table, product, filtered, reversed_copy,
         histogram, pairs, distinct, words]


def of_package(jit, jitclass, f64):
    """Those with generators and classes; `jitclass` and `jit` may do nothing."""
    @jit
    def windows(n):
        a = 0.0
        for i in range(n):
            b = i * 0.5
            yield a + b
            a = b

    @jit
    def generated(n):
        s = 0.0
        for x in windows(n):
            if x > 3.0:
                s += x
        return s

    @jitclass([("x", f64), ("v", f64), ("k", f64)])
    class Spring:
        def __init__(self, k):
            self.x = 1.0
            self.v = 0.0
            self.k = k

        def step(self, dt):
            self.v -= self.k * self.x * dt
            self.x += self.v * dt

    @jit
    def instance(n):
        s = Spring(0.5)
        for _ in range(n):
            s.step(0.001)
        return s.x

    @jit
    def instances(n):
        springs = [Spring(0.5 + i * 0.1) for i in range(10)]
        for _ in range(n // 10):
            for s in springs:
                s.step(0.001)
        return springs[3].x

    return {"generated": generated, "instance": instance, "instances": instances}


def nothing(function):
    return function


def main(wanted):
    n = 10000
    plain = of_package(nothing, lambda spec: nothing, None)
    ours = of_package(quern.njit, quern.experimental.jitclass, quern.float64)
    theirs = of_package(numba.njit, numba.experimental.jitclass, numba.float64)
    rows = [(f.__name__, f, quern.njit(f), numba.njit(f)) for f in PLAIN]
    rows += [(name, plain[name], ours[name], theirs[name]) for name in plain]
    for name, python, ours, theirs in rows:
        if wanted and not any(word in name for word in wanted):
            continue
        expected = python(n)
        assert ours(n) == expected, (name, ours(n), expected)
        try:
            theirs(n)
        except numba.core.errors.NumbaError:
            theirs = python
        seconds = best([lambda: ours(n), lambda: theirs(n)])
        other = "     none" if theirs is python else f"{seconds[1] * 1e6:9.1f}"
        print(f"{name:16} {seconds[0] * 1e6:9.1f} {other} {'' if theirs is python else f'{seconds[0] / seconds[1]:6.2f}'}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
