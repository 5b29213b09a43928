"""LLVM is in a library of its own, which the first compilation opens."""
import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

import quern

HERE = pathlib.Path(quern._quern.__file__)
OPEN = "print('libquern_llvm' in open('/proc/self/maps').read())\n"


def run(program, folder, **environment):
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "QUERN_CACHE_DIR": str(folder / "store"), **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_import_and_decoration_leave_it_closed(tmp_path):
    assert run(f"""
import numpy as np
from quern import njit, vectorize
@njit
def f(x):
    return x + 1
{OPEN}
print(f(2))
{OPEN}""", tmp_path) == ["False", "3", "True"]


CACHED = f"""
import numpy as np
from quern import guvectorize, njit, vectorize

@njit(cache=True)
def dot(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s

@njit(cache=True)
def words(x):
    return str(x).split("."), [k * x for k in range(3)]

@njit(cache=True, parallel=True)
def smooth(a):
    a[1:-1] = (a[:-2] + a[2:]) / 2
    return a.sum()

@vectorize(cache=True)
def mixed(x, y):
    return x * y + 1

@guvectorize(["void(float64[:], float64[:])"], "(n)->()", cache=True)
def total(a, out):
    out[0] = 0
    for x in a:
        out[0] += x

a = np.arange(10.0)
try:
    dot(a, a[:5])  # in the checked copy
except IndexError as e:
    print(e)
print(dot(a, a), words(2.5), smooth(a.copy()), mixed(a, a)[2], total(a))
{OPEN}"""


def test_what_is_cached_needs_no_llvm(tmp_path):
    made, found = run(CACHED, tmp_path), run(CACHED, tmp_path)
    assert made[-1] == "True" and found[-1] == "False"
    assert made[:-1] == found[:-1]


@pytest.fixture
def copied(tmp_path):
    """The package without the library of LLVM, in a folder of its own."""
    package = tmp_path / "copy" / "quern"
    package.mkdir(parents=True)
    for path in HERE.parent.iterdir():
        if path.name.startswith("_quern."):
            shutil.copyfile(path, package / path.name)
        elif not path.name.startswith("libquern_llvm"):
            (package / path.name).symlink_to(path.resolve())
    return package


PLAIN = """
from quern import njit
@njit
def f(x):
    return x + 1
try:
    print(f(1))
except Exception as e:
    print(type(e).__name__, str(e).replace("\\n", " "))
"""


def test_a_library_that_is_missing_is_said(tmp_path, copied):
    told = run(PLAIN, tmp_path, PYTHONPATH=str(copied.parent))[0]
    assert "the library of LLVM cannot be opened" in told and "libquern_llvm" in told
    told = run("from quern import _quern; print(_quern.versions()['llvm'])", tmp_path, PYTHONPATH=str(copied.parent))
    assert told == ["none"]


def test_a_library_of_another_kind_is_refused(tmp_path, copied):
    name = HERE.name.replace("_quern", "libquern_llvm", 1)
    shutil.copyfile(HERE, copied / name)  # it can be opened, and is not what is looked for
    assert "it is of another build" in run(PLAIN, tmp_path, PYTHONPATH=str(copied.parent))[0]
    (copied / name).write_bytes(b"no library")
    assert "the library of LLVM cannot be opened" in run(PLAIN, tmp_path, PYTHONPATH=str(copied.parent))[0]
