"""The code of common kernels does not grow: PTX instructions of benchmarks/kernels.py, all of them and those of the innermost loops.

benchmarks/gpu_code.py compares what becomes of it with nvcc's, where the toolkit is. Run this file to print the table anew, when the
code has become shorter, or longer with a reason."""
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
from kernels import COMPILED  # noqa: E402
sys.path.pop(0)

from quern import cuda  # noqa: E402

TABLE = {  # kernel: (instructions, those of innermost loops)
    "add": (24, 11),
    "saxpy": (18, 0),
    "stencil": (54, 0),
    "matmul": (94, 50),
    "matmul_tiled": (92, 53),
    "nbody": (124, 51),
    "histogram": (42, 20),
    "block_sum": (56, 22),
    "transpose": (122, 0),
    "by_rows": (48, 0),
    "dot": (53, 28),
    "mandelbrot": (55, 16),
    "gather": (24, 0),
    "convolve": (76, 43),
    "bias_relu": (36, 0),
    "scan": (46, 26),
    "black_scholes": (199, 0),
}
GROWTH = 1.1


def counts(name):
    function, signature = COMPILED[name]
    ptx, _ = cuda.compile(function, signature, device=False, abi="numba", cc=(9, 0))
    body = ptx[ptx.index("\n{"):]
    at, labels, loops = 0, {}, []
    for line in body.splitlines():
        if label := re.match(r"(\$L\w+):", line):
            labels[label.group(1)] = at
        elif re.match(r"\t(@!?%p\d+ )?[a-z][\w.:]*(\s.*)?;", line):
            at += 1
            target = re.search(r"bra(?:\.uni)?\s+(\$L\w+);", line)
            if target and target.group(1) in labels:
                loops.append((labels[target.group(1)], at))
    inner = [loop for loop in loops if not any(loop != other and loop[0] <= other[0] and other[1] <= loop[1] for other in loops)]
    return at, sum(end - start for start, end in inner)


@pytest.mark.optimised
@pytest.mark.parametrize("name", COMPILED)
def test_code_does_not_grow(name):
    now, known = counts(name), TABLE[name]
    for what, n, limit in zip(("instructions", "instructions of innermost loops"), now, known):
        assert n <= limit * GROWTH, f"{n} {what} of {name}; {limit} are known"
        assert n * GROWTH >= limit, f"{n} {what} of {name}, {limit} are known: the table may be shorter"


if __name__ == "__main__":
    for name in COMPILED:
        print(f'    "{name}": {counts(name)},')
