"""Kernels with pointers in their signatures, and device functions compiled by themselves."""
import ctypes
import pickle

import numpy as np
import pytest

from quern import carray, cuda, errors, farray, float32, float64, int32, int64, types, uint32, void

POINTER = types.CPointer(int32)


@cuda.jit(void(POINTER, int32, POINTER, POINTER, uint32))
def axpy(r, a, x, y, n):
    i = cuda.grid(1)
    if i < n:
        r[i] = a * x[i] + y[i]


def address(array):
    return array.gpu_data.device_pointer


def test_F03_addresses_and_arrays(device):
    n = 16
    x, y = cuda.to_device(np.arange(n, dtype=np.int32)), cuda.to_device(np.arange(n, dtype=np.int32) * 2)
    for arguments in (lambda r: (address(r), 5, address(x), address(y), n),
                      lambda r: (r.device_ctypes_pointer, 5, np.uint64(address(x)), y, n),
                      lambda r: (r, 5, x, y, n)):
        for kernel in (axpy, pickle.loads(pickle.dumps(axpy))):
            r = cuda.to_device(np.zeros(n, np.int32))
            kernel[1, 32](*arguments(r))
            np.testing.assert_equal(r.copy_to_host(), np.arange(n) * 7)
    axpy[1, 32](0, 5, ctypes.c_void_p(None), 0, 0)
    half = cuda.to_device(np.zeros(n, np.int32))
    axpy[1, 32](address(half) + 8 * 4, 1, address(x) + 4, address(y), 3)
    assert half.copy_to_host().tolist() == [0] * 8 + [1, 4, 7] + [0] * 5


def test_F03_overlapping_pointers(device):
    @cuda.jit(void(types.CPointer(float64), types.CPointer(float64), int64))
    def shift(to, of, n):
        if cuda.grid(1) == 0:
            for i in range(n):
                to[i] = of[i] + 1
    a = cuda.to_device(np.zeros(6))
    shift[1, 1](address(a) + 8, address(a), 5)
    assert a.copy_to_host().tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("view", [carray, farray])
def test_F03_views(device, view):
    @cuda.jit(void(types.CPointer(float32), int64))
    def add(pointer, n):
        a = view(pointer, (n, 2), dtype=float32)
        for i in range(n):
            a[i, 1] += i + 1.5
    a = cuda.to_device(np.zeros((3, 2), np.float32, order="C" if view is carray else "F"))
    add[1, 1](address(a), 3)
    assert a.copy_to_host().tolist() == [[0, 1.5], [0, 2.5], [0, 3.5]]


def test_F03_bytes(device):
    @cuda.jit((types.voidptr, uint32))
    def add_one(x, n):
        i = cuda.grid(1)
        if i < n:
            x[i] += 1
    x = cuda.to_device(np.arange(10, dtype=np.uint8))
    add_one[1, 32](address(x), len(x))
    assert x.copy_to_host().tolist() == list(range(1, 11))
    with pytest.raises(ValueError, match="argument 1 is no address: -1"):
        add_one[1, 32](-1, 1)
    with pytest.raises(TypeError):
        add_one[1, 32](1.5, 1)


@pytest.mark.optimised
def test_device_functions_by_themselves():
    @cuda.jit(device=True)
    def foo(x, y):
        return x * y + x

    made = foo.compile_device((int32, int32))
    assert "foo" in made.fndesc.mangled_name
    assert made.mangled_name in foo.inspect_llvm((int32, int32)) and f".func  (.param .b64 func_retval0) {made.mangled_name}" in made.ptx
    assert made.ptx == foo.inspect_asm((int32, int32))
    assert "fma.rn.f64" in foo.inspect_asm((float64, float64))
    assert "fma.rn.f64" not in cuda.jit(device=True, opt=False)(foo.py_func).inspect_asm((float64, float64))
    with pytest.raises(TypeError, match="is a kernel"):
        axpy.compile_device((int32,))
    with pytest.raises(errors.TypingError):
        cuda.jit(device=True)(lambda x: x + "a").compile_device((int32,))
