"""vectorize(target='cuda') and vectorize(target='hip'): a ufunc-like object. Its kernel is one function of our own dialect for all
numbers of axes: tuples of lengths and of operands are walked by recursion."""
from types import FunctionType

import numpy as np

from . import _gpu, _quern, errors
from .cuda import blockDim, blockIdx, gridDim, threadIdx

_BLOCK = 256


# -- in kernels -----------------------------------------------------------------------------------------------------


def _at(i, shape):
    """Element number i of that shape as indices, the last axis fastest. One axis needs no division."""
    if len(shape) < 2:
        return (i,)
    return _at(i // shape[-1], shape[:-1]) + (i % shape[-1],)


def _within(at, shape):
    """The indices in an operand, whose axes of length 1 are repeated."""
    if len(shape) == 0:
        return ()
    return (0 if shape[0] == 1 else at[0],) + _within(at[1:], shape[1:])


def _values(operands, at):
    """The elements there; numbers are themselves."""
    if len(operands) == 0:
        return ()
    a = operands[0]
    if isinstance(a, np.ndarray):
        return (a[_within(at[len(at) - a.ndim:], a.shape)],) + _values(operands[1:], at)
    return (a,) + _values(operands[1:], at)


def _kernel_round(function):
    def kernel(out, operands):
        start = threadIdx.x + blockIdx.x * blockDim.x
        for i in range(start, out.size, blockDim.x * gridDim.x):
            at = _at(i, out.shape)
            out[at] = function(*_values(operands, at))
    return kernel


# -- on the host ----------------------------------------------------------------------------------------------------


def _is_device(value):
    """Does it lie on a GPU, or on the device that takes its place? DLPack's first kind of device is the host."""
    if type(value) is _quern.DeviceNDArray or hasattr(value, "__cuda_array_interface__"):
        return True
    return hasattr(value, "__dlpack_device__") and not isinstance(value, np.ndarray) and value.__dlpack_device__()[0] != 1


def _number(text, what):
    try:
        return np.dtype(text)
    except (TypeError, SyntaxError):
        raise errors.TypingError(f"a function of vectorize() {what}, not {text}") from None


class GpuUfunc:
    """Calls broadcast like NumPy's. Device arrays in: a device array out; otherwise NumPy arrays."""

    def __init__(self, py_func, signatures, identity, options, target):
        self._gpu = _gpu.of(target)
        self.py_func = self.__wrapped__ = py_func
        self.__name__ = py_func.__name__
        self.__qualname__ = py_func.__qualname__
        self.__module__ = py_func.__module__
        self.__doc__ = py_func.__doc__
        self.identity = identity
        self.nin = py_func.__code__.co_argcount
        self.nout = 1
        self.nargs = self.nin + 1
        self.max_blocksize = _BLOCK
        self._options = {k: v for k, v in options.items() if k in ("fastmath", "debug", "weak_numbers", "opt", "locals", "cache")}
        self._options["_ufunc"] = True  # divisions as NumPy's
        # numbers meet as on the CPU, so that the ufunc has one dtype on every target
        self._compile_options = {**_gpu.compile_options(self._options), "cpu_numbers": True}
        self._function = _quern.Kernel(py_func, self._compile_options, device=True, kind=self._gpu.kind)
        self._kernel = self._make_kernel()
        self._declared = [self._read(text) for text in signatures]
        self._made_of = (py_func, signatures, identity, options, target)

    def __reduce__(self):
        from ._surface import reduce_ufunc
        return reduce_ufunc(self)

    def _read(self, text):
        params, result = _quern.describe(text)
        if len(params) != self.nin:
            some = "1 parameter" if len(params) == 1 else f"{len(params)} parameters"
            raise TypeError(f"the signature {text} has {some}, '{self.__name__}' has {self.nin}")
        dtypes = tuple(_number(p, "takes numbers") for p in params)
        if result:
            return dtypes, _number(result, "returns one number")
        return dtypes, self._function._result_dtype(*[np.ones(1, d)[0] for d in dtypes])

    @property
    def stats(self):
        """Hits and misses of the disk cache, of the kernel that calls the function: {(types of outputs and inputs): how often}."""
        return self._kernel.stats

    @property
    def types(self):
        return ["".join(d.char for d in params) + "->" + result.char for params, result in self._declared]

    def _make_kernel(self):
        kernel = _kernel_round(self._function)
        code = kernel.__code__.replace(co_name=self.__name__)  # profilers and messages name the user's function
        kernel = FunctionType(code, kernel.__globals__, self.__name__, None, kernel.__closure__)
        return _quern.Kernel(kernel, self._compile_options, device=False, kind=self._gpu.kind)

    def _choose(self, args):
        """(input dtypes or None where a Python number stays weak, output dtype)"""
        if not self._declared:
            samples = [a if isinstance(a, (bool, int, float, complex)) else np.ones(1, a.dtype)[0] for a in args]
            return None, self._function._result_dtype(*samples)
        settled = _settle_weak(args)
        for dtypes, result in self._declared:
            if all(_fits(a, d) for a, d in zip(settled, dtypes)):
                return dtypes, result
        given = ", ".join(str(getattr(a, "dtype", type(a).__name__)) for a in args)
        raise TypeError(f"ufunc '{self.__name__}' has no signature for ({given}) that can be reached by safe casts")

    def __call__(self, *args, out=None, stream=0):
        if len(args) == self.nin + 1 and out is None:
            args, out = args[:-1], args[-1]
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} positional arguments but {len(args)} were given")
        if isinstance(out, tuple):
            out, = out
        out = _foreign_out(self._gpu, out)
        args = [_argument(self._gpu, a) for a in args]
        on_device = any(_is_device(a) for a in args)
        dtypes, result = self._choose(args)
        if dtypes is not None:
            args = [_cast(self._gpu, a, d) for a, d in zip(args, dtypes)]
        shapes = [a.shape for a in args if hasattr(a, "shape")]
        shape = np.broadcast_shapes(*shapes) if shapes else ()
        answer = self._output(out, shape, result, on_device, stream)
        self._launch(args, answer, shape, stream)
        if out is not None or shape or on_device:
            return answer
        return answer[()]

    def _output(self, out, shape, result, on_device, stream):
        if out is None:
            return self._gpu.device_array(shape, result, stream=stream) if on_device else np.empty(shape, result)
        if tuple(out.shape) != tuple(shape):
            raise ValueError(f"the output has shape {tuple(out.shape)}, the result {tuple(shape)}")
        if not np.can_cast(result, out.dtype, "same_kind"):
            raise TypeError(f"cannot cast the result of ufunc '{self.__name__}' from {result} to {out.dtype}")
        return out

    def _launch(self, args, out, shape, stream):
        if out.size == 0:
            return
        arrays = [a for a in args if hasattr(a, "shape")] + [out]
        if all(tuple(a.shape) == tuple(shape) and a.flags["C_CONTIGUOUS"] for a in arrays):
            args = [a.reshape(-1) if hasattr(a, "shape") else a for a in args]
            out, shape = out.reshape(-1), (out.size,)
        elif not shape:
            out, shape = out.reshape(1), (1,)
            args = [a.reshape(1) if hasattr(a, "shape") else a for a in args]
        blocks = (out.size + self.max_blocksize - 1) // self.max_blocksize
        most = 32 * max(1, self._gpu.get_current_device().MULTIPROCESSOR_COUNT)
        self._kernel[min(blocks, most), self.max_blocksize, stream](out, tuple(args))

    def explain(self, *args, **kwargs):
        """Everything that keeps the function from being compiled for these arguments, or for a signature."""
        from ._explain import explain
        return explain(self, args, kwargs)

    def reduce(self, arg, stream=0):
        from ._gpu_reduce import reduce_of
        if not hasattr(self, "_reduce"):
            self._reduce = reduce_of(self._gpu.kind)(self.py_func)
        return self._reduce(arg, stream=stream)

    def __repr__(self):
        return f"<ufunc '{self.__name__}' for {self._gpu.kind}>"


def _foreign_out(gpu, out):
    """An output of another library as a device array of ours, which the call returns then."""
    return out if out is None or hasattr(out, "shape") or not _is_device(out) else gpu.as_cuda_array(out)


def _argument(gpu, value):
    if _is_device(value):
        return value if type(value) is _quern.DeviceNDArray else gpu.as_cuda_array(value)
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return value
    array = np.asarray(value)
    return array if array.ndim else array[()] if isinstance(value, np.generic) else array


_CLASS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def _class_of(number):
    return next(c for c, kinds in enumerate((bool, int, float, complex)) if isinstance(number, kinds))


def _settle_weak(args):
    """Python numbers of a higher kind than all typed arguments, or among their like, are typed: NumPy's rule. Beside
    floats a complex number stays weak."""
    rank = max((_CLASS.get(a.dtype.kind, 0) for a in args if hasattr(a, "dtype")), default=-1)
    if rank == 2:
        rank = 3
    return [a if hasattr(a, "dtype") or _class_of(a) <= rank else np.asarray(a) for a in args]


def _fits(value, dtype):
    if not hasattr(value, "dtype"):
        return _CLASS[dtype.kind] >= _class_of(value)
    return np.can_cast(value.dtype, dtype, "safe")


def _cast(gpu, value, dtype):
    if not hasattr(value, "dtype"):
        return dtype.type(value)
    if value.dtype == dtype:
        return value
    if type(value) is _quern.DeviceNDArray:
        return gpu.to_device(value.copy_to_host().astype(dtype))
    return value.astype(dtype)
