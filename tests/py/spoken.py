"""For tests of functions and generators: what compiled code does beside CPython, told by the texts of results and exceptions."""
import copy

import numpy as np

from quern import njit


def plain(value):
    """Compiled code returns Python's numbers where NumPy gives its own."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def ran(f, args):
    """The result, or the class and text of the exception; and the arguments afterwards."""
    given = copy.deepcopy(args)
    try:
        out = plain(f(*given))
    except Exception as e:  # noqa: BLE001
        out = type(e), str(e)
    return out, given


def same(function, *args):
    """Compiled and interpreted do the same."""
    python = getattr(function, "py_func", function)
    fast, slow = ran(njit(python) if python is function else function, args), ran(python, args)
    assert repr(fast) == repr(slow)
    return fast[0]
