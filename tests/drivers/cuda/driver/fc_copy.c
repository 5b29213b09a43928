/* Copies and fills. A range must lie within one allocation: what runs over its end is an error here,
 * as it is on a device. */
#include "fc.h"

/* -- Ranges ----------------------------------------------------------------------------------- */

/* The driver's own address of device bytes, or NULL. */
static char *device_bytes(CUdeviceptr address, size_t size) {
    const FcAlloc *a = fc_alloc_find(address);
    if (!a || a->size - (address - a->lo) < size) return NULL;
    return a->host + (address - a->lo);
}

/* A host range is anything that is not a device's. */
static char *host_bytes(const void *host, size_t size) {
    const FcAlloc *a = fc_alloc_find((uintptr_t)host);
    if (!host || (a && a->kind < FM_managed)) return NULL;
    (void)size;
    return (char *)(uintptr_t)host;
}

/* Unified addressing: either. */
static char *any_bytes(CUdeviceptr address, size_t size) {
    if (fc_alloc_find(address)) return device_bytes(address, size);
    return (char *)(uintptr_t)address;
}

static CUresult copy(char *to, const char *from, size_t size) {
    if (size == 0) return CUDA_SUCCESS;
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    memmove(to, from, size);
    return CUDA_SUCCESS;
}

#define ADDRESS(x) ((unsigned long long)(uintptr_t)(x))

#define CHECK_STREAM() FC_REQUIRE(fc_stream_ok(stream), ERROR_INVALID_HANDLE)

/* -- One dimension ---------------------------------------------------------------------------- */

FC_API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
    FC_ENTER(cuMemcpyHtoD_v2, FC_CONTEXT, "0x%llx, 0x%llx, %zu", ADDRESS(to), ADDRESS(from), size);
    return fc_leave(copy(device_bytes(to, size), host_bytes(from, size), size));
}

FC_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size,
                                     CUstream stream) {
    FC_ENTER(cuMemcpyHtoDAsync_v2, FC_CONTEXT, "0x%llx, 0x%llx, %zu, 0x%llx", ADDRESS(to),
             ADDRESS(from), size, ADDRESS(stream));
    CHECK_STREAM();
    return fc_leave(copy(device_bytes(to, size), host_bytes(from, size), size));
}

FC_API CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
    FC_ENTER(cuMemcpyDtoH_v2, FC_CONTEXT, "0x%llx, 0x%llx, %zu", ADDRESS(to), ADDRESS(from), size);
    return fc_leave(copy(host_bytes(to, size), device_bytes(from, size), size));
}

FC_API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    FC_ENTER(cuMemcpyDtoHAsync_v2, FC_CONTEXT, "0x%llx, 0x%llx, %zu, 0x%llx", ADDRESS(to),
             ADDRESS(from), size, ADDRESS(stream));
    CHECK_STREAM();
    return fc_leave(copy(host_bytes(to, size), device_bytes(from, size), size));
}

FC_API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
    FC_ENTER(cuMemcpyDtoD_v2, FC_CONTEXT, "0x%llx, 0x%llx, %zu", ADDRESS(to), ADDRESS(from), size);
    return fc_leave(copy(device_bytes(to, size), device_bytes(from, size), size));
}

FC_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size,
                                     CUstream stream) {
    FC_ENTER(cuMemcpyDtoDAsync_v2, FC_CONTEXT, "0x%llx, 0x%llx, %zu, 0x%llx", ADDRESS(to),
             ADDRESS(from), size, ADDRESS(stream));
    CHECK_STREAM();
    return fc_leave(copy(device_bytes(to, size), device_bytes(from, size), size));
}

FC_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
    FC_ENTER(cuMemcpy, FC_CONTEXT, "0x%llx, 0x%llx, %zu", ADDRESS(to), ADDRESS(from), size);
    return fc_leave(copy(any_bytes(to, size), any_bytes(from, size), size));
}

FC_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    FC_ENTER(cuMemcpyAsync, FC_CONTEXT, "0x%llx, 0x%llx, %zu, 0x%llx", ADDRESS(to), ADDRESS(from),
             size, ADDRESS(stream));
    CHECK_STREAM();
    return fc_leave(copy(any_bytes(to, size), any_bytes(from, size), size));
}

static CUresult copy_peer(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,
                          size_t size) {
    if (!fc_object(to_ctx, FK_context) || !fc_object(from_ctx, FK_context))
        return CUDA_ERROR_INVALID_CONTEXT;
    return copy(device_bytes(to, size), device_bytes(from, size), size);
}

FC_API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,
                             size_t size) {
    FC_ENTER(cuMemcpyPeer, FC_CONTEXT, "0x%llx, 0x%llx, %zu", ADDRESS(to), ADDRESS(from), size);
    return fc_leave(copy_peer(to, to_ctx, from, from_ctx, size));
}

FC_API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from,
                                  CUcontext from_ctx, size_t size, CUstream stream) {
    FC_ENTER(cuMemcpyPeerAsync, FC_CONTEXT, "0x%llx, 0x%llx, %zu, 0x%llx", ADDRESS(to),
             ADDRESS(from), size, ADDRESS(stream));
    CHECK_STREAM();
    return fc_leave(copy_peer(to, to_ctx, from, from_ctx, size));
}

/* -- Two dimensions --------------------------------------------------------------------------- */

/* The first byte of one side of a rectangle, or NULL where it does not fit. */
static char *plane(const CuMemcpy2D *c, bool source) {
    int type = source ? c->src_type : c->dst_type;
    size_t x = source ? c->src_x : c->dst_x, y = source ? c->src_y : c->dst_y;
    size_t pitch = source ? c->src_pitch : c->dst_pitch;
    size_t span = (y + c->height - 1) * pitch + x + c->width;
    const void *host = source ? c->src_host : c->dst_host;
    CUdeviceptr device = source ? c->src_device : c->dst_device;
    char *base = NULL;
    if (pitch < x + c->width && c->height > 1) return NULL;
    if (type == CU_MEMORYTYPE_HOST) base = host_bytes(host, span);
    if (type == CU_MEMORYTYPE_DEVICE) base = device_bytes(device, span);
    if (type == CU_MEMORYTYPE_UNIFIED) base = any_bytes(device, span);
    return base ? base + y * pitch + x : NULL;
}

static CUresult copy_2d(const CuMemcpy2D *c) {
    if (!c) return CUDA_ERROR_INVALID_VALUE;
    if (c->width == 0 || c->height == 0) return CUDA_SUCCESS;
    char *to = plane(c, false), *from = plane(c, true);
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    for (size_t row = 0; row < c->height; row++)
        memmove(to + row * c->dst_pitch, from + row * c->src_pitch, c->width);
    return CUDA_SUCCESS;
}

FC_API CUresult cuMemcpy2D_v2(const CuMemcpy2D *c) {
    FC_ENTER(cuMemcpy2D_v2, FC_CONTEXT, "%p", (const void *)c);
    return fc_leave(copy_2d(c));
}

FC_API CUresult cuMemcpy2DUnaligned_v2(const CuMemcpy2D *c) {
    FC_ENTER(cuMemcpy2DUnaligned_v2, FC_CONTEXT, "%p", (const void *)c);
    return fc_leave(copy_2d(c));
}

FC_API CUresult cuMemcpy2DAsync_v2(const CuMemcpy2D *c, CUstream stream) {
    FC_ENTER(cuMemcpy2DAsync_v2, FC_CONTEXT, "%p, 0x%llx", (const void *)c, ADDRESS(stream));
    CHECK_STREAM();
    return fc_leave(copy_2d(c));
}

/* -- Fills ------------------------------------------------------------------------------------ */

static CUresult fill(CUdeviceptr to, const void *pattern, size_t width, size_t count) {
    if (count > SIZE_MAX / 8) return CUDA_ERROR_INVALID_VALUE;
    if (count == 0) return CUDA_SUCCESS;
    char *bytes = device_bytes(to, width * count);
    if (!bytes || to % width) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + i * width, pattern, width);
    return CUDA_SUCCESS;
}

FC_API CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    FC_ENTER(cuMemsetD8_v2, FC_CONTEXT, "0x%llx, %u, %zu", ADDRESS(to), value, count);
    return fc_leave(fill(to, &value, sizeof value, count));
}

FC_API CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
    FC_ENTER(cuMemsetD16_v2, FC_CONTEXT, "0x%llx, %u, %zu", ADDRESS(to), value, count);
    return fc_leave(fill(to, &value, sizeof value, count));
}

FC_API CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
    FC_ENTER(cuMemsetD32_v2, FC_CONTEXT, "0x%llx, %u, %zu", ADDRESS(to), value, count);
    return fc_leave(fill(to, &value, sizeof value, count));
}

FC_API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                                CUstream stream) {
    FC_ENTER(cuMemsetD8Async, FC_CONTEXT, "0x%llx, %u, %zu, 0x%llx", ADDRESS(to), value, count,
             ADDRESS(stream));
    CHECK_STREAM();
    return fc_leave(fill(to, &value, sizeof value, count));
}

FC_API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                                 CUstream stream) {
    FC_ENTER(cuMemsetD16Async, FC_CONTEXT, "0x%llx, %u, %zu, 0x%llx", ADDRESS(to), value, count,
             ADDRESS(stream));
    CHECK_STREAM();
    return fc_leave(fill(to, &value, sizeof value, count));
}

FC_API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
    FC_ENTER(cuMemsetD32Async, FC_CONTEXT, "0x%llx, %u, %zu, 0x%llx", ADDRESS(to), value, count,
             ADDRESS(stream));
    CHECK_STREAM();
    return fc_leave(fill(to, &value, sizeof value, count));
}
