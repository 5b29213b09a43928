"""Parallel loops beside the same loops in C with OpenMP, what a region costs, and first calls beside Numba's.

    python benchmarks/parallel.py                                   # beside OpenMP (gcc)
    python benchmarks/parallel.py --numba /path/to/python           # and beside Numba in that environment

Compiled with error_model="numpy", since C tests no divisors. Times are the best of many rounds in which the contestants take turns, so that what else the machine does meets all of them."""
import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = '''
def scale(a, b):
    for i in prange(len(a)):
        b[i] = a[i] * 2.0 + 1.0

def sum(a):
    s = 0.0
    for i in prange(len(a)):
        s += a[i]
    return s

def jacobi(a, b):
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])

def mandelbrot(out, n):
    inside = 0
    for i in prange(n):
        for j in range(n):
            cr = -2.0 + 3.0 * j / n
            ci = -1.5 + 3.0 * i / n
            x = 0.0
            y = 0.0
            k = 0
            while k < 200 and x * x + y * y <= 4.0:
                t = x * x - y * y + cr
                y = 2.0 * x * y + ci
                x = t
                k += 1
            out[i, j] = k
            inside += k == 200
    return inside

def integral(n):
    s = 0.0
    h = 1.0 / n
    for i in prange(n):
        x = h * (i + 0.5)
        s += 4.0 / (1.0 + x * x)
    return s * h
'''
NAMES = ["scale", "sum", "jacobi", "mandelbrot", "integral"]
FIRST = '''
import sys, time
import numpy as np
from {package} import njit, prange
@njit
def warm(a):
    return a[0]
warm(np.ones(3))
@njit(parallel=True)
def start(a):
    for i in prange(len(a)):
        a[i] = i
start(np.ones(3))
exec(compile({programs!r}, "programs", "exec"))
a, b = np.ones(10), np.ones(10)
m, o = np.ones((5, 5)), np.ones((5, 5), np.int64)
args = dict(scale=(a, b), sum=(a,), jacobi=(m, m.copy()), mandelbrot=(o, 5), integral=(10,))
for name in {names!r}:
    f = njit(parallel=True)(globals()[name])
    t = time.perf_counter()
    f(*args[name])
    print(name, time.perf_counter() - t)
'''


def library(folder):
    path = os.path.join(folder, "parallel.so")
    subprocess.run(["gcc", "-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-shared", "-fPIC", str(HERE / "parallel.c"),
                    "-o", path], check=True)
    c = ctypes.CDLL(path)
    for name, result in (("sum", ctypes.c_double), ("integral", ctypes.c_double), ("mandelbrot", ctypes.c_int64)):
        getattr(c, name).restype = result
    return c


def alternate(calls, seconds, pause=0.0):
    """Best time of each, taking turns; after a pause, since idle threads of OpenMP spin for a while."""
    best = [float("inf")] * len(calls)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for k, call in enumerate(calls):
            if pause:
                time.sleep(pause)
            t = time.perf_counter()
            call()
            best[k] = min(best[k], time.perf_counter() - t)
    return best


def pointer(a):
    return ctypes.c_void_p(a.ctypes.data)


def beside_openmp(seconds, threads):
    from quern import njit, prange
    scope = {"prange": prange}
    exec(compile(PROGRAMS, "programs", "exec"), scope)
    f = {name: njit(parallel=True, error_model="numpy")(scope[name]) for name in NAMES}
    size, side, pixels, steps = 2_000_000, 1000, 300, 2_000_000
    a, b = np.random.rand(size), np.zeros(size)
    m, o = np.random.rand(side, side), np.zeros((side, side))
    p = np.zeros((pixels, pixels), np.int64)
    n = ctypes.c_int64
    with tempfile.TemporaryDirectory() as folder:
        c = library(folder)
        pairs = {
            "scale": (lambda: f["scale"](a, b), lambda: c.scale(pointer(a), pointer(b), n(size))),
            "sum": (lambda: f["sum"](a), lambda: c.sum(pointer(a), n(size))),
            "jacobi": (lambda: f["jacobi"](m, o), lambda: c.jacobi(pointer(m), pointer(o), n(side), n(side))),
            "mandelbrot": (lambda: f["mandelbrot"](p, pixels), lambda: c.mandelbrot(pointer(p), n(pixels))),
            "integral": (lambda: f["integral"](steps), lambda: c.integral(n(steps)))}
        print(f"{threads} threads; best times in ms, and OpenMP's time / ours (goal: at least 0.9)")
        for name, (ours, theirs) in pairs.items():
            ours(), theirs()
            x, y = alternate([ours, theirs], seconds, 0.005)
            print(f"  {name:12} {x * 1e3:9.3f} {y * 1e3:9.3f}   {y / x:5.2f}")


def region(seconds):
    from quern import njit, prange, set_num_threads, get_num_threads

    def empty(a):
        for i in prange(len(a)):
            a[i] = 1.0

    def total(a):
        s = 0.0
        for i in prange(len(a)):
            s += a[i]
        return s

    print("a region of ten iterations, less the call without prange; in microseconds (goal: at most 2)")
    a = np.ones(10)
    for f in (empty, total):
        parallel, serial = njit(parallel=True)(f), njit(f)
        parallel(a), serial(a)

        def many(g):
            for _ in range(100):
                g(a)

        x, y = alternate([lambda: many(parallel), lambda: many(serial)], seconds)
        print(f"  {f.__name__:12} {(x - y) * 1e4:9.3f}")
    return get_num_threads, set_num_threads


def first_calls(python, package, environment):
    out = subprocess.run([python, "-c", FIRST.format(package=package, programs=PROGRAMS, names=NAMES)], text=True,
                         capture_output=True, env=environment)
    if out.returncode:
        raise SystemExit(out.stderr)
    return {line.split()[0]: float(line.split()[1]) for line in out.stdout.splitlines()}


def compile_times(numba, rounds):
    import quern
    ours_at = {**os.environ, "PYTHONPATH": str(pathlib.Path(quern.__file__).parents[1])}
    theirs_at = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    best = {}
    for _ in range(rounds):
        for who, python, where in (("quern", sys.executable, ours_at), ("numba", numba, theirs_at)):
            for name, t in first_calls(python, who, where).items():
                best[who, name] = min(t, best.get((who, name), t))
    print("first calls in ms, and Numba's / ours (goal: at least 8)")
    for name in NAMES:
        x, y = best["quern", name], best["numba", name]
        print(f"  {name:12} {x * 1e3:9.1f} {y * 1e3:9.1f}   {y / x:5.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--numba", help="the Python of an environment with Numba: first calls beside it")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each loop")
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inner:
        from quern import get_num_threads
        beside_openmp(given.seconds, get_num_threads())
        return
    processors = len(os.sched_getaffinity(0))
    for threads in (processors, 2 * processors):  # OpenMP and we read the number when we start
        subprocess.run([sys.executable, __file__, "--inner", "--seconds", str(given.seconds)], check=True,
                       env={**os.environ, "OMP_NUM_THREADS": str(threads), "QUERN_NUM_THREADS": str(threads)})
    region(given.seconds)
    if given.numba:
        compile_times(given.numba, 3)


if __name__ == "__main__":
    main()
