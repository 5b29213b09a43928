/* seen_fifth.h - the fifth part of seen.c. */

Int palindromes(const Byte *s, Int n) {
    Int best = 0;
    for (Int c = 0; c < n; c++) {
        Int i = c - 1, j = c + 1;
        while (i >= 0 && j < n && s[i] == s[j])
            i--, j++;
        if (j - i - 1 > best) best = j - i - 1;
    }
    return best;
}

Int run_length(const Byte *s, Int n, Byte *values, Int nv, Int *counts, Int nc) {
    Int k = 0, i = 0;
    while (i < n) {
        Byte c = s[i];
        Int j = i + 1;
        while (j < n && s[j] == c)
            j++;
        values[k] = c;
        counts[k++] = j - i;
        i = j;
    }
    return k;
}

Int split_fields(const Byte *text, Int n, Int *starts, Int ns, Int *ends, Int ne) {
    Int k = 0, begin = 0;
    bool quoted = false;
    for (Int i = 0; i < n; i++) {
        Byte c = text[i];
        if (c == 34)
            quoted = !quoted;
        else if ((c == 44 || c == 10) && !quoted) {
            starts[k] = begin;
            ends[k++] = i;
            begin = i + 1;
        }
    }
    return k;
}

Int parse_floats(const Byte *text, Int n, Real *out, Int no) {
    Int i = 0, k = 0;
    while (i < n) {
        while (i < n && text[i] == 32)
            i++;
        if (i == n) break;
        Real sign = 1, x = 0;
        if (text[i] == 45) sign = -1, i++;
        while (i < n && text[i] >= 48 && text[i] <= 57)
            x = x * 10 + (text[i++] - 48);
        if (i < n && text[i] == 46) {
            Real scale = 0.1;
            i++;
            while (i < n && text[i] >= 48 && text[i] <= 57) {
                x += (text[i++] - 48) * scale;
                scale *= 0.1;
            }
        }
        out[k++] = sign * x;
    }
    return k;
}

void common_prefix(const Byte *words, Int nw, Int width, const Int *order, Int n, Int *lcp,
                   Int nl) {
    for (Int i = 1; i < n; i++) {
        Int a = order[i - 1] * width, b = order[i] * width, k = 0;
        while (k < width && words[a + k] == words[b + k])
            k++;
        lcp[i] = k;
    }
}

void bresenham(const Int *lines, Int n, Int four, Int *img, Int h, Int w) {
    for (Int i = 0; i < h; i++)
        for (Int j = 0; j < w; j++)
            img[i * w + j] = 0;
    for (Int k = 0; k < n; k++) {
        Int x = lines[k * four], y = lines[k * four + 1], x1 = lines[k * four + 2],
            y1 = lines[k * four + 3];
        Int dx = x1 > x ? x1 - x : x - x1, dy = y1 > y ? y - y1 : y1 - y;
        Int sx = x < x1 ? 1 : -1, sy = y < y1 ? 1 : -1, err = dx + dy;
        while (true) {
            img[y * w + x]++;
            if (x == x1 && y == y1) break;
            Int e2 = 2 * err;
            if (e2 >= dy) err += dy, x += sx;
            if (e2 <= dx) err += dx, y += sy;
        }
    }
}

Real fifo_gains(const Int *bq, Int n, const Real *bp, Int nbp, const Int *sq, Int m, const Real *sp,
                Int nsp, Int *left, Int nl) {
    for (Int i = 0; i < n; i++)
        left[i] = bq[i];
    Real gain = 0;
    Int lot = 0;
    for (Int s = 0; s < m; s++) {
        Int need = sq[s];
        while (need > 0 && lot < nl) {
            Int take = lesser(need, left[lot]);
            gain += take * (sp[s] - bp[lot]);
            left[lot] -= take;
            need -= take;
            if (left[lot] == 0) lot++;
        }
    }
    return gain;
}

Real prim(const Real *cost, Int n, Int m, Real *best, Int nb, Int *done, Int nd) {
    for (Int i = 0; i < n; i++)
        best[i] = 1e300, done[i] = 0;
    best[0] = 0;
    Real total = 0;
    for (Int step = 0; step < n; step++) {
        Int u = -1;
        for (Int i = 0; i < n; i++)
            if (done[i] == 0 && (u < 0 || best[i] < best[u])) u = i;
        done[u] = 1;
        total += best[u];
        for (Int v = 0; v < n; v++)
            if (done[v] == 0 && cost[u * m + v] < best[v]) best[v] = cost[u * m + v];
    }
    return total;
}

Real adaptive(Real a, Real b, Real tol, Real *left, Int nl, Real *right, Int nr) {
    Int top = 1;
    left[0] = a, right[0] = b;
    Real total = 0;
    while (top > 0) {
        top--;
        Real lo = left[top], hi = right[top], m = 0.5 * (lo + hi), h = hi - lo;
        Real fa = 1.0 / (1.0 + 25.0 * lo * lo), fm = 1.0 / (1.0 + 25.0 * m * m),
             fb = 1.0 / (1.0 + 25.0 * hi * hi);
        Real whole = 0.5 * h * (fa + fb), better = h / 6.0 * (fa + 4.0 * fm + fb);
        if (fabs(better - whole) < tol * h)
            total += better;
        else {
            left[top] = lo, right[top] = m;
            left[top + 1] = m, right[top + 1] = hi;
            top += 2;
        }
    }
    return total;
}

void median3(const Byte *img, Int h, Int w, Byte *out, Int oh, Int ow, Byte *window, Int nw) {
    for (Int y = 1; y < h - 1; y++)
        for (Int x = 1; x < w - 1; x++) {
            Int n = 0;
            for (Int dy = -1; dy < 2; dy++)
                for (Int dx = -1; dx < 2; dx++) {
                    Byte v = img[(y + dy) * w + x + dx];
                    Int k = n++;
                    while (k > 0 && window[k - 1] > v) {
                        window[k] = window[k - 1];
                        k--;
                    }
                    window[k] = v;
                }
            out[y * ow + x] = window[4];
        }
}

void chamfer(const Byte *mask, Int h, Int w, Int *dist, Int dh, Int dw) {
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            if (mask[y * w + x])
                dist[y * dw + x] = 0;
            else {
                Int d = 1 << 20;
                if (y > 0) d = lesser(d, dist[(y - 1) * dw + x] + 1);
                if (x > 0) d = lesser(d, dist[y * dw + x - 1] + 1);
                dist[y * dw + x] = d;
            }
        }
    for (Int y = h - 1; y >= 0; y--)
        for (Int x = w - 1; x >= 0; x--) {
            Int d = dist[y * dw + x];
            if (y < h - 1) d = lesser(d, dist[(y + 1) * dw + x] + 1);
            if (x < w - 1) d = lesser(d, dist[y * dw + x + 1] + 1);
            dist[y * dw + x] = d;
        }
}

Int components(const Byte *mask, Int h, Int w, Int *labels, Int lh, Int lw, Int *parent, Int np) {
    Int count = 0, roots = 0;
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            labels[y * lw + x] = -1;
            if (mask[y * w + x] == 0) continue;
            Int up = y > 0 ? labels[(y - 1) * lw + x] : -1,
                left = x > 0 ? labels[y * lw + x - 1] : -1;
            if (up < 0 && left < 0) {
                parent[count] = count;
                labels[y * lw + x] = count++;
            } else if (up < 0 || left < 0)
                labels[y * lw + x] = up > left ? up : left;
            else {
                while (parent[up] != up)
                    up = parent[up];
                while (parent[left] != left)
                    left = parent[left];
                Int root = lesser(up, left);
                parent[up > left ? up : left] = root;
                labels[y * lw + x] = root;
            }
        }
    for (Int i = 0; i < count; i++)
        roots += parent[i] == i;
    return roots;
}
