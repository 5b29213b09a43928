"""Functions that are compiled once in a process (codegen/instances.h). Whether a function is one makes no difference but
for time: QUERN_INSTANCES=all makes one of every function that can be, none of none."""
import gc
import json
import math
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from quern import _quern, errors, njit


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch):
    monkeypatch.delenv("QUERN_INSTANCES", raising=False)


def made():
    return _quern.code_instances()[0]


def live():
    gc.collect()
    _quern.drop_instances()
    return _quern.code_instances()[1]


OURS = {"fastmath": {"nsz", "arcp"}}  # functions of other modules that are still alive share no instance that counts with these


def new(source, name="f", options={}, **names):
    """A function of its own from text: equal texts give equal code."""
    space = {"np": np, "math": math, "njit": njit, **names}
    exec(textwrap.dedent(source), space)
    return njit(**options)(space[name])


# -- compiled once ---------------------------------------------------------------------------------------------

CALLERS = {
    "pow": ("def f(x, k): return pow(x, k, 1000007)", (12, 18)),
    "sort": ("def f(x, k): return np.sort(x)[k]", (np.array([3.0, 1.0, 2.0]), 1)),
    "median": ("def f(x, k): return np.median(x) + k", (np.array([3.0, 1.0, 2.0]), 1)),
    "split": ("def f(x, k): return len(x.split(',')) + k", ("a,b", 1)),
    "text of floats": ("def f(x, k): return str(x * k)", (1.25, 3)),
    "upper": ("def f(x, k): return x.upper() * k", ("aß,b", 2)),
    "format": ("def f(x, k): return f'{x:>10}|{k:.3f}'", (12, 2.5)),
}


@pytest.mark.parametrize("name", CALLERS)
def test_COMP_a_second_caller_compiles_nothing_of_the_library(name):
    source, args = CALLERS[name]
    f = new(source)
    first = f(*args)
    before = made()
    assert live() > 0
    g = new(source.replace("def f", "def g"), "g")
    assert g(*args) == first == g.py_func(*args)
    assert made() == before


def test_COMP_loops_have_small_functions_of_the_library_to_themselves():
    a = np.arange(16.0)
    loop = "def f(x, n):\n    s = {0}\n    for i in range(n): s += np.searchsorted(x, i * 0.5)\n    return s"
    once = "def f(x, n): return np.searchsorted(x, n * 0.5) + {0}"
    for k, (source, instances) in enumerate([(loop, 0), (once, 1), (once, 0), (loop, 0)]):
        before = made()
        f = new(source.format(k), options={"fastmath": {"nsz", "afn"}})
        assert f(a, 9) == f.py_func(a, 9)
        assert made() == before + instances


def test_COMP_a_large_function_of_the_user_is_compiled_once():
    lines = "\n".join(f"        if x > {k}: s += i * {k} % 7" for k in range(60))
    helper = new(f"def helper(x, n):\n    s = 0\n    for i in range(n):\n{lines}\n    return s", "helper")
    before = made()
    f = new("def f(x): return helper(x, 10) + 1", helper=helper)
    g = new("def g(x): return helper(x + 1, 20) - 1", "g", helper=helper)
    assert f(30) == helper.py_func(30, 10) + 1
    assert made() == before + 1
    assert g(30) == helper.py_func(31, 20) - 1
    assert made() == before + 1


def test_COMP_small_functions_are_left_to_their_callers():
    helper = njit(lambda x: x * 2.5)
    before = made()
    assert new("def f(x): return helper(x) + 1", helper=helper)(2.0) == 6.0
    assert made() == before


def test_COMP_other_constants_options_and_types_are_other_instances(monkeypatch):
    monkeypatch.setenv("QUERN_INSTANCES", "all")
    source = "def helper(x): return x / {k}"

    def of(k, x, **options):
        space = {}
        exec(source.format(k=k), space)
        h = njit(**options)(space["helper"])
        caller = {"h": h}
        exec("def f(x): return h(x) + 1", caller)
        f = njit(**options)(caller["f"])
        keep.append(f)
        return f(x)

    keep, counts = [], []
    for k, x, options in [(3, 6.0, {}), (3, 6.0, {}), (4, 6.0, {}), (3, 6, {}), (3, 6.0, {"fastmath": True}),
                          (3, np.float32(6), {})]:
        before = made()
        assert of(k, x, **options) == x / k + 1
        counts.append(made() - before)
    assert counts == [1, 0, 1, 1, 1, 1]


def test_MEM_06_instances_go_with_the_last_that_calls_them():
    before = live()
    f = new("def f(x): return str(x) + str(x * 2)", options=OURS)
    g = new("def g(x): return str(x * 3)", "g", OURS)
    assert f(1.5) == "1.53.0" and g(1.5) == "4.5"
    assert live() > before
    del f
    assert live() > before and g(2.5) == "7.5"
    del g
    assert live() == before
    h = new("def h(x): return str(x * 3)", "h", OURS)
    assert h(1.5) == "4.5"


# -- the same meaning --------------------------------------------------------------------------------------------

PROGRAM = """
    import json, sys, traceback
    import numpy as np
    from quern import njit, _quern

    class Mine(Exception):
        pass

    @njit
    def inner(a, i):
        if i == 7:
            raise ValueError("seven", i)
        if i == 8:
            raise Mine("eight")
        if i == 9:
            raise KeyError(i)
        return a[i] / (i - 5)

    @njit
    def middle(a, i):
        s = 0.0
        for k in range(2):
            s += inner(a, i) + k
        return s

    @njit
    def outer(a, i):
        return middle(a, i) * 2

    @njit
    def handles(a, i):
        try:
            return middle(a, i)
        except ValueError:
            return -1.0
        except LookupError:
            return -2.0

    @njit
    def cleans(a, i, log):
        try:
            log.append(1.0)
            return outer(a, i)
        finally:
            log.append(2.0)

    @njit
    def inside(a, i):
        try:
            return inner(a, i)
        except ZeroDivisionError as e:
            raise IndexError("from inside") from e

    @njit
    def through(a, i):
        try:
            return inside(a, i)
        except IndexError as e:
            return -3.0 if str(e) == "from inside" else -4.0

    @njit
    def raises_again(a, i):
        try:
            return inside(a, i)
        except ArithmeticError:
            return -5.0
        except Mine:
            raise

    @njit
    def deep(n):
        return 0 if n == 0 else deep(n - 1) + 1

    @njit
    def lists(n):
        rows = [[float(i)] * i for i in range(n)]
        total = 0.0
        for row in rows:
            total += sum(row)
        return total, rows, {str(i): i for i in range(n)}, "-".join([str(i) for i in range(n)])

    @njit
    def calls_deep(n):
        return deep(n) + 1

    def outcome(f, *args):
        try:
            return repr(f(*args))
        except Exception as error:
            frames = [(s.name, s.lineno) for s in traceback.extract_tb(error.__traceback__)][1:]
            chain, at = [], error
            while at is not None:
                chain.append((type(at).__name__, str(at.args)))
                at = at.__cause__ or at.__context__
            return repr((chain, frames))

    a = np.arange(12.0)
    results = []
    for f in (outer, handles, inside, through, raises_again):
        for i in list(range(12)) + [20, -1]:
            results.append(outcome(f, a, i))
    for i in (1, 5, 7, 30):
        log = [0.0]
        results.append(outcome(cleans, a, i, log) + repr(log))
    results.append(outcome(calls_deep, 100))
    results.append(outcome(calls_deep, 10**9)[:40])
    results.append(outcome(lists, 6))
    results.append(outcome(njit(lambda x: np.sort(x)[::-1] + np.median(x)), a % 5))
    results.append(outcome(njit(lambda s: int(s)), "12"))
    results.append(outcome(njit(lambda s: int(s)), "1x2"))
    results.append(outcome(njit(lambda x: pow(x, -1, 12)), 6))
    import gc
    gc.collect()
    assert _quern.live_allocations() == 0
    print(json.dumps([_quern.code_instances()[0], results]))
    """


def outcomes(how):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "QUERN_INSTANCES": how})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_COMP_results_exceptions_and_tracebacks_are_the_same():
    (all_made, everything), (some, auto), (none_made, nothing) = outcomes("all"), outcomes("auto"), outcomes("none")
    assert everything == nothing
    assert auto == nothing
    assert all_made > some > none_made == 0


def test_COMP_what_belongs_to_the_user_is_in_no_instance(monkeypatch):
    """An array by address and a class of the user's: the function is compiled with its caller."""
    monkeypatch.setenv("QUERN_INSTANCES", "all")

    class Mine(Exception):
        pass

    table = np.arange(1 << 16)

    def helper(x):
        if x < 0:
            raise Mine(x)
        return table[x]

    helper = njit(helper)
    before = made()
    f = njit(lambda x: helper(x) + 1)
    assert f(5) == 6
    with pytest.raises(Mine):
        f(-1)
    assert made() == before


# -- several at once ------------------------------------------------------------------------------------------------

def test_what_nothing_calls_is_kept_for_the_next_caller():
    source = "def f(x, k): return np.median(x) + k"
    live()
    first, before = new(source, options=OURS), made()
    assert first(np.array([3.0, 1.0, 2.0]), 1) == 3.0
    count = made() - before
    del first
    gc.collect()
    assert count and new(source + " * 2", options=OURS)(np.array([5.0, 4.0]), 1) == 6.5 and made() == before + count
    live()
    assert new(source, options=OURS)(np.array([3.0, 1.0]), 1) == 3.0 and made() == before + 2 * count


def test_THR_01_threads_that_want_one_instance_make_it_once():
    source = "def f(x): return str(x) + str(-x)"
    alone = new(source, options=OURS)
    live()
    before = made()
    alone(1.5)
    count = made() - before
    del alone
    assert count
    functions = [new(source, options=OURS) for _ in range(8)]
    live()
    before, barrier, wrong = made(), threading.Barrier(8), []

    def work(f):
        barrier.wait()
        if f(1.5) != "1.5-1.5":
            wrong.append(f)

    threads = [threading.Thread(target=work, args=(f,)) for f in functions]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert made() - before <= count


def test_JIT_05_an_instance_that_LLVM_gave_up_is_made_by_the_next():
    for _ in range(3):
        f = new("def f(x): return str(x) + str(x + 1)")
        _quern.test_fatal_error()
        with pytest.raises(errors.LoweringError):
            f(1.5)
        assert f(1.5) == "1.52.5"


def test_FRK_a_child_uses_instances_and_makes_others():
    f = new("def f(x): return str(x)")
    assert f(1.5) == "1.5"
    child = os.fork()
    if child == 0:
        try:
            g, h = new("def g(x): return str(x) + '!'", "g"), new("def h(x): return np.median(x)", "h")
            good = g(2.5) == "2.5!" and h(np.arange(5.0)) == 2.0 and f(3.5) == "3.5"
        finally:
            os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
