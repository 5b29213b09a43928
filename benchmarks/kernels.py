"""The kernels whose machine code is compared, and which the passes may be tuned for. kernels.cu has the same in CUDA C, kernels_unseen.py
has those that judge."""
import math
from typing import NamedTuple

from quern import cuda, float32, int32

TILE = 16


class Kernel(NamedTuple):
    """`marker`: machine instructions that a round of its main loop executes `per_round` times, whatever else is done to the loop.
    Without one the whole kernel is compared."""
    function: object
    signature: str
    marker: str | None = None
    per_round: int = 1
    fast: bool = False  # with fastmath, nvcc with -use_fast_math


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


def axpy_while(a, x, y):
    i = cuda.grid(1)
    while i < x.shape[0]:
        y[i] = a * x[i] + y[i]
        i += cuda.gridsize(1)


def life(now, after):
    x, y = cuda.grid(2)
    h, w = now.shape
    if y < h and x < w:
        alive = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dy != 0 or dx != 0:
                    alive += now[(y + dy + h) % h, (x + dx + w) % w]
        after[y, x] = alive == 3 or (alive == 2 and now[y, x] == 1)


def convolve_5x5(image, taps, out):
    x, y = cuda.grid(2)
    if 2 <= y < image.shape[0] - 2 and 2 <= x < image.shape[1] - 2:
        total = float32(0)
        for i in range(5):
            for j in range(5):
                total += image[y + i - 2, x + j - 2] * taps[i, j]
        out[y, x] = total


def wave(now, before, after, speed):
    i, j, k = cuda.grid(3)
    if 0 < i < now.shape[0] - 1 and 0 < j < now.shape[1] - 1 and 0 < k < now.shape[2] - 1:
        around = (now[i - 1, j, k] + now[i + 1, j, k] + now[i, j - 1, k] + now[i, j + 1, k] + now[i, j, k - 1]
                  + now[i, j, k + 1] - 6 * now[i, j, k])
        after[i, j, k] = 2 * now[i, j, k] - before[i, j, k] + speed * around


def warp_rows(a, x, y):
    row = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if row < a.shape[0]:
        total = float32(0)
        j = lane
        while j < a.shape[1]:
            total += a[row, j] * x[j]
            j += 32
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
            step //= 2
        if lane == 0:
            y[row] = total


def mean_of_draws(seed, draws, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        state = (seed + i * 2654435761) & 0xFFFFFFFF
        total = float32(0)
        for _ in range(draws):
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            total += float32(state >> 16) / 65536
        out[i] = total / draws


def spmv_rows(indptr, indices, data, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        total = float32(0)
        for k in range(indptr[row], indptr[row + 1]):
            total += data[k] * x[indices[k]]
        y[row] = total


def box_blur(image, out, radius):
    x, y = cuda.grid(2)
    h, w = image.shape
    if x >= w or y >= h:
        return
    total = float32(0)
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            yy = min(max(y + dy, 0), h - 1)
            xx = min(max(x + dx, 0), w - 1)
            total += image[yy, xx]
    out[y, x] = total / ((2 * radius + 1) * (2 * radius + 1))


def column_sums(a, out):
    j = cuda.grid(1)
    if j < a.shape[1]:
        total = float32(0)
        for i in range(a.shape[0]):
            total += a[i, j]
        out[j] = total


def search(keys, table, found):
    i = cuda.grid(1)
    if i < keys.size:
        key = keys[i]
        low, high = 0, table.size
        while low < high:
            middle = (low + high) // 2
            if table[middle] < key:
                low = middle + 1
            else:
                high = middle
        found[i] = low


def heat_flat(a, out, w, h):
    i = cuda.grid(1)
    if i < w * h:
        x = i % w
        y = i // w
        if x > 0 and x < w - 1 and y > 0 and y < h - 1:
            out[i] = 0.25 * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w])


def advect(field, u, v, out, dt):
    x, y = cuda.grid(2)
    h, w = field.shape
    if x < w and y < h:
        fx = min(max(x - dt * u[y, x], float32(0)), float32(w - 1.001))
        fy = min(max(y - dt * v[y, x], float32(0)), float32(h - 1.001))
        x0, y0 = int(fx), int(fy)
        sx, sy = fx - x0, fy - y0
        top = field[y0, x0] * (1 - sx) + field[y0, x0 + 1] * sx
        bottom = field[y0 + 1, x0] * (1 - sx) + field[y0 + 1, x0 + 1] * sx
        out[y, x] = top * (1 - sy) + bottom * sy


def polynomial(x, c, out):
    i = cuda.grid(1)
    if i < x.size:
        r = float32(0)
        k = c.size - 1
        while k >= 0:
            r = r * x[i] + c[k]
            k -= 1
        out[i] = r


def nbody_tiled(pos, acc, n):
    tile = cuda.shared.array((128, 4), float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    x = y = z = float32(0)
    if i < n:
        x, y, z = pos[i, 0], pos[i, 1], pos[i, 2]
    ax = ay = az = float32(0)
    for start in range(0, n, 128):
        if start + t < n:
            for k in range(4):
                tile[t, k] = pos[start + t, k]
        cuda.syncthreads()
        for j in range(min(128, n - start)):
            dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
            d2 = dx * dx + dy * dy + dz * dz + float32(0.01)
            inv = 1 / math.sqrt(d2)
            s = tile[j, 3] * inv * inv * inv
            ax += dx * s
            ay += dy * s
            az += dz * s
        cuda.syncthreads()
    if i < n:
        acc[i, 0] = ax
        acc[i, 1] = ay
        acc[i, 2] = az


def scatter(a, target, out):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        out[target[i]] = a[i]


def heat_tile(a, out, k):
    tile = cuda.shared.array((18, 18), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x + 1, cuda.threadIdx.y + 1
    h, w = a.shape
    if x < w and y < h:
        tile[ty, tx] = a[y, x]
        if tx == 1 and x > 0:
            tile[ty, 0] = a[y, x - 1]
        if tx == 16 and x < w - 1:
            tile[ty, 17] = a[y, x + 1]
        if ty == 1 and y > 0:
            tile[0, tx] = a[y - 1, x]
        if ty == 16 and y < h - 1:
            tile[17, tx] = a[y + 1, x]
    cuda.syncthreads()
    if 0 < x < w - 1 and 0 < y < h - 1:
        out[y, x] = tile[ty, tx] + k * (tile[ty - 1, tx] + tile[ty + 1, tx] + tile[ty, tx - 1] + tile[ty, tx + 1] - 4 * tile[ty, tx])


LINE, PLANE = "float32[::1]", "float32[:,::1]"
OPTIONS = f"void({LINE}, {LINE}, {LINE}, float32, float32, {LINE})"
KERNELS = {
    "add": Kernel(add, f"void({LINE}, {LINE}, {LINE})", "FADD"),
    "saxpy": Kernel(saxpy, f"void(float32, {LINE}, {LINE})"),
    "stencil": Kernel(stencil, f"void({PLANE}, {PLANE})"),
    "matmul": Kernel(matmul, f"void({PLANE}, {PLANE}, {PLANE})", "FFMA"),
    "matmul_tiled": Kernel(matmul_tiled, f"void({PLANE}, {PLANE}, {PLANE})", "FFMA"),
    "nbody": Kernel(nbody, f"void({PLANE}, {PLANE}, {LINE}, float32)", "MUFU.RSQ"),
    "nbody_fast": Kernel(nbody, f"void({PLANE}, {PLANE}, {LINE}, float32)", "MUFU.RSQ", fast=True),
    "histogram": Kernel(histogram, f"void({LINE}, float32, float32, int32[::1])", "RED|ATOMG"),
    "block_sum": Kernel(block_sum, f"void({LINE}, {LINE})", "BAR"),
    "transpose": Kernel(transpose, f"void({PLANE}, {PLANE})"),
    "by_rows": Kernel(by_rows, f"void({LINE}, int64, {LINE})"),
    "dot": Kernel(dot, f"void({LINE}, {LINE}, {LINE})", "FFMA"),
    "mandelbrot": Kernel(mandelbrot, "void(int32[:,::1], float32, float32, float32, int64)", "FSETP"),
    "gather": Kernel(gather, f"void({LINE}, int32[::1], {LINE})"),
    "convolve": Kernel(convolve, f"void({LINE}, {LINE}, {LINE})", "FFMA"),
    "bias_relu": Kernel(bias_relu, f"void({PLANE}, {LINE}, {PLANE})"),
    "scan": Kernel(scan, f"void({LINE}, {LINE})", "BAR", 2),
    "black_scholes": Kernel(black_scholes, OPTIONS),
    "black_scholes_fast": Kernel(black_scholes, OPTIONS, fast=True),
    "axpy_while": Kernel(axpy_while, f"void(float32, {LINE}, {LINE})", "FFMA"),
    "life": Kernel(life, "void(uint8[:,::1], uint8[:,::1])"),
    "convolve_5x5": Kernel(convolve_5x5, f"void({PLANE}, {PLANE}, {PLANE})", "FFMA"),
    "wave": Kernel(wave, "void(float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32)"),
    "warp_rows": Kernel(warp_rows, f"void({PLANE}, {LINE}, {LINE})", "FFMA"),
    "mean_of_draws": Kernel(mean_of_draws, f"void(int64, int64, {LINE})", "I2F"),
    "spmv_rows": Kernel(spmv_rows, f"void(int32[::1], int32[::1], {LINE}, {LINE}, {LINE})", "FFMA"),
    "box_blur": Kernel(box_blur, f"void({PLANE}, {PLANE}, int64)", "FADD"),
    "column_sums": Kernel(column_sums, f"void({PLANE}, {LINE})", "FADD"),
    "search": Kernel(search, f"void({LINE}, {LINE}, int64[::1])", "FSETP"),
    "heat_flat": Kernel(heat_flat, f"void({LINE}, {LINE}, int64, int64)"),
    "advect": Kernel(advect, f"void({PLANE}, {PLANE}, {PLANE}, {PLANE}, float32)"),
    "polynomial": Kernel(polynomial, f"void({LINE}, {LINE}, {LINE})", "FFMA"),
    "nbody_tiled": Kernel(nbody_tiled, f"void({PLANE}, {PLANE}, int64)", "MUFU.RSQ"),
    "scatter": Kernel(scatter, f"void({LINE}, int32[::1], {LINE})", "STG"),
    "heat_tile": Kernel(heat_tile, f"void({PLANE}, {PLANE}, float32)"),
}
