/* jury_second.h - the second half of jury.c. */

static inline Int popcount(uint64_t x) {
    x = x - ((x >> 1) & 0x5555555555555555);
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333);
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return ((x * 0x0101010101010101) >> 56) & 127;
}

Int nearest_codes(const Int *base, Int n, Int words, const Int *queries, Int nq, Int qw, Int *which,
                  Int nw) {
    Int total = 0;
    for (Int q = 0; q < nq; q++) {
        Int best = 64 * words + 1;
        for (Int i = 0; i < n; i++) {
            Int d = 0;
            for (Int w = 0; w < words; w++)
                d += popcount(base[i * words + w] ^ queries[q * words + w]);
            if (d < best) {
                best = d;
                which[q] = i;
            }
        }
        total += best;
    }
    return total;
}

Int kendall_swaps(const Real *given, Int n, Real *a, Int na, Real *b, Int nb) {
    for (Int i = 0; i < n; i++)
        a[i] = given[i];
    Int swaps = 0;
    for (Int width = 1; width < n; width *= 2) {
        for (Int lo = 0; lo < n; lo += 2 * width) {
            Int mid = lesser(lo + width, n), hi = lesser(lo + 2 * width, n), i = lo, j = mid;
            for (Int k = lo; k < hi; k++) {
                if (i < mid && (j >= hi || a[i] <= a[j]))
                    b[k] = a[i++];
                else {
                    b[k] = a[j++];
                    swaps += mid - i;
                }
            }
        }
        Real *t = a;
        a = b;
        b = t;
    }
    return swaps;
}

void lowess(const Real *x, Int n, const Real *y, Int ny, Real width, Real *fit, Int nf) {
    Int left = 0, right = 0;
    for (Int i = 0; i < n; i++) {
        while (x[left] < x[i] - width)
            left++;
        while (right < n && x[right] <= x[i] + width)
            right++;
        Real sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
        for (Int j = left; j < right; j++) {
            Real d = x[j] - x[i], t = fabs(d) / width;
            t = 1 - t * t * t;
            Real w = t * t * t;
            sw += w;
            sx += w * d;
            sy += w * y[j];
            sxx += w * d * d;
            sxy += w * d * y[j];
        }
        Real det = sw * sxx - sx * sx;
        fit[i] = det > 1e-12 ? (sy * sxx - sx * sxy) / det : sy / sw;
    }
}

Real gillespie_sir(Int people, Int infected, Real beta, Real gamma, Int seed, int32_t *trace,
                   Int nt) {
    Int s = people - infected, i = infected, x = seed, events = 0;
    Real t = 0;
    while (i > 0 && events < nt) {
        x = x * 48271 % 2147483647;
        Real u = x / 2147483647.0;
        x = x * 48271 % 2147483647;
        Real v = x / 2147483647.0;
        Real infect = beta * s * i / people, recover = gamma * i;
        t -= log(u) / (infect + recover);
        if (v * (infect + recover) < infect) {
            s--;
            i++;
        } else
            i--;
        trace[events++] = i;
    }
    return t;
}

void fft_radix2(const Complex *x, Int n, Complex *y, Int ny, const Complex *twiddle, Int nt) {
    Int bits = 0;
    while (((Int)1 << bits) < n)
        bits++;
    for (Int i = 0; i < n; i++) {
        Int r = 0, k = i;
        for (Int b = 0; b < bits; b++) {
            r = (r << 1) | (k & 1);
            k >>= 1;
        }
        y[r] = x[i];
    }
    for (Int half = 1; half < n; half *= 2) {
        Int stride = n / (2 * half);
        for (Int start = 0; start < n; start += 2 * half)
            for (Int k = 0; k < half; k++) {
                Complex t = times(twiddle[k * stride], y[start + k + half]);
                y[start + k + half] = y[start + k] - t;
                y[start + k] += t;
            }
    }
}

void rational_resample(const Single *x, Int n, const Single *taps, Int m, Int up, Int down,
                       Single *out, Int no) {
    for (Int k = 0; k < no; k++) {
        Int at = k * down, phase = at % up, i = at / up;
        Single s = 0;
        for (Int t = phase; t < m; t += up) {
            if (i < 0) break;
            if (i < n) s += taps[t] * x[i];
            i--;
        }
        out[k] = s;
    }
}

Int first_hits(const Real *ax, Int n, const Real *ay, Int n1, const Real *az, Int n2,
               const Real *bx, Int n3, const Real *by, Int n4, const Real *bz, Int n5,
               const Real *cx, Int n6, const Real *cy, Int n7, const Real *cz, Int n8,
               const Real *dirs, Int rays, Int three, int32_t *hit, Int nh, Real *depth, Int nd) {
    Int count = 0;
    for (Int r = 0; r < rays; r++) {
        Real dx = dirs[r * 3], dy = dirs[r * 3 + 1], dz = dirs[r * 3 + 2], nearest = 1e30;
        Int which = -1;
        for (Int k = 0; k < n; k++) {
            Real e1x = bx[k] - ax[k], e1y = by[k] - ay[k], e1z = bz[k] - az[k];
            Real e2x = cx[k] - ax[k], e2y = cy[k] - ay[k], e2z = cz[k] - az[k];
            Real px = dy * e2z - dz * e2y, py = dz * e2x - dx * e2z, pz = dx * e2y - dy * e2x;
            Real det = e1x * px + e1y * py + e1z * pz;
            if (fabs(det) < 1e-9) continue;
            Real inv = 1 / det, u = -(ax[k] * px + ay[k] * py + az[k] * pz) * inv;
            if (u < 0 || u > 1) continue;
            Real qx = az[k] * e1y - ay[k] * e1z, qy = ax[k] * e1z - az[k] * e1x,
                 qz = ay[k] * e1x - ax[k] * e1y;
            Real v = (dx * qx + dy * qy + dz * qz) * inv;
            if (v < 0 || u + v > 1) continue;
            Real t = (e2x * qx + e2y * qy + e2z * qz) * inv;
            if (1e-6 < t && t < nearest) {
                nearest = t;
                which = k;
            }
        }
        hit[r] = which;
        depth[r] = which >= 0 ? nearest : 0;
        count += which >= 0;
    }
    return count;
}

Real crossing_strategy(const Real *price, Int n, Int fast, Int slow, Real fee, Real *equity,
                       Int ne) {
    Real a = 2.0 / (fast + 1), b = 2.0 / (slow + 1), quick = price[0], tardy = price[0];
    Real cash = 1000, units = 0, peak = cash, worst = 0;
    bool holding = false;
    for (Int i = 0; i < n; i++) {
        Real p = price[i];
        quick += a * (p - quick);
        tardy += b * (p - tardy);
        if (!holding && quick > tardy * 1.001) {
            units = cash * (1 - fee) / p;
            cash = 0;
            holding = true;
        } else if (holding && (quick < tardy || p < 0.97 * quick)) {
            cash = units * p * (1 - fee);
            units = 0;
            holding = false;
        }
        Real worth = cash + units * p;
        equity[i] = worth;
        if (worth > peak)
            peak = worth;
        else if ((peak - worth) / peak > worst)
            worst = (peak - worth) / peak;
    }
    return worst;
}

Int sudoku(const int8_t *given, Int g1, Int g2, int8_t *grid, Int d1, Int d2, int32_t *rows, Int n1,
           int32_t *cols, Int n2, int32_t *boxes, Int n3, int32_t *cells, Int n4, Int *tried,
           Int n5) {
    for (Int k = 0; k < 9; k++)
        rows[k] = cols[k] = boxes[k] = 0;
    Int empty = 0;
    for (Int i = 0; i < 9; i++)
        for (Int j = 0; j < 9; j++) {
            int d = given[9 * i + j];
            grid[9 * i + j] = d;
            if (d == 0)
                cells[empty++] = 9 * i + j;
            else {
                rows[i] |= 1 << d;
                cols[j] |= 1 << d;
                boxes[i / 3 * 3 + j / 3] |= 1 << d;
            }
        }
    Int steps = 0, k = 0;
    tried[0] = 0;
    while (0 <= k && k < empty) {
        Int i = cells[k] / 9, j = cells[k] % 9, b = i / 3 * 3 + j / 3;
        int8_t *here = grid + 9 * i + j;
        if (*here != 0) {
            int32_t old = 1 << *here;
            rows[i] ^= old;
            cols[j] ^= old;
            boxes[b] ^= old;
            *here = 0;
        }
        Int used = rows[i] | cols[j] | boxes[b], d = tried[k] + 1;
        while (d <= 9 && (used >> d) & 1)
            d++;
        steps++;
        if (d > 9) {
            k--;
            continue;
        }
        tried[k] = d;
        *here = d;
        rows[i] |= 1 << d;
        cols[j] |= 1 << d;
        boxes[b] |= 1 << d;
        k++;
        if (k < empty) tried[k] = 0;
    }
    return steps;
}

static inline bool can_pair(Byte a, Byte b) {
    return a + b == 3 || (a == 2 && b == 3) || (a == 3 && b == 2);
}

Int nussinov(const Byte *bases, Int n, int16_t *best, Int b1, Int b2) {
    for (Int i = 0; i < n * n; i++)
        best[i] = 0;
    for (Int span = 4; span < n; span++)
        for (Int i = 0; i < n - span; i++) {
            Int j = i + span, value = greater(best[(i + 1) * n + j], best[i * n + j - 1]);
            if (can_pair(bases[i], bases[j])) value = greater(value, best[(i + 1) * n + j - 1] + 1);
            for (Int k = i + 1; k < j; k++) {
                Int both = best[i * n + k] + best[(k + 1) * n + j];
                if (both > value) value = both;
            }
            best[i * n + j] = value;
        }
    return best[n - 1];
}

Int rice_encode(const int16_t *samples, Int n, Byte *out, Int no, Int block, Int *last, Int nl) {
    Int hold = 0, bits = 0, k = 0, before = 0;
    for (Int start = 0; start < n; start += block) {
        Int end = lesser(start + block, n), total = 0, prior = before;
        for (Int i = start; i < end; i++) {
            Int diff = samples[i] - prior;
            total += diff < 0 ? -diff : diff;
            prior = samples[i];
        }
        Int shift = 0;
        while (((end - start) << shift) < total && shift < 15)
            shift++;
        hold = (hold << 4) | shift;
        bits += 4;
        for (Int i = start; i < end; i++) {
            Int diff = samples[i] - before;
            before = samples[i];
            Int z = diff >= 0 ? 2 * diff : -2 * diff - 1;
            for (Int u = 0; u < z >> shift; u++) {
                hold = (hold << 1) | 1;
                bits++;
                if (bits >= 8) {
                    bits -= 8;
                    out[k++] = (hold >> bits) & 255;
                }
            }
            hold = (hold << (shift + 1)) | (z & (((Int)1 << shift) - 1));
            bits += shift + 1;
            while (bits >= 8) {
                bits -= 8;
                out[k++] = (hold >> bits) & 255;
            }
            hold &= ((Int)1 << bits) - 1;
        }
    }
    last[0] = hold;
    return k * 8 + bits;
}

Int huffman_lengths(const Int *freq, Int n, int32_t *order, Int n1, Int *weight, Int n2,
                    int32_t *parent, Int n3, int32_t *length, Int n4) {
    for (Int i = 0; i < n; i++) {
        Int j = i;
        for (; j > 0 && freq[order[j - 1]] > freq[i]; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    for (Int i = 0; i < n; i++)
        weight[i] = freq[order[i]];
    Int leaf = 0, inner = n;
    for (Int made = n; made < 2 * n - 1; made++) {
        weight[made] = 0;
        for (int side = 0; side < 2; side++) {
            Int pick =
                leaf < n && (inner >= made || weight[leaf] <= weight[inner]) ? leaf++ : inner++;
            weight[made] += weight[pick];
            parent[pick] = made;
        }
    }
    Int total = 0;
    parent[2 * n - 2] = 0;
    for (Int i = 2 * n - 3; i >= 0; i--) {
        Int depth = parent[i] == 2 * n - 2 ? 1 : length[parent[i]] + 1;
        length[i] = depth;
        if (i < n) total += depth * weight[i];
    }
    return total;
}

static inline uint64_t mix64(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

Int group_sums(const Int *keys, Int n, const Real *values, Int nv, Int *slots, Int ns, Real *sums,
               Int n1, int32_t *counts, Int n2) {
    uint64_t mask = ns - 1;
    for (Int s = 0; s < ns; s++) {
        slots[s] = -1;
        sums[s] = 0;
        counts[s] = 0;
    }
    Int groups = 0;
    for (Int i = 0; i < n; i++) {
        Int at = mix64(keys[i]) & mask;
        while (slots[at] != keys[i]) {
            if (slots[at] == -1) {
                slots[at] = keys[i];
                groups++;
                break;
            }
            if (++at == ns) at = 0;
        }
        sums[at] += values[i];
        counts[at]++;
    }
    return groups;
}

void crc_slices(const Byte *data, Int nd, const int32_t *lengths, Int rows, Int *table, Int t1,
                Int t2, uint32_t *crcs, Int nc) {
    for (Int n = 0; n < 256; n++) {
        Int c = n;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? (c >> 1) ^ 0xEDB88320 : c >> 1;
        table[n] = c;
    }
    for (Int n = 0; n < 256; n++)
        for (Int k = 1; k < 4; k++)
            table[k * 256 + n] =
                (table[(k - 1) * 256 + n] >> 8) ^ table[table[(k - 1) * 256 + n] & 255];
    Int at = 0;
    for (Int r = 0; r < rows; r++) {
        Int c = 0xFFFFFFFF, end = at + lengths[r];
        for (; at + 4 <= end; at += 4) {
            c ^= data[at] | ((Int)data[at + 1] << 8) | ((Int)data[at + 2] << 16) |
                 ((Int)data[at + 3] << 24);
            c = table[768 + (c & 255)] ^ table[512 + ((c >> 8) & 255)] ^
                table[256 + ((c >> 16) & 255)] ^ table[(c >> 24) & 255];
        }
        for (; at < end; at++)
            c = (c >> 8) ^ table[(c ^ data[at]) & 255];
        crcs[r] = c ^ 0xFFFFFFFF;
    }
}

void csr_transpose_times(const int32_t *indptr, Int np, const int32_t *indices, Int ni,
                         const Real *values, Int nv, int32_t *tptr, Int ntp, int32_t *tindices,
                         Int nti, Real *tvalues, Int ntv, const Real *x, Int nx, Real *y, Int ny) {
    Int n = np - 1, m = ntp - 1;
    for (Int j = 0; j <= m; j++)
        tptr[j] = 0;
    for (Int e = 0; e < ni; e++)
        tptr[indices[e] + 1]++;
    for (Int j = 0; j < m; j++)
        tptr[j + 1] += tptr[j];
    for (Int i = 0; i < n; i++)
        for (Int e = indptr[i]; e < indptr[i + 1]; e++) {
            Int at = tptr[indices[e]]++;
            tindices[at] = i;
            tvalues[at] = values[e];
        }
    for (Int j = m; j > 0; j--)
        tptr[j] = tptr[j - 1];
    tptr[0] = 0;
    for (Int j = 0; j < m; j++) {
        Real s = 0;
        for (Int e = tptr[j]; e < tptr[j + 1]; e++)
            s += tvalues[e] * x[tindices[e]];
        y[j] = s;
    }
}

void spline_curve(const Real *x, Int n, const Real *y, Int ny, Real *m, Int nm, Real *c, Int nc,
                  const Real *at, Int na, Real *out, Int no) {
    m[0] = c[0] = 0;
    for (Int i = 1; i < n - 1; i++) {
        Real h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i], mu = h0 / (h0 + h1);
        Real d = 6 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0) / (h0 + h1);
        Real p = 2 - mu * c[i - 1];
        c[i] = (1 - mu) / p;
        m[i] = (d - mu * m[i - 1]) / p;
    }
    m[n - 1] = 0;
    for (Int i = n - 2; i > 0; i--)
        m[i] -= c[i] * m[i + 1];
    for (Int k = 0; k < na; k++) {
        Int lo = 0, hi = n - 1;
        while (hi - lo > 1) {
            Int mid = (lo + hi) / 2;
            if (x[mid] <= at[k])
                lo = mid;
            else
                hi = mid;
        }
        Real h = x[hi] - x[lo], a = (x[hi] - at[k]) / h, b = (at[k] - x[lo]) / h;
        out[k] = a * y[lo] + b * y[hi] +
                 ((a * a * a - a) * m[lo] + (b * b * b - b) * m[hi]) * (h * h) / 6;
    }
}

Real plasma_step(const Real *start_x, Int n1, const Real *start_v, Int n2, Real *x, Int n, Real *v,
                 Int n3, Real *rho, Int g, Real *field, Int n4, Real dt, Int steps) {
    for (Int p = 0; p < n; p++) {
        x[p] = start_x[p];
        v[p] = start_v[p];
    }
    Real kinetic = 0;
    for (Int t = 0; t < steps; t++) {
        for (Int c = 0; c < g; c++)
            rho[c] = 1;
        Real share = (Real)g / n;
        for (Int p = 0; p < n; p++) {
            Int c = x[p];
            Real f = x[p] - c;
            rho[c] -= share * (1 - f);
            rho[(c + 1) % g] -= share * f;
        }
        Real total = 0, mean = 0;
        for (Int c = 0; c < g; c++) {
            total += 0.5 * (rho[c] + rho[c ? c - 1 : g - 1]);
            field[c] = total;
            mean += total;
        }
        mean /= g;
        kinetic = 0;
        for (Int p = 0; p < n; p++) {
            Int c = x[p];
            Real f = x[p] - c, force = (1 - f) * field[c] + f * field[(c + 1) % g] - mean;
            v[p] -= dt * force;
            x[p] += dt * v[p];
            while (x[p] < 0)
                x[p] += g;
            while (x[p] >= g)
                x[p] -= g;
            kinetic += 0.5 * v[p] * v[p];
        }
    }
    return kinetic;
}
