"""Heat that spreads in a plate: two arrays on the device take turns, the picture shows the plate at four times."""
import numpy as np
import show
from show import cuda

TPB = 16


@cuda.jit
def spread(now, then, rate):
    """One step of the explicit scheme; the rim keeps its temperature."""
    x, y = cuda.grid(2)
    if 0 < y < now.shape[0] - 1 and 0 < x < now.shape[1] - 1:
        around = now[y - 1, x] + now[y + 1, x] + now[y, x - 1] + now[y, x + 1]
        then[y, x] = now[y, x] + rate * (around - 4 * now[y, x])


def heat(plate, rate, times):
    """The plate after each number of steps in `times`, which grow."""
    now, then = cuda.to_device(plate), cuda.to_device(plate)
    blocks = -(-plate.shape[1] // TPB), -(-plate.shape[0] // TPB)
    pictures, done = [], 0
    for time in times:
        for _ in range(time - done):
            spread[blocks, (TPB, TPB)](now, then, rate)
            now, then = then, now
        done = time
        pictures.append(now.copy_to_host())
    return np.stack(pictures)


def by_numpy(plate, rate, times):
    now, pictures = plate.copy(), []
    for step in range(times[-1] + 1):
        if step in times:
            pictures.append(now.copy())
        around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
        now[1:-1, 1:-1] = now[1:-1, 1:-1] + rate * (around - 4 * now[1:-1, 1:-1])
    return np.stack(pictures)


def example(side, times):
    plate = np.zeros((side, side))
    plate[side // 5:side // 3, side // 5:side // 2] = 1  # a hot block
    plate[-side // 3:-side // 4, side // 2:-side // 8] = 0.7
    plate[:, 0] = 0.5  # and a rim that is kept warm
    pictures = show.report(f"{times[-1]} steps of {side} x {side}", lambda: heat(plate, 0.2, times),
                           lambda: by_numpy(plate, 0.2, times), repeat=3)
    assert pictures.min() >= 0 and pictures.max() <= 1  # no new extremes
    return np.hstack([np.pad(p, 2, constant_values=1) for p in pictures])


if __name__ == "__main__":
    show.device()
    show.picture("heat_over_time.png", example(200, [0, 60, 250, 1000]))
