/* cuda_load.c - finding the CUDA driver, or saying why there is none.
 *
 * Looked for, in this order: QUERN_CUDA_LIBRARY (an absolute path; then nothing else), libcuda.so.1 as it may
 * already lie in the process (another package has opened it), libcuda.so.1 by the loader's rules, and the
 * place where Windows' Linux puts it. Functions come from cuGetProcAddress with the version they are declared
 * for; drivers before 11.3 do not have it, their exported names carry the version as a suffix. */
#include "runtime/cuda/cuda_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST = 11000 };

static const char *const places[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};

/* The driver belongs to the process; guarded by the registry's lock. The functions do not change while a
 * device is open. */
static struct Driver {
    bool tried, initialised;
    void *library;
    int version;
    uint32_t generation;
    RtError failure;
    CudaApi api;
} driver;

/* -- the library ------------------------------------------------------------------------------- */

static void *open_library(RtError *err) {
    char answer[512];
    const char *path = getenv("QUERN_CUDA_LIBRARY");
    if (path && *path) {
        if (path[0] != '/') {
            rt_fail(err, RT_SUPPORT_ERROR,
                    "QUERN_CUDA_LIBRARY must be an absolute path, not '%.400s'.", path);
            return NULL;
        }
        void *library = os_lib_open(path, NULL, answer, sizeof answer);
        if (!library)
            rt_fail(err, RT_SUPPORT_ERROR,
                    "The CUDA driver that QUERN_CUDA_LIBRARY names could not be opened: %s.",
                    answer);
        return library;
    }
    char first[512] = "";
    for (int i = 0; i < countof(places); i++) {
        void *library = os_lib_open(places[i], NULL, answer, sizeof answer);
        if (library) return library;
        if (i == 0) memcpy(first, answer, sizeof first);
    }
    rt_fail(err, RT_SUPPORT_ERROR,
            "No CUDA driver: %s was looked for (and %s); the loader answered: %s. Is an NVIDIA "
            "driver installed?",
            places[0], places[1], first);
    return NULL;
}

/* -- its functions ----------------------------------------------------------------------------- */

typedef CUresult (*GetProcAddress)(const char *symbol, void **pfn, int version, uint64_t flags);
typedef CUresult (*GetProcAddress2)(const char *symbol, void **pfn, int version, uint64_t flags,
                                    int *status);

typedef struct Finder {
    GetProcAddress get;
    GetProcAddress2 get2;
} Finder;

static void set_function(void *to, void *from) {
    memcpy(to, &from, sizeof from);
}

static void find_finder(Finder *f) {
    memset(f, 0, sizeof *f);
    set_function(&f->get2, os_lib_symbol(driver.library, "cuGetProcAddress_v2"));
    if (!f->get2) set_function(&f->get, os_lib_symbol(driver.library, "cuGetProcAddress"));
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
    CudaApi *api = &driver.api;
#define SYM(required, name, version, suffix, args)                                                 \
    set_function(&api->name, find(f, #name, version, suffix));                                     \
    if (required && !api->name) return lacks(#name, version, err);
#include "runtime/cuda/cuda_syms.def"
#undef SYM
    return true;
}

static bool initialise(const Finder *f, RtError *err) {
    CUresult (*get_version)(int *version);
    CUresult (*init)(unsigned flags);
    set_function(&get_version, find(f, "cuDriverGetVersion", 2020, ""));
    set_function(&init, find(f, "cuInit", 2000, ""));
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
    set_function(&get_name, find(f, "cuGetErrorName", 6000, ""));
    set_function(&get_text, find(f, "cuGetErrorString", 6000, ""));
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

const CudaApi *cu_open(RtError *err) {
    if (!driver.tried) {
        driver.tried = true;
        driver.generation = rt_generation();
        rt_error_init(&driver.failure);
        driver.library = open_library(&driver.failure);
        Finder finder;
        if (driver.library) {
            find_finder(&finder);
            driver.initialised =
                initialise(&finder, &driver.failure) && find_functions(&finder, &driver.failure);
        }
    }
    if (!driver.initialised) {
        if (!rt_failed(err)) *err = driver.failure;
        return NULL;
    }
    if (driver.generation != rt_generation()) {
        rt_fail(err, RT_FORK_ERROR,
                "This process was forked after its parent had started the CUDA driver, which does "
                "not survive "
                "fork(). Use multiprocessing's start method 'spawn' or 'forkserver', or touch the "
                "device only in the "
                "children.");
        return NULL;
    }
    return &driver.api;
}

const CudaApi *cu_api(void) {
    return &driver.api;
}
int32_t cu_version(void) {
    return driver.version;
}

/* The library stays: a driver has threads of its own, and others may use it. */
void cu_shutdown(void) {
    memset(&driver, 0, sizeof driver);
}
