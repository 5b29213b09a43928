/* gdb.h - machine code made in this process, to a debugger. */
#ifndef QUERN_GDB_H
#define QUERN_GDB_H

#include "frontend/base/base.h"

typedef struct GdbCode GdbCode;

/* A copy of an object file (ELF), before linking takes it. NULL: no memory. */
GdbCode *gdb_keep(const char *object, size_t size);
/* Its function `symbol` was placed at `address`: a debugger in control of the process is told now, one that attaches
 * later finds it. NULL (and nothing is left of `code`, which may be NULL): there is no such function. This and the next
 * must not run at once. */
GdbCode *gdb_register(GdbCode *code, const char *symbol, const void *address);
/* Before the machine code goes. NULL is allowed. */
void gdb_unregister(GdbCode *code);

#endif
