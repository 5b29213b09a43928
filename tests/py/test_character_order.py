"""Arrays of text in order: comparisons, sorting, searching and sets of `U` and `S` arrays, against NumPy."""
import numpy as np
import pytest
from objects import MEM_01_nothing_is_left, collected  # noqa: F401

from quern import njit

WORDS = np.array(["b", "a", "cc", "a", "", "日本", "ab\0c", "b", "\U0001d11e"], "U4")
OCTETS = np.array([b"b", b"a", b"cc", b"a", b"", b"\xff\x00z", b"b"], "S3")
WIDE = np.array(["zzzzz", "a", "q", "", "cc"])
WIDE_OCTETS = np.array([b"zzzzz", b"a", b"q", b"", b"cc"])


def equal(a, b):
    if isinstance(b, (tuple, list)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            equal(x, y)
    else:
        assert np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype


def of_one(body):
    space = {"np": np}
    exec(f"def f(a, b): return {body}", space)
    return space["f"]


@pytest.mark.parametrize("body", [
    "np.sort(a)", "np.argsort(a, kind='stable')", "np.sort(a)[::-1]", "np.unique(a)", "np.unique(a, return_index=True, return_inverse=True, return_counts=True)",
    "np.nonzero(a)", "np.flatnonzero(a)", "np.count_nonzero(a)", "np.argwhere(a)", "np.where(a)", "np.where(a == a[0])", "np.where(a > a[1])",
    "a < a[0]", "a <= a[::-1]", "a[:, None] > a", "a >= a[0]", "a[:4] < b[:4]", "b[:4] >= a[:4]", "a[:5] == b", "a[:3][::-1] != b[:3]",
    "np.searchsorted(np.sort(a), a)", "np.searchsorted(np.sort(a), a, side='right')", "np.searchsorted(np.sort(a), b)",
    "np.searchsorted(np.sort(a), a[0])", "np.searchsorted(a, b, sorter=np.argsort(a))", "np.isin(a, b)", "np.isin(b, a)",
    "np.isin(a[:4].reshape(2, 2), a[:2], invert=True)", "np.setdiff1d(a, a[:2])", "np.intersect1d(a, a[:3])", "np.union1d(a, a[::-1])",
    "np.setxor1d(a[:3], a[2:5])", "a.dtype.kind", "np.any(a < b[1])", "np.sort(a[:0])",
])
@pytest.mark.parametrize("arrays", [(WORDS, WIDE), (OCTETS, WIDE_OCTETS)], ids=["U", "S"])
def test_beside_numpy(body, arrays):
    f = of_one(body)
    equal(njit(f)(*arrays), f(*arrays))


def smallest(a):
    low = a[0]
    for x in a:
        low = x if x < low else low
    return low


def counted_in_order(a):
    """In a loop: nothing piles up."""
    n = 0
    for k in range(2000):
        n += np.sort(a)[k % len(a)] == a[k % len(a)]
    return n


@pytest.mark.parametrize("f", [smallest, counted_in_order])
@pytest.mark.parametrize("a", [WORDS, OCTETS], ids=["U", "S"])
def test_in_loops(f, a):
    assert njit(f)(a) == f(a)


def test_in_place():
    @njit
    def f(a):
        a.sort()

    mine = WORDS.copy()
    f(mine)
    assert np.array_equal(mine, np.sort(WORDS))


@pytest.mark.parametrize("n", [16, 17, 40, 300])
@pytest.mark.parametrize("dtype", ["U1", "U5", "S3"])
def test_many(n, dtype):
    a = np.random.default_rng(n).integers(0, 99, n).astype(dtype)
    for body in ("np.sort(a)", "np.argsort(a, kind='stable')", "np.unique(a, return_inverse=True)", "np.searchsorted(np.sort(a), b)", "np.union1d(a, b)"):
        equal(njit(of_one(body))(a, a[:7]), of_one(body)(a, a[:7]))
