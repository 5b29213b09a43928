/* ir_closed.c - loop-closed SSA: every value that leaves a loop leaves through a phi at an exit.
 *
 * First each edge out of the loop gets a target of its own kind (all predecessors inside). Then, for each
 * value that is used outside, each exit it reaches gets a phi, and a fixed point over the blocks behind
 * tells which of the new values arrives where; where two meet, another phi joins them. */
#include "frontend/base/bits.h"
#include "frontend/ir/ir.h"

typedef struct Closer {
    Func *func;
    Arena *arena;
    Cfg cfg;      /* after the exits were split */
    Bits inside;  /* blocks of the loop */
    Ref *value;   /* of the value at hand: what it is at a block's entry, NO_REF: not known yet */
    Vec(Ref) own; /* phis made for it */
} Closer;

static bool is_inside(const Closer *c, int32_t block) {
    return block < c->inside.n && bits_get(&c->inside, block);
}

/* Gives every exit edge whose target has predecessors outside a block of its own. */
static bool split_exits(Closer *c, const Loop *loop) {
    Func *func = c->func;
    bool changed = false;
    for (int32_t i = 0; i < loop->blocks.len; i++) {
        int32_t from = loop->blocks.items[i], out[3];
        int n = ir_successors(func, from, out);
        for (int s = 0; s < n; s++) {
            if (is_inside(c, out[s])) continue;
            const Block *target = &func->blocks.items[out[s]];
            bool mixed = false;
            for (int32_t k = 0; k < target->preds.len; k++)
                mixed |= !is_inside(c, target->preds.items[k]);
            if (!mixed) continue;
            ir_edge_split(func, from, out[s]);
            changed = true;
        }
    }
    return changed;
}

static bool used_outside(const Closer *c, Ref ref) {
    const Func *func = c->func;
    for (Ref user = 1; user < func->insts.len; user++) {
        const Inst *inst = ir_inst(func, user);
        if (inst->op == OP_removed || is_inside(c, inst->block)) continue;
        const Block *b = &func->blocks.items[inst->block];
        for (int32_t k = 0; k < inst->nargs; k++) {
            if (ir_arg(func, user, k) != ref) continue;
            bool closed = inst->op == OP_phi && k < b->preds.len && is_inside(c, b->preds.items[k]);
            if (!closed && c->cfg.rpo_number[inst->block] >= 0) return true;
        }
    }
    return false;
}

static Ref new_phi(Closer *c, int32_t block, Ref of) {
    Ref phi = ir_insert(c->func, block, 0, OP_phi, NULL, 0);
    ir_inst(c->func, phi)->type = ir_type(c->func, of);
    ir_inst(c->func, phi)->span = ir_inst(c->func, of)->span;
    vec_push(c->arena, &c->own, phi);
    return c->value[block] = phi;
}

/* What arrives over the edge from `pred`. */
static Ref arriving(const Closer *c, int32_t pred, Ref ref) {
    return is_inside(c, pred) ? ref : c->value[pred];
}

/* One round over the blocks behind the loop; true when something became known. */
static bool spread(Closer *c, Ref ref, int32_t def) {
    const Cfg *cfg = &c->cfg;
    bool changed = false;
    for (int32_t i = 0; i < cfg->nrpo; i++) {
        int32_t block = cfg->rpo[i];
        if (is_inside(c, block) || !cfg_dominates(cfg, def, block)) continue;
        if (c->own.len && c->value[block] && ir_inst(c->func, c->value[block])->block == block)
            continue;
        const Block *b = &c->func->blocks.items[block];
        Ref known = NO_REF;
        bool join = false;
        for (int32_t k = 0; k < b->preds.len; k++) {
            int32_t pred = b->preds.items[k];
            if (cfg->rpo_number[pred] < 0) continue;
            Ref v = arriving(c, pred, ref);
            join |= is_inside(c, pred) || (v && known && v != known); /* inside: an exit */
            if (v) known = v;
        }
        if (join)
            new_phi(c, block, ref), changed = true;
        else if (known != c->value[block])
            c->value[block] = known, changed = true;
    }
    return changed;
}

static void fill_phis(Closer *c, Ref ref) {
    for (int32_t i = 0; i < c->own.len; i++) {
        Ref phi = c->own.items[i];
        const Block *b = &c->func->blocks.items[ir_inst(c->func, phi)->block];
        Ref *args = arena_array(c->arena, Ref, b->preds.len);
        for (int32_t k = 0; k < b->preds.len; k++) {
            Ref v = arriving(c, b->preds.items[k], ref);
            args[k] = v ? v : phi; /* an unreachable predecessor */
        }
        ir_set_args(c->func, phi, args, b->preds.len);
    }
}

static bool is_own(const Closer *c, Ref phi) {
    for (int32_t i = 0; i < c->own.len; i++)
        if (c->own.items[i] == phi) return true;
    return false;
}

static void rewrite_uses(Closer *c, Ref ref) {
    const Func *func = c->func;
    for (Ref user = 1; user < func->insts.len; user++) {
        const Inst *inst = ir_inst(func, user);
        if (inst->op == OP_removed || is_inside(c, inst->block) || is_own(c, user)) continue;
        const Block *b = &func->blocks.items[inst->block];
        for (int32_t k = 0; k < inst->nargs; k++) {
            if (ir_arg(func, user, k) != ref) continue;
            Ref by =
                inst->op == OP_phi ? arriving(c, b->preds.items[k], ref) : c->value[inst->block];
            if (by) ir_args(func, user)[k] = by;
        }
    }
}

/* Phis that nothing reads go again: an exit that carries no value lets a fast loop stay fast. */
static void drop_unused(Closer *c) {
    Func *func = c->func;
    int32_t *uses = arena_array(c->arena, int32_t, func->insts.len);
    for (Ref user = 1; user < func->insts.len; user++)
        for (int32_t k = 0; k < ir_inst(func, user)->nargs; k++)
            if (ir_arg(func, user, k) != user) uses[ir_arg(func, user, k)]++;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < c->own.len; i++) {
            Ref phi = c->own.items[i];
            if (uses[phi] || ir_inst(func, phi)->op == OP_removed) continue;
            for (int32_t k = 0; k < ir_inst(func, phi)->nargs; k++)
                if (ir_arg(func, phi, k) != phi) uses[ir_arg(func, phi, k)]--;
            ir_remove(func, phi);
            changed = true;
        }
    }
}

static bool close_value(Closer *c, Ref ref) {
    if (!used_outside(c, ref)) return false;
    int32_t def = cfg_def_block(&c->cfg, c->func, ref);
    if (def == NO_BLOCK) return false; /* used in exit phis only: closed already */
    memset(c->value, 0, sizeof *c->value * (size_t)c->func->blocks.len);
    c->own.len = 0;
    while (spread(c, ref, def)) {
    }
    fill_phis(c, ref);
    rewrite_uses(c, ref);
    drop_unused(c);
    return true;
}

bool ir_make_loop_closed(Func *func, const Cfg *cfg, int32_t loop) {
    Arena *arena = func->module->arena;
    Closer c = {.func = func, .arena = arena};
    const Loop *l = &cfg->loops.items[loop];
    c.inside = bits_new(arena, cfg->n);
    for (int32_t i = 0; i < l->blocks.len; i++)
        bits_set(&c.inside, l->blocks.items[i]);
    bool changed = split_exits(&c, l);
    cfg_compute(&c.cfg, arena, func);
    c.value = arena_array(arena, Ref, func->blocks.len);
    for (int32_t i = 0; i < l->blocks.len; i++) {
        const Block *b = &func->blocks.items[l->blocks.items[i]];
        for (int32_t k = 0; k < b->insts.len; k++)
            if (ir_op_info[ir_inst(func, b->insts.items[k])->op].result != RES_VOID)
                changed |= close_value(&c, b->insts.items[k]);
    }
    return changed;
}
