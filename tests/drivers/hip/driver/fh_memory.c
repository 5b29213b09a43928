/* Memory, copies, fills. A range must lie within one allocation: what runs over its end is an error here.
 *
 * The address of a hipMalloc lies in a mapping without access rights: a host program that dereferences a device
 * pointer dies of it. New memory, and memory given back, is 0xCB. No address is given out twice, so whatever is used
 * after it was freed is found. */
#define _GNU_SOURCE
#include "fh.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { POISON = 0xcb, PAGE = 4096 };

#define REGION_BYTES (UINT64_C(256) << 30) /* of addresses, for the life of a device */
#define POISON_LIMIT (UINT64_C(16) << 20)  /* filling gigabytes would only make tests slow */

/* -- The table -------------------------------------------------------------------------------- */

FhAlloc *fh_alloc_find(uint64_t address, bool end) {
    FhRuntime *r = fh_runtime();
    for (uint32_t i = r->nallocs; i-- > 0;) {
        FhAlloc *a = r->allocs[i];
        if (a->alive && address - a->lo < a->size + end) return a;
    }
    return NULL;
}

static FhAlloc *table_add(FhAlloc alloc) {
    FhRuntime *r = fh_runtime();
    if (r->nallocs == r->cap_allocs) {
        uint32_t cap = r->cap_allocs ? r->cap_allocs * 2 : 64;
        FhAlloc **bigger = realloc(r->allocs, cap * sizeof *bigger);
        if (!bigger) return NULL;
        r->allocs = bigger;
        r->cap_allocs = cap;
    }
    FhAlloc *made = malloc(sizeof *made);
    if (!made) return NULL;
    *made = alloc;
    made->alive = true;
    return r->allocs[r->nallocs++] = made;
}

static void table_remove(FhAlloc *alloc) {
    FhRuntime *r = fh_runtime();
    for (uint32_t i = 0; i < r->nallocs; i++)
        if (r->allocs[i] == alloc) {
            r->allocs[i] = r->allocs[--r->nallocs];
            free(alloc);
            return;
        }
}

static void poison(char *host, uint64_t size) {
    memset(host, POISON, size < POISON_LIMIT ? size : POISON_LIMIT);
}

/* -- Device memory ---------------------------------------------------------------------------- */

static bool region_open(FhDevice *d) {
    d->fd = memfd_create("fakehip", MFD_CLOEXEC);
    if (d->fd < 0 || ftruncate(d->fd, (off_t)REGION_BYTES) != 0) return false;
    void *alias =
        mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, d->fd, 0);
    void *face =
        mmap(NULL, REGION_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (alias == MAP_FAILED || face == MAP_FAILED) return false;
    d->alias = alias;
    d->lo = d->next = (uintptr_t)face;
    return true;
}

HipResult fh_alloc_device(int device, uint64_t size, FhMemory kind, FhAlloc **out) {
    FhRuntime *r = fh_runtime();
    FhDevice *d = &r->devices[device];
    uint64_t need = (size + PAGE - 1) / PAGE * PAGE + PAGE;
    if (size > r->memory || d->used + size > r->memory) return HIP_OutOfMemory;
    if (!d->alias && !region_open(d)) return HIP_OutOfMemory;
    if (need > d->lo + REGION_BYTES - d->next) return HIP_OutOfMemory;
    FhAlloc a = {.lo = d->next,
                 .size = size,
                 .host = d->alias + (d->next - d->lo),
                 .kind = kind,
                 .device = device};
    if (!(*out = table_add(a))) return HIP_OutOfMemory;
    poison(a.host, size);
    d->used += size;
    d->next += need;
    return HIP_Success;
}

void fh_alloc_end(FhAlloc *a) {
    if (a->kind == FM_managed || a->kind == FM_host) {
        free(a->host);
    } else {
        FhDevice *d = &fh_runtime()->devices[a->device];
        fallocate(d->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(a->lo - d->lo),
                  (off_t)((a->size + PAGE - 1) / PAGE * PAGE));
        d->used -= a->size;
    }
    table_remove(a);
}

void fh_memory_end(void) {
    FhRuntime *r = fh_runtime();
    while (r->nallocs)
        fh_alloc_end(r->allocs[0]);
    for (int i = 0; i < FH_MAX_DEVICES; i++) {
        FhDevice *d = &r->devices[i];
        if (!d->alias) continue;
        munmap(d->alias, REGION_BYTES);
        munmap((void *)(uintptr_t)d->lo, REGION_BYTES);
        close(d->fd);
    }
}

FH_API HipResult hipMalloc(void **out, size_t size) {
    FH_ENTER(hipMalloc, FH_DEVICE, "%p, %zu", (void *)out, size);
    FhAlloc *alloc;
    FH_REQUIRE(out && size, InvalidValue);
    HipResult result = fh_alloc_device(fh_current(), size, FM_device, &alloc);
    if (!result) *out = (void *)(uintptr_t)alloc->lo;
    return fh_leave(result);
}

/* What is freed on a dead device is gone all the same. */
static HipResult free_memory(FhSym sym, void *memory, bool host) {
    HipResult early = fh_enter(sym, FH_DEVICE, "%p", memory);
    if (early && early != fh_device()->sticky) return fh_leave(early);
    FhAlloc *a = fh_alloc_find((uintptr_t)memory, false);
    bool right = a && a->lo == (uintptr_t)memory &&
                 (host ? a->kind == FM_host : a->kind == FM_device || a->kind == FM_managed);
    if (!memory) return fh_leave(early);
    if (!right) return fh_leave(fh_fault(HIP_InvalidValue, "%p is no memory to be freed", memory));
    fh_wait_device(a->device); /* as HIP says */
    fh_alloc_end(a);
    return fh_leave(early);
}
FH_API HipResult hipFree(void *memory) {
    return free_memory(SYM_hipFree, memory, false);
}
FH_API HipResult hipHostFree(void *memory) {
    return free_memory(SYM_hipHostFree, memory, true);
}

FH_API HipResult hipMemGetInfo(size_t *left, size_t *total) {
    FH_ENTER(hipMemGetInfo, FH_DEVICE, "%p, %p", (void *)left, (void *)total);
    FH_REQUIRE(left && total, InvalidValue);
    *total = fh_runtime()->memory;
    *left = *total - fh_device()->used;
    return fh_leave(HIP_Success);
}

/* -- Memory that host and device share -------------------------------------------------------- */

static HipResult alloc_shared(void **out, size_t size, FhMemory kind) {
    void *host = NULL;
    if (!out || !size) return HIP_InvalidValue;
    if (posix_memalign(&host, PAGE, size) != 0) return HIP_OutOfMemory;
    FhAlloc a = {
        .lo = (uintptr_t)host, .size = size, .host = host, .kind = kind, .device = fh_current()};
    if (!table_add(a)) return free(host), HIP_OutOfMemory;
    poison(host, size);
    *out = host;
    return HIP_Success;
}

FH_API HipResult hipMallocManaged(void **out, size_t size, unsigned flags) {
    FH_ENTER(hipMallocManaged, FH_DEVICE, "%p, %zu, %u", (void *)out, size, flags);
    FH_REQUIRE(flags == 1 || flags == 2, InvalidValue);
    return fh_leave(alloc_shared(out, size, FM_managed));
}

FH_API HipResult hipHostMalloc(void **out, size_t size, unsigned flags) {
    FH_ENTER(hipHostMalloc, FH_DEVICE, "%p, %zu, %u", (void *)out, size, flags);
    FH_REQUIRE((flags & ~0xe0000007u) == 0, InvalidValue);
    return fh_leave(alloc_shared(out, size, FM_host));
}

FH_API HipResult hipHostGetDevicePointer(void **out, void *host, unsigned flags) {
    FH_ENTER(hipHostGetDevicePointer, FH_DEVICE, "%p, %p, %u", (void *)out, host, flags);
    const FhAlloc *a = fh_alloc_find((uintptr_t)host, false);
    FH_REQUIRE(out && flags == 0 && a && a->kind >= FM_managed, InvalidValue);
    *out = host;
    return fh_leave(HIP_Success);
}

/* -- Copies and fills -------------------------------------------------------------------------- */

/* The stand-in's own address of bytes of the current device (any device: peer), or NULL. */
static char *device_bytes(const void *address, size_t size, bool peer) {
    uint64_t at = (uintptr_t)address;
    const FhAlloc *a = fh_alloc_find(at, false);
    if (!a || a->size - (at - a->lo) < size) return NULL;
    if (!peer && a->kind <= FM_module && a->device != fh_current()) return NULL;
    return a->host + (at - a->lo);
}

static char *host_bytes(const void *host) {
    const FhAlloc *a = fh_alloc_find((uintptr_t)host, false);
    return a && a->kind <= FM_module ? NULL : (char *)(uintptr_t)host;
}

static HipResult do_copy(FhOp *op) {
    memmove(op->to, op->from, op->size);
    return HIP_Success;
}

static HipResult copy(char *to, char *from, size_t size, void *stream) {
    if (size == 0) return HIP_Success;
    if (!to || !from)
        return fh_fault(HIP_InvalidValue, "a copy of %zu bytes leaves its allocation", size);
    return fh_do(stream, &(FhOp){.act = do_copy, .to = to, .from = from, .size = size}, NULL);
}

/* HIP copies to and from memory that is not pinned before the call returns. */
static HipResult copy_host(char *to, char *from, size_t size, void *stream, const void *host) {
    HipResult result = copy(to, from, size, stream);
    if (!fh_alloc_find((uintptr_t)host, false)) fh_wait_stream(stream);
    return result ? result : fh_device()->sticky;
}

FH_API HipResult hipMemcpyHtoDAsync(void *to, const void *from, size_t size, void *stream) {
    FH_ENTER(hipMemcpyHtoDAsync, FH_DEVICE, "%p, %p, %zu, %p", to, from, size, stream);
    FH_REQUIRE(fh_stream_ok(stream), InvalidHandle);
    return fh_leave(copy_host(device_bytes(to, size, false), host_bytes(from), size, stream, from));
}

FH_API HipResult hipMemcpyDtoHAsync(void *to, const void *from, size_t size, void *stream) {
    FH_ENTER(hipMemcpyDtoHAsync, FH_DEVICE, "%p, %p, %zu, %p", to, from, size, stream);
    FH_REQUIRE(fh_stream_ok(stream), InvalidHandle);
    return fh_leave(copy_host(host_bytes(to), device_bytes(from, size, false), size, stream, to));
}

FH_API HipResult hipMemcpyDtoDAsync(void *to, const void *from, size_t size, void *stream) {
    FH_ENTER(hipMemcpyDtoDAsync, FH_DEVICE, "%p, %p, %zu, %p", to, from, size, stream);
    FH_REQUIRE(fh_stream_ok(stream), InvalidHandle);
    return fh_leave(
        copy(device_bytes(to, size, false), device_bytes(from, size, false), size, stream));
}

FH_API HipResult hipMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                               size_t size) {
    FH_ENTER(hipMemcpyPeer, FH_DEVICE, "%p, %d, %p, %d, %zu", to, to_device, from, from_device,
             size);
    const FhAlloc *a = fh_alloc_find((uintptr_t)to, false),
                  *b = fh_alloc_find((uintptr_t)from, false);
    FH_REQUIRE(a && b && a->device == to_device && b->device == from_device, InvalidValue);
    fh_wait_device(from_device);
    fh_wait_device(to_device);
    HipResult result =
        copy(device_bytes(to, size, true), device_bytes(from, size, true), size, NULL);
    fh_wait_stream(NULL);
    return fh_leave(result);
}

static HipResult do_fill(FhOp *op) {
    memset(op->to, op->value, op->size);
    return HIP_Success;
}

FH_API HipResult hipMemsetD8Async(void *to, unsigned char value, size_t count, void *stream) {
    FH_ENTER(hipMemsetD8Async, FH_DEVICE, "%p, %u, %zu, %p", to, value, count, stream);
    FH_REQUIRE(fh_stream_ok(stream), InvalidHandle);
    char *bytes = device_bytes(to, count, false);
    FH_REQUIRE(bytes || !count, InvalidValue);
    if (!count) return fh_leave(HIP_Success);
    FhOp op = {.act = do_fill, .to = bytes, .value = value, .size = count};
    return fh_leave(fh_do(stream, &op, NULL));
}
