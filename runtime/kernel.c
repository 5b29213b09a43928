/* kernel.c - an artifact's kernel on one device: loaded once, shared, and unloaded when nothing runs.
 *
 * The parameter list of the artifact becomes a short list of moves: neighbours that are neighbours on both
 * sides are one move, so an array of pointer, shape and strides is often a single copy. */
#include "runtime/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- the plan of parameters -------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b) {
    const ParamMove *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool make_plan(RtKernel *kernel, RtError *err) {
    const Artifact *artifact = kernel->artifact;
    int32_t n = artifact->nkernel_params;
    kernel->nparams = n;
    kernel->param_bytes = artifact->param_bytes;
    if (n == 0) return true;
    kernel->moves = rt_alloc(sizeof *kernel->moves * (size_t)n);
    if (!kernel->moves) return rt_fail_memory(err, "a kernel", (int64_t)sizeof *kernel->moves * n);
    for (int i = 0; i < n; i++) {
        const KernelParam *p = &artifact->kernel_params[i];
        if (p->arg >= artifact->nparams || p->offset + p->size > (uint32_t)artifact->param_bytes)
            return rt_fail(err, RT_VALUE_ERROR, "The parameter list of kernel %s is damaged.",
                           kernel->name);
        uint16_t size = p->rounds ? MOVE_ROUNDS : p->size;
        kernel->moves[i] = (ParamMove){p->arg, size, p->source, p->offset};
    }
    qsort(kernel->moves, (size_t)n, sizeof *kernel->moves, by_offset);
    kernel->nmoves = 0;
    for (int i = 0; i < n; i++) {
        ParamMove m = kernel->moves[i],
                  *last = kernel->nmoves ? &kernel->moves[kernel->nmoves - 1] : NULL;
        if (last && last->size != MOVE_ROUNDS && m.size != MOVE_ROUNDS && last->arg == m.arg &&
            last->source + last->size == m.source && last->offset + last->size == m.offset &&
            last->size + m.size < MOVE_ROUNDS)
            last->size = (uint16_t)(last->size + m.size);
        else
            kernel->moves[kernel->nmoves++] = m;
    }
    return true;
}

static void round_param(const char *from, char *to) {
    double value;
    memcpy(&value, from, sizeof value);
    memcpy(to, &(float){(float)value}, sizeof(float));
}

/* The sizes of nearly all moves are known to be 4, 8 or multiples of 8: no call for those. */
void rt_pack_params(const RtKernel *kernel, void *const *args, char *buffer) {
    const ParamMove *m = kernel->moves, *end = m + kernel->nmoves;
    for (; m < end; m++) {
        const char *from = (const char *)args[m->arg] + m->source;
        char *to = buffer + m->offset;
        switch (m->size) {
        case 4: memcpy(to, from, 4); break;
        case 8: memcpy(to, from, 8); break;
        case 16: memcpy(to, from, 16); break;
        case 24: memcpy(to, from, 24); break;
        case MOVE_ROUNDS: round_param(from, to); break;
        default: memcpy(to, from, m->size);
        }
    }
}

/* -- loading ----------------------------------------------------------------------------------- */

static void kernel_free(RtKernel *kernel) {
    rt_dealloc(kernel->moves, sizeof *kernel->moves * (size_t)kernel->nparams);
    rt_dealloc(kernel, sizeof *kernel);
}

static bool artifact_fits(RtDevice *device, const Artifact *artifact, RtError *err) {
    bool host = target_is_host(artifact->target);
    if (artifact->entry_kind != ENTRY_KERNEL)
        return rt_fail(err, RT_TYPE_ERROR, "%.*s was not compiled as a kernel.",
                       STR_ARG(artifact->name));
    if (device->ops == &rt_null_ops || host == device->ops->host_memory) return true;
    return rt_fail(err, RT_TYPE_ERROR,
                   "%.*s was compiled for the %s and cannot run on %s device %d.",
                   STR_ARG(artifact->name), host ? "cpu device" : "GPU", device->ops->name,
                   device->info.ordinal);
}

static RtKernel *load(RtDevice *device, const Artifact *artifact, RtError *err) {
    RtKernel *kernel = rt_alloc(sizeof *kernel);
    if (!kernel) {
        rt_fail_memory(err, "a kernel", sizeof *kernel);
        return NULL;
    }
    atomic_init(&kernel->refs, 1);
    kernel->device = device;
    kernel->artifact = artifact;
    kernel->generation = rt_generation();
    snprintf(kernel->name, sizeof kernel->name, "%.*s%s", (int)QN_MIN(artifact->name.len, 90),
             artifact->name.bytes, artifact->name.len > 90 ? "..." : "");
    if (make_plan(kernel, err) && device->ops->load(device, kernel, err)) {
        pthread_mutex_lock(&device->lock);
        kernel->next = device->kernels;
        device->kernels = kernel;
        pthread_mutex_unlock(&device->lock);
        return kernel;
    }
    kernel_free(kernel);
    return NULL;
}

static RtKernel *find(RtDevice *device, const Artifact *artifact) {
    pthread_mutex_lock(&device->lock);
    RtKernel *kernel = device->kernels;
    while (kernel && kernel->artifact != artifact)
        kernel = kernel->next;
    if (kernel) atomic_fetch_add(&kernel->refs, 1);
    pthread_mutex_unlock(&device->lock);
    return kernel;
}

/* Two locks: loading may take long and may wait for the device, which must not hold up a release. */
RtKernel *rt_kernel(RtDevice *device, const Artifact *artifact, RtError *err) {
    if (!rt_usable(device, err) || !artifact_fits(device, artifact, err)) return NULL;
    RtKernel *kernel = find(device, artifact);
    if (kernel) return kernel;
    pthread_mutex_lock(&device->load_lock);
    kernel = find(device, artifact); /* another thread may have been first */
    if (!kernel) kernel = load(device, artifact, err);
    pthread_mutex_unlock(&device->load_lock);
    return kernel;
}

/* A kernel that may still run keeps its module until the device has been idle. */
void rt_kernel_release(RtKernel *kernel) {
    if (!kernel) return;
    RtDevice *device = kernel->device;
    bool ours = device->ops->host_memory || kernel->generation == rt_generation();
    if (!ours) { /* the parent's device: its lock may be held by a thread that is not here */
        if (atomic_fetch_sub(&kernel->refs, 1) == 1) kernel_free(kernel);
        return;
    }
    pthread_mutex_lock(&device->lock);
    bool last = atomic_fetch_sub(&kernel->refs, 1) == 1;
    if (last) {
        RtKernel **link = &device->kernels;
        while (*link != kernel)
            link = &(*link)->next;
        *link = kernel->next;
        kernel->artifact = NULL;
        if (!device->ops->host_memory) {
            kernel->next = device->retired;
            device->retired = kernel;
        }
    }
    pthread_mutex_unlock(&device->lock);
    if (!last || !device->ops->host_memory) return;
    device->ops->unload(device, kernel);
    kernel_free(kernel);
}

/* Streams remember their last kernel for error texts. */
static void forget(RtDevice *device, const RtKernel *kernel) {
    if (device->default_stream.last_kernel == kernel) device->default_stream.last_kernel = NULL;
    for (RtStream *s = device->streams; s; s = s->next)
        if (s->last_kernel == kernel) s->last_kernel = NULL;
}

void rt_kernels_retire(RtDevice *device) {
    pthread_mutex_lock(&device->lock);
    RtKernel *list = device->retired;
    device->retired = NULL;
    for (RtKernel *k = list; k; k = k->next)
        forget(device, k);
    pthread_mutex_unlock(&device->lock);
    for (RtKernel *next; list; list = next) {
        next = list->next;
        device->ops->unload(device, list);
        kernel_free(list);
    }
}

void rt_kernels_close(RtDevice *device) {
    RtKernel *lists[2] = {device->kernels, device->retired};
    device->kernels = device->retired = NULL;
    for (int i = 0; i < 2; i++)
        for (RtKernel *next; lists[i]; lists[i] = next) {
            next = lists[i]->next;
            device->ops->unload(device, lists[i]);
            kernel_free(lists[i]);
        }
}

const Artifact *rt_kernel_artifact(const RtKernel *kernel) {
    return kernel->artifact;
}
RtDevice *rt_kernel_device(const RtKernel *kernel) {
    return kernel->device;
}
const RtKernelInfo *rt_kernel_info(const RtKernel *kernel) {
    return &kernel->info;
}

/* -- questions --------------------------------------------------------------------------------- */

bool rt_occupancy(RtKernel *kernel, int32_t block_size, int32_t dynamic_shared, int32_t *blocks,
                  RtError *err) {
    if (!rt_usable(kernel->device, err)) return false;
    if (block_size < 1 || dynamic_shared < 0)
        return rt_fail(err, RT_VALUE_ERROR,
                       "Occupancy needs a block size of at least 1 (not %d) and no negative "
                       "shared memory.",
                       block_size);
    return kernel->device->ops->occupancy(kernel, block_size, dynamic_shared, blocks, err);
}

/* On the cpu device each item of the grid has its place in memory. */
enum { CPU_ITEMS = 1 << 20 };

bool rt_most_blocks(RtKernel *kernel, int32_t block_size, int32_t dynamic_shared, int64_t *blocks,
                    RtError *err) {
    int32_t each = 0;
    if (!rt_occupancy(kernel, block_size, dynamic_shared, &each, err)) return false;
    *blocks = kernel->device->ops->host_memory
                  ? CPU_ITEMS / block_size
                  : (int64_t)each * kernel->device->info.multiprocessors;
    return true;
}

bool rt_suggest_block(RtKernel *kernel, int32_t dynamic_shared, int32_t *block_size, RtError *err) {
    const RtDeviceInfo *info = &kernel->device->info;
    int32_t warp = QN_MAX(info->warp_size, 1), best = 0;
    int32_t limit = QN_MIN(kernel->info.max_threads, info->max_threads);
    *block_size = QN_MIN(warp, limit);
    /* From above, so that of equal occupancies the larger block wins, but not more than 1,024 / 2 steps. */
    for (int32_t size = limit / warp * warp; size >= warp; size -= warp) {
        int32_t blocks = 0;
        if (!rt_occupancy(kernel, size, dynamic_shared, &blocks, err)) return false;
        if (blocks * size > best) {
            best = blocks * size;
            *block_size = size;
        }
    }
    return true;
}

bool rt_kernel_global(RtKernel *kernel, const char *name, uint64_t *address, int64_t *size,
                      RtError *err) {
    return rt_usable(kernel->device, err) &&
           kernel->device->ops->global(kernel, name, address, size, err);
}

/* -- exceptions on the device ------------------------------------------------------------------ */

/* Reads one mailbox; true: it held an exception, which is now in err, and is empty again. */
static bool read_mailbox(RtKernel *kernel, RtError *err) {
    RtDevice *d = kernel->device;
    KernelMailbox box;
    RtStream *s = &d->default_stream;
    if (!d->ops->to_host(d, s, &box, kernel->mailbox, sizeof box, err) || !d->ops->sync(d, s, err))
        return true;
    if (box.state == 0) return false;
    RtError cleared;
    rt_error_init(&cleared);
    d->ops->set_bytes(d, s, kernel->mailbox, 0, sizeof box, &cleared);
    rt_fail(err, RT_KERNEL_EXCEPTION,
            "Kernel %s raised in block (%u, %u, %u), thread (%u, %u, %u).", kernel->name,
            box.block[0], box.block[1], box.block[2], box.thread[0], box.thread[1], box.thread[2]);
    memset(&err->raised, 0, sizeof err->raised);
    err->raised.exception = box.exception;
    err->raised.site = box.site;
    memcpy(err->raised.args, box.args, sizeof box.args);
    err->artifact = kernel->artifact;
    err->has_thread = true;
    memcpy(err->block_index, box.block, sizeof box.block);
    memcpy(err->thread_index, box.thread, sizeof box.thread);
    return true;
}

static RtKernel *next_with_mail(RtDevice *device) {
    RtKernel *found = NULL;
    pthread_mutex_lock(&device->lock);
    for (RtKernel *k = device->kernels; k && !found; k = k->next)
        if ((k->mailbox | k->prints) && atomic_exchange(&k->mail, false)) found = k;
    if (found) atomic_fetch_add(&found->refs, 1);
    pthread_mutex_unlock(&device->lock);
    return found;
}

bool rt_read_mailboxes(RtDevice *device, RtError *err) {
    if (!atomic_exchange_explicit(&device->mail, false, memory_order_relaxed)) return true;
    for (RtKernel *k; (k = next_with_mail(device));) {
        bool printed = !k->prints || rt_print_lines(k, err);
        bool ok = !(k->mailbox && read_mailbox(k, err)) && printed;
        rt_kernel_release(k);
        if (ok) continue;
        atomic_store(&device->mail,
                     true); /* other kernels may have raised, too: the next time tells */
        return false;
    }
    return true;
}
