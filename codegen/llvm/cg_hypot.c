/* cg_hypot.c - the length of (x, y) without a call and without a branch, so that loops of complex numbers become vector code.
 *
 * float32: the squares are exact in float64, and their sum does not overflow. float64: both are scaled by a power of two where a square
 * would overflow or lose bits, and the root is corrected by what rounding took (C. F. Borges, "An improved algorithm for
 * hypot(a,b)", 2019). */
#include "codegen/llvm/cg.h"
#include "codegen/opt/pass.h"
#include <math.h>

static Value less(Cg *cg, Value a, Value b) {
    return LLVMBuildFCmp(cg->b, LLVMRealOLT, a, b, "");
}
static Value pick(Cg *cg, Value condition, Value yes, Value no) {
    return LLVMBuildSelect(cg->b, condition, yes, no, "");
}
static Value times(Cg *cg, Value a, Value b) {
    return LLVMBuildFMul(cg->b, a, b, "");
}
static Value plus(Cg *cg, Value a, Value b) {
    return LLVMBuildFAdd(cg->b, a, b, "");
}
static Value minus(Cg *cg, Value a, Value b) {
    return LLVMBuildFSub(cg->b, a, b, "");
}

static Value root_of_squares(Cg *cg, Value a, Value b) {
    return cg_intrinsic1(cg, "llvm.sqrt", plus(cg, times(cg, a, a), times(cg, b, b)));
}

/* h - (h * h - a * a - b * b) / (2 * h), the difference without cancellation; a >= b. */
static Value corrected(Cg *cg, Value h, Value a, Value b) {
    Value two = cg_real(cg->f64, 2.0), four = cg_real(cg->f64, 4.0);
    Value near = LLVMBuildFCmp(cg->b, LLVMRealOLE, h, times(cg, two, b), "");
    Value over_b = minus(cg, h, b), over_a = minus(cg, h, a);
    Value first_near = times(cg, a, minus(cg, times(cg, two, over_b), a));
    Value second_near = times(cg, minus(cg, over_b, times(cg, two, minus(cg, a, b))), over_b);
    Value first_far = times(cg, times(cg, two, over_a), minus(cg, a, times(cg, two, b)));
    Value second_far =
        plus(cg, times(cg, minus(cg, times(cg, four, over_a), b), b), times(cg, over_a, over_a));
    Value first = pick(cg, near, first_near, first_far);
    Value second = pick(cg, near, second_near, second_far);
    Value error = LLVMBuildFDiv(cg->b, plus(cg, first, second), times(cg, two, h), "");
    Value zero = LLVMBuildFCmp(cg->b, LLVMRealOEQ, h, cg_real(cg->f64, 0.0), "");
    return pick(cg, zero, h, minus(cg, h, error));
}

static Value length64(Cg *cg, Value x, Value y) {
    Value one = cg_real(cg->f64, 1.0), tiny = cg_real(cg->f64, 0x1p-600),
          huge = cg_real(cg->f64, 0x1p600);
    Value swap = less(cg, x, y);
    Value a = pick(cg, swap, y, x), b = pick(cg, swap, x, y);
    Value large = less(cg, cg_real(cg->f64, 0x1p510), a);
    Value small = less(cg, a, cg_real(cg->f64, 0x1p-450));
    Value scale = pick(cg, large, tiny, pick(cg, small, huge, one));
    Value back = pick(cg, large, huge, pick(cg, small, tiny, one));
    a = times(cg, a, scale), b = times(cg, b, scale);
    return times(cg, corrected(cg, root_of_squares(cg, a, b), a, b), back);
}

Value cg_hypot(Cg *cg, Value x, Value y) {
    LType type = LLVMTypeOf(x);
    bool wide = type == cg->f64;
    if (!cg->target->is_host || (!wide && type != cg->f32))
        return cg_math(cg, "hypot", (Value[]){x, y}, 2);
    x = cg_intrinsic1(cg, "llvm.fabs", x), y = cg_intrinsic1(cg, "llvm.fabs", y);
    Value length = wide ? length64(cg, x, y) : NULL;
    if (!wide) {
        length = root_of_squares(cg, LLVMBuildFPExt(cg->b, x, cg->f64, ""),
                                 LLVMBuildFPExt(cg->b, y, cg->f64, ""));
        length = LLVMBuildFPTrunc(cg->b, length, cg->f32, "");
    }
    /* infinite if a part is, else nan if one is */
    Value infinity = cg_real(type, HUGE_VAL);
    Value infinite = LLVMBuildOr(cg->b, LLVMBuildFCmp(cg->b, LLVMRealOEQ, x, infinity, ""),
                                 LLVMBuildFCmp(cg->b, LLVMRealOEQ, y, infinity, ""), "");
    Value odd = LLVMBuildFCmp(cg->b, LLVMRealUNO, x, y, "");
    length = pick(cg, odd, plus(cg, x, y), length);
    return pick(cg, infinite, infinity, length);
}

/* -- lengths that are compared ---------------------------------------------------------------------- */

/* abs() of a complex128 that only `user` reads. */
static bool is_length(Cg *cg, Ref ref, Ref user) {
    const Func *func = cg->f->ir;
    if (ir_inst(func, ref)->op != OP_lib) return false;
    const Lowering *how = lib_lowering(cg_lib_row(func, ref), cg->options->infer.target);
    if (how->kind != LOWER_GEN || how->id != GEN_abs) return false;
    if (type_strong_kind(cg_type(cg, ir_arg(func, ref, 0))->kind) != TY_c128) return false;
    for (Ref r = 1; r < func->insts.len; r++)
        for (int32_t k = 0; k < ir_inst(func, r)->nargs; k++)
            if (r != user && ir_arg(func, r, k) == ref) return false;
    return true;
}

/* A number whose square, and what differs from it in the last bits, is an ordinary float64. */
static bool is_moderate(const Func *func, Ref ref, double *limit) {
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    if (opt_const_int(func, ref, &k))
        *limit = (double)k;
    else if (inst->op == OP_const && inst->u.value->kind == CONST_FLOAT)
        *limit = inst->u.value->re;
    else
        return false;
    return *limit >= 0x1p-500 && *limit <= 0x1p52;
}

/* Does the loop end, or go on, by the comparison? Where it only chooses a value, code without branches is better. */
static bool ends_loop(Cg *cg, Ref ref) {
    const CgFunc *f = cg->f;
    int32_t loop = f->cfg.loop_of[f->block];
    const Inst *last = ir_inst(f->ir, ir_terminator(f->ir, f->block));
    if (loop < 0 || last->op != OP_branch ||
        ir_arg(f->ir, ir_terminator(f->ir, f->block), 0) != ref)
        return false;
    return opt_in_loop(&f->cfg, loop, last->target[0]) !=
           opt_in_loop(&f->cfg, loop, last->target[1]);
}

/* What the squares say where they are clearly on one side of the limit's: their sum, the limit's square and the length are each off by
 * less than three parts of 2^52. Otherwise, and of nan, the length itself is asked, out of the way. */
static Value compare_squares(Cg *cg, Ref ref, const Value *z, double limit, bool below) {
    const Func *func = cg->f->ir;
    Ref a = ir_arg(func, ref, 0), b = ir_arg(func, ref, 1);
    double square = limit * limit, margin = square * 0x1p-48;
    Value sum = plus(cg, times(cg, z[0], z[0]), times(cg, z[1], z[1]));
    Value inside = less(cg, sum, cg_real(cg->f64, square - margin));
    Value outside = less(cg, cg_real(cg->f64, square + margin), sum);
    Value open = LLVMBuildNot(cg->b, LLVMBuildOr(cg->b, inside, outside, ""), "");
    BB here = LLVMGetInsertBlock(cg->b), near = cg_block(cg, "near"), known = cg_block(cg, "known");
    cg_unlikely(cg, LLVMBuildCondBr(cg->b, open, near, known));
    cg_at(cg, near);
    Value asked = cg_compare(cg, (Op)ir_inst(func, ref)->op, cg_type(cg, a), cg_leaves(cg, a),
                             cg_type(cg, b), cg_leaves(cg, b));
    BB last = LLVMGetInsertBlock(cg->b);
    LLVMBuildBr(cg->b, known);
    cg_at(cg, known);
    Value result = LLVMBuildPhi(cg->b, cg->i1, "");
    LLVMAddIncoming(result, (Value[]){below ? inside : outside, asked}, (BB[]){here, last}, 2);
    return result;
}

bool cg_compare_length(Cg *cg, Ref ref) {
    const Func *func = cg->f->ir;
    const Inst *inst = ir_inst(func, ref);
    double limit;
    if (!cg->target->is_host || (inst->op != OP_lt && inst->op != OP_le)) return false;
    for (int k = 0; k < 2; k++) {
        Ref length = ir_arg(func, ref, k), other = ir_arg(func, ref, 1 - k);
        if (!is_moderate(func, other, &limit) || !is_length(cg, length, ref)) continue;
        if (!ends_loop(cg, ref)) return false;
        Value *z = cg_leaves(cg, ir_arg(func, length, 0));
        cg_set1(cg, ref, compare_squares(cg, ref, z, limit, k == 0));
        return true;
    }
    return false;
}
