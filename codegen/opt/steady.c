/* steady.c - what a `while` loop is tested against, and reads again for each test, is read once.
 *
 *   in front: e = load indptr, i + 1; if p < e: body      in front: e = load indptr, i + 1; if p < e: body
 *   body:     ... p' = p + 1                          =>   body:     ... p' = p + 1
 *             e' = load indptr, i + 1; if p' < e': body              if p' < e: body
 *
 * Python writes the test of a `while` twice, in front of the loop and at its end, so that the same element was read in front. Where the loop
 * stores nothing, it is still the same, and `bounds` has an end that does not change. A handler of a signal may run at a poll and change an
 * element: where the loop would not end by itself, it is read again in each round. */
#include "codegen/opt/pass.h"

enum { MOST_MOVES = 6 }; /* in one round, one behind the other */

/* Does it neither write nor run what does? A poll is none of either while nobody interrupts. */
static bool only_reads(const Inst *inst) {
    return inst->op == OP_load || inst->op == OP_check_index || inst->op == OP_guard ||
           (ir_op_info[inst->op].flags & (OPF_PURE | OPF_TERM));
}

static bool loop_only_reads(const Func *func, const Loop *loop) {
    for (int32_t i = 0; i < loop->blocks.len; i++) {
        const Block *block = &func->blocks.items[loop->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            const Inst *inst = ir_inst(func, block->insts.items[k]);
            if (inst->op != OP_poll && !only_reads(inst)) return false;
        }
    }
    return true;
}

/* Equal ints, made by the same steps of the same values. */
static bool same_index(const Func *func, Ref a, Ref b, int depth) {
    if (opt_same(func, a, b)) return true;
    while (ir_inst(func, a)->op == OP_check_index)
        a = ir_arg(func, a, 0);
    while (ir_inst(func, b)->op == OP_check_index)
        b = ir_arg(func, b, 0);
    const Inst *x = ir_inst(func, a), *y = ir_inst(func, b);
    bool step = x->op == OP_add || x->op == OP_sub || x->op == OP_cast;
    if (!step || x->op != y->op || x->type != y->type || depth == 0) return false;
    for (int32_t k = 0; k < x->nargs; k++)
        if (!same_index(func, ir_arg(func, a, k), ir_arg(func, b, k), depth - 1)) return false;
    return true;
}

static bool same_element(const Func *func, Ref a, Ref b) {
    const Inst *x = ir_inst(func, a), *y = ir_inst(func, b);
    if (x->op != y->op || x->type != y->type || x->nargs != y->nargs) return false;
    if (ir_arg(func, a, 0) != ir_arg(func, b, 0)) return false;
    for (int32_t k = 1; k < x->nargs; k++)
        if (!same_index(func, ir_arg(func, a, k), ir_arg(func, b, k), 3)) return false;
    return true;
}

/* The same element, read on the only way to the loop with nothing written behind; or NO_REF. */
static Ref read_before(const Func *func, int32_t entry, Ref load) {
    enum { BLOCKS = 4, INSTS = 60 };
    int32_t block = entry, left = INSTS;
    for (int n = 0; n < BLOCKS; n++) {
        const Block *b = &func->blocks.items[block];
        for (int32_t i = b->insts.len - 1; i >= 0; i--) {
            Ref ref = b->insts.items[i];
            if (same_element(func, ref, load)) return ref;
            if (left-- == 0 || !only_reads(ir_inst(func, ref))) return NO_REF;
        }
        if (b->preds.len != 1) return NO_REF;
        block = b->preds.items[0];
    }
    return NO_REF;
}

/* What a constant moves an int64 on from, where it goes the way of `sign` or none; NO_REF otherwise. */
static Ref moved_from(const Func *func, Ref ref, int sign) {
    const Inst *inst = ir_inst(func, ref);
    bool adds = inst->op == OP_add;
    int64_t step;
    if ((!adds && inst->op != OP_sub) || inst->type->kind != TY_i64) return NO_REF;
    bool second = opt_const_int(func, ir_arg(func, ref, 1), &step);
    if (!second && (!adds || !opt_const_int(func, ir_arg(func, ref, 0), &step))) return NO_REF;
    bool towards = adds == (sign > 0) ? step >= 0 : step <= 0;
    return towards ? ir_arg(func, ref, second ? 0 : 1) : NO_REF;
}

/* The variable of the loop that `ref` is, or is moved on from; NO_REF: of none. */
static Ref variable_of(const Func *func, const Cfg *cfg, int32_t loop, Ref ref, int sign) {
    for (int depth = 0; depth < MOST_MOVES; depth++) {
        const Inst *inst = ir_inst(func, ref);
        if (inst->op == OP_phi && inst->block == cfg->loops.items[loop].header) return ref;
        bool choice = inst->op == OP_phi || inst->op == OP_select;
        if (choice && !opt_in_loop(cfg, loop, inst->block)) return NO_REF;
        ref = choice ? ir_arg(func, ref, inst->nargs - 1) : moved_from(func, ref, sign);
        if (!ref) return NO_REF;
    }
    return NO_REF;
}

/* On every way, is it the variable, or the variable moved on? */
static bool moves(const Func *func, Ref ref, Ref variable, int sign, int depth) {
    if (ref == variable) return true;
    const Inst *inst = ir_inst(func, ref);
    if (depth == 0) return false;
    if (inst->op != OP_phi && inst->op != OP_select) {
        Ref from = moved_from(func, ref, sign);
        return from && moves(func, from, variable, sign, depth - 1);
    }
    for (int32_t k = inst->op == OP_select; k < inst->nargs; k++)
        if (!moves(func, ir_arg(func, ref, k), variable, sign, depth - 1)) return false;
    return true;
}

/* Does it go towards its end, and never back? Then the loop ends by itself. What goes to and fro waits for somebody who moves the end, as what
 * does not move at all does: a handler of a signal, or another thread. */
static bool is_moved(const Func *func, const Cfg *cfg, int32_t loop, Ref ref, int sign) {
    ref = opt_uncast(func, ref);
    Ref variable = variable_of(func, cfg, loop, ref, sign);
    if (!variable || !moves(func, ref, variable, sign, MOST_MOVES)) return false;
    const Inst *phi = ir_inst(func, variable);
    const Block *header = &func->blocks.items[phi->block];
    for (int32_t k = 0; k < phi->nargs; k++)
        if (opt_in_loop(cfg, loop, header->preds.items[k]) &&
            !moves(func, ir_arg(func, variable, k), variable, sign, MOST_MOVES))
            return false;
    return true;
}

/* The load of the loop that `ref` is, or is made of by a cast; NO_REF: neither. */
static Ref load_behind(const Func *func, const Cfg *cfg, int32_t loop, Ref ref) {
    ref = opt_uncast(func, ref);
    const Inst *inst = ir_inst(func, ref);
    return inst->op == OP_load && opt_in_loop(cfg, loop, inst->block) ? ref : NO_REF;
}

static void read_once(Func *func, const Cfg *cfg, int32_t loop, Ref *map) {
    const Loop *info = &cfg->loops.items[loop];
    int32_t entry = opt_entry_of(func, cfg, loop);
    if (entry == NO_BLOCK || !loop_only_reads(func, info)) return;
    for (int32_t i = 0; i < info->blocks.len; i++) {
        const Block *block = &func->blocks.items[info->blocks.items[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref test = block->insts.items[k];
            const Inst *inst = ir_inst(func, test);
            for (int32_t side = 0; (inst->op == OP_lt || inst->op == OP_le) && side < 2; side++) {
                Ref load = load_behind(func, cfg, loop, ir_arg(func, test, side));
                int sign = side ? 1 : -1; /* up to an end on the right, down to one on the left */
                if (load && !map[load] &&
                    is_moved(func, cfg, loop, ir_arg(func, test, 1 - side), sign))
                    map[load] = read_before(func, entry, load);
            }
        }
    }
}

void opt_steady(PassContext *ctx, Func *func) {
    Cfg cfg;
    if (!target_is_host(ctx->options->infer.target)) return;
    cfg_compute(&cfg, ctx->arena, func);
    Ref *map = cfg.loops.len ? arena_array(ctx->arena, Ref, func->insts.len) : NULL;
    for (int32_t l = 0; l < cfg.loops.len; l++)
        if (opt_is_innermost(&cfg, l)) read_once(func, &cfg, l, map);
    if (map) ir_replace_many(func, map);
}
