/* hip_device.c - what HIP does in its own way (the rest: runtime/driver).
 *
 * The current device. It is set for the length of one call where the thread has another one, so that other libraries
 * in the process find their own again.
 *
 * Errors. HIP remembers the last error of a thread and hands it to whoever asks next (PyTorch asks after each of its
 * launches): what our calls leave is taken away again. A kernel that reads what is not its own ends the process
 * on AMD's drivers, or every later call answers with an error; the numbers are those of CUDA. */
#include "runtime/hip/hip_api.h"

#include <stdio.h>
#include <string.h>

static const Driver hip;

static bool fail(RtDevice *device, int code, const char *call, RtError *err) {
    return drv_fail(&hip, device, NULL, code, call, err);
}

/* -- errors ------------------------------------------------------------------------------------ */

static const DrvHint hints[] = {
    {4, false, "The runtime is shutting down: the process is about to end."},
    {9, false, "The launch is larger than the device takes."},
    {98, false, "The code object has no such kernel, or it is for another GPU."},
    {200, false, "The runtime refused the code object."},
    {209, false,
     "The code object is for another GPU, or of a version that this ROCm does not read."},
    {214, true, "The GPU met a memory error that it could not correct."},
    {700, true, "A kernel read or wrote memory that is not its own."},
    {701, false,
     "The block needs more registers or LDS than the GPU has: launch smaller blocks, or compile "
     "with "
     "max_registers."},
    {702, true, "A kernel ran longer than the system allows."},
    {709, true, "The context was destroyed while it was in use."},
    {710, true, "A kernel met a failed assertion."},
    {719, true, "A kernel failed on the GPU."},
    {1052, false, "The runtime below HIP (HSA) failed in a call for memory."},
    {1053, true, "The runtime below HIP (HSA) failed: the GPU may be lost; look at dmesg."},
};

static void describe(int code, const char **name, const char **text) {
    const HipApi *api = hip_api();
    *name = api->hipGetErrorName(code);
    *text = api->hipGetErrorString(code);
    if (*name && *text && strcmp(*name, *text) == 0) *text = NULL; /* ROCm 5 has no sentences */
    api->hipGetLastError();
}

static void forget(void) {
    hip_api()->hipGetLastError();
}

static void version(int *major, int *minor) {
    *major = hip_version() / 1000;
    *minor = hip_version() % 1000 / 10;
}

/* -- the current device ------------------------------------------------------------------------ */

static bool enter(RtDevice *device, DrvCurrent *c, RtError *err) {
    int now = -1, ours = drv_state(device)->device;
    c->changed = false;
    int r = hip_api()->hipGetDevice(&now);
    if (QN_LIKELY(r == DRV_SUCCESS && now == ours)) return true;
    if (r != DRV_SUCCESS) return fail(device, r, "hipGetDevice", err);
    r = hip_api()->hipSetDevice(ours);
    c->changed = r == DRV_SUCCESS;
    c->before = now;
    return c->changed || fail(device, r, "hipSetDevice", err);
}

static void leave(const DrvCurrent *c) {
    if (QN_UNLIKELY(c->changed)) hip_api()->hipSetDevice(c->before);
}

/* -- the device -------------------------------------------------------------------------------- */

enum { PROPERTY_BYTES = 8192 }; /* hipDeviceProp_t has 792 until ROCm 5 and 1472 since ROCm 6 */

typedef enum PropKind { INT, SIZE, LONG, FLAG, TEXT, UUID } PropKind;

typedef struct PropRow {
    PropKind kind;
    size_t field, room;
    int offsets[2]; /* older, newer */
} PropRow;

static const PropRow prop_rows[] = {
#define PROP(kind, field, older, newer)                                                            \
    {kind, offsetof(RtDeviceInfo, field), sizeof(((RtDeviceInfo *)0)->field), {older, newer}},
#include "runtime/hip/hip_props.def"
#undef PROP
};

static void copy_property(const PropRow *row, const char *from, char *to) {
    int32_t number;
    size_t size;
    memcpy(&number, from, sizeof number);
    switch (row->kind) {
    case INT: memcpy(to, &number, sizeof number); break;
    case FLAG: *(bool *)to = number != 0; break;
    case SIZE:
        memcpy(&size, from, sizeof size);
        number = size > INT32_MAX ? INT32_MAX : (int32_t)size;
        memcpy(to, &number, sizeof number);
        break;
    case LONG:
        memcpy(&size, from, sizeof size);
        memcpy(to, &(int64_t){(int64_t)size}, sizeof(int64_t));
        break;
    case TEXT:
        memcpy(to, from, row->room);
        to[row->room - 1] = '\0';
        break;
    case UUID: memcpy(to, from, row->room); break;
    }
}

static bool read_properties(RtDeviceInfo *info, int device, RtError *err) {
    const HipApi *api = hip_api();
    char *memory = rt_alloc(PROPERTY_BYTES);
    if (!memory) return rt_fail_memory(err, "the properties of a device", PROPERTY_BYTES);
    bool newer = api->hipGetDevicePropertiesR0600 != NULL;
    int r = newer ? api->hipGetDevicePropertiesR0600(memory, device)
                  : api->hipGetDeviceProperties(memory, device);
    for (int i = 0; r == DRV_SUCCESS && i < countof(prop_rows); i++) {
        int offset = prop_rows[i].offsets[newer];
        if (offset >= 0)
            copy_property(&prop_rows[i], memory + offset, (char *)info + prop_rows[i].field);
    }
    rt_dealloc(memory, PROPERTY_BYTES);
    if (r == DRV_SUCCESS) return true;
    return fail(NULL, r, newer ? "hipGetDevicePropertiesR0600" : "hipGetDeviceProperties", err);
}

/* The devices before this one, by their chips: which one of the different chips is ours? */
static bool find_model(RtDeviceInfo *info, RtError *err) {
    enum { MODELS = 16 };
    char seen[MODELS][sizeof info->arch];
    int32_t n = 0;
    for (int i = 0; i < info->ordinal && n < MODELS; i++) {
        RtDeviceInfo other = {.ordinal = i};
        if (!read_properties(&other, i, err)) return false;
        int k = 0;
        while (k < n && strcmp(seen[k], other.arch) != 0)
            k++;
        if (k == n) memcpy(seen[n++], other.arch, sizeof other.arch);
    }
    while (info->model < n && strcmp(seen[info->model], info->arch) != 0)
        info->model++;
    return true;
}

static bool attach(RtDevice *device, DrvState *state, RtError *err) {
    RtDeviceInfo *info = &device->info;
    state->device = info->ordinal;
    if (!read_properties(info, state->device, err) || !find_model(info, err)) return false;
    if (strncmp(info->arch, "gfx", 3) != 0)
        return rt_fail(
            err, RT_SUPPORT_ERROR,
            "HIP device %d calls its chip '%s', which is no name of AMD's (gfx...): this "
            "HIP runtime is of another kind than ours.",
            info->ordinal, info->arch);
    info->driver_version = hip_version();
    info->max_shared_optin = info->max_shared;
    info->max_param_bytes = 4096;
    info->max_items = UINT32_MAX; /* of the grid along one axis: HIP counts them in 32 bits */
    snprintf(info->pci_id, sizeof info->pci_id, "%04x:%02x:%02x.0", info->pci_domain & 0xffff,
             info->pci_bus & 0xff, info->pci_device & 0xff);
    if (!hip_api()->hipGetDevicePropertiesR0600 && hip_api()->hipDeviceGetUuid)
        hip_api()->hipDeviceGetUuid(info->uuid, state->device);
    return true;
}

static void detach(DrvState *state) {
    (void)state; /* the device is the process's */
}

static int peer_copy(const DrvState *to_state, uint64_t to, const DrvState *from_state,
                     uint64_t from, size_t size, const char **call) {
    if (!hip_api()->hipMemcpyPeer) return DRV_SUCCESS;
    *call = "hipMemcpyPeer";
    return hip_api()->hipMemcpyPeer(to, to_state->device, from, from_state->device, size);
}

static bool load_image(RtDevice *device, RtKernel *kernel, void **module, RtError *err) {
    if (!hip_check_image(device, kernel, err)) return false;
    int r = hip_api()->shared.module_load(module, kernel->artifact->code, 0, NULL, NULL);
    if (r == DRV_SUCCESS) return true;
    fail(device, r, hip_names[DRV_module_load], err);
    rt_note(err, "(While loading kernel %s for %s.)", kernel->name, device->info.arch);
    return false;
}

static const Driver hip = {
    .title = "HIP",
    .api = &hip_functions.shared,
    .names = hip_names,
    .hints = hints,
    .nhints = countof(hints),
    .launch_end = (void *)3,
    .open = hip_open,
    .version = version,
    .describe = describe,
    .forget = forget,
    .attach = attach,
    .detach = detach,
    .enter = enter,
    .leave = leave,
    .load_image = load_image,
    .allow_shared = NULL, /* a block may have all of the LDS */
    .peer_copy = peer_copy,
};

static bool profile(RtDevice *device, bool on, RtError *err) {
    DrvCurrent c;
    int (*call)(void) = on ? hip_api()->hipProfilerStart : hip_api()->hipProfilerStop;
    if (!call) return drv_lacks(&hip, on ? "hipProfilerStart" : "hipProfilerStop", err);
    if (!enter(device, &c, err)) return false;
    int r = call();
    leave(&c);
    return r == DRV_SUCCESS || fail(device, r, on ? "hipProfilerStart" : "hipProfilerStop", err);
}

static int32_t hip_count(RtError *err) {
    return drv_count(&hip, err);
}
static bool hip_device_open(RtDevice *device, RtError *err) {
    return drv_open(&hip, device, err);
}

const DeviceOps rt_hip_ops = {
    .name = "hip",
    .count = hip_count,
    .open = hip_device_open,
    .shutdown = hip_shutdown,
    .profile = profile,
    DRV_OPS,
};
