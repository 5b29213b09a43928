"""Prefix sums of any length: blocks scan their part in shared memory, the sums of the blocks are scanned the same way."""
import numpy as np
import show
from show import cuda

from quern import int64

TPB = 128


@cuda.jit
def scan_blocks(x, sums, totals):
    """Running sums within each block (Hillis and Steele), and the sum of each block."""
    part = cuda.shared.array(TPB, int64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    by = 1
    while by < TPB:
        more = part[t - by] if t >= by else 0
        cuda.syncthreads()
        part[t] += more
        cuda.syncthreads()
        by *= 2
    if i < x.size:
        sums[i] = part[t]
    if t == TPB - 1:
        totals[cuda.blockIdx.x] = part[t]


@cuda.jit
def add_before(sums, totals):
    """Adds to each block what all blocks before it hold."""
    i = cuda.grid(1)
    if i < sums.size and cuda.blockIdx.x > 0:
        sums[i] += totals[cuda.blockIdx.x - 1]


def scanned(x):
    """Prefix sums of an array on the device, as another."""
    blocks = -(-x.size // TPB)
    sums, totals = cuda.device_array(x.size, np.int64), cuda.device_array(blocks, np.int64)
    scan_blocks[blocks, TPB](x, sums, totals)
    if blocks > 1:
        add_before[blocks, TPB](sums, scanned(totals))
    return sums


def example(n):
    x = np.random.default_rng(5).integers(-1000, 1000, n)
    return show.report(f"prefix sums of {n}", lambda: scanned(cuda.to_device(x)).copy_to_host(), lambda: np.cumsum(x))


if __name__ == "__main__":
    show.device()
    print("the last three:", example(1_000_003)[-3:])
