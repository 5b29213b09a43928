"""The calling layer: what a call holds while it runs, frames of many arguments, threads and signals."""
import gc
import os
import subprocess
import sys
import sysconfig
import textwrap
import threading
import traceback
import weakref

import numpy as np
import pytest

from quern import cuda, njit, types, vectorize
from quern.errors import TypingError


# CPython 3.13 without a GIL makes functions immortal as soon as there are threads.
FUNCTIONS_DIE = pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")) and sys.version_info < (3, 14),
                                   reason="functions are immortal here")


def run(program, **environment):
    """The output of a program in a process of its own; a crash there is a failure here."""
    result = subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(program)], capture_output=True, text=True,
                            timeout=120, env={**os.environ, **environment})
    assert result.returncode == 0, (result.returncode, result.stderr)
    return result.stdout


# -- default arguments -----------------------------------------------------------------------------------

DEFAULTS = """
    import threading
    import numpy as np
    from quern import cuda, njit

    # Memory of this size is unmapped when it is freed: a read of it afterwards ends the process.
    def big(value):
        return np.full(1 << 22, value)

    started, replaced = threading.Event(), threading.Event()

    def replace(function, how):
        started.wait()
        if how == "positional":
            function.__defaults__ = (big(9.0),)
        elif how == "keyword":
            function.__kwdefaults__["a"] = big(9.0)
        else:
            function.__kwdefaults__ = {"a": big(9.0)}
        replaced.set()
"""


@pytest.mark.parametrize("how", ["positional", "keyword", "dictionary"])
def test_R1_defaults_live_as_long_as_the_call(how):
    """A call gives the GIL away now and then; another thread replaces the defaults that it uses."""
    run(DEFAULTS + f"""
    how = {how!r}
    if how == "positional":
        @njit
        def f(n, flag, a=big(1.0)):
            s = 0.0
            for k in range(n):
                for i in range(a.shape[0]):
                    s += a[i]
                if flag[0] > 0:
                    break
            return s
    else:
        @njit
        def f(n, flag, *, a=big(1.0)):
            s = 0.0
            for k in range(n):
                for i in range(a.shape[0]):
                    s += a[i]
                if flag[0] > 0:
                    break
            return s
    flag = np.zeros(1)
    f(1, flag)
    if how == "positional":  # values that the compiler has not seen
        f.py_func.__defaults__ = (big(2.0),)
    else:
        f.py_func.__kwdefaults__ = {{"a": big(2.0)}}
    thread = threading.Thread(target=replace, args=(f.py_func, how))
    thread.start()

    def stop():
        replaced.wait()
        threading.Event().wait(0.3)
        flag[0] = 1
    stopper = threading.Thread(target=stop)
    stopper.start()
    started.set()
    s = f(100_000, flag)
    assert s > 0 and s % (2 << 22) == 0, s
    thread.join(), stopper.join()
    flag[0] = 0
    assert f(1, flag) == 9.0 * (1 << 22)
    """)


def test_R1_defaults_of_a_launch_live_as_long_as_it():
    run(DEFAULTS + """
    @cuda.jit
    def k(n, flag, out, a=big(1.0)):
        i = cuda.grid(1)
        for j in range(n):
            s = 0.0
            for q in range(a.shape[0]):
                s += a[q]
            out[i] += s
            if flag[0] > 0:
                break

    flag, out = np.zeros(1), np.zeros(1)
    k[1, 1](1, flag, out)
    k.py_func.__defaults__ = (big(2.0),)
    thread = threading.Thread(target=replace, args=(k.py_func, "positional"))
    thread.start()

    def stop():
        replaced.wait()
        threading.Event().wait(0.3)
        flag[0] = 1
    stopper = threading.Thread(target=stop)
    stopper.start()
    started.set()
    k[1, 1](100_000, flag, out)
    assert out[0] % (1 << 22) == 0
    thread.join(), stopper.join()
    """, QUERN_DEVICE="cpu")


def test_R1_missing_defaults_are_named():
    @njit
    def f(a, b, c=3, *, d, e=5):
        return a + 10 * b + 100 * c + 1000 * d + 10000 * e

    assert f(1, 2, d=4) == 54321 and f(1, 2, 0, d=0, e=0) == 21
    with pytest.raises(TypeError, match="argument: 'd'"):
        f(1, 2)
    with pytest.raises(TypeError, match="argument: 'b'"):
        f(1, d=4)
    f.py_func.__defaults__ = None
    with pytest.raises(TypeError, match="argument: 'c'"):
        f(1, 2, d=4)
    f.py_func.__kwdefaults__ = None
    with pytest.raises(TypeError, match="argument: 'e'"):
        f(1, 2, 3, d=4)


# -- frames ------------------------------------------------------------------------------------------------

def many(n, ndim=1):
    """A function of n arrays: the sum of their first elements, each times another number."""
    names = [f"a{i}" for i in range(n)]
    first = ", ".join("0" for _ in range(ndim))
    space = {}
    exec(f"def f({', '.join(names)}):\n    return " + " + ".join(f"{i + 1} * {a}[{first}]" for i, a in enumerate(names)),
         space)
    return njit(space["f"])


@pytest.mark.parametrize("n, ndim", [(14, 1), (15, 1), (32, 1), (32, 3), (32, 13), (33, 13), (120, 1), (255, 1)])
def test_R21_frames_of_many_arrays(n, ndim):
    """On the stack, on a larger piece of it, and on the heap."""
    f = many(n, ndim)
    arrays = [np.full((1,) * ndim, float(i * i + 1)) for i in range(n)]
    expected = float(sum((i + 1) * (i * i + 1) for i in range(n)))
    for _ in range(3):
        assert f(*arrays) == expected
    other = [np.full((1,) * ndim, i + 1, np.int32) for i in range(n)]  # falls back to keys, and comes again
    assert f(*other) == sum((i + 1) ** 2 for i in range(n))
    assert f(*arrays) == expected and f(*other) == sum((i + 1) ** 2 for i in range(n))
    with pytest.raises(TypeError):
        f(*arrays[1:])


@pytest.mark.parametrize("cycle", [1, 2, 3])
def test_R21_tuples_that_are_kept_stay_as_they_are(cycle):
    """A tuple of numbers that nobody has any more is filled again by the next call; one that somebody has is not."""
    f = njit(lambda x, y: (x * 1000, y + 0.5, x - 7))
    kept, expected = [], []
    for i in range(60):
        result = f(i, 0.25 * i)
        assert type(result) is tuple and result == (i * 1000, 0.25 * i + 0.5, i - 7)
        assert [type(item) for item in result] == [int, float, int]
        if i % cycle == 0:
            kept.append(result)
            expected.append((i * 1000, 0.25 * i + 0.5, i - 7))
        assert {result: i}[result] == i and hash(result) == hash((i * 1000, 0.25 * i + 0.5, i - 7))
    assert kept == expected and len({id(item) for item in kept}) == len(kept)
    iterator, weak = iter(f(1, 2.0)), [f(2, 3.0)[1:]]  # what holds the tuple alone
    f(8, 9.0)
    assert list(iterator) == [1000, 2.5, -6] and weak == [(3.5, -5)]
    assert f(f(1, 1.0)[0], f(2, 2.0)[1]) == (1_000_000, 3.0, 993)


def test_R21_tuples_of_recursive_and_other_callers():
    f = njit(lambda x: (x, -x))
    out = []

    def collect():
        for i in range(2000):
            pair = f(i)
            out.append(pair == (i, -i) and sum(pair) == 0)

    threads = [threading.Thread(target=collect) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(out) == 8000 and all(out)
    last = f(5)
    f.recompile()
    assert last == (5, -5) and f(6) == (6, -6) and last == (5, -5)


def test_R21_a_large_frame_on_a_small_stack():
    f, seen = many(32), []
    arrays = [np.full(1, float(i)) for i in range(32)]
    expected = f(*arrays)
    old = threading.stack_size(64 << 10)
    try:
        thread = threading.Thread(target=lambda: seen.append(f(*arrays)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old)
    assert seen == [expected]


# -- fork ----------------------------------------------------------------------------------------------------

FORK = """
    import ctypes, os, sys, threading, time
    import numpy as np
    from quern import njit

    c_fork = ctypes.PyDLL(None).fork  # Python's own hooks are not told of it

    def child(work, fork=os.fork):
        "Runs work() in a child; its answer must come within a minute."
        pid = fork()
        if pid == 0:
            code = 1
            try:
                work()
                code = 0
            except BaseException as error:
                os.write(2, repr(error).encode())
            finally:
                os._exit(code)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                assert status == 0, status
                return
            time.sleep(0.005)
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        raise AssertionError("the child hangs")

    def periodic(a, shift):  # the copy with checks is compiled when an index wraps
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i - shift] * (i + 1)
        return s

    def long_to_compile(n):
        "A function of n statements."
        lines = ["def f(x, y):"] + [f"    if x > {i}: x = (x * y + {i}) % 1000003 ^ (y >> {i % 7})" for i in range(n)]
        space = {}
        exec("\\n".join(lines + ["    return x"]), space)
        return space["f"]
"""


def test_R4_compile_in_the_child_of_a_foreign_fork():
    run(FORK + """
    f = njit(lambda x: x + 1)
    assert f(1) == 2
    checked = njit(periodic)
    checked(np.zeros(3), 0)

    def work():
        assert f(1) == 2 and f(1.5) == 2.5  # another type: the same core
        assert njit(lambda x: x * 3)(2) == 6
        assert checked(np.arange(9.0), 1) == periodic(np.arange(9.0), 1)

    child(work, c_fork)
    assert f(1j) == 1 + 1j
    child(work, c_fork)
    child(work)
    """)


@pytest.mark.parametrize("size", [40, 150])
def test_R4_fork_while_the_worker_compiles(size):
    """The child of a fork in the middle of a job compiles, calls what was compiled, and has its checked copies made;
    the thread that waited in the parent gets its code."""
    run(FORK + f"""
    size = {size}
    """ + """
    checked = njit(periodic)
    checked(np.zeros(3), 0)
    warm = njit(lambda x: x + 1)
    warm(1)

    for delay in (0.0, 0.01, 0.1):
        big, got = njit(long_to_compile(size)), []
        thread = threading.Thread(target=lambda: got.append(big(3, 5)))
        thread.start()
        time.sleep(delay)

        def work():
            assert warm(1) == 2 and warm(2.5) == 3.5
            assert checked(np.arange(9.0), 1) == periodic(np.arange(9.0), 1)
            assert njit(lambda x: x * 3)(2) == 6
            assert njit(periodic)(np.arange(5.0), 2) == periodic(np.arange(5.0), 2)
            if delay == 0.01:
                assert isinstance(big(3, 5), int)  # its lock was held by a thread that is not here

        child(work)
        thread.join()
        assert got == [big(3, 5)]
    assert checked(np.arange(9.0), 1) == periodic(np.arange(9.0), 1)
    """)


def test_R4_fork_while_a_checked_copy_is_compiled():
    run(FORK + """
    lines = ["def f(a, shift):", "    s = 0.0", "    for i in range(a.shape[0]):"]
    lines += [f"        s += a[i - shift] * {k}.5 + a[i - shift - {k % 3}]" for k in range(60)]
    space = {}
    exec("\\n".join(lines + ["    return s"]), space)
    warm = njit(lambda x: x + 1)
    warm(1)
    for delay in (0.0, 0.005, 0.02):
        f = njit(space["f"], nogil=True)
        f(np.zeros(3), 0)
        got = []
        thread = threading.Thread(target=lambda: got.append(f(np.arange(9.0), 1)))
        thread.start()
        time.sleep(delay)

        def work():
            assert abs(f(np.arange(9.0), 1) - space["f"](np.arange(9.0), 1)) < 1e-6
            assert warm(1.5) == 2.5

        child(work)
        thread.join()
        assert abs(got[0] - space["f"](np.arange(9.0), 1)) < 1e-6
    """)


# -- Ctrl-C while a compilation waits ----------------------------------------------------------------------------

ONE_PROCESSOR = """
    import os
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
"""
INTERRUPT = FORK + """
    import signal

    def worked(seconds):
        "Returns when this process has used so much processor time: what a compilation needs, however busy the machine is."
        end = time.process_time() + seconds
        while time.process_time() < end:
            time.sleep(0.001)

    def interrupted(call, after):
        "Seconds from the signal to the KeyboardInterrupt, which comes after so much processor time."
        sent = []
        def send():
            worked(after)
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        thread = threading.Thread(target=send)
        thread.start()
        try:
            call()
        except KeyboardInterrupt:
            delay = time.monotonic() - sent[0]
            thread.join()
            return delay
        raise AssertionError("it was not seen")

    njit(lambda x: x + 1)(1)
    takes, n = 0, 200
    while takes < 0.8:
        n = n * 3 // 2
        slow, start = long_to_compile(n), time.process_time()
        njit(slow)(3, 5)
        takes = time.process_time() - start
"""


def test_R7_interrupt_while_the_worker_compiles():
    """The wait ends; the worker goes on, frees what nobody waits for, and serves the next."""
    run(INTERRUPT + """
    f = njit(slow)
    delay = interrupted(lambda: (f(3, 5), time.sleep(60)), takes / 4)
    assert delay < 1.5, delay
    assert not f.signatures
    assert njit(lambda x: x * 3)(2) == 6  # behind the job that was left
    assert f(3, 5) == slow(3, 5)
    """)


def test_R7_interrupt_while_another_thread_compiles():
    """In the queue of the only worker that one processor has, and at the lock of a function that is being compiled."""
    run(ONE_PROCESSOR + INTERRUPT + """
    f, g, got = njit(slow), njit(lambda x: x * 3), []
    thread = threading.Thread(target=lambda: got.append(f(3, 5)))
    thread.start()
    worked(takes / 4)
    delay = interrupted(lambda: (g(2), time.sleep(60)), takes / 8)
    assert delay < 1.5, delay
    assert not g.signatures
    delay = interrupted(lambda: (f(3, 5), time.sleep(60)), takes / 8)
    assert delay < 1.5, delay
    assert not f.signatures
    thread.join()
    assert got == [f(3, 5)] and g(2) == 6
    """)


def test_R7_exit_while_a_job_is_left_alone():
    run(INTERRUPT + """
    interrupted(lambda: (njit(slow)(3, 5), time.sleep(60)), takes / 4)
    sys.exit(0)
    """)


# -- the life of specialisations -----------------------------------------------------------------------------

def apply(g, x):
    return g(x) + 1


@FUNCTIONS_DIE
def test_R5_function_arguments_are_collected():
    f = njit(apply)

    def make(k):
        return lambda x: x * k

    g = make(3)
    died = weakref.ref(g)
    assert f(g, 2) == 7 and f(g, 4) == 13 and len(f.signatures) == 1
    assert f(g, 2.5) == 8.5 and len(f.signatures) == 2
    keeper = make(5)
    assert f(keeper, 1) == 6 and len(f.signatures) == 3
    del g
    gc.collect()
    assert died() is None
    assert len(f.signatures) == 1  # its specialisations went with it
    assert f(keeper, 1) == 6 and len(f.signatures) == 1
    h = make(7)  # perhaps at the address of the dead one
    assert f(h, 1) == 8


@FUNCTIONS_DIE
def test_R5_dispatchers_and_recursive_closures_are_collected():
    f = njit(apply)
    inner = njit(lambda x: x * 2)

    def cyclic():
        def down(n):
            return 0 if n <= 0 else helper(n - 1) + 1

        def helper(n):  # the two refer to each other through cells
            return down(n)
        return down

    down = cyclic()
    died = [weakref.ref(inner), weakref.ref(inner.py_func), weakref.ref(down)]
    assert f(inner, 4) == 9 and f(down, 4) == 5
    del inner, down
    gc.collect()
    assert [w() for w in died] == [None] * 3 and f.signatures == []


@FUNCTIONS_DIE
def test_R5_many_function_arguments_leave_nothing_behind():
    f = njit(apply)
    for round in range(3):
        refs = []
        for k in range(40):
            space = {"k": k}
            g = eval("lambda x: x + k", space)
            refs.append(weakref.ref(g))
            assert f(g, 1) == k + 2
        del g, space
        gc.collect()
        assert all(r() is None for r in refs) and len(f.signatures) == 0


@FUNCTIONS_DIE
def test_R5_a_kernel_lets_go_of_functions():
    @cuda.jit
    def k(g, a):
        i = cuda.grid(1)
        a[i] = g(a[i])

    g, a = eval("lambda x: x + 2.0"), np.zeros(4)
    k[1, 4](g, a)
    died = weakref.ref(g)
    del g
    gc.collect()
    assert died() is None and a.tolist() == [2.0] * 4 and len(k.overloads) == 0


@FUNCTIONS_DIE
def test_R5_a_function_dies_while_its_code_runs():
    """The caller's reference holds it; what runs is freed when it is over."""
    run("""
    import gc, threading, weakref
    import numpy as np
    from quern import njit

    @njit(nogil=True)
    def f(g, flag, n):
        s = 0
        while flag[0] == 0 and s >= 0:
            s = g(s) % 1000
        return s

    for _ in range(5):
        flag, g = np.zeros(1), [eval("lambda s: s + 1")]
        died = weakref.ref(g[0])
        thread = threading.Thread(target=lambda: f(g.pop(), flag, 1))
        thread.start()
        while g:
            pass
        threading.Event().wait(0.3)
        f.recompile()
        flag[0] = 1
        thread.join()
        gc.collect()
        assert died() is None, gc.get_referrers(died())
        assert f.signatures == []
    """)


def test_R15_recompile_keeps_signatures_and_sees_new_globals():
    space = {"k": 1}
    f = njit(eval("lambda x: x + k", space))
    assert f(1) == 2 and f(1.5) == 2.5
    before = f.signatures
    space["k"] = 10
    assert f(1) == 2
    f.recompile()
    assert f.signatures == before and len(before) == 2
    assert f(1) == 11 and f(1.5) == 11.5 and f.signatures == before


def test_R15_recompile_of_declared_signatures():
    space = {"k": 1}
    f = njit("float64(int32)")(eval("lambda x: x + k", space))
    assert f(np.int32(2)) == 3.0 and f(True) == 2.0
    signatures = f.nopython_signatures
    space["k"] = 5
    f.recompile()
    assert f.nopython_signatures == signatures
    assert f(np.int32(2)) == 7.0 and isinstance(f(np.int32(2)), float) and f(True) == 6.0
    with pytest.raises(TypeError):
        f(1j)


def test_R15_a_recompilation_that_fails_changes_nothing():
    space = {"k": 1}
    f = njit(eval("lambda x: x + k", space))
    assert f(1) == 2 and f(1.5) == 2.5
    space["k"] = "text"
    with pytest.raises(TypingError):
        f.recompile()
    assert f(1) == 2 and f(1.5) == 2.5 and len(f.signatures) == 2
    space["k"] = 2
    f.recompile()
    assert f(1) == 3


def test_R15_recompile_frees_the_old_code():
    grown = run("""
    import gc, resource
    import numpy as np
    from quern import njit

    @njit
    def f(a, x):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * x
        return s

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()

    a = np.ones(3)
    f(a, 2), f(a, 2.5)
    for i in range(60):
        f.recompile()
    before = resident()
    for i in range(150):
        f.recompile()
    print(resident() - before)
    assert f(a, 2) == 6.0 and len(f.signatures) == 2
    """)
    assert int(grown) < 300 * 5000, grown  # 15 KiB each before


def test_R15_recompile_while_the_code_runs():
    run("""
    import threading
    import numpy as np
    from quern import njit

    for options in {"nogil": True}, {}:
        @njit(**options)
        def f(flag, n):
            s = 0
            while flag[0] == 0 and s < n:
                s = (s + 1) % 1000
            return (s, flag)

        flag, got = np.zeros(1), []
        f(np.ones(1), 1)
        threads = [threading.Thread(target=lambda: got.append(f(flag, 10000))) for _ in range(3)]
        for t in threads:
            t.start()
        for i in range(3):
            f.recompile()
            assert f(np.ones(1), 1)[0] == 0
        threading.Timer(0.3, lambda: flag.__setitem__(0, 1)).start()
        for t in threads:
            t.join()
        assert len(got) == 3 and all(g[1] is flag for g in got)
    """)


# -- places -----------------------------------------------------------------------------------------------------


def lines_of(error):
    return [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)]


def bottomless(n):
    return bottomless(n + 1) + 1 if n >= 0 else 0


def test_R16_a_recursion_error_has_a_place(recwarn):
    with pytest.raises(RecursionError) as caught:
        njit(bottomless)(0)
    assert lines_of(caught.value)[-1] == ("bottomless", bottomless.__code__.co_firstlineno + 1)


@pytest.mark.parametrize("debug", [False, True])
def test_R16_a_recursion_error_in_a_kernel_has_a_place(debug):
    device_function = cuda.jit(device=True, debug=debug)(bottomless)

    @cuda.jit(debug=debug)
    def k(a):
        a[0] = device_function(a.shape[0])

    with pytest.raises(RecursionError) as caught:
        k[1, 1](np.zeros(1))
    assert lines_of(caught.value)[-1] == ("bottomless", bottomless.__code__.co_firstlineno + 1)


def test_R16_an_interrupted_compilation_has_a_place():
    run(INTERRUPT + """
    import traceback
    for share in (0.01, 0.05, 0.2, 0.5):
        try:
            threading.Thread(target=lambda: (worked(takes * share), os.kill(os.getpid(), signal.SIGINT))).start()
            njit(slow)(3, 5), time.sleep(60)
        except KeyboardInterrupt as error:
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__)]
            assert all(lines), lines
    """)


# -- no interrupt is lost ---------------------------------------------------------------------------------------

STORM = """
    import os, random, select, signal, sys, threading, time
    import numpy as np
    from quern import njit

    @njit(nogil=NOGIL)
    def spin(a):
        s = 0.0
        while a[0] == 0:
            for i in range(a.shape[0]):
                s = s * 0.5 + a[i]
        return s

    a = np.zeros(1 << 16)
    spin(np.ones(1))
    ready, go = os.pipe()
    parent = os.getpid()
    sender = os.fork()
    if sender == 0:  # one signal for each byte; the next byte says that it was seen
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code, random_ = 0, random.Random(1)
        for k in range(COUNT):
            if not select.select([ready], [], [], 20)[0]:
                code = 1
                os.kill(parent, signal.SIGKILL)
                break
            os.read(ready, 1)
            time.sleep(random_.random() * 0.06)
            os.kill(parent, signal.SIGINT)
        os._exit(code)

    stop = threading.Event()
    def contend():  # the GIL changes hands at every poll
        while not stop.is_set():
            sum(range(200))
    threads = [threading.Thread(target=contend, daemon=True) for _ in range(THREADS)]
    for t in threads:
        t.start()
    seen = 0
    while seen < COUNT:
        try:
            os.write(go, b"g")
            spin(a)
        except KeyboardInterrupt:
            seen += 1
    stop.set()
    assert os.waitpid(sender, 0)[1] == 0
    print(seen)
"""


@pytest.mark.parametrize("nogil, threads, count", [(False, 0, 100), (False, 3, 100), (True, 3, 100)])
def test_R22_no_interrupt_is_lost(nogil, threads, count):
    """Each of hundreds of signals, sent at any moment by another process, ends a call."""
    out = run(STORM.replace("NOGIL", str(nogil)).replace("THREADS", str(threads)).replace("COUNT", str(count)))
    assert int(out) == count


def test_R22_an_interrupt_inside_a_message_is_not_lost(monkeypatch):
    """Looking for the source line runs Python code, where a signal may be seen; the refusal comes first."""
    import linecache

    def getline(*args):
        monkeypatch.undo()
        raise KeyboardInterrupt

    f = njit(lambda x: x.no_such_attribute)
    monkeypatch.setattr(linecache, "getline", getline)
    with pytest.raises(KeyboardInterrupt):
        try:
            f(1)
        except TypingError:
            pass
        for _ in range(1000):
            pass


# -- ufuncs -------------------------------------------------------------------------------------------------------


@FUNCTIONS_DIE
@pytest.mark.parametrize("signatures", [(), ["float64(float64)"]])
def test_R14_a_ufunc_of_a_module_is_collected(signatures):
    """Its function's globals name it."""
    space = {}
    exec("def g(x):\n    return x + 1.0", space)
    died = weakref.ref(space["g"])
    space["g"] = vectorize(signatures)(space["g"]) if signatures else vectorize(space["g"])
    ufunc = space["g"]
    assert gc.is_tracked(ufunc) and ufunc(np.ones(3)).tolist() == [2.0] * 3
    space["itself"] = ufunc
    del space, ufunc
    gc.collect()
    assert died() is None


def test_R14_exit_with_a_subinterpreter():
    pytest.importorskip("_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters")
    run("""
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        import _interpreters as interpreters
    import numpy as np
    from quern import vectorize

    @vectorize
    def g(x):
        return x + 1.0

    g(np.ones(3))
    other = interpreters.create()
    """)


# -- options without effect -----------------------------------------------------------------------------------

IDLE = """
    import sys, warnings
    import numpy as np
    from quern import cuda, errors, jit, njit, prange, vectorize

    def caught(make):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            make()
        return seen
"""


@pytest.mark.parametrize("environment", [{}, {"QUERN_AS_NUMBA": "1"}])
def test_R10_options_without_effect_say_so_once(environment):
    run(IDLE + """
    def f(x):
        return x

    for options in ({"inline": "always"}, {"forceinline": True}, {"looplift": True}):
        (name, value), = options.items()
        seen = caught(lambda: njit(**options)(f))
        assert len(seen) == 1, seen
        assert issubclass(seen[0].category, errors.NumbaWarning) and seen[0].category is errors.IdleOptionWarning
        assert f"{name}={value!r}" in str(seen[0].message), seen[0].message
        assert seen[0].filename == "<string>", seen[0].filename
        assert not caught(lambda: njit(**options)(f)) and not caught(lambda: jit(nopython=True, **options)(f))
    for decorate in (lambda: cuda.jit(inline="always")(f), lambda: cuda.jit(forceinline=True)(f)):
        assert not caught(decorate)  # the same option
    assert [str(w.message).split("=")[0] for w in caught(lambda: cuda.jit(lto=True)(f))] == ["the option lto"]
    assert not caught(lambda: njit(parallel=False, cache=False, inline="never", nogil=True, fastmath=True)(f))
    """, **environment)


def test_R10_the_warnings_can_be_filtered():
    run(IDLE + """
    warnings.simplefilter("error", errors.IdleOptionWarning)
    for _ in range(2):  # an error is not "said"
        try:
            njit(looplift=True)(lambda x: x)
        except errors.IdleOptionWarning:
            continue
        raise AssertionError
    warnings.simplefilter("ignore", errors.NumbaWarning)
    assert njit(looplift=True, parallel=True)(lambda x: x)(3) == 3
    """)


# -- calls with keywords, defaults and *args ---------------------------------------------------------------------


def placed_both(x, y=2.5, *, z=3):
    return x - 2 * y + 3 * z


def placed_positional(x, /, y, z=4):
    return x - 2 * y + 3 * z


def placed_rest(x, y=1, *rest):
    total = x - 2 * y
    for r in rest:
        total = 3 * total + r
    return total


def placed_arrays(a, b, *rest):
    return a[0] - 2 * b[1] + len(rest) + (rest[0][0] if len(rest) > 0 else 0.0)


@pytest.mark.parametrize("function", [placed_both, placed_positional, placed_rest])
def test_calls_place_arguments_as_python_does(function):
    """Each call twice: what was compiled last is tried first, and its arguments are placed without looking for it."""
    other_name = "".join(["z", ""][::-1])
    calls = [((1,), {}), ((1, 2), {}), ((1,), {"y": 2}), ((), {"y": 2, "x": 1}), ((), {"x": 1, "y": 2, "z": 5}), ((1, 2, 3), {}),
             ((1, 2, 3, 4), {}), ((1, 2), {"z": 5}), ((1, 2), {"y": 5}), ((1,), {"w": 5}), ((), {"x": 1}), ((), {}), ((), {"y": 1}),
             ((1, 2), {other_name: 7}), ((1.5, 2), {}), ((1.5,), {"y": 2}), ((1, 2.5), {}), ((1,), {"y": 2, "w": 1}),
             ((1, 2, 3.5), {}), ((1, 2, 3, 4, 5), {}), ((1, 2, 3, 4.5, 5), {}), (tuple(range(40)), {})]
    compiled = njit(function)

    def outcome(f, args, keywords):
        try:
            return f(*args, **keywords)
        except TypeError:
            return TypeError

    for args, keywords in calls + calls[::-1]:
        expected = outcome(function, args, keywords)
        for _ in range(3):
            assert outcome(compiled, args, keywords) == expected, (args, keywords)


def test_calls_see_new_defaults_and_keep_references():
    compiled = njit(placed_arrays)
    a, b, c = np.arange(3.0), np.arange(4.0), np.full(2, 7.0)
    for _ in range(3):
        assert compiled(b=b, a=a) == -2.0 and compiled(a, b=b) == -2.0
        assert compiled(a, b, c) == 6.0 and compiled(a, b, c, c) == 7.0
    before = [sys.getrefcount(x) for x in (a, b, c)]
    for _ in range(50):
        compiled(b=b, a=a)
        compiled(a, b, c)
        with pytest.raises(TypeError):
            compiled(a, b, c, b=b)
        with pytest.raises(IndexError):
            compiled(a, b=c[:1])
    assert [sys.getrefcount(x) for x in (a, b, c)] == before

    def add(x, y=1):
        return x + y

    f = njit(add)
    assert f(2) == f(2) == 3
    add.__defaults__ = (10,)
    assert f(2) == 12 and f(x=2) == 12
    add.__defaults__ = (0.5,)
    assert f(2) == 2.5 and f(2, y=1) == 3
    add.__defaults__ = None
    for _ in range(2):
        with pytest.raises(TypeError, match="missing a required argument: 'y'"):
            f(2)


@pytest.mark.parametrize("results", [(1, 2), (0.5, 2), (1, 2.5, 3), (-(2**62), 1e300), ()])
def test_tuples_of_numbers_are_new_each_time(results):
    f = njit(lambda x, y: results)
    for _ in range(3):
        got = f(1, 2)
        assert got == results and [type(r) for r in got] == [type(r) for r in results]
    swapped = njit(lambda x, y: (y, x, x + y))
    assert swapped(1, 2.5) == (2.5, 1, 3.5) and swapped(2.5, 1) == (1, 2.5, 3.5) and swapped(3, 4) == (4, 3, 7)


def test_none_is_the_type_of_a_declared_parameter():
    def f(a, x):
        return a if x is None else a + x
    for declared in ((types.float64, types.none), "(float64, none)", "float64(float64, none)"):
        g = njit(declared)(f)
        assert g(1.5, None) == 1.5
        with pytest.raises(TypeError, match="fixed signatures: .*none"):
            g(1.5, 2.0)
    both = njit([(types.float64, types.none), (types.float64, types.float64)])(f)
    assert (both(1.5, None), both(1.5, 2.0)) == (1.5, 3.5)
