"""Sequences where NumPy takes arrays: operands, targets, indices, arguments; ints that no element holds; grids."""
import numpy as np
import pytest
from beside import check

from quern import errors, njit


def arrays():
    return np.arange(12.0).reshape(3, 4), np.arange(6.0), np.arange(6, dtype="u2")


def body(statements, result):
    """A function of several lines, compiled and in Python."""
    space = {"np": np}
    exec(f"def f(a, v, u):\n    {statements}\n    return {result}\n", space)
    return space["f"], njit(space["f"])


def agree(statements, result):
    f, jitted = body(statements, result)
    got, want = jitted(*arrays()), f(*arrays())
    for g, w in zip(got if isinstance(want, tuple) else (got,), want if isinstance(want, tuple) else (want,)):
        assert np.shape(g) == np.shape(w) and (not isinstance(w, np.ndarray) or g.dtype == w.dtype)
        np.testing.assert_allclose(g, w, rtol=1e-13)


@pytest.mark.parametrize("target", ["a[0:2, 0:2] = [[1, 2], [3, 4]]", "a[0:2, 0:2] = ((1, 2), (3, 4))", "a[:] = [[1, 2, 3, 4]]", "a[:] = [1.5, 2, 3, 4]",
                                    "a[[0, 2]] = [[1, 2, 3, 4], [5, 6, 7, 8]]", "a[:, 1] = [1, 2, 3]", "a[0] = [7]", "a[a > 3] = [1, 2, 3, 4, 5, 6, 7, 8]",
                                    "xs = [k for k in range(4)]; a[1] = xs", "xs = [[k, k + 1] for k in range(3)]; a[:, 1:3] = xs", "a[...] = [[5]]",
                                    "a[[0, 2], 1] = [9, 8]", "a[[]] = 3", "xs = [0, 2]; xs.append(1); a[xs] = 1", "a += [1, 2, 3, 4]", "a[[0, 2]] += [[1], [2]]"])
def test_sequences_are_assigned(target):
    agree(target, "a")


@pytest.mark.parametrize("source", ["a + [1, 2, 3, 4]", "[1, 2, 3, 4] * a", "a + [[1], [2], [3]]", "a - (1, 2, 3, 4)", "a < [3, 3, 3, 3]", "a ** [2, 1, 0, 2]",
                                    "v[[]]", "a[[]]", "a[:, []]", "v[[2, 0]], a[[2, 0]], a[[0, 1], [1, 2]]", "np.convolve(v, [1.0, 2.0])", "u + [1, 2, 3, 4, 5, 70000]"])
def test_sequences_are_operands_and_indices(source):
    agree("pass", source)


@pytest.mark.parametrize("source", ["v + xs", "xs + v", "np.sqrt(xs), np.add(v, xs)", "v[xs]", "np.sum(xs), np.mean(xs), np.max(xs), np.median(xs), np.sort(xs)",
                                    "np.array(xs), np.array(xs, dtype=np.float32)", "np.stack((v, xs))", "np.outer(xs, xs), np.dot(v, xs)", "np.searchsorted(xs, 3)",
                                    "np.array(pairs), np.sum(pairs)", "np.array(rows) + a", "v > xs", "np.where(v > 2, v, xs)"])
def test_lists_that_are_known_at_run_time(source):
    agree("xs = [k for k in range(len(v))]; pairs = [(k, k + 1) for k in range(3)] ; rows = [[k + j for j in range(4)] for k in range(3)]", source)


def test_shapes_of_sequences_that_do_not_fit():
    for statements, words in (("a[0:2, 0:2] = [[1, 2, 3], [4, 5, 6]]", "broadcast"), ("a[:] = [1, 2, 3]", "broadcast")):
        with pytest.raises(ValueError, match=words):
            body(statements, "a")[1](*arrays())
    for source in ("a + [1, 2, 3]",):
        with pytest.raises(ValueError, match="broadcast"):
            body("pass", source)[1](*arrays())
    with pytest.raises(ValueError, match="inhomogeneous"):
        body("xs = [[k for k in range(j)] for j in range(3)]", "np.array(xs)")[1](*arrays())


PUT_IN = ["np.array([1, {}], np.uint16)", "np.asarray([[1, {}]], np.uint16)", "np.put(u, [0, 1], [{}, 2])", "np.put(u, [0, 1], {})", "np.place(u, u > 2, [{}, 2])",
          "np.putmask(u, u > 2, [{}, 2])", "np.copyto(u, {})", "np.insert(u, 1, {})", "np.insert(u, 1, [1, {}])", "np.arange({0}, {0} + 3, dtype=np.uint16)"]


@pytest.mark.parametrize("source", PUT_IN)
@pytest.mark.parametrize("x", [-1, 70000])
def test_INT_05_ints_that_no_element_holds(source, x):
    """Literals are refused with their place, others when the function runs; nothing is written."""
    u = np.arange(6, dtype="u2")
    literal, variable = {"np": np}, {"np": np}
    exec(f"def f(u): return {source.format(x)}", literal)
    exec(f"def f(u, x): return {source.format('x')}", variable)
    with pytest.raises(OverflowError, match="out of bounds for uint16"):
        literal["f"](u.copy())
    with pytest.raises(errors.TypingError, match="out of bounds for uint16"):
        njit(literal["f"])(u.copy())
    kept = u.copy()
    with pytest.raises(OverflowError, match="out of bounds for uint16"):
        njit(variable["f"])(kept, x)
    assert np.array_equal(kept, u)
    got, want = njit(variable["f"])(kept, 7), variable["f"](u, 7)
    assert np.array_equal(kept, u) and (want is None or np.array_equal(got, want))


@pytest.mark.parametrize("values", ["(1, 2, 3)", "5", "(9,)", "a", "(1.5, 2.5)"])
def test_putmask(values):
    for data in (np.arange(6), np.arange(6.0).reshape(2, 3), np.arange(12)[::-2], np.arange(6, dtype="u1")):
        f, jitted = {"np": np}, None
        exec(f"def f(a, m): np.putmask(a, m, {values})", f)
        jitted = njit(f["f"])
        mine, theirs = data.copy(), data.copy()
        f["f"](theirs, theirs % 2 == 1)
        jitted(mine, mine % 2 == 1)
        assert np.array_equal(mine, theirs)
    with pytest.raises(ValueError, match="same size"):
        jitted(np.arange(4), np.ones(3, bool))


@pytest.mark.parametrize("source", ["np.mgrid[0:3, 0:n]", "np.mgrid[0:n]", "np.mgrid[1:9:2, n:0:-1, 0:2]", "np.ogrid[0:3, 0:n]",
                                    "np.ogrid[0:n]", "np.r_[v, 1.0, v]", "np.r_[0:n, 3, v]", "np.c_[v, v]", "np.c_[a, v[:3]]", "np.ndarray(n, dtype=np.float32).shape",
                                    "np.ndarray((2, n), np.int64).shape", "np.vecdot(a, a)", "np.matvec(a, a[0])", "np.vecmat(v[:3], a)", "np.vecdot(v * 1j, v + 1j)"])
def test_grids_and_kin(source):
    a, v, _ = arrays()
    if not all(hasattr(np, name) for name in ("vecdot", "matvec", "vecmat") if name in source):
        pytest.skip("this NumPy has no such function to compare with: vecdot came with 2.0, the others with 2.2")
    check(source, [(a, v, 4)], False, "a, v, n")


def test_numbers_that_may_be_none():
    def found(x, limit):
        return None if x > limit else x

    def f(x):
        i = found(x, 9)
        return int(i) + float(i) + abs(i) if i is not None else -1

    g = njit(f)
    space = {"found": found}
    assert g(4) == f(4) == 12 and g(10) == f(10) == -1 and space
