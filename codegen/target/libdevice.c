/* libdevice.c - finding NVIDIA's libdevice. */
#include "codegen/target/libdevice.h"
#include "frontend/base/environment.h"
#include "codegen/target/devlib.h"
#include <stdlib.h>

#define LIBDEVICE "nvvm/libdevice/libdevice.10.bc"

static const char *find(Cg *cg, Str *tried) {
    static const char *const packages[] = {"nvidia/cu13/" LIBDEVICE, "nvidia/cuda_nvcc/" LIBDEVICE,
                                           "nvidia/cuda_nvvm/" LIBDEVICE, "nvidia/nvvm/" LIBDEVICE};
    static const char *const folders[] = {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda",
                                          "/usr/lib/nvidia-cuda-toolkit"};
    DevSearch s = {.cg = cg};
    buf_init(&s.tried, cg->arena);
    devlib_try(&s, env_value(ENV_LIBDEVICE), "");
    devlib_try(&s, env_value(ENV_CUDA_HOME), LIBDEVICE);
    devlib_try(&s, env_value(ENV_CUDA_PATH), LIBDEVICE);
    for (int k = 0; k < countof(packages); k++)
        devlib_try_prefixes(&s, packages[k]);
    for (int i = 0; i < countof(folders); i++)
        devlib_try(&s, folders[i], LIBDEVICE);
    devlib_try(&s, "/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc", "");
    *tried = buf_take(&s.tried);
    return s.found;
}

bool libdevice_link(Cg *cg) {
    if (!devlib_needed(cg, "__nv_")) return true;
    Str tried;
    const char *path = find(cg, &tried);
    if (!path) {
        cg->failed = true;
        return diag_add(cg->diags, E0502, NULL, "CUDA", tried.bytes);
    }
    return devlib_link(cg, path, "__nv_");
}
