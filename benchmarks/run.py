"""All benchmarks as ratios in one run: Quern beside the newest Numba (in its own environment) and beside C.

usage: run.py --numba PYTHON [--rounds 5] [--only import,first,compile,call,loop,launch] [--json FILE]

Each figure comes from processes of the contestants that alternate, so that both meet the same weather; the table shows the
best of each, their ratio, and the spread of the ratios of single rounds. Absolute times are for orientation only.
"""
import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ["sum", "axpy", "stencil", "matmul", "mandelbrot", "nbody", "black_scholes", "sieve"]
CALLS = ["two ints", "two floats", "one array", "scalar and three arrays", "eight arrays"]


def measure(python, *arguments, environment=None):
    # Both import from cached bytecode, as installed packages do.
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    result = subprocess.run([python, str(HERE / "worker.py"), *arguments], capture_output=True, text=True, cwd=HERE,
                            env={**variables, **(environment or {})})
    if result.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{result.stderr}")
    return json.loads(result.stdout.splitlines()[-1])["ns"]


def compare(rounds, one, other):
    """Alternate two measurements; (best, best, ratio of bests, lowest and highest ratio of a round)."""
    pairs = [(one(), other()) for _ in range(rounds)]
    a, b = min(p[0] for p in pairs), min(p[1] for p in pairs)
    ratios = sorted(p[0] / p[1] for p in pairs)
    return {"quern": a, "other": b, "ratio": a / b, "low": ratios[0], "high": ratios[-1]}


def text(ns):
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1)):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.3g} ns"


def geomean(values):
    product = 1.0
    for value in values:
        product *= value
    return product ** (1 / len(values))


class Table:
    def __init__(self):
        self.rows = []

    def add(self, group, name, against, result, goal=""):
        self.rows.append({"group": group, "name": name, "against": against, "goal": goal, **result})
        r = result
        print(f"| {group} | {name} | {against} | {text(r['quern'])} | {text(r['other'])} | {r['ratio']:.3f} "
              f"| {r['low']:.3f} .. {r['high']:.3f} | {goal} |", flush=True)

    def mean(self, group, against, goal):
        values = [r["ratio"] for r in self.rows if r["group"] == group and r["against"] == against]
        print(f"| {group} | **geometric mean** | {against} | | | **{geomean(values):.3f}** | | {goal} |", flush=True)


def compile_c(folder):
    compiler = next(c for c in ("clang-19", "clang", "cc") if shutil.which(c))
    library = str(Path(folder) / "programs.so")
    subprocess.run([compiler, "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC", "-o", library,
                    str(HERE / "programs.c"), "-lm"], check=True)
    return compiler, library


def driver_call(folder, fakecuda):
    """Nanoseconds of a bare cuLaunchKernel of the stand-in driver, measured from C."""
    program = Path(folder) / "bare"
    subprocess.run(["cc", "-O2", "-o", str(program), str(HERE / "bare_launch.c"), "-ldl", "-pthread"], check=True)
    best = None
    for _ in range(5):
        out = subprocess.run([str(program), fakecuda], capture_output=True, text=True, check=True,
                             env={**os.environ, "FAKECUDA_NOEXEC": "1"}).stdout
        best = float(out) if best is None else min(best, float(out))
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--numba", help="a Python with Numba")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="import,first,compile,call,loop,launch")
    parser.add_argument("--fakecuda", help="the stand-in libcuda.so.1 (for launch)")
    parser.add_argument("--json")
    options = parser.parse_args()
    chosen, here, numba, n = options.only.split(","), sys.executable, options.numba, options.rounds
    versions = subprocess.run([numba, "-c", "import numba, numpy, sys; print(f'Numba {numba.__version__} (NumPy {numpy.__version__}, "
                               "Python {sys.version.split()[0]})')"], capture_output=True, text=True).stdout.strip() if numba else ""
    import numpy

    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    folder = tempfile.mkdtemp()
    compiler, library = compile_c(folder)
    print(f"Quern on Python {platform.python_version()}, NumPy {numpy.__version__}; {versions}; {compiler} -O3\n"
          f"{cpu}, {os.cpu_count()} processors\n")
    print("| what | case | against | Quern | other | ratio | spread | goal |\n|---|---|---|---|---|---|---|---|")
    table = Table()
    if "import" in chosen:
        measure(here, "quern", "import"), measure(numba, "numba", "import")  # fills the caches
        table.add("import", "beyond NumPy", "Numba", compare(2 * n, lambda: measure(here, "quern", "import"),
                                                             lambda: measure(numba, "numba", "import")), "<= 0.05, <= 10 ms")
    if "first" in chosen:
        for name in ("add", "sum"):
            table.add("first result", name, "Numba", compare(n, lambda: measure(here, "quern", "first", name),
                                                             lambda: measure(numba, "numba", "first", name)), "<= 0.125")
    if "compile" in chosen:
        for name in PROGRAMS:
            table.add("compile", name, "Numba", compare(n, lambda: measure(here, "quern", "compile", name),
                                                        lambda: measure(numba, "numba", "compile", name)))
        table.mean("compile", "Numba", "<= 0.125")
    if "call" in chosen:
        goals = {"two ints": "<= 0.333", "scalar and three arrays": "<= 0.25"}
        for name in CALLS:
            table.add("call", name, "Numba", compare(n, lambda: measure(here, "quern", "call", name),
                                                     lambda: measure(numba, "numba", "call", name)), goals.get(name, ""))
    if "loop" in chosen:
        unchecked = json.dumps({"boundscheck": False})
        for name in PROGRAMS:
            table.add("loop", name, "C", compare(n, lambda: measure(here, "quern", "loop", name),
                                                 lambda: measure(here, "c", "loop", name, library)))
            table.add("loop unchecked", name, "C", compare(n, lambda: measure(here, "quern", "loop", name, unchecked),
                                                           lambda: measure(here, "c", "loop", name, library)))
            table.add("loop", name, "Numba", compare(n, lambda: measure(here, "quern", "loop", name),
                                                     lambda: measure(numba, "numba", "loop", name)))
        table.mean("loop", "C", "<= 1.3")
        table.mean("loop unchecked", "C", "<= 1.15")
        table.mean("loop", "Numba", "")
    fakecuda = options.fakecuda
    if "launch" in chosen and fakecuda:
        environment = {"QUERN_CUDA_LIBRARY": fakecuda, "QUERN_DEVICE": "cuda", "FAKECUDA_NOEXEC": "1"}
        bare = driver_call(folder, fakecuda)
        ours = min(measure(here, "quern", "launch", environment=environment) for _ in range(n))
        print(f"\nlaunch of a kernel with three device arrays over the stand-in driver: {ours:.0f} ns, of which the driver call "
              f"{bare:.0f} ns: {ours - bare:.0f} ns of ours (goal <= 300 ns)")
        table.rows.append({"group": "launch", "name": "three device arrays", "quern": ours, "other": bare})
    if options.json:
        Path(options.json).write_text(json.dumps(table.rows, indent=1))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
