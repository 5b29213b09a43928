"""numba.typed: List, Dict and Set of compiled code. Not built: making one raises UnsupportedError. With DISABLE_JIT they are
Python's list, dict and set, as in Numba."""
from . import config
from ._unbuilt import refuse


class _Typed:
    _numba_type_ = property(lambda self: refuse("typed." + type(self).__name__))

    def __new__(cls, *args, **kwargs):
        for option in ("dcttype", "lsttype", "settype", "meminfo", "allocated", "n_keys"):
            kwargs.pop(option, None)
        return cls._plain(*args, **kwargs) if config.DISABLE_JIT else refuse("typed." + cls.__name__)

    def __class_getitem__(cls, items):
        return cls


@classmethod
def _empty(cls, *args, **kwargs):
    return cls()


class List(_Typed):
    _quern_name = "typed.List"
    _plain = list
    empty_list = _empty


class Dict(_Typed):
    _quern_name = "typed.Dict"
    _plain = dict
    empty = _empty


class Set(_Typed):
    _quern_name = "typed.Set"
    _plain = set
    empty = _empty
