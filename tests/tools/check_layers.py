"""Checks the walls of the tree (docs/architecture.md): who may include whom, where foreign headers may stand,
and how long files and functions may grow. Prints every breach and exits 1 if there is one."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A file includes only from its own position or further left.
LAYERS = ["frontend/base", "frontend/ir", "frontend/bytecode", "frontend", "typeinfer", "codegen", "codegen/opt",
          "codegen/llvm", "codegen/target", "runtime", "pymodule"]
# What a top folder shows to the folders right of it, beside `<folder>/<folder>.h`.
PUBLIC = {"frontend": None, "typeinfer": {"typeinfer.h", "lowering.h", "tables"},
          "codegen": {"codegen.h", "artifact.h", "instance_files.h", "objects.h", "raised.h", "store.h", "strings.h", "support.h",
                      "amdgpu_chips.def"}, "runtime": {"runtime.h", "error.h", "device.h"}}
# runtime sees of codegen only the artifact, and which chips an AMD artifact can be for.
RUNTIME_OF_CODEGEN = {"artifact.h", "amdgpu_chips.def"}
# These files are told what they need of the folder: they include nothing else of it.
ALONE = {"codegen/worker.c": {"codegen/worker.h"}, "codegen/worker.h": set(), "codegen/artifact.c": {"codegen/artifact.h"}}
FENCES = [(re.compile(r"^(Python\.h|numpy/.*|structmember\.h|frameobject\.h)$"), ("pymodule/",)),
          (re.compile(r"^llvm-c/.*|^llvm/.*"), ("codegen/llvm/", "codegen/target/", "tests/drivers/hip/", "tests/tools/load_check.c")),
          (re.compile(r"^cuda.*\.h$|^hip/.*"), ("runtime/cuda/", "runtime/hip/", "tests/drivers/"))]
NAMES = [(re.compile(r"\bPy(Object|_INCREF|Err_|GILState)"), ("pymodule/",)),
         (re.compile(r"\bLLVM[A-Z][a-z]\w+\("), ("codegen/llvm/", "codegen/target/")),
         (re.compile(r"\b(cu(Mem|Ctx|Launch|Module|Stream|Event|Init|Device)[A-Za-z0-9_]*|CU(device|context|stream)\w*)\s*\("),
          ("runtime/cuda/",)),
         (re.compile(r"\bhip(Mem|Malloc|Free|Host|Launch|Module|Stream|Event|Init|Get|Set|Device|Func|Runtime)[A-Za-z0-9]*\s*\("),
          ("runtime/hip/",))]
# Who asks what a target is like asks a fact: target_is_host, struct Target.
COMPARED_KIND = re.compile(r"[!=]= *TARGET_[A-Z]|\bTARGET_[A-Z]+ *[!=]=")
MAX_FILE = 1000
MAX_FUNCTION = 120  # a switch over a table may be longer: the file says so with `long-function: NAME`


FOLDERS = "frontend typeinfer codegen runtime pymodule tests examples benchmarks".split()


def files():
    return sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*")
                  if path.suffix in (".c", ".h", ".py", ".def"))


def layer_of(path):
    folder = str(Path(path).parent)
    while folder not in LAYERS and folder not in (".", ""):
        folder = str(Path(folder).parent)
    return folder if folder in LAYERS else None


def strip_comments(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def check_include(path, layer, target):
    if path in ALONE and target.startswith("codegen/") and target not in ALONE[path]:
        return "this file is handed what it needs of codegen"
    top, target_layer = layer.split("/")[0], layer_of(target)
    if target_layer is None:
        return None
    target_top = target_layer.split("/")[0]
    if top == target_top:
        # `folder.h` files at a top folder's root stand left of its sub-folders (codegen), or sum them up (frontend).
        return "a sub-folder further right" if LAYERS.index(target_layer) > LAYERS.index(layer) and "/" in layer else None
    if LAYERS.index(target_layer) > LAYERS.index(layer):
        return "a layer further right"
    rest = target[len(target_top) + 1:]
    public = PUBLIC.get(target_top)
    if top == "runtime" and target_top == "codegen" and rest not in RUNTIME_OF_CODEGEN:
        return "runtime may include only artifact.h and amdgpu_chips.def of codegen"
    if public is not None and rest.split("/")[0] not in public:
        return f"not a public header of {target_top}"
    return None


def check_file(path, problems):
    text = (ROOT / path).read_text(errors="replace")
    count = text.count("\n")
    if count > MAX_FILE and not path.endswith(".inc"):
        problems.append(f"{path}: {count} lines (at most {MAX_FILE}): split it by topic")
    if not path.endswith((".c", ".h")):
        return
    layer = layer_of(path)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        if not match:
            continue
        for pattern, allowed in FENCES:
            if pattern.match(match[1]) and not path.startswith(allowed):
                problems.append(f"{path}:{number}: {match[1]} may be included only in {', '.join(allowed)}")
        reason = check_include(path, layer, match[1]) if layer else None
        if reason:
            problems.append(f"{path}:{number}: includes {match[1]}: {reason}")
    if layer:
        code = strip_comments(text)
        for pattern, allowed in NAMES:
            match = pattern.search(code)
            if match and not path.startswith(allowed):
                line = code.count("\n", 0, match.start()) + 1
                problems.append(f"{path}:{line}: {match.group().strip('(')} belongs to {', '.join(allowed)}")
        match = COMPARED_KIND.search(code)
        if match and not path.startswith("codegen/target/") and path != "frontend/base/target_kind.h":
            line = code.count("\n", 0, match.start()) + 1
            problems.append(f"{path}:{line}: ask a fact of the target (codegen/target.h) instead of comparing kinds")
        check_functions(path, text, code, problems)


def check_functions(path, text, code, problems):
    excused = set(re.findall(r"long-function: (\w+)", text))
    start = name = None
    for number, line in enumerate(code.splitlines(), 1):
        if start is None and line.endswith("{") and not line.startswith((" ", "\t", "#", "}", "typedef", "enum", "struct", "union", "static const")):
            match = re.search(r"(\w+)\s*\([^;]*$", line)
            start, name = number, match[1] if match else "?"
        elif line.startswith("}"):
            if start and number - start > MAX_FUNCTION and name not in excused:
                problems.append(f"{path}:{start}: function {name} has {number - start} lines (at most {MAX_FUNCTION})")
            start = None


def main():
    problems = []
    for path in files():
        if path.startswith("tests/golden/"):
            continue
        check_file(path, problems)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} breaches of the layer rules" if problems else "layers: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
