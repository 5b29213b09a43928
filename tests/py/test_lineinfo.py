"""lineinfo=True: PTX says which line of the program an instruction is of, and is the same otherwise."""
import math
import re

import numpy as np
import pytest

from quern import cuda, float32, int32, void


def scaled(x, factor):
    return math.sin(x) * factor  # a line of its own


def kernel(a, factor):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = scaled(a[i], factor)
        cuda.atomic.add(a, 0, 1)


FIRST = kernel.__code__.co_firstlineno
SIGNATURE = void(float32[::1], float32)


def lines_of(ptx):
    """The lines of the program that are named, of this file."""
    files = {number for number, name in re.findall(r'\.file\s+(\d+)\s+"(.*)"', ptx) if name.endswith("test_lineinfo.py")}
    return {int(line) for file, line in re.findall(r"\.loc\s+(\d+)\s+(\d+)", ptx) if file in files}


def without_lines(ptx):
    """The rest; LLVM ends functions with labels, and a file with an empty section, where there are lines."""
    mine = re.compile(r"\s*(\.loc|\.file|//|$|\$L__(tmp\d+|func_begin\d+|func_end\d+):)|\s*\.section\s+\.debug_loc\s*{\s*}")
    return [line.partition("//")[0].rstrip() for line in ptx.splitlines() if not mine.match(line)]


@pytest.mark.parametrize("opt", [0, 3])
def test_lines_are_told_and_change_nothing(opt):
    told, _ = cuda.compile_ptx(kernel, SIGNATURE, lineinfo=True, opt=opt)
    plain, _ = cuda.compile_ptx(kernel, SIGNATURE, opt=opt)
    assert ".loc\t" in told and ".loc\t" not in plain and ".file" not in plain
    wanted = {scaled.__code__.co_firstlineno + 1, FIRST + 2, FIRST + 3, FIRST + 4}
    assert wanted <= lines_of(told), lines_of(told)
    assert lines_of(told) <= wanted | {0, FIRST, FIRST + 1}  # 0: of no line
    assert ".debug_info" not in told
    assert without_lines(told) == without_lines(plain)


def test_device_functions_have_lines():
    for abi in ("c", "numba"):
        told, _ = cuda.compile(scaled, float32(float32, float32), lineinfo=True, abi=abi)
        assert scaled.__code__.co_firstlineno + 1 in lines_of(told)


def test_a_debug_kernel_that_raises_has_lines():
    def checked(a, i):
        a[i] = 10 // a[i + 1]

    with pytest.warns(match="mutually exclusive"):
        told = cuda.jit(checked, debug=True, lineinfo=True, opt=False)
    told.compile((int32[:], int32))
    made, _ = cuda.compile_ptx(checked, (int32[:], int32), debug=False, boundscheck=True, lineinfo=True)
    assert checked.__code__.co_firstlineno + 1 in lines_of(made)


def test_kernels_with_lines_run(device):
    a, b = np.arange(100, dtype=np.float32), np.arange(100, dtype=np.float32)
    cuda.jit(kernel, lineinfo=True)[4, 32](a, 2)
    cuda.jit(kernel)[4, 32](b, 2)
    assert np.array_equal(a, b) and a[0] >= 100

    @cuda.jit(lineinfo=True)
    def with_barrier(x, out):
        tile = cuda.shared.array(32, int32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        out[t] = tile[31 - t]

    out = np.zeros(32, np.int32)
    with_barrier[1, 32](np.arange(32, dtype=np.int32), out)
    assert out.tolist() == list(range(31, -1, -1))
