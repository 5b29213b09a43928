/* The loops of programs.py in C, checks off: what they are measured against. Compiled with clang -O3 (cc when there is
 * no clang) by run.py. Arrays are contiguous; strict floating point, no contraction. */
#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

double total(const double *a, int64_t n) {
    double s = 0.0;
    for (int64_t i = 0; i < n; i++)
        s += a[i];
    return s;
}

void axpy(double alpha, const double *x, double *y, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        y[i] = alpha * x[i] + y[i];
}

void stencil(const double *a, double *out, int64_t n, int64_t m) {
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < m - 1; j++)
            out[i * m + j] = 0.2 * (a[i * m + j] + a[(i - 1) * m + j] + a[(i + 1) * m + j] +
                                    a[i * m + j - 1] + a[i * m + j + 1]);
}

void matmul(const double *a, const double *b, double *c, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0.0;
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

void mandelbrot(uint8_t *image, double xmin, double xmax, double ymin, double ymax, int64_t limit,
                int64_t height, int64_t width) {
    for (int64_t row = 0; row < height; row++)
        for (int64_t column = 0; column < width; column++) {
            double cr = xmin + (xmax - xmin) * column / width,
                   ci = ymin + (ymax - ymin) * row / height;
            double zr = 0, zi = 0;
            int64_t n = 0;
            while (n < limit && zr * zr + zi * zi < 4.0) {
                double r = zr * zr - zi * zi + cr;
                zi = zr * zi + zi * zr + ci;
                zr = r;
                n++;
            }
            image[row * width + column] = (uint8_t)n;
        }
}

void nbody(const double *position, double *velocity, const double *mass, double dt, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double ax = 0, ay = 0, az = 0;
        for (int64_t j = 0; j < n; j++) {
            double dx = position[3 * j] - position[3 * i];
            double dy = position[3 * j + 1] - position[3 * i + 1];
            double dz = position[3 * j + 2] - position[3 * i + 2];
            double inverse = 1.0 / sqrt(dx * dx + dy * dy + dz * dz + 1e-9);
            double scale = mass[j] * inverse * inverse * inverse;
            ax += dx * scale;
            ay += dy * scale;
            az += dz * scale;
        }
        velocity[3 * i] += dt * ax;
        velocity[3 * i + 1] += dt * ay;
        velocity[3 * i + 2] += dt * az;
    }
}

void black_scholes(const double *price, const double *strike, const double *years, double rate,
                   double volatility, double *call, double *put, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double root = volatility * sqrt(years[i]);
        double d1 =
            (log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root;
        double d2 = d1 - root;
        double discounted = strike[i] * exp(-rate * years[i]);
        double n1 = 0.5 * erfc(-d1 / sqrt(2.0)), n2 = 0.5 * erfc(-d2 / sqrt(2.0));
        call[i] = price[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1);
    }
}

int64_t sieve(bool *flags, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        flags[i] = true;
    for (int64_t i = 2; i * i < n; i++)
        if (flags[i])
            for (int64_t j = i * i; j < n; j += i)
                flags[j] = false;
    int64_t count = 0;
    for (int64_t i = 2; i < n; i++)
        count += flags[i];
    return count;
}
