/* sink.c - on the CPU: a load whose only user follows in its block stands directly before it.
 *
 *   v = load c, i; p = load a, i; q = load b, i; r = mul p, q; s = add v, r
 *   =>             p = load a, i; q = load b, i; r = mul p, q; v = load c, i; s = add v, r
 *
 * Python's order of evaluation (`c[i] += a[i] * b[i]` reads c first) keeps values alive for longer than needed, and
 * LLVM's vectoriser counts the live ones in the order it is given: one too many halves the interleaving of such a
 * loop. A load does not move over what may write, wait or call. GPU assemblers schedule by themselves, and there
 * a load is better early. */
#include "codegen/opt/pass.h"

typedef struct Sink {
    Func *func;
    Arena *arena;
    Ref *user;      /* of each value: its only user, or NO_REF */
    int32_t *epoch; /* of each instruction: loads move freely among those of one number */
    Vec(Ref) stack, reversed;
} Sink;

static void find_users(Sink *s) {
    Bits seen = bits_new(s->arena, s->func->insts.len);
    s->user = arena_array(s->arena, Ref, s->func->insts.len);
    for (Ref ref = 1; ref < s->func->insts.len; ref++) {
        if (ir_inst(s->func, ref)->op == OP_removed) continue;
        for (int32_t k = 0; k < ir_inst(s->func, ref)->nargs; k++) {
            Ref arg = ir_arg(s->func, ref, k);
            s->user[arg] = bits_get(&seen, arg) ? NO_REF : ref;
            bits_set(&seen, arg);
        }
    }
}

static bool stops_loads(const Inst *inst) {
    if (inst->op != OP_lib) return ir_op_info[inst->op].flags & OPF_WRITE;
    const LibRow *row = lib_row_of(inst);
    return !row || !(row->flags & LIB_PURE) || (row->flags & LIB_CONVERGENT);
}

/* What stops loads is the last of its epoch: a load may still come to stand before a store that uses it. */
static void number_epochs(Sink *s) {
    int32_t epoch = 0;
    s->epoch = arena_array(s->arena, int32_t, s->func->insts.len);
    for (int32_t b = 0; b < s->func->blocks.len; b++, epoch++) {
        const Block *block = &s->func->blocks.items[b];
        for (int32_t i = 0; i < block->insts.len; i++) {
            Ref ref = block->insts.items[i];
            s->epoch[ref] = epoch;
            epoch += stops_loads(ir_inst(s->func, ref));
        }
    }
}

static bool sinks(const Sink *s, Ref ref) {
    Ref user = s->user[ref];
    return ir_inst(s->func, ref)->op == OP_load && user && s->epoch[user] == s->epoch[ref] &&
           ir_inst(s->func, user)->op != OP_phi;
}

/* Appends `ref`, and before it the loads that wait for it, to the reversed block. */
static void emit(Sink *s, Ref ref) {
    vec_push(s->arena, &s->stack, ref);
    while (s->stack.len) {
        Ref next = vec_pop(&s->stack);
        vec_push(s->arena, &s->reversed, next);
        for (int32_t k = 0; k < ir_inst(s->func, next)->nargs; k++)
            if (sinks(s, ir_arg(s->func, next, k)))
                vec_push(s->arena, &s->stack, ir_arg(s->func, next, k));
    }
}

static void reorder(Sink *s, Block *block) {
    s->reversed.len = 0;
    for (int32_t i = block->insts.len - 1; i >= 0; i--)
        if (!sinks(s, block->insts.items[i])) emit(s, block->insts.items[i]);
    for (int32_t i = 0; i < block->insts.len; i++)
        block->insts.items[i] = s->reversed.items[s->reversed.len - 1 - i];
}

/* An instruction with an error successor is followed by nothing but its jump. */
static bool ends_in_failure(const Func *func, int32_t block) {
    const Block *b = &func->blocks.items[block];
    return (b->insts.len > 1 &&
            ir_inst(func, b->insts.items[b->insts.len - 2])->error != NO_BLOCK) ||
           ir_inst(func, vec_last(&b->insts))->error != NO_BLOCK;
}

/* A counter grows at the latch: `ref` moves to the end of the edge by which it reaches its only user, a phi. */
static void lower_to_edge(Func *func, Ref ref, Ref phi) {
    const Block *block = &func->blocks.items[ir_inst(func, phi)->block];
    int32_t edge = NO_BLOCK;
    for (int32_t k = 0; k < ir_inst(func, phi)->nargs; k++)
        if (ir_arg(func, phi, k) == ref) edge = block->preds.items[k];
    if (ends_in_failure(func, edge)) return;
    Builder b = {.func = func, .block = edge, .span = ir_inst(func, ref)->span, .error = NO_BLOCK};
    b.at = func->blocks.items[edge].insts.len - 1;
    Ref moved = b_op2(&b, OP_add, ir_type(func, ref), ir_arg(func, ref, 0), ir_arg(func, ref, 1));
    ir_inst(func, moved)->sub = ir_inst(func, ref)->sub;
    for (int32_t k = 0; k < ir_inst(func, phi)->nargs; k++)
        if (ir_arg(func, phi, k) == ref) ir_args(func, phi)[k] = moved;
    ir_remove(func, ref);
}

static void lower_counters(Sink *s) {
    Func *func = s->func;
    int64_t step;
    for (Ref ref = 1, n = func->insts.len; ref < n; ref++) {
        Ref phi = ir_inst(func, ref)->op == OP_add ? s->user[ref] : NO_REF;
        if (phi && ir_inst(func, phi)->op == OP_phi &&
            opt_const_int(func, ir_arg(func, ref, 1), &step))
            lower_to_edge(func, ref, phi);
    }
}

void opt_sink(PassContext *ctx, Func *func) {
    if (!target_is_host(ctx->options->infer.target)) return;
    Sink s = {.func = func, .arena = ctx->arena};
    find_users(&s);
    lower_counters(&s);
    find_users(&s);
    number_epochs(&s);
    for (int32_t b = 0; b < func->blocks.len; b++)
        if (!func->blocks.items[b].removed) reorder(&s, &func->blocks.items[b]);
}
