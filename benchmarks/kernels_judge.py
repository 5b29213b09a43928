"""Kernels that judge the AMD code from 27 November 2026 on, written by someone who had not read the passes; nobody looked at their machine
code before it was measured. kernels_judge.cu has the same in CUDA C."""
import math

from quern import cuda, float32, int32


def block_prefix_max(a, out):
    seen = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    seen[t] = a[i] if i < a.shape[0] else -2147483648
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        value = seen[t]
        if t >= step:
            value = max(value, seen[t - step])
        cuda.syncthreads()
        seen[t] = value
        cuda.syncthreads()
        step *= 2
    if i < a.shape[0]:
        out[i] = seen[t]


def ellpack(values, columns, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        total = float32(0)
        for slot in range(values.shape[0]):
            column = columns[slot, row]
            if column >= 0:
                total += values[slot, row] * x[column]
        y[row] = total


def gradient_magnitude(image, out):
    x, y = cuda.grid(2)
    h, w = image.shape
    if x < w and y < h:
        gx = image[y, min(x + 1, w - 1)] - image[y, max(x - 1, 0)]
        gy = image[min(y + 1, h - 1), x] - image[max(y - 1, 0), x]
        out[y, x] = float32(0.5) * math.sqrt(gx * gx + gy * gy)


def wave_line(now, before, after, courant):
    i = cuda.grid(1)
    n = now.shape[0]
    if i >= n:
        return
    if i == 0:
        after[i] = float32(0)  # a fixed end
    elif i == n - 1:
        after[i] = now[i - 1]  # one that lets waves out
    else:
        after[i] = float32(2) * now[i] - before[i] + courant * courant * (now[i + 1] - float32(2) * now[i] + now[i - 1])


def bounce(position, velocity, gravity, dt, size):
    for i in range(cuda.grid(1), position.shape[0], cuda.gridsize(1)):
        velocity[i, 2] -= gravity * dt
        for d in range(3):
            p = position[i, d] + velocity[i, d] * dt
            if p < float32(0):
                p = -p
                velocity[i, d] = -velocity[i, d]
            elif p > size:
                p = float32(2) * size - p
                velocity[i, d] = -velocity[i, d]
            position[i, d] = p


def logistic(rates, x, steps):
    i = cuda.grid(1)
    if i < x.shape[0]:
        r, v = rates[i], x[i]
        for _ in range(steps):
            v = r * v * (1.0 - v)
        x[i] = v


def bin_points(points, left, top, per_cell, counts):
    i = cuda.grid(1)
    if i < points.shape[0]:
        cx = int32(math.floor((points[i, 0] - left) * per_cell))
        cy = int32(math.floor((points[i, 1] - top) * per_cell))
        if 0 <= cx and cx < counts.shape[1] and 0 <= cy and cy < counts.shape[0]:
            cuda.atomic.add(counts, (cy, cx), 1)


def cosine(a, b, out):
    row = cuda.grid(1)
    if row < a.shape[0]:
        dot, aa, bb = float32(0), float32(0), float32(0)
        for j in range(a.shape[1]):
            u, v = a[row, j], b[row, j]
            dot += u * v
            aa += u * u
            bb += v * v
        out[row] = float32(1) - dot / math.sqrt(aa * bb)


def triangle_areas(vertices, faces, areas):
    f = cuda.grid(1)
    if f < faces.shape[0]:
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        ux, uy, uz = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
        vx, vy, vz = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
        nx = uy * vz - uz * vy
        ny = uz * vx - ux * vz
        nz = ux * vy - uy * vx
        areas[f] = float32(0.5) * math.sqrt(nx * nx + ny * ny + nz * nz)


def blend(under, over, weight, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        value = int32(under[y, x]) + ((int32(over[y, x]) * weight) >> 7)
        out[y, x] = min(value, 255)


def max_pool(image, out):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        best = image[2 * y, 2 * x]
        for dy in range(2):
            for dx in range(2):
                best = max(best, image[2 * y + dy, 2 * x + dx])
        out[y, x] = best


def median_of_three(a, out):
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        if i == 0 or i == a.shape[0] - 1:
            out[i] = a[i]
        else:
            p, q, r = a[i - 1], a[i], a[i + 1]
            if p > q:
                p, q = q, p
            if q > r:
                q = r
            if p > q:
                q = p
            out[i] = q


def row_argmax(a, out):
    values = cuda.shared.array(128, float32)
    places = cuda.shared.array(128, int32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    best, at = float32(-1e30), int32(0)
    for j in range(t, a.shape[1], cuda.blockDim.x):
        if a[row, j] > best:
            best = a[row, j]
            at = j
    values[t] = best
    places[t] = at
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half and values[t + half] > values[t]:
            values[t] = values[t + half]
            places[t] = places[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[row] = places[0]


def segment_sums(a, starts, out):
    s = cuda.grid(1)
    if s < starts.shape[0] - 1:
        total = float32(0)
        for i in range(starts[s], starts[s + 1]):
            out[i] = total
            total += a[i]


LINE, PLANE, INTS, BYTES = "float32[::1]", "float32[:,::1]", "int32[::1]", "uint8[:,::1]"
JUDGE = {
    "block_prefix_max": (block_prefix_max, f"void({INTS}, {INTS})"),
    "ellpack": (ellpack, f"void({PLANE}, int32[:,::1], {LINE}, {LINE})"),
    "gradient_magnitude": (gradient_magnitude, f"void({PLANE}, {PLANE})"),
    "wave_line": (wave_line, f"void({LINE}, {LINE}, {LINE}, float32)"),
    "bounce": (bounce, f"void({PLANE}, {PLANE}, float32, float32, float32)"),
    "logistic": (logistic, "void(float64[::1], float64[::1], int64)"),
    "bin_points": (bin_points, f"void({PLANE}, float32, float32, float32, int32[:,::1])"),
    "cosine": (cosine, f"void({PLANE}, {PLANE}, {LINE})"),
    "triangle_areas": (triangle_areas, f"void({PLANE}, int32[:,::1], {LINE})"),
    "blend": (blend, f"void({BYTES}, {BYTES}, int32, {BYTES})"),
    "max_pool": (max_pool, f"void({PLANE}, {PLANE})"),
    "median_of_three": (median_of_three, f"void({LINE}, {LINE})"),
    "row_argmax": (row_argmax, f"void({PLANE}, {INTS})"),
    "segment_sums": (segment_sums, f"void({LINE}, {INTS}, {LINE})"),
}
