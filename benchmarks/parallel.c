/* parallel.c - the loops of parallel.py with OpenMP. */
#include <math.h>
#include <stdint.h>

void scale(const double *a, double *b, int64_t n) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        b[i] = a[i] * 2.0 + 1.0;
}

double sum(const double *a, int64_t n) {
    double s = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : s)
    for (int64_t i = 0; i < n; i++)
        s += a[i];
    return s;
}

void jacobi(const double *a, double *b, int64_t n, int64_t m) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < m - 1; j++)
            b[i * m + j] = 0.25 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] +
                                   a[i * m + j + 1]);
}

int64_t mandelbrot(int64_t *out, int64_t n) {
    int64_t inside = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : inside)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double cr = -2.0 + 3.0 * (double)j / (double)n, ci = -1.5 + 3.0 * (double)i / (double)n;
            double x = 0.0, y = 0.0;
            int64_t k = 0;
            while (k < 200 && x * x + y * y <= 4.0) {
                double t = x * x - y * y + cr;
                y = 2.0 * x * y + ci;
                x = t;
                k++;
            }
            out[i * n + j] = k;
            inside += k == 200;
        }
    return inside;
}

double integral(int64_t n) {
    double s = 0.0, h = 1.0 / (double)n;
#pragma omp parallel for schedule(static) reduction(+ : s)
    for (int64_t i = 0; i < n; i++) {
        double x = h * ((double)i + 0.5);
        s += 4.0 / (1.0 + x * x);
    }
    return s * h;
}
