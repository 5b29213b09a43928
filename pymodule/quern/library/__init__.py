"""Library functions that are written in the compiled subset itself.

Each module has a table FUNCTIONS from canonical names ("builtins.sum") to functions; `find` is asked by the compiler. A module is
imported when a name of its table is first asked for, so a table is written with its names: whole, or as f"random.{name}"."""
import importlib
import pkgutil

_functions = {}
_texts = {}  # of the modules that nobody has asked for, by name


def _read_texts():
    """At one step: another thread may be asking."""
    modules = [m.name for m in pkgutil.iter_modules(__path__)]
    _texts.update({module: pkgutil.get_data(__name__, module + ".py").decode() for module in modules})


def _spellings(name):
    """How a table may begin a row of this name."""
    parts = name.split(".")
    yield f'"{name}"'
    for n in range(1, len(parts)):
        yield 'f"' + ".".join(parts[:n]) + ".{"


def _ask(name):
    """Imports the modules that may have a function of this name."""
    if not _functions and not _texts:
        _read_texts()
    wanted = list(_spellings(name))
    for module in [module for module, text in list(_texts.items()) if any(map(text.__contains__, wanted))]:
        _functions.update(getattr(importlib.import_module(f"{__name__}.{module}"), "FUNCTIONS", {}))
        _texts.pop(module, None)
    return _functions.setdefault(name, None)


def find(name):
    """The function that implements a canonical name, or None."""
    return _functions[name] if name in _functions else _ask(name)
