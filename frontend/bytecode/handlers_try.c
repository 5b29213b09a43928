/* handlers_try.c - where exceptions lead, and what CPython's handlers do with them.
 *
 * A handler is a block that only exceptions enter: from each instruction that it protects and that may raise. There is
 * no matching of statements: `except`, `finally` and the clean-ups that CPython writes for itself (of the name in
 * `except E as e`) are all of these instructions. Which exception is being handled, for a `raise` alone, is a
 * variable: CPython pushes and pops it in the same places. */
#include "frontend/bytecode/bc.h"

/* -- entering a handler ------------------------------------------------------------------------- */

/* Around a `yield from` the handler wants what was sent, too, which is no value here: a place below the exception. */
static int32_t sent_places(const SsaBuild *b, const PyHandler *h) {
    const PyInst *target = &b->decoded->insts.items[b->decoded->inst_of_unit[h->target]];
    return target->op == PY_cleanup_throw && h->depth > 0;
}

/* The handler's stack is what it keeps of this one, then the place of the instruction where it wants that, then the
 * exception. */
static bool flow_to_handler(SsaBuild *b) {
    const PyHandler *h = b->handler;
    int32_t depth = b->depth, after = h->depth + 1 + h->lasti, below = h->depth - sent_places(b, h);
    if (below > depth || after > b->limit)
        return bc_malformed(b, "an exception handler expects another stack");
    Slot kept[3] = {b->stack[below], b->stack[h->depth], b->stack[after - 1]};
    if (below < h->depth) b->stack[below] = (Slot){.kind = SLOT_NULL};
    b->stack[h->depth] = b->stack[after - 1] = (Slot){.kind = SLOT_VALUE};
    b->depth = after;
    bool ok = bc_flow_raised(b, b->cfg->block_of_inst[b->decoded->inst_of_unit[h->target]]);
    b->depth = depth;
    b->stack[after - 1] = kept[2];
    b->stack[h->depth] = kept[1];
    b->stack[below] = kept[0];
    return ok;
}

void bc_may_raise(SsaBuild *b, Ref ref) {
    bc_end_block(b);
    if (ir_op_info[ir_inst(b->func, ref)->op].flags & OPF_TERM)
        ir_edge_add(b->func, b->ir.block, b->ir.error);
    else
        b_continue(&b->ir);
    if (!flow_to_handler(b)) b->malformed = true;
}

void bc_start_handler(SsaBuild *b, const PyBlock *block) {
    int32_t top = b->depth - 1;
    if (block->lasti) bc_write(b, slot_var(b, top - 1), bc_emit_const(b, const_none(b->arena)));
    Ref handled = bc_read(b, b->handled_var);
    bc_write(b, slot_var(b, top), bc_emit(b, OP_caught, &handled, 1));
}

/* -- what handlers do ------------------------------------------------------------------------------ */

bool bc_h_push_exception(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref exception;
    if (!bc_pop(b, &exception)) return false;
    bc_push(b, bc_read(b, b->handled_var));
    bc_push(b, exception);
    bc_write(b, b->handled_var, exception);
    return true;
}

bool bc_h_pop_exception(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref before;
    if (!bc_pop(b, &before)) return false;
    bc_write(b, b->handled_var, before);
    return true;
}

bool bc_h_match_exception(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref args[2];
    if (!bc_pop_many(b, args, 2)) return false;
    bc_push(b, args[0]);
    bc_push(b, bc_emit(b, OP_match_py, args, 2));
    return true;
}

/* What loops go over that an exception leaves now lives until here: the handlers inside of them have run. */
static void keep_iterations(SsaBuild *b) {
    for (int32_t place = b->depth; place-- > 0;) {
        if (b->stack[place].kind != SLOT_ITER) continue;
        Ref iter = bc_read(b, slot_var(b, place) + VAR_VALUE);
        bc_emit(b, OP_hold, &iter, 1);
    }
}

bool bc_raise_again(SsaBuild *b, Ref exception) {
    keep_iterations(b);
    bc_emit(b, OP_reraise, &exception, 1);
    return true;
}

bool bc_h_reraise(SsaBuild *b, int32_t arg) {
    (void)arg;
    Ref exception;
    return bc_pop(b, &exception) && bc_raise_again(b, exception);
}
