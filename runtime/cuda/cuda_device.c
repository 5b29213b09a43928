/* cuda_device.c - what CUDA does in its own way (the rest: runtime/driver).
 *
 * Contexts. The device's primary context is retained once, shared with everybody else in the process who uses
 * it, and never destroyed or reset by us. A thread without a context gets ours and keeps it; in a thread whose
 * current context is another library's, ours is pushed for the length of one call.
 */
#include "runtime/cuda/cuda_api.h"

#include <stdio.h>
#include <string.h>

static const Driver cuda;

static bool fail(RtDevice *device, CUresult r, const char *call, RtError *err) {
    return drv_fail(&cuda, device, NULL, r, call, err);
}

/* -- errors ------------------------------------------------------------------------------------ */

static const DrvHint hints[] = {
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

static void describe(int code, const char **name, const char **text) {
    cu_api()->cuGetErrorName(code, name);
    cu_api()->cuGetErrorString(code, text);
}

static void version(int *major, int *minor) {
    *major = cu_version() / 1000;
    *minor = cu_version() % 1000 / 10;
}

/* -- contexts ---------------------------------------------------------------------------------- */

static bool enter(RtDevice *device, DrvCurrent *c, RtError *err) {
    CUcontext now = NULL, ours = drv_state(device)->context;
    const CudaApi *cu = cu_api();
    c->changed = false;
    CUresult r = cu->cuCtxGetCurrent(&now);
    if (QN_LIKELY(r == CUDA_SUCCESS && now == ours)) return true;
    if (r != CUDA_SUCCESS) return fail(device, r, "cuCtxGetCurrent", err);
    if (!now) {
        r = cu->cuCtxSetCurrent(ours);
        return r == CUDA_SUCCESS || fail(device, r, "cuCtxSetCurrent", err);
    }
    r = cu->cuCtxPushCurrent(ours);
    c->changed = r == CUDA_SUCCESS;
    return c->changed || fail(device, r, "cuCtxPushCurrent", err);
}

static void leave(const DrvCurrent *c) {
    CUcontext ours;
    if (QN_UNLIKELY(c->changed)) cu_api()->cuCtxPopCurrent(&ours);
}

/* -- the device -------------------------------------------------------------------------------- */

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
        if (r != CUDA_SUCCESS && row->required) return fail(NULL, r, "cuDeviceGetAttribute", err);
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
    if (r != CUDA_SUCCESS) return fail(NULL, r, "cuDeviceGetName", err);
    size_t memory = 0;
    r = cu->cuDeviceTotalMem(&memory, cuda);
    if (r != CUDA_SUCCESS) return fail(NULL, r, "cuDeviceTotalMem", err);
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

static bool attach(RtDevice *device, DrvState *state, RtError *err) {
    const CudaApi *cu = cu_api();
    CUcontext context = NULL;
    CUresult r = cu->cuDeviceGet(&state->device, device->info.ordinal);
    if (r != CUDA_SUCCESS) return fail(NULL, r, "cuDeviceGet", err);
    if (!read_info(device, state->device, err)) return false;
    r = cu->cuDevicePrimaryCtxRetain(&context, state->device);
    state->context = context;
    return r == CUDA_SUCCESS || fail(NULL, r, "cuDevicePrimaryCtxRetain", err);
}

static void detach(DrvState *state) {
    CUcontext now = NULL;
    if (cu_api()->cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == state->context)
        cu_api()->cuCtxSetCurrent(NULL);
    cu_api()->cuDevicePrimaryCtxRelease(state->device);
}

static int peer_copy(const DrvState *to_state, uint64_t to, const DrvState *from_state,
                     uint64_t from, size_t size, const char **call) {
    if (!cu_api()->cuMemcpyPeer) return CUDA_SUCCESS;
    *call = "cuMemcpyPeer";
    return cu_api()->cuMemcpyPeer(to, to_state->context, from, from_state->context, size);
}

/* -- kernels ----------------------------------------------------------------------------------- */

enum { LOG_BYTES = 2048 };

static bool load_image(RtDevice *device, RtKernel *kernel, void **module, RtError *err) {
    char errors[LOG_BYTES] = "", info[LOG_BYTES] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                     CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {errors, (void *)(uintptr_t)(LOG_BYTES - 1), info,
                      (void *)(uintptr_t)(LOG_BYTES - 1)};
    CUresult r = cu_api()->shared.module_load(module, kernel->artifact->code, countof(options),
                                              options, values);
    if (r == CUDA_SUCCESS) return true;
    fail(device, r, cu_names[DRV_module_load], err);
    rt_note(err, "(While loading kernel %s for %s.)", kernel->name, device->info.arch);
    errors[LOG_BYTES - 1] = '\0';
    if (errors[0]) rt_note(err, "The driver's log:\n%s", errors);
    return false;
}

static bool allow_shared(RtKernel *kernel, uint32_t bytes, RtError *err) {
    DrvCurrent c;
    if (!cu_api()->cuFuncSetAttribute) return drv_lacks(&cuda, "cuFuncSetAttribute", err);
    if (!enter(kernel->device, &c, err)) return false;
    CUresult r = cu_api()->cuFuncSetAttribute(kernel->function,
                                              CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    leave(&c);
    return r == CUDA_SUCCESS || fail(kernel->device, r, "cuFuncSetAttribute", err);
}

static const Driver cuda = {
    .title = "CUDA",
    .api = &cu_functions.shared,
    .names = cu_names,
    .hints = hints,
    .nhints = countof(hints),
    .launch_end = NULL,
    .open = cu_open,
    .version = version,
    .describe = describe,
    .attach = attach,
    .detach = detach,
    .enter = enter,
    .leave = leave,
    .load_image = load_image,
    .allow_shared = allow_shared,
    .peer_copy = peer_copy,
};

#define IN_CONTEXT(name, args)                                                                     \
    do {                                                                                           \
        DrvCurrent c_;                                                                             \
        if (!cu_api()->name) return drv_lacks(&cuda, #name, err);                                  \
        if (!enter(device, &c_, err)) return false;                                                \
        CUresult r_ = cu_api()->name args;                                                         \
        leave(&c_);                                                                                \
        if (r_ != CUDA_SUCCESS) return fail(device, r_, #name, err);                               \
    } while (0)

/* -- what the driver says by number, and its profiler --------------------------------------------- */

static bool attribute(RtDevice *device, int32_t number, int32_t *value, RtError *err) {
    CUresult r = cu_api()->cuDeviceGetAttribute(value, number, drv_state(device)->device);
    return r == CUDA_SUCCESS || fail(device, r, "cuDeviceGetAttribute", err);
}

static bool profile(RtDevice *device, bool on, RtError *err) {
    if (on)
        IN_CONTEXT(cuProfilerStart, ());
    else
        IN_CONTEXT(cuProfilerStop, ());
    return true;
}

/* -- memory of other processes ------------------------------------------------------------------- */

static bool ipc_export(RtDevice *device, uint64_t address, char *handle, uint64_t *offset,
                       RtError *err) {
    CUdeviceptr base = 0;
    CUipcMemHandle exported;
    IN_CONTEXT(cuMemGetAddressRange, (&base, NULL, address));
    IN_CONTEXT(cuIpcGetMemHandle, (&exported, base));
    memcpy(handle, exported.reserved, sizeof exported.reserved);
    *offset = address - base;
    return true;
}

static bool ipc_open(RtDevice *device, const char *handle, uint64_t *address, RtError *err) {
    enum { LAZY_PEER_ACCESS = 1 };
    CUipcMemHandle given;
    CUdeviceptr opened = 0;
    memcpy(given.reserved, handle, sizeof given.reserved);
    IN_CONTEXT(cuIpcOpenMemHandle, (&opened, given, LAZY_PEER_ACCESS));
    *address = opened;
    return true;
}

static bool ipc_close(RtDevice *device, uint64_t address, RtError *err) {
    IN_CONTEXT(cuIpcCloseMemHandle, (address));
    return true;
}

static int32_t cu_count(RtError *err) {
    return drv_count(&cuda, err);
}
static bool cu_device_open(RtDevice *device, RtError *err) {
    return drv_open(&cuda, device, err);
}

const DeviceOps rt_cuda_ops = {
    .name = "cuda",
    .count = cu_count,
    .open = cu_device_open,
    .shutdown = cu_shutdown,
    .attribute = attribute,
    .profile = profile,
    .ipc_export = ipc_export,
    .ipc_open = ipc_open,
    .ipc_close = ipc_close,
    .graph_make = cu_graph_make,
    .graph_update = cu_graph_update,
    .graph_launch = cu_graph_launch,
    .graph_free = cu_graph_free,
    DRV_OPS,
};
