"""Whole arrays beside what they cannot beat: NumPy's reductions, products of matrices and ufuncs, and the same expression as a loop in C.

    python benchmarks/arrays_floor.py

Times are the best of many rounds in which both take turns. Matrix products are NumPy's BLAS on either side: OPENBLAS_NUM_THREADS=1 keeps
its threads out of the comparison."""
import ctypes
import pathlib
import subprocess
import tempfile
import time

import numpy as np

from quern import njit, vectorize

C = """
void expression(const double *restrict a, const double *restrict b, const double *restrict c, double *restrict out, long n) {
    for (long i = 0; i < n; i++) out[i] = a[i] * b[i] + 2 * c[i] - a[i] / (b[i] + 1);
}
"""


def seconds(function, args, times):
    start = time.perf_counter()
    for _ in range(times):
        function(*args)
    return (time.perf_counter() - start) / times


def compare(name, ours, theirs, args, times):
    ours(*args), theirs(*args)
    best = [min(times_of_one) for times_of_one in zip(*[(seconds(ours, args, times), seconds(theirs, args, times)) for _ in range(16)])]
    print(f"{name:36s} {best[0] * 1e6:9.2f} us {best[1] * 1e6:9.2f} us  {best[0] / best[1]:5.2f}", flush=True)


def expression(a, b, c, out):
    out[:] = a * b + 2 * c - a / (b + 1)


def in_c(a, b, c, out):
    library.expression(*[ctypes.c_void_p(x.ctypes.data) for x in (a, b, c, out)], ctypes.c_long(len(a)))


def product(a, b):
    return a @ b


@vectorize(["f8(f8,f8)"])
def add(a, b):
    return a + b


def main():
    million = np.random.default_rng(0).random(10 ** 6)
    for name in ("sum", "min", "max", "mean"):
        function = {"sum": lambda a: a.sum(), "min": lambda a: a.min(), "max": lambda a: a.max(), "mean": lambda a: a.mean()}[name]
        compare(f"{name} of 10^6 / NumPy", njit(function), function, (million,), 10)
    for n in (4, 64, 512):
        matrix = million[:n * n].reshape(n, n)
        compare(f"@ of {n} x {n} / NumPy", njit(product), product, (matrix, matrix), 3 if n > 100 else 500)
    parts = [million[k * 10 ** 5:(k + 1) * 10 ** 5] for k in range(3)] + [np.empty(10 ** 5)]
    compare("an expression of 10^5 / C", njit(expression), in_c, parts, 50)
    compare("a ufunc of 10 / np.add", add, np.add, (million[:10], million[:10]), 2000)
    compare("a ufunc of 10^6 / np.add", add, np.add, (million, million, np.empty(10 ** 6)), 10)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "c.c"
        source.write_text(C)
        subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", source.with_suffix(".so")], check=True)
        library = ctypes.CDLL(str(source.with_suffix(".so")))
        main()
