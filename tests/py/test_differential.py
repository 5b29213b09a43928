"""Differential test: typed scalar and loop programs by Hypothesis. CPython over the scalar classes generated from
promote.def (oracle.py) answers, with a conversion wherever paths meet; Quern must agree bit for bit and in the types of the
results, at O0 and at O3, and in kernels."""
import math
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracle
from quern import cuda, errors, njit

BINARY = ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "/"]
COMPARE = ["<", "<=", "==", "!=", ">", ">="]
FLOAT_BINARY = ["+", "-", "*", "/", "//", "%"]
INT_EDGES = [0, 1, -1, 2, -2, 7, -8, 63, 64, 65, 2**31 - 1, -2**31, 2**32, 2**53 + 1, 2**63 - 1, -2**63]
FLOAT_EDGES = [0.0, -0.0, 1.0, -1.5, 0.1, 1e308, -1e-308, 5e-324, math.inf, -math.inf, math.nan, 2.0**53, 3.0]
LITERALS = {"int": ["0", "1", "2", "3", "5", "31", "64", "-1", "-3", str(2**40)], "float": ["0.5", "2.0", "-3.25", "1e10", "1"],
            "complex": ["0.5", "2j", "-1", "3"]}


@st.composite
def expression(draw, names, depth, sort):
    """Source text over `names`; `sort` is the highest kind of number in it: int, float or complex."""
    kind = draw(st.integers(1 if depth < 2 else 2, 10)) if depth > 0 else 0
    if kind == 0:
        return draw(st.sampled_from(names))
    if kind == 1:
        return draw(st.sampled_from(LITERALS[sort]))
    a = draw(expression(names, depth - 1, sort))
    b = draw(expression(names, depth - 1, sort))
    compare = draw(st.sampled_from(COMPARE if sort != "complex" else ["==", "!="]))
    if kind == 2:
        return f"(-{a})" if not a.startswith("-") else f"(-({a}))"
    if kind == 3:
        c = draw(expression(names, depth - 1, sort))
        return f"({a} if {b} {compare} {c} else {b})"
    if kind == 4 and sort != "complex":
        return f"{draw(st.sampled_from(['min', 'max']))}({a}, {b})"
    if kind == 5 and sort != "complex":
        if sort == "int":
            return draw(st.sampled_from([f"abs({a})", f"(~{a})", f"int({a})", f"(+{a})"]))
        return f"abs({a})"
    operators = {"int": BINARY[:-1], "float": FLOAT_BINARY, "complex": ["+", "-", "*"]}[sort]
    operator = draw(st.sampled_from(operators))
    if kind == 6:
        b = draw(st.sampled_from(LITERALS[sort]))
        if operator in ("//", "%", "/") and b == "0" or operator in ("<<", ">>") and b.startswith("-"):
            b = "3"
        return f"({a} {operator} {b})"
    if operator in ("<<", ">>"):
        return f"({a} {operator} ({b} & 127))"
    if operator in ("//", "%", "/"):
        return f"(({a} {operator} {b}) if {b} != 0 else {a})"
    return f"({a} {operator} {b})"


@st.composite
def program(draw, sort):
    """A function of two scalars and a count: straight-line code, a loop with a condition, a break. Variables may start as
    Python numbers."""
    e = lambda names, depth=2: draw(expression(names, depth, sort))  # noqa: E731
    compare = draw(st.sampled_from(COMPARE if sort != "complex" else ["==", "!="]))
    start = draw(st.sampled_from(["a", "0", "1", "0.0" if sort != "int" else "2", "b"]))
    lines = ["def f(a, b, n):", f"    x = {e(['a', 'b'])}", f"    y = {start}", f"    z = {e(['a', 'b', 'x'])}",
             "    for i in range(n):", f"        if {e(['x', 'z'], 1)} {compare} {e(['b', 'z'], 1)}:",
             f"            x = {e(['x', 'y', 'z', 'b'])}", "        else:", f"            y = {e(['x', 'y', 'a'])}"]
    if draw(st.booleans()):
        lines += ["        if x == y:", f"            {draw(st.sampled_from(['break', 'continue']))}"]
    lines += [f"        z = {e(['x', 'y', 'z', 'i'] if sort != 'complex' else ['x', 'y', 'z'], 1)}", "    return x, y, z"]
    return "\n".join(lines)


def bits(value):
    if isinstance(value, complex):
        return bits(value.real), bits(value.imag)
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    return value


RAISED = (ZeroDivisionError, ValueError, OverflowError)


def expected(source, kinds, a, b, n, kernel=False):
    """The results, an exception's class, or None where CPython cannot tell."""
    try:
        function = oracle.merged(source, [*kinds, "wint"], kernel)
        return function(oracle.make(kinds[0], a), oracle.make(kinds[1], b), n)
    except RAISED as error:
        return type(error)
    except oracle.Undecided:
        return None
    except TypeError:  # bits of a float
        return errors.TypingError


def written(source):
    namespace = {}
    exec(source, namespace)
    return namespace["f"]


def run(source, kinds, a, b, n):
    answer = expected(source, kinds, a, b, n)
    if answer is None:
        return
    if isinstance(answer, tuple):
        answer = tuple((type(oracle.python_value(v)), bits(oracle.python_value(v))) for v in answer)
    for level in (0, 3):
        compiled = njit(_opt_level=level)(written(source))
        try:
            result = compiled(oracle.numpy_value(kinds[0], a), oracle.numpy_value(kinds[1], b), n)
            result = tuple((type(v), bits(v)) for v in result)
        except RAISED as error:
            result = type(error)
        except errors.TypingError as error:
            result = errors.TypingError
            if "negative" in str(error) and "uint64" in kinds:  # a constant that CPython sees as any other number
                return
        assert result == answer, f"O{level} {kinds} a={a!r} b={b!r} n={n}\n{source}"


def run_in_a_kernel(source, kinds, a, b, n):
    answer = expected(source, kinds, a, b, n, kernel=True)
    if not isinstance(answer, tuple):  # kernels do not raise
        return
    f = cuda.jit(device=True)(written(source))

    @cuda.jit
    def kernel(a, b, n, x, y, z):
        x[0], y[0], z[0] = f(a[0], b[0], n)

    out = [np.zeros(1, oracle.TYPES[oracle.TYPES[oracle.kind(v)][3]][0]) for v in answer]
    arrays = [np.array([oracle.numpy_value(k, v)]) for k, v in zip(kinds, (a, b))]
    kernel[1, 1](*arrays, n, *out)
    result = tuple(bits(x.item()) for x in out)
    assert result == tuple(bits(oracle.python_value(v)) for v in answer), f"{kinds} a={a!r} b={b!r} n={n}\n{source}"


COMMON = dict(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
INT_KINDS = ["int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
PAIRS = [("uint8", "uint16"), ("uint8", "int8"), ("uint32", "uint64"), ("uint8", "uint64"), ("int", "uint64"), ("int", "uint8"),
         ("int32", "uint32"), ("uint16", "int"), ("int16", "int64")]
FLOAT_PAIRS = [("float32", "int8"), ("float32", "int64"), ("uint8", "float32"), ("float", "float32"), ("float32", "float64"),
               ("int", "float32"), ("uint64", "float32")]


def held(kind, value):
    if kind in INT_KINDS:
        low, high = oracle.limits(kind)
        return min(max(int(value) if math.isfinite(value) else 5, low), high)
    return value


@pytest.mark.parametrize("kinds", [(k, k) for k in INT_KINDS] + PAIRS, ids="-".join)
def test_integer_programs(kinds):
    @settings(max_examples=15, **COMMON)
    @given(program("int"), st.sampled_from(INT_EDGES), st.sampled_from(INT_EDGES), st.integers(0, 4))
    def check(source, a, b, n):
        run(source, kinds, held(kinds[0], a), held(kinds[1], b), n)

    check()


@pytest.mark.parametrize("kinds", [(k, k) for k in ["float", "float32", "float64"]] + FLOAT_PAIRS, ids="-".join)
def test_float_programs(kinds):
    @settings(max_examples=20, **COMMON)
    @given(program("float"), st.sampled_from(FLOAT_EDGES), st.sampled_from(FLOAT_EDGES), st.integers(0, 4))
    def check(source, a, b, n):
        run(source, kinds, held(kinds[0], a), held(kinds[1], b), n)

    check()


@pytest.mark.parametrize("kinds", [("complex64", "complex64"), ("complex128", "complex128"), ("complex64", "float32"),
                                   ("complex64", "uint8")], ids="-".join)
def test_complex_programs(kinds):
    values = [0j, 1 + 0j, -1.5 + 2j, 0.1 - 0.3j, 1e10j]

    @settings(max_examples=15, **COMMON)
    @given(program("complex"), st.sampled_from(values), st.sampled_from(values), st.integers(0, 4))
    def check(source, a, b, n):
        run(source, kinds, a, b if kinds[1].startswith("complex") else int(b.real) % 3, n)

    check()


@pytest.mark.parametrize("kinds, sort", [(("float32", "float32"), "float"), (("float32", "uint8"), "float"),
                                         (("complex64", "float32"), "complex"), (("uint8", "uint8"), "int"),
                                         (("int32", "uint64"), "int"), (("uint16", "int64"), "int")], ids=str)
def test_programs_in_kernels(kinds, sort, device):
    @settings(max_examples=8, **COMMON)
    @given(program(sort), st.sampled_from([0, 1, 2, 7, 100]), st.sampled_from([0, 1, 3, 5]), st.integers(0, 4))
    def check(source, a, b, n):
        run_in_a_kernel(source, kinds, a, b, n)

    check()
