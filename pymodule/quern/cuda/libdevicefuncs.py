"""The functions of cuda.libdevice with the types that CUDA's library gives them: what programs look up that make calls of them."""
from collections import namedtuple

from .. import types as _types

arg = namedtuple("arg", "name ty is_ptr")

# result and parameters (d float64, f float32, i int32, l int64, h int16, v nothing; behind a star: of a pointer to what comes back), names
_ROWS = """
d d: acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 drcp_rd drcp_rn drcp_ru drcp_rz dsqrt_rd dsqrt_rn
    dsqrt_ru dsqrt_rz erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf
    normcdfinv rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1
d d*d: modf
d d*i: frexp
d dd: atan2 copysign dadd_rd dadd_rn dadd_ru dadd_rz ddiv_rd ddiv_rn ddiv_ru ddiv_rz dmul_rd dmul_rn dmul_ru dmul_rz fdim fmax fmin fmod
    hypot nextafter pow remainder
d dd*i: remquo
d ddd: fma fma_rd fma_rn fma_ru fma_rz
d di: ldexp powi scalbn
d i: int2double_rn uint2double_rn
d id: jn yn
d ii: hiloint2double
d l: ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double ull2double_rd ull2double_rn ull2double_ru ull2double_rz
f d: double2float_rd double2float_rn double2float_ru double2float_rz
f f: acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf cospif cyl_bessel_i0f cyl_bessel_i1f erfcf erfcinvf erfcxf erff erfinvf
    exp10f exp2f expf expm1f fabsf fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf floorf frcp_rd
    frcp_rn frcp_ru frcp_rz frsqrt_rn fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz j0f j1f lgammaf log10f log1pf log2f logbf logf nearbyintf normcdff
    normcdfinvf rcbrtf rintf roundf rsqrtf saturatef sinf sinhf sinpif sqrtf tanf tanhf tgammaf truncf y0f y1f
f f*f: modff
f f*i: frexpf
f ff: atan2f copysignf fadd_rd fadd_rn fadd_ru fadd_rz fast_fdividef fast_powf fdimf fdiv_rd fdiv_rn fdiv_ru fdiv_rz fmaxf fminf fmodf
    fmul_rd fmul_rn fmul_ru fmul_rz fsub_rd fsub_rn fsub_ru fsub_rz hypotf nextafterf powf remainderf
f ff*i: remquof
f fff: fmaf fmaf_rd fmaf_rn fmaf_ru fmaf_rz
f fi: ldexpf powif scalbnf
f h: half2float
f i: int2float_rd int2float_rn int2float_ru int2float_rz int_as_float uint2float_rd uint2float_rn uint2float_ru uint2float_rz
f if: jnf ynf
f l: ll2float_rd ll2float_rn ll2float_ru ll2float_rz ull2float_rd ull2float_rn ull2float_ru ull2float_rz
h f: float2half_rn
i d: double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2loint double2uint_rd double2uint_rn double2uint_ru
    double2uint_rz ilogb isfinited isinfd isnand signbitd
i f: finitef float2int_rd float2int_rn float2int_ru float2int_rz float2uint_rd float2uint_rn float2uint_ru float2uint_rz float_as_int ilogbf
    isinff isnanf signbitf
i i: abs brev clz ffs popc
i ii: hadd max min mul24 mulhi rhadd uhadd umax umin umul24 umulhi urhadd
i iii: byte_perm sad usad
i l: clzll ffsll popcll
l d: double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2ull_rd double2ull_rn double2ull_ru double2ull_rz double_as_longlong llrint
    llround
l f: float2ll_rd float2ll_rn float2ll_ru float2ll_rz float2ull_rd float2ull_rn float2ull_ru float2ull_rz llrintf llroundf
l l: brevll llabs
l ll: llmax llmin mul64hi ullmax ullmin umul64hi
v d*d*d: sincos sincospi
v f*f*f: fast_sincosf sincosf sincospif
"""
_LETTERS = {"d": _types.float64, "f": _types.float32, "i": _types.int32, "l": _types.int64, "h": _types.int16, "v": _types.void}


def _params(letters):
    pointers = [letters[k - 1:k] == "*" for k in range(len(letters))]
    plain = [(letter, pointer) for letter, pointer in zip(letters, pointers) if letter != "*"]
    return [arg("xyzw"[k], _LETTERS[letter], pointer) for k, (letter, pointer) in enumerate(plain)]


def _table():
    table = {}
    for row in _ROWS.replace("\n    ", " ").strip().split("\n"):
        head, _, names = row.partition(": ")
        result, _, params = head.partition(" ")
        table.update({"__nv_" + name: (_LETTERS[result], _params(params)) for name in names.split()})
    return dict(sorted(table.items()))


functions = _table()  # {"__nv_sin": (float64, [arg("x", float64, False)])}


def create_signature(retty, args):
    """Of the call in a kernel: what comes back by pointers stands behind the result, in a tuple."""
    results = [] if retty == _types.void else [retty]
    results += [a.ty for a in args if a.is_ptr]
    result = results[0] if len(results) == 1 else _types.Tuple(results)
    return _types.Signature(result, [a.ty for a in args if not a.is_ptr])
