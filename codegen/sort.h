/* sort.h - sorting by vector instructions, which compiled host code calls: quern/library/sorting.py makes these kinds of
 * others, and has ways of its own for what is refused here.
 *
 * No memory is needed, and none is kept. */
#ifndef QUERN_SORT_H
#define QUERN_SORT_H

#include <stdint.h>

typedef enum SortKind { SORT_I32, SORT_I64, SORT_F32, SORT_F64, SORT_KINDS } SortKind;

/* n numbers in ascending order, none of them nan: 1. 0: this processor has no such instructions (AVX2 at least), or the choice of
 * pivots was bad too often; the numbers are there, in some order. */
int64_t quern_sort_words(int64_t kind, void *words, int64_t n);
/* The same of pairs, in the order of the words, and of the places where words are equal; places_n is n. */
int64_t quern_sort_pairs(int64_t *words, int64_t n, int64_t *places, int64_t places_n);

#endif
