"""prange: loops on all cores. Sums, histograms, a picture; what may not be shared, and how one finds out."""
import pathlib
import time

import numpy as np

from quern import errors, get_num_threads, njit, prange, set_num_threads


@njit(parallel=True)
def pi(n):
    """Points in a square: each iteration makes its own random numbers, and all add to one sum."""
    inside = 0
    for i in prange(n):
        x = np.uint64(i) * np.uint64(0xD1B54A32D192ED03)  # splitmix64, from another place each
        hits = 0
        for _ in range(100):
            x += np.uint64(0x9E3779B97F4A7C15)
            z = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z ^= z >> np.uint64(31)
            a, b = (z >> np.uint64(32)) / 4294967296.0, (z & np.uint64(0xFFFFFFFF)) / 4294967296.0
            hits += a * a + b * b < 1.0
        inside += hits
    return 4 * inside / (100 * n)


@njit(parallel=True)
def column_statistics(table):
    """Arrays that iterations add to with +=: each thread has one of its own until the end of the loop."""
    total, squares = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    largest = table[0, 0]
    for i in prange(table.shape[0]):
        total += table[i]
        squares += table[i] * table[i]
        largest = max(largest, table[i].max())
    mean = total / table.shape[0]
    return mean, np.sqrt(squares / table.shape[0] - mean * mean), largest


@njit(parallel=True)
def mandelbrot(n):
    out = np.empty((n, n), np.uint8)
    for row in prange(n):
        for column in range(n):
            c = complex(-2.2 + 3.0 * column / n, -1.5 + 3.0 * row / n)
            z, k = 0j, 0
            while k < 255 and z.real * z.real + z.imag * z.imag < 4:
                z, k = z * z + c, k + 1
            out[row, column] = 255 - k
    return out


def timed(f, *args):
    f(*args)  # compiles
    start = time.perf_counter()
    result = f(*args)
    return result, time.perf_counter() - start


most = get_num_threads()
for threads in sorted({1, most}):
    set_num_threads(threads)
    value, seconds = timed(pi, 100_000)
    print(f"pi = {value:.5f} from ten million points, {threads} threads: {seconds * 1e3:.1f} ms")

table = np.random.default_rng(1).normal(3, 2, (200_000, 8))
(mean, deviation, largest), seconds = timed(column_statistics, table)
print(f"\n{len(table)} rows in {seconds * 1e3:.1f} ms; as NumPy's: {np.allclose(mean, table.mean(0))}, "
      f"{np.allclose(deviation, table.std(0))}, {largest == table.max()}")

picture, seconds = timed(mandelbrot, 400)
folder = pathlib.Path(__file__).with_name("out")
folder.mkdir(exist_ok=True)
(folder / "mandelbrot.pgm").write_bytes(b"P5 400 400 255\n" + picture.tobytes())
print(f"Mandelbrot, 400 x 400, in {seconds * 1e3:.1f} ms: {folder / 'mandelbrot.pgm'}")

print("\nWhat became of a loop:")
column_statistics.parallel_diagnostics()


@njit(parallel=True)
def smoothed(a):
    level = 0.0
    for i in prange(len(a)):
        level = 0.9 * level + 0.1 * a[i]
        a[i] = level


print("\nA loop whose iterations need each other is refused:")
try:
    smoothed(np.ones(10))
except errors.TypingError as error:
    print(error)
