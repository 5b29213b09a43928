"""Library functions that are written in the compiled subset itself.

Each module has a table FUNCTIONS from canonical names ("builtins.sum") to functions; `find` is asked by the compiler."""
import importlib
import pkgutil

_functions = {}


def find(name):
    """The function that implements a canonical name, or None."""
    if not _functions:
        found = {}
        for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
            found.update(getattr(importlib.import_module(f"{__name__}.{module}"), "FUNCTIONS", {}))
        _functions.update(found)
    return _functions.get(name)
