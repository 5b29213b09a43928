"""Between NumPy's dtypes and our types. The names are those of numba.np.numpy_support."""
import numpy as np

from . import types
from .errors import NumbaNotImplementedError

numpy_version = tuple(map(int, np.__version__.split(".")[:2]))


def bfloat16_dtype():
    """NumPy has no such dtype."""
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError("arrays and numbers of bfloat16 outside of kernels are those of the package ml_dtypes: python -m pip install "
                          "ml_dtypes. Without it, pass arrays of int16 and use cuda.bf16.int16_as_bfloat16") from None
    return np.dtype(ml_dtypes.bfloat16)


def from_dtype(dtype):
    """The type of a NumPy dtype. NumbaNotImplementedError (a TypeError) for a dtype that no type has."""
    dtype = np.dtype(dtype)
    if (dtype.kind in "biufc" or dtype.char == "E") and dtype.isnative and dtype.name in types._numbers:
        return types._known[dtype.name]
    if dtype.kind in "mM":
        unit, count = np.datetime_data(dtype)
        cls = types.NPDatetime if dtype.kind == "M" else types.NPTimedelta
        return cls("" if unit == "generic" else unit if count == 1 else f"{count}{unit}")
    if dtype.kind == "S" and dtype.itemsize:
        return types.CharSeq(dtype.itemsize)
    if dtype.kind == "U" and dtype.itemsize and dtype.isnative:
        return types.UnicodeCharSeq(dtype.itemsize // 4)
    if dtype.subdtype is not None:
        return types.NestedArray(from_dtype(dtype.subdtype[0]), dtype.subdtype[1])
    if dtype.kind == "V" and dtype.fields is not None:
        return from_struct_dtype(dtype)
    raise NumbaNotImplementedError(f"values of dtype {dtype} cannot be used in compiled code")


def from_struct_dtype(dtype):
    """The Record of a structured dtype."""
    if dtype.hasobject:
        raise NumbaNotImplementedError("unsupported dtype: contains object field")
    fields = []
    for name, field in dtype.fields.items():
        t, offset, title = (*field, None)[:3]
        fields.append((name, {"type": from_dtype(t), "offset": offset, "title": title}))
    return types.Record(fields, dtype.itemsize, dtype.isalignedstruct)


def as_dtype(t):
    """The NumPy dtype of a type. NumbaNotImplementedError (a TypeError) where there is none."""
    t = types.unliteral(t)
    if t is types.bfloat16:
        return bfloat16_dtype()
    if isinstance(t, (types.Integer, types.Float, types.Complex)):
        return np.dtype(t.name)
    if isinstance(t, types.Boolean):
        return np.dtype(np.bool_)
    if isinstance(t, (types.NPDatetime, types.NPTimedelta)):
        return np.dtype(f"{t.type_name}[{t.unit}]" if t.unit else t.type_name)
    if isinstance(t, types.CharSeq):
        return np.dtype(f"S{t.count}")
    if isinstance(t, types.UnicodeCharSeq):
        return np.dtype(f"U{t.count}")
    if isinstance(t, types.NestedArray):
        return np.dtype((as_dtype(t.dtype), t.shape))
    if isinstance(t, types.Array):
        return as_dtype(t.dtype)
    if isinstance(t, types.Record):
        return as_struct_dtype(t)
    if isinstance(t, types.EnumMember):
        return as_dtype(t.dtype)
    if isinstance(t, types.NumberClass):
        return as_dtype(t.dtype)
    if isinstance(t, types.TypeRef):
        return as_dtype(t.instance_type)
    raise NumbaNotImplementedError(f"{t} cannot be represented as a NumPy dtype")


def as_struct_dtype(record):
    """The structured dtype of a Record."""
    names = [n for n in record.fields if not record.is_title(n)]
    return np.dtype({"names": names, "formats": [as_dtype(record.typeof(n)) for n in names],
                     "offsets": [record.offset(n) for n in names], "itemsize": record.size,
                     "titles": [record.fields[n].title for n in names]}, align=record.aligned)


def map_layout(array):
    """'C', 'F' or 'A' of an array."""
    return "C" if array.flags["C_CONTIGUOUS"] else "F" if array.flags["F_CONTIGUOUS"] else "A"


def map_arrayscalar_type(value):
    """The type of a NumPy scalar."""
    return from_dtype(value.dtype if isinstance(value, np.generic) else np.dtype(type(value)))


def is_nonelike(t):
    return t is None or isinstance(t, types.NoneType) or (isinstance(t, types.Omitted) and t.value is None)


def type_can_asarray(t):
    """Does np.asarray() take values of this type?"""
    return isinstance(t, (types.Array, types.Sequence, types.Tuple, types.StringLiteral, types.Number, types.Boolean,
                          types.ListType))


def is_contiguous(dims, strides, itemsize):
    for n, step in zip(reversed(tuple(dims)), reversed(tuple(strides))):
        if step != itemsize:
            return False
        itemsize *= n
    return True


def is_fortran(dims, strides, itemsize):
    return is_contiguous(tuple(dims)[::-1], tuple(strides)[::-1], itemsize)


def strict_ufunc_typing():
    return True


def _pointer_array(pointer, shape, dtype, order):
    import ctypes
    if dtype is not None:
        dtype = as_dtype(dtype) if isinstance(dtype, types.Type) else np.dtype(dtype)
    if isinstance(pointer, ctypes.c_void_p):
        if dtype is None:
            raise TypeError("explicit dtype required for void* argument")
        address = pointer.value
    elif isinstance(pointer, ctypes._Pointer):
        element = np.dtype(pointer._type_)
        if dtype is not None and dtype != element:
            raise TypeError(f"mismatching dtype '{dtype}' for pointer {pointer!r}")
        dtype, address = element, ctypes.cast(pointer, ctypes.c_void_p).value
    else:
        raise TypeError(f"expected a ctypes pointer, got {pointer!r}")
    shape = shape if isinstance(shape, tuple) else (shape,)
    size = dtype.itemsize
    for n in shape:
        size *= n
    memory = (ctypes.c_byte * size).from_address(address)
    return np.ndarray(shape, dtype, buffer=memory, order=order)


def carray(ptr, shape, dtype=None):
    """An array in C order over the memory a ctypes pointer points to; it is not copied."""
    return _pointer_array(ptr, shape, dtype, "C")


def farray(ptr, shape, dtype=None):
    """An array in Fortran order over the memory a ctypes pointer points to; it is not copied."""
    return _pointer_array(ptr, shape, dtype, "F")


for _function in (carray, farray):  # in compiled code: rows of pointers.def
    _function._quern_name = "quern." + _function.__name__
