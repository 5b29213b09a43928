"""What is not built yet: it can be imported, named and decorated with; whoever uses it is told its name."""
from ._names import Intrinsic


def refuse(name, hint=""):
    """Raises the error of a name that is not built."""
    from .errors import UnsupportedError
    raise UnsupportedError(f"{name} is not supported{': ' + hint if hint else ''}")


class Unbuilt(Intrinsic):
    """A name of Numba's. Calling it, and compiling a function that mentions it, is an error; its attributes are such names,
    too, and classes can be derived from it."""
    __slots__ = ("__name__", "__weakref__")

    def __init__(self, name):
        super().__init__(name)
        self.__name__ = name.rpartition(".")[2]

    def __call__(self, *args, **kwargs):
        refuse(self._quern_name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Unbuilt(f"{self._quern_name}.{name}")

    def __mro_entries__(self, bases):
        return (unbuilt_class(self._quern_name),)

    def __or__(self, other):  # in annotations
        return self

    __ror__ = __or__

    def __getitem__(self, item):
        return self

    def __reduce__(self):
        return Unbuilt, (self._quern_name,)


_classes = {}


def unbuilt_class(name, **attributes):
    """A class to derive from. Instances cannot be made. One name, one class."""
    if name not in _classes:
        def __new__(cls, *args, **kwargs):
            refuse(name)
        _classes[name] = type(name.rpartition(".")[2], (), {"__new__": __new__, "__module__": "quern", **attributes})
    return _classes[name]


class Wrapper:
    """What a decorator that is not built returns: the function, with its name and its text, that cannot be called."""

    def __init__(self, kind, function, **attributes):
        self._kind = kind
        self.py_func = self.__wrapped__ = function
        for name in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(self, name, getattr(function, name, None))
        self._quern_name = kind  # in a compiled function: 'numba.guvectorize is not supported'
        self.__dict__.update(attributes)

    def __call__(self, *args, **kwargs):
        refuse(self._kind, f"'{self.__name__}' cannot be called; its Python function is the attribute py_func")

    def __repr__(self):
        return f"<{self._kind} {self.__qualname__}, not supported>"


class Failed(Wrapper):
    """A function whose declared signature could not be compiled: `failure` says why, and calls and launches raise it."""

    def __init__(self, kind, function, failure):
        super().__init__(kind, function, failure=failure)

    def __call__(self, *args, **kwargs):
        raise self.failure.with_traceback(None)

    def __getitem__(self, configuration):
        return self

    def __repr__(self):
        return f"<{self._kind} {self.__qualname__}, not compiled>"
