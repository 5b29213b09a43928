"""Principal components: a covariance matrix by `@`, eigenvectors by power iteration, np.linalg.norm."""
import numpy as np
import show

from quern import njit


def principal(data, count, rounds):
    centred = data - np.mean(data, axis=0)
    matrix = centred.T @ centred / (data.shape[0] - 1.0)
    values = np.empty(count)
    for k in range(count):
        vector = np.ones(matrix.shape[0])
        for _ in range(rounds):
            vector = matrix @ vector
            vector /= np.linalg.norm(vector)
        values[k] = vector @ matrix @ vector
        matrix -= values[k] * np.outer(vector, vector)
    return values


rng = np.random.default_rng(9)
data = rng.normal(0.0, 1.0, (5000, 20)) * np.linspace(3.0, 0.5, 20) @ np.linalg.qr(rng.normal(size=(20, 20)))[0]
compiled = njit(principal)
values = show.report("principal components, 5000 x 20", lambda: compiled(data, 3, 200), lambda: principal(data, 3, 200), repeat=3)
print("    variances along the first three:", ", ".join(f"{v:.3f}" for v in values))
