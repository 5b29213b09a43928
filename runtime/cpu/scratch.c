/* scratch.c - what one thread needs while it runs blocks: shared memory of the block, and memory for the
 * frames of suspended work-items.
 *
 * Frames come from slabs by bumping a pointer; freed frames wait in lists by size (multiples of 64 bytes up to
 * 4 KiB, powers of two above) because a block makes and drops hundreds of equal ones in any order. When a
 * kernel is through, whatever it did not free is dropped at once. */
#include "runtime/cpu/pool.h"

#include <string.h>

enum {
    FRAME_ALIGN = 64,
    SMALL_LIMIT = 4096,
    SMALL_BINS = SMALL_LIMIT / FRAME_ALIGN,
    BINS = SMALL_BINS + 50
};
enum { SLAB_BYTES = 256 << 10, SHARED_ALIGN = 128, KEEP_BYTES = 8 << 20 };

/* Before each frame, in its own 64 bytes. */
typedef struct Frame {
    struct Frame *next;
    int32_t bin;
} Frame;

typedef struct Slab {
    struct Slab *next;
    size_t size;
} Slab;

struct Scratch {
    Scratch *next;
    char *shared, *shared_raw;
    size_t shared_size;
    Slab *slabs; /* newest first */
    char *free, *limit;
    size_t slab_bytes;
    int64_t live;
    Frame *bins[BINS];
};

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* runs drop_list when a thread ends */
static _Thread_local Scratch *idle;

static void drop_slabs(Scratch *s) {
    for (Slab *next; s->slabs; s->slabs = next) {
        next = s->slabs->next;
        rt_dealloc(s->slabs, s->slabs->size);
    }
    s->free = s->limit = NULL;
    s->slab_bytes = 0;
    memset(s->bins, 0, sizeof s->bins);
}

void cpu_scratch_drop(void) {
    for (Scratch *s = idle, *next; s; s = next) {
        next = s->next;
        drop_slabs(s);
        rt_dealloc(s->shared_raw, s->shared_size + SHARED_ALIGN);
        rt_dealloc(s, sizeof *s);
    }
    idle = NULL;
}

static void thread_ends(void *unused) {
    (void)unused;
    cpu_scratch_drop();
}

static void make_key(void) {
    pthread_key_create(&key, thread_ends);
}

static bool grow_shared(Scratch *s, size_t size) {
    if (size <= s->shared_size && s->shared_raw) return true;
    rt_dealloc(s->shared_raw, s->shared_size + SHARED_ALIGN);
    size = (size + 4095) / 4096 * 4096;
    s->shared_size = 0;
    s->shared = NULL;
    s->shared_raw = rt_alloc(size + SHARED_ALIGN);
    if (!s->shared_raw) return false;
    s->shared_size = size;
    s->shared = s->shared_raw + (SHARED_ALIGN - (uintptr_t)s->shared_raw % SHARED_ALIGN);
    return true;
}

Scratch *cpu_scratch_take(size_t shared_bytes) {
    Scratch *s = idle;
    if (s) {
        idle = s->next;
    } else {
        pthread_once(&key_once, make_key);
        s = rt_alloc(sizeof *s);
        if (!s) return NULL;
        pthread_setspecific(key, s); /* any non-NULL value makes the destructor run */
    }
    s->next = NULL;
    if (!shared_bytes || grow_shared(s, shared_bytes)) return s;
    cpu_scratch_give(s);
    return NULL;
}

void cpu_scratch_give(Scratch *s) {
    if (s->live || s->slab_bytes > KEEP_BYTES) drop_slabs(s);
    s->live = 0;
    s->next = idle;
    idle = s;
}

char *cpu_scratch_shared(Scratch *s) {
    return s->shared;
}

/* -- frames ------------------------------------------------------------------------------------ */

/* Bytes of a bin's frames, header included. */
static int bin_of(int64_t size, size_t *bytes) {
    if (size <= SMALL_LIMIT) {
        int bin = (int)((size + FRAME_ALIGN - 1) / FRAME_ALIGN);
        bin = bin ? bin - 1 : 0;
        *bytes = (size_t)(bin + 2) * FRAME_ALIGN;
        return bin;
    }
    int log = 64 - __builtin_clzll((unsigned long long)(size - 1));
    if (log > 48) return -1;
    *bytes = ((size_t)1 << log) + FRAME_ALIGN;
    return SMALL_BINS + log - 12;
}

static bool new_slab(Scratch *s, size_t need) {
    size_t size = QN_MAX(need + FRAME_ALIGN + sizeof(Slab), (size_t)SLAB_BYTES);
    Slab *slab = rt_alloc(size);
    if (!slab) return false;
    slab->next = s->slabs;
    slab->size = size;
    s->slabs = slab;
    s->slab_bytes += size;
    uintptr_t first = (uintptr_t)(slab + 1);
    s->free = (char *)((first + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN);
    s->limit = (char *)slab + size;
    return true;
}

void *cpu_frame_alloc(KernelGrid *grid, int64_t size) {
    Scratch *s = grid->user;
    size_t bytes = 0;
    int bin = bin_of(size, &bytes);
    if (bin < 0) return NULL;
    Frame *f = s->bins[bin];
    if (f) {
        s->bins[bin] = f->next;
    } else {
        if ((size_t)(s->limit - s->free) < bytes && !new_slab(s, bytes)) return NULL;
        f = (Frame *)s->free;
        f->bin = bin;
        s->free += bytes;
    }
    s->live++;
    return (char *)f + FRAME_ALIGN;
}

void cpu_frame_free(KernelGrid *grid, void *frame) {
    if (!frame) return;
    Scratch *s = grid->user;
    Frame *f = (Frame *)((char *)frame - FRAME_ALIGN);
    f->next = s->bins[f->bin];
    s->bins[f->bin] = f;
    s->live--;
}
