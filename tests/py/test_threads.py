"""Many threads at once in the calling layer; under a free-threaded CPython they really run at once."""
import gc
import sys
import sysconfig
import threading

import numpy as np
import pytest
from threaded import in_threads

from quern import cuda, njit, vectorize

FREE = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def together(work, n=8):
    """Runs work(k) in n threads that start at one moment; the first exception is raised here."""
    failures = in_threads(work, n)
    if failures:
        raise failures[0]


@pytest.mark.skipif(not FREE, reason="this CPython has a GIL")
def test_THR_the_module_needs_no_GIL():
    assert not sys._is_gil_enabled()


def test_THR_first_calls_of_many_types():
    """One specialisation for each signature, whoever comes first."""
    kinds = [1, 1.5, 1j, True, np.int8(1), np.float32(1.5), np.uint16(3)]
    for _ in range(3):
        f = njit(lambda x, y: x + y)

        def work(k):
            for i in range(len(kinds)):
                x = kinds[(i + k) % len(kinds)]
                assert f(x, 2) == f.py_func(x, 2)

        together(work)
        assert len(f.signatures) == len(kinds) and len(set(f.signatures)) == len(kinds)


def test_THR_hot_calls_while_specialisations_come():
    f = njit(lambda a, x: a[0] + x)
    a = np.ones(4)
    f(a, 1)

    def work(k):
        for i in range(300):
            if k == 0 and i % 100 == 0:
                f(np.ones(4, [np.int8, np.int16, np.float32][i // 100]), 1)
            assert f(a, 1) == 2.0 and f(a, 1.5) == 2.5

    together(work)


def test_THR_recompile_while_others_call():
    space = {"k": 1}
    f = njit(eval("lambda x: x + k - k", space))
    f(1), f(1.5)
    stop = threading.Event()

    def work(k):
        if k == 0:
            try:
                for i in range(8):
                    space["k"] = i
                    f.recompile()
                    assert len(f.signatures) == 2
            finally:
                stop.set()
        while not stop.is_set():
            assert f(7) == 7 and f(7.5) == 7.5

    together(work, 5)
    assert f(1) == 1


def test_THR_function_arguments_come_and_go():
    f = njit(lambda g, x: g(x) + 1)

    def work(k):
        for i in range(12):
            g = eval("lambda x: x * c", {"c": 10 * k + i})
            for _ in range(3):
                assert f(g, 2) == 2 * (10 * k + i) + 1
            h = njit(eval("lambda x: x - c", {"c": k}))
            assert f(h, 2) == 3 - k

    together(work, 6)
    gc.collect()
    # CPython 3.13 without a GIL makes functions immortal as soon as there are threads
    assert len(f.signatures) == (6 * 12 if FREE and sys.version_info < (3, 14) else 0)


def test_THR_tuples_get_one_key():
    f = njit(lambda t: t[0] + t[1])

    def work(k):
        for i in range(100):
            t = tuple([1, 2.5, True, 3][(i + j) % 4] for j in range(2 + i % 5))
            assert f(t) == t[0] + t[1]

    together(work)
    assert len(f.signatures) == len(set(f.signatures))


def test_THR_defaults_are_replaced_under_calls():
    @njit
    def f(n, a=np.ones(1 << 12), *, b=np.ones(1 << 12)):
        s = 0.0
        for i in range(n):
            s += a[i] * b[i]
        return s

    def work(k):
        for i in range(150):
            if k < 2:
                f.py_func.__defaults__ = (np.ones(1 << 12),)
                f.py_func.__kwdefaults__["b"] = np.ones(1 << 12)
            else:
                assert f(1 << 12) == 1 << 12

    together(work)


def test_THR_first_launches_and_declared_kernels():
    for _ in range(3):
        @cuda.jit
        def lazy(a, x):
            i = cuda.grid(1)
            if i < a.shape[0]:
                a[i] += x

        @cuda.jit("void(float64[::1], float64)")
        def declared(a, x):
            i = cuda.grid(1)
            if i < a.shape[0]:
                a[i] += x

        def work(k):
            a = np.zeros(100)
            for i in range(5):
                lazy[4, 32](a, 1.0)
                declared[4, 32](a, 2.0)
            assert a.tolist() == [15.0] * 100

        together(work)


def test_THR_ufuncs_get_loops():
    for _ in range(3):
        g = vectorize(lambda x, y: x + y)

        def work(k):
            for i in range(10):
                dtype = [np.float64, np.float32, np.int64, np.int32, np.int16, np.complex128][(i + k) % 6]
                assert g(np.ones(5, dtype), np.ones(5, dtype)).tolist() == [2] * 5

        together(work)
        assert len(g.types) == len(set(g.types)) == 6


def test_THR_decorating_calling_and_dropping():
    def work(k):
        for i in range(6):
            f = njit(eval("lambda x: x + c", {"c": k}))
            assert f(i) == i + k and f(i + 0.5) == i + 0.5 + k
            u = vectorize(eval("lambda x: x * c", {"c": k}))
            assert u(np.ones(3)).tolist() == [k] * 3
            if i % 3 == 0:
                gc.collect()

    together(work)
