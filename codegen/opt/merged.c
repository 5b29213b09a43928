/* merged.c - a poll that is part of a test which the loop makes anyway.
 *
 *                                                entry:  stop0 = max(0, j0 - 128)
 *   header: j = phi(j0, next)                    header: j = phi(j0, next), stop = phi(stop0, stop')
 *           ... next = j - 1                             ... next = j - 1
 *           if next >= 0: more              =>           if next > stop: go else done
 *   more:   if load a, next > key: latch         go:     stop' = phi(stop, stop1); jump more
 *   latch:  poll; jump header                    more:   if load a, next > key: latch
 *                                                latch:  jump header
 *                                                done:   if next >= 0: again else exit
 *                                                again:  poll 128; stop1 = max(0, next - 128); jump go        (cold)
 *
 * A loop that ends at several places cannot run in strips; that it polls in each round is what it loses against C's. Here it does not:
 * the loop around counts 128 rounds for it, whatever it runs. A variable that gets the same step in each round is at j0 + 128 * step, modulo
 * 2^64, after 128 rounds; the stop does not lie beyond that, and who is at the stop goes to `done`, even where the loop's own test would let
 * it go on: so the loop comes to `done` by then, whatever the step is, zero too, whether it wraps, and whether anything lies beyond the limit.
 * Nor does the stop lie beyond the limit, so that `done`, which tests as the loop does, sees every round that might be the last. */
#include "codegen/opt/merged.h"

static bool stands_still(const Func *func, const Cfg *cfg, int32_t loop, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (!inst->type || inst->type->kind != TY_i64) return false;
    if (inst->op == OP_const || !opt_in_loop(cfg, loop, inst->block)) return true;
    return inst->op == OP_shape &&
           !opt_in_loop(cfg, loop, ir_inst(func, ir_arg(func, ref, 0))->block);
}

/* Is `ref` a variable of the header that gets the same step in each round, or what it becomes? */
static bool is_variable(const Func *func, const Cfg *cfg, Ref ref, MergedPoll *out) {
    int32_t header = cfg->loops.items[out->loop].header;
    for (int32_t k = 0; k < func->blocks.items[header].insts.len; k++) {
        Ref phi = func->blocks.items[header].insts.items[k];
        if (ir_inst(func, phi)->op != OP_phi) return false;
        Ref next = ir_arg(func, phi, 1 - out->entry_at);
        const Inst *inst = ir_inst(func, next);
        if ((ref != phi && ref != next) || (inst->op != OP_add && inst->op != OP_sub)) continue;
        if (!inst->type || inst->type->kind != TY_i64) continue;
        for (int side = 0; side < (inst->op == OP_add ? 2 : 1); side++) {
            out->step = ir_arg(func, next, 1 - side);
            out->plus = inst->op == OP_add;
            out->variable = phi;
            if (ir_arg(func, next, side) == phi && stands_still(func, cfg, out->loop, out->step))
                return true;
        }
    }
    return false;
}

static bool is_test(const Func *func, const Cfg *cfg, int32_t block, MergedPoll *out) {
    Ref last = ir_terminator(func, block);
    const Inst *branch = ir_inst(func, last);
    if (branch->op != OP_branch) return false;
    bool stays = opt_in_loop(cfg, out->loop, branch->target[0]);
    if (stays == opt_in_loop(cfg, out->loop, branch->target[1])) return false;
    if (!opt_every_round(func, cfg, out->loop, block)) return false;
    Ref test = ir_arg(func, last, 0);
    const Inst *inst = ir_inst(func, test);
    int32_t header = cfg->loops.items[out->loop].header;
    if (inst->op != OP_lt && inst->op != OP_le) return false;
    for (out->at = 0; out->at < 2; out->at++) {
        out->limit = ir_arg(func, test, out->at);
        if (!stands_still(func, cfg, out->loop, out->limit)) continue;
        if (!is_variable(func, cfg, ir_arg(func, test, 1 - out->at), out)) continue;
        /* LLVM turns a loop that tests first into one that tests last only where the test leaves it. */
        if (ir_arg(func, test, 1 - out->at) == out->variable && block == header) continue;
        out->block = block;
        out->inside = branch->target[!stays];
        out->up = stays == (out->at == 1);
        return true;
    }
    return false;
}

bool opt_find_merged(const Func *func, const Cfg *cfg, int32_t loop, MergedPoll *out) {
    const Loop *info = &cfg->loops.items[loop];
    const Block *header = &func->blocks.items[info->header];
    if (info->latch == NO_BLOCK || header->preds.len != 2) return false;
    *out = (MergedPoll){.loop = loop, .entry_at = header->preds.items[0] == info->latch};
    if (opt_in_loop(cfg, loop, header->preds.items[out->entry_at])) return false;
    for (int32_t i = 0; i < info->blocks.len; i++)
        if (is_test(func, cfg, info->blocks.items[i], out)) return true;
    return false;
}

/* So many rounds at most begin before the variable, which goes from `start` to the limit, has passed it: then the test ends the loop. */
static int64_t rounds_to(int64_t start, int64_t limit, int64_t step, bool up) {
    int64_t way = up ? limit - start : start - limit;
    return way < 0 ? 1 : way / step + 2;
}

int64_t opt_most_rounds(const Func *func, const Cfg *cfg, int32_t loop) {
    enum { MOST_STEP = 1 << 16, FAR = 1 << 30, FEW = 14 };
    MergedPoll m;
    int64_t step, limit, start;
    if (!opt_find_merged(func, cfg, loop, &m) || m.plus != m.up) return 0;
    if (!opt_const_int(func, m.step, &step) || step <= 0 || step > MOST_STEP) return 0;
    if (!opt_const_int(func, m.limit, &limit) || limit < -FAR || limit > FAR) return 0;
    Ref from = ir_arg(func, m.variable, m.entry_at);
    int32_t entry = func->blocks.items[cfg->loops.items[loop].header].preds.items[m.entry_at];
    if (opt_const_int(func, from, &start)) {
        if (start < -FAR || start > FAR) return 0;
    } else {
        start = m.up ? limit - FEW * step : limit + FEW * step;
        if (m.up ? !opt_at_least(func, cfg, from, start, entry)
                 : !opt_at_most(func, cfg, from, NO_REF, start, entry))
            return 0;
    }
    return rounds_to(start, limit, step, m.up);
}

/* An axis that is asked for in the loop is asked for in front of it. */
static Ref in_front(Builder *b, const Cfg *cfg, int32_t loop, Ref limit) {
    const Inst *inst = ir_inst(b->func, limit);
    if (inst->op != OP_shape || !opt_in_loop(cfg, loop, inst->block)) return limit;
    int64_t axis = inst->imm;
    Ref copy = b_op1(b, OP_shape, inst->type, ir_arg(b->func, limit, 0));
    ir_inst(b->func, copy)->imm = axis;
    return copy;
}

/* The nearer of the limit and where the variable is after so many rounds from `from`. */
static Ref next_stop(Builder *b, const MergedPoll *m, Ref limit, Ref from) {
    Func *func = b->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64),
               *boolean = type_scalar(func->module->types, TY_bool);
    Ref rounds = ir_const_int(func, i64, MERGED_ROUNDS);
    int64_t k;
    Ref way = opt_const_int(func, m->step, &k) && k == 1 ? rounds
                                                         : b_op2(b, OP_mul, i64, m->step, rounds);
    Ref near = b_op2(b, m->plus ? OP_add : OP_sub, i64, from, way);
    Ref first = b_op2(b, OP_lt, boolean, m->up ? near : limit, m->up ? limit : near);
    return b_op3(b, OP_select, i64, first, near, limit);
}

/* Has the variable come to the stop? */
static Ref is_there(Builder *b, const MergedPoll *m, Ref tested, Ref stop) {
    const Type *boolean = type_scalar(b->func->module->types, TY_bool);
    return b_op2(b, OP_le, boolean, m->up ? stop : tested, m->up ? tested : stop);
}

/* Is the way out beyond the limit: `tested < limit` or its kin, as the loop has it, turned round. */
static Ref is_out(Builder *b, const MergedPoll *m, Op op, bool stays, Ref tested, Ref limit) {
    const Type *boolean = type_scalar(b->func->module->types, TY_bool);
    Ref sides[2] = {tested, tested};
    sides[m->at] = limit;
    if (!stays) return b_op2(b, op, boolean, sides[0], sides[1]);
    return b_op2(b, op == OP_lt ? OP_le : OP_lt, boolean, sides[1], sides[0]);
}

void opt_merge_poll(Func *func, const Cfg *cfg, const MergedPoll *m, int64_t rounds, int32_t span) {
    const Type *i64 = type_scalar(func->module->types, TY_i64);
    Builder b = {.func = func, .at = -1, .span = span, .error = NO_BLOCK};
    int32_t header = cfg->loops.items[m->loop].header;
    Ref last = ir_terminator(func, m->block), test = ir_arg(func, last, 0);
    Op op = (Op)ir_inst(func, test)->op;
    bool stays = ir_inst(func, last)->target[0] == m->inside;
    int32_t exit = ir_inst(func, last)->target[stays];
    Ref tested = ir_arg(func, test, 1 - m->at);
    int32_t entry =
        ir_edge_split(func, func->blocks.items[header].preds.items[m->entry_at], header);
    int32_t go = ir_edge_split(func, m->block, m->inside);
    int32_t leave = ir_edge_split(func, m->block, exit);
    int32_t done = ir_edge_split(func, m->block, leave), again = ir_block_new(func);
    func->blocks.items[done].cold = func->blocks.items[again].cold = true;
    ir_remove(func, ir_terminator(func, entry));
    b.block = entry;
    Ref limit = in_front(&b, cfg, m->loop, m->limit);
    Ref stop0 = next_stop(&b, m, limit, ir_arg(func, m->variable, m->entry_at));
    opt_jump_on(&b, header);
    Ref stop = ir_insert(func, header, 0, OP_phi, NULL, 0);
    ir_inst(func, stop)->type = i64;
    ir_remove(func, last);
    b.block = m->block;
    Ref there = is_there(&b, m, tested, stop);
    Ref branch = b_inst(&b, OP_branch, NULL, &there, 1);
    ir_inst(func, branch)->target[0] = done;
    ir_inst(func, branch)->target[1] = go;
    ir_remove(func, ir_terminator(func, done));
    ir_edge_remove(func, done, leave);
    b.block = done;
    b_branch(&b, is_out(&b, m, op, stays, tested, limit), leave, again);
    b.block = again;
    b_op1(&b, OP_poll, NULL, ir_const_int(func, i64, rounds));
    Ref stop1 = next_stop(&b, m, limit, tested);
    b_jump(&b, go);
    Ref following = ir_insert(func, go, 0, OP_phi, (Ref[]){stop, stop1}, 2);
    ir_inst(func, following)->type = i64;
    Ref both[2] = {following, following};
    both[m->entry_at] = stop0;
    ir_set_args(func, stop, both, 2);
}
