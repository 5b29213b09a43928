/* host_load.h - linking host code, and the code that is compiled later. */
#ifndef QUERN_HOST_LOAD_H
#define QUERN_HOST_LOAD_H

#include "codegen/host_code.h"
#include "codegen/llvm/cg.h"

typedef struct LazyCode LazyCode;

/* Takes the session's second module; NULL: no memory. */
LazyCode *lazy_keep(Cg *cg);
/* `table` is where linking put the stubs' table. */
void lazy_bind(LazyCode *code, void *table);
void lazy_free(LazyCode *code); /* NULL is allowed */

#endif
