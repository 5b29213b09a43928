/* seen_more.h - the second part of seen.c: the kernels of seen_more.py. */
#include "loops.h"

/* -- sorting and searching: indices that only a while test bounds -- */

void quick_sort(const Real *src, Int n, Real *a, Int na, Int *stack, Int ns) {
    for (Int i = 0; i < n; i++)
        a[i] = src[i];
    Int top = 2;
    stack[0] = 0, stack[1] = n - 1;
    while (top > 0) {
        top -= 2;
        Int low = stack[top], high = stack[top + 1];
        while (low < high) {
            Real pivot = a[(low + high) >> 1];
            Int i = low, j = high;
            while (i <= j) {
                while (a[i] < pivot)
                    i++;
                while (a[j] > pivot)
                    j--;
                if (i <= j) {
                    Real t = a[i];
                    a[i] = a[j], a[j] = t;
                    i++, j--;
                }
            }
            if (i < high) {
                stack[top] = i, stack[top + 1] = high;
                top += 2;
            }
            high = j;
        }
    }
}

Real heap_queue(const Real *keys, Int n, Real *heap, Int nh) {
    Int size = 0;
    Real total = 0;
    for (Int k = 0; k < n; k++) {
        Int i = size++;
        heap[i] = keys[k];
        while (i > 0 && heap[(i - 1) / 2] > heap[i]) {
            Int parent = (i - 1) / 2;
            Real t = heap[i];
            heap[i] = heap[parent], heap[parent] = t;
            i = parent;
        }
    }
    while (size > 0) {
        total = total * 0.5 + heap[0];
        heap[0] = heap[--size];
        for (Int i = 0; 2 * i + 1 < size;) {
            Int child = 2 * i + 1;
            if (child + 1 < size && heap[child + 1] < heap[child]) child++;
            if (heap[i] <= heap[child]) break;
            Real t = heap[i];
            heap[i] = heap[child], heap[child] = t;
            i = child;
        }
    }
    return total;
}

Int two_pointers(const Int *a, Int n, Int target) {
    Int i = 0, j = n - 1, pairs = 0;
    while (i < j) {
        Int s = a[i] + a[j];
        if (s == target)
            pairs++, i++, j--;
        else if (s < target)
            i++;
        else
            j--;
    }
    return pairs;
}

void merge_sorted(const Real *a, Int na, const Real *b, Int nb, Real *out, Int no) {
    Int i = 0, j = 0, k = 0;
    while (i < na && j < nb)
        if (a[i] <= b[j])
            out[k++] = a[i++];
        else
            out[k++] = b[j++];
    while (i < na)
        out[k++] = a[i++];
    while (j < nb)
        out[k++] = b[j++];
}

void shell_sort(const Real *src, Int n, Real *a, Int na) {
    for (Int i = 0; i < n; i++)
        a[i] = src[i];
    for (Int gap = n / 2; gap > 0; gap /= 2)
        for (Int i = gap; i < n; i++) {
            Real v = a[i];
            Int j = i;
            while (j >= gap && a[j - gap] > v) {
                a[j] = a[j - gap];
                j -= gap;
            }
            a[j] = v;
        }
}

/* -- image -- */

void integral_image(const Real *a, Int h, Int w, Real *s, Int sh, Int sw) {
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            Real v = a[y * w + x];
            if (y > 0) v += s[(y - 1) * sw + x];
            if (x > 0) v += s[y * sw + x - 1];
            if (y > 0 && x > 0) v -= s[(y - 1) * sw + x - 1];
            s[y * sw + x] = v;
        }
}

void bilinear(const Real *img, Int h, Int w, Real *out, Int oh, Int ow) {
    for (Int y = 0; y < oh; y++) {
        Real fy = (Real)(y * (h - 1)) / (Real)oh;
        Int y0 = (Int)fy;
        Real ty = fy - (Real)y0;
        for (Int x = 0; x < ow; x++) {
            Real fx = (Real)(x * (w - 1)) / (Real)ow;
            Int x0 = (Int)fx;
            Real tx = fx - (Real)x0;
            const Real *p = img + y0 * w + x0;
            Real top = p[0] * (1.0 - tx) + p[1] * tx;
            Real bottom = p[w] * (1.0 - tx) + p[w + 1] * tx;
            out[y * ow + x] = top * (1.0 - ty) + bottom * ty;
        }
    }
}

static inline Int within(Int a, Int low, Int high) {
    return a < low ? low : a > high ? high : a;
}

void dilate(const Byte *img, Int h, Int w, Byte *out, Int oh, Int ow, Int radius) {
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            Byte m = img[y * w + x];
            for (Int dy = -radius; dy <= radius; dy++)
                for (Int dx = -radius; dx <= radius; dx++) {
                    Byte v = img[within(y + dy, 0, h - 1) * w + within(x + dx, 0, w - 1)];
                    if (v > m) m = v;
                }
            out[y * ow + x] = m;
        }
}

void convolve_mode(const Real *a, Int h, Int w, const Real *kernel, Int kh, Int kw, Real *out,
                   Int oh, Int ow, Int clamp, Real scale) {
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            Real s = 0;
            for (Int i = 0; i < kh; i++)
                for (Int j = 0; j < kw; j++) {
                    Int yy = y + i - (kh >> 1), xx = x + j - (kw >> 1);
                    if (0 <= yy && yy < h && 0 <= xx && xx < w)
                        s += a[yy * w + xx] * kernel[i * kw + j];
                    else if (clamp)
                        s +=
                            a[within(yy, 0, h - 1) * w + within(xx, 0, w - 1)] * kernel[i * kw + j];
                }
            out[y * ow + x] = s * scale;
        }
}

void threshold_mode(const Real *a, Int n, Real *out, Int no, Int mode, Real level) {
    for (Int i = 0; i < n; i++)
        if (mode == 0)
            out[i] = a[i] > level ? 1.0 : 0.0;
        else if (mode == 1)
            out[i] = a[i] > level ? a[i] : 0.0;
        else
            out[i] = level < a[i] ? level : a[i];
}

Int flood_fill(Byte *grid, Int h, Int w, Int *stack, Int ns) {
    for (Int i = 0; i < h * w; i++)
        if (grid[i] == 2) grid[i] = 0;
    Int top = 1, count = 0;
    stack[0] = 0;
    grid[0] = 2;
    while (top > 0) {
        Int p = stack[--top], y = p / w, x = p % w;
        count++;
        if (y > 0 && grid[(y - 1) * w + x] == 0) {
            grid[(y - 1) * w + x] = 2;
            stack[top++] = p - w;
        }
        if (y + 1 < h && grid[(y + 1) * w + x] == 0) {
            grid[(y + 1) * w + x] = 2;
            stack[top++] = p + w;
        }
        if (x > 0 && grid[y * w + x - 1] == 0) {
            grid[y * w + x - 1] = 2;
            stack[top++] = p - 1;
        }
        if (x + 1 < w && grid[y * w + x + 1] == 0) {
            grid[y * w + x + 1] = 2;
            stack[top++] = p + 1;
        }
    }
    return count;
}

/* -- linear algebra, sparse matrices, stencils -- */

void gemm_rows(const Real *A, Int n, Int m, const Real *B, Int m1, Int p, Real *C, Int n1, Int p1) {
    for (Int i = 0; i < n; i++) {
        for (Int j = 0; j < p; j++)
            C[i * p1 + j] = 0;
        for (Int k = 0; k < m; k++)
            for (Int j = 0; j < p; j++)
                C[i * p1 + j] += A[i * m + k] * B[k * p + j];
    }
}

void lu(const Real *src, Int n0, Int n1, Real *a, Int n, Int m) {
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < n; j++)
            a[i * m + j] = src[i * n1 + j];
    for (Int k = 0; k < n; k++)
        for (Int i = k + 1; i < n; i++) {
            a[i * m + k] /= a[k * m + k];
            Real f = a[i * m + k];
            for (Int j = k + 1; j < n; j++)
                a[i * m + j] -= f * a[k * m + j];
        }
}

void gram_schmidt(const Real *src, Int n, Int m, Real *q, Int n1, Int m1) {
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < m; j++)
            q[i * m1 + j] = src[i * m + j];
    for (Int i = 0; i < n; i++) {
        for (Int k = 0; k < i; k++) {
            Real s = 0;
            for (Int j = 0; j < m; j++)
                s += q[i * m1 + j] * q[k * m1 + j];
            for (Int j = 0; j < m; j++)
                q[i * m1 + j] -= s * q[k * m1 + j];
        }
        Real s = 0;
        for (Int j = 0; j < m; j++)
            s += q[i * m1 + j] * q[i * m1 + j];
        s = 1.0 / sqrt(s);
        for (Int j = 0; j < m; j++)
            q[i * m1 + j] *= s;
    }
}

void jacobi_csr(const Int *indptr, Int n, const Int *indices, Int ni, const Real *data, Int nd,
                const Real *b, Int nb, const Real *x, Int nx, Real *out, Int no) {
    for (Int i = 0; i < n - 1; i++) {
        Real s = b[i], d = 1;
        for (Int k = indptr[i]; k < indptr[i + 1]; k++) {
            Int j = indices[k];
            if (j == i)
                d = data[k];
            else
                s -= data[k] * x[j];
        }
        out[i] = s / d;
    }
}

void spmm(const Int *indptr, Int n, const Int *indices, Int ni, const Real *data, Int nd,
          const Real *X, Int nx, Int mx, Real *Y, Int ny, Int my) {
    for (Int i = 0; i < n - 1; i++) {
        for (Int c = 0; c < mx; c++)
            Y[i * my + c] = 0;
        for (Int k = indptr[i]; k < indptr[i + 1]; k++) {
            Int j = indices[k];
            for (Int c = 0; c < mx; c++)
                Y[i * my + c] += data[k] * X[j * mx + c];
        }
    }
}

void red_black(Real *u, Int h, Int w, const Real *f, Int fh, Int fw, Real omega, Int sweeps) {
    for (Int s = 0; s < sweeps; s++)
        for (Int color = 0; color < 2; color++)
            for (Int i = 1; i < h - 1; i++)
                for (Int j = 1 + (i + color) % 2; j < w - 1; j += 2) {
                    Real *p = u + i * w + j;
                    Real r = p[-w] + p[w] + p[-1] + p[1] - 4.0 * p[0] - f[i * fw + j];
                    p[0] += omega * 0.25 * r;
                }
}

void tridiagonal(const Real *a, Int na, const Real *b, Int n, const Real *c, Int nc, const Real *d,
                 Int nd, Real *x, Int nx, Real *work, Int nw) {
    Real w = b[0];
    x[0] = d[0] / w;
    for (Int i = 1; i < n; i++) {
        work[i] = c[i - 1] / w;
        w = b[i] - a[i] * work[i];
        x[i] = (d[i] - a[i] * x[i - 1]) / w;
    }
    for (Int i = 1; i < n; i++) {
        Int j = n - 1 - i;
        x[j] -= work[j + 1] * x[j + 1];
    }
}

void advect(Real *u, Int n, Real *v, Int nv, Int steps) {
    for (Int t = 0; t < steps; t++) {
        for (Int i = 0; i < n; i++)
            v[i] = u[i] - 0.4 * (u[i] - u[i ? i - 1 : n - 1]);
        for (Int i = 0; i < n; i++)
            u[i] = 0.5 * v[i] + 0.25 * (v[i + 1 < n ? i + 1 : 0] + v[i ? i - 1 : n - 1]);
    }
}

/* -- graphs -- */

Int union_find(const Int *edges, Int n, Int two, Int *parent, Int sets) {
    for (Int i = 0; i < sets; i++)
        parent[i] = i;
    for (Int e = 0; e < n; e++) {
        Int a = edges[e * two], b = edges[e * two + 1];
        while (parent[a] != a)
            a = parent[a] = parent[parent[a]];
        while (parent[b] != b)
            b = parent[b] = parent[parent[b]];
        if (a != b) {
            parent[a] = b;
            sets--;
        }
    }
    return sets;
}

void bellman_ford(const Int *source, Int n, const Int *target, Int nt, const Real *weight, Int nw,
                  Real *dist, Int nd, Int rounds) {
    for (Int i = 0; i < nd; i++)
        dist[i] = 1e300;
    dist[0] = 0;
    for (Int r = 0; r < rounds; r++)
        for (Int e = 0; e < n; e++) {
            Real d = dist[source[e]] + weight[e];
            if (d < dist[target[e]]) dist[target[e]] = d;
        }
}

void dijkstra_dense(const Real *cost, Int n, Int m, Real *dist, Int nd, Byte *done, Int nn) {
    for (Int i = 0; i < n; i++)
        dist[i] = 1e300, done[i] = 0;
    dist[0] = 0;
    for (Int r = 0; r < n; r++) {
        Real best = 1e301;
        Int at = 0;
        for (Int i = 0; i < n; i++)
            if (!done[i] && dist[i] < best) best = dist[i], at = i;
        done[at] = 1;
        for (Int i = 0; i < n; i++) {
            Real d = best + cost[at * m + i];
            if (d < dist[i]) dist[i] = d;
        }
    }
}

Int bfs_csr(const Int *indptr, Int np, const Int *indices, Int ni, Int *dist, Int n, Int *queue,
            Int nq) {
    for (Int i = 0; i < n; i++)
        dist[i] = -1;
    dist[0] = queue[0] = 0;
    Int head = 0, tail = 1;
    while (head < tail) {
        Int u = queue[head++];
        for (Int k = indptr[u]; k < indptr[u + 1]; k++) {
            Int v = indices[k];
            if (dist[v] < 0) {
                dist[v] = dist[u] + 1;
                queue[tail++] = v;
            }
        }
    }
    return tail;
}

/* -- dynamic programming, strings -- */

static inline Int larger(Int a, Int b) {
    return a > b ? a : b;
}

Int alignment(const Byte *a, Int n, const Byte *b, Int m, Int *score, Int rows, Int w) {
    for (Int i = 0; i <= n; i++)
        score[i * w] = -2 * i;
    for (Int j = 0; j <= m; j++)
        score[j] = -2 * j;
    for (Int i = 1; i <= n; i++)
        for (Int j = 1; j <= m; j++) {
            Int best = score[(i - 1) * w + j - 1] + (a[i - 1] == b[j - 1] ? 1 : -1);
            best = larger(best, score[(i - 1) * w + j] - 2);
            score[i * w + j] = larger(best, score[i * w + j - 1] - 2);
        }
    return score[n * w + m];
}

Int matrix_chain(const Int *p, Int np, Int *cost, Int rows, Int w) {
    Int n = np - 1;
    for (Int i = 0; i < n; i++)
        cost[i * w + i] = 0;
    for (Int length = 2; length <= n; length++)
        for (Int i = 0; i < n - length + 1; i++) {
            Int j = i + length - 1, best = INT64_C(1) << 60;
            for (Int k = i; k < j; k++) {
                Int c = cost[i * w + k] + cost[(k + 1) * w + j] + p[i] * p[k + 1] * p[j + 1];
                if (c < best) best = c;
            }
            cost[i * w + j] = best;
        }
    return cost[n - 1];
}

Int coin_change(const Int *coins, Int nc, Int *ways, Int n) {
    for (Int k = 0; k < n; k++)
        ways[k] = 0;
    ways[0] = 1;
    for (Int c = 0; c < nc; c++) {
        Int coin = coins[c];
        for (Int k = coin; k < n; k++)
            ways[k] += ways[k - coin];
    }
    return ways[n - 1];
}

void prefix_function(const Byte *s, Int n, Int *pi, Int np) {
    pi[0] = 0;
    Int k = 0;
    for (Int i = 1; i < n; i++) {
        while (k > 0 && s[k] != s[i])
            k = pi[k - 1];
        if (s[k] == s[i]) k++;
        pi[i] = k;
    }
}

Int rolling_hash(const Byte *text, Int n, Int m) {
    Int power = 1, h = 0, hits = 0;
    for (Int i = 0; i < m - 1; i++)
        power = power * 257 % 1000003;
    for (Int i = 0; i < m; i++)
        h = (h * 257 + text[i]) % 1000003;
    for (Int i = m; i < n; i++) {
        h = floor_mod(h - text[i - m] * power, 1000003);
        h = (h * 257 + text[i]) % 1000003;
        if (h < 40000) hits++;
    }
    return hits;
}

Int base64(const Byte *data, Int n, const Byte *table, Int nt, Byte *out, Int no) {
    Int k = 0;
    for (Int i = 0; i < n - 2; i += 3, k += 4) {
        Int v = (Int)data[i] << 16 | (Int)data[i + 1] << 8 | data[i + 2];
        out[k] = table[v >> 18];
        out[k + 1] = table[(v >> 12) & 63];
        out[k + 2] = table[(v >> 6) & 63];
        out[k + 3] = table[v & 63];
    }
    return k;
}

/* -- number theory -- */

Int trial_division(Int limit) {
    Int primes = 0;
    for (Int n = 2; n < limit; n++) {
        bool prime = true;
        for (Int d = 2; d * d <= n; d++)
            if (n % d == 0) {
                prime = false;
                break;
            }
        if (prime) primes++;
    }
    return primes;
}

void totients(Int *phi, Int n) {
    for (Int i = 0; i < n; i++)
        phi[i] = i;
    for (Int p = 2; p < n; p++)
        if (phi[p] == p)
            for (Int k = p; k < n; k += p)
                phi[k] -= phi[k] / p;
}

static inline Int floor_div(Int a, Int m) {
    Int q = a / m;
    return q * m > a ? q - 1 : q;
}

void weekdays(const Int *days, Int n, Int *count, Int nc) {
    for (Int k = 0; k < 7; k++)
        count[k] = 0;
    for (Int i = 0; i < n; i++)
        count[floor_mod(days[i] + 3, 7)] += floor_div(days[i], 7);
}

Int lcg(Int n, Int seed) {
    Int x = seed, inside = 0;
    for (Int i = 0; i < n; i++) {
        x = floor_mod(x * 1103515245 + 12345, 2147483648);
        Real a = (Real)x / 2147483648.0;
        x = floor_mod(x * 1103515245 + 12345, 2147483648);
        Real b = (Real)x / 2147483648.0;
        if (a * a + b * b < 1.0) inside++;
    }
    return inside;
}

/* -- finance, statistics, simulation -- */

static inline Real power(Real x, Int n) {
    Real result = 1;
    for (uint64_t k = n < 0 ? 0 - (uint64_t)n : (uint64_t)n; k; k >>= 1, x *= x)
        if (k & 1) result *= x;
    return n < 0 ? 1 / result : result;
}

Real option_tree(Real spot, Real strike, Real up, Real rate, Int steps, Real *value, Int nv) {
    Real down = 1.0 / up, p = (exp(rate) - down) / (up - down);
    for (Int i = 0; i <= steps; i++) {
        Real v = spot * power(up, 2 * i - steps) - strike;
        value[i] = v > 0.0 ? v : 0.0;
    }
    for (Int t = steps - 1; t >= 0; t--)
        for (Int i = 0; i <= t; i++)
            value[i] = exp(-rate) * (p * value[i + 1] + (1.0 - p) * value[i]);
    return value[0];
}

void annuity(const Real *rates, Int n, const Real *payments, Int m, Real *out, Int no) {
    for (Int i = 0; i < n; i++) {
        Real v = 0;
        for (Int t = 0; t < m; t++)
            v += payments[t] / power(1.0 + rates[i], t + 1);
        out[i] = v;
    }
}

Real drawdown(const Real *prices, Int n) {
    Real peak = prices[0], worst = 0;
    for (Int i = 0; i < n; i++) {
        if (prices[i] > peak) peak = prices[i];
        Real fall = (peak - prices[i]) / peak;
        if (fall > worst) worst = fall;
    }
    return worst;
}

void covariance(const Real *x, Int n, Int m, Real *c, Int cn, Int cm) {
    for (Int a = 0; a < m; a++)
        for (Int b = a; b < m; b++) {
            Real ma = 0, mb = 0, s = 0;
            for (Int i = 0; i < n; i++) {
                ma += x[i * m + a];
                mb += x[i * m + b];
            }
            ma /= (Real)n, mb /= (Real)n;
            for (Int i = 0; i < n; i++)
                s += (x[i * m + a] - ma) * (x[i * m + b] - mb);
            c[a * cm + b] = s / (Real)(n - 1);
            c[b * cm + a] = c[a * cm + b];
        }
}

void moving_average(const Real *a, Int n, Int k, Real *out, Int no) {
    Real s = 0;
    for (Int i = 0; i < n; i++) {
        s += a[i];
        if (i >= k) s -= a[i - k];
        out[i] = s / (Real)lesser(i + 1, k);
    }
}

void deposit(const Real *position, Int np, const Real *charge, Int nc, Real *grid, Int ng) {
    Int n = ng - 1;
    for (Int k = 0; k < ng; k++)
        grid[k] = 0;
    for (Int p = 0; p < np; p++) {
        Real x = position[p] * (Real)n;
        Int x0 = (Int)x;
        Real t = x - (Real)x0;
        grid[x0] += (1.0 - t) * charge[p];
        grid[x0 + 1] += t * charge[p];
    }
}

void neighbour_forces(const Int *first, Int n, const Int *second, Int n2, const Real *x, Int nx,
                      const Real *y, Int ny, const Real *z, Int nz, Real *force, Int nf) {
    for (Int i = 0; i < nf; i++)
        force[i] = 0;
    for (Int k = 0; k < n; k++) {
        Int i = first[k], j = second[k];
        Real dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
        Real f = 1.0 / (1.0 + dx * dx + dy * dy + dz * dz);
        force[i] += f;
        force[j] -= f;
    }
}

Real lennard_jones(const Real *x, Int n, const Real *y, Int ny, const Real *z, Int nz) {
    Real e = 0;
    for (Int i = 0; i < n; i++)
        for (Int j = i + 1; j < n; j++) {
            Real dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            Real r = 1.0 / (dx * dx + dy * dy + dz * dz), r3 = r * r * r;
            e += r3 * r3 - r3;
        }
    return e;
}

/* -- signal -- */

typedef struct Complex {
    Real re, im;
} Complex;

static inline Complex times(Complex a, Complex b) {
    return (Complex){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline Complex plus(Complex a, Complex b) {
    return (Complex){a.re + b.re, a.im + b.im};
}

static inline Complex minus(Complex a, Complex b) {
    return (Complex){a.re - b.re, a.im - b.im};
}

void fft(const Complex *src, Int n, Complex *a, Int na) {
    Int bits = 0;
    while (INT64_C(1) << bits < n)
        bits++;
    for (Int i = 0; i < n; i++) {
        Int r = 0;
        for (Int b = 0; b < bits; b++)
            r |= ((i >> b) & 1) << (bits - 1 - b);
        a[r] = src[i];
    }
    for (Int size = 2; size <= n; size *= 2) {
        Int half = size / 2;
        Complex step = {cos(2 * M_PI / (Real)size), -sin(2 * M_PI / (Real)size)};
        for (Int start = 0; start < n; start += size) {
            Complex w = {1, 0};
            for (Int k = 0; k < half; k++) {
                Complex t = times(w, a[start + k + half]);
                a[start + k + half] = minus(a[start + k], t);
                a[start + k] = plus(a[start + k], t);
                w = times(w, step);
            }
        }
    }
}

void complex_axpy(const Complex *x, Int n, Complex *y, Int ny, Real re, Real im) {
    for (Int i = 0; i < n; i++)
        y[i] = plus((Complex){y[i].re * 0.5, y[i].im * 0.5}, times((Complex){re, im}, x[i]));
}

void autocorrelation(const Real *a, Int n, Real *out, Int lags) {
    for (Int lag = 0; lag < lags; lag++) {
        Real s = 0;
        for (Int i = 0; i < n - lag; i++)
            s += a[i] * a[i + lag];
        out[lag] = s;
    }
}

void haar(const Real *src, Int ns, Real *a, Int n, Real *work, Int nw, Int levels) {
    for (Int i = 0; i < n; i++)
        a[i] = src[i];
    for (Int level = 0; level < levels; level++) {
        Int half = n / 2;
        for (Int i = 0; i < half; i++) {
            work[i] = (a[2 * i] + a[2 * i + 1]) * 0.5;
            work[half + i] = (a[2 * i] - a[2 * i + 1]) * 0.5;
        }
        for (Int i = 0; i < n; i++)
            a[i] = work[i];
        n = half;
    }
}

/* -- geometry -- */

Int inside_polygon(const Real *px, Int np, const Real *py, Int npy, const Real *xs, Int n,
                   const Real *ys, Int ny) {
    Int count = 0;
    for (Int p = 0; p < np; p++) {
        bool inside = false;
        for (Int i = 0, j = n - 1; i < n; j = i++)
            if ((ys[i] > py[p]) != (ys[j] > py[p]) &&
                px[p] < (xs[j] - xs[i]) * (py[p] - ys[i]) / (ys[j] - ys[i]) + xs[i])
                inside = !inside;
        if (inside) count++;
    }
    return count;
}

Real closest_pair(const Real *xs, Int n, const Real *ys, Int ny) {
    Real best = 1e300;
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < i; j++) {
            Real dx = xs[i] - xs[j], dy = ys[i] - ys[j], d = dx * dx + dy * dy;
            if (d < best) best = d;
        }
    return best;
}

Int hull(const Real *xs, Int n, const Real *ys, Int ny, Int *stack, Int ns) {
    Int top = 0;
    for (Int i = 0; i < n; i++) {
        while (top >= 2) {
            Int a = stack[top - 2], b = stack[top - 1];
            if ((xs[b] - xs[a]) * (ys[i] - ys[a]) - (ys[b] - ys[a]) * (xs[i] - xs[a]) > 0) break;
            top--;
        }
        stack[top++] = i;
    }
    return top;
}

Real safe_ratios(const Real *a, Int n, const Real *b, Int nb, Real *out, Int no) {
    Real s = 0;
    for (Int i = 0; i < n; i++)
        out[i] = a[i] * 2.0 - b[i];
    for (Int i = 1; i < n; i++)
        s += out[i] * out[i - 1];
    return s;
}
