/* launch.c - one launch: checks with sentences, host arrays there and back, and who is to blame afterwards.
 *
 * The way of a launch with device arrays only is the hot path: no lock, no allocation, one driver call. */
#include "runtime/device.h"

#include <string.h>

/* -- checks ------------------------------------------------------------------------------------ */

static const char axis_name[3] = {'x', 'y', 'z'};

static bool check_axis(const RtDeviceInfo *info, const char *what, const int64_t *dims, int axis,
                       const int32_t *limits, RtError *err) {
    if (dims[axis] < 1)
        return rt_fail(err, RT_VALUE_ERROR,
                       "The %s is (%lld, %lld, %lld): its %c dimension must be at least 1.", what,
                       (long long)dims[0], (long long)dims[1], (long long)dims[2], axis_name[axis]);
    if (dims[axis] > limits[axis])
        return rt_fail(err, RT_VALUE_ERROR,
                       "The %s is (%lld, %lld, %lld), but %s allows at most %d in dimension %c.",
                       what, (long long)dims[0], (long long)dims[1], (long long)dims[2], info->name,
                       limits[axis], axis_name[axis]);
    return true;
}

/* 1 to limit? Both sides without a sign: 0 and less are too large. */
static inline bool within(int64_t dim, int32_t limit) {
    return (uint64_t)(dim - 1) < (uint64_t)limit;
}

static inline bool axis_ok(const RtDeviceInfo *info, const int64_t grid[3], const int64_t block[3],
                           int i) {
    return within(grid[i], info->max_grid[i]) & within(block[i], info->max_block[i]);
}

bool rt_check_config(const RtDeviceInfo *info, const int64_t grid[3], const int64_t block[3],
                     int64_t dynamic_shared, RtError *err) {
    bool axes = axis_ok(info, grid, block, 0) & axis_ok(info, grid, block, 1) &
                axis_ok(info, grid, block, 2);
    for (int i = 0; QN_UNLIKELY(!axes) && i < 3; i++)
        if (!check_axis(info, "grid", grid, i, info->max_grid, err) ||
            !check_axis(info, "block", block, i, info->max_block, err))
            return false;
    for (int i = 0; QN_UNLIKELY(info->max_items) && i < 3; i++)
        if (grid[i] * block[i] > info->max_items)
            return rt_fail(err, RT_VALUE_ERROR,
                           "%lld blocks of %lld threads are more than %lld threads along %c, which "
                           "%s cannot count. Launch fewer blocks, and let each thread loop.",
                           (long long)grid[i], (long long)block[i], (long long)info->max_items,
                           axis_name[i], info->name);
    int64_t threads = block[0] * block[1] * block[2];
    if (QN_UNLIKELY(threads > info->max_threads))
        return rt_fail(
            err, RT_VALUE_ERROR,
            "A block of (%lld, %lld, %lld) has %lld threads, but %s allows at most %d in a block.",
            (long long)block[0], (long long)block[1], (long long)block[2], (long long)threads,
            info->name, info->max_threads);
    if (QN_UNLIKELY(dynamic_shared < 0 || dynamic_shared > info->max_shared_optin))
        return rt_fail(
            err, RT_VALUE_ERROR,
            "%lld bytes of dynamic shared memory are asked for; %s allows 0 to %d in a block.",
            (long long)dynamic_shared, info->name, info->max_shared_optin);
    return true;
}

/* What depends on the kernel as well. */
static bool check_kernel(const RtKernel *kernel, const RtLaunch *l, RtError *err) {
    const RtKernelInfo *k = &kernel->info;
    const RtDeviceInfo *info = &kernel->device->info;
    int64_t threads = l->block[0] * l->block[1] * l->block[2];
    if (QN_UNLIKELY(threads > k->max_threads)) {
        if (kernel->artifact->max_threads && threads > kernel->artifact->max_threads)
            return rt_fail(
                err, RT_VALUE_ERROR,
                "A block of %lld threads is more than the launch bound of %d that kernel %s was "
                "compiled with.",
                (long long)threads, kernel->artifact->max_threads, kernel->name);
        return rt_fail(err, RT_VALUE_ERROR,
                       "A block of %lld threads is too large for kernel %s: it uses %d registers "
                       "in each thread, "
                       "so that %s can run at most %d threads of it in a block. Launch smaller "
                       "blocks, or compile "
                       "with max_registers=%lld.",
                       (long long)threads, kernel->name, k->registers, info->name, k->max_threads,
                       (long long)QN_MAX(info->max_registers / threads / 8 * 8, 16));
    }
    if (QN_UNLIKELY(l->dynamic_shared + k->shared_bytes > info->max_shared_optin))
        return rt_fail(
            err, RT_VALUE_ERROR,
            "Kernel %s has %d bytes of static and is given %lld bytes of dynamic shared memory; %s "
            "allows %d bytes in a block altogether.",
            kernel->name, k->shared_bytes, (long long)l->dynamic_shared, info->name,
            info->max_shared_optin);
    if (QN_UNLIKELY(l->stream && l->stream->device != kernel->device))
        return rt_fail(err, RT_VALUE_ERROR,
                       "Kernel %s is on %s device %d, the stream on %s device %d.", kernel->name,
                       kernel->device->ops->name, info->ordinal, l->stream->device->ops->name,
                       l->stream->device->info.ordinal);
    return true;
}

/* All blocks of a cooperative kernel run at the same time. */
static bool check_together(RtKernel *kernel, const RtLaunch *l, RtError *err) {
    RtDevice *device = kernel->device;
    int64_t most = 0, blocks = l->grid[0] * l->grid[1] * l->grid[2];
    int32_t threads = (int32_t)(l->block[0] * l->block[1] * l->block[2]);
    if (!device->info.cooperative)
        return rt_fail(err, RT_SUPPORT_ERROR,
                       "Kernel %s synchronises its grid; %s cannot run all blocks of a launch at "
                       "the same time.",
                       kernel->name, device->info.name);
    if (!rt_most_blocks(kernel, threads, (int32_t)l->dynamic_shared, &most, err)) return false;
    if (blocks <= most) return true;
    return rt_fail(err, RT_VALUE_ERROR,
                   "Kernel %s synchronises its grid, so all blocks must run at the same time: "
                   "%s has room for %lld of %d threads, not for %lld. Launch fewer blocks, and "
                   "let each thread loop.",
                   kernel->name, device->info.name, (long long)most, threads, (long long)blocks);
}

/* -- blame ------------------------------------------------------------------------------------- */

static void site_of(RtLaunchSite *site, const char *name, const uint32_t *grid,
                    const uint32_t *block, uint32_t shared) {
    memset(site, 0, sizeof *site);
    site->known = true;
    memcpy(site->grid, grid, sizeof site->grid);
    memcpy(site->block, block, sizeof site->block);
    site->dynamic_shared = shared;
    memcpy(site->kernel, name, sizeof site->kernel);
    site->kernel[sizeof site->kernel - 1] = '\0';
}

/* Is work of ours unfinished there, as far as we know? */
static bool at_work(const RtStream *s) {
    return s->last_kernel && atomic_load(&s->launches) > 0;
}

enum { MAX_SUSPECTS = 4 };

/* Streams whose kernels may have done it, the likeliest first. The failing call may be made with the lock held:
 * only a try. */
static int suspects(RtDevice *device, RtStream *stream, RtStream **found) {
    RtStream *home = &device->default_stream;
    int n = 0;
    if (stream && at_work(stream)) found[n++] = stream;
    if (stream != home && at_work(home)) found[n++] = home;
    if (pthread_mutex_trylock(&device->lock) == 0) {
        for (RtStream *s = device->streams; s && n < MAX_SUSPECTS; s = s->next)
            if (s != stream && at_work(s)) found[n++] = s;
        pthread_mutex_unlock(&device->lock);
    }
    if (n == 0 && stream && stream->last_kernel) found[n++] = stream;
    if (n == 0 && home->last_kernel) found[n++] = home;
    return n;
}

void rt_blame(RtDevice *device, RtStream *stream, RtError *err) {
    RtStream *found[MAX_SUSPECTS + 1];
    int n = suspects(device, stream, found);
    if (n == 0) return;
    RtStream *s = found[0];
    RtKernel *kernel = s->last_kernel;
    uint32_t launches = atomic_load(&s->launches);
    uint32_t grid[3], block[3];
    for (int i = 0; i < 3; i++) {
        grid[i] = s->last_grid[i];
        block[i] = s->last_block[i];
    }
    RtLaunchSite site;
    site_of(&site, kernel->name, grid, block, s->last_shared);
    rt_error_launch(err, &site);
    rt_note(err,
            "It likely happened in kernel %s, launched with grid (%u, %u, %u) and block (%u, %u, "
            "%u)%s. "
            "Compile it with debug=True to learn the place.",
            site.kernel, site.grid[0], site.grid[1], site.grid[2], site.block[0], site.block[1],
            site.block[2],
            launches > 1 ? ", the last of several launched since the last synchronisation" : "");
    for (int i = 1; i < n; i++)
        rt_note(err, "Kernel %s was at work on another stream, it may have been that one.",
                found[i]->last_kernel->name);
}

/* -- the launch -------------------------------------------------------------------------------- */

static void remember(RtStream *s, RtKernel *kernel, const DeviceLaunch *d) {
    for (int i = 0; i < 3; i++) {
        atomic_store_explicit(&s->last_grid[i], d->grid[i], memory_order_relaxed);
        atomic_store_explicit(&s->last_block[i], d->block[i], memory_order_relaxed);
    }
    atomic_store_explicit(&s->last_shared, d->dynamic_shared, memory_order_relaxed);
    atomic_store_explicit(&s->last_kernel, kernel, memory_order_relaxed);
    uint32_t launches = atomic_load_explicit(&s->launches, memory_order_relaxed);
    atomic_store_explicit(&s->launches, launches + 1, memory_order_relaxed);
}

/* They count themselves in memory of the kernel: its launches on different streams come one after the other. */
static bool wait_together(RtKernel *kernel, RtStream *stream, RtError *err) {
    RtStream *before = atomic_exchange(&kernel->together_on, stream);
    return !before || before == stream || kernel->device->ops->sync(kernel->device, NULL, err);
}

bool rt_submit(RtKernel *kernel, RtStream *stream, const DeviceLaunch *d, RtError *err) {
    if (QN_UNLIKELY(d->together) && !wait_together(kernel, stream, err)) return false;
    if (!kernel->device->ops->host_memory) remember(stream, kernel, d);
    if (QN_UNLIKELY((kernel->mailbox | kernel->prints) != 0)) {
        atomic_store_explicit(&kernel->mail, true, memory_order_relaxed);
        atomic_store_explicit(&kernel->device->mail, true, memory_order_relaxed);
    }
    int64_t start = rt_trace_begin();
    bool ok = kernel->device->ops->launch(kernel, stream, d, err);
    if (QN_LIKELY(ok && !start)) return true;
    RtLaunchSite site;
    site_of(&site, kernel->name, d->grid, d->block, d->dynamic_shared);
    if (start) rt_trace_end(start, kernel->device, RT_TRACE_LAUNCH, 0, &site, ok);
    rt_error_launch(err, &site);
    return ok;
}

static bool submit(const RtLaunch *l, RtStream *stream, RtError *err) {
    RtKernel *kernel = l->kernel;
    DeviceLaunch d;
    for (int i = 0; i < 3; i++) {
        d.grid[i] = (uint32_t)l->grid[i];
        d.block[i] = (uint32_t)l->block[i];
    }
    d.dynamic_shared = (uint32_t)l->dynamic_shared;
    d.args = l->args;
    d.ctx = l->ctx;
    d.together = kernel->artifact->cooperative;
    if (QN_UNLIKELY(d.together) && !check_together(kernel, l, err)) return false;
    if (QN_UNLIKELY(stream->capture != NULL)) return rt_capture_launch(stream, kernel, &d, err);
    return rt_submit(kernel, stream, &d, err);
}

static bool has_bits(const uint32_t *masks, int32_t n) {
    uint32_t any = 0;
    for (int i = 0; masks && i < n; i++)
        any |= masks[i];
    return any != 0;
}

/* The wait was interrupted: the kernel runs on, but host memory must not be read any more when we return. */
static void copies_are_in(RtEvent *copied) {
    RtError ignored;
    rt_error_init(&ignored);
    if (copied) rt_event_synchronize(copied, NULL, &ignored);
}

static bool launch_and_return(const RtLaunch *l, RtStream *stream, RtArgs *args, RtError *err) {
    RtDevice *device = l->kernel->device;
    if (!rt_args_begin(args, device, stream, err)) {
        RtError ignored;
        rt_error_init(&ignored);
        if (!rt_device_dead(device)) device->ops->sync(device, stream, &ignored);
        return false;
    }
    RtEvent *copied = l->ctx && l->ctx->poll ? rt_event_new(device, false, err) : NULL;
    bool ok = !rt_failed(err) && (!copied || rt_event_record(copied, stream, err)) &&
              submit(l, stream, err) && rt_stream_synchronize(stream, l->ctx, err) &&
              rt_args_end(args, device, stream, err);
    if (!ok) copies_are_in(copied);
    rt_event_release(copied);
    return ok;
}

static bool launch_with_arrays(const RtLaunch *l, RtStream *stream, RtError *err) {
    RtArgs args;
    const Artifact *artifact = l->kernel->artifact;
    bool ok = rt_args_collect(&args, artifact, l->args, l->host, err) &&
              rt_args_check(&args, artifact, err);
    if (ok && args.any_host && !l->kernel->device->ops->host_memory)
        ok = launch_and_return(l, stream, &args, err);
    else if (ok)
        ok = submit(l, stream, err);
    rt_args_free(&args);
    return ok;
}

bool rt_launch(const RtLaunch *l, RtError *err) {
    RtKernel *kernel = l->kernel;
    RtDevice *device = kernel->device;
    if (QN_UNLIKELY(!rt_usable(device, err))) return false;
    if (QN_UNLIKELY(!rt_check_config(&device->info, l->grid, l->block, l->dynamic_shared, err) ||
                    !check_kernel(kernel, l, err)))
        return false;
    RtStream *stream = l->stream ? l->stream : &device->default_stream;
    int32_t n = kernel->artifact->nparams;
    if (l->host && has_bits(l->host, n) &&
        !rt_not_captured(stream, "Arrays of the host cannot be copied", err))
        return false;
    if (l->host && has_bits(l->host, n)) return launch_with_arrays(l, stream, err);
    return submit(l, stream, err);
}
