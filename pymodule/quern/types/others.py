"""The types of values that compiled code cannot hold yet, and of what only the compiler handles.

They can be made, compared, shown and asked for their parts as Numba's; a function that uses one is refused."""
import enum

from . import (_numbers, Array, ArrayCompatible, BaseTuple, Boolean, Buffer, Callable, ConstSized, Container, DTypeSpec, Dummy,
               Hashable, IterableType, Literal, MutableSequence, NoneType, Opaque, Sequence, Sized, Tuple, Type, UniTuple,
               _HomogeneousTuple, literal, uint64, int32, int64, intp, unliteral)

_NEEDED = object()


class _Parts(Type):
    """A type made of its parts. `_parts`: their names, with a default where there is one; `_label`: how it is shown."""
    _parts = {}
    _label = ""

    def __init__(self, *args, **kwargs):
        names = list(self._parts)
        if len(args) > len(names) or not set(kwargs) <= set(names[len(args):]):
            raise TypeError(f"{type(self).__name__}() takes {', '.join(names) or 'no arguments'}")
        values = {**self._parts, **dict(zip(names, args)), **kwargs}
        for name, value in values.items():
            if value is _NEEDED:
                raise TypeError(f"{type(self).__name__}() needs the argument '{name}'")
            setattr(self, name, value)
        self._made()
        self.name = self._label.format(cls=type(self).__name__, self=self, **values)

    def _made(self):
        """What follows from the parts."""

    @property
    def key(self):
        return tuple(_hashable(getattr(self, name)) for name in self._parts)


def _hashable(value):
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def _define(name, bases, label, made=None, **attributes):
    """A class: name(part, part=default). `made` is called with the new type, to set what follows from its parts."""
    name, _, parts = name.rstrip(")").partition("(")
    names = {}
    for part in parts.split(", ") if parts else []:
        part, _, default = part.partition("=")
        names[part] = _NEEDED if not default else None if default == "None" else int(default)
    body = {"_parts": names, "_label": label, "__module__": __name__, **attributes}
    if made:
        body["_made"] = made
    globals()[name] = type(Type)(name, bases if issubclass(bases[0], _Parts) else (_Parts, *bases), body)


# -- what has no parts ---------------------------------------------------------------------------------------


class Phantom(Dummy):
    """Cannot be an argument or a result."""


class PyObject(Dummy):
    """Any object of the interpreter."""

    def is_precise(self):
        return False


class Undefined(Dummy):

    def is_precise(self):
        return False


class UndefVar(Dummy):
    pass


class RawPointer(Opaque):
    pass


class EllipsisType(Opaque):
    pass


class UnicodeType(IterableType, Hashable):
    """The type of str."""
    _quern_name = "unicode_type"

    @property
    def iterator_type(self):
        return UnicodeIteratorType(self)


class Bytes(Buffer):
    mutable = False


class ByteArray(Buffer):
    slice_is_copy = True


class PyArray(Buffer):
    slice_is_copy = True


class MemoryView(Buffer):
    pass


class _Generator(Type):

    def __init__(self, *args, **kwargs):
        self.name = type(self).__name__


class NumPyRandomBitGeneratorType(_Generator):
    pass


class NumPyRandomGeneratorType(_Generator):
    pass


class WeakType(Type):
    """A type that does not keep the object that it is about alive."""

    def _store_object(self, value):
        import weakref
        self._object = weakref.ref(value)

    def _get_object(self):
        value = self._object()
        if value is None:
            raise ReferenceError("underlying object has vanished")
        return value

    @property
    def key(self):
        return self._object


# -- iteration --------------------------------------------------------------------------------------------------


class IteratorType(IterableType):

    @property
    def iterator_type(self):
        return self


class SimpleIterableType(IterableType):

    def __init__(self, name, iterator_type):
        self.name = name
        self.iterator_type = iterator_type


class SimpleIteratorType(IteratorType):

    def __init__(self, name, yield_type):
        self.name = name
        self.yield_type = yield_type


def _yields(find):
    def made(self):
        self.yield_type = find(self)
    return made


_Iterator = (SimpleIteratorType,)
_define("RangeIteratorType(dtype)", _Iterator, "range_iter_{dtype}", _yields(lambda t: t.dtype))
_define("RangeType(dtype)", (SimpleIterableType,), "range_state_{dtype}",
        lambda t: setattr(t, "iterator_type", RangeIteratorType(t.dtype)))
_define("ArrayIterator(array_type)", _Iterator, "iter({array_type})",
        _yields(lambda t: t.array_type.dtype if t.array_type.ndim == 1 else
                t.array_type.copy(ndim=t.array_type.ndim - 1,
                                  layout=t.array_type.layout if t.array_type.layout == "C" else "A")))
_define("BaseContainerIterator(container)", _Iterator, "iter({container})", _yields(lambda t: t.container.dtype))
for _name in ("UniTupleIter", "ListIter", "SetIter"):
    _define(_name + "(container)", (BaseContainerIterator,), "iter({container})")  # noqa: F821
_define("BaseContainerPayload(container)", (Type,), "payload({container})")
for _name in ("ListPayload", "SetPayload"):
    _define(_name + "(container)", (BaseContainerPayload,), "payload({container})")  # noqa: F821
_define("EnumerateType(iterable_type)", _Iterator, "enumerate({self.source_type})",
        lambda t: (setattr(t, "source_type", t.iterable_type.iterator_type),
                   setattr(t, "yield_type", Tuple([intp, t.source_type.yield_type]))))
_define("ZipType(iterable_types)", _Iterator, "zip({self._sources})",
        lambda t: (setattr(t, "source_types", tuple(i.iterator_type for i in t.iterable_types)),
                   setattr(t, "yield_type", Tuple([i.yield_type for i in t.source_types]))),
        _sources=property(lambda t: ", ".join(map(str, t.source_types))))
_define("Generator(gen_func, yield_type, arg_types, state_types, has_finalizer)", _Iterator,
        "{yield_type} generator(func={gen_func}, args={arg_types}, has_finalizer={has_finalizer})")
_define("UnicodeIteratorType(dtype)", _Iterator, "iter_unicode", _yields(lambda t: t.dtype))
_define("NumpyFlatType(array_type)", (SimpleIteratorType, MutableSequence), "array.flat({array_type})",
        lambda t: (setattr(t, "dtype", t.array_type.dtype), setattr(t, "yield_type", t.dtype)))
_define("NumpyNdEnumerateType(array_type)", _Iterator, "ndenumerate({array_type})",
        _yields(lambda t: Tuple((UniTuple(intp, t.array_type.ndim), t.array_type.dtype))))
_define("NumpyNdIndexType(ndim)", _Iterator, "ndindex(ndim={ndim})", _yields(lambda t: UniTuple(intp, t.ndim)))
_define("NumpyNdIterType(arrays)", (IteratorType,), "nditer(inputs={arrays})",
        lambda t: (setattr(t, "dtypes", tuple(getattr(a, "dtype", a) for a in t.arrays)),
                   setattr(t, "ndim", max(getattr(a, "ndim", 0) for a in t.arrays)),
                   setattr(t, "yield_type", BaseTuple.from_types([Array(d, 0, "C") for d in t.dtypes]))))

# -- tuples, pairs, pointers ------------------------------------------------------------------------------------

_define("Pair(first_type, second_type)", (Type,), "pair<{first_type}, {second_type}>")
_define("VarArg(dtype)", (Type,), "*{dtype}")
_define("TypeRef(instance_type)", (Dummy,), "typeref[{instance_type}]")
_define("Omitted(value)", (Opaque,), "omitted(default={value!r})")
_define("Poison(ty)", (Type,), "Poison<{ty}>")
_define("Module(pymod)", (Dummy,), "Module({pymod})")
_define("MemInfoPointer(dtype)", (Type,), "memory-managed *{dtype}", mutable=True)
_define("Object(cls_)", (Type,), "Object({cls_.__name__})", mutable=True)
_define("CPointer(dtype, addrspace=None)", (Type,), "{dtype}{self._space}*", mutable=True,
        _space=property(lambda t: "" if t.addrspace is None else f"_{t.addrspace}"))
_define("EphemeralPointer(dtype, addrspace=None)", (CPointer,), "{dtype}{self._space}*")  # noqa: F821
_define("EphemeralArray(dtype, count)", (Type,), "*{dtype}[{count}]")
_define("PolynomialType(coef, domain=None, window=None, n_args=1)", (Type,),
        "PolynomialType({coef}, {domain}, {window}, {n_args})")
_define("ArrayCTypes(array_type)", (Type,), "ArrayCTypes(dtype={self.dtype}, ndim={self.ndim})",
        lambda t: (setattr(t, "dtype", t.array_type.dtype), setattr(t, "ndim", t.array_type.ndim)))
_define("ArrayFlags(array_type)", (Type,), "ArrayFlags({array_type})")
_define("SliceType(name, members)", (Type,), "{name}", lambda t: setattr(t, "has_step", t.members >= 3),
        key=property(lambda t: t.members))


class UnionType(Type):

    def __init__(self, types):
        self.types = tuple(sorted(set(types), key=lambda t: t.name))
        self.name = f"Union[{','.join(map(str, self.types))}]"

    def get_type_tag(self, t):
        return self.types.index(t)


class _StarArgTuple(BaseTuple):
    """Of *args."""

    @classmethod
    def from_types(cls, types, pyclass=None):
        types = tuple(types)
        same = bool(types) and all(t == types[0] for t in types)
        return StarArgUniTuple(types[0], len(types)) if same else StarArgTuple(types)


class StarArgTuple(_StarArgTuple, Tuple):
    pass


class StarArgUniTuple(_StarArgTuple, UniTuple):
    pass


class SliceLiteral(Literal, SliceType):  # noqa: F821

    def __init__(self, value):
        Literal.__init__(self, value)
        self.members = 2 if value.step is None else 3
        self.has_step = self.members == 3

    @property
    def key(self):
        return self.literal_value.start, self.literal_value.stop, self.literal_value.step


class MakeFunctionLiteral(Literal, Opaque):
    pass


Literal.ctor_map[slice] = SliceLiteral

# -- containers ---------------------------------------------------------------------------------------------------


class InitialValue:
    initial_value = None


class List(MutableSequence, InitialValue):
    """Lists of the interpreter (`reflected`) and of compiled code."""

    def __init__(self, dtype, reflected=False, initial_value=None):
        self.dtype = unliteral(dtype)
        self.reflected = reflected
        self.initial_value = initial_value
        self.name = f"{'reflected list' if reflected else 'list'}({self.dtype})<iv={initial_value}>"

    @property
    def key(self):
        return self.dtype, self.reflected, str(self.initial_value)

    @property
    def _quern_name(self):
        return _in_call("List", self.dtype)

    def __repr__(self):
        return f"List({self.dtype!r}, {self.reflected})"

    @property
    def iterator_type(self):
        return ListIter(self)  # noqa: F821

    def copy(self, dtype=None, reflected=None):
        return List(self.dtype if dtype is None else dtype, self.reflected if reflected is None else reflected,
                    self.initial_value)

    def is_precise(self):
        return self.dtype.is_precise()

    def __getitem__(self, index):
        return self.dtype

    def __unliteral__(self):
        return List(self.dtype, self.reflected)


class Set(Container):
    mutable = True

    def __init__(self, dtype, reflected=False):
        if not isinstance(dtype, (Hashable, Undefined)):
            raise AssertionError(f"{dtype} cannot be hashed")
        self.dtype = dtype
        self.reflected = reflected
        self.name = f"{'reflected set' if reflected else 'set'}({dtype})"

    @property
    def key(self):
        return self.dtype, self.reflected

    @property
    def _quern_name(self):
        return _in_call("Set", self.dtype)

    def __repr__(self):
        return f"Set({self.dtype!r}, {self.reflected})"

    @property
    def iterator_type(self):
        return SetIter(self)  # noqa: F821

    def is_precise(self):
        return self.dtype.is_precise()


def _item_type(kind, t):
    """The type of items of typed containers: it must be known, and be no optional."""
    from ..errors import TypingError
    from . import Optional
    if isinstance(t, TypeRef):  # noqa: F821
        raise AssertionError(f"{t} is not the type of an item")
    t = unliteral(t)
    if isinstance(t, (Optional, NoneType)):
        raise TypingError(f"{kind} cannot hold items of type {t}")
    return t


def _in_words(name, *params):
    """ListType[int64], as the compiler reads it; None: it cannot hold that."""
    words = [t._quern_name for t in params]
    return None if None in words else f"{name}[{', '.join(words)}]"


def _in_call(name, t):
    """List(int64), as the compiler reads it; None: it cannot hold that."""
    return None if t._quern_name is None else f"{name}({t._quern_name})"


class ListType(IterableType):
    """typed.List. Attributes: dtype (and item_type)."""
    mutable = True

    def __init__(self, itemty):
        self.dtype = self.item_type = _item_type("typed lists", itemty)
        self.name = f"ListType[{self.dtype}]"

    @property
    def key(self):
        return self.dtype

    @property
    def iterator_type(self):
        return ListTypeIterableType(self).iterator_type  # noqa: F821

    def is_precise(self):
        return not isinstance(self.dtype, Undefined)

    @classmethod
    def refine(cls, itemty):
        return cls(itemty)

    @property
    def _quern_name(self):
        return _in_words("ListType", self.dtype)

    def __repr__(self):
        return f"ListType({self.dtype!r})"


class DictType(IterableType, InitialValue):
    """typed.Dict. Attributes: key_type, value_type, keyvalue_type."""

    def __init__(self, keyty, valty, initial_value=None):
        self.key_type = _item_type("typed dicts", keyty)
        self.value_type = _item_type("typed dicts", valty)
        self.keyvalue_type = Tuple([self.key_type, self.value_type])
        self.initial_value = initial_value
        self.name = f"DictType[{self.key_type},{self.value_type}]<iv={initial_value}>"

    @property
    def key(self):
        return self.key_type, self.value_type, str(self.initial_value)

    @property
    def iterator_type(self):
        return DictKeysIterableType(self).iterator_type  # noqa: F821

    def is_precise(self):
        return not any(isinstance(t, Undefined) for t in (self.key_type, self.value_type))

    @classmethod
    def refine(cls, keyty, valty):
        return cls(keyty, valty)

    @property
    def _quern_name(self):
        return _in_words("DictType", self.key_type, self.value_type)

    def __repr__(self):
        return f"DictType({self.key_type!r}, {self.value_type!r})"


class SetType(IterableType, InitialValue):
    """typed.Set. Attribute: key_type."""

    def __init__(self, keyty, initial_value=None):
        self.key_type = _item_type("typed sets", keyty)
        self.initial_value = initial_value
        self.name = f"SetType[{self.key_type}]<iv={initial_value}>"

    @property
    def key(self):
        return self.key_type, str(self.initial_value)

    @property
    def _quern_name(self):
        return _in_words("SetType", self.key_type)

    @property
    def iterator_type(self):
        return SetIterableType(self).iterator_type  # noqa: F821


def _iterable(name, iterator, label, yields):
    def made(self):
        self.name = label.format(parent=self.parent)  # the iterator's says it, too
        self.yield_type = yields(self.parent)
        self.iterator_type = globals()[iterator](self)
    _define(name + "(parent)", (SimpleIterableType,), label, made)


for _name, _label in (("ListTypeIteratorType", "iter[{iterable.parent}->{iterable.yield_type}]"),
                      ("DictIteratorType", "iter[{iterable.parent}->{iterable.yield_type}],{iterable.name}"),
                      ("SetIteratorType", "iter[{iterable.parent}->{iterable.yield_type}]")):
    _define(_name + "(iterable)", _Iterator, _label, _yields(lambda t: t.iterable.yield_type))
_iterable("ListTypeIterableType", "ListTypeIteratorType", "list[{parent.name}]", lambda p: p.dtype)
_iterable("DictItemsIterableType", "DictIteratorType", "items[{parent.name}]", lambda p: p.keyvalue_type)
_iterable("DictKeysIterableType", "DictIteratorType", "keys[{parent.name}]", lambda p: p.key_type)
_iterable("DictValuesIterableType", "DictIteratorType", "values[{parent.name}]", lambda p: p.value_type)
_iterable("SetIterableType", "SetIteratorType", "values[{parent.name}]", lambda p: p.key_type)
_define("SetEntry(set_type)", (Type,), "entry({set_type})")


class LiteralList(Literal, ConstSized, Hashable):
    """A list of known length whose items have types of their own."""

    def __init__(self, literal_value):
        self.types = tuple(literal_value)
        self.count = len(self.types)
        self.literal_value = list(self.types)
        self.name = f"LiteralList({literal_value})"

    @property
    def key(self):
        return self.types

    def __len__(self):
        return self.count

    def __iter__(self):
        return iter(self.types)

    def __getitem__(self, index):
        return self.types[index]

    @classmethod
    def from_types(cls, types):
        return cls(types)

    def __unliteral__(self):
        return Poison(self)  # noqa: F821


class LiteralStrKeyDict(Literal, ConstSized, Hashable):
    """A dict whose keys are known strings."""

    def __init__(self, literal_value, value_index=None):
        self.literal_value = literal_value
        self.value_index = value_index
        self.fields = tuple(getattr(k, "literal_value", k) for k in literal_value)
        self.types = tuple(literal_value.values())
        self.count = len(self.types)
        self.name = f"LiteralStrKey[Dict]({literal_value})"

    @property
    def key(self):
        return self.fields, self.types, str(self.literal_value)

    def __len__(self):
        return self.count

    def __iter__(self):
        return iter(self.types)

    def __unliteral__(self):
        return Poison(self)  # noqa: F821


# -- records, text and times in arrays -----------------------------------------------------------------------------

class _RecordField(tuple):
    """(type, offset, alignment, title) of a field."""
    type = property(lambda self: self[0])
    offset = property(lambda self: self[1])
    alignment = property(lambda self: self[2])
    title = property(lambda self: self[3])


class Record(Type):
    """A structured dtype. `fields`: [(name, {"type": ..., "offset": ...})]; `size` in bytes."""
    mutable = True

    def __init__(self, fields, size, aligned):
        ordered = sorted(fields, key=lambda f: (f[1]["offset"], f[0]))
        self.fields = {name: _RecordField((f["type"], f["offset"], f.get("alignment"), f.get("title")))
                       for name, f in ordered}
        self.size = size
        self.aligned = aligned
        self.bitwidth = size * 8
        words = []
        for name, f in self.fields.items():
            more = f";alignment={f.alignment}" if f.alignment is not None else f";title={f.title}" if f.title else ""
            words.append(f"{name}[type={f.type};offset={f.offset}{more}]")
        self.name = f"Record({','.join(words)};{size};{aligned})"
        self._quern_name = self._expression()

    def _expression(self):
        """The compiler's words; None where a field cannot be compiled."""
        fields = []
        for name, f in self.fields.items():
            inner = f.type.dtype if isinstance(f.type, NestedArray) else f.type
            text = inner._quern_name
            if f.title == name or not (isinstance(inner, (Record, CharSeq, UnicodeCharSeq)) or text in _numbers) or text is None or "'" in name:
                return None
            if inner is not f.type:
                text = f"nestedarray({text}, ({', '.join(map(str, f.type.shape))},))"
            fields.append(f", '{name}': {text} at {f.offset}")
        return f"Record({self.size}{''.join(fields)})" if fields and self.size else None

    @classmethod
    def make_c_struct(cls, name_types):
        """Fields laid out as a C compiler would."""
        from ..numpy_support import as_dtype
        fields, offset, widest = [], 0, 1
        for name, t in name_types:
            align = as_dtype(t).alignment
            widest = max(widest, align)
            offset += -offset % align
            fields.append((name, {"type": t, "offset": offset, "alignment": align}))
            offset += as_dtype(t).itemsize
        return cls(fields, offset + -offset % widest, True)

    def __len__(self):
        return len(self.fields)

    def offset(self, name):
        return self.fields[name].offset

    def typeof(self, name):
        return self.fields[name].type

    def alignof(self, name):
        return self.fields[name].alignment

    def has_titles(self):
        return any(f.title is not None for f in self.fields.values())

    def is_title(self, name):
        return self.fields[name].title == name

    @property
    def members(self):
        return [(name, f.type) for name, f in self.fields.items()]

    @property
    def dtype(self):
        from ..numpy_support import as_struct_dtype
        return as_struct_dtype(self)

    def __repr__(self):
        fields = ", ".join(f"('{n}', {{'type': {f.type!r}, 'offset': {f.offset}, 'alignment': {f.alignment}, "
                           f"'title': {f.title}, }})" for n, f in self.fields.items())
        return f"Record([{fields}], {self.size}, {self.aligned})"


class NestedArray(Array):
    """An array inside of a record: its shape is part of its type."""

    def __init__(self, dtype, shape):
        if isinstance(dtype, NestedArray):
            shape, dtype = tuple(shape) + dtype.shape, dtype.dtype
        self.shape = tuple(shape)
        super().__init__(dtype, len(self.shape), "C", name=f"nestedarray({dtype}, {self.shape})")

    @property
    def key(self):
        return self.dtype, self.shape

    @property
    def nitems(self):
        n = 1
        for length in self.shape:
            n *= length
        return n

    @property
    def size(self):
        return self.dtype.bitwidth // 8

    @property
    def bitwidth(self):
        return self.dtype.bitwidth * self.nitems

    @property
    def strides(self):
        strides, step = [], self.size
        for length in reversed(self.shape):
            strides.insert(0, step)
            step *= length
        return tuple(strides)

    def __repr__(self):
        return f"NestedArray({self.dtype!r}, {self.shape})"


_define("CharSeq(count)", (Type,), "[char x {count}]", mutable=True, _quern_name=property(lambda t: f"CharSeq({t.count})"))
_define("UnicodeCharSeq(count)", (Type,), "[unichr x {count}]", mutable=True,
        _quern_name=property(lambda t: f"UnicodeCharSeq({t.count})"),
        __repr__=lambda t: f"UnicodeCharSeq({t.count})")


class _NPDatetimeBase(Type):

    def __init__(self, unit, *args, **kwargs):
        self.unit = unit
        self.name = self._quern_name = f"{self.type_name}[{unit}]" if unit else self.type_name

    @property
    def key(self):
        return self.unit

    def __lt__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        import numpy
        return numpy.can_cast(numpy.dtype(f"m8[{self.unit}]"), numpy.dtype(f"m8[{other.unit}]"), "safe")

    def cast_python_value(self, value):
        import numpy
        return getattr(numpy, self.type_name)(value, *([self.unit] if self.unit else []))


class NPDatetime(_NPDatetimeBase):
    type_name = "datetime64"


class NPTimedelta(_NPDatetimeBase):
    type_name = "timedelta64"


class DType(DTypeSpec, Opaque):
    """The type of np.dtype objects."""

    def __init__(self, dtype):
        self.dtype = dtype
        self.name = f"dtype({dtype})"

    @property
    def key(self):
        return self.dtype


# -- functions, classes, exceptions -----------------------------------------------------------------------------


class NumberClass(Callable, DTypeSpec, Opaque):
    """The type of np.float64 and of float64 itself."""

    def __init__(self, instance_type):
        self.instance_type = self.dtype = instance_type
        self.name = f"class({instance_type})"

    @property
    def key(self):
        return self.instance_type


class _EnumType(Type):

    def __init__(self, cls, dtype):
        self.instance_class = cls
        self.dtype = dtype
        self.name = f"{self.basename}<{dtype}>({cls.__name__})"

    @property
    def key(self):
        return self.instance_class, self.dtype


class EnumMember(_EnumType):
    basename = "Enum"

    @property
    def class_type(self):
        return EnumClass(self.instance_class, self.dtype)


class EnumClass(_EnumType, Dummy):
    basename = "Enum class"
    _member = EnumMember

    @property
    def member_type(self):
        return self._member(self.instance_class, self.dtype)


class IntEnumMember(EnumMember):
    basename = "IntEnum"

    @property
    def class_type(self):
        return IntEnumClass(self.instance_class, self.dtype)


class IntEnumClass(EnumClass):
    basename = "IntEnum class"
    _member = IntEnumMember


_define("BaseFunction(template)", (Callable,), "{cls}({template})")
_define("Function(template)", (BaseFunction, Opaque), "{cls}({template})")  # noqa: F821
_define("BoundFunction(template, this)", (Callable, Opaque), "{cls}({template} for {this})")
_define("ExternalFunction(symbol, sig)", (Type,), "{cls}({symbol})")
_define("ExternalFunctionPointer(sig, get_pointer, cconv=None)", (Type,), "{cls}({sig})")
_define("FunctionPrototype(rtype, atypes)", (Type,), "{rtype}({self._arguments})",
        _arguments=property(lambda t: ", ".join(map(str, t.atypes))))
_define("NamedTupleClass(instance_class)", (Callable, Opaque), "class({instance_class})")
_define("RecursiveCall(dispatcher_type)", (Opaque,), "recursive({dispatcher_type})")
_define("ExceptionClass(exc_class)", (Callable, Phantom), "{exc_class.__name__}")
_define("ExceptionInstance(exc_class)", (Phantom,), "{exc_class.__name__}(...)")
_define("ContextManager(cm)", (Callable, Phantom), "ContextManager({cm})")
_define("Dispatcher(dispatcher)", (WeakType, Callable, Dummy), "type({dispatcher})",
        key=property(lambda t: id(t.dispatcher)))
_define("ObjModeDispatcher(dispatcher)", (Dispatcher,), "type({dispatcher})")  # noqa: F821


class DeferredType(Type):
    """A type that is defined later, by define()."""

    def __init__(self):
        self._define = None
        self.name = f"DeferredType#{id(self)}"

    @property
    def _quern_name(self):
        return self._define and self._define._quern_name

    def get(self):
        if self._define is None:
            raise RuntimeError("deferred type not defined")
        return self._define

    def define(self, t):
        if self._define is not None:
            raise TypeError("deferred type already defined")
        if not isinstance(t, Type):
            raise TypeError(f"arg is not a Type; got: {type(t)}")
        self._define = t


class ClassType(Callable, Opaque):
    """A @jitclass. Attributes: class_name, struct (the fields), jit_methods."""
    mutable = True
    name_prefix = "jitclass"

    def __init__(self, class_def, ctor_template_cls, struct, jit_methods, jit_props, jit_static_methods):
        self.class_name = class_def.__name__
        self.class_doc = class_def.__doc__
        self.struct = struct
        self.jit_methods = jit_methods
        self.jit_props = jit_props
        self.jit_static_methods = jit_static_methods
        fields = ",".join(f"{name}:{t}" for name, t in struct.items())
        self.name = f"{self.name_prefix}.{self.class_name}#{id(self):x}<{fields}>"

    @property
    def methods(self):
        return {name: getattr(f, "py_func", f) for name, f in self.jit_methods.items()}

    @property
    def static_methods(self):
        return {name: getattr(f, "py_func", f) for name, f in self.jit_static_methods.items()}

    @property
    def instance_type(self):
        return ClassInstanceType(self)


class ClassInstanceType(Type):
    """An object of a @jitclass."""
    mutable = True
    name_prefix = "instance"

    def __init__(self, class_type):
        self.class_type = class_type
        self.classname = class_type.class_name
        self.name = f"{self.name_prefix}.{class_type.name}"

    @property
    def key(self):
        return self.class_type.key

    @property
    def _quern_name(self):
        number = getattr(self.class_type, "number", None)
        return None if number is None else f"instance[{number}]"

    def get_data_type(self):
        return ClassDataType(self)

    def get_reference_type(self):
        return self

    def __getattr__(self, name):
        if name in ("struct", "methods", "static_methods", "jit_props", "jit_methods", "jit_static_methods"):
            return getattr(self.class_type, name)
        raise AttributeError(name)


class ClassDataType(Type):

    def __init__(self, classtyp):
        self.class_type = classtyp
        self.name = f"data.{classtyp.name}"


class StructRef(Type):
    """Base of users' classes for experimental.structref. `fields`: [(name, type)]. One that preprocess_fields() names equals no other."""
    _fields = _identity = None

    def __init__(self, fields):
        self._typename = type(self).__qualname__
        self.name = f"numba.{self._typename}#{id(self):x}"
        self._fields = self._checked(self.preprocess_fields(self._checked(fields)))
        self.name = f"numba.{self._typename}{self._fields}"

    @staticmethod
    def _checked(fields):
        for name, t in fields:
            if not isinstance(name, str):
                raise ValueError("expecting a str for field name")
            if not isinstance(t, Type):
                raise ValueError("expecting a Numba Type for field type")
        return tuple(map(tuple, fields))

    def preprocess_fields(self, fields):
        return fields

    @property
    def field_dict(self):
        return dict(self._fields)

    @property
    def key(self):
        if self._fields is None:
            self._identity = self._identity or self.name
        return self._identity or self._fields

    @property
    def _quern_name(self):
        from ..experimental import structref
        return structref.name_of(self)

    def get_data_type(self):
        return StructRefPayload(type(self).__name__, self._fields)


class StructRefPayload(Type):
    mutable = True

    def __init__(self, typename, fields):
        self._typename = typename
        self._fields = tuple(fields)
        self.name = f"numba.{typename}{self._fields}.payload"

    @property
    def field_dict(self):
        return dict(self._fields)


class Conversion(enum.IntEnum):
    """How a value becomes one of another type: the smaller, the better."""
    exact = 1
    promote = 2
    safe = 3
    unsafe = 4
    nil = 99


# -- names ----------------------------------------------------------------------------------------------------------------

pyobject = PyObject("pyobject")
ffi_forced_object = Opaque("ffi_forced_object")
ffi = Opaque("ffi")
ellipsis = EllipsisType("...")
Any = Phantom("any")
undefined = Undefined("undefined")
py2_string_type = Opaque("str")
unicode_type = string = UnicodeType("unicode_type")
unknown = Dummy("unknown")
npy_rng = NumPyRandomGeneratorType("rng")
npy_bitgen = NumPyRandomBitGeneratorType("bitgen")
_undef_var = UndefVar("_undef_var")
code_type = Opaque("code")
pyfunc_type = Opaque("pyfunc")
voidptr = RawPointer("void*")
deferred_type = DeferredType
slice2_type = SliceType("slice<a:b>", 2)  # noqa: F821
slice3_type = SliceType("slice<a:b:c>", 3)  # noqa: F821
range_iter32_type, range_iter64_type = RangeIteratorType(int32), RangeIteratorType(int64)  # noqa: F821
unsigned_range_iter64_type = RangeIteratorType(uint64)  # noqa: F821
range_state32_type, range_state64_type = RangeType(int32), RangeType(int64)  # noqa: F821
unsigned_range_state64_type = RangeType(uint64)  # noqa: F821
sizeof_unicode_char = 4


def is_homogeneous(*types):
    return bool(types) and all(t == types[0] for t in types)


from .functions import (CompileResultWAP, FunctionType, UndefinedFunctionType, WrapperAddressProtocol,  # noqa: E402,F401
                        holds_functions)
