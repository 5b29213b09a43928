"""TRAPS section E: closures, globals, constants."""
import math

import numpy as np
import pytest

from quern import cuda, errors, njit

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
