"""quern.extending: functions, methods, attributes and operators that libraries implement for compiled code, chosen by types
(issue 8, FEATURES K06)."""
import math
import operator
import types as python_types

import numpy as np
import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from test_as_numba import run_as_numba
from quern import cuda, errors, extending, njit, types
from quern.extending import overload, overload_attribute, overload_method, register_jitable


@pytest.fixture(autouse=True)
def registry_as_before():
    """What a test registers is gone behind it: other modules compile the same functions."""
    from quern._overloads import registry
    before = [{name: list(entries) for name, entries in table.items()}
              for table in (registry.functions, registry.attributes, registry.methods)]
    yield
    registry.functions, registry.attributes, registry.methods = before


def fresh(name="invented"):
    """A plain function of its own, which nobody has implemented yet: calling it in Python says so."""
    def function(*args, **kwargs):
        raise NotImplementedError(name)
    function.__name__ = name
    return function


# -- choice by types -------------------------------------------------------------------------------------------

def test_an_implementation_is_chosen_by_the_number_of_arguments():
    some = fresh("some")

    @overload(some)
    def two(a, b):
        return lambda a, b: a + b

    @overload(some)
    def three(a, b, c):
        return lambda a, b, c: a * b - c

    @overload(some)
    def with_factor(a, b, c, factor):
        return lambda a, b, c, factor: (a + b + c) * factor

    @njit
    def f(x):
        return some(x, 1), some(x, 2, 3), some(x, 2, 3, factor=x)

    assert f(5) == (6, 7, 50)
    with pytest.raises(errors.TypingError, match="'three' says: it cannot be called so: missing a required argument: 'b'"):
        njit(lambda x: some(x))(1)

def test_an_implementation_is_chosen_by_the_types_of_the_arguments():
    kind = fresh("kind")
    seen = []

    @overload(kind)
    def of_numbers(x):
        seen.append(x)
        if isinstance(x, types.Integer):
            return lambda x: x + 1
        if isinstance(x, types.Float):
            return lambda x: x * 0.5

    @overload(kind)
    def of_arrays(x):
        if isinstance(x, types.Array) and x.ndim == 2:
            return lambda x: x.shape[0] * 10 + x.shape[1]

    @njit
    def f(x):
        return kind(x)

    assert f(4) == 5 and f(4.0) == 2.0 and f(np.int8(4)) == 5 and f(np.zeros((2, 3))) == 23
    assert types.int64 in seen and types.float64 in seen and types.int8 in seen
    with pytest.raises(errors.TypingError, match=r"kind cannot be called with the arguments .float64.::1"):
        f(np.zeros(3))


def test_every_kind_of_argument_has_a_type():
    kind = fresh("kind_of")
    seen = {}

    @overload(kind, prefer_literal=True)
    def implementation(name, x):
        seen[name.literal_value] = x
        return lambda name, x: 0

    kinds = {
        "tuple": ((1, 2.0), lambda t: isinstance(t, types.Tuple) and tuple(t) == (types.int64, types.float64)),
        "unituple": ((1, 2), lambda t: isinstance(t, types.UniTuple) and t.count == 2),
        "text": ("abc", lambda t: t == types.unicode_type),
        "none": (None, lambda t: t == types.none),
        "bool": (True, lambda t: t == types.boolean),
        "list": ([1.5, 2.5], lambda t: isinstance(t, types.List) and t.dtype == types.float64),
        "dict": ({1: 2.5}, lambda t: isinstance(t, types.DictType) and t.value_type == types.float64),
        "set": ({1, 2}, lambda t: isinstance(t, types.Set) and t.dtype == types.int64),
        "c": (np.zeros((2, 2), np.float32), lambda t: t == types.float32[:, ::1]),
        "complex": (1j, lambda t: t == types.complex128),
    }

    for name, (value, right) in kinds.items():
        scope = {"kind": kind, "name": name}
        exec("def f(x):\n    return kind(name, x)", scope)
        njit(scope["f"])(value)
        assert right(seen[name]), (name, seen[name])


def test_values_that_are_known_are_literals_where_they_are_preferred_or_needed():
    power = fresh("power")

    @overload(power, prefer_literal=True)
    def implementation(x, n):
        if isinstance(n, types.IntegerLiteral) and n.literal_value == 2:
            return lambda x, n: x * x
        return lambda x, n: -1.0

    demand = fresh("demand")

    @overload(demand)
    def another(x, word):
        if not isinstance(word, types.StringLiteral):
            raise errors.RequireLiteralValue("word")
        if word.literal_value == "double":
            return lambda x, word: x * 2
        return lambda x, word: x * 3

    @njit
    def f(x, n):
        return power(x, 2), power(x, n), demand(x, "double"), demand(x, "other")
    assert f(3.0, 2) == (9.0, -1.0, 6.0, 9.0)


def test_keywords_defaults_and_stars():
    scaled = fresh("scaled")

    @overload(scaled)
    def implementation(x, by=2, *, plus=None):
        assert by == 2 or by == types.int64 or isinstance(by, types.Float)
        if plus is None or plus == types.none:
            def run(x, by=2, *, plus=None):
                return x * by
        else:
            def run(x, by=2, *, plus=None):
                return x * by + plus
        return run

    total = fresh("total")

    @overload(total)
    def of_total(first, *rest):
        n = len(rest)

        def run(first, *rest):
            s = first
            for k in range(n):
                s += rest[k]
            return s
        return run

    @njit
    def f(x):
        return scaled(x), scaled(x, 3), scaled(x, by=4), scaled(x, plus=1), scaled(by=5, x=x), total(x), total(x, 1, 2)
    assert f(10) == (20, 30, 40, 21, 50, 10, 13)


def test_what_an_implementation_closes_over_is_known():
    sized = fresh("sized")

    @overload(sized)
    def implementation(a):
        dtype, axes = a.dtype, a.ndim
        if axes == 1:
            return lambda a: np.zeros(len(a), dtype)
        return lambda a: np.zeros(axes, dtype)

    @njit
    def f(a):
        return sized(a)
    one, two = f(np.ones(4, np.float32)), f(np.ones((5, 5), np.int16))
    assert one.shape == (4,) and one.dtype == np.float32 and two.shape == (2,) and two.dtype == np.int16


def test_it_is_asked_once_for_the_same_types():
    calls = []
    counted = fresh("counted")

    @overload(counted)
    def implementation(x):
        calls.append(x)
        return lambda x: x

    @njit
    def f(x):
        s = x
        for i in range(10):
            s += counted(x) + counted(s)
        return s
    f(1.0), f(2.0)

    @njit
    def g(x):
        return counted(x)
    g(1.0)
    assert calls == [types.float64]


def test_implementations_that_call_each_other_and_themselves():
    fact = fresh("fact")

    @overload(fact)
    def implementation(n):
        def run(n):
            if n <= 1:
                return 1
            return n * fact(n - 1)
        return run
    length = fresh("length")

    @overload(length)
    def of_length(x):
        if isinstance(x, types.BaseTuple):
            return lambda x: length(x[0]) + length(x[1])
        return lambda x: 1

    @njit
    def f(n, t):
        return fact(n), length(t)
    assert f(10, ((1, 2.0), (3, (4, 5)))) == (math.factorial(10), 5)


# -- functions of the library, operators, methods, attributes ------------------------------------------------------

def test_functions_of_the_library_are_extended():
    @overload(np.trim_zeros)
    def trim(a):
        if isinstance(a, types.Array) and a.dtype == types.int16:
            return lambda a: a[1:]

    @overload(math.sqrt)
    def root(x):
        if isinstance(x, types.UnicodeType):
            return lambda x: len(x)

    @overload(len)
    def length(x):
        if isinstance(x, types.Integer):
            return lambda x: x // 2

    @njit
    def f(a, n):
        return trim_zeros(a), math.sqrt(n), math.sqrt("word"), len(n), len(a)
    trim_zeros = np.trim_zeros
    a, root_of, word, half, n = f(np.arange(4, dtype=np.int16), 16)
    assert a.tolist() == [1, 2, 3] and (root_of, word, half, n) == (4.0, 4, 8, 4)
    with pytest.raises(errors.TypingError):
        njit(lambda x: len(x))(1.5)


def test_functions_of_extension_modules_that_are_not_known_are_implemented():
    import _socket

    @overload(_socket.htons)
    def swap(n):
        if isinstance(n, types.Integer):
            return lambda n: ((n & 255) << 8) | (n >> 8)

    @njit
    def f(n):
        return _socket.htons(n)
    assert f(0x1234) == 0x3412


def test_an_implementation_that_calls_what_it_implements_means_the_library():
    @overload(math.hypot)
    def hypot(x, y):
        if isinstance(x, types.Float) and isinstance(y, types.Float):
            return lambda x, y: math.hypot(x, y) + 1000.0

    @njit
    def f(x, y):
        return math.hypot(x, y)
    assert f(3.0, 4.0) == 1005.0 and f(3, 4) == 5.0


def test_operators_are_extended():
    @overload(operator.add)
    def add(a, b):
        if isinstance(a, types.UnicodeType) and isinstance(b, types.Integer):
            return lambda a, b: len(a) + b

    @overload(operator.getitem)
    def item(a, key):
        if isinstance(a, types.Integer):
            return lambda a, key: (a >> key) & 1

    @overload(operator.contains)
    def has(a, x):
        if isinstance(a, types.Float):
            return lambda a, x: x < a

    @overload(operator.neg)
    def negative(a):
        if isinstance(a, types.UnicodeType):
            return lambda a: a[::-1]

    @overload(operator.iadd)
    def extend(a, b):
        if isinstance(a, types.Float) and isinstance(b, types.UnicodeType):
            return lambda a, b: a + len(b)

    @njit
    def f(s, n, x):
        y = x
        y += s
        return s + n, n[1], n in x, 9 in x, -s, y, 1 + 2
    assert f("abc", 2, 4.5) == (5, 1, True, False, "cba", 7.5, 3)


def test_methods_and_attributes_of_types_of_ours():
    @overload_method(types.Array, "middle")
    def middle(a, shift=0):
        if a.ndim == 1:
            return lambda a, shift=0: a[len(a) // 2 + shift]

    @overload_attribute(types.Array, "doubled")
    def doubled(a):
        return lambda a: a * 2

    @overload_method(types.UnicodeType, "shout")
    def shout(s, n):
        return lambda s, n: s.upper() + "!" * n

    @overload_method(types.List, "second")
    def second(xs):
        return lambda xs: xs[1]

    @overload_attribute(types.Integer, "half")
    def half(n):
        return lambda n: n // 2

    @njit
    def f(a, s, n):
        xs = [n, n + 1]
        m = a.middle
        return a.middle(), a.middle(shift=-1), m(1), a.doubled, s.shout(2), "b".shout(n), xs.second(), n.half
    out = f(np.arange(5.0), "hey", 3)
    assert out[3].tolist() == [0, 2, 4, 6, 8] and out[:3] + out[4:] == (2.0, 1.0, 3.0, "HEY!!", "B!!!", 4, 1)
    with pytest.raises(errors.TypingError, match="middle cannot be called with the arguments"):
        njit(lambda a: a.middle())(np.zeros((2, 2)))
    with pytest.raises(errors.TypingError, match="shout"):
        njit(lambda a: a.shout(1))(np.zeros(2))


# -- options ------------------------------------------------------------------------------------------------------

def test_jit_options_are_those_of_the_implementation():
    quotient = fresh("quotient")

    @overload(quotient, jit_options={"error_model": "numpy"})
    def implementation(a, b):
        return lambda a, b: a / b
    careful = fresh("careful")

    @overload(careful)
    def another(a, b):
        return lambda a, b: a / b

    @njit
    def f(a, b):
        return quotient(a, b)

    @njit
    def g(a, b):
        return careful(a, b)
    assert f(1.0, 0.0) == math.inf
    with pytest.raises(ZeroDivisionError):
        g(1.0, 0.0)


def test_parameters_and_defaults_agree_unless_strict_is_off():
    loose, strict, defaults = fresh("loose"), fresh("strict"), fresh("defaults")

    @overload(loose, strict=False)
    def of_loose(x, y=1):
        return lambda a, b=5: a + b

    @overload(strict)
    def of_strict(x):
        return lambda other: other

    @overload(defaults)
    def of_defaults(x, y=1):
        return lambda x, y=2: x + y

    assert njit(lambda x: loose(x))(1) == 6
    with pytest.raises(errors.TypingError, match="parameters of the overload 'of_strict' .x. are not those of its implementation"):
        njit(lambda x: strict(x))(1)
    with pytest.raises(errors.TypingError, match="different defaults of 'y': 1 and 2"):
        njit(lambda x: defaults(x))(1)


def test_register_jitable_stays_a_python_function():
    @register_jitable
    def f(x):
        return x + 1

    @register_jitable(fastmath=True)
    def g(x):
        return f(x) * 2
    assert isinstance(f, python_types.FunctionType) and g(1) == 4 and njit(lambda x: g(x))(1) == 4


# -- what is wrong ------------------------------------------------------------------------------------------------

def test_reasons_come_with_the_place_of_the_call():
    picky = fresh("picky")

    @overload(picky)
    def implementation(x):
        if not isinstance(x, types.Array):
            raise errors.TypingError("picky is for arrays")

    @njit
    def f(x):
        y = x + 1
        return picky(y)
    with pytest.raises(errors.TypingError) as caught:
        f(1)
    text = str(caught.value)
    assert "picky cannot be called with the arguments (int)" in text and "picky is for arrays" in text
    assert "return picky(y)" in text and "test_extending.py" in text


def test_errors_in_an_implementation_have_its_place_and_the_way_there():
    wrong = fresh("wrong")

    @overload(wrong)
    def implementation(x):
        def run(x):
            return x.no_such_attribute
        return run

    @njit
    def f(x):
        return wrong(x)
    with pytest.raises(errors.TypingError) as caught:
        f(1)
    text = str(caught.value)
    assert "return x.no_such_attribute" in text and "return wrong(x)" in text


def test_exceptions_of_the_overload_come_out():
    broken = fresh("broken")

    @overload(broken)
    def implementation(x):
        return {}["missing"]
    with pytest.raises(KeyError, match="missing"):
        njit(lambda x: broken(x))(1)
    returned = fresh("returned")

    @overload(returned)
    def number(x):
        return 5
    with pytest.raises(errors.TypingError, match="returned 5, which is no function"):
        njit(lambda x: returned(x))(1)


def test_exceptions_at_run_time_pass_through_implementations():
    checked = fresh("checked")

    @overload(checked)
    def implementation(x):
        def run(x):
            if x < 0:
                raise ValueError("below zero", x)
            return math.sqrt(x)
        return run

    @njit
    def f(x):
        return checked(x)
    assert f(4.0) == 2.0
    with pytest.raises(ValueError) as caught:
        f(-1.0)
    assert caught.value.args == ("below zero", -1.0)


def test_arguments_of_the_decorators_are_checked():
    with pytest.raises(TypeError, match="an attribute belongs to a type"):
        overload_attribute(int, "x")
    with pytest.raises(TypeError, match="an overload is a function of types"):
        overload(fresh())(5)
    with pytest.raises(errors.TypingError, match="made cannot be called"):
        @extending.intrinsic
        def made(context, x):
            return None
        njit(lambda x: made(x))(1)


def test_containers_and_text_leave_nothing_behind():
    joined = fresh("joined")

    @overload(joined)
    def implementation(xs, sep):
        def run(xs, sep):
            out = ""
            for x in xs:
                out = out + x + sep
            return out
        return run

    @njit
    def f(n):
        return joined([str(i) for i in range(n)], "-")
    assert f(3) == "0-1-2-"


def test_targets_of_overloads():
    everywhere, both = fresh("everywhere"), fresh("both")

    @overload(everywhere, target="generic")
    def implementation(x):
        return lambda x: x + both(x)

    @overload(both, target="cuda")
    def of_kernels(x):
        return lambda x: 10 * x

    @overload(both)
    def of_all(x):
        return lambda x: 100 * x

    @overload(both, target="cpu")
    def of_functions(x):
        return lambda x: 1000 * x

    @cuda.jit
    def kernel(a):
        a[0] = everywhere(a[0])

    @njit
    def f(a):
        a[0] = everywhere(a[0])

    a = np.array([2])
    kernel[1, 1](a)
    assert a[0] == 22
    f(a)
    assert a[0] == 22022
    with pytest.raises(ValueError, match="not 'tpu'"):
        overload(both, target="tpu")(of_all)


def test_overloads_of_kernels_on_every_device(device):
    scaled = fresh("scaled")

    @overload(scaled, target="cuda")
    def implementation(a, i, factor=3):
        def of_arrays(a, i, factor=3):
            return a[i] * factor + cuda.threadIdx.x
        return of_arrays

    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        a[i] = scaled(a, i) + scaled(a, i, factor=1)

    a = np.arange(6.0)
    kernel[2, 3](a)
    assert (a == [0, 6, 12, 12, 18, 24]).all()


def test_under_numbas_names(tmp_path):
    assert run_as_numba(tmp_path, """
from numba import njit, types
from numba.extending import overload, overload_method, register_jitable
import numpy

def double(x):
    pass

@overload(double)
def implementation(x):
    if isinstance(x, types.Integer):
        return lambda x: 2 * x

@overload_method(types.Array, 'last')
def last(a):
    return lambda a: a[-1]

@njit
def f(x, a):
    return double(x), a.last()

print(f(4, numpy.arange(3)))
""").strip() == "(8, 2)"
