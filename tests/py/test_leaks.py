"""Nothing is kept, and nothing is given away twice: every way in and out of Quern, done often, leaves the number of
Python's blocks, the bytes of the C heap, the references of shared objects and the driver's handles where they were."""
import ctypes
import gc
import os
import sys
from collections import namedtuple

import numpy as np
import pytest

from quern import _quern, cuda, hip, njit, types, vectorize


class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def used():
    """Bytes of the C heap in use, mapped ones too."""
    try:
        info = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return 0
    info.restype = Heap
    found = info()
    return found.uordblks + found.hblkhd


def handles():
    """Streams, events, modules and memory that the stand-in driver has given out and not got back."""
    path = os.environ.get("QUERN_CUDA_LIBRARY", "")
    live = getattr(ctypes.CDLL(path), "fakecuda_live_handles", None) if "fakecuda" in path else None
    return live() if live else 0


SHARED = [np.dtype(np.float64), np.dtype(np.int64), types.float64, int, float, tuple, ValueError]
Pair = namedtuple("Pair", "left right")


def state():
    gc.collect()
    cuda.synchronize()  # unloads what is gone
    return sys.getallocatedblocks(), used(), handles(), [sys.getrefcount(s) for s in SHARED]


def check(work, times, bytes_each=30):
    for _ in range(times):
        work()
    for _ in range(8):  # what grows once (caches, free lists) does not count: a leak grows each time
        before = state()
        for _ in range(times):
            work()
        after = state()
        blocks, size, open_handles = ((y - x) / times for x, y in zip(before[:3], after))
        references = {str(s): (y - x) / times for s, x, y in zip(SHARED, before[3], after[3]) if abs(y - x) > times / 2}
        if blocks < 0.9 and size < bytes_each and open_handles < 0.5 and not references:
            return
    raise AssertionError(f"each time {blocks} blocks of Python and {size} bytes stay, {open_handles} handles and references to {references}")


def made(source, name, **scope):
    """A function that nothing else knows, far down in a file: its line is not a number that Python keeps."""
    exec(compile("\n" * 1000 + source, "leaks.py", "exec"), scope)
    return scope[name]


def caught(error, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


@njit
def mixed(a, pair, flag=3, *, scale=2.0):
    a[0] += pair[0] * flag
    return scale, (pair[1], a[1:])


@njit("float64(float64)")
def declared(x):
    return x * 2


@njit
def failing(x):
    if x > 0:
        raise ValueError("no", x)
    return x


@njit
def largest(n, a):
    kept = np.zeros(n + 300)
    return kept[0] + a[:n].max()


@vectorize
def product(x, y):
    return x * y + 1


@cuda.jit
def twice(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * 2


@cuda.jit(debug=True)
def stops(a):
    if a[cuda.grid(1)] < 1e9:
        raise ValueError("stop")


HOST, OUT, ZERO = np.arange(256.0), np.empty(256), np.zeros(4)  # NumPy's makers of arrays keep references to dtypes


def a_call():
    mixed(HOST, (1.5, 2))


def a_refused_call():
    caught(TypeError, declared, "text")
    caught(TypeError, declared, HOST)
    caught(TypeError, mixed, 1, 2, 3, 4, 5)
    caught(TypeError, mixed, HOST, Pair(1, 2), wrong=3)


def an_exception():
    caught(ValueError, failing, 2.5)


def an_exception_of_a_reduction():
    caught(ValueError, largest, 0, HOST)


def a_ufunc():
    product(HOST, 2.0)
    product(1, 2)
    product(HOST, HOST, out=OUT)
    caught(ValueError, product, HOST, HOST[:3])


def texts():
    repr(mixed), mixed.signatures, str(types.float64[:]), repr(product), repr(twice)


def a_method():
    class Holder:
        run = mixed
    return Holder().run


def a_launch():
    twice[4, 64](HOST, OUT)
    assert OUT[255] == 510


def a_launch_that_raises():
    caught(ValueError, stops[4, 64], HOST)


def a_refused_launch():
    caught(Exception, twice[4, 64], HOST)
    caught(Exception, twice[4, 64], HOST, object())
    caught(Exception, lambda: twice[0, 64](HOST, HOST))


def device_arrays():
    a = cuda.to_device(HOST)
    b = cuda.device_array_like(a)
    b.copy_to_device(a)
    b[10:20].copy_to_host(OUT[:10])
    b[3] = 4.0
    assert b[3] == 4.0
    c = a.reshape(16, 16)[2:, ::2]
    repr(c)
    caught(Exception, lambda: a[1000])
    caught(Exception, a.copy_to_device, HOST[:3])


class Foreign:
    def __init__(self, array, typestr):
        self.array = array
        self.__cuda_array_interface__ = dict(array.__cuda_array_interface__, typestr=typestr)


def foreign_arrays():
    a = cuda.to_device(HOST)
    b = cuda.as_cuda_array(Foreign(a, "<f8"))
    assert b.copy_to_host(OUT)[5] == 5
    caught(Exception, cuda.as_cuda_array, Foreign(a, "|V7"))


def streams():
    stream, event = cuda.stream(), cuda.event()
    a = cuda.to_device(HOST, stream=stream)
    out = cuda.device_array(256, stream=stream)
    twice[4, 64, stream](a, out)
    event.record(stream)
    event.wait(cuda.stream())
    twice[4, 64, cuda.stream()](out, a)  # both belong to two streams now
    out.copy_to_host(OUT, stream=stream)
    event.synchronize()
    stream.synchronize()
    cuda.synchronize()


def pinned():
    cuda.pinned_array(100)
    cuda.pinned_array(1, np.int8)
    with cuda.pinned(OUT):
        pass
    cuda.mapped_array(100)


QUICK = [a_call, a_refused_call, an_exception, an_exception_of_a_reduction, a_ufunc, texts, a_method, a_launch, a_launch_that_raises, a_refused_launch, device_arrays,
         streams, pinned]


@pytest.mark.parametrize("work", QUICK, ids=lambda work: work.__name__)
def test_MEM_a_thing_done_often_keeps_nothing(device, work):
    check(work, 100, {"cpu": 30, "cuda": 500, "hip": 1000}[device])  # the stand-in drivers remember all handles


@pytest.mark.skipif("_quern.device_count('cuda')[0] == 0", reason="no CUDA device, and the stand-in driver was not built")
def test_MEM_foreign_arrays_are_given_back():
    _quern.pin_device("cuda")
    check(foreign_arrays, 100, 500)


# -- compilations --------------------------------------------------------------------------------------------------


def compiled():
    f = njit(made("def f(argument, other=(1, 2.5), *, named=4):\n    result = argument\n    return result, other", "f"))
    assert f(3) == (3, (1, 2.5))


def declared_locals():
    f = njit(made("def f(argument):\n    variable = argument\n    return variable", "f"), locals={"variable": types.float64})
    assert f(3) == 3.0


def opaque_global():
    def helper():
        """A global that compiled code may name and not use."""
    def maker():
        class Something:
            pass
        return Something
    f = njit(made("def f(x):\n    if False:\n        return thing\n    return x", "f", thing=maker()))
    caught(Exception, njit(made("def f(x):\n    return thing(x)", "f", thing=maker())), 1)
    caught(Exception, njit(made("def f(x):\n    return thing(x)", "f", thing=maker()())), 1)
    caught(Exception, njit(made("def f(x):\n    return thing(x)", "f", thing=helper)), "text")
    f(1)


def refused_compilation():
    caught(Exception, njit(made("def f(argument):\n    return argument.missing + [1]", "f")), 3)
    caught(Exception, njit("int64(int64)"), made("def f(argument):\n    return 'text' @ argument", "f"))


def refused_by_the_target():
    kernel = made("def kernel(a):\n    a[0] = 1", "kernel")
    caught(Exception, hip.compile, kernel, "void(float64[::1])", arch="none")


def compiled_kernel():
    kernel = cuda.jit(made("def kernel(a):\n    a[cuda.grid(1)] = 1", "kernel", cuda=cuda))
    kernel[1, 4](OUT)


def compiled_kernel_that_raises():
    kernel = cuda.jit(made("def kernel(a):\n    a[cuda.grid(1)] = 1 // int(a[0])", "kernel", cuda=cuda), debug=True)
    ZERO[0] = 0
    caught(ZeroDivisionError, kernel[1, 4], ZERO)


def explained():
    f = njit(made("def f(argument, option=2):\n    return argument + option", "f"))
    f.explain(3, option=4)
    caught(Exception, f.explain, 3, wrong=4)


def compiled_ufunc():
    u = vectorize(made("def f(x, y):\n    return x + y", "f"))
    u(HOST, HOST, out=OUT)


SLOW = [compiled, declared_locals, opaque_global, refused_compilation, refused_by_the_target, compiled_kernel, explained, compiled_ufunc]


@pytest.mark.parametrize("work", SLOW, ids=lambda work: work.__name__)
def test_MEM_what_was_compiled_goes_with_its_function(work):
    check(work, 40 if work is compiled_ufunc else 100)


@pytest.mark.skipif("_quern.device_count('cuda')[0] == 0", reason="no CUDA device, and the stand-in driver was not built")
@pytest.mark.parametrize("work", [compiled_kernel, compiled_kernel_that_raises], ids=lambda work: work.__name__)
def test_MEM_kernels_are_unloaded(work):
    _quern.pin_device("cuda")
    check(work, 30, 100000)
