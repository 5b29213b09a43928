/* unseen_more.h - the second part of unseen.c. */

/* -- linear algebra -- */

Real power_iteration(const Real *A, Int n, Int m, Real *x, Int nx, Real *y, Int ny, Int steps) {
    Real value = 0;
    for (Int t = 0; t < steps; t++) {
        Real norm = 0;
        for (Int i = 0; i < n; i++) {
            Real s = 0;
            for (Int j = 0; j < n; j++)
                s += A[i * m + j] * x[j];
            y[i] = s;
            norm += s * s;
        }
        value = sqrt(norm);
        for (Int i = 0; i < n; i++)
            x[i] = y[i] / value;
    }
    return value;
}

void band_product(const Real *bands, Int nb, Int m, const Real *x, Int n, Real *y, Int ny) {
    Int half = nb / 2;
    for (Int i = 0; i < n; i++)
        y[i] = 0;
    for (Int b = 0; b < nb; b++) {
        Int d = b - half, end = n - d < n ? n - d : n;
        for (Int i = d < 0 ? -d : 0; i < end; i++)
            y[i] += bands[b * m + i] * x[i + d];
    }
}

/* -- stencils -- */

void gray_scott(Real *u, Int h, Int w, Real *v, Int vh, Int vw, Real *du, Int duh, Int duw,
                Real *dv, Int dvh, Int dvw, Int steps) {
    for (Int t = 0; t < steps; t++) {
        for (Int y = 1; y < h - 1; y++)
            for (Int x = 1; x < w - 1; x++) {
                Int c = y * w + x;
                Real lu = u[c - w] + u[c + w] + u[c - 1] + u[c + 1] - 4.0 * u[c];
                Real lv = v[c - w] + v[c + w] + v[c - 1] + v[c + 1] - 4.0 * v[c];
                Real r = u[c] * v[c] * v[c];
                du[c] = 0.16 * lu - r + 0.035 * (1.0 - u[c]);
                dv[c] = 0.08 * lv + r - 0.095 * v[c];
            }
        for (Int y = 1; y < h - 1; y++)
            for (Int x = 1; x < w - 1; x++) {
                u[y * w + x] += du[y * w + x];
                v[y * w + x] += dv[y * w + x];
            }
    }
}

/* -- image -- */

void rotate_right(const Real *img, Int h, Int w, Real *out, Int oh, Int ow) {
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++)
            out[x * ow + h - 1 - y] = img[y * w + x];
}

void dither(const Real *src, Int h, Int w, Real *img, Int ih, Int iw) {
    for (Int i = 0; i < h * w; i++)
        img[i] = src[i];
    for (Int y = 0; y < h - 1; y++)
        for (Int x = 1; x < w - 1; x++) {
            Real old = img[y * w + x], new = old > 127.0 ? 255.0 : 0.0, e = old - new;
            img[y * w + x] = new;
            img[y * w + x + 1] += e * 0.4375;
            img[(y + 1) * w + x - 1] += e * 0.1875;
            img[(y + 1) * w + x] += e * 0.3125;
            img[(y + 1) * w + x + 1] += e * 0.0625;
        }
}

/* -- graphs -- */

Int components(const Int *indptr, Int np, const Int *indices, Int ni, Int *label, Int n, Int *stack,
               Int ns) {
    for (Int u = 0; u < n; u++)
        label[u] = -1;
    Int found = 0;
    for (Int start = 0; start < n; start++) {
        if (label[start] >= 0) continue;
        Int top = 0;
        stack[0] = start;
        label[start] = found;
        while (top >= 0) {
            Int u = stack[top--];
            for (Int k = indptr[u]; k < indptr[u + 1]; k++) {
                Int v = indices[k];
                if (label[v] < 0) {
                    label[v] = found;
                    stack[++top] = v;
                }
            }
        }
        found++;
    }
    return found;
}

/* -- sorting and searching -- */

void comb_sort(const Real *src, Int n, Real *a, Int na) {
    for (Int i = 0; i < n; i++)
        a[i] = src[i];
    Int gap = n;
    bool swapped = true;
    while (gap > 1 || swapped) {
        gap = gap * 10 / 13;
        if (gap < 1) gap = 1;
        swapped = false;
        for (Int i = 0; i < n - gap; i++)
            if (a[i] > a[i + gap]) {
                Real t = a[i];
                a[i] = a[i + gap];
                a[i + gap] = t;
                swapped = true;
            }
    }
}

/* -- dynamic programming -- */

Int subset_sums(const Int *values, Int n, Byte *reach, Int total) {
    for (Int s = 0; s < total; s++)
        reach[s] = 0;
    reach[0] = 1;
    for (Int i = 0; i < n; i++)
        for (Int v = values[i], s = total - 1; s >= v; s--)
            if (reach[s - v]) reach[s] = 1;
    Int count = 0;
    for (Int s = 0; s < total; s++)
        count += reach[s];
    return count;
}

/* -- string bytes, number theory -- */

Int adler(const Byte *data, Int n) {
    Int a = 1, b = 0;
    for (Int i = 0; i < n; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b * 65536 + a;
}

Int wildcard(const Byte *pattern, Int np, const Byte *text, Int nt) {
    Int p = 0, t = 0, star = -1, mark = 0, steps = 0;
    while (t < nt) {
        steps++;
        if (p < np && (pattern[p] == '?' || pattern[p] == text[t])) {
            p++, t++;
        } else if (p < np && pattern[p] == '*') {
            star = p, mark = t, p++;
        } else if (star >= 0) {
            p = star + 1, t = ++mark;
        } else {
            return -steps;
        }
    }
    while (p < np && pattern[p] == '*')
        p++;
    return p == np ? steps : -steps;
}

Int jacobi_symbols(Int m, Int first, Int count) {
    Int total = 0;
    for (Int k = 0; k < count; k++) {
        Int a = floor_mod(first + k, m), n = m, sign = 1;
        while (a != 0) {
            while (a % 2 == 0) {
                a /= 2;
                if (n % 8 == 3 || n % 8 == 5) sign = -sign;
            }
            Int t = a;
            a = n, n = t;
            if (a % 4 == 3 && n % 4 == 3) sign = -sign;
            a %= n;
        }
        if (n == 1) total += sign * (k + 1);
    }
    return total;
}

/* -- statistics, simulation, geometry, finance -- */

Int kendall(const Real *x, Int n, const Real *y, Int ny) {
    Int score = 0;
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < i; j++) {
            Real p = (x[i] - x[j]) * (y[i] - y[j]);
            if (p > 0)
                score++;
            else if (p < 0)
                score--;
        }
    return score;
}

void spring_chain(Real *x, Int n, Real *v, Int nv, Int steps) {
    for (Int t = 0; t < steps; t++) {
        for (Int i = 1; i < n - 1; i++)
            v[i] = 0.999 * v[i] + 0.05 * (x[i - 1] - 2.0 * x[i] + x[i + 1]);
        for (Int i = 1; i < n - 1; i++)
            x[i] += v[i];
    }
}

void present_values(const Real *amounts, Int n, Int m, const Real *rates, Int nr, Real *out,
                    Int no) {
    for (Int i = 0; i < n; i++) {
        Real d = 1.0 / (1.0 + rates[i]), f = 1, s = 0;
        for (Int t = 0; t < m; t++) {
            s += amounts[i * m + t] * f;
            f *= d;
        }
        out[i] = s;
    }
}
