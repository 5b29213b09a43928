"""The loops people compile: each against NumPy or plain Python, with compile and run times."""
import math

import numpy as np
import show

from quern import njit

rng = np.random.default_rng(7)


@njit
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s


a = rng.random(1_000_000)
show.report("sum, 1e6", lambda: total(a), lambda: sum(a.tolist()), "Python")


@njit
def axpy(alpha, x, y):
    for i in range(x.shape[0]):
        y[i] = alpha * x[i] + y[i]
    return y


x, y = rng.random(1_000_000), np.zeros(1_000_000)
show.report("axpy, 1e6", lambda: axpy(0.0, x, y), lambda: 0.0 * x + y)


@njit
def stencil(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            out[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return out


def stencil_numpy(a, out):
    out[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return out


grid, out = rng.random((1000, 1000)), np.zeros((1000, 1000))
show.report("five-point stencil, 1000 x 1000", lambda: stencil(grid, out).copy(), lambda: stencil_numpy(grid, out).copy())


@njit
def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            c[i, j] = 0.0
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


m, k = rng.random((256, 256)), rng.random((256, 256))
show.report("naive matrix product, 256", lambda: matmul(m, k, np.empty((256, 256))), lambda: m @ k)


@njit
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
    return image


image = np.zeros((400, 600), np.uint8)
small = np.zeros((40, 60), np.uint8)
show.report("mandelbrot, 600 x 400, 100", lambda: mandelbrot(image, -2.0, 1.0, -1.0, 1.0, 100))
show.report("mandelbrot, 60 x 40, 100", lambda: mandelbrot(small, -2.0, 1.0, -1.0, 1.0, 100).copy(),
            lambda: mandelbrot.py_func(small, -2.0, 1.0, -1.0, 1.0, 100).copy(), "Python")
show.picture("mandelbrot.png", 255 - image * 2)


@njit
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
    return velocity


def nbody_numpy(position, velocity, mass, dt):
    d = position[None, :, :] - position[:, None, :]
    scale = mass * ((d * d).sum(axis=2) + 1e-9) ** -1.5
    return velocity + dt * (d * scale[:, :, None]).sum(axis=1)


position, velocity, mass = rng.random((512, 3)), np.zeros((512, 3)), rng.random(512)
show.report("n-body, 512", lambda: nbody(position, velocity * 0, mass, 0.01),
            lambda: nbody_numpy(position, velocity * 0, mass, 0.01))


@njit
def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@njit
def black_scholes(price, strike, years, rate, volatility, call, put):
    for i in range(price.shape[0]):
        root = volatility * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / root
        d2 = d1 - root
        discounted = strike[i] * math.exp(-rate * years[i])
        call[i] = price[i] * normal_cdf(d1) - discounted * normal_cdf(d2)
        put[i] = discounted * normal_cdf(-d2) - price[i] * normal_cdf(-d1)
    return call


price, strike, years = rng.uniform(5, 30, 20000), rng.uniform(1, 100, 20000), rng.uniform(0.25, 10, 20000)
call, put = np.empty(20000), np.empty(20000)
show.report("Black-Scholes, 20000", lambda: black_scholes(price, strike, years, 0.02, 0.3, call, put).copy(),
            lambda: black_scholes.py_func(price, strike, years, 0.02, 0.3, call, put).copy(), "Python", repeat=3)


@njit
def sieve(flags):
    n = flags.shape[0]
    for i in range(n):
        flags[i] = True
    flags[0] = flags[1] = False
    i = 2
    while True:
        if i * i >= n:
            break
        if not flags[i]:
            i += 1
            continue
        j = i * i
        while j < n:
            flags[j] = False
            j += i
        i += 1
    count = 0
    for flag in flags:
        if flag:
            count += 1
    return count


flags = np.empty(1_000_000, np.bool_)
show.report("prime sieve, 1e6", lambda: sieve(flags), lambda: sieve.py_func(flags), "Python", repeat=3)
print("    primes below one million:", sieve(flags))
