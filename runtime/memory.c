/* memory.c - buffers, and the pool of device memory below them.
 *
 * How memory is reused. A driver's allocation costs microseconds to milliseconds and freeing may wait for the
 * whole device, so freed blocks are kept in bins of one size each and given out again:
 *   1. A block freed on stream S is given to S at once: new work on S runs behind the old.
 *   2. It is given to another stream when S has been synchronised since (stream->completed).
 *   3. Otherwise the driver is asked for new memory.
 *   4. When the driver has none: a block of the right size is taken from another stream, and the new owner
 *      is made to wait, on the device, for an event behind that stream's work.
 *   5. Then everything cached is given back (after the device is idle) and the driver is asked once more.
 * A buffer that was used on streams other than its own is put behind their work when it is released.
 *
 * Sizes: up to 16 MiB a block has 2^k * {4, 5, 6, 7} / 4 bytes (at most a quarter is wasted); above that,
 * multiples of 2 MiB in one bin, searched for a near fit. The pool's lock is never held while the driver is
 * called. Devices whose memory is host memory (cpu) go straight to the C library, which pools by itself. */
#include "runtime/device.h"

#include <string.h>

enum { SMALLEST = 256, STEPS = 4, LOG_SMALLEST = 8, LOG_LARGE = 24, LARGE_GRAIN = 2 << 20 };
enum { BINS = (LOG_LARGE - LOG_SMALLEST) * STEPS + 1, LARGE_BIN = BINS - 1, MAX_USERS = 4 };

typedef struct RtBlock {
    uint64_t address;
    int64_t size; /* what the driver gave */
    RtStream
        *stream; /* free blocks: whose work may still touch it. Re-homed before the stream dies */
    uint64_t epoch;             /* free blocks: stream->issued when it was freed */
    RtStream *users[MAX_USERS]; /* other streams that used it: retained */
    struct RtBlock *next;
} RtBlock;

struct RtPool {
    RtDevice *device;
    pthread_mutex_t lock;
    RtBlock *bins[BINS];
    int64_t in_use, cached, raw_allocations, raw_frees, reused;
};

RtPool *rt_pool_new(RtDevice *device, RtError *err) {
    RtPool *pool = rt_alloc(sizeof *pool);
    if (!pool) {
        rt_fail_memory(err, "a memory pool", sizeof *pool);
        return NULL;
    }
    pool->device = device;
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void rt_pool_fork(RtPool *pool, bool lock) {
    if (lock)
        pthread_mutex_lock(&pool->lock);
    else
        pthread_mutex_unlock(&pool->lock);
}

/* -- sizes ------------------------------------------------------------------------------------- */

/* The bin of a size and the size of its blocks. */
static int bin_of(int64_t size, int64_t *block_size) {
    if (size <= SMALLEST) {
        *block_size = SMALLEST;
        return 0;
    }
    if (size > INT64_C(1) << LOG_LARGE) {
        *block_size = (size + LARGE_GRAIN - 1) / LARGE_GRAIN * LARGE_GRAIN;
        return LARGE_BIN;
    }
    int log = 63 - __builtin_clzll((unsigned long long)(size - 1)); /* 2^log < size <= 2^(log+1) */
    int64_t step = (INT64_C(1) << log) / STEPS;
    int64_t steps = (size - (INT64_C(1) << log) + step - 1) / step; /* 1 .. STEPS */
    *block_size = (INT64_C(1) << log) + steps * step;
    return (log - LOG_SMALLEST) * STEPS + (int)steps - (steps == 0);
}

static bool fits(const RtBlock *b, int64_t size) {
    return b->size >= size && b->size - size <= size / 8 + LARGE_GRAIN;
}

/* -- the free lists ---------------------------------------------------------------------------- */

/* May `stream` use the block without waiting? */
static bool ready(const RtBlock *b, const RtStream *stream) {
    return b->stream == stream || atomic_load(&b->stream->completed) >= b->epoch;
}

/* Takes a block out of its bin; any: also one whose stream is still at work. Lock held. */
static RtBlock *take(RtPool *pool, int bin, int64_t size, RtStream *stream, bool any) {
    RtBlock **best = NULL;
    for (RtBlock **link = &pool->bins[bin]; *link; link = &(*link)->next) {
        RtBlock *b = *link;
        if ((bin == LARGE_BIN && !fits(b, size)) || !(any || ready(b, stream))) continue;
        if (!best || b->size < (*best)->size) best = link;
        if (b->size == size && b->stream == stream) break;
    }
    if (!best) return NULL;
    RtBlock *b = *best;
    *best = b->next;
    b->next = NULL;
    pool->cached -= b->size;
    pool->in_use += b->size;
    pool->reused++;
    return b;
}

static void put_back(RtPool *pool, RtBlock *b) {
    int64_t size;
    int bin = bin_of(b->size, &size);
    pthread_mutex_lock(&pool->lock);
    b->next = pool->bins[bin];
    pool->bins[bin] = b;
    pool->in_use -= b->size;
    pool->cached += b->size;
    pthread_mutex_unlock(&pool->lock);
}

/* `behind` runs on the device behind all that `stream` has been given so far. */
static bool order_behind(RtStream *behind, RtStream *stream, RtError *err) {
    if (!rt_not_captured(stream, "An event", err) || !rt_not_captured(behind, "An event", err))
        return false;
    RtEvent *event = rt_event_new(stream->device, false, err);
    bool ok = event && rt_event_record(event, stream, err) && rt_stream_wait(behind, event, err);
    rt_event_release(event);
    return ok;
}

static void raw_free(RtPool *pool, RtBlock *b) {
    pool->device->ops->free(pool->device, RT_MEM_DEVICE, b->address, NULL);
    rt_dealloc(b, sizeof *b);
}

/* Everything cached, as one list. */
static RtBlock *detach_all(RtPool *pool) {
    RtBlock *all = NULL;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < BINS; i++) {
        while (pool->bins[i]) {
            RtBlock *b = pool->bins[i];
            pool->bins[i] = b->next;
            pool->cached -= b->size;
            pool->raw_frees++;
            b->next = all;
            all = b;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return all;
}

static bool trim(RtPool *pool, RtError *err) {
    RtBlock *all = detach_all(pool);
    if (!all) return true;
    bool ok = pool->device->ops->sync(pool->device, NULL, err);
    while (
        all) { /* when the device did not come to rest, its context is dead: freeing harms nobody */
        RtBlock *next = all->next;
        raw_free(pool, all);
        all = next;
    }
    return ok;
}

bool rt_memory_trim(RtDevice *device, RtError *err) {
    return rt_usable(device, err) && trim(device->pool, err);
}

void rt_pool_stream_gone(RtPool *pool, RtStream *stream) {
    RtStream *home = &pool->device->default_stream;
    bool any = false;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < BINS; i++) {
        for (RtBlock *b = pool->bins[i]; b; b = b->next) {
            if (b->stream != stream) continue;
            if (atomic_load(&stream->completed) >= b->epoch) {
                b->epoch = 0; /* ready for everybody */
            } else {
                b->epoch = atomic_fetch_add(&home->issued, 1) + 1;
                any = true;
            }
            b->stream = home;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    RtError ignored;
    rt_error_init(&ignored);
    if (any) order_behind(home, stream, &ignored);
}

void rt_pool_close(RtPool *pool) {
    for (RtBlock *b = detach_all(pool), *next; b; b = next) {
        next = b->next;
        raw_free(pool, b);
    }
    pthread_mutex_destroy(&pool->lock);
    rt_dealloc(pool, sizeof *pool);
}

/* -- getting a block --------------------------------------------------------------------------- */

static bool raw_alloc(RtPool *pool, RtBlock *b, RtError *err) {
    RtDevice *d = pool->device;
    void *host = NULL;
    if (!d->ops->alloc(d, RT_MEM_DEVICE, b->size, &b->address, &host, err)) return false;
    pthread_mutex_lock(&pool->lock);
    pool->raw_allocations++;
    pool->in_use += b->size;
    pthread_mutex_unlock(&pool->lock);
    return true;
}

/* `driver`: what the driver answered. */
static bool out_of_memory(RtPool *pool, int64_t size, const RtError *driver, RtError *err) {
    RtDevice *d = pool->device;
    RtError ignored;
    rt_error_init(&ignored);
    int64_t free = 0, total = 0;
    bool known = d->ops->memory_info(d, &free, &total, &ignored);
    rt_fail(err, RT_MEMORY_ERROR, "Out of memory on %s device %d (%s): %lld bytes were asked for.",
            d->ops->name, d->info.ordinal, d->info.name, (long long)size);
    if (known)
        rt_note(err, "%lld of its %lld bytes are free; arrays of this process hold %lld.",
                (long long)free, (long long)total, (long long)pool->in_use);
    rt_error_driver(err, driver->code, driver->name, driver->call);
    return false;
}

/* A block of the right size whose stream is still at work, once ours waits for that on the device. */
static RtBlock *steal(RtPool *pool, int bin, int64_t size, RtStream *stream) {
    pthread_mutex_lock(&pool->lock);
    RtBlock *b = take(pool, bin, size, stream, true);
    /* A stream that is being released is about to hand its blocks to the default stream: not now. */
    RtStream *other = b ? rt_stream_try_retain(b->stream) : NULL;
    pthread_mutex_unlock(&pool->lock);
    if (!b) return NULL;
    RtError ignored;
    rt_error_init(&ignored);
    if (other && (ready(b, stream) || order_behind(stream, other, &ignored))) {
        rt_stream_release(other);
        return b;
    }
    put_back(pool, b);
    rt_stream_release(other);
    return NULL;
}

static RtBlock *new_block(RtPool *pool, int bin, int64_t size, RtStream *stream, RtError *err) {
    RtBlock *b = rt_alloc(sizeof *b);
    if (!b) {
        rt_fail_memory(err, "a memory block", sizeof *b);
        return NULL;
    }
    b->size = size;
    RtError first, second;
    rt_error_init(&first);
    rt_error_init(&second);
    if (raw_alloc(pool, b, &first)) return b;
    if (first.cls == RT_MEMORY_ERROR) {
        RtBlock *stolen = steal(pool, bin, size, stream);
        if (!stolen && trim(pool, &second) && raw_alloc(pool, b, &second)) return b;
        if (!stolen && second.cls == RT_MEMORY_ERROR) out_of_memory(pool, size, &second, err);
        if (!stolen && !rt_failed(err)) *err = second;
        rt_dealloc(b, sizeof *b);
        return stolen;
    }
    rt_dealloc(b, sizeof *b);
    if (!rt_failed(err)) *err = first;
    return NULL;
}

static RtBlock *pool_get(RtPool *pool, int64_t size, RtStream *stream, RtError *err) {
    int64_t block_size;
    int bin = bin_of(size, &block_size);
    if (pool->device->ops->host_memory) return new_block(pool, bin, size, stream, err);
    pthread_mutex_lock(&pool->lock);
    RtBlock *b = take(pool, bin, block_size, stream, false);
    pthread_mutex_unlock(&pool->lock);
    return b ? b : new_block(pool, bin, block_size, stream, err);
}

/* The buffer that had the block is gone; its work may still be queued on stream and on the users. */
static void pool_put(RtPool *pool, RtBlock *b, RtStream *stream) {
    RtError ignored;
    rt_error_init(&ignored);
    bool ordered = true;
    for (int i = 0; i < MAX_USERS && b->users[i]; i++) {
        ordered = order_behind(stream, b->users[i], &ignored) && ordered;
        rt_stream_release(b->users[i]);
        b->users[i] = NULL;
    }
    if (pool->device->ops->host_memory) {
        pthread_mutex_lock(&pool->lock);
        pool->in_use -= b->size;
        pool->raw_frees++;
        pthread_mutex_unlock(&pool->lock);
        raw_free(pool, b);
        return;
    }
    /* Not ordered: no event could be made. Then only an idle device makes the block safe. */
    if (!ordered) pool->device->ops->sync(pool->device, NULL, &ignored);
    b->stream = stream;
    b->epoch = atomic_fetch_add(&stream->issued, 1) + 1;
    put_back(pool, b);
}

/* -- buffers ----------------------------------------------------------------------------------- */

static RtBuffer *buffer_make(RtDevice *device, RtMemory memory, int64_t size, RtStream *stream,
                             RtError *err) {
    RtBuffer *buffer = rt_alloc(sizeof *buffer);
    if (!buffer) {
        rt_fail_memory(err, "a buffer", sizeof *buffer);
        return NULL;
    }
    atomic_init(&buffer->refs, 1);
    buffer->memory = memory;
    buffer->device = device;
    buffer->stream = rt_stream_retain(stream ? stream : &device->default_stream);
    buffer->size = size;
    buffer->generation = rt_generation();
    return buffer;
}

static void buffer_drop(RtBuffer *buffer) {
    rt_stream_release(buffer->stream);
    rt_dealloc(buffer, sizeof *buffer);
}

RtBuffer *rt_buffer_new(RtDevice *device, RtMemory memory, int64_t size, RtStream *stream,
                        RtError *err) {
    if (!rt_usable(device, err)) return NULL;
    if (size < 0 || size > INT64_MAX - LARGE_GRAIN) {
        rt_fail(err, RT_VALUE_ERROR, "%lld bytes is not a possible size of an array.",
                (long long)size);
        return NULL;
    }
    RtBuffer *buffer = buffer_make(device, memory, size, stream, err);
    if (!buffer || size == 0) return buffer;
    bool ok;
    if (memory == RT_MEM_DEVICE) {
        buffer->block = pool_get(device->pool, size, buffer->stream, err);
        ok = buffer->block != NULL;
        if (ok) buffer->address = buffer->block->address;
        if (ok && device->ops->host_memory) buffer->host = (void *)(uintptr_t)buffer->address;
    } else {
        ok = device->ops->alloc(device, memory, size, &buffer->address, &buffer->host, err);
    }
    if (ok) return buffer;
    buffer_drop(buffer);
    return NULL;
}

RtBuffer *rt_buffer_foreign(RtDevice *device, uint64_t address, int64_t size, void *owner,
                            void (*drop)(void *owner), RtError *err) {
    RtBuffer *buffer = buffer_make(device, RT_MEM_FOREIGN, size, NULL, err);
    if (!buffer) return NULL;
    buffer->address = address;
    if (device->ops->host_memory) buffer->host = (void *)(uintptr_t)address;
    buffer->owner = owner;
    buffer->drop = drop;
    return buffer;
}

RtBuffer *rt_buffer_retain(RtBuffer *buffer) {
    atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
    return buffer;
}

void rt_buffer_release(RtBuffer *buffer) {
    if (!buffer || atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) != 1) return;
    RtDevice *device = buffer->device;
    /* else a parent's, before fork(), or left to the end of the process */
    bool ours =
        device->ops->host_memory || (buffer->generation == rt_generation() && !rt_leaving());
    if (buffer->memory == RT_MEM_FOREIGN) {
        if (buffer->drop) buffer->drop(buffer->owner);
    } else if (buffer->block) {
        if (ours)
            pool_put(device->pool, buffer->block, buffer->stream);
        else
            rt_dealloc(buffer->block, sizeof *buffer->block);
    } else if (buffer->size > 0 && ours) {
        /* Pinned and managed memory is not pooled: the device must be done with it. */
        RtError ignored;
        rt_error_init(&ignored);
        if (!rt_device_dead(device)) device->ops->sync(device, NULL, &ignored);
        device->ops->free(device, buffer->memory, buffer->address, buffer->host);
    }
    buffer_drop(buffer);
}

bool rt_buffer_used(RtBuffer *buffer, RtStream *stream, RtError *err) {
    if (!stream) stream = &buffer->device->default_stream;
    if (stream == buffer->stream || !buffer->block || buffer->device->ops->host_memory) return true;
    if (!rt_usable(buffer->device, err)) return false;
    RtBlock *b = buffer->block;
    RtPool *pool = buffer->device->pool;
    bool noted = false;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < MAX_USERS && !noted; i++) {
        if (!b->users[i]) b->users[i] = rt_stream_retain(stream);
        noted = b->users[i] == stream;
    }
    pthread_mutex_unlock(&pool->lock);
    return noted || order_behind(buffer->stream, stream, err);
}

static bool no_ipc(const RtDevice *device, RtError *err) {
    return rt_fail(err, RT_SUPPORT_ERROR,
                   "Memory of a %s device cannot be opened by other processes.", device->ops->name);
}

bool rt_ipc_export(RtDevice *device, uint64_t address, char *handle, uint64_t *offset,
                   RtError *err) {
    if (!rt_usable(device, err)) return false;
    if (!device->ops->ipc_export) return no_ipc(device, err);
    return device->ops->ipc_export(device, address, handle, offset, err);
}

bool rt_ipc_open(RtDevice *device, const char *handle, uint64_t *address, RtError *err) {
    if (!rt_usable(device, err)) return false;
    if (!device->ops->ipc_open) return no_ipc(device, err);
    return device->ops->ipc_open(device, handle, address, err);
}

bool rt_ipc_close(RtDevice *device, uint64_t address, RtError *err) {
    if (!rt_usable(device, err)) return false;
    if (!device->ops->ipc_close) return no_ipc(device, err);
    return device->ops->ipc_close(device, address, err);
}

bool rt_device_attribute(RtDevice *device, int32_t number, int32_t *value, RtError *err) {
    if (!rt_usable(device, err)) return false;
    if (!device->ops->attribute)
        return rt_fail(err, RT_SUPPORT_ERROR, "A %s device has no attributes by number.",
                       device->ops->name);
    return device->ops->attribute(device, number, value, err);
}

bool rt_device_profile(RtDevice *device, bool on, RtError *err) {
    if (!rt_usable(device, err)) return false;
    return !device->ops->profile || device->ops->profile(device, on, err);
}

bool rt_memory_stats(RtDevice *device, RtMemoryStats *stats, RtError *err) {
    memset(stats, 0, sizeof *stats);
    if (!rt_usable(device, err)) return false;
    RtPool *pool = device->pool;
    pthread_mutex_lock(&pool->lock);
    stats->in_use = pool->in_use;
    stats->cached = pool->cached;
    stats->raw_allocations = pool->raw_allocations;
    stats->raw_frees = pool->raw_frees;
    stats->reused = pool->reused;
    pthread_mutex_unlock(&pool->lock);
    return device->ops->memory_info(device, &stats->device_free, &stats->device_total, err);
}
