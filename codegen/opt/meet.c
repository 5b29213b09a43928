/* meet.c - on the CPU: ways of a loop that each store into the same element store it where they meet.
 *
 *   a: store t, i + 1, x; jump m     b: store t, i + 1, y; jump m      =>      m: v = phi [x, a], [y, b]; store t, i + 1, v
 *
 * `if p: out[i] = x` and `else: out[i] = y`, as tables are filled. LLVM sees two addresses, since each way computes its own: with one store it
 * chooses between values instead of branching, and carries in a register what the next round loads of it. */
#include "codegen/opt/pass.h"

enum { MOST_WAYS = 6, DEPTH = 4 };

typedef struct Meeting {
    Func *func;
    Cfg cfg;
    int32_t block; /* where they meet */
    Ref stores[MOST_WAYS];
    int32_t made; /* phis of values, in this block */
} Meeting;

/* The store behind which the block does nothing but compute; NO_REF: it ends with something else. */
static Ref last_store(const Func *func, int32_t block) {
    const Block *b = &func->blocks.items[block];
    if (ir_inst(func, vec_last(&b->insts))->op != OP_jump) return NO_REF;
    for (int32_t i = b->insts.len - 2; i >= 0; i--) {
        const Inst *inst = ir_inst(func, b->insts.items[i]);
        if (inst->op == OP_store && inst->error == NO_BLOCK) return b->insts.items[i];
        if (!(ir_op_info[inst->op].flags & OPF_PURE)) return NO_REF;
    }
    return NO_REF;
}

static bool is_sum(const Inst *inst) {
    return inst->op == OP_add || inst->op == OP_sub || inst->op == OP_mul;
}

/* One value, or the same sums of the same values: `i + 1` of each way. */
static bool alike(const Func *func, Ref a, Ref b, int depth) {
    const Inst *x = ir_inst(func, a), *y = ir_inst(func, b);
    int64_t c, d;
    if (a == b ||
        (x->type == y->type && opt_const_int(func, a, &c) && opt_const_int(func, b, &d) && c == d))
        return true;
    if (depth == 0 || !is_sum(x) || x->op != y->op || x->type != y->type) return false;
    return alike(func, ir_arg(func, a, 0), ir_arg(func, b, 0), depth - 1) &&
           alike(func, ir_arg(func, a, 1), ir_arg(func, b, 1), depth - 1);
}

static bool into_one_element(const Func *func, Ref a, Ref b) {
    int32_t n = ir_inst(func, a)->nargs; /* array, indices, value */
    if (ir_inst(func, b)->nargs != n || ir_arg(func, a, 0) != ir_arg(func, b, 0)) return false;
    for (int32_t k = 1; k < n - 1; k++)
        if (!alike(func, ir_arg(func, a, k), ir_arg(func, b, k), DEPTH)) return false;
    return ir_type(func, ir_arg(func, a, n - 1)) == ir_type(func, ir_arg(func, b, n - 1)) &&
           type_is_number(ir_type(func, ir_arg(func, a, n - 1)));
}

/* Do the ways differ in what goes on, too, as the two of a merge do? There a branch that is foreseen is faster than what waits for the choice. */
static bool chooses_more(const Meeting *m) {
    const Block *block = &m->func->blocks.items[m->block];
    return ir_inst(m->func, block->insts.items[m->made])->op == OP_phi;
}

/* Does the block join ways of one loop, each of which ends with a store into one element? */
static bool find(Meeting *m) {
    const Block *block = &m->func->blocks.items[m->block];
    int32_t loop = m->cfg.loop_of[m->block];
    if (block->removed || block->preds.len < 2 || block->preds.len > MOST_WAYS || loop < 0 ||
        m->cfg.loops.items[loop].header == m->block || chooses_more(m))
        return false;
    for (int32_t k = 0; k < block->preds.len; k++) {
        if (m->cfg.loop_of[block->preds.items[k]] != loop) return false;
        m->stores[k] = last_store(m->func, block->preds.items[k]);
        if (!m->stores[k] || !into_one_element(m->func, m->stores[0], m->stores[k])) return false;
    }
    return true;
}

/* The sum in the block itself, where it was computed on one of the ways. */
static Ref here(Meeting *m, Builder *b, Ref ref) {
    if (cfg_dominates(&m->cfg, ir_inst(m->func, ref)->block, m->block)) return ref;
    Ref x = here(m, b, ir_arg(m->func, ref, 0)), y = here(m, b, ir_arg(m->func, ref, 1));
    return b_op2(b, (Op)ir_inst(m->func, ref)->op, ir_type(m->func, ref), x, y);
}

static void store_once(PassContext *ctx, Meeting *m) {
    Func *func = m->func;
    const Block *block = &func->blocks.items[m->block];
    Ref first = m->stores[0];
    int32_t n = ir_inst(func, first)->nargs, ways = block->preds.len;
    Ref *values = arena_array(ctx->arena, Ref, ways), *args = arena_array(ctx->arena, Ref, n);
    for (int32_t k = 0; k < ways; k++)
        values[k] = ir_arg(func, m->stores[k], n - 1);
    Ref phi = ir_insert(func, m->block, 0, OP_phi, values, ways);
    ir_inst(func, phi)->type = ir_type(func, values[0]);
    m->made++;
    Builder b = {
        .func = func, .block = m->block, .span = ir_inst(func, first)->span, .error = NO_BLOCK};
    b.at = m->made;
    args[0] = ir_arg(func, first, 0), args[n - 1] = phi;
    for (int32_t k = 1; k < n - 1; k++)
        args[k] = here(m, &b, ir_arg(func, first, k));
    const Inst old = *ir_inst(func, first);
    Inst *made = ir_inst(func, b_inst(&b, OP_store, NULL, args, n));
    made->sub = old.sub, made->imm = old.imm, made->u = old.u;
    for (int32_t k = 0; k < ways; k++)
        ir_remove(func, m->stores[k]);
}

void opt_meet(PassContext *ctx, Func *func) {
    if (!target_is_host(ctx->options->infer.target)) return;
    Meeting m = {.func = func};
    cfg_compute(&m.cfg, ctx->arena, func);
    if (!m.cfg.loops.len) return;
    for (m.block = 0; m.block < func->blocks.len; m.block++) {
        m.made = 0;
        while (find(&m)) /* out[i] and best[i] are two */
            store_once(ctx, &m);
    }
}
