"""Tries to import the libraries below under `python -m quern run --as-numba`, and prints a table.

Run by an interpreter of an environment that has the libraries and not Numba; QUERN_BUILD names the build folder whose
package answers:

    python3.12 -m venv peers && peers/bin/pip install --prefer-binary scipy pandas scikit-learn joblib ...
    peers/bin/pip install --no-deps stumpy librosa numbagg ...
    QUERN_BUILD=$PWD/build/test peers/bin/python tests/peers/libraries.py [name ...]

Exit code 0: at least twelve of the sixteen can be imported. It is no part of `make test`."""
import os
import pathlib
import subprocess
import sys
import time

# how pip calls it, what is imported
LIBRARIES = {
    "stumpy": "stumpy", "librosa": "librosa, librosa.core, librosa.feature, librosa.util.utils", "numbagg": "numbagg",
    "resampy": "resampy", "sparse": "sparse", "umap-learn": "umap", "pynndescent": "pynndescent",
    "quantecon": "quantecon", "interpolation": "interpolation, interpolation.splines", "fast-hdbscan": "fast_hdbscan",
    "galois": "galois", "pymatting": "pymatting", "antropy": "antropy",
    "hapsira": "hapsira, hapsira.bodies, hapsira.twobody", "clifford": "clifford, clifford.g3",
    "numba-stats": ", ".join("numba_stats." + n for n in "norm expon t uniform truncnorm poisson bernstein voigt".split()),
}
NEEDED = 12


def attempt(modules):
    """(can it be imported, the last line of what it said, seconds)"""
    build = pathlib.Path(os.environ.get("QUERN_BUILD", "build")).resolve()
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    program = f"import {modules}\n"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "quern", "run", "--as-numba", "/dev/stdin"], input=program, text=True,
                          capture_output=True, env=environment, timeout=600)
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    if "-v" in sys.argv and done.returncode:
        print(done.stderr)
    return done.returncode == 0, "" if done.returncode == 0 else (lines or ["?"])[-1], time.perf_counter() - start


def main():
    chosen = [name for name in sys.argv[1:] if not name.startswith("-")] or list(LIBRARIES)
    good = 0
    for name in chosen:
        ok, said, seconds = attempt(LIBRARIES[name])
        good += ok
        print(f"{name:14} {'yes' if ok else 'no ':3} {seconds:6.1f} s  {said}", flush=True)
    print(f"{good} of {len(chosen)} can be imported")
    return 0 if good >= min(NEEDED, len(chosen)) else 1


if __name__ == "__main__":
    sys.exit(main())
