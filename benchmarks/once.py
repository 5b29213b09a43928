"""What is compiled once, and at the same time: once.py [--rounds 5]

Six functions in six threads beside one after the other; four signatures of one decorator beside one (by the clock; in a process that has compiled before,
and as the first that a process compiles); second callers of functions of
the library beside the same function without it (processor time of first calls; the least of all rounds, by turns). QUERN_BUILD names a build folder; without it the
installed package is measured."""
import argparse
import heapq
import math
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

import numpy as np

if "QUERN_BUILD" in os.environ:
    sys.path.insert(0, str(pathlib.Path(os.environ["QUERN_BUILD"]) / "python"))
from quern import njit  # noqa: E402

LOOPS = """
def f(a, b, n):
    s = 0.0
    for i in range(n):
        for j in range(a.shape[0]):
            x = a[j] * {k}.5 + b[j]
            if x > 3.0 + i:
                s += np.sqrt(x) / (1.0 + j)
            else:
                s -= x * x + np.exp(-x)
    t = 0
    for i in range(n):
        t += i * {k} % 7
        if t > 100:
            t -= 3
    return s + t
"""
SIGNATURES = [f"float64({t}[:], {t}[:], int64)" for t in ("float64", "float32", "int64", "int32")]
ENVIRONMENT = {**os.environ, **({"QUERN_BUILD": str(pathlib.Path(os.environ["QUERN_BUILD"]).resolve())} if "QUERN_BUILD" in os.environ else {})}
X = np.arange(5.0)
# name: (what a function calls, the same function without it, its arguments)
CALLERS = {
    "nothing": ("x * k", "x * k", (1.5, 2.5)),
    "pow(x, y, z)": ("pow(x, k, 1000007)", "x * k", (12, 18)),
    "math.gcd": ("math.gcd(x, k)", "x * k", (12, 18)),
    "math.factorial": ("math.factorial(x) + k", "x * k", (5, 1)),
    "math.comb": ("math.comb(x, k)", "x * k", (9, 4)),
    "random.randint": ("random.randint(1, x) + k", "x * k", (7, 1)),
    "np.random.normal": ("np.random.normal() + k", "x * k", (7, 1)),
    "np.sort": ("np.sort(x)[k]", "x[k]", (X, 1)),
    "np.mean": ("np.mean(x) + k", "x[k]", (X, 1)),
    "np.median": ("np.median(x) + k", "x[k]", (X, 1)),
    "np.unique": ("np.unique(x)[k]", "x[k]", (X, 1)),
    "np.percentile": ("np.percentile(x, k)", "x[k]", (X, 1)),
    "np.histogram": ("np.histogram(x, 5)[0][k]", "x[k]", (X, 1)),
    "np.cumsum": ("np.cumsum(x)[k]", "x[k]", (X, 1)),
    "np.searchsorted": ("np.searchsorted(x, 2.5) + k", "x[k]", (X, 1)),
    "np.linalg.solve": ("np.linalg.solve(x, x)[0, 0] + k", "x[0, 0] + k", (np.eye(3), 1)),
    "str.split": ("len(x.split(',')) + k", "len(x) + k", ("a,b", 1)),
    "str.upper": ("len(x.upper()) + k", "len(x) + k", ("a,b", 1)),
    "str(float)": ("len(str(x * k))", "x * k", (1.25, 3)),
    "float(str)": ("float(x) * k", "len(x) * k", ("1.25", 3)),
    "f-string": ("len(f'{{x:>10}}|{{k:.3f}}')", "x * k", (12, 2.5)),
    "sorted(list)": ("sorted([x, k, 3])[0]", "[x, k, 3][k]", (12, 2)),
    "heapq": ("heapq.nsmallest(2, [x, k, 3])[1]", "[x, k, 3][k]", (12, 2)),
}
CALLER = "def f(x, k): return {} + {{k}}"
kept = []  # instances go with the last that calls them


def make(source, k, compiled=True):
    space = {"np": np, "math": math, "random": random, "heapq": heapq}
    exec(source.format(k=k), space)
    function = njit(space["f"]) if compiled else space["f"]
    kept.append(function)
    return function


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def threads(first):
    a = np.ones(10)

    def at_once(functions):
        started = [threading.Thread(target=f, args=(a, a, 1)) for f in functions]
        for t in started:
            t.start()
        for t in started:
            t.join()

    alone = [make(LOOPS, first + k) for k in range(6)]
    together = [make(LOOPS, first + 10 + k) for k in range(6)]
    one_by_one = seconds(lambda: [f(a, a, 1) for f in alone])
    return seconds(lambda: at_once(together)), one_by_one


def signatures(first):
    one, four = make(LOOPS, first + 30, False), make(LOOPS, first + 31, False)
    alone = seconds(lambda: njit(SIGNATURES[:1])(one))
    return seconds(lambda: njit(SIGNATURES)(four)), alone


def first_signatures(first):
    """As `signatures`, in a process each."""
    def alone(n):
        program = f"import once; print(once.seconds(lambda: once.njit(once.SIGNATURES[:{n}])(once.make(once.LOOPS, {first}, False))))"
        return float(subprocess.run([sys.executable, "-c", program], cwd=pathlib.Path(__file__).resolve().parent, check=True,
                                    capture_output=True, text=True, env=ENVIRONMENT).stdout)
    return alone(4), alone(1)


def processor_ms(source, args, k):
    function = make(source, k)
    start = time.process_time()
    function(*args)
    return (time.process_time() - start) * 1e3


def second_callers(rounds):
    """First and second callers, and what they do without the library; these take turns."""
    for name, (calls, without, args) in CALLERS.items():
        first = processor_ms(CALLER.format(calls), args, 0)
        processor_ms(CALLER.format(without), args, 0)
        pairs = [[processor_ms(CALLER.format(body), args, k) for body in (calls, without)] for k in range(1, rounds + 1)]
        yield name, first, *(min(times) for times in zip(*pairs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    make(LOOPS, 0)(np.ones(10), np.ones(10), 1)
    print(f"{os.cpu_count()} processors; ms")
    for what, measured in (("six functions in six threads / one by one", threads), ("four signatures / one", signatures),
                           ("the same, first of a process", first_signatures)):
        pairs = [measured(100 * (r + 1)) for r in range(rounds)]
        ratios = sorted(a / b for a, b in pairs)
        print(f"{what:45}{min(a for a, _ in pairs) * 1e3:8.1f} {min(b for _, b in pairs) * 1e3:8.1f}   ratio "
              f"{ratios[len(ratios) // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    print(f"\n{'processor time of the first call, ms':38}{'first':>8}{'second':>8}{'without':>8}{'beyond':>8}")
    for name, first, second, without in second_callers(2 * rounds):
        print(f"{name:38}{first:8.2f}{second:8.2f}{without:8.2f}{second - without:8.2f}")


if __name__ == "__main__":
    main()
