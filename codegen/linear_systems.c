/* linear_systems.c - who computes the factors of a matrix: see linear_systems.h. */
#include "codegen/linear_systems.h"
#include "codegen/blas.h"
#include "codegen/product.h"
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 8 }; /* so many rows are done sooner than a call of LAPACK is */

#define NAME(x)      x##_f32
#define NUMBER       float
#define MAGNITUDE(x) fabsf(x)
#define REAL(x)      (x)
#define CONJUGATE(x) (x)
#include "codegen/linear_systems.inc"

#define NAME(x)      x##_f64
#define NUMBER       double
#define MAGNITUDE(x) fabs(x)
#define REAL(x)      (x)
#define CONJUGATE(x) (x)
#include "codegen/linear_systems.inc"

/* The pivot has the largest sum of magnitudes, as in LAPACK. */
#define NAME(x)      x##_c64
#define NUMBER       float _Complex
#define MAGNITUDE(x) (fabsf(crealf(x)) + fabsf(cimagf(x)))
#define REAL(x)      crealf(x)
#define CONJUGATE(x) conjf(x)
#include "codegen/linear_systems.inc"

#define NAME(x)      x##_c128
#define NUMBER       double _Complex
#define MAGNITUDE(x) (fabs(creal(x)) + fabs(cimag(x)))
#define REAL(x)      creal(x)
#define CONJUGATE(x) conj(x)
#include "codegen/linear_systems.inc"

static const struct {
    void (*lu)(int64_t n, void *a, int64_t *pivots);
    void (*solve)(int64_t n, int64_t m, const void *lu, const int64_t *pivots, void *b);
    bool (*cholesky)(int64_t n, void *a);
    bool (*singular)(int64_t n, const void *a);
} own[BLAS_KINDS] = {
    [BLAS_F32] = {lu_f32, solve_f32, cholesky_f32, singular_f32},
    [BLAS_F64] = {lu_f64, solve_f64, cholesky_f64, singular_f64},
    [BLAS_C64] = {lu_c64, solve_c64, cholesky_c64, singular_c64},
    [BLAS_C128] = {lu_c128, solve_c128, cholesky_c128, singular_c128},
};

static BlasKind kind_of(int64_t kind) {
    return (BlasKind)(BLAS_F32 + (kind - PRODUCT_F32));
}

/* The library, where it has LAPACK and the matrix is large enough. */
static const Blas *lapack_for(int64_t n, int64_t m) {
    const Blas *blas = n > SMALL ? blas_get() : NULL;
    return blas && blas->has_lapack && blas_fits(blas, n) && blas_fits(blas, m) ? blas : NULL;
}

/* What a library writes as an int: one with ints of 32 bits left the upper half alone. */
static int64_t written(const Blas *blas, const int64_t *from, int64_t i) {
    return blas->wide ? from[i] : ((const int32_t *)from)[i];
}

int64_t quern_solve(int64_t kind, int64_t n, int64_t m, void *a, void *b) {
    if (n == 0) return LINEAR_DONE;
    const Blas *blas = lapack_for(n, m);
    int64_t info = 0, few[SMALL];
    int64_t *pivots = n <= SMALL ? few : malloc((size_t)n * sizeof *pivots);
    BlasKind k = kind_of(kind);
    if (!pivots) return LINEAR_NO_MEMORY;
    if (blas && m > 0) {
        blas->gesv[k](&n, &m, a, &n, pivots, b, &n, &info);
        info = written(blas, &info, 0);
    } else {
        own[k].lu(n, a, pivots);
        info = own[k].singular(n, a);
        if (!info) own[k].solve(n, m, a, pivots, b);
    }
    if (pivots != few) free(pivots);
    return info ? LINEAR_SINGULAR : LINEAR_DONE;
}

int64_t quern_lu(int64_t kind, int64_t n, void *a) {
    const Blas *blas = lapack_for(n, n);
    int64_t info = 0, few[SMALL], odd = 0;
    int64_t *pivots = n <= SMALL ? few : malloc((size_t)n * sizeof *pivots);
    if (!pivots) return 0;
    if (blas)
        blas->getrf[kind_of(kind)](&n, &n, a, &n, pivots, &info);
    else
        own[kind_of(kind)].lu(n, a, pivots);
    for (int64_t i = 0; i < n; i++) /* LAPACK counts from 1 */
        odd ^= (blas ? written(blas, pivots, i) - 1 : pivots[i]) != i;
    if (pivots != few) free(pivots);
    return odd ? -1 : 1;
}

int64_t quern_cholesky(int64_t kind, int64_t n, void *a) {
    const Blas *blas = lapack_for(n, n);
    int64_t info = 0;
    if (blas) {
        blas->potrf[kind_of(kind)]("L", &n, a, &n, &info);
        info = written(blas, &info, 0);
    } else {
        info = !own[kind_of(kind)].cholesky(n, a);
    }
    return info ? LINEAR_SINGULAR : LINEAR_DONE;
}
