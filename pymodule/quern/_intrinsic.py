"""@intrinsic: functions whose code a library writes with a builder of LLVM's, instruction by instruction.

The builder here writes Python: each instruction becomes an assignment of a function of the compiled subset, which is compiled in place
of the intrinsic as an overload is. So it goes wherever compiled code goes, kernels and other devices included. Values are numbers, tuples
of them, and what only passes through; memory is what alloca gives: a variable, or, with a size, an array. Everything else of LLVM is refused by name.

An int of LLVM has no sign: a value of iN is a signed int of N bits here, one of i1 a bool, a struct a tuple.

The parameters keep the names of the definition. Each other name in the code begins with @, for which a stem is written in the end that no
parameter begins with."""
import contextlib
import inspect
import itertools
import linecache
import math

import numpy as np

from . import _llvm as ir
from . import errors, types
from ._names import Intrinsic
from .library import bits as _bits
from .library import pointers as _pointers
from .library.primitives import memory_at

_LLVM_OF_FLOAT = {32: "float", 64: "double"}
_FLOATS = {"float": "float32", "double": "float64"}
_NUMBERS = (types.Number, types.Boolean)
_GIVEN = {"@np": np, "@math": math, "@bits": _bits, "@fma": Intrinsic("math.fma"), "@abs": abs, "@bool": bool, "@complex": complex, "@max": max,
          "@min": min, "@range": range, "@memory_at": memory_at, "@pointers": _pointers}


def refuse(what):
    raise errors.UnsupportedError(f"@intrinsic: {what} is not supported; write the function in Python, with @overload or without")


# -- values -------------------------------------------------------------------------------------------------------------


class Value:
    """A variable or a constant of the function that is written; `kind` is the text of its LLVM type, None of what only passes through."""

    def __init__(self, code, kind, quern=None):
        self.code, self.kind, self.quern = code, kind, quern
        self.name = code

    @property
    def type(self):
        if self.kind is None:
            refuse(f"the LLVM type of a value of {self.quern}")
        return ir.parse(self.kind)

    def __str__(self):
        return f"{self.kind} %{self.code}"


class Pointer:
    """What alloca gives: a variable."""

    def __init__(self, code, kind):
        self.code, self.kind = code, kind
        self.type = ir.parse(kind).as_pointer()


class Function:
    """What a module declares."""

    def __init__(self, name, function_type):
        self.name, self.function_type, self.ftype = name, function_type, function_type
        self.attributes = set()
        self.args = [Value(f"arg{i}", str(t)) for i, t in enumerate(function_type.args)]


class _Module:
    """builder.module"""

    def __init__(self):
        self.globals = {}

    def declare_intrinsic(self, name, tys=(), fnty=None):
        kinds = [str(t) for t in tys]
        return Function(".".join([name, *(ir.short(k) for k in kinds)]), fnty or ir.FunctionType(tys[0], tys[:1]))

    def get_global(self, name):
        return self.globals[name]

    def __getattr__(self, name):
        refuse(f"module.{name}")


# -- between the types of the program and those of LLVM -------------------------------------------------------------


def kind_of(t):
    """None: values of the type only pass through."""
    t = types.unliteral(t)
    if isinstance(t, types.Boolean):
        return "i1"
    if isinstance(t, types.Integer):
        return f"i{t.bitwidth}"
    if isinstance(t, types.Float):
        return _LLVM_OF_FLOAT.get(t.bitwidth)
    if isinstance(t, types.Complex):
        part = _LLVM_OF_FLOAT[t.bitwidth // 2]
        return f"{{{part}, {part}}}"
    if isinstance(t, types.BaseTuple):
        parts = [kind_of(part) for part in t]
        if None in parts:
            return None
        return ir.struct_text(parts)
    return None


def _entering(t, code):
    """A value of the program, as LLVM's."""
    t = types.unliteral(t)
    if isinstance(t, types.Integer) and not isinstance(t, types.Boolean):
        return code if t.signed else f"@np.int{t.bitwidth}({code})"
    if isinstance(t, types.Complex):
        return f"({code}.real, {code}.imag)"
    if isinstance(t, types.BaseTuple) and kind_of(t):
        return "(" + "".join(_entering(part, f"{code}[{i}]") + ", " for i, part in enumerate(t)) + ")"
    return code


def _leaving(t, code):
    t = types.unliteral(t)
    if isinstance(t, types.Integer) and not isinstance(t, types.Boolean):
        return f"@np.{t.name}({code})"
    if isinstance(t, types.Complex):
        return f"@np.{t.name}(@complex({code}[0], {code}[1]))"
    if isinstance(t, types.BaseTuple) and kind_of(t):
        return "(" + "".join(_leaving(part, f"{code}[{i}]") + ", " for i, part in enumerate(t)) + ")"
    return code


def _converted(source, to, code):
    """A value of the program, in another type of the program."""
    source, to = types.unliteral(source), types.unliteral(to)
    if source == to or not isinstance(to, _NUMBERS):
        return code
    if not isinstance(source, _NUMBERS):
        raise errors.TypingError(f"cannot convert {source} to {to}")
    return f"({code} != 0)" if isinstance(to, types.Boolean) else f"@np.{to.name}({code})"


# -- the builder --------------------------------------------------------------------------------------------------------


def _width(kind):
    """Of an int; 0 of anything else."""
    return int(kind[1:]) if kind and kind[0] == "i" and kind[1:].isdigit() else 0


def _is_float(kind):
    return kind in _FLOATS


class Builder:
    """Of the names of llvmlite's IRBuilder those that compute."""

    def __init__(self):
        self.head, self.lines, self.indent, self.numbers, self.module = [], [], 1, itertools.count(), _Module()
        self.names = dict(_GIVEN)

    def write(self, line):
        self.lines.append("    " * self.indent + line)

    def let(self, code, kind, quern=None):
        name = f"@v{next(self.numbers)}"
        self.write(f"{name} = {code}")
        return Value(name, kind, quern)

    def named(self, what):
        """A name in the function for an object."""
        for name, known in self.names.items():
            if known is what:
                return name
        name = f"@f{len(self.names)}"
        self.names[name] = what
        return name

    def operand(self, value):
        """Its code and the text of its LLVM type."""
        if isinstance(value, Value):
            return value.code, value.kind
        if hasattr(value, "constant") and hasattr(value, "type"):  # ir.Constant
            return _constant(str(value.type), value.constant), str(value.type)
        return refuse(f"the operand {value!r}")

    def _same(self, a, b):
        a, kind = self.operand(a)
        b, other = self.operand(b)
        if kind != other:
            raise TypeError(f"Operands must be the same type, got ({kind}, {other})")
        return a, b, kind

    def _int(self, code, kind):
        """The result of arithmetic, which wraps."""
        return self.let(f"(@np.int64({code}) & 1) != 0" if kind == "i1" else f"@np.int{_sized(kind)}({code})", kind)

    def _arithmetic(self, a, b, sign, of_bools):
        a, b, kind = self._same(a, b)
        if kind == "i1":
            return self.let(of_bools.format(a=a, b=b), kind)
        return self._int(f"{a} {sign} {b}", kind)

    def add(self, lhs, rhs, name="", flags=()):
        return self._arithmetic(lhs, rhs, "+", "{a} != {b}")

    def sub(self, lhs, rhs, name="", flags=()):
        return self._arithmetic(lhs, rhs, "-", "{a} != {b}")

    def mul(self, lhs, rhs, name="", flags=()):
        return self._arithmetic(lhs, rhs, "*", "{a} and {b}")

    def and_(self, lhs, rhs, name="", flags=()):
        return self._arithmetic(lhs, rhs, "&", "{a} and {b}")

    def or_(self, lhs, rhs, name="", flags=()):
        return self._arithmetic(lhs, rhs, "|", "{a} or {b}")

    def xor(self, lhs, rhs, name="", flags=()):
        return self._arithmetic(lhs, rhs, "^", "{a} != {b}")

    def shl(self, lhs, rhs, name="", flags=()):
        return self._arithmetic(lhs, rhs, "<<", "{a} and not {b}")

    def ashr(self, lhs, rhs, name="", flags=()):
        return self._arithmetic(lhs, rhs, ">>", "{a} or {b}")

    def _unsigned(self, lhs, rhs, sign):
        a, b, kind = self._same(lhs, rhs)
        return self._int(f"{_as_unsigned(a, kind)} {sign} {_as_unsigned(b, kind)}", kind)

    def lshr(self, lhs, rhs, name="", flags=()):
        return self._unsigned(lhs, rhs, ">>")

    def udiv(self, lhs, rhs, name="", flags=()):
        return self._unsigned(lhs, rhs, "//")

    def urem(self, lhs, rhs, name="", flags=()):
        return self._unsigned(lhs, rhs, "%")

    def _signed(self, lhs, rhs, function):
        a, b, kind = self._same(lhs, rhs)
        return self._int(f"@bits.{function}({_as_signed(a, kind)}, {_as_signed(b, kind)})", kind)

    def sdiv(self, lhs, rhs, name="", flags=()):
        return self._signed(lhs, rhs, "divided")

    def srem(self, lhs, rhs, name="", flags=()):
        return self._signed(lhs, rhs, "remainder")

    def neg(self, value, name="", flags=()):
        code, kind = self.operand(value)
        return self._int(f"-{_as_signed(code, kind)}", kind)

    def not_(self, value, name=""):
        code, kind = self.operand(value)
        return self.let(f"not {code}", kind) if kind == "i1" else self._int(f"~{code}", kind)

    def _of_floats(self, lhs, rhs, code):
        a, b, kind = self._same(lhs, rhs)
        if not _is_float(kind):
            raise TypeError(f"Operands must be floats, not {kind}")
        return self.let(code.format(a=a, b=b), kind)

    def fadd(self, lhs, rhs, name="", flags=()):
        return self._of_floats(lhs, rhs, "{a} + {b}")

    def fsub(self, lhs, rhs, name="", flags=()):
        return self._of_floats(lhs, rhs, "{a} - {b}")

    def fmul(self, lhs, rhs, name="", flags=()):
        return self._of_floats(lhs, rhs, "{a} * {b}")

    def fdiv(self, lhs, rhs, name="", flags=()):
        return self._of_floats(lhs, rhs, "@np.divide({a}, {b})")

    def frem(self, lhs, rhs, name="", flags=()):
        return self._of_floats(lhs, rhs, "@np.fmod({a}, {b})")

    def fneg(self, value, name="", flags=()):
        code, kind = self.operand(value)
        return self.let(f"-{code}", kind)

    def fma(self, a, b, c, name="", flags=()):
        return self._math("fma", [a, b, c])

    def icmp_signed(self, cmpop, lhs, rhs, name=""):
        a, b, kind = self._same(lhs, rhs)
        _sized(kind)
        return self.let(f"{_as_signed(a, kind)} {cmpop} {_as_signed(b, kind)}", "i1")

    def icmp_unsigned(self, cmpop, lhs, rhs, name=""):
        a, b, kind = self._same(lhs, rhs)
        return self.let(f"{_as_unsigned(a, kind)} {cmpop} {_as_unsigned(b, kind)}", "i1")

    def fcmp_ordered(self, cmpop, lhs, rhs, name="", flags=()):
        code = {"!=": "({a} < {b} or {a} > {b})", "ord": "({a} == {a} and {b} == {b})", "uno": "({a} != {a} or {b} != {b})"}
        return self._compared(lhs, rhs, code.get(cmpop, f"{{a}} {cmpop} {{b}}"))

    def fcmp_unordered(self, cmpop, lhs, rhs, name="", flags=()):
        inverse = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
        code = {"==": "not ({a} < {b} or {a} > {b})", "!=": "{a} != {b}"}
        if cmpop in ("ord", "uno"):
            return self.fcmp_ordered(cmpop, lhs, rhs)
        return self._compared(lhs, rhs, code.get(cmpop) or f"not ({{a}} {inverse[cmpop]} {{b}})")

    def _compared(self, lhs, rhs, code):
        a, b, kind = self._same(lhs, rhs)
        if not _is_float(kind):
            raise TypeError(f"Operands must be floats, not {kind}")
        return self.let(code.format(a=a, b=b), "i1")

    def select(self, cond, lhs, rhs, name="", flags=()):
        a, b, kind = self._same(lhs, rhs)
        return self.let(f"{a} if {self.operand(cond)[0]} else {b}", kind)

    # -- conversions

    def trunc(self, value, typ, name=""):
        code, _ = self.operand(value)
        kind = str(typ)
        return self.let(f"({code} & 1) != 0", kind) if kind == "i1" else self._int(code, kind)

    def zext(self, value, typ, name=""):
        code, kind = self.operand(value)
        return self._int(_as_unsigned(code, kind), str(typ))

    def sext(self, value, typ, name=""):
        code, kind = self.operand(value)
        return self._int(_as_signed(code, kind), str(typ))

    def _float(self, value, typ, signed=True):
        code, kind = self.operand(value)
        to = _FLOATS.get(str(typ)) or refuse(f"a conversion to {typ}")
        if _width(kind):
            code = _as_signed(code, kind) if signed else _as_unsigned(code, kind)
        return self.let(f"@np.{to}({code})", str(typ))

    def fptrunc(self, value, typ, name=""):
        return self._float(value, typ)

    def fpext(self, value, typ, name=""):
        return self._float(value, typ)

    def sitofp(self, value, typ, name=""):
        return self._float(value, typ)

    def uitofp(self, value, typ, name=""):
        return self._float(value, typ, False)

    def fptosi(self, value, typ, name=""):
        return self._int(self.operand(value)[0], str(typ))

    def fptoui(self, value, typ, name=""):
        return self._int(f"@np.uint{max(_sized(str(typ)), 8)}({self.operand(value)[0]})", str(typ))

    def bitcast(self, value, typ, name=""):
        code, kind = self.operand(value)
        to = str(typ)
        if kind == to:
            return value
        if {kind, to} not in ({"i32", "float"}, {"i64", "double"}):
            refuse(f"a bitcast of {kind} to {to}")
        return self.let(f"@bits.same_bits({code})", to)

    def inttoptr(self, value, typ, name=""):
        """What is taken for a pointer: an array without an end."""
        code, kind = self.operand(value)
        if str(typ)[-1:] != "*":
            refuse(f"inttoptr to {typ}")
        dtype = _element(str(typ)[:-1], "inttoptr")
        code = f"@memory_at({_as_signed(code, kind)})"
        if dtype != "int8":
            code = f"@pointers.carray({code}, {2 ** 63 // np.dtype(dtype).itemsize - 1}, @np.{dtype})"
        return self.let(code, str(typ))

    # -- functions

    def _math(self, name, args):
        codes, kinds = zip(*map(self.operand, args))
        if not all(map(_is_float, kinds)):
            refuse(f"{name}() of {', '.join(kinds)}")
        return self.let(f"@np.{_FLOATS[kinds[0]]}({_MATH[name].format(*codes)})", kinds[0])

    def _of_bits(self, name, args):
        codes, kinds = zip(*map(self.operand, args))
        given = _as_signed if name in _OF_SIGNED else _as_unsigned
        return self._int(_BITS[name].format(*map(given, codes, kinds), n=_sized(kinds[0])), kinds[0])

    def ctpop(self, cond, name=""):
        return self._of_bits("ctpop", [cond])

    def bswap(self, cond, name=""):
        return self._of_bits("bswap", [cond])

    def bitreverse(self, cond, name=""):
        return self._of_bits("bitreverse", [cond])

    def ctlz(self, cond, flag, name=""):
        return self._of_bits("ctlz", [cond])

    def cttz(self, cond, flag, name=""):
        return self._of_bits("cttz", [cond])

    def call(self, fn, args, name="", **options):
        if not isinstance(fn, Function):
            refuse(f"a call of {fn!r}")
        word = fn.name
        if word.startswith("llvm."):
            word = word.split(".")[1]
        elif word.endswith("f") and word[:-1] in _MATH and str(fn.function_type.return_type) == "float":
            word = word[:-1]
        if word in ("assume", "dbg", "donothing", "lifetime"):
            return None
        if word in _MATH:
            return self._math(word, args)
        if word in _BITS:
            return self._of_bits(word, args[:2] if "{1}" in _BITS[word] else args[:1])
        return refuse(f"a call of '{fn.name}'")

    # -- aggregates

    def extract_value(self, agg, idx, name=""):
        code, kind = self.operand(agg)
        for i in [idx] if isinstance(idx, int) else idx:
            code, kind = f"{code}[{i}]", ir.parts_of(kind)[i]
        return self.let(code, kind)

    def insert_value(self, agg, value, idx, name=""):
        code, kind = self.operand(agg)
        if not isinstance(idx, int):
            [idx] = idx
        parts = [f"{code}[{i}]" for i in range(len(ir.parts_of(kind)))]
        parts[idx] = self.operand(value)[0]
        return self.let("(" + "".join(part + ", " for part in parts) + ")", kind)

    # -- memory: variables

    def alloca(self, typ, size=None, name=""):
        kind = str(typ)
        if size is not None:  # an array of the heap, which lives as long as somebody has it, and not until the function returns
            return self.let(f"@np.empty({self.operand(size)[0]}, @np.{_element(kind, 'alloca with a size')})", f"{kind}*")
        pointer = Pointer(f"@m{next(self.numbers)}", kind)
        self.head.append(f"    {pointer.code} = {_constant(kind, None)}")  # once, wherever the builder stands
        return pointer

    def store(self, value, ptr, align=None):
        if not isinstance(ptr, Pointer):
            refuse("a store to memory that is not alloca's")
        self.write(f"{ptr.code} = {self.operand(value)[0]}")

    def load(self, ptr, name="", align=None, typ=None):
        if not isinstance(ptr, Pointer):
            refuse("a load of memory that is not alloca's")
        return self.let(ptr.code, ptr.kind)

    # -- control

    @contextlib.contextmanager
    def _block(self, head):
        self.write(head)
        self.indent += 1
        yield
        self.write("pass")
        self.indent -= 1

    def if_then(self, pred, likely=None):
        return self._block(f"if {self.operand(pred)[0]}:")

    @contextlib.contextmanager
    def if_else(self, pred, likely=None):
        yield self._block(f"if {self.operand(pred)[0]}:"), self._block("else:")

    def loop(self, count, start="0", step="1"):
        index = f"@v{next(self.numbers)}"
        return index, self._block(f"for {index} in @range({start}, {count}, {step}):")

    def comment(self, text):
        pass

    def assume(self, cond):
        pass

    def unreachable(self):
        refuse("unreachable")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return refuse(f"builder.{name}")


def _sized(kind):
    """Of an int that compiled code has."""
    n = _width(kind)
    return n if n in (1, 8, 16, 32, 64) else refuse(f"the LLVM type {kind} here")


def _element(kind, what):
    """NumPy's name of what a pointer points to."""
    return _FLOATS.get(kind) or (f"int{_sized(kind)}" if _width(kind) > 1 else refuse(f"{what} of {kind}"))


def _as_signed(code, kind):
    """An int as one of Python's: of the bools True is -1."""
    return f"(-1 if {code} else 0)" if _sized(kind) == 1 else code


def _as_unsigned(code, kind):
    return f"@np.uint{max(_sized(kind), 8)}({code})"


def _constant(kind, value):
    """`value` None: zero."""
    n = _width(kind)
    if type(value).__name__ == type(ir.Undefined).__name__:  # llvmlite's or the one here
        value = None
    if n == 1:
        return str(bool(value))
    if n:
        value = (int(value or 0) + (1 << n - 1)) % (1 << n) - (1 << n - 1)
        return f"@np.int{_sized(kind)}({value})"
    if _is_float(kind):
        word = "@np.float32" if kind == "float" else "@np.float64"
        value = float(value or 0)
        text = repr(value) if math.isfinite(value) else f"@np.{value!r}" if value > 0 or value != value else "-@np.inf"
        return f"{word}({text})"
    parts = ir.parts_of(kind)
    values = [None] * len(parts) if value is None else [getattr(v, "constant", v) for v in value]
    return "(" + "".join(_constant(part, v) + ", " for part, v in zip(parts, values)) + ")"


# LLVM's names, and those of the C library
_MATH = {name: f"@np.{name}({{0}})" for name in ("sqrt", "floor", "ceil", "trunc", "rint", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan",
                                               "sinh", "cosh", "tanh", "expm1", "log1p", "cbrt")}
_MATH.update(
    fabs="@np.fabs({0})", nearbyint="@np.rint({0})", roundeven="@np.rint({0})", pow="@np.power({0}, {1})", asin="@np.arcsin({0})", acos="@np.arccos({0})",
    atan="@np.arctan({0})", atan2="@np.arctan2({0}, {1})", hypot="@np.hypot({0}, {1})", copysign="@np.copysign({0}, {1})",
    fma="@fma({0}, {1}, {2})", fmuladd="{0} * {1} + {2}", minnum="@np.fmin({0}, {1})", maxnum="@np.fmax({0}, {1})",
    minimum="@np.minimum({0}, {1})", maximum="@np.maximum({0}, {1})", fmod="@np.fmod({0}, {1})", fmin="@np.fmin({0}, {1})", fmax="@np.fmax({0}, {1})",
    round="@bits.rounded({0})", erf="@math.erf({0})", erfc="@math.erfc({0})",
    tgamma="@math.gamma({0})", lgamma="@math.lgamma({0})")
_BITS = {
    "ctpop": "@bits.ones({0})", "ctlz": "@bits.leading_zeros({0}, {n})", "cttz": "@bits.trailing_zeros({0}, {n})",
    "bswap": "@bits.swapped({0}, {n})", "bitreverse": "@bits.reversed({0}, {n})", "abs": "@abs({0})",
    "smin": "@min({0}, {1})", "smax": "@max({0}, {1})", "umin": "@min({0}, {1})", "umax": "@max({0}, {1})"}
_OF_SIGNED = {"abs", "smin", "smax"}


# -- what else a library is given -----------------------------------------------------------------------------------


class Context:
    """Of the target context the part that makes and converts values."""

    def get_value_type(self, ty):
        kind = kind_of(ty)
        return ir.parse(kind) if kind else refuse(f"the LLVM type of {ty}")

    get_data_type = get_argument_type = get_return_type = get_value_type

    def get_constant(self, ty, val):
        t = types.unliteral(ty)
        if isinstance(t, types.Complex):
            part = ir.parts_of(kind_of(t))[0]
            return Value(f"({_constant(part, val.real)}, {_constant(part, val.imag)})", kind_of(t))
        kind = kind_of(t) or refuse(f"a constant of {ty}")
        return Value(_constant(kind, val), kind)

    def get_constant_generic(self, builder, ty, val):
        return self.get_constant(ty, val)

    def get_constant_null(self, ty):
        return self.get_constant(ty, None)

    get_constant_undef = get_constant_null

    def get_dummy_value(self):
        return Value("None", None, types.none)

    def cast(self, builder, val, fromty, toty):
        code, _ = builder.operand(val)
        return builder.let(_entering(toty, _converted(fromty, toty, _leaving(fromty, code))), kind_of(toty), toty)

    def _called(self, builder, function, sig, args):
        codes = [_leaving(t, builder.operand(arg)[0]) for t, arg in zip(sig.args, args)]
        result = f"{builder.named(function)}({', '.join(codes)})"
        t = sig.return_type
        if isinstance(t, types.NoneType):
            builder.write(result)
            return self.get_dummy_value()
        name = builder.let(result, None)
        if isinstance(types.unliteral(t), _NUMBERS):
            word = "@bool" if isinstance(types.unliteral(t), types.Boolean) else f"@np.{types.unliteral(t).name}"
            name = builder.let(f"{word}({name.code})", None)
        return builder.let(_entering(t, name.code), kind_of(t), t)

    def compile_internal(self, builder, impl, sig, args, locals={}):
        return self._called(builder, impl, sig, args)

    def get_function(self, fn, sig):
        return lambda builder, args: self._called(builder, fn, sig, args)

    def make_tuple(self, builder, typ, values):
        codes = [builder.operand(value)[0] for value in values]
        return builder.let("(" + "".join(code + ", " for code in codes) + ")", kind_of(typ), typ)

    def make_complex(self, builder, ty, value=None):
        return Complex(self, builder, ty, value)

    def is_true(self, builder, typ, val):
        code, kind = builder.operand(val)
        return builder.let(code if kind == "i1" else f"{code} != 0", "i1")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return refuse(f"context.{name}")


class Complex:
    """The parts of a complex number: cgutils' proxy of one."""

    def __init__(self, context, builder, ty, value):
        self._builder, self._ty = builder, ty
        if value is None:
            value = context.get_constant(ty, 0j)
        self.real, self.imag = (builder.extract_value(value, i) for i in (0, 1))

    def _getvalue(self):
        parts = [self._builder.operand(part)[0] for part in (self.real, self.imag)]
        return self._builder.let(f"({parts[0]}, {parts[1]})", kind_of(self._ty), self._ty)


class TypingContext:
    """What a definition may ask while it looks at types."""

    def resolve_value_type(self, value):
        return types.typeof(value)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return refuse(f"typingctx.{name}")


# -- the implementation -----------------------------------------------------------------------------------------------

_made = itertools.count(1)


def implementation(definition, arguments, names):
    """The Python function of an intrinsic for these types, the last of which are those of the keywords `names`; None: it has none."""
    plain = len(arguments) - len(names)
    found = definition(TypingContext(), *arguments[:plain], **dict(zip(names, arguments[plain:])))
    if found is None:
        return None
    sig, codegen = found
    bound = inspect.signature(definition).bind(None, *arguments[:plain], **dict(zip(names, arguments[plain:])))
    parameters, given = _parameters(definition, bound.arguments)
    if len(sig.args) != len(given):
        raise errors.TypingError(f"the intrinsic '{definition.__name__}' has a signature of {len(sig.args)} arguments for {len(given)}")
    builder, context = Builder(), Context()
    values = [builder.let(_entering(to, _converted(own, to, name)), kind_of(to), to) for name, own, to in zip(parameters, given, sig.args)]
    result = codegen(context, builder, sig, tuple(values))
    if isinstance(sig.return_type, types.NoneType):
        builder.write("return None")
    else:
        builder.write(f"return {_leaving(sig.return_type, builder.operand(result)[0])}")
    return _function(definition.__name__, parameters, builder)


def _parameters(definition, bound):
    """Names and types, starred ones one by one."""
    names, given = [], []
    for number, (name, value) in enumerate(bound.items()):
        if number == 0:
            continue
        kind = inspect.signature(definition).parameters[name].kind
        several = value if kind is inspect.Parameter.VAR_POSITIONAL else [value]
        names += [f"{name}_{i}" for i in range(len(several))] if kind is inspect.Parameter.VAR_POSITIONAL else [name]
        given += several
    return names, given


def _function(name, parameters, builder):
    stem = "_"
    while any(parameter.startswith(stem) for parameter in parameters):
        stem += "_"
    source = "\n".join([f"def @written({', '.join(parameters)}):", *builder.head, *builder.lines, ""]).replace("@", stem)
    filename = f"<intrinsic {name} {next(_made)}>"
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    space = {known.replace("@", stem): what for known, what in builder.names.items()}
    exec(compile(source, filename, "exec"), space)
    function = space[f"{stem}written"]
    function.__name__ = function.__qualname__ = name
    return function
