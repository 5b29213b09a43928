"""Exceptions in kernels: class, text, place, block and thread are the same on every device. On GPUs the thread that
failed goes on, so that it comes to the barriers of its block, and what it does from then on harms nobody."""
import traceback

import numpy as np
import pytest

from quern import cuda, errors, float64, int64

DEBUG = {"debug": True, "opt": False}
N = 64


def raised(kernel, config, *args):
    """The exception of a launch: its class, text, note, and the text of the line it names."""
    with pytest.raises(Exception) as caught:
        kernel[config](*args)
        cuda.synchronize()
    error = caught.value
    assert not isinstance(error, errors.NumbaError), error
    frames = traceback.extract_tb(error.__traceback__)
    assert frames[-1].filename == __file__
    return type(error), str(error), error.__notes__, frames[-1].line


def note(kernel, block, thread):
    return [f"raised in kernel {kernel.py_func.__name__} by block {block}, thread {thread}"]


@pytest.mark.parametrize("options", [DEBUG, {"debug": True, "opt": True}, {"boundscheck": True}])
def test_index_error_names_block_thread_and_line(device, options):
    @cuda.jit(**options)
    def k(a, bad):
        x, y = cuda.grid(2)
        if x == 5 and y == 7:
            a[bad] = 1.0

    a = np.zeros(4)
    expected = IndexError, "index 9 is out of bounds for axis 0 with size 4"
    for _ in range(2):
        got = raised(k, ((2, 3), (4, 3)), a, 9)
        assert got == (*expected, note(k, (1, 2, 0), (1, 1, 0)), "a[bad] = 1.0")
    assert (a == 0).all()
    assert raised(k, ((2, 3), (4, 3)), a, -5)[1] == "index -5 is out of bounds for axis 0 with size 4"
    k[(2, 3), (4, 3)](a, -1)
    assert a.tolist() == [0, 0, 0, 1]


def test_three_axes_with_a_barrier(device):
    @cuda.jit(**DEBUG)
    def k(a):
        cuda.syncthreads()
        if cuda.blockIdx.z == 1 and cuda.blockIdx.y == 2 and cuda.threadIdx.z == 3 and cuda.threadIdx.x == 1:
            a[0, a.shape[1]] = 1
        cuda.syncthreads()

    got = raised(k, ((1, 3, 2), (2, 1, 4)), np.zeros((2, 3)))
    assert got == (IndexError, "index 3 is out of bounds for axis 1 with size 3", note(k, (0, 2, 1), (1, 0, 3)),
                   "a[0, a.shape[1]] = 1")


def test_other_exceptions(device):
    @cuda.jit(**DEBUG)
    def k(a, what):
        i = cuda.grid(1)
        if i != 6:
            return
        if what == 0:
            a[0] = 7 // (what * i)
        elif what == 1:
            a[0] = 1 << (what - i)
        elif what == 2:
            raise ValueError("no such thing", what, i)
        elif what == 3:
            raise AssertionError("seven")
        elif what == 4:
            if i == 7:
                x = 3
            a[0] = x
        elif what == 5:
            raise KeyError

    a = np.zeros(1, np.int64)
    for what, cls, text, line in [(0, ZeroDivisionError, "division by zero", "a[0] = 7 // (what * i)"),
                                  (1, ValueError, "negative shift count", "a[0] = 1 << (what - i)"),
                                  (2, ValueError, "('no such thing', 2, 6)",
                                   'raise ValueError("no such thing", what, i)'),
                                  (3, AssertionError, "seven", 'raise AssertionError("seven")'),
                                  (4, UnboundLocalError, "cannot access local variable 'x' where it is not associated "
                                   "with a value", "a[0] = x"),
                                  (5, KeyError, "", "raise KeyError")]:
        got = raised(k, (2, 4), a, what)
        assert got == (cls, got[1], note(k, (1, 0, 0), (2, 0, 0)), line)
        assert text in (got[1], got[1].replace("integer modulo", "division")), got
    k[2, 4](a, 9)


def test_in_a_device_function(device):
    @cuda.jit(device=True)
    def inner(a, i):
        return a[i] + 1

    def outer(a, i):
        x = inner(a, i)
        return x * 2

    @cuda.jit(**DEBUG)
    def k(a, b):
        i = cuda.grid(1)
        b[i] = outer(a, i)

    got = raised(k, (2, 4), np.zeros(7), np.zeros(8))
    assert got == (IndexError, "index 7 is out of bounds for axis 0 with size 7", note(k, (1, 0, 0), (3, 0, 0)),
                   "return a[i] + 1")


def test_without_debug_nothing_is_raised(device):
    @cuda.jit
    def k(a, i):
        a[0] = 1 // i
        if i == 0:
            raise ValueError("not in a kernel without debug")

    a = np.ones(1, np.int64)
    k[1, 1](a, 0)
    cuda.synchronize()
    assert a[0] == 0


def gpu(device):
    if device == "cpu":
        pytest.skip("the cpu device gives the launch up when a work-item raises")


# -- a thread that failed goes on (GPUs) --------------------------------------------------------------------------------


def test_a_failed_thread_comes_to_the_barriers(device):
    """The neighbours read what the failed thread writes behind its failure and before the barrier."""
    gpu(device)

    @cuda.jit(**DEBUG)
    def k(a, out, before, votes):
        s = cuda.shared.array(N, int64)
        i = cuda.threadIdx.x
        x = a[1000] if i % 8 == 3 else a[i]
        s[i] = i + 1
        cuda.syncthreads()
        out[i] = s[(i + 8) % N] + x
        votes[i] = cuda.syncthreads_count(i % 2 == 1)
        s[i] = -s[i]
        cuda.syncthreads()
        before[i] = s[i ^ 1]

    a = cuda.to_device(np.full(N, 100))
    out, before, votes = (cuda.to_device(np.zeros(N, np.int64)) for _ in range(3))
    got = raised(k, (1, N), a, out, before, votes)
    assert got[0] is IndexError and got[3] == "x = a[1000] if i % 8 == 3 else a[i]"
    i = np.arange(N)
    assert (out.copy_to_host() == (i + 8) % N + 1 + np.where(i % 8 == 3, 0, 100)).all()  # a failed read gives 0
    assert (votes.copy_to_host() == N // 2).all()
    assert (before.copy_to_host() == -((i ^ 1) + 1)).all()


def test_a_failed_thread_takes_part_in_its_warp(device):
    gpu(device)

    @cuda.jit(**DEBUG)
    def k(a, out):
        i = cuda.threadIdx.x
        if i == 5:
            a[-100] = 3
        out[i] = cuda.shfl_xor_sync(0xffffffff, i, 1) + 1000 * int64(cuda.ballot_sync(0xffffffff, i < 8))

    a, out = cuda.to_device(np.zeros(4)), cuda.to_device(np.zeros(32, np.int64))
    assert raised(k, (1, 32), a, out)[:2] == (IndexError, "index -100 is out of bounds for axis 0 with size 4")
    assert (out.copy_to_host() == (np.arange(32) ^ 1) + 255000).all() and (a.copy_to_host() == 0).all()


@pytest.mark.parametrize("opt", [False, True])
def test_accesses_outside_write_nothing(device, opt):
    """Elements, rows, views without axes, shared and local memory, atomics; an array in the middle of a larger one."""
    gpu(device)

    @cuda.jit(debug=True, opt=opt)
    def k(a, empty, out, j):
        s = cuda.shared.array((4, 4), int64)
        own = cuda.local.array(4, int64)
        for r in range(4):
            own[r] = 1
            for c in range(4):
                s[r, c] = 1
        a[j, 0] = 5
        a[0, j] = 5
        row = a[j]
        row[0] = 5
        row[-1] += 5
        a[j][0] = 5
        a[1:][j, 0] = 5
        a[1, j, ...][()] = 5
        a[j, j, ...][()] = 5
        cuda.atomic.add(a, (j, 1), 5)
        cuda.atomic.max(a, (1, j), 5)
        cuda.atomic.cas(row, 0, 0, 5)
        s[j, 0] = 5
        s[j][1] = 5
        own[j] = 5
        empty[0] = 5
        empty[j] += 5
        total = empty[0] + row[0] + a[j, j] + s[j, 1] + own[j]
        for r in range(4):
            total += own[r]
            for c in range(4):
                total += s[r, c]
        out[0] = total
        out[1] = row.size

    whole = cuda.to_device(np.zeros((7, 6), np.int64))
    a = whole[2:5, 1:5]
    out = cuda.to_device(np.zeros(2, np.int64))
    for j in (4, 100, -5, 2**40, -2**62, 2**63 - 1):
        assert raised(k, (1, 1), a, cuda.to_device(np.zeros(0, np.int64)), out, j)[:2] == (
            IndexError, f"index {j} is out of bounds for axis 0 with size 3")
        assert (whole.copy_to_host() == 0).all() and out.copy_to_host().tolist() == [20, 0]


TABLE = np.arange(1, 5)


@pytest.mark.parametrize("opt", [False, True])
def test_constants_dynamic_memory_and_complex_elements(device, opt):
    gpu(device)

    @cuda.jit(debug=True, opt=opt)
    def k(z, flags, out, j):
        d = cuda.shared.array(0, int64)
        d[cuda.threadIdx.x] = 7
        cuda.syncthreads()
        d[j] = 9
        z[j] = 1j
        flags[j] = True
        out[0] = TABLE[j] + d[j] + d[0] + d[1]
        out[1] = TABLE[-1]
        out[2] = 1 if flags[j] else 0
        w = z[j]
        out[3] = int64(w.real + w.imag)

    out = cuda.to_device(np.zeros(4, np.int64))
    z = cuda.to_device(np.zeros(8, np.complex128))
    flags = cuda.to_device(np.zeros(8, bool))
    for j in (4, -5, 2**40):
        assert raised(k, (1, 2, 0, 16), z[2:6], flags[2:6], out, j)[0] is IndexError
        assert out.copy_to_host().tolist() == [14, 4, 0, 0]
        assert (z.copy_to_host() == 0).all() and not flags.copy_to_host().any()


def test_a_loop_that_needs_the_missing_value_ends(device):
    @cuda.jit(**DEBUG)
    def k(a, out):
        i = 0
        while a[i] != 7:
            i += 1
        out[0] = i

    @cuda.jit(device=True)
    def search(a, start):
        while a[start] != 7:
            start += 1
        return start

    @cuda.jit(**DEBUG)
    def nested(a, out):
        while search(a, 0) != -1:
            out[0] += 1

    for kernel, line in ((k, "while a[i] != 7:"), (nested, "while a[start] != 7:")):
        got = raised(kernel, (1, 1), np.zeros(5), np.zeros(1, np.int64))
        assert got == (IndexError, "index 5 is out of bounds for axis 0 with size 5",
                       note(kernel, (0, 0, 0), (0, 0, 0)), line)


def test_a_failed_thread_may_run_long(device):
    """Patience is for iterations after the failure: those before do not count, and a thread without one is free."""
    gpu(device)

    @cuda.jit(**DEBUG)
    def k(a, out, n):
        i = 0
        while i < n:
            i += 1
        if cuda.threadIdx.x == 1:
            a[i] = 1
        j = 0
        while j < 1000:
            j += 1
        cuda.syncthreads()
        out[cuda.threadIdx.x] = i + j

    out = cuda.to_device(np.zeros(2, np.int64))
    assert raised(k, (1, 2), np.zeros(5), out, 100000)[1] == "index 100000 is out of bounds for axis 0 with size 5"
    assert (out.copy_to_host() == 101000).all()


def test_raise_ends_the_thread_as_return_does(device):
    gpu(device)

    @cuda.jit(device=True)
    def check(x):
        if x == 3:
            raise ValueError("three")
        return x

    @cuda.jit(**DEBUG)
    def k(out):
        i = cuda.threadIdx.x
        out[i] = check(i) + 1
        cuda.syncthreads()
        out[i] += 10

    out = cuda.to_device(np.zeros(8, np.int64))
    assert raised(k, (1, 8), out)[:2] == (ValueError, "three")
    assert out.copy_to_host().tolist() == [11, 12, 13, 0, 15, 16, 17, 18]


def test_division_goes_on_as_without_debug(device):
    gpu(device)

    @cuda.jit(**DEBUG)
    def k(a, out):
        i = cuda.threadIdx.x
        out[i] = 12.0 / a[i]
        cuda.syncthreads()

    out = cuda.to_device(np.zeros(4))
    assert raised(k, (1, 4), np.array([1.0, 2, 0, 4]), out)[:2] == (ZeroDivisionError, "division by zero")
    assert out.copy_to_host().tolist() == [12, 6, np.inf, 3]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_R20_fastmath_divides_by_zero_in_debug_kernels(device, dtype):
    def divide(a, b, out):
        i = cuda.grid(1)
        out[i] = a[i] / b[i]

    a, b = np.array([1, 2, 0], dtype), np.array([2, 0, 0], dtype)
    out = np.zeros(3, dtype)
    cuda.jit(**DEBUG, fastmath=True)(divide)[1, 3](a, b, out)
    cuda.synchronize()
    assert out[0] == 0.5 and not np.isfinite(out[1]) and np.isnan(out[2])
    assert raised(cuda.jit(**DEBUG)(divide), (1, 3), a, b, out)[0] is ZeroDivisionError

    def others(a, b, out):  # ints, and what rounds, still tell
        out[0] = a[0] // b[0]

    for kind in (np.int32, np.float64):
        args = np.ones(1, kind), np.zeros(1, kind), np.zeros(1, kind)
        assert raised(cuda.jit(**DEBUG, fastmath=True)(others), (1, 1), *args)[0] is ZeroDivisionError


def test_a_variable_without_value_is_empty(device):
    gpu(device)

    @cuda.jit(**DEBUG)
    def k(a, out):
        i = cuda.threadIdx.x
        if i < 3:
            row = a[i]
        row[0] += 1.0
        cuda.syncthreads()
        out[i] = row.size

    a, out = cuda.to_device(np.zeros((3, 2))), cuda.to_device(np.ones(4))
    assert raised(k, (1, 4), a, out)[0] is UnboundLocalError
    assert a.copy_to_host().tolist() == [[1, 0]] * 3 and out.copy_to_host().tolist() == [2, 2, 2, 0]


def test_which_work_item_it_was(device):
    @cuda.jit(**DEBUG)
    def k(a, out):
        i = cuda.grid(1)
        out[i] = a[i % 7 + (i == 45 * 32 + 13) * 100]

    cls, _, notes, _ = raised(k, (64, 32), np.zeros(7), np.zeros(64 * 32))
    assert cls is IndexError and notes[0] == "raised in kernel k by block (45, 0, 0), thread (13, 0, 0)"


def test_the_first_of_many_is_told_once(device):
    @cuda.jit(**DEBUG)
    def k(a):
        a[cuda.grid(1) + 10] = float64(1)

    cls, text, notes, _ = raised(k, (4, 32), np.zeros(3))
    assert cls is IndexError and "with size 3" in text
    assert notes[0].startswith("raised in kernel k by block (")
    cuda.synchronize()  # nothing is left


@pytest.mark.parametrize("opt", [True, False])
def test_INT_a_division_behind_a_guard_that_failed_gives_zero(device, opt):
    """Work-items of GPUs go on; that a guard has asked about zero says nothing of the divisor there."""
    gpu(device)

    @cuda.jit(debug=True, opt=opt)
    def k(a, out, i):
        n = a.shape[0]
        out[0] = i % n
        out[1] = i // n
        a[i % n] = 7

    whole = cuda.to_device(np.zeros(8, np.int64))
    out = cuda.to_device(np.full(2, 5, np.int64))
    for i in 5, -3, 2**62:
        with pytest.raises(ZeroDivisionError):
            k[1, 1](whole[4:4], out, i)
            cuda.synchronize()
        assert out.copy_to_host().tolist() == [0, 0] and not whole.copy_to_host().any()
