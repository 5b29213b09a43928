"""What the library's functions were inferred as is kept for the next caller in the process (typeinfer/known.c): it must be what that
caller would have got, and nobody who asks for anything else may get it."""
import heapq
import math
import textwrap
import threading

import numpy as np
import pytest

import quern
from quern import njit

X = np.array([3.5, -1.0, 2.25, 7.0, 0.5])


def new(source, options={}, **names):
    space = {"np": np, "math": math, "heapq": heapq, "quern": quern, **names}
    exec(textwrap.dedent(source), space)
    return njit(**options)(space["f"])


CALLS = {
    "pow": ("pow(x, k, 1000007)", (12, 18)),
    "gcd": ("math.gcd(x, k)", (12, 18)),
    "factorial": ("math.factorial(x) + k", (5, 1)),
    "comb": ("math.comb(x, k)", (9, 4)),
    "sort": ("np.sort(x)[k]", (X, 1)),
    "argsort": ("np.argsort(x)[k]", (X, 1)),
    "median": ("np.median(x) + k", (X, 1)),
    "percentile": ("np.percentile(x, k)", (X, 30)),
    "histogram": ("np.histogram(x, k)[0][1]", (X, 3)),
    "unique": ("len(np.unique(x)) + k", (X, 1)),
    "mean of an axis": ("np.mean(x, axis=0)[k]", (X.reshape(1, 5), 1)),
    "solve": ("np.linalg.solve(x, k)[0]", (np.eye(3) + 0.5, np.arange(3.0))),
    "text of a float": ("str(x * k)", (1.25, 3)),
    "float of text": ("float(x) + k", ("1.5", 3)),
    "split": ("x.split(',')[k]", ("a,b", 1)),
    "upper": ("x.upper() * k", ("aß,b", 2)),
    "format": ("f'{x:>10}|{k:.3f}'", (12, 2.5)),
    "round": ("round(x, k)", (1.2345, 2)),
    "sorted": ("sorted([x, k, x * 2.0])[0]", (1.5, 2.5)),
    "dict": ("len({x: k, k: x})", (3, 4)),
    "heap": ("heapq.nsmallest(2, [x, k, 1])[1]", (3, 4)),
    "divmod": ("divmod(x, k)", (-7, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_COMP_the_second_and_third_caller_get_what_python_gives(name):
    expression, args = CALLS[name]
    for k in range(3):
        f = new(f"def f(x, k):\n    y = {expression}\n    return y, {k}")
        got, expected = f(*args), f.py_func(*args)
        assert got == pytest.approx(expected) if isinstance(expected[0], float) else got == expected


def questions(f):
    """How many answers about names its compilation has asked for."""
    return sum(len(report["dependencies"]) for _, report in f._specializations())


def test_COMP_the_library_is_not_inferred_for_the_second_caller(monkeypatch):
    monkeypatch.delenv("QUERN_INSTANCES", raising=False)
    monkeypatch.delenv("QUERN_CACHE_DIR", raising=False)
    source = "def f(x): return np.percentile(x, 35) + np.median(x)"
    narrow = X.astype(np.float32)
    first, second = new(source), new(source)
    assert first(narrow) == second(narrow) == pytest.approx(second.py_func(narrow))
    assert 2 * questions(second) < questions(first)
    monkeypatch.setenv("QUERN_INSTANCES", "none")
    third = new(source)
    assert third(narrow) == second(narrow)
    assert questions(third) == questions(first)


def results(expression, *calls):
    """Of two callers each, as Python gives them."""
    for _ in range(2):
        for args in calls:
            f = new(f"def f(x, k): return {expression}")
            assert np.array_equal(f(*args), f.py_func(*args))


def test_COMP_types_of_the_arguments_tell_callers_apart():
    ints, floats = np.array([5, 3, 9]), np.array([2.5, -1.0, 7.0], np.float32)
    results("np.sort(x)[k]", (ints, 1), (floats, 1), (ints.astype(np.uint8), 2), (X[::2], 0), (X > 1, 0))
    results("np.sum(x, axis=k)", (X.reshape(5, 1), 0), (np.asfortranarray(X.reshape(5, 1)), 0))
    results("max(x, k)", (1, 2), (1.5, 2), (1, 2.5), (np.float32(3), np.int8(4)))


def test_COMP_constants_tell_callers_apart():
    a = np.arange(6.0).reshape(2, 3)
    for _ in range(2):
        for arguments in ("axis=0", "axis=1", "axis=None", "axis=1, keepdims=True", "axis=0, dtype=np.float32"):
            f = new(f"def f(x): return np.sum(x, {arguments})")
            assert np.array_equal(f(a), f.py_func(a))
            assert np.asarray(f(a)).dtype == np.asarray(f.py_func(a)).dtype
        for arguments in ("", "reverse=True", "reverse=False"):
            f = new(f"def f(x): return sorted([x, 2.5, 1.5], {arguments})")
            assert f(2.0) == f.py_func(2.0)
        for method in ("linear", "lower", "higher", "nearest"):
            f = new(f"def f(x): return np.percentile(x, 40, method='{method}')")
            assert f(X) == pytest.approx(f.py_func(X))
        for base in (2, 8, 16):
            f = new(f"def f(x): return int(x, {base})")
            assert f("101") == f.py_func("101")


def test_COMP_options_tell_callers_apart():
    source = "def f(x, k): return np.mean(x) // k"
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            new(source)(X, 0)
        with np.errstate(all="ignore"):
            assert np.isinf(new("def f(x, k): return np.mean(x) / k", {"error_model": "numpy"})(X, 0))
        assert new("def f(x): return np.sort(x).sum()", {"parallel": True})(X) == pytest.approx(X.sum())
        narrow = X.astype(np.float32)
        assert new("def f(x): return np.mean(x * 2.0)")(narrow) == pytest.approx(narrow.mean() * 2)
        assert new("def f(x): return np.mean(x * 2.0)", {"weak_numbers": False})(narrow) == pytest.approx(narrow.mean() * 2)


def test_COMP_an_overload_that_is_registered_later_counts():
    from quern.extending import overload

    def halves(x):
        raise NotImplementedError

    source = "def f(x): return halves(x) + np.median(x)"
    first = {}
    exec("def one(x): return float(len(x))", first)
    overload(halves)(lambda x: first["one"])
    assert new(source, halves=halves)(X) == 5 + np.median(X)
    assert new(source, halves=halves)(X) == 5 + np.median(X)
    assert new("def f(x): return np.median(x)")(X) == np.median(X)

    @overload(np.median)
    def mine(a):
        if getattr(a, "ndim", 0) == 3:
            return lambda a: -1.0

    cube = X.reshape(5, 1, 1)
    assert new("def f(x): return np.median(x)")(cube) == -1.0
    assert new("def f(x): return np.median(x)")(X) == np.median(X)


def test_COMP_exceptions_of_a_kept_function_are_caught_and_read():
    catch = """
        def f(x):
            try:
                return np.linalg.solve(x, x[0])[0]
            except np.linalg.LinAlgError:
                return -1.0"""
    read = """
        def f(x):
            try:
                return str(int(x))
            except ValueError as e:
                return str(e)"""
    for _ in range(3):
        assert new(catch)(np.zeros((2, 2))) == -1.0
        f = new("def f(x): return np.linalg.solve(x, x[0])")
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            f(np.zeros((2, 2)))
        with pytest.raises(ValueError) as caught:
            new("def f(x): return int(x)")("1x")
        names = [frame.name for frame in caught.traceback]
        assert names[-1] != "f" or len(names) > 1
        assert new(read)("1x") == "invalid literal for int() with base 10: '1x'"


def test_COMP_a_class_of_that_name_is_not_numpys():
    class LinAlgError(Exception):
        pass

    source = """
        def f(x):
            try:
                return np.linalg.inv(x)[0, 0]
            except LinAlgError:
                return -1.0"""
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError):
            new(source, LinAlgError=LinAlgError)(np.zeros((2, 2)))
        with pytest.raises(LinAlgError):
            new("def f(x):\n    if x: raise LinAlgError('mine')\n    return x", LinAlgError=LinAlgError)(1)


def test_COMP_functions_of_the_user_inside_are_not_kept():
    for scale in (1.0, -1.0):
        key = new(f"def f(x): return x * {scale}")
        f = new("def f(x, k): return sorted([x, k, 2.0], key=key)", key=key)
        assert f(1.0, 3.0) == sorted([1.0, 3.0, 2.0], key=lambda x: x * scale)


def test_COMP_several_threads_ask_at_once():
    found = []

    def work(k):
        f = new(f"def f(x): return np.median(x) + np.sort(x)[0] + {k}")
        found.append(f(X) - k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == pytest.approx([np.median(X) + X.min()] * 8)
