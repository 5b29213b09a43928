"""Quern: a just-in-time compiler for numeric Python on CPUs and GPUs.

The names, signatures and options are Numba's. What the decorators return is made in C (quern._quern)."""
import atexit as _atexit
import sys as _sys

from . import _quern
from . import config
from .decorators import jit, njit, prange, vectorize

_atexit.register(_quern._leave)

__version__ = "0.1.0"


def get_num_threads():
    """Threads that parallel code of this thread may use."""
    return _quern.threads()[0]


def set_num_threads(n):
    """Let parallel code of this thread use `n` threads, 1 to QUERN_NUM_THREADS."""
    if n < 1:
        raise ValueError("the number of threads must be at least 1")
    _quern.threads(n)


get_num_threads._quern_name = "quern.get_num_threads"
set_num_threads._quern_name = "quern.set_num_threads"

# `import quern` stays fast: everything else is imported when first asked for
_MODULES = frozenset("as_numba core cuda errors experimental extending hip library np typed types".split())
_MORE = frozenset("""carray cfunc farray from_dtype gdb gdb_breakpoint gdb_init get_parallel_chunksize get_thread_id guvectorize
    jit_module literal_unroll literally objmode parallel_chunksize pndindex set_parallel_chunksize stencil test
    threading_layer version_info""".split())
_PUBLIC = ("jit njit vectorize prange cuda types errors config typeof get_num_threads set_num_threads guvectorize cfunc stencil "
           "jit_module objmode literally literal_unroll gdb gdb_init gdb_breakpoint from_dtype carray farray experimental "
           "extending typed threading_layer get_thread_id set_parallel_chunksize get_parallel_chunksize "
           "parallel_chunksize").split()


def __getattr__(name):
    if name in _MODULES:
        import importlib
        try:
            return importlib.import_module("quern." + name)
        except ModuleNotFoundError as error:
            if error.name != "quern." + name:
                raise
    elif name in _MORE:
        from ._more import __dict__ as more
        value = globals()[name] = more[name]
        return value
    elif name == "__all__":
        from . import types
        return _PUBLIC + types.__all__
    elif not name.startswith("_"):
        from . import errors, types
        for module in (types, errors):
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'quern' has no attribute '{name}'")


def __dir__():
    from . import types
    return sorted({*globals(), *_PUBLIC, *types.__all__})


class _Inner:
    """Finds quern.core and the other inner modules that programs import from Numba: see _inner.py."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("quern."):
            return None
        from ._inner import find_spec
        return find_spec(name)


_sys.meta_path.append(_Inner)
