"""The fifth part of seen.py: 12 kernels of 26 that were written before the passes were looked at, of strings, parsing, geometry, finance,
simulation, graphs, integration and images, of which most were slower than C. seen_fifth.h has the same in C."""
import numpy as np


def palindromes(s):
    best = 0
    n = len(s)
    for c in range(n):
        i = c - 1
        j = c + 1
        while i >= 0 and j < n and s[i] == s[j]:
            i -= 1
            j += 1
        if j - i - 1 > best:
            best = j - i - 1
    return best


def run_length(s, values, counts):
    n = len(s)
    k = 0
    i = 0
    while i < n:
        c = s[i]
        j = i + 1
        while j < n and s[j] == c:
            j += 1
        values[k] = c
        counts[k] = j - i
        k += 1
        i = j
    return k


def split_fields(text, starts, ends):
    k = 0
    begin = 0
    quoted = False
    for i in range(len(text)):
        c = text[i]
        if c == 34:
            quoted = not quoted
        elif (c == 44 or c == 10) and not quoted:
            starts[k] = begin
            ends[k] = i
            k += 1
            begin = i + 1
    return k


def parse_floats(text, out):
    n = len(text)
    i = 0
    k = 0
    while i < n:
        while i < n and text[i] == 32:
            i += 1
        if i == n:
            break
        sign = 1.0
        if text[i] == 45:
            sign = -1.0
            i += 1
        x = 0.0
        while i < n and text[i] >= 48 and text[i] <= 57:
            x = x * 10.0 + (text[i] - 48)
            i += 1
        if i < n and text[i] == 46:
            i += 1
            scale = 0.1
            while i < n and text[i] >= 48 and text[i] <= 57:
                x += (text[i] - 48) * scale
                scale *= 0.1
                i += 1
        out[k] = sign * x
        k += 1
    return k


def common_prefix(words, width, order, lcp):
    n = len(order)
    for i in range(1, n):
        a = order[i - 1] * width
        b = order[i] * width
        k = 0
        while k < width and words[a + k] == words[b + k]:
            k += 1
        lcp[i] = k


def bresenham(lines, img):
    h, w = img.shape
    for i in range(h):
        for j in range(w):
            img[i, j] = 0
    for k in range(len(lines)):
        x = lines[k, 0]
        y = lines[k, 1]
        x1 = lines[k, 2]
        y1 = lines[k, 3]
        dx = abs(x1 - x)
        dy = -abs(y1 - y)
        sx = 1 if x < x1 else -1
        sy = 1 if y < y1 else -1
        err = dx + dy
        while True:
            img[y, x] += 1
            if x == x1 and y == y1:
                break
            e2 = 2 * err
            if e2 >= dy:
                err += dy
                x += sx
            if e2 <= dx:
                err += dx
                y += sy


def fifo_gains(buy_qty, buy_price, sell_qty, sell_price, left):
    for i in range(len(buy_qty)):
        left[i] = buy_qty[i]
    gain = 0.0
    lot = 0
    for s in range(len(sell_qty)):
        need = sell_qty[s]
        while need > 0 and lot < len(left):
            take = min(need, left[lot])
            gain += take * (sell_price[s] - buy_price[lot])
            left[lot] -= take
            need -= take
            if left[lot] == 0:
                lot += 1
    return gain


def prim(cost, best, done):
    n = len(cost)
    for i in range(n):
        best[i] = 1e300
        done[i] = 0
    best[0] = 0.0
    total = 0.0
    for step in range(n):
        u = -1
        for i in range(n):
            if done[i] == 0 and (u < 0 or best[i] < best[u]):
                u = i
        done[u] = 1
        total += best[u]
        for v in range(n):
            if done[v] == 0 and cost[u, v] < best[v]:
                best[v] = cost[u, v]
    return total


def adaptive(a, b, tol, left, right):
    top = 1
    left[0] = a
    right[0] = b
    total = 0.0
    while top > 0:
        top -= 1
        lo = left[top]
        hi = right[top]
        m = 0.5 * (lo + hi)
        h = hi - lo
        fa = 1.0 / (1.0 + 25.0 * lo * lo)
        fm = 1.0 / (1.0 + 25.0 * m * m)
        fb = 1.0 / (1.0 + 25.0 * hi * hi)
        whole = 0.5 * h * (fa + fb)
        better = h / 6.0 * (fa + 4.0 * fm + fb)
        if abs(better - whole) < tol * h:
            total += better
        else:
            left[top] = lo
            right[top] = m
            left[top + 1] = m
            right[top + 1] = hi
            top += 2
    return total


def median3(img, out, window):
    h, w = img.shape
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            n = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    v = img[y + dy, x + dx]
                    k = n
                    while k > 0 and window[k - 1] > v:
                        window[k] = window[k - 1]
                        k -= 1
                    window[k] = v
                    n += 1
            out[y, x] = window[4]


def chamfer(mask, dist):
    h, w = mask.shape
    for y in range(h):
        for x in range(w):
            if mask[y, x]:
                dist[y, x] = 0
            else:
                d = 1 << 20
                if y > 0:
                    d = min(d, dist[y - 1, x] + 1)
                if x > 0:
                    d = min(d, dist[y, x - 1] + 1)
                dist[y, x] = d
    for y in range(h - 1, -1, -1):
        for x in range(w - 1, -1, -1):
            d = dist[y, x]
            if y < h - 1:
                d = min(d, dist[y + 1, x] + 1)
            if x < w - 1:
                d = min(d, dist[y, x + 1] + 1)
            dist[y, x] = d


def components(mask, labels, parent):
    h, w = mask.shape
    count = 0
    for y in range(h):
        for x in range(w):
            labels[y, x] = -1
            if mask[y, x] == 0:
                continue
            up = labels[y - 1, x] if y > 0 else -1
            left = labels[y, x - 1] if x > 0 else -1
            if up < 0 and left < 0:
                parent[count] = count
                labels[y, x] = count
                count += 1
            elif up < 0 or left < 0:
                labels[y, x] = max(up, left)
            else:
                while parent[up] != up:
                    up = parent[up]
                while parent[left] != left:
                    left = parent[left]
                root = min(up, left)
                parent[max(up, left)] = root
                labels[y, x] = root
    roots = 0
    for i in range(count):
        if parent[i] == i:
            roots += 1
    return roots


def _text(r, words):
    return np.frombuffer(" ".join(words).encode(), "u1").copy()


def _numbers(r, n):
    return _text(r, [f"{v:.{p}f}" for v, p in zip(r.normal(0, 300, n), r.integers(0, 5, n), strict=True)])


def _ints(*shape):
    return np.zeros(shape, np.int64)


def _floats(*shape):
    return np.zeros(shape)


def _sorted_words(r, n, width):
    w = r.integers(97, 99, (n, width)).astype("u1")
    return w.ravel().copy(), width, np.lexsort(w.T[::-1]).astype(np.int64), _ints(n)


CASES = {
    "palindromes": (palindromes, lambda r: (r.integers(97, 99, 3000).astype("u1"),), "i"),
    "run_length": (run_length, lambda r: (np.repeat(r.integers(0, 8, 2000).astype("u1"), r.integers(1, 6, 2000)), np.zeros(8000, "u1"),
                                          _ints(8000)), "i"),
    "split_fields": (split_fields, lambda r: (r.choice(np.frombuffer(b"abcdefgh,,\n\"xyz0123", "u1"), 8192), _ints(4000), _ints(4000)), "i"),
    "parse_floats": (parse_floats, lambda r: (_numbers(r, 1500), _floats(1600)), "i"),
    "common_prefix": (common_prefix, lambda r: _sorted_words(r, 1000, 24), None),
    "bresenham": (bresenham, lambda r: (r.integers(0, 64, (200, 4)), _ints(64, 64)), None),
    "fifo_gains": (fifo_gains, lambda r: (r.integers(1, 50, 3000), r.random(3000), r.integers(1, 50, 3000), r.random(3000), _ints(3000)), "d"),
    "prim": (prim, lambda r: (r.random((96, 96)), _floats(96), _ints(96)), "d"),
    "adaptive": (adaptive, lambda r: (-1.0, 1.0, 1e-7, _floats(100), _floats(100)), "d"),
    "median3": (median3, lambda r: (r.integers(0, 256, (48, 48)).astype("u1"), np.zeros((48, 48), "u1"), np.zeros(9, "u1")), None),
    "chamfer": (chamfer, lambda r: ((r.random((64, 64)) < 0.05).astype("u1"), _ints(64, 64)), None),
    "components": (components, lambda r: ((r.random((64, 64)) < 0.6).astype("u1"), _ints(64, 64), _ints(4096)), "i"),
}
