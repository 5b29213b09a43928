#!/usr/bin/env python3
"""Write functions of a Python file as CodeUnit text (frontend/bytecode/code_text.c).

    python3.13 tests/tools/dump_code.py FILE.py                  all functions, to standard output
    python3.13 tests/tools/dump_code.py FILE.py NAME ...         these only
    python3.13 tests/tools/dump_code.py FILE.py --golden FOLDER  one golden test for each function; the
                                                                 EXPECT section of a test that exists stays

The version is the running interpreter's. A function is looked up in the file's namespace; names in
`HIDDEN` of that file are left out.
"""

import argparse
import dis
import importlib.util
import inspect
import os
import struct
import sys
import types

VERSION = sys.version_info[0] * 100 + sys.version_info[1]
PLAIN, CELL, FREE = 0x20, 0x40, 0x80


def quoted(text):
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char == "\n":
            out.append("\\n")
        elif ord(char) < 32 or ord(char) == 127:
            out.append(f"\\x{ord(char):02x}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def bits(value):
    return "0d" + struct.pack(">d", value).hex().upper()


def constant(value):
    kind = type(value)
    if value is None or value is True or value is False:
        return str(value)
    if value is ...:
        return "..."
    if kind is int:
        return str(value)
    if kind is float:
        return bits(value)
    if kind is complex:
        return f"complex({bits(value.real)}, {bits(value.imag)})"
    if kind is str:
        return quoted(value)
    if kind is tuple:
        return "(" + ", ".join(map(constant, value)) + ")"
    if kind is slice:
        return f"slice({constant(value.start)}, {constant(value.stop)}, {constant(value.step)})"
    if kind is types.CodeType:
        return f"code {quoted(value.co_qualname)}"
    return f"other {quoted(kind.__name__)}"


def locals_plus(code):
    """Slots of CPython's localsplus: plain locals (some of them cells), other cells, free variables."""
    for name in code.co_varnames:
        yield name, PLAIN | (CELL if name in code.co_cellvars else 0)
    for name in code.co_cellvars:
        if name not in code.co_varnames:
            yield name, CELL
    for name in code.co_freevars:
        yield name, FREE


def span(position, base):
    line, end_line, column, end_column = position
    if line is None:
        return "-"
    line -= base
    end_line = line if end_line is None else end_line - base
    column = -1 if column is None else column
    end_column = -1 if end_column is None else end_column
    return f"{line}:{column}-{end_line}:{end_column}"


def instructions(code):
    """(first unit, units, text): an instruction with its caches; prefixes stand alone."""
    raw = code.co_code
    caches = {}
    if sys.version_info >= (3, 13):
        for name, entries in dis._inline_cache_entries.items():
            caches[dis.opmap[name]] = entries
    else:
        caches = {number: entries for number, entries in enumerate(dis._inline_cache_entries)}
    unit = 0
    while unit < len(raw) // 2:
        opcode, operand = raw[2 * unit], raw[2 * unit + 1]
        count = 1 + caches.get(opcode, 0)
        yield unit, count, f"{dis.opname[opcode]} {operand}"
        unit += count


def dump(code, base=0):
    """The lines of text; `base` is taken from every line number."""
    yield f"code {VERSION}"
    yield f"name {quoted(code.co_name)}"
    yield f"qualname {quoted(code.co_qualname)}"
    yield f"file {quoted(os.path.basename(code.co_filename))}"
    yield f"line {code.co_firstlineno - base}"
    yield f"flags {code.co_flags}"
    yield f"args {code.co_argcount}"
    yield f"posonly {code.co_posonlyargcount}"
    yield f"kwonly {code.co_kwonlyargcount}"
    yield f"stack {code.co_stacksize}"
    for name, kind in locals_plus(code):
        words = [word for bit, word in ((CELL, " cell"), (FREE, " free")) if kind & bit]
        plain = " plain" if words and kind & PLAIN else ""
        yield f"local {quoted(name)}{''.join(words)}{plain}"
    for value in code.co_consts:
        yield f"const {constant(value)}"
    for name in code.co_names:
        yield f"global {quoted(name)}"
    if code.co_exceptiontable:
        yield f"exceptions {code.co_exceptiontable.hex()}"
    positions = list(code.co_positions())
    raw = code.co_code
    for unit, count, text in instructions(code):
        units = " ".join(raw[2 * k : 2 * k + 2].hex() for k in range(unit, unit + count))
        yield f"op {units} @ {span(positions[unit], base)} ; {text}"


def load(path):
    spec = importlib.util.spec_from_file_location("programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions(module):
    hidden = getattr(module, "HIDDEN", ())
    for name, value in vars(module).items():
        if isinstance(value, types.FunctionType) and name not in hidden:
            yield name, value.__code__


def write_golden(folder, name, code):
    """Lines count from the function's first one, so that a test does not change with its neighbours."""
    path = os.path.join(folder, name + ".golden")
    expect = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            _, marker, rest = file.read().partition("--EXPECT--\n")
        expect = rest if marker else ""
    source, first = inspect.getsourcelines(code)
    text = "".join(line + "\n" for line in dump(code, first - 1))
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"--TEST--\n{name}, CPython {VERSION // 100}.{VERSION % 100}\n--ARGS--\nbytecode\n")
        file.write(f"--SOURCE--\n{''.join(source)}--CODE--\n{text}--EXPECT--\n{expect}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--golden", metavar="FOLDER")
    options = parser.parse_args()
    for name, code in functions(load(options.file)):
        if options.names and name not in options.names:
            continue
        if options.golden:
            write_golden(options.golden, name, code)
        else:
            print("\n".join(dump(code)) + "\n")


if __name__ == "__main__":
    main()
