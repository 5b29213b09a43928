/* early.c - the poll of a `while` loop stands in front of the tests that end its rounds.
 *
 *   body: ... store; if j < n: more               body: ... store; poll; if j < n: more
 *   more: x = load a, j; if x > key: latch    =>  more: x = load a, j; if x > key: latch
 *   latch: poll; jump body                        latch: jump body
 *
 * Python writes the tests of a `while` behind its body once more. What they load the body often wants, too, but between the two stood the
 * poll, which may run anything: LLVM loaded it again. A round more or less between two polls is of no matter. */
#include "codegen/opt/early.h"

/* Does it write, or may it run what does? */
static bool writes(const Inst *inst) {
    return inst->op != OP_load && !(ir_op_info[inst->op].flags & (OPF_PURE | OPF_TERM)) &&
           inst->op != OP_check_index && inst->op != OP_guard;
}

/* The place behind the last instruction that may write, 0: none does. */
static int32_t behind_writes(const Func *func, const Block *block) {
    int32_t k = block->insts.len - 1;
    while (k > 0 && !writes(ir_inst(func, block->insts.items[k - 1])))
        k--;
    return k;
}

/* Does the value come of `load`, without leaving the block? */
static bool comes_of(const Func *func, Ref value, Ref load, int32_t block, int depth) {
    if (value == load) return true;
    const Inst *inst = ir_inst(func, value);
    if (depth == 0 || inst->block != block || inst->op == OP_phi) return false;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (comes_of(func, ir_arg(func, value, k), load, block, depth - 1)) return true;
    return false;
}

/* The first load behind `from` that decides how the block ends; the terminator's place where there is none. */
static int32_t first_load(const Func *func, int32_t block, int32_t from) {
    enum { DEPTH = 6 };
    const Block *b = &func->blocks.items[block];
    Ref last = ir_terminator(func, block);
    int32_t k = from;
    for (; b->insts.items[k] != last; k++) {
        Ref ref = b->insts.items[k];
        if (ir_inst(func, ref)->op == OP_load &&
            comes_of(func, ir_arg(func, last, 0), ref, block, DEPTH))
            break;
    }
    return k;
}

/* A test of the loop's own that ends it or goes on. */
static bool is_end(const Func *func, const Cfg *cfg, int32_t loop, int32_t block) {
    const Inst *last = ir_inst(func, ir_terminator(func, block));
    if (block >= cfg->n || cfg->loop_of[block] != loop || last->op != OP_branch) return false;
    return opt_in_loop(cfg, loop, last->target[0]) != opt_in_loop(cfg, loop, last->target[1]);
}

void opt_poll_early(Func *func, const Cfg *cfg, int32_t loop) {
    int32_t latch = cfg->loops.items[loop].latch, block = latch, at = 0;
    bool loads = false;
    if (latch == NO_BLOCK || func->blocks.items[latch].insts.len != 2) return;
    Ref poll = func->blocks.items[latch].insts.items[0];
    const Inst *inst = ir_inst(func, poll);
    if (inst->op != OP_poll || inst->error != NO_BLOCK || inst->sub || inst->nargs > 1) return;
    while (block == latch || (at == 0 && block != cfg->loops.items[loop].header)) {
        const Block *b = &func->blocks.items[block];
        if (b->preds.len != 1 || !is_end(func, cfg, loop, b->preds.items[0])) break;
        block = b->preds.items[0];
        b = &func->blocks.items[block];
        at = behind_writes(func, b);
        int32_t load = first_load(func, block, at);
        loads = loads || load < b->insts.len - 1;
        if (at || block == cfg->loops.items[loop].header || b->preds.len != 1) at = load;
    }
    if (!loads) return;
    Ref rounds = inst->nargs ? ir_arg(func, poll, 0) : NO_REF;
    int32_t span = inst->span;
    ir_remove(func, poll);
    poll = ir_insert(func, block, at, OP_poll, &rounds, rounds ? 1 : 0);
    ir_inst(func, poll)->span = span;
}
