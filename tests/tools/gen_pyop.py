#!/usr/bin/env python3
"""Write frontend/bytecode/pyop_3xx.inc from the interpreter that runs this script.

    python3.13 tests/tools/gen_pyop.py > frontend/bytecode/pyop_313.inc

Opcode numbers, inline cache counts, operator tables and intrinsics come from the interpreter. What an
instruction means is written here once, by NAME, in MEANING. A name that is not there stops the
generator: a new Python release is a to-do list, not a guess.

A meaning is a list of abstract operations (frontend/bytecode/pyop.def) with an argument transform each:
AS_IS, a shift or mask of the operand (SHR1, SHR4, SHR5, HI4, LO4, LO2), a constant (CONST1, CONST2), a jump target
(FORWARD, BACKWARD, NEXT: the instruction after this one), or a condition (IF_BIT0, IF_BIT4: the operation is
there only when that bit of the operand is set). Or it is a phrase for the user: such an instruction is
understood and refused ("<phrase> is not supported in a compiled function"). `refused` adds how many values it takes
and leaves, so that f.explain() can go on behind it; the interpreter's dis.stack_effect confirms the difference.
INTERNAL marks what a code object never contains (PyCode_GetCode removes adaptive and instrumented forms).
"""

import dis
import opcode
import sys

VERSION = sys.version_info[0] * 100 + sys.version_info[1]

GENERATOR = "a generator (yield)"
ASYNC = "async"
WITH = "a with statement"
GROUPS = "except*"
IMPORT = "an import inside a function"
CLASS = "a class definition"
TSTRING = "a template string"
INTERNAL = object()


def op(name, transform="AS_IS"):
    return (name, transform)


class Refused:
    """A phrase, and the values taken and left. What an instruction looks at below counts as taken and left."""

    def __init__(self, phrase, takes, leaves):
        self.phrase, self.takes, self.leaves = phrase, takes, leaves


def refused(phrase, takes, leaves):
    """`takes` and `leaves` are numbers or transforms of the operand; `leaves` None: control does not come back."""
    return Refused(phrase, *(f"CONST{n}" if isinstance(n, int) else n for n in (takes, leaves)))


def by_version(**table):
    """by_version(v311=..., v313=...): the newest row that is not newer than this interpreter."""
    known = sorted((int(key[1:]), value) for key, value in table.items())
    usable = [value for version, value in known if version <= VERSION]
    return usable[-1] if usable else INTERNAL


def jump_back_if(opposite):
    """A conditional jump backwards: skip, or jump back. Each loop then has one kind of latch."""
    return [op(opposite, "NEXT"), op("jump_back", "BACKWARD")]


NOTHING = []
LOAD2 = [op("load", "HI4"), op("load", "LO4")]

MEANING = {
    # -- nothing to do at compile time
    "CACHE": NOTHING,
    "NOP": NOTHING,
    "NOT_TAKEN": NOTHING,
    "RESUME": NOTHING,
    "PRECALL": NOTHING,
    "EXTENDED_ARG": NOTHING,  # its operand is gathered by the decoder
    "COPY_FREE_VARS": NOTHING,
    # -- the stack
    "POP_TOP": [op("pop")],
    "POP_ITER": [op("pop")],
    "END_FOR": by_version(v312=[op("pop"), op("pop")], v313=[op("pop")]),
    "PUSH_NULL": [op("push_null")],
    "COPY": [op("copy")],
    "SWAP": [op("swap")],
    # -- variables
    "LOAD_FAST": [op("load")],
    "LOAD_FAST_BORROW": [op("load")],
    "LOAD_FAST_CHECK": [op("load")],
    "LOAD_FAST_LOAD_FAST": LOAD2,
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": LOAD2,
    "LOAD_FAST_AND_CLEAR": [op("load_and_clear")],
    "STORE_FAST": [op("store")],
    "STORE_FAST_LOAD_FAST": [op("store", "HI4"), op("load", "LO4")],
    "STORE_FAST_STORE_FAST": [op("store", "HI4"), op("store", "LO4")],
    "DELETE_FAST": [op("delete")],
    "LOAD_CONST": [op("load_const")],
    "LOAD_SMALL_INT": [op("load_int")],
    "LOAD_COMMON_CONSTANT": [op("load_common")],
    "LOAD_ASSERTION_ERROR": [op("load_common", "CONST0")],
    # NULL below the callee until 3.12, above it since; an attribute may still be taken from what is on top
    "LOAD_GLOBAL": by_version(
        v311=[op("push_null", "IF_BIT0"), op("load_global", "SHR1")],
        v313=[op("load_global", "SHR1"), op("push_null", "IF_BIT0")],
    ),
    "STORE_GLOBAL": refused("an assignment to a global variable", 1, 0),
    "DELETE_GLOBAL": refused("deleting a global variable", 0, 0),
    "MAKE_CELL": [op("make_cell")],
    "LOAD_CLOSURE": [op("load_closure")],
    "LOAD_DEREF": [op("load_deref")],
    "STORE_DEREF": [op("store_deref")],
    "DELETE_DEREF": [op("delete_deref")],
    "LOAD_NAME": CLASS,
    "STORE_NAME": CLASS,
    "DELETE_NAME": CLASS,
    "LOAD_LOCALS": CLASS,
    "LOAD_CLASSDEREF": CLASS,
    "LOAD_FROM_DICT_OR_GLOBALS": CLASS,
    "LOAD_FROM_DICT_OR_DEREF": CLASS,
    "LOAD_BUILD_CLASS": refused(CLASS, 0, 1),
    "SETUP_ANNOTATIONS": CLASS,
    # -- attributes and items. A method call is an attribute and a call: the pair that CPython pushes
    #    is the attribute and NULL here
    "LOAD_ATTR": by_version(
        v311=[op("load_attr")], v312=[op("load_attr", "SHR1"), op("push_null", "IF_BIT0")]
    ),
    "LOAD_METHOD": [op("load_attr"), op("push_null")],
    "STORE_ATTR": [op("store_attr")],
    "DELETE_ATTR": refused("deleting an attribute", 1, 0),
    "LOAD_SUPER_ATTR": refused("super()", 3, "PLUS1_BIT0"),
    "LOAD_SPECIAL": refused(WITH, 1, 2),
    "BINARY_SUBSCR": [op("getitem")],
    "STORE_SUBSCR": [op("setitem")],
    "DELETE_SUBSCR": [op("delitem")],
    "BINARY_SLICE": [op("build_slice", "CONST2"), op("getitem")],
    "STORE_SLICE": [op("build_slice", "CONST2"), op("setitem")],
    "BUILD_SLICE": [op("build_slice")],
    # -- modules
    "IMPORT_NAME": [op("import_name")],
    "IMPORT_FROM": [op("import_from")],
    # -- operators
    "UNARY_POSITIVE": [op("positive")],
    "UNARY_NEGATIVE": [op("negative")],
    "UNARY_INVERT": [op("invert")],
    "UNARY_NOT": [op("not")],
    "TO_BOOL": [op("to_bool")],
    "BINARY_OP": [op("binary")],
    "COMPARE_OP": by_version(
        v311=[op("compare")],
        v312=[op("compare", "SHR4")],
        v313=[op("compare", "SHR5"), op("to_bool", "IF_BIT4")],
    ),
    "IS_OP": [op("is")],
    "CONTAINS_OP": [op("contains")],
    "CALL_INTRINSIC_1": [op("intrinsic")],
    "CALL_INTRINSIC_2": refused(CLASS, 2, 1),
    # -- displays
    "BUILD_TUPLE": [op("build_tuple")],
    "BUILD_LIST": [op("build_list")],
    "LIST_APPEND": [op("list_append")],
    "LIST_EXTEND": [op("list_extend")],
    "LIST_TO_TUPLE": [op("list_to_tuple")],
    "BUILD_MAP": [op("build_dict")],
    "BUILD_CONST_KEY_MAP": [op("build_const_dict")],
    "DICT_MERGE": [op("dict_merge")],
    "DICT_UPDATE": [op("dict_merge")],
    "MAP_ADD": [op("dict_add")],
    "BUILD_SET": [op("build_set")],
    "SET_ADD": [op("set_add")],
    "SET_UPDATE": [op("set_update")],
    # f-strings: bits 0 and 1 of FORMAT_VALUE's operand are CONVERT_VALUE's, bit 2 says that there is a specification
    "FORMAT_VALUE": [op("conversion", "LO2"), op("format_value", "PLUS1_BIT2")],
    "FORMAT_SIMPLE": [op("format_value", "CONST1")],
    "FORMAT_WITH_SPEC": [op("format_value", "CONST2")],
    "CONVERT_VALUE": [op("convert_value")],
    "BUILD_STRING": [op("build_string")],
    "UNPACK_SEQUENCE": [op("unpack")],
    "UNPACK_EX": [op("unpack_starred")],
    # -- control
    "GET_ITER": [op("get_iter")],
    "FOR_ITER": by_version(
        v311=[op("for_test_pop", "FORWARD"), op("for_item")],
        v312=[op("for_test", "FORWARD"), op("for_item")],
    ),
    "JUMP_FORWARD": [op("jump", "FORWARD")],
    "JUMP_BACKWARD": [op("jump_back", "BACKWARD")],
    "JUMP_BACKWARD_NO_INTERRUPT": [op("jump_back", "BACKWARD")],
    "POP_JUMP_IF_FALSE": [op("jump_if_false", "FORWARD")],
    "POP_JUMP_IF_TRUE": [op("jump_if_true", "FORWARD")],
    "POP_JUMP_IF_NONE": [op("jump_if_none", "FORWARD")],
    "POP_JUMP_IF_NOT_NONE": [op("jump_if_not_none", "FORWARD")],
    "POP_JUMP_FORWARD_IF_FALSE": [op("jump_if_false", "FORWARD")],
    "POP_JUMP_FORWARD_IF_TRUE": [op("jump_if_true", "FORWARD")],
    "POP_JUMP_FORWARD_IF_NONE": [op("jump_if_none", "FORWARD")],
    "POP_JUMP_FORWARD_IF_NOT_NONE": [op("jump_if_not_none", "FORWARD")],
    "POP_JUMP_BACKWARD_IF_FALSE": jump_back_if("jump_if_true"),
    "POP_JUMP_BACKWARD_IF_TRUE": jump_back_if("jump_if_false"),
    "POP_JUMP_BACKWARD_IF_NONE": jump_back_if("jump_if_not_none"),
    "POP_JUMP_BACKWARD_IF_NOT_NONE": jump_back_if("jump_if_none"),
    "JUMP_IF_FALSE_OR_POP": [op("copy", "CONST1"), op("jump_if_false", "FORWARD"), op("pop")],
    "JUMP_IF_TRUE_OR_POP": [op("copy", "CONST1"), op("jump_if_true", "FORWARD"), op("pop")],
    "RETURN_VALUE": [op("return")],
    "RETURN_CONST": [op("load_const"), op("return")],
    "RAISE_VARARGS": [op("raise")],
    "PUSH_EXC_INFO": [op("push_exception")],
    "CHECK_EXC_MATCH": [op("match_exception")],
    "POP_EXCEPT": [op("pop_exception")],
    "RERAISE": [op("reraise")],
    # -- calls
    "KW_NAMES": [op("kw_names")],
    "CALL": [op("call")],
    "CALL_KW": [op("call_kw")],
    "CALL_FUNCTION_EX": by_version(v311=[op("call_ex")], v314=[op("call_ex", "CONST1")]),
    # -- refused, by what the user wrote
    # refused by the kind of function; defaults, annotations and cells are taken with it until 3.12
    "MAKE_FUNCTION": by_version(v311=[op("make_function")], v313=[op("make_function", "CONST0")]),
    "SET_FUNCTION_ATTRIBUTE": [op("function_attribute")],
    "BEFORE_WITH": refused(WITH, 1, 2),
    "WITH_EXCEPT_START": refused(WITH, 1, 2),
    "CHECK_EG_MATCH": refused(GROUPS, 2, 2),
    "PREP_RERAISE_STAR": refused(GROUPS, 2, 1),
    "IMPORT_STAR": IMPORT,
    "BUILD_TEMPLATE": refused(TSTRING, 2, 1),
    "BUILD_INTERPOLATION": refused(TSTRING, "PLUS2_BIT0", 1),
    "GET_LEN": [op("get_len")],
    "MATCH_CLASS": [op("match_class")],
    "MATCH_KEYS": [op("match_keys")],
    "MATCH_MAPPING": [op("match_mapping")],
    "MATCH_SEQUENCE": [op("match_sequence")],
    # -- generators: their object is popped again before the body starts
    "RETURN_GENERATOR": [op("load_none", "CONST0")],
    "YIELD_VALUE": [op("yield", "CONST0")],
    "GET_YIELD_FROM_ITER": [op("get_iter", "CONST0")],
    "SEND": by_version(
        v311=[op("send_pop", "FORWARD"), op("for_item", "CONST0")],
        v312=[op("send", "FORWARD"), op("for_item", "CONST0")],
    ),
    "END_SEND": [op("swap", "CONST2"), op("pop", "CONST0")],
    "CLEANUP_THROW": [op("cleanup_throw", "CONST0")],
    "ASYNC_GEN_WRAP": refused(ASYNC, 1, 1),
    "BEFORE_ASYNC_WITH": refused(ASYNC, 1, 2),
    "GET_AITER": refused(ASYNC, 1, 1),
    "GET_ANEXT": refused(ASYNC, 1, 2),
    "GET_AWAITABLE": refused(ASYNC, 1, 1),
    "END_ASYNC_FOR": ASYNC,
    # -- never in a code object's co_code
    "PRINT_EXPR": INTERNAL,
    "INTERPRETER_EXIT": INTERNAL,
    "EXIT_INIT_CHECK": INTERNAL,
    "ENTER_EXECUTOR": INTERNAL,
    "RESERVED": INTERNAL,
}

# Operand of CALL_INTRINSIC_1, by the interpreter's name for it.
INTRINSICS = {
    "INTRINSIC_UNARY_POSITIVE": [op("positive")],
    "INTRINSIC_LIST_TO_TUPLE": [op("list_to_tuple")],
    "INTRINSIC_STOPITERATION_ERROR": [op("stop_iteration")],
    "INTRINSIC_ASYNC_GEN_WRAP": refused(ASYNC, 1, 1),
    "INTRINSIC_IMPORT_STAR": IMPORT,
    "INTRINSIC_TYPEVAR": refused(CLASS, 1, 1),
    "INTRINSIC_PARAMSPEC": refused(CLASS, 1, 1),
    "INTRINSIC_TYPEVARTUPLE": refused(CLASS, 1, 1),
    "INTRINSIC_SUBSCRIPT_GENERIC": refused(CLASS, 1, 1),
    "INTRINSIC_TYPEALIAS": refused("a type alias", 1, 1),
    "INTRINSIC_PRINT": INTERNAL,
    "INTRINSIC_1_INVALID": INTERNAL,
}

# Operand of BINARY_OP: the operator's name in frontend/ir/ir_operators.def.
OPERATORS = {
    "ADD": "add", "SUBTRACT": "sub", "MULTIPLY": "mul", "TRUE_DIVIDE": "truediv",
    "FLOOR_DIVIDE": "floordiv", "REMAINDER": "mod", "POWER": "pow", "MATRIX_MULTIPLY": "matmul",
    "LSHIFT": "lshift", "RSHIFT": "rshift", "AND": "and", "OR": "or", "XOR": "xor",
}
COMPARISONS = {"<": "lt", "<=": "le", "==": "eq", "!=": "ne", ">": "gt", ">=": "ge"}


def caches_of(name, number):
    table = opcode._inline_cache_entries
    if isinstance(table, dict):
        return table.get(name, 0)
    return table[number] if number < len(table) else 0


def meaning_of(name):
    if name.startswith("INSTRUMENTED_"):
        return INTERNAL
    if name not in MEANING:
        sys.exit(f"gen_pyop.py: Python {sys.version.split()[0]} has {name}, which MEANING does not know")
    return MEANING[name]


# Transforms that are numbers of values, for the check below.
COUNTS = {
    "AS_IS": lambda x: x, "PLUS1_BIT0": lambda x: 1 + (x & 1), "PLUS2_BIT0": lambda x: 2 + (x & 1),
    "PLUS1_BIT2": lambda x: 1 + (x >> 2 & 1),
    **{f"CONST{n}": lambda x, n=n: n for n in range(4)},
}
# Where dis says something else. A generator's own object is popped again before its body starts.
OTHER_EFFECTS = {"RETURN_GENERATOR"}


def check_effect(name, meaning):
    """The interpreter agrees with what is said about the stack."""
    number = opcode.opmap[name]
    operands = range(9) if number >= dis.HAVE_ARGUMENT else [None]
    for x in operands if meaning.leaves else ():
        told = COUNTS[meaning.leaves](x or 0) - COUNTS[meaning.takes](x or 0)
        try:
            effect = dis.stack_effect(number, x)
        except ValueError:  # an operand that it does not have
            continue
        if effect != told and name not in OTHER_EFFECTS:
            sys.exit(f"gen_pyop.py: the stack effect of {name} {x} is {effect}, not {told}")


def sequence(meaning):
    if isinstance(meaning, str):
        return f'REFUSED("{meaning}")'
    if isinstance(meaning, Refused) and meaning.leaves is None:
        return f'REFUSED_LAST("{meaning.phrase}", {meaning.takes})'
    if isinstance(meaning, Refused):
        return f'REFUSED_ON("{meaning.phrase}", {meaning.takes}, {meaning.leaves})'
    if not meaning:
        return "NOTHING"
    word = ("ONE", "TWO", "THREE")[len(meaning) - 1]
    return f"{word}({', '.join(f'{name}, {transform}' for name, transform in meaning)})"


def instruction_rows():
    numbers = {number: name for name, number in opcode.opmap.items() if number < 256}
    for number, name in sorted(numbers.items()):
        meaning = meaning_of(name)
        if meaning is INTERNAL:
            continue
        if isinstance(meaning, Refused):
            check_effect(name, meaning)
        yield f"ROW({number}, {name}, {caches_of(name, number)}, {sequence(meaning)})"


def binary_rows():
    for number, (name, _) in enumerate(opcode._nb_ops):
        name = name.removeprefix("NB_")
        if name == "SUBSCR":
            yield f"BINARY({number}, NB_{name}, getitem, 0, 0)"
            continue
        inplace = name.startswith("INPLACE_")
        operator = OPERATORS[name.removeprefix("INPLACE_")]
        yield f"BINARY({number}, NB_{name}, binary, OPR_{operator}, {int(inplace)})"


def intrinsic_rows():
    for number, name in enumerate(getattr(opcode, "_intrinsic_1_descs", [])):
        if name not in INTRINSICS:
            sys.exit(f"gen_pyop.py: unknown intrinsic {name}")
        meaning = INTRINSICS[name]
        if meaning is INTERNAL:
            continue
        yield f"INTRINSIC({number}, {name}, {sequence(meaning)})"


def common_rows():
    known = [c.__name__ for c in getattr(opcode, "_common_constants", [AssertionError])]
    for number, name in enumerate(known):
        yield f'COMMON({number}, "{name}")'


def main():
    print(f"/* Generated by tests/tools/gen_pyop.py from CPython {VERSION // 100}.{VERSION % 100}: do not edit.")
    print(" *   ROW        opcode, CPython's name, inline cache entries, becomes")
    print(" *   BINARY     operand of BINARY_OP, CPython's name, abstract op, operator, in place")
    print(" *   COMPARE    operand of COMPARE_OP (shifted), operator")
    print(" *   INTRINSIC  operand of CALL_INTRINSIC_1, CPython's name, becomes")
    print(" *   COMMON     operand of LOAD_COMMON_CONSTANT, builtin */")
    for row in instruction_rows():
        print(row)
    for row in binary_rows():
        print(row)
    for number, symbol in enumerate(dis.cmp_op[:6]):
        print(f"COMPARE({number}, OPR_{COMPARISONS[symbol]})")
    for row in intrinsic_rows():
        print(row)
    for row in common_rows():
        print(row)


main()
