"""Arrays as indices beside NumPy: masks, positions, both with ints, slices, None and Ellipsis between; read and written."""
import random

import numpy as np
import pytest

import quern
from quern import njit

DTYPES = ["bool", "int8", "int32", "uint8", "uint64", "float32", "float64", "complex128"]
LAYOUTS = ["C", "F", "strided", "reversed"]


def array(shape, dtype="float64", layout="C"):
    """Different values in that layout."""
    a = (np.arange(int(np.prod(shape))).reshape(shape) % 120).astype(dtype)
    if layout == "F":
        return np.asfortranarray(a)
    if layout == "strided":
        wide = np.zeros(a.shape[:-1] + (2 * a.shape[-1],), a.dtype)
        wide[..., ::2] = a
        return wide[..., ::2]
    return a[::-1].copy()[::-1] if layout == "reversed" else a


def again(x):
    """A copy with the same strides."""
    if not isinstance(x, np.ndarray):
        return x
    if x.base is None or 0 in x.shape:
        return x.copy("K")
    steps = [1 if n == 1 else s // x.itemsize for n, s in zip(x.shape, x.strides)]
    low = sum((n - 1) * s for n, s in zip(x.shape, steps) if s < 0)
    high = sum((n - 1) * s for n, s in zip(x.shape, steps) if s > 0)
    memory = np.zeros(high - low + 1, x.dtype)
    result = np.lib.stride_tricks.as_strided(memory[-low:], x.shape, [s * x.itemsize for s in steps])
    result[...] = x
    return result


def compiled(statement, arguments):
    space = {"np": np}
    exec(f"def f({arguments}):\n    " + statement.replace("\n", "\n    "), space)
    return space["f"]


def same(got, want):
    if isinstance(want, (tuple, list)):  # what NumPy gives as a list is a tuple here
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want):
            same(g, w)
    elif isinstance(want, np.ndarray):
        assert isinstance(got, np.ndarray), got
        assert got.dtype == want.dtype, (got.dtype, want.dtype)
        assert got.shape == want.shape, (got.shape, want.shape)
        assert np.array_equal(got, want, equal_nan=want.dtype.kind in "fc"), (got, want)
    else:
        assert got == want


def agree(statement, arguments, *cases):
    """The same results and the same changes to the arguments."""
    f = compiled(statement, arguments)
    jitted = njit(f)
    for case in cases:
        mine, theirs = [again(x) for x in case], [again(x) for x in case]
        want = f(*theirs)
        same(jitted(*mine), want)
        same(tuple(mine), tuple(theirs))


def refused(statement, arguments, *cases, text=None):
    """NumPy's class of exception, or one of inference; the sentence too where `text` is None; nothing written."""
    f = compiled(statement, arguments)
    jitted = njit(f)
    for case in cases:
        mine = [again(x) for x in case]
        with pytest.raises((IndexError, ValueError, TypeError)) as theirs:
            f(*[again(x) for x in case])
        with pytest.raises(theirs.type) as error:
            jitted(*mine)
        if text is None:
            assert str(error.value).strip() == str(theirs.value).strip()
        else:
            assert text in str(error.value)
        same(tuple(mine), tuple(case))


# -- one array -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_and_positions_of_each_dtype(dtype):
    a = array((5,), dtype)
    mask, positions = np.array([True, False, True, True, False]), np.array([4, -1, 0, 2])
    x = np.array([1, 0, 1], dtype)
    agree("return a[m]", "a, m", (a, mask), (a, ~mask), (a, np.zeros(5, bool)), (a, np.ones(5, bool)))
    agree("return a[i]", "a, i", (a, positions), (a, positions[:0]), (a, positions[::-2]))
    agree("a[m] = x", "a, m, x", (a, mask, x), (a, mask, x[:1]), (a, ~mask, x[:2]))
    agree("a[m] = 1", "a, m", (a, mask))
    agree("a[i] = 0", "a, i", (a, positions), (a, positions[:0]))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64"])
def test_positions_of_each_integer_type(dtype):
    agree("return a[i], a[i, 1]", "a, i", (array((6, 2)), np.array([1, 0, 5], dtype)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(4,), (4, 3), (4, 3, 2)])
def test_layouts(layout, shape):
    a = array(shape, "float64", layout)
    mask, i = a % 3 > 0, np.array([3, 1, -4])
    agree("return a[i], a[m], a[m2]", "a, i, m, m2", (a, i, mask, mask[(slice(None),) + (0,) * (len(shape) - 1)]))
    agree("a[i] = 5\na[m] = -1\na[i[:1]] += 2", "a, i, m", (a, i, mask))


def test_augmented_assignment():
    a, i, m = array((4, 3)), np.array([1, 3, 1]), np.array([True, False, True, True])
    for symbol in ("+", "-", "*", "/"):
        agree(f"a[m] {symbol}= 2", "a, m", (a, m))
        agree(f"a[a > 4] {symbol}= x", "a, x", (a, 3.0))
        agree(f"a[i] {symbol}= x", "a, i, x", (a, i, array((3,)) + 1))


def test_sequences_are_arrays_of_positions():
    a = array((4, 3, 2))
    agree("return a[[0, k]], a[[0, 1], :], a[(k, 3), (0, 1)], a[[[0, 1], [k, 3]]]", "a, k", (a, 2))
    agree("return a[[True, False, True, True]], a[:, [True, False, True]]", "a", (a,))
    agree("a[[0, k]] = 5\na[:, [0, 1], 1] = [1, 2]", "a, k", (a, 2))


def test_arrays_without_axes_are_numbers():
    agree("return a[k, i]", "a, i, k", (array((4, 3)), np.array([0, 1]), np.array(-1)))


def test_open_meshes():
    a, m = array((4, 3)), np.array([True, False, True])
    agree("return a[np.ix_(i, j)]", "a, i, j", (a, np.array([0, 3]), np.array([2, 0, 1])), (a, np.array([1]), np.array([0])))
    agree("return a[np.ix_([0, 2], m)], np.ix_(i)", "a, m, i", (a, m, np.array([5])))
    agree("a[np.ix_(i, j)] = x", "a, i, j, x", (a, np.array([0, 3]), np.array([2, 0]), array((2, 2))))


# -- random indices ------------------------------------------------------------------------------------------------------


def random_index(rng, ndim):
    """The text of an index and its arrays."""
    parts, arrays, axis, dots = [], [], 0, False
    lengths = LENGTHS[:ndim]
    shape = rng.choice([(3,), (2, 3), (1,), (2, 1)])
    while axis < ndim and len(parts) < 5:
        kind = rng.choice(["array", "array", "int", "slice", "slice", "none", "dots", "mask", "stop"])
        if kind == "stop" and arrays:
            break
        n = lengths[axis]
        if kind == "none" or kind == "stop":
            parts.append("None")
        elif kind == "dots":
            if not dots:
                taken = rng.randint(0, ndim - axis)
                dots, axis = True, axis + taken
                parts.append("...")
                lengths = LENGTHS[:ndim]
        elif kind == "int":
            parts.append(str(rng.randrange(-n, n)))
            axis += 1
        elif kind == "slice":
            parts.append(rng.choice([":", "1:", "::-1", ":-1", "::2"]))
            axis += 1
        elif kind == "mask":
            mask = np.zeros(n, bool)
            mask[: shape[-1]] = True
            parts.append(f"x{len(arrays)}")
            arrays.append(mask)
            axis += 1
        else:
            size = shape[rng.randrange(len(shape)):]
            parts.append(f"x{len(arrays)}")
            arrays.append(np.array([rng.randrange(-n, n) for _ in range(int(np.prod(size)))]).reshape(size))
            axis += 1
    return ", ".join(parts), arrays


LENGTHS = (4, 3, 5, 3)


@pytest.mark.parametrize("seed", range(45))
def test_random_indices(seed):
    rng = random.Random(seed)
    ndim = rng.randint(1, 4)
    a = array(LENGTHS[:ndim], rng.choice(["float64", "int32"]), rng.choice(LAYOUTS))
    while True:
        text, arrays = "", []
        while not arrays:
            text, arrays = random_index(rng, ndim)
        names = ", ".join(["a"] + [f"x{k}" for k in range(len(arrays))])
        try:
            want = compiled(f"return a[{text}]", names)(a, *arrays)
        except IndexError:
            continue
        break
    agree(f"return a[{text}]", names, (a, *arrays))
    agree(f"a[{text}] = x", names + ", x", (a, *arrays, array(want.shape, "float64") + 100))
    few = array(want.shape[-1:], "float64") + 50
    agree(f"a[{text}] = x", names + ", x", (a, *arrays, few), (a, *arrays, few[:1]))
    agree(f"a[{text}] = 7", names, (a, *arrays))


# -- memory that is read and written --------------------------------------------------------------------------------------


def test_all_is_read_before_anything_is_written():
    a, i = np.arange(8), np.array([3, 0, 7, 1, 2])
    agree("a[i] = a[:5]", "a, i", (a, i))
    agree("a[a] = a[::-1]", "a", (a,), (a[::-1].copy(),))
    mine = a.copy()  # NumPy reads here what it has just written
    njit(compiled("a[m] = a[:4]", "a, m"))(mine, a % 2 == 1)
    assert mine.tolist() == [0, 0, 2, 1, 4, 2, 6, 3]
    agree("m[m] = m[::-1][m]", "m", (a % 3 == 0,))
    agree("a[a[:3]] = 9", "a", (np.array([1, 2, 0, 5]),))


def test_slices_in_place_are_not_stored_again():
    f = compiled("a[i:j] += x\na[::2] *= 2\na[1, :] -= x[0]\nreturn a", "a, i, j, x")
    a, x = array((6, 3)), array((3,)) + 1
    jitted = njit(f)
    same(jitted(a.copy(), 1, 4, x), f(a.copy(), 1, 4, x))
    text = jitted.inspect_types()
    text = text if isinstance(text, str) else "".join(map(str, text.values() if isinstance(text, dict) else [text]))
    assert text.count("map_into") == 3 or "map_into" not in text


# -- errors ---------------------------------------------------------------------------------------------------------------


def test_positions_out_of_bounds():
    a = array((4, 3))
    refused("return a[i]", "a, i", (a, np.array([0, 4])), (a, np.array([-5])), (a, np.array([[0], [1 << 40]])))
    refused("return a[:, i]", "a, i", (a, np.array([0, 3])), (a, np.array([-4, 0])))
    refused("return a[i, j]", "a, i, j", (a, np.array([0, 1]), np.array([0, -4])))
    refused("a[i] = 1", "a, i", (a, np.array([0, 4])), (a, np.array([0, 1, -5])))
    refused("a[:, i] = x", "a, i, x", (a, np.array([0, 3]), 2.0))
    refused("return a[i]", "a, i", (a[:0], np.array([0])))


def test_masks_of_the_wrong_length():
    a = array((4, 3))
    refused("return a[m]", "a, m", (a, np.ones(3, bool)), (a, np.ones(5, bool)))
    refused("return a[m]", "a, m", (a, np.ones((4, 2), bool)), (a, np.ones((3, 4), bool)))
    refused("return a[:, m]", "a, m", (a, np.ones(4, bool)))
    refused("a[m] = 1", "a, m", (a, np.ones(3, bool)))
    refused("a[m] = x", "a, m, x", (a, np.ones((4, 3), bool), np.ones(5)), (a, a > 6, np.ones(2)))


def test_shapes_that_do_not_fit():
    a = array((4, 3))
    refused("return a[i, j]", "a, i, j", (a, np.array([0, 1]), np.array([0, 1, 2])), text="indexing arrays could not be broadcast")
    refused("a[i] = x", "a, i, x", (a, np.array([0, 1]), np.ones(2)), text="could not be broadcast")
    refused("a[i] = x", "a, i, x", (a, np.array([0, 1]), np.ones((3, 3))), text="could not be broadcast")
    with pytest.raises(quern.TypingError, match="too many indices"):
        njit(lambda a, i: a[i, i, i])(a, np.array([0, 1]))


def test_what_is_no_index_is_refused():
    a = array((4, 3))
    for index in (np.ones(2), np.ones(2, complex)):
        with pytest.raises(quern.TypingError):
            njit(lambda a, i: a[i])(a, index)
    with pytest.raises(quern.TypingError):
        njit(lambda a: a[[0.5, 1.0]])(a)
    frozen = array((4, 3))
    frozen.flags.writeable = False

    @njit
    def write(a, i):
        a[i] = 1

    with pytest.raises((quern.TypingError, ValueError)):
        write(frozen, np.array([0]))


# -- functions -------------------------------------------------------------------------------------------------------------


def test_finding():
    for a in (array((4,)), array((3, 4), "int32", "F") % 3, array((2, 3, 2), "float64", "strided") % 2, array((0, 3)), np.array([0.0, np.nan, 1j])):
        agree("return np.nonzero(a), np.where(a), np.flatnonzero(a), np.argwhere(a), a.nonzero()", "a", (a,))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_taking(layout):
    a, i = array((4, 3, 2), "int32", layout), np.array([[1, 0], [1, 1]])
    agree("return np.take(a, i), a.take(i), np.take(a, [3, k])", "a, i, k", (a, i, -1))
    agree("return np.take(a, i, axis=0), np.take(a, i, 1), np.take(a, i, axis=-1), np.take(a, 1, axis=1)", "a, i", (a, i))
    agree("return np.take(a, i * 9 - 7, mode='wrap'), np.take(a, i * 9 - 7, 1, mode='clip')", "a, i", (a, i))
    agree("return np.take(a, i, 0, out), out", "a, i, out", (a, i, np.zeros((2, 2, 3, 2), "int32")))
    agree("return np.take_along_axis(a, j, 1), np.take_along_axis(a, j[:1], axis=1)", "a, j", (a, array((4, 2, 2), "int64") % 3))
    agree("return np.take_along_axis(a, k, None)", "a, k", (a, np.array([3, 0, -1])))
    agree("return np.compress(c, a, axis=0), np.compress(c, a), a.compress(c, 1)", "a, c", (a, np.array([False, True, True])), (a, np.array([True])))
    agree("return np.extract(a > 4, a)", "a", (a,))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_putting(layout):
    a = array((4, 3), "float64", layout)
    agree("np.put(a, i, v)", "a, i, v", (a, np.array([0, -1, 5]), np.array([1.0, 2.0])), (a, np.array([0, 1]), np.array([])))
    agree("np.put(a, [0, k], 7)\na.put(3, k)", "a, k", (a, -1))
    agree("np.put(a, i, v, mode='wrap')\nnp.put(a, i, v * 2, 'clip')", "a, i, v", (a, np.array([100, -30]), np.array([1.0, 2.0])))
    agree("np.place(a, a > 4, v)", "a, v", (a, np.array([1.0, 2.0])))
    agree("np.put_along_axis(a, j, v, 1)", "a, j, v", (a, np.array([[0], [2], [1], [0]]), 9.0))
    agree("np.fill_diagonal(a, v)", "a, v", (a, 9.0))
    agree("np.fill_diagonal(a, v, True)", "a, v", (a, np.array([1.0, 2.0])))


def test_choosing():
    i = np.array([[0, 2], [1, 0]])
    agree("return np.choose(i, (x, 7, y))", "i, x, y", (i, array((2, 2)), array((2,))))
    agree("return np.choose(i * 5 - 3, (x, y), mode='wrap'), np.choose(i, (x, y), mode='clip')", "i, x, y", (i, array((2, 2)), array((2,))))
    agree("return np.select([i > 1, i > 0], [x, i], -1)", "i, x", (i, array((2, 2))))
    refused("return np.choose(i, (x, x))", "i, x", (i, array((2,))), text="invalid entry in choice array")


def test_grids_of_positions():
    agree("return np.indices((2, n)), np.indices((n,), np.int32), np.indices((2, n), sparse=True)", "n", (3,), (0,))
    agree("return np.diag_indices(n), np.diag_indices(n, 3)", "n", (3,), (0,))
    agree("return np.tril_indices(n), np.tril_indices(n, 1), np.tril_indices(n, -1, 5)", "n", (3,), (0,))
    agree("return np.triu_indices(n), np.triu_indices(n, k=1), np.triu_indices(n, -1, 2)", "n", (3,), (0,))
    agree("return np.unravel_index(i, (n, 4)), np.unravel_index(i, (n, 4), 'F'), np.unravel_index(7, (2, n, 2))", "i, n", (np.array([0, 11, 5]), 3))
    agree("return np.ravel_multi_index((i, j), (3, n)), np.ravel_multi_index((i, j), (3, n), order='F')", "i, j, n", (np.array([0, 2]), np.array([3, 1]), 4))
    agree("return np.ravel_multi_index((i * 4, j - 5), (3, n), mode='wrap')", "i, j, n", (np.array([0, 2]), np.array([3, 1]), 4))


def test_functions_refuse_positions_out_of_bounds():
    a = array((4, 3))
    refused("return np.take(a, i)", "a, i", (a, np.array([12])), (a, np.array([-13])), text="is out of bounds")
    refused("return np.take(a, i, 1)", "a, i", (a, np.array([3])), text="is out of bounds for axis 1 with size 3")
    refused("np.put(a, i, 1.0)", "a, i", (a, np.array([12])), (a, np.array([0, -13])), text="is out of bounds")
    refused("return np.take_along_axis(a, i, 1)", "a, i", (a, np.array([[3]])), text="out of bounds")
    refused("return np.unravel_index(i, (3, 4))", "i", (np.array([12]),), (np.array([-1]),), text="is out of bounds for array with size 12")
    refused("return np.ravel_multi_index((i, i), (3, 4))", "i", (np.array([3]),), (np.array([-1]),))
    refused("np.place(a, a > 1, v)", "a, v", (a, np.array([])), text="Cannot insert from an empty array!")
    refused("return np.compress(c, a, 0)", "c, a", (np.ones(5, bool), a), text="is out of bounds")
