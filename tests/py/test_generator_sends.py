"""send(), throw() and close() of generators in compiled code, and generators that compiled functions return, against CPython."""
import gc
import sys

import numpy as np
import pytest
from spoken import same
from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401

from quern import errors, njit


def outcome(f, *args):
    try:
        return f(*args)
    except Exception as e:  # noqa: BLE001
        return type(e), str(e)


def agrees(f, *args):
    got, want = outcome(njit(f), *args), outcome(f, *args)
    assert got == want and repr(got) == repr(want)


def echo(n):
    x = 0
    for i in range(n):
        got = yield x
        if got is not None:
            x += got
        else:
            x += 1


def running_total(limit):
    total = 0
    while total < limit:
        total += yield total
    return total * 100


def words(n):
    s = ""
    while len(s) < n:
        s += yield s


def products(n):
    s = 0.5
    while s < n:
        a, b = yield s
        s += a * b


def two_values(n):
    """What was sent lives across the next yield."""
    while True:
        a = yield -1
        b = yield a
        yield a * 10 + b + n


def lists(n):
    xs = [0]
    while len(xs) < n:
        xs = yield len(xs)


def arrays(n):
    a = np.zeros(n)
    while a.sum() < 100:
        a = yield a.sum()


def outer(n):
    r = yield from running_total(n)
    yield r
    x = yield from echo(2)
    yield -7 if x is None else 7


def sends_and_next(n):
    g = echo(n)
    return next(g), g.send(10), g.send(None), g.send(3), next(g, -1), next(g, -1)


def to_its_end(n):
    g, out = running_total(n), []
    out.append(next(g))
    try:
        for k in range(100):
            out.append(g.send(k))
    except StopIteration:
        out.append(-1)
    return out


def value_of_the_end(n):
    def caller(n):
        r = yield from running_total(n)
        yield r
    g = caller(n)
    next(g)
    return [g.send(n // 2), g.send(n), next(g, -1)]


def text(n):
    g = words(n)
    next(g)
    return g.send("ab"), g.send(str(n)), list(g) if n < 3 else []


def tuples(n):
    g = products(n)
    next(g)
    return g.send((1, 2)), g.send((n, 0))


def across(n):
    g = two_values(n)
    out = []
    for k in range(3):
        out.append(next(g))
        out.append(g.send(k))
        out.append(g.send(k + n))
    return out


def of_lists(n):
    g = lists(n)
    next(g)
    out, xs = [0], [1, 2]
    for k in range(n - 3):
        out.append(g.send(xs))
        xs = xs + [k]
    return out, xs


def of_arrays(n):
    g = arrays(n)
    t = next(g)
    for k in range(4):
        t += g.send(np.full(3, k + 0.5))
    return float(t)


def in_a_loop(n):
    g, out = echo(n), []
    for x in g:
        out.append(x)
        if x % 2:
            out.append(next(g, -1))
        else:
            try:
                out.append(g.send(5))
            except StopIteration:
                out.append(-2)
    return out


def passed_on(n):
    g = outer(n)
    out = [next(g)]
    for k in range(8):
        try:
            out.append(g.send(k))
        except StopIteration:
            out.append(-9)
    return out


def int_and_float(n):
    g = running_total(n)
    next(g)
    return g.send(2), g.send(0.5)


def handed_over(n):
    def drive(g, k):
        return g.send(k)
    g = echo(n)
    next(g)
    return drive(g, 4), drive(g, 5)


def of_optional(n):
    g = echo(n)
    next(g)
    x = None
    if n > 2:
        x = n
    return g.send(x), g.send(x)


def by_method(n):
    g = echo(n)
    return g.__next__(), g.__next__()


@pytest.mark.parametrize("f", [sends_and_next, to_its_end, value_of_the_end, text, tuples, across, of_lists, of_arrays, in_a_loop, passed_on,
                               handed_over, of_optional, by_method], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [2, 5, 9])
def test_send(f, n):
    agrees(f, n)


def test_send_of_ints_and_floats():
    """One type for all of them, as for a variable."""
    assert njit(int_and_float)(20) == (2.0, 2.5)


def unstarted(n):
    g = echo(n)
    return g.send(n)


def unstarted_none(n):
    g = echo(n)
    return g.send(None)


def none_is_no_number(n):
    g = running_total(n)
    next(g)
    return next(g)


def raises_inside(n):
    def shares(n):
        k = 1
        while True:
            k = yield n // k
    g = shares(n)
    t = next(g) + g.send(2)
    try:
        t += g.send(0)
    except ZeroDivisionError:
        t += 1000
    return t, next(g, -1)


@pytest.mark.parametrize("f", [unstarted, unstarted_none, raises_inside], ids=lambda f: f.__name__)
def test_what_send_raises(f):
    agrees(f, 4)


def test_none_is_sent_by_next():
    with pytest.raises(TypeError):
        none_is_no_number(4)
    with pytest.raises(TypeError):
        njit(none_is_no_number)(4)


def test_one_type_is_sent():
    @njit
    def f(n):
        g = echo(n)
        next(g)
        g.send(1)
        return g.send("a")
    with pytest.raises(errors.TypingError, match="what is sent to a generator is of one type"):
        f(3)


def test_nothing_is_sent():
    def asks(n):
        for i in range(n):
            x = yield i
            if x is not None:
                yield -1

    def f(n):
        return list(asks(n))
    agrees(f, 4)


# -- close and throw ----------------------------------------------------------------------------------------


def noted(n, log, k):
    log.append(k)
    try:
        for i in range(n):
            yield i
    finally:
        log.append(-k)


def stubborn(n, log):
    try:
        yield n
    finally:
        log.append(n)
        if n > 3:
            raise ValueError("not now", n)


def ignores(n):
    while True:
        try:
            yield n
        except GeneratorExit:
            n += 1


def catches(n, log):
    for i in range(n):
        try:
            yield i
        except ValueError as e:
            log.append(100 + i)
            yield -len(str(e))
        except (KeyError, IndexError):
            log.append(200 + i)


def plain(n):
    for i in range(n):
        yield i


def closed(n):
    log = [0]
    g, h = noted(n, log, 5), plain(n)
    a = next(g) + next(h)
    log.append(1)
    g.close()
    h.close()
    log.append(2)
    g.close()
    return a, next(g, -1), next(h, -1), log


def closed_unstarted(n):
    log = [0]
    g = noted(n, log, 5)
    g.close()
    return next(g, -1), log


def close_raises(n):
    log = [0]
    g = stubborn(n, log)
    next(g)
    try:
        g.close()
    except ValueError as e:
        log.append(50)
        return log, str(e)
    return log, ""


def close_is_ignored(n):
    g = ignores(n)
    next(g)
    g.close()
    return n


def thrown(n):
    log = [0]
    g = catches(n, log)
    a = next(g)
    b = g.throw(ValueError("abc"))
    c = next(g)
    d = g.throw(KeyError)
    e = g.throw(ValueError)
    return a, b, c, d, e, log


def thrown_through(n):
    log = [0]
    g, h = catches(n, log), plain(n)
    next(g)
    next(h)
    try:
        g.throw(TypeError("no", n))
    except TypeError as e:
        log.append(len(str(e)))
    try:
        h.throw(KeyError(n))
    except KeyError as e:
        log.append(e.args[0])
    return log, next(g, -1), next(h, -1)


def thrown_at_the_end(n):
    log = [0]
    g = plain(n)
    for _ in g:
        pass
    try:
        g.throw(ValueError("late"))
    except ValueError:
        log.append(1)
    h = catches(n, log)
    try:
        h.throw(ValueError("early"))
    except ValueError as e:
        return log, str(e), next(h, -1)
    return log, "", 0


def throw_ends_it(n):
    log = [0]
    g = catches(1, log)
    next(g)
    try:
        return g.throw(KeyError(n)), log
    except StopIteration:
        return -5, log


def caught_one(n):
    log = [0]
    g = catches(n, log)
    next(g)
    try:
        np.zeros(n)[n]
    except IndexError as e:
        a = g.throw(e)
        try:
            raise TypeError("mine")
        except TypeError as mine:
            try:
                g.throw(mine)
            except TypeError as other:
                return a, str(other), log
    return 0, "", log


def args_of_thrown(n):
    def g(n):
        t = 0
        while t < 1000:
            try:
                yield t
            except ValueError as e:
                t += e.args[0] * e.args[1]
    it = g(n)
    next(it)
    return it.throw(ValueError(n, 3)), it.throw(ValueError(2, n)), next(it)


def delegates(n):
    log = [0]

    def around(n):
        try:
            yield from catches(n, log)
        finally:
            log.append(77)
    g = around(n)
    out = [next(g), g.throw(ValueError("abcd")), next(g)]
    g.close()
    return out, log


def in_a_loop_of_generators(n):
    log, t = [0], 0
    for k in range(n):
        g = noted(5, log, k + 1)
        for x in g:
            t += x
            if x == k:
                g.close()
    return t, log


@pytest.mark.parametrize("f", [closed, closed_unstarted, close_raises, close_is_ignored, thrown, thrown_through, thrown_at_the_end, throw_ends_it,
                               caught_one, args_of_thrown, delegates, in_a_loop_of_generators], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [3, 6])
def test_close_and_throw(f, n):
    lost, hook = [], sys.unraisablehook
    sys.unraisablehook = lambda told: lost.append(told.exc_type)
    try:
        agrees(f, n)
        gc.collect()
    finally:
        sys.unraisablehook = hook
    assert set(lost) <= {RuntimeError}


def test_close_gives_back_what_it_holds():
    def held(n):
        a = np.ones(n)
        xs = [str(n)]
        while True:
            got = yield a.sum() + len(xs)
            if got is not None:
                xs.append(got)

    @njit
    def f(n):
        g = held(n)
        t = next(g) + g.send("a") + g.send("b" * n)
        g.close()
        return float(t), next(g, -1.0)
    before = live()
    assert f(4) == f.py_func(4) == (18.0, -1.0)
    assert live() == before


def test_throw_takes_exceptions():
    @njit
    def f(n):
        g = plain(n)
        next(g)
        return g.throw(n)
    with pytest.raises(errors.UnsupportedError, match="not an exception"):
        f(3)


# -- generators as results ------------------------------------------------------------------------------------


def gives(n):
    return plain(n + 1)


def gives_expression(n):
    a = np.arange(n) * 0.5
    return (x * n for x in a)


def gives_one_of_two(n):
    if n > 3:
        return echo(n)
    return echo(n + 5)


def gives_with_handlers(n):
    log = [n]
    return noted(n, log, 4)


def gives_total(n):
    return running_total(0)


@pytest.mark.parametrize("f", [gives, gives_expression, gives_one_of_two, gives_with_handlers], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 2, 5])
def test_results(f, n):
    fast = njit(f)
    assert list(fast(n)) == list(f(n))
    g = fast(n)
    first = next(g, "end")
    assert first == next(f(n), "end")
    g.close()
    assert next(g, "end") == "end"


def test_a_result_gives_its_value():
    with pytest.raises(StopIteration) as end:
        next(njit(gives_total)(1))
    assert end.value.value == 0


def test_a_result_holds_its_arguments():
    @njit
    def f(a, xs):
        return (a[i] * x for i, x in enumerate(xs))
    a = np.arange(3.0)
    before = sys.getrefcount(a)
    g = f(a, [1, 2, 3])
    assert next(g) == 0.0
    a[1] = 10
    assert list(g) == [20.0, 6.0]
    del g
    gc.collect()
    assert sys.getrefcount(a) == before


def test_a_result_is_dropped():
    before = live()
    g = njit(gives_with_handlers)(4)
    next(g)
    del g
    gc.collect()
    assert live() == before


def test_results_of_two_functions():
    @njit
    def f(n):
        return plain(n) if n else echo(n)
    with pytest.raises(errors.TypingError):
        f(3)
