/* facts.c - what is known of targets, and where to look for their libraries, without LLVM. */
#include "codegen/target.h"
#include "frontend/base/os.h"
#include <stdlib.h>

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
        [TARGET_CPU] = {"the cpu device", never},
        [TARGET_NVPTX] = {"cuda", never},
        [TARGET_AMDGPU] = {"hip", amdgpu_wide_masks},
    };
    return (int)kind >= 0 && kind < TARGET_COUNT ? &all[kind] : NULL;
}

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

bool tg_search_prefix(int i, char *folder, size_t size) {
    pthread_mutex_lock(&prefix_lock);
    bool there = i < nprefixes;
    folder[0] = 0;
    if (there && prefixes[i] && strlen(prefixes[i]) < size) strcpy(folder, prefixes[i]);
    pthread_mutex_unlock(&prefix_lock);
    return there;
}
