"""A ray tracer: device functions, tuples of numbers as vectors, spheres over a chequered floor with shadows and mirrors."""
import math

import numpy as np
import show
from show import cuda

SPHERES = np.array([  # middle, radius, brightness, share that is mirrored
    (-1.2, 1.0, 4.5, 1.0, 0.9, 0.3), (1.1, 0.8, 3.6, 0.8, 0.5, 0.5), (0.1, 0.4, 2.4, 0.4, 0.7, 0.1), (2.6, 1.3, 6.0, 1.3, 0.3, 0.6)])
SUN = (0.45, 0.78, -0.436)
BOUNCES = 4


def nearest(spheres, ox, oy, oz, dx, dy, dz):
    """How far along the ray something is hit, and what: the index of a sphere, -1 the floor, -2 nothing."""
    far, what = math.inf, -2
    if dy < -1e-9:
        far, what = -oy / dy, -1
    for k in range(spheres.shape[0]):
        x, y, z = ox - spheres[k, 0], oy - spheres[k, 1], oz - spheres[k, 2]
        half = x * dx + y * dy + z * dz
        inside = half * half - (x * x + y * y + z * z - spheres[k, 3]**2)
        if inside > 0:
            distance = -half - math.sqrt(inside)
            if 1e-6 < distance < far:
                far, what = distance, k
    return far, what


hit = cuda.jit(device=True)(nearest)


def traced(spheres, first, dx, dy, dz):
    """The brightness of what the ray from the eye sees."""
    ox, oy, oz = 0.0, 1.2, -3.0
    bright, weight = 0.0, 1.0
    for _ in range(BOUNCES):
        far, what = first(spheres, ox, oy, oz, dx, dy, dz)
        if what == -2:  # the sky
            return bright + weight * (0.25 + 0.35 * max(dy, 0.0))
        x, y, z = ox + far * dx, oy + far * dy, oz + far * dz
        nx, ny, nz, own, mirror = 0.0, 1.0, 0.0, 0.0, 0.1
        if what == -1:
            own = 0.8 if (int(math.floor(x)) + int(math.floor(z))) % 2 == 0 else 0.25
            own = 0.25 + (own - 0.25) / (1 + 0.004 * far * far)
        else:
            radius = spheres[what, 3]
            nx, ny, nz = (x - spheres[what, 0]) / radius, (y - spheres[what, 1]) / radius, (z - spheres[what, 2]) / radius
            own, mirror = spheres[what, 4], spheres[what, 5]
        ox, oy, oz = x + 1e-4 * nx, y + 1e-4 * ny, z + 1e-4 * nz
        light = 0.15
        lit = nx * SUN[0] + ny * SUN[1] + nz * SUN[2]
        if lit > 0:
            _, shadow = first(spheres, ox, oy, oz, SUN[0], SUN[1], SUN[2])
            if shadow == -2:
                light += 0.85 * lit
        bright += weight * (1 - mirror) * own * light
        weight *= mirror
        turn = 2 * (dx * nx + dy * ny + dz * nz)
        dx, dy, dz = dx - turn * nx, dy - turn * ny, dz - turn * nz
    return bright


trace = cuda.jit(device=True)(traced)


def ray(x, y, width, height):
    """The direction of the ray through a pixel, of length 1."""
    dx, dy, dz = (x - 0.5 * width) / height, (0.427 * height - y) / height, 1.0
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    return dx / length, dy / length, dz / length


direction = cuda.jit(device=True)(ray)


@cuda.jit
def render(spheres, picture):
    x, y = cuda.grid(2)
    if y < picture.shape[0] and x < picture.shape[1]:
        dx, dy, dz = direction(x, y, picture.shape[1], picture.shape[0])
        picture[y, x] = trace(spheres, hit, dx, dy, dz)


def draw(height, width):
    picture = np.empty((height, width))
    render[(-(-width // 8), -(-height // 8)), (8, 8)](SPHERES, picture)
    return picture


def by_python(height, width):
    return np.array([[traced(SPHERES, nearest, *ray(x, y, width, height)) for x in range(width)] for y in range(height)])


def example(height, width):
    small = draw(12, 16)
    assert np.allclose(small, by_python(12, 16), rtol=1e-9)
    return show.report(f"{height} x {width} pixels", lambda: draw(height, width))


if __name__ == "__main__":
    show.device()
    show.picture("spheres.png", np.minimum(example(480, 640), 1.0))
