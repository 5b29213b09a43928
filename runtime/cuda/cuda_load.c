/* cuda_load.c - finding the CUDA driver, or saying why there is none.
 *
 * Looked for: libcuda.so.1, and in the place where Windows' Linux puts it (driver_load.c). Functions come from cuGetProcAddress with the version they are declared
 * for; drivers before 11.3 do not have it, their exported names carry the version as a suffix. */
#include "runtime/cuda/cuda_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 11000 };

/* Guarded by the registry's lock. The functions do not change while a device is open. */
static DrvLibrary driver;
CudaApi cu_functions;

const char *const cu_names[DRV_CALLS] = {
#define SHARED(required, call, name, version, suffix) [DRV_##call] = #name,
#define SYM(required, name, version, suffix, args)
#include "runtime/cuda/cuda_syms.def"
#undef SHARED
#undef SYM
};

/* -- its functions ----------------------------------------------------------------------------- */

typedef CUresult (*GetProcAddress)(const char *symbol, void **pfn, int version, uint64_t flags);
typedef CUresult (*GetProcAddress2)(const char *symbol, void **pfn, int version, uint64_t flags,
                                    int *status);

typedef struct Finder {
    GetProcAddress get;
    GetProcAddress2 get2;
} Finder;

static void find_finder(Finder *f) {
    memset(f, 0, sizeof *f);
    drv_set_function(&f->get2, os_lib_symbol(driver.library, "cuGetProcAddress_v2"));
    if (!f->get2) drv_set_function(&f->get, os_lib_symbol(driver.library, "cuGetProcAddress"));
}

/* NULL when this driver has no such function. */
static void *find(const Finder *f, const char *name, int version, const char *suffix) {
    void *found = NULL;
    int status = 0;
    if (f->get2) return f->get2(name, &found, version, 0, &status) == CUDA_SUCCESS ? found : NULL;
    if (f->get) return f->get(name, &found, version, 0) == CUDA_SUCCESS ? found : NULL;
    char exported[96];
    snprintf(exported, sizeof exported, "%s%s", name, suffix);
    return os_lib_symbol(driver.library, exported);
}

static bool lacks(const char *name, int version, RtError *err) {
    return rt_fail(
        err, RT_SUPPORT_ERROR,
        "The CUDA driver %d.%d lacks %s, which came with CUDA %d.%d. Install a newer driver.",
        driver.version / 1000, driver.version % 1000 / 10, name, version / 1000,
        version % 1000 / 10);
}

static bool find_functions(const Finder *f, RtError *err) {
    CudaApi *api = &cu_functions;
#define FIND(required, field, name, version, suffix)                                               \
    drv_set_function(&api->field, find(f, #name, version, suffix));                                \
    if (required && !api->field) return lacks(#name, version, err);
#define SHARED(required, call, name, version, suffix)                                              \
    FIND(required, shared.call, name, version, suffix)
#define SYM(required, name, version, suffix, args) FIND(required, name, name, version, suffix)
#include "runtime/cuda/cuda_syms.def"
#undef SHARED
#undef SYM
#undef FIND
    return true;
}

static bool initialise(const Finder *f, RtError *err) {
    CUresult (*get_version)(int *version);
    CUresult (*init)(unsigned flags);
    drv_set_function(&get_version, find(f, "cuDriverGetVersion", 2020, ""));
    drv_set_function(&init, find(f, "cuInit", 2000, ""));
    if (!init || !get_version)
        return rt_fail(err, RT_SUPPORT_ERROR,
                       "The library opened as the CUDA driver has no cuInit: it is another "
                       "library, or a stub of the toolkit.");
    CUresult asked = get_version(&driver.version);
    if (asked != CUDA_SUCCESS)
        return rt_fail(err, RT_SUPPORT_ERROR,
                       "The CUDA driver is here but does not work: cuDriverGetVersion answered %d.",
                       asked);
    if (driver.version < OLDEST)
        return rt_fail(
            err, RT_SUPPORT_ERROR,
            "The CUDA driver is too old: it is for CUDA %d.%d, %d.%d is needed. Install a "
            "newer driver.",
            driver.version / 1000, driver.version % 1000 / 10, OLDEST / 1000, OLDEST % 1000 / 10);
    CUresult result = init(0);
    if (result == CUDA_SUCCESS) return true;
    const char *name = "unknown error", *text = "";
    CUresult (*get_name)(CUresult error, const char **text),
        (*get_text)(CUresult error, const char **text);
    drv_set_function(&get_name, find(f, "cuGetErrorName", 6000, ""));
    drv_set_function(&get_text, find(f, "cuGetErrorString", 6000, ""));
    if (get_name) get_name(result, &name);
    if (get_text) get_text(result, &text);
    rt_fail(err, RT_SUPPORT_ERROR,
            "The CUDA driver %d.%d is here but does not start: cuInit answered %s (%d)%s%s.%s",
            driver.version / 1000, driver.version % 1000 / 10, name ? name : "?", result,
            text && *text ? ": " : "", text ? text : "",
            result == CUDA_ERROR_NO_DEVICE
                ? " It finds no GPU that this process may use; look at nvidia-smi and at "
                  "CUDA_VISIBLE_DEVICES."
                : "");
    rt_error_driver(err, result, name ? name : "", "cuInit");
    return false;
}

static bool start(DrvLibrary *library, RtError *err) {
    Finder finder;
    (void)library;
    find_finder(&finder);
    return initialise(&finder, err) && find_functions(&finder, err);
}

static const char *const places[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
static const DrvLoader loader = {
    .title = "CUDA",
    .variable = ENV_CUDA_LIBRARY,
    .places = places,
    .nplaces = countof(places),
    .looked = "libcuda.so.1 was looked for (and /usr/lib/wsl/lib/libcuda.so.1)",
    .advice = "Is an NVIDIA driver installed?",
    .start = start,
};

const DrvApi *cu_open(RtError *err) {
    return drv_library(&driver, &loader, err) ? &cu_functions.shared : NULL;
}

int32_t cu_version(void) {
    return driver.version;
}

void cu_shutdown(void) {
    memset(&driver, 0, sizeof driver);
    memset(&cu_functions, 0, sizeof cu_functions);
}
