"""Empty containers in displays of tuples, and in lists that are walked over: what is put in through an index, a variable or a walk says
what they hold."""
import pytest
from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit




def by_index(n):
    fs = ([], 1)
    fs[0].append(n > 1)
    return fs


def of_text(n):
    fs = ([], n)
    fs[0].append("k")
    fs[-2].append("l" * n)
    return fs


def two(n):
    fs = ([], [])
    fs[0].append(n + 0.5)
    fs[1].append("a")
    return fs


def keyed(n):
    fs = ({}, set(), 1)
    fs[0]["k"] = n
    fs[1].add(n > 0)
    return fs


def named_before(n):
    a = []
    fs = (a, 1)
    a.append(n > 1)
    return fs


def in_a_loop(n):
    fs = ([], 0.5)
    for i in range(n):
        fs[0].append(i > 0)
    return fs


def nested(n):
    fs = (([], 2), 1)
    fs[0][0].append(n > 1)
    return fs


def named_behind(n):
    fs = ([], 1)
    x = fs[0]
    x.append((n, "a"))
    return fs


def unpacked(n):
    fs = ([], {}, 1)
    a, b, c = fs
    a.append("t")
    b[n] = c > 0
    return fs


def chosen(n):
    fs = ([], 1) if n > 2 else ([], 2)
    fs[0].append(n > 1)
    return fs




def nothing_put_in(n):
    fs = ([], {}, n)
    return len(fs[0]) + len(fs[1]) + fs[2]


def in_a_list(n):
    rows = [([], i) for i in range(n)]
    for row in rows:
        row[0].append(row[1])
    return rows


def rows_of_bools(n):
    rows = [[] for _ in range(n)]
    for row in rows:
        row.append(n > 1)
    return rows


def rows_of_text(n):
    rows = [[], []]
    for row in rows:
        row.append("k" * n)
    return rows


def rows_that_are_sets(n):
    rows = [set() for _ in range(n)]
    for row in rows:
        row.add(n > 1)
    return rows


def rows_of_rows(n):
    rows = [[[]], [[], []]]
    for row in rows:
        for last in row:
            last.append((n, n > 1))
    return rows


ALL = [by_index, of_text, two, keyed, named_before, in_a_loop, nested, named_behind, unpacked, chosen, nothing_put_in, in_a_list, rows_of_bools, rows_of_text, rows_that_are_sets,
       rows_of_rows]


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_what_is_put_in_says_what_they_hold(f):
    for n in (0, 1, 3):
        want, got = f(n), njit(f)(n)
        assert repr(got) == repr(want)


def test_made_by_a_function():
    maker = njit(lambda: [])

    @njit
    def f(n):
        fs = (maker(), 1)
        fs[0].append("t" * n)
        return fs

    assert f(2) == (["tt"], 1)
