"""The heat equation on a square plate, by slices: the whole right side is computed in one loop, without temporaries."""
import numpy as np
import show

from quern import njit


def heat(plate, steps):
    a = plate.copy()
    for _ in range(steps):
        a[1:-1, 1:-1] = a[1:-1, 1:-1] + 0.2 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2] - 4.0 * a[1:-1, 1:-1])
    return a


plate = np.zeros((200, 300))
plate[0, :] = 100.0  # a hot edge, and a hot bar
plate[90:110, 100:200] = 100.0
compiled = njit(heat)
result = show.report("heat equation, 200 x 300, 200 steps", lambda: compiled(plate, 200), lambda: heat(plate, 200), repeat=3)
print(f"    in the middle {result[100, 150]:.2f}, in a corner {result[198, 1]:.4f}")
show.picture("heat.png", result)
