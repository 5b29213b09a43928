"""Convolution of a picture: the filter in constant memory, a tile with its halo in shared memory, edges repeated."""
import numpy as np
import show
from show import cuda

from quern import float32

TILE, RADIUS = 16, 2
SIDE = TILE + 2 * RADIUS
LINE = np.array([1, 4, 6, 4, 1], np.float32) / 16
BLUR = np.outer(LINE, LINE)


@cuda.jit
def blur(picture, out):
    weights = cuda.const.array_like(BLUR)
    tile = cuda.shared.array((SIDE, SIDE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * TILE - RADIUS, cuda.blockIdx.x * TILE - RADIUS
    for y in range(ty, SIDE, TILE):
        for x in range(tx, SIDE, TILE):
            row = min(max(top + y, 0), picture.shape[0] - 1)
            column = min(max(left + x, 0), picture.shape[1] - 1)
            tile[y, x] = picture[row, column]
    cuda.syncthreads()
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        total = float32(0)
        for i in range(2 * RADIUS + 1):
            for j in range(2 * RADIUS + 1):
                total += weights[i, j] * tile[ty + i, tx + j]
        out[y, x] = total


def convolve(picture):
    out = np.empty_like(picture)
    blocks = -(-picture.shape[1] // TILE), -(-picture.shape[0] // TILE)
    blur[blocks, (TILE, TILE)](picture, out)
    return out


def by_numpy(picture):
    height, width = picture.shape
    padded = np.pad(picture, RADIUS, mode="edge")
    return sum(BLUR[i, j] * padded[i:i + height, j:j + width] for i in range(5) for j in range(5))


def example(height, width):
    """Discs and stripes with noise, blurred: the picture before and after."""
    y, x = np.mgrid[0:height, 0:width] / height
    picture = (np.sin(40 * x * y) > 0) * 0.6 + (np.hypot(x - 0.7, y - 0.4) < 0.25) * 0.4
    picture = (picture + np.random.default_rng(1).normal(0, 0.15, picture.shape)).astype(np.float32)
    out = show.report(f"blur of {height} x {width}", lambda: convolve(picture), lambda: by_numpy(picture))
    return np.hstack((picture, out))


if __name__ == "__main__":
    show.device()
    show.picture("convolution.png", np.clip(example(480, 640), 0, 1))
