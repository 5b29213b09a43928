"""@stencil: a kernel that says what one element of the result is, by the neighbours of the element in its place.

Of the kernel's source comes a Python function with the loops over the result, in which relative indices are absolute: compiled code
calls it as an overload, Python through a compiled function of its own. The outermost loop is a prange()."""
import ast
import inspect
import itertools
import linecache
import math

import numpy as np

from . import errors, types
from ._unbuilt import Wrapper

OPTIONS = {"neighborhood", "cval", "standard_indexing", "index_offsets", "parallel", "fastmath", "nogil", "cache", "nopython", "boundscheck",
           "error_model", "weak_numbers", "locals", "debug", "inline"}
_count = itertools.count(1)


# -- the source of a kernel ----------------------------------------------------------------------------------------------


def _within(code, body):
    """May this expression be where the code of a lambda comes from? Columns tell lambdas of one line apart, where Python keeps them."""
    begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or (line, column) == (end_line, end_column) or column == end_column == 0:
            continue  # of no expression
        if (line, column) < begin or (end_line, end_column) > end:
            return False
    return True


def _node_of(function):
    """The def or lambda of a function."""
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        tree = ast.Module([], [])
    lambdas = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            if code.co_firstlineno in (node.lineno, *(d.lineno for d in node.decorator_list)):
                return node
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno and _within(code, node.body):
            lambdas = [outer for outer in lambdas if node not in ast.walk(outer)] + [node]
    if len({ast.dump(node) for node in lambdas}) == 1:
        return lambdas[0]
    what = "which of the lambdas of its line it is cannot be told" if lambdas else "which cannot be found"
    raise errors.UnsupportedError(f"@stencil needs the source of '{function.__name__}', {what} in '{code.co_filename}'")


def _space(function):
    """The names of a kernel: its globals, and what it closes over."""
    cells = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            cells[name] = cell.cell_contents
        except ValueError:
            pass
    return {**function.__globals__, **cells}


class _Rewrite(ast.NodeTransformer):
    """Relative indices become absolute. `offsets`: those that are known, by axis; `open_at`: one that is not."""

    def __init__(self, arrays, counters, offsets_of_index, space, function):
        self.arrays, self.counters, self.added, self.space, self.function = arrays, counters, offsets_of_index, space, function
        self.offsets = [[0] for _ in counters]
        self.relative, self.open_at = [], None

    def refuse(self, what, node):
        place = f"{self.function.__code__.co_filename}:{node.lineno}"
        raise errors.NumbaValueError(f"{place}: {what}")

    def known(self, node):
        """A constant int, or None."""
        if any(not isinstance(part, (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.Name, ast.expr_context))
               for part in ast.walk(node)):
            return None
        local = self.function.__code__.co_varnames
        names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        if any(name in local or not isinstance(self.space.get(name), int) for name in names):
            return None
        try:
            value = eval(compile(ast.Expression(node), "?", "eval"), {name: self.space[name] for name in names})
        except Exception:
            return None
        return value if isinstance(value, (int, np.integer)) else None

    def position(self, node, axis):
        """counter + node"""
        value = self.known(node)
        if value is not None:
            self.offsets[axis].append(int(value))
            value += self.added[axis]
            node = ast.Constant(abs(int(value)))
            if value == 0:
                return ast.Name(self.counters[axis], ast.Load())
            return ast.BinOp(ast.Name(self.counters[axis], ast.Load()), ast.Sub() if value < 0 else ast.Add(), node)
        self.open_at = self.open_at or node
        moved = ast.BinOp(ast.Name(self.counters[axis], ast.Load()), ast.Add(), self.visit(node))
        return moved if not self.added[axis] else ast.BinOp(moved, ast.Add(), ast.Constant(self.added[axis]))

    def part(self, node, axis):
        if not isinstance(node, ast.Slice):
            return self.position(node, axis)
        if node.lower is None or node.upper is None:
            self.refuse("a slice of a relatively indexed array needs both ends", node)
        self.open_at = self.open_at or node
        return ast.Slice(self.position(node.lower, axis), self.position(node.upper, axis), node.step and self.visit(node.step))

    def visit_Subscript(self, node):
        if not (isinstance(node.value, ast.Name) and node.value.id in self.arrays):
            return self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            self.refuse("Assignments to arrays passed to stencil kernels is not allowed.", node)
        name, n = node.value.id, len(self.counters)
        if name not in self.relative:
            self.relative.append(name)
        index = node.slice
        if isinstance(index, ast.Tuple):
            parts = list(index.elts)
        elif n > 1 and isinstance(index, ast.Name):  # a tuple
            parts = [ast.Subscript(index, ast.Constant(k), ast.Load()) for k in range(n)]
        else:
            parts = [index]
        if len(parts) != n:
            self.refuse("Stencil index does not match array dimensionality.", node)
        if any(isinstance(part, ast.Constant) and not isinstance(part.value, int) for part in parts):
            self.refuse("Non-tuple or non-integer used as stencil index.", node)
        parts = [self.part(part, axis) for axis, part in enumerate(parts)]
        node.slice = parts[0] if n == 1 else ast.Tuple(parts, ast.Load())
        return node


# -- the function with the loops -----------------------------------------------------------------------------------------


class StencilFunc(Wrapper):
    """What stencil() returns."""

    def __init__(self, function, mode, options):
        super().__init__("stencil", function, mode=mode, options=options, neighborhood=options.get("neighborhood"))
        self._callers = {}
        parameters = list(inspect.signature(function).parameters.values())
        self._parameters = [p.name for p in parameters]
        if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
            raise errors.NumbaValueError("the parameters of a stencil kernel are positional ones")
        if "out" in self._parameters:
            raise errors.NumbaValueError("Cannot use the reserved word 'out' in stencil kernels.")
        standard = options.get("standard_indexing", ())
        self._standard = (standard,) if isinstance(standard, str) else tuple(standard)
        if set(self._standard) - set(self._parameters):
            raise errors.NumbaValueError("Standard indexing requested for an array name not present in the stencil kernel definition.")
        if self._parameters[:1] and self._parameters[0] in self._standard:
            raise errors.NumbaValueError("The first argument to a stencil kernel must use relative indexing, not standard indexing.")
        from .extending import _entry, _registry

        def ask(*args, **named):
            return self._implementation(args, named)
        ask.__name__ = self.__name__ or "stencil"
        _registry().add_function(self, _entry(ask, strict=False))

    def __call__(self, *args, out=None, **named):
        """The result for these arguments: a new array, or `out`."""
        if named:
            args = inspect.signature(self.py_func).bind(*args, **named).args
        if not args or not isinstance(args[0], np.ndarray):
            raise errors.NumbaValueError("The first argument to a stencil kernel must be the primary input array.")
        from . import config
        if config.DISABLE_JIT:
            given = [types.typeof(a) for a in args]
            function = self._implementation(given, {} if out is None else {"out": types.typeof(out)})
        else:
            function = self._caller(len(args), out is not None)
        return function(*args) if out is None else function(*args, out)

    def _caller(self, n, with_out):
        if (n, with_out) not in self._callers:
            from .decorators import njit
            names = [f"a{i}" for i in range(n)]
            space = {"stencil": self}
            source = (f"def call({', '.join(names + ['out'] * with_out)}):\n"
                      f"    return stencil({', '.join(names + ['out=out'] * with_out)})\n")
            exec(compile(source, "<stencil>", "exec"), space)
            function = space["call"]
            options = {name: value for name, value in self.options.items()
                       if name not in ("neighborhood", "cval", "standard_indexing", "index_offsets", "cache", "inline", "locals")}
            self._callers[n, with_out] = njit(**options)(function)
        return self._callers[n, with_out]

    def __reduce__(self):
        return self.__qualname__  # by its name

    # -- of types

    def _implementation(self, args, named):
        out = named.pop("out", None)
        named = dict(named)
        args = [*args, *(named.pop(name) for name in self._parameters[len(args):] if name in named)]
        if named or len(args) > len(self._parameters):
            raise errors.TypingError(f"the stencil kernel '{self.__name__}' has the parameters {', '.join(self._parameters)}, and 'out'")
        defaults = self.py_func.__defaults__ or ()
        if len(args) < len(self._parameters) - len(defaults):
            raise errors.TypingError(f"the stencil kernel '{self.__name__}' has the parameters {', '.join(self._parameters)}")
        args = [types.unliteral(t) for t in args]
        if not args or not isinstance(args[0], types.Array):
            raise errors.NumbaValueError("The first argument to a stencil kernel must be the primary input array.")
        if isinstance(out, types.NoneType):
            out = None
        return self._loops(args, out)

    def _loops(self, args, out):
        n = args[0].ndim
        counters = [f"_at{axis}" for axis in range(n)]
        offsets = self.options.get("index_offsets") or (0,) * n
        space = _space(self.py_func)
        node = _node_of(self.py_func)
        arrays = [name for name in self._parameters if name not in self._standard]
        rewrite = _Rewrite(arrays, counters, [int(k) for k in offsets], space, self.py_func)
        body = [ast.Return(rewrite.visit(node.body))] if isinstance(node, ast.Lambda) else [rewrite.visit(part) for part in node.body]
        self._check(args, rewrite, n)
        names = self._parameters[:len(args)]
        given = dict(zip(names, args))
        missing = self._parameters[len(args):]
        plain = ast.arguments([], [ast.arg(name) for name in [*self._parameters, *counters]], None, [], [], None, [])
        body = body[1:] if len(body) > 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else body
        kernel = ast.FunctionDef("_element", plain, body, [], None, None, **({"type_params": []} if hasattr(ast.FunctionDef, "type_params") else {}))
        filename = f"<stencil {self.__name__} {next(_count)}>"
        element = self._made(ast.Module([kernel], []), filename + " element", space, "_element")
        dtype = self._dtype(element, args, n, missing)
        lines = self._lines(names, missing, counters, rewrite, given, dtype, out, body)
        source = "\n".join(lines) + "\n"
        from . import prange
        more = {"_element": element, "_np": np, "_prange": prange}
        more.update({f"_default_{name}": value for name, value in zip(reversed(self._parameters), reversed(self.py_func.__defaults__ or ()))})
        if dtype is not None:
            more["_dtype"] = dtype
        linecache.cache[filename] = len(source), None, source.splitlines(True), filename
        return self._made(source, filename, {**space, **more}, "stencil")

    def _made(self, tree, filename, space, name):
        if isinstance(tree, ast.AST):
            source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            linecache.cache[filename] = len(source), None, source.splitlines(True), filename
        else:
            source = tree
        space = dict(space)
        exec(compile(source, filename, "exec"), space)
        return space[name]

    def _check(self, args, rewrite, n):
        if not rewrite.relative:
            raise errors.NumbaValueError("Stencil kernel with no accesses to relatively indexed arrays.")
        if self.neighborhood is not None and len(self.neighborhood) != n:
            raise errors.NumbaValueError(f"{len(self.neighborhood)} dimensional neighborhood specified for {n} dimensional input array")
        if rewrite.open_at is not None and self.neighborhood is None:
            raise errors.NumbaValueError("stencil kernel index is not constant, 'neighborhood' option required")
        for name in rewrite.relative:
            at = self._parameters.index(name)
            if at >= len(args) or not isinstance(args[at], types.Array):
                raise errors.NumbaValueError(f"'{name}' is indexed relatively and is no array: name it in standard_indexing=")
            if args[at].ndim != n:
                raise ValueError("Secondary stencil array does not have same number of dimensions as the first stencil input.")

    def _dtype(self, element, args, n, missing):
        """Of what the kernel returns, by inference alone."""
        from ._explain import Signature
        from .decorators import njit
        defaults = inspect.signature(self.py_func).parameters
        every = [*args, *(types.typeof(defaults[name].default) for name in missing), *[types.intp] * n]
        items, _, text, _ = njit(element)._explain(Signature(None, tuple(every)).text)
        if text is None:
            raise errors.TypingError("; ".join(str(item) for item in items[:1]) or f"the stencil kernel '{self.__name__}' cannot be compiled")
        t = types.from_text({"int": "int64", "float": "float64", "complex": "complex128"}.get(text, text))
        if not isinstance(t, (types.Number, types.Boolean, types.NPDatetime, types.NPTimedelta)):
            raise errors.NumbaValueError("Stencil kernel must return a scalar and not a numpy array.")
        cval = self.options.get("cval", 0)
        if isinstance(cval, complex) and not isinstance(t, types.Complex) or not isinstance(cval, (int, float, complex, np.generic)):
            raise errors.NumbaValueError("cval type does not match stencil return type.")
        from .numpy_support import as_dtype
        return as_dtype(t)

    def _borders(self, rewrite):
        """How many places at the beginning and at the end of each axis have no value of the kernel."""
        if self.neighborhood is not None:
            pairs = [(int(low), int(high)) for low, high in self.neighborhood]
        else:
            pairs = [(min(k), max(k)) for k in rewrite.offsets]
        return [(max(0, -low), max(0, high)) for low, high in pairs]

    def _lines(self, names, missing, counters, rewrite, given, dtype, out, body):
        first, n = names[0], len(counters)
        lines = [f"def stencil({', '.join([*names, 'out=None'])}):"]
        lines += [f"    {name} = _default_{name}" for name in missing]
        for name in rewrite.relative:
            if name != first:
                lines += [f"    if {' or '.join(f'{name}.shape[{k}] < {first}.shape[{k}]' for k in range(n))}:",
                          "        raise ValueError('Secondary stencil array has some dimension smaller the same dimension in the first stencil input.')"]
        borders, cval = self._borders(rewrite), self.options.get("cval", 0)
        if out is None:
            lines.append(f"    out = _np.full({first}.shape, {_literal(cval, dtype)}, _dtype)" if cval else f"    out = _np.zeros({first}.shape, _dtype)")
        elif "cval" in self.options:
            for axis, (low, high) in enumerate(borders):
                before = ":, " * axis
                if low:
                    lines.append(f"    out[{before}:{low}] = {_literal(cval, dtype)}")
                if high:
                    lines += [f"    out[{before}max(out.shape[{axis}] - {high}, 0):] = {_literal(cval, dtype)}"]
        depth = "    "
        for axis, (counter, (low, high)) in enumerate(zip(counters, borders)):
            loop = "_prange" if axis == 0 else "range"
            lines.append(f"{depth}for {counter} in {loop}({low}, {first}.shape[{axis}] - {high}):" if high else
                         f"{depth}for {counter} in {loop}({low}, {first}.shape[{axis}]):")
            depth += "    "
        if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
            value = ast.unparse(ast.fix_missing_locations(body[0].value))
        else:
            value = f"_element({', '.join([*self._parameters, *counters])})"
        return [*lines, f"{depth}out[{', '.join(counters)}] = {value}", "    return out"]


def _literal(value, dtype):
    """A constant of the program, as Python writes it."""
    value = np.array(value).astype(dtype)[()] if dtype.kind in "biufc" else value
    value = value.item() if isinstance(value, np.generic) else value
    parts = [value.real, value.imag] if isinstance(value, complex) else [value]
    words = [repr(p) if not isinstance(p, float) or math.isfinite(p) else f"_np.{p}" if not p < 0 else "-_np.inf" for p in parts]
    return words[0] if len(words) == 1 else f"complex({words[0]}, {words[1]})"


def stencil(func_or_mode="constant", **options):
    """A kernel such as `lambda a: a[0, 1] - a[0, -1]`, whose indices count from the element that is computed. The decorated
    function takes arrays, and returns one of the same shape, or fills `out=`. Elements whose neighbours are not all there are `cval`
    (0). `neighborhood`: for each axis the least and the greatest index, where these are no constants; `standard_indexing`: names of
    parameters that are indexed as usual."""
    for name in options:
        if name not in OPTIONS:
            raise errors.NumbaValueError("Unknown stencil option " + name)
    function = None
    if not isinstance(func_or_mode, str):
        func_or_mode, function = "constant", func_or_mode
    if func_or_mode != "constant":
        raise errors.NumbaValueError("Unsupported mode style " + func_or_mode)

    def decorate(function):
        return StencilFunc(getattr(function, "py_func", function), func_or_mode, options)
    return decorate if function is None else decorate(function)
