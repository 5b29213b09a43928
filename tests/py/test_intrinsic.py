"""@intrinsic (quern/_intrinsic.py): definitions that write LLVM's instructions, against Python's ints and NumPy."""
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from test_as_numba import run_as_numba
from quern import carray, cuda, errors, njit, types
from quern import _llvm as ir
from quern.core import cgutils
from quern.core.imputils import impl_ret_untracked
from quern.extending import intrinsic

WORDS = [0, 1, -1, 2, -2, 7, -7, 100, -128, 127, 2**31 - 1, -2**31, 2**63 - 1, -2**63]


def wrapped(n, width):
    return (n + (1 << width - 1)) % (1 << width) - (1 << width - 1)


def binary(name, of=lambda t: t(t, t)):
    """An intrinsic of one instruction with two operands."""
    @intrinsic
    def operation(typingctx, a, b):
        def codegen(context, builder, sig, args):
            return getattr(builder, name)(*args)
        return of(a), codegen
    return njit(lambda a, b: operation(a, b), weak_numbers=False)


def towards_zero(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


INTS = {
    "add": lambda a, b, n: a + b, "sub": lambda a, b, n: a - b, "mul": lambda a, b, n: a * b, "and_": lambda a, b, n: a & b,
    "or_": lambda a, b, n: a | b, "xor": lambda a, b, n: a ^ b, "shl": lambda a, b, n: a << b % n, "ashr": lambda a, b, n: a >> b % n,
    "lshr": lambda a, b, n: a % 2**n >> b % n, "udiv": lambda a, b, n: a % 2**n // (b % 2**n), "urem": lambda a, b, n: a % 2**n % (b % 2**n),
    "sdiv": lambda a, b, n: towards_zero(a, b), "srem": lambda a, b, n: a - towards_zero(a, b) * b,
}


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("cls", [np.int8, np.int32, np.int64, np.uint8, np.uint64])
def test_instructions_of_ints(name, cls):
    width, f = np.dtype(cls).itemsize * 8, binary(name)
    for a, b in itertools.product(WORDS, WORDS):
        a, b = wrapped(a, width), wrapped(b, width)
        if name in ("shl", "ashr", "lshr"):
            b %= width
        if ("div" in name or "rem" in name) and (b == 0 or (b == -1 and a == -2**(width - 1))):
            continue
        want = INTS[name](a, b, width) % 2**width
        given = [np.array(x).astype(np.int64).astype(cls)[()] for x in (a, b)]
        assert int(f(*given)) % 2**width == want, (name, a, b)


@pytest.mark.parametrize("name", ["fadd", "fsub", "fmul", "fdiv", "frem"])
@pytest.mark.parametrize("cls", [np.float32, np.float64])
def test_instructions_of_floats(name, cls):
    f = binary(name)
    reference = {"fadd": np.add, "fsub": np.subtract, "fmul": np.multiply, "fdiv": np.divide, "frem": np.fmod}[name]
    with np.errstate(all="ignore"):
        for a, b in itertools.product([0.0, -0.0, 1.5, -2.25, math.inf, math.nan, 1e30], repeat=2):
            got, want = f(cls(a), cls(b)), reference(cls(a), cls(b))
            assert np.array_equal(np.array(got, cls), want, equal_nan=True), (a, b)


def test_comparisons():
    def compared(method, sign):
        @intrinsic
        def compare(typingctx, a, b):
            return types.boolean(a, b), lambda context, builder, sig, args: getattr(builder, method)(sign, *args)
        return njit(lambda a, b: compare(a, b))

    python = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
              ">=": lambda a, b: a >= b, ">": lambda a, b: a > b}
    numbers = [np.int32(x) for x in (0, 1, -1, 5, -2**31)]
    floats = [np.float64(x) for x in (0.0, 1.0, -1.0, math.inf, math.nan)]
    for sign, reference in python.items():
        signed, unsigned = compared("icmp_signed", sign), compared("icmp_unsigned", sign)
        for a, b in itertools.product(numbers, numbers):
            assert signed(a, b) == reference(a, b)
            assert unsigned(a, b) == reference(int(a) % 2**32, int(b) % 2**32)
        ordered, unordered = compared("fcmp_ordered", sign), compared("fcmp_unordered", sign)
        for a, b in itertools.product(floats, floats):
            nan = a != a or b != b
            assert ordered(a, b) == (not nan and reference(a, b))
            assert unordered(a, b) == (nan or reference(a, b))


@intrinsic
def ones_of_byte(typingctx, val):
    """As pynndescent counts bits: a function of LLVM's, declared in the module."""
    sig = types.uint8(types.uint8)

    def codegen(context, builder, sig, args):
        [val] = args
        function = ir.FunctionType(val.type, [val.type])
        return builder.call(cgutils.get_or_insert_function(builder.module, function, "llvm.ctpop.i8"), [val])
    return sig, codegen


@intrinsic
def int_as_float(typingctx, x):
    if not isinstance(x, types.Integer):
        return None

    def codegen(context, builder, sig, args):
        return builder.bitcast(context.cast(builder, args[0], sig.args[0], types.int32), ir.FloatType())
    return types.float32(x), codegen


@intrinsic
def float_as_int(typingctx, x):
    if not isinstance(x, types.Float) or x.bitwidth != 32:
        return None
    return types.int32(x), lambda context, builder, sig, args: builder.bitcast(args[0], ir.IntType(32))


def test_bits_of_numbers():
    f = njit(lambda n: float_as_int(int_as_float(n)))
    g = njit(lambda n: int_as_float(n))
    h = njit(lambda a: [ones_of_byte(x) for x in a])
    for n in (0, 1, -1, 2**24 + 1, 2**31 - 1, -2**31):
        assert f(n) == n
    assert g(1065353216) == 1.0
    assert h(np.arange(256, dtype=np.uint8)) == [bin(n).count("1") for n in range(256)]
    with pytest.raises(errors.TypingError, match="int_as_float"):
        g(2.5)


def test_functions_of_bits():
    def unary(name, flag=()):
        @intrinsic
        def operation(typingctx, a):
            return a(a), lambda context, builder, sig, args: getattr(builder, name)(args[0], *flag)
        return njit(lambda a: operation(a))

    zero = (cgutils.false_bit,)
    leading, trailing, swap, turn, ones = unary("ctlz", zero), unary("cttz", zero), unary("bswap"), unary("bitreverse"), unary("ctpop")
    for cls, n in itertools.product([np.uint8, np.int16, np.uint32, np.int64, np.uint64], WORDS):
        width = np.dtype(cls).itemsize * 8
        x = np.array(wrapped(n, 64)).astype(cls)[()]
        bits = format(int(x) % 2**width, f"0{width}b")
        assert leading(x) == width - len(bits.lstrip("0")), (cls, n)
        assert trailing(x) == width - len(bits.rstrip("0")), (cls, n)
        assert ones(x) % 2**width == bits.count("1")
        assert int(turn(x)) % 2**width == int(bits[::-1], 2)
        assert int(swap(x)) % 2**width == int.from_bytes((int(x) % 2**width).to_bytes(width // 8, "little"), "big")


def test_conversions():
    def converting(method, to, kind):
        @intrinsic
        def convert(typingctx, a):
            return to(a), lambda context, builder, sig, args: getattr(builder, method)(args[0], kind)
        return njit(lambda a: convert(a))

    assert converting("zext", types.int64, ir.IntType(64))(np.int8(-1)) == 255
    assert converting("sext", types.int64, ir.IntType(64))(np.int8(-1)) == -1
    assert converting("sext", types.int64, ir.IntType(64))(True) == -1
    assert converting("zext", types.int64, ir.IntType(64))(True) == 1
    assert converting("trunc", types.uint8, ir.IntType(8))(300) == 44
    assert converting("sitofp", types.float64, ir.DoubleType())(np.int32(-1)) == -1.0
    assert converting("uitofp", types.float64, ir.DoubleType())(np.int32(-1)) == 2.0**32 - 1
    assert converting("fptosi", types.int32, ir.IntType(32))(-2.75) == -2
    assert converting("fptrunc", types.float32, ir.FloatType())(0.1) == np.float32(0.1)


def test_tuples_and_complex_numbers():
    @intrinsic
    def swapped(typingctx, pair):
        def codegen(context, builder, sig, args):
            a, b = cgutils.unpack_tuple(builder, args[0])
            return context.make_tuple(builder, sig.return_type, (b, a))
        return types.Tuple((pair[1], pair[0]))(pair), codegen

    @intrinsic
    def conjugate(typingctx, z):
        def codegen(context, builder, sig, args):
            z = context.make_complex(builder, sig.args[0], args[0])
            z.imag = builder.fneg(z.imag)
            return impl_ret_untracked(context, builder, sig.return_type, z._getvalue())
        return z(z), codegen

    @intrinsic
    def first_replaced(typingctx, items, x):
        return items(items, x), lambda context, builder, sig, args: builder.insert_value(args[0], args[1], 0)

    assert njit(lambda a, b: swapped((a, b)))(1, 2.5) == (2.5, 1)
    assert njit(lambda z: conjugate(z))(1 + 2j) == 1 - 2j
    assert njit(lambda t, x: first_replaced(t, x))((1, 2, 3), 9) == (9, 2, 3)


def test_control_and_memory():
    @intrinsic
    def collatz(typingctx, n, most):
        """Steps to 1, by variables, loops and branches."""
        def codegen(context, builder, sig, args):
            n = cgutils.alloca_once_value(builder, args[0])
            steps = cgutils.alloca_once(builder, ir.IntType(64))
            one = context.get_constant(types.int64, 1)
            with cgutils.for_range(builder, args[1]) as loop:
                with cgutils.if_unlikely(builder, builder.icmp_signed("==", builder.load(n), one)):
                    loop.do_break()
                builder.store(builder.add(builder.load(steps), one), steps)
                odd = cgutils.is_not_null(builder, builder.and_(builder.load(n), one))
                with builder.if_else(odd) as (then, otherwise):
                    with then:
                        builder.store(builder.add(builder.mul(builder.load(n), ir.Constant(ir.IntType(64), 3)), one), n)
                    with otherwise:
                        builder.store(builder.lshr(builder.load(n), one), n)
            return builder.select(builder.icmp_signed("==", builder.load(n), one), builder.load(steps), context.get_constant(types.int64, -1))
        return types.int64(types.int64, types.int64), codegen

    def python(n, most):
        steps = 0
        while n != 1 and steps < most:
            n, steps = (3 * n + 1 if n & 1 else n >> 1), steps + 1
        return steps if n == 1 else -1

    f = njit(lambda n, most: collatz(n, most))
    for n in range(1, 60):
        for most in (0, 5, 200):
            assert f(n, most) == python(n, most)


def test_functions_of_python_and_mathematics():
    def hypotenuse(a, b):
        return math.sqrt(a * a + b * b)

    @intrinsic
    def length(typingctx, a, b):
        def codegen(context, builder, sig, args):
            return context.compile_internal(builder, hypotenuse, sig, args)
        return types.float64(types.float64, types.float64), codegen

    @intrinsic
    def total(typingctx, a):
        """An array passes through to a function of Python."""
        def codegen(context, builder, sig, args):
            return context.compile_internal(builder, lambda a: a.sum(), sig, args)
        return a.dtype(a), codegen

    @intrinsic
    def root(typingctx, x):
        def codegen(context, builder, sig, args):
            kind = args[0].type
            return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [kind]), args)
        return x(x), codegen

    assert njit(lambda a, b: length(a, b))(3, 4) == 5.0
    assert njit(lambda a: total(a))(np.arange(10.0)) == 45.0
    assert njit(lambda x: root(x))(np.float32(2)) == np.sqrt(np.float32(2))


def test_names_of_a_definition_hide_nothing():
    @intrinsic
    def np_(typingctx, bits, np):
        return types.float32(types.int32, np), lambda context, builder, sig, args: builder.bitcast(args[0], ir.FloatType())

    assert njit(lambda x: np_(x, 2.5))(1065353216) == 1.0


def test_parameters_may_have_the_names_of_the_written_code():
    @intrinsic
    def sub2(typingctx, a, v0):
        return types.int64(types.int64, types.int64), lambda context, builder, sig, args: builder.sub(*args)

    @intrinsic
    def difference(typingctx, _np, v1, _v0, m1, f3, abs, range, _f10):
        """Of the first and the last, by memory, a loop and a function."""
        def codegen(context, builder, sig, args):
            total = cgutils.alloca_once_value(builder, args[0])
            with cgutils.for_range(builder, context.get_constant(types.int64, 3)):
                for arg in args[1:-1]:
                    builder.store(builder.add(builder.load(total), arg), total)
            last = context.compile_internal(builder, lambda x: -x, types.int64(types.int64), [args[-1]])
            function = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
            positive = builder.call(cgutils.get_or_insert_function(builder.module, function, "llvm.abs.i64"), [last])
            return builder.sub(builder.load(total), positive)
        return types.int64(*[types.int64] * 8), codegen

    assert njit(lambda a, b: sub2(a, b))(10, 3) == 7
    f = njit(lambda a, b: difference(a, 1, 2, 3, 4, 5, 6, b))
    for a, b in ((10, 3), (-4, -8)):
        assert f(a, b) == a + 3 * 21 - abs(b)


def test_bools_are_converted():
    def cast(source, to):
        @intrinsic
        def converted(typingctx, x):
            return to(source), lambda context, builder, sig, args: context.cast(builder, args[0], source, to)
        return njit(lambda x: converted(x))

    for source, to, x in ((types.int64, types.boolean, 5), (types.int64, types.boolean, 0), (types.float64, types.boolean, 0.5),
                          (types.boolean, types.int64, True), (types.boolean, types.float32, True), (types.boolean, types.boolean, 7),
                          (types.int32, types.uint8, True), (types.boolean, types.complex128, 1.5)):
        want = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[np.dtype(str(to) if to != types.boolean else "?").kind](
            bool(x) if source == types.boolean else x)
        got = cast(source, to)(x)
        assert got == want and type(got) is type(want), (source, to, x)

    @intrinsic
    def tested(typingctx, x):
        """A function of Python whose result is not of the type that is said."""
        def codegen(context, builder, sig, args):
            return context.compile_internal(builder, lambda x: x * 2, types.boolean(types.int64), args)
        return types.boolean(types.int64), codegen

    assert njit(lambda x: tested(x))(3) is True and njit(lambda x: tested(x))(0) is False
    with pytest.raises(errors.TypingError, match="cannot convert"):
        cast(types.int64, types.int64)("text")


def test_memory_is_made_once():
    @intrinsic
    def sums(typingctx, n):
        """Of what is below n; what a branch made; what is zeroed in each round."""
        def codegen(context, builder, sig, args):
            i64 = ir.IntType(64)
            with cgutils.for_range(builder, args[0]) as loop:
                total, last = cgutils.alloca_once(builder, i64), cgutils.alloca_once(builder, i64, zfill=True)
                builder.store(builder.add(builder.load(total), loop.index), total)
                builder.store(builder.add(builder.load(last), loop.index), last)
            with builder.if_then(builder.icmp_signed(">", args[0], context.get_constant(types.int64, 3))):
                large = cgutils.alloca_once_value(builder, args[0])
            return context.make_tuple(builder, sig.return_type, [builder.load(m) for m in (total, last, large)])
        return types.UniTuple(types.int64, 3)(types.int64), codegen

    f = njit(lambda n: sums(n))
    for n in (0, 1, 3, 4, 9):
        assert f(n) == (sum(range(n)), max(n - 1, 0), n if n > 3 else 0)


@pytest.mark.parametrize("cls", [np.float32, np.float64])
def test_multiply_and_add_rounds_once(cls):
    @intrinsic
    def by_builder(typingctx, a, b, c):
        return a(a, b, c), lambda context, builder, sig, args: builder.fma(*args)

    @intrinsic
    def by_name(typingctx, a, b, c):
        def codegen(context, builder, sig, args):
            return builder.call(builder.module.declare_intrinsic("llvm.fma", [args[0].type]), args)
        return a(a, b, c), codegen

    step = np.finfo(cls).eps
    for a, b, c in ((1 + step, 1 - step, -1.0), (2.0, 3.0, 4.0)):
        want = cls(float(Fraction(float(a)) * Fraction(float(b)) + Fraction(c)))
        for f in (by_builder, by_name):
            assert njit(lambda a, b, c: f(a, b, c))(cls(a), cls(b), cls(c)) == want


def test_undefined_values():
    class _Undefined:  # as llvmlite names its own
        pass

    @intrinsic
    def packed(typingctx, a):
        def codegen(context, builder, sig, args):
            pair = ir.LiteralStructType([ir.IntType(64), ir.IntType(64)])
            out = ir.Constant(pair, _Undefined())
            for i in (0, 1):
                out = builder.insert_value(out, args[0], i)
            return out
        return types.UniTuple(types.int64, 2)(types.int64), codegen

    assert njit(lambda a: packed(a))(7) == (7, 7)


def test_instructions_of_single_bits():
    """LLVM's i1: True is -1 with a sign and 1 without."""
    def of(write, result, n=2):
        @intrinsic
        def two(typingctx, a, b):
            return result(a, b), lambda context, builder, sig, args: write(builder, *args[:n])
        return njit(lambda a, b: two(a, b))

    def named(name):
        def write(builder, *args):
            kind = ir.IntType(1)
            function = ir.FunctionType(kind, [kind] * len(args))
            return builder.call(cgutils.get_or_insert_function(builder.module, function, f"llvm.{name}.i1"), list(args))
        return write

    bools = (False, True)
    for name in INTS:
        f = of(lambda builder, a, b: getattr(builder, name)(a, b), types.boolean)
        for a, b in itertools.product(bools, bools):
            if name in ("shl", "ashr", "lshr") and b or "div" in name and not b or "rem" in name and not b:
                continue  # undefined
            x, y = (-a, -b) if name in ("sdiv", "srem", "ashr") else (a, b)
            assert f(a, b) is bool(int(INTS[name](x, y, 1)) % 2), (name, a, b)
    for name, reference in {"smin": lambda a, b: a or b, "smax": lambda a, b: a and b, "umin": lambda a, b: a and b, "umax": lambda a, b: a or b}.items():
        f = of(named(name), types.boolean)
        for a, b in itertools.product(bools, bools):
            assert f(a, b) is reference(a, b), name
    for write, reference in ((lambda builder, a: builder.neg(a), lambda a: a), (lambda builder, a: builder.not_(a), lambda a: not a),
                             (lambda builder, a: builder.ctpop(a), lambda a: a), (lambda builder, a: builder.bitreverse(a), lambda a: a),
                             (lambda builder, a: builder.ctlz(a, cgutils.false_bit), lambda a: not a),
                             (lambda builder, a: builder.cttz(a, cgutils.false_bit), lambda a: not a), (named("abs"), lambda a: a)):
        for a in bools:
            assert of(write, types.boolean, 1)(a, a) is reference(a)
    for sign, reference in (("<", lambda a, b: a < b), (">=", lambda a, b: a >= b), ("==", lambda a, b: a == b)):
        for a, b in itertools.product(bools, bools):
            assert of(lambda builder, a, b: builder.icmp_unsigned(sign, a, b), types.boolean)(a, b) is reference(a, b)
            assert of(lambda builder, a, b: builder.icmp_signed(sign, a, b), types.boolean)(a, b) is reference(-a, -b)
    for a in bools:
        assert of(lambda builder, a: builder.sitofp(a, ir.DoubleType()), types.float64, 1)(a, a) == -float(a)
        assert of(lambda builder, a: builder.uitofp(a, ir.DoubleType()), types.float64, 1)(a, a) == float(a)
        assert of(lambda builder, a: builder.fptosi(builder.sitofp(a, ir.DoubleType()), ir.IntType(1)), types.boolean, 1)(a, a) is a
        assert of(lambda builder, a: builder.fptoui(builder.uitofp(a, ir.DoubleType()), ir.IntType(1)), types.boolean, 1)(a, a) is a


def test_types_decide():
    @intrinsic
    def width(typingctx, a):
        if isinstance(a, types.Integer):
            return types.int64(a), lambda context, builder, sig, args: context.get_constant(types.int64, a.bitwidth)
        if isinstance(a, types.UniTuple):
            return types.int64(a), lambda context, builder, sig, args: context.get_constant(types.int64, len(a))

    @intrinsic(prefer_literal=True)
    def value_known(typingctx, a):
        known = isinstance(a, types.Literal)
        return types.boolean(a), lambda context, builder, sig, args: context.get_constant(types.boolean, known)

    f = njit(lambda a: width(a))
    assert (f(np.int8(1)), f(np.int64(1)), f((1, 2, 3))) == (8, 64, 3)
    with pytest.raises(errors.TypingError, match="width"):
        f("text")
    assert njit(lambda a: (value_known(a), value_known(7)))(7) == (False, True)
    with pytest.raises(NotImplementedError, match="compiled"):
        width(1)


def test_in_kernels():
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = ones_of_byte(a[i]) + float_as_int(int_as_float(i))

    a, out = np.arange(100, dtype=np.uint8), np.zeros(100, np.int64)
    kernel[4, 32](a, out)
    assert out.tolist() == [bin(n).count("1") + n for n in range(100)]


def test_views_of_numbers_take_no_memory():
    """x.view(dtype) of a number: in kernels, too."""
    f = njit(lambda x: (x.view(np.int32), x.view(np.uint32), x.view(np.int32).view(np.float32)))
    for x in (np.float32(1.5), np.float32(-0.0), np.float32(np.nan)):
        got = f(x)
        assert got[:2] == (x.view(np.int32), x.view(np.uint32)) and np.float32(got[2]).tobytes() == x.tobytes()
    g = njit(lambda x: (x.view(np.int64), x.view(np.uint64).view(np.float64)))
    assert g(np.float64(-2.5)) == (np.float64(-2.5).view(np.int64), -2.5)

    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i].view(np.int32)

    a = np.linspace(-3, 3, 50).astype(np.float32)
    out = np.zeros(50, np.int32)
    kernel[2, 32](a, out)
    assert np.array_equal(out, a.view(np.int32))


@pytest.mark.parametrize("write, what", [
    (lambda context, builder, args: builder.gep(args[0], [0]), "builder.gep"),
    (lambda context, builder, args: builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(64), []), "getpid"), []), "getpid"),
    (lambda context, builder, args: context.make_array(types.float64[:]), "context.make_array"),
    (lambda context, builder, args: builder.zext(args[0], ir.IntType(128)), "i128"),
])
def test_refusals_name_what_is_missing(write, what):
    @intrinsic
    def missing(typingctx, a):
        return a(a), lambda context, builder, sig, args: write(context, builder, args)

    with pytest.raises(errors.NumbaError, match=what.replace(".", r"\.")):
        njit(lambda a: missing(a))(1)


PROGRAM = """
import numpy as np
from llvmlite import ir
import llvmlite.ir as same
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

@intrinsic
def bits(typingctx, x):
    def codegen(context, builder, sig, args):
        function = ir.FunctionType(ir.IntType(32), [ir.IntType(32)])
        ones = cgutils.get_or_insert_function(builder.module, function, "llvm.ctpop.i32")
        return builder.call(ones, [builder.bitcast(args[0], same.IntType(32))])
    return types.int32(types.float32), codegen

print(njit(lambda x: bits(x))(np.float32(1.5)))
"""


def test_as_numba(tmp_path):
    """With the types of llvmlite, installed or not."""
    assert run_as_numba(tmp_path, PROGRAM).split() == ["8"]


# -- pointers -----------------------------------------------------------------------------------------------------------


@intrinsic
def address_as_void_pointer(typingctx, src):
    def codegen(context, builder, sig, args):
        return builder.inttoptr(args[0], cgutils.voidptr_t)
    return types.voidptr(src), codegen


@intrinsic
def address_of_floats(typingctx, src):
    def codegen(context, builder, sig, args):
        return builder.inttoptr(args[0], ir.DoubleType().as_pointer())
    return types.CPointer(types.float64)(src), codegen


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "float64", "complex128"])
def test_an_address_becomes_an_array(dtype):
    kind = getattr(np, dtype)

    @njit
    def change(address, shape):
        a = carray(address_as_void_pointer(address), shape, kind)
        before = a.sum()
        a[1, 2] = 77
        return before, a.shape
    x = np.arange(12).reshape(3, 4).astype(dtype)
    assert change(x.ctypes.data, (3, 4)) == (66, (3, 4)) and x[1, 2] == 77
    assert x[1:].sum() == 131  # what was written is read
    assert change(x[1:].ctypes.data, (2, 4)) == (131, (2, 4)) and x[2, 2] == 77


def test_a_pointer_is_indexed_and_passed_on():
    def total(address, n):
        p = address_of_floats(address)
        s = 0.0
        for i in range(n):
            s += p[i]
            p[i] = s
        return s
    x = np.arange(5.0)
    assert njit(total)(x.ctypes.data, 5) == 10.0 and (x == [0, 1, 3, 6, 10]).all()
    assert njit(total)(np.uint64(x[1:].ctypes.data), 4) == 20.0


def test_the_memory_of_two_names_is_one():
    @njit
    def both(a, address):
        b = carray(address_as_void_pointer(address), a.shape, np.int64)
        for i in range(1, a.size):
            a[i] = b[i - 1] + 1
        return b[-1]
    x = np.zeros(50, np.int64)
    assert both(x, x.ctypes.data) == 49


def test_pointers_to_what_is_no_number_are_refused():
    @intrinsic
    def odd(typingctx, src):
        def codegen(context, builder, sig, args):
            return builder.inttoptr(args[0], ir.IntType(24).as_pointer())
        return types.voidptr(src), codegen
    with pytest.raises(errors.TypingError, match="the LLVM type i24"):
        njit(lambda n: odd(n))(1)


def test_memory_with_a_size_is_an_array():
    """What numba-celltree does to have arrays on the stack; here they live as long as somebody has them."""
    @intrinsic
    def memory(typingctx, size, dtype):
        def codegen(context, builder, sig, args):
            return cgutils.alloca_once(builder, context.get_value_type(dtype.dtype), size=args[0])
        return types.CPointer(dtype.dtype)(types.int64, dtype), codegen

    @njit
    def square(n, dtype):
        return carray(memory(n * n, dtype), (n, n), dtype=dtype)

    @njit
    def f(n, dtype):
        kept = [square(n, dtype) for k in range(n)]
        for k in range(n):
            kept[k][:] = k
        return kept

    for dtype in (np.float64, np.float32, np.int32, np.uint8):
        assert [a.dtype for a in f(3, dtype)] == [dtype] * 3
        np.testing.assert_array_equal(np.array(f(4, dtype)), np.repeat(np.arange(4), 16).reshape(4, 4, 4))
