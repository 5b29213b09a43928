/* elf_load.h - one relocatable object of host code (ELF, x86-64) into the memory of this process.
 *
 * The object is closed: what it does not define itself is asked of `find`. Code and constants become executable and
 * read-only, data writable; no page is ever both writable and executable. The object's bytes are looked at with
 * suspicion: they may come from a file. No LLVM, no locks, no state. */
#ifndef QUERN_ELF_LOAD_H
#define QUERN_ELF_LOAD_H

#include "frontend/base/base.h"

typedef struct ElfRequest {
    const char *object; /* at any alignment; not needed afterwards */
    size_t size;
    /* The address of a name that the object does not define; NULL: there is none. */
    void *(*find)(const char *name, void *user);
    void *user;
    /* Names that the object defines, and their addresses when it has been loaded. */
    int32_t nwanted;
    const char *const *wanted;
    void **addresses;
    /* NULL, or room for the addresses of as many sections; 0: it is not loaded. */
    int32_t nplaces;
    uint64_t *places;
} ElfRequest;

typedef struct ElfImage {
    char *memory; /* NULL: not loaded */
    size_t size;
    size_t data; /* where what may be written begins; it goes to the end */
} ElfImage;

/* false: `error` says why, and nothing is left behind. */
bool elf_load(const ElfRequest *request, ElfImage *image, char *error, size_t error_size);
/* No code of it may be running. */
void elf_unload(ElfImage *image);

#endif
