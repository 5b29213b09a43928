from typing import Any, Optional

from ..cuda import *
from ._code_object import CodeObject as CodeObject

wavesize: int
lds: Any

def hip_error() -> Optional[str]: ...
def compile(pyfunc: Any, sig: Any, *, arch: str, debug: Optional[bool] = ..., opt: Any = ..., fastmath: Any = ..., fma: bool = ...,
            launch_bounds: Any = ..., max_registers: Optional[int] = ..., boundscheck: Optional[bool] = ...,
            weak_numbers: Optional[bool] = ..., keep_text: bool = ..., cache: Optional[bool] = ...) -> CodeObject: ...
