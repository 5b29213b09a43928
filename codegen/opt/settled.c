/* settled.c - variables of a parallel loop that a test decides which is the same in all iterations.
 *
 *   if not each: b = make()
 *   for i in prange(n):
 *       if each: b = make(i)
 *       use(b)
 *
 * Where the test holds, each iteration assigns before it looks; where it does not, none assigns, and all see the value before the loop.
 * So no iteration takes anything from another one, though the phi in the header says so. */
#include "codegen/opt/parallel.h"

enum { DEPTH = 8 }; /* of operations that a test is made of */

typedef struct Settled {
    const Region *r;
    const Carried *c;
    Bits web;    /* by ref: the phi in the header, and the phis that it comes into */
    Ref test;    /* stands outside the loop, or could */
    Bits stale;  /* by ref: members that may hold what another iteration assigned */
    bool *alive; /* by block: it is reached where the test has one value */
} Settled;

static bool inside(const Settled *s, Ref ref) {
    return s->r->inside[ir_inst(s->r->func, ref)->block];
}

/* Computed of what the loop does not change. */
static bool is_invariant(const Settled *s, Ref ref, int depth) {
    const Inst *inst = ir_inst(s->r->func, ref);
    if (inst->op == OP_param || inst->op == OP_const || !inside(s, ref)) return true;
    if (depth == 0 || inst->op == OP_phi || !(ir_op_info[inst->op].flags & OPF_PURE)) return false;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (!is_invariant(s, ir_arg(s->r->func, ref, k), depth - 1)) return false;
    return true;
}

static bool same(const Func *func, Ref a, Ref b, int depth) {
    const Inst *x = ir_inst(func, a), *y = ir_inst(func, b);
    if (a == b) return true;
    if (depth == 0 || x->op != y->op || x->type != y->type || x->nargs != y->nargs || !x->nargs ||
        x->imm != y->imm || x->sub != y->sub || !(ir_op_info[x->op].flags & OPF_PURE) ||
        x->op == OP_phi)
        return false;
    for (int32_t k = 0; k < x->nargs; k++)
        if (!same(func, ir_arg(func, a, k), ir_arg(func, b, k), depth - 1)) return false;
    return true;
}

/* Is the edge taken where the test is `holds`? */
static bool may_go(const Settled *s, int32_t from, int32_t to, bool holds) {
    const Func *func = s->r->func;
    const Inst *last = ir_inst(func, ir_terminator(func, from));
    if (last->op != OP_branch || last->target[0] == last->target[1]) return true;
    if (!same(func, ir_arg(func, ir_terminator(func, from), 0), s->test, DEPTH)) return true;
    return last->target[holds ? 0 : 1] == to;
}

static bool edge_is_alive(const Settled *s, int32_t from, int32_t to, bool holds) {
    return s->alive[from] && may_go(s, from, to, holds);
}

static void find_alive(Settled *s, bool holds) {
    const Func *func = s->r->func;
    memset(s->alive, 0, sizeof *s->alive * (size_t)func->blocks.len);
    s->alive[s->r->loop.header] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < s->r->blocks.len; i++) {
            int32_t b = s->r->blocks.items[i];
            const Block *block = &func->blocks.items[b];
            for (int32_t k = 0; !s->alive[b] && k < block->preds.len; k++)
                if (s->r->inside[block->preds.items[k]] &&
                    edge_is_alive(s, block->preds.items[k], b, holds))
                    s->alive[b] = changed = true;
        }
    }
}

/* Visits the operands of a member that come from inside, on edges that are taken. */
typedef bool VisitOperand(Settled *s, Ref member, Ref operand, int32_t from);

static bool all_operands(Settled *s, bool holds, VisitOperand *visit) {
    const Func *func = s->r->func;
    bool ok = true;
    for (Ref ref = 1; ok && ref < s->web.n; ref++) {
        if (!bits_get(&s->web, ref)) continue;
        int32_t b = ir_inst(func, ref)->block;
        const Block *block = &func->blocks.items[b];
        for (int32_t k = 0; ok && k < ir_inst(func, ref)->nargs; k++)
            if (s->r->inside[block->preds.items[k]] &&
                edge_is_alive(s, block->preds.items[k], b, holds))
                ok = visit(s, ref, ir_arg(func, ref, k), block->preds.items[k]);
    }
    return ok;
}

/* The variable has a value behind the test that it has one, which raises otherwise: `operand` is what the test looked at. */
static bool is_tested(const Settled *s, Ref operand, int32_t from) {
    const Func *func = s->r->func;
    const Inst *inst = ir_inst(func, operand);
    if (inst->op != OP_const || inst->type->kind != TY_bool || !inst->u.value->i) return false;
    for (int32_t b = from; b != NO_BLOCK && s->r->inside[b]; b = s->r->cfg->idom[b]) {
        const Block *block = &func->blocks.items[b];
        for (int32_t k = 0; k < block->insts.len; k++) {
            const Inst *guard = ir_inst(func, block->insts.items[k]);
            if (guard->op != OP_guard || guard->sub != GUARD_unbound_local) continue;
            Ref absent = ir_arg(func, block->insts.items[k], 0);
            if (ir_inst(func, absent)->op == OP_not && bits_get(&s->web, ir_arg(func, absent, 0)))
                return true;
        }
    }
    return false;
}

static bool is_as_before(Settled *s, Ref member, Ref operand, int32_t from) {
    (void)member;
    return bits_get(&s->web, operand) || operand == s->c->start || is_tested(s, operand, from);
}

/* false: one more is stale. */
static bool spread_stale(Settled *s, Ref member, Ref operand, int32_t from) {
    (void)from;
    if (bits_get(&s->stale, member) || !bits_get(&s->web, operand) || !bits_get(&s->stale, operand))
        return true;
    bits_set(&s->stale, member);
    return false;
}

/* Nothing but phis looks at members that are stale. */
static bool nobody_looks(const Settled *s) {
    const Func *func = s->r->func;
    for (int32_t i = 0; i < s->r->blocks.len; i++) {
        const Block *block = &func->blocks.items[s->r->blocks.items[i]];
        for (int32_t k = 0; s->alive[s->r->blocks.items[i]] && k < block->insts.len; k++) {
            Ref by = block->insts.items[k];
            for (int32_t a = 0; a < ir_inst(func, by)->nargs; a++) {
                Ref arg = ir_arg(func, by, a);
                if (bits_get(&s->web, arg) && bits_get(&s->stale, arg) &&
                    ir_inst(func, by)->op != OP_phi)
                    return false;
            }
        }
    }
    return true;
}

static bool decides(Settled *s, bool holds) {
    find_alive(s, !holds);
    if (!all_operands(s, !holds, is_as_before)) return false;
    find_alive(s, holds);
    s->stale = bits_new(s->r->ctx->arena, s->r->func->insts.len);
    bits_set(&s->stale, s->c->phi);
    while (!all_operands(s, holds, spread_stale))
        continue;
    return nobody_looks(s);
}

/* false: what becomes of the variable is looked at behind the loop. */
static bool find_web(Settled *s) {
    const Func *func = s->r->func;
    bits_set(&s->web, s->c->phi);
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t b = 0; b < func->blocks.len; b++) {
            const Block *block = &func->blocks.items[b];
            for (int32_t k = 0; k < block->insts.len; k++) {
                Ref by = block->insts.items[k];
                bool takes = false;
                for (int32_t a = 0; a < ir_inst(func, by)->nargs; a++)
                    takes |= bits_get(&s->web, ir_arg(func, by, a));
                if (takes && !s->r->inside[b]) return false;
                if (!takes || ir_inst(func, by)->op != OP_phi || bits_get(&s->web, by)) continue;
                bits_set(&s->web, by);
                changed = true;
            }
        }
    }
    return true;
}

bool region_is_settled(const Region *r, const Carried *c) {
    Arena *arena = r->ctx->arena;
    Settled s = {.r = r, .c = c};
    s.web = bits_new(arena, r->func->insts.len);
    s.alive = arena_array(arena, bool, r->func->blocks.len);
    if (!find_web(&s)) return false;
    for (int32_t i = 0; i < r->blocks.len; i++) {
        Ref last = ir_terminator(r->func, r->blocks.items[i]);
        if (ir_inst(r->func, last)->op != OP_branch) continue;
        s.test = ir_arg(r->func, last, 0);
        if (is_invariant(&s, s.test, DEPTH) && (decides(&s, true) || decides(&s, false)))
            return true;
    }
    return false;
}
