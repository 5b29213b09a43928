"""What the examples print: the device, compile and run times, and the ratio to NumPy or plain Python. And the kind of GPU
that they ask for: AMD's with `hip` on the command line."""
import importlib
import struct
import sys
import time
import zlib
from pathlib import Path

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
        same = result == expected if isinstance(result, list) else np.allclose(result, expected, rtol=1e-4, equal_nan=True)
        assert same, (name, result, expected)
        line += f"   {against} {text(slow):>9}   ratio {slow / run:.1f}x"
    print(line)
    return result


def device():
    """Say where kernels run."""
    current = cuda.get_current_device()
    name = current.name.decode() if isinstance(current.name, bytes) else current.name
    print(f"kernels run on: {name}")


def picture(name, values):
    """Saves a grayscale PNG beside the examples: black for the least value, white for the greatest."""
    low, high = float(np.min(values)), float(np.max(values))
    gray = ((values - low) * (255.0 / max(high - low, 1e-300))).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in gray)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = gray.shape
    Path(__file__).with_name(name).write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    print(f"    saved {name}")
