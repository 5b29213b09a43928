"""Between compiled code and C: functions that C calls (cfunc), and functions of C that compiled code calls (ctypes, cffi)."""
import ctypes

from . import _quern, errors, types
from .types import others

_C_TYPES = {"bool": ctypes.c_bool, "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32,
            "int64": ctypes.c_int64, "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16, "uint32": ctypes.c_uint32,
            "uint64": ctypes.c_uint64, "float32": ctypes.c_float, "float64": ctypes.c_double}


def read_signature(sig):
    """Of a text, or a signature object; its result may be missing."""
    if isinstance(sig, types.Signature):
        found = sig
    elif isinstance(sig, tuple):
        found = types.Signature(None, sig)
    else:
        names = {**vars(types), **{name: getattr(types, name) for name in ("CPointer", "voidptr", "boolean", "void")}}
        found = eval(sig, {"__builtins__": {}}, names)  # a signature is an expression of types, as Numba reads it
        found = types.Signature(None, found) if isinstance(found, tuple) else found
    if not isinstance(found, types.Signature):
        raise TypeError(f"a signature is expected, not {sig!r}")
    return found


def _signature(sig):
    found = read_signature(sig)
    if found.return_type is None:
        raise TypeError(f"cfunc() needs a signature with a result, such as 'float64(float64)', not {sig!r}")
    return found


def _compiled(t):
    """What compiled code has for a parameter: a pointer is an array, of bytes where it points to nobody knows what."""
    if isinstance(t, others.CPointer):
        return types.Array(t.dtype, 1, "C")
    return types.uint8[::1] if t == others.voidptr else t


def _of_ctypes(t):
    if isinstance(t, others.CPointer) or t == others.voidptr:
        return ctypes.c_void_p
    if t == types.none:
        return None
    known = _C_TYPES.get(types.unliteral(t).name)
    if known is None:
        raise errors.UnsupportedError(f"the type {t} in the signature of a C function is not supported: numbers and pointers are")
    return known


_STAYING = []  # code whose address somebody has who keeps nothing alive


class CFunc:
    """What cfunc() returns. Calling it from Python calls the Python function, as in Numba; compiled code calls the function, too."""
    _quern_signature = None  # [text], to which calls in compiled code convert; pointers take what their function takes

    def __init__(self, function, sig, options):
        from .decorators import _with_locals
        self._sig = _signature(sig)
        self.__wrapped__ = self.py_func = self._quern_function = function
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(self, name, getattr(function, name, None))
        self._prototype = ctypes.CFUNCTYPE(*map(_of_ctypes, (self._sig.return_type, *self._sig.args)))
        text = types.Signature(self._sig.return_type, map(_compiled, self._sig.args)).text
        self._code = _quern.compile_c(function, text, _with_locals({k: v for k, v in options.items() if v is not None}))
        self._ctypes = self._prototype(self._code.address)
        self._ctypes._code = self._code
        numbers = not any(isinstance(t, others.CPointer) or t == others.voidptr for t in (self._sig.return_type, *self._sig.args))
        self._quern_signature = [text] if numbers else None

    address = property(lambda self: self._code.address, doc="The address of the function, as an int.")
    _pyfunc = property(lambda self: self.py_func)

    @property
    def _wrapper_address(self):
        """Numba's name, of an address that outlives this object: the code stays."""
        if self._code not in _STAYING:
            _STAYING.append(self._code)
        return self._code.address

    native_name = property(lambda self: self._code.native_name, doc="Its symbol.")
    ctypes = property(lambda self: self._ctypes, doc="A ctypes function.")

    @property
    def cffi(self):
        """A pointer of cffi."""
        import cffi
        return cffi.FFI().cast("void *", self.address)

    @property
    def stats(self):
        """Hits and misses of the disk cache, as of a function of jit."""
        from ._surface import Stats
        log = self._code._cache_log()
        return Stats(log, _quern.cache_folder()[0] if log else None)

    @property
    def cache_hits(self):
        """1 where the code came from the disk cache (cache=True), else 0."""
        return sum(self.stats.cache_hits.values())

    def inspect_llvm(self):
        return self._code.llvm

    def __call__(self, *args, **kwargs):
        return self.py_func(*args, **kwargs)

    def __repr__(self):
        return f"<C function {self.__qualname__}{self._sig}>"


# -- functions of C ------------------------------------------------------------------------------------------

_INTS = {ctypes.c_bool: "bool", ctypes.c_float: "float32", ctypes.c_double: "float64", ctypes.c_char: "int8"}
for _t in (ctypes.c_byte, ctypes.c_short, ctypes.c_int, ctypes.c_long, ctypes.c_longlong):
    _INTS[_t] = f"int{8 * ctypes.sizeof(_t)}"
for _t in (ctypes.c_ubyte, ctypes.c_ushort, ctypes.c_uint, ctypes.c_ulong, ctypes.c_ulonglong):
    _INTS[_t] = f"uint{8 * ctypes.sizeof(_t)}"


def _word(t):
    """Of a ctypes class: the compiler's number, "pointer", "none", or None."""
    if t is None:
        return "none"
    if t in _INTS:
        return _INTS[t]
    pointer = isinstance(t, type) and (issubclass(t, (ctypes.c_void_p, ctypes._Pointer, ctypes._CFuncPtr)) or t is ctypes.c_char_p)
    return "pointer" if pointer else "array" if hasattr(t, "_dtype_") else None


def _describe_ctypes(function):
    if function.argtypes is None:
        return f"the C function {function_name(function)} without argtypes"
    words = [_word(function.restype), *map(_word, function.argtypes)]
    if None in words or words[0] == "array":
        return f"the C function {function_name(function)} with other types than numbers and pointers"
    return ctypes.cast(function, ctypes.c_void_p).value, words


def function_name(function):
    return getattr(function, "__name__", None) or type(function).__name__


def _describe_cffi(function):
    import cffi
    ffi = cffi.FFI()
    t = ffi.typeof(function)
    if t.kind != "function":
        return None

    def word(part):
        if part.kind == "void":
            return "none"
        if part.kind == "pointer":
            return "pointer"
        size = ffi.sizeof(part)
        if part.kind == "primitive" and part.cname in ("float", "double"):
            return f"float{8 * size}"
        if part.cname in ("_Bool", "bool"):
            return "bool"
        return f"{'int' if int(ffi.cast(part, -1)) < 0 else 'uint'}{8 * size}" if part.kind == "primitive" else None
    words = [word(t.result), *map(word, t.args)]
    if None in words or t.ellipsis:
        return f"the C function {t.cname} with other types than numbers and pointers"
    return int(ffi.cast("intptr_t", function)), words


def _describe_wrapped(function):
    """What has an address and a signature of its own: types.WrapperAddressProtocol."""
    address, sig = function.__wrapper_address__(), _signature(function.signature())
    if not isinstance(address, int) or address <= 0:
        raise ValueError(f"wrapper address of {function!r} instance must be a positive integer but got {address!r}")
    words = [_word(_of_ctypes(t)) for t in (sig.return_type, *sig.args)]
    return address, words


def describe(function):
    """(address, [word of the result, of each parameter]) of a function of C; a text: it cannot be called; None: it is something else."""
    if isinstance(function, ctypes._CFuncPtr):
        return _describe_ctypes(function)
    if type(function).__module__ == "_cffi_backend":
        return _describe_cffi(function)
    if hasattr(type(function), "__wrapper_address__"):
        return _describe_wrapped(function)
    return None
