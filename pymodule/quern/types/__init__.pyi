from typing import Any, Optional, Sequence, Union, overload

import numpy as np

class Type:
    name: str
    def __init__(self, name: str) -> None: ...
    @overload
    def __call__(self, *args: Type) -> Signature: ...
    @overload
    def __call__(self, value: Any) -> Any: ...
    def __getitem__(self, key: Union[slice, tuple[slice, ...]]) -> Type: ...
    @property
    def dtype(self) -> Type: ...
    @property
    def as_dtype(self) -> np.dtype[Any]: ...

class Signature:
    return_type: Optional[Type]
    args: tuple[Type, ...]
    def __init__(self, return_type: Optional[Type], args: Sequence[Type]) -> None: ...
    @property
    def text(self) -> str: ...

def Array(dtype: Type, ndim: int, layout: str, readonly: bool = ..., aligned: bool = ...) -> Type: ...
def Tuple(items: Sequence[Type]) -> Type: ...
def UniTuple(dtype: Type, count: int) -> Type: ...
def from_dtype(dtype: Any) -> Type: ...
def from_text(name: str) -> Type: ...
def typeof(value: Any) -> Type: ...

boolean: Type
bool_: Type
b1: Type
int8: Type
i1: Type
char: Type
int16: Type
i2: Type
short: Type
int32: Type
i4: Type
intc: Type
int64: Type
i8: Type
intp: Type
int_: Type
long_: Type
longlong: Type
ssize_t: Type
uint8: Type
u1: Type
byte: Type
uchar: Type
uint16: Type
u2: Type
ushort: Type
uint32: Type
u4: Type
uintc: Type
uint64: Type
u8: Type
uintp: Type
uint: Type
ulong: Type
ulonglong: Type
size_t: Type
float16: Type
f2: Type
half: Type
float32: Type
f4: Type
float_: Type
float64: Type
f8: Type
double: Type
complex64: Type
c8: Type
complex128: Type
c16: Type
complex_: Type
void: Type
none: Type
