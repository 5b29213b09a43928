"""A Fourier transform by slices finds two tones in noise."""
import numpy as np
import show

from quern import njit


def transform(x):
    a = x.reshape(1, x.shape[0])
    while a.shape[1] > 1:
        rows, half = a.shape[0], a.shape[1] // 2
        factor = np.exp(-1j * np.pi * np.arange(rows) / rows).reshape(rows, 1)
        odd = factor * a[:, half:]
        b = np.empty((2 * rows, half), np.complex128)
        b[:rows] = a[:, :half] + odd
        b[rows:] = a[:, :half] - odd
        a = b
    return a.ravel()


n = 1 << 14
time = np.arange(n) / n
signal = np.sin(2 * np.pi * 440 * time) + 0.5 * np.sin(2 * np.pi * 1320 * time) + np.random.default_rng(1).normal(0, 1, n) + 0j
compiled = njit(transform)
spectrum = show.report(f"Fourier transform of {n}", lambda: compiled(signal), lambda: np.fft.fft(signal), "np.fft", repeat=3)
strongest = np.sort(np.argsort(np.abs(spectrum[:n // 2]))[-2:])
print(f"    the strongest tones: {strongest[0]} Hz and {strongest[1]} Hz")
