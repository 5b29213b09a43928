"""Loops over prange on several threads: every reduction, what iterations may share and what they may not."""
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import quern
from quern import errors, njit, prange

SIZES = [0, 1, 2, 3, 7, 63, 64, 65, 1000]
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]


def run(text, **environment):
    """A program of its own; its output."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], env={**os.environ, **environment}, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def both(f, *args):
    """What the loop gives in parallel and one iteration after the other."""
    return njit(parallel=True)(f)(*args), njit(f)(*args)


# -- sums and their kin -----------------------------------------------------------------------------------------------

def add(a):
    s = a.dtype.type(0)
    for i in prange(len(a)):
        s += a[i]
    return s


def subtract(a):
    s = 100
    for i in prange(len(a)):
        s -= a[i]
    return s


def multiply(a):
    s = 1
    for i in prange(len(a)):
        s *= a[i]
    return s


def smallest(a):
    s = a[0] if len(a) else a.dtype.type(0)
    for i in prange(len(a)):
        s = min(s, a[i])
    return s


def largest(a):
    s = a[0] if len(a) else a.dtype.type(0)
    for i in prange(len(a)):
        s = max(a[i], s)
    return s


def and_all(a):
    s = ~(a.dtype.type(0))
    for i in prange(len(a)):
        s &= a[i]
    return s


def or_all(a):
    s = a.dtype.type(0)
    for i in prange(len(a)):
        s |= a[i]
    return s


def xor_all(a):
    s = a.dtype.type(5)
    for i in prange(len(a)):
        s ^= a[i]
    return s


def operands(dtype, n):
    rng = np.random.default_rng(n)
    if dtype == np.bool_:
        return rng.integers(0, 2, n).astype(bool)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -2**62), min(info.max, 2**62), n).astype(dtype)
    a = rng.integers(-8, 8, n) / 4  # sums of these are exact in any order
    return (a + 1j * rng.integers(-8, 8, n) if np.issubdtype(dtype, np.complexfloating) else a).astype(dtype)


@pytest.mark.parametrize("f, dtypes", [
    (add, INTS + FLOATS + COMPLEX), (subtract, INTS + FLOATS + COMPLEX), (multiply, INTS),
    (smallest, INTS + FLOATS), (largest, INTS + FLOATS), (and_all, INTS), (or_all, INTS), (xor_all, INTS)],
    ids=lambda p: getattr(p, "__name__", ""))
def test_PAR_04_reductions(f, dtypes):
    serial, parallel = njit(f), njit(parallel=True)(f)
    for dtype in dtypes:
        for n in SIZES:
            a = operands(dtype, n)
            x, y = serial(a), parallel(a)
            assert type(x) is type(y) and x == y, (dtype, n, x, y)


def test_PAR_04_products_of_floats():
    for dtype in FLOATS + COMPLEX:
        a = np.array([2, 0.5] * 40 + [1, -1, 4], dtype)
        x, y = both(multiply, a)
        assert x == y

        def divide(a):
            s = 64.0
            for i in prange(len(a)):
                s /= a[i]
            return s

        x, y = both(divide, a)
        assert x == y


def test_PAR_04_bools():
    def f(a, b):
        every, some, odd, left = True, False, False, True
        for i in prange(len(a)):
            every &= a[i]
            some |= b[i]
            odd ^= a[i]
            left = left and a[i]
        return every, some, odd, left

    for n in SIZES:
        for bit in (0, 1):
            a, b = np.ones(n, bool), np.zeros(n, bool)
            if n and bit:
                a[n // 2] = False
                b[n - 1] = True
            x, y = both(f, a, b)
            assert x == y == f(a, b), (n, bit, x, y)


def test_PAR_04_and_or_tests():
    def f(a):
        all_positive, any_large, seen, fine = True, False, False, True
        for i in prange(len(a)):
            all_positive = all_positive and a[i] > 0
            any_large = any_large or a[i] > 90
            if a[i] == 3:
                seen = True
            if a[i] < -5:
                fine = False
        return all_positive, any_large, seen, fine

    for n in SIZES:
        for what in (1, -1, 3, 91, -6):
            a = np.full(n, 1.0)
            if n:
                a[-1] = what
            x, y = both(f, a)
            assert x == y == f(a), (n, what)


def test_PAR_04_minus_zero_and_start():
    def f(a, start):
        s = start
        for i in prange(len(a)):
            s += a[i]
        return s

    a = np.full(100, -0.0)
    assert np.signbit(both(f, a, -0.0)).all()
    assert both(f, a[:0], -0.0) == (0, 0)
    assert both(f, np.ones(100), 5) == (105, 105)
    assert both(f, np.ones(100, np.uint8), 2**64 - 1)[0] == 99  # a uint64 that wraps, as one loop would


def test_PAR_04_the_same_result_again():
    a = np.random.default_rng(1).random(100001)
    f = njit(parallel=True)(add)
    assert len({f(a) for _ in range(50)}) == 1


def test_PAR_01_conditional_sums():
    def f(n):
        c = d = 1
        for i in prange(n):
            c += 1
            if i > 10:
                c += 1
            for j in range(i % 3):
                d += j
                if j == 1:
                    d -= 5
        return c, d

    for n in SIZES:
        x, y = both(f, n)
        assert x == y == f(n)


def test_PAR_01_two_loops_in_two_branches():
    def f(n, which):
        s = 1
        if which:
            for i in prange(n):
                s += i
        else:
            for i in prange(n):
                s *= 3
        for i in prange(n):
            s -= 1
        return s

    for which in (True, False):
        x, y = both(f, 20, which)
        assert x == y == f(20, which)


# -- ranges -----------------------------------------------------------------------------------------------------------

def mark(start, stop, step, out):
    for i in prange(start, stop, step):
        out[i] += 1
    return out


@pytest.mark.parametrize("start, stop, step", [(0, 10, 1), (3, 50, 7), (49, -1, -1), (49, 3, -5), (5, 5, 1), (9, 3, 2), (-50, 0, 3),
                                               (0, 50, 100)])
def test_PAR_06_steps_and_starts(start, stop, step):
    x, y = both(mark, start, stop, step, np.zeros(50))[0], mark(start, stop, step, np.zeros(50))
    z = njit(parallel=True)(mark)(start, stop, step, np.zeros(50))
    assert (z == y).all() and x is not None


def test_PAR_06_unsigned_ends():
    def f(n, m):
        s = 0
        for i in prange(n, m):
            s += i
        return s

    assert both(f, np.uint64(3), np.uint64(100)) == (f(3, 100),) * 2
    assert both(f, np.uint8(3), np.int16(-100)) == (0, 0)
    with pytest.raises(OverflowError):
        njit(parallel=True)(f)(np.uint64(0), np.uint64(2**64 - 1))


def test_PAR_06_a_step_of_zero():
    with pytest.raises(ValueError):
        njit(parallel=True)(mark)(0, 3, 0, np.zeros(5))


def test_enumerate_over_prange():
    def f(a):
        s = 0
        for k, i in enumerate(prange(5, 5 + len(a))):
            s += k * i
            a[k] = i
        return s, a

    x, y = both(f, np.zeros(30))
    assert x[0] == y[0] == f(np.zeros(30))[0] and (x[1] == y[1]).all()


# -- variables that are read after the loop ---------------------------------------------------------------------------

def test_last_values():
    def f(n, a):
        t, k, c = -1, 0.5, -1
        i = -7
        for i in prange(n):
            t = i * 2
            k = a[i] + 1
            if i % 10 == 3:
                c = i
        return t, k, c, i

    for n in SIZES:
        a = np.arange(n, dtype=float)
        x, y = both(f, n, a)
        assert x == y == f(n, a)


def test_private_variables():
    def f(a, out):
        for i in prange(len(a)):
            s = 0.0
            for j in range(a.shape[1]):
                s += a[i, j]
            t = s * 2
            if t > 10:
                t = 10.0
            out[i] = t
        return out

    a = np.arange(300.0).reshape(100, 3)
    x, y = both(f, a, np.zeros(100))
    assert (x == y).all() and (x == f(a, np.zeros(100))).all()


# -- what must not be ------------------------------------------------------------------------------------------------------

def refused(f, *args):
    with pytest.raises(errors.TypingError) as info:
        njit(parallel=True)(f)(*args)
    return str(info.value)


def test_PAR_02_a_value_that_is_carried_on():
    def f(a):
        s = 0.0
        for i in prange(len(a)):
            s = s * 0.5 + a[i]
        return s

    text = refused(f, np.ones(5))
    assert "'s'" in text and "depend on each other" in text and "s * 0.5 + a[i]" in text
    assert njit(f)(np.ones(5)) == f(np.ones(5))


@pytest.mark.parametrize("step", ["s + (s + a[i])", "(a[i] + s) + s", "s * (a[i] * s)"])
def test_PAR_02_a_sum_that_is_used_twice(step):
    space = {"prange": prange}
    exec(f"def f(a):\n s = 1.0\n for i in prange(len(a)):\n  s = {step}\n return s\n", space)
    assert "'s'" in refused(space["f"], np.ones(5))
    assert njit(space["f"])(np.ones(5)) == space["f"](np.ones(5))


def test_PAR_01_two_kinds_of_reduction():
    def f(a):
        s = 1.0
        for i in prange(len(a)):
            s += a[i]
            s *= 2
        return s

    text = refused(f, np.ones(5))
    assert "s += a[i]" in text and "s *= 2" in text


def test_PAR_02_a_sum_that_is_looked_at():
    def f(a):
        s = 0
        for i in prange(len(a)):
            s += a[i]
            a[i] = s
        return s

    text = refused(f, np.ones(5, int))
    assert "s += a[i]" in text and "a[i] = s" in text

    def g(n):
        s = 0
        for i in prange(n):
            if s < 10:
                s += i
        return s

    refused(g, 5)

    def h(n):
        s = 0
        for i in prange(n):
            if i == 3:
                s = 0
            s += i
        return s

    refused(h, 5)


def test_PAR_02_reversed_operands():
    def f(a):
        s = 0.0
        for i in prange(len(a)):
            s = a[i] - s
        return s

    refused(f, np.ones(5))


def test_PAR_05_loops_that_are_left_run_serially():
    def f(a):
        n = 0
        for i in prange(len(a)):
            if a[i] == 0:
                break
            n += 1
        return n

    def g(a):
        for i in prange(len(a)):
            if a[i] == 0:
                return i
        return -1

    a = np.ones(100)
    a[40:] = 0
    assert both(f, a) == (40, 40) and both(g, a) == (40, 40)
    assert both(g, a[:40]) == (-1, -1)


# -- memory ---------------------------------------------------------------------------------------------------------------

def test_PAR_03_arrays_of_each_iteration():
    def f(n, out):
        for i in prange(n):
            t = np.zeros(10)
            for j in range(10):
                t[j] += i + j
            u = t * 2
            out[i] = u.sum()
        return out

    before = quern._quern.live_allocations()
    x, y = both(f, 1000, np.zeros(1000))
    assert (x == y).all()
    del x, y
    assert quern._quern.live_allocations() == before


def test_MEM_memory_that_runs_out_inside():
    def f(n, size):
        s = 0.0
        for i in prange(n):
            t = np.empty(size)
            t[0] = i
            s += t[0]
        return s

    g = njit(parallel=True)(f)
    assert g(100, 10) == 4950
    with pytest.raises(MemoryError):
        g(100, 2**50)
    assert g(100, 10) == 4950


# -- exceptions -------------------------------------------------------------------------------------------------------------

def test_EXC_07_the_first_exception_is_that_of_the_lowest_iteration():
    def f(a):
        for i in prange(len(a)):
            if a[i] < 0:
                raise ValueError("negative", i)
            a[i] = 1 / a[i]

    g = njit(parallel=True)(f)
    for _ in range(50):
        a = np.ones(1000)
        a[[333, 334, 700, 999]] = -1
        a[500] = 0
        with pytest.raises(ValueError) as info:
            g(a)
        assert info.value.args == ("negative", 333)
    entry = info.traceback[-1]
    assert entry.lineno + 1 == f.__code__.co_firstlineno + 3
    a = np.ones(1000)
    a[500] = 0
    with pytest.raises(ZeroDivisionError):
        g(a)


def test_EXC_07_index_errors():
    def f(a, n):
        for i in prange(n):
            a[i] = i

    g = njit(parallel=True)(f)
    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
        g(np.zeros(10), 20)


# -- threads ----------------------------------------------------------------------------------------------------------------

def inner(n):
    s = 0
    for i in prange(n):
        for j in prange(n):
            s += i * j
    return s


def test_THR_06_nested_loops():
    callee = njit(parallel=True)(inner)

    @njit(parallel=True)
    def outer(n, out):
        for i in prange(n):
            out[i] = callee(i)
        return out

    assert both(inner, 30) == (inner(30),) * 2
    assert outer(20, np.zeros(20, int)).tolist() == [inner(i) for i in range(20)]


def test_THR_02_several_python_threads_at_once():
    f = njit(parallel=True, nogil=True)(add)
    a = np.arange(100000.0)
    want, wrong = a.sum(), []

    def work():
        for _ in range(30):
            if f(a) != want:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_FRK_01_fork_after_a_parallel_loop():
    out = run("""
        import os
        import numpy as np
        from quern import njit, prange

        @njit(parallel=True)
        def f(a):
            s = 0.0
            for i in prange(len(a)):
                s += a[i]
            return s

        a = np.ones(100000)
        assert f(a) == 100000
        for _ in range(5):
            pid = os.fork()
            if not pid:
                os._exit(0 if f(a) == 100000 else 1)
            assert os.waitpid(pid, 0)[1] == 0
        assert f(a) == 100000
        print("ok")
    """, QUERN_NUM_THREADS="4")
    assert out == "ok\n"


@pytest.mark.parametrize("threads", ["1", "2", "7", "64"])
def test_PAR_04_numbers_of_threads(threads):
    out = run("""
        import numpy as np
        from quern import njit, prange

        @njit(parallel=True)
        def f(a, b):
            s, m = 3, -1
            for i in prange(len(a)):
                s += a[i]
                m = max(m, a[i])
                b[i] = a[i] * 2
            return s, m

        for n in (0, 1, 2, 6, 7, 8, 63, 64, 65, 127, 1000):
            a = np.arange(n)
            b = np.zeros(n, int)
            assert f(a, b) == (3 + a.sum(), n - 1), n
            assert (b == a * 2).all()
        print("ok")
    """, QUERN_NUM_THREADS=threads)
    assert out == "ok\n"


def test_EXC_04_ctrl_c():
    out = run("""
        import os, signal, threading, time
        import numpy as np
        from quern import njit, prange

        @njit(parallel=True)
        def f(n):
            s = 0.0
            for i in prange(n):
                for j in range(1000000):
                    s += i * j % 7
            return s

        f(4)
        for _ in range(3):
            sent = []
            def send():
                sent.append(time.perf_counter())
                os.kill(os.getpid(), signal.SIGINT)
            timer = threading.Timer(0.3, send)
            timer.start()
            try:
                f(10**9)
                raise SystemExit("not interrupted")
            except KeyboardInterrupt:
                late = time.perf_counter() - sent[0]
            assert late < 0.5, late
        print("ok")
    """, QUERN_NUM_THREADS="4")
    assert out == "ok\n"


def test_prange_without_the_option_is_range():
    assert list(prange(3)) == [0, 1, 2] and njit(inner)(10) == inner(10)


# -- how many threads, and which --------------------------------------------------------------------------------------------

def test_D25_threads_in_compiled_code():
    out = run("""
        import numpy as np
        import quern
        from quern import njit, prange, get_num_threads, set_num_threads, get_thread_id
        from quern import get_parallel_chunksize, set_parallel_chunksize, parallel_chunksize, threading_layer

        assert threading_layer() == "quern" and get_num_threads() == 4 and get_thread_id() == 0

        @njit(parallel=True)
        def ids(n, sizes, out):
            for i in prange(n):
                out[i] = get_thread_id()
                sizes[i] = get_num_threads()
            return get_thread_id(), get_num_threads(), get_parallel_chunksize()

        for t in (4, 3, 1, 2):
            set_num_threads(t)
            out, sizes = np.zeros(10000, int), np.zeros(10000, int)
            assert ids(10000, sizes, out) == (0, t, 0)
            assert out.min() >= 0 and out.max() < t and (sizes == t).all()

        @njit
        def change(t, c):
            set_num_threads(t)
            return get_num_threads(), set_parallel_chunksize(c), get_parallel_chunksize()

        assert change(3, 5) == (3, 0, 5) and get_num_threads() == 3 and set_parallel_chunksize(0) == 5
        for wrong in ((0, 1), (5, 1), (1, -1), (-3, 1)):
            try:
                change(*wrong)
            except ValueError as error:
                assert "must be" in str(error)
            else:
                raise AssertionError
        try:
            change(99, 1)
        except ValueError as error:
            assert "between 1 and 4" in str(error) and "not 99" in str(error), error
        set_num_threads(4)

        @njit(parallel=True)
        def starts(n, out):  # a chunk's iterations see one thread, one after the other
            s = 0
            for i in prange(n):
                s += 1
                out[i] = get_thread_id()
            return s

        with parallel_chunksize(10):
            out = np.zeros(1000, int)
            assert starts(1000, out) == 1000
            assert all(len(set(out[k:k + 10])) == 1 for k in range(0, 1000, 10))
        print("ok")
    """, QUERN_NUM_THREADS="4")
    assert out == "ok\n"


def test_D25_thread_settings_belong_to_the_thread():
    seen = []

    def work():
        quern.set_num_threads(1)
        quern.set_parallel_chunksize(7)
        seen.append((quern.get_num_threads(), quern.get_parallel_chunksize()))

    before = quern.get_num_threads(), quern.get_parallel_chunksize()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [(1, 7)] and before == (quern.get_num_threads(), quern.get_parallel_chunksize())


# -- arrays that iterations share --------------------------------------------------------------------------------------------

def test_PAR_04_sums_of_arrays():
    def f(a, r):
        for i in prange(len(a)):
            r += a[i]
        return r

    def g(a, r):
        for i in prange(len(a)):
            if i % 3:
                r[:] += a[i] * 2
            else:
                r -= 1
        return r

    def h(a, r):
        r = r * 1
        for i in prange(len(a)):
            r *= a[i]
        return r

    for dtype in (np.float64, np.float32, np.int64, np.complex128):
        for n in (0, 1, 2, 7, 500):
            a = (np.arange(3 * n).reshape(n, 3) % 7).astype(dtype)
            for function in (f, g):
                x, y = njit(parallel=True)(function)(a, np.ones(3, dtype)), njit(function)(a, np.ones(3, dtype))
                assert (x == y).all() and x.dtype == y.dtype, (dtype, n, function)
            b = (np.arange(3 * min(n, 20)).reshape(-1, 3) % 2 + 1).astype(dtype)
            x, y = both(h, b, np.ones(3, dtype))
            assert (x == y).all()
    for order in "CF":
        a = np.random.default_rng(1).integers(0, 9, (50, 4, 5)).astype(float)
        for r in (np.zeros((4, 5), order=order), np.zeros((8, 10), order=order)[::2, ::2]):
            assert njit(parallel=True)(f)(a, r) is r and (r == a.sum(0)).all()


def test_PAR_04_bits_of_arrays():
    def f(a, r, s, t):
        for i in prange(len(a)):
            r &= a[i]
            s |= a[i]
            t ^= a[i]
        return r, s, t

    for dtype in INTS + [np.bool_]:
        a = operands(dtype, 300).reshape(100, 3)
        start = [np.ones(3, dtype), np.zeros(3, dtype), np.ones(3, dtype)]
        x = njit(parallel=True)(f)(a, *[s.copy() for s in start])
        y = njit(f)(a, *[s.copy() for s in start])
        assert all((p == q).all() for p, q in zip(x, y)), dtype


def test_PAR_04_sums_of_arrays_raise_what_the_sums_do():
    def f(a, r):
        for i in prange(len(a)):
            r += a[i]

    with pytest.raises(ValueError, match="broadcast"):
        njit(parallel=True)(f)(np.ones((10, 3)), np.ones(4))


def test_PAR_02_elements_that_all_iterations_write():
    def f(a, r):
        for i in prange(len(a)):
            r[0] += a[i]

    text = refused(f, np.ones(5), np.zeros(1))
    assert "r[0] += a[i]" in text and "the same element" in text

    def g(a, r):
        for i in prange(len(a)):
            r[0, 1] = a[i]

    refused(g, np.ones(5), np.zeros((2, 2)))

    def h(a, r):
        for i in prange(len(a)):
            r[:] = a[i]

    refused(h, np.ones((5, 3)), np.ones(3))

    def k(a, r):
        for i in prange(len(a)):
            r += a[i]
            a[i] = r[0]

    refused(k, np.ones(5), np.ones(3))


def test_PAR_02_elements_that_one_iteration_writes():
    def f(a, r):
        for i in prange(len(a)):
            if i == 3:
                r[0] = a[i]
            r[1] = 7
        return r

    x, y = both(f, np.arange(10.0), np.zeros(2))
    assert x.tolist() == [3, 7] and y.tolist() == [3, 7]


def test_PAR_02_neighbours():
    def f(a):
        for i in prange(1, len(a)):
            a[i] = a[i - 1] + 1

    text = refused(f, np.ones(5))
    assert "a[i - 1]" in text and "a[i] = a[i - 1] + 1" in text

    def g(a):
        for i in prange(len(a) - 1):
            for j in range(a.shape[1]):
                a[i, j] += a[i + 1, j]

    refused(g, np.ones((5, 5)))


def test_PAR_02_what_only_looks_like_it():
    def f(a, b):
        for i in prange(1, len(a) - 1):
            b[i] = a[i - 1] + a[i + 1]
            a[i] += 1
        return b

    refused(f, np.arange(10.0), np.zeros(10))  # a[i - 1] may have been raised already

    def g(a, b):
        for i in prange(1, len(a), 2):
            a[i] = a[i - 1] + 1
        for i in prange(4):
            b[i] = b[i + 4]
        for i in prange(len(b)):
            b[i] = b[i] + b[len(b) - 1 - i] * 0
        return a, b

    x, y = both(g, np.arange(10.0), np.arange(8.0)), g(np.arange(10.0), np.arange(8.0))
    for z in x:
        assert all((p == q).all() for p, q in zip(z, y))


# -- whole arrays ----------------------------------------------------------------------------------------------------------------

def expression(a, b):
    return a * 2 + b, -a, a < b


def sums(a):
    return a.sum(), a.min(), (a * a).sum(), a.any(), a.argmax()


def in_place(a, b):
    a += b
    a[:] = a * 2
    a[1:] += a[:-1]
    a[::2] = 5
    return a


@pytest.mark.parametrize("shape", [(7,), (300, 401), (1, 100000), (40, 30, 50)])
def test_P03_whole_arrays(shape):
    f, g, h = (njit(parallel=True)(function) for function in (expression, sums, in_place))
    rng = np.random.default_rng(0)
    for order in "CF":
        for dtype in (np.float64, np.int32) if order == "C" else (np.float64,):
            a, b = (np.asarray(rng.integers(-9, 9, shape), order=order).astype(dtype, order="K") for _ in range(2))
            for x, y in zip(f(a, b) + f(a, b[:1]) + f(a[::-1], b), expression(a, b) + expression(a, b[:1]) + expression(a[::-1], b)):
                assert np.array_equal(x, y) and x.dtype == y.dtype
            assert f(a, b)[0].flags.f_contiguous == (a * 2 + b).flags.f_contiguous
            assert np.allclose(g(a), sums(a), rtol=1e-12)
            x, y = h(a.copy(order="K"), b), in_place(a.copy(order="K"), b)
            assert np.array_equal(x, y)


@pytest.mark.parametrize("name", ["sum", "max", "mean", "any", "all", "argmax", "argmin", "std", "count_nonzero"])
def test_P03_reductions_along_axes(name):
    """Large enough for several threads, in every layout: an axis that is left is cut."""
    rng = np.random.default_rng(5)
    b, c = rng.integers(0, 99, (600, 70)).astype(float), rng.random((40, 50, 60))
    for axis in (0, 1, -1):
        space = {"np": np}
        exec(f"def f(a): return np.{name}(a, axis={axis})", space)
        f, g = space["f"], njit(parallel=True)(space["f"])
        for a in (b, np.asfortranarray(b), b.T, b[:, ::-1], c, c.astype(np.float32), b[:0] if name == "sum" else b[:5]):
            got, want = g(a), f(a)
            assert np.allclose(got, want, rtol=1e-5) and got.dtype == want.dtype and got.shape == want.shape


def test_P03_some_axes_of_expressions():
    a = np.random.default_rng(6).random((40, 50, 60))
    f = njit(parallel=True)(lambda a, b: (np.sum(a * b + 1, axis=(0, 2)), np.sum(a + b, axis=1, keepdims=True), np.max(a - b, axis=(1, 2))))
    for b in (a, a[:1], a[:, :1], a[0, 0]):
        for got, want in zip(f(a, b), f.py_func(a, b)):
            assert np.allclose(got, want) and got.shape == want.shape
    before = quern._quern.live_allocations()
    f(a, a)
    assert quern._quern.live_allocations() == before


def test_P03_long_lines():
    """The first of equals is found in whichever part it lies; the first nan before all."""
    a = np.random.default_rng(7).random(200_001)
    places, truths = (njit(parallel=True)(h) for h in (lambda a: (np.argmax(a), np.argmin(a)), lambda a: (np.any(a), np.all(a))))
    assert places(a) == places.py_func(a)
    for first, second in ((77_777, 150_000), (3, 4), (0, 200_000)):
        for value in (2.0, -2.0, np.nan):
            b = a.copy()
            b[first] = b[second] = value
            assert places(b) == places.py_func(b)
    for k in (0, 100_000, 200_000):
        b = np.zeros(200_001, np.bool_)
        b[k] = True
        assert truths(b) == (True, False) and truths(~b) == (True, False) and truths(b & False) == (False, False) and truths(b | True) == (True, True)
    with pytest.raises(ValueError):
        places(a[:0])


def test_P03_sums_keep_their_precision():
    a = np.random.default_rng(3).random(3_000_001).astype(np.float32)
    assert abs(float(njit(parallel=True)(lambda a: a.sum())(a)) / a.astype(np.float64).sum() - 1) < 1e-6


def test_P03_errors_of_whole_arrays():
    f = njit(parallel=True)(lambda a, b: a + b)
    with pytest.raises(ValueError, match=r"\(500,300\) \(500,200\)"):
        f(np.ones((500, 300)), np.ones((500, 200)))
    g = njit(parallel=True)(lambda a: a.min())
    with pytest.raises(ValueError):
        g(np.ones(0))


# -- diagnostics -----------------------------------------------------------------------------------------------------------------

def told(a, n):
    total = 0.0
    m = -1.0
    for i in prange(len(a)):
        for j in prange(3):
            total += a[i] * j
        m = max(m, a[i])
        t = i
    for i in prange(n):
        if i == 5:
            break
    return total, m, t, a + a


def test_P04_parallel_diagnostics(capsys):
    f = njit(parallel=True)(told)
    f(np.ones(5), 3)
    f.parallel_diagnostics()
    text = capsys.readouterr().out
    assert "Parallel loops of told(" in text and "for i in prange(len(a)):" in text
    assert "      runs on several threads\n" in text and "      total: a sum (+, -)\n" in text
    assert "      m: a reduction by builtins.max\n" in text and "      t: its last value is kept\n" in text
    assert "for j in prange(3):\n      runs on one thread: it lies in another parallel loop" in text
    assert "for i in prange(n):\n      runs on one thread: it can be left before its end" in text
    assert "elements" not in text
    f.parallel_diagnostics(level=2)
    assert "a new array: on several threads from 32768 elements on" in capsys.readouterr().out
    g = njit(told)
    g(np.ones(5), 3)
    g.parallel_diagnostics()
    assert "parallel=True is not given" in capsys.readouterr().out
    with pytest.raises(ValueError):
        f.parallel_diagnostics(level=9)


def test_the_option_is_each_functions_own(capsys):
    def body(n):
        s = 0
        for i in prange(n):
            s += i
        return s

    def loops_in(function):
        function(5)
        function.parallel_diagnostics()
        return capsys.readouterr().out.count("runs on several threads")

    parallel, serial = njit(parallel=True)(body), njit(body)
    assert loops_in(njit(lambda n: parallel(n))) == 1  # as in Numba
    assert loops_in(njit(parallel=True)(lambda n: serial(n))) == 0
    assert loops_in(njit(parallel=True)(lambda n: body(n))) == 1  # a plain function does as its caller
    assert loops_in(njit(lambda n: body(n))) == 0
