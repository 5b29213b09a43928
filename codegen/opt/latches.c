/* latches.c - gives each loop one way back to its header.
 *
 *   header: i = phi(0, i+1, i+1), s = phi(0, s, t)       header: i = phi(0, i+1), s = phi(0, u)
 *   a: poll; jump header                            =>   a: jump latch
 *   b: poll; jump header                                 b: jump latch
 *                                                        latch: u = phi(s, t); poll; jump header
 *
 * Python's bytecode jumps back from each `continue` and from each arm of an `if` at the end of a body. LLVM makes nested
 * loops of such a header, which it then neither unrolls nor vectorises nor recognises. */
#include "codegen/opt/pass.h"

typedef struct Latches {
    Func *func;
    Arena *arena;
    int32_t header;
    Vec(int32_t) from; /* blocks that jump back */
    bool polls;        /* each of them polls before it does, and a failure leaves the function */
} Latches;

/* Its only way to the header is its terminator's, by one of the targets. */
static bool leads_once(const Latches *s, int32_t block) {
    const Inst *last = ir_inst(s->func, ir_terminator(s->func, block));
    const Block *header = &s->func->blocks.items[s->header];
    int times = 0;
    for (int32_t i = 0; i < header->preds.len; i++)
        times += header->preds.items[i] == block;
    bool jumps = (last->op == OP_jump || last->op == OP_branch) &&
                 (last->target[0] == s->header) + (last->target[1] == s->header) == 1;
    return jumps && times == 1;
}

/* The poll that stands before the jump back; NO_REF: there is none that could be moved. */
static Ref poll_of(const Func *func, int32_t block) {
    const Block *b = &func->blocks.items[block];
    if (b->insts.len < 2 || ir_inst(func, ir_terminator(func, block))->op != OP_jump) return NO_REF;
    Ref ref = b->insts.items[b->insts.len - 2];
    const Inst *inst = ir_inst(func, ref);
    return inst->op == OP_poll && !inst->nargs && inst->error == NO_BLOCK ? ref : NO_REF;
}

static bool find(Latches *s, const Cfg *cfg, int32_t loop) {
    const Block *header = &s->func->blocks.items[s->header];
    s->polls = true;
    for (int32_t i = 0; i < header->preds.len; i++) {
        int32_t from = header->preds.items[i];
        if (!opt_in_loop(cfg, loop, from)) continue;
        if (!leads_once(s, from)) return false;
        s->polls = s->polls && poll_of(s->func, from);
        vec_push(s->arena, &s->from, from);
    }
    return s->from.len > 1;
}

/* What the phi gets from the latches: one value, or a phi of `latch`. */
static Ref joined(Latches *s, Ref phi, int32_t latch) {
    Func *func = s->func;
    const Block *header = &func->blocks.items[s->header];
    Ref *args = arena_array(s->arena, Ref, s->from.len);
    bool same = true;
    for (int32_t k = 0; k < s->from.len; k++) {
        for (int32_t i = 0; i < header->preds.len; i++)
            if (header->preds.items[i] == s->from.items[k]) args[k] = ir_arg(func, phi, i);
        same = same && args[k] == args[0];
    }
    if (same) return args[0];
    const Type *type = ir_type(func, phi);
    Ref join = ir_append(func, latch, OP_phi, args, s->from.len);
    ir_inst(func, join)->type = type;
    return join;
}

static void merge(Latches *s) {
    Func *func = s->func;
    int32_t latch = ir_block_new(func), nphis = 0, span = 0;
    while (ir_inst(func, func->blocks.items[s->header].insts.items[nphis])->op == OP_phi)
        nphis++;
    Ref *back = arena_array(s->arena, Ref, nphis);
    for (int32_t k = 0; k < nphis; k++)
        back[k] = joined(s, func->blocks.items[s->header].insts.items[k], latch);
    for (int32_t k = 0; k < s->from.len; k++) {
        int32_t from = s->from.items[k];
        Ref poll = s->polls ? poll_of(func, from) : NO_REF;
        ir_edge_remove(func, from, s->header);
        Inst *last = ir_inst(func, ir_terminator(func, from));
        last->target[last->target[0] != s->header] = latch;
        ir_edge_add(func, from, latch);
        if (!poll) continue;
        span = ir_inst(func, poll)->span;
        ir_remove(func, poll);
    }
    Builder b = {.func = func, .block = latch, .at = -1, .span = span, .error = NO_BLOCK};
    if (s->polls) b_inst(&b, OP_poll, NULL, NULL, 0);
    b_jump(&b, s->header);
    for (int32_t k = 0; k < nphis; k++)
        ir_add_arg(func, func->blocks.items[s->header].insts.items[k], back[k]);
}

void opt_latches(PassContext *ctx, Func *func) {
    Cfg cfg;
    cfg_compute(&cfg, ctx->arena, func);
    for (int32_t l = 0; l < cfg.loops.len; l++) {
        if (cfg.loops.items[l].latch != NO_BLOCK) continue;
        Latches s = {.func = func, .arena = ctx->arena, .header = cfg.loops.items[l].header};
        if (find(&s, &cfg, l)) merge(&s);
    }
}
