"""Expressions over whole arrays beside NumPy: values, dtypes, shapes, errors."""
import itertools
import pathlib
import re
import sys

import numpy as np
import pytest

import beside
import quern
from quern import njit

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
import whole_arrays  # noqa: E402

NUMPY_ROWS = (ROOT / "typeinfer" / "tables" / "numpy.def").read_text()

# Of each kind two; int64 meets uint64 as int64 in bit operations.
SOME = ["bool", "int8", "int64", "uint8", "uint64", "float32", "complex64"]
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]


def values(rng, dtype, shape):
    a = rng.integers(0, 2, shape) if dtype == "bool" else rng.integers(1, 7, shape)
    a = a.astype(dtype)
    if a.dtype.kind in "fc":
        a = a * a.dtype.type(0.75) - a.dtype.type(2)
    elif a.dtype.kind == "i":
        a = a - a.dtype.type(3)
    return a


def laid_out(rng, a):
    """The same values in C or F order, strided, reversed or broadcast."""
    form = rng.integers(0, 5)
    if form == 1:
        return np.asfortranarray(a)
    if form == 2 and a.ndim:
        wide = np.empty(a.shape[:-1] + (2 * a.shape[-1],), a.dtype)
        wide[..., ::2] = a
        return wide[..., ::2]
    if form == 3 and a.ndim:
        return np.ascontiguousarray(a[::-1])[::-1]
    return np.ascontiguousarray(a) if a.ndim else a


def same(got, want, exact):
    assert isinstance(got, np.ndarray) == isinstance(want, np.ndarray)
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, (got.dtype, want.dtype)
    assert got.shape == want.shape
    if exact or want.dtype.kind in "biu":
        assert np.array_equal(got, want, equal_nan=want.dtype.kind in "fc"), (got, want)
    else:
        tolerance = 1e-5 if want.dtype in (np.float32, np.complex64) else 1e-12
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def outcome(f, *args):
    with np.errstate(all="ignore"):
        try:
            return f(*args), None
        except (ValueError, TypeError, OverflowError) as error:
            return None, type(error)


def compiled(source, name="f"):
    space = {"np": np}
    exec(source, space)
    return space[name]


# -- operators, each with each pair of dtypes --------------------------------------------------------------------

BITS = ["&", "|", "^", "<<", ">>"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!="]


@pytest.mark.parametrize("symbol", OPERATORS)
def test_operators_of_two_arrays(symbol):
    f = compiled(f"def f(a, b): return a {symbol} b")
    jitted = njit(f)
    rng = np.random.default_rng(1)
    for x, y in itertools.product(SOME, SOME):
        if symbol in BITS and sorted((x[:3], y[:3])) == ["int", "uin"]:
            continue
        a, b = values(rng, x, (5,)), values(rng, y, (5,))
        if symbol in ("<<", ">>"):
            b = np.abs(b).astype(y)
        want, error = outcome(f, a, b)
        if error:
            with pytest.raises((quern.TypingError, TypeError)):
                jitted(a, b)
        elif x == "bool" and y == "bool" and symbol in ("//", "%", "<<", ">>"):
            jitted(a, b)  # int8 in NumPy
        else:
            same(jitted(a, b), want, symbol != "/")


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "**", "<", "=="])
@pytest.mark.parametrize("scalar", [3, 2.5, np.int8(3), np.float32(1.5), np.uint64(2), 1j])
def test_operators_with_a_number_on_either_side(symbol, scalar):
    right, left = compiled(f"def f(a, b): return a {symbol} b"), compiled(f"def f(a, b): return b {symbol} a")
    rng = np.random.default_rng(2)
    for f, dtype in itertools.product((right, left), SOME):
        a = values(rng, dtype, (2, 3))
        if symbol == "**" and f is left:
            a = np.abs(a)
        want, error = outcome(f, a, scalar)
        if error:
            with pytest.raises((quern.TypingError, TypeError, OverflowError, ValueError)):
                njit(f)(a, scalar)
        elif dtype != "bool" or symbol in "+*<==":
            same(njit(f)(a, scalar), want, symbol not in ("/", "**"))


@pytest.mark.parametrize("symbol", ["+", "-", "*", "/", "//", "%", "&", "|", "^"])
def test_operators_in_place(symbol):
    f = compiled(f"def f(a, b):\n    a {symbol}= b\n    return a")
    jitted = njit(f)
    rng = np.random.default_rng(3)
    for x, y in itertools.product(SOME, SOME):
        if symbol in BITS and "uint64" in (x, y):
            continue
        a, b = values(rng, x, (3, 4)), values(rng, y, (4,))
        want, error = outcome(f, a.copy(), b)
        if error:
            with pytest.raises((quern.TypingError, TypeError)):
                jitted(a.copy(), b)
        elif x != "bool":
            mine = a.copy()
            assert jitted(mine, b) is mine
            same(mine, want, symbol != "/")


# -- random programs, and the dtypes of every function -----------------------------------------------------------


@pytest.mark.parametrize("block", range(12))
def test_random_programs(block):
    """Of tests/fuzz/whole_arrays.py: every dtype, layout and shape, slices, masks, overlapping targets, reductions."""
    assert [p for p in map(whole_arrays.problem, range(10 * block, 10 * block + 10)) if p] == []


PAIRS_OF_DTYPES = [("int8", "int16"), ("int8", "float32"), ("int16", "float16"), ("int32", "float32"), ("uint8", "int8"), ("bool", "int8"),
                   ("float32", "complex64")]
# NumPy has no loop and refuses; here they compute
FEWER_LOOPS = {"deg2rad", "rad2deg", "radians", "degrees", "heaviside"}
# several results, or a second operand that is no float: made of int64 and float64
OTHER_LOOPS = {"frexp", "modf", "ldexp", "float_power"}


@pytest.mark.parametrize("name", sorted(n for n in set(re.findall(r'^\w+\("numpy\.(\w+)"', NUMPY_ROWS, re.M)) - OTHER_LOOPS
                                        if isinstance(getattr(np, n, None), np.ufunc) and getattr(np, n).nin < 3))
def test_dtypes_are_those_of_numpys_loops(name):
    ufunc = getattr(np, name)
    names = "ab"[:ufunc.nin]
    f = compiled(f"def f({', '.join(names)}): return np.{name}({', '.join(names)})")
    jitted = njit(f)
    dtypes = [d for d in (*beside.DTYPES, "float16")]
    for kinds in [(d,) * ufunc.nin for d in dtypes] + (PAIRS_OF_DTYPES if ufunc.nin == 2 else []):
        operands = [np.array([1, 1, 0]).astype(k) for k in kinds]
        want, error = outcome(f, *operands)
        got, mistake = outcome(jitted, *operands)
        if error is not None and name in FEWER_LOOPS:
            continue
        assert (error is None) == (mistake is None), (kinds, error, mistake)
        if error is None:
            assert got[0].dtype == want[0].dtype if isinstance(want, tuple) else got.dtype == want.dtype, (kinds, got, want)


def test_an_array_with_more_axes_of_length_one_is_assigned():
    jitted = njit(compiled("def f(a, b): a[...] = b"))
    for shape in ((3,), (2, 3)):
        a = np.zeros(shape)
        jitted(a, np.arange(3.0)[None, None])
        assert (a == np.arange(3.0)).all()
    with pytest.raises(ValueError, match="axis of length 2"):
        jitted(np.zeros(3), np.ones((2, 3)))


# -- shapes that do not fit, memory that overlaps ----------------------------------------------------------------------


@pytest.mark.parametrize("shapes", [((3,), (4,)), ((2, 3), (2,)), ((2, 3), (3, 2)), ((0,), (2,)), ((2, 1, 3), (4, 2))])
def test_shapes_that_do_not_broadcast(shapes):
    f = njit(lambda a, b: a + b)
    with pytest.raises(ValueError) as error:
        f(np.ones(shapes[0]), np.ones(shapes[1]))
    with pytest.raises(ValueError) as numpys:
        np.ones(shapes[0]) + np.ones(shapes[1])
    assert str(error.value).strip() == str(numpys.value).strip()


def test_an_operand_never_stretches_the_target():
    @njit
    def f(a, b):
        a += b

    with pytest.raises(ValueError):
        f(np.ones((1, 3)), np.ones((2, 3)))


OVERLAPS = ["a[1:] += a[:-1]", "a[:-1] = a[1:] * 2", "a[::-1] += a", "a[:] = a[::-1] + a", "a[2:] = a[:-2] + a[1:-1]"]


@pytest.mark.parametrize("statement", OVERLAPS)
def test_all_is_read_before_anything_is_written(statement):
    f = compiled(f"def f(a):\n    {statement}\n    return a")
    for n in (0, 2, 3, 7, 100):
        a = np.arange(n, dtype=np.float64)
        if n == 0 and "2" in statement:
            continue
        want = f(a.copy())
        mine = a.copy()
        njit(f)(mine)
        assert np.array_equal(mine, want)


ONE_ROOT = ["m[1:] = m[:-1] + m[0]", "m[:, 0] = m[:, -1] * 2 - m[0, 0]", "m[0] = m[1] + m[:, :1].sum()", "m[:] = np.minimum(m, m[:, k:k + 1] + m[k])",
            "m[::-1, 1:] = m[:, :-1] - m[:, k:k + 1]", "m.T[:] = m.T[::-1] + m[k:k + 1].T", "m[k:k + 1] += m[k:k + 1, ::-1]", "m[:, k] += m[k, 0] * m[:, 0]",
            "m[1:-1, 1:-1] = 0.25 * (m[1:-1, 2:] + m[1:-1, :-2] + m[2:, 1:-1] + m[:-2, 1:-1])", "m[:, 1::2] = m[:, :-1:2] + m[:, 1::2]", "m[-1:] = m[:1]", "m[::-1, 0] = m[:, 1]", "m[:, :2] = m[:, -2:] + m[0]"]


@pytest.mark.parametrize("statement", ONE_ROOT)
@pytest.mark.parametrize("layout", ["C", "F", "A"])
def test_all_is_read_before_anything_is_written_of_one_array(statement, layout):
    """Whether parts of one array share memory is asked in line, axes of at most one element are taken to be repeated."""
    f = compiled(f"def f(m, k):\n    {statement}\n    return m")
    mine = njit(f)
    for shape in (2, 2), (3, 4), (6, 4), (9, 34), (1, 4):
        for k in (0, 1, -1, 7):
            start = np.random.default_rng(3).integers(-9, 9, (shape[0], 2 * shape[1])).astype(np.float64)
            m = {"C": start[:, :shape[1]].copy(), "F": np.asfortranarray(start[:, :shape[1]]), "A": start[:, ::2]}[layout]
            given, want = m.copy(order="K"), m.copy(order="K")
            if layout == "A":
                given, want = start.copy()[:, ::2], start.copy()[:, ::2]
            try:
                f(want, k)
            except (ValueError, IndexError) as error:
                with pytest.raises(type(error)):
                    mine(given, k)
                continue
            mine(given, k)
            assert np.array_equal(given, want), (shape, k)


KNOWN_AXES = ["x - np.max(x, axis=1, keepdims=True)", "x / x.sum(axis=0, keepdims=True)", "x + v.reshape(n, 1)", "x[0:1] * x[:, 0:1] - x", "x.T - x[:, k:k + 1].T",
              "z.real * z.imag + x", "np.expand_dims(v, 1) * x", "x[:, k:k + 1] + x[k:k + 1] + x[-1:]", "x[:, ::-1].T[::2] * x[k]", "x[:1] + x[:, 1:2]"]


@pytest.mark.parametrize("expression", KNOWN_AXES)
def test_axes_that_the_code_says_have_length_one(expression):
    f = compiled(f"def f(x, v, z, n, k):\n    return {expression}")
    mine = njit(f)
    for shape in (3, 4), (1, 4), (4, 1), (1, 1), (5, 5):
        for k in (0, 2, -1, -2, 9):
            x = np.random.default_rng(7).random(shape)
            args = x, x[:, 0].copy(), x + 2j * x, shape[0], k
            try:
                want = f(*args)
            except (ValueError, IndexError) as error:
                with pytest.raises(type(error)):
                    mine(*args)
                continue
            got = mine(*args)
            assert got.shape == want.shape and np.allclose(got, want, rtol=1e-12), (shape, k)


def test_read_only_targets_are_refused():
    @njit
    def f(a):
        a += 1

    a = np.ones(3)
    a.flags.writeable = False
    with pytest.raises((quern.TypingError, ValueError)):
        f(a)
    assert np.array_equal(a, np.ones(3))


def test_an_expression_makes_one_array():
    from quern import _quern  # noqa: F401

    @njit
    def f(x, y, z):
        return x * x + 2.0 * y - z

    x = np.arange(1000.0)
    assert np.array_equal(f(x, x, x), f.py_func(x, x, x))
    text = next(iter(f.inspect_llvm().values()))
    assert text.count("call") and text.count("@quern_array_new") <= 1


# -- ufuncs of the user --------------------------------------------------------------------------------------------------


@quern.vectorize
def scaled(x, factor):
    if x < 0:
        return 0 * x
    return x * factor


def test_a_ufunc_inside_compiled_code():
    @njit
    def f(a, b):
        return scaled(a - 2, b) + 1

    a, b = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0])
    assert np.array_equal(f(a, b), scaled(a - 2, b) + 1)
    assert np.array_equal(f(a, 2.0), scaled(a - 2, 2.0) + 1)
    assert np.array_equal(f(a.T, 2.0), scaled(a.T - 2, 2.0) + 1)


def test_a_ufunc_inside_compiled_code_writes_where_it_is_told():
    @njit
    def f(a, out):
        scaled(a, 3, out)
        return scaled(a, 2, out=out[::-1])

    a, out = np.arange(5), np.zeros(5, np.int64)
    assert np.array_equal(f(a, out), 2 * a)
    assert np.array_equal(out, 2 * a[::-1])


@quern.vectorize(["int64(int64, int64)"])
def digits_added(a, b):
    weights = np.array([49, 7, 1])
    return ((a // weights % 7 + b // weights % 7) % 7 * weights).sum()


def test_a_ufunc_written_with_whole_arrays():
    @njit
    def f(a, b):
        c = np.zeros(a.size + 2, np.int64)
        c[-b.size:] = digits_added(c[-b.size:] + a, b)
        return c, digits_added(a, 5).sum(), digits_added(a, digits_added(b, a))

    a, b = np.arange(300, 306), np.arange(6) * 11
    for mine, theirs in zip(f(a, b), f.py_func(a, b)):
        assert np.array_equal(mine, theirs)


@quern.vectorize
def fibonacci_of_arrays(n):
    if n < 2:
        return n
    return fibonacci_of_arrays(np.array([n - 1, n - 2])).sum()


def test_a_ufunc_of_whole_arrays_that_calls_itself():
    assert list(njit(lambda n: fibonacci_of_arrays(n))(np.arange(9))) == [0, 1, 1, 2, 3, 5, 8, 13, 21]


def test_errors_of_a_ufunc_keep_their_place():
    @quern.vectorize
    def picky(x):
        if x > 3:
            raise ValueError("too large")
        return x

    @njit
    def f(a):
        return picky(a)

    assert np.array_equal(f(np.arange(4)), np.arange(4))
    with pytest.raises(ValueError, match="too large"):
        f(np.arange(6))
