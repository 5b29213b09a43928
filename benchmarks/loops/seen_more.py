"""The second part of seen.py: 49 kernels of the forms that rules of the passes are about. seen_more.h has the same in C."""
import math

import numpy as np


# -- sorting and searching: indices that only a while test bounds ------------------------------------


def quick_sort(src, a, stack):
    n = src.shape[0]
    for i in range(n):
        a[i] = src[i]
    stack[0] = 0
    stack[1] = n - 1
    top = 2
    while top > 0:
        top -= 2
        low = stack[top]
        high = stack[top + 1]
        while low < high:
            pivot = a[(low + high) // 2]
            i = low
            j = high
            while i <= j:
                while a[i] < pivot:
                    i += 1
                while a[j] > pivot:
                    j -= 1
                if i <= j:
                    t = a[i]
                    a[i] = a[j]
                    a[j] = t
                    i += 1
                    j -= 1
            if i < high:
                stack[top] = i
                stack[top + 1] = high
                top += 2
            high = j


def heap_queue(keys, heap):
    size = 0
    total = 0.0
    for k in range(keys.shape[0]):
        i = size
        size += 1
        heap[i] = keys[k]
        while i > 0 and heap[(i - 1) // 2] > heap[i]:
            parent = (i - 1) // 2
            t = heap[i]
            heap[i] = heap[parent]
            heap[parent] = t
            i = parent
    while size > 0:
        total = total * 0.5 + heap[0]
        size -= 1
        heap[0] = heap[size]
        i = 0
        while 2 * i + 1 < size:
            child = 2 * i + 1
            if child + 1 < size and heap[child + 1] < heap[child]:
                child += 1
            if heap[i] <= heap[child]:
                break
            t = heap[i]
            heap[i] = heap[child]
            heap[child] = t
            i = child
    return total


def two_pointers(a, target):
    i = 0
    j = a.shape[0] - 1
    pairs = 0
    while i < j:
        s = a[i] + a[j]
        if s == target:
            pairs += 1
            i += 1
            j -= 1
        elif s < target:
            i += 1
        else:
            j -= 1
    return pairs


def merge_sorted(a, b, out):
    i = 0
    j = 0
    k = 0
    while i < a.shape[0] and j < b.shape[0]:
        if a[i] <= b[j]:
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
        k += 1
    while i < a.shape[0]:
        out[k] = a[i]
        i += 1
        k += 1
    while j < b.shape[0]:
        out[k] = b[j]
        j += 1
        k += 1


def shell_sort(src, a):
    n = src.shape[0]
    for i in range(n):
        a[i] = src[i]
    gap = n // 2
    while gap > 0:
        for i in range(gap, n):
            v = a[i]
            j = i
            while j >= gap and a[j - gap] > v:
                a[j] = a[j - gap]
                j -= gap
            a[j] = v
        gap //= 2


# -- image ---------------------------------------------------------------------------------------------


def integral_image(a, s):
    h, w = a.shape
    for y in range(h):
        for x in range(w):
            v = a[y, x]
            if y > 0:
                v += s[y - 1, x]
            if x > 0:
                v += s[y, x - 1]
            if y > 0 and x > 0:
                v -= s[y - 1, x - 1]
            s[y, x] = v


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
            bottom = img[y0 + 1, x0] * (1.0 - tx) + img[y0 + 1, x0 + 1] * tx
            out[y, x] = top * (1.0 - ty) + bottom * ty


def dilate(img, out, radius):
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            m = img[y, x]
            for dy in range(-radius, radius + 1):
                for dx in range(-radius, radius + 1):
                    yy = min(max(y + dy, 0), h - 1)
                    xx = min(max(x + dx, 0), w - 1)
                    if img[yy, xx] > m:
                        m = img[yy, xx]
            out[y, x] = m


def convolve_mode(a, kernel, out, clamp, scale):
    h, w = a.shape
    kh, kw = kernel.shape
    for y in range(h):
        for x in range(w):
            s = 0.0
            for i in range(kh):
                for j in range(kw):
                    yy = y + i - kh // 2
                    xx = x + j - kw // 2
                    if 0 <= yy < h and 0 <= xx < w:
                        s += a[yy, xx] * kernel[i, j]
                    elif clamp:
                        s += a[min(max(yy, 0), h - 1), min(max(xx, 0), w - 1)] * kernel[i, j]
            out[y, x] = s * scale


def threshold_mode(a, out, mode, level):
    for i in range(a.shape[0]):
        if mode == 0:
            out[i] = 1.0 if a[i] > level else 0.0
        elif mode == 1:
            out[i] = a[i] if a[i] > level else 0.0
        else:
            out[i] = min(a[i], level)


def flood_fill(grid, stack):
    h, w = grid.shape
    for y in range(h):
        for x in range(w):
            if grid[y, x] == 2:
                grid[y, x] = 0
    top = 1
    stack[0] = 0
    count = 0
    grid[0, 0] = 2
    while top > 0:
        top -= 1
        p = stack[top]
        y = p // w
        x = p % w
        count += 1
        if y > 0 and grid[y - 1, x] == 0:
            grid[y - 1, x] = 2
            stack[top] = p - w
            top += 1
        if y + 1 < h and grid[y + 1, x] == 0:
            grid[y + 1, x] = 2
            stack[top] = p + w
            top += 1
        if x > 0 and grid[y, x - 1] == 0:
            grid[y, x - 1] = 2
            stack[top] = p - 1
            top += 1
        if x + 1 < w and grid[y, x + 1] == 0:
            grid[y, x + 1] = 2
            stack[top] = p + 1
            top += 1
    return count


# -- linear algebra, sparse matrices, stencils ----------------------------------------------------------


def gemm_rows(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            C[i][j] = 0.0
        for k in range(A.shape[1]):
            for j in range(B.shape[1]):
                C[i][j] += A[i][k] * B[k][j]


def lu(src, a):
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            a[i, j] = src[i, j]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            f = a[i, k]
            for j in range(k + 1, n):
                a[i, j] -= f * a[k, j]


def gram_schmidt(src, q):
    n, m = src.shape
    for i in range(n):
        for j in range(m):
            q[i, j] = src[i, j]
    for i in range(n):
        for k in range(i):
            s = 0.0
            for j in range(m):
                s += q[i, j] * q[k, j]
            for j in range(m):
                q[i, j] -= s * q[k, j]
        s = 0.0
        for j in range(m):
            s += q[i, j] * q[i, j]
        s = 1.0 / math.sqrt(s)
        for j in range(m):
            q[i, j] *= s


def jacobi_csr(indptr, indices, data, b, x, out):
    for i in range(indptr.shape[0] - 1):
        s = b[i]
        d = 1.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if j == i:
                d = data[k]
            else:
                s -= data[k] * x[j]
        out[i] = s / d


def spmm(indptr, indices, data, X, Y):
    for i in range(indptr.shape[0] - 1):
        for c in range(X.shape[1]):
            Y[i, c] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            for c in range(X.shape[1]):
                Y[i, c] += data[k] * X[j, c]


def red_black(u, f, omega, sweeps):
    h, w = u.shape
    for s in range(sweeps):
        for color in range(2):
            for i in range(1, h - 1):
                for j in range(1 + (i + color) % 2, w - 1, 2):
                    r = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j] - f[i, j]
                    u[i, j] += omega * 0.25 * r


def tridiagonal(a, b, c, d, x, work):
    n = b.shape[0]
    w = b[0]
    x[0] = d[0] / w
    for i in range(1, n):
        work[i] = c[i - 1] / w
        w = b[i] - a[i] * work[i]
        x[i] = (d[i] - a[i] * x[i - 1]) / w
    for i in range(1, n):
        j = n - 1 - i
        x[j] -= work[j + 1] * x[j + 1]


def advect(u, v, steps):
    n = u.shape[0]
    for t in range(steps):
        for i in range(n):
            v[i] = u[i] - 0.4 * (u[i] - u[(i - 1) % n])
        for i in range(n):
            u[i] = 0.5 * v[i] + 0.25 * (v[(i + 1) % n] + v[i - 1])


# -- graphs ----------------------------------------------------------------------------------------------


def union_find(edges, parent):
    n = parent.shape[0]
    for i in range(n):
        parent[i] = i
    sets = n
    for e in range(edges.shape[0]):
        a = edges[e, 0]
        b = edges[e, 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b:
            parent[a] = b
            sets -= 1
    return sets


def bellman_ford(source, target, weight, dist, rounds):
    for i in range(dist.shape[0]):
        dist[i] = 1e300
    dist[0] = 0.0
    for r in range(rounds):
        for e in range(source.shape[0]):
            d = dist[source[e]] + weight[e]
            if d < dist[target[e]]:
                dist[target[e]] = d


def dijkstra_dense(cost, dist, done):
    n = cost.shape[0]
    for i in range(n):
        dist[i] = 1e300
        done[i] = 0
    dist[0] = 0.0
    for r in range(n):
        best = 1e301
        at = 0
        for i in range(n):
            if not done[i] and dist[i] < best:
                best = dist[i]
                at = i
        done[at] = 1
        for i in range(n):
            d = best + cost[at, i]
            if d < dist[i]:
                dist[i] = d


def bfs_csr(indptr, indices, dist, queue):
    for i in range(dist.shape[0]):
        dist[i] = -1
    dist[0] = 0
    queue[0] = 0
    head = 0
    tail = 1
    while head < tail:
        u = queue[head]
        head += 1
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                queue[tail] = v
                tail += 1
    return tail


# -- dynamic programming, strings ----------------------------------------------------------------------


def alignment(a, b, score):
    n = a.shape[0]
    m = b.shape[0]
    for i in range(n + 1):
        score[i, 0] = -2 * i
    for j in range(m + 1):
        score[0, j] = -2 * j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = score[i - 1, j - 1] + (1 if a[i - 1] == b[j - 1] else -1)
            best = max(best, score[i - 1, j] - 2)
            score[i, j] = max(best, score[i, j - 1] - 2)
    return score[n, m]


def matrix_chain(p, cost):
    n = p.shape[0] - 1
    for i in range(n):
        cost[i, i] = 0
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = 1 << 60
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if c < best:
                    best = c
            cost[i, j] = best
    return cost[0, n - 1]


def coin_change(coins, ways):
    for k in range(ways.shape[0]):
        ways[k] = 0
    ways[0] = 1
    for c in range(coins.shape[0]):
        coin = coins[c]
        for k in range(coin, ways.shape[0]):
            ways[k] += ways[k - coin]
    return ways[ways.shape[0] - 1]


def prefix_function(s, pi):
    pi[0] = 0
    k = 0
    for i in range(1, s.shape[0]):
        while k > 0 and s[k] != s[i]:
            k = pi[k - 1]
        if s[k] == s[i]:
            k += 1
        pi[i] = k


def rolling_hash(text, m):
    power = 1
    for i in range(m - 1):
        power = power * 257 % 1000003
    h = 0
    for i in range(m):
        h = (h * 257 + text[i]) % 1000003
    hits = 0
    for i in range(m, text.shape[0]):
        h = (h - text[i - m] * power) % 1000003
        h = (h * 257 + text[i]) % 1000003
        if h < 40000:
            hits += 1
    return hits


def base64(data, table, out):
    k = 0
    for i in range(0, data.shape[0] - 2, 3):
        v = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2]
        out[k] = table[v >> 18]
        out[k + 1] = table[(v >> 12) & 63]
        out[k + 2] = table[(v >> 6) & 63]
        out[k + 3] = table[v & 63]
        k += 4
    return k


# -- number theory ---------------------------------------------------------------------------------------


def trial_division(limit):
    primes = 0
    for n in range(2, limit):
        d = 2
        prime = True
        while d * d <= n:
            if n % d == 0:
                prime = False
                break
            d += 1
        if prime:
            primes += 1
    return primes


def totients(phi):
    n = phi.shape[0]
    for i in range(n):
        phi[i] = i
    for p in range(2, n):
        if phi[p] == p:
            for k in range(p, n, p):
                phi[k] -= phi[k] // p


def weekdays(days, count):
    for k in range(7):
        count[k] = 0
    for i in range(days.shape[0]):
        count[(days[i] + 3) % 7] += days[i] // 7


def lcg(n, seed):
    x = seed
    inside = 0
    for i in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
        a = x / 2147483648
        x = (x * 1103515245 + 12345) % 2147483648
        b = x / 2147483648
        if a * a + b * b < 1.0:
            inside += 1
    return inside


# -- finance, statistics, simulation ---------------------------------------------------------------------


def option_tree(spot, strike, up, rate, steps, value):
    down = 1.0 / up
    p = (math.exp(rate) - down) / (up - down)
    for i in range(steps + 1):
        value[i] = max(spot * up ** (2 * i - steps) - strike, 0.0)
    for t in range(steps - 1, -1, -1):
        for i in range(t + 1):
            value[i] = math.exp(-rate) * (p * value[i + 1] + (1.0 - p) * value[i])
    return value[0]


def annuity(rates, payments, out):
    for i in range(rates.shape[0]):
        v = 0.0
        for t in range(payments.shape[0]):
            v += payments[t] / (1.0 + rates[i]) ** (t + 1)
        out[i] = v


def drawdown(prices):
    peak = prices[0]
    worst = 0.0
    for i in range(prices.shape[0]):
        if prices[i] > peak:
            peak = prices[i]
        fall = (peak - prices[i]) / peak
        if fall > worst:
            worst = fall
    return worst


def covariance(x, c):
    n, m = x.shape
    for a in range(m):
        for b in range(a, m):
            ma = 0.0
            mb = 0.0
            for i in range(n):
                ma += x[i, a]
                mb += x[i, b]
            ma /= n
            mb /= n
            s = 0.0
            for i in range(n):
                s += (x[i, a] - ma) * (x[i, b] - mb)
            c[a, b] = s / (n - 1)
            c[b, a] = c[a, b]


def moving_average(a, k, out):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        if i >= k:
            s -= a[i - k]
        out[i] = s / min(i + 1, k)


def deposit(position, charge, grid):
    n = grid.shape[0] - 1
    for k in range(grid.shape[0]):
        grid[k] = 0.0
    for p in range(position.shape[0]):
        x = position[p] * n
        x0 = int(x)
        t = x - x0
        grid[x0] += (1.0 - t) * charge[p]
        grid[x0 + 1] += t * charge[p]


def neighbour_forces(first, second, x, y, z, force):
    for i in range(force.shape[0]):
        force[i] = 0.0
    for k in range(first.shape[0]):
        i = first[k]
        j = second[k]
        dx = x[i] - x[j]
        dy = y[i] - y[j]
        dz = z[i] - z[j]
        f = 1.0 / (1.0 + dx * dx + dy * dy + dz * dz)
        force[i] += f
        force[j] -= f


def lennard_jones(x, y, z):
    e = 0.0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            dz = z[i] - z[j]
            r = 1.0 / (dx * dx + dy * dy + dz * dz)
            r3 = r * r * r
            e += r3 * r3 - r3
    return e


# -- signal ------------------------------------------------------------------------------------------------


def fft(src, a):
    n = src.shape[0]
    bits = 0
    while 1 << bits < n:
        bits += 1
    for i in range(n):
        r = 0
        for b in range(bits):
            r |= ((i >> b) & 1) << (bits - 1 - b)
        a[r] = src[i]
    size = 2
    while size <= n:
        half = size // 2
        step = complex(math.cos(2 * math.pi / size), -math.sin(2 * math.pi / size))
        for start in range(0, n, size):
            w = 1.0 + 0.0j
            for k in range(half):
                t = w * a[start + k + half]
                a[start + k + half] = a[start + k] - t
                a[start + k] += t
                w *= step
        size *= 2


def complex_axpy(x, y, c):
    for i in range(x.shape[0]):
        y[i] = y[i] * 0.5 + c * x[i]


def autocorrelation(a, out):
    n = a.shape[0]
    for lag in range(out.shape[0]):
        s = 0.0
        for i in range(n - lag):
            s += a[i] * a[i + lag]
        out[lag] = s


def haar(src, a, work, levels):
    n = a.shape[0]
    for i in range(n):
        a[i] = src[i]
    for level in range(levels):
        half = n // 2
        for i in range(half):
            work[i] = (a[2 * i] + a[2 * i + 1]) * 0.5
            work[half + i] = (a[2 * i] - a[2 * i + 1]) * 0.5
        for i in range(n):
            a[i] = work[i]
        n = half


# -- geometry ----------------------------------------------------------------------------------------------


def inside_polygon(px, py, xs, ys):
    count = 0
    n = xs.shape[0]
    for p in range(px.shape[0]):
        inside = False
        j = n - 1
        for i in range(n):
            if (ys[i] > py[p]) != (ys[j] > py[p]) and \
                    px[p] < (xs[j] - xs[i]) * (py[p] - ys[i]) / (ys[j] - ys[i]) + xs[i]:
                inside = not inside
            j = i
        if inside:
            count += 1
    return count


def closest_pair(xs, ys):
    best = 1e300
    for i in range(xs.shape[0]):
        for j in range(i):
            dx = xs[i] - xs[j]
            dy = ys[i] - ys[j]
            d = dx * dx + dy * dy
            if d < best:
                best = d
    return best


def hull(xs, ys, stack):
    top = 0
    for i in range(xs.shape[0]):
        while top >= 2:
            a = stack[top - 2]
            b = stack[top - 1]
            if (xs[b] - xs[a]) * (ys[i] - ys[a]) - (ys[b] - ys[a]) * (xs[i] - xs[a]) > 0.0:
                break
            top -= 1
        stack[top] = i
        top += 1
    return top


def safe_ratios(a, b, out):
    try:
        for i in range(a.shape[0]):
            out[i] = a[i] * 2.0 - b[i]
        s = 0.0
        for i in range(1, a.shape[0]):
            s += out[i] * out[i - 1]
        return s
    except IndexError:
        return 0.0


def _csr(r, n, per):
    return np.arange(0, n * per + 1, per), r.integers(0, n, n * per), r.random(n), np.zeros(n)


CASES = {
    "quick_sort": (quick_sort, lambda r: (r.random(2048), np.zeros(2048), np.zeros(200, np.int64)), None),
    "heap_queue": (heap_queue, lambda r: (r.random(2048), np.zeros(2048)), "d"),
    "two_pointers": (two_pointers, lambda r: (np.sort(r.integers(0, 100000, 8192)), 100000), "i"),
    "merge_sorted": (merge_sorted, lambda r: (np.sort(r.random(4000)), np.sort(r.random(5000)), np.zeros(9000)), None),
    "shell_sort": (shell_sort, lambda r: (r.random(2048), np.zeros(2048)), None),
    "integral_image": (integral_image, lambda r: (r.random((96, 96)), np.zeros((96, 96))), None),
    "bilinear": (bilinear, lambda r: (r.random((48, 48)), np.zeros((80, 80))), None),
    "dilate": (dilate, lambda r: (r.integers(0, 256, (48, 48)).astype("u1"), np.zeros((48, 48), "u1"), 2), None),
    "convolve_mode": (convolve_mode, lambda r: (r.random((48, 48)), r.random((5, 5)), np.zeros((48, 48)), 1, 0.04), None),
    "threshold_mode": (threshold_mode, lambda r: (r.random(8192), np.zeros(8192), 1, 0.4), None),
    "flood_fill": (flood_fill, lambda r: ((r.random((64, 64)) < 0.25).astype("u1"), np.zeros(8192, np.int64)), "i"),
    "gemm_rows": (gemm_rows, lambda r: (r.random((64, 64)), r.random((64, 64)), np.zeros((64, 64))), None),
    "lu": (lu, lambda r: (r.random((64, 64)) + 64 * np.eye(64), np.zeros((64, 64))), None),
    "gram_schmidt": (gram_schmidt, lambda r: (r.random((32, 128)), np.zeros((32, 128))), None),
    "jacobi_csr": (jacobi_csr, lambda r: (*_csr(r, 1000, 10)[:2], r.random(10000) + 2, r.random(1000), r.random(1000),
                                          np.zeros(1000)), None),
    "spmm": (spmm, lambda r: (*_csr(r, 500, 8)[:2], r.random(4000), r.random((500, 6)), np.zeros((500, 6))), None),
    "red_black": (red_black, lambda r: (r.random((64, 64)), r.random((64, 64)), 1.2, 2), None),
    "tridiagonal": (tridiagonal, lambda r: (r.random(4096), 4 + r.random(4096), r.random(4096), r.random(4096), np.zeros(4096),
                                            np.zeros(4096)), None),
    "advect": (advect, lambda r: (r.random(4096), np.zeros(4096), 2), None),
    "union_find": (union_find, lambda r: (r.integers(0, 2000, (3000, 2)), np.zeros(2000, np.int64)), "i"),
    "bellman_ford": (bellman_ford, lambda r: (r.integers(0, 500, 5000), r.integers(0, 500, 5000), r.random(5000), np.zeros(500), 4),
                     None),
    "dijkstra_dense": (dijkstra_dense, lambda r: (r.random((96, 96)), np.zeros(96), np.zeros(96, "u1")), None),
    "bfs_csr": (bfs_csr, lambda r: (*_csr(r, 1500, 6)[:2], np.zeros(1500, np.int64), np.zeros(1500, np.int64)), "i"),
    "alignment": (alignment, lambda r: (r.integers(0, 4, 150).astype("u1"), r.integers(0, 4, 150).astype("u1"),
                                        np.zeros((151, 151), np.int64)), "i"),
    "matrix_chain": (matrix_chain, lambda r: (r.integers(1, 50, 49), np.zeros((48, 48), np.int64)), "i"),
    "coin_change": (coin_change, lambda r: (np.array([1, 2, 5, 10, 20, 50, 100]), np.zeros(2001, np.int64)), "i"),
    "prefix_function": (prefix_function, lambda r: (r.integers(0, 2, 8192).astype("u1"), np.zeros(8192, np.int64)), None),
    "rolling_hash": (rolling_hash, lambda r: (r.integers(97, 123, 8192).astype("u1"), 12), "i"),
    "base64": (base64, lambda r: (r.integers(0, 256, 6144).astype("u1"), r.integers(0, 256, 64).astype("u1"), np.zeros(8192, "u1")), "i"),
    "trial_division": (trial_division, lambda r: (3000,), "i"),
    "totients": (totients, lambda r: (np.zeros(8192, np.int64),), None),
    "weekdays": (weekdays, lambda r: (r.integers(-10000, 10000, 8192), np.zeros(7, np.int64)), None),
    "lcg": (lcg, lambda r: (4000, 12345), "i"),
    "option_tree": (option_tree, lambda r: (100.0, 95.0, 1.01, 0.0002, 200, np.zeros(201)), "d"),
    "annuity": (annuity, lambda r: (r.random(64) * 0.1, r.random(40), np.zeros(64)), None),
    "drawdown": (drawdown, lambda r: (1 + r.random(8192),), "d"),
    "covariance": (covariance, lambda r: (r.random((200, 12)), np.zeros((12, 12))), None),
    "moving_average": (moving_average, lambda r: (r.random(8192), 20, np.zeros(8192)), None),
    "deposit": (deposit, lambda r: (r.random(8192), r.random(8192), np.zeros(257)), None),
    "neighbour_forces": (neighbour_forces, lambda r: (r.integers(0, 500, 6000), r.integers(0, 500, 6000), r.random(500), r.random(500),
                                                      r.random(500), np.zeros(500)), None),
    "lennard_jones": (lennard_jones, lambda r: (r.random(150), r.random(150), r.random(150)), "d"),
    "fft": (fft, lambda r: (r.random(1024) + 1j * r.random(1024), np.zeros(1024, complex)), None),
    "complex_axpy": (complex_axpy, lambda r: (r.random(4096) + 1j * r.random(4096), np.zeros(4096, complex), 0.3 - 0.8j), None),
    "autocorrelation": (autocorrelation, lambda r: (r.random(1024), np.zeros(64)), None),
    "haar": (haar, lambda r: (r.random(4096), np.zeros(4096), np.zeros(4096), 6), None),
    "inside_polygon": (inside_polygon, lambda r: (r.random(300), r.random(300), r.random(24), r.random(24)), "i"),
    "closest_pair": (closest_pair, lambda r: (r.random(200), r.random(200)), "d"),
    "hull": (hull, lambda r: (np.sort(r.random(4096)), r.random(4096), np.zeros(4096, np.int64)), "i"),
    "safe_ratios": (safe_ratios, lambda r: (r.random(8192), r.random(8192), np.zeros(8192)), "d"),
}
