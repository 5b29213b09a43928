"""Differential test: typed scalar and loop programs by Hypothesis. CPython over the scalar classes generated from
promote.def (oracle.py) answers; Quern must agree bit for bit, at O0 and at O3."""
import math
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracle
from quern import njit

BINARY = ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "/"]
COMPARE = ["<", "<=", "==", "!=", ">", ">="]
FLOAT_BINARY = ["+", "-", "*", "/", "//", "%"]
INT_EDGES = [0, 1, -1, 2, -2, 7, -8, 63, 64, 65, 2**31 - 1, -2**31, 2**32, 2**53 + 1, 2**63 - 1, -2**63]
FLOAT_EDGES = [0.0, -0.0, 1.0, -1.5, 0.1, 1e308, -1e-308, 5e-324, math.inf, -math.inf, math.nan, 2.0**53, 3.0]


@st.composite
def expression(draw, names, depth, floats):
    """Source text over `names`. A literal stands only beside an operand of the tested type: where a weak number meets a
    strong one in a phi (a conditional expression, a variable), typed code converts it and CPython cannot show that."""
    kind = draw(st.integers(2, 10)) if depth > 0 else 0
    if kind == 0:
        return draw(st.sampled_from(names))
    a = draw(expression(names, depth - 1, floats))
    b = draw(expression(names, depth - 1, floats))
    if kind == 2:
        return f"(-{a})" if not a.startswith("-") else f"(-({a}))"
    if kind == 3:
        c = draw(expression(names, depth - 1, floats))
        return f"({a} if {b} {draw(st.sampled_from(COMPARE))} {c} else {b})"
    if kind == 4:
        return f"{draw(st.sampled_from(['min', 'max']))}({a}, {b})"
    if kind == 5:
        return f"abs({a})"
    operator = draw(st.sampled_from(FLOAT_BINARY if floats else BINARY[:-1]))
    if kind == 6:
        b = repr(draw(st.sampled_from([0.5, 2.0, -3.25, 1e10] if floats else [0, 1, 2, 3, 5, 31, 64, 2**40])))
        if operator in ("//", "%", "/") and b == "0":
            b = "3"
        return f"({a} {operator} {b})"
    if operator in ("<<", ">>"):
        return f"({a} {operator} ({b} & 127))"
    if operator in ("//", "%", "/"):
        return f"(({a} {operator} {b}) if {b} != 0 else {a})"
    return f"({a} {operator} {b})"


@st.composite
def program(draw, floats):
    """A function of two scalars and a count: straight-line code, a loop with a condition, a break."""
    e = lambda names, depth=2: draw(expression(names, depth, floats))  # noqa: E731
    lines = ["def f(a, b, n):", f"    x = {e(['a', 'b'])}", "    y = a", f"    z = {e(['a', 'b', 'x'])}",
             "    for i in range(n):", f"        if {e(['x', 'z'], 1)} {draw(st.sampled_from(COMPARE))} {e(['b', 'z'], 1)}:",
             f"            x = {e(['x', 'y', 'z', 'b'])}", "        else:", f"            y = {e(['x', 'y', 'a'])}"]
    if draw(st.booleans()):
        lines += [f"        if x == y:", f"            {draw(st.sampled_from(['break', 'continue']))}"]
    lines += [f"        z = {e(['x', 'y', 'z'], 1)}", "    return x, y, z"]
    return "\n".join(lines)


def bits(value):
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    return value


def run(source, kind, a, b, n):
    namespace = {}
    exec(source, namespace)
    function = namespace["f"]
    try:
        expected = tuple(bits(oracle.python_value(v)) for v in function(oracle.make(kind, a), oracle.make(kind, b), n))
    except (ZeroDivisionError, ValueError, OverflowError) as error:
        expected = type(error)
    except oracle.Undecided:
        return
    for level in (0, 3):
        compiled = njit(_opt_level=level)(function)
        try:
            result = tuple(bits(v) for v in compiled(oracle.numpy_value(kind, a), oracle.numpy_value(kind, b), n))
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            result = type(error)
        assert result == expected, f"O{level} {kind} a={a!r} b={b!r} n={n}\n{source}"


COMMON = dict(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)
INT_KINDS = ["int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("kind", INT_KINDS)
def test_integer_programs(kind):
    low, high = oracle.limits(kind)

    @settings(max_examples=40, **COMMON)
    @given(program(floats=False), st.sampled_from(INT_EDGES), st.sampled_from(INT_EDGES), st.integers(0, 4))
    def check(source, a, b, n):
        run(source, kind, min(max(a, low), high), min(max(b, low), high), n)

    check()


@pytest.mark.parametrize("kind", ["float", "float32", "float64"])
def test_float_programs(kind):
    @settings(max_examples=60, **COMMON)
    @given(program(floats=True), st.sampled_from(FLOAT_EDGES), st.sampled_from(FLOAT_EDGES), st.integers(0, 4))
    def check(source, a, b, n):
        run(source, kind, a, b, n)

    check()
