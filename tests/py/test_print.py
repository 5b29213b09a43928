"""print() in compiled code goes to sys.stdout, as Python's does."""
import io
import os
import subprocess
import sys

import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401

from quern import errors, njit


@njit
def shown(n, x, s):
    print()
    print(n)
    print("n =", n, x, s, True, None, 2j, s == "é")
    print(n, x, sep="", end="")
    print(n, s, sep=", ", end="!\n")
    print(s, sep=None, end=None)
    print([1, 2], ["a", s])
    return n


def test_print(capsys):
    for args in [(1, 2.5, "é"), (-(2**63), 1e300, "日本😀"), (0, np.float32(0.1), "")]:
        shown(*args)
        fast = capsys.readouterr()
        shown.py_func(*[float(str(a)) if isinstance(a, np.float32) else a for a in args])
        assert fast == capsys.readouterr() and fast.err == ""


def test_print_without_the_gil(capsys):
    f = njit(nogil=True)(lambda n: print("item", n))
    for n in range(3):
        f(n)
    assert capsys.readouterr().out == "item 0\nitem 1\nitem 2\n"


class Refuses(io.StringIO):
    def write(self, text):
        raise OSError("no " + text)


@njit
def printed(n):
    for i in range(n):
        print(i)
    return n


@njit
def tried(n):
    try:
        print(n)
    except Exception:
        return -1
    return n


def test_exceptions_of_the_file(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Refuses())
    for f in (printed, njit(nogil=True)(printed.py_func)):
        with pytest.raises(OSError, match="no 0"):
            f(3)
    assert tried(5) == -1
    monkeypatch.setattr(sys, "stdout", None)
    assert printed(3) == 3 and tried(5) == 5


def test_what_prints_recompiles(monkeypatch, capsys):
    """The file may do anything to the function that prints."""
    @njit
    def f(n):
        print(n)
        return n

    class Recompiles(io.StringIO):
        def write(self, text):
            f.recompile()
            return super().write(text)

    monkeypatch.setattr(sys, "stdout", Recompiles())
    assert [f(i) for i in range(3)] == [0, 1, 2]
    assert sys.stdout.getvalue() == "0\n1\n2\n"


PARALLEL = """
from quern import njit, prange
@njit(parallel=True)
def f(n):
    total = 0
    for i in prange(n):
        if i % 100 == 0:
            print("é日😀", i)
        total += i
    return total
assert f(1000) == 499500
"""


def test_parallel_loops_print_on_the_standard_output_of_the_process():
    env = {**os.environ, "QUERN_NUM_THREADS": "2"}
    out = subprocess.run([sys.executable, "-c", PARALLEL], env=env, capture_output=True, timeout=300)
    assert out.returncode == 0, out.stderr
    assert sorted(out.stdout.decode().splitlines()) == sorted(f"é日😀 {i}" for i in range(0, 1000, 100))


def test_what_print_does_not_know():
    with pytest.raises(errors.NumbaError, match="file"):
        njit(lambda x: print(x, file=x))(1)
    with pytest.raises(errors.NumbaError, match="print"):
        njit(lambda a: print(a, width=True))(np.zeros(3))
