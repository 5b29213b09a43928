/* Launches: what a wave finds in its registers, and the order in which waves and groups run.
 *
 * A round gives every wave of every resident group one turn. One group is resident at first; one that goes on and on may
 * be waiting for another, so others are let in beside it. A cooperative launch has all its groups resident from the start. */
#define _POSIX_C_SOURCE 200809L
#include "gcn_wave.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_RESIDENT = 64, PATIENCE = 8, PACKET = 64, POISON = 0xcb, IMPLICIT = 256 };
enum { DYNAMIC_STACK = 65536 };

/* Properties of a kernel descriptor, in the order of the registers. */
enum {
    HAS_SCRATCH_BUFFER = 1,
    HAS_DISPATCH = 2,
    HAS_QUEUE = 4,
    HAS_KERNARG = 8,
    HAS_DISPATCH_ID = 16,
    HAS_FLAT_SCRATCH = 32,
    HAS_SCRATCH_SIZE = 64,
    HAS_DYNAMIC_STACK = 2048
};

static uint32_t word(const uint8_t *descriptor, unsigned offset) {
    uint32_t x;
    memcpy(&x, descriptor + offset, 4);
    return x;
}

static uint32_t properties(const GcnLaunch *l) {
    return word(l->descriptor, 56) & 0xffff;
}

/* -- Arguments and packet ---------------------------------------------------------------------- */

static void put32(uint8_t *at, uint32_t value) {
    memcpy(at, &value, 4);
}
static void put16(uint8_t *at, uint32_t value) {
    uint16_t half = (uint16_t)value;
    memcpy(at, &half, 2);
}

/* The hidden arguments of code object version 5, behind the explicit ones. */
static void hidden_arguments(const GcnLaunch *l, uint8_t *at) {
    for (int i = 0; i < 3; i++) {
        put32(at + 4 * i, l->grid[i]);
        put16(at + 12 + 2 * i, l->block[i]);
        put16(at + 18 + 2 * i, 0);
    }
    put16(at + 64, 3);
    put32(at + 120, l->lds - word(l->descriptor, 0));
    put32(at + 192, SCRATCH_APERTURE);
    put32(at + 196, LDS_APERTURE);
}

/* HIP puts arguments at the beginning of a cache line, so that LLVM may load three words as four: what lies behind them in the last line
 * is there, and holds nothing. */
enum { LINE = 64 };

static bool arguments(GcnRunning *run) {
    const GcnLaunch *l = run->launch;
    uint32_t explicit_end = (uint32_t)((l->explicit_bytes + 7) & ~(size_t)7);
    uint8_t hidden[IMPLICIT] = {0};
    uint32_t kernarg_bytes = word(l->descriptor, 8);
    run->kernarg_bytes = (kernarg_bytes + LINE - 1) / LINE * LINE;
    run->kernarg = aligned_alloc(LINE, run->kernarg_bytes + (IMPLICIT + LINE - 1) / LINE * LINE);
    run->packet = calloc(1, PACKET);
    if (!run->kernarg || !run->packet) return false;
    memset(run->kernarg, 0, kernarg_bytes + IMPLICIT);
    memset(run->kernarg + kernarg_bytes, 0xCB, run->kernarg_bytes - kernarg_bytes);
    if (l->args_bytes) memcpy(run->kernarg, l->args, l->args_bytes);
    hidden_arguments(l, hidden);
    if (kernarg_bytes > explicit_end) {
        uint32_t room = kernarg_bytes - explicit_end;
        memcpy(run->kernarg + explicit_end, hidden, room < IMPLICIT ? room : IMPLICIT);
    }
    uint64_t kernarg = (uintptr_t)run->kernarg;
    for (int i = 0; i < 3; i++) {
        put16(run->packet + 4 + 2 * i, l->block[i]);
        put32(run->packet + 12 + 4 * i, l->grid[i] * l->block[i]);
    }
    put16(run->packet + 2, 3);
    put32(run->packet + 24, run->scratch);
    put32(run->packet + 28, l->lds);
    memcpy(run->packet + 40, &kernarg, 8);
    return true;
}

/* -- Registers at the start -------------------------------------------------------------------- */

static unsigned set32(GcnWave *w, unsigned reg, uint32_t value) {
    w->s[reg] = value;
    w->sset[reg] = true;
    return reg + 1;
}

static unsigned set64(GcnWave *w, unsigned reg, uint64_t value) {
    return set32(w, set32(w, reg, (uint32_t)value), (uint32_t)(value >> 32));
}

static unsigned user_registers(GcnWave *w) {
    const GcnRunning *run = w->run;
    uint32_t has = properties(run->launch), preload = word(run->launch->descriptor, 56) >> 16;
    unsigned reg = 0;
    if (has & HAS_SCRATCH_BUFFER) reg = set64(w, set64(w, reg, 0), 0);
    if (has & HAS_DISPATCH) reg = set64(w, reg, (uintptr_t)run->packet);
    if (has & HAS_QUEUE) reg = set64(w, reg, 0);
    if (has & HAS_KERNARG) reg = set64(w, reg, (uintptr_t)run->kernarg);
    if (has & HAS_DISPATCH_ID) reg = set64(w, reg, 1);
    if (has & HAS_FLAT_SCRATCH) reg = set64(w, reg, 0);
    if (has & HAS_SCRATCH_SIZE) reg = set32(w, reg, run->scratch);
    for (uint32_t k = 0; k < (preload & 127); k++)
        reg = set32(w, reg, word(run->kernarg, 4 * (k + (preload >> 7))));
    return reg;
}

static void group_registers(GcnWave *w, unsigned reg) {
    const GcnGroup *g = w->group;
    uint32_t rsrc2 = word(w->run->launch->descriptor, 52);
    if (w->run->chip >= 12) {
        set32(w, S_TTMP + 9, g->id[0]);
        set32(w, S_TTMP + 7, g->id[1] | g->id[2] << 16);
        return;
    }
    for (int axis = 0; axis < 3; axis++)
        if (rsrc2 >> (7 + axis) & 1) reg = set32(w, reg, g->id[axis]);
    if (rsrc2 >> 10 & 1) reg = set32(w, reg, 0);
    if (rsrc2 & 1) set32(w, reg, 0); /* where the scratch of the wave begins */
}

static bool packs_ids(const GcnRunning *run) {
    return run->chip >= 11 || (run->chip == 9 && run->launch->packed_ids);
}

static void lane_registers(GcnWave *w) {
    const GcnLaunch *l = w->run->launch;
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    unsigned more = word(l->descriptor, 52) >> 11 & 3;
    uint64_t exec = 0;
    for (int lane = 0; lane < w->lanes; lane++) {
        uint32_t id = w->number * (uint32_t)w->lanes + (uint32_t)lane;
        if (id >= threads) break;
        uint32_t x = id % l->block[0], y = id / l->block[0] % l->block[1],
                 z = id / l->block[0] / l->block[1];
        exec |= UINT64_C(1) << lane;
        w->v[0][lane] = packs_ids(w->run) ? x | y << 10 | z << 20 : x;
        if (packs_ids(w->run)) continue;
        if (more >= 1) w->v[1][lane] = y;
        if (more >= 2) w->v[2][lane] = z;
    }
    gcn_set_exec(w, exec);
    w->vset[0] = exec;
    if (!packs_ids(w->run)) w->vset[1] = more >= 1 ? exec : 0, w->vset[2] = more >= 2 ? exec : 0;
}

/* Vector registers of a wave, as the descriptor counts them (at most the half of a file). */
static uint32_t registers(const GcnRunning *run) {
    const GcnLaunch *l = run->launch;
    bool small = run->chip >= 10 ? l->wave == 64 : !l->packed_ids;
    uint32_t count = ((word(l->descriptor, 48) & 63) + 1) * (small ? 4 : 8);
    return count < 256 ? count : 256;
}

/* Registers that nobody has written are garbage. */
static void wave_start(GcnWave *w, GcnGroup *g, uint32_t number) {
    GcnRunning *run = w->run;
    uint8_t *scratch = w->scratch;
    uint32_t kept = registers(run);
    memset(w->v, POISON, kept * sizeof *w->v);
    memset(w->v[256], POISON, kept * sizeof *w->v);
    memset(w->s, POISON, sizeof w->s);
    memset(w->vset, 0, sizeof w->vset);
    memset(w->sset, 0, sizeof w->sset);
    memset(w->queues, 0, sizeof w->queues);
    memset(w->vwaits, 0, sizeof w->vwaits);
    memset(w->swaits, 0, sizeof w->swaits);
    w->group = g;
    w->number = number;
    w->lanes = (int)run->launch->wave;
    w->all = w->lanes == 64 ? UINT64_MAX : UINT32_MAX;
    w->pc = run->launch->entry;
    w->status = W_ready;
    w->signalled = w->scc = false;
    w->indexed = 0;
    w->mode = word(run->launch->descriptor, 48) >> 12 & 0xff;
    w->s[S_EXEC] = w->s[S_EXEC + 1] = w->s[S_NULL] = w->s[S_NULL + 1] = 0;
    if (scratch) memset(scratch, POISON, (size_t)run->scratch * (size_t)w->lanes);
    unsigned user = user_registers(w), count = word(run->launch->descriptor, 52) >> 1 & 31;
    group_registers(w, user > count ? user : count);
    lane_registers(w);
}

/* -- Groups ------------------------------------------------------------------------------------ */

typedef struct Residents {
    GcnGroup *groups;
    unsigned cap;   /* that may be resident */
    unsigned count; /* that have memory */
    uint64_t next, total;
    uint64_t *order; /* NULL: in order */
} Residents;

static bool group_open(GcnRunning *run, GcnGroup *g) {
    *g = (GcnGroup){.nwaves = run->nwaves};
    g->lds = malloc(run->launch->lds + 64u);
    g->waves = calloc(run->nwaves, sizeof *g->waves);
    for (uint32_t k = 0; g->waves && k < run->nwaves; k++) {
        GcnWave *w = g->waves[k] = malloc(sizeof *w);
        if (!w) return false;
        w->run = run;
        w->scratch = run->scratch ? malloc((size_t)run->scratch * run->launch->wave) : NULL;
        if (run->scratch && !w->scratch) return false;
    }
    return g->lds && g->waves;
}

static void group_close(GcnGroup *g) {
    for (uint32_t k = 0; g->waves && k < g->nwaves; k++)
        if (g->waves[k]) {
            free(g->waves[k]->scratch);
            free(g->waves[k]);
        }
    free(g->waves);
    free(g->lds);
}

static void group_start(GcnRunning *run, GcnGroup *g, uint64_t index) {
    const GcnLaunch *l = run->launch;
    g->id[0] = (uint32_t)(index % l->grid[0]);
    g->id[1] = (uint32_t)(index / l->grid[0] % l->grid[1]);
    g->id[2] = (uint32_t)(index / l->grid[0] / l->grid[1]);
    g->busy = true;
    memset(g->lds, POISON, l->lds);
    for (uint32_t k = 0; k < g->nwaves; k++)
        wave_start(g->waves[k], g, k);
}

static uint64_t draw(GcnRunning *run) {
    uint64_t x = run->random;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return run->random = x;
}

/* All waves that have not ended are at the barrier, and at the same one. */
static bool release(GcnGroup *g) {
    const GcnWave *first = NULL;
    for (uint32_t k = 0; k < g->nwaves; k++) {
        GcnWave *w = g->waves[k];
        if (w->status == W_ready) return true;
        if (w->status != W_barrier) continue;
        if (first && first->pc != w->pc) {
            gcn_fault(w, GCN_FAULT, "waits at another barrier than wave %u", first->number);
            return false;
        }
        first = w;
    }
    for (uint32_t k = 0; k < g->nwaves; k++)
        if (g->waves[k]->status == W_barrier) {
            g->waves[k]->status = W_ready;
            g->waves[k]->signalled = false;
        }
    return true;
}

/* One turn for every wave; false: a fault. */
static bool group_round(GcnRunning *run, GcnGroup *g) {
    uint64_t seed = run->launch->seed;
    uint32_t shift = seed > 1 ? (uint32_t)(draw(run) % g->nwaves) : 0;
    bool alive = false;
    for (uint32_t k = 0; k < g->nwaves; k++) {
        uint32_t number = seed == 1 ? g->nwaves - 1 - k : (k + shift) % g->nwaves;
        GcnWave *w = g->waves[number];
        if (w->status == W_ready) {
            GcnStep step = gcn_wave_run(w);
            if (step == STEP_FAULT) return false;
            if (step == STEP_BARRIER) w->status = W_barrier;
            if (step == STEP_END) w->status = W_ended;
        }
        alive |= w->status != W_ended;
    }
    g->busy = alive;
    return !alive || release(g);
}

static uint64_t nth(GcnRunning *run, const Residents *r, uint64_t n) {
    if (r->order) return r->order[n];
    return run->launch->seed == 1 ? r->total - 1 - n : n;
}

static void shuffle(GcnRunning *run, Residents *r) {
    if (run->launch->seed < 2 || r->total > 1 << 20) return;
    r->order = malloc(r->total * sizeof *r->order);
    if (!r->order) return;
    for (uint64_t k = 0; k < r->total; k++)
        r->order[k] = k;
    for (uint64_t k = r->total; k > 1; k--) {
        uint64_t other = draw(run) % k, kept = r->order[k - 1];
        r->order[k - 1] = r->order[other];
        r->order[other] = kept;
    }
}

static bool run_groups(GcnRunning *run, Residents *r) {
    unsigned resident = run->launch->together ? r->cap : 1, rounds = 0;
    for (;;) {
        bool any = false, ended = false;
        for (unsigned k = 0; k < resident; k++) {
            GcnGroup *g = &r->groups[k];
            if (k == r->count) {
                r->count++;
                if (!group_open(run, g)) return run->result = GCN_NO_MEMORY, false;
            }
            if (!g->busy && r->next < r->total) group_start(run, g, nth(run, r, r->next++));
            if (!g->busy) continue;
            if (!group_round(run, g)) return false;
            any = true;
            ended |= !g->busy;
        }
        if (!any && r->next == r->total) return true;
        rounds = ended ? 0 : rounds + 1;
        if (rounds > PATIENCE && r->next < r->total && resident < r->cap) resident++, rounds = 0;
    }
}

GcnResult gcn_launch(const GcnLaunch *l) {
    uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)l->deadline;
    GcnRunning run = {.launch = l,
                      .chip = gcn_code_chip(l->code),
                      .nwaves = (threads + l->wave - 1) / l->wave,
                      .random = l->seed * UINT64_C(0x9e3779b97f4a7c15) + 1,
                      .deadline = &deadline};
    run.scratch = word(l->descriptor, 4);
    if (properties(l) & HAS_DYNAMIC_STACK) run.scratch += DYNAMIC_STACK;
    Residents *r = calloc(1, sizeof *r);
    uint64_t groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    if (r) r->cap = l->together ? (unsigned)groups : MAX_RESIDENT;
    if (r) r->groups = calloc(r->cap, sizeof *r->groups);
    if (!r || !r->groups || !arguments(&run)) {
        run.result = GCN_NO_MEMORY;
    } else {
        r->total = groups;
        shuffle(&run, r);
        run_groups(&run, r);
    }
    for (unsigned k = 0; r && k < r->count; k++)
        group_close(&r->groups[k]);
    if (r) free(r->order);
    if (r) free(r->groups);
    free(r);
    free(run.kernarg);
    free(run.packet);
    if (l->executed) *l->executed += run.executed;
    return run.result;
}
