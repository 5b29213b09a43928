"""Functions of cuda.bf16: on bfloat16, each rounded once, but for those that say otherwise. Conversions have CUDA's names and those
with NumPy's names of types."""
import math

import numpy as np

from quern import cuda
from quern.types import bfloat16


def habs(a):
    return abs(bfloat16(a))


def hneg(a):
    return -bfloat16(a)


def hadd(a, b):
    return bfloat16(a) + bfloat16(b)


def hsub(a, b):
    return bfloat16(a) - bfloat16(b)


def hmul(a, b):
    return bfloat16(a) * bfloat16(b)


def hdiv(a, b):
    return np.divide(bfloat16(a), bfloat16(b))


def _bits(x):
    a = cuda.local.array(1, np.float32)
    a[0] = x
    return a.view(np.uint32)[0]


def _of_bits(bits):
    a = cuda.local.array(1, np.uint32)
    a[0] = bits
    return a.view(np.float32)[0]


def _sum(x, y):
    """Of float64, towards zero with the last bit set where something is cut off, so that rounding it again rounds once."""
    total = cuda.local.array(1, np.float64)
    total[0] = x + y
    back = total[0] - x
    error = (x - (total[0] - back)) + (y - back)
    bits = total.view(np.int64)
    if error != 0.0 and bits[0] & 1 == 0:
        bits[0] += 1 if (error > 0.0) == (total[0] > 0.0) else -1
    return total[0]


def hfma(a, b, c):
    x, y, z = np.float32(bfloat16(a)), np.float32(bfloat16(b)), np.float32(bfloat16(c))
    single = cuda.fma(x, y, z)
    if _bits(single) & np.uint32(0xffff) == np.uint32(0x8000):  # half way between two: what was cut off decides
        return bfloat16(_sum(np.float64(x) * np.float64(y), np.float64(z)))
    return bfloat16(single)


# -- with the result in 0 to 1, or not negative ------------------------------------------------------------------


def _saturated(a):
    return bfloat16(min(max(np.float32(a), np.float32(0)), np.float32(1)) if a == a else np.float32(0))


def hadd_sat(a, b):
    return _saturated(hadd(a, b))


def hsub_sat(a, b):
    return _saturated(hsub(a, b))


def hmul_sat(a, b):
    return _saturated(hmul(a, b))


def hfma_sat(a, b, c):
    return _saturated(hfma(a, b, c))


def hfma_relu(a, b, c):
    result = hfma(a, b, c)
    return bfloat16(0.0) if result < np.float32(0) else result


# -- comparisons: false for nan, those that end with u: true ---------------------------------------------------------


def heq(a, b):
    return bfloat16(a) == bfloat16(b)


def hne(a, b):
    return bfloat16(a) < bfloat16(b) or bfloat16(a) > bfloat16(b)


def hgt(a, b):
    return bfloat16(a) > bfloat16(b)


def hge(a, b):
    return bfloat16(a) >= bfloat16(b)


def hlt(a, b):
    return bfloat16(a) < bfloat16(b)


def hle(a, b):
    return bfloat16(a) <= bfloat16(b)


def hequ(a, b):
    return not hne(a, b)


def hneu(a, b):
    return not heq(a, b)


def hgtu(a, b):
    return not hle(a, b)


def hgeu(a, b):
    return not hlt(a, b)


def hltu(a, b):
    return not hge(a, b)


def hleu(a, b):
    return not hgt(a, b)


def hmax(a, b):
    """The larger one; nan loses."""
    return bfloat16(np.fmax(np.float32(bfloat16(a)), np.float32(bfloat16(b))))


def hmin(a, b):
    """The smaller one; nan loses."""
    return bfloat16(np.fmin(np.float32(bfloat16(a)), np.float32(bfloat16(b))))


def hmax_nan(a, b):
    """The larger one; nan wins."""
    return bfloat16(np.maximum(np.float32(bfloat16(a)), np.float32(bfloat16(b))))


def hmin_nan(a, b):
    """The smaller one; nan wins."""
    return bfloat16(np.minimum(np.float32(bfloat16(a)), np.float32(bfloat16(b))))


def hisnan(a):
    return math.isnan(np.float32(bfloat16(a)))


def hisinf(a):
    """1 for infinity, -1 for the negative one, else 0."""
    x = np.float32(bfloat16(a))
    return np.int32(0) if not math.isinf(x) else np.int32(1) if x > np.float32(0) else np.int32(-1)


# -- of one number: computed in float32, then rounded --------------------------------------------------------


def hsin(a):
    return bfloat16(np.sin(np.float32(bfloat16(a))))


def hcos(a):
    return bfloat16(np.cos(np.float32(bfloat16(a))))


def htanh(a):
    return bfloat16(np.tanh(np.float32(bfloat16(a))))


def hlog(a):
    return bfloat16(np.log(np.float32(bfloat16(a))))


def hlog2(a):
    return bfloat16(np.log2(np.float32(bfloat16(a))))


def hlog10(a):
    return bfloat16(np.log10(np.float32(bfloat16(a))))


def hexp(a):
    return bfloat16(np.exp(np.float32(bfloat16(a))))


def hexp2(a):
    return bfloat16(np.exp2(np.float32(bfloat16(a))))


def hexp10(a):
    return bfloat16(np.power(np.float32(10.0), np.float32(bfloat16(a))))


def hsqrt(a):
    return bfloat16(np.sqrt(np.float32(bfloat16(a))))


def hrsqrt(a):
    return bfloat16(np.divide(np.float32(1.0), np.sqrt(np.float32(bfloat16(a)))))


def hrcp(a):
    return bfloat16(np.divide(np.float32(1.0), np.float32(bfloat16(a))))


def hceil(a):
    return bfloat16(np.ceil(np.float32(bfloat16(a))))


def hfloor(a):
    return bfloat16(np.floor(np.float32(bfloat16(a))))


def htrunc(a):
    return bfloat16(np.trunc(np.float32(bfloat16(a))))


def hrint(a):
    """The nearest whole number, ties to even."""
    return bfloat16(np.rint(np.float32(bfloat16(a))))


# -- conversions -------------------------------------------------------------------------------------------------


def _as_uint16(a):
    return np.uint16(_bits(np.float32(bfloat16(a))) >> np.uint32(16))


def _of_uint16(bits):
    store = cuda.local.array(1, np.uint16)
    store[0] = bits
    return store.view(bfloat16)[0]


def _as_int16(a):
    return np.int16(_as_uint16(a))


def _of_int16(bits):
    return _of_uint16(np.uint16(np.int16(bits)))


def _of_single(x, up, down):
    """Towards zero, or away from it: positive numbers if `up`, negative ones if `down`."""
    if math.isnan(x):
        return bfloat16(x)
    bits = _bits(x)
    kept = bits & np.uint32(0xffff0000)
    if bits != kept and (up if bits < np.uint32(0x80000000) else down):
        kept += np.uint32(0x10000)
    return bfloat16(_of_bits(np.uint32(kept)))


def _of_whole(size, away):
    """Of an uint64: its first eight bits, and one more in the last place if `away` and others were cut off."""
    cut = max(np.int64(56 - cuda.clz(size)), np.int64(0))
    kept = size >> np.uint64(cut)
    if away and kept << np.uint64(cut) != size:
        kept += np.uint64(1)
    return np.float32(kept) * np.float32(np.uint64(1) << np.uint64(cut))


def _from(kind, up, down):
    """The conversion of an int towards zero, or as _of_single has it."""
    if kind in (np.uint16, np.uint32, np.uint64):
        return lambda x: bfloat16(_of_whole(np.uint64(kind(x)), up))

    def convert(x):
        value = np.int64(kind(x))
        if value < 0:
            return -bfloat16(_of_whole(np.uint64(-value), down))
        return bfloat16(_of_whole(np.uint64(value), up))
    return convert


def _ints():
    """Of and to ints, with both names."""
    for name, other, kind in (("short", "int16", np.int16), ("ushort", "uint16", np.uint16), ("int", "int32", np.int32),
                              ("uint", "uint32", np.uint32), ("ll", "int64", np.int64), ("ull", "uint64", np.uint64)):
        for mode, of, to in (("rn", _nearest(kind), _to(kind, np.rint)), ("rz", _from(kind, False, False), _to(kind, np.trunc)),
                             ("rd", _from(kind, False, True), _to(kind, np.floor)), ("ru", _from(kind, True, False), _to(kind, np.ceil))):
            yield f"{name}2bfloat16_{mode}", of
            yield f"{other}_to_bfloat16_{mode}", of
            yield f"bfloat162{name}_{mode}", to
            yield f"bfloat16_to_{other}_{mode}", to


def _nearest(kind):
    return lambda x: bfloat16(kind(x))


def _to(kind, rounding):
    return lambda a: kind(rounding(np.float32(bfloat16(a))))


def _names():
    plain = (habs, hadd, hceil, hcos, hdiv, heq, hequ, hexp, hexp10, hexp2, hfloor, hfma, hge, hgeu, hgt, hgtu, hisinf, hisnan, hle,
             hleu, hlog, hlog10, hlog2, hlt, hltu, hmax, hmin, hmul, hne, hneg, hneu, hrcp, hrint, hrsqrt, hsin, hsqrt, hsub, htanh,
             htrunc, hadd_sat, hsub_sat, hmul_sat, hfma_sat, hfma_relu, hmax_nan, hmin_nan)
    named = {function.__name__: function for function in plain}
    named.update(hadd_rn=hadd, hsub_rn=hsub, hmul_rn=hmul, htanh_approx=htanh, **dict(_ints()))
    single, double = _nearest(np.float32), _nearest(np.float64)
    down, up = (lambda x: _of_single(np.float32(x), False, True)), (lambda x: _of_single(np.float32(x), True, False))
    zero, back = (lambda x: _of_single(np.float32(x), False, False)), (lambda a: np.float32(bfloat16(a)))
    for names, function in (
            ("float2bfloat16 float2bfloat16_rn float32_to_bfloat16 float32_to_bfloat16_rn", single),
            ("double2bfloat16 float64_to_bfloat16", double), ("bfloat162float bfloat16_to_float32", back),
            ("float2bfloat16_rz float32_to_bfloat16_rz", zero), ("float2bfloat16_rd float32_to_bfloat16_rd", down),
            ("float2bfloat16_ru float32_to_bfloat16_ru", up), ("bfloat162char_rz bfloat16_to_int8_rz", _to(np.int8, np.trunc)),
            ("bfloat162uchar_rz bfloat16_to_uint8_rz", _to(np.uint8, np.trunc)),
            ("bfloat16_as_short bfloat16_as_int16", _as_int16), ("bfloat16_as_ushort bfloat16_as_uint16", _as_uint16),
            ("short_as_bfloat16 int16_as_bfloat16", _of_int16), ("ushort_as_bfloat16 uint16_as_bfloat16", _of_uint16)):
        named.update(dict.fromkeys(names.split(), function))
    return named


FUNCTIONS = {f"cuda.bf16.{name}": function for name, function in _names().items()}
