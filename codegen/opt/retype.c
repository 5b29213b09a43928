/* retype.c - values of a function get a narrower type, and casts stand where they meet the others. */
#include "codegen/opt/retype.h"

void opt_retype_init(PassContext *ctx, Retype *r) {
    r->n = r->func->insts.len;
    r->i64 = type_scalar(ctx->module->types, TY_i64);
    r->values = bits_new(ctx->arena, r->n);
    r->compares = bits_new(ctx->arena, r->n);
    r->narrow = arena_array(ctx->arena, Ref, r->n);
    r->widest = arena_array(ctx->arena, Ref, r->n);
}

/* `ref` as a value of `type`, by a cast behind it; one for all its users. */
static Ref cast_behind(Retype *r, Ref ref, const Type *type) {
    Func *f = r->func;
    Ref *known = type == r->to ? r->narrow : r->widest;
    int64_t value;
    if (known[ref]) return known[ref];
    if (opt_const_int(f, ref, &value)) {
        if (type->kind == TY_u32) value &= UINT32_MAX;
        return known[ref] = ir_const_int(f, type, value);
    }
    int32_t block = ir_inst(f, ref)->block, at = opt_position(f, ref) + 1;
    const Block *b = &f->blocks.items[block];
    while (at < b->insts.len && (ir_op_info[ir_inst(f, b->insts.items[at])->op].flags & OPF_PINNED))
        at++;
    Ref cast = ir_insert(f, block, at, OP_cast, &ref, 1);
    ir_inst(f, cast)->type = type;
    ir_inst(f, cast)->span = ir_inst(f, ref)->span;
    return known[ref] = cast;
}

static void rewrite_operands(Retype *r, Ref ref, bool narrow) {
    Func *f = r->func;
    for (int32_t k = 0; k < ir_inst(f, ref)->nargs; k++) {
        Ref arg = ir_arg(f, ref, k);
        bool is_narrow = bits_get(&r->values, arg);
        if (narrow && !is_narrow && ir_type(f, arg) == r->i64) {
            Ref cast = cast_behind(r, arg, r->to);
            ir_args(f, ref)[k] = cast;
        } else if (!narrow && is_narrow) {
            Ref cast = cast_behind(r, arg, r->i64);
            ir_args(f, ref)[k] = cast;
        }
    }
}

void opt_retype(Retype *r) {
    Func *f = r->func;
    for (Ref ref = 1; ref < r->n; ref++) {
        Inst *inst = ir_inst(f, ref);
        if (!bits_get(&r->values, ref)) continue;
        inst->type = r->to;
        if (inst->op == OP_add || inst->op == OP_sub || inst->op == OP_mul)
            inst->sub = r->exact ? FLAG_NOWRAP : 0; /* proven: no wrap */
    }
    for (Ref ref = 1; ref < r->n; ref++) {
        Op op = (Op)ir_inst(f, ref)->op;
        if (op == OP_removed || op == OP_const) continue;
        if (op == OP_cast && !bits_get(&r->compares, ref))
            continue; /* from any number to any number: the value is the same */
        rewrite_operands(r, ref, bits_get(&r->values, ref) || bits_get(&r->compares, ref));
    }
}
