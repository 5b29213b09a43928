/* store.h - artifacts as bytes, for the disk cache.
 *
 * What an artifact names in its process goes by a path (frontend/resolver.h) and comes back by it. Reading trusts nothing:
 * every count and offset is tested, and damaged bytes are refused. No Python, no LLVM. */
#ifndef QUERN_STORE_H
#define QUERN_STORE_H

#include "codegen/artifact.h"

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

typedef struct StoreNames {
    void *user;
    Str (*path)(void *user, void *handle); /* empty: it has none */
    /* NULL: it is not there any more. `first`: of an array its first element. */
    void *(*handle)(void *user, Str path, const void **first);
} StoreNames;

/* Compiles what would be compiled at its first call: waits for a worker. false: that is not possible. */
bool store_prepare(const Artifact *artifact);
/* All of an artifact but its dependencies and its texts; host code must have been kept (keep_object), and store_prepare called.
 * false: it cannot be stored, see c->why. */
bool store_write(Codec *c, const Artifact *artifact, const StoreNames *names);
/* A new artifact. NULL: `error` says why. c->arena is for what is needed in between. */
Artifact *store_read(Codec *c, const StoreNames *names, const Allocator *allocator, char *error,
                     size_t error_size);

#endif
