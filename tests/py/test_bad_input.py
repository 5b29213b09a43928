"""Wrong calls: each is a Python exception with a sentence that helps, and the next call works."""
import math
import collections
import decimal
import fractions
import gc
import re
import sys

import numpy as np
import pytest

from quern import cuda, errors, float64, hip, int32, jit, njit, vectorize


@cuda.jit
def increment(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += 1


@cuda.jit("void(float64[:])")
def eager_increment(a):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] += 1


@njit
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@njit("float64(float64[:])")
def eager_total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def write(a):
    a[0] = 1


def refused(kind, part, function, *args, **kwargs):
    """The exception; twice the same, so that nothing half-made is left behind."""
    texts = []
    for _ in range(2):
        with pytest.raises(kind) as caught:
            function(*args, **kwargs)
        assert re.search(part, str(caught.value)), str(caught.value)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    return caught.value


@pytest.fixture(autouse=True)
def the_next_call_works():
    yield
    a = np.zeros(4)
    increment[1, 4](a)
    eager_increment[1, 4](a)
    assert a.tolist() == [2] * 4 and total(a) == eager_total(a) == 8


# -- arrays ----------------------------------------------------------------------------------------------------------

class Sub(np.ndarray):
    pass


REFUSED_ARRAYS = {
    "swapped": (np.zeros(3, ">f8"), r"byte order; convert it with a\.astype"),
    "object": (np.zeros(3, object), "dtype object cannot be passed"),
    "text": (np.array(["a"], ">U1"), ">U1 cannot be passed"),
    "structured": (np.zeros(3, [("a", "f8"), ("b", "O")]), "'a', '<f8'.*cannot be passed"),
    "datetime": (np.zeros(3, ">M8[s]"), r"M8\[s\] cannot be passed"),
    "long double": (np.zeros(3, np.longdouble), "cannot be passed"),
    "subclass": (np.zeros(3).view(Sub), r"subclass of numpy.ndarray.*np\.asarray"),
    "masked": (np.ma.zeros(3), r"a\.mask of a masked array"),
    "recarray": (np.zeros(3, [("a", "O")]).view(np.recarray), "cannot be passed"),
    "dict_keys": ({1.0: 2.0}.keys(), "'dict_keys' cannot be passed"),
    "list of ChainMaps": ([collections.ChainMap({1: 2})], "'ChainMap' cannot be passed|list"),
    "ChainMap": (collections.ChainMap({1: 2}), "'ChainMap' cannot be passed"),
    "bytes of text": (type("Octets", (bytes,), {})(b"text"), r"pass np\.frombuffer|pass bytes\(x\)"),
    "bytearray": (type("Octets", (bytearray,), {})(8), r"pass np\.frombuffer|pass bytearray\(x\)"),
    "memoryview in a tuple": ((memoryview(b"12345678"),), "'memoryview' cannot be passed"),
    "range": (range(3), "range"),
    "decimal": (decimal.Decimal(1), "Decimal"),
    "fraction": (fractions.Fraction(1, 2), "Fraction"),
    "class": (dict, "'type' cannot be passed|type"),
    "module": (sys, "'module' cannot be passed"),
    "generator": ((i for i in range(3)), "'generator' cannot be passed"),
    "object()": (object(), "'object' cannot be passed"),
    "NotImplemented": (NotImplemented, "NotImplemented"),
    "tuple with a list": (((1, [2]),), "list"),
}


@pytest.mark.parametrize("name", REFUSED_ARRAYS)
def test_refused_arguments(device, name):
    value, part = REFUSED_ARRAYS[name]
    count = sys.getrefcount(value)
    for call in (increment[1, 4], eager_increment[1, 4], total, eager_total):
        error = refused(TypeError, part, call, value)
        if name != "tuple with a list":
            assert "argument 1 of" in str(error)
    del error
    gc.collect()
    assert sys.getrefcount(value) <= count + 1


@pytest.mark.parametrize("name, value, part", [
    ("dtype", np.zeros(4, "f4"), r"float32\[::1\].*fixed signatures: .*float64\[:\]"),
    ("half", np.zeros(4, "f2"), "float16"),
    ("int", np.zeros(4, int), "int64"),
    ("two dimensions", np.zeros((2, 2)), r"float64\[:, ::1\]"),
    ("no dimension", np.array(1.0), "float64, 0"),
    ("unaligned", np.zeros(33, "u1")[1:].view("f8"), "unaligned"),
    ("scalar", 1.5, "argument type.* float"),
    ("None", None, "none"),
    ("tuple", (1.0, 2.0), "Tuple|float"),
], ids=lambda v: v if isinstance(v, str) and len(v) < 20 else "")
def test_wrong_types_for_a_signature(device, name, value, part):
    refused(TypeError, "No matching definition.*" + part, eager_increment[1, 4], value)
    refused(TypeError, "No matching definition.*" + part, eager_total, value)


def test_wrong_layout_for_a_signature(device):
    dense = cuda.jit("void(float64[::1])")(write)
    for wrong in (np.zeros(8)[::2], np.zeros(8)[::-1]):
        refused(TypeError, r"float64\[:\].*fixed signatures: .*float64\[::1\]", dense[1, 1], wrong)
    a = np.zeros(3)
    dense[1, 1](a)
    assert a[0] == 1
    f_order = njit("float64(float64[::1, :])")(lambda a: a[0, 1])
    refused(TypeError, "No matching definition", f_order, np.zeros((3, 4)))
    assert f_order(np.asfortranarray(np.arange(12.0).reshape(3, 4))) == 1


def test_two_dimensions_where_one_is_meant(device):
    rows = np.zeros((2, 2))
    increment[1, 4](rows)  # a[i] is a row
    assert np.array_equal(rows, np.ones((2, 2)))
    refused(errors.TypingError, r"tuple index 0 is out of range", increment[1, 1], np.array(1.0))
    refused(errors.TypingError, "tuple index 0 is out of range", total, np.array(1.0))


def test_read_only_output(device):
    a = np.zeros(4)
    a.flags.writeable = False
    refused(TypeError, "cannot write to the read-only", increment[1, 4], a)
    refused(TypeError, "cannot write to the read-only", njit(write), a)
    refused(TypeError, "readonly.*fixed signatures", eager_increment[1, 4], a)
    assert not a.any() and total(a) == 0
    frozen = np.frombuffer(b"\0" * 32)
    refused(TypeError, "read-only", increment[1, 4], frozen)
    refused(TypeError, "read-only", increment[1, 4], np.broadcast_to(1.0, 4))


def test_read_only_output_of_a_kernel_that_is_compiled(device):
    """Alone and in a tuple: what a kernel made for writable arrays would write to is looked at in each launch."""
    @cuda.jit
    def second(t):
        t[1][0] = 7.0

    writable, frozen = np.zeros(4), np.zeros(4)
    frozen.flags.writeable = False
    second[1, 1]((writable, writable))
    increment[1, 4](writable)
    for _ in range(2):
        refused(TypeError, "cannot write to the read-only", second[1, 1], (writable, frozen))
        refused(TypeError, "cannot write to the read-only", increment[1, 4], frozen)
    assert writable.tolist() == [8, 1, 1, 1] and not frozen.any()


def test_ARR_06_empty_and_0d(device):
    for shape in ((0,), (3, 0), (0, 3)):
        a = np.zeros(shape)
        if a.ndim == 1:
            increment[1, 4](a)
            eager_increment[1, 4](a)
            assert total(a) == eager_total(a) == 0.0
        else:
            kernel = cuda.jit(lambda a: None)
            kernel[1, 4](a)
            assert njit(lambda a: a.size)(a) == 0

    def store(a):
        a[()] = 5

    zero = np.array(1.0)
    cuda.jit(store)[1, 1](zero)
    assert zero == 5 and njit(lambda a: a[()] + a.ndim)(zero) == 5
    refused(IndexError, "index 0 is out of bounds for axis 0 with size 0", njit(lambda a: a[0]), np.zeros(0))
    refused(errors.TypingError, "too many indices|cannot be indexed", njit(lambda a: a[0]), zero)


def test_memmap_is_an_array(tmp_path):
    path = tmp_path / "data"
    np.arange(4.0).tofile(path)
    mapped = np.memmap(path, np.float64, "r+")
    assert total(mapped) == 6
    increment[1, 4](mapped)
    assert total(mapped) == 10 and np.fromfile(path).sum() == 6 + 4
    frozen = np.memmap(path, np.float64, "r")
    assert total(frozen) == 10
    refused(TypeError, "read-only", increment[1, 4], frozen)


# -- configurations --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("config, kind, part", [
    ((0, 1), ValueError, "grid is .0, 1, 1.: its x dimension must be at least 1"),
    ((1, 0), ValueError, "block is .0, 1, 1.: its x"),
    ((-1, 1), ValueError, "at least 1"), ((1, -7), ValueError, "at least 1"),
    (((1, 0), 1), ValueError, "its y dimension"), ((1, (1, 1, -1)), ValueError, "its z dimension"),
    ((2**31, 1), ValueError, "at most 2147483647"), ((1, 1025), ValueError, "at most 1024"),
    (((1, 65536), 1), ValueError, "at most 65535 in dimension y"), ((1, (1, 1, 65)), ValueError, "at most 64 in dimension z"),
    ((1, (32, 32, 2)), ValueError, "2048 threads"), ((2**63, 1), ValueError, "out of range"),
    ((-(2**80), 1), ValueError, "out of range"), ((1, 2**64), ValueError, "out of range"),
    ((1.5, 1), TypeError, r"griddim must be a sequence of integers, got \[1.5\]"), ((1.0, 1), TypeError, "griddim"),
    ((1, "1"), TypeError, "blockdim must be a sequence of integers, got"), ((None, 1), TypeError, "got .None."),
    ((True, 1), TypeError, "got .True."), ((np.float64(2), 1), TypeError, "float64"), ((1j, 1), TypeError, "got .1j."),
    ((np.True_, 1), TypeError, "True"), ((decimal.Decimal(1), 1), TypeError, "Decimal"),
    ((np.arange(2), 1), TypeError, ""), ((np.array(2.0), 1), TypeError, ""),
    (((1, 2, 3, 4), 1), ValueError, "1, 2 or 3 integers, got"), (((), 1), ValueError, "1, 2 or 3 integers, got"),
    (((1, 1.0), 1), TypeError, "int"), ((((1,),), 1), TypeError, r"got \[\(1,\)\]"),
    (1, ValueError, r"kernel\[grid, block\]"), ((), ValueError, r"kernel\[grid, block\]"),
    ((1,), ValueError, r"kernel\[grid, block\]"), ((1, 1, 0, 0, 0), ValueError, r"kernel\[grid, block\]"),
    ("ab", ValueError, r"kernel\[grid, block\]"), ({}, ValueError, r"kernel\[grid, block\]"),
    (slice(1, 2), ValueError, r"kernel\[grid, block\]"),
    ((1, 1, "stream"), TypeError, "a stream is expected"), ((1, 1, 1.0), TypeError, "a stream is expected"),
    ((1, 1, 0, -1), ValueError, "-1 bytes of dynamic shared memory"), ((1, 1, 0, 2**40), ValueError, "dynamic shared memory"),
    ((1, 1, 0, "8"), TypeError, "int"), ((1, 1, 0, 8.0), TypeError, "int"), ((1, 1, 0, 2**70), ValueError, "out of range"),
], ids=str)
def test_CUH_01_configurations(device, config, kind, part):
    if device == "hip" and "in dimension" in part:
        pytest.skip("AMD's grids and blocks are limited as a whole")
    assert increment[1, 1] is increment[1, 1]  # what is equal to a wrong one is known already
    increment[2, 1]
    refused(kind, part, lambda: increment[config])


def test_EXC_10_configurations_that_lie(device):
    class Lies:
        """Equal to everything; its number runs code."""

        def __init__(self, act):
            self.act = act

        def __index__(self):
            return self.act()

        def __eq__(self, other):
            return True

        def __hash__(self):
            return hash(1)

    def explode():
        raise KeyError("mine")

    increment[1, 1]
    refused(KeyError, "mine", lambda: increment[Lies(explode), 1])
    refused(TypeError, "", lambda: increment[Lies(lambda: "no"), 1])
    refused(ValueError, "at least 1", lambda: increment[Lies(lambda: 0), 1])

    class Unhashable(Lies):
        __hash__ = None

    a = np.zeros(4)
    increment[Unhashable(lambda: 1), 4](a)
    grid = [1, 1]

    def shrink():
        grid.clear()
        return 1

    grid[0] = Lies(shrink)
    try:
        increment[grid, 4](a)
    except (ValueError, IndexError, RuntimeError):
        pass
    assert a[0] in (1, 2)
    kernel = cuda.jit(write)

    def launch_inside():
        kernel[1, 1](a)
        return 1

    kernel[Lies(launch_inside), 1](a)
    assert a[0] == 1


def test_calls_without_configuration(device):
    error = refused(errors.LaunchError, r"increment\[blocks_per_grid, threads_per_block\]\(\.\.\.\)", increment, np.zeros(3))
    assert isinstance(error, (TypeError, ValueError))
    refused(errors.LaunchError, "configuration", increment)
    refused(ValueError, "must not be negative", increment.forall, -1)
    refused(TypeError, "int", increment.forall, 1.5)
    refused(TypeError, "int", increment.forall, "3")
    refused(ValueError, "", increment.forall(10, tpb=100_000), np.zeros(10))


def test_kernel_that_returns(device):
    def answer(a):
        return a[0]

    error = refused(errors.TypingError, "a kernel must have void return type: it must not return a value", cuda.jit(answer)[1, 1], np.zeros(1))
    assert "return a[0]" in str(error)
    refused(errors.TypingError, "return", cuda.jit(lambda a: 1 if a[0] > 0 else None)[1, 1], np.zeros(1))
    cuda.jit(lambda a: None)[1, 1](np.zeros(1))


# -- calling ---------------------------------------------------------------------------------------------------------------

def test_arguments_by_number_and_name(device):
    def f(a, b=2, *, c=3):
        a[0] = b + c

    a = np.zeros(1)
    for call, name in ((njit(f), "f"), (cuda.jit(f)[1, 1], "f")):
        refused(TypeError, rf"{name}\(\) missing a required argument: 'a'", call)
        refused(TypeError, rf"{name}\(\) takes .* positional arguments? but 3 were given", call, a, 1, 2)
        refused(TypeError, rf"{name}\(\) got an unexpected keyword argument 'z'", call, a, z=1)
        refused(TypeError, rf"{name}\(\) got multiple values for argument 'a'", call, a, a=a)
        refused(TypeError, "keyword", call, a, **{"": 1})
        call(a, c=10)
        assert a[0] == 12
    for call in (eager_total, eager_increment[1, 1], total, increment[1, 1]):
        refused(TypeError, "missing a required argument", call)
        refused(TypeError, "takes 1 positional argument but 2 were given", call, a, a)
        refused(TypeError, "unexpected keyword argument 'b'", call, b=a)
    refused(TypeError, "required|missing", njit(lambda *, key: key))


@pytest.mark.parametrize("value, kind, part", [
    (math.nan, ValueError, "NaN"), (-math.inf, OverflowError, "infinity"), (2.0**31, OverflowError, "2147483648.0 does not fit into int32"),
    (1j, TypeError, "complex"), (None, TypeError, "none"), ("1", TypeError, "str"), (np.array(3), TypeError, "int64, 0"),
    (np.array([3]), TypeError, r"int64\[::1\]"), ((3,), TypeError, ""), (2**31, OverflowError, "2147483648 does not fit into int32"),
    (-(2**31) - 1, OverflowError, "does not fit into int32"), (2**40, OverflowError, "1099511627776 does not fit"),
    (np.int64(2**40), OverflowError, "does not fit"), (np.uint32(2**32 - 1), OverflowError, "4294967295 does not fit"),
    (np.uint64(2**64 - 1), OverflowError, "18446744073709551615 does not fit"), (2**70, OverflowError, "too large"),
], ids=repr)
def test_TYP_08_lossy_arguments_of_a_signature(value, kind, part):
    """Numba takes ints that do not fit, too, and wraps them."""
    add = njit("int32(int32, int32)")(lambda x, y: x + y)
    refused(kind, part, add, value, 1)
    refused(kind, part, add, 1, value)
    assert add(1.9, -1.9) == 0 and add(np.float32(2.5), 2**31 - 3) == 2**31 - 1
    assert add(2**31 - 1, -1) == 2**31 - 2 and add(np.int64(5), True) == 6 and add(np.uint8(200), 1) == 201


def test_TYP_08_lossy_arguments_of_a_kernel(device):
    kernel = cuda.jit("void(float32[:], uint8)")(lambda a, k: write_to(a, k))

    a = np.zeros(1, "f4")
    refused(TypeError, "No matching definition", kernel[1, 1], a, 2.5)
    refused(OverflowError, "256 does not fit into uint8", kernel[1, 1], a, 256)
    refused(OverflowError, "-1 does not fit into uint8", kernel[1, 1], a, -1)
    assert a[0] == 0
    kernel[1, 1](a, 255)
    assert a[0] == 255


@njit
def write_to(a, k):
    a[0] = k


def test_integers_that_are_too_large(device):
    f = njit(lambda x: x + 1)
    refused(OverflowError, "too large", f, 2**64)
    refused(OverflowError, "too large", f, -(2**63) - 1)
    assert f(2**63 - 2) == 2**63 - 1
    kernel = cuda.jit(lambda a, k: write_to(a, k))
    a = np.zeros(1)
    refused(OverflowError, "too large", kernel[1, 1], a, 2**100)
    kernel[1, 1](a, 7)
    assert a[0] == 7


def test_EXC_10_arguments_that_lie(device):
    """Numbers are read by their type; nothing of theirs is called while pointers to arrays are held."""
    a = np.zeros(1000)

    class Index:
        def __index__(self):
            a.resize(1, refcheck=False)
            return 1

    class Float:
        def __float__(self):
            a.resize(1, refcheck=False)
            return 1.0

    class Int(int):
        def __index__(self):
            raise AssertionError("was called")
        __int__ = __float__ = __index__

    class MyFloat(float):
        def __float__(self):
            raise AssertionError("was called")

    class Array:
        def __array__(self, *args, **kwargs):
            a.resize(1, refcheck=False)
            return np.zeros(3)

    class Interface:
        __array_interface__ = {"shape": (2**60,), "typestr": "<f8", "data": (8, False), "version": 3}

    class Device:
        @property
        def __cuda_array_interface__(self):
            raise KeyError("mine")

    def scale(a, k):
        a[0] += k

    f, kernel = njit(scale), cuda.jit(scale)[1, 1]
    for call in (f, kernel):
        for bad in (Index(), Float(), Array(), Interface()):
            refused(TypeError, "cannot be passed", call, a, bad)
            refused(TypeError, "cannot be passed", call, bad, 1)
        a[0] = 0
        call(a, Int(3))
        call(a, MyFloat(0.5))
        assert a[0] == 3.5 and a.size == 1000
    refused(KeyError if device == "cuda" else (KeyError, TypeError), "mine|cannot be passed", kernel, a, Device())


@pytest.mark.parametrize("interface, part", [
    ({}, "shape|typestr|data|interface"),
    ({"shape": (3,), "typestr": "<f8", "data": (16, False)}, "version"),
    ({"shape": (3,), "typestr": ">f8", "data": (16, False), "version": 3}, "byte order|typestr|>f8"),
    ({"shape": (3,), "typestr": "O", "data": (16, False), "version": 3}, ""),
    ({"shape": (-3,), "typestr": "<f8", "data": (16, False), "version": 3}, ""),
    ({"shape": (2**62, 8), "typestr": "<f8", "data": (16, False), "version": 3}, ""),
    ({"shape": "abc", "typestr": "<f8", "data": (16, False), "version": 3}, ""),
    ({"shape": (3,), "typestr": "<f8", "data": 5, "version": 3}, ""),
    ({"shape": (3,), "strides": (8, 8), "typestr": "<f8", "data": (16, False), "version": 3}, ""),
    ({"shape": (3,), "typestr": "<f8", "data": (16, False), "version": 3, "mask": 1}, "Masked arrays"),
    (5, ""), (None, ""),
], ids=str)
def test_CUH_09_interfaces_that_lie(device, interface, part):
    if device != "cuda":
        pytest.skip("foreign device arrays are for devices")

    class Foreign:
        __cuda_array_interface__ = interface

    if isinstance(interface, dict) and "version" not in interface and interface:
        return  # older versions are allowed to leave it out
    kinds = TypeError, ValueError, OverflowError, NotImplementedError
    refused(kinds, part, increment[1, 1], Foreign())
    refused(kinds, part, cuda.as_cuda_array, Foreign())


# -- decorators ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("make, kind, part", [
    (lambda: njit(nogill=True), TypeError, "no option 'nogill'; did you mean nogil"),
    (lambda: jit(xyz=1), TypeError, "no option 'xyz'; known are .*boundscheck"),
    (lambda: njit(device=True), TypeError, "no option 'device'"),
    (lambda: cuda.jit(devise=True), TypeError, r"cuda.jit\(\) has no option 'devise'; did you mean device"),
    (lambda: vectorize(targett="cpu"), TypeError, "did you mean target"),
    (lambda: vectorize(["f8(f8)"], nogil=True), TypeError, "no option 'nogil'"),
    (lambda: njit(target="gpu"), ValueError, "target='cpu', not 'gpu'"),
    (lambda: vectorize(target="gpu"), ValueError, "no target 'gpu'; known are 'cpu', 'parallel', 'cuda'"),
    (lambda: njit(error_model="c"), ValueError, "'python' or 'numpy', not 'c'"),
    (lambda: njit(fastmath="fats"), ValueError, "unknown fastmath flag 'fats'; known are nnan"),
    (lambda: njit(fastmath={"nnan", "x"}), ValueError, "unknown fastmath flag 'x'"),
    (lambda: njit(opt="x"), TypeError, "option opt must be an int, not 'x'"),
    (lambda: njit(opt=17), ValueError, "opt must lie between 0 and 3"),
    (lambda: njit(opt=-1), ValueError, "opt must lie between 0 and 3"),
    (lambda: cuda.jit(max_registers="x"), TypeError, "max_registers must be an int"),
    (lambda: cuda.jit(max_registers=-5), ValueError, "max_registers must lie between 0 and 255"),
    (lambda: cuda.jit(launch_bounds=5000), ValueError, "launch_bounds must lie between 0 and 1024"),
    (lambda: njit(locals={"x": 3})(increment.py_func), TypeError, "locals gives types to variables, not 3 to 'x'"),
    (lambda: njit(locals={3: int32})(increment.py_func), TypeError, "locals gives types to variables"),
    (lambda: njit(locals=3)(increment.py_func), TypeError, "locals is a dict of names and types, not 3"),
    (lambda: cuda.jit(link=["not/there.ptx"]), FileNotFoundError, "not/there.ptx"),
    (lambda: cuda.jit(link=["a.txt"]), ValueError, "'a.txt' cannot be linked"),
    (lambda: hip.jit(link=["a.ptx"]), errors.UnsupportedError, "'link' of hip.jit"),
    (lambda: njit(len), TypeError, "expects a Python function, not .*builtin"),
    (lambda: njit(int), TypeError, "expects a Python function, not .*type"),
    (lambda: njit(3), TypeError, "expects a Python function|signature"),
    (lambda: njit(total), TypeError, r"compiled already; apply it to its \.py_func"),
    (lambda: cuda.jit(total), TypeError, "compiled already"),
    (lambda: njit(increment), TypeError, "compiled already"),
    (lambda: vectorize(increment), TypeError, "compiled already"),
    (lambda: njit(vectorize(lambda x: x)), TypeError, "expects a Python function"),
    (lambda: cuda.jit(staticmethod(write)), TypeError, "expects a Python function"),
], ids=lambda v: None)
def test_options(make, kind, part):
    refused(kind, part, make)


@pytest.mark.parametrize("text", [
    "", " ", "int32", "int32(", "int32)", "(", ")", "int32(int32", "int32(int32))", "int32(int33)", "foo(bar)",
    "int32 int32", "int32(,)", "int32(int32,,int32)", "f8(f8[)", "f8(f8])", "f8(f8[:)", "f8(f8[:,:,)", "f8(f8[::])",
    "f8(f8[::2])", "f8(f8[:;:])", "f8(f8[1:])", "float64(float64[:], ...)", "é(f8)", "f8(é)", "\0", "f8(f8)\0", "f8(f8)\0(",
    "f8(f8);", "f8->f8", "->f8", "f8(f8)(f8)", "f8(f8[:" + ",:" * 40 + "])", "(" * 5000, "f8(" * 5000, "f8" * 5000,
    "f8(" + "Tuple(" * 3000, "x" * 100_000, "9", "-", "f8(9)", "None", "f8(None", "f8(Tuple((f8))", "f8(UniTuple(f8))",
    "f8(UniTuple(f8, -1))", "f8(UniTuple(f8, 99999999999999999999))", "f8(Array(f8))", "f8(Array(f8, -1, 'C'))",
    "f8(Array(f8, 1, 'Z'))", "f8(Array(f8, 99999, 'C'))", "\ud800(f8)",
], ids=lambda t: ascii(t[:24]))
@pytest.mark.parametrize("make", [njit, cuda.jit, lambda s: vectorize([s]), lambda s: njit([s])],
                         ids=["njit", "cuda.jit", "vectorize", "list"])
def test_malformed_signatures(make, text):
    error = refused((ValueError, TypeError), "signature|expects a Python function|surrogate", lambda: make(text)(lambda x: x))
    assert len(str(error)) < 60_000 + 3 * len(text)


@pytest.mark.parametrize("make, kind, part", [
    (lambda: njit("f8(f8, f8)")(lambda x: x), TypeError, "has 2 parameters, '<lambda>' has 1"),
    (lambda: njit("f8()")(lambda x: x), TypeError, "has 0 parameters"),
    (lambda: cuda.jit("void(f8[:], f8)")(write), TypeError, "has 2 parameters, 'write' has 1"),
    (lambda: vectorize(["f8(f8, f8)"])(lambda x: x), TypeError, "has 2 parameters"),
    (lambda: vectorize(["f8(f8)"], target="cuda")(lambda x, y: x), TypeError, "has 1 parameter, "),
    (lambda: njit("f8[:](f8)")(lambda x: x), errors.TypingError, "cannot convert"),
    (lambda: njit("void(f8)")(lambda x: x), errors.TypingError, "cannot convert float64 to none"),
    (lambda: cuda.jit("f8(f8[:])")(lambda a: a[0]), errors.TypingError, "must not return"),
    (lambda: cuda.jit("int32(float64[:])")(write), errors.TypingError, "must not return|cannot convert"),
    (lambda: vectorize(["f8(f8[:])"])(lambda x: x[0]), (TypeError, errors.LoweringError), "scalars|number"),
    (lambda: njit(["f8(f8)", 3]), TypeError, "3 is not a signature; write 'float64"),
    (lambda: vectorize([None]), TypeError, "None is not a signature"),
    (lambda: cuda.jit([("f8",)]), TypeError, "is not a signature"),
    (lambda: njit((float64, "f8")), TypeError, "expects a Python function|signature"),
    (lambda: njit("f8(f8)")(lambda *a: a[0]), TypeError, "all further arguments: a tuple in the signature"),
], ids=lambda v: None)
def test_signatures_that_do_not_fit(make, kind, part):
    refused(kind, part, make)


def test_functions_that_cannot_be_compiled():
    async def coroutine(x):
        return x

    def generator(x):
        yield x

    refused(errors.UnsupportedError, "async function", njit(coroutine), 1)
    refused(errors.TypingError, "generator is not available in a kernel", cuda.jit(generator)[1, 1], np.zeros(1))
    refused(TypeError, "device function", cuda.jit(device=True)(write), np.zeros(1))
    refused(RuntimeError, "device function", lambda: cuda.jit(device=True)(write)[1, 1])
