/* loops.c - strip-mines the poll out of innermost counted loops.
 *
 *   header: i = phi(0, i+1)               strip: i0 = phi(0, i at the end of a strip)
 *           if i < n: body (poll) ...  =>        stop = i0 + min(n - i0, 65536)
 *                                         header: i = phi(i0, i+1); if i < stop: body ...
 *                                         done:  poll (i - i0); if i < n: strip else exit
 *
 * The inner loop has no call and no exit of ours left, so LLVM vectorises it. A loop whose trip count is a
 * small constant loses its poll altogether; the loop around it counts.
 * Where divisors are tested ahead (divisors.c), strips are shorter.
 *
 * A `while` loop that tests at its end is treated alike when its variable grows by the same step in each round. Its sum
 * may wrap and its step may be anything, which is of no matter: a strip ends at or before the limit, so that every
 * round that the loop would run is run, and none else; steps that are not small and positive make strips of one round.
 *
 *   header: j = phi(a, next) ...                strip: j0 = phi(a, next)
 *           next = j + step               =>           stop = min(j0 + 65536 * step, limit)
 *           if next < limit: poll, header       header: j = phi(j0, next) ... if next < stop: header
 *                                               done:  poll (next - j0) / step; if next < limit: strip else exit */
#include "codegen/opt/divisors.h"

enum { STRIP = 65536, SHORT_LOOP = 1024, STEP_BITS = 40, ROUND = 64 };

static bool has_inner(const Cfg *cfg, int32_t loop) {
    for (int32_t i = 0; i < cfg->loops.len; i++)
        if (cfg->loops.items[i].parent == loop) return true;
    return false;
}

/* Removes the polls of the loop's own latches; the span of one of them, or 0 when there was none. */
static bool remove_polls(Func *func, const Cfg *cfg, int32_t loop, int32_t *span) {
    const Loop *info = &cfg->loops.items[loop];
    bool any = false;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        Block *block = &func->blocks.items[info->blocks.items[i]];
        for (int32_t k = block->insts.len - 1; k >= 0; k--) {
            Ref ref = block->insts.items[k];
            if (ir_inst(func, ref)->op != OP_poll || ir_inst(func, ref)->error != NO_BLOCK)
                continue;
            *span = ir_inst(func, ref)->span;
            ir_remove(func, ref);
            any = true;
        }
    }
    return any;
}

/* How many rounds of a small loop one round of this takes: by its instructions, those of callees too. */
static int64_t weight_of(const Func *func, const Cfg *cfg, int32_t loop) {
    const Loop *info = &cfg->loops.items[loop];
    int64_t insts = 0;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &func->blocks.items[info->blocks.items[i]];
        if (block->cold) continue;
        for (int32_t k = 0; k < block->insts.len; k++) {
            const Inst *inst = ir_inst(func, block->insts.items[k]);
            insts += inst->op == OP_call ? QN_MAX(inst->u.func->insts.len, ROUND) : 1;
        }
    }
    return QN_MIN(1 + insts / ROUND, STRIP / 64);
}

/* A loop inside that is short has lost its poll: those of the loop around it count its rounds, too. */
static void add_rounds(Func *func, const Cfg *cfg, int32_t loop, int64_t rounds) {
    const Loop *info = &cfg->loops.items[loop];
    const Type *i64 = type_scalar(func->module->types, TY_i64);
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &func->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            int64_t known = 1;
            const Inst *inst = ir_inst(func, ref);
            if (inst->op != OP_poll || cfg->loop_of[inst->block] != loop) continue;
            bool weighted = inst->nargs > 0;
            if (weighted && !opt_const_int(func, ir_arg(func, ref, 0), &known)) continue;
            Ref weight = ir_const_int(func, i64, known + rounds);
            if (weighted)
                ir_args(func, ref)[0] = weight;
            else
                ir_add_arg(func, ref, weight);
        }
    }
}

/* A phi of `strip` for each phi of the header: from outside, and (later) from the end of a strip. */
static Ref strip_phi(Func *func, Builder *b, Ref phi, int32_t entry_at) {
    Ref outside = ir_arg(func, phi, entry_at);
    Ref copy = b_phi(b, ir_type(func, phi));
    ir_add_arg(func, copy, outside);
    ir_add_arg(func, copy, phi);
    ir_args(func, phi)[entry_at] = copy;
    return copy;
}

static Strip strip_mine(Func *func, const CountedLoop *loop, int64_t rounds, int64_t weight,
                        int32_t span) {
    Module *module = func->module;
    const Type *i64 = type_scalar(module->types, TY_i64),
               *boolean = type_scalar(module->types, TY_bool);
    int32_t strip = ir_block_new(func), done = ir_block_new(func);
    Block *header = &func->blocks.items[loop->header];
    int32_t entry_at = -1;
    for (int32_t i = 0; i < header->preds.len; i++)
        if (header->preds.items[i] == loop->entry_pred) entry_at = i;
    /* outside -> strip -> header */
    Ref enter = ir_terminator(func, loop->entry_pred);
    for (int k = 0; k < 2; k++)
        if (ir_inst(func, enter)->target[k] == loop->header)
            ir_inst(func, enter)->target[k] = strip;
    header->preds.items[entry_at] = strip;
    ir_edge_add(func, loop->entry_pred, strip);
    ir_edge_add(func, done, strip);
    Builder b = {.func = func, .block = strip, .at = -1, .span = span, .error = NO_BLOCK};
    Ref start = NO_REF;
    for (int32_t i = 0; i < func->blocks.items[loop->header].insts.len; i++) {
        Ref phi = func->blocks.items[loop->header].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        Ref copy = strip_phi(func, &b, phi, entry_at);
        if (phi == loop->counter) start = copy;
    }
    Ref chunk = ir_const_int(func, i64, rounds);
    Ref left = b_op2(&b, OP_sub, i64, loop->limit, start);
    Ref more = b_op2(&b, OP_lt, boolean, chunk, left);
    Ref count = b_op3(&b, OP_select, i64, more, chunk, left);
    Ref stop = b_op2(&b, OP_add, i64, start, count);
    Ref jump = b_inst(&b, OP_jump, NULL, NULL, 0);
    ir_inst(func, jump)->target[0] = loop->header; /* its predecessor entry was renamed above */
    /* header: up to `stop`, then to `done` */
    ir_args(func, loop->test)[1] = stop;
    Ref branch = ir_terminator(func, loop->header);
    ir_inst(func, branch)->target[1] = done;
    Block *exit = &func->blocks.items[loop->exit];
    for (int32_t i = 0; i < exit->preds.len; i++)
        if (exit->preds.items[i] == loop->header) {
            exit->preds.items[i] = done;
            break;
        }
    ir_edge_add(func, loop->header, done);
    b = (Builder){.func = func, .block = done, .at = -1, .span = span, .error = NO_BLOCK};
    Ref ran = b_op2(&b, OP_sub, i64, loop->counter, start);
    if (weight > 1) ran = b_op2(&b, OP_mul, i64, ran, ir_const_int(func, i64, weight));
    b_op1(&b, OP_poll, NULL, ran);
    Ref again = b_op2(&b, OP_lt, boolean, loop->counter, loop->limit);
    Ref back = b_inst(&b, OP_branch, NULL, &again, 1);
    ir_inst(func, back)->target[0] =
        strip; /* both edges are already in the lists of predecessors */
    ir_inst(func, back)->target[1] = loop->exit;
    return (Strip){strip, start, stop};
}

/* -- while loops ---------------------------------------------------------------------------------- */

typedef struct WhileLoop {
    int32_t header, latch, end; /* end: the block with the test */
    int32_t entry_at;           /* position of the outside edge in the header */
    Ref variable, next, step;
    Ref test, limit;
    Ref poll;
} WhileLoop;

static bool is_while_variable(const Func *func, const Cfg *cfg, int32_t loop, WhileLoop *out) {
    const Inst *next = ir_inst(func, out->next);
    if (next->op != OP_add || !next->type || next->type->kind != TY_i64) return false;
    for (int k = 0; k < 2; k++) {
        out->variable = ir_arg(func, out->next, k), out->step = ir_arg(func, out->next, 1 - k);
        const Inst *phi = ir_inst(func, out->variable);
        if (phi->op == OP_phi && phi->block == out->header &&
            ir_arg(func, out->variable, 1 - out->entry_at) == out->next &&
            !opt_in_loop(cfg, loop, ir_inst(func, out->step)->block))
            return true;
    }
    return false;
}

/* One way in, one latch that only polls, and in front of it `next < limit`. */
static bool is_while_loop(const Func *func, const Cfg *cfg, int32_t loop, WhileLoop *out) {
    out->header = cfg->loops.items[loop].header;
    const Block *header = &func->blocks.items[out->header];
    if (header->preds.len != 2) return false;
    out->entry_at = opt_in_loop(cfg, loop, header->preds.items[0]);
    out->latch = header->preds.items[1 - out->entry_at];
    if (opt_in_loop(cfg, loop, header->preds.items[out->entry_at])) return false;
    const Block *latch = &func->blocks.items[out->latch];
    if (latch->insts.len != 2 || latch->preds.len != 1) return false;
    out->poll = latch->insts.items[0];
    const Inst *poll = ir_inst(func, out->poll);
    if (poll->op != OP_poll || poll->error != NO_BLOCK || poll->nargs) return false;
    out->end = latch->preds.items[0];
    Ref branch = ir_terminator(func, out->end);
    const Inst *last = ir_inst(func, branch);
    if (last->op != OP_branch || last->target[0] != out->latch) return false;
    if (opt_in_loop(cfg, loop, last->target[1])) return false;
    out->test = ir_arg(func, branch, 0);
    const Inst *test = ir_inst(func, out->test);
    if ((test->op != OP_lt && test->op != OP_le)) return false;
    out->next = ir_arg(func, out->test, 0), out->limit = ir_arg(func, out->test, 1);
    const Type *type = ir_type(func, out->limit);
    return type && type->kind == TY_i64 &&
           !opt_in_loop(cfg, loop, ir_inst(func, out->limit)->block) &&
           is_while_variable(func, cfg, loop, out);
}

/* The end of a strip, and whether its step is small and positive. */
static Ref strip_end(Builder *b, const WhileLoop *loop, Ref start, Ref *sane) {
    Func *func = b->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64),
               *boolean = type_scalar(func->module->types, TY_bool);
    Ref most = ir_const_int(func, i64, INT64_C(1) << STEP_BITS);
    Ref positive = b_op2(b, OP_lt, boolean, ir_const_int(func, i64, 0), loop->step);
    Ref small = b_op2(b, OP_lt, boolean, loop->step, most);
    *sane = b_op2(b, OP_and, boolean, positive, small);
    Ref length = b_op2(b, OP_mul, i64, loop->step, ir_const_int(func, i64, STRIP));
    Ref stop = b_op2(b, OP_add, i64, start, length);
    stop = b_op3(b, OP_select, i64, *sane, stop, ir_const_int(func, i64, INT64_MIN));
    Ref before = b_op2(b, OP_lt, boolean, stop, loop->limit);
    return b_op3(b, OP_select, i64, before, stop, loop->limit);
}

/* Rounds of the strip that has just run. Its values do not wrap round past each other: next - start is exact. */
static Ref rounds(Builder *b, const WhileLoop *loop, Ref start, Ref sane) {
    Func *func = b->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64),
               *u64 = type_scalar(func->module->types, TY_u64);
    Ref one = ir_const_int(func, i64, 1);
    Ref way = b_op2(b, OP_sub, i64, loop->next, start);
    int64_t k;
    if (opt_const_int(func, loop->step, &k) && k == 1) return way;
    Ref by = b_op3(b, OP_select, i64, sane, loop->step, one);
    Ref n = b_op2(b, OP_floordiv, u64, b_op1(b, OP_cast, u64, way), b_op1(b, OP_cast, u64, by));
    return b_op3(b, OP_select, i64, sane, b_op1(b, OP_cast, i64, n), one);
}

/* outside -> strip -> header, with a phi of `strip` for each of the header: the variable's is the answer. */
static Ref enter_strip(Func *func, const WhileLoop *loop, Builder *b) {
    Block *header = &func->blocks.items[loop->header];
    int32_t outside = header->preds.items[loop->entry_at],
            strip = ir_edge_split(func, outside, loop->header);
    Ref start = NO_REF;
    ir_remove(func, ir_terminator(func, strip));
    b->block = strip;
    for (int32_t i = 0; i < func->blocks.items[loop->header].insts.len; i++) {
        Ref phi = func->blocks.items[loop->header].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        Ref copy = b_phi(b, ir_type(func, phi));
        ir_add_arg(func, copy, ir_arg(func, phi, loop->entry_at));
        ir_add_arg(func, copy, ir_arg(func, phi, 1 - loop->entry_at));
        ir_args(func, phi)[loop->entry_at] = copy;
        if (phi == loop->variable) start = copy;
    }
    return start;
}

static void strip_while(Func *func, const WhileLoop *loop) {
    const Type *boolean = type_scalar(func->module->types, TY_bool);
    Builder b = {
        .func = func, .at = -1, .span = ir_inst(func, loop->poll)->span, .error = NO_BLOCK};
    Ref sane, start = enter_strip(func, loop, &b), branch = ir_terminator(func, loop->end);
    int32_t strip = b.block, exit = ir_inst(func, branch)->target[1];
    Ref stop = strip_end(&b, loop, start, &sane);
    Ref jump = b_inst(&b, OP_jump, NULL, NULL, 0);
    ir_inst(func, jump)->target[0] = loop->header; /* the edge is there since the split */
    ir_remove(func, loop->poll);
    int32_t done = ir_edge_split(func, loop->end, exit);
    ir_remove(func, ir_terminator(func, done));
    Ref more =
        ir_insert(func, loop->end, opt_position(func, branch), OP_lt, (Ref[]){loop->next, stop}, 2);
    ir_inst(func, more)->type = boolean;
    ir_args(func, branch)[0] = more;
    b.block = done;
    b_op1(&b, OP_poll, NULL, rounds(&b, loop, start, sane));
    Ref again = b_op2(&b, (Op)ir_inst(func, loop->test)->op, boolean, loop->next, loop->limit);
    Ref back = b_inst(&b, OP_branch, NULL, &again, 1);
    ir_inst(func, back)->target[0] = strip;
    ir_inst(func, back)->target[1] = exit; /* this edge, too */
    ir_edge_add(func, done, strip);
}

void opt_loops(PassContext *ctx, Func *func) {
    if (ctx->options->entry == ENTRY_KERNEL && !target_is_host(ctx->options->infer.target)) return;
    Cfg cfg;
    cfg_compute(&cfg, ctx->arena, func);
    for (int32_t l = cfg.loops.len - 1; l >= 0; l--) {
        CountedLoop loop;
        int32_t span = 0;
        int64_t trips;
        if (func->blocks.items[cfg.loops.items[l].header].cold || has_inner(&cfg, l)) continue;
        WhileLoop other;
        if (is_while_loop(func, &cfg, l, &other)) strip_while(func, &other);
        if (!opt_counted_loop(func, &cfg, l, &loop)) continue;
        Divisors *divisors = opt_divisors(ctx, func, &cfg, l, &loop);
        if (!remove_polls(func, &cfg, l, &span)) continue;
        int64_t weight = weight_of(func, &cfg, l);
        if (divisors) {
            Strip strip = strip_mine(func, &loop, DIVISOR_STRIP, weight, span);
            opt_test_ahead(divisors, &strip);
            continue;
        }
        if (opt_const_int(func, loop.limit, &trips) && trips <= SHORT_LOOP) {
            int32_t around = cfg.loops.items[l].parent;
            if (around >= 0 && trips > 0) add_rounds(func, &cfg, around, trips * weight);
            continue;
        }
        strip_mine(func, &loop, STRIP / weight, weight, span);
    }
}
