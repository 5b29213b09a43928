"""@stencil (FEATURES D21): kernels by relative indices, against the same kernel in Python on a view that counts from its place."""
import io
import itertools
import subprocess
import sys
from contextlib import redirect_stdout

import numpy as np
import pytest

from quern import errors, njit, stencil
from test_as_numba import run_as_numba


class Here:
    """An array whose indices count from a place."""

    def __init__(self, a, at):
        self.a, self.at = a, at

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        moved = [slice(k.start + i, k.stop + i, k.step) if isinstance(k, slice) else k + i for i, k in zip(self.at, index)]
        return self.a[tuple(moved)]


def by_hand(kernel, around, *args, cval=0, standard=(), out=None, fill=False):
    """`around`: the least and the greatest index of each axis."""
    first = args[0]
    names = kernel.__code__.co_varnames[:kernel.__code__.co_argcount]
    inside = [range(max(0, -low), n - max(0, high)) for n, (low, high) in zip(first.shape, around)]
    values = {}
    for at in itertools.product(*inside):
        given = [Here(a, at) if isinstance(a, np.ndarray) and name not in standard else a for name, a in zip(names, args)]
        values[at] = kernel(*given)
    if out is None:
        out, fill = np.zeros(first.shape, np.result_type(*values.values()) if values else float), True
    if fill:
        border = np.ones(first.shape, bool)
        if values:
            border[tuple(slice(r.start, r.stop) for r in inside)] = False
        out[border] = cval
    for at, value in values.items():
        out[at] = value
    return out


GRID = np.random.default_rng(5).standard_normal((7, 9))


def cross(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@pytest.mark.parametrize("a", [GRID, GRID.T, GRID[::2, ::-1], GRID.astype(np.float32), (GRID * 10).astype(np.int64), GRID[:2], GRID[:3, :3],
                               np.zeros((0, 4)), GRID + 1j],
                         ids="plain turned sliced single ints flat small empty complex".split())
def test_a_cross_from_python_compiled_and_parallel_code(a):
    f = stencil(cross)
    want = by_hand(cross, [(-1, 1), (-1, 1)], a)
    for got in (f(a), njit(lambda a: f(a))(a), njit(parallel=True)(lambda a: f(a))(a)):
        assert got.shape == want.shape and got.dtype == want.dtype or a.size == 0 or a.shape[0] < 3
        assert np.array_equal(got, want)


@pytest.mark.parametrize("kernel, around", [
    (lambda a: a[-1] + 2 * a[0] - a[3], [(-1, 3)]), (lambda a: a[2] - a[1], [(0, 2)]), (lambda a: a[-4], [(-4, 0)]),
    (lambda a: a[0] if a[0] > a[1] else a[1], [(0, 1)]), (lambda a: a[0], [(0, 0)]), (lambda a: a[1 - 3], [(-2, 0)]),
])
def test_lines(kernel, around):
    f = stencil(kernel)
    for a in (np.arange(10.0), np.arange(10)[::-1], np.linspace(0, 1, 4).astype(np.float32), np.arange(2.0)):
        got = f(a)
        assert np.array_equal(got, by_hand(kernel, around, a))


def test_three_axes():
    def kernel(a):
        return a[1, 0, 0] + a[-1, 0, 0] + a[0, 2, 0] - a[0, 0, -1] * 3

    a = np.random.default_rng(1).integers(0, 99, (5, 6, 4))
    assert np.array_equal(stencil(kernel)(a), by_hand(kernel, [(-1, 1), (0, 2), (-1, 0)], a))


def test_neighborhood_and_indices_of_loops():
    def mean(a):
        total = a[-3]
        for i in range(-2, 1):
            total += a[i]
        return total / 4

    def window(a):
        return np.sum(a[-2:3]) * 0.5

    def patch(a):
        total = 0.0
        for i in range(-1, 2):
            for j in range(-2, 3):
                total += a[i, j] * (i + 2 * j)
        return total

    def by_tuple(a):
        best = a[0, 0]
        for at in [(-1, 0), (0, 1), (1, -1)]:
            best = max(best, a[at])
        return best

    line = np.random.default_rng(2).standard_normal(30)
    assert np.allclose(stencil(mean, neighborhood=((-3, 0),))(line), by_hand(mean, [(-3, 0)], line))
    assert np.allclose(stencil(window, neighborhood=((-2, 2),))(line), by_hand(window, [(-2, 2)], line))
    assert np.allclose(stencil(patch, neighborhood=((-1, 1), (-2, 2)))(GRID), by_hand(patch, [(-1, 1), (-2, 2)], GRID))
    assert np.allclose(stencil(by_tuple, neighborhood=((-1, 1), (-1, 1)))(GRID), by_hand(by_tuple, [(-1, 1), (-1, 1)], GRID))
    wider = stencil(cross, neighborhood=((-2, 2), (-1, 3)))
    assert np.array_equal(wider(GRID), by_hand(cross, [(-2, 2), (-1, 3)], GRID))
    with pytest.raises(errors.TypingError, match="neighborhood"):
        njit(lambda a: stencil_of_loop(a))(line)
    with pytest.raises(errors.NumbaError, match="dimensional neighborhood specified for"):
        njit(lambda a: narrow(a))(GRID)


stencil_of_loop = stencil(lambda a: sum([a[i] for i in range(3)]))
narrow = stencil(cross, neighborhood=((-1, 1),))


def test_more_arrays_numbers_and_standard_indexing():
    def both(a, b, w):
        return w * (a[0, 1] - b[-1, 0])

    def weighted(a, w):
        return a[-1] * w[0] + a[0] * w[1] + a[1] * w[2]

    def mixed(a, b, mask):
        return a[0, 0] if mask[0, 0] else b[0, 0]

    b = GRID[::-1].copy()
    assert np.array_equal(stencil(both)(GRID, b, 0.5), by_hand(both, [(-1, 0), (0, 1)], GRID, b, 0.5))
    line, w = np.arange(12.0) ** 2, np.array([0.5, 1.0, -2.0])
    f = stencil(standard_indexing=("w",))(weighted)
    want = by_hand(weighted, [(-1, 1)], line, w, standard=("w",))
    assert np.array_equal(f(line, w), want)
    assert np.array_equal(njit(lambda a, w: f(a, w))(line, (0.5, 1.0, -2.0)), want)
    mask = b > 0
    assert np.array_equal(stencil(mixed)(GRID, b, mask), np.where(mask, GRID, b))
    with pytest.raises(ValueError, match="some dimension smaller"):
        stencil(both)(GRID, b[:-1], 0.5)
    assert np.array_equal(stencil(both)(GRID[:5], b, 2.0), by_hand(both, [(-1, 0), (0, 1)], GRID[:5], b, 2.0))


def test_out_and_cval():
    a = np.arange(30).reshape(5, 6)
    for cval in (0, 7, -1.5):
        f = stencil(cross, cval=cval)
        want = by_hand(cross, [(-1, 1), (-1, 1)], a, cval=cval)
        assert np.array_equal(f(a), want)
        for run in (f, njit(lambda a, out: f(a, out=out))):
            out = np.full((5, 6), 99.0)
            got = run(a, out=out) if run is f else run(a, out)
            assert got is out and np.array_equal(out, want)
    out = np.full((5, 6), 99.0)  # without cval its border stays
    stencil(cross)(a, out=out)
    assert np.array_equal(out, by_hand(cross, [(-1, 1), (-1, 1)], a, out=np.full((5, 6), 99.0)))
    assert np.isnan(stencil(cross, cval=np.nan)(a)[0]).all() and (stencil(cross, cval=np.inf)(a)[-1] == np.inf).all()
    ints = stencil(lambda a: a[-1] + a[1], cval=5)(np.arange(6))
    assert ints.dtype == np.int64 and ints.tolist() == [5, 2, 4, 6, 8, 5]
    with pytest.raises(errors.NumbaError, match="cval type does not match"):
        stencil(cross, cval=1j)(a)
    small = np.full((1, 6), 3.0)
    assert np.array_equal(stencil(cross, cval=4.0)(small), np.full((1, 6), 4.0))


def test_what_a_kernel_calls_and_closes_over():
    @njit
    def twice(x):
        return 2 * x

    step, scale = 2, 0.5

    def kernel(a, power=2):
        """With a default, a call, a branch and constants from outside."""
        x = a[step, 0] - a[-step, 0]
        if x > 0:
            return twice(x) ** power
        return scale * x

    f = stencil(kernel)
    want = by_hand(kernel, [(-2, 2), (0, 0)], GRID, 2)
    assert np.allclose(f(GRID), want)
    assert np.allclose(f(GRID, 3), by_hand(kernel, [(-2, 2), (0, 0)], GRID, 3))
    assert np.allclose(njit(lambda a: f(a) + 1)(GRID), want + 1)


def test_index_offsets():
    f = stencil(lambda a: a[1] + a[2], index_offsets=(-1,), neighborhood=((0, 1),))
    assert np.array_equal(f(np.arange(6.0)), by_hand(lambda a: a[0] + a[1], [(0, 1)], np.arange(6.0)))


def test_several_kernels_in_one_function():
    smooth, right = stencil(cross), stencil(lambda a: a[0, 1] - a[0, 0])

    @njit
    def steps(a, n):
        for _ in range(n):
            a = smooth(a)
        return right(a)

    want = GRID
    for _ in range(3):
        want = by_hand(cross, [(-1, 1), (-1, 1)], want)
    assert np.allclose(steps(GRID, 3), by_hand(lambda a: a[0, 1] - a[0, 0], [(0, 0), (0, 1)], want))


def test_the_loops_are_parallel_and_have_no_checks():
    f = stencil(cross)
    run = njit(parallel=True)(lambda a: f(a))
    run(GRID)
    told = io.StringIO()
    with redirect_stdout(told):
        run.parallel_diagnostics(level=1)
    assert "runs on several threads" in told.getvalue()
    plain = njit(lambda a, out: f(a, out=out))
    plain(GRID, np.zeros_like(GRID))
    assert "nothing but the work itself" in "".join(plain.inspect_loops().values())


@pytest.mark.parametrize("make, what", [
    (lambda: stencil(lambda a: a[0], mode="reflect"), "Unknown stencil option mode"),
    (lambda: stencil("reflect"), "Unsupported mode style reflect"),
    (lambda: stencil(lambda a, out: a[0]), "reserved word 'out'"),
    (lambda: stencil(lambda a, b: a[0], standard_indexing=("c",)), "not present in the stencil kernel"),
    (lambda: stencil(lambda a, b: a[0], standard_indexing=("a",)), "must use relative indexing"),
    (lambda: stencil(lambda a: a[0])(3), "primary input array"),
    (lambda: stencil(lambda a: a[0, 0])(np.zeros(3)), "does not match array dimensionality"),
    (lambda: stencil(lambda a: 1.0)(np.zeros(3)), "no accesses to relatively indexed arrays"),
    (lambda: stencil(writes)(np.zeros(3)), "Assignments to arrays"),
    (lambda: stencil(lambda a: (a[0], a[1]))(np.zeros(3)), "must return a scalar"),
    (lambda: stencil(lambda a, w: a[0] * w[0])(np.zeros(3), (1.0, 2.0)), "standard_indexing"),
    (lambda: stencil(eval("lambda a: a[0]"))(np.zeros(3)), "needs the source"),
])
def test_refusals(make, what):
    with pytest.raises(errors.NumbaError, match=what):
        make()


def writes(a):
    a[0] = 1.0
    return a[0]


@stencil
def difference(a):
    return a[1] - a[0]


def test_lambdas_of_one_line_are_told_apart():
    k, m, a = 3, 5, np.arange(6)
    first, second = stencil(lambda a: a[0] * k), stencil(lambda a: a[0] + m + k)
    inner = (lambda: (lambda a: a[0] - k))()  # one in another
    both = [stencil(f) for f in (lambda a: (a[0] if k > 2 else a[0] * m), lambda a: (a[0] if k > 9 else a[0] * m))]
    assert first(a).tolist() == (a * 3).tolist() and second(a).tolist() == (a + 8).tolist()
    assert stencil(inner)(a).tolist() == (a - 3).tolist()
    assert both[0](a).tolist() == a.tolist() and both[1](a).tolist() == (a * 5).tolist()


def test_lambdas_of_one_line_without_columns_are_refused():
    program = """
import numpy as np, linecache
from quern import errors, stencil
text = "k = 2; f, g, h = lambda a: a[0] * k, lambda a: a[0] + k, 0\\nh = lambda a: a[0] - k\\n"
linecache.cache["kernels.py"] = len(text), None, text.splitlines(True), "kernels.py"
exec(compile(text, "kernels.py", "exec"))
print(stencil(h)(np.arange(3)).tolist())
try:
    stencil(f)(np.arange(3))
except errors.NumbaError as e:
    print("cannot be told" in str(e))
"""
    done = subprocess.run([sys.executable, "-X", "no_debug_ranges", "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[-2, -1, 0]", "True"], done.stderr


def test_kernels_that_return_bools():
    def larger(a):
        return a[0, 0] > a[0, 1]

    for cval in (0, True):
        f = stencil(larger, cval=cval)
        want = by_hand(larger, [(0, 0), (0, 1)], GRID, cval=cval)
        for got in (f(GRID), njit(lambda a: f(a))(GRID)):
            assert got.dtype == bool and np.array_equal(got, want)


def test_attributes_and_pickling():
    import pickle
    f = stencil(cross, neighborhood=((-1, 1), (-1, 1)))
    assert f.__name__ == "cross" and f.neighborhood == ((-1, 1), (-1, 1)) and f.py_func is cross
    assert pickle.loads(pickle.dumps(difference)) is difference


PROGRAM = """
import numpy as np
from numba import stencil, njit, prange
import numba

@stencil
def k(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])

@njit(parallel=True)
def run(a, n):
    for _ in range(n):
        a = k(a)
    return a

a = np.arange(36.0).reshape(6, 6)
print(k(a).dtype, run(a, 2)[2, 2], numba.stencil(lambda a: a[-1] + a[1])(np.arange(5)).tolist())
"""


def test_as_numba(tmp_path):
    assert run_as_numba(tmp_path, PROGRAM).split() == ["float64", "14.0", "[0,", "2,", "4,", "6,", "0]"]
