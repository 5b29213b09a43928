"""Attributes and methods of dispatchers, kernels and device arrays that need no speed. `self` is a Dispatcher or a Kernel; where the
name begins with array_, a DeviceNDArray."""
import sys
import threading

from . import _quern, errors, types


def _specs(self):
    return self._specializations()


def _signature(spec):
    (params, result), _ = spec
    return types.Signature(types.of_answer(result), [types.of_answer(p) for p in params])


def signatures(self):
    return [_signature(s).args for s in _specs(self)]


def nopython_signatures(self):
    return [_signature(s) for s in _specs(self)]


def _device_of(kernel):
    return _quern.current_device(kernel._kind)


def add_loop(self, signature):
    from .decorators import signature_text
    self._add(signature_text(signature))


def compile_for(self, argtys, return_type=None):
    from .types import Signature
    self._add(Signature(return_type, tuple(argtys)).text)


class Overload:
    """One specialisation: its signature and what the compiler tells of it."""

    def __init__(self, owner, index, spec):
        self.owner = owner
        self.index = index
        self.signature = _signature(spec)
        self.metadata = spec[1]

    @property
    def entry_point(self):
        return self.owner

    def inspect_llvm(self):
        return self.owner._texts(self.index)[0]

    def inspect_asm(self, cc=None):
        return self.owner._texts(self.index)[1]

    @property
    def cooperative(self):
        """Do the blocks of a launch wait for each other (cuda.cg)?"""
        return self.metadata["cooperative"]

    regs_per_thread = property(lambda self: self.owner._info(self.index)["registers"])
    shared_mem_per_block = property(lambda self: self.owner._info(self.index)["shared_bytes"])
    const_mem_size = property(lambda self: self.owner._info(self.index)["const_bytes"])
    local_mem_per_thread = property(lambda self: self.owner._info(self.index)["local_bytes"])
    max_threads_per_block = property(lambda self: self.owner._info(self.index)["max_threads"])

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize=0):
        """The largest grid whose blocks run at the same time."""
        return self.owner._most_blocks(self.index, _product(blockdim), dynsmemsize)

    def active_blocks_per_multiprocessor(self, blockdim, dynsmemsize=0):
        """How many blocks of this size one multiprocessor runs at the same time."""
        return self.owner._occupancy(self.index, _product(blockdim), dynsmemsize)

    def __repr__(self):
        return f"<compiled {self.signature}>"


def _product(values):
    n = 1
    values = (values,) if isinstance(values, int) else values
    for v in values:
        n *= v
    return n


def overloads(self):
    return {_signature(s).args: Overload(self, i, s) for i, s in enumerate(_specs(self))}


class Stats:
    """Hits and misses of the disk cache: {argument types: how often}, and why what was compiled could not be stored, or an
    entry that was there could not be used: {argument types: reason}."""

    def __init__(self, log=None, path=None):
        def table(name):
            return {types.Signature(types.of_answer(result), [types.of_answer(p) for p in params]).args: value
                    for (params, result), value in (log or {}).get(name, {}).items()}

        self.cache_path = path
        self.cache_hits = table("hits")
        self.cache_misses = table("misses")
        self.cache_reasons = table("reasons")

    def __repr__(self):
        return f"Stats(cache_path={self.cache_path}, cache_hits={self.cache_hits}, cache_misses={self.cache_misses})"


_LOG = "_compiled_ahead"  # in the dict of a kernel or dispatcher: what the disk cache did with code that it was compiled to by itself


def compiled_log(function, cache):
    """Whether code of `function` by itself (cuda.compile and its kind) is kept in the disk cache, and the dict that is told of it."""
    if not hasattr(function, "_cache_log"):
        return bool(cache), {}
    return bool(function.targetoptions.get("cache")) if cache is None else bool(cache), vars(function).setdefault(_LOG, {})


def stats(self):
    log = {name: dict(table) for name, table in self._cache_log().items()}
    for name, table in vars(self).get(_LOG, {}).items() if hasattr(self, "__dict__") else ():
        mine = log.setdefault(name, {})
        for signature, value in table.items():
            mine[signature] = mine.get(signature, 0) + value if name != "reasons" else value
    caches = getattr(self, "targetoptions", {}).get("cache") or log
    return Stats(log, _quern.cache_folder()[0] if caches else None)


def _chosen(self, signature):
    """[(index, signature)] of one signature, or of all."""
    all_of_them = [(i, _signature(s)) for i, s in enumerate(_specs(self))]
    if signature is None:
        return all_of_them
    if isinstance(signature, types.Signature):
        signature = signature.args
    found = [(i, s) for i, s in all_of_them if s.args == tuple(signature)]
    if not found:
        raise KeyError(f"{self.__name__} is not compiled for {signature}")
    return found


def compile(self, signature):
    from .decorators import signature_text
    text = signature_text(signature)
    if hasattr(self, "_declare"):
        self._declare([text])
    else:
        outcome, = self._compile([text])
        if isinstance(outcome, Exception):
            raise outcome
    return self


def recompile(self):
    from .decorators import _with_locals
    self._recompile(_with_locals(self.targetoptions))


def get_metadata(self, signature=None):
    reports = [s[1] for s in _specs(self)]
    result = {sig.args: reports[i] for i, sig in _chosen(self, signature)}
    return result if signature is None else next(iter(result.values()))


def get_overload(self, signature):
    return overloads(self)[_chosen(self, signature)[0][1].args]


def _texts(self, which, signature):
    result = {sig.args: self._texts(i)[which] for i, sig in _chosen(self, signature)}
    return result if signature is None else next(iter(result.values()))


class DeviceCode:
    """A device function compiled by itself: its name in the code, and the code."""

    def __init__(self, name, llvm, ptx, signature):
        self.signature = signature
        self.mangled_name = name
        self.fndesc = self  # where Numba's results have the name
        self.llvm, self.ptx = llvm, ptx


def compile_device(self, args, return_type=None):
    """A device function for these types by itself, as PTX for the device that is at hand, or for sm_75. In kernels it is compiled into them."""
    from .cuda import _compile
    if not self.is_device_function:
        raise TypeError(f"'{self.__name__}' is a kernel: compile_device() is of device functions")
    return _compile.by_itself(self, types.Signature(return_type, tuple(args)))


def compile_to_ptx(self, sig, arch=None):
    """The PTX of a kernel or a device function for an NVIDIA GPU, "sm_80" or (8, 0), with its own options; where none is named, for
    sm_75. Device functions, as which functions of jit are compiled, are called as C's."""
    from .cuda import _compile
    return _compile.to_ptx(self, sig, arch)


def inspect_llvm(self, signature=None):
    if getattr(self, "is_device_function", False) and signature is not None:
        return compile_device(self, getattr(signature, "args", signature)).llvm
    return _texts(self, 0, signature)


def inspect_asm(self, signature=None):
    if getattr(self, "is_device_function", False) and signature is not None:
        return compile_device(self, getattr(signature, "args", signature)).ptx
    return _texts(self, 1, signature)


inspect_ptx = inspect_lto_ptx = inspect_asm  # what is linked is part of the kernel's PTX


def inspect_cfg(self, signature=None, show_wrapper=None, **kwargs):
    return _texts(self, 2, signature)


def inspect_disasm_cfg(self, signature=None, **kwargs):
    return _texts(self, 1, signature)


def _loops_text(rows):
    """What opt_report says, in words; of several loops of one line (strips, copies) the one with the least in it."""
    import linecache
    best = {}
    for row in rows.splitlines():
        file, line, depth, function, counts, why = row.split("\t")
        counts = dict((k, int(v)) for k, v in (word.split("=") for word in counts.split()))
        key = file, int(line), int(depth), function
        if key not in best or counts["checks"] + counts["guards"] < best[key][0]["checks"] + best[key][0]["guards"]:
            best[key] = counts, why
    lines = []
    for (file, line, depth, _), (counts, why) in sorted(best.items()):
        place = "quern/library/" + file.rpartition("/")[2] if "/quern/library/" in file else file
        lines.append(f"{place}:{line}: {'    ' * (depth - 1)}{linecache.getline(file, line).strip()}")
        names = (("checks", "index check{}"), ("wraps", "ind{} from either end"), ("guards", "test{} that may raise"))
        plural = {"wraps": ("ex", "ices")}
        left = [f"{counts[k]} " + name.format(plural.get(k, ("", "s"))[counts[k] > 1]) for k, name in names if counts[k]]
        left += ["asks for interruption in each round"] * bool(counts["polls"])
        left += ["a copy with all checks stands behind it"] * bool(counts["copy"])
        said = "; ".join(left) or "nothing but the work itself"
        if counts["innermost"]:
            said += f"; one round at a time: {why}" if why else "; several rounds at a time, if LLVM finds a way"
        lines.append("    " * depth + "  " + said)
    return "\n".join(lines) + "\n" if lines else "no loops\n"


def inspect_loops(self, signature=None):
    """What stays in each loop of the machine code beside the work, and what keeps it from doing several rounds at a time."""
    result = {sig.args: _loops_text(self._texts(i)[5]) for i, sig in _chosen(self, signature)}
    return result if signature is None else next(iter(result.values()))


def explain(self, *args, **kwargs):
    from ._explain import explain
    return explain(self, args, kwargs)


def inspect_types(self, file=None, signature=None, pretty=False, **kwargs):
    if pretty:
        raise ValueError("pretty=True is not supported")
    out = file if file is not None else sys.stdout
    for i, sig in _chosen(self, signature):
        print(f"{self.__name__} {sig}", file=out)
        print("-" * 80, file=out)
        print(self._texts(i)[3], file=out)


def _disassembled(self, signature, name, *options):
    if self.is_device_function:
        raise RuntimeError("Cannot inspect SASS of a device function: it is compiled into each kernel")
    import shutil
    import subprocess
    import tempfile
    if _device_of(self).arch.startswith("gfx"):
        raise errors.UnsupportedError(f"{name} is of NVIDIA GPUs: inspect_asm gives the assembly of AMD's")
    if not shutil.which("ptxas") or not shutil.which("nvdisasm"):
        raise RuntimeError(f"{name} needs ptxas and nvdisasm of the CUDA toolkit")

    def sass(ptx):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/k.ptx", "w") as f:
                f.write(ptx)
            subprocess.run(["ptxas", "-arch", _device_of(self).arch, folder + "/k.ptx", "-o", folder + "/k.cubin"],
                           check=True)
            return subprocess.run(["nvdisasm", *options, folder + "/k.cubin"], check=True, capture_output=True,
                                  text=True).stdout
    texts = inspect_asm(self, signature)
    return {k: sass(v) for k, v in texts.items()} if signature is None else sass(texts)


def inspect_sass(self, signature=None):
    """The machine code of one signature, or {types: machine code}."""
    return _disassembled(self, signature, "inspect_sass")


def inspect_sass_cfg(self, signature=None):
    """The control flow of the machine code, as a graph in DOT."""
    return _disassembled(self, signature, "inspect_sass_cfg", "-cfg")


def parallel_diagnostics(self, signature=None, level=1):
    """What becomes of loops over prange and, from level 2 on, of work on whole arrays; of one signature or of all."""
    import linecache
    if not isinstance(level, int) or not 1 <= level <= 4:
        raise ValueError(f"level must be 1, 2, 3 or 4, not {level!r}")
    for i, sig in _chosen(self, signature):
        print(f"Parallel loops of {self.__name__}({', '.join(map(str, sig.args))})")
        shown = [line.split("\t", 3) for line in self._texts(i)[4].splitlines()]
        shown = sorted({(file, int(at), text) for kind, at, file, text in shown if int(kind) <= level})
        place = None
        for file, at, text in shown:
            if (file, at) != place:
                shown_as = "quern/library/" + file.rpartition("/")[2] if "/quern/library/" in file else file
                print(f"  {shown_as}:{at}: {linecache.getline(file, at).strip()}")
            place = file, at
            for part in text.split("; "):
                print(f"      {part}")
        if not shown:
            print("  none" if self.targetoptions.get("parallel") else "  none: the option parallel=True is not given")


def enable_caching(self):
    """As the option cache=True, from now on."""
    self._enable_cache()


def _kernel_fact(self, name, signature):
    """Of one signature, or {types: fact}; of a kernel that has one signature the fact itself."""
    result = {sig.args: self._info(i)[name] for i, sig in _chosen(self, signature)}
    return result if signature is None and not self.specialized else next(iter(result.values()))


def get_regs_per_thread(self, signature=None):
    return _kernel_fact(self, "registers", signature)


def get_shared_mem_per_block(self, signature=None):
    return _kernel_fact(self, "shared_bytes", signature)


def get_const_mem_size(self, signature=None):
    return _kernel_fact(self, "const_bytes", signature)


def get_local_mem_per_thread(self, signature=None):
    return _kernel_fact(self, "local_bytes", signature)


def get_max_threads_per_block(self, signature=None):
    return _kernel_fact(self, "max_threads", signature)


def specializations(self):
    return self.__dict__.setdefault("_made_by_specialize", {})


def specialize(self, *args):
    """A kernel for these types of arguments alone, or for those of these values; the same kernel for the same types."""
    if self.specialized:
        raise RuntimeError("Dispatcher already specialized")
    from ._gpu import of
    key = tuple(arg if isinstance(arg, types.Type) else _type_of(arg) or types.typeof(of(self._kind).as_cuda_array(arg, sync=False))
                for arg in args)
    known = specializations(self)
    if key not in known:
        made = _quern.Kernel(self.py_func, self.targetoptions, device=False, kind=self._kind)
        made._declare([types.Signature(types.none, key).text])
        known[key] = made
    return known[key]


def _type_of(value):
    try:
        return types.typeof(value)
    except (TypeError, ValueError, NotImplementedError):
        return None


def prepare_args(self, launch, *args, **kwargs):
    """What the extensions make of the arguments, what they want to be called when the kernel is launched (functions without
    arguments), and the names of the last arguments, which can be given by name alone. The last extension is asked first."""
    import inspect
    for callback in launch.pre_launch_callbacks:
        callback(self, launch)
    names = ()
    if kwargs:
        bound = inspect.signature(self.py_func).bind(*args, **kwargs)
        args, names = [*bound.args, *bound.kwargs.values()], tuple(bound.kwargs)
    return (*extended(args, self.extensions, launch.stream, self._kind), names)


def extended(args, extensions, stream, kind="cuda"):
    made, behind = [], []
    for position, value in enumerate(args):
        t = _type_of(value)
        for extension in reversed(extensions):
            if type(extension) is Pointers:
                value = extension.array_at(position, value, kind)
            else:
                t, value = extension.prepare_args(t, value, stream=stream, retr=behind)
        made.append(value)
    return tuple(made), behind


class Pointers:
    """Of a kernel with pointers in its signature: which parameters they are. In compiled code a pointer is an array of one axis,
    as long as memory is."""

    def __init__(self, dtypes):
        self.dtypes = dtypes  # {position: dtype}

    def array_at(self, position, value, kind):
        """An address, as an int or of ctypes, becomes such an array; what is an array is passed as it is."""
        import ctypes
        from ._gpu import of
        dtype = self.dtypes.get(position)
        address = value.value or 0 if isinstance(value, ctypes.c_void_p) else value
        if dtype is None or not hasattr(address, "__index__") or hasattr(address, "shape") and address.shape:
            return value
        address = int(address)
        if not 0 <= address < _MEMORY_END:
            raise ValueError(f"argument {position + 1} is no address: {address}")
        n = (_MEMORY_END - address) // dtype.itemsize if address else 0
        return of(kind).from_cuda_array_interface(
            {"shape": (n,), "typestr": dtype.str, "data": (address, False), "version": 3}, sync=False)


_MEMORY_END = 2**47


def without_pointers(signature):
    """The signature with arrays for pointers, and {position: dtype} of these."""
    from .types import others
    if not isinstance(signature, (types.Signature, tuple)):
        return signature, {}
    params = signature.args if isinstance(signature, types.Signature) else signature
    to = {i: types.uint8 if t == others.voidptr else t.dtype for i, t in enumerate(params)
          if isinstance(t, others.CPointer) or t == others.voidptr}
    if not to:
        return signature, {}
    result = signature.return_type if isinstance(signature, types.Signature) else None
    arrays = [types.Array(to[i], 1, "C") if i in to else t for i, t in enumerate(params)]
    return types.Signature(result, arrays), {i: t.as_dtype for i, t in to.items()}


def compiled_signature(signature, options, name):
    """The text of a signature for a compilation without a launch: of a pointer the address alone is passed. Where pointers lead is not known,
    so the code is that for arrays that overlap and for sizes of 64 bits."""
    from . import decorators
    signature, pointers = without_pointers(signature)
    options["any_sign"] = options["any_shape"] = True
    if pointers:
        if max(pointers) >= 64:
            raise ValueError(f"{name}: a pointer can be one of the first 64 parameters, not parameter {max(pointers) + 1}")
        options.update(pointers=sum(1 << i for i in pointers), general_variant=True)
    return decorators.signature_text(signature)


def _find(module, qualname):
    import importlib
    value = importlib.import_module(module)
    for part in qualname.split("."):
        value = getattr(value, part)
    return value


def reduce(self):
    """Pickling by module and qualified name, as for functions; what has none goes with its Python function."""
    try:
        found = _find(self.__module__, self.__qualname__)
    except (ImportError, AttributeError):
        found = None
    if found is self:
        return _find, (self.__module__, self.__qualname__)
    from ._pickle import dumps, loads_compiled
    if isinstance(self, _quern.Kernel):
        return _kernel_of, (dumps(self.py_func), self.targetoptions, self.is_device_function, self._kind, self._declared)
    return loads_compiled, (dumps(self),)


def reduce_ufunc(self):
    """Pickling of a ufunc of a GPU: by name, or with its function."""
    try:
        if _find(self.__module__, self.__qualname__) is self:
            return _find, (self.__module__, self.__qualname__)
    except (ImportError, AttributeError):
        pass
    from ._pickle import dumps
    return _ufunc_of, (type(self), dumps(self._made_of[0]), self._made_of[1:])


def _ufunc_of(cls, function, rest):
    import pickle
    return cls(pickle.loads(function), *rest)


def _kernel_of(function, options, device, kind, declared):
    import pickle
    made = _quern.Kernel(pickle.loads(function), options, device=device, kind=kind)
    if declared:
        made._declare(declared)
    return made


def reduce_launch(self):
    import operator
    import pickle
    if self.pre_launch_callbacks:
        raise pickle.PicklingError("Cannot pickle configured launches with pre-launch callbacks")
    if self.stream:
        raise pickle.PicklingError("cannot pickle a launch on a stream")
    return operator.getitem, (self.dispatcher, (self.griddim, self.blockdim, 0, self.sharedmem))


# -- device arrays ---------------------------------------------------------------------------------------------


def array_rows(self):
    return (self[i] for i in range(len(self)))


def array_new(cls, shape, strides, dtype, stream=0, gpu_data=None):
    """DeviceNDArray(shape, strides, dtype): uninitialised, on the current device."""
    from ._gpu import of
    if gpu_data is not None:
        raise TypeError("DeviceNDArray() makes memory of its own: cuda.from_cuda_array_interface() takes memory that is there")
    return of("cuda").device_array(shape, dtype, strides, stream=stream)


class Memory:
    """Memory of a device array: where it begins, its bytes, and the array, which keeps it alive."""

    def __init__(self, owner):
        self.owner = owner
        self.device_pointer = owner.device_pointer
        self.size = owner.alloc_size
        self.device_ctypes_pointer = owner.device_ctypes_pointer

    def __int__(self):
        return self.device_pointer

    def __eq__(self, other):
        return isinstance(other, Memory) and (int(self), self.size) == (int(other), other.size)

    def __hash__(self):
        return hash((self.device_pointer, self.size))

    def __repr__(self):
        return f"<{self.size} bytes at {self.device_pointer:#x}>"


def array_memory(self):
    return Memory(self)


def array_pointer(self):
    import ctypes
    return ctypes.c_void_p(self.device_pointer)


def _bound(self, stream):
    return self if stream in (0, None) else self.bind(stream)


def _gpu_of(array):
    from ._gpu import of
    rocm = 10  # DLPack's number
    return of("hip" if array.__dlpack_device__()[0] == rocm else "cuda")


def array_get_ipc_handle(self):
    from ._ipc import array_handle_of
    gpu = _gpu_of(self)
    return array_handle_of(gpu, self, gpu.current_context()._manager())


def array_fill(self, value, stream=0):
    _bound(self, stream)[...] = value


def array_getitem(self, index, stream=0):
    """self[index], a copy of the element where there is one: as the view of the subscript, bound to the stream."""
    return _bound(self, stream)[index]


def array_setitem(self, index, value, stream=0):
    _bound(self, stream)[index] = value


def device_record(view):
    from ._device_records import device_record
    return device_record(view)


# -- devices ---------------------------------------------------------------------------------------------------

_before = threading.local()  # the devices that `with` has put aside in a thread


def device_attribute(self, name):
    from ._device_attributes import device_attribute
    return device_attribute(self, name)


def device_enter(self):
    if not hasattr(_before, "devices"):
        _before.devices = []
    _before.devices.append(_quern.current_device(self.kind).id)
    _quern.select_device(self.kind, self.id)
    return self


def device_exit(self):
    _quern.select_device(self.kind, _before.devices.pop())


def pushed():
    """How many devices are put aside in this thread."""
    return len(getattr(_before, "devices", ()))
