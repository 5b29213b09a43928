"""QUERN_SANITIZE on the cpu device: races, unwritten shared memory, divergent barriers and indices out of bounds, with the line, block
and thread of both parties; and nothing where nothing is wrong."""
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from quern import _quern, config, cuda, float32, int32

ALL = ("bounds", "race", "uninit", "barrier")


@pytest.fixture(autouse=True)
def watched(monkeypatch):
    monkeypatch.setattr(config, "SANITIZE", ALL)


def found(launch, *args):
    """(message, line of the file, note) of what the launch raises; None: nothing."""
    try:
        launch(*args)
    except (RuntimeError, IndexError) as error:
        trace = error.__traceback__
        while trace.tb_next:
            trace = trace.tb_next
        return str(error), trace.tb_lineno, " ".join(error.__notes__)
    return None


def line_of(function, text):
    lines = open(function.py_func.__code__.co_filename).read().splitlines()
    first = function.py_func.__code__.co_firstlineno
    return next(i for i in range(first, len(lines) + 1) if text in lines[i - 1])


def reversed_by(wait):
    @cuda.jit
    def kernel(a, out):
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        tile[t] = a[t]
        if wait == 1:
            cuda.syncthreads()
        elif wait == 2:
            cuda.syncwarp()
        elif wait == 3:
            cuda.cg.this_grid().sync()
        out[t] = tile[a.size - 1 - t]
    return kernel


@pytest.mark.parametrize("wait", [0, 1, 2, 3])
@pytest.mark.parametrize("n", [32, 64])
def test_S02_shared_memory_needs_a_barrier(monkeypatch, wait, n):
    monkeypatch.setattr(config, "SANITIZE", ("race",))
    kernel = reversed_by(wait)
    a, out = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    seen = found(kernel[1, n], a, out)
    if wait in (1, 3) or (wait == 2 and n == 32):
        assert seen is None and (out == a[::-1]).all()
        return
    text, line, note = seen
    reads, writes = line_of(kernel, "out[t] = tile"), line_of(kernel, "tile[t] = a[t]")
    who = int(re.search(r"block \(0, 0, 0\), thread \((\d+), 0, 0\)", text).group(1))
    me = int(re.search(r"by block \(0, 0, 0\), thread \((\d+), 0, 0\)", note).group(1))
    assert text.startswith("a race") and text.endswith("nothing orders the two") and who == n - 1 - me
    assert ("reads the element that is written here" in text and (line, f"line {reads}," in text) == (writes, True)) or (
        "writes the element that is read here" in text and (line, f"line {writes}," in text) == (reads, True))


def test_S02_unwritten_shared_memory():
    @cuda.jit
    def kernel(out, m):
        tile = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        if t < m:
            tile[t] = 1
        cuda.syncthreads()
        out[cuda.grid(1)] = tile[t]
    out = np.zeros(192, np.float32)
    assert found(kernel[3, 64], out, 64) is None
    text, line, note = found(kernel[3, 64], out, 40)
    assert "nobody has written" in text and "thread (40, 0, 0)" in note and line == line_of(kernel, "out[cuda.grid(1)] = tile[t]")

    @cuda.jit
    def only_the_first_block_writes(out):
        tile = cuda.shared.array(4, int32)
        if cuda.blockIdx.x == 0:
            tile[0] = 7
        out[cuda.blockIdx.x] = tile[0]
    text, _, note = found(only_the_first_block_writes[3, 1], np.zeros(3, np.int32))
    assert "nobody has written" in text and "block (0, 0, 0)" not in note

    @cuda.jit
    def dynamic(out):
        words, bytes_ = cuda.shared.array(0, int32), cuda.shared.array(0, np.uint8)
        if cuda.threadIdx.x == 0:
            words[0] = 258
        cuda.syncthreads()
        out[cuda.threadIdx.x] = bytes_[cuda.threadIdx.x]
    out = np.zeros(5, np.int32)
    assert found(dynamic[1, 4, 0, 16], out) is None and out.tolist() == [2, 1, 0, 0, 0]
    assert "nobody" in found(dynamic[1, 5, 0, 16], out)[0]


def test_S02_blocks_race_in_global_memory():
    @cuda.jit
    def kernel(out, step):
        out[cuda.threadIdx.x + cuda.blockIdx.x * step] = cuda.blockIdx.x
    out = np.zeros(256, np.int64)
    assert found(kernel[4, 64], out, 64) is None
    text, line, note = found(kernel[4, 64], out, 63)
    assert "writes the same element" in text and line == line_of(kernel, "out[cuda")
    here = [int(x) for x in re.findall(r"\((\d+), 0, 0\)", note)]
    other = [int(x) for x in re.findall(r"\((\d+), 0, 0\)", text)]
    assert here[0] != other[0] and here[0] * 63 + here[1] == other[0] * 63 + other[1]


def test_S02_names_of_axes():
    @cuda.jit
    def kernel(out):
        x, y = cuda.grid(2)
        out[0 if (x, y) in ((1, 0), (5, 3)) else 1 + x + 8 * y] = 1
    text, _, note = found(kernel[(2, 2), (4, 2)], np.zeros(80))
    both = text + note
    assert "block (0, 0, 0), thread (1, 0, 0)" in both and "block (1, 1, 0), thread (1, 1, 0)" in both


def test_S02_atomics_race_with_others_only():
    @cuda.jit
    def kernel(a, look):
        cuda.atomic.add(a, 0, 1)
        if look and cuda.grid(1) == 7:
            a[1] = a[0]
    a = np.zeros(2, np.int64)
    assert found(kernel[4, 32], a, False) is None and a[0] == 128
    text, _, _ = found(kernel[4, 32], a, True)
    assert text.startswith("a race")


def test_S02_the_last_block_adds_up():
    @cuda.jit
    def total(a, parts, count, out):
        last = cuda.shared.array(1, int32)
        t = cuda.threadIdx.x
        if t == 0:
            parts[cuda.blockIdx.x] = a[cuda.blockIdx.x]
            cuda.threadfence()
            last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if last[0] and t == 0:
            for i in range(parts.size):
                out[0] += parts[i]
    a, parts, count, out = np.arange(9.0), np.zeros(9), np.zeros(1, np.int64), np.zeros(1)
    assert found(total[9, 32], a, parts, count, out) is None and out[0] == 36


def test_S02_phases_of_loops_and_device_functions():
    @cuda.jit(device=True)
    def put(tile, at, value):
        tile[at] = value

    @cuda.jit
    def scan(a, rounds, careful):
        tile = cuda.shared.array(128, float32)
        t = cuda.threadIdx.x
        put(tile, t, a[t])
        cuda.syncthreads()
        step = 1
        for _ in range(rounds):
            x = tile[t - step] if t >= step else float32(0)
            if careful:
                cuda.syncthreads()
            put(tile, t, tile[t] + x)
            cuda.syncthreads()
            step *= 2
        a[t] = tile[t]
    a = np.ones(128, np.float32)
    assert found(scan[1, 128], a, 7, True) is None and (a == np.arange(1, 129)).all()
    text, _, _ = found(scan[1, 128], np.ones(128, np.float32), 7, False)
    assert "nothing orders" in text


def test_S02_divergent_barriers():
    @cuda.jit
    def kernel(out, m):
        t = cuda.threadIdx.x
        if t < m:
            cuda.syncthreads()  # some
        else:
            cuda.syncthreads()  # others
        out[t] = t
    out = np.zeros(64)
    assert found(kernel[1, 64], out, 64) is None and found(kernel[1, 64], out, 0) is None
    text, line, note = found(kernel[1, 64], out, 20)
    assert "different barriers" in text and f"line {line_of(kernel, '# some')}" in text and line == line_of(kernel, "# others")
    assert "thread (0, 0, 0)" in text and "thread (20, 0, 0)" in note


def test_S05_bounds():
    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = 1
    assert found(kernel[2, 64], np.zeros(128)) is None
    text, line, note = found(kernel[2, 64], np.zeros(100))
    assert text == "index 100 is out of bounds for axis 0 with size 100" and "block (1, 0, 0), thread (36, 0, 0)" in note


def test_S02_what_is_asked_for_is_what_is_watched(monkeypatch):
    def kernel(out, a):
        tile = cuda.shared.array(4, int32)
        out[0] = cuda.threadIdx.x + tile[0]
    for words, told in (((), None), (("race",), "race"), (("uninit",), "nobody"), (("barrier",), None), (("bounds",), None)):
        monkeypatch.setattr(config, "SANITIZE", words)
        made = cuda.jit(kernel)
        seen = found(made[1, 2], np.zeros(1), 1)
        assert (seen and told in seen[0]) if told else seen is None
        watched = "quern_sanitize" in next(iter(made.inspect_llvm().values()))
        assert watched == (words not in ((), ("bounds",)))
    monkeypatch.setattr(config, "SANITIZE", ("races",))
    with pytest.raises(ValueError, match="knows no 'races'"):
        cuda.jit(kernel)


def test_S02_other_devices_run_as_ever():
    def racy(a):
        a[0] = cuda.grid(1)
    assert "quern_sanitize" not in cuda.compile(racy, "void(float64[::1])", device=False, abi="numba")[0]
    try:
        _quern.pin_device("cuda")
    except Exception:
        pytest.skip("no driver")
    cuda.jit(racy)[2, 3](a := np.full(1, -1.0))
    assert a[0] >= 0


def test_S02_of_the_environment():
    text = """
        import numpy as np
        from quern import cuda
        @cuda.jit
        def f(a):
            a[0] = cuda.grid(1)
        try:
            f[2, 3](np.zeros(1))
        except RuntimeError as error:
            print(error)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True,
                         env={**os.environ, "QUERN_SANITIZE": "bounds, race", "QUERN_DEVICE": "cpu"})
    assert run.stdout.startswith("a race"), run.stderr


def test_S02_many_elements_and_threads():
    @cuda.jit
    def kernel(a, b):
        i = cuda.grid(1)
        while i < a.size:
            b[i] = 2 * a[i] + a[(i + 1) % a.size]
            i += cuda.gridsize(1)
    a, b = np.arange(20000.0), np.zeros(20000)
    assert found(kernel[16, 64], a, b) is None
    np.testing.assert_equal(b, 2 * a + np.roll(a, -1))
    assert found(kernel[16, 64], a, a)[0].startswith("a race")
