"""f.explain(): the Python surface. What it says word by word: tests/golden/diag/all_*."""
import collections
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import quern
from quern import cuda, float32, int64, jit, njit, vectorize


def wrong(x, a):
    y = x + "a"
    return a["b"] + y


def test_all_at_once_values():
    told = njit(wrong).explain(1, np.ones(3))
    assert told.supported is False and told.function == "wrong" and told.result is None
    assert [d.code for d in told.diagnostics] == ["E0207", "E0301"]
    first = told.diagnostics[0]
    line = wrong.__code__.co_firstlineno + 1
    assert (first.filename, first.lineno, first.column, first.is_error) == (__file__, line, 8, True)
    assert first.message == "cannot add int and str"
    assert str(first).startswith(f"{__file__}:{line}:9: error: cannot add int and str ")
    assert "\n      |         ^^^^^^^\n" in str(first)
    assert all(str(d) in str(told) for d in told.diagnostics)


def test_all_at_once_supported_is_true_of_a_compiled_signature():
    f = njit(lambda x, y=2: x * y)
    told = f.explain(np.float32(3))
    assert told.supported is True and told.diagnostics == () and told.result == "float32"
    assert str(told) == "<lambda>(float32, int) -> float32 is supported"
    assert f.signatures == []  # nothing is kept


def test_all_at_once_without_types_nothing_is_promised():
    told = njit(lambda x: x + "a").explain()
    assert told.supported is None and told.arguments == "?"
    assert njit(lambda: 3).explain().supported is True


@pytest.mark.parametrize("question", ["float32(int64, float32[:])", (int64, float32[:]), (int64(int64, float32[:]),)])
def test_all_at_once_signatures(question):
    f = njit(lambda x, a: a[x])
    told = f.explain(*question) if isinstance(question, tuple) else f.explain(question)
    assert told.supported and told.arguments == "int64, float32[:]"


def test_all_at_once_keywords_and_missing_arguments():
    f = njit(lambda x, *, k: x + k)
    assert f.explain(1, k=2.0).result == "float64"
    with pytest.raises(TypeError, match="missing a required argument: 'k'"):
        f.explain(1)
    with pytest.raises(TypeError, match="has 1 parameter"):
        f.explain("int64(int64)")


def test_all_at_once_the_first_is_what_a_call_raises():
    f = njit(wrong)
    with pytest.raises(quern.errors.TypingError) as caught:
        f(1, np.ones(3))
    assert str(f.explain(1, np.ones(3)).diagnostics[0]) in str(caught.value)


def test_all_at_once_arguments_that_no_function_takes():
    told = njit(wrong).explain(1, collections.ChainMap({"b": 1}))
    assert [d.code for d in told.diagnostics] == [None, "E0207"]
    assert "ChainMap" in told.diagnostics[0].message and told.arguments == "int, ?"


def test_all_at_once_many_errors_are_quick():
    body = "".join(f"    y = x + 'a{i}'\n    s += y * {i}\n" for i in range(600))
    space = {}
    exec(f"def many(x):\n    s = 0\n{body}    return s", space)
    assert len(njit(space["many"]).explain(1).diagnostics) == 600


def test_all_at_once_fallback_functions():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jit(wrong).explain(1, np.ones(3)).supported is False  # and no warning


def test_all_at_once_an_exception_of_python_is_not_swallowed():
    class Odd:
        @property
        def field(self):
            raise RuntimeError("mine")
    odd = Odd()
    told = njit(lambda: odd.field)
    try:
        assert told.explain().supported is False
    except RuntimeError as error:
        assert str(error) == "mine"


def test_all_at_once_kernels_and_device_functions(device):
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        x[i] = helper(x[i]) + unknown  # noqa: F821
        return i

    @cuda.jit(device=True)
    def helper(x):
        return x * 2

    told = kernel.explain(np.ones(3))
    assert [d.code for d in told.diagnostics] == ["E0201", "E0601"]
    assert helper.explain(np.float32(1)).result == "float32"
    ok = cuda.jit(lambda x: None).explain(cuda.to_device(np.ones(3)))
    assert ok.supported and ok.result == "none"


@pytest.mark.parametrize("args, types", [
    ((np.ones(3, np.float32), 2.0), "float32, float32"), ((np.ones(3, np.int16), 2.5), "int16, float64"),
    ((1, 2), "int64, int64"), (([1.5, 2.5], np.int8(1)), "float64, int8"), ((np.ones(3, np.float32), 1j), "float32, complex64"),
])
def test_all_at_once_ufuncs(args, types):
    told = vectorize(lambda x, y: x + y).explain(*args)
    assert told.supported and told.arguments == types


def test_all_at_once_ufuncs_for_gpus(device):
    u = vectorize(["float32(float32)"], target="cuda")(lambda x: x * 2)
    assert u.explain(np.ones(3, np.float32)).result == "float32"


# -- python -m quern explain -------------------------------------------------------------------------------------

PROGRAM = """
import sys
import numpy as np
from quern import cuda, jit, njit, vectorize

@njit
def good(x):
    return x + 1

@njit
def bad(x):
    class Local: pass
    return good(x) if x > 3 else {1: 2}

@jit("float64(float64)")
def declared(x):
    return x + "a"

@vectorize(["float64(float64)"])
def ufunc(x):
    return eval("1")

@cuda.jit
def kernel(x):
    x[0] = unknown

@njit
def never(x):
    with x:
        return np.nothing(x)

print("result", bad(1), bad(2), bad(5.0), good(7), sys.argv[1:])
kernel[1, 1](np.ones(3))
ufunc(2.0)
if __name__ == "__main__":
    print("main", declared(2.0) if False else "")
    sys.exit(int(sys.argv[1]))
"""


def explain_program(tmp_path, text, *arguments, options=()):
    file = tmp_path / "program.py"
    file.write_text(text)
    env = {**os.environ, "QUERN_DEVICE": "cpu"}
    done = subprocess.run([sys.executable, "-m", "quern", "explain", *options, str(file), *arguments], env=env, timeout=300,
                          capture_output=True, text=True)
    return done.returncode, done.stdout.replace(str(file), "program.py"), done.stderr


def test_all_at_once_a_program(tmp_path):
    code, out, err = explain_program(tmp_path, PROGRAM, "0")
    assert code == 1 and not err
    ran, told = out.split("main \n")
    assert ran == "result {1: 2} {1: 2} 6.0 8 ['0']\n"  # what is refused ran in Python, and nothing warned
    heads = [line for line in told.splitlines() if re.match(r"\w+\(.*\) (->|cannot)", line)]
    assert heads == ["good(float) -> float64 is supported", "good(int) -> int64 is supported",
                     "bad(int) cannot be compiled, for 2 reasons", "bad(float) cannot be compiled, for the same reasons",
                     "declared(float64) cannot be compiled, for 1 reason",
                     "ufunc(float64) cannot be compiled, for 1 reason",
                     "kernel(float64[::1]) cannot be compiled, for 1 reason",
                     "never(?) cannot be compiled, for 2 reasons; more may depend on the types that are not known"]
    assert told.endswith("\n6 functions, 5 not supported\n")
    for message in ("program.py:12:", "cannot add float64 and str", "the function eval",
                    "name 'unknown' is not defined", "a with statement", "numpy has no attribute 'nothing'"):
        assert told.count(message) == 1, message


def test_all_at_once_a_program_is_imported(tmp_path):
    code, out, err = explain_program(tmp_path, PROGRAM, options=["--no-run"])
    assert code == 1 and "\nmain" not in out and "6 functions, 5 not supported" in out and not err


def test_all_at_once_a_program_that_fails(tmp_path):
    text = "from quern import njit\n@njit\ndef f(x):\n    return x + 'a'\nf(1) if False else 1 / 0\n"
    code, out, err = explain_program(tmp_path, text)
    assert code == 1 and out.startswith("f(?): nothing is known that stops it")
    assert err.startswith("Traceback (most recent call last):\n") and err.endswith("ZeroDivisionError: division by zero\n")
    assert "program.py\", line 5" in err and "_explain" not in err


def test_all_at_once_a_program_that_is_supported(tmp_path):
    code, out, err = explain_program(tmp_path, "from quern import njit\n@njit\ndef f(x):\n    return x\nf(1)\n")
    assert (code, out, err) == (0, "f(int) -> int64 is supported\n\n1 function, 0 not supported\n", "")


def test_all_at_once_a_program_written_for_numba(tmp_path):
    text = "from numba import njit\n@njit\ndef f(x):\n    class Local: pass\n    return x\nf(1)\n"
    code, out, err = explain_program(tmp_path, text, options=["--as-numba"])
    assert code == 1 and out.startswith("f(int64) cannot be compiled, for 1 reason\n\nprogram.py:4") and not err


def test_all_at_once_the_command_line(tmp_path):
    assert explain_program(tmp_path, "", options=["--nothing"])[0] == 2
    assert explain_program(tmp_path, "", options=["--help"])[1].startswith("usage: python -m quern explain")


LAZY = """
import numpy as np
from quern import njit, vectorize

@vectorize
def lazy(x, y):
    return eval("1 + (x != y)", {"x": x, "y": y}) + 0.5

@vectorize
def whole(x):
    return int(x) * eval("1")

@vectorize(target="cuda")
def gpu(x):
    return eval("1") * 2.5

@njit
def total(a):
    s = 0.0
    for x in a:
        s += x
    return s

a = np.array([[1.0, 2.0], [3.0, 4.0]])
print(lazy(a, 1.0).tolist(), lazy(2, 2), total(lazy(a[0], a[1])), lazy(np.zeros(0), 1.0).dtype)
out = np.zeros(2)
lazy(a[0], [1, 3], out=out)
print(whole(a[1]).tolist(), whole(a[1]).dtype.kind, out, gpu(a[0]).tolist())
lazy("text", 1)
"""


def test_all_at_once_lazy_ufuncs_run_in_python(tmp_path):
    """A lazily compiled @vectorize that is refused ended the program."""
    code, out, err = explain_program(tmp_path, LAZY)
    assert code == 1 and "ufunc" in err.splitlines()[-1], err  # the last line is wrong in any case
    lines = out.splitlines()
    assert lines[:2] == ["[[1.5, 2.5], [2.5, 2.5]] 1.5 5.0 float64", "[3, 4] i [1.5 2.5] [2.5, 2.5]"]
    heads = [line for line in lines if re.match(r"\w+\(.*\)(:| ->| cannot)", line)]
    assert list(dict.fromkeys(h.split("(")[0] for h in heads)) == ["lazy", "whole", "gpu", "total"]
    assert "4 functions, 3 not supported" in lines


REFUSED_IN_KERNELS = """
import numpy as np
from quern import vectorize

@vectorize(["float64(float64)"], target="cuda")
def looked_up(x):
    return {1: 2.5, 2: 3.5}[int(x)]

@vectorize(["float64(float64)"], target="cuda")
def doubled(x):
    return x * 2

a, out = np.array([1.0, 2.0, 1.0]), np.zeros(3)
print(looked_up(a), looked_up(1.0), doubled(a), looked_up(a, out) is out, out)
"""


def test_all_at_once_a_ufunc_that_only_its_kernel_refuses(tmp_path):
    """The launch did nothing, and the program went on with what stood in the memory of the result."""
    code, out, err = explain_program(tmp_path, REFUSED_IN_KERNELS)
    lines = out.splitlines()
    assert code == 1 and not [line for line in err.splitlines() if "Warning" not in line and "print(" not in line], err
    assert lines[0] == "[2.5 3.5 2.5] 2.5 [2. 4. 2.] True [2.5 3.5 2.5]"
    assert "looked_up(float64) cannot be compiled, for 1 reason" in lines and "doubled(float64) -> float64 is supported" in lines
    assert "2 functions, 1 not supported" in lines


def test_all_at_once_functions_of_no_module(tmp_path):
    """What exec() makes in an empty namespace has no module; functions of the library that the program needs are not told."""
    code, out, err = explain_program(tmp_path, "from quern import njit\nspace = {}\nexec('def f(x): return [x]', space)\n"
                                     "print(njit(space['f'])(1))\n")
    assert code == 0 and not err and "1 function, 0 not supported" in out.splitlines(), out
