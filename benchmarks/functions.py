"""Functions of arrays beside NumPy: python benchmarks/functions.py [sizes]

Each expression is compiled as a function of its own and called with arrays of 100, 10,000 and 1,000,000 elements. Printed are those that take longer
than 1.25 of NumPy's time, and for each size the geometric mean of all ratios. NumPy's calls are made from Python, ours, too."""
import math
import sys
import time
import warnings

import numpy as np

from quern import njit

EXPRESSIONS = """
a + b | a * 2 + b | a - v * 2 | a > b | (a > .2) * (b < .8) | ~mask | a ** 2 | a ** 0.5 | a // .1 | a % .1 | ints // 7 | ints % 7 | ints << 2
np.exp(a) | np.sin(a) | np.log(a) | np.sqrt(a) | np.power(a, b) | np.arctan2(a, b) | np.hypot(a, b) | np.maximum(a, b) | np.floor(a) | np.round(a, 2)
np.isnan(a) | np.sign(a) | np.abs(c) | c * c | c.real | np.clip(a, .2, .8) | np.where(mask, a, b) | np.nan_to_num(a) | np.bitwise_and(ints, 7)
a.sum() | a.min() | a.mean() | a.std() | a.argmax() | np.prod(m, 1) | m.sum(0) | m.sum(1) | m.mean(0) | m.max(1) | m.min(0) | m.std(0) | m.argmax(1) | m.argmax(0)
np.any(m, 0) | np.all(m, 1) | np.all(a) | np.count_nonzero(mask) | np.nansum(a) | np.nanmean(a) | np.nanmax(a) | np.var(m, 0) | np.ptp(a) | np.cumsum(m, 0) | np.cumsum(m, 1)
np.median(a) | np.percentile(a, 30) | np.average(a) | np.average(a, weights=b) | np.cov(m[:20]) | np.corrcoef(m[:20]) | np.linalg.norm(a)
a[mask] | a[places] | a[::2] + 1 | np.where(mask)[0] | np.nonzero(a)[0] | np.flatnonzero(mask) | np.take(a, places) | np.argwhere(m > .5)
np.sort(a) | np.argsort(a) | np.sort(m, 0) | np.sort(m, 1) | np.unique(ints) | np.partition(a, 50) | np.argpartition(a, 50) | np.searchsorted(s, b)
np.bincount(ints) | np.histogram(a, 20)[0] | np.digitize(a, edges) | np.interp(a, s, b) | np.diff(a) | np.ediff1d(a) | np.isin(ints[:1000], ints[:100])
np.roll(a, 7) | np.repeat(a, 3) | np.tile(a, 3) | np.flip(a) | np.fliplr(m) | np.rot90(m) | np.concatenate((a, b)) | np.stack((a, b)) | np.stack((a, b), 1)
np.vstack((m, m)) | np.hstack((m, m)) | np.kron(m[:9, :9], m[:9, :9]) | np.delete(a, 5) | np.append(a, b) | np.ascontiguousarray(m.T) | m.T.copy() | m.T.ravel()
m.ravel() | m.reshape(-1) | np.tril(m) | np.triu(m) | np.trace(m) | np.linspace(0, 1, 1000) | np.arange(1000) | np.zeros(1000) | np.eye(30)
a.astype(np.float32) | a.astype(np.int64) | bytes_.astype(np.float64) | np.array_equal(a, b) | np.allclose(a, a) | np.trapezoid(a) | np.polyval(a[:5], b)
m @ m | m @ m[0] | np.dot(a, b) | np.outer(a[:300], b[:300]) | np.einsum("ij,jk->ik", m, m) | np.tensordot(m, m, 1) | np.correlate(a[:500], b[:50])
np.convolve(a[:500], b[:50]) | np.linalg.solve(m[:50, :50], m[0, :50]) | np.linalg.inv(m[:50, :50]) | np.linalg.det(m[:50, :50])
"""
NAMES = "a, b, v, m, places, mask, s, c, bytes_, ints, edges"


def arguments(n):
    rng = np.random.default_rng(0)
    a, b, side = rng.random(n), rng.random(n), int(n ** 0.5)
    places = rng.integers(0, n, n)
    return (a, b, rng.random(n), rng.random((side, side)), places, a > .5, np.sort(a), a + 1j * b, (a * 255).astype(np.uint8), places.astype(np.int32),
            np.linspace(0, 1, 11))


def best(function, args, times):
    least = math.inf
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(times):
            function(*args)
        least = min(least, time.perf_counter() - start)
    return least / times


def main():
    warnings.simplefilter("ignore")
    expressions = [text.strip() for line in EXPRESSIONS.strip().splitlines() for text in line.split("|")]
    compiled = {text: njit(eval(f"lambda {NAMES}: {text}")) for text in expressions}
    for n in [int(word) for word in sys.argv[1:]] or [100, 10_000, 1_000_000]:
        args, ratios = arguments(n), []
        for text, function in compiled.items():
            function(*args)
            ours, theirs = (best(f, args, 20 if n < 100_000 else 1) for f in (function, function.py_func))
            ratios.append(ours / theirs)
            if ratios[-1] > 1.25:
                print(f"{n:9} {text:40} {ours * 1e6:10.1f} {theirs * 1e6:10.1f} us {ratios[-1]:6.2f}", flush=True)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"{n:9} elements: {mean:.2f} of NumPy's time (geometric mean of {len(ratios)})", flush=True)


if __name__ == "__main__":
    main()
