/* seen_fourth.h - the fourth part of seen.c. */

Int peaks(const Real *x, Int nx, Int *out, Int no) {
    Int n = 0;
    for (Int i = 1; i < nx - 1; i++)
        if (x[i] > x[i - 1] && x[i] > x[i + 1]) out[n++] = i;
    return n;
}

void random_walk(Int steps, Int seed, Int *visits, Int n, Int m) {
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < m; j++)
            visits[i * m + j] = 0;
    Int x = n / 2, y = m / 2, s = seed;
    for (Int t = 0; t < steps; t++) {
        s = (1103515245 * s + 12345) % 2147483648;
        Int d = (s >> 16) % 4;
        if (d == 0)
            x++;
        else if (d == 1)
            x--;
        else if (d == 2)
            y++;
        else
            y--;
        if (x < 0) x = 0;
        if (x >= n) x = n - 1;
        if (y < 0) y = 0;
        if (y >= m) y = m - 1;
        visits[x * m + y]++;
    }
}

void kmers(const Byte *seq, Int n, Int k, Int *counts, Int nc) {
    for (Int i = 0; i < nc; i++)
        counts[i] = 0;
    Int mask = ((Int)1 << (2 * k)) - 1, code = 0, length = 0;
    for (Int i = 0; i < n; i++) {
        Byte c = seq[i];
        Int d;
        if (c == 65)
            d = 0;
        else if (c == 67)
            d = 1;
        else if (c == 71)
            d = 2;
        else if (c == 84)
            d = 3;
        else {
            length = code = 0;
            continue;
        }
        code = ((code << 2) | d) & mask;
        length++;
        if (length >= k) counts[code]++;
    }
}

void rotate(const Byte *img, Int h, Int w, Byte *out, Int o0, Int o1, Real angle) {
    Real c = cos(angle), s = sin(angle), cy = h / 2.0, cx = w / 2.0;
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            Int sx = (Int)floor(c * (x - cx) + s * (y - cy) + cx),
                sy = (Int)floor(-s * (x - cx) + c * (y - cy) + cy);
            out[y * w + x] = sx >= 0 && sx < w && sy >= 0 && sy < h ? img[sy * w + sx] : 0;
        }
}

void julia(Int *out, Int h, Int w, Real cr, Real ci) {
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            Real a = 3.0 * x / w - 1.5, b = 3.0 * y / h - 1.5;
            Int n = 0;
            while (hypot(a, b) < 2.0 && n < 60) {
                Real t = a * a - b * b + cr;
                b = a * b + b * a + ci;
                a = t;
                n++;
            }
            out[y * w + x] = n;
        }
}

Int otsu(const Byte *img, Int n, Int *hist, Int nh) {
    for (Int i = 0; i < 256; i++)
        hist[i] = 0;
    for (Int i = 0; i < n; i++)
        hist[img[i]]++;
    Real sum_all = 0, sum_b = 0, best = 0;
    Int wb = 0, threshold = 0;
    for (Int t = 0; t < 256; t++)
        sum_all += t * hist[t];
    for (Int t = 0; t < 256; t++) {
        wb += hist[t];
        if (wb == 0) continue;
        Int wf = n - wb;
        if (wf == 0) break;
        sum_b += t * hist[t];
        Real mb = sum_b / wb, mf = (sum_all - sum_b) / wf,
             between = wb * wf * ((mb - mf) * (mb - mf));
        if (between > best) {
            best = between;
            threshold = t;
        }
    }
    return threshold;
}

Int find_pattern(const Byte *text, Int n, const Byte *pat, Int m) {
    Int count = 0;
    for (Int i = 0; i < n - m + 1; i++) {
        bool ok = true;
        for (Int j = 0; j < m; j++)
            if (text[i + j] != pat[j]) {
                ok = false;
                break;
            }
        if (ok) count++;
    }
    return count;
}

void banded(const Real *A, Int a0, Int a1, const Real *x, Int n, Real *y, Int ny, Int k) {
    for (Int i = 0; i < n; i++) {
        Real s = 0;
        Int end = lesser(n, i + k + 1);
        for (Int j = (i > k ? i - k : 0); j < end; j++)
            s += A[i * a1 + j - i + k] * x[j];
        y[i] = s;
    }
}

void rolling_std(const Real *x, Int n, Int w, Real *out, Int no) {
    for (Int i = 0; i < n; i++)
        if (i < w - 1)
            out[i] = 0;
        else {
            Real m = 0, v = 0;
            for (Int k = i - w + 1; k <= i; k++)
                m += x[k];
            m /= w;
            for (Int k = i - w + 1; k <= i; k++)
                v += (x[k] - m) * (x[k] - m);
            out[i] = sqrt(v / (w - 1));
        }
}

void insertion_sort(const Real *src, Int ns, Real *a, Int n) {
    for (Int i = 0; i < n; i++)
        a[i] = src[i];
    for (Int i = 1; i < n; i++) {
        Real key = a[i];
        Int j = i - 1;
        while (j >= 0 && a[j] > key) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = key;
    }
}

void csr_transpose(const Int *indptr, Int np, const Int *indices, Int ni, const Real *data, Int nd,
                   Int *tptr, Int nt, Int *tind, Int nti, Real *tdata, Int ntd) {
    Int m = nt - 1;
    for (Int i = 0; i <= m; i++)
        tptr[i] = 0;
    for (Int k = 0; k < ni; k++)
        tptr[indices[k] + 1]++;
    for (Int i = 0; i < m; i++)
        tptr[i + 1] += tptr[i];
    for (Int r = 0; r < np - 1; r++)
        for (Int k = indptr[r]; k < indptr[r + 1]; k++) {
            Int p = tptr[indices[k]]++;
            tind[p] = r;
            tdata[p] = data[k];
        }
    for (Int i = m; i > 0; i--)
        tptr[i] = tptr[i - 1];
    tptr[0] = 0;
}

Int collatz(Int limit) {
    Int best = 0, arg = 0;
    for (Int i = 1; i < limit; i++) {
        Int n = i, steps = 0;
        while (n != 1) {
            if (n % 2 == 0)
                n = n / 2;
            else
                n = 3 * n + 1;
            steps++;
        }
        if (steps > best) {
            best = steps;
            arg = i;
        }
    }
    return arg;
}
