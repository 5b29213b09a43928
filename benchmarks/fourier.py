"""numpy.fft in compiled code beside NumPy: python benchmarks/fourier.py [lengths]

Complex numbers in float64; for each length our time of one call of `fft` and `rfft` in us, NumPy's, and their ratio; then the axes of a
square. The best of seven rounds, by turns. QUERN_BUILD names a build folder; without it the installed package is measured."""
import os
import pathlib
import sys
import time

import numpy as np

if "QUERN_BUILD" in os.environ:
    sys.path.insert(0, str(pathlib.Path(os.environ["QUERN_BUILD"]) / "python"))
from quern import njit  # noqa: E402

LENGTHS = [16, 64, 256, 1000, 1024, 1009, 4096, 19683, 65536, 1 << 20]
WORK = 4_000_000  # numbers of a round, at most

fft = njit(lambda a: np.fft.fft(a))
rfft = njit(lambda a: np.fft.rfft(a))
first_axis = njit(lambda a: np.fft.fft(a, axis=0))
both_axes = njit(lambda a: np.fft.fft2(a))


def compared(ours, theirs, a):
    """Seconds of a call, of both."""
    count = max(3, min(2000, WORK // (20 * a.size)))
    assert np.allclose(ours(a), theirs(a))
    best = [1e9, 1e9]
    for _ in range(7):
        for k, call in enumerate((ours, theirs)):
            start = time.perf_counter()
            for _ in range(count):
                call(a)
            best[k] = min(best[k], (time.perf_counter() - start) / count)
    return best


def row(what, ours, theirs, a):
    mine, numpys = compared(ours, theirs, a)
    return f"{what:12} {mine * 1e6:10.1f} {numpys * 1e6:10.1f} {mine / numpys:6.2f}"


def main():
    rng = np.random.default_rng(1)
    print(f"{'what':12} {'Quern, us':>10} {'NumPy':>10} {'ratio':>6}")
    for n in [int(word) for word in sys.argv[1:]] or LENGTHS:
        z = rng.normal(size=n) + 1j * rng.normal(size=n)
        print(row(f"fft {n}", fft, np.fft.fft, z))
        print(row(f"rfft {n}", rfft, np.fft.rfft, z.real.copy()))
    square = rng.normal(size=(512, 512)) + 1j * rng.normal(size=(512, 512))
    print(row("512, axis 0", first_axis, lambda a: np.fft.fft(a, axis=0), square))
    print(row("512, fft2", both_axes, np.fft.fft2, square))


if __name__ == "__main__":
    main()
