"""Sorting in place and argsort beside NumPy: python benchmarks/sorting.py [sizes]

Lines of random numbers; for each type and size our time of one call in ns, NumPy's, their ratio, and the ratio of argsort. What copies the lines is
measured apart and taken off. The best of seven rounds."""
import sys
import time

import numpy as np

from quern import njit

SIZES = [10, 30, 50, 100, 200, 1000, 10_000, 100_000, 1_000_000]
WORK = 200_000


@njit
def sort_all(source, line, count):
    for k in range(count):
        line[:] = source[k % source.shape[0]]
        line.sort()


@njit
def copy_all(source, line, count):
    for k in range(count):
        line[:] = source[k % source.shape[0]]


@njit
def argsort_all(source, count):
    total = 0
    for k in range(count):
        total += np.argsort(source[k % source.shape[0]])[0]
    return total


def best(call, rounds=7):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def row(dtype, n):
    lines = max(1, min(64, 2_000_000 // n))
    source = (np.random.default_rng(1).random((lines, n)) * 1e6).astype(dtype)
    line, count = np.empty(n, dtype), max(1, WORK // n)
    ours = best(lambda: sort_all(source, line, count)) - best(lambda: copy_all(source, line, count))
    theirs = best(lambda: sort_all.py_func(source, line, count)) - best(lambda: copy_all.py_func(source, line, count))
    places = best(lambda: argsort_all(source, count)) / best(lambda: argsort_all.py_func(source, count))
    print(f"{np.dtype(dtype).name:10} {n:9} {ours / count * 1e9:12.0f} {theirs / count * 1e9:12.0f} {ours / theirs:8.2f} {places:8.2f}", flush=True)


def main():
    small = np.ones((1, 2))
    print(f"{'type':10} {'n':>9} {'ours':>12} {'NumPy':>12} {'ratio':>8} {'argsort':>8}")
    for dtype in (np.float64, np.float32, np.int64, np.int32):
        sort_all(small.astype(dtype), small[0].astype(dtype), 1), copy_all(small.astype(dtype), small[0].astype(dtype), 1)
        argsort_all(small.astype(dtype), 1)
        for n in [int(word) for word in sys.argv[1:]] or SIZES:
            row(dtype, n)


if __name__ == "__main__":
    main()
