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
    return cg->target->mend ? cg->target->mend(cg, symbol, args, call) : call;
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

/* double quern.powi(double x, i64 n), for the n that MOST_SQUARED allows: by squaring, of 1 / x where n is negative, so that
 * no product overflows but where the result does. Each product may lose half a unit in the last place, and what is lost
 * is squared, too: the relative error is at most n * 2^-53, or 2 * -n * 2^-53. quern.powu is for `natural` n alone. */
static Value squaring_function(Cg *cg, bool natural, LType *type) {
    const char *name = natural ? "quern.powu" : "quern.powi";
    *type = LLVMFunctionType(cg->f64, (LType[]){cg->f64, cg->i64}, 2, false);
    Value fn = LLVMGetNamedFunction(cg->mod, name);
    if (fn) return fn;
    BB here = LLVMGetInsertBlock(cg->b);
    fn = LLVMAddFunction(cg->mod, name, *type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    BB entry = LLVMAppendBasicBlockInContext(cg->context, fn, "");
    cg_at(cg, entry);
    Value x = LLVMGetParam(fn, 0), n = LLVMGetParam(fn, 1), one = cg_real(cg->f64, 1.0);
    Value zero = cg_int(cg->i64, 0), negative = LLVMBuildICmp(cg->b, LLVMIntSLT, n, zero, "");
    Value size = natural ? n : LLVMBuildSelect(cg->b, negative, LLVMBuildNeg(cg->b, n, ""), n, "");
    BB head = cg_block(cg, "head"), body = cg_block(cg, "body"), exit = cg_block(cg, "exit");
    BB turn = natural ? NULL : cg_block(cg, "turn");
    Value inverse = NULL;
    if (natural) {
        LLVMBuildBr(cg->b, head);
    } else {
        LLVMBuildCondBr(cg->b, negative, turn, head);
        cg_at(cg, turn);
        inverse = LLVMBuildFDiv(cg->b, one, x, "");
        LLVMBuildBr(cg->b, head);
    }
    cg_at(cg, head);
    Value base = LLVMBuildPhi(cg->b, cg->f64, ""), k = LLVMBuildPhi(cg->b, cg->i64, "");
    Value product = LLVMBuildPhi(cg->b, cg->f64, "");
    LLVMBuildCondBr(cg->b, LLVMBuildICmp(cg->b, LLVMIntEQ, k, zero, ""), exit, body);
    cg_at(cg, body);
    Value more = LLVMBuildFMul(cg->b, product, base, "");
    more = LLVMBuildSelect(cg->b, LLVMBuildTrunc(cg->b, k, cg->i1, ""), more, product, "");
    Value square = LLVMBuildFMul(cg->b, base, base, "");
    Value half = LLVMBuildLShr(cg->b, k, cg_int(cg->i64, 1), "");
    LLVMBuildBr(cg->b, head);
    BB from[] = {entry, body, turn};
    unsigned ways = natural ? 2 : 3;
    LLVMAddIncoming(base, (Value[]){x, square, inverse}, from, ways);
    LLVMAddIncoming(k, (Value[]){size, half, size}, from, ways);
    LLVMAddIncoming(product, (Value[]){one, more, one}, from, ways);
    cg_at(cg, exit);
    LLVMBuildRet(cg->b, product);
    cg_at(cg, here);
    return fn;
}

/* Larger exponents lose too much: C's pow. */
Value cg_float_pow_int(Cg *cg, Value a, Value b, Value n, bool is_signed, bool natural) {
    enum { MOST_SQUARED = 1024 };
    LType type = LLVMTypeOf(a), fn_type;
    bool fits = cg->target->is_host && !cg->options->no_vector_math && !LLVMIsConstant(n);
    if (!fits || (type != cg->f64 && type != cg->f32)) return cg_float_pow(cg, a, b);
    Value fn = squaring_function(cg, natural, &fn_type);
    Value wide =
        is_signed ? LLVMBuildSExt(cg->b, n, cg->i64, "") : LLVMBuildZExt(cg->b, n, cg->i64, "");
    Value moved = natural ? wide : LLVMBuildAdd(cg->b, wide, cg_int(cg->i64, MOST_SQUARED), "");
    Value limit = cg_int(cg->i64, natural ? MOST_SQUARED : 2 * MOST_SQUARED);
    Value small = LLVMBuildICmp(cg->b, LLVMIntULE, moved, limit, "");
    BB by_squares = cg_block(cg, "squares"), by_pow = cg_block(cg, "pow"), done = cg_block(cg, "");
    LLVMBuildCondBr(cg->b, small, by_squares, by_pow);
    cg_at(cg, by_squares);
    Value x = type == cg->f64 ? a : LLVMBuildFPExt(cg->b, a, cg->f64, "");
    Value power = LLVMBuildCall2(cg->b, fn_type, fn, (Value[]){x, wide}, 2, "");
    if (type != cg->f64) power = LLVMBuildFPTrunc(cg->b, power, type, "");
    LLVMBuildBr(cg->b, done);
    cg_at(cg, by_pow);
    Value other = cg_float_pow(cg, a, b);
    LLVMBuildBr(cg->b, done);
    cg_at(cg, done);
    Value result = LLVMBuildPhi(cg->b, type, "");
    LLVMAddIncoming(result, (Value[]){power, other}, (BB[]){by_squares, by_pow}, 2);
    return result;
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
