/* instances.h - functions that are compiled once in a process and shared by all code that calls them.
 *
 * An instance is a module of its own: a function of the library or the user beyond a small size, with the small ones it
 * calls. Its key is a hash of all that its machine code depends on, so that whoever lowers the same function finds it. Code
 * that calls instances holds them; the last one to go takes them along. No LLVM here: llvm/cg_unit.c makes them. */
#ifndef QUERN_INSTANCES_H
#define QUERN_INSTANCES_H

#include "frontend/base/hash.h"

typedef struct Instance Instance;
struct HostCode;

/* What LLVM found out about the function, for those who only see its declaration. */
typedef struct InstanceFact {
    uint32_t attribute; /* LLVM's number */
    uint64_t value;
} InstanceFact;
enum { INSTANCE_FACTS = 8 };

/* The instance of that key, held. *make: there was none, and the caller is to make it, then to call instance_made or
 * instance_failed; others who want it wait for that, so whoever makes one must not wait for another. NULL: no memory. */
Instance *instance_get(Hash128 key, bool *make);
/* `code` belongs to the instance from now on. */
void instance_made(Instance *instance, struct HostCode *code, void *address,
                   const InstanceFact *facts, int32_t nfacts);
/* Gives up what instance_get has handed out, with the reference. */
void instance_failed(Instance *instance);
void instance_hold(Instance *instance);
void instance_release(Instance *instance);

Hash128 instance_key(const Instance *instance);
void *instance_address(const Instance *instance);
/* Their number. */
int32_t instance_facts(const Instance *instance, InstanceFact facts[INSTANCE_FACTS]);

#endif
