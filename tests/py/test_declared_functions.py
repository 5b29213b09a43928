"""Functions of C as arguments (cfunc, ctypes, what has an address), and functions in declared signatures."""
import ctypes
import ctypes.util
import gc
import math

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import cfunc, errors, float64, int64, njit, types

INT = types.FunctionType(int64(int64))


@cfunc("int64(int64)")
def one_more(i):
    return i + 1


@cfunc("int64(int64)")
def two_more(i):
    return i + 2


@njit
def square(x):
    return x * x


@njit
def call(f, x):
    return f(x)


class Addressed(types.WrapperAddressProtocol):
    def __init__(self, function, sig):
        self.c, self.sig = cfunc(sig)(function), sig

    def __wrapper_address__(self):
        return self.c.address

    def signature(self):
        return self.sig


# -- arguments -----------------------------------------------------------------------------------------------------

def test_c_functions_are_arguments():
    @njit
    def both(f, g):
        i = f(2)
        for fun in (f, g):
            i += fun(i)
        return i
    assert both(one_more, two_more) == 16 and both(two_more, one_more) == 21

    @njit
    def composed(fs, x):
        for f in fs[::-1]:
            x = f(x)
        return x

    @cfunc("float64(float64)")
    def plus(x):
        return x + 1.0
    assert composed((plus, square, square, plus), 0.5) == 1.5**4 + 1

    @njit
    def listed(fs, x):
        total = 0
        for f in fs:
            total += f(x)
        return total
    assert listed([one_more, two_more, one_more], 10) == 34

    @njit
    def back(f):
        f(1)
        return f
    assert back(one_more) is one_more


def test_calls_convert_to_the_signature():
    @cfunc("int64(float64)")
    def thrice(x):
        return int(x * 3)

    @cfunc("float64(float64)")
    def same(x):
        return x
    assert call(thrice, 2.5) == 7
    got = call(same, 3)
    assert got == 3.0 and isinstance(got, float)


def test_functions_of_ctypes_and_with_addresses():
    cos = ctypes.CDLL(ctypes.util.find_library("m")).cos
    cos.argtypes, cos.restype = [ctypes.c_double], ctypes.c_double
    assert call(cos, 0.5) == math.cos(0.5)
    tens = Addressed(lambda x: x + 10, int64(int64))
    assert call(tens, 5) == 15

    @njit
    def of_global(x):
        return tens(x)
    assert of_global(7) == 17


def test_an_address_that_is_none():
    class Wrong(types.WrapperAddressProtocol):
        def __wrapper_address__(self):
            return 0

        def signature(self):
            return int64()

    @njit
    def f(g):
        return g()
    with pytest.raises(ValueError, match="must be a positive integer"):
        f(Wrong())


def test_an_address_that_outlives_its_object():
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)

    def adding(k):
        return cfunc("int64(int64)")(lambda i: i + k)
    functions = [prototype(adding(k)._wrapper_address) for k in range(4)]
    gc.collect()
    assert [f(10) for f in functions] == [10, 11, 12, 13]


def test_specialisations_as_functions():
    @njit
    def add(x, y):
        return x + y

    @njit
    def apply(f, x, y):
        return f(x, y)
    add(1, 2), add(1.5, 2.5)
    ints, floats = map(types.CompileResultWAP, add.overloads.values())
    assert apply(ints, 3, 4) == 7 and apply(floats, 3.5, 4.5) == 8.0 and ints(1, 2) == 3


def test_other_objects_are_no_functions():
    with pytest.raises(TypeError, match="cannot be passed"):
        call(object(), 1)


# -- declared signatures -------------------------------------------------------------------------------------------

def test_a_declared_function():
    @njit(int64(INT, int64))
    def bar(f, x):
        return f(x)
    assert bar(square, 3) == 9 and bar(one_more, 3) == 4
    assert bar(square, 4.7) == 16 and bar(square, True) == 1  # converted to int64 as declared
    assert bar(njit(lambda x: x + 7), 1) == 8
    assert len(bar.signatures) == 2  # the third one went with its function
    with pytest.raises(TypeError, match=r"No matching definition .*FunctionType\[int64\(int64\)\], int64"):
        bar(3, 4)
    with pytest.raises(TypeError, match="No matching definition"):
        bar(square, "a")


def test_the_declared_result():
    @njit(float64(INT))
    def real(f):
        return f(3)
    assert real(square) == 9.0 and isinstance(real(square), float)

    @njit((INT,))
    def any_result(f):
        return f(3)
    assert any_result(square) == 9 and isinstance(any_result(square), int)


def test_tuples_of_functions():
    @njit(int64(types.UniTuple(INT, 2)))
    def total(fs):
        x = 0
        for i in range(2):
            x += fs[i](1)
        return x
    assert total((one_more, two_more)) == 5 and total((square, square)) == 2

    @njit
    def each(fs, x):
        for f in fs:
            x = f(x)
        return x
    assert each((square, square), 3) == 81
    with pytest.raises(TypeError, match="No matching"):
        total((1, 2))


def test_one_of_several_signatures():
    vector = types.float64[::1]

    @njit([int64(INT, int64), float64(types.FunctionType(float64(vector)), vector)])
    def caller(f, x):
        return f(x)
    assert caller(square, 5) == 25
    assert caller(njit(lambda c: c.sum()), np.ones(2)) == 2.0


def test_called_from_compiled_code_and_raising():
    class MyError(Exception):
        pass

    @njit
    def picky(x):
        if x > 100:
            raise MyError(x)
        return x + 50

    @njit(int64(INT))
    def again(f):
        x = 0
        for _ in range(10):
            x = f(x)
        return x

    @njit
    def inner():
        return again(picky)
    for function in (inner, lambda: again(picky)):
        with pytest.raises(MyError) as caught:
            function()
        assert caught.value.args == (150,)


def test_functions_that_died_leave_nothing():
    @njit(int64(INT, int64))
    def bar(f, x):
        return f(x)
    for k in range(3):
        assert bar(njit(lambda x, k=k: x + k), 1) == 1 + k
    gc.collect()
    assert bar(square, 2) == 4


def test_a_function_is_no_number():
    with pytest.raises(errors.NumbaError):
        @njit(INT(int64))
        def f(x):
            return x
        f(1)
