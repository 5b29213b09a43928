/* infer_unroll.c - loops over tuples whose items have types of their own.
 *
 * Such a loop is told by its `iter`, when inference meets it; then all begins again (Ti.again), with as many rounds of that loop in front of
 * it as the longest such tuple has items. In them the counter is a constant, so that each knows which item it has; the loop that
 * is left behind has nothing to do, and is found to be dead, unless the same code goes over longer tuples of one type elsewhere. */
#include "frontend/base/bits.h"
#include "typeinfer/infer.h"

enum { MOST_ROUNDS_OUT = 256, MOST_BLOCKS = 20000 };

typedef struct Unrolled {
    const void *code; /* its handle: the same each time that inference begins */
    Ref iter;         /* in the function with all before this one in the list unrolled */
    int32_t rounds;
} Unrolled;

struct Unrolls {
    Vec(Unrolled) list;
};

Unrolls *unrolls_new(Arena *arena) {
    return arena_new(arena, Unrolls);
}

static const void *code_of(const Infer *in) {
    return in->inst->info->code->handle;
}

/* Those behind it in the same function have other numbers then. */
static void forget_later(Unrolls *u, int32_t from, const void *code) {
    int32_t kept = from;
    for (int32_t i = from; i < u->list.len; i++)
        if (u->list.items[i].code != code) u->list.items[kept++] = u->list.items[i];
    u->list.len = kept;
}

bool unroll_knows(const Infer *in, Ref iter, int32_t rounds) {
    const Unrolls *u = in->ti->unrolls;
    for (int32_t i = 0; i < u->list.len; i++)
        if (u->list.items[i].code == code_of(in) && u->list.items[i].iter == iter)
            return u->list.items[i].rounds >= rounds;
    return false;
}

bool unroll_ask(Infer *in, Ref iter, int32_t rounds) {
    Unrolls *u = in->ti->unrolls;
    if (rounds > MOST_ROUNDS_OUT || in->emit || !code_of(in)) return false;
    int32_t at = 0;
    while (at < u->list.len &&
           (u->list.items[at].code != code_of(in) || u->list.items[at].iter != iter))
        at++;
    if (at < u->list.len) {
        u->list.items[at].rounds = QN_MAX(u->list.items[at].rounds, rounds);
        forget_later(u, at + 1, code_of(in));
    } else {
        vec_push(in->arena, &u->list, ((Unrolled){code_of(in), iter, rounds}));
    }
    in->ti->again = true;
    in->ti->aborted = true;
    in->stop = STOP_ABORT;
    return true;
}

void unroll_forget(Ti *ti, const void *code) {
    forget_later(ti->unrolls, 0, code);
}

bool unroll_any(const Ti *ti, const Instance *inst) {
    for (int32_t i = 0; i < ti->unrolls->list.len; i++)
        if (ti->unrolls->list.items[i].code == inst->info->code->handle) return true;
    return false;
}

/* -- of the untyped function -------------------------------------------------------------------------- */

static int32_t header_of(const Func *f, Ref iter) {
    for (Ref ref = 1; ref < f->insts.len; ref++) {
        const Inst *inst = ir_inst(f, ref);
        if (inst->op == OP_iter_more && ir_arg(f, ref, 0) == iter) return inst->block;
    }
    return NO_BLOCK;
}

static int32_t loop_at(const Cfg *cfg, int32_t header) {
    for (int32_t l = 0; l < cfg->loops.len; l++)
        if (cfg->loops.items[l].header == header) return l;
    return -1;
}

static void retarget(Func *f, int32_t from, int32_t old, int32_t to) {
    Inst *last = ir_inst(f, ir_terminator(f, from));
    last->target[last->target[0] != old] = to;
}

static int32_t count_phis(const Func *f, int32_t block) {
    const Block *b = &f->blocks.items[block];
    int32_t n = 0;
    while (n < b->insts.len && ir_inst(f, b->insts.items[n])->op == OP_phi)
        n++;
    return n;
}

/* An edge that leads to `old` leads to `to` instead; the phis there get the operands. */
static void redirect(Func *f, int32_t from, int32_t old, int32_t to, const Ref *operands) {
    ir_edge_remove(f, from, old);
    retarget(f, from, old, to);
    ir_edge_add(f, from, to);
    for (int32_t k = 0; k < count_phis(f, to); k++)
        ir_add_arg(f, f->blocks.items[to].insts.items[k], operands[k]);
}

/* -- which blocks a round has ---------------------------------------------------------------------------- */

/* Where control goes when there is no further item. */
static int32_t end_of(const Func *f, Ref iter) {
    for (Ref ref = 1; ref < f->insts.len; ref++) {
        const Inst *inst = ir_inst(f, ref);
        if (inst->op != OP_branch) continue;
        const Inst *test = ir_inst(f, ir_arg(f, ref, 0));
        if (test->op == OP_iter_more && ir_arg(f, ir_arg(f, ref, 0), 0) == iter)
            return inst->target[1];
    }
    return NO_BLOCK;
}

/* Blocks behind the end of the loop, as far as the header dominates them. */
static void mark_behind(Arena *arena, const Func *f, const Cfg *cfg, int32_t header, int32_t end,
                        Bits *behind) {
    Vec(int32_t) todo = {0};
    if (end == NO_BLOCK) return;
    vec_push(arena, &todo, end);
    while (todo.len) {
        int32_t block = vec_pop(&todo), next[3];
        if (block == header || bits_get(behind, block) || !cfg_dominates(cfg, header, block))
            continue;
        bits_set(behind, block);
        int n = ir_successors(f, block, next);
        for (int k = 0; k < n; k++)
            vec_push(arena, &todo, next[k]);
    }
}

/* The loop, and what only it leads to and what leads nowhere else: returns in it, and handlers that raise again. */
static int32_t *blocks_of_round(Arena *arena, const Func *f, const Cfg *cfg, int32_t loop,
                                int32_t end, int32_t *n) {
    const Loop *info = &cfg->loops.items[loop];
    Bits round = bits_new(arena, f->blocks.len), behind = bits_new(arena, f->blocks.len);
    Bits inside = bits_new(arena, f->blocks.len);
    for (int32_t i = 0; i < info->blocks.len; i++)
        bits_set(&inside, info->blocks.items[i]);
    mark_behind(arena, f, cfg, info->header, end, &behind);
    for (int32_t b = 0; b < f->blocks.len; b++)
        if (!f->blocks.items[b].removed && cfg_dominates(cfg, info->header, b) &&
            !bits_get(&behind, b))
            bits_set(&round, b);
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t b = 0; b < f->blocks.len; b++) {
            int32_t next[3];
            if (!bits_get(&round, b) || bits_get(&inside, b)) continue;
            int count = ir_successors(f, b, next);
            for (int k = 0; k < count && bits_get(&round, b); k++) {
                if (bits_get(&round, next[k])) continue;
                bits_clear(&round, b);
                changed = true;
            }
        }
    }
    int32_t *out = arena_array(arena, int32_t, f->blocks.len);
    *n = 0;
    for (int32_t b = 0; b < f->blocks.len; b++)
        if (bits_get(&round, b)) out[(*n)++] = b;
    return out;
}

/* The blocks of the loop once more, in front of it: what entered the loop enters them, and their ways back lead into it. */
static bool take_round(Func *f, Arena *arena, int32_t header, Ref iter) {
    Cfg cfg;
    cfg_compute(&cfg, arena, f);
    int32_t loop = loop_at(&cfg, header);
    if (loop < 0 || f->blocks.len > MOST_BLOCKS) return false;
    if (ir_make_loop_closed(f, &cfg, loop)) cfg_compute(&cfg, arena, f);
    if ((loop = loop_at(&cfg, header)) < 0) return false;
    int32_t nblocks, *blocks = blocks_of_round(arena, f, &cfg, loop, end_of(f, iter), &nblocks);
    Ref *ref_map = arena_array(arena, Ref, f->insts.len);
    int32_t *block_map = arena_array(arena, int32_t, f->blocks.len), nold = f->blocks.len;
    int32_t npreds = f->blocks.items[header].preds.len, nphis = count_phis(f, header);
    int32_t *preds =
        arena_copy(arena, f->blocks.items[header].preds.items, sizeof *preds * (size_t)npreds);
    Ref *operands = arena_array(arena, Ref, npreds * nphis + 1);
    for (int32_t p = 0; p < npreds; p++)
        for (int32_t k = 0; k < nphis; k++)
            operands[p * nphis + k] = ir_arg(f, f->blocks.items[header].insts.items[k], p);
    ir_clone_blocks(f, blocks, nblocks, ref_map, block_map);
    for (int32_t p = 0; p < npreds; p++) {
        bool inside = preds[p] < nold && block_map[preds[p]] != NO_BLOCK;
        Ref *given = arena_array(arena, Ref, nphis + 1);
        for (int32_t k = 0; k < nphis; k++) {
            Ref old = operands[p * nphis + k];
            given[k] = inside && ref_map[old] ? ref_map[old] : old;
        }
        if (inside)
            redirect(f, block_map[preds[p]], block_map[header], header, given);
        else
            redirect(f, preds[p], header, block_map[header], given);
    }
    return true;
}

/* What all operands of the phi are, but for itself; NO_REF: several values. */
static Ref only_operand(const Func *f, Ref phi) {
    Ref only = NO_REF;
    for (int32_t k = 0; k < ir_inst(f, phi)->nargs; k++) {
        Ref arg = ir_arg(f, phi, k);
        if (arg == phi || arg == only) continue;
        if (only) return NO_REF;
        only = arg;
    }
    return only;
}

/* Phis that are needed no more: a caught exception goes through none. */
static void remove_phis(Func *f, Arena *arena) {
    for (bool changed = true; changed;) {
        Ref *map = arena_array(arena, Ref, f->insts.len);
        changed = false;
        for (Ref ref = 1; ref < f->insts.len; ref++) {
            const Inst *inst = ir_inst(f, ref);
            Ref only = inst->op == OP_phi && inst->nargs ? only_operand(f, ref) : NO_REF;
            while (only && map[only])
                only = map[only];
            if (only && only != ref) map[ref] = only, changed = true;
        }
        if (!changed) return;
        ir_replace_many(f, map);
        for (Ref ref = 1; ref < f->insts.len; ref++)
            if (map[ref]) ir_remove(f, ref);
    }
}

void unroll_apply(Ti *ti, const Instance *inst, Func *f) {
    for (int32_t i = 0; i < ti->unrolls->list.len; i++) {
        const Unrolled *u = &ti->unrolls->list.items[i];
        if (u->code != inst->info->code->handle || u->iter >= f->insts.len) continue;
        int32_t header = header_of(f, u->iter);
        for (int32_t k = 0; header != NO_BLOCK && k < u->rounds; k++)
            if (!take_round(f, ti->arena, header, u->iter)) break;
        remove_phis(f, ti->arena);
    }
}
