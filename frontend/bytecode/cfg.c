/* cfg.c - abstract operations -> basic blocks, which of them are reachable, and at each block's start
 * the locals that may be unassigned.
 *
 * Blocks are in the order of the bytecode. Unreachable code (dead handlers, code after `return`) gets
 * no further look: it may contain anything. */
#include "frontend/bytecode/bc.h"

typedef struct Work {
    PyCfg *cfg;
    Arena *arena;
    const Decoded *decoded;
    DiagList *diags;
} Work;

static bool malformed(const Work *w, const PyInst *inst, const char *why) {
    Span span = bc_span(w->decoded->code, inst ? inst->unit : -1);
    return diag_add(w->diags, E0103, &span, why);
}

int bc_successors(const PyCfg *cfg, const Decoded *decoded, const PyBlock *block, int32_t out[2]) {
    const PyInst *last = &decoded->insts.items[block->end - 1];
    int n = 0;
    int ends = bc_op_info[last->op].ends;
    if (ends == END_JUMPS || ends == END_BRANCHES) out[n++] = cfg->block_of_inst[last->arg];
    if (ends == END_FALLS || ends == END_BRANCHES) out[n++] = cfg->block_of_inst[block->end];
    return n;
}

/* From 3.12 on CPython leaves the jump that closes a loop out of the table, though a signal handler may raise there. Where the
 * loop lies inside of a `try`, its jump does. */
static const PyHandler *handler_of_jump(const Work *w, const PyBlock *block) {
    const PyInst *insts = w->decoded->insts.items, *jump = &insts[block->first];
    if (jump->op != PY_jump_back || jump->arg < 0 || block->first == 0) return NULL;
    const PyHandler *before = bc_handler_of(w->decoded, jump[-1].unit);
    return before == bc_handler_of(w->decoded, insts[jump->arg].unit) ? before : NULL;
}

static const PyHandler *handler_of_block(const Work *w, const PyBlock *block) {
    const PyHandler *h = bc_handler_of(w->decoded, w->decoded->insts.items[block->first].unit);
    return h ? h : handler_of_jump(w, block);
}

/* What CPython writes behind a comprehension: locals get back what they were, and the exception goes on. Where it leaves the
 * function that way, nobody sees the locals. */
static bool is_restoring(int32_t op) {
    return op == PY_swap || op == PY_pop || op == PY_store || op == PY_stop_iteration;
}

enum { MAX_NESTED = 64 };

static bool only_restores(const Work *w, const PyHandler *h) {
    const PyInst *insts = w->decoded->insts.items;
    for (int depth = 0; h && depth < MAX_NESTED; depth++) {
        int32_t k = w->decoded->inst_of_unit[h->target];
        if (k < 0) return false;
        while (k < w->decoded->insts.len && is_restoring(insts[k].op))
            k++;
        bool cleanup = k < w->decoded->insts.len && insts[k].op == PY_cleanup_throw;
        if (k == w->decoded->insts.len || (insts[k].op != PY_reraise && !cleanup)) return false;
        h = bc_handler_of(w->decoded, insts[k].unit);
    }
    return !h;
}

static void set_handler(const Work *w, PyBlock *block) {
    block->handler = -1;
    const PyHandler *h = handler_of_block(w, block);
    if (only_restores(w, h)) h = NULL;
    block->protected_by = h;
    if (h) block->handler = w->cfg->block_of_inst[w->decoded->inst_of_unit[h->target]];
    if (block->handler < 0) return;
    w->cfg->blocks[block->handler].lasti = h->lasti;
    w->cfg->has_handlers = true;
}

static void find_blocks(Work *w) {
    const PyInst *insts = w->decoded->insts.items;
    int32_t n = w->decoded->insts.len;
    PyCfg *cfg = w->cfg;
    cfg->block_of_inst = arena_array(w->arena, int32_t, n + 1);
    int32_t *leader = cfg->block_of_inst; /* first 0 or 1, then the number */
    leader[0] = 1;
    for (int32_t k = 0; k < n; k++) {
        const PyOpInfo *info = &bc_op_info[insts[k].op];
        if (info->ends == END_FALLS) continue;
        if (info->argument == ARG_TARGET && insts[k].arg >= 0) leader[insts[k].arg] = 1;
        leader[k + 1] = 1;
    }
    for (int32_t k = 0; k < w->decoded->handlers.len; k++) {
        const PyHandler *h = &w->decoded->handlers.items[k];
        const int32_t units[3] = {h->start, h->end, h->target};
        for (int i = 0; i < 3; i++) {
            int32_t inst = w->decoded->inst_of_unit[units[i]];
            if (inst >= 0 && inst < n)
                leader[inst] = 1; /* -1: inside of something that means nothing */
        }
    }
    for (int32_t k = 0; k < n; k++)
        cfg->nblocks += leader[k];
    cfg->blocks = arena_array(w->arena, PyBlock, cfg->nblocks);
    int32_t number = -1;
    for (int32_t k = 0; k < n; k++) {
        if (leader[k]) {
            cfg->blocks[++number].first = k;
            cfg->blocks[number].ir_block = NO_BLOCK;
        }
        cfg->blocks[number].end = k + 1;
        leader[k] = leader[k] ? number : -1;
    }
    leader[n] = -1;
    for (int32_t k = 0; k < cfg->nblocks; k++)
        set_handler(w, &cfg->blocks[k]);
}

static bool find_reachable(Work *w) {
    PyCfg *cfg = w->cfg;
    int32_t *todo = arena_array(w->arena, int32_t, cfg->nblocks);
    int32_t ntodo = 0;
    todo[ntodo++] = 0;
    cfg->blocks[0].reachable = true;
    while (ntodo > 0) {
        PyBlock *block = &cfg->blocks[todo[--ntodo]];
        const PyInst *last = &w->decoded->insts.items[block->end - 1];
        int ends = bc_op_info[last->op].ends;
        if ((ends == END_JUMPS || ends == END_BRANCHES) && last->arg < 0)
            return malformed(w, last, "a jump leads to no instruction");
        if ((ends == END_FALLS || ends == END_BRANCHES) && block->end == w->decoded->insts.len)
            return malformed(w, last, "the code does not end with a return");
        int32_t next[3];
        int n = bc_successors(cfg, w->decoded, block, next);
        if (block->handler >= 0) {
            cfg->blocks[block->handler].is_handler = true;
            next[n++] = block->handler;
        }
        for (int k = n - 1; k >= 0; k--) {
            PyBlock *to = &cfg->blocks[next[k]];
            to->npreds++;
            if (to->reachable) continue;
            to->reachable = true;
            todo[ntodo++] = next[k];
        }
    }
    return true;
}

/* -- locals that may be unassigned: forward, union over paths ---------------------------------- */

enum Event { EVENT_NONE, EVENT_ASSIGNED, EVENT_DELETED };

/* A read counts as an assignment: after it the local has a value, or the function has been left. */
static enum Event local_event(const PyInst *inst) {
    switch (inst->op) {
    case PY_load:
    case PY_load_deref:
    case PY_store:
    case PY_store_deref: return EVENT_ASSIGNED;
    case PY_load_and_clear: /* what is stored behind the comprehension may be nothing, too */
    case PY_delete:
    case PY_delete_deref: return EVENT_DELETED;
    default: return EVENT_NONE;
    }
}

/* Locals that comprehensions put aside: an assignment may give them back nothing, so it says nothing. */
static Bits find_cleared(const Work *w) {
    Bits cleared = bits_new(w->arena, w->decoded->code->nlocals);
    for (int32_t k = 0; k < w->decoded->insts.len; k++) {
        const PyInst *inst = &w->decoded->insts.items[k];
        if (inst->op == PY_load_and_clear && inst->arg >= 0 && inst->arg < cleared.n)
            bits_set(&cleared, inst->arg);
    }
    return cleared;
}

static void block_effect(const Work *w, const PyBlock *block, const Bits *cleared, Bits *assigned,
                         Bits *deleted) {
    for (int32_t k = block->first; k < block->end; k++) {
        const PyInst *inst = &w->decoded->insts.items[k];
        enum Event event = local_event(inst);
        if (event == EVENT_NONE || inst->arg < 0 || inst->arg >= w->decoded->code->nlocals)
            continue;
        if (event == EVENT_ASSIGNED && bits_get(cleared, inst->arg)) continue;
        bits_clear(event == EVENT_DELETED ? assigned : deleted, inst->arg);
        bits_set(event == EVENT_DELETED ? deleted : assigned, inst->arg);
    }
}

/* All locals but the parameters and the free variables start unassigned. */
static void unbound_at_entry(const CodeUnit *code, Bits *unbound) {
    int32_t params = code->nargs + code->nkwonly + !!(code->flags & CODE_VARARGS) +
                     !!(code->flags & CODE_VARKEYWORDS);
    for (int32_t k = params; k < code->nlocals; k++)
        if (!(code->local_kinds[k] & LOCAL_FREE)) bits_set(unbound, k);
}

static void flow_unbound(Work *w, const Bits *assigned, const Bits *deleted) {
    PyCfg *cfg = w->cfg;
    int32_t words = (w->decoded->code->nlocals + 63) / 64;
    int32_t *todo = arena_array(w->arena, int32_t, cfg->nblocks);
    Bits queued = bits_new(w->arena, cfg->nblocks);
    int32_t ntodo = 0;
    for (int32_t k = cfg->nblocks - 1; k >= 0; k--) {
        if (!cfg->blocks[k].reachable) continue;
        todo[ntodo++] = k;
        bits_set(&queued, k);
    }
    Bits out = bits_new(w->arena, w->decoded->code->nlocals);
    Bits raised = bits_new(w->arena, w->decoded->code->nlocals); /* anywhere in the block */
    while (ntodo > 0) {
        int32_t number = todo[--ntodo];
        bits_clear(&queued, number);
        const PyBlock *block = &cfg->blocks[number];
        for (int32_t k = 0; k < words; k++) {
            raised.words[k] = block->unbound.words[k] | deleted[number].words[k];
            out.words[k] =
                (block->unbound.words[k] & ~assigned[number].words[k]) | deleted[number].words[k];
        }
        int32_t next[3];
        int n = bc_successors(cfg, w->decoded, block, next);
        if (block->handler >= 0) next[n++] = block->handler;
        for (int k = n - 1; k >= 0; k--) {
            const Bits *from = next[k] == block->handler ? &raised : &out;
            if (!bits_or(&cfg->blocks[next[k]].unbound, from) || bits_get(&queued, next[k]))
                continue;
            bits_set(&queued, next[k]);
            todo[ntodo++] = next[k];
        }
    }
}

enum { MAX_UNBOUND_BITS = 1 << 30 };

static bool find_unbound(Work *w) {
    PyCfg *cfg = w->cfg;
    const CodeUnit *code = w->decoded->code;
    if ((int64_t)code->nlocals * cfg->nblocks > MAX_UNBOUND_BITS) {
        Span span = bc_span(code, -1);
        return diag_add(w->diags, E0105, &span, "too many variables and branches");
    }
    Bits *assigned = arena_array(w->arena, Bits, cfg->nblocks);
    Bits *deleted = arena_array(w->arena, Bits, cfg->nblocks);
    Bits cleared = find_cleared(w);
    for (int32_t k = 0; k < cfg->nblocks; k++) {
        if (!cfg->blocks[k].reachable) continue;
        cfg->blocks[k].unbound = bits_new(w->arena, code->nlocals);
        assigned[k] = bits_new(w->arena, code->nlocals);
        deleted[k] = bits_new(w->arena, code->nlocals);
        block_effect(w, &cfg->blocks[k], &cleared, &assigned[k], &deleted[k]);
    }
    unbound_at_entry(code, &cfg->blocks[0].unbound);
    flow_unbound(w, assigned, deleted);
    return true;
}

bool bc_cfg(PyCfg *cfg, Arena *arena, const Decoded *decoded, DiagList *diags) {
    *cfg = (PyCfg){0};
    Work w = {cfg, arena, decoded, diags};
    if (decoded->insts.len == 0) return malformed(&w, NULL, "no instructions");
    find_blocks(&w);
    return find_reachable(&w) && find_unbound(&w);
}
