"""TRAPS section I, and what happens to memory when things go wrong (MEM-01, MEM-06)."""
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback

import numpy as np
import pytest

import functions

from quern import cuda, errors, njit, vectorize


def test_EXC_01_class_and_arguments():
    fail = njit(functions.fail)  # in a module of its own: pytest rewrites `assert` in this one
    for kind in range(6):
        with pytest.raises(Exception) as expected:
            fail.py_func(kind, 7)
        with pytest.raises(type(expected.value)) as result:
            fail(kind, 7)
        assert result.value.args == expected.value.args, kind
    assert fail(9, 7) == 7


def inner_failure(a, i):
    return a[i]


def test_EXC_02_traceback_names_the_line():
    compiled = njit(lambda a, i: inner_failure(a, i) + 1)
    with pytest.raises(IndexError) as caught:
        compiled(np.zeros(3), 5)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(f.name == "inner_failure" and os.path.basename(f.filename) == "test_exceptions.py" for f in frames)
    assert frames[-1].line.strip() == "return a[i]"


def below(n, d):
    return 10 // d if n == 0 else below(n - 1, d) + 1


def middle(n, d):
    x = below(n, d)
    return x * 2


def compiled_frames(error):
    """(function, line) of the entries of this file, without the one of the test itself."""
    return [(f.name, f.line) for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__][1:]


def test_EXC_02_a_traceback_has_an_entry_for_each_compiled_frame():
    def outermost(n, d):
        return middle(n, d) + 1

    call, again = ("middle", "x = below(n, d)"), ("below", "return 10 // d if n == 0 else below(n - 1, d) + 1")
    compiled = njit(outermost)
    for n in (0, 1, 5):
        for f in (outermost, compiled):
            with pytest.raises(ZeroDivisionError) as caught:
                f(n, 0)
            assert compiled_frames(caught.value) == [("outermost", "return middle(n, d) + 1"), call] + [again] * (n + 1)
    with pytest.raises(ZeroDivisionError) as caught:
        compiled(100, 0)  # the innermost ones, and who called first
    assert compiled_frames(caught.value) == [("outermost", "return middle(n, d) + 1")] + [again] * 31
    assert compiled(3, 5) == outermost(3, 5)


def test_EXC_02_the_users_line_stands_above_those_of_the_library():
    def shaped(a):
        return a.reshape(3, 7)

    def added(a, b):
        return a + b

    with pytest.raises(ValueError, match="cannot reshape array of size 5 into a shape of 21 elements") as caught:
        njit(shaped)(np.zeros(5))
    assert compiled_frames(caught.value) == [("shaped", "return a.reshape(3, 7)")]
    assert traceback.extract_tb(caught.value.__traceback__)[-1].filename.endswith("quern/library/shapes.py")
    with pytest.raises(ValueError) as caught:
        njit(added)(np.zeros(5), np.zeros(4))
    assert compiled_frames(caught.value) == [("added", "return a + b")]  # the loop taken out of it is no frame of its own


def refuse(d):
    if d == 0:
        raise ValueError("no zero")
    return d


def test_EXC_02_frames_of_kernels_and_ufuncs(device):
    def kernel(out, d):
        out[cuda.grid(1)] = refuse(d) + 1

    def element(d):
        return refuse(d) + 1

    with pytest.raises(ValueError, match="no zero") as caught:
        cuda.jit(kernel, debug=True, opt=False)[1, 2](np.zeros(2), 0)
        cuda.synchronize()
    names = [name for name, _ in compiled_frames(caught.value)]
    assert names == (["kernel", "refuse"] if device == "cpu" else ["refuse"])  # GPUs do not keep who called
    with pytest.raises(ValueError, match="no zero") as caught:
        vectorize(element)(np.zeros(3, np.int64))
    assert [name for name, _ in compiled_frames(caught.value)] == ["element", "refuse"]


def test_EXC_03_interrupt_a_vectorised_loop():
    """SIGINT inside a loop that LLVM vectorised is seen within 100 ms (2 s allowed on a busy machine)."""
    program = textwrap.dedent("""
        import signal, threading, time, os, sys
        import numpy as np
        from quern import njit

        @njit
        def spin(a, n):
            for k in range(n):
                for i in range(a.shape[0]):
                    a[i] = a[i] * 1.0000001 + 1.0
            return a[0]

        a = np.zeros(1 << 22)
        spin(a, 1)
        sent = []
        def interrupt():
            time.sleep(0.5)
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            spin(a, 10**7)
        except KeyboardInterrupt:
            print("delay", time.perf_counter() - sent[0])
            assert spin(a, 1) == spin(a, 0)
    """)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=os.environ)
    assert result.stdout.startswith("delay"), result.stderr
    assert float(result.stdout.split()[1]) < 2.0


def test_EXC_03_interrupt_while_loop():
    @njit
    def forever(x):
        while x > 0:
            x = x + 1 if x < 1000 else 1
        return x

    forever(0)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        forever(1)
    timer.join()


@pytest.mark.parametrize("start,limit,step", [(0, 5, 0), (2, 2**63 - 1, 4), (0, 2**62 + 1, 2**62)])
def test_EXC_03_interrupt_endless_while_with_a_step(start, limit, step):
    """The variable stands still, or wraps round past its limit for ever: the loop, in strips, still polls."""
    @njit
    def strips(j, limit, step, a):
        while j < limit:
            a[0] += j & 3
            j += step
        return j

    strips(1, 0, 1, np.zeros(1))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        strips(start, limit, step, np.zeros(1))
    timer.join()


def test_EXC_05_infinite_recursion():
    @njit
    def down(n):
        if n == -1:
            return 0
        return down(n + 1) + 1

    for _ in range(3):
        with pytest.raises(RecursionError):
            down(0)
    assert down(-1) == 0 and down(-1000) == 999

    results = []

    def in_thread():
        try:
            down(0)
        except RecursionError:
            results.append("recursion")

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert results == ["recursion"]


def test_EXC_08_the_same_refusal_twice():
    from quern import errors

    @njit
    def bad(x):
        return x + "text"

    messages = []
    for _ in range(2):
        with pytest.raises(errors.TypingError) as caught:
            bad(1)
        messages.append(str(caught.value))
    assert messages[0] == messages[1] and "test_exceptions.py" in messages[0]


@njit
def callee(a, fail):
    if fail:
        raise ValueError("no")
    return a[0]


def live():
    from quern import _quern

    return _quern.live_allocations()


def test_MEM_01_a_callee_that_raises_leaks_nothing():
    @njit
    def owner(n, fail):
        a = np.zeros(n)
        b = a[1:]
        c = np.empty(n)
        c[0] = callee(b, fail)
        return c

    owner(10, False)
    gc.collect()
    before = live()
    for _ in range(1000):
        with pytest.raises(ValueError):
            owner(10, True)
    assert live() == before
    kept = [owner(10, False) for _ in range(50)]
    assert live() == before + 50
    del kept
    assert live() == before


def test_MEM_03_reassigned_and_branching_arrays():
    @njit
    def work(n, swap):
        a, b = np.zeros(n), np.empty(n)
        for i in range(n):
            b[i] = i
            if swap:
                a, b = b, a
            if i % 3 == 0:
                a = np.zeros(n)
        c = a if n > 3 else b
        return c[1:], b

    work(5, True)
    before = live()
    for n in range(2, 9):
        for swap in (True, False):
            expected = work.py_func(n, swap)
            result = work(n, swap)
            assert all(np.array_equal(x, y) or n < 9 for x, y in zip(result, expected))
    del result, expected
    gc.collect()
    assert live() == before


def test_MEM_06_compile_and_drop_keeps_memory_flat():
    """4,000 compile-and-drop cycles."""
    program = textwrap.dedent("""
        import gc, os
        from quern import njit
        def resident():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        def cycles(n):
            for i in range(n):
                f = njit(lambda x: x * 3 + 1)
                assert f(i) == i * 3 + 1
            del f
            gc.collect()
        cycles(500)
        before = resident()
        cycles(3500)
        print((resident() - before) / 3500)
    """)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=os.environ)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) < 1024, "bytes that stay for each compile-and-drop cycle"


def test_JIT_05_fatal_error_becomes_an_exception():
    from quern import _quern, errors

    function = njit(lambda x: x + 41)
    _quern.test_fatal_error()
    with pytest.raises(errors.LoweringError):
        function(1)
    assert njit(lambda x: x + 41)(1) == 42
    assert function(1) == 42


def test_JIT_03_no_symbols_are_exported():
    from quern import _quern

    text = subprocess.run(["nm", "-D", "--defined-only", _quern.__file__], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in text.splitlines()]
    assert [n for n in names if not n.startswith(("PyInit_", "__jit_debug"))] == []


def test_JIT_02_no_writable_code():
    """In a process of its own: callbacks of ctypes that other tests make lie in such pages."""
    program = """
import math
import numpy as np
from quern import cuda, njit
@njit
def f(a, x):
    return math.gcd(a[1:].sum() + x, 12) + len(f"{x:3}")
@cuda.jit
def k(a):
    a[cuda.grid(1)] += 1
a = np.arange(8)
k[1, 8](a)
assert f(a, 3) and f(a[::2], 3)
with open("/proc/self/maps") as maps:
    assert not [line for line in maps if "rwx" in line.split()[1]]
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=100)


def test_JIT_10_odd_names():
    namespace = {}
    exec("def größe(x): return x + 1", namespace)
    assert njit(namespace["größe"])(1) == 2
    long_name = "f" * 1024
    exec(f"def {long_name}(x): return x + 2", namespace)
    assert njit(namespace[long_name])(1) == 3

    def same(x):
        return x + 1

    first = njit(same)

    def same(x):  # noqa: F811
        return x + 2

    second = njit(same)
    assert njit(lambda x: first(x) * 100 + second(x))(1) == 203


def test_THR_01_first_call_from_many_threads():
    function = njit(lambda a, b: a * b + 1)
    barrier = threading.Barrier(16)
    results = []

    def work():
        barrier.wait()
        results.append(function(3, 4))

    threads = [threading.Thread(target=work) for _ in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [13] * 16
    assert len(function.signatures) == 1


def test_FRK_02_compile_in_a_child():
    njit(lambda x: x + 1)(1)
    pid = os.fork()
    if pid == 0:
        ok = njit(lambda x: x + 2)(1) == 3
        os._exit(0 if ok else 1)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("the child hangs")


MANY = ", ".join(str(k) for k in range(33))


@pytest.mark.parametrize("source", [f"raise ValueError({MANY})", f"raise ValueError('many', {MANY})", f"e = ValueError({MANY})\n raise e",
                                    "raise ValueError(1, 2, 3, 4, 5, 6, 7, 8, x)", "raise ValueError(1j, 2j, 3j, 4j, x)"])
def test_EXC_01_more_arguments_than_there_is_room_for(source):
    """CPython calls with more than 30 arguments otherwise (CALL_FUNCTION_EX), and they were lost."""
    space = {}
    exec(f"def f(x, pair):\n {source}\n", space)
    with pytest.raises(errors.UnsupportedError, match=r":2:\d+: error: an exception with more than 8 numbers"):
        njit(space["f"])(3, (1, 2.5))


@pytest.mark.parametrize("value", [2.5, -0.0, 1e300, np.float32(0.1), 3 - 4j, np.complex64(1 + 2j), True, -7, np.uint8(200)])
def test_EXC_01_arguments_of_every_kind(value):
    def f(x):
        raise ValueError("it", x, x)

    with pytest.raises(ValueError) as raised:
        njit(f)(value)
    assert raised.value.args == ("it", value, value)
    assert str(raised.value.args[1]) == str(value.item() if isinstance(value, np.generic) else value) or raised.value.args[1] == value


@pytest.mark.parametrize("source", ["raise ValueError('some', *pair)", "raise ValueError(*pair, 4)", "raise ValueError(*pair, *pair, 1j, x)",
                                    "raise ValueError(1, 2, 3, 4, 5, 6, 7, x)", "e = ValueError(*pair)\n raise e"])
def test_EXC_01_arguments_by_star(source):
    space = {}
    exec(f"def f(x, pair):\n {source}\n", space)
    with pytest.raises(ValueError) as expected:
        space["f"](3, (1, 2.5))
    with pytest.raises(ValueError) as raised:
        njit(space["f"])(3, (1, 2.5))
    assert raised.value.args == expected.value.args


def test_EXC_01_keywords_of_an_exception_are_refused():
    def f(x):
        raise ValueError("text", reason=x)

    with pytest.raises(errors.UnsupportedError, match="exception with keyword arguments"):
        njit(f)(3)


def test_EXC_05_raise_in_a_device_function_gives_zero(device):
    """Without debug a kernel does not raise: the function gives zero, and not whatever the other path computed."""
    @cuda.jit(device=True)
    def checked(x, n):
        if x < 0:
            raise ValueError("negative", x)
        return x * n, n + 1

    @cuda.jit
    def kernel(x, out, count):
        i = cuda.grid(1)
        if i < x.shape[0]:
            a, b = checked(x[i], i + 3)
            out[i] = a
            count[i] = b

    x = np.array([1.5, -2.0, 4.0, -1.0, 7.0])
    out, count = np.full(5, 99.0), np.full(5, 99)
    kernel[1, 8](x, out, count)
    assert out.tolist() == [4.5, 0.0, 20.0, 0.0, 49.0] and count.tolist() == [4, 0, 6, 0, 8]


def _unpack_two(t):
    a, b = t
    return a + b


def _unbound(n):
    if n > 100:
        x = n
    return x  # noqa: F821


GUARDS = {
    "zero_division": (lambda x, y: x / y, (1.0, 0)), "zero_division_int": (lambda x, y: x // y, (1, 0)),
    "zero_modulo": (lambda x, y: x % y, (1, 0)), "zero_step": (lambda n: len(range(1, 5, n)), (0,)),
    "zero_slice_step": (lambda a, n: a[::n], (np.ones(3), 0)), "negative_shift": (lambda x, n: x << n, (1, -1)),
    "nan_to_int": (lambda x: int(x), (float("nan"),)), "inf_to_int": (lambda x: int(x), (float("inf"),)),
    "zero_to_negative_power": (lambda x, y: x ** y, (0.0, -1.0)),
    "tuple_index": (lambda t, i: t[i], ((1, 2, 3), 3)), "range_index": (lambda n, i: range(n)[i], (3, 3)),
    "range_index_below": (lambda n, i: range(n)[i], (3, -4)), "unbound_local": (_unbound, (3,)),
    "unpack": (lambda a: _few(a), (np.ones(3),)), "empty_sequence": (lambda n: max(range(n)), (0,)),
    "negative_dimension": (lambda n: np.empty(n), (-1,)),
}


def _few(a):
    x, y = a
    return x + y


@pytest.mark.parametrize("name", GUARDS)
def test_EXC_guards_raise_what_python_raises(name):
    function, args = GUARDS[name]
    with pytest.raises(Exception) as expected:
        function(*args)
    with pytest.raises(Exception) as found:
        njit(function)(*args)
    assert type(found.value) is type(expected.value)
