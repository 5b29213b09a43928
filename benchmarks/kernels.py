"""The kernels whose machine code is compared: name -> (function, signature). kernels.cu has the same in CUDA C."""
import math

from quern import cuda, float32, int32

TILE = 16


def add(x, y, out):
    start = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    for i in range(start, x.shape[0], cuda.blockDim.x * cuda.gridDim.x):
        out[i] = x[i] + y[i]


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


def stencil(a, out):
    i, j = cuda.grid(2)
    if 1 <= i and i < a.shape[0] - 1 and 1 <= j and j < a.shape[1] - 1:
        out[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def matmul(a, b, c):
    x, y = cuda.grid(2)
    if y < c.shape[0] and x < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[y, k] * b[k, x]
        c[y, x] = total


def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range(a.shape[1] // TILE):
        tile_a[ty, tx] = a[y, tx + i * TILE]
        tile_b[ty, tx] = b[ty + i * TILE, x]
        cuda.syncthreads()
        for j in range(TILE):
            total += tile_a[ty, j] * tile_b[j, tx]
        cuda.syncthreads()
    c[y, x] = total


def nbody(position, velocity, mass, dt):
    i = cuda.grid(1)
    n = position.shape[0]
    if i < n:
        ax = ay = az = float32(0)
        for j in range(n):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            inverse = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz + 1e-9)
            scale = mass[j] * inverse * inverse * inverse
            ax += dx * scale
            ay += dy * scale
            az += dz * scale
        velocity[i, 0] += dt * ax
        velocity[i, 1] += dt * ay
        velocity[i, 2] += dt * az


def histogram(a, low, width, counts):
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        bin = int32((a[i] - low) / width)
        if bin >= 0 and bin < counts.shape[0]:
            cuda.atomic.add(counts, bin, 1)


def block_sum(a, out):
    partial = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x * 2 + t
    total = float32(0)
    if i < a.shape[0]:
        total = a[i]
    if i + cuda.blockDim.x < a.shape[0]:
        total += a[i + cuda.blockDim.x]
    partial[t] = total
    cuda.syncthreads()
    k = cuda.blockDim.x // 2
    while k > 0:
        if t < k:
            partial[t] += partial[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = partial[0]


def transpose(a, out):
    tile = cuda.shared.array((32, 33), float32)
    x = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    for j in range(0, 32, 8):
        if y + j < a.shape[0] and x < a.shape[1]:
            tile[cuda.threadIdx.y + j, cuda.threadIdx.x] = a[y + j, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + cuda.threadIdx.x
    y = cuda.blockIdx.x * 32 + cuda.threadIdx.y
    for j in range(0, 32, 8):
        if y + j < out.shape[0] and x < out.shape[1]:
            out[y + j, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y + j]


def by_rows(a, width, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i] = a[i % width] + i // width


LINE, PLANE = "float32[::1]", "float32[:,::1]"
KERNELS = {
    "add": (add, f"void({LINE}, {LINE}, {LINE})"),
    "saxpy": (saxpy, f"void(float32, {LINE}, {LINE})"),
    "stencil": (stencil, f"void({PLANE}, {PLANE})"),
    "matmul": (matmul, f"void({PLANE}, {PLANE}, {PLANE})"),
    "matmul_tiled": (matmul_tiled, f"void({PLANE}, {PLANE}, {PLANE})"),
    "nbody": (nbody, f"void({PLANE}, {PLANE}, {LINE}, float32)"),
    "histogram": (histogram, f"void({LINE}, float32, float32, int32[::1])"),
    "block_sum": (block_sum, f"void({LINE}, {LINE})"),
    "transpose": (transpose, f"void({PLANE}, {PLANE})"),
    "by_rows": (by_rows, f"void({LINE}, int64, {LINE})"),
}
