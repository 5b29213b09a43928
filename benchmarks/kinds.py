"""Programs of all kinds, whose compile times compiling.py compares. Each function here makes its program anew: it gets the library
(quern or numba, with the same names) and gives a function without arguments, whose first call compiles everything."""
import heapq
import math
import random
from collections import namedtuple

import numpy as np

from gufuncs import matmul

PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


def values(n=24):
    return np.linspace(0.5, 4.0, n)


# -- loops over numbers -----------------------------------------------------------------------------------------------


@program
def collatz(lib):
    @lib.njit
    def f(n):
        longest = 0
        for start in range(1, n):
            steps = 0
            while start != 1:
                start = start // 2 if start % 2 == 0 else 3 * start + 1
                steps += 1
            longest = max(longest, steps)
        return longest

    return lambda: f(20)


@program
def primes(lib):
    @lib.njit
    def is_prime(n):
        if n < 2:
            return False
        k = 2
        while k * k <= n:
            if n % k == 0:
                return False
            k += 1
        return True

    @lib.njit
    def f(n):
        count = 0
        for i in range(n):
            if is_prime(i):
                count += 1
        return count

    return lambda: f(30)


@program
def fibonacci(lib):
    @lib.njit
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return lambda: fib(5)


@program
def newton(lib):
    @lib.njit
    def f(x):
        guess = x
        for _ in range(50):
            new = 0.5 * (guess + x / guess)
            if abs(new - guess) < 1e-12:
                break
            guess = new
        return guess

    return lambda: f(2.0)


@program
def complex_iteration(lib):
    @lib.njit
    def f(c, limit):
        z = 0j
        for i in range(limit):
            z = z * z + c
            if abs(z) > 2.0:
                return i
        return limit

    return lambda: f(0.3 + 0.5j, 20)


@program
def bits(lib):
    @lib.njit
    def f(x):
        count = 0
        while x:
            count += x & 1
            x >>= 1
        return count

    return lambda: f(12345)


@program
def scalar_math(lib):
    @lib.njit
    def f(x, y):
        return math.sin(x) * math.exp(-y) + math.hypot(x, y) - math.atan2(y, x) + math.floor(x)

    return lambda: f(1.5, 0.5)


@program
def greatest_divisors(lib):
    @lib.njit
    def f(n):
        s = 0
        for i in range(1, n):
            s += math.gcd(i, n) + abs(i - n) ** 3 % 11
        return s

    return lambda: f(12)


# -- loops over arrays ------------------------------------------------------------------------------------------------


@program
def dot_loop(lib):
    @lib.njit
    def f(a, b):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * b[i]
        return s

    return lambda: f(values(), values())


@program
def matrix_product(lib):
    f = lib.njit(matmul)
    return lambda: f(np.ones((3, 4)), np.ones((4, 2)), np.zeros((3, 2)))


@program
def heat(lib):
    @lib.njit
    def f(u, v, steps):
        for _ in range(steps):
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            u, v = v, u
        return u

    return lambda: f(np.ones((6, 6)), np.ones((6, 6)), 2)


@program
def bubble_sort(lib):
    @lib.njit
    def f(a):
        n = len(a)
        for i in range(n):
            for j in range(n - 1 - i):
                if a[j] > a[j + 1]:
                    a[j], a[j + 1] = a[j + 1], a[j]

    return lambda: f(values()[::-1].copy())


@program
def histogram_loop(lib):
    @lib.njit
    def f(x, bins, low, high):
        counts = np.zeros(bins, np.int64)
        for v in x:
            if low <= v < high:
                counts[int((v - low) / (high - low) * bins)] += 1
        return counts

    return lambda: f(values(), 4, 0.0, 5.0)


@program
def binary_search(lib):
    @lib.njit
    def f(a, x):
        low, high = 0, len(a)
        while low < high:
            middle = (low + high) // 2
            if a[middle] < x:
                low = middle + 1
            else:
                high = middle
        return low

    return lambda: f(values(), 2.0)


@program
def edit_distance(lib):
    @lib.njit
    def f(a, b):
        d = np.zeros((len(a) + 1, len(b) + 1), np.int64)
        for i in range(len(a) + 1):
            d[i, 0] = i
        for j in range(len(b) + 1):
            d[0, j] = j
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                cost = 0 if a[i - 1] == b[j - 1] else 1
                d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
        return d[len(a), len(b)]

    return lambda: f(np.arange(4), np.arange(3))


@program
def life(lib):
    @lib.njit
    def f(board):
        n, m = board.shape
        new = np.zeros_like(board)
        for i in range(n):
            for j in range(m):
                s = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            s += board[(i + di) % n, (j + dj) % m]
                new[i, j] = 1 if s == 3 or (s == 2 and board[i, j] == 1) else 0
        return new

    return lambda: f(np.ones((4, 5), np.int64))


@program
def records(lib):
    pairs = np.zeros(5, dtype=[("x", np.float64), ("n", np.int64)])

    @lib.njit
    def f(a):
        s = 0.0
        for i in range(len(a)):
            a[i]["n"] += i
            s += a[i]["x"] * a[i]["n"]
        return s

    return lambda: f(pairs)


# -- whole arrays -----------------------------------------------------------------------------------------------------


@program
def expression(lib):
    @lib.njit
    def f(a, b):
        return np.sqrt(a * a + b * b) / (1.0 + a)

    return lambda: f(values(), values())


@program
def statistics(lib):
    @lib.njit
    def f(x):
        return x.mean(), x.std(), x.min(), x.max(), np.median(x)

    return lambda: f(values())


@program
def normalised_rows(lib):
    @lib.njit
    def f(a):
        for i in range(a.shape[0]):
            row = a[i]
            a[i] = (row - row.mean()) / (row.std() + 1e-9)
        return a.sum()

    return lambda: f(np.ones((3, 4)))


@program
def sorting(lib):
    @lib.njit
    def f(x):
        return np.sort(x)[0] + np.argsort(x)[0]

    return lambda: f(values())


@program
def unique_values(lib):
    @lib.njit
    def f(x):
        return np.unique(x)

    return lambda: f(np.array([3, 1, 3, 2]))


@program
def masks(lib):
    @lib.njit
    def f(x):
        return np.where(x > 1.0, x, 0.0).sum() + x[x > 2.0].sum()

    return lambda: f(values())


@program
def cumulative(lib):
    @lib.njit
    def f(x):
        return np.cumsum(x)[-1] + np.diff(x).sum()

    return lambda: f(values())


@program
def linear_system(lib):
    @lib.njit
    def f(a, b):
        x = np.linalg.solve(a, b)
        return np.dot(a, x) - b

    return lambda: f(np.eye(3) + 0.5, np.ones(3))


@program
def polynomial(lib):
    @lib.njit
    def f(x):
        return ((2.0 * x + 1.0) * x - 3.0) * x + np.interp(1.0, x, x)

    return lambda: f(values())


@program
def shapes(lib):
    @lib.njit
    def f(a):
        b = np.ascontiguousarray(a.reshape(2, 3).T)
        return np.concatenate((b.ravel(), np.arange(3.0))).sum()

    return lambda: f(np.arange(6.0))


# -- containers -------------------------------------------------------------------------------------------------------


@program
def list_of_squares(lib):
    @lib.njit
    def f(n):
        xs = []
        for i in range(n):
            xs.append(i * i)
        return sum(xs) + len(xs)

    return lambda: f(5)


@program
def sorted_list(lib):
    @lib.njit
    def f(n):
        xs = [float((i * 7) % 5) for i in range(n)]
        xs.sort()
        return xs[0] + xs[-1]

    return lambda: f(8)


@program
def counted_values(lib):
    @lib.njit
    def f(values):
        counts = {}
        for i in range(len(values)):
            v = values[i]
            if v in counts:
                counts[v] += 1
            else:
                counts[v] = 1
        return len(counts)

    return lambda: f(np.array([3, 1, 3]))


@program
def sets(lib):
    @lib.njit
    def f(a, b):
        x = set()
        for v in a:
            x.add(v)
        n = 0
        for v in b:
            if v in x:
                n += 1
        return n

    return lambda: f(np.arange(5), np.arange(3, 9))


@program
def heap(lib):
    @lib.njit
    def f(n):
        h = [0.0]
        for i in range(n):
            heapq.heappush(h, float((i * 7) % 5))
        return heapq.heappop(h)

    return lambda: f(6)


@program
def tuples(lib):
    Point = namedtuple("Point", ("x", "y"))

    @lib.njit
    def f(p, q):
        d = (p.x - q.x, p.y - q.y)
        return Point(d[0] * 0.5, d[1] * 0.5), max(d)

    return lambda: f(Point(1.0, 2.0), Point(3.0, 5.0))


@program
def typed_list(lib):
    @lib.njit
    def f(xs):
        s = 0
        for x in xs:
            s += x
        xs.append(s)
        return s

    def call():
        xs = lib.typed.List()
        for i in range(3):
            xs.append(i)
        return f(xs)

    return call


# -- text -------------------------------------------------------------------------------------------------------------


@program
def vowels(lib):
    @lib.njit
    def f(text):
        n = 0
        for c in text:
            if c in "aeiou":
                n += 1
        return n

    return lambda: f("compile once")


@program
def joined(lib):
    @lib.njit
    def f(text):
        parts = text.split(",")
        return "-".join(parts).upper()

    return lambda: f("a,b,c")


@program
def numbers_as_text(lib):
    @lib.njit
    def f(n):
        s = ""
        for i in range(n):
            s += str(i) + ";"
        return s

    return lambda: f(4)


# -- functions, classes, exceptions, generators -----------------------------------------------------------------------


@program
def closures(lib):
    scale = 3.0

    @lib.njit
    def f(x):
        def g(y):
            return y * scale + x

        return g(1.0) + g(2.0)

    return lambda: f(2.0)


@program
def function_values(lib):
    @lib.njit
    def twice(g, x):
        return g(g(x))

    @lib.njit
    def half(x):
        return x * 0.5

    return lambda: twice(half, 3.0)


@program
def a_class(lib):
    @lib.jitclass([("x", lib.float64), ("n", lib.int64)])
    class Sum:
        def __init__(self):
            self.x = 0.0
            self.n = 0

        def add(self, v):
            self.x += v
            self.n += 1

        def mean(self):
            return self.x / self.n

    @lib.njit
    def f(a):
        s = Sum()
        for v in a:
            s.add(v)
        return s.mean()

    return lambda: f(values())


@program
def handlers(lib):
    @lib.njit
    def f(a, i):
        try:
            if i < 0:
                raise ValueError("negative")
            return a[i] * 2.0
        except Exception:
            return -1.0

    return lambda: f(values(), 2)


@program
def raising(lib):
    @lib.njit
    def f(x):
        if x > 100:
            raise OverflowError("too large")
        if x < 0:
            raise ValueError("negative")
        return x + 1

    return lambda: f(5)


@program
def generators(lib):
    @lib.njit
    def count(n):
        i = 0
        while i < n:
            yield i * i
            i += 1

    @lib.njit
    def f(n):
        s = 0
        for x in count(n):
            s += x
        return s

    return lambda: f(5)


@program
def optional_result(lib):
    @lib.njit
    def f(a, x):
        for i in range(len(a)):
            if a[i] == x:
                return i
        return None

    return lambda: f(values(), 9.0)


# -- ufuncs, threads, random numbers ----------------------------------------------------------------------------------


@program
def a_ufunc(lib):
    @lib.vectorize(["float64(float64, float64)"])
    def f(x, y):
        return x * y + 1.0 if x > y else y - x

    return lambda: f(values(), 2.0)


@program
def two_loops_of_a_ufunc(lib):
    @lib.vectorize(["float64(float64)", "int64(int64)"])
    def f(x):
        return x * x - 1

    return lambda: (f(values()), f(np.arange(3)))


@program
def a_general_ufunc(lib):
    @lib.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),(n)->()")
    def f(a, b, out):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * b[i]
        out[0] = s

    return lambda: f(np.ones((2, 3)), np.ones((2, 3)))


@program
def parallel_sum(lib):
    prange = lib.prange

    @lib.njit(parallel=True)
    def f(a):
        s = 0.0
        for i in prange(a.shape[0]):
            s += a[i] * a[i]
        return s

    return lambda: f(values())


@program
def parallel_rows(lib):
    prange = lib.prange

    @lib.njit(parallel=True)
    def f(a, out):
        for i in prange(a.shape[0]):
            s = 0.0
            for j in range(a.shape[1]):
                s += math.sqrt(a[i, j])
            out[i] = s

    return lambda: f(np.ones((3, 4)), np.zeros(3))


@program
def parallel_expression(lib):
    @lib.njit(parallel=True)
    def f(a, b):
        return (a * b + 2.0).sum()

    return lambda: f(values(), values())


@program
def pi_by_chance(lib):
    @lib.njit
    def f(n):
        inside = 0
        for _ in range(n):
            x, y = random.random(), random.random()
            if x * x + y * y < 1.0:
                inside += 1
        return 4.0 * inside / n

    return lambda: f(20)


@program
def normal_numbers(lib):
    @lib.njit
    def f(n):
        np.random.seed(1)
        return np.random.normal(0.0, 1.0, n).sum()

    return lambda: f(5)


@program
def fast_math(lib):
    @lib.njit(fastmath=True, error_model="numpy")
    def f(a, b):
        s = 0.0
        for i in range(len(a)):
            s += a[i] / b[i]
        return s

    return lambda: f(values(), values())


@program
def declared(lib):
    @lib.njit("float64(float64[::1], int64)")
    def f(a, n):
        s = 0.0
        for i in range(n):
            s += a[i]
        return s

    return lambda: f(values(), 4)
