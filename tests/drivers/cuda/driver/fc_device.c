/* Devices and contexts. */
#include "fc.h"

/* -- Devices ---------------------------------------------------------------------------------- */

static bool is_device(CUdevice device) {
    return device >= 0 && device < fc_driver()->config.devices;
}

FC_API CUresult cuDeviceGetCount(int *count) {
    FC_ENTER(cuDeviceGetCount, FC_INIT, "%p", (void *)count);
    FC_REQUIRE(count, ERROR_INVALID_VALUE);
    *count = fc_driver()->config.devices;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    FC_ENTER(cuDeviceGet, FC_INIT, "%p, %d", (void *)device, ordinal);
    FC_REQUIRE(device, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(ordinal), ERROR_INVALID_DEVICE);
    *device = ordinal;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    FC_ENTER(cuDeviceGetName, FC_INIT, "%p, %d, %d", (void *)name, length, device);
    FC_REQUIRE(name && length > 0, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    snprintf(name, (size_t)length, "Stand-in GPU %d (sm_%d)", device, fc_driver()->config.cc);
    return fc_leave(CUDA_SUCCESS);
}

static CUresult get_uuid(CUuuid *uuid, CUdevice device) {
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    memcpy(uuid->bytes, "fakecuda-device-", 16);
    uuid->bytes[15] = (char)('A' + device);
    return CUDA_SUCCESS;
}

FC_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    FC_ENTER(cuDeviceGetUuid, FC_INIT, "%p, %d", (void *)uuid, device);
    return fc_leave(get_uuid(uuid, device));
}

FC_API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    FC_ENTER(cuDeviceGetUuid_v2, FC_INIT, "%p, %d", (void *)uuid, device);
    return fc_leave(get_uuid(uuid, device));
}

/* The old entry speaks 32-bit sizes. */
FC_API CUresult cuDeviceTotalMem(unsigned *bytes, CUdevice device) {
    FC_ENTER(cuDeviceTotalMem, FC_INIT, "%p, %d", (void *)bytes, device);
    FC_REQUIRE(bytes, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    *bytes = (unsigned)fc_driver()->config.memory;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    FC_ENTER(cuDeviceTotalMem_v2, FC_INIT, "%p, %d", (void *)bytes, device);
    FC_REQUIRE(bytes, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    *bytes = fc_driver()->config.memory;
    return fc_leave(CUDA_SUCCESS);
}

static const struct {
    int number, value;
} attribute_rows[] = {
#define ATTRIBUTE_ROW(name, number, value) {number, value},
    CU_ATTRIBUTES(ATTRIBUTE_ROW)
#undef ATTRIBUTE_ROW
};

/* An attribute that exists but that this device has nothing to say about is 0. */
static CUresult get_attribute(int *value, int attribute, CUdevice device) {
    int cc = fc_driver()->config.cc;
    *value = 0;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        *value = cc / 10;
    else if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        *value = cc % 10;
    else if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
        *value = device + 1;
    else
        for (unsigned i = 0; i < sizeof attribute_rows / sizeof *attribute_rows; i++)
            if (attribute_rows[i].number == attribute) *value = attribute_rows[i].value;
    return attribute >= 1 && attribute < 148 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FC_API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    FC_ENTER(cuDeviceGetAttribute, FC_INIT, "%p, %d, %d", (void *)value, attribute, device);
    FC_REQUIRE(value, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    return fc_leave(get_attribute(value, attribute, device));
}

FC_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    FC_ENTER(cuDeviceComputeCapability, FC_INIT, "%p, %p, %d", (void *)major, (void *)minor,
             device);
    FC_REQUIRE(major && minor, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    *major = fc_driver()->config.cc / 10;
    *minor = fc_driver()->config.cc % 10;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device) {
    FC_ENTER(cuDeviceGetPCIBusId, FC_INIT, "%p, %d, %d", (void *)id, length, device);
    FC_REQUIRE(id && length >= 13, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    snprintf(id, (size_t)length, "0000:%02X:00.0", (unsigned)device + 1);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id) {
    FC_ENTER(cuDeviceGetByPCIBusId, FC_INIT, "%p, %s", (void *)device, id ? id : "NULL");
    unsigned domain, bus;
    FC_REQUIRE(device && id && sscanf(id, "%x:%x:", &domain, &bus) == 2, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device((int)bus - 1), ERROR_INVALID_DEVICE);
    *device = (int)bus - 1;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    FC_ENTER(cuDeviceCanAccessPeer, FC_INIT, "%p, %d, %d", (void *)can, device, peer);
    FC_REQUIRE(can, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(device) && is_device(peer), ERROR_INVALID_DEVICE);
    *can = 0;
    return fc_leave(CUDA_SUCCESS);
}

/* -- Contexts --------------------------------------------------------------------------------- */

static FcObject *context_new(CUdevice device, bool primary, unsigned flags) {
    FcObject *context = fc_object_new(FK_context, NULL);
    if (!context) return NULL;
    context->ctx.device = device;
    context->ctx.primary = primary;
    context->ctx.flags = flags;
    return context;
}

/* Everything in the context ends with it. */
static void context_end(FcObject *context) {
    fc_objects_end(context);
    fc_allocs_end(context, NULL);
    context->alive = false;
    FcDevice *device = &fc_driver()->devices[context->ctx.device];
    if (device->primary == context) device->primary = NULL;
}

FC_API CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
    FC_ENTER(cuDevicePrimaryCtxRetain, FC_INIT, "%p, %d", (void *)out, device);
    FC_REQUIRE(out, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    FcDevice *d = &fc_driver()->devices[device];
    if (!d->primary) d->primary = context_new(device, true, 0);
    FC_REQUIRE(d->primary, ERROR_OUT_OF_MEMORY);
    d->primary->ctx.retained++;
    *out = fc_handle(d->primary);
    return fc_leave(CUDA_SUCCESS);
}

static CUresult primary_release(CUdevice device) {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    FcObject *primary = fc_driver()->devices[device].primary;
    if (!primary) return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary->ctx.retained == 0) context_end(primary);
    return CUDA_SUCCESS;
}

FC_API CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    FC_ENTER(cuDevicePrimaryCtxRelease, FC_INIT, "%d", device);
    return fc_leave(primary_release(device));
}

FC_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    FC_ENTER(cuDevicePrimaryCtxRelease_v2, FC_INIT, "%d", device);
    return fc_leave(primary_release(device));
}

FC_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    FC_ENTER(cuDevicePrimaryCtxReset_v2, FC_INIT, "%d", device);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    FcObject *primary = fc_driver()->devices[device].primary;
    if (primary) context_end(primary);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    FC_ENTER(cuDevicePrimaryCtxSetFlags_v2, FC_INIT, "%d, %u", device, flags);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    FcObject *primary = fc_driver()->devices[device].primary;
    if (primary) primary->ctx.flags = flags;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    FC_ENTER(cuDevicePrimaryCtxGetState, FC_INIT, "%d, %p, %p", device, (void *)flags,
             (void *)active);
    FC_REQUIRE(flags && active, ERROR_INVALID_VALUE);
    FC_REQUIRE(is_device(device), ERROR_INVALID_DEVICE);
    const FcObject *primary = fc_driver()->devices[device].primary;
    *flags = primary ? primary->ctx.flags : 0;
    *active = primary != NULL;
    return fc_leave(CUDA_SUCCESS);
}

static CUresult push(FcObject *context) {
    FcThread *thread = fc_thread();
    if (thread->depth == FC_STACK) return CUDA_ERROR_OUT_OF_MEMORY;
    thread->stack[thread->depth++] = context;
    return CUDA_SUCCESS;
}

static CUresult context_create(CUcontext *out, unsigned flags, CUdevice device) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    FcObject *context = context_new(device, false, flags);
    if (!context) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = fc_handle(context);
    return push(context);
}

FC_API CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags, CUdevice device) {
    FC_ENTER(cuCtxCreate_v2, FC_INIT, "%p, %u, %d", (void *)out, flags, device);
    return fc_leave(context_create(out, flags, device));
}

/* The later entries take further parameters in the middle: who asks cuGetProcAddress for a newer version
 * than he was written for finds out. */
FC_API CUresult cuCtxCreate_v3(CUcontext *out, void *affinity, int count, unsigned flags,
                               CUdevice device) {
    FC_ENTER(cuCtxCreate_v3, FC_INIT, "%p, %p, %d, %u, %d", (void *)out, affinity, count, flags,
             device);
    FC_REQUIRE(count == 0 || affinity, ERROR_INVALID_VALUE);
    return fc_leave(context_create(out, flags, device));
}

FC_API CUresult cuCtxCreate_v4(CUcontext *out, void *params, unsigned flags, CUdevice device) {
    FC_ENTER(cuCtxCreate_v4, FC_INIT, "%p, %p, %u, %d", (void *)out, params, flags, device);
    return fc_leave(context_create(out, flags, device));
}

FC_API CUresult cuCtxDestroy_v2(CUcontext handle) {
    FC_ENTER(cuCtxDestroy_v2, FC_INIT, "%p", (void *)handle);
    FcObject *context = fc_object(handle, FK_context);
    FC_REQUIRE(context && !context->ctx.primary, ERROR_INVALID_CONTEXT);
    FcThread *thread = fc_thread();
    if (thread->depth && thread->stack[thread->depth - 1] == context) thread->depth--;
    context_end(context);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    FC_ENTER(cuCtxPushCurrent_v2, FC_INIT, "%p", (void *)handle);
    FcObject *context = fc_object(handle, FK_context);
    FC_REQUIRE(context, ERROR_INVALID_CONTEXT);
    return fc_leave(push(context));
}

FC_API CUresult cuCtxPopCurrent_v2(CUcontext *out) {
    FC_ENTER(cuCtxPopCurrent_v2, FC_INIT, "%p", (void *)out);
    FcThread *thread = fc_thread();
    FC_REQUIRE(thread->depth, ERROR_INVALID_CONTEXT);
    const FcObject *top = thread->stack[--thread->depth];
    if (out) *out = fc_handle(top);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuCtxSetCurrent(CUcontext handle) {
    FC_ENTER(cuCtxSetCurrent, FC_INIT, "%p", (void *)handle);
    FcThread *thread = fc_thread();
    FcObject *context = fc_object(handle, FK_context);
    FC_REQUIRE(!handle || context, ERROR_INVALID_CONTEXT);
    if (thread->depth) thread->depth--;
    return fc_leave(context ? push(context) : CUDA_SUCCESS);
}

FC_API CUresult cuCtxGetCurrent(CUcontext *out) {
    FC_ENTER(cuCtxGetCurrent, FC_INIT, "%p", (void *)out);
    FC_REQUIRE(out, ERROR_INVALID_VALUE);
    *out = fc_handle(fc_current());
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuCtxGetDevice(CUdevice *device) {
    FC_ENTER(cuCtxGetDevice, FC_EVEN_DEAD, "%p", (void *)device);
    FC_REQUIRE(device, ERROR_INVALID_VALUE);
    *device = fc_current()->ctx.device;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuCtxSynchronize(void) {
    FC_ENTER(cuCtxSynchronize, FC_CONTEXT, "%s", "");
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuProfilerStart(void) {
    FC_ENTER(cuProfilerStart, FC_CONTEXT, "%s", "");
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuProfilerStop(void) {
    FC_ENTER(cuProfilerStop, FC_CONTEXT, "%s", "");
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuCtxGetApiVersion(CUcontext handle, unsigned *version) {
    FC_ENTER(cuCtxGetApiVersion, FC_INIT, "%p, %p", (void *)handle, (void *)version);
    FC_REQUIRE(version, ERROR_INVALID_VALUE);
    FC_REQUIRE(!handle || fc_object(handle, FK_context), ERROR_INVALID_CONTEXT);
    *version = 3020;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuCtxGetLimit(size_t *value, int limit) {
    FC_ENTER(cuCtxGetLimit, FC_CONTEXT, "%p, %d", (void *)value, limit);
    static const size_t values[] = {1024, 1048576, 8388608};
    FC_REQUIRE(value, ERROR_INVALID_VALUE);
    FC_REQUIRE(limit >= 0 && limit <= CU_LIMIT_MALLOC_HEAP_SIZE, ERROR_UNSUPPORTED_LIMIT);
    *value = values[limit];
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuCtxSetLimit(int limit, size_t value) {
    FC_ENTER(cuCtxSetLimit, FC_CONTEXT, "%d, %zu", limit, value);
    FC_REQUIRE(limit >= 0 && limit <= CU_LIMIT_MALLOC_HEAP_SIZE, ERROR_UNSUPPORTED_LIMIT);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    FC_ENTER(cuCtxGetStreamPriorityRange, FC_CONTEXT, "%p, %p", (void *)least, (void *)greatest);
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return fc_leave(CUDA_SUCCESS);
}
