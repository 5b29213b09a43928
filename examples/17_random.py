"""Random numbers in compiled code: pi by darts on all cores, the walk of a drunkard, and an estimate of how sure we are of it by drawing
the sample again (the bootstrap). One seed gives the numbers that NumPy gives."""
import math

import numpy as np

from quern import njit, prange


@njit(parallel=True)
def pi_by_darts(n):
    """Each thread has a generator of its own, which the system has seeded."""
    inside = 0
    for i in prange(n):
        x, y = np.random.random(), np.random.random()
        if x * x + y * y < 1.0:
            inside += 1
    return 4.0 * inside / n


@njit
def distances(walks, steps, seed):
    """How far from the lamp post each walk of so many steps ends."""
    np.random.seed(seed)
    ends = np.empty(walks)
    for i in range(walks):
        x = y = 0.0
        for _ in range(steps):
            angle = np.random.uniform(0.0, 2.0 * np.pi)
            x += math.cos(angle)
            y += math.sin(angle)
        ends[i] = math.hypot(x, y)
    return ends


@njit
def bootstrap(sample, rounds, seed):
    """Mean distance: the bounds between which nine in ten of the samples drawn again have theirs."""
    np.random.seed(seed)
    means = np.empty(rounds)
    for i in range(rounds):
        means[i] = np.random.choice(sample, len(sample)).mean()
    return np.percentile(means, 5), np.percentile(means, 95)


@njit
def first_numbers(seed, n):
    np.random.seed(seed)
    return np.random.normal(0.0, 1.0, n)


if __name__ == "__main__":
    estimate = pi_by_darts(10_000_000)
    print(f"pi by ten million darts: {estimate:.4f}")
    assert abs(estimate - math.pi) < 0.01

    ends = distances(2000, 400, 11)
    low, high = bootstrap(ends, 1000, 2)
    expected = math.sqrt(math.pi * 400) / 2  # of Rayleigh's distribution
    print(f"a walk of 400 steps ends {ends.mean():.2f} away ({low:.2f} to {high:.2f}); theory: {expected:.2f}")
    assert abs(ends.mean() - expected) < 1.5

    assert np.array_equal(first_numbers(7, 1000), np.random.RandomState(7).normal(0.0, 1.0, 1000))
    print("the first thousand normal numbers of seed 7 are NumPy's")
