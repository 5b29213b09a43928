"""Parameters, arguments, items of tuples and results by the thousand: up to 10,000 of each."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from quern import cuda, errors, int64, njit, prange, types

MOST = 10_000


def made(source, **scope):
    scope.update(np=np, njit=njit, cuda=cuda, prange=prange)
    exec(compile(textwrap.dedent(source), "many.py", "exec"), scope)
    return scope["f"]


def names(n):
    return [f"a{i}" for i in range(n)]


def picking(n, more=""):
    """Of n parameters: some, each times another number."""
    places = sorted({0, 1, n // 3, n // 2, n - 2, n - 1})
    return made(f"def f({', '.join(names(n))}{more}):\n    return " + " + ".join(f"{k + 1} * a{i}" for k, i in enumerate(places)))


def run(program, folder, **environment):
    environment = {**os.environ, "QUERN_CACHE_DIR": str(folder), **environment}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


@pytest.mark.parametrize("n", [32, 33, 255, 256, 1000, 1001, MOST])
def test_parameters_arguments_and_defaults(n):
    """Those of up to 32 parameters have their room on the stack."""
    plain, args = picking(n), list(range(5, n + 5))
    f = njit(plain)
    expected = plain(*args)
    for _ in range(2):
        assert f(*args) == expected
    assert f(*map(float, args)) == expected and type(f(*map(float, args))) is float
    mixed = [x if x % 3 else np.float32(x) for x in args]
    assert f(*mixed) == plain(*mixed)
    named = dict(zip(names(n), args))
    assert f(**named) == expected and f(**dict(reversed(named.items()))) == expected
    assert f(*args[:n // 2], **dict(list(named.items())[n // 2:])) == expected
    with pytest.raises(TypeError, match=f"missing a required argument: 'a{n - 1}'"):
        f(*args[:-1])
    with pytest.raises(TypeError, match=f"takes {n} positional arguments but {n + 1} were given"):
        f(*args, 1)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'b'"):
        f(*args[:-1], b=1)
    with pytest.raises(TypeError, match=f"got multiple values for argument 'a{n - 2}'"):
        f(*args[:-1], **{f"a{n - 2}": 1})
    plain.__defaults__ = tuple(args[3:])
    assert f(*args[:3]) == expected and f(*args[:3], **{f"a{n - 1}": 0}) == plain(*args[:-1], 0)


def test_keyword_only_parameters():
    plain = made(f"def f(x, *, {', '.join(f'{a}={i}' for i, a in enumerate(names(600)))}):\n    return x + a0 + 2 * a299 + 3 * a599")
    f = njit(plain)
    assert f(1) == plain(1) and f(1, a299=7) == plain(1, a299=7)
    assert f(1, **{a: -1 for a in names(600)}) == -5


@pytest.mark.parametrize("n", [31, 300, 1500, MOST])
def test_calls_in_compiled_code(n):
    """More than 1,000 go through memory."""
    callee = njit(picking(n))
    values = [f"x + {i}" for i in range(n)]
    for call in (values, [f"{a}={v}" for a, v in zip(names(n), values)], values[:n // 2] + [f"{a}={v}" for a, v in list(zip(names(n), values))[:n // 2 - 1:-1]]):
        plain = made(f"def f(x):\n    return callee({', '.join(call)})", callee=callee)
        assert njit(plain)(3) == plain(3) == callee(*range(3, n + 3))
    star = njit(lambda *rest: rest[0] + rest[-1] * 2 + len(rest))
    plain = made(f"def f(x):\n    return callee({', '.join(values)})", callee=star)
    assert njit(plain)(3) == 3 + (n + 2) * 2 + n
    assert star(*range(n)) == (n - 1) * 2 + n


@pytest.mark.parametrize("n", [300, 1001, MOST])
def test_tuples(n):
    values = tuple(i if i % 2 else i * 0.5 for i in range(n))
    f = njit(lambda t: t[0] + t[-1] * 2 + t[len(t) // 2])
    assert f(values) == values[0] + values[-1] * 2 + values[n // 2]
    same = njit(lambda t: t)
    assert same(values) == values and same((values, 1.5)[:1] + (2,))[0] == values if n < MOST else same(values) == values
    plain = made(f"def f(x):\n    return ({', '.join(f'x + {i}' for i in range(n))},)")
    assert njit(plain)(4) == plain(4)


@pytest.mark.parametrize("n", [63, 64, 65, 128, 129, 192, 193, 1000])
def test_long_displays(n):
    """Filled one by one, in pieces that are joined; with branches, and other tuples, among the items."""
    items = [f"x * {i}" for i in range(n)]
    items[n // 2] = "(x if x > 2 else -x)"
    items[n - 5] = "(x and 7)"
    plain = made(f"def f(x, t):\n    return ({', '.join(items)}), ({', '.join(items[:n // 2] + ['*t'] + items[n // 2:] + ['*t', 'x'])})")
    f = njit(plain)
    for x in 0, 1, 5:
        assert f(x, (8, 2.5)) == plain(x, (8, 2.5))
    plain = made(f"def f(x):\n    values = [{', '.join(items)}]\n    values.append(x)\n    s = 0\n    for v in values:\n        s += v\n    return s")
    assert njit(plain)(3) == plain(3)


def test_more_is_refused():
    with pytest.raises(ValueError, match="'f' has 10001 parameters; compiled functions have at most 10000: pass an array"):
        njit(picking(MOST + 1))
    with pytest.raises(ValueError, match="'f' has 10001 parameters"):
        cuda.jit(picking(MOST + 1))[1, 1](*range(MOST + 1))
    length = njit(lambda t: len(t))
    with pytest.raises(errors.TypingError, match="argument 1 of '<lambda>': the tuple has more than 10000 items; pass an array"):
        length((1,) * (MOST + 1))
    with pytest.raises(errors.UnsupportedError, match="a tuple of more than 10000 numbers and arrays"):
        length(((1,) * 6000, (2,) * 6000))
    rest = njit(lambda *rest: len(rest))
    with pytest.raises(errors.TypingError, match="the tuple has more than 10000 items"):
        rest(*range(MOST + 1))
    display = njit(made(f"def f(x):\n    return ({', '.join('x' for _ in range(MOST + 1))})[5]"))
    with pytest.raises(errors.UnsupportedError, match="many.py:2:.*: a tuple of more than 10000 numbers and arrays"):
        display(1)
    f = njit(picking(MOST))  # and what is not refused goes on
    assert f(*[1] * MOST) == 21


def test_arrays_in_great_numbers():
    """More than 10,000 leaves in one call: each array is some."""
    n = 4000
    callee = njit(made(f"def f({', '.join(names(n))}):\n    return a0[0] + a{n - 1}[1] + a{n // 2}.size"))
    arrays = [np.full(2, float(i)) for i in range(n)]
    assert callee(*arrays) == n - 1 + 2
    plain = made(f"def f(x):\n    return callee({', '.join(f'x[{i}:]' for i in range(1500))}, {', '.join('x' for _ in range(n - 1500))})", callee=callee)
    x = np.arange(3000.0)
    assert njit(plain)(x) == plain(x)


def test_recursion_exceptions_and_generators():
    n = 1200
    rest = ", ".join(names(n))
    plain = made(f"def f(k, {rest}):\n    if k == 0:\n        return a0 + a{n - 1}\n    return f(k - 1, a1, {', '.join(names(n)[2:])}, a0)")
    compiled = made(f"""
        @njit
        def f(k, {rest}):
            if k == 0:
                return a0 + a{n - 1}
            return f(k - 1, {', '.join(names(n)[1:])}, a0)
    """)
    assert compiled(5, *range(n)) == 5 + 4
    assert plain is not compiled
    failing = made(f"""
        @njit
        def g(x, {rest}):
            return x[a{n - 1}]
        def f(x, i):
            return g(x, {', '.join(f'i + {k}' for k in range(n))})
    """)
    x = np.arange(2000)
    f = njit(failing)
    assert f(x, 3) == n + 2
    with pytest.raises(IndexError, match=f"index {1000 + n - 1} is out of bounds for axis 0 with size 2000"):
        f(x, 1000)
    counting = made(f"""
        @njit
        def g({rest}):
            yield a0
            yield a{n - 1}
            yield a{n // 2}
        def f(x):
            s = 0
            for v in g({', '.join(f'x * {k}' for k in range(n))}):
                s = s * 3 + v
            return s
    """)
    assert njit(counting)(2) == counting(2)


def test_a_checked_copy_that_is_compiled_when_it_is_needed():
    """The loop's copy with checks is a function of its own, which gets what the loop uses."""
    n = 1500
    source = f"""
        def f(x, m, {', '.join(names(n))}):
            s = 0.0
            for i in range(m):
                s += x[i] * ({' + '.join(names(n)[:1100])})
            return s + a{n - 1}
    """
    plain, x = made(source), np.ones(4)
    f = njit(plain)
    assert f(x, 4, *range(n)) == plain(x, 4, *range(n))
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        f(x, 5, *range(n))
    inner = made("def f(x, m, a):\n    return g(x, m, " + ", ".join(f"a + {k}" for k in range(n)) + ")", g=njit(made(source)))
    assert njit(inner)(x, 4, 1) == inner(x, 4, 1)
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        njit(inner)(x, 6, 1)


def test_parallel_loops_with_many_values():
    n = 1200
    plain = made(f"""
        def f(x, {', '.join(names(n))}):
            for i in prange(x.size):
                x[i] = i + {' + '.join(names(n))}
            return x.sum()
    """)
    f = njit(parallel=True)(plain)
    assert f(np.zeros(1000), *range(n)) == plain(np.zeros(1000), *range(n))


def test_declared_explained_and_patterns():
    n = 300
    f = njit(f"int64({', '.join('int64' for _ in range(n))})")(picking(n))
    assert f(*range(n)) == f.py_func(*range(n)) and f(*map(np.int32, range(n))) == f.py_func(*range(n))
    with pytest.raises(TypeError):
        f(*map(str, range(n)))
    told = str(njit(picking(n)).explain(*range(n)))
    assert told.endswith("-> int64 is supported"), told
    function = types.FunctionType(int64(int64, int64))
    with_function = njit([int64(function, *[int64] * n)])(made(f"def f(g, {', '.join(names(n))}):\n    return g(a0, a{n - 1})"))
    times = njit(lambda a, b: a * b)
    assert with_function(times, *range(2, n + 2)) == 2 * (n + 1) and with_function(times, *map(np.int8, range(100)), *range(n - 100)) == 0


PROGRAM = """
from quern import njit
n, scope = {n}, dict(njit=njit)
names = ", ".join(f"a{{i}}" for i in range(n))
source = f'''
@njit(cache=True)
def f({{names}}):
    return a0 + 2 * a{{n - 1}} + len((a1, a2))
@njit(cache=True)
def g(*rest):
    return rest[1] + len(rest)
@njit(cache=True)
def h(x):
    return f({{", ".join(f"x + {{i}}" for i in range(n))}})
@njit(cache=True)
def t(values):
    return values
'''
exec(compile(source, "many_cached.py", "exec"), scope)
f, g, h, t = (scope[name] for name in "fght")
values = tuple(range(n))
print(f(*values), g(*values), h(3), t(values) == values, *(list(d.stats.cache_hits.values()) for d in (f, g, h, t)), sep="|")
"""


@pytest.mark.parametrize("n", [300, MOST])
def test_the_disk_cache(n, tmp_path):
    program = PROGRAM.format(n=n)
    expected = f"{2 * (n - 1) + 2}|{n + 1}|{3 + 2 * (n + 2) + 2}|True"
    assert run(program, tmp_path) == f"{expected}|[]|[]|[]|[]".split()
    assert run(program, tmp_path) == f"{expected}|[1]|[1]|[1]|[1]".split()


@pytest.mark.parametrize("instances", ["all", "none", "check"])
def test_instances(instances, tmp_path):
    program = """
from quern import njit
n = 1200
scope = dict(njit=njit)
names = ", ".join(f"a{i}" for i in range(n))
exec(compile(f'''
@njit
def g({names}):
    s = 0
    for i in range(a{n - 1}):
        s += a0 * i + a{n - 2}
    return s
def f(x):
    return g({", ".join(f"x + {i}" for i in range(n))}) + g({", ".join(f"x - {i}" for i in range(n - 1))}, 7)
''', "many.py", "exec"), scope)
print(njit(scope["f"])(3) == scope["f"](3))
"""
    assert run(program, tmp_path, QUERN_INSTANCES=instances) == ["True"]


@pytest.mark.parametrize("n", [60, 129, 300, 500, 1500])
def test_kernels(device, n):
    """What does not fit the parameters of a GPU's kernels is refused."""
    plain = made(f"def f(out, {', '.join(names(n))}):\n    out[0] = {' + '.join(names(n))}")
    kernel, out = cuda.jit(plain), np.zeros(1)
    if device != "cpu" and n > 511:
        with pytest.raises(errors.TypingError, match="kernel parameters take [0-9]+ bytes; the limit is 4096"):
            kernel[1, 1](out, *range(n))
        return
    kernel[1, 1](out, *range(n))
    assert out[0] == n * (n - 1) // 2
    kernel[1, 1](out=out, **dict(zip(names(n), range(1, n + 1))))
    assert out[0] == n * (n + 1) // 2


@pytest.mark.parametrize("n", [30, 127, 300])
def test_kernels_of_many_arrays(device, n):
    plain = made(f"def f({', '.join(names(n))}):\n    a0[0] = a1[0] + 2 * a{n - 1}[0]\n    a{n - 2}[0] = -1")
    kernel = cuda.jit(plain)
    arrays = [np.full(1, float(i)) for i in range(n)]
    kernel[1, 1](*arrays)
    assert arrays[0][0] == 1 + 2 * (n - 1) and arrays[n - 2][0] == -1
    there = [cuda.to_device(np.full(1, float(i))) for i in range(n)]
    kernel[1, 1](*there)
    assert there[0].copy_to_host()[0] == 1 + 2 * (n - 1) and there[n - 2].copy_to_host()[0] == -1


def test_device_functions_and_result_types():
    n = 300
    function = cuda.jit(device=True)(picking(n))
    source = f"def f(out):\n    out[0] = g({', '.join(f'out.size + {i}' for i in range(n))})"
    out = np.zeros(3)
    cuda.jit(made(source, g=function))[1, 1](out)
    assert out[0] == function.py_func(*range(3, n + 3))
