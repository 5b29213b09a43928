/* judge.c - the kernels of judge.py in C. */
#include "loops.h"

void cholesky(const Real *A, Int n, Int n1, Real *L, Int l0, Int l1) {
    for (Int j = 0; j < n; j++) {
        Real s = A[j * n1 + j];
        for (Int k = 0; k < j; k++)
            s -= L[j * l1 + k] * L[j * l1 + k];
        L[j * l1 + j] = sqrt(s);
        for (Int i = j + 1; i < n; i++) {
            s = A[i * n1 + j];
            for (Int k = 0; k < j; k++)
                s -= L[i * l1 + k] * L[j * l1 + k];
            L[i * l1 + j] = s / L[j * l1 + j];
        }
    }
}

Real power_iteration(const Real *A, Int n, Int n1, Real *x, Int nx, Real *y, Int ny, Int rounds) {
    for (Int i = 0; i < n; i++)
        x[i] = 1;
    Real value = 0;
    for (Int r = 0; r < rounds; r++) {
        Real largest = 0;
        for (Int i = 0; i < n; i++) {
            Real s = 0;
            for (Int j = 0; j < n; j++)
                s += A[i * n1 + j] * x[j];
            y[i] = s;
            if (fabs(s) > largest) largest = fabs(s);
        }
        for (Int i = 0; i < n; i++)
            x[i] = y[i] / largest;
        value = largest;
    }
    return value;
}

void gram_matrix(const Real *A, Int rows, Int columns, Real *G, Int g0, Int g1) {
    for (Int i = 0; i < columns; i++)
        for (Int j = i; j < columns; j++)
            G[i * g1 + j] = 0;
    for (Int r = 0; r < rows; r++)
        for (Int i = 0; i < columns; i++)
            for (Int j = i; j < columns; j++)
                G[i * g1 + j] += A[r * columns + i] * A[r * columns + j];
    for (Int i = 0; i < columns; i++)
        for (Int j = 0; j < i; j++)
            G[i * g1 + j] = G[j * g1 + i];
}

void gray_scott(const Real *u, Int h, Int w, const Real *v, Int vh, Int vw, Real *nu, Int uh1,
                Int uw1, Real *nv, Int vh1, Int vw1, Real feed, Real kill) {
    for (Int y = 0; y < h; y++) {
        Int up = y ? y - 1 : h - 1, down = y + 1 < h ? y + 1 : 0;
        for (Int x = 0; x < w; x++) {
            Int left = x ? x - 1 : w - 1, right = x + 1 < w ? x + 1 : 0, at = y * w + x;
            Real lu =
                u[up * w + x] + u[down * w + x] + u[y * w + left] + u[y * w + right] - 4 * u[at];
            Real lv =
                v[up * w + x] + v[down * w + x] + v[y * w + left] + v[y * w + right] - 4 * v[at];
            Real uvv = u[at] * v[at] * v[at];
            nu[at] = u[at] + 0.16 * lu - uvv + feed * (1 - u[at]);
            nv[at] = v[at] + 0.08 * lv + uvv - (feed + kill) * v[at];
        }
    }
}

void minmod_slopes(const Real *u, Int n, Real *slope, Int ns) {
    for (Int i = 1; i < n - 1; i++) {
        Real a = u[i] - u[i - 1], b = u[i + 1] - u[i];
        if (a * b <= 0)
            slope[i] = 0;
        else if (fabs(a) < fabs(b))
            slope[i] = a;
        else
            slope[i] = b;
    }
}

void dither(const Byte *image, Int h, Int w, Int *work, Int h1, Int w1, Byte *out, Int h2, Int w2) {
    for (Int i = 0; i < h * w; i++)
        work[i] = image[i];
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            Int old = work[y * w + x], new = old >= 128 ? 255 : 0, error = old - new;
            out[y * w + x] = (Byte) new;
            if (x + 1 < w) work[y * w + x + 1] += error * 7 >> 4;
            if (y + 1 < h) {
                if (x > 0) work[(y + 1) * w + x - 1] += error * 3 >> 4;
                work[(y + 1) * w + x] += error * 5 >> 4;
                if (x + 1 < w) work[(y + 1) * w + x + 1] += error >> 4;
            }
        }
}

void demosaic(const Byte *raw, Int h, Int w, Byte *rgb, Int h1, Int w1, Int three) {
    for (Int y = 0; y < h - 1; y += 2)
        for (Int x = 0; x < w - 1; x += 2) {
            Byte red = raw[y * w + x], blue = raw[(y + 1) * w + x + 1];
            Byte green = (Byte)((raw[y * w + x + 1] + raw[(y + 1) * w + x]) / 2);
            for (Int dy = 0; dy < 2; dy++)
                for (Int dx = 0; dx < 2; dx++) {
                    Byte *p = rgb + ((y + dy) * w1 + x + dx) * three;
                    p[0] = red;
                    p[1] = green;
                    p[2] = blue;
                }
        }
}

Int greedy_colouring(const Int *indptr, Int np, const Int *indices, Int ni, Int *colour, Int n,
                     Int *taken, Int nt) {
    for (Int i = 0; i < n; i++)
        colour[i] = taken[i] = -1;
    Int most = 0;
    for (Int i = 0; i < n; i++) {
        for (Int k = indptr[i]; k < indptr[i + 1]; k++) {
            Int c = colour[indices[k]];
            if (c >= 0) taken[c] = i;
        }
        Int c = 0;
        while (taken[c] == i)
            c++;
        colour[i] = c;
        if (c + 1 > most) most = c + 1;
    }
    return most;
}

Int spread_labels(const Int *edges, Int n, Int two, Int *label, Int nodes) {
    for (Int i = 0; i < nodes; i++)
        label[i] = i;
    bool changed = true;
    Int rounds = 0;
    while (changed) {
        changed = false;
        rounds++;
        for (Int e = 0; e < n; e++) {
            Int a = edges[e * two], b = edges[e * two + 1];
            if (label[a] < label[b]) {
                label[b] = label[a];
                changed = true;
            } else if (label[b] < label[a]) {
                label[a] = label[b];
                changed = true;
            }
        }
    }
    return rounds;
}

void lower_bounds(const Real *table, Int n, const Real *keys, Int nk, Int *out, Int no) {
    for (Int i = 0; i < nk; i++) {
        Int low = 0, high = n;
        while (low < high) {
            Int middle = (low + high) / 2;
            if (table[middle] < keys[i])
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
}

Real quick_select(const Real *src, Int n, Real *a, Int na, Int k) {
    for (Int i = 0; i < n; i++)
        a[i] = src[i];
    Int low = 0, high = na - 1;
    while (low < high) {
        Real pivot = a[k];
        Int i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot)
                i++;
            while (pivot < a[j])
                j--;
            if (i <= j) {
                Real t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        if (j < k) low = i;
        if (k < i) high = j;
    }
    return a[k];
}

Int common_subsequence(const Byte *a, Int n, const Byte *b, Int m, Int *row, Int nr) {
    for (Int j = 0; j <= m; j++)
        row[j] = 0;
    for (Int i = 0; i < n; i++) {
        Int diagonal = 0;
        for (Int j = 0; j < m; j++) {
            Int above = row[j + 1];
            row[j + 1] = a[i] == b[j] ? diagonal + 1 : above > row[j] ? above : row[j];
            diagonal = above;
        }
    }
    return row[m];
}

Real viterbi(const Real *trans, Int states, Int s1, const Real *emit, Int e0, Int kinds,
             const Int *seen, Int steps, Real *score, Int c0, Int c1, Int *back, Int b0, Int b1,
             Int *path, Int np) {
    for (Int s = 0; s < states; s++)
        score[s] = emit[s * kinds + seen[0]];
    for (Int t = 1; t < steps; t++)
        for (Int s = 0; s < states; s++) {
            Real best = -1e300;
            Int where = 0;
            for (Int p = 0; p < states; p++) {
                Real value = score[(t - 1) * c1 + p] + trans[p * s1 + s];
                if (value > best) {
                    best = value;
                    where = p;
                }
            }
            score[t * c1 + s] = best + emit[s * kinds + seen[t]];
            back[t * b1 + s] = where;
        }
    Int last = 0;
    for (Int s = 0; s < states; s++)
        if (score[(steps - 1) * c1 + s] > score[(steps - 1) * c1 + last]) last = s;
    for (Int t = steps - 1; t >= 0; t--) {
        path[t] = last;
        last = back[t * b1 + last];
    }
    return score[(steps - 1) * c1 + path[steps - 1]];
}

void title_case(const Byte *text, Int n, Byte *out, Int no) {
    bool inside = false;
    for (Int i = 0; i < n; i++) {
        Byte c = text[i];
        if (65 <= c && c <= 90) {
            out[i] = inside ? c + 32 : c;
            inside = true;
        } else if (97 <= c && c <= 122) {
            out[i] = inside ? c : c - 32;
            inside = true;
        } else {
            out[i] = c;
            inside = false;
        }
    }
}

Int hex_decode(const Byte *text, Int n, Byte *out, Int no) {
    Int bad = 0;
    for (Int i = 0; i < n / 2; i++) {
        Int value = 0;
        for (Int k = 0; k < 2; k++) {
            Int c = text[2 * i + k], digit = 0;
            if (48 <= c && c <= 57)
                digit = c - 48;
            else if (97 <= c && c <= 102)
                digit = c - 87;
            else
                bad++;
            value = value * 16 + digit;
        }
        out[i] = (Byte)value;
    }
    return bad;
}

Int sieve(bool *prime, Int n) {
    for (Int i = 0; i < n; i++)
        prime[i] = i >= 2;
    for (Int i = 2; i * i < n; i++)
        if (prime[i])
            for (Int k = i * i; k < n; k += i)
                prime[k] = false;
    Int count = 0;
    for (Int i = 0; i < n; i++)
        if (prime[i]) count++;
    return count;
}

Int abundant(Int limit) {
    Int count = 0;
    for (Int n = 2; n < limit; n++) {
        Int total = 1;
        for (Int d = 2; d * d <= n; d++)
            if (n % d == 0) {
                total += d;
                if (d * d != n) total += n / d;
            }
        if (total > n) count++;
    }
    return count;
}

void moments(const Real *a, Int n, Real *out, Int no) {
    Real mean = 0, m2 = 0, m3 = 0, m4 = 0;
    for (Int i = 0; i < n; i++)
        mean += a[i];
    mean /= n;
    for (Int i = 0; i < n; i++) {
        Real d = a[i] - mean;
        m2 += d * d;
        m3 += d * d * d;
        m4 += (d * d) * (d * d);
    }
    m2 /= n;
    out[0] = mean;
    out[1] = m2;
    out[2] = m3 / n / pow(m2, 1.5);
    out[3] = m4 / n / (m2 * m2) - 3;
}

void holt(const Real *x, Int n, Real alpha, Real beta, Real *out, Int no) {
    Real level = x[0], trend = x[1] - x[0];
    for (Int i = 0; i < n; i++) {
        Real before = level;
        level = alpha * x[i] + (1 - alpha) * (level + trend);
        trend = beta * (level - before) + (1 - beta) * trend;
        out[i] = level + trend;
    }
}

void rule110(const Byte *start, Int ns, Byte *cells, Int n, Byte *after, Int na, Int steps) {
    for (Int i = 0; i < n; i++)
        cells[i] = start[i];
    for (Int s = 0; s < steps; s++) {
        for (Int i = 0; i < n; i++) {
            Int left = i > 0 ? cells[i - 1] : 0, right = i < n - 1 ? cells[i + 1] : 0;
            after[i] = (110 >> (left * 4 + cells[i] * 2 + right)) & 1;
        }
        for (Int i = 0; i < n; i++)
            cells[i] = after[i];
    }
}

void resample(const Real *x, Int n, Real ratio, Real *out, Int no) {
    for (Int i = 0; i < no; i++) {
        Real at = i * ratio;
        Int k = (Int)at;
        Real f = at - k;
        out[i] = k + 1 < n ? (1 - f) * x[k] + f * x[k + 1] : x[n - 1];
    }
}

void segment_distances(const Real *px, Int n, const Real *py, Int ny, const Real *segments, Int m,
                       Int four, Real *out, Int no) {
    for (Int i = 0; i < n; i++) {
        Real best = 1e300;
        for (Int s = 0; s < m; s++) {
            const Real *p = segments + s * four;
            Real dx = p[2] - p[0], dy = p[3] - p[1];
            Real t = ((px[i] - p[0]) * dx + (py[i] - p[1]) * dy) / (dx * dx + dy * dy);
            t = t > 0 ? t : 0;
            t = t < 1 ? t : 1;
            Real ex = p[0] + t * dx - px[i], ey = p[1] + t * dy - py[i], d = ex * ex + ey * ey;
            if (d < best) best = d;
        }
        out[i] = sqrt(best);
    }
}

void rasterise(const Real *triangles, Int n, Int seven, Real *depth, Int h, Int w) {
    for (Int i = 0; i < h * w; i++)
        depth[i] = 1e9;
    for (Int t = 0; t < n; t++) {
        const Real *p = triangles + t * seven;
        Real ax = p[0], ay = p[1], bx = p[2], by = p[3], cx = p[4], cy = p[5], z = p[6];
        Real area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
        if (area == 0) continue;
        for (Int y = 0; y < h; y++)
            for (Int x = 0; x < w; x++) {
                Real e0 = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area;
                Real e1 = ((cx - bx) * (y - by) - (cy - by) * (x - bx)) / area;
                Real e2 = ((ax - cx) * (y - cy) - (ay - cy) * (x - cx)) / area;
                if (e0 >= 0 && e1 >= 0 && e2 >= 0 && z < depth[y * w + x]) depth[y * w + x] = z;
            }
    }
}

void bond_yields(const Real *prices, Int n, Real coupon, Int years, Real *out, Int no) {
    for (Int i = 0; i < n; i++) {
        Real rate = 0.05;
        for (Int step = 0; step < 6; step++) {
            Real value = 0, slope = 0, discount = 1;
            for (Int t = 1; t <= years; t++) {
                discount /= 1 + rate;
                Real cash = t == years ? coupon + 100 : coupon;
                value += cash * discount;
                slope -= t * cash * discount / (1 + rate);
            }
            rate -= (value - prices[i]) / slope;
        }
        out[i] = rate;
    }
}

void strength_index(const Real *prices, Int n, Int window, Real *out, Int no) {
    Real gain = 0, loss = 0;
    for (Int i = 1; i < n; i++) {
        Real change = prices[i] - prices[i - 1];
        Real up = change > 0 ? change : 0, down = change < 0 ? -change : 0;
        if (i <= window) {
            gain += up / window;
            loss += down / window;
        } else {
            gain = (gain * (window - 1) + up) / window;
            loss = (loss * (window - 1) + down) / window;
        }
        if (i >= window) out[i] = 100 * gain / (gain + loss);
    }
}

void block_match(const Byte *a, Int h, Int w, const Byte *b, Int h1, Int w1, Int size, Int radius,
                 Int *motion, Int rows, Int columns, Int two) {
    for (Int by = 0; by < rows; by++)
        for (Int bx = 0; bx < columns; bx++) {
            Int best = (Int)1 << 40, *m = motion + (by * columns + bx) * two;
            for (Int dy = -radius; dy <= radius; dy++)
                for (Int dx = -radius; dx <= radius; dx++) {
                    Int y0 = by * size + dy, x0 = bx * size + dx, s = 0;
                    if (y0 < 0 || x0 < 0 || y0 + size > h || x0 + size > w) continue;
                    for (Int y = 0; y < size; y++)
                        for (Int x = 0; x < size; x++)
                            s += abs(a[(by * size + y) * w + bx * size + x] -
                                     b[(y0 + y) * w1 + x0 + x]);
                    if (s < best) {
                        best = s;
                        m[0] = dy;
                        m[1] = dx;
                    }
                }
        }
}

void downsample(const Real *a, Int ah, Int aw, Real *out, Int h, Int w) {
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            const Real *p = a + 2 * y * aw + 2 * x;
            out[y * w + x] = 0.25 * (p[0] + p[1] + p[aw] + p[aw + 1]);
        }
}

void hilbert_index(const Int *xs, Int n, const Int *ys, Int ny, Int side, Int *out, Int no) {
    for (Int i = 0; i < n; i++) {
        Int x = xs[i], y = ys[i], d = 0;
        for (Int s = side / 2; s > 0; s /= 2) {
            Int rx = (x & s) != 0, ry = (y & s) != 0;
            d += s * s * ((3 * rx) ^ ry);
            if (ry == 0) {
                if (rx == 1) {
                    x = side - 1 - x;
                    y = side - 1 - y;
                }
                Int t = x;
                x = y;
                y = t;
            }
        }
        out[i] = d;
    }
}

void standardise(Real *x, Int n, Int m) {
    for (Int j = 0; j < m; j++) {
        Real mean = 0, var = 0;
        for (Int i = 0; i < n; i++)
            mean += x[i * m + j];
        mean /= n;
        for (Int i = 0; i < n; i++)
            var += (x[i * m + j] - mean) * (x[i * m + j] - mean);
        Real sd = sqrt(var / (n - 1));
        for (Int i = 0; i < n; i++)
            x[i * m + j] = (x[i * m + j] - mean) / sd;
    }
}

Real chi_square(const Int *table, Int n, Int m, Int *rows, Int nr, Int *columns, Int nc) {
    memset(rows, 0, n * sizeof *rows);
    memset(columns, 0, m * sizeof *columns);
    Int total = 0;
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < m; j++) {
            rows[i] += table[i * m + j];
            columns[j] += table[i * m + j];
            total += table[i * m + j];
        }
    Real chi = 0;
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < m; j++) {
            Real expected = (Real)(rows[i] * columns[j]) / total, d = table[i * m + j] - expected;
            chi += d * d / expected;
        }
    return chi;
}

Int inversions(const Int *a, Int na, Int *tree, Int nt) {
    Int n = nt - 1, count = 0;
    for (Int i = 0; i <= n; i++)
        tree[i] = 0;
    for (Int i = na - 1; i >= 0; i--) {
        for (Int k = a[i]; k > 0; k -= k & -k)
            count += tree[k];
        for (Int k = a[i] + 1; k <= n; k += k & -k)
            tree[k]++;
    }
    return count;
}

void heap_sort(const Real *src, Int ns, Real *a, Int n) {
    for (Int i = 0; i < n; i++)
        a[i] = src[i];
    for (Int end = n + n / 2 - 1; end > 0; end--) {
        Int root = 0, last = end;
        if (end >= n) {
            root = end - n;
            last = n;
        } else {
            Real t = a[0];
            a[0] = a[end];
            a[end] = t;
        }
        Real value = a[root];
        while (2 * root + 1 < last) {
            Int child = 2 * root + 1;
            if (child + 1 < last && a[child] < a[child + 1]) child++;
            if (!(value < a[child])) break;
            a[root] = a[child];
            root = child;
        }
        a[root] = value;
    }
}

Int best_run(const Int *a, Int n, Int *where, Int two) {
    Int best = a[0], total = a[0], start = 0;
    for (Int i = 1; i < n; i++) {
        if (total < 0) {
            total = a[i];
            start = i;
        } else {
            total += a[i];
        }
        if (total > best) {
            best = total;
            where[0] = start;
            where[1] = i;
        }
    }
    return best;
}

Int word_wrap(const Int *lengths, Int n, Int width, Int *cost, Int nc) {
    cost[n] = 0;
    for (Int i = n - 1; i >= 0; i--) {
        Int used = -1;
        cost[i] = (Int)1 << 60;
        for (Int j = i; j < n; j++) {
            used += lengths[j] + 1;
            if (used > width) break;
            Int slack = j + 1 < n ? width - used : 0;
            cost[i] = lesser(cost[i], slack * slack * slack + cost[j + 1]);
        }
    }
    return cost[0];
}

void stream_cipher(const Byte *key, Int nk, const Byte *data, Int n, Int *state, Int ns, Byte *out,
                   Int no) {
    for (Int i = 0; i < 256; i++)
        state[i] = i;
    Int i = 0, j = 0;
    for (i = 0; i < 256; i++) {
        j = (j + state[i] + key[i % nk]) & 255;
        Int t = state[i];
        state[i] = state[j];
        state[j] = t;
    }
    i = j = 0;
    for (Int k = 0; k < n; k++) {
        i = (i + 1) & 255;
        j = (j + state[i]) & 255;
        Int t = state[i];
        state[i] = state[j];
        state[j] = t;
        out[k] = (Byte)(data[k] ^ state[(state[i] + state[j]) & 255]);
    }
}

void move_to_front(const Byte *data, Int n, Byte *table, Int nt, Byte *out, Int no) {
    for (Int i = 0; i < 256; i++)
        table[i] = (Byte)i;
    for (Int i = 0; i < n; i++) {
        Byte c = data[i];
        Int k = 0;
        while (table[k] != c)
            k++;
        out[i] = (Byte)k;
        for (; k > 0; k--)
            table[k] = table[k - 1];
        table[0] = c;
    }
}

void kalman(const Real *measured, Int n, Real noise, Real drift, Real *out, Int no) {
    Real estimate = measured[0], variance = 1;
    for (Int i = 0; i < n; i++) {
        variance += drift;
        Real gain = variance / (variance + noise);
        estimate += gain * (measured[i] - estimate);
        variance *= 1 - gain;
        out[i] = estimate;
    }
}

void spring_chain(const Real *start, Int ns, Real *x, Int n, Real *v, Int nv, Int steps, Real dt) {
    for (Int i = 0; i < n; i++) {
        x[i] = start[i];
        v[i] = 0;
    }
    for (Int s = 0; s < steps; s++) {
        for (Int i = 0; i < n; i++) {
            Real force = -0.01 * v[i];
            if (i > 0) force += x[i - 1] - x[i];
            if (i < n - 1) force += x[i + 1] - x[i];
            v[i] += dt * force;
        }
        for (Int i = 0; i < n; i++)
            x[i] += dt * v[i];
    }
}

void newton_fractal(Int *out, Int h, Int w, Int rounds) {
    for (Int py = 0; py < h; py++)
        for (Int px = 0; px < w; px++) {
            Real x = 4.0 * px / w - 2.0 + 1e-3, y = 4.0 * py / h - 2.0 + 1e-3;
            Int n = 0;
            while (n < rounds) {
                Real x2 = x * x - y * y, y2 = 2 * x * y, d = x2 * x2 + y2 * y2;
                Real nx = (2 * x + x2 / d) / 3, ny = (2 * y - y2 / d) / 3;
                Real change = fabs(nx - x) + fabs(ny - y);
                x = nx;
                y = ny;
                n++;
                if (change < 1e-6) break;
            }
            out[py * w + px] = n;
        }
}

void fibonacci_mod(const Int *indices, Int n, Int m, Int *out, Int no) {
    for (Int i = 0; i < n; i++) {
        Int a = 0, b = 1;
        for (Int bit = (Int)1 << 40; bit > 0; bit >>= 1) {
            Int c = a * floor_mod(2 * b - a, m) % m, d = (a * a + b * b) % m;
            if (indices[i] & bit) {
                a = d;
                b = (c + d) % m;
            } else {
                a = c;
                b = d;
            }
        }
        out[i] = a;
    }
}
