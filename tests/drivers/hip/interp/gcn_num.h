/* Arithmetic that C has no operator for, in the words of AMD's instruction set documents. */
#ifndef FAKEHIP_GCN_NUM_H
#define FAKEHIP_GCN_NUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of_f32(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static inline float f32_of_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static inline uint64_t bits_of_f64(double x) {
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}
static inline double f64_of_bits(uint64_t u) {
    double x;
    memcpy(&x, &u, 8);
    return x;
}

/* gcn_num.c */
float gcn_f16_to_f32(uint16_t half);
uint16_t gcn_f32_to_f16(float x, bool toward_zero);
uint16_t gcn_f64_to_f16(double x);
/* NaN beside a number is ignored; the ones without `num` give NaN for a signaling one, as in IEEE mode. */
float gcn_max_num_f32(float a, float b);
float gcn_min_num_f32(float a, float b);
double gcn_max_num_f64(double a, double b);
double gcn_min_num_f64(double a, double b);
float gcn_max_f32(float a, float b);
float gcn_min_f32(float a, float b);
double gcn_max_f64(double a, double b);
double gcn_min_f64(double a, double b);
/* RDNA4's minimum and maximum: NaN if one is. */
float gcn_maximum_f32(float a, float b);
float gcn_minimum_f32(float a, float b);
double gcn_maximum_f64(double a, double b);
double gcn_minimum_f64(double a, double b);
float gcn_med3_f32(float a, float b, float c);
/* mask: which classes of numbers are asked for, bit by bit as in v_cmp_class. */
bool gcn_class_f16(uint16_t half, uint32_t mask);
bool gcn_class_f32(float x, uint32_t mask);
bool gcn_class_f64(double x, uint32_t mask);
uint32_t gcn_to_u32(double x);
int32_t gcn_to_i32(double x);
float gcn_fract_f32(float x);
double gcn_fract_f64(double x);
float gcn_frexp_mant_f32(float x);
double gcn_frexp_mant_f64(double x);
int32_t gcn_frexp_exp(double x);
float gcn_ldexp_f32(float x, int32_t by);
double gcn_ldexp_f64(double x, int32_t by);
float gcn_div_scale_f32(float a, float b, float c, uint32_t *scaled);
double gcn_div_scale_f64(double a, double b, double c, uint32_t *scaled);
float gcn_div_fmas_f32(float a, float b, float c, bool scaled);
double gcn_div_fmas_f64(double a, double b, double c, bool scaled);
float gcn_div_fixup_f32(float a, float b, float c);
double gcn_div_fixup_f64(double a, double b, double c);
double gcn_trig_preop(double x, uint32_t segment);
/* Instructions that read and write denormals as zero, whatever the mode says. */
float gcn_flush(float x);
/* Rounded twice, without denormals. */
float gcn_mad_f32(float a, float b, float c);
/* Sine and cosine of so many turns. */
float gcn_sin_turns(float x);
float gcn_cos_turns(float x);
/* An f64 approximation: the upper half of the fraction is right. */
double gcn_coarse(double x);
uint32_t gcn_sad_u8(uint32_t a, uint32_t b, uint32_t c);
uint32_t gcn_sad_u16(uint32_t a, uint32_t b, uint32_t c);
/* c and the products of the parts of `bits` bits; signs: bit 0, those of `a` have signs, bit 1, those of `b`. */
uint32_t gcn_dot(uint32_t a, uint32_t b, uint32_t c, int bits, int signs);
uint32_t gcn_perm(uint32_t high, uint32_t low, uint32_t selector);
uint32_t gcn_reverse(uint32_t x);

static inline uint32_t gcn_bfe_u32(uint32_t a, uint32_t offset, uint32_t width) {
    offset &= 31, width &= 31;
    return width ? (a >> offset) & (UINT32_C(0xffffffff) >> (32 - width)) : 0;
}
static inline int32_t gcn_bfe_i32(uint32_t a, uint32_t offset, uint32_t width) {
    uint32_t field = gcn_bfe_u32(a, offset, width);
    width &= 31;
    if (!width || offset % 32 + width > 32) { /* what lies above bit 31 is the sign */
        if (!width) return 0;
        return (int32_t)a >> (offset & 31);
    }
    return (int32_t)(field << (32 - width)) >> (32 - width);
}
/* Bits of a 64-bit number; those behind its end are zero or the sign. */
static inline uint64_t gcn_field(uint64_t a, uint32_t offset, uint32_t width, bool sign) {
    uint64_t moved = sign ? (uint64_t)((int64_t)a >> offset) : a >> offset;
    if (width == 0) return 0;
    if (width >= 64) return moved;
    moved <<= 64 - width;
    return sign ? (uint64_t)((int64_t)moved >> (64 - width)) : moved >> (64 - width);
}
static inline int32_t gcn_sext24(uint32_t x) {
    return (int32_t)(x << 8) >> 8;
}
/* The first one from the top, -1 if there is none; of a signed number the first bit that differs from the sign. */
static inline uint32_t gcn_clz32(uint32_t x) {
    return x ? (uint32_t)__builtin_clz(x) : UINT32_MAX;
}
static inline uint32_t gcn_clz64(uint64_t x) {
    return x ? (uint32_t)__builtin_clzll(x) : UINT32_MAX;
}
static inline uint32_t gcn_cls32(int32_t x) {
    uint32_t other = (uint32_t)(x < 0 ? ~x : x);
    return gcn_clz32(other);
}
static inline uint32_t gcn_ctz32(uint32_t x) {
    return x ? (uint32_t)__builtin_ctz(x) : UINT32_MAX;
}
static inline uint32_t gcn_ctz64(uint64_t x) {
    return x ? (uint32_t)__builtin_ctzll(x) : UINT32_MAX;
}

#endif
