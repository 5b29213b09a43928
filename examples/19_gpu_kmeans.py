"""k-means: each point looks for its nearest centre; sums and counts of each cluster grow by atomics, first in shared memory."""
import math

import numpy as np
import show
from show import cuda

from quern import float64, int32

TPB, MOST = 128, 16  # threads of a block, and centres at most


@cuda.jit
def assign(points, centres, label, sums, counts):
    own = cuda.shared.array((MOST, 2), float64)
    many = cuda.shared.array(MOST, int32)
    t, k = cuda.threadIdx.x, centres.shape[0]
    if t < k:
        own[t, 0] = own[t, 1] = 0.0
        many[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < points.shape[0]:
        x, y = points[i, 0], points[i, 1]
        best, nearest = 0, math.inf
        for c in range(k):
            square = (x - centres[c, 0])**2 + (y - centres[c, 1])**2
            if square < nearest:
                best, nearest = c, square
        label[i] = best
        cuda.atomic.add(own, (best, 0), x)
        cuda.atomic.add(own, (best, 1), y)
        cuda.atomic.add(many, best, 1)
    cuda.syncthreads()
    if t < k:
        cuda.atomic.add(sums, (t, 0), own[t, 0])
        cuda.atomic.add(sums, (t, 1), own[t, 1])
        cuda.atomic.add(counts, t, many[t])


@cuda.jit
def move(centres, sums, counts):
    """Centres go to the mean of their points; those without points stay."""
    c = cuda.grid(1)
    if c < counts.size:
        if counts[c] > 0:
            centres[c, 0] = sums[c, 0] / counts[c]
            centres[c, 1] = sums[c, 1] / counts[c]
        sums[c, 0] = sums[c, 1] = 0.0
        counts[c] = 0


def kmeans(points, centres, rounds):
    p, c, k = cuda.to_device(points), cuda.to_device(centres), len(centres)
    label = cuda.device_array(len(points), np.int32)
    sums, counts = cuda.to_device(np.zeros((k, 2))), cuda.to_device(np.zeros(k, np.int32))
    for _ in range(rounds):
        assign[-(-len(points) // TPB), TPB](p, c, label, sums, counts)
        move[1, MOST](c, sums, counts)
    return c.copy_to_host(), label.copy_to_host()


def by_numpy(points, centres, rounds):
    for _ in range(rounds):
        label = ((points[:, None] - centres[None])**2).sum(2).argmin(1)
        centres = np.array([points[label == c].mean(0) if (label == c).any() else centres[c] for c in range(len(centres))])
    return centres, label


def example(n, k, rounds):
    rng = np.random.default_rng(8)
    points = rng.normal(0, 0.4, (n, 2)) + rng.uniform(-5, 5, (k, 2))[rng.integers(k, size=n)]
    start = points[rng.choice(n, k, replace=False)]
    centres = show.report(f"{n} points, {k} centres, {rounds} rounds", lambda: kmeans(points, start, rounds)[0],
                          lambda: by_numpy(points, start, rounds)[0], repeat=3)
    assert (kmeans(points, start, rounds)[1] == by_numpy(points, start, rounds)[1]).mean() > 0.999  # but for ties
    return centres


if __name__ == "__main__":
    show.device()
    print("centres:", *(f"({x:.2f}, {y:.2f})" for x, y in example(50_000, 8, 12)))
