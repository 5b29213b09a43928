/* cg_bfloat.c - bfloat16, the upper half of a float32. No target computes with it the way it does with the others, so
 * whatever computes widens its operands to float32, which is exact, and rounds the result once.
 *
 * Rounding is written out where the target has no instruction: the host's code generator would call a function for each. Targets
 * agree to the bit, but for the bits of NaN. */
#include "codegen/llvm/cg.h"

static Value shifted(Cg *cg, Value a, int by) {
    return by > 0 ? LLVMBuildShl(cg->b, a, cg_int(cg->i32, by), "")
                  : LLVMBuildLShr(cg->b, a, cg_int(cg->i32, -by), "");
}

Value cg_widened(Cg *cg, Value a) {
    if (LLVMTypeOf(a) != cg->bf16) return a;
    Value bits = LLVMBuildZExt(cg->b, LLVMBuildBitCast(cg->b, a, cg->i16, ""), cg->i32, "");
    return LLVMBuildBitCast(cg->b, shifted(cg, bits, 16), cg->f32, "");
}

/* Half a unit of the last place that stays is added, a bit less where that place is even. */
static Value rounded(Cg *cg, Value single) {
    if (cg->target->rounds_bfloat) return LLVMBuildFPTrunc(cg->b, single, cg->bf16, "");
    Value bits = LLVMBuildBitCast(cg->b, single, cg->i32, "");
    Value odd = LLVMBuildAnd(cg->b, shifted(cg, bits, -16), cg_int(cg->i32, 1), "");
    Value up = LLVMBuildAdd(cg->b, odd, cg_int(cg->i32, 0x7fff), "");
    Value near = LLVMBuildAdd(cg->b, bits, up, "");
    Value size = LLVMBuildAnd(cg->b, bits, cg_int(cg->i32, 0x7fffffff), "");
    Value nan = LLVMBuildICmp(cg->b, LLVMIntUGT, size, cg_int(cg->i32, 0x7f800000), "");
    Value quiet = LLVMBuildOr(cg->b, bits, cg_int(cg->i32, 0x400000), "");
    Value upper = shifted(cg, LLVMBuildSelect(cg->b, nan, quiet, near, ""), -16);
    return LLVMBuildBitCast(cg->b, LLVMBuildTrunc(cg->b, upper, cg->i16, ""), cg->bf16, "");
}

/* A float32 that is rounded as the float64 would be: towards zero, with the last bit set where something was cut off (S. Boldo,
 * G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008). */
static Value to_odd(Cg *cg, Value wide) {
    Value near = LLVMBuildFPTrunc(cg->b, wide, cg->f32, "");
    Value back = LLVMBuildFPExt(cg->b, near, cg->f64, "");
    Value beyond = LLVMBuildFCmp(cg->b, LLVMRealOGT, cg_intrinsic1(cg, "llvm.fabs", back),
                                 cg_intrinsic1(cg, "llvm.fabs", wide), "");
    Value cut = LLVMBuildFCmp(cg->b, LLVMRealONE, back, wide, "");
    Value bits = LLVMBuildBitCast(cg->b, near, cg->i32, "");
    bits = LLVMBuildSub(cg->b, bits, LLVMBuildZExt(cg->b, beyond, cg->i32, ""), "");
    bits = LLVMBuildOr(cg->b, bits, LLVMBuildZExt(cg->b, cut, cg->i32, ""), "");
    return LLVMBuildBitCast(cg->b, bits, cg->f32, "");
}

/* What a float of `mantissa` bits cannot hold of a large int becomes one bit, below all that bfloat16 looks at: the conversion is
 * exact then. */
static Value without_small_bits(Cg *cg, Value a, int mantissa) {
    LType type = LLVMTypeOf(a);
    unsigned keep = LLVMGetIntTypeWidth(type) - (unsigned)mantissa; /* the lowest bit that stays */
    int64_t low = (INT64_C(2) << keep) - 1;
    Value small = LLVMBuildAnd(cg->b, a, cg_int(type, low), "");
    Value some = LLVMBuildICmp(cg->b, LLVMIntNE, small, cg_int(type, 0), "");
    Value bit = LLVMBuildSelect(cg->b, some, cg_int(type, INT64_C(1) << keep), cg_int(type, 0), "");
    return LLVMBuildOr(cg->b, LLVMBuildAnd(cg->b, a, cg_int(type, ~low), ""), bit, "");
}

static Value of_int(Cg *cg, Value a, bool is_signed) {
    LType type = LLVMTypeOf(a);
    unsigned bits = LLVMGetIntTypeWidth(type);
    LType single = bits == 64 ? cg->f64 : cg->f32;
    int mantissa = bits == 64 ? 53 : 24;
    if (bits > 16) { /* up to 2**mantissa the conversion is exact anyway */
        Value size =
            is_signed ? cg_intrinsic(cg, "llvm.abs", &type, 1, (Value[]){a, cg_bool(cg, false)}, 2)
                      : a;
        Value large =
            LLVMBuildICmp(cg->b, LLVMIntUGE, size, cg_int(type, INT64_C(1) << mantissa), "");
        a = LLVMBuildSelect(cg->b, large, without_small_bits(cg, a, mantissa), a, "");
    }
    Value value =
        is_signed ? LLVMBuildSIToFP(cg->b, a, single, "") : LLVMBuildUIToFP(cg->b, a, single, "");
    return rounded(cg, bits == 64 ? to_odd(cg, value) : value);
}

Value cg_to_bfloat(Cg *cg, Value a, bool is_signed) {
    LType type = LLVMTypeOf(a);
    if (type == cg->bf16) return a;
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) return of_int(cg, a, is_signed);
    if (type == cg->f16) a = LLVMBuildFPExt(cg->b, a, cg->f32, "");
    return rounded(cg, type == cg->f64 ? to_odd(cg, a) : a);
}

Value cg_bfloat_negative(Cg *cg, Value a) {
    Value bits = LLVMBuildBitCast(cg->b, a, cg->i16, "");
    bits = LLVMBuildXor(cg->b, bits, cg_int(cg->i16, INT16_MIN), "");
    return LLVMBuildBitCast(cg->b, bits, cg->bf16, "");
}
