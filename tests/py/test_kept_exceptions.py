"""Exceptions as values that outlive their handlers, exceptions made without being raised, classes that are chosen when the program
runs, what came before an exception, and what __init__ has set (issue 8; TRAPS EXC-01)."""
import gc
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import errors, njit


class Base(Exception):
    pass


class Coded(Base):
    limit = 5


class NoConvergence(Exception):
    """The iteration has not converged."""

    def __init__(self, n, residual, where="solver"):
        super().__init__(f"no convergence after {n} steps")
        self.n = n
        self.residual = residual
        self.where = where
        self.bad = residual > 1.0
        self.pair = (n, residual * 2)


class Located(NoConvergence):
    def __init__(self, k, word):
        NoConvergence.__init__(self, k + 1, float(k), where=word)
        self.word = word.upper()


class Unclear(Exception):
    def __init__(self, n):
        super().__init__(n)
        self.set(n)

    def set(self, n):
        self.n = n


def outcome(f, args):
    try:
        result = f(*args)
    except Exception as e:  # noqa: BLE001
        return "raised", e
    return "returned", result


def shape(e):
    """An exception by what can be seen of it."""
    if isinstance(e, BaseException):
        return type(e), e.args, str(e), vars(e), shape(e.__cause__), shape(e.__context__), e.__suppress_context__
    if isinstance(e, (list, tuple)):
        return type(e), [shape(x) for x in e]
    return type(e), e


def same(function, *calls):
    compiled = njit(function)
    for args in calls:
        want, got = outcome(function, args), outcome(compiled, args)
        assert got[0] == want[0], (function.__name__, args, got)
        assert shape(got[1]) == shape(want[1]), (function.__name__, args)


# -- kept behind the handler -----------------------------------------------------------------------------------------


def raised_later(n):
    err = None
    try:
        if n == 0:
            raise ValueError("zero", n)
        if n < 0:
            raise KeyError("below")
    except Exception as e:
        err = e
    if err is not None:
        raise err
    return n


def the_last_one(n):
    last = None
    for i in range(n):
        try:
            if i % 2:
                raise ValueError("odd", i)
        except ValueError as e:
            last = e
    if last is None:
        return "none", -1
    return str(last), last.args[1]


def truth(n):
    err = None
    try:
        if n:
            raise Coded(n)
    except Coded as e:
        err = e
    return (1 if err else 0), (not err), isinstance(err, Base), isinstance(err, ValueError)


def in_a_list(n):
    errors = []
    for i in range(n):
        try:
            if i % 3 == 1:
                raise ValueError("one", i)
            if i % 3 == 2:
                raise ValueError("two", i * 10)
        except ValueError as e:
            errors.append(e)
    return len(errors), [str(e) for e in errors], [e.args[1] for e in errors]


def in_a_dict_and_tuples(n):
    found = {}
    for i in range(n):
        try:
            if i % 2:
                raise Coded(i, "text")
        except Coded as e:
            found[i] = (i, e)
    total = 0
    for k in found:
        i, e = found[k]
        total += e.args[0] * i + len(e.args[1])
    return total


def passed_on(n):
    def describe(e, more):
        return type(e).__name__ + ": " + str(e) + more
    try:
        raise Coded("odd", n)
    except Coded as e:
        return describe(e, "!")


def returned_by_a_function(n):
    def attempt(k):
        try:
            if k > 2:
                raise Coded("large", k)
            if k < 0:
                raise ValueError("negative", k)
        except Exception as e:
            return e
        return None
    out = 0
    for k in range(-1, n):
        e = attempt(k)
        if e is not None:
            out = out * 10 + e.args[1]
    return out


def raised_in_another_handler(n):
    first = None
    try:
        raise ValueError("first", n)
    except ValueError as e:
        first = e
    try:
        return [1, 2][n + 2]
    except IndexError as e:
        raise first from e


def raised_twice(n):
    err = None
    count = 0
    try:
        raise Coded("again", n)
    except Coded as e:
        err = e
    for i in range(3):
        try:
            raise err
        except Coded as e:
            count += e.args[1]
    return count, err.args[0]


def the_same_one(n):
    err = None
    other = None
    try:
        raise Coded(n)
    except Coded as e:
        err = e
    try:
        raise err
    except Coded as e:
        other = e
    third = Coded(n)
    return err is other, err is not other, err == other, err is third, third is third, err != third


def retries(n):
    last = None
    for attempt in range(n):
        try:
            if attempt < 3:
                raise ValueError(f"attempt {attempt} failed")
            return attempt
        except ValueError as e:
            last = e
    raise RuntimeError("gave up", n) from last


def first_and_rest(n):
    errs = []
    for i in range(n):
        try:
            np.zeros(2)[i]
        except IndexError as e:
            errs.append(e)
    if errs:
        raise errs[0]
    return n


def in_a_closure(n):
    kept = [0]
    err = Base("start")

    def note():
        kept[0] += len(str(err))
    try:
        raise Coded("inner", n)
    except Coded as e:
        err = e
    note()
    return kept[0], str(err)


def chosen(n):
    a = ValueError("a", n)
    b = KeyError("b", n)
    e = a if n > 2 else b
    return str(e), repr(e), type(e) is KeyError, type(e).__name__


@pytest.mark.parametrize("f", [raised_later, the_last_one, truth, in_a_list, in_a_dict_and_tuples, passed_on, returned_by_a_function,
                               raised_in_another_handler, raised_twice, the_same_one, retries, first_and_rest, in_a_closure, chosen],
                         ids=lambda f: f.__name__)
def test_EXC_01_kept(f):
    same(f, *((n,) for n in (0, 1, 2, 3, 5, 8)))


def test_EXC_01_below_zero():
    same(raised_later, (-1,), (0,), (4,))


def test_EXC_02_traceback_of_one_that_is_raised_later():
    def later(n):
        err = None
        try:
            raise ValueError("first", n)
        except ValueError as e:
            err = e
        raise err
    entries = []
    for f in (later, njit(later)):
        with pytest.raises(ValueError) as caught:
            f(1)
        entries.append([(e.name, e.lineno) for e in traceback.extract_tb(caught.value.__traceback__) if e.name == "later"])
    assert sorted(entries[0]) == sorted(entries[1]) and len(entries[1]) == 2


# -- made, and raised elsewhere ------------------------------------------------------------------------------------


def class_of_two(n):
    cls = ValueError if n > 2 else KeyError
    raise cls("bad", n)


def class_without_arguments(n):
    cls = Coded if n > 2 else ValueError
    raise cls


def class_as_argument(n):
    def check(x, cls):
        if x > 2:
            raise cls("too large", x)
        return x
    return check(n, ValueError) + check(n - 1, Coded)


def class_of_a_list(n):
    kinds = [ValueError, KeyError, Coded]
    raise kinds[n % 3](n, "text")


def one_of_two(n):
    err = ValueError("a") if n > 2 else KeyError("b", n)
    raise err


def made_by_a_function(n):
    def make(k):
        if k > 2:
            return ValueError("large", k)
        return Coded(k)
    if n:
        raise make(n)
    return n


def made_and_raised_in_loops(n):
    err = ValueError("once", n)
    count = 0
    for i in range(n):
        try:
            raise err
        except ValueError as e:
            count += e.args[1]
    return count


def from_one_that_is_made(n):
    raise ValueError("outer") from KeyError("inner", n)


def from_a_class(n):
    raise ValueError("outer") from KeyError


def from_what_may_be_none(n):
    err = None
    if n > 2:
        err = KeyError(n)
    raise ValueError("outer") from err


@pytest.mark.parametrize("f", [class_of_two, class_without_arguments, class_as_argument, class_of_a_list, one_of_two, made_by_a_function,
                               made_and_raised_in_loops, from_one_that_is_made, from_a_class, from_what_may_be_none],
                         ids=lambda f: f.__name__)
def test_EXC_01_made(f):
    same(f, *((n,) for n in (0, 1, 2, 3, 5)))


def test_EXC_02_traceback_of_one_that_was_made_before():
    def made(n):
        err = ValueError(n)
        if n:
            raise err
        return 0
    entries = []
    for f in (made, njit(made)):
        with pytest.raises(ValueError) as caught:
            f(1)
        entries.append([(e.name, e.lineno) for e in traceback.extract_tb(caught.value.__traceback__) if e.name == "made"])
    assert entries[0] == entries[1]


# -- as results ------------------------------------------------------------------------------------------------------


def result(n):
    try:
        if n:
            raise Coded("text", n)
    except Coded as e:
        return e
    return None


def results(n):
    out = []
    for i in range(n):
        try:
            if i % 2:
                raise NoConvergence(i, 0.5)
            raise ValueError(i)
        except Exception as e:
            out.append(e)
    return out


def made_result(n):
    return ValueError("made", n), n


@pytest.mark.parametrize("f", [result, results, made_result], ids=lambda f: f.__name__)
def test_EXC_01_results(f):
    same(f, (1,), (2,), (4,))


# -- what came before ------------------------------------------------------------------------------------------------


def causes(n):
    try:
        try:
            raise ValueError("inner", n)
        except ValueError as e:
            if n > 2:
                raise KeyError("outer") from e
            if n > 1:
                raise KeyError("outer") from None
            raise KeyError("outer")
    except KeyError as e:
        return str(e.__cause__) if e.__cause__ is not None else "no", e.__context__ is None, str(e.__context__)


def a_chain(n):
    try:
        for i in range(n):
            try:
                raise ValueError(i)
            except ValueError as e:
                raise Coded(i) from e
        return 0
    except Coded as e:
        cause = e.__cause__
        return 1 if isinstance(cause, ValueError) else 2


@pytest.mark.parametrize("f", [causes, a_chain], ids=lambda f: f.__name__)
def test_EXC_01_causes(f):
    same(f, *((n,) for n in range(5)))


# -- what __init__ has set -------------------------------------------------------------------------------------------


def attributes(n, x):
    try:
        if n > 2:
            raise NoConvergence(n, x)
        raise NoConvergence(n, x, "elsewhere")
    except NoConvergence as e:
        return e.n, e.residual, e.where, e.bad, e.pair, str(e), e.args


def attributes_of_a_base(n, x):
    try:
        if n > 2:
            raise Located(n, "w")
        raise NoConvergence(n, x)
    except NoConvergence as e:
        return e.n * 2, e.residual, e.where, str(e), e.args[0]


def attribute_of_the_derived(n, x):
    try:
        raise Located(n, "word")
    except Located as e:
        return e.word, e.where, e.n


def attribute_of_a_kept_one(n, x):
    err = None
    try:
        raise NoConvergence(n, x)
    except NoConvergence as e:
        err = e
    return err.n + err.residual


def attribute_through_calls(n, x):
    def iterate(k, y):
        for i in range(k):
            if y > i:
                raise NoConvergence(i, y)
        return y
    best = 0.0
    for k in range(n):
        try:
            best += iterate(k, x)
        except NoConvergence as e:
            best += e.residual * e.n
    return best


@pytest.mark.parametrize("f", [attributes, attributes_of_a_base, attribute_of_the_derived, attribute_of_a_kept_one, attribute_through_calls],
                         ids=lambda f: f.__name__)
def test_EXC_01_attributes(f):
    same(f, *((n, x) for n in (0, 2, 5) for x in (0.5, 2.0)))


def test_EXC_01_attributes_are_seen_in_Python():
    @njit
    def f(n):
        raise NoConvergence(n, 0.25)
    with pytest.raises(NoConvergence) as caught:
        f(7)
    assert (caught.value.n, caught.value.residual, caught.value.where) == (7, 0.25, "solver")


def test_EXC_01_an_attribute_that_nothing_is_known_of_is_refused():
    def f(n):
        try:
            raise Unclear(n)
        except Unclear as e:
            return e.n
    with pytest.raises(errors.UnsupportedError, match="this attribute of a caught exception"):
        njit(f)(1)


# -- generators ------------------------------------------------------------------------------------------------------


def over_a_yield(n):
    def items(k):
        for i in range(k):
            try:
                if i % 2:
                    raise ValueError("odd", i)
                yield i
            except ValueError as e:
                yield -1
                yield e.args[1] * 100
                if i > 4:
                    raise
    out = []
    try:
        for x in items(n):
            out.append(x)
    except ValueError as e:
        out.append(-len(e.args))
    return out


def given_by_a_generator(n):
    def problems(k):
        for i in range(k):
            try:
                if i % 3 == 0:
                    raise Coded("three", i)
            except Coded as e:
                yield e
    return [e.args[1] for e in problems(n)], [str(e) for e in problems(n)]


@pytest.mark.parametrize("f", [over_a_yield, given_by_a_generator], ids=lambda f: f.__name__)
def test_EXC_01_in_generators(f):
    same(f, *((n,) for n in (0, 1, 3, 8)))


def test_EXC_01_a_generator_for_python_keeps_its_exception_over_calls():
    def items(n, word):
        for i in range(n):
            try:
                raise ValueError(word, i)
            except ValueError as e:
                yield len(e.args[0])
                gc_free = str(e)
                yield len(gc_free)
                if i == 2:
                    raise
    got = []
    for f in (items, njit(items)):
        seen = []
        try:
            for x in f(4, "grüße" * 3):
                seen.append(x)
                gc.collect()
        except ValueError as e:
            seen.append(e.args)
        got.append(seen)
    assert got[0] == got[1]


# -- memory ------------------------------------------------------------------------------------------------------------


def test_MEM_01_kept_exceptions_and_their_texts_go():
    import resource

    @njit
    def f(n, word):
        last = None
        for i in range(n):
            try:
                raise Coded(word + "!", i)
            except Coded as e:
                last = e
        return last is None
    f(1000, "w")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    f(20000, "w")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16000


def test_EXC_01_nogil_and_kept():
    @njit(nogil=True)
    def f(n):
        err = None
        try:
            raise NoConvergence(n, 2.0)
        except NoConvergence as e:
            err = e
        return err.n, str(err), err.bad
    assert f(3) == (3, "no convergence after 3 steps", True)


def test_EXC_01_kept_from_the_disk_cache(tmp_path):
    import os
    import subprocess
    import sys
    program = tmp_path / "program.py"
    program.write_text("""
from quern import njit
@njit(cache=True)
def f(n):
    errs = []
    for i in range(n):
        try:
            raise ValueError("text", i)
        except ValueError as e:
            errs.append(e)
    return errs
print(f(2), sum(f.stats.cache_hits.values()))
""")
    runs = [subprocess.run([sys.executable, str(program)], capture_output=True, text=True,
                           env={**os.environ, "QUERN_CACHE_DIR": str(tmp_path / "store")}).stdout.strip() for _ in range(2)]
    assert runs == ["[ValueError('text', 0), ValueError('text', 1)] 0", "[ValueError('text', 0), ValueError('text', 1)] 1"]


# -- exceptions of Python that compiled code keeps ------------------------------------------------------------------

class Refused(ValueError):
    pass


class Refusing:
    """Stands behind sys.stdout: what is printed becomes an exception, of which it counts those alive."""

    def __init__(self):
        self.alive = weakref.WeakSet()

    def write(self, text):
        e = Refused(text)
        self.alive.add(e)
        raise e

    def flush(self):
        pass


def last_of(n):
    last = None
    for i in range(n):
        try:
            print(i)
        except ValueError as e:
            last = e
    return 0 if last is None else n


def all_of(n):
    kept = []
    for i in range(n):
        try:
            print(i)
        except ValueError as e:
            kept.append(e)
    return kept


@pytest.mark.parametrize("where", ["here", "elsewhere"])
@pytest.mark.parametrize("options", [{}, {"nogil": True}], ids=repr)
@pytest.mark.parametrize("function", [last_of, all_of])
def test_what_is_dropped_goes_however_much_it_is(function, options, where, monkeypatch):
    f = njit(**options)(function)
    f(0)
    out = Refusing()
    monkeypatch.setattr(sys, "stdout", out)
    results = []
    if where == "here":
        results.append(f(300))
    else:
        thread = threading.Thread(target=lambda: results.append(f(300)))
        thread.start()
        thread.join()
        del thread
    monkeypatch.undo()
    assert results[0] == 300 if function is last_of else [type(e) for e in results[0]] == [Refused] * 300
    results.clear()
    gc.collect()
    assert len(out.alive) == 0


# -- exceptions as results --------------------------------------------------------------------------------------------

def one_twice(n):
    kept = []
    try:
        raise Coded(n)
    except Coded as e:
        kept.append(e)
        kept.append(e)
    try:
        raise Coded(n)
    except Coded as e:
        kept.append(e)
    return kept


def made_once(n):
    e = Coded(n)
    return e, (e, 1), [e], Coded(n)


def with_cause(n):
    try:
        try:
            raise KeyError(n)
        except KeyError as first:
            raise Coded(n + 1) from first
    except Coded as e:
        return e


def with_context(n):
    try:
        try:
            raise KeyError(n)
        except KeyError:
            raise Coded(n + 1)
    except Coded as e:
        return [e]


def test_one_exception_of_a_result_is_one_object():
    xs = njit(one_twice)(3)
    assert xs[0] is xs[1] and xs[1] is not xs[2] and xs[0].args == (3,)
    e, (inner, _), (listed,), other = njit(made_once)(4)
    assert e is inner and e is listed and e is not other and e.args == (4,)
    again = njit(made_once)(4)
    assert again[0] is not e


@pytest.mark.parametrize("function", [with_cause, with_context])
def test_what_came_before_is_there_in_a_result(function):
    assert shape(njit(function)(3)) == shape(function(3))


def test_results_of_several_threads_keep_their_exceptions_apart():
    """The class of an exception runs code of the program, in which another thread makes its result and ends later."""
    entered, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    class Waits(Exception):
        def __init__(self, n):
            super().__init__(n)
            if n == 1:
                entered.set()
                assert go_on.wait(30)
            elif n == 2:
                go_on.set()
                assert ended.wait(30)

    @njit
    def kept(n):
        found = None
        try:
            raise Waits(n)
        except Waits as e:
            found = e
        return found, found

    @njit
    def several(n):
        for k in range(n):
            try:
                raise ValueError(k)
            except ValueError as e:
                yield e, e

    kept(0), list(several(1))
    results = {}

    def call(n):
        results[n] = kept(n)
        if n == 1:
            ended.set()

    first = threading.Thread(target=call, args=(1,))
    first.start()
    assert entered.wait(30)
    second = threading.Thread(target=call, args=(2,))
    second.start()
    first.join(60), second.join(60)
    for n in (1, 2):
        assert results[n][0] is results[n][1] and results[n][0].args == (n,)
    assert [a.args for a, _ in several(100)] == [(k,) for k in range(100)]
