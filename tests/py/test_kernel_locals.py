"""Variables of kernels that a path leaves without value: they hold zero, never what memory happened to hold; with
debug=True, and on the CPU, reading one raises."""
import numpy as np
import pytest

from quern import cuda, errors, njit, vectorize


def test_N07_a_value_carried_over_a_barrier(device):
    @cuda.jit
    def shift(a, out, n):
        i = cuda.grid(1)
        if i < n:
            v = a[i]
        cuda.syncthreads()
        if i < n:
            out[(i + 1) % n] = v

    a = np.arange(10.0)
    out = np.zeros(10)
    shift[2, 8](a, out, 10)
    assert (out == np.roll(a, 1)).all()


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.uint64, np.int64, np.float32, np.float64, np.bool_,
                                   np.complex64, np.complex128])
def test_N07_without_a_value_it_is_zero(device, dtype):
    @cuda.jit
    def k(a, out, n):
        i = cuda.grid(1)
        if i < n:
            v = a[i]
        if i < out.shape[0]:
            out[i] = v

    a = np.ones(16, dtype)
    out = np.full(16, 7).astype(dtype)
    k[2, 8](a, out, 5)
    assert out.tolist() == [dtype(1).item()] * 5 + [dtype(0).item()] * 11


def test_N07_constants_tuples_and_loop_variables(device):
    @cuda.jit
    def k(a, out, n):
        i = cuda.grid(1)
        if i < n:
            c = 5  # a constant on one path is none behind the join
            pair = (a[i], 7)
            w = 1j
        for j in range(i - 2):
            pass
        out[i, 0] = c
        out[i, 1] = pair[0] + pair[1]
        out[i, 2] = w.imag
        out[i, 3] = j
        if c == 5:
            out[i, 4] = 1

    out = np.full((8, 5), -1.0)
    k[1, 8](np.arange(8.0), out, 3)
    assert out.tolist() == [[5, i + 7, 1, 0, 1] if i < 3 else [0, 0, 0, i - 3, -1] for i in range(8)]


def test_N07_none_where_there_may_be_none(device):
    @cuda.jit
    def k(out):
        i = cuda.grid(1)
        if i > 4:
            v = None
        elif i > 2:
            v = 1.5
        if v is None:
            out[i] = -1
        else:
            out[i] = v

    out = np.zeros(8)
    k[1, 8](out)
    assert out.tolist() == [-1, -1, -1, 1.5, 1.5, -1, -1, -1]


def test_N07_in_loops_and_behind_del(device):
    @cuda.jit
    def k(out, n):
        i = cuda.grid(1)
        for j in range(n):
            if j == i:
                v = 10 * j
            if j > 0:
                out[i, j] = v
        w = 3.5
        if i % 2:
            del w
        out[i, 0] = w

    out = np.full((4, 4), -1.0)
    k[1, 4](out, 4)
    assert out.tolist() == [[3.5, 0, 0, 0], [0, 10, 10, 10], [3.5, 0, 20, 20], [0, 0, 0, 30]]


def test_N07_in_device_functions(device):
    @cuda.jit(device=True)
    def inner(x):
        if x > 2:
            y = x * 2
        return y

    @cuda.jit
    def k(out):
        i = cuda.grid(1)
        out[i] = inner(i)

    out = np.full(6, -1)
    k[1, 6](out)
    assert out.tolist() == [0, 0, 0, 6, 8, 10]


def test_N07_debug_kernels_and_the_cpu_raise(device):
    def body(out, i):
        if i > 100:
            v = 1.0
        out[i] = v

    @cuda.jit(debug=True, opt=False)
    def k(out):
        body(out, cuda.grid(1))

    with pytest.raises(UnboundLocalError, match="'v'"):
        k[1, 2](np.zeros(2))
        cuda.synchronize()
    with pytest.raises(UnboundLocalError, match="'v'"):
        njit(body)(np.zeros(2), 1)


def test_N07_ufuncs_raise():
    @vectorize(["float64(float64)"])
    def f(x):
        if x > 0:
            y = x
        return y

    assert f(np.array([1.0, 2.0])).tolist() == [1, 2]
    with pytest.raises(UnboundLocalError, match="'y'"):
        f(np.array([1.0, -2.0]))


def test_N07_what_has_no_zero_is_refused(device):
    @cuda.jit
    def k(a, out):
        i = cuda.grid(1)
        if i < 3:
            row = a[i]
        out[i] = row[0]

    with pytest.raises(errors.TypingError, match=r"variable 'row' is used before it is assigned(.|\n)*no such float64"):
        k[1, 4](np.zeros((4, 2)), np.zeros(4))

    @cuda.jit
    def never(out):
        out[0] = v
        v = 1

    with pytest.raises(errors.TypingError, match="variable 'v' is used before it is assigned"):
        never[1, 1](np.zeros(1))
