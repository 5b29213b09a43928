/* bits.h - fixed-size bit sets in an arena. */
#ifndef QUERN_BITS_H
#define QUERN_BITS_H

#include "frontend/base/arena.h"

typedef struct Bits {
    uint64_t *words;
    int32_t n; /* number of bits */
} Bits;

static inline Bits bits_new(Arena *arena, int32_t n) {
    return (Bits){arena_array(arena, uint64_t, (n + 63) / 64), n};
}
static inline bool bits_get(const Bits *b, int32_t i) {
    return (b->words[i >> 6] >> (i & 63)) & 1;
}
static inline void bits_set(Bits *b, int32_t i) {
    b->words[i >> 6] |= UINT64_C(1) << (i & 63);
}
static inline void bits_clear(Bits *b, int32_t i) {
    b->words[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}
/* a |= b; true when a changed. */
static inline bool bits_or(Bits *a, const Bits *b) {
    bool changed = false;
    for (int32_t i = 0; i < (a->n + 63) / 64; i++) {
        uint64_t w = a->words[i] | b->words[i];
        changed |= w != a->words[i];
        a->words[i] = w;
    }
    return changed;
}

#endif
