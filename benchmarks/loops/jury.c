/* jury.c - the kernels of jury.py. */
#include "loops.h"
#include <complex.h>

typedef float Single;
typedef double complex Complex;

static inline Int greater(Int a, Int b) {
    return a > b ? a : b;
}

Real lloyd_step(const Real *points, Int n, Int d, const Real *centers, Int k, Int cd,
                int32_t *label, Int nl, Real *sums, Int s1, Int s2, Int *counts, Int nc) {
    for (Int c = 0; c < k; c++) {
        counts[c] = 0;
        for (Int j = 0; j < d; j++)
            sums[c * d + j] = 0;
    }
    Real inertia = 0;
    for (Int i = 0; i < n; i++) {
        const Real *p = points + i * d;
        Real best = INFINITY;
        Int which = 0;
        for (Int c = 0; c < k; c++) {
            Real dist = 0;
            for (Int j = 0; j < d; j++) {
                Real diff = p[j] - centers[c * d + j];
                dist += diff * diff;
                if (dist >= best) break;
            }
            if (dist < best) {
                best = dist;
                which = c;
            }
        }
        label[i] = which;
        counts[which]++;
        for (Int j = 0; j < d; j++)
            sums[which * d + j] += p[j];
        inertia += best;
    }
    for (Int c = 0; c < k; c++)
        if (counts[c] > 0)
            for (Int j = 0; j < d; j++)
                sums[c * d + j] /= counts[c];
    return inertia;
}

static inline Real sigmoid(Real x) {
    if (x >= 0) return 1 / (1 + exp(-x));
    Real z = exp(x);
    return z / (1 + z);
}

Real logistic_sgd(const Real *features, Int n, Int d, const int8_t *target, Int nt, Real *weights,
                  Int nw, const Int *order, Int no, Real rate, Real decay, Int epochs) {
    for (Int j = 0; j <= d; j++)
        weights[j] = 0;
    Real loss = 0;
    for (Int epoch = 0; epoch < epochs; epoch++) {
        loss = 0;
        for (Int t = 0; t < no; t++) {
            Int i = order[t];
            const Real *f = features + i * d;
            Real z = weights[d];
            for (Int j = 0; j < d; j++)
                z += weights[j] * f[j];
            Real g = sigmoid(z) - target[i];
            loss += fabs(g);
            for (Int j = 0; j < d; j++)
                weights[j] -= rate * (g * f[j] + decay * weights[j]);
            weights[d] -= rate * g;
        }
        rate *= 0.9;
    }
    return loss;
}

void forest_votes(const int16_t *feature, Int n1, const Single *threshold, Int n2,
                  const int32_t *left, Int n3, const int32_t *right, Int n4, const int32_t *roots,
                  Int trees, const Single *samples, Int n, Int d, int32_t *votes, Int vn,
                  Int classes) {
    for (Int i = 0; i < n; i++) {
        for (Int c = 0; c < classes; c++)
            votes[i * classes + c] = 0;
        for (Int t = 0; t < trees; t++) {
            Int node = roots[t];
            while (feature[node] >= 0)
                node = samples[i * d + feature[node]] <= threshold[node] ? left[node] : right[node];
            votes[i * classes + left[node]]++;
        }
    }
}

Real jacobi_eigen(const Real *given, Int n, Int n2, Real *a, Int a1, Int a2, Real *v, Int v1,
                  Int v2, Int sweeps) {
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < n; j++) {
            a[i * n + j] = given[i * n + j];
            v[i * n + j] = i == j;
        }
    for (Int s = 0; s < sweeps; s++)
        for (Int p = 0; p < n - 1; p++)
            for (Int q = p + 1; q < n; q++) {
                Real pq = a[p * n + q];
                if (fabs(pq) < 1e-14) continue;
                Real theta = (a[q * n + q] - a[p * n + p]) / (2 * pq);
                Real t = 1 / (fabs(theta) + sqrt(theta * theta + 1));
                if (theta < 0) t = -t;
                Real c = 1 / sqrt(t * t + 1), d = t * c;
                for (Int k = 0; k < n; k++) {
                    Real x = a[k * n + p], y = a[k * n + q];
                    a[k * n + p] = c * x - d * y;
                    a[k * n + q] = d * x + c * y;
                }
                for (Int k = 0; k < n; k++) {
                    Real x = a[p * n + k], y = a[q * n + k];
                    a[p * n + k] = c * x - d * y;
                    a[q * n + k] = d * x + c * y;
                }
                for (Int k = 0; k < n; k++) {
                    Real x = v[k * n + p], y = v[k * n + q];
                    v[k * n + p] = c * x - d * y;
                    v[k * n + q] = d * x + c * y;
                }
            }
    Real off = 0;
    for (Int i = 0; i < n; i++)
        for (Int j = 0; j < i; j++)
            off += a[i * n + j] * a[i * n + j];
    return off;
}

/* A product without the rescue of infinities, as NumPy has it. */
static inline Complex times(Complex a, Complex b) {
    return __builtin_complex(creal(a) * creal(b) - cimag(a) * cimag(b),
                             creal(a) * cimag(b) + cimag(a) * creal(b));
}

void complex_gram_schmidt(const Complex *a, Int m, Int n, Complex *q, Int q1, Int q2, Complex *r,
                          Int r1, Int r2) {
    for (Int i = 0; i < m * n; i++)
        q[i] = a[i];
    for (Int k = 0; k < n; k++) {
        Real norm = 0;
        for (Int i = 0; i < m; i++)
            norm += creal(q[i * n + k]) * creal(q[i * n + k]) +
                    cimag(q[i * n + k]) * cimag(q[i * n + k]);
        norm = sqrt(norm);
        r[k * n + k] = norm;
        for (Int i = 0; i < m; i++)
            q[i * n + k] /= norm;
        for (Int j = k + 1; j < n; j++) {
            Complex dot = 0;
            for (Int i = 0; i < m; i++)
                dot += times(conj(q[i * n + k]), q[i * n + j]);
            r[k * n + j] = dot;
            for (Int i = 0; i < m; i++)
                q[i * n + j] -= times(dot, q[i * n + k]);
        }
    }
}

static inline Real shallow_flux(Real h, Real u, Real g) {
    return h * u * u + 0.5 * g * h * h;
}

static inline Real fewer(Real a, Real b) {
    return b < a ? b : a;
}

static inline Real more(Real a, Real b) {
    return b > a ? b : a;
}

Real shallow_water(const Real *h0, Int n0, Real *h, Int n, Real *hu, Int n1, Real *fh, Int n2,
                   Real *fu, Int n3, Real g, Real dx, Int steps) {
    for (Int i = 0; i < n; i++) {
        h[i] = h0[i];
        hu[i] = 0;
    }
    Real clock = 0;
    for (Int t = 0; t < steps; t++) {
        Real fastest = 0;
        for (Int i = 0; i < n; i++)
            fastest = more(fastest, fabs(hu[i] / h[i]) + sqrt(g * h[i]));
        Real dt = 0.45 * dx / fastest;
        for (Int i = 0; i < n - 1; i++) {
            Real ul = hu[i] / h[i], ur = hu[i + 1] / h[i + 1];
            Real sl = fewer(ul - sqrt(g * h[i]), ur - sqrt(g * h[i + 1])),
                 sr = more(ul + sqrt(g * h[i]), ur + sqrt(g * h[i + 1]));
            if (sl >= 0) {
                fh[i] = hu[i];
                fu[i] = shallow_flux(h[i], ul, g);
            } else if (sr <= 0) {
                fh[i] = hu[i + 1];
                fu[i] = shallow_flux(h[i + 1], ur, g);
            } else {
                Real left = shallow_flux(h[i], ul, g), right = shallow_flux(h[i + 1], ur, g);
                fh[i] = (sr * hu[i] - sl * hu[i + 1] + sl * sr * (h[i + 1] - h[i])) / (sr - sl);
                fu[i] = (sr * left - sl * right + sl * sr * (hu[i + 1] - hu[i])) / (sr - sl);
            }
        }
        for (Int i = 1; i < n - 1; i++) {
            h[i] -= dt / dx * (fh[i] - fh[i - 1]);
            hu[i] -= dt / dx * (fu[i] - fu[i - 1]);
        }
        h[0] = h[1];
        hu[0] = -hu[1];
        h[n - 1] = h[n - 2];
        hu[n - 1] = -hu[n - 2];
        clock += dt;
    }
    return clock;
}

void heat_torus(const Single *start, Int nx, Int ny, Int nz, Single *u, Int u1, Int u2, Int u3,
                Single *fresh, Int f1, Int f2, Int f3, Real k, Int steps) {
    Single kk = k;
    for (Int i = 0; i < nx * ny * nz; i++)
        u[i] = start[i];
    for (Int t = 0; t < steps; t++) {
        for (Int i = 0; i < nx; i++) {
            Int im = i ? i - 1 : nx - 1, ip = (i + 1) % nx;
            for (Int j = 0; j < ny; j++) {
                const Single *row = u + (i * ny + j) * nz, *west = u + (im * ny + j) * nz,
                             *east = u + (ip * ny + j) * nz;
                const Single *south = u + (i * ny + (j ? j - 1 : ny - 1)) * nz,
                             *north = u + (i * ny + (j + 1) % ny) * nz;
                for (Int l = 0; l < nz; l++) {
                    Int lm = l ? l - 1 : nz - 1, lp = l + 1 < nz ? l + 1 : 0;
                    Single lap =
                        west[l] + east[l] + south[l] + north[l] + row[lm] + row[lp] - 6.0f * row[l];
                    fresh[(i * ny + j) * nz + l] = row[l] + kk * lap;
                }
            }
        }
        Single *other = u;
        u = fresh;
        fresh = other;
    }
}

Int dither(const Byte *image, Int h, Int w, int16_t *work, Int w1, Int w2, Byte *out, Int o1,
           Int o2) {
    for (Int i = 0; i < h * w; i++)
        work[i] = image[i];
    Int black = 0;
    for (Int y = 0; y < h; y++) {
        Int step = y % 2 == 0 ? 1 : -1, x = step == 1 ? 0 : w - 1;
        int16_t *row = work + y * w, *below = row + w;
        for (; 0 <= x && x < w; x += step) {
            Int old = row[x], new = old >= 128 ? 255 : 0;
            black += new == 0;
            out[y * w + x] = new;
            Int miss = old - new;
            bool ahead = 0 <= x + step && x + step < w;
            if (ahead) row[x + step] += (miss * 7) >> 4;
            if (y + 1 < h) {
                if (0 <= x - step && x - step < w) below[x - step] += (miss * 3) >> 4;
                below[x] += (miss * 5) >> 4;
                if (ahead) below[x + step] += miss >> 4;
            }
        }
    }
    return black;
}

Int adaptive_threshold(const Byte *image, Int h, Int w, int32_t *table, Int t1, Int tw, Byte *out,
                       Int o1, Int o2, Int radius, Int percent) {
    for (Int y = 0; y < h; y++) {
        Int row = 0;
        for (Int x = 0; x < w; x++) {
            row += image[y * w + x];
            table[(y + 1) * tw + x + 1] = table[y * tw + x + 1] + row;
        }
    }
    Int dark = 0;
    for (Int y = 0; y < h; y++) {
        Int y0 = greater(0, y - radius), y1 = lesser(h, y + radius + 1);
        for (Int x = 0; x < w; x++) {
            Int x0 = greater(0, x - radius), x1 = lesser(w, x + radius + 1),
                area = (y1 - y0) * (x1 - x0);
            Int total = (Int)table[y1 * tw + x1] - table[y0 * tw + x1] - table[y1 * tw + x0] +
                        table[y0 * tw + x0];
            if (image[y * w + x] * area * 100 < total * (100 - percent)) {
                out[y * w + x] = 0;
                dark++;
            } else
                out[y * w + x] = 255;
        }
    }
    return dark;
}

static Int root_of(int32_t *parent, Int k) {
    Int root = k;
    while (parent[root] != root)
        root = parent[root];
    while (parent[k] != root) {
        Int up = parent[k];
        parent[k] = root;
        k = up;
    }
    return root;
}

Int label_blobs(const bool *mask, Int h, Int w, int32_t *label, Int l1, Int l2, int32_t *parent,
                Int np) {
    Int used = 1;
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++) {
            int32_t *at = label + y * w + x;
            *at = 0;
            if (!mask[y * w + x]) continue;
            Int above = y > 0 ? at[-w] : 0, before = x > 0 ? at[-1] : 0;
            if (above == 0 && before == 0) {
                parent[used] = used;
                *at = used++;
            } else if (above != 0 && before != 0) {
                Int a = root_of(parent, above), b = root_of(parent, before);
                if (a < b) {
                    parent[b] = a;
                    *at = a;
                } else {
                    parent[a] = b;
                    *at = b;
                }
            } else
                *at = above + before;
        }
    Int blobs = 0;
    for (Int k = 1; k < used; k++)
        blobs += parent[k] == k;
    for (Int i = 0; i < h * w; i++)
        if (label[i] > 0) label[i] = root_of(parent, label[i]);
    return blobs;
}

static Int heap_push(Real *keys, int32_t *items, Int size, Real key, Int item) {
    Int i = size;
    while (i > 0) {
        Int up = (i - 1) >> 1;
        if (keys[up] <= key) break;
        keys[i] = keys[up];
        items[i] = items[up];
        i = up;
    }
    keys[i] = key;
    items[i] = item;
    return size + 1;
}

static Int heap_pop(Real *keys, int32_t *items, Int size) {
    size--;
    Real key = keys[size];
    Int item = items[size], i = 0;
    for (;;) {
        Int c = 2 * i + 1;
        if (c >= size) break;
        if (c + 1 < size && keys[c + 1] < keys[c]) c++;
        if (keys[c] >= key) break;
        keys[i] = keys[c];
        items[i] = items[c];
        i = c;
    }
    keys[i] = key;
    items[i] = item;
    return size;
}

Int dijkstra(const int32_t *indptr, Int np, const int32_t *indices, Int ni, const Real *weight,
             Int nw, Int source, Real *dist, Int n, bool *done, Int nd, Real *keys, Int nk,
             int32_t *items, Int nt) {
    for (Int v = 0; v < n; v++) {
        dist[v] = INFINITY;
        done[v] = false;
    }
    dist[source] = 0;
    Int size = heap_push(keys, items, 0, 0, source), reached = 0;
    while (size > 0) {
        Int v = items[0];
        size = heap_pop(keys, items, size);
        if (done[v]) continue;
        done[v] = true;
        reached++;
        for (Int e = indptr[v]; e < indptr[v + 1]; e++) {
            Int w = indices[e];
            Real d = dist[v] + weight[e];
            if (d < dist[w]) {
                dist[w] = d;
                size = heap_push(keys, items, size, d, w);
            }
        }
    }
    for (Int v = 0; v < n; v++)
        if (!done[v]) dist[v] = -1;
    return reached;
}

Int strong_components(const int32_t *indptr, Int np, const int32_t *indices, Int ni, int32_t *index,
                      Int n1, int32_t *low, Int n2, bool *on_stack, Int n3, int32_t *stack, Int n4,
                      int32_t *call, Int n5, int32_t *edge, Int n6, int32_t *component, Int n7) {
    Int n = np - 1;
    for (Int v = 0; v < n; v++) {
        index[v] = -1;
        on_stack[v] = false;
    }
    Int clock = 0, top = 0, found = 0;
    for (Int start = 0; start < n; start++) {
        if (index[start] >= 0) continue;
        Int depth = 0;
        call[0] = start;
        edge[0] = indptr[start];
        index[start] = low[start] = clock++;
        stack[top++] = start;
        on_stack[start] = true;
        while (depth >= 0) {
            Int v = call[depth];
            if (edge[depth] < indptr[v + 1]) {
                Int w = indices[edge[depth]++];
                if (index[w] < 0) {
                    index[w] = low[w] = clock++;
                    stack[top++] = w;
                    on_stack[w] = true;
                    depth++;
                    call[depth] = w;
                    edge[depth] = indptr[w];
                } else if (on_stack[w])
                    low[v] = lesser(low[v], index[w]);
            } else {
                if (low[v] == index[v]) {
                    Int w;
                    do {
                        w = stack[--top];
                        on_stack[w] = false;
                        component[w] = found;
                    } while (w != v);
                    found++;
                }
                depth--;
                if (depth >= 0) low[call[depth]] = lesser(low[call[depth]], low[v]);
            }
        }
    }
    return found;
}

Int count_triangles(const int32_t *indptr, Int np, const int32_t *indices, Int ni, Int *per_vertex,
                    Int n) {
    for (Int v = 0; v < n; v++)
        per_vertex[v] = 0;
    Int total = 0;
    for (Int u = 0; u < n; u++)
        for (Int e = indptr[u]; e < indptr[u + 1]; e++) {
            Int v = indices[e];
            if (v <= u) continue;
            Int a = e + 1, b = indptr[v];
            while (a < indptr[u + 1] && b < indptr[v + 1]) {
                if (indices[a] < indices[b])
                    a++;
                else if (indices[a] > indices[b])
                    b++;
                else {
                    per_vertex[u]++;
                    per_vertex[v]++;
                    per_vertex[indices[a]]++;
                    total++;
                    a++;
                    b++;
                }
            }
        }
    return total;
}

void radix_sort(const uint32_t *given, Int n, uint32_t *a, Int na, uint32_t *b, Int nb, Int *count,
                Int nc) {
    for (Int i = 0; i < n; i++)
        a[i] = given[i];
    for (int shift = 0; shift < 32; shift += 8) {
        for (Int d = 0; d < 256; d++)
            count[d] = 0;
        for (Int i = 0; i < n; i++)
            count[(a[i] >> shift) & 255]++;
        Int total = 0;
        for (Int d = 0; d < 256; d++) {
            Int c = count[d];
            count[d] = total;
            total += c;
        }
        for (Int i = 0; i < n; i++)
            b[count[(a[i] >> shift) & 255]++] = a[i];
        uint32_t *t = a;
        a = b;
        b = t;
    }
}

Real viterbi(const Byte *observed, Int n, const Real *start, Int states, const Real *move, Int m1,
             Int m2, const Real *emit, Int e1, Int letters, Real *score, Int s1, Int s2,
             int8_t *back, Int b1, Int b2, int8_t *path, Int np) {
    for (Int s = 0; s < states; s++)
        score[s] = start[s] + emit[s * letters + observed[0]];
    for (Int t = 1; t < n; t++) {
        Real *now = score + t % 2 * states;
        const Real *was = score + (1 - t % 2) * states;
        for (Int s = 0; s < states; s++) {
            Real best = -INFINITY;
            Int which = 0;
            for (Int p = 0; p < states; p++) {
                Real v = was[p] + move[p * states + s];
                if (v > best) {
                    best = v;
                    which = p;
                }
            }
            now[s] = best + emit[s * letters + observed[t]];
            back[t * states + s] = which;
        }
    }
    const Real *last = score + (n - 1) % 2 * states;
    Int s = 0;
    for (Int p = 1; p < states; p++)
        if (last[p] > last[s]) s = p;
    Real total = last[s];
    for (Int t = n - 1; t >= 0; t--) {
        path[t] = s;
        s = back[t * states + s];
    }
    return total;
}

Int transposing_distance(const Byte *a, Int n, const Byte *b, Int m, int32_t *rows, Int three,
                         Int w) {
    for (Int j = 0; j <= m; j++)
        rows[j] = j;
    for (Int i = 1; i <= n; i++) {
        int32_t *now = rows + i % 3 * w;
        const int32_t *was = rows + (i - 1) % 3 * w, *older = rows + (i + 1) % 3 * w;
        now[0] = i;
        for (Int j = 1; j <= m; j++) {
            Int cost = a[i - 1] == b[j - 1] ? 0 : 1;
            Int d = lesser(lesser(was[j] + 1, now[j - 1] + 1), was[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d = lesser(d, older[j - 2] + 1);
            now[j] = d;
        }
    }
    return rows[n % 3 * w + m];
}

Int base64_encode(const Byte *data, Int n, const Byte *alphabet, Int na, Byte *out, Int no) {
    Int k = 0, i = 0;
    for (; i + 2 < n; i += 3) {
        Int v = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
        out[k] = alphabet[(v >> 18) & 63];
        out[k + 1] = alphabet[(v >> 12) & 63];
        out[k + 2] = alphabet[(v >> 6) & 63];
        out[k + 3] = alphabet[v & 63];
        k += 4;
    }
    Int left = n - i;
    if (left > 0) {
        Int v = data[i] << 16;
        if (left == 2) v |= data[i + 1] << 8;
        out[k] = alphabet[(v >> 18) & 63];
        out[k + 1] = alphabet[(v >> 12) & 63];
        out[k + 2] = left == 2 ? alphabet[(v >> 6) & 63] : 61;
        out[k + 3] = 61;
        k += 4;
    }
    return k;
}

Int utf8_decode(const Byte *text, Int n, int32_t *points, Int np) {
    Int i = 0, k = 0;
    while (i < n) {
        Int c = text[i], extra;
        if (c < 0x80)
            extra = 0;
        else if (c >> 5 == 6)
            extra = 1, c &= 31;
        else if (c >> 4 == 14)
            extra = 2, c &= 15;
        else if (c >> 3 == 30)
            extra = 3, c &= 7;
        else {
            points[k++] = 0xFFFD;
            i++;
            continue;
        }
        i++;
        bool bad = false;
        for (Int j = 0; j < extra; j++) {
            if (i >= n || (text[i] & 0xC0) != 0x80) {
                bad = true;
                break;
            }
            c = (c << 6) | (text[i] & 63);
            i++;
        }
        points[k++] = bad ? 0xFFFD : c;
    }
    return k;
}

static Int inverse_mod(Int a, Int m) {
    Int old = a, r = m, x = 1, s = 0;
    while (r != 0) {
        Int q = old / r, t = old - q * r;
        old = r;
        r = t;
        t = x - q * s;
        x = s;
        s = t;
    }
    return old != 1 ? 0 : floor_mod(x, m);
}

Int inverses(const Int *values, Int n, Int modulus, Int *out, Int no) {
    Int none = 0;
    for (Int i = 0; i < n; i++) {
        out[i] = inverse_mod(values[i], modulus);
        if (out[i] == 0) none++;
    }
    return none;
}

#include "jury_second.h"
