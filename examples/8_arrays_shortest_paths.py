"""Shortest paths between all pairs (Floyd and Warshall), a row at a time."""
import numpy as np
import show

from quern import njit


def shortest(lengths):
    path = lengths.copy()
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, path[:, k:k + 1] + path[k])
    return path


rng = np.random.default_rng(5)
n = 200
roads = np.where(rng.random((n, n)) < 0.05, rng.integers(1, 100, (n, n)), 1_000_000)
np.fill_diagonal(roads, 0)
compiled = njit(shortest)
path = show.report(f"shortest paths, {n} towns", lambda: compiled(roads), lambda: shortest(roads), repeat=3)
reached = path[path < 1_000_000]
print(f"    {reached.size} of {path.size} pairs are joined; the longest way is {reached.max()}, the mean {reached.mean():.1f}")
