"""Generators in compiled code, against CPython: what they yield, in which order, and what they hold between two items.

Every test ends with as many objects of compiled code as it began with."""
import numpy as np
import pytest
from spoken import same
from objects import MEM_01_nothing_is_left, collected, live  # noqa: F401

from quern import errors, njit, prange


def count(n):
    i = 0
    while i < n:
        yield i
        i += 1


def pairs(a, k):
    for i in range(len(a)):
        yield i, a[i] * k
        yield -i, a[i]


def chain(n):
    yield 0.5
    yield from halves(n)
    yield from np.arange(n) * 0.25
    yield -1.0


def halves(n):
    for i in range(n):
        yield i / 2


def walk(k):
    if k > 0:
        yield k
        yield from walk(k - 1)
        yield from walk(k - 2)


def words(n):
    for i in range(n):
        yield str(i) + "x"


def views(n):
    big = np.zeros(n)
    for i in range(n):
        big[i] = i
        yield big[:i + 1]


def lists(n):
    xs = []
    for i in range(n):
        xs.append(i)
        yield xs


def early(n):
    for i in range(n):
        if i == 3:
            return
        yield i


def elements(a):
    held = [len(a)]
    for i in range(10):
        yield a[i] + held[0]


def sent(n):
    x = n * 2.0
    y = np.ones(n)
    got = yield x
    if got is None:
        yield y.sum()
    for i, v in enumerate(y):
        z = v * i
        yield z + x


def nothing(n):
    if n < 0:
        yield n


def swapped(n):
    """The values of variables meet on several ways round a yield."""
    a, b = 0, 1
    for i in range(n):
        if i % 3 == 0:
            yield a
            a, b = b, a + b
        elif i % 3 == 1:
            c = a * 2
            yield b + c
        else:
            a = a + 1


# -- from compiled code --------------------------------------------------------------------------------


@njit
def in_a_loop(n):
    s = 0
    for x in count(n):
        s = s * 10 + x
    return s


@njit
def whole(n):
    return sum(count(n)), list(count(n)), [x * x for x in count(n)], {x: 1 for x in count(n)}, list(swapped(n)), list(walk(n))


@njit
def of_tuples(n):
    a, s = np.arange(n + 0.0), 0.0
    for i, v in pairs(a, 2.0):
        s += i * v
    return s


@njit
def delegated(n):
    return list(chain(n))


@njit
def text(n):
    out = ""
    for s in words(n):
        out += s
    return out


@njit
def arrays(n):
    t = 0.0
    for a in views(n):
        t += a.sum()
    return t


@njit
def stopped(n):
    t = 0.0
    for a in views(n + 4):
        if len(a) == 3:
            break
        t += a.sum()
    for xs in lists(n + 2):
        if len(xs) == 2:
            return t + xs[1]
    return t


@njit
def returns(n):
    return list(early(n)), list(nothing(n)), list(sent(n))


@njit
def asked(n):
    g = count(n)
    return next(g, -3), next(g, -1), next(g, -1), next(g, -5), [x for x in g]


@njit
def beside(n):
    return [(a, b) for a, b in zip(count(n), halves(n + 1))], [(i, x) for i, x in enumerate(count(n))]


@njit
def two_at_once(n):
    a, b, s = count(n), count(n), 0
    for x in a:
        s = s * 10 + x + next(b)
    return s


@njit
def made_inside(n):
    def g(k):
        for i in range(k):
            yield i + n

    def later(k):
        return g(k)
    return sum(g(3)), list(later(2))


@njit
def one_in_a_variable(n):
    g = (i * i for i in range(n))
    return list(g), list(g)


@pytest.mark.parametrize("f", [in_a_loop, whole, of_tuples, delegated, text, arrays, stopped, returns, asked, beside, two_at_once,
                               made_inside, one_in_a_variable], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_L21_generators(f, n):
    same(f, n)


@njit
def expressions(n):
    return (sum(i * n for i in range(n)), max(x + 1 for x in [3, n]), any(i == 2 for i in range(n)), all(i < 3 for i in range(n)),
            list(i for i in range(n) if i % 2), sorted(-i for i in range(n)), sum(i * j for i in range(n) for j in range(i)))


@njit
def expressions_in_loops(n):
    t = 0
    for k in range(n):
        t += sum(i * k for i in range(n))
    return t


@pytest.mark.parametrize("n", [0, 1, 4])
def test_generator_expressions(n):
    same(expressions, n)
    same(expressions_in_loops, n)


# -- MEM: what is alive across yields ----------------------------------------------------------------------


def test_MEM_01_an_exception_in_a_generator():
    @njit
    def f(n):
        t = 0.0
        try:
            for v in elements(np.ones(n)):
                t += v
        except IndexError:
            return -t
        return t

    @njit
    def g(n):
        return sum(elements(np.ones(n)))
    before = live()
    assert f(3) == f.py_func(3) and f(12) == f.py_func(12)
    for _ in range(20):
        with pytest.raises(IndexError):
            g(3)
    assert live() == before


def test_MEM_01_an_exception_in_the_loop_drops_the_generator():
    @njit
    def f(n):
        for a in views(n):
            if len(a) == 2:
                raise ValueError("two")
        return 0
    before = live()
    for _ in range(20):
        with pytest.raises(ValueError, match="two"):
            f(5)
    assert live() == before


def test_MEM_07_an_argument_is_held_once():
    @njit
    def f(a):
        s = 0.0
        for i, v in pairs(a, 1.0):
            s += v
            if i == 2:
                break
        return s
    import sys
    a = np.arange(9.0)
    before = sys.getrefcount(a)
    for _ in range(10):
        assert f(a) == f.py_func(a)
    assert sys.getrefcount(a) == before


def test_a_generator_that_has_raised_is_at_its_end():
    @njit
    def f(a):
        g = elements(a)
        t = next(g)
        for _ in range(3):
            try:
                t += next(g)
            except IndexError:
                t += 100
        return t, next(g, -1.0)
    same(f.py_func, np.ones(2))


def ends(n, log):
    yield n
    log[0] += 1
    if log[0] > 1:
        yield 100


def ends_with_list(n, log):
    held = [n]
    yield held[0]
    log[0] += 1
    if log[0] > 1:
        yield 100


@pytest.mark.parametrize("generator", [ends, ends_with_list], ids=lambda g: g.__name__)
def test_a_generator_that_has_ended_does_not_go_on(generator):
    @njit
    def f(log):
        g = generator(7, log)
        return [next(g, -1), next(g, -2), next(g, -3), next(g, -4)]
    log = np.zeros(1, np.int64)
    assert f(log) == [7, -2, -3, -4] and log[0] == 1


def test_a_generator_of_numbers_that_has_raised_does_not_go_on():
    def shares(n):
        for i in range(n, -2, -1):
            yield 12 // i

    @njit
    def f(n):
        g, out = shares(n), [0]
        for _ in range(4):
            try:
                out.append(next(g, -1))
            except ZeroDivisionError:
                out.append(-100)
        return out
    assert f(1) == f.py_func(1) == [0, 12, -100, -1, -1]


def test_EXC_01_no_stop_iteration_leaves_a_generator():
    def firsts(n):
        it = iter(range(n))
        while True:
            yield next(it)

    def caught(n):
        it = iter(range(n))
        while True:
            yield tried(it)

    def tried(it):
        try:
            return next(it)
        except StopIteration:
            return -1

    @njit
    def f(n):
        s = 0
        for x in firsts(n):
            s += x
        return s

    @njit
    def g(n):
        s = 0
        for x in caught(n):
            if x < 0:
                return s
            s += x
        return s
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        f(3)
    assert g(4) == 6


def test_generators_in_parallel_loops():
    @njit(parallel=True)
    def f(n):
        out = np.zeros(n)
        for i in prange(n):
            out[i] = sum(count(i))
        return out
    assert np.array_equal(f(50), [sum(range(i)) for i in range(50)])


# -- what generators return ----------------------------------------------------------------------------------


def total(n):
    s = 0
    for i in range(n):
        s += i
        yield i
    return s


def two_totals(n):
    a = yield from total(n)
    b = yield from total(n + 1)
    yield a * 1000 + b
    return str(a) + "x"


def half_if_large(n):
    yield n
    if n > 2:
        return n * 0.5


def collected_items(n):
    xs = []
    for i in range(n):
        xs.append(i)
        yield i
    return xs


def returns_many(n):
    xs = yield from collected_items(n)
    ys = yield from collected_items(n)
    none = yield from [1, 2]
    text = yield from two_totals(n)
    half = yield from half_if_large(n)
    yield len(xs) + len(ys) + (none is None)
    if half is not None:
        yield int(half)
    return xs, ys, text


def factorial(n):
    if n == 0:
        return 1
    yield n
    k = yield from factorial(n - 1)
    return k * n


def counts_its_ends(n, log):
    try:
        x = yield from total(n)
        yield x
        return x + 1
    finally:
        log[0] += 1


def of_one_with_handlers(n, log):
    r = yield from counts_its_ends(n, log)
    yield r * 7


@njit
def results_in_compiled_code(n):
    log = np.zeros(1)
    return list(returns_many(n)), list(factorial(n)), sum(of_one_with_handlers(n, log)), log[0]


def to_its_end(g):
    out = []
    while True:
        try:
            out.append(next(g))
        except StopIteration as e:
            return out, e.value, e.args, next(g, "end")


@pytest.mark.parametrize("n", [0, 1, 4])
def test_L21_return_values(n):
    same(results_in_compiled_code, n)
    for f in (total, two_totals, half_if_large, collected_items, returns_many, factorial):
        assert to_its_end(njit(f)(n)) == to_its_end(f(n))
    assert to_its_end(njit(counts_its_ends)(n, np.zeros(1))) == to_its_end(counts_its_ends(n, np.zeros(1)))


def test_return_values_of_different_types():
    def g(n):
        yield 1
        if n:
            return "text"
        return 1.5
    with pytest.raises(errors.TypingError, match="different types"):
        list(njit(g)(2))


# -- what is refused -----------------------------------------------------------------------------------------


def in_finally(n):
    try:
        yield n
    finally:
        yield -n


def test_a_yield_in_finally():
    def ordered(n):
        total = 0
        for x in in_finally(n):
            total = total * 10 + x
        return total, sum(in_finally(n))

    assert njit(ordered)(3) == ordered(3)


def of_two_types(n):
    yield n
    yield "a"


@pytest.mark.parametrize("generator, message, line", [
    (of_two_types, "different types", 2), (lambda n: (yield n), "", 0)], ids=["types", "none"])
def test_refused(generator, message, line):
    @njit
    def f(n):
        return sum(generator(n))
    if not message:
        assert f(3) == 3
        return
    with pytest.raises((errors.TypingError, errors.UnsupportedError), match=message) as refused:
        f(3)
    assert f"test_generators.py:{generator.__code__.co_firstlineno + line}:" in str(refused.value)


def test_a_generator_among_others_is_no_result():
    """Python gets one that is the result: test_generator_sends.py."""
    @njit
    def f(n):
        return count(n), n
    with pytest.raises(errors.TypingError, match="cannot return"):
        f(3)


def of_displays(n):
    for i in range(n):
        yield [i, n]


def test_displays_that_are_yielded_are_lists():
    @njit
    def f(n):
        xs = list(of_displays(n))
        xs[0].append(7)
        return xs
    same(f, 2)
    assert list(njit(of_displays)(2)) == [[0, 2], [1, 2]]


def test_a_generator_of_a_variable_that_changes():
    """Python's generator sees the last value."""
    @njit
    def f(n):
        g = (i * n for i in range(3))
        n = 5
        return sum(g)
    assert f(3) == f.py_func(3)


# -- lists that variables are given anew ------------------------------------------------------------------------


@njit
def grown(n):
    xs, ys, zs = [n], [], [0.5]
    for i in range(n):
        if i % 2 == 0:
            xs = xs + [i]
            ys = ys + [i * 0.5]
        else:
            zs = zs + zs
    return xs, ys, zs


def test_lists_that_grow_by_assignment_on_some_paths():
    for n in range(6):
        same(grown, n)


@pytest.mark.optimised
def test_only_who_asks_for_items_asks_for_interruption():
    @njit
    def each(n):
        for i in range(n):
            yield i * 0.5

    @njit
    def walk(n):
        s = 0.0
        for x in each(n):
            s += x
        return s

    assert walk(10) == 22.5
    text = walk.inspect_llvm(walk.signatures[0])
    assert text.count("call i32 @quern_poll") == 1


def failing(n):
    if n > 3:
        raise KeyError(n)
    yield n
    yield 5 // (n - 3)


def used_up(n):
    it = count(n)
    found = 2 in it
    return found, list(it)


def in_iterators(n):
    return (9 in (i * i for i in range(n)), 2.0 in map(lambda x: x / 2, range(n)), "b" in (c for c in "abc"), 5 not in count(n),
            (1, 1) in enumerate([0, 1]), (1, 2) in zip(range(n), range(n)), 3 in reversed([1, 2, 3]), None in count(n), 4 in filter(lambda x: x > 2, range(n)))


def in_failing(n):
    try:
        return n in failing(n), 7 in failing(n)
    except ZeroDivisionError:
        return False, False


@pytest.mark.parametrize("f", [used_up, in_iterators, in_failing], ids=lambda f: f.__name__)
def test_in_uses_an_iterator_up_to_what_it_finds(f):
    for n in (0, 2, 3, 5):
        try:
            wanted = f(n)
        except KeyError as error:
            with pytest.raises(KeyError, match=str(error)):
                njit(f)(n)
        else:
            assert njit(f)(n) == wanted


def barren(n):
    for i in range(n):
        if 1 > 2:
            yield float(i)
        print("round", i)
    if n > 3:
        raise ValueError("many")


def over_nothing(n):
    return (sum(i for i in range(n) if False), list(i for i in range(n) if 1 > 2), next((i + 1 for i in range(n) if False), 5), any(i > 2 for i in range(n) if False),
            max((i for i in range(n) if False), default=3), [x * 2 for x in (i for i in range(n) if False)])


def over_barren(n):
    text = "a"
    try:
        for x in barren(n):
            for y in barren(n):
                text += x * y
        else:
            text += "else"
    except ValueError as error:
        text += str(error)
    return text


@pytest.mark.parametrize("f", [over_nothing, over_barren], ids=lambda f: f.__name__)
def test_generators_whose_yields_are_never_reached_run_to_their_end(f, capsys):
    for n in (0, 2, 5):
        wanted, printed = f(n), capsys.readouterr().out
        assert njit(f)(n) == wanted and capsys.readouterr().out == printed
