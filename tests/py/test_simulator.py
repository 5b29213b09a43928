"""QUERN_ENABLE_CUDASIM=1: kernels in the interpreter (FEATURES S01, S02). Each program runs in a process of its own."""
import os
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import math, sys
import numpy as np
from quern import config, cuda, errors, float32, njit, vectorize
assert config.ENABLE_CUDASIM
def raises(kind, function, *args):
    try:
        function(*args)
    except kind as error:
        return error
    raise AssertionError("nothing was raised")
"""


def run(program, *options, **environment):
    result = subprocess.run([sys.executable, *options, "-c", HEAD + textwrap.dedent(program)], capture_output=True, text=True, timeout=120,
                            env={**os.environ, "QUERN_ENABLE_CUDASIM": "1", **environment})
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_python_in_a_kernel():
    out = run("""
    seen = []
    @cuda.jit
    def kernel(a, b):
        i = cuda.grid(1)
        seen.append((cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x, f"{i:02}", type(a[i])))
        if i < a.size:
            a[i] = b[i] * cuda.gridsize(1)
            print("item", i)
    a = np.zeros(6)
    kernel[2, 3](a, np.arange(6.0))
    assert a.tolist() == [0, 6, 12, 18, 24, 30] and sorted(i for i, _, _ in seen) == list(range(6))
    d = cuda.to_device(a)
    kernel[(2, 1), (3,), cuda.stream()](d, d)
    assert d.copy_to_host()[1] == 36
    kernel.forall(6)(a, a)
    """)
    assert all(f"item {i}" in out for i in range(6))


def test_work_items_print_whole_lines():
    """The interpreter's print writes value by value: with threads that change after each, lines get mixed."""
    out = run("""
    sys.setswitchinterval(1e-6)
    class Slow:
        def __init__(self, i):
            self.i = i
        def __str__(self):
            cuda.syncthreads()  # every other work-item prints now too
            return str(self.i)
    @cuda.jit
    def kernel():
        i = cuda.threadIdx.x
        print("item", Slow(i), "of", Slow(32), sep="-", end=";\\n", flush=True)
        print("e", i, file=sys.stderr)
    kernel[3, 32]()
    print("done", 1, sep="")
    """)
    lines = out.splitlines()
    assert lines.pop() == "done1" and sorted(lines) == sorted(3 * [f"item-{i}-of-32;" for i in range(32)])


def test_names_are_numbers():
    run("""
    seen = []
    @cuda.jit
    def kernel():
        at, n = cuda.threadIdx, cuda.blockDim.x
        seen.append((type(at.y), type(n), n, str(cuda.warpsize), f"{cuda.laneid:2}|{cuda.gridDim.z}", repr(cuda.grid)))
    kernel[1, 4]()
    assert sorted(seen) == [(int, int, 4, "32", f"{i:2}|1", "<cuda.grid>") for i in range(4)], seen
    assert repr(cuda.threadIdx.x) == "<cuda.threadIdx.x>" and f"{cuda.warpsize:15}" == "<cuda.warpsize>"
    """)


def test_shared_memory_and_barriers():
    run("""
    @cuda.jit
    def reverse(a, out):
        tile, other = cuda.shared.array(8, float32), cuda.shared.array((2, 4), "int64")
        t = cuda.threadIdx.x
        if cuda.blockIdx.x == 1 and t == 7:
            return  # the others wait for it no more
        tile[t] = a[cuda.grid(1)]
        other[t // 4, t % 4] = t
        cuda.syncthreads()
        out[cuda.grid(1)] = tile[7 - t] + other[(7 - t) // 4, (7 - t) % 4]
    a = np.arange(16.0)
    out = np.zeros(16)
    reverse[2, 8](a, out)
    assert out[:8].tolist() == [14, 12, 10, 8, 6, 4, 2, 0] and out[9] == 20 and out[15] == 0

    @cuda.jit
    def dynamic(out):
        words = cuda.shared.array(0, np.int32)
        halves = cuda.shared.array(0, np.int16)
        words[cuda.threadIdx.x] = 65537
        out[0] = cuda.syncthreads_count(cuda.threadIdx.x > 0)
        out[1], out[2] = words.size, halves[1]
        out[3] = cuda.syncthreads_and(True) + cuda.syncthreads_or(False)
    dynamic[1, 4, 0, 16](out)
    assert out[:4].tolist() == [3, 4, 1, 1]
    """)


def test_warps():
    run("""
    @cuda.jit
    def kernel(out):
        lane = cuda.laneid
        total = int(lane)
        step = 16
        while step:
            total += cuda.shfl_down_sync(0xffffffff, total, step)
            step //= 2
        out[0, lane] = total
        out[1, lane] = cuda.ballot_sync(0xffffffff, lane % 2)
        out[2, lane] = cuda.match_any_sync(0xffffffff, lane % 3)
        out[3, lane] = cuda.shfl_xor_sync(0xffffffff, lane * 1, 1)
        out[4, lane] = cuda.popc(cuda.lanemask_lt())
        out[5, lane] = cuda.all_sync(0xffffffff, lane >= 0) + cuda.any_sync(0xffffffff, lane == 5)
        out[6, lane] = cuda.shfl_up_sync(0xffffffff, lane * 1, 2)
        if lane < 4:
            out[7, lane] = cuda.shfl_sync(0xf, lane * 10, 3)
            cuda.syncwarp(0xf)
    out = np.zeros((8, 32), np.int64)
    kernel[1, 32](out)
    assert out[0, 0] == 496 and (out[1] == 0xaaaaaaaa).all() and out[2, 1] == 0x92492492 and out[3].tolist() == [i ^ 1 for i in range(32)]
    assert out[4].tolist() == list(range(32)) and (out[5] == 2).all() and out[6].tolist() == [0, 1, *range(30)] and (out[7, :4] == 30).all()
    """)


def test_atomics():
    run("""
    @cuda.jit
    def kernel(a, f, u):
        i = cuda.grid(1)
        cuda.atomic.add(a, 0, 1)
        cuda.atomic.max(a, 1, i)
        cuda.atomic.nanmax(f, (0, 0), f[0, 1] + i)
        cuda.atomic.inc(u, 0, 5)
        cuda.atomic.dec(u, 1, 5)
        cuda.atomic.cas(a, 2, 0, i + 1)
        cuda.atomic.compare_and_swap(a[3:], 0, 9)
        cuda.atomic.exch(a, 4, 7)
    a, f, u = np.zeros(5, np.int64), np.array([[np.nan, 1.0]]), np.zeros(2, np.uint32)
    kernel[4, 8](a, f, u)
    assert a[0] == 32 and a[1] == 31 and 1 <= a[2] <= 32 and a[3] == 9 and a[4] == 7 and f[0, 0] == 32
    assert u.tolist() == [32 % 6, (-32) % 6]
    """)


def test_functions_and_numbers():
    run("""
    @cuda.jit(device=True)
    def twice(x):
        return x * 2
    @njit
    def compiled(x):
        return x + 0.5
    @cuda.jit
    def kernel(out, k):
        out[0] = compiled(twice(k)) + cuda.fp16.hadd(1, 2) + cuda.float3(1, 2, 3).z
        out[1] = cuda.clz(np.int32(1)) + cuda.ffs(8) + cuda.selp(True, 1, 2) + cuda.brev(np.uint32(1)) // 2**31
        out[2] = cuda.fma(1.0 + 2.0**-30, 1.0 - 2.0**-30, -1.0)
        local = cuda.local.array((2, 2), np.float64)
        local[1, 1] = 3
        out[3] = local.sum() + k / 1
    out = np.zeros(4)
    kernel[1, 1](out, 2)
    assert out.tolist() == [10.5, 37, -2.0**-60, 5]
    assert cuda.reduce(lambda a, b: a + b)(np.arange(100.0)) == 4950
    assert vectorize(["float64(float64)"], target="cuda")(lambda x: x + 1)(np.ones(3)).tolist() == [2, 2, 2]
    """)


def test_exceptions_and_blocks_that_hang():
    run("""
    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        cuda.syncthreads()
        if i == 5:
            a[i] = {}[i]
        cuda.syncthreads()
    error = raises(KeyError, kernel[2, 4], np.zeros(8))
    assert error.args == (5,)
    if hasattr(error, "__notes__"):
        assert "block (1, 0, 0), thread (1, 0, 0)" in error.__notes__[0]

    @cuda.jit
    def apart(a):
        if cuda.threadIdx.x < 2:
            cuda.syncthreads()
        else:
            cuda.syncwarp(0xf)
    assert "for ever" in str(raises(RuntimeError, apart[1, 4], np.zeros(1)))
    assert "not in the mask" in str(raises(ValueError, cuda.jit(lambda: cuda.syncwarp(2))[1, 1]))
    raises(errors.LaunchError, apart, np.zeros(1))
    raises(errors.LaunchError, cuda.grid, 1)
    raises(ValueError, lambda: apart[1, 2000])
    raises(TypeError, lambda: cuda.threadIdx + 1)
    assert cuda.threadIdx.x != "x" and {cuda.laneid: 1}[cuda.laneid] == 1
    """)


def test_numbas_switch_and_hip():
    run("""
    from quern import hip
    hits = []
    @hip.jit
    def kernel(a):
        hits.append(1)
        a[hip.grid(1)] = hip.warpsize
    a = np.zeros(2)
    kernel[1, 2](a)
    assert a.tolist() == [32, 32] and len(hits) == 2
    """)
    run("""
    import quern
    quern.as_numba.install()
    from numba import cuda
    hits = []
    @cuda.jit
    def kernel(a):
        hits.append(1)
    kernel[1, 1](np.zeros(1))
    assert hits
    """)


@pytest.mark.parametrize("value", ["0", ""])
def test_off(value):
    result = subprocess.run([sys.executable, "-c", "from quern import cuda; print(type(cuda.jit(lambda: None)).__name__)"],
                            capture_output=True, text=True, env={**os.environ, "QUERN_ENABLE_CUDASIM": value})
    assert result.stdout.strip() == "Kernel", result.stderr


def test_a_grid_of_one_block_waits():
    run("""
    @cuda.jit
    def shift(a, b):
        i, grid = cuda.grid(1), cuda.cg.this_grid()
        b[i] = a[i]
        grid.sync()
        a[i] = b[(i + 1) % a.size]
    a = np.arange(5.0)
    shift[1, 5](a, np.zeros(5))
    assert a.tolist() == [1, 2, 3, 4, 0]
    assert "one block only" in str(raises(errors.UnsupportedError, shift[5, 1], a, np.zeros(5)))
    """)


def test_records_have_attributes():
    run("""
    T = np.dtype([("x", "f4"), ("n", "i4")])
    TABLE = np.array([(1.5, 2)], T)
    @cuda.jit
    def kernel(a, one, out):
        i = cuda.grid(1)
        shared, local = cuda.shared.array(4, T), cuda.local.array(1, T)
        shared[i].n = i
        local[0].x = 0.5
        cuda.syncthreads()
        a[i].x = a[i].n + shared[3 - i].n + local[0]["x"] + one.x
        a[i].n += cuda.const.array_like(TABLE)[0].n
        out[i] = a.x[i]
    a, out = np.zeros(4, T), np.zeros(4)
    a["n"] = 10
    for array in (a, cuda.to_device(a)):
        kernel[1, 4](array, TABLE[0], out)
        assert out.tolist() == [15, 14, 13, 12]
    assert a["n"].tolist() == [12] * 4
    """)


def test_names_and_defaults_of_arguments_and_extensions():
    run("""
    class Lists:
        def prepare_args(self, ty, value, stream=None, retr=None):
            if not isinstance(value, list):
                return ty, value
            array = np.array(value)
            retr.append(lambda: value.__setitem__(slice(None), array.tolist()))
            return ty, array
    @cuda.jit(extensions=[Lists()])
    def kernel(a, by=2.0, *, more=1.0):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = a[i] * by + more
    a = np.ones(3)
    kernel[1, 4](a)
    kernel[1, 4](by=3.0, a=cuda.InOut(a))
    assert a.tolist() == [10] * 3
    given = [1.0, 2.0]
    kernel[1, 4](given, more=5.0)
    assert given == [7, 9]
    raises(TypeError, lambda: kernel[1, 4](a, other=1))
    """)


def test_graphs_are_refused():
    """Kernels run when they are launched: nothing could be captured."""
    run("""
    assert "captured" in str(raises(NotImplementedError, cuda.graph))
    """)
