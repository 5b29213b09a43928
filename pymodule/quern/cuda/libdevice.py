"""CUDA's mathematics library by its names: what numba.cuda has under this name."""
from .. import _names
from ..library import libdevice as _library

for _full in _library.FUNCTIONS:
    globals()[_full.rpartition(".")[2]] = _names.Intrinsic(_full)
del _full
