/* sort_avx512.c - sorting with registers of 64 bytes. The file is compiled for processors that have them. */
#include "codegen/sort_impl.h"
#ifdef __AVX512F__
#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* -- eight words of 64 bits ------------------------------------------------------------------------------- */

typedef __m512i Reg_64;
typedef __mmask8 Mask_64;
typedef __m512i Order_64;

INLINE Reg_64 load_64(const int64_t *p) {
    return _mm512_loadu_si512(p);
}
INLINE void save_64(int64_t *p, Reg_64 v) {
    _mm512_storeu_si512(p, v);
}
INLINE Reg_64 splat_64(int64_t x) {
    return _mm512_set1_epi64(x);
}
INLINE Mask_64 begin_64(int64_t n) {
    return (Mask_64)(n >= 8 ? 0xFF : n <= 0 ? 0 : 0xFF >> (8 - n));
}
INLINE Reg_64 load_some_64(const int64_t *p, int64_t n, int64_t other) {
    return _mm512_mask_loadu_epi64(splat_64(other), begin_64(n), p);
}
INLINE void save_some_64(int64_t *p, Reg_64 v, int64_t n) {
    _mm512_mask_storeu_epi64(p, begin_64(n), v);
}
INLINE Mask_64 less_64(Reg_64 a, Reg_64 b) {
    return _mm512_cmplt_epi64_mask(a, b);
}
INLINE Mask_64 equal_64(Reg_64 a, Reg_64 b) {
    return _mm512_cmpeq_epi64_mask(a, b);
}
INLINE Mask_64 both_64(Mask_64 a, Mask_64 b) {
    return a & b;
}
INLINE Mask_64 either_64(Mask_64 a, Mask_64 b) {
    return a | b;
}
INLINE Mask_64 not_64(Mask_64 a) {
    return (Mask_64)~a;
}
INLINE int ones_64(Mask_64 a) {
    return __builtin_popcount(a);
}
INLINE Reg_64 choose_64(Mask_64 m, Reg_64 a, Reg_64 b) {
    return _mm512_mask_blend_epi64(m, a, b);
}
INLINE Reg_64 least_64(Reg_64 a, Reg_64 b) {
    return choose_64(less_64(b, a), a, b);
}
INLINE Reg_64 most_64(Reg_64 a, Reg_64 b) {
    return choose_64(less_64(a, b), a, b);
}
INLINE void exchange_64(Reg_64 *a, Reg_64 *b) { /* less work than minimum and maximum of 64 bits */
    Mask_64 swap = less_64(*b, *a);
    Reg_64 low = choose_64(swap, *a, *b);
    *b = choose_64(swap, *b, *a);
    *a = low;
}
INLINE Reg_64 flip_64(Reg_64 v, int by) {
    if (by == 1) return _mm512_permutex_epi64(v, 0xB1);
    if (by == 2) return _mm512_permutex_epi64(v, 0x4E);
    if (by == 3) return _mm512_permutex_epi64(v, 0x1B);
    if (by == 4) return _mm512_shuffle_i64x2(v, v, 0x4E);
    return _mm512_permutexvar_epi64(_mm512_set_epi64(0, 1, 2, 3, 4, 5, 6, 7), v); /* by 7 */
}
INLINE Reg_64 pick_64(Reg_64 a, Reg_64 b, int bit) {
    return _mm512_mask_blend_epi64(bit == 1 ? 0xAA : bit == 2 ? 0xCC : 0xF0, a, b);
}
INLINE Order_64 order_64(Mask_64 first) {
    return _mm512_cvtepu8_epi64(_mm_loadl_epi64((const __m128i *)&sort_orders[first]));
}
INLINE void spread_64(int64_t *begin, int64_t *end, Reg_64 v, Order_64 order) {
    v = _mm512_permutexvar_epi64(order, v);
    save_64(begin, v);
    save_64(end - 8, v);
}

/* -- eight float64, none of them nan ---------------------------------------------------------------------- */

typedef __m512d Reg_f64;
typedef __mmask8 Mask_f64;
typedef __m512i Order_f64;

INLINE Reg_f64 load_f64(const double *p) {
    return _mm512_loadu_pd(p);
}
INLINE void save_f64(double *p, Reg_f64 v) {
    _mm512_storeu_pd(p, v);
}
INLINE Reg_f64 splat_f64(double x) {
    return _mm512_set1_pd(x);
}
INLINE Reg_f64 load_some_f64(const double *p, int64_t n, double other) {
    return _mm512_mask_loadu_pd(splat_f64(other), begin_64(n), p);
}
INLINE void save_some_f64(double *p, Reg_f64 v, int64_t n) {
    _mm512_mask_storeu_pd(p, begin_64(n), v);
}
INLINE Mask_f64 less_f64(Reg_f64 a, Reg_f64 b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
INLINE Mask_f64 not_f64(Mask_f64 a) {
    return (Mask_f64)~a;
}
INLINE int ones_f64(Mask_f64 a) {
    return __builtin_popcount(a);
}
INLINE Reg_f64 least_f64(Reg_f64 a, Reg_f64 b) {
    return _mm512_min_pd(a, b);
}
INLINE Reg_f64 most_f64(Reg_f64 a, Reg_f64 b) {
    return _mm512_max_pd(a, b);
}
INLINE void exchange_f64(Reg_f64 *a, Reg_f64 *b) {
    Reg_f64 low = least_f64(*a, *b);
    *b = most_f64(*b, *a);
    *a = low;
}
INLINE Reg_f64 flip_f64(Reg_f64 v, int by) {
    return _mm512_castsi512_pd(flip_64(_mm512_castpd_si512(v), by));
}
INLINE Reg_f64 pick_f64(Reg_f64 a, Reg_f64 b, int bit) {
    return _mm512_mask_blend_pd(bit == 1 ? 0xAA : bit == 2 ? 0xCC : 0xF0, a, b);
}
INLINE Order_f64 order_f64(Mask_f64 first) {
    return order_64(first);
}
INLINE void spread_f64(double *begin, double *end, Reg_f64 v, Order_f64 order) {
    v = _mm512_permutexvar_pd(order, v);
    save_f64(begin, v);
    save_f64(end - 8, v);
}

/* -- sixteen words of 32 bits ----------------------------------------------------------------------------- */

typedef __m512i Reg_32;
typedef __mmask16 Mask_32;
typedef __mmask16 Order_32;

INLINE Reg_32 load_32(const int32_t *p) {
    return _mm512_loadu_si512(p);
}
INLINE void save_32(int32_t *p, Reg_32 v) {
    _mm512_storeu_si512(p, v);
}
INLINE Reg_32 splat_32(int32_t x) {
    return _mm512_set1_epi32(x);
}
INLINE Mask_32 begin_32(int64_t n) {
    return (Mask_32)(n >= 16 ? 0xFFFF : n <= 0 ? 0 : 0xFFFF >> (16 - n));
}
INLINE Reg_32 load_some_32(const int32_t *p, int64_t n, int32_t other) {
    return _mm512_mask_loadu_epi32(splat_32(other), begin_32(n), p);
}
INLINE void save_some_32(int32_t *p, Reg_32 v, int64_t n) {
    _mm512_mask_storeu_epi32(p, begin_32(n), v);
}
INLINE Mask_32 less_32(Reg_32 a, Reg_32 b) {
    return _mm512_cmplt_epi32_mask(a, b);
}
INLINE Mask_32 not_32(Mask_32 a) {
    return (Mask_32)~a;
}
INLINE int ones_32(Mask_32 a) {
    return __builtin_popcount(a);
}
INLINE Reg_32 least_32(Reg_32 a, Reg_32 b) {
    return _mm512_min_epi32(a, b);
}
INLINE Reg_32 most_32(Reg_32 a, Reg_32 b) {
    return _mm512_max_epi32(a, b);
}
INLINE void exchange_32(Reg_32 *a, Reg_32 *b) {
    Reg_32 low = least_32(*a, *b);
    *b = most_32(*b, *a);
    *a = low;
}
INLINE Reg_32 flip_32(Reg_32 v, int by) {
    if (by == 1) return _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xB1);
    if (by == 2) return _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x4E);
    if (by == 3) return _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0x1B);
    if (by == 4) return _mm512_permutex_epi64(v, 0x4E);
    if (by == 8) return _mm512_shuffle_i64x2(v, v, 0x4E);
    __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_permutexvar_epi32(_mm512_xor_si512(lanes, _mm512_set1_epi32(by)), v);
}
INLINE Reg_32 pick_32(Reg_32 a, Reg_32 b, int bit) {
    return _mm512_mask_blend_epi32(bit == 1   ? 0xAAAA
                                   : bit == 2 ? 0xCCCC
                                   : bit == 4 ? 0xF0F0
                                              : 0xFF00,
                                   a, b);
}
INLINE Order_32 order_32(Mask_32 first) {
    return first;
}
INLINE void spread_32(int32_t *begin, int32_t *end, Reg_32 v, Order_32 first) {
    int others = 16 - ones_32(first);
    save_32(begin, _mm512_maskz_compress_epi32(first, v));
    v = _mm512_maskz_compress_epi32((Mask_32)~first, v);
    _mm512_mask_storeu_epi32(end - others, (Mask_32)(0xFFFF >> (16 - others)), v);
}
/* -- sixteen float32, none of them nan --------------------------------------------------------------------- */

typedef __m512 Reg_f32;
typedef __mmask16 Mask_f32;
typedef __mmask16 Order_f32;

INLINE Reg_f32 load_f32(const float *p) {
    return _mm512_loadu_ps(p);
}
INLINE void save_f32(float *p, Reg_f32 v) {
    _mm512_storeu_ps(p, v);
}
INLINE Reg_f32 splat_f32(float x) {
    return _mm512_set1_ps(x);
}
INLINE Reg_f32 load_some_f32(const float *p, int64_t n, float other) {
    return _mm512_mask_loadu_ps(splat_f32(other), begin_32(n), p);
}
INLINE void save_some_f32(float *p, Reg_f32 v, int64_t n) {
    _mm512_mask_storeu_ps(p, begin_32(n), v);
}
INLINE Mask_f32 less_f32(Reg_f32 a, Reg_f32 b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
INLINE Mask_f32 not_f32(Mask_f32 a) {
    return (Mask_f32)~a;
}
INLINE int ones_f32(Mask_f32 a) {
    return __builtin_popcount(a);
}
INLINE Reg_f32 least_f32(Reg_f32 a, Reg_f32 b) {
    return _mm512_min_ps(a, b);
}
INLINE Reg_f32 most_f32(Reg_f32 a, Reg_f32 b) {
    return _mm512_max_ps(a, b);
}
INLINE void exchange_f32(Reg_f32 *a, Reg_f32 *b) {
    Reg_f32 low = least_f32(*a, *b);
    *b = most_f32(*b, *a);
    *a = low;
}
INLINE Reg_f32 flip_f32(Reg_f32 v, int by) {
    return _mm512_castsi512_ps(flip_32(_mm512_castps_si512(v), by));
}
INLINE Reg_f32 pick_f32(Reg_f32 a, Reg_f32 b, int bit) {
    return _mm512_castsi512_ps(pick_32(_mm512_castps_si512(a), _mm512_castps_si512(b), bit));
}
INLINE Order_f32 order_f32(Mask_f32 first) {
    return first;
}
INLINE void spread_f32(float *begin, float *end, Reg_f32 v, Order_f32 first) {
    int others = 16 - ones_f32(first);
    save_f32(begin, _mm512_maskz_compress_ps(first, v));
    v = _mm512_maskz_compress_ps((Mask_32)~first, v);
    _mm512_mask_storeu_ps(end - others, (Mask_32)(0xFFFF >> (16 - others)), v);
}
#undef INLINE

#include "codegen/sort_kinds.inc"

const SortRoutines sort_avx512 = {sort_words, sort_pairs};
#endif
