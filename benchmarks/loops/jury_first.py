"""The first half of the kernels of jury.py."""
import math

import numpy as np


def lloyd_step(points, centers, label, sums, counts):
    n, d = points.shape
    k = centers.shape[0]
    for c in range(k):
        counts[c] = 0
        for j in range(d):
            sums[c, j] = 0.0
    inertia = 0.0
    for i in range(n):
        best = np.inf
        which = 0
        for c in range(k):
            dist = 0.0
            for j in range(d):
                diff = points[i, j] - centers[c, j]
                dist += diff * diff
                if dist >= best:
                    break
            if dist < best:
                best = dist
                which = c
        label[i] = which
        counts[which] += 1
        for j in range(d):
            sums[which, j] += points[i, j]
        inertia += best
    for c in range(k):
        if counts[c] > 0:
            for j in range(d):
                sums[c, j] /= counts[c]
    return inertia


def sigmoid(x):
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    z = math.exp(x)
    return z / (1.0 + z)


def logistic_sgd(features, target, weights, order, rate, decay, epochs):
    d = features.shape[1]
    for j in range(d + 1):
        weights[j] = 0.0
    loss = 0.0
    for epoch in range(epochs):
        loss = 0.0
        for t in range(len(order)):
            i = order[t]
            z = weights[d]
            for j in range(d):
                z += weights[j] * features[i, j]
            p = sigmoid(z)
            g = p - target[i]
            loss += abs(g)
            for j in range(d):
                weights[j] -= rate * (g * features[i, j] + decay * weights[j])
            weights[d] -= rate * g
        rate *= 0.9
    return loss


def forest_votes(feature, threshold, left, right, roots, samples, votes):
    n = samples.shape[0]
    trees = len(roots)
    classes = votes.shape[1]
    for i in range(n):
        for c in range(classes):
            votes[i, c] = 0
        for t in range(trees):
            node = roots[t]
            while feature[node] >= 0:
                if samples[i, feature[node]] <= threshold[node]:
                    node = left[node]
                else:
                    node = right[node]
            votes[i, left[node]] += 1


def jacobi_eigen(given, a, v, sweeps):
    n = given.shape[0]
    for i in range(n):
        for j in range(n):
            a[i, j] = given[i, j]
            v[i, j] = 1.0 if i == j else 0.0
    off = 0.0
    for s in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) < 1e-14:
                    continue
                theta = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
                if theta < 0.0:
                    t = -t
                c = 1.0 / math.sqrt(t * t + 1.0)
                d = t * c
                for k in range(n):
                    x = a[k, p]
                    y = a[k, q]
                    a[k, p] = c * x - d * y
                    a[k, q] = d * x + c * y
                for k in range(n):
                    x = a[p, k]
                    y = a[q, k]
                    a[p, k] = c * x - d * y
                    a[q, k] = d * x + c * y
                for k in range(n):
                    x = v[k, p]
                    y = v[k, q]
                    v[k, p] = c * x - d * y
                    v[k, q] = d * x + c * y
    for i in range(n):
        for j in range(i):
            off += a[i, j] * a[i, j]
    return off


def complex_gram_schmidt(a, q, r):
    m, n = a.shape
    for i in range(m):
        for j in range(n):
            q[i, j] = a[i, j]
    for k in range(n):
        norm = 0.0
        for i in range(m):
            norm += q[i, k].real * q[i, k].real + q[i, k].imag * q[i, k].imag
        norm = np.sqrt(norm)
        r[k, k] = norm
        for i in range(m):
            q[i, k] = q[i, k] / norm
        for j in range(k + 1, n):
            dot = 0.0 + 0.0j
            for i in range(m):
                dot += np.conj(q[i, k]) * q[i, j]
            r[k, j] = dot
            for i in range(m):
                q[i, j] -= dot * q[i, k]


def shallow_flux(h, u, g):
    return h * u * u + 0.5 * g * h * h


def shallow_water(h0, h, hu, fh, fu, g, dx, steps):
    n = len(h)
    for i in range(n):
        h[i] = h0[i]
        hu[i] = 0.0
    clock = 0.0
    for t in range(steps):
        fastest = 0.0
        for i in range(n):
            fastest = max(fastest, abs(hu[i] / h[i]) + math.sqrt(g * h[i]))
        dt = 0.45 * dx / fastest
        for i in range(n - 1):
            ul = hu[i] / h[i]
            ur = hu[i + 1] / h[i + 1]
            sl = min(ul - math.sqrt(g * h[i]), ur - math.sqrt(g * h[i + 1]))
            sr = max(ul + math.sqrt(g * h[i]), ur + math.sqrt(g * h[i + 1]))
            if sl >= 0.0:
                fh[i] = hu[i]
                fu[i] = shallow_flux(h[i], ul, g)
            elif sr <= 0.0:
                fh[i] = hu[i + 1]
                fu[i] = shallow_flux(h[i + 1], ur, g)
            else:
                left = shallow_flux(h[i], ul, g)
                right = shallow_flux(h[i + 1], ur, g)
                fh[i] = (sr * hu[i] - sl * hu[i + 1] + sl * sr * (h[i + 1] - h[i])) / (sr - sl)
                fu[i] = (sr * left - sl * right + sl * sr * (hu[i + 1] - hu[i])) / (sr - sl)
        for i in range(1, n - 1):
            h[i] -= dt / dx * (fh[i] - fh[i - 1])
            hu[i] -= dt / dx * (fu[i] - fu[i - 1])
        h[0] = h[1]
        hu[0] = -hu[1]
        h[-1] = h[-2]
        hu[-1] = -hu[-2]
        clock += dt
    return clock


def heat_torus(start, u, fresh, k, steps):
    nx, ny, nz = start.shape
    kk = np.float32(k)
    for i in range(nx):
        for j in range(ny):
            for l in range(nz):
                u[i, j, l] = start[i, j, l]
    for t in range(steps):
        for i in range(nx):
            ip = (i + 1) % nx
            for j in range(ny):
                jp = (j + 1) % ny
                for l in range(nz):
                    lp = l + 1 if l + 1 < nz else 0
                    lap = (u[i - 1, j, l] + u[ip, j, l] + u[i, j - 1, l] + u[i, jp, l] + u[i, j, l - 1] + u[i, j, lp]
                           - np.float32(6.0) * u[i, j, l])
                    fresh[i, j, l] = u[i, j, l] + kk * lap
        u, fresh = fresh, u


def dither(image, work, out):
    h, w = image.shape
    for y in range(h):
        for x in range(w):
            work[y, x] = image[y, x]
    black = 0
    for y in range(h):
        step = 1 if y % 2 == 0 else -1
        x = 0 if step == 1 else w - 1
        while 0 <= x < w:
            old = work[y, x]
            new = 255 if old >= 128 else 0
            black += new == 0
            out[y, x] = new
            miss = old - new
            if 0 <= x + step < w:
                work[y, x + step] += (miss * 7) >> 4
            if y + 1 < h:
                if 0 <= x - step < w:
                    work[y + 1, x - step] += (miss * 3) >> 4
                work[y + 1, x] += (miss * 5) >> 4
                if 0 <= x + step < w:
                    work[y + 1, x + step] += miss >> 4
            x += step
    return black


def adaptive_threshold(image, table, out, radius, percent):
    h, w = image.shape
    for y in range(h):
        row = 0
        for x in range(w):
            row += image[y, x]
            table[y + 1, x + 1] = table[y, x + 1] + row
    dark = 0
    for y in range(h):
        y0 = max(0, y - radius)
        y1 = min(h, y + radius + 1)
        for x in range(w):
            x0 = max(0, x - radius)
            x1 = min(w, x + radius + 1)
            area = (y1 - y0) * (x1 - x0)
            total = table[y1, x1] - table[y0, x1] - table[y1, x0] + table[y0, x0]
            if image[y, x] * area * 100 < total * (100 - percent):
                out[y, x] = 0
                dark += 1
            else:
                out[y, x] = 255
    return dark


def root_of(parent, k):
    root = k
    while parent[root] != root:
        root = parent[root]
    while parent[k] != root:
        up = parent[k]
        parent[k] = root
        k = up
    return root


def label_blobs(mask, label, parent):
    h, w = mask.shape
    used = 1
    for y in range(h):
        for x in range(w):
            label[y, x] = 0
            if not mask[y, x]:
                continue
            above = label[y - 1, x] if y > 0 else 0
            before = label[y, x - 1] if x > 0 else 0
            if above == 0 and before == 0:
                parent[used] = used
                label[y, x] = used
                used += 1
            elif above != 0 and before != 0:
                a = root_of(parent, above)
                b = root_of(parent, before)
                if a < b:
                    parent[b] = a
                    label[y, x] = a
                else:
                    parent[a] = b
                    label[y, x] = b
            else:
                label[y, x] = above + before
    blobs = 0
    for k in range(1, used):
        blobs += parent[k] == k
    for y in range(h):
        for x in range(w):
            if label[y, x] > 0:
                label[y, x] = root_of(parent, label[y, x])
    return blobs


def heap_push(keys, items, size, key, item):
    i = size
    while i > 0:
        up = (i - 1) >> 1
        if keys[up] <= key:
            break
        keys[i] = keys[up]
        items[i] = items[up]
        i = up
    keys[i] = key
    items[i] = item
    return size + 1


def heap_pop(keys, items, size):
    size -= 1
    key = keys[size]
    item = items[size]
    i = 0
    while True:
        c = 2 * i + 1
        if c >= size:
            break
        if c + 1 < size and keys[c + 1] < keys[c]:
            c += 1
        if keys[c] >= key:
            break
        keys[i] = keys[c]
        items[i] = items[c]
        i = c
    keys[i] = key
    items[i] = item
    return size


def dijkstra(indptr, indices, weight, source, dist, done, keys, items):
    n = len(dist)
    for v in range(n):
        dist[v] = np.inf
        done[v] = False
    dist[source] = 0.0
    size = heap_push(keys, items, 0, 0.0, source)
    reached = 0
    while size > 0:
        v = items[0]
        size = heap_pop(keys, items, size)
        if done[v]:
            continue
        done[v] = True
        reached += 1
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            d = dist[v] + weight[e]
            if d < dist[w]:
                dist[w] = d
                size = heap_push(keys, items, size, d, w)
    for v in range(n):
        if not done[v]:
            dist[v] = -1.0
    return reached


def strong_components(indptr, indices, index, low, on_stack, stack, call, edge, component):
    n = len(indptr) - 1
    for v in range(n):
        index[v] = -1
        on_stack[v] = False
    clock = 0
    top = 0
    found = 0
    for start in range(n):
        if index[start] >= 0:
            continue
        depth = 0
        call[0] = start
        edge[0] = indptr[start]
        index[start] = clock
        low[start] = clock
        clock += 1
        stack[top] = start
        top += 1
        on_stack[start] = True
        while depth >= 0:
            v = call[depth]
            if edge[depth] < indptr[v + 1]:
                w = indices[edge[depth]]
                edge[depth] += 1
                if index[w] < 0:
                    index[w] = clock
                    low[w] = clock
                    clock += 1
                    stack[top] = w
                    top += 1
                    on_stack[w] = True
                    depth += 1
                    call[depth] = w
                    edge[depth] = indptr[w]
                elif on_stack[w]:
                    low[v] = min(low[v], index[w])
            else:
                if low[v] == index[v]:
                    while True:
                        top -= 1
                        w = stack[top]
                        on_stack[w] = False
                        component[w] = found
                        if w == v:
                            break
                    found += 1
                depth -= 1
                if depth >= 0:
                    low[call[depth]] = min(low[call[depth]], low[v])
    return found


def count_triangles(indptr, indices, per_vertex):
    n = len(per_vertex)
    for v in range(n):
        per_vertex[v] = 0
    total = 0
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            if v <= u:
                continue
            a = e + 1
            b = indptr[v]
            while a < indptr[u + 1] and b < indptr[v + 1]:
                if indices[a] < indices[b]:
                    a += 1
                elif indices[a] > indices[b]:
                    b += 1
                else:
                    w = indices[a]
                    per_vertex[u] += 1
                    per_vertex[v] += 1
                    per_vertex[w] += 1
                    total += 1
                    a += 1
                    b += 1
    return total


def radix_sort(given, a, b, count):
    n = len(given)
    for i in range(n):
        a[i] = given[i]
    for shift in range(0, 32, 8):
        for d in range(256):
            count[d] = 0
        for i in range(n):
            count[(a[i] >> shift) & 255] += 1
        total = 0
        for d in range(256):
            c = count[d]
            count[d] = total
            total += c
        for i in range(n):
            d = (a[i] >> shift) & 255
            b[count[d]] = a[i]
            count[d] += 1
        a, b = b, a


def viterbi(observed, start, move, emit, score, back, path):
    n = len(observed)
    states = len(start)
    for s in range(states):
        score[0, s] = start[s] + emit[s, observed[0]]
    for t in range(1, n):
        now = t % 2
        was = 1 - now
        for s in range(states):
            best = -np.inf
            which = 0
            for p in range(states):
                v = score[was, p] + move[p, s]
                if v > best:
                    best = v
                    which = p
            score[now, s] = best + emit[s, observed[t]]
            back[t, s] = which
    last = (n - 1) % 2
    s = 0
    for p in range(1, states):
        if score[last, p] > score[last, s]:
            s = p
    total = score[last, s]
    for t in range(n - 1, -1, -1):
        path[t] = s
        s = back[t, s]
    return total


def transposing_distance(a, b, rows):
    n = len(a)
    m = len(b)
    for j in range(m + 1):
        rows[0, j] = j
    for i in range(1, n + 1):
        now = i % 3
        was = (i - 1) % 3
        older = (i - 2) % 3
        rows[now, 0] = i
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d = min(rows[was, j] + 1, rows[now, j - 1] + 1, rows[was, j - 1] + cost)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                d = min(d, rows[older, j - 2] + 1)
            rows[now, j] = d
    return rows[n % 3, m]


def base64_encode(data, alphabet, out):
    n = len(data)
    k = 0
    i = 0
    while i + 2 < n:
        v = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2]
        out[k] = alphabet[(v >> 18) & 63]
        out[k + 1] = alphabet[(v >> 12) & 63]
        out[k + 2] = alphabet[(v >> 6) & 63]
        out[k + 3] = alphabet[v & 63]
        k += 4
        i += 3
    left = n - i
    if left > 0:
        v = data[i] << 16
        if left == 2:
            v |= data[i + 1] << 8
        out[k] = alphabet[(v >> 18) & 63]
        out[k + 1] = alphabet[(v >> 12) & 63]
        out[k + 2] = alphabet[(v >> 6) & 63] if left == 2 else 61
        out[k + 3] = 61
        k += 4
    return k


def utf8_decode(text, points):
    n = len(text)
    i = 0
    k = 0
    while i < n:
        c = np.int64(text[i])
        if c < 0x80:
            extra = 0
        elif c >> 5 == 6:
            extra = 1
            c &= 31
        elif c >> 4 == 14:
            extra = 2
            c &= 15
        elif c >> 3 == 30:
            extra = 3
            c &= 7
        else:
            points[k] = 0xFFFD
            k += 1
            i += 1
            continue
        i += 1
        bad = False
        for j in range(extra):
            if i >= n or text[i] & 0xC0 != 0x80:
                bad = True
                break
            c = (c << 6) | (text[i] & 63)
            i += 1
        points[k] = 0xFFFD if bad else c
        k += 1
    return k


def inverse_mod(a, m):
    old, r = a, m
    x, s = 1, 0
    while r != 0:
        q = old // r
        old, r = r, old - q * r
        x, s = s, x - q * s
    if old != 1:
        return 0
    return x % m


def inverses(values, modulus, out):
    none = 0
    for i in range(len(values)):
        out[i] = inverse_mod(values[i], modulus)
        if out[i] == 0:
            none += 1
    return none
