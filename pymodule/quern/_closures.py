"""Functions that compiled code has made, as Python has them. Asked by pymodule/box.c."""
import functools
from types import CellType, FunctionType

from .decorators import jit


def _partial(names, values):
    positional = [value for name, value in zip(names, values) if not name]
    return functools.partial(*positional, **{name: value for name, value in zip(names, values) if name})


def make(code_of, names, values):
    """A function of the code of `code_of`, compiled when it is called; `values` are those of parameters that have defaults and of
    variables, by `names`. None for `code_of`: functools.partial of the values, those with a name by keyword."""
    if code_of is None:
        return _partial(names, values)
    known, code = dict(zip(names, values)), code_of.__code__
    cells = [CellType(known[name]) if name in known else CellType() for name in code.co_freevars]
    positional, only = code.co_varnames[: code.co_argcount], code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    defaults = tuple(known[name] for name in positional if name in known)
    made = FunctionType(code, code_of.__globals__, None, defaults or None, tuple(cells))
    made.__kwdefaults__ = {name: known[name] for name in only if name in known} or None
    compiled = jit(made)
    for name, cell in zip(code.co_freevars, cells):
        if name not in known:  # the function itself
            cell.cell_contents = compiled
    return compiled
