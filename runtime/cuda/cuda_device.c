/* cuda_device.c - the primitives over the CUDA driver API.
 *
 * Contexts. The device's primary context is retained once, shared with everybody else in the process who uses
 * it, and never destroyed or reset by us. A thread without a context gets ours and keeps it; in a thread whose
 * current context is another library's, ours is pushed for the length of one call.
 *
 * Errors. Some failures are sticky: from then on the driver answers every call with the same error. Those mark
 * the device dead (RT_DEVICE_ERROR) with a guess of the kernel; all others leave it usable. */
#include "runtime/cuda/cuda_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CudaState {
    CUdevice device;
    CUcontext context;
} CudaState;

static CudaState *state_of(RtDevice *device) {
    return device->state;
}
static CUstream stream_of(const RtStream *s) {
    return (CUstream)(uintptr_t)s->handle;
}
static CUevent event_of(const RtEvent *e) {
    return (CUevent)(uintptr_t)e->handle;
}

/* -- errors ------------------------------------------------------------------------------------ */

typedef struct Hint {
    CUresult code;
    bool sticky;
    const char *text;
} Hint;

static const Hint hints[] = {
    {4, false, "The driver is shutting down: the process is about to end."},
    {201, false, "The context of the device was destroyed or reset by another library."},
    {209, false, "The driver has no code for this GPU in the module."},
    {214, true, "The GPU met a memory error that it could not correct."},
    {218, false, "The driver refused the PTX; its log follows."},
    {220, true, "A link between GPUs failed."},
    {222, false, "The PTX is of a newer version than this driver reads: install a newer driver."},
    {700, true, "A kernel read or wrote memory that is not its own."},
    {701, false,
     "The block needs more registers or shared memory than the GPU has: launch smaller blocks, or "
     "compile "
     "with max_registers."},
    {702, true, "A kernel ran longer than the system allows on a GPU that also drives a display."},
    {709, true, "The context was destroyed while it was in use."},
    {710, true, "A kernel met a failed assertion."},
    {714, true, "A kernel corrupted or exceeded its stack."},
    {715, true, "A kernel met an illegal instruction."},
    {716, true,
     "A kernel used an address that is not a multiple of the size of what it reads or writes."},
    {717, true, "A kernel used an address in a memory where the instruction does not work."},
    {718, true, "A kernel jumped to an address outside the code."},
    {719, true, "A kernel failed on the GPU."},
    {721, true, "The GPU contained an uncorrectable memory error."},
};

static const Hint *hint_of(CUresult r) {
    for (int i = 0; i < countof(hints); i++)
        if (hints[i].code == r) return &hints[i];
    return NULL;
}

/* Fills err; device and stream may be NULL. Returns false. */
static bool fail(RtDevice *device, RtStream *stream, CUresult r, const char *call, RtError *err) {
    if (rt_failed(err)) return false;
    const char *name = NULL, *text = NULL;
    cu_api()->cuGetErrorName(r, &name);
    cu_api()->cuGetErrorString(r, &text);
    const Hint *hint = hint_of(r);
    size_t len = text ? strlen(text) : 0;
    if (len > 0 && text[len - 1] == '.') len--; /* some of the driver's texts are sentences */
    RtErrorClass cls = r == CUDA_ERROR_OUT_OF_MEMORY ? RT_MEMORY_ERROR : RT_API_ERROR;
    rt_fail(err, cls, "%s failed with %s (%d)%s%.*s.", call, name ? name : "an unknown error", r,
            len > 0 ? ": " : "", (int)len, len > 0 ? text : "");
    rt_error_driver(err, r, name ? name : "", call);
    if (hint) rt_note(err, "%s", hint->text);
    if (device && hint && hint->sticky) {
        rt_blame(device, stream, err);
        rt_device_died(device, err);
    }
    return false;
}

/* -- contexts ---------------------------------------------------------------------------------- */

typedef struct Current {
    bool pushed;
} Current;

static bool enter(RtDevice *device, Current *c, RtError *err) {
    CUcontext now = NULL, ours = state_of(device)->context;
    const CudaApi *cu = cu_api();
    c->pushed = false;
    CUresult r = cu->cuCtxGetCurrent(&now);
    if (QN_LIKELY(r == CUDA_SUCCESS && now == ours)) return true;
    if (r != CUDA_SUCCESS) return fail(device, NULL, r, "cuCtxGetCurrent", err);
    if (!now) {
        r = cu->cuCtxSetCurrent(ours);
        return r == CUDA_SUCCESS || fail(device, NULL, r, "cuCtxSetCurrent", err);
    }
    r = cu->cuCtxPushCurrent(ours);
    c->pushed = r == CUDA_SUCCESS;
    return c->pushed || fail(device, NULL, r, "cuCtxPushCurrent", err);
}

static void leave(const Current *c) {
    CUcontext ours;
    if (QN_UNLIKELY(c->pushed)) cu_api()->cuCtxPopCurrent(&ours);
}

/* One driver call in the device's context: CALL(device, stream, cuMemFree, (address)) */
#define CALL(device, stream, name, args)                                                           \
    do {                                                                                           \
        Current current_;                                                                          \
        if (!enter(device, &current_, err)) return false;                                          \
        CUresult result_ = cu_api()->name args;                                                    \
        leave(&current_);                                                                          \
        if (QN_UNLIKELY(result_ != CUDA_SUCCESS))                                                  \
            return fail(device, stream, result_, #name, err);                                      \
    } while (0)

/* The same where nobody wants to know. */
#define TRY(device, name, args)                                                                    \
    do {                                                                                           \
        Current current_;                                                                          \
        RtError ignored_;                                                                          \
        rt_error_init(&ignored_);                                                                  \
        if (!enter(device, &current_, &ignored_)) break;                                           \
        cu_api()->name args;                                                                       \
        leave(&current_);                                                                          \
    } while (0)

/* -- the device -------------------------------------------------------------------------------- */

static int32_t cu_count(RtError *err) {
    const CudaApi *cu = cu_open(err);
    if (!cu) return -1;
    int n = 0;
    CUresult r = cu->cuDeviceGetCount(&n);
    if (r == CUDA_SUCCESS) return n;
    fail(NULL, NULL, r, "cuDeviceGetCount", err);
    return -1;
}

/* Facts that launches are checked against must be there; a driver may not know the others: they stay 0. */
typedef struct InfoRow {
    int attribute;
    size_t offset;
    bool flag, required;
} InfoRow;

#define MUST(attribute, field)                                                                     \
    { attribute, offsetof(RtDeviceInfo, field), false, true }
#define INT(attribute, field)                                                                      \
    { attribute, offsetof(RtDeviceInfo, field), false, false }
#define FLAG(attribute, field)                                                                     \
    { attribute, offsetof(RtDeviceInfo, field), true, false }
static const InfoRow info_rows[] = {
    MUST(CU_ATTR_MAX_THREADS_PER_BLOCK, max_threads),
    MUST(CU_ATTR_MAX_BLOCK_DIM_X, max_block[0]),
    MUST(CU_ATTR_MAX_BLOCK_DIM_X + 1, max_block[1]),
    MUST(CU_ATTR_MAX_BLOCK_DIM_X + 2, max_block[2]),
    MUST(CU_ATTR_MAX_GRID_DIM_X, max_grid[0]),
    MUST(CU_ATTR_MAX_GRID_DIM_X + 1, max_grid[1]),
    MUST(CU_ATTR_MAX_GRID_DIM_X + 2, max_grid[2]),
    MUST(CU_ATTR_MAX_SHARED_MEMORY_PER_BLOCK, max_shared),
    MUST(CU_ATTR_WARP_SIZE, warp_size),
    MUST(CU_ATTR_COMPUTE_CAPABILITY_MAJOR, cc_major),
    MUST(CU_ATTR_COMPUTE_CAPABILITY_MINOR, cc_minor),
    INT(CU_ATTR_MAX_SHARED_MEMORY_OPTIN, max_shared_optin),
    INT(CU_ATTR_MAX_REGISTERS_PER_BLOCK, max_registers),
    INT(CU_ATTR_CLOCK_RATE, clock_khz),
    INT(CU_ATTR_MULTIPROCESSOR_COUNT, multiprocessors),
    INT(CU_ATTR_PCI_DOMAIN_ID, pci_domain),
    INT(CU_ATTR_PCI_BUS_ID, pci_bus),
    INT(CU_ATTR_PCI_DEVICE_ID, pci_device),
    FLAG(CU_ATTR_UNIFIED_ADDRESSING, unified_addressing),
    FLAG(CU_ATTR_MANAGED_MEMORY, managed_memory),
    FLAG(CU_ATTR_CAN_MAP_HOST_MEMORY, can_map_host),
    FLAG(CU_ATTR_INTEGRATED, integrated),
    FLAG(CU_ATTR_ASYNC_ENGINE_COUNT, async_engines),
    FLAG(CU_ATTR_COOPERATIVE_LAUNCH, cooperative),
};

static bool read_attributes(CUdevice device, RtDeviceInfo *info, RtError *err) {
    for (int i = 0; i < countof(info_rows); i++) {
        const InfoRow *row = &info_rows[i];
        int value = 0;
        CUresult r = cu_api()->cuDeviceGetAttribute(&value, row->attribute, device);
        if (r != CUDA_SUCCESS && row->required)
            return fail(NULL, NULL, r, "cuDeviceGetAttribute", err);
        char *field = (char *)info + row->offset;
        if (row->flag)
            *(bool *)field = r == CUDA_SUCCESS && value != 0;
        else
            *(int32_t *)field = r == CUDA_SUCCESS ? value : 0;
    }
    return true;
}

static bool read_info(RtDevice *device, CUdevice cuda, RtError *err) {
    const CudaApi *cu = cu_api();
    RtDeviceInfo *info = &device->info;
    CUresult r = cu->cuDeviceGetName(info->name, sizeof info->name - 1, cuda);
    if (r != CUDA_SUCCESS) return fail(NULL, NULL, r, "cuDeviceGetName", err);
    size_t memory = 0;
    r = cu->cuDeviceTotalMem(&memory, cuda);
    if (r != CUDA_SUCCESS) return fail(NULL, NULL, r, "cuDeviceTotalMem", err);
    info->memory = (int64_t)memory;
    if (!read_attributes(cuda, info, err)) return false;
    info->driver_version = cu_version();
    if (cu->cuDeviceGetUuid) cu->cuDeviceGetUuid((CUuuid *)info->uuid, cuda);
    snprintf(info->pci_id, sizeof info->pci_id, "%04x:%02x:%02x.0", info->pci_domain & 0xffff,
             info->pci_bus & 0xff, info->pci_device & 0xff);
    snprintf(info->arch, sizeof info->arch, "sm_%d%d", info->cc_major, info->cc_minor);
    info->max_shared_optin = QN_MAX(info->max_shared_optin, info->max_shared);
    bool large = info->cc_major >= 7 && info->driver_version >= 12010;
    info->max_param_bytes = large ? 32764 : 4096;
    return true;
}

static bool cu_device_open(RtDevice *device, RtError *err) {
    const CudaApi *cu = cu_open(err);
    if (!cu) return false;
    CudaState *state = rt_alloc(sizeof *state);
    if (!state) return rt_fail_memory(err, "a device", sizeof *state);
    CUresult r = cu->cuDeviceGet(&state->device, device->info.ordinal);
    if (r != CUDA_SUCCESS) fail(NULL, NULL, r, "cuDeviceGet", err);
    bool ok = r == CUDA_SUCCESS && read_info(device, state->device, err);
    if (ok) {
        r = cu->cuDevicePrimaryCtxRetain(&state->context, state->device);
        ok = r == CUDA_SUCCESS || fail(NULL, NULL, r, "cuDevicePrimaryCtxRetain", err);
    }
    if (ok)
        device->state = state;
    else
        rt_dealloc(state, sizeof *state);
    return ok;
}

static void cu_device_close(RtDevice *device) {
    CudaState *state = state_of(device);
    CUcontext now = NULL;
    if (cu_api()->cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == state->context)
        cu_api()->cuCtxSetCurrent(NULL);
    cu_api()->cuDevicePrimaryCtxRelease(state->device);
    rt_dealloc(state, sizeof *state);
}

void *rt_device_context(const RtDevice *device) {
    return device->ops == &rt_cuda_ops ? ((CudaState *)device->state)->context : NULL;
}

/* -- memory ------------------------------------------------------------------------------------ */

static bool no_function(const char *name, RtError *err) {
    return rt_fail(err, RT_SUPPORT_ERROR, "The CUDA driver %d.%d lacks %s.", cu_version() / 1000,
                   cu_version() % 1000 / 10, name);
}

static bool alloc_pinned(RtDevice *device, int64_t size, uint64_t *address, void **host,
                         RtError *err) {
    const CudaApi *cu = cu_api();
    if (!cu->cuMemHostAlloc || !cu->cuMemHostGetDevicePointer || !cu->cuMemFreeHost)
        return no_function("cuMemHostAlloc", err);
    void *memory = NULL;
    CUdeviceptr p = 0;
    unsigned flags = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;
    CALL(device, NULL, cuMemHostAlloc, (&memory, (size_t)size, flags));
    Current c;
    CUresult r = CUDA_ERROR_NOT_INITIALIZED;
    if (enter(device, &c, err)) {
        r = cu->cuMemHostGetDevicePointer(&p, memory, 0);
        if (r != CUDA_SUCCESS) cu->cuMemFreeHost(memory);
        leave(&c);
        if (r != CUDA_SUCCESS) fail(device, NULL, r, "cuMemHostGetDevicePointer", err);
    }
    if (r != CUDA_SUCCESS) return false;
    *address = p;
    *host = memory;
    return true;
}

static bool cu_alloc(RtDevice *device, RtMemory memory, int64_t size, uint64_t *address,
                     void **host, RtError *err) {
    CUdeviceptr p = 0;
    if (memory == RT_MEM_PINNED) return alloc_pinned(device, size, address, host, err);
    if (memory == RT_MEM_MANAGED) {
        if (!cu_api()->cuMemAllocManaged) return no_function("cuMemAllocManaged", err);
        CALL(device, NULL, cuMemAllocManaged, (&p, (size_t)size, CU_MEM_ATTACH_GLOBAL));
        *host = (void *)(uintptr_t)p;
    } else {
        CALL(device, NULL, cuMemAlloc, (&p, (size_t)size));
    }
    *address = p;
    return true;
}

static void cu_free(RtDevice *device, RtMemory memory, uint64_t address, void *host) {
    if (rt_leaving()) return;
    if (memory == RT_MEM_PINNED)
        TRY(device, cuMemFreeHost, (host));
    else
        TRY(device, cuMemFree, (address));
}

static bool cu_memory_info(RtDevice *device, int64_t *free, int64_t *total, RtError *err) {
    size_t f = 0, t = 0;
    CALL(device, NULL, cuMemGetInfo, (&f, &t));
    *free = (int64_t)f;
    *total = (int64_t)t;
    return true;
}

static bool cu_to_device(RtDevice *d, RtStream *s, uint64_t to, const void *from, int64_t size,
                         RtError *err) {
    CALL(d, s, cuMemcpyHtoDAsync, (to, from, (size_t)size, stream_of(s)));
    return true;
}

static bool cu_to_host(RtDevice *d, RtStream *s, void *to, uint64_t from, int64_t size,
                       RtError *err) {
    CALL(d, s, cuMemcpyDtoHAsync, (to, from, (size_t)size, stream_of(s)));
    return true;
}

static bool cu_on_device(RtDevice *d, RtStream *s, uint64_t to, uint64_t from, int64_t size,
                         RtError *err) {
    CALL(d, s, cuMemcpyDtoDAsync, (to, from, (size_t)size, stream_of(s)));
    return true;
}

static bool cu_set_bytes(RtDevice *d, RtStream *s, uint64_t to, uint8_t value, int64_t size,
                         RtError *err) {
    CALL(d, s, cuMemsetD8Async, (to, value, (size_t)size, stream_of(s)));
    return true;
}

static bool cu_sync(RtDevice *device, RtStream *stream, RtError *err) {
    if (stream)
        CALL(device, stream, cuStreamSynchronize, (stream_of(stream)));
    else
        CALL(device, NULL, cuCtxSynchronize, ());
    return true;
}

static bool cu_can_peer(RtDevice *device, RtDevice *peer, bool *can, RtError *err) {
    int value = 0;
    if (!cu_api()->cuDeviceCanAccessPeer) return true;
    CALL(device, NULL, cuDeviceCanAccessPeer,
         (&value, state_of(device)->device, state_of(peer)->device));
    *can = value != 0;
    return true;
}

/* Works with and without direct access; waits for both devices, so that no order is left to chance. */
static bool cu_peer_copy(RtDevice *to_device, uint64_t to, RtDevice *from_device, uint64_t from,
                         int64_t size, RtError *err) {
    if (!cu_api()->cuMemcpyPeer) return no_function("cuMemcpyPeer", err);
    if (!cu_sync(from_device, NULL, err) || !cu_sync(to_device, NULL, err)) return false;
    CALL(to_device, NULL, cuMemcpyPeer,
         (to, state_of(to_device)->context, from, state_of(from_device)->context, (size_t)size));
    return cu_sync(to_device, NULL, err);
}

/* -- kernels ----------------------------------------------------------------------------------- */

enum { LOG_BYTES = 2048 };

static bool load_module(RtDevice *device, RtKernel *kernel, CUmodule *module, RtError *err) {
    char errors[LOG_BYTES] = "", info[LOG_BYTES] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                     CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {errors, (void *)(uintptr_t)(LOG_BYTES - 1), info,
                      (void *)(uintptr_t)(LOG_BYTES - 1)};
    Current c;
    if (!enter(device, &c, err)) return false;
    CUresult r = cu_api()->cuModuleLoadDataEx(module, kernel->artifact->code, countof(options),
                                              options, values);
    leave(&c);
    if (r == CUDA_SUCCESS) return true;
    fail(device, NULL, r, "cuModuleLoadDataEx", err);
    rt_note(err, "(While loading kernel %s for %s.)", kernel->name, device->info.arch);
    errors[LOG_BYTES - 1] = '\0';
    if (errors[0]) rt_note(err, "The driver's log:\n%s", errors);
    return false;
}

static void read_function(RtDevice *device, RtKernel *kernel) {
    static const struct {
        int attribute;
        size_t offset;
    } rows[] = {
        {CU_FUNC_MAX_THREADS_PER_BLOCK, offsetof(RtKernelInfo, max_threads)},
        {CU_FUNC_SHARED_SIZE_BYTES, offsetof(RtKernelInfo, shared_bytes)},
        {CU_FUNC_CONST_SIZE_BYTES, offsetof(RtKernelInfo, const_bytes)},
        {CU_FUNC_LOCAL_SIZE_BYTES, offsetof(RtKernelInfo, local_bytes)},
        {CU_FUNC_NUM_REGS, offsetof(RtKernelInfo, registers)},
        {CU_FUNC_PTX_VERSION, offsetof(RtKernelInfo, ptx_version)},
        {CU_FUNC_BINARY_VERSION, offsetof(RtKernelInfo, binary_version)},
    };
    kernel->info.max_threads = device->info.max_threads;
    for (int i = 0; i < countof(rows); i++) {
        int value = 0;
        if (cu_api()->cuFuncGetAttribute(&value, rows[i].attribute, kernel->function) ==
            CUDA_SUCCESS)
            memcpy((char *)&kernel->info + rows[i].offset, &value, sizeof value);
    }
}

static bool find_kernel(RtDevice *device, RtKernel *kernel, CUmodule module, RtError *err) {
    char name[512];
    Str entry = kernel->artifact->entry_name;
    snprintf(name, sizeof name, "%.*s", STR_ARG(entry));
    CUfunction function = NULL;
    CUresult r = cu_api()->cuModuleGetFunction(&function, module, name);
    if (r != CUDA_SUCCESS) {
        fail(device, NULL, r, "cuModuleGetFunction", err);
        rt_note(err, "(It was asked for '%s'.)", name);
        return false;
    }
    kernel->function = function;
    read_function(device, kernel);
    CUdeviceptr address = 0;
    size_t size = 0;
    r = cu_api()->cuModuleGetGlobal(&address, &size, module, KERNEL_MAILBOX_NAME);
    if (r == CUDA_SUCCESS && size >= sizeof(KernelMailbox))
        kernel->mailbox = address;
    else if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_FOUND)
        return fail(device, NULL, r, "cuModuleGetGlobal", err);
    return true;
}

static bool cu_load(RtDevice *device, RtKernel *kernel, RtError *err) {
    if (kernel->param_bytes > device->info.max_param_bytes)
        return rt_fail(err, RT_VALUE_ERROR,
                       "Kernel %s takes %d bytes of arguments; %s allows %d. Pass fewer arrays, or "
                       "put scalars into "
                       "an array.",
                       kernel->name, kernel->param_bytes, device->info.name,
                       device->info.max_param_bytes);
    CUmodule module = NULL;
    if (!load_module(device, kernel, &module, err)) return false;
    Current c;
    bool ok = enter(device, &c, err);
    if (ok) {
        ok = find_kernel(device, kernel, module, err);
        if (!ok) cu_api()->cuModuleUnload(module);
        leave(&c);
    }
    kernel->module = (RtModule *)module;
    atomic_store(&kernel->dynamic_allowed, device->info.max_shared - kernel->info.shared_bytes);
    return ok;
}

static void cu_unload(RtDevice *device, RtKernel *kernel) {
    if (rt_leaving()) return;
    TRY(device, cuModuleUnload, ((CUmodule)kernel->module));
}

/* More dynamic shared memory than every GPU has must be asked for, once for each kernel. */
static bool allow_shared(RtKernel *kernel, uint32_t dynamic_shared, RtError *err) {
    if (!cu_api()->cuFuncSetAttribute) return no_function("cuFuncSetAttribute", err);
    CALL(kernel->device, NULL, cuFuncSetAttribute,
         (kernel->function, CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)dynamic_shared));
    int32_t allowed = atomic_load(&kernel->dynamic_allowed);
    while (allowed < (int32_t)dynamic_shared &&
           !atomic_compare_exchange_weak(&kernel->dynamic_allowed, &allowed,
                                         (int32_t)dynamic_shared)) {
    }
    return true;
}

static bool launch_failed(RtKernel *kernel, RtStream *stream, const DeviceLaunch *l, CUresult r,
                          RtError *err) {
    fail(kernel->device, stream, r, "cuLaunchKernel", err);
    if (err->cls != RT_DEVICE_ERROR)
        rt_note(err,
                "(Kernel %s, grid (%u, %u, %u), block (%u, %u, %u), %u bytes of dynamic shared "
                "memory, %d "
                "registers in each thread.)",
                kernel->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                l->block[2], l->dynamic_shared, kernel->info.registers);
    return false;
}

static bool launch_with(RtKernel *kernel, RtStream *stream, const DeviceLaunch *l, char *params,
                        RtError *err) {
    rt_pack_params(kernel, l->args, params);
    size_t size = (size_t)kernel->param_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    Current c;
    if (QN_UNLIKELY(!enter(kernel->device, &c, err))) return false;
    CUresult r = cu_api()->cuLaunchKernel(kernel->function, l->grid[0], l->grid[1], l->grid[2],
                                          l->block[0], l->block[1], l->block[2], l->dynamic_shared,
                                          stream_of(stream), NULL, size ? extra : NULL);
    leave(&c);
    return QN_LIKELY(r == CUDA_SUCCESS) || launch_failed(kernel, stream, l, r, err);
}

static bool launch_large(RtKernel *kernel, RtStream *stream, const DeviceLaunch *l, RtError *err) {
    size_t size = (size_t)kernel->param_bytes;
    char *params = rt_alloc(size);
    if (!params) return rt_fail_memory(err, "kernel arguments", (int64_t)size);
    bool ok = launch_with(kernel, stream, l, params, err);
    rt_dealloc(params, size);
    return ok;
}

static bool cu_launch(RtKernel *kernel, RtStream *stream, const DeviceLaunch *l, RtError *err) {
    if (QN_UNLIKELY((int64_t)l->dynamic_shared >
                    atomic_load_explicit(&kernel->dynamic_allowed, memory_order_relaxed)) &&
        !allow_shared(kernel, l->dynamic_shared, err))
        return false;
    _Alignas(16) char params[4096];
    if (QN_UNLIKELY((size_t)kernel->param_bytes > sizeof params))
        return launch_large(kernel, stream, l, err);
    return launch_with(kernel, stream, l, params, err);
}

static bool cu_occupancy(RtKernel *kernel, int32_t block, int32_t dynamic_shared, int32_t *blocks,
                         RtError *err) {
    int n = 0;
    if (!cu_api()->cuOccupancyMaxActiveBlocksPerMultiprocessor)
        return no_function("cuOccupancyMaxActiveBlocksPerMultiprocessor", err);
    CALL(kernel->device, NULL, cuOccupancyMaxActiveBlocksPerMultiprocessor,
         (&n, kernel->function, block, (size_t)dynamic_shared));
    *blocks = n;
    return true;
}

static bool cu_global(RtKernel *kernel, const char *name, uint64_t *address, int64_t *size,
                      RtError *err) {
    CUdeviceptr p = 0;
    size_t n = 0;
    CALL(kernel->device, NULL, cuModuleGetGlobal, (&p, &n, (CUmodule)kernel->module, name));
    *address = p;
    *size = (int64_t)n;
    return true;
}

/* -- streams and events ------------------------------------------------------------------------ */

static bool cu_stream_create(RtStream *stream, RtError *err) {
    CUstream s = NULL;
    CALL(stream->device, NULL, cuStreamCreate, (&s, CU_STREAM_DEFAULT));
    stream->handle = (uint64_t)(uintptr_t)s;
    return true;
}

static void cu_stream_destroy(RtStream *stream) {
    if (rt_leaving()) return;
    TRY(stream->device, cuStreamDestroy, (stream_of(stream)));
}

/* For queries, where "not yet" is no error. */
static bool answer(RtDevice *device, RtStream *stream, CUresult r, const char *call, bool *done,
                   RtError *err) {
    *done = r == CUDA_SUCCESS;
    return r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_READY || fail(device, stream, r, call, err);
}

static bool cu_stream_query(RtStream *stream, bool *done, RtError *err) {
    Current c;
    if (!enter(stream->device, &c, err)) return false;
    CUresult r = cu_api()->cuStreamQuery(stream_of(stream));
    leave(&c);
    return answer(stream->device, stream, r, "cuStreamQuery", done, err);
}

static bool cu_stream_wait(RtStream *stream, RtEvent *event, RtError *err) {
    CALL(stream->device, stream, cuStreamWaitEvent, (stream_of(stream), event_of(event), 0));
    return true;
}

static bool cu_stream_callback(RtStream *stream, void (*fn)(void *), void *user, RtError *err) {
    if (!cu_api()->cuLaunchHostFunc) return no_function("cuLaunchHostFunc", err);
    CALL(stream->device, stream, cuLaunchHostFunc, (stream_of(stream), fn, user));
    return true;
}

static bool cu_event_create(RtEvent *event, RtError *err) {
    CUevent e = NULL;
    CALL(event->device, NULL, cuEventCreate,
         (&e, event->timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING));
    event->handle = (uint64_t)(uintptr_t)e;
    return true;
}

static void cu_event_destroy(RtEvent *event) {
    if (rt_leaving()) return;
    TRY(event->device, cuEventDestroy, (event_of(event)));
}

static bool cu_event_record(RtEvent *event, RtStream *stream, RtError *err) {
    CALL(event->device, stream, cuEventRecord, (event_of(event), stream_of(stream)));
    return true;
}

static bool cu_event_query(RtEvent *event, bool *done, RtError *err) {
    Current c;
    if (!enter(event->device, &c, err)) return false;
    CUresult r = cu_api()->cuEventQuery(event_of(event));
    leave(&c);
    return answer(event->device, NULL, r, "cuEventQuery", done, err);
}

static bool cu_event_sync(RtEvent *event, RtError *err) {
    CALL(event->device, NULL, cuEventSynchronize, (event_of(event)));
    return true;
}

static bool cu_event_elapsed(RtEvent *start, RtEvent *stop, float *ms, RtError *err) {
    CALL(start->device, NULL, cuEventElapsedTime, (ms, event_of(start), event_of(stop)));
    return true;
}

const DeviceOps rt_cuda_ops = {
    .name = "cuda",
    .count = cu_count,
    .open = cu_device_open,
    .close = cu_device_close,
    .shutdown = cu_shutdown,
    .alloc = cu_alloc,
    .free = cu_free,
    .memory_info = cu_memory_info,
    .to_device = cu_to_device,
    .to_host = cu_to_host,
    .on_device = cu_on_device,
    .set_bytes = cu_set_bytes,
    .peer_copy = cu_peer_copy,
    .can_peer = cu_can_peer,
    .load = cu_load,
    .unload = cu_unload,
    .launch = cu_launch,
    .occupancy = cu_occupancy,
    .global = cu_global,
    .stream_create = cu_stream_create,
    .stream_destroy = cu_stream_destroy,
    .sync = cu_sync,
    .stream_query = cu_stream_query,
    .stream_wait = cu_stream_wait,
    .stream_callback = cu_stream_callback,
    .event_create = cu_event_create,
    .event_destroy = cu_event_destroy,
    .event_record = cu_event_record,
    .event_query = cu_event_query,
    .event_sync = cu_event_sync,
    .event_elapsed = cu_event_elapsed,
};
