"""typeof(): what the compiler says first; then, for values it cannot take, what Numba would say."""
import enum
import functools
import types as python_types
from collections import namedtuple

import numpy as np

from .. import _quern, config, errors, types
from ..numpy_support import from_dtype, map_layout


class Purpose(enum.Enum):
    """Why a type is asked for."""
    argument = 1
    constant = 2


_TypeofContext = namedtuple("_TypeofContext", ["purpose"])


def typeof(value, purpose=None):
    found = typeof_impl(value, _TypeofContext(purpose or Purpose.argument))
    if found is None:
        try:
            _quern.typeof(value)
        except TypeError as refusal:
            raise errors.NumbaValueError(f"cannot determine the type of {type(value)}: {refusal}") from None
        raise errors.NumbaValueError(f"cannot determine the type of {type(value)}")
    return found


def _of_compiler(value):
    """What the compiler takes the value for, or None."""
    try:
        t = types.from_text(_quern.typeof(value))
    except (TypeError, OverflowError):
        return None
    return types._known[t.name] if config.AS_NUMBA and t.name in types._numbers else t


@functools.singledispatch
def typeof_impl(val, c):
    """typeof_impl.register(cls) adds what values of a class of yours are; None: not known."""
    found = getattr(val, "_numba_type_", None)
    if found is None:
        found = _of_buffer(val)
    return found if found is not None else _of_compiler(val)


def _of_buffer(value):
    classes = {bytes: types.Bytes, bytearray: types.ByteArray, memoryview: types.MemoryView}
    cls = classes.get(type(value)) or (types.PyArray if type(value).__module__ == "array" else None)
    if cls is None:
        return None
    view = memoryview(value)
    layout = "C" if view.c_contiguous else "F" if view.f_contiguous else "A"
    return cls(from_dtype(np.asarray(view).dtype), view.ndim, layout, readonly=view.readonly)


def _register(*classes):
    def add(function):
        for cls in classes:
            typeof_impl.register(cls, function)
        return function
    return add


@_register(bool, float, complex, type(None), np.generic)
def _number(value, c):
    found = None if isinstance(value, np.void) else _of_compiler(value)
    if found is None and isinstance(value, np.generic):
        try:
            found = from_dtype(value.dtype)
        except errors.NumbaNotImplementedError:
            pass
    return found


@_register(int)
def _int(value, c):
    if -1 << 63 <= value < 1 << 64:
        return types.uint64 if value >> 63 > 0 else _of_compiler(value)
    raise errors.NumbaValueError(f"Int value is too large: {value}")


@_register(np.ndarray)
def _array(value, c):
    if isinstance(value, np.ma.MaskedArray):
        raise errors.NumbaTypeError("Unsupported array type: numpy.ma.MaskedArray.")
    try:
        dtype = from_dtype(value.dtype)
    except errors.NumbaNotImplementedError:
        raise errors.NumbaValueError(f"Unsupported array dtype: {value.dtype}") from None
    return types.Array(dtype, value.ndim, map_layout(value), readonly=not value.flags.writeable,
                       aligned=value.flags.aligned)


@_register(_quern.DeviceNDArray)
def _device_array(value, c):
    return types.Array(from_dtype(value.dtype), value.ndim, map_layout(value), readonly=not value.flags["WRITEABLE"])


@_register(tuple)
def _tuple(value, c):
    items = [typeof_impl(item, c) for item in value]
    return None if None in items else types.BaseTuple.from_types(items, type(value))


def _first(value, kind, c):
    if not value:
        raise errors.NumbaValueError(f"Cannot type empty {kind}")
    first = next(iter(value))
    found = typeof_impl(first, c)
    if found is None:
        raise errors.NumbaValueError(f"Cannot type {kind} element type {type(first)}")
    return found


@_register(list)
def _list(value, c):
    return types.List(_first(value, "list", c), reflected=True)


@_register(set)
def _set(value, c):
    return types.Set(_first(value, "set", c), reflected=True)


@_register(dict)
def _dict(value, c):
    """A plain dict can be passed to compiled code, but Numba has no type for it."""
    raise errors.NumbaValueError("Cannot determine the type of a dict")


@_register(str)
def _str(value, c):
    return types.unicode_type


@_register(slice)
def _slice(value, c):
    return types.slice2_type if value.step in (None, 1) else types.slice3_type


@_register(type(Ellipsis))
def _ellipsis(value, c):
    return types.ellipsis


@_register(python_types.CodeType)
def _code(value, c):
    return types.code_type


@_register(python_types.ModuleType)
def _module(value, c):
    return types.Module(value)


@_register(enum.Enum)
def _enum(value, c):
    return typeof_impl(type(value), c).member_type


@_register(enum.EnumMeta)
def _enum_class(cls, c):
    found = {typeof_impl(member.value, c) for member in cls}
    if len(found) != 1:
        raise errors.NumbaValueError("Cannot type enum with no members" if not found else
                                     f"Cannot type heterogeneous enum: got value types "
                                     f"{', '.join(sorted(map(str, found)))}")
    kind = types.IntEnumClass if issubclass(cls, enum.IntEnum) else types.EnumClass
    return kind(cls, found.pop())


@_register(type)
def _class(cls, c):
    if issubclass(cls, BaseException):
        return types.ExceptionClass(cls)
    if issubclass(cls, tuple) and hasattr(cls, "_asdict"):
        return types.NamedTupleClass(cls)
    if issubclass(cls, np.generic):
        return types.NumberClass(from_dtype(cls))
    if issubclass(cls, types.Type):
        return types.TypeRef(cls)
    return None


@_register(np.dtype)
def _dtype(value, c):
    return types.DType(from_dtype(value))


@_register(np.random.Generator)
def _generator(value, c):
    return types.npy_rng


@_register(np.random.BitGenerator)
def _bit_generator(value, c):
    return types.npy_bitgen


@_register(types.Type)
def _type(value, c):
    if isinstance(value, (types.Literal, types.TypeRef, types.NumberClass, types.BaseFunction)):
        return value
    return (types.NumberClass if isinstance(value, (types.Number, types.Boolean)) else types.TypeRef)(value)


@_register(_quern.Dispatcher)
def _dispatcher(value, c):
    return types.Dispatcher(value)
