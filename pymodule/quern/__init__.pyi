from typing import Any, Callable, Iterable, Optional, TypeVar, Union, overload

import numpy as np

from . import config as config, cuda as cuda, errors as errors, types as types
from ._quern import Dispatcher
from .types import *
from .types import Signature, Type, typeof as typeof

__version__: str

_F = TypeVar("_F", bound=Callable[..., Any])
_Sig = Union[str, Signature, tuple[Type, ...]]

@overload
def jit(signature_or_function: Callable[..., Any]) -> Dispatcher: ...
@overload
def jit(signature_or_function: Union[None, _Sig, list[_Sig]] = ..., *, nopython: Optional[bool] = ...,
        forceobj: bool = ..., nogil: bool = ..., fastmath: Union[bool, set[str]] = ..., error_model: str = ...,
        boundscheck: Optional[bool] = ..., debug: Optional[bool] = ..., weak_numbers: Optional[bool] = ...,
        parallel: bool = ..., cache: bool = ..., inline: str = ..., **options: Any
        ) -> Callable[[Callable[..., Any]], Dispatcher]: ...
@overload
def njit(signature_or_function: Callable[..., Any]) -> Dispatcher: ...
@overload
def njit(signature_or_function: Union[None, _Sig, list[_Sig]] = ..., *, nogil: bool = ...,
         fastmath: Union[bool, set[str]] = ..., error_model: str = ..., boundscheck: Optional[bool] = ...,
         debug: Optional[bool] = ..., weak_numbers: Optional[bool] = ..., parallel: bool = ..., cache: bool = ...,
         inline: str = ..., **options: Any) -> Callable[[Callable[..., Any]], Dispatcher]: ...
@overload
def vectorize(ftylist_or_function: Callable[..., Any]) -> np.ufunc: ...
@overload
def vectorize(ftylist_or_function: Union[_Sig, Iterable[_Sig]] = ..., target: str = ...,
              identity: Union[None, int, str] = ..., **options: Any) -> Callable[[Callable[..., Any]], np.ufunc]: ...

class prange(range): ...

def get_num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
