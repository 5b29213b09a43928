/* Arithmetic that C has no operator for. */
#include "gcn_num.h"

/* -- Half floats ------------------------------------------------------------------------------- */

float gcn_f16_to_f32(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31,
             fraction = half & 0x3ff;
    if (exponent == 31) return f32_of_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent) return f32_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float x = (float)fraction * 0x1p-24f;
    return sign ? -x : x;
}

/* Rounds to the nearest, ties to even; toward_zero cuts. A double holds every product and sum of halves that is
 * asked for here. */
static uint16_t narrow(double x, bool toward_zero) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    if (isnan(x)) return (uint16_t)(sign | 0x7e00 | (bits_of_f64(x) >> 42 & 0x3ff));
    double size = fabs(x);
    if (isinf(size)) return sign | 0x7c00;
    if (size >= (toward_zero ? 65536.0 : 65520.0)) return sign | (toward_zero ? 0x7bff : 0x7c00);
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    double units = ldexp(size, 10 - exponent);
    uint32_t n = (uint32_t)(toward_zero ? floor(units) : nearbyint(units));
    if (exponent == -14 && n < 1024) return (uint16_t)(sign | n);
    return (uint16_t)(sign + ((uint32_t)(exponent + 14) << 10) + n);
}

uint16_t gcn_f32_to_f16(float x, bool toward_zero) {
    return narrow((double)x, toward_zero);
}
uint16_t gcn_f64_to_f16(double x) {
    return narrow(x, false);
}

/* -- Minimum and maximum ----------------------------------------------------------------------- */

static bool signals_f32(float x) {
    return isnan(x) && !(bits_of_f32(x) >> 22 & 1);
}
static bool signals_f64(double x) {
    return isnan(x) && !(bits_of_f64(x) >> 51 & 1);
}

float gcn_max_num_f32(float a, float b) {
    if (isnan(a)) return isnan(b) ? a + b : b;
    if (isnan(b)) return a;
    if (a == 0 && b == 0) return signbit(a) ? b : a;
    return a > b ? a : b;
}
float gcn_min_num_f32(float a, float b) {
    if (isnan(a)) return isnan(b) ? a + b : b;
    if (isnan(b)) return a;
    if (a == 0 && b == 0) return signbit(a) ? a : b;
    return a < b ? a : b;
}
double gcn_max_num_f64(double a, double b) {
    if (isnan(a)) return isnan(b) ? a + b : b;
    if (isnan(b)) return a;
    if (a == 0 && b == 0) return signbit(a) ? b : a;
    return a > b ? a : b;
}
double gcn_min_num_f64(double a, double b) {
    if (isnan(a)) return isnan(b) ? a + b : b;
    if (isnan(b)) return a;
    if (a == 0 && b == 0) return signbit(a) ? a : b;
    return a < b ? a : b;
}
float gcn_max_f32(float a, float b) {
    return signals_f32(a) || signals_f32(b) ? a + b : gcn_max_num_f32(a, b);
}
float gcn_min_f32(float a, float b) {
    return signals_f32(a) || signals_f32(b) ? a + b : gcn_min_num_f32(a, b);
}
double gcn_max_f64(double a, double b) {
    return signals_f64(a) || signals_f64(b) ? a + b : gcn_max_num_f64(a, b);
}
double gcn_min_f64(double a, double b) {
    return signals_f64(a) || signals_f64(b) ? a + b : gcn_min_num_f64(a, b);
}
float gcn_maximum_f32(float a, float b) {
    return isnan(a) || isnan(b) ? a + b : gcn_max_f32(a, b);
}
float gcn_minimum_f32(float a, float b) {
    return isnan(a) || isnan(b) ? a + b : gcn_min_f32(a, b);
}
double gcn_maximum_f64(double a, double b) {
    return isnan(a) || isnan(b) ? a + b : gcn_max_f64(a, b);
}
double gcn_minimum_f64(double a, double b) {
    return isnan(a) || isnan(b) ? a + b : gcn_min_f64(a, b);
}
float gcn_med3_f32(float a, float b, float c) {
    if (isnan(a) || isnan(b) || isnan(c)) return gcn_min_f32(gcn_min_f32(a, b), c);
    return gcn_max_f32(gcn_min_f32(a, b), gcn_min_f32(gcn_max_f32(a, b), c));
}

/* -- Parts of a number ------------------------------------------------------------------------- */

enum { SIGNALING = 1, QUIET = 2 };

static uint32_t class_bit(bool nan, bool quiet, bool negative, int kind) {
    if (nan) return quiet ? QUIET : SIGNALING;
    /* kind: 0 infinite, 1 normal, 2 denormal, 3 zero; negative ones upwards, positive ones downwards */
    return negative ? UINT32_C(4) << kind : UINT32_C(512) >> kind;
}

static int kind_of(int fp) {
    return fp == FP_INFINITE ? 0 : fp == FP_NORMAL ? 1 : fp == FP_SUBNORMAL ? 2 : 3;
}

bool gcn_class_f16(uint16_t half, uint32_t mask) {
    float x = gcn_f16_to_f32(half);
    bool tiny = x != 0 && fabsf(x) < 0x1p-14f;
    return mask & class_bit(isnan(x), half >> 9 & 1, half >> 15, tiny ? 2 : kind_of(fpclassify(x)));
}
bool gcn_class_f32(float x, uint32_t mask) {
    return mask & class_bit(isnan(x), bits_of_f32(x) >> 22 & 1, signbit(x), kind_of(fpclassify(x)));
}
bool gcn_class_f64(double x, uint32_t mask) {
    return mask & class_bit(isnan(x), bits_of_f64(x) >> 51 & 1, signbit(x), kind_of(fpclassify(x)));
}

/* Conversions saturate, and NaN is 0. */
uint32_t gcn_to_u32(double x) {
    if (isnan(x) || x <= 0) return 0;
    return x >= 4294967296.0 ? UINT32_MAX : (uint32_t)x;
}
int32_t gcn_to_i32(double x) {
    if (isnan(x)) return 0;
    if (x >= 2147483648.0) return INT32_MAX;
    return x <= -2147483648.0 ? INT32_MIN : (int32_t)x;
}

float gcn_fract_f32(float x) {
    if (isinf(x)) return NAN;
    float part = x - floorf(x);
    return part >= 1 ? 0x1.fffffep-1f : part;
}
double gcn_fract_f64(double x) {
    if (isinf(x)) return NAN;
    double part = x - floor(x);
    return part >= 1 ? 0x1.fffffffffffffp-1 : part;
}
float gcn_frexp_mant_f32(float x) {
    int exponent;
    return isfinite(x) ? frexpf(x, &exponent) : x + x;
}
double gcn_frexp_mant_f64(double x) {
    int exponent;
    return isfinite(x) ? frexp(x, &exponent) : x + x;
}
int32_t gcn_frexp_exp(double x) {
    int exponent = 0;
    if (isfinite(x)) (void)frexp(x, &exponent);
    return exponent;
}
float gcn_ldexp_f32(float x, int32_t by) {
    return scalbnf(x, by);
}
double gcn_ldexp_f64(double x, int32_t by) {
    return scalbn(x, by);
}
float gcn_flush(float x) {
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

float gcn_mad_f32(float a, float b, float c) {
    float product = gcn_flush(gcn_flush(a) * gcn_flush(b));
    return gcn_flush(product + gcn_flush(c));
}

/* Whole turns go first, so that large numbers keep their sine. */
float gcn_sin_turns(float x) {
    if (!isfinite(x)) return NAN;
    double part = (double)x - floor((double)x);
    return (float)sin(part * 6.283185307179586476925);
}
float gcn_cos_turns(float x) {
    if (!isfinite(x)) return NAN;
    double part = (double)x - floor((double)x);
    return (float)cos(part * 6.283185307179586476925);
}

/* 2^28 units away from the right answer, where 2^29 are promised. */
double gcn_coarse(double x) {
    return isfinite(x) ? f64_of_bits(bits_of_f64(x) & ~((UINT64_C(1) << 28) - 1)) : x;
}

/* -- Division ---------------------------------------------------------------------------------- */

static int biased_f32(float x) {
    return (int)(bits_of_f32(x) >> 23 & 255);
}
static int biased_f64(double x) {
    return (int)(bits_of_f64(x) >> 52 & 2047);
}
static bool denormal(double x, double least) {
    return x != 0 && fabs(x) < least;
}

/* a is b (the denominator) or c (the numerator), scaled so that neither the reciprocal nor the quotient is denormal.
 * Where the quotient is to be scaled back, *scaled is set. AMD's documents scale a huge denominator upwards where both
 * reciprocal and quotient are denormal; downwards is what gives the quotient. */
float gcn_div_scale_f32(float a, float b, float c, uint32_t *scaled) {
    bool denominator = bits_of_f32(a) == bits_of_f32(b),
         numerator = bits_of_f32(a) == bits_of_f32(c);
    bool tiny = denormal((double)c / (double)b, 0x1p-126);
    bool tiny_reciprocal = denormal(1.0 / (double)b, 0x1p-126);
    *scaled = 0;
    if (b == 0 || c == 0) return NAN;
    if (biased_f32(c) - biased_f32(b) >= 96) {
        *scaled = 1;
        return denominator ? scalbnf(a, 64) : a;
    }
    if (biased_f32(b) == 0) return scalbnf(a, 64);
    if (tiny_reciprocal && tiny) {
        *scaled = 1;
        return denominator ? scalbnf(a, -64) : a;
    }
    if (tiny_reciprocal) return scalbnf(a, -64);
    if (tiny) {
        *scaled = 1;
        return numerator ? scalbnf(a, 64) : a;
    }
    return biased_f32(c) <= 23 ? scalbnf(a, 64) : a;
}

double gcn_div_scale_f64(double a, double b, double c, uint32_t *scaled) {
    bool denominator = bits_of_f64(a) == bits_of_f64(b),
         numerator = bits_of_f64(a) == bits_of_f64(c);
    bool tiny = denormal(c / b, 0x1p-1022);
    bool tiny_reciprocal = denormal(1.0 / b, 0x1p-1022);
    *scaled = 0;
    if (b == 0 || c == 0) return NAN;
    if (biased_f64(c) - biased_f64(b) >= 768) {
        *scaled = 1;
        return denominator ? scalbn(a, 128) : a;
    }
    if (biased_f64(b) == 0) return scalbn(a, 128);
    if (tiny_reciprocal && tiny) {
        *scaled = 1;
        return denominator ? scalbn(a, -128) : a;
    }
    if (tiny_reciprocal) return scalbn(a, -128);
    if (tiny) {
        *scaled = 1;
        return numerator ? scalbn(a, 128) : a;
    }
    return biased_f64(c) <= 53 ? scalbn(a, 128) : a;
}

/* Wide enough for the product of two f64 and more: 113 bits. */
#if __LDBL_MANT_DIG__ == 113
typedef long double Wide;
#else
typedef __float128 Wide;
#endif

/* The last step of the quotient, which is scaled back before it is rounded: downwards if it is small. Otherwise quotients
 * that are denormal would be rounded twice. */
float gcn_div_fmas_f32(float a, float b, float c, bool scaled) {
    float q = fmaf(a, b, c);
    if (!scaled || !isfinite(q)) return q;
    Wide exact = (Wide)a * (Wide)b + (Wide)c;
    return (float)(exact * (biased_f32(c) > 127 ? (Wide)0x1p64 : (Wide)0x1p-64));
}
double gcn_div_fmas_f64(double a, double b, double c, bool scaled) {
    double q = fma(a, b, c);
    if (!scaled || !isfinite(q)) return q;
    Wide exact = (Wide)a * (Wide)b + (Wide)c;
    return (double)(exact * (biased_f64(c) > 1023 ? (Wide)0x1p128 : (Wide)0x1p-128));
}

/* a is the quotient of c by b, as computed; what it cannot have got right is put right. */
float gcn_div_fixup_f32(float a, float b, float c) {
    float sign = (float)(signbit(b) != signbit(c) ? -1 : 1);
    if (isnan(c)) return c + c;
    if (isnan(b)) return b + b;
    if ((b == 0 && c == 0) || (isinf(b) && isinf(c))) return f32_of_bits(0xffc00000);
    if (b == 0 || isinf(c)) return sign * INFINITY;
    if (isinf(b) || c == 0) return sign * 0.0f;
    if (biased_f32(c) - biased_f32(b) < -150) return sign * 0.0f;
    return isnan(a) ? sign * INFINITY : copysignf(a, sign);
}
double gcn_div_fixup_f64(double a, double b, double c) {
    double sign = signbit(b) != signbit(c) ? -1 : 1;
    if (isnan(c)) return c + c;
    if (isnan(b)) return b + b;
    if ((b == 0 && c == 0) || (isinf(b) && isinf(c))) return f64_of_bits(UINT64_C(0xfff8) << 48);
    if (b == 0 || isinf(c)) return sign * (double)INFINITY;
    if (isinf(b) || c == 0) return sign * 0.0;
    if (biased_f64(c) - biased_f64(b) < -1075) return sign * 0.0;
    return isnan(a) ? sign * (double)INFINITY : copysign(a, sign);
}

/* -- 2 / pi ------------------------------------------------------------------------------------ */

/* The first 1216 bits behind the point. */
static const uint32_t two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};

enum { TWO_OVER_PI_BITS = 1201, PIECE = 53 };

static int bit_of_two_over_pi(int n) {
    return n < TWO_OVER_PI_BITS ? two_over_pi[n / 32] >> (31 - n % 32) & 1 : 0;
}

/* 53 bits of 2 / pi, as they are needed for the reduction of x by multiples of pi / 2. */
double gcn_trig_preop(double x, uint32_t segment) {
    int exponent = biased_f64(x), shift = (int)(segment & 31) * PIECE;
    if (exponent > 1077) shift += exponent - 1077;
    uint64_t bits = 0;
    for (int i = 0; i < PIECE; i++)
        bits = bits << 1 | (unsigned)bit_of_two_over_pi(shift + i);
    int scale = -PIECE - shift + (exponent >= 1968 ? 128 : 0);
    return ldexp((double)bits, scale);
}

/* -- Bytes and bits ---------------------------------------------------------------------------- */

uint32_t gcn_sad_u8(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 32; i += 8) {
        int32_t difference = (int32_t)(a >> i & 255) - (int32_t)(b >> i & 255);
        c += (uint32_t)(difference < 0 ? -difference : difference);
    }
    return c;
}

uint32_t gcn_sad_u16(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 32; i += 16) {
        int32_t difference = (int32_t)(a >> i & 65535) - (int32_t)(b >> i & 65535);
        c += (uint32_t)(difference < 0 ? -difference : difference);
    }
    return c;
}

static uint32_t part_of(uint32_t x, int at, int bits, bool sign) {
    uint32_t part = x >> at & ((UINT32_C(1) << bits) - 1);
    return sign && part >> (bits - 1) ? part - (UINT32_C(1) << bits) : part;
}

uint32_t gcn_dot(uint32_t a, uint32_t b, uint32_t c, int bits, int signs) {
    for (int at = 0; at < 32; at += bits)
        c += part_of(a, at, bits, signs & 1) * part_of(b, at, bits, signs >> 1);
    return c;
}

/* Each byte of the selector names a byte of high:low, or a sign, 0 or 255. */
uint32_t gcn_perm(uint32_t high, uint32_t low, uint32_t selector) {
    uint64_t both = (uint64_t)high << 32 | low;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t which = selector >> (8 * i) & 255, byte;
        if (which <= 7)
            byte = both >> (8 * which) & 255;
        else if (which <= 11)
            byte = both >> (16 * (which - 8) + 15) & 1 ? 255 : 0;
        else
            byte = which == 12 ? 0 : 255;
        result |= byte << (8 * i);
    }
    return result;
}

uint32_t gcn_reverse(uint32_t x) {
    uint32_t result = 0;
    for (int i = 0; i < 32; i++)
        result |= (x >> i & 1) << (31 - i);
    return result;
}
