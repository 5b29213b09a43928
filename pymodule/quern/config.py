"""Settings, read from the environment when quern is imported. They may be changed while a program runs;
decorators look at them when they are applied."""
import os


def _flag(name, default=False):
    text = os.environ.get("QUERN_" + name, "")
    return default if text == "" else text not in ("0", "no", "false", "off")


def _number(name, default):
    text = os.environ.get("QUERN_" + name, "")
    try:
        return int(text) if text else default
    except ValueError:
        raise ValueError(f"QUERN_{name} must be a number, not {text!r}") from None


DISABLE_JIT = _flag("DISABLE_JIT")
BOUNDSCHECK = _flag("BOUNDSCHECK", None)  # None: as the decorator says
OPT = _number("OPT", 3)
DEBUGINFO = _flag("DEBUGINFO")
AS_NUMBA = _flag("AS_NUMBA")  # strong numbers, and no fallback of @jit
DISABLE_PERFORMANCE_WARNINGS = _flag("DISABLE_PERFORMANCE_WARNINGS")
