"""Finds what the headers declare and nobody uses: functions, enumerators, struct fields and macros that stand in no file
but the one that defines them. What only tests use counts as unused. Prints every finding and exits 1 if there is one."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = "frontend typeinfer codegen runtime pymodule".split()
# What stays although nothing in these folders uses it, by reason. A name here that is used, or gone, is a finding, too.
KEPT_FOR = {
    "the text forms of code and IR, for golden files, jitc and the reference page": """code_parse code_print ir_parse_module
        ir_verify_module opt_find opt_run_one cg_front_module cg_use_resolver os_read_file os_write_file lib_print_reference""",
    "both steps in one, for jitc and tests of code generation": "cg_back",
    "tests of the tables": "sig_check ti_typed_name bc_opcode_status bc_opcode_extended_arg ARRAY_VALUE_SIZE",
    "the null device, on which the runtime is tested": """rt_null_reset rt_null_calls rt_null_fail rt_null_capacity rt_null_used
        rt_null_handles rt_null_pointer rt_null_kernel""",
    "what tests ask of the runtime's state": """rt_trace rt_trace_read rt_set_allocator rt_host_bytes rt_shutdown rt_wait
        rt_device_current rt_device_context rt_kernel_artifact rt_kernel_device rt_set_bytes""",
    "tests of edges, which ir.c removes in several ways": "ir_edge_remove_nth",
    "what devices can do and Python does not show yet": "rt_device_peer rt_kernel_global",
    "compiled code calls it by a name with a suffix": "quern_round_digitsf",
    "the zero of an enumeration": "IMM_NONE",
    "padding, by name": "unused",
    "read by the headers of Python and NumPy": """NPY_NO_DEPRECATED_API NPY_TARGET_VERSION PY_ARRAY_UNIQUE_SYMBOL
        PY_UFUNC_UNIQUE_SYMBOL NO_IMPORT_ARRAY NO_IMPORT_UFUNC""",
}
KEPT = {name for names in KEPT_FOR.values() for name in names.split()}


def strip(text):
    """The code without comments; lines stay where they are. Texts stay: generated code calls functions by name."""
    return re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def sources():
    """Path -> code of everything that is compiled into the product."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".def", ".inc")]
    paths.append(ROOT / "pymodule/quern/_aot_c.py")  # the C around what is compiled ahead of time
    return {str(path.relative_to(ROOT)): strip(path.read_text(errors="replace")) for path in sorted(paths)}


def blocks(text, keyword):
    """(start, body) of every `keyword NAME { ... }`, with those inside."""
    for match in re.finditer(rf"\b{keyword}\b\s*\w*\s*{{", text):
        depth, at = 1, match.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match.end(), text[match.end():at - 1]


def enumerators(text):
    for start, body in blocks(text, "enum"):
        body = re.sub(r"^\s*#.*$", lambda m: " " * len(m.group()), body, flags=re.M)
        for match in re.finditer(r"(?:^|,)\s*([A-Za-z_]\w*)\s*(?==|,|$)", body):
            yield match[1], start + match.start(1)


def fields(text):
    for start, body in [*blocks(text, "struct"), *blocks(text, "union")]:
        body = re.sub(r"^\s*#.*$", lambda m: " " * len(m.group()), body, flags=re.M)
        for match in re.finditer(r"\(\*(\w+)\)\(|\b(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=[^,;]*)?(?=[,;])", body):
            name = match[1] or match[2]
            before = body[:match.start()]
            if before.count("(") > before.count(")"):
                continue  # a parameter of a function pointer
            yield name, start + match.start(1 if match[1] else 2)


def functions(text):
    flat = re.sub(r"^\s*#.*(?:\\\n.*)*$", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M)
    for match in re.finditer(r"^(?:[A-Za-z_][\w ]*[ *]+)+(\w+)\([^;{}]*\)\s*(?:__\w+\(\([^;]*\)\)\s*)?[;{]", flat, flags=re.M):
        if not match.group().startswith(("typedef", " ", "return", "else")):
            yield match[1], match.start(1)


def macros(text):
    for match in re.finditer(r"^#\s*define\s+(\w+)", text, flags=re.M):
        yield match[1], match.start(1)


class Uses:
    """Where each word stands, and what macros make of words: `PREFIX##name`."""

    def __init__(self, code):
        self.words = {path: self.count(text) for path, text in code.items()}
        self.prefixes = {prefix for text in code.values() for prefix in re.findall(r"\b([A-Za-z_]\w*_)\s*##", text)}

    @staticmethod
    def count(text):
        found = {}
        for word in re.findall(r"\w+", text):
            found[word] = found.get(word, 0) + 1
        return found

    def files(self, word):
        return {path: counts[word] for path, counts in self.words.items() if word in counts}

    def by_pasting(self, word):
        return any(word.startswith(prefix) and self.files(word[len(prefix):])
                   for prefix in self.prefixes if len(prefix) < len(word))


def defining(code, name):
    pattern = re.compile(rf"^(?!.*\breturn\b)[A-Za-z_][^;={{}}\n]*\b{name}\((?:[^;{{}}]*)\)\s*{{", flags=re.M)
    return {path for path, text in code.items() if path.endswith(".c") and name in text and pattern.search(text)}


def is_used(kind, name, header, code, uses):
    where = uses.files(name)
    if kind == "field":
        access = re.compile(rf"(?:\.|->)\s*{name}\b|\b(?:offsetof|[A-Z][A-Z_]+)\([^()]*\b{name}\b")
        return any(access.search(code[path]) for path in where)
    if kind == "function":
        inside = defining(code, name)
        inline = re.search(rf"^static inline[^;]*\b{name}\(", code[header], flags=re.M)
        if any(path not in inside and path != header for path in where) or (inline and where[header] > 1):
            return True
        if re.search(rf"^[ \t]*#\s*define(?:[^\n]*\\\n)*[^\n]*\b{name}\b", code[header], flags=re.M):
            return True
    elif sum(where.values()) > 1:
        return True
    return uses.by_pasting(name)


def unused(code):
    uses, kept = Uses(code), set()
    for header in (path for path in code if path.endswith(".h")):
        text = code[header]
        for kind, names in (("function", functions), ("enumerator", enumerators), ("field", fields), ("macro", macros)):
            for name, at in dict(reversed(list(names(text)))).items():
                if is_used(kind, name, header, code, uses):
                    continue
                if name in KEPT:
                    kept.add(name)
                    continue
                yield f"{header}:{text.count(chr(10), 0, at) + 1}: {kind} {name} is used nowhere else"
    for name in sorted(KEPT - kept):
        yield f"tests/tools/check_unused.py: {name} is used now, or gone: it need not be kept"


def main():
    findings = list(unused(sources()))
    for finding in findings:
        print(finding)
    print(f"{len(findings)} declarations that nobody uses" if findings else "unused: none")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
