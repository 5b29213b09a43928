"""References to arrays that compiled code made: each is freed when its last view is gone, none earlier, none later."""
import gc

import numpy as np
import pytest

from quern import _quern, cuda, njit, vectorize


def counted(n):
    a = np.empty(n)
    for i in range(n):
        a[i] = i
    return a


def row_of_transpose(n):
    a = np.zeros((n, n + 1))
    a[2, 1] = 5
    return a.T[1]


def view_round_a_loop(n):
    a = counted(300)
    for i in range(n):
        a = a[1:]
    return a


def two_views(n):
    a = counted(300)
    if n > 3:
        b, c = a[1:], a[2:]
    else:
        b, c = a[3:], a[3:]
    return (b, c)


def one_of_two(n):
    a, b = two_views(n)
    return b


def kept_behind_the_view(n):
    a = counted(300)
    b = a[5:]
    total = 0.0
    for i in range(n):
        total += a[i]
        b = b[:-1] if i % 2 else b[1:]
    return b, total


def new_and_argument(n, x):
    return np.full(n, 2.0), (x, x[1:])


def twice(n):
    a = counted(300)
    return a, a


def raises_between(n):
    a = counted(300)
    b = a[1:]
    a[n * 60] = 1
    return b


def read(result):
    return [read(r) for r in result] if isinstance(result, tuple) else np.asarray(result).tolist()


@pytest.mark.parametrize("function", [row_of_transpose, view_round_a_loop, two_views, one_of_two, kept_behind_the_view,
                                      new_and_argument, twice, raises_between], ids=lambda f: f.__name__)
def test_references_are_given_back(function):
    compiled = njit(function)
    x = np.arange(3.0)
    extra = (x,) if function is new_and_argument else ()
    gc.collect()
    before = _quern.live_allocations()
    for n in (2, 3, 4, 5, 9):
        try:
            expected = read(function(n, *extra))
        except IndexError:
            with pytest.raises(IndexError):
                compiled(n, *extra)
            continue
        results = [compiled(n, *extra) for _ in range(3)]
        others = [np.full(k, 7.0) for k in range(280, 330)]  # memory freed too early would be used again
        assert all(read(r) == expected for r in results) and len(others) == 50
        del results
        gc.collect()
        assert _quern.live_allocations() == before
    assert _quern.live_allocations() == before


# -- what keys name ----------------------------------------------------------------------------------------------


def test_R5_ufuncs_given_as_arguments_are_freed():
    import weakref

    apply = njit(lambda f, x: f(x) + 1)
    gone = []

    def use(k):
        def function(x):
            return x * k

        ufunc = vectorize(["float64(float64)"] if k % 2 else [])(function)
        assert apply(ufunc, 2.0) == 2.0 * k + 1 and apply(ufunc, 3.0) == 3.0 * k + 1
        gone.append(weakref.ref(function))

    for k in range(6):
        use(k)
    gc.collect()
    assert [ref() for ref in gone] == [None] * 6 and apply.signatures == []
    kept = vectorize(lambda x: x - 1)
    assert apply(kept, 2.0) == 2 and len(apply.signatures) == 1
    gc.collect()
    assert apply(kept, 4.0) == 4 and len(apply.signatures) == 1


def test_R5_classes_of_named_tuples_are_freed():
    import collections
    import weakref

    first, same, nested = njit(lambda p: p.x), njit(lambda p: p), njit(lambda p: p[0].x + p[1])
    gone = []

    def use(k):
        Point = collections.namedtuple("Point", "x y")
        p = Point(k, 2.5)
        assert first(p) == k and first(Point(k, 1)) == k and nested((p, 1)) == k + 1 and nested((p, 0.5)) == k + 0.5
        assert same(p) == p and type(same(p)) is Point
        gone.append(weakref.ref(Point))

    for k in range(5):
        use(k)
    gc.collect()
    assert [ref() for ref in gone] == [None] * 5
    assert [f.signatures for f in (first, same, nested)] == [[], [], []]
    Kept = collections.namedtuple("Kept", "x")
    assert first(Kept(3)) == 3 and nested((Kept(3), 1)) == 4
    gc.collect()
    assert first(Kept(4)) == 4 and nested((Kept(4), 1)) == 5 and len(nested.signatures) == 1


@pytest.mark.parametrize("n", [12, 15, 24, 32])
def test_R21_launches_of_many_arrays_allocate_nothing(n, device):
    import tracemalloc

    names = [f"a{k}" for k in range(n)]
    space = {}
    exec(f"def kernel({', '.join(names)}):\n" + "".join(f" {a}[0] += {k}\n" for k, a in enumerate(names)), space)
    kernel = cuda.jit(space["kernel"])[1, 1]
    arrays = [cuda.to_device(np.zeros(1)) for _ in names]
    for _ in range(3):
        kernel(*arrays)
    tracemalloc.start()
    try:
        kernel(*arrays)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        kernel(*arrays)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < 600, peak - before  # the tuple of arguments
    assert [a.copy_to_host()[0] for a in arrays] == [5 * k for k in range(n)]
