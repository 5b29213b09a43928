"""Writes the names that Numba's inner modules have: pymodule/quern/_inner_names.py, by which quern/_inner.py answers
`from numba.core.cgutils import ...`.

Run by an interpreter that has Numba: python tests/tools/read_numba_names.py > pymodule/quern/_inner_names.py"""
import importlib
import pkgutil
import textwrap
import types
import warnings

import numba

SKIPPED = ("numba.tests", "numba.testing", "numba.pycc", "numba.scripts", "numba.cloudpickle", "numba.cext",
           "numba.runtests", "numba.__main__", "numba._", "numba.cuda.tests", "numba.cuda.testing", "numba.cuda.simulator",
           "numba.core.types", "numba.types", "numba.misc.help", "numba.misc.dump_style", "numba.misc.gdb_print_extension",
           "numba.misc.POST", "numba.misc.appdirs", "numba.core.rewrites", "numba.core.runtime.tests")


def modules():
    """(name, module) of every module that can be imported here."""
    for info in pkgutil.walk_packages(numba.__path__, "numba.", onerror=lambda name: None):
        if info.name.startswith(SKIPPED):
            continue
        try:
            yield info.name, importlib.import_module(info.name)
        except Exception:  # a threading layer or a library that is not installed
            continue


def is_own(module, name, value):
    """Made there; a package may also pass on what its modules made."""
    if isinstance(value, types.ModuleType) or name.startswith("__") or not name.isascii():
        return False
    home = getattr(value, "__module__", None)
    if not isinstance(home, str):  # a number, a table, an object
        return not name.startswith("_") or type(value).__module__ == module.__name__
    package = hasattr(module, "__path__") and not name.startswith("_") and home.startswith(module.__name__ + ".")
    return home == module.__name__ or package


def main():
    warnings.simplefilter("ignore")
    print(f'"""The names of the inner modules of Numba {numba.__version__}; a / stands behind packages.')
    print()
    print('Written by tests/tools/read_numba_names.py."""')
    print('NAMES = """')
    for name, module in sorted(modules()):
        if name.endswith(("impl", "decl", "drvapi", ".enums")):  # thousands of names that nobody imports
            names = []
        else:
            names = [n for n in sorted(vars(module)) if is_own(module, n, vars(module)[n])]
        text = f"{name.removeprefix('numba.')}{'/' if hasattr(module, '__path__') else ''}: {' '.join(names)}"
        print("\n    ".join(textwrap.wrap(text, 116)).rstrip())
    print('"""')


if __name__ == "__main__":
    main()
