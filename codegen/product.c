/* product.c - the product of two matrices: who computes it, and what is copied before: see product.h. */
#include "codegen/blas.h"
#include "codegen/product_impl.h"
#include <stdlib.h>
#include <string.h>

/* Below so many multiplications the plain loops are faster than a call of a BLAS, or than packing. */
enum { SMALL_MATRIX = 150, SMALL_VECTOR = 100, SMALL_BLOCKS = 1000 };

/* -- matrices ------------------------------------------------------------------------------------------ */

static const struct {
    int8_t size, part; /* bytes of an element, and of what must be aligned */
    int8_t blas;       /* BlasKind, or -1 */
} kinds[PRODUCT_KINDS] = {
    [PRODUCT_BOOL] = {1, 1, -1},         [PRODUCT_U8] = {1, 1, -1},
    [PRODUCT_U16] = {2, 2, -1},          [PRODUCT_U32] = {4, 4, -1},
    [PRODUCT_U64] = {8, 8, -1},          [PRODUCT_F32] = {4, 4, BLAS_F32},
    [PRODUCT_F64] = {8, 8, BLAS_F64},    [PRODUCT_C64] = {8, 4, BLAS_C64},
    [PRODUCT_C128] = {16, 8, BLAS_C128},
};

static Product transposed(Product p) {
    Product t = p;
    t.m = p.n, t.n = p.m;
    t.c = (Matrix){p.c.data, p.c.col, p.c.row};
    t.a = (Matrix){p.b.data, p.b.col, p.b.row};
    t.b = (Matrix){p.a.data, p.a.col, p.a.row};
    return t;
}

/* The bytes from the lowest to behind the highest. */
static void span(const Matrix *x, int64_t rows, int64_t cols, int64_t size, char **low,
                 char **high) {
    int64_t down = (rows - 1) * x->row, right = (cols - 1) * x->col;
    *low = x->data + (down < 0 ? down : 0) + (right < 0 ? right : 0);
    *high = x->data + (down > 0 ? down : 0) + (right > 0 ? right : 0) + size;
}

static bool overlaps(const Product *p, const Matrix *x, int64_t rows, int64_t cols) {
    char *low, *high, *from, *to;
    span(&p->c, p->m, p->n, p->size, &low, &high);
    span(x, rows, cols, p->size, &from, &to);
    return low < to && from < high;
}

static bool is_aligned(const Matrix *x, int64_t part) {
    return (((uintptr_t)x->data | (uintptr_t)x->row | (uintptr_t)x->col) & (uintptr_t)(part - 1)) ==
           0;
}

static void copy(const Matrix *from, const Matrix *to, int64_t rows, int64_t cols, int64_t size) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            memcpy(to->data + i * to->row + j * to->col, from->data + i * from->row + j * from->col,
                   (size_t)size);
}

/* Memory for rows x cols elements, row by row; to be freed. */
static bool new_matrix(int64_t rows, int64_t cols, int64_t size, Matrix *out) {
    int64_t n;
    if (__builtin_mul_overflow(rows, cols, &n) || __builtin_mul_overflow(n, size, &n)) return false;
    *out = (Matrix){malloc((size_t)n), cols * size, size};
    return out->data != NULL;
}

/* -- over a BLAS --------------------------------------------------------------------------------------- */

/* A matrix as Fortran has them: columns, or rows for 'T', follow each other in steps of `lead` elements. */
typedef struct Operand {
    char trans;
    int64_t lead;
} Operand;

/* Rows and columns that are only one have no step. */
static bool as_operand(const Matrix *x, int64_t rows, int64_t cols, int64_t size, Operand *out) {
    bool one_row = rows == 1, one_col = cols == 1;
    if ((one_row || x->row == size) && (one_col || (x->col >= rows * size && x->col % size == 0))) {
        *out = (Operand){'N', one_col ? rows : x->col / size};
        return true;
    }
    if ((one_col || x->col == size) && (one_row || (x->row >= cols * size && x->row % size == 0))) {
        *out = (Operand){'T', one_row ? cols : x->row / size};
        return true;
    }
    return false;
}

/* As an operand, of a copy if need be. */
static bool make_operand(Matrix *x, int64_t rows, int64_t cols, int64_t size, char **made,
                         Operand *out) {
    Matrix fresh;
    if (as_operand(x, rows, cols, size, out)) return true;
    if (!new_matrix(rows, cols, size, &fresh)) return false;
    copy(x, &fresh, rows, cols, size);
    *x = fresh;
    *made = fresh.data;
    return as_operand(x, rows, cols, size, out);
}

/* 0 and 1 in every type. */
static const double zero_64[2] = {0, 0}, one_64[2] = {1, 0};
static const float zero_32[2] = {0, 0}, one_32[2] = {1, 0};

static bool call_gemm(const Blas *blas, const Product *given) {
    Product p = *given;
    Operand c, a, b;
    char *made_a = NULL, *made_b = NULL;
    as_operand(&p.c, p.m, p.n, p.size, &c);
    if (c.trans == 'T') p = transposed(p);
    int kind = kinds[p.kind].blas;
    bool single = kinds[p.kind].part == 4;
    bool ok = make_operand(&p.a, p.m, p.k, p.size, &made_a, &a) &&
              make_operand(&p.b, p.k, p.n, p.size, &made_b, &b);
    if (ok)
        blas->gemm[kind](&a.trans, &b.trans, &p.m, &p.n, &p.k,
                         single ? (const void *)one_32 : one_64, p.a.data, &a.lead, p.b.data,
                         &b.lead, single ? (const void *)zero_32 : zero_64, p.c.data, &c.lead);
    free(made_a);
    free(made_b);
    return ok;
}

/* Steps in elements; a vector that goes backwards is told by its end. */
static bool as_vector(const char **data, int64_t step, int64_t n, int64_t size, int64_t *inc) {
    if (n > 1 && (step == 0 || step % size)) return false;
    *inc = n > 1 ? step / size : 1;
    if (*inc < 0) *data += (n - 1) * step;
    return true;
}

/* n is 1: c and b are columns. *done: there was a way to do it without a copy. */
static bool call_gemv(const Blas *blas, const Product *p, bool *done) {
    Operand a;
    Matrix matrix = p->a;
    const char *x = p->b.data, *y = p->c.data;
    char *made = NULL;
    int64_t incx, incy;
    *done = as_vector(&x, p->b.row, p->k, p->size, &incx) &&
            as_vector(&y, p->c.row, p->m, p->size, &incy);
    if (!*done) return true;
    if (!make_operand(&matrix, p->m, p->k, p->size, &made, &a)) return false;
    bool plain = a.trans == 'N', single = kinds[p->kind].part == 4;
    blas->gemv[kinds[p->kind].blas](&a.trans, plain ? &p->m : &p->k, plain ? &p->k : &p->m,
                                    single ? (const void *)one_32 : one_64, matrix.data, &a.lead, x,
                                    &incx, single ? (const void *)zero_32 : zero_64, (char *)y,
                                    &incy);
    free(made);
    return true;
}

/* m and n are 1. *done: there was a way to do it. */
static void call_dot(const Blas *blas, const Product *p, bool *done) {
    const char *x = p->a.data, *y = p->b.data;
    int64_t incx, incy;
    *done = (p->kind == PRODUCT_F32 || p->kind == PRODUCT_F64) &&
            as_vector(&x, p->a.col, p->k, p->size, &incx) &&
            as_vector(&y, p->b.row, p->k, p->size, &incy);
    if (!*done) return;
    if (p->kind == PRODUCT_F32)
        *(float *)p->c.data = blas->dot_f32(&p->k, x, &incx, y, &incy);
    else
        *(double *)p->c.data = blas->dot_f64(&p->k, x, &incx, y, &incy);
}

/* -- who computes it ------------------------------------------------------------------------------------- */

static bool by_ourselves(const Product *p) {
    bool blocks =
        kinds[p->kind].blas >= 0 && p->m >= 4 && p->n >= 4 && p->m * p->n > SMALL_BLOCKS / p->k;
    if (blocks) return product_by_blocks(p);
    product_by_loops(p);
    return true;
}

static const Blas *blas_for(const Product *p, int64_t least) {
    if (kinds[p->kind].blas < 0 || p->m * p->n <= least / p->k) return NULL;
    const Blas *blas = blas_get();
    bool fits = blas && blas_fits(blas, p->m) && blas_fits(blas, p->n) && blas_fits(blas, p->k);
    return fits ? blas : NULL;
}

/* A matrix times a column. The loops add up along rows, or add whole columns where these are contiguous. */
static bool multiply_column(Product p) {
    bool done = false;
    const Blas *blas = blas_for(&p, SMALL_VECTOR);
    if (blas && p.m == 1)
        call_dot(blas, &p, &done);
    else if (blas && !call_gemv(blas, &p, &done))
        return false;
    if (done) return true;
    bool columns = p.m > 1 && p.a.row == p.size && p.a.col != p.size && p.c.row == p.size;
    if (columns) p = transposed(p);
    product_by_loops(&p);
    return true;
}

/* c is contiguous by rows or columns, is apart from a and b, and everything is aligned. */
static bool multiply(Product p) {
    if (p.m == 1) p = transposed(p);
    if (p.n == 1) return multiply_column(p);
    const Blas *blas = blas_for(&p, SMALL_MATRIX);
    if (blas) return call_gemm(blas, &p);
    if (p.c.col != p.size) p = transposed(p);
    return by_ourselves(&p);
}

/* The same for operands that are not aligned: of copies. */
static bool multiply_copies(Product p) {
    Matrix a = {NULL, 0, 0}, b = {NULL, 0, 0};
    bool ok = new_matrix(p.m, p.k, p.size, &a) && new_matrix(p.k, p.n, p.size, &b);
    if (ok) {
        copy(&p.a, &a, p.m, p.k, p.size);
        copy(&p.b, &b, p.k, p.n, p.size);
        p.a = a, p.b = b;
        ok = multiply(p);
    }
    free(a.data);
    free(b.data);
    return ok;
}

static bool multiply_aligned(const Product *p) {
    int64_t part = kinds[p->kind].part;
    bool aligned = is_aligned(&p->a, part) && is_aligned(&p->b, part);
    return aligned ? multiply(*p) : multiply_copies(*p);
}

int64_t quern_product(int64_t kind, int64_t m, int64_t n, int64_t k, char *c, int64_t c_row,
                      int64_t c_col, char *a, int64_t a_row, int64_t a_col, char *b, int64_t b_row,
                      int64_t b_col) {
    int64_t size = kinds[kind].size;
    Product p = {(ProductKind)kind, size, m, n, k, {c, c_row, c_col}, {a, a_row, a_col},
                 {b, b_row, b_col}};
    if (m == 0 || n == 0) return 0;
    if (k == 0) {
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                memset(c + i * c_row + j * c_col, 0, (size_t)size);
        return 0;
    }
    Operand fits;
    if (as_operand(&p.c, m, n, size, &fits) && is_aligned(&p.c, kinds[kind].part) &&
        !overlaps(&p, &p.a, m, k) && !overlaps(&p, &p.b, k, n))
        return multiply_aligned(&p) ? 0 : 1;
    Matrix result = p.c, fresh;
    if (!new_matrix(m, n, size, &fresh)) return 1;
    p.c = fresh;
    bool ok = multiply_aligned(&p);
    if (ok) copy(&fresh, &result, m, n, size);
    free(fresh.data);
    return ok ? 0 : 1;
}
