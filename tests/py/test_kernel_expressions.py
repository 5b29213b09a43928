"""Expressions of whole arrays in kernels, of lengths that only the launch knows: their elements are computed where they are read."""
import math

import numpy as np
import pytest

from quern import cuda, errors, float64

X = np.arange(12.0).reshape(4, 3) + 1
Y = np.array([[2.0, 3.5, 1.0], [9.0, 4.0, 2.0], [1.0, 8.5, 7.0], [3.0, 20.0, 12.0]])
OPTIONS = {"": {}, "opt": {"opt": False}, "debug": {"debug": True, "opt": False}, "bounds": {"boundscheck": True}}


@pytest.fixture(params=OPTIONS)
def same(device, request):
    """same(kernel, want): the kernel leaves that in its last argument, given X and Y."""
    def check(kernel, want, dtype=np.float64):
        out = np.zeros(np.shape(want), dtype)
        x, y = X.copy(), Y.copy()
        cuda.jit(**OPTIONS[request.param])(kernel)[1, 8](x, y, out)
        cuda.synchronize()
        assert np.allclose(out, want, rtol=1e-6 if dtype == np.float32 else 1e-13), (out, want)
    return check


def test_rows_are_stored(same):
    def k(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = x[i] * 2 + y[i] / 3 - np.sqrt(x[i])

    same(k, X * 2 + Y / 3 - np.sqrt(X))


def test_whole_arrays_are_stored(same):
    def k(x, y, out):
        if cuda.grid(1) == 0:
            out[:] = np.where(x > 3, x, -y) + x * y[0] + x[:, :1] * (y[1] - 1)

    same(k, np.where(X > 3, X, -Y) + X * Y[0] + X[:, :1] * (Y[1] - 1))


def test_stencils_of_other_arrays(same):
    def k(x, y, out):
        if cuda.grid(1) == 0:
            out[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4

    want = np.zeros((4, 3))
    want[1:-1, 1:-1] = (X[:-2, 1:-1] + X[2:, 1:-1] + X[1:-1, :-2] + X[1:-1, 2:]) / 4
    same(k, want)


def test_in_place(same):
    def k(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = x[i]
            out[i] += x[i] * 2
            out[i] *= 1 + y[i]
            out[i, 1:] -= x[i, 1:] * y[i, :-1]
            for t in range(3):
                out[i] = out[i] * 0.5 + x[i] * t
            out[i] = -out[i]

    want = (X * 3) * (1 + Y)
    want[:, 1:] -= X[:, 1:] * Y[:, :-1]
    for t in range(3):
        want = want * 0.5 + X * t
    same(k, -want)


def test_sums(same):
    def k(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            d = x[i] - y[i]
            s = math.sqrt(np.sum(d * d)) + (x[i] * y[i]).mean() + np.max(np.abs(d)) + np.min(x[i] * 2)
            t = np.var(x[i] * 2) + np.std(x[i] + y[i]) + np.linalg.norm(d) + np.ptp(x[i] * 2)
            out[i, 0] = s
            out[i, 1] = np.prod(x[i] / 2) + (x[i] > 3).sum() + np.any(x[i] > 5) + np.all(y[i] > 1) + np.dot(x[i] * 2, y[i])
            out[i, 2] = t

    d = X - Y
    same(k, np.array([np.sqrt((d * d).sum(1)) + (X * Y).mean(1) + abs(d).max(1) + (X * 2).min(1),
                      (X / 2).prod(1) + (X > 3).sum(1) + (X > 5).any(1) + (Y > 1).all(1) + (2 * X * Y).sum(1),
                      (X * 2).var(1) + (X + Y).std(1) + np.linalg.norm(d, axis=1) + np.ptp(X * 2, axis=1)]).T)


def test_elements_and_lengths(same):
    def k(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            d = x[i] * 2 - y[i]
            out[i, 0] = d[1] + d[-1] + len(d) + d.size + d.shape[0]
            e = x[i] * y[i] + 1
            out[i, 1] = np.sum(e) + np.max(e)
            total = 0.0
            for v in x[i] * 3:
                total += v
            out[i, 2] = total

    d, e = X * 2 - Y, X * Y + 1
    same(k, np.array([d[:, 1] + d[:, 2] + 9, e.sum(1) + e.max(1), (X * 3).sum(1)]).T)


def test_functions_take_and_give_them(same):
    @cuda.jit(device=True)
    def line(a):
        return a * 2 + 1

    def squares(a, b):
        away = a - b
        return away * away

    def root(a):
        return np.sqrt(np.sum(a))

    def k(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = line(x[i]) + squares(x[i], y[i]) + np.clip(x[i], 2, 5)
            out[i, 0] = root(squares(x[i], y[i]))

    want = X * 2 + 1 + (X - Y) ** 2 + np.clip(X, 2, 5)
    want[:, 0] = np.sqrt(((X - Y) ** 2).sum(1))
    same(k, want)


def test_arrays_of_the_thread_and_of_the_block(same):
    def k(x, y, out):
        i = cuda.threadIdx.x
        tile = cuda.shared.array((4, 3), float64)
        weights = cuda.local.array(3, float64)
        for j in range(3):
            weights[j] = j
        if i < 4:
            tile[i] = x[i] * weights
        cuda.syncthreads()
        if i < 4:
            scaled = y[i] * weights
            more = np.zeros(3)
            more[:] = x[i] - weights
            for j in range(3):
                more[j] += scaled[j]
            out[i] = tile[3 - i] + more

    w = np.arange(3)
    same(k, (X * w)[::-1] + Y * w + X - w)


def test_types(same):
    def k(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = x[i].astype(np.float32) * np.float32(0.5) + np.abs(x[i] + 1j * y[i])

    same(k, (X / 2 + abs(X + 1j * Y)).astype(np.float32), np.float32)


def test_branches(same):
    def k(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            if np.sum(x[i] - y[i]) > 0:
                out[i] = x[i] - y[i]
            else:
                out[i] = y[i] * x[i]

    same(k, np.where(((X - Y).sum(1) > 0)[:, None], X - Y, Y * X))


def test_what_nobody_reads(same):
    def k(x, y, out):
        x * y
        out[0] = 1

    same(k, np.array([1.0, 0.0]))


def test_shapes_that_differ(device):
    @cuda.jit(debug=True, opt=False)
    def k(x, y):
        y[:] = x * 2

    with pytest.raises(ValueError):
        k[1, 1](np.zeros(3), np.zeros(4))
        cuda.synchronize()


def before(x, out):
    d = x * 2
    x[0] = 5
    out[0] = d[0]


def in_a_loop(x, out):
    d = x * 2
    for j in range(3):
        x[j] = d[j + 1]


def at_a_barrier(x, out):
    d = x * 2
    cuda.syncthreads()
    out[0] = np.sum(d)


def assigned(x, out):
    d = x * 2
    d[0] = 1
    out[0] = d[0]


def chosen(x, out):
    d = x * 2 if out[0] > 0 else x
    out[0] = d[0]


def of_another_round(x, out):
    d = x * 2
    for j in range(3):
        out[j] = d[j]
        d = x * j


def part(x, out):
    out[0] = (x * 2)[1:].sum()


@pytest.mark.parametrize("kernel", [before, in_a_loop, at_a_barrier, assigned, chosen, of_another_round, part])
def test_what_would_need_memory_is_refused(device, kernel):
    with pytest.raises(errors.UnsupportedError, match="E0611"):
        cuda.jit(kernel)[1, 1](np.zeros(5), np.zeros(5))


def test_overlapping_parts_are_refused(device):
    def k(u):
        u[1:-1] = (u[:-2] + u[2:]) / 2

    with pytest.raises(errors.UnsupportedError, match="E0612"):
        cuda.jit(k)[1, 1](np.zeros(5))
