/* workitem_support.c - the scheduler of work-items that wait for each other (see workitem.h).
 *
 * A block is run warp by warp. Within a warp every lane that may go on is resumed in turn; then operations of
 * the warp whose lanes have all arrived are answered, and so on until no lane can move. When every work-item
 * that has not ended stands at one barrier, all go on. When not, nothing can ever move again: an error.
 * Work-items that have ended count as arrived, at barriers and in masks, as on GPUs. */
#include "codegen/workitem.h"
#include "codegen/sanitize.h"
#include "frontend/base/os.h"

#include <string.h>

/* How much runs between two switches is not known: a loop of a thousand rounds has no poll. So the clock is looked at
 * after as many switches as four warps make, and every POLL_NS the caller is asked. */
enum { FRAME_ALIGN = 64, LOOK_EVERY = 4 * WORK_LANES };
#define POLL_NS INT64_C(10000000)

typedef struct Run {
    WorkBlock block; /* first: generated code gets its address */
    CallContext *ctx;
    void **args;
    KernelGrid *grid;
    WorkStart start;
    WorkItem *items;
    int32_t n;
    char *frames; /* of all items, one after the other; made when the first asks */
    int64_t stride;
    int32_t waiting[WORK_REQUESTS]; /* items by request; warp operations are not counted */
    int32_t until_look;             /* switches before the clock is looked at */
    int64_t next_poll;              /* by that clock */
    uint32_t epoch, grid_epoch;     /* barriers that the block, and the grid, have passed */
    uint32_t sanitize;              /* SanitizeBits */
} Run;

/* -- coroutines ------------------------------------------------------------------------------- */

/* LLVM puts the two functions of a suspended coroutine at the start of its frame. */
typedef struct Frame {
    void (*resume)(void *frame);
    void (*destroy)(void *frame);
} Frame;

static void resume(const WorkItem *item) {
    ((Frame *)item->frame)->resume(item->frame);
}

void *quern_item_frame(CallContext *ctx, WorkBlock *block, WorkItem *item, int64_t size) {
    Run *r = (Run *)block;
    if (!r->frames) {
        /* an odd number of cache lines, so that equal variables of the items do not share a set */
        r->stride = ((size + FRAME_ALIGN - 1) / FRAME_ALIGN | 1) * FRAME_ALIGN;
        r->frames = r->grid->frame_alloc(r->grid, r->stride * r->n);
    }
    if (!r->frames) {
        ctx->exception = -1 - GUARD_memory;
        ctx->site = -1;
        ctx->args[0] = r->stride * r->n;
        return NULL;
    }
    return r->frames + r->stride * (item - r->items);
}

/* -- operations of a warp --------------------------------------------------------------------- */

static uint32_t bit(int lane) {
    return UINT32_C(1) << lane;
}

/* The lane that a shuffle reads: its own where there is no other. Distances count modulo 32, as in PTX. */
static int source_lane(WorkRequest op, int lane, int32_t arg) {
    int by = arg & (WORK_LANES - 1), from = lane;
    switch ((int)op) {
    case WORK_SHFL_IDX: from = by; break;
    case WORK_SHFL_UP: from = lane - by; break;
    case WORK_SHFL_DOWN: from = lane + by; break;
    case WORK_SHFL_XOR: from = lane ^ by; break;
    default: break;
    }
    return from < 0 || from >= WORK_LANES ? lane : from;
}

typedef struct Operands {
    uint64_t value[WORK_LANES][2];
    uint32_t group; /* the lanes that take part */
} Operands;

static bool same_value(const Operands *o, int a, int b) {
    return o->value[a][0] == o->value[b][0] && o->value[a][1] == o->value[b][1];
}

static uint32_t lanes_like(const Operands *o, int lane) {
    uint32_t same = 0;
    for (int k = 0; k < WORK_LANES; k++)
        if (o->group & bit(k) && same_value(o, k, lane)) same |= bit(k);
    return same;
}

static uint32_t ballot(const Operands *o) {
    uint32_t set = 0;
    for (int k = 0; k < WORK_LANES; k++)
        if (o->group & bit(k) && o->value[k][0]) set |= bit(k);
    return set;
}

static void shuffle(WorkItem *lanes, const Operands *o, WorkRequest op) {
    for (int k = 0; k < WORK_LANES; k++) {
        if (!(o->group & bit(k))) continue;
        int from = source_lane(op, k, lanes[k].arg);
        if (o->group & bit(from)) memcpy(lanes[k].value, o->value[from], sizeof o->value[from]);
    }
}

/* The one result of a vote or match_all, or that of match_any for `lane`. */
static uint64_t common_result(const Operands *o, WorkRequest op, int lane) {
    switch ((int)op) {
    case WORK_VOTE_ALL: return ballot(o) == o->group;
    case WORK_VOTE_ANY: return ballot(o) != 0;
    case WORK_VOTE_EQ: return ballot(o) == o->group || ballot(o) == 0;
    case WORK_VOTE_BALLOT: return ballot(o);
    case WORK_MATCH_ANY: return lanes_like(o, lane);
    case WORK_MATCH_ALL: return lanes_like(o, lane) == o->group ? o->group : 0;
    default: return 0;
    }
}

/* All lanes of the group have arrived: gives each its result. */
static void answer(WorkItem *lanes, uint32_t group) {
    Operands o = {.group = group};
    int first = __builtin_ctz(group);
    WorkRequest op = (WorkRequest)lanes[first].request;
    for (int k = 0; k < WORK_LANES; k++)
        if (group & bit(k)) memcpy(o.value[k], lanes[k].value, sizeof o.value[k]);
    bool shuffles = op >= WORK_SHFL_IDX && op <= WORK_SHFL_XOR;
    if (shuffles) shuffle(lanes, &o, op);
    uint64_t result = shuffles ? 0 : common_result(&o, op, first);
    for (int k = 0; k < WORK_LANES; k++) {
        if (!(group & bit(k))) continue;
        lanes[k].request = WORK_READY;
        lanes[k].warp_epoch++;
        if (!shuffles) lanes[k].value[0] = op == WORK_MATCH_ANY ? common_result(&o, op, k) : result;
        if (op == WORK_MATCH_ALL) lanes[k].value[1] = result != 0;
    }
}

/* Is every live lane of the mask that lane `lead` gave at the same operation with the same mask? */
static bool complete(const WorkItem *lanes, uint32_t live, int lead, uint32_t *group) {
    *group = lanes[lead].mask & live;
    if (!(*group & bit(lead))) return false;
    for (int k = 0; k < WORK_LANES; k++)
        if (*group & bit(k) &&
            (lanes[k].request != lanes[lead].request || lanes[k].mask != lanes[lead].mask))
            return false;
    return true;
}

/* Lanes at one activemask run together when nobody else of the warp can still come. */
static bool answer_activemask(WorkItem *lanes, int n) {
    bool progress = false;
    for (int lead = 0; lead < n; lead++) {
        uint32_t group = 0;
        for (int k = lead; k < n; k++)
            if (lanes[k].request == WORK_ACTIVEMASK && lanes[k].site == lanes[lead].site)
                group |= bit(k);
        if (lanes[lead].request != WORK_ACTIVEMASK) continue;
        for (int k = lead; k < n; k++)
            if (group & bit(k)) {
                lanes[k].request = WORK_READY;
                lanes[k].value[0] = group;
            }
        progress = true;
    }
    return progress;
}

/* Answers what can be answered in a warp in which no lane is running. Did a lane become ready? */
static bool resolve_warp(WorkItem *lanes, int n) {
    uint32_t live = 0, waiting = 0, group;
    bool progress = false;
    for (int k = 0; k < n; k++) {
        live |= lanes[k].request != WORK_DONE ? bit(k) : 0;
        waiting |=
            lanes[k].request >= WORK_FIRST_WARP && lanes[k].request != WORK_ACTIVEMASK ? bit(k) : 0;
    }
    while (waiting) {
        int lead = __builtin_ctz(waiting);
        waiting &= ~bit(lead);
        if (complete(lanes, live, lead, &group)) {
            answer(lanes, group);
            waiting &= ~group;
            progress = true;
        }
    }
    return progress || answer_activemask(lanes, n);
}

/* -- a block ---------------------------------------------------------------------------------- */

static int32_t poll(Run *r, int32_t switches) {
    r->until_look -= switches;
    if (r->until_look > 0) return CALL_OK;
    r->until_look = LOOK_EVERY;
    int64_t now = os_coarse_ns();
    if (now < r->next_poll) return CALL_OK;
    r->next_poll = now + POLL_NS;
    return r->ctx->poll && r->ctx->poll(r->ctx) ? CALL_PENDING : CALL_OK;
}

/* Who raised: into the call context. */
static void name_item(Run *r, const WorkItem *item) {
    r->ctx->has_item = 1;
    memcpy(r->ctx->block, r->block.block, sizeof r->ctx->block);
    memcpy(r->ctx->thread, item->thread, sizeof r->ctx->thread);
}

static void tell_item(const Run *r, const WorkItem *item) {
    const uint32_t *block = r->block.block, *thread = item->thread;
    quern_sanitize_item(block[0], block[1], block[2], thread[0], thread[1], thread[2]);
    sanitizer_epoch(r->grid_epoch, r->epoch, item->warp_epoch);
}

/* All live items wait at a barrier: is it one? */
static void tell_barrier(const Run *r, WorkRequest barrier) {
    const WorkItem *first = NULL;
    for (int32_t i = 0; i < r->n; i++) {
        const WorkItem *item = &r->items[i];
        if (item->request != (uint32_t)barrier) continue;
        if (!first) first = item;
        if (item->site == first->site) continue;
        tell_item(r, item);
        sanitizer_divergent(item->site, item->thread, first->site, first->thread);
        return;
    }
}

/* Runs the lanes whose request is `ready`, and whoever they let go on, until nobody of the warp moves. */
static int32_t run_warp(Run *r, WorkItem *lanes, int n, WorkRequest ready, bool first) {
    bool warp_operation;
    do {
        warp_operation = false;
        for (int k = 0; k < n; k++) {
            WorkItem *item = &lanes[k];
            if (item->request == ready) {
                if (QN_UNLIKELY(r->sanitize)) tell_item(r, item);
                if (first)
                    r->start(r->ctx, r->args, &r->block, item);
                else
                    resume(item);
                if (item->request < WORK_FIRST_WARP) r->waiting[item->request]++;
                if (item->request == WORK_DONE && item->status != CALL_OK) {
                    name_item(r, item);
                    return item->status;
                }
            }
            warp_operation |= item->request >= WORK_FIRST_WARP;
        }
        ready = WORK_READY;
        first = false;
        if (poll(r, n) != CALL_OK) return CALL_PENDING;
    } while (warp_operation && resolve_warp(lanes, n));
    return CALL_OK;
}

static int32_t run_phase(Run *r, WorkRequest ready, bool first) {
    int32_t status = CALL_OK;
    for (int32_t i = 0; i < r->n && status == CALL_OK; i += WORK_LANES)
        status = run_warp(r, r->items + i, QN_MIN(r->n - i, WORK_LANES), ready, first);
    return status;
}

static int32_t deadlock(Run *r, int32_t live) {
    int32_t at_barrier = 0;
    const WorkItem *shown = NULL;
    for (int32_t i = 0; i < r->n; i++) {
        const WorkItem *item = &r->items[i];
        bool barrier = item->request >= WORK_BARRIER && item->request < WORK_FIRST_WARP;
        at_barrier += barrier;
        if (item->request != WORK_DONE &&
            (!shown || (!barrier && shown->request < WORK_FIRST_WARP)))
            shown = item;
    }
    r->ctx->exception = -1 - GUARD_deadlock;
    r->ctx->site = shown->site;
    name_item(r, shown);
    r->ctx->args[0] = at_barrier;
    r->ctx->args[1] = live - at_barrier;
    r->ctx->args[2] = r->n - live;
    return CALL_EXCEPTION;
}

/* The barrier at which all live items wait, WORK_DONE when there are none, WORK_READY for a deadlock. */
static WorkRequest common_barrier(const Run *r, int32_t live) {
    if (live == 0) return WORK_DONE;
    for (int request = WORK_BARRIER; request < WORK_FIRST_WARP; request++)
        if (r->waiting[request] == live) return (WorkRequest)request;
    return WORK_READY;
}

static void reduce(Run *r, WorkRequest barrier, int32_t live) {
    int64_t set = 0;
    for (int32_t i = 0; i < r->n; i++)
        set += r->items[i].request == (uint32_t)barrier && r->items[i].value[0];
    uint64_t result = barrier == WORK_BARRIER_COUNT ? (uint64_t)set
                      : barrier == WORK_BARRIER_AND ? set == live
                                                    : set != 0;
    for (int32_t i = 0; i < r->n; i++)
        r->items[i].value[0] = result;
}

/* The block goes on until all its items have ended (WORK_DONE) or wait for the other blocks; else *status says why. */
static WorkRequest run_on(Run *r, WorkRequest from, bool first, int32_t *status) {
    *status = run_phase(r, from, first);
    while (*status == CALL_OK) {
        int32_t live = r->n - r->waiting[WORK_DONE];
        WorkRequest barrier = common_barrier(r, live);
        if (r->sanitize & SANITIZE_BARRIER && barrier > WORK_DONE) tell_barrier(r, barrier);
        r->epoch++;
        if (barrier == WORK_DONE || barrier == WORK_BARRIER_GRID) return barrier;
        if (barrier == WORK_READY) *status = deadlock(r, live);
        if (barrier == WORK_READY) break;
        if (barrier != WORK_BARRIER) reduce(r, barrier, live);
        r->waiting[barrier] = 0;
        *status = run_phase(r, barrier, false);
    }
    return WORK_READY;
}

static WorkRequest begin_block(Run *r, int32_t *status) {
    memset(r->waiting, 0, sizeof r->waiting);
    r->epoch = 0;
    for (int32_t i = 0; i < r->n; i++) {
        r->items[i].request = WORK_READY;
        r->items[i].warp_epoch = 0;
    }
    return run_on(r, WORK_READY, true, status);
}

/* Destroying runs the clean-up of an item, which has nothing to say about the exception. */
static void give_up_block(Run *r) {
    CallContext kept = *r->ctx;
    for (int32_t i = 0; i < r->n; i++)
        if (r->items[i].request > WORK_DONE)
            ((Frame *)r->items[i].frame)->destroy(r->items[i].frame);
    *r->ctx = kept;
}

static int32_t run_block(Run *r) {
    int32_t status;
    if (begin_block(r, &status) != WORK_DONE) give_up_block(r);
    return status;
}

/* -- a range of blocks ------------------------------------------------------------------------ */

static void open_run(Run *r, KernelGrid *grid) {
    memcpy(r->block.block_dim, grid->block, sizeof grid->block);
    memcpy(r->block.grid_dim, grid->grid, sizeof grid->grid);
    r->block.dynamic_shared = grid->dynamic_shared;
    r->block.shared = grid->shared;
    for (int32_t i = 0; i < r->n; i++) {
        uint32_t linear = (uint32_t)i, *thread = r->items[i].thread;
        thread[0] = linear % grid->block[0];
        thread[1] = linear / grid->block[0] % grid->block[1];
        thread[2] = linear / grid->block[0] / grid->block[1];
        r->items[i].frame = NULL;
    }
}

static int32_t no_memory(CallContext *ctx, int64_t bytes) {
    ctx->exception = -1 - GUARD_memory;
    ctx->site = -1;
    ctx->args[0] = bytes;
    return CALL_EXCEPTION;
}

/* Room for the items. false: none, and the context says so. */
static bool open_items(Run *r) {
    int64_t bytes = r->n * (int64_t)sizeof(WorkItem);
    r->items = r->grid->frame_alloc(r->grid, bytes);
    if (r->items)
        open_run(r, r->grid);
    else
        no_memory(r->ctx, bytes);
    return r->items != NULL;
}

static void close_items(Run *r) {
    if (r->frames) r->grid->frame_free(r->grid, r->frames);
    if (r->items) r->grid->frame_free(r->grid, r->items);
}

static void place_block(Run *r, uint64_t linear) {
    const uint32_t *grid = r->grid->grid;
    r->block.block[0] = (uint32_t)(linear % grid[0]);
    r->block.block[1] = (uint32_t)(linear / grid[0] % grid[1]);
    r->block.block[2] = (uint32_t)(linear / grid[0] / grid[1]);
}

/* -- all blocks at the same time -------------------------------------------------------------- */

static int32_t grid_deadlock(Run *waits, int64_t waiting, int64_t ended) {
    const WorkItem *shown = waits->items;
    while (shown->request != WORK_BARRIER_GRID)
        shown++;
    waits->ctx->exception = -1 - GUARD_grid_deadlock;
    waits->ctx->site = shown->site;
    name_item(waits, shown);
    waits->ctx->args[0] = waiting;
    waits->ctx->args[1] = ended;
    return CALL_EXCEPTION;
}

/* Every block goes on to the next barrier of the grid; *more: there is one. */
static int32_t run_to_barrier(Run *runs, int64_t n, bool first, bool *more) {
    int64_t ended = 0;
    int32_t status = CALL_OK;
    Run *waits = NULL;
    for (int64_t i = 0; i < n && status == CALL_OK; i++) {
        Run *r = &runs[i];
        r->waiting[WORK_BARRIER_GRID] = 0;
        r->grid_epoch += !first;
        WorkRequest at =
            first ? begin_block(r, &status) : run_on(r, WORK_BARRIER_GRID, false, &status);
        ended += at == WORK_DONE;
        if (at == WORK_BARRIER_GRID) waits = r;
    }
    *more = waits && ended == 0;
    if (status == CALL_OK && waits && ended) status = grid_deadlock(waits, n - ended, ended);
    return status;
}

static int32_t run_together(const Run *shape, int64_t n) {
    KernelGrid *grid = shape->grid;
    Run *runs = grid->frame_alloc(grid, n * (int64_t)sizeof *runs);
    int32_t status = CALL_OK;
    bool more = true;
    int64_t opened = 0;
    if (!runs) return no_memory(shape->ctx, n * (int64_t)sizeof *runs);
    for (; opened < n && status == CALL_OK; opened++) {
        Run *r = &runs[opened];
        *r = *shape;
        if (!open_items(r)) status = CALL_EXCEPTION;
        r->block.shared = grid->shared + opened * grid->shared_stride;
        place_block(r, grid->first + (uint64_t)opened);
        for (int32_t i = 0; r->items && i < r->n; i++)
            r->items[i].request = WORK_READY;
    }
    for (bool first = true; status == CALL_OK && more; first = false)
        status = run_to_barrier(runs, n, first, &more);
    for (int64_t i = 0; i < opened; i++) {
        if (status != CALL_OK && runs[i].items) give_up_block(&runs[i]);
        close_items(&runs[i]);
    }
    grid->frame_free(grid, runs);
    return status;
}

int32_t quern_run_blocks(CallContext *ctx, void **args, KernelGrid *grid, WorkStart start) {
    int64_t n = (int64_t)grid->block[0] * grid->block[1] * grid->block[2];
    Run r = {.ctx = ctx, .args = args, .grid = grid, .start = start, .n = (int32_t)n};
    r.sanitize = sanitizer_active();
    int32_t status = CALL_OK;
    if (n == 0 || grid->first >= grid->last) return CALL_OK;
    r.until_look = LOOK_EVERY;
    r.next_poll = os_coarse_ns() + POLL_NS;
    if (grid->cooperative) return run_together(&r, (int64_t)(grid->last - grid->first));
    if (!open_items(&r)) return CALL_EXCEPTION;
    for (uint64_t linear = grid->first; linear < grid->last && status == CALL_OK; linear++) {
        place_block(&r, linear);
        status = run_block(&r);
    }
    close_items(&r);
    return status;
}

int32_t quern_run_items(CallContext *ctx, void **args, KernelGrid *grid, int64_t bytes,
                        WorkBlocks blocks) {
    bytes *= (int64_t)grid->block[0] * grid->block[1] * grid->block[2];
    if (bytes == 0 || grid->first >= grid->last) return CALL_OK;
    char *kept = grid->frame_alloc(grid, bytes);
    if (!kept) return no_memory(ctx, bytes);
    int32_t status = blocks(ctx, args, grid, kept);
    grid->frame_free(grid, kept);
    return status;
}
