"""Programs written for Numba, unchanged: python -m quern run, as_numba.install()."""
import os
import signal
import subprocess
import sys

import pytest


def quern(*arguments, stdin=None, **environment):
    return subprocess.run([sys.executable, "-m", "quern", *arguments], capture_output=True, text=True, input=stdin,
                          env={**os.environ, **environment})


def python(*arguments, **environment):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env={**os.environ, **environment})


def run_as_numba(tmp_path, text, *arguments, **environment):
    """What a program prints under --as-numba; its failure is this test's."""
    program = tmp_path / "program.py"
    program.write_text(text)
    done = quern("run", "--as-numba", str(program), *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_numba(tmp_path):
    assert run_as_numba(tmp_path, """
import numba, numba.cuda, numba as nb, quern
import numba.typed
from numba.typed.typedlist import List
assert List is numba.typed.List
import numba.core.types, numba.typed, numba.extending, numba.np.numpy_support, numba.experimental, numba.np.ufunc
from numba import njit, prange, types, cuda, float64, TypingError
from numba.core import types as core_types, errors, config
from numba.core.errors import NumbaPerformanceWarning
from numba.np.ufunc import get_num_threads
assert types is core_types is quern.types and config is quern.config and njit is quern.njit and cuda is quern.cuda
assert tuple(map(int, numba.__version__.split("."))) >= (0, 60, 0) and numba.version_info >= (0, 60)
assert numba.version_info.short == numba.version_info[:2] and quern.__version__ != numba.__version__
from importlib.metadata import version
from importlib.util import find_spec
assert version("numba") == numba.__version__ and find_spec("numba") and find_spec("numba.cuda")
assert find_spec("numba.nothing") is None and not hasattr(numba, "nothing")
try:
    import numba.nothing
except ModuleNotFoundError as error:
    assert error.name == "numba.nothing"
@njit
def f(n):
    s = 0
    for i in prange(n):
        s += i
    return s
print(f(10))
""") == "45\n"


def test_range_cuts_floats_off(tmp_path):
    """As in Numba; in plain Quern and in Python they are refused."""
    program = """
import numpy as np
from numba import njit, prange
@njit
def f(start, stop, step):
    return [i for i in range(start, stop, step)]
@njit(parallel=True)
def g(n):
    s = 0
    for i in prange(n / 2):
        s += i
    return s
print(f(1.9, 5.2, 1), f(0, np.float32(3.99), 2), f(-1.5, 3, 1), f(0, np.ceil(3.2), 1), g(9))
"""
    assert run_as_numba(tmp_path, program) == "[1, 2, 3, 4] [0, 2] [-1, 0, 1, 2] [0, 1, 2, 3] 6\n"


def test_numbers_are_strong_and_jit_raises(tmp_path):
    assert run_as_numba(tmp_path, """
import numpy as np
from numba import njit, jit, errors, typeof, types
print(njit(lambda a: a[0] * 2.0).nopython_signatures, typeof(1) is types.int64)
f = njit(lambda a: a[0] * 2.0)
f(np.ones(1, np.float32))
print(f.nopython_signatures[0].return_type)
try:
    jit(lambda x: sorted(x))(3)
except errors.NumbaError:
    print("raises")
""") == "[] True\nfloat64\nraises\n"


def test_NEP02_ints_beside_floats_in_ufuncs(tmp_path):
    """An int, of whatever width, makes no array of floats wider, as in Numba; operators on elements and np.where do."""
    assert run_as_numba(tmp_path, """
import numpy as np
from numba import njit
def show(f, *arguments):
    f = njit(f)
    f(*arguments)
    return str(f.nopython_signatures[0].return_type)
x, n = np.array([1.5, 2.5], np.float32), 3
print(show(lambda x, n: x ** 2, x, n), show(lambda x, n: x * n, x, n), show(lambda x, n: np.power(x[0], n), x, n))
print(show(lambda x, y: x / y, x, x.astype(np.int64)), show(lambda x, n: x - np.uint64(n), x, n))
print(show(lambda x, n: x * n, x.astype(np.complex64), n), show(lambda x, n: x[0] * n, x, n))
print(show(lambda x, y: x * y, x, 2.5), show(lambda x, n: np.where(x > 0, x, n), x, n), show(lambda x: x.mean(), x))
@njit
def centred(x, flag):
    if flag:
        y = x - (x ** 2).sum() / x.size
        y = np.maximum(x, 0) / np.sqrt((x ** 2).sum())
    else:
        y = x
    return y
print(centred(x, True).dtype, centred(np.array([3, 4], np.float32), True))
""") == """array(float32, 1d, C) array(float32, 1d, C) float32
array(float32, 1d, C) array(float32, 1d, C)
array(complex64, 1d, C) float64
array(float64, 1d, C) array(float64, 1d, C) float32
float32 [0.6 0.8]
"""


def test_NEP02_python_numbers_are_strong_for_ufuncs(tmp_path):
    """A lazy ufunc is compiled for float64 where a Python float is passed, whatever stands beside it."""
    assert run_as_numba(tmp_path, """
import numpy as np
from numba import vectorize, guvectorize
@vectorize
def times(x, s):
    return x * s
print(times(np.ones(2, np.float32), 2).dtype, times(np.ones(2, np.float32), 1.5).dtype, times(np.ones(2, np.int16), 2).dtype)
print(times.types)
@guvectorize("(n),()->(n)")
def spread(x, s, y):
    k = int(s * 4)
    for i in range(x.shape[0]):
        y[i] = x[i] * k
for T in np.float32, np.complex64:
    x = np.arange(3).astype(T)
    y = np.zeros_like(x)
    spread(x, 1.5, y)
    print(y)
print(spread.types)
""") == """float64 float64 int64
['fl->d', 'fd->d', 'hl->l']
[ 0.  6. 12.]
[ 0.+0.j  6.+0.j 12.+0.j]
['fd->f', 'Fd->F']
"""


def test_shifts_by_negative_counts_are_the_processor_s(tmp_path):
    """As in Numba: nothing is raised, and the last bits of the count are taken, so that 1 << -1 is the highest bit."""
    assert run_as_numba(tmp_path, """
import numpy as np
from numba import njit
@njit
def f(a, n):
    return a << n, a >> n
for n in -1, -3, -64, 0, 3:
    print(f(5, n), f(-5, n))
print(f(np.uint64(1), np.int64(-1))[0] >> np.uint64(62))
""") == """(-9223372036854775808, 0) (-9223372036854775808, -1)
(-6917529027641081856, 0) (6917529027641081856, -1)
(5, 5) (-5, -5)
(5, 5) (-5, -5)
(40, 0) (-40, -1)
2
"""


def test_subclasses_of_ndarray_are_arrays(tmp_path):
    """As in Numba: what they add is lost. Masked arrays are refused, and an argument that comes back is what it was."""
    assert run_as_numba(tmp_path, """
import numpy as np
from numba import njit, TypingError
class Field(np.ndarray):
    pass
@njit
def both(a, b):
    for i in range(a.size):
        a[i] += b[i]
    return a, a[1:]
a = np.arange(3.0).view(Field)
same, rest = both(a, np.ones(3))
print(same is a, type(rest).__name__, rest, both(np.ones(3), a)[0], len(both.signatures))
print(njit(lambda m: m.shape)(np.matrix([[1.0, 2.0]])))
try:
    both(np.ma.array([1.0]), np.ones(1))
except TypingError as error:
    print("subclass" in str(error))
""") == """True ndarray [2. 3.] [2. 3. 4.] 1
(1, 2)
True
"""


def test_install_in_a_program():
    out = python("-c", "import quern.as_numba as a; a.install(); a.install(); import numba; print(numba.njit(lambda x: x)(3), "
                       "numba.config.AS_NUMBA)")
    assert out.stdout == "3 True\n", out.stderr


def test_install_after_another_numba(tmp_path):
    (tmp_path / "numba.py").write_text("")
    out = python("-c", "import numba, quern.as_numba as a; a.install()",
                 PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    assert "RuntimeError: as_numba.install() must run before numba is imported" in out.stderr


def test_an_installed_numba_is_not_looked_at(tmp_path):
    (tmp_path / "numba.py").write_text("raise SystemExit('the other one')")
    assert run_as_numba(tmp_path, "import numba; print(numba.njit(lambda: 1)())",
                        PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])) == "1\n"


def test_without_the_option_numba_is_not_answered(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import quern\ntry:\n    import numba\nexcept ImportError:\n    print('none')\n")
    assert quern("run", str(program)).stdout == "none\n"


def test_N15_errors_of_eager_signatures_come_at_the_first_call(tmp_path):
    text = """
import numpy as np
from numba import njit, vectorize, cuda, types, errors
@njit("int64(int64)")
def f(x): return sorted(x)
@njit(["float64(float64)", "int64(float64[:])"])
def g(x): return x + 1
@njit(types.ListIter(types.List(types.int64))(types.int64))
def h(x): return x
@vectorize(["float64(float64)"])
def v(x): return sorted(x)
@cuda.jit("void(float64[:])")
def k(x): x[0] = sorted(x)
@njit
def caller(x): return f(x)
for call in (lambda: f(1), lambda: f(1), lambda: g(np.ones(2)), lambda: h(1), lambda: v(1.0), lambda: k[1, 1](np.ones(2)),
             lambda: caller(1)):
    try:
        print(call())
    except errors.NumbaError as error:
        print(type(error).__name__, "sorted" in str(error))
print(g(1.0), f.signatures)
"""
    out = run_as_numba(tmp_path, text)
    assert out.splitlines() == ["TypingError True", "TypingError True", "TypingError False", "UnsupportedError False",
                                "TypingError True", "TypingError True", "TypingError True", "2.0 []"]
    plain = python("-c", "from quern import njit\n@njit('int64(int64)')\ndef f(x): return sorted(x)\n")
    assert plain.returncode == 1 and "TypingError" in plain.stderr  # otherwise at once


# -- the command line -----------------------------------------------------------------------------------------------


def same(tmp_path, text, *arguments, code=None):
    """A program ends under `python -m quern run` as under python: the same output, traceback and exit code."""
    program = tmp_path / "program.py"
    program.write_text(text)
    ours, theirs = quern("run", str(program), *arguments), python(str(program), *arguments)
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)
    assert code is None or ours.returncode == code
    return ours


def test_run_is_python(tmp_path):
    (tmp_path / "beside.py").write_text("value = 7\n")
    same(tmp_path, "import sys, beside\nprint(sys.argv, __name__, __file__, sys.path[0], beside.value, __doc__, __spec__)\n"
                   "print(sorted(globals()), sys.modules['__main__'].__file__)\n"
                   "def f(): pass\nimport pickle\nprint(pickle.loads(pickle.dumps(f)) is f)\n", "a", "-b", "--as-numba", code=0)


@pytest.mark.parametrize("text, code", [
    ("def f():\n    1 / 0\nf()\n", 1), ("raise SystemExit(3)\n", 3), ("raise SystemExit('bye')\n", 1), ("import sys\nsys.exit()\n", 0),
    ("x = (1,\n", 1), ("raise ValueError('a') from KeyError('b')\n", 1), ("import nothing_of_this_name\n", 1),
    ("import sys\nsys.excepthook = lambda t, v, tb: print(t, v, tb.tb_lineno, tb.tb_frame.f_code.co_name)\nraise ValueError(1)\n", 1),
    ("import sys\ndef hook(*a): raise KeyError(1)\nsys.excepthook = hook\nimport atexit\natexit.register(print, 'end')\n", 0),
    ("import os\nos._exit(4)\n", 4), ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise TypeError\n", 1),
])
def test_run_ends_as_python_does(tmp_path, text, code):
    same(tmp_path, text, code=code)


def test_run_interrupted(tmp_path):
    ours = same(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(5)\n")
    assert ours.returncode == -signal.SIGINT and "KeyboardInterrupt" in ours.stderr


def test_run_a_module_and_a_folder(tmp_path, monkeypatch):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys\nprint(sys.argv[1:], __package__, __name__)\nraise SystemExit(5)\n")
    monkeypatch.chdir(tmp_path)
    ours, theirs = quern("run", "-m", "package", "a"), python("-m", "package", "a")
    assert (ours.returncode, ours.stdout, ours.stderr) == (5, theirs.stdout, theirs.stderr) and theirs.returncode == 5
    ours, theirs = quern("run", "package", "a"), python("package", "a")
    assert (ours.returncode, ours.stdout) == (5, theirs.stdout)


def test_run_says_what_is_wrong_with_the_command_line(tmp_path):
    missing = quern("run", str(tmp_path / "none.py"))
    assert missing.returncode == 2 and "can't open file" in missing.stderr
    for arguments, text in ((["run"], "a program is missing"), (["run", "--nothing", "x.py"], "unknown option --nothing"),
                            (["run", "-m"], "-m needs the name of a module"), (["walk"], "unknown command 'walk'"), ([], "usage")):
        done = quern(*arguments)
        assert done.returncode == 2 and text in done.stderr and "usage: python -m quern" in done.stderr
    for arguments in (["--help"], ["run", "--help"]):
        done = quern(*arguments)
        assert done.returncode == 0 and "--as-numba" in done.stdout
    assert quern("--version").stdout == "quern 0.1.0\n"


def test_results_of_blocks_keep_their_low_bits(tmp_path):
    assert run_as_numba(tmp_path, """
from numba import njit, objmode
@njit
def f(n):
    with objmode(a="uint8", b="optional(int16)", c="uint64"):
        a, b, c = n * 300, -n * 40000, n + 2**63
    return int(a), int(b), c
print(f(1))
@njit
def g(n):
    with objmode(a="uint8"):
        a = -n
    return a
try:
    g(1)
except OverflowError as error:
    print(error)
""") == "(44, 25536, 9223372036854775809)\nobjmode: a: Python integer -1 out of bounds for uint8\n"


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_processes_that_are_started_inherit_it(tmp_path, method):
    text = f"""
import multiprocessing
import numba
def work(n):
    return numba.__version__, numba.config.AS_NUMBA, numba.njit(lambda x: x + 1)(n)
if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(1) as pool:
        print(pool.map(work, [3]))
    import subprocess, sys
    print(subprocess.run([sys.executable, "-c", "import numba; print(numba.config.AS_NUMBA)"], capture_output=True, text=True))
"""
    out = run_as_numba(tmp_path, text)
    assert "True, 4)]" in out and r"stdout='True\n'" in out


def test_the_cache_that_keeps_nothing(tmp_path):
    assert run_as_numba(tmp_path, """
from numba import njit
from numba.core import caching
class Mine(caching.IndexDataCacheFile): pass
f = njit(lambda x: x + 1)
f._cache = caching.NullCache()
print(f(1), f._cache.cache_path, f._cache.load_overload(None, None))
""") == "2 None None\n"
