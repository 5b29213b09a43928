"""@jitclass: the class is checked and declared; instances are not built."""
import types as python_types

from .. import config, types
from .._unbuilt import refuse


def _fields(cls, spec):
    """The fields of a class: those of the specification, then those that are annotated."""
    fields = dict(spec.items() if hasattr(spec, "items") else spec or ())
    for name, annotation in getattr(cls, "__annotations__", {}).items():
        if name not in fields:
            from ..extending import as_numba_type
            fields[name] = as_numba_type(annotation)
    for name, t in fields.items():
        if not isinstance(name, str):
            raise TypeError(f"spec keys should be strings, got {name!r}")
        if not isinstance(t, types.Type):
            raise TypeError(f"spec values should be Numba type instances, got {t!r}")
    return fields


def _declare(cls, spec):
    if config.DISABLE_JIT:
        return cls
    if not isinstance(cls, type):
        raise TypeError("class argument is not a class")
    fields = _fields(cls, spec)
    methods, properties, static = {}, {}, {}
    for name, value in vars(cls).items():
        if isinstance(value, python_types.FunctionType):
            methods[name] = value
        elif isinstance(value, property):
            properties[name] = value
        elif isinstance(value, staticmethod):
            static[name] = value.__func__
    if "__init__" not in methods:
        raise TypeError(f"the jitclass {cls.__name__} needs an __init__ of its own")

    def __new__(new, *args, **kwargs):
        refuse("jitclass", f"no instance of '{cls.__name__}' can be made")

    names = {"__new__": __new__, "__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__,
             "class_type": types.ClassType(cls, None, fields, methods, properties, static),
             "_numba_type_": property(lambda self: self.class_type.instance_type)}
    return type(cls.__name__, (cls,), names)


def jitclass(cls_or_spec, spec):
    if isinstance(cls_or_spec, type):
        return _declare(cls_or_spec, spec)
    if spec is not None and cls_or_spec is not None:
        raise TypeError("jitclass() takes a class and its fields, or its fields alone")
    return lambda cls: _declare(cls, cls_or_spec if cls_or_spec is not None else spec)
