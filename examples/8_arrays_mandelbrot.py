"""The Mandelbrot set with whole arrays of complex numbers: masks, np.where, broadcasting of a row against a column."""
import numpy as np
import show

from quern import njit


def mandelbrot(width, height, rounds):
    c = np.linspace(-2.0, 0.6, width) + 1j * np.linspace(-1.2, 1.2, height).reshape(height, 1)
    z = np.zeros_like(c)
    count = np.zeros(c.shape, np.int64)
    for _ in range(rounds):
        inside = z.real * z.real + z.imag * z.imag < 4.0
        z = np.where(inside, z * z + c, z)
        count += inside
    return count


compiled = njit(mandelbrot)
image = show.report("Mandelbrot set, 300 x 240, 60", lambda: compiled(300, 240, 60), lambda: mandelbrot(300, 240, 60), repeat=3)
print(f"    {np.count_nonzero(image == 60)} of {image.size} points belong to the set")
show.picture("mandelbrot_arrays.png", np.sqrt(image))
