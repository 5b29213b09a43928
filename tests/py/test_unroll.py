"""Loops over tuples whose items have types of their own: each round is compiled for its item."""
import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected  # noqa: F401

from quern import cuda, errors, literal_unroll, njit

HETEROGENEOUS = (1, 2.5, "abc", True, None)


def numbers_and_tuples():
    s = 0.0
    for k in literal_unroll((1, 2.5, (1, 2))):
        if isinstance(k, tuple):
            s += k[0]
        else:
            s += k
    return s


def without_a_word(t):
    n = 0
    for x in t:
        n += len(x)
    return n


def nested(t):
    n = 0
    for i in range(3):
        for x in literal_unroll(t):
            if i == 1:
                continue
            for y in literal_unroll((x, 2, "a")):
                if isinstance(y, str):
                    break
                n += int(y) * 2
        else:
            n += 100
    return n


def with_handlers(t):
    out = []
    for x in literal_unroll(t):
        try:
            if isinstance(x, int):
                out.append(10 // x)
            else:
                out.append(int(x[0]))
        except ZeroDivisionError:
            out.append(-1)
        finally:
            out.append(100)
    return out


def returns_inside(t):
    n = 0
    for x in literal_unroll(t):
        n += 1
        if n > 2:
            return 10 * n + len(str(x))
    return n


def comprehension(t):
    return [str(x) for x in t]


def in_a_closure(t):
    n = 0
    for x in t:
        def f():
            return str(x)
        n += len(f())
    return n


def raises(t):
    n = 0
    for x in t:
        n += len(str(x))
        if n > 3:
            raise ValueError("long", n)
    return n


def a_global(n):
    for x in literal_unroll(HETEROGENEOUS):
        n = n * 10 + len(str(x))
    return n


def twice(t, u):
    n = 0
    for x in t:
        for y in u:
            n = n * 3 + len(str(x)) + len(str(y))
    for y in u:
        n -= len(str(y))
    return n


def last_item(t):
    s = ""
    for x in t:
        s = s + str(x)
    return s + "!" + str(x)


def generator_inside(t):
    def items(u):
        for x in u:
            yield str(x)
    s = ""
    for x in items(t):
        s += x
    return s


@pytest.mark.parametrize("f, args", [
    (numbers_and_tuples, ()), (without_a_word, ((np.zeros(3), "abc", (1, 2), [1, 2]),)), (without_a_word, (((1,), (2, 3)),)),
    (nested, ((1, 2.5, True),)), (with_handlers, ((5, 0, "7", np.ones(2)),)), (returns_inside, ((1, "a", 2.5, None),)),
    (returns_inside, ((1, "a"),)), (comprehension, ((1, 2.5, "a"),)), (in_a_closure, ((1, "abc", 2.5),)), (a_global, (1,)),
    (twice, ((1, "a"), ("b", 2, None))), (last_item, ((1, 2, "x"),)), (generator_inside, ((1, 2.5, "c"),)), (raises, ((1, "a"),)),
], ids=lambda x: getattr(x, "__name__", ""))
def test_as_cpython(f, args):
    assert njit(f)(*args) == f(*args)


def test_an_exception():
    with pytest.raises(ValueError, match="long") as caught:
        njit(raises)((1, "abc", None))
    assert caught.value.args == ("long", 4)


def test_one_function_for_tuples_of_several_lengths():
    g = njit(without_a_word)
    assert g(("a", (1, 2))) == 3
    assert g(("a", (1, 2), [1], np.ones(4))) == 8
    assert g(("a", (1,))) == 2

    @njit
    def both(n):
        s = g2(("a", 1)) + g2((1, "b", 2.5)) + g2((1, 2, 3, 4))
        return s

    @njit
    def g2(t):
        n = 0
        for x in t:
            n += len(str(x))
        return n

    assert both(1) == 2 + 5 + 4


def test_names_of_fields():
    @njit
    def f(a):
        s = 0.0
        for name in literal_unroll(("x", "y")):
            s += a[name].sum()
        return s

    a = np.zeros(3, np.dtype([("x", "f8"), ("y", "i4")]))
    a["x"], a["y"] = [1, 2, 3], [4, 5, 6]
    assert f(a) == 21.0


def test_functions_and_arrays_side_by_side():
    @njit
    def double(x):
        return 2 * x

    @njit
    def total(x):
        return x.sum()

    @njit
    def f(a, pairs):
        s = 0.0
        for g, x in literal_unroll(pairs):
            s += g(x)
        return s + a

    assert f(1.0, ((double, 3), (total, np.ones(4)))) == 11.0


def test_in_kernels(device):
    @cuda.jit
    def k(out):
        i = 0
        for x in cuda.literal_unroll((1, 2.5, (3, 4.5))):
            if isinstance(x, tuple):
                out[i] = x[0] + x[1]
            else:
                out[i] = x
            i += 1

    out = np.zeros(3)
    k[1, 1](out)
    assert out.tolist() == [1.0, 2.5, 7.5]


def test_errors_name_the_item():
    @njit
    def f(t):
        s = 0
        for x in literal_unroll(t):
            s += x
        return s

    with pytest.raises(errors.TypingError, match="cannot add"):
        f((1, "a"))
    assert "cannot add" in str(f.explain((1, "a")))


def test_too_many_items_are_refused():
    @njit
    def f(t):
        n = 0
        for x in t:
            n += len(str(x))
        return n

    t = tuple(i if i % 2 else str(i) for i in range(300))
    with pytest.raises(errors.TypingError, match="cannot iterate over"):
        f(t)
    t = t[:60]
    assert f(t) == f.py_func(t)
