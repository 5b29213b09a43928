/* Kernels run: what the interpreter needs to know of a launch, and what its answers mean to HIP. */
#include "fh.h"

#include "../interp/gcn.h"

#include <stdlib.h>

static GcnCode *code_of(FhObject *module, uint32_t wave) {
    GcnCode **code = &module->code[wave == 64];
    const FhAlloc *memory = fh_alloc_find(module->address, false);
    uint64_t begin, size;
    if (*code || !memory || !fh_image_code(&module->image, &begin, &size)) return *code;
    *code = gcn_code_open(fh_runtime()->devices[module->device].arch, wave,
                          (const uint8_t *)memory->host + begin, module->address + begin, size);
    return *code;
}

static bool find(void *driver, uint64_t address, GcnRange *range) {
    const int *device = driver;
    const FhAlloc *a = fh_alloc_find(address, false);
    if (!a || (a->kind <= FM_module && a->device != *device)) return false;
    *range = (GcnRange){a->lo, a->size, a->host, true};
    return true;
}

static HipResult meaning(GcnResult result) {
    switch (result) {
    case GCN_OK: return HIP_Success;
    case GCN_FAULT: return HIP_IllegalAddress;
    case GCN_TIMEOUT: return HIP_LaunchTimeOut;
    case GCN_NO_MEMORY: return HIP_OutOfMemory;
    default: return HIP_LaunchFailure;
    }
}

/* gfx90a and its successors have the three numbers of a work-item in one register. */
static bool packs_ids(const char *arch) {
    return !strncmp(arch, "gfx90a", 6) || !strncmp(arch, "gfx94", 5);
}

HipResult fh_execute(FhObject *function, const FhLaunch *l) {
    const FhKernel *k = function->kernel;
    FhRuntime *r = fh_runtime();
    FhObject *module = function->module;
    char message[700] = "";
    uint64_t entry;
    const char *descriptor = fh_image_descriptor(&module->image, k->name, &entry);
    if (!descriptor) return HIP_NotFound;
    GcnLaunch launch = {.code = code_of(module, k->wave),
                        .name = k->name,
                        .descriptor = (const uint8_t *)descriptor,
                        .entry = module->address + entry,
                        .lds = l->lds + k->lds,
                        .wave = k->wave,
                        .args = l->args,
                        .args_bytes = l->bytes,
                        .together = l->together,
                        .explicit_bytes = k->explicit_bytes,
                        .seed = r->seed,
                        .deadline = r->timeout,
                        .unset = r->unset,
                        .packed_ids = packs_ids(fh_device()->arch),
                        .find = find,
                        .driver = &module->device,
                        .message = message,
                        .room = sizeof message,
                        .executed = &r->executed};
    memcpy(launch.grid, l->grid, sizeof launch.grid);
    memcpy(launch.block, l->block, sizeof launch.block);
    if (!launch.code)
        return fh_fault(HIP_LaunchFailure, "LLVM's disassembler does not know this chip");
    HipResult result = meaning(gcn_launch(&launch));
    return result ? fh_fault(result, "%s", message) : HIP_Success;
}
