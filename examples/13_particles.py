"""A bank of particles in records: one structured array, moved by a loop on the CPU and by a kernel."""
import numpy as np
import show
from show import cuda

from quern import njit

PARTICLE = np.dtype([("at", "f8", (2,)), ("speed", "f8", (2,)), ("charge", "i4"), ("bounces", "i4")], align=True)


def bank(n):
    rng = np.random.default_rng(3)
    particles = np.zeros(n, PARTICLE)
    particles["at"] = rng.random((n, 2))
    particles["speed"] = rng.normal(0, 0.3, (n, 2))
    particles["charge"] = rng.integers(-1, 2, n)
    return particles


def moved(p, dt):
    """One particle in a box; it turns in a magnetic field."""
    turn = p["charge"] * dt
    vx, vy = p["speed"][0] - turn * p["speed"][1], p["speed"][1] + turn * p["speed"][0]
    p["speed"][0], p["speed"][1] = vx, vy
    for k in range(2):
        p["at"][k] += p["speed"][k] * dt
        if p["at"][k] < 0 or p["at"][k] > 1:
            p["speed"][k] = -p["speed"][k]
            p["bounces"] += 1


moved_compiled = njit(moved)


@njit
def advance(particles, steps, dt):
    for _ in range(steps):
        for p in particles:
            moved_compiled(p, dt)
    return particles["at"].sum(), particles["bounces"].sum()


@cuda.jit
def advance_kernel(particles, steps, dt):
    i = cuda.grid(1)
    if i < particles.size:
        for _ in range(steps):
            moved_compiled(particles[i], dt)


def advance_python(particles, steps, dt):
    for _ in range(steps):
        for p in particles:
            moved(p, dt)
    return particles["at"].sum(), particles["bounces"].sum()


few = bank(200)
assert np.allclose(advance(few.copy(), 20, 0.05), advance_python(few.copy(), 20, 0.05))
show.report("1,000 particles, 10 steps", lambda: advance(bank(1000), 10, 0.05)[0], lambda: advance_python(bank(1000), 10, 0.05)[0], against="Python", repeat=3)
show.device()
many, same = bank(20_000), bank(20_000)
advance_kernel[(many.size + 127) // 128, 128](many, 20, 0.05)
advance(same, 20, 0.05)
assert np.allclose(many["at"], same["at"], atol=1e-6)
print(f"    {many['bounces'].sum():,} bounces, {np.abs(many['speed']).mean():.3f} mean speed")
