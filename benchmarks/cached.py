"""The disk cache beside Numba's: the first call of functions that an earlier process has compiled, and whole processes.

    python benchmarks/cached.py --numba PYTHON [--rounds 7]

PYTHON has Numba; this interpreter has Quern and NumPy. Each program runs in a process of its own, first to fill a fresh
cache (and that of Python's bytecode), then some times to measure; Quern, Numba and NumPy alone take turns, and the best time of each counts."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

PROGRAM = """
import json, sys, time
start = time.perf_counter()
import numpy as np
numpy = time.perf_counter()
if "{peer}" != "numpy":
    from {peer} import njit
    imported = time.perf_counter()

    @njit(cache=True)
    def total(a, b):
        s = 0.0
        for i in range(len(a)):
            s += a[i] * b[i]
        return s

    @njit(cache=True)
    def smooth(a):
        for k in range(3):
            a[1:-1] = (a[:-2] + a[2:]) / 2
        return a.sum()

    @njit(cache=True)
    def primes(n):
        sieve = np.ones(n, np.bool_)
        for i in range(2, int(n ** 0.5) + 1):
            if sieve[i]:
                for k in range(i * i, n, i):
                    sieve[k] = False
        return sieve[2:].sum()

    a = np.arange(100.0)
    first = time.perf_counter()
    results = [float(total(a, a)), float(smooth(a)), int(primes(1000))]
    done = time.perf_counter()
    print(json.dumps(dict(imported=imported - numpy, first=(done - first) / 3, process=done - numpy, results=results,
                          hits=sum(sum(f.stats.cache_hits.values()) for f in (total, smooth, primes)))))
"""


def run(python, peer, folder):
    path = os.path.join(folder, f"program_{peer}.py")
    if not os.path.exists(path):
        with open(path, "w") as file:
            file.write(PROGRAM.format(peer=peer))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run([python, path], check=True, capture_output=True, text=True,
                          env={**environment, "QUERN_CACHE_DIR": folder + "/quern", "NUMBA_CACHE_DIR": folder + "/numba",
                               "PYTHONPYCACHEPREFIX": folder + "/bytecode"})
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numba", required=True, help="a Python with Numba")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    pythons = {"quern": sys.executable, "numba": args.numba}
    with tempfile.TemporaryDirectory() as folder:
        cold = {peer: run(python, peer, folder) for peer, python in pythons.items()}
        warm = {peer: [] for peer in pythons}
        for _ in range(args.rounds):
            for peer, python in pythons.items():
                warm[peer].append(run(python, peer, folder))
    assert all(found["hits"] == 3 for runs in warm.values() for found in runs), "an entry was not found again"
    assert all(found["results"] == cold["quern"]["results"] for runs in warm.values() for found in runs)
    print(f"{'ms':32}{'Quern':>10}{'Numba':>10}{'ratio':>8}")
    for what, key in (("first call, nothing cached", None), ("first call, cached", "first"), ("import beyond NumPy", "imported"),
                      ("import to results, cached", "process")):
        mine, other = (cold[peer]["first"] if key is None else min(found[key] for found in warm[peer]) for peer in ("quern", "numba"))
        print(f"{what:32}{mine * 1e3:10.2f}{other * 1e3:10.2f}{mine / other:8.3f}")


if __name__ == "__main__":
    main()
