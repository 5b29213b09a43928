"""`with objmode(y="float64[:]"):` in compiled functions: the block runs in the interpreter.

The decorators call lifted(): of the function's source the blocks become Python functions of what they read, and the function calls
these. To compiled code such a function is an overload. What it is given goes over one number at a time, by C functions that ctypes
makes of Python ones, and what it gives comes back in the same way, tested against the declared types. Arrays are copied into the
block and back, so that nothing there outlives the call with memory of compiled code."""
import ast
import contextlib
import ctypes
import inspect
import itertools
import textwrap
import threading
import types as _types

import numpy as np

from . import config, errors, types
from ._more import parallel_chunksize, set_parallel_chunksize
from .types.others import List, UnicodeType

_NAMES = {"objmode", "objmode_context", "parallel_chunksize"}
_SET_CHUNKS = "set_chunks_of_parallel_loops"
_KEPT_ERRORS = 64

# -- what compiled code and the interpreter tell each other ---------------------------------------------------------


class _Call:
    """One run of a block: what it was given and what it gives, as numbers and arrays in the order of the types."""

    def __init__(self, block):
        self.block, self.given, self.out, self.arrays, self.position = block, [], [], [], 0


# By thread, the innermost call last. The state that Python keeps for a thread goes between two calls from a thread of ours.
_calls = {}
_blocks = []
_errors = {}
_numbers = itertools.count(1)


class BlockError(Exception):
    """Stands for the exception that a block has raised, as which Python gets it."""

    def __new__(cls, number):
        return _errors.get(number) or RuntimeError("an exception of an objmode block, which is known no more")


def _current():
    return _calls[threading.get_ident()][-1]


def _begin(number):
    _calls.setdefault(threading.get_ident(), []).append(_Call(_blocks[number]))


def _put(value):
    _current().given.append(value)


def _get():
    call = _current()
    call.position += 1
    return call.out[call.position - 1]


def _get_shape(address):
    """Of the next array, into an array of compiled code."""
    call = _current()
    shape = call.out[call.position].shape
    ctypes.memmove(address, (ctypes.c_int64 * len(shape))(*shape), 8 * len(shape))


def _get_bytes(address):
    array = _get()
    if array.nbytes:
        ctypes.memmove(address, array.ctypes.data, array.nbytes)


def _end():
    calls = _calls[threading.get_ident()]
    calls.pop()
    if not calls:
        del _calls[threading.get_ident()]


def _run():
    """0, or the number of an exception."""
    call = _current()
    try:
        call.block.run(call)
        return 0
    except BaseException as error:  # noqa: B036
        _end()
        number = next(_numbers)
        _errors[number] = error
        _errors.pop(number - _KEPT_ERRORS, None)
        return number


_int = ctypes.c_int64
begin = ctypes.CFUNCTYPE(None, _int)(_begin)
put_int = ctypes.CFUNCTYPE(None, _int)(_put)
put_float = ctypes.CFUNCTYPE(None, ctypes.c_double)(_put)
get_int = ctypes.CFUNCTYPE(_int)(_get)
get_float = ctypes.CFUNCTYPE(ctypes.c_double)(_get)
get_shape = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_get_shape)
get_bytes = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_get_bytes)
put_array = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_put)
run = ctypes.CFUNCTYPE(_int)(_run)
end = ctypes.CFUNCTYPE(None)(_end)

# -- values of each type -----------------------------------------------------------------------------------------------


def _refused(t, why):
    return errors.TypingError(f"objmode: {why} of type {t}; numbers, strings, arrays, None and tuples of these are")


class _Number:
    def __init__(self, t):
        self.t, self.name = t, t.name
        self.real = isinstance(t, types.Float)

    def put(self, x, code):
        code.append(f"put_float({x})" if self.real else f"put_int({x})")

    def given(self, call):
        value = next(call)
        if isinstance(self.t, types.Boolean):
            return bool(value)
        return value % (1 << 64) if self.name == "uint64" else value

    def get(self, code):
        got = "get_float()" if self.real else "get_int()"
        return code.let("get_int() != 0" if isinstance(self.t, types.Boolean) else f"np.{self.name}({got})")

    def out(self, value, out):
        if self.real:
            out.append(float(value))
            return
        if isinstance(self.t, types.Boolean):
            if not isinstance(value, (bool, np.bool_)):
                raise TypeError(f"a bool is expected, not {type(value).__name__}")
            out.append(int(value))
            return
        if not hasattr(value, "__index__") and not hasattr(value, "__int__"):
            raise TypeError(f"an int is expected, not {type(value).__name__}")
        # Numba keeps the low bits of what fits into 64, and programs written for it declare narrow types of wide numbers.
        value, info = int(value), np.iinfo(self.name[:-len(str(self.t.bitwidth))] + "64" if config.AS_NUMBA else self.name)
        if not info.min <= value <= info.max:
            raise OverflowError(f"Python integer {value} out of bounds for {self.name}")
        out.append(value - (1 << 64) if value >= 1 << 63 else value)


class _ComplexNumber:
    def __init__(self, t):
        self.name = t.name

    def put(self, x, code):
        code.append(f"put_float({x}.real)")
        code.append(f"put_float({x}.imag)")

    def given(self, call):
        return complex(next(call), next(call))

    def get(self, code):
        real, imag = code.let("get_float()"), code.let("get_float()")
        return code.let(f"np.{self.name}(complex({real}, {imag}))")

    def out(self, value, out):
        value = complex(value)
        out += [value.real, value.imag]


class _Nothing:
    def __init__(self, t):
        pass

    def put(self, x, code):
        pass

    def given(self, call):
        return None

    def get(self, code):
        return "None"

    def out(self, value, out):
        if value is not None:
            raise TypeError(f"None is expected, not {type(value).__name__}")


class _Maybe:
    """None, or a value of a type: first, whether there is one."""

    def __init__(self, t):
        self.part = _value(t.type, "nothing optional is passed that is")

    def put(self, x, code):
        x, before, code.after = code.let(x), code.after, []
        code.append(f"put_int({x} is not None)")
        with code.branch(f"if {x} is not None:"):
            self.part.put(x, code)
        if code.after:
            before += [f"if {x} is not None:", *("    " + line for line in code.after)]
        code.after = before

    def given(self, call):
        return self.part.given(call) if next(call) else None

    def get(self, code):
        result = code.let("None")
        with code.branch("if get_int() != 0:"):
            code.append(f"{result} = {self.part.get(code)}")
        return result

    def out(self, value, out):
        out.append(int(value is not None))
        if value is not None:
            self.part.out(value, out)


class _Items:
    def __init__(self, t):
        self.parts = [_value(p, "values are passed, none") for p in t]

    def put(self, x, code):
        for k, part in enumerate(self.parts):
            part.put(f"{x}[{k}]", code)

    def given(self, call):
        return tuple([part.given(call) for part in self.parts])

    def get(self, code):
        items = [part.get(code) for part in self.parts]
        return f"({', '.join(items)},)"

    def out(self, value, out):
        if not isinstance(value, tuple) or len(value) != len(self.parts):
            raise TypeError(f"a tuple of {len(self.parts)} items is expected, not {value!r}")
        for part, item in zip(self.parts, value):
            part.out(item, out)


class _Text:
    def __init__(self, t):
        pass

    def put(self, x, code):
        points = code.let(f"np.array([ord(c) for c in {x}], np.int32) if {x} else np.zeros(0, np.int32)")
        code.append(f"put_int(len({points}))")
        code.append(f"put_array({points})")
        code.after.append(f"keep({points})")

    def given(self, call):
        n, address = next(call), next(call)
        return ctypes.string_at(address, 4 * n).decode("utf-32-le", "surrogatepass") if n else ""

    def get(self, code):
        n = code.let("get_int()")
        points = code.let(f"np.empty({n}, np.int32)")
        code.append(f"get_bytes({points})")
        return code.let(f"''.join([chr(c) for c in {points}])")

    def out(self, value, out):
        if not isinstance(value, str):
            raise TypeError(f"a str is expected, not {type(value).__name__}")
        points = np.frombuffer(value.encode("utf-32-le", "surrogatepass"), np.int32)
        out += [len(points), points]


class _ArrayValue:
    def __init__(self, t):
        self.t, self.dtype, self.ndim = t, np.dtype(t.dtype.name), t.ndim

    def put(self, x, code):
        whole = x if self.t.layout == "C" else code.let(f"np.ascontiguousarray({x})" if self.ndim else f"{x}.copy()")
        for k in range(self.ndim):
            code.append(f"put_int({x}.shape[{k}])")
        code.append(f"put_array({whole})")
        if whole != x:  # written back, and alive until then
            code.after.append(f"{x}[...] = {whole}" if self.t.mutable else f"keep({whole})")

    def given(self, call):
        shape = tuple([next(call) for _ in range(self.ndim)])
        address = next(call)
        for known, view, array in call.arrays:
            if known == address and array.shape == shape and array.dtype == self.dtype:
                return array  # one array under two names
        count = int(np.prod(shape, dtype=np.int64)) * self.dtype.itemsize
        memory = (ctypes.c_char * count).from_address(address) if count else b""
        view = np.frombuffer(memory, np.uint8)
        array = np.frombuffer(bytearray(memory), self.dtype).reshape(shape)
        array.flags.writeable = self.t.mutable
        call.arrays.append((address, view, array))
        return array

    def get(self, code):
        shape = code.let(f"np.empty({self.ndim}, np.int64)")
        code.append(f"get_shape({shape})")
        lengths = ", ".join(f"{shape}[{k}]" for k in range(self.ndim))
        array = code.let(f"np.empty(({lengths}{',' * (self.ndim == 1)}), np.{self.t.dtype.name})")
        code.append(f"get_bytes({array})")
        return array

    def out(self, value, out):
        if not isinstance(value, np.ndarray) or value.dtype != self.dtype or value.ndim != self.ndim:
            raise TypeError(f"can't unbox array from PyObject into native value.  The object maybe of a different type: "
                            f"{self.t} is expected, not {_described(value)}")
        out.append(np.ascontiguousarray(value).reshape(value.shape))


class _ListResult:
    """A list of numbers: only as a result, since what the block did to one of compiled code would be lost."""

    def __init__(self, t):
        self.element = _value(t.dtype, "no list can be declared of what is")
        self.array = _ArrayValue(types.Array(t.dtype, 1, "C"))

    def get(self, code):
        array = self.array.get(code)
        return code.let(f"[x for x in {array}]")

    def out(self, value, out):
        if not isinstance(value, list):
            raise TypeError(f"a list is expected, not {type(value).__name__}")
        parts = []
        for item in value:
            self.element.out(item, parts)
        self.array.out(np.array(value, self.array.dtype), out)


def _result(t):
    if isinstance(t, List) and isinstance(t.dtype, (types.Integer, types.Float, types.Boolean)):
        return _ListResult(t)
    return _value(t, "no result can be declared that is")


def _described(value):
    return f"an array of {value.dtype} with {value.ndim} axes" if isinstance(value, np.ndarray) else type(value).__name__


def _value(t, why):
    t = types.unliteral(t)
    if isinstance(t, types.Array) and isinstance(t.dtype, (types.Number, types.Boolean)):
        return _ArrayValue(t)
    if isinstance(t, types.Complex):
        return _ComplexNumber(t)
    if isinstance(t, (types.Integer, types.Float, types.Boolean)):
        return _Number(t)
    if isinstance(t, UnicodeType):
        return _Text(t)
    if isinstance(t, types.NoneType):
        return _Nothing(t)
    if isinstance(t, types.BaseTuple):
        return _Items(t)
    if isinstance(t, types.Optional):
        return _Maybe(t)
    raise _refused(t, why)


class _Given:
    """What was given, read in order."""

    def __init__(self, call):
        self.items, self.arrays = iter(call.given), call.arrays

    def __next__(self):
        return next(self.items)


# -- blocks ------------------------------------------------------------------------------------------------------------


class _Code:
    """Lines of an implementation, and names for what they compute. `after`: when the block has run, or failed."""

    def __init__(self):
        self.lines, self.after, self.count, self.indent = [], [], 0, ""

    def append(self, line):
        self.lines.append(self.indent + line)

    def let(self, value):
        self.count += 1
        self.append(f"v{self.count}_ = {value}")
        return f"v{self.count}_"

    @contextlib.contextmanager
    def branch(self, head):
        self.append(head)
        self.indent += "    "
        yield
        self.indent = self.indent[4:]


def _keep(value):
    """In compiled code: a use, so that it lives until here."""


class _Instance:
    """A block for arguments of some types."""

    def __init__(self, block, args):
        self.block = block
        self.values = [_value(t, "no argument can be passed that is") for t in args]
        self.results = [_result(t) for t in block.result_types()]
        self.number = len(_blocks)
        _blocks.append(self)

    def run(self, call):
        given = _Given(call)
        args = [value.given(given) for value in self.values]
        try:
            got = self.block.function(*args)
        finally:
            changed = [(view, array) for _, view, array in call.arrays
                       if array.nbytes and memoryview(array.reshape(-1).view(np.uint8)) != memoryview(view)]
            for view, array in changed:
                view[...] = array.reshape(-1).view(np.uint8)
        got = got if len(self.results) != 1 else (got,)
        for name, result, value in zip(self.block.outputs, self.results, got or ()):
            try:
                result.out(value, call.out)
            except (TypeError, ValueError, OverflowError) as error:
                raise type(error)(f"objmode: {name}: {error}") from None

    def implementation(self):
        code, names = _Code(), self.block.inputs
        code.append(f"begin({self.number})")
        for name, value in zip(names, self.values):
            value.put(name, code)
        failed = code.let("run()")
        code.lines += code.after
        code.append(f"if {failed} != 0:")
        code.append(f"    raise BlockError({failed})")
        results = [result.get(code) for result in self.results]
        code.append("end()")
        code.append(f"return {'(' * (len(results) != 1)}{', '.join(results)}{')' * (len(results) != 1)}" if results else "return")
        text = f"def {self.block.function.__name__}({', '.join(names)}):\n" + textwrap.indent("\n".join(code.lines), "    ")
        space = {**globals(), "keep": _keep}
        exec(compile(text, f"<objmode block of {self.block.owner}>", "exec"), space)
        return space[self.block.function.__name__]


class _Block:
    def __init__(self, function, owner, inputs, outputs, result_types):
        self.function, self.owner, self.inputs, self.outputs = function, owner, inputs, outputs
        self.result_types = result_types

    def overload(self):
        from .extending import overload

        def asked(*args):
            return _Instance(self, args).implementation()
        asked.__name__ = "objmode"
        overload(self.function, strict=False)(asked)


# -- of the source -----------------------------------------------------------------------------------------------------


def _error(function, node, what):
    line = function.__code__.co_firstlineno if node is None else node.lineno
    return errors.UnsupportedError(f"{function.__code__.co_filename}:{line}: objmode: {what}")


class _Reads(ast.NodeVisitor):
    """Names that a block reads before it has assigned them for certain, and those that it may assign."""

    def __init__(self):
        self.reads, self.assigned, self.stored, self.depth = {}, set(), set(), 0

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            if node.id not in self.assigned:
                self.reads.setdefault(node.id, node)
            return
        self.stored.add(node.id)
        if self.depth == 0 and isinstance(node.ctx, ast.Store):
            self.assigned.add(node.id)
        if isinstance(node.ctx, ast.Del):
            self.reads.setdefault(node.id, node)

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name) and node.target.id not in self.assigned:
            self.reads.setdefault(node.target.id, node.target)
        self.visit(node.value)
        self.visit(node.target)

    def visit_AnnAssign(self, node):
        if node.value:
            self.visit(node.value)
            self.visit(node.target)

    def inside(self, *parts):
        """What may not run, or not at once."""
        self.depth += 1
        for part in parts:
            for node in part if isinstance(part, list) else [part]:
                self.visit(node)
        self.depth -= 1

    def visit_If(self, node):
        self.visit(node.test)
        self.inside(node.body, node.orelse)

    def visit_For(self, node):
        self.visit(node.iter)
        self.inside(node.target, node.body, node.orelse)

    def visit_While(self, node):
        self.inside(node.test, node.body, node.orelse)

    def visit_Try(self, node):
        self.inside(node.body, node.handlers, node.orelse, node.finalbody)

    def visit_ExceptHandler(self, node):
        if node.name:
            self.stored.add(node.name)
        self.generic_visit(node)

    def visit_Match(self, node):
        self.visit(node.subject)
        self.inside(list(node.cases))

    def visit_IfExp(self, node):
        self.visit(node.test)
        self.inside(node.body, node.orelse)

    def visit_BoolOp(self, node):
        self.visit(node.values[0])
        self.inside(node.values[1:])

    def scope(self, bound, *parts):
        """A scope of its own: what it binds is not the block's."""
        inner = _Reads()
        inner.assigned |= bound
        inner.inside(*parts)
        for name, node in inner.reads.items():
            if name not in self.assigned and name not in bound:
                self.reads.setdefault(name, node)

    def visit_ListComp(self, node):
        bound = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        element = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self.scope(bound, [part for g in node.generators for part in (g.iter, *g.ifs)], element)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_Lambda(self, node):
        self.visit_defaults(node.args)
        self.scope({a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}, node.body)

    def visit_defaults(self, args):
        for default in [*args.defaults, *args.kw_defaults]:
            if default is not None:
                self.visit(default)

    def visit_FunctionDef(self, node):
        self.visit_defaults(node.args)
        body = _Reads()
        body.inside(node.body)
        bound = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)} | body.stored
        self.scope(bound, node.body)
        self.store(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.inside(node.bases, node.body)
        self.store(node.name)

    def store(self, name):
        self.stored.add(name)
        if self.depth == 0:
            self.assigned.add(name)

    def visit_Import(self, node):
        for alias in node.names:
            self.store((alias.asname or alias.name).partition(".")[0])

    visit_ImportFrom = visit_Import


def _leaves(nodes, loop=False):
    """A statement that would leave the block, or None."""
    for node in nodes:
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)):
            return node
        if isinstance(node, (ast.Break, ast.Continue)) and not loop:
            return node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        inner = loop or isinstance(node, (ast.For, ast.While, ast.AsyncFor))
        found = _leaves(ast.iter_child_nodes(node), inner)
        if found:
            return found
    return None


class _Lift(ast.NodeTransformer):
    def __init__(self, function, tree):
        self.function, self.tree, self.blocks, self.chunks = function, tree, [], 0
        code = function.__code__
        self.locals = set(code.co_varnames) | set(code.co_cellvars)

    def manager_of(self, node):
        """What a with statement names, or None."""
        call = node.items[0].context_expr
        name = call.func if isinstance(call, ast.Call) else call
        try:
            return eval(compile(ast.Expression(name), "<objmode>", "eval"), _space(self.function))
        except Exception:
            return None

    def is_objmode(self, node):
        return getattr(self.manager_of(node), "_quern_name", None) == "objmode"

    def with_chunks(self, node):
        """`with parallel_chunksize(n):` sets the size and, however the block is left, sets what was there before."""
        self.chunks += 1
        call, saved = node.items[0].context_expr, f"chunks_before_{self.chunks}"
        body = [self.visit(statement) for statement in node.body]
        before = ast.Assign([ast.Name(saved, ast.Store())], ast.Call(ast.Name(_SET_CHUNKS, ast.Load()), call.args, call.keywords))
        after = ast.Expr(ast.Call(ast.Name(_SET_CHUNKS, ast.Load()), [ast.Name(saved, ast.Load())], []))
        for part in (*ast.walk(before), *ast.walk(after)):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, call)
        return [before, ast.copy_location(ast.Try(body, [], [], [after]), node)]

    def visit_FunctionDef(self, node):
        for inner in ast.walk(node):
            if isinstance(inner, ast.With) and self.is_objmode(inner):
                raise _error(self.function, inner, "it cannot stand in a function that the compiled one makes")
        return node

    visit_Lambda = visit_FunctionDef

    def visit_With(self, node):
        chunks = len(node.items) == 1 and isinstance(node.items[0].context_expr, ast.Call) and self.manager_of(node) is parallel_chunksize
        if chunks and not node.items[0].optional_vars:
            return self.with_chunks(node)
        if not self.is_objmode(node):
            return self.generic_visit(node)
        call = node.items[0].context_expr
        if not isinstance(call, ast.Call):  # with objmode: no results
            call = ast.copy_location(ast.Call(call, [], []), call)
        self.check(node, call)
        reads = _Reads()
        for statement in node.body:
            reads.visit(statement)
        outputs = [k.arg for k in call.keywords]
        inputs = [name for name in reads.reads if name in self.locals and not self.only_here(name, node)]
        inputs += [name for name in outputs if name not in reads.stored and name in self.locals and name not in inputs]
        inputs += [name for name in outputs if name in reads.stored - reads.assigned and not self.only_here(name, node)
                   and name not in inputs]
        self.check_rest(node, reads.stored - set(outputs))
        name = f"objmode_block_{len(self.blocks) + 1}"
        self.blocks.append((name, node, inputs, outputs, [k.value for k in call.keywords]))
        made = ast.Call(ast.Name(name, ast.Load()), [ast.Name(i, ast.Load()) for i in inputs], [])
        target = [ast.Name(o, ast.Store()) for o in outputs]
        target = target[0] if len(target) == 1 else ast.Tuple(target, ast.Store())
        new = ast.Assign([target], made) if outputs else ast.Expr(made)
        for part in ast.walk(new):
            ast.copy_location(part, call)
        return new

    def check(self, node, call):
        if len(node.items) != 1 or node.items[0].optional_vars:
            raise _error(self.function, node, "it is written `with objmode(name='type'):`, alone")
        if call.args or any(k.arg is None for k in call.keywords):
            raise _error(self.function, node, "Positional arguments are not allowed: results are declared by name, as in objmode(y='float64')")
        left = _leaves(node.body)
        if left is not None:
            raise _error(self.function, left, f"the block cannot be left by `{type(left).__name__.lower()}`")

    def only_here(self, name, node):
        """Is the local used nowhere but in the block?"""
        inside = {id(n) for n in ast.walk(node)}
        args = [a.arg for a in ast.walk(self.tree.args) if isinstance(a, ast.arg)]
        return name not in args and not any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) and id(n) not in inside
            for n in ast.walk(self.tree)) and not any(name in block[3] for block in self.blocks)

    def check_rest(self, node, undeclared):
        inside = {id(n) for n in ast.walk(node)}
        for use in ast.walk(self.tree):
            if (isinstance(use, ast.Name) and isinstance(use.ctx, ast.Load) and use.id in undeclared and id(use) not in inside
                    and use.id in self.locals and use.lineno > node.end_lineno):
                raise _error(self.function, use, f"the type of '{use.id}', which the block assigns and which is used behind it, is not "
                             f"declared: objmode({use.id}='int64')")


def _space(function):
    """What names mean to the function."""
    space = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            space[name] = cell.cell_contents
        except ValueError:
            pass
    return space


class _TypeNames(dict):
    """What a declared type may name: globals, and types of Quern."""

    def __missing__(self, name):
        try:
            return getattr(types, name)
        except AttributeError:
            raise KeyError(name) from None


def _type_of(function, name, expression):
    """What a keyword of objmode() declares."""
    try:
        value = eval(compile(ast.Expression(expression), function.__code__.co_filename, "eval"), _space(function))
        if isinstance(value, str):
            value = eval(value, {"__builtins__": {}}, _TypeNames(_space(function)))
    except Exception as error:
        raise errors.TypingError(f"objmode: {name}={ast.unparse(expression)}: {type(error).__name__}: {error}") from error
    if not isinstance(value, types.Type):
        raise errors.TypingError(f"objmode: {name}={ast.unparse(expression)}: that is no type")
    return value


def _tree_of(function):
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise _error(function, None, "the source of the function is needed, and there is none") from None
    text = "".join(lines)
    shift = len(text) - len(text.lstrip())
    tree = ast.parse(textwrap.dedent(text)).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise _error(function, None, "a def is expected")
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno, node.end_lineno = node.lineno + first - 1, node.end_lineno + first - 1
            node.col_offset, node.end_col_offset = node.col_offset + shift, node.end_col_offset + shift
    tree.decorator_list = []
    return tree


def _codes(function, tree, blocks, more):
    """Code objects of the function and of its blocks, by name, compiled with the same closure variables and `more`."""
    free = list(function.__code__.co_freevars) + [name for name, *_ in blocks] + more
    body = []
    for name, node, inputs, outputs, _ in blocks:
        result = [ast.Name(o, ast.Load()) for o in outputs]
        back = ast.Return(result[0] if len(result) == 1 else ast.Tuple(result, ast.Load()) if result else None)
        made = ast.FunctionDef(name, ast.arguments([], [ast.arg(i) for i in inputs], None, [], [], None, []), node.body + [back], [],
                               None, None, *([[]] if "type_params" in ast.FunctionDef._fields else []))
        body.append(ast.copy_location(made, node))
    outer = ast.FunctionDef("closure", ast.arguments([], [ast.arg(n) for n in free], None, [], [], None, []), [*body, tree], [], None,
                            None, *([[]] if "type_params" in ast.FunctionDef._fields else []))
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, tree)], []))
    future = function.__code__.co_flags & 0x1FFF000
    whole = compile(module, function.__code__.co_filename, "exec", future, True)
    inner = next(c for c in whole.co_consts if isinstance(c, _types.CodeType))
    return {c.co_name: c for c in inner.co_consts if isinstance(c, _types.CodeType)}


def _function(like, code, cells, qualname):
    made = _types.FunctionType(code.replace(co_qualname=qualname), like.__globals__, like.__name__, None,
                               tuple(cells[name] for name in code.co_freevars))
    made.__module__ = like.__module__
    return made


def lifted(function):
    """The function with its objmode blocks as functions that it calls, and its `with parallel_chunksize(n):` as try and finally; itself
    where it has none."""
    code = function.__code__
    if _NAMES.isdisjoint(code.co_names) and _NAMES.isdisjoint(code.co_freevars):
        return function
    tree = _tree_of(function)
    lift = _Lift(function, tree)
    lift.generic_visit(tree)
    if not lift.blocks and not lift.chunks:
        return function
    codes = _codes(function, tree, lift.blocks, [_SET_CHUNKS] if lift.chunks else [])
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    cells[_SET_CHUNKS] = _types.CellType(set_parallel_chunksize)
    for name, node, inputs, outputs, declared in lift.blocks:
        block = _function(function, codes[name], cells, f"{code.co_qualname}.<objmode>")
        block.__name__ = name
        cells[name] = _types.CellType(block)
        _Block(block, code.co_qualname, inputs, outputs,
               lambda names=outputs, declared=declared: [_type_of(function, *pair) for pair in zip(names, declared)]).overload()
    made = _function(function, codes[code.co_name], cells, code.co_qualname)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made.__doc__, made.__annotations__ = function.__doc__, function.__annotations__
    made.__wrapped__ = function
    return made
