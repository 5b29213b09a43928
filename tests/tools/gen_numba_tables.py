#!/usr/bin/env python3
"""Reads the types of Numba's operators out of an installed Numba and writes tests/py/numba_tables.txt.

    python tests/tools/gen_numba_tables.py [FILE]

For each operator and each pair of scalar types the type of the result, null where Numba refuses; the same for unary operators, for a
literal int beside each type, and for a variable that has one type on one path and another on the other. Numba is not needed
by the tests: they read the file (tests/py/test_numba_tables.py)."""

import operator
import pathlib
import sys

import numba
from numba import njit, types
from numba.core import errors
from numba.core.registry import cpu_target

TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
          "%": operator.mod, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift, "&": operator.and_,
          "|": operator.or_, "^": operator.xor, "<": operator.lt, "==": operator.eq}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}
LITERALS = [2, -2]


def numba_type(name):
    return types.boolean if name == "bool" else getattr(types, name)


def result(context, function, *arguments):
    try:
        signature = context.resolve_function_type(function, arguments, {})
    except errors.NumbaError:
        return None
    return str(signature.return_type)


def joined(a, b):
    """The type of `x` where two paths meet, by compiling a function."""
    def f(p, a, b):
        if p:
            x = a
        else:
            x = b
        return x

    try:
        return str(njit((types.boolean, numba_type(a), numba_type(b)))(f).nopython_signatures[0].return_type)
    except errors.NumbaError:
        return None


def main():
    context = cpu_target.typing_context
    context.refresh()
    all_types = {name: numba_type(name) for name in TYPES}
    lines = [f"# The types of Numba {numba.__version__}, written by tests/tools/gen_numba_tables.py. A line is a table, an operator, the type",
             "# of the other operand, and the results beside each of the types below; '-' where Numba refuses.", "types : " + " ".join(TYPES)]

    def row(head, results):
        lines.append(f"{head} : " + " ".join(r or "-" for r in results))

    for symbol, function in BINARY.items():
        for a, s in all_types.items():
            row(f"binary {symbol} {a}", [result(context, function, s, t) for t in all_types.values()])
    for symbol, function in BINARY.items():
        for value in LITERALS:
            row(f"literal {symbol} {value}", [result(context, function, s, types.literal(value)) for s in all_types.values()])
    for symbol, function in UNARY.items():
        row(f"unary {symbol}", [result(context, function, s) for s in all_types.values()])
    for a in TYPES:
        row(f"join {a}", [joined(a, b) for b in TYPES])
    path = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1] / "py/numba_tables.txt"
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
