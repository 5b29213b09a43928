/* The kernels of kernels.py as a CUDA programmer writes them: int indices, __restrict__, lengths as parameters. */
#define R __restrict__
#define GRID(axis) ((int)(threadIdx.axis + blockIdx.axis * blockDim.axis))
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

__global__ void histogram(const float *R a, float low, float width, int *R counts, int n, int bins) {
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

__global__ void mandelbrot(int *R image, float left, float top, float step, int limit, int n, int m) {
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
}
