/* Numbers as the device computes them: conversions, roundings, bit tricks. No state. */
#ifndef FAKECUDA_PTX_NUM_H
#define FAKECUDA_PTX_NUM_H

#include "ptx.h"

#include <string.h>

static inline float ptx_f32(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}

static inline double ptx_f64(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t ptx_bits32_raw(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The device has one NaN for the results of f32 arithmetic. */
static inline uint64_t ptx_bits32(float value) {
    return value != value ? 0x7fffffffu : ptx_bits32_raw(value);
}

static inline uint64_t ptx_bits64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

float ptx_half_to_float(uint16_t half);
uint16_t ptx_float_to_half(double value, PtxRnd rnd);
float ptx_bf16_to_float(uint16_t bits);
uint16_t ptx_float_to_bf16(double value, PtxRnd rnd);

/* Minimum and maximum: a NaN loses against a number, and -0 is less than +0. */
#define ptx_min(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : ptx_less(a, b) ? (a) : (b))
#define ptx_max(a, b) ((a) != (a) ? (b) : (b) != (b) ? (a) : ptx_less(a, b) ? (b) : (a))
static inline bool ptx_less(double a, double b) {
    return a < b || (a == b && (ptx_bits64(a) >> 63) > (ptx_bits64(b) >> 63));
}

uint64_t ptx_round(uint16_t aux, uint64_t a, uint64_t b, uint64_t c);
uint64_t ptx_cvt(PtxCvt how, uint64_t a);
bool ptx_testp(unsigned test, unsigned bits, uint64_t a);

uint32_t ptx_lop3(uint32_t a, uint32_t b, uint32_t c, unsigned table);
uint32_t ptx_prmt(uint32_t a, uint32_t b, uint32_t selector, unsigned mode);
uint32_t ptx_funnel(uint32_t low, uint32_t high, uint32_t shift, bool left, bool wrap);
uint64_t ptx_bfe(uint64_t a, uint32_t pos, uint32_t len, unsigned bits, bool is_signed);
uint64_t ptx_bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, unsigned bits);
uint64_t ptx_brev(uint64_t a);
uint32_t ptx_clz(uint64_t a);
uint32_t ptx_popc(uint64_t a);
uint32_t ptx_bfind(uint64_t a, bool shift_amount, unsigned bits);
uint32_t ptx_fns(uint32_t mask, uint32_t base, int32_t offset);
uint32_t ptx_bmsk(uint32_t pos, uint32_t width, bool wrap);
uint32_t ptx_szext(uint32_t a, uint32_t n, bool wrap, bool is_signed);
uint32_t ptx_dp4a(uint32_t a, uint32_t b, uint32_t c, unsigned signs);
uint64_t ptx_mul_hi_u64(uint64_t a, uint64_t b);
int64_t ptx_mul_hi_s64(int64_t a, int64_t b);
/* One link of an extended-precision chain: aux of OP_carry says which. */
uint64_t ptx_carry(int64_t how, uint64_t a, uint64_t b, uint64_t c, uint64_t *flag);

/* imm of OP_carry: kind | reads << 4 | writes << 5 | wide (64 bits) << 6 | signed << 7 */
typedef enum PtxCarryKind { CARRY_add, CARRY_sub, CARRY_mad_lo, CARRY_mad_hi } PtxCarryKind;
enum { CARRY_READS = 16, CARRY_WRITES = 32, CARRY_64 = 64, CARRY_SIGNED = 128 };

/* The value that an atomic leaves behind. */
uint64_t ptx_atomic(PtxAtomOp op, PtxType type, uint64_t old, uint64_t b, uint64_t c);

#endif
