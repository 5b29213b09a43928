"""Runs the libraries' own test modules under `python -m quern run --as-numba`, a process each, and prints how they end and why.

Run by an interpreter of an environment as for libraries.py, with pytest and pytest-timeout, too. A library is named with the folder
of its tests, which are in its package or in its sources (`pip download --no-binary :all: --no-deps`):

    QUERN_BUILD=$PWD/build/test peers/bin/python tests/peers/own_tests.py quantecon sparse antropy=antropy-0.2.3/tests
    with-numba/bin/python tests/peers/own_tests.py --numba quantecon        # the same with Numba, to compare

Tests that a library marks as slow or nightly are left out; what it skips by itself is counted, and passes for nothing. --only TEXT: modules
whose path has it; --limit SECONDS: for each module (300). Exit code 0: something passed of each library, and nothing failed."""
import argparse
import collections
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

KINDS = ("failure", "error", "skipped")
MEMORY = 9_000_000  # KiB


def folder_of(library):
    """(its name, the folder whose test modules are run)"""
    name, _, folder = library.partition("=")
    if folder:
        return name, pathlib.Path(folder).resolve()
    found = importlib.util.find_spec(name)
    if not found or not found.submodule_search_locations:
        sys.exit(f"{name}: no such package here; the folder of its tests is given as {name}=FOLDER")
    return name, pathlib.Path(next(iter(found.submodule_search_locations)))


def command(module, report, numba):
    prefix = [sys.executable, *([] if numba else ["-m", "quern", "run", "--as-numba"]), "-m", "pytest"]
    return [*prefix, "-q", "-c", os.devnull, "--rootdir", str(module.parent), "-p", "no:cacheprovider", "--tb=short", "--timeout=120",
            "-m", "not slow and not nightly", f"--junitxml={report}", str(module)]


def environment(folder, numba):
    paths = [str(folder)]  # what tests share is beside them
    if any((folder / name).exists() for name in ("__init__.py", "setup.py")):
        paths = []
    if not numba:
        paths.insert(0, str(pathlib.Path(os.environ.get("QUERN_BUILD", "build")).resolve() / "python"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}


def reason(text):
    """What failures have in common: the first line that pytest marks, without numbers and places."""
    marked = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    line = re.sub(r"\S*/\S*:\d+:\d+: ", "", (marked or text.splitlines() or ["?"])[0])
    return re.sub(r"0x[0-9a-f]+|\d+", "#", line)[:150]


def read(report, reasons):
    """(passed, {kind: number}) of a module; its reasons are counted."""
    counts, passed = collections.Counter(), 0
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        kind = next((kind for kind in KINDS if case.find(kind) is not None), None)
        counts[kind] += 1
        passed += kind is None
        if kind in ("failure", "error"):
            found = case.find(kind)
            reasons[reason(found.text or found.get("message") or "?")] += 1
    return passed, counts


def run(module, folder, options, reasons):
    """(passed, failed) of one module; its line is printed."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as work:
        report = pathlib.Path(work) / "report.xml"
        shell = ["bash", "-c", f'ulimit -v {MEMORY}; exec timeout -k 5 {options.limit} "$@"', "run"]
        done = subprocess.run([*shell, *command(module, report, options.numba)], cwd=folder.parent if "site-packages" not in folder.parts
                              else work, env=environment(folder, options.numba), capture_output=True, text=True)
        seconds = time.perf_counter() - start
        if not report.exists():
            ended = "ran out of time" if done.returncode == 124 else f"ended with {done.returncode}"
            reasons[f"a module {ended}"] += 1
            print(f"  {module.relative_to(folder)}: {ended}, {seconds:.1f} s", flush=True)
            return 0, 1
        passed, counts = read(report, reasons)
    failed = counts["failure"] + counts["error"]
    print(f"  {str(module.relative_to(folder)):56} {passed:5} pass {failed:4} fail {counts['skipped']:4} skipped {seconds:7.1f} s", flush=True)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="+")
    parser.add_argument("--numba", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=int, default=300)
    options = parser.parse_args()
    bad = 0
    for name, folder in map(folder_of, options.libraries):
        print(name)
        reasons, passed, failed = collections.Counter(), 0, 0
        for module in sorted(folder.rglob("test*.py")):
            if options.only in str(module.relative_to(folder)):
                more = run(module, folder, options, reasons)
                passed, failed = passed + more[0], failed + more[1]
        print(f"{name}: {passed} pass, {failed} fail")
        for text, number in reasons.most_common():
            print(f"  {number:4} {text}")
        bad += failed or not passed
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
