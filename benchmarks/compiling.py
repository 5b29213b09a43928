"""Compile times of programs of all kinds (kinds.py) beside the newest Numba: compiling.py --numba PYTHON [--rounds 3] [NAME ...]

Each library compiles in processes of its own, which take turns. Measured is processor time, of all threads, from the decoration to
the result of the first call; of each process the least of four definitions of a program counts, after another program has warmed
it up (`warm`), and the first of them beside it (`first`: what a library keeps of its own functions is made there). QUERN_BUILD names a build
folder; without it the installed package is measured."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
import types
import warnings

HERE = pathlib.Path(__file__).resolve().parent
DEFINITIONS = 4
MOST_OF_ONE = 0.25


def open_library(name):
    if name == "quern" and "QUERN_BUILD" in os.environ:
        sys.path.insert(0, str(pathlib.Path(os.environ["QUERN_BUILD"]) / "python"))
    library = __import__(name)
    experimental = __import__(f"{name}.experimental", fromlist=["jitclass"])
    names = ("njit", "vectorize", "guvectorize", "prange", "float64", "int64", "typed")
    return types.SimpleNamespace(jitclass=experimental.jitclass, **{n: getattr(library, n) for n in names})


def measure(make, lib):
    start = time.process_time()
    make(lib)()
    return time.process_time() - start


def measure_all(name, wanted):
    warnings.simplefilter("ignore")
    from kinds import PROGRAMS

    lib = open_library(name)
    lib.njit(lambda a, b: a + b)(1, 2)
    for program in wanted or PROGRAMS:
        try:
            times = [measure(PROGRAMS[program], lib) for _ in range(DEFINITIONS)]
            print(json.dumps([program, times[0], min(times)]), flush=True)
        except Exception as error:  # noqa: BLE001  (Numba has not all of it)
            print(f"{name}: {program}: {str(error)[:300]}", file=sys.stderr)


def run(python, name, wanted):
    out = subprocess.run([python, __file__, "--library", name, *wanted], capture_output=True, text=True, cwd=HERE)
    if out.returncode:
        raise SystemExit(f"{name} failed:\n{out.stderr}")
    sys.stderr.write(out.stderr)
    return {p: (first, warm) for p, first, warm in map(json.loads, out.stdout.splitlines())}


def least(rounds):
    return {p: tuple(min(r[p][k] for r in rounds) for k in (0, 1)) for p in rounds[0]}


def mean(ratios):
    product = 1.0
    for r in ratios:
        product *= r
    return product ** (1 / len(ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numba", help="a Python with Numba")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--library", help=argparse.SUPPRESS)
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    if "QUERN_BUILD" in os.environ:
        os.environ["QUERN_BUILD"] = str(pathlib.Path(os.environ["QUERN_BUILD"]).resolve())
    if options.library:
        return measure_all(options.library, options.programs)
    numba = str(pathlib.Path(options.numba).absolute())
    pairs = [(run(sys.executable, "quern", options.programs), run(numba, "numba", options.programs)) for _ in range(options.rounds)]
    ours, theirs = least([p[0] for p in pairs]), least([p[1] for p in pairs])
    ratios = {p: tuple(ours[p][k] / theirs[p][k] for k in (0, 1)) for p in ours if p in theirs}
    print(f"{'ms of processor time':24}{'first':>8}{'Numba':>9}{'ratio':>7} |{'warm':>8}{'Numba':>9}{'ratio':>7}")
    for p in sorted(ratios, key=lambda p: -ratios[p][1]):
        cells = "".join(f"{ours[p][k] * 1e3:8.1f}{theirs[p][k] * 1e3:9.1f}{ratios[p][k]:7.3f}{' |' if k == 0 else ''}" for k in (0, 1))
        print(f"{p:24}{cells}")
    for k, what in enumerate(("first", "warm")):
        above = [p for p in ratios if ratios[p][k] > MOST_OF_ONE]
        print(f"{len(ratios)} programs, {what}: geometric mean {mean([r[k] for r in ratios.values()]):.3f} (goal: 0.125), "
              f"above {MOST_OF_ONE}: {', '.join(above) or 'none'}")


if __name__ == "__main__":
    main()
