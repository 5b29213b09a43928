/* devlib.c - linking what a module needs of a library of device functions (libdevice, ocml, ockl).
 *
 * Its functions become linkonce_odr before linking, so that LLVM takes only those that are called and what
 * they call (a millisecond instead of the whole library), and internal after it. */
#include "codegen/target/devlib.h"
#include "frontend/base/os.h"
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>
#include <stdlib.h>

/* -- where to look ---------------------------------------------------------------------------- */

bool devlib_look(void *user, const char *path, bool others) {
    DevSearch *s = user;
    buf_printf(&s->tried, "%s%s", s->tried.len ? ", " : "", path);
    if (os_exists(path) && (!s->fits || !others || s->fits(s->cg, path)))
        s->found = str_copy(s->cg->arena, path, strlen(path)).bytes;
    return s->found;
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

static void make_optional(Cg *cg, LLVMModuleRef library) {
    LLVMSetTarget(library, LLVMGetTarget(cg->mod)); /* an older spelling of the same layout */
    LLVMSetModuleDataLayout(library, cg->layout);
    for (Value fn = LLVMGetFirstFunction(library); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn)) LLVMSetLinkage(fn, LLVMLinkOnceODRLinkage);
}

static bool link_module(Cg *cg, LLVMModuleRef library, const char *path, const char *prefix) {
    make_optional(cg, library);
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

/* -- parts that are kept ---------------------------------------------------------------------- */

/* The file as it is now, the variant, and the functions that are asked for. */
static const char *key_of(Cg *cg, const char *path, const char *prefix, const char *variant) {
    OsStamp stamp = {0};
    StrBuf key;
    if (!os_stamp(path, &stamp)) return NULL;
    buf_init(&key, cg->arena);
    buf_printf(&key, "%s %s ", path, variant);
    for (size_t i = 0; i < sizeof stamp; i++)
        buf_printf(&key, "%02x", ((const unsigned char *)&stamp)[i]);
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn))
        if (is_wanted(fn, prefix) && LLVMIsDeclaration(fn))
            buf_printf(&key, " %s", LLVMGetValueName(fn));
    return buf_take(&key).bytes;
}

static const KeptPart *find_part(const LlvmState *llvm, const char *key) {
    for (int i = 0; i < QN_MIN(llvm->nparts, KEPT_PARTS); i++)
        if (strcmp(llvm->parts[i].key, key) == 0) return &llvm->parts[i];
    return NULL;
}

static const KeptPart *keep_part(LlvmState *llvm, const char *key, LLVMModuleRef part) {
    LLVMMemoryBufferRef buffer = LLVMWriteBitcodeToMemoryBuffer(part);
    size_t n = LLVMGetBufferSize(buffer);
    char *copy = malloc(n + 1), *name = strdup(key);
    KeptPart *place = &llvm->parts[llvm->nparts % KEPT_PARTS];
    if (copy && name) {
        memcpy(copy, LLVMGetBufferStart(buffer), n);
        copy[n] = 0;
        free(place->key);
        free(place->bitcode);
        *place = (KeptPart){name, copy, n};
        llvm->nparts++;
    } else {
        free(copy);
        free(name);
        place = NULL;
    }
    LLVMDisposeMemoryBuffer(buffer);
    return place;
}

/* All but those that are asked for are the part's own. */
static void hide_others(LLVMModuleRef part, const Value *wanted, int32_t n) {
    for (Value fn = LLVMGetFirstFunction(part); fn; fn = LLVMGetNextFunction(fn)) {
        bool is_own = !LLVMIsDeclaration(fn);
        for (int32_t i = 0; i < n && is_own; i++)
            is_own = strcmp(LLVMGetValueName(wanted[i]), LLVMGetValueName(fn)) != 0;
        if (!LLVMIsDeclaration(fn))
            LLVMSetLinkage(fn, is_own ? LLVMInternalLinkage : LLVMExternalLinkage);
    }
}

/* A module that has the functions of the library that this one asks for. */
static const KeptPart *make_part(Cg *cg, const char *path, const char *prefix, const char *key,
                                 bool (*finish)(Cg *cg, LLVMModuleRef part)) {
    LLVMModuleRef library = load(cg, path);
    if (!library) return NULL;
    LLVMModuleRef part = LLVMModuleCreateWithNameInContext("part", cg->context);
    LLVMSetTarget(part, LLVMGetTarget(cg->mod));
    LLVMSetModuleDataLayout(part, cg->layout);
    make_optional(cg, library);
    Vec(Value) wanted = {0};
    for (Value fn = LLVMGetFirstFunction(cg->mod); fn; fn = LLVMGetNextFunction(fn)) {
        if (!is_wanted(fn, prefix) || !LLVMIsDeclaration(fn)) continue;
        LLVMAddFunction(part, LLVMGetValueName(fn), LLVMGlobalGetValueType(fn));
        vec_push(cg->arena, &wanted, fn);
    }
    bool linked = !LLVMLinkModules2(part, library);
    if (linked) hide_others(part, wanted.items, wanted.len);
    linked = linked && finish(cg, part);
    const KeptPart *kept = linked ? keep_part(cg->llvm, key, part) : NULL;
    LLVMDisposeModule(part);
    return kept;
}

static LLVMModuleRef load_part(Cg *cg, const KeptPart *part) {
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(part->bitcode, part->size, "part", 1);
    LLVMModuleRef module = NULL;
    return LLVMGetBitcodeModuleInContext2(cg->context, buffer, &module) ? NULL : module;
}

bool devlib_link_kept(Cg *cg, const char *path, const char *prefix, const char *variant,
                      bool (*finish)(Cg *cg, LLVMModuleRef part)) {
    const char *key = key_of(cg, path, prefix, variant);
    const KeptPart *part = key ? find_part(cg->llvm, key) : NULL;
    if (key && !part) part = make_part(cg, path, prefix, key, finish);
    LLVMModuleRef module = part ? load_part(cg, part) : NULL;
    if (module) return link_module(cg, module, path, prefix);
    return !cg->failed && devlib_link(cg, path, prefix);
}
