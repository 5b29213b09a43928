/* cg_float.c - floats and complex numbers: CPython's remainder and floor division, powers, complex
 * multiplication and division, and tests of NaN and infinity by bits.
 *
 * The tests by bits exist because fast-math flags may declare that no NaN occurs: isnan still has to
 * tell the truth (FLT-05). */
#include "codegen/llvm/cg.h"
#include <stdio.h>

static Value fadd(Cg *cg, Value a, Value b) {
    return cg_fast(cg, LLVMBuildFAdd(cg->b, a, b, ""));
}
static Value fsub(Cg *cg, Value a, Value b) {
    return cg_fast(cg, LLVMBuildFSub(cg->b, a, b, ""));
}
static Value fmul(Cg *cg, Value a, Value b) {
    return cg_fast(cg, LLVMBuildFMul(cg->b, a, b, ""));
}
static Value fdiv(Cg *cg, Value a, Value b) {
    return cg_fast(cg, LLVMBuildFDiv(cg->b, a, b, ""));
}
static Value fcmp(Cg *cg, LLVMRealPredicate p, Value a, Value b) {
    return LLVMBuildFCmp(cg->b, p, a, b, "");
}
static Value fzero(Value like) {
    return cg_real(LLVMTypeOf(like), 0.0);
}

/* -- the math library ------------------------------------------------------------------------- */

Value cg_math(Cg *cg, const char *name, Value *args, int nargs) {
    LType type = LLVMTypeOf(args[0]);
    if (type == cg->f16) {
        Value wide[4];
        for (int i = 0; i < nargs; i++)
            wide[i] = LLVMTypeOf(args[i]) == cg->f16 ? LLVMBuildFPExt(cg->b, args[i], cg->f32, "")
                                                     : args[i];
        return LLVMBuildFPTrunc(cg->b, cg_math(cg, name, wide, nargs), cg->f16, "");
    }
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s%s%s", cg->target->lib_prefix, name,
             cg->target->lib_suffixes[type == cg->f32]);
    Value call = cg_call_extern(cg, symbol, type, args, nargs);
    if (LLVMIsACallInst(call)) {
        cg_call_attribute(cg, call, "nounwind", 0);
        cg_call_attribute(cg, call, "willreturn", 0);
        cg_call_attribute(cg, call, "memory", 0); /* none: nobody reads errno */
    }
    return call;
}

static Value fmod_(Cg *cg, Value a, Value b) {
    if (cg->target->is_host) /* becomes a call of fmod, which LLVM can fold */
        return cg_fast(cg, LLVMBuildFRem(cg->b, a, b, ""));
    return cg_math(cg, "fmod", (Value[]){a, b}, 2);
}

/* The remainder with the sign of the divisor; *moved: it was corrected. As CPython's float_rem. */
static Value signed_remainder(Cg *cg, Value a, Value b, Value *moved) {
    Value zero = fzero(a), rem = fmod_(cg, a, b);
    Value nonzero = fcmp(cg, LLVMRealUNE, rem, zero);
    Value differ =
        LLVMBuildXor(cg->b, fcmp(cg, LLVMRealOLT, b, zero), fcmp(cg, LLVMRealOLT, rem, zero), "");
    *moved = LLVMBuildAnd(cg->b, nonzero, differ, "");
    Value moved_rem = LLVMBuildSelect(cg->b, *moved, fadd(cg, rem, b), rem, "");
    Value signed_zero = cg_intrinsic2(cg, "llvm.copysign", zero, b);
    return LLVMBuildSelect(cg->b, nonzero, moved_rem, signed_zero, "");
}

Value cg_float_mod(Cg *cg, Value a, Value b) {
    Value moved;
    return signed_remainder(cg, a, b, &moved);
}

Value cg_float_floordiv(Cg *cg, Value a, Value b) {
    LType type = LLVMTypeOf(a);
    Value zero = fzero(a), one = cg_real(type, 1.0);
    Value no_divisor = fcmp(cg, LLVMRealOEQ, b, zero), quotient = fdiv(cg, a, b);
    if (cg->options->entry ==
        ENTRY_UFUNC) { /* only the quotient raises NumPy's flags for a zero divisor */
        a = LLVMBuildSelect(cg->b, no_divisor, one, a, "");
        b = LLVMBuildSelect(cg->b, no_divisor, one, b, "");
    }
    Value rem = fmod_(cg, a, b);
    Value nonzero = fcmp(cg, LLVMRealUNE, rem, zero);
    Value differ =
        LLVMBuildXor(cg->b, fcmp(cg, LLVMRealOLT, b, zero), fcmp(cg, LLVMRealOLT, rem, zero), "");
    Value moved = LLVMBuildAnd(cg->b, nonzero, differ, "");
    Value whole = fdiv(cg, fsub(cg, a, rem), b);
    whole = LLVMBuildSelect(cg->b, moved, fsub(cg, whole, one), whole, "");
    Value down = cg_intrinsic1(cg, "llvm.floor", whole);
    Value above = fcmp(cg, LLVMRealOGT, fsub(cg, whole, down), cg_real(type, 0.5));
    down = LLVMBuildSelect(cg->b, above, fadd(cg, down, one), down, "");
    Value empty = cg_intrinsic2(cg, "llvm.copysign", zero, quotient);
    Value result = LLVMBuildSelect(cg->b, fcmp(cg, LLVMRealUNE, whole, zero), down, empty, "");
    /* a zero divisor was refused before, or this is NumPy's error model: inf or NaN */
    return LLVMBuildSelect(cg->b, no_divisor, quotient, result, "");
}

/* x ** 3 and x ** 4 are products: they may be off by one in the last place, and take a twentieth of the time.
 * Where a partial product overflows or underflows, so does the whole. */
static Value product_power(Cg *cg, Value a, Value b) {
    LLVMBool lossy;
    if (!LLVMIsAConstantFP(b) || (LLVMTypeOf(a) != cg->f64 && LLVMTypeOf(a) != cg->f32))
        return NULL;
    double n = LLVMConstRealGetDouble(b, &lossy);
    if (n != 3.0 && n != 4.0) return NULL;
    Value square = fmul(cg, a, a);
    return fmul(cg, square, n == 3.0 ? a : square);
}

Value cg_float_pow(Cg *cg, Value a, Value b) {
    Value product = product_power(cg, a, b);
    if (product) return product;
    if (cg->target->is_host) { /* LLVM folds small constant exponents */
        Value call = cg_intrinsic2(cg, "llvm.pow", a, b);
        bool single = LLVMTypeOf(a) == cg->f32;
        cg_vector_variants(cg, call, single ? "powf" : "pow", 2, single);
        return call;
    }
    if (LLVMIsAConstantFP(b)) {
        LLVMBool lossy;
        double n = LLVMConstRealGetDouble(b, &lossy);
        if (n == 2.0) return fmul(cg, a, a);
        if (n == 1.0) return a;
    }
    return cg_math(cg, "pow", (Value[]){a, b}, 2);
}

/* -- classes by bits -------------------------------------------------------------------------- */

Value cg_float_class(Cg *cg, Value a, const char *what) {
    LType type = LLVMTypeOf(a);
    LType bits = type == cg->f64 ? cg->i64 : type == cg->f32 ? cg->i32 : cg->i16;
    uint64_t inf = type == cg->f64   ? UINT64_C(0x7ff0000000000000)
                   : type == cg->f32 ? UINT64_C(0x7f800000)
                                     : UINT64_C(0x7c00);
    uint64_t sign = type == cg->f64 ? UINT64_C(1) << 63 : type == cg->f32 ? 1u << 31 : 1u << 15;
    Value image = LLVMBuildBitCast(cg->b, a, bits, "");
    Value magnitude = LLVMBuildAnd(cg->b, image, LLVMConstInt(bits, sign - 1, false), "");
    Value limit = LLVMConstInt(bits, inf, false);
    LLVMIntPredicate p = what[0] == 'n' ? LLVMIntUGT : what[0] == 'i' ? LLVMIntEQ : LLVMIntULT;
    return LLVMBuildICmp(cg->b, p, magnitude, limit, "");
}

/* -- complex ---------------------------------------------------------------------------------- */

void cg_complex_mul(Cg *cg, const Value *a, const Value *b, Value *out) {
    out[0] = fsub(cg, fmul(cg, a[0], b[0]), fmul(cg, a[1], b[1]));
    out[1] = fadd(cg, fmul(cg, a[0], b[1]), fmul(cg, a[1], b[0]));
}

/* Smith's method, as CPython and NumPy: the larger component of the divisor scales. A zero divisor gives
 * component / 0, as NumPy's. */
void cg_complex_div(Cg *cg, const Value *a, const Value *b, Value *out) {
    Value abs_re = cg_intrinsic1(cg, "llvm.fabs", b[0]);
    Value abs_im = cg_intrinsic1(cg, "llvm.fabs", b[1]);
    Value by_re = fcmp(cg, LLVMRealOGE, abs_re, abs_im);
    Value big = LLVMBuildSelect(cg->b, by_re, b[0], b[1], "");
    Value small = LLVMBuildSelect(cg->b, by_re, b[1], b[0], "");
    Value ratio = fdiv(cg, small, big);
    Value denom = fadd(cg, big, fmul(cg, small, ratio));
    Value first = LLVMBuildSelect(cg->b, by_re, a[0], a[1], "");
    Value second = LLVMBuildSelect(cg->b, by_re, a[1], a[0], "");
    Value re = fdiv(cg, fadd(cg, first, fmul(cg, second, ratio)), denom);
    Value forward = fsub(cg, a[1], fmul(cg, a[0], ratio));
    Value backward = fsub(cg, fmul(cg, a[1], ratio), a[0]);
    Value im = fdiv(cg, LLVMBuildSelect(cg->b, by_re, forward, backward, ""), denom);
    Value zero = fzero(a[0]);
    Value is_zero = LLVMBuildAnd(cg->b, fcmp(cg, LLVMRealOEQ, abs_re, zero),
                                 fcmp(cg, LLVMRealOEQ, abs_im, zero), "");
    out[0] = LLVMBuildSelect(cg->b, is_zero, fdiv(cg, a[0], abs_re), re, "");
    out[1] = LLVMBuildSelect(cg->b, is_zero, fdiv(cg, a[1], abs_re), im, "");
}
