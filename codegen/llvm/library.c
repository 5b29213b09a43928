/* library.c - the door of the library of LLVM: in the extension's build only (CMakeLists.txt).
 *
 * What the other half defines is called through a table that it fills when it opens the library (llvm_open.c): each function
 * has a jump of its name here. */
#include "codegen/lower.h"

enum {
#define NEED(name) NEED_##name,
#include "codegen/llvm_needs.def"
#undef NEED
    NEEDS
};

__attribute__((visibility("hidden"), used)) LlvmNeed quern_llvm_table[NEEDS];

/* clang-format off */
__asm__(".text\n"
        "quern_llvm_slot = 0\n"
#define NEED(name)                                                                                 \
        ".globl " #name "\n.hidden " #name "\n.type " #name ", @function\n"                        \
        #name ": jmp *quern_llvm_table+quern_llvm_slot(%rip)\n"                                     \
        "quern_llvm_slot = quern_llvm_slot + 8\n"
#include "codegen/llvm_needs.def"
#undef NEED
);
/* clang-format on */

__attribute__((visibility("default"))) const LlvmHalf *quern_llvm_open(const LlvmNeed *needs,
                                                                       size_t n);

const LlvmHalf *quern_llvm_open(const LlvmNeed *needs, size_t n) {
    if (n != NEEDS) return NULL;
    for (size_t i = 0; i < n; i++)
        quern_llvm_table[i] = needs[i];
    return llvm_half_find(NULL, 0);
}

/* The process may end while code is generated. The worker is not waited for then (it may be busy for seconds, after a Ctrl-C,
 * say), and would meet destroyed objects. So the destructors of LLVM's and its C++ library's static objects are not registered:
 * the linker gives us what they ask for it (--wrap in CMakeLists.txt). Nothing of theirs needs them; the memory goes with
 * the process. */
int __wrap___cxa_atexit(void (*destructor)(void *), void *object, void *library);

int __wrap___cxa_atexit(void (*destructor)(void *), void *object, void *library) {
    (void)destructor, (void)object, (void)library;
    return 0;
}
