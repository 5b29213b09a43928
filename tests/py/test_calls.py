"""The calling layer: what a call holds while it runs, frames of many arguments, threads and signals."""
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from quern import njit


def run(program, **environment):
    """The output of a program in a process of its own; a crash there is a failure here."""
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
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
