/* llvm_open.c - opens the library of LLVM, which lies beside the extension. The extension only (CMakeLists.txt).
 *
 * Nothing is looked up by the dynamic linker, whose global scope may have other functions of the same names: the library is told
 * the addresses of what it needs of us, and tells the address of what we need of it. Nothing closes it. */
#include "codegen/instances.h"
#include "codegen/lower.h"
#include "codegen/memo.h"
#include "codegen/objects.h"
#include "codegen/opt/pass.h"
#include "codegen/strings.h"
#include "codegen/support.h"
#include "codegen/target.h"
#include "codegen/host_code.h"
#include "frontend/base/environment.h"
#include "frontend/base/os.h"
#include "frontend/ir/ir.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

enum { OPEN_ROOM = 8 << 20 }; /* what the linker and initial values want beside the file */

static const LlvmNeed needs[] = {
#define NEED(name) (LlvmNeed) name,
#include "codegen/llvm_needs.def"
#undef NEED
};

const LlvmHalf *llvm_half_find(char *error, size_t error_size) {
    char path[PATH_MAX];
    if (!cg_llvm_library(path, sizeof path)) {
        snprintf(error, error_size, "the extension does not know where it was loaded from");
        return NULL;
    }
    error[0] = 0;
    struct stat file;
    if (!stat(path, &file) && !os_has_memory((size_t)file.st_size + OPEN_ROOM)) return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    LlvmOpen open = library ? (LlvmOpen)(uintptr_t)dlsym(library, LLVM_OPEN_NAME) : NULL;
    const LlvmHalf *half = open ? open(needs, countof(needs)) : NULL;
    if (half) return half;
    const char *why = library ? "it is of another build" : dlerror();
    snprintf(error, error_size, "the library of LLVM cannot be opened: %s", why ? why : path);
    if (library) dlclose(library);
    return NULL;
}
