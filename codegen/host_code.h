/* host_code.h - machine code in this process: loaded, known to debuggers, dropped. No LLVM. */
#ifndef QUERN_HOST_CODE_H
#define QUERN_HOST_CODE_H

#include "codegen/instances.h"
#include "codegen/lazy.h"
#include "frontend/base/base.h"

typedef struct HostCode HostCode;

/* The k-th instance that an object calls has this name in it, with k behind it. */
#define HOST_INSTANCE_PREFIX "quern.instance."

typedef struct HostObject {
    const char *object; /* an object file, not needed afterwards */
    size_t size;
    const char *symbol; /* its function that is the entry */
    int32_t naddresses; /* what it names by HOST_ADDRESS_PREFIX and a number */
    const CodeAddress *addresses;
    LazyCode
        *lazy; /* NULL, or it belongs to the code from now on, also where that cannot be loaded */
    int32_t ninstances; /* that it calls; the code holds them */
    Instance *const *instances;
} HostObject;

/* What the object does not define are its addresses, instances, the names of support.h and functions of glibc's vector library. With
 * `lazy` it has a LazyTable. NULL: `error` says why. Any thread. */
HostCode *host_code_load(const HostObject *object, void **entry, char *error, size_t error_size);
/* A HostCode; no call may be inside it. */
void host_code_drop(void *code);
/* What it calls, held by it; their number. */
int32_t host_code_instances(const HostCode *code, Instance *const **instances);
/* Its functions that were not compiled yet; NULL: none. */
LazyCode *host_code_lazy(const HostCode *code);
/* Do `n` bytes at `at`, for pointers, lie in it? */
bool host_code_contains(const HostCode *code, const void *at, size_t n);

#endif
