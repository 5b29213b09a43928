"""What kernels tell of the memory that they declare, on the device that runs them."""
import numpy as np

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
