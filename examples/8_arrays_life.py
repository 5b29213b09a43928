"""The game of life: slices of bytes and boolean masks; a glider crosses the board."""
import numpy as np
import show

from quern import njit


def live(board, rounds):
    for _ in range(rounds):
        wide = np.zeros((board.shape[0] + 2, board.shape[1] + 2), np.int64)
        wide[1:-1, 1:-1] = board
        around = (wide[:-2, :-2] + wide[:-2, 1:-1] + wide[:-2, 2:] + wide[1:-1, :-2] + wide[1:-1, 2:] +
                  wide[2:, :-2] + wide[2:, 1:-1] + wide[2:, 2:])
        board = (around == 3) | (board & (around == 2))
    return board


board = np.zeros((12, 24), np.bool_)
for row, column in ((0, 1), (1, 2), (2, 0), (2, 1), (2, 2)):
    board[row, column] = True
compiled = njit(live)
result = show.report("game of life, 12 x 24, 28 rounds", lambda: compiled(board, 28), lambda: live(board, 28), repeat=3)
for row in result:
    print("    " + "".join("#" if alive else "." for alive in row))
