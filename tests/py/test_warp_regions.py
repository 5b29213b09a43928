"""Operations of whole warps in kernels that are cut (codegen/opt/workitem.c): on the cpu device a shuffle is a look at what another work-item
has kept, and a vote is asked once for each warp. What they compute is compared with the same kernel on coroutines, which is what
`opt=False` runs, and with NumPy."""
import numpy as np
import pytest

from quern import cuda, float64
from test_kernel_regions import is_cut, number

SHAPES = [(1, 1, 1), (32, 1, 1), (48, 1, 1), (100, 1, 1), (8, 4, 3), (5, 3, 2)]


def summed(x, out):
    t = number()
    v, d = x[t], 16
    while d > 0:
        v += cuda.shfl_down_sync(0xffffffff, v, d)
        d //= 2
    out[t] = v


def butterfly(x, out):
    t = number()
    v = x[t]
    for k in range(5):
        v += cuda.shfl_xor_sync(-1, v, 1 << k)
    out[t] = v


def scanned(x, out):
    t = number()
    v = x[t]
    for k in range(5):
        w = cuda.shfl_up_sync(-1, v, 1 << k)
        if t % 32 >= 1 << k:
            v += w
    out[t] = v


def turned(x, out):
    """Nothing but a shuffle in each round."""
    t = number()
    v = x[t]
    for i in range(7):
        v = cuda.shfl_sync(-1, v, (t + 1) % 32)
    out[t] = v


def changing_places(x, out):
    t = number()
    a, b = x[t], x[t] * 2
    for i in range(5):
        a, b = cuda.shfl_xor_sync(-1, b, 3), cuda.shfl_down_sync(-1, a, i)
    out[t] = a * 100 + b


def far_lanes(x, out):
    """Numbers of lanes count modulo 32, and each work-item gives its own."""
    t = number()
    out[t] = cuda.shfl_sync(-1, x[t], t * 7) + 10 * cuda.shfl_up_sync(-1, x[t], t) + 100 * cuda.shfl_down_sync(-1, x[t], t % 5 + 30)


def of_other_types(x, out):
    t = number()
    z = cuda.shfl_xor_sync(-1, complex(x[t], t), 1)
    n = cuda.shfl_up_sync(-1, np.int8(t), 1)
    m = cuda.shfl_sync(-1, t, 5)
    f = cuda.shfl_down_sync(-1, np.float32(x[t]), 2)
    out[t] = z.real + z.imag + n * 1000 + m * 1e6 + f


def of_the_block(x, out):
    """What is passed on is the same for all, or computed again."""
    t = number()
    out[t] = cuda.shfl_sync(-1, x[0], 3) + cuda.shfl_up_sync(-1, t + 1, 1) + cuda.shfl_down_sync(-1, 5, 1)


def voted(x, out):
    t = number()
    small, large = x[t] < 0.2, x[t] < 2
    out[t] = (cuda.any_sync(-1, small) + 2 * cuda.all_sync(-1, small) + 4 * cuda.eq_sync(-1, small) + 8 * cuda.any_sync(-1, not large)
              + 16 * cuda.all_sync(-1, large) + 32 * cuda.eq_sync(-1, large))


def ballots(x, out):
    t = number()
    total = 0.0
    for i in range(6):
        mask = cuda.ballot_sync(0xffffffff, x[t] * 6 > i)
        total = total * 40 + cuda.popc(mask & cuda.lanemask_lt())
    out[t] = total


def votes_and_shuffles(x, out):
    s = cuda.shared.array(4, float64)
    t = number()
    v = x[t]
    for i in range(3):
        if cuda.any_sync(-1, v > 0.5 + i):
            v -= 0.25
        v += cuda.shfl_xor_sync(-1, v, 1)
    cuda.syncwarp(-1)
    if t % 32 == 0:
        s[t // 32] = v
    cuda.syncthreads()
    out[t] = s[(t // 32 + 1) % ((x.size + 31) // 32)] + v


CUT = [summed, butterfly, scanned, turned, changing_places, far_lanes, of_other_types, of_the_block, voted, ballots, votes_and_shuffles]


def run(kernel, shape, blocks=1):
    n = int(np.prod(shape))
    x, out = np.random.default_rng(n).random(n), np.full(n, np.nan)
    kernel[blocks, shape](x, out)
    return x, out


@pytest.mark.optimised
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
@pytest.mark.parametrize("kernel", CUT, ids=lambda k: k.__name__)
def test_as_on_coroutines(device, kernel, shape):
    cut, plain = cuda.jit(kernel), cuda.jit(kernel, opt=False)
    (_, got), (_, expected) = run(cut, shape, 3), run(plain, shape, 3)
    if device == "cpu":
        np.testing.assert_array_equal(got, expected)
        assert is_cut(cut) and not is_cut(plain)
    else:  # GPUs fuse products and sums where they optimise
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=0)


def test_against_numpy(device):
    x, out = run(cuda.jit(butterfly), (32, 1, 1))
    np.testing.assert_allclose(out, x.sum())
    x, out = run(cuda.jit(scanned), (32, 1, 1))
    np.testing.assert_allclose(out, np.cumsum(x))
    x, out = run(cuda.jit(turned), (32, 1, 1))
    np.testing.assert_array_equal(out, np.roll(x, -7))
    x, out = run(cuda.jit(voted), (32, 1, 1))
    assert (x < 0.2).any() and not (x < 0.2).all() and set(out) == {1 + 16 + 32}
    x, out = run(cuda.jit(ballots), (32, 1, 1))
    want = np.zeros(32)
    for i in range(6):
        want = want * 40 + np.cumsum(x * 6 > i) - (x * 6 > i)
    np.testing.assert_array_equal(out, want)


def half_of_a_warp(x, out):
    t = number()
    v = x[t]
    v += cuda.shfl_xor_sync(0xffff if t < 16 else 0xffff0000, v, 1)
    out[t] = v


def first_warp(x, out):
    t = number()
    out[t] = 0
    if t < 32:
        out[t] = cuda.shfl_down_sync(-1, x[t], 1)


def until_nobody_wants(x, out):
    t = number()
    v = x[t]
    while cuda.any_sync(-1, v > 0.1):
        v *= 0.5
    out[t] = v


@pytest.mark.optimised
@pytest.mark.parametrize("kernel", [half_of_a_warp, first_warp, until_nobody_wants], ids=lambda k: k.__name__)
def test_what_is_not_cut(device, kernel):
    """Some of the warp, or some warps of the block."""
    cut, plain = cuda.jit(kernel), cuda.jit(kernel, opt=False)
    np.testing.assert_array_equal(run(cut, (32 if kernel is half_of_a_warp else 64, 1, 1))[1],
                                  run(plain, (32 if kernel is half_of_a_warp else 64, 1, 1))[1])
    if device == "cpu":
        assert not is_cut(cut)
