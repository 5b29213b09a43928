"""literally(): arguments whose values compiled code is to know; a function is compiled for each value (issue 8; Numba's)."""
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import errors, jit, literally, njit, vectorize


@njit
def item(n):
    n = literally(n)
    return (1, 2.5, "a")[n]


def test_each_value_has_its_code():
    assert [item(k) for k in (0, 1, 2, 0, -1)] == [1, 2.5, "a", 1, "a"]
    assert item(np.int64(1)) == 2.5 and item(np.uint8(2)) == "a"


def test_the_parameter_is_known_without_an_assignment():
    @njit
    def reshaped(a, n):
        literally(n)
        return a.reshape((1,) * n + a.shape)
    assert [reshaped(np.ones(3), n).shape for n in (0, 2, 1, 2)] == [(3,), (1, 1, 3), (1, 3), (1, 1, 3)]


def test_text_and_bools():
    @njit
    def mode(s, x, flag=False):
        literally(s)
        if s == "shown":
            return str(x)
        if literally(flag):
            return x * 0.5
        return x
    for args in (("shown", 1), ("plain", 1), ("plain", 1, True), ("plain", 2.5), ("shown", 2.5, True)):
        assert mode(*args) == mode.py_func(*args) and type(mode(*args)) is type(mode.py_func(*args))
    assert mode("plain", 3, flag=True) == 1.5 and mode(x=3, s="shown") == "3"


def test_through_calls():
    @njit
    def between(y, k):
        return item(k), y

    @njit
    def outer(k, y):
        return between(y, k)
    assert [outer(k, 2) for k in (0, 2, 1)] == [(1, 2), ("a", 2), (2.5, 2)]
    assert njit(lambda: (item(2), item(0)))() == ("a", 1)


def test_one_value_one_specialisation():
    compiled = []

    @njit
    def f(n, x):
        literally(n)
        return x + n
    for k in range(12):
        assert f(k % 3, 1) == 1 + k % 3
        compiled.append(len(f.nopython_signatures))
    assert compiled[2:] == [3] * 10
    assert f(0, 1.5) == 1.5 and len(f.nopython_signatures) == 4


def test_where_the_value_is_no_literal():
    """Floats, arrays and large ints stay what they are; so do arguments of declared signatures and of ufuncs."""
    same = njit(lambda x: literally(x))
    assert same(1.5) == 1.5 and same(2**63) == 2**63 and same(None) is None
    assert njit(lambda a: literally(a).sum())(np.ones(3)) == 3.0
    assert njit("int64(int64)")(lambda n: literally(n) + 1)(3) == 4
    assert njit("int64(int64)")(lambda n: same(n) + 1)(3) == 4
    assert vectorize(lambda n: literally(n) + 1)(np.arange(2)).tolist() == [1, 2]
    assert njit(lambda n: literally(n + 1))(3) == 4


def test_jit_falls_back_only_where_it_must():
    f = jit(lambda n: (1, "a")[literally(n)])
    assert f(1) == "a" and f(0) == 1


def test_what_is_no_parameter_is_refused_in_a_callee():
    @njit
    def f(n):
        return item(n + 1)
    with pytest.raises(errors.TypingError, match=r"literally\(\) must be known"):
        f(0)


def test_an_error_for_one_value_is_not_one_for_others():
    with pytest.raises(errors.TypingError):
        item(3)
    assert item(2) == "a"
    with pytest.raises(errors.TypingError):
        item("a")


def test_threads():
    @njit
    def f(n):
        return (n, literally(n) * 0.5, "x")[literally(n)]
    got = {}

    def work(k):
        got[k] = [f(j) for j in (k, 2 - k, 1)]
    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert got == {k: [f.py_func(j) for j in (k, 2 - k, 1)] for k in range(3)}


def test_the_disk_cache_says_why_not(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
from quern import literally, njit
@njit(cache=True)
def f(n):
    return (1, "a")[literally(n)]
print(f(1), f(0), f(1))
""")
    env = {**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "store")}
    for _ in range(2):
        run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=env)
        assert run.stdout.strip() == "a 1 a", run.stderr


@njit
def item_of(t, n):
    n = literally(n)
    return t[n]


def test_declared_signatures_know_constants_on_the_way():
    def f(x):
        return item_of((x, "abc"), 0) + len(item_of((x, "abc"), 1))

    assert njit("float64(float64)")(f)(2.5) == 5.5
    assert njit(["float64(float64)", "float64(int64)"])(f)(2) == 5.0
    assert vectorize(["float64(float64)"])(f)(np.arange(2.0)).tolist() == [3.0, 4.0]
    with pytest.raises(errors.TypingError):
        njit("float64(float64, int64)")(lambda x, n: item_of((x, "abc"), n))(2.5, 0)
