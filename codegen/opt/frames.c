/* frames.c - arrays that a kernel makes lie in the frame of the function that makes them.
 *
 *   def unit(x, y): a = np.zeros(2); ...; return a         v = unit(x, y)   =>   v = static_array (2); ...
 *
 * There is no heap in kernels, so np.zeros and its kin, of constant shapes, are memory of the thread, as cuda.local.array is. A frame ends
 * with its function: one that gives such an array back is written into its callers, whatever its size, and cannot be compiled by itself.
 *
 * A place in a loop has one array. Where the array of the round before is still used when the next one is made, both would be the
 * same: that is told. Of cuda.local.array it is what the program says. */
#include "codegen/opt/expand.h"

enum { MOST_WRITTEN_IN = 200 };

/* -- functions that give arrays of theirs back -------------------------------------------------------- */

static bool holds_local(const Type *type) {
    if (!type) return false;
    if (type->kind == TY_ARRAY) return type->space == SPACE_LOCAL;
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        if (holds_local(type->items[i])) return true;
    return false;
}

static bool has_shared_array(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_static_array && ir_type(func, ref)->space == SPACE_SHARED)
            return true;
    return false;
}

static Ref find_giver(const Func *func) {
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; !block->removed && i < block->insts.len; i++) {
            const Inst *inst = ir_inst(func, block->insts.items[i]);
            if (inst->op == OP_call && holds_local(inst->type)) return block->insts.items[i];
        }
    }
    return NO_REF;
}

/* `at`: an instruction of `func`. */
static void refuse_giver(PassContext *ctx, const Func *func, Ref at, Str name, const char *why) {
    Span here = ir_span_of(func, at);
    diag_add(ctx->module->diags, E0610, &here, str_printf(ctx->arena, STR_FMT, STR_ARG(name)).bytes,
             why);
    diag_note(ctx->module->diags, NULL,
              "make the array in the kernel, and pass it to the function, which fills it");
}

/* A device function that is compiled by itself has callers that nothing is written into. */
static void check_entry(PassContext *ctx, const Func *func) {
    if (func != ctx->module->funcs.items[0] || !holds_local(func->result)) return;
    for (int32_t b = 0; b < func->blocks.len; b++) {
        Ref last = func->blocks.items[b].removed ? NO_REF : ir_terminator(func, b);
        if (last && ir_inst(func, last)->op == OP_return)
            return refuse_giver(ctx, func, last, func->name, "is called by code of others");
    }
}

static void write_givers_in(PassContext *ctx, Func *func) {
    int n = 0;
    for (Ref call; (call = find_giver(func)); n++) {
        const Func *callee = ir_inst(func, call)->u.func;
        const char *why =
            callee == func || n == MOST_WRITTEN_IN ? "calls itself, directly or in others"
            : has_shared_array(callee) ? "has a shared array, which is one for all calls"
                                       : NULL;
        if (why) return refuse_giver(ctx, func, call, callee->name, why);
        opt_inline_call(ctx, func, call);
    }
    if (n) cfg_remove_unreachable(func);
}

/* -- arrays of a loop ---------------------------------------------------------------------------------- */

/* Arrays that lie in `array`, and what holds them. */
static void find_holders(const Func *func, Ref array, bool *holds) {
    memset(holds, 0, (size_t)func->insts.len * sizeof *holds);
    holds[array] = true;
    for (bool more = true; more;) {
        more = false;
        for (Ref ref = 1; ref < func->insts.len; ref++) {
            const Inst *inst = ir_inst(func, ref);
            if (inst->op == OP_removed || holds[ref] || !holds_local(inst->type)) continue;
            for (int32_t k = 0; k < inst->nargs && !holds[ref]; k++)
                holds[ref] = holds[ir_arg(func, ref, k)];
            more |= holds[ref];
        }
    }
}

static bool reads(const Func *func, int32_t block, int32_t from, Ref value) {
    const Block *b = &func->blocks.items[block];
    for (int32_t i = from; i < b->insts.len; i++) {
        const Inst *inst = ir_inst(func, b->insts.items[i]);
        for (int32_t k = 0; inst->op != OP_phi && k < inst->nargs; k++)
            if (ir_arg(func, b->insts.items[i], k) == value) return true;
    }
    return false;
}

/* Does a phi of `block` get the value from `pred`? */
static bool phi_reads(const Func *func, int32_t block, int32_t pred, Ref value) {
    const Block *b = &func->blocks.items[block];
    for (int32_t i = 0; i < b->insts.len && ir_inst(func, b->insts.items[i])->op == OP_phi; i++)
        for (int32_t k = 0; k < b->preds.len; k++)
            if (b->preds.items[k] == pred && ir_arg(func, b->insts.items[i], k) == value)
                return true;
    return false;
}

/* Is the value, which is made before `at` is reached, read behind it, before it is made again? */
static bool is_read_behind(PassContext *ctx, const Func *func, Ref at, Ref value) {
    int32_t start = ir_inst(func, at)->block, n = 0;
    if (ir_inst(func, value)->block == start && opt_position(func, value) > opt_position(func, at))
        return false;
    int32_t *list = arena_array(ctx->arena, int32_t, func->blocks.len + 1);
    bool *seen = arena_array(ctx->arena, bool, func->blocks.len);
    if (reads(func, start, opt_position(func, at) + 1, value)) return true;
    list[n++] =
        start; /* not seen: a loop may lead to it again, and what stands before `at` is read then */
    for (int32_t i = 0; i < n; i++) {
        const Inst *last = ir_inst(func, ir_terminator(func, list[i]));
        for (int t = 0; t < 2; t++) {
            int32_t to = last->target[t];
            if (to == NO_BLOCK) continue;
            if (phi_reads(func, to, list[i], value)) return true;
            if (seen[to] || to == ir_inst(func, value)->block) continue;
            if (reads(func, to, 0, value)) return true;
            seen[to] = true;
            list[n++] = to;
        }
    }
    return false;
}

static void check_array(PassContext *ctx, const Func *func, Ref array) {
    bool *holds = arena_array(ctx->arena, bool, func->insts.len);
    find_holders(func, array, holds);
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        if (!holds[ref] || ref == array || ir_inst(func, ref)->op == OP_removed) continue;
        if (!is_read_behind(ctx, func, array, ref)) continue;
        Span here = ir_span_of(func, array);
        diag_add(ctx->module->diags, E0609, &here);
        diag_note(ctx->module->diags, NULL,
                  "make both arrays in front of the loop, and copy: previous[:] = next");
        return;
    }
}

void opt_frames(PassContext *ctx, Func *func) {
    if (ctx->options->entry != ENTRY_KERNEL && target_is_host(ctx->options->infer.target)) return;
    write_givers_in(ctx, func);
    check_entry(ctx, func);
    for (Ref ref = 1; ref < func->insts.len && !ctx->module->diags->failed; ref++) {
        const Inst *inst = ir_inst(func, ref);
        if (inst->op == OP_static_array && inst->imm == STATIC_NEW) check_array(ctx, func, ref);
    }
}
