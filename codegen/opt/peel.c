/* peel.c - takes the first rounds, and the last one, out of innermost loops that treat them apart.
 *
 *   for i in range(n):                     if 0 < n: out[0] = a[n - 1]
 *       out[i] = a[i - 1]           =>     for i in range(1, n): out[i] = a[i - 1]
 *
 * An index that wraps around in the first round, a test of the counter against a small number, a remainder of what is below zero
 * there: each is the same in all rounds but the first one or two, and keeps LLVM from making vectors of the loop, or from knowing
 * what it loads. It would peel such loops by itself, had they a start that it knows: strips have none (loops.c).
 *
 * The copy of the first round stands in front of the loop, whose counter then begins at 1. Its exits are the loop's.
 *
 *   for i in range(n):                     for i in range(n - 1): out[i] = a[i + 1]
 *       out[i] = a[(i + 1) % n]     =>     if i < n: out[i] = a[(i + 1) % n]
 *
 * The copy of the last round stands behind the loop, whose limit then is one less. It, too, asks whether there is such a round. */
#include "codegen/opt/pass.h"

enum { MOST_PEELED = 2, MOST_INSTS = 120, SHORT = 16, SMALL = 64 };

/* A value of the loop that is decided from round `rounds` on: by a number, or it is another value. */
typedef struct Decided {
    Ref ref;
    int64_t rounds;
    Ref stands; /* what stands for it, or NO_REF: `truth` */
    bool truth;
} Decided;

typedef struct Peel {
    PassContext *ctx;
    Func *func;
    Cfg cfg;
    int32_t loop;
    CountedLoop counted;
    Vec(Decided) decided;
} Peel;

/* ref = counter + *by, without a wrap in the rounds that are looked at? */
static bool along(const Peel *p, Ref ref, int64_t *by) {
    int64_t k;
    *by = 0;
    for (int depth = 0; depth < 4; depth++) {
        const Inst *inst = ir_inst(p->func, ref);
        if (ref == p->counted.counter) return true;
        if (inst->op != OP_add && inst->op != OP_sub) return false;
        Ref a = ir_arg(p->func, ref, 0), b = ir_arg(p->func, ref, 1);
        if (inst->op == OP_add && opt_const_int(p->func, a, &k)) {
            Ref swap = a;
            a = b, b = swap;
        }
        if (!opt_const_int(p->func, b, &k) || k < -SMALL || k > SMALL) return false;
        *by += inst->op == OP_add ? k : -k;
        ref = a;
    }
    return false;
}

static void decide(Peel *p, Ref ref, int64_t rounds, Ref stands, bool truth) {
    if (rounds < 1 || rounds > MOST_PEELED) return;
    vec_push(p->ctx->arena, &p->decided, ((Decided){ref, rounds, stands, truth}));
}

/* A comparison of the counter, moved by a small number, with a number. */
static void look_at_test(Peel *p, Ref ref) {
    const Inst *inst = ir_inst(p->func, ref);
    Ref a = ir_arg(p->func, ref, 0), b = ir_arg(p->func, ref, 1);
    int64_t by, k;
    bool left = opt_const_int(p->func, b, &k) && along(p, a, &by);
    bool right = !left && opt_const_int(p->func, a, &k) && along(p, b, &by);
    if ((!left && !right) || k < -SMALL || k > SMALL) return;
    k -= by; /* the counter against k */
    switch ((int)inst->op) {
    case OP_lt: decide(p, ref, left ? k : k + 1, NO_REF, right); break;
    case OP_le: decide(p, ref, left ? k + 1 : k, NO_REF, right); break;
    case OP_eq:
    case OP_ne: decide(p, ref, k + 1, NO_REF, inst->op == OP_ne); break;
    default: break;
    }
}

/* A wraparound of what is below zero in the first rounds alone. */
static void look_at_wrap(Peel *p, Ref ref) {
    int64_t by;
    Ref index = ir_arg(p->func, ref, 0);
    if (along(p, index, &by)) decide(p, ref, -by, index, false);
}

/* Likewise a remainder that stays below its divisor: then it is its dividend. */
static void look_at_mod(Peel *p, Ref ref) {
    unsigned known = ir_inst(p->func, ref)->sub;
    int64_t by;
    Ref dividend = ir_arg(p->func, ref, 0);
    if (!(known & DIV_BELOW) || (known & DIV_ABOVE)) return;
    if (along(p, dividend, &by)) decide(p, ref, -by, dividend, false);
}

static bool is_i64(const Func *func, Ref ref) {
    return ir_type(func, ref) && ir_type(func, ref)->kind == TY_i64;
}

static void look(Peel *p) {
    const Loop *info = &p->cfg.loops.items[p->loop];
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &p->func->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            Op op = (Op)ir_inst(p->func, ref)->op;
            if (ref == p->counted.test) continue;
            if (op == OP_wrap_index) look_at_wrap(p, ref);
            if (op == OP_mod) look_at_mod(p, ref);
            if ((op == OP_lt || op == OP_le || op == OP_eq || op == OP_ne) &&
                is_i64(p->func, ir_arg(p->func, ref, 0)) &&
                is_i64(p->func, ir_arg(p->func, ref, 1)))
                look_at_test(p, ref);
        }
    }
}

static int32_t size_of(const Peel *p) {
    const Loop *info = &p->cfg.loops.items[p->loop];
    int32_t n = 0;
    for (int32_t i = 0; i < info->blocks.len; i++)
        n += p->func->blocks.items[info->blocks.items[i]].insts.len;
    return n;
}

static void retarget(Func *func, int32_t from, int32_t old, int32_t to) {
    Inst *last = ir_inst(func, ir_terminator(func, from));
    last->target[last->target[0] != old] = to;
}

static void remove_block_polls(Func *func, int32_t block) {
    for (int32_t k = func->blocks.items[block].insts.len - 1; k >= 0; k--) {
        Ref ref = func->blocks.items[block].insts.items[k];
        if (ir_inst(func, ref)->op == OP_poll && ir_inst(func, ref)->error == NO_BLOCK)
            ir_remove(func, ref);
    }
}

/* The blocks of the loop again, in front of it: entered where it was, left into it. */
static void peel_round(Peel *p) {
    Func *func = p->func;
    Arena *arena = p->ctx->arena;
    int32_t header = p->counted.header, entry = p->counted.entry_pred;
    const Loop *info = &p->cfg.loops.items[p->loop];
    Ref *ref_map = arena_array(arena, Ref, func->insts.len);
    int32_t *block_map = arena_array(arena, int32_t, func->blocks.len);
    int32_t entry_at = func->blocks.items[header].preds.items[0] != entry, latch = info->latch;
    ir_clone_blocks(func, info->blocks.items, info->blocks.len, ref_map, block_map);
    int32_t copy = block_map[header], back = block_map[latch];
    ir_edge_remove(func, back, copy);
    retarget(func, back, copy, header);
    ir_edge_add(func, back, header);
    Vec(Ref) starts = {0};
    int32_t nphis = 0;
    while (ir_inst(func, func->blocks.items[header].insts.items[nphis])->op == OP_phi) {
        Ref phi = func->blocks.items[header].insts.items[nphis++];
        Ref next = ir_arg(func, phi, 1 - entry_at);
        vec_push(arena, &starts, ir_arg(func, phi, entry_at));
        ir_add_arg(func, phi, ref_map[next] ? ref_map[next] : next);
    }
    ir_edge_remove(func, entry, header);
    retarget(func, entry, header, copy);
    ir_edge_add(func, entry, copy);
    for (int32_t i = 0; i < nphis; i++)
        ir_add_arg(func, ref_map[func->blocks.items[header].insts.items[i]], starts.items[i]);
    remove_block_polls(func, back);
}

/* After a change of the function: the loop by its header again. */
static bool find_again(Peel *p, int32_t header) {
    cfg_compute(&p->cfg, p->ctx->arena, p->func);
    p->loop = opt_loop_of_header(&p->cfg, header);
    return p->loop >= 0 && opt_counted_loop(p->func, &p->cfg, p->loop, &p->counted);
}

/* The counter starts one further on. */
static void start_later(Peel *p, int64_t start) {
    Func *func = p->func;
    const Block *header = &func->blocks.items[p->counted.header];
    int32_t inside = p->cfg.loops.items[p->loop].latch;
    Ref one = ir_const_int(func, type_scalar(func->module->types, TY_i64), start);
    header = &func->blocks.items[p->counted.header];
    for (int32_t i = 0; i < header->preds.len; i++)
        if (header->preds.items[i] != inside) ir_args(func, p->counted.counter)[i] = one;
}

/* What the first rounds decided is known in the others. */
static void settle(Peel *p) {
    Func *func = p->func;
    const Type *boolean = type_scalar(func->module->types, TY_bool);
    Ref yes = ir_const_int(func, boolean, 1), no = ir_const_int(func, boolean, 0);
    Ref *map = arena_array(p->ctx->arena, Ref, func->insts.len);
    for (int32_t i = 0; i < p->decided.len; i++) {
        const Decided *d = &p->decided.items[i];
        map[d->ref] = d->stands ? d->stands : d->truth ? yes : no;
    }
    ir_replace_many(func, map);
    for (int32_t i = 0; i < p->decided.len; i++)
        ir_remove(func, p->decided.items[i].ref);
}

/* Nothing in it has a place of its own, or fails into a handler. */
static bool can_copy(const Peel *p) {
    const Loop *info = &p->cfg.loops.items[p->loop];
    if (info->latch == NO_BLOCK || info->header == 0) return false;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &p->func->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            const Inst *inst = ir_inst(p->func, block->insts.items[k]);
            if (inst->op == OP_static_array || inst->error != NO_BLOCK) return false;
        }
    }
    return p->func->blocks.items[info->header].preds.len == 2;
}

/* -- the last round ------------------------------------------------------------------------------------ */

/* The number whose rounds the loop counts, where its limit is never negative: max(n, 0), or a length. */
static Ref counted_to(const Peel *p) {
    const Func *func = p->func;
    Ref limit = p->counted.limit;
    int64_t zero;
    if (ir_inst(func, limit)->op == OP_shape) return limit;
    if (ir_inst(func, limit)->op != OP_select) return NO_REF;
    Ref test = ir_arg(func, limit, 0), n = ir_arg(func, limit, 1);
    if (!opt_const_int(func, ir_arg(func, limit, 2), &zero) || zero) return NO_REF;
    if (ir_inst(func, test)->op != OP_lt || ir_arg(func, test, 1) != n) return NO_REF;
    return opt_const_int(func, ir_arg(func, test, 0), &zero) && !zero ? n : NO_REF;
}

/* ref = n + *by, where n is above zero */
static bool beside(const Peel *p, Ref ref, Ref n, int64_t *by) {
    const Inst *inst = ir_inst(p->func, ref);
    *by = 0;
    if (opt_same(p->func, ref, n)) return true;
    if (inst->op != OP_sub || !opt_same(p->func, ir_arg(p->func, ref, 0), n)) return false;
    if (!opt_const_int(p->func, ir_arg(p->func, ref, 1), by) || *by < 0 || *by > SMALL)
        return false;
    *by = -*by;
    return true;
}

static void decide_last(Peel *p, Ref ref, Ref stands, bool truth) {
    vec_push(p->ctx->arena, &p->decided, ((Decided){ref, 1, stands, truth}));
}

/* A comparison of the counter with n - 1, or what says the same: of the counter with n + d. */
static void look_at_end(Peel *p, Ref ref, Ref n) {
    const Inst *inst = ir_inst(p->func, ref);
    Ref a = ir_arg(p->func, ref, 0), b = ir_arg(p->func, ref, 1);
    int64_t by, d;
    bool left = along(p, a, &by) && beside(p, b, n, &d);
    bool right = !left && along(p, b, &by) && beside(p, a, n, &d);
    if ((!left && !right) || by < -1 || by > 1 || d < -2) return; /* none of them wraps */
    d -= by;
    switch ((int)inst->op) {
    case OP_lt:
        if (d == (left ? -1 : -2)) decide_last(p, ref, NO_REF, left);
        break;
    case OP_le:
        if (d == (left ? -2 : -1)) decide_last(p, ref, NO_REF, left);
        break;
    case OP_eq:
    case OP_ne:
        if (d == -1) decide_last(p, ref, NO_REF, inst->op == OP_ne);
        break;
    default: break;
    }
}

static void look_at_last(Peel *p, Ref n) {
    const Loop *info = &p->cfg.loops.items[p->loop];
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &p->func->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            const Inst *inst = ir_inst(p->func, ref);
            int64_t by;
            if (ref == p->counted.test) continue;
            if (inst->op == OP_mod && (inst->sub & DIV_POSITIVE) && is_i64(p->func, ref) &&
                opt_same(p->func, ir_arg(p->func, ref, 1), n) &&
                along(p, ir_arg(p->func, ref, 0), &by) && by == 1)
                decide_last(p, ref, ir_arg(p->func, ref, 0), false);
            if ((inst->op == OP_lt || inst->op == OP_le || inst->op == OP_eq ||
                 inst->op == OP_ne) &&
                is_i64(p->func, ir_arg(p->func, ref, 0)) &&
                is_i64(p->func, ir_arg(p->func, ref, 1)))
                look_at_end(p, ref, n);
        }
    }
}

/* What the exit's phis merge from the header is a phi of it, or does not change in the loop. */
static bool leaves_with_phis(const Peel *p) {
    const Func *func = p->func;
    const Block *exit = &func->blocks.items[p->counted.exit];
    for (int32_t i = 0; i < exit->insts.len; i++) {
        Ref phi = exit->insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        for (int32_t k = 0; k < exit->preds.len; k++) {
            const Inst *value = ir_inst(func, ir_arg(func, phi, k));
            if (exit->preds.items[k] == p->counted.header && value->op != OP_phi &&
                opt_in_loop(&p->cfg, p->loop, value->block))
                return false;
        }
    }
    return true;
}

/* The value of the copy behind its round for a value at the header's exit. */
static Ref behind(const Peel *p, Ref value, const Ref *ref_map) {
    const Func *func = p->func;
    const Inst *inst = ir_inst(func, value);
    if (inst->op != OP_phi || inst->block != p->counted.header) return value;
    int32_t latch = p->cfg.loops.items[p->loop].latch, at = 0;
    while (func->blocks.items[p->counted.header].preds.items[at] != latch)
        at++;
    Ref next = ir_arg(func, value, at);
    return ref_map[next] ? ref_map[next] : next;
}

/* The blocks of the loop again, behind it, without the way back; the loop itself ends one round earlier. */
static void peel_last(Peel *p) {
    Func *func = p->func;
    Arena *arena = p->ctx->arena;
    int32_t header = p->counted.header, exit = p->counted.exit, from = p->counted.entry_pred;
    const Loop *info = &p->cfg.loops.items[p->loop];
    Ref *ref_map = arena_array(arena, Ref, func->insts.len);
    int32_t *block_map = arena_array(arena, int32_t, func->blocks.len);
    ir_clone_blocks(func, info->blocks.items, info->blocks.len, ref_map, block_map);
    int32_t copy = block_map[header], back = block_map[info->latch], at = 0;
    while (func->blocks.items[exit].preds.items[at] != header)
        at++;
    Vec(Ref) ends = {0};
    for (int32_t i = 0; i < func->blocks.items[exit].insts.len; i++) {
        Ref phi = func->blocks.items[exit].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        vec_push(arena, &ends, behind(p, ir_arg(func, phi, at), ref_map));
    }
    ir_edge_remove(func, back, copy);
    retarget(func, back, copy, exit);
    ir_edge_add(func, back, exit);
    for (int32_t i = 0; i < ends.len; i++)
        ir_add_arg(func, func->blocks.items[exit].insts.items[i], ends.items[i]);
    ir_edge_remove(func, header, exit);
    retarget(func, header, exit, copy);
    ir_edge_add(func, header, copy);
    for (int32_t i = 0; i < func->blocks.items[header].insts.len; i++) {
        Ref phi = func->blocks.items[header].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        ir_add_arg(func, ref_map[phi], phi);
    }
    remove_block_polls(func, back);
    const Type *i64 = type_scalar(func->module->types, TY_i64);
    Ref less[] = {p->counted.limit, ir_const_int(func, i64, 1)};
    Ref limit =
        ir_insert(func, from, opt_position(func, ir_terminator(func, from)), OP_sub, less, 2);
    ir_inst(func, limit)->type = i64;
    ir_inst(func, limit)->span = ir_inst(func, p->counted.test)->span;
    ir_args(func, p->counted.test)[1] = limit;
}

static void visit_last(Peel *p, int32_t header) {
    int64_t trips;
    p->decided.len = 0;
    p->loop = opt_loop_of_header(&p->cfg, header);
    if (p->loop < 0 || p->func->blocks.items[header].cold || !opt_is_innermost(&p->cfg, p->loop))
        return;
    if (!opt_counted_loop(p->func, &p->cfg, p->loop, &p->counted)) return;
    if (opt_const_int(p->func, p->counted.limit, &trips) || p->counted.first < 0) return;
    Ref n = counted_to(p);
    if (!n || !can_copy(p) || size_of(p) > MOST_INSTS) return;
    look_at_last(p, n);
    if (!p->decided.len) return;
    ir_make_loop_closed(p->func, &p->cfg, p->loop);
    if (!find_again(p, header) || !leaves_with_phis(p)) return;
    peel_last(p);
    settle(p);
    cfg_compute(&p->cfg, p->ctx->arena, p->func);
}

static bool visit(Peel *p, int32_t header) {
    int64_t rounds = 0, trips;
    p->decided.len = 0;
    p->loop = opt_loop_of_header(&p->cfg, header);
    if (p->loop < 0 || p->func->blocks.items[header].cold || !opt_is_innermost(&p->cfg, p->loop))
        return false;
    if (!opt_counted_loop(p->func, &p->cfg, p->loop, &p->counted) || p->counted.first) return false;
    if (opt_const_int(p->func, p->counted.limit, &trips) && trips <= SHORT) return false;
    if (!can_copy(p)) return false;
    look(p);
    for (int32_t i = 0; i < p->decided.len; i++)
        rounds = QN_MAX(rounds, p->decided.items[i].rounds);
    if (!rounds || size_of(p) * rounds > MOST_INSTS) return false;
    for (int64_t k = 1; k <= rounds; k++) {
        ir_make_loop_closed(p->func, &p->cfg, p->loop);
        if (!find_again(p, header)) return true;
        peel_round(p);
        cfg_compute(&p->cfg, p->ctx->arena, p->func);
        p->loop = opt_loop_of_header(&p->cfg, header);
        start_later(p, k);
        if (!find_again(p, header)) return true;
    }
    settle(p);
    return true;
}

void opt_peel(PassContext *ctx, Func *func) {
    if (!target_is_host(ctx->options->infer.target) || (opt_is_outlined(func) && !func->again))
        return;
    Peel p = {.ctx = ctx, .func = func};
    cfg_compute(&p.cfg, ctx->arena, func);
    Vec(int32_t) headers = {0};
    for (int32_t l = 0; l < p.cfg.loops.len; l++)
        vec_push(ctx->arena, &headers, p.cfg.loops.items[l].header);
    for (int32_t i = 0; i < headers.len; i++) {
        if (visit(&p, headers.items[i])) cfg_compute(&p.cfg, ctx->arena, func);
        visit_last(&p, headers.items[i]);
    }
}
