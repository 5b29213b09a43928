/* product_impl.h - what the files of products share. */
#ifndef QUERN_PRODUCT_IMPL_H
#define QUERN_PRODUCT_IMPL_H

#include "codegen/product.h"
#include <stdbool.h>

/* Element (i, j) lies at data + i * row + j * col. */
typedef struct Matrix {
    char *data;
    int64_t row, col;
} Matrix;

/* c = a @ b, of m x k and k x n. */
typedef struct Product {
    ProductKind kind;
    int64_t size; /* of an element */
    int64_t m, n, k;
    Matrix c, a, b;
} Product;

/* product_loops.c: any kind; rows of c are contiguous, or m and n are 1. */
void product_by_loops(const Product *p);
/* product_blocks.c: floats and complex numbers; false: no memory. */
bool product_by_blocks(const Product *p);

#endif
