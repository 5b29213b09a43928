/* cg_compare.c - comparisons of any two numeric types, mathematically exact, and truth values.
 *
 * Signed with unsigned compares values, not bits (INT-15). An integer with a float is compared as
 * CPython does: converting the integer rounds, but rounding is monotone, so the rounded comparison is
 * right whenever it tells them apart; when it does not, the float is a whole number and is converted. */
#include "codegen/llvm/cg.h"

typedef struct Operand { /* a widened real number */
    bool is_float, is_signed;
    int bits; /* significant: of the integer type before widening */
    Value v;  /* i64 or f64 */
} Operand;

static Value icmp(Cg *cg, LLVMIntPredicate p, Value a, Value b) {
    return LLVMBuildICmp(cg->b, p, a, b, "");
}
static Value fcmp(Cg *cg, LLVMRealPredicate p, Value a, Value b) {
    return LLVMBuildFCmp(cg->b, p, a, b, "");
}
static Value and_(Cg *cg, Value a, Value b) {
    return LLVMBuildAnd(cg->b, a, b, "");
}
static Value or_(Cg *cg, Value a, Value b) {
    return LLVMBuildOr(cg->b, a, b, "");
}

static Operand widen(Cg *cg, const Type *type, Value v) {
    Operand o = {.bits = type_bits(type), .v = v};
    TypeClass cls = type_class(type);
    o.is_float = cls == CLASS_FLT || cls == CLASS_CPX;
    o.is_signed = cls == CLASS_SINT;
    if (o.is_float)
        o.v = LLVMTypeOf(v) == cg->f64 ? v : LLVMBuildFPExt(cg->b, v, cg->f64, "");
    else if (o.is_signed)
        o.v = LLVMTypeOf(v) == cg->i64 ? v : LLVMBuildSExt(cg->b, v, cg->i64, "");
    else
        o.v = LLVMTypeOf(v) == cg->i64 ? v : LLVMBuildZExt(cg->b, v, cg->i64, "");
    return o;
}

static bool fits_signed(Operand o) {
    return o.is_signed || o.bits < 64;
}

static Value compare_ints(Cg *cg, Op op, Operand a, Operand b) {
    LLVMIntPredicate sp = op == OP_eq ? LLVMIntEQ : op == OP_lt ? LLVMIntSLT : LLVMIntSLE;
    LLVMIntPredicate up = op == OP_eq ? LLVMIntEQ : op == OP_lt ? LLVMIntULT : LLVMIntULE;
    if (fits_signed(a) && fits_signed(b)) return icmp(cg, sp, a.v, b.v);
    if (!a.is_signed && !b.is_signed) return icmp(cg, up, a.v, b.v);
    /* one is u64: a negative other is below it */
    Value zero = cg_int(cg->i64, 0), bits = icmp(cg, up, a.v, b.v);
    if (a.is_signed) {
        Value negative = icmp(cg, LLVMIntSLT, a.v, zero);
        return op == OP_eq ? and_(cg, LLVMBuildNot(cg->b, negative, ""), bits)
                           : or_(cg, negative, bits);
    }
    return and_(cg, icmp(cg, LLVMIntSGE, b.v, zero), bits);
}

/* `i` an integer, `f` a float; swapped: the float stands on the left. */
static Value compare_mixed(Cg *cg, Op op, Operand i, Operand f, bool swapped) {
    Value rounded = i.is_signed || i.bits < 64 ? LLVMBuildSIToFP(cg->b, i.v, cg->f64, "")
                                               : LLVMBuildUIToFP(cg->b, i.v, cg->f64, "");
    LLVMRealPredicate strict = op == OP_eq ? LLVMRealOEQ : LLVMRealOLT;
    LLVMRealPredicate p = op == OP_le ? LLVMRealOLE : strict;
    Value left = swapped ? f.v : rounded, right = swapped ? rounded : f.v;
    if (i.bits <= 53 || (!i.is_signed && i.bits < 53)) /* the conversion is exact */
        return fcmp(cg, p, left, right);
    bool is_signed = fits_signed(i);
    LType types[] = {cg->i64, cg->f64};
    Value whole =
        cg_intrinsic(cg, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, 2, &f.v, 1);
    Value limit = cg_real(cg->f64, is_signed ? 0x1p63 : 0x1p64); /* above every integer */
    Value above = fcmp(cg, LLVMRealOEQ, f.v, limit);
    Operand w = {.is_signed = is_signed, .bits = 64, .v = whole};
    Operand n = {.is_signed = is_signed, .bits = 64, .v = i.v};
    Value exact = swapped ? compare_ints(cg, op, w, n) : compare_ints(cg, op, n, w);
    bool below_limit = !swapped && op != OP_eq; /* is i op limit true? */
    exact = below_limit ? or_(cg, exact, above) : and_(cg, exact, LLVMBuildNot(cg->b, above, ""));
    Value same = and_(cg, fcmp(cg, LLVMRealOEQ, left, right), exact);
    return op == OP_eq ? same : or_(cg, fcmp(cg, LLVMRealOLT, left, right), same);
}

static Value compare_reals(Cg *cg, Op op, const Type *ta, Value va, const Type *tb, Value vb) {
    va = cg_widened(cg, va), vb = cg_widened(cg, vb);
    Operand a = widen(cg, ta, va), b = widen(cg, tb, vb);
    if (a.is_float && b.is_float) {
        LLVMRealPredicate p = op == OP_eq ? LLVMRealOEQ : op == OP_lt ? LLVMRealOLT : LLVMRealOLE;
        if (LLVMTypeOf(va) == LLVMTypeOf(vb)) /* not through f64: vectors stay wide */
            return fcmp(cg, p, va, vb);
        return fcmp(cg, p, a.v, b.v);
    }
    if (a.is_float || b.is_float)
        return a.is_float ? compare_mixed(cg, op, b, a, true) : compare_mixed(cg, op, a, b, false);
    if (ta == tb) {
        bool s = a.is_signed;
        LLVMIntPredicate lt = s ? LLVMIntSLT : LLVMIntULT, le = s ? LLVMIntSLE : LLVMIntULE;
        return icmp(cg, op == OP_eq ? LLVMIntEQ : op == OP_lt ? lt : le, va, vb);
    }
    return compare_ints(cg, op, a, b);
}

static Value equal(Cg *cg, const Type *ta, const Value *a, const Type *tb, const Value *b) {
    bool ca = type_is_complex(ta), cb = type_is_complex(tb);
    Value re = compare_reals(cg, OP_eq, ta, a[0], tb, b[0]);
    if (!ca && !cb) return re;
    Value im;
    if (ca && cb) {
        im = compare_reals(cg, OP_eq, ta, a[1], tb, b[1]);
    } else {
        Value only = ca ? a[1] : b[1];
        im = fcmp(cg, LLVMRealOEQ, only, cg_real(LLVMTypeOf(only), 0.0));
    }
    return and_(cg, re, im);
}

static Value compare_tuples(Cg *cg, const Type *ta, const Value *a, const Type *tb,
                            const Value *b) {
    if (ta->nitems != tb->nitems) return cg_bool(cg, false);
    Value all = cg_bool(cg, true);
    for (int32_t i = 0; i < ta->nitems; i++) {
        all = and_(cg, all, cg_compare(cg, OP_eq, ta->items[i], a, tb->items[i], b));
        a += cg_leaf_count(cg, ta->items[i]);
        b += cg_leaf_count(cg, tb->items[i]);
    }
    return all;
}

Value cg_compare(Cg *cg, Op op, const Type *ta, const Value *a, const Type *tb, const Value *b) {
    if (op == OP_ne) return LLVMBuildNot(cg->b, cg_compare(cg, OP_eq, ta, a, tb, b), "");
    if (ta->kind == TY_TUPLE && tb->kind == TY_TUPLE && op == OP_eq)
        return compare_tuples(cg, ta, a, tb, b);
    if (ta->kind == TY_none && tb->kind == TY_none) return cg_bool(cg, op != OP_lt);
    if (!type_is_number(ta) || !type_is_number(tb)) {
        cg_error(cg, "these values cannot be compared");
        return cg_bool(cg, false);
    }
    if (op == OP_eq) return equal(cg, ta, a, tb, b);
    return compare_reals(cg, op, ta, a[0], tb, b[0]);
}

/* bool(x): not zero; NaN is true. */
Value cg_truth(Cg *cg, const Type *type, const Value *a) {
    if (type->kind == TY_bool) return a[0];
    if (type_is_int(type)) return icmp(cg, LLVMIntNE, a[0], cg_int(LLVMTypeOf(a[0]), 0));
    Value number = cg_widened(cg, a[0]), zero = cg_real(LLVMTypeOf(number), 0.0);
    Value re = fcmp(cg, LLVMRealUNE, number, zero);
    return type_is_complex(type) ? or_(cg, re, fcmp(cg, LLVMRealUNE, a[1], zero)) : re;
}
