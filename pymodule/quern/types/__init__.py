"""Types as users write them: float64, float32[:, ::1], float64(float64[:], int32).

The classes, their names, attributes, equality and hash are Numba's. What the compiler reads of a type is `_quern_name`,
a type expression in its own words; it is None for a type that cannot be compiled yet, and whoever uses that one gets
an UnsupportedError. The classes of such types are in others.py and are imported when first asked for."""
from weakref import WeakValueDictionary as _WeakValueDictionary

from .. import _quern


class _TypeMeta(type):
    """Types are interned: equal ones are one object, as long as it lives."""

    def __call__(cls, *args, **kwargs):
        return _intern(type.__call__(cls, *args, **kwargs))


_interned = _WeakValueDictionary()


def _intern(instance):
    try:
        return _interned.setdefault((type(instance), instance.key, instance._quern_name), instance)
    except TypeError:  # a key of the user's that cannot be hashed
        return instance


def _rebuild(cls, state):
    """Unpickling."""
    instance = object.__new__(cls)
    instance.__dict__.update(state)
    return _intern(instance)


class Type(metaclass=_TypeMeta):
    """Base of all types. A subclass says what makes it equal to another one in the property `key`."""
    mutable = False
    reflected = False
    _quern_name = None

    def __init__(self, name):
        self.name = name

    @property
    def key(self):
        return self.name

    @property
    def mangling_args(self):
        return self.name, ()

    def __call__(self, *args):
        """With a value: the value in this type. With types: the signature that returns this type."""
        if len(args) == 1 and not isinstance(args[0], Type):
            return self.cast_python_value(args[0])
        return signature(self, *args)

    def cast_python_value(self, value):
        raise NotImplementedError(f"a Python value cannot be made a {self}")

    def __getitem__(self, axes):
        ndim, layout = _axes(axes)
        return Array(self, ndim, layout)

    def __eq__(self, other):
        return self is other or (type(self) is type(other) and self.key == other.key)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.key)

    def __repr__(self):
        return self.name

    def __str__(self):
        return self.name

    def __reduce__(self):
        return _rebuild, (type(self), self.__dict__)

    @property
    def as_dtype(self):
        """The NumPy dtype of a number or a record."""
        from ..numpy_support import as_dtype
        return as_dtype(self)

    @property
    def is_internal(self):
        """Is its class one of ours?"""
        return type(self).__module__.split(".")[0] == "quern"

    # what classes of users may override
    def unify(self, typingctx, other):
        return None

    def can_convert_to(self, typingctx, other):
        return None

    def can_convert_from(self, typingctx, other):
        return None

    def is_precise(self):
        return True

    def augment(self, other):
        return None


def _axes(axes):
    """(number, layout) of what stands in the brackets of float64[:, ::1]."""
    axes = axes if isinstance(axes, (tuple, list)) else (axes,)
    if not axes or not all(isinstance(a, slice) and a.start is None and a.stop is None and a.step in (None, 1)
                           for a in axes):
        raise _BadAxes("an array type is written with slices: float64[:], float64[:, ::1], float64[::1, :]")
    ones = [i for i, a in enumerate(axes) if a.step == 1]
    if not ones:
        return len(axes), "A"
    if ones == [len(axes) - 1]:
        return len(axes), "C"
    if ones == [0]:
        return len(axes), "F"
    raise _BadAxes("::1 belongs to the last axis (C order) or to the first one (Fortran order)")


class _BadAxes(KeyError, TypeError):
    """Numba raises a KeyError; a wrong index is a TypeError."""

    def __str__(self):
        return str(self.args[0])


def unsupported(t):
    """The error of a type that cannot be compiled."""
    from ..errors import UnsupportedError
    hint = ": pass functions as arguments, or keep them in a list, a dict or a tuple" if "FunctionType" in str(t) else ""
    return UnsupportedError(f"the type {t} is not supported in compiled code{hint}")


def _text(t):
    if t._quern_name is None:
        raise unsupported(t)
    return t._quern_name


def _joined(items):
    """The compiler's words for a tuple of types; None when one of them has none."""
    names = [t._quern_name for t in items]
    return None if None in names else "(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")"


class Signature:
    """Parameter types and a result type. `return_type` is None where it is to be inferred."""
    __slots__ = ("return_type", "args", "recvr", "pysig")

    def __init__(self, return_type, args, recvr=None, pysig=None):
        self.return_type = return_type
        self.args = tuple(args)
        self.recvr = recvr
        self.pysig = pysig

    @property
    def text(self):
        """What the compiler reads. UnsupportedError for a type that cannot be compiled."""
        result = _text(self.return_type) if self.return_type is not None else ""
        return f"{result}({', '.join(map(_text, self.args))})"

    def replace(self, **changes):
        """A copy with other values of some attributes."""
        return Signature(**{**{name: getattr(self, name) for name in self.__slots__}, **changes})

    @property
    def is_method(self):
        return self.recvr is not None

    def as_method(self):
        return self if self.is_method else self.replace(args=self.args[1:], recvr=self.args[0])

    def as_function(self):
        return self.replace(args=(self.recvr,) + self.args, recvr=None) if self.is_method else self

    def as_type(self):
        """The type of functions of this signature."""
        from .others import FunctionType
        return FunctionType(self)

    def is_precise(self):
        return all(a.is_precise() for a in self.args) and self.return_type.is_precise()

    def __eq__(self, other):
        return isinstance(other, Signature) and (self.return_type, self.args, self.recvr, self.pysig) == (
            other.return_type, other.args, other.recvr, other.pysig)

    def __hash__(self):
        return hash((self.return_type, self.args))

    def __repr__(self):
        return f"{self.args} -> {self.return_type}"

    def __reduce__(self):
        return Signature, (self.return_type, self.args, self.recvr, self.pysig)


def signature(return_type, *args, recvr=None):
    """signature(float64, int32, int32): the same as float64(int32, int32)."""
    for t in (return_type, *args):
        if t is not None and not isinstance(t, Type):
            raise TypeError(f"a signature is made of types, not of {t!r}")
    return Signature(return_type, args, recvr)


_quern.register("Type", Type)

# -- kinds of types ------------------------------------------------------------------------------------------


class Dummy(Type):
    """A type without values that compiled code could hold."""


class Opaque(Dummy):
    """A type whose values are only passed on."""


class Hashable(Type):
    pass


class Callable(Type):
    pass


class DTypeSpec(Type):
    pass


class IterableType(Type):
    pass


class Sized(Type):
    pass


class ConstSized(Sized):
    pass


class Container(Sized, IterableType):
    pass


class Sequence(Container):
    """One dimension; has a `dtype`."""


class MutableSequence(Sequence):
    mutable = True


class ArrayCompatible(Type):
    array_priority = 0.0


class NoneType(Opaque):
    """The type of None."""

    def __init__(self, name):
        self.name = self._quern_name = name

    def unify(self, typingctx, other):
        return other if isinstance(other, (Optional, NoneType)) else Optional(other)


# -- numbers -----------------------------------------------------------------------------------------------------


class _Ordered:
    """float32 < float64. Only types of one class are compared, and ints only with ints of the same sign."""

    def _rank(self, other):
        same = type(self) is type(other) and getattr(self, "signed", None) == getattr(other, "signed", None)
        return (self.bitwidth - other.bitwidth) if same else None

    def __lt__(self, other):
        rank = self._rank(other)
        return NotImplemented if rank is None else rank < 0

    def __le__(self, other):
        rank = self._rank(other)
        return NotImplemented if rank is None else rank <= 0

    def __gt__(self, other):
        rank = self._rank(other)
        return NotImplemented if rank is None else rank > 0

    def __ge__(self, other):
        rank = self._rank(other)
        return NotImplemented if rank is None else rank >= 0


class Number(Hashable):

    def cast_python_value(self, value):
        from ..numpy_support import as_dtype
        return as_dtype(self).type(value)

    def unify(self, typingctx, other):
        if isinstance(other, Number):
            import numpy
            from ..numpy_support import as_dtype
            return from_dtype(numpy.promote_types(as_dtype(self), as_dtype(other)))


class Boolean(Hashable):

    def __init__(self, name):
        self.name = name
        self._quern_name = "bool"

    def cast_python_value(self, value):
        return bool(value)


class Integer(_Ordered, Number):
    """Attributes: bitwidth, signed, minval, maxval."""

    def __init__(self, name, bitwidth=None, signed=None):
        self.name = name
        self.signed = name.startswith("int") if signed is None else signed
        self.bitwidth = int(name.removeprefix("u").removeprefix("int")) if bitwidth is None else bitwidth
        if name in _numbers:
            self._quern_name = name

    @classmethod
    def from_bitwidth(cls, bitwidth, signed=True):
        return cls(("int%d" if signed else "uint%d") % bitwidth)

    @property
    def minval(self):
        return -1 << self.bitwidth - 1 if self.signed else 0

    @property
    def maxval(self):
        return (1 << self.bitwidth - self.signed) - 1


class Float(_Ordered, Number):
    """Attribute: bitwidth."""

    def __init__(self, name):
        self.name = name
        self.bitwidth = int(name.removeprefix("b").removeprefix("float"))
        if name in _numbers:
            self._quern_name = name


class Complex(_Ordered, Number):
    """Attributes: bitwidth of both parts together, underlying_float."""

    def __init__(self, name, underlying_float):
        self.name = name
        self.underlying_float = underlying_float
        self.bitwidth = int(name.removeprefix("complex"))
        if name in _numbers:
            self._quern_name = name


# -- arrays ----------------------------------------------------------------------------------------------------------


class Buffer(IterableType, ArrayCompatible):
    """Arrays and what gives its memory as one. Attributes: dtype, ndim, layout ('C', 'F' or 'A'), mutable, aligned."""
    mutable = True
    aligned = True
    slice_is_copy = False
    LAYOUTS = frozenset(["C", "F", "CS", "FS", "A"])

    def __init__(self, dtype, ndim, layout, readonly=False, name=None):
        if isinstance(dtype, Buffer):
            from ..errors import NumbaTypeError
            raise NumbaTypeError(f"the elements of an array cannot be arrays: {dtype}")
        if layout not in self.LAYOUTS:
            from ..errors import NumbaValueError
            raise NumbaValueError(f"the layout of an array type is 'C', 'F' or 'A', not {layout!r}")
        self.dtype = unliteral(dtype)
        self.ndim = ndim
        self.layout = layout
        if readonly:
            self.mutable = False
        kind = type(self).__name__.lower()
        self.name = name or f"{'' if self.mutable else 'readonly '}{kind}({dtype}, {ndim}d, {layout})"

    @property
    def key(self):
        return self.dtype, self.ndim, self.layout, self.mutable

    @property
    def as_array(self):
        return self

    @property
    def iterator_type(self):
        from .others import ArrayIterator
        return ArrayIterator(self)

    def copy(self, dtype=None, ndim=None, layout=None):
        return type(self)(dtype=self.dtype if dtype is None else dtype, ndim=self.ndim if ndim is None else ndim,
                          layout=self.layout if layout is None else layout, readonly=not self.mutable)

    @property
    def is_contig(self):
        return self.layout in "CF"

    @property
    def is_c_contig(self):
        return self.layout == "C" or (self.ndim <= 1 and self.layout == "F")

    @property
    def is_f_contig(self):
        return self.layout == "F" or (self.ndim <= 1 and self.layout == "C")


class Array(Buffer):
    """The type of NumPy arrays: Array(float64, 2, 'C', readonly=True)."""

    def __init__(self, dtype, ndim, layout, readonly=False, name=None, aligned=True):
        if isinstance(dtype, Array) and hasattr(dtype, "shape"):  # an array inside of a record: its axes come last
            ndim, dtype = ndim + dtype.ndim, dtype.dtype
        if readonly:
            self.mutable = False
        if not aligned or not getattr(dtype, "aligned", True):
            self.aligned = False
        flags = "" if self.aligned else "unaligned "
        flags += "" if self.mutable else "readonly "
        super().__init__(dtype, ndim, layout, name=name or f"{flags}array({dtype}, {ndim}d, {layout})")
        if type(self) is Array and (self.dtype._quern_name in _numbers or self._of_records() or self._of_times()):
            self._quern_name = self._expression()

    def _of_records(self):
        return (self.dtype._quern_name or "").startswith(("Record(", "UnicodeCharSeq(", "CharSeq("))

    def _of_times(self):
        return (self.dtype._quern_name or "").startswith(("datetime64", "timedelta64"))

    def _expression(self):
        element = self.dtype._quern_name
        unaligned = not self.aligned and not self._of_records()  # records have their fields where they have them
        if not self.mutable or unaligned or self.ndim == 0 or (self.layout == "F" and self.ndim == 1):
            flags = ", readonly" * (not self.mutable) + ", unaligned" * unaligned
            return f"Array({element}, {self.ndim}, '{self.layout}'{flags})"
        axes = [":"] * self.ndim
        if self.layout != "A":
            axes[-1 if self.layout == "C" else 0] = "::1"
        return f"{element}[{', '.join(axes)}]"

    @property
    def key(self):
        return self.dtype, self.ndim, self.layout, self.mutable, self.aligned

    @property
    def mangling_args(self):
        return "Array", [self.dtype, self.ndim, self.layout, "mutable" if self.mutable else "readonly",
                         "aligned" if self.aligned else "unaligned"]

    @property
    def box_type(self):
        import numpy
        return numpy.ndarray

    def copy(self, dtype=None, ndim=None, layout=None, readonly=None):
        return Array(dtype=self.dtype if dtype is None else dtype, ndim=self.ndim if ndim is None else ndim,
                     layout=self.layout if layout is None else layout,
                     readonly=not self.mutable if readonly is None else readonly, aligned=self.aligned)

    def unify(self, typingctx, other):
        if isinstance(other, Array) and (other.ndim, other.dtype) == (self.ndim, self.dtype):
            return Array(self.dtype, self.ndim, self.layout if self.layout == other.layout else "A",
                         readonly=not (self.mutable and other.mutable), aligned=self.aligned and other.aligned)

    def is_precise(self):
        return self.dtype.is_precise()

    def __repr__(self):
        return f"Array({self.dtype!r}, {self.ndim}, '{self.layout}', {not self.mutable}, aligned={self.aligned})"


# -- tuples ------------------------------------------------------------------------------------------------------------


class BaseTuple(ConstSized, Hashable):
    """Attributes of all tuples: types, count. They have a length, items, and can be iterated over."""

    @classmethod
    def from_types(cls, types, pyclass=None):
        """The type of tuples, or named tuples, of these items."""
        types = tuple(types)
        same = bool(types) and all(t == types[0] for t in types)
        if pyclass is not None and pyclass is not tuple:
            if not hasattr(pyclass, "_fields"):
                return None
            types = tuple(map(unliteral, types))
            return NamedUniTuple(types[0], len(types), pyclass) if same else NamedTuple(types, pyclass)
        return UniTuple(types[0], len(types)) if same else Tuple(types)

    def __len__(self):
        return self.count

    def __iter__(self):
        return iter(self.types)

    def __bool__(self):
        return self.count > 0

    def __getitem__(self, index):
        return self.types[index]


class BaseAnonymousTuple(BaseTuple):
    pass


class BaseNamedTuple(BaseTuple):

    @property
    def _quern_name(self):
        items = _joined(self.types)
        return items and f"namedtuple[{_quern.instance_number(self.instance_class)}]{items}"


class _HomogeneousTuple(Sequence, BaseTuple):

    @property
    def types(self):
        return (self.dtype,) * self.count

    @property
    def iterator_type(self):
        from .others import UniTupleIter
        return UniTupleIter(self)

    def __getitem__(self, index):
        return self.dtype


class _HeterogeneousTuple(BaseTuple):
    pass


def _item_types(types):
    """A tuple of types; anything else is an error."""
    try:
        types = tuple(types)
    except TypeError:
        from ..errors import TypingError
        raise TypingError("Argument 'types' is not iterable") from None
    return types


class UniTuple(BaseAnonymousTuple, _HomogeneousTuple):
    """Tuples of `count` items of one type."""

    def __init__(self, dtype, count):
        self.dtype = dtype
        self.count = count
        self.name = f"{type(self).__name__}({dtype} x {count})"
        self._quern_name = _joined(self.types)

    @property
    def key(self):
        return self.dtype, self.count

    @property
    def mangling_args(self):
        return type(self).__name__, (self.dtype, self.count)

    def __repr__(self):
        return f"UniTuple({self.dtype!r}, {self.count})"


class Tuple(BaseAnonymousTuple, _HeterogeneousTuple):
    """Tuples of these item types; a UniTuple where they are all the same."""

    def __new__(cls, types):
        types = _item_types(types)
        if types and all(t == types[0] for t in types) and cls is Tuple:
            return UniTuple(types[0], len(types))
        return object.__new__(cls)

    def __init__(self, types):
        self.types = _item_types(types)
        self.count = len(self.types)
        self.name = f"{type(self).__name__}({', '.join(map(str, self.types))})"
        self._quern_name = _joined(self.types)

    @property
    def dtype(self):
        from .others import UnionType
        return UnionType(self.types)

    @property
    def key(self):
        return self.types

    @property
    def mangling_args(self):
        return type(self).__name__, self.types

    def __repr__(self):
        return f"Tuple({self.types})"


class NamedUniTuple(_HomogeneousTuple, BaseNamedTuple):
    """Named tuples of the class `cls` whose items have one type. Attributes: fields, instance_class."""

    def __init__(self, dtype, count, cls):
        self.dtype = dtype
        self.count = count
        self.fields = tuple(cls._fields)
        self.instance_class = cls
        self.name = f"{cls.__name__}({dtype} x {count})"

    @property
    def key(self):
        return self.instance_class, self.dtype, self.count


class NamedTuple(_HeterogeneousTuple, BaseNamedTuple):
    """Named tuples of the class `cls` with these item types. Attributes: fields, instance_class."""

    def __init__(self, types, cls):
        self.types = _item_types(types)
        self.count = len(self.types)
        self.fields = tuple(cls._fields)
        self.instance_class = cls
        self.name = f"{cls.__name__}({', '.join(map(str, self.types))})"

    @property
    def key(self):
        return self.instance_class, self.types


# -- None or a value, and values as types ----------------------------------------------------------------------------


class Optional(Type):
    """None, or a value of the type in the attribute `type`."""

    def __init__(self, typ):
        typ = unliteral(typ)
        if isinstance(typ, (Optional, NoneType)):
            raise AssertionError(f"an optional of {typ} is not a type")
        self.type = typ
        self.name = f"OptionalType({typ})"

    @property
    def _quern_name(self):
        words = self.type._quern_name  # of a deferred type: as soon as it is defined
        return words and f"Optional({words})"

    @property
    def key(self):
        return self.type


class Literal(Type):
    """A type that is one value: literal(3). Attributes: literal_value, literal_type."""
    ctor_map = {}

    def __init__(self, value):
        if type(self) is Literal:
            raise TypeError("use types.literal(value)")
        self._literal_init(value)
        self.name = f"Literal[{type(value).__name__}]({value})"

    def _literal_init(self, value):
        self.literal_value = value
        self.literal_type = t = typeof(value) if isinstance(value, (int, str, bool, slice)) else None
        self._quern_name = t._quern_name if t is not None else None

    @property
    def key(self):
        return self.literal_value


class IntegerLiteral(Literal, Integer):

    def __init__(self, value):
        Literal.__init__(self, value)
        self.bitwidth, self.signed = self.literal_type.bitwidth, self.literal_type.signed


class BooleanLiteral(Literal, Boolean):
    __init__ = Literal.__init__


class StringLiteral(Literal, Dummy):
    __init__ = Literal.__init__


Literal.ctor_map.update({int: IntegerLiteral, bool: BooleanLiteral, str: StringLiteral})


def literal(value):
    """The type of one value. LiteralTypingError for a value that cannot be one."""
    if isinstance(value, Literal):
        raise ValueError(f"the function does not accept a Literal type; got {value} ({type(value)})")
    if type(value) is slice and slice not in Literal.ctor_map:
        from .others import SliceLiteral  # noqa: F401  (enters itself)
    if type(value) not in Literal.ctor_map:
        from ..errors import LiteralTypingError
        raise LiteralTypingError(f"{type(value)} cannot be used as a literal")
    return Literal.ctor_map[type(value)](value)


def maybe_literal(value):
    """literal(value), or None."""
    from ..errors import LiteralTypingError
    try:
        return literal(value)
    except LiteralTypingError:
        return None


def unliteral(t):
    """The type without its value: int64 for literal(3)."""
    if hasattr(t, "__unliteral__"):
        return t.__unliteral__()
    return getattr(t, "literal_type", t)


# -- from text, dtypes and values --------------------------------------------------------------------------------------

_numbers = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 "
                     "complex64 complex128".split())


def from_dtype(dtype):
    """The type of a NumPy dtype. TypeError for a dtype that no type has."""
    from ..numpy_support import from_dtype
    return from_dtype(dtype)


def from_text(text):
    """The type of a type expression of the compiler: "float64[:, ::1]", "(int64, float)"."""
    return _known.get(text) or _Reader(text).whole()


def of_answer(answer):
    """The type the compiler tells: a text, or for named tuples (weak reference to the class, items) and for tuples of these
    (None, items)."""
    if isinstance(answer, str):
        return from_text(answer)
    cls, items = answer
    return BaseTuple.from_types(map(of_answer, items), cls and cls())


def _others():
    from . import others
    return others


class _Reader:
    """Reads type expressions as the compiler writes them."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def whole(self):
        t = self.type()
        if t is None or self.at != len(self.text):
            t = Opaque(self.text)  # only for showing: a function passed as an argument, an unknown type
        return t

    def take(self, mark):
        if not self.text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True

    def upto(self, marks):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in marks:
            self.at += 1
        return self.text[start:self.at]

    def type(self):
        if self.take("("):
            items = self.items()
            t = None if items is None else BaseTuple.from_types(items)
        elif self.take("Array("):
            t = self.array()
        elif (shared := next((name for name in ("ListType[", "DictType[", "SetType[") if self.take(name)), None)):
            parts = self.parts()
            t = None if parts is None else getattr(_others(), shared[:-1])(*parts)
        elif (text := next((name for name in ("UnicodeCharSeq(", "CharSeq(") if self.take(name)), None)):
            count = self.upto(")")
            t = getattr(_others(), text[:-1])(int(count)) if self.take(")") and count.isdigit() else None
        elif self.take("instance["):
            number = self.upto("]")
            cls = _quern.instance_class(int(number)) if self.take("]") and number.isdigit() else None
            t = cls and cls.class_type.instance_type
        elif self.take("str"):
            t = _others().unicode_type
        elif self.take("Optional("):
            inner = self.type()
            t = Optional(inner) if inner is not None and self.take(")") else None
        else:
            t = _known.get(self.upto("[],()"))
        while t is not None and self.take("["):
            ones = [axis == "::1" for axis in self.upto("]").split(", ")]
            t = t[tuple(slice(None, None, 1 if one else None) for one in ones)]
            self.take("]")
        return t

    def parts(self):
        parts = [self.type()]
        while self.take(","):
            parts.append(self.type())
        return parts if self.take("]") and None not in parts else None

    def items(self):
        items = []
        while not self.take(")"):
            items.append(self.type())
            if items[-1] is None or not (self.take(", ") or self.take(",") or self.text.startswith(")", self.at)):
                return None
        return items

    def array(self):
        element, rest = self.type(), self.upto(")").split(", ")[1:]
        if element is None or not self.take(")"):
            return None
        return Array(element, int(rest[0]), rest[1].strip("'"), "readonly" in rest, aligned="unaligned" not in rest)


def typeof(value, purpose=None):
    """The type of a value, as compiled code sees it. TypeError (and ValueError) for a value that has none."""
    from ._typeof import typeof
    return typeof(value, purpose)


# -- names -------------------------------------------------------------------------------------------------------------

_known = {}  # the compiler's name: the type

# name: what else it is called. Those before the bar are public names of the package, too.
_ALIASES = {
    "bool": "boolean bool_ b1 | c_bool py_bool np_bool_",
    "int8": "i1 char | c_int8 np_int8 np_char", "int16": "i2 short | c_int16 np_int16 np_short",
    "int32": "i4 intc | c_int32 np_int32 np_intc",
    "int64": "i8 intp int_ long_ longlong ssize_t | c_int64 c_intp py_int np_int64 np_intp np_int_ np_long np_longlong",
    "uint8": "u1 byte uchar | c_uint8 np_uint8 np_uchar", "uint16": "u2 ushort | c_uint16 np_uint16 np_ushort",
    "uint32": "u4 uintc | c_uint32 np_uint32 np_uintc",
    "uint64": "u8 uintp uint ulong ulonglong size_t | c_uint64 c_uintp np_uint64 np_uintp np_uint np_ulong np_ulonglong",
    "bfloat16": " | ", "float16": "f2 half | c_float16 np_float16", "float32": "f4 float_ | c_float32 np_float32 np_float_",
    "float64": "f8 double | c_float64 py_float np_float64 np_double", "complex64": "c8 | np_complex64",
    "complex128": "c16 complex_ | py_complex np_complex128",
}

__all__ = []


def _make(name):
    if name == "bool":
        return Boolean(name)
    if "int" in name:
        return Integer(name)
    return Float(name) if "float" in name else Complex(name, _known["float" + str(int(name[7:]) // 2)])


def _define():
    public = globals()
    for name, aliases in _ALIASES.items():
        _known[name] = _make(name)
        names, others = aliases.split(" | ")
        own = [name] if name != "bool" else []  # the functions of this module call the builtin
        for alias in [*own, *names.split(), *others.split()]:
            public[alias] = _known[name]
        __all__.extend(own + names.split())
    public["void"] = public["none"] = _known["none"] = NoneType("none")
    __all__.extend(["void", "none", "optional", "deferred_type", "ffi", "ffi_forced_object"])
    for name, like in (("int", Integer("int64")), ("float", Float("float64")),
                       ("complex", Complex("complex128", _known["float64"]))):
        weak = object.__new__(type(like))  # a Python number: equal to the type that stores it, weak to the compiler
        weak.__dict__.update(like.__dict__, _quern_name=name)
        _known[name] = weak
    public["signed_domain"] = signed = frozenset(_known[f"int{n}"] for n in (8, 16, 32, 64))
    public["unsigned_domain"] = unsigned = frozenset(_known[f"uint{n}"] for n in (8, 16, 32, 64))
    public["integer_domain"] = signed | unsigned
    public["real_domain"] = real = frozenset([_known["float32"], _known["float64"]])
    public["complex_domain"] = imaginary = frozenset([_known["complex64"], _known["complex128"]])
    public["number_domain"] = signed | unsigned | real | imaginary
    for kind, prefixes in {"signed": ("py_", "np_"), "unsigned": ("np_",), "integer": ("py_", "np_"),
                           "real": ("py_", "np_"), "complex": ("py_", "np_"), "number": ("py_", "np_")}.items():
        for prefix in prefixes:
            public[f"{prefix}{kind}_domain"] = public[f"{kind}_domain"]


_define()
optional = Optional


# numba.core.types has these modules: here all types are in one
_MODULES = frozenset("abstract common containers function_type functions iterators misc npytypes scalars".split())


def __getattr__(name):
    if name == "bool":
        return _known["bool"]
    if name in _MODULES:
        import sys
        return sys.modules[__name__]
    if not name.startswith("__"):
        from .others import __dict__ as others  # not `from . import`: that would ask this function
        if name in others:
            return others[name]
    raise AttributeError(f"module 'quern.types' has no attribute '{name}'")


def __dir__():
    from .others import __dict__ as others
    return sorted(name for name in {*globals(), *others} if not name.startswith("__"))
