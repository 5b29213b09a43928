/* host_code.c - an image (elf_load.h), the debuggers' copy of its object file, and its lazy functions. */
#include "codegen/host_code.h"
#include "codegen/elf_load.h"
#include "codegen/gdb.h"
#include "codegen/support.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct HostCode {
    ElfImage image;
    LazyCode *lazy; /* or NULL */
    GdbCode *gdb;   /* or NULL */
};

/* -- the debuggers' list ----------------------------------------------------------------------- */

static pthread_mutex_t gdb_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t gdb_once = PTHREAD_ONCE_INIT;

/* In the child of a fork that came while another thread held the lock: the list can be walked and changed at every step of
 * a change, it may have one entry more. */
static void after_fork(void) {
    pthread_mutex_init(&gdb_lock, NULL);
}

static void install(void) {
    pthread_atfork(NULL, NULL, after_fork);
}

/* -- names ------------------------------------------------------------------------------------- */

#define ADDRESS_PREFIX "quern.at."

void host_address_name(char name[HOST_ADDRESS_NAME], const void *address, uint64_t label) {
    snprintf(name, HOST_ADDRESS_NAME, ADDRESS_PREFIX "%" PRIxPTR ".%" PRIx64, (uintptr_t)address,
             label);
}

static void *find(const char *name, void *user) {
    (void)user;
    size_t n = strlen(ADDRESS_PREFIX);
    if (strncmp(name, ADDRESS_PREFIX, n) == 0)
        return (void *)(uintptr_t)strtoull(name + n, NULL, 16);
    if (strncmp(name, "_ZGV", 4) == 0) return support_vector_symbol(name);
    const SupportFunction *function = support_find(name);
    void *address = NULL;
    if (function) memcpy(&address, &function->address, sizeof address);
    return address;
}

/* -- loading ----------------------------------------------------------------------------------- */

HostCode *host_code_load(const char *object, size_t size, const char *symbol, LazyCode *lazy,
                         void **entry, char *error, size_t error_size) {
    pthread_once(&gdb_once, install);
    const char *wanted[] = {symbol, lazy ? lazy_table_name(lazy) : NULL};
    void *addresses[2];
    ElfRequest request = {object, size, find, NULL, lazy ? 2 : 1, wanted, addresses};
    HostCode *code = calloc(1, sizeof *code);
    if (!code || !elf_load(&request, &code->image, error, error_size)) {
        if (!code) snprintf(error, error_size, "out of memory");
        lazy_free(lazy);
        free(code);
        return NULL;
    }
    if (lazy) lazy_bind(lazy, addresses[1]);
    code->lazy = lazy;
    GdbCode *gdb = gdb_keep(object, size);
    pthread_mutex_lock(&gdb_lock);
    code->gdb = gdb_register(gdb, symbol, addresses[0]);
    pthread_mutex_unlock(&gdb_lock);
    *entry = addresses[0];
    return code;
}

void host_code_drop(void *handle) {
    HostCode *code = handle;
    if (!code) return;
    lazy_free(code->lazy);
    pthread_mutex_lock(&gdb_lock);
    gdb_unregister(code->gdb);
    pthread_mutex_unlock(&gdb_lock);
    elf_unload(&code->image);
    free(code);
}
