"""Kernels on every device present: the cpu device always, the CUDA path over the stand-in driver or a real one
(fixture `device` in conftest.py runs each test once for each). CPython and NumPy are the oracle."""
import numpy as np
import pytest

from quern import cuda, errors, float32, int32, int64

TPB = 8


@cuda.jit
def add_kernel(x, y, out):
    start = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    for i in range(start, x.shape[0], cuda.blockDim.x * cuda.gridDim.x):
        out[i] = x[i] + y[i]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.int64, np.uint8, np.complex128])
def test_grid_stride_add(device, kind):
    n = 1000
    x, y = np.arange(n).astype(kind), (2 * np.arange(n)).astype(kind)
    out = np.zeros_like(x)
    add_kernel[5, 32](x, y, out)
    assert (out == (x + y).astype(kind)).all()


def test_increment_two_dimensions(device):
    @cuda.jit
    def increment(a):
        x, y = cuda.grid(2)
        if x < a.shape[0] and y < a.shape[1]:
            a[x, y] += 1

    for array in (np.zeros((13, 7)), np.asfortranarray(np.zeros((13, 7))), np.zeros((26, 14))[::2, ::2],
                  np.zeros((13, 7))[::-1, ::-1]):
        increment[(4, 4), (4, 4)](array)
        assert (array == 1).all()


def test_grid_positions(device):
    @cuda.jit
    def where(out):
        i, j, k = cuda.grid(3)
        a, b, c = cuda.gridsize(3)
        out[i, j, k] = (i * b + j) * c + k + cuda.threadIdx.z * 1000 + cuda.blockIdx.y * 10000

    out = np.zeros((4, 6, 4), np.int64)
    where[(2, 3, 2), (2, 2, 2)](out)
    i, j, k = np.indices(out.shape)
    assert (out == (i * 6 + j) * 4 + k + (k % 2) * 1000 + (j // 2) * 10000).all()


def test_tiled_matrix_product(device):
    @cuda.jit
    def matmul(A, B, C):
        sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
        sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0.0)
        for i in range((A.shape[1] + TPB - 1) // TPB):
            sA[tx, ty] = 0
            sB[tx, ty] = 0
            if x < A.shape[0] and ty + i * TPB < A.shape[1]:
                sA[tx, ty] = A[x, ty + i * TPB]
            if y < B.shape[1] and tx + i * TPB < B.shape[0]:
                sB[tx, ty] = B[tx + i * TPB, y]
            cuda.syncthreads()
            for j in range(TPB):
                total += sA[tx, j] * sB[j, ty]
            cuda.syncthreads()
        if x < C.shape[0] and y < C.shape[1]:
            C[x, y] = total

    rng = np.random.default_rng(1)
    A, B = rng.random((19, 11), np.float32), rng.random((11, 21), np.float32)
    C = np.zeros((19, 21), np.float32)
    matmul[(3, 3), (TPB, TPB)](A, B, C)
    assert np.allclose(C, A @ B, rtol=1e-5)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64])
def test_GPU_05_atomics(device, kind):
    @cuda.jit
    def atomics(data, out, slots):
        i = cuda.grid(1)
        if i < data.shape[0]:
            cuda.atomic.add(out, 0, data[i])
            cuda.atomic.max(out, 1, data[i])
            cuda.atomic.min(out, -1, data[i])
            old = cuda.atomic.add(slots, (0, 1), 1)
            cuda.atomic.exch(slots, (1, 0), old)

    data = np.random.default_rng(3).permutation(200).astype(kind) + kind(1)
    out = np.array([0, 0, 0, 1000], kind)
    slots = np.zeros((2, 2), np.int32)
    atomics[4, 64](data, out, slots)
    assert out[0] == data.sum() and out[1] == 200 and out[3] == 1
    assert slots[0, 1] == 200 and 0 <= slots[1, 0] < 200


def test_GPU_05_compare_and_swap(device):
    @cuda.jit
    def first_wins(lock, winner):
        i = cuda.grid(1)
        if cuda.atomic.compare_and_swap(lock, 0, i + 1) == 0:
            winner[0] = i

    lock, winner = np.zeros(1, np.int32), np.full(1, -1, np.int32)
    first_wins[2, 32](lock, winner)
    assert lock[0] == winner[0] + 1


def test_GPU_05_float_extremes_with_mixed_signs(device):
    @cuda.jit
    def extremes(data, out):
        i = cuda.grid(1)
        if i < data.shape[0]:
            cuda.atomic.max(out, 0, data[i])
            cuda.atomic.min(out, 1, data[i])

    for kind in (np.float32, np.float64):
        data = np.array([-3.5, 2.25, -0.0, 0.0, -7.0, 6.5], kind)
        out = np.array([-np.inf, np.inf], kind)
        extremes[1, 32](data, out)
        assert out.tolist() == [6.5, -7.0]


def test_histogram(device):
    @cuda.jit
    def histogram(data, bins):
        for i in range(cuda.grid(1), data.shape[0], cuda.gridsize(1)):
            cuda.atomic.add(bins, data[i], 1)

    data = np.random.default_rng(4).integers(0, 10, 1000)
    bins = np.zeros(10, np.int32)
    histogram[4, 32](data, bins)
    assert (bins == np.bincount(data, minlength=10)).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "float32"])
@pytest.mark.parametrize("n", [1, 3, 5])
def test_GPU_05_atomics_on_the_last_bytes_of_shared_memory(device, dtype, n):
    """Where a chip exchanges the word that a narrow element lies in, all of the word is there."""
    kind = np.dtype(dtype).type

    @cuda.jit
    def count(out):
        first = cuda.shared.array(1, np.int8)
        bins = cuda.shared.array(n, kind)
        t = cuda.threadIdx.x
        if t < n:
            bins[t] = 0
        if t == 0:
            first[0] = 7
        cuda.syncthreads()
        cuda.atomic.add(bins, t % n, 2)
        cuda.syncthreads()
        if t < n:
            out[t] = bins[t] + first[0]

    out = np.zeros(n, dtype)
    count[1, 30](out)
    assert out.tolist() == [7 + 2 * (30 // n)] * n


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("opt", [False, True])
def test_JIT_signs_of_zero_behind_subtractions_from_zero(device, kind, opt):
    """0.0 - y is 0.0 for a y of 0.0, also where its user could take -y as an operand (LLVM 19 did, for AMD)."""
    @cuda.jit(opt=opt)
    def differences(y, f, wide, plain, one, zero):
        i = cuda.grid(1)
        if i < y.shape[0]:
            d = zero - y[i]
            wide[i] = d
            plain[i] = d
            f[i] = d * one + (0 - y[i])

    part = np.array([0.0, -0.0, 1.5, -2.0, np.inf], np.float32)
    y = np.array([complex(a, b) for a, b in zip(part, part[::-1])], kind) if kind == np.complex64 else part.astype(kind)
    if kind == np.complex64:
        y[0], y[1] = complex(0.0, -0.0), complex(-0.0, 0.0)
    more = np.complex128 if kind == np.complex64 else np.float64
    f, plain, wide = np.ones_like(y), np.ones_like(y), np.ones(y.shape, more)
    differences[1, 32](y, f, wide, plain, np.float32(1), np.float32(0))
    zero = kind(0)
    with np.errstate(all="ignore"):
        expected = zero - y
        product = expected * kind(1) + expected
    for found, right in ((plain, expected), (wide, expected.astype(more)), (f, product)):
        for get in (np.real, np.imag):
            a, b = get(found), get(right)
            keep = ~np.isnan(b)
            assert (a[keep] == b[keep]).all() and (np.signbit(a[keep]) == np.signbit(b[keep])).all()


def test_GPU_04_dynamic_shared_memory(device):
    @cuda.jit
    def reverse(data):
        scratch = cuda.shared.array(0, dtype=int32)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        scratch[t] = data[i]
        cuda.syncthreads()
        data[i] = scratch[cuda.blockDim.x - 1 - t]

    data = np.arange(64, dtype=np.int32)
    reverse[4, 16, 0, 64](data)
    assert (data.reshape(4, 16) == np.arange(64).reshape(4, 16)[:, ::-1]).all()


def test_local_array(device):
    @cuda.jit
    def rotate(a):
        scratch = cuda.local.array(4, int64)
        i = cuda.grid(1)
        for k in range(4):
            scratch[k] = a[i, k]
        for k in range(4):
            a[i, (k + 1) % 4] = scratch[k]

    a = np.arange(32).reshape(8, 4)
    expected = np.roll(a, 1, axis=1)
    rotate[1, 8](a)
    assert (a == expected).all()


def test_C03_device_functions(device):
    @cuda.jit(device=True)
    def clamp(value, low, high):
        return min(max(value, low), high)

    def plain(x):
        return x * 2

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] = clamp(plain(a[i]), 5, 20)

    a = np.arange(20)
    kernel[1, 32](a)
    assert (a == np.clip(np.arange(20) * 2, 5, 20)).all()


def test_GPU_01_barrier_in_a_loop(device):
    @cuda.jit
    def block_sum(data, out):
        scratch = cuda.shared.array(32, float32)
        t = cuda.threadIdx.x
        scratch[t] = data[cuda.grid(1)]
        cuda.syncthreads()
        step = 16
        while step > 0:
            if t < step:
                scratch[t] += scratch[t + step]
            cuda.syncthreads()
            step //= 2
        if t == 0:
            out[cuda.blockIdx.x] = scratch[0]

    data = np.random.default_rng(5).random(128).astype(np.float32)
    out = np.zeros(4, np.float32)
    block_sum[4, 32](data, out)
    assert np.allclose(out, data.reshape(4, 32).sum(axis=1), rtol=1e-5)


def test_C24_warp_operations(device):
    @cuda.jit
    def warp_sum(data, out, votes):
        i = cuda.grid(1)
        value = data[i]
        offset = 16
        while offset > 0:
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
            offset //= 2
        if cuda.laneid == 0:
            out[i // 32] = value
        ballot = cuda.ballot_sync(0xFFFFFFFF, data[i] % 2 == 0)
        votes[i] = cuda.popc(ballot)

    data = np.arange(64, dtype=np.int32)
    out, votes = np.zeros(2, np.int32), np.zeros(64, np.int32)
    warp_sum[2, 32](data, out, votes)
    assert (out == data.reshape(2, 32).sum(axis=1)).all() and (votes == 16).all()


def test_math_in_kernels(device):
    import math

    @cuda.jit
    def compute(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            v = x[i]
            out[i, 0] = math.sin(v)
            out[i, 1] = math.exp(v)
            out[i, 2] = math.log(v)
            out[i, 3] = math.sqrt(v)
            out[i, 4] = math.erf(v)
            out[i, 5] = v**1.5
            out[i, 6] = math.tanh(v)

    for kind, tolerance in ((np.float64, 1e-14), (np.float32, 1e-6)):
        x = np.linspace(0.1, 3, 20).astype(kind)
        out = np.zeros((20, 7), kind)
        try:
            compute[1, 32](x, out)
        except errors.LoweringError as error:
            if "E0502" not in str(error):
                raise
            assert "libdevice.10.bc" in str(error) and "nvidia" in str(error)  # names every place it looked
            pytest.skip("libdevice is not installed on this machine")
        wide = x.astype(float)
        expected = np.stack([np.sin(wide), np.exp(wide), np.log(wide), np.sqrt(wide), [math.erf(v) for v in wide], wide**1.5,
                             np.tanh(wide)], axis=1)
        assert np.allclose(out, expected, rtol=tolerance * 4, atol=tolerance)


def test_integer_division_in_kernels(device):
    @cuda.jit
    def divide(a, b, q, r):
        i = cuda.grid(1)
        if i < a.shape[0]:
            q[i] = a[i] // b[i]
            r[i] = a[i] % b[i]

    a = np.array([7, -7, 7, -7, -2**31, 5, 0], np.int32)
    b = np.array([2, 2, -2, -2, -1, 3, -4], np.int32)
    q, r = np.zeros(7, np.int64), np.zeros(7, np.int64)
    divide[1, 32](a, b, q, r)
    assert q.tolist() == [int(x) // int(y) for x, y in zip(a, b)]
    assert r.tolist() == [int(x) % int(y) for x, y in zip(a, b)]


def test_INT_06_division_by_zero_in_kernels(device):
    @cuda.jit
    def divide(a, b, out):
        i = cuda.grid(1)
        out[i] = a[i] // b[i]

    out = np.full(4, 9)
    divide[1, 4](np.arange(4), np.zeros(4, np.int64), out)
    assert out.tolist() == [0, 0, 0, 0]


def test_ALS_06_aliased_arguments_mean_the_same_everywhere(device):
    @cuda.jit
    def shift(a, b):
        i = cuda.grid(1)
        if i < a.shape[0]:
            v = a[i]
            cuda.syncthreads()
            b[i] = v + 1

    x = np.arange(17.0)
    shift[1, 32](x, x)
    assert x.tolist() == [i + 1 for i in range(17)]
    y = np.arange(17.0)
    shift[1, 32](y[1:], y[:-1])
    assert y.tolist() == [i + 2 for i in range(16)] + [16.0]


def test_strided_views_write_only_their_elements(device):
    @cuda.jit
    def fill(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] = -1

    x = np.arange(20.0)
    fill[1, 32](x[1:15:3])
    expected = np.arange(20.0)
    expected[1:15:3] = -1
    assert (x == expected).all()


def test_C06_scalars_and_tuples(device):
    @cuda.jit
    def combine(out, a, b, flag, pair, z):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a * i + b + pair[0] * pair[1] + z.imag
            if flag:
                out[i] += 100

    out = np.zeros(5)
    combine[1, 8](out, 2, 0.5, True, (3, np.float32(1.5)), 1 + 4j)
    assert out.tolist() == [2 * i + 0.5 + 4.5 + 4 + 100 for i in range(5)]


def test_weak_numbers_in_kernels(device):
    @cuda.jit
    def scale(a, x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] = a * x[i] + 0.1

    x = np.linspace(0, 1, 8).astype(np.float32)
    expected = np.float32(2.5) * x + np.float32(0.1)
    scale[1, 8](2.5, x)
    assert np.allclose(x, expected, rtol=2e-7)


def test_ARR_06_zero_size_arguments(device):
    add_kernel[1, 32](np.zeros(0), np.zeros(0), np.zeros(0))
    array = cuda.to_device(np.zeros((0, 3)))
    assert array.copy_to_host().shape == (0, 3)


def test_CUH_01_bad_configurations(device):
    x = np.zeros(4)
    for config in ((0, 32), (1, 0), (-1, 32), (1, -5), (1, 5000), ((1, 2, 3, 4), 32), (1.5, 32), (2**80, 1), ("1", 32), (1,),
                   (1, (2048, 1, 1)), ((1, 2**20), 32)):
        with pytest.raises((ValueError, TypeError)):
            add_kernel[config](x, x, x)
    with pytest.raises((ValueError, TypeError)):
        add_kernel(x, x, x)
    add_kernel[1, 32](x, x, x)


def test_bad_arguments(device):
    x = np.zeros(4)
    for bad in ("text", [1, 2], np.zeros(3, ">f8"), object(), np.zeros(3, object)):
        with pytest.raises(TypeError):
            add_kernel[1, 32](x, bad, x)
    with pytest.raises(TypeError):
        add_kernel[1, 32](x, x)
    readonly = np.zeros(4)
    readonly.flags.writeable = False
    with pytest.raises((TypeError, ValueError, errors.TypingError)):
        add_kernel[1, 32](x, x, readonly)
    add_kernel[1, 32](readonly, readonly, x)  # reading is fine


def test_kernel_that_returns_a_value(device):
    with pytest.raises(errors.TypingError, match="must not return"):
        cuda.jit(lambda x: x[0])[1, 1](np.zeros(1))


def test_device_arrays(device):
    x = np.arange(10.0)
    d = cuda.to_device(x)
    out = cuda.device_array_like(d)
    add_kernel[1, 32](d, d, out)
    assert (out.copy_to_host() == 2 * x).all()
    assert out.shape == (10,) and out.dtype == np.float64 and out.size == 10 and out.ndim == 1
    target = np.zeros(10)
    out.copy_to_host(target)
    assert (target == 2 * x).all()
    out.copy_to_device(x + 5)
    assert (out.copy_to_host() == x + 5).all()
    made = cuda.device_array((3, 4), np.int32)
    assert made.shape == (3, 4) and made.strides == (16, 4)
    with pytest.raises((ValueError, TypeError)):
        out.copy_to_device(np.zeros(3))


def test_streams_and_events(device):
    stream = cuda.stream()
    start, stop = cuda.event(), cuda.event()
    d = cuda.to_device(np.arange(8.0), stream=stream)
    start.record(stream)
    add_kernel[1, 32, stream](d, d, d)
    stop.record(stream)
    stream.synchronize()
    stop.synchronize()
    assert start.elapsed_time(stop) >= 0
    assert (d.copy_to_host(stream=stream) == 2 * np.arange(8.0)).all()
    cuda.synchronize()


def test_kernel_exceptions_in_debug_mode(device):
    @cuda.jit(debug=True, opt=False)
    def checked(a, i):
        a[i] = 1 // i

    a = np.zeros(4, np.int64)
    checked[1, 1](a, 1)
    assert a[1] == 1
    with pytest.raises(IndexError):
        checked[1, 1](a, 9)
    with pytest.raises(ZeroDivisionError):
        checked[1, 1](a, 0)
    checked[1, 1](a, 2)


def test_early_return_and_loops(device):
    @cuda.jit
    def collatz(start, steps):
        i = cuda.grid(1)
        if i >= start.size:
            return
        n = start[i]
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        steps[i] = count

    start = np.arange(1, 30)
    steps = np.zeros(29, np.int64)
    collatz[1, 32](start, steps)

    def reference(n):
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    assert steps.tolist() == [reference(int(n)) for n in start]


def test_reduce(device):
    total = cuda.reduce(lambda a, b: a + b)
    for n in (1, 2, 31, 32, 33, 1000, 4097):
        data = np.arange(n, dtype=np.float64)
        assert total(data) == data.sum()
        assert total(data, init=10.0) == data.sum() + 10
    biggest = cuda.reduce(lambda a, b: a if a > b else b)
    data = np.random.default_rng(6).random(777)
    assert biggest(data) == data.max()


def test_vectorize_on_the_device(device):
    from quern import vectorize

    @vectorize(["int64(int64, int64)", "float64(float64, float64)"], target="cuda")
    def add(x, y):
        return x + y

    a, b = np.array([1, 2, 3, 4]), np.array([10, 20, 30, 40])
    assert add(a, b).tolist() == [11, 22, 33, 44]
    assert add(a, 5).tolist() == [6, 7, 8, 9]
    assert add(a.reshape(2, 2), b[:2]).tolist() == [[11, 22], [13, 24]]
    assert add(a, 0.5).dtype == np.float64
    d = cuda.to_device(a)
    result = add(d, d)
    assert result.copy_to_host().tolist() == [2, 4, 6, 8]
    out = np.zeros(4, np.int64)
    add(a, b, out=out)
    assert out.tolist() == [11, 22, 33, 44]


def test_eager_signatures(device):
    @cuda.jit("void(float64[:], int64)")
    def scale(a, k):
        i = cuda.grid(1)
        if i < a.shape[0]:
            a[i] *= k

    a = np.arange(4.0)
    scale[1, 4](a, 3)
    assert a.tolist() == [0, 3, 6, 9]
    scale[1, 4](a, np.int32(2))
    assert a.tolist() == [0, 6, 12, 18]


def test_forall(device):
    x = np.arange(100.0)
    out = np.zeros(100)
    add_kernel.forall(100)(x, x, out)
    assert (out == 2 * x).all()


def test_ARG_each_array_of_a_tuple_is_written_or_not(device):
    """One array of a tuple is read, another written: only the second must be writable, and only it comes back."""
    @cuda.jit(device=True)
    def store(pair, i):
        pair[1][i] = pair[0][i] * 2

    @cuda.jit
    def kernel(pair, other):
        i = cuda.grid(1)
        if i < pair[0].shape[0]:
            store(pair, i)
            other[0][1][i] = pair[1][i] + other[1][i]

    x, out, more, y = np.arange(6.0), np.zeros(6), np.zeros(6), np.ones(6)
    x.flags.writeable = y.flags.writeable = False
    kernel[1, 8]((x, out), ((y, more), y))
    assert (out == 2 * x).all() and (more == 2 * x + 1).all()
    with pytest.raises(TypeError, match="read-only"):
        kernel[1, 8]((out, x), ((y, more), y))
