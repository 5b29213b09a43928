"""The second part of unseen.py: 14 kernels, written from topics in one go after the passes of the day were done. unseen_more.h has the same in C."""
import math

import numpy as np

# -- linear algebra -----------------------------------------------------------------------------------------


def power_iteration(A, x, y, steps):
    n = x.shape[0]
    value = 0.0
    for t in range(steps):
        norm = 0.0
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += A[i, j] * x[j]
            y[i] = s
            norm += s * s
        value = math.sqrt(norm)
        for i in range(n):
            x[i] = y[i] / value
    return value


def band_product(bands, x, y):
    n = x.shape[0]
    half = bands.shape[0] // 2
    for i in range(n):
        y[i] = 0.0
    for b in range(bands.shape[0]):
        d = b - half
        for i in range(max(0, -d), min(n, n - d)):
            y[i] += bands[b, i] * x[i + d]


# -- stencils ---------------------------------------------------------------------------------------------------


def gray_scott(u, v, du, dv, steps):
    h, w = u.shape
    for t in range(steps):
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                lu = u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] - 4.0 * u[y, x]
                lv = v[y - 1, x] + v[y + 1, x] + v[y, x - 1] + v[y, x + 1] - 4.0 * v[y, x]
                r = u[y, x] * v[y, x] * v[y, x]
                du[y, x] = 0.16 * lu - r + 0.035 * (1.0 - u[y, x])
                dv[y, x] = 0.08 * lv + r - 0.095 * v[y, x]
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                u[y, x] += du[y, x]
                v[y, x] += dv[y, x]


# -- image -------------------------------------------------------------------------------------------------------


def rotate_right(img, out):
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            out[x, h - 1 - y] = img[y, x]


def dither(src, img):
    h, w = src.shape
    for y in range(h):
        for x in range(w):
            img[y, x] = src[y, x]
    for y in range(h - 1):
        for x in range(1, w - 1):
            old = img[y, x]
            new = 255.0 if old > 127.0 else 0.0
            img[y, x] = new
            e = old - new
            img[y, x + 1] += e * 0.4375
            img[y + 1, x - 1] += e * 0.1875
            img[y + 1, x] += e * 0.3125
            img[y + 1, x + 1] += e * 0.0625


# -- graphs ------------------------------------------------------------------------------------------------------


def components(indptr, indices, label, stack):
    n = label.shape[0]
    for u in range(n):
        label[u] = -1
    found = 0
    for start in range(n):
        if label[start] >= 0:
            continue
        top = 0
        stack[0] = start
        label[start] = found
        while top >= 0:
            u = stack[top]
            top -= 1
            for k in range(indptr[u], indptr[u + 1]):
                v = indices[k]
                if label[v] < 0:
                    label[v] = found
                    top += 1
                    stack[top] = v
        found += 1
    return found


# -- sorting and searching -----------------------------------------------------------------------------------------


def comb_sort(src, a):
    n = src.shape[0]
    for i in range(n):
        a[i] = src[i]
    gap = n
    swapped = True
    while gap > 1 or swapped:
        gap = gap * 10 // 13
        if gap < 1:
            gap = 1
        swapped = False
        for i in range(n - gap):
            if a[i] > a[i + gap]:
                t = a[i]
                a[i] = a[i + gap]
                a[i + gap] = t
                swapped = True


# -- dynamic programming -------------------------------------------------------------------------------------------


def subset_sums(values, reach):
    total = reach.shape[0]
    for s in range(total):
        reach[s] = 0
    reach[0] = 1
    for i in range(values.shape[0]):
        v = values[i]
        for s in range(total - 1, v - 1, -1):
            if reach[s - v] != 0:
                reach[s] = 1
    count = 0
    for s in range(total):
        count += reach[s]
    return count


# -- string bytes, number theory -------------------------------------------------------------------------------------


def adler(data):
    a = 1
    b = 0
    for i in range(data.shape[0]):
        a = (a + data[i]) % 65521
        b = (b + a) % 65521
    return b * 65536 + a


def wildcard(pattern, text):
    p = 0
    t = 0
    star = -1
    mark = 0
    steps = 0
    while t < text.shape[0]:
        steps += 1
        if p < pattern.shape[0] and (pattern[p] == 63 or pattern[p] == text[t]):
            p += 1
            t += 1
        elif p < pattern.shape[0] and pattern[p] == 42:
            star = p
            mark = t
            p += 1
        elif star >= 0:
            p = star + 1
            mark += 1
            t = mark
        else:
            return -steps
    while p < pattern.shape[0] and pattern[p] == 42:
        p += 1
    return steps if p == pattern.shape[0] else -steps


def jacobi_symbols(m, first, count):
    total = 0
    for k in range(count):
        a = (first + k) % m
        n = m
        sign = 1
        while a != 0:
            while a % 2 == 0:
                a //= 2
                if n % 8 == 3 or n % 8 == 5:
                    sign = -sign
            a, n = n, a
            if a % 4 == 3 and n % 4 == 3:
                sign = -sign
            a %= n
        if n == 1:
            total += sign * (k + 1)
    return total


# -- statistics, simulation, geometry, finance --------------------------------------------------------------------------


def kendall(x, y):
    score = 0
    for i in range(x.shape[0]):
        for j in range(i):
            p = (x[i] - x[j]) * (y[i] - y[j])
            if p > 0.0:
                score += 1
            elif p < 0.0:
                score -= 1
    return score


def spring_chain(x, v, steps):
    n = x.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            v[i] = 0.999 * v[i] + 0.05 * (x[i - 1] - 2.0 * x[i] + x[i + 1])
        for i in range(1, n - 1):
            x[i] += v[i]


def present_values(amounts, rates, out):
    for i in range(rates.shape[0]):
        d = 1.0 / (1.0 + rates[i])
        f = 1.0
        s = 0.0
        for t in range(amounts.shape[1]):
            s += amounts[i, t] * f
            f *= d
        out[i] = s


def _graph(r, n, per):
    ends = r.integers(0, n, (n * per // 2, 2))
    both = np.concatenate([ends, ends[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    return np.searchsorted(both[:, 0], np.arange(n + 1)), np.ascontiguousarray(both[:, 1])


CASES = {
    "power_iteration": (power_iteration, lambda r: (r.random((96, 96)), r.random(96), np.zeros(96), 3), "d"),
    "band_product": (band_product, lambda r: (r.random((7, 2048)), r.random(2048), np.zeros(2048)), None),
    "gray_scott": (gray_scott, lambda r: (r.random((48, 48)), r.random((48, 48)) * 0.5, np.zeros((48, 48)), np.zeros((48, 48)), 3), None),
    "rotate_right": (rotate_right, lambda r: (r.random((120, 80)), np.zeros((80, 120))), None),
    "dither": (dither, lambda r: (r.random((64, 64)) * 255, np.zeros((64, 64))), None),
    "components": (components, lambda r: (*_graph(r, 1500, 2), np.zeros(1500, np.int64), np.zeros(1500, np.int64)), "i"),
    "comb_sort": (comb_sort, lambda r: (r.random(1500), np.zeros(1500)), None),
    "subset_sums": (subset_sums, lambda r: (r.integers(1, 60, 40), np.zeros(1500, "u1")), "i"),
    "adler": (adler, lambda r: (r.integers(0, 256, 8192).astype("u1"),), "i"),
    "wildcard": (wildcard, lambda r: (np.frombuffer(b"*a?b*c*aab*?c*", "u1"), r.integers(97, 100, 3000).astype("u1")), "i"),
    "jacobi_symbols": (jacobi_symbols, lambda r: (100003, 17, 400), "i"),
    "kendall": (kendall, lambda r: (r.random(300), r.random(300)), "i"),
    "spring_chain": (spring_chain, lambda r: (r.random(2048), np.zeros(2048), 8), None),
    "present_values": (present_values, lambda r: (r.random((200, 30)), r.random(200) * 0.1, np.zeros(200)), None),
}
