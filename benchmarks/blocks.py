"""Kernels with barriers on the cpu device beside the same algorithms in C with OpenMP.

    python benchmarks/blocks.py [--seconds 2]

Times are the best of many rounds in which both take turns, so that what else the machine does meets both; results are compared first."""
import argparse
import ctypes
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np

from quern import cuda, float32, int32

HERE = pathlib.Path(__file__).resolve().parent
TILE, BLOCK, BLOCKS = 16, 256, 64


@cuda.jit
def product(a, b, c):
    x, y = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[y, k] * b[k, x]
    c[y, x] = total


@cuda.jit
def tiled(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range(a.shape[1] // TILE):
        sa[ty, tx] = a[y, tx + i * TILE]
        sb[ty, tx] = b[ty + i * TILE, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def reduction(a, out):
    s = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    k = BLOCK // 2
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def scan(a, out):
    s = cuda.shared.array(BLOCK, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = a[i]
    cuda.syncthreads()
    d = 1
    while d < BLOCK:
        v = s[t]
        if t >= d:
            v += s[t - d]
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
        d *= 2
    out[i] = s[t]


@cuda.jit
def stencil(a, out):
    s = cuda.shared.array(BLOCK + 2, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t + 1] = a[i]
    if t == 0:
        s[0] = a[i - 1] if i > 0 else float32(0)
    if t == BLOCK - 1:
        s[BLOCK + 1] = a[i + 1] if i + 1 < a.size else float32(0)
    cuda.syncthreads()
    out[i] = float32(0.25) * s[t] + float32(0.5) * s[t + 1] + float32(0.25) * s[t + 2]


@cuda.jit
def histogram(a, out):
    h = cuda.shared.array(BLOCK, int32)
    t = cuda.threadIdx.x
    h[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    while i < a.size:
        cuda.atomic.add(h, a[i], 1)
        i += cuda.gridsize(1)
    cuda.syncthreads()
    cuda.atomic.add(out, t, h[t])


def library(folder):
    path = os.path.join(folder, "blocks.so")
    subprocess.run(["gcc", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", str(HERE / "blocks.c"), "-o", path], check=True)
    return ctypes.CDLL(path)


def cases():
    """Name, kernel, grid, block, inputs, shape and type of the result, length."""
    draw = np.random.default_rng(1)
    n, size = 512, 1 << 22
    a, b = draw.random((n, n), np.float32), draw.random((n, n), np.float32)
    line = draw.random(size, np.float32)
    side = n // TILE
    yield "product", product, (side, side), (TILE, TILE), (a, b), np.zeros_like(a), n
    yield "tiled", tiled, (side, side), (TILE, TILE), (a, b), np.zeros_like(a), n
    yield "reduction", reduction, size // BLOCK, BLOCK, (line,), np.zeros(size // BLOCK, np.float32), size
    yield "scan", scan, size // BLOCK, BLOCK, (line,), np.zeros_like(line), size
    yield "stencil", stencil, size // BLOCK, BLOCK, (line,), np.zeros_like(line), size
    yield "histogram", histogram, BLOCKS, BLOCK, (draw.integers(0, 256, size).astype(np.uint8),), np.zeros(BLOCK, np.int32), size


def best(calls, seconds):
    times = [float("inf")] * len(calls)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for k, call in enumerate(calls):
            time.sleep(0.003)  # idle threads of OpenMP spin for a while
            t = time.perf_counter()
            call()
            times[k] = min(times[k], time.perf_counter() - t)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=2)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        c, ratios = library(folder), []
        for name, kernel, grid, block, inputs, out, n in cases():
            expected = out.copy()
            function = getattr(c, name)
            pointers = [ctypes.c_void_p(v.ctypes.data) for v in (*inputs, expected)]

            def ours():
                kernel[grid, block](*arrays)
                cuda.synchronize()

            def theirs():
                function(*pointers, ctypes.c_int64(n))

            arrays = [cuda.to_device(v) for v in (*inputs, out)]
            ours()
            theirs()
            assert np.allclose(arrays[-1].copy_to_host(), expected, rtol=1e-4), name
            quern, openmp = best([ours, theirs], seconds)
            ratios.append(quern / openmp)
            print(f"{name:12} {quern * 1e3:9.3f} ms   OpenMP {openmp * 1e3:9.3f} ms   {quern / openmp:6.2f}", flush=True)
        print(f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    os.environ.setdefault("QUERN_DEVICE", "cpu")
    main()
