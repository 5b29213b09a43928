"""Bodies that attract each other, with whole arrays: every pair at once by broadcasting."""
import numpy as np
import show

from quern import njit


def move(position, velocity, mass, dt, steps):
    position, velocity = position.copy(), velocity.copy()
    for _ in range(steps):
        away = position[None, :, :] - position[:, None, :]
        distance = np.sqrt(np.sum(away * away, axis=2) + 1e-3)
        pull = mass / (distance * distance * distance)
        velocity += dt * np.sum(away * pull[:, :, None], axis=1)
        position += dt * velocity
    return position


rng = np.random.default_rng(11)
n = 100
position, velocity, mass = rng.normal(0.0, 1.0, (n, 3)), rng.normal(0.0, 0.1, (n, 3)), np.full(n, 1.0 / n)
compiled = njit(move)
result = show.report(f"orbits of {n} bodies, 50 steps", lambda: compiled(position, velocity, mass, 0.01, 50),
                     lambda: move(position, velocity, mass, 0.01, 50), repeat=3)
centre = (mass[:, None] * result).sum(axis=0)
print("    centre of mass:", ", ".join(f"{x:.3f}" for x in centre))
