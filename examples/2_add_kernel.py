"""A grid-stride kernel, called with NumPy arrays that are not on the device: they travel by themselves."""
import numpy as np
import show
from show import cuda  # quern.cuda, or quern.hip with `hip` on the command line


@cuda.jit
def add_kernel(x, y, out):
    tx = cuda.threadIdx.x  # the thread in its block
    ty = cuda.blockIdx.x   # the block in the grid
    block_size = cuda.blockDim.x
    grid_size = cuda.gridDim.x
    start = tx + ty * block_size
    stride = block_size * grid_size
    for i in range(start, x.shape[0], stride):
        out[i] = x[i] + y[i]


n = 100_000
x = np.arange(n).astype(np.float32)
y = 2 * x
out = np.empty_like(x)

show.device()
show.report("add_kernel[30, 128]", lambda: (add_kernel[30, 128](x, y, out), out)[1], lambda: x + y)
print(out[:10])
