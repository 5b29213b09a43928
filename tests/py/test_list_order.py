"""Containers that are read in front of what fills them, in the loop that does: what is behind says what they hold."""
from collections import deque

import pytest
from objects import MEM_01_nothing_is_left, collected, same  # noqa: F401
from quern import njit


def joined(n):
    s = []
    w = ""
    for i in range(n):
        w += ",".join(s)
        s.append(str(i))
    return w


def ordered(n):
    q = []
    t = 0
    for i in range(n):
        q = sorted(q, key=lambda p: -p[0])
        if q:
            t += q[0][1]
        q.append((i, 2 * i))
    return t, q


def unpacked(n):
    q = []
    t = 0
    for i in range(n):
        for a, b in q:
            t += a * b
        for x in map(lambda p: p[0], q):
            t += x
        q.append((i, i + 1))
    return t


def least(n):
    q = []
    t = 0
    for i in range(n):
        t += min(q, default=(0, 0))[1]
        q.insert(0, (i, t))
    return t, q


def reversed_text(n):
    q = []
    out = []
    for i in range(n):
        out.append("-".join([x.upper() for x in reversed(q)]))
        q.insert(0, chr(97 + i))
    return out


def branches(n):
    q = []
    t = 0
    for i in range(n):
        for x in q:
            if x.startswith("1"):
                t += 1
            elif len(x) > 1:
                t += 2
        q += [str(i)]
    return t, q


def in_a_while(n):
    q = deque()
    i = t = 0
    while i < n:
        if q and q[0][1] > 1:
            t += len(q.popleft()[0])
        q.append(("x" * i, i))
        i += 1
    return t, q


def through_helpers(n):
    def total(v):
        return sum(len(x) for x in v)

    def fill(v, x):
        v.append(x)
    q = []
    t = 0
    for i in range(n):
        t += total(q)
        fill(q, "ab" * i)
    return t, q


def keyed(n):
    d = {}
    t = 0
    for i in range(n):
        for k, v in d.items():
            t += len(k) + v[0]
        d[str(i)] = (i, 1.5)
    return t, d


def caught(n):
    q = []
    t = 0
    for i in range(n):
        try:
            t += q[1].count("1")
        except IndexError:
            t -= 1
        q.append(str(i))
    return t, q


# What is computed of items that are taken for ints says nothing of what it is put into.

def parts(n):
    q = []
    r = []
    for i in range(n):
        r.extend([x.imag for x in q])
        q.append(complex(i, 1))
    return q, r


def reals(n):
    q = []
    r = []
    for i in range(n):
        for x in q:
            r.append(x.real)
        q.append(i > 1)
    return q, r


def both(n):
    q = []
    r = []
    for i in range(n):
        r.extend(map(lambda x: x | x, q))
        q.append(i > 1)
    return q, r


def lengths(n):
    q = []
    r = []
    for i in range(n):
        r.append((len(q), sum(r[0]) if r else 0))
        q.append(i * 0.5)
    return q, r


def totals(n):
    q = []
    r = []
    for i in range(n):
        r.append(sum(q) + 1)
        q.append(i * 0.5)
    return q, r[1:]


ALL = [joined, ordered, unpacked, least, reversed_text, branches, in_a_while, through_helpers, keyed, caught, parts, reals, both, lengths]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_what_fills_them_is_behind(f):
    compiled = njit(f)
    for n in 5, 0, 1, 12:
        same(compiled, n)


def test_a_sum_of_floats_that_begins_with_an_int():
    assert njit(totals)(4) == totals(4)


def test_what_no_filling_explains_is_refused_where_it_is():
    @njit
    def f(n):
        q = []
        for i in range(n):
            q[0].upper()
            q.append(i)
    with pytest.raises(Exception, match="int has no attribute 'upper'"):
        f(3)
