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


def _why_no_value(cls, params):
    """What keeps instances of a dataclass from being values, or None."""
    names = [f.name for f in dataclasses.fields(cls)]
    if not params.frozen:
        return "that is not frozen"
    if not params.eq:
        return "with eq=False"
    if not names:
        return "without fields"
    for f in dataclasses.fields(cls):
        if not f.compare or f.hash is False:  # equal and hashed by some of its fields
            return f"whose field {f.name} has {'hash' if f.compare else 'compare'}=False"
    if cls.__getattribute__ is not object.__getattribute__:
        return "with a __getattribute__ of its own"
    for name in names:
        if not _is_stored(cls, name):
            return f"whose field {name} is a descriptor"
    return None


def _look_at(cls):
    params = cls.__dict__.get("__dataclass_params__")
    if params is None or _why_no_value(cls, params):
        return None
    return tuple(f.name for f in dataclasses.fields(cls))


def fields_of(cls):
    """The names of the fields of a frozen dataclass; None: it is another class."""
    if cls not in _fields:
        _fields[cls] = _look_at(cls)
    return _fields[cls]


def _why_not_made(cls):
    """What keeps compiled code from making instances of a frozen dataclass: more than the __init__ of the decorator; or None."""
    init = getattr(cls.__init__, "__code__", None)
    if not isinstance(inspect.getattr_static(cls, "__post_init__", _why_not_made), types.FunctionType):
        return "whose __post_init__ is no plain function"
    if any(f._field_type is dataclasses._FIELD_INITVAR for f in cls.__dataclass_fields__.values()):
        return "with an InitVar"
    if "__new__" in cls.__dict__:
        return "with a __new__"
    if init is None or init.co_filename != "<string>":
        return "with an __init__ of its own"
    for f in dataclasses.fields(cls):
        if not f.init:
            return f"whose field {f.name} has init=False"
        if f.default_factory is not dataclasses.MISSING:
            return f"whose field {f.name} has a default_factory"
    return None


def defaults_of(cls):
    """The defaults of the fields, where instances are made by nothing but the __init__ of the decorator; None: by something else."""
    if _why_not_made(cls):
        return None
    return {f.name: f.default for f in dataclasses.fields(cls) if f.default is not dataclasses.MISSING}


def keywords_of(cls):
    """The fields that are given by name alone: the __init__ of the decorator has them behind the others."""
    return tuple(f.name for f in dataclasses.fields(cls) if f.kw_only)


def not_replaced(cls):
    """For messages: why dataclasses.replace() is more than other values in some fields and a __post_init__; "": it is not."""
    init = getattr(cls.__init__, "__code__", None)
    if "__new__" in cls.__dict__ or init is None or init.co_filename != "<string>":
        return _why_not_made(cls)
    return next((f"whose field {f.name} has init=False" for f in dataclasses.fields(cls) if not f.init), "")


def refused(cls):
    """For messages: why a class is no value to compiled code, or is not made by it; "": it is no dataclass."""
    params = cls.__dict__.get("__dataclass_params__")
    why = params and (_why_no_value(cls, params) or _why_not_made(cls))
    return f", a dataclass {why}" if why else ""


def make(cls, values):
    """An instance with these values, which compiled code has computed."""
    made = object.__new__(cls)
    for name, value in zip(fields_of(cls), values):
        object.__setattr__(made, name, value)
    return made
