"""Arrays on a device as globals and closure variables of kernels, and the attributes of device arrays."""
import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

from quern import cuda, njit
from quern.errors import TypingError

TABLE = None


class Foreign:
    """Another library's array: it has nothing but the interface."""

    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__


def test_a_captured_array_is_read_and_written_in_place(device):
    a = cuda.to_device(np.arange(6, dtype=np.float32))

    @cuda.jit(device=True)
    def read(i):
        return a[i]

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = read(i) * 2
            a[i] = a[i] + 1

    for first in (0, 1):
        out = np.zeros(6, np.float32)
        kernel[2, 3](out)
        assert (out == 2 * (np.arange(6) + first)).all()
    assert (a.copy_to_host() == np.arange(6) + 2).all()


@pytest.mark.parametrize("make", [
    lambda: np.array(3.0), lambda: np.arange(6).reshape(2, 3), lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    lambda: np.arange(4) + 1j, lambda: np.array([True, False]), lambda: np.array([(1, 2.5)], [("n", "i4"), ("x", "f8")])])
def test_dtypes_and_layouts(device, make):
    host = make()
    a, out = cuda.to_device(host), cuda.to_device(np.zeros_like(host))

    @cuda.jit
    def copy():
        for k in range(out.size):
            if out.ndim == 0:
                out[()] = a[()]
            elif out.ndim == 1:
                out[k] = a[k]
            else:
                out[k // 3, k % 3] = a[k // 3, k % 3]

    copy[1, 1]()
    assert (out.copy_to_host() == host).all()


def test_views_have_their_strides(device):
    whole = cuda.to_device(np.arange(24).reshape(4, 6))
    part = whole[::-2, 1::3]

    @cuda.jit
    def negate():
        i, k = cuda.grid(2)
        part[i, k] = -part[i, k]

    negate[1, (2, 2)]()
    expected = np.arange(24).reshape(4, 6)
    expected[::-2, 1::3] *= -1
    assert (whole.copy_to_host() == expected).all()


def test_a_captured_array_may_be_an_argument_too(device):
    """The kernel must not take for granted that arguments and captured arrays lie apart."""
    a = cuda.to_device(np.zeros(8, np.int64))

    @cuda.jit
    def chain(b):
        for i in range(1, 8):
            a[i] = b[i - 1] + 1
            b[i] += 10

    chain[1, 1](a)
    assert a.copy_to_host().tolist() == [0, 11, 22, 33, 44, 55, 66, 77][:1] + [11 * i for i in range(1, 8)]


def test_globals_are_those_of_the_compilation(device):
    global TABLE
    TABLE = first = cuda.to_device(np.arange(3.0))

    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = TABLE[cuda.grid(1)]

    out = np.zeros(3)
    kernel[1, 3](out)
    TABLE = cuda.to_device(np.zeros(3))
    first.copy_to_device(np.array([5.0, 6.0, 7.0]))
    kernel[1, 3](out)
    assert out.tolist() == [5, 6, 7]


def test_the_code_keeps_the_array():
    a = cuda.to_device(np.arange(1000.0))
    kernels = []

    def make(captured):
        @cuda.jit
        def kernel(out):
            out[0] = captured[999]
        return kernel

    kernels.append(make(a))
    out = np.zeros(1)
    kernels[0][1, 1](out)
    kernels[0].py_func.__closure__[0].cell_contents = None
    del a
    again = [cuda.to_device(np.zeros(1000)) for _ in range(4)]
    kernels[0][1, 1](out)
    assert out[0] == 999 and len(again) == 4


def test_arrays_of_other_libraries(device):
    host = np.arange(5.0)
    foreign = Foreign(cuda.to_device(host))
    if device == "cpu":  # the tests' machine has a GPU, or plays one: the interface is not given
        foreign = foreign.array

    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = foreign[cuda.grid(1)] + 1

    out = np.zeros(5)
    kernel[1, 5](out)
    assert (out == host + 1).all()


def test_it_stays_out_of_the_disk_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("QUERN_CACHE_DIR", str(tmp_path))
    a = cuda.to_device(np.arange(3.0))

    @cuda.jit(cache=True)
    def kernel(out):
        out[0] = a[2]

    out = np.zeros(1)
    kernel[1, 1](out)
    reason, = kernel.stats.cache_reasons.values()
    assert out[0] == 2 and "device array" in reason


def test_outside_of_kernels_it_is_refused():
    a = cuda.to_device(np.arange(3.0))

    @njit
    def f():
        return a[0]

    with pytest.raises(TypingError, match="'a' has the type"):
        f()


# -- attributes -----------------------------------------------------------------------------------------------------


def test_H04_attributes_and_methods(device):
    host = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    a = cuda.to_device(host)
    for order in "CA":
        assert (a.ravel(order=order).copy_to_host() == host.ravel(order)).all()
    fortran = cuda.to_device(np.asfortranarray(host))
    for order in "FAK":
        assert (fortran.ravel(order).copy_to_host() == host.ravel("F")).all()
    with pytest.raises(NotImplementedError):
        a.ravel("F")
    assert isinstance(a.device_ctypes_pointer, ctypes.c_void_p) and a.device_ctypes_pointer.value == a.device_pointer
    assert [row.copy_to_host().tolist() for row in a] == host.tolist()
    assert list(cuda.to_device(np.arange(3))) == [0, 1, 2]
    with pytest.raises(TypeError, match="0-d"):
        iter(cuda.to_device(np.array(1.0)))
    a.fill(7)
    assert (a.copy_to_host() == 7).all()
    stream = cuda.stream()
    a.setitem((0, 0, slice(None)), 9, stream)
    assert a.getitem((0, 0, 1), stream=stream) == 9 and a[1, 0, 0] == 7


def test_H05_streams_of_arrays(device):
    stream = cuda.stream()
    a = cuda.to_device(np.arange(3))
    assert a.stream == 0
    bound = a.bind(stream)
    assert int(bound.stream) == stream.handle and not bound.stream.external and bound.device_pointer == a.device_pointer
    assert bound.stream == stream and hash(bound.stream) == hash(stream) and bound.stream != cuda.stream()
    assert bound.bind().stream == 0
    bound[1] = 5
    assert a.copy_to_host().tolist() == [0, 5, 2]
    assert cuda.external_stream(stream.handle).external


WITHOUT_A_GPU = """
import numpy as np
from quern import cuda, guvectorize, vectorize

class Foreign:
    def __init__(self, array):
        self.array = array

    @property
    def __cuda_array_interface__(self):
        return self.array.__cuda_array_interface__

stream = cuda.stream()
a = cuda.device_array((2, 3), np.float32, stream=stream)
interface = a.__cuda_array_interface__
assert interface["stream"] == stream.handle and interface["strides"] is None and interface["shape"] == (2, 3)
assert cuda.device_array(0).__cuda_array_interface__["data"][0] == 0
same = cuda.as_cuda_array(Foreign(a))
assert same.device_pointer == a.device_pointer and same.stream.handle == stream.handle and same.stream.external
foreign = Foreign(a)

@cuda.jit
def kernel(b):
    b[1, 2] = 4
    foreign[0, 0] = 5

kernel[1, 1](Foreign(a))
assert a[1, 2] == 4 and a[0, 0] == 5

@vectorize(["f4(f4, f4)"], target="cuda")
def plus(x, y):
    return x + y

@guvectorize(["f4, f4, f4[:]"], "(),()->()", target="cuda")
def times(x, y, out):
    out[0] = x * y

a.fill(3)
for function, expected in ((plus, 5), (times, 6)):
    assert (function(Foreign(a), np.float32(2)).copy_to_host() == expected).all()
    out = cuda.device_array((2, 3), np.float32)
    returned = function(Foreign(a), np.float32(2), out=Foreign(out))
    assert returned.device_pointer == out.device_pointer and (out.copy_to_host() == expected).all()
"""


def test_H09_the_interface_of_arrays_of_the_cpu_device():
    """It is given where no GPU is, whose memory others would take it for."""
    environment = {**os.environ, "QUERN_CUDA_LIBRARY": "/none/libcuda.so", "QUERN_HIP_LIBRARY": "/none/libamdhip64.so"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", WITHOUT_A_GPU], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_H09_beside_a_gpu_it_is_not_given():
    if not cuda.is_available():
        pytest.skip("no driver")
    with pytest.raises(AttributeError, match="others would look for it"):
        cuda.to_device(np.zeros(3)).__cuda_array_interface__
