/* The kernels of kernels.py as a CUDA programmer writes them: int indices, __restrict__, lengths as parameters. */
#define R          __restrict__
#define GRID(axis) ((int)(threadIdx.axis + blockIdx.axis * blockDim.axis))
#define SIZE(axis) ((int)(gridDim.axis * blockDim.axis))
#define TILE       16

extern "C" {

__global__ void add(const float *R x, const float *R y, float *R out, int n) {
    for (int i = GRID(x); i < n; i += blockDim.x * gridDim.x)
        out[i] = x[i] + y[i];
}

__global__ void saxpy(float a, const float *R x, float *R y, int n) {
    int i = GRID(x);
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void stencil(const float *R a, float *R out, int n, int m) {
    int i = GRID(x), j = GRID(y);
    if (1 <= i && i < n - 1 && 1 <= j && j < m - 1)
        out[i * m + j] = 0.2f * (a[i * m + j] + a[(i - 1) * m + j] + a[(i + 1) * m + j] +
                                 a[i * m + j - 1] + a[i * m + j + 1]);
}

__global__ void matmul(const float *R a, const float *R b, float *R c, int n, int depth, int m) {
    int x = GRID(x), y = GRID(y);
    if (y < n && x < m) {
        float total = 0;
        for (int k = 0; k < depth; k++)
            total += a[y * depth + k] * b[k * m + x];
        c[y * m + x] = total;
    }
}

__global__ void matmul_tiled(const float *R a, const float *R b, float *R c, int depth, int m) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = GRID(x), y = GRID(y), tx = threadIdx.x, ty = threadIdx.y;
    float total = 0;
    for (int i = 0; i < depth / TILE; i++) {
        tile_a[ty][tx] = a[y * depth + tx + i * TILE];
        tile_b[ty][tx] = b[(ty + i * TILE) * m + x];
        __syncthreads();
        for (int j = 0; j < TILE; j++)
            total += tile_a[ty][j] * tile_b[j][tx];
        __syncthreads();
    }
    c[y * m + x] = total;
}

__global__ void nbody(const float *R p, float *R v, const float *R mass, float dt, int n) {
    int i = GRID(x);
    if (i < n) {
        float ax = 0, ay = 0, az = 0;
        for (int j = 0; j < n; j++) {
            float dx = p[3 * j] - p[3 * i], dy = p[3 * j + 1] - p[3 * i + 1],
                  dz = p[3 * j + 2] - p[3 * i + 2];
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-9f);
            float scale = mass[j] * inverse * inverse * inverse;
            ax += dx * scale, ay += dy * scale, az += dz * scale;
        }
        v[3 * i] += dt * ax, v[3 * i + 1] += dt * ay, v[3 * i + 2] += dt * az;
    }
}

__global__ void histogram(const float *R a, float low, float width, int *R counts, int n,
                          int bins) {
    for (int i = GRID(x); i < n; i += blockDim.x * gridDim.x) {
        int bin = (int)((a[i] - low) / width);
        if (bin >= 0 && bin < bins) atomicAdd(&counts[bin], 1);
    }
}

__global__ void block_sum(const float *R a, float *R out, int n) {
    __shared__ float partial[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    float total = 0;
    if (i < n) total = a[i];
    if (i + blockDim.x < n) total += a[i + blockDim.x];
    partial[t] = total;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) partial[t] += partial[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

__global__ void transpose(const float *R a, float *R out, int n, int m) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (y + j < n && x < m) tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * m + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (y + j < m && x < n) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void by_rows(const float *R a, int width, float *R out, int n) {
    int i = GRID(x);
    if (i < n) out[i] = a[i % width] + i / width;
}

__global__ void dot(const float *R a, const float *R b, float *R out, int n) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    float total = 0;
    for (int i = GRID(x); i < n; i += blockDim.x * gridDim.x)
        total += a[i] * b[i];
    partial[t] = total;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) partial[t] += partial[t + k];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, partial[0]);
}

__global__ void mandelbrot(int *R image, float left, float top, float step, int limit, int n,
                           int m) {
    int x = GRID(x), y = GRID(y);
    if (y < n && x < m) {
        float real = left + x * step, imag = top + y * step, a = 0, b = 0;
        int count = 0;
        while (count < limit && a * a + b * b < 4) {
            float next = a * a - b * b + real;
            b = 2 * a * b + imag;
            a = next;
            count++;
        }
        image[y * m + x] = count;
    }
}

__global__ void gather(const float *R a, const int *R index, float *R out, int n) {
    int i = GRID(x);
    if (i < n) out[i] = a[index[i]];
}

__global__ void convolve(const float *R a, const float *R taps, float *R out, int n, int ntaps) {
    int i = GRID(x);
    if (i < n) {
        float total = 0;
        for (int k = 0; k < ntaps; k++)
            total += a[i + k] * taps[k];
        out[i] = total;
    }
}

__global__ void bias_relu(const float *R a, const float *R bias, float *R out, int n, int m) {
    int x = GRID(x), y = GRID(y);
    if (y < n && x < m) {
        float value = a[y * m + x] + bias[x];
        out[y * m + x] = value > 0 ? value : 0;
    }
}

__global__ void scan(const float *R a, float *R out) {
    __shared__ float memory[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    memory[t] = a[i];
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        float value = 0;
        if (t >= step) value = memory[t - step];
        __syncthreads();
        memory[t] += value;
        __syncthreads();
    }
    out[i] = memory[t];
}

__global__ void axpy_while(float a, const float *R x, float *R y, int n) {
    for (int i = GRID(x); i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void life(const unsigned char *R now, unsigned char *R after, int h, int w) {
    int x = GRID(x), y = GRID(y);
    if (y < h && x < w) {
        int alive = 0;
        for (int dy = -1; dy < 2; dy++)
            for (int dx = -1; dx < 2; dx++)
                if (dy != 0 || dx != 0) alive += now[(y + dy + h) % h * w + (x + dx + w) % w];
        after[y * w + x] = alive == 3 || (alive == 2 && now[y * w + x] == 1);
    }
}

__global__ void convolve_5x5(const float *R image, const float *R taps, float *R out, int n,
                             int m) {
    int x = GRID(x), y = GRID(y);
    if (2 <= y && y < n - 2 && 2 <= x && x < m - 2) {
        float total = 0;
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                total += image[(y + i - 2) * m + x + j - 2] * taps[i * 5 + j];
        out[y * m + x] = total;
    }
}

__global__ void wave(const float *R now, const float *R before, float *R after, float speed, int n,
                     int m, int l) {
    int i = GRID(x), j = GRID(y), k = GRID(z);
    if (0 < i && i < n - 1 && 0 < j && j < m - 1 && 0 < k && k < l - 1) {
        int at = (i * m + j) * l + k;
        float around = now[at - m * l] + now[at + m * l] + now[at - l] + now[at + l] + now[at - 1] +
                       now[at + 1] - 6 * now[at];
        after[at] = 2 * now[at] - before[at] + speed * around;
    }
}

__global__ void mean_of_draws(unsigned seed, int draws, float *R out, int n) {
    int i = GRID(x);
    if (i < n) {
        unsigned state = seed + i * 2654435761u;
        float total = 0;
        for (int k = 0; k < draws; k++) {
            state = state * 1664525 + 1013904223;
            total += (float)(state >> 16) / 65536;
        }
        out[i] = total / (double)draws; /* as NumPy divides a float32 by an int */
    }
}

#ifdef __NVCC__ /* mathematics and shuffles; what was added when the table of AMD stood */
__global__ void black_scholes(const float *R price, const float *R strike, const float *R years,
                              float rate, float volatility, float *R call, int n) {
    int i = GRID(x);
    if (i < n) {
        float root = sqrtf(years[i]);
        float d1 = (logf(price[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) /
                   (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = erfcf(-d1 * 0.70710678f) / 2, n2 = erfcf(-d2 * 0.70710678f) / 2;
        call[i] = price[i] * n1 - strike[i] * expf(-rate * years[i]) * n2;
    }
}

__global__ void warp_rows(const float *R a, const float *R x, float *R y, int n, int m) {
    int row = GRID(x) / 32, lane = threadIdx.x % 32;
    if (row < n) {
        float total = 0;
        for (int j = lane; j < m; j += 32)
            total += a[row * m + j] * x[j];
        for (int step = 16; step > 0; step /= 2)
            total += __shfl_down_sync(0xFFFFFFFF, total, step);
        if (lane == 0) y[row] = total;
    }
}

__global__ void spmv_rows(const int *R indptr, const int *R indices, const float *R data,
                          const float *R x, float *R y, int n) {
    int row = GRID(x);
    if (row < n) {
        float total = 0;
        for (int k = indptr[row]; k < indptr[row + 1]; k++)
            total += data[k] * x[indices[k]];
        y[row] = total;
    }
}

__global__ void box_blur(const float *R image, float *R out, int radius, int h, int w) {
    int x = GRID(x), y = GRID(y);
    if (x >= w || y >= h) return;
    float total = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            int yy = min(max(y + dy, 0), h - 1), xx = min(max(x + dx, 0), w - 1);
            total += image[yy * w + xx];
        }
    out[y * w + x] = total / ((2 * radius + 1) * (2 * radius + 1));
}

__global__ void column_sums(const float *R a, float *R out, int n, int m) {
    int j = GRID(x);
    if (j < m) {
        float total = 0;
        for (int i = 0; i < n; i++)
            total += a[i * m + j];
        out[j] = total;
    }
}

__global__ void search(const float *R keys, const float *R table, long long *R found, int n,
                       int m) {
    int i = GRID(x);
    if (i < n) {
        float key = keys[i];
        int low = 0, high = m;
        while (low < high) {
            int middle = (low + high) / 2;
            if (table[middle] < key)
                low = middle + 1;
            else
                high = middle;
        }
        found[i] = low;
    }
}

__global__ void heat_flat(const float *R a, float *R out, int w, int h) {
    int i = GRID(x);
    if (i < w * h) {
        int x = i % w, y = i / w;
        if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
            out[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w]);
    }
}

__global__ void advect(const float *R field, const float *R u, const float *R v, float *R out,
                       float dt, int h, int w) {
    int x = GRID(x), y = GRID(y);
    if (x < w && y < h) {
        float fx = fminf(fmaxf(x - dt * u[y * w + x], 0.0f), (float)(w - 1.001));
        float fy = fminf(fmaxf(y - dt * v[y * w + x], 0.0f), (float)(h - 1.001));
        int x0 = (int)fx, y0 = (int)fy;
        float sx = fx - x0, sy = fy - y0;
        float top = field[y0 * w + x0] * (1 - sx) + field[y0 * w + x0 + 1] * sx;
        float bottom = field[(y0 + 1) * w + x0] * (1 - sx) + field[(y0 + 1) * w + x0 + 1] * sx;
        out[y * w + x] = top * (1 - sy) + bottom * sy;
    }
}

__global__ void polynomial(const float *R x, const float *R c, float *R out, int n, int m) {
    int i = GRID(x);
    if (i < n) {
        float r = 0;
        for (int k = m - 1; k >= 0; k--)
            r = r * x[i] + c[k];
        out[i] = r;
    }
}

__global__ void nbody_tiled(const float *R pos, float *R acc, int n) {
    __shared__ float tile[128][4];
    int i = GRID(x), t = threadIdx.x;
    float x = 0, y = 0, z = 0, ax = 0, ay = 0, az = 0;
    if (i < n) x = pos[4 * i], y = pos[4 * i + 1], z = pos[4 * i + 2];
    for (int start = 0; start < n; start += 128) {
        if (start + t < n)
            for (int k = 0; k < 4; k++)
                tile[t][k] = pos[(start + t) * 4 + k];
        __syncthreads();
        int m = min(128, n - start);
        for (int j = 0; j < m; j++) {
            float dx = tile[j][0] - x, dy = tile[j][1] - y, dz = tile[j][2] - z;
            float d2 = dx * dx + dy * dy + dz * dz + 0.01f;
            float inv = 1 / sqrtf(d2);
            float s = tile[j][3] * inv * inv * inv;
            ax += dx * s, ay += dy * s, az += dz * s;
        }
        __syncthreads();
    }
    if (i < n) acc[4 * i] = ax, acc[4 * i + 1] = ay, acc[4 * i + 2] = az;
}

__global__ void scatter(const float *R a, const int *R target, float *R out, int n) {
    for (int i = GRID(x); i < n; i += SIZE(x))
        out[target[i]] = a[i];
}

__global__ void heat_tile(const float *R a, float *R out, float k, int h, int w) {
    __shared__ float tile[18][18];
    int x = GRID(x), y = GRID(y), tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    if (x < w && y < h) {
        tile[ty][tx] = a[y * w + x];
        if (tx == 1 && x > 0) tile[ty][0] = a[y * w + x - 1];
        if (tx == 16 && x < w - 1) tile[ty][17] = a[y * w + x + 1];
        if (ty == 1 && y > 0) tile[0][tx] = a[(y - 1) * w + x];
        if (ty == 16 && y < h - 1) tile[17][tx] = a[(y + 1) * w + x];
    }
    __syncthreads();
    if (0 < x && x < w - 1 && 0 < y && y < h - 1)
        out[y * w + x] =
            tile[ty][tx] + k * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] +
                                tile[ty][tx + 1] - 4 * tile[ty][tx]);
}
#endif
}
