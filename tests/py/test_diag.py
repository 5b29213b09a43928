"""tests/golden/diag: what a user is told, word by word, under every interpreter. A file has headed sections:

    --TEST--    one line: what is tested
    --ARGS--    optional words: `no source` (as of exec and python -c), `cuda` (on that device), `file=NAME`
    --CODE--    a module
    --RUN--     an expression in it
    --EXPECT--  the class and the text of each warning, then of the exception; or what explain() said
    --EXPECT 3.11 3.12--   the same, for these versions only, where CPython gives another place

QUERN_UPDATE_GOLDEN=1 writes what came out into --EXPECT--."""
import linecache
import os
import pathlib
import re
import sys
import warnings

import pytest

import quern
from quern import _quern
from quern._explain import Explanation

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tests/golden/diag").glob("*.golden"))
VERSION = "%d.%d" % sys.version_info[:2]
HEADING = re.compile(r"^--(TEST|ARGS|CODE|RUN|EXPECT)((?: 3\.\d+)*)--\n", re.MULTILINE)

# Rows of frontend/base/diag.def that no Python program can trigger, and where they are tested.
UNREACHABLE = {
    "E0001": "the text form of the IR, which only jitc reads: tests/golden/ir/parse_error_*",
    "E0003": "an allocation fails: tests/unit/test_base.c, with an allocator that fails on demand",
    "E0004": "our own mistake, found by the verifier: tests/golden/ir/verify_*",
    "E0102": "an instruction that the tables know and no handler wants: tests/unit/test_bytecode_hand.c",
    "E0104": "an interpreter for which the extension cannot be built: tests/unit/test_bytecode_hand.c",
    "E0502": "names the folders of the machine: tests/unit/test_codegen_ptx.c",
}


def sections(text):
    found = list(HEADING.finditer(text))
    assert found and found[0].start() == 0, "a file begins with --TEST--"
    ends = [m.start() for m in found[1:]] + [len(text)]
    return {(m[1], m[2].strip()): text[m.end():end] for m, end in zip(found, ends)}


def expected(parts):
    for (name, versions), text in parts.items():
        if name == "EXPECT" and VERSION in versions.split():
            return (name, versions), text
    return ("EXPECT", ""), parts[("EXPECT", "")]


def told(code, run, words):
    """The classes and texts of what compiling and running tells."""
    file = next((w[5:] for w in words if w.startswith("file=")), "prog.py")
    known = "no source" not in " ".join(words)
    if not known:
        file = "<string>"
    if known:
        linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    out = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            space = {"__name__": "prog"}
            exec(compile(code, file, "exec"), space)
            value = eval(run, space)
            if isinstance(value, Explanation):
                out.append(("Explanation", str(value), ()))
        except Exception as error:  # noqa: BLE001
            out.append((type(error).__name__, str(error), getattr(error, "__notes__", ())))
        finally:
            linecache.cache.pop(file, None)
    out = [(w.category.__name__, str(w.message), ()) for w in caught] + out
    text = "".join("\n".join([cls, text, *notes]) + "\n" for cls, text, notes in out)
    text = text.replace(str(pathlib.Path(quern.__file__).parent), "quern")  # wherever it is installed
    return re.sub(r"\bcuda:sm_\d+", "cuda:sm_90", text)  # that of the stand-in driver


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_golden(path):
    text = path.read_text(encoding="utf-8")
    parts = sections(text)
    words = parts.get(("ARGS", ""), "").split("\n")
    if "cuda" in words:
        if _quern.device_count("cuda")[0] == 0:
            pytest.skip("no CUDA driver, not even the stand-in")
        if not os.environ.get("QUERN_DEVICE"):
            _quern.pin_device("cuda")  # the fixture takes it back
    elif os.environ.get("QUERN_DEVICE", "cpu") != "cpu":
        pytest.skip("the texts are those of the cpu device")
    out = told(parts[("CODE", "")], parts[("RUN", "")].strip(), words)
    key, want = expected(parts)
    if os.environ.get("QUERN_UPDATE_GOLDEN") and out != want:
        parts[key] = out
        path.write_text("".join(f"--{name}{' ' * bool(v)}{v}--\n{body}" for (name, v), body in parts.items()),
                        encoding="utf-8")
        return
    assert out == want


CALL = re.compile(r"^(\w+(?:\.\w+)*)(?:\[[^\]]*\])?\((.*)\)$", re.DOTALL)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_R_all_at_once_explain_tells_what_a_call_tells(path):
    """Of each program that is refused when it is called: explain() has the same diagnostic, at the same place."""
    parts = sections(path.read_text(encoding="utf-8"))
    call = CALL.match(parts[("RUN", "")].strip())
    words = parts.get(("ARGS", ""), "").split("\n")
    if not call or "explain" in call[0] or "cuda" in words:
        pytest.skip("no call of one function")
    space = {"__name__": "prog"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(parts[("CODE", "")], "prog.py", "exec"), space)
            function = eval(call[1], space)
            eval(parts[("RUN", "")].strip(), space)
        except quern.errors.NumbaError as error:
            refused = error
        except Exception:  # noqa: BLE001
            pytest.skip("not refused by the compiler")
        else:
            pytest.skip("not refused")
        if not hasattr(space.get(call[1]), "explain") or refused.code is None:
            pytest.skip("not refused by the compiler")
        told = eval(f"{call[1]}.explain({call[2]})", space)
    assert told.supported is False
    column = None if refused.column is None or refused.column < 0 else refused.column
    same = [d.column for d in told.diagnostics if (d.code, d.lineno) == (refused.code, refused.lineno)]
    assert column in same
    assert function.explain().supported is not True or not call[2]


def rows():
    table = (ROOT / "frontend/base/diag.def").read_text()
    return re.findall(r"^DIAG\((\w+), SEV_\w+, \w+, \"", table, re.MULTILINE)


def test_every_message_has_a_golden():
    shown = set()
    for path in FILES:
        for (name, _), text in sections(path.read_text(encoding="utf-8")).items():
            if name == "EXPECT":
                shown |= set(re.findall(r"\[([EW]\d{4})\]$", text, re.MULTILINE))
    table = rows()
    assert len(table) == len(set(table)) >= 40
    assert set(table) - shown - set(UNREACHABLE) == set(), "rows of diag.def without a golden in tests/golden/diag"
    assert set(UNREACHABLE) & shown == set(), "these can be triggered after all: take them off the list"
    assert (shown | set(UNREACHABLE)) - set(table) == set(), "no such rows"


def test_the_reasons_name_tests():
    for code, reason in UNREACHABLE.items():
        named = re.search(r"tests/[\w/.*]+", reason)[0]
        files = list(ROOT.glob(named))
        assert files, (code, named)
        if named.endswith(".c"):
            assert any(code in f.read_text() for f in files), (code, named)


def test_codes_are_never_given_twice():
    assert quern.errors.NumbaError.code is None
    numbers = [int(code[1:]) for code in rows()]
    assert numbers == sorted(numbers)
