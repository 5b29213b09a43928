/* sort.c - which vector instructions sort on this processor. */
#include "codegen/sort_impl.h"
#include <stddef.h>

#ifdef __x86_64__
const uint64_t sort_orders[256] = {
#include "codegen/sort_orders.inc"
};
#endif

static const SortRoutines *routines(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return &sort_avx512;
    if (__builtin_cpu_supports("avx2")) return &sort_avx2;
#endif
    return NULL;
}

int64_t quern_sort_words(int64_t kind, void *words, int64_t n) {
    const SortRoutines *r = routines();
    return r && r->words((SortKind)kind, words, n);
}

int64_t quern_sort_pairs(int64_t *words, int64_t n, int64_t *places, int64_t places_n) {
    const SortRoutines *r = routines();
    return r && n == places_n && r->pairs(words, places, n);
}
