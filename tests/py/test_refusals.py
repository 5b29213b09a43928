"""What is refused, word by word: the place, the line, the carets, the reason. @jit then runs the Python function.

Each case is a function with the text that must be underlined, the code and the sentence, then the notes."""
import inspect
import math
import pathlib
import random
import re
import warnings

import numpy as np
import pytest

from quern import cuda, errors, jit, njit

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = []
WHOLE = ("docs/arrays.md lists the functions of whole arrays; write a loop over the elements for others",)
TEXT = ("text goes with text: str(x) makes text of a number, int(s) and float(s) make numbers",)
ROW = np.arange(3.0)
GRID = np.arange(4.0).reshape(2, 2)


ADVICE = dict(re.findall(r'^ADVICE\("(.*?)", "(.*)"\)$', (ROOT / "frontend/bytecode/advice.def").read_text(), re.MULTILINE))
VALUES = ("compiled code knows numbers, arrays, tuples of these, functions, and the modules math, cmath and numpy: give the "
          "values it needs names of their own, or pass them as arguments",)


def refused(underlined, code, message, notes=(), x=1):
    def add(function):
        told = notes
        if code == "E0101":
            full = message + " is not supported in a compiled function"
            told = notes or ([ADVICE[message]] if message in ADVICE else ())
        else:
            full = message
        CASES.append(pytest.param(function, underlined, code, full, told, x, id=function.__name__))
        return function
    return add


def rendered(function, underlined, code, message, notes, x):
    lines, first = inspect.getsourcelines(function)
    body = next(k for k, line in enumerate(lines) if line.startswith("def "))
    if underlined:
        at = next(k for k in reversed(range(body, len(lines))) if underlined in lines[k])
        column = lines[at].index(underlined)
    else:  # all of the function: the first line of its code is that of the decorator
        at, column = 0, -1
    where = f"{__file__}:{first + at}:" + (f"{column + 1}:" if column >= 0 else "")
    text = f"{where} error: {message}"
    text += " " * max(77 - len(text), 3) + f"[{code}]\n{first + at:5d} | {lines[at].rstrip()}\n"
    if column >= 0:
        text += "      | " + " " * column + "^" * len(underlined) + "\n"
    kind = {int: "int", float: "float"}.get(type(x)) or ("float64[::1]" if x.ndim == 1 else "float64[:, ::1]")
    for note in notes:
        text += f"note: {note}\n"
    return text + f"note: while compiling {function.__name__}({kind})" if function is not keywords else text.rstrip("\n")


@refused("return type(e)", "E0101", "the class of a caught exception as a value",
         ("compare it: type(e) is ValueError, or isinstance(e, ValueError); its name is type(e).__name__",))
def class_of_a_caught_exception(x):
    try:
        return x / 0
    except ZeroDivisionError as e:
        return type(e)


@refused("e.__suppress_context__", "E0101", "this attribute of a caught exception",
         ("its arguments are e.args, its text is str(e), its class is type(e)",))
def attribute_of_an_exception(x):
    try:
        return x / 0
    except ZeroDivisionError as e:
        return e.__suppress_context__


@refused("except* ZeroDivisionError:", "E0101", "except*")
def exception_groups(x):
    y = 0
    try:
        y = x / 0
    except* ZeroDivisionError:
        y = 1
    return y


@refused("raise", "E0101", "a raise statement without an exception")
def raise_alone(x):
    try:
        y = math.sin(x)
    finally:
        y = 1
    raise


def helper(v):
    return v[0]


@refused("import no_such_module", "E0218", "the module 'no_such_module' cannot be imported: imports in a function are carried out when it is compiled")
def import_of_nothing(x):
    import no_such_module
    return no_such_module.sin(x)


@refused("WRITTEN", "E0101", "an assignment to a global variable")
def global_write(x):
    global WRITTEN
    WRITTEN = x
    return x


@refused("helper.attribute", "E0101", "assignment to an attribute")
def attribute_write(x):
    helper.attribute = x
    return x


@refused("x < MODE", "E0207", "cannot compare int and str", ("'MODE' is a global of type str",) + TEXT)
def text_ordered(x):
    return x < MODE


MODE = "fast"


@refused("np.busday_count(x, x)", "E0405", "the function numpy.busday_count is not supported in a compiled function", WHOLE, ROW)
def unsupported_function(x):
    return np.busday_count(x, x)[0]


@refused("np.full(3, 1.0, value=2)", "E0403", "numpy.full() got an unexpected keyword argument 'value'")
def unknown_keyword(x):
    return np.full(3, 1.0, value=2)[0]


@refused("np.full(3)", "E0403", "numpy.full() missing the argument 'fill_value'")
def missing_argument(x):
    return np.full(3)[0]


@refused("np.empty(3, shape=4)", "E0403", "numpy.empty() got multiple values for argument 'shape'")
def argument_twice(x):
    return np.empty(3, shape=4)[0]


@refused("np.zeros_like(x, prototype=x)", "E0403", "numpy.zeros_like() got an unexpected keyword argument 'prototype'", (), ROW)
def keyword_of_another(x):
    return np.zeros_like(x, prototype=x)[0]


@refused("len(obj=x)", "E0403", "len() got an unexpected keyword argument 'obj'", (), ROW)
def positional_only(x):
    return len(obj=x)


@refused("len(x, x)", "E0403", "len() takes 1 positional argument but 2 were given", (), ROW)
def too_many_arguments(x):
    return len(x, x)


@refused("enumerate(x, begin=1)", "E0403", "enumerate() got an unexpected keyword argument 'begin'", (), ROW)
def keyword_of_builtin(x):
    for i, v in enumerate(x, begin=1):
        return i + v
    return 0.0


@refused("x in 2.0", "E0206", "cannot look for float64[::1] in float", (), ROW)
def search(x):
    return x in 2.0


@refused("x[0, 1, 2]", "E0302", "too many indices for float64[:, ::1]: 3 given", (), GRID)
def too_many_indices(x):
    if x.size < 0:
        return x[0, 1, 2]
    return x[0, 0]


@refused("NUMBERS", "E0202", "'NUMBERS' has the type list, which cannot be used in a compiled function",
         ("globals are frozen when a function is compiled, and a list may change: make a tuple of it, or an array, np.array(xs), or pass it as an argument",))
def list_global(x):
    return NUMBERS[0] + x


NUMBERS = [1, 2]


@refused("NAMES", "E0202", "'NAMES' has the type set, which cannot be used in a compiled function",
         ("globals are frozen when a function is compiled, and a set may change: pass it as an argument, or make a tuple of its elements",))
def set_global(x):
    return x in NAMES


NAMES = {1, 2}


class Meta(type):
    attribute = 3


class Thing(metaclass=Meta):
    pass


@refused("Thing", "E0202", "'Thing' has the type class Thing, which cannot be used in a compiled function",
         VALUES)
def class_global(x):
    return Thing.attribute + x


@refused("random.choices((x, x))", "E0405", "the function random.choices is not supported in a compiled function",
         ("draw the numbers in Python and pass them as an array",))
def other_module(x):
    return random.choices((x, x))[0]


@refused("min(x)", "E0401", "min cannot be called with the arguments (int)",
         ("min takes an array, a tuple or a range, whose items it compares, or two numbers and more",))
def library_misuse(x):
    if x > 5:
        return min(x)
    return x


NO_DTYPE = "Invalid NumPy dtype specified: {}: compiled code has bool, integers, floats and complex numbers up to 64 bits a part, in this \
machine's byte order"
SWAPPED = np.dtype(">f8")


@refused("np.zeros(x, '>f8')", "E0216", NO_DTYPE.format("'>f8'"))
def other_byte_order(x):
    return np.zeros(x, '>f8')


@refused("np.zeros(x, dtype=np.longdouble)", "E0216", NO_DTYPE.format("function numpy.longdouble"))
def long_double(x):
    return np.zeros(x, dtype=np.longdouble)


@refused("SWAPPED", "E0202", "'SWAPPED' has the type numpy.dtypes.Float64DType, which cannot be used in a compiled function",
         ("compiled code knows numbers, arrays, tuples of these, functions, and the modules math, cmath and numpy: give the "
          "values it needs names of their own, or pass them as arguments",))
def global_dtype_of_another_byte_order(x):
    return np.zeros(x, dtype=SWAPPED)


@refused("np.zeros(2, dtype=x)", "E0209", "the dtype must be known at compile time")
def dtype_as_an_argument(x):
    return np.zeros(2, dtype=x)


@refused("return x.dtype", "E0215", "a compiled function cannot return type float64", (), ROW)
def dtype_returned(x):
    return x.dtype


@refused("0:1.5:1", "E0208", "cannot convert float to a bound of a slice",
         ("an integer is needed: a // b divides so that one comes out, int(x) cuts off",), ROW)
def slice_bound(x):
    if x.size > 5:
        return x[0:1.5:1][0]
    return x[0]


@refused("", "E0101", "a **keywords parameter")
def keywords(x, **more):
    return x


@pytest.mark.parametrize("function, underlined, code, message, notes, x", CASES)
def test_refused(function, underlined, code, message, notes, x):
    for _ in range(2):
        with pytest.raises(errors.NumbaError) as caught:
            njit(function)(x)
        assert str(caught.value) == rendered(function, underlined, code, message, notes, x)
        assert caught.value.code == code and caught.value.filename == __file__


def told(function, x):
    try:
        result = function(x)
        return list(result) if inspect.isgenerator(result) else result, None
    except Exception as error:  # noqa: BLE001
        return None, (type(error), error.args)


@pytest.mark.parametrize("function, underlined, code, message, notes, x", CASES)
def test_D01_jit_falls_back_with_one_warning(function, underlined, code, message, notes, x, capsys):
    expected = told(function, x)
    compiled = jit(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [told(compiled, x) for _ in range(3)]
    assert [str(r) for r in results] == [str(expected)] * 3
    assert [w.category for w in caught] == [errors.NumbaWarning] and caught[0].filename == __file__
    text = rendered(function, underlined, code, message, notes, x)
    assert str(caught[0].message) == f"'{function.__name__}' could not be compiled and runs as a Python function: {text}"


def test_keywords_of_a_fallback_arrive():
    @jit
    def f(x, **more):
        return x, more

    with pytest.warns(errors.NumbaWarning, match="keywords parameter"):
        assert f(1, y=2) == (1, {"y": 2})
    with pytest.raises(errors.UnsupportedError, match="keywords parameter"):
        njit(f.py_func)(1, y=2)


@pytest.mark.parametrize("result", ["optional(float64[:,:])", "float64", "complex128", "Tuple((int64, float64))"])
@pytest.mark.parametrize("body", ["none", "raises", "waits"])
def test_R12_a_declared_result_of_a_kernel(device, result, body):
    """Also where no path returns: the entry of a kernel has no room for a result."""
    def none(x):
        pass

    def raises(x):
        raise ValueError

    def waits(x):
        cuda.syncthreads()

    with pytest.raises(errors.TypingError, match=r"must not return a value(.|\n)*write void"):
        cuda.jit(f"{result}(int64)")({"none": none, "raises": raises, "waits": waits}[body])
    cuda.jit("void(int64)")(none)[1, 1](1)
    cuda.jit("none(int64)")(none)[1, 1](1)


def first(n):
    yield n


def second(n):
    yield n * n


def either(n):
    chosen = first(n) if n > 3 else second(n)
    total = 0
    for x in chosen:
        total += x
    return total


@pytest.mark.parametrize("f,why", [
    (lambda n: np.where(np.arange(n) > 1, "hi", "lo"), "numpy.where of text(.|\n)*a list"),
    (lambda n: np.full(n, "hi"), "numpy.full of text(.|\n)*a list"),
    (either, "iterator of function first(.|\n)*yield from"),
    (lambda n: [n, "a"].copy(), "one type: a tuple holds several"),
    (lambda n: max(*[n] * n), "passing by \\*(.|\n)*a tuple has a length"),
])
def test_what_to_do_instead(f, why):
    with pytest.raises(errors.QuernError, match=why):
        njit(f)(3)
