"""Two chemicals that react and spread (Gray and Scott): np.roll, in-place arithmetic, several arrays in one step."""
import numpy as np
import show

from quern import njit


def spread(a):
    return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4.0 * a


spread_compiled = njit(spread)


def react(u, v, steps, spread=spread):
    u, v = u.copy(), v.copy()
    for _ in range(steps):
        product = u * v * v
        u += 0.16 * spread(u) - product + 0.035 * (1.0 - u)
        v += 0.08 * spread(v) + product - 0.1 * v
    return v


compiled = njit(react)
u, v = np.ones((128, 128)), np.zeros((128, 128))
u[54:74, 54:74], v[54:74, 54:74] = 0.5, 0.25
result = show.report("reaction and diffusion, 128 x 128", lambda: compiled(u, v, 400, spread_compiled), lambda: react(u, v, 400), repeat=3)
print(f"    mean {result.mean():.4f}, greatest {result.max():.4f}")
show.picture("reactions.png", result)
