/* seen_sixth.h - the sixth part of seen.c. */

Int sudoku(const Int *grid, Int ng, Int *cells, Int nc, Int *rows, Int nr, Int *columns, Int ncol,
           Int *boxes, Int nb, Int *tried, Int nt) {
    Int n = 0;
    for (Int r = 0; r < 9; r++)
        rows[r] = columns[r] = boxes[r] = 0;
    for (Int cell = 0; cell < 81; cell++) {
        Int r = cell / 9, c = cell % 9, v = grid[cell];
        if (v > 0) {
            Int bit = 1ll << (v - 1);
            rows[r] |= bit;
            columns[c] |= bit;
            boxes[r / 3 * 3 + c / 3] |= bit;
        } else {
            cells[n] = cell;
            tried[n++] = 0;
        }
    }
    Int steps = 0, k = 0;
    while (k >= 0 && k < n) {
        steps++;
        Int cell = cells[k], r = cell / 9, c = cell % 9, b = r / 3 * 3 + c / 3, v = tried[k];
        if (v > 0) {
            Int bit = 1ll << (v - 1);
            rows[r] ^= bit;
            columns[c] ^= bit;
            boxes[b] ^= bit;
        }
        Int used = rows[r] | columns[c] | boxes[b];
        v++;
        while (v <= 9 && ((used >> (v - 1)) & 1))
            v++;
        if (v > 9) {
            tried[k--] = 0;
        } else {
            Int bit = 1ll << (v - 1);
            rows[r] |= bit;
            columns[c] |= bit;
            boxes[b] |= bit;
            tried[k++] = v;
        }
    }
    return steps;
}

static Int run_of(const int8_t *board, Int r, Int c, Int dr, Int dc, Int player) {
    Int count = 0;
    r += dr, c += dc;
    while (r >= 0 && r < 6 && c >= 0 && c < 7 && board[r * 7 + c] == player)
        count++, r += dr, c += dc;
    return count;
}

Int connect_four(const Int *moves, Int games, Int most, int8_t *board, Int six, Int seven,
                 Int *heights, Int nh) {
    Int wins = 0;
    for (Int g = 0; g < games; g++) {
        for (Int r = 0; r < 6; r++)
            for (Int c = 0; c < 7; c++)
                board[r * 7 + c] = 0;
        for (Int c = 0; c < 7; c++)
            heights[c] = 0;
        Int player = 1;
        for (Int m = 0; m < most; m++) {
            Int c = moves[g * most + m], r = heights[c];
            if (r >= 6) continue;
            board[r * 7 + c] = (int8_t)player;
            heights[c] = r + 1;
            bool won = false;
            for (Int d = 0; d < 4; d++) {
                Int dr = d == 0 ? 0 : 1, dc = d == 0 ? 1 : d - 2;
                if (run_of(board, r, c, dr, dc, player) + run_of(board, r, c, -dr, -dc, player) >=
                    3) {
                    won = true;
                    break;
                }
            }
            if (won) {
                wins += player;
                break;
            }
            player = 3 - player;
        }
    }
    return wins;
}

static Real turn(const Real *p, Int a, Int b, Int c) {
    return (p[2 * b] - p[2 * a]) * (p[2 * c + 1] - p[2 * a + 1]) -
           (p[2 * b + 1] - p[2 * a + 1]) * (p[2 * c] - p[2 * a]);
}

Int monotone_chain(const Real *points, Int n, Int two, Int *chain, Int nc) {
    Int k = 0;
    for (Int i = 0; i < n; i++) {
        while (k >= 2 && turn(points, chain[k - 2], chain[k - 1], i) <= 0.0)
            k--;
        chain[k++] = i;
    }
    Int low = k + 1;
    for (Int i = n - 2; i >= 0; i--) {
        while (k >= low && turn(points, chain[k - 2], chain[k - 1], i) <= 0.0)
            k--;
        chain[k++] = i;
    }
    return k - 1;
}

Int cyk_parse(const Int *word, Int n, const Int *terminals, Int nt, const Int *left, Int rules,
              const Int *right, Int nr, const Int *result, Int nres, Int *table, Int th, Int tw) {
    for (Int i = 0; i < n; i++)
        table[i] = terminals[word[i]];
    for (Int length = 2; length <= n; length++)
        for (Int start = 0; start < n - length + 1; start++) {
            Int mask = 0;
            for (Int split = 1; split < length; split++) {
                Int a = table[(split - 1) * tw + start];
                Int b = table[(length - split - 1) * tw + start + split];
                if (a == 0 || b == 0) continue;
                for (Int r = 0; r < rules; r++)
                    if (((a >> left[r]) & 1) && ((b >> right[r]) & 1)) mask |= 1ll << result[r];
            }
            table[(length - 1) * tw + start] = mask;
        }
    return table[(n - 1) * tw];
}

Int kahn_levels(const Int *indptr, Int np, const Int *indices, Int ne, Int *degree, Int nd,
                Int *level, Int n, Int *queue, Int nq) {
    for (Int v = 0; v < n; v++)
        degree[v] = level[v] = 0;
    for (Int e = 0; e < ne; e++)
        degree[indices[e]]++;
    Int tail = 0, head = 0, deepest = 0;
    for (Int v = 0; v < n; v++)
        if (degree[v] == 0) queue[tail++] = v;
    while (head < tail) {
        Int u = queue[head++], below = level[u] + 1;
        for (Int e = indptr[u]; e < indptr[u + 1]; e++) {
            Int v = indices[e];
            if (below > level[v]) level[v] = below;
            if (--degree[v] == 0) queue[tail++] = v;
        }
        if (below > deepest) deepest = below;
    }
    return deepest;
}

void wavelet_lifting(const Real *signal, Int n, Real *x, Int nx, Real *scratch, Int ns,
                     Int levels) {
    for (Int i = 0; i < n; i++)
        x[i] = signal[i];
    for (Int l = 0; l < levels; l++) {
        Int half = n / 2;
        for (Int i = 0; i < half; i++) {
            Real after = 2 * i + 2 < n ? x[2 * i + 2] : x[2 * i];
            scratch[half + i] = x[2 * i + 1] - 0.5 * (x[2 * i] + after);
        }
        for (Int i = 0; i < half; i++) {
            Real before = i > 0 ? scratch[half + i - 1] : scratch[half];
            scratch[i] = x[2 * i] + 0.25 * (before + scratch[half + i]);
        }
        for (Int i = 0; i < n; i++)
            x[i] = scratch[i];
        n = half;
    }
}

Real cell_forces(const Real *pos, Int n, Int two, Real *force, Int nf, Int ftwo, Int *head, Int nh,
                 Int *after, Int na, Int cells, Real side, Real cutoff) {
    for (Int c = 0; c < cells * cells; c++)
        head[c] = -1;
    for (Int i = 0; i < n; i++) {
        force[2 * i] = force[2 * i + 1] = 0;
        Int c = (Int)(pos[2 * i + 1] / side * cells) * cells + (Int)(pos[2 * i] / side * cells);
        after[i] = head[c];
        head[c] = i;
    }
    Real energy = 0;
    for (Int cy = 0; cy < cells; cy++)
        for (Int cx = 0; cx < cells; cx++)
            for (Int i = head[cy * cells + cx]; i >= 0; i = after[i])
                for (Int dy = -1; dy < 2; dy++)
                    for (Int dx = -1; dx < 2; dx++) {
                        Int at = floor_mod(cy + dy, cells) * cells + floor_mod(cx + dx, cells);
                        for (Int j = head[at]; j >= 0; j = after[j]) {
                            if (j >= i) continue;
                            Real x = pos[2 * i] - pos[2 * j], y = pos[2 * i + 1] - pos[2 * j + 1];
                            x -= side * rint(x / side);
                            y -= side * rint(y / side);
                            Real r2 = x * x + y * y;
                            if (r2 < cutoff * cutoff && r2 > 0) {
                                Real s = 1.0 / (r2 * r2 * r2);
                                Real f = (48.0 * s * s - 24.0 * s) / r2;
                                force[2 * i] += f * x;
                                force[2 * i + 1] += f * y;
                                force[2 * j] -= f * x;
                                force[2 * j + 1] -= f * y;
                                energy += 4.0 * s * (s - 1.0);
                            }
                        }
                    }
    return energy;
}

void radix_argsort(const Int *keys, Int n, Int *order, Int no, Int *other, Int nother, Int *counts,
                   Int nc) {
    for (Int i = 0; i < n; i++)
        order[i] = i;
    for (Int shift = 0; shift < 32; shift += 8) {
        for (Int d = 0; d < 257; d++)
            counts[d] = 0;
        for (Int i = 0; i < n; i++)
            counts[((keys[i] >> shift) & 255) + 1]++;
        for (Int d = 0; d < 256; d++)
            counts[d + 1] += counts[d];
        for (Int i = 0; i < n; i++) {
            Int d = (keys[order[i]] >> shift) & 255;
            other[counts[d]++] = order[i];
        }
        for (Int i = 0; i < n; i++)
            order[i] = other[i];
    }
}

void hough_lines(const Byte *edges, Int h, Int w, const Real *sines, Int angles,
                 const Real *cosines, Int nc, Int *votes, Int nt, Int nr) {
    Int far = nr / 2;
    for (Int t = 0; t < nt; t++)
        for (Int r = 0; r < nr; r++)
            votes[t * nr + r] = 0;
    for (Int y = 0; y < h; y++)
        for (Int x = 0; x < w; x++)
            if (edges[y * w + x] > 0)
                for (Int t = 0; t < angles; t++) {
                    Int r = (Int)(x * cosines[t] + y * sines[t]) + far;
                    votes[t * nr + r]++;
                }
}

Int chain_order(const Int *sizes, Int ns, Int *cost, Int h, Int w, Int *split, Int sh, Int sw) {
    Int n = ns - 1;
    for (Int i = 0; i < n; i++)
        cost[i * w + i] = 0;
    for (Int length = 2; length <= n; length++)
        for (Int i = 0; i < n - length + 1; i++) {
            Int j = i + length - 1, best = 1ll << 60, at = i;
            for (Int k = i; k < j; k++) {
                Int c = cost[i * w + k] + cost[(k + 1) * w + j] +
                        sizes[i] * sizes[k + 1] * sizes[j + 1];
                if (c < best) best = c, at = k;
            }
            cost[i * w + j] = best;
            split[i * sw + j] = at;
        }
    return cost[n - 1];
}

Int parse_decimals(const Byte *text, Int n, Real *out, Int no) {
    Int k = 0, value = 0, places = 0;
    bool negative = false, point = false;
    for (Int i = 0; i < n; i++) {
        Byte c = text[i];
        if (c >= 48 && c <= 57) {
            value = value * 10 + (c - 48);
            if (point) places++;
        } else if (c == 46) {
            point = true;
        } else if (c == 45) {
            negative = true;
        } else {
            Real x = (Real)value;
            while (places > 0)
                x *= 0.1, places--;
            out[k++] = negative ? -x : x;
            value = 0;
            negative = point = false;
        }
    }
    return k;
}

Int totients_linear(Int *phi, Int n, Int *primes, Int np) {
    for (Int i = 0; i < n; i++)
        phi[i] = 0;
    phi[1] = 1;
    Int count = 0, total = 1;
    for (Int i = 2; i < n; i++) {
        if (phi[i] == 0) {
            phi[i] = i - 1;
            primes[count++] = i;
        }
        total += phi[i];
        for (Int j = 0; j < count; j++) {
            Int p = primes[j];
            if (i * p >= n) break;
            if (i % p == 0) {
                phi[i * p] = phi[i] * p;
                break;
            }
            phi[i * p] = phi[i] * (p - 1);
        }
    }
    return total;
}

void clipped_areas(const Real *polygons, Int np, Int corners, Int two, const Int *counts, Int nc,
                   Real xmin, Real ymin, Real xmax, Real ymax, Real *a, Int na, Int atwo, Real *b,
                   Int nb, Int btwo, Real *areas, Int nar) {
    for (Int g = 0; g < nc; g++) {
        Int n = counts[g];
        for (Int i = 0; i < n; i++) {
            a[2 * i] = polygons[(g * corners + i) * 2];
            a[2 * i + 1] = polygons[(g * corners + i) * 2 + 1];
        }
        for (Int side = 0; side < 4; side++) {
            Int axis = side % 2, m = 0;
            Real limit = side == 0 ? xmin : side == 1 ? ymin : side == 2 ? xmax : ymax;
            Real sign = side < 2 ? 1 : -1;
            for (Int i = 0; i < n; i++) {
                Int j = i + 1 < n ? i + 1 : 0;
                Real u = sign * (a[2 * i + axis] - limit), v = sign * (a[2 * j + axis] - limit);
                if (u >= 0) {
                    b[2 * m] = a[2 * i];
                    b[2 * m + 1] = a[2 * i + 1];
                    m++;
                }
                if ((u >= 0) != (v >= 0)) {
                    Real t = u / (u - v);
                    b[2 * m] = a[2 * i] + t * (a[2 * j] - a[2 * i]);
                    b[2 * m + 1] = a[2 * i + 1] + t * (a[2 * j + 1] - a[2 * i + 1]);
                    m++;
                }
            }
            for (Int i = 0; i < m; i++) {
                a[2 * i] = b[2 * i];
                a[2 * i + 1] = b[2 * i + 1];
            }
            n = m;
        }
        Real area = 0;
        for (Int i = 0; i < n; i++) {
            Int j = i + 1 < n ? i + 1 : 0;
            area += a[2 * i] * a[2 * j + 1] - a[2 * j] * a[2 * i + 1];
        }
        areas[g] = 0.5 * area;
    }
}

void points_in_polygon(const Real *points, Int m, Int two, const Real *polygon, Int n, Int ptwo,
                       bool *inside, Int ni) {
    for (Int k = 0; k < m; k++) {
        Real x = points[2 * k], y = points[2 * k + 1];
        bool odd = false;
        for (Int i = 0, j = n - 1; i < n; j = i++)
            if ((polygon[2 * i + 1] > y) != (polygon[2 * j + 1] > y))
                if (x < (polygon[2 * j] - polygon[2 * i]) * (y - polygon[2 * i + 1]) /
                                (polygon[2 * j + 1] - polygon[2 * i + 1]) +
                            polygon[2 * i])
                    odd = !odd;
        inside[k] = odd;
    }
}
