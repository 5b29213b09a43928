"""Programs of the kinds that suites of NumPy programs have (linear algebra by slices, stencils, physics, masks that shrink, networks),
written for readers of NumPy and compiled as they stand: results and what is changed in place are NumPy's."""
import copy

import numpy as np
import pytest

from quern import njit

PROGRAMS = {}


def program(*arguments):
    def add(function):
        PROGRAMS[function.__name__] = (function, arguments)
        return function
    return add


def some(seed, *shape):
    return np.random.default_rng(seed).random(shape)


def definite(n):
    a = some(n, n, n)
    return a @ a.T + n * np.eye(n)


@program(3, some(1, 9, 9))
def alternating_directions(steps, u):
    n = u.shape[0]
    v = np.empty_like(u)
    p = np.empty(u.shape, dtype=u.dtype)
    q = np.empty(u.shape, dtype=u.dtype)
    a = c = -0.3
    b = 1.0 + 0.4
    for _ in range(1, steps + 1):
        v[0, 1:n - 1] = 1.0
        p[1:n - 1, 0] = 0.0
        q[1:n - 1, 0] = v[0, 1:n - 1]
        for j in range(1, n - 1):
            p[1:n - 1, j] = -c / (a * p[1:n - 1, j - 1] + b)
            q[1:n - 1, j] = (0.2 * u[j, 0:n - 2] + 0.6 * u[j, 1:n - 1] + 0.2 * u[j, 2:n] - a * q[1:n - 1, j - 1]) / (a * p[1:n - 1, j - 1] + b)
        v[n - 1, 1:n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:n - 1] = p[1:n - 1, j] * v[j + 1, 1:n - 1] + q[1:n - 1, j]
        u[1:-1, 1:-1] = v[1:-1, 1:-1].T


@program(some(2, 11, 6))
def correlation(data):
    n, m = data.shape
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= np.mean(data, axis=0)
    data /= np.sqrt(float(n)) * deviation
    result = np.eye(m, dtype=data.dtype)
    for i in range(m - 1):
        result[i + 1:m, i] = result[i, i + 1:m] = data[:, i] @ data[:, i + 1:m]
    return result


@program(0.25, some(3, 7, 8))
def smoothed_both_ways(alpha, image):
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)
    forth = np.empty_like(image)
    forth[:, 0] = k * image[:, 0]
    forth[:, 1] = k * image[:, 1] + b1 * forth[:, 0]
    for j in range(2, image.shape[1]):
        forth[:, j] = k * image[:, j] + b1 * forth[:, j - 1] + b2 * forth[:, j - 2]
    back = np.empty_like(image)
    back[:, -1] = 0.0
    back[:, -2] = k * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        back[:, j] = k * image[:, j + 1] + b1 * back[:, j + 1] + b2 * back[:, j + 2]
    return forth + back


@program(some(4, 9) * 0.1)
def toeplitz_by_levinson(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


@program(definite(8), some(5, 8))
def solved_by_factors(a, b):
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(a.shape[0]):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(a.shape[0] - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1:] @ x[i + 1:]) / a[i, i]
    return x, y


@program(np.random.default_rng(6).integers(1, 100, (9, 9)).astype(np.int32))
def shortest_paths(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def bin_of(x, edges):
    n = edges.shape[0] - 1
    if x == edges[-1]:
        return n - 1
    place = int(n * (x - edges[0]) / (edges[-1] - edges[0]))
    return None if place < 0 or place >= n else place


@program(some(7, 300), some(8, 300), 12)
def weighted_histogram(x, weights, bins):
    edges = np.linspace(x.min() + 0.05, x.max() - 0.05, bins + 1)
    counts = np.zeros((bins,), dtype=x.dtype)
    for i in range(x.shape[0]):
        place = bin_of(x[i], edges)
        if place is not None:
            counts[int(place)] += weights[i]
    return counts, edges


@program(9, 8, 12)
def mandelbrot_of_those_left(nx, ny, rounds):
    xi, yi = np.mgrid[0:nx, 0:ny]
    c = np.linspace(-2.0, 0.5, nx)[xi] + 1j * np.linspace(-1.25, 1.25, ny)[yi]
    count = np.zeros(c.shape, dtype=np.int64)
    last = np.zeros(c.shape, dtype=np.complex128)
    xi, yi, c = xi.reshape(nx * ny), yi.reshape(nx * ny), c.reshape(nx * ny)
    z = np.zeros(c.shape, np.complex128)
    for i in range(rounds):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        out = abs(z) > 2.0
        count[xi[out], yi[out]] = i + 1
        last[xi[out], yi[out]] = z[out]
        np.logical_not(out, out)
        z, c = z[out], c[out]
        xi, yi = xi[out], yi[out]
    return count.T, last.T


def pulled(position, mass):
    x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = dx ** 2 + dy ** 2 + dz ** 2 + 0.01
    inverse[inverse > 0] = inverse[inverse > 0] ** (-1.5)
    return np.hstack(((dx * inverse) @ mass, (dy * inverse) @ mass, (dz * inverse) @ mass))


@program(np.full((6, 1), 0.5), some(9, 6, 3), some(10, 6, 3), 3)
def bodies(mass, position, velocity, steps):
    velocity -= np.mean(mass * velocity, axis=0) / np.mean(mass)
    kinetic = np.ndarray(steps, dtype=np.float64)
    for i in range(steps):
        velocity += pulled(position, mass) * 0.01
        position += velocity * 0.01
        kinetic[i] = 0.5 * np.sum(mass * velocity ** 2)
    return kinetic, np.sum(np.triu(-(mass * mass.T), 1))


@program(np.array([0, 2, 3, 3, 6], np.uint32), np.array([0, 3, 1, 0, 1, 2], np.uint32), some(11, 6), some(12, 4))
def sparse_product(starts, columns, values, x):
    y = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        y[i] = values[starts[i]:starts[i + 1]] @ x[columns[starts[i]:starts[i + 1]]]
    return y


@program(2, 3, some(13, 8) + 1j * some(14, 8), np.zeros(8, np.complex128))
def transformed_by_radix(r, k, x, y):
    rows, columns = np.mgrid[0:r, 0:r]
    matrix = np.exp(-2.0j * np.pi * rows * columns / r)
    y[:] = x[:]
    i_all, j_all = np.mgrid[0:r, 0:r ** k]
    for i in range(k):
        parts = np.transpose(np.reshape(y, (r ** i, r, r ** (k - i - 1))), axes=(1, 0, 2))
        turn = np.exp(-2.0j * np.pi * i_all[:, :r ** i] * j_all[:, :r ** i] / r ** (i + 1))
        turns = np.repeat(np.reshape(turn, (r, r ** i, 1)), r ** (k - i - 1), axis=2)
        turned = np.reshape(parts, (r ** k,)) * np.reshape(turns, (r ** k,))
        y[:] = np.reshape(matrix @ np.reshape(turned, (r, r ** (k - 1))), (r ** k,))


@program(some(15, 3, 4, 6), some(16, 3, 4, 6), some(17, 4, 4, 6))
def columns_of_air(stage, u, w):
    depth = stage.shape[2]
    c = np.ndarray(stage.shape, dtype=stage.dtype)
    d = np.ndarray((stage.shape[0], stage.shape[1], depth), dtype=stage.dtype)
    for k in range(depth):
        g = 0.25 * (w[1:, :, k] + w[:-1, :, k])
        c[:, :, k] = g * 0.5
        d[:, :, k] = u[:, :, k] + stage[:, :, k]
        if k > 0:
            divided = 1.0 / (1.2 - c[:, :, k - 1] * g)
            c[:, :, k] = c[:, :, k] * divided
            d[:, :, k] = (d[:, :, k] - d[:, :, k - 1] * g) * divided
    below = np.empty((stage.shape[0], stage.shape[1]), stage.dtype)
    below[:] = d[:, :, depth - 1]
    for k in range(depth - 2, -1, -1):
        below[:] = d[:, :, k] - c[:, :, k] * below[:, :]
        stage[:, :, k] = 0.15 * (below - u[:, :, k])


@program(some(18, 2, 8, 8, 2).astype(np.float32), some(19, 3, 3, 2, 3).astype(np.float32), some(20, 3).astype(np.float32))
def one_layer(images, weights, bias):
    k = weights.shape[0]
    n, h = images.shape[0], images.shape[1] - k + 1
    out = np.empty((n, h, h, weights.shape[3]), dtype=np.float32)
    for i in range(h):
        for j in range(h):
            out[:, i, j, :] = np.sum(images[:, i:i + k, j:j + k, :, np.newaxis] * weights[np.newaxis, :, :, :], axis=(1, 2, 3))
    positive = np.maximum(out + bias, 0)
    pooled = np.empty([n, h // 2, h // 2, weights.shape[3]], dtype=images.dtype)
    for i in range(h // 2):
        for j in range(h // 2):
            pooled[:, i, j, :] = np.max(positive[:, 2 * i:2 * i + 2, 2 * j:2 * j + 2, :], axis=(1, 2))
    shifted = np.exp(pooled - np.max(pooled, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


@program(some(21, 3, 4, 4) + 1j * some(22, 3, 4, 4), some(23, 5) + 1j * some(24, 5), some(25, 4, 2) + 0j)
def contour(slabs, points, right):
    first = np.zeros(right.shape, dtype=np.complex128)
    for z in points:
        t = np.zeros(slabs.shape[1:], dtype=np.complex128)
        for n in range(slabs.shape[0]):
            t += np.power(z, 1.5 - n) * slabs[n]
        x = np.linalg.solve(t, right)
        first += -x if abs(z) < 1.0 else z * x
    return first


@program(np.random.default_rng(26).integers(0, 256, 60).astype(np.uint8))
def checksum(data, polynomial=0x8408):
    crc = 0xFFFF
    for byte in data:
        now = 0xFF & byte
        for _ in range(8):
            if (crc & 1) ^ (now & 1):
                crc = (crc >> 1) ^ polynomial
            else:
                crc >>= 1
            now >>= 1
    crc = ~crc & 0xFFFF
    return ((crc << 8) | ((crc >> 8) & 0xFF)) & 0xFFFF


def close(got, want):
    if isinstance(want, tuple):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            close(g, w)
    elif want is None:
        assert got is None
    else:
        assert np.shape(got) == np.shape(want) and isinstance(got, np.ndarray) == isinstance(want, np.ndarray)
        assert not isinstance(want, np.ndarray) or got.dtype == want.dtype
        tolerance = 1e-4 if getattr(want, "dtype", None) == np.float32 else 1e-9
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    function, arguments = PROGRAMS[name]
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        want = function(*theirs)
    close(njit(function)(*mine), want)
    close(mine, theirs)
