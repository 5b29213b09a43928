"""What NumPy calls array_like: tuples and lists where a function takes an array, types as arguments, and what is known only when the
function runs: axes, places to split at."""
import numpy as np
import pytest

from quern import njit, types
from quern.errors import TypingError

NUMBERS = (3.0, 1.0, 2.0)
ROWS = ((3.0, 1.0), (2.0, 4.0))
ARRAY = np.array([1.0, 5.0, 2.0])

OF_ONE = """argwhere around angle ascontiguousarray asfortranarray copy corrcoef cov deg2rad flatnonzero flip flipud gradient iscomplex
isneginf isposinf isreal logical_not nan_to_num nonzero rad2deg ravel reciprocal round sinc spacing square squeeze sum transpose
trapezoid tril triu where""".split()
OF_TWO = """allclose arctan2 compress convolve correlate cross dot extract heaviside hypot inner isclose isin logaddexp
logical_and logical_or logical_xor outer searchsorted setdiff1d union1d vdot vecdot""".split()
WITH_A_NUMBER = "delete diff repeat roll take tile".split()


def agree(function, *args):
    expected = function(*args)
    got = njit(function)(*args)
    np.testing.assert_allclose(np.asarray(got), np.asarray(expected), rtol=1e-13)
    if isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype


def made(text):
    space = {"np": np}
    exec(f"def function(a, b): return {text}", space)
    return space["function"]


@pytest.mark.parametrize("name", OF_ONE)
def test_tuples_as_the_first_argument(name):
    agree(made(f"np.{name}(a)"), NUMBERS, 0)
    if name not in ("flatnonzero", "gradient", "trapezoid"):
        agree(made(f"np.{name}(a)"), ROWS, 0)


@pytest.mark.parametrize("name", OF_TWO)
def test_tuples_beside_arrays(name):
    for a, b in ((NUMBERS, NUMBERS), (NUMBERS, ARRAY), (ARRAY, NUMBERS), (ARRAY, list(NUMBERS))):
        agree(made(f"np.{name}(a, b)"), a, b)


@pytest.mark.parametrize("name", WITH_A_NUMBER)
def test_tuples_and_a_number(name):
    agree(made(f"np.{name}(a, b)"), NUMBERS, 1)


def test_tuples_that_mean_something_else_stay_tuples():
    agree(made("np.zeros(a)"), (2, 3), 0)
    agree(made("np.ones((4, 6)).reshape(a)"), (3, 8), 0)
    agree(made("np.broadcast_to(np.float64(b), a)"), (2, 2), 7)
    agree(made("np.concatenate((np.array(a), b))"), NUMBERS, ARRAY)


def test_methods_take_lists_and_tuples():
    agree(made("a.take(b)"), ARRAY, [0, 2])
    agree(made("a.repeat(b)"), ARRAY, [1, 0, 2])
    agree(made("a.dot(b)"), ARRAY, NUMBERS)


def test_lists_in_tuples_are_rows():
    agree(made("np.array(a)"), ([1, 2], [3, 4]), 0)
    agree(made("np.fliplr(a)"), ([1, 2], [3, 4]), 0)


# -- types as arguments --------------------------------------------------------------------------------------------------

DTYPES = [np.int8, np.uint32, np.float32, np.float64, np.complex128, np.dtype("f4"), np.dtype("c8"), int, float, complex]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_are_arguments(dtype):
    agree(made("np.arange(4, dtype=b)"), 0, dtype)
    agree(made("a.astype(b)"), ARRAY, dtype)
    agree(made("a.sum(dtype=b)"), ARRAY, dtype)


def test_types_of_ours_and_calls_of_types():
    @njit
    def zeros(n, kind):
        return np.zeros(n, kind)

    @njit
    def converted(x, kind):
        return kind(x)

    assert zeros(3, types.int16).dtype == np.int16
    assert converted(3.7, int) == 3 and converted(3, complex) == 3 + 0j and converted(300, np.uint8) == 44
    assert len(converted.signatures) == 3
    assert njit(lambda a, b: a.dtype == b)(ARRAY, np.float64) and not njit(lambda a, b: a.dtype == b)(ARRAY, np.int8)


def test_a_type_as_a_default():
    @njit
    def total(a, dtype=np.float32):
        return a.sum(dtype=dtype)

    assert total(ARRAY) == 8.0 and isinstance(total(ARRAY, np.int64), int)


@pytest.mark.parametrize("kind", [str, dict, np.dtype([("a", "O")]), object], ids=str)
def test_other_types_are_refused(kind):
    with pytest.raises(TypingError, match="argument 2 of 'function': an object of type .* cannot be passed"):
        njit(made("np.zeros(a, b)"))(3, kind)


# -- known only when the function runs -------------------------------------------------------------------------------------

CUBE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("axes", [(0,), (2,), (-1,), (0, 1), (1, 0), (2, 0), (-1, 0), (0, 1, 2), (2, 1, 0)])
@pytest.mark.parametrize("name", ["sum", "max", "mean"])
def test_axes_are_arguments(name, axes):
    agree(made(f"a.{name}(axis=b)"), CUBE, axes)


@pytest.mark.parametrize("axes", [(0, 0), (1, 5), (-4,), (0, -3)])
def test_wrong_axes(axes):
    function = made("a.sum(axis=b)")
    with pytest.raises(ValueError) as expected:
        function(CUBE, axes)
    with pytest.raises(type(expected.value)):
        njit(function)(CUBE, axes)


@pytest.mark.parametrize("moves", [((0, 1), (2, 0)), ((-1, 0), (1, -1)), ((2,), (0,)), ((0, 1, 2), (2, 1, 0)), ((), ())])
def test_moveaxis_with_axes_as_arguments(moves):
    agree(made("np.moveaxis(np.arange(24.0).reshape(2, 3, 4), a, b)"), *moves)


def test_moveaxis_with_wrong_axes():
    function = njit(made("np.moveaxis(np.zeros((2, 3, 4)), a, b)"))
    with pytest.raises(ValueError, match="repeated axis in `source` argument"):
        function((0, 0), (1, 2))
    with pytest.raises(ValueError, match="repeated axis in `destination` argument"):
        function((0, 1), (2, -1))
    with pytest.raises(np.exceptions.AxisError):
        function((0, 9), (1, 2))


@pytest.mark.parametrize("parts", [2, 3, 5, [1, 3], np.array([0, 2, 2, 9])], ids=str)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_parts_are_arguments(parts, axis):
    a = np.arange(20).reshape(4, 5)

    def parted(a, parts, axis):
        return np.array_split(a, parts, axis)

    for got, expected in zip(njit(parted)(a, parts, axis), parted(a, parts, axis), strict=True):
        np.testing.assert_array_equal(got, expected)


def test_equal_parts():
    def halves(a, parts):
        return np.split(a, parts)

    assert [list(p) for p in njit(halves)(np.arange(6), 3)] == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(ValueError, match="array split does not result in an equal division"):
        njit(halves)(np.arange(6), 4)


# -- NumPy's answers --------------------------------------------------------------------------------------------------------


def test_angle():
    for z in (ARRAY, ARRAY * (1 - 2j), ARRAY.astype(np.complex64), np.array([-1, 1])):
        agree(made("np.angle(a, b)"), z, True)
        agree(made("np.angle(a)"), z, True)
        agree(made("np.angle(a, deg=True)"), z, True)


def test_divmod_into_arrays():
    def into(a, b):
        quotient, rest = np.empty_like(a), np.empty_like(a)
        np.divmod(a, b, quotient, rest)
        return quotient, rest

    for got, expected in zip(njit(into)(np.array([7, -7]), np.array([2, 2])), into(np.array([7, -7]), np.array([2, 2]))):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("decimals", [0, 1, -1])
def test_round_into_an_array(decimals):
    def into(a, decimals):
        out = np.empty_like(a)
        np.round(a, decimals, out)
        return out

    agree(into, ARRAY * 12.25, decimals)


def test_select_of_lists():
    conditions = [np.array([True, False, False]), np.array([True, True, False])]
    choices = [np.array([1, 2, 3]), np.array([4, 5, 6])]
    for default in (7, 7.5):
        agree(made(f"np.select(a, b, {default})"), conditions, choices)
    with pytest.raises(ValueError, match="select with an empty condition list is not possible"):
        njit(lambda: np.select((), ()))()


def test_points_out_of_order_and_not_numbers_are_looked_up_as_numpy_does():
    interp = njit(made("np.interp(a, b[0], b[1])"))
    rng = np.random.default_rng(3)
    for k in range(600):
        n, m = rng.integers(1, 40), rng.integers(1, 60)
        xp, fp, x = rng.random(n).round(1), rng.random(n), rng.random(m).round(1) * 1.4 - 0.2
        if k % 5 == 0:
            xp.sort()
        elif k % 5 == 1:
            x[rng.integers(0, m)] = np.nan
        elif k % 5 == 2:
            xp[rng.integers(0, n)] = np.nan
        elif k % 5 == 3:
            fp[rng.integers(0, n)] = np.inf
        np.testing.assert_array_equal(interp(x, (xp, fp)), np.interp(x, xp, fp))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_variables_without_variance():
    agree(made("np.corrcoef(a, b)"), np.array([1.0, 1.0]), np.array([2.0, 3.0]))
    agree(made("np.corrcoef(a, b)"), 1.0, 2.0)


def test_truth_of_times():
    for text in ("np.all(a)", "np.any(a)", "np.count_nonzero(b)", "len(np.nonzero(b)[0])"):
        for moment in ("1970-01-01", "2020-01-01", "NaT"):
            agree(made(text), np.datetime64(moment, "s"), np.array(["1970", "1971", "NaT"], "M8[s]"))


@pytest.mark.parametrize("ends", [(1 + 1j, 8j), (1j, 1000), (-1.0, -100.0), (2, 1024)], ids=str)
def test_geomspace(ends):
    agree(made("np.geomspace(a, b, 6)"), *ends)


@pytest.mark.parametrize("arguments", ["dtype=np.int64", "axis=0, dtype=np.int8", "axis=1, dtype=np.int64, where=a > 0", "dtype=np.float32", "axis=0, dtype=np.complex64"])
def test_means_of_a_type(arguments):
    a = np.arange(12.0).reshape(3, 4)
    agree(made(f"np.mean(a, {arguments})"), a, 0)
    agree(made(f"np.mean(-a * 1.25, {arguments})"), a + 4, 0)


@pytest.mark.parametrize("text", ["np.asarray(a)", "np.array(a)", "np.expand_dims(a, 0)", "np.random.permutation(a)"])
@pytest.mark.parametrize("value", ["abc", b"abc", None], ids=str)
def test_what_is_no_array_is_refused(text, value):
    with pytest.raises(TypingError, match="cannot be called with the arguments"):
        njit(made(text))(value, 0)
