"""weak_numbers=False (--as-numba): numbers are typed as by Numba. numba_tables.txt, read from an installed Numba by
tests/tools/gen_numba_tables.py, has an entry for every operator and every pair of types; each is compared."""
import pathlib
import re

import numpy as np
import pytest

from quern import errors, njit

TABLES = {}
for _line in (pathlib.Path(__file__).parent / "numba_tables.txt").read_text().splitlines():
    if not _line.startswith("#"):
        _head, _, _row = _line.partition(" : ")
        TABLES[_head] = _row.split()
TYPES = TABLES["types"]
BINARY = sorted({head.split()[1] for head in TABLES if head.startswith("binary")})

# What differs, and why.
DIFFERENT = {
    ("binary **", "bool", "int32"): "float32 in Numba, where it takes the overload (float32, int32); int64 here, as for all other ints",
}


def written(text):
    space = {}
    exec(text, space)
    return space["f"]


def types_of_results(expressions, types, parameters="ab"):
    """The types of several expressions over parameters of these types."""
    function = written(f"def f({', '.join(parameters[:len(types)])}):\n    return ({', '.join(expressions)},)\n")
    compiled = njit(f"({', '.join(types)})", weak_numbers=False)(function)
    return names(returned(compiled))


def returned(compiled):
    return re.search(r"-> (.*)", text_of_types(compiled))[1]


def text_of_types(compiled):
    import io
    out = io.StringIO()
    compiled.inspect_types(file=out)
    return out.getvalue()


def names(text):
    """Of "Tuple(int64, float32)" or "UniTuple(int64 x 3)"."""
    inside = re.search(r"\((.*?),?\)", text)[1]
    if not text.startswith("UniTuple"):
        return inside.split(", ")
    item, count = inside.split(" x ")
    return [item] * int(count)


def refused(expression, types):
    with pytest.raises(errors.TypingError):
        types_of_results([expression], types)


@pytest.mark.parametrize("a", TYPES)
def test_binary_operators(a):
    for k, b in enumerate(TYPES):
        expected = {op: TABLES[f"binary {op} {a}"][k] for op in BINARY}
        for op in BINARY:
            if (f"binary {op}", a, b) in DIFFERENT:
                del expected[op]
        known = [op for op in expected if expected[op] != "-"]
        ours = types_of_results([f"a {op} b" for op in known], [a, b])
        assert dict(zip(known, ours)) == {op: expected[op] for op in known}, (a, b)
        for op in expected:
            if expected[op] == "-":
                refused(f"a {op} b", [a, b])


@pytest.mark.parametrize("literal", ["2", "-2"])
@pytest.mark.parametrize("k", range(len(TYPES)), ids=TYPES.__getitem__)
def test_operators_with_a_literal_int(k, literal):
    expected = {op: TABLES[f"literal {op} {literal}"][k] for op in BINARY}
    known = [op for op in expected if expected[op] != "-" and (f"literal {op} {literal}", TYPES[k]) not in DIFFERENT]
    ours = types_of_results([f"a {op} {literal}" for op in known], [TYPES[k]])
    assert dict(zip(known, ours)) == {op: expected[op] for op in known}
    for op in expected:
        if expected[op] == "-":
            refused(f"a {op} {literal}", [TYPES[k]])


@pytest.mark.parametrize("op", ["-", "+", "~", "not"])
def test_unary_operators(op):
    for t, expected in zip(TYPES, TABLES[f"unary {op}"]):
        if expected == "-":
            refused(f"{op} a", [t])
        else:
            assert types_of_results([f"{op} a"], [t]) == [expected], t


@pytest.mark.parametrize("a", TYPES)
def test_where_two_paths_meet(a):
    function = written("def f(p, a, b):\n    if p:\n        x = a\n    else:\n        x = b\n    return x\n")
    for b, expected in zip(TYPES, TABLES[f"join {a}"]):
        compiled = njit(f"(bool, {a}, {b})", weak_numbers=False)(function)
        assert returned(compiled).strip() == expected, (a, b)


def test_values_of_unary_operators_on_unsigned_ints():
    """Computed in the operand's type, given as uint64."""
    invert, minus = njit(weak_numbers=False)(lambda x: ~x), njit(weak_numbers=False)(lambda x: -x)
    assert invert(np.uint8(4)) == 251 and minus(np.uint8(4)) == 252 and invert(np.uint32(4)) == 2**32 - 5
    assert njit(weak_numbers=False)(lambda a, b: a - b)(np.uint64(1), np.int64(2)) == -1
