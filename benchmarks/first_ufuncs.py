"""The first call of a ufunc with one eager signature beside Numba's: first_ufuncs.py --numba PYTHON [--rounds 5]

Processor time of all threads from the decoration to the result of the first call, in a process of its own each time, which has compiled another ufunc
before; the two libraries take turns, the least counts. NumPy's BLAS has one thread: others of it, which wait for work in a loop, count as well. QUERN_BUILD names a build folder; without it the installed package is measured."""
import argparse
import math
import os
import pathlib
import subprocess
import sys
import time

BODIES = {
    "x + y": "return x + y",
    "a condition": "return x if x > y else y * 2.0",
    "a loop of four rounds": "t = x\n    for _ in range(4):\n        t = t * y + 1.0\n    return t",
    "exp(x) * sin(y)": "return math.exp(x) * math.sin(y)",
    "x / y": "return x / y",
}


def first_call(library, body):
    if library == "quern" and "QUERN_BUILD" in os.environ:
        sys.path.insert(0, str(pathlib.Path(os.environ["QUERN_BUILD"]) / "python"))
    import numpy as np
    vectorize = __import__(library).vectorize

    def make(text):
        names = {"math": math}
        exec(f"def f(x, y):\n    {text}\n", names)
        return names["f"]

    a = np.arange(1.0, 9.0)
    vectorize(["float64(float64, float64)"])(make("return x - y"))(a, a)  # what is done once in a process
    function = make(BODIES[body])
    start = time.process_time()
    vectorize(["float64(float64, float64)"])(function)(a, a)
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numba", help="a Python with Numba")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(first_call(*options.one))
        return
    product = 1.0
    for body in BODIES:
        least = {"quern": math.inf, "numba": math.inf}
        for _ in range(options.rounds):
            for library, python in (("quern", sys.executable), ("numba", options.numba)):
                said = subprocess.run([python, __file__, "--one", library, body], capture_output=True, text=True, check=True,
                                      env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}).stdout
                least[library] = min(least[library], float(said))
        ratio = least["quern"] / least["numba"]
        product *= ratio
        print(f"{body:24}{least['quern'] * 1e3:8.2f} ms{least['numba'] * 1e3:9.1f} ms{ratio:8.3f}")
    print(f"geometric mean {product ** (1 / len(BODIES)):.3f} (goal: {1 / 12:.3f})")


if __name__ == "__main__":
    main()
