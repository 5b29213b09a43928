"""D10: locals={'x': float32} gives variables their types, as in Numba."""
import numpy as np
import pytest

from quern import cuda, errors, hip, njit, types, vectorize
from quern.types import float32, float64, int8, int32, int64, uint8, uint64


def total(a):
    s = 0.0
    for x in a:
        s += x
    return s


def test_D10_every_assignment_converts():
    a = np.full(3, 0.1)
    f = njit(locals={"s": float32})(total)
    by_hand = np.float32(0)
    for x in a:
        by_hand = np.float32(by_hand + x)
    assert f(a) == float(by_hand) != njit(total)(a) and f.nopython_signatures[0].return_type == float32


def test_D10_integers_wrap_and_floats_are_cut():
    def f(n):
        x = n
        y = n * 1.75
        return x, y

    g = njit(locals={"x": int8, "y": int32})(f)
    assert g(300) == (44, 525) and g(-1) == (-1, -1)
    assert g.nopython_signatures[0].return_type == types.Tuple((int8, int32))


def test_D10_parameters_and_loop_variables():
    def f(n):
        s = n
        for i in range(5):
            s = i
        return n, s, i

    g = njit(locals={"n": uint8, "i": uint64})(f)
    assert g(300) == (44, 4, 4)
    assert g.nopython_signatures[0].return_type[0] == uint8 and g.nopython_signatures[0].return_type[2] == uint64


def test_D10_of_a_callee_and_not_of_its_caller():
    inner = njit(locals={"x": float32})(lambda x: x)

    def f(x):
        y = inner(x)
        return y, x

    assert njit(f)(0.1) == (np.float32(0.1), 0.1)


def test_D10_names_that_are_no_variables_are_ignored_and_texts_are_types():
    assert njit(locals={"nothing": float32, "x": "float32"})(lambda x: x)(0.1) == np.float32(0.1)
    with pytest.raises(TypeError, match="gives types to variables, not 3 to 'x'"):
        njit(locals={"x": 3})(lambda x: x)


def test_D10_bools_arrays_and_none():
    def f(a, n):
        flag = n
        b = a
        c = None
        return flag, b.shape, c

    g = njit(locals={"flag": types.boolean, "b": float64[:], "c": types.none})(f)
    assert g(np.zeros(3), 7) == (True, (3,), None) and g(np.zeros(2), 0)[0] is False


def test_D10_what_cannot_be_converted():
    def f(a):
        x = a
        return 1

    with pytest.raises(errors.TypingError, match=r"float64\[::1\].*int64"):
        njit(locals={"x": int64})(f)(np.zeros(3))
    with pytest.raises(errors.TypingError, match=r"cannot convert int to ListType\[int64\]"):
        njit(locals={"x": types.ListType(int64)})(f)(1)
    with pytest.raises(errors.UnsupportedError, match=r"the type ffi"):
        njit(locals={"x": types.ffi})(f)(1)


def test_D10_vectorize():
    f = vectorize(["float64(float64)"], locals={"y": float32})(lambda x: x)

    @vectorize(["float64(float64)"], locals={"y": float32})
    def g(x):
        y = x
        return y

    assert f(0.1) == 0.1 and g(0.1) == np.float32(0.1) and g(np.full(2, 0.1))[1] == np.float32(0.1)


def test_D10_a_variable_of_one_type_where_paths_meet():
    def f(n):
        if n > 3:
            x = 1.5
        else:
            x = 2
        return x

    g = njit(locals={"x": int64})(f)
    assert g(5) == 1 and g(1) == 2 and g.nopython_signatures[0].return_type == int64


def test_D10_kernels_and_device_functions(device):
    @cuda.jit(device=True, locals={"half": float32})
    def halved(x):
        half = x * 0.5
        return half

    @cuda.jit(locals={"n": int8, "s": float32})
    def kernel(x, out, counts):
        i = cuda.grid(1)
        n = i * 100
        s = x[i]
        out[i] = s + halved(x[i])
        counts[i] = n

    x, out, counts = np.full(4, 0.1), np.zeros(4), np.zeros(4, np.int64)
    kernel[1, 4](x, out, counts)
    assert (out == np.float32(0.1) + np.float32(0.05)).all()
    assert counts.tolist() == [0, 100, -56, 44]
    with pytest.raises(TypeError, match="gives types to variables"):
        cuda.jit(locals={"x": 3})(lambda x: None)
    with pytest.raises(errors.TypingError, match="ListType"):
        cuda.jit(locals={"n": types.ListType(int64)})(kernel.py_func)[1, 4](x, out, counts)


def test_D10_ufuncs_on_gpus_and_in_callers(device):
    def third(x):
        y = x / 3
        return y

    gpu = vectorize(["float64(float64)"], target="cuda", locals={"y": float32})(third)
    assert gpu(np.ones(3)).tolist() == [float(np.float32(1 / 3))] * 3
    cpu = vectorize(["float64(float64)"], locals={"y": float32})(third)
    assert njit(lambda x: cpu(x))(1.0) == float(np.float32(1 / 3))


def test_D10_kernels_for_amd():
    def kernel(x):
        n = x[0] * 2.5
        x[1] = n

    assert "fptosi" not in hip.compile(kernel, "void(float64[:])", arch="gfx1100").llvm
    assert "fptosi" in hip.compile(kernel, "void(float64[:])", arch="gfx1100", locals={"n": int32}).llvm
