"""Functions by value: dumps(function) for functions that are no names of a module, compiled ones among them, with the
globals, cells and defaults that they use. What can be pickled by name is. The bytes are for the same version of Python (the
code is marshal's)."""
import importlib
import io
import marshal
import pickle
import types
import weakref

from . import _quern


def _names_in(code):
    """The names that the code, and the functions in it, may ask their globals for."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)


def _is_name_of_module(function):
    import sys
    value = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        value = getattr(value, part, None)
    return value is function


def _skeleton(code, name, ncells):
    """A function without globals and contents of cells: they may lead back to it, and are filled in by _fill."""
    function = types.FunctionType(marshal.loads(code), {"__builtins__": __builtins__}, name, None,
                                  tuple(types.CellType() for _ in range(ncells)) or None)
    return function


def _fill(function, state):
    function.__globals__.update(state["globals"])
    for cell, contents in zip(function.__closure__ or (), state["cells"]):
        if contents:
            cell.cell_contents, = contents
    for name in ("__defaults__", "__kwdefaults__", "__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(function, name, state[name])
    function.__globals__["__name__"] = function.__module__


def _contents(cell):
    try:
        return (cell.cell_contents,)
    except ValueError:  # nothing was assigned to it yet
        return ()


def _parts(function):
    """(the arguments of _skeleton, the state for _fill)"""
    known = function.__globals__
    state = {"globals": {name: known[name] for name in sorted(set(_names_in(function.__code__))) if name in known},
             "cells": [_contents(cell) for cell in function.__closure__ or ()]}
    for name in ("__defaults__", "__kwdefaults__", "__module__", "__qualname__", "__doc__"):
        state[name] = getattr(function, name)
    state["__annotations__"] = {}  # they may name anything, and compiled code does not look at them
    skeleton = marshal.dumps(function.__code__), function.__name__, len(state["cells"])
    return skeleton, state


def _by_value(function):
    skeleton, state = _parts(function)
    return _skeleton, skeleton, state, None, None, _fill


def _compiled_skeleton(skeleton, options, nogil, fallback, given):
    """A compiled function whose Python function _fill_compiled completes: it may call itself, or others that call it."""
    return _quern.Dispatcher(_skeleton(*skeleton), options, nogil=nogil, fallback=fallback, given=given)


def _fill_compiled(compiled, state):
    parts, declared = state
    _fill(compiled.py_func, parts)
    if declared is None:
        return
    for outcome in compiled._compile(declared):
        if isinstance(outcome, Exception):
            raise outcome
    compiled.disable_compile()


def _compiled_by_value(compiled):
    skeleton, state = _parts(compiled.py_func)
    options, nogil, fallback, compiles = compiled._manners()
    declared = None if compiles else [s.text for s in compiled.nopython_signatures]
    made = skeleton, options, nogil, fallback, compiled.targetoptions
    return _compiled_skeleton, made, (state, declared), None, None, _fill_compiled


class _Pickler(pickle.Pickler):

    def reducer_override(self, value):
        if isinstance(value, types.FunctionType) and not _is_name_of_module(value):
            return _by_value(value)
        if type(value) is _quern.Dispatcher and not _is_name_of_module(value):
            return _compiled_by_value(value)
        if isinstance(value, types.ModuleType):
            return importlib.import_module, (value.__name__,)
        return NotImplemented


def dumps(function):
    file = io.BytesIO()
    _Pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(function)
    return file.getvalue()


_loaded = weakref.WeakValueDictionary()  # by what dumps() gave: who sends a function often has it compiled once


def loads_compiled(data):
    compiled = _loaded.get(data)
    if compiled is None:
        compiled = _loaded[data] = pickle.loads(data)
    return compiled
