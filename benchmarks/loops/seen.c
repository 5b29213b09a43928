/* seen.c - the kernels of seen.py in C. */
#include "loops.h"

void gemv_transposed(const Real *A, Int rows, Int columns, const Real *x, Int nx, Real *y, Int ny) {
    for (Int j = 0; j < columns; j++)
        y[j] = 0;
    for (Int i = 0; i < rows; i++)
        for (Int j = 0; j < columns; j++)
            y[j] += A[i * columns + j] * x[i];
}

void lower_solve(const Real *L, Int n0, Int n1, const Real *b, Int n, Real *x, Int nx) {
    for (Int i = 0; i < n; i++) {
        Real s = b[i];
        for (Int j = 0; j < i; j++)
            s -= L[i * n1 + j] * x[j];
        x[i] = s / L[i * n1 + i];
    }
}

void heat2d(Real *a, Int h, Int w, Real *b, Int bh, Int bw, Int steps) {
    for (Int t = 0; t < steps; t++) {
        for (Int y = 1; y < h - 1; y++)
            for (Int x = 1; x < w - 1; x++)
                b[y * bw + x] =
                    a[y * w + x] + 0.2 * (a[(y - 1) * w + x] + a[(y + 1) * w + x] +
                                          a[y * w + x - 1] + a[y * w + x + 1] - 4.0 * a[y * w + x]);
        for (Int y = 1; y < h - 1; y++)
            for (Int x = 1; x < w - 1; x++)
                a[y * w + x] = b[y * bw + x];
    }
}

void wave_periodic(const Real *u, Int n, const Real *v, Int nv, Real *out, Int no) {
    for (Int i = 0; i < n; i++) {
        Real left = u[i ? i - 1 : n - 1], right = i + 1 < n ? u[i + 1] : u[0];
        out[i] = 2.0 * u[i] - v[i] + 0.25 * (left - 2.0 * u[i] + right);
    }
}

void sobel(const Real *img, Int h, Int w, Real *out, Int oh, Int ow) {
    for (Int y = 1; y < h - 1; y++)
        for (Int x = 1; x < w - 1; x++) {
            Real gx = 0, gy = 0;
            for (Int dy = -1; dy < 2; dy++)
                for (Int dx = -1; dx < 2; dx++) {
                    Real p = img[(y + dy) * w + x + dx];
                    gx += p * dx * (2 - llabs(dy));
                    gy += p * dy * (2 - llabs(dx));
                }
            out[y * ow + x] = sqrt(gx * gx + gy * gy);
        }
}

void gray(const Byte *rgb, Int h, Int w, Int three, Byte *out, Int oh, Int ow) {
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            const Byte *p = rgb + (y * w + x) * three;
            out[y * ow + x] = (Byte)((77 * p[0] + 150 * p[1] + 29 * p[2]) >> 8);
        }
}

void pagerank_step(const Int *indptr, Int np, const Int *indices, Int ni, const Real *rank, Int nr,
                   Real *out, Int n) {
    for (Int i = 0; i < n; i++)
        out[i] = 0.15 / n;
    for (Int i = 0; i < n; i++) {
        Int degree = indptr[i + 1] - indptr[i];
        if (!degree) continue;
        Real share = 0.85 * rank[i] / degree;
        for (Int k = indptr[i]; k < indptr[i + 1]; k++)
            out[indices[k]] += share;
    }
}

void floyd_warshall(Real *d, Int n, Int n1, const Real *src, Int s0, Int s1) {
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < n; j++)
            d[i * n + j] = src[i * n + j];
    for (Int k = 0; k < n; k++)
        for (Int i = 0; i < n; i++)
            for (Int j = 0; j < n; j++) {
                Real t = d[i * n + k] + d[k * n + j];
                if (t < d[i * n + j]) d[i * n + j] = t;
            }
}

void merge_sort(const Real *src, Int n, Real *a, Int na, Real *b, Int nb) {
    for (Int i = 0; i < n; i++)
        a[i] = src[i];
    for (Int width = 1; width < n; width *= 2) {
        for (Int lo = 0; lo < n; lo += 2 * width) {
            Int mid = lesser(lo + width, n), hi = lesser(lo + 2 * width, n), i = lo, j = mid;
            for (Int k = lo; k < hi; k++) {
                if (i < mid && (j >= hi || a[i] <= a[j]))
                    b[k] = a[i++];
                else
                    b[k] = a[j++];
            }
        }
        for (Int i = 0; i < n; i++)
            a[i] = b[i];
    }
}

void counting_sort(const Int *a, Int n, Int *count, Int m, Int *out, Int no) {
    Int at = 0;
    for (Int k = 0; k < m; k++)
        count[k] = 0;
    for (Int i = 0; i < n; i++)
        count[a[i]]++;
    for (Int k = 0; k < m; k++)
        for (Int r = 0; r < count[k]; r++)
            out[at++] = k;
}

Int edit_distance(const Byte *a, Int n, const Byte *b, Int m, Int *row, Int nr) {
    for (Int j = 0; j <= m; j++)
        row[j] = j;
    for (Int i = 0; i < n; i++) {
        Int corner = row[0];
        row[0] = i + 1;
        for (Int j = 0; j < m; j++) {
            Int old = row[j + 1], cost = corner + (a[i] != b[j]), best = lesser(old, row[j]) + 1;
            row[j + 1] = lesser(best, cost);
            corner = old;
        }
    }
    return row[m];
}

Int knapsack(const Int *weights, Int n, const Int *values, Int nv, Int *best, Int nb) {
    Int cap = nb - 1;
    for (Int w = 0; w <= cap; w++)
        best[w] = 0;
    for (Int i = 0; i < n; i++)
        for (Int w = cap; w >= weights[i]; w--) {
            Int v = best[w - weights[i]] + values[i];
            if (v > best[w]) best[w] = v;
        }
    return best[cap];
}

Int count_words(const Byte *text, Int n) {
    Int words = 0;
    bool inside = false;
    for (Int i = 0; i < n; i++) {
        Byte c = text[i];
        bool space = c == 32 || c == 10 || c == 9;
        if (inside && space) {
            inside = false;
        } else if (!inside && !space) {
            inside = true;
            words++;
        }
    }
    return words;
}

Int crc_bits(const Byte *data, Int n) {
    Int crc = 0xFFFFFFFF;
    for (Int i = 0; i < n; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++) {
            if (crc & 1)
                crc = (crc >> 1) ^ 0xEDB88320;
            else
                crc >>= 1;
        }
    }
    return crc ^ 0xFFFFFFFF;
}

Int gcd_sum(Int n) {
    Int total = 0;
    for (Int a = 1; a < n; a++)
        for (Int b = 1; b < a; b++) {
            Int x = a, y = b;
            while (y) {
                Int t = x % y;
                x = y, y = t;
            }
            total += x;
        }
    return total;
}

Int power_mod_sum(Int n, Int e, Int mod) {
    Int total = 0;
    for (Int b = 0; b < n; b++) {
        Int result = 1, x = floor_mod(b, mod);
        for (Int k = e; k > 0; k >>= 1) {
            if (k & 1) result = floor_mod(result * x, mod);
            x = floor_mod(x * x, mod);
        }
        total += result;
    }
    return total;
}

void welford(const Real *a, Int n, Real *out, Int no) {
    Real mean = 0, m2 = 0;
    for (Int i = 0; i < n; i++) {
        Real d = a[i] - mean;
        mean += d / (i + 1);
        m2 += d * (a[i] - mean);
    }
    out[0] = mean, out[1] = m2 / n;
}

void float_histogram(const Real *a, Int na, Real low, Real high, Int *out, Int n) {
    Real scale = n / (high - low);
    for (Int k = 0; k < n; k++)
        out[k] = 0;
    for (Int i = 0; i < na; i++) {
        Int k = (Int)((a[i] - low) * scale);
        if (0 <= k && k < n) out[k]++;
    }
}

Int ising_sweep(Int *s, Int n, Int m, const Real *rand, Int rn, Int rm, Real beta) {
    Int flips = 0;
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < m; j++) {
            Int near = s[(i ? i - 1 : n - 1) * m + j] + s[(i + 1) % n * m + j] +
                       s[i * m + (j ? j - 1 : m - 1)] + s[i * m + (j + 1) % m];
            Int cost = 2 * s[i * m + j] * near;
            if (cost <= 0 || rand[i * m + j] < exp(-beta * cost)) {
                s[i * m + j] = -s[i * m + j];
                flips++;
            }
        }
    return flips;
}

void fir(const Real *x, Int n, const Real *taps, Int k, Real *out, Int no) {
    for (Int i = 0; i < n - k + 1; i++) {
        Real s = 0;
        for (Int j = 0; j < k; j++)
            s += x[i + j] * taps[k - 1 - j];
        out[i] = s;
    }
}

void biquad(const Real *x, Int n, const Real *c, Int nc, Real *out, Int no) {
    Real z1 = 0, z2 = 0;
    for (Int i = 0; i < n; i++) {
        Real y = c[0] * x[i] + z1;
        z1 = c[1] * x[i] - c[3] * y + z2;
        z2 = c[2] * x[i] - c[4] * y;
        out[i] = y;
    }
}

Real polygon_area(const Real *xs, Int n, const Real *ys, Int ny) {
    Real s = 0;
    for (Int i = 0; i < n; i++) {
        Int before = i ? i - 1 : n - 1;
        s += xs[before] * ys[i] - xs[i] * ys[before];
    }
    return 0.5 * fabs(s);
}

void compound(const Real *rates, Int n, const Int *years, Int ny, Real *out, Int no) {
    for (Int i = 0; i < n; i++) {
        Real x = 1.0 + rates[i], result = 1;
        for (uint64_t k = (uint64_t)years[i]; k; k >>= 1, x *= x)
            if (k & 1) result *= x;
        out[i] = result;
    }
}

#include "seen_more.h"
#include "seen_third.h"
#include "seen_fourth.h"
#include "seen_fifth.h"
#include "seen_sixth.h"
