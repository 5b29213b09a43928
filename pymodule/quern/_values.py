"""Classes whose instances are values to compiled code: frozen dataclasses. Asked by pymodule/values.c."""
import dataclasses
import inspect
import types
import weakref

_fields = weakref.WeakKeyDictionary()


def _is_stored(cls, name):
    """Is the attribute of an instance what was stored there: no property or other descriptor of the user's?"""
    found = inspect.getattr_static(cls, name, None)
    return isinstance(found, types.MemberDescriptorType) or not hasattr(type(found), "__get__")


def _look_at(cls):
    params = cls.__dict__.get("__dataclass_params__")
    if params is None or not params.frozen or not params.eq or cls.__getattribute__ is not object.__getattribute__:
        return None
    if not all(f.compare and f.hash is not False for f in dataclasses.fields(cls)):
        return None  # equal and hashed by some of its fields
    names = tuple(f.name for f in dataclasses.fields(cls))
    return names if names and all(_is_stored(cls, name) for name in names) else None


def fields_of(cls):
    """The names of the fields of a frozen dataclass; None: it is another class."""
    if cls not in _fields:
        _fields[cls] = _look_at(cls)
    return _fields[cls]


def defaults_of(cls):
    """The defaults of the fields, where instances are made by nothing but the __init__ of the decorator; None: by something else."""
    init = getattr(cls.__init__, "__code__", None)
    fields = dataclasses.fields(cls)
    if init is None or init.co_filename != "<string>" or hasattr(cls, "__post_init__") or "__new__" in cls.__dict__:
        return None
    if any(not f.init or f.kw_only or f.default_factory is not dataclasses.MISSING for f in fields):
        return None
    return {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}


def make(cls, values):
    """An instance with these values, which compiled code has computed."""
    made = object.__new__(cls)
    for name, value in zip(fields_of(cls), values):
        object.__setattr__(made, name, value)
    return made
