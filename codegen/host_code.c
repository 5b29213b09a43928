/* host_code.c - an image (elf_load.h), the debuggers' copy of its object file, and its lazy functions. */
#include "codegen/host_code.h"
#include "codegen/elf_load.h"
#include "codegen/gdb.h"
#include "codegen/support.h"
#include "frontend/base/environment.h"
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct HostCode {
    ElfImage image;
    LazyCode *lazy; /* or NULL */
    GdbCode *gdb;   /* or NULL */
    int32_t ninstances;
    Instance *instances[];
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

static void *find(const char *name, void *user) {
    const HostObject *object = user;
    size_t n = strlen(HOST_ADDRESS_PREFIX);
    if (strncmp(name, HOST_ADDRESS_PREFIX, n) == 0) {
        unsigned long k = strtoul(name + n, NULL, 10);
        return k < (unsigned long)object->naddresses ? (void *)object->addresses[k].address : NULL;
    }
    n = strlen(HOST_INSTANCE_PREFIX);
    if (strncmp(name, HOST_INSTANCE_PREFIX, n) == 0) {
        unsigned long k = strtoul(name + n, NULL, 10);
        return k < (unsigned long)object->ninstances ? instance_address(object->instances[k])
                                                     : NULL;
    }
    if (strncmp(name, "_ZGV", 4) == 0) return support_vector_symbol(name);
    const SupportFunction *function = support_find(name);
    void *address = NULL;
    if (function) memcpy(&address, &function->address, sizeof address);
    return address;
}

/* Are there n bytes that may be written? */
static bool can_hold(const ElfImage *image, const void *at, size_t n) {
    uint64_t offset = (uint64_t)(uintptr_t)at - (uint64_t)(uintptr_t)image->memory;
    return offset % sizeof(void *) == 0 && offset >= image->data && offset <= image->size &&
           n <= image->size - offset;
}

/* For tests: the object under a hash of its bytes. Another process may be writing it, too. */
static void keep_object(const HostObject *object) {
    const char *folder = env_value(ENV_KEEP_OBJECTS);
    char path[PATH_MAX], fresh[PATH_MAX + 32];
    if (!folder) return;
    Hash128 hash = hash_bytes(object->object, object->size);
    int n = snprintf(path, sizeof path, "%s/%016llx%016llx.o", folder, (unsigned long long)hash.hi,
                     (unsigned long long)hash.lo);
    if (n >= (int)sizeof path || access(path, F_OK) == 0) return;
    snprintf(fresh, sizeof fresh, "%s.%ld.%p", path, (long)getpid(), (void *)&path);
    FILE *out = fopen(fresh, "wb");
    bool whole = out && fwrite(object->object, 1, object->size, out) == object->size;
    if (out && fclose(out) == 0 && whole)
        rename(fresh, path);
    else if (out)
        unlink(fresh);
}

/* -- loading ----------------------------------------------------------------------------------- */

HostCode *host_code_load(const HostObject *object, void **entry, char *error, size_t error_size) {
    pthread_once(&gdb_once, install);
    LazyCode *lazy = object->lazy;
    const char *wanted[] = {object->symbol, lazy ? lazy_table_name(lazy) : NULL};
    void *addresses[2];
    ElfRequest request = {.object = object->object,
                          .size = object->size,
                          .find = find,
                          .user = (void *)object,
                          .nwanted = lazy ? 2 : 1,
                          .wanted = wanted,
                          .addresses = addresses};
    HostCode *code = calloc(1, sizeof *code + sizeof(Instance *) * (size_t)object->ninstances);
    if (!code) snprintf(error, error_size, "out of memory");
    bool ok = code && elf_load(&request, &code->image, error, error_size);
    if (ok && lazy && !can_hold(&code->image, addresses[1], lazy_table_size(lazy))) {
        snprintf(error, error_size, "the table of lazy functions lies outside of the data");
        elf_unload(&code->image);
        ok = false;
    }
    if (!ok) {
        lazy_free(lazy);
        free(code);
        return NULL;
    }
    if (lazy) lazy_bind(lazy, addresses[1]);
    keep_object(object);
    code->lazy = lazy;
    for (; code->ninstances < object->ninstances; code->ninstances++)
        instance_hold(code->instances[code->ninstances] = object->instances[code->ninstances]);
    GdbCode *gdb = gdb_keep(object->object, object->size);
    pthread_mutex_lock(&gdb_lock);
    code->gdb = gdb_register(gdb, object->symbol, addresses[0]);
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
    for (int32_t i = 0; i < code->ninstances; i++)
        instance_release(code->instances[i]);
    free(code);
}

LazyCode *host_code_lazy(const HostCode *code) {
    return code->lazy;
}

bool host_code_contains(const HostCode *code, const void *at, size_t n) {
    uint64_t offset = (uint64_t)(uintptr_t)at - (uint64_t)(uintptr_t)code->image.memory;
    return offset % sizeof(void *) == 0 && offset <= code->image.size &&
           n <= code->image.size - offset;
}

int32_t host_code_instances(const HostCode *code, Instance *const **instances) {
    *instances = code->instances;
    return code->ninstances;
}
