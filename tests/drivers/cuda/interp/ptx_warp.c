/* Threads that wait for one another: the operations of a warp, the barriers of a block.
 *
 * A thread at such an instruction has stopped with its pc there. ptx_warp_step looks for a group that
 * is complete (every thread of the mask has come with the same operation and mask, or has ended),
 * computes the answers of the whole group from the waiting registers, and lets it go on.
 */
#include "ptx_num.h"
#include "ptx_run.h"

typedef struct Group {
    Block *b;
    Thread *lanes; /* of the warp */
    uint32_t nlanes;
    uint32_t members; /* bits of the waiting threads that belong to it */
    const PtxIns *in; /* the leader's */
} Group;

static Thread *lane(const Group *g, uint32_t i) {
    return &g->lanes[i];
}
static bool member(const Group *g, uint32_t i) {
    return i < g->nlanes && (g->members >> i & 1);
}
static uint64_t source(const Thread *t, unsigned i) {
    return t->R[t->pc->s[i]];
}
static const uint32_t *ext(const Thread *t) {
    return t->fn->ext[t->pc->imm];
}

static uint32_t mask_of(const Thread *t) {
    switch ((PtxOp)t->pc->op) {
    case OP_warp_sync:
    case OP_elect: return (uint32_t)source(t, 0);
    case OP_shfl: return (uint32_t)t->R[ext(t)[0]];
    case OP_vote:
    case OP_match:
    case OP_redux: return (uint32_t)source(t, 1);
    default: return 0;
    }
}

/* -- The operations --------------------------------------------------------------------------- */

/* Lane that i reads from, or -1 where it keeps its own value. The clamp operand holds the limit in its
 * low five bits and, above them, the mask that splits the warp into segments. */
static int shfl_source(PtxShfl mode, uint32_t i, uint32_t b, uint32_t c) {
    uint32_t segment = c >> 8 & 31, clamp = c & 31;
    uint32_t top = (i & segment) | (clamp & ~segment), low = i & segment;
    b &= 31;
    int j;
    switch (mode) {
    case SHFL_up: j = (int)i - (int)b; return j >= (int)top ? j : -1;
    case SHFL_down: j = (int)(i + b); return j <= (int)top ? j : -1;
    case SHFL_bfly: j = (int)(i ^ b); return j <= (int)top ? j : -1;
    default: j = (int)(low | (b & ~segment)); return j <= (int)top ? j : -1;
    }
}

/* A value from a thread that is not there is one that no program can want. */
static void do_shfl(const Group *g) {
    uint64_t values[WARP];
    bool found[WARP];
    for (uint32_t i = 0; i < g->nlanes; i++) {
        if (!member(g, i)) continue;
        const Thread *t = lane(g, i);
        int j = shfl_source((PtxShfl)t->pc->aux, i, (uint32_t)source(t, 1), (uint32_t)source(t, 2));
        found[i] = j >= 0;
        uint32_t from = found[i] ? (uint32_t)j : i;
        values[i] = member(g, from) ? (uint32_t)source(lane(g, from), 0) : 0xcbcbcbcb;
    }
    for (uint32_t i = 0; i < g->nlanes; i++) {
        if (!member(g, i)) continue;
        Thread *t = lane(g, i);
        t->R[ext(t)[1]] = found[i];
        t->R[t->pc->d] = values[i];
    }
}

static void do_vote(const Group *g) {
    uint32_t ballot = 0;
    for (uint32_t i = 0; i < g->nlanes; i++)
        if (member(g, i) && (source(lane(g, i), 0) & 1)) ballot |= UINT32_C(1) << i;
    uint64_t results[] = {[VOTE_all] = ballot == g->members,
                          [VOTE_any] = ballot != 0,
                          [VOTE_uni] = ballot == 0 || ballot == g->members,
                          [VOTE_ballot] = ballot};
    for (uint32_t i = 0; i < g->nlanes; i++)
        if (member(g, i)) lane(g, i)->R[lane(g, i)->pc->d] = results[g->in->aux];
}

static uint64_t match_value(const Thread *t) {
    return t->pc->aux & 2 ? source(t, 0) : (uint32_t)source(t, 0);
}

static void do_match(const Group *g) {
    uint32_t same[WARP] = {0};
    bool all = true;
    for (uint32_t i = 0; i < g->nlanes; i++) {
        for (uint32_t j = 0; member(g, i) && j < g->nlanes; j++)
            if (member(g, j) && match_value(lane(g, i)) == match_value(lane(g, j)))
                same[i] |= UINT32_C(1) << j;
        if (member(g, i) && same[i] != g->members) all = false;
    }
    for (uint32_t i = 0; i < g->nlanes; i++) {
        if (!member(g, i)) continue;
        Thread *t = lane(g, i);
        t->R[ext(t)[1]] = all;
        t->R[t->pc->d] = !(t->pc->aux & 1) ? same[i] : all ? g->members : 0;
    }
}

static void do_redux(const Group *g) {
    uint64_t total = 0;
    bool first = true;
    for (uint32_t i = 0; i < g->nlanes; i++) {
        if (!member(g, i)) continue;
        uint64_t value = source(lane(g, i), 0);
        total =
            first ? value
                  : ptx_atomic(PTX_ATOM_OP(g->in->aux), PTX_ATOM_TYPE(g->in->aux), total, value, 0);
        first = false;
    }
    for (uint32_t i = 0; i < g->nlanes; i++)
        if (member(g, i)) lane(g, i)->R[lane(g, i)->pc->d] = (uint32_t)total;
}

static void do_elect(const Group *g) {
    uint32_t leader = 0;
    while (!member(g, leader))
        leader++;
    for (uint32_t i = 0; i < g->nlanes; i++) {
        if (!member(g, i)) continue;
        Thread *t = lane(g, i);
        t->R[t->pc->d] = leader;
        t->R[ext(t)[1]] = i == leader;
    }
}

static void do_active_mask(const Group *g) {
    for (uint32_t i = 0; i < g->nlanes; i++)
        if (member(g, i)) lane(g, i)->R[lane(g, i)->pc->d] = g->members;
}

static void perform(const Group *g) {
    switch ((PtxOp)g->in->op) {
    case OP_shfl: do_shfl(g); break;
    case OP_vote: do_vote(g); break;
    case OP_match: do_match(g); break;
    case OP_redux: do_redux(g); break;
    case OP_elect: do_elect(g); break;
    case OP_active_mask: do_active_mask(g); break;
    default: break; /* bar.warp.sync only waits */
    }
    for (uint32_t i = 0; i < g->nlanes; i++) {
        if (!member(g, i)) continue;
        lane(g, i)->pc++;
        lane(g, i)->status = TS_ready;
    }
}

/* -- Groups ----------------------------------------------------------------------------------- */

/* The same operation with the same qualifiers and mask; it need not be the same instruction. */
static bool joins(const Thread *leader, const Thread *t) {
    return t->status == TS_warp && t->pc->op == leader->pc->op && t->pc->aux == leader->pc->aux &&
           mask_of(t) == mask_of(leader);
}

/* Fills in the members; false while one is still on its way. */
static bool complete(Group *g, const Thread *leader, uint32_t mask) {
    g->members = 0;
    g->in = leader->pc;
    for (uint32_t i = 0; i < g->nlanes; i++) {
        const Thread *t = lane(g, i);
        if (!(mask >> i & 1) || t->status == TS_exited) continue;
        if (!joins(leader, t)) return false;
        g->members |= UINT32_C(1) << i;
    }
    return true;
}

/* activemask answers with the threads that stand at the same instruction once nobody in the warp can
 * run: as much convergence as the program's text allows. */
static bool release_active(Group *g) {
    const PtxIns *at = NULL;
    g->members = 0;
    for (uint32_t i = 0; i < g->nlanes; i++) {
        const Thread *t = lane(g, i);
        if (t->status == TS_ready) return false;
        if (t->status != TS_warp || t->pc->op != OP_active_mask || (at && at != t->pc)) continue;
        at = t->pc;
        g->members |= UINT32_C(1) << i;
    }
    if (!at) return false;
    g->in = at;
    perform(g);
    return true;
}

bool ptx_warp_step(Block *b, uint32_t warp) {
    uint32_t first = warp * WARP;
    uint32_t left = b->nthreads - first;
    Group g = {.b = b, .lanes = b->threads + first, .nlanes = left < WARP ? left : WARP};
    bool any = false;
    for (uint32_t i = 0; i < g.nlanes; i++) {
        Thread *t = lane(&g, i);
        if (t->status != TS_warp || t->pc->op == OP_active_mask) continue;
        uint32_t mask = mask_of(t);
        if (!(mask >> i & 1)) {
            ptx_fault(b, t, FAULT_instruction, "lane %u is not in its own member mask 0x%08x", i,
                      mask);
            return false;
        }
        if (!complete(&g, t, mask)) continue;
        perform(&g);
        any = true;
    }
    return any || release_active(&g);
}

/* -- Barriers --------------------------------------------------------------------------------- */

/* What has come to one barrier. Threads that have ended are waited for by nobody; where the barrier
 * names a number, they count with their warp, because the hardware counts warps. */
typedef struct Tally {
    uint32_t waiting, alive, gone; /* gone: ended, in warps of which a thread waits here */
    uint32_t expected;
    uint32_t ones, preds; /* for bar.red: threads whose predicate holds; all that have one */
} Tally;

static Tally tally(const Block *b, uint32_t id) {
    Tally sum = {0};
    for (uint32_t w = 0; w < b->nthreads; w += WARP) {
        uint32_t gone = 0, here = 0;
        for (uint32_t i = w; i < b->nthreads && i < w + WARP; i++) {
            const Thread *t = &b->threads[i];
            gone += t->status == TS_exited;
            sum.alive += t->status != TS_exited;
            if (t->status != TS_barrier || t->barrier != id) continue;
            here++;
            sum.expected = t->expected ? t->expected : sum.expected;
            if (t->pc->aux < BAR_popc) continue;
            sum.preds++;
            sum.ones += source(t, 2) & 1;
        }
        sum.waiting += here;
        if (here) sum.gone += gone;
    }
    return sum;
}

static void release(Block *b, uint32_t id, const Tally *sum) {
    uint64_t results[] = {
        [BAR_popc] = sum->ones, [BAR_and] = sum->ones == sum->preds, [BAR_or] = sum->ones != 0};
    for (uint32_t i = 0; i < b->nthreads; i++) {
        Thread *t = &b->threads[i];
        if (t->status != TS_barrier || t->barrier != id) continue;
        if (t->pc->aux >= BAR_popc) t->R[t->pc->d] = results[t->pc->aux];
        t->status = TS_ready;
        t->pc++;
    }
    b->arrivals[id] = (Arrivals){0};
}

/* A thread at bar.arrive is counted and goes on. */
static bool arrive(Block *b) {
    bool any = false;
    for (uint32_t i = 0; i < b->nthreads; i++) {
        Thread *t = &b->threads[i];
        if (t->status != TS_barrier) continue;
        if (t->barrier >= BARRIERS || t->expected > b->nthreads + WARP)
            return ptx_fault(b, t, FAULT_instruction, "barrier %u for %u threads", t->barrier,
                             t->expected);
        if (t->pc->aux != BAR_arrive) continue;
        b->arrivals[t->barrier].count++;
        b->arrivals[t->barrier].expected = t->expected;
        t->status = TS_ready;
        t->pc++;
        any = true;
    }
    return any;
}

bool ptx_block_step(Block *b) {
    bool any = arrive(b);
    for (uint32_t id = 0; id < BARRIERS && !b->run->fault; id++) {
        Tally sum = tally(b, id);
        const Arrivals *early = &b->arrivals[id];
        uint32_t expected = sum.expected ? sum.expected : early->expected;
        if (sum.waiting == 0 && early->count == 0) continue;
        bool full = expected ? sum.waiting + sum.gone + early->count >= expected
                             : sum.waiting + early->count >= sum.alive;
        if (!full) continue;
        release(b, id, &sum);
        any = any || sum.waiting;
    }
    return any;
}
