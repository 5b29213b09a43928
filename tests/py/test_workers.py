"""Several threads compile at once: each on a worker of its own. What one meets (a fatal error of LLVM, a fork, the end of the
process, Ctrl-C) is nothing to the others."""
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from threaded import in_threads

from quern import _quern, errors, jit, njit, vectorize

# A function whose code generation takes some tenths of a second, under any name and with any number in it.
MAKE = """
from quern import njit

def long_function(k, statements=150):
    lines = [f"def f{k}(a, n):", "    s = 0.0", "    for i in range(n):"]
    for j in range(statements):
        lines.append(f"        if a > {j}.5: s += a * {j + k}.25 / (i + {j + 1})")
        lines.append(f"        else: s -= (a - {k}) ** 2")
    lines.append("    return s")
    space = {}
    exec("\\n".join(lines), space)
    return njit(space[f"f{k}"])
"""
SPACE = {}
exec(MAKE, SPACE)
long_function = SPACE["long_function"]


def run(program, **variables):
    """Runs a program with MAKE before it; its output."""
    done = subprocess.run([sys.executable, "-c", MAKE + textwrap.dedent(program)], capture_output=True, text=True,
                          timeout=120, env={**os.environ, **variables})
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def test_THR_01_different_functions_in_different_threads():
    functions = [long_function(k, 20) for k in range(8)]

    def work(k):
        for i in range(8):
            f = functions[(k + i) % 8]
            assert f(2.25, 5) == f.py_func(2.25, 5)

    assert in_threads(work, 8) == []
    assert all(len(f.signatures) == 1 for f in functions)


@pytest.mark.parametrize("made", ["long_function(0, 20)", "vectorize(lambda a, n: a * n)"])
def test_THR_01_one_specialisation_is_compiled_once_for_all_threads(made):
    _, dump = run(f"""
        import threading
        from quern import vectorize
        f = {made}
        barrier = threading.Barrier(16)
        def work():
            barrier.wait()
            f(2.0, 3)
        threads = [threading.Thread(target=work) for k in range(16)]
        for t in threads: t.start()
        for t in threads: t.join()
        """, QUERN_DUMP="ssa")
    assert dump.count("func @") == 1


def test_JIT_05_a_fatal_error_in_one_worker_leaves_the_others_working():
    functions = [long_function(k) for k in range(4)]
    fatal = []

    def work(k):
        if k:
            f = functions[k]
            assert f(2.25, 5) == pytest.approx(f.py_func(2.25, 5))
            return
        time.sleep(0.1)
        for i in range(5):
            g = njit(lambda x: x + 1)
            _quern.test_fatal_error()
            try:
                g(i)
            except BaseException as error:
                fatal.append(error)

    # whoever compiles next gets the error: perhaps one of the others
    failures = in_threads(work, 4)
    assert len(fatal) + len(failures) == 5
    assert all(type(e) is errors.LoweringError for e in fatal + failures)
    for f in functions:
        assert f(2.25, 5) == pytest.approx(f.py_func(2.25, 5))


def test_FRK_fork_while_other_threads_compile():
    run("""
        import os, threading
        stop = False
        def work(k):
            i = 0
            while not stop:
                f = long_function(100 * k + i, 10)
                assert abs(f(2.25, 5) - f.py_func(2.25, 5)) < 1e-9
                i += 1
        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads: t.start()
        for i in range(10):
            child = os.fork()
            if child == 0:
                f = long_function(1000 + i, 10)
                good = abs(f(2.25, 5) - f.py_func(2.25, 5)) < 1e-9
                os._exit(0 if good else 1)
            assert os.waitpid(child, 0)[1] == 0
        stop = True
        for t in threads: t.join()
        """)


def test_the_process_may_end_while_several_threads_compile():
    for milliseconds in (0, 20, 100):
        run(f"""
            import threading, time
            for k in range(6):
                threading.Thread(target=lambda k=k: long_function(k, 300)(2.25, 5), daemon=True).start()
            time.sleep({milliseconds} / 1000)
            """)


@pytest.mark.optimised
def test_INT_a_caller_that_waits_sees_Ctrl_C_while_all_workers_are_busy():
    program = """
        import signal, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for k in range(6):
            threading.Thread(target=lambda k=k: long_function(k, 1500)(2.25, 5), daemon=True).start()
        f = long_function(7, 1500)
        print("ready", flush=True)
        try:
            f(2.25, 5)
            print("compiled", flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    child = subprocess.Popen([sys.executable, "-c", MAKE + textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait(60) == 0
    finally:
        child.kill()
        child.stdout.close()


def test_signatures_of_one_decorator_are_compiled_at_once():
    signatures = [f"({kind}, int64)" for kind in ("float64", "float32", "int64", "int32", "uint8", "complex128")] * 4
    f = njit(signatures)(lambda a, n: a * n)
    assert [str(s) for s in f.signatures[:2]] == ["(float64, int64)", "(float32, int64)"]
    assert len(f.signatures) == 6
    assert f(2.5, 3) == 7.5 and f(2j, 3) == 6j
    g = vectorize([f"{kind}({kind}, {kind})" for kind in ("int32", "int64", "float32", "float64")] * 5)(lambda a, b: a + b)
    assert g.types == ["ii->i", "ll->l", "ff->f", "dd->d"]
    assert g(1, 2) == 3


def test_a_signature_that_is_refused_stops_those_behind_it_and_keeps_those_before():
    def f(a):
        return a + 1

    for place in (0, 3, 20):
        signatures = ["float64(float64)"] * place + ["float64(unicode_type)"] + ["int64(int64)"] * 5
        with pytest.raises(errors.TypingError):
            njit(signatures)(f)
    with pytest.warns(errors.NumbaWarning):
        g = jit(["float64(float64)", "float64(unicode_type)", "int64(int64)"])(f)
    assert len(g.signatures) == 2 and g(1.5) == 2.5 and g(2) == 3


def test_INT_Ctrl_C_ends_a_decorator_with_many_signatures():
    program = """
        import os, signal, threading, time
        from quern import int8, int16, int32, int64, float32, float64, uint8, uint16, uint32, uint64
        signal.signal(signal.SIGINT, signal.default_int_handler)
        f = long_function(7, 1500)
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            njit([(t, int64) for t in (int8, int16, int32, int64, float32, float64, uint8, uint16, uint32, uint64)])(f.py_func)
            print("compiled")
        except KeyboardInterrupt:
            print("interrupted")
        """
    out, _ = run(program)
    assert out == "interrupted\n"


def test_a_fatal_error_in_one_of_many_signatures_is_its_own():
    _quern.test_fatal_error()
    with pytest.raises(errors.LoweringError):
        njit(["int64(int64)", "float64(float64)", "float32(float32)"])(lambda a: a + 1)
    f = njit(["int64(int64)", "float64(float64)", "float32(float32)"])(lambda a: a + 1)
    assert len(f.signatures) == 3
