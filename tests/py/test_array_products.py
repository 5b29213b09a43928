"""Products of matrices and vectors beside NumPy: every rank, dtype and layout, over a BLAS and without one."""
import itertools
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import quern
from quern import njit

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
FLOATS = ["float32", "float64", "complex64", "complex128"]


def values(rng, dtype, shape):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape)).astype(dtype) if kind == "c" else a.astype(dtype)


LAYOUTS = ["C", "F", "strided", "backwards", "apart", "transposed", "repeated"]


def laid_out(a, form):
    """The same values (repeated: of the first row) in another layout."""
    if form == "F":
        return np.asfortranarray(a)
    if form == "strided":
        wide = np.zeros(a.shape[:-1] + (2 * a.shape[-1],), a.dtype)
        wide[..., ::2] = a
        return wide[..., ::2]
    if form == "backwards":
        return np.ascontiguousarray(a[::-1])[::-1]
    if form == "apart":  # rows with something between them
        wide = np.zeros(a.shape[:-1] + (a.shape[-1] + 3,), a.dtype)
        wide[..., 1:-2] = a
        return wide[..., 1:-2]
    if form == "transposed":
        return np.ascontiguousarray(a.T).T
    if form == "repeated":
        return np.broadcast_to(a[:1], a.shape)
    return np.ascontiguousarray(a)


def same(got, want):
    assert np.shape(got) == np.shape(want)
    if isinstance(want, np.ndarray):
        assert isinstance(got, np.ndarray) and got.dtype == want.dtype
    if np.asarray(want).dtype.kind in "biu":
        assert np.array_equal(got, want)
    else:
        tolerance = {2: 2e-2, 4: 2e-4, 8: 1e-11, 16: 1e-11}[2 if want.dtype == np.float16 else np.finfo(want.dtype).dtype.itemsize]
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * max(1, np.abs(want).max(initial=0)))


@njit
def at(a, b):
    return a @ b


# -- @ ----------------------------------------------------------------------------------------------------------------


RANKS = [((5,), (5,)), ((3, 5), (5,)), ((5,), (5, 4)), ((3, 5), (5, 4))]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_and_rank(dtype):
    rng = np.random.default_rng(1)
    for left, right in RANKS:
        a, b = values(rng, dtype, left), values(rng, dtype, right)
        same(at(a, b), a @ b)


@pytest.mark.parametrize("dtypes", [("bool", "int8"), ("int8", "uint8"), ("int64", "uint64"), ("int32", "float32"), ("float32", "float64"), ("float32", "complex64"), ("float64", "complex64"), ("int16", "float16")])
def test_dtypes_meet_as_in_numpy(dtypes):
    rng = np.random.default_rng(2)
    a, b = values(rng, dtypes[0], (3, 4)), values(rng, dtypes[1], (4, 2))
    same(at(a, b), a @ b)
    same(at(b.T, a.T), b.T @ a.T)


def check_layouts(dtype, m, k, n):
    rng = np.random.default_rng(3)
    a, b = values(rng, dtype, (m, k)), values(rng, dtype, (k, n))
    for first, second in itertools.product(LAYOUTS, LAYOUTS):
        x, y = laid_out(a, first), laid_out(b, second)
        same(at(x, y), x @ y)
        same(at(x, y[:, 0]), x @ y[:, 0])
        same(at(x[0], y), x[0] @ y)
        same(at(x[0], y[:, 0]), x[0] @ y[:, 0])


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(3, 4, 2), (20, 30, 25), (1, 40, 1), (40, 1, 40), (1, 9, 50), (50, 9, 1)])
def test_every_layout(dtype, sizes):
    check_layouts(dtype, *sizes)


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex128"])
def test_empty_ones(dtype):
    for m, k, n in itertools.product((0, 2), (0, 3), (0, 4)):
        a, b = np.ones((m, k), dtype), np.ones((k, n), dtype)
        same(at(a, b), a @ b)
        same(at(a, b[:, 0] if n else np.ones(k, dtype)), a @ (b[:, 0] if n else np.ones(k, dtype)))
        same(at(np.ones(k, dtype), b), np.ones(k, dtype) @ b)


STACKS = [((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((1, 3, 4), (6, 4, 2)), ((0, 3, 4), (4, 2))]


@pytest.mark.parametrize("shapes", STACKS)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float64"])
def test_stacks_broadcast(shapes, dtype):
    rng = np.random.default_rng(4)
    a, b = values(rng, dtype, shapes[0]), values(rng, dtype, shapes[1])
    same(at(a, b), a @ b)
    same(at(laid_out(a, "strided"), laid_out(b, "strided")), a @ b)


def test_nan_and_infinity_go_through():
    a = np.array([[1.0, np.inf], [np.nan, 0.0]])
    b = np.array([[0.0, 1.0], [1.0, 0.0]])
    with np.errstate(invalid="ignore"):
        assert np.array_equal(at(a, b), a @ b, equal_nan=True)
    big = np.zeros((20, 20))
    big[3, 4] = np.nan
    assert np.array_equal(np.isnan(at(big, np.zeros((20, 20)))), np.isnan(big @ np.zeros((20, 20))))


def test_unaligned_operands():
    memory = np.zeros(8 * 400 + 1, np.uint8)
    a = memory[1:].view(np.float64).reshape(20, 20)
    a[...] = np.random.default_rng(5).random((20, 20))
    assert not a.flags.aligned
    same(at(a, a), a @ a)
    same(at(a[:3, :3], a[:3, 0]), a[:3, :3] @ a[:3, 0])


@pytest.mark.parametrize("dtype", FLOATS)
def test_large_ones(dtype):
    rng = np.random.default_rng(6)
    for m, k, n in ((130, 300, 70), (97, 513, 521), (6, 1000, 8)):
        a, b = values(rng, dtype, (m, k)), values(rng, dtype, (k, n))
        same(at(a, b), a @ b)
        same(at(b.T, a.T), b.T @ a.T)


@pytest.mark.parametrize("dtype", ["int8", "float16"] + FLOATS)
def test_long_vectors(dtype):
    rng = np.random.default_rng(17)
    a, b = values(rng, dtype, (2000,)), values(rng, dtype, (2000,))
    for x, y in ((a, b), (a[::-1], b), (a[::3], b[::-3]), (np.broadcast_to(a[:1], (2000,)), b)):
        same(np.asarray(at(x, y)).astype(dtype), np.asarray(x @ y))


def test_shapes_that_do_not_fit():
    for a, b in ((np.ones((2, 3)), np.ones((2, 3))), (np.ones(3), np.ones(4)), (np.ones((2, 3)), np.ones(2)), (np.ones(3), np.ones((2, 3)))):
        with pytest.raises(ValueError, match="matmul: Input operand 1 has a mismatch in its core dimension 0") as caught:
            at(a, b)
        with pytest.raises(ValueError) as wanted:
            a @ b
        assert str(caught.value) == str(wanted.value)
    with pytest.raises(ValueError):
        at(np.ones((2, 3, 4)), np.ones((3, 4, 5)))
    with pytest.raises(quern.TypingError):
        at(np.ones((2, 2)), 2.0)


def test_in_kernels_they_are_loops_of_the_thread(device):
    @quern.cuda.jit
    def kernel(a, b, m, out):
        i = quern.cuda.grid(1)
        out[i] = np.dot(a, b[i]) + np.vdot(a, b[i]) * 100
        np.matmul(m[i], m[i], m[i + 2])

    a, b, out = np.array([1.0, 2, 3]), np.arange(6.0).reshape(2, 3), np.zeros(2)
    m = np.arange(16.0).reshape(4, 2, 2)
    want = np.matmul(m[:2], m[:2])
    kernel[1, 2](a, b, m, out)
    assert out.tolist() == (101 * (b @ a)).tolist() and (m[2:] == want).all()


def test_kernels_refuse_linear_systems():
    @quern.cuda.jit
    def kernel(a, b):
        b[0] = np.linalg.solve(a, b)[0]

    with pytest.raises((quern.TypingError, quern.UnsupportedError), match="kernel|GPU"):
        kernel[1, 1](np.ones((3, 3)), np.ones(3))


# -- out, in place -----------------------------------------------------------------------------------------------------


@njit
def into(a, b, out):
    return np.matmul(a, b, out)


@njit
def into_by_name(a, b, out):
    return np.matmul(a, b, out=out)


@pytest.mark.parametrize("dtype", ["int32", "float16", "float64", "complex64"])
@pytest.mark.parametrize("form", ["C", "F", "strided", "backwards", "apart"])
@pytest.mark.parametrize("size", [3, 20])
def test_out_of_every_layout(dtype, form, size):
    rng = np.random.default_rng(7)
    a, b = values(rng, dtype, (size, 5)), values(rng, dtype, (5, size))
    out = laid_out(np.zeros((size, size), dtype), form)
    assert into(a, b, out) is out
    same(out, a @ b)
    column = laid_out(np.zeros((size, size), dtype), form)[:, 1]
    into_by_name(a, b[:, 0], column)
    same(column.copy(), a @ b[:, 0])


@pytest.mark.parametrize("size", [3, 24])
@pytest.mark.parametrize("dtype", ["int64", "float64", "complex128"])
def test_out_that_overlaps_is_read_first(size, dtype):
    rng = np.random.default_rng(8)
    memory = values(rng, dtype, (3 * size, size))
    a, b = memory[:size], values(rng, dtype, (size, size))
    for shift in (0, 1, size - 1):
        mine = memory.copy()
        x, y = mine[:size], mine[shift:shift + size]
        want = x @ y
        into(x, y, mine[1:size + 1])
        same(mine[1:size + 1].copy(), want)
    c = a.copy()
    assert into(c, b, c) is c
    same(c, a @ b)
    stack = values(rng, dtype, (4, size, size))
    want = stack[:3] @ stack[1:]
    into(stack[:3], stack[1:], stack[1:])
    same(stack[1:].copy(), want)


def test_out_of_another_dtype():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    out = np.zeros((2, 2))
    assert into(a, a.T, out) is out and np.array_equal(out, a @ a.T)
    with pytest.raises((quern.TypingError, TypeError)):
        into(a, a.T, np.zeros((2, 2), np.int64))
    with pytest.raises(ValueError, match="Output operand 0 has a mismatch"):
        into(a, a.T, np.zeros((2, 3), np.float32))
    out.setflags(write=False)
    with pytest.raises((quern.TypingError, TypeError, ValueError)):
        into(a.astype(np.float64), a.T.astype(np.float64), out)


@njit
def in_place(a, b):
    a @= b
    return a


def test_in_place():
    rng = np.random.default_rng(9)
    for dtype in ("int16", "float64", "complex64"):
        a, b = values(rng, dtype, (4, 4)), values(rng, dtype, (4, 4))
        mine = a.copy()
        assert in_place(mine, b) is mine
        a @= b
        same(mine, a)
    row = np.arange(4.0)
    mine = row.copy()
    in_place(mine, np.eye(4) * 2)
    assert np.array_equal(mine, row * 2)
    with pytest.raises(ValueError, match="at least two dimensions"):
        in_place(np.ones((2, 2)), np.ones(2))
    with pytest.raises(ValueError):
        in_place(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises((quern.TypingError, TypeError)):
        in_place(np.ones((2, 2), np.int64), np.ones((2, 2)))


# -- dot and its kin ----------------------------------------------------------------------------------------------------


def compiled(expression):
    space = {"np": np}
    exec(f"def f(a, b): return {expression}", space)
    return space["f"]


PAIRS = RANKS + [((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((2, 3, 4), (5, 4, 2)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (4, 2)), ((0,), (0,)), ((2, 0), (0, 3))]


@pytest.mark.parametrize("name", ["np.dot(a, b)", "a.dot(b)", "np.inner(a, b)", "np.vdot(a, b)", "np.outer(a, b)"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex128"])
def test_dot_inner_vdot_outer(name, dtype):
    f = compiled(name)
    jitted = njit(f)
    rng = np.random.default_rng(10)
    for left, right in PAIRS + [((3, 4), (3, 4)), ((2, 3, 4), (5, 4))]:
        a, b = values(rng, dtype, left), values(rng, dtype, right)
        try:
            want = f(a, b)
        except ValueError:
            with pytest.raises(ValueError):
                jitted(a, b)
        else:
            same(jitted(a, b), np.asarray(want)[()])


@pytest.mark.parametrize("name", ["np.dot(a, b)", "np.inner(a, b)", "np.outer(a, b)"])
def test_numbers_as_operands(name):
    f = compiled(name)
    jitted = njit(f)
    for a in (np.arange(3.0), np.arange(4, dtype=np.int8), np.arange(4, dtype=np.float32).reshape(2, 2)):
        for b in (3, 2.5, 1j, np.float32(2)):
            same(jitted(a, b), f(a, b))
            same(jitted(b, a), f(b, a))
    assert jitted(3, 4) == f(3, 4)


def test_out_of_dot():
    f = njit(lambda a, b, out: np.dot(a, b, out=out))
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    out = np.zeros((2, 4))
    assert f(a, b, out) is out and np.array_equal(out, a @ b)
    for bad in (np.zeros((4, 2)), np.zeros((2, 4), np.float32), np.zeros((4, 2)).T, np.zeros((2, 3, 4))):
        with pytest.raises(ValueError, match="output array is not acceptable"):
            f(a, b, bad)
    g = njit(lambda a, b, out: np.outer(a, b, out))
    out = np.zeros((6, 12))
    assert g(a, b, out) is out and np.array_equal(out, np.outer(a, b))
    with pytest.raises(ValueError):
        g(a, b, np.zeros((6, 11)))


AXES = [((2, 3, 4), (3, 4, 5), "2"), ((2, 3, 4), (4, 3), "1"), ((2, 3), (4,), "0"), ((2, 3, 4), (3, 2, 5), "((0, 1), (1, 0))"), ((2, 3, 4), (4, 2), "(0, 1)"), ((2, 3, 4), (4, 2), "((-1,), (0,))"), ((2, 3), (2, 3), "2"), ((3, 0), (0, 3), "1")]


@pytest.mark.parametrize("case", AXES)
@pytest.mark.parametrize("dtype", ["int32", "float64", "complex64"])
def test_tensordot(case, dtype):
    f = compiled(f"np.tensordot(a, b, {case[2]})")
    rng = np.random.default_rng(11)
    a, b = values(rng, dtype, case[0]), values(rng, dtype, case[1])
    same(njit(f)(a, b), f(a, b))
    same(njit(f)(np.asfortranarray(a), laid_out(b, "strided")), f(a, b))


def test_tensordot_of_lengths_that_differ():
    with pytest.raises(ValueError, match="shape-mismatch for sum"):
        njit(compiled("np.tensordot(a, b, 1)"))(np.ones((2, 3)), np.ones((2, 3)))


def test_products_inside_expressions():
    f = compiled("(a * 2 + 1) @ (b - 1).T + np.dot(a[0], b[1]) * a.sum()")
    rng = np.random.default_rng(12)
    a, b = rng.random((4, 4)), rng.random((4, 4))
    same(njit(f)(a, b), f(a, b))


def test_nothing_leaks():
    def f(a, b):
        for i in range(20):
            c = a @ b
            np.matmul(c, b, a)
            a = c[::-1] @ np.dot(a, b)
        return a

    a, b = np.full((8, 8), 0.01), np.eye(8) * 0.5
    want = f(a.copy(), b)
    jitted = njit(f)
    jitted(a.copy(), b)
    before = quern._quern.live_allocations()
    same(jitted(a.copy(), b), want)
    with pytest.raises(ValueError):
        jitted(a.copy(), np.ones((3, 3)))
    assert quern._quern.live_allocations() == before


# -- norms ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("more", ["", ", 2", ", 1", ", np.inf", ", -np.inf", ", 0", ", 3", ", 2.5", ", None, 0", ", 2, 0, True", ", None, None, True", ", axis=-1"])
def test_norms_of_vectors(dtype, more):
    f = compiled(f"np.linalg.norm(a{more}) if b else np.linalg.norm(a{more})")
    a = values(np.random.default_rng(14), dtype, (7,))
    same(njit(f)(a, True), f(a, True))
    same(njit(f)(laid_out(a, "backwards"), True), f(a, True))


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex128"])
@pytest.mark.parametrize("more", ["", ", 'fro'", ", 1", ", -1", ", np.inf", ", -np.inf", ", None, 0", ", 2, 1", ", 1, 1, True", ", 1, (1, 0)", ", 'fro', (0, 1), True", ", None, None, True"])
def test_norms_of_matrices(dtype, more):
    f = compiled(f"np.linalg.norm(a{more}) if b else np.linalg.norm(a{more})")
    a = values(np.random.default_rng(15), dtype, (4, 5))
    same(njit(f)(a, True), f(a, True))
    same(njit(f)(laid_out(a, "strided"), True), f(a, True))


def test_norms_that_are_not_there():
    for expression in ("np.linalg.norm(a, 'fro')", "np.linalg.norm(b, 3)", "np.linalg.norm(b, 'x')"):
        with pytest.raises(ValueError):
            njit(compiled(expression))(np.ones(3), np.ones((3, 3)))


# -- which BLAS -----------------------------------------------------------------------------------------------------------


def run(code, **environment):
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, **environment), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


NAME = "import quern; print(quern._quern.versions()['blas'])"


def test_the_blas_of_the_process_is_found():
    import numpy
    folder = pathlib.Path(numpy.__file__).parents[1] / "numpy.libs"
    wanted = [str(p) for p in folder.glob("*openblas*")]
    if not wanted:
        pytest.skip("this NumPy has no BLAS of its own")
    assert os.path.realpath(run(NAME)) in [os.path.realpath(p) for p in wanted]
    assert run(NAME, QUERN_BLAS=wanted[0]) == wanted[0]
    assert run(NAME, QUERN_BLAS="none") == "none (QUERN_BLAS)"
    assert "no BLAS" in run(NAME, QUERN_BLAS="libm.so.6")
    assert "/nowhere.so" in run(NAME, QUERN_BLAS="/nowhere.so")


def test_the_same_tests_without_a_blas():
    if os.environ.get("QUERN_BLAS"):
        pytest.skip("QUERN_BLAS is set: this is the run that the test starts")
    names = "every_layout and (float32 or complex128) or large or overlaps or unaligned or infinity"
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", __file__, "-k", names], env=dict(os.environ, QUERN_BLAS="none"), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_after_a_fork():
    code = """
import os, numpy as np, quern
f = quern.njit(lambda a, b: a @ b)
a = np.random.rand(200, 200)
want = a @ a
f(a, a)
child = os.fork()
if child == 0:
    os._exit(0 if np.allclose(f(a, a), want) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run(code) == "0"


def test_from_many_threads():
    import threading
    f = njit(nogil=True)(lambda a, b: a @ b)
    rng = np.random.default_rng(16)
    work = [(rng.random((60, 60)), rng.random((60, 60))) for _ in range(8)]
    results = [None] * len(work)
    f(*work[0])

    def go(i):
        results[i] = [f(*work[i]) for _ in range(50)]

    threads = [threading.Thread(target=go, args=(i,)) for i in range(len(work))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for (a, b), got in zip(work, results):
        for c in got:
            same(c, a @ b)
