"""Random numbers in kernels: an Asian option priced by Monte Carlo, beside Black and Scholes for the plain one; print in a kernel."""
import math

import numpy as np
import show

from quern import cuda
from quern.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float64

STEPS = 64


@cuda.jit
def price(states, spot, strike, rate, volatility, years, plain, asian):
    """One path each turn: the payoff at its end, and that of its mean."""
    i = cuda.grid(1)
    if i >= plain.size:
        return
    step = years / STEPS
    drift, spread = (rate - 0.5 * volatility**2) * step, volatility * math.sqrt(step)
    paths = 32
    for _ in range(paths):
        s, mean = spot, 0.0
        for _ in range(STEPS):
            s *= math.exp(drift + spread * xoroshiro128p_normal_float64(states, i))
            mean += s
        plain[i] += max(s - strike, 0.0) / paths
        asian[i] += max(mean / STEPS - strike, 0.0) / paths


@cuda.jit
def announce(threads):
    print("block", cuda.blockIdx.x, "of", cuda.gridDim.x, "says: paths of", threads, "threads, each in", STEPS, "steps")


def black_scholes(spot, strike, rate, volatility, years):
    spread = volatility * math.sqrt(years)
    d = (math.log(spot / strike) + rate * years) / spread + spread / 2
    chance = lambda x: 0.5 * math.erfc(-x / math.sqrt(2))
    return spot * chance(d) - strike * math.exp(-rate * years) * chance(d - spread)


def example(n):
    """The option at the money, beside the formula: `n` threads with 32 paths each."""
    option = 100.0, 105.0, 0.03, 0.2, 1.0
    states = create_xoroshiro128p_states(n, seed=7)
    plain, asian = np.zeros(n), np.zeros(n)
    price.forall(n)(states, *option, plain, asian)
    cuda.synchronize()
    discount = math.exp(-option[2] * option[4])
    error = discount * plain.std() / math.sqrt(n)
    print(f"plain call: {discount * plain.mean():.3f} +- {error:.3f}, by the formula {black_scholes(*option):.3f}")
    print(f"on the mean of the path: {discount * asian.mean():.3f}")
    assert abs(discount * plain.mean() - black_scholes(*option)) < 4 * error
    assert asian.mean() < plain.mean()


if __name__ == "__main__":
    show.device()
    announce[2, 1](2048)
    cuda.synchronize()
    example(2048)
