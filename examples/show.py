"""What the examples print: the device, compile and run times, and the ratio to NumPy or plain Python. And the kind of GPU
that they ask for: AMD's with `hip` on the command line."""
import importlib
import sys
import time

import numpy as np

gpu = "hip" if "hip" in sys.argv[1:] else "cuda"
cuda = importlib.import_module(f"quern.{gpu}")


def best(function, repeat=5):
    """Seconds of the fastest of `repeat` calls, and the last result."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def text(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def report(name, compiled, reference=None, against="NumPy", repeat=5):
    """Time the first call (which compiles), the fastest later call, and the reference; return the result."""
    start = time.perf_counter()
    result = compiled()
    first = time.perf_counter() - start
    run, _ = best(compiled, repeat)
    line = f"{name:<34} first call {text(first):>9}   then {text(run):>9}"
    if reference is not None:
        slow, expected = best(reference, max(1, repeat // 3))
        assert np.allclose(result, expected, rtol=1e-4, equal_nan=True), (name, result, expected)
        line += f"   {against} {text(slow):>9}   ratio {slow / run:.1f}x"
    print(line)
    return result


def device():
    """Say where kernels run."""
    current = cuda.get_current_device()
    name = current.name.decode() if isinstance(current.name, bytes) else current.name
    print(f"kernels run on: {name}")
