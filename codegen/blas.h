/* blas.h - the BLAS that this process has: found once, at first need, among the libraries that are loaded (OpenBLAS
 * in the wheels of NumPy and SciPy, a system's, MKL). Nothing is loaded for it but what QUERN_BLAS names, a path;
 * QUERN_BLAS=none: nobody's, our own loops. */
#ifndef QUERN_BLAS_H
#define QUERN_BLAS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum BlasKind { BLAS_F32, BLAS_F64, BLAS_C64, BLAS_C128, BLAS_KINDS } BlasKind;

/* Fortran's interface: everything by pointer, matrices column by column, dimensions in elements. Ints are int64: a library
 * with ints of 32 bits reads their lower halves (blas_fits). */
typedef void (*BlasGemm)(const char *ta, const char *tb, const int64_t *m, const int64_t *n,
                         const int64_t *k, const void *alpha, const void *a, const int64_t *lda,
                         const void *b, const int64_t *ldb, const void *beta, void *c,
                         const int64_t *ldc);
typedef void (*BlasGemv)(const char *t, const int64_t *m, const int64_t *n, const void *alpha,
                         const void *a, const int64_t *lda, const void *x, const int64_t *incx,
                         const void *beta, void *y, const int64_t *incy);

typedef float (*BlasDotF32)(const int64_t *n, const void *x, const int64_t *incx, const void *y,
                            const int64_t *incy);
typedef double (*BlasDotF64)(const int64_t *n, const void *x, const int64_t *incx, const void *y,
                             const int64_t *incy);
/* LAPACK: `pivots` has n ints, `info` is one, as wide as those of the library. */
typedef void (*LapackGesv)(const int64_t *n, const int64_t *nrhs, void *a, const int64_t *lda,
                           int64_t *pivots, void *b, const int64_t *ldb, int64_t *info);
typedef void (*LapackGetrf)(const int64_t *m, const int64_t *n, void *a, const int64_t *lda,
                            int64_t *pivots, int64_t *info);
typedef void (*LapackPotrf)(const char *uplo, const int64_t *n, void *a, const int64_t *lda,
                            int64_t *info);

/* Those of LAPACK that decompositions.c calls: rows of a name for floats and one for complex numbers. */
#define LAPACK_ROUTINES(ROW)                                                                       \
    ROW(GESDD, "gesdd", "gesdd")                                                                   \
    ROW(GEEV, "geev", "geev")                                                                      \
    ROW(SYEVD, "syevd", "heevd")                                                                   \
    ROW(GEQRF, "geqrf", "geqrf")                                                                   \
    ROW(ORGQR, "orgqr", "ungqr")                                                                   \
    ROW(GELSD, "gelsd", "gelsd")
typedef enum LapackRoutine {
#define ROW(id, real, complex) LAPACK_##id,
    LAPACK_ROUTINES(ROW)
#undef ROW
        LAPACK_COUNT
} LapackRoutine;
typedef void (*LapackAny)(void); /* each is called as what it is */

typedef struct Blas {
    BlasGemm gemm[BLAS_KINDS];
    BlasGemv gemv[BLAS_KINDS];
    BlasDotF32 dot_f32; /* complex results are returned in more than one way: not asked for */
    BlasDotF64 dot_f64;
    LapackGesv gesv[BLAS_KINDS];
    LapackGetrf getrf[BLAS_KINDS];
    LapackPotrf potrf[BLAS_KINDS];
    bool has_lapack;
    LapackAny decompose[LAPACK_COUNT][BLAS_KINDS];
    bool has_decompositions;
    bool wide;       /* its ints have 64 bits */
    char name[1024]; /* path of the library */
} Blas;

/* NULL: there is none. From any thread. */
const Blas *blas_get(void);
/* Can the library count to n? */
bool blas_fits(const Blas *blas, int64_t n);

#endif
