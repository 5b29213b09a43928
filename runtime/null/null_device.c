/* null_device.c - a device without hardware, for tests of everything above the device table.
 *
 * Its memory is real host memory under false addresses, so that a forgotten copy is a crash and not a silent
 * success. It counts calls by name, fails the n-th call of a name on demand, has a capacity, and checks that
 * what it is given is its own. Work is "queued" until the stream is synchronised only in the sense that
 * stream_query answers "not yet" twice after each launch. */
#include "runtime/device.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 48 };
#define FALSE_BIT (UINT64_C(1) << 60)

typedef struct Count {
    const char *name;
    int32_t calls;
} Count;

static struct Null {
    pthread_mutex_t lock;
    Count counts[MAX_NAMES];
    int32_t ncounts, total;
    const char *fail_name;
    int32_t fail_nth;
    RtErrorClass fail_class;
    int64_t capacity, used, handles;
    _Atomic int32_t pending; /* stream_query answers "not yet" so often */
    bool (*kernel)(const RtKernel *kernel, const DeviceLaunch *launch, const char *params);
} null = {.lock = PTHREAD_MUTEX_INITIALIZER, .capacity = INT64_C(1) << 40};

/* -- the record -------------------------------------------------------------------------------- */

static Count *count_of(const char *name) {
    for (int i = 0; i < null.ncounts; i++)
        if (strcmp(null.counts[i].name, name) == 0) return &null.counts[i];
    if (null.ncounts == MAX_NAMES) return NULL;
    null.counts[null.ncounts].calls = 0;
    null.counts[null.ncounts].name = name;
    return &null.counts[null.ncounts++];
}

/* Counts the call; false when it is the one that shall fail. */
static bool note(const char *name, RtDevice *device, RtError *err) {
    pthread_mutex_lock(&null.lock);
    Count *c = count_of(name);
    null.total++;
    bool fail = false;
    if (c) c->calls++;
    if (err && null.fail_nth) {
        if (!null.fail_name)
            fail = null.total == null.fail_nth;
        else
            fail = c && strcmp(null.fail_name, name) == 0 && c->calls == null.fail_nth;
    }
    RtErrorClass cls = null.fail_class;
    pthread_mutex_unlock(&null.lock);
    if (!fail) return true;
    rt_fail(err, cls, "the null device was told to fail in %s", name);
    rt_error_driver(err, 999, "NULL_ERROR", name);
    if (cls == RT_DEVICE_ERROR && device) {
        rt_blame(device, NULL, err);
        rt_device_died(device, err);
    }
    return false;
}

void rt_null_reset(void) {
    pthread_mutex_lock(&null.lock);
    null.ncounts = null.total = null.fail_nth = 0;
    null.fail_name = NULL;
    null.capacity = INT64_C(1) << 40;
    null.kernel = NULL;
    pthread_mutex_unlock(&null.lock);
}

int32_t rt_null_calls(const char *call) {
    pthread_mutex_lock(&null.lock);
    int32_t n = null.total;
    if (call) {
        Count *c = count_of(call);
        n = c ? c->calls : 0;
    }
    pthread_mutex_unlock(&null.lock);
    return n;
}

void rt_null_fail(const char *call, int32_t nth, RtErrorClass cls) {
    pthread_mutex_lock(&null.lock);
    null.fail_name = call;
    null.fail_nth = nth;
    null.fail_class = cls;
    pthread_mutex_unlock(&null.lock);
}

void rt_null_capacity(int64_t bytes) {
    null.capacity = bytes;
}
int64_t rt_null_used(void) {
    return null.used;
}
int64_t rt_null_handles(void) {
    return null.handles;
}

void rt_null_kernel(bool (*kernel)(const RtKernel *, const DeviceLaunch *, const char *params)) {
    null.kernel = kernel;
}

void *rt_null_pointer(uint64_t address) {
    return (void *)(uintptr_t)(address & ~FALSE_BIT);
}

/* -- the table --------------------------------------------------------------------------------- */

static int32_t null_count(RtError *err) {
    return note("count", NULL, err) ? 2 : -1;
}

static bool null_open(RtDevice *device, RtError *err) {
    if (!note("open", device, err)) return false;
    RtDeviceInfo *info = &device->info;
    memcpy(info->name, "null", 5);
    info->memory = null.capacity;
    info->multiprocessors = 4;
    info->warp_size = 32;
    info->max_threads = 1024;
    for (int i = 0; i < 3; i++) {
        info->max_block[i] = i < 2 ? 1024 : 64;
        info->max_grid[i] = i ? 65535 : INT32_MAX;
    }
    info->max_shared = 48 << 10;
    info->max_shared_optin = 96 << 10;
    info->max_param_bytes = 4096;
    info->max_registers = 65536;
    return true;
}

static void null_close(RtDevice *device) {
    note("close", device, NULL);
}

enum { HEADER = 256 }; /* before each block: its size */

static bool null_alloc(RtDevice *device, RtMemory memory, int64_t size, uint64_t *address,
                       void **host, RtError *err) {
    if (!note("alloc", device, err)) return false;
    pthread_mutex_lock(&null.lock);
    bool fits = null.used + size <= null.capacity;
    char *p = fits ? aligned_alloc(256, (size_t)(size + 255) / 256 * 256 + HEADER) : NULL;
    if (p) {
        null.used += size;
        null.handles++;
    }
    pthread_mutex_unlock(&null.lock);
    if (!p) return rt_fail(err, RT_MEMORY_ERROR, "the null device is full");
    memcpy(p, &size, sizeof size);
    p += HEADER;
    memset(p, 0xA5, (size_t)size);
    *address = (uint64_t)(uintptr_t)p | (memory == RT_MEM_DEVICE ? FALSE_BIT : 0);
    *host = memory == RT_MEM_DEVICE ? NULL : p;
    return true;
}

static void null_free(RtDevice *device, RtMemory memory, uint64_t address, void *host) {
    (void)memory, (void)host;
    note("free", device, NULL);
    char *p = (char *)rt_null_pointer(address) - HEADER;
    int64_t size;
    memcpy(&size, p, sizeof size);
    pthread_mutex_lock(&null.lock);
    null.used -= size;
    null.handles--;
    pthread_mutex_unlock(&null.lock);
    free(p);
}

static bool null_memory_info(RtDevice *device, int64_t *free, int64_t *total, RtError *err) {
    if (!note("memory_info", device, err)) return false;
    pthread_mutex_lock(&null.lock);
    *free = null.capacity - null.used;
    *total = null.capacity;
    pthread_mutex_unlock(&null.lock);
    return true;
}

/* Device memory has false addresses, pinned memory has true ones. */
static bool null_to_device(RtDevice *d, RtStream *s, uint64_t to, const void *from, int64_t size,
                           RtError *err) {
    (void)s;
    if (!note("to_device", d, err)) return false;
    memcpy(rt_null_pointer(to), from, (size_t)size);
    return true;
}

static bool null_to_host(RtDevice *d, RtStream *s, void *to, uint64_t from, int64_t size,
                         RtError *err) {
    (void)s;
    if (!note("to_host", d, err)) return false;
    memcpy(to, rt_null_pointer(from), (size_t)size);
    return true;
}

static bool null_on_device(RtDevice *d, RtStream *s, uint64_t to, uint64_t from, int64_t size,
                           RtError *err) {
    (void)s;
    if (!note("on_device", d, err)) return false;
    memmove(rt_null_pointer(to), rt_null_pointer(from), (size_t)size);
    return true;
}

static bool null_set_bytes(RtDevice *d, RtStream *s, uint64_t to, uint8_t value, int64_t size,
                           RtError *err) {
    (void)s;
    if (!note("set_bytes", d, err)) return false;
    memset(rt_null_pointer(to), value, (size_t)size);
    return true;
}

/* -- kernels ----------------------------------------------------------------------------------- */

static bool null_load(RtDevice *device, RtKernel *kernel, RtError *err) {
    if (!note("load", device, err)) return false;
    kernel->info.max_threads = kernel->artifact->max_threads ? kernel->artifact->max_threads : 1024;
    kernel->info.registers = 32;
    kernel->info.shared_bytes = kernel->artifact->shared_bytes;
    pthread_mutex_lock(&null.lock);
    null.handles++;
    pthread_mutex_unlock(&null.lock);
    return true;
}

static void null_unload(RtDevice *device, RtKernel *kernel) {
    (void)kernel;
    note("unload", device, NULL);
    pthread_mutex_lock(&null.lock);
    null.handles--;
    pthread_mutex_unlock(&null.lock);
}

static bool null_launch(RtKernel *kernel, RtStream *stream, const DeviceLaunch *launch,
                        RtError *err) {
    (void)stream;
    if (!note("launch", kernel->device, err)) return false;
    char params[4096];
    rt_pack_params(kernel, launch->args, params);
    atomic_store(&null.pending, 2);
    return !null.kernel || null.kernel(kernel, launch, params);
}

static bool null_occupancy(RtKernel *kernel, int32_t block, int32_t dynamic_shared, int32_t *blocks,
                           RtError *err) {
    (void)dynamic_shared;
    if (!note("occupancy", kernel->device, err)) return false;
    *blocks = block <= 256 ? 2048 / block : 1; /* 256 is the best, from above */
    return true;
}

static bool null_global(RtKernel *kernel, const char *name, uint64_t *address, int64_t *size,
                        RtError *err) {
    (void)address, (void)size;
    return rt_fail(err, RT_VALUE_ERROR, "Kernel %s has no global variable '%s'.", kernel->name,
                   name);
}

/* -- streams and events ------------------------------------------------------------------------ */

static void handles(int n) {
    pthread_mutex_lock(&null.lock);
    null.handles += n;
    pthread_mutex_unlock(&null.lock);
}

static bool null_stream_create(RtStream *stream, RtError *err) {
    if (!note("stream_create", stream->device, err)) return false;
    stream->handle = (uint64_t)(uintptr_t)stream;
    handles(1);
    return true;
}

static void null_stream_destroy(RtStream *stream) {
    note("stream_destroy", stream->device, NULL);
    handles(-1);
}

static bool null_sync(RtDevice *device, RtStream *stream, RtError *err) {
    (void)stream;
    if (!note("sync", device, err)) return false;
    atomic_store(&null.pending, 0);
    return true;
}

static bool null_stream_query(RtStream *stream, bool *done, RtError *err) {
    if (!note("stream_query", stream->device, err)) return false;
    *done = atomic_load(&null.pending) == 0;
    if (!*done) atomic_fetch_sub(&null.pending, 1);
    return true;
}

static bool null_stream_wait(RtStream *stream, RtEvent *event, RtError *err) {
    (void)event;
    return note("stream_wait", stream->device, err);
}

static bool null_stream_callback(RtStream *stream, void (*fn)(void *), void *user, RtError *err) {
    if (!note("stream_callback", stream->device, err)) return false;
    fn(user);
    return true;
}

static bool null_event_create(RtEvent *event, RtError *err) {
    if (!note("event_create", event->device, err)) return false;
    event->handle = (uint64_t)(uintptr_t)event;
    handles(1);
    return true;
}

static void null_event_destroy(RtEvent *event) {
    note("event_destroy", event->device, NULL);
    handles(-1);
}

static bool null_event_record(RtEvent *event, RtStream *stream, RtError *err) {
    (void)stream;
    event->ns = os_now_ns();
    return note("event_record", event->device, err);
}

static bool null_event_query(RtEvent *event, bool *done, RtError *err) {
    *done = true;
    return note("event_query", event->device, err);
}

static bool null_event_sync(RtEvent *event, RtError *err) {
    return note("event_sync", event->device, err);
}

static bool null_event_elapsed(RtEvent *start, RtEvent *stop, float *ms, RtError *err) {
    *ms = (float)((double)(stop->ns - start->ns) / 1e6);
    return note("event_elapsed", start->device, err);
}

const DeviceOps rt_null_ops = {
    .name = "null",
    .count = null_count,
    .open = null_open,
    .close = null_close,
    .alloc = null_alloc,
    .free = null_free,
    .memory_info = null_memory_info,
    .to_device = null_to_device,
    .to_host = null_to_host,
    .on_device = null_on_device,
    .set_bytes = null_set_bytes,
    .load = null_load,
    .unload = null_unload,
    .launch = null_launch,
    .occupancy = null_occupancy,
    .global = null_global,
    .stream_create = null_stream_create,
    .stream_destroy = null_stream_destroy,
    .sync = null_sync,
    .stream_query = null_stream_query,
    .stream_wait = null_stream_wait,
    .stream_callback = null_stream_callback,
    .event_create = null_event_create,
    .event_destroy = null_event_destroy,
    .event_record = null_event_record,
    .event_query = null_event_query,
    .event_sync = null_event_sync,
    .event_elapsed = null_event_elapsed,
};
