/* The kernels of kernels_unseen.py as a CUDA programmer writes them: int indices, __restrict__, lengths as parameters. */
#define R __restrict__
#define GRID(axis) ((int)(threadIdx.axis + blockIdx.axis * blockDim.axis))
#define BYTE       unsigned char

extern "C" {

__global__ void rms_norm(const float *R x, const float *R weight, float *R out, int m) {
    __shared__ float partial[256];
    int row = blockIdx.x, t = threadIdx.x;
    float total = 0;
    for (int j = t; j < m; j += blockDim.x)
        total += x[row * m + j] * x[row * m + j];
    partial[t] = total;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) partial[t] += partial[t + k];
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(partial[0] / m + 1e-5f);
    for (int j = t; j < m; j += blockDim.x)
        out[row * m + j] = x[row * m + j] * scale * weight[j];
}

__global__ void filter3x3(const float *R image, const float *R weights, float *R out, int n, int m) {
    int x = GRID(x), y = GRID(y);
    if (1 <= x && x < m - 1 && 1 <= y && y < n - 1) {
        float total = 0;
        for (int dy = 0; dy < 3; dy++)
            for (int dx = 0; dx < 3; dx++)
                total += image[(y + dy - 1) * m + x + dx - 1] * weights[dy * 3 + dx];
        out[y * m + x] = total;
    }
}

__global__ void spmv(const float *R values, const int *R columns, const int *R starts,
                     const float *R x, float *R y, int n) {
    int row = GRID(x);
    if (row < n) {
        float total = 0;
        for (int k = starts[row]; k < starts[row + 1]; k++)
            total += values[k] * x[columns[k]];
        y[row] = total;
    }
}

__global__ void heat3d(const float *R u, float *R out, float c, int d, int h, int w) {
    int x = GRID(x), y = GRID(y), z = GRID(z);
    if (0 < x && x < w - 1 && 0 < y && y < h - 1 && 0 < z && z < d - 1) {
        int at = (z * h + y) * w + x;
        float around = u[at - 1] + u[at + 1] + u[at - w] + u[at + w] + u[at - w * h] + u[at + w * h];
        out[at] = u[at] + c * (around - 6 * u[at]);
    }
}

__global__ void life(const BYTE *R cells, BYTE *R out, int h, int w) {
    int x = GRID(x), y = GRID(y);
    if (0 < x && x < w - 1 && 0 < y && y < h - 1) {
        int n = 0;
        for (int dy = -1; dy < 2; dy++)
            for (int dx = -1; dx < 2; dx++)
                if (dx != 0 || dy != 0) n += cells[(y + dy) * w + x + dx];
        out[y * w + x] = n == 3 || (n == 2 && cells[y * w + x] == 1) ? 1 : 0;
    }
}

__global__ void bitonic_step(int *R a, int j, int k, int n) {
    int i = GRID(x), other = i ^ j;
    if (other > i && other < n) {
        int first = a[i], second = a[other];
        if ((first > second) == ((i & k) == 0)) {
            a[i] = second;
            a[other] = first;
        }
    }
}

__global__ void nearest(const float *R points, const float *R centres, int *R labels, int n, int k,
                        int dim) {
    int i = GRID(x);
    if (i < n) {
        int best = 0;
        float least = 1e30f;
        for (int c = 0; c < k; c++) {
            float distance = 0;
            for (int d = 0; d < dim; d++) {
                float delta = points[i * dim + d] - centres[c * dim + d];
                distance += delta * delta;
            }
            if (distance < least) {
                least = distance;
                best = c;
            }
        }
        labels[i] = best;
    }
}

__global__ void gray(const BYTE *R image, BYTE *R out, int n, int m) {
    int x = GRID(x), y = GRID(y);
    if (y < n && x < m) {
        const BYTE *p = image + (y * m + x) * 3;
        out[y * m + x] = (77 * p[0] + 150 * p[1] + 29 * p[2]) >> 8;
    }
}

__global__ void shared_histogram(const BYTE *R data, int *R counts, int n) {
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads();
    for (int i = GRID(x); i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[data[i]], 1);
    __syncthreads();
    atomicAdd(&counts[t], bins[t]);
}

__global__ void collatz(int *R out, int limit, int n) {
    int i = GRID(x);
    if (i < n) {
        long v = (long)i + 1;
        int steps = 0;
        while (v != 1 && steps < limit) {
            if (v & 1)
                v = 3 * v + 1;
            else
                v >>= 1;
            steps++;
        }
        out[i] = steps;
    }
}

__device__ inline int smaller(int a, int b) {
    return a < b ? a : b;
}

__global__ void bilinear(const float *R a, float *R out, float sx, float sy, int n, int m, int on,
                         int om) {
    int x = GRID(x), y = GRID(y);
    if (y < on && x < om) {
        float fx = x * sx, fy = y * sy;
        int x0 = (int)fx, y0 = (int)fy, x1 = smaller(x0 + 1, m - 1), y1 = smaller(y0 + 1, n - 1);
        double dx = (double)fx - x0, dy = (double)fy - y0; /* as NumPy subtracts an int32 from a float32 */
        double top = a[y0 * m + x0] * (1 - dx) + a[y0 * m + x1] * dx;
        double bottom = a[y1 * m + x0] * (1 - dx) + a[y1 * m + x1] * dx;
        out[y * om + x] = top * (1 - dy) + bottom * dy;
    }
}

__global__ void axpby64(double a, const double *R x, double b, double *R y, int n) {
    for (int i = GRID(x); i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + b * y[i];
}
}
