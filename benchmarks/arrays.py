"""Programs written with whole arrays, of the kind that NumPy users write. ARRAYS has for each its function and what makes
arguments of a size; each call gets fresh copies of them. The functions are plain Python: whoever measures compiles them."""

import numpy as np

ARRAYS = {}


def program(make):
    def add(function):
        ARRAYS[function.__name__] = (function, make)
        return function

    return add


def _rng(n):
    return np.random.default_rng(n)


@program(lambda n: (_rng(n).random((n, n, n)), 5))
def heat_3d(u, steps):
    a = u.copy()
    b = u.copy()
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = (0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1]) +
                               0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1]) +
                               0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2]) +
                               a[1:-1, 1:-1, 1:-1])
        a[1:-1, 1:-1, 1:-1] = 0.5 * (a[1:-1, 1:-1, 1:-1] + b[1:-1, 1:-1, 1:-1])
    return a


@program(lambda n: (_rng(n).random((n, n)), 20))
def jacobi_2d(start, steps):
    a = start.copy()
    b = start.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a


@program(lambda n: tuple(_rng(n + k).random((n, n)) for k in range(4)))
def gemm_chain(a, b, c, d):
    return 1.5 * (a @ b) @ c + 0.5 * d


@program(lambda n: (_rng(n).random((2 * n, n)),))
def covariance(data):
    centred = data - np.mean(data, axis=0)
    return centred.T @ centred / (data.shape[0] - 1.0)


@program(lambda n: (_rng(n).random((n, n)).astype(np.float32),))
def softmax(x):
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


@program(lambda n: (_rng(n).random((n, n)), _rng(1).random((3, 3))))
def convolution(image, weights):
    h, w = image.shape
    k, m = weights.shape
    result = np.zeros((h - k + 1, w - m + 1))
    for i in range(k):
        for j in range(m):
            result += weights[i, j] * image[i:h - k + 1 + i, j:w - m + 1 + j]
    return result


@program(lambda n: (n,))
def spectral_norm(n):
    i = np.arange(n)
    row = i.reshape(n, 1)
    a = 1.0 / ((row + i) * (row + i + 1) // 2 + row + 1)
    u = np.ones(n)
    v = np.ones(n)
    for _ in range(10):
        v = a.T @ (a @ u)
        u = a.T @ (a @ v)
    return np.sqrt((u @ v) / (v @ v))


@program(lambda n: (_rng(n).random((n, 3)), _rng(n + 1).random(n), 5))
def nbody_arrays(start, mass, steps):
    position = start.copy()
    velocity = np.zeros_like(position)
    for _ in range(steps):
        x = position[:, 0:1]
        y = position[:, 1:2]
        z = position[:, 2:3]
        dx = x.T - x
        dy = y.T - y
        dz = z.T - z
        inverse = (dx ** 2 + dy ** 2 + dz ** 2 + 0.01) ** (-1.5)
        velocity[:, 0] += 0.01 * ((dx * inverse) @ mass)
        velocity[:, 1] += 0.01 * ((dy * inverse) @ mass)
        velocity[:, 2] += 0.01 * ((dz * inverse) @ mass)
        position += 0.01 * velocity
    return position


@program(lambda n: (_rng(n).random((20 * n, 2)), 8, 5))
def kmeans(points, k, rounds):
    centres = points[:k].copy()
    labels = np.zeros(len(points), np.int64)
    for _ in range(rounds):
        away = points[:, None, :] - centres[None, :, :]
        labels = np.argmin(np.sum(away * away, axis=2), axis=1)
        for j in range(k):
            mine = labels == j
            count = np.sum(mine)
            if count > 0:
                centres[j, 0] = np.sum(points[:, 0] * mine) / count
                centres[j, 1] = np.sum(points[:, 1] * mine) / count
    return centres


@program(lambda n: ((lambda a: a @ a.T + n * np.eye(n))(_rng(n).random((n, n))),))
def cholesky_slices(matrix):
    a = matrix.copy()
    n = a.shape[0]
    for i in range(n):
        a[i, i] = np.sqrt(a[i, i] - np.sum(a[i, :i] ** 2))
        for j in range(i + 1, n):
            a[j, i] = (a[j, i] - np.sum(a[j, :i] * a[i, :i])) / a[i, i]
        a[i, i + 1:] = 0.0
    return a


@program(lambda n: (_rng(n).random(1 << (n.bit_length() + 4)) + 0j,))
def fft_slices(x):
    n = x.shape[0]
    a = x.reshape(1, n)
    while a.shape[1] > 1:
        half = a.shape[1] // 2
        even = a[:, :half]
        odd = a[:, half:]
        factor = np.exp(-1j * np.pi * np.arange(a.shape[0]) / a.shape[0]).reshape(a.shape[0], 1)
        b = np.empty((2 * a.shape[0], half), np.complex128)
        b[:a.shape[0]] = even + factor * odd
        b[a.shape[0]:] = even - factor * odd
        a = b
    return a.ravel()


@program(lambda n: (n, 30))
def mandelbrot_arrays(n, rounds):
    x = np.linspace(-2.0, 0.5, n)
    y = np.linspace(-1.25, 1.25, n)
    c = x + 1j * y.reshape(n, 1)
    z = np.zeros_like(c)
    count = np.zeros(c.shape, np.int64)
    for _ in range(rounds):
        inside = z.real * z.real + z.imag * z.imag < 4.0
        z = np.where(inside, z * z + c, z)
        count += inside
    return count


@program(lambda n: (_rng(n).integers(1, 100, (n, n)),))
def floyd_warshall(lengths):
    path = lengths.copy()
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, path[:, k:k + 1] + path[k])
    return path


@program(lambda n: (_rng(n).random(50 * n) + 0.5, _rng(n + 1).random(50 * n) + 0.5, _rng(n + 2).random(50 * n) + 0.1))
def black_scholes_arrays(price, strike, time):
    rate, sigma = 0.02, 0.3
    root = sigma * np.sqrt(time)
    d1 = (np.log(price / strike) + (rate + 0.5 * sigma * sigma) * time) / root
    d2 = d1 - root
    c1 = 1.0 / (1.0 + np.exp(-1.702 * d1))
    c2 = 1.0 / (1.0 + np.exp(-1.702 * d2))
    return price * c1 - strike * np.exp(-rate * time) * c2


@program(lambda n: (n, 10, 10))
def cavity_flow(n, steps, inner):
    u = np.zeros((n, n))
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    b = np.zeros((n, n))
    dx = 2.0 / (n - 1)
    dt, rho, nu = 0.001, 1.0, 0.1
    for _ in range(steps):
        ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
        vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dx)
        b[1:-1, 1:-1] = rho * ((ux + vy) / dt - ux ** 2 - 2 * ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dx) *
                               (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)) - vy ** 2)
        for _ in range(inner):
            pn = p.copy()
            p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1]) / 4 - dx * dx / 4 * b[1:-1, 1:-1])
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0.0
        un = u.copy()
        vn = v.copy()
        u[1:-1, 1:-1] = (un[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2]) -
                         vn[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[:-2, 1:-1]) -
                         dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2]) +
                         nu * dt / dx ** 2 * (un[1:-1, 2:] + un[1:-1, :-2] + un[2:, 1:-1] + un[:-2, 1:-1] - 4 * un[1:-1, 1:-1]))
        v[1:-1, 1:-1] = (vn[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2]) -
                         vn[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[:-2, 1:-1]) -
                         dt / (2 * rho * dx) * (p[2:, 1:-1] - p[:-2, 1:-1]) +
                         nu * dt / dx ** 2 * (vn[1:-1, 2:] + vn[1:-1, :-2] + vn[2:, 1:-1] + vn[:-2, 1:-1] - 4 * vn[1:-1, 1:-1]))
        u[-1, :] = 1.0
    return u, v, p


@program(lambda n: (_rng(n).random((n, n)), _rng(n + 1).random((n, n)), 10))
def game_of_reactions(u0, v0, steps):
    u = u0.copy()
    v = v0.copy()
    for _ in range(steps):
        lu = u[:-2, 1:-1] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1] + u[1:-1, 2:] + u[2:, 1:-1]
        lv = v[:-2, 1:-1] + v[1:-1, :-2] - 4 * v[1:-1, 1:-1] + v[1:-1, 2:] + v[2:, 1:-1]
        uvv = u[1:-1, 1:-1] * v[1:-1, 1:-1] * v[1:-1, 1:-1]
        u[1:-1, 1:-1] += 0.16 * lu - uvv + 0.06 * (1 - u[1:-1, 1:-1])
        v[1:-1, 1:-1] += 0.08 * lv + uvv - 0.122 * v[1:-1, 1:-1]
    return u, v


@program(lambda n: (_rng(n).random((10 * n, 8)), _rng(n + 1).random(10 * n), 20))
def least_squares_descent(x, y, rounds):
    w = np.zeros(x.shape[1])
    for _ in range(rounds):
        away = x @ w - y
        w -= 0.05 * (x.T @ away) / len(y)
    return w, np.mean((x @ w - y) ** 2)


@program(lambda n: (_rng(n).random((n, 4)), _rng(n + 1).random((n, 4))))
def cosine_similarity(a, b):
    na = np.sqrt(np.sum(a * a, axis=1))
    nb = np.sqrt(np.sum(b * b, axis=1))
    return (a @ b.T) / (na.reshape(-1, 1) * nb)


@program(lambda n: (_rng(n).random(100 * n),))
def moments(x):
    m = x.mean()
    c = x - m
    s = np.sqrt((c ** 2).mean())
    return m, s, (c ** 3).mean() / s ** 3, (c ** 4).mean() / s ** 4


@program(lambda n: (_rng(n).random((n, n)),))
def gram_schmidt(a):
    q = a.copy()
    for k in range(q.shape[1]):
        q[:, k] /= np.sqrt(np.sum(q[:, k] ** 2))
        for j in range(k + 1, q.shape[1]):
            q[:, j] -= np.sum(q[:, k] * q[:, j]) * q[:, k]
    return q


@program(lambda n: (_rng(n).random((n, n)), 20))
def wave_2d(start, steps):
    old = start.copy()
    now = start.copy()
    for _ in range(steps):
        new = 2.0 * now - old
        new[1:-1, 1:-1] += 0.1 * (now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4.0 * now[1:-1, 1:-1])
        old = now
        now = new
    return now


@program(lambda n: (_rng(n).random((10 * n, 8)), (_rng(n + 1).random(10 * n) > 0.5).astype(np.float64), 20))
def logistic_descent(x, y, rounds):
    w = np.zeros(x.shape[1])
    for _ in range(rounds):
        p = 1.0 / (1.0 + np.exp(-(x @ w)))
        w -= 0.1 * (x.T @ (p - y)) / len(y)
    return w


@program(lambda n: (_rng(n).random(100 * n), _rng(1).random(12)))
def horner(x, coefficients):
    result = np.zeros_like(x)
    for k in range(len(coefficients)):
        result = result * x + coefficients[k]
    return result


@program(lambda n: (_rng(n).random((n, n)), 10))
def total_variation(image, steps):
    u = image.copy()
    for _ in range(steps):
        right = u[:-1, 1:] - u[:-1, :-1]
        down = u[1:, :-1] - u[:-1, :-1]
        size = np.sqrt(right * right + down * down + 1e-6)
        right /= size
        down /= size
        u[1:-1, 1:-1] += 0.1 * (right[1:, 1:] - right[1:, :-1] + down[1:, 1:] - down[:-1, 1:]) + 0.05 * (image[1:-1, 1:-1] - u[1:-1, 1:-1])
    return u
