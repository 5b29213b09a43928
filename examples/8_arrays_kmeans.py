"""k-means: distances by broadcasting, argmin over an axis, means of what a mask selects."""
import numpy as np
import show

from quern import njit


def kmeans(points, k, rounds):
    centres = points[:k].copy()
    for _ in range(rounds):
        away = points[:, None, :] - centres[None, :, :]
        nearest = np.argmin(np.sum(away * away, axis=2), axis=1)
        for j in range(k):
            mine = nearest == j
            if np.any(mine):
                centres[j] = points[mine].sum(axis=0) / np.count_nonzero(mine)
    return centres


rng = np.random.default_rng(3)
centres = np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 6.0], [-4.0, 3.0]])
points = (centres[rng.integers(0, 4, 20000)] + rng.normal(0.0, 0.7, (20000, 2)))
compiled = njit(kmeans)
found = show.report("k-means, 20,000 points, 4 centres", lambda: compiled(points, 4, 20), lambda: kmeans(points, 4, 20), repeat=3)
print("    centres:", ", ".join(f"({x:.2f}, {y:.2f})" for x, y in found[np.argsort(found[:, 0])]))
