/* work.c - what calls of the library and of other functions weigh between two polls.
 *
 *   %5 = lib "primitive.product" (c, a, b)    =>    %5 = lib "primitive.product" (c, a, b);  poll later (elements of c, a and b)
 *
 * Between two polls that ask runs a budget of 65,536 small rounds. What takes as long as its arrays are without a loop of ours
 * (LIB_LONG, and elements moved within a list) counts their elements, wherever it stands. It does not ask: an object may be half made
 * there. The loop that it is in does, in each of its rounds, and so does one that calls what it is in. Everything else weighs what its
 * instructions do, those of callees, too. */
#include "codegen/opt/work.h"

enum {
    ROUND = 64,                /* instructions of a small round */
    MOST = 1024,               /* rounds: what a heavier loop counts, too */
    MOST_INSTS = MOST * ROUND, /* no more is looked at */
    SHORT_MOVE = 64,
    DEPTH = 64
};

/* Does it take as long as its arrays are, or nobody knows how long: a function of C, print()? */
static bool is_long(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    int64_t count;
    if (inst->op == OP_move)
        return !opt_const_int(func, ir_arg(func, ref, 4), &count) || count > SHORT_MOVE;
    const LibRow *row = inst->op == OP_lib ? lib_row_of(inst) : NULL;
    return row && row->flags & LIB_LONG;
}

static bool has_axes(const Func *func, Ref arg) {
    return ir_type(func, arg)->kind == TY_ARRAY && ir_type(func, arg)->ndim > 0;
}

/* Does it say by its operands how long? */
static bool counts(const Func *func, Ref ref) {
    bool any = ir_inst(func, ref)->op == OP_move;
    for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++)
        any = any || has_axes(func, ir_arg(func, ref, k));
    return any;
}

/* -- what a loop weighs ------------------------------------------------------------------------------------ */

static void weigh(const Func *func, const Block *block, int depth, Work *work);

/* Loops and recursions inside count by themselves. */
static void weigh_callee(const Func *callee, int depth, Work *work) {
    int64_t before = work->insts;
    for (int32_t b = 0; depth < DEPTH && b < callee->blocks.len; b++)
        weigh(callee, &callee->blocks.items[b], depth + 1, work);
    work->insts = QN_MAX(work->insts, before + ROUND);
}

static void weigh(const Func *func, const Block *block, int depth, Work *work) {
    if (block->cold || block->removed) return;
    for (int32_t k = 0; k < block->insts.len && work->insts < MOST_INSTS; k++) {
        Ref ref = block->insts.items[k];
        const Inst *inst = ir_inst(func, ref);
        if (inst->op == OP_call || inst->op == OP_parallel)
            weigh_callee(inst->u.func, depth, work);
        else
            work->insts++;
        if (!is_long(func, ref)) continue;
        work->asks = true;
        if (!counts(func, ref)) work->insts = MOST_INSTS;
    }
}

Work opt_work_of(const Func *func, const Cfg *cfg, int32_t loop) {
    const Loop *info = &cfg->loops.items[loop];
    Work work = {0};
    for (int32_t i = 0; i < info->blocks.len; i++)
        weigh(func, &func->blocks.items[info->blocks.items[i]], 0, &work);
    work.weight = QN_MIN(1 + work.insts / ROUND, MOST);
    return work;
}

/* -- the pass ------------------------------------------------------------------------------------------------- */

/* The elements of an array. A product that leaves int64 is a weight like any other. */
static Ref elements(Builder *b, Ref array) {
    const Type *i64 = type_scalar(b->func->module->types, TY_i64);
    Ref all = NO_REF;
    for (int32_t axis = 0; axis < ir_type(b->func, array)->ndim; axis++) {
        Ref length = b_op1(b, OP_shape, i64, array);
        ir_inst(b->func, length)->imm = axis;
        all = axis ? b_op2(b, OP_mul, i64, all, length) : length;
    }
    return all;
}

static Ref work_of(Builder *b, Ref ref) {
    Func *func = b->func;
    const Type *i64 = type_scalar(func->module->types, TY_i64);
    if (ir_inst(func, ref)->op == OP_move) return ir_arg(func, ref, 4);
    Ref sum = NO_REF;
    for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++) {
        if (!has_axes(func, ir_arg(func, ref, k))) continue;
        Ref n = elements(b, ir_arg(func, ref, k));
        sum = sum ? b_op2(b, OP_add, i64, sum, n) : n;
    }
    return sum;
}

/* In front of it: behind it may be a handler. */
static void count_work(Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    Builder b = {.func = func,
                 .block = inst->block,
                 .at = opt_position(func, ref),
                 .span = inst->span,
                 .error = NO_BLOCK};
    Ref poll = b_op1(&b, OP_poll, NULL, work_of(&b, ref));
    ir_inst(func, poll)->sub = FLAG_LATER;
}

void opt_work(PassContext *ctx, Func *func) {
    if (!target_is_host(ctx->options->infer.target)) return;
    for (Ref ref = 1, n = func->insts.len; ref < n; ref++) {
        const Inst *inst = ir_inst(func, ref);
        if (inst->op != OP_lib && inst->op != OP_move) continue;
        if (inst->block != NO_BLOCK && is_long(func, ref) && counts(func, ref))
            count_work(func, ref);
    }
}
