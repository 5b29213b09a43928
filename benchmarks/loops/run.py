"""Loops beside C and Numba: run.py [--numba PYTHON] [--sets seen,trial,unseen,judge,jury] [--only a,b] [--rounds 3] [--seconds 0.03] [--loops] [--json FILE]
[--show-unseen]

Processes of the contestants take turns at each kernel; arrays begin at multiples of 64 bytes; results are compared with
those of C. A figure is the best of all batches. The sets are reported apart: passes may be tuned for the first two and are judged by the
others, of which nothing but means is printed, or written to FILE, unless --show-unseen asks: who sees a row tunes for it. QUERN_BUILD names a build folder; without it the installed package is measured."""
import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONTESTANTS = {"checked": "quern", "unchecked": "quern", "numba": "numba", "C": "c"}


def compile_c(cc, folder, name):
    library = os.path.join(folder, name + ".so")
    subprocess.run([cc, "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-w", "-shared", "-fPIC", "-o", library,
                    str(HERE / (name + ".c")), "-lm"], check=True)
    return library


class Worker:
    """A process that measures one contestant's kernels."""

    def __init__(self, python, *args):
        self.process = subprocess.Popen([python, str(HERE / "worker.py"), *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, *what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def geometric(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def measure(workers, kernels, options, shown):
    rows = {}
    for kernel in kernels:
        best, compiled, results = {}, {}, {}
        for _ in range(options.rounds):
            for who, worker in workers.items():
                answer = worker.ask(kernel, who, options.seconds)
                if "error" in answer:
                    print(f"{kernel if shown else 'a kernel'}: {who}: {answer['error'] if shown else 'failed'}")
                    continue
                best[who] = min(answer["ns"], best.get(who, math.inf))
                compiled[who], results[who] = answer["compile"], answer["result"]
        wrong = [w for w, r in results.items()
                 if any(abs(x - y) > 1e-6 * max(1, abs(y)) for x, y in zip(r, results["C"], strict=True))]
        rows[kernel] = {"ns": best, "compile": compiled, "wrong": wrong}
        if not shown:
            continue
        ratio = {w: best[w] / best["C"] for w in best if w != "C"}
        print(f"{kernel:20}" + "".join(f"{best[w] / 1000:11.2f}" if w in best else " " * 11 for w in workers) + "   "
              + "".join(f"{ratio[w]:8.2f}" if w in ratio else " " * 8 for w in workers if w != "C")
              + f"{compiled.get('checked', 0) / 1e6:9.1f}" + ("   DIFFERS: " + ", ".join(wrong) if wrong else ""), flush=True)
    return rows


def summary(rows, workers, shown):
    for who in workers:
        pairs = [(r["ns"][who] / r["ns"]["C"], k) for k, r in rows.items() if who in r["ns"] and who != "C"]
        if not pairs:
            continue
        worst = sorted(pairs, reverse=True)[:10]
        print(f"{who} / C: {geometric(x for x, _ in pairs):.3f} of {len(pairs)}; "
              + ("worst: " + ", ".join(f"{k} {x:.2f}" for x, k in worst if x > 1.05) if shown else
                 f"above 1.3: {sum(x > 1.3 for x, _ in pairs)}, above 1.15: {sum(x > 1.15 for x, _ in pairs)}"))
    pairs = [r["ns"]["checked"] / r["ns"]["numba"] for r in rows.values() if {"checked", "numba"} <= set(r["ns"])]
    if pairs:
        times = [r["compile"]["checked"] / r["compile"]["numba"] for r in rows.values() if {"checked", "numba"} <= set(r["compile"])]
        print(f"checked / Numba: {geometric(pairs):.3f}; compile {geometric(times):.3f}")
    wrong = sum(bool(r["wrong"]) for r in rows.values())
    if wrong and not shown:
        print(f"{wrong} kernels give other results than C")


def show_loops(quern, rows, most=10):
    """What stays in the loops of the kernels with the worst ratios."""
    worst = sorted(((r["ns"]["checked"] / r["ns"]["C"], k) for k, r in rows.items() if {"checked", "C"} <= set(r["ns"])), reverse=True)
    for ratio, kernel in worst[:most]:
        if ratio > 1.15:
            print(f"\n{kernel} {ratio:.2f}")
            print("".join("    " + line.rpartition("/")[2] for line in quern.ask("loops", kernel).splitlines(keepends=True)), end="")


JUDGING = "unseen", "judge", "jury"  # sets


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--numba", default="", help="a Python that has Numba")
    parser.add_argument("--sets", default="seen,trial,unseen,judge,jury")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.03)
    parser.add_argument("--loops", action="store_true", help="print what stays in the loops of the worst ten")
    parser.add_argument("--json", default="")
    parser.add_argument("--show-unseen", action="store_true", help="print the rows of the sets that judge the passes, too")
    parser.add_argument("--cc", default=next((c for c in ("clang-19", "clang", "cc") if shutil.which(c)), "cc"))
    options = parser.parse_args()
    everything = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.sets.split(","):
            library = compile_c(options.cc, folder, name)
            workers = {}
            quern = Worker(sys.executable, "quern", name, library)
            for who, kind in CONTESTANTS.items():
                if kind == "quern":
                    workers[who] = quern
                elif kind == "c":
                    workers[who] = Worker(sys.executable, "c", name, library)
                elif options.numba:
                    workers[who] = Worker(options.numba, "numba", name, library)
            kernels = [k for k in quern.ask("kernels") if not options.only or k in options.only.split(",")]
            if not kernels:
                continue
            print(f"\n{name}: us of one call" + " " * 4 + "".join(f"{w:>11}" for w in workers)
                  + "   ratio to C: " + " ".join(w for w in workers if w != "C") + "; ms of compiling")
            shown = name not in JUDGING or options.show_unseen
            everything[name] = measure(workers, kernels, options, shown)
            summary(everything[name], workers, shown)
            if options.loops and shown:
                show_loops(quern, everything[name])
    judging = {f"{name} {kernel}": row for name in JUDGING for kernel, row in everything.get(name, {}).items()}
    if set(JUDGING) <= set(everything):
        print("\nall that judge:")
        summary(judging, CONTESTANTS, options.show_unseen)
    if options.json:
        told = {name: rows for name, rows in everything.items() if name not in JUDGING or options.show_unseen}
        pathlib.Path(options.json).write_text(json.dumps(told, indent=1))
    sys.exit(any(row["wrong"] for rows in everything.values() for row in rows.values()))


if __name__ == "__main__":
    main()
