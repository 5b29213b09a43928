"""Can the tests fail? (make mutate) Changes one place of the source at a time, by rule, builds, and runs the quickest tests
that could see it.

    python tests/tools/mutate.py [--count 300] [--seed 1] [--only 'codegen/opt/*'] [--build build/test] [--jobs 1] [--list]

The work is done in build/mutate, a copy of the tree with a build folder of its own. A mutant is dead when a test fails,
crashes or takes too long, and invalid when it does not compile. What survives is listed; the known ones stand with
their reasons in mutate_survivors.txt. build/mutate/results.json keeps what was found: a run that was stopped goes on, and
a mutant that lived only meets the tests that changed since. Exit status 1: a survivor without a reason, fewer than
85 % dead, or a test that fails without any change."""
import argparse
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutate"
TREE, BUILD = WORK / "tree", WORK / "build"
REASONS = ROOT / "tests" / "tools" / "mutate_survivors.txt"
LAYERS = ["frontend", "typeinfer", "codegen", "runtime", "pymodule"]
WANTED = 0.85
TEST_SECONDS, BUILD_SECONDS, MUTANT_SECONDS = 180, 600, 150
STAND_INS = ["fakecuda", "fakehip5", "fakehip7", "fakehip_lacks"]
STATES = ["dead", "alive", "equal", "invalid"]


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int  # from 0
    rule: str
    old: str
    new: str
    nth: int  # of the changes by this rule of the same text in this file

    def key(self):
        """Names it in mutate_survivors.txt: nothing here changes when other lines come and go."""
        return " | ".join([self.path, self.rule, " ".join(self.old.split())] + [f"#{self.nth}"] * (self.nth > 1))

    def rank(self, seed):
        """Picks the sample: it depends on nothing but this mutant, so that a change elsewhere leaves the sample alone."""
        return hashlib.sha256(f"{seed}|{self.key()}|{self.new.strip()}".encode()).hexdigest()

    def __str__(self):
        return f"{self.path}:{self.line + 1}: {self.rule}\n    - {self.old.strip()}\n    + {self.new.strip()}"


# -- rules ---------------------------------------------------------------------------------------------

def swap(*pairs):
    """Replaces each occurrence of one word of a pair by the other."""
    table = {a: b for x, y in pairs for a, b in ((x, y), (y, x))}
    pattern = re.compile("|".join(r"(?<!\w)" + re.escape(a) + r"(?!\w)" for a in sorted(table, key=len, reverse=True)))
    return lambda line: [line[:m.start()] + table[m.group()] + line[m.end():] for m in pattern.finditer(line)]


def replace(pattern, by):
    pattern = re.compile(pattern)
    return lambda line: [line[:m.start()] + m.expand(by) + line[m.end():] for m in pattern.finditer(line)]


def dropped(pattern):
    """A whole statement of one line."""
    pattern = re.compile(pattern)
    return lambda line: [re.sub(r"\S.*", ";", line)] if pattern.match(line) and line.rstrip().endswith(";") else []


def order(line):
    """< and <=, > and >=, outside of loops over C arrays, where the change is an access outside of one."""
    if line.lstrip().startswith(("for (", "#")) or "->" in line and " > " not in line and " < " not in line and "=" not in line:
        return []
    return swap_text(line, {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "})


def swap_text(line, table):
    pattern = re.compile("|".join(re.escape(a) for a in sorted(table, key=len, reverse=True)))
    return [line[:m.start()] + table[m.group()] + line[m.end():] for m in pattern.finditer(line)]


def guard(line):
    """`if (...) return ...;` on one line goes, and so does the first part of a conjunction."""
    result = []
    if re.match(r"\s+if \(.*\) (return\b.*|continue|break);$", line):
        result.append(re.sub(r"\S.*", ";", line))
    if line.count("(") == line.count(")"):
        result += replace(r"\b(if|while|return) (\(?)(?:[^()&|]|\([^()]*\))+ && ", r"\1 \2")(line)
    return result


RULES = {
    "sext/zext": swap(("LLVMBuildSExt", "LLVMBuildZExt"), ("LLVMBuildSIToFP", "LLVMBuildUIToFP"), ("LLVMBuildFPToSI", "LLVMBuildFPToUI"),
                      ("llvm.fptosi.sat", "llvm.fptoui.sat"), ("CLASS_SINT", "CLASS_UINT")),
    "sdiv/udiv": swap(("LLVMBuildSDiv", "LLVMBuildUDiv"), ("LLVMBuildSRem", "LLVMBuildURem"), ("LLVMBuildAShr", "LLVMBuildLShr"),
                      ("LLVMBuildAdd", "LLVMBuildSub"), ("LLVMBuildAnd", "LLVMBuildOr")),
    "slt/ult": swap(*((f"LLVMIntS{x}", f"LLVMIntU{x}") for x in ("LT", "LE", "GT", "GE")), ("LLVMRealOLT", "LLVMRealULT"),
                    ("LLVMRealOEQ", "LLVMRealUEQ"), ("LLVMRealUNE", "LLVMRealONE"), ("LLVMIntEQ", "LLVMIntNE")),
    "order": order,
    "op": swap(("OP_lt", "OP_le"), ("OP_gt", "OP_ge"), ("OP_add", "OP_sub"), ("OP_floordiv", "OP_mod")),
    "by one": lambda line: [] if "[" in line and "] " not in line else replace(r" - 1\b", "")(line) + replace(r" \+ 1\b", "")(line)
        + replace(r"(?<=[=<>] )0\b(?!x)", "1")(line),
    "guard": guard,
    "reference": dropped(r"\s+(Py_X?(INC|DEC)REF|artifact_(retain|release)|rt_\w+_(retain|release)|insert_count|vec_push\(.*(retains|releases))\b"),
    "copy-back": dropped(r"\s+(if \(.*\) )?\w*(copy|transfer|write_back|memcpy)\w*\("),
    "key bit": replace(r"\bKEY_[A-Z]+\b(?!\()", "0"),
    "fence": lambda line: dropped(r"\s+.*(fence|barrier|synchroni|wait_for|rt_stream_wait)\w*\(")(line)
        + swap(("membar.cta", "membar.gl"), ("membar.gl", "membar.sys"))(line),
}
C_RULES = {name: rule for name, rule in RULES.items()}
SKIPPED = re.compile(r'^\s*(/\*|\*|//|#|static_assert|_Static_assert|QN_STATIC|"|assert\()|rt_fail|PyErr_|diag_|^\w.*\)\s*{$|err->')


def rows(path, lines):
    """Tables: a field of a row becomes that of the next row of the same kind."""
    row = re.compile(r"^(\w+)\((.*)\)\s*(/\*.*\*/)?$")
    for k in range(len(lines) - 1):
        a, b = row.match(lines[k]), row.match(lines[k + 1])
        if not a or not b or a.group(1) != b.group(1):
            continue
        x, y = fields(a.group(2)), fields(b.group(2))
        if len(x) != len(y):
            continue
        for column in range(1, len(x)):
            # names of docs and texts are not behaviour; the first column names the row
            if x[column] == y[column] or (x[column].startswith('"') and "->" not in x[column] and " " in x[column]):
                continue
            changed = x[:column] + [y[column]] + x[column + 1:]
            yield k, f"row column {column}", f"{a.group(1)}({', '.join(changed)})"


def fields(text):
    """The arguments of a macro call, split at the outer commas."""
    result, depth, quote, start = [], 0, False, 0
    for k, c in enumerate(text):
        if c == '"' and text[k - 1:k] != "\\":
            quote = not quote
        depth += 0 if quote else (c in "([{") - (c in ")]}")
        if c == "," and depth == 0 and not quote:
            result.append(text[start:k].strip())
            start = k + 1
    return [*result, text[start:].strip()]


def mutants_of(path):
    lines = (ROOT / path).read_text().splitlines()
    seen = {}

    def made(k, rule, new):
        identity = (rule, lines[k].strip())
        seen[identity] = seen.get(identity, 0) + 1
        return Mutant(path, k, rule, lines[k], new, seen[identity])

    if path.endswith(".def"):
        return [made(k, rule, new) for k, rule, new in rows(path, lines)]
    result, comment = [], False
    for k, line in enumerate(lines):
        comment = comment or line.lstrip().startswith("/*")
        ended = "*/" in line
        if not comment and not SKIPPED.search(line):
            for rule, change in RULES.items():
                result += [made(k, rule, new) for new in dict.fromkeys(change(line)) if new != line]
        comment = comment and not ended
    return result


# Mutants that tests once let live.
BY_HAND = [
    ("codegen/opt/bounds_interval.c", "return op == OP_lt ? x < y : x <= y;", "return x <= y;"),
    ("codegen/opt/refcount.c", "if (r >= 0 && !bits_get(&live, r)) vec_push(rc->arena, &edits->releases, release);", ";"),
    ("codegen/opt/narrow.c", "return between(0, i % 2 == 0 ? FAST_LIMIT - 1 : FAST_LIMIT);", "return between(0, FAST_BLOCKS);"),
    ("pymodule/argtype.c", "(flags & NPY_ARRAY_WRITEABLE ? 0 : KEY_READONLY) |", "0 |"),
    ("pymodule/argtype.c", "(type->readonly ? KEY_READONLY : 0) | (type->aligned ? 0 : KEY_UNALIGNED));", "(type->aligned ? 0 : KEY_UNALIGNED));"),
]


def by_hand():
    for path, old, new in BY_HAND:
        lines = (ROOT / path).read_text().splitlines()
        found = [k for k, line in enumerate(lines) if line.strip() == old]
        if not found:
            sys.exit(f"{path} has no line {old!r}: bring BY_HAND up to date")
        k = found[0]
        yield Mutant(path, k, "by hand", lines[k], lines[k].replace(old, new), 1)


def sample(count, seed, only):
    """The same number of each layer, and inside of it of each rule, as far as there are; those made by hand come first."""
    wanted = [f for f in subprocess.run(["git", "ls-files", *LAYERS], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
              if f.endswith((".c", ".def")) and any(fnmatch.fnmatch(f, g) for g in only or ["*"])]
    result = [m for m in by_hand() if m.path in wanted]
    layers = list(dict.fromkeys(f.split("/")[0] for f in wanted))
    for k, layer in enumerate(layers):
        rules = {}
        for m in sorted((m for f in wanted if f.startswith(layer + "/") for m in mutants_of(f)), key=lambda m: m.rank(seed)):
            rules.setdefault(m.rule.split()[0], []).append(m)
        quota = (count - len(result)) // (len(layers) - k)
        turns = sorted((turn, rule) for rule, found in rules.items() for turn in range(len(found)))
        chosen = [rules[rule][turn] for turn, rule in turns[:quota]]
        result += sorted(chosen, key=lambda m: (m.path, m.line))
    return result


# -- tests that could see a change ----------------------------------------------------------------------

GOLDEN = {"frontend": "bytecode ir infer opt llvm ptx gcn", "typeinfer": "infer opt llvm ptx gcn", "codegen": "opt llvm ptx gcn"}
SEEN_BY = [  # pattern of paths: C tests, Python tests, likely ones first; the first row that fits
    ("frontend/base/folder.c", "", "test_cache"),
    ("frontend/base/*", "test_base test_ir test_bytecode", "test_diag test_errors test_dump test_jit test_compiler_limits"),
    ("frontend/bytecode/*", "test_bytecode test_bytecode_hand",
     "test_diag test_control_flow test_bytecode_ssa test_programs test_errors test_refusals test_try test_iterators test_lists"),
    ("frontend/ir/ir_guards.def", "", "test_exceptions test_dump test_kernel_exceptions test_arrays test_checked_copies"),
    ("frontend/*", "test_ir test_codegen test_bytecode test_infer", "test_diag test_programs test_errors test_dump test_lists test_try"),
    ("typeinfer/*sig*", "test_sig", "test_jit test_kernel_api test_bad_input test_ufunc test_declared test_locals test_names"),
    *((f"typeinfer/infer_{topic}.c", "test_infer test_library",
       "test_lists test_try test_iterators test_iterators_of_lists test_array_indexing test_array_expressions test_ufunc test_refusals test_diag "
       "test_prange test_random_iterators test_number_meanings test_errors test_programs") for topic in ("list", "map", "next", "object", "raise")),
    ("typeinfer/tables/numpy.def", "test_library test_sig",
     "test_numpy_scalars test_array_reductions test_array_expressions test_array_shapes test_array_more test_floats test_integers test_zero_dim"),
    ("typeinfer/*", "test_lattice test_infer test_library test_sig test_codegen_lib",
     "test_number_meanings test_numba_tables test_numpy_scalars test_library_scalars test_library_calls test_kernel_locals test_zero_dim test_enums "
     "test_explain test_programs test_arrays test_kernels test_refusals test_diag test_control_flow test_floats test_integers test_ufunc "
     "test_device_functions test_kernel_waiting test_globals test_exceptions test_compiler_limits test_oracle test_calls test_errors "
     "test_array_expressions test_array_indexing test_array_bad_input test_lists test_try test_array_shapes test_array_reductions"),
    ("codegen/opt/*", "test_expand test_codegen test_codegen_array test_codegen_ptx test_kernel_ptx",
     "test_index_proofs test_divisors test_checked_copies test_arrays test_references test_loop_rules test_try test_lists test_array_expressions "
     "test_prange_extremes test_prange test_jit test_kernels test_kernel_api test_diag NESTS"),
    ("codegen/*amdgpu*", "test_amdgpu_link test_runtime_hip", "test_hip_compile"),
    ("codegen/target/*", "test_codegen_ptx test_kernel_ptx test_codegen test_amdgpu_link",
     "test_kernels test_kernel_api test_kernel_exceptions test_library_scalars test_hip_compile test_diag test_dump"),
    ("codegen/llvm/cg_entry.c", "test_codegen test_codegen_ops", "test_ufunc test_gufunc test_jit test_lists test_kernels test_exceptions"),
    ("codegen/llvm/cg_gen.c", "test_codegen_lib test_codegen test_codegen_ops",
     "test_array_products test_strings test_kernels test_prange test_leaks"),
    ("codegen/elf_load.c", "test_elf_load", "test_jit test_cache test_debugger"),
    ("codegen/store.c", "test_store", "test_cache"),
    ("codegen/lazy.c", "test_store", "test_checked_copies test_cache"),
    ("codegen/host_code.c", "test_store test_codegen", "test_debugger test_checked_copies test_cache test_leaks"),
    ("codegen/strings.c", "", "test_text_of_numbers test_strings test_kernel_print test_leaks"),
    ("codegen/handlers.c", "", "test_try test_exceptions test_lists"),
    ("codegen/objects.c", "", "test_cache test_lists test_leaks test_references"),
    ("codegen/product*", "", "test_array_products test_array_bad_input"),
    ("codegen/*systems*", "", "test_array_systems test_array_decompositions test_array_bad_input"),
    ("codegen/decompositions.c", "", "test_array_decompositions test_array_bad_input"),
    ("codegen/*", "test_codegen test_codegen_ops test_codegen_array test_codegen_lib test_codegen_ptx test_kernel_ptx test_kernel_waiting",
     "test_integers test_floats test_arrays test_exceptions test_kernels test_kernel_waiting test_kernel_exceptions test_library_scalars "
     "test_dump test_debugger test_checked_copies test_calls test_jit test_number_meanings test_interrupts test_compiler_limits test_device_functions "
     "test_leaks test_lists test_try test_array_expressions"),
    ("runtime/hip/*", "test_runtime_hip", "test_hip_compile test_kernels test_kernel_api"),
    ("runtime/[cd][ur]*/*", "test_runtime_cuda test_runtime_hip test_runtime_launch", "test_driver test_kernels test_kernel_api test_kernel_exceptions test_leaks"),
    ("runtime/cpu/pool.c", "test_runtime_cpu", "test_kernel_exceptions test_prange test_threads test_ufunc test_interrupts test_kernels test_traps"),
    ("runtime/*", "test_runtime_launch test_runtime_memory test_runtime_cpu test_runtime_cuda",
     "test_kernels test_kernel_waiting test_kernel_exceptions test_kernel_api test_driver test_interrupts test_traps test_leaks"),
    ("pymodule/*ufunc*", "", "test_ufunc test_gufunc test_leaks test_bad_input test_names test_traps"),
    ("pymodule/*kernel*", "", "test_kernel_api test_kernels test_leaks test_bad_input test_kernel_exceptions test_driver test_traps test_interrupts"),
    ("pymodule/argtype.c", "", "test_lists test_memmap test_jit test_references test_kernel_api test_bad_input test_leaks test_declared test_enums test_arrays test_calls"),
    ("pymodule/*box.c", "", "test_declared test_jit test_kernel_api test_bad_input test_memmap test_zero_dim test_arrays test_numpy_scalars test_leaks"),
    ("pymodule/runtime_error.c", "", "test_errors test_exceptions test_kernel_exceptions test_leaks test_driver test_traps"),
    ("pymodule/lists.c", "", "test_lists test_leaks"),
    ("pymodule/tables.c", "", "test_python_references test_dicts test_sets test_leaks"),
    ("pymodule/strings.c", "", "test_strings test_print test_leaks"),
    ("pymodule/cache.c", "", "test_cache"),
    ("pymodule/digest.c", "", "test_cache"),
    ("pymodule/ahead/call.c", "", "test_aot"),
    ("pymodule/ahead/convert.c", "", "test_aot"),
    ("codegen/raised.c", "", "test_exceptions test_try test_errors test_aot"),
    ("pymodule/raised.c", "", "test_exceptions test_try test_errors test_leaks test_aot"),
    ("pymodule/text.c", "", "test_strings test_print test_leaks test_aot"),
    ("pymodule/raise.c", "", "test_exceptions test_try test_errors test_kernel_exceptions test_leaks test_diag test_traps"),
    ("pymodule/resolve.c", "", "test_python_references test_try test_globals test_enums test_locals test_refusals test_jit test_leaks test_names test_calls test_errors"),
    ("pymodule/explain_obj.c", "", "test_explain test_leaks"),
    ("pymodule/inspect_obj.c", "", "test_jit test_dump test_leaks"),
    ("pymodule/*_obj.c", "", "test_kernel_api test_driver test_leaks test_bad_input test_traps test_kernels"),
    ("pymodule/*", "", "test_python_references test_jit test_declared test_bad_input test_leaks test_calls test_arrays test_kernel_api test_globals test_dump test_interrupts "
     "test_exceptions test_references test_programs test_names test_traps"),
]


@dataclass(frozen=True)
class Test:
    name: str
    command: tuple
    target: str  # that it needs
    digest: str  # of its files
    guess: float  # seconds, until it was measured
    hope: float  # that it kills, before any run


def digest(paths):
    return hashlib.sha256(b"".join(p.read_bytes() for p in paths)).hexdigest()[:12]


def tests_of(path):
    """The row that a file belongs to, and its tests."""
    row, units, python = next(row for row in SEEN_BY if fnmatch.fnmatch(path, row[0]))
    tests = []

    def add(name, target, command, files, hope=3.0):
        tests.append(Test(name, tuple(map(str, command)), target, digest(files), sum(f.stat().st_size for f in files) / 4000, hope))

    for folder in GOLDEN.get(path.split("/")[0], "").split():
        files = sorted(f for f in (TREE / "tests/golden" / folder).rglob("*") if f.is_file())
        add(f"golden {folder}", "golden", [BUILD / "golden", f"tests/golden/{folder}"], files)
    for unit in units.split():
        add(unit + ".c", unit, [BUILD / unit], [TREE / f"tests/unit/{unit}.c"])
    if path.endswith(".def"):
        add("reference", "reference", [BUILD / "reference", "--check", "docs/reference.md"], [TREE / "docs/reference.md"])
    for k, name in enumerate(python.split()):
        if name == "NESTS":
            add(name, "_quern", [sys.executable, "tests/fuzz/fuzz.py", "--programs", "60", "--jobs", "1"], [TREE / "tests/fuzz/fuzz.py"], 1 / (k + 1))
        else:
            command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", f"tests/py/{name}.py"]
            add(name + ".py", "_quern", command, [TREE / f"tests/py/{name}.py"], 2 / (k + 1))
    return row, tests


# -- work -----------------------------------------------------------------------------------------------

def run(command, seconds, env=None):
    """0 when it ends well or has nothing to do here (77); text of what it said otherwise."""
    with subprocess.Popen(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env,
                          stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "it takes too long"
    return 0 if process.returncode in (0, 77) else out.strip() or f"exit status {process.returncode}"


def prepare(build, jobs):
    """The copy of the tree, with what was changed since the last time, and its build."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    wanted = {f for f in files if f and (ROOT / f).is_file()}
    for f in wanted:
        target = TREE / f
        if not target.exists() or target.read_bytes() != (ROOT / f).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / f, target)
    for f in [p for p in TREE.rglob("*") if p.is_file() and str(p.relative_to(TREE)) not in wanted and "__pycache__" not in p.parts]:
        f.unlink()
    cache = {}
    if (ROOT / build / "CMakeCache.txt").exists():
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (ROOT / build / "CMakeCache.txt").read_text(), re.M))
    options = [f"-D{k}={cache[k]}" for k in ("CMAKE_C_COMPILER_LAUNCHER", "Python_EXECUTABLE", "Python_FIND_VIRTUALENV") if cache.get(k)]
    # what the compiler refuses in earnest is no mutant; an unused variable is one
    strict = "-Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration"
    subprocess.run(["cmake", "-S", str(TREE), "-B", str(BUILD), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_C_FLAGS={strict}",
                    f"-DPython_EXECUTABLE={sys.executable}", *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-j", str(jobs), "-C", str(BUILD), "_quern", "quern_package", "golden", *STAND_INS], check=True, stdout=subprocess.DEVNULL)


def environment():
    return dict(os.environ, QUERN_BUILD=str(BUILD), QUERN_CUDA_LIBRARY=str(BUILD / "fakecuda/libcuda.so.1"), PYTHONDONTWRITEBYTECODE="1",
                QUERN_HIP_LIBRARY=str(BUILD / "fakehip/libamdhip64.so.7"))


class Results:
    """What earlier runs found, kept in build/mutate/results.json: of each mutant (the whole changed file names it) its state
    and the tests it met, of each test its time and whether it passes without a change."""

    def __init__(self):
        self.path = WORK / "results.json"
        kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.mutants, self.seconds = kept.get("mutants", {}), kept.get("seconds", {})
        source = subprocess.run(["git", "ls-files", *LAYERS], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
        self.source = digest([TREE / f for f in source])
        self.sound = set(kept.get("sound", [])) if kept.get("source") == self.source else set()
        self.broken = set()  # tests that fail without any change

    def save(self):
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"mutants": self.mutants, "seconds": self.seconds, "source": self.source, "sound": sorted(self.sound)}))
        new.replace(self.path)

    def in_order(self, tests, group, passed):
        """First what changed since this mutant met it, then what killed often in this group of files for the time it takes."""
        kills = [m["by"] for m in self.mutants.values() if m["state"] == "dead" and m["group"] == group]

        def worth(test):
            return test.name in passed, (kills.count(test.name) + test.hope) / max(self.seconds.get(test.name, test.guess), 0.1)

        return sorted(tests, key=worth, reverse=True)


def judge(mutant, results, args, quick):
    """{"state": "dead", "alive" or "invalid", "by": the test that killed it, "passed": {test that did not: its digest}, ...}"""
    file, began = TREE / mutant.path, time.monotonic()
    original = file.read_text()
    lines = original.splitlines()
    lines[mutant.line] = mutant.new
    changed = "\n".join(lines) + "\n"
    group, tests = tests_of(mutant.path)
    name = hashlib.sha256((mutant.path + changed).encode()).hexdigest()[:16]
    known = results.mutants.get(name, {"state": "new", "passed": {}})
    tests = [t for t in tests if known["passed"].get(t.name) != t.digest and not (quick and results.seconds.get(t.name, t.guess) > 2)]
    if known["state"] in ("dead", "invalid") or known["state"] == "alive" and not tests:
        return known
    found = {"key": mutant.key(), "group": group, "state": "alive", "by": "", "passed": known["passed"]}

    def build(text, target):
        if file.read_text() != text:
            file.write_text(text)
        return run(["ninja", "-j", str(args.jobs), "-C", str(BUILD), target], BUILD_SECONDS)

    def fails(test):
        started, usual = time.monotonic(), results.seconds.get(test.name)
        said = run(test.command, TEST_SECONDS if usual is None else min(TEST_SECONDS, 20 + 5 * usual), environment())
        if not said:
            results.seconds[test.name] = round(min(usual or 1e9, time.monotonic() - started), 2)
        return said

    try:
        for test in results.in_order(tests, group, known["passed"]):
            if time.monotonic() - began > args.limit:
                found["late"] = True
                break
            if test.name in results.broken:
                continue
            if build(changed, test.target):
                found["state"] = "invalid"
                break
            if not fails(test):
                found["passed"][test.name] = test.digest
                continue
            if test.name + test.digest not in results.sound:  # a test that fails without any change would kill everything
                if build(original, test.target) or fails(test):
                    print(f"    set aside, as it fails without any change: {test.name}", flush=True)
                    results.broken.add(test.name)
                    continue
                results.sound.add(test.name + test.digest)
            found.update(state="dead", by=test.name)
            break
    finally:
        file.write_text(original)
    found["seconds"] = round(time.monotonic() - began, 1)
    results.mutants[name] = found
    results.save()
    return found


def reasons():
    """{key: reason} from the file beside this one: a line with the key, then an indented reason."""
    result, key = {}, None
    for line in REASONS.read_text().splitlines() if REASONS.exists() else []:
        if line.startswith("  ") and key:
            result[key] = (result[key] + " " + line.strip()).strip()
        elif line and not line.startswith("#"):
            key = " ".join(line.split())
            result[key] = ""
    return result


def table(title, counts):
    print(f"  {title:12}" + "".join(f"{s:>9}" for s in STATES))
    for name, states in sorted(counts.items()):
        print(f"  {name:12}" + "".join(f"{states.count(s):9}" for s in STATES))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="patterns of paths: --count is for them alone")
    parser.add_argument("--build", default="build/test", help="where the compiler and its options are taken from")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the builds; tests run one at a time")
    parser.add_argument("--limit", type=float, default=MUTANT_SECONDS, help="seconds for one mutant; a later run goes on with its other tests")
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop making new ones after this time")
    parser.add_argument("--layers", nargs="*", default=LAYERS, help="judge only these of the sample")
    args = parser.parse_args()
    mutants = [m for m in sample(args.count, args.seed, args.only) if m.path.split("/")[0] in args.layers]
    if args.list:
        print(*mutants, sep="\n")
        return 0
    prepare(args.build, args.jobs)
    known, start, results = reasons(), time.monotonic(), Results()
    unexplained, late, per_rule, per_layer = [], [], {}, {}
    for k, mutant in enumerate(mutants):
        if time.monotonic() - start > args.seconds:
            print(f"stopped after {args.seconds:.0f} s: {len(mutants) - k} were not made")
            break
        reason = known.get(mutant.key(), "")
        equal = reason.startswith("equal: ")  # the quick tests say whether that is wrong
        found = judge(mutant, results, args, equal)
        state = "equal" if found["state"] == "alive" and equal else found["state"]
        per_rule.setdefault(mutant.rule.split()[0], []).append(state)
        per_layer.setdefault(mutant.path.split("/")[0], []).append(state)
        print(f"[{k + 1}/{len(mutants)}] {state:7} {found['seconds']:5.1f} s  {mutant}" + (f"\n    {found['by']}" if found["by"] else ""), flush=True)
        unexplained += [mutant] if state == "alive" and not reason else []
        late += [mutant] if state == "alive" and found.get("late") else []
    table("rule", per_rule)
    table("layer", per_layer)
    tally = {s: sum(states.count(s) for states in per_layer.values()) for s in STATES}
    judged = tally["dead"] + tally["alive"]
    share = tally["dead"] / judged if judged else 1.0
    print(f"{judged} mutants: {tally['dead']} dead ({share:.1%}), {tally['alive']} alive; besides, {tally['invalid']} that do not compile and "
          f"{tally['equal']} that change nothing")
    if late:
        print(f"not all tests had their turn within {args.limit:.0f} s:", *(m.key() for m in late), sep="\n")
    if unexplained:
        print("survivors without a reason:", *(m.key() for m in unexplained), sep="\n")
    if results.broken:
        print("tests that fail without any change saw nothing:", *sorted(results.broken), sep="\n")
    return 1 if unexplained or results.broken or share < WANTED else 0


if __name__ == "__main__":
    sys.exit(main())
