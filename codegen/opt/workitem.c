/* workitem.c - cuts kernels of the cpu device at their barriers, so that work-items are rounds of plain loops.
 *
 *     s[t] = x[i]                     call items @k.items1: s[t] = x[i]
 *     cuda.syncthreads()
 *     while n > 0:             ->     while n > 0:
 *         if t < n: ...                   call items @k.items2: if t < n: ...
 *         cuda.syncthreads()
 *         n //= 2                         n //= 2
 *
 * The kernel becomes a function of the block. What decides about barriers has to be the same for all its work-items, and is
 * found to be so here: values that depend neither on the number of the work-item, nor on memory, nor on which way it took
 * (`varying`). Blocks between two barriers are a region, a function that is called once for each work-item; LLVM writes it
 * into the loops round the call, whose innermost, over threadIdx.x, it makes vectors of. Values that are needed in a later
 * region lie in a slot, an array with a place for each work-item (`keep`, `kept`), or are computed again. A barrier that asks
 * (syncthreads_count and its kin) counts what lies in a slot: its answer is the block's, and may decide about barriers.
 * A shuffle of whole warps is a region of its own: what is passed on lies in a slot, and each work-item looks at that of another.
 *
 * Innermost loops that run equally often for all work-items are cut, too, although they need not be: then the loop over
 * work-items is inside, where vectors are made.
 *
 * Where any of this cannot be, the kernel stays as it is, and each work-item is a coroutine (llvm/cg_coro.c). */
#include "codegen/opt/workitem.h"

enum { MOST_BLOCKS = 1000, MOST_AGAIN = 12, MOST_ROUNDS = 32, MOST_UNROLLED = 256 };

/* -- is it such a kernel? ----------------------------------------------------------------------- */

static const LibRow *row_at(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    return inst->op == OP_lib ? lib_row_of(inst) : NULL;
}

static bool waits(const Func *func, Ref ref) {
    const LibRow *row = row_at(func, ref);
    return row && row->flags & LIB_SHARED_CALL;
}

/* An operation of a warp: do all its lanes take part? */
static bool of_whole_warp(const Func *func, Ref ref) {
    int64_t mask;
    if (!ir_inst(func, ref)->nargs) return true;
    Ref given = ir_arg(func, ref, 0);
    if (ir_inst(func, given)->op == OP_cast) given = ir_arg(func, given, 0); /* -1 */
    return opt_const_int(func, given, &mask) && (uint32_t)mask == UINT32_MAX;
}

/* A barrier of the block, or what one can stand for. */
static bool is_barrier(const Func *func, Ref ref) {
    const LibRow *row = row_at(func, ref);
    if (!row || row->cpu.kind != LOWER_GEN) return false;
    return row->cpu.id == GEN_barrier || (row->cpu.id == GEN_syncwarp && of_whole_warp(func, ref));
}

bool item_is_shuffle(const Func *func, Ref ref) {
    const LibRow *row = row_at(func, ref);
    if (!row || row->cpu.kind != LOWER_GEN) return false;
    switch (row->cpu.id) {
    case GEN_shfl_idx:
    case GEN_shfl_up:
    case GEN_shfl_down:
    case GEN_shfl_xor: return of_whole_warp(func, ref);
    default: return false;
    }
}

bool item_is_vote(const Func *func, Ref ref) {
    const LibRow *row = row_at(func, ref);
    if (!row || row->cpu.kind != LOWER_GEN) return false;
    switch (row->cpu.id) {
    case GEN_vote_all:
    case GEN_vote_any:
    case GEN_vote_eq:
    case GEN_vote_ballot: return of_whole_warp(func, ref);
    default: return false;
    }
}

/* One that answers how many work-items say yes, or whether all or any do. */
static bool is_count(const Func *func, Ref ref) {
    const LibRow *row = row_at(func, ref);
    if (!row || row->cpu.kind != LOWER_GEN) return false;
    return row->cpu.id == GEN_barrier_count || row->cpu.id == GEN_barrier_and ||
           row->cpu.id == GEN_barrier_or;
}

static bool runs_together(const Func *func, Ref ref) {
    const LibRow *row = row_at(func, ref);
    return row && row->cpu.kind == LOWER_GEN && row->cpu.id == GEN_together;
}

static bool calls(const Func *func, Ref ref, const Func *callee) {
    return ir_inst(func, ref)->op == OP_call && ir_inst(func, ref)->u.func == callee;
}

static bool can_be_cut(const Func *func, Ref ref) {
    const Inst *inst = ir_inst(func, ref);
    switch ((int)inst->op) {
    case OP_retain:
    case OP_release:
    case OP_parallel:
    case OP_caught:
    case OP_propagate: return false;
    default: return inst->error == NO_BLOCK && !runs_together(func, ref);
    }
}

/* Functions that the kernel calls: none of them waits, or calls the kernel. */
static bool scan_callees(const ItemPlan *p) {
    Vec(const Func *) seen = {0};
    vec_push(p->ctx->arena, &seen, p->func);
    for (int32_t f = 0; f < seen.len; f++)
        for (Ref r = 1; r < seen.items[f]->insts.len; r++) {
            const Func *func = seen.items[f];
            if ((f && waits(func, r)) || calls(func, r, p->func)) return false;
            if (ir_inst(func, r)->op != OP_call) continue;
            bool known = false;
            for (int32_t k = 0; k < seen.len && !known; k++)
                known = seen.items[k] == ir_inst(func, r)->u.func;
            if (!known) vec_push(p->ctx->arena, &seen, ir_inst(func, r)->u.func);
        }
    return true;
}

static bool scan(ItemPlan *p) {
    if (!scan_callees(p)) return false;
    for (int32_t b = 0; b < p->func->blocks.len; b++) {
        const Block *block = &p->func->blocks.items[b];
        for (int32_t k = 0; !block->removed && k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            if (is_barrier(p->func, ref))
                vec_push(p->ctx->arena, &p->barriers, ref);
            else if (is_count(p->func, ref))
                vec_push(p->ctx->arena, &p->counts, ref);
            else if (item_is_shuffle(p->func, ref))
                vec_push(p->ctx->arena, &p->shuffles, ref);
            else if (item_is_vote(p->func, ref))
                vec_push(p->ctx->arena, &p->votes, ref);
            else if (waits(p->func, ref) || !can_be_cut(p->func, ref))
                return false;
        }
    }
    return p->barriers.len + p->counts.len + p->shuffles.len + p->votes.len > 0;
}

/* -- blocks ------------------------------------------------------------------------------------- */

/* A block ends behind each barrier, one begins with each that asks and each vote, a shuffle has one of its own, and an edge from a branch to phis has one of its own, where their slots are written. */
static void split_blocks(ItemPlan *p) {
    Func *func = p->func;
    for (int32_t i = 0; i < p->barriers.len; i++) {
        Ref barrier = p->barriers.items[i];
        opt_split_block(func, ir_inst(func, barrier)->block, opt_position(func, barrier) + 1);
    }
    for (int32_t i = 0; i < p->counts.len; i++) {
        Ref count = p->counts.items[i];
        opt_split_block(func, ir_inst(func, count)->block, opt_position(func, count));
    }
    for (int32_t i = 0; i < p->votes.len; i++) {
        Ref vote = p->votes.items[i];
        opt_split_block(func, ir_inst(func, vote)->block, opt_position(func, vote));
    }
    for (int32_t i = 0; i < p->shuffles.len; i++) {
        Ref shuffle = p->shuffles.items[i];
        opt_split_block(func, ir_inst(func, shuffle)->block, opt_position(func, shuffle) + 1);
        opt_split_block(func, ir_inst(func, shuffle)->block, opt_position(func, shuffle));
    }
    for (int32_t b = 0, n = func->blocks.len; b < n; b++) {
        const Block *block = &func->blocks.items[b];
        if (block->removed || block->insts.len == 0) continue;
        const Inst *last = ir_inst(func, block->insts.items[block->insts.len - 1]);
        if (last->op != OP_branch) continue;
        for (int t = 0; t < 2; t++) {
            int32_t to = ir_inst(func, ir_terminator(func, b))->target[t];
            if (func->blocks.items[to].preds.len > 1) ir_edge_split(func, b, to);
        }
    }
}

/* p->list: the blocks reachable from the ends of `block` without passing `stop`, itself where it is in a loop. */
static void reach(ItemPlan *p, int32_t block, int32_t stop) {
    bool *seen = arena_array(p->ctx->arena, bool, p->cfg.n);
    int32_t at = block;
    p->list.len = 0;
    for (int32_t k = 0; k <= p->list.len; k++) {
        int32_t to[3];
        int n = ir_successors(p->func, at, to);
        for (int i = 0; i < n; i++) {
            if (to[i] == stop || seen[to[i]]) continue;
            seen[to[i]] = true;
            vec_push(p->ctx->arena, &p->list, to[i]);
        }
        if (k < p->list.len) at = p->list.items[k];
    }
}

/* Sets of the blocks that every way out passes. Each set but a block's own is that of its next one: so that is the one
 * whose set has one block less. false: from somewhere there is no way out. */
static bool find_postdominators(ItemPlan *p) {
    int32_t n = p->cfg.n;
    Arena *arena = p->ctx->arena;
    Bits *after = arena_array(arena, Bits, n + 1);
    int32_t *count = arena_array(arena, int32_t, n + 1);
    for (int32_t b = 0; b <= n; b++) {
        after[b] = bits_new(arena, n + 1);
        for (int32_t k = 0; b < n && k <= n; k++)
            bits_set(&after[b], k);
    }
    bits_set(&after[n], n);
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = p->cfg.nrpo - 1; i >= 0; i--) {
            int32_t b = p->cfg.rpo[i], to[3];
            int ends = ir_successors(p->func, b, to);
            if (ends == 0) to[ends++] = n;
            for (int32_t w = 0; w < (n + 64) / 64; w++) {
                uint64_t all = ~UINT64_C(0);
                for (int k = 0; k < ends; k++)
                    all &= after[to[k]].words[w];
                if (b >> 6 == w) all |= UINT64_C(1) << (b & 63);
                changed |= all != after[b].words[w];
                after[b].words[w] = all;
            }
        }
    }
    for (int32_t b = 0; b <= n; b++)
        for (int32_t w = 0; w < (n + 64) / 64; w++)
            count[b] += __builtin_popcountll(after[b].words[w]);
    for (int32_t i = 0; i < p->cfg.nrpo; i++) {
        int32_t b = p->cfg.rpo[i];
        p->ipdom[b] = NO_BLOCK;
        for (int32_t k = 0; k <= n; k++)
            if (k != b && bits_get(&after[b], k) && count[k] == count[b] - 1) p->ipdom[b] = k;
        if (p->ipdom[b] == NO_BLOCK) return false;
    }
    return true;
}

/* -- what differs between work-items -------------------------------------------------------------- */

static bool names_item(const LibRow *row) {
    if (row->cpu.kind != LOWER_GEN) return false;
    switch (row->cpu.id) {
    case GEN_thread_x:
    case GEN_thread_y:
    case GEN_thread_z:
    case GEN_lane:
    case GEN_lanemask_lt: return true;
    default: return false;
    }
}

static bool is_array(const Func *func, Ref ref, Space space) {
    return ir_inst(func, ref)->op == OP_static_array && ir_type(func, ref)->space == space;
}

static bool is_pure(const Func *func, Ref ref) {
    const LibRow *row = row_at(func, ref);
    if (row) return row->flags & LIB_PURE && !(row->flags & LIB_CONVERGENT);
    return ir_info(ir_inst(func, ref)->op)->flags & OPF_PURE || is_array(func, ref, SPACE_SHARED);
}

static bool varies(const ItemPlan *p, Ref ref) {
    const Inst *inst = ir_inst(p->func, ref);
    const LibRow *row = row_at(p->func, ref);
    if (is_count(p->func, ref)) return false;
    if (!is_pure(p->func, ref) || (row && names_item(row))) return true;
    if (inst->op == OP_phi && p->joins[inst->block]) return true;
    for (int32_t k = 0; k < inst->nargs; k++)
        if (p->varying[ir_arg(p->func, ref, k)]) return true;
    return false;
}

/* What lies between a branch that divides the work-items and where they are together again. */
static bool divide(ItemPlan *p, int32_t block) {
    bool changed = false;
    reach(p, block, p->ipdom[block]);
    for (int32_t i = 0; i < p->list.len; i++) {
        int32_t b = p->list.items[i];
        changed |= !p->divided[b] || !p->joins[b];
        p->divided[b] = p->joins[b] = true;
    }
    if (p->ipdom[block] < p->cfg.n) {
        changed |= !p->joins[p->ipdom[block]];
        p->joins[p->ipdom[block]] = true;
    }
    return changed;
}

static void find_varying(ItemPlan *p) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < p->cfg.nrpo; i++) {
            const Block *block = &p->func->blocks.items[p->cfg.rpo[i]];
            for (int32_t k = 0; k < block->insts.len; k++) {
                Ref ref = block->insts.items[k];
                const Inst *inst = ir_inst(p->func, ref);
                if (!inst->type || p->varying[ref] || !varies(p, ref)) continue;
                p->varying[ref] = changed = true;
            }
            Ref last = block->insts.items[block->insts.len - 1];
            if (ir_inst(p->func, last)->op == OP_branch && p->varying[ir_arg(p->func, last, 0)])
                changed |= divide(p, p->cfg.rpo[i]);
        }
    }
}

/* -- where regions begin -------------------------------------------------------------------------- */

/* Does LLVM unroll the loop as a whole, so that a loop over work-items round it is an innermost one? */
static bool is_unrolled(const ItemPlan *p, int32_t loop, int32_t insts) {
    CountedLoop counted;
    int64_t limit;
    return opt_counted_loop(p->func, &p->cfg, loop, &counted) &&
           opt_const_int(p->func, counted.limit, &limit) && limit <= MOST_ROUNDS &&
           limit * insts <= MOST_UNROLLED;
}

/* An innermost loop of the block as a whole, which does nothing but arithmetic, loads and stores. */
static bool is_worth_cutting(const ItemPlan *p, int32_t loop) {
    const Loop *l = &p->cfg.loops.items[loop];
    int32_t insts = 0;
    Ref last = ir_terminator(p->func, l->header);
    if (p->divided[l->header] || ir_inst(p->func, last)->op != OP_branch) return false;
    for (int32_t i = 0; i < p->cfg.loops.len; i++)
        if (p->cfg.loops.items[i].parent == loop) return false;
    for (int32_t i = 0; i < l->blocks.len; i++) {
        const Block *block = &p->func->blocks.items[l->blocks.items[i]];
        insts += block->insts.len;
        for (int32_t k = 0; k < block->insts.len; k++) {
            int op = ir_inst(p->func, block->insts.items[k])->op;
            if (op == OP_call || op == OP_atomic || op == OP_print) return false;
        }
    }
    return !is_unrolled(p, loop, insts);
}

/* false: not all work-items of a block come to a barrier. */
static bool mark(ItemPlan *p, bool loops) {
    for (int32_t i = 0; i < p->barriers.len; i++) {
        Ref last = ir_terminator(p->func, ir_inst(p->func, p->barriers.items[i])->block);
        int32_t behind = ir_inst(p->func, last)->target[0];
        if (p->cfg.rpo_number[behind] < 0) continue;
        if (p->divided[behind]) return false;
        p->marked[behind] = true;
    }
    for (int32_t i = 0; i < p->counts.len; i++) {
        int32_t block = ir_inst(p->func, p->counts.items[i])->block;
        if (p->cfg.rpo_number[block] >= 0 && p->divided[block]) return false;
        p->marked[block] = true;
    }
    for (int32_t i = 0; i < p->votes.len; i++) {
        int32_t block = ir_inst(p->func, p->votes.items[i])->block;
        if (p->cfg.rpo_number[block] >= 0 && p->divided[block]) return false;
        p->marked[block] = true;
    }
    for (int32_t i = 0; i < p->shuffles.len; i++) {
        int32_t block = ir_inst(p->func, p->shuffles.items[i])->block;
        if (p->cfg.rpo_number[block] < 0) continue;
        if (p->divided[block]) return false;
        int32_t behind = ir_inst(p->func, ir_terminator(p->func, block))->target[0];
        p->marked[block] = p->marked[behind] =
            true; /* so that all have looked before any goes on */
    }
    for (int32_t i = 0; loops && i < p->cfg.loops.len; i++)
        if (is_worth_cutting(p, i)) p->marked[p->cfg.loops.items[i].header] = true;
    return true;
}

/* -- regions ---------------------------------------------------------------------------------------- */

static bool listed(const ItemPlan *p, int32_t block) {
    for (int32_t i = 0; i < p->list.len; i++)
        if (p->list.items[i] == block) return true;
    return false;
}

static bool list_is_marked(const ItemPlan *p) {
    for (int32_t i = 0; i < p->list.len; i++)
        if (p->marked[p->list.items[i]]) return true;
    return false;
}

/* Is `block` entered from region `at` alone, but for the way back of a loop inside that region? */
static bool belongs(ItemPlan *p, int32_t block, int32_t at) {
    const Block *b = &p->func->blocks.items[block];
    if (p->marked[block]) return false;
    reach(p, block, p->ipdom[block]);
    bool cut = list_is_marked(p);
    for (int32_t i = 0; i < b->preds.len; i++)
        if (p->region[b->preds.items[i]] != at && (cut || !listed(p, b->preds.items[i])))
            return false;
    return true;
}

/* What lies between block `from` and the next that all work-items come to goes to the region as a whole. */
static bool take_inner(ItemPlan *p, ItemRegion *region, int32_t from, int32_t at) {
    for (int32_t i = 0; i < p->list.len; i++) {
        int32_t b = p->list.items[i];
        const Block *block = &p->func->blocks.items[b];
        if (p->region[b] >= 0 && b != from) return false;
        p->region[b] = at;
        vec_push(p->ctx->arena, &region->inner, b);
        for (int32_t k = 0; b != from && k < block->preds.len; k++)
            if (block->preds.items[k] != from && !listed(p, block->preds.items[k])) return false;
    }
    if (!listed(p, from)) vec_push(p->ctx->arena, &region->chain, from);
    return true;
}

/* The one block of the region that leads to `next`; NO_BLOCK: there are several. *jumps: each ends with a jump. */
static int32_t way_out(const ItemPlan *p, int32_t next, int32_t at, bool *jumps) {
    const Block *b = &p->func->blocks.items[next];
    int32_t found = NO_BLOCK, n = 0;
    *jumps = true;
    for (int32_t i = 0; i < b->preds.len; i++) {
        int32_t from = b->preds.items[i];
        if (p->region[from] != at) continue;
        *jumps &= ir_inst(p->func, ir_terminator(p->func, from))->op == OP_jump;
        found = n++ ? NO_BLOCK : from;
    }
    return found;
}

/* The blocks of a region that lead to `next` get one that they all lead to, and which leads there. */
static void join_ways_out(ItemPlan *p, int32_t next, int32_t at) {
    Func *func = p->func;
    Arena *arena = p->ctx->arena;
    int32_t middle = ir_block_new(func);
    const Block *to = &func->blocks.items[next];
    int32_t npreds = to->preds.len, n = 0, *from = arena_array(arena, int32_t, npreds);
    Vec(Ref) phis = {0}, joins = {0};
    for (int32_t k = 0; k < npreds; k++)
        if (p->region[to->preds.items[k]] == at) from[n++] = k;
    for (int32_t i = 0; i < to->insts.len && ir_inst(func, to->insts.items[i])->op == OP_phi; i++)
        vec_push(arena, &phis, to->insts.items[i]);
    for (int32_t i = 0; i < phis.len; i++) {
        Ref *args = arena_array(arena, Ref, n);
        bool same = true;
        for (int32_t k = 0; k < n; k++) {
            args[k] = ir_arg(func, phis.items[i], from[k]);
            same = same && args[k] == args[0];
        }
        Ref join = same ? args[0] : ir_append(func, middle, OP_phi, args, n);
        if (!same) ir_inst(func, join)->type = ir_type(func, phis.items[i]);
        vec_push(arena, &joins, join);
    }
    ir_inst(func, ir_append(func, middle, OP_jump, NULL, 0))->target[0] = next;
    for (int32_t k = 0; k < n; k++)
        from[k] = func->blocks.items[next].preds.items[from[k]];
    for (int32_t k = 0; k < n; k++) {
        ir_inst(func, ir_terminator(func, from[k]))->target[0] = middle;
        ir_edge_remove(func, from[k], next);
        ir_edge_add(func, from[k], middle);
    }
    ir_edge_add(func, middle, next);
    for (int32_t i = 0; i < phis.len; i++)
        ir_add_arg(func, phis.items[i], joins.items[i]);
    p->again = true;
}

static void lead_to(ItemPlan *p, int32_t block) {
    if (p->region[block] < 0) vec_push(p->ctx->arena, &p->leaders, block);
}

static bool make_region(ItemPlan *p, int32_t leader) {
    ItemRegion r = {.leader = leader, .exit = NO_BLOCK};
    int32_t at = p->regions.len;
    if (p->divided[leader]) return false;
    for (int32_t block = leader;;) {
        int32_t next = p->ipdom[block];
        p->region[block] = at;
        reach(p, block, next);
        if (list_is_marked(p)) {
            const Inst *last = ir_inst(p->func, ir_terminator(p->func, block));
            if (last->op != OP_branch) return false;
            vec_push(p->ctx->arena, &r.chain, block);
            r.exit = block;
            r.branches = true;
            break;
        }
        if (!take_inner(p, &r, block, at)) return false;
        if (next == p->cfg.n) break;
        if (!belongs(p, next, at)) {
            bool jumps;
            r.exit = way_out(p, next, at, &jumps);
            if (r.exit == NO_BLOCK && jumps) join_ways_out(p, next, at);
            if (r.exit == NO_BLOCK) return false;
            lead_to(p, next);
            break;
        }
        block = next;
    }
    vec_push(p->ctx->arena, &p->regions, r);
    for (int t = 0; r.branches && t < 2; t++)
        lead_to(p, ir_inst(p->func, ir_terminator(p->func, r.exit))->target[t]);
    return true;
}

static bool make_regions(ItemPlan *p) {
    for (int32_t b = 0; b < p->cfg.n; b++)
        p->region[b] = -1;
    vec_push(p->ctx->arena, &p->leaders, 0);
    for (int32_t i = 0; i < p->leaders.len; i++)
        if (p->region[p->leaders.items[i]] < 0 && !make_region(p, p->leaders.items[i]))
            return false;
    for (int32_t i = 0; i < p->cfg.nrpo; i++)
        if (p->region[p->cfg.rpo[i]] < 0) return false;
    for (int32_t i = 0; i < p->regions.len; i++) { /* a loop inside is entered from one block */
        const ItemRegion *r = &p->regions.items[i];
        const Block *b = &p->func->blocks.items[r->leader];
        int32_t outside = 0;
        for (int32_t k = 0; k < b->preds.len; k++)
            outside += p->region[b->preds.items[k]] != i;
        if (outside > 1 && !item_in_chain(p, r->leader)) return false;
    }
    return true;
}

bool item_in_chain(const ItemPlan *p, int32_t block) {
    const ItemRegion *r = &p->regions.items[p->region[block]];
    for (int32_t i = 0; i < r->chain.len; i++)
        if (r->chain.items[i] == block) return true;
    return false;
}

bool item_is_leader_phi(const ItemPlan *p, Ref ref) {
    const Inst *inst = ir_inst(p->func, ref);
    return inst->op == OP_phi && p->regions.items[p->region[inst->block]].leader == inst->block &&
           item_in_chain(p, inst->block);
}

/* -- who computes what ---------------------------------------------------------------------------- */

static bool may_be_of_block(const ItemPlan *p, Ref ref) {
    const Inst *inst = ir_inst(p->func, ref);
    if (inst->op == OP_const) return true;
    if (p->varying[ref] || !item_in_chain(p, inst->block)) return false;
    if (inst->op == OP_phi) return item_is_leader_phi(p, ref);
    return inst->op == OP_poll || is_count(p->func, ref) || (inst->type && is_pure(p->func, ref));
}

static bool is_cheap(const ItemPlan *p, Ref ref) {
    const Inst *inst = ir_inst(p->func, ref);
    const LibRow *row = row_at(p->func, ref);
    if (!inst->type || !is_pure(p->func, ref)) return false;
    if (row) return row->flags & LIB_GPU_ONLY && row->cpu.kind == LOWER_GEN;
    return inst->op != OP_phi && inst->op != OP_div && inst->op != OP_pow &&
           inst->op != OP_static_array && inst->op != OP_frozen;
}

static bool all_args(const ItemPlan *p, Ref ref, ItemKind least) {
    for (int32_t k = 0; k < ir_inst(p->func, ref)->nargs; k++) {
        uint8_t kind = p->kind[ir_arg(p->func, ref, k)];
        if (kind == ITEM_LOCAL || kind > least) return false;
    }
    return true;
}

typedef void (*RefVisitor)(ItemPlan *p, Ref ref);
static void each_inst(ItemPlan *p, RefVisitor visit) {
    for (int32_t i = 0; i < p->cfg.nrpo; i++)
        for (int32_t k = 0; k < p->func->blocks.items[p->cfg.rpo[i]].insts.len; k++)
            visit(p, p->func->blocks.items[p->cfg.rpo[i]].insts.items[k]);
}

static void set_of_block(ItemPlan *p, Ref ref) {
    p->kind[ref] = may_be_of_block(p, ref) ? ITEM_BLOCK : ITEM_LOCAL;
}

static void find_kinds(ItemPlan *p) {
    int32_t *depth = arena_array(p->ctx->arena, int32_t, p->func->insts.len);
    each_inst(p, set_of_block);
    for (bool changed = true; changed;) {
        changed = false;
        for (Ref ref = 1; ref < p->func->insts.len; ref++)
            if (p->kind[ref] == ITEM_BLOCK && !is_count(p->func, ref) &&
                !all_args(p, ref, ITEM_BLOCK)) {
                p->kind[ref] = ITEM_LOCAL;
                changed = true;
            }
    }
    for (int32_t i = 0; i < p->cfg.nrpo; i++) { /* definitions come before uses */
        const Block *block = &p->func->blocks.items[p->cfg.rpo[i]];
        for (int32_t k = 0; k < block->insts.len; k++) {
            Ref ref = block->insts.items[k];
            if (p->kind[ref] != ITEM_LOCAL || !is_cheap(p, ref) || !all_args(p, ref, ITEM_AGAIN))
                continue;
            for (int32_t a = 0; a < ir_inst(p->func, ref)->nargs; a++)
                depth[ref] = QN_MAX(depth[ref], depth[ir_arg(p->func, ref, a)] + 1);
            if (depth[ref] <= MOST_AGAIN) p->kind[ref] = ITEM_AGAIN;
        }
    }
}

static void need_slot(ItemPlan *p, Ref ref) {
    if (!p->slot[ref]) p->slot[ref] = ++p->nslots;
}

/* What a shuffle passes on lies in a slot of its own, or where it is kept anyway: the region that looks there changes nothing of it. */
static void find_passed(ItemPlan *p) {
    for (int32_t i = 0; i < p->shuffles.len; i++) {
        Ref shuffle = p->shuffles.items[i], value = ir_arg(p->func, shuffle, 1);
        bool kept = p->kind[value] == ITEM_LOCAL;
        if (kept) need_slot(p, value);
        p->passed[shuffle] = kept ? p->slot[value] : ++p->nslots;
    }
    for (int32_t i = 0; i < p->votes.len; i++) {
        p->passed[p->votes.items[i]] = ++p->nslots;
        need_slot(p, p->votes.items[i]); /* the one behind it: that of the answers */
    }
}

/* Operands of the phis that a region begins with are used where the regions before it end. */
static void find_slots(ItemPlan *p, Ref ref) {
    const Inst *inst = ir_inst(p->func, ref);
    bool count = is_count(p->func, ref), leads = count || item_is_leader_phi(p, ref);
    bool passes = p->passed[ref] > 0;
    if (count || (leads && p->kind[ref] == ITEM_LOCAL)) need_slot(p, ref);
    for (int32_t k = 0; k < inst->nargs && p->kind[ref] != ITEM_AGAIN; k++) {
        Ref arg = ir_arg(p->func, ref, k);
        int32_t user = leads || (passes && k == 1)
                           ? p->func->blocks.items[inst->block].preds.items[leads && !count ? k : 0]
                           : inst->block;
        if (p->kind[arg] == ITEM_LOCAL &&
            p->region[ir_inst(p->func, arg)->block] != p->region[user])
            need_slot(p, arg);
    }
}

/* Arrays of a work-item that more than one region knows of, by whatever name, lie in slots themselves. */
static void find_array_slots(ItemPlan *p) {
    bool any = false;
    for (Ref ref = 1; ref < p->func->insts.len; ref++) {
        bool is_name = p->slot[ref] && !is_array(p->func, ref, SPACE_LOCAL);
        const Type *type = is_name ? ir_type(p->func, ref) : NULL;
        any |=
            type && !type_is_scalar(type) && (type->kind != TY_ARRAY || type->space == SPACE_LOCAL);
    }
    for (int32_t i = 0; any && i < p->cfg.nrpo; i++) {
        const Block *block = &p->func->blocks.items[p->cfg.rpo[i]];
        for (int32_t k = 0; k < block->insts.len; k++)
            if (is_array(p->func, block->insts.items[k], SPACE_LOCAL))
                need_slot(p, block->insts.items[k]);
    }
}

/* The branches between regions, and polls of the block, must be the block's. */
static bool is_decided(const ItemPlan *p) {
    for (int32_t i = 0; i < p->regions.len; i++) {
        const ItemRegion *r = &p->regions.items[i];
        if (!r->branches) continue;
        if (p->kind[ir_arg(p->func, ir_terminator(p->func, r->exit), 0)] != ITEM_BLOCK)
            return false;
    }
    return true;
}

/* -- the pass ----------------------------------------------------------------------------------- */

/* Everything from here on depends on which loops are cut that need not be. */
static bool find_regions(ItemPlan *p, bool loops) {
    memset(p->marked, 0, sizeof *p->marked * (size_t)p->cfg.n);
    memset(p->slot, 0, sizeof *p->slot * (size_t)p->func->insts.len);
    p->regions.len = p->leaders.len = p->nslots = 0;
    if (!mark(p, loops) || !make_regions(p)) return false;
    find_kinds(p);
    find_passed(p);
    each_inst(p, find_slots);
    find_array_slots(p);
    return is_decided(p);
}

static bool find_all(ItemPlan *p) {
    Arena *arena = p->ctx->arena;
    cfg_compute(&p->cfg, arena, p->func);
    int32_t nblocks = p->func->blocks.len, ninsts = p->func->insts.len;
    p->ipdom = arena_array(arena, int32_t, nblocks);
    p->marked = arena_array(arena, bool, nblocks);
    p->divided = arena_array(arena, bool, nblocks);
    p->joins = arena_array(arena, bool, nblocks);
    p->region = arena_array(arena, int32_t, nblocks);
    p->varying = arena_array(arena, bool, ninsts);
    p->kind = arena_array(arena, uint8_t, ninsts);
    p->slot = arena_array(arena, int32_t, ninsts);
    p->passed = arena_array(arena, int32_t, ninsts);
    if (p->cfg.irreducible || !find_postdominators(p)) return false;
    find_varying(p);
    return find_regions(p, true) || (!p->again && find_regions(p, false));
}

/* Where ways out of a region were joined, all is found anew. */
static bool plan(ItemPlan *p) {
    if (!scan(p)) return false;
    cfg_remove_unreachable(p->func);
    split_blocks(p);
    do {
        p->again = false;
        if (p->func->blocks.len > MOST_BLOCKS) return false;
        if (find_all(p)) return true;
    } while (p->again);
    return false;
}

Ref item_count_of(const ItemPlan *p, int32_t leader) {
    Ref first = p->func->blocks.items[leader].insts.items[0];
    return is_count(p->func, first) ? first : NO_REF;
}

Ref item_passing_of(const ItemPlan *p, int32_t leader) {
    Ref first = p->func->blocks.items[leader].insts.items[0];
    bool puts = p->passed[first] && p->passed[first] != p->slot[ir_arg(p->func, first, 1)];
    return puts ? first : NO_REF;
}

void opt_workitem(PassContext *ctx, Func *func) {
    const CompileOptions *o = ctx->options;
    if (o->entry != ENTRY_KERNEL || !target_is_host(o->infer.target) || o->sanitize) return;
    if (func != ctx->module->funcs.items[0]) return;
    ItemPlan p = {.ctx = ctx, .func = func};
    if (plan(&p)) item_build(&p);
}
