"""The fourth part of seen.py: 12 kernels of 57 that were written before the passes were looked at, of which most are slower than C. seen_fourth.h has the same in C."""
import math

import numpy as np


def peaks(x, out):
    n = 0
    for i in range(1, len(x) - 1):
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            out[n] = i
            n += 1
    return n


def random_walk(steps, seed, visits):
    n, m = visits.shape
    for i in range(n):
        for j in range(m):
            visits[i, j] = 0
    x = n // 2
    y = m // 2
    s = seed
    for t in range(steps):
        s = (1103515245 * s + 12345) % 2147483648
        d = (s >> 16) % 4
        if d == 0:
            x += 1
        elif d == 1:
            x -= 1
        elif d == 2:
            y += 1
        else:
            y -= 1
        if x < 0:
            x = 0
        if x >= n:
            x = n - 1
        if y < 0:
            y = 0
        if y >= m:
            y = m - 1
        visits[x, y] += 1


def kmers(seq, k, counts):
    for i in range(len(counts)):
        counts[i] = 0
    mask = (1 << (2 * k)) - 1
    code = 0
    length = 0
    for i in range(len(seq)):
        c = seq[i]
        if c == 65:
            d = 0
        elif c == 67:
            d = 1
        elif c == 71:
            d = 2
        elif c == 84:
            d = 3
        else:
            length = 0
            code = 0
            continue
        code = ((code << 2) | d) & mask
        length += 1
        if length >= k:
            counts[code] += 1


def rotate(img, out, angle):
    h, w = img.shape
    c = math.cos(angle)
    s = math.sin(angle)
    cy = h / 2
    cx = w / 2
    for y in range(h):
        for x in range(w):
            sx = int(math.floor(c * (x - cx) + s * (y - cy) + cx))
            sy = int(math.floor(-s * (x - cx) + c * (y - cy) + cy))
            if sx >= 0 and sx < w and sy >= 0 and sy < h:
                out[y, x] = img[sy, sx]
            else:
                out[y, x] = 0


def julia(out, cr, ci):
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            z = complex(3.0 * x / w - 1.5, 3.0 * y / h - 1.5)
            n = 0
            while abs(z) < 2.0 and n < 60:
                z = z * z + complex(cr, ci)
                n += 1
            out[y, x] = n


def otsu(img, hist):
    for i in range(256):
        hist[i] = 0
    for i in range(img.size):
        hist[img[i]] += 1
    total = img.size
    sum_all = 0.0
    for t in range(256):
        sum_all += t * hist[t]
    sum_b = 0.0
    wb = 0
    best = 0.0
    threshold = 0
    for t in range(256):
        wb += hist[t]
        if wb == 0:
            continue
        wf = total - wb
        if wf == 0:
            break
        sum_b += t * hist[t]
        mb = sum_b / wb
        mf = (sum_all - sum_b) / wf
        between = wb * wf * (mb - mf) ** 2
        if between > best:
            best = between
            threshold = t
    return threshold


def find_pattern(text, pat):
    count = 0
    n = len(text)
    m = len(pat)
    for i in range(n - m + 1):
        ok = True
        for j in range(m):
            if text[i + j] != pat[j]:
                ok = False
                break
        if ok:
            count += 1
    return count


def banded(A, x, y, k):
    n = len(x)
    for i in range(n):
        s = 0.0
        for j in range(max(0, i - k), min(n, i + k + 1)):
            s += A[i, j - i + k] * x[j]
        y[i] = s


def rolling_std(x, w, out):
    n = len(x)
    for i in range(n):
        if i < w - 1:
            out[i] = 0.0
        else:
            m = 0.0
            for k in range(i - w + 1, i + 1):
                m += x[k]
            m /= w
            v = 0.0
            for k in range(i - w + 1, i + 1):
                v += (x[k] - m) ** 2
            out[i] = math.sqrt(v / (w - 1))


def insertion_sort(src, a):
    n = len(a)
    for i in range(n):
        a[i] = src[i]
    for i in range(1, n):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key


def csr_transpose(indptr, indices, data, tptr, tind, tdata):
    m = len(tptr) - 1
    for i in range(m + 1):
        tptr[i] = 0
    for k in range(len(indices)):
        tptr[indices[k] + 1] += 1
    for i in range(m):
        tptr[i + 1] += tptr[i]
    for r in range(len(indptr) - 1):
        for k in range(indptr[r], indptr[r + 1]):
            c = indices[k]
            p = tptr[c]
            tind[p] = r
            tdata[p] = data[k]
            tptr[c] = p + 1
    for i in range(m, 0, -1):
        tptr[i] = tptr[i - 1]
    tptr[0] = 0


def collatz(limit):
    best = 0
    arg = 0
    for i in range(1, limit):
        n = i
        steps = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > best:
            best = steps
            arg = i
    return arg


def _csr(r, n, m, per):
    rows = [np.unique(r.integers(0, m, r.integers(0, 2 * per))) for _ in range(n)]
    return np.cumsum([0] + [len(x) for x in rows]), np.concatenate(rows)


def _csrd(r, n, m, per):
    p, i = _csr(r, n, m, per)
    return p, i, r.random(len(i))


def _ints(*shape):
    return np.zeros(shape, np.int64)


def _floats(*shape):
    return np.zeros(shape)


CASES = {
    "peaks": (peaks, lambda r: (r.random(8192), _ints(8192)), "i"),
    "random_walk": (random_walk, lambda r: (5000, 42, _ints(40, 40)), None),
    "kmers": (kmers, lambda r: (r.choice(np.frombuffer(b"ACGTACGTACGTN", "u1"), 8192), 5, _ints(1024)), None),
    "rotate": (rotate, lambda r: (r.integers(0, 256, (64, 64)).astype("u1"), np.zeros((64, 64), "u1"), 0.3), None),
    "julia": (julia, lambda r: (_ints(48, 48), -0.4, 0.6), None),
    "otsu": (otsu, lambda r: ((r.random(8192) * 256).astype("u1"), _ints(256)), "i"),
    "find_pattern": (find_pattern, lambda r: (r.integers(97, 100, 8192).astype("u1"), np.frombuffer(b"abcab", "u1")), "i"),
    "banded": (banded, lambda r: (r.random((1000, 9)), r.random(1000), _floats(1000), 4), None),
    "rolling_std": (rolling_std, lambda r: (r.random(2000), 20, _floats(2000)), None),
    "insertion_sort": (insertion_sort, lambda r: (r.random(256), _floats(256)), None),
    "csr_transpose": (csr_transpose, lambda r: (lambda c: (*c, _ints(401), _ints(len(c[1])), _floats(len(c[1]))))(_csrd(r, 500, 400, 8)), None),
    "collatz": (collatz, lambda r: (1000,), "i"),
}
