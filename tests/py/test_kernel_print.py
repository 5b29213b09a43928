"""print in kernels: text, numbers and tuples, to the standard output of the process (FEATURES C33)."""
import os
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest
from conftest import AMD_STAND_IN as STAND_IN

from quern import cuda, errors

Point = namedtuple("Point", "x y")


def printed(capfd):
    cuda.synchronize()
    return capfd.readouterr().out


def test_numbers_of_every_kind(device, capfd):
    @cuda.jit
    def kernel(i8, u64, f32, c, flag):
        print("small", i8[0], "large", u64[0], f32, c[0], flag, not flag, -2**63)

    kernel[1, 1](np.array([-128], np.int8), np.array([2**64 - 1], np.uint64), np.float32(1.5), np.array([1 - 2.5j]), True)
    assert printed(capfd) == ("small -128 large 18446744073709551615 1.500000 (1.000000-2.500000j) True False "
                              "-9223372036854775808\n")


def test_tuples_and_positions(device, capfd):
    @cuda.jit
    def kernel(point, x):
        if cuda.grid(1) == 3:
            print((x,), ((x, 2.0), "100%d %"), point, None, ())
            print(cuda.threadIdx, cuda.blockIdx, cuda.blockDim, cuda.gridDim)

    kernel[2, 2](Point(1, 2.0), 7)
    assert printed(capfd) == ("(7,) ((7, 2.000000), 100%d %) (x=1, y=2.000000) None ()\n"
                              "(1, 0, 0) (1, 0, 0) (2, 1, 1) (2, 1, 1)\n")


def test_separators_and_ends(device, capfd):
    @cuda.jit
    def kernel(x):
        print()
        print(x, x + 1, sep="%s", end="|")
        print(x, x + 1, sep=None, end=None)
        print("", end="")

    kernel[1, 1](1)
    assert printed(capfd) == "\n1%s2|1 2\n"


def test_f_strings(device, capfd):
    """As Python has them, but for floats without a format, which have six digits as elsewhere in print."""
    @cuda.jit
    def kernel(i, x, mask, flag):
        print(f"i={i} {i:5d}|{i:<5}|{i:05}|{i:+d}|{i: d}|{i:>4}", f"{x:.3f} {x:9.2e}|{x:<8.3g}|{x:+.1F}|{x:08.2f}|{-x:6.1f}", sep=" / ")
        print(f"{mask[0]:x} {mask[0]:08X} {mask[0]:o} {flag} {flag!s} {i > 3} 100% {{{i}}} {'text'} {None}")
        line = f"{x} {x!r} {(i, x)} {i * 2:.1f}"
        print(line, str(i), repr(x), f"{i}", "", f"")

    i, x, mask, flag = 42, 3.14159, np.array([48879], np.uint32), True
    kernel[1, 1](i, x, mask, flag)
    six = f"{x:f}"
    assert printed(capfd).splitlines() == [
        f"i={i} {i:5d}|{i:<5}|{i:05}|{i:+d}|{i: d}|{i:>4} / {x:.3f} {x:9.2e}|{x:<8.3g}|{x:+.1F}|{x:08.2f}|{-x:6.1f}",
        f"{mask[0]:x} {mask[0]:08X} {mask[0]:o} {flag} {flag!s} {i > 3} 100% {{{i}}} {'text'} {None}",
        f"{six} {six} (42, {six}) {i * 2:.1f} {i} {six} {i}  "]


@pytest.mark.parametrize("spec", ["^5", "*>5", ",", "05.2", ".3", "b", "%", "<05", "c", "s"])
def test_formats_that_are_refused(spec):
    space = {}
    exec(f"def kernel(i, x): print(f'{{i:{spec}}} {{x:{spec}}}')", space)
    with pytest.raises(errors.TypingError, match="the format '.*' of .* is not available in a kernel"):
        cuda.jit("void(int64, float64)")(space["kernel"])


def test_text_that_is_not_only_printed_is_refused():
    def kept(i, out):
        line = f"{i}"
        print(line)
        out[0] = len(line)

    def chosen(i, out):
        line = f"{i}" if i > 0 else "none"
        print(line)

    def between(i, out):
        print("-".join((f"{i}", f"{i}")))

    for kernel in (kept, chosen, between):
        with pytest.raises(errors.TypingError, match="text is not available in a kernel"):
            cuda.jit("void(int64, float64[:])")(kernel)


def test_lines_are_whole(device, capfd):
    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        print("thread", i, "has", a[i], "", "and is one of", a.size, "with a text that goes on and on", sep=" ; ")

    n = 200
    kernel[n // 8, 8](np.arange(n) * 0.5)
    lines = printed(capfd).splitlines()
    expected = [f"thread ; {i} ; has ; {i * 0.5:f} ;  ; and is one of ; {n} ; with a text that goes on and on" for i in range(n)]
    assert sorted(lines) == sorted(expected)


def test_long_lines(device, capfd):
    @cuda.jit
    def kernel(x):
        print(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x)

    kernel[1, 1](-1e300)
    assert printed(capfd) == " ".join([f"{-1e300:f}"] * 20) + "\n"


def test_in_loops_device_functions_and_behind_barriers(device, capfd):
    @cuda.jit(device=True)
    def tell(what, x):
        print(what, x)
        return x + 1

    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        shared = cuda.shared.array(4, np.int64)
        shared[i] = i
        cuda.syncthreads()
        if i == 0:
            for k in range(3):
                out[k] = tell("item", shared[k])

    out = np.zeros(3)
    kernel[1, 4](out)
    assert printed(capfd) == "item 0\nitem 1\nitem 2\n"
    assert out.tolist() == [1, 2, 3]


def test_what_cannot_be_printed():
    @cuda.jit
    def an_array(a):
        print(a)

    with pytest.raises(errors.TypingError, match="print in a kernel"):
        an_array[1, 1](np.zeros(2))

    @cuda.jit
    def to_a_file(a):
        print(a[0], file=None)

    with pytest.raises(errors.TypingError, match="file= of print"):
        to_a_file[1, 1](np.zeros(2))

    @cuda.jit
    def found_out(a):
        print(a[0], sep=a[1])

    with pytest.raises(errors.TypingError, match="sep= must be known"):
        found_out[1, 1](np.zeros(2))


def test_lines_of_every_launch_in_their_order(device, capfd):
    """One after the other on a stream; what a launch printed is there when the stream was waited for."""
    @cuda.jit
    def kernel(k):
        print("launch", k)

    stream = cuda.stream()
    for k in range(5):
        kernel[1, 1, stream](k)
    stream.synchronize()
    assert capfd.readouterr().out == "".join(f"launch {k}\n" for k in range(5))
    kernel[2, 1](7)
    assert printed(capfd) == "launch 7\n" * 2


def test_many_lines_go_round_the_ring(device, capfd):
    """More than a ring of 2**17 words holds, in pieces that it does."""
    @cuda.jit
    def kernel(first):
        i = first + cuda.grid(1)
        print(i, i % 2 == 0, i * 0.5)

    n, rounds = 1024, 40
    for k in range(rounds):
        kernel[n // 64, 64](k * n)
        lines = printed(capfd).splitlines()
        assert sorted(lines) == sorted(f"{i} {i % 2 == 0} {i * 0.5:f}" for i in range(k * n, (k + 1) * n))


def test_kernels_that_print_and_raise(device, capfd):
    @cuda.jit(debug=True, opt=False)
    def kernel(a, i):
        print("before", i)
        a[i] = 1.0
        print("behind")

    with pytest.raises(IndexError):
        kernel[1, 1](np.zeros(3), 5)
        cuda.synchronize()
    assert "before 5\n" in printed(capfd)


@pytest.fixture
def hip_device(device):
    if device != "hip":
        pytest.skip("other devices print without a ring")


def test_AMD_what_finds_no_room_is_counted(hip_device, capfd):
    @cuda.jit
    def kernel():
        i = cuda.grid(1)
        for k in range(70):
            print(i, k)

    kernel[16, 64]()
    lines = printed(capfd).splitlines()
    room = 2**17 // 3
    assert lines[-1] == f"(kernel kernel: {70 * 1024 - room} more lines of print found no room)" and len(lines) == room + 1
    assert len(set(lines)) == room + 1
    kernel[1, 1]()
    assert printed(capfd).splitlines() == [f"0 {k}" for k in range(70)]


def test_AMD_lines_come_from_the_disk_cache(hip_device, tmp_path):
    source = tmp_path / "cached.py"
    source.write_text("""
import numpy as np
from quern import cuda
@cuda.jit(cache=True)
def kernel(x):
    print("x is", x, x > 1)
kernel[1, 1](2.5)
cuda.synchronize()
print(sum(kernel.stats.cache_hits.values()))
""")
    env = {**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "cache"), "QUERN_DEVICE": "hip", "FAKEHIP_ARCH": "gfx1100",
           "QUERN_HIP_LIBRARY": os.environ.get("QUERN_HIP_LIBRARY", str(STAND_IN))}
    said = [subprocess.run([sys.executable, str(source)], env=env, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert said == ["x is 2.500000 True\n0\n", "x is 2.500000 True\n1\n"]
