"""Top-level names that few programs need; see quern.__getattr__. Those that are not built raise UnsupportedError when they
are used: not when they are imported, nor where a module decorates its functions with them."""
import contextlib
import sys
from collections import namedtuple

import numpy as np

from . import _quern
from ._guvectorize import GUVectorize, guvectorize  # noqa: F401
from ._unbuilt import Unbuilt, refuse
from ._stencil import StencilFunc, stencil  # noqa: F401
from .numpy_support import carray, farray, from_dtype  # noqa: F401

version_info = namedtuple("version_info", "major minor patch")(0, 1, 0)

# -- decorators --------------------------------------------------------------------------------------------------


def cfunc(sig, locals=None, cache=False, pipeline_class=None, **options):
    """A function that C code can call, compiled for the signature at once: float64(float64, CPointer(float64))."""
    from .decorators import is_signature
    if not is_signature(sig):
        raise TypeError(f"cfunc() needs a signature such as 'float64(float64)', not {sig!r}")
    from ._foreign import CFunc
    return lambda function: CFunc(getattr(function, "py_func", function), sig, {**options, "locals": locals, "cache": cache})


def jit_module(**options):
    """jit(**options) for every function that the calling module has defined so far."""
    import inspect
    from .decorators import jit
    frame = sys._getframe(1)
    module = inspect.getmodule(frame)
    for name, value in list(frame.f_globals.items()):
        if inspect.isfunction(value) and inspect.getmodule(value) is module:
            frame.f_globals[name] = jit(value, **options)


# -- in functions -------------------------------------------------------------------------------------------------


def literally(obj):
    """`obj`, of which compiled code is to know the value."""
    return obj


def literal_unroll(container):
    """`container`, whose items may have types of their own where a loop runs over it."""
    return container


literally._quern_name = "quern.literally"
literal_unroll._quern_name = "quern.literal_unroll"


class pndindex:
    """np.ndindex() whose iterations may run in parallel."""
    _quern_name = "numpy.ndindex"

    def __new__(cls, *shape):
        return np.ndindex(*shape)


class _ObjectMode:
    """`with objmode(y="float64"):` runs its block in the interpreter, from compiled code too: _objmode.py."""
    _quern_name = "objmode"

    def __call__(self, *args, **kwargs):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    def __repr__(self):
        return "<objmode>"


objmode = _ObjectMode()
gdb, gdb_init, gdb_breakpoint = Unbuilt("gdb"), Unbuilt("gdb_init"), Unbuilt("gdb_breakpoint")
test = Unbuilt("test")

# -- threads --------------------------------------------------------------------------------------------------------

def threading_layer():
    """The name of what runs parallel code: ours, whatever config.THREADING_LAYER says."""
    return "quern"


def get_thread_id():
    """The number of this thread among those of a parallel loop: 0, where there is none."""
    return _quern.thread_id()


def get_parallel_chunksize():
    """What set_parallel_chunksize() set in this thread; 0: as the scheduler likes."""
    return _quern.chunk_size()


def set_parallel_chunksize(n):
    """Iterations that a thread takes at a time. Returns what was set before."""
    if not isinstance(n, (int, np.integer)):
        raise TypeError("The parallel chunksize must be an integer")
    if n < 0:
        raise ValueError("chunksize must be greater than or equal to zero")
    return _quern.chunk_size(int(n))


for _function in (get_thread_id, get_parallel_chunksize, set_parallel_chunksize):  # in compiled code: rows of parallel.def
    _function._quern_name = "quern." + _function.__name__


@contextlib.contextmanager
def parallel_chunksize(n):
    """`with parallel_chunksize(4):` sets it for a block."""
    before = set_parallel_chunksize(n)
    try:
        yield before
    finally:
        set_parallel_chunksize(before)
