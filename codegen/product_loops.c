/* product_loops.c - products of small matrices, of vectors, and of ints: three plain loops.
 *
 * One pair of functions for each kind: `dots` adds up along k, for operands that are contiguous along it; `rows` adds
 * multiples of rows of b to a row of c, which vectorises. */
#include "codegen/product_impl.h"
#include <string.h>

typedef struct C64 {
    float re, im;
} C64;
typedef struct C128 {
    double re, im;
} C128;

#define MULTIPLY_ADD(s, x, y) ((s) + (x) * (y))
#define WRAPPING(s, x, y)     ((s) + (uint32_t)(x) * (y)) /* two uint16_t would multiply as int */
#define AND_OR(s, x, y)       ((s) | ((x) & (y)))
#define ADD(s, t)             ((s) + (t))
#define OR(s, t)              ((s) | (t))

static inline C64 multiply_add_c64(C64 s, C64 x, C64 y) {
    return (C64){s.re + (x.re * y.re - x.im * y.im), s.im + (x.re * y.im + x.im * y.re)};
}
static inline C128 multiply_add_c128(C128 s, C128 x, C128 y) {
    return (C128){s.re + (x.re * y.re - x.im * y.im), s.im + (x.re * y.im + x.im * y.re)};
}
static inline C64 add_c64(C64 s, C64 t) {
    return (C64){s.re + t.re, s.im + t.im};
}
static inline C128 add_c128(C128 s, C128 t) {
    return (C128){s.re + t.re, s.im + t.im};
}

#define AT(T, matrix, i, j) (*(T *)((matrix).data + (i) * (matrix).row + (j) * (matrix).col))

/* Four sums at a time: each addition waits for the one before. */
#define DEFINE_LOOPS(name, T, madd, add)                                                           \
    static void dots_##name(const Product *p) {                                                    \
        for (int64_t i = 0; i < p->m; i++)                                                         \
            for (int64_t j = 0; j < p->n; j++) {                                                   \
                T s[4];                                                                            \
                memset(s, 0, sizeof s);                                                            \
                int64_t l = 0;                                                                     \
                for (; l + 4 <= p->k; l += 4)                                                      \
                    for (int u = 0; u < 4; u++)                                                    \
                        s[u] = madd(s[u], AT(T, p->a, i, l + u), AT(T, p->b, l + u, j));           \
                for (; l < p->k; l++)                                                              \
                    s[0] = madd(s[0], AT(T, p->a, i, l), AT(T, p->b, l, j));                       \
                AT(T, p->c, i, j) = add(add(s[0], s[1]), add(s[2], s[3]));                         \
            }                                                                                      \
    }                                                                                              \
    static void rows_##name(const Product *p) {                                                    \
        for (int64_t i = 0; i < p->m; i++) {                                                       \
            T *restrict row = &AT(T, p->c, i, 0);                                                  \
            for (int64_t j = 0; j < p->n; j++)                                                     \
                row[j] = (T){0};                                                                   \
            for (int64_t l = 0; l < p->k; l++) {                                                   \
                T x = AT(T, p->a, i, l);                                                           \
                const T *restrict y = &AT(T, p->b, l, 0);                                          \
                if (p->b.col == p->size)                                                           \
                    for (int64_t j = 0; j < p->n; j++)                                             \
                        row[j] = madd(row[j], x, y[j]);                                            \
                else                                                                               \
                    for (int64_t j = 0; j < p->n; j++)                                             \
                        row[j] = madd(row[j], x, AT(T, p->b, l, j));                               \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_LOOPS(bool, uint8_t, AND_OR, OR)
DEFINE_LOOPS(u8, uint8_t, WRAPPING, ADD)
DEFINE_LOOPS(u16, uint16_t, WRAPPING, ADD)
DEFINE_LOOPS(u32, uint32_t, WRAPPING, ADD)
DEFINE_LOOPS(u64, uint64_t, MULTIPLY_ADD, ADD)
DEFINE_LOOPS(f32, float, MULTIPLY_ADD, ADD)
DEFINE_LOOPS(f64, double, MULTIPLY_ADD, ADD)
DEFINE_LOOPS(c64, C64, multiply_add_c64, add_c64)
DEFINE_LOOPS(c128, C128, multiply_add_c128, add_c128)

static const struct {
    void (*dots)(const Product *p);
    void (*rows)(const Product *p);
} loops[PRODUCT_KINDS] = {
    [PRODUCT_BOOL] = {dots_bool, rows_bool}, [PRODUCT_U8] = {dots_u8, rows_u8},
    [PRODUCT_U16] = {dots_u16, rows_u16},    [PRODUCT_U32] = {dots_u32, rows_u32},
    [PRODUCT_U64] = {dots_u64, rows_u64},    [PRODUCT_F32] = {dots_f32, rows_f32},
    [PRODUCT_F64] = {dots_f64, rows_f64},    [PRODUCT_C64] = {dots_c64, rows_c64},
    [PRODUCT_C128] = {dots_c128, rows_c128},
};

void product_by_loops(const Product *p) {
    bool along = p->a.col == p->size && p->b.row == p->size;
    if (p->n == 1 || (along && p->b.col != p->size))
        loops[p->kind].dots(p);
    else
        loops[p->kind].rows(p);
}
