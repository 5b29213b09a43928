/* vec.c - the one function behind the macros of vec.h. */
#include "frontend/base/vec.h"

void *vec_grow_(Arena *arena, void *items, int32_t *cap, int32_t need, size_t item_size) {
    if (need < 0 || need == INT32_MAX) arena_oom(arena); /* len + 1 went round */
    int64_t want = QN_MAX((int64_t)*cap * 2, (int64_t)need);
    want = QN_MAX(want, 8);
    want = QN_MIN(want, INT32_MAX - 1);
    if ((size_t)want > SIZE_MAX / 4 / item_size) arena_oom(arena);
    void *grown = arena_grow(arena, items, (size_t)*cap * item_size, (size_t)want * item_size);
    *cap = (int32_t)want;
    return grown;
}
