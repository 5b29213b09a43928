"""Functions that C calls (cfunc, carray, farray), and functions of C that compiled code calls (ctypes, cffi, Cython's capsules);
issue 8, FEATURES D20, B07."""
import ctypes
import ctypes.util
import gc
import math
import sys
import threading
import types as python_types

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import carray, cfunc, errors, extending, farray, njit, types

libm, libc = ctypes.CDLL(ctypes.util.find_library("m")), ctypes.CDLL(None)


def declared(library, name, result, *parameters):
    function = getattr(library, name)
    copied = ctypes.CFUNCTYPE(result, *parameters)(ctypes.cast(function, ctypes.c_void_p).value)
    copied.argtypes, copied.restype, copied.__name__ = parameters, result, name
    return copied


# -- called by C ---------------------------------------------------------------------------------------------------

def test_a_function_with_an_address():
    @cfunc("float64(float64, float64)")
    def add(a, b):
        """Adds."""
        return a + b
    assert add.ctypes(2.5, 3) == 5.5 and add(1, 2) == 3 and add.__name__ == "add" and add.__doc__ == "Adds."
    assert isinstance(add.address, int) and isinstance(add.native_name, str) and "define" in add.inspect_llvm()
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(add.address)(1, 2) == 3
    assert "C function" in repr(add)


@pytest.mark.parametrize("name, low, high", [(f"{u}int{n}", 0 if u else -1 << n - 1, (1 << n - (not u)) - 1)
                                              for n in (8, 16, 32, 64) for u in ("", "u")])
def test_ints_of_every_width(name, low, high):
    t = getattr(types, name)

    @cfunc(t(t, t, t))
    def middle(a, b, c):
        return b
    for value in (low, high, 0, 1, 77):
        assert middle.ctypes(low, value, high) == value


def test_other_numbers():
    @cfunc(types.boolean(types.boolean, types.float32))
    def both(a, x):
        return a and x > 0.5
    assert both.ctypes(True, 0.75) is True and both.ctypes(True, 0.25) is False and both.ctypes(False, 1) is False

    @cfunc("float32(float32)")
    def half(x):
        return x / 2
    assert half.ctypes(np.float32(0.1)) == np.float32(0.1) / 2

    calls = np.zeros(1)

    @cfunc("void(CPointer(float64))")
    def count(p):
        p[0] += 1
    assert count.ctypes(calls.ctypes.data) is None and calls[0] == 1


def test_more_arguments_than_registers():
    @cfunc(types.float64(*[types.int32, types.float64] * 10))
    def total(a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5, a6, b6, a7, b7, a8, b8, a9, b9):
        return a0 + 2 * a9 + 3 * b0 + 4 * b9 + b4 * a5
    values = list(range(1, 21))
    assert total.ctypes(*values) == 1 + 2 * 19 + 3 * 2 + 4 * 20 + 10 * 11


def test_qsort_calls_back():
    @cfunc("intc(CPointer(float64), CPointer(float64))")
    def compare(a, b):
        return -1 if a[0] < b[0] else 1 if a[0] > b[0] else 0
    values = np.random.default_rng(1).random(1000)
    wanted = np.sort(values)
    libc.qsort(ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(len(values)), ctypes.c_size_t(8), compare.ctypes)
    assert (values == wanted).all()


def test_arrays_over_pointers():
    @cfunc("void(CPointer(float64), voidptr, intp, intp)")
    def fill(p, q, n, m):
        a, b = carray(p, (n, m)), farray(q, (n, m), np.int32)
        for i in range(n):
            for j in range(m):
                a[i, j] = 10 * i + j
                b[i, j] = -a[i, j]
        c = carray(p, n * m, dtype=np.float64)
        c[0] = c.sum()
    a, b = np.zeros((2, 3)), np.zeros((2, 3), np.int32, order="F")
    fill.ctypes(a.ctypes.data, b.ctypes.data, 2, 3)
    assert a.tolist() == [[36, 1, 2], [10, 11, 12]] and b.tolist() == [[0, -1, -2], [-10, -11, -12]]


def test_it_calls_compiled_functions_and_is_called_by_them():
    @njit
    def helper(xs):
        s = 0.0
        for x in xs:
            s += x
        return s

    @cfunc("float64(intp)")
    def work(n):
        return helper([i * 0.5 for i in range(n)])

    @njit
    def f(n):
        return work(n) + 1
    assert work.ctypes(5) == 5.0 and f(5) == 6.0


def test_EXC_exceptions_are_told_and_end_there(capsys):
    told = []
    before, sys.unraisablehook = sys.unraisablehook, lambda u: told.append((u.exc_type, u.exc_value.args, u.object.__name__))

    @cfunc("float64(int32)")
    def bad(n):
        words = [str(n)] * 3
        if n > 2:
            raise ValueError("too large", n)
        return 1.0 / n + len(words)
    try:
        assert bad.ctypes(3) == 0.0 and bad.ctypes(0) == 0.0 and bad.ctypes(1) == 4.0
    finally:
        sys.unraisablehook = before
    assert told[0] == (ValueError, ("too large", 3), "bad") and told[1][0] is ZeroDivisionError and len(told) == 2


def test_EXC_06_deep_recursion_ends():
    told = []
    before, sys.unraisablehook = sys.unraisablehook, lambda u: told.append(u.exc_type)

    @njit
    def down(n):
        return 0 if n == 0 else down(n - 1) + 1

    @cfunc("intp(intp)")
    def f(n):
        return down(n)
    try:
        assert f.ctypes(100) == 100 and f.ctypes(10**7) == 0
    finally:
        sys.unraisablehook = before
    assert told == [RecursionError]


def test_from_threads_without_python():
    @cfunc("float64(float64)")
    def work(x):
        s = 0.0
        for i in range(1000):
            s += x / (i + 1)
        return s
    results = [0.0] * 4

    def run(k):
        results[k] = sum(work.ctypes(float(k)) for _ in range(50))
    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    one = work(1.0)
    assert np.allclose(results, [50 * k * one for k in range(4)])


def test_the_pointer_keeps_the_code():
    def make():
        @cfunc("float64(float64)")
        def twice(x):
            return 2 * x
        return twice.ctypes
    pointer = make()
    gc.collect()
    assert pointer(4.0) == 8.0


def test_signatures_and_options_are_checked():
    for wrong in (3, "nonsense +", lambda x: x):
        with pytest.raises((TypeError, SyntaxError, NameError)):
            cfunc(wrong)(lambda x: x)
    with pytest.raises(errors.UnsupportedError, match="float64.*C function"):
        cfunc("float64(float64[:])")(lambda x: x[0])
    with pytest.raises(errors.TypingError):
        cfunc("float64(float64)")(lambda x: x.no_such)
    with pytest.raises(TypeError):
        cfunc("(float64,)")(lambda x: x)

    @cfunc("float64(float64, float64)", error_model="numpy", fastmath=True)
    def ratio(a, b):
        return a / b
    assert ratio.ctypes(1.0, 0.0) == math.inf


# -- C that is called ------------------------------------------------------------------------------------------------

cosine = declared(libm, "cos", ctypes.c_double, ctypes.c_double)
power = declared(libm, "powf", ctypes.c_float, ctypes.c_float, ctypes.c_float)
absolute = declared(libc, "abs", ctypes.c_int, ctypes.c_int)
fill_bytes = declared(libc, "memset", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t)
length = declared(libc, "strlen", ctypes.c_size_t, ctypes.c_char_p)
nothing = declared(libc, "srand", None, ctypes.c_uint)


def test_functions_of_ctypes():
    @njit
    def f(x, n):
        nothing(n)
        return cosine(x), power(x, 2), absolute(n), absolute(-n), cosine(n)
    got = f(0.5, 7)
    assert got[0] == cosine(0.5) and got[1] == np.float32(0.25) and got[2:4] == (7, 7) and got[4] == cosine(7)


def test_pointers_are_arrays_ints_and_none():
    @njit
    def f(a, n):
        b = np.ones(4, np.uint8)
        fill_bytes(b, 0, 4)
        fill_bytes(a.ctypes, 1, n)
        p = fill_bytes(a.ctypes.data, 65, 2)
        return p == a.ctypes.data, length(a), b.sum()
    a = np.zeros(6, np.uint8)
    assert f(a, 4) == (True, 4, 0) and a.tolist() == [65, 65, 1, 1, 0, 0]


def test_a_compiled_function_is_called_through_its_pointer():
    @cfunc("int8(int8, uint16, boolean)")
    def narrow(a, b, c):
        return a - b if c else a
    pointer = narrow.ctypes
    pointer.argtypes, pointer.restype = (ctypes.c_int8, ctypes.c_uint16, ctypes.c_bool), ctypes.c_int8

    @njit
    def f(a, b, c):
        return pointer(a, b, c)
    assert f(-5, 3, True) == -8 and f(-128, 65535, False) == -128


def test_callbacks_into_python_from_code_without_the_gil():
    seen = []

    @ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    def back(x):
        seen.append(x)
        return x * 2

    @njit(nogil=True)
    def f(n):
        s = 0.0
        for i in range(n):
            s += back(i)
        return s
    back.argtypes = (ctypes.c_double,)
    assert f(3) == 6.0 and seen == [0.0, 1.0, 2.0]


def test_cythons_capsules():
    module = python_types.ModuleType("quern_test_capsules")
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi))
    name = ctypes.c_char_p(b"double (double)")
    module.__pyx_capi__ = {"cos": make(ctypes.cast(libm.cos, ctypes.c_void_p).value, name, None)}
    sys.modules[module.__name__] = module
    try:
        address = extending.get_cython_function_address(module.__name__, "cos")
        found = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)
        assert njit(lambda x: found(x))(0.5) == cosine(0.5)
    finally:
        del sys.modules[module.__name__]


def test_cffi():
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("double cos(double); int abs(int); void *memset(void *, int, size_t);")
    lib = ffi.dlopen(None)
    c, a, m = lib.cos, lib.abs, lib.memset

    @njit
    def f(x, n, out):
        m(out, 3, 2)
        return c(x), a(n)
    out = np.zeros(3, np.uint8)
    assert f(0.5, -3, out) == (cosine(0.5), 3) and out.tolist() == [3, 3, 0]


def test_what_cannot_be_called_says_so():
    raw = libm.sin
    with pytest.raises(errors.UnsupportedError, match="the C function sin without argtypes"):
        njit(lambda x: raw(x))(0.5)
    with pytest.raises(errors.TypingError, match=r"declared: \(float64\), arrays for pointers"):
        njit(lambda x: cosine(x, x))(0.5)
    with pytest.raises(errors.TypingError, match="cos cannot be called with the arguments"):
        njit(lambda x: cosine(x))("text")

    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int)]
    struct = ctypes.CFUNCTYPE(ctypes.c_int, Pair)(lambda p: 0)
    struct.argtypes = (Pair,)
    with pytest.raises(errors.UnsupportedError, match="other types than numbers and pointers"):
        njit(lambda x: struct(x))(1)


def test_locals_have_their_types():
    @cfunc("float64(float64)", locals={"y": types.float32})
    def narrow(x):
        y = x
        return y
    assert narrow.ctypes(0.1) == float(np.float32(0.1))
    with pytest.raises(TypeError, match="gives types to variables"):
        cfunc("float64(float64)", locals={"y": 3})(lambda x: x)
