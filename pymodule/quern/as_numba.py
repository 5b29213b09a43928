"""Runs programs written for Numba: install() answers `import numba`, and gives numbers and options Numba's meaning.

python -m quern run --as-numba program.py does it before the program starts."""
import importlib
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

VERSION = "0.68.1"  # of the Numba whose meaning we give; libraries look at it


class _Numba(ModuleType):
    """The module numba: quern, under another version."""

    def __getattr__(self, name):
        import quern
        if name == "__all__":
            return quern.__all__
        if name.startswith("__"):
            raise AttributeError(f"module 'numba' has no attribute '{name}'")
        try:
            return getattr(quern, name)
        except AttributeError:
            raise AttributeError(f"module 'numba' has no attribute '{name}'") from None

    def __dir__(self):
        import quern
        return dir(quern)


def _version_info():
    from collections import namedtuple
    fields = namedtuple("version_info", "major minor patch short full string tuple git_revision")
    numbers = tuple(map(int, VERSION.split(".")))
    return fields(*numbers, numbers[:2], numbers, VERSION, VERSION.split("."), None)


class _Loader:

    @staticmethod
    def create_module(spec):
        return _Numba(spec.name) if spec.name == "numba" else None

    @staticmethod
    def exec_module(module):
        name = module.__name__
        if name == "numba":
            import quern
            module.__version__ = VERSION
            module.version_info = _version_info()
            module.__file__ = quern.__file__
            module.__doc__ = quern.__doc__
        else:  # one module under two names
            sys.modules[name] = importlib.import_module(_ours(name))


def _ours(name):
    return "quern" + name.removeprefix("numba")


class _Finder:
    """Stands in front of all others: an installed Numba is not looked at."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "numba":
            return ModuleSpec(name, _Loader, is_package=True)
        if not name.startswith("numba."):
            return None
        ours = _ours(name)
        found = sys.modules.get(ours)
        if found is None:
            spec = importlib.util.find_spec(ours)
            if spec is None:
                return None
            package = spec.submodule_search_locations is not None
        else:
            package = hasattr(found, "__path__")
        return ModuleSpec(name, _Loader, is_package=package)

    @staticmethod
    def find_distributions(context):
        """importlib.metadata.version("numba")"""
        if getattr(context, "name", None) not in (None, "numba"):
            return []
        from importlib.metadata import Distribution

        class Numba(Distribution):

            def read_text(self, filename):
                return f"Metadata-Version: 2.1\nName: numba\nVersion: {VERSION}\n" if filename == "METADATA" else None

            def locate_file(self, path):
                return path

        return [Numba()]


class _WithoutLlvmlite:
    """Stands behind all others: where llvmlite is not installed, its names can be imported. They serve the low-level
    extension points of Numba, of which @intrinsic is built: it looks at types and constants."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "llvmlite" and not name.startswith("llvmlite."):
            return None
        return ModuleSpec(name, _WithoutLlvmlite, is_package=name.count(".") < 2)

    @staticmethod
    def create_module(spec):
        return _Llvmlite(spec.name)

    @staticmethod
    def exec_module(module):
        if module.__name__ == "llvmlite":
            module.__version__ = "0.50.0"


class _Llvmlite(ModuleType):

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        if name == "ir" and self.__name__ == "llvmlite":
            return importlib.import_module("llvmlite.ir")
        from . import _llvm
        if self.__name__.startswith("llvmlite.ir") and hasattr(_llvm, name):
            return getattr(_llvm, name)
        from ._unbuilt import Unbuilt
        return Unbuilt(f"{self.__name__}.{name}")


def install():
    """From now on `import numba` is quern, with strong numbers, errors instead of fallbacks, and NUMBA_* variables.

    It must run before Numba is imported, and before the functions that it is to have an effect on are decorated. RuntimeError
    when an installed Numba is imported already."""
    loaded = sys.modules.get("numba")
    if isinstance(loaded, _Numba):
        return
    if loaded is not None:
        raise RuntimeError("as_numba.install() must run before numba is imported")
    import importlib.util  # noqa: F401
    from . import config
    config._load(True)
    os.environ["QUERN_AS_NUMBA"] = "1"  # processes that are started see it, too
    sys.meta_path.insert(0, _Finder)
    sys.meta_path.append(_WithoutLlvmlite)
