/* host_code.h - machine code in this process: loaded, known to debuggers, dropped. No LLVM. */
#ifndef QUERN_HOST_CODE_H
#define QUERN_HOST_CODE_H

#include "codegen/lazy.h"
#include "frontend/base/base.h"

typedef struct HostCode HostCode;

/* An object file whose function `symbol` is the entry; what it does not define are the names of support.h, functions of
 * glibc's vector library and addresses of this process. `lazy`, if not NULL, belongs to the code from now on, also where
 * it cannot be loaded; the object then has its table. NULL: `error` says why. Any thread. */
HostCode *host_code_load(const char *object, size_t size, const char *symbol, LazyCode *lazy,
                         void **entry, char *error, size_t error_size);
/* A HostCode; no call may be inside it. */
void host_code_drop(void *code);

/* The name of an address of this process: memory that code refers to in place. `label` tells two names of one address
 * apart. */
enum { HOST_ADDRESS_NAME = 64 };
void host_address_name(char name[HOST_ADDRESS_NAME], const void *address, uint64_t label);

#endif
