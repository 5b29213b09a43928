"""cuda.reduce and hip.reduce: a reduction made of any associative and commutative function of two values."""
import numpy as np

from . import _gpu, _quern
from .cuda import blockDim, blockIdx, grid, gridsize, shared, syncthreads, threadIdx

_BLOCK = 128


def _kernels(gpu, function, dtype):
    """One kernel: block b leaves the reduction of its part of `a` in out[b]. The parts of `a` are a grid-stride
    apart, so only blocks that have an element are launched."""

    @gpu.jit
    def partial(a, out, n):
        memory = shared.array(_BLOCK, dtype)
        t = threadIdx.x
        i = grid(1)
        if i < n:
            value = a[i]
            for k in range(i + gridsize(1), n, gridsize(1)):
                value = function(value, a[k])
            memory[t] = value
        syncthreads()
        have = min(n - blockIdx.x * blockDim.x, blockDim.x)
        step = _BLOCK // 2
        while step > 0:
            if t < step and t + step < have:
                memory[t] = function(memory[t], memory[t + step])
            syncthreads()
            step = step // 2
        if t == 0:
            out[blockIdx.x] = memory[0]

    return partial


class Reduce:
    """Reduce(f)(array) gives f(f(a[0], a[1]), a[2]) ...; the order of the steps is not fixed."""
    _gpu = _gpu.of("cuda")

    def __init__(self, functor):
        self._function = functor if type(functor) is _quern.Kernel else self._gpu.jit(functor, device=True)
        self._made = {}
        self.__name__ = getattr(functor, "__name__", "reduce")

    def _kernel(self, dtype):
        if dtype not in self._made:
            self._made[dtype] = _kernels(self._gpu, self._function, dtype)
        return self._made[dtype]

    def __call__(self, arr, size=None, res=None, init=0, stream=0):
        """The reduction of the first `size` elements, and of `init` unless that is 0. `res`: a device array for
        the result, which then is not copied to the host."""
        if arr.ndim != 1:
            raise TypeError("only one-dimensional arrays can be reduced")
        n = arr.size if size is None else size
        if n > arr.size:
            raise ValueError("size is larger than the array")
        if n == 0:
            return init
        source = arr if not isinstance(arr, np.ndarray) else self._gpu.to_device(arr, stream)
        dtype = np.dtype(arr.dtype)
        kernel = self._kernel(dtype)
        while True:
            blocks = min((n + _BLOCK - 1) // _BLOCK, 512)
            out = self._gpu.device_array(blocks, dtype, stream=stream)
            kernel[blocks, _BLOCK, stream](source, out, n)
            source, n = out, blocks
            if blocks == 1:
                break
        if init != 0:
            both = self._gpu.to_device(np.array([init, source.copy_to_host()[0]], dtype), stream)
            source = self._gpu.device_array(1, dtype, stream=stream)
            kernel[1, _BLOCK, stream](both, source, 2)
        if res is None:
            return source.copy_to_host()[0]
        res[:1] = source
        return None


class HipReduce(Reduce):
    __doc__ = Reduce.__doc__
    _gpu = _gpu.of("hip")


def reduce_of(kind):
    return HipReduce if kind == "hip" else Reduce
