"""Names of numba.cuda that few programs use: float16 functions, vector types, cache hints, and others (FEATURES 2.2, 2.4)."""
import asyncio
import math
import pickle

import numpy as np
import pytest

from quern import cuda, errors, hip, njit

SPECIAL = np.array([0.0, -0.0, 0.5, -0.5, 1.0, 1.5, 2.5, -2.5, 3.14159, -7.25, 100.5, 2047.0, 65504.0, -65504.0, 6e-8, -6e-5,
                    np.inf, -np.inf, np.nan], np.float16)


# -- cuda.fp16 ---------------------------------------------------------------------------------------------

def rounded(function):
    """What `function` gives for the numbers as doubles, rounded to float16 once."""
    with np.errstate(all="ignore"):
        return lambda *args: np.asarray(function(*(a.astype(np.float64) for a in args))).astype(np.float16)


BINARY = {"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hmax": np.fmax, "hmin": np.fmin}
UNARY = {"hneg": np.negative, "habs": np.abs, "hceil": np.ceil, "hfloor": np.floor, "htrunc": np.trunc, "hrint": np.rint,
         "hsqrt": np.sqrt, "hsin": np.sin, "hcos": np.cos, "htanh": np.tanh, "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10,
         "hexp": np.exp, "hexp2": np.exp2, "hexp10": lambda x: 10.0 ** x, "hrcp": lambda x: 1.0 / x,
         "hrsqrt": lambda x: 1.0 / np.sqrt(x)}
COMPARE = {"heq": np.equal, "hne": np.not_equal, "hgt": np.greater, "hge": np.greater_equal, "hlt": np.less, "hle": np.less_equal}


def near(a, b):
    """Equal, or neighbours: what is computed in float32 is rounded twice."""
    a, b = np.asarray(a, np.float16), np.asarray(b, np.float16)
    return ((a == b) | (np.isnan(a) & np.isnan(b)) | (np.nextafter(a, b) == b)).all()


def of_all_pairs(function, dtype):
    """A function of cuda.fp16 for every pair of special numbers: (results, first numbers, second numbers)."""
    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        out[i] = function(a[i], b[i])

    a, b = np.repeat(SPECIAL, SPECIAL.size), np.tile(SPECIAL, SPECIAL.size)
    out = np.zeros(a.size, dtype)
    kernel[SPECIAL.size, SPECIAL.size](a, b, out)
    return out, a, b


@pytest.mark.parametrize("name", sorted(BINARY))
def test_halves_of_two(device, name):
    out, a, b = of_all_pairs(getattr(cuda.fp16, name), np.float16)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, rounded(BINARY[name])(a, b))


@pytest.mark.parametrize("name", sorted(UNARY))
def test_halves_of_one(device, name):
    function = getattr(cuda.fp16, name)

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = function(a[i])

    out = np.zeros_like(SPECIAL)
    kernel[1, SPECIAL.size](SPECIAL, out)
    with np.errstate(all="ignore"):
        assert near(out, rounded(UNARY[name])(SPECIAL)), (out, rounded(UNARY[name])(SPECIAL))


@pytest.mark.parametrize("name", sorted(COMPARE))
def test_halves_compared(device, name):
    out, a, b = of_all_pairs(getattr(cuda.fp16, name), np.bool_)
    np.testing.assert_array_equal(out, COMPARE[name](a, b))


def test_half_fma(device):
    @cuda.jit
    def kernel(a, b, c, out):
        i = cuda.grid(1)
        out[i] = cuda.fp16.hfma(a[i], b[i], c[i])

    a = np.array([1 + 2**-10, 3.0, -1.5, 2.0], np.float16)
    c = np.array([-1.0 - 2**-9, 0.25, 7.0, 1.0], np.float16)
    out = np.zeros_like(a)
    kernel[1, 4](a, a, c, out)
    assert out.tolist() == (a.astype(float) * a.astype(float) + c.astype(float)).astype(np.float16).tolist()
    assert out[0] == 2**-20  # rounded in between, it is 0


# -- vectors ------------------------------------------------------------------------------------------------

def test_vectors(device):
    @cuda.jit
    def kernel(out, x):
        v = cuda.float32x3(x, 2, 3.5)
        w = cuda.float4(v, x + 0.75)
        pair = cuda.int16x2(2.9, x)
        out[0], out[1], out[2] = v.x, v.y, v.z
        out[3], out[4] = w.z, w.w
        out[5], out[6] = pair.x, pair.y
        both = cuda.double4(pair, cuda.uchar2(255, 256))
        out[7], out[8] = both.z, both.w
        out[9] = cuda.longlong1(7).x

    out = np.zeros(10)
    kernel[1, 1](out, 1)
    assert out.tolist() == [1, 2, 3.5, 3.5, 1.75, 2, 1, 255, 0, 7]


def test_vectors_cross_functions(device):
    @cuda.jit(device=True)
    def cross(a, b):
        return cuda.double3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)

    @cuda.jit
    def kernel(a, b, out):
        c = cross(cuda.double3(a[0], a[1], a[2]), cuda.double3(b[0], b[1], b[2]))
        best = c
        for i in range(3):
            if i == 2:
                best = cuda.double3(c.x, c.y, -c.z)
        out[0], out[1], out[2] = best.x, best.y, best.z

    a, b, out = np.array([1.0, 2, 3]), np.array([-2.0, 5, 7]), np.zeros(3)
    kernel[1, 1](a, b, out)
    assert out.tolist() == (np.cross(a, b) * [1, 1, -1]).tolist()


def test_vectors_take_as_many_numbers_as_they_have():
    @cuda.jit
    def kernel(out):
        out[0] = cuda.float32x3(1, 2).x

    with pytest.raises(errors.TypingError, match="float32x3"):
        kernel[1, 1](np.zeros(1))


def test_names_of_both_kinds():
    assert repr(cuda.float3) == "<cuda.float32x3>" and cuda.float32x3 is cuda.float32x3
    assert repr(hip.uchar4) == "<hip.uint8x4>" and hip.fp16.hadd is not None
    assert pickle.loads(pickle.dumps(cuda.float3)) is cuda.float32x3
    for name in ("float5", "float0", "float32x5", "no_such"):
        with pytest.raises(AttributeError, match=name):
            getattr(cuda, name)
    with pytest.raises(errors.LaunchError, match="only be used inside a kernel"):
        cuda.float3(1, 2, 3)


# -- others -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("load,store", [("ldca", "stcg"), ("ldcg", "stcs"), ("ldcs", "stwb"), ("ldlu", "stwt"), ("ldcv", "stcg")])
def test_cache_hints(device, load, store):
    load, store = getattr(cuda, load), getattr(cuda, store)

    @cuda.jit
    def kernel(a, b, out, out2):
        i = cuda.grid(1)
        store(out, i, load(a, i) * 2)
        store(out2, (i, 1), load(b, (i, 0)))

    a, b = np.arange(4.0), np.arange(8, dtype=np.int16).reshape(4, 2)
    out, out2 = np.zeros(4), np.zeros((4, 2), np.int32)
    kernel[1, 4](a, b, out, out2)
    assert out.tolist() == [0, 2, 4, 6] and out2[:, 1].tolist() == [0, 2, 4, 6] and not out2[:, 0].any()


def test_literal_unroll(device):
    @cuda.jit
    def kernel(out):
        for x in cuda.literal_unroll((1, 2.5, True)):
            out[0] += x

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 4.5


NUMBERS = [0, 1, 5, -5, -1, 2**63 - 1, -2**63, 2**64 - 1, True, False]


@pytest.mark.parametrize("x", NUMBERS + [kind(v) for kind in (np.int8, np.int16, np.int32, np.int64) for v in (-1, -7, 100, np.iinfo(kind).min)]
                         + [kind(v) for kind in (np.uint8, np.uint16, np.uint32, np.uint64) for v in (0, 5, np.iinfo(kind).max)], ids=repr)
def test_bit_count(x):
    assert njit(lambda x: x.bit_count())(x) == int(x).bit_count()


@pytest.mark.parametrize("x", [0, 1, -1, 255, 256, -256, 2**62, -(2**63), 2**63 - 1])
def test_bit_length(x):
    assert njit(lambda x: x.bit_length())(x) == x.bit_length()


def test_bit_count_in_a_kernel(device):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        out[i] = a[i].bit_count()

    a, out = np.array([0, -1, -6, 2**40 + 3]), np.zeros(4, np.int64)
    kernel[1, 4](a, out)
    assert out.tolist() == [int(x).bit_count() for x in a]


def test_H05_a_stream_in_asyncio(device):
    async def main():
        stream = cuda.stream()
        a = cuda.to_device(np.arange(3.0), stream=stream)
        assert await stream.async_done() is stream
        given_up = stream.async_done()
        given_up.cancel()
        await asyncio.sleep(0.01)
        return a.copy_to_host().tolist()

    assert asyncio.run(main()) == [0, 1, 2]


def test_H03_mapped(device):
    @cuda.jit
    def kernel(a, b):
        i = cuda.grid(1)
        a[i] += 1
        if i == 0:
            b[0] = a.size

    a, b = np.arange(3.0), np.zeros(1)
    with cuda.mapped(a) as one:
        kernel[1, 3](one, b)
    assert a.tolist() == [1, 2, 3] and b[0] == 3
    with pytest.raises(KeyError), cuda.mapped(a, b) as (one, two):
        kernel[1, 3](one, two)
        two.copy_to_device(np.array([9.0]))
        raise KeyError
    assert a.tolist() == [2, 3, 4] and b[0] == 9


def test_what_a_device_supports(device):
    assert cuda.is_float16_supported() and cuda.is_bfloat16_supported()
    assert cuda.is_fp8_supported() is False
    assert math.isfinite(cuda.current_context().get_memory_info().free)
