"""The kernels of trial.py."""
import math

import numpy as np


def householder_qr(a, r, tau):
    m, n = a.shape
    for i in range(m):
        for j in range(n):
            r[i, j] = a[i, j]
    for k in range(n):
        norm = 0.0
        for i in range(k, m):
            norm += r[i, k] * r[i, k]
        norm = np.sqrt(norm)
        if norm == 0.0:
            tau[k] = 0.0
            continue
        alpha = -norm if r[k, k] > 0.0 else norm
        v0 = r[k, k] - alpha
        for i in range(k + 1, m):
            r[i, k] /= v0
        tau[k] = -v0 / alpha
        r[k, k] = alpha
        for j in range(k + 1, n):
            s = r[k, j]
            for i in range(k + 1, m):
                s += r[i, k] * r[i, j]
            s *= tau[k]
            r[k, j] -= s
            for i in range(k + 1, m):
                r[i, j] -= s * r[i, k]


def banded_cholesky(band, low):
    # band[i, d] is the element (i, i - d)
    n, width = band.shape
    for i in range(n):
        for d in range(min(width - 1, i), -1, -1):
            j = i - d
            s = band[i, d]
            for k in range(max(0, i - width + 1), j):
                s -= low[i, i - k] * low[j, j - k]
            if d == 0:
                if s <= 0.0:
                    return i
                low[i, 0] = math.sqrt(s)
            else:
                low[i, d] = s / low[j, 0]
    return n


def tridiagonal_many(lower, diag, upper, rhs, x, cp):
    n, m = rhs.shape
    cp[0] = upper[0] / diag[0]
    for k in range(m):
        x[0, k] = rhs[0, k] / diag[0]
    for i in range(1, n):
        scale = 1.0 / (diag[i] - lower[i] * cp[i - 1])
        cp[i] = upper[i] * scale
        for k in range(m):
            x[i, k] = (rhs[i, k] - lower[i] * x[i - 1, k]) * scale
    for i in range(n - 2, -1, -1):
        for k in range(m):
            x[i, k] -= cp[i] * x[i + 1, k]


def fdtd_tm(ez, hx, hy, eps, steps):
    nx, ny = ez.shape
    for i in range(nx):
        for j in range(ny):
            ez[i, j] = 0.0
            hx[i, j] = 0.0
            hy[i, j] = 0.0
    half = np.float32(0.5)
    for t in range(steps):
        for i in range(nx):
            for j in range(ny - 1):
                hx[i, j] -= half * (ez[i, j + 1] - ez[i, j])
        for i in range(nx - 1):
            for j in range(ny):
                hy[i, j] += half * (ez[i + 1, j] - ez[i, j])
        for i in range(1, nx):
            for j in range(1, ny):
                ez[i, j] += eps[i, j] * (hy[i, j] - hy[i - 1, j] - hx[i, j] + hx[i, j - 1])
        ez[nx // 2, ny // 3] += math.sin(0.2 * t)


def red_black_sor(u, f, omega, sweeps):
    n, m = u.shape
    for i in range(n):
        for j in range(m):
            u[i, j] = 0.0
    worst = 0.0
    for s in range(sweeps):
        worst = 0.0
        for color in range(2):
            for i in range(1, n - 1):
                for j in range(1 + (i + color) % 2, m - 1, 2):
                    r = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j]) - u[i, j]
                    u[i, j] += omega * r
                    worst = max(worst, abs(r))
    return worst


def bilateral(image, out, spatial, tonal):
    h, w = image.shape
    radius = spatial.shape[0] // 2
    for y in range(h):
        for x in range(w):
            here = np.int64(image[y, x])
            total = 0.0
            weight = 0.0
            for dy in range(-radius, radius + 1):
                yy = y + dy
                if yy < 0 or yy >= h:
                    continue
                for dx in range(-radius, radius + 1):
                    xx = x + dx
                    if xx < 0 or xx >= w:
                        continue
                    there = np.int64(image[yy, xx])
                    k = spatial[dy + radius, dx + radius] * tonal[abs(there - here)]
                    total += k * there
                    weight += k
            out[y, x] = np.uint8(total / weight + 0.5)


def thin_edges(image, mag, edge, threshold):
    h, w = image.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            gx = image[y, x + 1] - image[y, x - 1]
            gy = image[y + 1, x] - image[y - 1, x]
            mag[y, x] = np.sqrt(gx * gx + gy * gy)
    count = 0
    for y in range(2, h - 2):
        for x in range(2, w - 2):
            m = mag[y, x]
            edge[y, x] = False
            if m < threshold:
                continue
            gx = image[y, x + 1] - image[y, x - 1]
            gy = image[y + 1, x] - image[y - 1, x]
            if abs(gx) > 2.0 * abs(gy):
                a = mag[y, x - 1]
                b = mag[y, x + 1]
            elif abs(gy) > 2.0 * abs(gx):
                a = mag[y - 1, x]
                b = mag[y + 1, x]
            elif (gx > 0) == (gy > 0):
                a = mag[y - 1, x - 1]
                b = mag[y + 1, x + 1]
            else:
                a = mag[y - 1, x + 1]
                b = mag[y + 1, x - 1]
            if m >= a and m > b:
                edge[y, x] = True
                count += 1
    return count


def bfs_levels(indptr, indices, level, queue, source):
    n = len(indptr) - 1
    for v in range(n):
        level[v] = -1
    level[source] = 0
    queue[0] = source
    head = 0
    tail = 1
    while head < tail:
        v = queue[head]
        head += 1
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if level[w] < 0:
                level[w] = level[v] + 1
                queue[tail] = w
                tail += 1
    return tail


def find_root(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


def kruskal_weight(eu, ev, weight, order, parent, size):
    n = len(parent)
    for v in range(n):
        parent[v] = v
        size[v] = 1
    total = 0.0
    left = n - 1
    for k in range(len(order)):
        e = order[k]
        a = find_root(parent, eu[e])
        b = find_root(parent, ev[e])
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        parent[b] = a
        size[a] += size[b]
        total += weight[e]
        left -= 1
        if left == 0:
            break
    return total


def sift_down(a, start, end):
    root = start
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and a[child] < a[child + 1]:
            child += 1
        if a[root] >= a[child]:
            return
        a[root], a[child] = a[child], a[root]
        root = child


def heap_sort(given, a):
    n = len(given)
    for i in range(n):
        a[i] = given[i]
    for start in range(n // 2 - 1, -1, -1):
        sift_down(a, start, n)
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift_down(a, 0, end)


def interpolation_search(table, keys, places):
    found = 0
    for k in range(len(keys)):
        key = keys[k]
        lo = 0
        hi = len(table) - 1
        at = -1
        while lo <= hi and table[lo] <= key <= table[hi]:
            if table[lo] == table[hi]:
                if table[lo] == key:
                    at = lo
                break
            mid = lo + (key - table[lo]) * (hi - lo) // (table[hi] - table[lo])
            if table[mid] == key:
                at = mid
                break
            if table[mid] < key:
                lo = mid + 1
            else:
                hi = mid - 1
        places[k] = at
        if at >= 0:
            found += 1
    return found


def lcs_rolling(a, b, rows):
    n = len(a)
    m = len(b)
    for j in range(m + 1):
        rows[0, j] = 0
        rows[1, j] = 0
    for i in range(n):
        now = (i + 1) & 1
        was = i & 1
        for j in range(m):
            if a[i] == b[j]:
                rows[now, j + 1] = rows[was, j] + 1
            elif rows[was, j + 1] >= rows[now, j]:
                rows[now, j + 1] = rows[was, j + 1]
            else:
                rows[now, j + 1] = rows[now, j]
    return rows[n & 1, m]


def matrix_chain(dims, cost, split):
    n = len(dims) - 1
    for i in range(n):
        cost[i, i] = 0
    for span in range(2, n + 1):
        for i in range(n - span + 1):
            j = i + span - 1
            best = 1 << 60
            where = i
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
                if c < best:
                    best = c
                    where = k
            cost[i, j] = best
            split[i, j] = where
    return cost[0, n - 1]


def horspool(text, pattern, skip):
    n = len(text)
    m = len(pattern)
    for c in range(256):
        skip[c] = m
    for i in range(m - 1):
        skip[pattern[i]] = m - 1 - i
    count = 0
    at = 0
    while at + m <= n:
        j = m - 1
        while j >= 0 and text[at + j] == pattern[j]:
            j -= 1
        if j < 0:
            count += 1
        at += skip[text[at + m - 1]]
    return count


def z_boxes(s, z):
    n = len(s)
    z[0] = n
    left = 0
    right = 0
    for i in range(1, n):
        k = 0
        if i < right:
            k = min(right - i, z[i - left])
        while i + k < n and s[k] == s[i + k]:
            k += 1
        if i + k > right:
            left = i
            right = i + k
        z[i] = k


def power_mod(base, exponent, modulus):
    result = 1
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


def miller_rabin(numbers, bases, prime):
    count = 0
    for k in range(len(numbers)):
        n = numbers[k]
        prime[k] = False
        if n < 3 or n % 2 == 0:
            continue
        d = n - 1
        s = 0
        while d % 2 == 0:
            d //= 2
            s += 1
        good = True
        for b in range(len(bases)):
            if n == bases[b]:
                break
            x = power_mod(bases[b], d, n)
            if x == 1 or x == n - 1:
                continue
            good = False
            for r in range(s - 1):
                x = x * x % n
                if x == n - 1:
                    good = True
                    break
            if not good:
                break
        if good:
            prime[k] = True
            count += 1
    return count


def walsh_hadamard(given, a):
    n = len(given)
    for i in range(n):
        a[i] = given[i]
    h = 1
    while h < n:
        for i in range(0, n, 2 * h):
            for j in range(i, i + h):
                x = a[j]
                y = a[j + h]
                a[j] = x + y
                a[j + h] = x - y
        h *= 2


def welford_covariance(samples, mean, cov, delta):
    n, d = samples.shape
    for i in range(d):
        mean[i] = 0.0
        for j in range(d):
            cov[i, j] = 0.0
    for t in range(n):
        for i in range(d):
            delta[i] = samples[t, i] - mean[i]
            mean[i] += delta[i] / (t + 1)
        for i in range(d):
            for j in range(i + 1):
                cov[i, j] += delta[i] * (samples[t, j] - mean[j])
    for i in range(d):
        for j in range(i + 1):
            cov[i, j] /= n - 1
            cov[j, i] = cov[i, j]


def rolling_median(x, window, out):
    w = len(window)
    size = 0
    for i in range(len(x)):
        if size == w:
            gone = x[i - w]
            k = 0
            while window[k] != gone:
                k += 1
            while k + 1 < size:
                window[k] = window[k + 1]
                k += 1
            size -= 1
        k = size
        while k > 0 and window[k - 1] > x[i]:
            window[k] = window[k - 1]
            k -= 1
        window[k] = x[i]
        size += 1
        if size % 2 == 1:
            out[i] = window[size // 2]
        else:
            out[i] = 0.5 * (window[size // 2 - 1] + window[size // 2])


def lcg(state):
    return (state * 1103515245 + 12345) & 0x7FFFFFFF


def queue_servers(free_at, customers, rate, service, seed):
    servers = len(free_at)
    for s in range(servers):
        free_at[s] = 0.0
    state = seed
    clock = 0.0
    waited = 0.0
    for c in range(customers):
        state = lcg(state)
        clock -= math.log((state + 1) / 2147483649.0) / rate
        best = 0
        for s in range(1, servers):
            if free_at[s] < free_at[best]:
                best = s
        begin = max(clock, free_at[best])
        waited += begin - clock
        state = lcg(state)
        free_at[best] = begin - service * math.log((state + 1) / 2147483649.0)
    return waited / customers


def ising_sweeps(start, spin, accept, sweeps, seed):
    n, m = spin.shape
    for i in range(n):
        for j in range(m):
            spin[i, j] = start[i, j]
    x = seed
    energy = 0
    for t in range(sweeps):
        for i in range(n):
            for j in range(m):
                x ^= (x << 13) & 0xFFFFFFFF
                x ^= x >> 17
                x ^= (x << 5) & 0xFFFFFFFF
                near = spin[i - 1, j] + spin[i, j - 1] + spin[(i + 1) % n, j] + spin[i, (j + 1) % m]
                cost = 2 * near * spin[i, j]
                if cost <= 0 or x < accept[cost // 4]:
                    spin[i, j] = -spin[i, j]
                    energy += cost
    return energy


def biquad_cascade(x, coeff, state, y):
    sections = coeff.shape[0]
    for s in range(sections):
        state[s, 0] = 0.0
        state[s, 1] = 0.0
    for i in range(len(x)):
        v = x[i]
        for s in range(sections):
            o = coeff[s, 0] * v + state[s, 0]
            state[s, 0] = coeff[s, 1] * v - coeff[s, 3] * o + state[s, 1]
            state[s, 1] = coeff[s, 2] * v - coeff[s, 4] * o
            v = o
        y[i] = v


def goertzel_bank(x, freqs, power):
    n = len(x)
    best = 0
    for k in range(len(freqs)):
        c = 2.0 * math.cos(2.0 * math.pi * freqs[k])
        s1 = 0.0
        s2 = 0.0
        for i in range(n):
            s0 = x[i] + c * s1 - s2
            s2 = s1
            s1 = s0
        power[k] = s1 * s1 + s2 * s2 - c * s1 * s2
        if power[k] > power[best]:
            best = k
    return best


def cross(px, py, a, b, c):
    return (px[b] - px[a]) * (py[c] - py[a]) - (py[b] - py[a]) * (px[c] - px[a])


def hull_chain(px, py, hull):
    n = len(px)
    k = 0
    for i in range(n):
        while k >= 2 and cross(px, py, hull[k - 2], hull[k - 1], i) <= 0.0:
            k -= 1
        hull[k] = i
        k += 1
    low = k + 1
    for i in range(n - 2, -1, -1):
        while k >= low and cross(px, py, hull[k - 2], hull[k - 1], i) <= 0.0:
            k -= 1
        hull[k] = i
        k += 1
    return k - 1


def points_inside(vx, vy, px, py, inside):
    n = len(vx)
    count = 0
    for p in range(len(px)):
        x = px[p]
        y = py[p]
        odd = False
        for i in range(n):
            if (vy[i] > y) != (vy[i - 1] > y):
                if x < (vx[i - 1] - vx[i]) * (y - vy[i]) / (vy[i - 1] - vy[i]) + vx[i]:
                    odd = not odd
        inside[p] = odd
        count += odd
    return count


def american_put(spot, strike, rate, sigma, years, steps, value):
    dt = years / steps
    up = math.exp(sigma * math.sqrt(dt))
    down = 1.0 / up
    grow = math.exp(rate * dt)
    p = (grow - down) / (up - down)
    price = spot * down ** steps
    for i in range(steps + 1):
        value[i] = max(strike - price, 0.0)
        price *= up * up
    low = spot * down ** steps
    for t in range(steps - 1, -1, -1):
        low *= up
        price = low
        for i in range(t + 1):
            keep = (p * value[i + 1] + (1.0 - p) * value[i]) / grow
            value[i] = max(keep, strike - price)
            price *= up * up
    return value[0]


def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def implied_volatility(spots, strikes, years, rate, prices, vols):
    steps = 0
    for k in range(len(spots)):
        s = spots[k]
        t = years[k]
        disc = strikes[k] * math.exp(-rate * t)
        root = math.sqrt(t)
        sigma = 0.3
        for trial in range(20):
            d1 = (math.log(s / strikes[k]) + (rate + 0.5 * sigma * sigma) * t) / (sigma * root)
            d2 = d1 - sigma * root
            miss = s * normal_cdf(d1) - disc * normal_cdf(d2) - prices[k]
            vega = s * root * math.exp(-0.5 * d1 * d1) * 0.3989422804014327
            steps += 1
            if abs(miss) < 1e-10 or vega < 1e-12:
                break
            sigma -= miss / vega
            if sigma < 1e-4:
                sigma = 1e-4
        vols[k] = sigma
    return steps


def queens(n, cols, left, right, free):
    full = (1 << n) - 1
    count = 0
    depth = 0
    cols[0] = 0
    left[0] = 0
    right[0] = 0
    free[0] = full
    while depth >= 0:
        if free[depth] == 0:
            depth -= 1
            continue
        bit = free[depth] & -free[depth]
        free[depth] ^= bit
        c = cols[depth] | bit
        if c == full:
            count += 1
            continue
        a = (left[depth] | bit) << 1
        b = (right[depth] | bit) >> 1
        depth += 1
        cols[depth] = c
        left[depth] = a
        right[depth] = b
        free[depth] = full & ~(c | a | b)
    return count


def high_life(start, cells, fresh, generations):
    n, m = start.shape
    for i in range(n):
        for j in range(m):
            cells[i, j] = start[i, j]
    alive = 0
    for g in range(generations):
        for i in range(n):
            below = i + 1 if i + 1 < n else 0
            for j in range(m):
                next_j = j + 1 if j + 1 < m else 0
                around = (cells[i - 1, j - 1] + cells[i - 1, j] + cells[i - 1, next_j] + cells[i, j - 1]
                          + cells[i, next_j] + cells[below, j - 1] + cells[below, j] + cells[below, next_j])
                if around == 3 or (around == 2 and cells[i, j] == 1) or (around == 6 and cells[i, j] == 0):
                    fresh[i, j] = 1
                else:
                    fresh[i, j] = 0
        alive = 0
        for i in range(n):
            for j in range(m):
                cells[i, j] = fresh[i, j]
                alive += cells[i, j]
    return alive


def gotoh_local(a, b, score, gap_open, gap_extend, h, e):
    m = len(b)
    for j in range(m + 1):
        h[j] = 0
        e[j] = -1000000
    best = 0
    for i in range(len(a)):
        diagonal = 0
        f = -1000000
        for j in range(1, m + 1):
            e[j] = max(e[j] - gap_extend, h[j] - gap_open)
            f = max(f - gap_extend, h[j - 1] - gap_open)
            value = diagonal + score[a[i], b[j - 1]]
            diagonal = h[j]
            value = max(value, e[j], f, 0)
            h[j] = value
            if value > best:
                best = value
    return best


def minimizers(bases, k, w, codes, picked):
    n = len(bases)
    mask = (1 << (2 * k)) - 1
    forward = 0
    backward = 0
    for i in range(n):
        forward = ((forward << 2) | bases[i]) & mask
        backward = (backward >> 2) | ((3 - bases[i]) << (2 * k - 2))
        code = min(forward, backward)
        codes[i] = (code * 2654435761) & mask
    count = 0
    last = -1
    for i in range(k + w - 2, n):
        best = i
        for j in range(i - 1, i - w, -1):
            if codes[j] < codes[best]:
                best = j
        if best != last:
            picked[count] = best
            count += 1
            last = best
    return count


def cell_forces(x, y, box, head, follow, fx, fy):
    n = len(x)
    cells = head.shape[0]
    for i in range(cells):
        for j in range(cells):
            head[i, j] = -1
    for p in range(n):
        ci = int(x[p] / box * cells)
        cj = int(y[p] / box * cells)
        follow[p] = head[ci, cj]
        head[ci, cj] = p
        fx[p] = 0.0
        fy[p] = 0.0
    energy = 0.0
    for ci in range(cells):
        for cj in range(cells):
            p = head[ci, cj]
            while p >= 0:
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        q = head[(ci + di) % cells, (cj + dj) % cells]
                        while q >= 0:
                            if q > p:
                                dx = x[p] - x[q]
                                dy = y[p] - y[q]
                                if dx > 0.5 * box:
                                    dx -= box
                                elif dx < -0.5 * box:
                                    dx += box
                                if dy > 0.5 * box:
                                    dy -= box
                                elif dy < -0.5 * box:
                                    dy += box
                                r2 = dx * dx + dy * dy
                                if r2 < 1.0:
                                    s2 = 0.16 / (r2 + 0.01)
                                    s6 = s2 * s2 * s2
                                    energy += 4.0 * s6 * (s6 - 1.0)
                                    push = 24.0 * s6 * (2.0 * s6 - 1.0) / (r2 + 0.01)
                                    fx[p] += push * dx
                                    fy[p] += push * dy
                                    fx[q] -= push * dx
                                    fy[q] -= push * dy
                            q = follow[q]
                p = follow[p]
    return energy


def lz_matches(data, head, before, lengths, offsets, depth):
    n = len(data)
    for h in range(len(head)):
        head[h] = -1
    count = 0
    i = 0
    while i + 3 <= n:
        key = (data[i] * 506832829 + data[i + 1] * 2654435 + data[i + 2] * 40503) & (len(head) - 1)
        at = head[key]
        best = 2
        where = 0
        tries = 0
        while at >= 0 and tries < depth:
            k = 0
            while i + k < n and k < 255 and data[at + k] == data[i + k]:
                k += 1
            if k > best:
                best = k
                where = i - at
            at = before[at]
            tries += 1
        before[i] = head[key]
        head[key] = i
        if best > 2:
            lengths[count] = best
            offsets[count] = where
            i += best
        else:
            lengths[count] = 1
            offsets[count] = 0
            i += 1
        count += 1
    return count


def rotate32(x, r):
    return ((x << r) | (x >> (32 - r))) & 0xFFFFFFFF


def murmur_rows(words, seeds, hashes):
    n, m = words.shape
    for i in range(n):
        h = np.int64(seeds[i % len(seeds)])
        for j in range(m):
            k = np.int64(words[i, j])
            k = (k * 0x4C9E2D51) & 0xFFFFFFFF
            k = rotate32(k, 15)
            k = (k * 0x1B873593) & 0xFFFFFFFF
            h ^= k
            h = rotate32(h, 13)
            h = (h * 5 + 0xE6546B64) & 0xFFFFFFFF
        h ^= 4 * m
        h ^= h >> 16
        h = (h * 0x45EBCA6B) & 0xFFFFFFFF
        h ^= h >> 13
        h = (h * 0x42B2AE35) & 0xFFFFFFFF
        h ^= h >> 16
        hashes[i] = h


def catmull(a, b, c, d, t):
    return b + 0.5 * t * (c - a + t * (2.0 * a - 5.0 * b + 4.0 * c - d + t * (3.0 * (b - c) + d - a)))


def bicubic_resize(image, out, column):
    h, w = image.shape
    hh, ww = out.shape
    for y in range(hh):
        fy = y * (h - 3) / hh + 1.0
        iy = int(fy)
        for x in range(ww):
            fx = x * (w - 3) / ww + 1.0
            ix = int(fx)
            for k in range(4):
                row = iy + k - 1
                column[k] = catmull(image[row, ix - 1], image[row, ix], image[row, ix + 1], image[row, ix + 2], fx - ix)
            out[y, x] = catmull(column[0], column[1], column[2], column[3], fy - iy)


def csr_gauss_seidel(indptr, indices, values, b, x, sweeps):
    n = len(b)
    for i in range(n):
        x[i] = 0.0
    moved = 0.0
    for s in range(sweeps):
        moved = 0.0
        for i in range(n):
            total = b[i]
            diagonal = 1.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if j == i:
                    diagonal = values[e]
                else:
                    total -= values[e] * x[j]
            total /= diagonal
            moved += abs(total - x[i])
            x[i] = total
        if moved < 1e-9:
            break
    return moved
