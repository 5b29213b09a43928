"""Loops that judge the passes, beside unseen.py: forty kernels of some thirteen fields, written on 27 November 2026 by someone who had read neither
the passes nor the loops of unseen.py; nobody looks at their machine code. CASES: name -> (function, arguments, kind of the C result).

Arguments are made from a generator; every kernel can run again and again on the same ones. judge.c has the same in C."""
import math

import numpy as np


def cholesky(A, L):
    n = A.shape[0]
    for j in range(n):
        s = A[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        L[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / L[j, j]


def power_iteration(A, x, y, rounds):
    n = A.shape[0]
    for i in range(n):
        x[i] = 1.0
    value = 0.0
    for r in range(rounds):
        largest = 0.0
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += A[i, j] * x[j]
            y[i] = s
            if abs(s) > largest:
                largest = abs(s)
        for i in range(n):
            x[i] = y[i] / largest
        value = largest
    return value


def gram_matrix(A, G):
    rows, columns = A.shape
    for i in range(columns):
        for j in range(i, columns):
            G[i, j] = 0.0
    for r in range(rows):
        for i in range(columns):
            for j in range(i, columns):
                G[i, j] += A[r, i] * A[r, j]
    for i in range(columns):
        for j in range(i):
            G[i, j] = G[j, i]


def gray_scott(u, v, nu, nv, feed, kill):
    h, w = u.shape
    for y in range(h):
        up = (y - 1) % h
        down = (y + 1) % h
        for x in range(w):
            left = (x - 1) % w
            right = (x + 1) % w
            lu = u[up, x] + u[down, x] + u[y, left] + u[y, right] - 4 * u[y, x]
            lv = v[up, x] + v[down, x] + v[y, left] + v[y, right] - 4 * v[y, x]
            uvv = u[y, x] * v[y, x] * v[y, x]
            nu[y, x] = u[y, x] + 0.16 * lu - uvv + feed * (1 - u[y, x])
            nv[y, x] = v[y, x] + 0.08 * lv + uvv - (feed + kill) * v[y, x]


def minmod_slopes(u, slope):
    for i in range(1, len(u) - 1):
        a = u[i] - u[i - 1]
        b = u[i + 1] - u[i]
        if a * b <= 0:
            slope[i] = 0.0
        elif abs(a) < abs(b):
            slope[i] = a
        else:
            slope[i] = b


def dither(image, work, out):
    h, w = image.shape
    for y in range(h):
        for x in range(w):
            work[y, x] = image[y, x]
    for y in range(h):
        for x in range(w):
            old = work[y, x]
            new = 255 if old >= 128 else 0
            out[y, x] = new
            error = old - new
            if x + 1 < w:
                work[y, x + 1] += error * 7 // 16
            if y + 1 < h:
                if x > 0:
                    work[y + 1, x - 1] += error * 3 // 16
                work[y + 1, x] += error * 5 // 16
                if x + 1 < w:
                    work[y + 1, x + 1] += error // 16


def demosaic(raw, rgb):
    h, w = raw.shape
    for y in range(0, h - 1, 2):
        for x in range(0, w - 1, 2):
            red = raw[y, x]
            green = (int(raw[y, x + 1]) + int(raw[y + 1, x])) // 2
            blue = raw[y + 1, x + 1]
            for dy in range(2):
                for dx in range(2):
                    rgb[y + dy, x + dx, 0] = red
                    rgb[y + dy, x + dx, 1] = green
                    rgb[y + dy, x + dx, 2] = blue


def greedy_colouring(indptr, indices, colour, taken):
    n = colour.shape[0]
    for i in range(n):
        colour[i] = -1
        taken[i] = -1
    most = 0
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            c = colour[indices[k]]
            if c >= 0:
                taken[c] = i
        c = 0
        while taken[c] == i:
            c += 1
        colour[i] = c
        most = max(most, c + 1)
    return most


def spread_labels(edges, label):
    for i in range(label.shape[0]):
        label[i] = i
    changed = True
    rounds = 0
    while changed:
        changed = False
        rounds += 1
        for e in range(edges.shape[0]):
            a, b = edges[e, 0], edges[e, 1]
            if label[a] < label[b]:
                label[b] = label[a]
                changed = True
            elif label[b] < label[a]:
                label[a] = label[b]
                changed = True
    return rounds


def lower_bounds(table, keys, out):
    for i in range(len(keys)):
        low, high = 0, len(table)
        while low < high:
            middle = (low + high) // 2
            if table[middle] < keys[i]:
                low = middle + 1
            else:
                high = middle
        out[i] = low


def quick_select(src, a, k):
    for i in range(len(src)):
        a[i] = src[i]
    low, high = 0, len(a) - 1
    while low < high:
        pivot = a[k]
        i, j = low, high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while pivot < a[j]:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if j < k:
            low = i
        if k < i:
            high = j
    return a[k]


def common_subsequence(a, b, row):
    m = len(b)
    for j in range(m + 1):
        row[j] = 0
    for i in range(len(a)):
        diagonal = 0
        for j in range(m):
            above = row[j + 1]
            if a[i] == b[j]:
                row[j + 1] = diagonal + 1
            else:
                row[j + 1] = max(above, row[j])
            diagonal = above
    return row[m]


def viterbi(trans, emit, seen, score, back, path):
    states, steps = trans.shape[0], seen.shape[0]
    for s in range(states):
        score[0, s] = emit[s, seen[0]]
    for t in range(1, steps):
        for s in range(states):
            best = -1e300
            where = 0
            for p in range(states):
                value = score[t - 1, p] + trans[p, s]
                if value > best:
                    best = value
                    where = p
            score[t, s] = best + emit[s, seen[t]]
            back[t, s] = where
    last = 0
    for s in range(states):
        if score[steps - 1, s] > score[steps - 1, last]:
            last = s
    for t in range(steps - 1, -1, -1):
        path[t] = last
        last = back[t, last]
    return score[steps - 1, path[steps - 1]]


def title_case(text, out):
    inside = False
    for i in range(len(text)):
        c = text[i]
        if 65 <= c <= 90:
            out[i] = c + 32 if inside else c
            inside = True
        elif 97 <= c <= 122:
            out[i] = c if inside else c - 32
            inside = True
        else:
            out[i] = c
            inside = False


def hex_decode(text, out):
    bad = 0
    for i in range(len(text) // 2):
        value = 0
        for k in range(2):
            c = text[2 * i + k]
            if 48 <= c <= 57:
                digit = c - 48
            elif 97 <= c <= 102:
                digit = c - 87
            else:
                digit = 0
                bad += 1
            value = value * 16 + digit
        out[i] = value
    return bad


def sieve(prime):
    n = len(prime)
    for i in range(n):
        prime[i] = i >= 2
    i = 2
    while i * i < n:
        if prime[i]:
            for k in range(i * i, n, i):
                prime[k] = False
        i += 1
    count = 0
    for i in range(n):
        if prime[i]:
            count += 1
    return count


def abundant(limit):
    count = 0
    for n in range(2, limit):
        total = 1
        d = 2
        while d * d <= n:
            if n % d == 0:
                total += d
                if d * d != n:
                    total += n // d
            d += 1
        if total > n:
            count += 1
    return count


def moments(a, out):
    n = len(a)
    mean = 0.0
    for i in range(n):
        mean += a[i]
    mean /= n
    m2 = m3 = m4 = 0.0
    for i in range(n):
        d = a[i] - mean
        m2 += d ** 2
        m3 += d ** 3
        m4 += d ** 4
    m2 /= n
    out[0] = mean
    out[1] = m2
    out[2] = m3 / n / m2 ** 1.5
    out[3] = m4 / n / (m2 * m2) - 3


def holt(x, alpha, beta, out):
    level = x[0]
    trend = x[1] - x[0]
    for i in range(len(x)):
        before = level
        level = alpha * x[i] + (1 - alpha) * (level + trend)
        trend = beta * (level - before) + (1 - beta) * trend
        out[i] = level + trend


def rule110(start, cells, after, steps):
    n = len(cells)
    for i in range(n):
        cells[i] = start[i]
    for s in range(steps):
        for i in range(n):
            left = cells[i - 1] if i > 0 else 0
            right = cells[i + 1] if i < n - 1 else 0
            pattern = left * 4 + cells[i] * 2 + right
            after[i] = (110 >> pattern) & 1
        for i in range(n):
            cells[i] = after[i]


def resample(x, ratio, out):
    for i in range(len(out)):
        at = i * ratio
        k = int(at)
        f = at - k
        if k + 1 < len(x):
            out[i] = (1 - f) * x[k] + f * x[k + 1]
        else:
            out[i] = x[len(x) - 1]


def segment_distances(px, py, segments, out):
    for i in range(len(px)):
        best = 1e300
        for s in range(segments.shape[0]):
            x0, y0, x1, y1 = segments[s, 0], segments[s, 1], segments[s, 2], segments[s, 3]
            dx, dy = x1 - x0, y1 - y0
            t = ((px[i] - x0) * dx + (py[i] - y0) * dy) / (dx * dx + dy * dy)
            t = min(1.0, max(0.0, t))
            ex = x0 + t * dx - px[i]
            ey = y0 + t * dy - py[i]
            best = min(best, ex * ex + ey * ey)
        out[i] = math.sqrt(best)


def rasterise(triangles, depth):
    h, w = depth.shape
    for y in range(h):
        for x in range(w):
            depth[y, x] = 1e9
    for t in range(triangles.shape[0]):
        ax, ay, bx, by, cx, cy, z = triangles[t]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0:
            continue
        for y in range(h):
            for x in range(w):
                e0 = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
                e1 = ((cx - bx) * (y - by) - (cy - by) * (x - bx)) / area
                e2 = ((ax - cx) * (y - cy) - (ay - cy) * (x - cx)) / area
                if e0 >= 0 and e1 >= 0 and e2 >= 0 and z < depth[y, x]:
                    depth[y, x] = z


def bond_yields(prices, coupon, years, out):
    for i in range(len(prices)):
        rate = 0.05
        for step in range(6):
            value = 0.0
            slope = 0.0
            discount = 1.0
            for t in range(1, years + 1):
                discount /= 1 + rate
                cash = coupon + 100.0 if t == years else coupon
                value += cash * discount
                slope -= t * cash * discount / (1 + rate)
            rate -= (value - prices[i]) / slope
        out[i] = rate


def strength_index(prices, window, out):
    gain = loss = 0.0
    for i in range(1, len(prices)):
        change = prices[i] - prices[i - 1]
        up = change if change > 0 else 0.0
        down = -change if change < 0 else 0.0
        if i <= window:
            gain += up / window
            loss += down / window
        else:
            gain = (gain * (window - 1) + up) / window
            loss = (loss * (window - 1) + down) / window
        if i >= window:
            out[i] = 100.0 * gain / (gain + loss)


def block_match(a, b, size, radius, motion):
    h, w = a.shape
    for by in range(motion.shape[0]):
        for bx in range(motion.shape[1]):
            best = 1 << 40
            for dy in range(-radius, radius + 1):
                for dx in range(-radius, radius + 1):
                    y0 = by * size + dy
                    x0 = bx * size + dx
                    if y0 < 0 or x0 < 0 or y0 + size > h or x0 + size > w:
                        continue
                    s = 0
                    for y in range(size):
                        for x in range(size):
                            s += abs(int(a[by * size + y, bx * size + x]) - int(b[y0 + y, x0 + x]))
                    if s < best:
                        best = s
                        motion[by, bx, 0] = dy
                        motion[by, bx, 1] = dx


def downsample(a, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            out[y, x] = 0.25 * (a[2 * y, 2 * x] + a[2 * y, 2 * x + 1] + a[2 * y + 1, 2 * x] + a[2 * y + 1, 2 * x + 1])


def hilbert_index(xs, ys, side, out):
    for i in range(len(xs)):
        x, y = xs[i], ys[i]
        d = 0
        s = side // 2
        while s > 0:
            rx = 1 if x & s else 0
            ry = 1 if y & s else 0
            d += s * s * ((3 * rx) ^ ry)
            if ry == 0:
                if rx == 1:
                    x = side - 1 - x
                    y = side - 1 - y
                x, y = y, x
            s //= 2
        out[i] = d


def standardise(x):
    n, m = x.shape
    for j in range(m):
        mean = 0.0
        for i in range(n):
            mean += x[i, j]
        mean /= n
        var = 0.0
        for i in range(n):
            var += (x[i, j] - mean) ** 2
        sd = math.sqrt(var / (n - 1))
        for i in range(n):
            x[i, j] = (x[i, j] - mean) / sd


def chi_square(table, rows, columns):
    for i in range(table.shape[0]):
        rows[i] = 0
    for j in range(table.shape[1]):
        columns[j] = 0
    total = 0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            rows[i] += table[i, j]
            columns[j] += table[i, j]
            total += table[i, j]
    chi = 0.0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            expected = rows[i] * columns[j] / total
            chi += (table[i, j] - expected) ** 2 / expected
    return chi


def inversions(a, tree):
    n = len(tree) - 1
    for i in range(n + 1):
        tree[i] = 0
    count = 0
    for i in range(len(a) - 1, -1, -1):
        k = a[i]
        while k > 0:
            count += tree[k]
            k -= k & -k
        k = a[i] + 1
        while k <= n:
            tree[k] += 1
            k += k & -k
    return count


def heap_sort(src, a):
    n = len(a)
    for i in range(n):
        a[i] = src[i]
    for end in range(n + n // 2 - 1, 0, -1):
        if end >= n:
            root, last = end - n, n
        else:
            a[0], a[end] = a[end], a[0]
            root, last = 0, end
        value = a[root]
        while 2 * root + 1 < last:
            child = 2 * root + 1
            if child + 1 < last and a[child] < a[child + 1]:
                child += 1
            if not value < a[child]:
                break
            a[root] = a[child]
            root = child
        a[root] = value


def best_run(a, where):
    best = total = a[0]
    start = 0
    for i in range(1, len(a)):
        if total < 0:
            total = a[i]
            start = i
        else:
            total += a[i]
        if total > best:
            best = total
            where[0] = start
            where[1] = i
    return best


def word_wrap(lengths, width, cost):
    n = len(lengths)
    cost[n] = 0
    for i in range(n - 1, -1, -1):
        used = -1
        cost[i] = 1 << 60
        j = i
        while j < n:
            used += lengths[j] + 1
            if used > width:
                break
            slack = width - used if j + 1 < n else 0
            cost[i] = min(cost[i], slack * slack * slack + cost[j + 1])
            j += 1
    return cost[0]


def stream_cipher(key, data, state, out):
    for i in range(256):
        state[i] = i
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) & 255
        state[i], state[j] = state[j], state[i]
    i = j = 0
    for k in range(len(data)):
        i = (i + 1) & 255
        j = (j + state[i]) & 255
        state[i], state[j] = state[j], state[i]
        out[k] = data[k] ^ state[(state[i] + state[j]) & 255]


def move_to_front(data, table, out):
    for i in range(256):
        table[i] = i
    for i in range(len(data)):
        c = data[i]
        k = 0
        while table[k] != c:
            k += 1
        out[i] = k
        while k > 0:
            table[k] = table[k - 1]
            k -= 1
        table[0] = c


def kalman(measured, noise, drift, out):
    estimate, variance = measured[0], 1.0
    for i in range(len(measured)):
        variance += drift
        gain = variance / (variance + noise)
        estimate += gain * (measured[i] - estimate)
        variance *= 1 - gain
        out[i] = estimate


def spring_chain(start, x, v, steps, dt):
    n = len(x)
    for i in range(n):
        x[i] = start[i]
        v[i] = 0.0
    for s in range(steps):
        for i in range(n):
            force = -0.01 * v[i]
            if i > 0:
                force += x[i - 1] - x[i]
            if i < n - 1:
                force += x[i + 1] - x[i]
            v[i] += dt * force
        for i in range(n):
            x[i] += dt * v[i]


def newton_fractal(out, rounds):
    h, w = out.shape
    for py in range(h):
        for px in range(w):
            x = 4.0 * px / w - 2.0 + 1e-3
            y = 4.0 * py / h - 2.0 + 1e-3
            n = 0
            while n < rounds:
                x2, y2 = x * x - y * y, 2 * x * y
                d = x2 * x2 + y2 * y2
                nx = (2 * x + x2 / d) / 3
                ny = (2 * y - y2 / d) / 3
                change = abs(nx - x) + abs(ny - y)
                x, y = nx, ny
                n += 1
                if change < 1e-6:
                    break
            out[py, px] = n


def fibonacci_mod(indices, m, out):
    for i in range(len(indices)):
        a, b = 0, 1
        bit = 1 << 40
        while bit > 0:
            c = a * ((2 * b - a) % m) % m
            d = (a * a + b * b) % m
            if indices[i] & bit:
                a, b = d, (c + d) % m
            else:
                a, b = c, d
            bit >>= 1
        out[i] = a


def _csr(r, n, per):
    return np.arange(0, n * per + 1, per), r.integers(0, n, n * per)


def _spd(r, n):
    a = r.random((n, n))
    return a @ a.T + n * np.eye(n)


CASES = {
    "cholesky": (cholesky, lambda r: (_spd(r, 100), np.zeros((100, 100))), None),
    "power_iteration": (power_iteration, lambda r: (r.random((100, 100)), np.zeros(100), np.zeros(100), 8), "d"),
    "gram_matrix": (gram_matrix, lambda r: (r.random((300, 40)), np.zeros((40, 40))), None),
    "gray_scott": (gray_scott, lambda r: (r.random((64, 80)), r.random((64, 80)), np.zeros((64, 80)), np.zeros((64, 80)), 0.04, 0.06), None),
    "minmod_slopes": (minmod_slopes, lambda r: (r.random(8192), np.zeros(8192)), None),
    "dither": (dither, lambda r: (r.integers(0, 256, (64, 64)).astype("u1"), np.zeros((64, 64), np.int64), np.zeros((64, 64), "u1")), None),
    "demosaic": (demosaic, lambda r: (r.integers(0, 256, (96, 96)).astype("u1"), np.zeros((96, 96, 3), "u1")), None),
    "greedy_colouring": (greedy_colouring, lambda r: (*_csr(r, 1500, 8), np.zeros(1500, np.int64), np.zeros(1500, np.int64)), "i"),
    "spread_labels": (spread_labels, lambda r: (r.integers(0, 1000, (1500, 2)), np.zeros(1000, np.int64)), "i"),
    "lower_bounds": (lower_bounds, lambda r: (np.sort(r.random(4096)), r.random(1024), np.zeros(1024, np.int64)), None),
    "quick_select": (quick_select, lambda r: (r.random(4096), np.zeros(4096), 2000), "d"),
    "common_subsequence": (common_subsequence, lambda r: (r.integers(0, 4, 200).astype("u1"), r.integers(0, 4, 220).astype("u1"),
                                                          np.zeros(221, np.int64)), "i"),
    "viterbi": (viterbi, lambda r: (np.log(r.random((12, 12))), np.log(r.random((12, 6))), r.integers(0, 6, 150), np.zeros((150, 12)),
                                    np.zeros((150, 12), np.int64), np.zeros(150, np.int64)), "d"),
    "title_case": (title_case, lambda r: (np.where(r.random(8192) < 0.2, 32, r.integers(65, 123, 8192)).astype("u1"), np.zeros(8192, "u1")), None),
    "hex_decode": (hex_decode, lambda r: (np.frombuffer(b"0123456789abcdef", "u1")[r.integers(0, 16, 8192)], np.zeros(4096, "u1")), "i"),
    "sieve": (sieve, lambda r: (np.zeros(20000, np.bool_),), "i"),
    "abundant": (abundant, lambda r: (2000,), "i"),
    "moments": (moments, lambda r: (r.random(8192), np.zeros(4)), None),
    "holt": (holt, lambda r: (r.random(4096), 0.3, 0.1, np.zeros(4096)), None),
    "rule110": (rule110, lambda r: (r.integers(0, 2, 1024).astype("u1"), np.zeros(1024, "u1"), np.zeros(1024, "u1"), 10), None),
    "resample": (resample, lambda r: (r.random(4096), 0.73, np.zeros(5700)), None),
    "segment_distances": (segment_distances, lambda r: (r.random(200), r.random(200), r.random((60, 4)), np.zeros(200)), None),
    "rasterise": (rasterise, lambda r: (r.random((12, 7)) * 64, np.zeros((64, 64))), None),
    "bond_yields": (bond_yields, lambda r: (90 + 20 * r.random(200), 5.0, 12, np.zeros(200)), None),
    "strength_index": (strength_index, lambda r: (100 + np.cumsum(r.random(4096) - 0.5), 14, np.zeros(4096)), None),
    "block_match": (block_match, lambda r: (r.integers(0, 256, (48, 48)).astype("u1"), r.integers(0, 256, (48, 48)).astype("u1"), 8, 3,
                                            np.zeros((6, 6, 2), np.int64)), None),
    "downsample": (downsample, lambda r: (r.random((128, 128)), np.zeros((64, 64))), None),
    "hilbert_index": (hilbert_index, lambda r: (r.integers(0, 1024, 1024), r.integers(0, 1024, 1024), 1024, np.zeros(1024, np.int64)), None),
    "standardise": (standardise, lambda r: (r.random((200, 30)),), None),
    "chi_square": (chi_square, lambda r: (r.integers(1, 50, (80, 70)), np.zeros(80, np.int64), np.zeros(70, np.int64)), "d"),
    "inversions": (inversions, lambda r: (r.permutation(2000), np.zeros(2001, np.int64)), "i"),
    "heap_sort": (heap_sort, lambda r: (r.random(2048), np.zeros(2048)), None),
    "best_run": (best_run, lambda r: (r.integers(-50, 50, 8192), np.zeros(2, np.int64)), "i"),
    "word_wrap": (word_wrap, lambda r: (r.integers(1, 12, 1000), 72, np.zeros(1001, np.int64)), "i"),
    "stream_cipher": (stream_cipher, lambda r: (r.integers(0, 256, 16).astype("u1"), r.integers(0, 256, 4096).astype("u1"), np.zeros(256, np.int64),
                                                np.zeros(4096, "u1")), None),
    "move_to_front": (move_to_front, lambda r: ((r.random(1024) ** 3 * 256).astype("u1"), np.zeros(256, "u1"), np.zeros(1024, "u1")), None),
    "kalman": (kalman, lambda r: (r.random(4096), 0.5, 0.01, np.zeros(4096)), None),
    "spring_chain": (spring_chain, lambda r: (r.random(500), np.zeros(500), np.zeros(500), 20, 0.05), None),
    "newton_fractal": (newton_fractal, lambda r: (np.zeros((32, 32), np.int64), 50), None),
    "fibonacci_mod": (fibonacci_mod, lambda r: (r.integers(0, 10**12, 200), 1000007, np.zeros(200, np.int64)), None),
}
