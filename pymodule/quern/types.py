"""Types as users write them: float64, float32[:, ::1], float64(float64[:], int32).

A type is its name: the compiler parses it. Calling a type with types makes a signature, with a value a cast."""
from . import _quern

__all__ = []


class Type:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __call__(self, *args):
        if not args or all(isinstance(a, Type) for a in args):
            return Signature(self, args)
        if len(args) == 1:
            import numpy
            return numpy.dtype(_numpy_name(self)).type(args[0])
        raise TypeError("a signature is made of types: " + self.name)

    def __getitem__(self, key):
        if self.name not in _strong:
            raise TypeError(f"arrays of {self.name} are not supported")
        keys = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(k, slice) and k.start is None and k.stop is None and k.step in (None, 1)
                   for k in keys):
            raise TypeError("an array type is written with slices: float64[:], float64[:, ::1], float64[::1, :]")
        ones = [i for i, k in enumerate(keys) if k.step == 1]
        if not ones:
            return Array(self, len(keys), "A")
        if ones == [len(keys) - 1]:
            return Array(self, len(keys), "C")
        if ones == [0]:
            return Array(self, len(keys), "F")
        raise TypeError("::1 belongs to the last axis (C order) or to the first one (Fortran order)")

    def __eq__(self, other):
        return isinstance(other, Type) and _weak.get(self.name, self.name) == _weak.get(other.name, other.name)

    def __hash__(self):
        return hash(_weak.get(self.name, self.name))

    def __repr__(self):
        return self.name

    def __reduce__(self):
        return from_text, (self.name,)

    @property
    def dtype(self):
        """The element type of an array type."""
        return from_text(self.name.split("[")[0].removeprefix("Array(").split(",")[0])

    @property
    def as_dtype(self):
        """The NumPy dtype of a scalar type."""
        import numpy
        return numpy.dtype(_numpy_name(self))


class Signature:
    """Parameter types and a result type. `return_type` is None where it is to be inferred."""
    __slots__ = ("return_type", "args")

    def __init__(self, return_type, args):
        self.return_type = return_type
        self.args = tuple(args)

    @property
    def text(self):
        params = ", ".join(a.name for a in self.args)
        return f"{self.return_type.name if self.return_type is not None else ''}({params})"

    def __eq__(self, other):
        return isinstance(other, Signature) and (self.return_type, self.args) == (other.return_type, other.args)

    def __hash__(self):
        return hash((self.return_type, self.args))

    def __repr__(self):
        params = ", ".join(a.name for a in self.args)
        return f"({params}) -> {self.return_type}"


_quern.register("Type", Type)

# Python numbers: stored as, and equal to, the types on the right
_weak = {"int": "int64", "float": "float64", "complex": "complex128"}
_strong = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
           "float64", "complex64", "complex128"}


def _numpy_name(t):
    name = _weak.get(t.name, t.name)
    if name not in _strong:
        raise TypeError(f"{t.name} has no NumPy dtype")
    return name


def Array(dtype, ndim, layout, readonly=False, aligned=True):
    """The type of arrays: Array(float64, 2, 'C')."""
    if layout not in ("C", "F", "A"):
        raise ValueError("the layout of an array type is 'C', 'F' or 'A'")
    if readonly or not aligned or ndim == 0 or (layout == "F" and ndim == 1):
        flags = ", readonly" * bool(readonly) + ", unaligned" * (not aligned)
        return Type(f"Array({dtype.name}, {ndim}, '{layout}'{flags})")
    axes = [":"] * ndim
    if layout == "C":
        axes[-1] = "::1"
    elif layout == "F":
        axes[0] = "::1"
    return Type(f"{dtype.name}[{', '.join(axes)}]")


def Tuple(items):
    """The type of tuples with these item types."""
    names = [t.name for t in items]
    return Type("(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")")


def UniTuple(dtype, count):
    return Tuple([dtype] * count)


def from_dtype(dtype):
    """The type of a NumPy dtype."""
    import numpy
    name = numpy.dtype(dtype).name
    if name not in _strong:
        raise TypeError(f"values of dtype {name} cannot be used in compiled code")
    return from_text(name)


def from_text(name):
    return _known.get(name) or Type(name)


def typeof(value):
    """The type that compiled code sees in a value."""
    return from_text(_quern.typeof(value))


_known = {}


def _define():
    names = {name: name for name in _strong}
    names.update(_weak)
    for name in list(names):
        _known[name] = Type(name)
    aliases = {
        "bool": "boolean bool_ b1", "int8": "i1 char", "int16": "i2 short", "int32": "i4 intc",
        "int64": "i8 intp int_ long_ longlong ssize_t", "uint8": "u1 byte uchar", "uint16": "u2 ushort",
        "uint32": "u4 uintc", "uint64": "u8 uintp uint ulong ulonglong size_t", "float16": "f2 half",
        "float32": "f4 float_", "float64": "f8 double", "complex64": "c8", "complex128": "c16 complex_",
    }
    public = globals()
    for name, others in aliases.items():
        for alias in others.split():
            public[alias] = _known[name]
            __all__.append(alias)
        if name != "bool":
            public[name] = _known[name]
            __all__.append(name)
    public["void"] = public["none"] = _known["none"] = Type("none")
    __all__.extend(["void", "none"])


_define()
