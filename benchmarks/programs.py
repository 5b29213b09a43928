"""The programs that are measured: undecorated functions, and arguments for them. programs.c has the same loops in C."""
import math

import numpy as np


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def axpy(alpha, x, y):
    for i in range(x.shape[0]):
        y[i] = alpha * x[i] + y[i]


def stencil(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def mandelbrot(image, xmin, xmax, ymin, ymax, limit):
    height, width = image.shape
    for row in range(height):
        for column in range(width):
            c = complex(xmin + (xmax - xmin) * column / width, ymin + (ymax - ymin) * row / height)
            z = 0j
            n = 0
            while n < limit and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + c
                n += 1
            image[row, column] = n


def nbody(position, velocity, mass, dt):
    n = position.shape[0]
    for i in range(n):
        ax = ay = az = 0.0
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


def black_scholes(price, strike, years, rate, volatility, call, put):
    for i in range(price.shape[0]):
        root = volatility * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root
        d2 = d1 - root
        discounted = strike[i] * math.exp(-rate * years[i])
        n1 = 0.5 * math.erfc(-d1 / math.sqrt(2.0))
        n2 = 0.5 * math.erfc(-d2 / math.sqrt(2.0))
        call[i] = price[i] * n1 - discounted * n2
        put[i] = discounted * (1.0 - n2) - price[i] * (1.0 - n1)


def sieve(flags):
    n = flags.shape[0]
    for i in range(n):
        flags[i] = True
    i = 2
    while i * i < n:
        if flags[i]:
            j = i * i
            while j < n:
                flags[j] = False
                j += i
        i += 1
    count = 0
    for i in range(2, n):
        if flags[i]:
            count += 1
    return count


def arguments():
    """name -> (function, arguments). Sizes fit the second-level cache, so that code is measured, not memory."""
    rng = np.random.default_rng(7)
    return {
        "sum": (total, (rng.random(8192),)),
        "axpy": (axpy, (0.5, rng.random(8192), rng.random(8192))),
        "stencil": (stencil, (rng.random((256, 256)), np.zeros((256, 256)))),
        "matmul": (matmul, (rng.random((128, 128)), rng.random((128, 128)), np.zeros((128, 128)))),
        "mandelbrot": (mandelbrot, (np.zeros((100, 100), np.uint8), -2.0, 1.0, -1.0, 1.0, 100)),
        "nbody": (nbody, (rng.random((512, 3)), np.zeros((512, 3)), rng.random(512), 0.01)),
        "black_scholes": (black_scholes, (rng.uniform(5, 30, 8192), rng.uniform(1, 100, 8192), rng.uniform(0.25, 10, 8192),
                                          0.02, 0.3, np.zeros(8192), np.zeros(8192))),
        "sieve": (sieve, (np.zeros(100_000, np.bool_),)),
    }
