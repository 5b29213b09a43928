"""The sixth part of seen.py: 14 kernels after loops that were slower than C in two sets whose authors had not read the passes: backtracking,
boards, geometry, parsing, graphs, signals, particles, sorting, images, number theory. seen_sixth.h has the same in C."""
import numpy as np


def sudoku(grid, cells, rows, columns, boxes, tried):
    n = 0
    for r in range(9):
        rows[r] = 0
        columns[r] = 0
        boxes[r] = 0
    for cell in range(81):
        r = cell // 9
        c = cell % 9
        v = grid[cell]
        if v > 0:
            bit = 1 << (v - 1)
            rows[r] |= bit
            columns[c] |= bit
            boxes[r // 3 * 3 + c // 3] |= bit
        else:
            cells[n] = cell
            tried[n] = 0
            n += 1
    steps = 0
    k = 0
    while k >= 0 and k < n:
        steps += 1
        cell = cells[k]
        r = cell // 9
        c = cell % 9
        b = r // 3 * 3 + c // 3
        v = tried[k]
        if v > 0:
            bit = 1 << (v - 1)
            rows[r] ^= bit
            columns[c] ^= bit
            boxes[b] ^= bit
        used = rows[r] | columns[c] | boxes[b]
        v += 1
        while v <= 9 and (used >> (v - 1)) & 1:
            v += 1
        if v > 9:
            tried[k] = 0
            k -= 1
        else:
            bit = 1 << (v - 1)
            rows[r] |= bit
            columns[c] |= bit
            boxes[b] |= bit
            tried[k] = v
            k += 1
    return steps


def run_of(board, r, c, dr, dc, player):
    count = 0
    r += dr
    c += dc
    while r >= 0 and r < 6 and c >= 0 and c < 7 and board[r, c] == player:
        count += 1
        r += dr
        c += dc
    return count


def connect_four(moves, board, heights):
    wins = 0
    for g in range(moves.shape[0]):
        for r in range(6):
            for c in range(7):
                board[r, c] = 0
        for c in range(7):
            heights[c] = 0
        player = 1
        for m in range(moves.shape[1]):
            c = moves[g, m]
            r = heights[c]
            if r >= 6:
                continue
            board[r, c] = player
            heights[c] = r + 1
            won = False
            for d in range(4):
                dr = 0 if d == 0 else 1
                dc = 1 if d == 0 else d - 2
                if run_of(board, r, c, dr, dc, player) + run_of(board, r, c, -dr, -dc, player) >= 3:
                    won = True
                    break
            if won:
                wins += player
                break
            player = 3 - player
    return wins


def turn(points, a, b, c):
    return (points[b, 0] - points[a, 0]) * (points[c, 1] - points[a, 1]) - (points[b, 1] - points[a, 1]) * (points[c, 0] - points[a, 0])


def monotone_chain(points, chain):
    n = len(points)
    k = 0
    for i in range(n):
        while k >= 2 and turn(points, chain[k - 2], chain[k - 1], i) <= 0.0:
            k -= 1
        chain[k] = i
        k += 1
    low = k + 1
    for i in range(n - 2, -1, -1):
        while k >= low and turn(points, chain[k - 2], chain[k - 1], i) <= 0.0:
            k -= 1
        chain[k] = i
        k += 1
    return k - 1


def cyk_parse(word, terminals, left, right, result, table):
    n = len(word)
    rules = len(left)
    for i in range(n):
        table[0, i] = terminals[word[i]]
    for length in range(2, n + 1):
        for start in range(n - length + 1):
            mask = 0
            for split in range(1, length):
                a = table[split - 1, start]
                b = table[length - split - 1, start + split]
                if a == 0 or b == 0:
                    continue
                for r in range(rules):
                    if (a >> left[r]) & 1 and (b >> right[r]) & 1:
                        mask |= 1 << result[r]
            table[length - 1, start] = mask
    return table[n - 1, 0]


def kahn_levels(indptr, indices, degree, level, queue):
    n = len(level)
    for v in range(n):
        degree[v] = 0
        level[v] = 0
    for e in range(len(indices)):
        degree[indices[e]] += 1
    tail = 0
    for v in range(n):
        if degree[v] == 0:
            queue[tail] = v
            tail += 1
    head = 0
    deepest = 0
    while head < tail:
        u = queue[head]
        head += 1
        below = level[u] + 1
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if below > level[v]:
                level[v] = below
            degree[v] -= 1
            if degree[v] == 0:
                queue[tail] = v
                tail += 1
        if below > deepest:
            deepest = below
    return deepest


def wavelet_lifting(signal, x, scratch, levels):
    n = len(signal)
    for i in range(n):
        x[i] = signal[i]
    for _ in range(levels):
        half = n // 2
        for i in range(half):
            after = x[2 * i + 2] if 2 * i + 2 < n else x[2 * i]
            scratch[half + i] = x[2 * i + 1] - 0.5 * (x[2 * i] + after)
        for i in range(half):
            before = scratch[half + i - 1] if i > 0 else scratch[half]
            scratch[i] = x[2 * i] + 0.25 * (before + scratch[half + i])
        for i in range(n):
            x[i] = scratch[i]
        n = half


def cell_forces(pos, force, head, after, cells, side, cutoff):
    n = len(pos)
    for c in range(cells * cells):
        head[c] = -1
    for i in range(n):
        force[i, 0] = 0.0
        force[i, 1] = 0.0
        c = int(pos[i, 1] / side * cells) * cells + int(pos[i, 0] / side * cells)
        after[i] = head[c]
        head[c] = i
    energy = 0.0
    for cy in range(cells):
        for cx in range(cells):
            i = head[cy * cells + cx]
            while i >= 0:
                for dy in range(-1, 2):
                    for dx in range(-1, 2):
                        j = head[(cy + dy) % cells * cells + (cx + dx) % cells]
                        while j >= 0:
                            if j < i:
                                x = pos[i, 0] - pos[j, 0]
                                y = pos[i, 1] - pos[j, 1]
                                x -= side * round(x / side)
                                y -= side * round(y / side)
                                r2 = x * x + y * y
                                if r2 < cutoff * cutoff and r2 > 0.0:
                                    s = 1.0 / (r2 * r2 * r2)
                                    f = (48.0 * s * s - 24.0 * s) / r2
                                    force[i, 0] += f * x
                                    force[i, 1] += f * y
                                    force[j, 0] -= f * x
                                    force[j, 1] -= f * y
                                    energy += 4.0 * s * (s - 1.0)
                            j = after[j]
                i = after[i]
    return energy


def radix_argsort(keys, order, other, counts):
    n = len(keys)
    for i in range(n):
        order[i] = i
    for shift in range(0, 32, 8):
        for d in range(257):
            counts[d] = 0
        for i in range(n):
            counts[((keys[i] >> shift) & 255) + 1] += 1
        for d in range(256):
            counts[d + 1] += counts[d]
        for i in range(n):
            d = (keys[order[i]] >> shift) & 255
            other[counts[d]] = order[i]
            counts[d] += 1
        for i in range(n):
            order[i] = other[i]


def hough_lines(edges, sines, cosines, votes):
    h, w = edges.shape
    angles = len(sines)
    far = votes.shape[1] // 2
    for t in range(votes.shape[0]):
        for r in range(votes.shape[1]):
            votes[t, r] = 0
    for y in range(h):
        for x in range(w):
            if edges[y, x] > 0:
                for t in range(angles):
                    r = int(x * cosines[t] + y * sines[t]) + far
                    votes[t, r] += 1


def chain_order(sizes, cost, split):
    n = len(sizes) - 1
    for i in range(n):
        cost[i, i] = 0
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            best = 1 << 60
            at = i
            for k in range(i, j):
                c = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if c < best:
                    best = c
                    at = k
            cost[i, j] = best
            split[i, j] = at
    return cost[0, n - 1]


def parse_decimals(text, out):
    k = 0
    value = 0
    places = 0
    negative = False
    point = False
    for i in range(len(text)):
        c = text[i]
        if c >= 48 and c <= 57:
            value = value * 10 + (c - 48)
            if point:
                places += 1
        elif c == 46:
            point = True
        elif c == 45:
            negative = True
        else:
            x = float(value)
            while places > 0:
                x *= 0.1
                places -= 1
            out[k] = -x if negative else x
            k += 1
            value = 0
            negative = False
            point = False
    return k


def totients_linear(phi, primes):
    n = len(phi)
    for i in range(n):
        phi[i] = 0
    phi[1] = 1
    count = 0
    total = 1
    for i in range(2, n):
        if phi[i] == 0:
            phi[i] = i - 1
            primes[count] = i
            count += 1
        total += phi[i]
        for j in range(count):
            p = primes[j]
            if i * p >= n:
                break
            if i % p == 0:
                phi[i * p] = phi[i] * p
                break
            phi[i * p] = phi[i] * (p - 1)
    return total


def clipped_areas(polygons, counts, xmin, ymin, xmax, ymax, a, b, areas):
    for g in range(len(counts)):
        n = counts[g]
        for i in range(n):
            a[i, 0] = polygons[g, i, 0]
            a[i, 1] = polygons[g, i, 1]
        for side in range(4):
            axis = side % 2
            limit = xmin
            if side == 1:
                limit = ymin
            elif side == 2:
                limit = xmax
            elif side == 3:
                limit = ymax
            sign = 1.0 if side < 2 else -1.0
            m = 0
            for i in range(n):
                j = i + 1 if i + 1 < n else 0
                u = sign * (a[i, axis] - limit)
                v = sign * (a[j, axis] - limit)
                if u >= 0.0:
                    b[m, 0] = a[i, 0]
                    b[m, 1] = a[i, 1]
                    m += 1
                if (u >= 0.0) != (v >= 0.0):
                    t = u / (u - v)
                    b[m, 0] = a[i, 0] + t * (a[j, 0] - a[i, 0])
                    b[m, 1] = a[i, 1] + t * (a[j, 1] - a[i, 1])
                    m += 1
            for i in range(m):
                a[i, 0] = b[i, 0]
                a[i, 1] = b[i, 1]
            n = m
        area = 0.0
        for i in range(n):
            j = i + 1 if i + 1 < n else 0
            area += a[i, 0] * a[j, 1] - a[j, 0] * a[i, 1]
        areas[g] = 0.5 * area


def points_in_polygon(points, polygon, inside):
    n = len(polygon)
    for k in range(len(points)):
        x = points[k, 0]
        y = points[k, 1]
        odd = False
        j = n - 1
        for i in range(n):
            if (polygon[i, 1] > y) != (polygon[j, 1] > y):
                if x < (polygon[j, 0] - polygon[i, 0]) * (y - polygon[i, 1]) / (polygon[j, 1] - polygon[i, 1]) + polygon[i, 0]:
                    odd = not odd
            j = i
        inside[k] = odd


def _ints(*shape):
    return np.zeros(shape, np.int64)


_GRID = "530070000600195000098000060800060003400803001700020006060000280000419005000080079"


def _board(r):
    return np.array([int(c) for c in _GRID], np.int64), _ints(81), _ints(9), _ints(9), _ints(9), _ints(81)


def _sorted_points(r, n):
    points = r.normal(0, 1, (n, 2))
    return points[np.lexsort((points[:, 1], points[:, 0]))].copy(), _ints(2 * n)


def _dag(r, n, edges):
    a, b = r.integers(0, n, edges), r.integers(0, n, edges)
    low, high = np.minimum(a, b), np.maximum(a, b)
    low, high = low[low < high], high[low < high]
    by = np.argsort(low, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(low, minlength=n))]).astype(np.int64)
    return indptr, high[by].copy(), _ints(n), _ints(n), _ints(n)


def _edges(r):
    return (r.random((64, 64)) < 0.06).astype("u1"), np.sin(np.arange(90) * np.pi / 90), np.cos(np.arange(90) * np.pi / 90), _ints(90, 200)


def _decimals(r, n):
    numbers = [f"{v:.{p}f}" for v, p in zip(r.normal(0, 300, n), r.integers(0, 5, n), strict=True)]
    return np.frombuffer((" ".join(numbers) + " ").encode(), "u1").copy(), np.zeros(n + 10)


def _polygons(r, n, corners):
    angles = np.sort(r.random((n, corners)) * 2 * np.pi, axis=1)
    return np.stack([np.cos(angles), np.sin(angles)], axis=2) * 1.2 + r.normal(0, 0.3, (n, 1, 2))


CASES = {
    "sudoku": (sudoku, _board, "i"),
    "connect_four": (connect_four, lambda r: (r.integers(0, 7, (100, 42)), np.zeros((6, 7), np.int8), _ints(7)), "i"),
    "monotone_chain": (monotone_chain, lambda r: _sorted_points(r, 2000), "i"),
    "cyk_parse": (cyk_parse, lambda r: (r.integers(0, 3, 32), np.array([1, 2, 4]), r.integers(0, 6, 12), r.integers(0, 6, 12), r.integers(0, 6, 12),
                                        _ints(32, 32)), "i"),
    "kahn_levels": (kahn_levels, lambda r: _dag(r, 1000, 5000), "i"),
    "wavelet_lifting": (wavelet_lifting, lambda r: (r.random(4096), np.zeros(4096), np.zeros(4096), 6), None),
    "cell_forces": (cell_forces, lambda r: (r.random((300, 2)) * 20.0, np.zeros((300, 2)), _ints(64), _ints(300), 8, 20.0, 2.5), "d"),
    "radix_argsort": (radix_argsort, lambda r: (r.integers(0, 2**32, 4096), _ints(4096), _ints(4096), _ints(257)), None),
    "hough_lines": (hough_lines, _edges, None),
    "chain_order": (chain_order, lambda r: (r.integers(5, 50, 49), _ints(48, 48), _ints(48, 48)), "i"),
    "parse_decimals": (parse_decimals, lambda r: _decimals(r, 1500), "i"),
    "totients_linear": (totients_linear, lambda r: (_ints(10000), _ints(2000)), "i"),
    "clipped_areas": (clipped_areas, lambda r: (_polygons(r, 200, 12), np.full(200, 12), -0.8, -0.7, 0.9, 0.6, np.zeros((40, 2)), np.zeros((40, 2)),
                                                np.zeros(200)), None),
    "points_in_polygon": (points_in_polygon, lambda r: (r.normal(0, 1, (1000, 2)), _polygons(r, 1, 40)[0].copy(), np.zeros(1000, np.bool_)), None),
}
