/* Modules and functions. */
#include "fc.h"

#include <stdlib.h>

/* -- Loading ---------------------------------------------------------------------------------- */

/* PTX ISA that a driver's compiler knows: CUDA 11.x brought 7.x, 12.x brought 8.x; 11.0 began at 7.0. */
static unsigned isa_of_driver(int version) {
    unsigned major = (unsigned)version / 1000, minor = (unsigned)version % 1000 / 10;
    return major < 11 ? 60 + minor : (major - 4) * 10 + minor;
}

typedef struct Loading {
    FcObject *context, *module;
    bool out_of_memory;
} Loading;

static bool alloc_global(void *user, uint64_t size, uint32_t align, uint64_t *address,
                         void **host) {
    Loading *loading = user;
    FcAlloc *alloc;
    (void)align; /* every allocation is aligned better than any variable asks */
    CUresult result = fc_alloc_device(loading->context, size, FM_module, &alloc);
    loading->out_of_memory = result != CUDA_SUCCESS;
    if (result) return false;
    alloc->module = loading->module;
    *address = alloc->lo;
    *host = alloc->host;
    return true;
}

/* A buffer and its size come as two options; the size is written back. */
typedef struct Log {
    char *text;
    size_t size;
    void **size_slot;
} Log;

static CUresult find_logs(unsigned count, const int *options, void **values, Log *error,
                          Log *info) {
    if (count && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: error->text = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: info->text = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            error->size = (unsigned)(uintptr_t)values[i];
            error->size_slot = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            info->size = (unsigned)(uintptr_t)values[i];
            info->size_slot = &values[i];
            break;
        default:
            if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

static void write_log(const Log *log, const char *text) {
    if (!log->text || !log->size) return;
    snprintf(log->text, log->size, "%s", text);
    if (log->size_slot) *log->size_slot = (void *)(uintptr_t)strlen(log->text);
}

static CUresult load_error(PtxLoadStatus status) {
    switch (status) {
    case PTX_LOADED: return CUDA_SUCCESS;
    case PTX_BAD_VERSION: return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case PTX_BAD_TARGET: return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case PTX_NO_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    default: return CUDA_ERROR_INVALID_PTX;
    }
}

/* What is no PTX at all: compiled code for no device that we are, or garbage. */
static CUresult check_image(const char *image) {
    static const unsigned char fat[] = {0x50, 0xed, 0x55, 0xba};
    if (!image) return CUDA_ERROR_INVALID_VALUE;
    if (memcmp(image, "\177ELF", 4) == 0 || memcmp(image, fat, 4) == 0)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    return strstr(image, ".version") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

/* FAKECUDA_SAVE names a folder: every module's text is kept there under a name made from its content, so that
 * a test can show all PTX of a run to the vendor's assembler. A module that was seen before is not written again. */
static void save(const char *image) {
    const char *folder = getenv("FAKECUDA_SAVE");
    char path[4096];
    uint64_t hash = UINT64_C(14695981039346656037);
    if (!folder || !*folder) return;
    for (const char *c = image; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    int n = snprintf(path, sizeof path, "%s/%016llx.ptx", folder, (unsigned long long)hash);
    if (n < 0 || n >= (int)sizeof path) return;
    FILE *file = fopen(path, "wxe");
    if (!file) return;
    fputs(image, file);
    fclose(file);
}

static CUresult load(CUmodule *out, const char *image, const Log *error, const Log *info) {
    const FcConfig *config = &fc_driver()->config;
    char message[1024] = "";
    CUresult result = check_image(image);
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (result) return result;
    FcObject *module = fc_object_new(FK_module, fc_current());
    if (!module) return CUDA_ERROR_OUT_OF_MEMORY;
    Loading loading = {fc_current(), module, false};
    PtxLoader loader = {&loading, alloc_global, isa_of_driver(config->version),
                        (unsigned)config->cc};
    PtxLoadStatus status =
        ptx_module_load(image, strlen(image), &loader, &module->mod.ptx, message, sizeof message);
    write_log(error, message);
    write_log(info, "");
    if (status != PTX_LOADED) {
        fc_object_end(module);
        return load_error(status);
    }
    save(image);
    *out = fc_handle(module);
    return CUDA_SUCCESS;
}

FC_API CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    FC_ENTER(cuModuleLoadData, FC_CONTEXT, "%p, %p", (void *)out, image);
    Log none = {0};
    return fc_leave(load(out, image, &none, &none));
}

FC_API CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, int *options,
                                   void **values) {
    FC_ENTER(cuModuleLoadDataEx, FC_CONTEXT, "%p, %p, %u", (void *)out, image, count);
    Log error = {0}, info = {0};
    CUresult result = find_logs(count, options, values, &error, &info);
    return fc_leave(result ? result : load(out, image, &error, &info));
}

FC_API CUresult cuModuleUnload(CUmodule handle) {
    FC_ENTER(cuModuleUnload, FC_EVEN_DEAD, "%p", (void *)handle);
    FcObject *module = fc_object(handle, FK_module);
    FC_REQUIRE(module, ERROR_INVALID_HANDLE);
    fc_object_end(module);
    return fc_leave(CUDA_SUCCESS);
}

/* -- What is in a module ---------------------------------------------------------------------- */

static FcObject *function_of(FcObject *module, const PtxFunc *entry) {
    const FcDriver *d = fc_driver();
    for (uint32_t i = 0; i < d->nobjects; i++) {
        FcObject *o = d->objects[i];
        if (o->kind == FK_function && o->alive && o->fn.module == module && o->fn.entry == entry)
            return o;
    }
    FcObject *fn = fc_object_new(FK_function, module->context);
    if (!fn) return NULL;
    fn->fn.module = module;
    fn->fn.entry = entry;
    fn->fn.static_shared = ptx_shared_static(module->mod.ptx, entry);
    return fn;
}

FC_API CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name) {
    FC_ENTER(cuModuleGetFunction, FC_CONTEXT, "%p, %p, %s", (void *)out, (void *)handle,
             name ? name : "NULL");
    FcObject *module = fc_object(handle, FK_module);
    FC_REQUIRE(out && name, ERROR_INVALID_VALUE);
    FC_REQUIRE(module, ERROR_INVALID_HANDLE);
    const PtxFunc *entry = ptx_module_entry(module->mod.ptx, name);
    FC_REQUIRE(entry, ERROR_NOT_FOUND);
    FcObject *fn = function_of(module, entry);
    FC_REQUIRE(fn, ERROR_OUT_OF_MEMORY);
    *out = fc_handle(fn);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule handle,
                                     const char *name) {
    FC_ENTER(cuModuleGetGlobal_v2, FC_CONTEXT, "%p, %p, %p, %s", (void *)address, (void *)size,
             (void *)handle, name ? name : "NULL");
    const FcObject *module = fc_object(handle, FK_module);
    FC_REQUIRE(name, ERROR_INVALID_VALUE);
    FC_REQUIRE(module, ERROR_INVALID_HANDLE);
    const PtxVar *var = ptx_module_global(module->mod.ptx, name);
    FC_REQUIRE(var, ERROR_NOT_FOUND);
    if (address) *address = var->address;
    if (size) *size = var->size;
    return fc_leave(CUDA_SUCCESS);
}

/* -- Functions -------------------------------------------------------------------------------- */

static CUresult get_attribute(int *value, int attribute, const FcObject *fn) {
    const PtxFunc *entry = fn->fn.entry;
    const PtxModule *module = fn->fn.module->mod.ptx;
    int shared = (int)fn->fn.static_shared, slots = (int)entry->nslots;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = entry->max_threads ? (int)entry->max_threads : FC_THREADS_BLOCK;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = shared; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)ptx_local_bytes(entry); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = slots < 16 ? 16 : slots > 64 ? 64 : slots; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)module->isa; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = fc_driver()->config.cc; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = fn->fn.max_dynamic_shared ? fn->fn.max_dynamic_shared : FC_SHARED_DEFAULT - shared;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = -1; break;
    default: *value = 0;
    }
    return attribute >= 0 && attribute < 16 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FC_API CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction handle) {
    FC_ENTER(cuFuncGetAttribute, FC_CONTEXT, "%p, %d, %p", (void *)value, attribute,
             (void *)handle);
    const FcObject *fn = fc_object(handle, FK_function);
    FC_REQUIRE(value, ERROR_INVALID_VALUE);
    FC_REQUIRE(fn, ERROR_INVALID_HANDLE);
    return fc_leave(get_attribute(value, attribute, fn));
}

FC_API CUresult cuFuncSetAttribute(CUfunction handle, int attribute, int value) {
    FC_ENTER(cuFuncSetAttribute, FC_CONTEXT, "%p, %d, %d", (void *)handle, attribute, value);
    FcObject *fn = fc_object(handle, FK_function);
    FC_REQUIRE(fn, ERROR_INVALID_HANDLE);
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
        FC_REQUIRE(value >= -1 && value <= 100, ERROR_INVALID_VALUE);
        return fc_leave(CUDA_SUCCESS);
    }
    FC_REQUIRE(attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, ERROR_INVALID_VALUE);
    int shared = (int)fn->fn.static_shared;
    FC_REQUIRE(value >= 0 && value + shared <= FC_SHARED_OPTIN, ERROR_INVALID_VALUE);
    fn->fn.max_dynamic_shared = value;
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuFuncSetCacheConfig(CUfunction handle, int config) {
    FC_ENTER(cuFuncSetCacheConfig, FC_CONTEXT, "%p, %d", (void *)handle, config);
    FC_REQUIRE(fc_object(handle, FK_function), ERROR_INVALID_HANDLE);
    FC_REQUIRE(config >= 0 && config <= 3, ERROR_INVALID_VALUE);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
    FC_ENTER(cuFuncGetModule, FC_CONTEXT, "%p, %p", (void *)out, (void *)handle);
    const FcObject *fn = fc_object(handle, FK_function);
    FC_REQUIRE(out, ERROR_INVALID_VALUE);
    FC_REQUIRE(fn, ERROR_INVALID_HANDLE);
    *out = fc_handle(fn->fn.module);
    return fc_leave(CUDA_SUCCESS);
}

FC_API CUresult cuFuncGetName(const char **out, CUfunction handle) {
    FC_ENTER(cuFuncGetName, FC_CONTEXT, "%p, %p", (void *)out, (void *)handle);
    const FcObject *fn = fc_object(handle, FK_function);
    FC_REQUIRE(out && fn, ERROR_INVALID_VALUE);
    *out = fn->fn.entry->name;
    return fc_leave(CUDA_SUCCESS);
}
