/* devlib.h - private to target/: finding and linking libraries of device functions in LLVM bitcode. */
#ifndef QUERN_DEVLIB_H
#define QUERN_DEVLIB_H

#include "codegen/llvm/cg.h"

/* A search for one file: the first path that exists (and fits) is found; all are noted for the message. */
typedef struct DevSearch {
    Cg *cg;
    bool (*fits)(Cg *cg, const char *path); /* asked of others' libraries; may be NULL */
    StrBuf tried;
    const char *found;
} DevSearch;

/* LibrarySearch.look. */
bool devlib_look(void *user, const char *path, bool others);

/* Does the module call a function with this prefix that it does not define? */
bool devlib_needed(const Cg *cg, const char *prefix);
/* Links those from a library. false: diagnostics. */
bool devlib_link(Cg *cg, const char *path, const char *prefix);
/* The same, and keeps them for the next module that asks for these and for the same `variant`. The first time `finish` makes of what the
 * library has what the variant needs. */
bool devlib_link_kept(Cg *cg, const char *path, const char *prefix, const char *variant,
                      bool (*finish)(Cg *cg, LLVMModuleRef part));

#endif
