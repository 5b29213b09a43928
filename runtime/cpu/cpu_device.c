/* cpu_device.c - the cpu device: kernels are native code, their blocks are spread over the thread pool, and
 * device memory is host memory. Everything is done when a call returns, so streams have nothing to order and
 * events are time stamps. Limits are those of a common GPU, so that a program that runs here runs there. */
#include "runtime/cpu/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int32_t cpu_count(RtError *err) {
    (void)err;
    return 1;
}

static void cpu_name(char *name, size_t size) {
    snprintf(name, size, "CPU");
    FILE *f = fopen("/proc/cpuinfo", "re");
    if (!f) return;
    char line[512];
    while (fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    fclose(f);
}

static bool cpu_open(RtDevice *device, RtError *err) {
    (void)err;
    RtDeviceInfo *info = &device->info;
    cpu_name(info->name, sizeof info->name);
    int64_t page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);
    info->memory = page * pages;
    info->multiprocessors = rt_threads_max();
    info->warp_size = 32;
    info->max_threads = 1024;
    for (int i = 0; i < 3; i++) {
        info->max_block[i] = i < 2 ? 1024 : 64;
        info->max_grid[i] = i ? 65535 : INT32_MAX;
    }
    info->max_shared = 48 << 10;
    info->max_shared_optin = 227 << 10;
    info->max_param_bytes = INT32_MAX;
    info->max_registers = 65536;
    info->unified_addressing = info->managed_memory = info->can_map_host = info->integrated =
        info->cooperative = true;
    return true;
}

static void cpu_close(RtDevice *device) {
    (void)device;
}

/* -- memory ------------------------------------------------------------------------------------ */

static bool cpu_alloc(RtDevice *device, RtMemory memory, int64_t size, uint64_t *address,
                      void **host, RtError *err) {
    (void)device, (void)memory;
    size_t rounded = ((size_t)size + 63) / 64 * 64;
    void *p = aligned_alloc(64, rounded);
    if (!p)
        return rt_fail(err, RT_MEMORY_ERROR, "Out of memory: %lld bytes were asked for.",
                       (long long)size);
    *address = (uint64_t)(uintptr_t)p;
    *host = p;
    return true;
}

static void cpu_free(RtDevice *device, RtMemory memory, uint64_t address, void *host) {
    (void)device, (void)memory, (void)host;
    free((void *)(uintptr_t)address);
}

static bool cpu_memory_info(RtDevice *device, int64_t *free, int64_t *total, RtError *err) {
    (void)err;
    *free = (int64_t)sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE);
    *total = device->info.memory;
    return true;
}

static bool move(uint64_t to, uint64_t from, int64_t size) {
    memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, (size_t)size);
    return true;
}

static bool cpu_to_device(RtDevice *d, RtStream *s, uint64_t to, const void *from, int64_t size,
                          RtError *err) {
    (void)d, (void)s, (void)err;
    return move(to, (uint64_t)(uintptr_t)from, size);
}

static bool cpu_to_host(RtDevice *d, RtStream *s, void *to, uint64_t from, int64_t size,
                        RtError *err) {
    (void)d, (void)s, (void)err;
    return move((uint64_t)(uintptr_t)to, from, size);
}

static bool cpu_on_device(RtDevice *d, RtStream *s, uint64_t to, uint64_t from, int64_t size,
                          RtError *err) {
    (void)d, (void)s, (void)err;
    return move(to, from, size);
}

static bool cpu_set_bytes(RtDevice *d, RtStream *s, uint64_t to, uint8_t value, int64_t size,
                          RtError *err) {
    (void)d, (void)s, (void)err;
    memset((void *)(uintptr_t)to, value, (size_t)size);
    return true;
}

/* -- kernels ----------------------------------------------------------------------------------- */

static bool cpu_load(RtDevice *device, RtKernel *kernel, RtError *err) {
    const Artifact *artifact = kernel->artifact;
    if (!artifact->entry)
        return rt_fail(err, RT_VALUE_ERROR, "Kernel %s has no machine code for the cpu device.",
                       kernel->name);
    if (artifact->shared_bytes > device->info.max_shared_optin)
        return rt_fail(err, RT_VALUE_ERROR,
                       "Kernel %s needs %d bytes of shared memory; the cpu device has %d.",
                       kernel->name, artifact->shared_bytes, device->info.max_shared_optin);
    kernel->function = artifact->entry;
    kernel->info.max_threads = artifact->max_threads
                                   ? QN_MIN(artifact->max_threads, device->info.max_threads)
                                   : device->info.max_threads;
    kernel->info.shared_bytes = artifact->shared_bytes;
    return true;
}

static void cpu_unload(RtDevice *device, RtKernel *kernel) {
    (void)device, (void)kernel;
}

typedef struct CpuLaunch {
    KernelEntry entry;
    const DeviceLaunch *launch;
    size_t shared_bytes;
    const LaunchWatch *watch; /* NULL: nobody watches */
    void *watcher;
} CpuLaunch;

static int no_memory(CallContext *ctx, size_t bytes) {
    ctx->exception = -1 - GUARD_memory;
    ctx->site = -1;
    ctx->args[0] = (int64_t)bytes;
    return CALL_EXCEPTION;
}

/* One chunk of blocks on one thread. */
static int run_blocks(CallContext *ctx, int64_t first, int64_t last, void *user) {
    const CpuLaunch *c = user;
    const DeviceLaunch *l = c->launch;
    int64_t stride = ((int64_t)c->shared_bytes + 127) / 128 * 128;
    size_t shared = l->together ? (size_t)(stride * (last - first)) : c->shared_bytes;
    Scratch *scratch = cpu_scratch_take(shared);
    if (!scratch) return no_memory(ctx, shared);
    KernelGrid grid = {.first = (uint64_t)first,
                       .last = (uint64_t)last,
                       .shared = cpu_scratch_shared(scratch),
                       .dynamic_shared = l->dynamic_shared,
                       .cooperative = l->together,
                       .shared_stride = stride,
                       .frame_alloc = cpu_frame_alloc,
                       .frame_free = cpu_frame_free,
                       .user = scratch};
    memcpy(grid.grid, l->grid, sizeof grid.grid);
    memcpy(grid.block, l->block, sizeof grid.block);
    ctx->has_item = 0;
    if (c->watch && !c->watch->enter(c->watcher, &grid, (int64_t)shared)) {
        cpu_scratch_give(scratch);
        return no_memory(ctx, shared);
    }
    int status = c->entry(ctx, l->args, &grid);
    if (c->watch) c->watch->leave();
    cpu_scratch_give(scratch);
    return status;
}

/* One thread runs them all, each to the next barrier of the grid. */
static int run_together(CallContext *ctx, int64_t first, int64_t last, void *user) {
    const DeviceLaunch *l = ((CpuLaunch *)user)->launch;
    (void)first, (void)last;
    return run_blocks(ctx, 0, (int64_t)l->grid[0] * l->grid[1] * l->grid[2], user);
}

static atomic_int running;

int32_t rt_launches_running(void) {
    return atomic_load(&running);
}

static bool cpu_launch(RtKernel *kernel, RtStream *stream, const DeviceLaunch *l, RtError *err) {
    (void)stream;
    CpuLaunch c = {.launch = l,
                   .shared_bytes = (size_t)kernel->info.shared_bytes + l->dynamic_shared};
    memcpy(&c.entry, &kernel->function, sizeof c.entry); /* object to function pointer */
    int64_t blocks = (int64_t)l->grid[0] * l->grid[1] * l->grid[2];
    CallContext raised;
    memset(&raised, 0, sizeof raised);
    c.watch = kernel->artifact->watch;
    if (c.watch && !(c.watcher = c.watch->open(kernel->artifact->sanitize)))
        return rt_fail(err, RT_MEMORY_ERROR, "no memory for QUERN_SANITIZE");
    atomic_fetch_add(&running, 1);
    int status = l->together ? cpu_parallel(l->ctx, &raised, 1, 0, run_together, &c)
                             : cpu_parallel(l->ctx, &raised, blocks, 0, run_blocks, &c);
    atomic_fetch_sub(&running, 1);
    if (c.watch && status == CALL_OK && c.watch->found(c.watcher, kernel->artifact, &raised))
        status = CALL_EXCEPTION;
    if (c.watch) c.watch->close(c.watcher);
    if (status == CALL_OK) return true;
    if (status == CALL_PENDING)
        return rt_fail(err, RT_PENDING, "kernel %s was interrupted", kernel->name);
    rt_fail(err, RT_KERNEL_EXCEPTION, "Kernel %s raised an exception.", kernel->name);
    err->raised = raised;
    err->artifact = kernel->artifact;
    err->has_thread = raised.has_item != 0;
    memcpy(err->block_index, raised.block, sizeof err->block_index);
    memcpy(err->thread_index, raised.thread, sizeof err->thread_index);
    return false;
}

static bool cpu_occupancy(RtKernel *kernel, int32_t block, int32_t dynamic_shared, int32_t *blocks,
                          RtError *err) {
    (void)kernel, (void)block, (void)dynamic_shared, (void)err;
    *blocks = 1; /* a processor works on one block at a time */
    return true;
}

static bool cpu_global(RtKernel *kernel, const char *name, uint64_t *address, int64_t *size,
                       RtError *err) {
    (void)address, (void)size;
    return rt_fail(err, RT_VALUE_ERROR, "Kernel %s has no global variable '%s' on the cpu device.",
                   kernel->name, name);
}

/* -- streams and events ------------------------------------------------------------------------ */

static bool cpu_stream_create(RtStream *stream, RtError *err) {
    (void)err;
    stream->handle = (uint64_t)(uintptr_t)stream;
    return true;
}

static void cpu_stream_destroy(RtStream *stream) {
    (void)stream;
}

static bool cpu_sync(RtDevice *device, RtStream *stream, RtError *err) {
    (void)device, (void)stream, (void)err;
    return true;
}

static bool cpu_stream_query(RtStream *stream, bool *done, RtError *err) {
    (void)stream, (void)err;
    return *done = true;
}

static bool cpu_stream_wait(RtStream *stream, RtEvent *event, RtError *err) {
    (void)stream, (void)event, (void)err;
    return true;
}

static bool cpu_stream_callback(RtStream *stream, void (*fn)(void *), void *user, RtError *err) {
    (void)stream, (void)err;
    fn(user);
    return true;
}

static bool cpu_event_create(RtEvent *event, RtError *err) {
    (void)err;
    event->handle = (uint64_t)(uintptr_t)event;
    return true;
}

static void cpu_event_destroy(RtEvent *event) {
    (void)event;
}

static bool cpu_event_record(RtEvent *event, RtStream *stream, RtError *err) {
    (void)stream, (void)err;
    event->ns = os_now_ns();
    return true;
}

static bool cpu_event_query(RtEvent *event, bool *done, RtError *err) {
    (void)event, (void)err;
    return *done = true;
}

static bool cpu_event_sync(RtEvent *event, RtError *err) {
    (void)event, (void)err;
    return true;
}

static bool cpu_event_elapsed(RtEvent *start, RtEvent *stop, float *ms, RtError *err) {
    (void)err;
    *ms = (float)((double)(stop->ns - start->ns) / 1e6);
    return true;
}

const DeviceOps rt_cpu_ops = {
    .name = "cpu",
    .count = cpu_count,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .memory_info = cpu_memory_info,
    .to_device = cpu_to_device,
    .to_host = cpu_to_host,
    .on_device = cpu_on_device,
    .set_bytes = cpu_set_bytes,
    .load = cpu_load,
    .unload = cpu_unload,
    .launch = cpu_launch,
    .occupancy = cpu_occupancy,
    .global = cpu_global,
    .stream_create = cpu_stream_create,
    .stream_destroy = cpu_stream_destroy,
    .sync = cpu_sync,
    .stream_query = cpu_stream_query,
    .stream_wait = cpu_stream_wait,
    .stream_callback = cpu_stream_callback,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .event_query = cpu_event_query,
    .event_sync = cpu_event_sync,
    .event_elapsed = cpu_event_elapsed,
    .host_memory = true,
};
