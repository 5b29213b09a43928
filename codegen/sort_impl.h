/* sort_impl.h - what sort.c chooses from. */
#ifndef QUERN_SORT_IMPL_H
#define QUERN_SORT_IMPL_H

#include "codegen/sort.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* As the functions of sort.h. False: the pivots were bad too often; all items are there, in some order. */
typedef struct SortRoutines {
    bool (*words)(SortKind kind, void *words, int64_t n);
    bool (*pairs)(int64_t *words, int64_t *places, int64_t n);
} SortRoutines;

#ifdef __x86_64__
extern const uint64_t
    sort_orders[256]; /* by a mask: the numbers of eight lanes, those with ones first */
extern const SortRoutines sort_avx2, sort_avx512;
#endif

#endif
