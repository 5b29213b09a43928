/* sort_avx2.c - sorting with registers of 32 bytes. The file is compiled for processors that have them. */
#include "codegen/sort_impl.h"
#ifdef __AVX2__
#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))

/* -- four words of 64 bits -------------------------------------------------------------------------------- */

typedef __m256i Reg_64;
typedef __m256i Mask_64;
typedef __m256i Order_64;

INLINE Reg_64 load_64(const int64_t *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}
INLINE void save_64(int64_t *p, Reg_64 v) {
    _mm256_storeu_si256((__m256i *)p, v);
}
INLINE Reg_64 splat_64(int64_t x) {
    return _mm256_set1_epi64x(x);
}
INLINE Mask_64 begin_64(int64_t n) {
    return _mm256_cmpgt_epi64(splat_64(n), _mm256_set_epi64x(3, 2, 1, 0));
}
INLINE Reg_64 choose_64(Mask_64 m, Reg_64 a, Reg_64 b) {
    return _mm256_blendv_epi8(a, b, m);
}
INLINE Reg_64 load_some_64(const int64_t *p, int64_t n, int64_t other) {
    return choose_64(begin_64(n), splat_64(other),
                     _mm256_maskload_epi64((const long long *)p, begin_64(n)));
}
INLINE void save_some_64(int64_t *p, Reg_64 v, int64_t n) {
    _mm256_maskstore_epi64((long long *)p, begin_64(n), v);
}
INLINE Mask_64 less_64(Reg_64 a, Reg_64 b) {
    return _mm256_cmpgt_epi64(b, a);
}
INLINE Mask_64 equal_64(Reg_64 a, Reg_64 b) {
    return _mm256_cmpeq_epi64(a, b);
}
INLINE Mask_64 both_64(Mask_64 a, Mask_64 b) {
    return _mm256_and_si256(a, b);
}
INLINE Mask_64 either_64(Mask_64 a, Mask_64 b) {
    return _mm256_or_si256(a, b);
}
INLINE Mask_64 not_64(Mask_64 a) {
    return _mm256_xor_si256(a, _mm256_set1_epi8(-1));
}
INLINE unsigned bits_64(Mask_64 m) { /* two of each lane */
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(m));
}
INLINE int ones_64(Mask_64 m) {
    return __builtin_popcount(bits_64(m)) / 2;
}
INLINE Reg_64 least_64(Reg_64 a, Reg_64 b) {
    return choose_64(less_64(b, a), a, b);
}
INLINE Reg_64 most_64(Reg_64 a, Reg_64 b) {
    return choose_64(less_64(a, b), a, b);
}
INLINE void exchange_64(Reg_64 *a, Reg_64 *b) {
    Mask_64 swap = less_64(*b, *a);
    Reg_64 low = choose_64(swap, *a, *b);
    *b = choose_64(swap, *b, *a);
    *a = low;
}
INLINE Reg_64 flip_64(Reg_64 v, int by) {
    if (by == 1) return _mm256_shuffle_epi32(v, 0x4E);
    if (by == 2) return _mm256_permute4x64_epi64(v, 0x4E);
    return _mm256_permute4x64_epi64(v, 0x1B); /* by 3 */
}
INLINE Reg_64 pick_64(Reg_64 a, Reg_64 b, int bit) {
    return bit == 1 ? _mm256_blend_epi32(a, b, 0xCC) : _mm256_blend_epi32(a, b, 0xF0);
}
INLINE __m256i order_of(unsigned bits) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)&sort_orders[bits]));
}
INLINE Order_64 order_64(Mask_64 first) {
    return order_of(bits_64(first));
}
INLINE void spread_64(int64_t *begin, int64_t *end, Reg_64 v, Order_64 order) {
    v = _mm256_permutevar8x32_epi32(v, order);
    save_64(begin, v);
    save_64(end - 4, v);
}

/* -- four float64, none of them nan ----------------------------------------------------------------------- */

typedef __m256d Reg_f64;
typedef __m256d Mask_f64;
typedef __m256i Order_f64;

INLINE Reg_f64 load_f64(const double *p) {
    return _mm256_loadu_pd(p);
}
INLINE void save_f64(double *p, Reg_f64 v) {
    _mm256_storeu_pd(p, v);
}
INLINE Reg_f64 splat_f64(double x) {
    return _mm256_set1_pd(x);
}
INLINE Reg_f64 load_some_f64(const double *p, int64_t n, double other) {
    return _mm256_blendv_pd(splat_f64(other), _mm256_maskload_pd(p, begin_64(n)),
                            _mm256_castsi256_pd(begin_64(n)));
}
INLINE void save_some_f64(double *p, Reg_f64 v, int64_t n) {
    _mm256_maskstore_pd(p, begin_64(n), v);
}
INLINE Mask_f64 less_f64(Reg_f64 a, Reg_f64 b) {
    return _mm256_cmp_pd(a, b, _CMP_LT_OQ);
}
INLINE Mask_f64 not_f64(Mask_f64 a) {
    return _mm256_castsi256_pd(not_64(_mm256_castpd_si256(a)));
}
INLINE int ones_f64(Mask_f64 m) {
    return ones_64(_mm256_castpd_si256(m));
}
INLINE Reg_f64 least_f64(Reg_f64 a, Reg_f64 b) {
    return _mm256_min_pd(a, b);
}
INLINE Reg_f64 most_f64(Reg_f64 a, Reg_f64 b) {
    return _mm256_max_pd(a, b);
}
INLINE void exchange_f64(Reg_f64 *a, Reg_f64 *b) {
    Reg_f64 low = least_f64(*a, *b);
    *b = most_f64(*b, *a);
    *a = low;
}
INLINE Reg_f64 flip_f64(Reg_f64 v, int by) {
    return _mm256_castsi256_pd(flip_64(_mm256_castpd_si256(v), by));
}
INLINE Reg_f64 pick_f64(Reg_f64 a, Reg_f64 b, int bit) {
    return bit == 1 ? _mm256_blend_pd(a, b, 0xA) : _mm256_blend_pd(a, b, 0xC);
}
INLINE Order_f64 order_f64(Mask_f64 first) {
    return order_64(_mm256_castpd_si256(first));
}
INLINE void spread_f64(double *begin, double *end, Reg_f64 v, Order_f64 order) {
    v = _mm256_castsi256_pd(_mm256_permutevar8x32_epi32(_mm256_castpd_si256(v), order));
    save_f64(begin, v);
    save_f64(end - 4, v);
}

/* -- eight words of 32 bits ------------------------------------------------------------------------------- */

typedef __m256i Reg_32;
typedef __m256i Mask_32;
typedef __m256i Order_32;

INLINE Reg_32 load_32(const int32_t *p) {
    return _mm256_loadu_si256((const __m256i *)p);
}
INLINE void save_32(int32_t *p, Reg_32 v) {
    _mm256_storeu_si256((__m256i *)p, v);
}
INLINE Reg_32 splat_32(int32_t x) {
    return _mm256_set1_epi32(x);
}
INLINE Mask_32 begin_32(int64_t n) {
    int count = n >= 8 ? 8 : n <= 0 ? 0 : (int)n;
    return _mm256_cmpgt_epi32(splat_32(count), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}
INLINE Reg_32 load_some_32(const int32_t *p, int64_t n, int32_t other) {
    return _mm256_blendv_epi8(splat_32(other), _mm256_maskload_epi32(p, begin_32(n)), begin_32(n));
}
INLINE void save_some_32(int32_t *p, Reg_32 v, int64_t n) {
    _mm256_maskstore_epi32(p, begin_32(n), v);
}
INLINE Mask_32 less_32(Reg_32 a, Reg_32 b) {
    return _mm256_cmpgt_epi32(b, a);
}
INLINE Mask_32 not_32(Mask_32 a) {
    return not_64(a);
}
INLINE int ones_32(Mask_32 m) {
    return __builtin_popcount(bits_64(m));
}
INLINE Reg_32 least_32(Reg_32 a, Reg_32 b) {
    return _mm256_min_epi32(a, b);
}
INLINE Reg_32 most_32(Reg_32 a, Reg_32 b) {
    return _mm256_max_epi32(a, b);
}
INLINE void exchange_32(Reg_32 *a, Reg_32 *b) {
    Reg_32 low = least_32(*a, *b);
    *b = most_32(*b, *a);
    *a = low;
}
INLINE Reg_32 flip_32(Reg_32 v, int by) {
    if (by == 1) return _mm256_shuffle_epi32(v, 0xB1);
    if (by == 2) return _mm256_shuffle_epi32(v, 0x4E);
    if (by == 3) return _mm256_shuffle_epi32(v, 0x1B);
    if (by == 4) return _mm256_permute4x64_epi64(v, 0x4E);
    return _mm256_permutevar8x32_epi32(v, _mm256_set_epi32(0, 1, 2, 3, 4, 5, 6, 7)); /* by 7 */
}
INLINE Reg_32 pick_32(Reg_32 a, Reg_32 b, int bit) {
    if (bit == 1) return _mm256_blend_epi32(a, b, 0xAA);
    return bit == 2 ? _mm256_blend_epi32(a, b, 0xCC) : _mm256_blend_epi32(a, b, 0xF0);
}
INLINE Order_32 order_32(Mask_32 first) {
    return order_of(bits_64(first));
}
INLINE void spread_32(int32_t *begin, int32_t *end, Reg_32 v, Order_32 order) {
    v = _mm256_permutevar8x32_epi32(v, order);
    save_32(begin, v);
    save_32(end - 8, v);
}

/* -- eight float32, none of them nan ---------------------------------------------------------------------- */

typedef __m256 Reg_f32;
typedef __m256 Mask_f32;
typedef __m256i Order_f32;

INLINE Reg_f32 load_f32(const float *p) {
    return _mm256_loadu_ps(p);
}
INLINE void save_f32(float *p, Reg_f32 v) {
    _mm256_storeu_ps(p, v);
}
INLINE Reg_f32 splat_f32(float x) {
    return _mm256_set1_ps(x);
}
INLINE Reg_f32 load_some_f32(const float *p, int64_t n, float other) {
    return _mm256_blendv_ps(splat_f32(other), _mm256_maskload_ps(p, begin_32(n)),
                            _mm256_castsi256_ps(begin_32(n)));
}
INLINE void save_some_f32(float *p, Reg_f32 v, int64_t n) {
    _mm256_maskstore_ps(p, begin_32(n), v);
}
INLINE Mask_f32 less_f32(Reg_f32 a, Reg_f32 b) {
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
INLINE Mask_f32 not_f32(Mask_f32 a) {
    return _mm256_castsi256_ps(not_64(_mm256_castps_si256(a)));
}
INLINE int ones_f32(Mask_f32 m) {
    return ones_32(_mm256_castps_si256(m));
}
INLINE Reg_f32 least_f32(Reg_f32 a, Reg_f32 b) {
    return _mm256_min_ps(a, b);
}
INLINE Reg_f32 most_f32(Reg_f32 a, Reg_f32 b) {
    return _mm256_max_ps(a, b);
}
INLINE void exchange_f32(Reg_f32 *a, Reg_f32 *b) {
    Reg_f32 low = least_f32(*a, *b);
    *b = most_f32(*b, *a);
    *a = low;
}
INLINE Reg_f32 flip_f32(Reg_f32 v, int by) {
    return _mm256_castsi256_ps(flip_32(_mm256_castps_si256(v), by));
}
INLINE Reg_f32 pick_f32(Reg_f32 a, Reg_f32 b, int bit) {
    return _mm256_castsi256_ps(pick_32(_mm256_castps_si256(a), _mm256_castps_si256(b), bit));
}
INLINE Order_f32 order_f32(Mask_f32 first) {
    return order_32(_mm256_castps_si256(first));
}
INLINE void spread_f32(float *begin, float *end, Reg_f32 v, Order_f32 order) {
    v = _mm256_permutevar8x32_ps(v, order);
    save_f32(begin, v);
    save_f32(end - 8, v);
}
#undef INLINE

#include "codegen/sort_kinds.inc"

const SortRoutines sort_avx2 = {sort_words, sort_pairs};
#endif
