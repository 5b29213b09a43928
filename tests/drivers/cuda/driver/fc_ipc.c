/* Memory of another process: a handle names the file behind the exporter's device memory, which the importer maps as well. */
#define _GNU_SOURCE
#include "fc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };
static const char MAGIC[8] = "fakeipc";

typedef struct Handle { /* in CUipcMemHandle */
    char magic[8];
    int32_t pid, fd;
    uint64_t offset, size;
} Handle;

FC_API CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address) {
    FC_ENTER(cuIpcGetMemHandle, FC_CONTEXT, "%p, 0x%llx", (void *)out, (unsigned long long)address);
    const FcAlloc *alloc = fc_alloc_find(address);
    FC_REQUIRE(out && alloc && alloc->lo == address && alloc->kind == FM_device,
               ERROR_INVALID_VALUE);
    const FcRegion *r = &fc_driver()->devices[alloc->device].region;
    Handle h = {.pid = getpid(), .fd = r->fd, .offset = alloc->lo - r->lo, .size = alloc->size};
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    memset(out, 0, sizeof *out);
    memcpy(out, &h, sizeof h);
    return fc_leave(CUDA_SUCCESS);
}

/* Whole pages, twice, as fc_memory.c does it. */
static bool map(const Handle *h, int fd, FcAlloc *alloc) {
    uint64_t inside = h->offset % PAGE, length = (inside + h->size + PAGE - 1) / PAGE * PAGE;
    char *alias =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(h->offset - inside));
    char *face = mmap(NULL, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (alias == MAP_FAILED || face == MAP_FAILED) return false;
    alloc->host = alias + inside;
    alloc->lo = (uintptr_t)face + inside;
    alloc->size = h->size;
    return true;
}

void fc_ipc_unmap(const FcAlloc *alloc) {
    uint64_t inside = alloc->lo % PAGE, length = (inside + alloc->size + PAGE - 1) / PAGE * PAGE;
    munmap(alloc->host - inside, length);
    munmap((void *)(uintptr_t)(alloc->lo - inside), length);
}

FC_API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags) {
    FC_ENTER(cuIpcOpenMemHandle_v2, FC_CONTEXT, "%p, ..., %u", (void *)out, flags);
    Handle h;
    memcpy(&h, &handle, sizeof h);
    FC_REQUIRE(out && flags == 1, ERROR_INVALID_VALUE);
    FC_REQUIRE(memcmp(h.magic, MAGIC, sizeof MAGIC) == 0, ERROR_INVALID_VALUE);
    FC_REQUIRE(h.pid != getpid(), ERROR_INVALID_CONTEXT);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)h.pid, (int)h.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    FC_REQUIRE(fd >= 0, ERROR_INVALID_HANDLE);
    FcObject *context = fc_current();
    FcAlloc alloc = {.kind = FM_opened, .device = context->ctx.device, .context = context};
    bool mapped = map(&h, fd, &alloc);
    close(fd);
    FC_REQUIRE(mapped && fc_alloc_add(alloc), ERROR_OUT_OF_MEMORY);
    *out = alloc.lo;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    FC_ENTER(cuIpcCloseMemHandle, FC_CONTEXT, "0x%llx", (unsigned long long)address);
    FcAlloc *alloc = fc_alloc_find(address);
    FC_REQUIRE(alloc && alloc->lo == address && alloc->kind == FM_opened, ERROR_INVALID_VALUE);
    fc_alloc_end(alloc);
    return fc_leave(CUDA_SUCCESS);
}
