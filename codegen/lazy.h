/* lazy.h - host code that is compiled when it is first called: the checked copies of loop nests.
 *
 * In the writable data of host code lies a LazyTable: `code` is filled in after loading, each slot when its function is
 * compiled. Generated code reads slot k and asks for it when it is empty. No LLVM here: a LazyModule is bytes, and
 * `lower_lazy` (lower.h) is what makes code of them on a worker. Where a file is to have them, all of them become one object
 * file, which is loaded at the first call of any, without LLVM. */
#ifndef QUERN_LAZY_H
#define QUERN_LAZY_H

#include "codegen/codegen.h"

typedef struct LazyCode LazyCode;
typedef struct LazyTable {
    LazyCode *code;
    _Atomic(void *) slots[];
} LazyTable;

/* Functions of one compilation that are lazy, as LLVM bitcode. Under `symbol` the module has the list of their addresses;
 * `table` names the LazyTable of the code that calls them. */
typedef struct LazyModule {
    int32_t nslots;
    CompileOptions options; /* what code generation asks of them */
    const char *pipeline, *symbol, *table;
    const char *bitcode; /* NULL: what was read from a file has machine code only */
    size_t size;
    const char
        *object; /* machine code of all of them, where it was made (lazy_make_object); or NULL */
    size_t object_size;
    int32_t naddresses; /* those of the code that calls them */
    const CodeAddress *addresses;
    bool keep; /* the bitcode stays when all of it was compiled: others may want to store it */
} LazyModule;

/* A copy of all of it. NULL: no memory. */
LazyCode *lazy_new(const LazyModule *module);
void lazy_free(LazyCode *code); /* NULL is allowed; with what was compiled */
/* Not after all of it was compiled, unless it is kept: then NULL. */
const LazyModule *lazy_module(const LazyCode *code);
const char *lazy_table_name(const LazyCode *code);
size_t lazy_table_size(const LazyCode *code);
/* Fills in the module's `object`, if it is not there. false: it could not be made. Waits for a worker. */
bool lazy_make_object(LazyCode *code);
/* Where loading put the table. */
void lazy_bind(LazyCode *code, void *table);

/* A job of a worker: user is a LazyJob. */
typedef struct LazyJob {
    const LazyModule *module;
    int32_t slot;          /* of the function that is wanted; -1: `object` is */
    struct HostCode *code; /* the outcome; NULL: it could not be made */
    void *address;
    char *object; /* malloc'ed; NULL: it could not be made */
    size_t object_size;
} LazyJob;

/* Called by generated code, on any thread. NULL: it could not be compiled, or the context's poll asked to
 * stop meanwhile. */
struct CallContext;
void *quern_lazy_code(LazyTable *table, int32_t slot, struct CallContext *ctx);

#endif
