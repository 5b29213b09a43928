"""TRAPS section E: closures, globals, constants."""
import gc
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from quern import cuda, errors, njit, vectorize

SCALE = 3
TABLE = np.array([10.0, 20.0, 30.0])
BACKWARDS = np.arange(5.0)[::-1]


def test_GLB_02_globals_are_frozen_when_first_compiled():
    namespace = {"K": 5}
    exec("def f(x): return x + K", namespace)
    f = njit(namespace["f"])
    assert f(1) == 6
    namespace["K"] = 50
    assert f(1) == 6
    assert njit(namespace["f"])(1) == 51


MAKERS = [lambda f: njit("int64(int64, int64)")(f), lambda f: vectorize(["int64(int64, int64)"])(f)]


@pytest.mark.parametrize("make", MAKERS, ids=["jit", "vectorize"])
def test_GLB_02_callers_see_the_globals_that_a_declared_signature_was_compiled_with(make):
    namespace = {"K": 10, "TABLE": np.array([5, 6, 7]), "np": np}
    exec("def pick(a, b): return TABLE[a] + b * K", namespace)
    first = make(namespace["pick"])
    namespace.update(K=20, TABLE=np.array([1, 2, 3]))
    second = make(namespace["pick"])
    both = njit(lambda a, b: (first(a, b), second(a, b)))
    assert (first(2, 3), second(2, 3)) == (37, 63)
    assert both(2, 3) == (37, 63)


def test_GLB_02_cells_and_inner_functions_of_declared_signatures():
    namespace = {"K": 10}
    exec("def make(s):\n    def f(a):\n        def inner(b):\n            return b * K + s\n        return inner(a) + s\n"
         "    def move(to):\n        nonlocal s\n        s = to\n    return f, move", namespace)
    function, move = namespace["make"](3)
    declared = njit("int64(int64)")(function)
    namespace["K"] = 100
    move(7)
    caller = njit(lambda a: declared(a))
    assert declared(2) == caller(2) == 26
    declared.recompile()
    assert declared(2) == njit(lambda a: declared(a))(2) == 214


def test_GLB_02_a_declared_signature_that_calls_itself_and_later_names():
    namespace = {}
    exec("def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)", namespace)
    fib = namespace["fib"] = njit("int64(int64)")(namespace["fib"])
    assert fib(10) == njit(lambda n: fib(n) + 1)(10) - 1 == 55


def test_GLB_03_writing_a_global_array_is_an_error():
    def write(i):
        TABLE[i] = 1.0

    with pytest.raises(errors.TypingError, match="read-only"):
        njit(write)(0)


def test_GLB_04_closure_default():
    def make():
        y = 1.1

        def inner(x, k=y):
            return x + k

        return njit(inner)

    assert make()(4.0) == 5.1


def test_GLB_07_global_arrays_are_constants():
    function = njit(lambda i: TABLE[i] * SCALE)
    assert [function(i) for i in range(3)] == [30.0, 60.0, 90.0]
    with pytest.raises(IndexError):
        function(3)


def test_GLB_08_negative_strides():
    assert [njit(lambda i: BACKWARDS[i])(i) for i in range(5)] == [4, 3, 2, 1, 0]


def test_GLB_09_factory_closures_do_not_share():
    def make(k):
        return njit(lambda x: x * k)

    three, five = make(3), make(5)
    assert (three(2), five(2), three(2)) == (6, 10, 6)


def test_GLB_10_shadowed_builtins():
    namespace = {"range": lambda n: n, "abs": lambda x: x + 100, "njit": njit}
    exec("def f(x): return abs(x)", namespace)
    assert njit(namespace["f"])(-1) == 99
    namespace = {}
    exec("def f(x): return missing_name + x", namespace)
    with pytest.raises((errors.TypingError, NameError), match="missing_name"):
        njit(namespace["f"])(1)


def test_GLB_10_module_alias_and_attribute_chain():
    import numpy as other_name

    assert njit(lambda x: other_name.sqrt(x))(9.0) == 3.0
    assert njit(lambda x: math.pi * x)(2.0) == 2 * math.pi
    from math import sin as renamed

    assert njit(lambda x: renamed(x))(1.0) == math.sin(1.0)


def test_GLB_10_empty_cell():
    def outer():
        def inner(x):
            return x + later

        compiled = njit(inner)
        with pytest.raises((errors.TypingError, NameError)):
            compiled(1)
        later = 2
        return compiled(1)

    assert outer() == 3


def test_module_in_a_closure_variable():
    """As GPU puzzles do it: the kernel is a nested function whose `cuda` is a free variable."""
    def make(device):
        def kernel(out, a):
            i = device.threadIdx.x
            out[i] = a[i] + 10

        return device.jit(kernel)

    a, out = np.arange(4.0), np.zeros(4)
    make(cuda)[1, 4](out, a)
    assert out.tolist() == [10, 11, 12, 13]


def test_tuple_globals_and_nested_functions():
    assert njit(lambda i: PAIR[0] * i + PAIR[1][1])(2) == 5 * 2 + 7
    assert njit(lambda x: helper(x) + helper(2.0))(1) == helper(1) + helper(2.0)


PAIR = (5, (6, 7))


def helper(x):
    return x * SCALE + 1


# -- large arrays stay where they are ------------------------------------------------------------------------------------

GROWTH = """
import resource
import numpy as np
from quern import njit
BIG = np.arange(8_000_000.0)
f = njit(lambda i, x: BIG[i] * x)
njit(lambda i, x: i * x)(1, 2.0)  # what compiling itself takes
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
for x in (1, 2.0, 3j, np.float32(4)):
    assert f(7, x) == 7 * x
print(peak() - before)
"""


def test_positions_in_mixed_tuples_may_be_computed():
    @njit
    def f(x):
        t = (x, 2.5, "text")
        return t[SCALE >> 0 >> 1], t[SCALE - 3 << 5], len(t[SCALE // 2 + 1]), t[-SCALE % 4]

    assert f(7) == (2.5, 7, 4, 2.5)


def test_R08_specialisations_share_a_large_global():
    done = subprocess.run([sys.executable, "-c", GROWTH], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 16, done.stdout  # MB; each copy would be 61


def large_arrays():
    flat = np.arange(200 * 600.0)
    grid = flat.reshape(200, 600)
    readonly = flat.copy()
    readonly.flags.writeable = False
    return {
        "C": flat, "two axes": grid, "Fortran": np.asfortranarray(grid), "transposed": grid.T, "every second": grid[:, ::2],
        "backwards": flat[::-1], "backwards twice": grid[::-1, ::-3], "broadcast": np.broadcast_to(np.arange(600.0), (200, 600)),
        "three axes": np.arange(120000, dtype=np.int32).reshape(40, 50, 60).transpose(1, 2, 0)[:, ::-1],
        "bool": np.arange(110000) % 3 == 0, "complex": (np.arange(20000) + 1j).astype(np.complex64)[::-1], "read-only": readonly,
        "unaligned": np.frombuffer(b"x" + flat.tobytes(), np.uint8)[1:].view(float), "half": (np.arange(110000) % 100).astype(np.float16),
    }


@pytest.mark.parametrize("name", large_arrays())
def test_R08_large_globals_of_every_layout(name):
    table = large_arrays()[name]
    dims = table.ndim
    space = {"T": table}
    exec(f"def get(i, j, k): return T[{', '.join('ijk'[:dims])}]\ndef whole(): return T\ndef part(i): return T[i]", space)
    get, whole, part = (njit(space[n]) for n in ("get", "whole", "part"))
    random = np.random.default_rng(1)
    for _ in range(50):
        index = [int(random.integers(-n, n)) for n in table.shape]
        assert get(*index, *[0] * (3 - dims)) == table[tuple(index)]
    for axis in range(dims):
        for wrong in (table.shape[axis], -table.shape[axis] - 1):
            with pytest.raises(IndexError):
                get(*[wrong if k == axis else 0 for k in range(3)])
    copy = whole()
    assert np.array_equal(copy, table) and not np.shares_memory(copy, table)
    assert np.array_equal(part(1), table[1])


def test_R08_the_code_keeps_its_array():
    def make():
        big = np.arange(100_000.0)
        return njit(lambda i: big[i])

    f = make()
    assert f(5) == 5
    gc.collect()
    others = [np.zeros(100_000) for _ in range(4)]
    assert f(99_999) == 99_999 and f(np.int8(7)) == 7 and len(others) == 4
    pid = os.fork()
    if pid == 0:
        os._exit(0 if f(77) == 77 and f(np.int16(1)) == 1 else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_R08_large_globals_are_read_in_place():
    """As documented: a write of the user reaches compiled code, all specialisations alike."""
    space = {"T": np.arange(20000.0)}
    exec("def f(i): return T[i]", space)
    f = njit(space["f"])
    assert f(1) == 1 and f(np.int8(2)) == 2
    space["T"][1:3] = 99
    assert f(1) == f(np.int8(2)) == f(np.int16(1)) == 99


def test_R08_other_byte_orders_are_refused():
    space = {"T": np.arange(70000, dtype=">i4")}
    exec("def f(i): return T[i]", space)
    with pytest.raises(errors.TypingError, match="'T'"):
        njit(space["f"])(1)


def test_R08_kernels_have_their_own_copy(device):
    big = np.arange(20_000.0)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = big[i + 100]

    out = np.zeros(32)
    kernel[1, 32](out)
    assert np.array_equal(out, big[100:132])


@pytest.mark.parametrize("width", [0, 0.0, -0.0, 1, 0.5, math.nan, math.inf, -3, 2**60, np.float32(0.1), np.float64(0.1), True])
def test_GLB_02_branches_that_known_floats_decide(width):
    """As with ints, the branch not taken is not compiled: it may name what is not there."""
    absent = None

    def above(x):
        return x + 1

    def make(wide, narrow):
        def f(x):
            return wide(x) if width > 0.0 else narrow(x)
        return f

    f = make(above, absent) if width > 0.0 else make(absent, above)
    if type(width) in (int, float, bool, np.float64) and abs(width) < 2**53 or width in (math.inf,):
        assert njit(f)(3) == 4

    def ask():
        return (width == 0.1, width != 0.5, width < 1.5, width <= 0.5, 0.5 > width, 1.5 >= width, 1 if width else 2, not width)

    assert njit(ask)() == ask()
