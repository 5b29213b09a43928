/* refcount.c - places retain and release, on normal and on error edges.
 *
 * Arguments are borrowed for the call; `alloc` and a call's result bring one reference; views, items and
 * selections share their source's reference. A *root* is a value that owns one reference: an `alloc`, a
 * `call` result with arrays in it, or a phi that merges such values. The pass
 *   1. finds roots, and for every value with arrays the roots it draws on;
 *   2. computes where each root is live (a use of a derived value is a use of its roots);
 *   3. gives each return, and each operand of an owning phi, a reference of its own: moved from roots that
 *      die there and have the same owners (itself, what it is a view of, the items of a tuple), else
 *      retained. This is the pruning of pairs: a moved reference costs nothing;
 *   4. releases a root after its last use in a block, or at the start of a block it is not live into;
 *   5. ends the block of each raising instruction over which roots are live with an edge to a clean-up
 *      block (release them, propagate). One clean-up block serves all sites with the same live set.
 * Functions without roots, nearly all, only get their returns of arguments retained. */
#include "codegen/opt/pass.h"

typedef struct RootSet {
    Bits bits; /* roots a value draws on */
} RootSet;

typedef struct Refcount {
    PassContext *ctx;
    Func *func;
    Arena *arena;
    Vec(Ref) roots;
    int32_t *root_of;         /* by ref: index into roots, -1 */
    Bits *draws;              /* by ref: roots drawn on; words == NULL: none */
    Bits *live_in, *live_out; /* by block */
    int32_t nrefs, nblocks;
} Refcount;

static bool has_array(const Type *type) {
    if (!type) return false;
    if (type->kind == TY_ARRAY) return type->space == SPACE_GLOBAL;
    if (type->kind == TY_TUPLE)
        for (int32_t i = 0; i < type->nitems; i++)
            if (has_array(type->items[i])) return true;
    return false;
}

static bool brings_reference(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (!has_array(inst->type)) return false;
    return inst->op == OP_alloc || inst->op == OP_call || inst->op == OP_lib;
}

/* -- 1. roots ------------------------------------------------------------------------------------------ */

static void add_root(Refcount *rc, Ref ref) {
    rc->root_of[ref] = rc->roots.len;
    vec_push(rc->arena, &rc->roots, ref);
}

/* Is an operand with arrays a root, or derived from one? */
static bool derived(const Refcount *rc, const Bits *known, Ref ref) {
    for (int32_t k = 0; k < ir_inst(rc->func, ref)->nargs; k++)
        if (bits_get(known, ir_arg(rc->func, ref, k))) return true;
    return false;
}

#define FOR_EACH_INST(rc, ref)                                                                     \
    for (int32_t b_ = 0; b_ < (rc)->nblocks; b_++)                                                 \
        for (int32_t i_ = 0, n_ = (rc)->func->blocks.items[b_].insts.len; i_ < n_; i_++)           \
            if (((ref) = (rc)->func->blocks.items[b_].insts.items[i_]), true)

static void find_roots(Refcount *rc) {
    Ref ref;
    Bits known = bits_new(rc->arena, rc->nrefs); /* roots, and what is derived from them */
    FOR_EACH_INST(rc, ref)
    if (brings_reference(rc->func, ref)) add_root(rc, ref), bits_set(&known, ref);
    for (bool changed = rc->roots.len > 0; changed;) {
        changed = false;
        FOR_EACH_INST(rc, ref) {
            const Inst *inst = ir_inst(rc->func, ref);
            if (bits_get(&known, ref) || !has_array(inst->type) || !derived(rc, &known, ref))
                continue;
            if (inst->op == OP_phi) add_root(rc, ref);
            bits_set(&known, ref);
            changed = true;
        }
    }
}

/* draws[ref]: computed in any order until nothing changes (derivation chains are short). */
static void find_draws(Refcount *rc) {
    Ref ref;
    for (bool changed = true; changed;) {
        changed = false;
        FOR_EACH_INST(rc, ref) {
            const Inst *inst = ir_inst(rc->func, ref);
            if (!has_array(inst->type)) continue;
            if (!rc->draws[ref].words) {
                rc->draws[ref] = bits_new(rc->arena, rc->roots.len);
                if (rc->root_of[ref] >= 0) bits_set(&rc->draws[ref], rc->root_of[ref]);
                changed = true;
            }
            if (rc->root_of[ref] >= 0 || inst->op == OP_phi) continue;
            for (int32_t k = 0; k < inst->nargs; k++) {
                Ref arg = ir_arg(rc->func, ref, k);
                if (rc->draws[arg].words) changed |= bits_or(&rc->draws[ref], &rc->draws[arg]);
            }
        }
    }
}

/* -- 2. liveness of roots ------------------------------------------------------------------------------- */

static void use(const Refcount *rc, Bits *live, Ref arg) {
    if (rc->draws[arg].words) bits_or(live, &rc->draws[arg]);
}

/* Backwards over one block: live at its end -> live at its start. Phi operands count at the end of the
 * predecessor: see edge_live. */
static void transfer_block(const Refcount *rc, int32_t b, Bits *live) {
    const Block *block = &rc->func->blocks.items[b];
    for (int32_t i = block->insts.len - 1; i >= 0; i--) {
        Ref ref = block->insts.items[i];
        if (rc->root_of[ref] >= 0) bits_clear(live, rc->root_of[ref]);
        if (ir_inst(rc->func, ref)->op == OP_phi) continue;
        for (int32_t k = 0; k < ir_inst(rc->func, ref)->nargs; k++)
            use(rc, live, ir_arg(rc->func, ref, k));
    }
}

/* What is live on the edge `b` -> `successor`: what the successor needs, and the operands of its phis. */
static void edge_live(const Refcount *rc, int32_t b, int32_t successor, Bits *live) {
    const Block *block = &rc->func->blocks.items[successor];
    bits_or(live, &rc->live_in[successor]);
    for (int32_t i = 0; i < block->insts.len; i++) {
        Ref phi = block->insts.items[i];
        if (ir_inst(rc->func, phi)->op != OP_phi) break;
        for (int32_t k = 0; k < block->preds.len; k++)
            if (block->preds.items[k] == b) use(rc, live, ir_arg(rc->func, phi, k));
    }
}

static void compute_liveness(Refcount *rc) {
    for (int32_t b = 0; b < rc->nblocks; b++) {
        rc->live_in[b] = bits_new(rc->arena, rc->roots.len);
        rc->live_out[b] = bits_new(rc->arena, rc->roots.len);
    }
    Bits live = bits_new(rc->arena, rc->roots.len);
    size_t bytes = sizeof(uint64_t) * (size_t)((rc->roots.len + 63) / 64);
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t b = rc->nblocks - 1; b >= 0; b--) {
            if (rc->func->blocks.items[b].removed) continue;
            int32_t succ[3];
            int n = ir_successors(rc->func, b, succ);
            for (int s = 0; s < n; s++)
                edge_live(rc, b, succ[s], &rc->live_out[b]);
            memcpy(live.words, rc->live_out[b].words, bytes);
            transfer_block(rc, b, &live);
            changed |= bits_or(&rc->live_in[b], &live);
        }
    }
}

/* -- 3. to 5. edits -------------------------------------------------------------------------------------- */

static Bits copy_bits(const Refcount *rc, const Bits *from) {
    Bits copy = bits_new(rc->arena, rc->roots.len);
    bits_or(&copy, from);
    return copy;
}

static Ref insert_count(Refcount *rc, int32_t block, int32_t at, Op op, Ref value, int32_t span) {
    Ref ref = ir_insert(rc->func, block, at, op, &value, 1);
    ir_inst(rc->func, ref)->span = span;
    return ref;
}

static int32_t count_arrays(const Type *type) {
    int32_t n = type->kind == TY_ARRAY && has_array(type);
    for (int32_t i = 0; type->kind == TY_TUPLE && i < type->nitems; i++)
        n += count_arrays(type->items[i]);
    return n;
}

/* What `ref` is another shape of: the one operand with arrays, if it has as many as the result. Views share
 * the owner of their source, tuples and items those of their parts, so the owners are the same then. */
static Ref same_owners(const Refcount *rc, Ref ref) {
    const Inst *inst = ir_inst(rc->func, ref);
    Ref only = NO_REF;
    switch ((int)inst->op) {
    case OP_view:
    case OP_reshape:
    case OP_restride:
    case OP_transpose:
    case OP_tuple:
    case OP_item: break;
    default: return NO_REF;
    }
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(rc->func, ref, k);
        if (!has_array(ir_type(rc->func, arg))) continue;
        if (only) return NO_REF;
        only = arg;
    }
    return only && count_arrays(ir_type(rc->func, only)) == count_arrays(inst->type) ? only
                                                                                     : NO_REF;
}

/* Can `ref` take over the references of roots, one for each of its arrays? They are added to `moved`, which
 * holds those that are taken already, together with the ones in `kept` that are needed further on. */
static bool take_over(const Refcount *rc, Ref ref, const Bits *kept, Bits *moved) {
    Ref source = ref;
    while (source && source < rc->nrefs && rc->root_of[source] < 0)
        source = same_owners(rc, source);
    if (source && source < rc->nrefs) {
        int32_t root = rc->root_of[source];
        if (bits_get(moved, root) || (kept && bits_get(kept, root))) return false;
        bits_set(moved, root);
        return true;
    }
    if (ref >= rc->nrefs || ir_inst(rc->func, ref)->op != OP_tuple) return false;
    for (int32_t k = 0; k < ir_inst(rc->func, ref)->nargs; k++) {
        Ref part = ir_arg(rc->func, ref, k);
        if (has_array(ir_type(rc->func, part)) && !take_over(rc, part, kept, moved)) return false;
    }
    return true;
}

/* Roots live before `ref` (position `at` of its block), given those live after it. */
static void step_back(const Refcount *rc, Ref ref, Bits *live) {
    if (rc->root_of[ref] >= 0) bits_clear(live, rc->root_of[ref]);
    if (ir_inst(rc->func, ref)->op == OP_phi) return;
    for (int32_t k = 0; k < ir_inst(rc->func, ref)->nargs; k++)
        use(rc, live, ir_arg(rc->func, ref, k));
}

typedef struct Release {
    int32_t at; /* insert before this position */
    int32_t root;
} Release;

typedef struct CleanUp {
    Ref after;  /* the raising instruction */
    Bits roots; /* to release when it raises */
} CleanUp;

typedef struct Edits {
    Vec(Release) releases; /* of one block, positions descending */
    Vec(CleanUp) cleanups; /* of the function */
} Edits;

/* A raising instruction leaves the function while these roots are owned: all that are live before it (its
 * own operands too), except what it defines itself. */
static void note_cleanup(Refcount *rc, Edits *edits, Ref ref, const Bits *before) {
    const Inst *inst = ir_inst(rc->func, ref);
    if (!(ir_op_info[inst->op].flags & OPF_RAISES) || inst->error != NO_BLOCK) return;
    bool any = false;
    for (int32_t w = 0; w < (rc->roots.len + 63) / 64; w++)
        any |= before->words[w] != 0;
    if (!any) return;
    CleanUp cleanup = {ref, copy_bits(rc, before)};
    vec_push(rc->arena, &edits->cleanups, cleanup);
}

/* A return: the value needs a reference. A root that dies here gives its own. */
static void return_value(Refcount *rc, Ref ref, int32_t at, Edits *edits, Bits *live) {
    Ref value = ir_arg(rc->func, ref, 0);
    Bits after = copy_bits(rc, live);
    step_back(rc, ref, live);
    if (!has_array(ir_type(rc->func, value))) return;
    Bits moved = bits_new(rc->arena, rc->roots.len), none = bits_new(rc->arena, rc->roots.len);
    bool moves = take_over(rc, value, NULL, &moved);
    if (!moves) moved = none;
    for (int32_t r = 0; r < rc->roots.len; r++)
        if (bits_get(live, r) && !bits_get(&after, r) && !bits_get(&moved, r)) {
            Release release = {at, r};
            vec_push(rc->arena, &edits->releases, release);
        }
    if (!moves) {
        Release retain = {at, -1 - value};
        vec_push(rc->arena, &edits->releases, retain); /* in front of the releases: see apply */
    }
}

/* One block, backwards: after its last use a root is released. */
static void scan_block(Refcount *rc, int32_t b, Edits *edits) {
    const Block *block = &rc->func->blocks.items[b];
    Bits live = copy_bits(rc, &rc->live_out[b]);
    edits->releases.len = 0;
    for (int32_t i = block->insts.len - 1; i >= 0; i--) {
        Ref ref = block->insts.items[i];
        const Inst *inst = ir_inst(rc->func, ref);
        if (inst->op == OP_phi) break;
        if (inst->op == OP_return) {
            return_value(rc, ref, i, edits, &live);
            continue;
        }
        Bits after = copy_bits(rc, &live);
        int32_t own = rc->root_of[ref];
        if (own >= 0 && !bits_get(&after, own)) { /* a result nobody uses */
            Release release = {i + 1, own};
            vec_push(rc->arena, &edits->releases, release);
        }
        step_back(rc, ref, &live);
        for (int32_t r = 0; r < rc->roots.len; r++)
            if (bits_get(&live, r) && !bits_get(&after, r) && r != own) {
                Release release = {i + 1, r};
                vec_push(rc->arena, &edits->releases, release);
            }
        note_cleanup(rc, edits, ref, &live);
    }
    for (int32_t i = 0; i < block->insts.len; i++) { /* phis nobody uses */
        Ref phi = block->insts.items[i];
        if (ir_inst(rc->func, phi)->op != OP_phi) {
            for (int32_t k = 0; k < i; k++) {
                int32_t r = rc->root_of[block->insts.items[k]];
                Release release = {i, r};
                if (r >= 0 && !bits_get(&live, r)) vec_push(rc->arena, &edits->releases, release);
            }
            break;
        }
    }
}

/* Positions were collected descending, so inserting does not disturb the ones to come. What comes later in
 * the list goes in front of what stands at the same position: a return's retain before its releases. */
static void apply_releases(Refcount *rc, int32_t b, const Edits *edits) {
    for (int32_t i = 0; i < edits->releases.len; i++) {
        Release r = edits->releases.items[i];
        if (r.root >= 0)
            insert_count(rc, b, r.at, OP_release, rc->roots.items[r.root], 0);
        else
            insert_count(rc, b, r.at, OP_retain, -1 - r.root, 0);
    }
}

/* -- edges: phi operands get their reference, dying roots lose theirs ------------------------------------ */

typedef struct EdgeEdit {
    Vec(Ref) retains;
    Vec(Ref) releases;
} EdgeEdit;

/* What raises on the edge from -> to has no value there. NO_REF: it is no error edge. */
static Ref raising_on(const Refcount *rc, int32_t from, int32_t to) {
    const Block *block = &rc->func->blocks.items[from];
    for (int32_t i = QN_MAX(block->insts.len - 2, 0); i < block->insts.len; i++)
        if (ir_inst(rc->func, block->insts.items[i])->error == to) return block->insts.items[i];
    return NO_REF;
}

static void scan_edge(Refcount *rc, int32_t from, int32_t pred_index, int32_t to, EdgeEdit *edit) {
    const Block *block = &rc->func->blocks.items[to];
    Ref raising = raising_on(rc, from, to);
    Bits moved = bits_new(rc->arena, rc->roots.len);
    for (int32_t i = 0; i < block->insts.len; i++) {
        Ref phi = block->insts.items[i];
        if (ir_inst(rc->func, phi)->op != OP_phi) break;
        if (rc->root_of[phi] < 0) continue;
        Ref operand = ir_arg(rc->func, phi, pred_index);
        Bits with = copy_bits(rc, &moved);
        if (take_over(rc, operand, &rc->live_in[to], &with))
            moved = with;
        else
            vec_push(rc->arena, &edit->retains, operand);
    }
    for (int32_t r = 0; r < rc->roots.len; r++)
        if (bits_get(&rc->live_out[from], r) && !bits_get(&rc->live_in[to], r) &&
            !bits_get(&moved, r) && rc->roots.items[r] != raising)
            vec_push(rc->arena, &edit->releases, rc->roots.items[r]);
}

/* On the edge: in `from` if that is its only way out, in `to` if that is its only way in, else split. */
static void apply_edge(Refcount *rc, int32_t from, int32_t to, const EdgeEdit *edit) {
    int32_t succ[3], block, at;
    if (!edit->retains.len && !edit->releases.len) return;
    if (ir_successors(rc->func, from, succ) == 1) {
        block = from;
        at = rc->func->blocks.items[from].insts.len - 1;
    } else {
        block = ir_edge_split(rc->func, from, to);
        at = 0;
    }
    for (int32_t i = 0; i < edit->retains.len; i++)
        insert_count(rc, block, at++, OP_retain, edit->retains.items[i], 0);
    for (int32_t i = 0; i < edit->releases.len; i++)
        insert_count(rc, block, at++, OP_release, edit->releases.items[i], 0);
}

static void edit_edges(Refcount *rc) {
    for (int32_t to = 0; to < rc->nblocks; to++) {
        if (rc->func->blocks.items[to].removed) continue;
        int32_t npreds = rc->func->blocks.items[to].preds.len;
        int32_t *preds = arena_copy(rc->arena, rc->func->blocks.items[to].preds.items,
                                    sizeof(int32_t) * (size_t)npreds);
        EdgeEdit *edits = arena_array(rc->arena, EdgeEdit, npreds);
        for (int32_t k = 0; k < npreds; k++)
            scan_edge(rc, preds[k], k, to, &edits[k]);
        for (int32_t k = 0; k < npreds; k++)
            apply_edge(rc, preds[k], to, &edits[k]);
    }
}

/* -- clean-up blocks --------------------------------------------------------------------------------------- */

static bool same_bits(const Bits *a, const Bits *b) {
    return !memcmp(a->words, b->words, sizeof(uint64_t) * (size_t)((a->n + 63) / 64));
}

static void attach_cleanup(Refcount *rc, Ref ref, int32_t cleanup) {
    Inst *inst = ir_inst(rc->func, ref);
    int32_t block = inst->block;
    if (!(ir_op_info[inst->op].flags & OPF_TERM))
        opt_split_block(rc->func, block, opt_position(rc->func, ref) + 1);
    ir_inst(rc->func, ref)->error = cleanup;
    ir_edge_add(rc->func, block, cleanup);
}

static void make_cleanups(Refcount *rc, const Edits *edits) {
    int32_t *block_of = arena_array(rc->arena, int32_t, edits->cleanups.len);
    for (int32_t i = 0; i < edits->cleanups.len; i++) {
        const CleanUp *site = &edits->cleanups.items[i];
        block_of[i] = NO_BLOCK;
        for (int32_t k = 0; k < i && block_of[i] == NO_BLOCK; k++)
            if (same_bits(&edits->cleanups.items[k].roots, &site->roots)) block_of[i] = block_of[k];
        if (block_of[i] == NO_BLOCK) {
            Builder b = {
                .func = rc->func, .block = ir_block_new(rc->func), .at = -1, .error = NO_BLOCK};
            for (int32_t r = 0; r < rc->roots.len; r++)
                if (bits_get(&site->roots, r)) b_op1(&b, OP_release, NULL, rc->roots.items[r]);
            b_inst(&b, OP_propagate, NULL, NULL, 0);
            block_of[i] = b.block;
        }
        attach_cleanup(rc, site->after, block_of[i]);
    }
}

void opt_refcount(PassContext *ctx, Func *func) {
    if (!target_is_host(ctx->options->infer.target) || ctx->options->entry == ENTRY_KERNEL) return;
    cfg_remove_unreachable(func);
    Refcount rc = {.ctx = ctx,
                   .func = func,
                   .arena = ctx->arena,
                   .nrefs = func->insts.len,
                   .nblocks = func->blocks.len};
    rc.root_of = arena_array(ctx->arena, int32_t, rc.nrefs);
    rc.draws = arena_array(ctx->arena, Bits, rc.nrefs);
    for (int32_t i = 0; i < rc.nrefs; i++)
        rc.root_of[i] = -1;
    find_roots(&rc);
    find_draws(&rc);
    rc.live_in = arena_array(ctx->arena, Bits, rc.nblocks);
    rc.live_out = arena_array(ctx->arena, Bits, rc.nblocks);
    compute_liveness(&rc);
    Edits edits = {0};
    for (int32_t b = 0; b < rc.nblocks; b++) {
        if (func->blocks.items[b].removed) continue;
        scan_block(&rc, b, &edits);
        apply_releases(&rc, b, &edits);
    }
    edit_edges(&rc);
    make_cleanups(&rc, &edits);
}
