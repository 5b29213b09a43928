/* devlib.c - linking what a module needs of a library of device functions (libdevice, ocml, ockl).
 *
 * Its functions become linkonce_odr before linking, so that LLVM takes only those that are called and what
 * they call (a millisecond instead of the whole library), and internal after it. */
#include "codegen/target/devlib.h"
#include "frontend/base/os.h"
#include <llvm-c/BitReader.h>
#include <limits.h>
#include <llvm-c/Linker.h>

/* -- where to look ---------------------------------------------------------------------------- */

void devlib_try(DevSearch *s, const char *folder, const char *below) {
    if (s->found || !folder || !folder[0]) return;
    Str path = below[0] ? str_printf(s->cg->arena, "%s/%s", folder, below) : str_from(folder);
    if (os_exists(path.bytes) && (!s->fits || s->fits(s->cg, path.bytes))) s->found = path.bytes;
    buf_printf(&s->tried, "%s%s", s->tried.len ? ", " : "", path.bytes);
}

void devlib_try_prefixes(DevSearch *s, const char *below) {
    char folder[PATH_MAX];
    for (int i = 0; tg_search_prefix(i, folder, sizeof folder); i++)
        devlib_try(s, folder, below);
}

/* -- linking ---------------------------------------------------------------------------------- */

static bool is_wanted(Value fn, const char *prefix) {
    size_t len;
    const char *name = LLVMGetValueName2(fn, &len);
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

bool devlib_needed(const Cg *cg, const char *prefix) {
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        if (is_wanted(fn, prefix) && LLVMIsDeclaration(fn)) return true;
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

static bool link_module(Cg *cg, LLVMModuleRef library, const char *path, const char *prefix) {
    LLVMSetTarget(library, LLVMGetTarget(cg->mod)); /* an older spelling of the same layout */
    LLVMSetModuleDataLayout(library, cg->layout);
    for (Value fn = LLVMGetFirstFunction(library); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn)) LLVMSetLinkage(fn, LLVMLinkOnceODRLinkage);
    if (LLVMLinkModules2(cg->mod, library)) return cg_error(cg, "%s cannot be linked", path);
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn)) {
        if (!is_wanted(fn, prefix)) continue;
        if (LLVMIsDeclaration(fn))
            return cg_error(cg, "%s has no function %s", path, LLVMGetValueName(fn));
        LLVMSetLinkage(fn, LLVMInternalLinkage);
    }
    return !cg->failed;
}

bool devlib_link(Cg *cg, const char *path, const char *prefix) {
    LLVMModuleRef library = load(cg, path);
    return library && link_module(cg, library, path, prefix);
}
