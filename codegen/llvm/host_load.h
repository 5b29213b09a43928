/* host_load.h - linking host code, and the code that is compiled later. */
#ifndef QUERN_HOST_LOAD_H
#define QUERN_HOST_LOAD_H

#include "codegen/llvm/cg.h"

typedef struct LazyCode LazyCode;

/* Takes the session's second module; NULL: no memory. */
LazyCode *lazy_keep(Cg *cg);
/* `table` is where linking put the stubs' table. */
void lazy_bind(LazyCode *code, void *table);
void lazy_free(LazyCode *code); /* NULL is allowed */

/* Frees the machine code behind Artifact.host_code. No call may be inside it. */
void host_code_drop(void *handle);
/* LLVM gave up on this thread: if it was linking, its linker is abandoned. */
void host_code_fatal(void);
/* Around a fork. `quiet`: no code is being made, and the linker's lock is waited for. `midway`: the child cannot
 * know what the linker was doing, and goes on with another. */
void host_code_before_fork(bool quiet);
void host_code_after_fork(bool parent, bool midway);

#endif
