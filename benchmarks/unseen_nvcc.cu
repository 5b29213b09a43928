/* The kernels of unseen_nvcc.py as a CUDA programmer writes them. */
#include <math_constants.h>
#define R __restrict__
#define GRID(axis) ((int)(threadIdx.axis + blockIdx.axis * blockDim.axis))
typedef unsigned char byte;

extern "C" {

__global__ void spmv_csr(const int *R starts, const int *R columns, const float *R values, const float *R x, float *R y, int n) {
    int row = GRID(x);
    if (row < n) {
        float total = 0;
        for (int k = starts[row]; k < starts[row + 1]; k++)
            total += values[k] * x[columns[k]];
        y[row] = total;
    }
}

__global__ void bitonic_step(float *R a, int distance, int length, int n) {
    int i = GRID(x), other = i ^ distance;
    if (i < n && other > i) {
        float first = a[i], second = a[other];
        if (((i & length) == 0) == (first > second)) {
            a[i] = second;
            a[other] = first;
        }
    }
}

__global__ void histogram_shared(const byte *R image, int *R counts, int n) {
    __shared__ int bins[256];
    int t = threadIdx.x;
    if (t < 256) bins[t] = 0;
    __syncthreads();
    for (int i = GRID(x); i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[image[i]], 1);
    __syncthreads();
    if (t < 256) atomicAdd(&counts[t], bins[t]);
}

__global__ void heat(const float *R now, float *R after, float rate, int rows, int columns) {
    int j = GRID(x), i = GRID(y);
    if (i < rows && j < columns) {
        int at = i * columns + j;
        if (i == 0 || i == rows - 1 || j == 0 || j == columns - 1) {
            after[at] = now[at];
        } else {
            float around = now[at - columns] + now[at + columns] + now[at - 1] + now[at + 1];
            after[at] = now[at] + rate * (around - 4 * now[at]);
        }
    }
}

__global__ void jacobi(const float *R a, const float *R b, const float *R x, float *R out, int n) {
    int i = GRID(x);
    if (i >= n) return;
    float total = b[i];
    for (int j = 0; j < n; j++)
        if (j != i) total -= a[i * n + j] * x[j];
    out[i] = total / a[i * n + i];
}

__global__ void lu_step(float *R a, int k, int n) {
    int j = GRID(x), i = GRID(y);
    if (i > k && j > k && i < n && j < n) a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

__global__ void fft_butterfly(float *R real, float *R imag, int half, int n) {
    int t = GRID(x);
    if (t < n / 2) {
        int k = t % half, i = (t / half) * half * 2 + k, j = i + half;
        double angle = (double)-3.14159265f * k / half, c = cos(angle), s = sin(angle);
        double re = real[j] * c - imag[j] * s, im = real[j] * s + imag[j] * c;
        real[j] = real[i] - re;
        imag[j] = imag[i] - im;
        real[i] += re;
        imag[i] += im;
    }
}

__global__ void monte_carlo_pi(unsigned *R states, int rounds, int *R hits, int n) {
    int i = GRID(x);
    if (i < n) {
        unsigned state = states[i];
        int count = 0;
        for (int round = 0; round < rounds; round++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            float x = (float)(state & 0xFFFF) / 65536, y = (float)(state >> 16) / 65536;
            if (x * x + y * y < 1) count++;
        }
        states[i] = state;
        hits[i] = count;
    }
}

__global__ void ray_sphere(const float *R spheres, int *R image, float step, int count, int height, int width) {
    int x = GRID(x), y = GRID(y);
    if (y < height && x < width) {
        float dx = (x - width / 2.0f) * step, dy = (y - height / 2.0f) * step;
        float inverse = 1 / sqrtf(dx * dx + dy * dy + 1), dz = inverse;
        dx *= inverse, dy *= inverse;
        float nearest = 1e30f;
        int hit = -1;
        for (int k = 0; k < count; k++) {
            float cx = spheres[4 * k], cy = spheres[4 * k + 1], cz = spheres[4 * k + 2], r = spheres[4 * k + 3];
            float along = dx * cx + dy * cy + dz * cz;
            float inside = along * along - (cx * cx + cy * cy + cz * cz) + r * r;
            if (inside > 0) {
                float distance = along - sqrtf(inside);
                if (0 < distance && distance < nearest) {
                    nearest = distance;
                    hit = k;
                }
            }
        }
        image[y * width + x] = hit;
    }
}

__global__ void kmeans_assign(const float *R points, const float *R centers, int *R labels, int n, int k, int dimensions) {
    int i = GRID(x);
    if (i < n) {
        float best = CUDART_INF_F;
        int label = 0;
        for (int c = 0; c < k; c++) {
            float distance = 0;
            for (int d = 0; d < dimensions; d++) {
                float difference = points[i * dimensions + d] - centers[c * dimensions + d];
                distance += difference * difference;
            }
            if (distance < best) {
                best = distance;
                label = c;
            }
        }
        labels[i] = label;
    }
}

__global__ void string_match(const byte *R text, const byte *R word, byte *R found, int n, int m) {
    int i = GRID(x);
    if (i <= n - m) {
        int j = 0;
        while (j < m && text[i + j] == word[j])
            j++;
        if (j == m) found[i] = 1;
    }
}

__global__ void crc32(const byte *R messages, const unsigned *R table, unsigned *R out, int n, int length) {
    int i = GRID(x);
    if (i < n) {
        unsigned crc = 0xFFFFFFFF;
        for (int k = 0; k < length; k++)
            crc = table[(crc ^ messages[i * length + k]) & 0xFF] ^ (crc >> 8);
        out[i] = crc ^ 0xFFFFFFFF;
    }
}

__global__ void floyd_warshall(int *R distance, int k, int n) {
    int j = GRID(x), i = GRID(y);
    if (i < n && j < n) {
        int through = distance[i * n + k] + distance[k * n + j];
        if (through < distance[i * n + j]) distance[i * n + j] = through;
    }
}

__global__ void sobel(const byte *R image, byte *R out, int height, int width) {
    int x = GRID(x), y = GRID(y);
    if (0 < x && x < width - 1 && 0 < y && y < height - 1) {
        const byte *p = image + y * width + x;
        int gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[-1 + width];
        int gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
        out[y * width + x] = min(abs(gx) + abs(gy), 255);
    }
}

__global__ void softmax_row(const float *R a, float *R out, int n) {
    __shared__ float memory[256];
    int row = blockIdx.x, t = threadIdx.x;
    float largest = -CUDART_INF_F;
    for (int j = t; j < n; j += blockDim.x)
        largest = fmaxf(largest, a[row * n + j]);
    memory[t] = largest;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) memory[t] = fmaxf(memory[t], memory[t + step]);
        __syncthreads();
    }
    largest = memory[0];
    __syncthreads();
    float total = 0;
    for (int j = t; j < n; j += blockDim.x) {
        float e = expf(a[row * n + j] - largest);
        out[row * n + j] = e;
        total += e;
    }
    memory[t] = total;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) memory[t] += memory[t + step];
        __syncthreads();
    }
    total = memory[0];
    for (int j = t; j < n; j += blockDim.x)
        out[row * n + j] /= total;
}

__global__ void layer_norm(const float *R a, const float *R gain, const float *R bias, float *R out, float epsilon, int n) {
    int row = blockIdx.x, lane = threadIdx.x;
    float total = 0;
    for (int j = lane; j < n; j += 32)
        total += a[row * n + j];
    for (int k = 16; k > 0; k /= 2)
        total += __shfl_xor_sync(0xFFFFFFFF, total, k);
    float mean = total / n;
    total = 0;
    for (int j = lane; j < n; j += 32) {
        float difference = a[row * n + j] - mean;
        total += difference * difference;
    }
    for (int k = 16; k > 0; k /= 2)
        total += __shfl_xor_sync(0xFFFFFFFF, total, k);
    float scale = 1 / sqrtf(total / n + epsilon);
    for (int j = lane; j < n; j += 32)
        out[row * n + j] = (a[row * n + j] - mean) * scale * gain[j] + bias[j];
}

__global__ void gemv(const double *R a, const double *R x, double *R y, double alpha, double beta, int n, int m) {
    int i = GRID(x);
    if (i < n) {
        double total = 0;
        for (int j = 0; j < m; j++)
            total += a[i * m + j] * x[j];
        y[i] = alpha * total + beta * y[i];
    }
}

__global__ void resize(const float *R image, float *R out, float scale_x, float scale_y, int height, int width,
                       int out_height, int out_width) {
    int x = GRID(x), y = GRID(y);
    if (x < out_width && y < out_height) {
        float u = x * scale_x, v = y * scale_y;
        int x0 = (int)u, y0 = (int)v, x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
        float fx = u - x0, fy = v - y0;
        float top = image[y0 * width + x0] * (1 - fx) + image[y0 * width + x1] * fx;
        float bottom = image[y1 * width + x0] * (1 - fx) + image[y1 * width + x1] * fx;
        out[y * out_width + x] = top * (1 - fy) + bottom * fy;
    }
}

__global__ void ising(signed char *R spins, const float *R random, float beta, int color, int n, int m) {
    int x = GRID(x), y = GRID(y);
    if (y < n && x < m && (x + y) % 2 == color) {
        int around = spins[(y + n - 1) % n * m + x] + spins[(y + 1) % n * m + x] + spins[y * m + (x + m - 1) % m] +
                     spins[y * m + (x + 1) % m];
        int energy = 2 * spins[y * m + x] * around;
        if (energy <= 0 || random[y * m + x] < expf(-beta * energy)) spins[y * m + x] = -spins[y * m + x];
    }
}

__global__ void lennard_jones(const float *R positions, const int *R neighbours, float *R forces, float cutoff, int n, int m) {
    int i = GRID(x);
    if (i < n) {
        float x = positions[3 * i], y = positions[3 * i + 1], z = positions[3 * i + 2], fx = 0, fy = 0, fz = 0;
        for (int k = 0; k < m; k++) {
            int j = neighbours[i * m + k];
            float dx = x - positions[3 * j], dy = y - positions[3 * j + 1], dz = z - positions[3 * j + 2];
            float r2 = dx * dx + dy * dy + dz * dz;
            if (r2 < cutoff * cutoff) {
                float inverse = 1 / r2, sixth = inverse * inverse * inverse;
                float force = 24 * inverse * sixth * (2 * sixth - 1);
                fx += force * dx, fy += force * dy, fz += force * dz;
            }
        }
        forces[3 * i] = fx, forces[3 * i + 1] = fy, forces[3 * i + 2] = fz;
    }
}

__global__ void blelloch(const float *R a, float *R out) {
    __shared__ float memory[1024];
    int t = threadIdx.x, n = blockDim.x * 2, base = blockIdx.x * n, offset = 1;
    memory[2 * t] = a[base + 2 * t];
    memory[2 * t + 1] = a[base + 2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) memory[offset * (2 * t + 2) - 1] += memory[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) memory[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            float kept = memory[left];
            memory[left] = memory[right];
            memory[right] += kept;
        }
    }
    __syncthreads();
    out[base + 2 * t] = memory[2 * t];
    out[base + 2 * t + 1] = memory[2 * t + 1];
}

__global__ void to_gray(const byte *R image, float *R out, int height, int width) {
    int x = GRID(x), y = GRID(y);
    if (y < height && x < width) {
        const byte *p = image + 3 * (y * width + x);
        out[y * width + x] = 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
    }
}
}
