/* hash.h - a 128-bit content hash (keys of caches and dependency logs) and a cheap 64-bit mix. */
#ifndef QUERN_HASH_H
#define QUERN_HASH_H

#include "frontend/base/base.h"

typedef struct Hash128 {
    uint64_t lo, hi;
} Hash128;

typedef struct Hasher {
    uint64_t state[4];
    uint8_t pending[32];
    uint32_t npending;
    uint64_t total;
} Hasher;

/* Streaming; the digest depends on the bytes only, not on how they were split into updates. */
void hash_init(Hasher *h);
void hash_update(Hasher *h, const void *bytes, size_t len);
void hash_u64(Hasher *h, uint64_t value);
Hash128 hash_final(const Hasher *h);
Hash128 hash_bytes(const void *bytes, size_t len);

static inline bool hash_equal(Hash128 a, Hash128 b) {
    return a.lo == b.lo && a.hi == b.hi;
}
static inline uint64_t hash_mix(uint64_t x) {
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    x *= UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

#endif
