/* Launches: sizes, memory for the blocks, and the order in which threads, warps and blocks run.
 *
 * A thread runs until it must wait or its slice is used up. A round of a block gives every thread one
 * turn. One block is resident at a time, as long as it comes to its end; a block that goes on and on
 * may be waiting for another one, so others are let in beside it. A cooperative launch has all its
 * blocks resident from the start.
 */
#include "ptx_interp.h"
#include "ptx_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- Sizes ------------------------------------------------------------------------------------ */

typedef struct Need {
    uint32_t depth, slots, bytes;
    bool unbounded; /* recursion, or a call through a pointer */
} Need;

enum { ON_PATH = 1, DEEP_FRAMES = 512, DEEP_SLOTS = 1 << 16, DEEP_BYTES = 1 << 16 };

static uint32_t greater(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* Callees are visited as often as they are called from different places: call graphs are small. */
static Need measure(PtxFunc *fn) {
    Need most = {0};
    if (fn->visit == ON_PATH) return (Need){.unbounded = true};
    fn->visit = ON_PATH;
    for (uint32_t i = 0; i < fn->ncalls && !most.unbounded; i++) {
        const PtxCallSite *site = &fn->calls[i];
        bool seen = false;
        for (uint32_t k = 0; k < i; k++)
            seen |= site->callee && fn->calls[k].callee == site->callee;
        if (seen) continue;
        Need need = site->callee ? measure(site->callee) : (Need){.unbounded = true};
        most.depth = greater(most.depth, need.depth + 1);
        most.slots = greater(most.slots, need.slots);
        most.bytes = greater(most.bytes, need.bytes);
        most.unbounded |= need.unbounded;
    }
    fn->visit = 0;
    most.slots += fn->nslots;
    most.bytes += ptx_frame_bytes(fn);
    return most;
}

static Need need_of(const PtxFunc *entry) {
    Need need = measure((PtxFunc *)(uintptr_t)entry);
    if (need.unbounded) need = (Need){DEEP_FRAMES, DEEP_SLOTS, DEEP_BYTES + need.bytes, true};
    return need;
}

uint32_t ptx_local_bytes(const PtxFunc *entry) {
    return entry->local_size;
}

static void mark_shared(const PtxFunc *fn, uint8_t *used, uint8_t *visited) {
    if (visited[fn->id]) return;
    visited[fn->id] = 1;
    for (uint32_t i = 0; i < fn->nshared_used; i++)
        used[fn->shared_used[i]] = 1;
    for (uint32_t i = 0; i < fn->ncalls; i++)
        if (fn->calls[i].callee) mark_shared(fn->calls[i].callee, used, visited);
}

/* What the vendor's assembler would count: the variables that the kernel and its callees name. */
uint32_t ptx_shared_static(const PtxModule *module, const PtxFunc *entry) {
    uint8_t *marks = calloc(module->nvars + module->nfuncs + 1, 1);
    uint64_t total = 0;
    if (!marks) return 0;
    mark_shared(entry, marks, marks + module->nvars);
    for (uint32_t i = 0; i < module->nvars; i++) {
        const PtxVar *var = &module->vars[i];
        if (!marks[i] || var->dynamic) continue;
        total = (total + var->align - 1) / var->align * var->align + var->size;
    }
    free(marks);
    return (uint32_t)total;
}

/* -- Blocks ----------------------------------------------------------------------------------- */

static size_t align64(size_t size) {
    return (size + 63) & ~(size_t)63;
}

/* One piece of memory for everything a block has. The pages of deep stacks are touched only if used. */
static bool block_open(Run *run, Block *b) {
    size_t n = run->nthreads;
    size_t threads = align64(n * sizeof(Thread)),
           slots = align64(run->max_slots * sizeof(uint64_t));
    size_t frames = align64((run->max_depth + 1) * sizeof(Frame)),
           local = align64(run->local_size + 64);
    size_t shared = align64(run->shared_size + 64);
    char *at = calloc(1, threads + shared + n * (slots + frames + local) + 256);
    *b = (Block){.run = run, .nthreads = run->nthreads, .memory = at};
    if (!at) return false;
    at = (char *)(((uintptr_t)at + 255) & ~(uintptr_t)255);
    b->shared = (uint8_t *)at;
    b->threads = (Thread *)(void *)(at + shared);
    at += shared + threads;
    for (size_t i = 0; i < n; i++) {
        Thread *t = &b->threads[i];
        t->local = (uint8_t *)at;
        t->slots = (uint64_t *)(void *)(at + local);
        t->frames = (Frame *)(void *)(at + local + slots);
        at += local + slots + frames;
    }
    return true;
}

static void block_start(Block *b, uint64_t index) {
    const PtxLaunch *l = b->run->launch;
    b->busy = true;
    b->ctaid[0] = (uint32_t)(index % l->grid[0]);
    b->ctaid[1] = (uint32_t)(index / l->grid[0] % l->grid[1]);
    b->ctaid[2] = (uint32_t)(index / l->grid[0] / l->grid[1]);
    memset(b->arrivals, 0, sizeof b->arrivals);
    memset(b->shared, 0xcb, b->run->shared_size);
    for (uint32_t i = 0; i < b->nthreads; i++) {
        Thread *t = &b->threads[i];
        t->R = NULL;
        t->depth = t->local_top = 0;
        t->status = TS_ready;
        t->tid[0] = i % l->block[0];
        t->tid[1] = i / l->block[0] % l->block[1];
        t->tid[2] = i / l->block[0] / l->block[1];
        t->lane = i % WARP;
        t->warp = i / WARP;
        ptx_enter(b, t, l->entry);
    }
}

/* One turn for every thread of the warp that can run, again and again while the warp's own operations
 * let threads go on. */
static bool warp_round(Block *b, uint32_t warp) {
    uint32_t first = warp * WARP, last = first + WARP < b->nthreads ? first + WARP : b->nthreads;
    bool reverse = b->run->launch->reverse, any = false;
    do {
        for (uint32_t k = first; k < last; k++) {
            Thread *t = &b->threads[reverse ? first + last - 1 - k : k];
            if (t->status != TS_ready) continue;
            t->status = ptx_exec(b, t);
            any = true;
            if (b->run->fault) return true;
        }
    } while (ptx_warp_step(b, warp) && !b->run->fault);
    return any;
}

static bool all_exited(const Block *b) {
    for (uint32_t i = 0; i < b->nthreads; i++)
        if (b->threads[i].status != TS_exited) return false;
    return true;
}

static void report_deadlock(Block *b) {
    for (uint32_t i = 0; i < b->nthreads; i++) {
        Thread *t = &b->threads[i];
        if (t->status == TS_exited) continue;
        ptx_fault(b, t, FAULT_deadlock, "deadlock: a thread waits at %s that others never reach",
                  t->status == TS_barrier ? "a barrier" : "an operation of its warp");
        return;
    }
}

static void block_round(Block *b) {
    uint32_t warps = (b->nthreads + WARP - 1) / WARP;
    bool any = false;
    for (uint32_t w = 0; w < warps && !b->run->fault; w++)
        any |= warp_round(b, b->run->launch->reverse ? warps - 1 - w : w);
    if (b->run->fault) return;
    if (all_exited(b))
        b->busy = false;
    else if (!ptx_block_step(b) && !any && !b->run->fault)
        report_deadlock(b);
}

/* -- Grids ------------------------------------------------------------------------------------ */

enum { PATIENCE = 16, RESIDENT = 64 };

typedef struct Grid {
    Run *run;
    Block *blocks;
    uint32_t nblocks, cap; /* resident */
    uint64_t next, total;
} Grid;

static bool admit(Grid *g) {
    if (g->next == g->total || g->nblocks == g->cap) return true;
    Block *b = &g->blocks[g->nblocks];
    if (!block_open(g->run, b)) return false;
    g->nblocks++;
    block_start(b, g->next++);
    return true;
}

static void check_time(Grid *g) {
    struct timespec now, *end = &g->run->deadline;
    if (end->tv_sec == 0) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec > end->tv_nsec))
        ptx_fault(&g->blocks[0], NULL, FAULT_timeout, "the kernel ran for too long");
}

/* One round of every resident block; a block that is done makes room for the next one. */
static bool grid_round(Grid *g) {
    bool busy = false;
    for (uint32_t i = 0; i < g->nblocks && !g->run->fault; i++) {
        Block *b = &g->blocks[i];
        if (!b->busy && g->next < g->total) block_start(b, g->next++);
        if (b->busy) block_round(b);
        busy |= b->busy;
    }
    return busy || g->next < g->total;
}

static bool grid_run(Grid *g) {
    bool ok = admit(g);
    while (ok && g->run->launch->cooperative && g->next < g->total)
        ok = admit(g);
    for (uint64_t round = 1; ok && grid_round(g) && !g->run->fault; round++) {
        if (round % PATIENCE != 0) continue;
        check_time(g);
        ok = admit(g);
    }
    return ok;
}

static void set_deadline(Run *run, double seconds) {
    if (seconds <= 0) return;
    clock_gettime(CLOCK_MONOTONIC, &run->deadline);
    run->deadline.tv_sec += (time_t)seconds + 1;
}

PtxFault ptx_launch(const PtxLaunch *l, char *message, size_t size) {
    Need need = need_of(l->entry);
    Run run = {.launch = l, .message = message, .message_size = size};
    uint32_t static_end = (l->module->shared_top + 127) & ~127u;
    run.nthreads = l->block[0] * l->block[1] * l->block[2];
    run.dynamic_base = static_end;
    run.shared_size = static_end - PTX_SHARED_BASE + l->dynamic_shared;
    run.max_depth = need.depth;
    run.max_slots = need.slots;
    run.local_size = need.bytes;
    set_deadline(&run, l->seconds);
    Grid grid = {.run = &run, .total = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2]};
    grid.cap = l->cooperative ? (uint32_t)grid.total : RESIDENT;
    grid.blocks = calloc(grid.cap, sizeof *grid.blocks);
    if (!grid.blocks || !grid_run(&grid))
        if (!run.fault) run.fault = FAULT_memory;
    for (uint32_t i = 0; i < grid.nblocks; i++)
        free(grid.blocks[i].memory);
    free(grid.blocks);
    fflush(stdout);
    return run.fault;
}
