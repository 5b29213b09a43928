"""Threads that wait for each other, and atomic operations: the same kernels on every device present."""
import os

import numpy as np
import pytest

from quern import cuda, float32, float64, int32, int64

LANES = np.arange(32)


def run(kernel, n, *args, shared=0):
    """One block of n threads; the result array of int64 is the first argument of the kernel."""
    out = np.full(n, -1, np.int64)
    kernel[1, n, 0, shared](out, *args)
    return out


def test_tiled_product(device):
    @cuda.jit
    def product(a, b, c):
        sa = cuda.shared.array((8, 8), float32)
        sb = cuda.shared.array((8, 8), float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        for i in range(a.shape[1] // 8):
            sa[ty, tx] = a[y, tx + i * 8]
            sb[ty, tx] = b[ty + i * 8, x]
            cuda.syncthreads()
            for j in range(8):
                total += sa[ty, j] * sb[j, tx]
            cuda.syncthreads()
        c[y, x] = total

    rng = np.random.default_rng(5)
    a = rng.integers(-4, 5, (24, 24)).astype(np.float32)
    b = rng.integers(-4, 5, (24, 24)).astype(np.float32)
    c = np.zeros_like(a)
    product[(3, 3), (8, 8)](a, b, c)
    assert np.array_equal(c, a @ b)


@cuda.jit(device=True)
def block_sum(value, scratch):
    t = cuda.threadIdx.x
    scratch[t] = value
    cuda.syncthreads()
    n = cuda.blockDim.x // 2
    while n > 0:
        if t < n:
            scratch[t] += scratch[t + n]
        cuda.syncthreads()
        n //= 2
    total = scratch[0]
    cuda.syncthreads()
    return total


@pytest.mark.parametrize("n", [1, 2, 64, 256])
def test_sum_in_dynamic_shared_memory(device, n):
    """A device function with barriers in a loop, called twice."""
    @cuda.jit
    def sums(out, a):
        scratch = cuda.shared.array(0, int64)
        t = cuda.threadIdx.x
        first = block_sum(a[t], scratch)
        out[t] = first * 1000 + block_sum(a[t] * a[t], scratch)

    a = np.arange(n) % 5
    assert (run(sums, n, a, shared=8 * n) == a.sum() * 1000 + (a * a).sum()).all()


def test_GPU_01_early_exit_before_a_barrier(device):
    @cuda.jit
    def reverse(out, n):
        s = cuda.shared.array(128, int64)
        t = cuda.threadIdx.x
        if t >= n:
            return
        s[t] = t
        cuda.syncthreads()
        out[t] = s[n - 1 - t]

    for n in (0, 1, 33, 100):
        want = np.full(100, -1)
        want[:n] = np.arange(n)[::-1]
        assert np.array_equal(run(reverse, 100, n), want)


def test_barriers_with_results(device):
    @cuda.jit
    def vote(out, limit):
        t = cuda.threadIdx.x
        yes = t < limit
        n = cuda.syncthreads_count(yes)
        a = cuda.syncthreads_and(yes)
        o = cuda.syncthreads_or(yes)
        out[t] = n * 100 + (1 if a else 0) * 10 + (1 if o else 0)

    for limit in (0, 5, 48):
        want = limit * 100 + (limit >= 48) * 10 + (limit > 0)
        assert (run(vote, 48, limit) == want).all()


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float32, np.float64])
def test_GPU_14_shuffles(device, dtype):
    @cuda.jit
    def shuffle(idx, up, down, xor, a, by):
        t = cuda.threadIdx.x
        v = a[t]
        idx[t] = cuda.shfl_sync(0xFFFFFFFF, v, by)
        up[t] = cuda.shfl_up_sync(0xFFFFFFFF, v, by)
        down[t] = cuda.shfl_down_sync(0xFFFFFFFF, v, by)
        xor[t] = cuda.shfl_xor_sync(0xFFFFFFFF, v, by)

    big = {np.uint64: 2**63, np.float64: 2.0**40 + 0.5}.get(dtype, 3)
    a = (np.arange(64) * np.arange(64)).astype(dtype) + dtype(big)
    for by in (0, 1, 7, 31):
        out = [np.zeros(64, dtype) for _ in range(4)]
        shuffle[1, 64](*out, a, by)
        wave = cuda.get_current_device().WARP_SIZE if device == "hip" else 32
        lanes = np.arange(wave)
        sources = [np.full(wave, by), np.where(lanes < by, lanes, lanes - by),
                   np.where(lanes + by > wave - 1, lanes, lanes + by), lanes ^ by]
        for got, source in zip(out, sources):
            assert np.array_equal(got, np.concatenate([a[first + source] for first in range(0, 64, wave)]))


def test_votes_and_matches(device):
    @cuda.jit
    def vote(ballot, every, some, same, match, a):
        t = cuda.threadIdx.x
        yes = a[t] != 0
        ballot[t] = cuda.ballot_sync(0xFFFFFFFF, yes)
        every[t] = cuda.all_sync(0xFFFFFFFF, yes)
        some[t] = cuda.any_sync(0xFFFFFFFF, yes)
        same[t] = cuda.eq_sync(0xFFFFFFFF, yes)
        match[t] = cuda.match_any_sync(0xFFFFFFFF, a[t])

    for a in (np.zeros(32, np.int64), np.ones(32, np.int64), LANES % 3, (LANES == 31).astype(np.int64)):
        out = [np.zeros(32, np.int64) for _ in range(5)]
        vote[1, 32](*out, a)
        yes = a != 0
        want = [sum(1 << int(i) for i in np.flatnonzero(yes)), yes.all(), yes.any(), yes.all() or not yes.any()]
        for got, value in zip(out, want):
            assert (got == int(value)).all()
        assert out[4].tolist() == [sum(1 << int(i) for i in np.flatnonzero(a == v)) for v in a]


def test_GPU_02_halves_of_a_warp(device):
    @cuda.jit
    def halves(out):
        t = cuda.threadIdx.x
        if t < 16:
            v = cuda.shfl_down_sync(0x0000FFFF, t * t, 1)
        else:
            v = cuda.shfl_up_sync(0xFFFF0000, t * t, 1)
        cuda.syncwarp()
        out[t] = cuda.shfl_xor_sync(0xFFFFFFFF, v, 16)

    half = np.concatenate([LANES[1:17], LANES[15:31]]) ** 2
    got, want = run(halves, 32), half[LANES ^ 16]
    defined = ~np.isin(LANES ^ 16, (15, 16))  # these read a lane that takes no part
    assert np.array_equal(got[defined], want[defined])


def test_warp_aggregated_increment(device):
    """One lane adds for all that are in the branch, and hands out the places."""
    @cuda.jit
    def compact(out, count, a):
        t = cuda.grid(1)
        if a[t] > 0:
            mask = cuda.activemask()
            leader = cuda.ffs(mask) - 1
            rank = cuda.popc(mask & cuda.lanemask_lt())
            base = int64(0)
            if cuda.laneid == leader:
                base = cuda.atomic.add(count, 0, cuda.popc(mask))
            base = cuda.shfl_sync(mask, base, leader)
            out[base + rank] = t

    a = np.random.default_rng(3).integers(-2, 3, 256)
    out, count = np.full(256, -1, np.int64), np.zeros(1, np.int64)
    compact[4, 64](out, count, a)
    n = int((a > 0).sum())
    assert count[0] == n
    assert np.array_equal(np.sort(out[:n]), np.flatnonzero(a > 0))
    assert (out[n:] == -1).all()


ORACLE = {
    "add": lambda o, x: o + x,
    "sub": lambda o, x: o - x,
    "max": lambda o, x: max(o, x),
    "min": lambda o, x: min(o, x),
    "exch": lambda o, x: x,
    "and_": lambda o, x: o & x,
    "or_": lambda o, x: o | x,
    "xor": lambda o, x: o ^ x,
    "inc": lambda o, x: 0 if o >= x else o + 1,
    "dec": lambda o, x: x if o == 0 or o > x else o - 1,
}
INTS = ["int32", "uint32", "int64", "uint64"]
ATOMICS = [(name, t) for name in ORACLE for t in INTS + ["float32", "float64"]
           if not (t[0] == "f" and name in ("and_", "or_", "xor", "inc", "dec"))
           and not (t[0] != "u" and name in ("inc", "dec"))]


def make_atomic(name):
    operation = getattr(cuda.atomic, name)

    @cuda.jit
    def kernel(cells, old, a):
        t = cuda.threadIdx.x
        old[t] = operation(cells, t % cells.size, a[t])
    return kernel


@pytest.mark.parametrize("name,dtype", ATOMICS)
def test_GPU_05_atomics(device, name, dtype):
    """Every old value was there once: the values handed out are a chain from the first to the last."""
    kernel = make_atomic(name)
    rng = np.random.default_rng(11)
    low = 0 if dtype[0] == "u" else -50
    cells = rng.integers(low, 50, 3).astype(dtype)
    a = rng.integers(low, 50, 48).astype(dtype)
    if name in ("inc", "dec"):
        a[:] = 7  # the limit; otherwise the order matters
    first, old = cells.copy(), np.zeros(48, dtype)
    kernel[1, 48](cells, old, a)
    for c in range(3):
        values, handed = a[c::3].tolist(), old[c::3].tolist()
        waiting = list(zip(handed, values))
        now = first[c].item()
        step = ORACLE[name]
        wrap = (lambda v: v % 2 ** int(dtype[4:])) if dtype[0] == "u" else (lambda v: v)

        def chain(now, left):  # some order of the threads explains what each of them saw
            if not left:
                return now
            for k, (seen, x) in enumerate(left):
                if seen == now:
                    return chain(wrap(step(now, x)), left[:k] + left[k + 1:])
            raise AssertionError(f"nobody saw {now}")
        if name in ("add", "sub", "xor", "inc", "dec", "max", "min", "and_", "or_"):
            want = now
            for x in values:
                want = wrap(step(want, x))
            assert cells[c].item() == want
        if name in ("inc", "dec"):
            assert chain(now, waiting) == cells[c].item()
        if name == "exch":
            assert sorted(handed + [cells[c].item()]) == sorted(values + [now])


def test_GPU_05_compare_and_swap_and_nan(device):
    @cuda.jit
    def swap(cells, old):
        old[cuda.threadIdx.x] = cuda.atomic.cas(cells, 0, 5, 9 + cuda.threadIdx.x)

    cells, old = np.array([5], np.int64), np.zeros(4, np.int64)
    swap[1, 4](cells, old)
    winner = int(np.flatnonzero(old == 5)[0])
    assert cells[0] == 9 + winner
    assert all(old[i] == 9 + winner for i in range(4) if i != winner)

    @cuda.jit
    def largest(cells, a):
        cuda.atomic.max(cells, 0, a[cuda.threadIdx.x])
        cuda.atomic.nanmax(cells, 1, a[cuda.threadIdx.x])
        cuda.atomic.min(cells, 2, a[cuda.threadIdx.x])

    for dtype in (np.float32, np.float64):
        cells = np.array([-np.inf, np.nan, 0.5], dtype)
        largest[1, 4](cells, np.array([-0.0, np.nan, 3, -7], dtype))
        assert cells.tolist() == [3, 3, -7]


def test_GPU_01_deadlock_is_an_error():
    """On the cpu device: the other ones hang or say nothing."""
    if os.environ.get("QUERN_DEVICE", "cpu") != "cpu":
        pytest.skip("the cpu device alone")

    @cuda.jit
    def stuck(out):
        if cuda.threadIdx.x < 10:
            cuda.syncthreads()
        else:
            cuda.syncwarp(0xFFFFFFFF)

    with pytest.raises(RuntimeError, match="10 at a barrier, 22 at an operation of their warp, 0 have ended"):
        run(stuck, 32)
    assert np.array_equal(run(cuda.jit(lambda out: store_after_barrier(out)), 40), np.arange(40))


@cuda.jit(device=True)
def store_after_barrier(out):
    cuda.syncthreads()
    out[cuda.threadIdx.x] = cuda.threadIdx.x
