"""Kernels in the interpreter (QUERN_ENABLE_CUDASIM=1): for breakpoints, prints and objects of any kind, not for speed.

The blocks of a launch run one after the other, each work-item of a block in a thread of its own. Names such as cuda.grid stay what
they are; `enable` makes them callable, and gives those that stand for numbers the operators of numbers."""
import builtins
import io
import math
import operator
import sys
import threading
import time
from fractions import Fraction

import numpy as np

from ._names import Intrinsic, Namespace

WARP = 32
_thread = threading.local()


# -- blocks ----------------------------------------------------------------------------------------------------


class _Broken(BaseException):
    """Ends the other work-items of a block when one has raised."""


class _Meeting:
    """Where work-items of a set wait for each other. Those that are done are waited for no more."""

    def __init__(self, members):
        self.members = set(members)
        self.values = {}
        self.waiting = set()
        self.round = 0
        self.result = None

    def complete(self):
        """How many go on now: all, or none."""
        if not self.members or not self.waiting >= self.members:
            return 0
        n = len(self.waiting)
        self.result, self.values = self.values, {}
        self.waiting = set()
        self.round += 1
        return n


class _Block:
    def __init__(self, grid_dim, block_dim, index, shared_bytes):
        self.grid_dim, self.block_dim, self.index = grid_dim, block_dim, index
        self.shared_bytes = shared_bytes
        self.size = block_dim[0] * block_dim[1] * block_dim[2]
        self.changed = threading.Condition()
        self.meetings = {}
        self.live = set(range(self.size))
        self.blocked = 0
        self.shared = {}
        self.dynamic = None
        self.error = None

    def meet(self, key, members, who, value=None):
        """Waits for the other members; {work-item: the value it brought}."""
        with self.changed:
            meeting = self.meetings.get(key)
            if meeting is None:
                meeting = self.meetings[key] = _Meeting(set(members) & self.live)
            meeting.values[who] = value
            meeting.waiting.add(who)
            now = meeting.round
            self.blocked += 1
            self._go_on(meeting)
            while meeting.round == now:
                if self.error is not None:
                    raise _Broken
                self.changed.wait()
            return meeting.result

    def leave(self, who, error=None):
        with self.changed:
            self.live.discard(who)
            if error is not None and self.error is None:
                self.error = error
            for meeting in self.meetings.values():
                meeting.members.discard(who)
                self._go_on(meeting)
            self.changed.notify_all()

    def _go_on(self, meeting):
        done = meeting.complete()
        self.blocked -= done
        if done:
            self.changed.notify_all()
        elif self.live and self.blocked == len(self.live) and self.error is None:
            at = sorted(str(key if key == "block" else f"lanes {key[2]:#x} of the warp of thread {key[1]}")
                        for key, m in self.meetings.items() if m.waiting)
            self.error = RuntimeError(f"threads of block {self.index} wait for each other for ever, at {' and '.join(at)}")
            self.changed.notify_all()


def _coordinates(linear, dim):
    return linear % dim[0], linear // dim[0] % dim[1], linear // (dim[0] * dim[1])


class _Item:
    """What one work-item knows of itself."""

    def __init__(self, block, linear):
        self.block, self.linear = block, linear
        self.thread = _coordinates(linear, block.block_dim)

    def run(self, function, args, kwargs):
        _thread.item = self
        error = None
        try:
            function(*args, **kwargs)
        except _Broken:
            pass
        except BaseException as raised:
            place = f"block {self.block.index}, thread {self.thread}"
            if hasattr(raised, "add_note"):
                raised.add_note(f"in {place} of a simulated kernel")
            error = raised
        finally:
            _thread.item = None
            self.block.leave(self.linear, error)


def _item():
    item = getattr(_thread, "item", None)
    if item is None:
        from .errors import LaunchError
        raise LaunchError("this can only be used inside a kernel or a device function")
    return item


# -- kernels ---------------------------------------------------------------------------------------------------


def _three(size):
    size = (size,) if not isinstance(size, (tuple, list)) else tuple(size)
    if not 1 <= len(size) <= 3 or any(operator.index(n) < 1 for n in size):
        raise ValueError(f"a size of a launch is 1 to 3 positive ints, not {size!r}")
    return tuple(int(n) for n in size) + (1,) * (3 - len(size))


class SimulatedKernel:
    """A kernel, or a device function, that the interpreter runs."""

    def __init__(self, function, device, extensions=()):
        self.py_func = self.__wrapped__ = function
        self.is_device_function = device
        self.extensions = list(extensions)
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(self, name, getattr(function, name, None))

    def __call__(self, *args, **kwargs):
        if not self.is_device_function and getattr(_thread, "item", None) is None:
            from .errors import LaunchError
            raise LaunchError(f"kernel '{self.__name__}' is launched as {self.__name__}[grid, block](...)")
        return self.py_func(*args, **kwargs)

    def __getitem__(self, configuration):
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("a launch is configured with grid, block, and perhaps stream and bytes of shared memory")
        return SimulatedLaunch(self, *configuration)

    def configure(self, griddim, blockdim, stream=0, sharedmem=0):
        return SimulatedLaunch(self, griddim, blockdim, stream, sharedmem)

    def forall(self, ntasks, tpb=0, stream=0, sharedmem=0):
        block = tpb or min(max(ntasks, 1), 128)
        return SimulatedLaunch(self, max(1, -(-ntasks // block)), block, stream, sharedmem)

    def specialize(self, *args):
        return self

    def __repr__(self):
        return f"<simulated {'device function' if self.is_device_function else 'kernel'} {self.__qualname__}>"


class _Memory:
    """An array of the cpu device, for NumPy: the same memory."""

    def __init__(self, array):
        self._array = array
        self.__array_interface__ = {
            "version": 3, "data": (int(array.device_pointer), not array.flags["WRITEABLE"]), "shape": array.shape,
            "strides": array.strides, "typestr": array.dtype.str, "descr": array.dtype.descr}


def _with_fields(array):
    """An array of records whose elements have attributes, as in compiled code: the same memory. Anything else as it is."""
    if isinstance(array, np.void) and array.dtype.names:
        return array.view(np.dtype((np.record, array.dtype)))
    return array.view(np.recarray) if isinstance(array, np.ndarray) and array.dtype.names else array


def _on_host(arg):
    from . import _quern
    return _with_fields(np.asarray(_Memory(arg)) if isinstance(arg, _quern.DeviceNDArray) else arg)


class SimulatedLaunch:
    def __init__(self, kernel, griddim, blockdim, stream=0, sharedmem=0):
        self.kernel = kernel
        self.griddim, self.blockdim = _three(griddim), _three(blockdim)
        self.stream, self.sharedmem = stream, int(sharedmem)
        if math.prod(self.blockdim) > 1024:
            raise ValueError(f"a block has at most 1024 threads, not {math.prod(self.blockdim)}")

    def __call__(self, *args, **kwargs):
        from . import _surface
        if self.stream:
            self.stream.synchronize()
        behind = []
        if self.kernel.extensions:
            args, behind = _surface.extended((*args, *kwargs.values()), self.kernel.extensions, self.stream)
            kwargs = dict(zip(kwargs, args[len(args) - len(kwargs):]))
            args = args[:len(args) - len(kwargs)]
        host = [_on_host(arg) for arg in args], {name: _on_host(arg) for name, arg in kwargs.items()}
        for linear in range(math.prod(self.griddim)):
            self._block(_coordinates(linear, self.griddim), *host)
        for function in behind:
            function()

    def _block(self, index, args, kwargs):
        block = _Block(self.griddim, self.blockdim, index, self.sharedmem)

        def run(item):
            with np.errstate(all="ignore"):
                item.run(self.kernel.py_func, args, kwargs)

        threads = [threading.Thread(target=run, args=(_Item(block, i),), daemon=True) for i in range(block.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if block.error is not None:
            raise block.error


def decorator(gpu):
    """The `jit` of a kind of device: it looks at its options as the compiling one does, and compiles nothing."""
    from . import _gpu, decorators
    name = f"{gpu.kind}.jit"

    def jit(func_or_sig=None, **options):
        decorators._check(name, options, _gpu._JIT_OPTIONS)

        def make(function):
            return SimulatedKernel(decorators._plain(function, name), bool(options.get("device")), options.get("extensions") or ())

        if func_or_sig is None or decorators.is_signature(func_or_sig) or isinstance(func_or_sig, (list, set, frozenset)):
            return make
        return make(func_or_sig)

    return jit


# -- the dialect -------------------------------------------------------------------------------------------------


def _grid(ndim):
    item = _item()
    at = tuple(b * n + t for b, n, t in zip(item.block.index, item.block.block_dim, item.thread))
    return at[0] if ndim == 1 else at[:ndim]


def _gridsize(ndim):
    block = _item().block
    size = tuple(b * n for b, n in zip(block.grid_dim, block.block_dim))
    return size[0] if ndim == 1 else size[:ndim]


def _dtype(dtype):
    from . import numpy_support, types
    return numpy_support.as_dtype(dtype) if isinstance(dtype, types.Type) else np.dtype(dtype)


def _shared_array(shape, dtype, alignment=None):
    block, dtype = _item().block, _dtype(dtype)
    with block.changed:
        if shape in (0, (0,)):
            if block.dynamic is None:
                block.dynamic = np.zeros(block.shared_bytes, np.uint8)
            return _with_fields(block.dynamic[:block.shared_bytes // dtype.itemsize * dtype.itemsize].view(dtype))
        frame = sys._getframe(2)
        key = frame.f_code, frame.f_lasti
        if key not in block.shared:
            block.shared[key] = _with_fields(np.zeros(shape, dtype))
        return block.shared[key]


def _local_array(shape, dtype, alignment=None):
    return _with_fields(np.zeros(shape, _dtype(dtype)))


def _const_array(ndarray):
    view = _with_fields(np.asarray(ndarray).view())
    view.flags.writeable = False
    return view


def _all_meet(value=None):
    item = _item()
    return item.block.meet("block", range(item.block.size), item.linear, value).values()


def _sync_grid():
    """The blocks run one after the other: a grid can wait where it has one block."""
    if math.prod(_item().block.grid_dim) > 1:
        from .errors import UnsupportedError
        raise UnsupportedError("the simulator synchronises grids of one block only")
    _all_meet()


def _warp(mask, value=None):
    """Meets the lanes of the mask; {lane: value}."""
    item = _item()
    first = item.linear // WARP * WARP
    mask = int(mask) & 0xffffffff
    if not mask >> item.linear - first & 1:
        raise ValueError(f"lane {item.linear - first} is not in the mask {mask:#x} of its own operation")
    members = [first + k for k in range(WARP) if mask >> k & 1]
    met = item.block.meet(("warp", first, mask), members, item.linear, value)
    return {i - first: v for i, v in met.items()}


def _lane():
    return _item().linear % WARP


def _mask_of(lanes):
    return sum(1 << lane for lane in lanes)


def _shuffle(source):
    def shuffle(mask, value, what):
        lane = _lane()
        values = _warp(mask, value)
        return values.get(source(lane, int(what)), value)
    return shuffle


def _match_all(mask, value):
    values = _warp(mask, value)
    same = len({np.asarray(v).tobytes() for v in values.values()}) == 1
    return (_mask_of(values), True) if same else (0, False)


def _match_any(mask, value):
    mine = np.asarray(value).tobytes()
    return _mask_of(lane for lane, v in _warp(mask, value).items() if np.asarray(v).tobytes() == mine)


_atomic_lock = threading.Lock()


def _atomic(change):
    def atomic(array, index, value):
        with _atomic_lock:
            old = array[index]
            array[index] = change(old, value)
            return old
    return atomic


def _extreme(better, nan_stays):
    def change(old, value):
        if value != value:
            return value if nan_stays else old
        if old != old:
            return old if nan_stays else value
        return value if better(value, old) else old
    return change


def _cas(array, index, old, value):
    with _atomic_lock:
        before = array[index]
        if before == old:
            array[index] = value
        return before


def _bits(x):
    """The number without a sign, and its width."""
    width = x.dtype.itemsize * 8 if isinstance(x, np.integer) else 64
    return int(x) & (1 << width) - 1, width


def _brev(x):
    bits, width = _bits(x)
    reverse = int(f"{bits:0{width}b}"[::-1], 2)
    return np.array(reverse, f"u{width // 8}").astype(x.dtype)[()] if isinstance(x, np.integer) else reverse


def _clz(x):
    bits, width = _bits(x)
    return width - bits.bit_length()


def _ffs(x):
    bits, _ = _bits(x)
    return (bits & -bits).bit_length()


def _fma(x, y, z):
    kind = np.result_type(x, y, z)
    if np.isfinite(x) and np.isfinite(y) and np.isfinite(z):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        try:
            return kind.type(float(exact)) if exact else kind.type(x * y + z)
        except OverflowError:
            pass
    return kind.type(x * y + z)


_CALLS = {
    "grid": _grid, "gridsize": _gridsize,
    "shared.array": _shared_array, "local.array": _local_array, "const.array_like": _const_array,
    "syncthreads": lambda: _all_meet() and None,
    "syncthreads_and": lambda x: int(all(_all_meet(bool(x)))), "syncthreads_or": lambda x: int(any(_all_meet(bool(x)))),
    "syncthreads_count": lambda x: sum(_all_meet(bool(x))),
    "cg.sync_grid": lambda: _sync_grid(), "cg.together": lambda: None,
    "syncwarp": lambda mask=0xffffffff: _warp(mask) and None,
    "threadfence": lambda: None, "threadfence_block": lambda: None, "threadfence_system": lambda: None,
    "nanosleep": lambda ns: None, "clock": time.perf_counter_ns, "clock64": time.perf_counter_ns,
    "activemask": lambda: _mask_of([_lane()]), "lanemask_lt": lambda: (1 << _lane()) - 1,
    "all_sync": lambda mask, x: all(_warp(mask, bool(x)).values()), "any_sync": lambda mask, x: any(_warp(mask, bool(x)).values()),
    "eq_sync": lambda mask, x: len(set(_warp(mask, bool(x)).values())) == 1,
    "ballot_sync": lambda mask, x: _mask_of(lane for lane, v in _warp(mask, bool(x)).items() if v),
    "match_all_sync": _match_all, "match_any_sync": _match_any,
    "shfl_sync": _shuffle(lambda lane, to: to % WARP), "shfl_up_sync": _shuffle(lambda lane, by: lane - by),
    "shfl_down_sync": _shuffle(lambda lane, by: lane + by), "shfl_xor_sync": _shuffle(lambda lane, bits: lane ^ bits),
    "atomic.add": _atomic(operator.add), "atomic.sub": _atomic(operator.sub), "atomic.and_": _atomic(operator.and_),
    "atomic.or_": _atomic(operator.or_), "atomic.xor": _atomic(operator.xor), "atomic.exch": _atomic(lambda old, value: value),
    "atomic.max": _atomic(_extreme(operator.gt, True)), "atomic.min": _atomic(_extreme(operator.lt, True)),
    "atomic.nanmax": _atomic(_extreme(operator.gt, False)), "atomic.nanmin": _atomic(_extreme(operator.lt, False)),
    "atomic.inc": _atomic(lambda old, most: 0 if old >= most else old + 1),
    "atomic.dec": _atomic(lambda old, most: most if old == 0 or old > most else old - 1),
    "atomic.cas": _cas, "atomic.compare_and_swap": lambda array, old, value: _cas(array, 0, old, value),
    "popc": lambda x: _bits(x)[0].bit_count(), "brev": _brev, "clz": _clz, "ffs": _ffs, "fma": _fma,
    "cbrt": lambda x: np.cbrt(x), "selp": lambda test, a, b: a if test else b,
}

_VALUES = {
    "laneid": _lane, "warpsize": lambda: WARP,
    **{f"{name}.{axis}": (lambda of, k: lambda: of(_item())[k])(of, k) for k, axis in enumerate("xyz") for name, of in {
        "threadIdx": lambda item: item.thread, "blockIdx": lambda item: item.block.index,
        "blockDim": lambda item: item.block.block_dim, "gridDim": lambda item: item.block.grid_dim}.items()},
}


def _call(self, *args, **kwargs):
    _, _, name = self._quern_name.partition("cuda.")
    function = _CALLS.get(name)
    if function is None:
        from . import library
        function = library.find(self._quern_name)
    if function is None:
        from .errors import UnsupportedError
        raise UnsupportedError(f"{self._quern_name} does not run in the simulator")
    return function(*args, **kwargs)


def _value(x):
    """The number that a name stands for; anything else is itself."""
    function = _VALUES.get(x._quern_name.partition("cuda.")[2]) if type(x) is Intrinsic else None
    return function() if function else x


def _seen(x):
    """In a kernel the number that a name stands for; outside of kernels the name."""
    return x if getattr(_thread, "item", None) is None else _value(x)


def _text(name):
    value = _seen(name)
    return f"<{name._quern_name}>" if value is name else repr(value)


def _binary(function):
    def forward(a, b):
        if function in (operator.eq, operator.ne) and getattr(_thread, "item", None) is None:
            return NotImplemented  # outside of kernels names are equal to themselves
        a, b = _value(a), _value(b)
        return NotImplemented if type(a) is Intrinsic or type(b) is Intrinsic else function(a, b)

    return forward, lambda a, b: forward(b, a)


_print = builtins.print
_printing = threading.Lock()


def _print_whole(*values, sep=" ", end="\n", file=None, flush=False):
    """print() of a work-item: it writes its text in one piece, as a kernel does. The interpreter's own writes value by value, and
    the texts of work-items get mixed."""
    if getattr(_thread, "item", None) is None:
        return _print(*values, sep=sep, end=end, file=file, flush=flush)
    text = io.StringIO()
    _print(*values, sep=sep, end=end, file=text)
    with _printing:
        return _print(text.getvalue(), end="", file=file, flush=flush)


def enable():
    """From now on names of kernels work in the interpreter."""
    if Intrinsic.__call__ is _call:
        return
    from . import _quern
    _quern.pin_device("cpu")  # arrays of the device are memory of the process
    Intrinsic.__call__ = _call
    builtins.print = _print_whole
    Namespace.__getattribute__ = lambda self, name: _seen(object.__getattribute__(self, name))
    Intrinsic.__repr__ = _text
    Intrinsic.__format__ = lambda self, form: format(_text(self) if _seen(self) is self else _seen(self), form)
    for name in "add sub mul truediv floordiv mod pow and or xor lshift rshift".split():
        function = getattr(operator, f"{name}_" if name in ("and", "or") else name)
        forward, backward = _binary(function)
        setattr(Intrinsic, f"__{name}__", forward)
        setattr(Intrinsic, f"__r{name}__", backward)
    for name in "lt le gt ge eq ne".split():
        setattr(Intrinsic, f"__{name}__", _binary(getattr(operator, name))[0])
    Intrinsic.__hash__ = lambda self: hash(self._quern_name)
    Intrinsic.__neg__ = lambda self: -_value(self)
    Intrinsic.__invert__ = lambda self: ~_value(self)
    Intrinsic.__bool__ = lambda self: bool(_value(self)) if _value(self) is not self else True
    Intrinsic.__index__ = Intrinsic.__int__ = lambda self: operator.index(_value(self))
    Intrinsic.__float__ = lambda self: float(_value(self))
