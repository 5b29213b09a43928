"""Found first in processes that a program under `python -m quern run --as-numba` starts: puts quern in the place of numba.

Where this interpreter has no quern, it steps aside for an installed Numba."""
import os
import sys

_folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != _folder]
del sys.modules["numba"]
try:
    import quern.as_numba as _as_numba
    _as_numba.install()
except ImportError:
    pass
import numba  # noqa: E402,F401
