/* store.h - artifacts as bytes, for the disk cache.
 *
 * What an artifact names in its process goes by a path (frontend/resolver.h) and comes back by it. Reading trusts nothing:
 * every count and offset is tested, and damaged bytes are refused. No Python, no LLVM. */
#ifndef QUERN_STORE_H
#define QUERN_STORE_H

#include "codegen/artifact.h"
#include "codegen/instances.h"

/* One description of each structure serves both directions: with `out` values are appended to it, without one they are
 * taken from the front of [at, end) and made in `arena`. Something that is not there, or makes no sense, sets `why`, and
 * from then on everything read is 0 or empty. */
typedef struct Codec {
    StrBuf *out; /* NULL: reading */
    const char *at, *end;
    Arena *arena;
    const char *why; /* static; NULL: all is well */
} Codec;

void code_i32(Codec *c, int32_t *value);
void code_u32(Codec *c, uint32_t *value);
void code_u16(Codec *c, uint16_t *value);
void code_u8(Codec *c, uint8_t *value);
void code_bool(Codec *c, bool *value);
void code_str(Codec *c, Str *text);
void code_hash(Codec *c, Hash128 *hash);
/* Items that take a byte each at least; made where they are read. */
void *code_items(Codec *c, const void *items, int32_t *n, size_t size);
void code_fail(Codec *c, const char *why);

/* A file of the disk cache: eight bytes that say what it is, a checksum of the rest, the rest. */
enum { STORE_MAGIC = 8 };
void store_begin(StrBuf *out, const char *magic);
void store_seal(StrBuf *out);
/* `c` reads behind the head. false: c->why. */
bool store_open(Codec *c, Str file, const char *magic);

enum { CLASS_MEMBERS = -1, CLASS_ONE_OBJECT = -2 };

typedef struct StoreNames {
    void *user;
    Str (*path)(void *user, void *handle); /* empty: it has none */
    /* NULL: it is not there any more. `first`: of an array its first element, of a function of C its address. */
    void *(*handle)(void *user, Str path, const void **first);
    /* The class of values with n fields, or of the members of an enumeration, or such a member, or a function that is an argument. NULL: it is not there any more. */
    void *(*class_of)(void *user, Str path, int32_t n);
    const CodeOwner *owner; /* of what is read, if it is of ENTRY_C */
} StoreNames;
/* Nothing is named by a path: for what belongs to no program. */
extern const StoreNames store_no_names;

/* Compiles what would be compiled at its first call: waits for a worker. false: that is not possible. */
bool store_prepare(const Artifact *artifact);
/* All of an artifact but its dependencies; host code must have been kept (keep_object), and store_prepare called.
 * false: it cannot be stored, see c->why. */
bool store_write(Codec *c, const Artifact *artifact, const StoreNames *names);
/* Of what is prepared: the instances that an artifact calls, and those that they call, callees first, for free(). NULL: none, or no memory. */
Instance **store_instances(const Artifact *artifact, int32_t *n);
/* One alone. What it calls is left out: the key has the keys of that. */
bool store_write_instance(Codec *c, Instance *instance);
/* Makes one that the caller has claimed (instances.h). `needs`: what it calls, in the order of the code that wrote it. false: it is
 * claimed as before. */
bool store_read_instance(Codec *c, Instance *claimed, Instance *const *needs, int32_t nneeds);
/* A new artifact. NULL: `error` says why. c->arena is for what is needed in between. */
Artifact *store_read(Codec *c, const StoreNames *names, const Allocator *allocator, char *error,
                     size_t error_size);

#endif
