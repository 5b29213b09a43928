"""Kernels that are cut at their barriers (codegen/opt/workitem.c): on the cpu device work-items are rounds of plain loops there. What they
compute is compared with the same kernel on coroutines, which is what `opt=False` runs."""
import numpy as np
import pytest

from quern import cuda, float32, float64, int64

SHAPES = [(1, 1, 1), (7, 1, 1), (32, 1, 1), (8, 4, 1), (5, 3, 2)]


@cuda.jit(device=True)
def number():
    return cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)


def neighbours(x, out):
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    s[t] = x[t]
    cuda.syncthreads()
    out[t] = s[(t + 1) % n] - s[(t + n - 1) % n]


def halving(x, out):
    s = cuda.shared.array(64, float64)
    t = number()
    s[t] = x[t]
    cuda.syncthreads()
    n = x.size
    while n > 1:
        half = (n + 1) // 2
        if t + half < n:
            s[t] += s[t + half]
        cuda.syncthreads()
        n = half
    out[t] = s[0] + t


def swapped(x, out):
    """Variables that take each other's values from round to round."""
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    a, b = x[t], x[n - 1 - t]
    for i in range(5):
        s[t] = a
        cuda.syncthreads()
        a, b = b, s[n - 1 - t] * 0.5
        cuda.syncthreads()
    out[t] = a * 100 + b


def kinds(x, out):
    """Values of many types are kept: a bool, a complex number, a tuple, a view, an int."""
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    big = x[t] > 0.5
    z = complex(x[t], x[0])
    pair = (x[t] * 2, int64(x[t] * 1000))
    tail = x[int(x[t] * n):]
    s[n - 1 - t] = x[t]
    cuda.syncthreads()
    z = z * z + s[t]
    s[t] = z.imag
    cuda.syncthreads()
    out[t] = z.real + s[n - 1 - t] + pair[0] + pair[1] + tail.size + (7 if big else 3)


def uniform_branches(x, out):
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    v = x[t]
    if n > 7:
        s[t] = v
        cuda.syncthreads()
        v += s[n - 1 - t]
    else:
        v = -v
    for i in range(4):
        if i % 2 == 0:
            cuda.syncthreads()
            s[t] = v
            cuda.syncthreads()
            v = s[(t + i + 1) % n]
        elif i == 3:
            v *= 2
    out[t] = v


def several_ways(x, out):
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    v = x[t]
    for i in range(6):
        if i % 2 == 0:
            s[t] = v
            cuda.syncthreads()
            v = s[(t + i + 1) % n]
        elif i == 3:
            v *= 2
        elif v > 0.5:
            v -= 0.25
        else:
            v += 0.125
        v += 0.0625
        cuda.syncthreads()
    out[t] = v


def nests(x, out):
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    v = 0.0
    for i in range(3):
        for j in range(i + 1):
            cuda.syncthreads()
            s[t] = x[t] * (i + 1) + j
            cuda.syncthreads()
            for k in range(n):
                if (k + t) % 3 == 0:
                    continue
                v += s[k] * 0.25
        if i == 1 and n == 32:
            break
    out[t] = v


def early_round(x, out):
    """A loop that ends in its middle, for all at once."""
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    v, i = x[t], 0
    while True:
        s[t] = v
        cuda.syncthreads()
        if i * i > n:
            break
        v += s[(t + i) % n]
        cuda.syncthreads()
        i += 1
    out[t] = v + i


def long_loops(x, out):
    """Cut at loops that have no barrier, with values that go through."""
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    s[t] = x[t]
    cuda.syncthreads()
    a, b, last = 0.0, 1.0, -1
    for k in range(3 * n + 40):
        w = s[k % n]
        a += w * x[t]
        if w > x[t]:
            b, last = w - b, k
    out[t] = a + b + last


def divided_loops(x, out):
    """Each work-item has its own number of rounds between barriers, and may leave early."""
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    s[t] = x[t]
    cuda.syncthreads()
    v, i = 0.0, t
    while i > 0:
        v += s[i % n]
        if v > 3.0:
            break
        i //= 2
    cuda.syncthreads()
    s[t] = v
    cuda.syncthreads()
    if t % 2:
        out[t] = s[t] + s[n - 1 - t]
        return
    out[t] = s[t]


def dynamic(x, out):
    s = cuda.shared.array(0, float64)
    t, n = number(), x.size
    s[t] = x[t]
    cuda.syncwarp()
    cuda.syncthreads()
    cuda.atomic.add(s, 0, 1.0)
    cuda.syncthreads()
    out[t] = s[0] + s[n - 1]


def nothing_kept(x, out):
    t = number()
    out[t] = x[t]
    cuda.syncthreads()
    cuda.syncthreads()


@cuda.jit(device=True)
def sum_of_block(value, s):
    t, n = number(), cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
    s[t] = value
    cuda.syncthreads()
    total = 0.0
    for i in range(n):
        total += s[i]
    cuda.syncthreads()
    return total


@cuda.jit(device=True)
def mean_of_block(value, s):
    return sum_of_block(value, s) / (cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z)


def in_functions(x, out):
    s = cuda.shared.array(64, float64)
    t = number()
    m = mean_of_block(x[t], s)
    d = sum_of_block((x[t] - m) ** 2, s)
    out[t] = m + d * t


def local_arrays(x, out):
    """One lives in one region, one in two, one from round to round, one by a view alone."""
    s = cuda.shared.array(64, float64)
    once, twice = cuda.local.array(3, float64), cuda.local.array((2, 3), float64)
    rounds, seen = cuda.local.array(5, int64), cuda.local.array(4, float32)
    t, n = number(), x.size
    for i in range(3):
        once[i] = x[t] * i
        for j in range(2):
            twice[j, i] = once[i] + j
    for i in range(4):
        seen[i] = i * x[t]
    view = seen[1:]
    for i in range(5):
        rounds[i] = i
    s[t] = once[2]
    cuda.syncthreads()
    v = s[n - 1 - t] + twice[1, t % 3] + view[2]
    seen[2] = v
    v += view[1]
    view[0] = v
    v -= seen[1] * 0.5
    for i in range(4):
        rounds[i + 1] += rounds[i] + t
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
        v += s[(t + 1) % n]
    out[t] = v + rounds[4]


def questions(x, out):
    """Barriers that ask: of values, of the number of the work-item, of what is the same for all, and as a loop's condition."""
    s = cuda.shared.array(64, float64)
    t, n = number(), x.size
    big = cuda.syncthreads_count(x[t] > 0.5)
    low = cuda.syncthreads_count(t < n // 2)
    v = big * 1000 + low
    v += cuda.syncthreads_or(x[t] > 0.9) * 7 + cuda.syncthreads_and(x[t] > 0.01) * 11
    v += cuda.syncthreads_and(n > 5) * 13 + cuda.syncthreads_or(t == n) * 17
    s[t] = x[t]
    cuda.syncthreads()
    rounds = 0
    while cuda.syncthreads_or(s[t] > 0.1):
        s[t] *= 0.5
        rounds += 1
    if cuda.syncthreads_count(t >= 0) == n:
        cuda.syncthreads()
        v += s[n - 1 - t]
    out[t] = v + rounds


CUT = [neighbours, halving, swapped, kinds, uniform_branches, several_ways, nests, early_round, long_loops, divided_loops, dynamic,
       nothing_kept, in_functions, local_arrays, questions]


def run(kernel, shape, blocks=1):
    n = int(np.prod(shape))
    x = np.random.default_rng(n).random(n)
    out = np.full(n, np.nan)
    kernel[blocks, shape, 0, 8 * 64](x, out)
    return out


def is_cut(kernel):
    return all("quern_run_blocks" not in text for text in kernel.inspect_llvm().values())




@pytest.mark.optimised
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "x".join(map(str, s)))
@pytest.mark.parametrize("kernel", CUT, ids=lambda k: k.__name__)
def test_as_on_coroutines(device, kernel, shape):
    cut, plain = cuda.jit(kernel), cuda.jit(kernel, opt=False)
    got, expected = run(cut, shape), run(plain, shape)
    if device == "cpu":
        assert np.array_equal(got, expected)
        assert is_cut(cut) and not is_cut(plain)
    else:  # GPUs fuse products and sums where they optimise
        assert np.allclose(got, expected, rtol=1e-12, atol=0)


def not_all_arrive(x, out):
    """Some are through before the barrier, which then is not theirs."""
    t = number()
    if t >= 20:
        out[t] = -1
        return
    s = cuda.shared.array(64, float64)
    s[t] = x[t]
    cuda.syncthreads()
    out[t] = s[0]


def rounds_from_memory(x, out):
    s = cuda.shared.array(64, float64)
    t = number()
    out[t] = 0
    for i in range(int(x[0] * 5)):
        s[t] = x[t] + i
        cuda.syncthreads()
        out[t] += s[0]
        cuda.syncthreads()


@pytest.mark.parametrize("kernel", [not_all_arrive, rounds_from_memory], ids=lambda k: k.__name__)
def test_what_is_not_cut(device, kernel):
    cut, plain = cuda.jit(kernel), cuda.jit(kernel, opt=False)
    assert np.array_equal(run(cut, (32, 1, 1)), run(plain, (32, 1, 1)))
    if device == "cpu":
        assert not is_cut(cut)


def test_the_work_item_that_fails_is_named(device):
    @cuda.jit(debug=True, opt=True)
    def fails(x, out):
        t = cuda.threadIdx.x
        out[t] = x[t]
        cuda.syncthreads()
        if t == 5 and cuda.blockIdx.x == 2:
            out[t + 100] = 1

    with pytest.raises(IndexError, match=r"block \(2, 0, 0\).*thread \(5, 0, 0\)"):
        fails[4, 8](np.zeros(8), np.zeros(8))
        cuda.synchronize()


def test_many_blocks_share_nothing(device):
    @cuda.jit
    def sums(x, out):
        s = cuda.shared.array(64, float32)
        t = cuda.threadIdx.x
        s[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        total = float32(0)
        for i in range(cuda.blockDim.x):
            total += s[i]
        cuda.syncthreads()
        out[cuda.grid(1)] = total

    x = np.arange(64 * 300, dtype=np.float32) % 17
    out = np.zeros_like(x)
    sums[300, 64](x, out)
    assert np.array_equal(out, x.reshape(300, 64).sum(1).repeat(64))


def test_local_memory_is_counted_once(device):
    """Of a work-item, whether an array lies in a region or in a slot."""
    cut, plain = cuda.jit(local_arrays), cuda.jit(local_arrays, opt=False)
    run(cut, (8, 1, 1)), run(plain, (8, 1, 1))
    bytes_of = [next(iter(k.get_local_mem_per_thread().values())) for k in (cut, plain)]
    if device == "cpu":
        assert bytes_of == [3 * 8 + 6 * 8 + 5 * 8 + 4 * 4] * 2


# -- work-items that have nothing to do (codegen/llvm/cg_trim.c) -------------------------------------------------


def below(out, n):
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    out[y, t] = 1
    cuda.syncthreads()
    if t < n:
        out[y, t] += 10
    cuda.syncthreads()
    out[y, t] *= 2


def from_on(out, n):
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    out[y, t] = 1
    cuda.syncthreads()
    if t >= n:
        out[y, t] += 10
    cuda.syncthreads()
    out[y, t] *= 2


def unless_from_on(out, n):
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    out[y, t] = 1
    cuda.syncthreads()
    if not t >= n:
        out[y, t] += 10
    cuda.syncthreads()
    out[y, t] *= 2


def the_one(out, n):
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    out[y, t] = 1
    cuda.syncthreads()
    if t == n:
        out[y, t] += 10
    cuda.syncthreads()
    out[y, t] *= 2


def but_one(out, n):
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    out[y, t] = 1
    cuda.syncthreads()
    if t != n:
        out[y, t] += 10
    cuda.syncthreads()
    out[y, t] *= 2


def above(out, n):
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    out[y, t] = 1
    cuda.syncthreads()
    if n < t:
        out[y, t] += 10
    cuda.syncthreads()
    out[y, t] *= 2


def with_another_way(out, n):
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    out[y, t] = 1
    cuda.syncthreads()
    if t < n:
        out[y, t] += 10
    else:
        out[y, t] += 20
    cuda.syncthreads()
    out[y, t] *= 2


def at_once(out, n):
    """Nothing before the test, and nothing behind it."""
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    if t < n:
        out[y, t] += 22
    cuda.syncthreads()
    if t == 3:
        out[y, t] += 5
    cuda.syncthreads()


def kept(out, n):
    """A variable that the others look at, too."""
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    v = 1.0 + out[y, t]
    cuda.syncthreads()
    if t < n:
        v += 10
        out[y, t] = 7
    cuda.syncthreads()
    out[y, t] = v * 2


CHOICES = {"below": lambda t, n: 22 if t < n else 2, "from_on": lambda t, n: 22 if t >= n else 2, "unless_from_on": lambda t, n: 22 if t < n else 2,
           "the_one": lambda t, n: 22 if t == n else 2, "but_one": lambda t, n: 22 if t != n else 2, "above": lambda t, n: 22 if t > n else 2,
           "with_another_way": lambda t, n: 22 if t < n else 42, "at_once": lambda t, n: (22 if t < n else 0) + 5 * (t == 3),
           "kept": lambda t, n: 22 if t < n else 2}
wherever = pytest.mark.parametrize("kernel", [below, from_on, unless_from_on, the_one, but_one, above, with_another_way, at_once, kept])


@wherever
def test_work_items_with_something_to_do_are_run(device, kernel):
    compiled = cuda.jit(kernel)
    for shape in (1, 1), (13, 1), (40, 2):
        for n in 0, 1, 5, 13, 39, 40, 41, -1, -2**63, 2**32, 2**32 + 3, 2**63 - 1:
            out = np.zeros((shape[1], shape[0]))
            compiled[1, shape](out, n)
            assert out.tolist() == [[CHOICES[kernel.__name__](t, n) for t in range(shape[0])]] * shape[1], (shape, n)


@pytest.mark.optimised
def test_halves_of_a_reduction_run_as_vectors():
    @cuda.jit("void(float32[::1], float32[::1])")
    def sums(a, out):
        s = cuda.shared.array(256, float32)
        t = cuda.threadIdx.x
        s[t] = a[cuda.grid(1)]
        cuda.syncthreads()
        k = 128
        while k:
            if t < k:
                s[t] += s[t + k]
            cuda.syncthreads()
            k //= 2
        if t == 0:
            out[cuda.blockIdx.x] = s[0]

    a, out = np.arange(1024, dtype=np.float32), np.zeros(4, np.float32)
    sums[4, 256](a, out)
    assert out.tolist() == a.reshape(4, 256).sum(1).tolist()
    llvm, = sums.inspect_llvm().values()
    assert any("fadd" in line and " x float>" in line for line in llvm.splitlines()) and "masked" not in llvm
