"""A scalar function becomes a NumPy ufunc: on the GPU, on one CPU core, on all of them."""
import numpy as np
import show

from quern import vectorize


@vectorize(["int64(int64, int64)"], target=show.gpu)
def add_ufunc(x, y):
    return x + y


a = np.array([1, 2, 3, 4])
b = np.array([10, 20, 30, 40])
print(add_ufunc(a, b))  # [11 22 33 44]
show.device()


@vectorize(["int64(int64, int64)"], target="cpu")
def add_cpu(x, y):
    return x + y


@vectorize(["int64(int64, int64)"], target="parallel")
def add_parallel(x, y):
    return x + y


print(add_cpu(a, b), add_parallel(a, b), type(add_cpu).__mro__[1].__name__)
print("reduce", add_cpu.reduce(a), "accumulate", add_cpu.accumulate(a), "outer", add_cpu.outer(a, b)[0])


@vectorize  # without signatures: loops are added when new types arrive
def relative_difference(x, y):
    return abs(x - y) / (abs(x) + abs(y))


print(relative_difference(np.arange(1.0, 5.0), 2), relative_difference(np.float32(1), np.float32(3)))

big = np.random.default_rng(1).random(1_000_000)
show.report("relative_difference, 1e6 float64", lambda: relative_difference(big, 0.5),
            lambda: np.abs(big - 0.5) / (np.abs(big) + np.abs(0.5)))
