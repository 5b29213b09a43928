"""Can the tests fail? (make mutate) Changes one place of the source at a time, by rule, builds, and runs the quickest tests
that could see it.

    python tests/tools/mutate.py [--count 300] [--seed 1] [--only 'codegen/opt/*'] [--build build/test] [--list]

The work is done in build/mutate, a copy of the tree with a build folder of its own. A mutant is dead when a test fails,
crashes or takes too long, and invalid when it does not compile. What survives is listed; the known ones stand with
their reasons in mutate_survivors.txt. Exit status 1: a survivor without a reason, or fewer than 85 % dead."""
import argparse
import fnmatch
import os
import pathlib
import random
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
GOLDEN_SECONDS, TEST_SECONDS, BUILD_SECONDS = 60, 180, 600


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int  # from 0
    rule: str
    old: str
    new: str
    nth: int  # of the same change of the same text in this file

    def key(self):
        """Names it in mutate_survivors.txt: nothing here changes when other lines come and go."""
        return " | ".join([self.path, self.rule, " ".join(self.old.split())] + [f"#{self.nth}"] * (self.nth > 1))

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
        identity = (rule, lines[k].strip(), new.strip())
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
    ("codegen/opt/bounds.c", "return op == OP_lt ? x < y : x <= y;", "return x <= y;"),
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
    """As many of each layer, and inside of it of each rule, as far as there are."""
    rng, groups = random.Random(seed), {}
    for path in subprocess.run(["git", "ls-files", *LAYERS], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split():
        if path.endswith((".c", ".def")) and any(fnmatch.fnmatch(path, g) for g in only or ["*"]):
            for m in mutants_of(path):
                groups.setdefault(path.split("/")[0], {}).setdefault(m.rule.split()[0], []).append(m)
    result = [m for m in by_hand() if any(fnmatch.fnmatch(m.path, g) for g in only or ["*"])]
    for rules in groups.values():
        for of_rule in rules.values():
            rng.shuffle(of_rule)
    while len(result) < count and groups:
        for layer in list(groups):
            if not groups[layer]:
                del groups[layer]
                continue
            rule = rng.choice(sorted(groups[layer]))
            if len(result) < count:
                result.append(groups[layer][rule].pop())
            if not groups[layer][rule]:
                del groups[layer][rule]
    return result


# -- tests that could see a change: the quickest first --------------------------------------------------

SEEN_BY = [  # pattern of paths: golden folders, C tests, Python tests; the first that fits
    ("frontend/base/*", "ir infer", "test_base test_ir", "test_diag test_errors"),
    ("frontend/bytecode/*", "bytecode infer", "test_bytecode test_bytecode_hand", "test_control_flow test_bytecode_ssa test_programs"),
    ("frontend/ir/*", "ir opt infer", "test_ir test_codegen", "test_programs test_index_proofs"),
    ("typeinfer/tables/*", "infer llvm", "test_library test_infer test_codegen_lib", "test_library_scalars test_numpy_scalars test_floats test_programs "
     "test_kernels test_arrays test_ufunc"),
    ("typeinfer/*sig*", "infer", "test_sig", "test_jit test_kernel_api test_bad_input test_ufunc"),
    ("typeinfer/*", "infer opt llvm", "test_lattice test_infer test_library",
     "test_numpy_scalars test_programs test_arrays test_kernels test_refusals test_diag test_control_flow"),
    ("codegen/opt/narrow*", "opt ptx", "test_codegen_ptx test_kernel_ptx", "test_kernels test_kernel_api"),
    ("codegen/opt/divisors*", "opt", "", "test_divisors test_index_proofs"),
    ("codegen/opt/refcount*", "opt", "test_codegen_array", "test_references test_arrays test_jit"),
    ("codegen/opt/expand*", "opt", "test_expand", ""),
    ("codegen/opt/fuse*", "opt", "test_expand", ""),
    ("codegen/opt/*", "opt llvm", "test_codegen", "test_index_proofs test_divisors test_checked_copies test_arrays test_references NESTS"),
    ("codegen/target/target_nvptx*", "ptx", "test_codegen_ptx test_kernel_ptx", "test_kernels test_kernel_api test_kernel_exceptions test_library_scalars"),
    ("codegen/llvm/cg_coro*", "llvm", "test_kernel_waiting", "test_kernel_waiting test_kernels test_kernel_exceptions"),
    ("codegen/workitem*", "llvm", "test_kernel_waiting", "test_kernel_waiting test_kernels test_kernel_exceptions"),
    ("codegen/ufunc*", "llvm", "test_codegen", "test_ufunc"),
    ("codegen/*", "llvm ptx opt", "test_codegen test_codegen_ops test_codegen_array test_codegen_lib test_codegen_ptx",
     "test_integers test_floats test_arrays test_exceptions test_kernels test_library_scalars test_dump test_debugger test_checked_copies"),
    ("runtime/cuda/*", "", "test_runtime_cuda test_runtime_launch", "test_driver test_kernels test_kernel_api test_kernel_exceptions"),
    ("runtime/cpu/*", "", "test_runtime_cpu test_runtime_launch", "test_kernels test_kernel_waiting test_kernel_exceptions test_kernel_api"),
    ("runtime/*", "", "test_runtime_launch test_runtime_memory test_runtime_cpu test_runtime_cuda", "test_kernels test_kernel_api test_driver"),
    ("pymodule/*ufunc*", "", "", "test_ufunc test_bad_input"),
    ("pymodule/*kernel*", "", "", "test_kernel_api test_kernels test_bad_input test_kernel_exceptions test_traps"),
    ("pymodule/array_obj*", "", "", "test_kernel_api test_driver test_bad_input test_traps"),
    ("pymodule/*device*", "", "", "test_driver test_kernel_api test_bad_input"),
    ("pymodule/*stream*", "", "", "test_driver test_kernel_api test_bad_input"),
    ("pymodule/*", "", "", "test_jit test_bad_input test_arrays test_memmap test_kernel_api test_globals test_exceptions test_numpy_scalars "
     "test_programs test_ufunc"),
]


def targets_and_tests(path):
    golden, units, python = next(row[1:] for row in SEEN_BY if fnmatch.fnmatch(path, row[0]))
    units = [u for u in units.split() if (ROOT / "tests/unit" / f"{u}.c").exists()]
    commands = []
    if golden:
        commands += [([str(BUILD / "golden"), f"tests/golden/{folder}"], GOLDEN_SECONDS) for folder in golden.split()]
    commands += [([str(BUILD / u)], TEST_SECONDS) for u in units]
    if path.endswith(".def"):
        commands.append(([str(BUILD / "reference"), "--check", "docs/reference.md"], GOLDEN_SECONDS))
    for name in python.split():
        if name == "NESTS":
            commands.append(([sys.executable, "tests/fuzz/fuzz.py", "--programs", "60", "--jobs", "1"], TEST_SECONDS))
        else:
            commands.append(([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", f"tests/py/{name}.py"],
                             TEST_SECONDS))
    return ["_quern", "golden", "reference", *units], commands


# -- work -----------------------------------------------------------------------------------------------

def run(command, seconds, env=None):
    """0 when it ends well; text of what it said otherwise."""
    with subprocess.Popen(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env,
                          stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "it takes too long"
    return (out.strip() or f"exit status {process.returncode}") if process.returncode else 0


def prepare(build):
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
    subprocess.run(["ninja", "-j", str(os.cpu_count()), "-C", str(BUILD)], check=True, stdout=subprocess.DEVNULL)


def environment():
    return dict(os.environ, QUERN_BUILD=str(BUILD), QUERN_CUDA_LIBRARY=str(BUILD / "fakecuda" / "libcuda.so.1"), PYTHONDONTWRITEBYTECODE="1")


def judge(mutant, sound):
    """("dead", which test), ("invalid", "") or ("alive", ""). `sound`: tests known to pass without a change."""
    file = TREE / mutant.path
    original = file.read_text()
    lines = original.splitlines()
    lines[mutant.line] = mutant.new
    targets, commands = targets_and_tests(mutant.path)
    file.write_text("\n".join(lines) + "\n")
    killer = None
    try:
        if run(["ninja", "-j", str(os.cpu_count()), "-C", str(BUILD), *targets], BUILD_SECONDS):
            return "invalid", ""
        killer = next(((c, s) for c, s in commands if run(c, s, environment())), None)
    finally:
        file.write_text(original)
    if not killer:
        return "alive", ""
    name = " ".join(pathlib.Path(part).name for part in killer[0] if not part.startswith("-"))
    if name not in sound:  # a test that fails without any change would kill everything
        if run(["ninja", "-j", str(os.cpu_count()), "-C", str(BUILD), *targets], BUILD_SECONDS) or run(*killer, environment()):
            sys.exit(f"this fails without any change: {name}")
        sound.add(name)
    return "dead", name


def reasons():
    """{key: reason} from the file beside this one: a line with the key, then an indented reason."""
    result, key = {}, None
    for line in REASONS.read_text().splitlines() if REASONS.exists() else []:
        if line.startswith("  ") and key:
            result[key] = (result[key] + " " + line.strip()).strip()
        elif line and not line.startswith("#"):
            key = line
            result[key] = ""
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="patterns of paths")
    parser.add_argument("--build", default="build/test", help="where the compiler and its options are taken from")
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop making new ones after this time")
    args = parser.parse_args()
    mutants = sample(args.count, args.seed, args.only)
    if args.list:
        print(*mutants, sep="\n")
        return 0
    prepare(args.build)
    known, start, sound = reasons(), time.monotonic(), set()
    tally, unexplained, per_rule = {"dead": 0, "alive": 0, "invalid": 0, "equal": 0}, [], {}
    for k, mutant in enumerate(mutants):
        if time.monotonic() - start > args.seconds:
            print(f"stopped after {args.seconds:.0f} s: {len(mutants) - k} were not made")
            break
        began = time.monotonic()
        state, where = judge(mutant, sound)
        reason = known.get(mutant.key(), "")
        if state == "alive" and reason.startswith("equal: "):
            state = "equal"
        tally[state] += 1
        per_rule.setdefault(mutant.rule.split()[0], []).append(state)
        print(f"[{k + 1}/{len(mutants)}] {state:7} {time.monotonic() - began:5.1f} s  {mutant}" + (f"\n    {where}" if where else ""), flush=True)
        if state == "alive" and not reason:
            unexplained.append(mutant)
    for rule, states in sorted(per_rule.items()):
        judged = [s for s in states if s in ("dead", "alive")]
        print(f"  {rule:12} {judged.count('dead'):4} of {len(judged):4} dead")
    judged = tally["dead"] + tally["alive"]
    share = tally["dead"] / judged if judged else 1.0
    print(f"{judged} mutants: {tally['dead']} dead ({share:.1%}), {tally['alive']} alive; besides, {tally['invalid']} that do not compile and "
          f"{tally['equal']} that change nothing")
    if unexplained:
        print("survivors without a reason:")
        print(*(m.key() for m in unexplained), sep="\n")
    return 1 if unexplained or share < WANTED else 0


if __name__ == "__main__":
    sys.exit(main())
