"""objmode: blocks of compiled functions that run in the interpreter."""
import gc
import traceback

import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected  # noqa: F401

import quern
from quern import errors, njit, objmode, prange, types

SEEN = []
FACTOR = 3
number = types.int64


def same(f, *args):
    import copy
    one, two = copy.deepcopy(args), copy.deepcopy(args)
    got, want = f(*one), f.py_func(*two)
    assert repr(got) == repr(want).replace("np.float64(", "(").replace("np.int64(", "(") or np.array_equal(got, want)
    for a, b in zip(one, two):
        assert np.array_equal(a, b)
    return got


@njit
def text_and_back(x):
    with objmode(y="float64"):
        y = float(str(x)) + 1
    return y * 2


@njit
def arrays(x):
    with objmode(y="float64[:]", n="int64"):
        y = np.sort(x)[::-1]
        n = len(set(y.tolist()))
    return y + n


@njit
def changes_an_array(x):
    with objmode():
        x[0] = 99
        x[::2] += 1
    return x.sum()


@njit
def without_a_call(n):
    with objmode:
        SEEN.append(n)
    return n + 1


@njit
def strings(s, n):
    with objmode(r="unicode_type"):
        r = f"{s!r:>10}{n}" if s else ""
    return r + "!", len(r)


@njit
def in_a_loop(n):
    t = 0
    for i in range(n):
        with objmode(t="int64"):
            q = i * 2
            t = t + q * FACTOR
    return t


@njit
def kinds(a, b):
    with objmode(z="complex128", w="boolean", u=types.uint8, t="UniTuple(int64, 2)", p=number, nothing="none"):
        z = complex(a, b)
        w = a > b
        u = 200
        t = (int(a), int(b))
        p = -1
        nothing = None
    return z, w, u, t, p, nothing is None


@njit
def two_names(x):
    y = x
    with objmode():
        x[0] = 5
        y[1] = 6
    return x


@njit
def two_axes(x):
    with objmode(y="float64[:,:]", e="int64[:]"):
        y = np.outer(x, x).T
        e = np.zeros(0, np.int64)
    return y, len(e)


@njit
def two_blocks(x):
    with objmode(a="int64"):
        a = int(str(x) * 2)
    b = a + 1
    with objmode(c="unicode_type"):
        c = hex(b)
    return a, b, c


@njit
def given_when_assigned(n):
    y = -1
    with objmode(y="int64"):
        if n > 2:
            y = n
    return y


@njit
def names_of_its_own(n):
    i = 7
    with objmode(s="int64"):
        s = sum(i * n for i in range(4)) + sum(map(lambda n: n + 1, [1, 2]))
        for k in range(3):
            s += k

        def inner(v, w=n):
            i = v
            return i + w

        s += inner(1)
    return s + i


@njit
def a_list(n):
    with objmode(xs="List(int64)"):
        xs = [k * k for k in range(n)]
    xs.append(-1)
    return xs


@njit
def tuples(t):
    with objmode(y="float64"):
        y = sum(t[0]) + t[1] + (0 if t[2] is None else 1) + len(t[3])
    return y


@njit
def maybe(n):
    with objmode(a="optional(int64)", b="optional(float64[:])", c="Tuple((optional(complex128), unicode_type))"):
        a = None if n == 0 else -n
        b = np.arange(n) / 2 if n % 2 else None
        c = (1j * n if n > 1 else None), str(n)
    return a, 0.0 if b is None else b.sum(), c


@njit
def given_maybe(n):
    x = None
    if n > 1:
        x = n * 0.5
    t = (n, x)
    with objmode(y="float64"):
        y = (-1.0 if x is None else x) + (10.0 if t[1] is None else t[1] * 4)
    return y


@pytest.mark.parametrize("f, args", [
    (maybe, (0,)), (maybe, (1,)), (maybe, (2,)), (maybe, (3,)), (given_maybe, (1,)), (given_maybe, (7,)),
    (text_and_back, (2.5,)), (text_and_back, (3,)), (strings, ("a\u00e9\U0001f600", 3)), (strings, ("", 3)), (in_a_loop, (5,)), (in_a_loop, (0,)),
    (kinds, (1.5, 2.0)), (two_blocks, (17,)), (given_when_assigned, (1,)), (given_when_assigned, (5,)), (names_of_its_own, (3,)),
    (a_list, (4,)), (a_list, (0,)), (tuples, (((1, 2), 2.5, None, "xyz"),))], ids=lambda x: getattr(x, "__name__", ""))
def test_as_in_the_interpreter(f, args):
    assert f(*args) == f.py_func(*args)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "complex64", "bool"])
@pytest.mark.parametrize("layout", ["C", "strided", "reversed"])
def test_arrays_go_in_and_come_back(dtype, layout):
    @njit
    def f(x):
        with objmode(n="int64"):
            n = int(abs(x).sum())
            if x.flags.writeable:
                x[...] = x[::-1].copy()
        return n

    a = np.array([1, 0, 3, 2, 1, 1, 0, 2]).astype(dtype)
    a = a if layout == "C" else a[::2] if layout == "strided" else a[::-1]
    one, two = a.copy() if layout == "C" else a, a.copy()
    assert f(one) == f.py_func(two)
    assert np.array_equal(one, two)


def test_results_that_are_arrays():
    x = np.array([3.0, 1.0, 2.0, 1.0])
    assert np.array_equal(arrays(x), arrays.py_func(x))
    y, n = two_axes(x)
    assert np.array_equal(y, np.outer(x, x)) and n == 0
    assert np.array_equal(two_names(np.zeros(3)), [5, 6, 0])
    for a in (np.arange(5.0), np.arange(10.0)[::2]):
        b = a.copy()
        assert changes_an_array(a) == changes_an_array.py_func(b) and np.array_equal(a, b)


def test_the_interpreter_sees_globals_and_closures():
    def outer(k):
        @njit
        def g(n):
            with objmode(y="UniTuple(int64, 2)"):
                y = (n + k, FACTOR)
            return y
        return g

    assert outer(3)(2) == (5, 3) and outer(4)(2) == (6, 3)
    SEEN.clear()
    assert without_a_call(4) == 5 and SEEN == [4]


def test_what_a_block_keeps_is_a_copy():
    """MEM: memory of compiled code is gone after the call."""
    @njit
    def f(n):
        a = np.ones(n)
        with objmode():
            SEEN.append(a)
        a += 1
        return a.sum()

    SEEN.clear()
    assert f(1000) == 2000.0
    gc.collect()
    assert np.array_equal(SEEN.pop(), np.ones(1000))


def test_read_only_arrays():
    @njit
    def f(x):
        with objmode():
            x[0] = 1
        return 0

    a = np.zeros(3)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(a)


# -- exceptions -----------------------------------------------------------------------------------------


@njit
def raises(n):
    with objmode(y="int64"):
        if n > 2:
            raise KeyError("too big", n)
        y = n
    return y


def test_EXC_an_exception_is_what_the_block_raised():
    assert raises(1) == 1
    with pytest.raises(KeyError) as caught:
        raises(5)
    assert caught.value.args == ("too big", 5)
    text = "".join(traceback.format_exception(caught.value))
    assert "in raises" in text and 'raise KeyError("too big", n)' in text
    assert raises(2) == 2


def test_EXC_compiled_code_catches_it():
    @njit
    def f(n):
        try:
            with objmode(y="int64"):
                y = 1 // n
        except Exception:
            y = -1
        return y

    assert f(0) == -1 and f(1) == 1


def test_EXC_ctrl_c_in_a_block():
    @njit
    def f():
        with objmode():
            raise KeyboardInterrupt
        return 1

    with pytest.raises(KeyboardInterrupt):
        f()


@pytest.mark.parametrize("declared, value, error", [
    ("int64", "a", TypeError), ("int8", 300, OverflowError), ("uint64", -1, OverflowError), ("float64", "x", ValueError),
    ("float64[:]", [1.0], TypeError), ("float64[:]", np.zeros(2, np.float32), TypeError), ("float64[:]", np.zeros((2, 2)), TypeError),
    ("unicode_type", 3, TypeError), ("boolean", 1, TypeError), ("UniTuple(int64, 2)", (1, 2, 3), TypeError), ("none", 1, TypeError),
    ("List(int64)", (1,), TypeError)])
def test_results_are_tested_against_their_types(declared, value, error):
    @njit
    def f():
        with objmode(y=declared):
            y = value
        return y

    with pytest.raises(error, match="objmode: y:|unbox"):
        f()


# -- refusals -------------------------------------------------------------------------------------------


def returns(x):
    with objmode(y="int64"):
        y = x
        return y


def breaks(n):
    for i in range(n):
        with objmode():
            break
    return n


def positional(n):
    with objmode("int64"):
        y = n
    return n


def undeclared(n):
    with objmode():
        y = n
    return y


def in_an_inner_function(n):
    def g(m):
        with objmode(y="int64"):
            y = m
        return y
    return g(n)


@pytest.mark.parametrize("f, words", [
    (returns, "cannot be left by `return`"), (breaks, "cannot be left by `break`"), (positional, "Positional arguments are not allowed"),
    (undeclared, "the type of 'y'"), (in_an_inner_function, "a with statement")], ids=lambda x: getattr(x, "__name__", ""))
def test_blocks_that_are_refused(f, words):
    g = njit(f)  # an error of calls, not of imports
    with pytest.raises(errors.UnsupportedError, match=words) as caught:
        g(1)
    assert "test_objmode.py:" in str(caught.value)


@pytest.mark.parametrize("value, error", [("a", TypeError), (2**63, OverflowError)])
def test_results_that_may_be_none_are_tested(value, error):
    @njit
    def f():
        with objmode(y="optional(int64)"):
            y = value
        return y

    with pytest.raises(error, match="objmode: y:"):
        f()


@pytest.mark.parametrize("step", [1, 2])
def test_arrays_that_may_be_none(step):
    @njit
    def f(n, x):
        a, word = None, None
        if n > 1:
            a, word = x[::step], "abc" * n
        with objmode(y="int64"):
            y = 0 if a is None else len(a) + len(word)
            if a is not None:
                a[0] = n
        return y

    x = np.zeros(4)
    assert f(1, x) == 0 and x[0] == 0
    assert f(3, x) == 4 // step + 9 and x[0] == 3


def test_types_that_are_refused():
    @njit
    def f(x):
        with objmode(y="int64"):
            y = len(x)
        return y

    with pytest.raises(errors.TypingError, match="no argument can be passed that is of type"):
        f([1, 2])

    @njit
    def g(x):
        with objmode(y="floot"):
            y = x
        return y

    with pytest.raises(errors.TypingError, match="y='floot'.*'floot' is not defined"):
        g(1)


def test_no_source():
    space = {"objmode": objmode, "njit": njit}
    text = "@njit\ndef f(x):\n    with objmode(y='int64'):\n        y = x\n    return y"
    exec(compile(text, "<nowhere>", "exec"), space)  # "<string>" is what `python -c` runs, whose text 3.13 may know
    with pytest.raises(errors.UnsupportedError, match="the source of the function is needed"):
        space["f"](1)


# -- where it stands -----------------------------------------------------------------------------------


@njit
def helper(x):
    with objmode(y="float64"):
        y = x + 1
    return y


def test_in_functions_that_are_called():
    @njit
    def f(n):
        s = 0.0
        for i in range(n):
            s += helper(i * 1.0)
        return s

    assert f(10) == 55.0


def test_in_a_parallel_loop():
    @njit(parallel=True)
    def f(n):
        s = 0.0
        for i in prange(n):
            s += helper(i * 1.0)
        return s

    assert f(300) == 300 * 301 / 2


def test_a_block_that_calls_compiled_code_with_a_block():
    @njit
    def f(x):
        with objmode(y="float64"):
            y = helper(x) + helper(x + 1)
        return y

    assert f(1.0) == 5.0


def test_nogil_and_jit():
    @njit(nogil=True)
    def f(x):
        with objmode(y="int64"):
            y = len(str(x))
        return y

    @quern.jit
    def g(x):
        with objmode(y="int64"):
            y = len(str(x))
        return y

    assert f(12345) == g(12345) == 5


def test_in_an_overload():
    def width(x):
        return len(str(x))

    @quern.extending.overload(width)
    def _(x):
        def impl(x):
            with objmode(y="int64"):
                y = len(str(x))
            return y
        return impl

    assert njit(lambda x: width(x) * 2)(123) == 6


def test_defaults_and_keywords():
    @njit
    def f(x, k=2, *, m=3):
        with objmode(y="int64"):
            y = x * k * m
        return y

    assert f(5) == 30 and f(5, 1) == 15 and f(5, m=1) == 10


def test_in_a_registered_function_of_a_closure():
    """It stays the function that it is, and callers of it run the block."""
    def made(function):
        @quern.extending.register_jitable
        def value(*args):
            with objmode(out="float64"):
                out = function(*args)
            return out
        return value
    total, largest = made(lambda *a: sum(a) * 0.5), made(max)
    f = njit(lambda x, y: total(x, y) + largest(x, y, 2.0))
    assert type(total).__name__ == "function" and total(1.0, 2.0) == 1.5
    assert f(1.0, 2.5) == 1.75 + 2.5 and f(7.0, 2.0) == 4.5 + 7.0

    @quern.extending.register_jitable
    def wrong(x):
        with objmode("float64"):
            y = x
        return y
    with pytest.raises(errors.QuernError, match="Positional arguments are not allowed"):
        njit(lambda x: wrong(x))(1.0)
