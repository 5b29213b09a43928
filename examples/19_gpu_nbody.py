"""Gravity of n bodies: blocks stage bodies in shared memory, each thread sums the pull on its own; leapfrog keeps the energy."""
import math

import numpy as np
import show
from show import cuda

from quern import float64

TPB = 64
SOFT = 0.05  # bodies closer than this pull no harder


@cuda.jit
def kick(position, velocity, mass, step):
    """velocity += step * acceleration, for every body."""
    staged = cuda.shared.array((TPB, 4), float64)
    i, t = cuda.grid(1), cuda.threadIdx.x
    n = mass.size
    me = min(i, n - 1)  # threads beyond the last body help to stage
    x, y, z = position[me, 0], position[me, 1], position[me, 2]
    ax = ay = az = 0.0
    for first in range(0, n, TPB):
        j = first + t
        if j < n:
            for k in range(3):
                staged[t, k] = position[j, k]
            staged[t, 3] = mass[j]
        cuda.syncthreads()
        for k in range(min(TPB, n - first)):
            dx, dy, dz = staged[k, 0] - x, staged[k, 1] - y, staged[k, 2] - z
            square = dx * dx + dy * dy + dz * dz + SOFT * SOFT
            pull = staged[k, 3] / (square * math.sqrt(square))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        cuda.syncthreads()
    if i < n:
        velocity[i, 0] += step * ax
        velocity[i, 1] += step * ay
        velocity[i, 2] += step * az


@cuda.jit
def drift(position, velocity, step):
    i = cuda.grid(1)
    if i < position.shape[0]:
        for k in range(3):
            position[i, k] += step * velocity[i, k]


def simulate(position, velocity, mass, step, steps):
    """Positions and velocities after `steps` steps; the arrays stay on the device in between."""
    x, v, m = cuda.to_device(position), cuda.to_device(velocity), cuda.to_device(mass)
    blocks = -(-mass.size // TPB)
    for _ in range(steps):
        kick[blocks, TPB](x, v, m, step / 2)
        drift[blocks, TPB](x, v, step)
        kick[blocks, TPB](x, v, m, step / 2)
    return x.copy_to_host(), v.copy_to_host()


def by_numpy(position, velocity, mass, step, steps):
    def pull(x):
        apart = x[None] - x[:, None]
        return (mass[None, :, None] * apart / ((apart**2).sum(2) + SOFT**2)[..., None]**1.5).sum(1)

    x, v = position.copy(), velocity.copy()
    for _ in range(steps):
        v += step / 2 * pull(x)
        x += step * v
        v += step / 2 * pull(x)
    return x, v


def energy(x, v, mass):
    distance = np.sqrt(((x[None] - x[:, None])**2).sum(2) + SOFT**2)
    return 0.5 * (mass * (v**2).sum(1)).sum() - 0.5 * (np.outer(mass, mass) / distance).sum() + 0.5 * (mass**2).sum() / SOFT


def example(n, steps):
    """A disc of bodies that turns about its middle: the drift of its energy."""
    rng = np.random.default_rng(2)
    angle, radius = rng.random(n) * 2 * np.pi, 0.3 + rng.random(n)
    mass = np.full(n, 1 / n)
    x = np.stack((radius * np.cos(angle), radius * np.sin(angle), rng.normal(0, 0.02, n)), 1)
    v = np.stack((-np.sin(angle), np.cos(angle), np.zeros(n)), 1) * np.sqrt(radius / 2)[:, None]
    before = energy(x, v, mass)
    x, v = show.report(f"{n} bodies, {steps} steps", lambda: np.stack(simulate(x, v, mass, 0.01, steps)),
                       lambda: np.stack(by_numpy(x, v, mass, 0.01, steps)), repeat=3)
    lost = abs(energy(x, v, mass) - before) / abs(before)
    assert lost < 1e-3, lost
    return lost


if __name__ == "__main__":
    show.device()
    print(f"energy changed by {example(512, 20):.1e} of itself")
