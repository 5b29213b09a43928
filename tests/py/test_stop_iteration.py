"""A StopIteration that leaves a generator is the cause of a RuntimeError (PEP 479), wherever it was raised; against CPython."""
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit


class Over(StopIteration):
    pass


def bare(n):

    def g():
        yield 1
        raise StopIteration
    return list(g())


def with_arguments(n):

    def g():
        yield 1
        raise StopIteration(n, "a")
    return [x for x in g()]


def from_another(n):

    def g():
        yield 1
        try:
            n / (n - 3)
        except ZeroDivisionError as e:
            raise StopIteration(n) from e
    return [x for x in g()]


def of_next(n):

    def g():
        it = iter([1])
        while True:
            yield next(it)
    return list(g())


def caught_outside(n):

    def g():
        yield 1
        raise StopIteration(n)
    try:
        return list(g())
    except RuntimeError as e:
        return [len(e.args)]


def in_a_handler(n):

    def g():
        yield 1
        try:
            n / (n - 3)
        except ZeroDivisionError as e:
            raise StopIteration(n)
    return [x for x in g()]


def caught_inside(n):

    def g():
        yield 1
        try:
            raise StopIteration(n)
        except StopIteration:
            yield 2
    return [x for x in g()]


def of_a_function(n):

    def g():
        yield 1

        def h():
            raise StopIteration(n)
        h()
    return [x for x in g()]


def passed_on(n):

    def h():
        yield 1
        raise StopIteration(n)

    def g():
        yield from h()
    return [x for x in g()]


def derived(n):

    def g():
        yield 1
        raise Over(n)
    return list(g())


def behind_finally(n):

    def g():
        try:
            yield 1
            raise StopIteration(n)
        finally:
            print("end")
    return list(g())


def behind_throw(n):

    def g():
        try:
            yield 1
        except ValueError:
            raise StopIteration(n)
    it = g()
    next(it)
    return it.throw(ValueError(2))


def thrown_in(n):

    def g():
        yield 1
    it = g()
    next(it)
    return it.throw(StopIteration(4))


def of_the_caller(n):

    def g():
        yield 1
    it = g()
    next(it)
    return next(it)


def of_pairs(n):

    def pairs(xs):
        it = iter(xs)
        while True:
            yield (next(it) + next(it))
    r = []
    try:
        for p in pairs([1, 2, 3, 4, 5]):
            r.append(p)
    except RuntimeError as e:
        r.append(len(str(e)))
    return r


def of_a_generator_expression(n):

    def g():
        yield next((x for x in range(n) if x > 99))
    return list(g())


def summed(n):
    return sum((next(iter([k][k:])) for k in range(n)))


def handled_by_another(n):

    def h():
        yield 1
        raise StopIteration(7)

    def g():
        try:
            yield from h()
        except RuntimeError:
            yield 9
    return list(g())


def not_handled(n):

    def g():
        try:
            yield 1
            raise StopIteration(7)
        except ValueError:
            yield 9
    return list(g())


ALL = [bare, with_arguments, from_another, of_next, caught_outside, in_a_handler, caught_inside, of_a_function, passed_on, derived,
       behind_finally, behind_throw, thrown_in, of_the_caller, of_pairs, of_a_generator_expression, summed, handled_by_another, not_handled]


def chain(error):
    """What is known of an exception, with its causes and contexts."""
    return error and (type(error), error.args, error.__suppress_context__, chain(error.__cause__), chain(error.__context__))


def outcome(f, n):
    try:
        return f(n)
    except Exception as error:  # noqa: BLE001
        return chain(error)


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_what_leaves_a_generator(f, capsys):
    compiled = njit(f)
    for n in (3, 4, 1):
        want = outcome(f, n), capsys.readouterr().out
        assert (outcome(compiled, n), capsys.readouterr().out) == want


@njit
def first_of(xs):
    it = iter(xs)
    yield next(it)
    yield next(it)


def test_python_is_told():
    assert list(first_of([1, 2, 3])) == [1, 2]
    with pytest.raises(RuntimeError, match="generator raised StopIteration") as error:
        list(first_of([1]))
    assert chain(error.value.__cause__) == chain(StopIteration())


def test_the_place_is_that_of_the_statement():
    @njit
    def g(n):
        yield 1
        if n > 2:
            raise StopIteration(n)
        yield 2
    with pytest.raises(RuntimeError) as error:
        list(g(3))
    lines = []
    at = error.value.__traceback__
    while at:
        lines.append((at.tb_frame.f_code.co_name, at.tb_lineno))
        at = at.tb_next
    assert lines[-1] == ("g", g.py_func.__code__.co_firstlineno + 4)
