/* product_blocks.c - products of large matrices without a BLAS.
 *
 * The usual three levels: a block of b of KC x NC and one of a of MC x KC are copied into panels, in the order in which the
 * innermost loop reads them, and that loop keeps a tile of c in registers. Complex matrices are packed as their real
 * and imaginary parts. */
#include "codegen/product_impl.h"
#include <stdlib.h>
#include <string.h>

enum { MR = 6, MC = 96, KC = 256, NC = 512 };

#define REAL    float
#define NAME(x) x##_f32
#include "codegen/product_blocks.inc"
#undef REAL
#undef NAME

#define REAL    double
#define NAME(x) x##_f64
#include "codegen/product_blocks.inc"
#undef REAL
#undef NAME

bool product_by_blocks(const Product *p) {
    bool single = p->kind == PRODUCT_F32 || p->kind == PRODUCT_C64;
    return single ? product_f32(p) : product_f64(p);
}
