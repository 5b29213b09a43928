/* refcount.c - places retain and release, on normal and on error edges.
 *
 * Arguments are borrowed for the call; ops that OWN their result (ir_ops.def) bring one reference; views, items and
 * selections share their source's reference. A *root* is a value that owns one reference: the result of such an op, or a
 * phi that merges such values. What is LOADed from a field or a buffer shares the reference that lies there, as long as nothing
 * DROPS it: a value that is needed beyond that gets a reference of its own, and is a root. The pass
 *   1. finds roots, and for every value with references the roots it draws on;
 *   2. computes where each root is live (a use of a derived value is a use of its roots);
 *   3. gives each operand that an op takes, returns among them, and each operand of an owning phi, a reference of its own: moved
 *      from roots that die there and have the same owners (itself, what it is a view of, the items of a tuple), else
 *      retained. This is the pruning of pairs: a moved reference costs nothing;
 *   4. releases a root after its last use in a block, or at the start of a block it is not live into;
 *   5. ends the block of each raising instruction over which roots are live with an edge to a clean-up
 *      block (release them, propagate). One clean-up block serves all sites with the same live set, and
 *      goes on with that of one root less where there is one.
 * Functions without roots, nearly all, only get their returns of arguments retained. */
#include "codegen/opt/pass.h"

/* A reference that an instruction with an error successor takes when it does not raise: made on the other edge. */
typedef struct EdgeGift {
    int32_t block;
    Ref value;
} EdgeGift;

typedef struct Refcount {
    PassContext *ctx;
    Func *func;
    Arena *arena;
    Vec(Ref) roots;
    int32_t *root_of;         /* by ref: index into roots, -1 */
    Bits *draws;              /* by ref: roots drawn on; words == NULL: none */
    Bits *live_in, *live_out; /* by block */
    Bits kept; /* by ref: loads, and phis of them, that get a reference of their own */
    Vec(EdgeGift) edge_gifts;
    Map callees; /* Func -> may it drop references that lie in memory? 1 no, 2 yes */
    int32_t nrefs, nblocks;
    int32_t nfirm; /* roots from here on are only looked at: may they go without a reference? */
} Refcount;

static bool counted(const Type *type) {
    return type && type->counted;
}

static bool brings_reference(const Refcount *rc, Ref ref) {
    const Inst *inst = ir_inst(rc->func, ref);
    bool holds = inst->op == OP_static_array && counted(inst->type->element);
    return counted(inst->type) &&
           (holds || ir_op_info[inst->op].owns == OP_OWNS || bits_get(&rc->kept, ref));
}

/* -- 1. roots ------------------------------------------------------------------------------------------ */

static void add_root(Refcount *rc, Ref ref) {
    rc->root_of[ref] = rc->roots.len;
    vec_push(rc->arena, &rc->roots, ref);
}

/* Is an operand with references a root, or derived from one? */
static bool derived(const Refcount *rc, const Bits *known, Ref ref) {
    for (int32_t k = 0; k < ir_inst(rc->func, ref)->nargs; k++)
        if (bits_get(known, ir_arg(rc->func, ref, k))) return true;
    return false;
}

#define FOR_EACH_INST(rc, ref)                                                                     \
    for (int32_t b_ = 0; b_ < (rc)->nblocks; b_++)                                                 \
        for (int32_t i_ = 0, n_ = (rc)->func->blocks.items[b_].insts.len; i_ < n_; i_++)           \
            if (((ref) = (rc)->func->blocks.items[b_].insts.items[i_]), true)

/* Adds what is derived from known values to them, and its phis to the roots. */
static void find_derived(Refcount *rc, Bits *known) {
    Ref ref;
    for (bool changed = rc->roots.len > 0; changed;) {
        changed = false;
        FOR_EACH_INST(rc, ref) {
            const Inst *inst = ir_inst(rc->func, ref);
            if (bits_get(known, ref) || !counted(inst->type) || !derived(rc, known, ref)) continue;
            if (inst->op == OP_phi) add_root(rc, ref);
            bits_set(known, ref);
            changed = true;
        }
    }
}

/* Those that own a reference, and, on request, the loads (and phis of nothing else) that may have to. */
static void find_roots(Refcount *rc, bool with_loads) {
    Ref ref;
    Bits known = bits_new(rc->arena, rc->nrefs); /* roots, and what is derived from them */
    rc->roots.len = 0;
    for (int32_t i = 0; i < rc->nrefs; i++)
        rc->root_of[i] = -1;
    FOR_EACH_INST(rc, ref)
    if (brings_reference(rc, ref)) add_root(rc, ref), bits_set(&known, ref);
    find_derived(rc, &known);
    rc->nfirm = rc->roots.len;
    if (!with_loads) return;
    FOR_EACH_INST(rc, ref) {
        const Inst *inst = ir_inst(rc->func, ref);
        if (rc->root_of[ref] >= 0 || !counted(inst->type)) continue;
        if (ir_op_info[inst->op].owns == OP_LOADS) add_root(rc, ref), bits_set(&known, ref);
    }
    find_derived(rc, &known);
}

/* draws[ref]: computed in any order until nothing changes (derivation chains are short). */
static void find_draws(Refcount *rc) {
    Ref ref;
    memset(rc->draws, 0, sizeof *rc->draws * (size_t)rc->nrefs);
    for (bool changed = true; changed;) {
        changed = false;
        FOR_EACH_INST(rc, ref) {
            const Inst *inst = ir_inst(rc->func, ref);
            if (!counted(inst->type)) continue;
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

/* Nothing may stand between an instruction with an error successor and the jump behind it. So what dies there, and a result
 * that nobody uses, lives to the end of the block and is released on its edges. */
static void live_over_error(const Refcount *rc, int32_t b) {
    const Block *block = &rc->func->blocks.items[b];
    if (block->removed || block->insts.len < 2) return;
    Ref ref = block->insts.items[block->insts.len - 2];
    if (ir_inst(rc->func, ref)->error == NO_BLOCK) return;
    if (rc->root_of[ref] >= 0) bits_set(&rc->live_out[b], rc->root_of[ref]);
    for (int32_t k = 0; k < ir_inst(rc->func, ref)->nargs; k++)
        use(rc, &rc->live_out[b], ir_arg(rc->func, ref, k));
}

static void compute_liveness(Refcount *rc) {
    for (int32_t b = 0; b < rc->nblocks; b++) {
        rc->live_in[b] = bits_new(rc->arena, rc->roots.len);
        rc->live_out[b] = bits_new(rc->arena, rc->roots.len);
        live_over_error(rc, b);
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

/* -- what is loaded, and dropped while it is in use -------------------------------------------------------- */

/* Roots live before `ref` (position `at` of its block), given those live after it. */
static void step_back(const Refcount *rc, Ref ref, Bits *live) {
    if (rc->root_of[ref] >= 0) bits_clear(live, rc->root_of[ref]);
    if (ir_inst(rc->func, ref)->op == OP_phi) return;
    for (int32_t k = 0; k < ir_inst(rc->func, ref)->nargs; k++)
        use(rc, live, ir_arg(rc->func, ref, k));
}

static bool may_drop(Refcount *rc, const Func *func, Ref ref);

/* A function that calls itself adds nothing to what it does elsewhere. */
static bool callee_drops(Refcount *rc, const Func *callee) {
    MapValue *known = map_find(&rc->callees, map_key(callee));
    if (known) return known->num == 2;
    map_put(&rc->callees, map_key(callee))->num = 1;
    for (Ref ref = 1; ref < callee->insts.len; ref++)
        if (may_drop(rc, callee, ref)) {
            map_put(&rc->callees, map_key(callee))->num = 2;
            return true;
        }
    return false;
}

static bool may_drop(Refcount *rc, const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    if (!(ir_op_info[inst->op].flags & OPF_DROPS)) return false;
    if (inst->op == OP_call || inst->op == OP_parallel) return callee_drops(rc, inst->u.func);
    if (inst->op == OP_store && inst->sub == FLAG_VACANT) return false;
    const Type *type = inst->type ? inst->type : ir_type(func, ir_arg(func, ref, inst->nargs - 1));
    return counted(type);
}

/* May a generator go here whose handlers run then, and drop anything? */
static bool drops_frames(const Refcount *rc) {
    for (int32_t r = 0; r < rc->nfirm; r++) {
        const Inst *inst = ir_inst(rc->func, rc->roots.items[r]);
        bool held = inst->op == OP_call || inst->op == OP_take || inst->op == OP_phi;
        if (held && type_holds_frame(inst->type)) return true;
    }
    return false;
}

static bool keep_between_blocks(Refcount *rc) {
    bool found = false;
    for (int32_t b = 0; b < rc->nblocks; b++)
        for (int32_t r = rc->nfirm; !rc->func->blocks.items[b].removed && r < rc->roots.len; r++)
            if (bits_get(&rc->live_out[b], r))
                bits_set(&rc->kept, rc->roots.items[r]), found = true;
    return found;
}

/* What is only looked at, and live where references are dropped, gets one of its own. An argument of the call that drops them
 * is live in there. */
static bool keep_loads(Refcount *rc) {
    bool found = drops_frames(rc) && keep_between_blocks(rc);
    for (int32_t b = 0; b < rc->nblocks; b++) {
        const Block *block = &rc->func->blocks.items[b];
        if (block->removed) continue;
        Bits live = bits_new(rc->arena, rc->roots.len);
        bits_or(&live, &rc->live_out[b]);
        for (int32_t i = block->insts.len - 1; i >= 0; i--) {
            Ref ref = block->insts.items[i];
            Op op = (Op)ir_inst(rc->func, ref)->op;
            if (op == OP_phi) break;
            bool drops = may_drop(rc, rc->func, ref), calls = op == OP_call || op == OP_parallel;
            if (!calls && drops && rc->root_of[ref] >= 0) bits_clear(&live, rc->root_of[ref]);
            if (calls) step_back(rc, ref, &live);
            for (int32_t r = rc->nfirm; drops && r < rc->roots.len; r++)
                if (bits_get(&live, r)) bits_set(&rc->kept, rc->roots.items[r]), found = true;
            step_back(rc, ref, &live);
        }
    }
    return found;
}

/* Roots, what draws on them, and where they are live. */
static void settle_roots(Refcount *rc, bool with_loads) {
    find_roots(rc, with_loads);
    find_draws(rc);
    compute_liveness(rc);
}

static bool has_loads(const Refcount *rc) {
    Ref ref;
    FOR_EACH_INST(rc, ref)
    if (ir_op_info[ir_inst(rc->func, ref)->op].owns == OP_LOADS && counted(ir_type(rc->func, ref)))
        return true;
    return false;
}

static void decide_loads(Refcount *rc) {
    map_init(&rc->callees, rc->arena);
    do
        settle_roots(rc, true);
    while (keep_loads(rc));
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

/* What `ref` is another shape of: the one operand with references, if it has as many as the result. Views share
 * the owner of their source, tuples and items those of their parts, so the owners are the same then. */
static Ref same_owners(const Refcount *rc, Ref ref) {
    const Inst *inst = ir_inst(rc->func, ref);
    Ref only = NO_REF;
    if (ir_op_info[inst->op].owns != OP_SHARES || inst->op == OP_phi) return NO_REF;
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref arg = ir_arg(rc->func, ref, k);
        if (!counted(ir_type(rc->func, arg))) continue;
        if (only) return NO_REF;
        only = arg;
    }
    if (!only) return NO_REF;
    bool same = type_owners(ir_type(rc->func, only), 0, NULL) == type_owners(inst->type, 0, NULL);
    return same ? only : NO_REF;
}

/* Can `ref` take over the references of roots, one for each of its owners? They are added to `moved`, which
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
        if (counted(ir_type(rc->func, part)) && !take_over(rc, part, kept, moved)) return false;
    }
    return true;
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
    uint32_t flags = ir_op_info[inst->op].flags;
    if (!(flags & OPF_RAISES) || (flags & OPF_TERM) || inst->error != NO_BLOCK) return;
    bool any = false;
    for (int32_t w = 0; w < (rc->roots.len + 63) / 64; w++)
        any |= before->words[w] != 0;
    if (!any) return;
    CleanUp cleanup = {ref, copy_bits(rc, before)};
    vec_push(rc->arena, &edits->cleanups, cleanup);
}

/* Is operand k one whose reference the instruction takes over? */
static bool takes_operand(const Inst *inst, int32_t k) {
    OpTakes takes = (OpTakes)ir_op_info[inst->op].takes;
    return takes == OP_TAKES_ALL || (takes == OP_TAKES_LAST && k == inst->nargs - 1);
}

static void note_edit(Refcount *rc, Edits *edits, int32_t at, int32_t root) {
    Release release = {at, root};
    vec_push(rc->arena, &edits->releases, release);
}

/* The references that an instruction takes: of roots that die there, `moved`, else new ones. One that raises has not taken them
 * then, so they are made behind it, one that ends its block or drops what it replaces gets them before. */
static void give_operands(Refcount *rc, Ref ref, int32_t at, const Bits *after, Bits *moved,
                          Edits *edits) {
    const Inst *inst = ir_inst(rc->func, ref);
    uint32_t flags = ir_op_info[inst->op].flags;
    bool behind = (flags & OPF_RAISES) && !(flags & OPF_TERM);
    for (int32_t k = 0; k < inst->nargs; k++) {
        Ref value = ir_arg(rc->func, ref, k);
        if (!takes_operand(inst, k) || !counted(ir_type(rc->func, value))) continue;
        Bits with = copy_bits(rc, moved);
        if (take_over(rc, value, after, &with))
            bits_or(moved, &with);
        else if (behind && inst->error != NO_BLOCK)
            vec_push(rc->arena, &rc->edge_gifts, ((EdgeGift){inst->block, value}));
        else
            note_edit(rc, edits, at + behind, -1 - value);
    }
}

/* Roots that die at `ref`, and are not moved, are released behind it, at the end of a block before it. */
static void release_dying(Refcount *rc, Ref ref, int32_t at, const Bits *live, const Bits *after,
                          const Bits *moved, Edits *edits) {
    bool last = ir_op_info[ir_inst(rc->func, ref)->op].flags & OPF_TERM;
    int32_t own = rc->root_of[ref];
    for (int32_t r = 0; r < rc->roots.len; r++)
        if (bits_get(live, r) && !bits_get(after, r) && !bits_get(moved, r) && r != own)
            note_edit(rc, edits, last ? at : at + 1, r);
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
        Bits after = copy_bits(rc, &live), moved = bits_new(rc->arena, rc->roots.len);
        Edits gifts = {0};
        int32_t own = rc->root_of[ref];
        if (own >= 0 && !bits_get(&after, own)) /* a result nobody uses */
            note_edit(rc, edits, i + 1, own);
        step_back(rc, ref, &live);
        give_operands(rc, ref, i, &after, &moved, &gifts);
        release_dying(rc, ref, i, &live, &after, &moved, edits);
        for (int32_t k = 0; k < gifts.releases.len; k++) /* later in the list is in front */
            vec_push(rc->arena, &edits->releases, gifts.releases.items[k]);
        if (bits_get(&rc->kept, ref)) note_edit(rc, edits, i + 1, -1 - ref);
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
    for (int32_t i = 0; i < rc->edge_gifts.len && raising == NO_REF; i++)
        if (rc->edge_gifts.items[i].block == from)
            vec_push(rc->arena, &edit->retains, rc->edge_gifts.items[i].value);
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
    for (int32_t i = 0; i < edit->releases.len; i++) /* the last one first, as in clean-ups */
        insert_count(rc, block, at, OP_release, edit->releases.items[i], 0);
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

static void attach_cleanup(Refcount *rc, Ref ref, int32_t cleanup) {
    Inst *inst = ir_inst(rc->func, ref);
    int32_t block = inst->block;
    if (!(ir_op_info[inst->op].flags & OPF_TERM))
        opt_split_block(rc->func, block, opt_position(rc->func, ref) + 1);
    ir_inst(rc->func, ref)->error = cleanup;
    ir_edge_add(rc->func, block, cleanup);
}

/* Clean-up blocks by the set of roots that they release. */
typedef struct CleanUps {
    Map blocks; /* hash of a set -> its index in `sets` */
    Vec(CleanUp) sets;
    Vec(int32_t) block_of;
} CleanUps;

/* Without one root it is the hash of the set without it. */
static uint64_t hash_of_roots(const Refcount *rc, const Bits *roots) {
    uint64_t h = 0;
    for (int32_t r = 0; r < rc->roots.len; r++)
        if (bits_get(roots, r)) h ^= hash_mix((uint64_t)r + 1);
    return h;
}

static bool same_but(const Refcount *rc, const Bits *a, const Bits *b, int32_t but) {
    for (int32_t word = 0; word < (rc->roots.len + 63) / 64; word++) {
        uint64_t without = but >> 6 == word ? UINT64_C(1) << (but & 63) : 0;
        if ((a->words[word] & ~without) != b->words[word]) return false;
    }
    return true;
}

/* The block that releases `roots` but for one (-1: all of them), or NO_BLOCK. */
static int32_t find_cleanup(const Refcount *rc, CleanUps *made, const Bits *roots, uint64_t hash,
                            int32_t but) {
    uint64_t without = but < 0 ? hash : hash ^ hash_mix((uint64_t)but + 1);
    const MapValue *known = map_find(&made->blocks, without);
    if (!known || !same_but(rc, roots, &made->sets.items[known->num].roots, but)) return NO_BLOCK;
    return made->block_of.items[known->num];
}

/* Where a block has all roots but one, it is the rest: what is made one after the other takes one release for each. */
static int32_t make_cleanup(Refcount *rc, CleanUps *made, const CleanUp *site) {
    uint64_t hash = hash_of_roots(rc, &site->roots);
    int32_t rest = find_cleanup(rc, made, &site->roots, hash, -1), last = rc->roots.len - 1;
    if (rest != NO_BLOCK) return rest;
    for (; last >= 0; last--)
        if (bits_get(&site->roots, last) &&
            (rest = find_cleanup(rc, made, &site->roots, hash, last)) != NO_BLOCK)
            break;
    Builder b = {.func = rc->func, .block = ir_block_new(rc->func), .at = -1, .error = NO_BLOCK};
    for (int32_t r = rc->roots.len; r-- > 0;)
        if (last >= 0 ? r == last : bits_get(&site->roots, r))
            b_op1(&b, OP_release, NULL, rc->roots.items[r]);
    if (last >= 0)
        b_jump(&b, rest);
    else
        b_inst(&b, OP_propagate, NULL, NULL, 0);
    if (!map_find(&made->blocks, hash)) map_put(&made->blocks, hash)->num = made->sets.len;
    vec_push(rc->arena, &made->sets, *site);
    vec_push(rc->arena, &made->block_of, b.block);
    return b.block;
}

static int32_t count_roots(const Refcount *rc, const Bits *roots) {
    int32_t n = 0;
    for (int32_t word = 0; word < (rc->roots.len + 63) / 64; word++)
        n += __builtin_popcountll(roots->words[word]);
    return n;
}

/* Small sets first, so that the larger ones find them. */
static void make_cleanups(Refcount *rc, const Edits *edits) {
    CleanUps made = {0};
    map_init(&made.blocks, rc->arena);
    int32_t n = edits->cleanups.len, most = rc->roots.len;
    int32_t *first = arena_array(rc->arena, int32_t, most + 2),
            *order = arena_array(rc->arena, int32_t, n);
    for (int32_t i = 0; i < n; i++)
        first[count_roots(rc, &edits->cleanups.items[i].roots) + 1]++;
    for (int32_t k = 0; k <= most; k++)
        first[k + 1] += first[k];
    for (int32_t i = 0; i < n; i++)
        order[first[count_roots(rc, &edits->cleanups.items[i].roots)]++] = i;
    for (int32_t i = 0; i < n; i++) {
        const CleanUp *site = &edits->cleanups.items[order[i]];
        attach_cleanup(rc, site->after, make_cleanup(rc, &made, site));
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
    rc.kept = bits_new(ctx->arena, rc.nrefs);
    rc.live_in = arena_array(ctx->arena, Bits, rc.nblocks);
    rc.live_out = arena_array(ctx->arena, Bits, rc.nblocks);
    if (has_loads(&rc)) decide_loads(&rc);
    settle_roots(&rc, false);
    Edits edits = {0};
    for (int32_t b = 0; b < rc.nblocks; b++) {
        if (func->blocks.items[b].removed) continue;
        scan_block(&rc, b, &edits);
        apply_releases(&rc, b, &edits);
    }
    edit_edges(&rc);
    make_cleanups(&rc, &edits);
}
