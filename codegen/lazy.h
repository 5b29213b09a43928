/* lazy.h - host code that is compiled when it is first called: the checked copies of loop nests.
 *
 * In the writable data of host code lies a LazyTable: `code` is filled in after loading, each slot when its function is
 * compiled. Generated code reads slot k and asks for it when it is empty. No LLVM here: a LazyModule is bytes, and
 * `lower_lazy` (lower.h) is what makes code of them on a worker. */
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
    const char *bitcode;
    size_t size;
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
/* Where loading put the table. */
void lazy_bind(LazyCode *code, void *table);

/* A job of a worker: user is a LazyJob. */
typedef struct LazyJob {
    const LazyModule *module;
    int32_t slot;          /* of the function that is wanted */
    struct HostCode *code; /* the outcome; NULL: it could not be made */
    void *address;
} LazyJob;

/* Called by generated code, on any thread. NULL: it could not be compiled, or the context's poll asked to
 * stop meanwhile. */
struct CallContext;
void *quern_lazy_code(LazyTable *table, int32_t slot, struct CallContext *ctx);

#endif
