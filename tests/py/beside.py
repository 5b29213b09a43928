"""Expressions over arrays, compiled, beside NumPy: arrays of every kind to give them, and what must be the same."""
import numpy as np

import quern
from quern import njit

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "complex64", "complex128"]
LAYOUTS = ["C", "F", "strided", "reversed", "broadcast"]


def values(rng, dtype, shape):
    """Small numbers with repetitions; floats with fractions."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    a = rng.integers(0, 9, shape)
    if np.dtype(dtype).kind != "u":
        a = a - 4
    if np.dtype(dtype).kind == "c":
        return (a * 0.75 + 1j * rng.integers(-3, 4, shape)).astype(dtype)
    return np.asarray(a * 0.75 if np.dtype(dtype).kind == "f" else a).astype(dtype)


def laid_out(a, layout):
    """The same values, but for a broadcast, in another order of memory."""
    if a.ndim == 0 or layout == "C":
        return np.array(a, order="C")
    if layout == "F":
        return np.array(a, order="F")
    if layout == "strided":
        wide = np.zeros(a.shape[:-1] + (2 * a.shape[-1],), a.dtype)
        wide[..., ::2] = a
        return wide[..., ::2]
    if layout == "reversed":
        return np.ascontiguousarray(a[::-1])[::-1]
    return np.broadcast_to(a[:1], a.shape)


def compiled(source, arguments="a"):
    """The function in Python, and compiled."""
    space = {"np": np}
    exec(f"def f({arguments}): return {source}", space)
    return space["f"], njit(space["f"])


def outcome(f, args):
    with np.errstate(all="ignore"):
        try:
            return f(*args), None
        except (ValueError, TypeError, OverflowError, IndexError, ZeroDivisionError, np.exceptions.AxisError) as error:
            return None, type(error)


def same(got, want, exact=True, where=""):
    """Dtype, shape and values; of a number the value: compiled code returns Python's."""
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), where
        for g, w in zip(got, want):
            same(g, w, exact, where)
        return
    assert isinstance(got, np.ndarray) == isinstance(want, np.ndarray), (where, type(got), type(want))
    if not isinstance(want, np.ndarray):
        got = np.asarray(want).dtype.type(got)
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, (where, got.dtype, want.dtype)
    assert got.shape == want.shape, (where, got.shape, want.shape)
    if exact or want.dtype.kind in "biu":
        assert np.array_equal(got, want, equal_nan=want.dtype.kind in "fc"), (where, got, want)
    else:
        tolerance = 2e-6 if want.dtype in (np.float32, np.complex64) else 1e-13
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=str(where))


def check(source, cases, exact=True, arguments="a"):
    """Each case is a tuple of arguments. Where NumPy raises, so does compiled code: the same class, or, where types alone
    say that it cannot be, a TypingError."""
    f, jitted = compiled(source, arguments)
    for args in cases:
        where = (source, [(getattr(a, "dtype", type(a)), getattr(a, "shape", None), getattr(a, "strides", None)) for a in args])
        # in place work is seen in the arguments
        mine, theirs = [copied(a) for a in args], [copied(a) for a in args]
        want, error = outcome(f, theirs)
        if error:
            allowed = (error, quern.TypingError) if issubclass(error, TypeError) else error
            try:
                got = jitted(*mine)
            except allowed:
                continue
            raise AssertionError((where, "no", error, got))
        try:
            got = jitted(*mine)
        except Exception as problem:
            raise AssertionError(where) from problem
        same(got, want, exact, where)
        for g, w in zip(mine, theirs):
            if isinstance(w, np.ndarray):
                same(g, w, exact, where)


def copied(a):
    """With the same strides, where it can be written to."""
    if not isinstance(a, np.ndarray) or not a.flags.writeable or a.base is None:
        return a.copy(order="K") if isinstance(a, np.ndarray) and a.flags.writeable else a
    base = a.base.copy(order="K")
    offset = a.__array_interface__["data"][0] - a.base.__array_interface__["data"][0]
    return np.ndarray(a.shape, a.dtype, base, offset, a.strides)


def arrays(seed, shapes, dtypes=DTYPES, layouts=LAYOUTS, n=8):
    """n arrays: each shape, each dtype and each layout as often as the others."""
    rng = np.random.default_rng(seed)
    return [(laid_out(values(rng, dtypes[(i * 7 + seed) % len(dtypes)], shapes[(i + seed) % len(shapes)]), layouts[(i * 3 + seed) % len(layouts)]),)
            for i in range(n)]
