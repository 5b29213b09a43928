"""Random loop nests against CPython, with arrays between guard pages (tests/fuzz): fixed seeds here, any with `make fuzz`.

QUERN_PROGRAMS says how many; `make test` runs 800 under its first interpreter."""
import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest

from quern import njit

FUZZ = pathlib.Path(__file__).resolve().parents[1] / "fuzz"
sys.path.insert(0, str(FUZZ))
import compare  # noqa: E402
import nests  # noqa: E402
from guarded import MARK, Region, same_elements  # noqa: E402
from shrink import shrink  # noqa: E402

PROGRAMS = int(os.environ.get("QUERN_PROGRAMS", 80))
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_R11_random_loop_nests(part):
    each = PROGRAMS // PARTS
    jobs = 1 if "PYTEST_XDIST_WORKER" in os.environ else os.cpu_count()
    done = subprocess.run([sys.executable, str(FUZZ / "fuzz.py"), "--seed", str(part * each), "--programs", str(each), "--jobs", str(jobs)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{each} programs" in done.stdout and "none differ" in done.stdout


def test_R11_programs_cover_what_they_should():
    programs = [nests.program(seed) for seed in range(400)]
    assert {a.kind for p in programs for a in p.arrays} == set(nests.KINDS)
    assert {p.scalar for p in programs} == set(nests.KINDS)
    assert {a.ndim for p in programs for a in p.arrays} == {1, 2}
    kernels = [p for p in programs if p.kernel]
    assert len(kernels) == 100
    text = "\n".join(p.source for p in programs)
    for piece in ("while ", "for ", "break", "continue", "return s0", "return\n", "raise ValueError", "[::-1]", "range(", " - 1, -1, -1)", "[-1",
                  "if ", "else:", "//", "%", "<<", ">>", ".real", "abs(", "min(", "max("):
        assert piece in text, piece
    # what is compared after a whole run, and at an exception, is about half each
    ends = []
    for seed, program in enumerate(programs[:40]):
        rng = compare.random.Random(seed)
        where = compare.places(program, rng)
        build, scalars = compare.arguments(program, where, rng)
        call = compare.Oracle(program)
        try:
            ends.append(compare.observe(call.kernel if program.kernel else call, build, compare.regions()[0], scalars).result)
        except compare.oracle.Undecided:
            pass
    raised = sum(bool(e) if isinstance(e, set) else isinstance(e, type) for e in ends)
    assert 0.1 < raised / len(ends) < 0.6


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("steps", [(1,), (2,), (-3,)])
def test_R11_arrays_touch_the_guard_pages(at_end, steps):
    """An unchecked access one element outside kills the process; inside of the array it does not."""
    region = Region()
    array = region.place(np.arange(5.0) * 3, steps, at_end=at_end)
    first, last = sorted([array.ctypes.data, array.ctypes.data + 4 * array.strides[0]])
    start = region.bytes.ctypes.data
    assert last + 8 == start + region.bytes.size if at_end else first == start
    assert array.tolist() == [0, 3, 6, 9, 12] and (region.bytes == MARK).sum() >= region.bytes.size - 40
    outwards, inside = (5, 4) if at_end == (steps[0] > 0) else (-6, -5)
    pid = os.fork()
    if pid == 0:
        put = njit(boundscheck=False)(write)
        put(array, inside)
        put(array, outwards)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGSEGV
    assert array[inside] == 1.0  # the two processes share the memory


def write(a, i):
    a[i] = 1.0


def test_R11_the_comparison_can_fail():
    def seen(result, a, margin):
        return compare.Seen(result, [np.array(a)], [np.array([margin])])

    plain = seen((1, 2.0), [1.0, np.nan], 7)
    assert plain.difference(seen((1, 2.0), [1.0, -np.nan], 7)) is None
    for other in (seen((1, 3.0), [1.0, np.nan], 7), seen((1.0, 2.0), [1.0, np.nan], 7), seen((1,), [1.0, np.nan], 7),
                  seen(IndexError, [1.0, np.nan], 7), seen((1, 2.0), [1.5, np.nan], 7), seen((1, 2.0), [1.0, np.nan], 8)):
        assert plain.difference(other)
    assert seen(IndexError, [0.0], 1).difference(seen(IndexError, [-0.0], 1))
    assert seen({IndexError}, [0.0], 1).difference(seen(None, [0.0], 1))
    assert not same_elements(np.zeros(2), np.zeros(2, np.float32)) and not same_elements(np.array([1 + 0j]), np.array([complex(1, -0.0)]))


def test_R11_differences_are_made_small():
    program = next(p for p in map(nests.program, range(100)) if "//" in p.source and "while" in p.source)

    def still(source):
        try:
            compile(source, "f", "exec")
        except SyntaxError:
            return False
        return "//" in source and "while" in source

    small = shrink(program.source, still, tries=3000)
    assert still(small) and len(small.splitlines()) <= 5, small


def test_R11_a_difference_is_found_and_shown():
    """In this run the oracle's sums are one too large."""
    done = subprocess.run([sys.executable, "-c", f"""
import sys
sys.path[:0] = [{str(FUZZ)!r}, {str(FUZZ.parent / "py")!r}]
import fuzz, oracle, nests
real = oracle.Scalar.__add__
def wrong(a, b):
    right = real(a, b)
    return right if right is NotImplemented else oracle.make(right.kind, right.v + 1)
oracle.Scalar.__add__ = wrong
sys.argv = ["fuzz.py", "--seed", "1", "--programs", "3", "--jobs", "1", "--devices", "cpu"]
sys.exit(fuzz.main())"""], capture_output=True, text=True)
    assert done.returncode == 1 and "== seed " in done.stdout and " + " in done.stdout and "CPython" in done.stdout, done.stdout + done.stderr
