from typing import Any, Iterable, Iterator, Optional as _Optional, overload

import numpy as np

class Type:
    name: str
    mutable: bool
    reflected: bool
    def __init__(self, name: str) -> None: ...
    @property
    def key(self) -> Any: ...
    @overload
    def __call__(self, *args: Type) -> Signature: ...
    @overload
    def __call__(self, value: Any) -> Any: ...
    def __getitem__(self, axes: Any) -> Any: ...
    def cast_python_value(self, value: Any) -> Any: ...
    @property
    def as_dtype(self) -> np.dtype[Any]: ...
    @property
    def is_internal(self) -> bool: ...
    def is_precise(self) -> bool: ...

class Signature:
    return_type: _Optional[Type]
    args: tuple[Type, ...]
    recvr: _Optional[Type]
    pysig: Any
    def __init__(self, return_type: _Optional[Type], args: Iterable[Type], recvr: _Optional[Type] = ...,
                 pysig: Any = ...) -> None: ...
    @property
    def text(self) -> str: ...
    @property
    def is_method(self) -> bool: ...
    def replace(self, **changes: Any) -> Signature: ...
    def as_method(self) -> Signature: ...
    def as_function(self) -> Signature: ...
    def as_type(self) -> Type: ...

def signature(return_type: _Optional[Type], *args: Type, recvr: _Optional[Type] = ...) -> Signature: ...

class Dummy(Type): ...
class Opaque(Dummy): ...
class Hashable(Type): ...
class Callable(Type): ...
class IterableType(Type): ...
class Sized(Type): ...
class ConstSized(Sized): ...
class Container(Sized, IterableType): ...
class Sequence(Container): ...
class MutableSequence(Sequence): ...
class ArrayCompatible(Type): ...
class NoneType(Opaque): ...
class Number(Hashable): ...
class Boolean(Hashable): ...

class Integer(Number):
    bitwidth: int
    signed: bool
    minval: int
    maxval: int
    def __init__(self, name: str, bitwidth: _Optional[int] = ..., signed: _Optional[bool] = ...) -> None: ...
    @classmethod
    def from_bitwidth(cls, bitwidth: int, signed: bool = ...) -> Integer: ...

class Float(Number):
    bitwidth: int

class Complex(Number):
    bitwidth: int
    underlying_float: Float
    def __init__(self, name: str, underlying_float: Float) -> None: ...

class Buffer(IterableType, ArrayCompatible):
    dtype: Type
    ndim: int
    layout: str
    aligned: bool
    is_contig: bool
    is_c_contig: bool
    is_f_contig: bool

class Array(Buffer):
    def __init__(self, dtype: Type, ndim: int, layout: str, readonly: bool = ..., name: _Optional[str] = ...,
                 aligned: bool = ...) -> None: ...
    def copy(self, dtype: _Optional[Type] = ..., ndim: _Optional[int] = ..., layout: _Optional[str] = ...,
             readonly: _Optional[bool] = ...) -> Array: ...

class BaseTuple(ConstSized, Hashable):
    types: tuple[Type, ...]
    count: int
    @classmethod
    def from_types(cls, types: Iterable[Type], pyclass: _Optional[type] = ...) -> BaseTuple: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Type]: ...

class BaseAnonymousTuple(BaseTuple): ...
class BaseNamedTuple(BaseTuple):
    fields: tuple[str, ...]
    instance_class: type

class UniTuple(BaseAnonymousTuple, Sequence):
    dtype: Type
    def __init__(self, dtype: Type, count: int) -> None: ...

class Tuple(BaseAnonymousTuple):
    def __init__(self, types: Iterable[Type]) -> None: ...

class NamedUniTuple(BaseNamedTuple, Sequence):
    dtype: Type
    def __init__(self, dtype: Type, count: int, cls: type) -> None: ...

class NamedTuple(BaseNamedTuple):
    def __init__(self, types: Iterable[Type], cls: type) -> None: ...

class Optional(Type):
    type: Type
    def __init__(self, typ: Type) -> None: ...

class Literal(Type):
    literal_value: Any
    literal_type: Type

class IntegerLiteral(Literal, Integer): ...
class BooleanLiteral(Literal, Boolean): ...
class StringLiteral(Literal, Dummy): ...

def literal(value: Any) -> Literal: ...
def maybe_literal(value: Any) -> _Optional[Literal]: ...
def unliteral(t: Type) -> Type: ...
def from_dtype(dtype: Any) -> Type: ...
def from_text(text: str) -> Type: ...
def typeof(value: Any, purpose: Any = ...) -> Type: ...
def __getattr__(name: str) -> Any: ...  # the types of values that cannot be compiled yet: ListType, DictType, Record ...

signed_domain: frozenset[Type]
unsigned_domain: frozenset[Type]
integer_domain: frozenset[Type]
real_domain: frozenset[Type]
complex_domain: frozenset[Type]
number_domain: frozenset[Type]
boolean: Boolean
bool_: Boolean
b1: Boolean
int8: Integer
i1: Integer
char: Integer
int16: Integer
i2: Integer
short: Integer
int32: Integer
i4: Integer
intc: Integer
int64: Integer
i8: Integer
intp: Integer
int_: Integer
long_: Integer
longlong: Integer
ssize_t: Integer
uint8: Integer
u1: Integer
byte: Integer
uchar: Integer
uint16: Integer
u2: Integer
ushort: Integer
uint32: Integer
u4: Integer
uintc: Integer
uint64: Integer
u8: Integer
uintp: Integer
uint: Integer
ulong: Integer
ulonglong: Integer
size_t: Integer
float16: Float
f2: Float
half: Float
float32: Float
f4: Float
float_: Float
float64: Float
f8: Float
double: Float
complex64: Complex
c8: Complex
complex128: Complex
c16: Complex
complex_: Complex
void: NoneType
none: NoneType
