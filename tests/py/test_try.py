"""try, except, else and finally in compiled code, against CPython."""

import gc
import random
import resource
import signal
import threading
import time
import traceback

import numpy as np
import pytest
from quern import _quern, cuda, errors, njit, prange, vectorize


class Mine(ValueError):
    pass


class Below(Mine):
    def __init__(self, a, b=3):
        super().__init__(a, b)


def outcome(function, args):
    try:
        return "returned", function(*args)
    except BaseException as e:  # noqa: BLE001
        return "raised", type(e), e.args, e


def same(function, *calls):
    compiled = njit(function)
    for args in calls:
        want, got = outcome(function, args), outcome(compiled, args)
        assert got[:3] == want[:3] or got[:2] == want[:2] == ("raised", ZeroDivisionError), (function.__name__, args, got, want)


def test_EXC_a_handler_by_class():
    def divide(a, b):
        try:
            return a // b
        except ZeroDivisionError:
            return -1
    same(divide, (7, 2), (7, 0))

    def item(a, i):
        try:
            return a[i] + 0.5
        except (KeyError, IndexError):
            return -5.0
    same(item, ((1, 2, 3), 1), (np.arange(3), 1), (np.arange(3), 9), (np.arange(3), -4))

    def base(x):
        try:
            if x == 1:
                raise OverflowError("big", x)
            return x // x
        except ArithmeticError:
            return 5
    same(base, (0,), (1,), (2,))


def test_EXC_classes_of_users_and_what_they_are_derived_from():
    def which(x):
        try:
            if x == 0:
                raise Below(4)
            if x == 1:
                raise Mine("m")
            if x == 2:
                raise ValueError
            if x == 3:
                raise KeyError("k", x)
        except Below:
            return 1
        except Mine:
            return 2
        except ValueError:
            return 3
        return 4
    same(which, *[(x,) for x in range(5)])


def test_EXC_else_and_finally():
    def loop(n):
        s = 0
        for i in range(n):
            try:
                if i % 3 == 0:
                    raise ValueError("x", i)
                if i % 7 == 5:
                    raise KeyError(i)
                s += i
            except ValueError:
                s += 100
            else:
                s += 1000
            finally:
                s += 7
        return s
    same(loop, (0,), (3,), (12,))


def test_EXC_return_break_and_continue_in_finally_and_in_front_of_it():
    def leaves(n):
        for i in range(n):
            try:
                if i == 3:
                    break
                if i == 1:
                    continue
            finally:
                n += 10
        return n

    def instead(x):
        try:
            return 1 // x
        finally:
            if x != 2:
                return 100

    def swallowed(n):
        for i in range(n):
            try:
                n += 1 // i
            finally:
                if i < 2:
                    continue
        return n
    same(leaves, (1,), (5,))
    same(instead, (0,), (1,), (2,))
    same(swallowed, (0,), (1,), (4,))


def test_EXC_raised_again():
    def again(x, how):
        try:
            try:
                if x == 1:
                    raise ValueError("a", x)
                if x == 2:
                    raise IndexError(x)
                if x == 3:
                    raise ZeroDivisionError
            except (ValueError, ZeroDivisionError):
                raise
            except IndexError as e:
                if how:
                    raise e
                raise KeyError(x, how)
        except LookupError:
            return 5
        return 6
    same(again, *[(x, how) for x in range(4) for how in (0, 1)])


def test_EXC_the_exception_of_a_handler_outlives_others_inside_of_it():
    def inner(x):
        try:
            raise ValueError("outer", x)
        except ValueError as e:
            try:
                x = 1 // (x - x)
            except ZeroDivisionError:
                x += 1
            if x > 3:
                raise e
            raise
    same(inner, (1,), (7,))


def test_EXC_through_calls():
    @njit
    def deep(x):
        if x > 2:
            raise OverflowError("big", x)
        return x * 2

    @njit
    def middle(x):
        try:
            return deep(x)
        finally:
            x += 1

    def call(x):
        try:
            y = middle(x)
        except ArithmeticError:
            y = -1
        return y
    same(call, (1,), (5,))


def test_EXC_any_exception():
    def bare(x):
        try:
            raise ValueError(x)
        except:  # noqa: E722
            return x + 1

    def base(a, n):
        try:
            return a[n] // n
        except BaseException:
            return -7
    same(bare, (3,))
    same(base, ((1, 2, 3), 0), (np.arange(3), 4), (np.arange(3), 2))


def test_EXC_locals_that_a_handler_may_find_unassigned():
    def after(a):
        try:
            b = a[3]
            c = 5
        except IndexError:
            pass
        return c

    def name(x):
        e = x
        try:
            x = 1 // x
        except ZeroDivisionError as e:
            pass
        return e
    for f, calls in ((after, [(np.ones(5),), (np.ones(2),)]), (name, [(1,), (0,)])):
        compiled = njit(f)
        for args in calls:
            want, got = outcome(f, args), outcome(compiled, args)
            assert got[:2] == want[:2], (got, want)


def test_EXC_arrays_are_released_on_every_path():
    def arrays(n, m):
        total = 0.0
        for k in range(n):
            a = np.ones(k + 1)
            try:
                b = a + k
                total += b[m]
                c = np.concatenate((a, b))
                total += c[2 * k + 1 - m] + a[5]
            except IndexError:
                d = a * 2
                total -= d.sum()
                if k == 9:
                    raise
            finally:
                total += a[0]
        return total
    compiled = njit(arrays)
    compiled(1, 0)
    gc.collect()
    before = _quern.live_allocations()
    for args in ((0, 0), (5, 1), (9, 2), (10, 3), (12, -20)):
        want, got = outcome(arrays, args), outcome(compiled, args)
        assert got[:2] == want[:2] and (got[0] == "raised" or np.isclose(got[1], want[1])), args
    assert _quern.live_allocations() == before


def frames(e):
    return [(t.name, t.lineno) for t in traceback.extract_tb(e.__traceback__)][1:]


@njit
def source(x):
    if x > 2:
        raise OverflowError("big", x)
    return x


@njit
def handling(x, how):
    try:
        y = source(x)
    except ArithmeticError as e:
        if how == 0:
            raise
        if how == 1:
            raise e
        raise ValueError("other")
    return y


@pytest.mark.parametrize("how", range(3))
def test_EXC_tracebacks_have_the_lines_of_each_frame(how):
    with pytest.raises((OverflowError, ValueError)) as want:
        handling.py_func(5, how)
    with pytest.raises(type(want.value)) as got:
        handling(5, how)
    assert frames(got.value)[-3:] == frames(want.value)[-3:] and len(frames(got.value)) == len(frames(want.value))


def chain(e):
    """What came before an exception: of each the class and arguments, its frames, its cause, and whether the context is shown."""
    links = []
    while e is not None and len(links) < 70:
        args = ("division by zero",) if isinstance(e, ZeroDivisionError) else e.args
        frames = [(t.name, t.lineno) for t in traceback.extract_tb(e.__traceback__) if t.name in ("source", "middle", "last")]
        links.append((type(e), args, frames, type(e.__cause__), e.__suppress_context__))
        e = e.__context__
    return links


def linked(decorated):
    @decorated
    def source(x):
        if x > 2:
            raise OverflowError("big", x)
        return x

    @decorated
    def middle(x, how):
        try:
            return source(x)
        except ArithmeticError as e:
            if how == 1:
                raise ValueError("from", x) from e
            if how == 2:
                raise ValueError("from none") from None
            if how == 3:
                return 1 // (x - x)
            if how == 4:
                raise
            if how == 5:
                try:
                    raise KeyError("inner")
                except KeyError as inner:
                    raise inner from e
            try:
                raise KeyError("inner")
            except KeyError:
                raise IndexError("last")

    @decorated
    def last(x, how):
        try:
            return middle(x, how)
        finally:
            if how > 6:
                raise RuntimeError("in finally")
    return last


@pytest.mark.parametrize("how", range(9))
def test_EXC_contexts_and_causes(how):
    with pytest.raises(Exception) as want:
        linked(lambda f: f)(5, how)
    with pytest.raises(type(want.value)) as got:
        linked(njit)(5, how)
    assert chain(got.value) == chain(want.value)


def test_EXC_a_cause_that_is_none_is_refused():
    @njit
    def f(x):
        raise ValueError("a") from x
    with pytest.raises(errors.UnsupportedError, match="from something that is none"):
        f(1)


def test_EXC_chains_do_not_grow_for_ever():
    @njit
    def f(n):
        caught = 0
        for k in range(n):
            try:
                try:
                    raise ValueError(k)
                except ValueError:
                    raise KeyError(k)
            except KeyError:
                caught += 1
        raise IndexError(caught)

    @njit
    def deep(n):
        try:
            if n == -1:
                return 0
            if n == 0:
                raise KeyError(n)
            return deep(n - 1)
        except LookupError:
            raise IndexError(n)
    f_max = 300_000
    with pytest.raises(IndexError):
        f(10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(IndexError) as e:
        f(f_max)
    assert e.value.args == (f_max,) and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096
    with pytest.raises(IndexError) as e:
        deep(200)
    assert 30 < len(chain(e.value)) < 66 and chain(e.value)[0][1] == (200,)
    seen, link = set(), e.value
    while link is not None:
        assert id(link) not in seen
        seen.add(id(link))
        link = link.__context__


class Late(Exception):
    pass


@pytest.fixture
def alarm():
    def ring(*_):
        raise Late("late")
    before = signal.signal(signal.SIGALRM, ring)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.2)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("nogil", [False, True])
def test_EXC_an_exception_of_a_signal_handler_is_caught(alarm, nogil):
    @njit(nogil=nogil)
    def spin(n):
        k = 0
        try:
            while k != -n:
                k = (k + 1) & 1023
        except Late:
            return -1
        return k

    @njit(nogil=nogil)
    def others(n):
        k = 0
        try:
            while k != -n:
                k = (k + 1) & 1023
        except (ValueError, KeyboardInterrupt):
            return -1
        finally:
            k = 7
        return k

    assert spin(0) == 0 and others(0) == 7
    alarm()
    assert spin(5) == -1
    alarm()
    with pytest.raises(Late, match="late"):
        others(5)
    assert spin(0) == 0


def test_EXC_ctrl_c_passes_except_exception():
    @njit
    def passes(n):
        k = 0
        try:
            while k != -n:
                k = (k + 1) & 1023
        except Exception:
            return -1
        return k

    @njit
    def stops(n):
        k = 0
        while True:
            try:
                while k != -n:
                    k = (k + 1) & 1023
            except KeyboardInterrupt:
                return -1
    passes(0)
    main = threading.main_thread().ident
    for f, expected in ((passes, None), (stops, -1)):
        timer = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
        timer.start()
        if expected is None:
            with pytest.raises(KeyboardInterrupt):
                f(5)
        else:
            assert f(5) == expected
        timer.join()


def test_EXC_ufuncs_and_parallel_loops():
    @vectorize(["float64(float64)"])
    def checked(x):
        try:
            if x < 0:
                raise ValueError
            return x ** 0.5
        except ValueError:
            return -1.0
    assert checked(np.array([4.0, -2.0])).tolist() == [2, -1]

    def in_loop(a):
        out = np.zeros(len(a))
        for i in prange(len(a)):
            try:
                if a[i] == 3:
                    raise ValueError
                out[i] = a[i]
            except ValueError:
                out[i] = -1
        return out

    def round_it(a):
        out = np.zeros(len(a))
        try:
            for i in prange(len(a)):
                if a[i] == 3:
                    raise ValueError("three", i)
                out[i] = a[i]
        except ValueError:
            out[0] = -1
        return out[0]
    for f in (in_loop, round_it):
        a = np.arange(1000.0) % 7
        assert np.array_equal(njit(parallel=True)(f)(a), f(a))


def test_EXC_kernels_refuse_handlers(device):
    @cuda.jit
    def kernel(a):
        try:
            a[0] = 1 // a[1]
        except ZeroDivisionError:
            a[0] = 7
    with pytest.raises(errors.UnsupportedError, match="a try statement in a kernel"):
        kernel[1, 1](np.zeros(2, np.int64))


# -- random programs -----------------------------------------------------------------------------------

CLASSES = ["ValueError", "KeyError", "IndexError", "ZeroDivisionError", "Mine", "Below"]
CAUGHT = [*CLASSES, "LookupError", "ArithmeticError", "Exception", "(ValueError, KeyError)"]


class Writer:
    """A function of nested loops and try statements: each statement leaves a trace in `s`."""

    def __init__(self, seed):
        self.r, self.lines, self.count = random.Random(seed), [], 0

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def statement(self, depth, loops, handlers):
        r = self.r
        self.count += 1
        kinds = ["add", "add", "raise", "divide", "item", "array"]
        kinds += ["try"] * 4 + ["if", "for"] if depth < 6 and self.count < 40 else []
        kinds += ["break", "continue"] if loops else []
        kinds += ["again"] if handlers else []
        kind, n = r.choice(kinds), r.randrange(5)
        if kind == "add":
            self.put(depth, f"s = s * 3 + {self.count}")
        elif kind == "raise":
            cls = r.choice(CLASSES)
            self.put(depth, f"if (x + s) % 5 == {n}: raise {cls}({r.choice(['1', 's', repr('text') + ', x'])})")
        elif kind == "divide":
            self.put(depth, f"s += 100 // ((x + s) % 4)")
        elif kind == "item":
            self.put(depth, f"s += t[(x * {n + 1} + s) % 7]")
        elif kind == "array":
            self.put(depth, f"b = np.ones(s % 5 + 1, np.int64); s += int(b[(x + {n}) % 5])")
        elif kind == "again":
            self.put(depth, f"if (x + s) % 3 == {n % 3}: raise")
        elif kind in ("break", "continue"):
            self.put(depth, f"if (x + s) % 4 == {n % 4}: {kind}")
        elif kind == "if":
            self.put(depth, f"if (x + s) % 2 == {n % 2}:")
            self.block(depth + 1, loops, handlers)
        elif kind == "for":
            self.put(depth, f"for i{depth} in range({n % 4}):")
            self.block(depth + 1, True, handlers)
        else:
            self.try_statement(depth, loops, handlers)

    def try_statement(self, depth, loops, handlers):
        r = self.r
        self.put(depth, "try:")
        self.block(depth + 1, loops, handlers)
        clauses = r.randrange(3)
        for k in range(clauses):
            last = k == clauses - 1 and r.random() < 0.15
            self.put(depth, "except:" if last else f"except {r.choice(CAUGHT)}{r.choice(['', ' as e'])}:")
            self.block(depth + 1, loops, True)
        if clauses and r.random() < 0.3:
            self.put(depth, "else:")
            self.block(depth + 1, loops, handlers)
        if not clauses or r.random() < 0.4:
            self.put(depth, "finally:")
            self.block(depth + 1, False, False)
            if r.random() < 0.1:
                self.put(depth + 1, "return s")

    def block(self, depth, loops, handlers):
        for _ in range(self.r.randrange(1, 4)):
            self.statement(depth, loops, handlers)

    def function(self):
        self.put(0, "def f(x, t):")
        self.put(1, "s = 0")
        self.block(1, False, False)
        self.try_statement(1, False, False)
        self.put(1, "return s")
        return "\n".join(self.lines)


@pytest.mark.parametrize("seed", range(150))
def test_EXC_random_programs(seed):
    text = Writer(seed).function()
    names = {"Mine": Mine, "Below": Below, "np": np}
    exec(text, names)
    f = names["f"]
    compiled = njit(f)
    t = (0, 1, 2, 3, 4)
    with np.errstate(all="ignore"):
        for x in range(8):
            want = outcome(f, (x, t))
            if want[0] == "returned" and abs(want[1]) >= 2**62:
                continue
            got = outcome(compiled, (x, t))
            assert got[:2] == want[:2], f"{text}\nf({x}): {got} instead of {want}"
            if want[0] == "raised" and issubclass(want[1], (ValueError, KeyError)):
                assert got[2] == want[2], text
            if want[0] == "raised":
                assert [link[0] for link in chain(got[3])] == [link[0] for link in chain(want[3])], f"{text}\nf({x})"
