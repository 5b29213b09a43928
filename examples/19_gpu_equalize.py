"""Histogram equalisation of a dark picture: a histogram for each block in shared memory, a scan of 256 numbers, a table."""
import numpy as np
import show
from show import cuda

from quern import int32

TPB = 256


@cuda.jit
def count(picture, histogram):
    """Each block counts in shared memory and adds what it has: 256 atomic operations on global memory instead of one a pixel."""
    own = cuda.shared.array(256, int32)
    own[cuda.threadIdx.x] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), picture.size, cuda.gridsize(1)):
        cuda.atomic.add(own, picture[i], 1)
    cuda.syncthreads()
    if own[cuda.threadIdx.x]:
        cuda.atomic.add(histogram, cuda.threadIdx.x, own[cuda.threadIdx.x])


@cuda.jit
def stretch(histogram, table):
    """One block: the running sum of the histogram, scaled to 0 to 255 from the first level that occurs."""
    sums = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    sums[t] = histogram[t]
    cuda.syncthreads()
    by = 1
    while by < 256:
        more = sums[t - by] if t >= by else 0
        cuda.syncthreads()
        sums[t] += more
        cuda.syncthreads()
        by *= 2
    first = 0
    while histogram[first] == 0:
        first += 1
    below, all_of_them = histogram[first], sums[255]
    table[t] = max(sums[t] - below, 0) * 255 // max(all_of_them - below, 1)


@cuda.jit
def look_up(picture, table):
    for i in range(cuda.grid(1), picture.size, cuda.gridsize(1)):
        picture[i] = table[picture[i]]


def equalize(picture):
    pixels = cuda.to_device(picture.ravel())
    histogram, table = cuda.to_device(np.zeros(256, np.int32)), cuda.device_array(256, np.uint8)
    count[16, TPB](pixels, histogram)
    stretch[1, TPB](histogram, table)
    look_up[16, TPB](pixels, table)
    return pixels.copy_to_host().reshape(picture.shape)


def by_numpy(picture):
    sums = np.cumsum(np.bincount(picture.ravel(), minlength=256))
    below = sums[sums > 0][0]
    return (np.maximum(sums - below, 0) * 255 // max(sums[-1] - below, 1)).astype(np.uint8)[picture]


def example(height, width):
    """A scene that is much too dark: before and after."""
    y, x = np.mgrid[0:height, 0:width] / height
    scene = 30 + 12 * np.sin(9 * x) * np.cos(7 * y) + 10 * (np.hypot(x - 0.6, y - 0.5) < 0.3)
    dark = (scene + np.random.default_rng(4).normal(0, 1.5, scene.shape)).astype(np.uint8)
    bright = show.report(f"equalise {height} x {width}", lambda: equalize(dark), lambda: by_numpy(dark))
    assert bright.min() == 0 and bright.max() == 255
    return np.hstack((dark, bright))


if __name__ == "__main__":
    show.device()
    show.picture("equalized.png", example(480, 640))
