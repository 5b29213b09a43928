"""The second half of the kernels of jury.py."""
import math

import numpy as np


def popcount(x):
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((x * 0x0101010101010101) >> 56) & 127


def nearest_codes(base, queries, which):
    n, words = base.shape
    total = 0
    for q in range(queries.shape[0]):
        best = 64 * words + 1
        for i in range(n):
            d = 0
            for w in range(words):
                d += popcount(base[i, w] ^ queries[q, w])
            if d < best:
                best = d
                which[q] = i
        total += best
    return total


def kendall_swaps(given, a, b):
    n = len(given)
    for i in range(n):
        a[i] = given[i]
    swaps = 0
    width = 1
    while width < n:
        for lo in range(0, n, 2 * width):
            mid = min(lo + width, n)
            hi = min(lo + 2 * width, n)
            i = lo
            j = mid
            for k in range(lo, hi):
                if i < mid and (j >= hi or a[i] <= a[j]):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
                    swaps += mid - i
        a, b = b, a
        width *= 2
    return swaps


def lowess(x, y, width, fit):
    n = len(x)
    left = 0
    right = 0
    for i in range(n):
        while x[left] < x[i] - width:
            left += 1
        while right < n and x[right] <= x[i] + width:
            right += 1
        sw = 0.0
        sx = 0.0
        sy = 0.0
        sxx = 0.0
        sxy = 0.0
        for j in range(left, right):
            d = x[j] - x[i]
            t = abs(d) / width
            t = 1.0 - t * t * t
            w = t * t * t
            sw += w
            sx += w * d
            sy += w * y[j]
            sxx += w * d * d
            sxy += w * d * y[j]
        det = sw * sxx - sx * sx
        if det > 1e-12:
            fit[i] = (sy * sxx - sx * sxy) / det
        else:
            fit[i] = sy / sw


def gillespie_sir(people, infected, beta, gamma, seed, trace):
    s = people - infected
    i = infected
    t = 0.0
    x = seed
    events = 0
    while i > 0 and events < len(trace):
        x = (x * 48271) % 2147483647
        u = x / 2147483647.0
        x = (x * 48271) % 2147483647
        v = x / 2147483647.0
        infect = beta * s * i / people
        recover = gamma * i
        t -= math.log(u) / (infect + recover)
        if v * (infect + recover) < infect:
            s -= 1
            i += 1
        else:
            i -= 1
        trace[events] = i
        events += 1
    return t


def fft_radix2(x, y, twiddle):
    n = len(x)
    bits = 0
    while (1 << bits) < n:
        bits += 1
    for i in range(n):
        r = 0
        k = i
        for b in range(bits):
            r = (r << 1) | (k & 1)
            k >>= 1
        y[r] = x[i]
    half = 1
    while half < n:
        stride = n // (2 * half)
        for start in range(0, n, 2 * half):
            for k in range(half):
                t = twiddle[k * stride] * y[start + k + half]
                y[start + k + half] = y[start + k] - t
                y[start + k] += t
        half *= 2


def rational_resample(x, taps, up, down, out):
    n = len(x)
    m = len(taps)
    for k in range(len(out)):
        at = k * down
        phase = at % up
        i = at // up
        s = np.float32(0.0)
        for t in range(phase, m, up):
            if i < 0:
                break
            if i < n:
                s += taps[t] * x[i]
            i -= 1
        out[k] = s


def first_hits(ax, ay, az, bx, by, bz, cx, cy, cz, dirs, hit, depth):
    count = 0
    for r in range(dirs.shape[0]):
        dx = dirs[r, 0]
        dy = dirs[r, 1]
        dz = dirs[r, 2]
        nearest = 1e30
        which = -1
        for k in range(len(ax)):
            e1x = bx[k] - ax[k]
            e1y = by[k] - ay[k]
            e1z = bz[k] - az[k]
            e2x = cx[k] - ax[k]
            e2y = cy[k] - ay[k]
            e2z = cz[k] - az[k]
            px = dy * e2z - dz * e2y
            py = dz * e2x - dx * e2z
            pz = dx * e2y - dy * e2x
            det = e1x * px + e1y * py + e1z * pz
            if abs(det) < 1e-9:
                continue
            inv = 1.0 / det
            u = -(ax[k] * px + ay[k] * py + az[k] * pz) * inv
            if u < 0.0 or u > 1.0:
                continue
            qx = az[k] * e1y - ay[k] * e1z
            qy = ax[k] * e1z - az[k] * e1x
            qz = ay[k] * e1x - ax[k] * e1y
            v = (dx * qx + dy * qy + dz * qz) * inv
            if v < 0.0 or u + v > 1.0:
                continue
            t = (e2x * qx + e2y * qy + e2z * qz) * inv
            if 1e-6 < t < nearest:
                nearest = t
                which = k
        hit[r] = which
        depth[r] = nearest if which >= 0 else 0.0
        count += which >= 0
    return count


def crossing_strategy(price, fast, slow, fee, equity):
    a = 2.0 / (fast + 1)
    b = 2.0 / (slow + 1)
    quick = price[0]
    tardy = price[0]
    cash = 1000.0
    units = 0.0
    peak = cash
    worst = 0.0
    holding = False
    for i in range(len(price)):
        p = price[i]
        quick += a * (p - quick)
        tardy += b * (p - tardy)
        if not holding and quick > tardy * 1.001:
            units = cash * (1.0 - fee) / p
            cash = 0.0
            holding = True
        elif holding and (quick < tardy or p < 0.97 * quick):
            cash = units * p * (1.0 - fee)
            units = 0.0
            holding = False
        worth = cash + units * p
        equity[i] = worth
        if worth > peak:
            peak = worth
        elif (peak - worth) / peak > worst:
            worst = (peak - worth) / peak
    return worst


def sudoku(given, grid, rows, cols, boxes, cells, tried):
    for k in range(9):
        rows[k] = 0
        cols[k] = 0
        boxes[k] = 0
    empty = 0
    for i in range(9):
        for j in range(9):
            d = given[i, j]
            grid[i, j] = d
            if d == 0:
                cells[empty] = 9 * i + j
                empty += 1
            else:
                bit = 1 << d
                rows[i] |= bit
                cols[j] |= bit
                boxes[i // 3 * 3 + j // 3] |= bit
    steps = 0
    k = 0
    tried[0] = 0
    while 0 <= k < empty:
        i = cells[k] // 9
        j = cells[k] % 9
        b = i // 3 * 3 + j // 3
        if grid[i, j] != 0:
            old = 1 << grid[i, j]
            rows[i] ^= old
            cols[j] ^= old
            boxes[b] ^= old
            grid[i, j] = 0
        used = rows[i] | cols[j] | boxes[b]
        d = tried[k] + 1
        while d <= 9 and (used >> d) & 1:
            d += 1
        steps += 1
        if d > 9:
            k -= 1
            continue
        tried[k] = d
        grid[i, j] = d
        rows[i] |= 1 << d
        cols[j] |= 1 << d
        boxes[b] |= 1 << d
        k += 1
        if k < empty:
            tried[k] = 0
    return steps


def can_pair(a, b):
    return a + b == 3 or (a == 2 and b == 3) or (a == 3 and b == 2)


def nussinov(bases, best):
    n = len(bases)
    for i in range(n):
        for j in range(n):
            best[i, j] = 0
    for span in range(4, n):
        for i in range(n - span):
            j = i + span
            value = max(best[i + 1, j], best[i, j - 1])
            if can_pair(bases[i], bases[j]):
                value = max(value, best[i + 1, j - 1] + 1)
            for k in range(i + 1, j):
                both = best[i, k] + best[k + 1, j]
                if both > value:
                    value = both
            best[i, j] = value
    return best[0, n - 1]


def rice_encode(samples, out, block, last):
    n = len(samples)
    hold = 0
    bits = 0
    k = 0
    before = 0
    for start in range(0, n, block):
        end = min(start + block, n)
        total = 0
        prior = before
        for i in range(start, end):
            diff = samples[i] - prior
            total += abs(diff)
            prior = samples[i]
        shift = 0
        while ((end - start) << shift) < total and shift < 15:
            shift += 1
        hold = (hold << 4) | shift
        bits += 4
        for i in range(start, end):
            diff = samples[i] - before
            before = samples[i]
            z = 2 * diff if diff >= 0 else -2 * diff - 1
            for u in range(z >> shift):
                hold = (hold << 1) | 1
                bits += 1
                if bits >= 8:
                    bits -= 8
                    out[k] = (hold >> bits) & 255
                    k += 1
            hold = (hold << (shift + 1)) | (z & ((1 << shift) - 1))
            bits += shift + 1
            while bits >= 8:
                bits -= 8
                out[k] = (hold >> bits) & 255
                k += 1
            hold &= (1 << bits) - 1
    last[0] = hold
    return k * 8 + bits


def huffman_lengths(freq, order, weight, parent, length):
    n = len(freq)
    for i in range(n):
        j = i
        while j > 0 and freq[order[j - 1]] > freq[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    for i in range(n):
        weight[i] = freq[order[i]]
    leaf = 0
    inner = n
    for made in range(n, 2 * n - 1):
        weight[made] = 0
        for side in range(2):
            if leaf < n and (inner >= made or weight[leaf] <= weight[inner]):
                pick = leaf
                leaf += 1
            else:
                pick = inner
                inner += 1
            weight[made] += weight[pick]
            parent[pick] = made
    total = 0
    parent[2 * n - 2] = 0
    for i in range(2 * n - 3, -1, -1):
        if parent[i] == 2 * n - 2:
            weight_depth = 1
        else:
            weight_depth = length[parent[i]] + 1
        length[i] = weight_depth
        if i < n:
            total += weight_depth * weight[i]
    return total


def mix64(x):
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def group_sums(keys, values, slots, sums, counts):
    mask = np.uint64(len(slots) - 1)
    for s in range(len(slots)):
        slots[s] = -1
        sums[s] = 0.0
        counts[s] = 0
    groups = 0
    for i in range(len(keys)):
        at = np.int64(mix64(np.uint64(keys[i])) & mask)
        while slots[at] != keys[i]:
            if slots[at] == -1:
                slots[at] = keys[i]
                groups += 1
                break
            at += 1
            if at == len(slots):
                at = 0
        sums[at] += values[i]
        counts[at] += 1
    return groups


def crc_slices(data, lengths, table, crcs):
    for n in range(256):
        c = n
        for k in range(8):
            c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
        table[0, n] = c
    for n in range(256):
        for k in range(1, 4):
            table[k, n] = (table[k - 1, n] >> 8) ^ table[0, table[k - 1, n] & 255]
    at = 0
    for r in range(len(lengths)):
        c = 0xFFFFFFFF
        end = at + lengths[r]
        while at + 4 <= end:
            c ^= data[at] | (data[at + 1] << 8) | (data[at + 2] << 16) | (data[at + 3] << 24)
            c = table[3, c & 255] ^ table[2, (c >> 8) & 255] ^ table[1, (c >> 16) & 255] ^ table[0, (c >> 24) & 255]
            at += 4
        while at < end:
            c = (c >> 8) ^ table[0, (c ^ data[at]) & 255]
            at += 1
        crcs[r] = c ^ 0xFFFFFFFF


def csr_transpose_times(indptr, indices, values, tptr, tindices, tvalues, x, y):
    n = len(indptr) - 1
    m = len(tptr) - 1
    for j in range(m + 1):
        tptr[j] = 0
    for e in range(len(indices)):
        tptr[indices[e] + 1] += 1
    for j in range(m):
        tptr[j + 1] += tptr[j]
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            at = tptr[j]
            tptr[j] += 1
            tindices[at] = i
            tvalues[at] = values[e]
    for j in range(m, 0, -1):
        tptr[j] = tptr[j - 1]
    tptr[0] = 0
    for j in range(m):
        s = 0.0
        for e in range(tptr[j], tptr[j + 1]):
            s += tvalues[e] * x[tindices[e]]
        y[j] = s


def spline_curve(x, y, m, c, at, out):
    n = len(x)
    m[0] = 0.0
    c[0] = 0.0
    for i in range(1, n - 1):
        h0 = x[i] - x[i - 1]
        h1 = x[i + 1] - x[i]
        mu = h0 / (h0 + h1)
        d = 6.0 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0) / (h0 + h1)
        p = 2.0 - mu * c[i - 1]
        c[i] = (1.0 - mu) / p
        m[i] = (d - mu * m[i - 1]) / p
    m[n - 1] = 0.0
    for i in range(n - 2, 0, -1):
        m[i] -= c[i] * m[i + 1]
    for k in range(len(at)):
        lo = 0
        hi = n - 1
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if x[mid] <= at[k]:
                lo = mid
            else:
                hi = mid
        h = x[hi] - x[lo]
        a = (x[hi] - at[k]) / h
        b = (at[k] - x[lo]) / h
        out[k] = a * y[lo] + b * y[hi] + ((a * a * a - a) * m[lo] + (b * b * b - b) * m[hi]) * (h * h) / 6.0


def plasma_step(start_x, start_v, x, v, rho, field, dt, steps):
    n = len(x)
    g = len(rho)
    for p in range(n):
        x[p] = start_x[p]
        v[p] = start_v[p]
    kinetic = 0.0
    for t in range(steps):
        for c in range(g):
            rho[c] = 1.0
        share = g / n
        for p in range(n):
            c = int(x[p])
            f = x[p] - c
            rho[c] -= share * (1.0 - f)
            rho[(c + 1) % g] -= share * f
        total = 0.0
        mean = 0.0
        for c in range(g):
            total += 0.5 * (rho[c] + rho[c - 1])
            field[c] = total
            mean += total
        mean /= g
        kinetic = 0.0
        for p in range(n):
            c = int(x[p])
            f = x[p] - c
            force = (1.0 - f) * field[c] + f * field[(c + 1) % g] - mean
            v[p] -= dt * force
            x[p] += dt * v[p]
            while x[p] < 0.0:
                x[p] += g
            while x[p] >= g:
                x[p] -= g
            kinetic += 0.5 * v[p] * v[p]
    return kinetic
