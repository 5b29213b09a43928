"""The third part of seen.py: 13 kernels of fields that had few. seen_third.h has the same in C."""
import math

import numpy as np

# -- linear algebra ------------------------------------------------------------------------------------


def reflect(A, v, w):
    n, m = A.shape
    for j in range(m):
        w[j] = 0.0
    for i in range(n):
        for j in range(m):
            w[j] += v[i] * A[i, j]
    for i in range(n):
        for j in range(m):
            A[i, j] -= 2.0 * v[i] * w[j]


def kron(A, B, out):
    p, q = B.shape
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            for k in range(p):
                for l in range(q):
                    out[i * p + k, j * q + l] = A[i, j] * B[k, l]


# -- stencils, simulation --------------------------------------------------------------------------------


def damped_wave(u, v, w, steps):
    h, k = u.shape
    for t in range(steps):
        for y in range(1, h - 1):
            for x in range(1, k - 1):
                lap = u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] - 4.0 * u[y, x]
                w[y, x] = 1.99 * u[y, x] - 0.99 * v[y, x] + 0.1 * lap
        for y in range(1, h - 1):
            for x in range(1, k - 1):
                v[y, x] = u[y, x]
                u[y, x] = w[y, x]


def sandpile(src, grid):
    h, w = grid.shape
    for y in range(h):
        for x in range(w):
            grid[y, x] = src[y, x]
    topples = 0
    moved = True
    while moved:
        moved = False
        for y in range(1, h - 1):
            for x in range(1, w - 1):
                if grid[y, x] >= 4:
                    grid[y, x] -= 4
                    grid[y - 1, x] += 1
                    grid[y + 1, x] += 1
                    grid[y, x - 1] += 1
                    grid[y, x + 1] += 1
                    topples += 1
                    moved = True
    return topples


# -- image ------------------------------------------------------------------------------------------------


def equalise(img, counts, out):
    for k in range(256):
        counts[k] = 0
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            counts[img[y, x]] += 1
    total = 0
    for k in range(256):
        total += counts[k]
        counts[k] = total
    for y in range(h):
        for x in range(w):
            out[y, x] = counts[img[y, x]] * 255 // total


# -- graphs -------------------------------------------------------------------------------------------------


def topological(indptr, indices, degree, order):
    n = degree.shape[0]
    for u in range(n):
        degree[u] = 0
    for k in range(indices.shape[0]):
        degree[indices[k]] += 1
    end = 0
    for u in range(n):
        if degree[u] == 0:
            order[end] = u
            end += 1
    at = 0
    while at < end:
        u = order[at]
        at += 1
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            degree[v] -= 1
            if degree[v] == 0:
                order[end] = v
                end += 1
    return end


def triangles(indptr, indices):
    count = 0
    for u in range(indptr.shape[0] - 1):
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            i = k + 1
            j = indptr[v]
            while i < indptr[u + 1] and j < indptr[v + 1]:
                if indices[i] == indices[j]:
                    count += 1
                    i += 1
                    j += 1
                elif indices[i] < indices[j]:
                    i += 1
                else:
                    j += 1
    return count


# -- sorting, searching, dynamic programming ----------------------------------------------------------------


def radix_sort(src, a, b, counts):
    n = src.shape[0]
    for i in range(n):
        a[i] = src[i]
    for shift in range(0, 32, 16):
        for half in range(2):
            s = shift + 8 * half
            for k in range(257):
                counts[k] = 0
            for i in range(n):
                counts[((a[i] >> s) & 255) + 1] += 1
            for k in range(256):
                counts[k + 1] += counts[k]
            for i in range(n):
                d = (a[i] >> s) & 255
                b[counts[d]] = a[i]
                counts[d] += 1
            for i in range(n):
                a[i] = b[i]


def increasing(a, tails):
    length = 0
    for i in range(a.shape[0]):
        v = a[i]
        lo = 0
        hi = length
        while lo < hi:
            mid = (lo + hi) // 2
            if tails[mid] < v:
                lo = mid + 1
            else:
                hi = mid
        tails[lo] = v
        if lo == length:
            length += 1
    return length


# -- string bytes, number theory ----------------------------------------------------------------------------


def utf8_points(text):
    points = 0
    bad = 0
    i = 0
    n = text.shape[0]
    while i < n:
        c = text[i]
        if c < 128:
            k = 1
        elif c >= 240:
            k = 4
        elif c >= 224:
            k = 3
        elif c >= 192:
            k = 2
        else:
            k = 1
            bad += 1
        points += 1
        i += k
    return points * 1000 + bad


def inverses(values, m, out):
    for i in range(values.shape[0]):
        a = values[i] % m
        b = m
        x = 1
        y = 0
        while a > 1 and b > 0:
            q = a // b
            a, b = b, a - q * b
            x, y = y, x - q * y
        out[i] = x + m if x < 0 else x


# -- signal, geometry ---------------------------------------------------------------------------------------


def goertzel(x, out):
    n = x.shape[0]
    for k in range(out.shape[0]):
        c = 2.0 * math.cos(2.0 * math.pi * k / n)
        s1 = 0.0
        s2 = 0.0
        for i in range(n):
            s0 = x[i] + c * s1 - s2
            s2 = s1
            s1 = s0
        out[k] = s1 * s1 + s2 * s2 - c * s1 * s2


def crossings(segments):
    n = segments.shape[0]
    count = 0
    for i in range(n):
        ax = segments[i, 0]
        ay = segments[i, 1]
        bx = segments[i, 2]
        by = segments[i, 3]
        for j in range(i + 1, n):
            cx = segments[j, 0]
            cy = segments[j, 1]
            dx = segments[j, 2]
            dy = segments[j, 3]
            p = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            q = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
            s = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)
            t = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
            if (p > 0.0) != (q > 0.0) and (s > 0.0) != (t > 0.0):
                count += 1
    return count


def _dag(r, n, per):
    """Edges lead upwards, sorted in each row."""
    rows = [np.unique(r.integers(u + 1, n, per)) if u + 1 < n else np.zeros(0, np.int64) for u in range(n)]
    return np.cumsum([0] + [len(row) for row in rows]), np.concatenate(rows)


CASES = {
    "reflect": (reflect, lambda r: (r.random((120, 100)), np.eye(120)[3] * 1.0, np.zeros(100)), None),
    "kron": (kron, lambda r: (r.random((12, 10)), r.random((9, 11)), np.zeros((108, 110))), None),
    "damped_wave": (damped_wave, lambda r: (r.random((64, 64)), r.random((64, 64)), np.zeros((64, 64)), 3), None),
    "sandpile": (sandpile, lambda r: (r.integers(0, 5, (32, 32)), np.zeros((32, 32), np.int64)), "i"),
    "equalise": (equalise, lambda r: ((r.random((96, 96)) ** 2 * 256).astype("u1"), np.zeros(256, np.int64), np.zeros((96, 96), "u1")), None),
    "topological": (topological, lambda r: (*_dag(r, 1000, 6), np.zeros(1000, np.int64), np.zeros(1000, np.int64)), "i"),
    "triangles": (triangles, lambda r: _dag(r, 300, 12), "i"),
    "radix_sort": (radix_sort, lambda r: (r.integers(0, 2**32, 2048), np.zeros(2048, np.int64), np.zeros(2048, np.int64),
                                          np.zeros(257, np.int64)), None),
    "increasing": (increasing, lambda r: (r.random(2048), np.zeros(2048)), "i"),
    "utf8_points": (utf8_points, lambda r: (np.frombuffer("".join(chr(c) for c in r.choice([65, 97, 233, 8364, 128512], 2048)).encode(),
                                                          "u1"),), "i"),
    "inverses": (inverses, lambda r: (r.integers(1, 10**9, 500), 1000000007, np.zeros(500, np.int64)), None),
    "goertzel": (goertzel, lambda r: (r.random(1024), np.zeros(12)), None),
    "crossings": (crossings, lambda r: (r.random((200, 4)),), "i"),
}
