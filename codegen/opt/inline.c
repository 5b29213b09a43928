/* inline.c - functions of the library that get the result of a map, or that are a few steps on a container, are written into their
 * caller.
 *
 *   t = map @f (a, b); r = call @amax (t)   =>   t = map @f (a, b); ... r = reduce first @maximum (t) ...
 *
 * The library's functions on arrays are Python: their loops are whole-array ops, which `fuse` joins with the map only when
 * both stand in one function. What raises in them raises at the call. Of containers these are xs[i], xs[i] = v, xs.append(v) and the
 * like: an element that is looked at and not kept needs no reference there, and `refcount` sees that it is.
 *
 * Helpers on numbers that are called in loops, and cannot raise, are written there: a call ends what is known of a loop.
 *
 * Device functions with barriers are written into kernels of the cpu device, which `workitem` cuts there. */
#include "codegen/opt/expand.h"

enum { MOST_INSTS = 300, MOST_CALLS = 32, MOST_IN_KERNELS = 300, FEW_INSTS = 40, MOST_STEPS = 64 };

/* -- which --------------------------------------------------------------------------------------------- */

static bool is_library(const Func *func) {
    static const char folder[] = "quern/library/";
    int32_t n = (int32_t)sizeof folder - 1;
    for (int32_t i = 0; i + n <= func->file.len; i++)
        if (!memcmp(func->file.bytes + i, folder, (size_t)n)) return true;
    return false;
}

/* It has no handlers, does not call itself, and is no larger than that. */
static bool is_simple(const Func *func, int32_t most) {
    int32_t insts = 0;
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; !block->removed && i < block->insts.len; i++, insts++) {
            const Inst *inst = ir_inst(func, block->insts.items[i]);
            if (inst->error != NO_BLOCK || (inst->op == OP_call && inst->u.func == func))
                return false;
        }
    }
    return insts <= most;
}

/* Are its readers calls of the library and no more than one whole-array op, which it could go into? */
static bool only_calls_read(const Func *func, Ref map) {
    Ref whole = NO_REF;
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const Inst *inst = ir_inst(func, ref);
        for (int32_t k = 0; k < inst->nargs; k++) {
            if (ir_arg(func, ref, k) != map || inst->op == OP_shape) continue;
            if (inst->op == OP_call && is_library(inst->u.func)) continue;
            bool is_whole = inst->op == OP_map || inst->op == OP_map_into || inst->op == OP_reduce;
            if (!is_whole || (whole && whole != ref)) return false;
            whole = ref;
        }
    }
    return true;
}

/* Kernels have no memory for the result of a map: whoever takes or gives an array, other than one that was made there, may have to do
 * without it. */
static bool takes_map(const PassContext *ctx, const Func *func, Ref call) {
    const Inst *inst = ir_inst(func, call);
    bool heapless = em_without_heap(ctx);
    if (inst->error != NO_BLOCK || inst->u.func == func || inst->u.func->skipped) return false;
    if ((!heapless && !is_library(inst->u.func)) || !is_simple(inst->u.func, MOST_INSTS))
        return false;
    if (heapless && inst->type && inst->type->kind == TY_ARRAY && inst->type->space != SPACE_LOCAL)
        return true;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(func, call, k);
        if (ir_inst(func, arg)->op == OP_map) return true;
    }
    return false;
}

/* -- the copy ------------------------------------------------------------------------------------------- */

typedef struct Inlining {
    Emit e;
    const Func *from;
    Ref call;
    Ref *refs;       /* of `from` -> of the caller */
    int32_t *blocks; /* the same */
    int32_t rest;    /* where it goes on behind the call */
    Vec(Ref) results;
} Inlining;

static void copy_inst(Inlining *n, int32_t block, Ref old) {
    Inst inst = *ir_inst(n->from, old);
    Func *to = n->e.func;
    if (inst.op == OP_param) {
        n->refs[old] = ir_arg(to, n->call, (int32_t)inst.imm);
        return;
    }
    if (inst.op == OP_const) {
        n->refs[old] = em_constant(&n->e, &inst);
        return;
    }
    if (inst.op == OP_return) return;
    Ref copy = ir_append(to, block, (Op)inst.op, NULL, 0);
    Inst *fresh = ir_inst(to, copy);
    fresh->sub = inst.sub, fresh->imm = inst.imm, fresh->u = inst.u, fresh->type = inst.type;
    fresh->span = n->e.b.span;
    for (int t = 0; t < 2; t++)
        if (inst.target[t] != NO_BLOCK) fresh->target[t] = n->blocks[inst.target[t]];
    n->refs[old] = copy;
}

static void set_operands(Inlining *n, Ref old) {
    const Inst *inst = ir_inst(n->from, old);
    if (inst->op == OP_param || inst->op == OP_const || inst->op == OP_return) return;
    Ref *args = arena_array(n->e.ctx->arena, Ref, inst->nargs + 1);
    for (int32_t k = 0; k < inst->nargs; k++)
        args[k] = n->refs[ir_arg(n->from, old, k)];
    ir_set_args(n->e.func, n->refs[old], args, inst->nargs);
}

static void finish_block(Inlining *n, int32_t b) {
    const Block *block = &n->from->blocks.items[b];
    for (int32_t k = 0; k < block->preds.len; k++)
        ir_edge_add(n->e.func, n->blocks[block->preds.items[k]], n->blocks[b]);
    for (int32_t i = 0; i < block->insts.len; i++)
        set_operands(n, block->insts.items[i]);
    Ref last = vec_last(&block->insts);
    if (ir_inst(n->from, last)->op != OP_return) return;
    n->e.b.block = n->blocks[b];
    b_jump(&n->e.b, n->rest);
    vec_push(n->e.ctx->arena, &n->results, n->refs[ir_arg(n->from, last, 0)]);
}

static void copy_body(Inlining *n) {
    const Func *from = n->from;
    for (int32_t b = 0; b < from->blocks.len; b++) {
        if (from->blocks.items[b].removed) continue;
        n->blocks[b] = ir_block_new(n->e.func);
        n->e.func->blocks.items[n->blocks[b]].cold = from->blocks.items[b].cold;
    }
    for (int32_t b = 0; b < from->blocks.len; b++)
        for (int32_t i = 0; !from->blocks.items[b].removed && i < from->blocks.items[b].insts.len;
             i++)
            copy_inst(n, n->blocks[b], from->blocks.items[b].insts.items[i]);
    b_jump(&n->e.b, n->blocks[0]);
    for (int32_t b = 0; b < from->blocks.len; b++)
        if (!from->blocks.items[b].removed) finish_block(n, b);
}

void opt_inline_call(PassContext *ctx, Func *func, Ref call) {
    Inlining n = {.from = ir_inst(func, call)->u.func, .call = call};
    int32_t block = ir_inst(func, call)->block, span = ir_inst(func, call)->span;
    n.rest = opt_split_block(func, block, opt_position(func, call));
    ir_remove(func, ir_terminator(func, block));
    ir_edge_remove(func, block, n.rest);
    n.e = (Emit){.ctx = ctx, .func = func};
    n.e.b = (Builder){.func = func, .block = block, .at = -1, .span = span, .error = NO_BLOCK};
    n.refs = arena_array(ctx->arena, Ref, n.from->insts.len);
    n.blocks = arena_array(ctx->arena, int32_t, n.from->blocks.len);
    copy_body(&n);
    Ref result = n.results.len == 1 ? n.results.items[0] : NO_REF;
    if (n.results.len > 1) {
        n.e.b.block = n.rest;
        result = b_phi(&n.e.b, ir_type(func, call));
        for (int32_t k = 0; k < n.results.len; k++)
            ir_add_arg(func, result, n.results.items[k]);
    }
    if (result) ir_replace_uses(func, call, result);
    if (n.results.len)
        ir_remove(func, call);
    else
        ir_inst(func, call)->block = n.rest; /* it never returns: the rest is unreachable */
}

/* -- the pass ------------------------------------------------------------------------------------------- */

static Ref find_call(const PassContext *ctx, const Func *func) {
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; !block->removed && i < block->insts.len; i++) {
            Ref ref = block->insts.items[i];
            if (ir_inst(func, ref)->op != OP_call || !takes_map(ctx, func, ref)) continue;
            if (em_without_heap(ctx)) return ref;
            for (int32_t k = 0; k < ir_inst(func, ref)->nargs; k++) {
                Ref arg = ir_arg(func, ref, k);
                if (ir_inst(func, arg)->op == OP_map && only_calls_read(func, arg)) return ref;
            }
        }
    }
    return NO_REF;
}

static bool has_map(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_map) return true;
    return false;
}

/* What only names another value: a phi whose other ways are gone, an item of a tuple that is made here, the one axis of an array as one
 * axis. NO_REF: something else. */
static Ref stands_for(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    Ref first = inst->nargs ? ir_arg(func, ref, 0) : NO_REF;
    switch ((int)inst->op) {
    case OP_phi: return inst->nargs == 1 && first != ref ? first : NO_REF;
    case OP_item:
        return ir_inst(func, first)->op == OP_tuple ? ir_arg(func, first, (int32_t)inst->imm)
                                                    : NO_REF;
    case OP_reshape: {
        const Inst *length = inst->nargs == 2 ? ir_inst(func, ir_arg(func, ref, 1)) : NULL;
        bool same = length && ir_type(func, first)->ndim == 1 && length->op == OP_shape &&
                    ir_arg(func, ir_arg(func, ref, 1), 0) == first;
        return same && ir_type(func, first) == inst->type ? first : NO_REF;
    }
    default: return NO_REF;
    }
}

/* Maps come to those who read them by no other name. */
static void name_maps(Func *func) {
    for (bool changed = true; changed;) {
        changed = false;
        for (Ref ref = 1; ref < func->insts.len; ref++) {
            Ref same = stands_for(func, ref);
            if (!same) continue;
            ir_replace_uses(func, ref, same);
            ir_remove(func, ref);
            changed = true;
        }
    }
}

static bool has_loop(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_poll) return true;
    return false;
}

/* On the container that is its first argument. */
bool opt_is_step(const Func *func, Ref call) {
    const Inst *inst = ir_inst(func, call);
    const Func *callee = inst->op == OP_call ? inst->u.func : NULL;
    if (!callee || callee == func || callee->skipped || inst->error != NO_BLOCK || inst->nargs == 0)
        return false;
    const Type *first = ir_type(func, ir_arg(func, call, 0));
    if (first->kind != TY_CLASS || type_is_instance(first) || first->bits == CLS_str ||
        first->bits == CLS_bytes || first->bits == CLS_bytearray)
        return false;
    return is_library(callee) && is_simple(callee, FEW_INSTS) && !has_loop(callee);
}

/* What a step calls stays a call. */
static bool inline_steps(PassContext *ctx, Func *func) {
    Vec(Ref) steps = {0};
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; !block->removed && i < block->insts.len; i++)
            if (steps.len < MOST_STEPS && opt_is_step(func, block->insts.items[i]))
                vec_push(ctx->arena, &steps, block->insts.items[i]);
    }
    for (int32_t i = 0; i < steps.len; i++)
        opt_inline_call(ctx, func, steps.items[i]);
    return steps.len > 0;
}

/* -- device functions in kernels that wait ----------------------------------------------------------------- */

enum { MOST_DEVICE_INSTS = 1000, MOST_DEPTH = 16 };

static const LibRow *row_at(const Func *func, Ref ref) {
    return ir_inst(func, ref)->op == OP_lib ? lib_row_of(ir_inst(func, ref)) : NULL;
}

/* Does a work-item wait for others in it, or in what it calls? -1: the calls go too deep to tell. */
static int waits(const Func *func, int depth) {
    if (depth == MOST_DEPTH) return -1;
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const LibRow *row = row_at(func, ref);
        if (row && row->flags & LIB_SHARED_CALL) return 1;
        int below =
            ir_inst(func, ref)->op == OP_call ? waits(ir_inst(func, ref)->u.func, depth + 1) : 0;
        if (below) return below;
    }
    return 0;
}

static bool has_static_array(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_static_array) return true;
    return false;
}

static int count_calls(const Module *module, const Func *callee) {
    int n = 0;
    for (int32_t f = 0; f < module->funcs.len; f++)
        for (Ref ref = 1; ref < module->funcs.items[f]->insts.len; ref++) {
            const Inst *inst = ir_inst(module->funcs.items[f], ref);
            n += inst->op == OP_call && inst->u.func == callee;
        }
    return n;
}

/* An exception names the place in the function that it was raised in. */
static bool raises(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        int op = ir_inst(func, ref)->op;
        if (op == OP_guard || op == OP_check_index || op == OP_raise) return true;
    }
    return false;
}

/* A function that waits, whose regions are to be the kernel's, or a small one, which may be where an index comes from. An array of
 * a function is one, however often it is called. */
static bool is_device_step(PassContext *ctx, const Func *func, Ref call) {
    const Inst *inst = ir_inst(func, call);
    if (inst->op != OP_call || inst->u.func == func || inst->error != NO_BLOCK) return false;
    const Func *callee = inst->u.func;
    if (raises(callee)) return false;
    if (has_static_array(callee) && count_calls(ctx->module, callee) > 1) return false;
    if (is_simple(callee, FEW_INSTS) && !has_loop(callee)) return true;
    return is_simple(callee, MOST_DEVICE_INSTS) && waits(callee, 0) == 1;
}

static Ref find_device_step(PassContext *ctx, const Func *func) {
    for (int32_t b = 0; b < func->blocks.len; b++) {
        const Block *block = &func->blocks.items[b];
        for (int32_t i = 0; !block->removed && i < block->insts.len; i++)
            if (is_device_step(ctx, func, block->insts.items[i])) return block->insts.items[i];
    }
    return NO_REF;
}

/* For the pass `workitem`. */
static void inline_device_functions(PassContext *ctx, Func *func) {
    const CompileOptions *o = ctx->options;
    if (o->entry != ENTRY_KERNEL || !target_is_host(o->infer.target) || o->sanitize) return;
    if (func != ctx->module->funcs.items[0]) return;
    if (waits(func, 0) != 1) return;
    for (int i = 0; i < MOST_STEPS; i++) {
        Ref call = find_device_step(ctx, func);
        if (!call) break;
        opt_inline_call(ctx, func, call);
    }
    cfg_remove_unreachable(func);
}

/* -- helpers in loops: what the passes behind know of loops they know of their calls then ------------------- */

enum { MOST_LEVELS = 4 };

/* Numbers and tuples of them: nobody owns them, and nothing happens where they end. */
static bool is_plain(const Type *type) {
    bool plain = type->kind == TY_none || type_is_scalar(type);
    if (type->kind != TY_TUPLE) return plain;
    for (int32_t i = 0; i < type->nitems; i++)
        if (!is_plain(type->items[i])) return false;
    return true;
}

/* It may be given an array of numbers, and makes none. */
static bool is_plain_value(const Inst *inst) {
    if (!inst->type || is_plain(inst->type)) return true;
    return inst->op == OP_param && inst->type->kind == TY_ARRAY &&
           type_is_scalar(inst->type->element);
}

/* A few steps on numbers that cannot raise, since a traceback names the function, and compute as their caller does. */
static bool is_helper(const Func *func, int level) {
    if (func->skipped || func->own_math || raises(func) || has_loop(func)) return false;
    if (level == MOST_LEVELS || !is_simple(func, FEW_INSTS)) return false;
    for (Ref ref = 1; ref < func->insts.len; ref++) {
        const Inst *inst = ir_inst(func, ref);
        if (inst->op == OP_removed) continue;
        if (!is_plain_value(inst)) return false;
        if (inst->op == OP_call && !is_helper(inst->u.func, level + 1)) return false;
    }
    return true;
}

static bool has_calls(const Func *func) {
    for (Ref ref = 1; ref < func->insts.len; ref++)
        if (ir_inst(func, ref)->op == OP_call) return true;
    return false;
}

/* Those that loops of the function call, and what these call then. */
static void inline_helpers(PassContext *ctx, Func *func) {
    const CompileOptions *o = ctx->options;
    if (!target_is_host(o->infer.target) || o->sanitize || func->own_math) return;
    if (!has_calls(func)) return;
    for (int level = 0; level < MOST_LEVELS; level++) {
        Cfg cfg;
        RefList calls = {0};
        cfg_compute(&cfg, ctx->arena, func);
        for (int32_t i = 0; i < cfg.nrpo; i++) {
            const Block *block = &func->blocks.items[cfg.rpo[i]];
            for (int32_t k = 0; cfg.loop_of[cfg.rpo[i]] >= 0 && k < block->insts.len; k++) {
                const Inst *inst = ir_inst(func, block->insts.items[k]);
                if (inst->op == OP_call && inst->error == NO_BLOCK && inst->u.func != func &&
                    calls.len < MOST_STEPS && is_helper(inst->u.func, 0))
                    vec_push(ctx->arena, &calls, block->insts.items[k]);
            }
        }
        if (calls.len == 0) return;
        for (int32_t i = 0; i < calls.len; i++)
            opt_inline_call(ctx, func, calls.items[i]);
        cfg_remove_unreachable(func);
    }
}

void opt_inline(PassContext *ctx, Func *func) {
    bool optimises = ctx->options->opt_level > 0;
    if (!optimises && !em_without_heap(ctx)) return; /* kernels have no other way for maps */
    if (optimises) {
        inline_device_functions(ctx, func);
        if (inline_steps(ctx, func)) cfg_remove_unreachable(func);
        inline_helpers(ctx, func);
    }
    bool any = has_map(func), heapless = em_without_heap(ctx);
    for (int32_t i = 0; heapless && !any && i < ctx->module->funcs.len; i++)
        any = has_map(ctx->module->funcs.items[i]);
    for (int i = 0; any && i < (heapless ? MOST_IN_KERNELS : MOST_CALLS); i++) {
        Ref call = find_call(ctx, func);
        if (!call) break;
        opt_inline_call(ctx, func, call);
        if (heapless) name_maps(func);
    }
    if (any) cfg_remove_unreachable(func);
}
