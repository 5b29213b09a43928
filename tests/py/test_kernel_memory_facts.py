"""What kernels tell of the memory that they declare, on the device that runs them."""
import numpy as np
import pytest

from quern import cuda, float32


def test_C07_memory_of_arrays():
    table = np.arange(32)

    @cuda.jit
    def kernel(a, n):
        tile, own = cuda.shared.array(10, a.dtype), cuda.local.array(1000, a.dtype)
        values = cuda.const.array_like(table)
        t = cuda.threadIdx.x
        for i in range(n):
            own[i * 7 % 1000] = values[i % 32] + t
        tile[t] = own[n]
        cuda.syncthreads()
        a[t] = tile[n - 1 - t]
    for dtype in (np.float32, np.float64):
        kernel[1, 8](np.zeros(8, dtype), 8)
    shared, local, const = (f() for f in (kernel.get_shared_mem_per_block, kernel.get_local_mem_per_thread, kernel.get_const_mem_size))
    by_size = {types[0].dtype.bitwidth // 8: types for types in shared}
    for size in (4, 8):
        assert shared[by_size[size]] == 10 * size and local[by_size[size]] >= 1000 * size and const[by_size[size]] >= table.nbytes
        assert kernel.get_shared_mem_per_block(by_size[size]) == 10 * size

    @cuda.jit("void(float32[::1])", cache=True)
    def specialised(a):
        tile = cuda.shared.array(100, float32)
        tile[cuda.threadIdx.x] = 1
        cuda.syncthreads()
        a[0] = tile[0]
    assert specialised.get_shared_mem_per_block() == 400 and specialised.get_local_mem_per_thread() == 0


@pytest.mark.parametrize("kind", ["int8", "bool", "uint16", "int32", "float32", "int64", "float64", "complex64"])
@pytest.mark.parametrize("n", [2, 5, 16, 40])
def test_local_arrays_with_indices_known_at_run_time(device, kind, n):
    """Of numbers, small and large: in registers or in memory, with indices from the end and sums of indices."""
    def kernel(x, at, step, out):
        a = cuda.local.array(n, kind)
        i = cuda.grid(1)
        for j in range(n):
            a[j] = x[i, j]
        k = at[i]
        a[k] = a[k - step]
        a[i % n] = a[(k + i) % n]
        if i % 3 == 0:
            a[-1 - k if k >= 0 else 0] = x[i, (i + 1) % n]
        for j in range(n):
            out[i, j] = a[j]

    rng = np.random.default_rng(n)
    x = rng.integers(0, 100, (64, n)).astype(kind)
    at = rng.integers(0, n, 64).astype(np.int32)
    at[::2] -= n
    at[at == -n] += 1
    out, expected = np.zeros_like(x), x.copy()
    for i in range(64):
        a, k = expected[i], int(at[i])
        a[k] = a[k - 1 if k >= 0 or k > -n else k]
        a[i % n] = a[(k + i) % n]
        if i % 3 == 0:
            a[-1 - k if k >= 0 else 0] = x[i, (i + 1) % n]
    cuda.jit(kernel)[2, 32](x, at, 1, out)
    np.testing.assert_array_equal(out, expected)
