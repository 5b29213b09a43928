"""Loop nests with checks exist twice: a fast copy, and a checked one that is compiled when it is first needed. What is
seen of that is only the meaning: here every test sends the same function down both roads."""
import gc
import os
import threading

import numpy as np
import pytest
from quern import njit


def both(function, *args):
    """The result in Python and in compiled code, and the arrays afterwards."""
    outcomes = []
    for call in (function, njit(function)):
        mine = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        try:
            result = call(*mine)
        except IndexError:
            result = IndexError
        outcomes.append((result, mine))
    assert np.array_equal(outcomes[0][0], outcomes[1][0], equal_nan=outcomes[0][0] is not IndexError)
    for a, b in zip(outcomes[0][1], outcomes[1][1]):
        assert np.array_equal(a, b)
    return outcomes[0][0]


def scan(a, b, n, shift):
    s = 0.0
    for i in range(n):
        s += a[i] * b[i - shift]
        if s > 100.0:
            return -s
        if s < -50.0:
            break
        b[i] = s + 1.0
    else:
        s += 0.5
    return s


@pytest.mark.parametrize("scale", [0.1, 3.0, -3.0])
@pytest.mark.parametrize("n", [0, 7, 8])
@pytest.mark.parametrize("shift", [0, 1, 9])
def test_ERR_exits_of_the_checked_copy(scale, n, shift):
    """Three ways out of one loop, values carried through each, writes up to the failing element."""
    result = both(scan, np.arange(1.0, 8.0) * scale, np.arange(1.0, 8.0), n, shift)
    if n == 8 and scale == 0.1 or (shift == 9 and n):
        assert result is IndexError


def nest(a, rows, columns):
    total, last = 0, -1
    for i in range(rows):
        for j in range(columns):
            if a[i, j] == 7:
                last = i * 100 + j
                continue
            total += a[i, j]
        a[i, 0] = total
    return total * 1000 + last


@pytest.mark.parametrize("rows,columns", [(3, 4), (0, 4), (3, 0), (4, 4), (3, 5)])
def test_ERR_nests_of_the_checked_copy(rows, columns):
    both(nest, np.arange(12).reshape(3, 4), rows, columns)


def grow(a, n):
    best = a
    for i in range(n):
        a[i] += 1
        fresh = np.zeros(a.shape[0])
        fresh[i - 1] = a[i]
        if fresh[i - 1] > best[i]:
            best = fresh
    return best


@pytest.mark.parametrize("n", [0, 1, 5, 6])
def test_ERR_arrays_cross_the_call(n):
    both(grow, np.arange(5.0), n)


def test_ERR_no_array_is_leaked():
    from quern import _quern

    compiled = njit(grow)
    compiled(np.arange(5.0), 5)
    gc.collect()
    before = _quern.live_allocations()
    for _ in range(10):
        compiled(np.arange(5.0), 5)
        with pytest.raises(IndexError):
            compiled(np.arange(5.0), 6)
    gc.collect()
    assert _quern.live_allocations() == before


def recursive(a, n, shift):
    if n == 0:
        return 0
    s = 0
    for i in range(n):
        s += a[i - shift] + recursive(a, n - 1 - i, shift)
    return s


def test_ERR_recursion_from_the_checked_copy():
    both(recursive, np.arange(6), 6, 1)


def periodic(a, shift):
    s = 0.0
    for i in range(a.shape[0]):
        s += (a[i] - a[i - shift]) * i
    return s


def test_ERR_threads_ask_at_once():
    for _ in range(5):
        compiled = njit(nogil=True)(periodic)
        a = np.arange(50.0) ** 2
        expected, results = periodic(a, 1), []
        compiled(np.zeros(0), 1)
        start = threading.Barrier(4)

        def work():
            start.wait()
            results.append(compiled(a, 1))

        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert results == [expected] * 4


def test_ERR_the_copy_dies_with_the_function():
    for k in range(30):
        compiled = njit(lambda a, n: a[n] if n < 0 else sum_to(a, n))
        assert compiled(np.arange(4.0), 4) == 6.0
        with pytest.raises(IndexError):
            compiled(np.arange(4.0), 5)
        del compiled
        gc.collect()


@njit
def sum_to(a, n):
    s = 0.0
    for i in range(n):
        s += a[i]
    return s


def test_ERR_traceback_of_the_checked_copy():
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4") as info:
        sum_to(np.arange(4.0), 9)
    frame = info.traceback[-1]
    assert frame.name == "sum_to" and frame.lineno == sum_to.py_func.__code__.co_firstlineno + 4 - 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ERR_after_fork():
    compiled = njit(periodic)
    compiled(np.zeros(3), 0)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, b"1" if compiled(np.arange(9.0), 1) == periodic(np.arange(9.0), 1) else b"0")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1) == b"1"
