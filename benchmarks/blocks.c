/* blocks.c - the kernels of blocks.py in C with OpenMP: blocks are rounds of a parallel loop, and what stands between two barriers
 * is a loop over the threads of a block. */
#include <stdint.h>
#include <string.h>

enum { TILE = 16, BLOCK = 256, BLOCKS = 64 };

void product(const float *a, const float *b, float *c, int64_t n) {
#pragma omp parallel for collapse(2)
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++) {
            float sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += a[y * n + k] * b[k * n + x];
            c[y * n + x] = sum;
        }
}

void tiled(const float *a, const float *b, float *c, int64_t n) {
#pragma omp parallel for collapse(2)
    for (int64_t by = 0; by < n / TILE; by++)
        for (int64_t bx = 0; bx < n / TILE; bx++) {
            float sa[TILE][TILE], sb[TILE][TILE], sum[TILE][TILE];
            memset(sum, 0, sizeof sum);
            for (int64_t i = 0; i < n / TILE; i++) {
                for (int y = 0; y < TILE; y++)
                    for (int x = 0; x < TILE; x++) {
                        sa[y][x] = a[(by * TILE + y) * n + i * TILE + x];
                        sb[y][x] = b[(i * TILE + y) * n + bx * TILE + x];
                    }
                for (int y = 0; y < TILE; y++)
                    for (int k = 0; k < TILE; k++)
                        for (int x = 0; x < TILE; x++)
                            sum[y][x] += sa[y][k] * sb[k][x];
            }
            for (int y = 0; y < TILE; y++)
                for (int x = 0; x < TILE; x++)
                    c[(by * TILE + y) * n + bx * TILE + x] = sum[y][x];
        }
}

void reduction(const float *a, float *out, int64_t n) {
#pragma omp parallel for
    for (int64_t b = 0; b < n / BLOCK; b++) {
        float s[BLOCK];
        for (int t = 0; t < BLOCK; t++)
            s[t] = a[b * BLOCK + t];
        for (int k = BLOCK / 2; k > 0; k /= 2)
            for (int t = 0; t < k; t++)
                s[t] += s[t + k];
        out[b] = s[0];
    }
}

void scan(const float *a, float *out, int64_t n) {
#pragma omp parallel for
    for (int64_t b = 0; b < n / BLOCK; b++) {
        float s[BLOCK], v[BLOCK];
        for (int t = 0; t < BLOCK; t++)
            s[t] = a[b * BLOCK + t];
        for (int d = 1; d < BLOCK; d *= 2) {
            for (int t = 0; t < BLOCK; t++)
                v[t] = t >= d ? s[t] + s[t - d] : s[t];
            for (int t = 0; t < BLOCK; t++)
                s[t] = v[t];
        }
        for (int t = 0; t < BLOCK; t++)
            out[b * BLOCK + t] = s[t];
    }
}

void stencil(const float *a, float *out, int64_t n) {
#pragma omp parallel for
    for (int64_t b = 0; b < n / BLOCK; b++) {
        float s[BLOCK + 2];
        for (int t = 0; t < BLOCK; t++)
            s[t + 1] = a[b * BLOCK + t];
        s[0] = b > 0 ? a[b * BLOCK - 1] : 0;
        s[BLOCK + 1] = (b + 1) * BLOCK < n ? a[(b + 1) * BLOCK] : 0;
        for (int t = 0; t < BLOCK; t++)
            out[b * BLOCK + t] = 0.25f * s[t] + 0.5f * s[t + 1] + 0.25f * s[t + 2];
    }
}

void histogram(const uint8_t *a, int32_t *out, int64_t n) {
#pragma omp parallel for
    for (int64_t b = 0; b < BLOCKS; b++) {
        int32_t h[BLOCK] = {0};
        for (int t = 0; t < BLOCK; t++)
            for (int64_t i = b * BLOCK + t; i < n; i += BLOCKS * BLOCK)
#pragma omp atomic
                h[a[i]]++;
        for (int t = 0; t < BLOCK; t++)
#pragma omp atomic
            out[t] += h[t];
    }
}
