"""What the library's functions were inferred as is kept for the next caller in the process (typeinfer/known.c), and so is what they were
compiled to (codegen/memo.c): it must be what that caller would have got, and nobody who asks for anything else may get it."""
import heapq
import importlib.util
import math
import os
import subprocess
import sys
import textwrap
import threading
import traceback

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
    "cumsum": ("np.cumsum(x)[k]", (X, 1)),
    "both of a tuple": ("np.unique(x, return_counts=True)[1][k]", (X, 1)),
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


def test_COMP_the_library_is_not_inferred_for_the_second_caller():
    """In a process of its own: what is kept has a limit, which the whole suite comes to."""
    env = {name: value for name, value in os.environ.items() if name not in ("QUERN_INSTANCES", "QUERN_CACHE_DIR")}
    subprocess.run([sys.executable, "-c", "import test_second_callers as t; t.ask()"], cwd=os.path.dirname(__file__), check=True,
                   env={**env, "PYTHONPATH": os.pathsep.join(sys.path)})


def ask():
    source = "def f(x): return np.percentile(x, 35) + np.median(x)"
    narrow = X.astype(np.float32)
    first, second = new(source), new(source)
    assert first(narrow) == second(narrow) == pytest.approx(second.py_func(narrow))
    assert 2 * questions(second) < questions(first)
    tuples = [new("def f(x): return np.histogram(x, 3)[1][1]") for _ in range(2)]
    assert tuples[0](narrow) == tuples[1](narrow) and 2 * questions(tuples[1]) < questions(tuples[0])
    os.environ["QUERN_INSTANCES"] = "none"
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
        """Of compiled code alone."""

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


# -- what they were compiled to (codegen/memo.c) ------------------------------------------------------------------


def test_COMP_what_is_remembered_is_what_compiling_again_gives():
    """QUERN_INSTANCES=check compiles everything again, and ends with an error where the key or the layout is another. Without the
    pass `inline`: whether it finds a step that was written into already depends on the order of the module's functions."""
    program = f"""
        import heapq, math
        import numpy as np
        from quern import njit
        X = np.array([3.5, -1.0, 2.25, 7.0, 0.5])
        from numpy import array, float64
        CALLS = {{name: (text, eval(args)) for name, (text, args) in {({n: (t, repr(a)) for n, (t, a) in CALLS.items()})!r}.items()}}
        for k in range(3):
            for text, args in CALLS.values():
                for body in ("return {{}}", "a = [1.0, 2.0]\\n    a.append(0.5)\\n    return {{}}, a[0]"):
                    space = {{"np": np, "math": math, "heapq": heapq}}
                    exec("def f(x, k):\\n    " + body.format(text), space)
                    for options in {{}}, {{"boundscheck": False, "error_model": "numpy"}}, {{"fastmath": {{"nsz", "arcp"}}}}:
                        njit(**options)(space["f"])(*args)
        print("all the same")"""
    environment = {**os.environ, "QUERN_INSTANCES": "check", "QUERN_OPT": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("QUERN_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, env=environment)
    assert done.stdout == "all the same\n", done.stderr[-2000:]


def places(f, args):
    try:
        f(*args)
    except Exception as error:
        return type(error), str(error), [(s.name, s.lineno, s.filename) for s in traceback.extract_tb(error.__traceback__)[1:]]
    raise AssertionError("nothing was raised")


RAISING = {
    "pow": ("pow(x, k, 0)", (12, 18)),
    "comb": ("math.comb(x, k)", (-9, 4)),
    "solve": ("np.linalg.solve(x, x[0])[k]", (np.zeros((2, 2)), 0)),
    "text": ("int(x) + k", ("1x", 3)),
    "float": ("float(x) + k", ("1x", 3)),
    "reshape": ("np.median(x.reshape(k, 2))", (X, 3)),
    "percentile": ("np.percentile(x, k)", (X, 300)),
    "choice": ("np.random.randint(x, k)", (5, 3)),
}


@pytest.mark.parametrize("name", RAISING)
def test_COMP_places_of_exceptions_are_those_of_the_first_caller(name):
    expression, args = RAISING[name]
    source = f"def f(x, k):\n    if x is None: raise KeyError('mine')\n    return {expression}"
    first = places(new(source), args)
    for other in ("", "\n    # more lines", "\n    y = np.mean(np.arange(3.0))"):
        again = places(new(source.replace(":\n", f":{other}\n", 1)), args)
        assert again[:2] == first[:2]
        assert [p for p in again[2] if p[0] != "f"] == [p for p in first[2] if p[0] != "f"]


def test_COMP_what_second_callers_change_is_written_back():
    for k in range(3):
        f = new(f"def f(x): x.sort(); return {k}")
        x = [3, 1, 2]
        f(x)
        assert x == [1, 2, 3]
        g = new(f"def f(x): x.sort(); np.random.shuffle(x); return {k}")
        a = X.copy()
        g(a)
        assert sorted(a) == sorted(X)
        h = new(f"def f(x, y):\n    for i in range(20): x[i + {k}] = y\n    return len(x)")
        d = {}
        assert h(d, 2) == 20 and d == {i + k: 2 for i in range(20)}


def test_COMP_checked_copies_of_second_callers_work():
    for k in range(3):
        f = new(f"""
            def f(x, n):
                s = 0.0
                for i in range(n):
                    s += x[i] * np.searchsorted(x, 2.0) + len(str(s)) + {k}
                return s""")
        assert f(X, 5) == pytest.approx(f.py_func(X, 5))
        for n in (5, 6):
            with pytest.raises(IndexError) if n == 6 else pytest.MonkeyPatch.context():
                f(X, n)


def test_COMP_what_a_pass_writes_into_its_caller_is_compiled_with_it():
    for k in range(3):
        plain, fused = new(f"def f(x): return np.std(x) + {k}"), new(f"def f(x): return np.std(x * 2.0 + {k})")
        inner = new(f"def f(x): return np.median(np.sort(np.abs(x) + {k}))")
        for f in (plain, fused, inner) if k % 2 else (inner, fused, plain):
            assert f(X) == pytest.approx(f.py_func(X))


def test_COMP_remembered_functions_may_be_dropped():
    from quern import _quern

    for k in range(3):
        f = new(f"def f(x): return np.median(x) + len(str(x[0])) + {k}")
        assert f(X) == f.py_func(X)
        del f
        _quern.drop_instances()


def test_COMP_a_folder_of_the_same_name_is_not_the_library(tmp_path):
    file = tmp_path / "quern" / "library" / "helpers.py"
    file.parent.mkdir(parents=True)
    file.write_text("from quern import njit\nK = 2\n@njit\ndef helper(x):\n    s = 0\n    for i in range(x):\n        s += K\n    return s\n")
    spec = importlib.util.spec_from_file_location("helpers", file)
    helpers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(helpers)
    assert njit(lambda x: helpers.helper(x))(3) == 6
    helpers.K = 3
    assert njit(lambda x: helpers.helper(x))(3) == 9

