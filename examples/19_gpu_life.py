"""The game of life on a torus: a byte a cell, two boards that take turns; a glider comes home after it has gone round."""
import numpy as np
import show
from show import cuda

GLIDER = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]], np.uint8)


@cuda.jit
def step(now, then):
    x, y = cuda.grid(2)
    height, width = now.shape
    if y < height and x < width:
        around = 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                around += now[(y + dy + height) % height, (x + dx + width) % width]
        around -= now[y, x]
        then[y, x] = around == 3 or (around == 2 and now[y, x] == 1)


def live(board, generations):
    now, then = cuda.to_device(board), cuda.device_array_like(board)
    blocks = -(-board.shape[1] // 16), -(-board.shape[0] // 8)
    for _ in range(generations):
        step[blocks, (16, 8)](now, then)
        now, then = then, now
    return now.copy_to_host()


def by_numpy(board, generations):
    for _ in range(generations):
        around = sum(np.roll(board, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dx or dy)
        board = ((around == 3) | ((around == 2) & (board == 1))).astype(np.uint8)
    return board


def example(height, width, generations):
    first = (np.random.default_rng(7).random((height, width)) < 0.3).astype(np.uint8)
    board = show.report(f"{generations} generations of {height} x {width}", lambda: live(first, generations),
                        lambda: by_numpy(first, generations), repeat=3)
    torus = np.zeros((12, 12), np.uint8)
    torus[:3, :3] = GLIDER
    assert (live(torus, 4 * 12) == torus).all()  # one cell down and right in four generations
    return board


if __name__ == "__main__":
    show.device()
    for row in example(200, 300, 100)[:20, :72]:
        print("".join(".#"[cell] for cell in row))
