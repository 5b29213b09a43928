/* Numbers as the device computes them. See ptx_num.h.
 *
 * Floats narrower than f64 are worked on in double and rounded once; directed roundings borrow the
 * host's rounding mode for one operation. This file is compiled with -frounding-math, and operands
 * pass through volatile variables, so that the compiler does not move work across the mode switch.
 */
#include "ptx_num.h"

#include <fenv.h>
#include <math.h>

/* -- Small float formats ---------------------------------------------------------------------- */

static double round_integral(double value, PtxRnd rnd) {
    switch (rnd) {
    case RND_z: return trunc(value);
    case RND_m: return floor(value);
    case RND_p: return ceil(value);
    case RND_a: return round(value);
    default: break;
    }
    double down = floor(value), rest = value - down;
    if (!isfinite(value) || rest == 0) return value;
    if (rest != 0.5) return copysign(rest < 0.5 ? down : down + 1, value);
    return copysign(fmod(down, 2) == 0 ? down : down + 1, value);
}

typedef struct Format {
    int mantissa; /* stored bits */
    int exponent;
    int bias;
} Format;

static const Format half_format = {10, 5, 15};
static const Format bf16_format = {7, 8, 127};

static uint16_t encode(double value, PtxRnd rnd, Format f) {
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    uint16_t infinity = (uint16_t)(((1u << f.exponent) - 1) << f.mantissa);
    if (value != value) return 0x7fff;
    if (isinf(value)) return sign | infinity;
    int e = 0;
    frexp(value, &e);
    int low = 1 - f.bias;
    int unit = (e - 1 > low ? e - 1 : low) - f.mantissa;
    double scaled = fabs(round_integral(ldexp(value, -unit), rnd == RND_none ? RND_n : rnd));
    uint64_t digits = (uint64_t)scaled;
    if (digits >> (f.mantissa + 1)) digits >>= 1, unit++;
    if (!(digits >> f.mantissa)) return (uint16_t)(sign | digits); /* zero or subnormal */
    int field = unit + f.mantissa + f.bias;
    bool towards_zero = rnd == RND_z || (rnd == RND_m && !sign) || (rnd == RND_p && sign);
    if (field >= (1 << f.exponent) - 1) return (uint16_t)(sign | (infinity - towards_zero));
    return (uint16_t)(sign | field << f.mantissa | (digits & ((1u << f.mantissa) - 1)));
}

static double decode(uint16_t bits, Format f) {
    int field = bits >> f.mantissa & ((1 << f.exponent) - 1);
    int digits = bits & ((1 << f.mantissa) - 1);
    double value = field == 0 ? ldexp(digits, 1 - f.bias - f.mantissa)
                              : ldexp(digits + (1 << f.mantissa), field - f.bias - f.mantissa);
    if (field == (1 << f.exponent) - 1) value = digits ? (double)NAN : (double)INFINITY;
    return bits & 0x8000 ? -value : value;
}

float ptx_half_to_float(uint16_t half) {
    return (float)decode(half, half_format);
}
uint16_t ptx_float_to_half(double value, PtxRnd rnd) {
    return encode(value, rnd, half_format);
}
float ptx_bf16_to_float(uint16_t bits) {
    return ptx_f32((uint64_t)bits << 16);
}
uint16_t ptx_float_to_bf16(double value, PtxRnd rnd) {
    return encode(value, rnd, bf16_format);
}

/* -- Arithmetic with a rounding mode ---------------------------------------------------------- */

static int host_rounding(PtxRnd rnd) {
    switch (rnd) {
    case RND_z: return FE_TOWARDZERO;
    case RND_m: return FE_DOWNWARD;
    case RND_p: return FE_UPWARD;
    default: return FE_TONEAREST;
    }
}

#define ARITHMETIC(T, suffix, kind, a, b, c)                                                       \
    switch (kind) {                                                                                \
    case RK_add: result = a + b; break;                                                            \
    case RK_sub: result = a - b; break;                                                            \
    case RK_mul: result = a * b; break;                                                            \
    case RK_fma: result = fma##suffix(a, b, c); break;                                             \
    case RK_div: result = a / b; break;                                                            \
    case RK_rcp: result = 1 / a; break;                                                            \
    default: result = sqrt##suffix(a); break;                                                      \
    }

static float exact_f32(PtxRoundKind kind, float x, float y, float z) {
    volatile float a = x, b = y, c = z, result;
    ARITHMETIC(float, f, kind, a, b, c)
    return result;
}

static double exact_f64(PtxRoundKind kind, double x, double y, double z) {
    volatile double a = x, b = y, c = z, result;
    ARITHMETIC(double, , kind, a, b, c)
    return result;
}

/* Only the high half of an f64 goes in and comes out of the gross approximations. */
static double gross(double value) {
    uint64_t bits = ptx_bits64(value);
    bool subnormal = (bits & UINT64_C(0x7ff0000000000000)) == 0;
    if (value != value) return ptx_f64(UINT64_C(0x7fffffff00000000));
    return ptx_f64(subnormal ? bits & UINT64_C(0x8000000000000000)
                             : bits & UINT64_C(0xffffffff00000000));
}

static double min_max(PtxRoundKind kind, double a, double b) {
    if ((kind == RK_min_nan || kind == RK_max_nan) && (a != a || b != b)) return (double)NAN;
    return kind == RK_min || kind == RK_min_nan ? ptx_min(a, b) : ptx_max(a, b);
}

/* What is as exact in double as any type here can hold, or an approximation on the device as well. */
static double function(PtxRoundKind kind, double a, double b) {
    switch (kind) {
    case RK_rsqrt: return 1 / sqrt(a);
    case RK_sin: return sin(a);
    case RK_cos: return cos(a);
    case RK_lg2: return log2(a);
    case RK_ex2: return exp2(a);
    case RK_tanh: return tanh(a);
    case RK_abs: return fabs(a);
    case RK_neg: return -a;
    case RK_rcp_gross: return gross(1 / gross(a));
    case RK_rsqrt_gross: return gross(1 / sqrt(gross(a)));
    default: return min_max(kind, a, b);
    }
}

/* a * b + c in double, where an inexact sum keeps its last bit odd: rounding it again to a half type
 * then gives what rounding once would have given. */
static double fma_to_odd(double a, double b, double c) {
    double product = a * b, sum = product + c;
    double back = sum - product, rest = (product - (sum - back)) + (c - back);
    if (!isfinite(sum) || rest == 0 || rest != rest || (ptx_bits64(sum) & 1)) return sum;
    return nextafter(sum, rest > 0 ? (double)INFINITY : -(double)INFINITY);
}

static double flush(double value) {
    return fabs(value) < 0x1p-126 ? copysign(0, value) : value;
}

static double saturate(double value) {
    return value != value || value < 0 ? 0 : value > 1 ? 1 : value == 0 ? 0 : value;
}

static double finish(uint16_t aux, double value) {
    if (aux & ROUND_FTZ) value = flush(value);
    if (aux & ROUND_SAT) value = saturate(value);
    if ((aux & ROUND_RELU) && value < 0) value = 0;
    return value;
}

static uint64_t round_f32(uint16_t aux, float a, float b, float c) {
    PtxRoundKind kind = aux & 63;
    if (aux & ROUND_FTZ) a = (float)flush(a), b = (float)flush(b), c = (float)flush(c);
    float value;
    if (kind <= RK_sqrt) {
        fesetround(host_rounding(aux >> 6 & 7));
        value = exact_f32(kind, a, b, c);
        fesetround(FE_TONEAREST);
    } else {
        value = (float)function(kind, a, b);
    }
    return ptx_bits32((float)finish(aux, value));
}

static uint64_t round_f64(uint16_t aux, double a, double b, double c) {
    PtxRoundKind kind = aux & 63;
    double value;
    if (kind <= RK_sqrt) {
        fesetround(host_rounding(aux >> 6 & 7));
        value = exact_f64(kind, a, b, c);
        fesetround(FE_TONEAREST);
    } else {
        value = function(kind, a, b);
    }
    return ptx_bits64(aux & ROUND_SAT ? saturate(value) : value);
}

static uint64_t round_small(uint16_t aux, uint64_t a, uint64_t b, uint64_t c, Format f) {
    PtxRoundKind kind = aux & 63;
    double x = decode((uint16_t)a, f), y = decode((uint16_t)b, f), z = decode((uint16_t)c, f);
    double value;
    if (kind == RK_fma)
        value = fma_to_odd(x, y, z);
    else
        value = kind <= RK_sqrt ? exact_f64(kind, x, y, z) : function(kind, x, y);
    return encode(finish(aux & (uint16_t)~ROUND_FTZ, value), aux >> 6 & 7, f);
}

uint64_t ptx_round(uint16_t aux, uint64_t a, uint64_t b, uint64_t c) {
    switch (aux >> 9 & 7) {
    case 0: return round_f32(aux, ptx_f32(a), ptx_f32(b), ptx_f32(c));
    case 1: return round_f64(aux, ptx_f64(a), ptx_f64(b), ptx_f64(c));
    case 2: return round_small(aux, a, b, c, half_format);
    default: return round_small(aux, a, b, c, bf16_format);
    }
}

bool ptx_testp(unsigned test, unsigned bits, uint64_t a) {
    int class = bits == 32 ? fpclassify(ptx_f32(a)) : fpclassify(ptx_f64(a));
    switch (test) {
    case 0: return class != FP_NAN && class != FP_INFINITE;
    case 1: return class == FP_INFINITE;
    case 2: return class != FP_NAN;
    case 3: return class == FP_NAN;
    case 4: return class == FP_NORMAL;
    default: return class == FP_SUBNORMAL;
    }
}

/* -- Conversions ------------------------------------------------------------------------------ */

static double float_source(PtxCvt how, uint64_t a) {
    switch ((PtxType)how.from) {
    case PT_f16: return ptx_half_to_float((uint16_t)a);
    case PT_bf16: return ptx_bf16_to_float((uint16_t)a);
    case PT_f32: return how.ftz ? flush(ptx_f32(a)) : (double)ptx_f32(a);
    default: return ptx_f64(a);
    }
}

static uint64_t extend(PtxType type, uint64_t a) {
    unsigned drop = 64 - 8 * ptx_type_size(type);
    return ptx_type_signed(type) ? (uint64_t)((int64_t)(a << drop) >> drop) : a << drop >> drop;
}

/* Out of range gives the nearest integer of the type. The rule for NaN is the ISA's. */
static uint64_t float_to_int(PtxCvt how, double value) {
    unsigned bits = 8 * ptx_type_size((PtxType)how.to);
    bool is_signed = ptx_type_signed((PtxType)how.to);
    if (value != value) return how.from == PT_f64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
    value = round_integral(value, how.rnd == RND_none ? RND_z : (PtxRnd)how.rnd);
    double top = ldexp(1, (int)bits - is_signed);
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (value >= top) return is_signed ? mask >> 1 : mask;
    if (!is_signed) return value <= 0 ? 0 : (uint64_t)value;
    if (value < -top) return extend((PtxType)how.to, UINT64_C(1) << (bits - 1));
    return (uint64_t)(int64_t)value;
}

static uint64_t float_result(PtxCvt how, double value) {
    if (how.sat) value = saturate(value);
    if (how.relu && value < 0) value = 0;
    switch ((PtxType)how.to) {
    case PT_f16: return ptx_float_to_half(value, (PtxRnd)how.rnd);
    case PT_bf16: return ptx_float_to_bf16(value, (PtxRnd)how.rnd);
    case PT_f64: return ptx_bits64(value);
    default: break;
    }
    fesetround(host_rounding((PtxRnd)how.rnd));
    volatile double exact = value;
    volatile float narrow = (float)exact;
    fesetround(FE_TONEAREST);
    return ptx_bits32(how.ftz ? (float)flush(narrow) : narrow);
}

static uint64_t int_to_float(PtxCvt how, uint64_t a) {
    volatile uint64_t magnitude = a;
    volatile int64_t number = (int64_t)a;
    volatile float narrow;
    volatile double wide;
    bool is_signed = ptx_type_signed((PtxType)how.from);
    fesetround(host_rounding((PtxRnd)how.rnd));
    if (is_signed)
        narrow = (float)number, wide = (double)number;
    else
        narrow = (float)magnitude, wide = (double)magnitude;
    fesetround(FE_TONEAREST);
    if (how.to == PT_f32) return ptx_bits32(how.sat ? (float)saturate(narrow) : narrow);
    return float_result(how, wide);
}

static uint64_t int_saturate(PtxCvt how, uint64_t a) {
    unsigned bits = 8 * ptx_type_size((PtxType)how.to);
    bool from_signed = ptx_type_signed((PtxType)how.from);
    bool negative = from_signed && (int64_t)a < 0;
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (!ptx_type_signed((PtxType)how.to)) return negative ? 0 : a > mask ? mask : a;
    if (negative) return (int64_t)a < -(int64_t)(mask >> 1) - 1 ? ~(mask >> 1) : a;
    return a > mask >> 1 ? mask >> 1 : a;
}

uint64_t ptx_cvt(PtxCvt how, uint64_t a) {
    bool to_float = ptx_type_float((PtxType)how.to);
    if (!ptx_type_float((PtxType)how.from)) {
        a = extend((PtxType)how.from, a);
        if (to_float) return int_to_float(how, a);
        return extend((PtxType)how.to, how.sat ? int_saturate(how, a) : a);
    }
    double value = float_source(how, a);
    if (!to_float) return float_to_int(how, value);
    if (how.integral) value = round_integral(value, (PtxRnd)how.rnd), how.rnd = RND_n;
    return float_result(how, value);
}

/* -- Bits ------------------------------------------------------------------------------------- */

uint32_t ptx_lop3(uint32_t a, uint32_t b, uint32_t c, unsigned table) {
    uint32_t result = 0;
    for (unsigned row = 0; row < 8; row++) {
        if (!(table >> row & 1)) continue;
        result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    }
    return result;
}

static unsigned prmt_selector(unsigned mode, unsigned selector, unsigned byte) {
    unsigned s = selector & 3;
    switch (mode) {
    case 1: return s + byte;                        /* f4e */
    case 2: return (s - byte) & 7;                  /* b4e */
    case 3: return s;                               /* rc8 */
    case 4: return byte > s ? byte : s;             /* ecl */
    case 5: return byte < s ? byte : s;             /* ecr */
    case 6: return (selector & 1) * 2 + (byte & 1); /* rc16 */
    default: return selector >> (4 * byte) & 15;
    }
}

uint32_t ptx_prmt(uint32_t a, uint32_t b, uint32_t selector, unsigned mode) {
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (unsigned byte = 0; byte < 4; byte++) {
        unsigned which = prmt_selector(mode, selector, byte);
        uint32_t value = (uint32_t)(both >> (8 * (which & 7))) & 255;
        if (which & 8) value = value & 128 ? 255 : 0;
        result |= value << (8 * byte);
    }
    return result;
}

uint32_t ptx_funnel(uint32_t low, uint32_t high, uint32_t shift, bool left, bool wrap) {
    uint64_t both = (uint64_t)high << 32 | low;
    shift = wrap ? shift & 31 : shift > 32 ? 32 : shift;
    return (uint32_t)(left ? both << shift >> 32 : both >> shift);
}

uint64_t ptx_bfe(uint64_t a, uint32_t pos, uint32_t len, unsigned bits, bool is_signed) {
    pos &= 255, len &= 255;
    uint64_t result = 0;
    unsigned last = pos + len - 1 < bits - 1 ? pos + len - 1 : bits - 1;
    bool sign = is_signed && len != 0 && (a >> last & 1);
    for (unsigned i = 0; i < bits; i++) {
        bool bit = i < len && pos + i < bits ? a >> (pos + i) & 1 : sign;
        result |= (uint64_t)bit << i;
    }
    return result;
}

uint64_t ptx_bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits) {
    pos &= 255, len &= 255;
    for (unsigned i = 0; i < len && pos + i < bits; i++) {
        uint64_t bit = UINT64_C(1) << (pos + i);
        b = a >> i & 1 ? b | bit : b & ~bit;
    }
    return b;
}

uint64_t ptx_brev(uint64_t a) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; i++, a >>= 1)
        result = result << 1 | (a & 1);
    return result;
}

uint32_t ptx_clz(uint64_t a) {
    uint32_t count = 0;
    while (count < 64 && !(a >> (63 - count)))
        count++;
    return count;
}

uint32_t ptx_popc(uint64_t a) {
    uint32_t count = 0;
    for (; a; a &= a - 1)
        count++;
    return count;
}

uint32_t ptx_bfind(uint64_t a, bool shift_amount, unsigned bits) {
    if (bits < 64) a &= (UINT64_C(1) << bits) - 1;
    if (!a) return UINT32_MAX;
    uint32_t top = 63 - ptx_clz(a);
    return shift_amount ? bits - 1 - top : top;
}

uint32_t ptx_fns(uint32_t mask, uint32_t base, int32_t offset) {
    if (offset == 0) return base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
    int step = offset > 0 ? 1 : -1;
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    for (int64_t i = base; i >= 0 && i < 32; i += step)
        if ((mask >> i & 1) && --left == 0) return (uint32_t)i;
    return UINT32_MAX;
}

uint32_t ptx_bmsk(uint32_t pos, uint32_t width, bool wrap) {
    if (wrap) pos &= 31, width &= 31;
    uint32_t ones = width >= 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1;
    return pos >= 32 ? 0 : ones << pos;
}

uint32_t ptx_szext(uint32_t a, uint32_t n, bool wrap, bool is_signed) {
    if (wrap) n &= 31;
    if (n >= 32) return a;
    uint32_t low = a & ((UINT32_C(1) << n) - 1);
    bool sign = is_signed && n > 0 && (a >> (n - 1) & 1);
    return sign ? low | ~((UINT32_C(1) << n) - 1) : low;
}

uint32_t ptx_dp4a(uint32_t a, uint32_t b, uint32_t c, unsigned signs) {
    for (unsigned i = 0; i < 32; i += 8) {
        int32_t x = signs & 1 ? (int8_t)(a >> i) : (int32_t)(a >> i & 255);
        int32_t y = signs & 2 ? (int8_t)(b >> i) : (int32_t)(b >> i & 255);
        c += (uint32_t)(x * y);
    }
    return c;
}

/* -- Wide integers ---------------------------------------------------------------------------- */

uint64_t ptx_mul_hi_u64(uint64_t a, uint64_t b) {
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32);
    uint64_t mid2 = al * bh + (uint32_t)mid;
    return ah * bh + (mid >> 32) + (mid2 >> 32);
}

int64_t ptx_mul_hi_s64(int64_t a, int64_t b) {
    uint64_t high = ptx_mul_hi_u64((uint64_t)a, (uint64_t)b);
    if (a < 0) high -= (uint64_t)b;
    if (b < 0) high -= (uint64_t)a;
    return (int64_t)high;
}

static uint64_t carry_product(int64_t how, uint64_t a, uint64_t b) {
    bool high = (how & 15) == CARRY_mad_hi;
    if (!high) return a * b;
    if (how & CARRY_64)
        return how & CARRY_SIGNED ? (uint64_t)ptx_mul_hi_s64((int64_t)a, (int64_t)b)
                                  : ptx_mul_hi_u64(a, b);
    if (how & CARRY_SIGNED) return (uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32;
    return (uint64_t)(uint32_t)a * (uint32_t)b >> 32;
}

uint64_t ptx_carry(int64_t how, uint64_t a, uint64_t b, uint64_t c, uint64_t *flag) {
    uint64_t mask = how & CARRY_64 ? UINT64_MAX : UINT32_MAX;
    uint64_t in = how & CARRY_READS ? *flag & 1 : 0;
    bool subtract = (how & 15) == CARRY_sub;
    if ((how & 15) >= CARRY_mad_lo) a = carry_product(how, a, b), b = c;
    a &= mask, b &= mask;
    uint64_t sum = subtract ? a - b - in : a + b + in;
    sum &= mask;
    /* A sub's flag is its borrow. */
    uint64_t out = subtract ? a < b || (in && a == b) : sum < a || (in && sum == a);
    if (how & CARRY_WRITES) *flag = out;
    return sum;
}

/* -- Atomics ---------------------------------------------------------------------------------- */

static uint64_t atomic_float(PtxAtomOp op, PtxType type, uint64_t old, uint64_t b) {
    if (op == ATOM_exch) return b;
    unsigned format = type == PT_f32 ? 0 : type == PT_f64 ? 1 : type == PT_f16 ? 2 : 3;
    PtxRoundKind kind = op == ATOM_add ? RK_add : op == ATOM_min ? RK_min : RK_max;
    return ptx_round(PTX_ROUND(kind, RND_n, format), old, b, 0);
}

static uint64_t atomic_pair(PtxAtomOp op, PtxType type, uint64_t old, uint64_t b) {
    PtxType one = type == PT_f16x2 ? PT_f16 : PT_bf16;
    uint64_t low = atomic_float(op, one, old & 0xffff, b & 0xffff);
    return low | atomic_float(op, one, old >> 16 & 0xffff, b >> 16 & 0xffff) << 16;
}

uint64_t ptx_atomic(PtxAtomOp op, PtxType type, uint64_t old, uint64_t b, uint64_t c) {
    if (type == PT_f16x2 || type == PT_bf16x2) return atomic_pair(op, type, old, b);
    if (ptx_type_float(type)) return atomic_float(op, type, old, b);
    uint64_t x = extend(type, old), y = extend(type, b);
    bool less = ptx_type_signed(type) ? (int64_t)x < (int64_t)y : x < y;
    switch (op) {
    case ATOM_add: return x + y;
    case ATOM_min: return less ? x : y;
    case ATOM_max: return less ? y : x;
    case ATOM_and: return x & y;
    case ATOM_or: return x | y;
    case ATOM_xor: return x ^ y;
    case ATOM_exch: return y;
    case ATOM_cas: return x == y ? c : x;
    case ATOM_inc: return x >= y ? 0 : x + 1;
    case ATOM_dec: return x == 0 || x > y ? y : x - 1;
    }
    return x;
}
