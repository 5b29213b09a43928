/* trial.c - the kernels of trial.py. */
#include "loops.h"

typedef float Single;

static inline Int greater(Int a, Int b) {
    return a > b ? a : b;
}

void householder_qr(const Real *a, Int m, Int n, Real *r, Int rm, Int rn, Real *tau, Int nt) {
    for (Int i = 0; i < m * n; i++)
        r[i] = a[i];
    for (Int k = 0; k < n; k++) {
        Real norm = 0;
        for (Int i = k; i < m; i++)
            norm += r[i * n + k] * r[i * n + k];
        norm = sqrt(norm);
        if (norm == 0) {
            tau[k] = 0;
            continue;
        }
        Real alpha = r[k * n + k] > 0 ? -norm : norm;
        Real v0 = r[k * n + k] - alpha;
        for (Int i = k + 1; i < m; i++)
            r[i * n + k] /= v0;
        tau[k] = -v0 / alpha;
        r[k * n + k] = alpha;
        for (Int j = k + 1; j < n; j++) {
            Real s = r[k * n + j];
            for (Int i = k + 1; i < m; i++)
                s += r[i * n + k] * r[i * n + j];
            s *= tau[k];
            r[k * n + j] -= s;
            for (Int i = k + 1; i < m; i++)
                r[i * n + j] -= s * r[i * n + k];
        }
    }
}

Int banded_cholesky(const Real *band, Int n, Int w, Real *low, Int ln, Int lw) {
    for (Int i = 0; i < n; i++)
        for (Int d = lesser(w - 1, i); d >= 0; d--) {
            Int j = i - d;
            Real s = band[i * w + d];
            for (Int k = greater(0, i - w + 1); k < j; k++)
                s -= low[i * w + i - k] * low[j * w + j - k];
            if (d == 0) {
                if (s <= 0) return i;
                low[i * w] = sqrt(s);
            } else
                low[i * w + d] = s / low[j * w];
        }
    return n;
}

void tridiagonal_many(const Real *lower, Int n1, const Real *diag, Int n2, const Real *upper,
                      Int n3, const Real *rhs, Int n, Int m, Real *x, Int xn, Int xm, Real *cp,
                      Int nc) {
    cp[0] = upper[0] / diag[0];
    for (Int k = 0; k < m; k++)
        x[k] = rhs[k] / diag[0];
    for (Int i = 1; i < n; i++) {
        Real scale = 1 / (diag[i] - lower[i] * cp[i - 1]);
        cp[i] = upper[i] * scale;
        for (Int k = 0; k < m; k++)
            x[i * m + k] = (rhs[i * m + k] - lower[i] * x[(i - 1) * m + k]) * scale;
    }
    for (Int i = n - 2; i >= 0; i--)
        for (Int k = 0; k < m; k++)
            x[i * m + k] -= cp[i] * x[(i + 1) * m + k];
}

void fdtd_tm(Single *ez, Int nx, Int ny, Single *hx, Int a1, Int a2, Single *hy, Int b1, Int b2,
             const Single *eps, Int c1, Int c2, Int steps) {
    for (Int i = 0; i < nx * ny; i++)
        ez[i] = hx[i] = hy[i] = 0;
    for (Int t = 0; t < steps; t++) {
        for (Int i = 0; i < nx; i++)
            for (Int j = 0; j < ny - 1; j++)
                hx[i * ny + j] -= 0.5f * (ez[i * ny + j + 1] - ez[i * ny + j]);
        for (Int i = 0; i < nx - 1; i++)
            for (Int j = 0; j < ny; j++)
                hy[i * ny + j] += 0.5f * (ez[(i + 1) * ny + j] - ez[i * ny + j]);
        for (Int i = 1; i < nx; i++)
            for (Int j = 1; j < ny; j++)
                ez[i * ny + j] += eps[i * ny + j] * (hy[i * ny + j] - hy[(i - 1) * ny + j] -
                                                     hx[i * ny + j] + hx[i * ny + j - 1]);
        ez[nx / 2 * ny + ny / 3] += sin(0.2 * t);
    }
}

Real red_black_sor(Real *u, Int n, Int m, const Real *f, Int fn, Int fm, Real omega, Int sweeps) {
    memset(u, 0, n * m * sizeof *u);
    Real worst = 0;
    for (Int s = 0; s < sweeps; s++) {
        worst = 0;
        for (Int color = 0; color < 2; color++)
            for (Int i = 1; i < n - 1; i++)
                for (Int j = 1 + (i + color) % 2; j < m - 1; j += 2) {
                    Real r = 0.25 * (u[(i - 1) * m + j] + u[(i + 1) * m + j] + u[i * m + j - 1] +
                                     u[i * m + j + 1] - f[i * m + j]) -
                             u[i * m + j];
                    u[i * m + j] += omega * r;
                    Real size = fabs(r);
                    if (size > worst) worst = size;
                }
    }
    return worst;
}

void bilateral(const Byte *image, Int h, Int w, Byte *out, Int oh, Int ow, const Real *spatial,
               Int k1, Int k2, const Real *tonal, Int nt) {
    Int radius = k1 / 2;
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            Int here = image[y * w + x];
            Real total = 0, weight = 0;
            for (Int dy = -radius; dy <= radius; dy++) {
                Int yy = y + dy;
                if (yy < 0 || yy >= h) continue;
                for (Int dx = -radius; dx <= radius; dx++) {
                    Int xx = x + dx;
                    if (xx < 0 || xx >= w) continue;
                    Int there = image[yy * w + xx];
                    Real k = spatial[(dy + radius) * k2 + dx + radius] * tonal[llabs(there - here)];
                    total += k * there;
                    weight += k;
                }
            }
            out[y * w + x] = (Byte)(total / weight + 0.5);
        }
}

Int thin_edges(const Single *image, Int h, Int w, Single *mag, Int mh, Int mw, bool *edge, Int eh,
               Int ew, Real threshold) {
    for (Int y = 1; y < h - 1; y++)
        for (Int x = 1; x < w - 1; x++) {
            Single gx = image[y * w + x + 1] - image[y * w + x - 1];
            Single gy = image[(y + 1) * w + x] - image[(y - 1) * w + x];
            mag[y * w + x] = sqrtf(gx * gx + gy * gy);
        }
    Int count = 0;
    for (Int y = 2; y < h - 2; y++)
        for (Int x = 2; x < w - 2; x++) {
            const Single *at = mag + y * w + x;
            Single m = *at, a, b;
            edge[y * w + x] = false;
            if (m < threshold) continue;
            Single gx = image[y * w + x + 1] - image[y * w + x - 1];
            Single gy = image[(y + 1) * w + x] - image[(y - 1) * w + x];
            if (fabsf(gx) > 2.0 * fabsf(gy))
                a = at[-1], b = at[1];
            else if (fabsf(gy) > 2.0 * fabsf(gx))
                a = at[-w], b = at[w];
            else if ((gx > 0) == (gy > 0))
                a = at[-w - 1], b = at[w + 1];
            else
                a = at[-w + 1], b = at[w - 1];
            if (m >= a && m > b) {
                edge[y * w + x] = true;
                count++;
            }
        }
    return count;
}

Int bfs_levels(const int32_t *indptr, Int np, const int32_t *indices, Int ni, int32_t *level,
               Int nl, int32_t *queue, Int nq, Int source) {
    Int n = np - 1;
    for (Int v = 0; v < n; v++)
        level[v] = -1;
    level[source] = 0;
    queue[0] = source;
    Int head = 0, tail = 1;
    while (head < tail) {
        Int v = queue[head++];
        for (Int e = indptr[v]; e < indptr[v + 1]; e++) {
            Int w = indices[e];
            if (level[w] < 0) {
                level[w] = level[v] + 1;
                queue[tail++] = w;
            }
        }
    }
    return tail;
}

static Int find_root(Int *parent, Int v) {
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

Real kruskal_weight(const Int *eu, Int n1, const Int *ev, Int n2, const Real *weight, Int n3,
                    const Int *order, Int edges, Int *parent, Int n, int32_t *size, Int ns) {
    for (Int v = 0; v < n; v++) {
        parent[v] = v;
        size[v] = 1;
    }
    Real total = 0;
    Int left = n - 1;
    for (Int k = 0; k < edges; k++) {
        Int e = order[k], a = find_root(parent, eu[e]), b = find_root(parent, ev[e]);
        if (a == b) continue;
        if (size[a] < size[b]) {
            Int t = a;
            a = b;
            b = t;
        }
        parent[b] = a;
        size[a] += size[b];
        total += weight[e];
        if (--left == 0) break;
    }
    return total;
}

static void sift_down(Int *a, Int start, Int end) {
    Int root = start;
    while (2 * root + 1 < end) {
        Int child = 2 * root + 1;
        if (child + 1 < end && a[child] < a[child + 1]) child++;
        if (a[root] >= a[child]) return;
        Int t = a[root];
        a[root] = a[child];
        a[child] = t;
        root = child;
    }
}

void heap_sort(const Int *given, Int n, Int *a, Int na) {
    for (Int i = 0; i < n; i++)
        a[i] = given[i];
    for (Int start = n / 2 - 1; start >= 0; start--)
        sift_down(a, start, n);
    for (Int end = n - 1; end > 0; end--) {
        Int t = a[0];
        a[0] = a[end];
        a[end] = t;
        sift_down(a, 0, end);
    }
}

Int interpolation_search(const Int *table, Int n, const Int *keys, Int nk, int32_t *places,
                         Int np) {
    Int found = 0;
    for (Int k = 0; k < nk; k++) {
        Int key = keys[k], lo = 0, hi = n - 1, at = -1;
        while (lo <= hi && table[lo] <= key && key <= table[hi]) {
            if (table[lo] == table[hi]) {
                if (table[lo] == key) at = lo;
                break;
            }
            Int mid = lo + (key - table[lo]) * (hi - lo) / (table[hi] - table[lo]);
            if (table[mid] == key) {
                at = mid;
                break;
            }
            if (table[mid] < key)
                lo = mid + 1;
            else
                hi = mid - 1;
        }
        places[k] = at;
        if (at >= 0) found++;
    }
    return found;
}

Int lcs_rolling(const Byte *a, Int n, const Byte *b, Int m, int32_t *rows, Int two, Int w) {
    for (Int j = 0; j <= m; j++)
        rows[j] = rows[w + j] = 0;
    for (Int i = 0; i < n; i++) {
        int32_t *now = rows + ((i + 1) & 1) * w;
        const int32_t *was = rows + (i & 1) * w;
        for (Int j = 0; j < m; j++) {
            if (a[i] == b[j])
                now[j + 1] = was[j] + 1;
            else if (was[j + 1] >= now[j])
                now[j + 1] = was[j + 1];
            else
                now[j + 1] = now[j];
        }
    }
    return rows[(n & 1) * w + m];
}

Int matrix_chain(const Int *dims, Int nd, Int *cost, Int c1, Int w, int16_t *split, Int s1,
                 Int s2) {
    Int n = nd - 1;
    for (Int i = 0; i < n; i++)
        cost[i * w + i] = 0;
    for (Int span = 2; span <= n; span++)
        for (Int i = 0; i <= n - span; i++) {
            Int j = i + span - 1, best = (Int)1 << 60, where = i;
            for (Int k = i; k < j; k++) {
                Int c =
                    cost[i * w + k] + cost[(k + 1) * w + j] + dims[i] * dims[k + 1] * dims[j + 1];
                if (c < best) {
                    best = c;
                    where = k;
                }
            }
            cost[i * w + j] = best;
            split[i * s2 + j] = where;
        }
    return cost[n - 1];
}

Int horspool(const Byte *text, Int n, const Byte *pattern, Int m, int32_t *skip, Int ns) {
    for (Int c = 0; c < 256; c++)
        skip[c] = m;
    for (Int i = 0; i < m - 1; i++)
        skip[pattern[i]] = m - 1 - i;
    Int count = 0, at = 0;
    while (at + m <= n) {
        Int j = m - 1;
        while (j >= 0 && text[at + j] == pattern[j])
            j--;
        if (j < 0) count++;
        at += skip[text[at + m - 1]];
    }
    return count;
}

void z_boxes(const Byte *s, Int n, int32_t *z, Int nz) {
    z[0] = n;
    Int left = 0, right = 0;
    for (Int i = 1; i < n; i++) {
        Int k = 0;
        if (i < right) k = lesser(right - i, z[i - left]);
        while (i + k < n && s[k] == s[i + k])
            k++;
        if (i + k > right) {
            left = i;
            right = i + k;
        }
        z[i] = k;
    }
}

static Int power_mod(Int base, Int exponent, Int modulus) {
    Int result = 1;
    base %= modulus;
    while (exponent > 0) {
        if (exponent & 1) result = result * base % modulus;
        base = base * base % modulus;
        exponent >>= 1;
    }
    return result;
}

Int miller_rabin(const Int *numbers, Int nn, const Int *bases, Int nb, bool *prime, Int np) {
    Int count = 0;
    for (Int k = 0; k < nn; k++) {
        Int n = numbers[k];
        prime[k] = false;
        if (n < 3 || n % 2 == 0) continue;
        Int d = n - 1, s = 0;
        while (d % 2 == 0) {
            d /= 2;
            s++;
        }
        bool good = true;
        for (Int b = 0; b < nb; b++) {
            if (n == bases[b]) break;
            Int x = power_mod(bases[b], d, n);
            if (x == 1 || x == n - 1) continue;
            good = false;
            for (Int r = 0; r < s - 1; r++) {
                x = x * x % n;
                if (x == n - 1) {
                    good = true;
                    break;
                }
            }
            if (!good) break;
        }
        if (good) {
            prime[k] = true;
            count++;
        }
    }
    return count;
}

void walsh_hadamard(const int32_t *given, Int n, int32_t *a, Int na) {
    for (Int i = 0; i < n; i++)
        a[i] = given[i];
    for (Int h = 1; h < n; h *= 2)
        for (Int i = 0; i < n; i += 2 * h)
            for (Int j = i; j < i + h; j++) {
                int32_t x = a[j], y = a[j + h];
                a[j] = x + y;
                a[j + h] = x - y;
            }
}

void welford_covariance(const Real *samples, Int n, Int d, Real *mean, Int nm, Real *cov, Int c1,
                        Int c2, Real *delta, Int nd) {
    memset(mean, 0, d * sizeof *mean);
    memset(cov, 0, d * d * sizeof *cov);
    for (Int t = 0; t < n; t++) {
        const Real *x = samples + t * d;
        for (Int i = 0; i < d; i++) {
            delta[i] = x[i] - mean[i];
            mean[i] += delta[i] / (t + 1);
        }
        for (Int i = 0; i < d; i++)
            for (Int j = 0; j <= i; j++)
                cov[i * d + j] += delta[i] * (x[j] - mean[j]);
    }
    for (Int i = 0; i < d; i++)
        for (Int j = 0; j <= i; j++) {
            cov[i * d + j] /= n - 1;
            cov[j * d + i] = cov[i * d + j];
        }
}

void rolling_median(const Real *x, Int n, Real *window, Int w, Real *out, Int no) {
    Int size = 0;
    for (Int i = 0; i < n; i++) {
        if (size == w) {
            Real gone = x[i - w];
            Int k = 0;
            while (window[k] != gone)
                k++;
            for (; k + 1 < size; k++)
                window[k] = window[k + 1];
            size--;
        }
        Int k = size;
        for (; k > 0 && window[k - 1] > x[i]; k--)
            window[k] = window[k - 1];
        window[k] = x[i];
        size++;
        out[i] = size % 2 == 1 ? window[size / 2] : 0.5 * (window[size / 2 - 1] + window[size / 2]);
    }
}

static inline Int lcg(Int state) {
    return (state * 1103515245 + 12345) & 0x7FFFFFFF;
}

Real queue_servers(Real *free_at, Int servers, Int customers, Real rate, Real service, Int seed) {
    for (Int s = 0; s < servers; s++)
        free_at[s] = 0;
    Int state = seed;
    Real clock = 0, waited = 0;
    for (Int c = 0; c < customers; c++) {
        state = lcg(state);
        clock -= log((state + 1) / 2147483649.0) / rate;
        Int best = 0;
        for (Int s = 1; s < servers; s++)
            if (free_at[s] < free_at[best]) best = s;
        Real begin = clock > free_at[best] ? clock : free_at[best];
        waited += begin - clock;
        state = lcg(state);
        free_at[best] = begin - service * log((state + 1) / 2147483649.0);
    }
    return waited / customers;
}

Int ising_sweeps(const int8_t *start, Int s1, Int s2, int8_t *spin, Int n, Int m, const Int *accept,
                 Int na, Int sweeps, Int seed) {
    for (Int i = 0; i < n * m; i++)
        spin[i] = start[i];
    Int x = seed, energy = 0;
    for (Int t = 0; t < sweeps; t++)
        for (Int i = 0; i < n; i++)
            for (Int j = 0; j < m; j++) {
                x ^= (x << 13) & 0xFFFFFFFF;
                x ^= x >> 17;
                x ^= (x << 5) & 0xFFFFFFFF;
                Int up = i ? i - 1 : n - 1, back = j ? j - 1 : m - 1;
                Int near = spin[up * m + j] + spin[i * m + back] + spin[(i + 1) % n * m + j] +
                           spin[i * m + (j + 1) % m];
                Int cost = 2 * near * spin[i * m + j];
                if (cost <= 0 || x < accept[cost / 4]) {
                    spin[i * m + j] = -spin[i * m + j];
                    energy += cost;
                }
            }
    return energy;
}

void biquad_cascade(const Real *x, Int n, const Real *coeff, Int sections, Int five, Real *state,
                    Int s1, Int s2, Real *y, Int ny) {
    for (Int s = 0; s < sections; s++)
        state[s * 2] = state[s * 2 + 1] = 0;
    for (Int i = 0; i < n; i++) {
        Real v = x[i];
        for (Int s = 0; s < sections; s++) {
            const Real *c = coeff + s * five;
            Real *z = state + s * 2;
            Real o = c[0] * v + z[0];
            z[0] = c[1] * v - c[3] * o + z[1];
            z[1] = c[2] * v - c[4] * o;
            v = o;
        }
        y[i] = v;
    }
}

Int goertzel_bank(const Real *x, Int n, const Real *freqs, Int nf, Real *power, Int np) {
    Int best = 0;
    for (Int k = 0; k < nf; k++) {
        Real c = 2 * cos(2 * M_PI * freqs[k]), s1 = 0, s2 = 0;
        for (Int i = 0; i < n; i++) {
            Real s0 = x[i] + c * s1 - s2;
            s2 = s1;
            s1 = s0;
        }
        power[k] = s1 * s1 + s2 * s2 - c * s1 * s2;
        if (power[k] > power[best]) best = k;
    }
    return best;
}

static inline Real cross(const Real *px, const Real *py, Int a, Int b, Int c) {
    return (px[b] - px[a]) * (py[c] - py[a]) - (py[b] - py[a]) * (px[c] - px[a]);
}

Int hull_chain(const Real *px, Int n, const Real *py, Int ny, Int *hull, Int nh) {
    Int k = 0;
    for (Int i = 0; i < n; i++) {
        while (k >= 2 && cross(px, py, hull[k - 2], hull[k - 1], i) <= 0)
            k--;
        hull[k++] = i;
    }
    Int low = k + 1;
    for (Int i = n - 2; i >= 0; i--) {
        while (k >= low && cross(px, py, hull[k - 2], hull[k - 1], i) <= 0)
            k--;
        hull[k++] = i;
    }
    return k - 1;
}

Int points_inside(const Real *vx, Int n, const Real *vy, Int nv, const Real *px, Int np,
                  const Real *py, Int npy, bool *inside, Int ni) {
    Int count = 0;
    for (Int p = 0; p < np; p++) {
        Real x = px[p], y = py[p];
        bool odd = false;
        for (Int i = 0, before = n - 1; i < n; before = i++)
            if ((vy[i] > y) != (vy[before] > y) &&
                x < (vx[before] - vx[i]) * (y - vy[i]) / (vy[before] - vy[i]) + vx[i])
                odd = !odd;
        inside[p] = odd;
        count += odd;
    }
    return count;
}

Real american_put(Real spot, Real strike, Real rate, Real sigma, Real years, Int steps, Real *value,
                  Int nv) {
    Real dt = years / steps, up = exp(sigma * sqrt(dt)), down = 1 / up, grow = exp(rate * dt),
         p = (grow - down) / (up - down);
    Real price = spot * pow(down, steps);
    for (Int i = 0; i <= steps; i++) {
        Real now = strike - price;
        value[i] = now > 0 ? now : 0;
        price *= up * up;
    }
    Real low = spot * pow(down, steps);
    for (Int t = steps - 1; t >= 0; t--) {
        low *= up;
        price = low;
        for (Int i = 0; i <= t; i++) {
            Real keep = (p * value[i + 1] + (1 - p) * value[i]) / grow, now = strike - price;
            value[i] = keep > now ? keep : now;
            price *= up * up;
        }
    }
    return value[0];
}

static inline Real normal_cdf(Real x) {
    return 0.5 * erfc(-x / sqrt(2.0));
}

Int implied_volatility(const Real *spots, Int n, const Real *strikes, Int n2, const Real *years,
                       Int n3, Real rate, const Real *prices, Int n4, Real *vols, Int n5) {
    Int steps = 0;
    for (Int k = 0; k < n; k++) {
        Real s = spots[k], t = years[k], disc = strikes[k] * exp(-rate * t), root = sqrt(t),
             sigma = 0.3;
        for (Int trial = 0; trial < 20; trial++) {
            Real d1 = (log(s / strikes[k]) + (rate + 0.5 * sigma * sigma) * t) / (sigma * root),
                 d2 = d1 - sigma * root;
            Real miss = s * normal_cdf(d1) - disc * normal_cdf(d2) - prices[k];
            Real vega = s * root * exp(-0.5 * d1 * d1) * 0.3989422804014327;
            steps++;
            if (fabs(miss) < 1e-10 || vega < 1e-12) break;
            sigma -= miss / vega;
            if (sigma < 1e-4) sigma = 1e-4;
        }
        vols[k] = sigma;
    }
    return steps;
}

Int queens(Int n, Int *cols, Int n1, Int *left, Int n2, Int *right, Int n3, Int *free, Int n4) {
    Int full = ((Int)1 << n) - 1, count = 0, depth = 0;
    cols[0] = left[0] = right[0] = 0;
    free[0] = full;
    while (depth >= 0) {
        if (free[depth] == 0) {
            depth--;
            continue;
        }
        Int bit = free[depth] & -free[depth];
        free[depth] ^= bit;
        Int c = cols[depth] | bit;
        if (c == full) {
            count++;
            continue;
        }
        Int a = (left[depth] | bit) << 1, b = (right[depth] | bit) >> 1;
        depth++;
        cols[depth] = c;
        left[depth] = a;
        right[depth] = b;
        free[depth] = full & ~(c | a | b);
    }
    return count;
}

Int high_life(const int8_t *start, Int n, Int m, int8_t *cells, Int c1, Int c2, int8_t *fresh,
              Int f1, Int f2, Int generations) {
    for (Int i = 0; i < n * m; i++)
        cells[i] = start[i];
    Int alive = 0;
    for (Int g = 0; g < generations; g++) {
        for (Int i = 0; i < n; i++) {
            const int8_t *above = cells + (i ? i - 1 : n - 1) * m, *row = cells + i * m,
                         *below = cells + (i + 1 < n ? i + 1 : 0) * m;
            for (Int j = 0; j < m; j++) {
                Int l = j ? j - 1 : m - 1, r = j + 1 < m ? j + 1 : 0;
                Int around = above[l] + above[j] + above[r] + row[l] + row[r] + below[l] +
                             below[j] + below[r];
                fresh[i * m + j] =
                    around == 3 || (around == 2 && row[j] == 1) || (around == 6 && row[j] == 0);
            }
        }
        alive = 0;
        for (Int i = 0; i < n * m; i++) {
            cells[i] = fresh[i];
            alive += cells[i];
        }
    }
    return alive;
}

Int gotoh_local(const Byte *a, Int n, const Byte *b, Int m, const int8_t *score, Int s1,
                Int letters, Int gap_open, Int gap_extend, Int *h, Int nh, Int *e, Int ne) {
    for (Int j = 0; j <= m; j++) {
        h[j] = 0;
        e[j] = -1000000;
    }
    Int best = 0;
    for (Int i = 0; i < n; i++) {
        Int diagonal = 0, f = -1000000;
        for (Int j = 1; j <= m; j++) {
            e[j] = greater(e[j] - gap_extend, h[j] - gap_open);
            f = greater(f - gap_extend, h[j - 1] - gap_open);
            Int value = diagonal + score[a[i] * letters + b[j - 1]];
            diagonal = h[j];
            value = greater(greater(value, e[j]), greater(f, 0));
            h[j] = value;
            if (value > best) best = value;
        }
    }
    return best;
}

Int minimizers(const Byte *bases, Int n, Int k, Int w, Int *codes, Int nc, int32_t *picked,
               Int np) {
    Int mask = ((Int)1 << (2 * k)) - 1, forward = 0, backward = 0;
    for (Int i = 0; i < n; i++) {
        forward = ((forward << 2) | bases[i]) & mask;
        backward = (backward >> 2) | ((Int)(3 - bases[i]) << (2 * k - 2));
        codes[i] = (lesser(forward, backward) * 2654435761) & mask;
    }
    Int count = 0, last = -1;
    for (Int i = k + w - 2; i < n; i++) {
        Int best = i;
        for (Int j = i - 1; j > i - w; j--)
            if (codes[j] < codes[best]) best = j;
        if (best != last) {
            picked[count++] = best;
            last = best;
        }
    }
    return count;
}

Real cell_forces(const Real *x, Int n, const Real *y, Int ny, Real box, Int *head, Int cells,
                 Int c2, Int *follow, Int nf, Real *fx, Int nx, Real *fy, Int nfy) {
    for (Int i = 0; i < cells * cells; i++)
        head[i] = -1;
    for (Int p = 0; p < n; p++) {
        Int c = (Int)(x[p] / box * cells) * cells + (Int)(y[p] / box * cells);
        follow[p] = head[c];
        head[c] = p;
        fx[p] = fy[p] = 0;
    }
    Real energy = 0;
    for (Int ci = 0; ci < cells; ci++)
        for (Int cj = 0; cj < cells; cj++)
            for (Int p = head[ci * cells + cj]; p >= 0; p = follow[p])
                for (Int di = -1; di < 2; di++)
                    for (Int dj = -1; dj < 2; dj++)
                        for (Int q = head[floor_mod(ci + di, cells) * cells +
                                          floor_mod(cj + dj, cells)];
                             q >= 0; q = follow[q]) {
                            if (q <= p) continue;
                            Real dx = x[p] - x[q], dy = y[p] - y[q];
                            if (dx > 0.5 * box)
                                dx -= box;
                            else if (dx < -0.5 * box)
                                dx += box;
                            if (dy > 0.5 * box)
                                dy -= box;
                            else if (dy < -0.5 * box)
                                dy += box;
                            Real r2 = dx * dx + dy * dy;
                            if (r2 < 1) {
                                Real s2 = 0.16 / (r2 + 0.01), s6 = s2 * s2 * s2;
                                energy += 4 * s6 * (s6 - 1);
                                Real push = 24 * s6 * (2 * s6 - 1) / (r2 + 0.01);
                                fx[p] += push * dx;
                                fy[p] += push * dy;
                                fx[q] -= push * dx;
                                fy[q] -= push * dy;
                            }
                        }
    return energy;
}

Int lz_matches(const Byte *data, Int n, int32_t *head, Int nh, int32_t *before, Int nb,
               Byte *lengths, Int nl, int32_t *offsets, Int no, Int depth) {
    for (Int h = 0; h < nh; h++)
        head[h] = -1;
    Int count = 0, i = 0;
    while (i + 3 <= n) {
        Int key =
            (data[i] * (Int)506832829 + data[i + 1] * (Int)2654435 + data[i + 2] * (Int)40503) &
            (nh - 1);
        Int at = head[key], best = 2, where = 0, tries = 0;
        while (at >= 0 && tries < depth) {
            Int k = 0;
            while (i + k < n && k < 255 && data[at + k] == data[i + k])
                k++;
            if (k > best) {
                best = k;
                where = i - at;
            }
            at = before[at];
            tries++;
        }
        before[i] = head[key];
        head[key] = i;
        if (best > 2) {
            lengths[count] = best;
            offsets[count] = where;
            i += best;
        } else {
            lengths[count] = 1;
            offsets[count] = 0;
            i++;
        }
        count++;
    }
    return count;
}

static inline Int rotate32(Int x, Int r) {
    return ((x << r) | (x >> (32 - r))) & 0xFFFFFFFF;
}

void murmur_rows(const uint32_t *words, Int n, Int m, const uint32_t *seeds, Int ns,
                 uint32_t *hashes, Int nh) {
    for (Int i = 0; i < n; i++) {
        Int h = seeds[i % ns];
        for (Int j = 0; j < m; j++) {
            Int k = words[i * m + j];
            k = (k * 0x4C9E2D51) & 0xFFFFFFFF;
            k = rotate32(k, 15);
            k = (k * 0x1B873593) & 0xFFFFFFFF;
            h ^= k;
            h = rotate32(h, 13);
            h = (h * 5 + 0xE6546B64) & 0xFFFFFFFF;
        }
        h ^= 4 * m;
        h ^= h >> 16;
        h = (h * 0x45EBCA6B) & 0xFFFFFFFF;
        h ^= h >> 13;
        h = (h * 0x42B2AE35) & 0xFFFFFFFF;
        h ^= h >> 16;
        hashes[i] = h;
    }
}

static inline Real catmull(Real a, Real b, Real c, Real d, Real t) {
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

void bicubic_resize(const Real *image, Int h, Int w, Real *out, Int hh, Int ww, Real *column,
                    Int nc) {
    for (Int y = 0; y < hh; y++) {
        Real fy = (Real)(y * (h - 3)) / hh + 1;
        Int iy = fy;
        for (Int x = 0; x < ww; x++) {
            Real fx = (Real)(x * (w - 3)) / ww + 1;
            Int ix = fx;
            for (Int k = 0; k < 4; k++) {
                const Real *p = image + (iy + k - 1) * w + ix;
                column[k] = catmull(p[-1], p[0], p[1], p[2], fx - ix);
            }
            out[y * ww + x] = catmull(column[0], column[1], column[2], column[3], fy - iy);
        }
    }
}

Real csr_gauss_seidel(const int32_t *indptr, Int np, const int32_t *indices, Int ni,
                      const Real *values, Int nv, const Real *b, Int n, Real *x, Int nx,
                      Int sweeps) {
    for (Int i = 0; i < n; i++)
        x[i] = 0;
    Real moved = 0;
    for (Int s = 0; s < sweeps; s++) {
        moved = 0;
        for (Int i = 0; i < n; i++) {
            Real total = b[i], diagonal = 1;
            for (Int e = indptr[i]; e < indptr[i + 1]; e++) {
                Int j = indices[e];
                if (j == i)
                    diagonal = values[e];
                else
                    total -= values[e] * x[j];
            }
            total /= diagonal;
            moved += fabs(total - x[i]);
            x[i] = total;
        }
        if (moved < 1e-9) break;
    }
    return moved;
}
