"""Variables of an iteration's own: what has no value before a loop over prange has none when an iteration begins."""
import numpy as np
import pytest

import quern
from quern import errors, njit, prange


def of_inner_loop(m, out):
    for i in prange(len(m)):
        for j in range(m[i]):
            v = j * 2.5
        out[i] = v + j


def arrays(m, out):
    for i in prange(len(m)):
        for j in range(m[i]):
            row = np.full(3, j * 0.5)
            pair = (row[:2], f"{j}")
        out[i] = row.sum() + pair[0][1] + len(pair[1])


def kept_by_a_test(m, out):
    for i in prange(len(m)):
        for j in range(m[i]):
            if j % 2 == 0:
                even = j
                if j > 6:
                    break
        out[i] = even


def inside_a_reduction(m, out):
    total = 0.0
    for i in prange(len(m)):
        for j in range(m[i]):
            v = j + 0.5
        total += v
        out[i] = v
    out[0] = total


def nested(m, out):
    for i in prange(len(m)):
        for j in prange(3):
            for k in range(m[i]):
                w = k + j
            if j == 2:
                out[i] = w


PROGRAMS = [of_inner_loop, arrays, kept_by_a_test, inside_a_reduction, nested]
LENGTHS = np.array([3, 1, 7, 2, 9, 1, 4] * 30)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("f", PROGRAMS)
def test_each_iteration_assigns_before_it_reads(f, threads):
    old = quern.get_num_threads()
    try:
        quern.set_num_threads(min(threads, old))
        got, want = np.zeros(len(LENGTHS)), np.zeros(len(LENGTHS))
        njit(parallel=True)(f)(LENGTHS, got)
        f(LENGTHS, want)
        np.testing.assert_allclose(got, want, rtol=1e-14)
    finally:
        quern.set_num_threads(old)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("at", [0, 1, 100, len(LENGTHS) - 1])
def test_EXC_one_that_does_not_is_told(f, at):
    """One iteration after the other it would read what the one before left; which that is depends on the threads."""
    lengths = LENGTHS.copy()
    lengths[at] = 0
    with pytest.raises(UnboundLocalError, match="cannot access local variable '[a-z]+' where it is not associated with a value"):
        njit(parallel=True)(f)(lengths, np.zeros(len(lengths)))
    if at:
        njit(f)(lengths, np.zeros(len(lengths)))


def test_what_has_a_value_before_the_loop_or_is_read_behind_it_is_none_of_its_own():
    def before(m, out):
        v = 1.0
        for i in prange(len(m)):
            for j in range(m[i]):
                v = j * 2.5
            out[i] = v

    def behind(m, out):
        for i in prange(len(m)):
            for j in range(m[i]):
                v = j * 2.5
            out[i] = v
        return v

    def tested_by_the_program(m, out):
        seen = False
        for i in prange(len(m)):
            if seen:
                out[i] = v
            v = m[i] * 2.0
            seen = True

    for f in (before, behind, tested_by_the_program):
        with pytest.raises((errors.TypingError, UnboundLocalError)) as info:
            njit(parallel=True)(f)(LENGTHS, np.zeros(len(LENGTHS)))
        assert info.type is UnboundLocalError or "depend on each other" in str(info.value)


def test_the_size_of_chunks_is_that_of_the_loop_round_which_it_is_set():
    @njit(parallel=True)
    def sizes(size, n):
        seen, inner = np.full(n, -1), np.zeros(n, np.int64)
        with quern.parallel_chunksize(size):
            for i in prange(n):
                seen[i] = quern.get_parallel_chunksize()
                quern.set_parallel_chunksize(3)
                inner[i] = quern.get_parallel_chunksize()
            left = quern.get_parallel_chunksize()
        return seen, inner, left, quern.get_parallel_chunksize()

    for size in (1, 7, 1000):
        seen, inner, left, after = sizes(size, 500)
        assert set(seen) <= {0, 3} and seen[0] == 0 and set(inner) == {3}  # 3: of the iteration before in its chunk
        assert (left, after) == (size, 0)


# -- a test that is the same in all iterations decides --------------------------------------------------------------------


def one_or_each(m, out, each):
    if not each:
        b = np.full(3, 2.5)
    for i in prange(len(m)):
        for j in range(m[i]):
            if each:
                b = np.full(3, i + 0.5 * j)
            out[i] += b.sum() * j


def number(m, out, each):
    b = 1.5
    for i in prange(len(m)):
        if each:
            b = m[i] * 2.0
        out[i] = b


def asked_twice(m, out, each):
    b = 1.5
    for i in prange(len(m)):
        if not each:
            pass
        else:
            b = m[i] * 2.0
            for k in range(3):
                b += k
        if m[i] > 2:
            out[i] = b
        if not each:
            out[i] += b


def by_a_comparison(m, out, each):
    k = 1
    for i in prange(len(m)):
        if out.size > 3 * each * out.size:
            k = i
        out[i] = k


def only_where_it_is_assigned(m, out, each):
    b = np.zeros(2)
    for i in prange(len(m)):
        if each:
            b = np.full(2, i)
            out[i] = b[0]


SETTLED = [one_or_each, number, asked_twice, by_a_comparison, only_where_it_is_assigned]


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("f", SETTLED)
def test_all_iterations_assign_it_or_none(f, each):
    got, want = np.zeros(len(LENGTHS)), np.zeros(len(LENGTHS))
    njit(parallel=True)(f)(LENGTHS, got, each)
    f(LENGTHS, want, each)
    np.testing.assert_allclose(got, want, rtol=1e-14)


def test_what_is_left_of_another_iteration_is_refused():
    def looked_at_first(m, out, each):
        b = 1.5
        for i in prange(len(m)):
            out[i] = b
            if each:
                b = m[i] * 2.0

    def tests_differ(m, out, each):
        b = 1.5
        for i in prange(len(m)):
            if m[i] > each:
                b = m[i] * 2.0
            out[i] = b

    def in_some_iterations(m, out, each):
        b = 1.5
        for i in prange(len(m)):
            for j in range(m[i] - 1):
                if each:
                    b = m[i] * 2.0
            out[i] = b

    def where_it_does_not_hold(m, out, each):
        b = 1.5
        for i in prange(len(m)):
            if each:
                b = m[i] * 2.0
            elif i == 3:
                b = 7.0
            out[i] = b

    def read_behind(m, out, each):
        b = np.zeros(2)
        for i in prange(len(m)):
            if each:
                b = np.full(2, m[i] * 1.0)
            out[i] = b[0]
        return b

    for f in (looked_at_first, tests_differ, in_some_iterations, where_it_does_not_hold, read_behind):
        with pytest.raises(errors.TypingError, match="depend on each other"):
            njit(parallel=True)(f)(LENGTHS, np.zeros(len(LENGTHS)), True)


# -- in a try or with ---------------------------------------------------------------------------------------------------


def caught(a, k):
    try:
        for i in prange(len(a)):
            a[i] = 1.0 / (i - k)
    except ZeroDivisionError:
        return -1.0
    return a[0]


def with_its_text(a, k):
    text = ""
    try:
        for i in prange(len(a)):
            if i == k:
                raise ValueError("no", i)
            a[i] = i
    except ValueError as e:
        text = str(e.args[1])
    finally:
        a[0] = 9.0
    return a[0], text


def sums(a, k):
    total = 2.0
    try:
        s = 0.0
        for i in prange(len(a)):
            s += a[i + (i == k) * len(a)]
        total += s
    except IndexError:
        total = -total
    return total


def handlers_inside(a, k):
    try:
        for i in prange(len(a)):
            try:
                a[i] = 1 / (i - k)
            except ZeroDivisionError:
                a[i] = 5.0
    except ValueError:
        return 0.0
    return a[-1]


def array_sums(a, k):
    with quern.parallel_chunksize(4):
        found = np.zeros(3)
        for i in prange(len(a)):
            found += np.full(3, a[i])
            if i == k:
                raise KeyError(k)
    return found


@pytest.mark.parametrize("f", [caught, with_its_text, sums, handlers_inside, array_sums])
@pytest.mark.parametrize("k", [-1, 0, 17, 99])
def test_EXC_loops_in_a_try_run_on_several_threads(f, k):
    if f is array_sums and k >= 0:
        with pytest.raises(KeyError) as info:
            njit(parallel=True)(f)(np.arange(100.0), k)
        assert info.value.args == (k,) and quern.get_parallel_chunksize() == 0
        return
    parallel = njit(parallel=True)(f)
    mine, plain = np.arange(100.0), np.arange(100.0)
    got, want = parallel(mine, k), f(plain, k)
    assert got == want if isinstance(want, tuple) else np.allclose(got, want, rtol=1e-13)
    if k < 0:
        np.testing.assert_allclose(mine, plain)


def test_loops_in_a_try_say_so(capsys):
    for f in (caught, with_its_text, sums, array_sums):
        parallel = njit(parallel=True)(f)
        parallel(np.arange(10.0), -1)
        parallel.parallel_diagnostics(level=1)
        assert "runs on several threads" in capsys.readouterr().out, f.__name__


def test_a_handler_that_sees_what_the_loop_assigns_keeps_it_on_one_thread(capsys):
    def f(a, k):
        last = -1
        try:
            for i in prange(len(a)):
                last = i
                a[i] = 1 / (i - k)
        except ZeroDivisionError:
            return last
        return -2

    parallel = njit(parallel=True)(f)
    assert [parallel(np.zeros(50), k) for k in (-1, 0, 30)] == [-2, 0, 30]
    parallel.parallel_diagnostics(level=1)
    assert "a handler that sees what it assigns" in capsys.readouterr().out
