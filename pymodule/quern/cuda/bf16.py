"""The type bfloat16 and its functions: what numba.cuda has under this name."""
from .. import _names
from ..library import bfloats as _library
from ..types import bfloat16  # noqa: F401

for _full in _library.FUNCTIONS:
    globals()[_full.rpartition(".")[2]] = _names.Intrinsic(_full)
del _full
