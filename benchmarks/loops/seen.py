"""Loops that the passes may be tuned for: 123 kernels of some twenty fields. CASES: name -> (function, arguments, kind of the C result).

Arguments are made from a generator; every kernel can run again and again on the same ones. seen.c has the same in C."""
import math

import numpy as np
import seen_fifth
import seen_fourth
import seen_more
import seen_sixth
import seen_third


def gemv_transposed(A, x, y):
    for j in range(A.shape[1]):
        y[j] = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[j] += A[i, j] * x[i]


def lower_solve(L, b, x):
    n = b.shape[0]
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= L[i, j] * x[j]
        x[i] = s / L[i, i]


def heat2d(a, b, steps):
    h, w = a.shape
    for t in range(steps):
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                b[y, x] = a[y, x] + 0.2 * (a[y - 1, x] + a[y + 1, x] + a[y, x - 1] + a[y, x + 1] - 4.0 * a[y, x])
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                a[y, x] = b[y, x]


def wave_periodic(u, v, out):
    n = u.shape[0]
    for i in range(n):
        left = u[i - 1]
        right = u[i + 1] if i + 1 < n else u[0]
        out[i] = 2.0 * u[i] - v[i] + 0.25 * (left - 2.0 * u[i] + right)


def sobel(img, out):
    h, w = img.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            gx = 0.0
            gy = 0.0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    p = img[y + dy, x + dx]
                    gx += p * dx * (2 - abs(dy))
                    gy += p * dy * (2 - abs(dx))
            out[y, x] = math.sqrt(gx * gx + gy * gy)


def gray(rgb, out):
    for y in range(rgb.shape[0]):
        for x in range(rgb.shape[1]):
            out[y, x] = (77 * rgb[y, x, 0] + 150 * rgb[y, x, 1] + 29 * rgb[y, x, 2]) >> 8


def pagerank_step(indptr, indices, rank, out):
    n = out.shape[0]
    for i in range(n):
        out[i] = 0.15 / n
    for i in range(n):
        degree = indptr[i + 1] - indptr[i]
        if degree == 0:
            continue
        share = 0.85 * rank[i] / degree
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += share


def floyd_warshall(d, src):
    n = d.shape[0]
    for i in range(n):
        for j in range(n):
            d[i, j] = src[i, j]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                t = d[i, k] + d[k, j]
                if t < d[i, j]:
                    d[i, j] = t


def merge_sort(src, a, b):
    n = src.shape[0]
    for i in range(n):
        a[i] = src[i]
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
        for i in range(n):
            a[i] = b[i]
        width *= 2


def counting_sort(a, count, out):
    for k in range(count.shape[0]):
        count[k] = 0
    for i in range(a.shape[0]):
        count[a[i]] += 1
    at = 0
    for k in range(count.shape[0]):
        for r in range(count[k]):
            out[at] = k
            at += 1


def edit_distance(a, b, row):
    m = b.shape[0]
    for j in range(m + 1):
        row[j] = j
    for i in range(a.shape[0]):
        corner = row[0]
        row[0] = i + 1
        for j in range(m):
            old = row[j + 1]
            cost = corner + (0 if a[i] == b[j] else 1)
            best = min(old, row[j]) + 1
            row[j + 1] = min(best, cost)
            corner = old
    return row[m]


def knapsack(weights, values, best):
    cap = best.shape[0] - 1
    for w in range(cap + 1):
        best[w] = 0
    for i in range(weights.shape[0]):
        for w in range(cap, weights[i] - 1, -1):
            v = best[w - weights[i]] + values[i]
            if v > best[w]:
                best[w] = v
    return best[cap]


def count_words(text):
    words = 0
    inside = False
    for i in range(text.shape[0]):
        c = text[i]
        space = c == 32 or c == 10 or c == 9
        if inside and space:
            inside = False
        elif not inside and not space:
            inside = True
            words += 1
    return words


def crc_bits(data):
    crc = 0xFFFFFFFF
    for i in range(data.shape[0]):
        crc ^= data[i]
        for k in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ 0xEDB88320
            else:
                crc >>= 1
    return crc ^ 0xFFFFFFFF


def gcd_sum(n):
    total = 0
    for a in range(1, n):
        for b in range(1, a):
            x = a
            y = b
            while y:
                x, y = y, x % y
            total += x
    return total


def power_mod_sum(n, e, mod):
    total = 0
    for b in range(n):
        result = 1
        x = b % mod
        k = e
        while k > 0:
            if k & 1:
                result = result * x % mod
            x = x * x % mod
            k >>= 1
        total += result
    return total


def welford(a, out):
    mean = 0.0
    m2 = 0.0
    for i in range(a.shape[0]):
        d = a[i] - mean
        mean += d / (i + 1)
        m2 += d * (a[i] - mean)
    out[0] = mean
    out[1] = m2 / a.shape[0]


def float_histogram(a, low, high, out):
    n = out.shape[0]
    for k in range(n):
        out[k] = 0
    scale = n / (high - low)
    for i in range(a.shape[0]):
        k = int((a[i] - low) * scale)
        if 0 <= k < n:
            out[k] += 1


def ising_sweep(s, rand, beta):
    n, m = s.shape
    flips = 0
    for i in range(n):
        for j in range(m):
            near = s[i - 1, j] + s[(i + 1) % n, j] + s[i, j - 1] + s[i, (j + 1) % m]
            cost = 2 * s[i, j] * near
            if cost <= 0 or rand[i, j] < math.exp(-beta * cost):
                s[i, j] = -s[i, j]
                flips += 1
    return flips


def fir(x, taps, out):
    k = taps.shape[0]
    for i in range(x.shape[0] - k + 1):
        s = 0.0
        for j in range(k):
            s += x[i + j] * taps[k - 1 - j]
        out[i] = s


def biquad(x, c, out):
    z1 = 0.0
    z2 = 0.0
    for i in range(x.shape[0]):
        y = c[0] * x[i] + z1
        z1 = c[1] * x[i] - c[3] * y + z2
        z2 = c[2] * x[i] - c[4] * y
        out[i] = y


def polygon_area(xs, ys):
    s = 0.0
    n = xs.shape[0]
    for i in range(n):
        s += xs[i - 1] * ys[i] - xs[i] * ys[i - 1]
    return 0.5 * abs(s)


def compound(rates, years, out):
    for i in range(rates.shape[0]):
        out[i] = (1.0 + rates[i]) ** years[i]


def _csr(r, n, per):
    return np.arange(0, n * per + 1, per), r.integers(0, n, n * per), r.random(n), np.zeros(n)


CASES = {
    "gemv_transposed": (gemv_transposed, lambda r: (r.random((200, 150)), r.random(200), np.zeros(150)), None),
    "lower_solve": (lower_solve, lambda r: (r.random((150, 150)) + 9 * np.eye(150), r.random(150), np.zeros(150)), None),
    "heat2d": (heat2d, lambda r: (r.random((64, 64)), np.zeros((64, 64)), 4), None),
    "wave_periodic": (wave_periodic, lambda r: (r.random(8192), r.random(8192), np.zeros(8192)), None),
    "sobel": (sobel, lambda r: (r.random((64, 64)), np.zeros((64, 64))), None),
    "gray": (gray, lambda r: (r.integers(0, 256, (96, 96, 3)).astype("u1"), np.zeros((96, 96), "u1")), None),
    "pagerank_step": (pagerank_step, lambda r: _csr(r, 1500, 8), None),
    "floyd_warshall": (floyd_warshall, lambda r: (np.zeros((48, 48)), r.random((48, 48))), None),
    "merge_sort": (merge_sort, lambda r: (r.random(2048), np.zeros(2048), np.zeros(2048)), None),
    "counting_sort": (counting_sort, lambda r: (r.integers(0, 64, 8192), np.zeros(64, np.int64), np.zeros(8192, np.int64)), None),
    "edit_distance": (edit_distance, lambda r: (r.integers(0, 4, 200).astype("u1"), r.integers(0, 4, 180).astype("u1"),
                                                np.zeros(181, np.int64)), "i"),
    "knapsack": (knapsack, lambda r: (r.integers(1, 60, 50), r.integers(1, 99, 50), np.zeros(1001, np.int64)), "i"),
    "count_words": (count_words, lambda r: (np.where(r.random(16384) < 0.2, 32, r.integers(97, 122, 16384)).astype("u1"),), "i"),
    "crc_bits": (crc_bits, lambda r: (r.integers(0, 256, 2048).astype("u1"),), "i"),
    "gcd_sum": (gcd_sum, lambda r: (90,), "i"),
    "power_mod_sum": (power_mod_sum, lambda r: (400, 1234567, 10007), "i"),
    "welford": (welford, lambda r: (r.random(4096), np.zeros(2)), None),
    "float_histogram": (float_histogram, lambda r: (r.random(8192) * 1.1, 0.0, 1.0, np.zeros(50, np.int64)), None),
    "ising_sweep": (ising_sweep, lambda r: (r.integers(0, 2, (64, 64)) * 2 - 1, r.random((64, 64)), 0.4), "i"),
    "fir": (fir, lambda r: (r.random(4096), r.random(24), np.zeros(4096)), None),
    "biquad": (biquad, lambda r: (r.random(8192), np.array([0.2, 0.3, 0.2, -0.4, 0.1]), np.zeros(8192)), None),
    "polygon_area": (polygon_area, lambda r: (r.random(8192), r.random(8192)), "d"),
    "compound": (compound, lambda r: (r.random(4096) * 0.1, r.integers(1, 40, 4096), np.zeros(4096)), None),
    **seen_more.CASES,
    **seen_third.CASES,
    **seen_fourth.CASES,
    **seen_fifth.CASES,
    **seen_sixth.CASES,
}
