"""The disk cache: what is found again, what must not be, and that nothing in a folder can do harm."""
import os
import pathlib
import random
import signal
import stat
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from quern import _quern, cuda, guvectorize, njit, vectorize


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "store"
    monkeypatch.setenv("QUERN_CACHE_DIR", str(path))
    return path


def files(folder):
    return sorted(p for p in folder.iterdir() if not p.name.startswith("."))


def entries(folder):
    """Without instances, which have files of their own."""
    return [p for p in files(folder) if not p.name.startswith("shared-")]


def run(program, folder=None, name="program.py", where=None, **environment):
    """What a program prints, in a process of its own."""
    if where:
        (where / name).write_text(textwrap.dedent(program))
        command = [sys.executable, str(where / name)]
    else:
        command = [sys.executable, "-c", textwrap.dedent(program)]
    environment = {**os.environ, **({"QUERN_CACHE_DIR": str(folder)} if folder else {}), **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, cwd=where)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PROGRAM = """
import numpy as np
from quern import cuda, guvectorize, njit, vectorize
TABLE, WORD = np.arange(10.0), "word"

class Mine(ValueError):
    pass

@njit(cache=True)
def dot(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i] + TABLE[i]
    return s

@njit(cache=True)
def listed(n):
    if n < 0:
        raise Mine("negative", n)
    squares = [k * k for k in range(n)]
    return squares, np.array(squares).sum(), WORD[:n]

@njit(cache=True)
def caught(a, i):
    try:
        return a[i]
    except IndexError:
        return -1.0
    except KeyboardInterrupt:
        return -2.0

@vectorize(cache=True)
def mixed(x, y):
    return x * y + 1

@guvectorize(["void(float64[:], float64[:])"], "(n)->()", cache=True)
def total(a, out):
    out[0] = 0
    for x in a:
        out[0] += x

@cuda.jit(cache=True)
def raised(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1

@njit(cache=True)
def outside(a, n):
    s = 0.0
    for i in range(n):
        s += a[i + 1]
    return s

a = np.arange(10.0)
print(dot(a, a), listed(4), caught(a, 3), caught(a, 30), mixed(a, a)[2], mixed(2, 3), outside(a, 9))
try:
    listed(-1)
except Mine as error:
    print(repr(error), error.__traceback__.tb_next.tb_lineno)
try:
    outside(a, 10)
except IndexError as error:
    print(error, error.__traceback__.tb_next.tb_lineno)
print(total(a))
raised[1, 32](a)
print(a)
hits = [sum(f.stats.cache_hits.values()) for f in (dot, listed, caught, raised, outside, mixed, total)]
misses = [sum(f.stats.cache_misses.values()) for f in (dot, listed, caught, raised, outside, mixed, total)]
print(hits, misses, dot.stats.cache_reasons, mixed.stats.cache_reasons)
"""


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_another_process_finds_everything(tmp_path, device):
    first, second = (run(PROGRAM, tmp_path / "store", where=tmp_path, QUERN_DEVICE=device, QUERN_DUMP="cache").splitlines()
                     for _ in range(2))
    assert first[:-1] == second[:-1]
    assert first[-1] == "[0, 0, 0, 0, 0, 0, 0] [1, 1, 1, 1, 1, 2, 1] {} {}"
    assert second[-1] == "[1, 1, 1, 1, 1, 2, 1] [0, 0, 0, 0, 0, 0, 0] {} {}"


def test_nothing_is_compiled_twice(tmp_path):
    program = PROGRAM + "import sys\nprint(sorted(sys.modules))"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True,
                       env={**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "store")})
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True,
                          env={**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "store"), "QUERN_DUMP": "cache"})
    told = [line for line in done.stderr.splitlines() if line.startswith("==== cache of")]
    assert len(told) >= 7 and all(": hit " in line for line in told), told


HELPER = """
from quern import njit
@njit(error_model="{model}")
def helper(x):
    return {body}
"""
CALLER = """
from quern import float64, njit
import numpy as np
import module
SCALE = {scale}
{table}
def make(k):
    @njit(cache=True{options})
    def f(x, y={default}):
        return module.helper(x) * SCALE + k + y + T[0]
    return f
f = make({closure})
print(f({argument}), len(f.stats.cache_hits), len(f.stats.cache_misses))
"""
PLAIN = {"model": "python", "body": "x + 1", "scale": 2, "table": "T = (1, 2)", "options": "", "default": 0, "closure": 10, "argument": 3}


@pytest.mark.parametrize("change, value", [
    ({}, 19), ({"body": "x + 2"}, 21), ({"scale": 3}, 23), ({"scale": 2.0}, 19.0), ({"table": "T = (5, 2)"}, 23), ({"default": 1}, 20),
    ({"closure": 11}, 20), ({"closure": 10.0}, 19.0), ({"argument": "3.0"}, 19.0), ({"argument": "np.float32(3)"}, 19.0),
    ({"options": ", boundscheck=False"}, 19), ({"options": ", weak_numbers=False"}, 19), ({"options": ", error_model='numpy'"}, 19),
    ({"model": "numpy"}, 19), ({"table": "\nT = (1, 2)"}, 19), ({"table": "T = np.arange(1, 3)"}, 19),
    ({"table": "T = np.arange(1, 10001)"}, 19), ({"options": ", locals={'x': float64}"}, 19.0)])
def test_what_changes_the_meaning_is_a_miss(tmp_path, change, value):
    def outcome(**changes):
        told = {**PLAIN, **changes}
        (tmp_path / "module.py").write_text(HELPER.format(**told))
        return run(CALLER.format(**told), tmp_path / "store", where=tmp_path, PYTHONDONTWRITEBYTECODE="1").split()

    assert outcome() == ["19", "0", "1"]
    assert outcome(**change) == [str(value), "1" if not change else "0", "0" if not change else "1"]
    assert outcome(**change) == [str(value), "1", "0"]
    assert outcome() == ["19", "1", "0"]  # both are kept


def test_why_an_entry_was_not_used(folder):
    scale = 2

    def make():
        return njit(cache=True)(lambda x: x * scale)

    assert make()(3) == 6
    scale = 3
    f = make()
    assert f(3) == 9
    assert list(f.stats.cache_reasons.values()) == ["e:/f:0 is not what it was"]


def test_a_large_array_in_place(folder):
    for shift in (0, 1):
        for order in "CF":
            table = np.asarray((np.arange(40000.0) + shift).reshape(200, 200), order=order)
            for _ in range(2):
                f = njit(cache=True)(lambda i, j: table[i, j])
                assert f(3, 5) == 605.0 + shift and f(199, 0) == 39800.0 + shift
                with pytest.raises(IndexError):
                    f(200, 0)
    assert len(files(folder)) == 4  # of one key


def test_more_closures_than_a_key_has_places(folder):
    def scaled(k):
        return njit(lambda x: x * k)

    def make(k, inner):
        return njit(cache=True)(lambda x: inner(x) + k)

    functions = [scaled(2), scaled(3)]
    for again in (0, 1):
        for k in range(40):
            for inner in functions:
                f = make(k, inner)
                assert f(1) == k + 2 + (inner is functions[1])
                assert sum(f.stats.cache_hits.values()) == again
    assert len(entries(folder)) == 80


def test_closures_that_call_each_other(folder):
    """Ten functions, each of which calls all: there are 10**8 ways of eight steps through them, and each function is asked once."""
    names = [f"f{k}" for k in range(10)]
    calls = " + ".join(f"{name}(x - 1)" for name in names)
    code = "".join(f"    def {name}(x): return {k} if x <= 0 else {calls}\n" for k, name in enumerate(names))
    space = {}
    exec(f"def outer():\n{code}    return lambda x: {calls}", space)
    for again in (0, 1):
        f = njit(cache=True)(space["outer"]())
        assert f(1) == 45
        assert sum(f.stats.cache_hits.values()) == again


def test_what_a_closure_calls_may_change(folder):
    """More versions of a global than a key has places: some make room, none is mistaken for another."""
    space = {}

    def make(k):
        exec(f"def helper(x): return x * {k}\ndef outer(n):\n    def f(x): return helper(x) + n\n    return f", space)
        return njit(cache=True)(space["outer"](1))

    for _ in range(2):
        for k in range(40):
            assert make(k)(2) == 2 * k + 1
    assert 1 < len(entries(folder)) <= 16


def test_exception_classes_are_asked_for_again(tmp_path):
    program = """
    from quern import njit
    class Base(Exception): pass
    class Mine({base}): pass
    @njit(cache=True)
    def f(x):
        try:
            if x > 0:
                raise Mine("it")
            return 0
        except Base:
            return 1
        except Exception:
            return 2
    print(f(1), len(f.stats.cache_hits))
    """
    for base, value in (("Base", 1), ("Exception", 2)):
        source = textwrap.dedent(program).format(base=base)
        assert run(source, tmp_path / "store", where=tmp_path) == f"{value} 0"
        assert run(source, tmp_path / "store", where=tmp_path) == f"{value} 1"


def test_what_cannot_be_kept_says_why(tmp_path):
    program = """
    from collections import namedtuple
    from quern import njit
    def local():
        return namedtuple("Point", "x y")(1, 2)
    f = njit(cache=True)(lambda x: 3)
    print(f(local()), *f.stats.cache_reasons.values())
    """
    reason = "an object of a class without a name in its module, or a function of another kind than Python's and C's, is an argument"
    assert run(program, tmp_path / "store") == f"3 {reason}"


# -- folders --------------------------------------------------------------------------------------------------

def works(expected_files=None, folder=None):
    """A function is compiled and right, whatever the folder is."""
    f = njit(cache=True)(lambda x: x * 3)
    assert f(5) == 15
    if folder is not None:
        assert len(files(folder)) == expected_files
    return f.stats


def test_the_folder_is_the_users_alone(folder):
    works(1, folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in files(folder))


def test_a_link_is_no_folder(folder, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    stats = works(0, tmp_path / "elsewhere")
    assert "link" in list(stats.cache_reasons.values())[0]


def test_a_file_is_no_folder(folder):
    folder.write_text("")
    assert "no folder" in list(works().cache_reasons.values())[0]


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_write_to(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    assert "other users may write" in list(works(0, folder).cache_reasons.values())[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_or_a_file_of_another_user(folder):
    folder.mkdir(mode=0o700)
    os.chown(folder, 65534, 65534)
    assert "another user" in list(works(0, folder).cache_reasons.values())[0]
    os.chown(folder, os.geteuid(), os.getegid())
    works(1, folder)
    os.chown(files(folder)[0], 65534, 65534)
    assert not works().cache_hits


def test_a_folder_that_cannot_be_made(folder, monkeypatch):
    monkeypatch.setenv("QUERN_CACHE_DIR", "/proc/nobody/store")
    assert works().cache_reasons
    monkeypatch.setenv("QUERN_CACHE_DIR", "x" * 5000)
    assert works().cache_reasons


def test_links_and_other_things_in_the_folder(folder, tmp_path):
    works(1, folder)
    entry = files(folder)[0]
    good = entry.read_bytes()
    (tmp_path / "good").write_bytes(good)
    for make in (lambda: entry.symlink_to(tmp_path / "good"), lambda: os.mkfifo(entry), entry.mkdir):
        if entry.exists() or entry.is_symlink():
            entry.unlink()
        make()
        assert not works().cache_hits
        if entry.is_dir() and not entry.is_symlink():
            entry.rmdir()
    assert (tmp_path / "good").read_bytes() == good


def test_a_full_disk(tmp_path):
    program = """
    import resource, signal
    from quern import njit
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    f = njit(cache=True)(lambda x: x * 3)
    print(f(5), list(f.stats.cache_reasons.values()))
    """
    assert "15 ['cannot write" in run(program, tmp_path / "store")
    assert not list((tmp_path / "store").iterdir())  # nothing is left behind


def test_the_folder_goes_away(folder):
    import shutil
    f = njit(cache=True)(lambda x: x * 3)
    assert f(1) == 3
    shutil.rmtree(folder)
    assert f(1.5) == 4.5 and len(files(folder)) == 1


def test_old_entries_make_room(folder, monkeypatch):
    monkeypatch.setenv("QUERN_CACHE_SIZE", "64K")
    for k in range(64):
        assert njit(cache=True)(eval(f"lambda x: x * {k}"))(2) == 2 * k
    assert sum(p.stat().st_size for p in files(folder)) < 64 << 10 + 16 * 8000
    (folder / ".new-1-2-3").write_bytes(b"x")
    os.utime(folder / ".new-1-2-3", (0, 0))
    for k in range(64, 128):
        assert njit(cache=True)(eval(f"lambda x: x * {k}"))(2) == 2 * k
    assert not (folder / ".new-1-2-3").exists()


# -- damage -----------------------------------------------------------------------------------------------------

def test_20000_damaged_entries_are_refused(folder):
    def f(a, n):
        s = 0.0
        for i in range(n):
            s += a[i] * 2
        return s

    assert njit(cache=True)(f)(np.ones(4), 3) == 6
    data = files(folder)[0].read_bytes()
    assert _quern.cache_entry(data)["function"] == "f"
    random.seed(1)
    for k in range(20000):
        changed = bytearray(data)
        if k % 5 == 0:
            changed = changed[:random.randrange(len(data))]
        elif k % 5 == 1:
            changed += bytes(random.randrange(1, 9))
        else:
            for _ in range(random.randrange(1, 4)):
                at = random.randrange(len(data)) if k % 2 else random.randrange(200)
                changed[at] ^= 1 << random.randrange(8)
        if bytes(changed) != data:
            assert isinstance(_quern.cache_entry(bytes(changed)), str), k


def test_damaged_entries_are_made_again(folder):
    random.seed(2)
    for k in range(30):
        works(1, folder)
        data = bytearray(files(folder)[0].read_bytes())
        if k % 3:
            data[random.randrange(len(data))] ^= 255
        else:
            data = data[:random.randrange(len(data))]
        files(folder)[0].write_bytes(data)
        stats = works(1, folder)
        assert stats.cache_misses and not stats.cache_hits
    assert works().cache_hits


def test_writers_that_are_killed(tmp_path):
    program = textwrap.dedent("""
    import sys
    from quern import njit
    print("ready", flush=True)
    for k in range(1000):
        njit(cache=True)(eval(f"lambda x: x * {k}"))(2)
    """)
    environment = {**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "store")}
    random.seed(3)
    for _ in range(8):
        process = subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE)
        assert process.stdout.readline() == b"ready\n"
        time.sleep(random.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert all(isinstance(_quern.cache_entry(p.read_bytes()), dict) for p in files(tmp_path / "store"))
    check = "from quern import njit\nprint([njit(cache=True)(eval(f'lambda x: x * {k}'))(2) for k in range(50)] == list(range(0, 100, 2)))"
    assert run(check, tmp_path / "store") == "True"


def test_several_processes_at_once(tmp_path):
    program = """
    from quern import njit
    print([njit(cache=True)(eval(f'lambda x: x * {k}'))(2) for k in range(40)] == list(range(0, 80, 2)))
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    environment = {**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "store")}
    together = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(4)]
    assert [p.communicate()[0] for p in together] == [b"True\n"] * 4
    assert all(isinstance(_quern.cache_entry(p.read_bytes()), dict) for p in files(tmp_path / "store"))


# -- the command line, and what is switched on -------------------------------------------------------------------

def test_command_line(folder):
    def command(*words):
        return subprocess.run([sys.executable, "-m", "quern", "cache", *words], capture_output=True, text=True, env=os.environ)

    assert "nothing was stored yet" in command().stdout
    works(1, folder)
    assert "<lambda>" in command("list").stdout and "test_cache.py" in command().stdout
    assert command("check").returncode == 0
    (folder / "other").write_bytes(b"something")
    assert command("check").returncode == 1 and "other: it is no entry" in command("check").stdout
    assert "2 files removed" in command("clear").stdout and not files(folder)
    assert command("throw").returncode == 2


def test_without_the_option_nothing_is_kept(folder):
    f = njit(lambda x: x)
    assert f(3) == 3 and not folder.exists()
    assert f.stats.cache_path is None and not f.stats.cache_misses
    f.enable_caching()
    assert f(3.5) == 3.5 and len(files(folder)) == 1


def test_inspection_of_what_was_not_compiled_here(folder):
    def make():
        f = njit(cache=True)(lambda a: a.sum())
        assert f(np.ones(3)) == 3
        return f

    make()
    f = make()
    assert f.stats.cache_hits
    assert "define" in f.inspect_llvm(f.signatures[0]) and f.inspect_asm(f.signatures[0])
    f.recompile()
    assert f(np.ones(4)) == 4


def test_the_places_of_the_folder():
    program = "from quern import _quern; print(_quern.cache_folder())"
    clean = {"QUERN_CACHE_DIR": "", "NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": "/h"}
    assert run(program, **clean) == "('/h/.cache/quern', 536870912)"
    assert run(program, **{**clean, "XDG_CACHE_HOME": "/x"}) == "('/x/quern', 536870912)"
    assert run(program, **{**clean, "NUMBA_CACHE_DIR": "/n"}) == "('/n/quern', 536870912)"
    assert run(program, **{**clean, "QUERN_CACHE_DIR": "/q", "NUMBA_CACHE_DIR": "/n", "QUERN_CACHE_SIZE": "3M"}) == "('/q', 3145728)"
    assert run(program, **{**clean, "HOME": ""}) == "(None, 536870912)"


def test_functions_in_tuples(tmp_path):
    program = """
    from collections import namedtuple
    from quern import njit
    def one(x):
        return x + 1
    def two(x):
        return x * 2
    Pair = namedtuple("Pair", "first second")
    FUNCTIONS, PAIR = (one, two, (two, one)), Pair(two, one)
    @njit(cache=True)
    def f(x):
        return FUNCTIONS[0](x) + 10 * FUNCTIONS[1](x) + 100 * FUNCTIONS[2][1](x) + 1000 * PAIR.second(x)
    print(f(3), sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values()))
    """
    results = [run(program, tmp_path / "cache", where=tmp_path) for _ in range(2)]
    assert results == ["4464 0 1", "4464 1 0"]
    changed = program.replace("(one, two, (two, one))", "(one, two, (one, two))")
    assert run(changed, tmp_path / "cache", where=tmp_path) == "4664 0 1"
    assert run(changed, tmp_path / "cache", where=tmp_path) == "4664 1 0"


INSTANCES = """
    import sys
    import numpy as np
    from quern import njit, _quern

    @njit(cache=True)
    def shown(x):
        return str(x * 0.5) + f"{x:>12.3f}"

    @njit(cache=True)
    def middle(a, k):
        if k > 5:
            raise ValueError("large", k)
        return np.median(a) + np.sort(a)[k] + pow(7, k, 1000)

    @njit
    def other(x):
        return str(x * 2)

    try:
        middle(np.arange(5.0), 6)
    except ValueError as error:
        place = error.__traceback__.tb_next.tb_lineno
    before = _quern.code_instances()[0]
    print(shown(3.25), middle(np.array([3.0, 1.0, 2.0]), 1), other(1.25), place, int(_quern.code_instances()[0] > 0),
          sum(shown.stats.cache_hits.values()), sum(middle.stats.cache_hits.values()))
    try:
        middle(np.arange(5.0), 4)
        middle(np.arange(3.0), 4)
    except IndexError as error:
        print(error)
    """


def test_instances_are_stored_with_their_callers(monkeypatch, tmp_path):
    monkeypatch.delenv("QUERN_INSTANCES", raising=False)
    first, second, third = [run(INSTANCES, tmp_path / "cache", where=tmp_path) for _ in range(3)]
    assert first.startswith("1.625       3.250 11.0 2.5 ") and first.splitlines()[0].endswith("1 0 0")
    assert second == third and second.splitlines()[0] == first.splitlines()[0][:-3] + "1 1"
    assert first.splitlines()[1:] == second.splitlines()[1:]


def test_instances_in_entries_are_used_by_others(monkeypatch, folder):
    monkeypatch.delenv("QUERN_INSTANCES", raising=False)

    def texts(x):
        return str(x) + str(-x)

    def others(x):
        return str(x * 2) + str(x)

    f = njit(cache=True)(texts)
    assert f(1.5) == "1.5-1.5" and f.stats.cache_misses
    made = _quern.code_instances()[0]
    g = njit(cache=True)(texts)
    assert g(1.5) == "1.5-1.5" and g.stats.cache_hits
    assert _quern.code_instances()[0] == made  # they are there already
    del f, g
    _quern.drop_instances()  # what nothing calls would be kept
    h = njit(cache=True)(texts)
    assert h(1.5) == "1.5-1.5" and h.stats.cache_hits
    loaded = _quern.code_instances()[0]
    assert loaded > made
    assert njit(others)(1.5) == "3.01.5"
    assert _quern.code_instances()[0] == loaded


def test_damaged_entries_with_instances_are_refused(folder):
    def f(x):
        return str(x) + str(-x)

    assert njit(cache=True)(f)(1.5) == "1.5-1.5"
    path, data = files(folder)[0], files(folder)[0].read_bytes()
    random.seed(3)
    for _ in range(30):
        changed = bytearray(data)
        changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
        path.write_bytes(changed[:random.randrange(len(data))] if random.random() < 0.3 else changed)
        g = njit(cache=True)(f)
        assert g(2.5) == "2.5-2.5" and g.stats.cache_misses
    path.write_bytes(data)


# -- instances as files of their own ---------------------------------------------------------------------

ALONE = """
from quern import _quern, njit

@njit(cache=True)
def f(x):
    return str(x * 0.5) + "{}"

print(f(3.0), _quern.code_instances()[0], _quern.code_instances()[2])
"""


def shared(folder):
    return [p for p in files(folder) if p.name.startswith("shared-")]


def alone(tmp_path, word):
    """A program that differs from others by a word: its text, how many instances it has, how many of them came from the disk."""
    text, made, read = run(ALONE.format(word), tmp_path / "cache", where=tmp_path, QUERN_INSTANCES="").split()
    return text, int(made), int(read)


def test_another_program_finds_instances(tmp_path):
    text, made, read = alone(tmp_path, "one")
    assert text == "1.5one" and made > 0 and read == 0
    assert len(shared(tmp_path / "cache")) == made
    assert alone(tmp_path, "two") == ("1.5two", made, made)
    assert len(shared(tmp_path / "cache")) == made


def test_damaged_instances_are_made_again(tmp_path):
    made = alone(tmp_path, "one")[1]
    whole = {p: p.read_bytes() for p in shared(tmp_path / "cache")}
    paths = list(whole)
    random.seed(4)
    for k, damage in enumerate((lambda b: b[:len(b) // 2], lambda b: b"", lambda b: b + b"x", lambda b: b[:50] + bytes([b[50] ^ 1]) + b[51:])):
        path = random.choice(paths)
        path.write_bytes(damage(whole[path]))
        assert alone(tmp_path, f"damaged{k}") == (f"1.5damaged{k}", made, made - 1)
        assert {p: p.read_bytes() for p in paths} == whole
    paths[0].write_bytes(whole[paths[1]])  # whole, and another instance
    assert alone(tmp_path, "other") == ("1.5other", made, made - 1)
    assert {p: p.read_bytes() for p in paths} == whole


def test_instances_of_one_command(folder, monkeypatch):
    monkeypatch.delenv("QUERN_INSTANCES", raising=False)
    assert njit(cache=True)(lambda x: str(x))(1.5) == "1.5"
    path = shared(folder)[0]
    entry = _quern.cache_entry(path.read_bytes())
    assert entry["function"] and "." not in entry["function"] and "compiled once" in entry["file"]
    data = path.read_bytes()
    random.seed(5)
    for _ in range(5000):
        changed = bytearray(data)
        changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
        assert isinstance(_quern.cache_entry(bytes(changed)), str)


# -- each step fails, or is the last one ------------------------------------------------------------------

STEPS = """
import sys
from quern import _quern, njit
_quern.test_folder(int(sys.argv[1]), sys.argv[2] == "kill")

@njit(cache=True)
def f(x, y):
    return pow(x, y, 1000)

assert f(7, 30) == 249
print(_quern.test_folder(0, False))
"""


def step(tmp_path, n, what):
    """What is left of n steps, None: the process was killed."""
    (tmp_path / "steps.py").write_text(STEPS)
    done = subprocess.run([sys.executable, "steps.py", str(n), what], capture_output=True, text=True, cwd=tmp_path, timeout=120,
                          env={**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "cache"), "QUERN_INSTANCES": ""})
    assert done.returncode == (0 if done.stdout else -signal.SIGKILL), done.stderr
    return int(done.stdout) if done.stdout else None


@pytest.mark.parametrize("what", ["fail", "kill"])
def test_each_step_of_writing(tmp_path, what):
    n, cache = 0, tmp_path / "cache"
    cache.mkdir(mode=0o700)
    while not (left := step(tmp_path, (n := n + 1), what)):
        assert (left is None) == (what == "kill")
        assert all(isinstance(_quern.cache_entry(p.read_bytes()), dict) for p in files(cache))
        if what == "kill":  # the next one works, and stores what is missing
            assert step(tmp_path, 0, what) == 0 and files(cache)
        for path in files(cache):
            path.unlink()
    assert n > 15


@pytest.mark.parametrize("what", ["fail", "kill"])
def test_each_step_of_reading(tmp_path, what):
    n = 0
    assert step(tmp_path, 0, what) == 0
    while not (left := step(tmp_path, (n := n + 1), what)):
        assert (left is None) == (what == "kill")
    assert n > 4


def test_functions_that_raise_numpys_exceptions(tmp_path):
    """LinAlgError goes by its name, whether the library raises it or the program catches it."""
    program = """
    import numpy as np
    from numpy import linalg
    from quern import njit
    @njit(cache=True)
    def solved(a):
        return np.linalg.solve(a, a)
    @njit(cache=True)
    def caught(a):
        try:
            return np.linalg.inv(a)[0, 0]
        except linalg.LinAlgError:
            return -1.0
    print(solved(np.eye(2)).tolist(), caught(np.eye(2)), caught(np.zeros((2, 2))))
    try:
        solved(np.zeros((2, 2)))
    except np.linalg.LinAlgError as error:
        print(error)
    print([(sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values()), f.stats.cache_reasons) for f in (solved, caught)])
    """
    first, second = (run(program, tmp_path / "store", where=tmp_path).splitlines() for _ in range(2))
    assert first[:2] == second[:2] == ["[[1.0, 0.0], [0.0, 1.0]] 1.0 -1.0", "Singular matrix"]
    assert first[2] == "[(0, 1, {}), (0, 1, {})]" and second[2] == "[(1, 0, {}), (1, 0, {})]"


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_ufuncs_of_gpus(tmp_path, device):
    program = """
    import numpy as np
    from quern import guvectorize, vectorize
    import module
    @vectorize(["float64(float64)"], target="cuda", cache=True)
    def declared(x):
        return module.helper(x) + 1
    @vectorize(target="cuda", cache=True)
    def lazy(x):
        return x + 1
    @guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="cuda", cache=True)
    def general(a, out):
        for i in range(len(a)):
            out[i] = module.helper(a[i]) * 2
    print(declared(np.ones(3))[0], lazy(np.ones(3))[0], general(np.ones(3))[0],
          [(sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values())) for f in (declared, lazy, general)])
    """
    def outcome(k):
        (tmp_path / "module.py").write_text(f"def helper(x):\n    return x * {k}\n")
        return run(program, tmp_path / "store", where=tmp_path, QUERN_DEVICE=device, PYTHONDONTWRITEBYTECODE="1")

    assert [outcome(1), outcome(1)] == ["2.0 2.0 2.0 [(0, 1), (0, 1), (0, 1)]", "2.0 2.0 2.0 [(1, 0), (1, 0), (1, 0)]"]
    assert [outcome(2), outcome(2)] == ["3.0 2.0 4.0 [(0, 1), (1, 0), (0, 1)]", "3.0 2.0 4.0 [(1, 0), (1, 0), (1, 0)]"]


def test_a_disk_of_64_kilobytes(tmp_path):
    """Everything goes on, nothing that is half there stays, and what found room is found again."""
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(tmp_path)], capture_output=True).returncode:
        pytest.skip("only root may mount a small disk, and not in every container")
    program = """
    from quern import njit
    functions = [njit(cache=True)(eval(f"lambda x: str(x * {k})" if k % 5 == 0 else f"lambda x: x * {k}")) for k in range(40)]
    assert [f(2) for f in functions] == [str(2 * k) if k % 5 == 0 else 2 * k for k in range(40)]
    print(sum(bool(f.stats.cache_hits) for f in functions), sum("No space" in str(f.stats.cache_reasons) for f in functions))
    """
    try:
        first, second = (list(map(int, run(program, tmp_path).split())) for _ in range(2))
        assert first[0] == 0 and 0 < first[1] < 40 and second == [40 - first[1], first[1]]
        assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
        assert all(isinstance(_quern.cache_entry(p.read_bytes()), dict) for p in files(tmp_path))
        subprocess.run(["mount", "-o", "remount,ro,size=1m", str(tmp_path)], check=True)
        assert list(map(int, run(program, tmp_path).split())) == [40 - first[1], 0]  # read-only
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_overloads_of_the_library_that_come_later(tmp_path):
    """What is on disk was made without them, or with others: it is not used. What asks for one is not stored; without them all is found again."""
    program = """
    import math, sys
    import numpy as np
    from quern import njit, types
    from quern.extending import overload, overload_method

    def plain(x):
        return x + 1
    def other(a):
        return lambda a: {k}
    if {k}:
        overload(math.gcd)(lambda a, b: lambda a, b: {k})
        overload(len)(other)
        overload(plain)(lambda x: lambda x: {k})
        overload(np.nansum)(lambda a: None)
        overload_method(types.Array, "sum")(other)
    functions = [njit(cache=True)(f) for f in (lambda x: math.gcd(x, 6), lambda x: len(np.ones(x)), lambda x: plain(x), lambda x: np.nansum(np.ones(x)),
                                               lambda x: np.ones(x).sum(), lambda x: x * 2)]
    print([f(4) for f in functions], [sum(f.stats.cache_hits.values()) for f in functions])
    """
    def outcome(k):
        return run(textwrap.dedent(program).format(k=k), tmp_path / "store", where=tmp_path)

    here = "[2, 4, 5, 4.0, 4.0, 8]"
    assert outcome(0) == f"{here} [0, 0, 0, 0, 0, 0]" and outcome(0) == f"{here} [1, 1, 1, 1, 1, 1]"
    fresh = run(textwrap.dedent(program).format(k=42), tmp_path / "fresh", where=tmp_path)
    assert outcome(42) == fresh and outcome(43) == fresh.replace("42", "43").replace("0]", "1]") and "42, 42, 42, 4.0" in fresh
    assert outcome(0) == f"{here} [1, 1, 1, 1, 1, 1]"


def test_sets_of_text_are_the_same_in_every_process(tmp_path):
    """Their order is another where hashes of text are."""
    program = """
    from quern import njit
    @njit(cache=True)
    def f(s, b):
        n = 0
        for word in {"one", "two", "three", "four"}:
            n += len(word)
        return n + 100 * (s in {"a", "b", "c", "d", "e"}) + 1000 * (b in {b"a", b"b", b"c"}) + 10000 * len({"x", "y", "z", "w"} & {s})
    print(f("d", b"b"), f("x", b"q"), sum(f.stats.cache_hits.values()))
    """
    results = [run(program, tmp_path / "store", where=tmp_path, PYTHONHASHSEED=seed) for seed in "1234"]
    assert results == ["1115 10015 0"] + ["1115 10015 1"] * 3
