"""Device functions: declared signatures bind, literal arguments stay literal where that is needed."""
import numpy as np
import pytest

from quern import cuda, errors, float32, int32, njit, types


def run(kernel, *args, dtype=np.float64, n=1):
    out = np.zeros(n, dtype)
    kernel[1, n](out, *args)
    return out.tolist()


def test_N08_arguments_and_results_are_converted(device):
    @cuda.jit("float32(float32)", device=True)
    def third(x):
        return x / 3.0

    @cuda.jit("int32(float64)", device=True)
    def whole(x):
        return x

    @cuda.jit("float64(int8)", device=True)
    def narrow(x):
        return x

    @cuda.jit
    def k(out, x, n):
        out[0] = third(x)
        out[1] = third(-x)
        out[2] = whole(x)
        out[3] = narrow(n)
        out[4] = third(n)

    out = np.zeros(5)
    k[1, 1](out, 10.0 / 7, 300)
    third32 = np.float32(np.float32(10.0 / 7) / np.float32(3))
    assert out.tolist() == [float(third32), -float(third32), 1, 44, float(np.float32(100))]


def test_N08_results_have_the_declared_type(device):
    @cuda.jit("float32(float64, float64)", device=True)
    def add(x, y):
        return x + y

    @cuda.jit("uint8(int64)", device=True)
    def low(x):
        return x

    @cuda.jit
    def k(out, x, y, n):
        out[0] = add(x, y)
        out[1] = low(n)

    assert run(k, 1.0, 1e-12, 515, n=2) == [1.0, 3.0]


def test_N08_the_best_of_several_signatures(device):
    @cuda.jit(["int32(int32, int32)", "float32(float32, float32)", "float64(float64, float64)"], device=True)
    def half(x, y):
        return (x + y) / 2

    @cuda.jit
    def k(out, a, b, c):
        i = cuda.grid(1)
        out[0] = half(a[i], a[i])
        out[1] = half(b[i], b[i])
        out[2] = half(c[i], b[i])

    out = np.zeros(3)
    k[1, 1](out, np.array([3], np.int32), np.array([0.1], np.float32), np.array([0.1]))
    assert out[0] == 3 and out[1] == float(np.float32(0.1)) and abs(out[2] - 0.1) < 1e-8 and out[2] != out[1]


def test_N08_no_other_signatures(device):
    @cuda.jit("float64(float64[:], int64)", device=True)
    def item(a, i):
        return a[i]

    @cuda.jit
    def right(out, a):
        out[0] = item(a, 1.7)

    @cuda.jit
    def wrong(out, a):
        out[0] = item(1.0, 2)

    assert run(right, np.arange(3.0)) == [1.0]
    assert run(right, np.arange(6.0)[::2]) == [2.0]
    with pytest.raises(errors.TypingError, match=r"item cannot be called with the arguments \(float, int\)(.|\n)*"
                                                 r"declared: \(float64\[:\], int64\)"):
        run(wrong, np.arange(3.0))

    @cuda.jit("float32(complex64)", device=True)
    def real(z):
        return z

    @cuda.jit
    def bad_result(out):
        out[0] = real(1j)

    with pytest.raises(errors.TypingError, match="cannot convert complex64 to float32"):
        run(bad_result)


def test_N08_defaults_tuples_and_results_of_none(device):
    @cuda.jit("float32(float32, int32)", device=True)
    def scaled(x, by=3):
        return x * by

    @cuda.jit("float32(UniTuple(float32, 2))", device=True)
    def first(pair):
        return pair[0] + pair[1]

    @cuda.jit("void(float64[:], float32)", device=True)
    def put(a, x):
        a[2] = x

    @cuda.jit
    def k(out, x):
        out[0] = scaled(x)
        out[1] = first((x, 2))
        put(out, x)

    third = float(np.float32(1 / 3))
    assert run(k, 1 / 3, n=3) == [float(np.float32(third) * np.float32(3)), float(np.float32(third) + np.float32(2)),
                                  third]


def test_N08_recursion_with_a_declared_result(device):
    @cuda.jit("int64(int64)", device=True)
    def fib(n):
        return fib(n - 1) + fib(n - 2) if n > 1 else n

    @cuda.jit
    def k(out, n):
        out[0] = fib(n)

    assert run(k, 12, dtype=np.int64) == [144]


def test_N08_signatures_bind_in_device_ufunc_and_cpu_code(device):
    @cuda.jit("float32(float32)", device=True)
    def third(x):
        return x / 3.0

    assert njit(lambda x: third(x))(1.0) == float(np.float32(1) / np.float32(3))


def test_N08_a_literal_is_the_size_of_an_array(device):
    def reverse(out, n):
        s = cuda.shared.array(n, np.float64)
        i = cuda.threadIdx.x
        s[n - 1 - i] = out[i]
        cuda.syncthreads()
        return s[i]

    inner = cuda.jit(device=True)(reverse)

    @cuda.jit(device=True)
    def outer(out, n):
        return inner(out, n)

    @cuda.jit
    def plain(out):
        out[cuda.threadIdx.x] = reverse(out, 8)

    @cuda.jit
    def nested(out):
        out[cuda.threadIdx.x] = outer(out, n=8)

    for kernel in (plain, nested):
        out = np.arange(8.0)
        kernel[1, 8](out)
        assert out.tolist() == list(range(8))[::-1]

    @cuda.jit
    def of_two_sizes(out):
        out[cuda.threadIdx.x] = inner(out, 8) + outer(out, 8)

    out = np.arange(8.0)
    of_two_sizes[1, 8](out)
    assert out.tolist() == [14 - 2.0 * i for i in range(8)]


def test_N08_shapes_and_dtypes_as_arguments(device):
    @cuda.jit(device=True)
    def corner(shape, dtype):
        a = cuda.local.array(shape, dtype)
        a[1, 2] = 300
        return a[1, 2]

    @cuda.jit(device=True)
    def through(dtype):
        return corner((2, 3), dtype)

    @cuda.jit
    def k(out):
        out[0] = corner((2, 3), int32)
        out[1] = through(np.uint8)
        out[2] = through(types.float32)
        out[3] = corner((4, 4), np.int8)

    assert run(k, n=4) == [300, 44, 300, 44]


def test_N08_a_literal_through_a_declared_signature(device):
    @cuda.jit("float32(int32, float32)", device=True)
    def f(n, x):
        a = cuda.local.array(n, float32)
        a[n - 1] = x
        return a[n - 1]

    @cuda.jit
    def k(out, x):
        out[0] = f(4, x)

    assert run(k, 0.1) == [float(np.float32(0.1))]


def test_N08_what_is_no_literal_is_still_refused(device):
    @cuda.jit(device=True)
    def f(n):
        a = cuda.local.array(n, np.float64)
        a[0] = 1
        return a[0]

    @cuda.jit
    def k(out, n):
        out[0] = f(n)

    with pytest.raises(errors.TypingError, match="must be known at compile time"):
        run(k, 4)


def test_N08_literals_do_not_multiply_functions(device):
    """Only what cannot be compiled otherwise is made once for each value."""
    @cuda.jit(device=True, forceinline=False)
    def poly(x, n):
        for _ in range(n):
            x = x * x + n
        return x

    @cuda.jit
    def k(out):
        out[0] = poly(out[0], 2) + poly(out[0], 3) + poly(out[0], 4)

    k[1, 1](np.zeros(1))
    text = next(iter(k.inspect_llvm().values()))
    assert sum(line.startswith("define") and "poly" in line for line in text.splitlines()) <= 1
