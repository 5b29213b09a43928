"""The kernels whose machine code is compared: name -> (function, signature). kernels.cu has the same in CUDA C. COMPILED has one
more, whose compilation is timed."""
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


def dot(a, b, out):
    partial = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), a.shape[0], cuda.gridsize(1)):
        total += a[i] * b[i]
    partial[t] = total
    cuda.syncthreads()
    k = cuda.blockDim.x // 2
    while k > 0:
        if t < k:
            partial[t] += partial[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        cuda.atomic.add(out, 0, partial[0])


def mandelbrot(image, left, top, step, limit):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        real, imag = left + x * step, top + y * step
        a = b = float32(0)
        count = 0
        while count < limit and a * a + b * b < 4:
            a, b = a * a - b * b + real, 2 * a * b + imag
            count += 1
        image[y, x] = count


def gather(a, index, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = a[index[i]]


def convolve(a, taps, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        total = float32(0)
        for k in range(taps.shape[0]):
            total += a[i + k] * taps[k]
        out[i] = total


def bias_relu(a, bias, out):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        value = a[y, x] + bias[x]
        out[y, x] = value if value > 0 else float32(0)


def scan(a, out):
    memory = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    memory[t] = a[i]
    cuda.syncthreads()
    step = 1
    while step < cuda.blockDim.x:
        value = float32(0)
        if t >= step:
            value = memory[t - step]
        cuda.syncthreads()
        memory[t] += value
        cuda.syncthreads()
        step *= 2
    out[i] = memory[t]


def black_scholes(price, strike, years, rate, volatility, call):
    i = cuda.grid(1)
    if i < price.shape[0]:
        root = math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) / (volatility * root)
        d2 = d1 - volatility * root
        n1, n2 = math.erfc(-d1 * 0.70710678) / 2, math.erfc(-d2 * 0.70710678) / 2
        call[i] = price[i] * n1 - strike[i] * math.exp(-rate * years[i]) * n2


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
    "dot": (dot, f"void({LINE}, {LINE}, {LINE})"),
    "mandelbrot": (mandelbrot, "void(int32[:,::1], float32, float32, float32, int64)"),
    "gather": (gather, f"void({LINE}, int32[::1], {LINE})"),
    "convolve": (convolve, f"void({LINE}, {LINE}, {LINE})"),
    "bias_relu": (bias_relu, f"void({PLANE}, {LINE}, {PLANE})"),
    "scan": (scan, f"void({LINE}, {LINE})"),
}
COMPILED = {**KERNELS, "black_scholes": (black_scholes, f"void({LINE}, {LINE}, {LINE}, float32, float32, {LINE})")}
