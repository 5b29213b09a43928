/* unseen.c - the kernels of unseen.py in C. */
#include "loops.h"

void lu_factor(const Real *src, Int s0, Int s1, Real *a, Int n, Int n1) {
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < n; j++)
            a[i * n + j] = src[i * n + j];
    for (Int k = 0; k < n; k++)
        for (Int i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (Int j = k + 1; j < n; j++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
}

void rank_one(Real *A, Int rows, Int columns, const Real *x, Int nx, const Real *y, Int ny,
              Real alpha) {
    for (Int i = 0; i < rows; i++)
        for (Int j = 0; j < columns; j++)
            A[i * columns + j] += alpha * x[i] * y[j];
}

void upwind(const Real *u, Int n, const Real *v, Int nv, Real *out, Int no) {
    for (Int i = 1; i < n - 1; i++) {
        if (v[i] > 0.0)
            out[i] = u[i] - 0.1 * v[i] * (u[i] - u[i - 1]);
        else
            out[i] = u[i] - 0.1 * v[i] * (u[i + 1] - u[i]);
    }
}

void red_black(Real *a, Int h, Int w) {
    for (Int color = 0; color < 2; color++)
        for (Int i = 1; i < h - 1; i++)
            for (Int j = 1 + (i + color) % 2; j < w - 1; j += 2)
                a[i * w + j] = 0.25 * (a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] +
                                       a[i * w + j + 1]);
}

void box_blur(const Int *img, Int h, Int w, Int *out, Int oh, Int ow) {
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            Int s = 0, n = 0;
            for (Int dy = -1; dy < 2; dy++)
                for (Int dx = -1; dx < 2; dx++)
                    if (0 <= y + dy && y + dy < h && 0 <= x + dx && x + dx < w) {
                        s += img[(y + dy) * w + x + dx];
                        n++;
                    }
            out[y * ow + x] = s / n;
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
            Real top = img[y0 * w + x0] * (1.0 - tx) + img[y0 * w + x0 + 1] * tx;
            Real low = img[(y0 + 1) * w + x0] * (1.0 - tx) + img[(y0 + 1) * w + x0 + 1] * tx;
            out[y * ow + x] = top * (1.0 - ty) + low * ty;
        }
    }
}

void bellman_ford(const Int *tails, Int n, const Int *heads, Int nh, const Real *costs, Int nc,
                  Real *dist, Int nd, Int rounds) {
    for (Int i = 0; i < nd; i++)
        dist[i] = 1e300;
    dist[0] = 0;
    for (Int r = 0; r < rounds; r++)
        for (Int e = 0; e < n; e++) {
            Real d = dist[tails[e]] + costs[e];
            if (d < dist[heads[e]]) dist[heads[e]] = d;
        }
}

Int partition(const Real *src, Int n, Real *a, Int na, Real pivot) {
    Int i = 0, j = n - 1;
    for (Int k = 0; k < n; k++)
        a[k] = src[k];
    while (i <= j) {
        while (i <= j && a[i] < pivot)
            i++;
        while (i <= j && a[j] >= pivot)
            j--;
        if (i < j) {
            Real t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    return i;
}

Int common_subsequence(const Int *a, Int n, const Int *b, Int m, Int *table, Int t0, Int t1) {
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < m; j++) {
            Int *cell = table + (i + 1) * t1 + j + 1;
            if (a[i] == b[j])
                *cell = table[i * t1 + j] + 1;
            else
                *cell = table[i * t1 + j + 1] > cell[-1] ? table[i * t1 + j + 1] : cell[-1];
        }
    return table[n * t1 + m];
}

Int coin_change(const Int *coins, Int n, Int *ways, Int nw) {
    for (Int v = 0; v < nw; v++)
        ways[v] = 0;
    ways[0] = 1;
    for (Int k = 0; k < n; k++)
        for (Int v = coins[k]; v < nw; v++)
            ways[v] += ways[v - coins[k]];
    return ways[nw - 1];
}

void hex_encode(const Byte *data, Int n, const Byte *digits, Int nd, Byte *out, Int no) {
    for (Int i = 0; i < n; i++) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
}

Int parse_numbers(const Byte *text, Int n, Int *out, Int no) {
    Int count = 0, value = 0;
    bool open = false;
    for (Int i = 0; i < n; i++) {
        Byte c = text[i];
        if (48 <= c && c <= 57) {
            value = value * 10 + (c - 48);
            open = true;
        } else if (open) {
            out[count++] = value;
            value = 0;
            open = false;
        }
    }
    return count;
}

void totients(Int *phi, Int n) {
    for (Int i = 0; i < n; i++)
        phi[i] = i;
    for (Int p = 2; p < n; p++)
        if (phi[p] == p)
            for (Int k = p; k < n; k += p)
                phi[k] -= phi[k] / p;
}

Int palindromes(Int limit) {
    Int count = 0;
    for (Int i = 0; i < limit; i++) {
        Int r = 0;
        for (Int n = i; n; n /= 10)
            r = r * 10 + n % 10;
        count += r == i;
    }
    return count;
}

void covariance(const Real *data, Int n, Int m, Real *out, Int o0, Int o1) {
    for (Int j = 0; j < m; j++)
        for (Int k = j; k < m; k++) {
            Real s = 0;
            for (Int i = 0; i < n; i++)
                s += data[i * m + j] * data[i * m + k];
            out[j * o1 + k] = s / (Real)(n - 1);
            out[k * o1 + j] = out[j * o1 + k];
        }
}

void running_median3(const Real *a, Int n, Real *out, Int no) {
    for (Int i = 1; i < n - 1; i++) {
        Real x = a[i - 1], y = a[i], z = a[i + 1];
        if (x > y) {
            Real t = x;
            x = y, y = t;
        }
        if (y > z) y = z;
        out[i] = x > y ? x : y;
    }
}

Int lcg_pi(Int n) {
    Int state = 12345, hits = 0;
    for (Int i = 0; i < n; i++) {
        state = floor_mod(1103515245 * state + 12345, 2147483648);
        Real x = (Real)state / 2147483648.0;
        state = floor_mod(1103515245 * state + 12345, 2147483648);
        Real y = (Real)state / 2147483648.0;
        if (x * x + y * y < 1.0) hits++;
    }
    return hits;
}

void fft(Real *re, Int n, Real *im, Int ni) {
    Int j = 0;
    for (Int i = 1; i < n; i++) {
        Int bit = n >> 1;
        while (j & bit) {
            j ^= bit;
            bit >>= 1;
        }
        j ^= bit;
        if (i < j) {
            Real t = re[i];
            re[i] = re[j], re[j] = t;
            t = im[i];
            im[i] = im[j], im[j] = t;
        }
    }
    for (Int size = 2; size <= n; size *= 2) {
        Int half = size / 2;
        Real cr = cos(6.283185307179586 / (Real)size), ci = sin(6.283185307179586 / (Real)size);
        for (Int start = 0; start < n; start += size) {
            Real wr = 1, wi = 0;
            for (Int k = 0; k < half; k++) {
                Int p = start + k, q = p + half;
                Real xr = re[q] * wr - im[q] * wi, xi = re[q] * wi + im[q] * wr, t;
                re[q] = (re[p] - xr) * 0.5;
                im[q] = (im[p] - xi) * 0.5;
                re[p] = (re[p] + xr) * 0.5;
                im[p] = (im[p] + xi) * 0.5;
                t = wr * cr - wi * ci;
                wi = wr * ci + wi * cr;
                wr = t;
            }
        }
    }
}

void in_polygon(const Real *px, Int np, const Real *py, Int npy, const Real *xs, Int n,
                const Real *ys, Int ny, Int *out, Int no) {
    for (Int p = 0; p < np; p++) {
        bool inside = false;
        Int j = n - 1;
        for (Int i = 0; i < n; i++) {
            if ((ys[i] > py[p]) != (ys[j] > py[p]))
                if (px[p] < (xs[j] - xs[i]) * (py[p] - ys[i]) / (ys[j] - ys[i]) + xs[i])
                    inside = !inside;
            j = i;
        }
        out[p] = inside;
    }
}

Real option_tree(Real *values, Int n, Int steps, Real up, Real rate, Real strike) {
    Real down = 1.0 / up, p = (rate - down) / (up - down), price = 100;
    for (Int i = 0; i < steps; i++)
        price *= down;
    for (Int i = 0; i < steps + 1; i++) {
        values[i] = price - strike > 0 ? price - strike : 0;
        price *= up * up;
    }
    for (Int t = steps; t > 0; t--)
        for (Int i = 0; i < t; i++)
            values[i] = (p * values[i + 1] + (1.0 - p) * values[i]) / rate;
    return values[0];
}

Real draw_down(const Real *prices, Int n) {
    Real top = prices[0], worst = 0;
    for (Int i = 1; i < n; i++) {
        if (prices[i] > top)
            top = prices[i];
        else if ((top - prices[i]) / top > worst)
            worst = (top - prices[i]) / top;
    }
    return worst;
}

#include "unseen_more.h"
