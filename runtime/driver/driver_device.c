/* driver_device.c - the primitives of device.h over a vendor's driver.
 *
 * Errors. Some failures are sticky: from then on the driver answers every call with the same error. Those mark
 * the device dead (RT_DEVICE_ERROR) with a guess of the kernel; all others leave it usable. */
#include "runtime/driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that NVIDIA chose and AMD kept. */
enum {
    HOST_PORTABLE = 1,
    HOST_MAPPED = 2,
    MANAGED_GLOBAL = 1,
    MANAGED_HOST = 2,
    STREAM_DEFAULT = 0,
    EVENT_DEFAULT = 0,
    EVENT_NO_TIMING = 2
};

static inline const Driver *driver_of(const RtDevice *device) {
    return drv_state(device)->driver;
}
static inline void *stream_of(const RtStream *s) {
    return (void *)(uintptr_t)s->handle;
}
static inline void *event_of(const RtEvent *e) {
    return (void *)(uintptr_t)e->handle;
}

/* -- errors ------------------------------------------------------------------------------------ */

static const DrvHint *hint_of(const Driver *driver, int code) {
    for (int i = 0; i < driver->nhints; i++)
        if (driver->hints[i].code == code) return &driver->hints[i];
    return NULL;
}

bool drv_fail(const Driver *driver, RtDevice *device, RtStream *stream, int code, const char *call,
              RtError *err) {
    const char *name = NULL, *text = NULL;
    driver->describe(code, &name, &text);
    if (rt_failed(err)) return false;
    const DrvHint *hint = hint_of(driver, code);
    size_t len = text ? strlen(text) : 0;
    if (len > 0 && text[len - 1] == '.') len--; /* some of the driver's texts are sentences */
    RtErrorClass cls = code == DRV_OUT_OF_MEMORY ? RT_MEMORY_ERROR : RT_API_ERROR;
    rt_fail(err, cls, "%s failed with %s (%d)%s%.*s.", call, name ? name : "an unknown error", code,
            len > 0 ? ": " : "", (int)len, len > 0 ? text : "");
    rt_error_driver(err, code, name ? name : "", call);
    if (hint) rt_note(err, "%s", hint->text);
    if (device && hint && hint->sticky) {
        rt_blame(device, stream, err);
        rt_device_died(device, err);
    }
    return false;
}

bool drv_lacks(const Driver *driver, const char *function, RtError *err) {
    int major, minor;
    driver->version(&major, &minor);
    return rt_fail(err, RT_SUPPORT_ERROR, "The %s driver %d.%d lacks %s.", driver->title, major,
                   minor, function);
}

static bool call_failed(RtDevice *device, RtStream *stream, int code, DrvCall call, RtError *err) {
    const Driver *driver = driver_of(device);
    return drv_fail(driver, device, stream, code, driver->names[call], err);
}

static void forget(const Driver *driver) {
    if (driver->forget) driver->forget();
}

/* One driver call on the device: CALL(device, stream, free, (address)) */
#define CALL(device_, stream, name, args)                                                          \
    do {                                                                                           \
        const Driver *driver_ = driver_of(device_);                                                \
        DrvCurrent current_;                                                                       \
        if (!driver_->enter(device_, &current_, err)) return false;                                \
        int result_ = driver_->api->name args;                                                     \
        driver_->leave(&current_);                                                                 \
        if (QN_UNLIKELY(result_ != DRV_SUCCESS))                                                   \
            return call_failed(device_, stream, result_, DRV_##name, err);                         \
    } while (0)

/* The same where nobody wants to know. */
#define TRY(device_, name, args)                                                                   \
    do {                                                                                           \
        const Driver *driver_ = driver_of(device_);                                                \
        DrvCurrent current_;                                                                       \
        RtError ignored_;                                                                          \
        rt_error_init(&ignored_);                                                                  \
        if (!driver_->enter(device_, &current_, &ignored_)) break;                                 \
        int result_ = driver_->api->name args;                                                     \
        if (QN_UNLIKELY(result_ != DRV_SUCCESS)) forget(driver_);                                  \
        driver_->leave(&current_);                                                                 \
    } while (0)

/* For functions that a driver may lack. */
#define NEEDS(device_, name)                                                                       \
    do {                                                                                           \
        const Driver *driver_ = driver_of(device_);                                                \
        if (!driver_->api->name) return drv_lacks(driver_, driver_->names[DRV_##name], err);       \
    } while (0)

/* -- the device -------------------------------------------------------------------------------- */

int32_t drv_count(const Driver *driver, RtError *err) {
    const DrvApi *api = driver->open(err);
    if (!api) return -1;
    int n = 0, r = api->device_count(&n);
    if (r == DRV_SUCCESS) return n;
    drv_fail(driver, NULL, NULL, r, driver->names[DRV_device_count], err);
    return -1;
}

bool drv_open(const Driver *driver, RtDevice *device, RtError *err) {
    if (!driver->open(err)) return false;
    DrvState *state = rt_alloc(sizeof *state);
    if (!state) return rt_fail_memory(err, "a device", sizeof *state);
    state->driver = driver;
    if (driver->attach(device, state, err)) {
        device->state = state;
        return true;
    }
    rt_dealloc(state, sizeof *state);
    return false;
}

void drv_close(RtDevice *device) {
    DrvState *state = drv_state(device);
    state->driver->detach(state);
    rt_dealloc(state, sizeof *state);
}

void *rt_device_context(const RtDevice *device) {
    return device->info.kind == RT_CUDA ? drv_state(device)->context : NULL;
}

/* -- memory ------------------------------------------------------------------------------------ */

static bool alloc_pinned(RtDevice *device, int64_t size, uint64_t *address, void **host,
                         RtError *err) {
    const Driver *driver = driver_of(device);
    NEEDS(device, host_alloc);
    NEEDS(device, host_address);
    NEEDS(device, host_free);
    DrvCurrent c;
    if (!driver->enter(device, &c, err)) return false;
    DrvCall call = DRV_host_alloc;
    void *memory = NULL;
    int r = driver->api->host_alloc(&memory, (size_t)size, HOST_PORTABLE | HOST_MAPPED);
    if (r == DRV_SUCCESS) {
        call = DRV_host_address;
        r = driver->api->host_address(address, memory, 0);
        if (r != DRV_SUCCESS) driver->api->host_free(memory);
    }
    driver->leave(&c);
    if (r != DRV_SUCCESS) return call_failed(device, NULL, r, call, err);
    *host = memory;
    return true;
}

bool drv_alloc(RtDevice *device, RtMemory memory, int64_t size, uint64_t *address, void **host,
               RtError *err) {
    uint64_t p = 0;
    if (memory == RT_MEM_PINNED) return alloc_pinned(device, size, address, host, err);
    if (memory == RT_MEM_MANAGED || memory == RT_MEM_MANAGED_HOST) {
        NEEDS(device, alloc_managed);
        CALL(device, NULL, alloc_managed,
             (&p, (size_t)size, memory == RT_MEM_MANAGED ? MANAGED_GLOBAL : MANAGED_HOST));
        *host = (void *)(uintptr_t)p;
    } else {
        CALL(device, NULL, alloc, (&p, (size_t)size));
    }
    *address = p;
    return true;
}

void drv_free(RtDevice *device, RtMemory memory, uint64_t address, void *host) {
    if (rt_leaving()) return;
    if (memory == RT_MEM_PINNED)
        TRY(device, host_free, (host));
    else
        TRY(device, free, (address));
}

bool drv_memory_info(RtDevice *device, int64_t *free, int64_t *total, RtError *err) {
    size_t f = 0, t = 0;
    CALL(device, NULL, memory_info, (&f, &t));
    *free = (int64_t)f;
    *total = (int64_t)t;
    return true;
}

bool drv_to_device(RtDevice *d, RtStream *s, uint64_t to, const void *from, int64_t size,
                   RtError *err) {
    CALL(d, s, to_device, (to, from, (size_t)size, stream_of(s)));
    return true;
}

bool drv_to_host(RtDevice *d, RtStream *s, void *to, uint64_t from, int64_t size, RtError *err) {
    CALL(d, s, to_host, (to, from, (size_t)size, stream_of(s)));
    return true;
}

bool drv_on_device(RtDevice *d, RtStream *s, uint64_t to, uint64_t from, int64_t size,
                   RtError *err) {
    CALL(d, s, on_device, (to, from, (size_t)size, stream_of(s)));
    return true;
}

bool drv_set_bytes(RtDevice *d, RtStream *s, uint64_t to, uint8_t value, int64_t size,
                   RtError *err) {
    CALL(d, s, set_bytes, (to, value, (size_t)size, stream_of(s)));
    return true;
}

bool drv_sync(RtDevice *device, RtStream *stream, RtError *err) {
    if (stream)
        CALL(device, stream, stream_synchronize, (stream_of(stream)));
    else
        CALL(device, NULL, synchronize, ());
    return true;
}

bool drv_can_peer(RtDevice *device, RtDevice *peer, bool *can, RtError *err) {
    int value = 0;
    if (!driver_of(device)->api->can_peer) return true;
    CALL(device, NULL, can_peer, (&value, drv_state(device)->device, drv_state(peer)->device));
    *can = value != 0;
    return true;
}

/* Works with and without direct access; waits for both devices, so that no order is left to chance. */
bool drv_peer_copy(RtDevice *to_device, uint64_t to, RtDevice *from_device, uint64_t from,
                   int64_t size, RtError *err) {
    const Driver *driver = driver_of(to_device);
    const char *call = NULL;
    if (!drv_sync(from_device, NULL, err) || !drv_sync(to_device, NULL, err)) return false;
    DrvCurrent c;
    if (!driver->enter(to_device, &c, err)) return false;
    int r = driver->peer_copy(drv_state(to_device), to, drv_state(from_device), from, (size_t)size,
                              &call);
    driver->leave(&c);
    if (!call) return drv_lacks(driver, "copies between devices", err);
    if (r != DRV_SUCCESS) return drv_fail(driver, to_device, NULL, r, call, err);
    return drv_sync(to_device, NULL, err);
}

/* -- kernels ----------------------------------------------------------------------------------- */

static void read_function(RtDevice *device, RtKernel *kernel) {
    /* The numbers are those of NVIDIA's CUfunction_attribute and of AMD's hipFunction_attribute. */
    static const struct {
        int attribute;
        size_t offset;
    } rows[] = {
        {0, offsetof(RtKernelInfo, max_threads)},    {1, offsetof(RtKernelInfo, shared_bytes)},
        {2, offsetof(RtKernelInfo, const_bytes)},    {3, offsetof(RtKernelInfo, local_bytes)},
        {4, offsetof(RtKernelInfo, registers)},      {5, offsetof(RtKernelInfo, ptx_version)},
        {6, offsetof(RtKernelInfo, binary_version)},
    };
    kernel->info.max_threads = device->info.max_threads;
    for (int i = 0; i < countof(rows); i++) {
        int value = 0;
        if (driver_of(device)->api->function_attribute(&value, rows[i].attribute,
                                                       kernel->function) == DRV_SUCCESS)
            memcpy((char *)&kernel->info + rows[i].offset, &value, sizeof value);
        else
            forget(driver_of(device));
    }
}

/* The address of a global of the module that may be missing. */
static bool find_global(RtDevice *device, void *module, const char *name, size_t least,
                        uint64_t *found, RtError *err) {
    uint64_t address = 0;
    size_t size = 0;
    int r = driver_of(device)->api->module_global(&address, &size, module, name);
    if (r == DRV_SUCCESS && size >= least)
        *found = address;
    else if (r != DRV_SUCCESS && r != DRV_NOT_FOUND)
        return call_failed(device, NULL, r, DRV_module_global, err);
    else if (r != DRV_SUCCESS)
        forget(driver_of(device));
    return true;
}

static bool find_kernel(RtDevice *device, RtKernel *kernel, void *module, RtError *err) {
    const DrvApi *api = driver_of(device)->api;
    char name[512];
    Str entry = kernel->artifact->entry_name;
    snprintf(name, sizeof name, "%.*s", STR_ARG(entry));
    void *function = NULL;
    int r = api->module_function(&function, module, name);
    if (r != DRV_SUCCESS) {
        call_failed(device, NULL, r, DRV_module_function, err);
        rt_note(err, "(It was asked for '%s'.)", name);
        return false;
    }
    kernel->function = function;
    read_function(device, kernel);
    return find_global(device, module, KERNEL_MAILBOX_NAME, sizeof(KernelMailbox), &kernel->mailbox,
                       err) &&
           (!kernel->artifact->nprints || find_global(device, module, KERNEL_PRINTS_NAME,
                                                      sizeof(KernelPrints), &kernel->prints, err));
}

bool drv_load(RtDevice *device, RtKernel *kernel, RtError *err) {
    const Driver *driver = driver_of(device);
    if (kernel->param_bytes > device->info.max_param_bytes)
        return rt_fail(err, RT_VALUE_ERROR,
                       "Kernel %s takes %d bytes of arguments; %s allows %d. Pass fewer arrays, or "
                       "put scalars into an array.",
                       kernel->name, kernel->param_bytes, device->info.name,
                       device->info.max_param_bytes);
    void *module = NULL;
    DrvCurrent c;
    if (!driver->enter(device, &c, err)) return false;
    bool ok = driver->load_image(device, kernel, &module, err);
    if (ok && !(ok = find_kernel(device, kernel, module, err))) driver->api->module_unload(module);
    driver->leave(&c);
    kernel->module = module;
    atomic_store(&kernel->dynamic_allowed, device->info.max_shared - kernel->info.shared_bytes);
    return ok;
}

void drv_unload(RtDevice *device, RtKernel *kernel) {
    if (rt_leaving()) return;
    TRY(device, module_unload, (kernel->module));
}

static bool launch_failed(RtKernel *kernel, RtStream *stream, const DeviceLaunch *l, int code,
                          RtError *err) {
    call_failed(kernel->device, stream, code, l->together ? DRV_launch_together : DRV_launch, err);
    if (err->cls != RT_DEVICE_ERROR)
        rt_note(err,
                "(Kernel %s, grid (%u, %u, %u), block (%u, %u, %u), %u bytes of dynamic shared "
                "memory, %d registers in each thread.)",
                kernel->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                l->block[2], l->dynamic_shared, kernel->info.registers);
    return false;
}

/* A parameter has a byte at least, and all have 4,096 together (codegen/target/gpu_kernel.c). */
enum { MAX_POINTERS = 4096 };

static bool can_together(RtKernel *kernel, RtError *err) {
    NEEDS(kernel->device, launch_together);
    return true;
}

/* This call takes a pointer for each parameter, and no buffer. */
__attribute__((noinline)) static int launch_together(RtKernel *kernel, void *stream,
                                                     const DeviceLaunch *l, char *params) {
    const Artifact *a = kernel->artifact;
    void *pointers[MAX_POINTERS];
    for (int32_t i = 0; i < a->nkernel_params; i++)
        pointers[i] = params + a->kernel_params[i].offset;
    return driver_of(kernel->device)
        ->api->launch_together(kernel->function, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                               l->block[1], l->block[2], l->dynamic_shared, stream, pointers);
}

static bool launch_with(RtKernel *kernel, RtStream *stream, const DeviceLaunch *l, char *params,
                        RtError *err) {
    const Driver *driver = driver_of(kernel->device);
    rt_pack_params(kernel, l->args, params);
    size_t size = (size_t)kernel->param_bytes;
    void *extra[] = {LAUNCH_BUFFER, params, LAUNCH_BUFFER_SIZE, &size, driver->launch_end};
    DrvCurrent c;
    if (QN_UNLIKELY(l->together && !can_together(kernel, err))) return false;
    if (QN_UNLIKELY(!driver->enter(kernel->device, &c, err))) return false;
    int r = QN_UNLIKELY(l->together)
                ? launch_together(kernel, stream_of(stream), l, params)
                : driver->api->launch(kernel->function, l->grid[0], l->grid[1], l->grid[2],
                                      l->block[0], l->block[1], l->block[2], l->dynamic_shared,
                                      stream_of(stream), NULL, size ? extra : NULL);
    driver->leave(&c);
    return QN_LIKELY(r == DRV_SUCCESS) || launch_failed(kernel, stream, l, r, err);
}

static bool launch_large(RtKernel *kernel, RtStream *stream, const DeviceLaunch *l, RtError *err) {
    size_t size = (size_t)kernel->param_bytes;
    char *params = rt_alloc(size);
    if (!params) return rt_fail_memory(err, "kernel arguments", (int64_t)size);
    bool ok = launch_with(kernel, stream, l, params, err);
    rt_dealloc(params, size);
    return ok;
}

/* More dynamic shared memory than every launch may have must be asked for, once for each kernel. */
static bool allow_shared(RtKernel *kernel, uint32_t bytes, RtError *err) {
    const Driver *driver = driver_of(kernel->device);
    if (!driver->allow_shared) return true;
    if (!driver->allow_shared(kernel, bytes, err)) return false;
    int32_t allowed = atomic_load(&kernel->dynamic_allowed);
    while (allowed < (int32_t)bytes &&
           !atomic_compare_exchange_weak(&kernel->dynamic_allowed, &allowed, (int32_t)bytes)) {
    }
    return true;
}

bool drv_allow_shared(RtKernel *kernel, uint32_t bytes, RtError *err) {
    return QN_LIKELY((int64_t)bytes <=
                     atomic_load_explicit(&kernel->dynamic_allowed, memory_order_relaxed)) ||
           allow_shared(kernel, bytes, err);
}

bool drv_launch(RtKernel *kernel, RtStream *stream, const DeviceLaunch *l, RtError *err) {
    if (QN_UNLIKELY(!drv_allow_shared(kernel, l->dynamic_shared, err))) return false;
    _Alignas(16) char params[4096];
    if (QN_UNLIKELY((size_t)kernel->param_bytes > sizeof params))
        return launch_large(kernel, stream, l, err);
    return launch_with(kernel, stream, l, params, err);
}

bool drv_occupancy(RtKernel *kernel, int32_t block, int32_t dynamic_shared, int32_t *blocks,
                   RtError *err) {
    int n = 0;
    NEEDS(kernel->device, occupancy);
    CALL(kernel->device, NULL, occupancy, (&n, kernel->function, block, (size_t)dynamic_shared));
    *blocks = n;
    return true;
}

bool drv_global(RtKernel *kernel, const char *name, uint64_t *address, int64_t *size,
                RtError *err) {
    uint64_t p = 0;
    size_t n = 0;
    CALL(kernel->device, NULL, module_global, (&p, &n, kernel->module, name));
    *address = p;
    *size = (int64_t)n;
    return true;
}

/* -- streams and events ------------------------------------------------------------------------ */

bool drv_stream_create(RtStream *stream, RtError *err) {
    void *s = NULL;
    CALL(stream->device, NULL, stream_create, (&s, STREAM_DEFAULT));
    stream->handle = (uint64_t)(uintptr_t)s;
    return true;
}

void drv_stream_destroy(RtStream *stream) {
    if (rt_leaving()) return;
    TRY(stream->device, stream_destroy, (stream_of(stream)));
}

/* For queries, where "not yet" is no error. */
static bool answer(RtDevice *device, RtStream *stream, int r, DrvCall call, bool *done,
                   RtError *err) {
    *done = r == DRV_SUCCESS;
    if (r == DRV_NOT_READY) forget(driver_of(device));
    return r == DRV_SUCCESS || r == DRV_NOT_READY || call_failed(device, stream, r, call, err);
}

bool drv_stream_query(RtStream *stream, bool *done, RtError *err) {
    const Driver *driver = driver_of(stream->device);
    DrvCurrent c;
    if (!driver->enter(stream->device, &c, err)) return false;
    int r = driver->api->stream_query(stream_of(stream));
    driver->leave(&c);
    return answer(stream->device, stream, r, DRV_stream_query, done, err);
}

bool drv_stream_wait(RtStream *stream, RtEvent *event, RtError *err) {
    CALL(stream->device, stream, stream_wait, (stream_of(stream), event_of(event), 0));
    return true;
}

bool drv_stream_callback(RtStream *stream, void (*fn)(void *), void *user, RtError *err) {
    NEEDS(stream->device, host_function);
    CALL(stream->device, stream, host_function, (stream_of(stream), fn, user));
    return true;
}

bool drv_event_create(RtEvent *event, RtError *err) {
    void *e = NULL;
    CALL(event->device, NULL, event_create, (&e, event->timing ? EVENT_DEFAULT : EVENT_NO_TIMING));
    event->handle = (uint64_t)(uintptr_t)e;
    return true;
}

void drv_event_destroy(RtEvent *event) {
    if (rt_leaving()) return;
    TRY(event->device, event_destroy, (event_of(event)));
}

bool drv_event_record(RtEvent *event, RtStream *stream, RtError *err) {
    CALL(event->device, stream, event_record, (event_of(event), stream_of(stream)));
    return true;
}

bool drv_event_query(RtEvent *event, bool *done, RtError *err) {
    const Driver *driver = driver_of(event->device);
    DrvCurrent c;
    if (!driver->enter(event->device, &c, err)) return false;
    int r = driver->api->event_query(event_of(event));
    driver->leave(&c);
    return answer(event->device, NULL, r, DRV_event_query, done, err);
}

bool drv_event_sync(RtEvent *event, RtError *err) {
    CALL(event->device, NULL, event_synchronize, (event_of(event)));
    return true;
}

bool drv_event_elapsed(RtEvent *start, RtEvent *stop, float *ms, RtError *err) {
    CALL(start->device, NULL, event_elapsed, (ms, event_of(start), event_of(stop)));
    return true;
}
