"""The code of common kernels does not grow: PTX instructions of benchmarks/kernels.py and unseen_nvcc.py, all of them and those of the
innermost loops.

benchmarks/gpu_code.py compares what becomes of it with nvcc's, where the toolkit is. Run this file to print the table anew, when the
code has become shorter, or longer with a reason."""
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import kernels  # noqa: E402
import unseen_nvcc  # noqa: E402
from gpu_code import ptx_of  # noqa: E402
sys.path.pop(0)

ALL = {**kernels.KERNELS, **unseen_nvcc.KERNELS}
TABLE = {  # kernel: (instructions, those of innermost loops)
    "add": (24, 11),
    "saxpy": (18, 0),
    "stencil": (45, 0),
    "matmul": (90, 29),
    "matmul_tiled": (96, 53),
    "nbody": (173, 118),
    "nbody_fast": (163, 108),
    "histogram": (35, 14),
    "block_sum": (53, 21),
    "transpose": (120, 0),
    "by_rows": (25, 0),
    "dot": (53, 28),
    "mandelbrot": (51, 14),
    "gather": (22, 0),
    "convolve": (62, 26),
    "bias_relu": (30, 0),
    "scan": (41, 12),
    "black_scholes": (199, 0),
    "black_scholes_fast": (162, 0),
    "axpy_while": (23, 10),
    "life": (97, 0),
    "convolve_5x5": (129, 0),
    "wave": (74, 0),
    "warp_rows": (91, 26),
    "mean_of_draws": (62, 28),
    "spmv_rows": (122, 71),
    "box_blur": (108, 50),
    "column_sums": (65, 22),
    "search": (34, 11),
    "heat_flat": (55, 0),
    "advect": (79, 0),
    "polynomial": (64, 28),
    "nbody_tiled": (183, 120),
    "scatter": (27, 13),
    "heat_tile": (94, 0),
    "spmv_csr": (122, 71),
    "bitonic_step": (29, 0),
    "histogram_shared": (36, 10),
    "heat": (59, 26),
    "jacobi": (87, 39),
    "lu_step": (37, 0),
    "fft_butterfly": (294, 25),
    "monte_carlo_pi": (123, 91),
    "ray_sphere": (137, 51),
    "ray_sphere_fast": (136, 53),
    "kmeans_assign": (91, 41),
    "string_match": (47, 14),  # ptxas makes 12 of them, of the 11 that counted up addresses 13
    "crc32": (91, 54),
    "floyd_warshall": (35, 0),
    "sobel": (67, 0),
    "softmax_row": (188, 39),
    "softmax_row_fast": (177, 28),
    "layer_norm": (216, 93),
    "gemv": (69, 26),
    "resize": (79, 0),
    "ising": (127, 0),
    "lennard_jones": (74, 22),
    "blelloch": (84, 17),
    "to_gray": (41, 0),
}
if sys.version_info >= (3, 12):  # whose bytecode has the branches in another order, so that blocks of the way out stand inside of the loop
    TABLE |= {"ray_sphere": (TABLE["ray_sphere"][0], 90), "ray_sphere_fast": (TABLE["ray_sphere_fast"][0], 91)}
GROWTH = 1.1


def counts(name):
    ptx = ptx_of(ALL[name], "sm_90")
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
@pytest.mark.parametrize("name", ALL)
def test_code_does_not_grow(name):
    now, known = counts(name), TABLE[name]
    for what, n, limit in zip(("instructions", "instructions of innermost loops"), now, known):
        assert n <= limit * GROWTH, f"{n} {what} of {name}; {limit} are known"
        assert n * GROWTH >= limit, f"{n} {what} of {name}, {limit} are known: the table may be shorter"


if __name__ == "__main__":
    for name in ALL:
        print(f'    "{name}": {counts(name)},')
