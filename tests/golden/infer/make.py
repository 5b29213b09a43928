#!/usr/bin/env python3
"""Write the tests of this folder from programs.py.

    python3.13 tests/golden/infer/make.py

Above a function of programs.py stand comments, one block for each test:

    # case NAME: what is tested
    # args i64, f64              and further lines of tests/tools/text_resolver.h
    # with helper, other         functions that come along
    # stage explain              instead of infer
    # made                       the function returns the one to test

The EXPECT section of a test that exists stays.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
import dump_code  # noqa: E402


def blocks(lines):
    """(cases, first line, source lines) of each top-level function."""
    cases, k = [], 0
    while k < len(lines):
        line = lines[k]
        if match := re.match(r"# case (\w+): (.*)", line):
            cases.append([match[1], match[2], []])
        elif line.startswith("# ") and cases:
            cases[-1][2].append(line[2:])
        elif match := re.match(r"def (\w+)|(\w+) = lambda", line):
            end = k + 1
            while end < len(lines) and (lines[end].startswith(" ") or not lines[end].strip()):
                end += 1
            yield cases, match[1] or match[2], k + 1, lines[k:end]
            cases, k = [], end
            continue
        elif line.strip() == "":
            pass
        else:
            cases = []
        k += 1


def expectation(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read().partition("--EXPECT--\n")[2]


def main():
    path = os.path.join(HERE, "programs.py")
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    module = dump_code.load(path)
    found = list(blocks(lines))
    sources = {name: (first, text) for _, name, first, text in found}
    for cases, name, _, _ in found:
        for case, title, directives in cases:
            names, stage, made, kept = [name], "infer", False, []
            for directive in directives:
                word, _, rest = directive.partition(" ")
                if word == "with":
                    names += rest.split(", ")
                elif word == "stage":
                    stage = rest
                elif word == "made":
                    made = True
                else:
                    kept.append(directive)
            source, functions = [], []
            for each in names:
                first, text = sources[each]
                while text and not text[-1].strip():
                    text = text[:-1]
                value = getattr(module, each)
                value = value() if made and each == name else value
                base = first - 1 - len(source)
                functions.append(f"function {each}")
                functions += dump_code.dump(value.__code__, base)
                source += text
            target = os.path.join(HERE, case + ".golden")
            expect = expectation(target)
            with open(target, "w", encoding="utf-8") as file:
                file.write(f"--TEST--\n{title}\n--ARGS--\n{stage}\n--SOURCE--\n")
                file.write("\n".join(source) + "\n--CODE--\n")
                file.write("\n".join(kept + functions) + "\n--EXPECT--\n" + expect)


main()
