/* simplify.c - what later passes should not have to look at: wraparound of indices that cannot be negative,
 * guards that cannot fail, casts to the same type, sums with zero. LLVM does the rest. */
#include "codegen/opt/pass.h"

static bool is_const_bool(const Func *func, Ref ref, bool *value) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->op != OP_const || inst->u.value->kind != CONST_BOOL) return false;
    *value = inst->u.value->i != 0;
    return true;
}

/* A comparison of an integer with a constant that its sign decides. */
static bool never_true(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    bool value;
    if (is_const_bool(func, ref, &value)) return !value;
    if (inst->op == OP_lt && opt_const_int(func, ir_arg(func, ref, 1), &k) && k <= 0)
        return opt_nonnegative(func, ir_arg(func, ref, 0), false);
    if (inst->op == OP_lt && opt_const_int(func, ir_arg(func, ref, 0), &k)) {
        int64_t other;
        Ref a = ir_arg(func, ref, 0), b = ir_arg(func, ref, 1);
        return type_class(ir_type(func, a)) == CLASS_SINT &&
               type_class(ir_type(func, b)) == CLASS_SINT && opt_const_int(func, b, &other) &&
               k >= other;
    }
    if (inst->op == OP_eq) {
        int64_t a, b;
        return opt_const_int(func, ir_arg(func, ref, 0), &a) &&
               opt_const_int(func, ir_arg(func, ref, 1), &b) && a != b;
    }
    return false;
}

/* The value that can stand for `ref` everywhere, or NO_REF. */
static Ref simpler(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    int64_t k;
    switch (inst->op) {
    case OP_wrap_index:
        return opt_nonnegative(func, ir_arg(func, ref, 0), true) ? ir_arg(func, ref, 0) : NO_REF;
    case OP_cast:
        return ir_type(func, ir_arg(func, ref, 0)) == inst->type ? ir_arg(func, ref, 0) : NO_REF;
    case OP_add:
        if (!type_is_int(inst->type)) return NO_REF;
        if (opt_const_int(func, ir_arg(func, ref, 1), &k) && k == 0) return ir_arg(func, ref, 0);
        if (opt_const_int(func, ir_arg(func, ref, 0), &k) && k == 0) return ir_arg(func, ref, 1);
        return NO_REF;
    case OP_mul:
        if (!type_is_int(inst->type)) return NO_REF;
        if (opt_const_int(func, ir_arg(func, ref, 1), &k) && k == 1) return ir_arg(func, ref, 0);
        if (opt_const_int(func, ir_arg(func, ref, 0), &k) && k == 1) return ir_arg(func, ref, 1);
        return NO_REF;
    default: return NO_REF;
    }
}

void opt_simplify(PassContext *ctx, Func *func) {
    cfg_remove_unreachable(func);
    Ref *map = arena_array(ctx->arena, Ref, func->insts.len);
    bool any = false;
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        if (block->removed) continue;
        for (int32_t i = block->insts.len - 1; i >= 0; i--) {
            Ref ref = block->insts.items[i];
            Inst *inst = ir_inst(func, ref);
            if (inst->op == OP_guard && inst->error == NO_BLOCK &&
                never_true(func, ir_arg(func, ref, 0))) {
                ir_remove(func, ref);
                continue;
            }
            if ((map[ref] = simpler(func, ref))) any = true;
        }
    }
    if (any) ir_replace_many(func, map);
}
