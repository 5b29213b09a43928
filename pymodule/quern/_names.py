"""Placeholders for names that only mean something in compiled code: the compiler knows them by `_quern_name`."""
from . import _quern


class Intrinsic:
    """One name of the library: cuda.grid, cuda.threadIdx.x."""
    __slots__ = ("_quern_name",)

    def __init__(self, name):
        self._quern_name = name

    def __call__(self, *args, **kwargs):
        from .errors import LaunchError
        raise LaunchError(f"{self._quern_name} can only be used inside a kernel or a device function")

    def __repr__(self):
        return f"<{self._quern_name}>"

    def __reduce__(self):
        return _find, (self._quern_name,)


class Namespace:
    """A group of names: cuda.atomic, cuda.threadIdx."""

    def __init__(self, name, members, doc=None):
        self._quern_name = name
        self.__doc__ = doc
        for member in members:
            setattr(self, member, Intrinsic(f"{name}.{member}"))

    def __repr__(self):
        return f"<{self._quern_name}>"

    def __reduce__(self):
        return _find, (self._quern_name,)


def _find(name):
    import quern
    value = quern
    for part in name.split("."):
        value = getattr(value, part)
    return value


_quern.register("Intrinsic", Intrinsic)
_quern.register("Namespace", Namespace)
