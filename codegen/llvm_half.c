/* llvm_half.c - finds the half of code generation that needs LLVM when the first job comes. */
#include "codegen/lower.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic(const LlvmHalf *) found;

/* Two threads may look at once: both find the same. */
const LlvmHalf *llvm_half(char *error, size_t error_size) {
    const LlvmHalf *half = atomic_load_explicit(&found, memory_order_acquire);
    if (!half && (half = llvm_half_find(error, error_size)))
        atomic_store_explicit(&found, half, memory_order_release);
    return half;
}

/* /x/quern/_quern.cpython-311-x86_64-linux-gnu.so: there, libquern_llvm.cpython-311-x86_64-linux-gnu.so. */
bool cg_llvm_library(char *path, size_t size) {
    static const char stem[] = "_quern";
    Dl_info self;
    if (!dladdr((void *)(uintptr_t)&cg_llvm_library, &self)) return false;
    const char *slash = strrchr(self.dli_fname, '/');
    const char *name = slash ? slash + 1 : self.dli_fname;
    if (strncmp(name, stem, sizeof stem - 1) != 0) return false;
    int n = snprintf(path, size, "%.*slibquern_llvm%s", (int)(name - self.dli_fname),
                     self.dli_fname, name + sizeof stem - 1);
    return n > 0 && (size_t)n < size;
}

static LlvmState *start(void (*fatal)(const char *reason)) {
    char error[8];
    const LlvmHalf *half = llvm_half(error, sizeof error);
    return half ? half->hooks->start(fatal) : NULL;
}

static LlvmState *fresh(void) {
    char error[8];
    const LlvmHalf *half = llvm_half(error, sizeof error);
    return half ? half->hooks->fresh() : NULL;
}

const WorkerHooks llvm_half_hooks = {.start = start, .fresh = fresh};
