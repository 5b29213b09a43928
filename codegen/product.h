/* product.h - products of matrices, which compiled host code calls: over the BLAS of the process (blas.h) where it has one
 * and the matrices are large enough, in loops of our own otherwise.
 *
 * Sums of floats round as any order of adding may; ints wrap; bools are "or" of "and". */
#ifndef QUERN_PRODUCT_H
#define QUERN_PRODUCT_H

#include <stdint.h>

typedef enum ProductKind {
    PRODUCT_BOOL,
    PRODUCT_U8, /* signed ints, too: they wrap alike */
    PRODUCT_U16,
    PRODUCT_U32,
    PRODUCT_U64,
    PRODUCT_F32,
    PRODUCT_F64,
    PRODUCT_C64,
    PRODUCT_C128,
    PRODUCT_KINDS
} ProductKind;

/* c[m, n] = a[m, k] @ b[k, n]. Steps are in bytes, from row to row and from column to column: any, zero and negative ones,
 * too, but that the elements of c are all apart. c may share memory with a and b: it is written when they have been read.
 * 0; 1: there was no memory for a copy, and c is as it was. */
int64_t quern_product(int64_t kind, int64_t m, int64_t n, int64_t k, char *c, int64_t c_row,
                      int64_t c_col, char *a, int64_t a_row, int64_t a_col, char *b, int64_t b_row,
                      int64_t b_col);

#endif
