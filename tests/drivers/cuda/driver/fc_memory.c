/* Device and host memory: regions, the table of allocations, and the functions that make and end them.
 *
 * The address of a cuMemAlloc lies in a mapping without access rights: a host program that dereferences
 * a device pointer dies of it, as with a real device. The driver and the interpreter work on a second
 * mapping of the same memory. New memory, and memory given back, is filled with 0xCB.
 */
#define _GNU_SOURCE
#include "fc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGN = 512, POISON = 0xcb, PAGE = 4096 };

/* Filling gigabytes would only make tests slow. */
#define POISON_LIMIT (UINT64_C(64) << 20)

/* -- Regions ---------------------------------------------------------------------------------- */

static bool region_open(FcRegion *r, uint64_t size) {
    size = (size * 2 + 65535) & ~UINT64_C(65535); /* room for gaps */
    r->fd = memfd_create("fakecuda", MFD_CLOEXEC);
    if (r->fd < 0 || ftruncate(r->fd, (off_t)size) != 0) return false;
    void *alias = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, r->fd, 0);
    void *face = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (alias == MAP_FAILED || face == MAP_FAILED) return false;
    r->alias = alias;
    r->lo = (uintptr_t)face;
    r->size = size;
    r->next = r->lo;
    return true;
}

void fc_regions_end(void) {
    FcDriver *d = fc_driver();
    for (int i = 0; i < FC_MAX_DEVICES; i++) {
        FcRegion *r = &d->devices[i].region;
        if (!r->size) continue;
        munmap(r->alias, r->size);
        munmap((void *)(uintptr_t)r->lo, r->size);
        close(r->fd);
        *r = (FcRegion){0};
    }
}

static void poison(char *host, uint64_t size) {
    if (size <= POISON_LIMIT) {
        memset(host, POISON, size);
        return;
    }
    memset(host, POISON, PAGE);
    memset(host + size - PAGE, POISON, PAGE);
}

/* -- The table -------------------------------------------------------------------------------- */

/* Index of the first allocation that begins above the address. */
static uint32_t upper(uint64_t address) {
    const FcDriver *d = fc_driver();
    uint32_t low = 0, high = d->nallocs;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (d->allocs[mid].lo <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

FcAlloc *fc_alloc_find(uint64_t address) {
    FcDriver *d = fc_driver();
    uint32_t at = upper(address);
    if (at == 0) return NULL;
    FcAlloc *alloc = &d->allocs[at - 1];
    return address - alloc->lo < alloc->size ? alloc : NULL;
}

FcAlloc *fc_alloc_add(FcAlloc alloc) {
    FcDriver *d = fc_driver();
    if (d->nallocs == d->cap_allocs) {
        uint32_t cap = d->cap_allocs ? d->cap_allocs * 2 : 64;
        FcAlloc *bigger = realloc(d->allocs, cap * sizeof *bigger);
        if (!bigger) return NULL;
        d->allocs = bigger;
        d->cap_allocs = cap;
    }
    uint32_t at = upper(alloc.lo);
    memmove(&d->allocs[at + 1], &d->allocs[at], (d->nallocs - at) * sizeof alloc);
    d->nallocs++;
    alloc.id = ++d->next_id;
    d->allocs[at] = alloc;
    return &d->allocs[at];
}

static void table_remove(FcAlloc *alloc) {
    FcDriver *d = fc_driver();
    size_t at = (size_t)(alloc - d->allocs);
    memmove(alloc, alloc + 1, (d->nallocs - at - 1) * sizeof *alloc);
    d->nallocs--;
}

/* -- Device memory ---------------------------------------------------------------------------- */

/* The first gap from `from` on that holds `need` bytes and a guard behind them, or 0. */
static uint64_t find_gap(const FcRegion *r, uint64_t from, uint64_t need) {
    const FcDriver *d = fc_driver();
    uint64_t at = from;
    for (uint32_t i = upper(from); i < d->nallocs && d->allocs[i].lo < r->lo + r->size; i++) {
        if (d->allocs[i].lo >= at + need) return at;
        uint64_t end = d->allocs[i].lo + d->allocs[i].size;
        at = (end + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
    }
    return at + need <= r->lo + r->size ? at : 0;
}

CUresult fc_alloc_device(FcObject *context, uint64_t size, FcMemKind kind, FcAlloc **out) {
    FcDriver *d = fc_driver();
    FcDevice *device = &d->devices[context->ctx.device];
    FcRegion *r = &device->region;
    uint64_t need = (size + ALIGN - 1) / ALIGN * ALIGN + ALIGN;
    if (size > d->config.memory || device->used + size > d->config.memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!r->size && !region_open(r, d->config.memory)) return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t lo = find_gap(r, r->next, need);
    if (!lo) lo = find_gap(r, r->lo, need);
    if (!lo) return CUDA_ERROR_OUT_OF_MEMORY;
    FcAlloc alloc = {.lo = lo,
                     .size = size,
                     .host = r->alias + (lo - r->lo),
                     .kind = kind,
                     .device = context->ctx.device,
                     .context = context};
    *out = fc_alloc_add(alloc);
    if (!*out) return CUDA_ERROR_OUT_OF_MEMORY;
    poison(alloc.host, size);
    device->used += size;
    r->next = lo + need;
    return CUDA_SUCCESS;
}

/* Gives whole pages of large allocations back to the system; the others are poisoned. */
static void device_end(const FcAlloc *alloc) {
    FcDevice *device = &fc_driver()->devices[alloc->device];
    const FcRegion *r = &device->region;
    uint64_t offset = alloc->lo - r->lo, first = (offset + PAGE - 1) / PAGE * PAGE;
    uint64_t last = (offset + alloc->size) / PAGE * PAGE;
    if (last > first + (1 << 20))
        fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)first,
                  (off_t)(last - first));
    else
        poison(alloc->host, alloc->size);
    device->used -= alloc->size;
}

void fc_alloc_end(FcAlloc *alloc) {
    switch (alloc->kind) {
    case FM_device:
    case FM_module: device_end(alloc); break;
    case FM_managed:
    case FM_host: free(alloc->host); break;
    case FM_opened: fc_ipc_unmap(alloc); break;
    case FM_registered: break;
    }
    table_remove(alloc);
}

/* Ends what belongs to a context, to a module, or (both NULL) everything. */
void fc_allocs_end(const FcObject *context, const FcObject *module) {
    FcDriver *d = fc_driver();
    for (uint32_t i = d->nallocs; i-- > 0;) {
        FcAlloc *alloc = &d->allocs[i];
        bool all = !context && !module;
        if (all || (context && alloc->context == context) || (module && alloc->module == module))
            fc_alloc_end(alloc);
    }
}

static CUresult alloc_device(CUdeviceptr *out, size_t size) {
    FcAlloc *alloc;
    if (!out || size == 0) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = fc_alloc_device(fc_current(), size, FM_device, &alloc);
    if (!result) *out = alloc->lo;
    return result;
}

FC_API CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size) {
    FC_ENTER(cuMemAlloc_v2, FC_CONTEXT, "%p, %zu", (void *)out, size);
    return fc_leave(alloc_device(out, size));
}

FC_API CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream stream) {
    FC_ENTER(cuMemAllocAsync, FC_CONTEXT, "%p, %zu, %p", (void *)out, size, (void *)stream);
    FC_REQUIRE(fc_stream_ok(stream), ERROR_INVALID_HANDLE);
    return fc_leave(alloc_device(out, size));
}

static CUresult free_device(CUdeviceptr address) {
    if (address == 0) return CUDA_SUCCESS;
    FcAlloc *alloc = fc_alloc_find(address);
    if (!alloc || alloc->lo != address || (alloc->kind != FM_device && alloc->kind != FM_managed))
        return CUDA_ERROR_INVALID_VALUE;
    fc_alloc_end(alloc);
    return CUDA_SUCCESS;
}

FC_API CUresult cuMemFree_v2(CUdeviceptr address) {
    FC_ENTER(cuMemFree_v2, FC_CONTEXT, "0x%llx", (unsigned long long)address);
    return fc_leave(free_device(address));
}

FC_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
    FC_ENTER(cuMemFreeAsync, FC_CONTEXT, "0x%llx, %p", (unsigned long long)address, (void *)stream);
    FC_REQUIRE(fc_stream_ok(stream), ERROR_INVALID_HANDLE);
    return fc_leave(free_device(address));
}

FC_API CUresult cuMemGetInfo_v2(size_t *left, size_t *total) {
    FC_ENTER(cuMemGetInfo_v2, FC_CONTEXT, "%p, %p", (void *)left, (void *)total);
    FC_REQUIRE(left && total, ERROR_INVALID_VALUE);
    const FcDriver *d = fc_driver();
    *total = d->config.memory;
    *left = d->config.memory - d->devices[fc_current()->ctx.device].used;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    FC_ENTER(cuMemGetAddressRange_v2, FC_CONTEXT, "%p, %p, 0x%llx", (void *)base, (void *)size,
             (unsigned long long)address);
    const FcAlloc *alloc = fc_alloc_find(address);
    FC_REQUIRE(alloc, ERROR_NOT_FOUND);
    if (base) *base = alloc->lo;
    if (size) *size = alloc->size;
    return fc_leave(CUDA_SUCCESS);
}

/* -- Memory that host and device share -------------------------------------------------------- */

static CUresult alloc_host(void **out, size_t size, FcMemKind kind) {
    FcObject *context = fc_current();
    void *host = NULL;
    if (!out || size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (posix_memalign(&host, PAGE, size) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
    poison(host, size);
    FcAlloc alloc = {.lo = (uintptr_t)host,
                     .size = size,
                     .host = host,
                     .kind = kind,
                     .device = context->ctx.device,
                     .context = context};
    if (!fc_alloc_add(alloc)) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = host;
    return CUDA_SUCCESS;
}

FC_API CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned flags) {
    FC_ENTER(cuMemAllocManaged, FC_CONTEXT, "%p, %zu, %u", (void *)out, size, flags);
    FC_REQUIRE(out && (flags == 1 || flags == 2), ERROR_INVALID_VALUE);
    void *host = NULL;
    CUresult result = alloc_host(&host, size, FM_managed);
    if (!result) *out = (uintptr_t)host;
    return fc_leave(result);
}

FC_API CUresult cuMemAllocHost_v2(void **out, size_t size) {
    FC_ENTER(cuMemAllocHost_v2, FC_CONTEXT, "%p, %zu", (void *)out, size);
    return fc_leave(alloc_host(out, size, FM_host));
}

FC_API CUresult cuMemHostAlloc(void **out, size_t size, unsigned flags) {
    FC_ENTER(cuMemHostAlloc, FC_CONTEXT, "%p, %zu, %u", (void *)out, size, flags);
    FC_REQUIRE(flags <= 7, ERROR_INVALID_VALUE);
    return fc_leave(alloc_host(out, size, FM_host));
}

FC_API CUresult cuMemFreeHost(void *host) {
    FC_ENTER(cuMemFreeHost, FC_CONTEXT, "%p", host);
    FcAlloc *alloc = fc_alloc_find((uintptr_t)host);
    FC_REQUIRE(alloc && alloc->lo == (uintptr_t)host && alloc->kind == FM_host,
               ERROR_INVALID_VALUE);
    fc_alloc_end(alloc);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *host, unsigned flags) {
    FC_ENTER(cuMemHostGetDevicePointer_v2, FC_CONTEXT, "%p, %p, %u", (void *)out, host, flags);
    const FcAlloc *alloc = fc_alloc_find((uintptr_t)host);
    FC_REQUIRE(out && flags == 0 && alloc && alloc->kind >= FM_managed, ERROR_INVALID_VALUE);
    *out = (uintptr_t)host;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuMemHostRegister_v2(void *host, size_t size, unsigned flags) {
    FC_ENTER(cuMemHostRegister_v2, FC_CONTEXT, "%p, %zu, %u", host, size, flags);
    FcDriver *d = fc_driver();
    uint64_t lo = (uintptr_t)host;
    FC_REQUIRE(host && size && flags <= 15, ERROR_INVALID_VALUE);
    uint32_t next = upper(lo);
    bool overlaps = fc_alloc_find(lo) || (next < d->nallocs && d->allocs[next].lo < lo + size);
    FC_REQUIRE(!overlaps, ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    FcAlloc alloc = {.lo = lo,
                     .size = size,
                     .host = host,
                     .kind = FM_registered,
                     .device = fc_current()->ctx.device,
                     .context = fc_current()};
    return fc_leave(fc_alloc_add(alloc) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

FC_API CUresult cuMemHostUnregister(void *host) {
    FC_ENTER(cuMemHostUnregister, FC_CONTEXT, "%p", host);
    FcAlloc *alloc = fc_alloc_find((uintptr_t)host);
    FC_REQUIRE(alloc && alloc->lo == (uintptr_t)host && alloc->kind == FM_registered,
               ERROR_HOST_MEMORY_NOT_REGISTERED);
    fc_alloc_end(alloc);
    return fc_leave(CUDA_SUCCESS);
}

/* -- Questions about pointers ----------------------------------------------------------------- */

static CUresult pointer_attribute(void *out, int attribute, const FcAlloc *a, uint64_t address) {
    bool host = a->kind == FM_host || a->kind == FM_registered;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(void **)out = fc_handle(a->context); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)out = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)out = address; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (a->kind < FM_managed) return CUDA_ERROR_INVALID_VALUE;
        *(void **)out = (void *)(uintptr_t)address;
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)out = a->id; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *(unsigned *)out = a->kind == FM_managed; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)out = a->device; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)out = a->lo; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)out = a->size; break;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)out = 1; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

FC_API CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr address) {
    FC_ENTER(cuPointerGetAttribute, FC_INIT, "%p, %d, 0x%llx", out, attribute,
             (unsigned long long)address);
    const FcAlloc *alloc = fc_alloc_find(address);
    FC_REQUIRE(out && alloc, ERROR_INVALID_VALUE);
    return fc_leave(pointer_attribute(out, attribute, alloc, address));
}
