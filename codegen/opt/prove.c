/* prove.c - removes index checks that cannot fail, wraparounds that do nothing and tests for zero divisors, where loops and
 * the tests on the way show it (inductive.c). What is left of checks, the pass `bounds` asks in front of the loop. Integer
 * divisions are told what is known of their operands: rounding down costs more than the rest of a division by a constant. */
#include "codegen/opt/pass.h"
#include "frontend/base/bits.h"

typedef struct Proving {
    Func *func;
    Cfg cfg;
    Ref *map;        /* what stands for a removed value */
    Bits needless;   /* guards */
    Vec(Ref) checks; /* those seen, which stay */
    Arena *arena;
    bool any;
} Proving;

static bool is_op(const Func *func, Ref ref, Op op) {
    return ir_inst(func, ref)->op == op;
}

/* -length <= index: then the wraparound hits an element. For indices a little below zero, as in a[i - 1]. */
static bool wraps_inside(const Proving *p, Ref index, Ref length, int32_t block) {
    enum { DEEPEST = 4 };
    for (int64_t d = 1; d <= DEEPEST; d++)
        if (opt_at_least(p->func, &p->cfg, index, -d, block))
            return opt_at_least(p->func, &p->cfg, length, d, block);
    return false;
}

/* What a check gives when it cannot fail; NO_REF: it may. */
static Ref checked(const Proving *p, Ref check) {
    const Func *func = p->func;
    Ref value = ir_arg(func, check, 0), length = ir_arg(func, check, 1);
    bool wraps = is_op(func, value, OP_wrap_index);
    Ref index = wraps ? ir_arg(func, value, 0) : value;
    int32_t block = ir_inst(func, check)->block;
    if (wraps && ir_arg(func, value, 1) != length) return NO_REF;
    if (!opt_below(func, &p->cfg, index, length, block)) return NO_REF;
    if (opt_at_least(func, &p->cfg, index, 0, block)) return index;
    return wraps && wraps_inside(p, index, length, block) ? value : NO_REF;
}

/* An earlier check of the same index on the way here; NO_REF: none. */
static Ref twin(const Proving *p, Ref check) {
    enum { LOOK_BACK = 32 };
    const Func *func = p->func;
    Ref value = ir_arg(func, check, 0), length = ir_arg(func, check, 1);
    for (int32_t i = p->checks.len - 1; i >= 0 && i >= p->checks.len - LOOK_BACK; i--) {
        Ref other = p->checks.items[i], index = ir_arg(func, other, 0);
        bool wraps = is_op(func, value, OP_wrap_index);
        if (wraps != is_op(func, index, OP_wrap_index)) continue;
        if (!opt_same(func, length, ir_arg(func, other, 1))) continue;
        if (!(wraps ? opt_same(func, ir_arg(func, value, 0), ir_arg(func, index, 0)) &&
                          ir_arg(func, value, 1) == length &&
                          ir_arg(func, index, 1) == ir_arg(func, other, 1)
                    : opt_same(func, value, index)))
            continue;
        if (cfg_available(&p->cfg, func, other, ir_inst(func, check)->block)) return other;
    }
    return NO_REF;
}

/* Its error successor, if it has one, loses this edge. */
static void remove_check(Func *func, Ref check) {
    Inst *inst = ir_inst(func, check);
    if (inst->error != NO_BLOCK) ir_edge_remove(func, inst->block, inst->error);
    ir_inst(func, check)->error = NO_BLOCK;
    ir_remove(func, check);
}

static bool at_least(const Proving *p, Ref value, int64_t k, Ref where) {
    return opt_at_least(p->func, &p->cfg, value, k, ir_inst(p->func, where)->block);
}

/* Does this guard ask whether an int is zero that cannot be? */
static bool never_zero(const Proving *p, Ref guard) {
    const Func *func = p->func;
    const Inst *inst = ir_inst(func, guard);
    int64_t zero;
    if (inst->sub != GUARD_zero_division && inst->sub != GUARD_zero_modulo) return false;
    Ref test = ir_arg(func, guard, 0);
    if (!is_op(func, test, OP_eq) || !opt_const_int(func, ir_arg(func, test, 1), &zero) || zero)
        return false;
    return at_least(p, ir_arg(func, test, 0), 1, guard);
}

static void visit_division(const Proving *p, Ref ref) {
    Ref x = ir_arg(p->func, ref, 0), y = ir_arg(p->func, ref, 1);
    if (ir_type(p->func, ref)->kind != TY_i64 || !at_least(p, y, 1, ref)) return;
    ir_inst(p->func, ref)->sub = DIV_POSITIVE;
    if (at_least(p, x, 0, ref)) ir_inst(p->func, ref)->sub |= DIV_NATURAL;
}

static void visit(Proving *p, Ref ref) {
    if (is_op(p->func, ref, OP_floordiv) || is_op(p->func, ref, OP_mod)) visit_division(p, ref);
    if (is_op(p->func, ref, OP_guard) && never_zero(p, ref)) {
        bits_set(&p->needless, ref);
        p->any = true;
    }
    if (is_op(p->func, ref, OP_check_index)) {
        p->map[ref] = checked(p, ref);
        if (!p->map[ref]) p->map[ref] = twin(p, ref);
        if (!p->map[ref]) vec_push(p->arena, &p->checks, ref);
    } else if (is_op(p->func, ref, OP_wrap_index)) {
        Ref index = ir_arg(p->func, ref, 0);
        if (opt_at_least(p->func, &p->cfg, index, 0, ir_inst(p->func, ref)->block))
            p->map[ref] = index;
    }
    p->any |= p->map[ref] != NO_REF;
}

void opt_prove(PassContext *ctx, Func *func) {
    Proving p = {.func = func, .arena = ctx->arena};
    cfg_compute(&p.cfg, ctx->arena, func);
    p.map = arena_array(ctx->arena, Ref, func->insts.len);
    p.needless = bits_new(ctx->arena, func->insts.len);
    for (int32_t b = 0; b < p.cfg.nrpo; b++) {
        const Block *block = &func->blocks.items[p.cfg.rpo[b]];
        for (int32_t i = 0; i < block->insts.len; i++)
            visit(&p, block->insts.items[i]);
    }
    if (!p.any) return;
    ir_replace_many(func, p.map);
    Ref n = func->insts.len;
    for (Ref ref = 1; ref < n; ref++) {
        if (!p.map[ref] && !bits_get(&p.needless, ref)) continue;
        if (is_op(func, ref, OP_check_index) || is_op(func, ref, OP_guard))
            remove_check(func, ref);
        else
            ir_remove(func, ref);
    }
    cfg_remove_unreachable(func);
}
