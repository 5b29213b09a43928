"""numba.experimental.structref: objects with fields, of a type of the user's, that compiled code and Python share.

A type is a class of types (of types.StructRef) with the types of its fields. For each such type there is a class of Python (`_class_of`),
of which Python's objects are: it derives from the proxy that define_proxy() names. The compiler reads the fields of that class, as
of a @jitclass; everything else of a type is an overload."""
from .. import _quern, types
from .._unbuilt import Unbuilt


class StructRefProxy(_quern.Shared):
    """Base of classes whose objects stand for values of compiled code."""
    __slots__ = ()

    def __new__(cls, *args):
        """A new object, made in compiled code."""
        make = cls.__dict__.get("_make")
        if make is None:
            if "_is_proxy" not in cls.__dict__:
                raise TypeError(f"'{cls.__name__}' stands for no type of structrefs yet: define_proxy() makes it")
            from ..decorators import njit
            make = cls._make = njit(_maker(cls))
        return make(*args)

    @property
    def _numba_type_(self):
        return type(self).class_type.instance_type

    _type = _numba_type_

    def __reduce__(self):
        raise TypeError(f"cannot pickle '{type(self).__name__}' object: it is a structref")


def _maker(cls):
    def make(*args):
        return cls(*args)
    make.__name__ = make.__qualname__ = cls.__name__
    return make


class _Struct:
    """What fields_of() and the reader of types ask of a class of Python: as types.ClassType."""

    def __init__(self, struct_type):
        self.instance_type = struct_type
        self.struct = struct_type.field_dict


def _class_of(struct_type):
    """The class of Python for a type. It is made when the compiler first asks: before its fields are, where these name it."""
    of = type(struct_type)
    if "_classes" not in of.__dict__:
        of._classes = {}
    found = of._classes.get(struct_type.key)
    if found is None:
        proxy = of.__dict__.get("_proxy", StructRefProxy)
        qualname = (of if proxy is StructRefProxy else proxy).__qualname__
        names = {"__slots__": (), "__module__": proxy.__module__, "__qualname__": qualname, "__doc__": proxy.__doc__}
        found = of._classes[struct_type.key] = type(proxy)(qualname.rpartition(".")[2], (proxy,), names)
    if struct_type._fields is not None and "class_type" not in found.__dict__:
        found.class_type = _Struct(struct_type)
        for name, _ in struct_type._fields:
            if not hasattr(found, name):
                setattr(found, name, _quern.Field(name))
    return found


def name_of(struct_type):
    """The type in the compiler's words."""
    return f"instance[{_quern.instance_number(_class_of(struct_type))}]"


def _is_struct_class(struct_type):
    return isinstance(struct_type, type) and issubclass(struct_type, types.StructRef)


def register(struct_type):
    """Declares a subclass of types.StructRef."""
    if struct_type is types.StructRef:
        raise ValueError(f"cannot register {types.StructRef}")
    if not _is_struct_class(struct_type):
        raise TypeError(f"a subclass of types.StructRef is expected, not {struct_type!r}")
    return struct_type


def define_proxy(py_class, struct_typeclass, fields):
    """Python's objects for values of the type are of `py_class`, and calling it, also in compiled code, makes one of a value for each field."""
    define_constructor(py_class, struct_typeclass, fields)
    define_boxing(struct_typeclass, py_class)


def define_constructor(py_class, struct_typeclass, fields):
    """Calling `py_class` makes a value: the type has the types of the arguments."""
    from ..extending import overload
    fields = list(fields)
    for name in fields:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"fields are names, not {name!r}")
    params = ", ".join(fields)
    stores = "".join(f"        made_.{name} = {name}\n" for name in fields)
    source = (f"def {py_class.__name__}({params}):\n    type_ = cls_([{', '.join(f'({name!r}, {name})' for name in fields)}])\n"
              f"    def make({params}):\n        made_ = new_(type_)\n{stores}        return made_\n    return make\n")
    namespace = {"cls_": struct_typeclass, "new_": new, "__name__": __name__}
    exec(compile(source, f"<{struct_typeclass.__name__}>", "exec"), namespace)
    overload(py_class)(namespace[py_class.__name__])


def define_attributes(struct_typeclass):
    """Fields are attributes anyway."""
    register(struct_typeclass)


def define_boxing(struct_type, obj_class):
    """Python's objects for values of the type are of this class."""
    register(struct_type)
    if not isinstance(obj_class, type) or not issubclass(obj_class, StructRefProxy):
        raise TypeError(f"a subclass of StructRefProxy is expected, not {obj_class!r}")
    struct_type._proxy, struct_type._classes = obj_class, {}  # these types are others from now on
    if obj_class is not StructRefProxy:
        obj_class._is_proxy = True


class _New(Unbuilt):
    __slots__ = ()

    def __call__(self, struct_type):
        raise TypeError("structref.new() is for compiled code: the proxy of a type makes its values elsewhere")


new = _New("structref.new")  # compiled code knows it


def structref_is(a, b):
    """Are they one object?"""
    return a is b
