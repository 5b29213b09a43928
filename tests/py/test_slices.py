"""Slices as values: arguments, results, indices of lists, arrays, strings and instances of classes, against CPython."""

import itertools

import numpy as np
import pytest

import quern
from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import float64, njit
from quern.experimental import jitclass

PARTS = [None, 0, 2, -3, 7, -9, 10**30, -(10**30)]
SLICES = [slice(*parts) for parts in itertools.product(PARTS, PARTS, [None, 1, -1, 3, -2])]


def test_of_lists_arrays_and_text():
    f = njit(lambda xs, s: xs[s])
    for s in SLICES[::7]:
        assert f([1, 2, 3, 4, 5], s) == [1, 2, 3, 4, 5][s]
        np.testing.assert_array_equal(f(np.arange(5.0), s), np.arange(5.0)[s])
        assert f("abcde", s) == "abcde"[s]


def test_they_come_back():
    f = njit(lambda s: s)
    for s in (slice(None), slice(1), slice(1, 2), slice(None, None, -1), slice(0, -3, 2), slice(np.int8(2), None)):
        assert f(s) == s
    assert njit(lambda n: (slice(n), slice(1, n, 2)))(4) == (slice(4), slice(1, 4, 2))


def test_their_parts():
    f = njit(lambda s: (s.start, s.stop, s.step))
    for s in (slice(3, None, 2), slice(None), slice(-1, 5)):
        assert f(s) == (s.start, s.stop, s.step)


def test_indices():
    f = njit(lambda s, n: s.indices(n))
    for s in SLICES:
        if any(isinstance(p, int) and abs(p) > 2**62 for p in (s.start, s.stop)):
            continue
        for n in (0, 1, 5, 8):
            assert f(s, n) == s.indices(n), (s, n)
    with pytest.raises(ValueError, match="step cannot be zero"):
        f(slice(None, None, 0), 3)
    with pytest.raises(ValueError, match="length should not be negative"):
        f(slice(None), -1)


def test_assignment():
    def f(a, s, v):
        a = a.copy()
        a[s] = v
        return a

    jitted = njit(f)
    for s in SLICES[::11]:
        np.testing.assert_array_equal(jitted(np.arange(5.0), s, 9.0), f(np.arange(5.0), s, 9.0))


def test_ellipsis():
    a = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(njit(lambda a, i: a[i])(a, ...), a)
    np.testing.assert_array_equal(njit(lambda a, t: a[t])(a, (..., 1)), a[..., 1])


def test_in_tuples():
    f = njit(lambda a, t: a[t[0], t[1]])
    a = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(f(a, (slice(1, None), slice(None, None, 2))), a[1:, ::2])


def test_which_parts_are_there_is_the_type():
    f = njit(lambda s: s.start is None)
    assert f(slice(3)) and not f(slice(1, 3)) and len(f.signatures) == 2


def test_refused():
    f = njit(lambda xs, s: xs[s])
    with pytest.raises(quern.errors.TypingError, match="slices have ints and None"):
        f([1, 2], slice(1.5))
    with pytest.raises(quern.errors.TypingError):
        f([slice(1), slice(2)], 0)


@jitclass([("a", float64[:])])
class Series:
    def __init__(self, a):
        self.a = a

    def __getitem__(self, index):
        return self.a[index]

    def __setitem__(self, index, value):
        self.a[index] = value


def test_of_instances():
    series = Series(np.arange(6.0))
    assert series[2] == 2.0
    np.testing.assert_array_equal(series[1:3], [1.0, 2.0])
    np.testing.assert_array_equal(series[::-2], [5.0, 3.0, 1.0])
    series[4:] = 9.0

    @njit
    def f(series):
        series[:1] = 7.0
        return series[1:-1]

    np.testing.assert_array_equal(f(series), [1.0, 2.0, 3.0, 9.0])
    assert series.a.tolist() == [7.0, 1.0, 2.0, 3.0, 9.0, 9.0]


def test_a_display_that_is_only_indexed_raises_as_a_list():
    with pytest.raises(IndexError, match="^list index out of range$"):
        njit(lambda i: [1, 2][i])(5)
    with pytest.raises(IndexError, match="^tuple index out of range$"):
        njit(lambda i: (1, 2)[i])(5)


def test_a_typed_list_is_no_list():
    def f(xs):
        return isinstance(xs, list), isinstance(xs, quern.typed.List)

    assert njit(f)([1]) == f([1]) == (True, False)
    typed = quern.typed.List([1])
    assert njit(f)(typed) == f(typed) == (False, True)
    table = quern.typed.Dict()
    table[1] = 2
    assert not njit(lambda d: isinstance(d, dict))(table)
