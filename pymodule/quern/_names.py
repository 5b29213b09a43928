"""Placeholders for names that only mean something in compiled code: the compiler knows them by `_quern_name`."""
from . import _quern


def _shown(thing):
    """The name, of the module that it was taken from: names of kernels are the same in cuda and hip."""
    name = thing._quern_name
    return thing._home + name[4:] if name.startswith("cuda.") else name


class Intrinsic:
    """One name of the library: cuda.grid, cuda.threadIdx.x."""
    __slots__ = ("_quern_name", "_home")

    def __init__(self, name, home="cuda"):
        self._quern_name = name
        self._home = home

    @property
    def aliases(self):
        """CUDA's names of a vector type."""
        from ._dialect import VECTORS
        return [alias for alias, proper in VECTORS.items() if "cuda." + proper == self._quern_name]

    def __call__(self, *args, **kwargs):
        from .errors import LaunchError
        raise LaunchError(f"{_shown(self)} can only be used inside a kernel or a device function")

    def __repr__(self):
        return f"<{_shown(self)}>"

    def __reduce__(self):
        return _find, (_shown(self),)


class Namespace:
    """A group of names: cuda.atomic, cuda.threadIdx. `others`: what is in it and no placeholder."""

    def __init__(self, name, members, doc=None, home="cuda", **others):
        self._quern_name = name
        self._home = home
        self._members = tuple(members)
        self._others = others
        self.__doc__ = doc
        for member in members:
            setattr(self, member, Intrinsic(f"{name}.{member}", home))
        self.__dict__.update(others)

    def __repr__(self):
        return f"<{_shown(self)}>"

    def __reduce__(self):
        return _find, (_shown(self),)


def at_home(thing, home):
    """The same name as one of the module `home`."""
    if isinstance(thing, Namespace):
        return Namespace(thing._quern_name, thing._members, thing.__doc__, home, **thing._others)
    return Intrinsic(thing._quern_name, home) if type(thing) is Intrinsic else thing


def _find(name):
    import quern
    value = quern
    for part in name.split("."):
        value = getattr(value, part)
    return value


_quern.register("Intrinsic", Intrinsic)
_quern.register("Namespace", Namespace)
