/* facts.c - what is known of targets, and where to look for their libraries, without LLVM. */
#include "codegen/codegen.h"
#include "codegen/target.h"
#include "frontend/base/environment.h"
#include "frontend/base/os.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* -- where to look -------------------------------------------------------------------------------- */

/* Folders that pymodule names once (site-packages); copied, and kept until the process ends. */
static pthread_mutex_t prefix_lock = PTHREAD_MUTEX_INITIALIZER;
static char **prefixes;
static int nprefixes;

void cg_set_search_prefixes(const char *const *folders, int n) {
    char **copy = calloc((size_t)n + 1, sizeof *copy);
    for (int i = 0; copy && i < n; i++)
        copy[i] = strdup(folders[i]);
    pthread_mutex_lock(&prefix_lock);
    for (int i = 0; i < nprefixes; i++)
        free(prefixes[i]);
    free(prefixes);
    prefixes = copy;
    nprefixes = copy ? n : 0;
    pthread_mutex_unlock(&prefix_lock);
}

/* A copy of folder number `i` of them, in `size` bytes; "" where it is too long. false behind the last one. */
static bool search_prefix(int i, char *folder, size_t size) {
    pthread_mutex_lock(&prefix_lock);
    bool there = i < nprefixes;
    folder[0] = 0;
    if (there && prefixes[i] && strlen(prefixes[i]) < size) strcpy(folder, prefixes[i]);
    pthread_mutex_unlock(&prefix_lock);
    return there;
}

/* -- libraries of device functions ---------------------------------------------------------------- */

#define LIBDEVICE "nvvm/libdevice/libdevice.10.bc"
#define AMDGPU    "amdgcn/bitcode"

/* `folder`/`below`; `folder` may be NULL or empty: nothing is there. */
static bool look(const LibrarySearch *s, const char *folder, const char *below, bool others) {
    char path[PATH_MAX];
    if (!folder || !folder[0]) return false;
    int n = snprintf(path, sizeof path, "%s%s%s", folder, below[0] ? "/" : "", below);
    return n < (int)sizeof path && s->look(s->user, path, others);
}

/* The same below each folder of cg_set_search_prefixes. */
static bool look_below_prefixes(const LibrarySearch *s, const char *below) {
    char folder[PATH_MAX];
    for (int i = 0; search_prefix(i, folder, sizeof folder); i++)
        if (look(s, folder, below, false)) return true;
    return false;
}

void tg_find_libdevice(const LibrarySearch *s) {
    static const char *const packages[] = {"nvidia/cu13/" LIBDEVICE, "nvidia/cuda_nvcc/" LIBDEVICE,
                                           "nvidia/cuda_nvvm/" LIBDEVICE, "nvidia/nvvm/" LIBDEVICE};
    static const char *const folders[] = {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda",
                                          "/usr/lib/nvidia-cuda-toolkit"};
    bool found = look(s, env_value(ENV_LIBDEVICE), "", false) ||
                 look(s, env_value(ENV_CUDA_HOME), LIBDEVICE, false) ||
                 look(s, env_value(ENV_CUDA_PATH), LIBDEVICE, false);
    for (int k = 0; !found && k < countof(packages); k++)
        found = look_below_prefixes(s, packages[k]);
    for (int i = 0; !found && i < countof(folders); i++)
        found = look(s, folders[i], LIBDEVICE, false);
    if (!found) look(s, "/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc", "", false);
}

void tg_find_amdgpu_library(const LibrarySearch *s, const char *file) {
    char below[64], ours[64];
    snprintf(below, sizeof below, AMDGPU "/%s", file);
    snprintf(ours, sizeof ours, "quern/" AMDGPU "/%s", file);
    (void)(look(s, env_value(ENV_ROCM_DEVICE_LIBS), file, true) ||
           look(s, env_value(ENV_ROCM_PATH), below, true) || look(s, "/opt/rocm", below, true) ||
           look_below_prefixes(s, ours) ||
           look(s, "/usr/lib/x86_64-linux-gnu/" AMDGPU, file, false));
}

static void find_amdgpu_libraries(const LibrarySearch *s) {
    tg_find_amdgpu_library(s, "ocml.bc");
    tg_find_amdgpu_library(s, "ockl.bc");
}

static void nowhere(const LibrarySearch *s) {
    (void)s;
}

/* -- targets ------------------------------------------------------------------------------------ */

static bool never(const char *arch) {
    (void)arch;
    return false;
}

static bool amdgpu_wide_masks(const char *arch) {
    static const struct {
        const char *name;
        int lanes;
    } chips[] = {
#define CHIP(name, machine, wave, options, family) {name, wave},
#include "codegen/amdgpu_chips.def"
#undef CHIP
    };
    size_t len = arch ? strcspn(arch, ":") : 0;
    for (int i = 0; i < countof(chips); i++)
        if (strlen(chips[i].name) == len && memcmp(chips[i].name, arch, len) == 0)
            return chips[i].lanes == 64;
    return false;
}

const TargetFacts *tg_facts(TargetKind kind) {
    static const TargetFacts all[TARGET_COUNT] = {
        [TARGET_CPU] = {"the cpu device", never, nowhere},
        [TARGET_NVPTX] = {"cuda", never, tg_find_libdevice},
        [TARGET_AMDGPU] = {"hip", amdgpu_wide_masks, find_amdgpu_libraries},
    };
    return (int)kind >= 0 && kind < TARGET_COUNT ? &all[kind] : NULL;
}

void cg_find_libraries(TargetKind target, const LibrarySearch *search) {
    tg_facts(target)->find_libraries(search);
}
