"""Options that are accepted for programs written for Numba and have no effect yet: each says so once in a process.

An option that works gets no row; the row goes with the change that makes it work."""
import sys
import warnings

# option: (whether a value asks for something, what happens instead)
_ROWS = {
    "inline": (lambda value: value != "never", "the optimiser decides what is inlined"),
    "forceinline": (bool, "the optimiser decides what is inlined"),
    "looplift": (bool, "a function is compiled as a whole or not at all"),
    "pipeline_class": (lambda value: value is not None, "there is one compiler"),
    "no_rewrites": (bool, "there are no rewrites to leave out"),
    "no_cpython_wrapper": (bool, "every function can be called from Python"),
    "no_cfunc_wrapper": (bool, "every function can be called from Python"),
    "writable_args": (bool, "arrays are written in place anyway"),
    "lto": (bool, "device functions are compiled into each kernel anyway"),
    "shared_memory_carveout": (lambda value: value is not None, "the driver decides"),
}
_said = set()


def _level():
    """The stacklevel of the nearest frame outside of this package."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "quern":
        level, frame = level + 1, frame.f_back
    return level


def warn(text, category):
    """A warning at the line of the program that led here."""
    warnings.warn(text, category, stacklevel=_level())


def say(option, what):
    """Warn of one option, unless that has happened."""
    if option in _said:
        return
    from .errors import IdleOptionWarning
    warnings.warn(f"{what} has no effect yet: {_ROWS[option][1]}", IdleOptionWarning, stacklevel=_level())
    _said.add(option)  # not where a filter made it an exception


def check(name, options):
    """Warn of what is asked for in vain among the options of the decorator `name`."""
    for option, value in options.items():
        row = _ROWS.get(option)
        if row and row[0](value):
            say(option, f"the option {option}={value!r} of {name}()")
