/* ir_cfg.c - order, dominators and loops of a function.
 *
 * Everything is iterative: generated and hostile code has functions of ten thousand blocks in a row.
 * Dominators are Cooper, Harvey and Kennedy's ("A Simple, Fast Dominance Algorithm"). A loop is natural:
 * an edge to a block that dominates its source. Loops with one header are one loop. */
#include "frontend/ir/ir.h"

/* -- reverse postorder ----------------------------------------------------------------------- */

static void number_blocks(Cfg *cfg, Arena *arena, const Func *func) {
    int32_t *stack = arena_array(arena, int32_t, cfg->n + 1);
    uint8_t *next = arena_array(arena, uint8_t, cfg->n); /* successors already taken, plus one */
    int32_t depth = 0, left = cfg->n;
    if (cfg->n > 0 && !func->blocks.items[0].removed) stack[depth++] = 0, next[0] = 1;
    while (depth > 0) {
        int32_t block = stack[depth - 1], out[3];
        int n = ir_successors(func, block, out);
        if (next[block] > n) {
            cfg->rpo[--left] = block;
            depth--;
            continue;
        }
        int32_t to = out[next[block]++ - 1];
        if (to >= 0 && to < cfg->n && next[to] == 0) stack[depth++] = to, next[to] = 1;
    }
    cfg->nrpo = cfg->n - left;
    memmove(cfg->rpo, cfg->rpo + left, sizeof *cfg->rpo * (size_t)cfg->nrpo);
    for (int32_t i = 0; i < cfg->n; i++)
        cfg->rpo_number[i] = -1;
    for (int32_t i = 0; i < cfg->nrpo; i++)
        cfg->rpo_number[cfg->rpo[i]] = i;
}

/* -- dominators ------------------------------------------------------------------------------ */

static int32_t common_dominator(const Cfg *cfg, int32_t a, int32_t b) {
    while (a != b) {
        while (cfg->rpo_number[a] > cfg->rpo_number[b])
            a = cfg->idom[a];
        while (cfg->rpo_number[b] > cfg->rpo_number[a])
            b = cfg->idom[b];
    }
    return a;
}

static void find_dominators(Cfg *cfg, const Func *func) {
    for (int32_t i = 0; i < cfg->n; i++)
        cfg->idom[i] = NO_BLOCK;
    if (cfg->nrpo == 0) return;
    cfg->idom[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 1; i < cfg->nrpo; i++) {
            int32_t block = cfg->rpo[i], idom = NO_BLOCK;
            const Block *b = &func->blocks.items[block];
            for (int32_t k = 0; k < b->preds.len; k++) {
                int32_t pred = b->preds.items[k];
                if (cfg->rpo_number[pred] < 0 || cfg->idom[pred] == NO_BLOCK) continue;
                idom = idom == NO_BLOCK ? pred : common_dominator(cfg, pred, idom);
            }
            changed |= cfg->idom[block] != idom;
            cfg->idom[block] = idom;
        }
    }
    cfg->idom[0] = NO_BLOCK;
}

/* Numbers the dominator tree without walking it: sizes of subtrees first (children stand behind their
 * dominator in rpo), then each block takes its range from what its dominator has left. */
static void number_dominators(Cfg *cfg, Arena *arena) {
    int32_t *size = arena_array(arena, int32_t, cfg->n);
    int32_t *used = arena_array(arena, int32_t, cfg->n);
    for (int32_t i = cfg->nrpo - 1; i >= 0; i--) {
        int32_t block = cfg->rpo[i];
        size[block]++;
        if (cfg->idom[block] != NO_BLOCK) size[cfg->idom[block]] += size[block];
    }
    for (int32_t i = 0; i < cfg->nrpo; i++) {
        int32_t block = cfg->rpo[i], idom = cfg->idom[block];
        int32_t in = idom == NO_BLOCK ? 0 : cfg->dom_in[idom] + 1 + used[idom];
        if (idom != NO_BLOCK) used[idom] += size[block];
        cfg->dom_in[block] = in;
        cfg->dom_out[block] = in + size[block] - 1;
    }
}

bool cfg_dominates(const Cfg *cfg, int32_t a, int32_t b) {
    if (cfg->rpo_number[a] < 0 || cfg->rpo_number[b] < 0) return false;
    return cfg->dom_in[a] <= cfg->dom_in[b] && cfg->dom_out[b] <= cfg->dom_out[a];
}

/* -- loops ----------------------------------------------------------------------------------- */

typedef struct LoopFinder {
    Cfg *cfg;
    Arena *arena;
    const Func *func;
    int32_t *mark; /* the loop that took a block last, plus one */
    int32_t *stack;
} LoopFinder;

static int compare_rpo(const Cfg *cfg, int32_t a, int32_t b) {
    return cfg->rpo_number[a] < cfg->rpo_number[b] ? -1 : 1;
}

/* Header first and then in reverse postorder: the order of a dump must not depend on the search. */
static void sort_blocks(const Cfg *cfg, int32_t *blocks, int32_t *spare, int32_t n) {
    for (int32_t width = 1; width < n;
         width *= 2) { /* merge sort: recursion-free, no comparison context */
        for (int32_t from = 0; from < n; from += 2 * width) {
            int32_t middle = QN_MIN(from + width, n), end = QN_MIN(from + 2 * width, n);
            for (int32_t i = from, j = middle, k = from; k < end; k++)
                spare[k] = j >= end || (i < middle && compare_rpo(cfg, blocks[i], blocks[j]) < 0)
                               ? blocks[i++]
                               : blocks[j++];
        }
        memcpy(blocks, spare, sizeof *blocks * (size_t)n);
    }
}

/* Everything that reaches a latch without passing the header. */
static void collect_blocks(LoopFinder *f, Loop *loop, int32_t index) {
    int32_t depth = 0;
    f->mark[loop->header] = index + 1;
    vec_push(f->arena, &loop->blocks, loop->header);
    const Block *header = &f->func->blocks.items[loop->header];
    for (int32_t k = 0; k < header->preds.len; k++) {
        int32_t pred = header->preds.items[k];
        if (f->mark[pred] != index + 1 && cfg_dominates(f->cfg, loop->header, pred))
            f->mark[pred] = index + 1, f->stack[depth++] = pred;
    }
    while (depth > 0) {
        int32_t block = f->stack[--depth];
        vec_push(f->arena, &loop->blocks, block);
        const Block *b = &f->func->blocks.items[block];
        for (int32_t k = 0; k < b->preds.len; k++) {
            int32_t pred = b->preds.items[k];
            if (f->cfg->rpo_number[pred] < 0 || f->mark[pred] == index + 1) continue;
            f->mark[pred] = index + 1;
            f->stack[depth++] = pred;
        }
    }
    sort_blocks(f->cfg, loop->blocks.items, f->stack, loop->blocks.len);
}

/* The only predecessor from outside, when the header is its only successor. */
static int32_t find_preheader(const LoopFinder *f, int32_t header) {
    const Block *b = &f->func->blocks.items[header];
    int32_t found = NO_BLOCK, out[3];
    for (int32_t k = 0; k < b->preds.len; k++) {
        int32_t pred = b->preds.items[k];
        if (f->cfg->rpo_number[pred] < 0 || cfg_dominates(f->cfg, header, pred)) continue;
        if (found != NO_BLOCK) return NO_BLOCK;
        found = pred;
    }
    if (found == NO_BLOCK || ir_successors(f->func, found, out) != 1) return NO_BLOCK;
    return found;
}

static void add_loop(LoopFinder *f, int32_t header, int32_t latch) {
    Cfg *cfg = f->cfg;
    int32_t index = cfg->loops.len;
    Loop loop = {.header = header, .latch = latch, .parent = cfg->loop_of[header]};
    loop.depth = loop.parent < 0 ? 1 : cfg->loops.items[loop.parent].depth + 1;
    loop.preheader = find_preheader(f, header);
    collect_blocks(f, &loop, index);
    for (int32_t i = 0; i < loop.blocks.len; i++)
        cfg->loop_of[loop.blocks.items[i]] = index;
    vec_push(f->arena, &cfg->loops, loop);
}

/* Headers in reverse postorder: an outer header comes before the inner ones it dominates. */
static void find_loops(Cfg *cfg, Arena *arena, const Func *func) {
    LoopFinder f = {cfg, arena, func, arena_array(arena, int32_t, cfg->n),
                    arena_array(arena, int32_t, cfg->n + 1)};
    for (int32_t i = 0; i < cfg->n; i++)
        cfg->loop_of[i] = -1;
    for (int32_t i = 0; i < cfg->nrpo; i++) {
        int32_t header = cfg->rpo[i], latch = NO_BLOCK;
        const Block *b = &func->blocks.items[header];
        int nlatches = 0;
        for (int32_t k = 0; k < b->preds.len; k++) {
            int32_t pred = b->preds.items[k];
            if (cfg->rpo_number[pred] < i) continue; /* forward edge, or unreachable */
            if (cfg_dominates(cfg, header, pred))
                latch = pred, nlatches++;
            else
                cfg->irreducible = true;
        }
        if (nlatches) add_loop(&f, header, nlatches == 1 ? latch : NO_BLOCK);
    }
}

void cfg_compute(Cfg *cfg, Arena *arena, const Func *func) {
    int32_t n = func->blocks.len;
    *cfg = (Cfg){.n = n};
    cfg->rpo = arena_array(arena, int32_t, n);
    cfg->rpo_number = arena_array(arena, int32_t, n);
    cfg->idom = arena_array(arena, int32_t, n);
    cfg->loop_of = arena_array(arena, int32_t, n);
    cfg->dom_in = arena_array(arena, int32_t, n);
    cfg->dom_out = arena_array(arena, int32_t, n);
    number_blocks(cfg, arena, func);
    find_dominators(cfg, func);
    number_dominators(cfg, arena);
    find_loops(cfg, arena, func);
}

/* -- where values are available -------------------------------------------------------------- */

int32_t cfg_def_block(const Cfg *cfg, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->error == NO_BLOCK) return inst->block;
    Ref jump = ir_terminator(func, inst->block);
    int32_t to = jump == NO_REF || jump == ref ? NO_BLOCK : ir_inst(func, jump)->target[0];
    if (to == NO_BLOCK || to == inst->error) return NO_BLOCK;
    /* The edge to `to` is what defines the value: all other ways in must come from below. */
    const Block *b = &func->blocks.items[to];
    for (int32_t k = 0; k < b->preds.len; k++) {
        int32_t pred = b->preds.items[k];
        if (pred == inst->block || cfg->rpo_number[pred] < 0) continue;
        if (!cfg_dominates(cfg, to, pred)) return NO_BLOCK;
    }
    return to;
}

bool cfg_available(const Cfg *cfg, const Func *func, Ref ref, int32_t block) {
    int32_t def = cfg_def_block(cfg, func, ref);
    return def != NO_BLOCK && cfg_dominates(cfg, def, block);
}

bool cfg_available_on_edge(const Cfg *cfg, const Func *func, Ref ref, int32_t from, int32_t to) {
    const Inst *inst = ir_inst(func, ref);
    if (inst->error != NO_BLOCK && inst->block == from)
        return to != inst->error && cfg->rpo_number[from] >= 0;
    return cfg_available(cfg, func, ref, from);
}

/* -- edits ----------------------------------------------------------------------------------- */

void cfg_remove_unreachable(Func *func) {
    Arena *arena = func->module->arena;
    ArenaMark mark = arena_mark(arena);
    Cfg cfg = {.n = func->blocks.len};
    cfg.rpo = arena_array(arena, int32_t, cfg.n);
    cfg.rpo_number = arena_array(arena, int32_t, cfg.n);
    number_blocks(&cfg, arena, func);
    for (int32_t block = 0; block < cfg.n; block++) {
        Block *b = &func->blocks.items[block];
        if (b->removed || cfg.rpo_number[block] >= 0) continue;
        int32_t out[3];
        int n = ir_successors(func, block, out);
        for (int i = 0; i < n; i++)
            if (cfg.rpo_number[out[i]] >= 0) ir_edge_remove(func, block, out[i]);
    }
    for (int32_t block = 0; block < cfg.n; block++) {
        Block *b = &func->blocks.items[block];
        if (b->removed || cfg.rpo_number[block] >= 0) continue;
        for (int32_t i = 0; i < b->insts.len; i++)
            *ir_inst(func, b->insts.items[i]) =
                (Inst){.op = OP_removed, .block = NO_BLOCK, .error = NO_BLOCK};
        b->insts.len = b->preds.len = 0;
        b->removed = true;
    }
    arena_release(arena, mark); /* nothing above allocates for the function */
}
