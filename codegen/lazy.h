/* lazy.h - host code that is compiled when it is first called: the checked copies of loop nests. */
#ifndef QUERN_LAZY_H
#define QUERN_LAZY_H

#include <stdatomic.h>
#include <stdint.h>

/* In the writable data of host code: `code` is filled in after linking, the slots when the functions are
 * compiled. Generated code reads slot k and asks for it when it is empty. */
struct LazyCode;
typedef struct LazyTable {
    struct LazyCode *code;
    _Atomic(void *) slots[];
} LazyTable;

/* Called by generated code, on any thread. NULL: it could not be compiled, or the context's poll asked to
 * stop meanwhile. */
struct CallContext;
void *quern_lazy_code(LazyTable *table, int32_t slot, struct CallContext *ctx);

#endif
