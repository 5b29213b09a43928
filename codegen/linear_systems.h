/* linear_systems.h - factors of matrices, which compiled host code calls: over the LAPACK of the library that blas.h found,
 * in loops of our own without one and for small matrices.
 *
 * Matrices are stored column by column without gaps, and are overwritten. `kind` is a ProductKind of floats or complex numbers. */
#ifndef QUERN_LINEAR_SYSTEMS_H
#define QUERN_LINEAR_SYSTEMS_H

#include <stdint.h>

enum { LINEAR_DONE = 0, LINEAR_NO_MEMORY = -1, LINEAR_SINGULAR = 1 };

/* b[n, m] = the x for which a[n, n] @ x = b. LINEAR_SINGULAR: there is none, or it is not the only one. */
int64_t quern_solve(int64_t kind, int64_t n, int64_t m, void *a, void *b);
/* a = its factors L (below the diagonal) and U, of some order of its rows: 1 or -1 for an even or odd one, or 0: no memory.
 * A singular matrix has a zero on the diagonal. */
int64_t quern_lu(int64_t kind, int64_t n, void *a);
/* The lower triangle of a = L, so that L @ L^H is a, of which that triangle is read. LINEAR_SINGULAR: it is not positive definite. */
int64_t quern_cholesky(int64_t kind, int64_t n, void *a);

#endif
