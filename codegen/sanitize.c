/* sanitize.c - races and reads of unwritten shared memory in kernels on the cpu device (see sanitize.h).
 *
 * Of each element the last write and two reads by different work-items are kept. Two accesses, one of them a write, race when
 * nothing orders them: not a barrier of the grid; within a block no barrier of the block and, within a warp, no operation of the
 * warp; between blocks no fence. Atomic operations do not race with each other. What is kept is less than all that happened, so
 * that a race may be missed; what is reported is one. */
#include "codegen/sanitize.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct Party { /* an access, and who made it */
    uint64_t block;
    uint32_t thread, grid_epoch, epoch, warp_epoch;
    int32_t site;
    int8_t access; /* SanitizeAccess; -1: none */
} Party;

typedef struct Cell {
    uint64_t key; /* 0: free */
    Party write, read[2];
} Cell;

typedef struct Table { /* open addressing; its size is a power of two */
    Cell *cells;
    uint64_t size, used;
} Table;

enum { STRIPES = 64, FIRST_SIZE = 64 };
typedef struct Stripe {
    pthread_mutex_t lock;
    Table table;
} Stripe;

typedef struct Finding {
    Guard guard;
    Party here, other;
} Finding;

typedef struct Sanitizer { /* of one launch; used by all its threads at once */
    uint32_t bits;
    atomic_bool found, fenced;
    uint32_t grid_dim[3], block_dim[3];
    Finding finding; /* written by who sets `found` */
    Stripe stripes[STRIPES];
} Sanitizer;

/* What one thread of the runtime works on. */
static _Thread_local struct {
    Sanitizer *s;
    char *shared;
    int64_t shared_bytes;
    uint8_t *written; /* of each byte of shared memory */
    Table table;      /* of shared memory */
    bool together;
    Party here;
} now;

/* -- tables --------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 31)) * UINT64_C(0x9E3779B97F4A7C15);
    return x ^ (x >> 29);
}

static Cell *place_of(const Table *t, uint64_t key) {
    uint64_t at = mix(key) & (t->size - 1);
    while (t->cells[at].key && t->cells[at].key != key)
        at = (at + 1) & (t->size - 1);
    return &t->cells[at];
}

static bool grow(Table *t) {
    Table wide = {.size = t->size ? t->size * 2 : FIRST_SIZE, .used = t->used};
    wide.cells = calloc(wide.size, sizeof *wide.cells);
    if (!wide.cells) return false;
    for (uint64_t i = 0; i < t->size; i++)
        if (t->cells[i].key) *place_of(&wide, t->cells[i].key) = t->cells[i];
    free(t->cells);
    *t = wide;
    return true;
}

/* NULL: no memory; the element is not watched. */
static Cell *cell_of(Table *t, uint64_t key) {
    if (t->used * 4 >= t->size * 3 && !grow(t)) return NULL;
    Cell *cell = place_of(t, key);
    if (!cell->key) {
        t->used++;
        cell->key = key;
        cell->write.access = cell->read[0].access = cell->read[1].access = -1;
    }
    return cell;
}

static void empty(Table *t) {
    if (t->used) memset(t->cells, 0, t->size * sizeof *t->cells);
    t->used = 0;
}

/* -- the launch ------------------------------------------------------------------------------------ */

static void *open_launch(uint32_t bits) {
    Sanitizer *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->bits = bits;
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&s->stripes[i].lock, NULL);
    return s;
}

static void close_launch(void *watcher) {
    Sanitizer *s = watcher;
    for (int i = 0; s && i < STRIPES; i++) {
        pthread_mutex_destroy(&s->stripes[i].lock);
        free(s->stripes[i].table.cells);
    }
    free(s);
}

static bool enter(void *watcher, const KernelGrid *grid, int64_t shared_bytes) {
    Sanitizer *s = watcher;
    memset(&now, 0, sizeof now);
    if (shared_bytes && !(now.written = calloc(1, (size_t)shared_bytes))) return false;
    memcpy(s->grid_dim, grid->grid, sizeof s->grid_dim); /* the same by all threads */
    memcpy(s->block_dim, grid->block, sizeof s->block_dim);
    now.s = s;
    now.shared = grid->shared;
    now.shared_bytes = shared_bytes;
    now.together = grid->cooperative;
    now.here.block = UINT64_MAX;
    return true;
}

static void leave(void) {
    free(now.written);
    free(now.table.cells);
    memset(&now, 0, sizeof now);
}

uint32_t sanitizer_active(void) {
    return now.s ? now.s->bits : 0;
}

static void report(Guard guard, const Party *here, const Party *other) {
    if (atomic_exchange(&now.s->found, true)) return;
    now.s->finding = (Finding){guard, *here, *other};
}

static void coordinates(uint64_t linear, const uint32_t *dim, uint32_t *out) {
    out[0] = (uint32_t)(linear % dim[0]);
    out[1] = (uint32_t)(linear / dim[0] % dim[1]);
    out[2] = (uint32_t)(linear / dim[0] / dim[1]);
}

static bool found(const void *watcher, const Artifact *artifact, CallContext *raised) {
    const Sanitizer *s = watcher;
    if (!atomic_load(&s->found)) return false;
    const Finding *f = &s->finding;
    uint32_t block[3], thread[3];
    coordinates(f->other.block, s->grid_dim, block);
    coordinates(f->other.thread, s->block_dim, thread);
    for (int axis = 0; axis < 3; axis++) {
        raised->args[axis] = block[axis];
        raised->args[3 + axis] = thread[axis];
    }
    bool placed = f->other.site >= 0 && f->other.site < artifact->nsites;
    raised->args[6] = placed ? artifact->sites[f->other.site].line : 0;
    raised->exception = -1 - (int32_t)f->guard;
    raised->site = f->here.site;
    raised->has_item = 1;
    coordinates(f->here.block, s->grid_dim, raised->block);
    coordinates(f->here.thread, s->block_dim, raised->thread);
    return true;
}

const LaunchWatch sanitizer_watch = {open_launch, close_launch, enter, leave, found};

/* -- where the thread is --------------------------------------------------------------------------- */

static uint64_t linear(const uint32_t *dim, uint32_t x, uint32_t y, uint32_t z) {
    return x + dim[0] * (y + (uint64_t)dim[1] * z);
}

void quern_sanitize_item(uint32_t block_x, uint32_t block_y, uint32_t block_z, uint32_t thread_x,
                         uint32_t thread_y, uint32_t thread_z) {
    if (!now.s) return;
    uint64_t block = linear(now.s->grid_dim, block_x, block_y, block_z);
    if (block != now.here.block &&
        !now.together) { /* the last block's shared memory is this one's */
        empty(&now.table);
        if (now.shared_bytes) memset(now.written, 0, (size_t)now.shared_bytes);
    }
    now.here = (Party){.block = block,
                       .thread = (uint32_t)linear(now.s->block_dim, thread_x, thread_y, thread_z)};
}

void sanitizer_epoch(uint32_t grid, uint32_t block, uint32_t warp) {
    now.here.grid_epoch = grid;
    now.here.epoch = block;
    now.here.warp_epoch = warp;
}

void sanitizer_divergent(int32_t site, const uint32_t *thread, int32_t other_site,
                         const uint32_t *other_thread) {
    Party here = now.here, other = now.here;
    here.site = site;
    here.thread = (uint32_t)linear(now.s->block_dim, thread[0], thread[1], thread[2]);
    other.site = other_site;
    other.thread =
        (uint32_t)linear(now.s->block_dim, other_thread[0], other_thread[1], other_thread[2]);
    report(GUARD_divergent_barrier, &here, &other);
}

/* -- accesses -------------------------------------------------------------------------------------- */

static bool same_item(const Party *a, const Party *b) {
    return a->block == b->block && a->thread == b->thread;
}

static bool ordered(const Party *a, const Party *b) {
    enum { LANES = 32 };
    if (same_item(a, b) || a->grid_epoch != b->grid_epoch) return true;
    if (a->block != b->block) return atomic_load_explicit(&now.s->fenced, memory_order_relaxed);
    return a->epoch != b->epoch ||
           (a->thread / LANES == b->thread / LANES && a->warp_epoch != b->warp_epoch);
}

/* A read of nobody, of the same item, or one that the other access is behind anyway, makes room. */
static Party *room_for_read(Cell *cell, const Party *here) {
    for (int i = 0; i < 2; i++)
        if (cell->read[i].access < 0 || same_item(&cell->read[i], here)) return &cell->read[i];
    return ordered(&cell->read[0], here) ? &cell->read[0] : &cell->read[1];
}

static void look(Cell *cell, const Party *here) {
    bool writes = here->access != ACCESS_READ;
    bool both_atomic = here->access == ACCESS_ATOMIC && cell->write.access == ACCESS_ATOMIC;
    if (cell->write.access >= 0 && !both_atomic && !ordered(&cell->write, here))
        report(writes ? GUARD_race_writes : GUARD_race_read_write, here, &cell->write);
    for (int i = 0; i < 2 && writes; i++)
        if (cell->read[i].access >= 0 && !ordered(&cell->read[i], here))
            report(GUARD_race_write_read, here, &cell->read[i]);
    *(writes ? &cell->write : room_for_read(cell, here)) = *here;
}

static bool in_shared(const char *address) {
    return address >= now.shared && address < now.shared + now.shared_bytes;
}

/* Shared memory begins without contents. */
static void look_at_contents(const char *address, int32_t bytes, int32_t access) {
    int64_t at = address - now.shared;
    int64_t n = QN_MIN((int64_t)bytes, now.shared_bytes - at);
    for (int64_t k = 0; k < n && access != ACCESS_WRITE; k++)
        if (!now.written[at + k]) {
            report(GUARD_unwritten, &now.here, &now.here);
            break;
        }
    if (access != ACCESS_READ) memset(now.written + at, 1, (size_t)n);
}

void quern_sanitize_access(void *address, int32_t bytes, int32_t access, int32_t site) {
    if (!now.s || atomic_load_explicit(&now.s->found, memory_order_relaxed)) return;
    now.here.site = site;
    now.here.access = (int8_t)access;
    bool shared = in_shared(address);
    if (shared && now.s->bits & SANITIZE_UNINIT) look_at_contents(address, bytes, access);
    if (!(now.s->bits & SANITIZE_RACE)) return;
    uint64_t key = (uint64_t)(uintptr_t)address;
    if (shared) {
        Cell *cell = cell_of(&now.table, key);
        if (cell) look(cell, &now.here);
        return;
    }
    Stripe *stripe = &now.s->stripes[mix(key) >> 40 & (STRIPES - 1)];
    pthread_mutex_lock(&stripe->lock);
    Cell *cell = cell_of(&stripe->table, key);
    if (cell) look(cell, &now.here);
    pthread_mutex_unlock(&stripe->lock);
}

void quern_sanitize_fence(void) {
    if (now.s) atomic_store_explicit(&now.s->fenced, true, memory_order_relaxed);
}
