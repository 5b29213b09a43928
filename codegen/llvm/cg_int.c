/* cg_int.c - Python's integer arithmetic from LLVM's, without undefined behaviour anywhere.
 *
 * LLVM's division is undefined for a zero divisor and for MIN / -1, its shifts for counts of the width
 * and more: each is given a harmless operand and the answer is selected afterwards. With constant or
 * range-checked operands LLVM folds the selects away. */
#include "codegen/llvm/cg.h"
#include <stdio.h>

static Value icmp(Cg *cg, LLVMIntPredicate p, Value a, int64_t b) {
    return LLVMBuildICmp(cg->b, p, a, cg_int(LLVMTypeOf(a), b), "");
}

/* A positive power of two as constant; -1 otherwise. */
static int power_of_two(Value v, bool is_signed) {
    if (!LLVMIsAConstantInt(v)) return -1;
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(v));
    uint64_t n = LLVMConstIntGetZExtValue(v);
    if (n == 0 || (n & (n - 1)) != 0 || (is_signed && n >> (bits - 1))) return -1;
    int k = 0;
    while (n >> k != 1)
        k++;
    return k;
}

/* NumPy's ufuncs raise the floating-point flag also for ints: np.errstate decides what comes of it. */
static void raise_flag(Cg *cg, Value is_zero) {
    if (cg->options->entry != ENTRY_UFUNC || LLVMIsNull(is_zero)) return;
    BB cold = cg_block(cg, "zero"), next = cg_block(cg, "divide");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, is_zero, cold, next));
    cg_at(cg, cold);
    cg_call_extern(cg, "quern_zero_divisor", cg->void_, NULL, 0);
    LLVMBuildBr(cg->b, next);
    cg_at(cg, next);
}

/* A divisor that LLVM accepts with every dividend. */
static Value safe_divisor(Cg *cg, bool is_signed, Value b, Value *is_zero, Value *is_minus_one) {
    *is_zero = icmp(cg, LLVMIntEQ, b, 0);
    raise_flag(cg, *is_zero);
    Value odd = *is_zero;
    if (is_signed) {
        *is_minus_one = icmp(cg, LLVMIntEQ, b, -1);
        odd = LLVMBuildOr(cg->b, odd, *is_minus_one, "");
    }
    return LLVMBuildSelect(cg->b, odd, cg_int(LLVMTypeOf(b), 1), b, "");
}

/* Does the remainder have the other sign than the divisor (and is not zero)? Then Python rounds on. */
static Value rounds_on(Cg *cg, Value rem, Value b) {
    Value differ = icmp(cg, LLVMIntSLT, LLVMBuildXor(cg->b, rem, b, ""), 0);
    return LLVMBuildAnd(cg->b, icmp(cg, LLVMIntNE, rem, 0), differ, "");
}

/* -1 where the remainder by a positive divisor is negative, else 0. */
static Value below_zero(Cg *cg, Value rem) {
    LType type = LLVMTypeOf(rem);
    return LLVMBuildAShr(cg->b, rem, cg_int(type, LLVMGetIntTypeWidth(type) - 1), "");
}

/* By a positive divisor. */
static Value floordiv_positive(Cg *cg, Value a, Value b) {
    Value quotient = LLVMBuildSDiv(cg->b, a, b, "");
    Value rem = LLVMBuildSub(cg->b, a, LLVMBuildMul(cg->b, quotient, b, ""), "");
    return LLVMBuildAdd(cg->b, quotient, below_zero(cg, rem), "");
}

/* Of a choice that it knows the answer of LLVM makes a branch, and the next remainder does not wait for it. */
static Value seldom_true(Cg *cg, Value choice) {
    if (LLVMIsASelectInst(choice)) cg_unlikely(cg, choice);
    return choice;
}

static Value mod_positive(Cg *cg, Value a, Value b, bool seldom) {
    Value rem = LLVMBuildSRem(cg->b, a, b, "");
    if (seldom) {
        Value below = icmp(cg, LLVMIntSLT, rem, 0);
        return seldom_true(cg,
                           LLVMBuildSelect(cg->b, below, LLVMBuildAdd(cg->b, rem, b, ""), rem, ""));
    }
    return LLVMBuildAdd(cg->b, rem, LLVMBuildAnd(cg->b, below_zero(cg, rem), b, ""), "");
}

/* The dividend is at most one divisor away: no division. */
static Value mod_near(Cg *cg, unsigned known, Value a, Value b) {
    Value result = a;
    if (known & DIV_ABOVE) {
        Value above = LLVMBuildICmp(cg->b, LLVMIntSGE, a, b, "");
        result = LLVMBuildSelect(cg->b, above, LLVMBuildSub(cg->b, a, b, ""), a, "");
    }
    if (known & DIV_BELOW)
        result = LLVMBuildSelect(cg->b, icmp(cg, LLVMIntSLT, a, 0), LLVMBuildAdd(cg->b, a, b, ""),
                                 result, "");
    return result;
}

Value cg_int_floordiv(Cg *cg, bool is_signed, unsigned known, Value a, Value b) {
    LType type = LLVMTypeOf(a);
    int shift = power_of_two(b, is_signed);
    if (shift >= 0)
        return is_signed ? LLVMBuildAShr(cg->b, a, cg_int(type, shift), "")
                         : LLVMBuildLShr(cg->b, a, cg_int(type, shift), "");
    if (known & DIV_NATURAL) return LLVMBuildUDiv(cg->b, a, b, "");
    if (is_signed && known) return floordiv_positive(cg, a, b);
    Value zero = cg_int(type, 0), is_zero, is_minus_one;
    Value d = safe_divisor(cg, is_signed, b, &is_zero, &is_minus_one);
    Value quotient;
    if (is_signed) {
        quotient = LLVMBuildSDiv(cg->b, a, d, "");
        Value rem = LLVMBuildSub(cg->b, a, LLVMBuildMul(cg->b, quotient, d, ""), "");
        Value carry = LLVMBuildSExt(cg->b, rounds_on(cg, rem, d), type, "");
        quotient = LLVMBuildAdd(cg->b, quotient, carry, "");
        Value negated = LLVMBuildSub(cg->b, zero, a, "");
        quotient = LLVMBuildSelect(cg->b, is_minus_one, negated, quotient, "");
    } else {
        quotient = LLVMBuildUDiv(cg->b, a, d, "");
    }
    return LLVMBuildSelect(cg->b, is_zero, zero, quotient, "");
}

/* Does `user` ask of operand k whether it is zero, and nothing else? */
static bool asks_for_zero(const Func *func, const Inst *user, const Ref *args, int32_t k) {
    bool equal = user->op == OP_eq || user->op == OP_ne;
    if (!equal) return false;
    const Inst *other = ir_inst(func, args[1 - k]);
    return other->op == OP_const && other->u.value->kind == CONST_INT && other->u.value->i == 0;
}

static void find_wanted(Cg *cg) {
    const Func *func = cg->f->ir;
    cg->f->wanted = bits_new(cg->arena, func->insts.len);
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const Inst *user = ir_inst(func, ref);
        const Ref *args = ir_args(func, ref);
        for (int32_t k = 0; user->op != OP_removed && k < user->nargs; k++)
            if (ir_inst(func, args[k])->op == OP_mod && !asks_for_zero(func, user, args, k))
                bits_set(&cg->f->wanted, args[k]);
    }
}

unsigned cg_known_of_mod(Cg *cg, const Inst *mod) {
    Ref ref = (Ref)(mod - cg->f->ir->insts.items);
    if (!cg->f->wanted.n) find_wanted(cg);
    return mod->sub | (bits_get(&cg->f->wanted, ref) ? 0 : DIV_ZERO);
}

Value cg_int_mod(Cg *cg, bool is_signed, unsigned known, Value a, Value b) {
    LType type = LLVMTypeOf(a);
    int shift = power_of_two(b, is_signed);
    if (shift >= 0)
        return LLVMBuildAnd(cg->b, a, cg_int(type, (int64_t)((UINT64_C(1) << shift) - 1)), "");
    Value is_zero, is_minus_one;
    if (known & (DIV_BELOW | DIV_ABOVE)) return mod_near(cg, known, a, b);
    if (known & DIV_NATURAL) return LLVMBuildURem(cg->b, a, b, "");
    if (is_signed && known & DIV_ZERO) { /* it is, whichever way a division rounds */
        Value by = known & DIV_POSITIVE ? b : safe_divisor(cg, true, b, &is_zero, &is_minus_one);
        return LLVMBuildSRem(cg->b, a, cg->target->is_host ? seldom_true(cg, by) : by, "");
    }
    if (is_signed && known & DIV_POSITIVE) return mod_positive(cg, a, b, known & DIV_SELDOM);
    Value d = safe_divisor(cg, is_signed, b, &is_zero, &is_minus_one);
    if (!is_signed) /* by 1 where the divisor was 0: the remainder is 0 */
        return LLVMBuildURem(cg->b, a, d, "");
    if (known & DIV_SELDOM) seldom_true(cg, d);
    Value rem = LLVMBuildSRem(cg->b, a, d, "");
    if (known & DIV_SELDOM)
        return seldom_true(cg, LLVMBuildSelect(cg->b, rounds_on(cg, rem, d),
                                               LLVMBuildAdd(cg->b, rem, d, ""), rem, ""));
    Value add = LLVMBuildSelect(cg->b, rounds_on(cg, rem, d), d, cg_int(type, 0), "");
    return LLVMBuildAdd(cg->b, rem, add, "");
}

Value cg_int_rem(Cg *cg, bool is_signed, Value a, Value b) {
    Value is_zero, is_minus_one;
    Value d = safe_divisor(cg, is_signed, b, &is_zero, &is_minus_one);
    return is_signed ? LLVMBuildSRem(cg->b, a, d, "") : LLVMBuildURem(cg->b, a, d, "");
}

/* -- powers ----------------------------------------------------------------------------------- */

static Value pow_constant(Cg *cg, Value a, uint64_t n) {
    Value result = NULL;
    for (Value square = a; n; n >>= 1) {
        if (n & 1) result = result ? LLVMBuildMul(cg->b, result, square, "") : square;
        if (n > 1) square = LLVMBuildMul(cg->b, square, square, "");
    }
    return result ? result : cg_int(LLVMTypeOf(a), 1);
}

/* T quern.pow.N(T a, T n): by squaring, n taken as unsigned. */
static Value pow_function(Cg *cg, LType type, LType *fn_type) {
    char name[32];
    snprintf(name, sizeof name, "quern.pow.%u", LLVMGetIntTypeWidth(type));
    *fn_type = LLVMFunctionType(type, (LType[]){type, type}, 2, false);
    Value fn = LLVMGetNamedFunction(cg->mod, name);
    if (fn) return fn;
    BB here = LLVMGetInsertBlock(cg->b);
    fn = LLVMAddFunction(cg->mod, name, *fn_type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_attribute(cg, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    BB entry = LLVMAppendBasicBlockInContext(cg->context, fn, "");
    cg_at(cg, entry);
    BB head = cg_block(cg, "head"), body = cg_block(cg, "body"), exit = cg_block(cg, "exit");
    LLVMBuildBr(cg->b, head);
    cg_at(cg, head);
    Value base = LLVMBuildPhi(cg->b, type, ""), n = LLVMBuildPhi(cg->b, type, "");
    Value acc = LLVMBuildPhi(cg->b, type, "");
    LLVMBuildCondBr(cg->b, icmp(cg, LLVMIntEQ, n, 0), exit, body);
    cg_at(cg, body);
    Value odd = LLVMBuildTrunc(cg->b, n, cg->i1, "");
    Value product = LLVMBuildMul(cg->b, acc, base, "");
    Value acc2 = LLVMBuildSelect(cg->b, odd, product, acc, "");
    Value base2 = LLVMBuildMul(cg->b, base, base, "");
    Value n2 = LLVMBuildLShr(cg->b, n, cg_int(type, 1), "");
    LLVMBuildBr(cg->b, head);
    BB from[] = {entry, body};
    LLVMAddIncoming(base, (Value[]){LLVMGetParam(fn, 0), base2}, from, 2);
    LLVMAddIncoming(n, (Value[]){LLVMGetParam(fn, 1), n2}, from, 2);
    LLVMAddIncoming(acc, (Value[]){cg_int(type, 1), acc2}, from, 2);
    cg_at(cg, exit);
    LLVMBuildRet(cg->b, acc);
    cg_at(cg, here);
    return fn;
}

Value cg_int_pow(Cg *cg, bool is_signed, Value a, Value b) {
    LType type = LLVMTypeOf(a), fn_type;
    if (LLVMIsAConstantInt(b)) {
        bool negative = is_signed && LLVMConstIntGetSExtValue(b) < 0;
        if (negative) return cg_int(type, 0);
        uint64_t n = LLVMConstIntGetZExtValue(b);
        if (n <= 64) return pow_constant(cg, a, n);
    }
    Value fn = pow_function(cg, type, &fn_type);
    Value power = LLVMBuildCall2(cg->b, fn_type, fn, (Value[]){a, b}, 2, "");
    if (!is_signed) return power;
    return LLVMBuildSelect(cg->b, icmp(cg, LLVMIntSLT, b, 0), cg_int(type, 0), power, "");
}

/* -- shifts ----------------------------------------------------------------------------------- */

Value cg_int_shl(Cg *cg, Value a, Value count) {
    LType type = LLVMTypeOf(a);
    Value inside = icmp(cg, LLVMIntULT, count, LLVMGetIntTypeWidth(type));
    Value shifted = LLVMBuildShl(cg->b, a, count, "");
    return LLVMBuildSelect(cg->b, inside, shifted, cg_int(type, 0), "");
}

Value cg_int_shr(Cg *cg, bool is_signed, Value a, Value count) {
    LType type = LLVMTypeOf(a);
    unsigned width = LLVMGetIntTypeWidth(type);
    Value inside = icmp(cg, LLVMIntULT, count, width), zero = cg_int(type, 0);
    if (!is_signed)
        return LLVMBuildSelect(cg->b, inside, LLVMBuildLShr(cg->b, a, count, ""), zero, "");
    /* counts of the width and more leave the sign; negative ones (large as unsigned) give 0 */
    Value clamped = LLVMBuildSelect(cg->b, inside, count, cg_int(type, width - 1), "");
    Value shifted = LLVMBuildAShr(cg->b, a, clamped, "");
    return LLVMBuildSelect(cg->b, icmp(cg, LLVMIntSLT, count, 0), zero, shifted, "");
}
