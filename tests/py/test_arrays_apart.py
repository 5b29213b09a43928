"""Arrays that a function makes (codegen/llvm/cg_apart.c): compiled code may take loads and stores of them past those of other arrays, never past those of the same
memory by another name: views, buffers that are exchanged, arrays made in each round, what a helper hands back."""
import numpy as np
import pytest

from quern import njit


def exchanged(x, rounds):
    a = x.copy()
    b = np.zeros_like(x)
    for _ in range(rounds):
        for i in range(1, len(x) - 1):
            b[i] = a[i - 1] + a[i + 1]
            b[i - 1] += 1.0
        a, b = b, a
    return a


def seen_by_views(x):
    t = np.zeros(len(x) + 4)
    v = t[1:]
    w = t[::-1]
    s = 0.0
    for i in range(len(x)):
        t[i + 1] = x[i]
        s = s * 0.5 + v[i]
        v[i] = s
        w[i] += t[i] + 1.0
        s += t[i + 1]
    return s, t


def made_in_rounds(x):
    n = len(x)
    last = np.zeros(n)
    for k in range(4):
        now = np.empty(n)
        for i in range(n):
            now[i] = last[i] + x[i] * k
            if k == 2:
                last[i] = 7.0
            now[n - 1 - i] = last[i] - 1.0 if i % 2 else now[i]
        last = now
    return last


def chosen(x, first):
    a = np.zeros(len(x))
    b = np.ones(len(x))
    c = a if first else b
    for i in range(len(x)):
        a[i] += x[i]
        c[i] = c[i] * 2.0 + 1.0
        b[i] += a[i]
        c[i] -= b[i]
    return a, b


@njit
def itself(x):
    return x


@njit
def added(into, x):
    for i in range(len(x)):
        into[i] += x[i]
        x[i] = into[i] * 0.5
    return into


def handed_back(x):
    a = np.zeros(len(x))
    b = itself(a)
    for i in range(len(x)):
        a[i] = x[i]
        b[i] += 1.0
        x[i] = a[i] * 3.0
    c = added(a, b)
    for i in range(len(x)):
        a[i] += 1.0
        c[i] *= 2.0
    return a


def in_blocks(x, basis):
    h, w = x.shape
    t = np.empty((4, 4))
    out = np.zeros((h, w))
    for y in range(0, h, 4):
        for z in range(0, w, 4):
            part = x[y:y + 4, z:z + 4]
            for u in range(4):
                for v in range(4):
                    s = 0.0
                    for k in range(4):
                        s += basis[u, k] * part[k, v]
                    t[u, v] = s
            for u in range(4):
                for v in range(4):
                    out[y + u, z + v] = t[u, v] - t[v, u]
                    part[u, v] += t[v, u]
    return out


def reshaped(x):
    t = np.zeros(len(x))
    m = t.reshape((len(x) // 2, 2))
    f = t.view(np.int64)
    for i in range(len(x)):
        t[i] = x[i]
        m[i // 2, 1] += 2.0
        if f[i] == 0:
            t[i] = -1.0
    return t


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("function", [exchanged, seen_by_views, made_in_rounds, chosen, handed_back, in_blocks, reshaped])
def test_the_same_memory_by_another_name(function, check):
    r = np.random.default_rng(5)
    more = {exchanged: [(3,), (4,)], chosen: [(True,), (False,)], in_blocks: [(r.random((4, 4)),)]}.get(function, [()])
    f = njit(boundscheck=check)(function)
    for n in (4, 8, 32):
        for rest in more:
            x = r.random((n, n)) if function is in_blocks else r.random(n) * (r.random(n) < 0.7)
            ours, theirs = x.copy(), x.copy()
            got, want = f(ours, *rest), function(theirs, *rest)
            for a, b in zip(got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,), strict=True):
                np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(ours, theirs)
