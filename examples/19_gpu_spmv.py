"""A sparse matrix times a vector, rows in compressed form: a thread a row, and a warp a row with a reduction by shuffles."""
import numpy as np
import show
from show import cuda

TPB = 128


@cuda.jit
def thread_per_row(start, column, value, x, y):
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        for k in range(start[row], start[row + 1]):
            total += value[k] * x[column[k]]
        y[row] = total


@cuda.jit
def warp_per_row(start, column, value, x, y):
    """The lanes of a warp read neighbouring elements of one row."""
    row, lane = cuda.grid(1) // cuda.warpsize, cuda.laneid
    if row < y.size:
        total = 0.0
        for k in range(start[row] + lane, start[row + 1], cuda.warpsize):
            total += value[k] * x[column[k]]
        all_lanes = cuda.activemask()
        by = cuda.warpsize // 2
        while by > 0:
            total += cuda.shfl_down_sync(all_lanes, total, by)
            by //= 2
        if lane == 0:
            y[row] = total


def random_matrix(rows, columns, rng):
    """Offsets of rows, columns and values: rows of very different lengths, some of them empty."""
    lengths = np.minimum(rng.geometric(0.08, rows) - 1, columns)
    start = np.concatenate(([0], np.cumsum(lengths)))
    column = np.concatenate([np.sort(rng.choice(columns, n, replace=False)) for n in lengths])
    return start, column, rng.normal(size=start[-1])


def by_numpy(start, column, value, x, y):
    row = np.repeat(np.arange(y.size), np.diff(start))
    return np.bincount(row, value * x[column], minlength=y.size)


def example(rows, columns):
    rng = np.random.default_rng(6)
    matrix = random_matrix(rows, columns, rng)
    args = *(cuda.to_device(a) for a in matrix), cuda.to_device(x := rng.normal(size=columns)), cuda.device_array(rows)
    expected = by_numpy(*matrix, x, np.empty(rows))

    def run(kernel, threads):
        kernel[-(-threads // TPB), TPB](*args)
        return args[-1].copy_to_host()

    warp = cuda.get_current_device().WARP_SIZE
    show.report(f"{matrix[1].size} elements, a thread a row", lambda: run(thread_per_row, rows), lambda: by_numpy(*matrix, x, expected))
    show.report("a warp a row", lambda: run(warp_per_row, rows * warp), lambda: by_numpy(*matrix, x, expected))
    return expected


if __name__ == "__main__":
    show.device()
    print("norm of the product:", np.linalg.norm(example(4000, 3000)))
