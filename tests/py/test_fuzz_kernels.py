"""The random kernels of tests/fuzz (make fuzz-kernels): some fixed ones on every device, what they cover, and that a difference is found."""
import collections
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

FUZZ = pathlib.Path(__file__).resolve().parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))
import blocks  # noqa: E402
import compare  # noqa: E402
import kernel_programs  # noqa: E402
import oracle  # noqa: E402

PROGRAMS = 48
DEVICES = "cpu,cuda" + "".join(f",hip-{chip}" for chip in os.environ.get("QUERN_AMD_CHIPS", "gfx1100 gfx942").split()
                               if chip in ("gfx1100", "gfx942"))


@pytest.mark.parametrize("part", range(2))
def test_R11_random_kernels(part):
    each = PROGRAMS // 2
    done = subprocess.run([sys.executable, str(FUZZ / "fuzz.py"), "--kernels", "--seed", str(part * each), "--programs", str(each),
                           "--jobs", "1", "--devices", DEVICES], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{each} programs" in done.stdout and "none differ" in done.stdout


def test_R11_kernels_cover_what_they_should():
    programs = [kernel_programs.program(seed) for seed in range(1200)]
    meetings = [p for p in programs if isinstance(p, blocks.Meeting)]
    assert len(meetings) == 300 and all(p.kernel for p in programs)
    assert 60 < sum(p.warps for p in meetings) < 120
    text = "\n".join(p.source for p in meetings)
    pieces = ["syncthreads()", "syncthreads_count", "syncthreads_and", "syncthreads_or", "shfl_sync", "shfl_up_sync", "shfl_down_sync",
              "shfl_xor_sync", "ballot_sync", "all_sync", "any_sync", "eq_sync", "popc", "ffs", "clz", ", 2), np.", "atomic.add(a", " in range(m & 3)"]
    pieces += [f"atomic.{op}(q" for op in blocks.ORDERLESS] + [f"np.{oracle.TYPES[k][0]})" for k in blocks.SHARED]
    for piece in pieces:
        assert piece in text, piece
    # arrays that lie between each other: only the general variant of a kernel is right
    between = sum(compare.places(p, compare.random.Random(seed))[0].between for seed, p in enumerate(programs))
    assert 60 < between < 240
    turns = collections.Counter(str(compare.turn(seed, "hip-gfx942")) for seed in range(1200))
    assert len(turns) == 4 and min(turns.values()) > 40
    assert all(compare.turn(seed, "cuda") == compare.turn(seed, "hip-gfx942") for seed in range(1200))


def meeting(source, grid, arrays, warp=32):
    """What CPython makes of a kernel of blocks: arrays are changed."""
    program = blocks.Meeting(source, [], "i64", True, True, grid=grid, warps=True)
    compare.Oracle(program, warp).kernel(*arrays)


def test_R11_work_items_meet_in_cpython():
    source = """
def f(a, b):
    tile = cuda.shared.array((4, 2), np.int32)
    t = cuda.threadIdx.x
    for r in range(2):
        tile[t, r] = np.int32(cuda.grid(1))
        cuda.syncthreads()
        a[cuda.grid(1)] += tile[3 - t, r]
        cuda.syncthreads()
    cuda.atomic.max(b, t % 2, np.int64(cuda.grid(1)))
    cuda.atomic.sub(b, 2, np.int64(1))
    a[cuda.grid(1)] += cuda.syncthreads_count(t > 1) * 100
"""
    a, b = np.zeros(8, int), np.zeros(3, int)
    meeting(source, (2, 4), (a, b))
    assert a.tolist() == [206, 204, 202, 200, 214, 212, 210, 208] and b.tolist() == [6, 7, -8]


@pytest.mark.parametrize("warp", [32, 64])
def test_R11_warps_of_both_widths_in_cpython(warp):
    source = """
def f(a, b):
    t = cuda.threadIdx.x
    a[t, 0] = cuda.shfl_xor_sync(-1, np.int32(t), 33)
    a[t, 1] = cuda.shfl_up_sync(-1, np.int32(t), 2)
    a[t, 2] = cuda.shfl_down_sync(-1, np.int32(t), 31)
    a[t, 3] = cuda.shfl_sync(-1, np.int32(t), 5)
    b[t] = np.uint64(cuda.ballot_sync(-1, t % 3 == 0))
"""
    a, b = np.zeros((64, 4), int), np.zeros(64, np.uint64)
    meeting(source, (1, 64), (a, b), warp)
    for t in range(64):
        lane, first = t % warp, t // warp * warp
        assert a[t].tolist() == [first + (lane ^ 33) if lane ^ 33 < warp else t, t - 2 if lane >= 2 else t,
                                 t + 31 if lane + 31 < warp else t, first + 5]
        assert b[t] == sum(1 << k for k in range(warp) if (first + k) % 3 == 0)


@pytest.mark.parametrize("wrong", ["blocks.ATOMIC.add = blocks.ATOMIC.sub", "blocks.Blocks.meet = lambda self, name, asked: [oracle.of(1)] * len(asked)",
                                   "blocks.Blocks.warp_answers = lambda self, asked: [oracle.of(1)] * len(asked)"])
def test_R11_a_difference_between_kernels_is_found(wrong):
    seeds = [s for s in range(1, 400, 4) if any(piece in kernel_programs.program(s).source for piece in ("atomic.add(a", "syncthreads_count", "shfl_sync"))][:16]
    done = subprocess.run([sys.executable, "-c", f"""
import sys
sys.path[:0] = [{str(FUZZ)!r}, {str(FUZZ.parent / "py")!r}]
import fuzz, blocks, compare, kernel_programs, oracle
{wrong}
found = [s for s in {seeds} if compare.differences(kernel_programs.program(s), s, ("cpu",), one=True)]
sys.exit(0 if found else 1)"""], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
