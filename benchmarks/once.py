"""What is compiled once, and at the same time: once.py [--rounds 5]

Six functions in six threads beside one after the other; four signatures of one decorator beside one; second callers of functions of
the library beside a function without any (first calls; the least of all rounds). QUERN_BUILD names a build folder; without it the
installed package is measured."""
import argparse
import math
import os
import pathlib
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
CALLERS = {
    "nothing": ("def f(x, k): return x * k + {k}", (1.5, 2.5)),
    "pow(x, y, z)": ("def f(x, k): return pow(x, k, 1000007) + {k}", (12, 18)),
    "math.gcd": ("def f(x, k): return math.gcd(x, k) + {k}", (12, 18)),
    "np.sort": ("def f(x, k): return np.sort(x)[k] + {k}", (np.arange(5.0), 1)),
    "np.mean": ("def f(x, k): return np.mean(x) + k + {k}", (np.arange(5.0), 1)),
    "np.median": ("def f(x, k): return np.median(x) + k + {k}", (np.arange(5.0), 1)),
    "str.split": ("def f(x, k): return len(x.split(',')) + k + {k}", ("a,b", 1)),
    "str(float)": ("def f(x, k): return len(str(x * k)) + {k}", (1.25, 3)),
    "f-string": ("def f(x, k): return len(f'{{x:>10}}|{{k:.3f}}') + {k}", (12, 2.5)),
}
kept = []  # instances go with the last that calls them


def make(source, k, compiled=True):
    space = {"np": np, "math": math}
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
    texts = [f"float64({t}[:], {t}[:], int64)" for t in ("float64", "float32", "int64", "int32")]
    one, four = make(LOOPS, first + 30, False), make(LOOPS, first + 31, False)
    alone = seconds(lambda: njit(texts[:1])(one))
    return seconds(lambda: njit(texts)(four)), alone


def second_callers(rounds):
    for name, (source, args) in CALLERS.items():
        times = [seconds(lambda k=k: make(source, k)(*args)) for k in range(rounds + 1)]
        yield name, times[0], min(times[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    make(LOOPS, 0)(np.ones(10), np.ones(10), 1)
    print(f"{os.cpu_count()} processors; ms")
    for what, measured in (("six functions in six threads / one by one", threads), ("four signatures / one", signatures)):
        pairs = [measured(100 * (r + 1)) for r in range(rounds)]
        ratios = sorted(a / b for a, b in pairs)
        print(f"{what:45}{min(a for a, _ in pairs) * 1e3:8.1f} {min(b for _, b in pairs) * 1e3:8.1f}   ratio "
              f"{ratios[len(ratios) // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    print(f"\n{'first call of a function that calls':38}{'first':>8}{'second':>8}   beyond one that calls nothing")
    bare = None
    for name, first, second in second_callers(rounds):
        bare = bare or second
        print(f"{name:38}{first * 1e3:8.2f}{second * 1e3:8.2f}{(second - bare) * 1e3:8.2f}")


if __name__ == "__main__":
    main()
