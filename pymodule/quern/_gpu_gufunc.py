"""guvectorize(target='cuda') and guvectorize(target='hip'): a generalised ufunc. Its kernel is one function of our own dialect, as that
of _gpu_ufunc.py: it walks over the axes that broadcast and gives the function what is left of each operand, the core axes."""
import re
from types import FunctionType

import numpy as np

from . import _gpu, _quern
from ._gpu_ufunc import _argument, _at, _cast, _fits, _foreign_out, _is_device, _number, _settle_weak, _within, _BLOCK
from .cuda import blockDim, blockIdx, gridDim, threadIdx


_ELEMENT = re.compile(r"((?:datetime64|timedelta64)\[\w+\]|[^\[,]+)(.*)")  # of the text of a type

# -- in kernels -----------------------------------------------------------------------------------------------------


def _parts(operands, at, n):
    """What the function gets: of each operand the part at these indices of its first n axes."""
    if len(operands) == 0:
        return ()
    return (operands[0][_within(at, operands[0].shape[:n])],) + _parts(operands[1:], at, n)


def _kernel_round(function):
    def kernel(lengths, size, operands):
        start = threadIdx.x + blockIdx.x * blockDim.x
        for i in range(start, size, blockDim.x * gridDim.x):
            function(*_parts(operands, _at(i, lengths), len(lengths)))
    return kernel


# -- on the host ----------------------------------------------------------------------------------------------------


class GpuGufunc:
    """Calls broadcast like NumPy's. Device arrays in: device arrays out; otherwise NumPy arrays."""

    def __init__(self, py_func, layout, text, signatures, options, target):
        self._gpu = _gpu.of(target)
        self.py_func = self.__wrapped__ = py_func
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(self, name, getattr(py_func, name))
        self._inputs, self._outputs = layout
        self.signature = text
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self.nargs = self.nin + self.nout
        self.max_blocksize = _BLOCK
        known = {k: v for k, v in options.items() if k in ("fastmath", "debug", "weak_numbers", "opt", "locals", "cache")}
        compile_options = {**_gpu.compile_options({**known, "_ufunc": True}), "cpu_numbers": True}
        function = _quern.Kernel(py_func, compile_options, device=True, kind=self._gpu.kind)
        kernel = _kernel_round(function)
        code = kernel.__code__.replace(co_name=self.__name__)  # profilers and messages name the user's function
        kernel = FunctionType(code, kernel.__globals__, self.__name__, None, kernel.__closure__)
        self._kernel = _quern.Kernel(kernel, compile_options, device=False, kind=self._gpu.kind)
        self._declared = [self._read(signature) for signature in signatures]
        self._made_of = (py_func, layout, text, signatures, options, target)

    def __reduce__(self):
        from ._surface import reduce_ufunc
        return reduce_ufunc(self)

    @property
    def stats(self):
        """Hits and misses of the disk cache, of the kernel that calls the function: {(types of outputs and inputs): how often}."""
        return self._kernel.stats

    def _read(self, signature):
        """The dtypes of one loop, and which operands without core axes are arrays of one element."""
        params, result = _quern.describe(signature)
        if result and result not in ("none", "void"):
            raise TypeError(f"guvectorized functions cannot return values: signature {signature} specifies {result} return type")
        if len(params) != self.nargs:
            raise TypeError(f"the signature {signature} has {len(params)} parameters, the layout {self.signature!r} has {self.nargs}")
        dtypes, single = [], []
        for param, axes in zip(params, self._inputs + self._outputs):
            element, rest = _ELEMENT.fullmatch(param.removeprefix("Array(")).groups()
            ndim = rest.count(",") + 1 if rest[:1] == "[" else int(rest.split(",")[1]) if rest else 0
            if ndim != len(axes) and (axes or ndim != 1):
                raise TypeError(f"the signature {signature} does not fit the layout {self.signature!r}: {param} for ({','.join(axes)})")
            dtypes.append(_number(element.strip(), "takes arrays of numbers"))
            single.append(not axes and ndim == 1)
        return dtypes, single

    @property
    def types(self):
        return ["".join(d.char for d in dtypes[:self.nin]) + "->" + "".join(d.char for d in dtypes[self.nin:]) for dtypes, _ in self._declared]

    def _choose(self, args, outs):
        if not self._declared:
            if any(o is None for o in outs):
                raise TypeError(f"gufunc '{self.__name__}' has no declared signatures: its outputs must be given")
            dtypes = [np.asarray(a).dtype if not hasattr(a, "dtype") else a.dtype for a in args] + [o.dtype for o in outs]
            return dtypes, [k >= self.nin and not axes for k, axes in enumerate(self._inputs + self._outputs)]
        settled = _settle_weak(args)
        for dtypes, single in self._declared:
            if all(_fits(a, d) for a, d in zip(settled, dtypes)):
                return dtypes, [s or (k >= self.nin and not axes) for k, (s, axes) in enumerate(zip(single, self._inputs + self._outputs))]
        for dtypes, single in self._declared:  # single numbers are converted as astype() would
            if all(_fits(a, d) or not _is_device(a) and not np.ndim(a) and np.can_cast(np.asarray(a).dtype, d, "same_kind")
                   for a, d in zip(settled, dtypes)):
                return dtypes, [s or (k >= self.nin and not axes) for k, (s, axes) in enumerate(zip(single, self._inputs + self._outputs))]
        given = ", ".join(str(getattr(a, "dtype", type(a).__name__)) for a in args)
        hint = "; a DeviceNDArray does not support .astype()" if any(_is_device(a) for a in args) else ""
        raise TypeError(f"gufunc '{self.__name__}' has no signature for ({given}) that can be reached by safe casts{hint}")

    def _lengths(self, args):
        """The shape that the arguments are broadcast to, and the lengths of the core axes."""
        sizes, loops = {}, []
        for k, (a, axes) in enumerate(zip(args, self._inputs)):
            shape = tuple(getattr(a, "shape", ()))
            if len(shape) < len(axes):
                raise ValueError(f"{self.__name__}: Input operand {k} does not have enough dimensions (has {len(shape)}, gufunc core with "
                                 f"signature {self.signature} requires {len(axes)})")
            loops.append(shape[:len(shape) - len(axes)])
            for j, (name, n) in enumerate(zip(axes, shape[len(shape) - len(axes):])):
                want = int(name) if name.isdigit() else sizes.setdefault(name, n)
                if n != want:
                    raise ValueError(f"{self.__name__}: Input operand {k} has a mismatch in its core dimension {j}, with gufunc signature "
                                     f"{self.signature} (size {n} is different from {want})")
        return np.broadcast_shapes(*loops), sizes

    def __call__(self, *args, out=None, stream=0):
        outs = (out,) if out is not None and not isinstance(out, tuple) else out or ()
        if len(args) > self.nin and not outs:
            args, outs = args[:self.nin], args[self.nin:]
        if len(args) != self.nin or len(outs) not in (0, self.nout):
            n = len(args) + len(outs)
            if out is not None and len(args) > self.nin:
                raise ValueError("cannot specify argument 'out' as both positional and keyword")
            raise TypeError(f"{self.__name__}(): gufunc accepts {self.nin} positional arguments (inputs alone) or {self.nargs} positional "
                            f"arguments (with outputs). Got {n} positional argument{'s' * (n != 1)}.")
        outs = [_foreign_out(self._gpu, o) for o in outs] or [None] * self.nout
        args = [_argument(self._gpu, a) for a in args]
        on_device = any(_is_device(a) for a in args)
        dtypes, single = self._choose(args, outs)
        if any(o is not None for o in outs):  # arrays of one element may stand for the numbers that the signature has as arrays
            args = [a.reshape(()) if one and not axes and a.shape == (1,) else a
                    for a, one, axes in zip(args, (s and hasattr(a, "shape") for s, a in zip(single, args)), self._inputs)]
        loop, sizes = self._lengths(args)
        operands = [self._input(a, dtype) for a, dtype in zip(args, dtypes)]
        results = [self._output(o, loop + tuple(int(x) if x.isdigit() else sizes[x] for x in axes), dtypes[self.nin + k], on_device, stream)
                   for k, (o, axes) in enumerate(zip(outs, self._outputs))]
        self._launch(operands + results, single, loop, stream)
        answers = [self._given(result, given, on_device) for result, given in zip(results, outs)]
        return answers[0] if self.nout == 1 else tuple(answers)

    def _input(self, a, dtype):
        a = _cast(self._gpu, a, dtype)
        return a if getattr(a, "ndim", 0) else np.full((), a, dtype)

    def _output(self, out, shape, dtype, on_device, stream):
        if out is None:
            return self._gpu.device_array(shape, dtype, stream=stream) if on_device else np.empty(shape, dtype)
        if tuple(out.shape) != shape:
            raise ValueError(f"the output has shape {tuple(out.shape)}, the result {shape}")
        if out.dtype == dtype:
            return out
        if not np.can_cast(dtype, out.dtype, "same_kind"):
            raise TypeError(f"cannot cast the result of gufunc '{self.__name__}' from {dtype} to {out.dtype}")
        return np.empty(shape, dtype)

    def _given(self, result, out, on_device):
        if out is None:
            return result if result.ndim or on_device else result[()]
        if result is not out:
            out[...] = result
        return out

    def _launch(self, operands, single, loop, stream):
        """Operands get all axes of the loop, of length 1 where they have none; those of one element one more."""
        size = int(np.prod(loop, dtype=np.int64))
        if size == 0:
            return
        lengths = loop or (1,)
        views = []
        for a, axes, one in zip(operands, self._inputs + self._outputs, single):
            own = len(a.shape) - len(axes)
            views.append(a.reshape((1,) * (len(lengths) - own) + tuple(a.shape) + ((1,) if one else ())))
        for a, view in zip(operands, views):
            if isinstance(a, np.ndarray) and not np.shares_memory(a, view) and a.size:  # it was copied
                raise ValueError(f"gufunc '{self.__name__}': an operand of these strides cannot be reshaped in place")
        blocks = (size + self.max_blocksize - 1) // self.max_blocksize
        most = 32 * max(1, self._gpu.get_current_device().MULTIPROCESSOR_COUNT)
        self._kernel[min(blocks, most), self.max_blocksize, stream](lengths, size, tuple(views))

    def __repr__(self):
        return f"<gufunc '{self.__name__}' for {self._gpu.kind}>"
