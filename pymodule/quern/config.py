"""Settings, read from the environment when quern is imported. They are attributes that programs may change while they run;
decorators look at them when they are applied.

QUERN_<NAME> sets one; under --as-numba NUMBA_<NAME> does, too. The names are Numba's, but for AS_NUMBA. Settings of
Numba's compiler that have no counterpart here are there to be read and written, and change nothing."""
import os as _os
import sys as _sys


def _flag(text):
    return text not in ("0", "no", "false", "off")


def _number(text):
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"must be a number, not {text!r}") from None


class _OptLevel(int):
    """Numba's class of OPT: a number, or "max"."""

    def __new__(cls, value, *rest):
        return super().__new__(cls, 3 if value == "max" else value)

    is_opt_max = property(lambda self: self >= 3)


def _words(text):
    return text.split()


def _list(text):
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _version(text):
    major, minor = text.split(".")
    return int(major), int(minor)


def _cpus():
    return len(_os.sched_getaffinity(0)) if hasattr(_os, "sched_getaffinity") else _os.cpu_count() or 1


# name: how its text is read, default
_SETTINGS = {
    "DISABLE_JIT": (_flag, False),
    "BOUNDSCHECK": (_flag, None),  # None: as the decorator says
    "OPT": (_number, 3),
    "DEBUGINFO": (_flag, False),
    "AS_NUMBA": (_flag, False),  # strong numbers, and no fallback of @jit
    "DISABLE_PERFORMANCE_WARNINGS": (_flag, False),
    "NUM_THREADS": (_number, None),  # also seen as NUMBA_NUM_THREADS
    "CACHE_DIR": (str, ""),
    "ENABLE_CUDASIM": (_flag, False),
    "SANITIZE": (_list, ()),  # bounds, race, uninit, barrier: what kernels are watched for
    "DISABLE_CUDA": (_flag, False),
    # read and written by programs; without a meaning here
    "THREADING_LAYER": (str, "default"), "THREADING_LAYER_PRIORITY": (_words, ["tbb", "omp", "workqueue"]),
    "CACHE_LOCATOR_CLASSES": (str, ""), "FUNCTION_CACHE_SIZE": (_number, 128), "DEVELOPER_MODE": (_flag, False),
    "FULL_TRACEBACKS": (_flag, False), "SHOW_HELP": (_flag, False), "COLOR_SCHEME": (str, "no_color"),
    "CAPTURED_ERRORS": (str, "new_style"), "DEBUG": (_flag, False), "DEBUG_JIT": (_flag, False),
    "DEBUG_FRONTEND": (_flag, False), "DEBUG_TYPEINFER": (_flag, False), "DEBUG_NRT": (_flag, False),
    "DEBUG_CACHE": (_flag, False), "DEBUG_ARRAY_OPT": (_number, 0), "DEBUG_ARRAY_OPT_STATS": (_flag, False),
    "NRT_STATS": (_flag, False), "PARALLEL_DIAGNOSTICS": (_number, 0), "DUMP_BYTECODE": (_flag, False),
    "DUMP_CFG": (_flag, False), "DUMP_IR": (_flag, False), "DUMP_SSA": (_flag, False), "DUMP_LLVM": (_flag, False),
    "DUMP_OPTIMIZED": (_flag, False), "DUMP_ASSEMBLY": (_flag, False), "ANNOTATE": (_flag, False), "HTML": (str, None),
    "TRACE": (_flag, False), "LOOP_VECTORIZE": (_flag, True), "SLP_VECTORIZE": (_flag, False),
    "ENABLE_AVX": (_flag, True), "CPU_NAME": (str, None), "CPU_FEATURES": (str, None),
    "DISABLE_INTEL_SVML": (_flag, True), "USING_SVML": (_flag, False), "WARNINGS": (_flag, False),
    "ALWAYS_WARN_UNINIT_VAR": (_flag, False), "ENABLE_PROFILING": (_flag, False), "JIT_COVERAGE": (_flag, False),
    # warnings of launches, which Numba gives unless told not to; here they are given when asked for
    "CUDA_WARN_ON_IMPLICIT_COPY": (_flag, False), "CUDA_LOW_OCCUPANCY_WARNINGS": (_flag, False),
    "CUDA_PER_THREAD_DEFAULT_STREAM": (_flag, False), "CUDA_LOG_LEVEL": (str, ""), "CUDA_DEFAULT_PTX_CC": (_version, (5, 0)),
    "FORCE_CUDA_CC": (_version, None), "CUDA_ARRAY_INTERFACE_SYNC": (_flag, True), "CUDA_USE_NVIDIA_BINDING": (_flag, False),
    "CUDA_ENABLE_NRT": (_flag, False), "CUDA_ENABLE_PYNVJITLINK": (_flag, False),
    "CUDA_ENABLE_MINOR_VERSION_COMPATIBILITY": (_flag, False), "CUDA_MEMORY_MANAGER": (str, "default"),
    "CUDA_NVRTC_EXTRA_SEARCH_PATHS": (str, ""),  # folders of #include, of linked CUDA C
    "CUDA_DEBUGINFO_DEFAULT": (_flag, False), "CUDA_SIMULATOR": (_flag, False), "GDB_BINARY": (str, "gdb"),
}

MACHINE_BITS = 64
IS_32BITS = IS_WIN32 = IS_OSX = False
PYVERSION = _sys.version_info[:2]


def _read(name, parse, default, prefixes):
    for prefix in prefixes:
        text = _os.environ.get(prefix + name, "")
        if text:
            try:
                return parse(text)
            except ValueError as error:
                raise ValueError(f"{prefix}{name} {error}") from None
    return default


def _load(as_numba):
    """Reads everything from the environment."""
    prefixes = ("QUERN_", "NUMBA_") if as_numba else ("QUERN_",)
    for name, (parse, default) in _SETTINGS.items():
        if name != "NUM_THREADS":
            globals()[name] = _read(name, parse, default, prefixes)
    globals()["AS_NUMBA"] = as_numba
    from . import _quern
    _quern.take_subclasses(as_numba)
    globals()["NUMBA_DEFAULT_NUM_THREADS"] = _cpus()
    threads = _read("NUM_THREADS", _number, None, prefixes)
    globals()["NUMBA_NUM_THREADS"] = threads or _cpus()
    if as_numba and threads:
        _os.environ["QUERN_NUM_THREADS"] = str(threads)
    globals()["DEBUGINFO_DEFAULT"] = globals()["DEBUGINFO"]


def reload_config():
    """Reads the environment again."""
    _load(AS_NUMBA)  # noqa: F821
    tell_launches()


def tell_launches():
    """Launches look at their own copy of these settings, and so does the search for devices."""
    from . import _quern
    _quern.warn_launches(bool(CUDA_WARN_ON_IMPLICIT_COPY), bool(CUDA_LOW_OCCUPANCY_WARNINGS))  # noqa: F821
    why = "CUDA is disabled due to setting NUMBA_DISABLE_CUDA=1 or QUERN_DISABLE_CUDA=1"
    _quern.disable_device("cuda", why if DISABLE_CUDA else None)  # noqa: F821


class _Config(type(_os)):

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name == "NUMBA_NUM_THREADS":  # counts until the threads are started
            _os.environ["QUERN_NUM_THREADS"] = str(value)
        elif name in ("CUDA_WARN_ON_IMPLICIT_COPY", "CUDA_LOW_OCCUPANCY_WARNINGS", "DISABLE_CUDA"):
            tell_launches()


_sys.modules[__name__].__class__ = _Config
_load(_flag(_os.environ.get("QUERN_AS_NUMBA") or "0"))
