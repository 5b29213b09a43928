"""f.explain(): everything in a function that is not supported, with places."""
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
