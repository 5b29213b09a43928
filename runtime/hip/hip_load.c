/* hip_load.c - finding AMD's HIP runtime, or saying why there is none.
 *
 * libamdhip64.so carries the major version of ROCm in its name; the newest is taken, unless another package
 * (PyTorch's wheels bring their own) has one in the process already (driver_load.c). */
#include "runtime/hip/hip_api.h"

#include <string.h>

/* Guarded by the registry's lock. The functions do not change while a device is open. */
static DrvLibrary library;
HipApi hip_functions;

const char *const hip_names[DRV_CALLS] = {
#define SHARED(required, call, name, since) [DRV_##call] = #name,
#define SYM(required, name, since, result, args)
#include "runtime/hip/hip_syms.def"
#undef SHARED
#undef SYM
};

static bool lacks(const char *name, int since, RtError *err) {
    return rt_fail(err, RT_SUPPORT_ERROR,
                   "The HIP runtime lacks %s, which came with ROCm %d.%d. Install a newer ROCm.",
                   name, since / 100, since % 100);
}

static bool find_functions(void *lib, RtError *err) {
    HipApi *api = &hip_functions;
#define FIND(required, field, name, since)                                                         \
    drv_set_function(&api->field, os_lib_symbol(lib, #name));                                      \
    if (required && !api->field) return lacks(#name, since, err);
#define SHARED(required, call, name, since)           FIND(required, shared.call, name, since)
#define SYM(required, name, since, result, arguments) FIND(required, name, name, since)
#include "runtime/hip/hip_syms.def"
#undef SHARED
#undef SYM
#undef FIND
    if (api->hipGetDeviceProperties || api->hipGetDevicePropertiesR0600) return true;
    return lacks("hipGetDeviceProperties", 402, err);
}

static bool start_failed(int result, RtError *err) {
    const HipApi *hip = &hip_functions;
    const char *name = hip->hipGetErrorName(result);
    hip->hipGetLastError();
    /* Older runtimes answer hipErrorInvalidDevice (101) where there is none. */
    bool none = result == DRV_NO_DEVICE || result == 101;
    rt_fail(err, RT_SUPPORT_ERROR,
            "The HIP runtime %d.%d is here but does not start: hipInit answered %s (%d).%s",
            hip_version() / 1000, hip_version() % 1000 / 10, name ? name : "?", result,
            none
                ? " It finds no GPU that this process may use; look at rocminfo, at the rights on "
                  "/dev/kfd and /dev/dri (groups render and video), and at HIP_VISIBLE_DEVICES and "
                  "ROCR_VISIBLE_DEVICES."
                : "");
    rt_error_driver(err, result, name ? name : "", "hipInit");
    return false;
}

static bool start(DrvLibrary *l, RtError *err) {
    int version = 0;
    void *init = os_lib_symbol(l->library, "hipInit");
    if (!init || !os_lib_symbol(l->library, "hipRuntimeGetVersion"))
        return rt_fail(
            err, RT_SUPPORT_ERROR,
            "The library opened as the HIP runtime has no hipInit: it is another library.");
    if (!find_functions(l->library, err)) return false;
    int asked = hip_functions.hipRuntimeGetVersion(&version);
    if (asked != DRV_SUCCESS)
        return rt_fail(
            err, RT_SUPPORT_ERROR,
            "The HIP runtime is here but does not work: hipRuntimeGetVersion answered %d.", asked);
    l->version = version / 10000000 * 1000 + version / 100000 % 100 * 10;
    if (l->version < 5000)
        return rt_fail(err, RT_SUPPORT_ERROR,
                       "The HIP runtime is too old: it reports version %d, ROCm 5.0 is needed. "
                       "Install a newer ROCm.",
                       version);
    int result = hip_functions.hipInit(0);
    return result == DRV_SUCCESS || start_failed(result, err);
}

static const char *const places[] = {
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so.5",
    "/opt/rocm/lib/libamdhip64.so.7",
    "/opt/rocm/lib/libamdhip64.so.6",
    "/opt/rocm/lib/libamdhip64.so.5",
};
static const DrvLoader loader = {
    .title = "HIP",
    .variable = ENV_HIP_LIBRARY,
    .places = places,
    .nplaces = countof(places),
    .looked = "libamdhip64.so.7, libamdhip64.so.6 and libamdhip64.so.5 were looked for (and in "
              "/opt/rocm/lib)",
    .advice = "Is ROCm installed?",
    .start = start,
};

const DrvApi *hip_open(RtError *err) {
    return drv_library(&library, &loader, err) ? &hip_functions.shared : NULL;
}

int32_t hip_version(void) {
    return library.version;
}

void hip_shutdown(void) {
    memset(&library, 0, sizeof library);
    memset(&hip_functions, 0, sizeof hip_functions);
}
