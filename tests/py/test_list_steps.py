"""Steps on lists, such as xs[i], are written into their caller: what that must not change, and what it saves."""

import pytest

from objects import MEM_01_nothing_is_left, collected  # noqa: F401
from quern import njit


def llvm_of(f):
    return f.inspect_llvm(f.signatures[0])


@pytest.mark.optimised
def test_an_element_that_is_looked_at_gets_no_reference():
    @njit
    def f(rows, n):
        s = 0
        for i in range(n):
            s += rows[i][1]
        return s

    assert f([[1, 2, 3], [4, 5, 6]], 2) == 7
    assert "quern_retain" not in llvm_of(f)


def test_an_element_that_outlives_its_list_does():
    @njit
    def f(n):
        last = [0.0]
        for i in range(n):
            rows = [[i * 1.0, 2.0], [3.0]]
            last = rows[0]
            rows[0] = [9.0]
            rows.clear()
        return last

    assert f(3) == [2.0, 2.0] and f(0) == [0.0]


def test_length_and_data_are_read_anew_where_they_change():
    def f(n):
        xs = [1]
        total = 0
        for i in range(n):
            xs.append(xs[i] + xs[-1])
            total += xs[len(xs) - 1] % 1000
            if len(xs) > 50:
                del xs[:25]
                xs = xs + [i] * 30
        return total, xs

    assert njit(f)(40) == f(40)


def test_stores_into_one_list_are_seen_through_another():
    def f(xs, ys, n):
        for i in range(1, n):
            xs[i] = ys[i - 1] + 1
        return sum(xs), sum(ys)

    a, b = [0] * 10, [5] * 10
    assert njit(f)(list(a), list(b), 10) == f(list(a), list(b), 10)

    @njit
    def both(n):
        xs = [0] * n
        ys = xs
        for i in range(1, n):
            xs[i] = ys[i - 1] + 1
        return xs

    assert both(6) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("index", [3, -4, 2**40, -(2**63)])
def test_IndexError_says_it_is_a_list(index):
    xs = [1, 2, 3]

    def get(xs, i):
        return xs[i]

    def put(xs, i):
        xs[i] = 7

    for f in (get, put):
        with pytest.raises(IndexError) as expected:
            f(list(xs), index)
        with pytest.raises(IndexError) as caught:
            njit(f)(list(xs), index)
        assert str(caught.value) == str(expected.value)
        jitted = njit(f)

        @njit
        def caught_here(xs, i):
            try:
                return jitted(xs, i)
            except IndexError:
                return -1

        assert caught_here(list(xs), index) == -1
