/* Modules, functions and launches. A launch is checked in every way before the kernel runs. */
#include "fh.h"

#include <stdlib.h>

/* -- Loading ---------------------------------------------------------------------------------- */

static int rocm(void) {
    int version = fh_runtime()->version;
    return version / 10000000 * 1000 + version / 100000 % 100 * 10;
}

/* FAKEHIP_SAVE names a folder: every code object is kept there under a name made from its content. */
static void save(const FhImage *image) {
    const char *folder = getenv("FAKEHIP_SAVE");
    char path[4096];
    uint64_t hash = UINT64_C(14695981039346656037);
    if (!folder || !*folder) return;
    for (uint64_t i = 0; i < image->size; i++)
        hash = (hash ^ (unsigned char)image->bytes[i]) * UINT64_C(1099511628211);
    int n = snprintf(path, sizeof path, "%s/%016llx.hsaco", folder, (unsigned long long)hash);
    FILE *file = n > 0 && n < (int)sizeof path ? fopen(path, "wxe") : NULL;
    if (!file) return;
    fwrite(image->bytes, 1, image->size, file);
    fclose(file);
}

static HipResult load(void **out, const void *bytes) {
    char why[200] = "";
    FhImage image;
    FhAlloc *memory;
    HipResult result = fh_image_open(&image, bytes, fh_device()->arch, rocm(), why, sizeof why);
    if (result) return fh_fault(result, "%s", why);
    result = fh_alloc_device(fh_current(), image.span, FM_module, &memory);
    FhObject *module = result ? NULL : fh_object_new(FH_module, fh_current());
    if (!module) return fh_image_close(&image), HIP_OutOfMemory;
    save(&image);
    fh_image_place(&image, memory->host, memory->lo);
    module->image = image;
    module->address = memory->lo;
    *out = fh_handle(module);
    return HIP_Success;
}

FH_API HipResult hipModuleLoadDataEx(void **out, const void *image, unsigned n, int *options,
                                     void **values) {
    FH_ENTER(hipModuleLoadDataEx, FH_DEVICE, "%p, %p, %u", (void *)out, image, n);
    FH_REQUIRE(out && image && (n == 0 || (options && values)), InvalidValue);
    return fh_leave(load(out, image));
}

FH_API HipResult hipModuleUnload(void *handle) {
    HipResult early = fh_enter(SYM_hipModuleUnload, FH_DEVICE, "%p", handle);
    if (early && early != fh_device()->sticky) return fh_leave(early);
    FhObject *module = fh_object(handle, FH_module);
    FH_REQUIRE(module, InvalidHandle);
    fh_wait_device(module->device);
    fh_object_end(module);
    return fh_leave(early);
}

static const FhKernel *kernel_named(const FhImage *image, const char *name) {
    for (uint32_t i = 0; i < image->nkernels; i++)
        if (!strcmp(image->kernels[i].name, name)) return &image->kernels[i];
    return NULL;
}

FH_API HipResult hipModuleGetFunction(void **out, void *handle, const char *name) {
    FH_ENTER(hipModuleGetFunction, FH_DEVICE, "%p, %p, %s", (void *)out, handle, name ? name : "-");
    FhObject *module = fh_object(handle, FH_module);
    FH_REQUIRE(out && name, InvalidValue);
    FH_REQUIRE(module && module->device == fh_current(), InvalidHandle);
    const FhKernel *kernel = kernel_named(&module->image, name);
    if (!kernel) return fh_leave(HIP_NotFound);
    FhObject *function = fh_object_new(FH_function, fh_current());
    if (!function) return fh_leave(HIP_OutOfMemory);
    function->module = module;
    function->kernel = kernel;
    *out = fh_handle(function);
    return fh_leave(HIP_Success);
}

FH_API HipResult hipModuleGetGlobal(void **address, size_t *size, void *handle, const char *name) {
    FH_ENTER(hipModuleGetGlobal, FH_DEVICE, "%p, %p, %s", (void *)address, handle,
             name ? name : "-");
    FhObject *module = fh_object(handle, FH_module);
    uint64_t offset, bytes;
    FH_REQUIRE(name, InvalidValue);
    FH_REQUIRE(module && module->device == fh_current(), InvalidHandle);
    if (!fh_image_variable(&module->image, name, &offset, &bytes)) return fh_leave(HIP_NotFound);
    if (address) *address = (void *)(uintptr_t)(module->address + offset);
    if (size) *size = bytes;
    return fh_leave(HIP_Success);
}

FH_API HipResult hipFuncGetAttribute(int *value, int attribute, void *handle) {
    FH_ENTER(hipFuncGetAttribute, FH_DEVICE, "%p, %d, %p", (void *)value, attribute, handle);
    const FhObject *function = fh_object(handle, FH_function);
    FH_REQUIRE(value, InvalidValue);
    FH_REQUIRE(function, InvalidHandle);
    const FhKernel *k = function->kernel;
    int answers[] = {(int)k->max_threads, (int)k->lds, 0, (int)k->scratch, (int)k->vgprs, 90, 90};
    FH_REQUIRE(attribute >= 0 && attribute < (int)(sizeof answers / sizeof *answers), InvalidValue);
    *value = answers[attribute];
    return fh_leave(HIP_Success);
}

/* -- Launches --------------------------------------------------------------------------------- */

typedef struct Config {
    unsigned grid[3], block[3], lds;
    bool together;
} Config;

static HipResult check_shape(const Config *c, const FhKernel *k) {
    uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
    for (int i = 0; i < 3; i++) {
        if (!c->grid[i] || !c->block[i])
            return fh_fault(HIP_InvalidConfiguration, "dimension %d of grid or block is 0", i);
        if ((uint64_t)c->grid[i] * c->block[i] > UINT32_MAX)
            return fh_fault(HIP_InvalidConfiguration, "more than 2^32 - 1 work-items along axis %d",
                            i);
    }
    if (threads > 1024 || threads > k->max_threads)
        return fh_fault(HIP_InvalidConfiguration, "a block of %llu, compiled for %u",
                        (unsigned long long)threads, k->max_threads);
    if ((uint64_t)c->lds + k->lds > FH_LDS)
        return fh_fault(HIP_LaunchOutOfResources, "%u + %u bytes of LDS", k->lds, c->lds);
    return HIP_Success;
}

/* A pointer may be null, or lie in (or at the end of) memory that this device reaches. */
static HipResult check_pointer(const char *kernarg, const FhArg *arg, unsigned number) {
    uint64_t address;
    memcpy(&address, kernarg + arg->offset, sizeof address);
    const FhAlloc *a = address ? fh_alloc_find(address, true) : NULL;
    if (!address || (a && (a->kind >= FM_managed || a->device == fh_current()))) return HIP_Success;
    return fh_fault(HIP_IllegalAddress, "argument %u is 0x%llx, where this device has no memory",
                    number, (unsigned long long)address);
}

/* The buffer comes as HIP wants it: pointer, size, end, in this order. */
static HipResult check_args(const FhKernel *k, void **params, void **extra) {
    if (!extra && !params && k->nargs == 0) return HIP_Success;
    if (params || !extra || extra[0] != (void *)LAUNCH_BUFFER || !extra[1] ||
        extra[2] != (void *)LAUNCH_BUFFER_SIZE || !extra[3] || extra[4] != (void *)LAUNCH_END)
        return fh_fault(HIP_InvalidValue, "the list of a launch's options is wrong");
    size_t size = *(const size_t *)extra[3], most = (k->explicit_bytes + 7u) & ~7u;
    if (size < k->explicit_bytes || size > most)
        return fh_fault(HIP_InvalidValue, "%zu bytes of arguments, the kernel has %u", size,
                        k->explicit_bytes);
    for (uint32_t i = 0; i < k->nargs; i++) {
        HipResult result =
            k->args[i].pointer ? check_pointer(extra[1], &k->args[i], i) : HIP_Success;
        if (result) return result;
    }
    return HIP_Success;
}

/* What a kernel does wrong is found while it runs: the launch succeeds, and every later call on the device answers
 * with the error. */
static HipResult do_launch(FhOp *op) {
    FhRuntime *r = fh_runtime();
    HipResult fault = op->fault;
    op->launch.args = op->args;
    r->launches++;
    if (!fault && !r->noexec) fault = fh_execute(op->object, &op->launch);
    if (!fault && r->launches == r->fault_launch) fault = fh_fault(r->fault_code, "asked for");
    fh_device()->sticky = fault;
    return HIP_Success;
}

static HipResult run(FhObject *function, const Config *c, void *stream, void **extra,
                     HipResult fault) {
    size_t bytes = extra ? *(const size_t *)extra[3] : 0;
    FhOp op = {.act = do_launch, .object = function, .fault = fault};
    op.launch = (FhLaunch){.lds = c->lds, .together = c->together, .bytes = bytes};
    memcpy(op.launch.grid, c->grid, sizeof op.launch.grid);
    memcpy(op.launch.block, c->block, sizeof op.launch.block);
    if (bytes && !(op.args = malloc(bytes))) return HIP_OutOfMemory;
    if (bytes) memcpy(op.args, extra[1], bytes);
    return fh_do(stream, &op, NULL);
}

FH_API HipResult hipModuleLaunchKernel(void *handle, unsigned gx, unsigned gy, unsigned gz,
                                       unsigned bx, unsigned by, unsigned bz, unsigned lds,
                                       void *stream, void **params, void **extra) {
    FH_ENTER(hipModuleLaunchKernel, FH_DEVICE, "%p, grid %u,%u,%u, block %u,%u,%u, lds %u, %p",
             handle, gx, gy, gz, bx, by, bz, lds, stream);
    FhObject *function = fh_object(handle, FH_function);
    FH_REQUIRE(function && function->device == fh_current() && fh_stream_ok(stream), InvalidHandle);
    Config c = {{gx, gy, gz}, {bx, by, bz}, lds, false};
    HipResult result = check_shape(&c, function->kernel);
    if (result) return fh_leave(result);
    result = check_args(function->kernel, params, extra);
    if (result && result != HIP_IllegalAddress) return fh_leave(result);
    return fh_leave(run(function, &c, stream, extra, result));
}

static int blocks_per_processor(const FhKernel *k, int threads, size_t lds) {
    size_t each = k->lds + lds;
    size_t by_threads = 2048 / (size_t)threads, by_lds = each ? FH_LDS / each : by_threads;
    return threads > 1024 ? 0 : (int)(by_threads < by_lds ? by_threads : by_lds);
}

/* The arguments come one by one, each of the size that the code object says. */
static HipResult gather(const FhKernel *k, void **params, char *out) {
    for (uint32_t i = 0; i < k->nargs; i++) {
        if (!params || !params[i]) return fh_fault(HIP_InvalidValue, "argument %u is missing", i);
        memcpy(out + k->args[i].offset, params[i], k->args[i].size);
    }
    return HIP_Success;
}

/* All groups run at the same time, and must fit. */
FH_API HipResult hipModuleLaunchCooperativeKernel(void *handle, unsigned gx, unsigned gy,
                                                  unsigned gz, unsigned bx, unsigned by,
                                                  unsigned bz, unsigned lds, void *stream,
                                                  void **params) {
    FH_ENTER(hipModuleLaunchCooperativeKernel, FH_DEVICE,
             "%p, grid %u,%u,%u, block %u,%u,%u, lds %u, %p", handle, gx, gy, gz, bx, by, bz, lds,
             stream);
    FhObject *function = fh_object(handle, FH_function);
    FH_REQUIRE(function && function->device == fh_current() && fh_stream_ok(stream), InvalidHandle);
    Config c = {{gx, gy, gz}, {bx, by, bz}, lds, true};
    const FhKernel *k = function->kernel;
    HipResult result = check_shape(&c, k);
    char buffer[4096];
    uint64_t room = (uint64_t)blocks_per_processor(k, (int)(bx * by * bz), lds) * FH_PROCESSORS;
    if (!result && (uint64_t)gx * gy * gz > room) result = HIP_CooperativeLaunchTooLarge;
    if (!result) result = gather(k, params, buffer);
    if (result) return fh_leave(result);
    size_t bytes = k->explicit_bytes;
    void *extra[] = {(void *)LAUNCH_BUFFER, buffer, (void *)LAUNCH_BUFFER_SIZE, &bytes,
                     (void *)LAUNCH_END};
    result = check_args(k, NULL, extra);
    if (result && result != HIP_IllegalAddress) return fh_leave(result);
    return fh_leave(run(function, &c, stream, extra, result));
}

FH_API HipResult hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *handle,
                                                                    int threads, size_t lds) {
    FH_ENTER(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, FH_DEVICE, "%p, %p, %d, %zu",
             (void *)blocks, handle, threads, lds);
    const FhObject *function = fh_object(handle, FH_function);
    FH_REQUIRE(blocks && threads > 0, InvalidValue);
    FH_REQUIRE(function, InvalidHandle);
    *blocks = blocks_per_processor(function->kernel, threads, lds);
    return fh_leave(HIP_Success);
}
