"""bfloat16 in kernels: the type, its arithmetic, the functions of cuda.bf16, arrays of the package ml_dtypes (FEATURES C30)."""
import fractions
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import quern
from quern import cuda, njit
from quern.cuda import bf16
from quern.types import bfloat16

ml_dtypes = pytest.importorskip("ml_dtypes", reason="make test installs it")
BF16 = np.dtype(ml_dtypes.bfloat16)
# zeros, subnormals, ones with their neighbours, large ones, infinities, nan
BITS = np.array([0, 1, 0x7F, 0x80, 0x81, 0x3F00, 0x3F7F, 0x3F80, 0x3F81, 0x3FC0, 0x4000, 0x4049, 0x40FF, 0x4248, 0x4B00, 0x5F80, 0x7F00, 0x7F7F,
                 0x7F80, 0x7FC0], np.uint16)
NUMBERS = np.concatenate([BITS, BITS | 0x8000]).view(BF16)
BELOW = np.array([x for x in NUMBERS if np.isfinite(np.float32(x))], BF16)


def pairs():
    a, b = np.meshgrid(NUMBERS, NUMBERS)
    return a.ravel().copy(), b.ravel().copy()


def same(got, want):
    """To the bit, but that one nan is as good as another."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype
    nan = np.isnan(want.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), nan)
    bits = np.dtype(f"u{got.itemsize}")
    np.testing.assert_array_equal(got.view(bits)[~nan], want.view(bits)[~nan])


def nearest(exact, rounding="rn"):
    """The bfloat16 of an exact number (a Fraction) by its definition; whole=None: to the nearest."""
    size = abs(exact)
    if size == 0:
        return 0.0
    exponent = math.floor(math.log2(size)) if size.denominator == 1 and size.numerator < 2**1000 else math.frexp(float(size))[1] - 1
    while fractions.Fraction(2)**exponent > size:
        exponent -= 1
    while fractions.Fraction(2)**(exponent + 1) <= size:
        exponent += 1
    unit = fractions.Fraction(2)**(max(exponent, -126) - 7)
    whole, rest = divmod(size, unit)
    up = {"rz": False, "rd": exact < 0 and rest > 0, "ru": exact > 0 and rest > 0}.get(rounding)
    if up is None:
        up = rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1)
    result = (whole + up) * unit
    largest = fractions.Fraction(2)**128 - fractions.Fraction(2)**120
    result = math.inf if result > largest else float(result)
    return math.copysign(result, exact)


def exact(values, rounding="rn"):
    """What nearest says of Python numbers, as an array of bfloat16."""
    return np.array([x if isinstance(x, float) and not math.isfinite(x) else math.copysign(0.0, x) if x == 0 else
                     nearest(fractions.Fraction(x), rounding) for x in values]).astype(np.float32).astype(BF16)


def elements(function, *arrays, dtype=BF16):
    """function of each row of the arrays, on the device."""
    if len(arrays) == 1:
        @cuda.jit
        def kernel(out, a):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(a[i])
    elif len(arrays) == 2:
        @cuda.jit
        def kernel(out, a, b):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(a[i], b[i])
    else:
        @cuda.jit
        def kernel(out, a, b, c):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = function(a[i], b[i], c[i])
    out = np.zeros(arrays[0].size, dtype)
    kernel[(out.size + 63) // 64, 64](out, *arrays)
    return out


def as_float(*arrays):
    with np.errstate(invalid="ignore"):  # of nan
        return [a.astype(np.float64) for a in arrays]


# -- arithmetic ------------------------------------------------------------------------------------------------------

OPERATORS = [("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide)]


@pytest.mark.parametrize("sign,function", OPERATORS, ids=[s for s, _ in OPERATORS])
def test_C30_operators_round_once(device, sign, function):
    """A float32 has more than twice the bits: rounding its result again rounds once."""
    a, b = pairs()
    got = elements(eval(f"lambda x, y: x {sign} y"), a, b)
    with np.errstate(all="ignore"):
        same(got, function(a.astype(np.float32), b.astype(np.float32)).astype(BF16))


def test_C30_what_meets_bfloat16(device):
    """Python numbers take its type, as do ints of 8 bits; float16 and float32 are more."""
    @cuda.jit
    def kernel(out, a, single, half, small, n, x):
        y = a[0]
        out[0] = y * x       # 1.0078125 * 1.1 is 1.109375 in bfloat16
        out[1] = y * n
        out[2] = y + small[0]
        out[3] = y * single[0]
        out[4] = y * half[0]
        out[5] = -y
        out[6] = abs(-y)
        out[7] = y ** 2
        out[8] = y // bfloat16(0.3)
        out[9] = y % bfloat16(0.3)
        y += 1
        out[10] = y

    y, out = ml_dtypes.bfloat16(1.0078125), np.zeros(11)
    kernel[1, 1](out, np.array([y]), np.array([1.1], np.float32), np.array([1.1], np.float16), np.array([3], np.int8), 3, 1.1)
    third = float(ml_dtypes.bfloat16(0.3))
    rounded = [float(ml_dtypes.bfloat16(v)) for v in (1.0078125 * float(np.float32(ml_dtypes.bfloat16(1.1))), 3 * 1.0078125, 4.0078125)]
    assert out[:3].tolist() == rounded
    assert out[3] == np.float32(1.0078125) * np.float32(1.1) and out[4] == np.float32(1.0078125) * np.float32(np.float16(1.1))
    assert out[5:8].tolist() == [-1.0078125, 1.0078125, float(ml_dtypes.bfloat16(1.0078125**2))]
    assert out[8] == 3 and out[9] == float(ml_dtypes.bfloat16(1.0078125 % third)) and out[10] == float(ml_dtypes.bfloat16(2.0078125))


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
def test_C30_comparisons(device, sign):
    a, b = pairs()
    compare = eval(f"lambda x, y: x {sign} y")
    np.testing.assert_array_equal(elements(compare, a, b, dtype=np.bool_), compare(*as_float(a, b)))


def test_C30_truth_and_selection(device):
    a, b = pairs()
    x, y = as_float(a, b)
    np.testing.assert_array_equal(elements(lambda p: bool(p), a, dtype=np.bool_), x != 0)
    same(elements(lambda p, q: p if q else q, a, b), np.where(y != 0, a, b))


# -- conversions -----------------------------------------------------------------------------------------------------


def hard_floats():
    """Ties, almost ties, and what two roundings would get wrong."""
    base = [float(x) for x in BELOW] + [1.0 + k / 256 for k in range(8)] + [2.0**-133, 2.0**-134, 2.0**-140, 3.3895313892515355e38, 3.4e38, 1e300]
    values = []
    for x in base:
        step = 2.0**-9 * 2.0**math.floor(math.log2(abs(x))) if x else 0.0
        for tie in (x, x + step, x - step, x + step / 2):
            values += [tie, tie * (1 + 2.0**-40), tie * (1 - 2.0**-40), tie * (1 + 2.0**-52), tie * (1 - 2.0**-53)]
    return np.array(values + [-v for v in values] + [np.inf, -np.inf, np.nan])


def test_C30_floats_are_rounded_once(device):
    doubles = hard_floats()
    same(elements(lambda x: bfloat16(x), doubles), exact(doubles.tolist()))
    same(elements(lambda x: bf16.double2bfloat16(x), doubles), exact(doubles.tolist()))
    with np.errstate(over="ignore"):
        singles = doubles.astype(np.float32)
        halves = doubles.astype(np.float16)
    same(elements(lambda x: x, singles), exact(singles.tolist()))
    same(elements(lambda x: x, halves), exact(halves.tolist()))
    for rounding in ("rn", "rz", "rd", "ru"):
        function = getattr(bf16, "float2bfloat16_" + rounding)
        same(elements(lambda x: function(x), singles), exact(singles.tolist(), rounding))


def test_C30_to_other_floats_nothing_is_lost(device):
    every = np.arange(65536, dtype=np.uint16).view(BF16)
    numbers = every[~np.isnan(every.astype(np.float32))]
    for dtype in (np.float32, np.float64):
        same(elements(lambda x: x, numbers, dtype=dtype), numbers.astype(dtype))
    got = elements(lambda x: x, every, dtype=BF16)  # loads and stores keep every bit, those of nan, too
    np.testing.assert_array_equal(got.view(np.uint16), every.view(np.uint16))


INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
OF_CUDA = {"int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint", "int64": "ll", "uint64": "ull"}


def hard_ints(dtype):
    info = np.iinfo(dtype)
    values = {0, 1, 3, 127, 255, 256, 257, 258, 259, 789, info.max, info.min, info.max - 1, info.min + 1}
    for bits in range(8, info.bits):
        for tail in (0, 1, 2**max(bits - 8, 0), 2**max(bits - 8, 0) + 1, 2**max(bits - 8, 0) - 1, 3 * 2**max(bits - 8, 0)):
            values |= {2**bits + tail, -(2**bits) - tail}
    return np.array(sorted(v for v in values if info.min <= v <= info.max), dtype)


@pytest.mark.parametrize("dtype", INTS)
def test_C30_of_ints(device, dtype):
    values = hard_ints(dtype)
    same(elements(lambda x: bfloat16(x), values), exact(values.tolist()))
    for rounding in ("rn", "rz", "rd", "ru") if dtype in OF_CUDA else ():
        for name in (f"{OF_CUDA[dtype]}2bfloat16_{rounding}", f"{dtype}_to_bfloat16_{rounding}"):
            function = getattr(bf16, name)
            same(elements(lambda x: function(x), values), exact(values.tolist(), rounding))


@pytest.mark.parametrize("dtype", INTS)
def test_C30_to_ints(device, dtype):
    """They saturate, and nan is 0."""
    info, values = np.iinfo(dtype), np.concatenate([NUMBERS, exact([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 254.0, -3.75])])

    def want(rounding):
        whole = [0 if math.isnan(x) else x if math.isinf(x) else rounding(x) for x in map(float, values)]
        return np.array([int(min(max(v, info.min), info.max)) if math.isfinite(v) else info.max if v > 0 else info.min for v in whole], dtype)

    np.testing.assert_array_equal(elements(lambda x: x, values, dtype=dtype), want(math.trunc))
    modes = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil} if dtype in OF_CUDA else {"rz": math.trunc}
    short = OF_CUDA.get(dtype, {"int8": "char", "uint8": "uchar"}.get(dtype))
    for rounding, function in modes.items():
        for name in (f"bfloat162{short}_{rounding}", f"bfloat16_to_{dtype}_{rounding}"):
            convert = getattr(bf16, name)
            np.testing.assert_array_equal(elements(lambda x: convert(x), values, dtype=dtype), want(function))


def test_C30_bits(device):
    every = np.arange(0, 65536, 3, dtype=np.uint16)
    every = every[~np.isnan(every.view(BF16).astype(np.float32))]
    for name, other, dtype in (("short", "int16", np.int16), ("ushort", "uint16", np.uint16)):
        for of, to in ((f"{name}_as_bfloat16", f"bfloat16_as_{name}"), (f"{other}_as_bfloat16", f"bfloat16_as_{other}")):
            of, to = getattr(bf16, of), getattr(bf16, to)
            same(elements(lambda x: of(x), every.view(dtype)), every.view(BF16))
            np.testing.assert_array_equal(elements(lambda x: to(x), every.view(BF16), dtype=dtype), every.view(dtype))


# -- functions -------------------------------------------------------------------------------------------------------


def saturated(x):
    return np.where(np.isnan(x), 0, np.clip(x, 0, 1))


TWO = {"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hadd_rn": np.add, "hsub_rn": np.subtract, "hmul_rn": np.multiply,
       "hmax": np.fmax, "hmin": np.fmin, "hmax_nan": np.maximum, "hmin_nan": np.minimum, "hadd_sat": lambda a, b: saturated(a + b),
       "hsub_sat": lambda a, b: saturated(a - b), "hmul_sat": lambda a, b: saturated(a * b)}


@pytest.mark.parametrize("name", TWO)
def test_C30_functions_of_two(device, name):
    a, b = pairs()
    if "max" in name or "min" in name:  # which zero is the larger one is nobody's promise
        keep = ~((a.astype(np.float32) == 0) & (b.astype(np.float32) == 0))
        a, b = a[keep], b[keep]
    function = getattr(bf16, name)
    with np.errstate(all="ignore"):
        want = TWO[name](a.astype(np.float32), b.astype(np.float32)).astype(BF16)
    got = elements(lambda x, y: function(x, y), a, b)
    if name.endswith("sat"):  # the sign of a zero that was cut off
        got, want = (got.astype(np.float32) + np.float32(0)).astype(BF16), (want.astype(np.float32) + np.float32(0)).astype(BF16)
    same(got, want)


@pytest.mark.parametrize("name", ["heq", "hne", "hlt", "hle", "hgt", "hge"])
def test_C30_ordered_and_unordered_comparisons(device, name):
    a, b = pairs()
    x, y = as_float(a, b)
    nan = np.isnan(x) | np.isnan(y)
    want = {"heq": np.equal, "hne": np.not_equal, "hlt": np.less, "hle": np.less_equal, "hgt": np.greater, "hge": np.greater_equal}[name](x, y)
    ordered, unordered = getattr(bf16, name), getattr(bf16, name + "u")
    np.testing.assert_array_equal(elements(lambda p, q: ordered(p, q), a, b, dtype=np.bool_), want & ~nan)
    np.testing.assert_array_equal(elements(lambda p, q: unordered(p, q), a, b, dtype=np.bool_), want | nan)


def hard_sums():
    """Products and sums that lie half way between two numbers, or a very little beside."""
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 65536, (3, 4000)).astype(np.uint16)
    a, b, c = (x.view(BF16) for x in bits)
    near = rng.integers(0x3F00, 0x4100, (2, 4000)).astype(np.uint16)  # around 1: sums of like sizes
    p, q = (x.view(BF16) for x in near)
    tiny = np.array([2.0**-k for k in range(5, 130)] * 32, np.float32).astype(BF16)
    ties = np.array([1 + 2.0**-7 * k for k in range(125)] * 32, np.float32).astype(BF16)
    half = np.array([1.5 * 2.0**-8, 2.0**-8, -2.0**-8, 2.0**-60] * 1000, np.float32).astype(BF16)
    return (np.concatenate([a, p, ties, half[:4000]]), np.concatenate([b, q, np.full(4000, 1.00390625).astype(BF16), ties]),
            np.concatenate([c, p - q, tiny, -tiny]))


def test_C30_fma_rounds_once(device):
    a, b, c = hard_sums()
    got = elements(lambda x, y, z: bf16.hfma(x, y, z), a, b, c)
    want = []
    for x, y, z in zip(*map(np.ndarray.tolist, as_float(a, b, c))):
        if math.isfinite(x) and math.isfinite(y) and math.isfinite(z):
            total = fractions.Fraction(x) * fractions.Fraction(y) + fractions.Fraction(z)
            want.append(nearest(total) if total else x * y + z)
        else:
            want.append(x * y + z)
    same(got, np.array(want).astype(np.float32).astype(BF16))
    clipped = elements(lambda x, y, z: bf16.hfma_sat(x, y, z), a, b, c).astype(np.float32)
    np.testing.assert_array_equal(clipped, saturated(got.astype(np.float32)))
    relu = elements(lambda x, y, z: bf16.hfma_relu(x, y, z), a, b, c).astype(np.float32)
    single = got.astype(np.float32)
    np.testing.assert_array_equal(relu, np.where(single < 0, 0, single))


ONE = {"habs": np.abs, "hneg": np.negative, "hceil": np.ceil, "hfloor": np.floor, "htrunc": np.trunc, "hrint": np.rint, "hsqrt": np.sqrt,
       "hrcp": np.reciprocal}
NEAR = {"hsin": np.sin, "hcos": np.cos, "htanh": np.tanh, "htanh_approx": np.tanh, "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10, "hexp": np.exp,
        "hexp2": np.exp2, "hexp10": lambda x: np.power(10.0, x), "hrsqrt": lambda x: 1 / np.sqrt(x)}


@pytest.mark.parametrize("name", ONE)
def test_C30_functions_of_one(device, name):
    function = getattr(bf16, name)
    with np.errstate(all="ignore"):
        want = ONE[name](NUMBERS.astype(np.float32)).astype(BF16)
    same(elements(lambda x: function(x), NUMBERS), want)


@pytest.mark.parametrize("name", NEAR)
def test_C30_mathematics(device, name):
    """float32 is near enough, but where it meets the middle of two."""
    function = getattr(bf16, name)
    values = NUMBERS[~(np.abs(NUMBERS.astype(np.float32)) > 1e6)] if name in ("hsin", "hcos") else NUMBERS
    with np.errstate(all="ignore"):
        want = NEAR[name](values.astype(np.float64)).astype(np.float32).astype(BF16)
    got = elements(lambda x: function(x), values)
    np.testing.assert_allclose(got.astype(np.float32), want.astype(np.float32), rtol=2.0**-8, atol=2.0**-126)


def test_C30_functions_of_python_and_numpy(device):
    x = ml_dtypes.bfloat16(0.71875)

    @cuda.jit
    def kernel(out, a):
        y = a[0]
        out[0] = math.sin(y)
        out[1] = np.exp(y)
        out[2] = math.sqrt(y)
        out[3] = math.floor(y)
        out[4] = max(y, bfloat16(0.5))
        out[5] = np.fmin(y, bfloat16(0.5))
        out[6] = math.isnan(y)
        out[7] = math.frexp(y)[0]
        out[8] = round(y)

    out = np.zeros(9)
    kernel[1, 1](out, np.array([x]))
    f = float(x)
    want = [float(ml_dtypes.bfloat16(v)) for v in (math.sin(f), math.exp(f), math.sqrt(f))] + [0, f, 0.5, 0, math.frexp(f)[0], 1]
    assert out.tolist() == want


def test_C30_nan_and_infinity(device):
    x = NUMBERS.astype(np.float32)
    np.testing.assert_array_equal(elements(lambda v: bf16.hisnan(v), NUMBERS, dtype=np.bool_), np.isnan(x))
    np.testing.assert_array_equal(elements(lambda v: bf16.hisinf(v), NUMBERS, dtype=np.int32), np.where(np.isinf(x), np.sign(x), 0))


# -- arrays ----------------------------------------------------------------------------------------------------------


def test_C30_product_of_matrices_through_shared_memory(device):
    n = 32

    @cuda.jit
    def product(a, b, c):
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        left = cuda.shared.array((8, 8), bfloat16)
        right = cuda.shared.array((8, 8), bfloat16)
        total = np.float32(0)
        for k in range(0, n, 8):
            left[tx, ty] = a[x, k + ty]
            right[tx, ty] = b[k + tx, y]
            cuda.syncthreads()
            for j in range(8):
                total += np.float32(left[tx, j]) * np.float32(right[j, ty])
            cuda.syncthreads()
        c[x, y] = total

    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 8, (n, n)).astype(BF16) for _ in range(2))
    c = np.zeros((n, n), BF16)
    product[(n // 8, n // 8), (8, 8)](a, b, c)
    np.testing.assert_array_equal(c.astype(np.float32), (a.astype(np.float32) @ b.astype(np.float32)).astype(BF16).astype(np.float32))


def test_C30_arrays_of_a_device(device):
    a = np.arange(12).reshape(3, 4).astype(BF16)
    d = cuda.to_device(a)
    assert d.dtype == BF16 and "bfloat16" in repr(d)
    same(d.copy_to_host(), a)
    same(d[1:, ::2].copy_to_host(), a[1:, ::2])
    other = cuda.device_array((3, 4), BF16)
    third = cuda.device_array_like(d)

    @cuda.jit
    def kernel(x, y, z):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            part = cuda.local.array(2, bfloat16)
            part[0] = x[i, j]
            part[1] = part[0] + 1
            y[i, j] = part[1]
            z[i, j] = part[1] * part[0]

    kernel[(1, 1), (4, 4)](d, other, third)
    same(other.copy_to_host(), (a + BF16.type(1)))
    same(third.copy_to_host(), (a.astype(np.float32) * (a.astype(np.float32) + 1)).astype(BF16))
    with pytest.raises((TypeError, ValueError)):
        d.copy_to_host(np.zeros((3, 4), np.float16))


def test_C30_dlpack(device):
    a = np.arange(6).astype(BF16)
    d = cuda.to_device(a)

    class Tensor:
        def __dlpack__(self, **options):
            return d.__dlpack__(**options)

        def __dlpack_device__(self):
            return d.__dlpack_device__()

    assert d.__dlpack__() is not None
    if device == "cpu":  # no other library has arrays there
        return
    back = cuda.as_cuda_array(Tensor())
    assert back.dtype == BF16
    same(back.copy_to_host(), a)


def test_C30_signatures(device):
    @cuda.jit("void(bfloat16[::1], bfloat16[::1])")
    def eager(out, a):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] * a[i]

    @cuda.jit("bfloat16(bfloat16)", device=True)
    def half(x):
        return x / 2

    @cuda.jit
    def lazy(out, a):
        out[0] = half(a[0])

    a, out = np.array([1.5, 2.5, 3.5]).astype(BF16), np.zeros(3, BF16)
    eager[1, 4](out, a)
    assert out.astype(float).tolist() == [2.25, 6.25, 12.25]
    lazy[1, 1](out, a)
    assert out.astype(float).tolist()[0] == 0.75
    with pytest.raises(TypeError):
        eager[1, 4](out.view(np.int16), a)


def test_C30_warps_pass_it_on(device):
    lanes = 32
    a, out = np.arange(lanes).astype(BF16), np.zeros(lanes, BF16)

    @cuda.jit
    def kernel(out, a):
        i = cuda.threadIdx.x
        out[i] = cuda.shfl_xor_sync(0xffffffff, a[i], 1)

    kernel[1, lanes](out, a)
    assert out.astype(int).tolist() == [i ^ 1 for i in range(lanes)]


def test_C30_atomic_operations(device):
    @cuda.jit
    def kernel(a):
        cuda.atomic.add(a, 0, 1)
        cuda.atomic.max(a, 1, cuda.threadIdx.x)
        cuda.atomic.cas(a, 2, bfloat16(0), bfloat16(5))

    a = np.zeros(4, BF16)
    kernel[2, 8](a)
    assert a.astype(float).tolist() == [16, 7, 5, 0]


CONSTANT = np.arange(4).astype(BF16)


def test_C30_constant_arrays_and_reductions(device):
    @cuda.jit
    def kernel(out, a):
        constant = cuda.const.array_like(CONSTANT)
        i = cuda.threadIdx.x
        out[i] = constant[i] + CONSTANT[1] + np.sum(a)

    out = np.zeros(4, BF16)
    kernel[1, 4](out, CONSTANT)
    assert out.astype(float).tolist() == [7, 8, 9, 10]
    assert cuda.reduce(lambda x, y: x + y)(CONSTANT) == 6
    double = quern.vectorize(["bfloat16(bfloat16)"], target="cuda")(lambda x: x * 2)
    same(double(CONSTANT), CONSTANT + CONSTANT)


def test_C30_printed(device, capfd):
    @cuda.jit
    def kernel(a):
        print(a[1], a[1] * 2.5)

    kernel[1, 1](CONSTANT)
    cuda.synchronize()
    assert capfd.readouterr().out == "1.000000 2.500000\n"


def test_C30_numbers_of_the_host_are_refused_with_a_hint(device):
    kernel = cuda.jit(lambda out, x: None)
    with pytest.raises(TypeError, match=r"pass float\(x\)"):
        kernel[1, 1](np.zeros(1), BF16.type(1))
    with pytest.raises(TypeError, match="bfloat16"):
        quern.vectorize(lambda x: x * 2)(CONSTANT)


def test_C30_compiled_for_chips_without_a_device():
    def kernel(out, a):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = a[i] * a[i]

    signature = (bfloat16[::1], bfloat16[::1])
    for cc in ((7, 5), (8, 0), (9, 0)):
        text, result = cuda.compile_ptx(kernel, signature, cc=cc)
        assert ".entry" in text and result == quern.types.void
    assert quern.hip.compile(kernel, signature, arch="gfx90a").code[:4] == b"\x7fELF"


# -- on the host -----------------------------------------------------------------------------------------------------


def test_C30_outside_of_kernels():
    assert bfloat16(1.1) == ml_dtypes.bfloat16(1.1) and type(bfloat16(3)) is ml_dtypes.bfloat16
    assert quern.typeof(np.zeros(3, BF16)) == bfloat16[::1] and str(bfloat16) == "bfloat16"
    assert cuda.bf16.bfloat16 is bf16.bfloat16 is bfloat16 and quern.hip.bf16.bfloat16 is bfloat16
    assert len([name for name in dir(bf16) if not name.startswith("_")]) > 170

    @njit
    def scaled(a, x):
        out = np.zeros(a.size, bfloat16)
        for i in range(a.size):
            out[i] = a[i] * x
        return out, a[0] * x

    out, first = scaled(np.array([1.5, 3]).astype(BF16), 3.0)
    same(out, np.array([4.5, 9]).astype(BF16))
    assert first == 4.5


def test_C30_is_supported(device):
    assert cuda.is_bfloat16_supported() is True


def test_C30_without_the_package():
    """Kernels need it for arrays only."""
    program = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np
from quern import cuda, types, njit
from quern.cuda.bf16 import bfloat16, int16_as_bfloat16, bfloat16_as_int16

@cuda.jit
def doubled(a):
    i = cuda.grid(1)
    a[i] = bfloat16_as_int16(int16_as_bfloat16(a[i]) * 2)

a = np.array([0x3FC0, 0x4040], np.int16)
doubled[1, 2](a)
assert [hex(x) for x in a] == ["0x4040", "0x40c0"], a
eager = cuda.jit("void(bfloat16[::1])")(lambda a: None)
try:
    eager[1, 1](a)
except TypeError as error:
    assert "bfloat16" in str(error)
for make in (lambda: bfloat16(1.5), lambda: njit(lambda: np.zeros(2, bfloat16))()):
    try:
        make()
    except ImportError as error:
        assert "python -m pip install ml_dtypes" in str(error), error
    else:
        raise SystemExit("no exception")
"""
    environment = {**os.environ, "QUERN_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr


def test_C30_what_goes_around_a_loop_stays_as_small_as_it_is(device):
    def last(a, n, out):
        x, y = a[0], a[1]
        for i in range(n):
            if a[i] > x:
                x, y = y, x
            else:
                y = x
            out[i] = x
        out[n] = y

    a = np.array([1, 127, 0x8001, 3, 2, 90, 0x3F80, 5], np.uint16).view(BF16)
    got, want = np.zeros(9, BF16), np.zeros(9, BF16)
    cuda.jit(last)[1, 1](a, 8, got)
    last(a, 8, want)
    same(got, want)
