/* loops.c - where loops ask for interruption, so that inner loops do not.
 *
 *   header: i = phi(0, i+1)               strip:  i0 = phi(0, i), stop = i0 + min(n - i0, 65536)
 *           if i < n: body (poll) ...  => header: i = phi(i0, i+1); if i < stop: body ...
 *                                         done:   poll (i - i0); if i < n: strip else exit
 *
 * The inner loop has no call and no exit of ours left, so LLVM vectorises it. Inside of another loop, which asks in each of its
 * rounds, only a strip that is not the last asks, and the way out counts (`poll later`):
 *
 *                                         first:  stop0 = min(n, 65536)
 *                                         strip:  i0 = phi(0, i), stop = phi(stop0, stop1)
 *                                         header: ...
 *                                         done:   if i < n: more else leave
 *                                         more:   poll (i - i0); stop1 = i + min(n - i, 65536); strip       (cold)
 *                                         leave:  poll later (i - i0); exit
 *
 * Where the test in front of a nest has shown that such a loop has few rounds (bounds_rounds.c), it has no strips: its way out counts them.
 *
 * A loop whose trip count is a small constant, a `while` whose test lets few rounds pass (opt_most_rounds), or which halves a number until it is zero (wearing.c), loses its poll altogether; the
 * loop around it counts its rounds, and is an innermost loop itself where it has no others inside.
 * Where divisors are tested ahead (divisors.c), strips are shorter.
 *
 * What asks in each round does so in front of the tests that end the round (early.c).
 *
 * Where a poll may be caught (`try` around the loop), those that ask lead to the handler, with what its phis get behind a whole round.
 *
 * A `while` loop that tests at its end is treated alike when its variable grows by the same step in each round. Its sum
 * may wrap and its step may be anything, which is of no matter: a strip ends at or before the limit, so that every
 * round that the loop would run is run, and none else; steps that are not small and positive make strips of one round.
 *
 *   header: j = phi(a, next) ...                strip: j0 = phi(a, next)
 *           next = j + step               =>           stop = min(j0 + 65536 * step, limit)
 *           if next < limit: poll, header       header: j = phi(j0, next) ... if next < stop: header
 *                                               done:  poll (next - j0) / step; if next < limit: strip else exit */
#include "codegen/opt/appends.h"
#include "codegen/opt/divisors.h"
#include "codegen/opt/early.h"
#include "codegen/opt/merged.h"
#include "codegen/opt/wearing.h"
#include "codegen/opt/work.h"
#include "frontend/base/bits.h"

enum {
    STRIP = 65536,
    SHORT_LOOP = 1024,
    MOST_ROUNDS = STRIP / 4, /* of all that does not ask in a round of what does */
    FEW_ROUNDS = 16,
    STEP_BITS = 40,
    ROUND = 64 /* of a small loop, that need not be counted */
};

typedef struct Polls {
    PassContext *ctx;
    Func *func;
    Cfg cfg;
    Bits gone;       /* loops that ask no more, nor any inside */
    int64_t *rounds; /* of each loop: of such loops directly inside it, in one of its rounds */
} Polls;

/* Is there a loop inside that asks? */
static bool has_inner(const Polls *s, int32_t loop) {
    for (int32_t i = 0; i < s->cfg.loops.len; i++)
        if (s->cfg.loops.items[i].parent == loop && !bits_get(&s->gone, i)) return true;
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

/* How many rounds of a small loop one round of this takes. */
static int64_t weight_of(const Func *func, const Cfg *cfg, int32_t loop) {
    return opt_work_of(func, cfg, loop).weight;
}

/* Polls of the loop's own count more than the round: those of loops inside, which do not ask, and what it calls. */
static void add_rounds(Func *func, const Cfg *cfg, int32_t loop, int64_t rounds) {
    const Loop *info = &cfg->loops.items[loop];
    const Type *i64 = type_scalar(func->module->types, TY_i64);
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &func->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            const Inst *inst = ir_inst(func, ref);
            if (inst->op != OP_poll || inst->nargs || inst->sub == FLAG_LATER) continue;
            if (cfg->loop_of[inst->block] == loop)
                ir_add_arg(func, ref, ir_const_int(func, i64, 1 + rounds));
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

/* The end of the strip that begins at `start`. */
static Ref strip_stop(Builder *b, const CountedLoop *loop, Ref start, int64_t rounds) {
    Func *func = b->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64),
               *boolean = type_scalar(func->module->types, TY_bool);
    Ref chunk = ir_const_int(func, i64, rounds), left = loop->limit;
    if (start) left = b_op2(b, OP_sub, i64, left, start);
    Ref more = b_op2(b, OP_lt, boolean, chunk, left);
    Ref stop = b_op3(b, OP_select, i64, more, chunk, left);
    return start ? b_op2(b, OP_add, i64, start, stop) : stop;
}

/* `later`: without asking. */
static void count(Builder *b, Ref rounds, int64_t weight, bool later) {
    Func *func = b->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64);
    if (weight > 1) rounds = b_op2(b, OP_mul, i64, rounds, ir_const_int(func, i64, weight));
    Ref poll = b_op1(b, OP_poll, NULL, rounds);
    ir_inst(func, poll)->sub = later ? FLAG_LATER : 0;
}

/* Counts the rounds since `start`. */
static void count_rounds(Builder *b, const CountedLoop *loop, Ref start, int64_t weight,
                         bool later) {
    const Type *i64 = type_scalar(b->func->module->types, TY_i64);
    count(b, b_op2(b, OP_sub, i64, loop->counter, start), weight, later);
}

/* Makes `strip`, on the edge into the header, a block without a jump that has phis for those of the header; the counter's. */
static Ref enter_counted(Builder *b, const CountedLoop *loop, int32_t strip) {
    Func *func = b->func;
    const Block *header = &func->blocks.items[loop->header];
    int32_t entry_at = 0;
    while (header->preds.items[entry_at] != strip)
        entry_at++;
    ir_remove(func, ir_terminator(func, strip));
    func->blocks.items[strip].strips = true;
    b->block = strip;
    Ref start = NO_REF;
    for (int32_t i = 0; i < func->blocks.items[loop->header].insts.len; i++) {
        Ref phi = func->blocks.items[loop->header].insts.items[i];
        if (ir_inst(func, phi)->op != OP_phi) break;
        Ref copy = strip_phi(func, b, phi, entry_at);
        if (phi == loop->counter) start = copy;
    }
    return start;
}

/* With none around that asks: strip and done alone. */
static Strip strip_outermost(Builder *b, const CountedLoop *loop, int64_t rounds, int64_t weight) {
    Func *func = b->func;
    const Type *boolean = type_scalar(func->module->types, TY_bool);
    int32_t strip = ir_edge_split(func, loop->entry_pred, loop->header);
    int32_t done = ir_edge_split(func, loop->header, loop->exit);
    Ref start = enter_counted(b, loop, strip);
    Ref stop = strip_stop(b, loop, start, rounds);
    opt_jump_on(b, loop->header);
    ir_args(func, loop->test)[1] = stop;
    ir_remove(func, ir_terminator(func, done));
    b->block = done;
    count_rounds(b, loop, start, weight, false);
    Ref again = b_op2(b, OP_lt, boolean, loop->counter, loop->limit);
    Ref branch = b_inst(b, OP_branch, NULL, &again, 1);
    ir_inst(func, branch)->target[0] = strip;
    ir_inst(func, branch)->target[1] = loop->exit;
    ir_edge_add(func, done, strip);
    return (Strip){strip, start, stop};
}

/* Inside of a loop that asks: the first end does not depend on the strip, so that LLVM computes it in front of that loop. */
static Strip strip_inner(Builder *b, const CountedLoop *loop, int64_t rounds, int64_t weight) {
    Func *func = b->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64),
               *boolean = type_scalar(func->module->types, TY_bool);
    int32_t first = ir_edge_split(func, loop->entry_pred, loop->header);
    int32_t strip = ir_edge_split(func, first, loop->header);
    int32_t leave = ir_edge_split(func, loop->header, loop->exit);
    int32_t done = ir_edge_split(func, loop->header, leave), more = ir_block_new(func);
    func->blocks.items[more].cold = true;
    ir_remove(func, ir_terminator(func, first));
    ir_edge_remove(func, first, strip);
    b->block = first;
    Ref stop0 = strip_stop(b, loop, NO_REF, rounds);
    b_jump(b, strip);
    Ref start = enter_counted(b, loop, strip), stop = b_phi(b, i64);
    opt_jump_on(b, loop->header);
    ir_args(func, loop->test)[1] = stop;
    ir_remove(func, ir_terminator(func, done));
    ir_edge_remove(func, done, leave);
    b->block = done;
    b_branch(b, b_op2(b, OP_lt, boolean, loop->counter, loop->limit), more, leave);
    b->block = more;
    count_rounds(b, loop, start, weight, false);
    ir_set_args(func, stop, (Ref[]){stop0, strip_stop(b, loop, loop->counter, rounds)}, 2);
    b_jump(b, strip);
    ir_remove(func, ir_terminator(func, leave));
    b->block = leave;
    count_rounds(b, loop, start, weight, true);
    opt_jump_on(b, loop->exit);
    return (Strip){strip, start, stop};
}

static Strip strip_mine(Func *func, const CountedLoop *loop, int64_t rounds, int64_t weight,
                        int32_t span, bool inner) {
    Builder b = {.func = func, .at = -1, .span = span, .error = NO_BLOCK};
    return inner ? strip_inner(&b, loop, rounds, weight)
                 : strip_outermost(&b, loop, rounds, weight);
}

/* The rounds that a loop from 0 has run when it ends. The counter itself would be used behind the loop: LLVM makes vectors of fewer
 * sizes then. */
static Ref rounds_of_all(Builder *b, const CountedLoop *loop) {
    Func *func = b->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64),
               *boolean = type_scalar(func->module->types, TY_bool);
    if (opt_nonnegative(func, loop->limit, false)) return loop->limit;
    Ref zero = ir_const_int(func, i64, 0), some = b_op2(b, OP_lt, boolean, zero, loop->limit);
    return b_op3(b, OP_select, i64, some, loop->limit, zero);
}

/* Ways out in the middle count the rounds until then. */
static void count_in_the_middle(Func *func, const Cfg *cfg, int32_t l, const CountedLoop *loop,
                                int64_t weight, int32_t span) {
    const Loop *info = &cfg->loops.items[l];
    Builder b = {.func = func, .at = -1, .span = span, .error = NO_BLOCK};
    int32_t to[3];
    for (int32_t i = 0; i < info->blocks.len; i++) {
        int32_t from = info->blocks.items[i];
        for (int k = ir_successors(func, from, to) - 1; k >= 0; k--) {
            if (opt_in_loop(cfg, l, to[k]) || from == loop->header) continue;
            b.block = ir_edge_split(func, from, to[k]);
            ir_remove(func, ir_terminator(func, b.block));
            count_rounds(&b, loop, loop->start, weight, true);
            opt_jump_on(&b, to[k]);
        }
    }
}

/* A loop of few rounds inside of one that asks: its way out counts them all. */
static void count_behind(Func *func, const Cfg *cfg, int32_t l, const CountedLoop *loop,
                         int64_t weight, int32_t span) {
    Builder b = {.func = func, .at = -1, .span = span, .error = NO_BLOCK};
    int64_t first;
    count_in_the_middle(func, cfg, l, loop, weight, span);
    b.block = ir_edge_split(func, loop->header, loop->exit);
    ir_remove(func, ir_terminator(func, b.block));
    if (opt_const_int(func, loop->start, &first) && first == 0)
        count(&b, rounds_of_all(&b, loop), weight, true);
    else
        count_rounds(&b, loop, loop->start, weight, true);
    opt_jump_on(&b, loop->exit);
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
    func->blocks.items[strip].strips = true;
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

static void strip_while(Func *func, const WhileLoop *loop, bool later) {
    const Type *boolean = type_scalar(func->module->types, TY_bool);
    Builder b = {
        .func = func, .at = -1, .span = ir_inst(func, loop->poll)->span, .error = NO_BLOCK};
    Ref sane, start = enter_strip(func, loop, &b), branch = ir_terminator(func, loop->end);
    int32_t strip = b.block, exit = ir_inst(func, branch)->target[1];
    Ref stop = strip_end(&b, loop, start, &sane);
    Ref jump = b_inst(&b, OP_jump, NULL, NULL, 0);
    ir_inst(func, jump)->target[0] = loop->header; /* the edge is there since the split */
    ir_remove(func, loop->poll);
    int32_t leave = ir_edge_split(func, loop->end, exit),
            done = ir_edge_split(func, loop->end, leave), again = ir_block_new(func);
    func->blocks.items[again].cold = true;
    Ref more =
        ir_insert(func, loop->end, opt_position(func, branch), OP_lt, (Ref[]){loop->next, stop}, 2);
    ir_inst(func, more)->type = boolean;
    ir_args(func, branch)[0] = more;
    ir_remove(func, ir_terminator(func, done));
    ir_edge_remove(func, done, leave);
    b.block = done;
    Ref ran = rounds(&b, loop, start, sane);
    if (!later) b_op1(&b, OP_poll, NULL, ran);
    b_branch(&b, b_op2(&b, (Op)ir_inst(func, loop->test)->op, boolean, loop->next, loop->limit),
             again, leave);
    b.block = again;
    if (later) b_op1(&b, OP_poll, NULL, ran);
    b_jump(&b, strip);
    ir_remove(func, ir_terminator(func, leave));
    b.block = leave;
    if (later) ir_inst(func, b_op1(&b, OP_poll, NULL, ran))->sub = FLAG_LATER;
    jump = b_inst(&b, OP_jump, NULL, NULL, 0);
    ir_inst(func, jump)->target[0] = exit;
}

/* Does the loop around ask in its rounds? It may be one of the compiler's own that does not. */
static bool asked_around(const Polls *s, int32_t loop) {
    int32_t around = s->cfg.loops.items[loop].parent;
    if (around < 0) return false;
    const Loop *info = &s->cfg.loops.items[around];
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &s->func->blocks.items[info->blocks.items[i]];
        if (s->cfg.loop_of[info->blocks.items[i]] != around) continue;
        for (int32_t k = 0; k < block->insts.len; k++)
            if (ir_inst(s->func, block->insts.items[k])->op == OP_poll) return true;
    }
    return false;
}

/* The loop takes at most `rounds` rounds of a small one and does not ask: the loop around counts it. Where there is none, it asks
 * once, before it begins: the function may be called in a loop. */
static void let_go(Polls *s, int32_t loop, int64_t rounds, int32_t span) {
    int32_t around = s->cfg.loops.items[loop].parent, header = s->cfg.loops.items[loop].header;
    bits_set(&s->gone, loop);
    if (around >= 0) s->rounds[around] += rounds;
    if (asked_around(s, loop) || rounds <= ROUND) return;
    Builder b = {.func = s->func, .span = span, .error = NO_BLOCK};
    b.block = ir_edge_split(s->func, opt_entry_of(s->func, &s->cfg, loop), header);
    const Type *i64 = type_scalar(s->func->module->types, TY_i64);
    b_op1(&b, OP_poll, NULL, ir_const_int(s->func, i64, rounds));
}

/* A loop of few instructions that ends at several places: its own test sees to it that it asks now and then. */
static bool visit_merged(Polls *s, int32_t loop) {
    MergedPoll merged;
    int32_t span = 0;
    int64_t weight = weight_of(s->func, &s->cfg, loop) + s->rounds[loop];
    if (weight > FEW_ROUNDS || !opt_find_merged(s->func, &s->cfg, loop, &merged)) return false;
    if (opt_entry_of(s->func, &s->cfg, loop) == NO_BLOCK ||
        !remove_polls(s->func, &s->cfg, loop, &span))
        return false;
    opt_merge_poll(s->func, &s->cfg, &merged, weight * MERGED_ROUNDS, span);
    let_go(s, loop, weight * MERGED_ROUNDS, span);
    return true;
}

/* A loop that its own test ends after few rounds. */
static bool visit_short(Polls *s, int32_t loop) {
    int32_t span = 0;
    int64_t rounds = opt_most_rounds(s->func, &s->cfg, loop);
    int64_t weight = weight_of(s->func, &s->cfg, loop) + s->rounds[loop];
    if (!rounds || rounds > MERGED_ROUNDS || rounds * weight > MOST_ROUNDS) return false;
    if (opt_entry_of(s->func, &s->cfg, loop) == NO_BLOCK ||
        !remove_polls(s->func, &s->cfg, loop, &span))
        return false;
    let_go(s, loop, rounds * weight, span);
    return true;
}

static void visit_while(Polls *s, int32_t loop) {
    int32_t span = 0;
    WhileLoop other;
    bool inner = asked_around(s, loop);
    if (visit_short(s, loop)) return;
    if (opt_wears_out(s->func, &s->cfg, loop)) {
        int64_t weight = weight_of(s->func, &s->cfg, loop) + s->rounds[loop];
        if (weight <= FEW_ROUNDS && opt_entry_of(s->func, &s->cfg, loop) != NO_BLOCK &&
            remove_polls(s->func, &s->cfg, loop, &span))
            let_go(s, loop, weight * WORN_OUT, span);
    } else if (is_while_loop(s->func, &s->cfg, loop, &other)) {
        strip_while(s->func, &other, inner);
    } else if (inner) {
        visit_merged(s, loop);
    }
}

/* -- in `try` ---------------------------------------------------------------------------------------- */

/* A poll that fails into a handler outside of its loop, and what the handler's phis get when it fails behind a round. */
typedef struct Handled {
    int32_t handler;
    Vec(Ref) values;
} Handled;

/* The value behind a whole round: a phi of the header for what goes back to it. NO_REF: it is known in the round alone. */
static Ref behind_round(const Polls *s, int32_t loop, Ref value) {
    const Block *header = &s->func->blocks.items[s->cfg.loops.items[loop].header];
    for (int32_t i = 0; i < header->insts.len; i++) {
        Ref phi = header->insts.items[i];
        if (ir_inst(s->func, phi)->op != OP_phi) break;
        for (int32_t k = 0; k < header->preds.len; k++)
            if (ir_arg(s->func, phi, k) == value &&
                opt_in_loop(&s->cfg, loop, header->preds.items[k]))
                return phi;
    }
    return opt_in_loop(&s->cfg, loop, ir_inst(s->func, value)->block) ? NO_REF : value;
}

/* Is a value of the loop used where only the loop leads through the handler, other than by the handler's phis? It would not be known
 * there once the poll has left the loop. */
static bool used_behind(const Polls *s, int32_t loop, int32_t handler) {
    const Func *func = s->func;
    const Block *h = &func->blocks.items[handler];
    for (int32_t i = 0; i < h->preds.len; i++)
        if (!opt_in_loop(&s->cfg, loop, h->preds.items[i])) return false;
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const Inst *inst = ir_inst(func, ref);
        for (int32_t k = 0; k < inst->nargs; k++) {
            if (!opt_in_loop(&s->cfg, loop, ir_inst(func, ir_arg(func, ref, k))->block)) continue;
            int32_t at =
                inst->op == OP_phi ? func->blocks.items[inst->block].preds.items[k] : inst->block;
            if (cfg_dominates(&s->cfg, handler, at)) return true;
        }
    }
    return false;
}

/* The loop's only poll, where it has a handler; it is one without, from here on. */
static bool take_handler(Polls *s, int32_t loop, Handled *out) {
    const Loop *info = &s->cfg.loops.items[loop];
    Ref poll = NO_REF;
    if (info->latch == NO_BLOCK) return false;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &s->func->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            if (ir_inst(s->func, block->insts.items[k])->op != OP_poll) continue;
            if (poll) return false;
            poll = block->insts.items[k];
        }
    }
    if (!poll || ir_inst(s->func, poll)->nargs || ir_inst(s->func, poll)->error == NO_BLOCK)
        return false;
    int32_t handler = ir_inst(s->func, poll)->error, from = ir_inst(s->func, poll)->block;
    const Block *h = &s->func->blocks.items[handler];
    if (opt_in_loop(&s->cfg, loop, handler) || used_behind(s, loop, handler)) return false;
    *out = (Handled){.handler = handler};
    for (int32_t i = 0; i < h->insts.len; i++) {
        Ref phi = h->insts.items[i];
        if (ir_inst(s->func, phi)->op != OP_phi) break;
        int32_t at = 0;
        while (h->preds.items[at] != from)
            at++;
        Ref value = behind_round(s, loop, ir_arg(s->func, phi, at));
        if (!value) return false;
        vec_push(s->ctx->arena, &out->values, value);
    }
    ir_edge_remove(s->func, from, handler);
    ir_inst(s->func, poll)->error = NO_BLOCK;
    return true;
}

/* Polls made since then, of which those that ask fail into the handler. */
static void give_handler(Polls *s, const Handled *h, Ref since) {
    Func *func = s->func;
    for (Ref ref = since, n = func->insts.len; ref < n; ref++) {
        if (ir_inst(func, ref)->op != OP_poll || ir_inst(func, ref)->sub == FLAG_LATER) continue;
        int32_t block = ir_inst(func, ref)->block;
        int32_t rest = opt_split_block(func, block, opt_position(func, ref) + 1);
        func->blocks.items[rest].cold = func->blocks.items[block].cold;
        ir_inst(func, ref)->error = h->handler;
        ir_edge_add(func, block, h->handler);
        for (int32_t i = 0; i < h->values.len; i++)
            ir_add_arg(func, func->blocks.items[h->handler].insts.items[i], h->values.items[i]);
    }
}

/* A counted loop in `try` runs in strips like any other; short ones are no exception. */
static bool visit_handled(Polls *s, int32_t loop, const CountedLoop *counted, bool inner) {
    Handled handled;
    int32_t span = 0;
    if (s->rounds[loop] || !take_handler(s, loop, &handled)) return false;
    remove_polls(s->func, &s->cfg, loop, &span);
    int64_t weight = weight_of(s->func, &s->cfg, loop);
    Ref since = s->func->insts.len;
    strip_mine(s->func, counted, QN_MAX(STRIP / weight, 1), weight, span, inner);
    give_handler(s, &handled, since);
    return true;
}

/* A loop of few rounds that counts in items of its range, since nothing else is to be made of it. */
static bool visit_items(Polls *s, int32_t loop, bool inner) {
    CountedLoop items;
    int32_t span = 0;
    if (!inner || !opt_is_brief(s->func, &s->cfg, loop)) return false;
    if (!opt_loop_of_items(s->func, &s->cfg, loop, &items)) return false;
    int64_t weight = weight_of(s->func, &s->cfg, loop) + s->rounds[loop];
    if (remove_polls(s->func, &s->cfg, loop, &span))
        count_behind(s->func, &s->cfg, loop, &items, weight, span);
    return true;
}

/* The loop runs as a whole: it has few rounds. */
static void make_room_for_all(Func *func, Appends *appends, const CountedLoop *loop) {
    if (!appends) return;
    int32_t block = ir_edge_split(func, loop->entry_pred, loop->header);
    opt_make_room(appends, &(Strip){block, loop->start, loop->limit});
}

/* An innermost loop, where loops without polls do not count. */
static void visit(Polls *s, int32_t loop) {
    Func *func = s->func;
    CountedLoop counted;
    int32_t span = 0;
    int64_t trips;
    bool inner = asked_around(s, loop);
    if (!opt_counted_loop(func, &s->cfg, loop, &counted)) {
        if (!visit_items(s, loop, inner)) visit_while(s, loop);
        return;
    }
    if (visit_handled(s, loop, &counted, inner)) return;
    Divisors *divisors =
        s->rounds[loop] ? NULL : opt_divisors(s->ctx, func, &s->cfg, loop, &counted);
    bool brief = opt_is_brief(func, &s->cfg, loop);
    if (!remove_polls(func, &s->cfg, loop, &span)) return;
    int64_t weight = weight_of(func, &s->cfg, loop) + s->rounds[loop];
    Appends *appends = divisors ? NULL : opt_appends(s->ctx, func, &s->cfg, loop);
    if (divisors) {
        int64_t rounds = opt_tests_rounds(divisors) ? DIVISOR_STRIP : QN_MAX(STRIP / weight, 1);
        Strip strip = strip_mine(func, &counted, rounds, weight, span, inner);
        opt_test_ahead(divisors, &strip);
    } else if (opt_const_int(func, counted.limit, &trips) && trips <= SHORT_LOOP &&
               trips * weight <= MOST_ROUNDS) {
        make_room_for_all(func, appends, &counted);
        let_go(s, loop, QN_MAX(trips, 0) * weight, span);
    } else if (brief && inner) {
        make_room_for_all(func, appends, &counted);
        count_behind(func, &s->cfg, loop, &counted, weight, span);
    } else {
        Strip strip = strip_mine(func, &counted, QN_MAX(STRIP / weight, 1), weight, span, inner);
        if (appends) opt_make_room(appends, &strip);
    }
}

void opt_loops(PassContext *ctx, Func *func) {
    if (ctx->options->entry == ENTRY_KERNEL && !target_is_host(ctx->options->infer.target)) return;
    Polls s = {.ctx = ctx, .func = func};
    cfg_compute(&s.cfg, ctx->arena, func);
    s.gone = bits_new(ctx->arena, s.cfg.loops.len);
    s.rounds = arena_array(ctx->arena, int64_t, s.cfg.loops.len);
    for (int32_t l = s.cfg.loops.len - 1; l >= 0; l--) {
        if (func->blocks.items[s.cfg.loops.items[l].header].cold) continue;
        Work work = opt_work_of(func, &s.cfg, l);
        if (!has_inner(&s, l) && !work.asks) visit(&s, l);
        int64_t rounds = s.rounds[l] + (work.weight > FEW_ROUNDS ? work.weight - 1 : 0);
        if (rounds && !bits_get(&s.gone, l)) add_rounds(func, &s.cfg, l, rounds);
        opt_poll_early(func, &s.cfg, l);
    }
}
