"""Numba's and numba-cuda's own public tests, answered by Quern (make peers).

    python tests/peers/peers.py --python PY --numba FOLDER --numba-cuda FOLDER [--jobs 2] [--only test_dicts cudapy/test_sm*]
                                [--driver FOLDER] [--rewrite] [--from FOLDER]

PY has quern, numpy and pytest; the folders hold the unpacked wheels. What does not pass stands, by reason, in cpu.txt,
cuda.txt and driver.txt beside this file. Exit status 1: something fails that is not listed there. --rewrite writes the lists anew;
--from reads the results of an earlier run instead of running."""
import argparse
import collections
import concurrent.futures
import fnmatch
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
OUTSIDE = ("skip", "internal", "matrix")  # not part of what the peers promise to users
WORDS = {"message": "the right exception with another text", "noraise": "accepts what Numba refuses",
         "not-raised": "accepts what Numba refuses", "wrong": "another value or another exception", "asm": "looks into assembly",
         "slow": "too slow", "hang": "too slow", "crash": "crashes", "not-run": "not reached"}


def load(path):
    spec = importlib.util.spec_from_file_location(path.replace("/", "_").removesuffix(".py"), HERE / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_all(commands, jobs):
    """Each prints one line when it is through."""
    def one(command):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(one, commands):
            print("\n".join(done.stdout.rstrip().splitlines()[:1]) if done.returncode == 0 else done.stdout[-800:], flush=True)


class Cpu:
    """Numba: one process for each module, unittest."""
    name, title = "cpu", "Numba"

    def __init__(self, args):
        self.args, self.wheel, self.out = args, args.numba, args.out / "cpu"
        os.environ["PEERSUITE_WHEEL"] = str(self.wheel)
        self.reader, self.modules = load("cpu/report.py"), load("cpu/run.py").modules(str(self.wheel))

    def commands(self, modules, patience=1):
        return [[self.args.python, str(HERE / "cpu" / "run.py"), "--wheel", str(self.wheel), "--out", str(self.out), "--test-seconds",
                 str(20 * patience), "--module-seconds", str(300 * patience), name] for name in modules]

    def results(self):
        """{test: (module, category, reason)}; a module that cannot be imported is a test of its own."""
        tests, broken = self.reader.load(str(self.out))
        result = {f"{m}.(import)": (m, "unsupported", "the module cannot be imported") for m, e in broken.items() if e["event"] == "import_failed"}
        for name, (module, category, reason, _) in tests.items():
            text = self.reader.family(reason) if category == "unsupported" else WORDS.get(category, reason)
            text = "other" if text.startswith("other") else text
            result[name.removeprefix("numba.tests.")] = (module, category, text)
        return result

    def split(self, test):
        head, _, last = test.rpartition(".")
        return head, last


class Cuda:
    """numba-cuda on the cpu device: one process for each module, pytest."""
    name, title = "cuda", "numba-cuda"
    options = ()

    def __init__(self, args):
        self.args, self.wheel, self.out = args, args.numba_cuda, args.out / self.name
        self.reader = load("cuda/run.py")
        tests = self.reader.find_tests(pathlib.Path(self.wheel))
        self.modules = sorted(f"{folder}/{f.stem}" for folder in self.reader.DIRS for f in (tests / folder).glob("test_*.py"))
        self.reader.make_stage(tests, self.out)

    def commands(self, modules, patience=1):
        return [[self.args.python, str(HERE / "cuda" / "run.py"), "--python", self.args.python, "--suite", str(self.wheel), "--work", str(self.out),
                 "--out", str(self.out / (name.replace("/", ".") + ".json")), "--test-timeout",
                 str(20 * patience), "--file-timeout", str(300 * patience), "--quiet", *self.options, "--only", name] for name in modules]

    def results(self):
        result = {}
        for file in sorted(self.out.glob("*.json")):
            for module, tests in json.loads(file.read_text()).items():
                result = {t: r for t, r in result.items() if r[0] != module}  # a later file replaces an earlier one
                for test, record in tests.items():
                    status = record["status"]
                    text = WORDS.get(status) or self.reader.group(module, test, record)
                    result[f"{module}::{test}"] = (module, status, text)
        return result

    def split(self, test):
        head, _, last = test.rpartition("::")
        return head, last


class Driver(Cuda):
    """numba-cuda over the stand-in driver, which executes PTX: it is slow, and has more time."""
    name, title = "driver", "numba-cuda over the stand-in driver"

    def __init__(self, args):
        super().__init__(args)
        self.options = ("--device", "cuda", "--driver", str(args.driver.resolve()))

    def commands(self, modules, patience=1):
        return super().commands(modules, 3 * patience)


# -- the lists ----------------------------------------------------------------------------------------

def read_list(suite):
    """{test: reason}"""
    path, result, reason, head = HERE / f"{suite.name}.txt", {}, "", ""
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("## "):
            reason = line[3:]
        elif line.startswith("  "):
            result.update({head + name: reason for name in line.split()})
        elif line and not line.startswith("#"):
            head = line
    return result


def write_list(suite, failing):
    by_reason = collections.defaultdict(lambda: collections.defaultdict(list))
    for test, reason in failing.items():
        head, last = suite.split(test)
        by_reason[reason][test[:len(test) - len(last)]].append(last)
    lines = [f"# What does not pass of {suite.title}'s public tests, by reason. Written by `make peers REWRITE=1`; it may only get shorter.",
             f"# {len(failing)} tests."]
    for reason in sorted(by_reason, key=lambda r: (-sum(map(len, by_reason[r].values())), r)):
        lines += ["", f"## {reason}"]
        for head, names in sorted(by_reason[reason].items()):
            lines.append(head)
            line = " "
            for name in sorted(names):
                if len(line) + len(name) > 150:
                    lines.append(line)
                    line = " "
                line += " " + name
            lines.append(line)
    (HERE / f"{suite.name}.txt").write_text("\n".join(lines) + "\n")


# -- the comparison -----------------------------------------------------------------------------------

def table(suite, results):
    counts = collections.Counter(category for _, category, _ in results.values())
    public = {t: r for t, r in results.items() if r[1] not in OUTSIDE}
    groups = collections.Counter(reason for _, category, reason in public.values() if category != "pass")
    print(f"\n{suite.title}: {counts['pass']} of {len(public)} public tests pass ({counts['pass'] / max(len(public), 1):.1%}); besides, "
          + ", ".join(f"{counts[c]} {c}" for c in OUTSIDE if counts[c]))
    for reason, n in groups.most_common():
        print(f"  {n:5} {reason}")


def names_in(text):
    """Test names have no spaces, but parameters of pytest may."""
    return re.sub(r"\s+", "_", text)


def failing_of(results, modules):
    failing = {names_in(t): reason for t, (module, category, reason) in results.items()
               if category not in ("pass", *OUTSIDE) and module in modules}
    often = collections.Counter(failing.values())
    return {t: reason if often[reason] > 1 or reason in WORDS.values() else "other" for t, reason in failing.items()}


def judge(suite, args):
    """The tests that fail and are not listed."""
    modules = [m for m in suite.modules if not args.only or any(fnmatch.fnmatch(m, g) for g in args.only)]
    if not modules:
        return {}
    if not args.reuse:
        run_all(suite.commands(modules), args.jobs)
    listed, results = read_list(suite), suite.results()
    failing = failing_of(results, modules)
    if not args.rewrite and not args.reuse and set(failing) - set(listed):  # a loaded machine is no failure
        again = sorted({module for test, (module, *_) in results.items() if names_in(test) in failing and names_in(test) not in listed})
        print(f"once more, with more time: {' '.join(again)}")
        run_all(suite.commands(again, patience=3), 1)
        results = suite.results()
        failing = failing_of(results, modules)
    table(suite, results)
    if args.rewrite:
        kept = {t: r for t, r in listed.items() if args.only and not any(names_in(x) == t for x in results)}
        write_list(suite, {**kept, **failing})
        return {}
    known = {names_in(t): r for t, r in results.items()}
    for test in sorted(t for t in listed if t in known and known[t][1] == "pass"):
        print(f"  passes now, take it off the list: {test}")
    return {t: r for t, r in failing.items() if t not in listed}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--numba", type=pathlib.Path, help="the folder that holds the folder numba")
    parser.add_argument("--numba-cuda", type=pathlib.Path, help="the folder that holds the folder numba_cuda")
    parser.add_argument("--driver", type=pathlib.Path, help="the folder of the stand-in driver: numba-cuda's tests run over it, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, help="keeps the results there")
    parser.add_argument("--from", dest="reuse", type=pathlib.Path)
    args = parser.parse_args()
    args.out = (args.reuse or args.out or pathlib.Path(tempfile.mkdtemp(prefix="peers-"))).resolve()
    bad = {}
    for kind, folder in ((Cpu, args.numba), (Cuda, args.numba_cuda), (Driver, args.driver and args.numba_cuda)):
        if folder:
            args.out.mkdir(parents=True, exist_ok=True)
            bad.update(judge(kind(args), args))
    for test, reason in sorted(bad.items()):
        print(f"fails and is not listed: {test} ({reason})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
