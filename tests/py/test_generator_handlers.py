"""Generators with handlers in compiled code, against CPython: what runs when they end, are closed or dropped, and in which order.

Programs write what they do into an array, number by number."""
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected, live, shown  # noqa: F401
from quern import njit, prange


@njit
def note(log, what):
    log[0] += 1
    log[log[0]] = what


def traced(f, n):
    log = np.zeros(400, np.int64)
    try:
        out = f(n, log)
    except Exception as e:  # noqa: BLE001
        out = type(e)
    return out, log[1:log[0] + 1].tolist()


def items(n, log, k):
    note(log, k)
    try:
        for i in range(n):
            yield i
    finally:
        note(log, -k)


def doubled(n, log, k):
    try:
        for x in items(n, log, k + 1):
            try:
                yield x * 2
            finally:
                note(log, 500 + k)
    finally:
        note(log, 600 + k)


def left_by_break(n, log):
    for x in items(n, log, 1):
        note(log, 100 + x)
        if x == 2:
            note(log, 200)
            break
    note(log, 300)
    return log[0]


def early(n, log):
    for x in items(n, log, 1):
        if x == 2:
            return x
    return -1


def left_by_return(n, log):
    r = early(n, log)
    note(log, 900)
    return r


def left_by_an_exception(n, log):
    try:
        for x in items(n, log, 1):
            note(log, 100 + x)
            if x == 1:
                raise ValueError("in the loop")
    except ValueError:
        note(log, 400)
    note(log, 401)
    return 1


def one_in_another(n, log):
    s = 0
    for x in doubled(n, log, 10):
        s += x
        if x > 2:
            break
    note(log, 300)
    return s


def loops_in_loops(n, log):
    s = 0
    for a in items(n, log, 1):
        for b in items(3, log, 2):
            if b == a:
                break
            s += b
        else:
            note(log, 50)
        if a == 1:
            continue
    return s


def zipped(n, log):
    s = 0
    for a, b in zip(items(n, log, 1), items(2, log, 2)):
        s += a * b
    note(log, 300)
    for i, a in enumerate(items(n, log, 3)):
        if i == 1:
            break
    note(log, 301)
    return s


def asked_for_some(n, log):
    a = any(x == 2 for x in items(n, log, 1))
    note(log, 300)
    b = all(x < 2 for x in items(n, log, 2))
    note(log, 301)
    c = [x for x in doubled(n, log, 30)]
    return a, b, c, 2 in c, max(items(n + 1, log, 4)), sum(doubled(n, log, 60))


def finally_of_the_loop(n, log):
    s = 0
    for k in range(n):
        for x in items(n, log, k + 1):
            try:
                if x == k:
                    break
            finally:
                note(log, 55)
            s += x
    return s


def caught_around_the_loop(n, log):
    t = 0
    for k in range(3):
        try:
            for x in doubled(n, log, k):
                if x == 2:
                    t += 1 // (k - 1)
                t += x
        except ZeroDivisionError:
            note(log, 111)
            t += 100
    return t


def clauses(n, log):
    def g(n):
        try:
            yield 1
            if n == 1:
                raise ValueError("one")
            yield 2
        except ValueError:
            note(log, 77)
            yield -2
        else:
            note(log, 78)
        finally:
            note(log, 79)
        yield 3
    return list(g(n))


def retried(n, log):
    def attempts(n):
        for i in range(n):
            try:
                if i % 2:
                    raise ValueError("odd", i)
                yield i
            except ValueError as e:
                note(log, i)
                yield -e.args[1]
            else:
                note(log, 40 + i)
    s = 0
    for x in attempts(n):
        s = s * 3 + x
    return s


def returned_within(n, log):
    def g():
        i = 0
        while True:
            try:
                i += 1
                if i > n:
                    return
                yield i
            finally:
                note(log, i)
    return [x for x in g()]


def raised_within(n, log):
    def g():
        try:
            yield 1
            yield 10 // n
        finally:
            note(log, 5)
    return sum(g())


def next_of_a_temporary(n, log):
    x = next(items(n + 1, log, 1))
    note(log, 300)
    return x


def from_lists_of_lists(n, log):
    rows = [[i, i + 1] for i in range(n)]

    def flat():
        try:
            for row in rows:
                try:
                    yield from row
                finally:
                    note(log, len(row))
        finally:
            rows.pop()
    out = []
    for x in flat():
        out.append(x)
        if x == 3:
            break
    return out, rows


def stops_itself(n, log):
    def g(n):
        try:
            for i in range(n):
                yield i
                if i == 2:
                    raise StopIteration
        except StopIteration:
            note(log, 8)
        finally:
            note(log, 9)
    return list(g(n))


PROGRAMS = [left_by_break, left_by_return, left_by_an_exception, one_in_another, loops_in_loops, zipped, asked_for_some,
            finally_of_the_loop, caught_around_the_loop, clauses, retried, returned_within, raised_within, next_of_a_temporary,
            from_lists_of_lists, stops_itself]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_L21_handlers_run_in_the_order_of_python(f, n):
    if f is from_lists_of_lists and n == 0:
        return
    assert shown(traced(njit(f), n)) == shown(traced(f, n))


# -- from Python --------------------------------------------------------------------------------------------


def inner(n, log):
    try:
        for i in range(n):
            try:
                yield i
            except ValueError:
                note(log, 2)
                yield -5
    finally:
        note(log, 3)


def ignores_its_end(n, log):
    while True:
        try:
            yield n
        except BaseException:
            note(log, 4)
            if log[0] > 2:
                return


def raises_at_its_end(n, log):
    try:
        yield n
    finally:
        raise KeyError("in finally")


def delegates(n, log):
    try:
        yield from inner(n, log)
    finally:
        note(log, 5)


def loops(n, log):
    for x in inner(n, log):
        yield x


def without_handlers(n, log):
    for i in range(n):
        yield i


def how_it_ends(f):
    """What a generator does that is closed, thrown into and dropped; what was raised where nobody catches; the log."""
    log, out, lost = np.zeros(100, np.int64), [], []

    def do(what):
        try:
            out.append(what())
        except BaseException as e:  # noqa: BLE001
            out.append((type(e), e.args))
        out.append(log[0])
    before, sys.unraisablehook = sys.unraisablehook, lambda told: lost.append((told.exc_type, told.exc_value.args))
    try:
        g = f(6, log)
        for step in (lambda: next(g), lambda: next(g), g.close, lambda: next(g), g.close, lambda: g.throw(OSError(5))):
            do(step)
        g = f(6, log)
        do(g.close), do(lambda: next(g))
        g = f(6, log)
        do(lambda: g.throw(ValueError)), do(lambda: next(g))
        g = f(6, log)
        for step in (lambda: next(g), lambda: g.throw(ValueError("a")), lambda: next(g), lambda: g.throw(KeyError("b")), lambda: next(g)):
            do(step)
        g = f(6, log)
        do(lambda: next(g)), do(lambda: g.throw(GeneratorExit())), do(lambda: g.throw(ValueError("a", 2)))
        g = f(6, log)
        do(lambda: next(g))
        g = None
        gc.collect()
    finally:
        sys.unraisablehook = before
    return out, lost, log.tolist()


@pytest.mark.parametrize("f", [inner, ignores_its_end, raises_at_its_end, delegates, loops, without_handlers], ids=lambda f: f.__name__)
def test_L21_closed_thrown_into_and_dropped(f):
    assert shown(how_it_ends(njit(f))) == shown(how_it_ends(f))


def test_what_throw_takes():
    g = njit(inner)(3, np.zeros(9, np.int64))
    for wrong in (7, "text", int, None):
        with pytest.raises(TypeError, match="exceptions must be classes or instances deriving from BaseException, not"):
            g.throw(wrong)
    with pytest.raises(TypeError, match="separate value"):
        g.throw(ValueError(), 3)
    assert next(g) == 0 and g.throw(ValueError, ValueError("x")) == -5 and next(g) == 1
    with pytest.raises(OSError) as raised:
        g.throw(OSError, (2, "gone"))
    assert raised.value.args == (2, "gone") and list(g) == []


def test_an_exception_of_a_dropped_generator_does_not_replace_the_one_on_its_way():
    def g(n):
        try:
            yield n
        finally:
            raise KeyError("lost")

    @njit
    def f(n):
        for x in g(n):
            raise ValueError("seen")
        return 0

    @njit
    def caught(n):
        try:
            for x in g(n):
                raise ValueError("seen")
        except ValueError:
            return 1
        return 0
    lost = []
    before, sys.unraisablehook = sys.unraisablehook, lambda told: lost.append(told.exc_value.args)
    try:
        with pytest.raises(ValueError, match="seen"):
            f(1)
        assert caught(1) == 1
    finally:
        sys.unraisablehook = before
    assert lost == [("lost",), ("lost",)]


def test_what_a_generator_holds_that_ignores_its_end():
    def g(n, log):
        for x in items(n, log, 3):
            try:
                yield x
            except GeneratorExit:
                yield -1

    @njit
    def f(n, log):
        for x in g(n, log):
            if x == 1:
                break
        note(log, 50)
        return 0
    lost = []
    before, sys.unraisablehook = sys.unraisablehook, lambda told: lost.append(told.exc_value.args)
    try:
        assert traced(f, 4) == traced(f.py_func, 4) == (0, [3, -3, 50])
    finally:
        sys.unraisablehook = before
    assert lost == [("generator ignored GeneratorExit",)] * 2


def test_handlers_print_where_python_prints(capsys):
    def g(n):
        try:
            yield n
        finally:
            print("closed", n)

    @njit
    def f(n):
        for x in g(n):
            print("in", x)
            break
        print("behind")
    f(3)
    assert capsys.readouterr().out == "in 3\nclosed 3\nbehind\n"
    it = njit(g)(4)
    next(it)
    del it
    assert capsys.readouterr().out == "closed 4\n"


def test_MEM_01_what_handlers_drop_is_not_looked_at():
    """The generator takes items out of a list that the loop looks at."""
    def g(xs):
        try:
            yield 0
        finally:
            while len(xs) > 1:
                xs.pop()

    @njit
    def f(n):
        xs = [np.full(n, i * 1.0) for i in range(4)]
        last, t = xs[3], 0.0
        for i in g(xs):
            last = xs[2]
            if n > 2:
                break
        try:
            for i in g(xs):
                last = xs[0]
                xs[0] = np.zeros(1)
                t += 1 // (n - 3)
        except ZeroDivisionError:
            t += last.sum()
        return last, t, len(xs)
    for n in (3, 4):
        fast, slow = f(n), f.py_func(n)
        assert fast[0].tolist() == slow[0].tolist() and fast[1:] == slow[1:]


def test_many_that_hold_each_other_end():
    """Closing goes as deep as they are nested: where the stack is too small for that, they are dropped."""
    @njit
    def nested(k, log):
        try:
            yield k
            if k:
                yield from nested(k - 1, log)
        finally:
            log[0] += 1
    before = live()
    for depth in (10, 200):
        log = np.zeros(1, np.int64)
        it = nested(depth, log)
        assert [next(it) for _ in range(depth)] == list(range(depth, 0, -1))
        it.close()
        assert log[0] == depth
    assert live() == before
    lost, hook = [], sys.unraisablehook
    sys.unraisablehook = lambda told: lost.append(told.exc_type)
    try:
        it = nested(10**6, np.zeros(1, np.int64))
        with pytest.raises(RecursionError):
            for _ in it:
                pass
        del it
    finally:
        sys.unraisablehook = hook
    assert set(lost) <= {RecursionError}


def test_in_parallel_loops():
    def g(n):
        total = np.zeros(1)
        try:
            for i in range(n):
                yield i
        finally:
            total[0] += 1

    @njit(parallel=True)
    def f(n):
        out = np.zeros(n)
        for i in prange(n):
            for x in g(i):
                out[i] += x
                if x == 5:
                    break
        return out
    assert f(50).tolist() == [float(sum(range(min(i, 6)))) for i in range(50)]


def test_without_the_gil():
    @njit(nogil=True)
    def f(n, log):
        s = 0
        for k in range(n):
            for x in inner(k, log):
                s += x
                if x == 2:
                    break
            log[0] = 0
        return s
    out = [0] * 4

    def run(k):
        out[k] = f(200, np.zeros(20, np.int64))
    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert out == [f.py_func(200, np.zeros(20, np.int64))] * 4


def test_from_the_disk_cache(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""
import numpy as np
from quern import njit
@njit(cache=True)
def f(n, log):
    try:
        for i in range(n):
            yield i
    except KeyError:
        yield -1
    finally:
        log[0] += n
log = np.zeros(1)
it = f(3, log)
print(next(it), it.throw(KeyError("a")), it.close(), log[0], sum(f.stats.cache_hits.values()))
""")
    runs = [subprocess.run([sys.executable, str(program)], capture_output=True, text=True,
                           env={**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "store")}) for _ in range(2)]
    assert [r.stdout.strip() for r in runs] == ["0 -1 None 3.0 0", "0 -1 None 3.0 1"]
