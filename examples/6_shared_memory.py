"""Shared memory and barriers, atomics, dynamic shared memory, device functions, a reduction."""
import numpy as np
import show
from show import cuda  # quern.cuda, or quern.hip with `hip` on the command line

from quern import float32, int32

TPB = 16


@cuda.jit
def matmul(A, B, C):
    """Tiled matrix product: each block stages tiles of A and B in shared memory."""
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0.0)
    for i in range((A.shape[1] + TPB - 1) // TPB):
        sA[tx, ty] = 0
        sB[tx, ty] = 0
        if x < A.shape[0] and ty + i * TPB < A.shape[1]:
            sA[tx, ty] = A[x, ty + i * TPB]
        if y < B.shape[1] and tx + i * TPB < B.shape[0]:
            sB[tx, ty] = B[tx + i * TPB, y]
        cuda.syncthreads()
        for j in range(TPB):
            total += sA[tx, j] * sB[j, ty]
        cuda.syncthreads()
    if x < C.shape[0] and y < C.shape[1]:
        C[x, y] = total


rng = np.random.default_rng(3)
A, B = rng.random((100, 80), np.float32), rng.random((80, 120), np.float32)
C = np.zeros((100, 120), np.float32)
show.device()
show.report("tiled matrix product", lambda: (matmul[(7, 8), (TPB, TPB)](A, B, C), C)[1], lambda: A @ B)


@cuda.jit
def histogram(data, low, high, bins):
    start = cuda.grid(1)
    width = (high - low) / bins.shape[0]
    for i in range(start, data.shape[0], cuda.gridsize(1)):
        k = int((data[i] - low) / width)
        if 0 <= k < bins.shape[0]:
            cuda.atomic.add(bins, k, 1)


data = rng.normal(size=100_000).astype(np.float32)
bins = np.zeros(10, np.int32)
histogram[64, 64](data, -3.0, 3.0, bins)
print("histogram:", bins, "inside:", bins.sum())


@cuda.jit
def extremes(data, result, swaps):
    i = cuda.grid(1)
    if i < data.shape[0]:
        cuda.atomic.max(result, 0, data[i])
        cuda.atomic.min(result, 1, data[i])
        cuda.atomic.compare_and_swap(swaps, -1, i)


result, swaps = np.zeros(2, np.float32), np.full(1, -1, np.int32)
extremes[(data.size + 127) // 128, 128](data, result, swaps)
print("extremes:", result, "as NumPy says:", bool(result[0] == data.max() and result[1] == data.min()))


@cuda.jit(device=True)
def clamp(value, low, high):
    return min(max(value, low), high)


@cuda.jit
def reverse_blocks(data):
    """Reverses each block of the array through dynamic shared memory."""
    scratch = cuda.shared.array(0, dtype=int32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    scratch[t] = clamp(data[i], 0, 1000)
    cuda.syncthreads()
    data[i] = scratch[cuda.blockDim.x - 1 - t]


numbers = np.arange(64, dtype=np.int32)
reverse_blocks[4, 16, 0, 16 * 4](numbers)
print("reversed blocks of 16:", numbers[:20], "...")


@cuda.reduce
def sum_reduce(a, b):
    return a + b


many = np.arange(100_001, dtype=np.float64)
print("cuda.reduce:", sum_reduce(many), "expected:", many.sum())
largest = cuda.reduce(lambda a, b: a if a > b else b)
print("cuda.reduce of a lambda:", largest(data.astype(np.float64)), "expected:", data.astype(np.float64).max())
