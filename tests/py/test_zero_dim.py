"""Arrays without axes: operands as in NumPy, whose ufuncs decide about dtypes and zero divisors; arguments of ufuncs and of
functions of numbers; reading, writing and converting the element."""
import itertools
import math

import numpy as np
import pytest

from quern import cuda, errors, njit, vectorize

DTYPES = ["?", "i1", "u1", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", ">", ">="]


def made(source, *names):
    space = {"math": math, "np": np}
    exec(f"def f({', '.join(names)}): {source}", space)
    return space["f"]


def same(a, b):
    return np.isclose(a, b, rtol=1e-6, atol=0) or (np.isnan(a) and np.isnan(b))


@pytest.mark.parametrize("operator", OPERATORS)
def test_N13_operators_follow_the_ufuncs(operator):
    python = made(f"return a {operator} b", "a", "b")
    compiled = njit(made(f"out[()] = a {operator} b", "a", "b", "out"))
    value = njit(python)
    for one, two in itertools.product(DTYPES, ["u1", "i8", "f4", "c16"]):
        for x, y in ((5, 3), (1, 0)):
            a, b = np.array(x, one), np.array(y, two)
            try:
                with np.errstate(all="ignore"):
                    want = python(a, b)
            except TypeError:
                continue  # NumPy has no loop for them
            if np.iscomplexobj(a[()] + b[()]) and operator in "< <= > >=":
                continue  # an order of complex numbers
            out = np.empty((), want.dtype)
            compiled(a, b, out)
            assert same(out[()], want), (a.dtype, b.dtype, x, y, out, want)
            if two == "f4":
                assert same(value(a, b[()]), want) and same(value(a[()], b), want)


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="NumPy 1 looks at the values of Python numbers")
@pytest.mark.parametrize("operator", OPERATORS)
def test_N13_python_numbers_are_weak(operator):
    for number, dtype in itertools.product((3, 2.5), ["?", "u1", "i4", "u8", "f4", "c8"]):
        a = np.array(5, dtype)
        for python in (made(f"return a {operator} {number}", "a"), made(f"return {number} {operator} a", "a")):
            try:
                want = python(a)
            except TypeError:
                continue
            if a.dtype.kind != "c" or operator not in "< <= > >=":
                got = njit(python)(a)
                assert same(got, want), (dtype, number, got, want)


def test_N13_narrow_results_wrap_as_in_numpy():
    a, b = np.array(200, np.uint8), np.array(100, np.uint8)
    assert njit(lambda x, y: x + y)(a, b) == 44 and njit(lambda x, y: y - x)(a, b) == 156
    assert njit(lambda x: -x)(a) == 56 and njit(lambda x: ~x)(a) == 55


ONE = ["a[()]", "a[...][()]", "float(a)", "int(a)", "bool(a)", "complex(a)", "not a", "-a", "+a", "abs(a)", "math.sin(a)", "np.sqrt(a)",
       "np.add(a, a)", "1 if a else 2", "a.shape", "a.ndim", "a.size", "min(a, 1.0)", "max(a, a)", "divmod(a, 2.0)", "a ** 2",
       "a in (1.0, 2.5)", "a == None", "a is None", "np.arctan2(a, 1.0)", "math.floor(a)", "a / 0", "a // 0.0"]


@pytest.mark.parametrize("source", ONE)
def test_N13_functions_of_numbers(source):
    python = made(f"return {source}", "a")
    with np.errstate(all="ignore"):
        for number in (2.5, 0.0, -1.25):
            if "sqrt" in source:
                number = abs(number)
            got, want = njit(python)(np.array(number)), python(np.array(number))
            assert np.array_equal(got, want, equal_nan=True), (number, got, want)


@pytest.mark.parametrize("source", ["(1, 2, 3, 4)[i]", "range(10, 20)[i]", "b[i]", "b[i:].sum if False else b[i:][0]", "b[i, ...][()]",
                                    "b[-i]", "math.sqrt(i)", "1 << i", "~i", "-i"])
def test_N13_integers_count_and_index(source):
    python = made(f"return {source}", "i", "b")
    i, b = np.array(3), np.arange(5.0)
    assert njit(python)(i, b) == python(i, b)

    @njit
    def rounds(n):
        total = 0
        for k in range(n):
            total += k
        return total

    assert rounds(i) == 3


def test_N13_writing():
    @njit
    def write(a):
        a[()] = 7
        a[...] = a[()] + 1
        a += 2
        a *= a
        return a

    a = np.array(1)
    assert write(a) is a and a == 100

    @njit
    def element(b, a):
        b[1] = a
        b[2:] = a

    b = np.zeros(4)
    element(b, np.array(2.5))
    assert b.tolist() == [0, 2.5, 2.5, 2.5]


def test_N13_refusals():
    frozen = np.array(1.5)
    frozen.flags.writeable = False
    for source, value in (("a += 1.5", np.array(1)), ("a += 1", frozen), ("return len(a)", np.array(1)), ("return a[0]", np.array(1)),
                          ("return a @ a", np.array(1.0)), ("return a & 1", np.array(1.0))):
        with pytest.raises(errors.TypingError):
            njit(made(source, "a"))(value)


def test_N13_ufuncs_take_them(device):
    def product(x, y):
        return x * y

    a, three = np.array(2.5), np.arange(3.0)
    for ufunc in (vectorize(product), vectorize(["float64(float64, float64)"])(product), vectorize(product, target="cuda"),
                  vectorize(["float64(float64, float64)"], target="cuda")(product)):
        assert ufunc(a, a) == 6.25 and ufunc(a, 2.0) == 5.0 and np.shape(ufunc(a, a)) == ()
        assert ufunc(a, three).tolist() == [0, 2.5, 5] and ufunc(three, a).tolist() == [0, 2.5, 5]
    inner = vectorize(product)
    assert njit(lambda x: inner(x, 2.0))(a) == 5.0


def test_N13_kernels(device):
    @cuda.jit
    def kernel(a, i, out):
        out[()] = a * i + 1

    out = np.zeros(())
    kernel[1, 1](np.array(2.5), np.array(3, np.int32), out)
    assert out == 8.5


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "count_nonzero", "ptp", "nansum"])
def test_N13_reductions_along_no_axis(name):
    """NumPy takes 0 and -1 for an array that has no axes, and no other."""
    value = np.array(5.5)
    for axis in 0, -1:
        function = made(f"return np.{name}(a, axis={axis})", "a")
        assert njit(function)(value) == function(value)
    with pytest.raises((np.exceptions.AxisError, errors.TypingError)):
        njit(made(f"return np.{name}(a, axis=1)", "a"))(value)
