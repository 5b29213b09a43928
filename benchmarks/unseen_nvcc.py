"""Kernels as kernels.py has them, which judge the passes and are not tuned for: gpu_code.py prints means of them alone. Nobody looks at
their code. unseen_nvcc.cu has the same in CUDA C."""
import math

from kernels import LINE, PLANE, Kernel

from quern import cuda, float32, int32

BYTES, INTS = "uint8[::1]", "int32[::1]"


def spmv_csr(starts, columns, values, x, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        total = float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


def bitonic_step(a, distance, length):
    i = cuda.grid(1)
    other = i ^ distance
    if i < a.shape[0] and other > i:
        first, second = a[i], a[other]
        if ((i & length) == 0) == (first > second):
            a[i] = second
            a[other] = first


def histogram_shared(image, counts):
    bins = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    if t < 256:
        bins[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < image.shape[0]:
        cuda.atomic.add(bins, image[i], 1)
        i += cuda.gridsize(1)
    cuda.syncthreads()
    if t < 256:
        cuda.atomic.add(counts, t, bins[t])


def heat(now, after, rate):
    j, i = cuda.grid(2)
    rows, columns = now.shape
    if i < rows and j < columns:
        if i == 0 or i == rows - 1 or j == 0 or j == columns - 1:
            after[i, j] = now[i, j]
        else:
            around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
            after[i, j] = now[i, j] + rate * (around - 4 * now[i, j])


def jacobi(a, b, x, out):
    i = cuda.grid(1)
    n = b.shape[0]
    if i >= n:
        return
    total = b[i]
    for j in range(n):
        if j != i:
            total -= a[i, j] * x[j]
    out[i] = total / a[i, i]


def lu_step(a, k):
    j, i = cuda.grid(2)
    n = a.shape[0]
    if i > k and j > k and i < n and j < n:
        a[i, j] -= a[i, k] * a[k, j]


def fft_butterfly(real, imag, half):
    t = cuda.grid(1)
    if t < real.shape[0] // 2:
        k = t % half
        i = (t // half) * half * 2 + k
        j = i + half
        angle = float32(-math.pi) * k / half
        c, s = math.cos(angle), math.sin(angle)
        re = real[j] * c - imag[j] * s
        im = real[j] * s + imag[j] * c
        real[j] = real[i] - re
        imag[j] = imag[i] - im
        real[i] += re
        imag[i] += im


def monte_carlo_pi(states, rounds, hits):
    i = cuda.grid(1)
    if i < states.shape[0]:
        state = states[i]
        count = 0
        for _ in range(rounds):
            state ^= (state << 13) & 0xFFFFFFFF
            state ^= state >> 17
            state ^= (state << 5) & 0xFFFFFFFF
            x = float32(state & 0xFFFF) / 65536
            y = float32(state >> 16) / 65536
            if x * x + y * y < 1:
                count += 1
        states[i] = state
        hits[i] = count


def ray_sphere(spheres, image, step):
    x, y = cuda.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        dx, dy = (x - image.shape[1] / 2) * step, (y - image.shape[0] / 2) * step
        inverse = 1 / math.sqrt(dx * dx + dy * dy + 1)
        dx, dy, dz = dx * inverse, dy * inverse, inverse
        nearest, hit = float32(1e30), -1
        for k in range(spheres.shape[0]):
            cx, cy, cz, r = spheres[k, 0], spheres[k, 1], spheres[k, 2], spheres[k, 3]
            along = dx * cx + dy * cy + dz * cz
            inside = along * along - (cx * cx + cy * cy + cz * cz) + r * r
            if inside > 0:
                distance = along - math.sqrt(inside)
                if 0 < distance < nearest:
                    nearest, hit = distance, k
        image[y, x] = hit


def kmeans_assign(points, centers, labels):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best, label = float32(math.inf), 0
        for c in range(centers.shape[0]):
            distance = float32(0)
            for d in range(points.shape[1]):
                difference = points[i, d] - centers[c, d]
                distance += difference * difference
            if distance < best:
                best = distance
                label = c
        labels[i] = label


def string_match(text, word, found):
    i = cuda.grid(1)
    if i <= text.shape[0] - word.shape[0]:
        j = 0
        while j < word.shape[0] and text[i + j] == word[j]:
            j += 1
        if j == word.shape[0]:
            found[i] = 1


def crc32(messages, table, out):
    i = cuda.grid(1)
    if i < messages.shape[0]:
        crc = 0xFFFFFFFF
        for k in range(messages.shape[1]):
            crc = table[(crc ^ messages[i, k]) & 0xFF] ^ (crc >> 8)
        out[i] = crc ^ 0xFFFFFFFF


def floyd_warshall(distance, k):
    j, i = cuda.grid(2)
    n = distance.shape[0]
    if i < n and j < n:
        through = distance[i, k] + distance[k, j]
        if through < distance[i, j]:
            distance[i, j] = through


def sobel(image, out):
    x, y = cuda.grid(2)
    height, width = image.shape
    if 0 < x < width - 1 and 0 < y < height - 1:
        gx = (int(image[y - 1, x + 1]) + 2 * int(image[y, x + 1]) + int(image[y + 1, x + 1])
              - int(image[y - 1, x - 1]) - 2 * int(image[y, x - 1]) - int(image[y + 1, x - 1]))
        gy = (int(image[y + 1, x - 1]) + 2 * int(image[y + 1, x]) + int(image[y + 1, x + 1])
              - int(image[y - 1, x - 1]) - 2 * int(image[y - 1, x]) - int(image[y - 1, x + 1]))
        out[y, x] = min(abs(gx) + abs(gy), 255)


def softmax_row(a, out):
    memory = cuda.shared.array(256, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    largest = float32(-math.inf)
    for j in range(t, a.shape[1], cuda.blockDim.x):
        largest = max(largest, a[row, j])
    memory[t] = largest
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            memory[t] = max(memory[t], memory[t + step])
        cuda.syncthreads()
        step //= 2
    largest = memory[0]
    cuda.syncthreads()
    total = float32(0)
    for j in range(t, a.shape[1], cuda.blockDim.x):
        e = math.exp(a[row, j] - largest)
        out[row, j] = e
        total += e
    memory[t] = total
    cuda.syncthreads()
    step = 128
    while step > 0:
        if t < step:
            memory[t] += memory[t + step]
        cuda.syncthreads()
        step //= 2
    total = memory[0]
    for j in range(t, a.shape[1], cuda.blockDim.x):
        out[row, j] /= total


def layer_norm(a, gain, bias, out, epsilon):
    row = cuda.blockIdx.x
    lane = cuda.threadIdx.x
    n = a.shape[1]
    total = float32(0)
    for j in range(lane, n, 32):
        total += a[row, j]
    for k in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, k)
    mean = total / n
    total = float32(0)
    for j in range(lane, n, 32):
        total += (a[row, j] - mean) ** 2
    for k in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, k)
    scale = 1 / math.sqrt(total / n + epsilon)
    for j in range(lane, n, 32):
        out[row, j] = (a[row, j] - mean) * scale * gain[j] + bias[j]


def gemv(a, x, y, alpha, beta):
    i = cuda.grid(1)
    if i < a.shape[0]:
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        y[i] = alpha * total + beta * y[i]


def resize(image, out, scale_x, scale_y):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        u, v = x * scale_x, y * scale_y
        x0, y0 = int(u), int(v)
        x1, y1 = min(x0 + 1, image.shape[1] - 1), min(y0 + 1, image.shape[0] - 1)
        fx, fy = u - x0, v - y0
        top = image[y0, x0] * (1 - fx) + image[y0, x1] * fx
        bottom = image[y1, x0] * (1 - fx) + image[y1, x1] * fx
        out[y, x] = top * (1 - fy) + bottom * fy


def ising(spins, random, beta, color):
    x, y = cuda.grid(2)
    n, m = spins.shape
    if y < n and x < m and (x + y) % 2 == color:
        around = spins[(y - 1) % n, x] + spins[(y + 1) % n, x] + spins[y, (x - 1) % m] + spins[y, (x + 1) % m]
        energy = 2 * spins[y, x] * around
        if energy <= 0 or random[y, x] < math.exp(-beta * energy):
            spins[y, x] = -spins[y, x]


def lennard_jones(positions, neighbours, forces, cutoff):
    i = cuda.grid(1)
    if i < positions.shape[0]:
        x, y, z = positions[i, 0], positions[i, 1], positions[i, 2]
        fx = fy = fz = float32(0)
        for k in range(neighbours.shape[1]):
            j = neighbours[i, k]
            dx, dy, dz = x - positions[j, 0], y - positions[j, 1], z - positions[j, 2]
            r2 = dx * dx + dy * dy + dz * dz
            if r2 < cutoff * cutoff:
                inverse = 1 / r2
                sixth = inverse * inverse * inverse
                force = 24 * inverse * sixth * (2 * sixth - 1)
                fx += force * dx
                fy += force * dy
                fz += force * dz
        forces[i, 0], forces[i, 1], forces[i, 2] = fx, fy, fz


def blelloch(a, out):
    memory = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    n = cuda.blockDim.x * 2
    base = cuda.blockIdx.x * n
    memory[2 * t] = a[base + 2 * t]
    memory[2 * t + 1] = a[base + 2 * t + 1]
    offset = 1
    d = n >> 1
    while d > 0:
        cuda.syncthreads()
        if t < d:
            memory[offset * (2 * t + 2) - 1] += memory[offset * (2 * t + 1) - 1]
        offset *= 2
        d >>= 1
    if t == 0:
        memory[n - 1] = 0
    d = 1
    while d < n:
        offset >>= 1
        cuda.syncthreads()
        if t < d:
            left, right = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            kept = memory[left]
            memory[left] = memory[right]
            memory[right] += kept
        d *= 2
    cuda.syncthreads()
    out[base + 2 * t] = memory[2 * t]
    out[base + 2 * t + 1] = memory[2 * t + 1]


def to_gray(image, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = 0.299 * image[y, x, 0] + 0.587 * image[y, x, 1] + 0.114 * image[y, x, 2]


KERNELS = {
    "spmv_csr": Kernel(spmv_csr, f"void({INTS}, {INTS}, {LINE}, {LINE}, {LINE})", "FFMA"),
    "bitonic_step": Kernel(bitonic_step, f"void({LINE}, int64, int64)"),
    "histogram_shared": Kernel(histogram_shared, f"void({BYTES}, {INTS})", "ATOMS"),
    "heat": Kernel(heat, f"void({PLANE}, {PLANE}, float32)"),
    "jacobi": Kernel(jacobi, f"void({PLANE}, {LINE}, {LINE}, {LINE})", "FFMA"),
    "lu_step": Kernel(lu_step, f"void({PLANE}, int64)"),
    "fft_butterfly": Kernel(fft_butterfly, f"void({LINE}, {LINE}, int64)"),
    "monte_carlo_pi": Kernel(monte_carlo_pi, f"void(uint32[::1], int64, {INTS})", "FSETP"),
    "ray_sphere": Kernel(ray_sphere, f"void({PLANE}, int32[:,::1], float32)", "MUFU.RSQ"),
    "ray_sphere_fast": Kernel(ray_sphere, f"void({PLANE}, int32[:,::1], float32)", "MUFU.(RSQ|SQRT)", fast=True),
    "kmeans_assign": Kernel(kmeans_assign, f"void({PLANE}, {PLANE}, {INTS})", "FFMA"),
    "string_match": Kernel(string_match, f"void({BYTES}, {BYTES}, {BYTES})", "LDG", 2),
    "crc32": Kernel(crc32, "void(uint8[:,::1], uint32[::1], uint32[::1])", "LDG", 2),
    "floyd_warshall": Kernel(floyd_warshall, "void(int32[:,::1], int64)"),
    "sobel": Kernel(sobel, "void(uint8[:,::1], uint8[:,::1])"),
    "softmax_row": Kernel(softmax_row, f"void({PLANE}, {PLANE})", "MUFU.EX2"),
    "softmax_row_fast": Kernel(softmax_row, f"void({PLANE}, {PLANE})", "MUFU.EX2", fast=True),
    "layer_norm": Kernel(layer_norm, f"void({PLANE}, {LINE}, {LINE}, {PLANE}, float32)", "STG"),
    "gemv": Kernel(gemv, "void(float64[:,::1], float64[::1], float64[::1], float64, float64)", "DFMA"),
    "resize": Kernel(resize, f"void({PLANE}, {PLANE}, float32, float32)"),
    "ising": Kernel(ising, f"void(int8[:,::1], {PLANE}, float32, int64)"),
    "lennard_jones": Kernel(lennard_jones, f"void({PLANE}, int32[:,::1], {PLANE}, float32)", "MUFU.RCP"),
    "blelloch": Kernel(blelloch, f"void({LINE}, {LINE})", "BAR"),
    "to_gray": Kernel(to_gray, f"void(uint8[:,:,::1], {PLANE})"),
}
