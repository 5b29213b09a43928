"""f.explain() and python -m quern explain: everything in a function that is not supported, with places."""
import sys

import numpy as np

from . import _quern
from .decorators import is_signature, signature_text
from .types import Signature, Type


class Diagnostic:
    """One thing that is not supported.

    code: "E0207", or None for an argument that no compiled function takes; message: one line; filename, lineno and
    column (from 0, in bytes) say where, None where nothing can be pointed at; is_error: False for a warning.
    str() has the source line, the caret and the notes."""

    def __init__(self, row):
        if isinstance(row, Exception):
            text = str(row)
            place = [getattr(row, name, None) for name in ("code", "filename", "lineno", "column")]
            row = place[0], True, place[1], place[2] or 0, -1 if place[3] is None else place[3], text, text
        self.code, self.is_error, self.filename, line, column, self.message, self._text = row
        self.lineno = line if line > 0 else None
        self.column = column if line > 0 and column >= 0 else None

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<{self.code} {self.filename}:{self.lineno}: {self.message}>"


class Explanation:
    """What explain() found; it prints as text.

    supported: True when the function was compiled for these types, False when `diagnostics` says why it cannot be,
    None when nothing is against it but types are not known. diagnostics: a tuple of Diagnostic in the order of places;
    one cause is told once. function: its name; arguments: the types as text, "?" where one is not known; result: the type
    of the result as text, or None."""

    def __init__(self, name, answer):
        rows, self.arguments, self.result, self._unknown = answer
        self.function = name
        self.diagnostics = tuple(Diagnostic(row) for row in rows)
        errors = any(d.is_error for d in self.diagnostics)
        self.supported = False if errors else None if self._unknown else True

    def __str__(self):
        head = f"{self.function}({self.arguments})"
        if self.supported:
            lines = [f"{head} -> {self.result} is supported"]
        elif self.supported is None:
            lines = [f"{head}: nothing is known that stops it; more depends on the types of its arguments"]
        else:
            n = sum(d.is_error for d in self.diagnostics)
            more = ("; more may depend on the types that are not known" if self._unknown else "")
            lines = [f"{head} cannot be compiled, for {n} reason{'s' * (n > 1)}{more}"]
        return "\n\n".join(lines + [str(d) for d in self.diagnostics])

    __repr__ = __str__

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))


_WEAK = (bool, int, float, complex)
_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def _scalars(args):
    """Arguments of a ufunc as the numbers that its function gets: Python numbers take the type of the strong ones, where
    these are of their kind at least."""
    args = [a if type(a) in _WEAK or hasattr(a, "dtype") else np.asarray(a) for a in args]
    strong = [a.dtype for a in args if type(a) not in _WEAK and a.dtype.kind in _RANK]
    common = np.result_type(*strong) if strong else np.dtype(bool)

    def scalar(a):
        if type(a) not in _WEAK:
            return a.dtype.type() if a.dtype.kind in _RANK else a
        own = np.dtype(type(a))
        if _RANK[own.kind] <= _RANK[common.kind] and strong:
            return common.type()
        return np.complex64() if own.kind == "c" and common.char in "ef" else own.type()
    return tuple(map(scalar, args))


def _question(args, kwargs):
    if not args and not kwargs:
        return None
    if args and not kwargs and all(isinstance(a, Type) for a in args):
        return Signature(None, args).text
    empty = args and type(args[0]) is tuple and not args[0]
    if len(args) == 1 and not kwargs and not empty and is_signature(args[0]):
        return signature_text(args[0])
    return args, kwargs


def explain(owner, args, kwargs):
    """Everything that keeps `owner` from being compiled for these arguments, or for a signature; without either, what
    can be said without types. Nothing is run, and nothing is kept of what is compiled."""
    question = _question(args, kwargs)
    target = getattr(owner, "_function", owner)  # of a ufunc for GPUs
    if isinstance(question, tuple) and (target is not owner or isinstance(owner, np.ufunc)):
        question = _scalars(args), kwargs
    return Explanation(owner.__name__, target._explain(question))


# -- python -m quern explain ------------------------------------------------------------------------------------

USAGE = """usage: python -m quern explain [--as-numba] [--no-run] PROGRAM.py [ARGUMENT ...]

Runs a program and lists everything that keeps the functions and kernels it calls or declares from being compiled, for the
types they are called with, each cause once. A function that is refused runs in Python meanwhile; the launch of such a
kernel does nothing. Of what is not called it says what can be said without types. --no-run imports the program instead:
what stands below `if __name__ == "__main__":` does not run. --as-numba: `import numba` in it is answered by quern.

The exit code is 0 where everything is supported, 1 where something is not or the program failed."""


class _Report:
    """What the functions of a program are called with."""

    def __init__(self):
        self.declared = {}  # Python function: whose decorator it has
        self.asked = {}     # Python function: {its text: Explanation}

    def declare(self, function, decorator):
        if not (function.__module__ or "").startswith("quern."):
            self.declared.setdefault(function, decorator)

    def record(self, owner, *args, **kwargs):
        if owner.py_func.__module__ == "quern._gpu_ufunc":  # the kernel round a ufunc: _explained_launch() tells of it
            return
        try:
            told = explain(owner, args, kwargs)
        except (TypeError, ValueError):  # wrong arguments: the call says so, too
            return
        self.add(owner.py_func, told)

    def add(self, function, told):
        self.asked.setdefault(function, {}).setdefault(told.arguments, told)

    def explain_the_rest(self):
        from .decorators import _compile_options
        for function, decorator in self.declared.items():
            if function in self.asked:
                continue
            options = _compile_options({})
            owner = (_quern.Kernel(function, options, device=True) if decorator in ("cuda.jit", "hip.jit")
                     else _quern.Dispatcher(function, options))
            self.add(function, explain(owner, (), {}))

    def lines(self):
        order = sorted(self.asked, key=lambda f: (f.__code__.co_filename, f.__code__.co_firstlineno))
        for function in order:
            seen = set()
            for told in self.asked[function].values():
                places = tuple((d.code, d.filename, d.lineno, d.column) for d in told.diagnostics)
                if places and places in seen:
                    yield f"{told.function}({told.arguments}) cannot be compiled, for the same reasons"
                else:
                    yield str(told)
                seen.add(places)
        count = [f for f in order if any(t.supported is False for t in self.asked[f].values())]
        yield f"{len(order)} function{'s' * (len(order) != 1)}, {len(count)} not supported"

    @property
    def failed(self):
        return any(t.supported is False for all_of in self.asked.values() for t in all_of.values())


def _tolerant(make, report):
    """_make_ufunc of a program that is explained: a ufunc of NumPy's where ours is refused."""
    from . import errors

    def make_ufunc(function, signatures, target, identity, options):
        try:
            return make(function, signatures, target, identity, options)
        except errors.NumbaError:
            lazy = make(function, [], target, identity, options)
            for text in signatures:
                report.record(lazy, text)
            return np.frompyfunc(function, function.__code__.co_argcount, 1)
    return make_ufunc


def _result_dtype(function, operands):
    """Of a ufunc that runs in Python meanwhile: the dtype of its result for the first elements."""
    return np.asarray(function(*(a.flat[0].item() if a.size else a.dtype.type(1).item() for a in operands))).dtype


def result_type(function, operands):
    """The number of that dtype, for C."""
    return _result_dtype(function, operands).num


def _tolerant_call(call):
    """The same for a ufunc on GPUs."""
    from . import errors

    def tolerant(self, *args, **kwargs):
        try:
            return call(self, *args, **kwargs)
        except errors.NumbaError:
            arrays = [np.asarray(a) for a in args[:self.nin]]
            result = np.frompyfunc(self.py_func, self.nin, 1)(*arrays)
            result = np.asarray(result).astype(_result_dtype(self.py_func, arrays))
            out = kwargs.get("out", args[self.nin] if len(args) > self.nin else None)
            if out is None:
                return result[()]
            out[...] = result
            return out
    return tolerant


def _explained_launch(launch, report):
    """_launch of the same: what is refused in its kernel alone, which would do nothing, is told of the ufunc."""
    from . import errors

    def explained(self, args, out, shape, stream):
        told = Explanation(self.__name__, self._kernel._explain(((out, tuple(args)), {})))
        told.arguments = ", ".join(str(getattr(a, "dtype", type(a).__name__)) for a in args)
        told.result = told.result and str(out.dtype)
        report.add(self.py_func, told)
        if not told.supported:
            raise errors.UnsupportedError(str(told))
        launch(self, args, out, shape, stream)
    return explained


def _run(program, arguments, name):
    """True when the program ended well."""
    import os
    import runpy
    import traceback
    sys.argv = [program, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    try:
        runpy.run_path(program, run_name=name)
    except SystemExit as stop:
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        return stop.code in (None, 0)
    except BaseException as error:  # KeyboardInterrupt, too: what is known by then is told
        frames = traceback.extract_tb(error.__traceback__)
        own = {__file__, runpy.__file__, "<frozen runpy>"}
        print("Traceback (most recent call last):", file=sys.stderr)
        print("".join(traceback.format_list([f for f in frames if f.filename not in own]) +
                      traceback.format_exception_only(type(error), error)), end="", file=sys.stderr)
        return False
    return True


def main(arguments):
    """The command line; returns the exit code."""
    from . import decorators
    options = set()
    while arguments and arguments[0].startswith("-"):
        option, *arguments = arguments
        if option in ("-h", "--help"):
            print(USAGE)
            return 0
        if option == "--":
            break
        if option not in ("--as-numba", "--no-run"):
            print(f"unknown option {option}\n\n{USAGE}", file=sys.stderr)
            return 2
        options.add(option)
    if not arguments:
        print(f"a program is missing\n\n{USAGE}", file=sys.stderr)
        return 2
    if "--as-numba" in options:
        from . import as_numba
        as_numba.install()
    report = _Report()
    plain = decorators._plain

    def noted(function, name):
        result = plain(function, name)
        report.declare(result, name)
        return result

    from ._gpu_ufunc import GpuUfunc
    GpuUfunc.__call__ = _tolerant_call(GpuUfunc.__call__)
    GpuUfunc._launch = _explained_launch(GpuUfunc._launch, report)
    decorators._plain = noted
    decorators._make_ufunc = _tolerant(decorators._make_ufunc, report)
    _quern.record(report.record)
    try:
        ended = _run(arguments[0], arguments[1:], "__quern__" if "--no-run" in options else "__main__")
    finally:
        _quern.record(None)
    sys.stdout.flush()
    report.explain_the_rest()
    print("\n\n".join(report.lines()))
    return 0 if ended and not report.failed else 1
