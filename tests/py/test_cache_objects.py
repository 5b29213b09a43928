"""The disk cache and what a program has as objects: functions that are arguments or results, instances of a @jitclass, implementations that
libraries have registered, functions of C, code for C."""
import textwrap

import pytest

from test_cache import run

THINGS = """
import ctypes, functools, math
import numpy as np
from quern import cfunc, njit, objmode, stencil, types
from quern.experimental import jitclass
from quern.extending import overload, overload_attribute, overload_method

K = 2.0

@njit
def twice(x):
    return x * K

def plain(x):
    return x - K

def adder(a):
    @njit
    def inner(x):
        return x + a
    return inner

def scaled(x, a=1.0, b=1.0):
    return x * a + b

three = functools.partial(scaled, a=3.0)

@jitclass([("x", types.float64)])
class Inner:
    def __init__(self, x):
        self.x = x
    def more(self):
        return self.x + 1.0

@jitclass([("inner", Inner.class_type.instance_type), ("n", types.int64)])
class Outer:
    def __init__(self, inner):
        self.inner = inner
        self.n = 7
    def total(self):
        return self.inner.more() + self.n

@njit
def outer(x):
    return Outer(Inner(x))

def asked(x):
    raise NotImplementedError

@overload(asked)
def implement(x):
    if isinstance(x, types.Float):
        return lambda x: x + 100.0
    return lambda x: x + 200

@overload_method(types.Array, "first")
def first(a, k=0):
    return lambda a, k=0: a[k] + K

@overload_attribute(types.Array, "half")
def half(a):
    return lambda a: a.shape[0] // 2

@stencil
def beside(a):
    return a[-1] + K * a[1]

library = ctypes.CDLL(None)
absolute = library.labs
absolute.restype, absolute.argtypes = ctypes.c_long, [ctypes.c_long]

@cfunc("float64(float64)")
def for_c(x):
    return x + K

RECORDS = np.zeros(3, [("x", "f8"), ("n", "i4")])
RECORDS["n"] = [4, 5, 6]
"""

PROGRAM = """
import things
from quern import njit
from things import *

@njit(cache=True)
def f({names}):
    {body}

result = f({arguments})
stats = f.stats
print(result, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), *stats.cache_reasons.values())
"""


def results(tmp_path, names, arguments, body, things=THINGS, times=2):
    """What the program prints in processes one after the other: result, hits, misses, why not."""
    (tmp_path / "things.py").write_text(things)
    body = textwrap.indent(textwrap.dedent(body), "    ").strip()
    program = PROGRAM.format(names=names, arguments=arguments, body=body)
    return [run(program, tmp_path / "store", where=tmp_path, PYTHONDONTWRITEBYTECODE="1") for _ in range(times)]


@pytest.mark.parametrize("names, arguments, body, result", [
    ("h, x", "twice, 3.0", "return h(x)", "6.0"),
    ("h, x", "plain, 3.0", "return h(x)", "1.0"),
    ("h, x", "adder(5.0), 3.0", "return h(x)", "8.0"),
    ("h, x", "math.floor, 3.5", "return h(x)", "3"),
    ("h, x", "np.sqrt, 4.0", "return h(x)", "2.0"),
    ("h, x", "three, 4.0", "return h(x)", "13.0"),
    ("h, x", "functools.partial(scaled, b=2.0), 4.0", "return h(x)", "6.0"),
    ("h, x", "absolute, -4", "return h(x)", "4"),
    ("h, x", "for_c, 4.0", "return h(x)", "6.0"),
    ("hs, x", "(twice, plain), 3.0", "return hs[0](x) + 10 * hs[1](x)", "16.0"),
    ("hs, x", "(plain, twice), 3.0", "return hs[0](x) + 10 * hs[1](x)", "61.0"),
    ("t, x", "np.float32, 0.1", "return t(x) < x", "False"),
    ("n", "3", "return (twice if n > 2 else plain)(4.0)", "8.0"),
    ("x", "3.0", "return three(x)", "10.0"),
    ("p", "outer(2.5)", "return p.inner.x + p.n", "9.5"),
    ("p", "outer(2.5)", "p.inner.x += 1.0\nreturn p.total()", "11.5"),
    ("ps", "[outer(2.5), outer(3.5)]", "return ps[1].inner.x", "3.5"),
    ("x", "2.5", "return outer(x).total()", "10.5"),
    ("x", "2.5", "return asked(x) + asked(1)", "303.5"),
    ("a", "np.arange(4.0)", "return a.first() + a.first(2) + a.half", "8.0"),
    ("a", "np.arange(4.0)", "return beside(a)", "[0. 4. 7. 0.]"),
    ("x", "-5", "return absolute(x)", "5"),
    ("x", "1.5", "return for_c(x)", "3.5"),
    ("x", "2.0", "with objmode(y='float64'):\n        y = math.factorial(int(x)) + x\nreturn y", "4.0"),
    ("a", "RECORDS", "return a[1].n + [a[0], a[2]][1].n", "11"),
])
def test_a_second_process_finds_it(tmp_path, names, arguments, body, result):
    assert results(tmp_path, names, arguments, body) == [f"{result} 0 1", f"{result} 1 0"]


@pytest.mark.parametrize("names, arguments, body, shown", [
    ("x", "2.5", "return outer(x)", "f(2.5).inner.x, f(2.5).total()"),
    ("x", "2.5", "return [outer(x), outer(x + 1)]", "[p.inner.x for p in f(2.5)]"),
    ("x", "2.5", "return (outer(x), 1)", "f(2.5)[0].inner.x"),
    ("n", "1", "return twice", "f(1)(4.0), f(1) is twice"),
    ("n", "1", "return twice if n else plain", "f(1)(4.0), f(1) is twice, f(0)(4.0), f(0) is plain"),
    ("a", "RECORDS", "return [a[0], a[2]]", "[r['n'] for r in f(RECORDS)]"),
    ("a", "RECORDS", "return {1: a[2]}", "f(RECORDS)[1]['n']"),
    ("a", "RECORDS", "return (a[1], a)", "f(RECORDS)[0]['n'], f(RECORDS)[1].dtype"),
])
def test_objects_that_are_results(tmp_path, names, arguments, body, shown):
    program = textwrap.dedent("""
    import things
    from quern import njit
    from things import *
    @njit(cache=True)
    def f({names}):
        {body}
    print({shown}, "|", {plain}, "|", sum(f.stats.cache_hits.values()), *f.stats.cache_reasons.values())
    """).format(names=names, body=body, shown=shown, plain=shown.replace("f(", "f.py_func("))
    (tmp_path / "things.py").write_text(THINGS)
    for hits in "01":
        answer, expected, rest = run(program, tmp_path / "store", where=tmp_path).split(" | ")
        assert answer == expected and rest == hits


@pytest.mark.parametrize("names, arguments, body, edit, expected", [
    ("h, x", "twice, 3.0", "return h(x)", ("K = 2.0", "K = 4.0"), "12.0"),
    ("h, x", "plain, 3.0", "return h(x)", ("return x - K", "return x - K - 1"), "0.0"),
    ("h, x", "adder(5.0), 3.0", "return h(x)", ("return x + a", "return x + a + K"), "10.0"),
    ("h, x", "three, 4.0", "return h(x)", ("partial(scaled, a=3.0)", "partial(scaled, b=3.0)"), "7.0"),
    ("x", "4.0", "return three(x)", ("partial(scaled, a=3.0)", "partial(scaled, b=3.0)"), "7.0"),
    ("p", "outer(2.5)", "return p.inner.x", ('("x", types.float64)', '("y", types.int64), ("x", types.float64)'), "2.5"),
    ("p", "outer(2.5)", "return p.total()", ("self.x + 1.0", "self.x + 2.0"), "11.5"),
    ("p", "outer(2.5)", "return p.n", ('("n", types.int64)]', '("n", types.float64)]'), "7.0"),
    ("x", "2.5", "return outer(x).inner.x", ('("x", types.float64)', '("y", types.int64), ("x", types.float64)'), "2.5"),
    ("x", "2.5", "return asked(x)", ("x + 100.0", "x + 101.0"), "103.5"),
    ("x", "2.5", "return asked(x)", ("isinstance(x, types.Float)", "isinstance(x, types.Integer)"), "202.5"),
    ("a", "np.arange(4.0)", "return a.first()", ("K = 2.0", "K = 3.0"), "3.0"),
    ("a", "np.arange(4.0)", "return a.first()", ("def first(a, k=0):\n    return lambda a, k=0", "def first(a, k=1):\n    return lambda a, k=1"), "3.0"),
    ("a", "np.arange(4.0)", "return beside(a)[1]", ("a[-1] + K", "a[-1] - K"), "-4.0"),
    ("x", "-5", "return absolute(x)", ("ctypes.c_long, [ctypes.c_long]", "ctypes.c_int, [ctypes.c_long]"), "5"),
])
def test_an_edit_is_a_miss(tmp_path, names, arguments, body, edit, expected):
    before = results(tmp_path, names, arguments, body)
    assert before[1].endswith(" 1 0")
    edited = THINGS.replace(*edit)
    assert edited != THINGS
    after = results(tmp_path, names, arguments, body, edited)
    assert after[0].startswith(f"{expected} 0 1") and after[1] == f"{expected} 1 0"
    assert results(tmp_path, names, arguments, body, times=1) == before[1:]


def test_functions_of_one_code_have_entries_of_their_own(tmp_path):
    """They share a key; what they close over tells them apart."""
    program = """
    from quern import njit
    def make(a):
        return njit(lambda x: x * a)
    @njit(cache=True)
    def f(h, x):
        return h(x)
    functions = [make(k) for k in range(5)]
    print([f(h, 10) for h in functions], sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values()))
    """
    assert run(program, tmp_path / "store", where=tmp_path) == "[0, 10, 20, 30, 40] 0 5"
    assert run(program, tmp_path / "store", where=tmp_path) == "[0, 10, 20, 30, 40] 5 0"


ALIASES = """
import ctypes, functools, math
from collections import namedtuple
from quern import njit, vectorize, types
from quern.experimental import jitclass
from quern.extending import overload

def make(k):
    @njit
    def g(x):
        return x * k
    return g

def plain(h, x):
    return h(x)

def of_c(name):
    f = getattr(ctypes.CDLL("libm.so.6"), name)
    f.restype, f.argtypes = ctypes.c_double, [ctypes.c_double]
    return f

def first(x):
    raise NotImplementedError

def second(x):
    raise NotImplementedError

@overload(first)
def one(x):
    return IMPLEMENTATION

@overload(second)
def other(x):
    return OTHER

def implementation(k):
    def body(x):
        return x + k
    return body

A, B = make(2.0), make(3.0)
S, T, C = of_c("sin"), of_c("sin"), of_c("cos")
IMPLEMENTATION = implementation(10.0)
OTHER = {other}
G, H = {names}

@njit(cache=True)
def f(p, q, x):
    return {body}

print(f({arguments}), sum(f.stats.cache_hits.values()))
"""


@pytest.mark.parametrize("body, one, other", [
    ("p(x) + 10 * q(x)", {"arguments": "A, A, 1.0"}, {"arguments": "A, B, 1.0"}),
    ("p(x) + 10 * G(x) + q(x)", {"arguments": "A, A, 1.0", "names": "A, A"}, {"arguments": "A, A, 1.0", "names": "B, B"}),
    ("p is q", {"arguments": "A, A, 1.0"}, {"arguments": "A, make(2.0), 1.0"}),
    ("G(x) + 10 * H(x)", {"names": "A, A"}, {"names": "A, B"}),
    ("G(x) + 10 * H(x)", {"names": "functools.partial(plain, A), functools.partial(plain, A)"},
     {"names": "functools.partial(plain, A), functools.partial(plain, B)"}),
    ("G[0](x) + 10 * G[1](x)", {"names": "(A, A), 0"}, {"names": "(A, B), 0"}),
    ("G(x) + 10 * H(x)", {"names": "S, T"}, {"names": "S, C"}),
    ("G(x) + 10 * H(x)", {"names": "S, T"}, {"names": "C, T"}),
    ("p(x) + 10 * q(x)", {"arguments": "S, T, 1.0"}, {"arguments": "S, C, 1.0"}),
    ("first(x) + 10 * second(x)", {"other": "IMPLEMENTATION"}, {"other": "implementation(20.0)"}),
    ("G(x, 1.0).a + 10 * H(x, 2.0).a", {"names": "(lambda P: (P, P))(namedtuple('P', 'a b'))"}, {"names": "namedtuple('P', 'a b'), namedtuple('P', 'b a')"}),
])
def test_two_ways_to_one_object(tmp_path, body, one, other):
    """An entry made while both led to one object is not used when they lead to two."""
    def outcome(where, changes):
        values = {"names": "A, B", "arguments": "A, B, 1.0", "other": "implementation(10.0)", "body": body, **changes}
        return run(ALIASES.format(**values), tmp_path / where, where=tmp_path)

    def value(printed):
        return printed.split(" ")[0]

    before, alone = outcome("store", one), outcome("fresh", other)
    assert outcome("store", one) == f"{value(before)} 1" and alone.endswith(" 0")
    now = outcome("store", other)
    assert value(now) == value(alone) and (now == alone or {"S", "C"} & {*str(other)})  # functions of C are called by their names
    assert outcome("store", other) == f"{value(alone)} 1" and outcome("store", one) == f"{value(before)} 1"


def test_an_overload_of_a_function_of_the_program_that_comes_later(tmp_path):
    program = """
    from quern import njit
    from quern.extending import overload
    def asked(x):
        return x
    if {late}:
        overload(asked)(lambda x: lambda x: x + 100)
    @njit(cache=True)
    def f(x):
        return asked(x)
    print(f(1), sum(f.stats.cache_hits.values()))
    """
    results = [run(textwrap.dedent(program).format(late=late), tmp_path / "store", where=tmp_path) for late in (0, 0, 1, 1, 0)]
    assert results == ["1 0", "1 1", "101 0", "101 1", "1 1"]


@pytest.mark.parametrize("value", ["math.floor", "np.sin", "int", "len", "twice"])
def test_functions_that_are_results_are_found(tmp_path, value):
    program = f"""
    import math
    import numpy as np
    from quern import njit
    twice = njit(lambda x: 2 * x)
    @njit(cache=True)
    def f(x):
        return {value}
    print(f(1) is {value}, sum(f.stats.cache_hits.values()))
    """
    assert [run(program, tmp_path / "store", where=tmp_path) for _ in range(2)] == ["True 0", "True 1"]


def test_functions_of_c_stay_while_code_calls_them(tmp_path):
    program = """
    import ctypes, gc
    from quern import njit
    P = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    G = P(lambda x: x + 1)
    @njit
    def f(x):
        return G(x)
    first = f(1.0)
    G = None
    gc.collect()
    others = [P(lambda x: -99.0) for k in range(500)]
    print(first, f(1.0))
    """
    assert run(program, tmp_path / "store", where=tmp_path) == "2.0 2.0"


def test_code_for_c(tmp_path):
    """cfunc(cache=True): the code is told whose it is in each process, and two of one function are two."""
    program = """
    import sys
    import numpy as np
    from quern import carray, cfunc, njit, types

    told = []
    sys.unraisablehook = lambda what: told.append((what.exc_type.__name__, what.object.__name__))

    @njit
    def twice(x):
        return 2 * x

    def checked(x):
        if x < 0:
            raise ValueError("below zero")
        return twice(x)

    def other(x):
        if x < 0:
            raise ValueError("below zero")
        return twice(x)

    first, second = (cfunc("float64(float64)", cache=True)(f) for f in (checked, checked))
    third = cfunc("float64(float64)", cache=True)(other)

    @cfunc(types.void(types.CPointer(types.float64), types.intp), cache=True)
    def filled(p, n):
        for i in range(n):
            carray(p, n)[i] = twice(i)

    a = np.zeros(3)
    filled.ctypes(a.ctypes.data, 3)
    values = [f.ctypes(x) for f in (first, second, third) for x in (1.5, -1.0)]
    del first
    second.ctypes(-2.0)
    opened = "libquern_llvm" in open("/proc/self/maps").read()
    hits = [f.cache_hits for f in (second, third, filled)]
    print(a.sum(), values, told, hits, second.stats.cache_reasons, opened, "define" in second.inspect_llvm())
    """
    told = [("ValueError", "checked"), ("ValueError", "checked"), ("ValueError", "other"), ("ValueError", "checked")]
    def expected(hits, opened):
        return f"6.0 [3.0, 0.0, 3.0, 0.0, 3.0, 0.0] {told} {hits} {{}} {opened} True"
    assert run(program, tmp_path / "store", where=tmp_path) == expected([1, 0, 0], True)
    assert run(program, tmp_path / "store", where=tmp_path) == expected([1, 1, 1], False)


def test_what_stays_out_says_why(tmp_path):
    program = """
    from quern import njit
    @njit(cache=True)
    def f(k):
        def h(x):
            return x + k
        return h
    print(f(2)(3), *f.stats.cache_reasons.values())
    """
    assert run(program, tmp_path / "store", where=tmp_path) == "5 a closure or a dict of several types is an argument or a result"
