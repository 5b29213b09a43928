/* test_linear.c - linear systems and decompositions in a process without LAPACK: our own loops, and what is said where there
 * are none. */
#include "codegen/blas.h"
#include "codegen/decompositions.h"
#include "codegen/linear_systems.h"
#include "codegen/product.h"
#include "tests/unit/check.h"
#include <math.h>

enum { N = 12 }; /* more rows than are done without LAPACK where there is one */

/* Far from singular, column by column. */
static void fill(double *a) {
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            a[j * N + i] = i == j ? 2 * N : 1.0 / (1 + i + 2 * j);
}

static void test_solve(void) {
    double a[N * N], factors[N * N], x[N] = {0};
    fill(a);
    memcpy(factors, a, sizeof a);
    for (int j = 0; j < N; j++) /* b = a @ (1, 2, 3 ...) */
        for (int i = 0; i < N; i++)
            x[i] += a[j * N + i] * (j + 1);
    CHECK_INT(quern_solve(PRODUCT_F64, N, 1, factors, x), LINEAR_DONE);
    for (int i = 0; i < N; i++)
        CHECK(fabs(x[i] - (i + 1)) < 1e-12);
    double turn[] = {0, 1, 0, 0, 0, 0, 0, 2}, right[] = {1, 0, 4, 0}; /* diag(i, 2i) @ x = (1, 4) */
    CHECK_INT(quern_solve(PRODUCT_C128, 2, 1, turn, right), LINEAR_DONE);
    CHECK(right[0] == 0 && right[1] == -1 && right[2] == 0 && right[3] == -2);
    memset(a, 0, sizeof a);
    CHECK_INT(quern_solve(PRODUCT_F64, N, 1, a, x), LINEAR_SINGULAR);
    CHECK_INT(quern_solve(PRODUCT_F64, 0, 1, a, x), LINEAR_DONE);
}

static void test_factors(void) {
    double a[N * N];
    memset(a, 0, sizeof a);
    for (int i = 0; i < N; i++)
        a[i * N + (i ^ 1)] = 4; /* pairs of rows change places: 6 times */
    CHECK_INT(quern_lu(PRODUCT_F64, N, a), 1);
    for (int i = 0; i < N; i++)
        CHECK(a[i * N + i] == 4);
    memset(a, 0, sizeof a);
    for (int i = 0; i < N; i++)
        a[i * N + i] = 9;
    CHECK_INT(quern_cholesky(PRODUCT_F64, N, a), LINEAR_DONE);
    CHECK(a[0] == 3 && a[N * N - 1] == 3);
    a[0] = -1;
    CHECK_INT(quern_cholesky(PRODUCT_F64, N, a), LINEAR_SINGULAR);
}

/* No decomposition touches anything. */
static void test_decompositions_say_that_there_is_no_library(void) {
    static int64_t (*const all[])(int64_t, int64_t, int64_t, int64_t, void *, void *, void *,
                                  void *) = {quern_svd, quern_eig, quern_eigh,
                                             quern_qr,  quern_q,   quern_lstsq};
    double a[N * N], rest[2 * N * N];
    for (int k = 0; k < countof(all); k++)
        for (int64_t kind = PRODUCT_F32; kind <= PRODUCT_C128; kind++) {
            fill(a);
            memset(rest, 0, sizeof rest);
            CHECK_INT(all[k](kind, 3, 3, 1, a, rest, rest, rest), DECOMPOSE_NO_LIBRARY);
            CHECK(a[0] == 2 * N && a[1] == 0.5 && rest[0] == 0);
        }
}

int main(void) {
    setenv("QUERN_BLAS", "none", 1);
    CHECK(blas_get() == NULL);
    RUN(test_solve);
    RUN(test_factors);
    RUN(test_decompositions_say_that_there_is_no_library);
    return check_report();
}
