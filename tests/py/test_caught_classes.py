"""type(e), its name, and attributes of caught exceptions in compiled code, against CPython."""
import numpy as np
import pytest

from quern import errors, njit


class Failed(Exception):
    limit = 7
    word = "late"


class FailedAgain(Failed):
    pass


class WithInit(Exception):
    code = 1

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def raised(n):
    if n == 0:
        raise Failed("a", n)
    if n == 1:
        raise FailedAgain("b", n)
    if n == 2:
        raise ValueError("c", n)
    return np.zeros(n)[n]


def is_the_class(n):
    try:
        raised(n)
    except Exception as e:
        return type(e) is Failed, type(e) is not FailedAgain, type(e) == ValueError, type(e) != IndexError, type(e) is Exception
    return False, False, False, False, False


def is_one_of(n):
    try:
        raised(n)
    except Exception as e:
        cls = type(e)
        return cls in (Failed, ValueError), cls is IndexError, isinstance(e, Failed)
    return False, False, False


def names(n):
    try:
        raised(n)
    except Exception as e:
        return type(e).__name__, e.__class__.__name__ + "!", f"{type(e).__name__}: {len(e.args) if n < 0 else n}"
    return "", "", ""


def decides(n):
    out = []
    for k in range(n):
        try:
            raised(k)
        except Exception as e:
            if type(e) is Failed:
                out.append(1)
            elif e.__class__ == FailedAgain:
                out.append(2)
            else:
                out.append(3)
    return out


def exit_code(n):
    try:
        if n > 1:
            raise SystemExit(n)
    except SystemExit as e:
        return e.code
    return -1


def exit_without(n):
    try:
        raise SystemExit
    except SystemExit as e:
        return e.code is None


def exit_with_two(n):
    try:
        raise SystemExit(n, "a")
    except SystemExit as e:
        return e.code


def system_error(n):
    try:
        raise OSError(n, "text")
    except OSError as e:
        return e.errno, e.strerror


def system_error_of_one(n):
    try:
        raise OSError(n)
    except OSError as e:
        return e.errno is None, e.strerror is None


def stopped(n):
    try:
        raise StopIteration(n)
    except StopIteration as e:
        return e.value


def of_the_class(n):
    try:
        raise Failed(n)
    except Failed as e:
        return e.limit, e.word, e.args[0]


def of_a_derived_class(n):
    try:
        raise FailedAgain(n)
    except Failed as e:
        return e.limit + n


@pytest.mark.parametrize("f", [is_the_class, is_one_of, names, decides, exit_code, exit_without, exit_with_two, system_error,
                               system_error_of_one, stopped, of_the_class, of_a_derived_class], ids=lambda f: f.__name__)
def test_caught(f):
    fast = njit(f)
    for n in range(4):
        assert fast(n) == f(n) and repr(fast(n)) == repr(f(n))


def of_an_init(n):
    try:
        raise WithInit(n)
    except WithInit as e:
        return e.code


def test_what_init_has_set():
    assert njit(of_an_init)(3) == of_an_init(3) == 3


def compares_two(n):
    try:
        raised(n)
    except Exception as e:
        return type(e) is e.__class__


def raises_the_class(n):
    try:
        raised(n)
    except Exception as e:
        raise type(e)


def returns_the_class(n):
    try:
        raised(n)
    except Exception as e:
        return type(e)


@pytest.mark.parametrize("f, message", [(raises_the_class, "as a value"), (compares_two, "as a value"), (returns_the_class, "as a value")],
                         ids=["raised", "two", "returned"])
def test_refused(f, message):
    with pytest.raises(errors.UnsupportedError, match=message):
        njit(f)(1)


# -- tuples of several types -----------------------------------------------------------------------------------


def positions(n):
    t = (1, 2, n, 3, 2)
    return t.index(2), t.index(2, 2), t.index(3, -3, 5), t.count(2), t.count(n), t.index(n, 1)


def positions_in_mixed(n):
    t = (1, 2.5, "a", n, (1, n), "a")
    return t.index("a"), t.index("a", 3), t.count("a"), t.count(2.5), t.index((1, n)), t.index(n)


def position_missing(n):
    return (1, 2.0, n).index(n + 7)


def position_behind(n):
    return (1, n, 5).index(1, 1)


@pytest.mark.parametrize("f", [positions, positions_in_mixed, position_missing, position_behind], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 3, 6])
def test_tuples(f, n):
    def outcome(g):
        try:
            return g(n)
        except ValueError as e:
            return str(e)
    assert outcome(njit(f)) == outcome(f)
