"""numba.experimental.structref. Not built: types can be declared, proxies cannot be made."""
from .._unbuilt import Unbuilt, refuse


class StructRefProxy:
    """Base of classes whose instances are made in compiled code."""
    __slots__ = ()

    def __new__(cls, *args, **kwargs):
        refuse("structref", f"no instance of '{cls.__name__}' can be made")


def register(struct_type):
    """Declares a subclass of types.StructRef."""
    from .. import types
    if struct_type is types.StructRef:
        raise ValueError(f"cannot register {types.StructRef}")
    return struct_type


def define_proxy(py_class, struct_typeclass, fields):
    """Declares the class that stands for values of the type."""


def define_constructor(py_class, struct_typeclass, fields):
    pass


def define_attributes(struct_typeclass):
    pass


def define_boxing(struct_type, obj_class):
    pass


new = Unbuilt("experimental.structref.new")
structref_is = Unbuilt("experimental.structref.structref_is")
