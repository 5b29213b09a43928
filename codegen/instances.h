/* instances.h - functions that are compiled once in a process and shared by all code that calls them.
 *
 * An instance is a module of its own: a function of the library or the user beyond a small size, with the small ones it
 * calls. Its key is a hash of all that its machine code depends on, so that whoever lowers the same function finds it. Code
 * that calls instances holds them; of those that nothing calls any more the last few hundred are kept. No LLVM here: llvm/cg_unit.c makes them. */
#ifndef QUERN_INSTANCES_H
#define QUERN_INSTANCES_H

#include "codegen/artifact.h"

typedef struct Instance Instance;
struct HostCode;

/* What LLVM found out about the function, for those who only see its declaration. */
typedef struct InstanceFact {
    uint32_t attribute; /* below INSTANCE_FACTS: one of those that cg_unit.c knows */
    uint64_t value;
} InstanceFact;
enum { INSTANCE_FACTS = 5 };

/* What an instance is made of; an artifact that calls it is stored with a copy. */
typedef struct InstanceParts {
    const char *symbol; /* of its function, in the object file */
    const char *object;
    size_t size;
    int32_t naddresses, nneeds, nfacts;
    const CodeAddress *addresses;
    Instance *const *needs; /* what it calls: the code holds them */
    InstanceFact facts[INSTANCE_FACTS];
    bool read; /* from the disk */
} InstanceParts;

/* The instance of that key, held. *make: there was none, and the caller is to make it, then to call instance_made or
 * instance_failed; others who want it wait for that, so whoever makes one must not wait for another. NULL: no memory. */
Instance *instance_get(Hash128 key, bool *make);
/* The same where there is one already; else NULL. */
Instance *instance_find(Hash128 key);
/* `code` belongs to the instance from now on; the parts are copied. false: no memory, and nothing was done. */
bool instance_made(Instance *instance, struct HostCode *code, void *address,
                   const InstanceParts *parts);
/* Gives up what instance_get has handed out, with the reference. */
void instance_failed(Instance *instance);
void instance_hold(Instance *instance);
void instance_release(Instance *instance);

Hash128 instance_key(const Instance *instance);
void *instance_address(const Instance *instance);
struct HostCode *instance_code(const Instance *instance);
const InstanceParts *instance_parts(const Instance *instance);

#endif
