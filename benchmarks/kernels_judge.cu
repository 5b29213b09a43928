/* The kernels of kernels_judge.py as a CUDA programmer writes them: int indices, __restrict__, lengths as parameters. */
#define R          __restrict__
#define GRID(axis) ((int)(threadIdx.axis + blockIdx.axis * blockDim.axis))
#define BYTE       unsigned char

extern "C" {

__global__ void block_prefix_max(const int *R a, int *R out, int n) {
    __shared__ int seen[256];
    int t = threadIdx.x, i = GRID(x);
    seen[t] = i < n ? a[i] : -2147483647 - 1;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int value = seen[t];
        if (t >= step) value = max(value, seen[t - step]);
        __syncthreads();
        seen[t] = value;
        __syncthreads();
    }
    if (i < n) out[i] = seen[t];
}

__global__ void ellpack(const float *R values, const int *R columns, const float *R x, float *R y,
                        int rows, int slots) {
    int row = GRID(x);
    if (row < rows) {
        float total = 0;
        for (int slot = 0; slot < slots; slot++) {
            int column = columns[slot * rows + row];
            if (column >= 0) total += values[slot * rows + row] * x[column];
        }
        y[row] = total;
    }
}

__global__ void gradient_magnitude(const float *R image, float *R out, int h, int w) {
    int x = GRID(x), y = GRID(y);
    if (x < w && y < h) {
        float gx = image[y * w + min(x + 1, w - 1)] - image[y * w + max(x - 1, 0)];
        float gy = image[min(y + 1, h - 1) * w + x] - image[max(y - 1, 0) * w + x];
        out[y * w + x] = 0.5f * sqrtf(gx * gx + gy * gy);
    }
}

__global__ void wave_line(const float *R now, const float *R before, float *R after, float courant,
                          int n) {
    int i = GRID(x);
    if (i >= n) return;
    if (i == 0)
        after[i] = 0;
    else if (i == n - 1)
        after[i] = now[i - 1];
    else
        after[i] = 2.0f * now[i] - before[i] +
                   courant * courant * (now[i + 1] - 2.0f * now[i] + now[i - 1]);
}

__global__ void bounce(float *R position, float *R velocity, float gravity, float dt, float size,
                       int n) {
    for (int i = GRID(x); i < n; i += blockDim.x * gridDim.x) {
        velocity[i * 3 + 2] -= gravity * dt;
        for (int d = 0; d < 3; d++) {
            float p = position[i * 3 + d] + velocity[i * 3 + d] * dt;
            if (p < 0) {
                p = -p;
                velocity[i * 3 + d] = -velocity[i * 3 + d];
            } else if (p > size) {
                p = 2.0f * size - p;
                velocity[i * 3 + d] = -velocity[i * 3 + d];
            }
            position[i * 3 + d] = p;
        }
    }
}

__global__ void logistic(const double *R rates, double *R x, int steps, int n) {
    int i = GRID(x);
    if (i < n) {
        double r = rates[i], v = x[i];
        for (int s = 0; s < steps; s++)
            v = r * v * (1.0 - v);
        x[i] = v;
    }
}

__global__ void bin_points(const float *R points, float left, float top, float per_cell,
                           int *R counts, int n, int h, int w) {
    int i = GRID(x);
    if (i < n) {
        int cx = (int)floorf((points[i * 2] - left) * per_cell);
        int cy = (int)floorf((points[i * 2 + 1] - top) * per_cell);
        if (0 <= cx && cx < w && 0 <= cy && cy < h) atomicAdd(&counts[cy * w + cx], 1);
    }
}

__global__ void cosine(const float *R a, const float *R b, float *R out, int n, int m) {
    int row = GRID(x);
    if (row < n) {
        float dot = 0, aa = 0, bb = 0;
        for (int j = 0; j < m; j++) {
            float u = a[row * m + j], v = b[row * m + j];
            dot += u * v;
            aa += u * u;
            bb += v * v;
        }
        out[row] = 1.0f - dot / sqrtf(aa * bb);
    }
}

__global__ void triangle_areas(const float *R vertices, const int *R faces, float *R areas, int n) {
    int f = GRID(x);
    if (f < n) {
        const float *a = vertices + faces[f * 3] * 3, *b = vertices + faces[f * 3 + 1] * 3;
        const float *c = vertices + faces[f * 3 + 2] * 3;
        float ux = b[0] - a[0], uy = b[1] - a[1], uz = b[2] - a[2];
        float vx = c[0] - a[0], vy = c[1] - a[1], vz = c[2] - a[2];
        float nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
        areas[f] = 0.5f * sqrtf(nx * nx + ny * ny + nz * nz);
    }
}

__global__ void blend(const BYTE *R under, const BYTE *R over, int weight, BYTE *R out, int h,
                      int w) {
    int x = GRID(x), y = GRID(y);
    if (y < h && x < w) {
        int value = under[y * w + x] + ((over[y * w + x] * weight) >> 7);
        out[y * w + x] = min(value, 255);
    }
}

__global__ void max_pool(const float *R image, float *R out, int h, int w, int m) {
    int x = GRID(x), y = GRID(y);
    if (x < w && y < h) {
        float best = image[2 * y * m + 2 * x];
        for (int dy = 0; dy < 2; dy++)
            for (int dx = 0; dx < 2; dx++)
                best = fmaxf(best, image[(2 * y + dy) * m + 2 * x + dx]);
        out[y * w + x] = best;
    }
}

__global__ void median_of_three(const float *R a, float *R out, int n) {
    for (int i = GRID(x); i < n; i += blockDim.x * gridDim.x) {
        if (i == 0 || i == n - 1) {
            out[i] = a[i];
        } else {
            float p = a[i - 1], q = a[i], r = a[i + 1];
            if (p > q) {
                float swap = p;
                p = q;
                q = swap;
            }
            if (q > r) q = r;
            if (p > q) q = p;
            out[i] = q;
        }
    }
}

__global__ void row_argmax(const float *R a, int *R out, int m) {
    __shared__ float values[128];
    __shared__ int places[128];
    int row = blockIdx.x, t = threadIdx.x, at = 0;
    float best = -1e30f;
    for (int j = t; j < m; j += blockDim.x)
        if (a[row * m + j] > best) {
            best = a[row * m + j];
            at = j;
        }
    values[t] = best;
    places[t] = at;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half && values[t + half] > values[t]) {
            values[t] = values[t + half];
            places[t] = places[t + half];
        }
        __syncthreads();
    }
    if (t == 0) out[row] = places[0];
}

__global__ void segment_sums(const float *R a, const int *R starts, float *R out, int segments) {
    int s = GRID(x);
    if (s < segments) {
        float total = 0;
        for (int i = starts[s]; i < starts[s + 1]; i++) {
            out[i] = total;
            total += a[i];
        }
    }
}
}
