"""Kernels that judged what was tuned for those of kernels.py: written before the tuning. On 27 November 2026 the machine code of four was looked
at and tuned for (spmv, bilinear, filter3x3, bitonic_step): what judges from there on has to be written anew.
kernels_unseen.cu has the same in CUDA C."""
import math

from quern import cuda, float32, int32


def rms_norm(x, weight, out):
    partial = cuda.shared.array(256, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    total = float32(0)
    for j in range(t, x.shape[1], cuda.blockDim.x):
        total += x[row, j] * x[row, j]
    partial[t] = total
    cuda.syncthreads()
    k = cuda.blockDim.x // 2
    while k > 0:
        if t < k:
            partial[t] += partial[t + k]
        cuda.syncthreads()
        k //= 2
    scale = 1.0 / math.sqrt(partial[0] / x.shape[1] + 1e-5)
    for j in range(t, x.shape[1], cuda.blockDim.x):
        out[row, j] = x[row, j] * scale * weight[j]


def filter3x3(image, weights, out):
    x, y = cuda.grid(2)
    if 1 <= x and x < image.shape[1] - 1 and 1 <= y and y < image.shape[0] - 1:
        total = float32(0)
        for dy in range(3):
            for dx in range(3):
                total += image[y + dy - 1, x + dx - 1] * weights[dy, dx]
        out[y, x] = total


def spmv(values, columns, starts, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        total = float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


def heat3d(u, out, c):
    x, y, z = cuda.grid(3)
    if 0 < x and x < u.shape[2] - 1 and 0 < y and y < u.shape[1] - 1 and 0 < z and z < u.shape[0] - 1:
        around = u[z, y, x - 1] + u[z, y, x + 1] + u[z, y - 1, x] + u[z, y + 1, x] + u[z - 1, y, x] + u[z + 1, y, x]
        out[z, y, x] = u[z, y, x] + c * (around - 6 * u[z, y, x])


def life(cells, out):
    x, y = cuda.grid(2)
    h, w = cells.shape
    if 0 < x and x < w - 1 and 0 < y and y < h - 1:
        n = int32(0)
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dx != 0 or dy != 0:
                    n += cells[y + dy, x + dx]
        out[y, x] = 1 if n == 3 or (n == 2 and cells[y, x] == 1) else 0


def bitonic_step(a, j, k):
    i = cuda.grid(1)
    other = i ^ j
    if other > i and other < a.shape[0]:
        first, second = a[i], a[other]
        if (first > second) == ((i & k) == 0):
            a[i] = second
            a[other] = first


def nearest(points, centres, labels):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best, least = int32(0), float32(1e30)
        for c in range(centres.shape[0]):
            distance = float32(0)
            for d in range(points.shape[1]):
                delta = points[i, d] - centres[c, d]
                distance += delta * delta
            if distance < least:
                least = distance
                best = c
        labels[i] = best


def gray(image, out):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        r, g, b = image[y, x, 0], image[y, x, 1], image[y, x, 2]
        out[y, x] = (77 * r + 150 * g + 29 * b) >> 8


def shared_histogram(data, counts):
    bins = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    bins[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(bins, data[i], 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, bins[t])


def collatz(out, limit):
    i = cuda.grid(1)
    if i < out.shape[0]:
        n, steps = i + 1, 0
        while n != 1 and steps < limit:
            if n & 1:
                n = 3 * n + 1
            else:
                n >>= 1
            steps += 1
        out[i] = steps


def bilinear(a, out, sx, sy):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        fx, fy = x * sx, y * sy
        x0, y0 = int32(fx), int32(fy)
        x1, y1 = min(x0 + 1, a.shape[1] - 1), min(y0 + 1, a.shape[0] - 1)
        fx -= x0
        fy -= y0
        top = a[y0, x0] * (1 - fx) + a[y0, x1] * fx
        bottom = a[y1, x0] * (1 - fx) + a[y1, x1] * fx
        out[y, x] = top * (1 - fy) + bottom * fy


def axpby64(a, x, b, y):
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        y[i] = a * x[i] + b * y[i]


LINE, PLANE, INTS, BYTES = "float32[::1]", "float32[:,::1]", "int32[::1]", "uint8[:,::1]"
UNSEEN = {
    "rms_norm": (rms_norm, f"void({PLANE}, {LINE}, {PLANE})"),
    "filter3x3": (filter3x3, f"void({PLANE}, {PLANE}, {PLANE})"),
    "spmv": (spmv, f"void({LINE}, {INTS}, {INTS}, {LINE}, {LINE})"),
    "heat3d": (heat3d, "void(float32[:,:,::1], float32[:,:,::1], float32)"),
    "life": (life, f"void({BYTES}, {BYTES})"),
    "bitonic_step": (bitonic_step, f"void({INTS}, int64, int64)"),
    "nearest": (nearest, f"void({PLANE}, {PLANE}, {INTS})"),
    "gray": (gray, f"void(uint8[:,:,::1], {BYTES})"),
    "shared_histogram": (shared_histogram, f"void(uint8[::1], {INTS})"),
    "collatz": (collatz, "void(int32[::1], int64)"),
    "bilinear": (bilinear, f"void({PLANE}, {PLANE}, float32, float32)"),
    "axpby64": (axpby64, "void(float64, float64[::1], float64, float64[::1])"),
}
