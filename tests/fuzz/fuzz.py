"""Random programs against CPython (make fuzz). Each seed is one program with several sets of arguments.

    python tests/fuzz/fuzz.py [--seed 0] [--programs 1000] [--jobs 2] [--devices cpu,cuda,hip] [--sort nests] [--show]

Sorts: loop nests; kernels (make fuzz-kernels), on the cpu device, in PTX and in machine code of two AMD chips; and programs for one rule of the
compiler: searches (variables that keep what they were given), strips (divisors and ints of floats that are looked for ahead), windows (nests over
tables: ways that store into one element, rows that are carried on, counts of loops of constant length), float-ints (of kernels).

Prints the seed and the smallest program of each difference, and of each program that crashes, hangs or is refused;
exits with 1 where there was any. QUERN_BUILD names the build folder; without it the installed package is tested."""
import argparse
import functools
import json
import os
import pathlib
import selectors
import signal
import sys
import time
import warnings
from dataclasses import dataclass, replace

HERE = pathlib.Path(__file__).resolve().parent
BUILD = os.environ.get("QUERN_BUILD")
sys.path[:0] = [str(HERE), str(HERE.parent / "py")] + ([str(pathlib.Path(BUILD) / "python")] if BUILD else [])
if BUILD and os.path.exists(os.path.join(BUILD, "fakecuda", "libcuda.so.1")):
    os.environ.setdefault("QUERN_CUDA_LIBRARY", os.path.join(BUILD, "fakecuda", "libcuda.so.1"))
if BUILD and os.path.exists(os.path.join(BUILD, "fakehip", "libamdhip64.so.7")):
    os.environ.setdefault("QUERN_HIP_LIBRARY", os.path.join(BUILD, "fakehip", "libamdhip64.so.7"))
os.environ.setdefault("FAKEHIP_ARCH", "gfx1100,gfx942")  # the chips: waves of 32 and of 64 lanes
os.environ.setdefault("FAKEHIP_DEVICES", str(1 + os.environ["FAKEHIP_ARCH"].count(",")))

import compare  # noqa: E402
import float_ints  # noqa: E402
import guards  # noqa: E402
import kernel_programs  # noqa: E402
import nests  # noqa: E402
import searches  # noqa: E402
import steps  # noqa: E402
import strips  # noqa: E402
import tiles  # noqa: E402
import windows  # noqa: E402
from shrink import shrink  # noqa: E402

LIMIT = 60.0  # seconds of a processor that a program may take
PATIENCE = 900.0  # seconds that it may take where others have the processors
KERNELS = "cpu,cuda," + ",".join(f"hip-{chip}" for chip in os.environ["FAKEHIP_ARCH"].split(","))


@dataclass
class Sort:
    program: object  # of a seed
    differences: object  # of a program, its seed and devices: (what sort, words), or None
    devices: str = "cpu,cuda"


SORTS = {"nests": Sort(nests.program, compare.differences), "kernels": Sort(kernel_programs.program, functools.partial(compare.differences, one=True), KERNELS),
         "searches": Sort(searches.program, searches.differences, "cpu"), "strips": Sort(strips.program, strips.differences, "cpu"),
         "windows": Sort(windows.program, windows.differences, "cpu"), "tiles": Sort(tiles.program, tiles.differences, "cpu"),
         "guards": Sort(guards.program, guards.differences, "cpu"), "steps": Sort(steps.program, steps.differences, "cpu"), "float-ints": Sort(float_ints.program, float_ints.differences)}


class Child:
    """A process forked before anything was compiled: it runs `work(tell)`, and `tell` sends one line here."""

    def __init__(self, work):
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            with os.fdopen(write, "w") as pipe:
                try:
                    work(lambda *what: (pipe.write(json.dumps(what) + "\n"), pipe.flush()))
                finally:
                    os._exit(0)
        os.close(write)
        self.pipe, self.rest = read, b""
        self.since = time.monotonic(), self.spent()

    def spent(self):
        """Seconds of processors, of all its threads."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def hangs(self):
        return self.spent() - self.since[1] > LIMIT or time.monotonic() - self.since[0] > PATIENCE

    def read(self):
        """What it told since the last call; None when it is gone."""
        data = os.read(self.pipe, 65536)
        if not data:
            return None
        self.since = time.monotonic(), self.spent()
        *lines, self.rest = (self.rest + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def end(self):
        """The signal that it died of, or 0."""
        os.close(self.pipe)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status := os.waitpid(self.pid, 0)[1]) else 0


def judge(sort, program, seed, devices):
    """(sort, words) in a process of its own; sort is None where all agrees, "invalid" where CPython cannot run it."""
    def work(tell):
        warnings.simplefilter("ignore")
        try:
            tell(*(sort.differences(program, seed, devices) or (None, "")))
        except Exception as error:  # noqa: BLE001
            tell("invalid", f"{type(error).__name__}: {error}")

    child, said, hung = Child(work), [], False
    with selectors.DefaultSelector() as waiting:
        waiting.register(child.pipe, selectors.EVENT_READ)
        while True:
            if not waiting.select(1.0):
                if not child.hangs():
                    continue
                hung = True
                child.kill()
            lines = child.read()
            if lines is None:
                break
            said += lines
    died = child.end()
    if hung:
        return "hang", f"it takes more than {LIMIT:.0f} s of a processor"
    return said[0] if said else ("crash", signal.Signals(died).name if died else "the process ended")


def search(sort, seeds, jobs, devices):
    """The seeds that do not agree, each as soon as it is found. Every child works through a share of the seeds."""
    def work(share):
        def run(tell):
            warnings.simplefilter("ignore")
            for seed in share:
                tell(seed, None)
                try:
                    agrees = not sort.differences(sort.program(seed), seed, devices)
                except Exception:  # noqa: BLE001
                    agrees = False
                if not agrees:  # a device may be lost by it: another process goes on
                    return tell(seed, "bad")
        return run

    with selectors.DefaultSelector() as waiting:
        def start(share):
            if share:
                child = Child(work(share))
                waiting.register(child.pipe, selectors.EVENT_READ, [child, share, None])

        for k in range(jobs):
            start(list(seeds)[k::jobs])
        while waiting.get_map():
            for key, _ in waiting.select(1.0):
                child, share, current = key.data
                lines = child.read()
                for seed, what in lines or []:
                    key.data[2] = seed
                    if what:
                        yield seed
                if lines is None:
                    waiting.unregister(child.pipe)
                    if child.end():
                        yield current
                    start(share[share.index(current) + 1:])
            for key in list(waiting.get_map().values()):
                if key.data[0].hangs():
                    key.data[0].kill()


def report(sort, seed, devices, smallest=True):
    program = sort.program(seed)
    what, words = judge(sort, program, seed, devices)
    print(f"== seed {seed}: {what}")
    if what is None:
        print("it agrees when it runs alone")
    elif smallest and what not in ("invalid", "hang"):
        def kind(what, words):  # what is refused stays refused for the same exception
            return what, what == "refused" and words.split(": ")[1]

        def still(source, wanted=kind(what, words)):
            return kind(*judge(sort, replace(program, source=source), seed, devices)) == wanted

        program.source = shrink(program.source, still)
        words = judge(sort, program, seed, devices)[1]
    print(program.source + words if what == "crash" else words, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--devices", help="for the kernels; hip-gfx942 is a chip that FAKEHIP_ARCH names")
    parser.add_argument("--sort", choices=SORTS, default="nests")
    parser.add_argument("--kernels", dest="sort", action="store_const", const="kernels", help="--sort kernels")
    parser.add_argument("--show", action="store_true", help="only print the programs")
    args = parser.parse_args()
    seeds, sort = range(args.seed, args.seed + args.programs), SORTS[args.sort]
    if args.show:
        for seed in seeds:
            print(f"# seed {seed}\n{sort.program(seed).source}")
        return 0
    devices = (args.devices or sort.devices).split(",")
    start, bad = time.monotonic(), 0
    for seed in search(sort, seeds, args.jobs, devices):
        bad += 1
        report(sort, seed, devices, smallest=bad <= 5)
    print(f"{args.programs} programs from seed {args.seed} on {', '.join(devices)}: {bad or 'none'} differ, "
          f"{time.monotonic() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
