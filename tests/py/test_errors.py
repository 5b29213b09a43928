"""What a user reads and catches when something is wrong."""
import re
import traceback
import warnings

import numpy as np
import pytest

from quern import errors, int64, njit


def test_D27_hierarchy():
    for name in ("TypingError UnsupportedError UnsupportedBytecodeError LoweringError RequireLiteralValue "
                 "ForceLiteralArg NumbaTypeError NumbaValueError NumbaIndexError NumbaRuntimeError "
                 "NumbaAssertionError CudaSupportError CudaAPIError DeviceError LaunchError").split():
        assert issubclass(getattr(errors, name), errors.NumbaError), name
    for name in ("NumbaPerformanceWarning NumbaDeprecationWarning NumbaPendingDeprecationWarning DeviceWarning "
                 "NumbaParallelSafetyWarning NumbaTypeSafetyWarning NumbaExperimentalFeatureWarning "
                 "NumbaInvalidConfigWarning NumbaPedanticWarning NumbaIRAssumptionWarning NumbaDebugInfoWarning "
                 "NumbaSystemWarning").split():
        assert issubclass(getattr(errors, name), errors.NumbaWarning), name
    assert issubclass(errors.TypingError, TypeError) and issubclass(errors.LaunchError, TypeError)
    assert str(errors.CudaAPIError(700, "illegal address")) == "[700] illegal address"


def test_refusal_shows_the_place():
    @njit
    def outer(x):
        y = x + 1
        return y + "text"

    with pytest.raises(errors.TypingError) as caught:
        outer(1)
    e = caught.value
    line = outer.py_func.__code__.co_firstlineno + 3
    assert e.filename == __file__ and e.lineno == line and re.fullmatch(r"E\d{4}", e.code) and e.column == 15
    text = str(e)
    assert f"test_errors.py:{line}:" in text and 'return y + "text"' in text and "^" in text and e.code in text
    assert "while compiling outer(int)" in text


def test_refusal_in_a_callee_names_the_call():
    def inner(v):
        return v + "x"

    @njit
    def outer(v):
        return inner(v)

    with pytest.raises(errors.TypingError) as caught:
        outer(2.5)
    assert caught.value.lineno == inner.__code__.co_firstlineno + 1
    assert "inner" in str(caught.value) and "outer" in str(caught.value)


def test_unsupported_construct():
    def f(x):
        with open("x"):
            return x

    with pytest.raises(errors.UnsupportedError) as caught:
        njit(f)(1)
    assert caught.value.lineno == f.__code__.co_firstlineno + 1


def test_undefined_name():
    with pytest.raises(errors.TypingError, match="'not_there' is not defined"):
        njit(lambda x: not_there + x)(1)  # noqa: F821


def test_empty_cell():
    def make():
        def f(x):
            return x + later

        compiled = njit(f)
        with pytest.raises(errors.TypingError, match="later"):
            compiled(1)
        later = 3
        return compiled

    assert make()(1) == 4


def test_an_exception_of_the_resolver_passes_through():
    class Trouble:
        def __getattr__(self, name):
            raise RuntimeError("boom " + name)

    trouble = Trouble()
    with pytest.raises((RuntimeError, errors.TypingError)):
        njit(lambda x: x + trouble)(1)


def test_EXC_02_traceback_of_a_run_time_error():
    @njit
    def f(a, i):
        total = 0.0
        total += a[i]
        return total

    with pytest.raises(IndexError) as caught:
        f(np.zeros(3), 7)
    assert str(caught.value) == "index 7 is out of bounds for axis 0 with size 3"
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.name, last.lineno, last.filename) == ("f", f.py_func.__code__.co_firstlineno + 3, __file__)


@pytest.mark.parametrize("make, args, kind, text", [
    (lambda: lambda a, b: a // b, (1, 0), ZeroDivisionError, "division|modulo"),
    (lambda: lambda a, b: a % b, (1.5, 0.0), ZeroDivisionError, "zero|modulo"),
    (lambda: lambda a, b: a << b, (1, -1), ValueError, "negative shift count"),
    (lambda: lambda a, b: range(a, b, 0), (1, 2), (ValueError, errors.TypingError), "zero"),
])
def test_builtin_errors(make, args, kind, text):
    f = njit(make())
    for _ in range(2):
        with pytest.raises(kind, match=text):
            f(*args)


def test_EXC_01_arguments_of_exceptions():
    class Mine(Exception):
        def __init__(self, code, value):
            super().__init__(code, value)
            self.code, self.value = code, value

    @njit
    def f(kind, x):
        if kind == 0:
            raise Mine(7, x)
        if kind == 1:
            raise KeyError(x, x * 2)
        if kind == 2:
            raise ValueError("message", True, x)
        raise StopIteration

    with pytest.raises(Mine) as caught:
        f(0, 2.5)
    assert (caught.value.code, caught.value.value) == (7, 2.5)
    for kind, cls, args in [(1, KeyError, (2.5, 5.0)), (2, ValueError, ("message", True, 2.5)), (3, StopIteration, ())]:
        with pytest.raises(cls) as caught:
            f(kind, 2.5)
        assert caught.value.args == args


def test_exception_classes_are_kept_alive():
    import gc

    def make():
        class Local(Exception):
            pass

        @njit
        def f(x):
            if x > 0:
                raise Local("late", x)
            return x

        f(0)
        return f

    f = make()
    gc.collect()
    with pytest.raises(Exception) as caught:
        f(3)
    assert type(caught.value).__name__ == "Local" and caught.value.args == ("late", 3)


def test_error_model():
    assert njit(error_model="numpy")(lambda a, b: a / b)(1.0, 0.0) == np.inf
    with pytest.raises(ZeroDivisionError):
        njit(lambda a, b: a / b)(1.0, 0.0)


def test_EXC_08_after_a_refusal_the_next_call_works():
    @njit
    def f(x):
        return x[0] + 1

    for _ in range(3):
        with pytest.raises(errors.TypingError) as first:
            f(1.5)
        assert f(np.array([2.0])) == 3
    assert "float" in str(first.value)


def test_uint64_with_int64_warns():
    f = njit(lambda a, b: a + b)
    with pytest.warns(errors.NumbaPerformanceWarning, match="float64"):
        f(np.uint64(1), np.int64(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(errors.NumbaPerformanceWarning):
            njit(lambda a, b: a + b)(np.uint64(1), np.int64(2))


def test_division_of_mixed_ints_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert njit(lambda a, b: a / b)(np.uint64(1), np.int64(2)) == 0.5


def test_no_reference_to_arguments_stays_in_errors():
    import gc
    import sys
    a = np.zeros(3)
    f = njit(lambda a, i: a[i])
    before = sys.getrefcount(a)
    for _ in range(10):
        with pytest.raises(IndexError):
            f(a, 9)
    gc.collect()
    assert sys.getrefcount(a) == before


def test_calling_while_compiling():
    """A descriptor the compiler reads may run anything, the function itself included."""
    import types
    seen = []

    class Module(types.ModuleType):
        @property
        def value(self):
            try:
                f(1)
            except RuntimeError as error:
                seen.append(str(error))
            return 5

    module = Module("mod")
    f = njit(lambda x: x + module.value)
    assert f(1) == 6 and len(seen) >= 1 and "while it is being compiled" in seen[0]


def test_declared_signature_errors():
    with pytest.raises(errors.TypingError):
        njit(int64(int64))(lambda x: x + "a")
