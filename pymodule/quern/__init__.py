"""Quern: a just-in-time compiler for numeric Python on CPUs and GPUs.

The names, signatures and options are Numba's. What the decorators return is made in C (quern._quern)."""
from . import _quern
from . import config, errors, types
from .decorators import jit, njit, prange, vectorize
from .types import *  # noqa: F401,F403  (int32, float64, void ...)
from .types import typeof

__version__ = "0.1.0"


def get_num_threads():
    """Threads that parallel code of this thread may use."""
    return _quern.threads()[0]


def set_num_threads(n):
    """Let parallel code of this thread use `n` threads, 1 to QUERN_NUM_THREADS."""
    if n < 1:
        raise ValueError("the number of threads must be at least 1")
    _quern.threads(n)


def __getattr__(name):
    # `import quern` stays fast: device programming is imported when first asked for
    if name in ("cuda", "hip", "library", "extending"):
        import importlib
        try:
            return importlib.import_module("quern." + name)
        except ModuleNotFoundError as error:
            if error.name != "quern." + name:
                raise
    raise AttributeError(f"module 'quern' has no attribute '{name}'")


def __dir__():
    return sorted(set(globals()) | {"cuda"})


__all__ = ["jit", "njit", "vectorize", "prange", "cuda", "types", "typeof", "errors", "config",
           "get_num_threads", "set_num_threads"] + types.__all__
