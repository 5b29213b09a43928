/* seen_third.h - the third part of seen.c. */

/* -- linear algebra -- */

void reflect(Real *A, Int n, Int m, const Real *v, Int nv, Real *w, Int nw) {
    for (Int j = 0; j < m; j++)
        w[j] = 0;
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < m; j++)
            w[j] += v[i] * A[i * m + j];
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < m; j++)
            A[i * m + j] -= 2.0 * v[i] * w[j];
}

void kron(const Real *A, Int n, Int m, const Real *B, Int p, Int q, Real *out, Int on, Int om) {
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < m; j++)
            for (Int k = 0; k < p; k++)
                for (Int l = 0; l < q; l++)
                    out[(i * p + k) * om + j * q + l] = A[i * m + j] * B[k * q + l];
}

/* -- stencils, simulation -- */

void damped_wave(Real *u, Int h, Int k, Real *v, Int vh, Int vk, Real *w, Int wh, Int wk,
                 Int steps) {
    for (Int t = 0; t < steps; t++) {
        for (Int y = 1; y < h - 1; y++)
            for (Int x = 1; x < k - 1; x++) {
                Real lap = u[(y - 1) * k + x] + u[(y + 1) * k + x] + u[y * k + x - 1] +
                           u[y * k + x + 1] - 4.0 * u[y * k + x];
                w[y * k + x] = 1.99 * u[y * k + x] - 0.99 * v[y * k + x] + 0.1 * lap;
            }
        for (Int y = 1; y < h - 1; y++)
            for (Int x = 1; x < k - 1; x++) {
                v[y * k + x] = u[y * k + x];
                u[y * k + x] = w[y * k + x];
            }
    }
}

Int sandpile(const Int *src, Int h, Int w, Int *grid, Int gh, Int gw) {
    for (Int i = 0; i < h * w; i++)
        grid[i] = src[i];
    Int topples = 0;
    bool moved = true;
    while (moved) {
        moved = false;
        for (Int y = 1; y < h - 1; y++)
            for (Int x = 1; x < w - 1; x++)
                if (grid[y * w + x] >= 4) {
                    grid[y * w + x] -= 4;
                    grid[(y - 1) * w + x]++;
                    grid[(y + 1) * w + x]++;
                    grid[y * w + x - 1]++;
                    grid[y * w + x + 1]++;
                    topples++;
                    moved = true;
                }
    }
    return topples;
}

/* -- image -- */

void equalise(const Byte *img, Int h, Int w, Int *counts, Int nc, Byte *out, Int oh, Int ow) {
    for (Int k = 0; k < 256; k++)
        counts[k] = 0;
    for (Int i = 0; i < h * w; i++)
        counts[img[i]]++;
    Int total = 0;
    for (Int k = 0; k < 256; k++)
        counts[k] = total += counts[k];
    for (Int i = 0; i < h * w; i++)
        out[i] = (Byte)(counts[img[i]] * 255 / total);
}

/* -- graphs -- */

Int topological(const Int *indptr, Int np, const Int *indices, Int ni, Int *degree, Int n,
                Int *order, Int no) {
    for (Int u = 0; u < n; u++)
        degree[u] = 0;
    for (Int k = 0; k < ni; k++)
        degree[indices[k]]++;
    Int end = 0;
    for (Int u = 0; u < n; u++)
        if (degree[u] == 0) order[end++] = u;
    for (Int at = 0; at < end; at++) {
        Int u = order[at];
        for (Int k = indptr[u]; k < indptr[u + 1]; k++)
            if (--degree[indices[k]] == 0) order[end++] = indices[k];
    }
    return end;
}

Int triangles(const Int *indptr, Int np, const Int *indices, Int ni) {
    Int count = 0;
    for (Int u = 0; u < np - 1; u++)
        for (Int k = indptr[u]; k < indptr[u + 1]; k++) {
            Int v = indices[k], i = k + 1, j = indptr[v];
            while (i < indptr[u + 1] && j < indptr[v + 1]) {
                if (indices[i] == indices[j])
                    count++, i++, j++;
                else if (indices[i] < indices[j])
                    i++;
                else
                    j++;
            }
        }
    return count;
}

/* -- sorting, searching, dynamic programming -- */

void radix_sort(const Int *src, Int n, Int *a, Int na, Int *b, Int nb, Int *counts, Int nc) {
    for (Int i = 0; i < n; i++)
        a[i] = src[i];
    for (Int s = 0; s < 32; s += 8) {
        for (Int k = 0; k < 257; k++)
            counts[k] = 0;
        for (Int i = 0; i < n; i++)
            counts[((a[i] >> s) & 255) + 1]++;
        for (Int k = 0; k < 256; k++)
            counts[k + 1] += counts[k];
        for (Int i = 0; i < n; i++)
            b[counts[(a[i] >> s) & 255]++] = a[i];
        for (Int i = 0; i < n; i++)
            a[i] = b[i];
    }
}

Int increasing(const Real *a, Int n, Real *tails, Int nt) {
    Int length = 0;
    for (Int i = 0; i < n; i++) {
        Int lo = 0, hi = length;
        while (lo < hi) {
            Int mid = (lo + hi) / 2;
            if (tails[mid] < a[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        tails[lo] = a[i];
        if (lo == length) length++;
    }
    return length;
}

/* -- string bytes, number theory -- */

Int utf8_points(const Byte *text, Int n) {
    Int points = 0, bad = 0;
    for (Int i = 0; i < n; points++) {
        Byte c = text[i];
        if (c >= 128 && c < 192) bad++;
        i += c < 192 ? 1 : c >= 240 ? 4 : c >= 224 ? 3 : 2;
    }
    return points * 1000 + bad;
}

void inverses(const Int *values, Int n, Int m, Int *out, Int no) {
    for (Int i = 0; i < n; i++) {
        Int a = floor_mod(values[i], m), b = m, x = 1, y = 0;
        while (a > 1 && b > 0) {
            Int q = a / b, rest = a - q * b, z = x - q * y;
            a = b, b = rest, x = y, y = z;
        }
        out[i] = x < 0 ? x + m : x;
    }
}

/* -- signal, geometry -- */

void goertzel(const Real *x, Int n, Real *out, Int no) {
    for (Int k = 0; k < no; k++) {
        Real c = 2.0 * cos(2.0 * 3.14159265358979323846 * (Real)k / (Real)n), s1 = 0, s2 = 0;
        for (Int i = 0; i < n; i++) {
            Real s0 = x[i] + c * s1 - s2;
            s2 = s1;
            s1 = s0;
        }
        out[k] = s1 * s1 + s2 * s2 - c * s1 * s2;
    }
}

Int crossings(const Real *g, Int n, Int w) {
    Int count = 0;
    for (Int i = 0; i < n; i++) {
        Real ax = g[w * i], ay = g[w * i + 1], bx = g[w * i + 2], by = g[w * i + 3];
        for (Int j = i + 1; j < n; j++) {
            Real cx = g[w * j], cy = g[w * j + 1], dx = g[w * j + 2], dy = g[w * j + 3];
            Real p = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
            Real q = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax);
            Real s = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx);
            Real t = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx);
            if ((p > 0) != (q > 0) && (s > 0) != (t > 0)) count++;
        }
    }
    return count;
}
