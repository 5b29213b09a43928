/* test_sort.c - every set of vector instructions that this processor has, against qsort: sizes around those where the way of sorting
 * changes, and orders that are hard for pivots. */
#include "codegen/sort_impl.h"
#include "tests/unit/check.h"
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 6000, ORDERS = 8 };

static uint64_t seed;
static uint64_t draw(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 11;
}

/* The i-th of n numbers, in -2**51 to 2**51. */
static int64_t number(int order, int64_t i, int64_t n) {
    int64_t any = (int64_t)(draw() >> 1) - (INT64_C(1) << 51);
    switch (order) {
    case 0: return any;
    case 1: return any & 1;
    case 2: return 7;
    case 3: return i;
    case 4: return -i;
    case 5: return i < n / 2 ? i : n - i; /* up, then down */
    case 6: return any % 10;
    default: return i % 3 ? any : INT64_C(1) << 51; /* the greatest one, often */
    }
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

typedef struct Numbers {
    int64_t given[MOST], sorted[MOST], i64[MOST + 1], words[MOST + 1], places[MOST + 1];
    double f64[MOST + 1];
    int32_t i32[MOST + 1];
    float f32[MOST + 1];
} Numbers;

static void check_words(const SortRoutines *r, Numbers *v, int64_t n) {
    static const int64_t guard = 0x1234567;
    for (int64_t i = 0; i < n; i++) { /* small ones are themselves in 32 bits */
        v->i64[i] = v->given[i];
        v->f64[i] = (double)v->given[i];
        v->i32[i] = (int32_t)(v->given[i] >> 24);
        v->f32[i] = (float)(v->given[i] >> 30);
    }
    v->i64[n] = guard, v->f64[n] = (double)guard, v->i32[n] = (int32_t)guard, v->f32[n] = 1;
    CHECK(r->words(SORT_I64, v->i64, n) && r->words(SORT_F64, v->f64, n));
    CHECK(r->words(SORT_I32, v->i32, n) && r->words(SORT_F32, v->f32, n));
    bool right =
        v->i64[n] == guard && v->f64[n] == (double)guard && v->i32[n] == guard && v->f32[n] == 1;
    for (int64_t i = 0; i < n; i++) /* shifts keep the order */
        right &= v->i64[i] == v->sorted[i] && v->f64[i] == (double)v->sorted[i] &&
                 v->i32[i] == (int32_t)(v->sorted[i] >> 24) &&
                 v->f32[i] == (float)(v->sorted[i] >> 30);
    CHECK(right);
}

static void check_pairs(const SortRoutines *r, Numbers *v, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        v->words[i] = v->given[i], v->places[i] = i;
    v->words[n] = v->places[n] = 99;
    CHECK(r->pairs(v->words, v->places, n));
    bool right = v->words[n] == 99 && v->places[n] == 99;
    for (int64_t i = 0; i < n; i++) {
        int64_t place = v->places[i];
        right &= place >= 0 && place < n && v->words[i] == v->sorted[i] &&
                 v->given[place] == v->sorted[i];
        right &= i == 0 || v->words[i - 1] < v->words[i] || v->places[i - 1] < place;
    }
    CHECK(right);
}

static void check_routines(const SortRoutines *r) {
    Numbers *v = malloc(sizeof *v);
    CHECK(v != NULL);
    for (int64_t n = 0; v && n <= MOST; n += n < 600 ? 1 : 450)
        for (int order = 0; order < ORDERS; order++) {
            seed = (uint64_t)n * ORDERS + (uint64_t)order;
            for (int64_t i = 0; i < n; i++)
                v->given[i] = v->sorted[i] = number(order, i, n);
            qsort(v->sorted, (size_t)n, sizeof *v->sorted, compare);
            check_words(r, v, n);
            check_pairs(r, v, n);
        }
    free(v);
}

/* Minimum and maximum of zeros of two signs are one of them: none gets lost. Infinities are numbers as others. */
static void test_zeros_and_infinities(void) {
    for (int n = 1; n < 700; n += 23) {
        double *a = malloc((size_t)n * sizeof *a);
        int negative = 0, left = 0, ends = 0;
        for (int i = 0; a && i < n; i++) {
            seed = (uint64_t)i;
            a[i] = i % 5 == 4 ? (i % 2 ? INFINITY : -INFINITY) : draw() & 1 ? 0.0 : -0.0;
            negative += signbit(a[i]) != 0;
            ends += isinf(a[i]) != 0;
        }
        if (a && quern_sort_words(SORT_F64, a, n)) {
            for (int i = 0; i < n; i++) {
                left += signbit(a[i]) != 0;
                ends -= isinf(a[i]) != 0;
                CHECK(i == 0 || a[i - 1] <= a[i]);
            }
            CHECK_INT(left, negative);
            CHECK_INT(ends, 0);
        }
        free(a);
    }
}

#ifdef __x86_64__
static void test_orders(void) {
    for (unsigned mask = 0; mask < 256; mask++) {
        uint64_t order = 0;
        int at = 0;
        for (int first = 1; first >= 0; first--)
            for (unsigned lane = 0; lane < 8; lane++)
                if ((int)(mask >> lane & 1) == first) order |= (uint64_t)lane << 8 * at++;
        CHECK(sort_orders[mask] == order);
    }
}
#endif

int main(void) {
#ifdef __x86_64__
    RUN(test_orders);
    if (__builtin_cpu_supports("avx2")) check_routines(&sort_avx2);
    if (__builtin_cpu_supports("avx512f")) check_routines(&sort_avx512);
#endif
    RUN(test_zeros_and_infinities);
    return check_report();
}
