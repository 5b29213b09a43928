/* prove.c - removes index checks that cannot fail and wraparounds that do nothing, where loops and the tests on the way
 * show it (inductive.c). What is left, the pass `bounds` asks in front of the loop. */
#include "codegen/opt/pass.h"

typedef struct Proving {
    Func *func;
    Cfg cfg;
    Ref *map; /* what stands for a removed value */
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

/* Its error successor, if it has one, loses this edge. */
static void remove_check(Func *func, Ref check) {
    Inst *inst = ir_inst(func, check);
    if (inst->error != NO_BLOCK) ir_edge_remove(func, inst->block, inst->error);
    ir_inst(func, check)->error = NO_BLOCK;
    ir_remove(func, check);
}

static void visit(Proving *p, Ref ref) {
    if (is_op(p->func, ref, OP_check_index)) {
        p->map[ref] = checked(p, ref);
    } else if (is_op(p->func, ref, OP_wrap_index)) {
        Ref index = ir_arg(p->func, ref, 0);
        if (opt_at_least(p->func, &p->cfg, index, 0, ir_inst(p->func, ref)->block))
            p->map[ref] = index;
    }
    p->any |= p->map[ref] != NO_REF;
}

void opt_prove(PassContext *ctx, Func *func) {
    Proving p = {.func = func};
    cfg_compute(&p.cfg, ctx->arena, func);
    p.map = arena_array(ctx->arena, Ref, func->insts.len);
    for (int32_t b = 0; b < p.cfg.nrpo; b++) {
        const Block *block = &func->blocks.items[p.cfg.rpo[b]];
        for (int32_t i = 0; i < block->insts.len; i++)
            visit(&p, block->insts.items[i]);
    }
    if (!p.any) return;
    ir_replace_many(func, p.map);
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        if (!p.map[ref]) continue;
        if (is_op(func, ref, OP_check_index))
            remove_check(func, ref);
        else
            ir_remove(func, ref);
    }
    cfg_remove_unreachable(func);
}
