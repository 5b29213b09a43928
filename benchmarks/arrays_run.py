"""The programs of arrays.py under Quern, Numba and NumPy: `python arrays_run.py --numba PYTHON` alternates processes of all
three and prints ratios (`--only softmax,moments`, `--rounds 3`). Quern runs under the Python that starts it, NumPy too.

compile: decorated and called once with small arguments, the best of three new functions, in CPU time of the process, after another
program was compiled. run: the best of many calls with larger arguments."""
import argparse
import math
import os
import pathlib
import subprocess
import sys
import time
from types import FunctionType

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

SMALL, SIZES = 6, {"heat_3d": 40, "convolution": 300, "kmeans": 200, "fft_slices": 200, "cholesky_slices": 150, "moments": 2000,
                   "black_scholes_arrays": 400, "gram_schmidt": 120}
SIZE = 120


def new(function):
    return FunctionType(function.__code__, function.__globals__, function.__name__)


def compile_time(njit, function, make):
    def once():
        args = make(SMALL)
        start = time.process_time()
        njit(new(function))(*args)
        return time.process_time() - start
    return min(once() for _ in range(3))


def run_time(function, make, size):
    args = make(size)
    function(*args)
    best, until = math.inf, time.perf_counter() + 0.25
    while time.perf_counter() < until:
        start = time.perf_counter()
        function(*args)
        best = min(best, time.perf_counter() - start)
    return best


def worker(package, names):
    from arrays import ARRAYS
    njit = (lambda f: f) if package == "numpy" else __import__(package).njit
    if package != "numpy":
        compile_time(njit, *ARRAYS["moments"])
    for name in names or ARRAYS:
        function, make = ARRAYS[name]
        try:
            compiled = compile_time(njit, function, make)
            run = run_time(njit(function), make, SIZES.get(name, SIZE))
        except Exception as error:  # what Numba refuses
            print(name, "refused", str(error).strip().splitlines()[0][:80].replace(" ", "_"), flush=True)
            continue
        print(name, compiled, run, flush=True)


def measured(python, package, names, into):
    text = subprocess.run([python, __file__, "--worker", package, *names], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        name, compiled, run = line.split()
        if compiled != "refused":
            best = into.setdefault((package, name), [math.inf, math.inf])
            best[:] = [min(best[0], float(compiled)), min(best[1], float(run))]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def report(found):
    print(f"{'program':22s} {'compile':>9s} {'/ Numba':>8s} {'run':>10s} {'/ Numba':>8s} {'/ NumPy':>8s}")
    ratios = [[], [], []]
    for (package, name), (compiled, run) in found.items():
        if package != "quern":
            continue
        numba, numpy = found.get(("numba", name)), found[("numpy", name)]
        row = [compiled / numba[0] if numba else None, run / numba[1] if numba else None, run / numpy[1]]
        for into, ratio in zip(ratios, row):
            if ratio:
                into.append(ratio)
        texts = [f"{r:8.3f}" if r else "       -" for r in row]
        print(f"{name:22s} {compiled * 1e3:6.1f} ms {texts[0]} {run * 1e6:7.0f} us {texts[1]} {texts[2]}")
    print(f"geometric means: compile / Numba {mean(ratios[0]):.3f} ({len(ratios[0])} programs), run / Numba {mean(ratios[1]):.3f}, run / NumPy {mean(ratios[2]):.3f}")
    print(f"load: {os.getloadavg()[0]:.1f} {os.getloadavg()[1]:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numba", help="a Python that has Numba")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    names = [n for n in args.only.split(",") if n]
    found = {}
    for _ in range(args.rounds):
        for package in ("quern", "numba", "numpy"):
            if package != "numba" or args.numba:
                measured(args.numba if package == "numba" else sys.executable, package, names, found)
    report(found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], sys.argv[3:])
    else:
        main()
