/* libdevice.c - finding NVIDIA's libdevice and linking what a module needs of it.
 *
 * Its functions become linkonce_odr before linking, so that LLVM takes only those that are called and what
 * they call (a millisecond instead of the whole library), and internal after it. */
#include "codegen/target/libdevice.h"
#include "frontend/base/os.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>

#define LIBDEVICE "nvvm/libdevice/libdevice.10.bc"

/* -- where to look ---------------------------------------------------------------------------- */

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

typedef struct Search {
    Cg *cg;
    StrBuf tried;
    const char *found;
} Search;

static void try_path(Search *s, const char *folder, const char *below) {
    if (s->found || !folder || !folder[0]) return;
    Str path = below[0] ? str_printf(s->cg->arena, "%s/%s", folder, below) : str_from(folder);
    if (os_exists(path.bytes)) s->found = path.bytes;
    buf_printf(&s->tried, "%s%s", s->tried.len ? ", " : "", path.bytes);
}

static const char *find(Cg *cg, Str *tried) {
    static const char *const packages[] = {"nvidia/cu13/" LIBDEVICE, "nvidia/cuda_nvcc/" LIBDEVICE,
                                           "nvidia/cuda_nvvm/" LIBDEVICE, "nvidia/nvvm/" LIBDEVICE};
    static const char *const folders[] = {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda",
                                          "/usr/lib/nvidia-cuda-toolkit"};
    Search s = {.cg = cg};
    buf_init(&s.tried, cg->arena);
    try_path(&s, getenv("QUERN_LIBDEVICE"), "");
    try_path(&s, getenv("CUDA_HOME"), LIBDEVICE);
    try_path(&s, getenv("CUDA_PATH"), LIBDEVICE);
    pthread_mutex_lock(&prefix_lock);
    for (int i = 0; i < nprefixes; i++)
        for (int k = 0; k < countof(packages) && prefixes[i]; k++)
            try_path(&s, prefixes[i], packages[k]);
    pthread_mutex_unlock(&prefix_lock);
    for (int i = 0; i < countof(folders); i++)
        try_path(&s, folders[i], LIBDEVICE);
    try_path(&s, "/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc", "");
    *tried = buf_take(&s.tried);
    return s.found;
}

/* -- linking ---------------------------------------------------------------------------------- */

static bool is_wanted(Value fn) {
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    return strncmp(name, "__nv_", 5) == 0;
}

static bool needed(const Cg *cg) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        if (is_wanted(fn) && LLVMIsDeclaration(fn)) return true;
    return false;
}

static LLVMModuleRef load(Cg *cg, const char *path) {
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef library = NULL;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        cg_error(cg, "%s: %s", path, message ? message : "cannot be read");
        LLVMDisposeMessage(message);
        return NULL;
    }
    if (LLVMGetBitcodeModuleInContext2(cg->context, buffer, &library)) { /* lazy; owns the buffer */
        cg_error(cg, "%s is not an LLVM module that this version can read", path);
        return NULL;
    }
    return library;
}

static bool link_module(Cg *cg, LLVMModuleRef library, const char *path) {
    LLVMSetTarget(library, LLVMGetTarget(cg->mod)); /* an older spelling of the same layout */
    LLVMSetModuleDataLayout(library, cg->layout);
    for (Value fn = LLVMGetFirstFunction(library); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn)) LLVMSetLinkage(fn, LLVMLinkOnceODRLinkage);
    if (LLVMLinkModules2(cg->mod, library)) return cg_error(cg, "%s cannot be linked", path);
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn)) {
        if (!is_wanted(fn)) continue;
        if (LLVMIsDeclaration(fn))
            return cg_error(cg, "%s has no function %s", path, LLVMGetValueName(fn));
        LLVMSetLinkage(fn, LLVMInternalLinkage);
    }
    return !cg->failed;
}

bool libdevice_link(Cg *cg) {
    if (!needed(cg)) return true;
    Str tried;
    const char *path = find(cg, &tried);
    if (!path) {
        cg->failed = true;
        return diag_add(cg->diags, E0502, NULL, "CUDA", tried.bytes);
    }
    LLVMModuleRef library = load(cg, path);
    return library && link_module(cg, library, path);
}
