"""Loops that are only measured, never tuned for: 35 kernels of thirteen fields, written from a list of topics, 21 of them before the passes
were changed. Nobody looks into their machine code. The form is that of seen.py; unseen.c has the same in C."""
import numpy as np
import unseen_more


def lu_factor(src, a):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            a[i, j] = src[i, j]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def rank_one(A, x, y, alpha):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += alpha * x[i] * y[j]


def upwind(u, v, out):
    n = u.shape[0]
    for i in range(1, n - 1):
        if v[i] > 0.0:
            out[i] = u[i] - 0.1 * v[i] * (u[i] - u[i - 1])
        else:
            out[i] = u[i] - 0.1 * v[i] * (u[i + 1] - u[i])


def red_black(a):
    h, w = a.shape
    for color in range(2):
        for i in range(1, h - 1):
            for j in range(1 + (i + color) % 2, w - 1, 2):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def box_blur(img, out):
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            s = 0
            n = 0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    if 0 <= y + dy < h and 0 <= x + dx < w:
                        s += img[y + dy, x + dx]
                        n += 1
            out[y, x] = s // n


def bilinear(img, out):
    h, w = img.shape
    oh, ow = out.shape
    for y in range(oh):
        fy = y * (h - 1) / oh
        y0 = int(fy)
        ty = fy - y0
        for x in range(ow):
            fx = x * (w - 1) / ow
            x0 = int(fx)
            tx = fx - x0
            top = img[y0, x0] * (1.0 - tx) + img[y0, x0 + 1] * tx
            low = img[y0 + 1, x0] * (1.0 - tx) + img[y0 + 1, x0 + 1] * tx
            out[y, x] = top * (1.0 - ty) + low * ty


def bellman_ford(tails, heads, costs, dist, rounds):
    for i in range(dist.shape[0]):
        dist[i] = 1e300
    dist[0] = 0.0
    for r in range(rounds):
        for e in range(tails.shape[0]):
            d = dist[tails[e]] + costs[e]
            if d < dist[heads[e]]:
                dist[heads[e]] = d




def partition(src, a, pivot):
    n = src.shape[0]
    for i in range(n):
        a[i] = src[i]
    i = 0
    j = n - 1
    while i <= j:
        while i <= j and a[i] < pivot:
            i += 1
        while i <= j and a[j] >= pivot:
            j -= 1
        if i < j:
            t = a[i]
            a[i] = a[j]
            a[j] = t
            i += 1
            j -= 1
    return i


def common_subsequence(a, b, table):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            if a[i] == b[j]:
                table[i + 1, j + 1] = table[i, j] + 1
            else:
                table[i + 1, j + 1] = max(table[i, j + 1], table[i + 1, j])
    return table[a.shape[0], b.shape[0]]


def coin_change(coins, ways):
    for v in range(ways.shape[0]):
        ways[v] = 0
    ways[0] = 1
    for k in range(coins.shape[0]):
        c = coins[k]
        for v in range(c, ways.shape[0]):
            ways[v] += ways[v - c]
    return ways[-1]


def hex_encode(data, digits, out):
    for i in range(data.shape[0]):
        out[2 * i] = digits[data[i] >> 4]
        out[2 * i + 1] = digits[data[i] & 15]


def parse_numbers(text, out):
    n = 0
    value = 0
    open_ = False
    for i in range(text.shape[0]):
        c = text[i]
        if 48 <= c <= 57:
            value = value * 10 + (c - 48)
            open_ = True
        elif open_:
            out[n] = value
            n += 1
            value = 0
            open_ = False
    return n


def totients(phi):
    n = phi.shape[0]
    for i in range(n):
        phi[i] = i
    for p in range(2, n):
        if phi[p] == p:
            for k in range(p, n, p):
                phi[k] -= phi[k] // p


def palindromes(limit):
    count = 0
    for i in range(limit):
        n = i
        r = 0
        while n:
            r = r * 10 + n % 10
            n //= 10
        if r == i:
            count += 1
    return count


def covariance(data, out):
    n, m = data.shape
    for j in range(m):
        for k in range(j, m):
            s = 0.0
            for i in range(n):
                s += data[i, j] * data[i, k]
            out[j, k] = s / (n - 1)
            out[k, j] = out[j, k]


def running_median3(a, out):
    for i in range(1, a.shape[0] - 1):
        x = a[i - 1]
        y = a[i]
        z = a[i + 1]
        if x > y:
            x, y = y, x
        if y > z:
            y = z
        out[i] = x if x > y else y


def lcg_pi(n):
    state = 12345
    hits = 0
    for i in range(n):
        state = (1103515245 * state + 12345) % 2147483648
        x = state / 2147483648
        state = (1103515245 * state + 12345) % 2147483648
        y = state / 2147483648
        if x * x + y * y < 1.0:
            hits += 1
    return hits


def fft(re, im):
    n = re.shape[0]
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            re[i], re[j] = re[j], re[i]
            im[i], im[j] = im[j], im[i]
    size = 2
    while size <= n:
        half = size // 2
        cr = np.cos(6.283185307179586 / size)
        ci = np.sin(6.283185307179586 / size)
        for start in range(0, n, size):
            wr = 1.0
            wi = 0.0
            for k in range(half):
                p = start + k
                q = p + half
                xr = re[q] * wr - im[q] * wi
                xi = re[q] * wi + im[q] * wr
                re[q] = (re[p] - xr) * 0.5
                im[q] = (im[p] - xi) * 0.5
                re[p] = (re[p] + xr) * 0.5
                im[p] = (im[p] + xi) * 0.5
                t = wr * cr - wi * ci
                wi = wr * ci + wi * cr
                wr = t
        size *= 2


def in_polygon(px, py, xs, ys, out):
    n = xs.shape[0]
    for p in range(px.shape[0]):
        inside = False
        j = n - 1
        for i in range(n):
            if (ys[i] > py[p]) != (ys[j] > py[p]):
                if px[p] < (xs[j] - xs[i]) * (py[p] - ys[i]) / (ys[j] - ys[i]) + xs[i]:
                    inside = not inside
            j = i
        out[p] = inside


def option_tree(values, steps, up, rate, strike):
    down = 1.0 / up
    p = (rate - down) / (up - down)
    price = 100.0
    for i in range(steps):
        price *= down
    for i in range(steps + 1):
        values[i] = max(0.0, price - strike)
        price *= up * up
    for t in range(steps, 0, -1):
        for i in range(t):
            values[i] = (p * values[i + 1] + (1.0 - p) * values[i]) / rate
    return values[0]


def draw_down(prices):
    top = prices[0]
    worst = 0.0
    for i in range(1, prices.shape[0]):
        if prices[i] > top:
            top = prices[i]
        elif (top - prices[i]) / top > worst:
            worst = (top - prices[i]) / top
    return worst


CASES = {
    "lu_factor": (lu_factor, lambda r: (r.random((64, 64)) + 9 * np.eye(64), np.zeros((64, 64))), None),
    "rank_one": (rank_one, lambda r: (r.random((120, 120)), r.random(120), r.random(120), 1e-9), None),
    "upwind": (upwind, lambda r: (r.random(8192), r.random(8192) - 0.5, np.zeros(8192)), None),
    "red_black": (red_black, lambda r: (r.random((96, 96)),), None),
    "box_blur": (box_blur, lambda r: (r.integers(0, 256, (64, 64)), np.zeros((64, 64), np.int64)), None),
    "bilinear": (bilinear, lambda r: (r.random((40, 40)), np.zeros((96, 96))), None),
    "bellman_ford": (bellman_ford, lambda r: (r.integers(0, 300, 2000), r.integers(0, 300, 2000), r.random(2000), np.zeros(300), 6), None),
    "partition": (partition, lambda r: (r.random(8192), np.zeros(8192), 0.5), "i"),
    "common_subsequence": (common_subsequence, lambda r: (r.integers(0, 4, 120), r.integers(0, 4, 120), np.zeros((121, 121), np.int64)), "i"),
    "coin_change": (coin_change, lambda r: (np.array([1, 2, 5, 10, 20, 50, 100, 200]), np.zeros(2001, np.int64)), "i"),
    "hex_encode": (hex_encode, lambda r: (r.integers(0, 256, 4096).astype("u1"), np.frombuffer(b"0123456789abcdef", "u1").copy(),
                                          np.zeros(8192, "u1")), None),
    "parse_numbers": (parse_numbers, lambda r: (np.where(r.random(8192) < 0.25, 32, r.integers(48, 58, 8192)).astype("u1"),
                                                np.zeros(8192, np.int64)), "i"),
    "totients": (totients, lambda r: (np.zeros(4000, np.int64),), None),
    "palindromes": (palindromes, lambda r: (10000,), "i"),
    "covariance": (covariance, lambda r: (r.random((200, 12)), np.zeros((12, 12))), None),
    "running_median3": (running_median3, lambda r: (r.random(8192), np.zeros(8192)), None),
    "lcg_pi": (lcg_pi, lambda r: (5000,), "i"),
    "fft": (fft, lambda r: (r.random(1024), r.random(1024)), None),
    "in_polygon": (in_polygon, lambda r: (r.random(300), r.random(300), r.random(30), r.random(30), np.zeros(300, np.int64)), None),
    "option_tree": (option_tree, lambda r: (np.zeros(201), 200, 1.02, 1.0005, 95.0), "d"),
    "draw_down": (draw_down, lambda r: (r.random(8192) + 5.0,), "d"),
    **unseen_more.CASES,
}
