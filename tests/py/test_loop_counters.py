"""Variables that count through several loops, binary searches, and loops whose variable was tested on the way to their header: where no
check is left the index must be inside, where Python raises or counts from the end, so does compiled code."""
import numpy as np
import pytest
from test_index_proofs import agree, check as check_with_python, compiled, outcome

HUGE = 2**63 - 1


def check(function, *args, steps=(0, 1, 2, -1)):
    """As CPython does; where int64 may wrap, as compiled code without passes does."""
    if not any(isinstance(a, int) and abs(a) > 1 << 40 for a in args):
        check_with_python(function, *args, steps=steps)
        return
    for step in steps:
        agree(outcome(compiled(function, 0, False), args, step), outcome(compiled(function, 3, False), args, step))


# -- what loops inside add ---------------------------------------------------------------------------------


def unpack(a, out, k, rounds):
    for i in range(rounds):
        for b in range(8):
            out[k] = a[i % len(a)] + b
            k += 1
    return k


def unpack_down(a, out, k, rounds):
    for i in range(rounds):
        for b in range(3):
            for c in range(2):
                out[k] = a[i % len(a)] + b * c
                k -= 1
        k -= 1
    return k


def unpack_some(a, out, k, rounds):
    """The loop inside may end before its time."""
    for i in range(rounds):
        for b in range(8):
            if a[(i + b) % len(a)] > 3:
                break
            out[k] = b
            k += 1
    return k


def unpack_both(a, out, k, rounds):
    for i in range(rounds):
        if a[i % len(a)] > 3:
            k += 2
        else:
            k += 1
            k += 1
        for b in range(0):
            k += 100
        for b in range(2):
            out[k] += b
            if a[b] > 0:
                k += 1
            else:
                k += 1
    return k


def unpack_unlike(a, out, k, rounds):
    for i in range(rounds):
        for b in range(i & 3):
            out[k] += b
            k += 1
        out[k] = i
    return k


@pytest.mark.parametrize("function", [unpack, unpack_down, unpack_some, unpack_both, unpack_unlike])
def test_counters_through_loops(function):
    rng = np.random.default_rng(3)
    for length in (0, 1, 7, 8, 16, 17, 40):
        for k in (0, 1, -1, -9, length - 1, length - 8, HUGE, -HUGE - 1, HUGE - 7):
            for rounds in (0, 1, 2, 5, -1):
                check(function, rng.integers(0, 6, 5).astype(float), np.zeros(length), k, rounds, steps=(0, -1))


def runs(a, values, counts):
    k, i = 0, 0
    while i < len(a):
        j = i + 1
        while j < len(a) and a[j] == a[i]:
            j += 1
        values[k] = a[i]
        counts[k] = j - i
        k += 1
        i = j
    return k


def from_the_end(a, values, counts):
    """Begins below zero, and comes up to it."""
    k = -len(a)
    while k != len(a):
        values[k] += a[k]
        counts[k] = k
        k += 1
    return k


def back_and_forth(a, values, counts):
    k, s = 0, 0.0
    while s < 20:
        values[k] += 1
        s += 1 + a[k]
        k += 3 if a[k] > 2 else -2
    return k


@pytest.mark.parametrize("function", [runs, from_the_end, back_and_forth])
def test_counters_of_while_loops(function):
    rng = np.random.default_rng(4)
    for length in (1, 2, 9, 40):
        for room in (length, length // 2):
            check(function, rng.integers(0, 4, length).astype(float), np.zeros(room), np.zeros(length), steps=(0, -1))


# -- binary searches ---------------------------------------------------------------------------------------


def lower(a, x, low, high):
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def exactly(a, x, low, high):
    while low <= high:
        middle = low + (high - low) // 2
        if a[middle] == x:
            return middle
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def between(a, x, low, high):
    while high - low > 1:
        middle = (low + high) >> 1
        if a[middle] <= x:
            low = middle
        else:
            high = middle
    return a[low] + a[high]


def beyond(a, x, low, high):
    """The middle goes further than its neighbour."""
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 2
        else:
            high = middle
    return low


def outward(a, x, low, high):
    """Not a search: the ends move apart."""
    for _ in range(4):
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle - 1
        else:
            high = middle + 1
    return low


def search_all():
    def search(a, x):
        low, high = 0, len(a)
        while low < high:
            middle = (low + high) // 2
            if a[middle] < x:
                low = middle + 1
            else:
                high = middle
        return low
    return search


def whole(a, x):
    low, high = 0, len(a) - 1
    while low <= high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        elif a[middle] > x:
            high = middle - 1
        else:
            return middle
    return -1


def whole_between(a, x):
    low, high = 0, len(a) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if a[middle] <= x:
            low = middle
        else:
            high = middle
    return low


def too_far(a, x):
    """Up to the length, tested with <=: the last middle may be outside."""
    low, high = 0, len(a)
    while low <= high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle - 1
    return low


@pytest.mark.parametrize("function", [whole, whole_between, too_far, search_all()])
def test_searches_of_a_whole_array(function):
    for length in (0, 1, 2, 3, 10, 33):
        for x in (-1.0, 0.0, 2.5, 7.0, length - 1.0, length - 0.5, length + 3.0):
            check(function, np.arange(length) * 1.0, x)


@pytest.mark.parametrize("function", [lower, exactly, between, beyond, outward])
def test_searches_from_anywhere(function):
    a = np.arange(20.0)
    for low, high in [(0, 20), (0, 19), (3, 9), (9, 3), (-4, 5), (-20, -3), (0, 40), (-HUGE - 1, 3), (5, HUGE), (HUGE - 1, HUGE), (0, 0)]:
        for x in (-1.0, 4.0, 18.5, 30.0):
            check(function, a, x, low, high, steps=(0, 2))


# -- tests on the way to a header ----------------------------------------------------------------------------


def sift(a, n, i):
    v = a[i]
    while 2 * i + 1 < n:
        c = 2 * i + 1
        if c + 1 < n and a[c + 1] > a[c]:
            c += 1
        if a[c] <= v:
            break
        a[i] = a[c]
        i = c
    a[i] = v
    return i


def sort(a):
    for start in range(len(a) // 2 - 1, -1, -1):
        i, v = start, a[start]
        while 2 * i + 1 < len(a):
            c = 2 * i + 1
            if c + 1 < len(a) and a[c + 1] > a[c]:
                c += 1
            if a[c] <= v:
                break
            a[i] = a[c]
            i = c
        a[i] = v
    return a[0]


def neighbours(a, i):
    while i + 1 < len(a) and a[i] < a[i + 1]:
        a[i] += a[i + 1]
        i += 1
    return i


def squares(a, i):
    while i * i < len(a):
        a[i * i] += 1
        i += 1
    return i


@pytest.mark.parametrize("length", [0, 1, 2, 3, 8, 21])
def test_loops_that_test_what_comes_round(length):
    a = np.random.default_rng(length).permutation(length) * 1.0
    if length:
        check(sort, a)
    for i in (0, 1, 4, -1, -2, -length, HUGE, HUGE // 2, -HUGE):
        check(neighbours, np.sort(a), i)
        if length:
            for n in (length, length - 1, length + 1, 2 * length + 2, 0, -1, HUGE):
                check(sift, a, n, i)
    for i in (0, 1, -2, -5):
        check(squares, a, i)
